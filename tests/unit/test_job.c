/* SPDX-License-Identifier: MIT */
/* test_job.c - limits of a box as a whole on Windows: in a plan, as values of a job object, and
 * what happens when the system does not enforce them. */
#include "unit.h"

#include "base/json.h"
#include "box/box_private.h"
#include "plan/plan.h"
#include "os/job_values.h"
#include "os/process.h"
#include "os/spawner.h"
#include "os/system.h"

#include <string.h>

#define MEMORY  (1u << LAZ_JOB_MEMORY)
#define PROCESS (1u << LAZ_JOB_PROCESS_MEMORY)
#define CPU     (1u << LAZ_JOB_CPU)
#define NPROC   (1u << LAZ_JOB_NPROC)
#define ALWAYS  (LAZ_JOB_FLAG_KILL_ON_CLOSE | LAZ_JOB_FLAG_DIE_ON_EXCEPTION)

/* ---- numbers -------------------------------------------------------------------------------- */

static struct laz_job_values values_of(uint64_t memory, uint64_t process, uint64_t cpu,
                                       uint64_t nproc)
{
    const struct laz_job_limits limits = {{
        [LAZ_JOB_MEMORY] = memory,
        [LAZ_JOB_PROCESS_MEMORY] = process,
        [LAZ_JOB_CPU] = cpu,
        [LAZ_JOB_NPROC] = nproc,
    }};
    struct laz_job_values values;

    laz_job_values_make(&limits, &values);
    return values;
}

#define NONE LAZ_UNLIMITED

