# SPDX-License-Identifier: MIT
"""A small internet for the tests of the network list: world.py [--with SERVER,...] COMMAND...

Runs COMMAND in namespaces of network and mounts of its own (and of users, if it is not root that runs it).
There every address leads to the servers of servers.py, on the ports that such servers have (443, 80, 22, 53,
5432): 93.184.216.10 as well as 8.8.8.8 and 169.254.169.254. /etc/resolv.conf names their DNS server, their CA is
among those of the system, and there is a user `tester`. So a program runs there unchanged, with ordinary names;
and what a sandbox must refuse can be shown to succeed without one.

With `own` among the servers the ports of TLS, 443 and 8443, are left to servers that COMMAND starts.
COMMAND finds in $LAZARET_WORLD the path of a JSON file: what servers.py says of itself."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import servers

PORTS = {"https": 443, "https2": 8443, "http": 80, "echo": 9000, "host": 9002, "unlisted": 9003, "full": 9004,
         "udp": 9001, "quic": 443, "dns": 53, "ssh": 22, "postgres": 5432, "git": 0}
LEFT = ("https", "https2") # to COMMAND, with "own"
ADDED = {"ssh": "sshd", "postgres": "postgres", "git": "git"}


def run(*command, quiet=False):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL if quiet else None)


def covered(path, text, place):
    """Puts a file over another one, in this namespace of mounts."""
    path = os.path.realpath(path)
    if not os.path.exists(path):
        return
    made = os.path.join(place, os.path.basename(path))
    with open(made, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(made, 0o644)
    run("mount", "--bind", made, path)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def trusted(directory):
    """The CA among those of the system: in the bundle, in the hashed directory, in Java's store."""
    system, place = "/etc/ssl/certs", os.path.join(directory, "certs")
    if not os.path.isdir(system):
        return
    shutil.copytree(system, place, symlinks=True)
    ca = os.path.join(directory, "ca.pem")
    shutil.copy(ca, os.path.join(place, "test-network.pem"))
    hashed = subprocess.run(["openssl", "x509", "-noout", "-subject_hash", "-in", ca], check=True,
                            stdout=subprocess.PIPE, text=True).stdout.strip()
    os.symlink("test-network.pem", os.path.join(place, hashed + ".0"))
    bundle = os.path.join(place, "ca-certificates.crt")
    if os.path.exists(bundle):
        with open(bundle, "a", encoding="utf-8") as file:
            file.write(read(ca))
    java = os.path.join(place, "java", "cacerts")
    if shutil.which("keytool") and os.path.exists(java):
        run("keytool", "-importcert", "-noprompt", "-alias", "test-network", "-file", ca, "-keystore", java,
            "-storepass", "changeit", quiet=True)
    run("mount", "--bind", place, system)


def lazaret_of(path):
    """The lazaret that a test within a world starts: as the user who has started the test. In a namespace of users
    this is an ordinary one again, by a script that stands for it."""
    before, _ = servers.ordinary()
    if not before or before[0] != "unshare":
        return path
    script = os.path.join(os.path.dirname(os.environ["LAZARET_WORLD"]), "lazaret")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexec %s '%s' \"$@\"\n" % (" ".join(before), path))
    os.chmod(script, 0o755)
    return script


def installed(name):
    if name == "own":
        return True
    if name == "ssh":
        return any(os.path.exists(path) for path in ("/usr/sbin/sshd", "/usr/local/sbin/sshd"))
    if name == "postgres":
        return bool(servers.Postgres.programs() or shutil.which("initdb"))
    return bool(shutil.which(ADDED[name]))


def inside(directory, added, command):
    run("ip", "link", "set", "lo", "up")
    run("ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo")
    run("ip", "-6", "route", "add", "local", "::/0", "dev", "lo")
    etc = os.path.join(directory, "etc")
    os.mkdir(etc)
    covered("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:30\n", etc)
    covered("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n", etc)
    covered("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n", etc)
    user = "tester:x:%d:%d::%s:/bin/sh\n" % (servers.TESTER, servers.TESTER, directory)
    covered("/etc/passwd", user + read("/etc/passwd"), etc)
    kept = [name for name in servers.Servers.ALWAYS if "own" not in added or name not in LEFT]
    wanted = {name: PORTS[name] for name in (*kept, "quic", *added) if name != "own"}
    process = subprocess.Popen(
        [sys.executable, servers.__file__, os.path.join(directory, "servers"),
         *("%s=%d" % item for item in wanted.items())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        said = process.stdout.readline()
        if not said:
            return 99
        shutil.copy(json.loads(said)["ca"], os.path.join(directory, "ca.pem"))
        trusted(directory)
        path = os.path.join(directory, "world.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(said)
        return subprocess.run(command, check=False, env={**os.environ, "LAZARET_WORLD": path}).returncode
    finally:
        process.stdin.close()
        process.wait()


def main():
    words, added = sys.argv[1:], []
    if words[0] == "--inside":
        sys.exit(inside(words[1], [name for name in words[2].split(",") if name], words[3:]))
    if words[0] == "--with":
        added, words = words[1].split(","), words[2:]
    added = [name for name in added if name and installed(name)]
    directory = tempfile.mkdtemp(prefix="world-lazaret.")
    os.chmod(directory, 0o755)
    entered = ["unshare", "-nm"] if os.geteuid() == 0 else ["unshare", "-Urnm"]
    try:
        status = subprocess.run([*entered, sys.executable, os.path.abspath(__file__), "--inside", directory,
                                 ",".join(added), *words], check=False).returncode
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
