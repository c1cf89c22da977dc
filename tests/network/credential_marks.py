# SPDX-License-Identifier: MIT
"""The last part of credentials.py: a search for the mark of every token, which the servers have seen.

It is looked for in the memory of each process that came of the host (but the one that is to have tokens), in their
variables and words, in the files that they see, in the results, the log, the audit log, what `plan` and `config` show,
and the messages of MCP. A second mark, which the code of the session is given, must be found in the same places: so
the search can tell."""

import array
import json
import logging
import os
import random
import subprocess

import credential_servers
from credential_servers import HOSTS, LETTERS, MARK, forms
from load import children

PROXY = "lazaret-proxy"
FULL = os.environ.get("LAZARET_TEST_FULL") == "yes"
CHUNK, MOST_FILE = 8 << 20, 64 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")

# The code of the session. Its processes are left as they are, with connections open, while they are searched.
LIVING = r'''
import os, subprocess, time
kept = %(second)r
os.environ["KEPT"] = kept
open("kept", "w").write(kept)
open("/tmp/kept", "w").write(kept)
stream = TRUST.wrap_socket(socket.create_connection((%(host)r, 443), 120), server_hostname=%(host)r)
for path in ("one", "two"):
    stream.sendall(("GET /%%s HTTP/1.1\r\nHost: %(host)s\r\n\r\n" %% path).encode())
    said = b""
    while not said.endswith(b"\n"):
        said += stream.recv(4096)
curl = subprocess.Popen(["curl", "-sS", "-N", "--expect100-timeout", "0", "-T", "-", "-X", "POST", "https://%(host)s/in"],
                        stdin=subprocess.PIPE)
curl.stdin.write(b"begun\n")
curl.stdin.flush()
core = subprocess.run(["bash", "-c", "ulimit -c unlimited; curl -sS https://%(host)s/three; kill -SEGV $$"],
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("living", core.returncode)
'''


def needles(mark):
    made = forms(mark)
    made["hexadecimal"] = mark.encode().hex().encode()
    made["UTF-16"] = mark.encode("utf-16-le")
    made["backwards"] = mark[::-1].encode()
    return made


