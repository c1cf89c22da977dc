/* SPDX-License-Identifier: MIT */
/* test_template_copy.c - what a session has of the template that it is a copy of: nothing in its
 * memory, no descriptor, and the rules of Landlock that a cold session has.
 *
 * The rules that are in force cannot be asked for. So a process traces the agent and notes what it
 * makes them of: the file and the rights of each. What the session then can do is tried as well. */
#include "template.h"

#include "os/files.h"
#include "os/landlock.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY                                                                                     \
    {                                                                                              \
        .peer = {.pid = -1, .fd = -1, .out = -1}, .err = -1, .status = -1, .pidfd = -1             \
    }

/* ---- memory --------------------------------------------------------------------------------- */

static pid_t process_of(const struct template_session *session)
{
    char path[64], text[32] = "";

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)session->peer.pid,
             (long)session->peer.pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    if (file)
        fclose(file);
    return (pid_t)strtol(text, NULL, 10);
}

static void no_token_stays_in_memory(void)
{
    struct template_session sessions[3] = {NOBODY, NOBODY, NOBODY};
    struct template_box box;
    bool open = template_open(&box, "lua", "\"options\":{}");

    for (int i = 0; i < 3; i++)
        open = open && template_session_open(&box, &sessions[i], template_bare);
    if (open) {
        /* It has wiped the last one before it answers this. */
        peer_send(&box.peer, "{\"type\":\"spawn\",\"id\":77}");
        const char *refused = peer_line(&box.peer);
        CU_ASSERT(refused && strstr(refused, "\"id\":77,\"error\""));
        pid_t places[] = {template_pid(&box), sessions[2].peer.pid, process_of(&sessions[2]),
                          process_of(&sessions[0])};
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            if (places[i] == sessions[2].peer.pid && geteuid() != 0)
                continue; /* not dumpable: its memory files belong to root (proc(5)) */
            const char *const texts[] = {"LANG=C.UTF-8",    sessions[0].token, sessions[1].token,
                                         sessions[2].token, PEER_TOKEN_GONE,   NULL};
            CU_ASSERT_EQUAL(places[i] > 1 ? peer_memory_find(places[i], texts) : 0, 1);
        }
    }
    for (int i = 0; i < 3; i++)
        template_session_close(&sessions[i]);
    template_close(&box);
}

/* A package may keep its secrets out of core dumps. Sessions behind the filter of their template
 * cannot set this limit again. */
static void a_package_may_change_the_limit_of_core_dumps(void)
{
    static const char module[] = "from resource import *\n"
                                 "setrlimit(RLIMIT_CORE, (0, getrlimit(RLIMIT_CORE)[1]))\n";
    struct template_session session = NOBODY;
    struct template_box box;

    template_confine = template_confined;
    if (template_stage(&box, "python")) {
        template_file(&box, "nocore.py", module);
        const char *line = template_start(
            &box, "\"options\":{\"path\":[\"/run/lazaret/agent\"]},\"preload\":[\"nocore\"]");
        CU_ASSERT(line && strstr(line, "\"ready\""));
        if (line && template_session_open(&box, &session, template_confined))
            UNIT_TEXT(
                template_run(&session, "import nocore; nocore.getrlimit(nocore.RLIMIT_CORE)[0]"),
                "1");
    }
    template_session_close(&session);
    template_close(&box);
    template_confine = NULL;
}

/* A message that outgrows the memory for lines, and is refused. */
static void send_large_spawn(struct template_box *box, const char *text)
{
    struct laz_buf line = LAZ_BUF_INIT;

    laz_buf_puts(&line, "{\"type\":\"spawn\",\"id\":7,\"token\":\"");
    while (line.len < 1 << 20)
        laz_buf_puts(&line, text);
    laz_buf_puts(&line, "\"}\n");
    CU_ASSERT(peer_send_bytes(&box->peer, line.data, line.len));
    laz_buf_fini(&line);
    const char *answer = peer_line(&box->peer);
    CU_ASSERT(answer && strstr(answer, "\"id\":7,\"error\""));
}

/* The half of a message that comes with a spawn is in the template while the next session is made.
 */
