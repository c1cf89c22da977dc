# SPDX-License-Identifier: MIT
"""Workers and callers on a bus, as tests/session/cluster.sh has them: `cluster.py PART LAZARET DIR`.

The bus is a nats-server of each part; cluster_bus.py has what runs here.
"""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import urllib.request

import credential_server
from cluster_bus import HANG, Bus, Caller, Process, check, lazaret, main, output, verdict


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
    # What was asked for before the end of the input is answered, also into a file.
    for question, wanted in (("", "hello"), ('{"type":"open","id":1,"runtime":"lua"}\n', "opened"),
                             ('{"type":"ping","id":1}\n', "LAZ_EPROTO")):
        with open(f"{bus.directory}/answers", "w+") as answers:
            done = subprocess.run([lazaret, "connect", "cluster", "--config",
                                   f"{bus.directory}/lazaret.toml"], input=question, text=True,
                                  stdout=answers, stderr=subprocess.PIPE, timeout=HANG)
            answers.seek(0)
            said = answers.read()
            check(f"into a file {wanted}", done.returncode == 0 and "hello" in said and
                  wanted in said and "LAZ_ECLOSED" not in said, (done, said))
    check("left", worker.said("has left: it was closed"))
    check("status", worker.end() == 143)


def far():
    """session.where: sessions of a server here are places of workers, with the same calls."""
    bus = Bus("far")
    config = f"{bus.directory}/far.toml"
    with open(config, "w") as file:
        file.write('session.start_timeout = 600\nsession.timeout = 600\nsession.deadline = 1200\n'
                   f'audit.file = "{bus.directory}/audit.log"\ncluster.open_timeout = 600\n'
                   f'[cluster.nats]\nurl = "nats://127.0.0.1:{bus.port}"\nconnect_timeout = 60\n'
                   '[[tools]]\nprovider = "command"\n[[tools.tool]]\nname = "ours"\n'
                   'description = "of this side"\ncommand = ["/bin/echo", \'"here"\']\n'
                   'approve = true\n')

    def serve(where, *settings):
        command = [lazaret, "serve", "--config", config, "--set", f"session.where={where}"]
        for setting in settings:
            command += ["--set", setting]
        caller = Caller(command)
        check("hello", caller.get()["type"] == "hello")
        return caller

    worker = bus.worker()
    there, here = serve("cluster"), serve("here", "audit.file=")
    same = (
        ("python", "x = 1"), ("python", "[1, 2.5, None, 'a', {'k': True}]"), ("python", "1 / 0"),
        ("python", "def f(:"), ("python", "raise SystemExit(3)"),
        ("python", "import os; os._exit(4)"), ("python", "x"),
        ("python", "import sys; print('a'); print('b', file=sys.stderr); 'c'"),
        ("python", "raise MemoryError()"), ("python", "'y' * 3000000"),
        ("python", "print('z' * 300000)"), ("python", "import sys; sys.argv[1:]"),
        ("lua", "return 1, 2"), ("lua", "error('no')"), ("shell", "echo a; exit 4"),
        ("shell", "echo $((1 + 1)); nosuchprogram"))
    answers = []
    for server in (there, here):
        sessions = {}
        answers.append([])
        for runtime, code in same:
            if runtime not in sessions:
                sessions[runtime] = server.ask("open", runtime=runtime).get("session")
            answer = server.run(code, session=sessions[runtime])
            got = answer.get("result") or answer
            for key in ("session", "usage", "isolation"):
                got.pop(key, None)
            got["verdict"]["evidence"].pop("cpu_ms", None)
            answers[-1].append(got)
    for (runtime, code), one, other in zip(same, *answers):
        check(f"same: {code}", one == other, (one, other))
    there.ask("tools", tools=[{"name": "own", "parameters": [
        {"name": "x", "type": "string"}, {"name": "n", "type": "integer", "default": 3}]}])
    session = there.ask("open", runtime="python")["session"]
    result = there.run("own('a')", session=session)
    check("tool", result["result"]["value"] == "caller {'x': 'a', 'n': 3}", result)
    result = there.run("own(5)", session=session)
    check("wrong argument", verdict(result) == "error" and result["result"]["error"], result)
    result = there.run("ours()", session=session)
    check("no approval", verdict(result) == "error", result)
    result = there.run("[own(str(i)) for i in range(300)][-1]", session=session)
    check("many calls", result["result"]["usage"]["tool_calls"] == 300, result)
    running = there.begin("execute", code="ours()", session=session, approve=True)
    while (message := there.get())["type"] != "approval":
        check("approval", message["type"] != "result", message)
    there.send("answer", call=message["call"], value=True)
    check("approved", there.wait(running)["result"]["value"] == "here")
    result = there.run("open('artifacts/a.bin', 'wb').write(open('f.txt', 'rb').read() * 900000)",
                       session=session, artifacts=True, files=[{"name": "f.txt", "data": "YWJj"}])
    check("artifact", [(one["name"], one["size"]) for one in result["result"]["artifacts"]] ==
          [("a.bin", 2700000)], result)
    running = there.begin("execute", session=session, output=True,
                          code="kept = 7\nprint('go', flush=True)\nwhile True: pass")
    while there.get()["type"] != "output":
        pass
    there.send("interrupt", id=9999, session=session)
    result = there.wait(running)
    check("interrupt", verdict(result) == "cancelled" and result["result"]["kept"], result)
    check("kept", there.run("kept", session=session)["result"]["value"] == 7)
    check("argv", there.run("import sys; sys.argv", session=session,
                            argv=["a.py", "b"])["result"]["value"] == ["a.py", "b"])
    isolation = there.ask("describe", session=session)["isolation"]
    check("isolation", isolation["worker"] == worker.name and isolation["enforces"], isolation)
    named = [serve("cluster", "audit.file=", 'cluster.caller="same"') for _ in range(3)]
    for i in range(4):
        for one in named:
            one.begin("execute", code=f"return {i}", runtime="lua")
    for one in named:
        values = [one.get()["result"]["value"] for _ in range(4)]
        check("one name", sorted(values) == [0, 1, 2, 3], values)
        one.process.stdin.close()
        check("end", one.rest()[1] == 0)
    pool = there.ask("open_pool", runtime="lua", members=2)["pool"]
    results = [there.run(f"return {i}", pool=pool)["result"]["value"] for i in range(6)]
    check("pool", results == list(range(6)), results)
    running = there.begin("execute", session=session, output=True,
                          code="print('go', flush=True)\nwhile True: pass")
    while there.get()["type"] != "output":
        pass
    worker.end(signal.SIGKILL)
    other = bus.worker()
    result = there.wait(running)
    check("lost", verdict(result) == "worker_lost" and not result["result"]["kept"], result)
    result = there.run("'again'", session=session)
    check("again", result["result"]["value"] == "again" and
          result["result"]["replaced"] == "worker_lost", result)
    for caller in (there, here):
        caller.process.stdin.close()
        check("end", caller.rest()[1] == 0)
    check("left", other.said("has left"))
    with open(f"{bus.directory}/audit.log") as file:
        records = [json.loads(line) for line in file]
    started = [one for one in records if one["event"] == "session_start"]
    check("audit", started and all(one["isolation"]["worker"] in (worker.name, other.name) and "pid" not in one
                                  for one in started),
          started)
    check("audit", any(one["event"] == "tool_call" and one["tool"] == "ours" for one in records))
    read = subprocess.run([lazaret, "run", "--config", config, "--set", "session.where=cluster",
                           "--read", "/tmp", "-e", "1"], capture_output=True, text=True,
                          timeout=HANG)
    check("paths", read.returncode == 2 and "session.where" in read.stderr, read)
    for command in ("plan", "doctor"):
        elsewhere = subprocess.run([lazaret, command, "--config", config, "--set",
                                    "session.where=cluster"], capture_output=True, text=True,
                                   timeout=HANG)
        check(command, elsewhere.returncode == 126 and "workers" in elsewhere.stderr, elsewhere)
    other.end()
    # One file for both sides: each has the tools that are its own.
    shared = f"{bus.directory}/shared.toml"
    with open(shared, "w") as file:
        file.write('session.where = "cluster"\ncluster.open_timeout = 600\n'
                   f'[cluster.nats]\nurl = "nats://127.0.0.1:{bus.port}"\n')
        for side in ("caller", "worker"):
            file.write(f'[[tools]]\nprovider = "command"\nwhere = "{side}"\n[[tools.tool]]\n'
                       f'name = "{side}s"\ndescription = "its pid"\n'
                       'command = ["/bin/sh", "-c", "echo $PPID"]\n')
    both = bus.worker(config=shared)
    sides = Caller([lazaret, "serve", "--config", shared])
    check("hello", sides.get()["type"] == "hello")
    result = sides.run("[callers(), workers()]", runtime="python")
    check("sides", result["result"]["value"] and
          len(set(result["result"]["value"])) == 2, result)
    sides.process.stdin.close()
    check("end", sides.rest()[1] == 0)
    check("status", both.end() == 143)
    # A session that is given up before a worker is there takes no place.
    early = serve("cluster")
    number = early.ask("open", runtime="lua")["session"]
    check("closed", early.ask("close", session=number)["type"] == "done")
    fresh = bus.worker()
    check("nobody waits", early.run("return 5", runtime="lua")["result"]["value"] == 5)
    check("left", fresh.said("has left"))
    early.process.stdin.close()
    check("end", early.rest()[1] == 0)
    check("status", fresh.end() == 143)
    late = serve("cluster", "cluster.open_timeout=0.2")
    result = late.run("1")
    check("nobody", verdict(result) == "setup_failed" and "no worker" in str(result), result)
    late.process.stdin.close()
    check("end", late.rest()[1] == 0)


