"""A typed method for each control request: what a host can ask of a running CLI, beside prompting it.

Which requests a CLI knows depends on its version. 2.1.325 knows nearly all of them and refuses the others: a
``ControlError`` whose ``code`` is ``unsupported_request`` (2.1.52 gives no code). 2.0.77, 2.1.17 and 2.1.25 do not
answer what they do not know, which is most of it: a ``ControlTimeout``.
"""

from .base import ControlsBase
from .conversation import ConversationControls
from .dialogs import DialogControls
from .files import FileControls
from .lifecycle import LifecycleControls
from .mcp import McpControls
from .settings import SettingsControls
from .state import StateControls
from .tasks import TaskControls
from .turns import TurnControls

__all__ = ["Controls"]


class Controls(
    TurnControls,
    ConversationControls,
    TaskControls,
    FileControls,
    McpControls,
    StateControls,
    SettingsControls,
    DialogControls,
    LifecycleControls,
    ControlsBase,
):
    """Everything that can be asked of a session, by theme: one class per module of this package."""
