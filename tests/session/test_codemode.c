/* SPDX-License-Identifier: MIT */
/* test_codemode.c - programs of the kind that models write when tools are functions of JavaScript.
 *
 * Each file NAME.js or NAME.ts of tests/session/codemode runs in a session of its own, with the
 * tools below. Lines "// ---- next execution" part it into executions of that session. What they
 * print, and after each "=> " and its value or its error, is NAME.out. */
#include "live.h"

#include "base/buf.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEXT "// ---- next execution\n"

/* ---- tools ---------------------------------------------------------------------------------- */

static const char *const users[] = {
    "{\"id\":1,\"name\":\"Ada Lovelace\",\"email\":\"ada@example.com\",\"city\":\"London\","
    "\"age\":36,\"active\":true,\"tags\":[\"math\",\"code\"]}",
    "{\"id\":2,\"name\":\"Grace Hopper\",\"email\":\"grace@example.org\",\"city\":\"Boston\","
    "\"age\":45,\"active\":true,\"tags\":[\"code\",\"navy\"]}",
    "{\"id\":3,\"name\":\"\xc3\x89mile Borel\",\"email\":\"emile@example.fr\",\"city\":\"Paris\","
    "\"age\":61,\"active\":false,\"tags\":[\"math\"]}",
    "{\"id\":4,\"name\":\"zoe Zhang\",\"email\":\"ZOE@Example.com\",\"city\":\"London\","
    "\"age\":28,\"active\":true,\"tags\":[]}",
    "{\"id\":5,\"name\":\"\xc3\x96zlem T\xc3\xbcreci\",\"email\":\"ozlem@example.de\","
    "\"city\":\"Berlin\",\"age\":54,\"active\":true,\"tags\":[\"biology\"],\"manager\":null}",
    "{\"id\":6,\"name\":\"Edsger Dijkstra\",\"email\":\"ewd@example.nl\",\"city\":\"Berlin\","
    "\"age\":40,\"active\":false,\"tags\":[\"code\",\"math\",\"essays\"]}",
    "{\"id\":7,\"name\":\"Barbara Liskov\",\"email\":\"barbara@example.edu\",\"city\":\"Boston\","
    "\"age\":50,\"active\":true,\"tags\":[\"code\"]}",
};
#define N_USERS (sizeof users / sizeof *users)

static const char *const orders[N_USERS] = {
    "{\"id\":\"A-100\",\"date\":\"2026-01-15\",\"status\":\"paid\",\"total\":30.5},"
    "{\"id\":\"A-103\",\"date\":\"2026-02-02\",\"status\":\"paid\",\"total\":12.25},"
    "{\"id\":\"A-110\",\"date\":\"2026-03-29\",\"status\":\"refunded\",\"total\":99.99}",
    "{\"id\":\"A-101\",\"date\":\"2026-01-31\",\"status\":\"open\",\"total\":250}",
    "",
    "{\"id\":\"A-102\",\"date\":\"2026-01-31\",\"status\":\"paid\",\"total\":8},"
    "{\"id\":\"A-109\",\"date\":\"2026-03-01\",\"status\":\"open\",\"total\":19.99}",
    "{\"id\":\"A-104\",\"date\":\"2026-02-14\",\"status\":\"paid\",\"total\":75.1}",
    "{\"id\":\"A-105\",\"date\":\"2026-02-28\",\"status\":\"paid\",\"total\":0.1},"
    "{\"id\":\"A-106\",\"date\":\"2026-02-28\",\"status\":\"paid\",\"total\":0.2}",
    "{\"id\":\"A-107\",\"date\":\"2026-03-01\",\"status\":\"open\",\"total\":1200},"
    "{\"id\":\"A-108\",\"date\":\"2026-03-01\",\"status\":\"paid\",\"total\":40}",
};

static const char *const places[][2] = {
    {"London", "{\"city\":\"London\",\"celsius\":11.5,\"wind\":22,\"sky\":\"rain\"}"},
    {"Paris", "{\"city\":\"Paris\",\"celsius\":14,\"wind\":9,\"sky\":\"clouds\"}"},
    {"Berlin", "{\"city\":\"Berlin\",\"celsius\":-2.5,\"wind\":31,\"sky\":\"snow\"}"},
    {"Boston", "{\"city\":\"Boston\",\"celsius\":3,\"wind\":15,\"sky\":\"clear\"}"},
};

