"""Rules and a request in, a decision and its reason out.

The order is the CLI's: deny rules, ask rules, what no rule may decide, the mode, allow rules, what the mode lets
through. Whatever is left is "ask".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck.wire.permissions import PermissionMode

from . import risk
from .adapters import OnAsk, PolicyCallbacks
from .command_rules import allows_any_code
from .decision import Decision, RiskLevel, Verdict, strictest
from .errors import BadRule, BadRulesError, need_grammar
from .explain import Explanation, explain
from .path_judge import PathJudge
from .paths import BLANKS, FileSystem, PathResolver, Places, fold
from .programs import words
from .rulebook import Rulebook
from .rules import (
    AGENT_TOOLS,
    EDIT_TOOLS,
    READ_TOOLS,
    SHELL_TOOLS,
    Behavior,
    Rule,
    RuleError,
    Source,
    parse_rule,
)
from .shell import read_script
from .shell_judge import CommandPart, ShellJudge
from .urls import hosts_of

MODES: tuple[PermissionMode, ...] = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto")
_NEEDS_A_PERSON = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""2.1.325 asks for these in every mode, also ``bypassPermissions``."""
_HARMLESS = words(
    """Task Agent TodoWrite ToolSearch EnterPlanMode ListAgents CronList BashOutput TaskOutput TaskList TaskGet"""
)
"""Tools that 2.1.325 runs without asking: they change nothing but the session itself, and what a sub-agent does is
asked about on its own."""
_FEWER_RULES = frozenset({"plan", "auto"})
"""In these modes 2.1.325 ignores rules that would allow any code (``Bash``, ``Bash(python3:*)``) or any agent."""
DEFAULT_AGENT = "general-purpose"
"""What 2.1.325 starts where a call names no agent."""
_ALLOWED_BY_MODE = Verdict("allow", "The mode bypasses permissions.", source="mode")


