# SPDX-License-Identifier: MIT
"""pod.py - starts the container of a manifest as a node would, without Kubernetes.

usage: pod.py [--volume NAME=DIRECTORY]... [--host NAME=ADDRESS]... [--profiles DIRECTORY]
              [--without CALL[,CALL...]] [--profile RuntimeDefault] [--set KEY=VALUE]...
              MANIFEST ROOT [COMMAND ARGUMENT...]

Its first workload (a Deployment, a Sandbox or a SandboxTemplate) says how: user and groups, capabilities,
no_new_privs, seccomp profile, read-only root, /proc as it is or with the parts covered that runtimes cover, a
user namespace of its own, the volumes with the modes that a kubelet gives them, environment and arguments. What
it does not know it refuses, so that no field is passed over. ROOT is a directory with the file system of the
image; "host:DIRECTORY" is this machine's /usr and /etc, with an installation of lazaret at /usr/local.

Not here: the network of a Pod (it has that of the caller, which may be a namespace), limits of `resources`, and
the numbers of a user namespace, which are mapped to themselves: it is a namespace all the same, whose
capabilities count for nothing outside. Linux, root, libseccomp, python3-yaml.
"""

import argparse
import ctypes
import json
import os
import re
import signal
import sys

import yaml

libc = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID = 0x10000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC = 1, 2, 4, 8, 4096, 16384
MS_SLAVE = 1 << 19
SYS_mount_setattr, SYS_pivot_root = 442, {"x86_64": 155, "aarch64": 41}[os.uname().machine]
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
# What runtimes cover of /proc, and what they leave to be read, where procMount is Default.
MASKED = ("acpi", "asound", "interrupts", "kcore", "keys", "latency_stats", "sched_debug", "scsi",
          "timer_list", "timer_stats")
READ_ONLY = ("bus", "fs", "irq", "sys", "sysrq-trigger")


def die(words):
    sys.exit(f"pod.py: {words}")


def call(result, what):
    if result == -1:
        number = ctypes.get_errno()
        die(f"{what}: {os.strerror(number)}")


def mount(source, target, kind=None, flags=0, data=None):
    texts = [None if one is None else str(one).encode() for one in (source, target, kind, data)]
    call(libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]),
         f"mount {source} at {target}")


def read_only(path):
    attributes = (ctypes.c_uint64 * 4)(MS_RDONLY, 0, 0, 0)
    call(libc.syscall(SYS_mount_setattr, -100, str(path).encode(), 0x8000, attributes,
                      ctypes.sizeof(attributes)), f"{path} read-only")


# ---- what the manifest says ----------------------------------------------------------------------


def known(table, names, where):
    for name in table:
        if name not in names:
            die(f"{where}.{name}: not known here")


def pod_of(path):
    """The template of the first workload."""
    with open(path, encoding="utf-8") as file:
        for document in yaml.safe_load_all(file):
            kind = document["kind"]
            if kind == "Deployment":
                return document["spec"]["template"]["spec"]
            if kind in ("Sandbox", "SandboxTemplate"):
                return document["spec"]["podTemplate"]["spec"]
    die(f"{path}: no workload")


def checked(pod):
    """The container, after a look at each field of the Pod and of it."""
    known(pod, ("automountServiceAccountToken", "containers", "enableServiceLinks", "hostUsers",
                "securityContext", "terminationGracePeriodSeconds", "volumes", "restartPolicy",
                "topologySpreadConstraints"), "spec")
    known(pod["securityContext"], ("runAsNonRoot", "runAsUser", "runAsGroup", "fsGroup",
                                   "seccompProfile"), "spec.securityContext")
    (container,) = pod["containers"]
    known(container, ("name", "image", "args", "command", "env", "ports", "resources",
                      "securityContext", "volumeMounts", "livenessProbe", "readinessProbe",
                      "startupProbe", "terminationMessagePolicy"), "container")
    secure = container["securityContext"]
    known(secure, ("allowPrivilegeEscalation", "capabilities", "readOnlyRootFilesystem",
                   "procMount"), "container.securityContext")
    if secure["capabilities"] != {"drop": ["ALL"]} or secure["allowPrivilegeEscalation"]:
        die("only a container without capabilities and privileges is known here")
    if pod["automountServiceAccountToken"]:
        die("there is no token of a service account here")
    return container


# ---- the file system -----------------------------------------------------------------------------


