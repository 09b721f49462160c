"""``resolve_settings`` beside what the real CLI says of its own settings, over all combinations of layers."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import soak
from client.real_cli import Place, place
from compat.typescript_cases import LAYERS, PASSED
from quarterdeck import ClaudeAgentOptions, connect, resolve_settings

pytestmark = pytest.mark.real

LIMIT_S = 60.0
FLAG = {"model": "haiku", "env": {"A": "5", "F": "1"}, "permissions": {"deny": ["Bash(curl)"], "defaultMode": "plan"}}
FILES = {
    "managed-settings.json": {"env": {"M": "1"}, "permissions": {"deny": ["Bash(rm)"]}, "cleanupPeriodDays": 7},
    "managed-settings.d/10.json": {"permissions": {"deny": ["Bash(dd)"], "allow": ["Read"]}, "model": "opus"},
}
NAMES = (*LAYERS, "flag", "passed")
COMBINATIONS = [names for count in range(len(NAMES) + 1) for names in combinations(NAMES, count)]
SOURCES = {
    "userSettings": "user",
    "projectSettings": "project",
    "localSettings": "local",
    "flagSettings": "flag",
    "policySettings": "managed",
}


@pytest.fixture(autouse=True)
def _no_config_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


def write(stage: Place, names: tuple[str, ...]) -> dict[str, Any]:
    """Writes the files of these layers; returns the options that give the others."""
    places = {
        "user": stage.home / ".claude" / "settings.json",
        "project": stage.cwd / ".claude" / "settings.json",
        "local": stage.cwd / ".claude" / "settings.local.json",
    }
    for name in set(names) & set(places):
        places[name].parent.mkdir(exist_ok=True)
        places[name].write_text(json.dumps(LAYERS[name]))
    options: dict[str, Any] = {"settings": FLAG} if "flag" in names else {}
    return options | ({"managed_settings": PASSED} if "passed" in names else {})


async def compare(stage: Place, options: ClaudeAgentOptions, given: dict[str, Any]) -> None:
    async with asyncio.timeout(LIMIT_S), connect(options) as session:
        answer = await session.settings()
    managed = stage.home / "managed"
    ours = resolve_settings(cwd=stage.cwd, env={"HOME": str(stage.home)}, managed_folder=managed, **given)
    assert ours.effective == answer.effective
    theirs = {SOURCES[layer.source]: layer.settings for layer in answer.sources or () if layer.settings}
    assert {layer.source: layer.settings for layer in ours.sources} == theirs


@pytest.mark.parametrize("names", soak.part(COMBINATIONS, 4), ids="+".join)
async def test_the_cli_has_the_settings_that_were_resolved(names: tuple[str, ...], tmp_path: Path) -> None:
    with place(tmp_path) as stage:
        given = write(stage, names)
        await compare(stage, stage.options(**given), given)


def cli_with_managed_files(stage: Place, folder: Path) -> str:
    """A CLI that finds managed files in an ``/etc`` of its own: nobody else on the machine sees them."""
    upper, work = folder / "upper", folder / "work"
    for path in (upper / "claude-code" / "managed-settings.d", work):
        path.mkdir(parents=True)
    for name, settings in FILES.items():
        (upper / "claude-code" / name).write_text(json.dumps(settings))
    shutil.copytree(upper / "claude-code", stage.home / "managed")
    mount = f"mount -t overlay overlay -o lowerdir=/etc,upperdir={upper},workdir={work} /etc"
    if os.geteuid() or subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("takes root and a file system that can be mounted over /etc")
    wrapper = folder / "claude-with-policy"
    cli = stage.options().cli_path
    wrapper.write_text(f'#!/bin/sh\nexec unshare -m sh -c \'{mount} && exec "$@"\' sh {cli} "$@"\n')
    wrapper.chmod(0o755)
    return str(wrapper)


@pytest.mark.parametrize("names", [("user", "flag"), ("user", "local", "passed")], ids="+".join)
async def test_files_of_an_administrator_count_as_they_do_for_the_cli(names: tuple[str, ...], tmp_path: Path) -> None:
    with place(tmp_path) as stage:
        given = write(stage, names)
        cli = cli_with_managed_files(stage, tmp_path)
        await compare(stage, dataclasses.replace(stage.options(**given), cli_path=cli), given)
