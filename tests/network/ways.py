# SPDX-License-Identifier: MIT
"""Ways around a network list: ways.py LAZARET [--only TEXT], within world.py; ways.py --list.

The ways are in ways.txt, with what must become of each. Each is tried without a box, where it must succeed, and
in sessions with a list, cold and from a template. --repeated: in sessions
alone, and cold. --list prints the page docs/network-ways.md."""

import concurrent.futures
import json
import os
import re
import signal
import socket
import ssl  # with urllib what reach.py needs: loaded once
import subprocess
import sys
import threading
import time
import traceback
import urllib.request

import world

HERE = os.path.dirname(os.path.abspath(__file__))
FULL = os.environ.get("LAZARET_TEST_FULL") == "yes"

# The list of the session.
ALLOW = ["https://api.example.test", "https://api.example.test:8443", "http://web.example.test",
         "http://metadata.example.test", "*.data.example.test", "93.184.216.77:9000", "idle.example.test:9100",
         "host.lazaret:9002",
         "*.rebind.example.test:9000", *(name + ".example.test:9000" for name in
           ("plain", "mixed", "six", "loop", "loop6", "zero", "private", "unique", "link", "cgnat",
            "multicast", "mapped", "nat64", "sixtofour", "false"))]
SETTINGS = {"network.allow": ALLOW, "network.host.ports": [9002], "network.max_bytes": "16MiB",
            "session.timeout": 0, "session.deadline": 0, "session.start_timeout": 600, "limits.nofile": 1024,
            "limits.cpu": "unlimited"}

PAGE = """# Ways around a network list

What code can try to reach what is not in its network list, and what becomes of it. Each row is a test: it is tried
without a sandbox, where it succeeds, and in a session with a list, where its outcome must be the one that is shown
(`tests/network/ways.txt`, run by `tests/session/network.sh`). The list is `%s`; with
`network.host.ports = [9002]`, and `deny_private`.

*Refused* is what lazaret keeps from code. *Allowed* is so by design. *Unseen* is what nobody can see without ending
TLS, or what a server makes of it: the list names hosts that are trusted, and what a host does with what it is sent is
the host's. *Denial* is the word (`what`) with which the result reports it; without one it ends with an error of the
system, which the code sees. *No control*: the machine may forbid it outside as well, or servers of today do.

%s
"""


class Way:
    def __init__(self, block):
        head, _, code = block.partition("\n")
        title, self.outcome, self.what, self.by = (word.strip() for word in head.split("|"))
        self.marks = set(re.findall(r"\((root|maybe|own|full)\)", title))
        self.title = re.sub(r" \((root|maybe|own|full)\)", "", title)
        first, between, rest = code.partition("-- beside\n")
        self.beside, self.code = (first, rest) if between else ("", code)


def ways():
    with open(os.path.join(HERE, "ways.txt"), encoding="utf-8") as file:
        return [Way(block) for block in re.split(r"^== ", file.read(), flags=re.MULTILINE)[1:]]


def page():
    rows = ["| Way | Outcome | Denial | By |", "|---|---|---|---|"]
    for way in ways():
        control = ", no control" if "maybe" in way.marks else ""
        what = "" if way.what == "-" else "`%s`" % way.what
        rows.append("| %s | %s%s | %s | %s |" %
                    (way.title.replace("|", "\\|"), way.outcome, control, what, "" if way.by == "-" else way.by))
    rows += ["", "%d ways: %s." % (len(ways()), ", ".join(
        "%d %s" % (sum(way.outcome == outcome for way in ways()), outcome)
        for outcome in ("refused", "allowed", "unseen")))]
    return PAGE % ("`, `".join(ALLOW), "\n".join(rows))


def text_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


# Nearly all answers come at once, so silence is short. What ought to succeed gets this many times as long before it
# counts as silent: a machine may be busy.
PATIENT = 30


class Place:
    """What world.py has started, and two sockets of the host besides."""

    def __init__(self):
        with open(os.environ["LAZARET_WORLD"], encoding="utf-8") as file:
            self.said = json.load(file)
        self.path = os.path.join(os.path.dirname(os.environ["LAZARET_WORLD"]), "socket")
        self.kept = []
        for address in (self.path, b"\0lazaret-network-test"):
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(address)
            listening.listen()
            threading.Thread(target=self.answer, args=(listening,), daemon=True).start()
            self.kept.append(listening)
        os.chmod(self.path, 0o777)

    @staticmethod
    def answer(listening):
        while True:
            there = listening.accept()[0]
            there.sendall(b"here\n")
            there.close()

    def asked(self):
        """All that the DNS server was asked."""
        with open(self.said["dns_log"], encoding="ascii") as file:
            return file.read()

    def prelude(self, patience=1):
        return "PATIENCE = %d\n%s\nUNIX_PATH = %r\n" % (patience, text_of("reach.py"), self.path)

    def succeeded(self, printed, before):
        """Does what a way printed say that it has? `before`: of what was asked, how much is older."""
        tokens = re.findall(r"^asked (.*)$", printed, re.MULTILINE)
        return "done" in printed.split() or any(token in self.asked()[before:] for token in tokens)


