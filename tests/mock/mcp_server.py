#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An MCP server over standard input and output, correct or with one fault.

    mcp_server.py ERA [FAULT]

ERA is modern (2026-07-28), or the version of the older protocol that it speaks. Its tools show each
kind of parameter and of result. A FAULT is the name of a function below, which takes the place of
what an honest server does at one moment. What it forks is in the file that the variable `pids`
names.
"""
import json
import os
import signal
import sys
import time

era = sys.argv[1]
fault = sys.argv[2] if len(sys.argv) > 2 else ""
modern = era == "modern"
methods = []  # that it was sent
slow = []  # calls that it has not answered

PIXEL = "iVBORw0KGgo="
BYTES = "AP8B"

TOOLS = [
    {"name": "add", "description": "adds two numbers",
     "inputSchema": {"type": "object", "required": ["b", "a"], "properties": {
         "a": {"type": "number", "description": "the first"}, "b": {"type": "number"}}},
     "outputSchema": {"type": "object", "properties": {"sum": {"$ref": "#/$defs/n"}},
                      "required": ["sum"], "$defs": {"n": {"type": "number"}}}},
    {"name": "get-item", "title": "an item",
     "inputSchema": {"type": "object", "required": ["from"], "properties": {
         "kind": {"enum": ["book", "film"], "default": "book"},
         "from": {"type": "string"},
         "max items": {"type": "integer", "default": 3},
         "tags": {"type": "array", "items": {"type": "string"}},
         "place": {"anyOf": [{"type": "string", "format": "path"}, {"type": "null"}]},
         "places": {"type": "array", "items": {"type": "string", "format": "directory-path"}},
         "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
         "loop": {"$ref": "#/$defs/loop"}},
         "$defs": {"loop": {"$ref": "#/$defs/loop"}}}},
    {"name": "echo", "inputSchema": {"type": "object", "additionalProperties": True}},
    {"name": "text", "inputSchema": {"type": "object"}},
    {"name": "json_text", "inputSchema": {"type": "object"}},
    {"name": "json_value", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "surprise": 1}},
    {"name": "several", "inputSchema": {"type": "object"}},
    {"name": "image", "inputSchema": {"type": "object"}},
    {"name": "both", "inputSchema": {"type": "object"}},
    {"name": "media", "inputSchema": {"type": "object"}},
    {"name": "resource", "inputSchema": {"type": "object"}},
    {"name": "link", "inputSchema": {"type": "object"}},
    {"name": "nothing", "inputSchema": {"type": "object"}},
    {"name": "odd", "inputSchema": {"type": "object"}},
    {"name": "fail", "description": "fails", "inputSchema": {"type": "object"},
     "annotations": {"readOnlyHint": True, "destructiveHint": False}},
    {"name": "variable", "inputSchema": {"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}}}},
    {"name": "asks", "inputSchema": {"type": "object"}},
    {"name": "crash", "inputSchema": {"type": "object"}},
    {"name": "hang", "inputSchema": {"type": "object"}},
    {"name": "slow", "inputSchema": {"type": "object"}},
    {"name": "poke", "inputSchema": {"type": "object"}},
    {"name": "finish", "inputSchema": {"type": "object"}},
    {"name": "methods", "inputSchema": {"type": "object"}},
    {"name": "pid", "inputSchema": {"type": "object"}},
    {"name": "trace", "inputSchema": {"type": "object"}},
    {"name": "change", "inputSchema": {"type": "object", "properties": {
        "how": {"type": "string"}}}},
]


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def raw(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def result(id, **members):
    if modern:
        members["resultType"] = "complete"
    send({"jsonrpc": "2.0", "id": id, "result": members})


def error(id, code, message, **more):
    send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, **more}})


def text(*lines):
    return [{"type": "text", "text": line} for line in lines]


def call(id, name, arguments, meta):
    if name == "add":
        total = arguments["a"] + arguments["b"]
        result(id, content=text(str(total)), structuredContent={"sum": total})
    elif name in ("get-item", "echo"):
        result(id, content=text(json.dumps(arguments)), structuredContent=arguments)
    elif name == "text":
        result(id, content=text("gr\u00fc\u00dfe\nline two"))
    elif name in ("json_text", "json_value"):
        result(id, content=text('{"n": 1}'))
    elif name == "several":
        result(id, content=text("one", "two"))
    elif name == "image":
        result(id, content=[{"type": "image", "mimeType": "image/png", "data": PIXEL,
                             "annotations": {"priority": 1}}])
    elif name == "both":
        result(id, structuredContent={"n": 2}, content=text("2") + [
            {"type": "audio", "mimeType": "audio/wav", "data": BYTES}])
    elif name == "media":
        blocks = [{"type": "audio", "mimeType": "audio/wav", "data": BYTES}]
        result(id, structuredContent={"content": blocks}, content=blocks)
    elif name == "resource":
        result(id, content=[
            {"type": "resource", "resource": {"uri": "x:1", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "x:2", "blob": BYTES}}])
    elif name == "link":
        result(id, content=[{"type": "resource_link", "uri": "file:///a", "name": "a", "size": 7}])
    elif name == "nothing":
        result(id, content=[])
    elif name == "odd":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","content":[],'
            '"structuredContent":{"big":12345678901234567890,"tag":{"$bytes":"AA=="},'
            '"nul":"a\\u0000b","half":"\\ud800"}}}\n' % id)
    elif name == "fail":
        result(id, content=text("no such\x1b[31m item"), isError=True)
    elif name == "variable":
        value = os.environ.get(arguments["name"])
        result(id, content=[] if value is None else text(value))
    elif name == "asks":
        if modern:
            send({"jsonrpc": "2.0", "id": id, "result": {
                "resultType": "input_required", "requestState": "s"}})
            return
        for method in ("ping", "elicitation/create", "sampling/createMessage", "roots/list"):
            send({"jsonrpc": "2.0", "id": "q-" + method, "method": method, "params": {}})
        answers = [json.loads(sys.stdin.readline()) for _ in range(4)]
        result(id, content=text(*[
            a["id"] + " " + ("result" if "result" in a else str(a["error"]["code"]))
            for a in answers]))
    elif name == "crash":
        sys.stderr.write("it hurts\n")
        sys.stderr.flush()
        os._exit(3)
    elif name == "hang":
        pass
    elif name == "slow":
        slow.append((id, meta["progressToken"]))
    elif name == "poke":
        send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": slow[-1][1], "progress": len(methods)}})
        result(id, content=[])
    elif name == "finish":
        result(slow[-1][0], content=text("at last"))
        result(id, content=[])
    elif name == "methods":
        result(id, content=text(" ".join(methods)))
    elif name == "trace":
        result(id, content=text("%s %s" % (meta.get("traceparent"), meta.get("tracestate"))))
    elif name == "pid":
        result(id, structuredContent=os.getpid(), content=[])
    elif name == "change":
        changed = next(t for t in TOOLS if t["name"] == "text")
        if arguments.get("how") == "remove":
            TOOLS.remove(changed)
        elif arguments.get("how") == "order":
            TOOLS[0]["inputSchema"] = dict(reversed(TOOLS[0]["inputSchema"].items()))
        else:
            changed["inputSchema"] = {"type": "object", "properties": {"secret": {}}}
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        result(id, content=text("done"))
    else:
        error(id, -32602, "no tool " + name)


def answer(message):
    method, id = message.get("method"), message.get("id")
    params = message.get("params", {})
    meta = params.get("_meta", {})
    if modern and id is not None and meta.get(
            "io.modelcontextprotocol/protocolVersion") != "2026-07-28":
        error(id, -32602, "no version in _meta")
    elif method == "server/discover" and modern:
        result(id, supportedVersions=["2026-07-28"], ttlMs=1000, cacheScope="private",
               capabilities={"tools": {"listChanged": True}})
    elif method == "initialize" and not modern:
        result(id, protocolVersion=era, capabilities={"tools": {"listChanged": True}},
               serverInfo={"name": "mock", "version": "1"})
    elif method == "tools/list":
        half = len(TOOLS) // 2
        if params.get("cursor") == "second":
            result(id, tools=TOOLS[half:])
        else:
            result(id, tools=TOOLS[:half], nextCursor="second")
    elif method == "tools/call":
        call(id, params["name"], params["arguments"], meta)
    elif method == "subscriptions/listen" and modern:
        send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
              "params": {"notifications": {"toolsListChanged": True}}})
    elif id is not None and method:
        error(id, -32601, "Method not found")


# ---- faults: each is called with the message and says whether it has handled it ------------------

def on(method, act):
    def handler(message):
        if message.get("method") != method:
            return False
        act(message)
        return True
    return handler


def pages(message):
    pages.n = getattr(pages, "n", 0) + 1
    result(message["id"], tools=[], nextCursor="page %d" % pages.n)


def many(message):
    result(message["id"], tools=[{"name": "t%d" % n, "inputSchema": {"type": "object"}}
                                 for n in range(100000)])


def huge_schema(message):
    result(message["id"], tools=TOOLS[:1] + [{"name": "huge", "inputSchema": {
        "type": "object", "properties": {"p": {"description": "x" * 200000}}}}])


def controls(message):
    result(message["id"], tools=[
        {"name": "a\x1b[2J\nb", "description": "first\x1b[31m\nsecond\u202e\U000e0041end\x07",
         "inputSchema": {"type": "object", "properties": {
             "p\n\x1b": {"type": "string", "description": "one\ntwo\x1b]0;x\x07"}}}}])


def collide(message):
    result(message["id"], tools=[
        {"name": name, "inputSchema": {"type": "object"}}
        for name in ("taken", "a-b", "a_b", "a.b", "a-b", "end", "", "x" * 500)] + ["no object"] + [
            {"name": "echo", "inputSchema": {"type": "object", "properties": {
                name: {} for name in ("gr\u00f6\u00dfe", "\u5024", "\u5b57", "a\u202eb", "a b", "a-b")}}}])


def malformed(message):
    raw('{"jsonrpc": "2.0", "id": %d, "result": {"content": [}}\n' % message["id"])


def nested(message):
    raw('{"jsonrpc": "2.0", "id": %d, "result": %s%s}\n' % (message["id"], "[" * 5000, "]" * 5000))


def twice_key(message):
    raw('{"jsonrpc": "2.0", "id": %d, "result": {}, "result": {}}\n' % message["id"])


def nobody(message):
    result(4711, content=text("for nobody"))
    result("text", content=text("for nobody"))
    answer(message)
    result(message["id"], content=text("again"))


def flood(message):
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}) + "\n"
    while True:
        raw(line * 100)


def answers_flood(message):
    line = json.dumps({"jsonrpc": "2.0", "id": 4711, "result": {}}) + "\n"
    while True:
        raw(line * 100)


def pings(message):
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n"
    while True:
        raw(line * 100)


def changes(message):
    answer(message)
    while True:
        raw(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}) + "\n")
        answer(json.loads(sys.stdin.readline()))


def line(message):
    while True:
        raw("{" + "x" * 65536)


def drip(message):
    for c in '{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}\n' % message["id"]:
        raw(c)


def noise(message):
    for n in range(100):
        print("starting up \x1b[31m%d" % n)
    sys.stdout.flush()
    answer(message)


def complaints(message):
    for n in range(2000):
        sys.stderr.write("complaint %d \x1b[31m\n" % n)
    sys.stderr.write("y" * 300000)
    sys.stderr.flush()
    answer(message)


def fork(message):
    pid = os.fork()
    if pid:
        with open(os.environ["pids"], "a") as pids:
            pids.write("%d\n" % pid)
    else:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(1000)
    os._exit(4)


def leaves(message):
    """It ends, and leaves a process in a session of its own, which writes until nobody reads."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        with open(os.environ["pids"], "w") as pids:
            pids.write("%d\n" % pid)
        os.read(reader, 1)
        os._exit(4)
    os.setsid()
    os.write(1, b"\n" * 65536)
    os.write(writer, b"x")
    try:
        while True:
            os.write(1, b"\n" * 65536)
    except OSError:
        os._exit(0)


