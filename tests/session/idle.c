/* SPDX-License-Identifier: MIT */
/* idle.c - an idle host, which idle.sh measures.
 *
 *     idle idle       opens sessions of every runtime and executes once in each; the limit on CPU
 *                     time is large, because the host looks at an idle session as often as N
 *                     processors could reach it (test_whole.c counts that)
 *     idle waiting    the same, then the last one waits for a tool that does not answer; without
 *                     limits on memory and CPU time, because threads and children of the code
 *                     continue, and without a control group a watchdog would sample them
 *     idle ticking    after a line of input wakes up twenty times, in a second or more, and prints
 *                     "ticked": the control, which the measurements must detect
 *
 * It prints "ready" and exits at the end of its standard input. Exit status 77: no session can be
 * opened here. */
#include <lazaret/lazaret.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wait_until_told(void)
{
    char data[16];

    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, data, sizeof data) > 0)
        ;
}

static void tool_wait(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    wait_until_told();
    laz_reply_value(reply, "7", 1);
}

static void tick(void)
{
    const struct timespec wait = {0, 50000000L};
    char data[16];

    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, data, sizeof data) > 0) {
        for (int i = 0; i < 20; i++)
            nanosleep(&wait, NULL);
        puts("ticked");
        fflush(stdout);
    }
}

static bool execute(struct laz_session *session, const char *code, const char *value)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    int rc = laz_session_execute(session, code, SIZE_MAX, NULL, &result, &err);
    bool ok = !rc && strcmp(laz_result_value(result), value) == 0;
    if (!ok)
        fprintf(stderr, "idle: %s: %s\n", code, rc ? err.text : laz_result_json(result));
    laz_result_free(result);
    return ok;
}

/* Opens sessions of all installed runtimes; returns the last one. */
static struct laz_session *open_all(struct laz_engine *engine)
{
    static const char *const runtimes[] = {"r", "python", "lua"};
    struct laz_session *session, *last = NULL;
    struct laz_error err = {0};

    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        const struct laz_session_options options = {.size = sizeof options, .runtime = runtimes[i]};
        int rc = laz_session_open(engine, &options, &session, &err);
        if (rc)
            fprintf(stderr, "idle: %s\n", err.text);
        if (rc && rc != LAZ_ENOENT)
            return NULL;
        if (rc)
            continue;
        if (execute(session, "1 + 1", "2"))
            last = session;
    }
    return last;
}

int main(int argc, char **argv)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "pause", .description = "Waits"};
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};
    const char *mode = argc == 2 ? argv[1] : "";

    if (strcmp(mode, "ticking") == 0) {
        tick();
        return 0;
    }
    const char *limit = strcmp(mode, "waiting") == 0 ? "unlimited" : "1000000";
    if (laz_settings_new(&settings, &err) ||
        laz_settings_set(settings, "session.timeout", "0", &err) ||
        laz_settings_set(settings, "session.start_timeout", "600", &err) ||
        laz_settings_set(settings, "limits.cpu", limit, &err) ||
        (*limit == 'u' && laz_settings_set(settings, "limits.memory", limit, &err)) ||
        laz_engine_new(settings, NULL, &engine, &err) ||
        laz_engine_add_tool(engine, &tool, tool_wait, NULL, &err)) {
        fprintf(stderr, "idle: %s\n", err.text);
        return 1;
    }
    struct laz_session *session = open_all(engine);
    bool ok = true;
    if (session && strcmp(mode, "waiting") == 0)
        ok = execute(session, "pause()", "7");
    else if (session)
        wait_until_told();
    laz_engine_free(engine);
    laz_settings_free(settings);
    return session ? !ok : 77;
}
