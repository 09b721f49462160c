"""Completion for fish: a line for each thing that can be completed."""

from __future__ import annotations

from collections.abc import Iterator

from quarterdeck.cli.common.tree import Command, Option, Value

_HEAD = """\
# fish completion for quarterdeck; made by: quarterdeck completion fish
function __quarterdeck_at
    set -l path quarterdeck
    for word in (commandline -opc)[2..-1]
        if contains -- "$path $word" {paths}
            set path "$path $word"
        end
    end
    test "$path" = "$argv"
end

complete -c quarterdeck -f
"""


def script(top: Command) -> str:
    paths = " ".join(_quoted(" ".join(command.path)) for command in top.walk() if len(command.path) > 1)
    return _HEAD.replace("{paths}", paths) + "".join(line for command in top.walk() for line in _lines(command))


def _lines(command: Command) -> Iterator[str]:
    start = f"complete -c quarterdeck -n {_quoted('__quarterdeck_at ' + ' '.join(command.path))}"
    for below in command.commands:
        yield f"{start} -a {below.name} -d {_quoted(below.help)}\n"
    for option in command.options:
        yield f"{start}{_names(option)}{'' if option.value is None else _offer(option.value, '-x')}{_told(option)}\n"
    offered = [argument.value for argument in command.arguments if argument.value.kind != "other"]
    for value in offered[:1]:
        yield f"{start}{_offer(value, '')}\n"


def _names(option: Option) -> str:
    return "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)


def _told(option: Option) -> str:
    return f" -d {_quoted(option.help)}" if option.help else ""


def _offer(value: Value, required: str) -> str:
    """What completes the value; ``-x`` also tells that there must be one."""
    if value.kind == "file":
        return " -r -F" if required else " -F"
    offers = {
        "folder": " -a '(__fish_complete_directories)'",
        "session": " -a '(quarterdeck sessions list --all --quiet 2>/dev/null)'",
        "choice": f" -a {_quoted(' '.join(value.choices))}",
    }
    return f"{' -x' if required else ''}{offers.get(value.kind, '')}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