static void nothing_that_a_template_has_read_stays_in_memory(void)
{
    static const char half[] = "{\"type\":\"spawn\",\"id\":2,\"token\":\"half-of-a-message-";
    static const char large[] = "a part of a large message ";
    struct template_session session = NOBODY;
    struct template_box box;

    template_confine = template_confined;
    bool open = template_open(&box, "lua", "\"options\":{}");
    if (open)
        send_large_spawn(&box, large);
    if (open && template_ask_and_say(&box, &session, half) > 0 && peer_line(&box.peer) &&
        template_met(&session)) {
        const char *const texts[] = {"LANG=C.UTF-8", "half-of-a-message-", session.token, large,
                                     NULL};
        template_session_close(&session);
        CU_ASSERT_EQUAL(peer_memory_find(template_await_waiting(&box), texts), 1);
        CU_ASSERT_EQUAL(peer_memory_find(template_pid(&box), texts), 3); /* it has read that */
        if (geteuid() == 0) /* not dumpable: its memory files belong to root (proc(5)) */
            CU_ASSERT_EQUAL(peer_memory_find(template_vessel(&box), texts), 1);
    }
    template_close(&box);
    template_confine = NULL;
}

#ifndef LAZ_SANITIZE /* whose memory is beside that of the program, and stays */
/* The text of a file of /proc; the caller frees it. */
static char *text_of(pid_t pid, const char *name)
{
    struct laz_buf text = LAZ_BUF_INIT;
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    CU_ASSERT_EQUAL(laz_os_read_file(path, 1 << 22, &text, NULL), 0);
    return laz_buf_steal(&text);
}

/* KiB of address space; 0: it is not told. */
static long size_of(pid_t pid)
{
    char *status = text_of(pid, "status");
    const char *line = status ? strstr(status, "\nVmSize:") : NULL;
    long kib = line ? strtol(line + strlen("\nVmSize:"), NULL, 10) : 0;

    free(status);
    return kib;
}

static bool becomes_smaller_than(pid_t pid, long kib)
{
    for (int i = 0; i < 6000 && size_of(pid) >= kib; i++)
        usleep(10000);
    return size_of(pid) > 0 && size_of(pid) < kib;
}

/* A vessel that has handed its session over only waits. The memory of its runtime is gone by the
 * time it is seen to be small; /proc/PID/maps of what is not dumpable is root's (proc(5)). */
static void a_vessel_keeps_no_memory_of_its_runtime(void)
{
    struct template_session session = NOBODY;
    struct template_box box;

    if (template_open(&box, "python", "") &&
        template_session_open(&box, &session, template_confined)) {
        UNIT_TEXT(template_run(&session, "1 + 1"), "2");
        CU_ASSERT(becomes_smaller_than(session.peer.pid, size_of(process_of(&session)) / 2));
        char *maps = geteuid() == 0 ? text_of(session.peer.pid, "maps") : NULL;
        if (maps) {
            CU_ASSERT_PTR_NOT_NULL(strstr(maps, "/lazaret-agent"));
            CU_ASSERT_PTR_NOT_NULL(strstr(maps, "[stack]"));
            CU_ASSERT_PTR_NULL(strstr(maps, "[heap]"));
            CU_ASSERT_PTR_NULL(strstr(maps, "python"));
        }
        free(maps);
        template_run(&session, "import os; os._exit(3)");
        UNIT_TEXT(template_ended(&session), "{\"exit-code\":3}");
    }
    template_session_close(&session);
    template_close(&box);
}
#endif

/* ---- descriptors ---------------------------------------------------------------------------- */

/* The numbers of the open descriptors, in order, at most 127 of them: "0 1 2 ". */
static const char *descriptors_of(pid_t pid)
{
    static char text[2][600];
    static unsigned next;
    char *to = text[next++ % 2], path[64];
    size_t len = 0;

    for (int fd = 0; fd < 256 && len + 5 < sizeof text[0]; fd++) {
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, fd);
        char target[8];
        if (readlink(path, target, sizeof target) > 0)
            len += (size_t)snprintf(to + len, sizeof text[0] - len, "%d ", fd);
    }
    to[len] = '\0';
    return to;
}

/* The directory that is listed is closed again. */
static const char list_code[] = "import os\n"
                                "here = '/proc/self/fd/'\n"
                                "' '.join(sorted(n for n in os.listdir(here) "
                                "if os.path.lexists(here + n)))";

