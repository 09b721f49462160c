"""The same rows give the same frames in every release with the same ``FOLD_VERSION``."""

from __future__ import annotations

import json

from host.fold_digests import PATH, digests
from quarterdeck.host.folding import FOLD_VERSION


def test_frames_change_only_with_the_version_of_the_fold() -> None:
    kept = json.loads(PATH.read_text())
    now = digests()
    known = kept["recordings"]
    changed = sorted(name for name in known.keys() & now.keys() if known[name] != now[name])
    if kept["fold_version"] == FOLD_VERSION:
        assert not changed, "Frames differ: raise FOLD_VERSION, then run PYTHONPATH=tests python -m host.fold_digests."
    assert (kept["fold_version"], known) == (FOLD_VERSION, now), "Run PYTHONPATH=tests python -m host.fold_digests."
