"""What programs do with option objects besides handing them over."""

import copy
import dataclasses
import pickle
from typing import Any

from _setup import sdk

OPTIONS = sdk.ClaudeAgentOptions(["Bash"], ["Read"], "Be brief.", model="haiku", debug_stderr=None)
AGENT = sdk.AgentDefinition("Reviews", "You review.", ["Read"], maxTurns=3)
MATCHER = sdk.HookMatcher("Bash", [], 5)


@dataclasses.dataclass
class TeamOptions(sdk.ClaudeAgentOptions):
    team: str = "none"


def show(record: Any, changes: dict[str, Any]) -> None:
    cls = type(record)
    print(cls.__name__, cls.__match_args__)
    print(repr(record))
    names = [field.name for field in dataclasses.fields(cls)][: len(cls.__match_args__)]
    print(dataclasses.is_dataclass(record), names == list(cls.__match_args__))
    changed = dataclasses.replace(record, **changes)
    print(changed == record, changed != record, dataclasses.replace(record) == record, record != copy.copy(record))
    print({name: dataclasses.asdict(changed)[name] for name in names} == {name: vars(changed)[name] for name in names})
    for again in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):  # noqa: S301
        print(again == record, again is record, type(again) is cls, vars(again) == vars(record))
    record.added_by_me = 1
    print(vars(record)["added_by_me"], record == copy.copy(record), "added_by_me" in repr(record))
    try:
        hash(record)
    except TypeError as error:
        print(error)
    for wrong in ({"nonsense": 1}, None):
        try:
            cls(**wrong) if wrong else cls(*range(100))
        except TypeError as error:
            print(type(error).__name__, "nonsense" in str(error), "positional" in str(error))


show(OPTIONS, {"max_turns": 4, "env": {"A": "b"}})
show(AGENT, {"model": "opus"})
show(MATCHER, {"matcher": None})

match OPTIONS:
    case sdk.ClaudeAgentOptions([tool], allowed, prompt):
        print(tool, allowed, prompt)
match AGENT:
    case sdk.AgentDefinition(description, prompt, tools):
        print(description, prompt, tools)

OPTIONS.max_turns = "as I like"
OPTIONS.allowed_tools.append("Edit")
print(OPTIONS.max_turns, OPTIONS.allowed_tools, sdk.ClaudeAgentOptions().allowed_tools)
print(sdk.ClaudeAgentOptions.max_turns, sdk.ClaudeAgentOptions.session_store_flush, hasattr(sdk.HookMatcher, "hooks"))
print(sdk.ClaudeAgentOptions(**{**vars(sdk.ClaudeAgentOptions()), "model": "x"}).model)
team = TeamOptions(model="m", team="red")
print(team.team, team == TeamOptions(model="m", team="red"), team == sdk.ClaudeAgentOptions(model="m"))
print(isinstance(dataclasses.replace(team, team="blue"), sdk.ClaudeAgentOptions))

print(sdk.types.SandboxSettings(enabled=True, network=sdk.types.SandboxNetworkConfig(allowLocalBinding=True)))
print(sdk.types.McpStdioServerConfig(command="x", args=["y"]), sdk.types.SdkPluginConfig(type="local", path="/p"))
for shape in ("SandboxSettings", "SandboxNetworkConfig", "McpStdioServerConfig", "McpHttpServerConfig", "TaskBudget"):
    print(shape, sorted(getattr(sdk.types, shape).__required_keys__))
