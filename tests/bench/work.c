/* SPDX-License-Identifier: MIT */
/* work.c - the engine, tools and sessions of lazaret-bench, and the same work in four languages.
 */
#include "bench.h"

#include <pthread.h>

const struct bench_language bench_languages[N_LANGUAGES] = {
    {
        .name = "lua",
        .calls = "for i = 1, @n do add(1, 2) end",
        .big_in = "local bytes = @b for i = 1, @n do give(bytes) end",
        .big_out = "local text = ('x'):rep(@b) for i = 1, @n do take(text) end",
        .lines = "for i = 1, @n do print(('%023d'):format(i)) end",
        .busy = "while true do end",
        .floor = bench_bwrap_true,
        .bare = bench_bwrap_lua,
        .interpreter = bench_lua,
    },
    {
        .name = "python",
        .calls = "for i in range(@n): add(1, 2)",
        .big_in = "bytes = @b\nfor i in range(@n): give(bytes)",
        .big_out = "text = 'x' * @b\nfor i in range(@n): take(text)",
        .lines = "for i in range(@n): print('%023d' % i)",
        .busy = "while True: pass",
        .floor = bench_bwrap_python,
        .bare = bench_bwrap_python,
        .interpreter = bench_python,
    },
    {
        .name = "r",
        .calls = "for (i in 1:@n) add(1, 2)",
        .big_in = "bytes <- @b; for (i in 1:@n) give(bytes)",
        .big_out = "text <- strrep('x', @b); for (i in 1:@n) take(text)",
        .lines = "for (i in 1:@n) cat(sprintf('%023d\\n', i))",
        .busy = "repeat {}",
        .floor = bench_bwrap_r,
        .bare = bench_bwrap_r,
        .interpreter = bench_r,
    },
    {
        .name = "javascript",
        .calls = "for (let i = 0; i < @n; i++) await add(1, 2);",
        .big_in = "{ const bytes = @b; for (let i = 0; i < @n; i++) await give(bytes); }",
        .big_out = "{ const text = 'x'.repeat(@b); for (let i = 0; i < @n; i++) await take(text); }",
        .lines = "for (let i = 1; i <= @n; i++) console.log(String(i).padStart(23, '0'));",
        .busy = "for (;;);",
        .floor = bench_bwrap_true,
        .bare = bench_bwrap_node,
        .interpreter = bench_node,
    },
};

void bench_code(const char *pattern, int bytes, int times, char *code, size_t size)
{
    size_t at = 0;

    for (const char *p = pattern; *p && at < size; p++) {
        if (p[0] == '@' && (p[1] == 'n' || p[1] == 'b'))
            at += (size_t)snprintf(code + at, size - at, "%d", *++p == 'n' ? times : bytes);
        else
            code[at++] = *p;
    }
    if (at >= size)
        abort();
    code[at] = '\0';
}

/* ---- tools ----------------------------------------------------------------------------------- */

struct bench_clock {
    pthread_mutex_t lock;
    int n, room;
    double times[];
};

struct bench_clock *bench_clock_new(int room)
{
    struct bench_clock *clock = calloc(1, sizeof *clock + (size_t)room * sizeof *clock->times);

    if (!clock)
        abort();
    pthread_mutex_init(&clock->lock, NULL);
    clock->room = room;
    return clock;
}

void bench_clock_free(struct bench_clock *clock)
{
    if (clock)
        pthread_mutex_destroy(&clock->lock);
    free(clock);
}

void bench_clock_reset(struct bench_clock *clock)
{
    pthread_mutex_lock(&clock->lock);
    clock->n = 0;
    pthread_mutex_unlock(&clock->lock);
}

int bench_clock_times(struct bench_clock *clock, const double **times)
{
    *times = clock->times;
    return clock->n;
}

static void bench_clock_tick(struct bench_clock *clock)
{
    if (!clock)
        return;
    pthread_mutex_lock(&clock->lock);
    if (clock->n < clock->room)
        clock->times[clock->n++] = bench_now_us();
    pthread_mutex_unlock(&clock->lock);
}

static void tool_add(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)args, (void)len;
    bench_clock_tick(user);
    laz_reply_value(reply, "3", 1);
}

/* Answers with a text of the given number of bytes. */
static void tool_give(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const char *digits = memchr(args, ':', len);
    size_t bytes = digits ? strtoul(digits + 1, NULL, 10) : 0;
    char *text = malloc(bytes + 2);

    bench_clock_tick(user);
    if (!text) {
        laz_reply_error(reply, "no memory");
        return;
    }
    memset(text, 'x', bytes + 2);
    text[0] = text[bytes + 1] = '"';
    laz_reply_value(reply, text, bytes + 2);
    free(text);
}

/* Answers with a data frame of the given number of rows. */
static void tool_frame(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const char *digits = memchr(args, ':', len);
    size_t bytes;
    const char *text = bench_frame(digits ? atoi(digits + 1) : 0, &bytes);

    bench_clock_tick(user);
    laz_reply_value(reply, text, bytes);
}

static const struct {
    struct laz_tool tool;
    void (*call)(void *user, const char *args, size_t args_len, struct laz_reply *reply);
} tools[] = {
    {{.name = "add",
      .description = "",
      .parameters = "[{\"name\":\"a\",\"type\":\"number\"},{\"name\":\"b\",\"type\":\"number\"}]"},
     tool_add},
    {{.name = "give",
      .description = "",
      .parameters = "[{\"name\":\"bytes\",\"type\":\"integer\"}]"},
     tool_give},
    {{.name = "take", .description = "", .parameters = "[{\"name\":\"text\",\"type\":\"string\"}]"},
     tool_add},
    {{.name = "frame",
      .description = "",
      .parameters = "[{\"name\":\"rows\",\"type\":\"integer\"}]"},
     tool_frame},
    {{.name = "keep", .description = "", .parameters = "[{\"name\":\"frame\"}]"}, tool_add},
};