def named():
    """Credentials of a session on a worker are those of its settings, by their names; no value goes there."""
    bus = Bus("named")
    tokens = credential_server.Tokens(bus.directory)
    for name in ("one", "two"):
        with open(f"{bus.directory}/{name}.token", "w") as file:
            file.write(tokens.token(name))
        os.chmod(f"{bus.directory}/{name}.token", 0o600)
    settings = f"{bus.directory}/lazaret.toml"
    with open(settings) as file:
        both = file.read().partition("[[tools]]")[0]
    with open(settings, "a") as file:
        file.write(tokens.network() + tokens.credential("one", f'{{ file = "{bus.directory}/one.token" }}') +
                   tokens.credential("two", f'{{ file = "{bus.directory}/two.token" }}'))
    worker = bus.worker()
    config, log = f"{bus.directory}/caller.toml", f"{bus.directory}/audit.log"
    with open(config, "w") as file:
        file.write(f'session.where = "cluster"\naudit.file = "{log}"\n{both}'
                   f'[network]\nallow = ["{tokens.rule}"]\n' +
                   tokens.credential("three", '{ env = "NO_SUCH_VARIABLE" }'))
    caller = Caller([lazaret, "serve", "--config", config])
    check("hello", caller.get()["type"] == "hello")
    check("warning", caller.said("network.credential has no effect .* configuration of the workers"))
    for given, said in ((["two"], "welcome two"), (["one"], "welcome one"), ([], "who are you")):
        session = caller.ask("open", runtime="python", credentials=given)["session"]
        result = caller.run(tokens.code(verifies=bool(given)), session=session)["result"]
        check(f"named {given}", result["value"] == said and
              [(one["name"], one["host"], one["count"]) for one in result["credentials"]] ==
              [(name, credential_server.NAME, 1) for name in given], result)
        result = caller.run("1", session=session)["result"]
        check("once", result["credentials"] == [], result)
        caller.ask("close", session=session)
    result = caller.run(tokens.code())["result"]
    check("all", result["value"].startswith("welcome ") and len(result["credentials"]) == 1, result)
    secret = tokens.token("of the caller")
    answer = caller.ask("open", credentials=["one", {
        "host": tokens.host, "header": "Authorization: Bearer {secret}", "secret": {"value": secret}}])
    check("value", answer["type"] == "failed" and "credentials[1]: " in answer["message"] and
          secret not in answer["message"], answer)
    for name in (secret, "three"):  # "three" is one of the caller's own settings
        session = caller.ask("open", runtime="python", credentials=["one", name])["session"]
        result = caller.run("1", session=session)
        check("unknown", verdict(result) == "setup_failed" and "credentials[1]: " in str(result) and
              secret not in str(result), result)
    plan = subprocess.run([lazaret, "config", "--check", "--config", config], capture_output=True, text=True,
                          timeout=HANG)
    check("settings", plan.returncode == 0 and "configuration of the workers" in plan.stderr, plan)
    caller.process.stdin.close()
    check("end", caller.rest()[1] == 0)
    check("status", worker.end() == 143)
    with open(log) as file:
        text = file.read()
    used = [record["credential"] for record in map(json.loads, text.splitlines())
            if record["event"] == "credential_used"]
    check("audit", [one["name"] for one in used[:2]] == ["two", "one"] and len(used) == 3 and secret not in text, used)
    check("log", not any(secret in line for line in worker.lines + caller.lines if line))


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
    check("full", full.said("no worker of the pool default has"), full.lines)
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


