"""Side by side with the official SDK, on this machine, in one run: ``python -m benchmarks`` or ``make bench``."""
