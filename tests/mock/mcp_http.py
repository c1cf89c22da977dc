#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server of mcp_server.py over HTTP, correct or with one fault.

    mcp_http.py ERA FAULT json|sse|tls

It prints its port on one line, and serves until its input ends. It answers with JSON or with a
stream of events; with tls it has a certificate that nobody knows (mcp_http.pem). A FAULT is the name
of a method of Handler. With `secret` in the environment the header X-Secret has to have that value.
"""
import http.server
import json
import os
import ssl
import sys
import threading

sys.dont_write_bytecode = True  # beside the sources
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mcp_server  # noqa: E402  (reads the era from the arguments)

fault, form = sys.argv[2], sys.argv[3]
here = threading.local()
listeners = []  # streams that wait for changes
listening, listed = threading.Event(), threading.Event()


def send(message):
    """What says that tools have changed goes to who listens, who asks for them before it goes on."""
    if message.get("method") != "notifications/tools/list_changed":
        here.sent.append(message)
        return
    if mcp_server.modern and fault != "deaf":
        listening.wait()
    for listener in listeners:
        listed.clear()
        listener.event(message)
        listed.wait()


mcp_server.send = send
mcp_server.raw = lambda text: here.sent.append(json.loads(text))
sessions = set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def say(self, status, kind, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, id, code, text):
        self.say(status, "application/json", json.dumps(
            {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}).encode())

    def is_refused(self, message):
        """What the protocol says of headers."""
        method, id = message.get("method"), message.get("id")
        if "secret" in os.environ and self.headers.get("X-Secret") != os.environ["secret"]:
            self.say(401, "text/plain", b"who are you?")
        elif "text/event-stream" not in self.headers.get("Accept", ""):
            self.say(406, "text/plain", b"")
        elif mcp_server.modern:
            name = message.get("params", {}).get("name") if method == "tools/call" else None
            if (self.headers.get("MCP-Protocol-Version"), self.headers.get("Mcp-Method"),
                    self.headers.get("Mcp-Name")) != ("2026-07-28", method, name):
                self.refuse(400, id, -32020, "headers: %s" % self.headers.items())
            else:
                return False
        elif method == "server/discover":
            self.refuse(400, None, -32000, "Bad Request: no session")
        elif method != "initialize" and self.headers.get("Mcp-Session-Id") not in sessions:
            self.say(404, "text/plain", b"no such session")
        elif method not in ("initialize", "server/discover") and self.headers.get(
                "MCP-Protocol-Version") != mcp_server.era:
            self.refuse(400, id, -32000, "Bad Request: version")
        else:
            return False
        return True

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        here.sent = []
        if message.get("method") == "tools/call" and fault and getattr(self, fault)(message):
            return
        if self.is_refused(message):
            return
        mcp_server.methods.append(message.get("method", "answer"))
        mcp_server.answer(message)
        more = {}
        if message.get("method") == "tools/list":
            listed.set()
        if message.get("method") == "subscriptions/listen":
            self.listen()
            return
        if message.get("method") == "initialize":
            sessions.add("session-%d" % len(sessions))
            more["Mcp_Session_Id"] = "session-%d" % (len(sessions) - 1)
        if "id" not in message:
            self.say(202, "text/plain", b"")
        elif form == "sse":
            events = "".join(": a comment\r\nevent: message\r\ndata: %s\r\n\r\n" % json.dumps(m)
                             for m in here.sent)
            self.say(200, "text/event-stream; charset=utf-8", events.encode(), **more)
        else:
            self.say(200, "application/json", json.dumps(here.sent[-1]).encode(), **more)

    def event(self, message):
        self.wfile.write(b"data: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()

    def listen(self):
        """Until the client closes the connection; with the fault deaf it ends at once."""
        self.begin("text/event-stream")
        self.event(here.sent.pop())
        if fault != "deaf":
            listeners.append(self)
            listening.set()
            self.rfile.read(1)
            listeners.remove(self)

    def deaf(self, message):
        return False

    # ---- faults ---------------------------------------------------------------------------------

    def begin(self, kind, length=None):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length" if length else "Connection", str(length or "close"))
        self.end_headers()

    def endless(self, message):
        self.begin("application/json")
        while True:
            self.wfile.write(b"{" + b" " * 65536)

    def endless_events(self, message):
        self.begin("text/event-stream")
        while True:
            self.wfile.write(b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n' * 100)

    def endless_event(self, message):
        self.begin("text/event-stream")
        while True:
            self.wfile.write(b"data: " + b"x" * 65536 + b"\n")

    def endless_headers(self, message):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            self.wfile.write(b"X-More: " + b"y" * 1000 + b"\r\n")

    def silent(self, message):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self.wfile.flush()
        sys.stdin.read()
        return True

    def redirect(self, message):
        self.say(307, "text/plain", b"", Location="http://127.0.0.1:1/elsewhere")
        return True

    def page(self, message):
        self.say(200, "text/html", b"<html>{</html>")
        return True

    def mistyped(self, message):
        """The right answer, said to be something else."""
        mcp_server.answer(message)
        self.say(200, "application/json-seq; charset=utf-8", json.dumps(here.sent.pop()).encode())
        return True

    def untyped(self, message):
        mcp_server.answer(message)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        self.wfile.write(json.dumps(here.sent.pop()).encode())
        self.close_connection = True
        return True

    def unfit(self, message):
        """As in mcp_server.py."""
        how = message["params"]["arguments"].get("how")
        form = {
            "twice": '{"id": %d, "result": {"content": [], "content": []}}' % message["id"],
            "deep": '{"id": %d, "result": ' % message["id"] + "[" * 5000 + "]" * 5000 + "}",
            "range": '{"id": %d, "result": 1e999}' % message["id"],
            "shape": '{"id": %d, "error": [5]}' % message["id"],
            "long": '{"x": "' + "B" * 3000000 + '"}',
        }.get(how)
        if form:
            self.say(200, "application/json", form.encode())
        return form is not None

    def broken(self, message):
        self.say(500, "application/json", b"{")
        return True

    def cut_off(self, message):
        self.begin("application/json", 1000)
        self.wfile.write(b'{"jsonrpc"')
        return True

    def nothing(self, message):
        self.begin("text/event-stream")
        return True

    def burst(self, message):
        """Thousands of answers to nobody at once, and then the right one."""
        mcp_server.answer(message)
        self.begin("text/event-stream")
        self.wfile.write(b'data:{"id":99999,"result":0}\n\n' * 5000)
        self.event(here.sent.pop())
        return True

    def forgets(self, message):
        sessions.clear()
        return False


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if form == "tls":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(sys.path[0], "mcp_http.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
sys.stderr = open(os.devnull, "w")  # connections that end early
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
os._exit(0)