def leaving():
    """A worker with drain_timeout that is told to end lets its callers go on, and is gone with the
    last, or when the time is over; its counters say how many there are."""
    bus = Bus("leaving")

    def shown(worker):
        with urllib.request.urlopen(worker.metrics, timeout=HANG) as answer:
            return dict(re.findall(r"^lazaret_(places\w*) (\d+)$", answer.read().decode(), re.M))

    def one(*settings):
        worker = bus.worker('telemetry.listen="0"', *settings)
        worker.metrics = worker.said(r"metrics at (\S+)").group(1)
        return worker

    worker = one("cluster.places=3", "cluster.drain_timeout=600")
    check("none", shown(worker) == {"places": "3", "places_used": "0"}, shown(worker))
    caller = bus.caller()
    caller.get()
    session = caller.ask("open")["session"]
    check("one", shown(worker) == {"places": "3", "places_used": "1"}, shown(worker))
    worker.kill(signal.SIGTERM)
    check("drains", worker.said("drains"))
    check("drains", shown(worker) == {"places": "0", "places_used": "1"}, shown(worker))
    late = bus.caller("cluster.open_timeout=0.2")
    check("no place", late.rest()[1] == 125, late.lines)
    check("goes on", output(caller.run("print(1)", session=session)) == "1\n")
    caller.process.stdin.close()
    check("end", caller.rest()[1] == 0)
    check("status", worker.process.wait(HANG) == 143)
    worker = one("cluster.drain_timeout=0.5")
    caller = bus.caller()
    caller.get()
    session = caller.ask("open")["session"]
    running = caller.begin("execute", session=session, output=True,
                           code="print('go', flush=True)\nwhile True: pass")
    while caller.get()["type"] != "output":
        pass
    worker.kill(signal.SIGTERM)
    check("time is over", worker.said("lose their place"))
    lines, status = caller.rest()
    ends = [line for line in lines if line.get("id") == running and line["type"] == "result"]
    check("told", len(ends) == 1 and verdict(ends[0]) in ("worker_lost", "cancelled"), lines)
    check("status", worker.process.wait(HANG) == 143)
    worker = one("cluster.drain_timeout=600")  # nobody is there: at once
    check("empty", worker.end() == 143)


