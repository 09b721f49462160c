"""Which models a managed ``deniedModels`` list blocks, by the rules of CLI 2.1.325.

An entry is a family (``opus``), a model id in any spelling (``claude-opus-4-5``, with a date, a provider's prefix, a
path before it), or else the exact name of a model. A version without a minor number (``claude-opus-4``) blocks all of
that major version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

FAMILIES = ("sonnet", "opus", "haiku", "fable")
MOVING_NAMES = ("best", "default", "opusplan")
"""Names that mean another model with each release or setting."""
_REGIONS = ("us", "eu", "apac", "jp", "au", "us-gov", "global")
_LONGEST_SHOWN = 128

_CONTEXT_SIZE = re.compile(r"\[[12]m\]", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class DeniedModelsMatch(msgspec.Struct, frozen=True):
    """The answer of ``match_denied_models``."""

    denied: list[bool]
    """For each model asked about, in order: whether an entry blocks it."""
    warnings: list[str]
    """Entries that were ignored, or that block something unexpected."""


class ModelId(msgspec.Struct, frozen=True):
    """A model id, taken apart."""

    family: str
    major: int
    minor: int | None
    trailer: str | None
    """What follows the version and is no date or snapshot: another model."""
    ignored: str
    """What follows the version and only says which snapshot it is."""

    def covers(self, other: ModelId) -> bool:
        if (self.family, self.major) != (other.family, other.major):
            return False
        if self.minor is not None and self.minor != (other.minor or 0):
            return False
        if self.trailer is None:
            return True
        return other.trailer == self.trailer or (other.trailer or "").startswith(f"{self.trailer}-")


class _Entry(msgspec.Struct, frozen=True):
    """An entry of the list, and what there is to say about it. Nothing set: it blocks nothing."""

    family: str | None = None
    model: ModelId | None = None
    exact: str | None = None
    warning: str | None = None

    def blocks(self, name: str, model: ModelId | None) -> bool:
        if self.family is not None:
            return (model is not None and model.family == self.family) or _has_word(name, self.family)
        if self.model is not None:
            return model is not None and self.model.covers(model)
        return self.exact is not None and self.exact == name


def match_denied_models(models: Sequence[str], denied_models: Sequence[str] | None) -> DeniedModelsMatch:
    """Which of ``models`` a managed ``deniedModels`` list blocks; take the list from ``resolve_settings().effective``.

    Never raises: values of the wrong type are reported in ``warnings``. Do not use it to grant access: the CLI refuses
    every model that matches here, but also refuses models by alias and override, which are not checked here.
    """
    names: list[Any] = list(models) if _is_list(models) else []
    notes = [_not_text("models", name, "cannot be matched") for name in names if not isinstance(name, str)]
    if not _is_list(models):
        notes = ["models is not a list of model names: nothing was matched"]
    if denied_models is not None and not _is_list(denied_models):
        ignored = "deniedModels is not a list of model names: it was ignored and blocks nothing"
        return DeniedModelsMatch([False] * len(names), [ignored, *notes])
    listed: list[Any] = list(denied_models or ())
    entries = [_read_entry(entry) for entry in listed if isinstance(entry, str)]
    denied = [isinstance(name, str) and _is_denied(name, entries) for name in names]
    refused = [_not_text("deniedModels", entry, "was ignored") for entry in listed if not isinstance(entry, str)]
    said = [entry.warning for entry in entries if entry.warning]
    return DeniedModelsMatch(denied, list(dict.fromkeys([*refused, *said, *notes])))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _not_text(where: str, value: Any, outcome: str) -> str:
    return f"{where} has an entry that is not a string ({type(value).__name__}): it {outcome}"


def _is_denied(name: str, entries: list[_Entry]) -> bool:
    plain = _CONTEXT_SIZE.sub("", name.strip()).lower()
    model = parse_model_id(plain)
    return any(entry.blocks(plain, model) for entry in entries)


def parse_model_id(name: str) -> ModelId | None:
    """The parts of a model id, whichever provider spells it; None if it is not the id of a Claude model.

    ``claude-opus-4-5``, ``claude-3-5-sonnet-20241022``, ``us.anthropic.claude-opus-4-v1:0``, ``x/claude-opus-4``.
    """
    text = name.strip().lower()
    if any(letter.isspace() for letter in text):
        return None
    text = text.removesuffix("[1m]").removesuffix("[2m]").rpartition("/")[2]
    before, provider, after = text.partition("anthropic.")
    if provider:
        if before and before.removesuffix(".") not in _REGIONS:
            return None
        text = after
    if not text.startswith("claude-"):
        return None
    words = text.removeprefix("claude-").replace("@", "-@").split("-")
    family = words.pop(0) if words[0].isalpha() else None
    version = _take_version(words)
    if family is None and words and words[0].isalpha():
        family = words.pop(0)
    if family is None or not version:
        return None
    rest = "".join(word if word.startswith("@") else f"-{word}" for word in words)
    snapshot = all(_names_a_snapshot(word) for word in words)
    minor = version[1] if len(version) > 1 else None
    return ModelId(family, version[0], minor, None if snapshot else rest, rest if snapshot else "")


def _take_version(words: list[str]) -> list[int]:
    """The major and perhaps the minor number, taken off the front. A longer number is a date."""
    numbers: list[int] = []
    while words and len(numbers) < 2 and words[0].isdecimal() and len(words[0]) <= 2:
        numbers.append(int(words.pop(0)))
    return numbers


def _names_a_snapshot(word: str) -> bool:
    """A date, a revision (``v1:0``) or a word for the newest: the same model."""
    if word in ("fast", "latest"):
        return True
    number = word.removeprefix("@")
    if number.isdecimal():
        return len(number) == 8
    return word.startswith("v") and all(part.isdecimal() for part in word[1:].split(":"))


def _read_entry(entry: str) -> _Entry:
    text = entry.strip().lower()
    name = _CONTEXT_SIZE.sub("", text).strip()
    sized = "; a context size such as [1m] is ignored: it blocks the model at every size" if name != text else ""
    if not name:
        return _Entry(warning="an empty entry of deniedModels was ignored")
    if name in FAMILIES:
        return _Entry(family=name, warning=f"{_shown(entry)} blocks every {name} model{sized}" if sized else None)
    if name in MOVING_NAMES:
        why = "its meaning changes with releases and settings; name the model itself"
        return _Entry(warning=f"{_shown(entry)} was ignored: {why}")
    model = parse_model_id(name) or (None if name.startswith("claude-") else parse_model_id(f"claude-{name}"))
    if model is None:
        return _Entry(exact=name, warning=_exact_only(entry, name))
    dated = f"; {_shown(model.ignored)} is ignored" if model.ignored else ""
    return _Entry(
        model=model, warning=f"{_shown(entry)} blocks {_range(model)}{dated}{sized}" if dated + sized else None
    )


def _range(model: ModelId) -> str:
    if model.minor is None:
        return f"every {model.family} {model.major}.x model"
    return f"{model.family} {model.major}.{model.minor} in every spelling and snapshot"


def _exact_only(entry: str, name: str) -> str:
    """Such an entry is often a mistake: suggests what may have been meant."""
    warning = f"{_shown(entry)} blocks only a model with exactly this name"
    hyphenated = re.sub(r"(\d)\.(\d)", r"\1-\2", name)
    if hyphenated != name:
        full = hyphenated if hyphenated.startswith("claude-") else f"claude-{hyphenated}"
        return f"{warning}; for a version write {full}" if parse_model_id(full) else warning
    spaced = re.fullmatch(rf"({'|'.join(FAMILIES)})\s+(\d+)(?:\.(\d+))?", name)
    if spaced is not None:
        return f"{warning}; for a version write claude-{spaced[1]}-{spaced[2]}-0"
    if re.fullmatch("[a-z]+", name):
        return f"{warning}; the families that can be blocked as a whole are {', '.join(FAMILIES)}"
    return warning


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){word}(?![a-z0-9])", text, re.IGNORECASE) is not None


def _shown(text: str) -> str:
    clean = _CONTROL.sub("?", text)
    return f'"{clean}"' if len(clean) <= _LONGEST_SHOWN else f'"{clean[:_LONGEST_SHOWN]}…"'
