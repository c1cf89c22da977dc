/* SPDX-License-Identifier: MIT */
/* test_reap.c - the options of lazaret-agent: --probe, --describe, and --reap, which leaves no
 * process behind. This program also serves as the daemon to be reaped. */
#include "peer.h"

#include "base/json.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAP_DAEMONS 3

static const char *reap_self;

/* Makes a daemon in the usual way: two forks and a session of its own. Prints its process id. */
static void reap_daemon(void)
{
    int told[2];
    char c;

    if (pipe(told))
        _exit(1);
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            setsid();
            printf("%ld\n", (long)getpid());
            fflush(stdout);
            close(1); /* the test reads to the end */
            close(2);
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            close(told[0]);
            close(told[1]);
            for (;;)
                pause();
        }
        _exit(0);
    }
    close(told[1]);
    if (read(told[0], &c, 1) < 0) /* wait until the daemon has written */
        _exit(1);
    close(told[0]);
    wait(NULL);
}

static int reap_helper(const char *word)
{
    for (int i = 0; i < REAP_DAEMONS; i++)
        reap_daemon();
    if (strcmp(word, "stay") == 0) {
        close(1);
        close(2);
        for (;;)
            pause();
    }
    return 7;
}

static int reap_pids(const char *output, long *pids)
{
    return sscanf(output, "%ld %ld %ld", &pids[0], &pids[1], &pids[2]);
}

static bool reap_is_gone(long pid)
{
    return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void daemons_outlive_a_plain_parent(void)
{
    const char *argv[] = {reap_self, "daemons", NULL};
    long pids[REAP_DAEMONS] = {0};
    int out;
    pid_t pid = peer_run(argv, &out);
    char *output = peer_read_all(out);

    CU_ASSERT(peer_wait_pid(pid) == 7);
    CU_ASSERT(reap_pids(output, pids) == REAP_DAEMONS);
    for (int i = 0; i < REAP_DAEMONS; i++) {
        CU_ASSERT(pids[i] > 1 && !reap_is_gone(pids[i]));
        if (pids[i] > 1)
            kill((pid_t)pids[i], SIGKILL);
    }
    free(output);
    close(out);
}

static void reap_kills_daemons_and_keeps_the_status(void)
{
    const char *argv[] = {peer_agent(), "--reap", reap_self, "daemons", NULL};
    long pids[REAP_DAEMONS] = {0};
    int out;
    pid_t pid = peer_run(argv, &out);
    char *output = peer_read_all(out);

    CU_ASSERT(peer_wait_pid(pid) == 7);
    CU_ASSERT(reap_pids(output, pids) == REAP_DAEMONS);
    for (int i = 0; i < REAP_DAEMONS; i++)
        CU_ASSERT(pids[i] > 1 && reap_is_gone(pids[i]));
    free(output);
    close(out);
}

static void reap_kills_all_when_it_is_told_to_end(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        const char *argv[] = {peer_agent(), "--reap", reap_self, "stay", NULL};
        long pids[REAP_DAEMONS] = {0};
        char line[128] = "";
        int out;
        pid_t pid = peer_run(argv, &out);
        FILE *lines = fdopen(out, "r");
        for (int j = 0; j < REAP_DAEMONS && fgets(line, sizeof line, lines); j++)
            pids[j] = strtol(line, NULL, 10);
        kill(pid, signals[i]);
        CU_ASSERT(peer_wait_pid(pid) == 128 + SIGKILL);
        for (int j = 0; j < REAP_DAEMONS; j++)
            CU_ASSERT(pids[j] > 1 && reap_is_gone(pids[j]));
        fclose(lines);
    }
}

static void reap_exits_as_a_shell_does(void)
{
    static const struct {
        const char *script;
        int status;
    } rows[] = {{"exit 0", 0}, {"exit 41", 41}, {"kill -SEGV $$", 128 + SIGSEGV}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *argv[] = {peer_agent(), "--reap", "/bin/sh", "-c", rows[i].script, NULL};
        int out;
        pid_t pid = peer_run(argv, &out);
        char *output = peer_read_all(out);
        CU_ASSERT(peer_wait_pid(pid) == rows[i].status);
        UNIT_TEXT(output, "");
        free(output);
        close(out);
    }
}

