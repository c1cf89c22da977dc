# SPDX-License-Identifier: MIT
"""A client of `lazaret mcp` over pipes. Every message of either side is checked against the schema of
its version of the protocol, so no test has to."""

import json
import os
import subprocess
import sys
import time

import jsonschema

MODERN = "2026-07-28"
VERSIONS = ("2025-06-18", "2025-11-25", MODERN)
META = "io.modelcontextprotocol/"

# What answers a method, and what a request is called in the schema.
RESULTS = {
    "initialize": ("InitializeRequest", "InitializeResult"),
    "ping": ("PingRequest", "EmptyResult"),
    "server/discover": ("DiscoverRequest", "DiscoverResult"),
    "tools/list": ("ListToolsRequest", "ListToolsResult"),
    "tools/call": ("CallToolRequest", "CallToolResult"),
    "resources/list": ("ListResourcesRequest", "ListResourcesResult"),
    "resources/read": ("ReadResourceRequest", "ReadResourceResult"),
    "resources/templates/list": (
        "ListResourceTemplatesRequest",
        "ListResourceTemplatesResult",
    ),
    "subscriptions/listen": ("SubscriptionsListenRequest", "SubscriptionsListenResult"),
}
NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/cancelled": "CancelledNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}


# Lua that does not end, and costs no CPU time.
SLEEPS = "os.execute('sleep 3600')"


class Schemas:
    """The definitions of one version. They are read once, and validators are made once."""

    read = {}  # path: (schema, key, validators by name)

    def __init__(self, directory, version):
        path = os.path.join(directory, version + ".schema.json")
        if path not in self.read:
            with open(path, encoding="utf-8") as file:
                schema = json.load(file)
            self.read[path] = (schema, "$defs" if "$defs" in schema else "definitions", {})
        self.schema, self.key, self.made = self.read[path]
        self.cls = (
            jsonschema.Draft202012Validator
            if self.key == "$defs"
            else jsonschema.Draft7Validator
        )
        self.every = 1  # of so many messages one is checked
        self.seen = 0

    def has(self, name):
        return name in self.schema[self.key]

    def check(self, name, value):
        self.seen += 1
        if self.seen % self.every:
            return
        if name not in self.made:
            self.made[name] = self.cls(
                {self.key: self.schema[self.key], "$ref": "#/%s/%s" % (self.key, name)}
            )
        problem = next(self.made[name].iter_errors(value), None)
        if problem:
            raise AssertionError(
                "%s: %s in %.600s" % (name, problem.message, json.dumps(value))
            )


checked = {}  # the text of a tool's schema: its validator


def validator(schema):
    """Of a schema of a tool, which has to be one itself."""
    text = json.dumps(schema)
    if text not in checked:
        jsonschema.Draft202012Validator.check_schema(schema)
        checked[text] = jsonschema.Draft202012Validator(schema)
    return checked[text]