static void limits_become_the_fields_of_windows(void)
{
    static const struct {
        uint64_t memory, process, cpu, nproc;
        struct laz_job_values values; /* except ui */
    } rows[] = {
        {NONE, NONE, NONE, NONE, {.flags = 0x2400}},
        {512u << 20, NONE, NONE, NONE, {.flags = 0x2600, .of[LAZ_JOB_MEMORY] = 536870912}},
        {NONE, 64u << 20, NONE, NONE, {.flags = 0x2500, .of[LAZ_JOB_PROCESS_MEMORY] = 67108864}},
        {NONE, NONE, 60, NONE, {.flags = 0x2404, .of[LAZ_JOB_CPU] = 600000000}},
        {NONE, NONE, NONE, 50, {.flags = 0x2408, .of[LAZ_JOB_NPROC] = 50}},
        {4096, 8192, 1, 1, {0x270c, {4096, 8192, 10000000, 1}, 0}},
        /* rounded down to pages, at least one */
        {4097, 8191, NONE, NONE, {0x2700, {4096, 4096, 0, 0}, 0}},
        {1, 0, NONE, NONE, {0x2700, {4096, 4096, 0, 0}, 0}},
        /* the largest value of the field, never a smaller one and never no limit */
        {NONE, NONE, 922337203685, NONE, {.flags = 0x2404, .of[LAZ_JOB_CPU] = 9223372036850000000}},
        {NONE, NONE, 922337203686, NONE, {.flags = 0x2404, .of[LAZ_JOB_CPU] = INT64_MAX}},
        {NONE, NONE, UINT64_MAX - 1, NONE, {.flags = 0x2404, .of[LAZ_JOB_CPU] = INT64_MAX}},
        {NONE, NONE, NONE, UINT32_MAX, {.flags = 0x2408, .of[LAZ_JOB_NPROC] = UINT32_MAX}},
        {NONE, NONE, NONE, (uint64_t)1 << 32, {.flags = 0x2408, .of[LAZ_JOB_NPROC] = UINT32_MAX}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_job_values *expected = &rows[i].values;
        struct laz_job_values values =
            values_of(rows[i].memory, rows[i].process, rows[i].cpu, rows[i].nproc);
        CU_ASSERT_EQUAL(values.flags, expected->flags);
        for (size_t k = 0; k < LAZ_JOB_LIMITS; k++)
            CU_ASSERT_EQUAL(values.of[k], expected->of[k]);
        CU_ASSERT_EQUAL(values.ui, 0xff);
    }
}

/* Tests every combination of limits. */
static void a_job_ends_with_its_handle_and_nothing_leaves_it(void)
{
    for (unsigned set = 0; set < 1u << LAZ_JOB_LIMITS; set++) {
        struct laz_job_limits limits = laz_job_limits_none();
        struct laz_job_values values;
        for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
            if (set & 1u << i)
                limits.of[i] = i * 100000 + 7;
        laz_job_values_make(&limits, &values);
        CU_ASSERT_EQUAL(values.flags & ALWAYS, ALWAYS);
        CU_ASSERT_EQUAL(values.flags & (LAZ_JOB_FLAG_BREAKAWAY | LAZ_JOB_FLAG_SILENT_BREAKAWAY), 0);
        CU_ASSERT_EQUAL(!(values.flags & LAZ_JOB_FLAG_MEMORY), !(set & MEMORY));
        CU_ASSERT_EQUAL(!(values.flags & LAZ_JOB_FLAG_PROCESS_MEMORY), !(set & PROCESS));
        CU_ASSERT_EQUAL(!(values.flags & LAZ_JOB_FLAG_TIME), !(set & CPU));
        CU_ASSERT_EQUAL(!(values.flags & LAZ_JOB_FLAG_ACTIVE_PROCESS), !(set & NPROC));
        /* if the values read back are the same, nothing is missing; on a system that ignores all,
         * everything is */
        CU_ASSERT_EQUAL(laz_job_values_missing(&values, &values), 0);
        CU_ASSERT_EQUAL(laz_job_values_missing(&values, &(struct laz_job_values){0}), set);
    }
}

static void what_reads_back_otherwise_is_missing(void)
{
    static const struct {
        struct laz_job_values found;
        uint32_t missing;
    } rows[] = {
        {{0x270c, {4096, 8192, 600000000, 50}, 0}, 0}, /* no bit depends on ui */
        {{0x27ff, {4096, 8192, 600000000, 50}, 0}, 0},
        {{0x250c, {4096, 8192, 600000000, 50}, 0}, MEMORY}, /* its flag */
        {{0x270c, {8192, 8192, 600000000, 50}, 0}, MEMORY}, /* its value, larger or smaller */
        {{0x270c, {0, 8192, 600000000, 50}, 0}, MEMORY},
        {{0x260c, {4096, 8192, 600000000, 50}, 0}, PROCESS},
        {{0x270c, {4096, 4096, 600000000, 50}, 0}, PROCESS},
        {{0x2708, {4096, 8192, 600000000, 50}, 0}, CPU},
        {{0x270c, {4096, 8192, 600000001, 50}, 0}, CPU},
        {{0x2704, {4096, 8192, 600000000, 50}, 0}, NPROC},
        {{0x270c, {4096, 8192, 600000000, 51}, 0}, NPROC},
        {{0x2400, {4096, 8192, 600000000, 50}, 0}, MEMORY | PROCESS | CPU | NPROC},
    };
    const struct laz_job_values asked = values_of(4096, 8192, 60, 50);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(laz_job_values_missing(&asked, &rows[i].found), rows[i].missing);
    /* values that were not set may be anything */
    const struct laz_job_values only_cpu = values_of(NONE, NONE, 60, NONE);
    CU_ASSERT_EQUAL(laz_job_values_missing(&only_cpu, &rows[2].found), 0);
    CU_ASSERT_EQUAL(laz_job_values_missing(&only_cpu, &rows[7].found), CPU);
}

static void limits_of_jobs_have_names(void)
{
    static const char *const names[] = {"memory", "process_memory", "cpu", "nproc"};

    CU_ASSERT_EQUAL_FATAL(sizeof names / sizeof *names, LAZ_JOB_LIMITS);
    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++) {
        UNIT_TEXT(laz_job_limit_name((enum laz_job_limit)i), names[i]);
        CU_ASSERT_EQUAL(laz_job_limit_find(names[i]), i);
    }
    CU_ASSERT_EQUAL(laz_job_limit_find("fsize"), LAZ_JOB_LIMITS);
    CU_ASSERT_EQUAL(laz_job_limit_find(""), LAZ_JOB_LIMITS);
}

/* A requested limit must not be missing silently. */
static void a_system_without_jobs_starts_nothing_in_one(void)
{
    static const char *const argv[] = {"/bin/true", NULL}, *const env[] = {NULL};
    const struct laz_job_limits limits = laz_job_limits_none();
    uint32_t missing = 0;
    struct laz_spawn spawn = {.argv = argv,
                              .env = env,
                              .uid = LAZ_SPAWN_SAME_ID,
                              .gid = LAZ_SPAWN_SAME_ID,
                              .job = &limits,
                              .job_missing = &missing};
    struct laz_spawner *spawner = NULL;
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_error err = {0};

    if (strcmp(laz_os_platform(), "windows") == 0)
        return;
    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&spawner, &err), 0);
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no job objects"));
    spawn.job = NULL;
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), 0);
    CU_ASSERT(laz_process_wait(&process, UNIT_HANG_MS, &(struct laz_exit){0}));
    laz_process_close(&process);
    laz_spawner_free(spawner);
}

