"""Without the CLI a developer's run skips, and a build machine's fails: nothing passes unseen."""

from __future__ import annotations

import pytest

from e2e import kit
from quarterdeck.testing.install import InstallError


@pytest.fixture(autouse=True)
def no_cli(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(version: str) -> None:
        raise InstallError(f"no npm for {version}")

    monkeypatch.setattr(kit, "install_cli", refuse)


def test_a_missing_cli_skips_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"no npm for 2.0.77"):
        kit.real_cli("2.0.77")


def test_a_missing_cli_fails_on_a_build_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(InstallError, match=r"no npm for 2.0.77"):
        kit.real_cli("2.0.77")