def make(path, directory=True):
    if os.path.lexists(path):
        return
    os.makedirs(path if directory else os.path.dirname(path), 0o755, exist_ok=True)
    if not directory:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def root_of(root, new, targets):
    """The image at `new`, with the places at which something is mounted, as a runtime makes them."""
    if root.startswith("host:"):
        mount("tmpfs", new, "tmpfs", 0, "mode=755")
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if os.path.islink(f"/{name}"):
                os.symlink(os.readlink(f"/{name}"), f"{new}/{name}")
            elif os.path.isdir(f"/{name}"):
                make(f"{new}/{name}")
                mount(f"/{name}", f"{new}/{name}", None, MS_BIND | MS_REC)
        make(f"{new}/usr")
        mount("/usr", f"{new}/usr", None, MS_BIND | MS_REC)
        mount(root[5:], f"{new}/usr/local", None, MS_BIND | MS_REC)
        read_only(f"{new}/usr")
        make(f"{new}/etc")
        for name in ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl", "R", "python3",
                     "localtime", "nsswitch.conf"):
            if os.path.islink(f"/etc/{name}"):
                os.symlink(os.readlink(f"/etc/{name}"), f"{new}/etc/{name}")
            elif os.path.exists(f"/etc/{name}"):
                make(f"{new}/etc/{name}", os.path.isdir(f"/etc/{name}"))
                mount(f"/etc/{name}", f"{new}/etc/{name}", None, MS_BIND | MS_REC)
        with open(f"{new}/etc/passwd", "w", encoding="ascii") as file:
            file.write("root:x:0:0::/:/usr/sbin/nologin\nlazaret:x:65532:65532::/:/usr/sbin/nologin\n")
    else:
        mount(root, new, None, MS_BIND | MS_REC)
        # A layer of its own above the image, in which the places are made.
        make(f"{new}/proc")
        mount("tmpfs", f"{new}/proc", "tmpfs", 0, "mode=755")
        for name in ("upper", "work"):
            os.mkdir(f"{new}/proc/{name}", 0o755)
        mount("overlay", new, "overlay", 0,
              f"lowerdir={new},upperdir={new}/proc/upper,workdir={new}/proc/work")
    for name in ("proc", "sys", "dev", "tmp", "run"):
        make(f"{new}/{name}")
    for path, is_directory in targets:
        make(new + path, is_directory)


def devices(new):
    mount("tmpfs", f"{new}/dev", "tmpfs", MS_NOSUID, "mode=755,size=65536k")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        make(f"{new}/dev/{name}", False)
        mount(f"/dev/{name}", f"{new}/dev/{name}", None, MS_BIND)
    for name, kind, data in (("pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"),
                             ("shm", "tmpfs", "mode=1777,size=65536k"), ("mqueue", "mqueue", None)):
        os.mkdir(f"{new}/dev/{name}")
        mount(kind, f"{new}/dev/{name}", kind, MS_NOSUID | MS_NODEV | MS_NOEXEC, data)
    for name, to in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"),
                     ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        os.symlink(to, f"{new}/dev/{name}")


