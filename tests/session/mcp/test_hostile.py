# SPDX-License-Identifier: MIT
"""Clients of `lazaret mcp` that break the rules: each is bounded and answered, and who keeps them is
served afterwards. The list of all is in docs/threat-model.md. test_hostile.py LAZARET SCHEMAS WORK.
Masses are two thousand, far beyond each bound; with LAZARET_TEST_FULL=yes they are ten thousand."""

import array
import base64
import fcntl
import json
import os
import sys
import termios
import time

from client import META, MODERN, SLEEPS, Client, run

LAZARET, SCHEMAS, WORK = sys.argv[1:4]
OPEN = ["--set", "sandbox.backend=none", "--set", "sandbox.require=[]", "--runtime", "lua"]
PATIENT = ["--set", "session.start_timeout=600", "--set", "session.timeout=0",
           "--set", "session.deadline=0"]
FULL = bool(os.environ.get("LAZARET_TEST_FULL"))
MASSES = 10000 if FULL else 2000
# Sanitizers would keep what was freed, and the memory in use is looked at.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"


def client(*options, version=MODERN, capabilities=None):
    command = [LAZARET, "mcp", *OPEN, *PATIENT, "--set", "mcp.structured=true", *options]
    return Client(command, SCHEMAS, version, capabilities)


def in_masses(one):
    """Of what follows a sample is checked: it is always the same."""
    one.schemas.every = 100


def is_served(one):
    assert one.value("6 * 7") == 42


def memory_mib(one, what="VmRSS"):
    with open("/proc/%d/status" % one.process.pid, encoding="ascii") as file:
        (line,) = [line for line in file if line.startswith(what + ":")]
    return int(line.split()[1]) // 1024


def an_endless_line_ends_its_connection():
    one = client("--set", "session.max_value_size=64KiB")
    is_served(one)
    one.raw(b'{"jsonrpc":"2.0","id":9,"method":"')
    try:
        for _ in range(64):
            one.raw(b"x" * 65536)
    except BrokenPipeError:
        pass  # it has ended
    one.until(lambda: None in one.answered)
    (answer,) = one.answered[None]
    assert "session.max_value_size" in answer["error"]["message"], answer
    one.end(125)


def deep_nesting_is_no_message():
    one = client()
    for depth in (60, 65, 10000, 1000000):
        nest = b"[" * depth + b"]" * depth
        one.waiting["deep"] = "tools/list"
        one.raw(b'{"jsonrpc":"2.0","id":"deep","method":"tools/list","params":{"x":' + nest + b"}}\n")
        one.until(lambda: None in one.answered or "deep" in one.answered)
        if depth == 60:
            assert one.answered.pop("deep")["error"]["code"] == -32602
        else:
            (answer,) = one.answered.pop(None)
            assert answer["error"]["code"] == -32700, answer
        is_served(one)
    one.waiting.pop("deep", None)
    one.end()


def an_id_is_used_once_at_a_time():
    one = client()
    one.send("tools/call", {"name": "execute", "arguments": {"code": "while true do end"}}, ident="a")
    for spelled in (b'"a"', b'"\\u0061"'):
        one.raw(b'{"jsonrpc":"2.0","id":' + spelled + b',"method":"tools/list"}\n')
        line = json.loads(one.reader.readline())
        assert line["id"] == "a" and line["error"]["code"] == -32600, line
    one.tell("notifications/cancelled", {"requestId": "a"})
    one.waiting.pop("a")
    one.send("tools/call", {"name": "execute", "arguments": {"code": "1"}}, ident="a")
    assert one.wait("a")["result"]["structuredContent"]["value"] == 1
    one.end()


def thousands_of_requests_are_answered():
    one = client("--set", "pool.max_sessions=8", "--set", "pool.max_waiting=1")
    in_masses(one)
    running = [one.send_tool("execute", code=SLEEPS, fresh=True) for _ in range(8)]
    params = one.params({"name": "execute", "arguments": {"code": "1", "fresh": True}}, {})
    lines = []
    for number in range(MASSES):
        one.waiting["n%d" % number] = "tools/call"
        message = {"jsonrpc": "2.0", "id": "n%d" % number, "method": "tools/call", "params": params}
        lines.append(json.dumps(message).encode() + b"\n")
    writer = os.fork()
    if writer == 0:  # who writes, while this one reads
        one.raw(b"".join(lines))
        os._exit(0)
    one.until(lambda: len(one.answered) == MASSES - 1)  # one waits for its turn
    os.waitpid(writer, 0)
    for answer in one.answered.values():
        result = answer["result"]
        assert result["isError"] and "pool.max_waiting" in result["content"][0]["text"], result
    assert memory_mib(one) < 512
    one.answered.clear()
    for ident in running:
        one.tell("notifications/cancelled", {"requestId": ident})
        one.waiting.pop(ident)
    one.until(lambda: one.answered)  # one of them has ended, and it has its turn
    one.answered.clear()
    one.end()


