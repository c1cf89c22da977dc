# SPDX-License-Identifier: MIT
"""Tools that are declared by a JSON Schema instead of a signature, as frameworks have them.

The server checks names, types and enumerations of the arguments; what is inside an array or an
object is not its business. So a schema is read one level deep, as by the client for TypeScript:
each property becomes a parameter, its members are in the description, and what cannot be said of it
becomes "any value". The framework still checks the whole of it when its tool is called.
"""

from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple
from urllib.parse import unquote

from ._returns import WORDS, returns_of_schema, type_text
from ._tools import Tool, encode_text, milliseconds
from ._values import decode, encode

Schema = Mapping[str, Any]

_TYPES = {"string": str, "number": (int, float), "integer": int, "boolean": bool, "array": list,
          "object": dict}
_MAX_STEPS = 100  # of definitions that lead to others
_MAX_MEMBERS = 40  # of an object that are named in a description


# ---- reading ------------------------------------------------------------------------------------


def _resolve(schema: Any, root: Schema) -> Dict[str, Any]:
    """Follow `$ref` to a definition of the same schema."""
    for _ in range(_MAX_STEPS):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return dict(schema)
        target: Any = root if reference.startswith("#") else None
        for part in unquote(reference).split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, Mapping) else None
        others = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **others} if isinstance(target, Mapping) else others
    return {}


def _of_values(values: List[Any]) -> Dict[str, Any]:
    """The declaration of one of some values; of one type if all of them have it."""
    kinds = {type(value) for value in values}
    kind = {str: "string", int: "integer", float: "number", bool: "boolean"}.get(
        kinds.pop()) if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


def _type_of(schema: Dict[str, Any], root: Schema) -> Tuple[Dict[str, Any], bool]:
    """Type and enumeration of a property, and whether it can be null."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, (list, tuple)):
        others = [value for value in values if value is not None]
        return _of_values(others) if others else {}, len(others) < len(values)
    types = schema.get("type")
    if types is not None:
        types = [types] if isinstance(types, str) else list(types)
        others = [name for name in types if name != "null"]
        is_known = len(others) == 1 and others[0] in _TYPES
        declared = {"type": others[0]} if is_known else {}
        if others == ["string"] and schema.get("format") == "path":
            declared["format"] = "path"
        return declared, len(others) < len(types)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, (list, tuple)):
        resolved = [_resolve(choice, root) for choice in choices]
        others = [choice for choice in resolved if choice.get("type") != "null"]
        if len(others) == 1 and "anyOf" not in others[0] and "oneOf" not in others[0]:
            declared, is_nullable = _type_of(others[0], root)
            return declared, is_nullable or len(others) < len(resolved)
        return {}, len(others) < len(resolved)
    return {}, True


def _members(schema: Any, root: Schema) -> str:
    """The members of an object, or of the objects in an array, for the model that writes code."""
    schema = _resolve(schema, root)
    choices = [_resolve(choice, root) for choice in schema.get("anyOf") or ()]
    others = [choice for choice in choices if choice.get("type") != "null"]
    if len(others) == 1:
        schema = others[0]
    items = _resolve(schema.get("items"), root)
    if items.get("properties"):
        inner = _members_of(items, root)
        return f"[{inner}, ...]" if inner else ""
    return _members_of(schema, root)


def _members_of(schema: Dict[str, Any], root: Schema) -> str:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return ""
    required = schema.get("required") or ()
    texts = [f"{name}{'' if name in required else '?'}: "
             f"{_type_of(_resolve(member, root), root)[0].get('type', 'any')}"
             for name, member in list(properties.items())[:_MAX_MEMBERS]]
    if len(properties) > _MAX_MEMBERS:
        texts.append("...")
    return f"{{{', '.join(texts)}}}"


def _fits(value: Any, declared: Dict[str, Any]) -> bool:
    """Can this be a default of the parameter? The server refuses others."""
    kind = declared.get("type")
    if kind is not None and not isinstance(value, _TYPES[kind]):  # type: ignore[arg-type]
        return False
    if isinstance(value, bool) and kind in ("integer", "number"):
        return False
    return "enum" not in declared or value in declared["enum"]


def parameters_of(schema: Schema) -> List[Dict[str, Any]]:
    """The properties of a JSON Schema of an object as parameters of a tool."""
    root = _resolve(schema, schema)
    properties = root.get("properties") or {}
    required = root.get("required") or ()
    parameters = []
    for name, member in properties.items():
        member = _resolve(member, schema)
        declared, is_nullable = _type_of(member, schema)
        declared["name"] = name
        declared["required"] = name in required and not (is_nullable and "type" in declared)
        default = member.get("default")
        if default is not None and _fits(default, declared):
            try:
                declared["default"] = encode(default)
            except (TypeError, ValueError):
                pass  # the framework has it
        about = member.get("description")
        texts = [about if isinstance(about, str) else "", _members(member, schema)]
        declared["description"] = encode_text(" ".join(filter(None, texts)))
        parameters.append(declared)
    return parameters


# ---- tools --------------------------------------------------------------------------------------


class SchemaTool(Tool):
    """A tool with a JSON Schema. Its function gets the arguments as one dict."""

    def __init__(self, function: Callable[[Dict[str, Any]], Any], name: str, description: str,
                 schema: Schema, *, is_async: bool = False, timeout: Optional[float] = None,
                 approve: bool = False, max_concurrent: Optional[int] = None,
                 returns: Optional[Schema] = None) -> None:
        self.function = function
        self.name = name
        self.is_async = is_async
        self.declaration: Dict[str, Any] = {
            "name": name,
            "description": encode_text(description),
            "parameters": parameters_of(schema),
        }
        known = returns_of_schema(returns)
        if known is not None:
            self.declaration["returns"] = known
        if timeout is not None:
            self.declaration["timeout_ms"] = milliseconds(timeout, "timeout")
        if approve:
            self.declaration["approve"] = True
        if max_concurrent is not None:
            self.declaration["max_concurrent"] = max_concurrent
        required = _resolve(schema, schema).get("required") or ()
        # What the schema requires, and may be null, can be left out in a call: it is null then.
        self._nullable = [parameter["name"] for parameter in self.declaration["parameters"]
                          if parameter["name"] in required and not parameter["required"]]

    def call(self, args: Dict[str, Any]) -> Any:
        given = {name: None for name in self._nullable}
        given.update((name, decode(value)) for name, value in args.items())
        return self.function(given)


def signature_of(declaration: Dict[str, Any]) -> str:
    """A declared tool as a line for a model, in no language in particular."""
    texts = []
    for parameter in declaration["parameters"]:
        text = f"{parameter['name']}: {WORDS.get(parameter.get('type', ''), 'any')}"
        if "enum" in parameter:
            text += " in " + " | ".join(map(repr, parameter["enum"]))
        if "default" in parameter:
            text += f" = {parameter['default']!r}"
        elif not parameter["required"]:
            text += " = None"
        texts.append(text)
    about, returns = declaration.get("description") or "", declaration.get("returns")
    line = (f"{declaration['name']}({', '.join(texts)})"
            + (f" -> {type_text(returns, returns)}" if returns else "")
            + (f": {about}" if about else ""))
    members = [f"    {parameter['name']}: {parameter['description']}"
               for parameter in declaration["parameters"] if parameter.get("description")]
    return "\n".join([line, *members])
