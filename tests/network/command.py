# SPDX-License-Identifier: MIT
"""A network list as people write it: command.py LAZARET [--only TEXT], within world.py.

Each row is a configuration, options of `lazaret run`, a program, what it prints, and of the JSON of the result what
the first denial says; or what lazaret says of a list that it does not take."""

import json
import os
import socket
import subprocess
import sys
import threading

import world

WORK = os.path.dirname(os.environ["LAZARET_WORLD"])
SOCKET = os.path.join(WORK, "service.sock")
DOCKER = os.path.join(WORK, "docker.sock")
BASE = "[session]\nstart_timeout = 600\ntimeout = 0\ndeadline = 0\n[network]\n"


def where(name, port=9000):
    """A program that prints at which address a server was reached."""
    return ["bash", "-c", "exec 3<>/dev/tcp/%s/%d && echo where >&3 && read -r said <&3 && echo \"$said\"" %
            (name, port)]


def curl(url, *options):
    return ["curl", "-sS", *options, url]


SAYS = "host=%s name=%s target=/\n"
API, OTHER = "https://api.example.test/", "https://other.example.test/"
API_SAYS = SAYS % ("api.example.test", "api.example.test")

# Title; the table [network]; options; the program; what it prints; what the denial says, or None.
ROWS = [
    ("no list", "", [], curl(API), "", None),
    ("a list in a file", 'allow = ["https://api.example.test"]', [], curl(API), API_SAYS, None),
    ("another name", 'allow = ["https://api.example.test"]', [], curl(OTHER), "", "name"),
    ("an option", "", ["--allow", "api.example.test"], curl(API), API_SAYS, None),
    ("an option with a port", "", ["--allow", "plain.example.test:9000"], where("plain.example.test"),
     "93.184.216.10\n", None),
    ("an option, repeated", "", ["--allow", "plain.example.test:9000", "--allow", "api.example.test"], curl(API),
     API_SAYS, None),
    ("any public name", 'allow = ["*:443"]', [], curl(OTHER), SAYS % ("other.example.test", "other.example.test"), None),
    ("any public name, and a private one", 'allow = ["*:9000"]', [], where("private.example.test"), "", "private"),
    ("a name of the file", 'allow = ["made.example.test:9000"]\nhosts = {"made.example.test" = "93.184.216.99"}', [],
     where("made.example.test"), "93.184.216.99\n", None),
    ("a name of the file that is loopback",
     'allow = ["made.example.test:9000"]\nhosts = {"made.example.test" = "127.0.0.1"}', [],
     where("made.example.test"), "127.0.0.1\n", None),
    ("private addresses of a name", 'allow = [{host = "private.example.test:9000", to = ["10.0.0.0/8"]}]', [],
     where("private.example.test"), "10.1.2.3\n", None),
    ("loopback as addresses of a name", 'allow = [{host = "loop.example.test:9000", to = ["127.0.0.0/8"]}]', [],
     where("loop.example.test"), "127.0.0.1\n", None),
    ("other private addresses than those of a name",
     'allow = [{host = "private.example.test:9000", to = ["192.168.0.0/16"]}]', [], where("private.example.test"),
     "", "private"),
    ("private addresses of all names", 'allow = ["private.example.test:9000"]\ndeny_private = false', [],
     where("private.example.test"), "10.1.2.3\n", None),
    ("not loopback", 'allow = ["loop.example.test:9000"]\ndeny_private = false', [], where("loop.example.test"), "",
     "private"),
    ("not cloud metadata", 'allow = ["metadata.example.test:9000"]\ndeny_private = false', [],
     where("metadata.example.test"), "", "private"),
    ("addresses", 'allow = ["93.184.216.0/24:9000"]', [], where("93.184.216.44"), "93.184.216.44\n", None),
    ("addresses, and a name that is one of them", 'allow = ["93.184.216.0/24:9000"]', [],
     where("plain.example.test"), "", "name"),
    ("another resolver", 'allow = ["plain.example.test:9000"]\nresolver = "8.8.8.8"', [],
     where("plain.example.test"), "93.184.216.10\n", None),
    ("a resolver that is not there", 'allow = ["plain.example.test:9000"]\nresolver = "127.0.0.1:54"', [],
     where("plain.example.test"), "", "unreachable"),
    ("a server that is not there", 'allow = ["plain.example.test:9555"]', [], where("plain.example.test", 9555), "",
     "unreachable"),
    ("a name that does not exist", 'allow = ["nowhere.example.test:9000"]', [], where("nowhere.example.test"), "",
     "unreachable"),
    ("a port of the host", 'allow = ["host.lazaret:9002"]\n[network.host]\nports = [9002]', [],
     where("host.lazaret", 9002), "127.0.0.1\n", None),
    ("a socket of the host", 'allow = [{name = "db.lazaret:9000", unix = "%s"}]' % SOCKET, [],
     where("db.lazaret"), "here\n", None),
    ("bytes", 'allow = ["http://web.example.test"]\nmax_bytes = 100000', [],
     ["bash", "-c", "curl -sS http://web.example.test/big?n=1000000 | head -c 1000000 | wc -c | grep -x 1000000"], "",
     "limit"),
]