#define DOCUMENTS      11 /* "Document 1" ... */
#define DOCUMENTS_PAGE 4

/* The text of an argument as it came, JSON; "" when it was not given. */
static void argument(const char *args, size_t len, const char *name, char *text, size_t size)
{
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_reader *reader = json->reader_new(args, len);
    struct laz_json_token token;
    const char *raw;
    size_t n;

    *text = '\0';
    json->next(reader, &token);
    while (json->next(reader, &token) == LAZ_JSON_KEY) {
        const bool is_it = strcmp(token.text, name) == 0;
        if (json->skip(reader, &raw, &n) && is_it)
            snprintf(text, size, "%.*s", (int)n, raw);
    }
    json->reader_free(reader);
}

static long number(const char *args, size_t len, const char *name, long otherwise)
{
    char text[64];

    argument(args, len, name, text, sizeof text);
    return *text ? strtol(*text == '"' ? text + 1 : text, NULL, 10) : otherwise;
}

static void answer(struct laz_reply *reply, struct laz_buf *text)
{
    laz_reply_value(reply, laz_buf_text(text), text->len);
    laz_buf_fini(text);
}

static void tool_list_users(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const size_t first = (size_t)number(args, len, "cursor", 0);
    const size_t limit = (size_t)number(args, len, "limit", 3);
    struct laz_buf text = LAZ_BUF_INIT;
    size_t i = first;

    (void)user;
    laz_buf_printf(&text, "{\"items\":[");
    for (; i < N_USERS && i < first + limit; i++)
        laz_buf_printf(&text, "%s%s", i == first ? "" : ",", users[i]);
    if (i < N_USERS)
        laz_buf_printf(&text, "],\"next_cursor\":\"%zu\"}", i);
    else
        laz_buf_printf(&text, "],\"next_cursor\":null}");
    answer(reply, &text);
}

static void tool_get_user(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const long id = number(args, len, "id", 0);
    char text[64];

    (void)user;
    snprintf(text, sizeof text, "no user with id %ld", id);
    if (id >= 1 && id <= (long)N_USERS)
        laz_reply_value(reply, users[id - 1], strlen(users[id - 1]));
    else
        laz_reply_error(reply, text);
}

static void tool_orders(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const long id = number(args, len, "user_id", 0);
    struct laz_buf text = LAZ_BUF_INIT;

    (void)user;
    laz_buf_printf(&text, "[%s]", id >= 1 && id <= (long)N_USERS ? orders[id - 1] : "");
    answer(reply, &text);
}

static void tool_weather(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    char city[100], text[120];

    (void)user;
    argument(args, len, "city", city, sizeof city);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(text, sizeof text, "\"%s\"", places[i][0]);
        if (strcmp(city, text) == 0) {
            laz_reply_value(reply, places[i][1], strlen(places[i][1]));
            return;
        }
    }
    snprintf(text, sizeof text, "unknown city: %s", city);
    laz_reply_error(reply, text);
}

static void tool_search(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const long page = number(args, len, "page", 1);
    const long pages = (DOCUMENTS + DOCUMENTS_PAGE - 1) / DOCUMENTS_PAGE;
    long first = (page - 1) * DOCUMENTS_PAGE + 1;
    struct laz_buf text = LAZ_BUF_INIT;
    char query[100];

    (void)user;
    argument(args, len, "query", query, sizeof query);
    laz_buf_printf(&text, "{\"query\":%s,\"page\":%ld,\"pages\":%ld,\"results\":[", query, page,
                   pages);
    for (long i = first; page >= 1 && i <= DOCUMENTS && i < first + DOCUMENTS_PAGE; i++)
        laz_buf_printf(&text, "%s{\"id\":%ld,\"title\":\"Document %ld\",\"score\":%ld}",
                       i == first ? "" : ",", i, i, i * 37 % 11);
    laz_buf_printf(&text, "]}");
    answer(reply, &text);
}

static void tool_echo(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user;
    /* {"value":VALUE} */
    laz_reply_value(reply, args + 9, len - 10);
}