/* All layers have their defaults; only a data frame of a million rows must fit into a
 * message. */
static int bench_settings(struct laz_settings **settings, int sessions, struct laz_error *err)
{
    char number[16];

    int rc = laz_settings_new(settings, err);
    if (rc == 0)
        rc = laz_settings_set(*settings, "session.max_message_size", "64MiB", err);
    if (rc == 0) /* for a busy machine */
        rc = laz_settings_set(*settings, "session.start_timeout", "600", err);
    if (rc == 0) /* a session that may come from a template waits for it */
        rc = laz_settings_set(*settings, "pool.warm", "template", err);
    snprintf(number, sizeof number, "%d", sessions);
    if (rc == 0) /* refused on systems without this limit */
        (void)laz_settings_set(*settings, "pool.max_sessions", number, NULL);
    return rc;
}

int bench_engine(struct laz_engine **engine, struct bench_clock *clock, int sessions,
                 struct laz_error *err)
{
    struct laz_settings *settings = NULL;

    int rc = bench_settings(&settings, sessions, err);
    if (rc == 0)
        rc = laz_engine_new(settings, NULL, engine, err);
    for (size_t i = 0; rc == 0 && i < sizeof tools / sizeof *tools; i++) {
        struct laz_tool tool = tools[i].tool;
        tool.size = sizeof tool;
        rc = laz_engine_add_tool(*engine, &tool, tools[i].call, clock, err);
    }
    laz_settings_free(settings);
    return rc;
}

int bench_group(struct laz_group **group, unsigned engines, struct laz_error *err)
{
    const struct laz_group_options options = {.size = sizeof options, .engines = engines};
    struct laz_settings *settings = NULL;

    int rc = bench_settings(&settings, 0, err);
    if (rc == 0)
        rc = laz_group_new(settings, &options, group, err);
    for (size_t i = 0; rc == 0 && i < sizeof tools / sizeof *tools; i++) {
        struct laz_tool tool = tools[i].tool;
        tool.size = sizeof tool;
        rc = laz_group_add_tool(*group, &tool, tools[i].call, NULL, err);
    }
    laz_settings_free(settings);
    return rc;
}

/* ---- sessions -------------------------------------------------------------------------------- */

int bench_open_warm(struct laz_engine *engine, const char *runtime, struct laz_session **session,
                    struct laz_error *err)
{
    struct laz_session_options options = {
        .size = sizeof options, .runtime = runtime, .no_wait = 1, .warm = 1};

    return laz_session_open(engine, &options, session, err);
}

bool bench_is_two(const struct bench_point *point, const struct laz_result *result,
                  const struct laz_error *err)
{
    if (!result)
        bench_problem(point, "%s", err->text);
    else if (laz_result_verdict(result) != LAZ_VERDICT_OK ||
             strcmp(laz_result_value(result), "2") != 0)
        bench_problem(point, "1+1: %s: %s", laz_verdict_name(laz_result_verdict(result)),
                      laz_result_error(result) ? laz_result_error(result)
                                               : laz_result_detail(result));
    else
        return true;
    return false;
}

enum bench_outcome bench_open(struct bench *bench, struct bench_point *point,
                              struct laz_session **session)
{
    size_t which = (size_t)(point->language - bench_languages);
    struct laz_session_options options = {.size = sizeof options, .runtime = point->language->name};
    struct laz_error err = {0};

    *session = NULL;
    if (bench->missing[which])
        return BENCH_ABSENT;
    int rc = laz_session_open(bench->engine, &options, session, &err);
    if (rc == LAZ_ENOENT) {
        bench->missing[which] = true;
        return BENCH_ABSENT;
    }
    return rc ? bench_problem(point, "%s", err.text) : BENCH_DONE;
}

enum bench_outcome bench_session(struct bench *bench, struct bench_point *point,
                                 struct laz_session **session)
{
    struct laz_session **kept = &bench->sessions[point->language - bench_languages];

    if (!*kept || !laz_session_is_alive(*kept)) {
        laz_session_free(*kept);
        enum bench_outcome outcome = bench_open(bench, point, kept);
        if (outcome != BENCH_DONE)
            return outcome;
    }
    *session = *kept;
    return BENCH_DONE;
}

enum bench_outcome bench_any_session(struct bench *bench, struct bench_point *point,
                                     struct laz_session **session)
{
    enum bench_outcome outcome = BENCH_ABSENT;

    for (size_t i = 0; i < N_LANGUAGES && outcome == BENCH_ABSENT; i++) {
        point->language = &bench_languages[(i + 1) % N_LANGUAGES];
        outcome = bench_session(bench, point, session);
    }
    return outcome;
}

bool bench_execute(const struct bench_point *point, struct laz_session *session, const char *code)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (laz_session_execute(session, code, SIZE_MAX, NULL, &result, &err)) {
        bench_problem(point, "%s", err.text);
        return false;
    }
    bool good = laz_result_verdict(result) == LAZ_VERDICT_OK;
    if (!good)
        bench_problem(point, "%s: %s: %s", code, laz_verdict_name(laz_result_verdict(result)),
                      laz_result_error(result) ? laz_result_error(result)
                                               : laz_result_detail(result));
    laz_result_free(result);
    return good;
}