def is_there(pages, start, end):
    """Has any page of it contents, in memory or swapped out?"""
    pages.seek(start // PAGE * 8)
    found = array.array("Q", pages.read((end - start) // PAGE * 8))
    return not found or any(entry >> 62 for entry in found)


class Search:
    """What has a mark, by place."""

    def __init__(self, mark):
        self.needles, self.found = needles(mark), []

    def look(self, data, place):
        for form, needle in self.needles.items():
            if needle in data:
                self.found.append("%s (%s)" % (place, form))

    def memory(self, pid, name):
        """All of it; unless FULL without what is mapped from files and cannot be written. How much there was."""
        size = 0
        with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as file:
            maps = [line.split(None, 5) for line in file]
        with open("/proc/%d/mem" % pid, "rb", 0) as memory, open("/proc/%d/pagemap" % pid, "rb", 0) as pages:
            for words in maps:
                where, access, inode = words[0], words[1], words[4]
                if access[0] != "r" or (inode != "0" and access[1] != "w" and not FULL):
                    continue
                start, end = (int(part, 16) for part in where.split("-"))
                before = b""
                while start < end:
                    if not is_there(pages, start, min(start + CHUNK, end)):
                        start, before = start + CHUNK, b""
                        continue
                    try:
                        memory.seek(start)
                        piece = memory.read(min(CHUNK, end - start))
                    except (OSError, OverflowError):
                        break # pages that nobody may read: [vvar]
                    if not piece:
                        break
                    self.look(before + piece, "memory of %s, %s" % (name, where))
                    before = piece[-200:]
                    start, size = start + len(piece), size + len(piece)
        return size

    def file(self, path, place):
        try:
            if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) <= MOST_FILE:
                with open(path, "rb") as file:
                    self.look(file.read(), place)
                return 1
        except OSError:
            pass
        return 0

    def files(self, root, place):
        """What a process sees that is not of the system."""
        count = 0
        for top in ("tmp", "var/tmp", "dev/shm", "run", "home", "root", "work", "workspace"):
            for directory, inner, names in os.walk(os.path.join(root, top)):
                inner[:] = inner[:200]
                self.look("\n".join(names).encode(errors="replace"), "names in %s" % directory)
                count += sum(self.file(os.path.join(directory, name), "%s: %s/%s" % (place, directory, name))
                             for name in names[:2000])
        return count


def read(path):
    with open(path, "rb") as file:
        return file.read()


def processes(tests, server, searches):
    """Of the session: memory, variables, words, files."""
    size, names, roots = 0, [], set()
    for pid in children(server.pid)[1:]:
        try:
            name = read("/proc/%d/comm" % pid).decode().strip()
            if name == PROXY[:15]:
                continue
            for search in searches:
                for what in ("environ", "cmdline"):
                    search.look(read("/proc/%d/%s" % (pid, what)), "%s of %s" % (what, name))
                size += search.memory(pid, name)
            root = "/proc/%d/root" % pid
            key = (os.stat(root + "/").st_dev, os.stat(root + "/").st_ino, os.readlink("/proc/%d/ns/mnt" % pid))
            if key not in roots and key[2] != os.readlink("/proc/self/ns/mnt"):
                roots.add(key)
                for search in searches:
                    if not search.files(root, name):
                        tests.wrong("marks", "no file of %s was found" % name)
                    search.files("/proc/%d/cwd/." % pid, name)
                    for entry in os.listdir("/proc/%d/cwd/" % pid):
                        search.file("/proc/%d/cwd/%s" % (pid, entry), "%s: %s" % (name, entry))
            names.append(name)
        except (FileNotFoundError, ProcessLookupError):
            pass # it has ended meanwhile
        except PermissionError as error:
            print("not searched: %s" % error)
    print("searched: %s; %d MiB" % (", ".join(names), size >> 20))
    if "curl" not in names or "lazaret-agent" not in names:
        tests.wrong("marks", "the processes of the session were not among those that were searched")


def commands(tests, command, path, searches):
    """What the command shows and logs."""
    code = tests.reach + "\nprint(raw(%r, b'GET /x HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n')[:12], %r)" % \
        (tests.host, tests.host, tests.second)
    given = os.path.join(tests.directory, "code.py")
    with open(given, "w", encoding="utf-8") as file:
        file.write(code)
    shown = {}
    for words in (["config"], ["config", "--json"], ["config", "--check"], ["plan"], ["plan", "--json"],
                  ["run", "--verbose", "--json", "--runtime", "python", "-e", code],
                  ["run", "--verbose", given]):
        whole = [command, words[0], "--config", path, *words[1:]]
        done = subprocess.run(whole, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=600)
        name = " ".join(words[:3])
        shown[name] = done.stdout + done.stderr
        if done.returncode:
            tests.wrong("marks", "%s: status %d: %r" % (name, done.returncode, shown[name][-400:]))
        for search in searches:
            search.look(shown[name], "lazaret " + name)
    return shown


def mcp(tests, command, path, searches):
    """The messages of a session by MCP."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                     "clientInfo": {"name": "tests", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "execute", "arguments": {
            "runtime": "python", "code": tests.reach + "\nprint(raw(%r, %r))\nprint(%r)" %
            (tests.bad, ("GET /script HTTP/1.1\r\nHost: %s\r\n\r\n" % tests.bad).encode(), tests.second)}}}]
    process = subprocess.Popen([command, "mcp", "--config", path, "--verbose"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()
    said = b""
    for line in process.stdout:
        said += line
        if json.loads(line).get("id") == 2:
            break
    rest, errors = process.communicate()
    for search in searches:
        search.look(said + rest + errors, "MCP")
    if b"X-Is" not in said:
        tests.wrong("marks", "MCP says %r" % (said + errors)[-600:])


def searched(tests, lazaret, server, command, path):
    """`tests`: as credentials.py has it, with all that was done before."""
    tests.count += 1
    tests.second = "".join(random.SystemRandom().choices(LETTERS, k=16))
    tests.host, tests.bad = HOSTS["api"], HOSTS["bad"]
    first, second = Search(MARK), Search(tests.second)
    both = (first, second)
    tests.servers.answers(b"HTTP/1.1 200 OK\r\nX-Was: %s\r\nX-Is: kept\r\nContent-Length: 3\r\n\r\nEND" %
                          credential_servers.DEMANDS[tests.bad].token.encode())
    known = len(tests.seen.requests)
    with lazaret.Session("python", server=server, warm=False) as session:
        session.execute(tests.reach)
        result = session.execute(LIVING % {"second": tests.second, "host": tests.host}, check=False)
        if not result.stdout.startswith("living"):
            tests.wrong("marks", "the session says %r %s %s" % (result.stdout, result.stderr, result.error))
        for search in both:
            search.look(repr(result).encode() + repr(tests.seen.requests[known:]).encode(), "results")
        processes(tests, server, both)
    commands(tests, command, path, both)
    mcp(tests, command, path, both)
    audit = read(tests.audit)
    if b'"event":"credential_used"' not in audit:
        tests.wrong("marks", "the audit log does not say that credentials were used")
    for search in both:
        search.look(audit, "the audit log")
        search.look("\n".join(tests.logged).encode(), "the log")
    for place in first.found:
        tests.wrong("marks", "the token is in " + place)
    judged(tests, second, known)


def judged(tests, second, known):
    """The search can tell, and the servers have seen the tokens."""
    places = " ".join(second.found)
    for place in ("memory of", "environ of", "/kept", "MCP", "lazaret run --verbose"):
        if place not in places:
            tests.wrong("marks", "the second mark was not found: %s: %s" % (place, places[:2000]))
    right = [request for request in tests.seen.requests[known:] if request.is_right]
    if len(right) < 6 or MARK.encode() not in tests.seen.after(0):
        tests.wrong("marks", "the servers have seen %d requests with a token" % len(right))


class Logged(logging.Handler):
    """What the client logs, with what the host says on its standard error."""

    def __init__(self, lines):
        super().__init__(logging.DEBUG)
        self.lines = lines

    def emit(self, record):
        self.lines.append(record.getMessage())
