"""What the CLI answers to the host's requests, typed. ``quarterdeck.wire`` has all of them by name."""
