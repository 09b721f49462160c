"""Everything in one run: ``python -m benchmarks`` prints the tables and writes ``docs/benchmarks.md``.

``--only client host`` measures these alone and replaces their sections of the page; the others stay as they were.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from . import client, imports, wire
from ._arguments import parse
from ._environments import PACKAGE, VERSION
from ._table import Section, machine_facts, say

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "benchmarks.md"
COMPARED = (wire, client, imports)
OTHERS_LIMIT_S = 1800.0


def others(only: list[str], *, quick: bool) -> list[tuple[str, str]]:
    """Every other program in this folder: what it prints, as it is."""
    ours = {_name(module) for module in COMPARED}
    told = []
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        if path.stem in ours or quick or (only and path.stem not in only):
            continue
        say(f"benchmarks/{path.name}")
        command = [sys.executable, "-m", f"benchmarks.{path.stem}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=OTHERS_LIMIT_S, check=False)
        failed = f"\nIt failed (exit code {done.returncode})." if done.returncode else ""
        told.append((path.stem, done.stdout.strip() + failed))
    return told


def _name(module: ModuleType) -> str:
    return Path(module.__file__ or "").stem


def merged(before: str, new: str) -> str:
    """The page as it was, with the sections of ``new`` in place of those of the same title."""
    head, *old = before.split("\n## ")
    replaced = {section.partition("\n")[0]: section for section in new.split("\n## ")[1:]}
    kept = [replaced.pop(section.partition("\n")[0], section) for section in old]
    return "\n## ".join(part.rstrip("\n") + "\n" for part in (head, *kept, *replaced.values()))


def page(facts: dict[str, str], sections: list[Section], printed: list[tuple[str, str]]) -> str:
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`; do not edit. Both sides are measured in the same run, in turns, on the same inputs:",
        f"Quarterdeck, and the official SDK `{PACKAGE}` {VERSION}, each in an environment of its own with nothing but",
        "what it needs. What matters is the factor between them: the numbers themselves belong to the machine. A",
        "factor is the median of the rounds' own factors, with the middle half of them in brackets.",
        "",
        *(f"- {name}: {fact}" for name, fact in facts.items()),
        "",
        *(section.markdown() for section in sections),
    ]
    for name, text in printed:
        lines += [f"## {name.capitalize()}", "", f"`benchmarks/{name}.py` says:", "", "```text", text, "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    arguments = parse(__doc__, names=True)
    facts = machine_facts()
    sections: list[Section] = []
    for module in COMPARED:
        if arguments.only and _name(module) not in arguments.only:
            continue
        done = module.run(quick=arguments.quick)
        sections += done
        if not arguments.json:
            print(*(section.text() for section in done), sep="\n", flush=True)
    printed = others(arguments.only, quick=arguments.quick)
    if arguments.json:
        told = {"machine": facts, "sections": [one.plain() for one in sections], "others": dict(printed)}
        print(json.dumps(told, indent=2))
    else:
        print(*(f"\n{name}\n{text}" for name, text in printed), sep="\n")
    if arguments.quick:
        say("a quick run: docs/benchmarks.md stays as it is")
    else:
        PAGE.parent.mkdir(exist_ok=True)
        new = page(facts, sections, printed)
        PAGE.write_text(merged(PAGE.read_text("utf-8"), new) if arguments.only else new, "utf-8")
        say(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