def tenants():
    """A worker of a tenant takes its callers alone, by their tokens."""
    bus = Bus("tenants")
    for name in ("operator", "other"):
        subprocess.run([lazaret, "token", "new-key", f"{bus.directory}/{name}"], check=True,
                       capture_output=True)

    written = []  # one that is read is not written again

    def token(name, key="operator", *more):
        path = f"{bus.directory}/{len(written)}.token"
        written.append(path)
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
    # What the caller requires, and this worker does not give.
    with open(f"{bus.directory}/caller.toml", "w") as file:
        file.write(f'cluster.open_timeout = 600\n[cluster.nats]\nurl = "nats://127.0.0.1:{bus.port}"\n')
    bare = bus.worker('sandbox.backend="none"', "sandbox.strict=false", "sandbox.require=[]",
                      'cluster.tenant="acme"', f'serve.token_keys="{bus.directory}/operator.pub"')
    for setting, words in ((("sandbox.require=[\"fs_read\"]",), "sandbox.require asks for"),
                           (("sandbox.require=[]",), "has no sandbox (sandbox.strict)"),
                           (("sandbox.require=[]", "sandbox.strict=false"), None)):
        command = [lazaret, "run", "--config", f"{bus.directory}/caller.toml", "-e", "print(4)"]
        for one in ("session.where=\"cluster\"", token("acme.dave"), *setting):
            command += ["--set", one]
        ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                             timeout=HANG)
        check(f"required {words}", words in ran.stderr if words else ran.stdout == "4\n", ran)
    check("bare", bare.end() == 143)
    # Who has a token has some of the places, and leaves others to others.
    worker = bus.worker('cluster.tenant="acme"', "serve.max_connections=2", "cluster.places=3",
                        f'serve.token_keys="{bus.directory}/operator.pub"')
    first, second = (bus.caller(token("acme.alice")) for _ in range(2))
    check("two", first.get()["type"] == "hello" and second.get()["type"] == "hello")
    third = bus.caller(token("acme.alice"))
    lines, status = third.rest()
    check("third", status == 126 and not lines, (status, lines, third.lines))
    other = bus.caller(token("acme.bob"))
    check("another", other.get()["type"] == "hello")
    first.process.stdin.close()
    check("end", first.rest()[1] == 0)
    check("left", worker.said("acme.alice has left"))
    again = bus.caller(token("acme.alice"))
    check("again", again.get()["type"] == "hello")
    check("status", worker.end() == 143)


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


