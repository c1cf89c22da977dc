# SPDX-License-Identifier: MIT
"""Workers as config/ starts them, beside a real nats-server: `deploy.py PART LAZARET DIR ROOT`, in a
network namespace that is empty but for its loopback.

The manifests are run as they are (pod.py), with the files that `lazaret cluster init` makes, and looked at by
callers. What fails is printed; the exit status is 1 then. ROOT is the root directory of an image, or host:PREFIX
(pod.py), where PREFIX is that of an installation.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request

import yaml

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{here}/../session")
from cluster_bus import HANG, Caller, Process, check, lazaret, main, output, work  # noqa: E402

root = sys.argv[4]
config = f"{here}/../../config"
NATS = "nats.nats.svc"


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more)


class Bus:
    """A nats-server with TLS and the accounts of `lazaret cluster init`, by the name that manifests use."""

    def __init__(self):
        self.directory = f"{work}/cluster"
        run(lazaret, "cluster", "init", self.directory, "--tenant", "acme", "--tenant", "other", "--url",
            f"tls://{NATS}:4222")
        self.certificates()
        for caller, tenant in (("acme", "acme"), ("wrong", "other")):
            token = run(lazaret, "token", f"{tenant}.caller", "--sign-with", f"{self.directory}/token.key")
            with open(f"{self.directory}/{caller}.jwt", "w",
                      opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(token.stdout)
        self.secret, self.public = f"{work}/secret", f"{work}/public"
        for path in (self.secret, self.public):
            os.mkdir(path)
        # In a Pod the files are at /etc/lazaret/cluster, as where cluster init is run with that directory.
        with open(f"{self.directory}/acme-worker.toml") as file:
            self.write(f"{self.secret}/worker.toml", file.read().replace(self.directory,
                                                                         "/etc/lazaret/cluster"))
        for name in ("ca.pem", "token.key.pub"):
            with open(f"{self.directory}/{name}") as file:
                self.write(f"{self.public}/{name}", file.read())
        self.server = Process(["nats-server", "-c", f"{self.directory}/nats-server.conf"])
        check("nats", self.server.said("Server is ready"), self.server.lines)

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def certificates(self):
        at = self.directory
        self.write(f"{work}/extensions", f"subjectAltName=DNS:{NATS}\n")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", f"{work}/ca.key", "-out", f"{at}/ca.pem", "-subj", "/CN=test", "-days", "2")
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            f"{at}/server.key", "-out", f"{work}/request", "-subj", f"/CN={NATS}")
        run("openssl", "x509", "-req", "-in", f"{work}/request", "-CA", f"{at}/ca.pem", "-CAkey",
            f"{work}/ca.key", "-set_serial", "1", "-out", f"{at}/server.pem", "-days", "2", "-extfile",
            f"{work}/extensions")

    def caller(self, token="acme", *settings):
        words = [lazaret, "connect", "cluster", "--config", f"{self.directory}/acme-caller.toml"]
        for setting in (f'cluster.token="{self.directory}/{token}.jwt"', *settings):
            words += ["--set", setting]
        return Caller(words)


class Pod(Process):
    """A worker in the container of a manifest."""

    def __init__(self, bus, manifest, *options, must=True, command=(),
                 stdout=subprocess.DEVNULL):
        self.manifest = f"{config}/kubernetes/{manifest}.yaml"
        entry = ["--entry", "/usr/local/bin/lazaret"] if root.startswith("host:") else []
        os.makedirs(f"{work}/root", exist_ok=True)
        super().__init__([sys.executable, f"{here}/pod.py", "--scratch", f"{work}/root", "--volume",
                          f"secret={bus.secret}", "--volume", f"public={bus.public}", "--host",
                          f"{NATS}=127.0.0.1", *entry, *options, self.manifest, root, *command],
                         stdin=subprocess.DEVNULL, stdout=stdout)
        self.name = None if command else self.said(r"listening at (w-\w+)")
        if must and not command:
            check(f"{manifest} starts", self.name and self.said("metrics at"), self.lines)

    def pid(self):
        """Of the worker, as this machine sees it."""
        pid = self.process.pid
        while True:
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            if len(status["NSpid"].split()) > 1:
                return pid, status
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                pid = int(file.read().split()[0])

    def documents(self):
        with open(self.manifest, encoding="utf-8") as file:
            return list(yaml.safe_load_all(file))


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=HANG) as answer:
            return answer.status, answer.read().decode()
    except OSError as error:
        return 0, str(error)


# ---- what a manifest promises --------------------------------------------------------------------


def confined(pod, manifest):
    """The worker has no right that the manifest does not give."""
    pid, status = pod.pid()
    check("user", status["Uid"].split() == ["65532"] * 4, status["Uid"])
    check("group", status["Gid"].split() == ["65532"] * 4 and status["Groups"].split() == ["65532"], status)
    check("capabilities", all(int(status[name], 16) == 0 for name in
                              ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")), status)
    check("no_new_privs", status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status)
    own = {kind: os.readlink(f"/proc/{pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}")
           for kind in ("mnt", "pid", "ipc", "uts", "cgroup", "user")}
    check("namespaces", own == {**dict.fromkeys(own, True), "user": manifest == "worker-userns"}, own)
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8") as file:
        mounts = {fields[4]: fields[5].split(",") for fields in map(str.split, file)}
    check("read-only root", "ro" in mounts["/"] and "rw" in mounts["/tmp"], mounts)
    check("image", "ro" in mounts.get("/usr", ["ro"]), mounts)
    check("secret", "ro" in mounts["/etc/lazaret/cluster/worker.toml"], mounts)
    check("/proc", ("/proc/sys" in mounts) == (manifest == "worker-restricted"), mounts.keys())


def watched(pod):
    """Probes are answered, and the metric that the autoscaler reads is there."""
    documents = pod.documents()
    (workload,) = [one for one in documents if one["kind"] == "Deployment"]
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        probe = container[name]["httpGet"]
        answer = get(ports[probe["port"]], probe["path"])
        check(name, answer[0] == 200, answer)
    (scaler,) = [one for one in documents if one["kind"] == "HorizontalPodAutoscaler"]
    metric = scaler["spec"]["metrics"][0]["pods"]["metric"]["name"]
    text = get(ports["metrics"], "/metrics")[1]
    check("metric", re.search(rf"^{metric} \d+$", text, re.M), text[:500])
    return text


ISOLATION = {
    "worker-restricted": ("landlock", {"fs_read", "fs_write", "network", "syscalls"}, "cold"),
    "worker-userns": ("bwrap", {"fs_read", "fs_write", "network", "processes", "syscalls"}, "template"),
}
CODE = """import os
for path in ('/etc/lazaret/cluster/worker.toml', '/proc/1/environ', '/proc/1/mem'):
    try:
        print('read', path, open(path).read())
    except Exception as error:
        pass
