"""A typed method for each control request: what a host can ask of a running CLI, besides prompting it.

Which requests a CLI knows depends on its version; 2.1.325 knows nearly all of them. A CLI refuses requests that it does
not know (``ControlError``) or, if it is old, never answers them (``ControlTimeout``): see ``wire.versions``.
"""

from .base import ControlsBase
from .conversation import ConversationControls
from .files import FileControls
from .mcp import McpControls
from .settings import SettingsControls
from .state import StateControls
from .turns import TurnControls

__all__ = ["Controls"]


class Controls(
    TurnControls,
    ConversationControls,
    FileControls,
    McpControls,
    StateControls,
    SettingsControls,
    ControlsBase,
):
    """Everything that can be asked of a session, one class per topic."""
