/* SPDX-License-Identifier: MIT */
/* sight.c - one session from engine to end, whose code looks at its box, while something fails. */
#include "sight.h"

#include "session.h"
#include "traces.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the code sees of its box: the limits and the filter that hold, and no file of the host,
 * which is the %s. */
static const char look[] =
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

static void sight_prepare(void)
{
    char *file = unit_source("config/lazaret.toml");

    snprintf(sight_code, sizeof sight_code, look, file ? file : "");
    free(file);
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

static void sight_judge(struct sight *sight, struct laz_result *result)
{
    const char *value = laz_result_value(result);
    const char *json = laz_result_json(result);

    if (laz_result_verdict(result) != LAZ_VERDICT_OK) {
        sight->bad++;
        CU_ASSERT(laz_result_error(result) != NULL);
        return;
    }
    sight->good++;
    if (strcmp(json, "{\"ok\":false,\"value\":null}") == 0)
        return; /* the object itself could not be made */
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
}

static void sight_tool(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    static const char value[] = "{\"a\":[5,\"x\",{\"$num\":\"NaN\"},null],\"b\":{}}";

    (void)user, (void)args, (void)len;
    laz_reply_value(reply, value, sizeof value - 1);
}

void sight_session(void *user)
{
    static const struct laz_tool add = {
        sizeof add, "add",
        "Adds",     "[{\"name\":\"a\",\"type\":\"number\"},{\"name\":\"b\",\"type\":\"number\"}]",
        0,          0};
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct sight *sight = user;
    options.warm = sight->from_template;
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    char traces[400];

    int rc = laz_settings_new(&settings, &err);
    if (!rc && *sight->settings)
        rc = laz_settings_set(settings, "env.set", sight->settings, &err);
    if (!rc && sight->backend)
        rc = laz_settings_set(settings, "sandbox.backend", sight->backend, &err);
    if (!rc && sight->require)
        rc = laz_settings_set(settings, "sandbox.require", sight->require, &err);
    if (!rc && sight->from_template)
        rc = laz_settings_set(settings, "pool.warm", "template", &err);
    if (!rc)
        rc = laz_settings_set(settings, "session.timeout", "0", &err);
    if (!rc)
        rc = laz_settings_set(settings, "session.start_timeout", "600", &err);
    if (!rc)
        rc = laz_engine_new(settings, NULL, &engine, &err);
    if (!rc && sight->fails && !*sight->fails)
        test_hold_clock(engine);
    if (!rc)
        rc = laz_engine_add_tool(engine, &add, sight_tool, NULL, &err);
    if (!rc)
        rc = laz_session_open(engine, &options, &session, &err);
    if (!rc)
        rc = laz_session_execute(session, sight_code, SIZE_MAX, NULL, &result, &err);
    if (!rc)
        sight_judge(sight, result);
    else
        sight->bad++;
    CU_ASSERT(rc == 0 || (rc < 0 && *err.text));
    laz_result_free(result);
    laz_session_free(session);
    laz_engine_free(engine);
    laz_settings_free(settings);
    if (sight->end)
        sight->end(); /* looking at the traces takes calls and memory too */
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
    sight->threads = threads; /* told once */
    sight->descriptors = descriptors;
}

bool sight_begin(struct sight *sight)
{
    struct laz_engine *engine = test_engine("");

    sight_prepare();
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
    free(sight->sight);
    free(sight->isolation);
    free(sight->require);
}

/* ---- samples -------------------------------------------------------------------------------- */

bool sight_is_full(void)
{
    return getenv("LAZARET_TEST_FULL") != NULL;
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