/* ---- in a plan ------------------------------------------------------------------------------ */

static int job_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                    struct laz_plan *plan, struct laz_error *err)
{
    (void)err;
    api->arg(plan, "C:\\agent.exe");
    api->ends_by(plan, LAZ_END_JOB);
    api->job_limit(plan, "cpu", policy->limits.cpu_s, LAZ_ENFORCE_CPU);
    api->job_limit(plan, "memory", policy->limits.memory_bytes, LAZ_ENFORCE_MEMORY);
    api->job_limit(plan, "process_memory", 4096, 0);
    api->enforces(plan, LAZ_ENFORCE_CPU, "job object, user time");
    api->enforces(plan, LAZ_ENFORCE_MEMORY, "job object");
    api->weakly(plan, LAZ_ENFORCE_MEMORY, "each process");
    api->not_limited(plan, "fsize", "there is no such limit");
    return 0;
}

static const struct laz_backend_ops job_ops = {
    .size = sizeof job_ops,
    .can_enforce = LAZ_ENFORCE_CPU | LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_NPROC,
    .platforms = "windows",
    .plan = job_plan,
    .remedy = "Move to an island",
};

static const struct laz_policy limited = {
    .size = sizeof limited,
    .limits = {60, 512u << 20, 1, 1, 16, LAZ_UNLIMITED},
};

static struct laz_plan *job_plan_of(uint32_t require)
{
    struct laz_plan *plan = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_plan_make(&job_ops, "mock", &limited, NULL, require, NULL, &plan, &err), 0);
    UNIT_TEXT(err.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    return plan;
}

static void plan_shows_limits_of_its_job_and_those_that_nothing_keeps(void)
{
    struct laz_plan *plan = job_plan_of(0);
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL(plan->job.of[LAZ_JOB_CPU], 60);
    CU_ASSERT_EQUAL(plan->job.of[LAZ_JOB_MEMORY], 512u << 20);
    CU_ASSERT_EQUAL(plan->job.of[LAZ_JOB_PROCESS_MEMORY], 4096);
    CU_ASSERT_EQUAL(plan->job.of[LAZ_JOB_NPROC], LAZ_UNLIMITED);
    laz_plan_json(plan, &text);
    CU_ASSERT_EQUAL(laz_json_scan(laz_buf_text(&text), text.len, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), ",\"job\":{\"memory\":536870912,"
                                                       "\"process_memory\":4096,\"cpu\":60},"
                                                       "\"not_limited\":{\"fsize\":\"there is no "
                                                       "such limit\"},"));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), "\"ends_by\":\"job\"}"));
    laz_buf_clear(&text);
    laz_plan_text(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text),
                                  "\nlimits that the host sets on the job, on all its processes\n"
                                  "  memory         536870912\n  process_memory 4096\n"
                                  "  cpu            60\n"
                                  "\nlimits of the settings that nothing enforces\n"
                                  "  fsize      there is no such limit\n"));
    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&text), "the agent sets on itself"));
    laz_buf_fini(&text);
    laz_plan_free(plan);
}

