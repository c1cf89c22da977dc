# SPDX-License-Identifier: MIT
"""Python values as JSON, and back.

What JSON cannot express has a tagged form: an object with a single key that begins with `$`.
pandas, numpy and pydantic are never imported here. A value of one of them is recognised by its
class, and its own methods convert it.
"""

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import math
import pathlib
import re
import sys
import uuid
from typing import Any, Callable, Dict, List, Optional

MAX_DEPTH = 60  # the server accepts 64 levels, of which a message needs some
_MAX_PLAIN_INT = 2**53
_MAX_DIGITS = 4300  # of an integer; Python's own bound, which older versions lack
_MAX_EQUAL_HASHES = 100  # keys of a dict; more would make it slow, and hostile code chooses them
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:([Zz])|([+-]\d\d:\d\d))?\Z"
)
_NOT_NUMBERS = {"NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}


# ---- JSON to Python -----------------------------------------------------------------------------


def _decode_time(text: str) -> datetime.datetime:
    match = _TIME.match(text)
    if not match:
        raise ValueError(text)
    date, time, fraction, utc, offset = match.groups()
    micro = ((fraction or "") + "000000")[:6]
    return datetime.datetime.fromisoformat(
        f"{date}T{time}.{micro}{'+00:00' if utc else offset or ''}"
    )


def _key(value: Any) -> Any:
    """A decoded value as the key of a dict: a list becomes a tuple."""
    return tuple(_key(item) for item in value) if isinstance(value, list) else value


def _decode_int(text: str) -> int:
    if len(text) > _MAX_DIGITS or not re.match(r"-?[0-9]+\Z", text):
        raise ValueError("no integer of a bearable length")
    return int(text)


def _decode_map(pairs: List[Any]) -> Dict[Any, Any]:
    decoded = [(_key(decode(key)), decode(value)) for key, value in pairs]
    hashes = collections.Counter(hash(key) for key, _ in decoded)
    if max(hashes.values(), default=0) > _MAX_EQUAL_HASHES:
        raise ValueError("too many keys with the same hash")
    return dict(decoded)


def _pandas() -> Any:
    """The module pandas, if the program has imported it."""
    pandas = sys.modules.get("pandas")
    return pandas if hasattr(pandas, "DataFrame") else None


def _decode_factor(content: Dict[str, Any]) -> List[Any]:
    values = decode(content["values"])
    if not isinstance(values, list):
        raise ValueError("values that are not list")
    return values


def _decode_column(column: Any, rows: int) -> Any:
    """A column as a list, or a factor as a Categorical of pandas."""
    values = decode(column)
    # pandas would repeat a scalar as often as `rows` says, which the code has chosen.
    if not isinstance(values, list) or len(values) != rows:
        raise ValueError("a column of another length")
    pandas = _pandas()
    if pandas is not None and isinstance(column, dict) and hasattr(pandas, "Categorical"):
        factor = column["$factor"]
        return pandas.Categorical(values, categories=decode(factor["levels"]),
                                  ordered=bool(factor.get("ordered")))
    return values


def _decode_frame(content: Dict[str, Any]) -> Any:
    """A DataFrame if the program uses pandas, otherwise a dict of columns."""
    names, columns, rows = content["names"], content["columns"], content["rows"]
    if len(set(names)) != len(names) or len(columns) != len(names):
        raise ValueError("columns without distinct names")
    if type(rows) is not int or rows < 0:
        raise ValueError("no number of rows")
    frame = {name: _decode_column(column, rows) for name, column in zip(names, columns)}
    pandas = _pandas()
    return frame if pandas is None else pandas.DataFrame(frame, index=range(rows))


_DECODERS: Dict[str, Callable[[Any], Any]] = {
    "$num": lambda content: _NOT_NUMBERS[content],
    "$int": _decode_int,
    "$bytes": lambda content: base64.b64decode(content, validate=True),
    "$date": datetime.date.fromisoformat,
    "$time": _decode_time,
    "$na": lambda content: None,
    "$complex": lambda content: complex(*map(decode, content)),
    "$factor": _decode_factor,
    "$frame": _decode_frame,
    "$map": _decode_map,
}


def decode(value: Any) -> Any:
    """A value from the server as a Python value. What has no Python form stays as it is."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (tag, content), = value.items()
        decoder = _DECODERS.get(tag)
        if decoder:
            try:
                return decoder(content)
            except (ValueError, TypeError, KeyError, ArithmeticError):
                return value
    return {key: decode(item) for key, item in value.items()}


# ---- Python to JSON -----------------------------------------------------------------------------


def _bytes(value: bytes) -> Dict[str, str]:
    return {"$bytes": base64.b64encode(value).decode("ascii")}


def _is_plain(text: str) -> bool:
    """Can JSON have this text? Neither NUL nor lone surrogates are allowed."""
    if "\0" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _encode_text(text: str) -> Any:
    if _is_plain(text):
        return str(text)
    try:
        return _bytes(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return _bytes(text.encode("utf-8", "surrogatepass"))


def _encode_float(value: float) -> Any:
    if math.isfinite(value):
        return float(value)
    return {"$num": "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"}


def _encode_time(value: datetime.datetime) -> Dict[str, str]:
    offset = value.utcoffset()
    if offset is not None and offset.total_seconds() % 60:
        value = value.astimezone(datetime.timezone.utc)
    return {"$time": value.isoformat()}


def _duration(value: datetime.timedelta) -> str:
    """As ISO 8601 writes it, in days and seconds: -P1DT3.5S."""
    left = abs(value)
    micro = f".{left.microseconds:06}".rstrip("0") if left.microseconds else ""
    days = f"{left.days}D" if left.days else ""
    seconds = f"T{left.seconds}{micro}S" if left.seconds or micro or not days else ""
    return f"{'-' if value.days < 0 else ''}P{days}{seconds}"


def _encode_dict(value: Dict[Any, Any], depth: int) -> Dict[str, Any]:
    is_plain = all(isinstance(key, str) and _is_plain(key) for key in value)
    if is_plain and not (len(value) == 1 and next(iter(value)).startswith("$")):
        return {str(key): _encode(item, depth) for key, item in value.items()}
    return {"$map": [[_encode(key, depth + 2), _encode(item, depth + 2)]
                     for key, item in value.items()]}


def _is_missing(value: Any) -> bool:
    """Is it what pandas has in place of a value, in a column that is not one of numbers?"""
    return isinstance(value, float) and value != value


def _encode_column(column: Any, depth: int) -> Any:
    """A Series, or an Index: an array, or a factor."""
    values = column.tolist()
    dtype = getattr(column, "dtype", None)
    kind = type(dtype).__name__
    if kind == "CategoricalDtype" or getattr(dtype, "kind", "") == "O":
        values = [None if _is_missing(value) else value for value in values]
    if kind == "CategoricalDtype":
        levels = column.dtype.categories.tolist()
        if all(isinstance(level, str) and _is_plain(level) for level in levels):
            return {"$factor": {"levels": levels, "values": values,
                                "ordered": bool(column.dtype.ordered)}}
    return _encode(values, depth)


def _encode_frame(frame: Any, depth: int) -> Dict[str, Any]:
    names = [str(name) for name in frame.columns]
    columns = []
    for i, name in enumerate(names):
        try:
            columns.append(_encode_column(frame.iloc[:, i], depth + 2))
        except (TypeError, ValueError) as error:
            raise type(error)(f"column {name!r}: {error}") from error
    return {"$frame": {"names": [_encode_text(name) for name in names], "columns": columns,
                       "rows": len(frame)}}


def _encode_pandas(value: Any, depth: int) -> Any:
    name = type(value).__name__
    if name in ("NaTType", "NAType"):
        return None
    if name == "Timestamp":
        return _encode_time(value.to_pydatetime(warn=False))
    if name == "Timedelta":
        return _duration(value.to_pytimedelta())
    if hasattr(value, "iloc") and hasattr(value, "columns"):
        return _encode_frame(value, depth)
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # Series, Index
        return _encode_column(value, depth)
    if hasattr(value, "tolist"):
        return _encode(value.tolist(), depth)
    raise TypeError(_no_form(value))


_NUMPY_KINDS = {  # what Python has no type for becomes one that it has
    "M": "datetime64[us]",
    "f": "float64",
    "c": "complex128",
}


def _encode_numpy(value: Any, depth: int) -> Any:
    kind = value.dtype.kind
    if kind in _NUMPY_KINDS and not str(value.dtype).startswith("datetime64[D]"):
        value = value.astype(_NUMPY_KINDS[kind])
    plain = value.tolist()  # of a scalar it is a plain Python value
    if type(plain) is type(value):
        raise TypeError(_no_form(value))
    return _encode(plain, depth)


def _no_form(value: Any) -> str:
    return f"a value of type {type(value).__name__} cannot be sent"


def _encode_object(value: Any, depth: int) -> Any:
    """Values of classes that are not built in."""
    modules = {cls.__module__.partition(".")[0] for cls in type(value).__mro__}
    if "pandas" in modules:
        return _encode_pandas(value, depth)
    if "numpy" in modules and hasattr(value, "tolist") and hasattr(value, "dtype"):
        return _encode_numpy(value, depth)
    if isinstance(value, type):
        raise TypeError(_no_form(value))
    if hasattr(type(value), "model_dump"):  # pydantic
        return _encode(value.model_dump(), depth)
    if hasattr(type(value), "__fields__") and hasattr(type(value), "parse_obj"):  # pydantic 1
        return _encode(value.dict(), depth)
    if dataclasses.is_dataclass(value):
        members = {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
        return _encode(members, depth)
    raise TypeError(_no_form(value))


def _encode_scalar(value: Any) -> Optional[List[Any]]:
    """The JSON of a scalar in a list of one, or None for values of other types."""
    if value is None or isinstance(value, bool):
        return [value]
    if isinstance(value, str):
        return [_encode_text(value)]
    if isinstance(value, int):
        number = int(value)
        return [number if abs(number) <= _MAX_PLAIN_INT else {"$int": str(number)}]
    if isinstance(value, float):
        return [_encode_float(value)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return [_bytes(bytes(value))]
    if isinstance(value, complex):
        return [{"$complex": [_encode_float(value.real), _encode_float(value.imag)]}]
    return None


def _encode(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"a value contains itself, or is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, enum.Enum):
        return _encode(value.value, depth + 1)
    root = type(value).__module__.partition(".")[0]
    if root in ("numpy", "pandas"):  # some of their classes derive from float and datetime
        return _encode_object(value, depth + 1)
    scalar = _encode_scalar(value)
    if scalar is not None:
        return scalar[0]
    if isinstance(value, datetime.datetime):
        return _encode_time(value)
    if isinstance(value, datetime.date):
        return {"$date": value.isoformat()}
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    if isinstance(value, datetime.time):
        return _encode_text(value.isoformat())
    if isinstance(value, (decimal.Decimal, uuid.UUID, pathlib.PurePath)):
        return _encode_text(str(value))
    if isinstance(value, dict):
        return _encode_dict(value, depth + 1)
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return [_encode(item, depth + 1) for item in value]
    return _encode_object(value, depth + 1)


def encode(value: Any) -> Any:
    """A Python value in the form that `json.dumps` can write and the server understands."""
    return _encode(value, 0)
