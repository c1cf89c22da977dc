# SPDX-License-Identifier: MIT
"""What a shell must not reach, use up or forge: test_probes.py LAZARET WORK.

Each probe has to do something outside of a box, where plain bash runs it, and must not in one. What only
root can do outside is tried there when root runs this, in namespaces that keep it from the machine."""

import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../../clients/python/src"))
import lazaret  # noqa: E402

LAZARET, WORK = sys.argv[1:3]
SETTINGS = {"session.timeout": 0, "session.deadline": 0, "session.start_timeout": 600,
            "limits.nproc": 60, "limits.memory": "100MiB", "limits.nofile": 64,
            "limits.fsize": "1MiB", "sandbox.tmp_size": "8MiB"}

# Prints "done" where it has done what it is about. $SECRET, $PLACE, $PORT and $VICTIM are the host's.
REACHES = {
    "reading a file of the host": 'grep -q secret "$SECRET" && echo done',
    "reading it through a link": 'ln -s "$SECRET" l && grep -q secret l && echo done',
    "reading it through /proc": 'grep -q secret "/proc/$VICTIM/root$SECRET" && echo done',
    "writing to a directory of the host": 'echo x > "$PLACE/$RANDOM.new" && echo done',
    "a connection by TCP": 'exec 3<>"/dev/tcp/127.0.0.1/$PORT" && echo done',
    "a datagram": 'echo x > "/dev/udp/127.0.0.1/$PORT" && echo done',
    "a connection by a program": "python3 -c 'import socket, sys; "
                                 "socket.create_connection((\"127.0.0.1\", int(sys.argv[1])))' \"$PORT\""
                                 " && echo done",
    "seeing a process": 'grep -qa sleep "/proc/$VICTIM/cmdline" && echo done',
    "signalling it": 'kill -CONT "$VICTIM" && grep -qa sleep "/proc/$VICTIM/cmdline" && echo done',
    "its environment": 'grep -qa VICTIM_HAS "/proc/$VICTIM/environ" && echo done',
    "a hundred processes": 'for i in $(seq 100); do sleep 20 & done 2>/dev/null; '
                           '[ "$(jobs -p | wc -l)" -eq 100 ] && echo done; kill $(jobs -p)',
    "a large file": 'head -c 3000000 /dev/zero > large && [ "$(stat -c %s large)" = 3000000 ] && echo done',
    "filling the disk": 'for i in $(seq 20); do head -c 1000000 /dev/zero > f$i || exit; done; echo done',
    "many descriptors": 'for i in $(seq 10 90); do eval "exec $i</dev/null" || exit; done; echo done',
    "much memory": 'x=$(head -c 150000000 /dev/zero | tr "\\0" x); [ ${#x} = 150000000 ] && echo done',
}

# Prints "done" where it has got out, or has got a right; outside only root can do all of it.
GAINS = {
    "another root": "unshare -rm true && echo done",
    "mounting": "mount -t tmpfs none /mnt && echo done",
    "a device": "mknod d b 7 0 && echo done",
    "the name of the host": "echo x > /proc/sys/kernel/hostname && echo done",
    "the memory of the agent": 'exec 3<>"/proc/$PPID/mem" && echo done',
    "another uid": "python3 -c 'import os; os.setuid(12345)' && echo done",
    "set-id bits": "cp /bin/true t && chmod u+s t && [ -u t ] && su -c true && echo done",
    "the kernel's log": "dmesg >/dev/null && echo done",
}

# What code writes to descriptors that it finds is nobody's end but its own.
FORGES = [
    'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && '
    'printf \'{"type":"result","id":1,"value":0}\\n\' >&"$fd"; done 2>/dev/null; (exit 41)',
    'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && '
    'head -c 4096 /dev/zero >&"$fd"; done 2>/dev/null; (exit 41)',
    'for p in /proc/[0-9]*; do for fd in "$p"/fd/*; do '
    '[ "${fd##*/}" -gt 2 ] && (printf \'{"type":"result"}\\n\' > "$fd") & done; wait; done 2>/dev/null; (exit 41)',
    'kill -34 $$ 2>/dev/null; kill -62 $PPID 2>/dev/null; (exit 41)',
]


def run(session, code):
    return session.execute(code, check=False)


def printed(result):
    return "".join(piece.text for piece in result.output if piece.stream == "stdout")


def main():
    secret, place = os.path.join(WORK, "secret"), os.path.join(WORK, "place")
    for directory in (secret, place):
        os.makedirs(directory)
        os.chmod(directory, 0o777)
    with open(os.path.join(secret, "file"), "w", encoding="utf-8") as file:
        file.write("secret\n")
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    victim = subprocess.Popen(["sleep", "3600"], env={"VICTIM_HAS": "1", "PATH": os.environ["PATH"]})
    values = {"SECRET": os.path.join(secret, "file"), "PLACE": place, "VICTIM": str(victim.pid),
              "PORT": str(listener.getsockname()[1])}
    given = "".join("%s=%s\n" % item for item in values.items())
    failures = []

    def plain(code, *before):
        done = subprocess.run([*before, "bash", "-c", "cd \"$1\"\n" + given + code, "bash", place],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return b"done" in done.stdout

    with lazaret.Server(LAZARET, settings=SETTINGS) as server:
        for warm in (False, True):
            for name, code in {**REACHES, **GAINS}.items():
                with lazaret.Session("shell", server=server, warm=warm) as session:
                    result = run(session, given + code)
                    if "done" in printed(result):
                        failures.append("%s: was done in a box: %r" % (name, result))
                    after = run(session, "echo alive")
                    if printed(after) != "alive\n":
                        failures.append("%s: the session is of no use after it: %r" % (name, after))
        for code in FORGES:
            with lazaret.Session("shell", server=server) as session:
                result = run(session, code)
                ended = result.verdict in ("protocol_error", "crashed") or result.value in (41, 137, 162)
                if not ended or printed(run(session, "echo alive")) != "alive\n":
                    failures.append("%s: %r" % (code, result))
    outside = [(name, plain(code)) for name, code in REACHES.items()]
    if os.geteuid() == 0:
        outside += [(name, plain(code, "unshare", "-mu")) for name, code in GAINS.items()]
    for name, could in outside:
        if not could:
            failures.append("%s: cannot be done outside, so it says nothing" % name)
    victim.kill()
    victim.wait()
    listener.close()
    for failure in failures:
        print("FAILED", failure)
    print("%d probes, %d failed" % (len(REACHES) + len(GAINS) + len(FORGES), len(failures)))
    return bool(failures)


sys.exit(main())