/* What was opened for all sessions is open in none. */
static void a_session_has_no_descriptor_of_its_template(void)
{
    struct template_session session = NOBODY;
    struct template_box box;
    char first[16];

    snprintf(first, sizeof first, " %d ", LAZ_LANDLOCK_KEPT_FIRST);
    template_confine = template_confined;
    if (template_open(&box, "python", "") &&
        template_session_open(&box, &session, template_confined)) {
        if (laz_os_landlock_abi() > 0) /* there are such */
            CU_ASSERT_PTR_NOT_NULL(strstr(descriptors_of(template_pid(&box)), first));
        UNIT_TEXT(template_run(&session, list_code), "\"0 1 2 3\"");
        UNIT_TEXT(descriptors_of(process_of(&session)), "0 1 2 3 ");
        /* The streams, the session's channel and status, and its pidfd. It closes the others while
         * the session runs. */
        if (geteuid() == 0) {
            const char *vessel = descriptors_of(session.peer.pid);
            while (strlen(vessel) > sizeof "0 1 2 10 10 10") {
                sched_yield();
                vessel = descriptors_of(session.peer.pid);
            }
            CU_ASSERT(strncmp(vessel, "0 1 2 ", 6) == 0);
        }
    }
    template_session_close(&session);
    template_close(&box);
    template_confine = NULL;
}

/* ---- rules ---------------------------------------------------------------------------------- */

/* Of all forms that a path may have. */
static const struct rule {
    const char *path, *rights;
    bool is_optional;
    bool is_kept; /* by the template: the path leads to the same file in each of its sessions */
} rules[] = {
    {"/proc", "r", false, false},
    {"/proc/self/status", "r", false, false},
    {"/dev", "rd", false, false},
    {"/dev/null", "rd", false, false},
    {"/dev/pts", "rt", false, false},
    {"/dev/shm", "rw", false, false},
    {"/tmp", "rwx", false, false},
    {"/usr", "r", false, true},
    {"/usr/bin", "rx", false, true},
    {"/usr/bin/env", "rx", true, true},
    {"/bin", "rx", false, false}, /* a link */
    {"/bin/true", "rx", true, false},
    {"/usr/lib/../share", "r", false, false},
    {"/usr//bin", "r", false, false},
    {"/usr/./bin", "r", false, false},
    {"/nowhere", "r", true, false},
    {"/usr/bin/env/below", "r", true, false},
    {"/etc", "r", false, true},
    {"/run/lazaret/agent", "r", false, true},
    {"/run/lazaret/agent/lazaret-agent", "r", false, true},
    {"/run/lazaret/socket", "r", false, false},
    {"/run/lazaret/written/both", "rw", false, true},
    {"/run/lazaret/written/read", "r", false, true},
};
#define RULES (sizeof rules / sizeof rules[0])

/* The limit of descriptors is below the numbers of those that are kept. */
static char *rules_confine(void)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_puts(&text, "{\"limits\":{\"nofile\":40},\"landlock\":{\"abi\":0,\"rules\":[");
    for (size_t i = 0; i < RULES; i++)
        laz_buf_printf(&text, "%s{\"path\":\"%s\",\"rights\":\"%s\",\"optional\":%s}", i ? "," : "",
                       rules[i].path, rules[i].rights, rules[i].is_optional ? "true" : "false");
    laz_buf_puts(&text, "]}" TEMPLATE_FILTER "}");
    return laz_buf_steal(&text);
}

/* The files that the rules name, as the session itself sees them, in order. Neither stat(2) nor
 * this list is bounded by Landlock. */
static char *rules_code(void)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_puts(&text, "import os\nall = []\nfor path in [");
    for (size_t i = 0; i < RULES; i++)
        laz_buf_printf(&text, "'%s',", rules[i].path);
    laz_buf_puts(&text, "]:\n"
                        "    try: all.append('%d:%d' % (os.stat(path).st_dev, "
                        "os.stat(path).st_ino))\n"
                        "    except OSError: pass\n"
                        "' '.join(all)");
    return laz_buf_steal(&text);
}

/* ---- the tracer ----------------------------------------------------------------------------- */

