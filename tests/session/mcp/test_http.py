# SPDX-License-Identifier: MIT
"""`lazaret mcp --listen`: both eras by HTTP, who may use it, and clients that break the rules.
test_http.py LAZARET SCHEMAS WORK. Ends with 77 where it was built without."""

import atexit
import http.client
import json
import os
import select
import socket
import stat
import subprocess
import sys
import time

from client import META, MODERN, SLEEPS, Schemas, run

LAZARET, SCHEMAS, WORK = sys.argv[1:4]
TOKEN = os.path.join(WORK, "token")
OPEN = ["--set", "sandbox.backend=none", "--set", "sandbox.require=[]", "--runtime", "lua",
        "--set", "session.start_timeout=600", "--set", "session.timeout=0",
        "--set", "session.deadline=0", "--set", "session.max_value_size=1MiB"]
CONFIG = os.path.join(WORK, "http.toml")
MODERN_SCHEMAS = Schemas(SCHEMAS, MODERN)
LEGACY_SCHEMAS = Schemas(SCHEMAS, "2025-11-25")


class Server:
    def __init__(self, *options, place="127.0.0.1:0"):
        command = [LAZARET, "mcp", "--config", CONFIG, *OPEN, "--set", "mcp.structured=true",
                   "--listen", place, *options]
        if "/" not in place:
            command += ["--token-file", TOKEN]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        atexit.register(self.process.kill)  # of a test that fails
        line = self.process.stderr.readline().decode()
        assert "listening at" in line, line
        self.address = line.split()[-1]
        self.port = int(self.address.split(":")[2].split("/")[0]) if "/" not in place else 0
        self.token = open(TOKEN, encoding="ascii").read().strip() if self.port else None

    def end(self):
        self.process.terminate()
        assert self.process.wait() == 143, self.process.returncode
        self.process.stderr.close()


def headers_of(server, **more):
    headers = {"Content-Type": "application/json",
               "Accept": "application/json, text/event-stream",
               "Authorization": "Bearer %s" % server.token,
               "MCP-Protocol-Version": MODERN}
    for name, value in more.items():
        name = name.replace("_", "-")
        headers.pop(name, None)
        if value is not None:
            headers[name] = value
    return headers


def repeated(body):
    """What headers repeat of a request without a handshake."""
    params = body.get("params", {}) if isinstance(body, dict) else {}
    if META + "protocolVersion" not in params.get("_meta", {}):
        return {}
    member = {"tools/call": "name", "resources/read": "uri"}.get(body["method"])
    return {"Mcp_Method": body["method"], **({"Mcp_Name": params[member]} if member else {})}


def post(server, body, **more):
    """Sends a body; the connection and the response."""
    more = {**repeated(body), **more}
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    path = more.pop("path", "/mcp")
    try:
        connection.request("POST", path, data, headers_of(server, **more))
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server has answered before it had read all, and reads no more
    return connection, connection.getresponse()


def messages(response, schemas=MODERN_SCHEMAS):
    """The messages of a response, whichever way it comes, as they come."""
    if response.headers["Content-Type"] == "application/json":
        found = [json.loads(response.read())]
    else:
        assert response.headers["Content-Type"] == "text/event-stream", response.headers
        found = events(response)
    for message in found:
        if "method" in message:
            schemas.check("JSONRPCRequest" if "id" in message else "JSONRPCNotification", message)
        else:
            schemas.check("JSONRPCErrorResponse" if "error" in message
                          else "JSONRPCResultResponse", message)
        yield message


def events(response):
    data = []
    for line in iter(response.readline, b""):
        line = line.rstrip(b"\n")
        if line.startswith(b"data: "):
            data.append(line[6:])
        elif not line and data:
            yield json.loads(b"\n".join(data))
            data = []


def modern(method, params=None, ident=1, capabilities=None, **meta):
    params = dict(params or {})
    params["_meta"] = {META + "protocolVersion": MODERN,
                       META + "clientCapabilities": capabilities or {}, **meta}
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def call(server, name, arguments, more=None, **options):
    """The result of a tool."""
    params = {"name": name, "arguments": arguments, **(more or {})}
    connection, response = post(server, modern("tools/call", params, **options))
    last = list(messages(response))[-1]
    connection.close()
    assert "result" in last, last
    MODERN_SCHEMAS.check("InputRequiredResult" if last["result"]["resultType"] == "input_required"
                         else "CallToolResult", last["result"])
    return last["result"]


def is_served(server):
    assert call(server, "execute", {"code": "6 * 7"})["structuredContent"]["value"] == 42


