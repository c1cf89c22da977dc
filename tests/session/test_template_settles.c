/* SPDX-License-Identifier: MIT */
/* test_template_settles.c - templates of JavaScript, whose threads end ten seconds after they have
 * loaded: what comes meanwhile, what follows them, and that their copies do not hang.
 *
 * All templates are started by the first test, and settle while the others run. */
#include "live.h"

#include "base/buf.h"
#include "box/templates.h"
#include "engine/engine.h"
#include "session/session.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WARM       "network namespace of the template"
#define COLD_SAID  "the template of javascript is not ready yet, so a session is started cold"
#define COPIES     2000
#define COPIES_ALL 20000 /* with LAZARET_TEST_FULL */
#define AT_ONCE    4
#define RENEWED    16 /* sessions of a template */

static const struct laz_session_options warm = {
    .size = sizeof warm, .runtime = "javascript", .warm = 1};

/* ---- engines -------------------------------------------------------------------------------- */

/* One whose sessions do not wait, one whose sessions do, and one whose templates are renewed. */
static struct laz_engine *many, *patient, *renewed;
static struct laz_buf told = LAZ_BUF_INIT;

static struct laz_engine *engine_of(const char *text)
{
    struct laz_settings *settings = test_settings(text);
    const struct laz_engine_options options = {
        .size = sizeof options, .log = test_log, .log_level = LAZ_LOG_INFO};
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    if (settings && laz_engine_new(settings, &options, &engine, &err))
        printf("\n    no engine: %s", err.text);
    CU_ASSERT_PTR_NOT_NULL(engine);
    laz_settings_free(settings);
    return engine;
}

static struct template_kind *kind_of(struct laz_engine *engine)
{
    return engine->boxes.templates ? engine->boxes.templates->kinds : NULL;
}

static bool is_settled(struct laz_engine *engine)
{
    const struct template_kind *kind = kind_of(engine);

    return kind && kind->current && laz_template_is_ready(kind->current);
}

static void settle(struct laz_engine *engine)
{
    struct laz_error err = {0};

    while (!is_settled(engine) && kind_of(engine) && kind_of(engine)->current)
        if (laz_engine_step(engine, -1, &err))
            break;
    CU_ASSERT_TRUE(is_settled(engine));
}

/* ---- sessions ------------------------------------------------------------------------------- */

struct count {
    unsigned open, ok, warm, wrong;
    const char *value;
};

static void count_it(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct count *count = user;
    const bool is_ok = result && laz_result_verdict(result) == LAZ_VERDICT_OK &&
                       strcmp(laz_result_value(result), count->value) == 0;

    count->open--;
    count->ok += is_ok;
    count->warm += result && strstr(laz_result_json(result), WARM);
    if (!is_ok && count->wrong++ < 3)
        printf("\n    %.500s", result ? laz_result_json(result) : err->text);
    laz_result_free(result);
}

/* Executes `code` in a new session of its own. */
static void execute(struct laz_engine *engine, const char *code, struct count *count)
{
    struct laz_error err = {0};

    const int rc = laz_execute_async(engine, &warm, code, SIZE_MAX, NULL, count_it, count, &err);
    if (rc)
        printf("\n    not executed: %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    count->open += !rc;
}

static void drive(struct laz_engine *engine, struct count *count, unsigned most)
{
    while (count->open > most)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
}

static bool has_said(const char *text)
{
    return strstr(laz_buf_text(&told), text) != NULL;
}

/* ---- before it is ready --------------------------------------------------------------------- */

static void a_session_that_is_asked_for_at_once_is_cold(void)
{
    struct count count = {.value = "2"};
    struct laz_session *session;
    struct laz_error err = {0};

    many = engine_of("pool.warm=auto");
    const int rc = laz_session_open(many, &warm, &session, &err);
    if (rc == LAZ_ENOENT) {
        unit_skip("javascript", err.text);
        laz_engine_free(many);
        many = NULL;
        return;
    }
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    CU_ASSERT_PTR_NULL(strstr(laz_session_isolation(session), WARM));
    CU_ASSERT_TRUE(has_said(COLD_SAID));
    laz_session_free(session);
    renewed = engine_of("pool.warm=auto;pool.renew_after=16");
    execute(renewed, "1 + 1", &count);
    drive(renewed, &count, 0);
    CU_ASSERT_EQUAL(count.ok, 1);
    CU_ASSERT_EQUAL(count.warm, 0);
    patient = engine_of("pool.warm=template");
}

/* The most threads of a process in the pid namespace of this template; 0: none was found. */
static int threads_of(const struct laz_template *template)
{
    DIR *proc = opendir("/proc");
    char path[300], line[256];
    struct stat info;
    int most = 0, threads;

    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        snprintf(path, sizeof path, "/proc/%s/ns/pid", entry->d_name);
        if (stat(path, &info) || info.st_ino != template->pid_namespace)
            continue;
        snprintf(path, sizeof path, "/proc/%s/status", entry->d_name);
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "Threads: %d", &threads) == 1)
                most = threads > most ? threads : most;
        if (file)
            fclose(file);
    }
    if (proc)
        closedir(proc);
    return most;
}

