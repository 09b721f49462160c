"""The face in the terminal: draws what the timeline tells, and asks what has to be asked."""
