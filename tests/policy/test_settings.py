"""Settings files: read as the CLI reads them, changed in one place only."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.policy import BadRulesError, BadSettingsError, Policy, add_rule, remove_rule
from quarterdeck.policy.jsonfile import JsonTextError, line_of, parse


class World:
    """A home, a project and the files in them."""

    def __init__(self, root: Path) -> None:
        self.cwd, self.home, self.managed = root / "project", root / "home", root / "managed.json"
        (self.cwd / ".claude").mkdir(parents=True)
        (self.home / ".claude").mkdir(parents=True)

    def write(self, where: str, **settings: Any) -> Path:
        path = {
            "project": self.cwd / ".claude" / "settings.json",
            "local": self.cwd / ".claude" / "settings.local.json",
            "user": self.home / ".claude" / "settings.json",
            "managed": self.managed,
        }[where]
        path.write_text(json.dumps(settings))
        return path

    def trust(self, folder: Path | None = None) -> None:
        projects = {str((folder or self.cwd).resolve()): {"hasTrustDialogAccepted": True}}
        (self.home / ".claude.json").write_text(json.dumps({"projects": projects}))

    def policy(self, **options: Any) -> Policy:
        return Policy.from_settings(self.cwd, home=str(self.home), managed=str(self.managed), **options)

    def behavior(self, command: str) -> str:
        return self.policy().decide("Bash", {"command": command}).behavior


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_rules_of_all_files_count_and_know_where_they_stand(world: World) -> None:
    world.trust()
    files = {
        "policySettings": world.write("managed", permissions={"deny": ["Bash(a)"]}),
        "localSettings": world.write("local", permissions={"allow": ["Bash(b)"]}),
        "projectSettings": world.write("project", permissions={"allow": ["Bash(c)"]}),
        "userSettings": world.write("user", permissions={"ask": ["Bash(d)"]}),
    }

    policy = world.policy()

    found = {rule.source: (rule.text, rule.behavior, rule.file, rule.line) for rule in policy.rules}
    assert found == {
        "policySettings": ("Bash(a)", "deny", str(files["policySettings"]), 1),
        "localSettings": ("Bash(b)", "allow", str(files["localSettings"]), 1),
        "projectSettings": ("Bash(c)", "allow", str(files["projectSettings"]), 1),
        "userSettings": ("Bash(d)", "ask", str(files["userSettings"]), 1),
    }
    assert policy.notes == ()


def test_without_any_file_there_are_no_rules(world: World) -> None:
    assert world.policy().rules == ()


def test_deny_beats_ask_beats_allow_whatever_the_source(world: World) -> None:
    world.trust()
    world.write("managed", permissions={"allow": ["Bash(x)", "Bash(y)"]})
    world.write("project", permissions={"ask": ["Bash(x)", "Bash(y)"]})
    world.write("user", permissions={"deny": ["Bash(x)"]})

    assert (world.behavior("x"), world.behavior("y")) == ("deny", "ask")


def test_of_equal_rules_the_one_of_the_strongest_source_is_named(world: World) -> None:
    world.write("user", permissions={"deny": ["Bash(x)"]})
    world.write("managed", permissions={"deny": ["Bash(x)"]})

    assert world.policy().decide("Bash", {"command": "x"}).source == "policySettings"


def test_allow_rules_of_a_project_count_only_in_a_trusted_folder(world: World) -> None:
    file = world.write("project", permissions={"allow": ["Bash(x)"], "deny": ["Bash(y)"]})

    assert (world.behavior("x"), world.behavior("y")) == ("ask", "deny")
    untrusted = f"{file}: allow rules and directories ignored, because this folder is not trusted"
    assert world.policy().notes == (untrusted,)
    world.trust(world.cwd.parent)
    assert world.behavior("x") == "ask"
    world.trust()
    assert world.behavior("x") == "allow"


def test_the_trust_of_a_repository_is_that_of_its_top(world: World) -> None:
    world.write("project", permissions={"allow": ["Bash(x)"]})
    (world.cwd.parent / ".git").mkdir()

    world.trust()
    assert world.behavior("x") == "ask"
    world.trust(world.cwd.parent)
    assert world.behavior("x") == "allow"


@pytest.mark.parametrize("known", [True, False], ids=["a worktree", "a file that says it is one"])
def test_the_trust_of_a_worktree_is_that_of_its_main_checkout_if_it_knows_it(world: World, known: bool) -> None:
    world.write("project", permissions={"allow": ["Bash(x)"]})
    main = world.cwd.parent / "main"
    own = main / ".git" / "worktrees" / "tree"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{world.cwd if known else main}/.git\n")
    (world.cwd / ".git").write_text(f"gitdir: {own}\n")

    world.trust(main)
    assert world.behavior("x") == ("allow" if known else "ask")
    world.trust()
    assert world.behavior("x") == ("ask" if known else "allow")


def test_the_trust_that_the_cli_is_told_to_ignore_is_ignored(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("project", permissions={"allow": ["Bash(x)"]})
    world.trust()
    monkeypatch.setenv("CLAUDE_CODE_IGNORE_PERSISTED_TRUST", "1")

    assert world.behavior("x") == "ask"


@pytest.mark.parametrize("where", ["project", "local"])
def test_what_lies_in_an_untrusted_folder_only_narrows(world: World, where: str) -> None:
    given = {"allow": ["Bash(x)"], "ask": ["Bash(y)"], "deny": ["Bash(z)"], "additionalDirectories": ["/"]}
    world.write(where, permissions={**given, "defaultMode": "acceptEdits"})
    world.write("user", permissions={"allow": ["Bash(y)", "Bash(z)"], "defaultMode": "plan"})

    policy = world.policy()

    assert policy.mode == "plan"
    assert [policy.decide("Bash", {"command": name}).behavior for name in "xyz"] == ["ask", "ask", "deny"]
    assert policy.decide("Read", {"file_path": "/etc/passwd"}).behavior == "ask"


def test_an_untrusted_folder_may_ask_for_plan_mode_where_the_user_wants_no_questions(world: World) -> None:
    world.write("local", permissions={"defaultMode": "plan"})
    world.write("user", permissions={"allow": ["Write"], "defaultMode": "dontAsk"})

    assert world.policy().decide("Write", {"file_path": "w", "content": "x"}).behavior == "ask"


def test_in_a_trusted_folder_its_mode_comes_first_and_one_that_does_not_count_is_the_default(world: World) -> None:
    world.trust()
    world.write("user", permissions={"defaultMode": "acceptEdits"})
    world.write("local", permissions={"defaultMode": "plan"})
    assert world.policy().mode == "plan"
    world.write("local", permissions={"defaultMode": "bypassPermissions"})
    assert world.policy().mode == "default"


def test_a_trust_file_that_cannot_be_read_is_said_to_be_so(world: World) -> None:
    world.write("project", permissions={"allow": ["Bash(x)"]})
    (world.home / ".claude.json").write_text("{")

    with pytest.raises(BadSettingsError, match=r"\.claude\.json: cannot be read"):
        world.policy()


def test_managed_settings_can_make_all_other_rules_void(world: World) -> None:
    world.trust()
    user = world.write("user", permissions={"allow": ["Bash(x)"]})
    world.write("managed", allowManagedPermissionRulesOnly=True, permissions={"allow": ["Bash(y)"]})

    assert (world.behavior("x"), world.behavior("y")) == ("ask", "allow")
    assert world.policy().notes == (f"{user}: rules ignored, because managed settings allow only their own",)


@pytest.mark.parametrize(
    ("where", "mode", "counts"),
    [
        ("user", "acceptEdits", True),
        ("user", "bypassPermissions", True),
        ("local", "plan", True),
        ("project", "plan", True),
        ("project", "acceptEdits", False),
        ("project", "bypassPermissions", False),
        ("local", "bypassPermissions", False),
    ],
)
def test_the_default_mode_is_taken_but_a_checked_in_file_cannot_open_doors(
    world: World, where: str, mode: str, counts: bool
) -> None:
    file = world.write(where, permissions={"defaultMode": mode})

    policy = world.policy()

    assert policy.mode == (mode if counts else "default")
    assert policy.notes == (() if counts else (f"{file}: the mode {mode} is ignored here",))


def test_bypassing_can_be_disabled(world: World) -> None:
    world.write("user", permissions={"defaultMode": "bypassPermissions"})
    world.write("managed", permissions={"disableBypassPermissionsMode": "disable"})

    assert world.policy().mode == "default"


def test_additional_directories_are_working_folders_if_they_are_there(world: World, tmp_path: Path) -> None:
    world.trust()
    for name in ("more", "beside"):
        (tmp_path / name).mkdir()
    world.write("local", permissions={"additionalDirectories": [str(tmp_path / "more"), "../beside", "../x"]})

    policy = world.policy()

    wanted = {
        name: policy.decide("Read", {"file_path": str(tmp_path / name)}).behavior
        for name in ("more/a", "beside/a", "x")
    }
    assert wanted == {"more/a": "allow", "beside/a": "allow", "x": "ask"}
    assert policy.notes == (
        f"{world.cwd / '.claude' / 'settings.local.json'}: the directory ../x is ignored, because it does not exist",
    )


def test_patterns_with_one_slash_begin_at_the_settings_folder(world: World) -> None:
    world.trust()
    world.write("local", permissions={"allow": ["Edit(/src/**)"]})
    world.write("user", permissions={"deny": ["Read(/private/**)"]})

    policy = world.policy()

    assert policy.decide("Write", {"file_path": str(world.cwd / "src" / "a")}).behavior == "allow"
    assert policy.decide("Read", {"file_path": str(world.cwd / "private" / "a")}).behavior == "allow"
    assert policy.decide("Read", {"file_path": str(world.home / ".claude" / "private" / "a")}).behavior == "deny"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("{", 1, "expected a key in quotes here"),
        ('{\n  "a": 1,\n}', 3, "expected a key in quotes here"),
        ('{\n  // why\n  "a": 1\n}', 2, "comments are not valid JSON"),
        ('{"a": 1} x', 1, "text after the end"),
        ('{"a": 1,\n "a": 2}', 2, "the key 'a' appears twice"),
        ("[]", 1, "is not a JSON object"),
        ('{"permissions": []}', 1, "permissions is not an object"),
        ('{"permissions": {\n"allow": "Bash(x)"}}', 2, "permissions.allow is not a list"),
        ('{"a": "x\ny"}', 1, "a string is not closed"),
        ('{"a": nul}', 1, "expected a value here"),
        ("[" * 100, 1, "nested deeper than"),
        ('{"a" 1}', 1, "expected a : here"),
        ('{"a": [1 2]}', 1, "expected a , or ] here"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused_with_the_line(
    world: World, text: str, line: int, reason: str
) -> None:
    path = world.cwd / ".claude" / "settings.json"
    path.write_text(text)

    with pytest.raises(BadSettingsError) as caught:
        world.policy()

    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert reason in caught.value.reason


def test_bytes_that_are_no_text_are_refused_with_the_line(world: World) -> None:
    (world.cwd / ".claude" / "settings.json").write_bytes(b'{\n"a": "\xff"}')

    with pytest.raises(BadSettingsError, match=":2: is not UTF-8"):
        world.policy()


def test_an_unknown_mode_is_refused(world: World) -> None:
    world.write("user", permissions={"defaultMode": "yolo"})

    with pytest.raises(BadSettingsError, match="'yolo' is not one of default"):
        world.policy()


# Writing

BEFORE = """{
    "model":   "opus",   "unknown": {"a": [1,2,   3]},
    "permissions": {
        "allow": [
            "Bash(a)",
            "Bash(b)"
        ],
        "deny": ["Read(.env)"],
        "ask": []
    },
    "last": 1.50
}
"""


@pytest.mark.parametrize(
    ("behavior", "rule", "old", "new"),
    [
        ("allow", "Bash(c)", '            "Bash(b)"\n', '            "Bash(b)",\n            "Bash(c)"\n'),
        ("deny", "Bash(c)", '["Read(.env)"]', '["Read(.env)", "Bash(c)"]'),
        ("ask", "Bash(ä)", '"ask": []', '"ask": [\n            "Bash(ä)"\n        ]'),
    ],
)
def test_a_rule_is_added_and_nothing_else_changes(tmp_path: Path, behavior: Any, rule: str, old: str, new: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(BEFORE)

    assert add_rule(file, behavior, rule) is True

    assert file.read_text() == BEFORE.replace(old, new)
    assert add_rule(file, behavior, rule) is False
    assert remove_rule(file, behavior, rule) is True
    assert file.read_text() == BEFORE


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("Bash(a)", '"Bash(a)",\n            ', ""),
        ("Bash(b)", ',\n            "Bash(b)"', ""),
    ],
)
def test_a_rule_is_removed_and_nothing_else_changes(tmp_path: Path, rule: str, old: str, new: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(BEFORE)

    assert remove_rule(file, "allow", rule) is True

    assert file.read_text() == BEFORE.replace(old, new)
    assert remove_rule(file, "allow", rule) is False


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, '{\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n}\n'),
        ("", '{\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n}\n'),
        ("{}", '{"permissions": {"allow": ["Bash(x)"]}}'),
        ('{"a":1}', '{"a":1, "permissions": {"allow": ["Bash(x)"]}}'),
        (
            '{\r\n\t"a": 1\r\n}',
            '{\r\n\t"a": 1,\r\n\t"permissions": {\r\n\t\t"allow": [\r\n\t\t\t"Bash(x)"\r\n\t\t]\r\n\t}\r\n}',
        ),
        ('\ufeff{"a":1}', '\ufeff{"a":1, "permissions": {"allow": ["Bash(x)"]}}'),
    ],
)
def test_lists_that_are_missing_are_made_in_the_style_of_the_file(
    tmp_path: Path, before: str | None, after: str
) -> None:
    file = tmp_path / ".claude" / "settings.local.json"
    if before is not None:
        file.parent.mkdir()
        file.write_bytes(before.encode())

    add_rule(file, "allow", "Bash(x)")

    assert file.read_bytes().decode() == after


def test_a_link_stays_a_link_and_the_mode_stays_the_mode(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "settings.json"
    target.write_text("{}")
    target.chmod(0o640)
    link.symlink_to(target)

    add_rule(link, "deny", "Bash(x)")

    assert link.is_symlink()
    assert json.loads(target.read_text()) == {"permissions": {"deny": ["Bash(x)"]}}
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["real.json", "settings.json"]


def test_a_failed_write_leaves_the_file_and_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")

    def fail(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        add_rule(file, "allow", "Bash(x)")

    assert file.read_text() == "{}"
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_a_bad_rule_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"

    with pytest.raises(BadRulesError, match="the \\( is not closed"):
        add_rule(file, "allow", "Bash(")

    assert not file.exists()


@pytest.mark.parametrize("text", ['{"permissions": 1}', '{"permissions": {"allow": {}}}', '{"a": 1,}'])
def test_a_file_of_another_shape_is_not_touched(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)

    with pytest.raises(BadSettingsError):
        add_rule(file, "allow", "Bash(x)")

    assert file.read_text() == text


def test_positions_are_those_of_the_text() -> None:
    text = '{\n "a": [true, null, -1.5e3, "\\u00e4"]\n}'

    items = parse(text).members["a"].items

    assert [text[item.start : item.end] for item in items] == ["true", "null", "-1.5e3", '"\\u00e4"']
    assert [item.value for item in items] == [True, None, -1500.0, "ä"]
    assert line_of(text, items[0].start) == 2


def test_a_bad_escape_is_found_where_it_stands() -> None:
    with pytest.raises(JsonTextError) as caught:
        parse('{"a": "\\x"}')

    assert caught.value.at == 7


def test_the_cli_s_own_folder_may_be_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "settings.json").write_text(json.dumps({"permissions": {"allow": ["Bash(make build)"]}}))
    (elsewhere / ".claude.json").write_text(
        json.dumps({"projects": {str(world.cwd.resolve()): {"hasTrustDialogAccepted": True}}})
    )
    world.write("project", permissions={"allow": ["Bash(make test)"]})
    world.write("user", permissions={"allow": ["Bash(make install)"]})
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(elsewhere))
    monkeypatch.setenv("HOME", str(world.home))
    policy = Policy.from_settings(world.cwd, managed=str(world.managed))
    told = {word: policy.decide("Bash", {"command": f"make {word}"}).behavior for word in ("build", "test", "install")}
    assert told == {"build": "allow", "test": "allow", "install": "ask"}
