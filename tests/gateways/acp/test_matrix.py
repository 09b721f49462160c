"""Every row of specification 003's feature matrix names tests that exist, or says what is missing."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
MATRIX = tomllib.loads((HERE / "matrix.toml").read_text("utf-8"))
ROWS = """\
Text Streaming
Thinking Blocks
Tool Calls
Tool Results
Plan Mode (TodoWrite)
Exit Plan Mode
Background Tasks
Background Bash
Background Agents
Sub-Agent Messages
Session Resume/Fork
Permission Modes
Model Switching
Slash Commands/Skills
MCP Server Integration
AskUserQuestion
Tool Progress
Tool Use Summary
Auth Status
Hook Status
Compact Boundary
Files Persisted
Status Updates
File Checkpointing
Structured Output
Delegate Mode
Plugins
Betas
Sandbox Config
Account Info
Dynamic MCP
Cost/Usage Stats
""".splitlines()
"""Of the specification, in its words."""
CLAIMS = tomllib.loads((HERE.parents[1] / "requirements.toml").read_text("utf-8"))["claim"]


def _tests(file: str) -> set[str]:
    tree = ast.parse((HERE / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_row_names_tests_that_exist() -> None:
    named = [test for tests in MATRIX["rows"].values() for test in tests]
    gone = [test for test in named if test.split("::")[1] not in _tests(test.split("::")[0])]
    assert gone == []
    assert all(MATRIX["rows"].values())


def test_every_row_of_the_specification_is_here_once() -> None:
    rows = [row for name in (*MATRIX["rows"], *MATRIX["missing"]) for row in name.split(", ")]
    assert sorted(rows) == sorted(ROWS)


def test_every_row_tool_hook_and_mode_of_the_specification_has_a_claim_that_is_shown_over_acp() -> None:
    acp = [one for one in CLAIMS if one["id"].startswith("003-acp-")]
    tables = {"tool": "tool", "hook": "hook", "mode": "mode"}
    names = [one["id"].split("-") for one in acp if one["id"] != "003-acp-tool-calls"]
    counts = Counter(tables.get(name[2], "row") for name in names)
    assert counts == {
        "row": len(ROWS) - 1,
        "tool": 19,
        "hook": 13,
        "mode": 6,
    }  # one row has tool-calls; one tool is any of MCP's
    assert [one["id"] for one in acp if not any("gateways/acp/" in test for test in one["tests"])] == []
    synthetic = "test_drawing.py"
    shown = [one["id"] for one in acp if all(synthetic in test for test in one["tests"])]
    assert shown == [], "shown only by lines that were made up, not by an agent that runs"


def test_no_more_is_missing_than_the_file_allows() -> None:
    assert len(MATRIX["missing"]) <= MATRIX["missing_limit"]
    assert all(why.strip() for why in MATRIX["missing"].values())
