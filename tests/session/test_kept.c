/* SPDX-License-Identifier: MIT */
/* test_kept.c - what memory a session keeps: freed memory stays for the next large value of the
 * same execution, and goes back to the system when the session waits.
 *
 * No time is measured. The agent waits for the next request without a limit of time only when it
 * has given memory back, and the kernel tells in which system call a process waits. What it has
 * then is read from its page tables (smaps_rollup): other numbers of the kernel are estimates, 32
 * pages for each processor (statm). */
#include "template.h"

#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Other allocators, those of sanitizers too, have no such settings. */
#if defined __GLIBC__ && !defined LAZ_SANITIZE
#define KEPT_HERE true
#else
#define KEPT_HERE false
#endif

#define NOBODY                                                                                     \
    {                                                                                              \
        .peer = {.pid = -1, .fd = -1, .out = -1}, .err = -1, .status = -1, .pidfd = -1             \
    }

#define KEPT_VALUE  ((size_t)1 << 20) /* bytes of the value of a tool */
#define KEPT_FAULTS 16 /* of a call, on average; a fresh buffer for the value has 256 */
#define KEPT_CALLS  24
#define KEPT_WARM   12        /* calls until the process has what it needs */
#define KEPT_LEFT   (1 << 19) /* bytes that may stay, of the 4 MiB that are free before */

/* The last expression is small: a language may keep its value (`_` in Python), and leave others to
 * its garbage collector. */
static const struct language {
    const char *runtime, *calls, *large, *small;
} languages[] = {
    {"lua", "local n = 0 for i = 1, 24 do n = n + #text() end return n", "('x'):rep(1000000)",
     "collectgarbage()"},
    {"python", "n = 0\\nfor i in range(24): n += len(text())\\nn", "'x' * 1000000", "0"},
};

static char kept_value[KEPT_VALUE + 1];

/* The process with the interpreter: the child of the first one of the session. */
static pid_t kept_process(const struct template_session *session)
{
    char path[96], text[32] = "";

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)session->peer.pid,
             (long)session->peer.pid);
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_PTR_NOT_NULL(fgets(text, sizeof text, file));
    fclose(file);
    return (pid_t)strtol(text, NULL, 10);
}

/* Bytes of the pages without a file that the process has. */
static long kept_bytes(pid_t pid)
{
    char path[64], line[256];
    long kib = -1;

    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)pid);
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "Anonymous: %ld", &kib) != 1)
        ;
    fclose(file);
    CU_ASSERT_FATAL(kib >= 0);
    return kib << 10;
}

/* Waits until the process sleeps until the next request. */
static void kept_await_rest(pid_t pid)
{
    char path[64], text[128] = "";
    long waited = 0;

    snprintf(path, sizeof path, "/proc/%ld/syscall", (long)pid);
    for (; strtol(text, NULL, 10) != SYS_recvfrom && waited < UNIT_HANG_MS; waited++) {
        poll(NULL, 0, 1);
        FILE *file = fopen(path, "r");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        if (!fgets(text, sizeof text, file)) /* "running", or number and arguments */
            text[0] = '\0';
        fclose(file);
    }
    CU_ASSERT(waited < UNIT_HANG_MS);
}

/* Page faults of the process so far. */
static long kept_faults(pid_t pid)
{
    char path[64], text[1024] = "";
    long faults = -1;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_PTR_NOT_NULL(fgets(text, sizeof text, file));
    fclose(file);
    const char *end = strrchr(text, ')');
    CU_ASSERT(end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %ld", &faults) == 1);
    return faults;
}

/* Runs code that calls the tool so many times; page faults between the call `from` and the last. */
static long kept_run(struct template_session *session, pid_t pid, const char *code, int calls,
                     int from)
{
    long before = 0, after = 0;

    CU_ASSERT_FATAL(peer_send(
        &session->peer, "{\"type\":\"execute\",\"id\":1,\"code\":\"%s\",\"print\":false}", code));
    for (int i = 1; i <= calls; i++) {
        const char *line = peer_line(&session->peer), *id = line ? strstr(line, "\"id\":") : NULL;
        CU_ASSERT_FATAL(id && strstr(line, "\"tool_call\""));
        if (i == from)
            before = kept_faults(pid);
        after = kept_faults(pid);
        CU_ASSERT_FATAL(peer_send(&session->peer, "{\"id\":%ld,\"value\":\"%s\"}",
                                  strtol(id + strlen("\"id\":"), NULL, 10), kept_value));
    }
    const char *line = peer_line(&session->peer);
    CU_ASSERT(line && strstr(line, "\"result\""));
    return after - before;
}

static void kept_is_given_back(const struct language *language)
{
    const char tools[] = "{\"name\":\"text\",\"parameters\":[]}";
    struct template_box box;
    struct template_session session = NOBODY;

    template_tools = tools;
    if (template_open(&box, language->runtime, "") && template_ask(&box, &session) > 0 &&
        template_met(&session)) {
        const char *line = template_init(&session, template_confined, tools);
        CU_ASSERT_FATAL(line && strstr(line, "\"ready\""));
        pid_t pid = kept_process(&session);
        CU_ASSERT_FATAL(pid > 1);
        template_run(&session, "1 + 1");
        const long before = kept_bytes(pid);
        const long faults = kept_run(&session, pid, language->calls, KEPT_CALLS, KEPT_WARM);
        CU_ASSERT(!KEPT_HERE || faults / (KEPT_CALLS - KEPT_WARM) <= KEPT_FAULTS);
        kept_run(&session, pid, language->large, 0, 0);
        kept_run(&session, pid, language->small, 0, 0);
        kept_await_rest(pid);
        CU_ASSERT(!KEPT_HERE || kept_bytes(pid) - before < KEPT_LEFT);
    }
    template_tools = "";
    template_session_close(&session);
    template_close(&box);
}

static void lua_keeps_memory_until_it_waits(void)
{
    kept_is_given_back(&languages[0]);
}

static void python_keeps_memory_until_it_waits(void)
{
    kept_is_given_back(&languages[1]);
}

static const struct unit_test tests[] = {
    UNIT(lua_keeps_memory_until_it_waits),
    UNIT(python_keeps_memory_until_it_waits),
    {0},
};

int main(void)
{
    memset(kept_value, 'v', KEPT_VALUE);
    return unit_run("kept", tests);
}