# Title; the table; options; what lazaret says.
WRONG = [
    ("a port that is none", 'allow = ["api.example.test:0"]', [], "api.example.test:0"),
    ("a path", 'allow = ["https://api.example.test/some"]', [], "a rule has no path"),
    ("a wildcard within", 'allow = ["api.*.test"]', [], "api.*.test"),
    ("a port of the host that is not offered", 'allow = ["host.lazaret:9002"]', [], "[network.host]"),
    ("docker's socket", 'allow = [{name = "d.lazaret:2375", unix = "%s"}]' % DOCKER, [], "dangerous"),
    ("an option that is wrong", "", ["--allow", "api.example.test:x"], "api.example.test:x"),
    ("a backend that cannot keep it", 'allow = ["api.example.test"]', ["--backend", "landlock"], "landlock"),
]


def service():
    """Two sockets of the host, of which one looks like docker's."""
    listening = [socket.socket(socket.AF_UNIX) for _ in range(2)]
    for one, path in zip(listening, (SOCKET, DOCKER)):
        one.bind(path)
        os.chmod(path, 0o777)
        one.listen()

    def answer():
        while True:
            there = listening[0].accept()[0]
            there.sendall(b"here\n")
            there.recv(99)
            there.close()

    threading.Thread(target=answer, daemon=True).start()
    return listening


class Command:
    def __init__(self, path):
        self.path, self.kept = world.lazaret_of(path), service()

    def run(self, table, options, program):
        file = os.path.join(WORK, "list.toml")
        with open(file, "w", encoding="utf-8") as config:
            config.write(BASE + table + "\n")
        return subprocess.run([self.path, "run", "--config", file, *options, "--", *program], text=True, cwd=WORK,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def row(self, title, table, options, program, prints, what):
        """What is wrong with its outcome, or None."""
        plain = self.run(table, options, program)
        if plain.stdout != prints or (plain.returncode == 0) != bool(prints):
            return "%s: status %d, prints %r: %s" % (title, plain.returncode, plain.stdout, plain.stderr)
        lines = [line for line in plain.stderr.splitlines() if line.startswith("lazaret: network: ")]
        if len(lines) != (what is not None):
            return "%s: of lazaret on standard error: %s" % (title, plain.stderr)
        result = json.loads(self.run(table, [*options, "--json"], program).stdout)
        said = [denial["what"] for denial in result["denials"] if denial["source"] == "network"]
        if said != ([what] if what else []):
            return "%s: denials: %s" % (title, result["denials"])
        enforced = result["isolation"]["mechanisms"]["network"]
        if bool(table or options) != enforced.startswith("only what is listed"):
            return "%s: the mechanism is %s" % (title, enforced)
        return None

    def wrong(self, title, table, options, says):
        done = self.run(table, options, ["echo", "CANARY"])
        if done.returncode != 125 or done.stdout or says not in done.stderr:
            return "%s: status %d, %r: %s" % (title, done.returncode, done.stdout, done.stderr)
        return None


def main():
    words = sys.argv[1:]
    only = words[words.index("--only") + 1] if "--only" in words else ""
    command = Command(words[0])
    rows = [row for row in ROWS if only in row[0]]
    wrong = [row for row in WRONG if only in row[0]]
    failures = [*(command.row(*row) for row in rows), *(command.wrong(*row) for row in wrong)]
    failures = [failure for failure in failures if failure]
    for failure in failures:
        print("FAILED", failure)
    print("%d lists, %d failed" % (len(rows) + len(wrong), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
