/* SPDX-License-Identifier: MIT */
/* test_template_siblings.c - sessions of one template cannot affect each other or the template.
 *
 * One session is the victim, two are attackers: an ordinary one, and one without limits, Landlock
 * and filter, which shows what the namespaces alone refuse. Every attempt is first made where it
 * has to succeed: by the victim on itself, or by the host. */
#include "template.h"

#include "base/clock.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY                                                                                     \
    {                                                                                              \
        .peer = {.pid = -1, .fd = -1, .out = -1}, .err = -1, .status = -1, .pidfd = -1             \
    }

enum who { VICTIM, BARE, CONFINED, WHO };

static struct template_box box;
static struct template_session sessions[WHO];

/* Used by the code of every session. */
static const char prelude[] =
    "import os, sys, time, signal, errno, ctypes, socket, glob\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "def refused(f, *a, by=(errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOENT)):\n"
    "    try:\n"
    "        f(*a)\n"
    "        return False\n"
    "    except OSError as e:\n"
    "        return e.errno in by\n"
    "def works(f, *a):\n"
    "    try:\n"
    "        f(*a)\n"
    "        return True\n"
    "    except OSError as e:\n"
    "        return False\n"
    "def call(name, *a):\n"
    "    if getattr(libc, name)(*a) < 0:\n"
    "        raise OSError(ctypes.get_errno(), name)\n"
    "def sleeper():\n"
    "    told, tell = os.pipe()\n"
    "    pid = os.fork()\n"
    "    if pid == 0:\n"
    "        signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
    "        os.write(tell, b'.')\n"
    "        time.sleep(100000)\n"
    "        os._exit(0)\n"
    "    os.read(told, 1), os.close(told), os.close(tell)\n"
    "    return pid\n"
    "def end(pid):\n"
    "    os.kill(pid, 9)\n"
    "    return os.waitpid(pid, 0)[1] == 9\n"
    "def trace(pid):\n"
    "    call('ptrace', 0x4206, pid, None, None)\n" /* PTRACE_SEIZE does not stop the process */
    "def in_child(f, *a):\n"
    "    pid = os.fork()\n"
    "    if pid == 0:\n"
    "        os._exit(0 if works(f, *a) else 1)\n"
    "    return os.waitpid(pid, 0)[1] == 0\n"
    "def pids():\n"
    "    return sorted(int(n) for n in os.listdir('/proc') if n.isdigit())\n"
    "def status(name):\n"
    "    return [l.split()[1] for l in open('/proc/self/status') if l.startswith(name + ':')][0]\n"
    "True";

/* The template has what this module keeps open. */
static const char keeper[] = "kept = open(__file__)\n";

static bool begin(void)
{
    static const char *const confine[WHO] = {template_bare, template_bare, template_confined};

    for (int i = 0; i < WHO; i++)
        sessions[i] = (struct template_session)NOBODY;
    if (!template_stage(&box, "python"))
        return false;
    template_file(&box, "keeper.py", keeper);
    const char *line = template_start(&box, "\"options\":{\"path\":[\"/run/lazaret/agent\"]},"
                                            "\"preload\":[\"keeper\",\"ctypes\",\"socket\"]");
    bool ready = line && strstr(line, "\"ready\"");
    CU_ASSERT(ready);
    for (int i = 0; i < WHO && ready; i++) {
        ready = template_session_open(&box, &sessions[i], confine[i]);
        if (ready)
            UNIT_TEXT(template_run(&sessions[i], prelude), "true");
    }
    return ready;
}

static void done(void)
{
    for (int i = 0; i < WHO; i++)
        template_session_close(&sessions[i]);
    template_close(&box);
}

static void holds(enum who who, const char *code)
{
    static const char *const names[WHO] = {"victim", "bare", "confined"};
    const char *value = template_run(&sessions[who], code);

    if (strcmp(value, "true") != 0)
        printf("\n    %s: %s: %.500s\n", names[who], code, value);
    CU_ASSERT(strcmp(value, "true") == 0);
}

static void attackers(const char *code)
{
    holds(BARE, code);
    holds(CONFINED, code);
}

static void victim_lives(void)
{
    UNIT_TEXT(template_run(&sessions[VICTIM], "1 + 1"), "2");
    struct template_session another = NOBODY; /* the template too */
    CU_ASSERT(template_session_open(&box, &another, template_confined));
    template_session_close(&another);
}

/* ---- processes ------------------------------------------------------------------------------ */

static void siblings_cannot_be_seen(void)
{
    if (begin()) {
        holds(VICTIM, "child = sleeper(); pids() == sorted([1, os.getpid(), child])");
        attackers("pids() == [1, os.getpid()]");
        holds(VICTIM, "os.path.exists('/proc/%d/status' % child) and end(child)");
        attackers("all(not os.path.exists('/proc/%d' % n) for n in range(2, 40000) "
                  "if n != os.getpid())");
    }
    done();
}

