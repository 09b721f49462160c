"""The whole examination, in the order in which a person would go about it."""

from __future__ import annotations

from collections.abc import Mapping

from .agent import SIMULATOR, look_for_cli, version_of
from .compatibility import compare, simulator
from .environment import environment
from .finding import Finding
from .login import login
from .machine import machine
from .python import python
from .start import start_check


def examine(cli: str | None, *, start: bool, env: Mapping[str, str]) -> list[Finding]:
    found, words = look_for_cli(cli, env)
    findings = [found]
    version = None
    if words is not None:
        told, version = version_of(words, env)
        findings.append(told)
        if version is not None:
            findings.append(simulator() if cli == SIMULATOR else compare(version))
        if start:
            findings.append(start_check(words))
    if cli != SIMULATOR:  # which needs no login
        findings += login(words, version, env)
    findings += environment(env)
    findings += machine(env)
    findings += python()
    return findings
