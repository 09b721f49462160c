"""What came with one result: the difference between the running totals of two results.

A result tells running totals (``total_cost_usd``, ``modelUsage``). Where they start depends on the CLI's version:

=======================  ==========================================  ===============================================
                         2.0.77, 2.1.17, 2.1.25, 2.1.52              2.1.325
=======================  ==========================================  ===============================================
resume, continue, fork   the totals start at 0                       they go on from the earlier process's last ones,
                                                                     which the transcript keeps (``cost-state``)
resume after a SIGKILL   the totals start at 0                       they go on from the last orderly exit: the killed
                                                                     process's turns are missing in them
``/clear``               the totals go on                            they fall to 0, under a new session id
a local command          2.0.77: ``modelUsage`` is empty             the totals as they are
=======================  ==========================================  ===============================================

2.1.325 also reports the difference itself (``model_usage_since_last_result``), correctly in all these cases, so it is
used where present. The totals also grow by work that has no result of its own (a side question, a title, a summary):
that is counted with the next result, even that of a ``/clear``, and is not in the turn's ``usage``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from .result import ResultMessage
from .usage import ModelUsage

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "web_search_requests",
    "cost_usd",
    "thinking_tokens",
    "cache_creation_ephemeral_5m_input_tokens",
    "cache_creation_ephemeral_1h_input_tokens",
)
"""The fields of ``ModelUsage`` that grow; the others describe the model."""


class RunningTotals(msgspec.Struct, omit_defaults=True):
    """The totals of the last result, and which one that was."""

    usd: float = 0.0
    by_model: dict[str, ModelUsage] = {}
    last_result: str | None = None

    def process_started(self) -> None:
        """The next result comes from another process: count it from 0. Needed only for CLIs up to 2.1.52."""
        self.usd, self.by_model = 0.0, {}

    def take(self, result: ResultMessage) -> tuple[float, dict[str, ModelUsage]] | None:
        """What came with this result, in all and by model; None if it was the last one taken.

        A result without any cost counts as 0; the next one that has totals brings what is missing.
        """
        if result.uuid is not None and result.uuid == self.last_result:
            return None
        self.last_result = result.uuid
        total, totals = result.total_cost_usd, result.typed_model_usage
        since = result.typed_model_usage_since_last_result
        if total is not None and total < self.usd:
            self.process_started()  # the totals fell, so they have started again
        by_model = since if since is not None else _differences(totals, self.by_model)
        spent = math.fsum(usage.cost_usd for usage in by_model.values())
        if since is None and total is not None:
            spent = total - self.usd
        self.usd = self.usd + spent if total is None else float(total)
        self.by_model = {**self.by_model, **{model: _combined(usage) for model, usage in totals.items()}}
        return float(spent), by_model


def added(one: ModelUsage | None, more: ModelUsage) -> ModelUsage:
    """Both counts together."""
    return more if one is None else _combined(more, one)


def _differences(after: Mapping[str, ModelUsage], before: Mapping[str, ModelUsage]) -> dict[str, ModelUsage]:
    """What was added to each model, without models that did not change."""
    made = {model: _minus(usage, before.get(model)) for model, usage in after.items()}
    return {model: usage for model, usage in made.items() if any(getattr(usage, name) for name in _COUNTS)}


def _minus(after: ModelUsage, before: ModelUsage | None) -> ModelUsage:
    """``after`` less ``before``; where a count has fallen, the model's counts have started again."""
    if before is None or any((getattr(after, name) or 0) < (getattr(before, name) or 0) for name in _COUNTS):
        return after
    return _combined(after, before, sign=-1)


def _combined(described: ModelUsage, other: ModelUsage | None = None, *, sign: int = 1) -> ModelUsage:
    """A new object with the sum of the counts and the description of ``described``; it keeps neither's line alive."""
    made = {name: getattr(described, name) for name in ModelUsage.__struct_fields__ if not name.endswith("_")}
    for name in _COUNTS if other is not None else ():
        ours, theirs = made[name], getattr(other, name)
        if ours is not None or theirs is not None:
            made[name] = (ours or 0) + sign * (theirs or 0)
    return ModelUsage(**made)
