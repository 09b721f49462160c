__all__ = ["__version__"]
__version__ = "0.1.0.dev0"
RELEASE = __version__.partition(".dev")[0]
"""The form that the CLI is told: it expects three numbers."""
