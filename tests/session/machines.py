# SPDX-License-Identifier: MIT
"""Workers on several machines, as tests/session/machines.sh has them: `machines.py PART LAZARET DIR`.

A machine is a network namespace on a bridge, with an address of its own: `server` has nats-server,
`w1` to `w3` have workers, `caller` has callers and the operator. All of it is in namespaces (network,
mounts, processes) that end with this process, whatever becomes of it, so that nothing of the
system's own network is touched, and what a worker leaves behind can be seen: it is what is left.
"""

import base64
import ctypes
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time


from cluster_bus import HANG, Bus, Caller, Process, check, lazaret, main, output, verdict, work

MACHINES = {"server": "10.77.0.1", "caller": "10.77.0.2", "w1": "10.77.0.11", "w2": "10.77.0.12",
            "w3": "10.77.0.13"}
WORKERS = ("w1", "w2", "w3")
SHORT = 1.5   # a disturbance that nobody must notice
LATE = 8      # seconds: one that took so long, because this machine is busy, may be noticed
OWN = [{"name": "own", "parameters": [{"name": "x", "type": "string"}]}]


def ip(*words):
    subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL)


def machines():
    os.makedirs("/run/netns", exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run/netns"], check=True)
    ip("link", "add", "bridge", "type", "bridge")
    ip("link", "set", "bridge", "up")
    for name, address in MACHINES.items():
        ip("netns", "add", name)
        ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", name, "master", "bridge", "up")
        ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "link", "set", "lo", "up")


def inside(where):
    """What starts a command on a machine: it is the process itself, so that it can be killed."""
    return ["nsenter", f"--net=/run/netns/{where}"]


def connected(where, address):
    """A connection from a machine, of this process: a thread goes there, and makes the socket."""
    made = []

    def go():
        file = os.open(f"/run/netns/{where}", os.O_RDONLY)
        check("setns", ctypes.CDLL(None).setns(file, 0x40000000) == 0)
        made.append(socket.create_connection(address, timeout=HANG))
        os.close(file)

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    return made[0]


def one_way(sender, receiver, works):
    """What one machine sends does not reach another; what comes from there does."""
    words = [MACHINES[receiver], "dev", "eth0"]
    if works:
        ip("-n", sender, "neighbour", "delete", *words)
    else:
        ip("-n", sender, "neighbour", "replace", *words, "lladdr", "02:00:00:00:de:ad", "nud", "permanent")


# ---- what is left --------------------------------------------------------------------------------


def processes(*helpers):
    """What runs here and was not started by this test; without what a living worker keeps."""
    ours = {os.getpid(), *(one.process.pid for one in Process.all)}
    left = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                state = file.read().rpartition(")")[2].split()[0]
            with open(f"/proc/{pid}/cmdline") as file:
                line = file.read().replace("\0", " ")
        except OSError:
            continue
        if int(pid) not in ours and state != "Z" and not any(one in line for one in helpers):
            left[int(pid)] = line
    return left


def directories(worker):
    """Those that a worker has locked: of its engine, which has all of its sessions."""
    found = set()
    for name in os.listdir(f"/proc/{worker.process.pid}/fd"):
        try:
            path = os.readlink(f"/proc/{worker.process.pid}/fd/{name}")
        except OSError:
            continue
        if re.fullmatch(r"/tmp/lazaret-\w{8}", path):
            found.add(path)
    return found


