# SPDX-License-Identifier: MIT
"""Arguments of calls arrive the same from each language, in both forms of a call."""

import json
import unittest
from typing import Any, Callable, Dict, List, Tuple

import lazaret
from lazaret._schema import SchemaTool
from support import LiveTest

Args = Dict[str, Any]

# Name, properties, what is required.
TOOLS: List[Tuple[str, Args, List[str]]] = [
    ("triangle_area", {"base": {"type": "integer"}, "height": {"type": "integer"},
                       "unit": {"type": "string"}}, ["base", "height"]),
    ("weather.forecast", {"city": {"type": "string"}, "days": {"type": "integer"},
                          "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
     ["city", "days"]),
    ("portfolio", {"holdings": {"type": "array", "items": {"type": "object"}},
                   "rate": {"type": "number"}, "hedged": {"type": "boolean"}}, ["holdings"]),
    ("book_room", {"guest": {"type": "object", "properties": {"name": {"type": "string"}}},
                   "nights": {"type": "integer"}, "extras": {"type": "array"}},
     ["guest", "nights"]),
    ("query", {"table": {"type": "string"}, "where": {"type": "object"},
               "limit": {"type": "integer"}}, ["table"]),
    ("matrix", {"rows": {"type": "array", "items": {"type": "array"}},
                "scale": {"type": "number"}}, ["rows"]),
    ("note", {"text": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
              "level": {"type": "integer", "enum": [1, 2, 3]}}, ["text"]),
    ("anything", {"value": {}, "class": {"type": "string"}}, ["value"]),
]

CALLS: List[Tuple[str, Args]] = [
    ("triangle_area", {"base": 10, "height": 5}),
    ("triangle_area", {"base": 10, "height": 5, "unit": "cm"}),
    ("triangle_area", {"base": 0, "height": -7, "unit": ""}),
    ("triangle_area", {"base": 9007199254740991, "height": -9007199254740991}),
    ("weather.forecast", {"city": "São Paulo", "days": 3}),
    ("weather.forecast", {"city": "東京", "days": 1, "unit": "celsius"}),
    ("weather.forecast", {"city": "Boston, MA", "days": 14, "unit": "fahrenheit"}),
    ("weather.forecast", {"city": "\"quoted\" \\ / \n\t\b\f\r", "days": 1}),
    ("portfolio", {"holdings": []}),
    ("portfolio", {"holdings": [{"symbol": "AAPL", "shares": 5, "price": 171.25}]}),
    ("portfolio", {"holdings": [{}], "rate": 0.05, "hedged": True}),
    ("portfolio", {"holdings": [{"a": [{"b": [{"c": []}]}]}], "rate": 5, "hedged": False}),
    ("portfolio", {"holdings": [{"x": None}, {"y": [None, True, False]}], "rate": -0.5}),
    ("portfolio", {"holdings": [{"n": 1}], "rate": 1e21}),
    ("portfolio", {"holdings": [{"n": 1}], "rate": 1.5e-7}),
    ("book_room", {"guest": {"name": "Ada"}, "nights": 2}),
    ("book_room", {"guest": {"name": "Zoë", "age": 36, "address": {"zip": "01234"}}, "nights": 1,
                   "extras": ["breakfast", {"kind": "spa", "hours": 1.5}]}),
    ("book_room", {"guest": {}, "nights": 1, "extras": []}),
    ("book_room", {"guest": {"guest": 1, "nights": 2}, "nights": 3}),
    ("book_room", {"guest": {"toJSON": "a text", "constructor": 1, "length": 2}, "nights": 1}),
    ("query", {"table": "people"}),
    ("query", {"table": "people", "where": {"age": {"$gt": 30}, "name": {"$in": ["a", "b"]}}}),
    ("query", {"table": "people", "where": {}, "limit": 10}),
    ("query", {"table": "t", "where": {"": "empty", "a b": 1, "ключ": "значение", "1": 1}}),
    ("matrix", {"rows": [[1, 2], [3, 4]]}),
    ("matrix", {"rows": [[1.5, 2.25], [-0.125, 3]], "scale": 0.1}),
    ("matrix", {"rows": [[], [[]], [[[]]]], "scale": 2}),
    ("matrix", {"rows": [[0.1, 0.2, 0.30000000000000004, 1e-9, 123456789.123]]}),
    ("matrix", {"rows": [[1, "two", None, {"three": 3}]], "scale": 1e300}),
    ("note", {"text": "👩‍👩‍👧 and 𝄞", "tags": ["ñ", "ß", "\u200b"]}),
    ("note", {"text": "line one\nline two", "tags": [], "level": 1}),
    ("note", {"text": "</script>\u2028\u2029 ${not} `a` template", "level": 3}),
    ("note", {"text": "x" * 5000, "tags": [str(n) for n in range(300)]}),
    ("anything", {"value": 1}),
    ("anything", {"value": -2.5, "class": "number"}),
    ("anything", {"value": "text", "class": "string"}),
    ("anything", {"value": [], "class": "list"}),
    ("anything", {"value": {"value": 1, "other": 2}, "class": "object"}),
    ("anything", {"value": {"value": {"class": "inner"}}, "class": "object"}),
    ("anything", {"value": True}),
    ("anything", {"value": [{"id": 1, "ok": None}, {"id": 2, "ok": {"at": [0.5]}}]}),
]

REFUSED: List[Tuple[str, Args, str]] = [
    ("triangle_area", {"base": "10", "height": 5}, "'base' must be integer, got "),
    ("triangle_area", {"base": 10, "height": 5.5}, "'height' must be integer, got "),
    ("triangle_area", {"height": 5}, "base"),
    ("weather.forecast", {"city": "Rome", "days": 1, "unit": "kelvin"}, "unit"),
    ("weather.forecast", {"city": ["Rome"], "days": 1}, "'city' must be string, got "),
    ("portfolio", {"holdings": {"symbol": "AAPL"}, "rate": 0.5},
     "'holdings' must be array, got "),
    ("portfolio", {"holdings": [], "hedged": "yes"}, "'hedged' must be boolean, got "),
    ("note", {"text": "x", "level": 4}, "level"),
]


def javascript(name: str, args: Args, order: List[str], by_name: bool) -> str:
    """The call in JavaScript."""
    def written(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)
    if by_name:
        return f"await tools[{name!r}]({written(args)})"
    last = max(order.index(key) for key in args)
    given = [written(args[key]) if key in args else "undefined" for key in order[:last + 1]]
    return f"await {name.replace('.', '_')}({', '.join(given)})"


def python(name: str, args: Args, order: List[str], by_name: bool) -> str:
    """The call in Python."""
    if by_name:
        spelled = {"class_" if key == "class" else key: value for key, value in args.items()}
        return f"{name.replace('.', '_')}(**{spelled!r})"
    last = max(order.index(key) for key in args)
    given = [repr(args.get(key)) for key in order[:last + 1]]
    return f"{name.replace('.', '_')}({', '.join(given)})"


def text(value: Any) -> str:
    """Tells an integer from a number, and true from 1."""
    return json.dumps(value, sort_keys=True)


class Calls(LiveTest):
    def check(self, runtime: str, write: Callable[[str, Args, List[str], bool], str]) -> None:
        seen: List[Args] = []

        def take(args: Args) -> str:
            seen.append(args)
            return "taken"

        tools = [SchemaTool(take, name, "", {"type": "object", "properties": properties,
                                             "required": required})
                 for name, properties, required in TOOLS]
        orders = {name: list(properties) for name, properties, _ in TOOLS}
        try:
            session = lazaret.Session(runtime, tools=tools, server=self.server)
        except lazaret.SetupFailed as error:
            self.skipTest(str(error))
        self.addCleanup(session.close)
        for by_name in (False, True):
            for name, args in CALLS:
                code = write(name, args, orders[name], by_name)
                with self.subTest(code=code[:200]):
                    seen.clear()
                    self.assertEqual(session.execute(code).value, "taken")
                    self.assertEqual(text(seen), text([args]))
            for name, args, message in REFUSED:
                code = write(name, args, orders[name], by_name)
                with self.subTest(code=code):
                    seen.clear()
                    with self.assertRaisesRegex(lazaret.ExecutionError, message):
                        session.execute(code)
                    self.assertEqual(seen, [])

    def test_javascript(self) -> None:
        self.check("javascript", javascript)

    def test_python(self) -> None:
        self.check("python", python)


if __name__ == "__main__":
    unittest.main()
