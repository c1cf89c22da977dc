# SPDX-License-Identifier: MIT
"""Data frames of pandas, values of numpy, and models of pydantic, with the modules themselves."""

import datetime
import json
import unittest
from typing import Any, Dict, List, Optional

import lazaret
from lazaret._values import decode, encode
from support import LiveTest, needs


def frame() -> Any:
    """Three rows with a column of each kind."""
    import pandas

    return pandas.DataFrame({
        "n": [1, 2, 3],
        "x": [0.5, float("nan"), -1.25],
        "s": ["a", None, "\u00e4"],
        "f": pandas.Categorical(["u", None, "v"], categories=["v", "u"], ordered=True),
        "b": [True, False, True],
        "m": pandas.array([1, None, 3], dtype="Int64"),
        "t": pandas.to_datetime(["2024-01-31T12:00:00.25Z", "2000-01-01", "1999-12-31"], utc=True),
    })


def there_and_back(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


@needs("pandas", "numpy")
class Frames(LiveTest):
    def same(self, got: Any, wanted: Any) -> None:
        import pandas

        self.assertIsInstance(got, pandas.DataFrame)
        pandas.testing.assert_frame_equal(got, wanted)

    def test_frame_of_a_tool_is_used_in_r_and_comes_back(self) -> None:
        code = ("d <- data(); stopifnot(is.data.frame(d), is.ordered(d$f), is.na(d$s[2]),"
                " is.na(d$m[2]), inherits(d$t, 'POSIXct'), d$n == 1:3)\nd")
        with lazaret.Session("r", tools=[lazaret.Tool(frame, "data")],
                             server=self.server) as session:
            wanted = frame()
            wanted["m"] = wanted["m"].astype("float64")
            self.same(session.execute(code).value, wanted)

    def test_frame_of_r(self) -> None:
        import pandas

        got = lazaret.execute("data.frame(n = c(1.5, NA), s = c('a', NA), f = factor(c('u', NA)),"
                              " d = as.Date(c('2024-01-31', NA)))", "r", server=self.server).value
        self.same(got, pandas.DataFrame({
            "n": [1.5, None], "s": ["a", None], "f": pandas.Categorical(["u", None]),
            "d": [datetime.date(2024, 1, 31), None]}))
        got = lazaret.execute("list(a = data.frame(), b = data.frame(x = 1)[0, , drop = FALSE])",
                              "r", server=self.server).value
        self.assertEqual((got["a"].shape, got["b"].shape), ((0, 0), (0, 1)))

    def test_frame_of_python_in_the_box(self) -> None:
        code = ("try:\n    import pandas\nexcept ImportError:\n    pandas = None\n"
                "pandas and pandas.DataFrame({'x': [1, 2], 'y': ['a', None]})")
        got = lazaret.execute(code, server=self.server).value
        if got is None:
            self.skipTest("the interpreter in the box has no pandas")
        import pandas

        self.same(got, pandas.DataFrame({"x": [1, 2], "y": ["a", None]}))

    def test_frame_of_a_tool_is_columns_in_python(self) -> None:
        with lazaret.Session("python", tools=[lazaret.Tool(frame, "data")],
                             server=self.server) as session:
            got = session.execute("d = data(); [type(d).__name__, list(d), d['n'], d['s']]").value
        self.assertEqual(got, ["dict", ["n", "x", "s", "f", "b", "m", "t"], [1, 2, 3],
                               ["a", None, "\u00e4"]])

    def test_frame_as_argument_of_a_tool(self) -> None:
        import pandas

        got: List[Any] = []

        def take(data: Any) -> int:
            got.append(data)
            return len(data)

        with lazaret.Session("r", tools=[take], server=self.server) as session:
            self.assertEqual(session.execute("take(data.frame(x = 1:2))").value, 2)
        self.same(got[0], pandas.DataFrame({"x": [1, 2]}))

    def test_what_cannot_be_sent_names_the_column(self) -> None:
        import pandas

        with self.assertRaisesRegex(TypeError, "column 'when': .*Period cannot be sent"):
            encode(pandas.DataFrame({"when": [pandas.Period("2024")]}))
        waits = encode(pandas.DataFrame({"wait": pandas.to_timedelta([1], unit="s")}))
        self.assertEqual(waits["$frame"]["columns"], [["PT1S"]])

    def test_frames_with_false_sizes_are_not_made(self) -> None:
        for names, columns, rows in ([["x"], [5], 10**12], [["x"], [[1, 2]], 3],
                                     [["x"], [{"a": 1}], 1], [["x", "x"], [[1], [1]], 1],
                                     [["x"], [[1]], 1.0], [[], [], -1], [["x"], ["abc"], 3]):
            tagged = {"$frame": {"names": names, "columns": columns, "rows": rows}}
            self.assertEqual(decode(tagged), tagged)


@needs("pandas", "numpy")
class Numbers(unittest.TestCase):
    def test_numpy(self) -> None:
        import numpy

        rows: List[Any] = [
            (numpy.int64(3), 3), (numpy.float32(1.5), 1.5), (numpy.bool_(True), True),
            (numpy.str_("a"), "a"), (numpy.complex64(1j), 1j), (numpy.longdouble(1.5), 1.5),
            (numpy.array(5), 5), (numpy.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
            (numpy.array([1.5, numpy.inf]), [1.5, float("inf")]), (numpy.array([]), []),
            (numpy.uint64(2**63), 2**63), (numpy.array([numpy.longdouble(2)]), [2.0]),
            (numpy.datetime64("2024-01-31"), datetime.date(2024, 1, 31)),
            (numpy.array(["2024-01-31", "NaT"], "datetime64[ns]"),
             [datetime.datetime(2024, 1, 31), None]),
            ({"a": [numpy.int8(1)]}, {"a": [1]}), ({numpy.int64(1): 2}, {1: 2})]
        for value, wanted in rows:
            with self.subTest(value=value):
                got = there_and_back(value)
                self.assertEqual((got, type(got)), (wanted, type(wanted)))
        self.assertEqual(encode(numpy.timedelta64(3, "s")), "PT3S")
        self.assertRaises(TypeError, encode, numpy.int64)

    def test_pandas(self) -> None:
        import pandas

        for value, wanted in [(pandas.NaT, None), (pandas.NA, None),
                              (pandas.Series([1, 2]), [1, 2]), (pandas.Index(["a"]), ["a"]),
                              (pandas.Series(["a", float("nan")]), ["a", None]),
                              (pandas.Timestamp("2024-01-31"), datetime.datetime(2024, 1, 31))]:
            self.assertEqual(there_and_back(value), wanted)


@needs("pydantic")
class Models(unittest.TestCase):
    def test_models_of_pydantic(self) -> None:
        import pydantic

        class Item(pydantic.BaseModel):
            name: str
            count: int = 1

        def order(items: List[Item], first: Optional[Item] = None) -> Item:
            """Orders.

            Args:
                first: is delivered first
            """
            return items[-1]

        tool = lazaret.Tool(order)
        self.assertEqual(
            [(one["name"], one["type"], one["required"], one["description"])
             for one in tool.declaration["parameters"]],
            [("items", "array", True, ""),
             ("first", "object", False, "is delivered first {name: string, count?: integer}")])
        given: Dict[str, Any] = {"items": [{"name": "a"}, {"name": "b", "count": 2}]}
        got = tool.call(given)
        self.assertEqual(got, Item(name="b", count=2))
        self.assertEqual(encode(got), {"name": "b", "count": 2})
        with self.assertRaisesRegex(pydantic.ValidationError, "count"):
            tool.call({"items": [{"name": "a", "count": "many"}]})


if __name__ == "__main__":
    unittest.main()