def kernel(new, is_masked):
    mount("proc", f"{new}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("/sys", f"{new}/sys", None, MS_BIND | MS_REC)
    read_only(f"{new}/sys")
    if not is_masked:
        return
    for name in READ_ONLY:
        path = f"{new}/proc/{name}"
        if os.path.exists(path):
            mount(path, path, None, MS_BIND | MS_REC)
            read_only(path)
    for path in [f"{new}/proc/{name}" for name in MASKED] + [f"{new}/sys/firmware"]:
        if os.path.isdir(path):
            mount("tmpfs", path, "tmpfs", MS_RDONLY, "size=0k")
        elif os.path.exists(path):
            mount("/dev/null", path, None, MS_BIND)


def volume(one, pod, options, new, place):
    """A volume at `place`: what a kubelet makes of it."""
    group = pod["securityContext"].get("fsGroup")
    if "emptyDir" in one:
        mount("tmpfs", place, "tmpfs", 0, "mode=0777")
        if group is not None:
            os.chown(place, 0, group)
            os.chmod(place, 0o2777)
        return
    kind = "secret" if "secret" in one else "configMap" if "configMap" in one else None
    if not kind:
        die(f"volume {one['name']}: not known here")
    source = options.volumes.get(one["name"]) or die(f"--volume {one['name']}=DIRECTORY is needed")
    mount("tmpfs", place, "tmpfs", 0, "mode=0777")  # atomically replaced links are not made here
    for name in os.listdir(source):
        with open(f"{source}/{name}", "rb") as file, open(f"{place}/{name}", "wb") as to:
            to.write(file.read())
            mode = one[kind].get("defaultMode", 0o644)
            os.fchmod(to.fileno(), mode if group is None else mode | 0o440)
            os.fchown(to.fileno(), 0, group or 0)


def volumes(pod, container, options, new):
    made, scratch = {}, f"{new}/dev/shm"
    for one in pod["volumes"]:
        place = f"{scratch}/{one['name']}"
        os.mkdir(place)
        volume(one, pod, options, new, place)
        made[one["name"]] = place
    for one in container["volumeMounts"]:
        known(one, ("name", "mountPath", "subPath", "readOnly"), "volumeMounts")
        source = made[one["name"]] + ("/" + one["subPath"] if "subPath" in one else "")
        mount(source, new + one["mountPath"], None, MS_BIND)
        if one.get("readOnly"):
            read_only(new + one["mountPath"])
    for place in made.values():
        call(libc.umount2(place.encode(), 2), f"umount {place}")
        os.rmdir(place)


def hosts(options, new):
    make(f"{new}/etc/hosts", False)
    path = f"{new}/dev/shm/hosts"
    with open(path, "w", encoding="ascii") as file:
        file.write("127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for n, a in options.hosts.items()))
    os.chmod(path, 0o644)
    mount(path, f"{new}/etc/hosts", None, MS_BIND)
    read_only(f"{new}/etc/hosts")
    os.unlink(path)


def filesystem(pod, container, options):
    """A root directory of its own, in which the process is when this returns."""
    new = options.scratch
    mount(None, "/", None, MS_REC | MS_SLAVE)
    names = {one["name"]: one for one in pod["volumes"]}
    targets = [(one["mountPath"], "subPath" not in one) for one in container["volumeMounts"]]
    assert all(one["name"] in names for one in container["volumeMounts"])
    root_of(options.root, new, [*targets, ("/etc/hosts", False)])
    devices(new)
    volumes(pod, container, options, new)
    hosts(options, new)
    if container["securityContext"].get("readOnlyRootFilesystem"):
        attributes = (ctypes.c_uint64 * 4)(MS_RDONLY, 0, 0, 0)  # itself, not what is mounted in it
        call(libc.syscall(SYS_mount_setattr, -100, new.encode(), 0, attributes, 32), "root read-only")
    kernel(new, container["securityContext"].get("procMount", "Default") != "Unmasked")
    os.chdir(new)
    call(libc.syscall(SYS_pivot_root, b".", b"."), "pivot_root")
    call(libc.umount2(b".", 2), "umount of the old root")
    os.chdir("/")


# ---- the filter ----------------------------------------------------------------------------------


class Argument(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64),
                ("b", ctypes.c_uint64)]


OPERATORS = {"SCMP_CMP_NE": 1, "SCMP_CMP_LT": 2, "SCMP_CMP_LE": 3, "SCMP_CMP_EQ": 4, "SCMP_CMP_GE": 5,
             "SCMP_CMP_GT": 6, "SCMP_CMP_MASKED_EQ": 7}
ALLOW = 0x7FFF0000


def action_of(rule, default=1):
    words = {"SCMP_ACT_ALLOW": ALLOW, "SCMP_ACT_ERRNO": 0x00050000 | rule.get("errnoRet", default)}
    return words[rule["action"]]


def load(profile):
    """A profile as OCI runtimes take it, by libseccomp. Names that this machine has not are left out,
    as they do."""
    seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_arch_resolve_name.restype = ctypes.c_uint32
    known(profile, ("defaultAction", "defaultErrnoRet", "architectures", "syscalls"), "profile")
    default = action_of({"action": profile["defaultAction"]}, profile.get("defaultErrnoRet", 1))
    context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(default)))
    here = {"x86_64": ("X86_64", "X86", "X32"), "aarch64": ("AARCH64", "ARM")}[os.uname().machine]
    for name in profile["architectures"]:
        if name.removeprefix("SCMP_ARCH_") in here:
            token = seccomp.seccomp_arch_resolve_name(name.removeprefix("SCMP_ARCH_").lower().encode())
            if seccomp.seccomp_arch_add(context, ctypes.c_uint32(token)) not in (0, -17):
                die(f"profile: {name}")
    for rule in profile["syscalls"]:
        known(rule, ("names", "action", "errnoRet", "args"), "profile.syscalls")
        arguments = [Argument(one["index"], OPERATORS[one["op"]], one["value"], one.get("valueTwo", 0))
                     for one in rule.get("args", ())]
        for name in rule["names"]:
            number = seccomp.seccomp_syscall_resolve_name(name.encode())
            if number == -1:
                continue
            result = seccomp.seccomp_rule_add_array(
                context, ctypes.c_uint32(action_of(rule)), number, len(arguments),
                (Argument * max(len(arguments), 1))(*arguments))
            if result not in (0, -17) and action_of(rule) != default:
                die(f"profile: {name}: {os.strerror(-result)}")
    result = seccomp.seccomp_load(context)
    if result:
        die(f"the filter cannot be loaded: {os.strerror(-result)}")


