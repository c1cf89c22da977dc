# SPDX-License-Identifier: MIT
"""What `lazaret mcp` says, in each version of the protocol: test_protocol.py LAZARET SCHEMAS WORK."""

import base64
import json
import os
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import credential_server
from client import META, MODERN, SLEEPS, VERSIONS, Client, run

LAZARET, SCHEMAS, WORK = sys.argv[1:4]
FULL = bool(os.environ.get("LAZARET_TEST_FULL"))
CONFIG = os.path.join(WORK, "lazaret.toml")
TOOLS = ["execute", "wait", "interrupt", "restart", "open_session", "close_session", "search_tools", "get_tool_details"]


def client(version, *options, capabilities=None, start=True):
    command = [LAZARET, "mcp", "--config", CONFIG, "--set", "mcp.structured=true", *options]
    return Client(command, SCHEMAS, version, capabilities, start)


def model(version, *options):
    """The same as models have it: content only."""
    return Client([LAZARET, "mcp", "--config", CONFIG, *options], SCHEMAS, version,
                  structured=False)


shared = {}  # version: the client that cases share, while none uses it


def share(version):
    """A client of this version, which cases share that need no settings of their own: each start
    costs more than most cases. One in which a case has failed is not used again."""
    one = shared.pop(version, None) or client(version)
    assert not one.waiting and not one.asked and not one.told, (one.waiting, one.asked, one.told)
    return one


def give_back(one):
    """Nothing that the case has begun is open."""
    assert not one.waiting and not one.asked, (one.waiting, one.asked)
    one.told.clear()
    shared[one.version] = one


def tells_what_there_is(version):
    one = share(version)
    execute = one.result("tools/list")["tools"][0]
    give_back(one)
    runtimes = execute["inputSchema"]["properties"]["runtime"]["enum"]
    assert "lua" in runtimes, execute
    if "javascript" in runtimes: # a language that declares a note
        assert ". In javascript await functions of the host." in execute["description"], execute
    for part in ("Languages: ", "\n- echo_back(text: str) -> {length: int, text?: str}: ",
                 "\n- erase_it(path: str)"):
        assert part in execute["description"], (part, execute["description"])
    small = client(version, "--set", "mcp.description_size=100")
    told = small.result("tools/list")["tools"][0]["description"]
    assert "The code can call 3 functions of the host: search_tools finds them." in told, told
    small.end()


def is_served_to_the_end(version):
    one = share(version)
    assert one.value("6 * 7", runtime="lua") == 42
    one.end()


def describes_itself(version):
    with_client = share(version)
    if version == MODERN:
        about = with_client.result("server/discover")
        assert about["supportedVersions"] == [MODERN, "2025-11-25", "2025-06-18"], about
    listed = with_client.result("tools/list")
    assert [tool["name"] for tool in listed["tools"]] == TOOLS
    assert listed == with_client.result("tools/list")
    for tool in listed["tools"]:
        assert len(tool["description"].encode()) < 2048
        assert tool["inputSchema"]["additionalProperties"] is False
    assert with_client.result("resources/list")["resources"] == []
    assert with_client.result("resources/templates/list")["resourceTemplates"] == []
    give_back(with_client)


def agrees_on_a_version():
    for asked, agreed in (
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ):
        one = client("2025-11-25", start=False)
        got = one.result(
            "initialize",
            {
                "protocolVersion": asked,
                "capabilities": {},
                "clientInfo": {"name": "x", "version": "1"},
            },
        )
        assert got["protocolVersion"] == agreed, got
        assert len(got["instructions"].encode()) < 2048 and "python" in got["instructions"]
        assert one.result("ping") == {}
        again = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert one.error("initialize", again)["code"] == -32600
        one.end()


