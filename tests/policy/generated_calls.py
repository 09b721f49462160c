"""Tool calls made up from parts, with the settings they are put under: paths, URLs, agents, skills and MCP tools.

Shell commands are in ``differential.toml``. ``{cwd}``, ``{home}`` and ``{root}`` stand for the folders of one group.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quarterdeck.testing.install import NEWEST, SUPPORTED

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Group:
    """Calls that are put to the CLI in one session, under the same rules."""

    about: str
    calls: list[Call]
    rules: dict[str, list[str]] = field(default_factory=dict)
    mode: str = "default"
    directories: tuple[str, ...] = ()
    cli: str = NEWEST


# Paths

FILES = (
    *("{cwd}/a.txt", "{cwd}/src/main.py", "{cwd}/.env", "{cwd}/sub/.env", "{cwd}/secrets/key", "{cwd}/locked/x"),
    *("{cwd}/asked/x", "{cwd}/link/f", "{cwd}/in", "{cwd}/.git/config", "{cwd}/.claude/settings.json", "{cwd}/.npmrc"),
    *("{root}/outside/f", "{root}/more/f", "{root}/more/.env", "{home}/notes/n", "{home}/.ssh/id_rsa", "/etc/hostname"),
)
LINKS = {"{cwd}/link": "{root}/outside", "{cwd}/in": "{cwd}/secrets/key", "{root}/more/back": "{cwd}"}
PATH_RULES: list[dict[str, list[str]]] = [
    {},
    {
        "allow": ["Read(//etc/hostname)", "Edit(src/**)", "Read(~/notes/**)"],
        "deny": ["Read(.env)", "Read(secrets/**)", "Edit(locked/**)", "Read(~/.ssh/**)"],
        "ask": ["Read(asked/**)", "Edit(asked/**)"],
    },
    {"allow": ["Read", "Write", "Edit"], "deny": ["Read(//**/.env)", "Edit(*.py)"]},
    {"allow": ["Edit(**)", "Read(**)", "Edit(//**/outside/**)"], "deny": ["Read(./secrets/key)"]},
]


def disguised_paths(path: str) -> Iterator[str]:
    """The path, and texts that some reader takes for it or for one beside it."""
    folder, _, name = path.rpartition("/")
    yield path
    yield from (f" {path}", f"{path} ", f"{path}\t", f"\n{path}", f"{path}\r\n", f"{path}\xa0", f"\ufeff{path}")
    yield from (f"{path}\u3000", f"{path}\u2028", f"{path}\u0085", f"{path}\x1f", f"{path}\u200b", f"\u200b{path}")
    yield from (f"{path}.", f"{path}..", f"{path} .", f"{path}. ", f"{folder}./{name}", f"{folder} /{name}")
    yield from (f"{path}/", f"{path}//", f"{path}/.", f"{folder}//{name}", f"{folder}/./{name}", f"/{path}")
    yield from (f"{folder}/x/../{name}", f"{folder}/../{folder.rpartition('/')[2]}/{name}", f"{path}/../{name}")
    yield from (path.upper(), path.title(), f"{folder}/{name.upper()}", f"{folder}/{name.swapcase()}")
    yield from (f"{folder}\\{name}", f"{folder}/\\{name}", f"{folder}/%2e/{name}", f"file://{path}", f"{path}%00")
    yield from (f"{path}~1", f"{folder}/GIT~1/{name}", f"{folder}/.../{name}", f"{path}.con", f"{folder}/.//{name}")
    yield from (f"{path}:$DATA", f"{path}::", f"{path}~", f"{path}#x", f"{path}?x", f"{folder}/{name}\u0301")
    yield from (f"{folder}/*", f"{folder}/{name[:1]}*", f"{folder}/{{{name},x}}", f"{folder}/[{name[0]}]{name[1:]}")
    yield from (
        f"{folder}/ {name}",
        f"{folder}/{name[:1]}\u200d{name[1:]}",
        name,
        f"./{name}",
        f"~/{name}",
        f" ~/{name}",
    )


def build_files(root: Path) -> None:
    """The folders and links that the paths are about."""
    for text in (*FILES[:7], *FILES[12:17]):
        path = Path(fill(text, root))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")
    for text in (NOTEBOOKS[0], NOTEBOOKS[1], *NOTEBOOKS[3:]):
        path = Path(fill(text, root))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTEBOOK)
    for link, target in LINKS.items():
        Path(fill(link, root)).symlink_to(fill(target, root))


def path_groups() -> Iterator[Group]:
    paths = [disguised for path in FILES for disguised in disguised_paths(path)]
    reads: list[Call] = [("Read", {"file_path": path}) for path in paths]
    writes: list[Call] = [
        ("Write", {"file_path": path, "content": "text\n"}) for path in paths if path[0] != "/" or "{" in path
    ]
    for number, rules in enumerate(PATH_RULES):
        yield Group(f"reads {number}", reads, rules, directories=("{root}/more",))
        for mode in ("default", "acceptEdits"):
            yield Group(f"writes {number} {mode}", writes, rules, mode, directories=("{root}/more",))
    yield Group("reads bypassing", reads, PATH_RULES[1], "bypassPermissions")
    yield Group("reads while planning", reads, PATH_RULES[1], "plan")
    yield Group("reads without asking", reads, PATH_RULES[1], "dontAsk")


# Searches, of the last CLI that has tools for them

SEARCHED = (
    *(".", "src", "{cwd}", "{root}/outside", "{root}/outside/f", "..", "link", "/etc", "~", ".env", "secrets", "asked"),
    *("{cwd}/../outside", " ", "src/../..", "{home}", "./", "src/.", "src/..", "{cwd}/.", "{root}/more", "a.txt", "in"),
)
PATTERNS = (
    *(
        "**/*",
        "src/*",
        "../*",
        "/etc/*",
        "{root}/outside/*",
        "{src,../outside}/*",
        "~/*",
        "link/*",
        ".env",
        "secrets/*",
    ),
    *("./../outside/*", "src/../../outside/*", "*/../../*", "\\../*", "[.][.]/*", " /etc/*", "@(..)/*", "{a,/etc}/*"),
    *("{root}/more/**", "{home}/notes/n", "**/.env", "in", "asked/**", "locked/x", "{src,secrets}/*", "s*/key"),
)
SEARCH_RULES: list[dict[str, list[str]]] = [
    {},
    {"deny": ["Read(.env)", "Read(secrets/**)"], "ask": ["Read(asked/**)"]},
    {"allow": ["Grep", "Glob"], "deny": ["Read(//etc/**)"]},
    {"allow": ["Read(~/notes/**)", "Read(//**/outside/**)"]},
    {"deny": ["Grep"], "ask": ["Glob"]},
]
WITH_SEARCHES = SUPPORTED[-2]


def search_groups() -> Iterator[Group]:
    calls: list[Call] = [("Grep", {"pattern": "text"}), ("Glob", {"pattern": "*"})]
    for path in SEARCHED:
        calls += [("Grep", {"pattern": "text", "path": path}), ("Glob", {"pattern": "*", "path": path})]
    for pattern in PATTERNS:
        calls += [("Grep", {"pattern": "text", "glob": pattern}), ("Glob", {"pattern": pattern})]
        calls.append(("Glob", {"pattern": pattern, "path": "src"}))
    for number, rules in enumerate(SEARCH_RULES):
        for mode in ("default", "plan", "dontAsk", "bypassPermissions"):
            yield Group(f"searches {number} {mode}", calls, rules, mode, ("{root}/more",), cli=WITH_SEARCHES)


# Notebooks

NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
NOTEBOOKS = ("{cwd}/a.ipynb", "{root}/outside/a.ipynb", "{cwd}/link/a.ipynb", "{cwd}/.claude/a.ipynb", "{home}/a.ipynb")
NOTEBOOK_RULES: list[tuple[str, dict[str, list[str]]]] = [
    ("default", {"allow": ["NotebookEdit"]}),
    ("default", {"allow": ["Edit(**)"], "deny": ["Read(a.ipynb)"]}),
    ("acceptEdits", {"deny": ["NotebookEdit"], "allow": ["Edit(**)"]}),
    ("acceptEdits", {"deny": ["Edit"], "ask": ["Edit(a.ipynb)"]}),
    ("plan", {"allow": ["NotebookEdit", "Edit(**)"]}),
    ("bypassPermissions", {"deny": ["Edit(a.ipynb)"], "ask": ["NotebookEdit"]}),
]


def notebook_groups() -> Iterator[Group]:
    calls: list[Call] = []
    for notebook in NOTEBOOKS:
        for path in (notebook, f" {notebook}", f"{notebook} ", notebook.replace("/a.", "/x/../a."), notebook.upper()):
            cell = {"notebook_path": path, "new_source": "1", "edit_mode": "insert", "cell_type": "code"}
            calls += [("Read", {"file_path": path}), ("NotebookEdit", cell)]
    for number, (mode, rules) in enumerate(NOTEBOOK_RULES):
        yield Group(f"notebooks {number} {mode}", calls, rules, mode)


# URLs

HOSTS = (
    "good.example",
    "evil.example",
    "sub.wild.example",
    "wild.example",
    "sub.bad.example",
    "127.0.0.1",
    "other.example",
)
URL_RULES: list[dict[str, list[str]]] = [
    {"allow": ["WebFetch(domain:good.example)", "WebFetch(domain:*.wild.example)", "WebFetch(domain:127.0.0.1)"]},
    {"allow": ["WebFetch"], "deny": ["WebFetch(domain:evil.example)", "WebFetch(domain:*.bad.example)"]},
    {
        "allow": ["WebFetch(domain:good.example)", "WebFetch(domain:evil.example)"],
        "ask": ["WebFetch(domain:evil.example)", "WebFetch(domain:127.0.0.1)"],
        "deny": ["WebFetch(domain:sub.bad.example)"],
    },
]
_WIDE = {ord(char): ord(char) + 0xFEE0 for char in "abcdefghijklmnopqrstuvwxyz0123456789"}


def disguised_urls(host: str) -> Iterator[str]:
    """URLs that lead to ``host``, or look as if they did."""
    yield from (
        f"https://{host}",
        f"https://{host}/",
        f"http://{host}/a?b#c",
        f"HTTPS://{host.upper()}/",
        f"https://{host}:8443/",
    )
    yield from (
        f"https:{host}/",
        f"https:/{host}/",
        f"https:///{host}/",
        f"https:////{host}",
        f"https:\\\\{host}\\a",
        f"https:/\\{host}",
    )
    yield from (
        f" https://{host}/ ",
        f"https://{host}/\n",
        f"ht\ttps://{host}/",
        f"https://{host[:3]}\t{host[3:]}/",
        f"https://{host}\n/",
    )
    yield from (
        f"https://{host}./",
        f"https://{host}../",
        f"https://.{host}/",
        f"https://{host}%2e/",
        f"https://%{ord(host[0]):02x}{host[1:]}/",
    )
    yield from (
        f"https://{host.translate(_WIDE)}/",
        f"https://{host.replace('.', chr(0x3002))}/",
        f"https://{host.replace('.', chr(0xFF0E))}/",
    )
    yield from (
        f"https://{host[:2]}\u00ad{host[2:]}/",
        f"https://{host[:2]}\u200b{host[2:]}/",
        f"https://{host[:2]}\ufe0f{host[2:]}/",
    )
    yield from (
        f"https://user@{host}/",
        f"https://user:pass@{host}/",
        f"https://good.example@{host}/",
        f"https://{host}@good.example/",
    )
    yield from (
        f"https://good.example\\@{host}/",
        f"https://{host}\\@good.example/",
        f"https://good.example#@{host}/",
        f"https://good.example?@{host}/",
    )
    yield from (
        f"https://{host}#.good.example/",
        f"https://{host}/.good.example",
        f"https://{host}%2fgood.example/",
        f"https://{host}.good.example/",
    )
    yield from (
        f"https://good.example.{host}/",
        f"https://xn--{host}/",
        f"https://{host}:80:80/",
        f"https://{host}:/",
        f"https://{host}:99999/",
    )
    yield from (
        f"ftp://{host}/",
        f"file://{host}/etc/passwd",
        f"data:text/html,{host}",
        f"javascript:{host}",
        f"//{host}/",
        host,
        f"{host}/a",
    )
    yield from (
        f"view-source:https://{host}/",
        f"blob:https://{host}/x",
        f"https://[{host}]/",
        f"https://{host} /",
        f"https://{host}\x00/",
    )
    if host == "127.0.0.1":
        yield from (
            "https://0x7f.0.0.1/",
            "https://0x7f000001/",
            "https://2130706433/",
            "https://0177.0.0.1/",
            "https://127.1/",
        )
        yield from (
            "https://127.0.1/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://127.0.0.01/",
            "https://127.0.0.1.5/",
        )


def url_groups() -> Iterator[Group]:
    urls = [url for host in HOSTS for url in disguised_urls(host)]
    calls: list[Call] = [("WebFetch", {"url": url, "prompt": "read it"}) for url in urls]
    for number, rules in enumerate(URL_RULES):
        yield Group(f"URLs {number}", calls, rules)
    yield Group("URLs bypassing", calls, URL_RULES[1], "bypassPermissions")


# Agents, skills, MCP tools

AGENTS = ("Explore", "general-purpose", "Plan", "nobody")
NAME_RULES: list[dict[str, list[str]]] = [
    {"deny": ["Task(Explore)", "Skill(greet)"]},
    {"deny": ["Agent(general-purpose)"], "allow": ["Skill(greet)"]},
    {"ask": ["Task(Explore)", "Skill(deploy)"], "allow": ["Skill(greet)", "Skill(deploy)"]},
    {"allow": ["Skill", "Task"], "deny": ["Skill(greet:*)"]},
]


def disguised_names(name: str) -> Iterator[str]:
    yield from (
        name,
        f" {name}",
        f"{name} ",
        f"{name}\n",
        name.lower(),
        name.upper(),
        name.title(),
        f"/{name}",
        f"//{name}",
    )
    yield from (
        f"\ufeff{name}",
        f"{name}\u200b",
        f"{name}:x",
        f"x:{name}",
        f"./{name}",
        f"{name}/",
        name[:-1],
        f"{name}x",
    )


def name_groups() -> Iterator[Group]:
    calls: list[Call] = []
    for tool in ("Task", "Agent"):
        calls.append((tool, {"description": "look", "prompt": "look around"}))
        for agent in AGENTS:
            said = {"description": "look", "prompt": "look around"}
            calls += [(tool, {**said, "subagent_type": name}) for name in disguised_names(agent)]
    calls += [("Skill", {"skill": name}) for skill in ("greet", "deploy") for name in disguised_names(skill)]
    for number, rules in enumerate(NAME_RULES):
        yield Group(f"agents and skills {number}", calls, rules)


MCP_TOOLS = ("add", "add_all", "Add", "remove", "a-b", "x__y")
MCP_RULES: list[dict[str, list[str]]] = [
    {},
    {"allow": ["mcp__calc"]},
    {"allow": ["mcp__calc__*"], "deny": ["mcp__calc__add"]},
    {"allow": ["mcp__calc__add"], "ask": ["mcp__calc__remove"]},
    {"deny": ["mcp__calc"], "allow": ["mcp__calc__add"]},
    {"allow": ["mcp__cal", "mcp__calc__ad", "mcp__CALC__add", "mcp__calc__x"]},
    {"ask": ["mcp__calc__*"], "allow": ["mcp__calc__a-b", "mcp__calc__x__y"]},
    {"deny": ["mcp__Calc__Add", "mcp__calc__x"], "allow": ["mcp__calc"]},
]


def mcp_groups() -> Iterator[Group]:
    calls: list[Call] = [(f"mcp__calc__{tool}", {"a": number}) for tool in MCP_TOOLS for number in (1, 2)]
    for number, rules in enumerate(MCP_RULES):
        for mode in ("default", "acceptEdits", "dontAsk", "bypassPermissions", "plan"):
            yield Group(f"MCP tools {number} {mode}", calls, rules, mode)


_SERVER = """
import json, sys
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in json.loads(sys.argv[1])]
for line in sys.stdin:
    said = json.loads(line)
    if "id" not in said:
        continue
    result = {"tools/list": {"tools": TOOLS}, "tools/call": {"content": [{"type": "text", "text": "done"}]}}.get(
        said["method"],
        {"protocolVersion": said.get("params", {}).get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
         "serverInfo": {"name": "calc", "version": "1"}},
    )
    print(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": result}), flush=True)
"""


def mcp_flags(root: Path) -> tuple[str, ...]:
    """The server of the MCP tools, for the CLI's command line."""
    script = root / "server.py"
    script.write_text(_SERVER)
    server = {"type": "stdio", "command": sys.executable, "args": [str(script), json.dumps(MCP_TOOLS)]}
    return ("--mcp-config", json.dumps({"mcpServers": {"calc": server}}))


def build_skills(root: Path) -> None:
    for name in ("greet", "deploy"):
        skill = root / "project" / ".claude" / "skills" / name / "SKILL.md"
        skill.parent.mkdir(parents=True, exist_ok=True)
        skill.write_text(f"---\nname: {name}\ndescription: Greet someone\n---\nSay hello.\n")


# All other tools

_QUESTION = {"question": "Q?", "header": "H", "multiSelect": False, "options": [{"label": "a", "description": "a"}] * 2}
TOOLS: list[Call] = [
    ("Task", {"description": "d", "prompt": "p", "subagent_type": "Explore"}),
    ("Agent", {"description": "d", "prompt": "p"}),
    ("Agent", {"description": "d", "prompt": "p", "isolation": "remote"}),
    ("AskUserQuestion", {"questions": [_QUESTION]}),
    ("CronCreate", {"cron": "0 0 1 1 *", "prompt": "go", "recurring": False}),
    ("CronDelete", {"id": "x"}),
    ("CronList", {}),
    ("ListAgents", {}),
    ("Monitor", {"command": "foo", "description": "watch", "timeout_ms": 1000, "persistent": False}),
    ("ReportFindings", {"findings": []}),
    ("ScheduleWakeup", {"delaySeconds": 60, "reason": "r", "prompt": "p"}),
    ("SendMessage", {"to": "x", "message": "hi", "summary": "s"}),
    ("Skill", {"skill": "greet"}),
    ("TaskStop", {"task_id": "x"}),
    ("ToolSearch", {"query": "select:WebFetch", "max_results": 1}),
    ("WebSearch", {"query": "python docs"}),
    ("WebFetch", {"url": "https://example.org/", "prompt": "p"}),
    ("Workflow", {"script": "export const meta = {name: 'x', description: 'y'}\nreturn 1"}),
    ("ExitWorktree", {"action": "keep"}),
    ("EnterWorktree", {"name": "w"}),
    ("ExitPlanMode", {"plan": "p"}),
    ("EnterPlanMode", {}),
]
"""A call of each tool that the CLI offers, but those of ``ELSEWHERE``; fewer than a turn may have, because some end it.
The last ones change the session's folder and mode, if they may."""
ELSEWHERE = frozenset({"Bash", "Edit", "NotebookEdit", "Read", "Write"})
OLD_TOOLS: list[Call] = [
    ("TodoWrite", {"todos": [{"content": "c", "status": "pending", "activeForm": "a"}]}),
    ("TaskOutput", {"task_id": "x", "block": False, "timeout": 10}),
    ("KillShell", {"shell_id": "x"}),
    ("Task", {"description": "d", "prompt": "p", "subagent_type": "Explore"}),
    ("WebSearch", {"query": "python docs"}),
    ("Bash", {"command": "ls"}),
    ("Bash", {"command": "foo"}),
    ("AskUserQuestion", {"questions": [_QUESTION]}),
    ("EnterPlanMode", {}),
]
TOOL_RULES: tuple[tuple[str, ...], ...] = ((), ("ask",), ("deny",), ("allow",), ("allow", "ask"))


def tool_groups() -> Iterator[Group]:
    modes = ("default", "dontAsk", "plan", "bypassPermissions", "acceptEdits")
    for behaviors in TOOL_RULES:
        for mode in modes:
            for calls, cli in ((TOOLS, NEWEST), (OLD_TOOLS, SUPPORTED[0])):
                names = list(dict.fromkeys(name for name, _ in calls))
                rules = dict.fromkeys(behaviors, names)
                kind = "tools" if cli == NEWEST else "former tools"
                about = f"{kind}, {' and '.join(behaviors) or 'no rules'}, {mode}"
                yield Group(about, calls, rules, mode, cli=cli)


def fill(text: str, root: Path) -> str:
    for name, folder in (("cwd", root / "project"), ("home", root / "home"), ("root", root)):
        text = text.replace(f"{{{name}}}", str(folder))
    return text


def all_groups() -> list[Group]:
    return [
        *path_groups(),
        *search_groups(),
        *tool_groups(),
        *notebook_groups(),
        *url_groups(),
        *name_groups(),
        *mcp_groups(),
    ]