for i in range(3):  # processes that nobody waits for
    if os.fork() == 0:
        os._exit(0) if os.fork() else os._exit(0)
    os.wait()
print(6 * 7)"""


def used(bus, pod, manifest):
    """Code runs, in the box that the manifest asks for, whichever caller of the tenant wants it."""
    backend, enforces, kind = ISOLATION[manifest]
    callers = [bus.caller(), bus.caller()]
    for caller in callers:
        check("hello", caller.get()["type"] == "hello", caller.lines)
        result = caller.run(CODE)
        isolation = (result.get("result") or {}).get("isolation") or {}
        check("runs", result["type"] == "result" and output(result) == "42\n", result)
        check("backend", isolation.get("backend") == backend, isolation)
        check("enforces", enforces <= set(isolation.get("enforces", ())), isolation)
    text = watched(pod)
    check("starts", re.search(rf'start_seconds_count{{kind="{kind}"}} [1-9]', text), text[:3000])
    check("places", "\nlazaret_places_used 2\n" in text, text[:3000])
    pid, _ = pod.pid()
    while zombies(pid):  # they are waited for by who is process 1
        time.sleep(0.05)
    wrong = bus.caller("wrong")
    lines, status = wrong.rest()
    check("wrong tenant", status == 126 and not lines, (status, lines))
    return callers


def zombies(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = file.read().split()
    found = 0
    for child in children:
        try:
            with open(f"/proc/{child}/stat", encoding="utf-8") as file:
                found += file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            pass
    return found


def ends(bus, pod, callers):
    """SIGTERM, as a node sends it: nobody comes any more, who is there goes on."""
    session = callers[0].ask("open")["session"]
    pod.kill(signal.SIGTERM)
    while "\nlazaret_places 0\n" not in get(9464, "/metrics")[1]:
        if pod.process.poll() is not None:
            check("drains", False, pod.lines)
            return
        time.sleep(0.02)
    late = bus.caller("acme", "cluster.open_timeout=0.1")
    check("late", late.rest()[1] == 125, late.lines)
    check("goes on", output(callers[0].run("print(1)", session=session)) == "1\n")
    check("healthy", get(9464, "/healthz")[0] == 200)
    for caller in callers:
        caller.process.stdin.close()
        check("end", caller.rest()[1] == 0)
    check("status", pod.process.wait(HANG) == 143, pod.lines)


def manifest(bus, name):
    pod = Pod(bus, name, "--set", "session.start_timeout=600", "--set", "session.timeout=600", "--set",
              "session.deadline=1200")
    if pod.name:
        confined(pod, name)
        ends(bus, pod, used(bus, pod, name))


# ---- the parts -----------------------------------------------------------------------------------


def refused_by(bus, *options, kind="template"):
    """Why a worker of worker-userns.yaml runs no code with these changes, in a session that starts so."""
    pod = Pod(bus, "worker-userns", "--set", "session.start_timeout=60", *options, must=False)
    result = None
    if pod.name:
        caller = bus.caller()
        if caller.get():
            result = caller.run("print(1)")
        starts = get(9464, "/metrics")[1]
        caller.process.kill()
    ran = bool(result and result["type"] == "result" and result["result"]["ok"] and
               f'kind="{kind}"}} 1' in starts)
    pod.end(signal.SIGKILL)
    return "" if ran else json.dumps(result) + str(pod.lines)


def kubernetes():
    """Both manifests. Under RuntimeDefault the second one has no box: it is our profile that lets it have one."""
    bus = Bus()
    manifest(bus, "worker-restricted")
    manifest(bus, "worker-userns")
    words = refused_by(bus, "--profile", "RuntimeDefault")
    check("RuntimeDefault", words, "code ran without our profile")
    bus.server.end()


def needed():
    """Each call that our profile adds is needed: without any one of them there is no box, or no template."""
    bus = Bus()
    with open(f"{config}/kubernetes/lazaret-seccomp.json", encoding="utf-8") as file:
        names = json.load(file)["syscalls"][-1]["names"]
    for name in names:
        more, kind = (), "template"
        if name == "setns":  # for what a box with a network list has outside of it
            more = ("--set", 'network.allow=["example.org:443"]')
        elif name == "unshare":  # for a box that bwrap makes for one session
            more, kind = ("--set", 'pool.warm="cold"'), "cold"
        check(f"with {name}", not refused_by(bus, *more, kind=kind), "no code ran")
        words = refused_by(bus, "--without", name, *more, kind=kind)
        check(f"without {name}", words, "it ran all the same")
        print(f"without {name}: {words[:300]}")
    bus.server.end()


def machine(bus):
    """This mount namespace is a machine: with the installation in /usr/local, and an /etc of its own."""
    run("mount", "--bind", root.removeprefix("host:"), "/usr/local")
    os.mkdir(f"{work}/etc")
    run("mount", "-t", "tmpfs", "tmpfs", f"{work}/etc")
    for name in ("upper", "work"):
        os.mkdir(f"{work}/etc/{name}")
    run("mount", "-t", "overlay", "overlay", "-o",
        f"lowerdir=/etc,upperdir={work}/etc/upper,workdir={work}/etc/work", "/etc")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    bus.write("/etc/hosts", f"127.0.0.1 localhost {NATS}\n")
    for name in ("cluster", "tls"):
        os.makedirs(f"/etc/lazaret/{name}", 0o700, exist_ok=True)
    os.chmod("/etc/lazaret", 0o755)


def unit(name, files):
    """What systemd would start, with copies of files for an ordinary user alone."""
    with open(f"{config}/systemd/{name}.service.in", encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    words = re.search(r"^ExecStart=(.*)$", text, re.M).group(1)
    places = f"/run/credentials/{name}.service"
    os.makedirs(places, 0o755)
    for credential, path in re.findall(r"^LoadCredential=([^:]+):(.*)$", text, re.M):
        with open(path, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(files[credential])
        with open(f"{places}/{credential}", "w", opener=lambda path, flags: os.open(path, flags, 0o400)) as file:
            file.write(files[credential])
            os.fchown(file.fileno(), 65532, 65532)
    os.chown(places, 65532, 65532)
    os.chmod(places, 0o500)
    for key, value in re.findall(r"^Environment=(\w+)=(.*)$", text, re.M):
        words = words.replace("${" + key + "}", value)
    words = words.replace("%d", places).replace("@subgroup@", f"{config}/systemd/lazaret-subgroup")
    words = words.replace("@bindir@", "/usr/local/bin")
    return Process(["setpriv", "--reuid=65532", "--regid=65532", "--clear-groups", "--no-new-privs",
                    "--bounding-set=-all", "sh", *shlex.split(words)], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]}, cwd="/")


def contents(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def services():
    """What is started on machines as they are."""
    bus = Bus()
    machine(bus)
    units(bus)
    slurm(bus)
    bus.server.end()


def units(bus):
    """The services of systemd: as an ordinary user, with what they load as credentials."""
    worker = unit("lazaret-worker", {"worker.toml": contents(f"{bus.secret}/worker.toml"),
                                     "token.key.pub": contents(f"{bus.public}/token.key.pub"),
                                     "ca.pem": contents(f"{bus.public}/ca.pem")})
    check("worker", worker.said("listening at w-"), worker.lines)
    caller = bus.caller()
    caller.get()
    result = caller.run("import os; print(os.getuid() != 0)")
    check("runs", output(result) == "True\n", result)
    worker.kill(signal.SIGTERM)
    check("goes on", output(caller.run("print(1)")) == "1\n")
    caller.process.stdin.close()
    check("status", worker.process.wait(HANG) == 143, worker.lines)
    bus.write("/etc/lazaret/operator.pub", contents(f"{bus.public}/token.key.pub"))
    bus.write("/etc/lazaret/lazaret.toml", '[serve]\ntoken_keys = "/etc/lazaret/operator.pub"\n')
    server = unit("lazaret-serve", {"server.pem": contents(f"{bus.directory}/server.pem"),
                                    "server.key": contents(f"{bus.directory}/server.key")})
    address = server.said(r"listening at (tls://\S+)")
    check("server", address, server.lines)
    if address:
        client = Caller([lazaret, "connect", f"tls://{NATS}:{address.group(1).rsplit(':', 1)[1]}", "--ca",
                         f"{bus.directory}/ca.pem", "--token-file", f"{bus.directory}/acme.jwt"])
        client.get()
        check("served", output(client.run("print(1)")) == "1\n")
        client.process.stdin.close()
    check("status", server.end() == 143, server.lines)


def slurm(bus):
    """The script of Slurm, with an srun that starts one task here."""
    os.mkdir(f"{work}/bin")
    bus.write(f"{work}/bin/srun", '#!/bin/sh\nwhile case $1 in --*) ;; *) false ;; esac; do shift; done\n'
              'exec "$@"\n')
    os.chmod(f"{work}/bin/srun", 0o755)
    job = Process(["sh", f"{config}/slurm/lazaret-worker.sbatch"], stdin=subprocess.DEVNULL,
                  stdout=subprocess.DEVNULL,
                  env={"PATH": f"{work}/bin:{os.environ['PATH']}", "LAZARET": "/usr/local/bin/lazaret",
                       "LAZARET_WORKER": f"{bus.directory}/acme-worker.toml", "HOME": work})
    check("listens", job.said("listening at w-"), job.lines)
    caller = bus.caller()
    caller.get()
    check("runs", output(caller.run("print(1)")) == "1\n")
    job.kill(signal.SIGTERM)
    check("goes on", output(caller.run("print(1)")) == "1\n")
    caller.process.stdin.close()
    check("status", job.process.wait(HANG) == 143, job.lines)


def sandbox():
    """The template for agent-sandbox."""
    bus = Bus()
    pod = Pod(bus, "agent-sandbox")
    if pod.name:
        confined(pod, "worker-restricted")
        caller = bus.caller()
        caller.get()
        check("runs", output(caller.run("print(1)")) == "1\n")
        ends(bus, pod, [caller])
    bus.server.end()


def languages():
    """Each language of the image, in both boxes."""
    bus = Bus()
    for name, (backend, enforces, _) in ISOLATION.items():
        pod = Pod(bus, name, "--set", "session.start_timeout=600", "--set", "session.timeout=600")
        caller = bus.caller()
        caller.get()
        for language, code in (("python", "print(6 * 7)"), ("lua", "print(6 * 7)"),
                               ("shell", "echo $((6 * 7))")):
            session = caller.ask("open", runtime=language)
            result = caller.run(code, session=session.get("session"))
            check(f"{name} {language}", result["type"] == "result" and output(result) == "42\n" and
                  result["result"]["isolation"]["backend"] == backend and
                  enforces <= set(result["result"]["isolation"]["enforces"]), (session, result))
        pod.end(signal.SIGKILL)
        caller.process.kill()
    bus.server.end()


def doctor():
    """lazaret doctor in the containers, with the settings of their workers."""
    bus = Bus()
    for name in ISOLATION:
        pod = Pod(bus, name, command=["/usr/bin/lazaret", "doctor", "--set", "session.deadline=600",
                                      *pod_settings(name)], stdout=subprocess.PIPE)
        said, status = pod.process.stdout.read(), pod.process.wait(HANG)
        check(f"{name} doctor", status == 0 and "all is well" in said, said)
    bus.server.end()


def pod_settings(name):
    with open(f"{config}/kubernetes/{name}.yaml", encoding="utf-8") as file:
        words = [one for document in yaml.safe_load_all(file) if document["kind"] == "Deployment"
                 for one in document["spec"]["template"]["spec"]["containers"][0]["args"]]
    return [one for one in words if one.startswith("--set=sandbox.")]


if __name__ == "__main__":
    with open(f"{work}/hosts", "w", encoding="ascii") as hosts:
        hosts.write(f"127.0.0.1 localhost {NATS}\n")
    run("mount", "--bind", f"{work}/hosts", "/etc/hosts")
    main(globals())
