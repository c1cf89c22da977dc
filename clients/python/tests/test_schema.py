# SPDX-License-Identifier: MIT
"""JSON Schemas as parameters of tools, and what models are told of results."""

import unittest
from typing import Any, Dict, List, Tuple

import lazaret
from lazaret import _adapters
from lazaret._returns import returns_of_schema, type_text
from lazaret._schema import SchemaTool, parameters_of, signature_of


def one(schema: Dict[str, Any], required: bool = True, **root: Any) -> Dict[str, Any]:
    """The only property of an object, as a parameter."""
    found, = parameters_of({"type": "object", "properties": {"p": schema},
                            "required": ["p"] if required else [], **root})
    assert found.pop("name") == "p"
    return {key: value for key, value in found.items() if value != ""}


class Schemas(unittest.TestCase):
    def test_properties_are_read_one_level_deep(self) -> None:
        rows: List[Tuple[Dict[str, Any], Dict[str, Any]]] = [
            ({"type": "string"}, {"type": "string", "required": True}),
            ({"type": "string", "format": "path"},
             {"type": "string", "format": "path", "required": True}),
            ({"type": "string", "format": "date"}, {"type": "string", "required": True}),
            ({"type": ["integer", "null"]}, {"type": "integer", "required": False}),
            ({"type": ["integer", "string"]}, {"required": True}),
            ({"type": "image"}, {"required": True}),
            ({}, {"required": True}),
            ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"], "required": True}),
            ({"enum": [1, "b"]}, {"enum": [1, "b"], "required": True}),
            ({"enum": ["a", None]}, {"type": "string", "enum": ["a"], "required": False}),
            ({"const": 3}, {"type": "integer", "enum": [3], "required": True}),
            ({"anyOf": [{"type": "number"}, {"type": "null"}]},
             {"type": "number", "required": False}),
            ({"anyOf": [{"type": "number"}, {"type": "string"}]}, {"required": True}),
            ({"type": "array", "items": {"properties": {"a": {"type": "string"}}}},
             {"type": "array", "required": True, "description": "[{a?: string}, ...]"}),
            ({"type": "object", "properties": {"a": {"type": "string"}, "b": {}},
              "required": ["a"], "description": "some"},
             {"type": "object", "required": True, "description": "some {a: string, b?: any}"}),
        ]
        for schema, wanted in rows:
            with self.subTest(schema=schema):
                self.assertEqual(one(schema), wanted)

    def test_defaults_are_declared_where_the_server_accepts_them(self) -> None:
        rows: List[Tuple[Dict[str, Any], Any]] = [
                ({"type": "integer", "default": 3}, 3), ({"type": "integer", "default": "3"}, None),
                ({"type": "number", "default": True}, None), ({"default": None}, None),
                ({"enum": ["a"], "default": "b"}, None), ({"type": "string", "default": "x"}, "x")]
        for schema, default in rows:
            with self.subTest(schema=schema):
                self.assertEqual(one(schema, required=False).get("default"), default)

    def test_definitions_are_followed_and_circles_end(self) -> None:
        definitions = {"A": {"type": "string", "description": "of A"}, "B": {"$ref": "#/defs/B"},
                       "C/D": {"type": "boolean"}}
        for reference, kind in (("#/defs/A", "string"), ("#/defs/B", None), ("#/defs/C~1D",
                                "boolean"), ("#/nothing", None), ("http://x/y", None)):
            with self.subTest(reference):
                found = one({"$ref": reference}, defs=definitions)
                self.assertEqual(found.get("type"), kind)

    def test_hostile_schemas_are_bounded(self) -> None:
        many = {f"m{i}": {"type": "string"} for i in range(1000)}
        found = one({"type": "object", "properties": many})
        self.assertLess(len(found["description"]), 1000)
        self.assertTrue(found["description"].endswith("...}"))
        for wrong in (3, {"anyOf": [1, 2]}):
            self.assertEqual(parameters_of({"properties": {"p": wrong}})[0]["name"], "p")

    def test_what_may_be_null_can_be_left_out(self) -> None:
        tool = SchemaTool(lambda args: args, "t", "", {
            "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}},
            "required": ["a"]})
        self.assertEqual(tool.call({}), {"a": None})
        self.assertEqual(tool.call({"a": "x", "b": {"$bytes": "YQ=="}}), {"a": "x", "b": b"a"})

    def test_signatures_for_models(self) -> None:
        tool = SchemaTool(lambda args: None, "find", "Finds things.", {
            "properties": {"what": {"enum": ["a", "b"], "description": "kind of thing"},
                           "limit": {"type": "integer", "default": 3}, "more": {}},
            "required": ["what", "more"]})
        self.assertEqual(signature_of(tool.declaration),
                         "find(what: str in 'a' | 'b', limit: int = 3, more: any): "
                         "Finds things.\n    what: kind of thing")

    def test_what_a_tool_of_a_framework_returns_is_declared(self) -> None:
        def declared(returns: Any) -> Any:
            return SchemaTool(lambda args: None, "t", "", {}, returns=returns).declaration

        tool = declared({"type": "array", "items": {"type": "string"}})
        self.assertEqual(signature_of(tool), "t() -> [str]")
        unread: List[Any] = [None, {}, {"title": "x"}, 5, {"type": "text"}, {"type": [5]}]
        for nothing in unread:
            self.assertNotIn("returns", declared(nothing))
        self.assertEqual(
            declared({"$schema": "x", "vendor": 1, "type": "object", "properties": {
                "a": {"type": "integer", "minimum": 0}, "b": 5}, "required": ["a"],
                "enum": [{"x": 1}], "items": [1], "$ref": 5})["returns"],
            {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}},
             "required": ["a"], "items": {}})
        deep: Any = {"type": "string"}
        for _ in range(1000):
            deep = {"type": "array", "items": deep}
        self.assertLess(len(str(declared(deep)["returns"])), 500)

    def test_types_for_models(self) -> None:
        person = {"type": "object", "properties": {"name": {"type": "string"}, "age": {}},
                  "required": ["name"]}
        rows: List[Tuple[Any, str]] = [
            ({"type": "number"}, "float"),
            ({"type": ["integer", "null"]}, "int | null"),
            ({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]},
             "str | null"),
            ({"enum": ["a", 1, None]}, '"a" | 1 | null'),
            (person, "{name: str, age?: any}"),
            ({"type": "array", "items": {"$ref": "#/$defs/P"}, "$defs": {"P": person}},
             "[{name: str, age?: any}]"),
            ({"allOf": [{"$ref": "#/definitions/P"}], "definitions": {"P": {"type": "null"}}},
             "null"),
            ({"$ref": "#/$defs/T", "$defs": {"T": {"type": "array",
                                                   "items": {"$ref": "#/$defs/T"}}}}, "[[...]]"),
            ({"type": "object", "properties": {str(i): {} for i in range(99)}},
             "{" + ", ".join(f"{i}?: any" for i in range(12)) + ", ...}"),
            ({"$ref": "#/$defs/nothing"}, "any"),
        ]
        for schema, text in rows:
            with self.subTest(text):
                cleaned = returns_of_schema(schema)
                self.assertEqual(type_text(cleaned, cleaned), text)


