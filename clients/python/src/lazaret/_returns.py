# SPDX-License-Identifier: MIT
"""What a function returns, by its annotation, as the JSON Schema that is shown to models.

No value is checked by it, so what it cannot say is left out.
"""

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import types
import typing
import uuid
from typing import Any, Dict, FrozenSet, List, Optional, Union

Schema = Dict[str, Any]

_UNIONS = (Union, getattr(types, "UnionType", Union))
_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_TEXTS = (decimal.Decimal, uuid.UUID, pathlib.PurePath, datetime.time, datetime.timedelta)
_ARRAYS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable,
           collections.abc.Collection)
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def _required(hint: Any) -> Dict[str, bool]:
    """The members of a dataclass, a TypedDict or a pydantic model: is each always there?"""
    fields = getattr(hint, "model_fields", None) or getattr(hint, "__fields__", None)
    if isinstance(fields, dict):
        return {name: True for name in fields}
    if dataclasses.is_dataclass(hint):
        return {field.name: True for field in dataclasses.fields(hint)}
    if issubclass(hint, dict):
        optional: FrozenSet[str] = getattr(hint, "__optional_keys__", frozenset())
        return {name: name not in optional for name in getattr(hint, "__annotations__", {})}
    return {}


class _Reader:
    """Reads one annotation. Classes with members are definitions, which may refer to themselves."""

    def __init__(self) -> None:
        self.definitions: Dict[str, Schema] = {}
        self._names: Dict[Any, str] = {}

    def of_hint(self, hint: Any) -> Schema:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            return self.of_hint(arguments[0])
        if origin in _UNIONS:
            choices = [self.of_hint(argument) for argument in arguments]
            return {"anyOf": choices} if all(choices) else {}
        if origin is typing.Literal:
            return _of_values(list(arguments))
        base = origin or hint
        return self._of_class(base, arguments) if isinstance(base, type) else {}

    def _of_class(self, hint: Any, arguments: Any) -> Schema:
        if hint in _SCALARS:
            return {"type": _SCALARS[hint]}
        if issubclass(hint, enum.Enum):
            return _of_values([member.value for member in hint])
        if issubclass(hint, _TEXTS):
            return {"type": "string"}
        if hint in _ARRAYS:
            has_items = arguments and arguments[1:] in ((), (...,))
            items = {"items": self.of_hint(arguments[0])} if has_items else {}
            return {"type": "array", **items}
        if hint in _OBJECTS:
            values = {"additionalProperties": self.of_hint(arguments[1])} if arguments else {}
            return {"type": "object", **values}
        return self._of_members(hint)

    def _of_members(self, hint: Any) -> Schema:
        members = _required(hint)
        if not members:
            return {"type": "object"} if issubclass(hint, dict) else {}
        name = self._names.get(hint)
        if name is None:
            name = self._names[hint] = f"{hint.__name__}{len(self._names) or ''}"
            try:
                hints = typing.get_type_hints(hint)
            except (NameError, TypeError):
                hints = {}
            self.definitions[name] = {
                "type": "object",
                "properties": {key: self.of_hint(hints.get(key)) for key in members},
                "required": [key for key, is_required in members.items() if is_required],
            }
        return {"$ref": f"#/$defs/{name}"}


def _of_values(values: List[Any]) -> Schema:
    is_plain = all(value is None or isinstance(value, (str, int, float)) for value in values)
    return {"enum": values} if is_plain else {}


def returns_of(hint: Any) -> Optional[Schema]:
    """The schema of what is returned, or None where nothing is known of it."""
    reader = _Reader()
    schema = reader.of_hint(hint)
    if reader.definitions:
        schema = {**schema, "$defs": reader.definitions}
    return schema if schema and _is_plain(schema) else None


# ---- schemas of others --------------------------------------------------------------------------

# The types of JSON Schema, and the words for them that stand for all languages.
WORDS = {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "array": "list",
         "object": "object", "null": "null"}
_DEPTH = 10  # of schemas inside of each other that are passed on
_MEMBERS = 12  # of an object that are shown


def _of_keyword(name: str, value: Any, depth: int) -> Any:
    """What a schema of ours says by this keyword; None: nothing."""
    if name == "type":
        kinds = [value] if isinstance(value, str) else value
        return value if isinstance(kinds, list) and kinds and all(map(WORDS.get, kinds)) else None
    if name in ("items", "additionalProperties"):
        return value if isinstance(value, bool) else _cleaned(value, depth + 1)
    if name in ("anyOf", "oneOf", "allOf"):
        return [_cleaned(one, depth + 1) for one in value] if isinstance(value, list) else None
    if name in ("properties", "$defs", "definitions") and isinstance(value, dict):
        return {str(key): _cleaned(one, depth + 1) for key, one in value.items()}
    if name == "required" and isinstance(value, list):
        return [str(key) for key in value]
    if name == "enum" and isinstance(value, list):
        return _of_values(value).get("enum")
    return value if name == "$ref" and isinstance(value, str) else None


def _cleaned(schema: Any, depth: int = 0) -> Schema:
    if not isinstance(schema, dict) or depth > _DEPTH:
        return {}
    found = {name: _of_keyword(name, value, depth) for name, value in schema.items()}
    return {name: value for name, value in found.items() if value is not None}


def returns_of_schema(schema: Any) -> Optional[Schema]:
    """A schema of a framework, with what is read of it alone: the server refuses what is none."""
    cleaned = _cleaned(schema)
    return cleaned if cleaned and _is_plain(cleaned) else None


def type_text(schema: Any, root: Any, depth: int = 0) -> str:
    """A schema of ours as a type that a model reads, as "{name: str, tags: [str]}"."""
    if not isinstance(schema, dict):
        return "any"
    if depth > 3:
        return "..."
    reference = schema.get("$ref", "").rpartition("/")[2]
    if reference:
        definitions = {**root.get("definitions", {}), **root.get("$defs", {})}
        return type_text(definitions.get(reference, {}), root, depth + 1)
    kinds = schema.get("type")
    choices = ([{**schema, "type": kind} for kind in kinds] if isinstance(kinds, list)
               else schema.get("anyOf") or schema.get("oneOf"))
    if "enum" in schema:
        texts = [json.dumps(value, ensure_ascii=False) for value in schema["enum"][:_MEMBERS]]
        return " | ".join(texts)
    if choices:
        return " | ".join(dict.fromkeys(type_text(one, root, depth + 1) for one in choices))
    if len(schema.get("allOf", ())) == 1:
        return type_text(schema["allOf"][0], root, depth + 1)
    if schema.get("properties"):
        return _members_text(schema, root, depth)
    if isinstance(schema.get("items"), dict) and schema["items"]:
        return f"[{type_text(schema['items'], root, depth + 1)}]"
    return WORDS.get(kinds, "any") if isinstance(kinds, str) else "any"


def _members_text(schema: Schema, root: Any, depth: int) -> str:
    members = list(schema["properties"].items())
    required = schema.get("required", [])
    texts = [f"{name}{'' if name in required else '?'}: {type_text(one, root, depth + 1)}"
             for name, one in members[:_MEMBERS]]
    return "{" + ", ".join(texts + ["..."] * (len(members) > _MEMBERS)) + "}"


def _is_plain(schema: Schema) -> bool:
    """Can a message have it? Names and values may be any."""
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except ValueError:
        return False
    return "\\u0000" not in text
