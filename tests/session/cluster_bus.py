# SPDX-License-Identifier: MIT
"""A bus, workers and callers, for the tests that have them: `TEST.py PART LAZARET DIR`.

Callers are `lazaret connect cluster`, to which lines of the host protocol are written by hand. What
fails is printed; the exit status is 1 then. Nothing here depends on how fast the machine is: events
are waited for.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback

HANG = int(os.environ.get("LAZARET_TEST_HANG", "600"))
part, lazaret, work = sys.argv[1:4]
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

    all = []

    def __init__(self, command, **more):
        Process.all.append(self)
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
    """A nats-server at a port that is free. `inside` says where each process runs, by a command that
    starts it there: the server "server", callers "caller", workers wherever they are wanted."""

    def __init__(self, name, address="127.0.0.1", inside=lambda where: []):
        self.directory, self.address, self.inside = f"{work}/{name}", address, inside
        os.mkdir(self.directory)
        self.port = -1  # any
        self.start()
        with open(f"{self.directory}/lazaret.toml", "w") as file:
            file.write("session.start_timeout = 600\nsession.timeout = 600\n"
                       "session.deadline = 1200\nsession.max_code_length = 0\n"
                       "cluster.open_timeout = 600\n"
                       f'[cluster.nats]\nurl = "nats://{address}:{self.port}"\n'
                       f"insecure = {'false' if address == '127.0.0.1' else 'true'}\n"
                       "connect_timeout = 60\n"
                       "[[tools]]\nprovider = \"command\"\n[[tools.tool]]\nname = \"theirs\"\n"
                       "description = \"of the worker\"\ncommand = [\"/bin/echo\", '\"worker\"']\n")

    def start(self):
        while True:  # the port of one that is restarted may be somebody's for a moment
            self.server = Process([*self.inside("server"), "nats-server", "-a", self.address, "-p",
                                   str(self.port)])
            port = self.server.said(r"Listening for client connections on [0-9.]+:(\d+)")
            if port and self.server.said("Server is ready"):
                break
            time.sleep(0.05)
        self.port = int(port.group(1))

    def worker(self, *settings, where="server", config=None):
        command = [*self.inside(where), lazaret, "worker", "-v", "--config",
                   config or f"{self.directory}/lazaret.toml"]
        for setting in settings:
            command += ["--set", setting]
        worker = Process(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        found = worker.said(r"listening at (w-\w+)")
        check("worker", found, worker.lines)
        worker.name = found.group(1)
        return worker

    def operator(self, *words):
        return subprocess.run([*self.inside("caller"), lazaret, "cluster", *words, "--config",
                               f"{self.directory}/lazaret.toml"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=HANG)

    def caller(self, *settings, where="caller"):
        command = [*self.inside(where), lazaret, "connect", "cluster", "--config",
                   f"{self.directory}/lazaret.toml"]
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


def end_all():
    for one in Process.all:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def main(parts):
    """Run the part that the command names, and say what has failed. Nothing that it has started stays."""
    try:
        parts[part]()
    except BaseException:
        check("exception", False, traceback.format_exc()[-600:])
    end_all()
    print(f"{part}: {failures} failed", flush=True)
    os._exit(failures > 0)