def result(verdict: str = "ok", **members: Any) -> lazaret.Result:
    return lazaret.Result(verdict, **members)


class Reports(unittest.TestCase):
    def test_output_value_files_and_lost_state(self) -> None:
        artifact = lazaret.Artifact("plot.png", "image/png", 8, "", b"\x89PNG\r\n\x1a\n")
        text = _adapters.report(result(value=5, text="5", replaced="crashed", artifacts=[artifact],
                                       output=[lazaret.Output("stdout", "hello\n")]))
        self.assertEqual(text.splitlines()[1:],
                         ["hello", "5", "Files: plot.png (image/png, 8 bytes)"])
        self.assertIn("crashed", text.splitlines()[0])
        self.assertEqual(_adapters.report(result()), "(no output and no value)")
        self.assertEqual(_adapters.report(result(value=3, evidence={"exit_status": 3})),
                         "exit status 3")
        self.assertEqual(_adapters.report(result(value=0, evidence={"exit_status": 0})),
                         "(no output and no value)")
        declared = [{"name": "f", "parameters": []}]
        told = _adapters.code_description("javascript", declared)
        self.assertIn("Run JavaScript or TypeScript code ", told)
        self.assertIn("Each gives a promise", told)
        self.assertNotIn("promise", _adapters.code_description("lua", declared))
        told = _adapters.code_description("shell")
        self.assertIn("Run bash code", told)
        self.assertIn("its output and its exit status. The directory,", told)
        lost = lazaret.LostArtifact("b.png", 8, "it was too late")
        self.assertEqual(_adapters.report(result(artifacts_lost=[lost])),
                         "The file b.png is lost: it was too late")

    def test_error_has_place_and_traceback(self) -> None:
        failed = result("error", error={"message": "no", "line": 2, "traceback": ["a", "b"]})
        self.assertEqual(_adapters.report(failed), "error: no (line 2)\na\nb")
        self.assertEqual(_adapters.report(result("timeout", detail="late")), "timeout: late")

    def test_long_output_has_its_beginning_and_its_end(self) -> None:
        text = _adapters.report(result(truncated=True, output=[
            lazaret.Output("stdout", "begin" + "x" * 10**6 + "end")]))
        self.assertLess(len(text), _adapters.OUTPUT_CHARACTERS + 200)
        self.assertTrue(text.startswith("begin"))
        self.assertIn("end\n[the output is incomplete", text)
        self.assertIn("characters left out", text)

    def test_many_files_are_counted(self) -> None:
        files = [lazaret.Artifact(f"f{i}", "text/plain", 1, "") for i in range(50)]
        self.assertIn(", and 30 more", _adapters.report(result(artifacts=files)))


if __name__ == "__main__":
    unittest.main()
