/* SPDX-License-Identifier: MIT */
/* box_trial.c - whether a box of a backend really comes up, and which backend is taken.
 * Side: host.  Input trusted: no (what the programs of backends print).
 *
 * The first of the list that works is taken.  Whether one works is tried: it has to build a real
 * minimal box and run the agent in it, confined as a session would be; that its program can be
 * found proves nothing.  The first session of the first candidate is such a trial, and costs
 * nothing where all is well: only when it does not start is the backend tried by itself, and then
 * those after it. A candidate that does not enforce what is required is passed over like one that
 * does not work.
 *
 * A trial is a start like any other: it runs on the loop, and whoever asked meanwhile is answered
 * at its end.  Its box only stirs it; it goes on between two turns of the loop (trial_advance).
 * What it takes becomes the engine's choice at its end, not before.
 *
 * Other starts wait for a uid.  A box that was released ends by itself, and has its uid until then.
 * Where the range of uids is narrow, the next start would find none: it waits for the end of such a
 * box instead, which the timers of that box bound. */
#include "box/box_private.h"

#include "base/container.h"
#include "os/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of askers ------------------------------------------------------------------------- */

/* Returns LAZ_BOX_ASKED. */
static int askers_join(struct laz_box_asker **list, struct laz_box_asker *asker, bool starts_again)
{
    while (*list)
        list = &(*list)->next;
    asker->next = NULL;
    asker->starts_again = starts_again;
    *list = asker;
    return LAZ_BOX_ASKED;
}

static void askers_unlink(struct laz_box_asker **list, struct laz_box_asker *asker)
{
    while (*list && *list != asker)
        list = &(*list)->next;
    if (*list)
        *list = asker->next;
}

/* Takes all of a list, to be answered one by one. Each may join a list again meanwhile, and others
 * may withdraw. */
static void askers_begin(struct laz_box_shared *shared, struct laz_box_asker **list)
{
    shared->answered = *list;
    *list = NULL;
}

/* NULL: all have been answered. */
static struct laz_box_asker *askers_next(struct laz_box_shared *shared)
{
    struct laz_box_asker *asker = shared->answered;

    if (asker)
        shared->answered = asker->next;
    return asker;
}

/* ---- candidates ----------------------------------------------------------------------------- */

void laz_backend_candidates(struct laz_registry *registry, const struct laz_strv *wanted,
                            const char *platform, struct laz_strv *names)
{
    for (size_t i = 0; i < wanted->n; i++)
        if (strcmp(wanted->items[i], "auto") == 0)
            laz_registry_automatic(registry, platform, names);
        else
            laz_strv_add(names, wanted->items[i]);
}

/* Fills *choice with this backend, if it is installed, made for this system, and has valid options.
 */
static int choice_take(struct laz_box_shared *shared, const char *name,
                       struct laz_backend_choice *choice, struct laz_error *err)
{
    const struct laz_plugin *plugin;
    char where[96];

