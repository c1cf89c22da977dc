/* SPDX-License-Identifier: MIT */
/* test_memory.c - the n-th allocation fails, for n = 1, 2, ... up to the last one: the outcome is
 * an error or success, never a crash, a leak, a leftover process or a weaker box.
 *
 * Each part runs once without a fault to count its allocations; then once for each of a random
 * sample of them, or, with LAZARET_TEST_FULL, for all. TEST_FAULTS=N is the N-th alone. Allocations
 * fail once, or from the n-th on; parsers are tested with both. */
#include "live.h"
#include "sight.h"

#include "base/buf.h"
#include "base/json.h"
#include "advice/patterns.h"
#include "advice/sanitize.h"
#include "languages.h"
#include "os/users.h"
#include "tool/tool.h"
#include "fault.h"
#include "settings/settings.h"
#include "wire/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_SECONDS 300 /* for one run of a part; then SIGALRM ends the test */

static unsigned long memory_n; /* of the current fault */
static bool memory_fails;      /* is a fault active? */

static void memory_name(void)
{
    printf("request %lu", memory_n);
}

static void memory_end(void)
{
    fault_end();
}

static void memory_at(void (*part)(void *), void *user, unsigned long n, bool on)
{
    alarm(MEMORY_SECONDS);
    memory_n = n;
    memory_fails = true;
    fault_begin(n, on);
    part(user);
    fault_end();
    memory_fails = false;
    memory_n = 0;
    alarm(0);
}

/* Runs a part once for each n, or for one in `stride`, so that it runs about `most` times. */
static void memory_each(const char *name, void (*part)(void *), void *user, bool on,
                        unsigned long most)
{
    const char *only = getenv("TEST_FAULTS");
    unsigned long stride = 1, total, runs = 0;

    part(user); /* lets libraries make what they keep */
    fault_begin(0, false);
    part(user);
    total = fault_end();
    CU_ASSERT(total > 0);
    most = sight_sample(most);
    if (!sight_is_full() && total > most)
        stride = total / most + 1;
    printf("\n    %s: %lu requests, one of %lu%s ", name, total, stride,
           on ? ", and all after it" : "");
    for (unsigned long first = 1; first <= total && !only; first += stride, runs++)
        memory_at(part, user, first + sight_pick(stride), on);
    if (only)
        memory_at(part, user, strtoul(only, NULL, 10), on);
    CU_ASSERT(runs > 0 || only);
}

static void memory_both(const char *name, void (*part)(void *))
{
    memory_each(name, part, NULL, false, 400);
    memory_each(name, part, NULL, true, 400);
}

static char *config; /* config/lazaret.toml */

/* ---- parsers -------------------------------------------------------------------------------- */

static void part_settings(void *user)
{
    struct laz_settings *settings = NULL, *copy = NULL;
    struct laz_error err = {0};

    (void)user;
    int rc = laz_settings_new(&settings, &err);
    if (!rc)
        rc = laz_settings_load(settings, config, &err);
    if (!rc)
        rc = laz_settings_set(settings, "sandbox.read", "[\"/usr\", \"/opt\"]", &err);
    if (!rc)
        rc = laz_settings_copy(settings, &copy, &err);
    if (!rc) /* success means that nothing was lost */
        CU_ASSERT(laz_settings_values(copy)->sandbox.strict &&
                  laz_settings_values(copy)->limits.memory_bytes != LAZ_UNLIMITED);
    CU_ASSERT(rc == 0 || (rc < 0 && *err.text));
    laz_settings_free(copy);
    laz_settings_free(settings);
}

static void settings_without_memory_are_an_error(void)
{
    memory_both("settings", part_settings);
}

static void part_messages(void *user)
{
    static const char *const lines[] = {
        "{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"lua\",\"version\":\"5\"}",
        "{\"type\":\"tool_call\",\"id\":1,\"tool\":\"add\",\"args\":{\"a\":[1,2,{\"b\":\"x\"}]}}",
        "{\"type\":\"result\",\"id\":1,\"value\":{\"a\":1},\"text\":\"a text\",\"visible\":true}",
        "{\"type\":\"error\",\"id\":1,\"kind\":\"runtime\",\"message\":\"m\",\"line\":3,"
        "\"traceback\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\"]}",
    };

    (void)user;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct laz_message message;
        struct laz_error err = {0};
        int rc = laz_message_parse(lines[i], strlen(lines[i]),
                                   i ? LAZ_WIRE_RUNNING : LAZ_WIRE_STARTING, &message, &err);
        CU_ASSERT(rc == 0 || (rc == LAZ_ENOMEM && err.code == rc && *err.text));
        if (!rc && i == 3)
            CU_ASSERT(message.kind && message.message && message.traceback.n == 9);
        if (!rc && i == 1)
            CU_ASSERT(message.tool && message.args);
        laz_message_fini(&message);
    }
}

static void messages_without_memory_are_refused(void)
{
    memory_both("messages", part_messages);
}

