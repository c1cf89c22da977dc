# SPDX-License-Identifier: MIT
"""Credentials that a client gives its sessions: `credentials_given.py LAZARET DIR`, as credentials_given.sh has it.

A client of this user gives names of the settings' and values of its own; the authority of the server is among those
of the system (credentials_given.sh has mounted it), since a client gives no file."""

import json
import os
import subprocess
import sys

import credential_server

lazaret, work = sys.argv[1:3]
failures = 0


def check(name, holds, detail=""):
    global failures
    if not holds:
        failures += 1
        print(f"FAILED {name}: {str(detail)[:600]}", flush=True)


class Client:
    """A server on standard input and output."""

    def __init__(self, config):
        self.log = open(f"{work}/log", "a+")
        self.process = subprocess.Popen([lazaret, "serve", "-v", "--config", config], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.id, self.said = 0, []
        self.hello = json.loads(self.process.stdout.readline())

    def ask(self, type_, /, **members):
        self.id += 1
        self.process.stdin.write(json.dumps({"type": type_, "id": self.id, **members}) + "\n")
        self.process.stdin.flush()
        while line := self.process.stdout.readline():
            self.said.append(line)
            message = json.loads(line)
            if message.get("id") == self.id and message["type"] in ("opened", "done", "failed", "result"):
                return message
        raise RuntimeError("the server has ended")

    def run(self, code, **members):
        return self.ask("execute", code=code, **members)["result"]

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        return self.process.wait()


def mapped(pid, text):
    """Where the memory of a process has it."""
    found = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            bounds, mode = line.split()[:2]
            begin, end = (int(one, 16) for one in bounds.split("-"))
            if not mode.startswith("r") or line.rstrip().endswith(("[vvar]", "[vsyscall]")):
                continue
            try:
                memory.seek(begin)
                data = memory.read(end - begin)
            except (OSError, ValueError):
                continue
            if text.encode() in data:
                found.append(line.rstrip())
    return found


def command(tokens, value):
    """`lazaret run`: its JSON has what was used, for people it is a line of --verbose."""
    for options, words in ((["--json"], None), (["-v"], f"credentials: ours for {credential_server.NAME} (1)"),
                           ([], None)):
        done = subprocess.run([lazaret, "run", "--config", f"{work}/lazaret.toml", *options, "-e", tokens.code()],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        check(f"run {options}", done.returncode == 0 and "welcome ours" in done.stdout, done)
        check(f"run {options}: a line", words in done.stderr if words else "credentials" not in done.stderr, done)
        check(f"run {options}: no value", value not in done.stdout + done.stderr)
        if options == ["--json"]:
            check("json", json.loads(done.stdout)["credentials"] ==
                  [{"name": "ours", "host": credential_server.NAME, "count": 1}], done)


def package(tokens, mine, value):
    """The package for Python."""
    sys.path.append(sys.argv[4])
    os.environ.update(LAZARET=lazaret, LAZARET_CONFIG=f"{work}/lazaret.toml")
    import lazaret as package
    for credentials, said, name in ((["ours"], "welcome ours", "ours"), ([mine], "welcome theirs", "mine")):
        with package.Session(credentials=credentials) as session:
            result = session.execute(tokens.code())
            check(f"package {name}", result.value == said and result.credentials ==
                  [{"name": name, "host": credential_server.NAME, "count": 1}], result)
            check(f"package {name}: no value", value not in repr(result))
    package.default_server().close()


def main():
    tokens = credential_server.Tokens(work)
    with open(sys.argv[3], "a") as bundle, open(tokens.ca) as ca:
        bundle.write(ca.read())
    ours, theirs, once = tokens.token("ours"), tokens.token("theirs"), tokens.token("once")
    with open(f"{work}/token", "w") as file:
        file.write(ours + "\n")
    os.chmod(f"{work}/token", 0o600)
    with open(f"{work}/lazaret.toml", "w") as file:
        file.write('session.runtime = "python"\nsession.start_timeout = 600\nsession.timeout = 0\n'
                   f'audit.file = "{work}/audit.log"\n' + tokens.network() +
                   tokens.credential("ours", f'{{ file = "{work}/token" }}') +
                   tokens.credential("unused", '{ env = "NO_SUCH_VARIABLE" }'))
    code, host = tokens.code(), tokens.host

    def given(value, **more):
        return {"name": "mine", "host": host, "header": "Authorization: Bearer {secret}",
                "secret": {"value": value}, **more}

    def used(result):
        return [(one["name"], one["host"], one["count"]) for one in result["credentials"]]

    client = Client(f"{work}/lazaret.toml")
    # By its name; and the control: without any the server does not know who asks.
    session = client.ask("open", credentials=["ours"])["session"]
    result = client.run(code, session=session)
    check("name", result["value"] == "welcome ours" and used(result) == [("ours", credential_server.NAME, 1)], result)
    check("last", not client.run("1", session=session)["credentials"])
    session = client.ask("open", credentials=[])["session"]
    result = client.run(code, session=session)
    check("none", result["value"] == "who are you" and not result["credentials"], result)
    # By a value; also after a restart, which makes another session of the engine.
    session = client.ask("open", credentials=[given(theirs, placeholder={"env": "API_TOKEN"})])["session"]
    result = client.run(code, session=session)
    check("value", result["value"] == "welcome theirs" and used(result) == [("mine", credential_server.NAME, 1)],
          result)
    result = client.run("import os\nos.environ['API_TOKEN']", session=session)
    check("placeholder", result["value"].startswith("ghp_") and result["value"] != theirs, result)
    check("restart", client.ask("restart", session=session)["type"] == "opened")
    check("restarted", client.run(code, session=session)["value"] == "welcome theirs")
    check("variable", "API_TOKEN" not in client.run("import os\nlist(os.environ)", session=client.ask(
        "open", credentials=["ours"])["session"])["value"])
    # Pools, and sessions that are used once.
    pool = client.ask("open_pool", members=1, credentials=[given(theirs)])["pool"]
    check("pool", client.run(code, pool=pool)["value"] == "welcome theirs")
    result = client.run(code, credentials=[given(once)])
    check("once", result["value"] == "welcome once" and used(result) == [("mine", credential_server.NAME, 1)], result)
    # What is refused says which one it is, and never what was in it.
    secret = tokens.token("refused")
    for what, members, words in (
            ("unknown", [secret], "credentials[0]: "),
            ("second", ["ours", "theirs"], "credentials[1]: "),
            ("number", [7], "credentials[0]: a credential is a string or an object"),
            ("text of an object", [json.dumps(given(secret))], "credentials[0]: "),
            ("file", ["ours", {**given(secret), "secret": {"file": "/etc/shadow"}}], "credentials[1]: expected secret = "),
            ("command", [{**given(secret), "secret": {"command": ["/bin/sh", secret]}}], "credentials[0]: expected secret = "),
            ("name of a secret", [{**given(secret), "secret": "github"}], "credentials[0]: "),
            ("authority", [given(secret, ca=tokens.ca)], "credentials[0]: ca: "),
            ("member", [given(secret, x=secret)], "credentials[0]: "),
            ("control characters", [given(secret + "\r\nX: y")], "credentials[0]: "),
            ("none", [given("")], "credentials[0]: "),
            ("many", ["ours"] * 65, "credentials[64]: ")):
        for type_, more in (("open", {}), ("open_pool", {"members": 1}), ("execute", {"code": "1"})):
            answer = client.ask(type_, credentials=members, **more)
            message = answer.get("message") or str(answer.get("result", {}).get("error"))
            check(f"refused: {what} {type_}", words in message and (
                answer["type"] == "failed" or answer["result"]["verdict"]["reason"] == "setup_failed"), answer)
            check(f"without it: {what} {type_}", secret not in json.dumps(answer), answer)
    answer = client.ask("open", credentials="ours")
    check("no list", answer["type"] == "failed" and "credentials" in answer["message"], answer)
    answer = client.ask("execute", session=session, code="1", credentials=["ours"])
    check("open session", answer["type"] == "failed" and answer["code"] == "LAZ_EINVAL", answer)
    # The session and the pool that have `theirs` are open. What was used once is over, and was refused is nowhere.
    if os.geteuid() == 0:
        check("memory has", mapped(client.process.pid, theirs))
        for name, value in (("once", once), ("refused", secret)):
            check(f"memory: {name}", not mapped(client.process.pid, value), mapped(client.process.pid, value))
    check("status", client.end() == 0)
    with open(f"{work}/audit.log") as file:
        audit = file.read()
    records = [json.loads(line) for line in audit.splitlines()]
    events = [one["credential"] for one in records if one["event"] == "credential_used"]
    check("audit", [one["name"] for one in events] == ["ours"] + ["mine"] * 4 and
          all(one["host"] == credential_server.NAME and one["count"] == 1 for one in events), events)
    with open(f"{work}/log") as file:
        log = file.read()
    for where, text in (("log", log), ("audit", audit), ("answers", "".join(client.said))):
        check(f"values: {where}", text and not any(one in text for one in (ours, theirs, once, secret)))
    check("saw", tokens.saw.count("theirs") == 3 and tokens.saw.count("refused") == 0, tokens.saw)
    command(tokens, ours)
    package(tokens, given(theirs), theirs)
    print(f"{failures} failed")
    return failures > 0


sys.exit(main())
