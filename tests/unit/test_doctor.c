/* SPDX-License-Identifier: MIT */
/* test_doctor.c - what lazaret doctor concludes from what it tried, and that nothing is begun, and
 * nothing believed, when its time is up. */
#include "unit.h"

#include "doctor/doctor_private.h"

#include "base/enforce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A doctor that has tried things with one backend. */
static struct laz_doctor doctor;
static struct doctor_backend backend;
static char name[] = "bwrap";

static void progress(void *user, const char *of, const char *what)
{
    (void)user;
    (void)of;
    (void)what;
}

static void setup(void)
{
    memset(&doctor, 0, sizeof doctor);
    memset(&backend, 0, sizeof backend);
    pthread_mutex_init(&doctor.lock, NULL);
    doctor.options.progress = progress;
    doctor.acts_are_tried = true;
    doctor.time.end_us = UINT64_MAX;
    backend.name = name;
    backend.isolates = true;
}

/* Every act of the bit came out like this. */
static void all_came(uint32_t bit, enum doctor_came outside, enum doctor_came inside)
{
    for (size_t i = 0; i < DOCTOR_ACTS; i++)
        if (doctor_acts[i].bit == bit) {
            doctor.outside[i].came = outside;
            backend.inside[i].came = inside;
        }
}

/* The first act of the bit. */
static size_t first_of(uint32_t bit)
{
    size_t i = 0;

    while (doctor_acts[i].bit != bit)
        i++;
    return i;
}

static void what_was_tried_makes_the_state(void)
{
    static const struct {
        bool full, weak, isolates;
        enum doctor_came outside, inside;
        enum doctor_state state;
    } rows[] = {
        {1, 0, 1, DOCTOR_WORKED, DOCTOR_DENIED, DOCTOR_IN_FORCE},
        {0, 1, 1, DOCTOR_WORKED, DOCTOR_DENIED, DOCTOR_WEAK},
        {0, 0, 1, DOCTOR_WORKED, DOCTOR_DENIED, DOCTOR_UNPROMISED},
        {1, 0, 1, DOCTOR_DENIED, DOCTOR_DENIED, DOCTOR_UNPROVEN},
        {1, 0, 1, DOCTOR_WORKED, DOCTOR_FAILED, DOCTOR_UNPROVEN},
        {1, 0, 1, DOCTOR_WORKED, DOCTOR_WORKED, DOCTOR_BROKEN},
        {0, 0, 1, DOCTOR_WORKED, DOCTOR_WORKED, DOCTOR_OPEN},
        {0, 1, 1, DOCTOR_UNTRIED, DOCTOR_UNTRIED, DOCTOR_WEAK},
        /* no time: at best not proven */
        {1, 0, 1, DOCTOR_WORKED, DOCTOR_LATE, DOCTOR_UNPROVEN},
        {1, 0, 1, DOCTOR_LATE, DOCTOR_DENIED, DOCTOR_UNPROVEN},
        {0, 1, 1, DOCTOR_UNTRIED, DOCTOR_LATE, DOCTOR_UNPROVEN},
        {0, 0, 1, DOCTOR_LATE, DOCTOR_LATE, DOCTOR_UNPROVEN},
        {1, 0, 1, DOCTOR_LATE, DOCTOR_WORKED, DOCTOR_BROKEN},
        {1, 0, 1, DOCTOR_WORKED, DOCTOR_TIMED_OUT, DOCTOR_UNPROVEN},
        {1, 0, 1, DOCTOR_TIMED_OUT, DOCTOR_DENIED, DOCTOR_UNPROVEN},
        /* no sandbox: nothing is tried in it, and so nothing proven */
        {1, 0, 0, DOCTOR_WORKED, DOCTOR_UNTRIED, DOCTOR_UNPROVEN},
        {0, 0, 0, DOCTOR_WORKED, DOCTOR_UNTRIED, DOCTOR_OPEN},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setup();
        backend.isolates = rows[i].isolates;
        backend.bits[0].full = rows[i].full;
        backend.bits[0].weak = rows[i].weak;
        all_came(LAZ_ENFORCE_FS_READ, rows[i].outside, rows[i].inside);
        UNIT_TEXT(doctor_state_name(doctor_state_of(&doctor, &backend, LAZ_ENFORCE_FS_READ)),
                  doctor_state_name(rows[i].state));
    }
}

/* One act that could not be tried in time outweighs all that were denied. */
static void one_late_act_leaves_a_bit_unproven(void)
{
    setup();
    backend.bits[0].full = true;
    all_came(LAZ_ENFORCE_FS_READ, DOCTOR_WORKED, DOCTOR_DENIED);
    backend.inside[first_of(LAZ_ENFORCE_FS_READ)].came = DOCTOR_LATE;
    CU_ASSERT_EQUAL(doctor_state_of(&doctor, &backend, LAZ_ENFORCE_FS_READ), DOCTOR_UNPROVEN);
}

