"""Messages and stubs of ``proto/quarterdeck/v1``, written by ``make proto``."""
