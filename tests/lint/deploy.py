# SPDX-License-Identifier: MIT
"""What config/ has for many machines: `deploy.py SOURCE LAZARET`. Prints a line for each mistake.

The settings in it are known to the command, its numbers, names and paths agree with each other, and what is said
to be "restricted" is. First it is shown that each rule finds a mistake that is made on purpose.
"""

import copy
import json
import re
import shlex
import subprocess
import sys

import yaml

source, lazaret = sys.argv[1:]
IMAGE = "registry.example/lazaret:latest"
MANIFESTS = ("worker-restricted", "worker-userns", "agent-sandbox")


def read(path):
    with open(f"{source}/{path}", encoding="utf-8") as file:
        return file.read()


def seconds(word):
    number, unit = re.fullmatch(r"(\d+)(s|m|min|h|)", str(word)).groups()
    return int(number) * {"s": 1, "": 1, "m": 60, "min": 60, "h": 3600}[unit]


def workload(documents):
    """The Pod of a manifest, and its container."""
    for one in documents:
        spec = one["spec"] if "spec" in one else {}
        template = spec.get("template") or spec.get("podTemplate")
        if template:
            (container,) = template["spec"]["containers"]
            return template, template["spec"], container
    raise ValueError("no workload")


def settings_of(words):
    """KEY=VALUE of --set in a list of arguments."""
    found, words = [], list(words)
    while words:
        word = words.pop(0)
        if word == "--set":
            found.append(words.pop(0))
        elif word.startswith("--set="):
            found.append(word[6:])
    return found


def value(settings, key):
    return next((one.split("=", 1)[1].strip('"') for one in settings if one.startswith(key + "=")), None)