def until(name, holds):
    """Wait for what comes sooner or later; what is there instead is said when it does not come."""
    end = time.monotonic() + HANG
    while (left := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    check(name, not left, left)


KEPT = ("--warden", "--template", "--carry")  # helpers of an engine, as long as it lives


def clean(name, bus, kept=KEPT):
    """Nothing is left of any session, and no place is used."""
    until(f"{name}: processes", lambda: processes(*kept))
    until(f"{name}: places", lambda: [one for one in seen(bus) if one["used"]])


def seen(bus):
    listed = bus.operator("status", "--json")
    return json.loads(listed.stdout)["workers"] if listed.returncode == 0 else [{"used": listed.stderr}]


def spread(bus, workers):
    """A caller at each of the workers, however the bus chooses; the others leave again."""
    at, spare = {}, []
    while len(at) < len(workers):
        caller = bus.caller()
        check("hello", caller.get()["type"] == "hello")
        where = None
        while where is None:  # each worker says who has come; only one of them has news
            for name, worker in workers.items():
                if sum("has come" in (line or "") for line in worker.lines) > worker.come:
                    where, worker.come = name, worker.come + 1
            time.sleep(0.005)
        if where in at:
            spare.append(caller)
        else:
            at[where] = caller
    for caller in spare:
        leave(caller)
    return at


def start(bus, *names, settings=()):
    workers = {}
    for name in names:
        workers[name] = bus.worker(*settings, where=name)
        workers[name].come = 0
    return workers


def leave(caller):
    caller.process.stdin.close()
    lines, status = caller.rest()
    check("leave", status == 0 and not lines, (status, lines, caller.lines))


def answers(lines, id_):
    return [one for one in lines if one and one.get("id") == id_ and one["type"] in
            ("result", "failed", "opened", "done")]


def once(name, lines, id_, *verdicts, code="LAZ_ECLOSED"):
    """The request has ended exactly once, in one of these ways."""
    found = answers(lines, id_)
    words = [verdict(one) if one["type"] == "result" else one.get("code", one["type"]) for one in found]
    check(name, len(words) == 1 and words[0] in (*verdicts, code), (words, verdicts, lines))


# ---- the states of a caller ----------------------------------------------------------------------


def idle(caller):
    session = caller.ask("open", runtime="lua", tools=OWN)["session"]
    check("idle", verdict(caller.run("n = 1", session=session)) == "ok")
    return session


def executing(caller):
    session = idle(caller)
    running = caller.begin("execute", session=session, output=True,
                           code="print('go') io.stdout:flush() while true do end")
    while caller.get()["type"] != "output":
        pass
    caller.session = session
    return running


def calling(caller):
    """In a call of a tool, which the caller does not answer yet."""
    running = caller.begin("execute", session=idle(caller), code="for i = 1, 20 do own(tostring(i)) end")
    while (message := caller.get())["type"] != "tool_call":
        pass
    caller.call = message["call"]
    return running


def putting(caller):
    """Files of 3 MiB: more than a worker that stands still gives credit for."""
    data = base64.b64encode(b"x" * (1 << 20)).decode()
    files = [{"name": f"f{i}", "data": data} for i in range(3)]
    return caller.begin("execute", session=caller.session, code="print(1)", files=files)


def in_each_state(bus, worker):
    """Five callers of a worker that stands still at the end, each in another state."""
    callers = {name: bus.caller() for name in ("opening", "idle", "executing", "calling", "putting")}
    for caller in callers.values():
        check("hello", caller.get()["type"] == "hello")
    callers["putting"].session = idle(callers["putting"])
    callers["idle"].session = idle(callers["idle"])
    ids = {"executing": executing(callers["executing"]), "calling": calling(callers["calling"])}
    worker.kill(signal.SIGSTOP)
    ids["opening"] = callers["opening"].begin("open", runtime="lua")
    ids["putting"] = putting(callers["putting"])
    return callers, ids


# ---- the parts -----------------------------------------------------------------------------------


def use():
    """The same calls on each of three machines, and a caller that is on a machine of theirs."""
    bus = Bus("use", MACHINES["server"], inside)
    workers = start(bus, *WORKERS)
    for name, caller in spread(bus, workers).items():
        session = idle(caller)
        result = caller.run("for i = 1, 20 do own(tostring(i)) end print(own('a').x == nil)", session=session)
        check(f"{name}: tools", verdict(result) == "ok" and result["result"]["usage"]["tool_calls"] == 21, result)
        check(f"{name}: theirs", "worker" in output(caller.run("print(theirs())", session=session)))
        data = base64.b64encode(bytes(range(256)) * 4096).decode()
        result = caller.run("local f = io.open('f.bin', 'rb') local s = f:read('a') f:close() print(#s)\n"
                            "f = io.open('artifacts/a.bin', 'wb') f:write(s) f:close()", session=session,
                            artifacts=True, files=[{"name": "f.bin", "data": data}])
        got = "".join(one["data"] for one in caller.others if one["type"] == "artifact")
        check(f"{name}: files", output(result) == "1048576\n", result)
        check(f"{name}: artifacts", base64.b64decode(got) == base64.b64decode(data), len(got))
        check(f"{name}: error", verdict(caller.run("error('x')", session=session)) == "error")
        leave(caller)
    clean("use", bus)
    for worker in workers.values():
        check("status", worker.end() == 143)
    until("ended", processes)


def worker():
    """Kill -9 of a worker, while callers are in each state."""
    bus = Bus("worker", MACHINES["server"], inside)
    one = start(bus, "w1")["w1"]
    held = directories(one)
    check("directory", held)
    callers, ids = in_each_state(bus, one)
    one.kill(signal.SIGKILL)
    for name, caller in callers.items():
        lines, status = caller.rest()
        check(f"{name}: status", status == 125, (status, caller.lines))
        if name in ids:
            once(name, lines, ids[name], *(() if name == "opening" else ("worker_lost",)))
    until("processes", processes)
    start(bus, "w2")  # the next engine removes what one that was killed has left
    until("directories", lambda: [path for path in held if os.path.exists(path)])
    works(bus)


def server():
    """Kill -9 of the server, which comes back, while callers are in each state."""
    bus = Bus("server", MACHINES["server"], inside)
    one = start(bus, "w1")["w1"]
    callers, ids = in_each_state(bus, one)
    bus.server.end(signal.SIGKILL)
    bus.start()
    one.kill(signal.SIGCONT)
    ids["idle"] = callers["idle"].begin("execute", session=callers["idle"].session, code="print(n)")
    callers["executing"].send("interrupt", id=9999, session=callers["executing"].session)
    callers["calling"].send("answer", call=callers["calling"].call, value="a")
    for name, caller in callers.items():
        lines = []
        while (message := caller.get()) is not None:
            lines.append(message)
            if message["type"] == "tool_call":
                caller.send("answer", call=message["call"], value="a")
            if message.get("id") == ids[name]:
                break
        finish(caller, lines)
        once(name, lines, ids[name],
             *(("opened",) if name == "opening" else ("ok", "cancelled", "worker_lost")))
    clean("server", bus)
    works(bus)


def callers():
    """Kill -9 of callers in each state: nothing of them stays on the worker."""
    bus = Bus("callers", MACHINES["server"], inside)
    one = start(bus, "w1")["w1"]
    for caller in in_each_state(bus, one)[0].values():
        caller.process.kill()
        caller.process.wait()
    one.kill(signal.SIGCONT)
    clean("callers", bus)
    works(bus)
    check("status", one.end() == 143)
    until("ended", processes)


def works(bus):
    """Who comes now has a session as ever."""
    caller = bus.caller()
    check("works", caller.get()["type"] == "hello" and
          output(caller.run("print(1)", runtime="lua")) == "1\n")
    leave(caller)


def finish(caller, lines):
    """No more is asked for; what still comes."""
    try:
        caller.process.stdin.close()
    except OSError:
        pass
    rest, status = caller.rest()
    lines += rest
    check("finish", status in (0, 125), (status, caller.lines))


def disturb(**at):
    """Machines are cut off or stand still: `w1=how`. What ends it is given back."""
    undo = []
    for where, (how, worker) in at.items():
        if how == "down":
            ip("link", "set", where, "down")
            undo.append(lambda where=where: ip("link", "set", where, "up"))
        elif how == "paused":
            worker.kill(signal.SIGSTOP)
            undo.append(lambda worker=worker: worker.kill(signal.SIGCONT))
        else:
            ends = (where, "server") if how == "dumb" else ("server", where)
            one_way(*ends, False)
            undo.append(lambda ends=ends: one_way(*ends, True))
    return lambda: [one() for one in undo]


def brief():
    """Disturbances that are shorter than the lease: executions go on."""
    bus = Bus("brief", MACHINES["server"], inside)
    workers = start(bus, *WORKERS)
    callers = spread(bus, workers)
    for hows in (("down", "paused", "dumb"), ("deaf", "down", "paused")):
        ids = {name: calling(caller) for name, caller in callers.items()}
        began = time.monotonic()
        undo = disturb(**{name: (how, workers[name]) for name, how in zip(WORKERS, hows)})
        for caller in callers.values():
            caller.send("answer", call=caller.call, value="a")
        time.sleep(SHORT)
        undo()
        took = time.monotonic() - began
        for (name, caller), how in zip(callers.items(), hows):
            result = caller.wait(ids[name])
            if result is None or verdict(result) != "ok":
                check(f"{name} {how}", took > LATE, (took, result, caller.lines))
                return
            check(f"{name} {how}: calls", result["result"]["usage"]["tool_calls"] == 20, result)
    for caller in callers.values():
        leave(caller)
    clean("brief", bus)


def long():
    """Disturbances that are longer than the lease: what runs is lost, once, and nothing of it is left,
    also while the machine is still cut off."""
    bus = Bus("long", MACHINES["server"], inside)
    workers = start(bus, *WORKERS)
    for hows in (("down", "paused", "dumb"), ("deaf", "down", "paused")):
        for worker in workers.values():
            worker.left = sum("has left" in (line or "") for line in worker.lines)
        callers = spread(bus, workers)
        ids = {name: executing(caller) for name, caller in callers.items()}
        begun = {name: len(worker.lines) for name, worker in workers.items()}
        undo = disturb(**{name: (how, workers[name]) for name, how in zip(WORKERS, hows)})
        ended = {name: caller.rest() for name, caller in callers.items()}
        for (name, (lines, status)), how in zip(ended.items(), hows):
            once(f"{name} {how}", lines, ids[name], "worker_lost")
            check(f"{name} {how}: status", status == 125, status)
        for (name, worker), how in zip(workers.items(), hows):
            if how != "paused":
                until(f"{name} {how}: left", lambda worker=worker, at=begun[name]: not any(
                    "has left" in (line or "") for line in worker.lines[at:]) and worker.lines[at:])
        undo()
        clean(f"{hows}", bus)
    # The server is gone for longer than the lease, and then it is back.
    caller = bus.caller()
    caller.get()
    running = executing(caller)
    bus.server.end(signal.SIGKILL)
    lines, status = caller.rest()
    once("server", lines, running, "worker_lost")
    until("server: processes", lambda: processes(*KEPT))
    bus.start()
    works(bus)
    clean("server", bus)


def apart():
    """The machine of the callers is cut off: shortly, and longer than the lease."""
    bus = Bus("apart", MACHINES["server"], inside)
    one = start(bus, "w1")["w1"]
    caller = bus.caller()
    caller.get()
    running, began = calling(caller), time.monotonic()
    ip("link", "set", "caller", "down")
    caller.send("answer", call=caller.call, value="a")
    time.sleep(SHORT)
    ip("link", "set", "caller", "up")
    took = time.monotonic() - began
    result = caller.wait(running)
    if result is None or verdict(result) != "ok":
        check("short", took > LATE, (took, result, caller.lines))
        return
    check("short: calls", result["result"]["usage"]["tool_calls"] == 20, result)
    running = executing(caller)
    ip("link", "set", "caller", "down")
    lines, status = caller.rest()
    once("long", lines, running, "worker_lost")
    check("long: status", status == 125, status)
    check("long: left", one.said("has left: the caller is not heard of any more"), one.lines)
    until("long: processes", lambda: processes(*KEPT))  # while it is still cut off
    ip("link", "set", "caller", "up")
    clean("long", bus)
    works(bus)
    check("status", one.end() == 143)


def rolling():
    """Each worker is drained and replaced while callers come, work and go: none of them notices."""
    bus = Bus("rolling", MACHINES["server"], inside)
    workers = start(bus, *WORKERS)
    stop, done, wrongs = threading.Event(), [], []

    def load():
        while not stop.is_set():
            caller = bus.caller()
            hello = caller.get()
            opened = caller.ask("open", runtime="lua", tools=OWN) if hello else None
            result = opened and caller.run("own('a') print(6 * 7)", session=opened["session"])
            if not result or result["type"] != "result" or output(result) != "42\n":
                wrongs.append((hello, opened, result, caller.lines))
                return
            leave(caller)
            done.append(1)
            stop.wait(0.02)

    threads = [threading.Thread(target=load, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for name in WORKERS:
        at = len(done)
        until("load", lambda at=at: len(done) < at + 3 and not wrongs)
        while (drained := bus.operator("drain", workers[name].name)).returncode:
            if workers[name].process.poll() is not None or "says that it drains" not in drained.stderr:
                break
        check(f"{name}: drained", workers[name].process.wait(HANG) == 0, workers[name].lines)
        workers.update(start(bus, name))
    at = len(done)
    until("load", lambda: len(done) < at + 3 and not wrongs)
    stop.set()
    for thread in threads:
        thread.join()
    check("nobody noticed", not wrongs, wrongs)
    clean("rolling", bus)
    print(f"rolling: {len(done)} callers")


def frames():
    """Frames that are recorded on one machine and sent again from another one change nothing; and all
    workers full is an answer."""
    bus = Bus("frames", MACHINES["server"], inside)
    workers = start(bus, *WORKERS, settings=("cluster.places=1",))
    with connected("w1", (MACHINES["server"], bus.port)) as spy:
        spy.recv(4096)
        spy.sendall(b'CONNECT {"verbose":false}\r\nSUB lz.1.> 1\r\nPING\r\n')
        rest = b""
        while b"PONG" not in rest:
            rest += spy.recv(4096)
        rest = rest.partition(b"PONG\r\n")[2]
        caller = bus.caller()
        caller.get()
        session = idle(caller)
        for expected in ("2\n", "3\n"):
            result = caller.run("n = n + 1 print(n)", session=session)
            check("run", output(result) == expected, result)
        until("recorded", lambda: record(spy))
        again = [one for one in record.recorded if not one[0].endswith(b".hb")]
        check("recorded", any(b"lz.1.open." in one[0] for one in again) and len(again) > 8, again)
        with connected("w2", (MACHINES["server"], bus.port)) as replay:
            replay.recv(4096)
            replay.sendall(b'CONNECT {"verbose":false}\r\n' + b"".join(
                b"PUB %s %d\r\n%s\r\n" % (subject, len(data), data) for subject, data in again * 3) + b"PING\r\n")
            while b"PONG" not in replay.recv(1 << 16):
                pass
            result = caller.run("n = n + 1 print(n)", session=session)
            check("after a replay", output(result) == "4\n", result)
    # The recorded opening of a caller with a place: the worker that has it gives the same answer; one
    # that has none knows nothing of it, and its place ends when the caller says that it is superfluous.
    until("one place", lambda: sum(one["used"] for one in seen(bus)) != 1 and seen(bus))
    others = [bus.caller() for _ in range(2)]
    for other in others:
        check("hello", other.get()["type"] == "hello")
    full = bus.caller("cluster.open_timeout=0.2")
    lines, status = full.rest()
    check("full", status == 125 and not lines and full.said("no worker of the pool default has"), (status, full.lines))
    waits = bus.caller()
    others[0].process.kill()  # its place is free when its worker has noticed
    check("waits", waits.get()["type"] == "hello")
    for one in (caller, others[1], waits):
        leave(one)
    clean("frames", bus)
    check("places", len(workers) == 3)


def record(spy):
    """Take apart what the bus has said; true: the caller's end has not been seen."""
    spy.setblocking(False)
    data = getattr(record, "rest", b"")
    spy_recorded = getattr(record, "recorded", [])
    try:
        while (piece := spy.recv(1 << 16)):
            data += piece
    except BlockingIOError:
        pass
    while (found := re.match(rb"(?:\+OK|PING)\r\n|H?MSG (\S+) \S+ (?:\S+ )?(?:\d+ )?(\d+)\r\n", data)):
        size = int(found.group(2)) + 2 if found.group(2) else 0
        if len(data) < found.end() + size:
            break
        if found.group(1) and not found.group(0).startswith(b"H"):
            spy_recorded.append((found.group(1), data[found.end():found.end() + size - 2]))
        data = data[found.end() + size:]
    record.rest, record.recorded = data, spy_recorded
    spy.setblocking(True)
    return len([one for one in spy_recorded if b"print(n)" in one[1]]) < 2


def certified(directory):
    """Of the server, which is reached by its address."""
    with open(f"{directory}/server.ext", "w") as file:
        file.write(f"subjectAltName=IP:{MACHINES['server']}\nextendedKeyUsage=serverAuth\n")
    new = "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    for command in (f"{new} -x509 -days 3 -subj /CN=ca -keyout ca.key -out ca.pem",
                    f"{new} -subj /CN=server -keyout server.key -out server.csr",
                    "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3"
                    " -extfile server.ext -out server.pem"):
        subprocess.run(["openssl", *command.split()], cwd=directory, check=True, capture_output=True)


def raw(directory, user, *lines):
    """What the server answers to somebody who has the password of a user, up to the last answer."""
    with open(f"{directory}/{user}.toml") as file:
        password = re.search(r'password = "(\w+)"', file.read()).group(1)
    plain = connected("caller", (MACHINES["server"], 4222))
    plain.recv(4096)
    with ssl.create_default_context(cafile=f"{directory}/ca.pem").wrap_socket(
            plain, server_hostname=MACHINES["server"]) as tls:
        tls.sendall(json.dumps({"verbose": False, "user": user, "pass": password, "tls_required": True})
                    .join(("CONNECT ", "\r\n")).encode() + b"".join(lines) + b"PING\r\n")
        said = b""
        while b"PONG" not in said:
            said += tls.recv(1 << 16)
        return said


def tenants():
    """Two tenants with accounts of their own, over TLS, by what `lazaret cluster init` writes."""
    place = f"{work}/init"
    subprocess.run([lazaret, "cluster", "init", place, "--tenant", "acme", "--tenant", "other", "--url",
                    f"tls://{MACHINES['server']}:4222"], check=True, capture_output=True)
    certified(place)
    for name in ("acme", "other"):
        made = subprocess.run([lazaret, "token", f"{name}.caller", "--sign-with", f"{place}/token.key"],
                              check=True, capture_output=True, text=True)
        with open(f"{place}/{name}-caller.token", "w", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(made.stdout)
    server = Process([*inside("server"), "nats-server", "-c", f"{place}/nats-server.conf"])
    check("server", server.said("Server is ready"), server.lines)

    def begin(type_, role, where, *settings):
        more = [word for one in ("session.start_timeout=600", *settings) for word in ("--set", one)]
        return type_([*inside(where), lazaret, *(("worker", "-v") if type_ is Process else ("connect", "cluster")),
                      "--config", f"{place}/{role}.toml", *more],
                     **({"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL} if type_ is Process else {}))

    acme = begin(Process, "acme-worker", "w1")
    name = acme.said(r"listening at (w-\w+)").group(1)
    caller = begin(Caller, "acme-caller", "caller")
    check("own", caller.get()["type"] == "hello" and output(caller.run("print(1)", runtime="lua")) == "1\n")
    check("own", acme.said("acme.caller has come"))
    # The other tenant has no worker yet, and does not reach this one, whatever its token.
    for token in ("other", "acme"):
        lost = begin(Caller, "other-caller", "caller", "cluster.open_timeout=0.2",
                     f'cluster.token="{place}/{token}-caller.token"')
        lines, status = lost.rest()
        check(f"other, {token}", status == 125 and not lines and lost.said("no worker of the pool default has"),
              (status, lines, lost.lines))
    other = begin(Process, "other-worker", "w2")
    check("other", other.said("listening at"))
    wrong = begin(Caller, "other-caller", "caller", f'cluster.token="{place}/acme-caller.token"')
    lines, status = wrong.rest()
    check("token of another tenant", status == 126 and not lines, (status, lines, wrong.lines))
    theirs = begin(Caller, "other-caller", "w3")
    check("other", theirs.get()["type"] == "hello" and output(theirs.run("print(2)", runtime="lua")) == "2\n")
    spy = begin(Caller, "acme-caller", "caller", 'cluster.caller="somebody"')
    lines, status = spy.rest()
    check("name of another caller", status == 126 and not lines, (status, lines, spy.lines))
    # With a password of a caller: nothing of others is heard, and no worker is drained.
    for user in ("acme-caller", "other-caller"):
        drain = b"PUB lz.1.w.%s.ctl 5\r\ndrain\r\n" % name.encode()
        said = raw(place, user, b"SUB lz.1.> 1\r\n", b"SUB lz.1.s.* 2\r\n", b"SUB _INBOX.> 3\r\n", drain)
        check(f"{user}: permissions", said.count(b"-ERR 'Permissions Violation") == 4, said)
    check("after", output(caller.run("print(3)", runtime="lua")) == "3\n")
    check("drains", not any("drains" in (line or "") for line in acme.lines), acme.lines)
    for one in (caller, theirs):
        leave(one)
    check("status", (acme.end(), other.end()) == (143, 143))
    until("ended", processes)


if __name__ == "__main__":
    machines()
    main(globals())
