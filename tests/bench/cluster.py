# SPDX-License-Identifier: MIT
"""Measures sessions of other machines beside those of this one: `cluster.py LINES LAZARET DIR [--quick] [--only KIND...]`.

scripts/bench cluster runs it, in namespaces of its own (tests/session/machines.py): all machines are this
one, and a network is a bridge. Each row is measured over a pipe to `lazaret serve`, over TLS to a
server on another machine, and over NATS to three workers, in turns; the round trip of NATS between two
clients, a request and its reply, is the floor. What is measured is tests/bench/lines.c.
"""

import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "session"))
program, lazaret, work = sys.argv[1:4]
quick = "--quick" in sys.argv
only = sys.argv[sys.argv.index("--only") + 1:] if "--only" in sys.argv else []  # kinds of rows
sys.argv[1:] = ["bench", lazaret, work]

import machines  # noqa: E402
from cluster_bus import Bus, Process, end_all  # noqa: E402

SETTINGS = ["pool.max_sessions=0", "serve.max_sessions=0", "serve.max_connections=0", "cluster.places=400",
            "session.max_tool_calls=0"]
ROUNDS = 1 if quick else 3
WAYS = ("pipe", "tls", "nats")
# What is wanted of one request at a time over NATS, beyond the pipe: round trips of the bus, and ms.
GOALS = {"open": (1, 0.5), "fresh": (1, 0.5), "execute": (1, 0.5), "tool": (2, 0.3)}
# A row, samples and outstanding requests, of one round.
ROWS = [("open", 300, 1), ("fresh", 100, 1), ("execute", 1000, 1), ("tool", 10, 1), ("value=65536", 200, 1),
        ("value=8388608", 5, 1),
        ("open", 1500, 64), ("fresh", 300, 64), ("execute", 8000, 64), ("tool", 128, 64), ("value=65536", 2000, 64)]