    int rc = laz_registry_find(shared->registry, LAZ_PLUGIN_BACKEND, name, &plugin, err);
    if (rc)
        return rc;
    const struct laz_backend_ops *ops = plugin->ops;
    if (!laz_backend_is_for(ops, laz_os_platform())) {
        laz_error_set(err, LAZ_ENOENT, 0, "sandbox.backend: %s is made for %s and not for %s", name,
                      ops->platforms, laz_os_platform());
        laz_settings_place(shared->values, "sandbox.backend", name, err);
        return LAZ_ENOENT;
    }
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

/* There is no candidate: LAZ_ECONFIG. */
static int choice_names_none(struct laz_registry *registry, struct laz_error *err)
{
    struct laz_buf missing = LAZ_BUF_INIT;

    laz_registry_undeclared(registry, &missing);
    int rc =
        laz_error_set(err, LAZ_ECONFIG, 0, "sandbox.backend names no backend for this system%s",
                      laz_buf_text(&missing));
    laz_buf_fini(&missing);
    return rc;
}

/* A name that no backend has is a mistake, wherever it stands in the list: what it was to say may
 * be a stronger box than the one that comes instead. 0, or what the registry says of it. */
static int choice_names_unknown(struct laz_box_shared *shared, struct laz_error *err)
{
    const struct laz_strv *wanted = &shared->values->sandbox.backend;
    const struct laz_plugin *plugin;
    int rc = 0;

    for (size_t i = 0; i < wanted->n && !rc; i++)
        if (strcmp(wanted->items[i], "auto") != 0) {
            rc = laz_registry_find(shared->registry, LAZ_PLUGIN_BACKEND, wanted->items[i], &plugin,
                                   err);
            if (rc == LAZ_ENOENT)
                laz_settings_blame(shared->values, "sandbox.backend", wanted->items[i], err);
        }
    return rc == LAZ_ENOENT ? rc : 0;
}

/* Tenants share a machine only by namespaces. LAZ_EREFUSED. */
static int choice_separates(const struct laz_box_shared *shared,
                            const struct laz_backend_choice *choice, struct laz_error *err)
{
    if (!shared->of_tenants || laz_backend_has_own_files(choice->ops))
        return 0;
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "the backend %s has no namespaces, which keep tenants apart: by it a "
                         "worker is for one tenant, which cluster.tenant names",
                         choice->name);
}