static void plan_says_no_more_than_the_job_keeps(void)
{
    static const struct {
        uint32_t require, missing;
        bool strict;
        uint32_t lost;
        int rc;
        const char *names, *says;
    } rows[] = {
        {LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_CPU, 0, true, 0, 0, "", ""},
        {0, MEMORY, false, LAZ_ENFORCE_MEMORY, 0, "memory", ""},
        {0, MEMORY, true, LAZ_ENFORCE_MEMORY, LAZ_ESETUP, "memory", "sandbox.strict to false"},
        {0, CPU | MEMORY, false, LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_CPU, 0, "memory, cpu", ""},
        {LAZ_ENFORCE_CPU, MEMORY, false, LAZ_ENFORCE_MEMORY, 0, "memory", ""},
        {LAZ_ENFORCE_CPU, CPU, false, LAZ_ENFORCE_CPU, LAZ_ESETUP, "cpu",
         "set: cpu, and sandbox.require asks for it"},
        {LAZ_ENFORCE_CPU, CPU, true, LAZ_ENFORCE_CPU, LAZ_ESETUP, "cpu",
         "remove them from sandbox.require"},
        /* a limit on which no bit depends */
        {LAZ_ENFORCE_MEMORY, PROCESS, false, 0, 0, "process_memory", ""},
        {LAZ_ENFORCE_MEMORY, PROCESS, true, 0, LAZ_ESETUP, "process_memory", "process_memory"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_plan *plan = job_plan_of(rows[i].require);
        struct laz_buf names = LAZ_BUF_INIT, isolation = LAZ_BUF_INIT;
        struct laz_error err = {0};
        uint32_t lost = 77;
        CU_ASSERT_EQUAL(
            laz_plan_job_lacks(plan, rows[i].missing, rows[i].strict, &lost, &names, &err),
            rows[i].rc);
        CU_ASSERT_EQUAL(lost, rows[i].lost);
        CU_ASSERT_EQUAL(plan->enforces, (LAZ_ENFORCE_CPU | LAZ_ENFORCE_MEMORY) & ~rows[i].lost);
        UNIT_TEXT(laz_buf_text(&names), rows[i].names);
        CU_ASSERT_EQUAL(err.text[0] != '\0', rows[i].rc != 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].says));
        laz_plan_isolation_json(plan, &isolation);
        CU_ASSERT_EQUAL(strstr(laz_buf_text(&isolation), "\"memory\":\"each process\"") != NULL,
                        (rows[i].lost & LAZ_ENFORCE_MEMORY) != 0);
        CU_ASSERT_EQUAL(strstr(laz_buf_text(&isolation), "user time") == NULL,
                        (rows[i].lost & LAZ_ENFORCE_CPU) != 0);
        laz_buf_fini(&isolation);
        laz_buf_fini(&names);
        laz_plan_free(plan);
    }
}

/* ---- what is told of a box ------------------------------------------------------------------ */

static void note_warning(void *user, uint32_t level, const char *text)
{
    CU_ASSERT_EQUAL(level, LAZ_LOG_WARNING);
    laz_buf_printf(user, "%s\n", text);
}

static void a_limit_that_nothing_keeps_is_told_once_by_an_engine(void)
{
    struct laz_buf told = LAZ_BUF_INIT;
    const struct laz_strv notes = LAZ_STRV_INIT;
    struct laz_driver driver = {.log = {note_warning, &told, LAZ_LOG_WARNING}};
    struct laz_box_shared shared = {.driver = &driver};
    struct laz_box box = {.shared = &shared, .plan = job_plan_of(0)};

    for (int sessions = 0; sessions < 3; sessions++)
        laz_box_tell_unmet(&box, &notes);
    UNIT_TEXT(laz_buf_text(&told), "limits.fsize: there is no such limit\n");
    laz_buf_fini(&told);
    laz_strv_fini(&shared.unmet);
    laz_box_tell_unmet(&box, &notes); /* another engine */
    UNIT_TEXT(laz_buf_text(&told), "limits.fsize: there is no such limit\n");
    laz_buf_fini(&told);
    laz_strv_fini(&shared.unmet);
    laz_plan_free(box.plan);
}

