# SPDX-License-Identifier: MIT
"""Workers and callers on a bus, as tests/session/cluster.sh has them: `cluster.py PART LAZARET DIR`.

The bus is a nats-server of each part. Callers are `lazaret connect cluster`, to which lines of the
host protocol are written by hand. What fails is printed; the exit status is 1 then. Nothing here
depends on how fast the machine is: events are waited for.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

HANG = 600
failures = 0
lock = threading.Lock()


def check(name, holds, detail=""):
    global failures
    if not holds:
        with lock:
            failures += 1
            print(f"FAILED {name}: {str(detail)[:600]}", flush=True)


class Process:
    """A process whose standard error is read, and waited for."""

    def __init__(self, command, **more):
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **more)
        self.lines, self.news, self.at = [], threading.Condition(), 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stderr:
            with self.news:
                self.lines.append(line.rstrip("\n"))
                self.news.notify_all()
        with self.news:
            self.lines.append(None)
            self.news.notify_all()

    def said(self, pattern):
        """Wait for a line that matches; None when the process has ended without it."""
        at = 0
        with self.news:
            while True:
                while at < len(self.lines):
                    line = self.lines[at]
                    at += 1
                    if line is None:
                        return None
                    found = re.search(pattern, line)
                    if found:
                        return found
                if not self.news.wait(HANG):
                    raise TimeoutError(pattern)

    def kill(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
        return self.process.wait(HANG)


class Bus:
    """A nats-server at a port that is free."""

    def __init__(self, name):
        self.directory = f"{work}/{name}"
        os.mkdir(self.directory)
        self.port = -1  # any
        self.start()
        with open(f"{self.directory}/lazaret.toml", "w") as file:
            file.write("session.start_timeout = 600\nsession.timeout = 600\n"
                       "session.deadline = 1200\nsession.max_code_length = 0\n"
                       "cluster.open_timeout = 600\n"
                       f'[cluster.nats]\nurl = "nats://127.0.0.1:{self.port}"\n'
                       "connect_timeout = 60\n"
                       "[[tools]]\nprovider = \"command\"\n[[tools.tool]]\nname = \"theirs\"\n"
                       "description = \"of the worker\"\ncommand = [\"/bin/echo\", '\"worker\"']\n")

    def start(self):
        while True:  # the port of one that is restarted may be somebody's for a moment
            self.server = Process(["nats-server", "-a", "127.0.0.1", "-p", str(self.port)])
            port = self.server.said(r"Listening for client connections on 127\.0\.0\.1:(\d+)")
            if port and self.server.said("Server is ready"):
                break
            time.sleep(0.05)
        self.port = int(port.group(1))

    def worker(self, *settings):
        command = [lazaret, "worker", "-v", "--config", f"{self.directory}/lazaret.toml"]
        for setting in settings:
            command += ["--set", setting]
        worker = Process(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        found = worker.said(r"listening at (w-\w+)")
        check("worker", found, worker.lines)
        worker.name = found.group(1)
        return worker

    def operator(self, *words):
        return subprocess.run([lazaret, "cluster", *words, "--config",
                               f"{self.directory}/lazaret.toml"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=HANG)

    def caller(self, *settings):
        command = [lazaret, "connect", "cluster", "--config", f"{self.directory}/lazaret.toml"]
        for setting in settings:
            command += ["--set", setting]
        return Caller(command)


class Caller(Process):
    def __init__(self, command):
        super().__init__(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0

    def send(self, type_, /, **members):
        self.process.stdin.write(json.dumps({"type": type_, **members}) + "\n")
        self.process.stdin.flush()

    def get(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def begin(self, type_, /, **members):
        self.id += 1
        self.send(type_, id=self.id, **members)
        return self.id

    def wait(self, id_):
        """The answer to a request; what else comes is kept."""
        while True:
            message = self.get()
            if message is None or (message.get("id") == id_ and message["type"] in (
                    "result", "failed", "done", "opened", "description", "found")):
                return message
            self.others = [*getattr(self, "others", []), message]
            if message["type"] == "tool_call":
                self.send("answer", call=message["call"], value=f"caller {message['args']}")

    def ask(self, type_, /, **members):
        return self.wait(self.begin(type_, **members))

    def run(self, code, **members):
        return self.ask("execute", code=code, **members)

    def rest(self):
        """All that still comes, up to the end."""
        lines = [json.loads(line) for line in self.process.stdout]
        return lines, self.process.wait(HANG)


def output(result):
    return "".join(piece["text"] for piece in result["result"]["output"])


def verdict(result):
    return result["result"]["verdict"]["reason"]


# ---- the parts -----------------------------------------------------------------------------------


def use():
    """The same calls with the same results."""
    bus = Bus("use")
    worker = bus.worker()
    caller = bus.caller()
    check("hello", caller.get()["type"] == "hello")
    check("run", output(caller.run("print(6 * 7)")) == "42\n")
    check("error", verdict(caller.run("1 / 0")) == "error")
    caller.ask("tools", tools=[{"name": "own", "parameters": [{"name": "x", "type": "string"}]}])
    session = caller.ask("open")["session"]
    result = caller.run("print(own('a'), theirs())", session=session)
    check("tools", output(result) == "caller {'x': 'a'} worker\n", result)
    result = caller.run("for i in range(1000): own(str(i))", session=session)
    check("many calls", verdict(result) == "ok" and result["result"]["usage"]["tool_calls"] == 1000,
          result)
    result = caller.run("open('artifacts/a.bin', 'wb').write(open('f.txt', 'rb').read() * 3000000)",
                        session=session, artifacts=True,
                        files=[{"name": "f.txt", "data": "YWJj"}])
    parts = [one for one in caller.others if one["type"] == "artifact"]
    check("artifact", verdict(result) == "ok" and len(parts) > 10 and not parts[-1].get("more"),
          result)
    big = "x" * (8 << 20)
    result = caller.run(f"len('{big}')", session=session)
    check("large code", result["result"]["value"] == 8 << 20, result)
    result = caller.run("'y' * (8 << 20)", session=session)
    check("large value", len(result["result"]["value"] or "") == 8 << 20 or
          result["result"]["value_omitted"], str(result)[:300])
    running = caller.begin("execute", session=session, output=True,
                           code="print('go', flush=True)\nwhile True: pass")
    while caller.get()["type"] != "output":
        pass
    caller.send("interrupt", id=9999, session=session)
    result = caller.wait(running)
    check("interrupt", verdict(result) == "cancelled", result)
    caller.process.stdin.close()
    check("end", caller.rest()[1] == 0)
    check("left", worker.said("has left: it was closed"))
    check("status", worker.end() == 143)


def lost():
    """A worker that is killed: what is open ends there once, and at once where nobody listens."""
    bus = Bus("lost")
    worker = bus.worker()
    caller = bus.caller()
    caller.get()
    session = caller.ask("open")["session"]
    running = caller.begin("execute", session=session, output=True,
                           code="import time\nprint('go', flush=True)\ntime.sleep(9999)")
    while caller.get()["type"] != "output":
        pass
    worker.end(signal.SIGKILL)
    waiting = caller.begin("describe", session=session)
    lines, status = caller.rest()
    results = [one for one in lines if one.get("id") == running]
    check("once", len(results) == 1 and verdict(results[0]) == "worker_lost", lines)
    others = [one for one in lines if one.get("id") == waiting]
    check("once", len(others) == 1 and others[0]["code"] == "LAZ_ECLOSED", lines)
    check("status", status == 125, status)
    check("words", caller.said("the worker w-.*"))


def paused():
    """A worker that stands still is lost to its caller after the lease; when it goes on, nothing of
    that caller is left there."""
    bus = Bus("paused")
    worker = bus.worker()
    caller = bus.caller()
    caller.get()
    session = caller.ask("open")["session"]
    caller.run("1", session=session)
    worker.kill(signal.SIGSTOP)
    running = caller.begin("execute", session=session, code="1")
    lines, status = caller.rest()
    check("once", [verdict(one) for one in lines if one.get("id") == running] == ["worker_lost"],
          lines)
    worker.kill(signal.SIGCONT)
    check("left", worker.said("has left"))
    check("closed", worker.said("has disconnected"))
    other = bus.caller()
    check("after", other.get()["type"] == "hello" and output(other.run("print(1)")) == "1\n")
    check("status", worker.end() == 143)


def gone():
    """A caller that is killed: its sessions end with its lease, and its place is free."""
    bus = Bus("gone")
    worker = bus.worker("cluster.places=1")
    caller = bus.caller()
    caller.get()
    session = caller.ask("open")["session"]
    running = caller.begin("execute", session=session, output=True,
                           code="import time\nprint('go', flush=True)\ntime.sleep(9999)")
    while caller.get()["type"] != "output":
        pass
    check("running", running)
    full = bus.caller("cluster.open_timeout=0.2")
    lines, status = full.rest()
    check("full", status and not lines, (lines, status))
    check("full", full.said("no worker of the pool has"), full.lines)
    caller.process.kill()
    check("left", worker.said("has left"))
    other = bus.caller()
    check("free", other.get()["type"] == "hello" and output(other.run("print(1)")) == "1\n")
    check("status", worker.end() == 143)


def restart():
    """The bus is restarted: who was there finds each other again, or ends once."""
    bus = Bus("restart")
    worker = bus.worker()
    caller = bus.caller()
    caller.get()
    session = caller.ask("open")["session"]
    caller.run("x = 5", session=session)
    bus.server.end(signal.SIGKILL)
    bus.start()
    ids = [caller.begin("execute", session=session, code="print(x)") for _ in range(1)]
    message = caller.wait(ids[0])
    if message is None or verdict(message) == "worker_lost":
        check("restart", message is not None, "no answer")
    else:
        check("restart", output(message) == "5\n", message)
    other = bus.caller()
    check("after", other.get()["type"] == "hello" and output(other.run("print(1)")) == "1\n")
    check("status", worker.end() == 143)


def drain():
    """A worker that drains gives no place any more, keeps its callers, and ends with the last."""
    bus = Bus("drain")
    first = bus.worker()
    callers = [bus.caller() for _ in range(2)]
    for caller in callers:
        check("hello", caller.get()["type"] == "hello")
    second = bus.worker()
    callers += [bus.caller() for _ in range(6)]
    for caller in callers[2:]:
        check("hello", caller.get()["type"] == "hello")
    seen = {}  # who is late with a heartbeat is missing: until both are there, and as they are now
    while set(seen) != {first.name, second.name} or sum(one["used"] for one in seen.values()) != 8:
        listed = bus.operator("status", "--json")
        check("status", listed.returncode == 0, listed)
        seen = {one["worker"]: one for one in json.loads(listed.stdout)["workers"]}
    while "2 workers, 8 of 200 places" not in (listed := bus.operator("status")).stdout:
        check("status", listed.returncode == 0 and "LATENCY" in listed.stdout, listed)
    while not all(one["latency_us"] for one in seen.values()):  # who was late is asked again
        listed = bus.operator("status", "--json")
        seen = {one["worker"]: one for one in json.loads(listed.stdout)["workers"]} or seen
    check("latency", all(0 < one["latency_us"] < HANG * 1e6 for one in seen.values()), seen)
    while (drained := bus.operator("drain", first.name)).returncode:
        check("drain", "says that it drains" in drained.stderr, drained)
    check("drains", first.said("drains"))
    nobody = bus.operator("drain", "w-nobody")
    check("drain nobody", nobody.returncode and "w-nobody" in nobody.stderr, nobody)
    top = Process([lazaret, "cluster", "top", "--config", f"{bus.directory}/lazaret.toml"],
                  stdout=subprocess.PIPE)
    while (line := top.process.stdout.readline()):
        if first.name in line and "draining" in line:
            break
    check("top", line, "it has ended")
    check("top", top.end(signal.SIGINT) in (0, 130))
    more = [bus.caller() for _ in range(4)]
    for caller in (*callers, *more):
        if caller in more:
            check("hello", caller.get()["type"] == "hello")
        check("all work", output(caller.run("print(1)")) == "1\n")
    for caller in (*callers, *more):
        caller.process.stdin.close()
        check("end", caller.rest()[1] == 0)
    check("drained", first.process.wait(HANG) == 0)
    empty = bus.worker()
    drained = bus.operator("drain", empty.name)  # it is gone as soon as it has said so
    check("drain empty", drained.returncode == 0 or "says that it drains" in drained.stderr, drained)
    check("drain empty", empty.process.wait(HANG) == 0)
    check("status", second.end() == 143)
    # A worker that is ended tells its callers.
    third = bus.worker()
    caller = bus.caller()
    caller.get()
    session = caller.ask("open")["session"]
    running = caller.begin("execute", session=session, output=True,
                           code="import time\nprint('go', flush=True)\ntime.sleep(9999)")
    while caller.get()["type"] != "output":
        pass
    third.end()
    lines, status = caller.rest()
    ends = [one for one in lines if one.get("id") == running and one["type"] == "result"]
    check("told", len(ends) == 1 and verdict(ends[0]) in ("worker_lost", "cancelled"), lines)


def tenants():
    """A worker of a tenant takes its callers alone, by their tokens."""
    bus = Bus("tenants")
    for name in ("operator", "other"):
        subprocess.run([lazaret, "token", "new-key", f"{bus.directory}/{name}"], check=True,
                       capture_output=True)

    def token(name, key="operator", *more):
        path = f"{bus.directory}/{name}.{key}.token"
        done = subprocess.run([lazaret, "token", name, "--sign-with", f"{bus.directory}/{key}", *more],
                              check=True, capture_output=True, text=True)
        with open(path, "w", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(done.stdout)
        return f'cluster.token="{path}"'

    worker = bus.worker('cluster.tenant="acme"',
                        f'serve.token_keys="{bus.directory}/operator.pub"')
    good = bus.caller(token("acme.alice", "operator", "--sessions", "1"))
    check("hello", good.get()["type"] == "hello")
    check("quota", good.ask("open")["type"] == "opened")
    answer = good.ask("open")
    check("quota", "acme.alice can have 1" in answer.get("message", ""), answer)
    for name, setting in (("none", ()), ("other tenant", (token("evil.alice"),)),
                          ("prefix", (token("acmeevil"),)),
                          ("another key", (token("acme.bob", "other"),))):
        caller = bus.caller(*setting)
        lines, status = caller.rest()
        check(name, status == 126 and not lines, (status, lines, caller.lines))
        check(name, caller.said("has refused this caller"), caller.lines)
    check("log", worker.said("was refused"))
    with socket.create_connection(("127.0.0.1", bus.port), timeout=HANG) as plain:
        plain.recv(4096)
        plain.sendall(b'CONNECT {"verbose":false}\r\nSUB lz.1.w.*.hb 1\r\n')
        for number in range(1000):  # of one who may use the bus
            payload = b'{"v":1,"kind":"open","open":"%032x","caller":"mallory","deadline":1000}\n' % number
            plain.sendall(b"PUB lz.1.open.default %d\r\n%s\r\n" % (len(payload), payload))
        seen = b""
        while not any(int(n) >= 1000 for n in re.findall(rb'"refused":(\d+)', seen[-2000:])):
            seen += plain.recv(1 << 16)
    told = [line for line in worker.lines if line and "was refused" in line]
    check("log", len(told) < 500, len(told))  # ten in a minute, however long it takes
    check("status", worker.end() == 143)
    # Without namespaces a worker is for one tenant.
    for backend in ("landlock", "none"):
        several = subprocess.run([lazaret, "worker", "--config", f"{bus.directory}/lazaret.toml",
                                  "--set", f'sandbox.backend="{backend}"'], capture_output=True,
                                 text=True, stdin=subprocess.DEVNULL, timeout=HANG)
        check("several tenants", several.returncode == 126 and "cluster.tenant" in several.stderr and
              f"backend {backend} has no namespaces" in several.stderr, several)
    one = bus.worker('sandbox.backend="landlock"', 'cluster.tenant="acme"',
                     f'serve.token_keys="{bus.directory}/operator.pub"')
    caller = bus.caller(token("acme.carol"))
    check("one tenant", caller.get()["type"] == "hello" and output(caller.run("print(1)")) == "1\n")
    check("one tenant", bus.caller(token("evil.carol")).rest()[1] == 126)
    check("one tenant", one.end() == 143)


def forged():
    """Frames of others on the bus: what is no frame, or of no link, changes nothing."""
    bus = Bus("forged")
    worker = bus.worker()
    caller = bus.caller('cluster.caller="victim"')
    caller.get()
    session = caller.ask("open")["session"]
    with socket.create_connection(("127.0.0.1", bus.port), timeout=HANG) as plain:
        plain.recv(4096)
        plain.sendall(b'CONNECT {"verbose":false}\r\nSUB lz.1.> 1\r\n')
        check("run", output(caller.run("print(1)", session=session)) == "1\n")
        seen = b""
        while b"lz.1.s." not in seen or b"lz.1.c.victim." not in seen:
            seen += plain.recv(1 << 16)
        opens = [b"", b"{}", b"\0" * 100, b"x" * 100000,
                 b'{"v":1,"kind":"open","open":"' + b"a" * 32 + b'","caller":"victim.>","deadline":1}\n',
                 b'{"v":1,"kind":"open","open":"' + b"b" * 32 + b'","caller":"*","deadline":1}\n',
                 b'{"v":2,"kind":"open"}\n', b'{"v":1,"kind":"line","link":"' + b"c" * 32 + b'"}\n']
        for payload in opens:
            plain.sendall(b"PUB lz.1.open.default %d\r\n%s\r\n" % (len(payload), payload))
            plain.sendall(b"PUB lz.1.s.%s.in %d\r\n%s\r\n" % (b"d" * 32, len(payload), payload))
            plain.sendall(b"PUB lz.1.c.victim.%s %d\r\n%s\r\n" % (b"e" * 32, len(payload), payload))
        check("after", output(caller.run("print(2)", session=session)) == "2\n")
        # Words of an operator: a name is said again, and nothing else is.
        for word in (b"", b'a"b', b"x" * 65, b"a.b", b"*", b"good"):
            plain.sendall(b"PUB lz.1.w.%s.ctl %d\r\nping %s\r\n" % (
                worker.name.encode(), 5 + len(word), word))
        heard = b""
        while b'"echo":"good"' not in heard:
            heard += plain.recv(1 << 16)
        check("echo", heard.count(b'"echo"') == 1, heard)
        # Who hears the bus knows the links, which permissions of the bus prevent. A frame that was
        # sent before counts once; one that skips numbers ends the link, on both sides, once.
        subject = re.search(rb"lz\.1\.s\.([0-9a-f]{32})\.in", seen).group(1)
        frame = b'{"v":1,"kind":"line","link":"%s","n":99999,"part":0,"of":1,"credit":0}\nx' % subject
        plain.sendall(b"PUB lz.1.s.%s.in %d\r\n%s\r\n" % (subject, len(frame), frame))
        lines, status = caller.rest()
        check("ended", status == 125, (lines, status))
    check("left", worker.said("has left"))
    other = bus.caller()
    check("others", other.get()["type"] == "hello" and output(other.run("print(1)")) == "1\n")
    check("status", worker.end() == 143)


def wrong():
    """What cannot work is said."""
    bus = Bus("wrong")
    for arguments, words in ((["connect", "cluster", "--set", 'cluster.carrier="pigeon"'], "pigeon"),
                             (["worker", "--set", 'cluster.carrier="pigeon"'], "pigeon"),
                             (["worker", "--set", 'cluster.nats.url="nats://127.0.0.1:1"'], "nats"),
                             (["worker", "--set", 'cluster.token="x"'], "absolute"),
                             (["connect", "cluster", "--set", "cluster.open_timeout=0.2"],
                              "no worker of the pool has")):
        done = subprocess.run([lazaret, arguments[0], *arguments[1:], "--config",
                               f"{bus.directory}/lazaret.toml"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=HANG)
        check(f"{arguments}", done.returncode and words in done.stderr and not done.stdout, done)


if __name__ == "__main__":
    part, lazaret, work = sys.argv[1:]
    globals()[part]()
    print(f"{part}: {failures} failed", flush=True)
    os._exit(failures > 0)