static void reap_says_what_cannot_be_run(void)
{
    const char *argv[] = {peer_agent(), "--reap", "/nowhere/program", NULL};
    int out;
    pid_t pid = peer_run(argv, &out);
    char *output = peer_read_all(out);

    CU_ASSERT(peer_wait_pid(pid) == 125);
    CU_ASSERT(strstr(output, "/nowhere/program") != NULL);
    free(output);
    close(out);
}

static void probe_says_ok(void)
{
    const char *argv[] = {peer_agent(), "--probe", NULL};
    int out;
    pid_t pid = peer_run(argv, &out);
    char *output = peer_read_all(out);

    CU_ASSERT(peer_wait_pid(pid) == 0);
    UNIT_TEXT(output, "lazaret-agent: ok\n");
    free(output);
    close(out);
}

/* A trial box reports whether the given confinement is available here. */
static void probe_tries_the_confinement_it_is_given(void)
{
    static const struct {
        const char *confine;
        int status;
        const char *words;
    } rows[] = {
        {"{}", 0, "lazaret-agent: ok\n"},
        {"{\"limits\":{\"nofile\":64}}", 0, "lazaret-agent: ok\n"},
        {"{\"limits\":{\"nofile\":\"x\"}}", 125,
         "lazaret-agent: init: 'nofile' of 'limits' is not a size\n"},
        {"{\"magic\":{}}", 125,
         "lazaret-agent: init: this agent does not know \"magic\" in 'confine': it is older than "
         "the "
         "host\n"},
        {"{", 125, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *argv[] = {peer_agent(), "--probe", rows[i].confine, NULL};
        int out;
        pid_t pid = peer_run(argv, &out);
        char *output = peer_read_all(out);
        CU_ASSERT_EQUAL(peer_wait_pid(pid), rows[i].status);
        if (rows[i].words)
            UNIT_TEXT(output, rows[i].words);
        free(output);
        close(out);
    }
}

static void describe_prints_the_descriptor(void)
{
    const char *file = peer_plugin("tests/mock/.libs/mock_script.so");
    const char *argv[] = {peer_agent(), "--describe", file, NULL};
    struct laz_error err = {0};
    int out;
    pid_t pid = peer_run(argv, &out);
    char *output = peer_read_all(out);

    CU_ASSERT(peer_wait_pid(pid) == 0);
    struct laz_json *root = laz_json_parse(output, strlen(output), &err);
    UNIT_TEXT(root ? laz_json_string(laz_json_get(root, "name")) : err.text, "mock_script");
    laz_json_free(root);
    free(output);
    close(out);
}

static void wrong_use_is_told(void)
{
    static const char *const words[][4] = {
        {NULL, "--describe"}, {NULL, "--reap"}, {NULL, "--probe", "x", "y"}, {NULL, "--dance"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *argv[] = {peer_agent(), words[i][1], words[i][2], words[i][3], NULL};
        int out;
        pid_t pid = peer_run(argv, &out);
        char *output = peer_read_all(out);
        CU_ASSERT(peer_wait_pid(pid) == 2);
        CU_ASSERT(strncmp(output, "usage: lazaret-agent", 20) == 0);
        free(output);
        close(out);
    }
    const char *mock = peer_plugin("tests/mock/.libs/mock_script.so");
    const char *const missing[][4] = {{"--describe", "/nowhere/x.so"},
                                      {"--describe", mock, "/nowhere/x.so"}};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        const char *argv[] = {peer_agent(), missing[i][0], missing[i][1], missing[i][2], NULL};
        int out;
        pid_t pid = peer_run(argv, &out);
        char *output = peer_read_all(out);
        CU_ASSERT(peer_wait_pid(pid) == 1);
        CU_ASSERT(strstr(output, "/nowhere/x.so") != NULL);
        free(output);
        close(out);
    }
}

static const struct unit_test tests[] = {
    UNIT(daemons_outlive_a_plain_parent),
    UNIT(reap_kills_daemons_and_keeps_the_status),
    UNIT(reap_kills_all_when_it_is_told_to_end),
    UNIT(reap_exits_as_a_shell_does),
    UNIT(reap_says_what_cannot_be_run),
    UNIT(probe_says_ok),
    UNIT(probe_tries_the_confinement_it_is_given),
    UNIT(describe_prints_the_descriptor),
    UNIT(wrong_use_is_told),
    {0},
};

int main(int argc, char **argv)
{
    if (argc > 1)
        return reap_helper(argv[1]);
    reap_self = realpath("/proc/self/exe", NULL);
    return unit_run("reap", tests);
}
