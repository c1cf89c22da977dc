/* SPDX-License-Identifier: MIT */
/* sight.c - the whole life of a session whose code inspects its box, while something fails. */
#include "sight.h"

#include "live.h"
#include "traces.h"

#include "base/buf.h"
#include "base/clock.h"
#include "os/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reports what the code sees of its box: the limits and the filter in force, and that the host's
 * file %s is invisible. */
static const char look[] =
    "assert(lookup() == 5)\n"
    "local t = add(2, 3)\n"
    "local s = {tostring(t.a[1]), t.a[2], tostring(t.a[3]), tostring(io.open('%s'))}\n"
    "for l in io.lines('/proc/self/status') do\n"
    "  if l:find('^Seccomp:') or l:find('^NoNewPrivs') or l:find('^CapEff') then s[#s + 1] = l "
    "end\n"
    "end\n"
    "for l in io.lines('/proc/self/limits') do\n"
    "  local n = tonumber(l:match('^Max processes +(%%d+)'))\n"
    "  s[#s + 1] = n and n ~= 50 and 'Max processes: others count, too' or l\n"
    "end\n"
    "return table.concat(s, '\\n')";
static char sight_code[sizeof look + 4096];

/* A tool that is a program of the host, a hook, and few programs in the box: each is treated alike,
 * and many take longer than the rest of the session. */
static const char configuration[] = "[session]\n"
                                    "pre_execute_hook = [\"/bin/true\"]\n"
                                    "timeout = 0\n"
                                    "start_timeout = 600\n"
                                    "[sandbox]\n"
                                    "programs = [\"sh\", \"cat\"]\n"
                                    "[[tools]]\n"
                                    "provider = \"command\"\n"
                                    "[[tools.tool]]\n"
                                    "name = \"lookup\"\n"
                                    "description = \"Looks\"\n"
                                    "command = [\"/bin/echo\", \"5\"]\n"
                                    "timeout = 0\n";

static void sight_prepare(struct sight *sight)
{
    char *file = unit_source("config/lazaret.toml");

    snprintf(sight_code, sizeof sight_code, look, file ? file : "");
    free(file);
    snprintf(sight->directory, sizeof sight->directory, "/tmp/sight-lazaret-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(sight->directory) != NULL);
    snprintf(sight->file, sizeof sight->file, "%s/sight.toml", sight->directory);
    CU_ASSERT_FATAL(
        laz_os_write_file(sight->file, configuration, sizeof configuration - 1, 0600, NULL) == 0);
}

static void sight_tell(const struct sight *sight, const char *what)
{
    printf("\n    ");
    sight->name();
    printf(": %s", what);
}

static void sight_isolation(const struct sight *sight, const char *json, char *part, size_t size)
{
    const char *isolation = strstr(json, "\"isolation\":");

    if (isolation && sight->only_enforced)
        isolation = strstr(isolation, "\"enforces\":");
    snprintf(part, size, "%.*s",
             isolation ? (int)strcspn(isolation, sight->only_enforced ? "]" : "}") : 0,
             isolation ? isolation : "");
}

static void sight_nobody_is_accused(const struct sight *sight, const char *error);

/* Is the result the expected one? */
static bool sight_judge(struct sight *sight, struct laz_result *result)
{
    const char *value = laz_result_value(result);
    const char *json = laz_result_json(result);

    if (laz_result_verdict(result) != LAZ_VERDICT_OK) {
        CU_ASSERT(laz_result_error(result) != NULL);
        sight_nobody_is_accused(sight, laz_result_json(result));
        return false;
    }
    if (laz_result_is_value_omitted(result)) { /* there was no memory for it, and it says so */
        CU_ASSERT(laz_result_warnings(result) > 0);
        return false;
    }
    if (strcmp(json, "{\"ok\":false,\"value\":null}") == 0)
        return true; /* the result object itself could not be allocated */
    char part[2000];
    sight_isolation(sight, json, part, sizeof part);
    if (!sight->sight) {
        sight->sight = laz_strdup(value);
        sight->isolation = laz_strdup(part);
        CU_ASSERT(value && strncmp(value, "\"5", 2) == 0 && strstr(value, "nil") &&
                  strstr(value, "NoNewPrivs:"));
    }
    if (!value || strcmp(value, sight->sight) != 0)
        sight_tell(sight, json);
    UNIT_TEXT(value, sight->sight);
    if (strcmp(part, sight->isolation) != 0)
        sight_tell(sight, json);
    UNIT_TEXT(part, sight->isolation);
    return true;
}

static void sight_tool(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    static const char value[] = "{\"a\":[5,\"x\",{\"$num\":\"NaN\"},null],\"b\":{}}";

    (void)user, (void)args, (void)len;
    laz_reply_value(reply, value, sizeof value - 1);
}

/* Uses a session before and after a restart. */
static int sight_of_session(struct sight *sight, struct laz_engine *engine, bool *good,
                            struct laz_error *err)
{
    struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .warm = sight->from_template};
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;

    int rc = laz_session_open(engine, &options, &session, err);
    if (!rc)
        rc = laz_session_execute(session, sight_code, SIZE_MAX, NULL, &result, err);
    *good = !rc && sight_judge(sight, result);
    laz_result_free(result);
    if (*good && !sight->brief) {
        result = NULL;
        rc = laz_session_restart(session, err);
        if (!rc)
            rc = laz_session_execute(session, sight_code, SIZE_MAX, NULL, &result, err);
        *good = !rc && sight_judge(sight, result);
        laz_result_free(result);
    }
    laz_session_free(session);
    return rc;
}