/* A call that was seen. */
enum act { ACT_RULE, ACT_ENTERS, ACT_CLOSES, ACT_RECEIVES };

struct seen {
    enum act act;
    pid_t pid;
    int fd; /* of the rule; or the first that is closed */
    uint64_t device, inode, rights;
};

static struct {
    pid_t pid;
    int told; /* its pipe */
} tracer = {-1, -1};

/* The rule that a thread is about to add. */
static void trace_rule(pid_t pid, uint64_t address, struct seen *seen)
{
    struct __attribute__((packed)) {
        uint64_t rights;
        int32_t fd;
    } attr = {0, -1};
    struct iovec to = {&attr, sizeof attr}, from = {(void *)(uintptr_t)address, sizeof attr};
    char path[64];
    struct stat st = {0};

    if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof attr)
        _exit(1);
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, (int)attr.fd);
    if (stat(path, &st) != 0)
        _exit(1);
    seen->fd = attr.fd;
    seen->rights = attr.rights;
    seen->device = st.st_dev;
    seen->inode = st.st_ino;
}

static void trace_call(pid_t pid, int out)
{
    struct __ptrace_syscall_info info;
    struct seen seen = {.pid = pid, .fd = -1};

    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return;
    if (info.entry.nr == SYS_landlock_add_rule) {
        trace_rule(pid, info.entry.args[2], &seen);
    } else if (info.entry.nr == SYS_landlock_restrict_self) {
        seen.act = ACT_ENTERS;
    } else if (info.entry.nr == SYS_close_range) {
        seen.act = ACT_CLOSES;
        seen.fd = (int)info.entry.args[0];
    } else if (info.entry.nr == SYS_recvmsg) {
        seen.act = ACT_RECEIVES;
    } else {
        return;
    }
    if (write(out, &seen, sizeof seen) != (ssize_t)sizeof seen)
        _exit(1);
}

/* Follows the process and all that come of it to their end. */
static _Noreturn void trace(pid_t target, int out)
{
    const unsigned long options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    int how;
    pid_t pid;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ptrace(PTRACE_SEIZE, target, NULL, (void *)(uintptr_t)options) != 0 ||
        ptrace(PTRACE_INTERRUPT, target, NULL, NULL) != 0)
        _exit(1);
    while ((pid = waitpid(-1, &how, __WALL)) > 0) {
        const int signal = WIFSTOPPED(how) ? WSTOPSIG(how) : 0, event = how >> 16;
        if (!WIFSTOPPED(how))
            continue;
        if (signal == (SIGTRAP | 0x80))
            trace_call(pid, out);
        else if (pid == target && event == PTRACE_EVENT_STOP && out >= 0 &&
                 write(out, &(struct seen){.pid = -1}, sizeof(struct seen)) < 0)
            _exit(1);
        const bool is_own = signal == (SIGTRAP | 0x80) || event;
        ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(uintptr_t)(is_own ? 0 : signal));
    }
    _exit(0);
}

/* Begins to trace the agent, which waits for `init`. */
static void trace_agent(struct template_box *box)
{
    const pid_t agent = template_pid(box);
    struct seen begun;
    int ends[2];

    CU_ASSERT_FATAL(agent > 0 && pipe2(ends, O_CLOEXEC) == 0);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); /* the tracer must not wait for this process */
    fflush(stdout);
    tracer.pid = fork();
    if (tracer.pid == 0)
        trace(agent, ends[1]);
    close(ends[1]);
    tracer.told = ends[0];
    if (read(tracer.told, &begun, sizeof begun) != (ssize_t)sizeof begun)
        tracer.told = -1;
}

/* What one process has done, in order; the tracer ends with what it traces. */
struct story {
    struct seen all[256];
    size_t n;
};

static void trace_end(pid_t of, struct story *story)
{
    struct seen seen;
    int how = 1;

    story->n = 0;
    while (tracer.told >= 0 && read(tracer.told, &seen, sizeof seen) == (ssize_t)sizeof seen)
        if (seen.pid == of && story->n < sizeof story->all / sizeof story->all[0])
            story->all[story->n++] = seen;
    CU_ASSERT(waitpid(tracer.pid, &how, 0) == tracer.pid && how == 0);
    close(tracer.told);
    tracer.told = -1;
    tracer.pid = -1;
}