def unknown(settings):
    """What the command says of them, beside what `lazaret cluster init` writes."""
    command = [lazaret, "config", "--check"]
    for one in ('cluster.nats.url="tls://nats.nats.svc:4222"', *settings):
        command += ["--set", one.replace("%d/", "/run/credentials/x/")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Whether the files and the backend are there is not a matter of the settings.
    return [line for line in (done.stdout + done.stderr).splitlines()
            if "unknown" in line or "expected" in line]


# ---- the rules: each yields its mistakes ---------------------------------------------------------


def restricted(pod, container):
    """The Pod Security Standard "restricted"."""
    outer, inner = pod.get("securityContext", {}), container.get("securityContext", {})
    both = {**outer, **inner}
    if any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
        yield "a namespace of the node"
    if inner.get("privileged") or inner.get("allowPrivilegeEscalation") is not False:
        yield "privileges"
    if inner.get("capabilities") != {"drop": ["ALL"]}:
        yield "capabilities"
    if both.get("runAsNonRoot") is not True or both.get("runAsUser") == 0:
        yield "root"
    if both.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "no filter"
    if inner.get("procMount", "Default") != "Default":
        yield "procMount"
    for one in pod.get("volumes", ()):
        if not {"emptyDir", "secret", "configMap", "projected", "csi"} & one.keys():
            yield f"volume {one['name']}"
    if inner.get("readOnlyRootFilesystem") is not True or pod.get("automountServiceAccountToken") is not False:
        yield "more than is needed: a root that is written, or a token"


def agree(documents):
    """Within a manifest."""
    template, pod, container = workload(documents)
    settings = settings_of(container["args"])
    yield from unknown(settings)
    if seconds(value(settings, "cluster.drain_timeout") or "0") >= pod["terminationGracePeriodSeconds"]:
        yield "terminationGracePeriodSeconds is shorter than cluster.drain_timeout"
    if container["image"] != IMAGE:
        yield f"image {container['image']}"
    (port,) = [one["containerPort"] for one in container["ports"] if one["name"] == "metrics"]
    if value(settings, "telemetry.listen") != f"0.0.0.0:{port}":
        yield "the port of the metrics"
    if template["metadata"].get("annotations", {}).get("prometheus.io/port", str(port)) != str(port):
        yield "the port of the annotation"
    volumes = {one["name"] for one in pod["volumes"]}
    for one in container["volumeMounts"]:
        if one["name"] not in volumes:
            yield f"no volume {one['name']}"
        if one["mountPath"] != "/tmp" and ("subPath" not in one or not one.get("readOnly")):
            yield f"{one['mountPath']}: not a single file that is read"
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        if container[name]["httpGet"] != {"path": "/healthz", "port": "metrics"}:
            yield name
    labels = template["metadata"]["labels"]
    for one in documents:
        spec = one.get("spec", {})
        selector = spec.get("selector") or spec.get("podSelector")
        if selector and not selector["matchLabels"].items() <= labels.items():
            yield f"{one['kind']}: its selector"
        if one["kind"] == "HorizontalPodAutoscaler":
            yield from scaled(spec, settings)
        if one["kind"] == "NetworkPolicy" and spec["policyTypes"] != ["Ingress", "Egress"]:
            yield "NetworkPolicy: not both ways"
    if "landlock" in str(settings) and pod.get("hostUsers") is False:
        yield "landlock in a user namespace"


def scaled(spec, settings):
    metric = spec["metrics"][0]["pods"]
    if f'"{metric["metric"]["name"]}"' not in read("core/telemetry/metrics.h"):
        yield f"no metric {metric['metric']['name']}"
    if int(metric["target"]["averageValue"]) >= int(value(settings, "cluster.places")):
        yield "more places wanted than there are"


def filtered(profile):
    """The profile: what runtimes allow, and the rule of ours behind it."""
    names = [name for rule in profile["syscalls"][:-1] for name in rule["names"] if not rule.get("args")]
    ours = profile["syscalls"][-1]
    if len(names) != len(set(names)):
        yield "a call is allowed twice"
    if profile["defaultAction"] != "SCMP_ACT_ERRNO" or ours["action"] != "SCMP_ACT_ALLOW":
        yield "the action"
    for name in set(names) & {"mount", "umount2", "pivot_root", "bpf", "keyctl", "add_key", "kexec_load", "reboot",
                              "init_module", "setns", "unshare", "userfaultfd", "perf_event_open"}:
        yield f"{name} is what runtimes refuse"
    page = read("docs/workers.md")
    told = re.search(r"its last rule: ((?:`\w+`(?:,\s+|\s+and\s+)?)+)", page)
    if not told or sorted(re.findall(r"\w+", told.group(1).replace(" and ", " "))) != sorted(ours["names"]):
        yield "docs/workers.md does not name the calls of the last rule"


def recipe(text):
    """The Containerfile installs what the list says, ends as the user of the manifests, and without a shell."""
    installs = re.findall(r"apt-get install -y --no-install-recommends (.*?)(?: \\)?$", text, re.M)
    if installs != ["$(sh /image/build packages build)", "$(sh /image/build packages run)"]:
        yield "it installs something else than the list"
    if "\nUSER 65532:65532\n" not in text or '\nENTRYPOINT ["/usr/bin/lazaret"]\n' not in text:
        yield "its user, or its entry"


def listed(text):
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    if rows != sorted(set(rows)) or not all(re.fullmatch(r"(build|run) [a-z0-9.+-]+", row) for row in rows):
        yield "config/image/packages is not sorted, or has other rows"


def unit(text):
    command = re.search(r"^ExecStart=(.*)$", text.replace("\\\n", " "), re.M).group(1)
    settings = settings_of(shlex.split(command))
    yield from unknown(settings)
    drains = value(settings, "cluster.drain_timeout")
    if drains:
        stops = re.search(r"^TimeoutStopSec=(\w+)$", text, re.M)
        if not stops or seconds(stops.group(1)) <= seconds(drains):
            yield "TimeoutStopSec is shorter than cluster.drain_timeout"
    if "\nKillMode=mixed\n" not in text:
        yield "sessions would be sent SIGTERM as well"
    for name in re.findall(r"%d/([\w.]+)", command):
        if f"\nLoadCredential={name}:/etc/lazaret/" not in text:
            yield f"no credential {name}"


def nomad(text):
    settings = [word[6:].replace('\\"', '"') for word in re.findall(r'"(--set=(?:[^"\\]|\\.)*)"', text)]
    yield from unknown(settings)
    stops = re.search(r'kill_timeout = "(\w+)"', text)
    if not stops or seconds(stops.group(1)) <= seconds(value(settings, "cluster.drain_timeout")):
        yield "kill_timeout is shorter than cluster.drain_timeout"
    if f'"{IMAGE}"' not in text or "to = 9464" not in text:
        yield "image or port"


def slurm(text):
    command = text[text.index("exec srun"):].replace("\\\n", " ")
    settings = settings_of(shlex.split(command))
    yield from unknown(settings)
    before = re.search(r"^#SBATCH --signal=TERM@(\d+)$", text, re.M)
    if not before or int(before.group(1)) <= seconds(value(settings, "cluster.drain_timeout")):
        yield "the signal comes later than cluster.drain_timeout needs"


# ---- that each finds something -------------------------------------------------------------------


def changed(documents, change):
    documents = copy.deepcopy(documents)
    change(*workload(documents), documents)
    return documents


def shows(what, found):
    if not list(found):
        print(f"a mistake was not found: {what}")


def broken(documents, profile):
    def harder(change):
        _, pod, container = workload(changed(documents, change))
        return restricted(pod, container)

    def other(change):
        return agree(changed(documents, change))

    shows("root", harder(lambda t, p, c, d: p["securityContext"].update(runAsUser=0)))
    shows("capabilities", harder(lambda t, p, c, d: c["securityContext"].update(capabilities={})))
    shows("filter", harder(lambda t, p, c, d: p["securityContext"].pop("seccompProfile")))
    shows("hostPath", harder(lambda t, p, c, d: p["volumes"].append({"name": "x", "hostPath": {}})))
    shows("a root that is written", harder(lambda t, p, c, d: c["securityContext"].pop("readOnlyRootFilesystem")))
    shows("an unknown setting", other(lambda t, p, c, d: c["args"].append("--set=cluster.place=1")))
    shows("a wrong value", other(lambda t, p, c, d: c["args"].append("--set=cluster.places=many")))
    shows("grace", other(lambda t, p, c, d: p.update(terminationGracePeriodSeconds=30)))
    shows("a directory", other(lambda t, p, c, d: c["volumeMounts"][1].pop("subPath")))
    shows("metric", other(lambda t, p, c, d: d[2]["spec"]["metrics"][0]["pods"]["metric"].update(name="x")))
    shows("selector", other(lambda t, p, c, d: t["metadata"].update(labels={"a": "b"})))
    shows("mount", filtered({**profile, "syscalls": [{"names": ["mount"], "action": "SCMP_ACT_ALLOW"},
                                                     profile["syscalls"][-1]]}))
    shows("a package", recipe(read("config/image/Containerfile").replace("packages run)", "packages run) gdb")))
    shows("KillMode", unit(read("config/systemd/lazaret-worker.service.in").replace("=mixed", "=control-group")))
    shows("kill_timeout", nomad(read("config/nomad/lazaret-worker.nomad.hcl").replace("61m", "30s")))
    shows("signal", slurm(read("config/slurm/lazaret-worker.sbatch").replace("@1800", "@60")))


def main():
    manifests = {name: list(yaml.safe_load_all(read(f"config/kubernetes/{name}.yaml"))) for name in MANIFESTS}
    profile = json.loads(read("config/kubernetes/lazaret-seccomp.json"))
    broken(manifests["worker-restricted"], profile)
    found = []
    for name, documents in manifests.items():
        found += [f"{name}.yaml: {one}" for one in agree(documents)]
        _, pod, container = workload(documents)
        mistakes = list(restricted(pod, container))
        if mistakes != (["procMount"] if name == "worker-userns" else []):
            found.append(f"{name}.yaml: not restricted: {mistakes}")
    # The Pod of agent-sandbox is that of the Deployment.
    if workload(manifests["agent-sandbox"])[1] != workload(manifests["worker-restricted"])[1]:
        found.append("agent-sandbox.yaml: its Pod is another than that of worker-restricted.yaml")
    for path, rule in (("config/image/Containerfile", recipe), ("config/image/packages", listed),
                       ("config/systemd/lazaret-worker.service.in", unit),
                       ("config/systemd/lazaret-serve.service.in", unit),
                       ("config/nomad/lazaret-worker.nomad.hcl", nomad),
                       ("config/slurm/lazaret-worker.sbatch", slurm)):
        found += [f"{path}: {one}" for one in rule(read(path))]
    found += [f"lazaret-seccomp.json: {one}" for one in filtered(profile)]
    for line in found:
        print(line)


main()
