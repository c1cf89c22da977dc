/* SPDX-License-Identifier: MIT */
/* box_report.c - what can be said of a box: its usage, the limits that nothing keeps, and why no
 * session came of it.
 * Side: host.  Input trusted: no (the words of its programs). */
#include "box/box_private.h"

#include "os/system.h"

void laz_box_usage(struct laz_box *box, uint64_t *cpu_us, uint64_t *max_rss_bytes)
{
    if (box->kind->usage) {
        box->kind->usage(box, cpu_us, max_rss_bytes);
        return;
    }
    uint64_t group_us = box->host.cpu ? laz_cgroup_cpu_us(box->group) : 0;
    uint64_t peak = box->host.memory ? laz_cgroup_peak_bytes(box->group) : 0;

    if (box->kind->find_usage && (!group_us || !peak))
        box->kind->find_usage(box);
    *cpu_us = *max_rss_bytes = 0;
    if (laz_box_is_ended(box)) {
        *cpu_us = box->exit.cpu_us > box->cpu_us ? box->exit.cpu_us : box->cpu_us;
        *max_rss_bytes = box->exit.max_rss_bytes;
    } else if (!group_us || !peak) {
        laz_os_usage_read(&box->usage, cpu_us, max_rss_bytes);
    }
    *cpu_us = group_us ? group_us : *cpu_us;
    *max_rss_bytes = peak ? peak : *max_rss_bytes;
}

void laz_box_tell_unmet(const struct laz_box *box, const struct laz_strv *notes)
{
    struct laz_box_shared *shared = box->shared;

    for (size_t i = 0; i < notes->n; i++) {
        if (laz_strv_has(&shared->unmet, notes->items[i]))
            continue;
        laz_strv_add(&shared->unmet, notes->items[i]);
        laz_log(&shared->driver->log, LAZ_LOG_WARNING, "%s", notes->items[i]);
    }

    for (size_t i = 0; i < box->plan->n_unmet; i++) {
        const struct laz_plan_unmet *unmet = &box->plan->unmet[i];
        if (laz_strv_has(&shared->unmet, unmet->name))
            continue;
        laz_strv_add(&shared->unmet, unmet->name);
        laz_log(&shared->driver->log, LAZ_LOG_WARNING, "limits.%s: %s", unmet->name, unmet->why);
    }
}

int laz_box_lacks_limits(struct laz_box *box, uint32_t missing, struct laz_error *err)
{
    struct laz_buf names = LAZ_BUF_INIT;
    uint32_t lost;
    int rc = laz_plan_job_lacks(box->plan, missing, box->shared->values->sandbox.strict, &lost,
                                &names, err);

    if (!rc && missing && !laz_strv_has(&box->shared->unmet, laz_buf_text(&names))) {
        laz_strv_add(&box->shared->unmet, laz_buf_text(&names));
        laz_log(&box->shared->driver->log, LAZ_LOG_WARNING,
                "this system does not keep limits of the job that were set: %s",
                laz_buf_text(&names));
    }
    laz_buf_fini(&names);
    return rc;
}

void laz_box_note_end_of_reaper(const struct laz_box *box)
{
    if (box->plan && box->plan->ends_by == LAZ_END_REAP && box->uid == LAZ_SPAWN_SAME_ID &&
        laz_box_was_authenticated(box) && box->exit.known && box->exit.signal)
        laz_log(
            &box->shared->driver->log, LAZ_LOG_ERROR,
            "the reaper of a session was killed: processes that the session left may still run");
}

bool laz_box_agent_end(const struct laz_box *box, int *signal, int *status)
{
    return box->kind->agent_end(box, signal, status);
}

static bool box_explain_by_backend(struct laz_box *box, bool timed_out, struct laz_buf *text)
{
    struct laz_buf facts = LAZ_BUF_INIT;
    char sentence[768] = "";

    if (!box->ops || !LAZ_HAS(box->ops, explain) || laz_box_was_authenticated(box) || !box->plan)
        return false; /* it did not fail in the backend's program */
    laz_os_facts("", &facts);
    bool own_end = box->exit.known && !laz_box_was_killed(box);
    const struct laz_backend_failure failure = {
        .size = sizeof failure,
        .program = box->plan->argv.items[0],
        .output = laz_buf_text(&box->complaint),
        .output_len = box->complaint.len,
        .facts = laz_buf_text(&facts),
        .exit_status = own_end && !box->exit.signal ? box->exit.status : -1,
        .signal = own_end ? box->exit.signal : 0,
        .timed_out = timed_out,
        .started = box->has_child,
    };
    int rc = box->ops->explain(&failure, sentence, sizeof sentence);
    laz_buf_fini(&facts);
    sentence[sizeof sentence - 1] = '\0'; /* a plugin wrote it */
    if (rc == 0)
        laz_buf_puts(text, sentence);
    return rc == 0;
}

bool laz_box_explain(struct laz_box *box, bool timed_out, struct laz_buf *text)
{
    const char *words = laz_buf_text(&box->complaint);
    const char *why = box->kind->why && !box->complaint.len ? box->kind->why(box) : NULL;

    if (box_explain_by_backend(box, timed_out, text))
        return true;
    if (box->complaint.len) {
        size_t len = box->complaint.len;
        while (len && (words[len - 1] == '\n' || words[len - 1] == ' '))
            len--;
        laz_buf_append(text, words, len);
        if (laz_box_is_ended(box) && box->exit.known && !box->exit.signal)
            laz_buf_printf(text, " (status %d)", box->exit.status);
    } else if (why) {
        laz_buf_puts(text, why);
    } else if (box->exit.known && box->exit.signal) {
        laz_buf_printf(text, "the process was ended by signal %d", box->exit.signal);
    } else {
        laz_buf_printf(text, "the process ended with status %d and said nothing", box->exit.status);
        if (box->exit.known && !box->exit.status && !laz_box_was_authenticated(box))
            laz_buf_printf(text, "; is %s the agent of this lazaret?", box->shared->agent);
    }
    return false;
}
