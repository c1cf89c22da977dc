/* SPDX-License-Identifier: MIT */
/* tool_mcp.c (tests) - see tool_mcp.h. */
#include "tool_mcp.h"
#include "traces.h"

#include "engine/engine.h"
#include "os/directories.h"
#include "os/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char mcp_directory[] = "/tmp/lazaret-test-XXXXXX";
struct laz_buf mcp_told;
struct mcp_when mcp_when;

void mcp_tell(void *user, uint32_t level, const char *text)
{
    (void)user, (void)level;
    laz_buf_printf(&mcp_told, "%s\n", text);
    if (mcp_when.engine && strstr(text, mcp_when.text))
        test_advance_clock(mcp_when.engine, mcp_when.ms);
}

bool mcp_was_told(const char *part)
{
    const bool was = strstr(laz_buf_text(&mcp_told), part) != NULL;

    if (!was)
        printf("\n    not told: %s; but:\n%.3000s", part, laz_buf_text(&mcp_told));
    return was;
}

/* Is this key set in one of the lines? */
static bool mcp_has_key(const char *lines, const char *key)
{
    const size_t len = strlen(key);

    for (const char *line = lines; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0 && line[len] == ' ')
            return true;
    }
    return false;
}

char *mcp_patient(const char *more)
{
    static const char *const keys[] = {"start_timeout", "timeout", "max_timeout"};
    struct laz_buf text = LAZ_BUF_INIT;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!mcp_has_key(more, keys[i]))
            laz_buf_printf(&text, "%s = 6000\n", keys[i]);
    laz_buf_puts(&text, more); /* which may go on with other tables */
    return laz_buf_steal(&text);
}

/* A [[tools]] table; `more`: further keys. The caller frees the text. */
char *mcp_server(const char *name, const char *era, const char *fault, const char *more)
{
    char *script = unit_source("tests/mock/mcp_server.py");
    char *keys = mcp_patient(more);
    char *text = laz_strdupf("[[tools]]\nprovider = \"mcp\"\nname = \"%s\"\ncommand = [\"" PYTHON
                             "\", \"-IS\", \"%s\", \"%s\", \"%s\"]\n%s\n",
                             name, script, era, fault, keys);

    free(keys);
    free(script);
    return text;
}

/* An engine with these tables; takes them. */
struct laz_engine *mcp_engine_of(char *one, char *other)
{
    const struct laz_engine_options options = {
        .size = sizeof options, .log = mcp_tell, .log_level = LAZ_LOG_INFO};
    char *path = laz_strdupf("%s/mcp.toml", mcp_directory);
    char *text = laz_strdupf("[session]\ntimeout = 0\ndeadline = 0\nstart_timeout = 600\n%s%s", one,
                             other ? other : "");
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    laz_buf_clear(&mcp_told);
    unlink(path);
    CU_ASSERT_EQUAL(laz_os_write_file(path, text, strlen(text), 0600, NULL), 0);
    int rc = laz_settings_new(&settings, &err);
    if (!rc)
        rc = laz_settings_load(settings, path, &err);
    if (!rc)
        rc = laz_engine_new(settings, &options, &engine, &err);
    if (rc)
        printf("\n    %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    laz_settings_free(settings);
    free(path);
    free(text);
    free(one);
    free(other);
    return engine;
}

void mcp_clock_goes_on(struct laz_post *post)
{
    struct mcp_clock *clock = (struct mcp_clock *)(void *)post;

    if (clock->stops)
        return;
    test_advance_clock(clock->engine, 100);
    laz_loop_post(clock->engine->driver.loop, post);
}

/* Frees an engine whose servers need to be killed, without waiting for the real time. */
void mcp_engine_free_in_time(struct laz_engine *engine)
{
    struct mcp_clock clock = {.post.run = mcp_clock_goes_on, .engine = engine};

    while (engine->boxes.leaving) /* nobody shall lose patience with them */
        laz_engine_step(engine, 1000, NULL);
    test_hold_clock(engine);
    laz_loop_post(engine->driver.loop, &clock.post);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
}

int mcp_run(const char *suite, const struct unit_test *tests)
{
    if (access(PYTHON, X_OK) != 0)
        return unit_skip("python3", PYTHON " is not installed") ? 77 : 1;
    if (!mkdtemp(mcp_directory))
        return 1;
    int status = unit_run(suite, tests);
    laz_buf_fini(&mcp_told);
    laz_os_remove_tree(mcp_directory);
    return status;
}
