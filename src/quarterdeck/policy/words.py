r"""One word of a shell command: as written, and as the shell reads it.

The reader knows quotes and backslashes, but nothing that depends on the moment: variables, command substitution, globs,
braces and ``~user`` leave the value unknown (None). It reads only the text of the word, without the grammar: a
character that would have ended the word also makes the value unknown, so that a word split wrongly by the parser is
never trusted.
"""

from __future__ import annotations

import re

import msgspec

PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,\-][A-Za-z0-9_./:=@%+,\-]*\Z")
"""Words of these characters stand for themselves everywhere; ``=rm`` is ``/bin/rm`` in zsh."""

_BREAKS = frozenset(" \t\n;&|<>()")
_UNKNOWN = frozenset("$`*?[{}!")
_IN_DOUBLE_QUOTES_ESCAPABLE = frozenset('$`"\\\n')
_SIMPLE_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_CODED = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)", re.DOTALL)


class Word(msgspec.Struct, frozen=True):
    """``value`` is None if known only at run time; ``hint`` is the best guess, for deny rules."""

    text: str
    value: str | None
    hint: str


class _WordReader:
    """Makes one pass over the text of a word."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.known, self.out = text, 0, True, list[str]()

    def word(self) -> Word:
        if self.text.startswith(("~", "=", "^")):
            self.known = False  # home may differ; in zsh =rm is /bin/rm, and ^x may be every file but x
        while self.at < len(self.text):
            self._next()
        value = "".join(self.out)
        return Word(self.text, value if self.known else None, value)

    def _next(self) -> None:
        char = self.text[self.at]
        self.at += 1
        if char == "\\":
            self._backslash()
        elif char == "'":
            self._until_quote()
        elif char == '"':
            self._double_quotes()
        elif char == "$" and self.text[self.at : self.at + 1] == "'":
            self.at += 1
            self._ansi_c()
            self.known = False  # decoded for deny rules; the CLI asks about these, so they are never allowed
        elif char in _UNKNOWN or char in _BREAKS or (char == "~" and self.out and self.out[-1] in ("=", ":")):
            self.known = False
            self.out.append(char)
        else:
            self.out.append(char)

    def _backslash(self) -> None:
        escaped = self.text[self.at : self.at + 1]
        self.at += 1
        if escaped in (" ", "\t", "", "="):
            self.known = False  # CLI 2.1.325 asks; the text of a rule could not distinguish it from two words
        if escaped != "\n":
            self.out.append(escaped)

    def _until_quote(self) -> None:
        end = self.text.find("'", self.at)
        if end < 0:
            self.known, end = False, len(self.text)
        self.out.append(self.text[self.at : end])
        self.at = end + 1

    def _double_quotes(self) -> None:
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                return
            if char == "\\" and self.text[self.at : self.at + 1] in _IN_DOUBLE_QUOTES_ESCAPABLE:
                char = self.text[self.at : self.at + 1]
                self.at += 1
                if char in ("\n", ""):
                    continue
            elif char in "$`":
                self.known = False
            self.out.append(char)
        self.known = False

    def _ansi_c(self) -> None:
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "'":
                return
            if char != "\\":
                self.out.append(char)
                continue
            coded = _CODED.match(self.text, self.at)
            if coded:
                self.at = coded.end()
                self.out.append(_decode(coded))
            else:
                self.out.append(_SIMPLE_ESCAPES.get(self.text[self.at : self.at + 1], ""))
                self.at += 1


def _decode(coded: re.Match[str]) -> str:
    hexadecimal = coded[1] or coded[2] or coded[3]
    if hexadecimal:
        number = int(hexadecimal, 16)
    elif coded[4]:
        number = int(coded[4], 8) & 0xFF
    else:
        number = ord(coded[5]) & 0x1F
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else ""


def read_word(text: str) -> Word:
    """The word ``text`` as the shell would read it."""
    if PLAIN.match(text):
        return Word(text, text, text)
    return _WordReader(text).word()
