/* SPDX-License-Identifier: MIT */
/* choice.c - which backend an engine uses, and whether a box of it really comes up.
 *
 * The first of the list that works is taken.  Whether one works is tried: it has to build a real
 * minimal box and run the agent in it, confined as a session would be; to find its program proves
 * nothing.  The first session of the first candidate is such a trial, and costs nothing where all
 * is well: only when it does not start is the backend tried by itself, and then those after it.  A
 * candidate that does not enforce what is required is passed over like one that does not work. */
#include "box/choice.h"
#include "box/shared.h"
#include "os/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void probe_over(void *user)
{
    *(bool *)user = true;
}

/* The agent ran and ended well, and where the backend's program tells of a box, inside of one. */
static bool choice_came_up(const struct laz_box *box)
{
    return laz_box_is_ended(box) && box->exit.known && !box->exit.signal && !box->exit.status &&
           (box->plan->status_fd < 0 || box->has_child);
}

static int choice_explain(struct laz_box *box, const struct laz_backend_choice *choice,
                          bool timed_out, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;

    if (timed_out) { /* its last words count, too */
        laz_box_kill(box);
        while (!laz_box_is_ended(box))
            laz_loop_step(box->shared->driver->loop, LAZ_LOOP_FOREVER);
    }
    if (!laz_box_explain(box, choice->ops, timed_out, &text) && timed_out)
        laz_error_set(err, LAZ_ESETUP, 0, "a minimal box was not done within %g seconds%s%s",
                      (double)laz_box_token_ms(box->shared) / 1000.0,
                      box->complaint.len ? ": " : "",
                      box->complaint.len ? laz_buf_text(&text) : "");
    else
        laz_error_set(err, LAZ_ESETUP, 0, "%s", laz_buf_text(&text));
    laz_buf_fini(&text);
    return LAZ_ESETUP;
}

/* Starts a box of this backend with nothing in it but the agent's --probe. 0: it came up. */
static int choice_probe(struct laz_box_shared *shared, const struct laz_backend_choice *choice,
                        struct laz_error *err)
{
    const struct laz_box_purpose purpose = {
        .backend = choice->name,
        .ops = choice->ops,
        .options = laz_buf_text(&choice->options),
        .require = shared->values->sandbox.strict ? choice->require : 0,
    };
    const struct laz_box_owner owner = {0};
    struct laz_box *box = NULL;
    bool over = false;

    struct laz_timer *timer = laz_timer_new(shared->driver->loop, probe_over, &over);
    if (!timer)
        return laz_error_nomem(err);
    int rc = laz_box_start(shared, &purpose, &owner, NULL, &box, err);
    if (!rc) {
        laz_timer_start(timer, laz_box_token_ms(shared));
        while (!laz_box_is_ended(box) && !over && !atomic_load(&shared->driver->cancel))
            laz_loop_step(shared->driver->loop, LAZ_LOOP_FOREVER);
        if (!laz_box_is_ended(box) && !over)
            rc = laz_error_set(err, LAZ_ECANCELLED, 0, "The trial of a backend was cancelled");
        else if (!choice_came_up(box))
            rc = choice_explain(box, choice, !laz_box_is_ended(box), err);
        laz_box_release(box);
    }
    laz_timer_stop(timer);
    return rc;
}

static int choice_take(struct laz_box_shared *shared, const char *name,
                       struct laz_backend_choice *choice, struct laz_error *err)
{
    const struct laz_plugin *plugin;
    char where[96];

    int rc = laz_registry_find(shared->registry, LAZ_PLUGIN_BACKEND, name, &plugin, err);
    if (rc)
        return rc;
    const struct laz_backend_ops *ops = plugin->ops;
    if (!laz_backend_is_for(ops, laz_os_platform()))
        return laz_error_set(err, LAZ_ENOENT, 0,
                             "sandbox.backend: %s is made for %s and not for %s", name,
                             ops->platforms, laz_os_platform());
    snprintf(where, sizeof where, "sandbox.%.64s", name);
    laz_buf_fini(&choice->options);
    rc = laz_settings_check_options(laz_settings_plugin_table(shared->settings, "sandbox", name),
                                    plugin->options, where, NULL, &choice->options, err);
    if (rc)
        return rc;
    free(choice->name);
    choice->name = laz_strdup(name);
    choice->ops = ops;
    choice->require = shared->values->sandbox.require;
    return choice->name ? 0 : laz_error_nomem(err);
}

/* Backends of "auto", best first, by system. */
static const struct {
    const char *platform;
    const char *names[4];
} automatic[] = {
    {"linux", {"bwrap", "landlock"}},
    {"darwin", {"seatbelt"}},
    {"windows", {"windows-job"}},
};

void laz_backend_candidates(const struct laz_strv *wanted, const char *platform,
                            struct laz_strv *names)
{
    for (size_t i = 0; i < wanted->n; i++) {
        if (strcmp(wanted->items[i], "auto") != 0) {
            laz_strv_add(names, wanted->items[i]);
            continue;
        }
        for (size_t p = 0; p < sizeof automatic / sizeof *automatic; p++)
            for (size_t k = 0; automatic[p].names[k]; k++)
                if (strcmp(automatic[p].platform, platform) == 0)
                    laz_strv_add(names, automatic[p].names[k]);
    }
}

