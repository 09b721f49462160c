"""What a session inherits from the one that starts it with ``host_tools``: everything that restrains its parent.

It gets all options of its parent, its callbacks and its policy. In a folder below its parent's it also obeys the rules
in the settings files of its parent's folder, which Claude Code does not read there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quarterdeck.policy import PolicyError
from quarterdeck.policy.settings import IN_THE_FOLDER, read_file

from .errors import HostError

OF_ITS_CONVERSATION = frozenset({"continue_conversation", "session_id", "resume_drops_turn", "title", "output_format"})
"""Options about the parent's own conversation: a child has another one. All others are inherited."""
ONLY_IN_ITS_FOLDER = ("hooks", "sandbox")
"""Restraints in the settings files of a folder that only Claude Code applies, and only there."""
_FILES = {"localSettings": "settings.local.json", "projectSettings": "settings.json"}
_PLACES = ("settings", "mcp_servers", "project_config_root", "debug_file")
_FLAGS = frozenset({"settings", "mcp-config", "add-dir", "plugin-dir", "project-config-root", "debug-file"})
"""Flags among ``extra_args`` that take a path."""


def inherited_options(options: Mapping[str, Any], cwd: str) -> dict[str, Any]:
    """A child's options. Relative paths stay those of the parent's folder, ``cwd``: a child may work below it."""
    kept = {name: value for name, value in options.items() if name not in OF_ITS_CONVERSATION}
    for name in _PLACES:
        if isinstance(value := kept.get(name), str):
            kept[name] = _place(value, cwd)
    if kept.get("add_dirs"):
        kept["add_dirs"] = [_place(folder, cwd) for folder in kept["add_dirs"]]
    if kept.get("plugins"):
        kept["plugins"] = [{**one, "path": _place(one["path"], cwd)} for one in kept["plugins"]]
    if kept.get("extra_args"):
        flags = kept["extra_args"].items()
        kept["extra_args"] = {flag: _place(value, cwd) if flag in _FLAGS and value else value for flag, value in flags}
    return kept


def _place(given: str, cwd: str) -> str:
    """A path made absolute; ``settings`` and ``mcp_servers`` may also be JSON."""
    return given if not given or given.lstrip().startswith(("{", "~")) else str(Path(cwd, given))


def check_folder_of_child(parent_cwd: str, options: Mapping[str, Any]) -> None:
    """Raises ``HostError`` if the settings of its parent's folder restrain in a way that a child elsewhere escapes."""
    sources = options.get("setting_sources")
    for source in IN_THE_FOLDER:
        if sources is not None and source.removesuffix("Settings") not in sources:
            continue
        path = Path(parent_cwd, ".claude", _FILES[source])
        try:
            file = read_file(str(path), source, [])
            found = [name for name in ONLY_IN_ITS_FOLDER if file is not None and file.get(name)]
        except (OSError, ValueError, PolicyError):
            found = ["settings that cannot be read"]
        if found:
            raise HostError(
                "folder_not_allowed",
                f"{path} has {' and '.join(found)}, which apply only in {parent_cwd}.",
                hint="Leave cwd empty, to work in the same folder.",
                field="cwd",
            )