static void siblings_cannot_be_signalled(void)
{
    if (begin()) {
        holds(VICTIM, "child = sleeper(); works(os.kill, child, 0)");
        attackers("all(refused(os.kill, n, 9, by=[errno.ESRCH]) for n in range(2, 40000) "
                  "if n != os.getpid())");
        /* Signals to all processes hit only the attacker's own child. */
        attackers("_ = signal.signal(15, signal.SIG_IGN); own = sleeper(); os.kill(-1, 15); "
                  "os.waitpid(own, 0)[1] == 15");
        victim_lives();
        /* Signals to the process group, which a copy has inherited. */
        attackers("own = sleeper(); os.kill(0, 15); os.waitpid(own, 0)[1] == 15");
        victim_lives();
        holds(VICTIM, "os.waitpid(child, os.WNOHANG) == (0, 0) and end(child)");
    }
    done();
}

static void the_first_process_takes_no_signal(void)
{
    if (begin()) {
        attackers("own = sleeper(); end(own)");
        attackers("[works(os.kill, 1, n) for n in range(1, 65) if n not in (32, 33)] != []");
        attackers("pids() == [1, os.getpid()]");
        victim_lives();
    }
    done();
}

static void the_first_process_cannot_be_read_or_traced(void)
{
    static const char open_all[] =
        "def open_all(pid):\n"
        "    def to(name):\n"
        "        return '/proc/%s/%s' % (pid, name)\n"
        "    return [works(open, to('environ'), 'rb') and bool(open(to('environ'), "
        "'rb').read(1)),\n"
        "            works(os.open, to('mem'), os.O_RDONLY),\n"
        "            works(open, to('maps')), works(os.readlink, to('root')),\n"
        "            works(os.readlink, to('cwd')), works(os.readlink, to('exe')),\n"
        "            works(os.listdir, to('fd')), works(os.listdir, to('root')),\n"
        "            works(os.readlink, to('ns/pid')), works(os.readlink, to('ns/user'))]\n"
        "True";

    if (begin()) {
        for (int i = 0; i < WHO; i++)
            holds((enum who)i, open_all);
        holds(VICTIM, "open_all('self') == [True] * 10");
        holds(BARE, "open_all('self') == [True] * 10");
        attackers("open_all(1) == [False] * 10");
        holds(BARE, "own = sleeper(); works(trace, own) and end(own)");
        holds(CONFINED, "own = sleeper(); refused(trace, own) and end(own)");
        attackers("refused(trace, 1)");
    }
    done();
}

/* ---- files ---------------------------------------------------------------------------------- */

static void files_are_of_one_session(void)
{
    static const char *const places[] = {"/tmp", "/dev/shm"};
    char code[256];

    if (begin()) {
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            snprintf(code, sizeof code, "open('%s/mark', 'w').write('x') == 1", places[i]);
            holds(VICTIM, code);
            snprintf(code, sizeof code, "set(os.listdir('%s')) - {'work'} == {'mark'}", places[i]);
            holds(VICTIM, code);
            snprintf(code, sizeof code, "set(os.listdir('%s')) - {'work'} == set()", places[i]);
            attackers(code);
        }
        attackers(
            "not glob.glob('/proc/*/%s/tmp/mark' % 'root') and not glob.glob('/proc/*/cwd/mark')");
        holds(VICTIM, "len(glob.glob('/proc/self/%s/tmp/mark' % 'root')) == 1");
    }
    done();
}

/* An inode takes memory that the size of a file system does not count. */
static void files_of_a_session_are_numbered(void)
{
    if (begin())
        for (int i = 0; i < WHO; i++) {
            holds((enum who)i,
                  "def fills(place):\n"
                  "    n, most = 0, os.statvfs(place).f_blocks + 64\n"
                  "    try:\n"
                  "        while n < 2 * most:\n"
                  "            os.close(os.open('%s/%d' % (place, n), os.O_CREAT | os.O_WRONLY))\n"
                  "            n += 1\n"
                  "    except OSError as e:\n"
                  "        return e.errno == errno.ENOSPC and most // 2 < n < most\n"
                  "    return False\n"
                  "fills('/tmp') and fills('/dev/shm')");
        }
    done();
}