def status_of(server, body, **more):
    connection, response = post(server, body, **more)
    message = json.loads(response.read() or b"null")
    connection.close()
    return response.status, message


def only_who_may_is_heard():
    server = Server()
    body = modern("server/discover")
    assert stat.S_IMODE(os.stat(TOKEN).st_mode) == 0o600
    for status, more in (
        (200, {}),
        (200, {"Origin": "http://localhost:3000"}),
        (200, {"Host": "localhost:1"}),
        (401, {"Authorization": None}),
        (401, {"Authorization": "Bearer " + "x" * 32}),
        (401, {"Authorization": "Bearer " + server.token + "x"}),
        (401, {"Authorization": "Basic " + server.token}),
        (403, {"Host": "evil.example"}),
        (403, {"Host": "localhost.evil.example"}),
        (403, {"Host": "127.0.0.1:1@evil.example"}),
        (403, {"Origin": "https://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "http://127.0.0.1.evil.example"}),
        (404, {"path": "/"}),
        (404, {"path": "/mcp/.."}),
        (415, {"Content_Type": "text/plain"}),
        (415, {"Content_Type": "application/jsonx"}),
        (415, {"Content_Type": "application/json-seq"}),
        (415, {"Content_Type": "application/json, text/plain"}),
        (200, {"Content_Type": "Application/JSON ; charset=utf-8"}),
        (200, {"Accept": "text/event-stream;q=0.5, application/json"}),
        (200, {"Accept": "text/html, */*"}),
        (406, {"Accept": "application/jsonx, text/event-stream"}),
        (406, {"Accept": "application/json, text/event-streams"}),
        (406, {"Accept": "application/json"}),
        (400, {"MCP_Protocol_Version": "2025-11-25"}),
        (400, {"MCP_Protocol_Version": None}),
        (400, {"Mcp_Method": "tools/call"}),
        (400, {"Mcp_Method": "Server/Discover"}),
        (400, {"Mcp_Method": None}),
        (200, {"Mcp_Method": "server/discover"}),
        (200, {"Mcp_Method": "=?base64?c2VydmVyL2Rpc2NvdmVy?="}),
        (400, {"Mcp_Method": "=?base64?c2VydmVyL2Rpc2NvdmVy"}),
        (400, {"Mcp_Method": "=?base64?c2V?="}),
    ):
        got, message = status_of(server, body, **more)
        assert got == status, (more, got, message)
    named = modern("tools/call", {"name": "search_tools", "arguments": {"query": ""}}, ident="n")
    for status, name in ((200, "search_tools"), (400, None), (400, "execute"), (400, ""),
                         (200, "=?base64?c2VhcmNoX3Rvb2xz?=")):
        got, message = status_of(server, named, Mcp_Name=name)
        assert got == status, (name, got, message)
        assert message["id"] == "n", message
        assert status == 200 or message["error"]["code"] == -32020, message
    for member in ("protocolVersion", "clientCapabilities"):
        lacks = modern("tools/list", ident=7)
        del lacks["params"]["_meta"][META + member]
        got, message = status_of(server, lacks, Mcp_Method="tools/list")
        assert got == 400 and message["error"]["code"] == -32602, (member, got, message)
        assert message["id"] == 7, message
    for status, code, body in (
        (400, -32700, b"rubbish"),
        (400, -32600, b"[]"),
        (400, -32602, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        (404, -32601, modern("prompts/list")),
        (200, -32602, modern("tools/call", {"name": "nothing"})),
    ):
        got, message = status_of(server, body)
        assert got == status and message["error"]["code"] == code, (body, got, message)
    wrong = modern("tools/list")
    wrong["params"]["_meta"][META + "protocolVersion"] = "1900-01-01"
    got, message = status_of(server, wrong, MCP_Protocol_Version="1900-01-01")
    assert got == 400 and message["error"]["code"] == -32022, message
    for method, status in (("GET", 405), ("PUT", 405), ("OPTIONS", 405), ("DELETE", 404)):
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request(method, "/mcp", headers=headers_of(server))
        assert connection.getresponse().status == status, method
        connection.close()
    is_served(server)
    server.end()


def what_may_be_there_once_is_not_there_twice():
    server = Server()
    body = json.dumps(modern("server/discover")).encode()
    usual = {"Host": "localhost", "Content-Length": str(len(body)), **headers_of(
        server, Mcp_Method="server/discover", Origin="http://localhost", Connection="close")}

    def status(name, value, first):
        twice = [(name, value)] if name else []
        lines = twice * first + list(usual.items()) + twice * (not first)
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.sendall(b"POST /mcp HTTP/1.1\r\n" + b"".join(
                b"%s: %s\r\n" % (key.encode(), text.encode()) for key, text in lines) + b"\r\n" + body)
            return int(plain.recv(65536).split()[1])

    assert status(None, None, 0) == 200
    assert status("X-Other", "1", 0) == 200
    for name, value in (("Host", "localhost"), ("HOST", "evil.example"), ("Origin", "http://localhost"),
                        ("Authorization", usual["Authorization"]), ("authorization", "Bearer x"),
                        ("Content-Length", usual["Content-Length"]), ("Content-Type", "text/plain"),
                        ("Mcp-Protocol-Version", "2025-11-25"), ("Mcp-Method", "tools/call")):
        for first in (0, 1):
            assert status(name, value, first) == 400, (name, value, first)
    usual["Mcp-Session-Id"] = usual["Mcp-Name"] = "x"
    for name in "Mcp-Session-Id", "Mcp-Name":
        assert status(name, "y", 0) == 400, name
    is_served(server)
    server.end()


def a_message_has_one_end():
    """Who passes requests on may see another one, and take the rest for a request."""
    server = Server()
    body = json.dumps(modern("server/discover")).encode()
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    usual = headers_of(server, Host="localhost", Mcp_Method="server/discover")

    def answers(data, *lines):
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.sendall("\r\n".join(["POST /mcp HTTP/1.1", *map(": ".join, usual.items()), *lines,
                                      "", ""]).encode() + data)
            plain.shutdown(socket.SHUT_WR)
            got = b"".join(iter(lambda: plain.recv(65536), b""))
            return [int(part.split()[0]) for part in got.split(b"HTTP/1.1 ")[1:]]

    rest = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert answers(body, f"Content-Length: {len(body)}") == [200]
    assert answers(chunks, "Transfer-Encoding: Chunked") == [200]
    for length in 5, len(body), len(chunks) + len(rest):
        assert answers(chunks + rest, "Transfer-Encoding: chunked", f"Content-Length: {length}") == [400]
        assert answers(chunks + rest, f"Content-Length: {length}", "Transfer-Encoding: chunked") == [400]
    for coding in "xchunked", "identity, chunked", "gzip", "chunked;x=1":
        assert answers(chunks, f"Transfer-Encoding: {coding}") == [400], coding
    assert answers(body + rest, f"Content-Length: {len(body)}", "Transfer-Encoding : chunked") == [400]
    is_served(server)
    server.end()


def a_token_is_kept_and_private():
    server = Server()
    first = server.token
    server.end()
    server = Server()
    assert server.token == first
    server.end()
    os.chmod(TOKEN, 0o644)
    command = [LAZARET, "mcp", *OPEN, "--set", "mcp.structured=true", "--listen", "127.0.0.1:0",
               "--token-file", TOKEN]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert done.returncode != 0 and b"chmod 600" in done.stderr, done
    os.chmod(TOKEN, 0o600)
    for place, word in (("0.0.0.0:0", b"not this machine"), ("example.org:80", b"not this machine"),
                        ("127.0.0.1", b"HOST:PORT"), ("127.0.0.1:99999", b"HOST:PORT")):
        done = subprocess.run(command[:-3] + [place, "--token-file", TOKEN],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        assert done.returncode != 0 and word in done.stderr, (place, done)
    done = subprocess.run(command[:-2], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert done.returncode != 0 and b"--token-file" in done.stderr, done


def each_request_says_all_itself():
    server = Server()
    session = call(server, "open_session", {})["structuredContent"]["session"]
    assert "value" in call(server, "execute", {"code": "n = 5", "session": session})["structuredContent"]
    assert call(server, "execute", {"code": "n", "session": session})["structuredContent"]["value"] == 5
    # The same id in two connections at once: they are two clients.
    streams = [post(server, modern("tools/call", {"name": "execute", "arguments": {"code": SLEEPS}},
                                   progressToken=7)) for _ in range(3)]
    for _, response in streams:
        told = next(events(response))
        assert told["method"] == "notifications/progress" and told["params"]["progressToken"] == 7
    for connection, response in streams:
        response.close()
        connection.close()
    # Who leaves has cancelled: the session is free again.
    connection, response = post(server, modern("tools/call", {
        "name": "execute", "arguments": {"code": SLEEPS, "session": session}}, progressToken=7))
    next(events(response))
    assert call(server, "execute", {"code": "1", "session": session})["isError"]
    response.close()
    connection.close()
    while call(server, "execute", {"code": "1", "session": session})["isError"]:
        time.sleep(0.01)
    # A question is an answer.
    capabilities = {"elicitation": {}}
    asked = call(server, "execute", {"code": "return erase()"}, capabilities=capabilities)
    assert asked["resultType"] == "input_required", asked
    (key,) = asked["inputRequests"]
    more = {"requestState": asked["requestState"],
            "inputResponses": {key: {"action": "accept", "content": {"approve": True}}}}
    done = call(server, "execute", {"code": ""}, more, capabilities=capabilities)
    assert done["structuredContent"]["value"] == "erased", done
    # A subscription is a stream to the end of the server.
    connection, response = post(server, modern("subscriptions/listen", {"notifications": {}}, ident="l"))
    stream = events(response)
    assert next(stream)["method"] == "notifications/subscriptions/acknowledged"
    server.process.terminate()
    last = next(stream)
    assert last["id"] == "l" and last["result"]["resultType"] == "complete", last
    assert server.process.wait() == 143


def a_handshake_opens_a_session_of_the_protocol():
    server = Server()
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "x", "version": "1"}}}
    connection, response = post(server, begin, MCP_Protocol_Version=None)
    ident = response.headers["Mcp-Session-Id"]
    (answer,) = messages(response, LEGACY_SCHEMAS)
    LEGACY_SCHEMAS.check("InitializeResult", answer["result"])
    more = {"MCP_Protocol_Version": "2025-11-25", "Mcp_Session_Id": ident}
    assert status_of(server, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **more)[0] == 202
    got, message = status_of(server, {"jsonrpc": "2.0", "id": 2, "method": "ping"}, **more)
    assert got == 200 and message["result"] == {}, message
    asking = {"jsonrpc": "2.0", "id": 3, "method": "tools/call",
              "params": {"name": "execute", "arguments": {"code": "return erase()"}}}
    connection, response = post(server, asking, **more)
    stream = messages(response, LEGACY_SCHEMAS)
    question = next(stream)
    assert question["method"] == "elicitation/create", question
    yes = {"jsonrpc": "2.0", "id": question["id"],
           "result": {"action": "accept", "content": {"approve": True}}}
    # Another client cannot answer for it.
    _, other = post(server, begin, MCP_Protocol_Version=None)
    others = other.headers["Mcp-Session-Id"]
    other.read()
    assert others != ident
    assert status_of(server, yes, MCP_Protocol_Version=None, Mcp_Session_Id=others)[0] == 202
    no = {"jsonrpc": "2.0", "id": "nothing", "result": {}}
    assert status_of(server, no, **more)[0] == 202
    assert status_of(server, yes, **more)[0] == 202
    assert next(stream)["result"]["structuredContent"]["value"] == "erased"
    for wrong, status in (("x" * 32, 404), ("x", 404), (ident[:-1] + "-", 404), (None, 400)):
        got, _ = status_of(server, {"jsonrpc": "2.0", "id": 2, "method": "ping"},
                           MCP_Protocol_Version=None, Mcp_Session_Id=wrong)
        assert got == status, (wrong, got)
    # A version that the server does not speak, whatever is asked.
    old = {**more, "MCP_Protocol_Version": "1999-01-01"}
    for body, headers in (({"jsonrpc": "2.0", "id": 2, "method": "ping"}, old),
                          ({"jsonrpc": "2.0", "method": "notifications/initialized"}, old),
                          (begin, {**old, "Mcp_Session_Id": None})):
        got, message = status_of(server, body, **headers)
        assert got == 400 and "MCP-Protocol-Version" in message["error"]["message"], message
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("DELETE", "/mcp", headers=headers_of(server, **old))
    assert connection.getresponse().status == 400
    connection.close()
    for status in (204, 404):
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("DELETE", "/mcp", headers=headers_of(server, Mcp_Session_Id=ident))
        assert connection.getresponse().status == status
    is_served(server)
    # Clients that only ever begin are bounded: the oldest goes.
    for _ in range(80):
        _, last = post(server, begin, MCP_Protocol_Version=None)
        last.read()
    assert status_of(server, no, MCP_Protocol_Version=None, Mcp_Session_Id=others)[0] == 404
    server.end()


def what_is_too_much_is_refused():
    server = Server()
    assert status_of(server, b" " * (1 << 21))[0] == 413
    for data in (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100000,
                 b"\x00" * 100000, b"POST /mcp HTTP/9.9\r\n\r\n", b"\r\n" * 1000,
                 b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                 b"Authorization: Bearer " + server.token.encode() + b"\r\n"
                 b"Content-Type: application/json\r\nAccept: */*\r\n\r\n" + b"10000\r\n" +
                 b"x" * 65536 + b"\r\n" * 1):
        plain = socket.create_connection(("127.0.0.1", server.port))
        plain.setblocking(False)
        try:
            for _ in range(40):
                plain.send(data)
        except OSError:
            pass  # it was disconnected, or is not read
        plain.close()
        is_served(server)
    server.end()


def strangers_lock_nobody_out():
    """Who has shown no token has places apart, and the oldest of them goes for the next."""
    server = Server()
    body = modern("server/discover")
    known = [post(server, body) for _ in range(60)]
    for _, answer in known:
        assert answer.status == 200 and answer.read(), answer.status
    silent = []
    for _ in range(200):
        one = socket.create_connection(("127.0.0.1", server.port))
        one.sendall(b"POST /mcp HTTP/1.1\r\nHost: local")
        silent.append(one)
        if len(silent) % 50 == 0:
            assert status_of(server, body)[0] == 200
    for _ in range(100):
        assert status_of(server, body, Authorization="Bearer x")[0] == 401
    gone = 0
    for one in silent:
        gone += len(select.select([one], [], [], 0)[0])
    assert 200 - 64 <= gone < 200, gone
    # On the same connections: nobody has taken their places.
    for connection, _ in known:
        sock = connection.sock
        connection.request("POST", "/mcp", json.dumps(body).encode(),
                           headers_of(server, **repeated(body)))
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read() and connection.sock is sock, answer.status
    for one in silent + [connection for connection, _ in known]:
        one.close()
    is_served(server)
    server.end()


def a_socket_is_of_this_user_alone():
    path = os.path.join(WORK, "socket")
    server = Server(place=path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    plain = socket.socket(socket.AF_UNIX)
    plain.connect(path)
    body = json.dumps(modern("tools/list")).encode()
    plain.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                  b"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                  b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    answer = b"".join(iter(lambda: plain.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 ") and b"get_tool_details" in answer, answer[:300]
    server.end()
    assert not os.path.exists(path)


def a_wait_that_is_left_ends_no_execution():
    server = Server()
    held = call(server, "execute", {"code": "os.execute('sleep 3') return 9", "wait": 1})
    held = held["structuredContent"]["execution"]
    body = modern("tools/call", {"name": "wait", "arguments": {"execution": held}})
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/mcp", json.dumps(body), headers_of(server, **repeated(body)))
    connection.close()
    ended = call(server, "wait", {"execution": held, "seconds": 600})
    while ended["isError"] and "another call" in ended["content"][0]["text"]:
        time.sleep(0.1)  # that the client has left is not noticed yet
        ended = call(server, "wait", {"execution": held, "seconds": 600})
    assert ended["structuredContent"]["value"] == 9, ended
    server.end()


def without_its_library_it_says_so():
    directory = os.path.join(WORK, "broken")
    place = os.path.join(WORK, "none")
    os.mkdir(directory)
    for number in range(10, 20):
        with open(os.path.join(directory, "libmicrohttpd.so.%d" % number), "w", encoding="ascii") as file:
            file.write("this is not a library\n")
    env = dict(os.environ, LD_LIBRARY_PATH=directory)
    told = subprocess.run([LAZARET, "mcp", "--config", CONFIG, *OPEN, "--listen", place], env=env,
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert told.returncode == 125, told
    assert b"libmicrohttpd cannot be loaded: " in told.stderr, told
    assert not os.path.exists(place)
    subprocess.run([LAZARET, "--version"], env=env, stdout=subprocess.DEVNULL, check=True)


def main():
    with open(CONFIG, "w", encoding="utf-8") as file:
        file.write("""
[[tools]]
provider = "command"
[[tools.tool]]
name = "erase"
command = ["/bin/echo", "erased"]
output = "text"
approve = true
""")
    tried = subprocess.run([LAZARET, "mcp", *OPEN, "--listen", "x"], stdin=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, check=False)
    if b"libmicrohttpd" in tried.stderr:
        print("SKIP: built without libmicrohttpd")
        sys.exit(77)
    cases = [(case.__name__, case, ()) for case in (
        only_who_may_is_heard, a_token_is_kept_and_private, each_request_says_all_itself,
        a_handshake_opens_a_session_of_the_protocol, what_is_too_much_is_refused,
        what_may_be_there_once_is_not_there_twice, a_message_has_one_end, strangers_lock_nobody_out,
        a_wait_that_is_left_ends_no_execution, a_socket_is_of_this_user_alone, without_its_library_it_says_so)]
    only = os.environ.get("MCP_ONLY", "")
    run([case for case in cases if only in case[0]])


main()