static int sight_of_pool(struct sight *sight, struct laz_engine *engine, bool *good,
                         struct laz_error *err)
{
    struct laz_pool_options options = {.size = sizeof options, .runtime = "lua", .members = 1};
    struct laz_pool *pool = NULL;
    struct laz_result *result = NULL;

    int rc = laz_pool_new(engine, &options, &pool, err);
    if (!rc)
        rc = laz_pool_execute(pool, LAZ_NO_LIMIT, sight_code, SIZE_MAX, NULL, &result, err);
    *good = !rc && sight_judge(sight, result);
    laz_result_free(result);
    laz_pool_free(pool);
    return rc;
}

/* The log of the engine, in memory of its own: allocations may fail. */
static struct {
    char text[16384];
    size_t len;
} sight_log;

static void sight_log_line(void *user, uint32_t level, const char *text)
{
    size_t room = sizeof sight_log.text - sight_log.len;

    (void)user;
    int n = snprintf(sight_log.text + sight_log.len, room, "[%u] %s\n", level, text);
    sight_log.len += n > 0 && (size_t)n < room ? (size_t)n : 0;
}

bool sight_accuses(const char *text)
{
    static const char *const words[] = {
        "broke the protocol", "the token came",      "a wrong token",     "is not in the box",
        "refused a message",  "no session can come", "without a request", "connected, uid"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

static void sight_nobody_is_accused(const struct sight *sight, const char *error)
{
    if (!sight->is_short || !sight->is_short())
        return;
    const char *accuser = sight_accuses(error)            ? error
                          : sight_accuses(sight_log.text) ? sight_log.text
                                                          : NULL;
    if (accuser)
        sight_tell(sight, accuser);
    CU_ASSERT_PTR_NULL(accuser);
}

void sight_session(void *user)
{
    static const struct laz_tool add = {
        .size = sizeof add,
        .name = "add",
        .description = "Adds",
        .parameters =
            "[{\"name\":\"a\",\"type\":\"number\"},{\"name\":\"b\",\"type\":\"number\"}]"};
    const struct laz_engine_options options = {
        .size = sizeof options, .log = sight_log_line, .log_level = LAZ_LOG_INFO};
    struct sight *sight = user;
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};
    char traces[400];
    bool good = false;

    sight_log.len = 0;
    sight_log.text[0] = '\0';
    int rc = laz_settings_new(&settings, &err);
    if (!rc)
        rc = laz_settings_load(settings, sight->file, &err);
    if (!rc && *sight->settings)
        rc = laz_settings_set(settings, "env.set", sight->settings, &err);
    if (!rc && sight->backend)
        rc = laz_settings_set(settings, "sandbox.backend", sight->backend, &err);
    if (!rc && sight->require)
        rc = laz_settings_set(settings, "sandbox.require", sight->require, &err);
    if (!rc)
        rc = laz_settings_set(settings, "pool.warm", sight->from_template ? "template" : "cold",
                              &err);
    if (!rc)
        rc = laz_engine_new(settings, &options, &engine, &err);
    if (!rc && sight->fails && !*sight->fails)
        test_hold_clock(engine);
    if (!rc)
        rc = laz_engine_add_tool(engine, &add, sight_tool, NULL, &err);
    if (!rc)
        rc = sight_of_session(sight, engine, &good, &err);
    if (!rc && good && !sight->brief)
        rc = sight_of_pool(sight, engine, &good, &err);
    CU_ASSERT(rc == 0 || (rc < 0 && *err.text));
    *(rc == 0 && good ? &sight->good : &sight->bad) += 1;
    laz_engine_free(engine);
    laz_settings_free(settings);
    sight_nobody_is_accused(sight, err.text);
    if (sight->end)
        sight->end(); /* checking the traces makes calls and allocations too */
    int children = sight->has_orphans ? 0 : trace_children(), threads = trace_threads(),
        descriptors = trace_descriptors();
    if (children || threads != sight->threads || descriptors != sight->descriptors) {
        snprintf(traces, sizeof traces,
                 "%d children, %d threads of %d, %d descriptors of %d; %.200s", children, threads,
                 sight->threads, descriptors, sight->descriptors, err.text);
        sight_tell(sight, traces);
    }
    CU_ASSERT_EQUAL(children, 0);
    CU_ASSERT_EQUAL(threads, sight->threads);
    CU_ASSERT_EQUAL(descriptors, sight->descriptors);
    sight->threads = threads; /* report it only once */
    sight->descriptors = descriptors;
}

bool sight_begin(struct sight *sight)
{
    struct laz_engine *engine = test_engine("");

    sight_prepare(sight);
    if (engine)
        test_hold_clock(engine);
    struct laz_session *session = test_session(engine, "lua");
    laz_engine_free(engine);
    sight->descriptors = trace_descriptors();
    sight->threads = trace_threads();
    return session != NULL;
}

void sight_end(struct sight *sight)
{
    unlink(sight->file);
    rmdir(sight->directory);
    free(sight->sight);
    free(sight->isolation);
    free(sight->require);
}

/* ---- samples -------------------------------------------------------------------------------- */

bool sight_is_full(void)
{
    return getenv("LAZARET_TEST_FULL") != NULL;
}

unsigned long sight_sample(unsigned long n)
{
#ifdef LAZ_SANITIZE
    return sight_is_full() ? n : (n + 1) / 2;
#else
    return n;
#endif
}

size_t sight_pick(size_t n)
{
    static uint64_t state;

    if (!state) {
        const char *given = getenv("LAZARET_TEST_SEED");
        uint64_t seed = given ? strtoull(given, NULL, 10) : laz_clock_us() % 1000000000;
        printf("\n    seed %llu; LAZARET_TEST_SEED=%llu repeats it", (unsigned long long)seed,
               (unsigned long long)seed);
        state = seed * 2 + 1;
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((state >> 33) % n);
}