static void part_tools(void *user)
{
    static const char args[] = "{\"s\":\"x\",\"n\":{\"$num\":\"NaN\"},\"l\":[1,{\"a\":2}]}";
    static const struct laz_tool tool = {
        .size = sizeof(struct laz_tool),
        .name = "every",
        .description = "Takes everything",
        .parameters = "[{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"n\",\"type\":\"number\"},"
                      "{\"name\":\"l\",\"type\":\"list\"},{\"name\":\"e\",\"enum\":[1,\"two\"],"
                      "\"default\":\"two\"}]"};
    struct laz_tool_set set = {0};
    struct laz_buf out = LAZ_BUF_INIT, json = LAZ_BUF_INIT;
    struct laz_error err = {0};

    (void)user;
    int rc = laz_tool_set_add(&set, &tool, NULL, NULL, 0, &err);
    if (!rc)
        rc = laz_tool_check_arguments(&set.entries[0], args, sizeof args - 1, &out, &err);
    CU_ASSERT(rc == 0 || (rc < 0 && *err.text));
    if (!rc && !out.failed)
        CU_ASSERT(strstr(laz_buf_text(&out), "\"e\":\"two\"") != NULL);
    laz_tool_set_json(&set, NULL, NULL, &json);
    laz_buf_fini(&json);
    laz_buf_fini(&out);
    laz_tool_set_fini(&set);
}

static void tools_without_memory_are_an_error(void)
{
    memory_both("tools", part_tools);
}

static void part_texts(void *user)
{
    static const char json[] = "{\"a\":[1,2,3,{\"b\":null}],\"c\":\"text\",\"d\":1e5}";
    static const char code[] = "import os\nos.system('x')\nos.chroot('1')\nos.popen('2')\n";
    struct laz_strv warnings = LAZ_STRV_INIT;
    struct laz_buf clean = LAZ_BUF_INIT;
    struct laz_error err = {0};
    struct laz_json *tree = laz_json_parse(json, sizeof json - 1, &err);

    (void)user;
    CU_ASSERT(tree || (err.code == LAZ_ENOMEM && *err.text));
    laz_json_free(tree);
    laz_patterns_find(languages_get("python"), UINT32_MAX, code, sizeof code - 1, &warnings);
    laz_strv_fini(&warnings);
    laz_sanitize("cannot open /home/user/x at 192.168.1.1", 500, &clean);
    CU_ASSERT(clean.failed || !strstr(laz_buf_text(&clean), "192.168"));
    laz_buf_fini(&clean);
}

static void texts_without_memory_are_an_error(void)
{
    CU_ASSERT_PTR_NOT_NULL(languages_get("python")); /* read before memory is missing */
    memory_both("texts", part_texts);
}

/* ---- engines and sessions ------------------------------------------------------------------- */

static void sessions_without_memory_are_an_error(void)
{
    struct sight box = {
        .settings = "", .end = memory_end, .name = memory_name, .fails = &memory_fails};

    if (!sight_begin(&box))
        return;
    memory_each("sessions", sight_session, &box, false, 50);
    memory_each("sessions", sight_session, &box, true, 15);
    printf("(%u good, %u errors) ", box.good, box.bad);
    CU_ASSERT(box.good > 0 && box.bad > 0);
    sight_end(&box);
}

/* The agent is the real one, linked with fault.c. It does the same as any user: an ordinary one
 * tries a third as many. */
static void agents_without_memory_fail_or_are_whole(void)
{
    struct sight box = {.settings = "",
                        .brief = true,
                        .end = memory_end,
                        .name = memory_name,
                        .fails = &memory_fails};
    char path[4096], setting[64];
    const unsigned long most = sight_sample(laz_os_is_root() ? 3 : 1);
    const unsigned long stride = sight_is_full() ? 1 : 12 / most;
    unsigned long first = 1, quiet = 0;

    if (!sight_begin(&box))
        return;
    sight_session(&box);
    CU_ASSERT_FATAL(realpath("tests/mock/agent-faults", path) && !setenv("LAZARET_AGENT", path, 1));
    memory_fails = true;
    for (; quiet < 60 && first < 3000; first += stride) { /* past the last allocation: success */
        unsigned good = box.good;
        memory_n = first + sight_pick(stride);
        snprintf(setting, sizeof setting, "{MOCK_FAULT='%lu'}", memory_n);
        box.settings = setting;
        alarm(MEMORY_SECONDS);
        sight_session(&box);
        quiet = box.good > good ? quiet + stride : 0;
    }
    memory_fails = false;
    memory_n = 0;
    alarm(0);
    printf("%lu requests, one of %lu (%u good, %u errors) ", first, stride, box.good, box.bad);
    CU_ASSERT(box.good > 0 && box.bad > 5);
    sight_end(&box);
}

static const struct unit_test tests[] = {
    UNIT(settings_without_memory_are_an_error),
    UNIT(messages_without_memory_are_refused),
    UNIT(tools_without_memory_are_an_error),
    UNIT(texts_without_memory_are_an_error),
    UNIT(sessions_without_memory_are_an_error),
    UNIT(agents_without_memory_fail_or_are_whole),
    {0},
};

int main(void)
{
    config = unit_source("config/lazaret.toml");
    int status = unit_run("memory", tests);
    free(config);
    return status;
}
