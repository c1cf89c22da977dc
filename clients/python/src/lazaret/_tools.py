# SPDX-License-Identifier: MIT
"""Functions as tools: their signature, type hints and docstring become the declaration."""

import collections.abc
import dataclasses
import enum
import inspect
import math
import re
import types
import typing
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Optional,
    Tuple,
    TypeVar,
    Union,
    overload,
)

from ._results import ToolError
from ._returns import returns_of
from ._values import decode, encode

Make = Callable[[Any], Any]
Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = "__lazaret_tool__"
_UNIONS = (Union, getattr(types, "UnionType", Union))
_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number"}
_ARRAYS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


# ---- types --------------------------------------------------------------------------------------


def _same(value: Any) -> Any:
    return value


def _real(value: Any) -> float:
    return float(value)


def _of_values(values: List[Any]) -> Dict[str, Any]:
    """The declaration of one of some values; of one type if all of them have it."""
    kinds = {type(value) for value in values}
    kind = _SCALARS.get(kinds.pop()) if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


def _is_pydantic_1(hint: type) -> bool:
    return hasattr(hint, "__fields__") and hasattr(hint, "parse_obj")


def _make_dataclass(hint: Any, value: Any) -> Any:
    """An object of a dataclass, and of those that it contains."""
    if not isinstance(value, dict):
        raise TypeError(f"{hint.__name__} is made of an object, not of {type(value).__name__}")
    hints = typing.get_type_hints(hint)
    return hint(**{name: _of_hint(hints.get(name))[1](item) for name, item in value.items()})


def _of_class(hint: Any) -> Tuple[Dict[str, Any], Make]:
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}, _real if hint is float else _same
    if issubclass(hint, enum.Enum):
        return _of_values([member.value for member in hint]), hint
    if hasattr(hint, "model_validate"):  # pydantic
        return {"type": "object"}, hint.model_validate
    if _is_pydantic_1(hint):
        return {"type": "object"}, hint.parse_obj
    if dataclasses.is_dataclass(hint):
        return {"type": "object"}, lambda value: _make_dataclass(hint, value)
    if hint in _OBJECTS or issubclass(hint, dict):  # a TypedDict is a dict as well
        return {"type": "object"}, _same
    if hint in _ARRAYS:
        makes = hint if hint in (tuple, set, frozenset) else None
        return {"type": "array"}, makes or _same
    return {}, _same


def _of_items(declared: Dict[str, Any], make: Make, arguments: Tuple[Any, ...]) -> Make:
    """What makes a list of type `declared`, or a dict, with items that have a type of their own."""
    if declared.get("type") == "array" and arguments and arguments[1:] in ((), (...,)):
        item = _of_hint(arguments[0])[1]
        if item is not _same:
            return lambda value: make([item(one) for one in value])
    if declared.get("type") == "object" and len(arguments) == 2:
        item = _of_hint(arguments[1])[1]
        if item is not _same:
            return lambda value: {key: item(one) for key, one in value.items()}
    return make