/* What the tools below keep of one program; on the thread of the engine. */
static struct state {
    struct {
        char key[64];
        long calls;
    } flaky[8];
    struct {
        char job[64];
        struct laz_reply *reply;
        bool is_released;
    } slow[8];
} state;

static void tool_flaky(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const long failures = number(args, len, "failures", 1);
    char key[64], text[120];
    size_t i = 0;

    (void)user;
    argument(args, len, "key", key, sizeof key);
    while (i < 7 && *state.flaky[i].key && strcmp(state.flaky[i].key, key) != 0)
        i++;
    memcpy(state.flaky[i].key, key, sizeof key);
    const long calls = ++state.flaky[i].calls;
    snprintf(text, sizeof text, "503 service unavailable (call %ld)", calls);
    if (calls <= failures) {
        laz_reply_error(reply, text);
        return;
    }
    const int n = snprintf(text, sizeof text, "{\"key\":%s,\"calls\":%ld}", key, calls);
    laz_reply_value(reply, text, (size_t)n);
}

static size_t job_of(const char *args, size_t len)
{
    char job[64];
    size_t i = 0;

    argument(args, len, "job", job, sizeof job);
    while (i < 7 && *state.slow[i].job && strcmp(state.slow[i].job, job) != 0)
        i++;
    memcpy(state.slow[i].job, job, sizeof job);
    return i;
}

static void slow_answer(size_t i)
{
    struct laz_reply *reply = state.slow[i].reply;

    laz_reply_value(reply, state.slow[i].job, strlen(state.slow[i].job));
    laz_reply_free(reply);
    state.slow[i].reply = NULL;
}

/* Answers when its job is released. */
static void tool_slow(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const size_t i = job_of(args, len);

    (void)user;
    state.slow[i].reply = laz_reply_keep(reply) ? NULL : reply;
    if (state.slow[i].reply && state.slow[i].is_released)
        slow_answer(i);
}

static void tool_release(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const size_t i = job_of(args, len);

    (void)user;
    state.slow[i].is_released = true;
    if (state.slow[i].reply)
        slow_answer(i);
    laz_reply_value(reply, "true", 4);
}

static const struct {
    struct laz_tool tool;
    void (*call)(void *user, const char *args, size_t len, struct laz_reply *reply);
} tools[] = {
    {{.name = "list_users",
      .description = "A page of users",
      .parameters = "[{\"name\":\"cursor\",\"type\":\"string\",\"required\":false},"
                    "{\"name\":\"limit\",\"type\":\"integer\",\"required\":false}]"},
     tool_list_users},
    {{.name = "get_user",
      .description = "One user",
      .parameters = "[{\"name\":\"id\",\"type\":\"integer\"}]"},
     tool_get_user},
    {{.name = "orders",
      .description = "Orders of a user",
      .parameters = "[{\"name\":\"user_id\",\"type\":\"integer\"}]"},
     tool_orders},
    {{.name = "weather",
      .description = "The weather of a city",
      .parameters = "[{\"name\":\"city\",\"type\":\"string\"}]"},
     tool_weather},
    {{.name = "search",
      .description = "A page of documents",
      .parameters = "[{\"name\":\"query\",\"type\":\"string\"},"
                    "{\"name\":\"page\",\"type\":\"integer\",\"required\":false}]"},
     tool_search},
    {{.name = "echo", .description = "Its argument", .parameters = "[{\"name\":\"value\"}]"},
     tool_echo},
    {{.name = "flaky",
      .description = "Fails so many times",
      .parameters = "[{\"name\":\"key\",\"type\":\"string\"},"
                    "{\"name\":\"failures\",\"type\":\"integer\",\"required\":false}]",
      .nonblocking = 1},
     tool_flaky},
    {{.name = "slow",
      .description = "Waits until its job is released",
      .parameters = "[{\"name\":\"job\",\"type\":\"string\"}]",
      .nonblocking = 1},
     tool_slow},
    {{.name = "release",
      .description = "Lets a job go on",
      .parameters = "[{\"name\":\"job\",\"type\":\"string\"}]",
      .nonblocking = 1},
     tool_release},
};

/* ---- programs ------------------------------------------------------------------------------- */

static bool read_file(const char *name, const char *suffix, struct laz_buf *text)
{
    char path[600], part[4096];
    size_t n;

    snprintf(path, sizeof path, "%s/%s%s", CODEMODE_DIRECTORY, name, suffix);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        laz_buf_append(text, part, n);
    fclose(file);
    return true;
}

