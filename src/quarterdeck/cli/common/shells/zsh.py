"""Completion for zsh: a function for each command."""

from __future__ import annotations

from collections.abc import Iterator

from quarterdeck.cli.common.tree import Command, Option, Value

_HEAD = """\
#compdef quarterdeck
# zsh completion for quarterdeck; made by: quarterdeck completion zsh

_quarterdeck_ids() {
    local -a ids
    ids=(${(f)"$(quarterdeck sessions list --all --quiet 2>/dev/null)"})
    compadd -a ids
}

"""
_TAIL = """\
if [[ $funcstack[1] == _quarterdeck ]]; then
    _quarterdeck "$@"
else
    compdef _quarterdeck quarterdeck
fi
"""


def script(top: Command) -> str:
    return _HEAD + "\n".join("".join(_function(command)) for command in top.walk()) + "\n" + _TAIL


def _function(command: Command) -> Iterator[str]:
    yield f"{_name(command)}() {{\n"
    specs = [spec for option in command.options for spec in _specs(option)]
    if not command.commands:
        specs += [
            f"{_quoted(('*' if argument.many else '') + ':' + argument.value.name + ':' + _action(argument.value))}"
            for argument in command.arguments
        ]
        yield "    _arguments -S" + "".join(f" \\\n        {spec}" for spec in specs) + "\n}\n"
        return
    yield '    local curcontext="$curcontext" state line\n    local -a commands\n'
    yield "    _arguments -C" + "".join(f" \\\n        {spec}" for spec in specs)
    yield " \\\n        '1:command:->command' \\\n        '*::argument:->argument'\n"
    yield "    case $state in\n        command)\n            commands=(\n"
    for below in command.commands:
        told = below.help.replace(":", "\\:")
        yield f"                {_quoted(f'{below.name}:{told}')}\n"
    yield "            )\n            _describe command commands ;;\n        argument)\n            case $line[1] in\n"
    yield from (f"                {below.name}) {_name(below)} ;;\n" for below in command.commands)
    yield "            esac ;;\n    esac\n}\n"


def _name(command: Command) -> str:
    return "_" + "_".join(command.path)


def _specs(option: Option) -> Iterator[str]:
    """One for each name; a name excludes the others unless the option may be repeated."""
    told = option.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    value = "" if option.value is None else f":{option.value.name}:{_action(option.value)}"
    others = "*" if option.repeatable else f"({' '.join(option.names)})"
    for name in option.names:
        yield _quoted(f"{others}{name}[{told}]{value}")


def _action(value: Value) -> str:
    match value.kind:
        case "file":
            return "_files"
        case "folder":
            return "_files -/"
        case "session":
            return "_quarterdeck_ids"
        case "choice":
            return f"({' '.join(value.choices)})"
        case _:
            return " "


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