/* A machine that is too slow is told from a system that refuses. */
static void the_remedy_says_why_nothing_is_proven(void)
{
    static const struct {
        enum doctor_came outside, inside;
        const char *remedy; /* begins so */
    } rows[] = {
        {DOCTOR_WORKED, DOCTOR_TIMED_OUT, "timed out: try again with more time"},
        {DOCTOR_TIMED_OUT, DOCTOR_DENIED, "timed out: try again with more time"},
        {DOCTOR_LATE, DOCTOR_DENIED, "timed out: try again with more time"},
        {DOCTOR_TIMED_OUT, DOCTOR_FAILED, "timed out: try again with more time"},
        {DOCTOR_WORKED, DOCTOR_FAILED, "it could not be tried"},
        {DOCTOR_FAILED, DOCTOR_DENIED, "it could not be tried"},
        {DOCTOR_DENIED, DOCTOR_DENIED, "this system refuses the act outside of the box as well"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setup();
        backend.bits[0].full = true;
        all_came(LAZ_ENFORCE_FS_READ, rows[i].outside, rows[i].inside);
        CU_ASSERT_EQUAL(doctor_state_of(&doctor, &backend, LAZ_ENFORCE_FS_READ), DOCTOR_UNPROVEN);
        const char *remedy =
            doctor_remedy_of(&doctor, &backend, LAZ_ENFORCE_FS_READ, DOCTOR_UNPROVEN);
        CU_ASSERT_EQUAL(strncmp(remedy, rows[i].remedy, strlen(rows[i].remedy)), 0);
    }
}

static void a_start_that_was_too_slow_needs_more_time(void)
{
    struct laz_error err = {0};

    laz_error_set(&err, LAZ_ESETUP, ETIMEDOUT, "not ready");
    char *problem = doctor_problem(&err);
    UNIT_TEXT(problem, "not ready; " DOCTOR_MORE_TIME);
    free(problem);
    laz_error_set(&err, LAZ_ESETUP, 0, "refused");
    problem = doctor_problem(&err);
    UNIT_TEXT(problem, "refused");
    free(problem);
}

static void nothing_is_begun_when_the_time_is_up(void)
{
    static const char *const nothing[] = {NULL};
    struct doctor_session session;
    struct doctor_try tried = {.came = DOCTOR_WORKED};
    struct laz_error err = {0};

    setup();
    CU_ASSERT_FALSE(doctor_is_late(&doctor));
    CU_ASSERT_EQUAL(doctor_may_begin(&doctor, &err), 0);
    doctor.time.end_us = 0;
    CU_ASSERT_TRUE(doctor_is_late(&doctor));
    CU_ASSERT_EQUAL(doctor_session_open(&doctor, nothing, &doctor_acting, &session, &err),
                    LAZ_ETIMEOUT);
    CU_ASSERT_PTR_NULL(session.engine);
    CU_ASSERT_EQUAL(doctor_act_try(&doctor, &session, &doctor_acts[0], &tried, &err), 0);
    CU_ASSERT_EQUAL(tried.came, DOCTOR_LATE);
    CU_ASSERT_EQUAL(doctor_backend_try(&doctor, &backend, &err), 0);
    UNIT_TEXT(backend.problem, DOCTOR_OUT_OF_TIME);
    free(backend.problem);
}

/* Only what the time ended is late: a user who wants to stop is obeyed. */
static void the_user_is_told_from_the_time(void)
{
    struct laz_error err = {0};

    setup();
    CU_ASSERT_EQUAL(doctor_ended(&doctor, LAZ_ECANCELLED, &err), LAZ_ECANCELLED);
    doctor.time.end_us = 0;
    CU_ASSERT_EQUAL(doctor_ended(&doctor, LAZ_ECANCELLED, &err), LAZ_ETIMEOUT);
    UNIT_TEXT(err.text, DOCTOR_OUT_OF_TIME);
    CU_ASSERT_EQUAL(doctor_ended(&doctor, LAZ_ESETUP, &err), LAZ_ESETUP);
    CU_ASSERT_EQUAL(doctor_ended(&doctor, 0, &err), 0);
    atomic_store(&doctor.interrupted, true);
    CU_ASSERT_EQUAL(doctor_ended(&doctor, LAZ_ECANCELLED, &err), LAZ_ECANCELLED);
}

/* What is judged are settings with a runtime that works. */
static struct laz_settings *judged_settings(void)
{
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    setup();
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.runtime", "mine", &err), 0);
    laz_strv_add(&doctor.runtimes, "mine");
    doctor.values = laz_settings_values(settings);
    doctor.chosen = &backend;
    for (unsigned i = 0; laz_enforce_name(1u << i); i++)
        backend.bits[i].state = DOCTOR_IN_FORCE;
    return settings;
}

static void judged_end(struct laz_settings *settings)
{
    laz_strv_fini(&doctor.problems);
    laz_strv_fini(&doctor.runtimes);
    laz_settings_free(settings);
}

static void what_is_required_and_not_proven_is_a_problem(void)
{
    struct laz_settings *settings = judged_settings();
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(doctor_judge(&doctor, &err), 0);
    CU_ASSERT_EQUAL(doctor.problems.n, 0);
    backend.bits[0].state = DOCTOR_UNPROVEN;
    backend.bits[0].remedy = "wait";
    CU_ASSERT_EQUAL(doctor_judge(&doctor, &err), 0);
    CU_ASSERT_EQUAL_FATAL(doctor.problems.n, 1);
    UNIT_TEXT(doctor.problems.items[0],
              "sandbox.require asks for fs_read, which is not proven with the backend bwrap: wait");
    judged_end(settings);
}

/* What the acts of a list come to, where the others were denied. `wanted`: begins so; NULL: there
 * is no problem. */
static void list_comes_to(enum doctor_came reached, enum doctor_came refused, bool untold,
                          enum doctor_state state, const char *wanted)
{
    setup();
    all_came(LAZ_ENFORCE_NETWORK, DOCTOR_UNTRIED, DOCTOR_UNTRIED);
    backend.bits[2].full = true;
    for (size_t i = 0; i < DOCTOR_ACTS; i++) {
        const enum doctor_list list = doctor_acts[i].list;
        if (list != DOCTOR_NO_LIST)
            backend.inside[i].came = list == DOCTOR_REACHES ? reached : refused;
        backend.inside[i].is_untold = untold && doctor_acts[i].told;
    }
    UNIT_TEXT(doctor_state_name(doctor_state_of(&doctor, &backend, LAZ_ENFORCE_NETWORK)),
              doctor_state_name(state));
    char *problem = doctor_network_problem(&backend);
    CU_ASSERT_EQUAL(problem == NULL, wanted == NULL);
    if (problem && wanted)
        CU_ASSERT_EQUAL(strncmp(problem, wanted, strlen(wanted)), 0);
    free(problem);
}

/* A list that reaches nothing refuses everything, which proves nothing. */
static void a_list_has_to_reach_what_it_names(void)
{
    list_comes_to(DOCTOR_WORKED, DOCTOR_DENIED, false, DOCTOR_IN_FORCE, NULL);
    list_comes_to(DOCTOR_DENIED, DOCTOR_DENIED, false, DOCTOR_UNPROVEN,
                  "does not work: reach a listed name: ");
    list_comes_to(DOCTOR_WORKED, DOCTOR_WORKED, false, DOCTOR_BROKEN,
                  "does not work: reach a name that is not listed: it was possible");
    list_comes_to(DOCTOR_WORKED, DOCTOR_DENIED, true, DOCTOR_IN_FORCE,
                  "does not work: reach a name that is not listed: it was refused, and the result "
                  "does not say so");
    list_comes_to(DOCTOR_WORKED, DOCTOR_LATE, false, DOCTOR_UNPROVEN, DOCTOR_OUT_OF_TIME);
    list_comes_to(DOCTOR_TIMED_OUT, DOCTOR_DENIED, false, DOCTOR_UNPROVEN,
                  "reach a listed name: timed out: try again with more time");
}

/* Each part of it can fail alone, and all have to hold. */
static void a_credential_has_to_be_added_kept_and_refused(void)
{
    static const struct {
        bool came, other_came, is_refused, has_secret;
        const char *wrong; /* NULL: nothing */
    } rows[] = {
        {true, false, true, false, NULL},
        {false, false, true, false, "the secret is not added to a request"},
        {true, true, true, false, "the secret goes to another host as well"},
        {true, false, false, false, "a request outside of `paths` is not refused"},
        {true, false, true, true, "code has the secret"},
        {false, true, false, true, "the secret is not added to a request"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *wrong = doctor_credential_wrong(rows[i].came, rows[i].other_came,
                                                    rows[i].is_refused, rows[i].has_secret);
        if (rows[i].wrong)
            UNIT_TEXT(wrong, rows[i].wrong);
        else
            CU_ASSERT_PTR_NULL(wrong);
    }
}

/* Of a backend that no list can be used with, only settings that have one are told. */
static void a_list_of_the_settings_needs_one_that_works(void)
{
    char problem[] = "no";
    struct laz_settings *settings = judged_settings();
    struct laz_error err = {0};

    backend.list_problem = problem;
    CU_ASSERT_EQUAL(doctor_judge(&doctor, &err), 0);
    CU_ASSERT_EQUAL(doctor.problems.n, 0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "network.allow", "[\"a.test\"]", &err), 0);
    CU_ASSERT_EQUAL(doctor_judge(&doctor, &err), 0);
    CU_ASSERT_EQUAL_FATAL(doctor.problems.n, 1);
    UNIT_TEXT(doctor.problems.items[0], "the settings have a network list: no");
    judged_end(settings);
}

static const struct unit_test tests[] = {
    UNIT(what_was_tried_makes_the_state),
    UNIT(one_late_act_leaves_a_bit_unproven),
    UNIT(the_remedy_says_why_nothing_is_proven),
    UNIT(a_start_that_was_too_slow_needs_more_time),
    UNIT(nothing_is_begun_when_the_time_is_up),
    UNIT(the_user_is_told_from_the_time),
    UNIT(what_is_required_and_not_proven_is_a_problem),
    UNIT(a_list_has_to_reach_what_it_names),
    UNIT(a_credential_has_to_be_added_kept_and_refused),
    UNIT(a_list_of_the_settings_needs_one_that_works),
    {0},
};

int main(void)
{
    return unit_run("doctor", tests);
}
