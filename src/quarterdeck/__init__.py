"""Quarterdeck: the control plane for Claude Code sessions."""

from ._version import __version__

__all__ = ["__version__"]
