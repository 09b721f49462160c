"""The official TypeScript SDK, asked through node; what it said is kept as data in ``typescript-0.3.325.json``.

``python -m compat.typescript`` (in ``tests``, with node and the package) writes the data anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from compat.typescript_cases import DENIED_MODELS, MANAGED_TOGETHER, MANAGED_VALUES, SETTINGS, LayerTexts, managed
from quarterdeck.testing.install import default_cache_dir, locked

VERSION = "0.3.325"
RECORDED = Path(__file__).with_name(f"typescript-{VERSION}.json")
LIMIT_S = 300.0
INSTALL_LIMIT_S = 900.0
CONSTANTS = (
    "BUILTIN_TOOL_NAMES",
    "EXIT_REASONS",
    "HOOK_EVENTS",
    "LEGACY_TOOL_NAME_ALIASES",
    "ORG_POLICY_LIMIT_PREFIXES",
    "SYSTEM_PROMPT_DYNAMIC_BOUNDARY",
    "USAGE_LIMIT_ERROR_PREFIXES",
    "USAGE_TRANSITION_PREFIXES",
    "USAGE_WARNING_PREFIXES",
)


def package_folder() -> Path | None:
    """Where the package is installed; None if it or node is missing. ``QUARTERDECK_INSTALL_PEER=1`` installs it."""
    if os.environ.get("QUARTERDECK_INSTALL_PEER") == "1":
        return installed_package()
    return _folder() if _is_complete() and shutil.which("node") else None


def installed_package() -> Path:
    """Where the package is, which is installed if necessary: by one process at a time."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", INSTALL_LIMIT_S):
        if not _is_complete():
            quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
            command = ["npm", "install", "--prefix", str(folder), *quiet, f"@anthropic-ai/claude-agent-sdk@{VERSION}"]
            subprocess.run(command, check=True, timeout=INSTALL_LIMIT_S, stdout=subprocess.DEVNULL)
    return folder


def node() -> str:
    found = shutil.which("node")
    if found is None:
        raise SystemExit("The TypeScript SDK needs Node.js: install it so that `node` is on the PATH.")
    return found


def _folder() -> Path:
    return default_cache_dir() / "peer" / f"claude-agent-sdk-ts-{VERSION}"


def _is_complete() -> bool:
    return (_folder() / "node_modules" / ".package-lock.json").exists()  # npm writes it last


def ask(folder: Path, calls: list[Any], home: Path) -> list[Any]:
    """The answers to these calls: values, or ``{"error": text}``."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "SDK_FOLDER": str(folder)}
    asked = home / "calls.json"
    asked.write_text(json.dumps(calls))
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("typescript.mjs")), str(asked)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=env,
        cwd=home,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [one.get("value", one) for one in json.loads(done.stdout)]


def layer_files(home: Path, texts: LayerTexts) -> dict[str, str | None]:
    """The settings files of a case, and None for those that are to be gone."""
    places = {
        "user": home / ".claude" / "settings.json",
        "project": home / "repo" / ".claude" / "settings.json",
        "local": home / "repo" / ".claude" / "settings.local.json",
    }
    return {str(path): texts.get(name) for name, path in places.items()}


def settings_call(home: Path, case: dict[str, Any]) -> dict[str, Any]:
    options = {"cwd": str(home / "repo"), **case.get("options", {})}
    return {"files": layer_files(home, case["files"]), "call": ["resolveSettings", options]}


def record(folder: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place).resolve()
        (home / "repo").mkdir()
        calls: list[Any] = [["exports"], ["declarations"], *([name] for name in CONSTANTS)]
        exports, declarations, *constants = ask(folder, calls, home)
        denied = ask(folder, [["matchDeniedModels", *case] for case in DENIED_MODELS], home)
        resolved = ask(folder, [settings_call(home, case) for case in SETTINGS], home)
        paths = [*_settings(declarations), "ofTheProgram", "permissions.ofTheProgram", "sandbox.ofTheProgram"]
        alone = [(path, value) for path in paths for value in MANAGED_VALUES]
        kept = ask(folder, [_managed_call(home, managed(*one)) for one in alone], home)
        together = ask(folder, [_managed_call(home, settings) for settings in MANAGED_TOGETHER], home)
        modes = ask(folder, [["filterEscalatingDefaultMode", one] for one in resolved], home)
    return {
        "exports": exports,
        "query_methods": _members(declarations, "interface Query"),
        "options": _members(declarations, "type Options ="),
        "constants": dict(zip(CONSTANTS, constants, strict=True)),
        "denied_models": [{"denied": one["denied"], "warnings": len(one["warnings"])} for one in denied],
        "settings": [_plain(one, str(home)) for one in resolved],
        "filtered": modes,
        "managed": {
            f"{path} = {value}": json.dumps(one["effective"], sort_keys=True)
            for (path, value), one in zip(alone, kept, strict=True)
            if one["effective"]
        },
        "managed_paths": paths,
        "managed_together": [json.dumps(one["effective"], sort_keys=True) for one in together],
    }


def _members(declarations: str, head: str) -> list[str]:
    """The names that a type declares, in order."""
    body = re.search(rf"^export declare {head}.*?^\}}", declarations, re.MULTILINE | re.DOTALL)
    assert body is not None
    return re.findall(r"^    ([A-Za-z_]+)\??[(:]", body[0], re.MULTILINE)


def _settings(declarations: str) -> list[str]:
    """Every setting that is declared, as ``a.b.c``; three words at most, in ``permissions`` and ``sandbox``."""
    body = re.search(r"^export declare interface Settings \{(.*?)^\}", declarations, re.MULTILINE | re.DOTALL)
    assert body is not None
    found, inside = [], ["", "", ""]
    for indent, name in re.findall(r"^((?: {4}){1,3})(\w+)\??:", body[1], re.MULTILINE):
        depth = len(indent) // 4
        inside[depth - 1] = name
        if depth == 1 or inside[0] in ("permissions", "sandbox"):
            found.append(".".join(inside[:depth]))
    return found


def _managed_call(home: Path, settings: dict[str, Any]) -> dict[str, Any]:
    return settings_call(home, {"files": {}, "options": {"managedSettings": settings}})


def _plain(answer: dict[str, Any], home: str) -> dict[str, Any]:
    text = json.dumps({key: answer[key] for key in ("effective", "provenance", "sources")})
    return json.loads(text.replace(home, "~"))  # type: ignore[no-any-return]


if __name__ == "__main__":
    found = package_folder()
    if found is None:
        sys.exit("node or the package is missing: set QUARTERDECK_INSTALL_PEER=1")
    RECORDED.write_text(json.dumps(record(found), indent=1, ensure_ascii=False, sort_keys=True) + "\n")
