/* SPDX-License-Identifier: MIT */
/* test_hostile.c - code that attacks its host: it writes to the agent's channel itself, tries to
 * survive, and looks for the host's resources.
 *
 * Python finds the channel among its descriptors; the host takes what it writes there for messages
 * of the agent. */
#include "live.h"

#include "base/buf.h"
#include "session/session.h"

#include <dirent.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIND_CHANNEL                                                                               \
    "import os, stat, threading, time\n"                                                           \
    "channel = [f for f in range(3, 64) if os.path.exists('/proc/self/fd/%d' % f)"                 \
    " and stat.S_ISSOCK(os.stat('/proc/self/fd/%d' % f).st_mode)][0]\n"

/* ---- the channel ---------------------------------------------------------------------------- */

static void a_line_after_the_outcome_ends_the_box(void)
{
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session,
                    FIND_CHANNEL
                    "os.write(channel, b'{\"type\":\"result\",\"id\":1,\"value\":1}\\n'"
                    "b'no message\\n{\"type\":\"result\",\"id\":2,\"value\":666}\\n')\n"
                    "time.sleep(60)",
                    LAZ_VERDICT_OK, "1");
        test_expect(session, "6 * 7", LAZ_VERDICT_OK, "42"); /* in another box */
        test_expect_error(session, "channel", LAZ_VERDICT_ERROR, "not defined");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_line_too_long_between_executions_ends_the_box(void)
{
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        int64_t pid = laz_session_pid(session);
        test_expect(session,
                    FIND_CHANNEL "import signal\n"
                                 "wake = [signal.SIGUSR1]\n"
                                 "old = signal.pthread_sigmask(signal.SIG_BLOCK, wake)\n"
                                 "def flood():\n"
                                 "    signal.sigwait(wake)\n" /* until the execution has ended */
                                 "    os.write(channel, b'x' * (1 << 22))\n"
                                 "threading.Thread(target=flood, daemon=True).start()",
                    LAZ_VERDICT_OK, NULL);
        CU_ASSERT_EQUAL(kill((pid_t)session->box->agent_pid, SIGUSR1), 0);
        while (kill((pid_t)pid, 0) == 0) /* until the loop has handled it */
            CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 10, NULL), 0);
        test_expect(session, "6 * 7", LAZ_VERDICT_OK, "42");
        CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

/* ---- processes ------------------------------------------------------------------------------ */

/* Processes of this machine with `part` in their command line. */
static unsigned processes_with(const char *part)
{
    struct dirent *entry;
    unsigned n = 0;
    DIR *proc = opendir("/proc");

    CU_ASSERT_PTR_NOT_NULL_FATAL(proc);
    while ((entry = readdir(proc))) {
        char path[300], line[512] = "";
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *file = fopen(path, "r");
        size_t len = file ? fread(line, 1, sizeof line - 1, file) : 0;
        if (file)
            fclose(file);
        for (size_t i = 0; i + 1 < len; i++)
            if (!line[i])
                line[i] = ' ';
        n += strstr(line, part) != NULL;
    }
    closedir(proc);
    return n;
}

static void no_process_is_left_when_close_returns(void)
{
    struct laz_engine *engine = test_engine("");
    char part[64], code[400];

    snprintf(part, sizeof part, "sleep 86400.%010d", (int)getpid());
    snprintf(code, sizeof code,
             "import subprocess\n"
             "len([subprocess.Popen(['/bin/sleep', '86400.%010d'], start_new_session=True)"
             " for i in range(30)])",
             (int)getpid());
    for (int round = 0; round < 5; round++) {
        struct laz_session *session = test_session(engine, "python");
        if (!session)
            break;
        test_expect(session, code, LAZ_VERDICT_OK, "30");
        CU_ASSERT(processes_with(part) > 0);
        laz_session_close(session);
        CU_ASSERT_EQUAL(processes_with(part), 0);
        laz_session_free(session);
    }
    laz_engine_free(engine);
}

/* A daemon that has left its parents, group and session; then the parent that would have ended it
 * is killed. */
static void nothing_of_a_uid_is_left_for_its_next_session(void)
{
    struct laz_engine *engine;
    char part[64], code[800];

    if (geteuid() != 0) {
        unit_skip("root", "only root gives sessions uids of their own");
        return;
    }
    engine = test_engine_open("");
    snprintf(part, sizeof part, "sleep 86401.%010d", (int)getpid());
    snprintf(code, sizeof code,
             "import os, signal, time\n"
             "news, tell = os.pipe()\n"
             "if os.fork() == 0:\n"
             "    os.setsid()\n"
             "    if os.fork() == 0:\n"
             "        os.setsid()\n"
             "        os.execv('/bin/sleep', ['sleep', '86401.%010d'])\n"
             "    os._exit(0)\n"
             "os.close(tell)\n"
             "os.read(news, 1)\n" /* closed by exec */
             "print('daemon')\n"
             "os.kill(os.getppid(), signal.SIGKILL)\n"
             "time.sleep(60)",
             (int)getpid());
    struct laz_session *session = test_session(engine, "python");
    struct laz_result *result = session ? test_run(session, code, NULL) : NULL;
    if (result) {
        char *output = test_output(result, LAZ_STDOUT);
        UNIT_TEXT(output, "daemon\n");
        free(output);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CRASHED);
    }
    laz_result_free(result);
    laz_session_free(session);
    while (processes_with(part))
        usleep(1000); /* already killed; the kernel needs some time */
    laz_engine_free(engine);
}

/* ---- what the host holds -------------------------------------------------------------------- */

/* Makes a key in the host's session keyring; false where keyrings are unavailable. */
static bool keys_with_canary(void)
{
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
        return false;
    long key = syscall(SYS_add_key, "user", "lazaret-canary", "secret", (size_t)6,
                       KEY_SPEC_SESSION_KEYRING);
    return key > 0 && syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f000000) == 0;
}

static bool keys_show_canary(void)
{
    char line[256];
    bool found = false;
    FILE *file = fopen("/proc/keys", "r");

    while (file && fgets(line, sizeof line, file))
        found = found || strstr(line, "lazaret-canary");
    if (file)
        fclose(file);
    return found;
}

static void seeing_keys(struct laz_session *session, const char *text)
{
    test_expect(session,
                "local n = 0\n"
                "for line in io.lines('/proc/keys') do\n"
                "  if line:find('lazaret-canary', 1, true) then n = n + 1 end\n"
                "end\n"
                "return n",
                LAZ_VERDICT_OK, text);
}

static void keys_of_the_host_are_not_inherited(void)
{
    struct laz_engine *engine, *open;

    if (!keys_with_canary() || !keys_show_canary()) {
        unit_skip("keyrings", "this kernel, or a filter, refuses them");
        return;
    }
    engine = test_engine("");
    open = test_engine_open("");
    struct laz_session *inside = test_session(engine, "lua"), *bare = test_session(open, "lua");
    if (inside)
        seeing_keys(inside, "0");
    if (bare)
        seeing_keys(bare, "0"); /* nor without a box */
    laz_session_free(inside);
    laz_session_free(bare);
    laz_engine_free(engine);
    laz_engine_free(open);
}

static const struct unit_test tests[] = {
    UNIT(a_line_after_the_outcome_ends_the_box),
    UNIT(a_line_too_long_between_executions_ends_the_box),
    UNIT(no_process_is_left_when_close_returns),
    UNIT(nothing_of_a_uid_is_left_for_its_next_session),
    UNIT(keys_of_the_host_are_not_inherited),
    {0},
};

int main(void)
{
    return unit_run("hostile", tests);
}
