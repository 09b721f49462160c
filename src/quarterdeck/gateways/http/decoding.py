"""Path, query and body → the host's request. An unknown field, a second value or ``0`` for a bool is an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Union, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec
from msgspec import NODEFAULT, UnsetType
from msgspec.structs import FieldInfo

from quarterdeck.gateways.common.calling import check_texts, invalid
from quarterdeck.host.errors import HostError
from quarterdeck.host.requests import Nothing, Request

from .routes import Route

QUERY_FIELDS = 100
"""Parameters that a query may have."""
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")


class Shape:
    """How the requests of one route are read."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self.takes = route.operation.takes
        in_path = path_fields(route)
        fields = msgspec.structs.fields(self.takes)
        rest = [field for field in fields if field.encode_name not in in_path]
        self.in_path = [field for field in fields if field.encode_name in in_path]
        self.query: list[FieldInfo] = [] if route.takes_body and not route.raw else rest
        if route.raw:
            self.query = [field for field in rest if field.name not in (route.raw, "media_type")]
        self.body: Any = None
        """The type of the JSON body; None: there is none."""
        if route.takes_body and not route.raw:
            self.body = self._body_type(rest)
        self._read: dict[str, Callable[[list[str]], Any]] = {one.encode_name: _reader(one) for one in self.query}
        self._decoder = msgspec.json.Decoder(Nothing if self.body is None else self.body)

    def _body_type(self, rest: list[FieldInfo]) -> Any:
        if self.route.whole:
            return next(field.type for field in rest if field.name == self.route.whole)
        if not rest:
            return Nothing
        return msgspec.defstruct(
            f"{self.takes.__name__}Body",
            [_as_field(field) for field in rest],
            bases=(Request,),
            frozen=True,
            kw_only=True,
            namespace={"__doc__": self.takes.__doc__},
        )

    @property
    def body_required(self) -> bool:
        """Whether an empty body differs from an empty object."""
        if isinstance(self.body, type) and issubclass(self.body, msgspec.Struct):
            return any(field.required for field in msgspec.structs.fields(self.body))
        return True

    def request(self, path: Mapping[str, str], query: bytes, body: bytes, media_type: str = "") -> Request:
        """Raises ``HostError`` with the field that is wrong."""
        given: dict[str, Any] = dict(path)
        try:
            given |= self._from_query(query)
            if self.route.raw:
                given[self.route.raw] = body
                if "media_type" in self.takes.__struct_fields__:
                    given["media_type"] = media_type or "application/octet-stream"
                request = self.takes(**given)
            elif self.body is None:
                request = msgspec.convert(given, self.takes)
            else:
                request = self.merged(given, self._from_body(body))
        except (msgspec.ValidationError, TypeError) as error:
            raise invalid(error) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise HostError("invalid", f"The body is not JSON: {error}.", field="body") from error
        check_texts(request)
        return request

    def merged(self, path: Mapping[str, Any], read: Any) -> Request:
        """The request from the path and the body."""
        if self.route.whole:
            return self.takes(**path, **{self.route.whole: read})
        return self.takes(**path, **{name: getattr(read, name) for name in read.__struct_fields__})

    def _from_body(self, body: bytes) -> Any:
        return self._decoder.decode(body if body or self.body_required else b"{}")

    def _from_query(self, query: bytes) -> dict[str, Any]:
        if not query:
            return {}
        try:
            pairs = parse_qsl(
                query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=QUERY_FIELDS
            )
        except ValueError as error:
            raise HostError("invalid", "The query cannot be read.", field="query") from error
        values: dict[str, list[str]] = {}
        for name, value in pairs:
            values.setdefault(name, []).append(value)
        unknown = next((name for name in values if name not in self._read), None)
        if unknown is not None:
            raise msgspec.ValidationError(f"Object contains unknown field `{unknown}`")
        return {name: self._value(name, found) for name, found in values.items()}

    def _value(self, name: str, found: list[str]) -> Any:
        try:
            return self._read[name](found)
        except ValueError as error:
            raise HostError("invalid", f"{name}: {error}.", field=name) from error


@cache
def shape_of(route: Route) -> Shape:
    return Shape(route)


def path_fields(route: Route) -> list[str]:
    return re.findall(r"{(\w+)}", route.path)


def _as_field(field: FieldInfo) -> tuple[str, Any, Any]:
    settings: dict[str, Any] = {"name": field.encode_name}
    if field.default is not NODEFAULT:
        settings["default"] = field.default
    elif field.default_factory is not NODEFAULT:
        settings["default_factory"] = field.default_factory
    return field.name, field.type, msgspec.field(**settings)


def plain_type(annotation: Any) -> Any:
    """Without ``None``, ``UNSET`` and constraints."""
    while hasattr(annotation, "__metadata__"):
        annotation = annotation.__origin__
    choices = [one for one in get_args(annotation) if one not in (type(None), UnsetType)]
    is_union = get_origin(annotation) is Union or type(annotation).__name__ == "UnionType"
    return plain_type(choices[0]) if is_union and len(choices) == 1 else annotation


def _reader(field: FieldInfo) -> Callable[[list[str]], Any]:
    wanted = plain_type(field.type)
    if get_origin(wanted) is list:
        read = _scalar(plain_type(get_args(wanted)[0]))
        return lambda found: [read(one) for value in found for one in value.split(",") if one]
    read = _scalar(wanted)
    return lambda found: read(_only(found))


def _only(found: list[str]) -> str:
    if len(found) > 1:
        raise ValueError("given twice")
    return found[0]


def _scalar(wanted: Any) -> Callable[[str], Any]:
    if wanted is bool:
        return _bool
    if wanted is int:
        return _integer
    return _number if wanted is float else str


def _bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("true or false is expected")
    return text == "true"


def _integer(text: str) -> int:
    if _INTEGER.fullmatch(text) is None:
        raise ValueError("an integer is expected")
    return int(text)


def _number(text: str) -> float:
    if _NUMBER.fullmatch(text) is None or not math.isfinite(float(text)):
        raise ValueError("a number is expected")
    return float(text)