class Hostile:
    """A worker that is written by hand: `does` maps requests to what it sends of them.

    A place has one link at a time. What a well-behaved worker would send is the rest."""

    GOOD = {"value": None, "verdict": {"reason": "ok", "evidence": {}}, "kept": True,
            "isolation": {"backend": "namespaces", "enforces": ["fs_read", "fs_write", "network"]}}

    def __init__(self, bus):
        self.does = {}
        self.plain = socket.create_connection(("127.0.0.1", bus.port), timeout=HANG)
        self.file = self.plain.makefile("rb")
        self.plain.sendall(b'CONNECT {"verbose":false}\r\nSUB lz.1.open.default w 1\r\n'
                           b'SUB lz.1.s.*.in 2\r\nPING\r\n')
        while self.file.readline() != b"PONG\r\n":
            pass
        threading.Thread(target=self._listen, daemon=True).start()

    def publish(self, subject, header, data=b""):
        payload = json.dumps({"v": 1, **header}).encode() + b"\n" + data
        self.plain.sendall(b"PUB %s lz.1.s.%s.in %d\r\n%s\r\n" % (
            subject.encode(), self.link.encode(), len(payload), payload))

    def line(self, data):
        if not isinstance(data, str):
            data = json.dumps(data)
        self.publish(self.inbox, {"kind": "line", "link": self.link, "n": self.n, "part": 0,
                                  "of": 1, "credit": self.credit}, data.encode())
        self.n += 1

    def result(self, id_, **members):
        self.line({"type": "result", "id": id_, "result": {**self.GOOD, **members}})

    def hello(self):
        self.line({"type": "hello", "protocol": 1, "version": "1", "max_line": 1 << 24,
                   "max_sessions": 0, "timeout_ms": 0, "deadline_ms": 0, "max_tool_calls": 0,
                   "max_output_lines": 0})

    def _listen(self):
        while (words := self.file.readline().split()):
            if words[0] == b"PING":
                self.plain.sendall(b"PONG\r\n")
            if words[0] != b"MSG":
                continue
            header, data = self.file.read(int(words[-1]) + 2)[:-2].split(b"\n", 1)
            self._frame(json.loads(header), data)

    def _frame(self, header, data):
        if header["kind"] == "open":
            self.link, self.n, self.credit = os.urandom(16).hex(), 0, 1 << 20
            self.inbox = f"lz.1.c.{header['caller']}.{header['open']}"
            self.publish(f"{self.inbox}.open", {
                "kind": "opened", "open": header["open"], "link": self.link, "worker": "w-hostile",
                "boot": "0" * 32, "lease": 15000})
            self.hello()
        elif header["kind"] == "line" and header["link"] == self.link:
            self.credit += len(data)
            self._request(json.loads(data))

    def _request(self, asked):
        kind = asked["type"]
        if kind == "execute" and not self.does.get("ready"):
            self.does["ready"] = True  # what is in force
            self.result(asked["id"])
        elif kind in self.does:
            self.does[kind](asked)
        elif kind == "open":
            self.does["ready"] = False
            self.line({"type": "opened", "id": asked["id"], "session": 1})
        elif kind == "execute":
            self.result(asked["id"], value=5)
        elif kind == "put":
            self.line({"type": "done", "id": asked["id"]})


