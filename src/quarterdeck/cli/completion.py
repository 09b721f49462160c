"""``quarterdeck completion``: the completion script of a shell."""

from __future__ import annotations

from importlib import import_module

from .common import OK, Parser

SHELLS = ("bash", "zsh", "fish")


def parser() -> Parser:
    built = Parser(
        "quarterdeck completion",
        description="Prints a script that makes a shell complete commands, options, files and the ids of sessions. "
        "Print it anew after an update.",
        examples=[
            ('eval "$(quarterdeck completion bash)"', "bash: in ~/.bashrc"),
            (
                "quarterdeck completion bash > ~/.local/share/bash-completion/completions/quarterdeck",
                "bash, faster: where bash-completion looks",
            ),
            ('quarterdeck completion zsh > "${fpath[1]}/_quarterdeck"', "zsh: then start a new shell"),
            ("quarterdeck completion fish > ~/.config/fish/completions/quarterdeck.fish", "fish"),
        ],
        exits={OK: "printed", 2: "the command line is wrong"},
    )
    built.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")
    return built


def main(argv: list[str] | None = None) -> int:
    shell = parser().parse_args(argv).shell
    from .common.tree import tree

    print(import_module(f".common.shells.{shell}", __package__).script(tree()), end="")
    return OK