# "There is no such call": threads are then created by clone.
NO_CLONE3 = {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}


def usual(profile):
    """What RuntimeDefault allows to a container without capabilities: all but the last rule, which is what
    lazaret needs more."""
    return {**profile, "syscalls": [*profile["syscalls"][:-1], NO_CLONE3]}


def profile_of(pod, options):
    asked = pod["securityContext"]["seccompProfile"]
    with open(f"{options.profiles}/lazaret-seccomp.json", encoding="utf-8") as file:
        profile = json.load(file)
    kind = options.profile or asked["type"]
    if kind == "RuntimeDefault":
        profile = usual(profile)
    elif kind != "Localhost" or asked["localhostProfile"] != "lazaret-seccomp.json":
        die(f"profile {asked}: not known here")
    for name in options.without.split(",") if options.without else []:
        profile["syscalls"][-1]["names"].remove(name)
        if name == "clone3":
            profile["syscalls"].insert(0, NO_CLONE3)
    return profile


# ---- starting ------------------------------------------------------------------------------------


def environment(container):
    result = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"}
    for one in container.get("env", ()):
        result[one["name"]] = one["value"]
    return result


def command_of(container, options):
    if options.command:
        return options.command
    entry = container.get("command") or [options.entry]
    more = [word for one in options.set for word in ("--set", one)]
    return [*entry, *container["args"], *more]


def ends_with_parent():
    """After each change of rights, which undoes it."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def become(pod, container, options, profile):
    user = pod["securityContext"]
    group = user.get("fsGroup")
    os.setgroups([] if group is None else [group])
    if user["runAsNonRoot"] and user["runAsUser"] == 0:
        die("runAsNonRoot, and the user is 0")
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setresgid(user["runAsGroup"], user["runAsGroup"], user["runAsGroup"])
    os.setresuid(user["runAsUser"], user["runAsUser"], user["runAsUser"])
    call(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    ends_with_parent()
    words = command_of(container, options)
    env = environment(container)
    load(profile)
    os.execve(words[0], words, env)


def run(pod, container, options):
    has_users = pod.get("hostUsers") is False
    profile = profile_of(pod, options)
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        call(libc.unshare(NEWNS | NEWPID | NEWIPC | NEWUTS | NEWCGROUP | (NEWUSER if has_users else 0)),
             "unshare")
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        ends_with_parent()
        first = os.fork()
        if first == 0:
            for fd in (*ready, *go):
                os.close(fd)
            filesystem(pod, container, options)
            become(pod, container, options, profile)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: os.kill(first, number))
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) % 256)
    os.read(ready[0], 1)
    if has_users:
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{name}", "w", encoding="ascii") as file:
                file.write("0 0 65536")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: os.kill(child, number))
    os.write(go[1], b"x")
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status) % 256)


def pairs(words):
    return dict(re.fullmatch(r"([^=]+)=(.*)", word).groups() for word in words)


def main():
    parser = argparse.ArgumentParser()
    for name in ("volume", "host", "set"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--profiles")
    parser.add_argument("--profile", choices=["RuntimeDefault"])
    parser.add_argument("--without")
    parser.add_argument("--entry", default="/usr/bin/lazaret")
    parser.add_argument("--scratch", default="/mnt")
    parser.add_argument("manifest")
    parser.add_argument("root")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.volumes, options.hosts = pairs(options.volume), pairs(options.host)
    options.profiles = options.profiles or os.path.dirname(os.path.abspath(options.manifest))
    pod = pod_of(options.manifest)
    run(pod, checked(pod), options)


if __name__ == "__main__":
    main()
