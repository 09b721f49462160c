"""What a person follows: one fold from wire messages to events and a state that any face can draw."""
