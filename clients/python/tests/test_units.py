# SPDX-License-Identifier: MIT
"""Declarations of tools, values and verdicts; the program is not needed."""

import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import pickle
import sys
import types
import unittest
import uuid
from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, TypedDict
from unittest import mock

import lazaret
from lazaret._process import toml
from lazaret._results import error_of
from lazaret._values import decode, encode


@dataclasses.dataclass
class Point:
    x: int
    y: float = float("nan")


@dataclasses.dataclass
class Line:
    ends: List[Point]
    next: Optional["Line"] = None


class About(TypedDict):
    title: str
    pages: int


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Declarations(unittest.TestCase):
    def test_types_defaults_and_documentation(self) -> None:
        def search(text: str, limit: int = 5, *, exact: Optional[bool] = None,
                   order: Literal["up", "down"] = "up", rest: Optional[List[str]],
                   about: Annotated[float, "a weight"] = 0.5, any_value: Any = None) -> None:
            """Search for a text
            in all records.

            Args:
                text: what to look for
                limit (int): at most so many
            """

        declared = lazaret.Tool(search).declaration
        self.assertEqual(declared["description"], "Search for a text in all records.")
        self.assertEqual(declared["parameters"], [
            {"name": "text", "type": "string", "required": True,
             "description": "what to look for"},
            {"name": "limit", "type": "integer", "required": False,
             "description": "at most so many", "default": 5},
            {"name": "exact", "type": "boolean", "required": False, "description": ""},
            {"name": "order", "type": "string", "enum": ["up", "down"], "required": False,
             "description": "", "default": "up"},
            {"name": "rest", "type": "array", "required": False, "description": ""},
            {"name": "about", "type": "number", "description": "a weight", "required": False,
             "default": 0.5},
            {"name": "any_value", "required": False, "description": ""},
        ])

    def test_decorator_bare_and_with_options(self) -> None:
        @lazaret.tool
        def plain(value: dict) -> dict:  # type: ignore[type-arg]
            """:param value: it"""
            return value

        @lazaret.tool(name="other.name", description="text", timeout=0.0015)
        def named() -> int:
            return 1

        from lazaret._tools import make_tools
        tools = make_tools([plain, named], allow_async=False)
        self.assertEqual(list(tools), ["plain", "other.name"])
        self.assertEqual(tools["other.name"].declaration["timeout_ms"], 2)
        self.assertEqual(tools["other.name"].declaration["description"], "text")
        self.assertEqual(tools["plain"].declaration["parameters"][0]["type"], "object")
        self.assertEqual((plain({}), named()), ({}, 1))

    def test_arguments_are_made_of_their_types(self) -> None:
        def use(point: Point, color: Color, when: datetime.date, /, share: float,
                maybe: Optional[int], names: tuple) -> List[Any]:  # type: ignore[type-arg]
            return [point, color, when, share, maybe, names]

        self.assertEqual(lazaret.Tool(use).declaration["parameters"][0]["description"],
                         "{x: integer, y?: number}")
        got = lazaret.Tool(use).call({"point": {"x": 1, "y": 2}, "color": "red", "share": 1,
                                      "when": {"$date": "2024-01-31"}, "names": ["a"]})
        self.assertEqual(got, [Point(1, 2), Color.RED, datetime.date(2024, 1, 31), 1.0, None,
                               ("a",)])
        self.assertIsInstance(got[3], float)

    def test_arguments_inside_others_are_made_of_their_types(self) -> None:
        def use(line: Line, points: List[Point], colors: Dict[str, Color], rest: Any,
                about: Optional[About] = None, pairs: Tuple[int, ...] = ()) -> List[Any]:
            return [line, points, colors, rest, about, pairs]

        point = {"x": 1, "y": 2}
        made = Point(1, 2)
        tool = lazaret.Tool(use)
        got = tool.call({"line": {"ends": [point, point], "next": {"ends": []}},
                         "points": [point], "colors": {"a": "red"}, "rest": [point],
                         "about": {"title": "t"}, "pairs": [1, 2]})
        self.assertEqual(got, [Line([made, made], Line([])), [made], {"a": Color.RED}, [point],
                               {"title": "t"}, (1, 2)])
        described = [one["description"] for one in tool.declaration["parameters"]]
        self.assertEqual(described, ["{ends: array, next?: object}", "", "", "",
                                     "{title: string, pages: integer}", ""])
        with self.assertRaisesRegex(TypeError, "Point is made of an object"):
            tool.call({"line": {"ends": [5]}, "points": [], "colors": {}, "rest": 1})

    def test_what_is_returned(self) -> None:
        def tool_of(hint: Any) -> Any:
            def function() -> None: ...

            function.__annotations__["return"] = hint
            return lazaret.Tool(function).declaration.get("returns")

        point = {"type": "object", "required": ["x", "y"],
                 "properties": {"x": {"type": "integer"}, "y": {"type": "number"}}}
        line = {"type": "object", "required": ["ends", "next"], "properties": {
            "ends": {"type": "array", "items": {"$ref": "#/$defs/Point1"}},
            "next": {"anyOf": [{"$ref": "#/$defs/Line"}, {"type": "null"}]}}}
        for hint, wanted in [
                (int, {"type": "integer"}), (None, {"type": "null"}), (Any, None), (object, None),
                (decimal.Decimal, {"type": "string"}), (List[str], {
                    "type": "array", "items": {"type": "string"}}),
                (Dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
                (Optional[bool], {"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
                (Literal["a", 1], {"enum": ["a", 1]}), (Literal["a\0"], None),
                (Color, {"enum": ["red", "blue"]}), ("Nowhere", None),
                (Point, {"$ref": "#/$defs/Point", "$defs": {"Point": point}}),
                (Line, {"$ref": "#/$defs/Line", "$defs": {"Line": line, "Point1": point}})]:
            with self.subTest(hint=hint):
                self.assertEqual(tool_of(hint), wanted)

    def test_methods_can_be_tools(self) -> None:
        class Shop:
            @lazaret.tool(name="price")
            def of(self, item: str) -> str:
                return item

        from lazaret._tools import make_tools
        tools = make_tools([Shop().of], allow_async=False)
        self.assertEqual([p["name"] for p in tools["price"].declaration["parameters"]], ["item"])
        self.assertEqual(tools["price"].call({"item": "tea"}), "tea")

    def test_refused(self) -> None:
        from lazaret._tools import make_tools
        with self.assertRaisesRegex(TypeError, "cannot be declared"):
            lazaret.Tool(lambda *values: None)
        with self.assertRaisesRegex(ValueError, "two tools"):
            make_tools([lazaret.Tool(len, "a"), lazaret.Tool(len, "a")], allow_async=False)


class Values(unittest.TestCase):
    def test_there_and_back(self) -> None:
        utc = datetime.timezone.utc
        for value in [None, True, 2, 2.5, "ä", [1, [2]], {"a": {"b": 1}}, 2**53 + 1, -(2**60),
                      float("inf"), b"\0\xff", datetime.date(2024, 1, 31), 1 - 2j,
                      datetime.datetime(2024, 1, 31, 12, 0, 0, 250000, utc),
                      datetime.datetime(2024, 1, 31), {1: "a", (2, 3): b"b"}, {"$int": "5"}]:
            with self.subTest(value=value):
                again = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
                self.assertEqual((again, type(again)), (value, type(value)))

    def test_decoded(self) -> None:
        frame = {"names": ["x", "y"], "columns": [[1, 2], ["a", {"$na": "character"}]], "rows": 2}
        factor = {"levels": ["a"], "values": ["a", None], "ordered": False}
        without_pandas = mock.patch.dict(sys.modules, {"pandas": None})
        without_pandas.start()
        self.addCleanup(without_pandas.stop)
        for value, wanted in [
                ({"$time": "2024-01-31T12:00:00.123456789Z"},
                 datetime.datetime(2024, 1, 31, 12, 0, 0, 123456, datetime.timezone.utc)),
                ({"$frame": frame}, {"x": [1, 2], "y": ["a", None]}),
                ({"$factor": factor}, ["a", None]),
                ({"$complex": [{"$num": "Inf"}, 0]}, complex("inf"))]:
            with self.subTest(value=value):
                self.assertEqual(decode(value), wanted)

    def test_what_has_no_form_stays(self) -> None:
        for value in [{"$repr": "<f>"}, {"$date": "2024-02-31"}, {"$int": "x"}, {"$new": 1},
                      {"$map": [[{"a": 1}, 2]]}, {"$bytes": "*"}, {"$num": "4"},
                      {"$int": "1_0"}, {"$int": "9" * 5000}, {"$factor": {"values": 5}},
                      {"$frame": {"names": ["x"], "columns": [5], "rows": 10**12}}]:
            self.assertEqual(decode(value), value)

    def test_keys_chosen_to_have_one_hash_are_not_put_in_a_dict(self) -> None:
        step = sys.hash_info.modulus
        numbers: List[Any] = [{"$int": str(i * step)} for i in range(1, 200)]
        for keys in (numbers, [[number, 0] for number in numbers]):
            tagged = {"$map": [[key, 0] for key in keys]}
            self.assertEqual(decode(tagged), tagged)
        self.assertEqual(len(decode({"$map": [[i, 0] for i in range(200)]})), 200)

    def test_encoded(self) -> None:
        class Model:
            def model_dump(self) -> Dict[str, Any]:
                return {"day": datetime.date(2024, 1, 31)}

        for value, wanted in [
                (Point(1), {"x": 1, "y": {"$num": "NaN"}}), (Color.RED, "red"),
                (Model(), {"day": {"$date": "2024-01-31"}}), ("a\0", {"$bytes": "YQA="}),
                ("\udcff", {"$bytes": "/w=="}), (range(2), [0, 1]), (bytearray(b"hi"),
                                                                      {"$bytes": "aGk="})]:
            with self.subTest(value=value):
                self.assertEqual(encode(value), wanted)

    def test_sent_as_text(self) -> None:
        for value, wanted in [
                (decimal.Decimal("1.50"), "1.50"), (uuid.UUID(int=5), str(uuid.UUID(int=5))),
                (pathlib.PurePosixPath("a/b"), "a/b"), (datetime.time(1, 2, 3), "01:02:03"),
                (datetime.timedelta(), "PT0S"), (datetime.timedelta(1), "P1D"),
                (datetime.timedelta(1, 3, 500000), "P1DT3.5S"), (datetime.timedelta(-1), "-P1D"),
                (datetime.timedelta(-1, 0, 500000), "-PT86399.5S")]:
            with self.subTest(value=value):
                self.assertEqual(encode([value]), [wanted])

    def test_what_cannot_be_sent(self) -> None:
        loop: List[Any] = []
        loop.append(loop)
        self.assertRaises(ValueError, encode, loop)
        self.assertRaisesRegex(TypeError, "type object", encode, object())
        self.assertRaises(TypeError, encode, Point)

    def test_frames_of_a_stand_in_for_pandas(self) -> None:
        class Column(list):  # type: ignore[type-arg]
            def tolist(self) -> List[Any]:
                return list(self)

        class DataFrame:
            def __init__(self, data: Dict[str, List[Any]], index: Any = None) -> None:
                self.data, self.columns = data, list(data)
                self.iloc = self

            def __getitem__(self, where: Any) -> Column:
                return Column(self.data[self.columns[where[1]]])

            def __len__(self) -> int:
                return 2

        DataFrame.__module__ = "pandas.core.frame"
        tagged = {"$frame": {"names": ["x", "y"], "columns": [[1, 2], ["a", "b"]], "rows": 2}}
        self.assertEqual(encode(DataFrame({"x": [1, 2], "y": ["a", "b"]})), tagged)
        pandas = types.ModuleType("pandas")
        setattr(pandas, "DataFrame", DataFrame)
        with mock.patch.dict(sys.modules, {"pandas": pandas}):
            self.assertEqual(decode(tagged).data, {"x": [1, 2], "y": ["a", "b"]})


class Verdicts(unittest.TestCase):
    def test_each_has_its_exception(self) -> None:
        for verdict, kind in {
                "error": lazaret.ExecutionError, "syntax_error": lazaret.SyntaxFailed,
                "timeout": lazaret.Timeout, "deadline": lazaret.Timeout,
                "cpu_limit": lazaret.LimitExceeded, "memory_limit": lazaret.LimitExceeded,
                "fsize_limit": lazaret.LimitExceeded, "tool_limit": lazaret.LimitExceeded,
                "output_limit": lazaret.LimitExceeded, "blocked": lazaret.Blocked,
                "cancelled": lazaret.Cancelled, "protocol_error": lazaret.WorkerLost,
                "crashed": lazaret.WorkerLost, "setup_failed": lazaret.SetupFailed}.items():
            raw = {"verdict": {"reason": verdict, "detail": "why"}}
            error = error_of(lazaret.Result.from_json(raw))
            self.assertIs(type(error), kind)
            self.assertEqual(str(error), "why")
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual(again.result, error.result)

    def test_settings_as_toml(self) -> None:
        for value, text in [(True, "true"), (5, "5"), (0.5, "0.5"), ("5s", '"5s"'),
                            (["a", 1], '["a", 1]'), ({"A b": "c"}, '{"A b" = "c"}')]:
            self.assertEqual(toml(value), text)


if __name__ == "__main__":
    unittest.main()
