"""The command line of the CLI."""

from __future__ import annotations

import pytest

from quarterdeck.testing.sim.flags import FlagError, parse


def test_values_come_with_a_space_or_an_equals_sign() -> None:
    flags = parse(["--model", "haiku", "--resume=abc", "-c", "--setting-sources=", "prompt"])

    assert (flags.get("--model"), flags.get("--resume"), flags.get("--setting-sources")) == ("haiku", "abc", "")
    assert "--continue" in flags
    assert flags.prompt == "prompt"


def test_lists_of_tools_are_cut_at_commas_and_spaces_but_not_in_brackets() -> None:
    flags = parse(["--allowedTools", "Bash(git log, git diff),Read", "Write", "--allowed-tools", "Edit", "--verbose"])

    assert flags.names("--allowedTools") == ["Bash(git log, git diff)", "Read", "Write", "Edit"]


def test_a_flag_with_an_optional_value_may_stand_alone() -> None:
    assert parse(["--resume", "--verbose"]).get("--resume") == ""
    assert parse([]).get("--resume") is None


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--nonsense"], "error: unknown option '--nonsense'"),
        (["-x"], "error: unknown option '-x'"),
        (["--model"], "error: option '--model <value>' argument missing"),
    ],
)
def test_what_it_does_not_know_is_refused(argv: list[str], message: str) -> None:
    with pytest.raises(FlagError, match=message):
        parse(argv)


def test_numbers_and_objects_are_checked_when_read() -> None:
    flags = parse(["--max-turns", "three", "--settings", "[1]", "--mcp-config", '{"mcpServers": {}}'])

    with pytest.raises(FlagError, match="argument 'three' is invalid"):
        flags.number("--max-turns")
    with pytest.raises(FlagError, match="neither a JSON object nor a file"):
        flags.objects("--settings")
    assert flags.objects("--mcp-config") == [{"mcpServers": {}}]