def hostile():
    """A worker that lies: nothing but its own session is harmed, and what is kept has bounds."""
    bus = Bus("hostile")
    called = f"{bus.directory}/called"
    config = f"{bus.directory}/far.toml"
    with open(config, "w") as file:
        file.write('session.where = "cluster"\nsession.start_timeout = 600\nsession.timeout = 600\n'
                   'session.deadline = 1200\nsession.interrupt_grace = 0.1\n'
                   f'audit.file = "{bus.directory}/audit.log"\ncluster.open_timeout = 600\n'
                   f'[cluster.nats]\nurl = "nats://127.0.0.1:{bus.port}"\nconnect_timeout = 60\n'
                   '[[tools]]\nprovider = "command"\n[[tools.tool]]\nname = "ours"\n'
                   f'description = "of this side"\ncommand = ["/usr/bin/touch", "{called}"]\n')
    worker = Hostile(bus)
    caller = Caller([lazaret, "serve", "--config", config])
    check("hello", caller.get()["type"] == "hello")
    session = caller.ask("open", runtime="python")["session"]

    def run(does, code="1", **members):
        worker.does["execute"] = does
        return caller.run(code, session=session, **members)["result"]

    def judged(got, reason):
        return got["verdict"]["reason"] == reason

    got = run(lambda asked: worker.result(asked["id"], value=5))
    check("works", got["value"] == 5, got)
    # A value, or evidence, that has lines of its own is no message of this side, nor a record.
    forged = '{"type":"result","id":%d,"result":{"value":[\n{"type":"failed","code":"forged"}\n],' \
             '"verdict":{"reason":"error","evidence":{"a":\n{"event":"forged"}\n}}}}'
    got = run(lambda asked: worker.line(forged % asked["id"]))
    check("lines", judged(got, "worker_lost") and "forged" not in str(getattr(caller, "others", "")),
          got)
    # A second hello, or a result of what was not asked, changes nothing of what follows.
    check("hello twice", judged(run(lambda asked: worker.hello()), "worker_lost"))

    def early(asked):
        for i in (1, 2, 3):
            worker.result(asked["id"] + i, value="early")
        worker.result(asked["id"], value=1)
        worker.result(asked["id"], value="late")

    check("early", [run(early)["value"], run(early)["value"]] == [1, 1])
    # What it says beside the outcome is kept up to a bound.
    many = [{"layer": "network"}] * 900

    def much(asked):
        for i in range(2000):
            worker.line({"type": "artifact", "id": asked["id"], "name": f"a{i}", "dropped": 1})
        worker.result(asked["id"], value=1, denials=many, warnings=["w"] * 900, usage={
            "cpu_ms": 1e15}, verdict={"reason": "ok", "evidence": {"a": "b" * 100000}})

    got = run(much)
    check("much", judged(got, "ok") and len(got["warnings"]) <= 100 and len(got["denials"]) <= 100 and
          not got["verdict"]["evidence"] and len(json.dumps(got)) < 200000, got)
    check("cpu", got["usage"]["cpu_ms"] < 1e12, got["usage"])
    for name in ("../a", "/a", "a/../../b", "\x1b[31m"):
        got = run(lambda asked, name=name: worker.line({
            "type": "artifact", "id": asked["id"], "name": name, "data": "YWJj", "part": 0}))
        check(f"artifact {name!r}", judged(got, "protocol_error") and not got["artifacts"], got)

    # Tools are for code: a file that is put, or code that is checked, calls none.
    def call(asked):
        worker.line({"type": "tool_call", "call": 1, "id": asked["id"], "tool": "ours", "args": {}})

    run(lambda asked: worker.result(asked["id"]))
    worker.does["put"] = call
    answer = caller.ask("put", session=session, name="f", data="YWJj")
    check("call in put", "while no code was executed" in str(answer), answer)
    run(lambda asked: worker.result(asked["id"]))
    check("call in check", "while no code was executed" in str(run(call, check=True)))
    check("not called", not os.path.exists(called))
    # One that does not answer, and does not hear that it is to stop.
    run(lambda asked: worker.result(asked["id"]))
    worker.does["execute"] = lambda asked: worker.line(
        {"type": "output", "id": asked["id"], "stream": "stdout", "text": "go"})
    running = caller.begin("execute", session=session, code="1", output=True)
    while caller.get()["type"] != "output":
        pass
    caller.send("interrupt", id=9999, session=session)
    check("interrupt", verdict(caller.wait(running)) == "cancelled")
    caller.process.stdin.close()
    check("end", caller.rest()[1] == 0)
    with open(f"{bus.directory}/audit.log") as file:
        events = [json.loads(one)["event"] for one in file]
    check("audit", "forged" not in events and "tool_call" not in events, events)