static void one_that_must_come_from_a_template_waits_for_its_threads(void)
{
    struct count count = {.value = "2"};

    if (!patient)
        return;
    execute(patient, "1 + 1", &count);
    const struct laz_template *template = kind_of(patient)->current;
    bool had_more = false;
    while (template->state == TEMPLATE_STARTING) {
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(patient, 200, NULL), 0);
        had_more = had_more || (template->pid_namespace && threads_of(template) > 1);
    }
    CU_ASSERT_TRUE(had_more);
    CU_ASSERT_EQUAL(threads_of(template), 1);
    drive(patient, &count, 0);
    CU_ASSERT_EQUAL(count.ok, 1);
    CU_ASSERT_EQUAL(count.warm, 1);
    laz_engine_free(patient);
    patient = NULL;
}

/* ---- one that is renewed -------------------------------------------------------------------- */

static const struct laz_template *first;

static void is_from_the_first(unsigned n)
{
    struct count count = {.value = "2"};

    for (unsigned i = 0; i < n; i++) {
        execute(renewed, "1 + 1", &count);
        drive(renewed, &count, 0);
    }
    CU_ASSERT_EQUAL(count.ok, n);
    CU_ASSERT_EQUAL(count.warm, n);
    CU_ASSERT_PTR_EQUAL(kind_of(renewed)->current, first);
}

static void a_template_serves_until_its_successor_is_ready(void)
{
    struct template_kind *kind = renewed ? kind_of(renewed) : NULL;

    if (!kind)
        return;
    settle(renewed);
    first = kind->current;
    is_from_the_first(2 * RENEWED);
    CU_ASSERT_PTR_NOT_NULL(kind->successor);
    /* nor is it given up when its successor fails, after which none is started for a while */
    if (kind->successor)
        laz_template_lose(kind->successor, LAZ_ESETUP, "it is lost for a test");
    CU_ASSERT_TRUE(has_said("it is lost for a test; sessions still come from the present one"));
    is_from_the_first(1);
    while (!kind->successor)
        is_from_the_first(1);
}

static void its_successor_takes_over_when_it_is_ready(void)
{
    struct count count = {.value = "2"};
    struct template_kind *kind = renewed ? kind_of(renewed) : NULL;

    if (!kind)
        return;
    const struct laz_template *successor = kind->successor;
    while (kind->successor && !laz_template_is_ready(kind->successor))
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(renewed, -1, NULL), 0);
    execute(renewed, "1 + 1", &count);
    drive(renewed, &count, 0);
    CU_ASSERT_EQUAL(count.ok, 1);
    CU_ASSERT_EQUAL(count.warm, 1);
    CU_ASSERT(successor && kind->current == successor);
    laz_engine_free(renewed);
    renewed = NULL;
}

/* ---- copies --------------------------------------------------------------------------------- */

/* Some MB that become garbage, a sort, a regular expression, promises and a timer: what takes locks
 * of the allocator and starts the engine's threads again. */
static const char work[] =
    "const rows = Array.from({length: 500}, (_, i) => ({key: `k${i * 7919 % 503}`, n: i}))\n"
    "rows.sort((a, b) => a.key < b.key ? -1 : 1)\n"
    "const found = rows.map((r) => r.key).join(' ').match(/k\\d*7\\b/g).length\n"
    "let size = 0, sum = 0\n"
    "for (let i = 0; i < 4; i++)\n"
    "    size += new Uint8Array(1 << 19).fill(1).length + 'x'.repeat(1 << 14).split('').length\n"
    "for (let i = 0; i < 20; i++)\n"
    "    sum += await Promise.all([i, Promise.resolve(2)]).then(([a, b]) => a * b)\n"
    "await new Promise((done) => setTimeout(done, 0));\n"
    "[rows[1].key, found, size, sum].join()";
#define WORK_VALUE "\"k1,49,2162688,380\""

static void copies_do_not_hang(void)
{
    const unsigned n = getenv("LAZARET_TEST_FULL") ? COPIES_ALL : COPIES;
    struct count count = {.value = WORK_VALUE};

    if (!many)
        return;
    settle(many);
    for (unsigned i = 0; i < n && !count.wrong; i++) {
        execute(many, work, &count);
        drive(many, &count, AT_ONCE - 1);
    }
    drive(many, &count, 0);
    CU_ASSERT_EQUAL(count.ok, n);
    CU_ASSERT_EQUAL(count.warm, n);
    laz_engine_free(many);
    many = NULL;
}

static const struct unit_test tests[] = {
    UNIT(a_session_that_is_asked_for_at_once_is_cold),
    UNIT(one_that_must_come_from_a_template_waits_for_its_threads),
    UNIT(a_template_serves_until_its_successor_is_ready),
    UNIT(copies_do_not_hang),
    UNIT(its_successor_takes_over_when_it_is_ready),
    {0},
};

int main(void)
{
    test_told = &told;
    const int status = unit_run("template_settles", tests);
    laz_engine_free(many);
    laz_engine_free(patient);
    laz_engine_free(renewed);
    laz_buf_fini(&told);
    return status;
}
