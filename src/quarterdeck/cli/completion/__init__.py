"""``quarterdeck completion``: a completion script for a shell, made by a module per shell.

The scripts are static, so completing does not start Python, except to list session ids.
"""

from __future__ import annotations

from importlib import import_module

from quarterdeck.cli.common import OK, Parser

SHELLS = ("bash", "zsh", "fish")


def parser() -> Parser:
    built = Parser(
        "quarterdeck completion",
        description="Print a script that completes commands, options, files and session ids. Regenerate it after an "
        "update.",
        examples=[
            ('eval "$(quarterdeck completion bash)"', "bash: in ~/.bashrc"),
            (
                "quarterdeck completion bash > ~/.local/share/bash-completion/completions/quarterdeck",
                "bash with bash-completion: starts faster",
            ),
            ('quarterdeck completion zsh > "${fpath[1]}/_quarterdeck"', "zsh: then start a new shell"),
            ("quarterdeck completion fish > ~/.config/fish/completions/quarterdeck.fish", "fish"),
        ],
        exits={OK: "success", 2: "invalid arguments"},
    )
    built.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")
    return built


def main(argv: list[str] | None = None) -> int:
    shell = parser().parse_args(argv).shell
    from quarterdeck.cli.common.tree import tree

    print(import_module(f".{shell}", __name__).script(tree()), end="")
    return OK