/* No backend works, by `why`: that error, or, where sandbox.strict is false, no box at all. */
static int choice_none(struct laz_box_shared *shared, struct laz_backend_choice *choice,
                       const struct laz_error *why, struct laz_error *err)
{
    if (shared->values->sandbox.strict || shared->of_tenants) {
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

/* A backend that is broken or wrong settings, a cancel, exhausted memory or descriptors, and uids
 * that are all in use (LAZ_EBUSY) do not say that this system does not have the backend: none of
 * them may lead to another one, which may be weaker. */
bool laz_box_may_be_another(const struct laz_error *why)
{
    return (why->code == LAZ_ESETUP || why->code == LAZ_EREFUSED || why->code == LAZ_EOS) &&
           !laz_error_is_shortage(why);
}

/* Does the failure let others be tried? `taken`: by choice_take. */
static bool choice_goes_on(bool taken, const struct laz_error *why)
{
    return taken ? laz_box_may_be_another(why) : why->code == LAZ_ENOENT && !laz_box_is_short(why);
}

/* ---- trials --------------------------------------------------------------------------------- */

struct laz_backend_trial {
    struct laz_box_shared *shared;
    struct laz_stir stir;
    struct laz_box *box;   /* of the candidate that is tried; NULL: none */
    struct laz_strv names; /* the candidates */
    size_t next;           /* number of the next one */
    bool is_of_present;    /* the engine's choice is tried, since a session of it did not start */
    bool is_late;          /* the box did not end in time, and was killed */
    bool goes_on;          /* the last failure lets others be tried */
    struct laz_backend_choice choice; /* the last candidate that was taken */
    struct laz_buf why;               /* what is wrong with those that were tried */
    int code;                         /* of the first of them */
    struct laz_error lack;            /* what this side lacked to try the candidate; code 0 */
    struct laz_error last;            /* the last failure; at the end the answer to askers */
};

/* What comes of a trial. */
enum trial_end {
    TRIAL_GOES_ON,   /* its box runs */
    TRIAL_TOOK,      /* a backend was chosen */
    TRIAL_STANDS,    /* the choice stays as it is: what failed was the session itself */
    TRIAL_CANCELLED, /* the choice stays as it is: `last` */
    TRIAL_FAILED,    /* no backend: `last` */
};

static void trial_advance(struct laz_stir *stir);

/* The time for a token is over. A box of a trial shows none: it ends before. */
static void trial_late(void *user, const struct laz_error *why)
{
    struct laz_backend_trial *trial = user;

    if (laz_box_look(trial->box)) /* it may have ended while the loop stood still */
        return;
    if (laz_error_is_shortage(why))
        trial->lack = *why;
    trial->is_late = true;
    laz_box_kill(trial->box); /* and its last words are awaited */
}

static void trial_ended(void *user)
{
    struct laz_backend_trial *trial = user;

    laz_driver_stir(trial->shared->driver, &trial->stir);
}

static void trial_free(struct laz_backend_trial *trial)
{
    if (!trial)
        return;
    laz_driver_unstir(trial->shared->driver, &trial->stir);
    laz_box_release(trial->box);
    laz_strv_fini(&trial->names);
    laz_buf_fini(&trial->choice.options);
    free(trial->choice.name);
    laz_buf_fini(&trial->why);
    free(trial);
}

static int trial_new(struct laz_box_shared *shared, struct laz_backend_trial **out,
                     struct laz_error *err)
{
    struct laz_backend_trial *trial = calloc(1, sizeof *trial);

    if (!trial)
        return laz_error_nomem(err);
    trial->shared = shared;
    trial->stir.advance = trial_advance;
    trial->goes_on = true;
    laz_backend_candidates(shared->registry, &shared->values->sandbox.backend, laz_os_platform(),
                           &trial->names);
    if (trial->names.failed) { /* the list is incomplete: do not choose from it */
        trial_free(trial);
        return laz_error_nomem(err);
    }
    if (choice_names_unknown(shared, &trial->last))
        trial->goes_on = false; /* whatever sandbox.strict says */
    else if (!trial->names.n)
        choice_names_none(shared->registry, &trial->last);
    *out = trial;
    return 0;
}

/* Starts a box of this backend with nothing in it but the agent's --probe. */
static int trial_start(struct laz_backend_trial *trial, const struct laz_backend_choice *choice,
                       struct laz_error *err)
{
    const struct laz_box_purpose purpose = {.choice = choice};
    const struct laz_box_owner owner = {.user = trial, .broken = trial_late, .ended = trial_ended};

    return laz_box_start(trial->shared, &purpose, &owner, &trial->box, err);
}

/* The agent ran and ended well, and where the backend's program reports a box, inside of one. */
static bool trial_came_up(const struct laz_backend_trial *trial)
{
    const struct laz_box *box = trial->box;

    return !trial->is_late && box->exit.known && !box->exit.signal && !box->exit.status &&
           (box->plan->status_fd < 0 || box->has_child);
}

/* The words by which a program says that the machine, or this user, has no more of something. They
 * are those of the C locale, and programs get no other. Not ENOSPC: namespaces that are switched
 * off are refused by it (namespaces(7)). */
static int trial_said_shortage(const char *words)
{
    static const struct {
        const char *words;
        int os_errno;
    } said[] = {{"Cannot allocate memory", ENOMEM},
                {"Too many open files", EMFILE},
                {"Resource temporarily unavailable", EAGAIN}};

    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strstr(words, said[i].words))
            return said[i].os_errno;
    return 0;
}

static int trial_explain(const struct laz_backend_trial *trial, struct laz_error *err)
{
    struct laz_box *box = trial->box;
    struct laz_buf text = LAZ_BUF_INIT;

    if (trial->lack.code) {
        *err = trial->lack;
        return err->code;
    }
    int lack = trial_said_shortage(laz_buf_text(&box->complaint)); /* outweighs the time */
    if (!lack && trial->is_late)
        lack = ETIMEDOUT;
    if (!laz_box_explain(box, trial->is_late, &text) && trial->is_late)
        laz_error_set(err, LAZ_ESETUP, lack, "a minimal box was not done within %g seconds%s%s",
                      (double)laz_box_token_ms(trial->shared) / 1000.0,
                      box->complaint.len ? ": " : "",
                      box->complaint.len ? laz_buf_text(&text) : "");
    else
        laz_error_set(err, LAZ_ESETUP, lack, "%s", laz_buf_text(&text));
    laz_buf_fini(&text);
    return LAZ_ESETUP;
}

/* The box has ended: was it one? Lets go of it. */
static int trial_judge(struct laz_backend_trial *trial)
{
    int rc = trial_came_up(trial) ? 0 : trial_explain(trial, &trial->last);

    laz_box_release(trial->box);
    trial->box = NULL;
    trial->is_late = false;
    trial->lack = (struct laz_error){0};
    return rc;
}

/* A candidate does not work, by `last`. `taken`: it was there. */
static void trial_note(struct laz_backend_trial *trial, bool taken)
{
    const char *name = trial->names.items[trial->next - 1], *text = trial->last.text;
    char own[96];

    trial->goes_on = choice_goes_on(taken, &trial->last);
    if (!trial->why.len)
        trial->code = trial->last.code;
    laz_buf_puts(&trial->why, trial->why.len ? "; " : "");
    if (trial->names.n > 1 && trial->last.code != LAZ_EREFUSED) { /* a refusal names it */
        snprintf(own, sizeof own, "backend %s: ", name);
        const char *at = strstr(text, own);
        laz_buf_printf(&trial->why, "backend %s does not work: %.*s", name,
                       at ? (int)(at - text) : 0, text);
        text = at ? at + strlen(own) : text;
    }
    laz_buf_puts(&trial->why, text);
}

/* None of the candidates works. */
static enum trial_end trial_none(struct laz_backend_trial *trial)
{
    struct laz_error all = trial->last;

    if (!trial->goes_on)
        return TRIAL_FAILED;
    if (trial->why.len)
        laz_error_set(&all, trial->code, all.os_errno, "%s", laz_buf_text(&trial->why));
    if (choice_none(trial->shared, &trial->choice, &all, &trial->last))
        return TRIAL_FAILED;
    laz_buf_clear(&trial->why); /* that was said */
    return TRIAL_TOOK;
}

/* Takes the next candidate that works, or begins to try it. */
static enum trial_end trial_next(struct laz_backend_trial *trial)
{
    while (trial->next < trial->names.n && trial->goes_on) {
        size_t candidate = trial->next++;
        trial->choice.next = trial->next;
        int rc =
            choice_take(trial->shared, trial->names.items[candidate], &trial->choice, &trial->last);
        bool taken = !rc;
        if (taken && choice_separates(trial->shared, &trial->choice, &trial->last) != 0) {
            trial_note(trial, true);
            continue;
        }
        /* the first is taken without a trial, unless what comes after it is not a box at all */
        if (taken && candidate == 0 && trial->shared->values->sandbox.strict)
            return TRIAL_TOOK;
        if (taken && !trial_start(trial, &trial->choice, &trial->last))
            return TRIAL_GOES_ON;
        trial_note(trial, taken);
    }
    return trial_none(trial);
}

/* The present choice was tried. rc: how that ended. */
static enum trial_end trial_of_present(struct laz_backend_trial *trial, int rc)
{
    struct laz_backend_choice *present = &trial->shared->choice;

    if (!rc)
        present->proven = true;
    if (present->proven || !choice_goes_on(true, &trial->last))
        return TRIAL_STANDS; /* it came up, or a session of it, or the failure is not its own */
    trial->is_of_present = false;
    trial_note(trial, true);
    return trial_next(trial);
}

/* The choice is the engine's from here on. */
static void trial_commit(struct laz_backend_trial *trial, enum trial_end end)
{
    struct laz_backend_choice *choice = &trial->shared->choice;

    if (end == TRIAL_STANDS || end == TRIAL_CANCELLED)
        return;
    if (end == TRIAL_TOOK && trial->why.len)
        laz_log(&trial->shared->driver->log, LAZ_LOG_WARNING, "%s; %s is used instead",
                laz_buf_text(&trial->why), trial->choice.name);
    if (trial->choice.name) {
        free(choice->name);
        laz_buf_fini(&choice->options);
        *choice = trial->choice;
        trial->choice = (struct laz_backend_choice){0};
    }
    if (end == TRIAL_FAILED)
        choice->ops = NULL;
}

/* The answer to an asker. 0: there is a choice (another one, where it wants that). */
static int trial_answer(enum trial_end end, const struct laz_box_asker *asker, bool wants_next,
                        const struct laz_error *last, struct laz_error *err)
{
    if (end == TRIAL_STANDS && last->code && asker->lack)
        *asker->lack = *last;
    if (end == TRIAL_TOOK || (end == TRIAL_STANDS && !wants_next))
        return 0;
    if (end == TRIAL_STANDS)
        return LAZ_ESETUP; /* and `err` as it is */
    if (err)
        *err = *last;
    return last->code;
}

/* ---- its end -------------------------------------------------------------------------------- */

/* Each asker may ask again, which may begin another trial. */
static void trial_answer_all(struct laz_box_shared *shared, enum trial_end end,
                             const struct laz_error *last)
{
    struct laz_box_asker *asker;

    askers_begin(shared, &shared->askers);
    while ((asker = askers_next(shared))) {
        struct laz_error why = {0};
        int rc = trial_answer(end, asker, asker->starts_again, last, &why);
        asker->answer(asker->user, rc, &why);
    }
}

static void trial_is_over(struct laz_backend_trial *trial, enum trial_end end)
{
    struct laz_box_shared *shared = trial->shared;
    struct laz_error last = trial->last;

    trial_commit(trial, end);
    shared->trial = NULL;
    trial_free(trial);
    trial_answer_all(shared, end, &last);
}

static void trial_advance(struct laz_stir *stir)
{
    struct laz_backend_trial *trial = LAZ_CONTAINER(stir, struct laz_backend_trial, stir);
    enum trial_end end;

    if (!trial->box || !laz_box_is_ended(trial->box))
        return;
    int rc = trial_judge(trial);
    if (trial->is_of_present) {
        end = trial_of_present(trial, rc);
    } else if (trial->shared->choice.ops && trial->shared->choice.proven) {
        end = TRIAL_STANDS; /* a session of it came up since its own trial */
    } else if (!rc) {
        trial->choice.proven = true;
        end = TRIAL_TOOK;
    } else {
        trial_note(trial, true);
        end = trial_next(trial);
    }
    if (end != TRIAL_GOES_ON)
        trial_is_over(trial, end);
}

/* A trial was begun: it goes on, or has ended already and the asker is answered at once. */
static int trial_begun(struct laz_backend_trial *trial, enum trial_end end,
                       struct laz_box_asker *asker, bool wants_next, struct laz_error *err)
{
    struct laz_box_shared *shared = trial->shared;

    if (end == TRIAL_GOES_ON) {
        shared->trial = trial;
        return askers_join(&shared->askers, asker, wants_next);
    }
    trial_commit(trial, end);
    int rc = trial_answer(end, asker, wants_next, &trial->last, err);
    trial_free(trial);
    return rc;
}

int laz_box_backend(struct laz_box_shared *shared, struct laz_box_asker *asker,
                    struct laz_error *err)
{
    struct laz_backend_trial *trial;
    int rc = shared->trial ? LAZ_BOX_ASKED : laz_box_ask_scope(shared, err);

    if (rc == LAZ_BOX_ASKED)
        return askers_join(&shared->askers, asker, false);
    if (rc || shared->choice.ops)
        return rc;
    rc = trial_new(shared, &trial, err);
    return rc ? rc : trial_begun(trial, trial_next(trial), asker, false, err);
}

void laz_box_backend_goes_on(struct laz_box_shared *shared, const struct laz_error *why)
{
    struct laz_backend_trial *trial = NULL;
    struct laz_error last = {0};

    if (!shared->askers || shared->trial)
        return;
    if (why)
        last = *why;
    if (why || (!shared->choice.ops && trial_new(shared, &trial, &last))) {
        trial_answer_all(shared, TRIAL_FAILED, &last);
    } else if (shared->choice.ops) {
        trial_answer_all(shared, TRIAL_TOOK, &last);
    } else {
        enum trial_end end = trial_next(trial);
        shared->trial = trial;
        if (end != TRIAL_GOES_ON)
            trial_is_over(trial, end);
    }
}

/* `even_last`: though no other candidate could be taken. */
static int trial_ask_next(struct laz_box_shared *shared, struct laz_box_asker *asker,
                          bool even_last, struct laz_error *err)
{
    const struct laz_backend_choice *choice = &shared->choice;
    struct laz_backend_trial *trial;

    if (shared->trial)
        return askers_join(&shared->askers, asker, true);
    if (!choice->ops || choice->proven || trial_new(shared, &trial, NULL))
        return LAZ_ESETUP;
    if (choice->next >= trial->names.n && !even_last) {
        trial_free(trial);
        return LAZ_ESETUP;
    }
    trial->next = choice->next;
    trial->is_of_present = true;
    int rc = trial_start(trial, choice, &trial->last);
    return trial_begun(trial, rc ? trial_of_present(trial, rc) : TRIAL_GOES_ON, asker, true, err);
}

int laz_box_next_backend(struct laz_box_shared *shared, struct laz_box_asker *asker,
                         struct laz_error *err)
{
    return trial_ask_next(shared, asker, false, err);
}

int laz_box_try_backend(struct laz_box_shared *shared, struct laz_box_asker *asker,
                        struct laz_error *err)
{
    return trial_ask_next(shared, asker, true, err);
}

void laz_box_withdraw(struct laz_box_shared *shared, struct laz_box_asker *asker)
{
    askers_unlink(&shared->askers, asker);
    askers_unlink(&shared->for_uid, asker);
    askers_unlink(&shared->answered, asker);
    if (shared->trial && !shared->askers) {
        trial_free(shared->trial);
        shared->trial = NULL;
    }
}

/* ---- uids ------------------------------------------------------------------------------------ */

static void uids_answer(struct laz_box_shared *shared, int rc, const struct laz_error *why)
{
    struct laz_box_asker *asker;

    askers_begin(shared, &shared->for_uid);
    while ((asker = askers_next(shared))) /* the next may find it taken, and wait again */
        asker->answer(asker->user, rc, why);
}

static void uids_advance(struct laz_stir *stir)
{
    const struct laz_error nothing = {0};

    uids_answer(LAZ_CONTAINER(stir, struct laz_box_shared, uid_stir), 0, &nothing);
}

bool laz_box_await_uid(struct laz_box_shared *shared, struct laz_box_asker *asker)
{
    const struct laz_box *box = shared->leaving;

    while (box && (!box->kind->give_back || box->uid == LAZ_SPAWN_SAME_ID))
        box = box->next;
    if (!box)
        return false;
    shared->uid_stir.advance = uids_advance;
    askers_join(&shared->for_uid, asker, true);
    return true;
}

void laz_box_cancel_waits(struct laz_box_shared *shared)
{
    struct laz_backend_trial *trial = shared->trial;
    struct laz_error cancelled;

    laz_error_set(&cancelled, LAZ_ECANCELLED, 0, "The trial of a backend was cancelled");
    if (trial) {
        trial->last = cancelled;
        if (!trial->is_of_present)
            trial_note(trial, true);
        trial_is_over(trial, trial->is_of_present ? TRIAL_CANCELLED : TRIAL_FAILED);
    } else if (shared->askers) { /* who waits for control groups waits for no trial yet */
        trial_answer_all(shared, TRIAL_CANCELLED, &cancelled);
    }
    laz_error_set(&cancelled, LAZ_ECANCELLED, 0, "The wait for a uid was cancelled");
    uids_answer(shared, LAZ_ECANCELLED, &cancelled);
}