/* No backend works: an error, or, when the settings say strict = false, no box at all. */
static int choice_none(struct laz_box_shared *shared, struct laz_backend_choice *choice,
                       const struct laz_error *why, struct laz_error *err)
{
    if (shared->values->sandbox.strict) {
        if (err)
            *err = *why;
        return why->code;
    }
    struct laz_error no_none = {0};
    int rc = choice_take(shared, "none", choice, &no_none);
    choice->require = 0;
    if (rc)
        return laz_error_set(err, no_none.code, no_none.os_errno, "%s; without a sandbox: %s",
                             why->text, no_none.text);
    laz_log(&shared->driver->log, LAZ_LOG_WARNING,
            "no sandbox: %s; the code runs WITHOUT ISOLATION because sandbox.strict is false",
            why->text);
    return 0;
}

/* The first candidate is taken at its word, unless what comes after it is no box at all. */
static bool choice_needs_trial(const struct laz_box_shared *shared, size_t candidate)
{
    return candidate > 0 || !shared->values->sandbox.strict;
}

/* Does the failure say that this system does not have the backend? One that is broken or told wrong
 * things, a want of memory or descriptors, and a cancel say nothing of the kind: no other is taken,
 * and no weaker one, because of them. */
static bool choice_goes_on(bool taken, const struct laz_error *why)
{
    return !laz_error_is_shortage(why) && why->code != LAZ_ECANCELLED &&
           (taken || why->code == LAZ_ENOENT);
}

/* Takes the first candidate from number `first` on that works. `why`: empty, or what was wrong with
 * those before it, and then what is wrong with all. */
static int choice_from(struct laz_box_shared *shared, size_t first, struct laz_buf *why,
                       struct laz_error *err)
{
    struct laz_backend_choice *choice = &shared->choice;
    struct laz_strv names = LAZ_STRV_INIT;
    struct laz_error last = {0};
    bool goes_on = true;
    int rc = LAZ_ECONFIG;

    laz_backend_candidates(&shared->values->sandbox.backend, laz_os_platform(), &names);
    laz_error_set(&last, LAZ_ECONFIG, 0, "sandbox.backend names no backend for this system");
    if (names.failed) { /* a list that lacks its first is another list */
        laz_strv_fini(&names);
        return laz_error_nomem(err);
    }
    for (size_t i = first; i < names.n && rc && goes_on; i++) {
        choice->next = i + 1;
        rc = choice_take(shared, names.items[i], choice, &last);
        bool taken = !rc;
        if (taken && choice_needs_trial(shared, i)) {
            rc = choice_probe(shared, choice, &last);
            choice->proven = !rc;
        }
        if (!rc)
            continue;
        goes_on = choice_goes_on(taken, &last);
        if (names.n > 1)
            laz_buf_printf(why, "%s%s: ", why->len ? "; " : "", names.items[i]);
        laz_buf_puts(why, last.text);
        laz_log(&shared->driver->log, i + 1 < names.n ? LAZ_LOG_WARNING : LAZ_LOG_INFO,
                "backend %s: %s", names.items[i], last.text);
    }
    laz_strv_fini(&names);
    if (rc && !goes_on) {
        if (err)
            *err = last;
    } else if (rc) {
        if (why->len)
            laz_error_set(&last, last.code, last.os_errno, "%s", laz_buf_text(why));
        rc = choice_none(shared, choice, &last, err);
    }
    if (rc)
        choice->ops = NULL;
    return rc;
}

int laz_box_backend(struct laz_box_shared *shared, const struct laz_backend_choice **out,
                    struct laz_error *err)
{
    struct laz_buf why = LAZ_BUF_INIT;
    int rc = 0;

    *out = &shared->choice;
    if (!shared->choice.ops) {
        shared->choice.proven = false;
        rc = choice_from(shared, 0, &why, err);
    }
    laz_buf_fini(&why);
    return rc;
}

bool laz_box_next_backend(struct laz_box_shared *shared, struct laz_error *err)
{
    struct laz_backend_choice *choice = &shared->choice;
    struct laz_strv names = LAZ_STRV_INIT;
    struct laz_buf why = LAZ_BUF_INIT;
    struct laz_error fault = {0};
    bool taken = false;

    laz_backend_candidates(&shared->values->sandbox.backend, laz_os_platform(), &names);
    bool others = choice->ops && !choice->proven && choice->next < names.n;
    laz_strv_fini(&names);
    if (!others)
        return false;
    if (choice_probe(shared, choice, &fault) == 0) {
        choice->proven = true; /* what failed was the session's own */
        return false;
    }
    if (laz_error_is_shortage(&fault) || fault.code == LAZ_ECANCELLED)
        return false;
    laz_log(&shared->driver->log, LAZ_LOG_WARNING, "backend %s: %s", choice->name, fault.text);
    laz_buf_printf(&why, "%s: %s", choice->name, fault.text);
    taken = choice_from(shared, choice->next, &why, err) == 0;
    laz_buf_fini(&why);
    return taken;
}

void laz_box_shared_fini(struct laz_box_shared *shared)
{
    laz_buf_fini(&shared->choice.options);
    free(shared->choice.name);
    laz_programs_store_fini(&shared->programs);
    laz_strv_fini(&shared->unmet);
    laz_cgroups_free(shared->groups);
    laz_uids_free(shared->uids);
}