def wrong():
    """What cannot work is said."""
    bus = Bus("wrong")
    for arguments, words in ((["connect", "cluster", "--set", 'cluster.carrier="pigeon"'], "pigeon"),
                             (["worker", "--set", 'cluster.carrier="pigeon"'], "pigeon"),
                             (["worker", "--set", 'cluster.nats.url="nats://127.0.0.1:1"'], "nats"),
                             (["worker", "--set", 'cluster.token="x"'], "absolute"),
                             (["connect", "cluster", "--set", "cluster.open_timeout=0.2"],
                              "no worker of the pool default has")):
        done = subprocess.run([lazaret, arguments[0], *arguments[1:], "--config",
                               f"{bus.directory}/lazaret.toml"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=HANG)
        check(f"{arguments}", done.returncode and words in done.stderr and not done.stdout, done)

    # A worker that is told to use the account of a caller ends, and says so.
    directory = f"{bus.directory}/roles"
    made = subprocess.run([lazaret, "cluster", "init", directory, "--tenant", "acme", "--url",
                           "nats://127.0.0.1:4222"], capture_output=True, text=True, timeout=HANG)
    check("init", made.returncode == 0 and "nats-server -c" in made.stderr, made)
    server = Process(["nats-server", "-c", f"{directory}/nats-server.conf", "-p", "-1"])
    port = server.said(r"Listening for client connections on [0-9.]+:(\d+)").group(1)
    check("ready", server.said("Server is ready"))
    done = subprocess.run([lazaret, "worker", "--config", f"{directory}/acme-caller.toml", "--set",
                           f'cluster.nats.url="nats://127.0.0.1:{port}"', "--set",
                           'cluster.token=""'], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=HANG)
    check("role", done.returncode == 126 and "configuration of a worker" in done.stderr, done)


if __name__ == "__main__":
    main(globals())