def certificates(directory, address):
    for command in (
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3 -subj /CN=ca -keyout ca.key -out ca.pem",
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=bob -keyout bob.key -out bob.csr",
            "x509 -req -in bob.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3 -extfile bob.ext -out bob.pem",
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server -keyout server.key -out server.csr",
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3 -extfile server.ext -out server.pem"):
        for name, text in (("bob", "extendedKeyUsage=clientAuth"),
                           ("server", f"subjectAltName=IP:{address}\nextendedKeyUsage=serverAuth")):
            with open(f"{directory}/{name}.ext", "w") as file:
                file.write(text + "\n")
        subprocess.run(["openssl", *command.split()], cwd=directory, check=True, capture_output=True)
    for name in ("ca", "bob", "server"):
        os.chmod(f"{directory}/{name}.key", 0o600)


def options(*settings):
    return [word for setting in (*SETTINGS, *settings) for word in ("--set", setting)]


def serve_tls(bus):
    address = machines.MACHINES["w1"]
    certificates(bus.directory, address)
    server = Process([*machines.inside("w1"), lazaret, "serve", "-v", "--config", f"{bus.directory}/lazaret.toml",
                      "--listen", f"tls://{address}:0",
                      *options(*(f'serve.{key}="{bus.directory}/{name}"' for key, name in
                                 (("certificate", "server.pem"), ("key", "server.key"), ("clients", "ca.pem"))))],
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    found = server.said(r"listening at (tls://\S+)")
    if not found:
        sys.exit("the TLS server does not start: " + " ".join(filter(None, server.lines)))
    return found.group(1)


def commands(bus):
    """How each way is reached."""
    config, place = ["--config", f"{bus.directory}/lazaret.toml"], bus.directory
    return {"pipe": [lazaret, "serve", *config, *options()],
            "tls": [lazaret, "connect", serve_tls(bus), "--ca", f"{place}/ca.pem", "--cert", f"{place}/bob.pem",
                    "--key", f"{place}/bob.key"],
            "nats": [lazaret, "connect", "cluster", *config]}


def taken(*words):
    """Samples, and the seconds that they took, of one run."""
    done = subprocess.run([*machines.inside("caller"), program, *map(str, words)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    samples = [float(line) for line in done.stdout.splitlines() if line[0].isdigit()]
    took = re.search(r"took ([0-9.]+)", done.stdout)
    return samples, float(took.group(1)) if took else 0


def percentile(samples, share):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] / 1000


def round_trips(bus):
    place = (machines.MACHINES["server"], str(bus.port))
    echo = subprocess.Popen([*machines.inside("w1"), program, "echo", *place], stdout=subprocess.PIPE)
    echo.stdout.readline()
    samples, _ = taken("ping", 300 if quick else 2000, *place)
    echo.kill()
    echo.wait()
    return samples


def rows(bus, ways):
    trips = []
    print(f"{'row':16} {'out':>4} {'way':5} {'n':>6} {'p50 ms':>9} {'p99 ms':>9} {'1/s':>9}   beyond the pipe")
    for kind, n, outstanding in (one for one in ROWS if not only or one[0] in only):
        got = {way: ([], []) for way in WAYS}
        n = max(n // 10, outstanding + 3) if quick else n
        trips_now = []
        for _ in range(ROUNDS):
            trips_now += round_trips(bus)
            for way in WAYS:
                slots = outstanding
                conns = 1 if outstanding == 1 else 1 if way == "pipe" else 6
                samples, took = taken(kind, n, outstanding, slots, conns, *ways[way])
                got[way][0].extend(samples)
                got[way][1].append(n * (100 if kind == "tool" else 1) / took)
        trips += trips_now
        trip = percentile(trips_now, 0.5)
        base = percentile(got["pipe"][0], 0.5)
        for way in WAYS:
            samples, rates = got[way]
            p50 = percentile(samples, 0.5)
            beyond = "" if way == "pipe" else f"{p50 - base:+.3f} ms"
            if way == "nats":
                beyond += f"; round trip {trip:.3f}"
            if way == "nats" and outstanding == 1 and kind in GOALS:
                most = GOALS[kind][0] * trip + GOALS[kind][1]
                beyond += f"; goal {most:+.3f}: {'met' if p50 - base <= most else 'MISSED'}"
            print(f"{kind:16} {outstanding:4} {way:5} {len(samples):6} {p50:9.3f} {percentile(samples, 0.99):9.3f}"
                  f" {statistics.median(rates):9.0f}   {beyond}", flush=True)
    print(f"{'round trip':16} {1:4} {'nats':5} {len(trips):6} {percentile(trips, .5):9.3f} {percentile(trips, .99):9.3f}")


def memory():
    """Bytes that processes here hold, shared ones by shares: those of callers, and the others."""
    callers = others = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                size = int(re.search(r"^Pss:\s+(\d+)", file.read(), re.M).group(1)) << 10
            with open(f"/proc/{pid}/cmdline") as file:
                line = file.read()
        except (OSError, AttributeError):
            continue
        if int(pid) == os.getpid() or line.startswith(program):
            continue
        if "\0connect\0" in line:
            callers += size
        else:
            others += size
    return callers, others


def held(bus, ways, sessions):
    """Sessions that are there at the same time."""
    for way, conns in (("pipe", 1), ("tls", 12), ("nats", 60)):
        before = memory()[1]
        process = subprocess.Popen([*machines.inside("caller"), program, "hold", "6400", "64", str(sessions),
                                    str(conns), *ways[way]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        found = re.match(r"ready ([0-9.]+)", process.stdout.readline())
        if not found:
            sys.exit(f"{way}: sessions cannot be held")
        callers, others = memory()
        process.stdin.write("go\n")
        process.stdin.flush()
        text = process.stdout.read()
        process.wait()
        samples = [float(line) for line in text.splitlines() if line[0].isdigit()]
        took = float(re.search(r"took ([0-9.]+)", text).group(1))
        print(f"{way}: {sessions} sessions by {conns} connections in {float(found.group(1)):.1f} s "
              f"({sessions / float(found.group(1)):.0f}/s), {(others - before) / sessions / 1e6:.2f} MB each, a caller "
              f"{callers / conns / 1e6:.1f} MB; execute in them, 64 outstanding: p50 {percentile(samples, .5):.3f} "
              f"p99 {percentile(samples, .99):.3f} ms, {len(samples) / took:.0f}/s", flush=True)
        machines.until("closed", lambda: [line for line in machines.processes(*machines.KEPT).values()
                                          if "lazaret-agent" in line])


def main():
    machines.machines()
    bus = Bus("bench", machines.MACHINES["server"], machines.inside)
    for name in machines.WORKERS:
        bus.worker(*SETTINGS, where=name)
    ways = commands(bus)
    rows(bus, ways)
    if not only or "hold" in only:
        held(bus, ways, 120 if quick else 1000)
    end_all()
    os._exit(0)


if __name__ == "__main__":
    main()