static void a_job_that_keeps_less_is_refused_unless_the_settings_allow_it(void)
{
    static const struct {
        bool strict;
        uint32_t require, missing;
        int rc;
        const char *told;
    } rows[] = {
        {true, 0, 0, 0, ""},
        {true, 0, MEMORY, LAZ_ESETUP, ""},
        {false, 0, MEMORY | CPU, 0,
         "this system does not keep limits of the job that were set: memory, cpu\n"},
        {false, LAZ_ENFORCE_CPU, MEMORY, 0,
         "this system does not keep limits of the job that were set: memory\n"},
        {false, LAZ_ENFORCE_CPU, CPU, LAZ_ESETUP, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_settings_values values = {.sandbox = {.strict = rows[i].strict}};
        struct laz_buf told = LAZ_BUF_INIT;
        struct laz_driver driver = {.log = {note_warning, &told, LAZ_LOG_WARNING}};
        struct laz_box_shared shared = {.driver = &driver, .values = &values};
        struct laz_box box = {.shared = &shared, .plan = job_plan_of(rows[i].require)};
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_box_lacks_limits(&box, rows[i].missing, &err), rows[i].rc);
        UNIT_TEXT(laz_buf_text(&told), rows[i].told);
        CU_ASSERT_EQUAL(err.code, rows[i].rc);
        laz_plan_free(box.plan);
        box.plan = job_plan_of(rows[i].require); /* another session: already reported */
        CU_ASSERT_EQUAL(laz_box_lacks_limits(&box, rows[i].missing, NULL), rows[i].rc);
        UNIT_TEXT(laz_buf_text(&told), rows[i].told);
        laz_buf_fini(&told);
        laz_strv_fini(&shared.unmet);
        laz_plan_free(box.plan);
    }
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void a_refusal_has_the_remedy_of_the_backend(void)
{
    static const struct {
        uint32_t require;
        const char *text;
    } rows[] = {
        {LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_NETWORK,
         "backend mock does not enforce what sandbox.require asks for: fs_read, network. Move to "
         "an island, or write sandbox.require = [] to go without: fs_read, network"},
        {LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_MEMORY | LAZ_ENFORCE_CPU,
         "backend mock does not enforce what sandbox.require asks for: fs_read. Move to an "
         "island, or write sandbox.require = [\"cpu\", \"memory\"] to go without: "
         "fs_read"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_plan *plan = NULL;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(
            laz_plan_make(&job_ops, "mock", &limited, NULL, rows[i].require, NULL, &plan, &err),
            LAZ_EREFUSED);
        CU_ASSERT_PTR_NULL(plan);
        UNIT_TEXT(err.text, rows[i].text);
    }
    /* a table that ends before the field lacks it */
    struct laz_backend_ops older = job_ops;
    struct laz_plan *plan = NULL;
    struct laz_error err = {0};
    older.size = offsetof(struct laz_backend_ops, remedy);
    CU_ASSERT_EQUAL(
        laz_plan_make(&older, "mock", &limited, NULL, LAZ_ENFORCE_FS_READ, NULL, &plan, &err),
        LAZ_EREFUSED);
    CU_ASSERT_PTR_NULL(strstr(err.text, "island"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "Use another backend"));
}

static int unknown_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                        struct laz_plan *plan, struct laz_error *err)
{
    int rc = job_plan(api, policy, plan, err);

    api->job_limit(plan, "sockets", 1, 0);
    return rc;
}

static int homeless_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                         struct laz_plan *plan, struct laz_error *err)
{
    int rc = job_plan(api, policy, plan, err);

    api->ends_by(plan, LAZ_END_KILL);
    return rc;
}

static int endless_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                        struct laz_plan *plan, struct laz_error *err)
{
    int rc = job_plan(api, policy, plan, err);

    api->ends_by(plan, LAZ_END_JOB + 1);
    return rc;
}

static void faults_of_a_backend_about_jobs_are_found(void)
{
    static const struct {
        int (*plan)(const struct laz_plan_api *api, const struct laz_policy *policy,
                    struct laz_plan *plan, struct laz_error *err);
        const char *says;
    } rows[] = {
        {unknown_plan, "an unknown limit of a job (sockets)"},
        {homeless_plan, "limits of a job but does not end by the job"},
        {endless_plan, "an unknown way to end (3)"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_backend_ops ops = job_ops;
        struct laz_plan *plan = NULL;
        struct laz_error err = {0};
        ops.plan = rows[i].plan;
        CU_ASSERT_EQUAL(laz_plan_make(&ops, "mock", &limited, NULL, 0, NULL, &plan, &err),
                        LAZ_EPLUGIN);
        CU_ASSERT_PTR_NULL(plan);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].says));
    }
}

static void backends_are_made_for_systems(void)
{
    static const struct {
        const char *platforms, *platform;
        bool is;
    } rows[] = {
        {"linux", "linux", true},
        {"linux darwin windows", "darwin", true},
        {"linux darwin windows", "windows", true},
        {"linux darwin windows", "win", false},
        {"linux", "linux2", false},
        {"", "linux", false},
        {NULL, "linux", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_backend_ops ops = {.platforms = rows[i].platforms};
        CU_ASSERT_EQUAL(laz_backend_is_for(&ops, rows[i].platform), rows[i].is);
    }
}

static const struct unit_test tests[] = {
    UNIT(limits_become_the_fields_of_windows),
    UNIT(a_job_ends_with_its_handle_and_nothing_leaves_it),
    UNIT(what_reads_back_otherwise_is_missing),
    UNIT(limits_of_jobs_have_names),
    UNIT(a_system_without_jobs_starts_nothing_in_one),
    UNIT(plan_shows_limits_of_its_job_and_those_that_nothing_keeps),
    UNIT(plan_says_no_more_than_the_job_keeps),
    UNIT(a_limit_that_nothing_keeps_is_told_once_by_an_engine),
    UNIT(a_job_that_keeps_less_is_refused_unless_the_settings_allow_it),
    UNIT(a_refusal_has_the_remedy_of_the_backend),
    UNIT(faults_of_a_backend_about_jobs_are_found),
    UNIT(backends_are_made_for_systems),
    {0},
};

int main(void)
{
    return unit_run("job", tests);
}
