"""Completion for bash (3.2 and newer: that of macOS is old)."""

from __future__ import annotations

from collections.abc import Iterator

from quarterdeck.cli.common.tree import Command, Value

_HEAD = """\
# bash completion for quarterdeck; made by: quarterdeck completion bash
_quarterdeck() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" path=quarterdeck word i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if [[ $word == -- ]]; then
            COMPREPLY=($(compgen -c -f -- "$cur"))
            return
        fi
        case "$path $word" in
            %(paths)s) path="$path $word" ;;
        esac
    done
    case "$path $prev" in
"""
_TAIL = """\
    esac
}

_quarterdeck_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_quarterdeck_files() { local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); }
_quarterdeck_folders() { local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")); }
_quarterdeck_sessions() { _quarterdeck_words "$(quarterdeck sessions list --all --quiet 2>/dev/null)"; }

complete -F _quarterdeck quarterdeck
"""


def script(top: Command) -> str:
    paths = "|".join(f'"{" ".join(command.path)}"' for command in top.walk() if len(command.path) > 1)
    body = [*_after_options(top), '    esac\n    case "$path" in\n', *_for_commands(top)]
    return _HEAD.replace("%(paths)s", paths) + "".join(body) + _TAIL


def _after_options(top: Command) -> Iterator[str]:
    """What may follow an option that takes a value."""
    for command in top.walk():
        for option in command.options:
            if option.value is not None and option.value.kind != "other":
                where = "|".join(f'"{" ".join(command.path)} {name}"' for name in option.names)
                yield f"        {where}) {_offer(option.value)}; return ;;\n"
            elif option.value is not None:
                where = "|".join(f'"{" ".join(command.path)} {name}"' for name in option.names)
                yield f"        {where}) return ;;\n"


def _for_commands(top: Command) -> Iterator[str]:
    """Options after a dash, else commands or what the argument is."""
    for command in top.walk():
        options = " ".join(name for option in command.options for name in option.names)
        offers = [_offer(argument.value) for argument in command.arguments if argument.value.kind != "other"]
        if command.commands:
            offers = [f'_quarterdeck_words "{" ".join(below.name for below in command.commands)}"']
        rest = offers[0] if offers else ":"
        yield f'        "{" ".join(command.path)}")\n'
        yield f'            if [[ $cur == -* ]]; then _quarterdeck_words "{options}"; else {rest}; fi ;;\n'


def _offer(value: Value) -> str:
    match value.kind:
        case "file":
            return "_quarterdeck_files"
        case "folder":
            return "_quarterdeck_folders"
        case "session":
            return "_quarterdeck_sessions"
        case _:
            return f'_quarterdeck_words "{" ".join(value.choices)}"'