class Client:
    """Starts the server. `answers`: what it says to questions, by elicitation/create."""

    def __init__(self, command, directory, version, capabilities=None, start=True,
                 structured=True):
        self.structured = structured  # are results objects as well?
        self.version = version
        self.modern = version == MODERN
        self.capabilities = {} if capabilities is None else capabilities
        self.schemas = Schemas(directory, version)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.reader = os.fdopen(os.dup(self.process.stdout.fileno()), "rb", 1 << 20)
        self.last = 0
        self.waiting = {}  # id: method
        self.answered = {}  # id: message
        self.told = []  # notifications
        self.asked = []  # requests of the server
        self.outputs = {}  # tool: validator of its structured content
        if start and not self.modern:
            self.result(
                "initialize",
                {
                    "protocolVersion": version,
                    "capabilities": self.capabilities,
                    "clientInfo": {"name": "test", "version": "1"},
                },
            )
            self.tell("notifications/initialized")

    # ---- sending

    def raw(self, data):
        self.process.stdin.write(data)

    def line(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def tell(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.schemas.check("JSONRPCNotification", message)
        self.line(message)

    def params(self, params, meta):
        params = dict(params or {})
        meta = dict(meta or {})
        if self.modern:
            meta.setdefault(META + "protocolVersion", self.version)
            meta.setdefault(META + "clientInfo", {"name": "test", "version": "1"})
            meta.setdefault(META + "clientCapabilities", self.capabilities)
        if meta:
            params["_meta"] = meta
        return params

    def send(self, method, params=None, meta=None, ident=None):
        """Sends a request, and returns its id."""
        if ident is None:
            self.last += 1
            ident = self.last if self.last % 2 else "id-%d" % self.last
        message = {"jsonrpc": "2.0", "id": ident, "method": method}
        params = self.params(params, meta)
        if params or method in ("tools/call", "resources/read"):
            message["params"] = params
        if method in RESULTS and self.schemas.has(RESULTS[method][0]):
            self.schemas.check(RESULTS[method][0], message)
        self.waiting[ident] = method
        self.line(message)
        return ident

    # ---- reading

    def check_tool(self, result):
        text = [c["text"] for c in result["content"] if c["type"] == "text"]
        if "structuredContent" in result:
            assert json.loads(text[-1]) == result["structuredContent"], text
        elif self.structured:
            assert result.get("isError") and text and text[0], result

    def check(self, message):
        if "method" in message and "id" in message:
            assert not self.modern, "a request of the server: %s" % message
            self.schemas.check("ServerRequest", message if self.version != "2025-06-18"
                               else {k: message[k] for k in ("method", "params")})
            self.schemas.check("JSONRPCRequest", message)
            self.asked.append(message)
        elif "method" in message:
            self.schemas.check("JSONRPCNotification", message)
            self.schemas.check(NOTIFICATIONS[message["method"]], message)
            self.told.append(message)
        elif "error" in message:
            if self.version == "2025-06-18":
                if "id" in message:  # this version has no answer to what has no id
                    self.schemas.check("JSONRPCError", message)
            else:
                self.schemas.check("JSONRPCErrorResponse", message)
            if message["error"]["code"] == -32022:
                self.schemas.check("UnsupportedProtocolVersionError", message)
            self.take(message)
        else:
            method = self.take(message)
            name = RESULTS[method][1]
            result = message["result"]
            if self.modern and result["resultType"] == "input_required":
                name = "InputRequiredResult"
            elif self.modern:
                assert result["resultType"] == "complete", result
                assert method == "subscriptions/listen" or (
                    result["_meta"][META + "serverInfo"]["name"] == "lazaret"
                ), result
            else:
                assert "resultType" not in result, result
            self.schemas.check(name, result)
            envelope = (
                "JSONRPCResponse" if self.version == "2025-06-18" else "JSONRPCResultResponse"
            )
            self.schemas.check(envelope, message)
            if name == "CallToolResult":
                self.check_tool(result)

    def take(self, message):
        ident = message.get("id")
        if ident is None:
            self.answered.setdefault(None, []).append(message)
            return None
        assert ident in self.waiting, "an answer to nothing: %.300s" % message
        self.answered[ident] = message
        return self.waiting.pop(ident)

    def read(self):
        """Reads one message. False: there is none any more."""
        line = self.reader.readline()
        if not line:
            return False
        assert line.endswith(b"\n"), line
        self.check(json.loads(line))
        return True

    def wait(self, ident):
        """The answer to this request."""
        while ident not in self.answered:
            assert self.read(), "the server has ended"
        return self.answered.pop(ident)

    def until(self, condition):
        while not condition():
            assert self.read(), "the server has ended"

    def result(self, method, params=None, meta=None):
        message = self.wait(self.send(method, params, meta))
        assert "result" in message, message
        return message["result"]

    def error(self, method, params=None, meta=None):
        message = self.wait(self.send(method, params, meta))
        assert "error" in message, message
        return message["error"]

    def send_tool(self, name, meta=None, more=None, /, **arguments):
        params = {"name": name, "arguments": arguments}
        params.update(more or {})
        return self.send("tools/call", params, meta)

    def tool_result(self, ident):
        message = self.wait(ident)
        assert "result" in message, message
        return message["result"]

    def tool(self, name, /, **arguments):
        """The result of a tool, with its structured content checked by the tool's own schema."""
        result = self.tool_result(self.send_tool(name, **arguments))
        if self.structured and not self.outputs:
            for tool in self.result("tools/list")["tools"]:
                validator(tool["inputSchema"])
                if self.structured:
                    self.outputs[tool["name"]] = validator(tool["outputSchema"])
        if "structuredContent" in result:
            self.outputs[name].validate(result["structuredContent"])
        return result

    def value(self, code, **more):
        """The value of code that is right."""
        result = self.tool("execute", code=code, **more)
        assert not result["isError"], result
        return result["structuredContent"].get("value")

    def refused(self, name, /, **arguments):
        """The sentence with which a call is refused."""
        result = self.tool(name, **arguments)
        assert result["isError"] and "structuredContent" not in result, result
        return result["content"][0]["text"]

    def until_done(self, name, /, **arguments):
        """Calls a tool until it is not refused any more, with pauses: nothing tells when."""
        while self.tool(name, **arguments)["isError"]:
            time.sleep(0.01)

    # ---- ending

    def end(self, status=0):
        """Ends its input; nothing but answers may follow."""
        self.process.stdin.close()
        while self.read():
            pass
        got = self.process.wait()
        assert got == status, "it ended with %s" % got
        assert not self.waiting, "not answered: %s" % self.waiting


def run(cases):
    """Runs functions; each failure is printed. Ends the process."""
    failures = 0
    for name, case, arguments in cases:
        try:
            case(*arguments)
            print("ok %s" % name)
        except Exception as problem:  # pylint: disable=broad-except
            failures += 1
            import traceback

            traceback.print_exc(limit=-3, file=sys.stdout)
            print("FAILED %s: %.2000s" % (name, problem))
        sys.stdout.flush()
    print("%d passed, %d failed" % (len(cases) - failures, failures))
    sys.exit(failures != 0)
