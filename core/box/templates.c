/* SPDX-License-Identifier: MIT */
/* templates.c - which sessions come from a template, and when there is none.
 * Side: host.  Input trusted: yes.
 *
 * A runtime has one template that makes sessions, and another beside it when that one is about to
 * be renewed.  Failures in a row put the next start off, longer each time.  What was refused by the
 * backend, or by the trial, is not tried again by this engine. */
#include "box/templates.h"

#include "box/box_private.h"
#include "box/protection.h"

#include <stdlib.h>
#include <string.h>

#define TEMPLATES_PAUSE_MS   1000u /* after the second failure in a row, then twice that ... */
#define TEMPLATES_PAUSE_MOST 60000u

void laz_templates_stir(struct laz_box_shared *shared)
{
    laz_timer_start(shared->templates->tidy, 0);
}

void laz_templates_failed(struct laz_box_shared *shared, struct template_kind *kind, int code,
                          const char *why)
{
    uint64_t pause = 0;

    kind->failures++;
    for (unsigned i = 1; i < kind->failures && pause < TEMPLATES_PAUSE_MOST; i++)
        pause = pause ? pause * 2 : TEMPLATES_PAUSE_MS;
    const bool is_successor = kind->current && laz_template_settles(kind);
    if (is_successor && !pause) /* nobody waits for it, and sessions go on */
        pause = TEMPLATES_PAUSE_MS;
    if (pause > TEMPLATES_PAUSE_MOST)
        pause = TEMPLATES_PAUSE_MOST;
    kind->again_ms = laz_loop_now_ms(shared->driver->loop) + pause;
    const bool is_mistake = code == LAZ_ECONFIG;
    if (is_mistake)
        laz_error_set(&kind->last, code, 0, "%s", why);
    else
        laz_error_set(&kind->last, code, 0, "the template of %s: %s", kind->runtime->name, why);
    if (is_successor)
        laz_log(&shared->driver->log, LAZ_LOG_WARNING,
                "%s; sessions still come from the present one", kind->last.text);
    else if (pause)
        laz_log(&shared->driver->log, LAZ_LOG_WARNING, "%s; for %g s sessions are %s",
                kind->last.text, (double)pause / 1000.0,
                is_mistake || shared->values->pool.warm == LAZ_WARM_TEMPLATE ? "refused"
                                                                             : "started cold");
    else /* whoever has asked gets a mistake as an error */
        laz_log(&shared->driver->log,
                is_mistake || shared->values->mistakes ? LAZ_LOG_INFO : LAZ_LOG_WARNING, "%s",
                kind->last.text);
}

void laz_templates_refuse(struct laz_box_shared *shared, const char *why)
{
    struct laz_templates *set = shared->templates;
    bool wanted = shared->values->pool.warm == LAZ_WARM_TEMPLATE;

    if (set->refused)
        return;
    set->refused = laz_strdupf("no session can come from a template here: %s", why);
    laz_log(&shared->driver->log, wanted ? LAZ_LOG_WARNING : LAZ_LOG_INFO, "%s; sessions are %s",
            set->refused ? set->refused : why, wanted ? "refused" : "started cold");
}

static void templates_tidy(void *user)
{
    struct laz_box_shared *shared = user;
    struct laz_template *next;

    for (struct laz_template *t = shared->templates->all; t; t = next) {
        next = t->next;
        laz_template_tidy(t);
    }
}

/* ---- for sessions --------------------------------------------------------------------------- */

static int templates_new(struct laz_box_shared *shared, struct laz_error *err)
{
    struct laz_templates *set = calloc(1, sizeof *set);

    if (!set)
        return laz_error_nomem(err);
    set->tidy = laz_timer_new(shared->driver->loop, templates_tidy, shared);
    if (!set->tidy) {
        free(set);
        return laz_error_nomem(err);
    }
    shared->templates = set;
    return 0;
}

static void kind_free(struct template_kind *kind)
{
    free(kind->options);
    free(kind->tools);
    free(kind->credentials);
    laz_strv_fini(&kind->read);
    free(kind);
}