/* ---- both sessions -------------------------------------------------------------------------- */

static const char tries[] =
    "def can(name, mode):\n"
    "    try: open('/run/lazaret/written/' + name + '/file', mode).close(); return 'yes'\n"
    "    except OSError as e: return str(e.errno)\n"
    "' '.join(can(n, m) for n in ['both', 'read', 'none'] for m in ['r', 'a'])";

/* What a session has: files and rights of its rules, what it sees there, and what it can do. */
struct found {
    struct laz_buf files, rights, kept;
    char *sight, *can;
    struct story story;
};

static void found_free(struct found *found)
{
    laz_buf_fini(&found->files);
    laz_buf_fini(&found->rights);
    laz_buf_fini(&found->kept);
    free(found->sight);
    free(found->can);
}

static void found_rules(struct found *found)
{
    for (size_t i = 0; i < found->story.n; i++) {
        const struct seen *seen = &found->story.all[i];
        if (seen->act != ACT_RULE)
            continue;
        laz_buf_printf(&found->files, "%s%llu:%llu", found->files.len ? " " : "",
                       (unsigned long long)seen->device, (unsigned long long)seen->inode);
        laz_buf_printf(&found->rights, "%llx ", (unsigned long long)seen->rights);
        laz_buf_putc(&found->kept, seen->fd >= LAZ_LANDLOCK_KEPT_FIRST ? 'k' : '-');
    }
}

static bool copy_stage(struct template_box *box)
{
    static const char *const directories[] = {"written", "written/both", "written/read",
                                              "written/none"};
    static const char *const files[] = {"written/both/file", "written/read/file",
                                        "written/none/file"};
    char path[192];

    if (!template_stage(box, "python"))
        return false;
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
        template_directory(box, directories[i]);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        template_file(box, files[i], "");
        snprintf(path, sizeof path, "%s/%s", box->stage, files[i]);
        CU_ASSERT(chmod(path, 0666) == 0);
    }
    return true;
}

/* A session that is confined so, cold or from a template; NULL: not at all, and nothing is traced.
 */
static void find(bool is_cold, const char *confine, struct found *found)
{
    struct template_session session = NOBODY;
    struct template_box box;
    char *code = rules_code();

    *found = (struct found){.files = LAZ_BUF_INIT};
    if (!copy_stage(&box))
        goto out;
    box.is_cold = is_cold;
    box.met = confine ? trace_agent : NULL;
    template_confine = confine;
    const char *line = template_start(&box, "");
    bool open = line && strstr(line, "\"ready\"") != NULL;
    if (open && !is_cold)
        open = template_session_open(&box, &session, confine ? confine : template_bare);
    else if (!open)
        printf("\n    %s\n", line ? line : "(nothing)");
    CU_ASSERT(open);
    struct template_session *own = &session, cold = {.peer = box.peer};
    const pid_t pid = is_cold ? template_pid(&box) : process_of(&session);
    if (is_cold)
        own = &cold;
    if (open) {
        found->sight = laz_strdup(template_run(own, code));
        found->can = laz_strdup(template_run(own, tries));
    }
    if (is_cold)
        box.peer = cold.peer; /* what it has read */
    template_session_close(&session);
    if (open && !is_cold && confine)
        template_await_waiting(&box); /* what is killed while it is traced cannot be looked at */
    template_close(&box);
    if (confine)
        trace_end(pid, &found->story);
    found_rules(found);
out:
    template_confine = NULL;
    free(code);
}

static size_t first_of(const struct story *story, enum act act, int fd)
{
    size_t i = 0;

    while (i < story->n && !(story->all[i].act == act && (fd < 0 || story->all[i].fd == fd)))
        i++;
    return i;
}

/* In quotes, as a value. */
static void is_value(const char *value, const char *text)
{
    char *quoted = laz_strdupf("\"%s\"", text);

    UNIT_TEXT(value, quoted);
    free(quoted);
}