def alone(place, way, path, patience):
    """Runs a way in this process, which ends; what it prints goes to a file."""
    said = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    os.dup2(said, 1)
    os.dup2(said, 2)
    signal.alarm(60 * patience)
    try:
        os.chdir(os.path.dirname(place.path))
        exec(compile(place.prelude(patience) + way.code, way.title, "exec"), {"__name__": "way"})
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0)


def outside(place, way, patience=1):
    """Without a box, in a copy of this process, which is made faster than an interpreter starts."""
    before, beside = len(place.asked()), None
    path = os.path.join(os.path.dirname(place.path), "way.%d" % id(way))
    try:
        if way.beside:
            beside = subprocess.Popen([sys.executable, "-c", way.beside + "\nprint(flush=True)\nimport sys\n"
                                       "sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            beside.stdout.readline()
        child = os.fork()
        if child == 0:
            alone(place, way, path, patience)
        os.waitpid(child, 0)
        with open(path, encoding="utf-8") as file:
            said = file.read()
        return place.succeeded(said, before), said
    finally:
        if beside:
            beside.communicate()


def tried_outside(place, chosen):
    """The ways that did not succeed where nothing keeps them from it, with what they said."""
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for way, (is_done, said) in zip(chosen, threads.map(lambda way: outside(place, way), chosen)):
            if not is_done and "maybe" not in way.marks:
                is_done, said = outside(place, way, PATIENT)
            if is_done:
                continue
            if "maybe" in way.marks:
                print("%-72s cannot be done here without a box" % way.title)
            else:
                yield "%s: cannot be done outside, so it says nothing: %s" % (way.title, said[-300:])


class Inside:
    """Sessions with the list."""

    def __init__(self, lazaret, server, place, warm):
        self.lazaret, self.server, self.place, self.warm = lazaret, server, place, warm
        self.session = self.opened()

    def opened(self, patience=1):
        session = self.lazaret.Session("python", server=self.server, warm=self.warm)
        session.execute(self.place.prelude(patience))
        return session

    def close(self):
        self.session.close()

    def run(self, way):
        """What is wrong with its outcome, or None."""
        wrong = self.once(way, self.opened() if "own" in way.marks or way.beside else self.session)
        if way.outcome != "refused" and not self.is_done:
            return self.once(way, self.opened(PATIENT))
        return wrong

    def once(self, way, session):
        sibling = self.lazaret.Session("python", server=self.server, warm=self.warm) if way.beside else None
        try:
            if sibling:
                sibling.execute(way.beside, check=False)
            before = len(self.place.asked())
            self.start = time.monotonic()
            result = session.execute(way.code, check=False)
            self.is_done = self.place.succeeded(result.stdout, before)
            return self.judged(way, result, self.is_done)
        finally:
            if sibling:
                sibling.close()
            if session is not self.session:
                session.close()

    def judged(self, way, result, is_done):
        denials = [denial["what"] for denial in result.denials]
        told = ", ".join(sorted(set(denials)))
        print("%-4s %-72s %-8s %4.1f s  %s" % ("warm" if self.warm else "cold", way.title,
                                               "done" if is_done else "refused", time.monotonic() - self.start, told))
        if result.verdict not in ("ok", "error"):
            self.session.close()
            self.session = self.opened()
            return "%s: the session ended: %r" % (way.title, result)
        if is_done != (way.outcome != "refused"):
            return "%s: %s, expected %s: %s %s %s" % (way.title, "done" if is_done else "refused", way.outcome,
                                                      result.error, result.denials, result.stderr[-200:])
        if way.what != "-" and way.what not in denials:
            return "%s: no denial says %s: %s %s" % (way.title, way.what, result.denials, result.error)
        if way.outcome != "refused" and denials:
            return "%s: is allowed, and something was denied: %s" % (way.title, result.denials)
        return None


def tried_inside(path, place, chosen, kinds):
    """Cold and from a template, at the same time; what is wrong."""
    sys.path.insert(0, os.path.join(HERE, "../../clients/python/src"))
    import lazaret

    def tried(server, warm):
        inside = Inside(lazaret, server, place, warm)
        try:
            return [("from a template, " if warm else "") + wrong
                    for wrong in map(inside.run, chosen) if wrong]
        finally:
            inside.close()

    with lazaret.Server(world.lazaret_of(path), settings=SETTINGS,
                        start_timeout=600) as server, \
            concurrent.futures.ThreadPoolExecutor(2) as threads:
        for failures in threads.map(lambda warm: tried(server, warm), kinds):
            yield from failures


def main():
    words = sys.argv[1:]
    if words == ["--list"]:
        print(page(), end="")
        return 0
    only = words[words.index("--only") + 1] if "--only" in words else ""
    chosen = [way for way in ways() if only in way.title and (FULL or "full" not in way.marks)]
    place, failures = Place(), []
    repeats = "--repeated" in words
    if "--inside" not in words and not repeats:
        failures += tried_outside(place, chosen)
    if words[0] != "--outside":
        failures += tried_inside(words[0], place, chosen, (False,) if repeats else (False, True))
    for failure in failures:
        print("FAILED", failure)
    print("%d ways, %d failed" % (len(chosen), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