static struct template_kind *templates_kind(struct laz_box_shared *shared,
                                            const struct laz_template_source *source)
{
    struct template_kind *kind = shared->templates->kinds;

    while (kind && (kind->runtime != source->runtime || kind->has_network != source->has_network ||
                    kind->has_credentials != source->has_credentials))
        kind = kind->next;
    if (kind || !(kind = calloc(1, sizeof *kind)))
        return kind;
    kind->runtime = source->runtime;
    kind->has_network = source->has_network;
    kind->has_credentials = source->has_credentials;
    kind->options = laz_strdup(source->options);
    for (size_t i = 0; source->read && i < source->read->n; i++)
        laz_strv_add(&kind->read, source->read->items[i]);
    if (!kind->options || kind->read.failed) {
        kind_free(kind);
        return NULL;
    }
    kind->next = shared->templates->kinds;
    shared->templates->kinds = kind;
    return kind;
}

/* Its templates make no more sessions. */
static void kind_fade(struct template_kind *kind)
{
    if (kind->current)
        laz_template_fade(kind->current); /* detached by it, as is the next */
    if (kind->successor)
        laz_template_fade(kind->successor);
}

/* Tools were added, or a session has fewer than the last: templates that have others make no more
 * sessions. */
static bool kind_has_tools(struct template_kind *kind, const char *tools)
{
    if (kind->tools && strcmp(kind->tools, tools) == 0)
        return true;
    char *copy = laz_strdup(tools);
    if (!copy)
        return false;
    free(kind->tools);
    kind->tools = copy;
    kind_fade(kind);
    return true;
}

/* The authority of the boxes is another one, or placeholders are: templates that have the old ones
 * make no more sessions. */
static bool kind_has_credentials(struct template_kind *kind, const struct laz_box_shared *shared)
{
    const struct laz_strv *all = shared->placeholders;
    struct laz_buf text = LAZ_BUF_INIT;

    if (!kind->has_credentials)
        return true;
    laz_buf_puts(&text, shared->trust ? shared->trust : "");
    for (size_t i = 0; all && i < all->n; i++)
        laz_buf_printf(&text, "\n%s", all->items[i]);
    char *now = laz_buf_steal(&text);
    if (now && kind->credentials && strcmp(now, kind->credentials) == 0) {
        free(now);
        return true;
    }
    if (!now)
        return false;
    free(kind->credentials);
    kind->credentials = now;
    kind_fade(kind);
    return true;
}

/* Starts one, and notes when that fails. */
static int kind_start(struct laz_box_shared *shared, struct template_kind *kind,
                      struct laz_template **template, struct laz_error *err)
{
    struct laz_error why = {0};

    if (laz_loop_now_ms(shared->driver->loop) < kind->again_ms) {
        *err = kind->last;
        return LAZ_ESETUP;
    }
    kind->is_said = false;
    int rc = laz_template_start(shared, kind, template, &why);
    if (rc == LAZ_EREFUSED)
        laz_templates_refuse(shared, why.text);
    else if (rc && !laz_box_is_short(&why))
        laz_templates_failed(shared, kind, rc, why.text);
    if (rc)
        *err = why;
    return rc;
}

/* Before the last sessions of a template its successor is started, so that none waits for it. */
static void kind_renew(struct laz_box_shared *shared, struct template_kind *kind)
{
    uint64_t most = shared->values->pool.renew_after;
    struct laz_template *current = kind->current;
    struct laz_error why = {0};

    if (!most || !current || current->made + most / 8 < most)
        return;
    if (!kind->successor && kind_start(shared, kind, &kind->successor, &why))
        laz_log(&shared->driver->log, LAZ_LOG_INFO, "no template to replace the present one: %s",
                why.text);
    struct laz_template *successor = kind->successor;
    if (current->made < most)
        return;
    if (laz_template_settles(kind) && !(successor && laz_template_is_ready(successor)))
        return; /* it takes long: the present one serves until then */
    laz_template_fade(current);
    kind->successor = NULL;
    kind->current = successor;
}

/* Sessions of a template have its mounts. */
static void kind_protects(struct template_kind *kind)
{
    struct laz_template *const all[] = {kind->current, kind->successor};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i] && all[i]->box && laz_protection_lost(all[i]->box->protection))
            laz_template_fade(all[i]); /* detached by it */
}

