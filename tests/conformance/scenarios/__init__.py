"""The scenarios, a module per subject."""
