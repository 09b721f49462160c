"""The Agent Client Protocol: Claude Code as the agent of an editor, over stdin and stdout (``quarterdeck acp``)."""