static void terminals_and_queues_are_of_one_session(void)
{
    if (begin()) {
        holds(VICTIM, "ends = os.openpty(); '0' in os.listdir('/dev/pts')");
        holds(VICTIM, "all = [os.openpty() for i in range(15)]; "
                      "refused(os.openpty, by=[errno.ENOSPC])");
        attackers("os.listdir('/dev/pts') == ['ptmx']");
        holds(BARE, "ends = os.openpty(); os.ttyname(ends[1]) == '/dev/pts/0'");
        holds(VICTIM, "libc.shmget(77, 4096, 0o1666) >= 0 and libc.shmget(77, 4096, 0) >= 0");
        holds(BARE, "libc.shmget(77, 4096, 0) < 0 and ctypes.get_errno() == errno.ENOENT");
        holds(CONFINED, "refused(call, 'shmget', 78, 4096, 0o1666) or not "
#ifdef LAZ_TEST_FILTER
                        "True"
#else
                        "False"
#endif
        );
    }
    done();
}

static void the_socket_directory_of_the_template_is_hidden(void)
{
    char path[128];
    struct stat st;

    if (begin()) {
        snprintf(path, sizeof path, "%s/mark", box.peer.directory);
        FILE *file = fopen(path, "we");
        CU_ASSERT(file != NULL);
        if (file)
            fclose(file);
        snprintf(path, sizeof path, "/proc/%ld/%s/run/lazaret/socket/mark",
                 (long)template_pid(&box), "root");
        CU_ASSERT(stat(path, &st) == 0);
        attackers("os.listdir('/run/lazaret/socket') == []");
        attackers("refused(open, '/run/lazaret/socket/x', 'w')");
    }
    done();
}

static void places_have_the_size_of_the_box(void)
{
    if (begin()) {
        attackers("f = open('/tmp/a', 'wb', 0); f.write(bytes(6 << 20)) == 6 << 20");
        attackers("works(f.write, bytes(1 << 20)) and refused(lambda: [f.write(bytes(1 << 20)) "
                  "for i in range(9)], by=[errno.ENOSPC])");
        attackers("f.close(); os.unlink('/tmp/a'); f = open('/dev/shm/a', 'wb', 0); "
                  "f.write(bytes(1 << 20)) == 1 << 20");
        attackers(
            "refused(lambda: [f.write(bytes(1 << 20)) for i in range(9)], by=[errno.ENOSPC])");
    }
    done();
}

/* ---- sockets -------------------------------------------------------------------------------- */

static void sockets_of_siblings_cannot_be_reached(void)
{
    static const char landlock_only[] = "{\"landlock\":{\"abi\":0,\"rules\":[{\"path\":\"/"
                                        "\",\"rights\":\"r\"}]}}";
    struct template_session scoped = NOBODY;

    if (begin()) {
        holds(VICTIM, "s = socket.socket(socket.AF_UNIX); s.bind('/tmp/s'); s.listen(); "
                      "works(socket.socket(socket.AF_UNIX).connect, '/tmp/s')");
        holds(BARE, "refused(socket.socket(socket.AF_UNIX).connect, '/tmp/s')");
        /* They share a network, in which the filter and Landlock separate them. */
        holds(VICTIM, "a = socket.socket(socket.AF_UNIX); a.bind('\\0lazaret'); a.listen(8); "
                      "works(socket.socket(socket.AF_UNIX).connect, '\\0lazaret')");
        holds(BARE, "works(socket.socket(socket.AF_UNIX).connect, '\\0lazaret')");
#ifdef LAZ_TEST_FILTER
        for (int family = 1; family < 45; family++) {
            char code[96];
            snprintf(code, sizeof code,
                     "refused(socket.socket, %d, 1) and refused(socket.socket, "
                     "%d, 2)",
                     family, family);
            holds(CONFINED, code);
        }
#endif
        if (template_session_open(&box, &scoped, landlock_only)) {
            template_run(&scoped, prelude);
            UNIT_TEXT(template_run(&scoped, "refused(socket.socket(socket.AF_UNIX).connect, "
                                            "'\\0lazaret')"),
                      "true");
        }
        template_session_close(&scoped);
        attackers("sorted(os.listdir('/sys/class/net')) == ['lo'] if "
                  "os.path.exists('/sys/class/net') else True");
    }
    done();
}

/* ---- rights --------------------------------------------------------------------------------- */

static bool is_open_in(pid_t pid, const char *name)
{
    char path[64], target[256];
    bool found = false;

    for (int fd = 0; fd < 64 && !found; fd++) {
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        found = n > 0 && strstr(target, name);
    }
    return found;
}

static void no_descriptor_is_inherited(void)
{
    if (begin()) {
        CU_ASSERT(is_open_in(template_pid(&box), "keeper.py"));
        holds(VICTIM, "f = open('/proc/self/stat'); f.fileno() == 4");
        attackers("all(refused(os.fstat, n, by=[errno.EBADF]) for n in range(4, 1024))");
        attackers("os.fstat(3) and os.readlink('/proc/self/fd/0') == '/dev/null'");
    }
    done();
}

