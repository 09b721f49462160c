"""What every store must do, as tests. A store's own test module derives from ``StoreConformance`` and says how to open.

Nothing here knows how a store keeps things: a store on another database passes these tests unchanged.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import soak
from quarterdeck.store import StoreError
from store.conformance.approvals import ApprovalConformance
from store.conformance.base import Conformance
from store.conformance.commits import CommitConformance
from store.conformance.log import LogConformance
from store.conformance.projections import ProjectionConformance
from store.conformance.retention import RetentionConformance
from store.making import add
from store.programs import run_program


class ProgramConformance(Conformance):
    """Random programs, compared with a model of dicts after every step."""

    async def test_random_programs_end_as_the_model_says(self, tmp_path: Path) -> None:
        for number in range(soak.cases(12, in_soak=400)):
            folder = tmp_path / str(number)
            folder.mkdir()
            chance = random.Random(soak.SEED + number)
            async with self.open(folder) as store:
                try:
                    await run_program(store, chance, steps=120)
                except Exception as error:
                    error.add_note(f"program {number} of seed {soak.SEED}")
                    raise


class StoreConformance(
    LogConformance,
    CommitConformance,
    ApprovalConformance,
    ProjectionConformance,
    RetentionConformance,
    ProgramConformance,
):
    """All of it."""

    async def test_every_refusal_is_a_store_error(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            with pytest.raises(StoreError):
                await add(store, "missing", b"row")
