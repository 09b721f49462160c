"""Requests that fill a dialog of an interactive host: status, plan, memory, skills, sandbox, browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quarterdeck.testing.sim import facts

if TYPE_CHECKING:
    from quarterdeck.testing.sim.simulator import SimulatedCli

Request = dict[str, Any]


def get_status(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    session = cli.session
    rows = [("Version", facts.VERSION)]
    rows += [("Session name", session.title)] if session.title else []
    rows += [("Session ID", session.id), ("Session kind", "interactive"), ("cwd", str(session.cwd))]
    return {"sections": [_section("Session", rows), _section("Environment", [("Model", session.model)])]}


def _section(title: str, rows: list[tuple[str, str]]) -> dict[str, Any]:
    return {"title": title, "rows": [{"label": label, "value": value} for label, value in rows]}


def get_plan(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    path = cli.plan_file
    return {"exists": True, "plan": path.read_text(), "path": str(path)} if path.is_file() else {"exists": False}


def get_memory_dialog(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    session = cli.session
    places = (("user", session.config_dir / "CLAUDE.md"), ("project", session.cwd / "CLAUDE.md"))
    files = [
        {
            "kind": kind,
            "path": str(path),
            "label": f"{kind.capitalize()} instructions",
            "description": f"Saved in {path.name}",
            "exists": path.is_file(),
        }
        for kind, path in places
    ]
    auto = {
        "kind": "auto",
        "path": f"{session.project_dir}/memory/",
        "label": "Open auto-memory folder",
        "description": "",
    }
    return {
        "files": files,
        "folders": [auto],
        "memories": [],
        "auto_memory": {"enabled": True, "toggleable": True, "status": "on"},
        "auto_dream": {"shown": False, "enabled": False, "toggleable": True, "status": "off", "detail": ""},
    }


def get_skills_dialog(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"skills": []}


def get_sandbox_dialog(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    lists = ("fs_deny_read", "fs_allow_read", "fs_allow_write", "fs_deny_write", "network_allowed_domains")
    more = ("network_denied_domains", "unix_sockets", "ignored_glob_patterns")
    restrictions: dict[str, Any] = {name: [] for name in (*lists, *more)}
    return {
        "supported": True,
        "locked": False,
        "overrides_locked": False,
        "policy_origins": [],
        "enabled": False,
        "enabled_in_settings": False,
        "mode": "disabled",
        "auto_allow_available": True,
        "no_sandbox_allowed": True,
        "unsandboxed_fallback": True,
        "dependencies": {"errors": [], "warnings": []},
        "excluded_commands": [],
        "restrictions": restrictions | {"network_managed": False, "allow_all_unix_sockets": False},
    }


def get_chrome_dialog(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    no = ("subscriber", "wsl", "installed", "connected", "enabled_by_default", "at_startup")
    return {"allowed": True, **dict.fromkeys(no, False), "urls": {}}


HANDLERS = {
    "get_status": get_status,
    "get_plan": get_plan,
    "get_memory_dialog": get_memory_dialog,
    "get_skills_dialog": get_skills_dialog,
    "get_sandbox_dialog": get_sandbox_dialog,
    "get_chrome_dialog": get_chrome_dialog,
}
