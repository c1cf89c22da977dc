/* SPDX-License-Identifier: MIT */
/* test_watches.c - the kernel refuses new epoll watches, because all processes of a user share a
 * limit (fs.epoll.max_user_watches, epoll(7)). Running sessions continue, new ones fail with an
 * error, and the application's process survives.
 *
 * A filter (seccomp(2)) in a separate process makes the refusal, in place of a session that makes
 * five million watches, so that no other process is affected. */
#include "live.h"
#include "unit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Installs it for all threads of this process, and shows that it works. */
static bool refuse_watches(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EPOLL_CTL_ADD, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof code / sizeof *code, code};
    struct epoll_event event = {.events = EPOLLIN};
    int ends[2];

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0 ||
        pipe(ends) != 0)
        return false;
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event) != 0 && errno == ENOSPC;
}

/* Runs in the separate process: 0, or the line of the failed check. */
#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what))                                                                               \
            return __LINE__;                                                                       \
    } while (0)

static bool gives(struct laz_session *session, const char *code, const char *value)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    int rc = laz_session_execute(session, code, SIZE_MAX, NULL, &result, &err);
    bool right = !rc && laz_result_verdict(result) == LAZ_VERDICT_OK &&
                 strcmp(laz_result_value(result), value) == 0;
    if (!right)
        printf("\n    %s: %.400s", code, rc ? err.text : laz_result_json(result));
    laz_result_free(result);
    return right;
}

static int goes_on(const char *settings, bool warm)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua", .warm = warm};
    struct laz_engine *engine = test_engine(settings), *other = NULL;
    struct laz_session *session = NULL, *second = NULL;
    struct laz_error err = {0};

    MUST(engine && laz_session_open(engine, &options, &session, &err) == 0);
    MUST(gives(session, "return add(2, 3)", "5"));
    MUST(refuse_watches());
    /* more lines than one turn serves, more calls than the socket takes, and output of a leftover
     * process while no execution runs: each has to wait for a while */
    MUST(gives(session, "for i = 1, 20000 do print('line', i) end\nreturn 7", "7"));
    MUST(gives(session, "local t = {}\nfor i = 1, 300 do t[i] = i end\nreturn #tool_map(echo, t)",
               "300"));
    MUST(gives(session, "os.execute('(sleep 0.05; echo late) & :')\nreturn 1", "1"));
    for (int i = 0; i < 20; i++) {
        usleep(10000);
        laz_engine_step(engine, 0, NULL);
        MUST(gives(session, "return 1", "1"));
    }
    /* a session that begins now */
    int rc = laz_session_open(engine, &options, &second, &err);
    MUST(rc < 0 && !second && strstr(err.text, "fs.epoll.max_user_watches"));
    MUST(laz_engine_new(NULL, NULL, &other, &err) < 0 && !other);
    MUST(strstr(err.text, "fs.epoll.max_user_watches"));
    MUST(gives(session, "return add(2, 3)", "5"));
    MUST(laz_session_restart(session, &err) < 0 && *err.text);
    laz_engine_free(engine);
    return 0;
}

static void holds(const char *settings, bool warm)
{
    int status = -1;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int line = goes_on(settings, warm);
        if (line)
            printf("\n    test_watches.c:%d", line);
        fflush(stdout);
        _exit(line ? 1 : 0);
    }
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    if (status)
        printf("\n    %s%s: status %#x", settings, warm ? " from a template" : "",
               (unsigned)status);
    CU_ASSERT_EQUAL(status, 0);
}

static void sessions_of_bubblewrap_go_on(void)
{
    holds("sandbox.backend=bwrap", false);
}

static void sessions_of_landlock_go_on(void)
{
    holds("sandbox.backend=landlock", false);
}

static void sessions_of_a_template_go_on(void)
{
    holds("sandbox.backend=bwrap;pool.warm=template", true);
}

static const struct unit_test tests[] = {
    UNIT(sessions_of_bubblewrap_go_on),
    UNIT(sessions_of_landlock_go_on),
    UNIT(sessions_of_a_template_go_on),
    {0},
};

int main(void)
{
    return unit_run("watches", tests);
}
