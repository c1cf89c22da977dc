# SPDX-License-Identifier: MIT
"""Programs that know nothing of a network list: programs.py LAZARET [--only TEXT], within world.py.

Each of programs.txt is run without a box, where it has to print what it should; in a session whose list names its
servers, cold and from a template, where it has to print the same; and in one whose list names others, where it must
not, and something must be denied: of each language one row from a template and one without its servers, and with
LAZARET_TEST_FULL=yes all. --outside: only the first. --repeated: one row of each language, in sessions alone."""

import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import world

HERE = os.path.dirname(os.path.abspath(__file__))
FULL = os.environ.get("LAZARET_TEST_FULL") == "yes"
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"

ALLOW = ["https://api.example.test", "https://api.example.test:8443", "http://web.example.test",
         "https://git.example.test", "git.example.test:22", "db.example.test:5432", "https://pypi.example.test",
         "https://npm.example.test", "https://cran.example.test", "plain.example.test:9000"]
# Others, on the same ports.
ELSEWHERE = ["other.example.test:%d" % port for port in (443, 8443, 80, 22, 5432, 9000)]


class Row:
    def __init__(self, block):
        head, _, rest = block.partition("\n")
        title, self.language, needs = (word.strip() for word in head.split("|"))
        self.marks = set(re.findall(r"\((full|optional)\)", title))
        self.title = re.sub(r" \((full|optional)\)", "", title)
        self.needs = needs.split()
        self.code, _, self.prints = rest.partition("-- prints\n")
        self.prints = self.prints.rstrip("\n") + "\n"

    def missing(self):
        """The first program that it needs and that is not installed."""
        for name in self.needs:
            if name == "pip" or name.startswith("python:"):
                there = subprocess.run(["python3", "-c", "import " + name.rpartition(":")[2]], check=False,
                                       stderr=subprocess.DEVNULL).returncode == 0
            elif name.startswith("r:"):
                there = subprocess.run(["Rscript", "-e", "loadNamespace('%s')" % name[2:]], check=False,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
            elif name == "runtime:javascript":
                there = glob.glob(os.path.join(os.path.dirname(sys.argv[1]), "../lib/**/javascript.so"), recursive=True)
            elif name in ("sshd", "postgres"):
                with open(os.environ["LAZARET_WORLD"], encoding="utf-8") as file:
                    there = {"sshd": "ssh"}.get(name, name) in json.load(file)["ports"]
            else:
                there = shutil.which(name)
            if not there:
                return name
        return None


def rows():
    with open(os.path.join(HERE, "programs.txt"), encoding="utf-8") as file:
        return [Row(block) for block in re.split(r"^== ", file.read(), flags=re.MULTILINE)[1:]]


class Place:
    """What rows find besides their servers: a directory that sessions can read, and the environment."""

    def __init__(self):
        with open(os.environ["LAZARET_WORLD"], encoding="utf-8") as file:
            said = json.load(file)
        self.directory = os.path.join(os.path.dirname(os.environ["LAZARET_WORLD"]), "given")
        os.mkdir(self.directory)
        self.set = {"CA": BUNDLE, "NODE_EXTRA_CA_CERTS": BUNDLE, "PIP_RETRIES": "0", "NPM_CONFIG_FETCH_RETRIES": "0", "LC_ALL": "C.UTF-8",
                    "GIT_PATH": os.path.join(os.path.dirname(said["ca"]), "git/tiny.git"),
                    "SSH_KEY": os.path.join(self.directory, "key"),
                    "SSH_KNOWN": os.path.join(self.directory, "known"),
                    "MUSL": os.path.join(self.directory, "resolve")}
        if "ssh_key" in said["files"]:
            shutil.copyfile(said["files"]["ssh_key"], self.set["SSH_KEY"])
            with open(self.set["SSH_KNOWN"], "w", encoding="ascii") as file:
                file.write(said["files"]["ssh_known"])
        if shutil.which("musl-gcc"):
            subprocess.run(["musl-gcc", "-static", "-O1", "-o", self.set["MUSL"], os.path.join(HERE, "resolve.c")],
                           check=True)

    def settings(self, allow):
        return {"network.allow": allow, "env.set": self.set, "sandbox.read": [self.directory],
                "sandbox.programs": "any", "sandbox.tmp_size": "256MiB", "limits.memory": "3GiB",
                "limits.nproc": 300, "limits.nofile": 1024, "limits.fsize": "200MiB", "limits.cpu": "unlimited",
                "session.timeout": 0, "session.deadline": 0, "session.start_timeout": 600}


PLAIN = {"shell": ["bash", "-c"], "python": ["python3", "-c"], "r": ["Rscript", "-e"], "javascript": ["node", "-e"]}


def outside(place, row):
    where = tempfile.mkdtemp(dir=os.path.dirname(place.directory))
    environment = {"PATH": os.environ["PATH"], "HOME": where, **place.set}
    try:
        done = subprocess.run([*PLAIN[row.language], row.code], cwd=where, env=environment, timeout=300, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except subprocess.TimeoutExpired:
        return "%s, outside: it did not end" % row.title
    if done.stdout != row.prints:
        return "%s, outside: prints %r: %s" % (row.title, done.stdout, done.stderr[-600:])
    return None


def inside(lazaret, server, row, warm, is_listed):
    name = "%s, %s" % (row.title, ("from a template" if warm else "cold") if is_listed else "not listed")
    with lazaret.Session(row.language, server=server, warm=warm) as session:
        result = session.execute(row.code, check=False)
    said = [denial["what"] for denial in result.denials]
    if is_listed and (result.stdout != row.prints or said):
        return "%s: prints %r: %s %s %s" % (name, result.stdout, result.stderr[-600:], result.error, result.denials)
    if not is_listed and (result.stdout == row.prints or "name" not in said):
        return "%s: prints %r, denials %s: %s" % (name, result.stdout, result.denials, result.stderr[-600:])
    return None


def tried_inside(path, place, chosen):
    sys.path.insert(0, os.path.join(HERE, "../../clients/python/src"))
    import lazaret
    command = world.lazaret_of(path)
    first = {row.language: row for row in reversed(chosen)}
    with lazaret.Server(command, settings=place.settings(ALLOW), start_timeout=600) as server, \
            lazaret.Server(command, settings=place.settings(ELSEWHERE), start_timeout=600) as other, \
            concurrent.futures.ThreadPoolExecutor(3) as threads:
        runs = [(server, row, False, True) for row in chosen]
        runs += [(server, row, True, True) for row in chosen if FULL or first[row.language] is row]
        first = {row.language: row for row in reversed(chosen) if ".test" in row.code}
        runs += [(other, row, False, False) for row in chosen
                 if ".test" in row.code and (FULL or first[row.language] is row)]
        yield from threads.map(lambda run: inside(lazaret, *run), runs)


def main():
    words = sys.argv[1:]
    only = words[words.index("--only") + 1] if "--only" in words else ""
    chosen, place, failures = [], Place(), []
    for row in rows():
        if only not in row.title or ("full" in row.marks and not FULL):
            continue
        missing = row.missing()
        if missing and "optional" in row.marks:
            print("%s: %s is not installed" % (row.title, missing))
        elif missing:
            print("skipped: %s is not installed: %s" % (missing, row.title))
        else:
            chosen.append(row)
    if "--repeated" in words:
        chosen = list({row.language: row for row in reversed(chosen)}.values())
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        controls = [] if "--repeated" in words else chosen
        failures += [wrong for wrong in threads.map(lambda row: outside(place, row), controls) if wrong]
    if words[0] != "--outside":
        failures += [wrong for wrong in tried_inside(words[0], place, chosen) if wrong]
    for failure in failures:
        print("FAILED", failure)
    print("%d programs, %d failed" % (len(chosen), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
