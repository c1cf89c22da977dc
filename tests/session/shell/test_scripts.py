# SPDX-License-Identifier: MIT
"""Shell scripts in a box against plain bash: test_scripts.py LAZARET SCRIPTS WORK [COLD...].

SCRIPTS is a file of scripts (tests/data/shell/scripts.txt), or a directory of *.sh. Each is run by
`bash FILE`, by `lazaret run FILE`, and as code of a session of its own: output and status have to be
the same. Standard error is compared by whether there is any."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../../clients/python/src"))
import lazaret  # noqa: E402

LAZARET, SCRIPTS, WORK = sys.argv[1:4]
OPTIONS = sys.argv[4:]
SET = ["--set=session.timeout=0", "--set=session.deadline=0", "--set=session.start_timeout=600",
       "--set=artifacts.max_files=0", '--set=env.set={LC_ALL="C.UTF-8",TZ="UTC"}']
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": WORK, "LC_ALL": "C.UTF-8", "TZ": "UTC",
               **{name: text for name, text in os.environ.items() if name.startswith("LAZARET")}}
SETTINGS = {"session.timeout": 0, "session.deadline": 0, "session.start_timeout": 600,
            "artifacts.max_files": 0, "env.set": {"LC_ALL": "C.UTF-8", "TZ": "UTC"}}


def scripts():
    if os.path.isdir(SCRIPTS):
        for name in sorted(os.listdir(SCRIPTS)):
            with open(os.path.join(SCRIPTS, name), encoding="utf-8", errors="surrogateescape") as file:
                yield name, file.read()
        return
    with open(SCRIPTS, encoding="utf-8") as file:
        for block in re.split(r"^== ", file.read(), flags=re.MULTILINE)[1:]:
            title, text = block.split("\n", 1)
            yield title, text


def needs(title):
    found = re.search(r"\(needs ([^)]*)\)", title)
    return found.group(1).split() if found else []


def in_directory(number, way, command, code):
    where = os.path.join(WORK, "%s-%d" % (way, number))
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    with open(os.path.join(where, "script.sh"), "w", encoding="utf-8",
              errors="surrogateescape") as file:
        file.write(code)
    return subprocess.run(command, cwd=where, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def plain(number, code):
    """The script lies in a directory of its own, and the empty one is where it runs."""
    where = os.path.join(WORK, "empty-%d" % number)
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    command = ["sh", "-c", 'file=$PWD/script.sh; cd "$1" && exec bash "$file"', "sh", where]
    return in_directory(number, "plain", command, code)


def boxed(number, code):
    command = [LAZARET, "run", "--quiet", *OPTIONS, *SET, "script.sh"]
    return in_directory(number, "boxed", command, code)


def in_session(server, code):
    """Code of a session that has run something before: its status and its streams."""
    streams = {"stdout": b"", "stderr": b""}

    def take(stream, text):
        streams[stream] += text.encode("utf-8", "surrogateescape")

    with lazaret.Session("shell", server=server) as session:
        session.execute("before=1")
        result = session.execute(code, check=False, output=take)
    return result.value, streams["stdout"], streams["stderr"], result.verdict


def differs(way, expected, status, output, errors, more=""):
    if (status == expected.returncode and output == expected.stdout
            and bool(errors) == bool(expected.stderr)):
        return None
    return "%s\n    expected %d %r %r\n    found    %s %r %r %s" % (
        way, expected.returncode, expected.stdout[-600:], expected.stderr[-300:],
        status, output[-600:], errors[-300:], more)


def judge(item):
    number, (title, code) = item
    missing = [program for program in needs(title) if not shutil.which(program)]
    if missing:
        return title, "skipped: %s is not installed" % missing[0]
    expected = plain(number, code)
    found = boxed(number, code)
    why = differs("run", expected, found.returncode, found.stdout, found.stderr)
    # A syntax error ends a file; and what a file has printed before it is not printed by a text.
    if not why and "syntax error" not in title:
        why = differs("session", expected, *in_session(SERVER, code))
    return title, why


SERVER = lazaret.Server(LAZARET, settings=SETTINGS)


def main():
    os.makedirs(WORK, exist_ok=True)
    failed = n = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for title, why in pool.map(judge, enumerate(scripts())):
            n += 1
            if why and why.startswith("skipped"):
                print("ok %s # %s" % (title, why))
            elif why:
                failed += 1
                print("FAILED %s\n    %s" % (title, why))
    print("%d scripts, %d failed" % (n, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
