"""Completion scripts: one module for each shell, each a pure function of the tree of commands.

The scripts are static, so that completing costs no start of Python; only the ids of sessions are asked for.
"""