/* What is known of templates with one backend says nothing of another: forgets it. */
static int templates_look(struct laz_box_shared *shared, struct laz_error *err)
{
    struct laz_templates *set = shared->templates;
    const struct laz_backend_choice *choice;
    int rc = laz_box_chosen(shared, &choice, err);

    if (rc || set->ops == choice->ops)
        return rc;
    for (struct laz_template *t = set->all; t; t = t->next)
        if (!t->fades && t->state != TEMPLATE_LOST)
            laz_template_fade(t);
    for (struct template_kind *kind = set->kinds; kind; kind = kind->next)
        kind->failures = 0, kind->again_ms = 0;
    free(set->refused);
    set->refused = NULL;
    set->proven = false;
    set->ops = choice->ops;
    return 0;
}

int laz_template_for(struct laz_box_shared *shared, const struct laz_template_source *source,
                     struct laz_box_purpose *purpose, struct laz_error *err)
{
    enum laz_warm warm = shared->values->pool.warm;
    struct laz_error why = {0};

    if (warm == LAZ_WARM_COLD)
        return 0;
    int rc = shared->templates ? 0 : templates_new(shared, err);
    if (!rc)
        rc = templates_look(shared, err);
    if (rc)
        return rc;
    struct template_kind *kind = templates_kind(shared, source);
    if (!kind || !kind_has_tools(kind, source->tools) || !kind_has_credentials(kind, shared))
        return laz_error_nomem(err);
    if (kind->current)
        laz_template_look(kind->current);
    kind_protects(kind);
    kind_renew(shared, kind);
    if (!kind->current && !shared->templates->refused)
        rc = kind_start(shared, kind, &kind->current, &why);
    if (!rc && kind->current && warm == LAZ_WARM_AUTO && laz_template_settles(kind) &&
        !laz_template_is_ready(kind->current)) {
        laz_log(&shared->driver->log, LAZ_LOG_INFO,
                "the template of %s is not ready yet, so a session is started cold",
                kind->runtime->name);
        return 0;
    }
    if (!rc && kind->current) {
        purpose->kind = &laz_box_from_template;
        purpose->template_of = kind->current;
        return 0;
    }
    if (rc && (laz_box_is_short(&why) || why.code == LAZ_ECONFIG))
        return laz_error_set(err, why.code, why.os_errno, "%s", why.text);
    if (warm == LAZ_WARM_AUTO)
        return 0;
    return laz_error_set(err, shared->templates->refused ? LAZ_EREFUSED : LAZ_ESETUP, 0,
                         "%s (pool.warm is \"template\")",
                         shared->templates->refused ? shared->templates->refused : why.text);
}

int laz_template_check(struct laz_box_shared *shared, const struct laz_template_source *source,
                       struct laz_error *err)
{
    struct laz_box_purpose purpose = {.runtime = source->runtime};
    struct laz_error why = {0};
    int rc = laz_template_for(shared, source, &purpose, &why);
    struct template_kind *kind = shared->templates ? templates_kind(shared, source) : NULL;

    if (!kind || (rc && !laz_box_is_short(&why)))
        return 0; /* no template can be had: nothing is known */
    const bool waits =
        !laz_template_settles(kind) || shared->values->pool.warm == LAZ_WARM_TEMPLATE;
    while (!rc && waits && kind->current && !laz_template_is_up(kind->current))
        laz_driver_turn(shared->driver, LAZ_LOOP_FOREVER);
    if (!rc && kind->is_said)
        why = kind->last;
    return why.code ? laz_error_set(err, why.code, why.os_errno, "%s", why.text) : 0;
}

const char *laz_templates_refused(const struct laz_box_shared *shared)
{
    return shared->templates ? shared->templates->refused : NULL;
}

void laz_templates_end(struct laz_box_shared *shared)
{
    if (!shared->templates)
        return;
    shared->templates->ending = true;
    for (struct laz_template *t = shared->templates->all; t; t = t->next) {
        laz_template_lose(t, LAZ_ECLOSED, "the engine ends");
        laz_box_release(t->trial);
        laz_box_release(t->box);
        t->trial = t->box = NULL;
    }
}

void laz_templates_free(struct laz_box_shared *shared)
{
    struct laz_templates *set = shared->templates;

    if (!set)
        return;
    while (set->all)
        laz_template_free(set->all);
    while (set->kinds) {
        struct template_kind *kind = set->kinds;
        set->kinds = kind->next;
        kind_free(kind);
    }
    laz_timer_stop(set->tidy);
    free(set->refused);
    free(set);
    shared->templates = NULL;
}