static bool first_process_has_capabilities(const struct template_session *session)
{
    char *text = peer_proc(&session->peer, "status");
    const char *line = strstr(text, "CapEff:");
    unsigned long long set = 0;

    CU_ASSERT(line && sscanf(line, "CapEff: %llx", &set) == 1);
    free(text);
    return set != 0;
}

static void no_capability_is_left(void)
{
    if (begin()) {
        CU_ASSERT(first_process_has_capabilities(&sessions[BARE]));
        attackers("[int(status(n), 16) for n in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', "
                  "'CapAmb')] == [0] * 5");
        attackers("status('NoNewPrivs') == '1'");
        holds(CONFINED, "works(os.setuid, os.getuid()) or True");
        holds(BARE, "refused(os.setuid, 0, by=[errno.EPERM, errno.EINVAL])");
    }
    done();
}

static void no_namespace_and_no_mount_can_be_made_or_entered(void)
{
    if (begin()) {
        attackers("refused(call, 'mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None)");
        attackers("refused(call, 'mount', None, b'/proc', None, 32, None)"); /* MS_REMOUNT */
        attackers("all(refused(call, 'umount2', p, 2) for p in (b'/tmp', b'/proc', "
                  "b'/proc/cmdline', b'/run/lazaret/socket'))");
        holds(BARE, "in_child(call, 'unshare', 0x10000000)"); /* CLONE_NEWUSER */
#ifdef LAZ_TEST_FILTER
        holds(CONFINED, "not in_child(call, 'unshare', 0x10000000)");
        holds(CONFINED, "refused(call, 'setns', 3, 0)");
#endif
        attackers("all(refused(os.open, '/proc/1/ns/' + n, os.O_RDONLY) for n in "
                  "('user', 'mnt', 'pid', 'net', 'ipc'))");
        holds(BARE, "all(works(os.open, '/proc/self/ns/' + n, os.O_RDONLY) for n in "
                    "('user', 'mnt', 'pid', 'net', 'ipc'))");
        attackers("refused(call, 'sethostname', b'x', 1)");
    }
    done();
}

static void knobs_of_the_kernel_are_closed(void)
{
    if (begin()) {
        /* The first process could write a core dump. */
        attackers("os.getpid() > 99");
        attackers("refused(open, '/proc/sys/kernel/ns_last_pid', 'w')");
        attackers("refused(open, '/proc/self/oom_score_adj', 'w')");
        attackers("refused(open, '/proc/self/uid_map', 'w')");
        attackers("refused(open, '/proc/cmdline') and refused(open, '/proc/interrupts')");
        attackers("refused(open, '/proc/softirqs') and os.listdir('/proc/irq') == []");
        attackers("refused(open, '/proc/stat')"); /* no file stands for it here */
        attackers("works(open, '/proc/self/stat')");
    }
    done();
}

/* Processes of one user: a limit must not count those of siblings. */
static void processes_are_counted_by_session(void)
{
    static const char limited[] = "{\"limits\":{\"nproc\":20}}";
    static const char fill[] = "own = [sleeper() for i in range(15)]; len(own) == 15";
    struct template_session two[2] = {NOBODY, NOBODY};

    if (begin())
        for (int i = 0; i < 2; i++)
            if (template_session_open(&box, &two[i], limited)) {
                template_run(&two[i], prelude);
                UNIT_TEXT(template_run(&two[i], fill), "true");
                UNIT_TEXT(template_run(&two[i], "refused(lambda: [own.append(sleeper()) for i in "
                                                "range(10)], by=[errno.EAGAIN])"),
                          "true");
            }
    template_session_close(&two[0]);
    template_session_close(&two[1]);
    done();
}

static const struct unit_test tests[] = {
    UNIT(siblings_cannot_be_seen),
    UNIT(siblings_cannot_be_signalled),
    UNIT(the_first_process_takes_no_signal),
    UNIT(the_first_process_cannot_be_read_or_traced),
    UNIT(files_are_of_one_session),
    UNIT(files_of_a_session_are_numbered),
    UNIT(terminals_and_queues_are_of_one_session),
    UNIT(the_socket_directory_of_the_template_is_hidden),
    UNIT(places_have_the_size_of_the_box),
    UNIT(sockets_of_siblings_cannot_be_reached),
    UNIT(no_descriptor_is_inherited),
    UNIT(no_capability_is_left),
    UNIT(no_namespace_and_no_mount_can_be_made_or_entered),
    UNIT(knobs_of_the_kernel_are_closed),
    UNIT(processes_are_counted_by_session),
    {0},
};

int main(void)
{
    return unit_run("template_siblings", tests);
}
