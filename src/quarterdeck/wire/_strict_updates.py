"""Exactly the permission updates that the CLI accepts; ``PermissionUpdate`` is more lenient."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from .permissions import PermissionBehavior, PermissionMode, PermissionUpdateDestination


class StrictRule(msgspec.Struct, rename="camel"):
    tool_name: str
    rule_content: str | msgspec.UnsetType = msgspec.UNSET


class StrictBase(msgspec.Struct, tag_field="type"):
    destination: PermissionUpdateDestination


class StrictRules(StrictBase):
    rules: list[StrictRule]
    behavior: PermissionBehavior


class StrictAddRules(StrictRules, tag="addRules"): ...


class StrictReplaceRules(StrictRules, tag="replaceRules"): ...


class StrictRemoveRules(StrictRules, tag="removeRules"): ...


class StrictSetMode(StrictBase, tag="setMode"):
    mode: PermissionMode | Literal["manual"]


class StrictDirectories(StrictBase):
    directories: list[str]


class StrictAddDirectories(StrictDirectories, tag="addDirectories"): ...


class StrictRemoveDirectories(StrictDirectories, tag="removeDirectories"): ...


StrictUpdate: TypeAlias = (
    StrictAddRules
    | StrictReplaceRules
    | StrictRemoveRules
    | StrictSetMode
    | StrictAddDirectories
    | StrictRemoveDirectories
)
