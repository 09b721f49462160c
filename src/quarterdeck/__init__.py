"""Quarterdeck: the control plane for Claude Code sessions.

Where the official ``claude-agent-sdk`` has a name for the same thing, it is here under that name. A name is imported
when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import client as client
    from . import sync as sync
    from . import types as types
    from .client import *  # noqa: F403
    from .wire import *  # type: ignore[assignment]  # noqa: F403  # what are dicts for programs are the client's, below

    # isort: split
    from .client import McpHttpServerConfig as McpHttpServerConfig
    from .client import McpSSEServerConfig as McpSSEServerConfig
    from .client import McpStdioServerConfig as McpStdioServerConfig
    from .client.answer_dicts import *  # noqa: F403
    from .client.control_dicts import *  # noqa: F403
    from .client.hook_input_dicts import *  # noqa: F403
    from .client.hook_outputs import *  # noqa: F403
    from .wire._message_dicts import *  # noqa: F403

_rooms = ("quarterdeck.client", "quarterdeck.wire", "quarterdeck._version")
_names = LazyNames(globals(), rooms=_rooms, modules=("client", "sync", "types"))