def wrong_types_are_refused():
    one = client()
    wrong = [None, True, -1, 1.5, 10**30, "", "x", [], [1], {}, {"a": 1}]
    count = 0
    for method in ("tools/list", "tools/call", "resources/read", "server/discover",
                   "subscriptions/listen", "resources/list"):
        for key in ("name", "arguments", "uri", "cursor", "requestState", "inputResponses", "_meta",
                    "notifications"):
            for value in wrong:
                params = one.params({"name": "execute"}, {})
                params[key] = value
                ident = "w%d" % count
                count += 1
                one.waiting[ident] = method
                one.line({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
    for key in ("code", "runtime", "session", "timeout", "files"):
        for value in wrong:
            arguments = {"code": "1"}
            arguments[key] = value
            ident = "w%d" % count
            count += 1
            one.waiting[ident] = "tools/call"
            one.line({"jsonrpc": "2.0", "id": ident, "method": "tools/call",
                      "params": one.params({"name": "execute", "arguments": arguments}, {})})
    for key in ("protocolVersion", "clientCapabilities", "clientInfo"):
        for value in wrong:
            ident = "w%d" % count
            count += 1
            one.waiting[ident] = "tools/list"
            one.line({"jsonrpc": "2.0", "id": ident, "method": "tools/list",
                      "params": one.params({}, {META + key: value})})
    for value in wrong:
        ident = "w%d" % count
        count += 1
        one.waiting[ident] = "tools/call"
        one.line({"jsonrpc": "2.0", "id": ident, "method": "tools/call",
                  "params": one.params({"name": "execute", "arguments": {"code": "1"}},
                                       {"progressToken": value, "traceparent": "x"})})
    listens = {ident for ident, method in one.waiting.items() if method == "subscriptions/listen"}
    one.until(lambda: len(one.waiting) <= len(listens) and one.waiting.keys() <= listens)
    is_served(one)
    one.answered.clear()
    one.end()


def forged_handles_open_nothing():
    one = client()
    session = one.tool("open_session")["structuredContent"]["session"]
    assert one.value("secret = 'kept'", session=session) is None
    number, proof = session[1:].split("-")
    forged = ["s1-" + "0" * 16, "s%s-%s" % (int(number) + 1, proof), "s%s-%s" % (number, "0" * 16),
              "r%s-%s" % (number, proof), "q%s-%s" % (number, proof), "s-1-" + proof, "s" + "9" * 300,
              session.upper(), session + " ", " " + session, "", "s", "s0-", "s1", "\u202e" + session]
    for handle in forged:
        assert "not a session" in one.refused("execute", code="secret", session=handle)
        assert "not a session" in one.refused("close_session", session=handle)
        for uri in ("lazaret://result/%s/x" % handle, "lazaret://result/" + handle, handle):
            assert one.error("resources/read", {"uri": uri})["code"] == -32602
            one.refused("execute", code="1", files=[{"name": "x", "uri": uri}])
        params = {"name": "execute", "arguments": {"code": "secret"}, "requestState": handle,
                  "inputResponses": {"approval-1": {"action": "accept", "content": {"approve": True}}}}
        assert one.error("tools/call", params)["code"] == -32602
    assert one.value("secret", session=session) == "kept"
    one.end()


def storms_of_cancels_harm_nobody():
    one = client()
    in_masses(one)
    session = one.tool("open_session")["structuredContent"]["session"]

    def cancels(idents, **more):
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        return b"".join(
            json.dumps({**message, "params": {"requestId": ident, **more}}).encode() + b"\n"
            for ident in idents
        )

    one.raw(cancels(range(MASSES)))
    one.raw(cancels(("id-%d" % number for number in range(MASSES)), reason="\x1b[2J" * 9))
    is_served(one)
    for _ in range(50 if FULL else 15):
        ident = one.send_tool("execute", code="while true do end", session=session)
        one.raw(cancels([ident] * 20))
        one.waiting.pop(ident)
        # The session is free again as soon as the cancelled execution has ended.
        one.until_done("execute", code="1", session=session)
    for line in ("{}", '{"requestId":{}}', '{"requestId":[1]}', '{"requestId":null}', "[]", "null"):
        one.raw(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}\n' % line.encode())
    one.answered.pop(None, None)
    one.end()


def one_that_never_reads_is_held_up():
    one = client()
    in_masses(one)
    made = one.tool("execute", code="io.open('artifacts/big', 'w'):write(('x'):rep(500000)):close()")
    uri = made["structuredContent"]["files"][0]["uri"]
    params = one.params({"uri": uri}, {})
    reads, most = (250, 128) if FULL else (120, 64)  # the answers have more MiB than the most
    for number in range(reads):
        one.waiting["n%d" % number] = "resources/read"
    writer = os.fork()
    if writer == 0:
        for number in range(reads):
            one.line({"jsonrpc": "2.0", "id": "n%d" % number, "method": "resources/read",
                      "params": params})
        os._exit(0)
    unread = array.array("i", [0])
    size = fcntl.fcntl(one.process.stdout, 1032)  # F_GETPIPE_SZ; small where the user has many pipes
    while unread[0] < size:  # nothing more fits
        time.sleep(0.01)
        fcntl.ioctl(one.process.stdout, termios.FIONREAD, unread)
    for number in range(reads):
        assert len(one.wait("n%d" % number)["result"]["contents"][0]["blob"]) > 600000
    os.waitpid(writer, 0)
    assert memory_mib(one, "VmHWM") < most
    is_served(one)
    one.end()


def hostile_file_names_and_huge_files():
    one = client("--set", "session.max_value_size=1MiB")
    for name in ("", ".", "..", "a/b", "/etc/passwd", "a\\b", "a\nb", "\x1b[2J", "\u202ea", "x" * 256,
                 "a\u0085b"):
        one.refused("execute", code="1", files=[{"name": name, "text": "x"}])
    for name in ("-rf", "~", "con", "a b", "'; rm", "\u00e9" * 127, "$(reboot)", "x" * 255):
        code = "return io.open(%s, 'rb'):read('a')" % json.dumps(name, ensure_ascii=False)
        assert one.value(code, files=[{"name": name, "text": "kept"}]) == "kept", name
    huge = base64.b64encode(bytes(600000)).decode()
    assert one.value("return #io.open('x'):read('a')", files=[{"name": "x", "base64": huge}]) == 600000
    made = one.tool("execute", code="io.open('artifacts/big', 'w'):write(('x'):rep(900000)):close()")
    uri = made["structuredContent"]["files"][0]["uri"]
    many = [{"name": "f%d" % i, "uri": uri} for i in range(64)]
    assert "not answered" in one.refused("execute", code="1", files=many)
    assert one.value("return #io.open('f0'):read('a')", files=many[:1]) == 900000
    is_served(one)
    one.end()


def sessions_are_bounded():
    one = client("--set", "pool.max_sessions=5")
    handles = []
    for _ in range(100):
        result = one.tool("open_session")
        if result.get("isError"):
            assert "pool.max_sessions" in result["content"][0]["text"], result
        else:
            handles.append(result["structuredContent"]["session"])
    assert len(handles) == 5, handles
    assert "pool.max_sessions" in one.refused("execute", code="1")
    one.tool("close_session", session=handles[0])
    is_served(one)
    assert one.value("1", session=handles[4]) == 1
    one.end()


def subscriptions_are_bounded():
    one = client()
    idents = [one.send("subscriptions/listen", {"notifications": {}}) for _ in range(100)]
    one.until(lambda: len(one.answered) == 84)
    assert len(one.told) == 16
    one.answered.clear()
    is_served(one)
    one.end()
    assert len(one.answered) == 16 and set(one.answered) <= set(idents)


def answers_to_nothing_are_ignored():
    one = client(version="2025-11-25", capabilities={"elicitation": {}})
    for number in range(MASSES):
        one.line({"jsonrpc": "2.0", "id": "approval-%d" % number,
                  "result": {"action": "accept", "content": {"approve": True}}})
        one.line({"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "x"}})
    one.raw(b'{"jsonrpc":"2.0","result":{}}\n')  # of nothing at all
    one.until(lambda: None in one.answered)
    is_served(one)
    one.end()


def a_line_may_come_byte_by_byte_or_be_odd():
    one = client()
    one.waiting["slow"] = "tools/list"
    line = json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "tools/list",
                       "params": one.params({}, {})}).encode() + b"\r\n"
    for byte in line:
        one.raw(bytes([byte]))
    assert one.wait("slow")["result"]["tools"]
    for name in ("m" * 100000, "\x1b]0;x\x07", "\u202e"):
        assert one.error(name)["code"] == -32601
    one.end()


def one_that_leaves_takes_all_with_it():
    one = client()
    for _ in range(5):
        one.send_tool("execute", code="while true do end")
        one.tool("open_session")
    one.process.stdin.close()
    one.process.stdout.close()
    one.reader.close()
    assert one.process.wait() == 0


def main():
    cases = [(case.__name__, case, ()) for case in (
        an_endless_line_ends_its_connection, deep_nesting_is_no_message, an_id_is_used_once_at_a_time,
        thousands_of_requests_are_answered, wrong_types_are_refused, forged_handles_open_nothing,
        storms_of_cancels_harm_nobody, one_that_never_reads_is_held_up,
        hostile_file_names_and_huge_files, sessions_are_bounded, subscriptions_are_bounded,
        answers_to_nothing_are_ignored, a_line_may_come_byte_by_byte_or_be_odd,
        one_that_leaves_takes_all_with_it)]
    only = os.environ.get("MCP_ONLY", "")
    run([case for case in cases if only in case[0]])


main()