def closes(message):
    os.close(1)
    time.sleep(1000)


def stays(message):
    """It goes on when its input is closed, and ignores SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    answer(message)
    for rest in sys.stdin:
        answer(json.loads(rest))
    while True:
        time.sleep(1000)


def wrong_result(message):
    send({"jsonrpc": "2.0", "id": message["id"], "result": {"content": "text"}})


def unfit(message):
    """An answer that cannot be read, as the call of `echo` wants it; other calls are answered."""
    how = message["params"]["arguments"].get("how", "")
    form = {
        "long": '{"jsonrpc": "2.0", "id": %d, "result": {"content": [], "x": "' + "B" * 3000000 + '"}}',
        "id last": '{"result": {"content": [], "id": 7, "x": "' + "{" * 3000000 + '"}, "id": %d}',
        "deep": '{"id": %d, "result": ' + "[" * 5000 + "]" * 5000 + "}",
        "twice": '{"id": %d, "result": {"content": [], "content": []}}',
        "range": '{"result": {"content": [], "structuredContent": 1e999}, "id": %d}',
        "shape": '{"id": %d, "error": [5]}',
        "none": '{"id": %d, "answer": 5}',
        "bytes": '{"id": %d, "result": {"content": "\udcf0\udc80\udc80\udcbf"}}',
    }.get(how)
    if how == "nameless":  # nobody's, and the answer after it
        raw('{"result": "' + "B" * 3000000 + '"}\n{"id": 1, "id": 2, "result": 5}\n{]\n')
        raw('{"method": "' + "x" * 3000000 + '", "id": %d}\n' % message["id"])
    elif form:
        sys.stdout.buffer.write((form % message["id"] + "\n").encode(errors="surrogateescape"))
        sys.stdout.flush()
    return form is not None


def overlong(message):
    """Overlong forms of '?', which is not UTF-8, where people read it."""
    for file in sys.stdout, sys.stderr:
        file.buffer.write(b"A" + b"\xf0\x80\x80\xbf" * 40 + b"Z\n")
        file.flush()
    os._exit(6)


def unreadable(message):
    """It reads no more, and wants to be answered."""
    while True:
        raw(json.dumps({"jsonrpc": "2.0", "id": "p" * 200, "method": "ping"}) + "\n")


FAULTS = {
    "silent": lambda message: True,
    "silent_at_discover": on("server/discover", lambda message: None),
    "silent_at_list": on("tools/list", lambda message: sys.stderr.write("no list\n")),
    "dies_of_discover": on("server/discover", lambda message: os._exit(2)),
    "wrong_version": on("server/discover", lambda message: error(
        message["id"], -32022, "Unsupported", data={"supported": ["2030-01-01"],
                                                    "requested": "2026-07-28"})),
    "refuses": lambda message: "id" in message and (error(message["id"], -32603, "not\x1b today")
                                                    or True),
    "pages": on("tools/list", pages),
    "same_page": on("tools/list", lambda message: result(message["id"], tools=[], nextCursor="c")),
    "many": on("tools/list", many),
    "no_list": on("tools/list", lambda message: result(message["id"], tools={})),
    "huge_schema": on("tools/list", huge_schema),
    "controls": on("tools/list", controls),
    "collide": on("tools/list", collide),
    "malformed_at_list": on("tools/list", malformed),
    "malformed": on("tools/call", malformed),
    "nested": on("tools/call", nested),
    "twice_key": on("tools/call", twice_key),
    "nobody": on("tools/call", nobody),
    "flood": on("tools/call", flood),
    "answers_flood": on("tools/call", answers_flood),
    "pings": on("tools/call", pings),
    "changes": on("tools/list", changes),
    "line": on("tools/call", line),
    "line_at_list": on("tools/list", line),
    "drip": on("tools/call", drip),
    "noise": on("server/discover" if modern else "initialize", noise),
    "complaints": on("server/discover" if modern else "initialize", complaints),
    "fork": on("tools/call", fork),
    "leaves": on("tools/call", leaves),
    "fork_at_start": on("tools/list", fork),
    "closes": on("tools/call", closes),
    "stays": on("tools/list", stays),
    "crash_at_start": lambda message: os._exit(5),
    "wrong_result": on("tools/call", wrong_result),
    "unfit": lambda message: message.get("method") == "tools/call" and unfit(message),
    "overlong": on("tools/call", overlong),
    "": lambda message: False,
}


def main():
    handle = FAULTS[fault]
    for line in sys.stdin:
        message = json.loads(line)
        methods.append(message.get("method", "answer"))
        if not handle(message):
            answer(message)


if __name__ == "__main__":
    main()
