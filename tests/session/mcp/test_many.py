# SPDX-License-Identifier: MIT
"""Executions by the hundred, 16 at once, with cancellations and timeouts among them: each request is
answered once, and nothing is left. test_many.py LAZARET SCHEMAS WORK NUMBER."""

import os
import random
import select
import sys

from client import MODERN, SLEEPS, Client, run

LAZARET, SCHEMAS, WORK = sys.argv[1:4]
NUMBER = int(sys.argv[4])
SEED = os.environ.get("LAZARET_TEST_SEED") or "1"


def children(pid):
    found = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
            found += file.read().split()
    return found


def descriptors(pid):
    found = []
    for number in os.listdir("/proc/%d/fd" % pid):
        try:
            found.append(os.readlink("/proc/%d/fd/%s" % (pid, number)))
        except OSError:
            pass  # it was closed meanwhile
    return found


def many(version):
    chance = random.Random(SEED + version)
    command = [LAZARET, "mcp", "--runtime", "lua", "--set", "session.start_timeout=600", "--set", "mcp.structured=true",
               "--set", "session.deadline=0", "--set", "session.timeout=0"]
    one = Client(command, SCHEMAS, version)
    one.schemas.every = 1 if os.environ.get("LAZARET_TEST_FULL") else 10  # they are alike
    pid = one.process.pid
    sessions = [one.tool("open_session")["structuredContent"]["session"] for _ in range(2)]
    for session in sessions:
        one.value("n = 0", session=session)
    one.value("1")
    before = None
    kinds = {}
    seen = {"value": 0, "timeout": 0, "cancelled": 0}
    sent = 0

    def begin():
        nonlocal sent
        kind = chance.choice(["value"] * 6 + ["timeout"] * 2 + ["cancelled"] * 2)
        arguments = {"code": "while true do end"}
        if kind == "value":
            arguments = {"code": "return %d" % sent}
        if kind == "timeout":
            arguments = {"code": SLEEPS, "timeout": 1}
        ident = one.send_tool("execute", **arguments)
        if kind == "cancelled":
            one.tell("notifications/cancelled", {"requestId": ident})
            one.waiting.pop(ident)  # an answer would be one to nothing
            seen["cancelled"] += 1
        else:
            kinds[ident] = (kind, sent)
        sent += 1

    while sent < NUMBER or kinds:
        while sent < NUMBER and len(kinds) < 16:
            begin()
        one.until(lambda: one.answered)
        for ident in list(one.answered):
            kind, number = kinds.pop(ident)
            result = one.answered.pop(ident)["result"]
            content = result.get("structuredContent")
            if content is None:  # cancelled ones may still hold their sessions
                raise AssertionError(result)
            if kind == "value":
                assert content["value"] == number, result
            else:
                assert content["verdict"] == "timeout", result
            seen[kind] += 1
        if before is None:
            before = len(descriptors(pid))
    assert sum(seen.values()) == NUMBER and (NUMBER < 100 or min(seen.values()) > 5), seen
    for number, session in enumerate(sessions):
        assert one.value("n + %d" % number, session=session) == number
        one.tool("close_session", session=session)
    while len(descriptors(pid)) > before:  # what has ended takes a while to be gone
        one.value("1")
    left = descriptors(pid)
    directories = {"/".join(path.split("/")[:3]) for path in left if path.startswith("/tmp/lazaret-")}
    assert directories, left
    processes = []
    for child in children(pid):
        try:
            processes.append(os.pidfd_open(int(child)))
        except ProcessLookupError:
            pass
    one.end()
    assert not [directory for directory in directories if os.path.exists(directory)], directories
    ended = select.select(processes, [], [], 0)[0]  # not by their numbers, which others may have by now
    assert ended == processes, (ended, processes)


def main():
    versions = ("2025-11-25", MODERN)
    run([("many " + version, many, (version,)) for version in versions])


main()