class Policy(PolicyCallbacks):
    """Decides about tool calls. Immutable; ``with_rules`` makes another one.

    Usable as ``can_use_tool`` (it is an async callable; a session then also registers its ``guard``) and, by its
    method ``hook``, as a ``PreToolUse`` hook.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        *,
        cwd: str,
        home: str | None = None,
        directories: Sequence[str] = (),
        mode: PermissionMode = "default",
        resolver: PathResolver | None = None,
        roots: Mapping[Source, str] | None = None,
        notes: Sequence[str] = (),
        on_ask: OnAsk | None = None,
        cli_reads_settings: bool = False,
    ) -> None:
        """``cli_reads_settings`` says that the session reads the settings files that the rules come from: then the CLI
        itself leaves what they deny out of a ``Grep``."""
        if mode not in MODES:
            raise ValueError(f"{mode!r} is not a permission mode; use one of {', '.join(MODES)}")
        need_grammar()
        self.rules = tuple(rules)
        self._restraint: Policy | None = None
        self._in_mode: dict[object, Policy] = {}
        self.mode: PermissionMode = mode
        self.notes = tuple(notes)
        """What a person should know about how the rules were loaded."""
        self.on_ask = on_ask
        self._options: dict[str, Any] = {
            "directories": directories,
            "resolver": resolver,
            "roots": roots,
            "notes": notes,
            "on_ask": on_ask,
            "cli_reads_settings": cli_reads_settings,
        }
        home = str(Path.home()) if home is None else home
        self.places = Places(cwd, home, directories=directories, resolver=resolver or FileSystem())
        counting = [rule for rule in self.rules if mode not in _FEWER_RULES or not allows_any_code(rule)]
        self._books: dict[Behavior, Rulebook] = {
            behavior: Rulebook([rule for rule in counting if rule.behavior == behavior], self.places, roots or {})
            for behavior in ("allow", "deny", "ask")
        }
        books = (self._books["allow"], self._books["deny"], self._books["ask"])
        self._allow, self._deny, self._ask = books
        self.paths = PathJudge(*books, self.places, mode, cli_reads_settings=cli_reads_settings)
        self._shell = ShellJudge(*books, self.paths, self.places)

    @classmethod
    def from_rules(
        cls,
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        ask: Iterable[str] = (),
        cwd: str | os.PathLike[str] = ".",
        **options: Any,
    ) -> Policy:
        """A policy from rules as text. Raises ``BadRulesError`` listing every invalid rule."""
        rules: list[Rule] = []
        bad: list[BadRule] = []
        listed: tuple[tuple[Behavior, Iterable[str]], ...] = (("allow", allow), ("deny", deny), ("ask", ask))
        for behavior, texts in listed:
            for text in texts:
                try:
                    rules.append(parse_rule(text, behavior, source=options.get("source", "session")))
                except RuleError as problem:
                    bad.append(BadRule(text, str(problem)))
        if bad:
            raise BadRulesError(bad)
        options.pop("source", None)
        return cls(rules, cwd=os.fspath(cwd), **options)

    @classmethod
    def from_settings(cls, cwd: str | os.PathLike[str] = ".", **options: Any) -> Policy:
        """A policy from the settings files that the CLI would read in ``cwd``; see ``settings.load``."""
        from .settings import load

        where = {name: options.pop(name, None) for name in ("home", "config", "managed")}
        loaded = load(os.fspath(cwd), **where)
        options.setdefault("mode", loaded.mode)
        return cls(
            [*options.pop("rules", ()), *loaded.rules],
            cwd=loaded.cwd,
            home=loaded.home,
            directories=loaded.directories,
            roots=loaded.roots,
            notes=loaded.notes,
            **options,
        )

    def with_rules(self, rules: Iterable[Rule], *, mode: PermissionMode | None = None) -> Policy:
        """The same policy with other rules, and with another mode if given."""
        return Policy(rules, cwd=self.places.cwd, home=self.places.home, mode=mode or self.mode, **self._options)

    def decide(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        """Decide a call. Pure: reads no clock and changes nothing."""
        verdict, _, found = self.judge(tool_name, tool_input)
        return Decision(verdict.behavior, verdict.rule, verdict.source, verdict.why, risk.combine(found))

    def restrain(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        decision = self.decide(tool_name, tool_input)
        if decision.behavior != "ask":
            return decision
        if tool_name in _NEEDS_A_PERSON:  # the CLI asks about these itself
            return msgspec.structs.replace(decision, behavior="allow")
        if self._restraint is None:
            self._restraint = self.with_rules(self.rules, mode="bypassPermissions")
        return self._restraint.decide(tool_name, tool_input)

    def decide_while(self, mode: object, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        decision = self.decide(tool_name, tool_input)
        if mode is None or mode == self.mode or decision.behavior == "deny":
            return decision
        known = mode if mode in MODES else "default"
        if known not in self._in_mode:
            self._in_mode[known] = self.with_rules(self.rules, mode=known)
        return strictest([decision, self._in_mode[known].decide(tool_name, tool_input)])

    @property
    def lets_through(self) -> bool:
        return self.mode in ("acceptEdits", "bypassPermissions")

    @property
    def refuses(self) -> bool:
        return bool(self._deny.rules or self._ask.rules)

    def explain(self, tool_name: str, tool_input: Mapping[str, Any]) -> Explanation:
        """The same decision, with the parts, the rules that came near, and the narrowest rule that would allow it."""
        return explain(self, tool_name, tool_input)

    def judge(
        self, tool: str, tool_input: Mapping[str, Any]
    ) -> tuple[Verdict, Sequence[CommandPart], Sequence[tuple[RiskLevel, str]]]:
        """The verdict, the verdicts on the parts of a shell command, and the risk."""
        self.paths.start_over()
        parts: Sequence[CommandPart] = ()
        found: Sequence[tuple[RiskLevel, str]] = ()
        whole = self._for_whole(self._deny, tool) or self._for_whole(self._ask, tool)
        if tool in SHELL_TOOLS:
            verdict, parts, found = self._shell_command(tool_input, tool)
        elif tool in READ_TOOLS or tool in EDIT_TOOLS:
            verdict, found = self._file(tool, tool_input)
        else:
            verdict = self._other(tool, tool_input)
            found = [("medium", "network")] if tool in ("WebFetch", "WebSearch") else ()
        if whole is not None and verdict.behavior != "deny":
            verdict = Verdict.by(whole, f"{whole} covers the whole tool.")
        if verdict.behavior == "ask" and self.mode == "dontAsk":
            verdict = Verdict("deny", f"{verdict.why} This mode does not ask.", verdict.rule, "mode")
        return verdict, parts, found

    @staticmethod
    def _for_whole(book: Rulebook, tool: str) -> Rule | None:
        """A deny or ask rule for all of the tool; one for ``Bash`` is for every tool that runs commands."""
        return book.for_tool(tool) or (book.for_tool("Bash") if tool in SHELL_TOOLS else None)

    def _shell_command(
        self, tool_input: Mapping[str, Any], tool: str
    ) -> tuple[Verdict, list[CommandPart], list[tuple[RiskLevel, str]]]:
        command = tool_input.get("command")
        if not isinstance(command, str):
            return Verdict("ask", "There is no command in this call.", source="safety"), [], []
        script = read_script(command)
        verdict, parts, units = self._shell.judge(script, everything=self._everything(tool))
        if tool_input.get("dangerouslyDisableSandbox") and verdict.behavior == "allow" and verdict.source != "mode":
            verdict = Verdict("ask", "It asks to run outside the sandbox.", source="safety")
        argvs = [unit.argv or [word.hint for word in unit.command.words] for unit in units]
        return verdict, parts, risk.of_commands(command, argvs)

    def _everything(self, tool: str) -> Verdict | None:
        if self.mode == "bypassPermissions":
            return _ALLOWED_BY_MODE
        rule = self._allow.for_tool(tool)
        return None if rule is None else Verdict.by(rule, f"{rule} allows every command.")

    def _file(self, tool: str, tool_input: Mapping[str, Any]) -> tuple[Verdict, list[tuple[RiskLevel, str]]]:
        key, edit = (EDIT_TOOLS[tool], True) if tool in EDIT_TOOLS else (READ_TOOLS[tool], False)
        path = tool_input.get(key)
        if path is None and key == "path":
            path = "."  # Glob and Grep search the working folder
        if not isinstance(path, str) or not path:
            return Verdict("ask", f"There is no {key} in this call.", source="safety"), []
        verdict = self.paths.judge_path(path, edit=edit, tool=tool)
        verdict = strictest([verdict, *self._search(tool, path, tool_input)])
        located = self.paths.locate(path)
        if located is None:
            return verdict, []
        return verdict, risk.of_path(tool, located.both, inside=self.places.inside(located))

    def _search(self, tool: str, folder: str, tool_input: Mapping[str, Any]) -> Iterator[Verdict]:
        """Judge a Glob's pattern and the files a Grep reads."""
        if tool == "Grep":
            if self._is_asked_about(tool_input):
                yield Verdict("ask", "The path ends in a dot.", source="safety")
            found = self.paths.judge_search(folder)
            if found is not None:
                yield found
        elif tool == "Glob":
            pattern = tool_input.get("pattern", "")
            if not isinstance(pattern, str) or _LEADS_OUT.search(pattern):
                yield Verdict("ask", "The pattern may lead out of the folder.", source="safety")
            else:
                yield self.paths.judge_path(f"{folder}/{_literal_head(pattern)}", edit=False, tool=tool)

    def _is_asked_about(self, search: Mapping[str, Any]) -> bool:
        """CLI 2.0.77 to 2.1.52 ask about a ``Grep`` in ``.`` and ``src/..``, though not where no folder is named."""
        path = search.get("path")
        named = isinstance(path, str) and _ENDS_IN_DOTS.search(path) is not None
        return named and self.mode != "bypassPermissions" and self._allow.for_tool("Grep") is None

    def _other(self, tool: str, tool_input: Mapping[str, Any]) -> Verdict:
        named = self._by_name(tool, tool_input)
        if named is not None and (named.behavior != "allow" or not self._leaves_to_a_person(tool)):
            return named
        if tool in _NEEDS_A_PERSON:
            return Verdict("ask", f"{tool} asks the user a question.", source="safety")
        if self.mode == "bypassPermissions":
            return _ALLOWED_BY_MODE
        if self._leaves_to_a_person(tool):
            return Verdict("ask", f"In the mode {self.mode} no rule allows {tool}.", source="mode")
        rule = self._allow.for_tool(tool)
        if rule is not None:
            return Verdict.by(rule, f"{rule} allows the whole tool.")
        if tool in _HARMLESS:
            return Verdict("allow", f"{tool} changes nothing outside the session.", source="mode")
        return Verdict("ask", f"No rule mentions {tool}.")

    def _leaves_to_a_person(self, tool: str) -> bool:
        return (tool in AGENT_TOOLS and self.mode in _FEWER_RULES) or (tool.startswith("mcp__") and self.mode == "plan")

    def _by_name(self, tool: str, tool_input: Mapping[str, Any]) -> Verdict | None:
        """Rules with content for tools that are neither files nor commands."""
        if tool == "WebFetch":
            url = tool_input.get("url")
            certain, seen = hosts_of(url) if isinstance(url, str) else (None, ())
        elif tool in AGENT_TOOLS or tool == "Skill":
            certain, seen = self._called(tool, tool_input)
        else:
            return None
        for book in (self._deny, self._ask):
            for name in seen:
                rule = book.for_named(tool, name)
                if rule is not None:
                    return Verdict.by(rule, f"{rule} matches {name}.")
        if certain is None and (self._deny.names_any(tool) or self._ask.names_any(tool)):
            return Verdict("ask", f"The target of this {tool} call is ambiguous.", source="safety")
        rule = self._allow.for_named(tool, certain) if certain else None
        return None if rule is None else Verdict.by(rule, f"{rule} allows {certain}.")

    @staticmethod
    def _called(tool: str, tool_input: Mapping[str, Any]) -> tuple[str | None, tuple[str, ...]]:
        """The agent or skill that is called, if certain, and all that it could be."""
        given = tool_input.get("skill" if tool == "Skill" else "subagent_type")
        if given is None and tool in AGENT_TOOLS:
            return DEFAULT_AGENT, (DEFAULT_AGENT,)
        if not isinstance(given, str):
            return None, ()
        name = given.strip(BLANKS)
        bare = name.removeprefix("/") if tool == "Skill" else name
        plain = given == name and bool(bare) and bare.isascii() and bare.isprintable()
        return (bare if plain else None), tuple(dict.fromkeys((bare, fold(bare), given)))


_ENDS_IN_DOTS = re.compile(r"(?:^|/)\.{1,2}\Z")
_LEADS_OUT = re.compile(r"\.\.|\\|(?:^|[{,(|])\s*[/~]")


def _literal_head(pattern: str) -> str:
    """The folders and names that a pattern spells out before its first wildcard."""
    names = pattern.strip(BLANKS).split("/")
    plain = takewhile(lambda name: not set("*?[]{}()!+@").intersection(name), names)
    return "/".join(plain)
