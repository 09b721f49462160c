"""Every colour can be read on a black and on a white background."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import quarterdeck.cli
from quarterdeck.cli.common.look import ATTRIBUTES, RGB, styles_for
from quarterdeck.cli.terminal.chat_view import MENU_STYLES

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
ENOUGH = 4.5
"""WCAG 2, level AA, for text."""


def luminance(colour: tuple[int, int, int]) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def shown(codes: str) -> tuple[int, int, int] | None:
    """The colour that these codes stand for; None for attributes such as bold."""
    kind, _, rest = codes.partition(";")
    if kind != "38":
        assert set(codes.split(";")) <= set(ATTRIBUTES.values()), f"{codes} is a colour of the terminal's own"
        return None
    numbers = [int(number) for number in rest.split(";")]
    if numbers[0] == 2:
        return (numbers[1], numbers[2], numbers[3])
    index = numbers[1]
    assert index >= 16, "the first sixteen are the terminal's own"
    if index >= 232:
        grey = 8 + 10 * (index - 232)
        return (grey, grey, grey)
    levels = [0, 95, 135, 175, 215, 255]
    index -= 16
    return (levels[index // 36], levels[index // 6 % 6], levels[index % 6])


@pytest.mark.parametrize("true_colour", [True, False])
@pytest.mark.parametrize("style", sorted({*RGB, *ATTRIBUTES}))
def test_every_style_can_be_read_on_light_and_dark(style: str, true_colour: bool) -> None:
    colour = shown(styles_for(true_colour=true_colour)[style])
    if colour is not None:
        assert contrast(colour, BLACK) >= ENOUGH
        assert contrast(colour, WHITE) >= ENOUGH


def test_the_menu_of_completions_can_be_read() -> None:
    for style in MENU_STYLES.values():
        paper, ink = re.findall(r"#(..)(..)(..)", style)
        one, other = (tuple(int(part, 16) for part in colour) for colour in (paper, ink))
        assert contrast(one, other) >= ENOUGH  # type: ignore[arg-type]


def test_no_module_has_colours_of_its_own() -> None:
    """The sixteen colours, faint and backgrounds as raw codes: 2, 30-37, 40-47, 90-107."""
    own = re.compile(r"""\\(?:x1b|033)\[(?:[0-9]+;)*(?:2|3[0-7]|4[0-7]|9[0-7]|10[0-7])m""")
    package = Path(quarterdeck.cli.__file__).parent
    assert [str(path) for path in package.rglob("*.py") if own.search(path.read_text())] == []
