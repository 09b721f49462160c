"""The terminal UI: draws the timeline and asks for decisions."""
