# SPDX-License-Identifier: MIT
"""A task as a coding agent has it, in one session by MCP: test_task.py LAZARET CONFIG WORK.

A repository is cloned, looked at, changed, built with make, tested and committed; on the way a build
fails, a command is interrupted, and what git would run later stays as it is."""

import json
import os
import shutil
import subprocess
import sys

LAZARET, CONFIG, WORK = sys.argv[1:4]

ORIGIN = r"""
set -e
mkdir origin && cd origin && git init -q -b main .
cat > calc.c <<'E'
#include <stdio.h>
#include <stdlib.h>
int add(int a, int b) { return a - b; }
int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    printf("%d\n", add(atoi(argv[1]), atoi(argv[2])));
    return 0;
}
E
printf 'calc: calc.c\n\t$(CC) -Wall -o $@ $<\ntest: calc\n\t./test.sh\n.PHONY: test\n' > Makefile
printf '#!/bin/sh\n[ "$(./calc 2 3)" = 5 ] && echo passed || { echo "2 + 3 is $(./calc 2 3)"; exit 1; }\n' \
    > test.sh
chmod +x test.sh
git add . && git -c user.name=o -c user.email=o@x commit -qm 'a calculator'
"""


class Agent:
    """Calls `execute` of the server in turn."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={},
                 clientInfo={"name": "agent", "version": "1"})

    def ask(self, method, **params):
        self.last += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method,
                                             "params": params}).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def says(self, code, *parts, **more):
        result = self.ask("tools/call", name="execute", arguments={"code": code, **more})
        text = result["content"][0].get("text", "")
        for part in parts:
            assert part in text, "%s\n    gave %r\n    without %r" % (code, text, part)
        return text

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def play(project):
    agent = Agent([LAZARET, "mcp", "--config", CONFIG, "--set", "session.start_timeout=600",
                   "--set", "session.timeout=0", "--set", "session.deadline=0",
                   "--set", "session.interrupt_grace=60",
                   "--read", os.path.join(WORK, "origin"), "--write", project, "--cwd", project])
    # A session that root has started has a user of its own, whose the repository is not.
    agent.says("git config --global --add safe.directory '*'", "(no output)")
    agent.says("git clone -q %s/origin calc && cd calc && ls" % WORK, "Makefile\ncalc.c\ntest.sh")
    agent.says("pwd; git log --oneline | wc -l", project + "/calc\n1")
    agent.says("make test", "2 + 3 is -1", "exit status 2")
    agent.says("grep -n 'a - b' calc.c", "3:int add(int a, int b) { return a - b; }")
    agent.says("sed -i 's/a - b/a + c/' calc.c && make", "error:", "exit status 2")
    agent.says("sed -i 's/a + c/a + b/' calc.c && make -s && make -s test", "passed\n")
    agent.says("git status --short", " M calc.c\n")
    agent.says("git diff | grep '^[-+]int'", "-int add(int a, int b) { return a - b; }\n+int add")
    assert "exit status" not in agent.says("git commit -qam 'addition adds'")
    agent.says("git log --format='%an: %s' -1", "agent: addition adds\n")
    agent.says("n=3")
    agent.says("sleep 600", "keeps its variables", timeout=1)
    agent.says("echo $n; pwd", "3\n" + project + "/calc\n")
    agent.says("python3 -c 'print(6 * 7)' > answer && cat answer && rm answer", "42\n")
    agent.says("touch %s/.envrc" % project, "exit status 1")  # sandbox.protect
    agent.end()
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", os.path.join(project, "calc"), "log",
                           "--format=%s"], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"addition adds\na calculator\n", done.stdout
    assert not os.path.exists(os.path.join(project, ".envrc"))


def main():
    missing = [program for program in ("git", "make", "gcc", "python3") if not shutil.which(program)]
    if missing:
        print("skipped: %s is not installed" % missing[0])
        return
    project = os.path.join(WORK, "project")
    os.makedirs(project)
    os.chmod(project, 0o777)
    subprocess.run(["bash", "-c", ORIGIN], cwd=WORK, check=True, env=dict(os.environ, HOME=WORK))
    subprocess.run(["chmod", "-R", "a+rX", os.path.join(WORK, "origin")], check=True)
    play(project)
    print("played")


main()