static void a_copy_has_the_rules_of_a_cold_session(void)
{
    struct found cold, copy;
    char *confine = rules_confine();
    char kept[RULES + 1] = "";
    size_t n = 0;

    if (laz_os_landlock_abi() == 0 && unit_skip("landlock", "the kernel has none"))
        goto out;
    for (size_t i = 0; i < RULES; i++)
        if (strcmp(rules[i].path, "/nowhere") != 0 && !strstr(rules[i].path, "env/below"))
            kept[n++] = rules[i].is_kept ? 'k' : '-';
    find(true, confine, &cold);
    find(false, confine, &copy);
    if (cold.sight && copy.sight) {
        is_value(cold.sight, laz_buf_text(&cold.files));
        is_value(copy.sight, laz_buf_text(&copy.files));
        UNIT_TEXT(laz_buf_text(&copy.rights), laz_buf_text(&cold.rights));
        UNIT_TEXT(laz_buf_text(&copy.kept), kept);
        CU_ASSERT_PTR_NULL(strchr(laz_buf_text(&cold.kept), 'k'));
        UNIT_TEXT(copy.can, "\"yes yes yes 13 13 13\"");
        UNIT_TEXT(cold.can, copy.can);
        /* they are closed when the rules are in force, before anything has come */
        const size_t enters = first_of(&copy.story, ACT_ENTERS, -1);
        const size_t closes = first_of(&copy.story, ACT_CLOSES, LAZ_LANDLOCK_KEPT_FIRST);
        const size_t receives = first_of(&copy.story, ACT_RECEIVES, -1);
        CU_ASSERT(enters < closes && closes < receives && receives < copy.story.n);
    }
    found_free(&cold);
    found_free(&copy);
    find(false, NULL, &copy);
    if (copy.can)
        UNIT_TEXT(copy.can, "\"yes yes yes yes yes yes\"");
    found_free(&copy);
out:
    free(confine);
}

/* A program that the host replaces, or puts aside, while the template lives: the session that was
 * made before has the old one, the next one what its path leads to. */
static void a_file_that_was_replaced_is_what_its_path_says(void)
{
    static const char confine[] =
        "{\"landlock\":{\"abi\":0,\"rules\":[{\"path\":\"/proc\",\"rights\":\"r\"},"
        "{\"path\":\"/usr\",\"rights\":\"rx\"},"
        "{\"path\":\"/run/lazaret/agent/own\",\"rights\":\"r\"}]}" TEMPLATE_FILTER "}";
    static const char tell[] = "local at, own = '/run/lazaret/agent/', ''\n"
                               "for _, name in ipairs {'own', 'aside'} do\n"
                               "  local file = io.open(at .. name)\n"
                               "  own = own .. (file and file:read('a') or 'refused') .. ' '\n"
                               "end\n"
                               "return own";
    struct template_session session = NOBODY;
    struct template_box box;
    char own[192], aside[192];

    if (laz_os_landlock_abi() == 0 && unit_skip("landlock", "the kernel has none"))
        return;
    template_confine = confine;
    if (template_stage(&box, "lua")) {
        snprintf(own, sizeof own, "%s/own", box.stage);
        snprintf(aside, sizeof aside, "%s/aside", box.stage);
        template_file(&box, "own", "old");
        const char *line = template_start(&box, "");
        CU_ASSERT(line && strstr(line, "\"ready\""));
        (void)template_await_waiting(&box);
        CU_ASSERT(rename(own, aside) == 0);
        template_file(&box, "own", "new");
        static const char *const said[] = {"\"refused old \"", "\"new refused \""};
        for (size_t i = 0; line && i < 2; i++) {
            if (template_session_open(&box, &session, confine))
                UNIT_TEXT(template_run(&session, tell), said[i]);
            template_session_close(&session);
        }
    }
    template_close(&box);
    template_confine = NULL;
}

static const struct unit_test tests[] = {
    UNIT(no_token_stays_in_memory),
    UNIT(a_package_may_change_the_limit_of_core_dumps),
    UNIT(nothing_that_a_template_has_read_stays_in_memory),
#ifndef LAZ_SANITIZE
    UNIT(a_vessel_keeps_no_memory_of_its_runtime),
#endif
    UNIT(a_session_has_no_descriptor_of_its_template),
    UNIT(a_copy_has_the_rules_of_a_cold_session),
    UNIT(a_file_that_was_replaced_is_what_its_path_says),
    {0},
};

int main(void)
{
    return unit_run("template_copy", tests);
}