def refuses_what_is_wrong(version):
    one = share(version)
    assert one.error("prompts/list")["code"] == -32601
    assert one.error("tools/call", {"name": "nothing"})["code"] == -32602
    assert one.error("tools/list", {"cursor": "x"})["code"] == -32602
    missing = one.error("resources/read", {"uri": "lazaret://result/r1-0/x"})
    assert missing["code"] == (-32602 if version == MODERN else -32002), missing
    assert missing["data"]["uri"] == "lazaret://result/r1-0/x"
    # Arguments that are wrong are mended by a model, so they are not error of the protocol.
    assert "code" in one.refused("execute")
    assert "language" in one.refused("execute", code="1", language="lua")
    assert "code" in one.refused("execute", code=7)
    assert "perl" in one.refused("execute", code="1", runtime="perl")
    assert "perl" in one.refused("open_session", runtime="perl")
    assert "not a session" in one.refused("execute", code="1", session="s1-0000000000000000")
    assert "search_tools" in one.refused("get_tool_details", name="nothing")
    for line, code in (
        (b"rubbish", -32700),
        (b'{"jsonrpc":"2.0","id":900', -32700),
        (b'[{"jsonrpc":"2.0","id":901,"method":"ping"}]', -32600),
        (b'{"jsonrpc":"1.0","method":"ping","id":null}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600),
        (b"7", -32600),
    ):
        one.answered.pop(None, None)
        one.raw(line + b"\n")
        one.until(lambda: None in one.answered)
        (answer,) = one.answered.pop(None)
        assert answer["error"]["code"] == code, (line, answer)
    one.waiting["x"] = "tools/list"
    one.raw(b'{"jsonrpc":"2.0","id":"x","method":"tools/list","params":[]}\n')
    assert one.wait("x")["error"]["code"] == -32600
    one.waiting["y"] = "tools/list"
    one.raw(b'{"jsonrpc":"2.0","id":"y","method":7}\n')
    assert one.wait("y")["error"]["code"] == -32600
    one.tell("notifications/nobody/knows")
    one.tell("notifications/cancelled", {"requestId": 12345})
    assert one.value("6 * 7", runtime="lua") == 42
    give_back(one)


def knows_its_eras():
    one = client(MODERN)
    assert one.error("ping")["code"] == -32601
    for meta in ({META + "protocolVersion": "1900-01-01"}, {META + "protocolVersion": "2025-11-25"}):
        wrong = one.error("tools/list", meta=meta)
        assert wrong["code"] == -32022 and MODERN in wrong["data"]["supported"], wrong
    # Without a handshake each request says what is to be known.
    for meta, word in (
        ({}, "protocolVersion"),
        ({META + "protocolVersion": MODERN}, "clientCapabilities"),
    ):
        one.waiting["bare"] = "tools/list"
        params = {"_meta": meta} if meta else {}
        one.line({"jsonrpc": "2.0", "id": "bare", "method": "tools/list", "params": params})
        answer = one.wait("bare")
        assert answer["error"]["code"] == -32602 and word in answer["error"]["message"], answer
    one.end()
    # Both eras on one connection.
    both = client("2025-11-25")
    meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
    ident = both.send("resources/list", meta=meta)
    both.waiting.pop(ident)
    line = json.loads(both.reader.readline())
    assert line["result"]["resultType"] == "complete" and line["id"] == ident, line
    assert both.result("resources/list")["resources"] == []
    both.end()


def listens_to_the_end():
    one = client(MODERN)
    ident = one.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    one.until(lambda: one.told)
    told = one.told.pop()
    assert told["params"]["_meta"][META + "subscriptionId"] == ident, told
    assert told["params"]["notifications"] == {}, told
    over = one.send("subscriptions/listen", {"notifications": {}})
    one.until(lambda: one.told)
    one.tell("notifications/cancelled", {"requestId": over})
    one.waiting.pop(over)
    one.end()
    last = one.answered[ident]["result"]
    assert last["_meta"][META + "subscriptionId"] == ident, last


def executes(version):
    one = share(version)
    result = one.tool("execute", code="print('hello')\n6 * 7")
    assert result["content"][0] == {"type": "text", "text": "hello\n42\n"}, result
    content = result["structuredContent"]
    assert content["value"] == 42 and content["output"] == "hello\n"
    assert content["verdict"] == "ok" and content["usage"]["tool_calls"] == 0
    assert content["isolation"]["backend"], content
    failing = {"python": "x = 1\ny = 2\n1 / 0", "lua": "local x = 1\n\nerror('bad')"}
    if version == MODERN and FULL:  # languages are the same in all versions, and this starts slowly
        failing["r"] = "x <- 1\ny <- 2\nstop('bad')"
    for runtime, code in failing.items():
        result = one.tool("execute", code=code, runtime=runtime)
        error = result["structuredContent"]["error"]
        assert result["isError"] and error["kind"] == "runtime" and error["message"], result
        assert error["message"] in result["content"][0]["text"], result
        if runtime != "r":
            assert error["line"] == 3 and "line 3" in result["content"][0]["text"], result
    result = one.tool("execute", code="x = (")
    assert result["structuredContent"]["verdict"] == "syntax_error", result
    assert result["structuredContent"]["error"]["line"] == 1, result
    result = one.tool("execute", code=SLEEPS, runtime="lua", timeout=1)
    assert result["isError"] and result["structuredContent"]["verdict"] == "timeout", result
    assert one.value("echo_back('x')", runtime="lua") == "x"
    result = one.tool("execute", code="echo_back(nil)", runtime="lua")
    assert result["isError"], result
    give_back(one)


def keeps_sessions(version):
    one = share(version)
    session = one.tool("open_session", runtime="lua")["structuredContent"]
    assert session["runtime"] == "lua" and session["expires_after"] == 1800, session
    handle = session["session"]
    other = one.tool("open_session")["structuredContent"]
    assert other["runtime"] == "python" and other["session"] != handle
    assert one.value("x = 7", session=handle) is None
    assert one.value("x", session=handle) == 7
    assert one.value("x", runtime="lua") is None
    assert "lua" in one.refused("execute", code="1", session=handle, runtime="r")
    busy = one.send_tool("execute", code=SLEEPS, session=handle)
    assert "in progress" in one.refused("execute", code="1", session=handle)
    assert one.tool("close_session", session=handle)["structuredContent"] == {"closed": True}
    ended = one.tool_result(busy)
    assert ended["structuredContent"]["verdict"] == "cancelled", ended
    assert ended["content"][0]["text"].startswith("cancelled: The execution was cancelled\n"), ended
    assert "expired" in one.refused("execute", code="x", session=handle)
    assert "expired" in one.refused("close_session", session=handle)
    forged = handle[:-1] + ("0" if handle[-1] != "0" else "1")
    assert "not a session" in one.refused("execute", code="x", session=forged)
    assert one.value("2 + 2", session=other["session"]) == 4
    assert not one.tool("close_session", session=other["session"]).get("isError")
    give_back(one)


def text_of(result):
    """All that a model reads: one text, and pictures and links behind it."""
    assert set(result) <= {"content", "isError", "resultType", "_meta"}, result
    texts = [c["text"] for c in result["content"] if c["type"] == "text"]
    assert len(texts) <= 1, result
    return texts[0] if texts else ""


def is_used_by_a_model(version):
    one = model(version, "--runtime", "lua")

    def says(code, **more):
        return text_of(one.tool("execute", code=code, **more))

    for tool in one.result("tools/list")["tools"]:
        assert "outputSchema" not in tool and "title" not in tool, tool
    assert says("1 + 1") == "2\n"
    assert says("x = 7", runtime=None, session=None, timeout=2.0, files=None) == "(no output)"
    assert "doctor" not in one.refused("execute", code="1", runtime="perl")
    assert says("print(x) return x * 6") == "7\n42\n"  # state stays
    assert says("return x", fresh=True) == "nil\n"
    assert "name 'x' is not defined" in says("x", runtime="python")
    picture = "io.open('artifacts/a.png', 'wb'):write('\\x89PNG\\r\\n\\x1a\\n'):close()"
    kinds = [c["type"] for c in one.tool("execute", code=picture + " print('saved')")["content"]]
    assert kinds == ["text", "image"], kinds
    left = one.tool("execute", code="io.open('t.csv', 'w'):write('a'):close()")["content"]
    assert left[-1]["name"] == "t.csv", left
    assert says("string.rep('x', 3)", runtime="lua") == "xxx\n"
    assert "cannot be with 'session'" in one.refused("execute", code="1", session="s", fresh=True)
    assert "an integer from 1 to 86400" in one.refused("execute", code="1", timeout=0)
    # Of what is typed nothing is left for the next one.
    for language, first, rest in (
            ("lua", "return io.read()", "return io.read('a')"),
            ("python", "input()", "import sys; sys.stdin.read()"),
            ("r", "readLines(stdin(), 1)", "length(readLines(stdin()))")):
        assert "one" in says(first, runtime=language, input="one\ntwo\n"), language
        left = says(rest, runtime=language)
        assert left in ("(no output)", "''\n", "[1] 0\n"), (language, left)
        assert "three" in says(first, runtime=language, input="three"), language
    # What comes at the same time for one session waits for its turn.
    first, second = (one.send_tool("execute", code="x = x + 1 return x") for _ in range(2))
    assert text_of(one.tool_result(first)) == "8\n" and text_of(one.tool_result(second)) == "9\n"
    # A call that takes too long costs no variables.
    late = one.tool("execute", code=SLEEPS, timeout=1)
    assert late["isError"], late
    assert text_of(late).endswith(
        "timeout error in line 1: Execution timed out after 1 second\n"
        "The code was interrupted; the session keeps its variables.\n"), late
    assert says("return x") == "9\n"
    # Code that ends its interpreter is told at once what that costs.
    ended = says("import sys; sys.exit(3)", runtime="python")
    assert ended.endswith("The interpreter of the session was ended: its variables are gone.\n"), ended
    # Code that goes on without its client.
    slow = "print('begun') io.stdout:flush() " + SLEEPS
    so_far = says(slow, wait=1)
    while "begun\n" not in so_far:  # it has not come so far yet
        so_far = text_of(one.tool("wait", seconds=1))
    assert so_far.startswith("begun\nstill running: execution x"), so_far
    handle = so_far.split()[-1]
    queued = text_of(one.tool("execute", code="return x", wait=1))
    assert queued.startswith("waits for a session: execution x"), queued
    so_far = text_of(one.tool("wait", execution=handle, seconds=1))
    assert so_far == "still running: execution %s\n" % handle, so_far
    ended = text_of(one.tool("interrupt"))
    while "still running" in ended:
        ended = text_of(one.tool("wait"))
    assert "The execution was cancelled" in ended and "begun" not in ended, ended
    while "9" not in text_of(one.tool("wait", execution=queued.split()[-1])):
        pass  # what runs was interrupted, and not what waited for it
    assert "no execution" in one.refused("wait") and "no execution" in one.refused("interrupt")
    assert says("return x") == "9\n"
    # A lost interpreter, and one that is given up.
    assert "killed" in says("os.execute('kill -9 $PPID')").lower()
    assert "variables are gone" in says("return x")
    assert says("x = 3 return x") == "3\n"
    assert "restarted" in text_of(one.tool("restart"))
    assert says("return x") == "nil\n"
    one.end()


def says_what_a_sandbox_does_not_do(version):
    one = model(version, "--runtime", "lua", "--set", "sandbox.backend=none",
                "--set", "sandbox.require=[]")
    text = text_of(one.tool("execute", code="1"))
    assert text == "1\nnot enforced by the sandbox: fs_read, fs_write, network\n", text
    one.end()


def declares_little():
    """A token of these texts is 4.4 bytes (counted in tests/mcp-clients); 600 are the most."""
    one = Client([LAZARET, "mcp"], SCHEMAS, MODERN, structured=False)
    tools = one.result("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOLS[:6], tools
    told = [{k: tool[k] for k in ("name", "description", "inputSchema")} for tool in tools]
    size = len(json.dumps(told, separators=(",", ":")))
    assert size < 600 * 4.4, size
    one.end()


def admits_what_code_may_change():
    """Code can delete what lies in a directory of sandbox.write."""
    os.makedirs("written", exist_ok=True)
    os.chmod("written", 0o777)
    for options, hint in (([], False), (["--write", "written"], None)):
        one = Client([LAZARET, "mcp"] + options, SCHEMAS, MODERN, structured=False)
        execute, *others = one.result("tools/list")["tools"]
        assert execute["annotations"].get("destructiveHint") is hint, (options, execute)
        assert execute["annotations"]["openWorldHint"] is False, (options, execute)
        assert all(t["annotations"]["destructiveHint"] is False for t in others), others
        one.end()


def names_what_is_lost(version):
    """The agent (tests/mock/agent.c) ends before it has sent all of a file."""
    code = "".join(
        'send {"type":"part","id":$id,"of":"file","name":"%s","data":"YWJj","more":%s}\n' % part
        for part in (("a.txt", "false"), ("b.png", "true"))
    )
    kept = os.environ["LAZARET_AGENT"]
    os.environ["LAZARET_AGENT"] = os.environ["MOCK_AGENT"]
    try:
        one = client(version)
    finally:
        os.environ["LAZARET_AGENT"] = kept
    result = one.tool("execute", code=code + "sync\ndie 9\n", runtime="lua")
    content = result["structuredContent"]
    assert [file["name"] for file in content["files"]] == ["a.txt"], content
    why = "the execution ended before all of it had come: crashed"
    assert content["files_lost"] == [{"name": "b.png", "bytes": 3, "why": why}], content
    assert "the file b.png is lost, after 3 bytes: " + why in result["content"][0]["text"], result
    assert result["isError"], result
    one.end()


def moves_files(version):
    one = share(version)
    data = bytes(range(256))
    files = [
        {"name": "a.txt", "text": "Zoë\n"},
        {"name": "b.bin", "base64": base64.b64encode(data).decode()},
    ]
    code = """
local a = io.open('a.txt'):read('a')
local b = io.open('b.bin', 'rb'):read('a')
io.open('artifacts/b copy.bin', 'wb'):write(b):close()
io.open('artifacts/c.txt', 'w'):write(a):close()
io.open('empty', 'w'):close() -- where it begins: of a fresh one
io.open('artifacts/d.png', 'wb'):write('\\x89PNG\\r\\n\\x1a\\n' .. b):close()
return #a + #b"""
    earlier = one.result("resources/list")["resources"]
    result = one.tool("execute", code=code, runtime="lua", files=files, fresh=True)
    assert result["structuredContent"]["value"] == 261, result
    links = {c["name"]: c for c in result["content"] if c["type"] == "resource_link"}
    assert sorted(links) == ["b copy.bin", "c.txt", "empty"], links
    pictures = [c for c in result["content"] if c["type"] == "image"]
    assert len(pictures) == 1 and pictures[0]["mimeType"] == "image/png", pictures
    assert base64.b64decode(pictures[0]["data"])[8:] == data
    (content,) = one.result("resources/read", {"uri": links["b copy.bin"]["uri"]})["contents"]
    assert base64.b64decode(content["blob"]) == data, content
    (content,) = one.result("resources/read", {"uri": links["c.txt"]["uri"]})["contents"]
    assert content["text"] == "Zoë\n", content
    uris = [r["uri"] for r in one.result("resources/list")["resources"] if r not in earlier]
    assert len(uris) == 4 and links["c.txt"]["uri"] in uris, uris
    again = [{"name": "e", "uri": links["b copy.bin"]["uri"]}]
    assert one.value("#io.open('e', 'rb'):read('a')", runtime="lua", files=again) == 256
    for wrong in (
        [{"name": "../x", "text": ""}],
        [{"name": "/etc/passwd", "text": ""}],
        [{"name": "x", "text": "", "base64": ""}],
        [{"name": "x"}],
        [{"name": "x", "base64": "?"}],
        [{"name": "x", "uri": "file:///etc/passwd"}],
        [{"name": "x", "path": "/etc/passwd"}],
        [{"name": "x", "text": ""}] * 65,
    ):
        one.refused("execute", code="1", runtime="lua", files=wrong)
    give_back(one)


def bounds_what_is_long(version):
    one = share(version)
    code = "for i = 1, 20000 do print('line ' .. i) end return ('x'):rep(100000)"
    result = one.tool("execute", code=code, runtime="lua")
    content = result["structuredContent"]
    assert "value" not in content and len(content["output"]) < 20000, content
    assert content["output"].startswith("line 1\n") and "line 20000" in content["output"]
    assert len(result["content"][0]["text"]) < 40000
    (whole,) = one.result("resources/read", {"uri": content["output_uri"]})["contents"]
    assert whole["text"] == "".join("line %d\n" % i for i in range(1, 20001))
    (value,) = one.result("resources/read", {"uri": content["value_uri"]})["contents"]
    assert json.loads(value["text"]) == "x" * 100000
    # Of resources a number is kept, the oldest goes, and it is said: alike in all versions.
    if version == MODERN or FULL:
        for _ in range(9):
            code = "for i = 1, 32 do io.open('artifacts/' .. i, 'w'):write(i):close() end"
            one.value(code, runtime="lua")
        assert len(one.result("resources/list")["resources"]) == 256
        gone = one.error("resources/read", {"uri": content["output_uri"]})
        assert "gone" in gone["message"], gone
    give_back(one)


def bounds_errors_and_warnings(version):
    one = share(version)

    def whole(uri):
        (content,) = one.result("resources/read", {"uri": uri})["contents"]
        return content["text"]

    result = one.tool("execute", code="raise Exception('e' * 200000 + 'end')")
    error, text = result["structuredContent"]["error"], result["content"][0]["text"]
    assert len(error["message"]) < 5000 and error["message"].endswith("eend"), error
    assert "are left out; all of it is the resource " + error["uri"] in error["message"], error
    assert text.count("are left out") == 1 and len(text) < 6000, text
    assert len(json.dumps(result)) < 20000
    assert whole(error["uri"]).endswith("e" * 200000 + "end")
    code = "".join("def f%d(): f%d()\n" % (n, n + 1) for n in range(90))
    result = one.tool("execute", code=code + "f0()")
    error, text = result["structuredContent"]["error"], result["content"][0]["text"]
    assert len(error["traceback"]) == 41 and "are left out" in error["traceback"][20], error
    assert error["traceback"][-1] in text and len(whole(error["uri"]).splitlines()) > 90, error
    # An outcome that the code forges has as many warnings as it likes.
    channel = """
import json, os
def is_socket(fd):
    try: return os.readlink('/proc/self/fd/' + fd).startswith('socket:')
    except OSError: return False
def forge(message):
    channel = [int(f) for f in os.listdir('/proc/self/fd') if is_socket(f)][0]
    os.write(channel, json.dumps(message).encode() + b'\\n')
    while True: pass
"""
    forged = "'type': 'result', 'id': 1, 'value': 7, 'left_out': ['x' * 300] * 300"
    handle = one.tool("open_session")["structuredContent"]["session"]
    result = one.tool("execute", code=channel + "forge({%s})" % forged, session=handle)
    one.tool("close_session", session=handle)
    content, text = result["structuredContent"], result["content"][0]["text"]
    assert content["value"] == 7 and 1 < len(content["warnings"]) < 100, len(content["warnings"])
    assert text.count("warning: ") == len(content["warnings"])
    # So it has calls.
    forged = "'type': 'error', 'id': 1, 'kind': 'runtime', 'traceback': ['x' * 3000] * 99"
    handle = one.tool("open_session")["structuredContent"]["session"]
    code = channel + "forge({'message': 'm', %s})" % forged
    result = one.tool("execute", code=code, session=handle)
    one.tool("close_session", session=handle)
    error = result["structuredContent"]["error"]
    assert len(error["traceback"]) == 41 and len(json.dumps(error)) < 41 * 700, str(error)[:500]
    assert whole(error["uri"]) == ("x" * 3000 + "\n") * 99 + "m"
    give_back(one)


def shows_what_a_terminal_would_obey(version):
    one = share(version)
    shown = "a\\x1b[2J\\x9b\\u202eb\tc\nd\n"
    for code, where in (("print('%s')", "output"), ("return '%s'", "value")):
        code %= "a\\27[2J\\u{9b}\\u{202e}b\\tc\\rd"
        result = one.tool("execute", code=code, runtime="lua")
        exact = result["structuredContent"][where]
        assert exact.rstrip("\n") == "a\x1b[2J\x9b\u202eb\tc\rd", result
        texts = "".join(c["text"] for c in result["content"])
        assert not any(c in texts for c in "\x1b\x9b\u202e\r"), texts
        if where == "output":
            assert result["content"][0]["text"] == shown, result
    result = one.tool("execute", code="error('\\27[2J\\u{202e}')", runtime="lua")
    texts = "".join(c["text"] for c in result["content"])
    assert result["isError"] and not any(c in texts for c in "\x1b\u202e"), texts
    text = one.refused("get_tool_details", name="\x1b[2J\u202e")
    assert "\x1b" not in text and "\u202e" not in text, text
    give_back(one)


def reports_progress_and_stops(version):
    one = share(version)
    token = "token" if version == MODERN else 5
    ident = one.send_tool(
        "execute", {"progressToken": token}, code=SLEEPS, runtime="lua"
    )
    one.until(lambda: len(one.told) >= 3)
    seen = [told["params"]["progress"] for told in one.told]
    assert seen == sorted(set(seen)), seen
    assert all(told["params"]["progressToken"] == token for told in one.told)
    one.tell("notifications/cancelled", {"requestId": ident, "reason": "enough"})
    one.waiting.pop(ident)  # nothing comes for it any more
    assert one.value("1 + 1", runtime="lua") == 2
    count = len(one.told)
    assert one.value("1 + 1", runtime="lua") == 2
    assert len(one.told) == count
    # Its id may be used again.
    one.send("tools/call", {"name": "execute", "arguments": {"code": "3", "runtime": "lua"}}, ident=ident)
    assert one.wait(ident)["result"]["structuredContent"]["value"] == 3
    give_back(one)


def finds_functions(version):
    one = share(version)
    found = one.tool("search_tools", query="echo text")["structuredContent"]["tools"]
    assert found[0]["name"] == "echo_back", found
    everything = one.tool("search_tools", query="")["structuredContent"]["tools"]
    assert [tool["name"] for tool in everything] == ["echo_back", "trace", "erase-it"], everything
    assert one.tool("search_tools", query="zzz")["structuredContent"]["tools"] == []
    assert len(one.tool("search_tools", query="", limit=1)["structuredContent"]["tools"]) == 1
    stub = one.tool("get_tool_details", name="erase-it")
    assert "def erase_it(" in stub["structuredContent"]["stub"], stub
    stub = one.tool("get_tool_details", name="erase_it", runtime="lua")
    assert "erase_it(" in stub["structuredContent"]["stub"], stub
    stub = one.tool("get_tool_details", name="erase-it", runtime="r")
    assert "function(" in stub["structuredContent"]["stub"], stub
    assert "perl" in one.refused("get_tool_details", name="echo_back", runtime="perl")
    give_back(one)


def asks_by_a_request(version):
    one = client(version, capabilities={"elicitation": {}})
    code = "return erase_it('/a\\27[2J')"
    ident = one.send_tool("execute", code=code, runtime="lua")
    one.until(lambda: one.asked)
    question = one.asked.pop()
    message = question["params"]["message"]
    assert "erase-it" in message and "\\x1b[2J" in message and "\x1b" not in message, message
    yes = {"action": "accept", "content": {"approve": True}}
    one.line({"jsonrpc": "2.0", "id": question["id"], "result": yes})
    assert one.tool_result(ident)["structuredContent"]["value"] == "erased"
    for no in (
        {"result": {"action": "decline"}},
        {"result": {"action": "cancel"}},
        {"result": {"action": "accept", "content": {"approve": False}}},
        {"result": {"action": "accept", "content": {"approve": "true"}}},
        {"result": {"action": "accept"}},
        {"result": 7},
        {"error": {"code": -1, "message": "no"}},
        {},
    ):
        ident = one.send_tool("execute", code="erase_it('/a')", runtime="lua")
        one.until(lambda: one.asked)
        question = one.asked.pop()
        one.line(dict({"jsonrpc": "2.0", "id": question["id"]}, **no))
        result = one.tool_result(ident)
        assert result["isError"] and "approved" in result["content"][0]["text"], (no, result)
    # Answers that nobody waits for.
    one.line({"jsonrpc": "2.0", "id": question["id"], "result": yes})
    one.line({"jsonrpc": "2.0", "id": "approval-999", "result": yes})
    # A question whose execution is cancelled is taken back.
    ident = one.send_tool("execute", code="erase_it('/a')", runtime="lua")
    one.until(lambda: one.asked)
    question = one.asked.pop()
    one.tell("notifications/cancelled", {"requestId": ident})
    one.waiting.pop(ident)
    one.until(lambda: any(t["method"] == "notifications/cancelled" for t in one.told))
    assert one.told.pop()["params"]["requestId"] == question["id"]
    one.end()


def asks_nobody_who_cannot_answer(version):
    for capabilities in ({}, {"elicitation": {"url": {}}}):
        one = client(version, capabilities=capabilities)
        result = one.tool("execute", code="erase_it('/a')", runtime="lua")
        assert result["isError"] and "elicitation" in result["content"][0]["text"], result
        one.end()


def asks_by_an_answer():
    one = client(MODERN, capabilities={"elicitation": {"form": {}}})
    arguments = {"code": "a = erase_it('/a') b = erase_it('/b') return a .. b", "runtime": "lua",
                 "fresh": True}

    def again(result, answer, state=None, name="execute"):
        (key,) = result["inputRequests"]
        params = {
            "name": name,
            "arguments": arguments,
            "requestState": state or result["requestState"],
            "inputResponses": {key: answer},
        }
        return one.send("tools/call", params)

    yes = {"action": "accept", "content": {"approve": True}}
    first = one.tool_result(one.send_tool("execute", **arguments))
    assert first["resultType"] == "input_required", first
    (question,) = first["inputRequests"].values()
    assert "/a" in question["params"]["message"], question
    # Forged, of another tool, and not an answer: the execution still waits.
    for state in ("q1-0000000000000000", "", "x" * 10000, first["requestState"] + "0"):
        answer = one.wait(again(first, yes, state=state or "q"))
        assert answer["error"]["code"] == -32602, answer
    assert one.wait(again(first, yes, name="open_session"))["error"]["code"] == -32602
    second = one.tool_result(again(first, yes))
    assert second["resultType"] == "input_required", second
    assert second["requestState"] != first["requestState"]
    assert one.wait(again(first, yes))["error"]["code"] == -32602  # it was used
    # Without an answer the same question comes again.
    third = one.tool_result(one.send("tools/call", {
        "name": "execute", "arguments": arguments, "requestState": second["requestState"]}))
    assert third["inputRequests"].keys() == second["inputRequests"].keys(), third
    assert one.tool_result(again(third, yes))["structuredContent"]["value"] == "erasederased"
    first = one.tool_result(one.send_tool("execute", **arguments))
    refused = one.tool_result(again(first, {"action": "decline"}))
    assert refused["isError"] and "approved" in refused["content"][0]["text"], refused
    # One that is cancelled after it was taken up again.
    first = one.tool_result(one.send_tool("execute", **arguments))
    held = one.tool_result(one.send_tool("execute", **arguments))
    assert held["resultType"] == "input_required"
    one.end()


HOLDS = "hold() return erase_it('/a')"  # the tool waits for the file GO


class Held:
    """A server whose code stands in a tool of the host until it may go on, so that no clock decides
    what comes first."""

    def __init__(self, version):
        self.go = os.path.join(WORK, "go")
        config = os.path.join(WORK, "held.toml")
        wait = "until [ -e \"$0\" ]; do sleep 0.02; done"
        with open(config, "w", encoding="utf-8") as file:
            file.write("[session]\nstart_timeout = 600\ntimeout = 0\ndeadline = 0\ninterrupt_grace = 60\n"
                       "[[tools]]\nprovider = 'command'\n"
                       "[[tools.tool]]\nname = 'hold'\ntimeout = 600\ncommand = %s\n"
                       "[[tools.tool]]\nname = 'erase-it'\ncommand = ['/bin/echo', 'erased']\n"
                       "parameters = { path = 'string' }\noutput = 'text'\napprove = true\n"
                       % json.dumps(["/bin/sh", "-c", wait, self.go]))
        os.chmod(config, 0o600)
        self.one = Client([LAZARET, "mcp", "--config", config, "--set", "mcp.structured=true"], SCHEMAS,
                          version, {"elicitation": {"form": {}}})

    def going_on(self):
        """Code that goes on without a call that waits for it."""
        self.stop()
        result = self.one.tool("execute", wait=1, code=HOLDS, runtime="lua")["structuredContent"]
        assert result["verdict"] == "running", result
        with open(self.go, "w", encoding="utf-8"):
            return {"execution": result["execution"]}

    def stop(self):
        if os.path.exists(self.go):
            os.remove(self.go)


def asks_whoever_waits_again(version):
    """The call needs an approval when no call waits for its execution, or one just begins to."""
    held = Held(version)
    one = held.one
    yes = {"action": "accept", "content": {"approve": True}}
    arguments = {**held.going_on(), "seconds": 60}
    time.sleep(0.2)  # most likely it asks before anybody waits; who does is asked in any case
    ident = one.send_tool("wait", **arguments)
    if version == MODERN:
        asked = one.tool_result(ident)
        (key,) = asked["inputRequests"]
        ident = one.send("tools/call", {"name": "wait", "arguments": arguments,
                                        "requestState": asked["requestState"],
                                        "inputResponses": {key: yes}})
    else:
        one.until(lambda: one.asked)
        one.line({"jsonrpc": "2.0", "id": one.asked.pop()["id"], "result": yes})
    assert one.tool_result(ident)["structuredContent"]["value"] == "erased"
    one.end()


def answers_all_who_wait_for_an_answer():
    held = Held(MODERN)
    one = held.one
    yes = {"action": "accept", "content": {"approve": True}}
    code = {"code": HOLDS, "runtime": "lua"}

    def again(name, arguments, result):
        (key,) = result["inputRequests"]
        return one.send("tools/call", {"name": name, "arguments": arguments,
                                       "requestState": result["requestState"],
                                       "inputResponses": {key: yes}})

    # A question that answers `wait`: it is called again, and so is `execute`.
    for name in ("wait", "execute"):
        handle = {**held.going_on(), "seconds": 3600}
        asked = one.tool_result(one.send_tool("wait", **handle))
        assert asked["resultType"] == "input_required", asked
        other = one.send_tool("wait", **handle)
        ended = one.tool_result(again(name, handle if name == "wait" else code, asked))
        assert ended["structuredContent"]["value"] == "erased", ended
        assert "another call" in one.tool_result(other)["content"][0]["text"]
    # Who interrupts what waits for an approval gets its result at once.
    asked = one.tool_result(one.send_tool("execute", **code))
    assert asked["resultType"] == "input_required", asked
    ended = one.tool("interrupt")
    assert ended["structuredContent"]["verdict"] == "cancelled", ended
    one.end()


def passes_traces_on(version):
    audit = os.path.join(WORK, "audit-%s.jsonl" % version)
    if os.path.exists(audit):
        os.unlink(audit)
    one = client(version, "--set", "audit.file=" + audit)
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    meta = {"traceparent": parent, "tracestate": "a=1,b=2"}
    ident = one.send_tool("execute", meta, code="return trace()", runtime="lua")
    result = one.tool_result(ident)
    assert result["structuredContent"]["value"] == parent + " a=1,b=2", result
    assert result["_meta"]["traceparent"] == parent, result
    assert result["_meta"]["tracestate"] == "a=1,b=2", result
    for wrong in ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", "x", "00-" + "a" * 500):
        ident = one.send_tool("execute", {"traceparent": wrong}, code="return trace()", runtime="lua")
        result = one.tool_result(ident)
        assert result["structuredContent"]["value"] == " ", result
        assert "traceparent" not in result.get("_meta", {}), result
    one.end()
    with open(audit, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    traced = [record["event"] for record in records if record.get("traceparent") == parent]
    assert sorted(traced) == ["execute_complete", "execute_start", "tool_call", "tool_result"], traced
    assert sum("traceparent" in record for record in records) == 4


def says_what_the_network_list_has(version):
    one = share(version)
    listed = one.result("tools/list")["tools"][0]
    assert " It has no network. " in listed["description"], listed
    give_back(one)
    rules = ['{ host = "db.internal:5432", to = ["10.0.0.0/8"] }']
    rules += ['"%d.example.com"' % i for i in range(30)]
    one = client(version, "--set", "sandbox.backend=bwrap", "--set",
                 "network.allow=[%s]" % ", ".join(rules))
    listed = one.result("tools/list")["tools"][0]
    says = "Of the network it reaches only db.internal:5432, 0.example.com, 1.example.com,"
    assert says in listed["description"], listed
    assert "18.example.com and 11 more." in listed["description"], listed
    assert listed["annotations"].get("openWorldHint") is None, listed
    got = one.tool("execute", code="import socket\nsocket.gethostbyname('evil.example')", runtime="python")
    denial = got["structuredContent"]["denials"][0]
    assert denial["name"] == "evil.example" and denial["source"] == "network", denial
    assert "lazaret: network: evil.example is not in the network list" in got["content"][0]["text"], got
    assert not got["structuredContent"].get("warnings"), got
    one.end()


def says_where_the_host_authenticates(version):
    with tempfile.TemporaryDirectory(dir=WORK) as directory:
        tokens = credential_server.Tokens(directory)
        with open(os.path.join(directory, "token"), "w", encoding="ascii") as file:
            file.write(tokens.token("host"))
        os.chmod(file.name, 0o600)
        credentials = ['{ host = "%s", name = "ours", header = "Authorization: Bearer {secret}", ca = "%s", '
                       'secret = { file = "%s" }, methods = ["GET"], paths = ["/v1/*"], '
                       'placeholder = { env = "API_TOKEN" } }' % (tokens.host, tokens.ca, file.name)]
        credentials += ['{ host = "%d.example.com", query = "key", secret = { env = "NO_SUCH_ONE" } }' % i
                        for i in range(21)]
        one = client(version, "--set", "sandbox.backend=bwrap", "--set", 'network.allow=["%s"]' % tokens.rule,
                     "--set", 'network.hosts={ "%s" = "127.0.0.1" }' % credential_server.NAME,
                     "--set", "network.credential=[%s]" % ", ".join(credentials))
        told = one.result("tools/list")["tools"][0]["description"]
        assert " Requests to %s (only GET /v1/*), 0.example.com, 1" % tokens.host in told, told
        says = "18.example.com and 2 more are authenticated by the host: send no token; $API_TOKEN is a placeholder"
        assert says in told, told
        got = one.tool("execute", code=tokens.code(), runtime="python")["structuredContent"]
        assert got["value"] == "welcome host", got
        assert got["credentials"] == [{"name": "ours", "host": credential_server.NAME, "count": 1}], got
        got = one.tool("execute", code="1", runtime="python")["structuredContent"]
        assert "credentials" not in got, got
        one.end()
    one = share(version)
    told = one.result("tools/list")["tools"][0]["description"]
    give_back(one)
    assert "authenticated" not in told, told


def main():
    with open(CONFIG, "w", encoding="utf-8") as file:
        file.write(
            """
[session]
start_timeout = 600
timeout = 0
deadline = 0
interrupt_grace = 60
[[tools]]
provider = "command"
[[tools.tool]]
name = "echo_back"
description = "Echoes a text.\\nAnd says no more."
command = ["/usr/bin/printf", "--", "%s", "{text}"]
parameters = { text = "string" }
returns = { properties = { length = { type = "integer" }, text = { type = "string" } }, required = ["length"] }
output = "text"
[[tools.tool]]
name = "trace"
command = ["/bin/sh", "-c", "echo \\"$TRACEPARENT $TRACESTATE\\""]
output = "text"
[[tools.tool]]
name = "erase-it"
command = ["/bin/echo", "erased"]
parameters = { path = "string" }
output = "text"
approve = true
"""
        )
    cases = [("agrees_on_a_version", agrees_on_a_version, ()),
             ("knows_its_eras", knows_its_eras, ()),
             ("listens_to_the_end", listens_to_the_end, ()),
             ("asks_by_an_answer", asks_by_an_answer, ()),
             ("answers_all_who_wait_for_an_answer", answers_all_who_wait_for_an_answer, ()),
             ("declares_little", declares_little, ()),
             ("admits_what_code_may_change", admits_what_code_may_change, ()),
             ("says_what_a_sandbox_does_not_do", says_what_a_sandbox_does_not_do, (MODERN,)),
             ("says_what_the_network_list_has", says_what_the_network_list_has, (MODERN,)),
             ("says_where_the_host_authenticates", says_where_the_host_authenticates, (MODERN,))]
    for version in VERSIONS:
        for case in (describes_itself, tells_what_there_is, refuses_what_is_wrong, executes,
                     keeps_sessions, moves_files, is_used_by_a_model,
                     names_what_is_lost, asks_whoever_waits_again,
                     bounds_what_is_long, bounds_errors_and_warnings,
                     shows_what_a_terminal_would_obey, reports_progress_and_stops, finds_functions,
                     is_served_to_the_end, asks_nobody_who_cannot_answer, passes_traces_on):
            cases.append(("%s %s" % (case.__name__, version), case, (version,)))
        if version != MODERN:
            cases.append(("asks_by_a_request " + version, asks_by_a_request, (version,)))
    only = os.environ.get("MCP_ONLY", "")
    run([case for case in cases if only in case[0]])


main()