def _of_hint(hint: Any) -> Tuple[Dict[str, Any], Make, bool]:
    """What a type hint declares, what makes its values of JSON, and whether None is allowed."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        declared, make, is_optional = _of_hint(arguments[0])
        texts = [text for text in arguments[1:] if isinstance(text, str)]
        return {**declared, "description": texts[0]} if texts else declared, make, is_optional
    if origin in _UNIONS:
        others = [argument for argument in arguments if argument is not type(None)]
        is_optional = len(others) < len(arguments)
        if len(others) != 1:
            return {}, _same, is_optional
        declared, make, _ = _of_hint(others[0])
        return declared, lambda value: None if value is None else make(value), is_optional
    if origin is typing.Literal:
        values = [value for value in arguments if value is not None]
        return _of_values(values), _same, len(values) < len(arguments)
    base = origin or hint
    if isinstance(base, type):
        declared, make = _of_class(base)
        return declared, _of_items(declared, make, arguments), False
    return {}, _same, False


def _members(hint: Any) -> str:
    """The members of a dataclass, a TypedDict or a pydantic model, for the model that writes code.

    The server knows only that an argument is an object.
    """
    if typing.get_origin(hint) in _UNIONS:
        others = [one for one in typing.get_args(hint) if one is not type(None)]
        return _members(others[0]) if len(others) == 1 else ""
    if not isinstance(hint, type):
        return ""
    required: Dict[str, bool] = {}
    fields = getattr(hint, "model_fields", None) or getattr(hint, "__fields__", None)
    if isinstance(fields, dict):
        for name, field in fields.items():
            is_required = getattr(field, "is_required", None)  # of pydantic 2
            required[name] = bool(is_required() if callable(is_required) else field.required)
    elif dataclasses.is_dataclass(hint):
        required = {field.name: field.default is field.default_factory is dataclasses.MISSING
                    for field in dataclasses.fields(hint) if field.init}
    elif issubclass(hint, dict):
        optional: FrozenSet[str] = getattr(hint, "__optional_keys__", frozenset())
        required = {name: name not in optional for name in getattr(hint, "__annotations__", {})}
    try:
        hints = typing.get_type_hints(hint) if required else {}
    except (NameError, TypeError):
        hints = {}
    texts = [f"{name}{'' if is_required else '?'}: "
             f"{_of_hint(hints.get(name))[0].get('type', 'any')}"
             for name, is_required in required.items()]
    return f"{{{', '.join(texts)}}}" if texts else ""


# ---- documentation ------------------------------------------------------------------------------


def _documentation(function: Any) -> Tuple[str, Dict[str, str]]:
    """The first paragraph of the docstring, and what it says of the parameters.

    Understands `:param name: text` and the section `Args:` with lines `name: text`.
    """
    text = inspect.getdoc(function) or ""
    first = re.split(r"\n\s*\n|\n(?=:param|Args:|Arguments:)", text)[0]
    about = dict(re.findall(r"^:param (?:[^:\n]* )?(\w+):[ \t]*(.+)$", text, re.M))
    section = re.search(r"^(?:Args|Arguments|Parameters):[ \t]*\n((?:[ \t]+.*\n?|\n)*)", text, re.M)
    if section:
        about.update(re.findall(r"^[ \t]+\*{0,2}(\w+)(?: ?\([^)\n]*\))?:[ \t]*(.+)$",
                                section.group(1), re.M))
    return " ".join(first.split()), about


# ---- tools --------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Parameter:
    name: str
    make: Make
    is_positional: bool
    needs_none: bool  # None is passed when the code gives no value


class Tool:
    """A function that code can call, with its declaration."""

    def __init__(self, function: Callable[..., Any], name: Optional[str] = None,
                 description: Optional[str] = None, timeout: Optional[float] = None,
                 approve: bool = False) -> None:
        text, about = _documentation(function)
        self.function = function
        self.name: str = name or str(getattr(function, "__name__", type(function).__name__))
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None))
        self._parameters: List[_Parameter] = []
        hints = hints_of(function)
        declared = [self._declare(parameter, hints.get(parameter.name), about)
                    for parameter in inspect.signature(function).parameters.values()]
        returns = returns_of(hints.get("return"))
        self.declaration: Dict[str, Any] = {
            "name": self.name,
            "description": encode_text(description if description is not None else text),
            "parameters": declared,
        }
        if returns is not None:
            self.declaration["returns"] = returns
        if timeout is not None:
            self.declaration["timeout_ms"] = milliseconds(timeout, "timeout")
        if approve:
            self.declaration["approve"] = True

    def _declare(self, parameter: inspect.Parameter, hint: Any,
                 about: Dict[str, str]) -> Dict[str, Any]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"tool {self.name!r}: *{parameter.name} cannot be declared")
        declared, make, is_optional = _of_hint(hint)
        has_default = parameter.default is not parameter.empty
        declared = {"name": parameter.name, **declared}
        declared["required"] = not (has_default or is_optional)
        texts = [declared.get("description", about.get(parameter.name, "")), _members(hint)]
        declared["description"] = encode_text(" ".join(filter(None, texts)))
        if has_default and parameter.default is not None:
            try:
                declared["default"] = encode(parameter.default)
            except (TypeError, ValueError):
                pass  # the function itself has the default
        self._parameters.append(_Parameter(
            parameter.name, make, parameter.kind is parameter.POSITIONAL_ONLY,
            is_optional and not has_default))
        return declared

    def call(self, args: Dict[str, Any]) -> Any:
        """Call the function with arguments from the server; gives what the function returns."""
        positional: List[Any] = []
        named: Dict[str, Any] = {}
        for parameter in self._parameters:
            if parameter.name in args:
                value = parameter.make(decode(args[parameter.name]))
            elif parameter.needs_none:
                value = None
            else:
                continue  # its default
            if parameter.is_positional:
                positional.append(value)
            else:
                named[parameter.name] = value
        return self.function(*positional, **named)


def hints_of(function: Callable[..., Any]) -> Dict[str, Any]:
    """The type hints of a function: of its parameters, and of what it returns."""
    target: Any = function
    if not inspect.isroutine(function):
        target = getattr(function, "__call__", function)
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError):  # a hint names what cannot be found: any value is accepted
        return {}


def milliseconds(seconds: float, name: str) -> int:
    """Seconds as whole milliseconds, at least 1 for a positive time."""
    if seconds < 0 or not math.isfinite(seconds):
        raise ValueError(f"{name} is {seconds}, and must be a number of seconds from 0")
    return math.ceil(seconds * 1000)


def encode_text(text: str) -> str:
    """Text that a message can have: NUL and lone surrogates are replaced."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def error_text(error: BaseException) -> str:
    """The message of an exception of a tool, for the code."""
    text = str(error)
    if not isinstance(error, ToolError) or not text:
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return encode_text(text)


@overload
def tool(function: Function) -> Function: ...
@overload
def tool(*, name: Optional[str] = None, description: Optional[str] = None,
         timeout: Optional[float] = None,
         approve: bool = False) -> Callable[[Function], Function]: ...
def tool(function: Any = None, *, name: Optional[str] = None, description: Optional[str] = None,
         timeout: Optional[float] = None, approve: bool = False) -> Any:
    """Mark a function as a tool; it can still be called as before.

    Any function can be given as a tool. The decorator is needed only to set its name, its
    description, the timeout of a call, in seconds, or that each call needs an approval.
    """
    def mark(marked: Function) -> Function:
        setattr(marked, _OPTIONS, {"name": name, "description": description, "timeout": timeout,
                                   "approve": approve})
        return marked

    return mark if function is None else mark(function)


def make_tools(functions: Iterable[Union[Tool, Callable[..., Any]]],
               allow_async: bool) -> Dict[str, Tool]:
    """Tools of functions, by name."""
    tools: Dict[str, Tool] = {}
    for function in functions:
        made = function if isinstance(function, Tool) else Tool(
            function, **getattr(function, _OPTIONS, {}))
        if made.is_async and not allow_async:
            raise TypeError(f"tool {made.name!r} is a coroutine function: it needs AsyncSession")
        if made.name in tools:
            raise ValueError(f"two tools have the name {made.name!r}")
        tools[made.name] = made
    return tools