/* Appends what it has printed and how it has ended. False: this build takes no types off. */
static bool tell(struct laz_result *result, struct laz_buf *told)
{
    const char *error = laz_result_error(result);
    size_t len;
    int stream;

    if (error && strstr(error, "TypeScript cannot be run"))
        return false;
    for (size_t i = 0; i < laz_result_outputs(result); i++) {
        const char *piece = laz_result_output(result, i, &stream, &len);
        laz_buf_append(told, piece, len);
    }
    laz_buf_printf(told, "=> ");
    if (laz_result_verdict(result) == LAZ_VERDICT_OK)
        laz_buf_printf(told, "%s\n", laz_result_value(result));
    else
        laz_buf_printf(told, "%s in line %lld: %s\n", laz_verdict_name(laz_result_verdict(result)),
                       (long long)laz_result_error_line(result), error ? error : "");
    return true;
}

static void run_program(struct laz_engine *engine, const char *name, const char *suffix)
{
    struct laz_buf code = LAZ_BUF_INIT, expected = LAZ_BUF_INIT, told = LAZ_BUF_INIT;
    struct laz_session *session = test_session(engine, "javascript");
    bool has_run = session != NULL;

    memset(&state, 0, sizeof state);
    CU_ASSERT_TRUE(read_file(name, suffix, &code));
    CU_ASSERT_TRUE(read_file(name, ".out", &expected));
    for (char *at = code.data, *next; at && has_run; at = next) {
        next = strstr(at, NEXT);
        const size_t len = next ? (size_t)(next - at) : strlen(at);
        struct laz_result *result = NULL;
        struct laz_error err = {0};
        if (next)
            next += strlen(NEXT);
        CU_ASSERT_EQUAL(laz_session_execute(session, at, len, NULL, &result, &err), 0);
        has_run = result && tell(result, &told);
        if (result && !has_run)
            unit_skip("typescript", "this build has no sucrase");
        laz_result_free(result);
    }
    if (has_run && strcmp(laz_buf_text(&told), laz_buf_text(&expected)) != 0)
        printf("\n---- %s\n%s", name, laz_buf_text(&told));
    CU_ASSERT(!has_run || strcmp(laz_buf_text(&told), laz_buf_text(&expected)) == 0);
    laz_session_free(session);
    laz_buf_fini(&code);
    laz_buf_fini(&expected);
    laz_buf_fini(&told);
}

static struct laz_engine *codemode_engine(void)
{
    struct laz_settings *settings = test_settings("pool.warm=cold");
    struct laz_engine_options options = {
        .size = sizeof options, .log = test_log, .log_level = LAZ_LOG_ERROR};
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    int rc = laz_engine_new(settings, &options, &engine, &err);
    for (size_t i = 0; i < sizeof tools / sizeof *tools && !rc; i++) {
        struct laz_tool tool = tools[i].tool;
        tool.size = sizeof tool;
        rc = laz_engine_add_tool(engine, &tool, tools[i].call, NULL, &err);
    }
    if (rc)
        printf("\n    no engine: %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    laz_settings_free(settings);
    return engine;
}

/* CODEMODE=NAME in the environment: that one alone. */
static void programs_of_models_do_what_they_do_in_node(void)
{
    const char *only = getenv("CODEMODE");
    struct laz_engine *engine = codemode_engine();
    struct dirent **entries = NULL;
    int ran = 0;

    const int n = scandir(CODEMODE_DIRECTORY, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char *suffix = strrchr(entries[i]->d_name, '.');
        const bool is_program =
            suffix && (strcmp(suffix, ".js") == 0 || strcmp(suffix, ".ts") == 0);
        char name[300];
        if (is_program) {
            snprintf(name, sizeof name, "%.*s", (int)(suffix - entries[i]->d_name),
                     entries[i]->d_name);
            if (!only || strcmp(only, name) == 0)
                run_program(engine, name, suffix);
            ran++;
        }
        free(entries[i]);
    }
    free(entries);
    CU_ASSERT(ran >= 50);
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(programs_of_models_do_what_they_do_in_node),
    {0},
};

int main(void)
{
    return unit_run("codemode", tests);
}
