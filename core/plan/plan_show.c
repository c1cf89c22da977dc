/* SPDX-License-Identifier: MIT */
/* plan_show.c - a plan as JSON and as text for people, whole or in parts.
 *
 * Data that consists of several texts, each ended by a NUL (bwrap's arguments), is shown as a list,
 * because that is readable. */
#include "base/enforce.h"
#include "plan/plan.h"

#include <string.h>

#define SHOW_WORDS 12 /* of a command, on one line */

/* ---- confine -------------------------------------------------------------------------------- */

void laz_plan_confine_json(const struct laz_plan *plan, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};
    struct laz_wire_confine confine = plan->agent;

    if (plan->confine) {
        laz_buf_puts(json, plan->confine);
        return;
    }
    /* the steps without which the settings allow no session */
    if (plan->filter.bits & plan->require)
        laz_strv_add(&confine.required, "filter");
    if (plan->landlock.bits & plan->require)
        laz_strv_add(&confine.required, "landlock");
    laz_fields_add(&write, NULL, &laz_wire_confine, &confine);
    json->failed |= confine.required.failed;
    laz_strv_fini(&confine.required);
}

/* ---- the rest of a plan --------------------------------------------------------------------- */

/* The mechanism of a bit: what enforces it, else what limits it more weakly; NULL: nothing. */
static const struct laz_plan_word *show_word(const struct laz_plan *plan, uint32_t bit)
{
    const struct laz_plan_word *weak = NULL;

    for (size_t i = 0; i < plan->n_words; i++) {
        if (!(plan->words[i].bits & bit))
            continue;
        if (!plan->words[i].weakly)
            return &plan->words[i];
        weak = &plan->words[i];
    }
    return weak;
}

void laz_plan_isolation_json(const struct laz_plan *plan, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "backend", plan->backend);
    laz_enforce_json(&write, "enforces", plan->enforces);
    laz_json_begin_object(&write, "mechanisms");
    for (uint32_t bit = 1; laz_enforce_name(bit); bit <<= 1) {
        const struct laz_plan_word *word = show_word(plan, bit);
        if (word)
            laz_json_add_text(&write, laz_enforce_name(bit), word->mechanism);
    }
    laz_json_end_object(&write);
    laz_json_add_text(&write, "programs", plan->any_program ? "any" : "listed");
    laz_json_end_object(&write);
}

static bool show_is_list(const struct laz_buf *content)
{
    return content->len && content->data[content->len - 1] == '\0';
}

static void show_content_json(struct laz_json_write *write, const struct laz_buf *content)
{
    if (!show_is_list(content)) {
        laz_json_add_bytes(write, "content", laz_buf_text(content), content->len);
        return;
    }
    laz_json_begin_list(write, "content");
    for (size_t at = 0; at < content->len; at += strlen(content->data + at) + 1)
        laz_json_add_text(write, NULL, content->data + at);
    laz_json_end_list(write);
}

static const char *const show_ends[] = {
    [LAZ_END_KILL] = "kill",
    [LAZ_END_REAP] = "reap",
    [LAZ_END_JOB] = "job",
};

static void show_job_json(struct laz_json_write *write, const struct laz_plan *plan)
{
    laz_json_begin_object(write, "job");
    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
        if (plan->job.of[i] != LAZ_UNLIMITED)
            laz_json_add_uint(write, laz_job_limit_name((enum laz_job_limit)i), plan->job.of[i]);
    laz_json_end_object(write);
    laz_json_begin_object(write, "not_limited");
    for (size_t i = 0; i < plan->n_unmet; i++)
        laz_json_add_text(write, plan->unmet[i].name, plan->unmet[i].why);
    laz_json_end_object(write);
}

static void show_files_json(struct laz_json_write *write, const struct laz_plan *plan)
{
    laz_json_begin_list(write, "descriptors");
    for (size_t i = 0; i < plan->n_data; i++) {
        laz_json_begin_object(write, NULL);
        laz_json_add_int(write, "fd", plan->data[i].child_fd);
        laz_json_add_text(write, "what", plan->data[i].what);
        show_content_json(write, &plan->data[i].content);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
    if (plan->status_fd >= 0)
        laz_json_add_int(write, "status_fd", plan->status_fd);
    else
        laz_json_add_null(write, "status_fd");
    laz_json_begin_list(write, "files");
    for (size_t i = 0; i < plan->n_files; i++) {
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "path", plan->files[i].path);
        show_content_json(write, &plan->files[i].content);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

void laz_plan_json(const struct laz_plan *plan, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "backend", plan->backend);
    laz_json_add_texts(&write, "argv", &plan->argv);
    laz_json_add_texts(&write, "environment", &plan->env);
    show_files_json(&write, plan);
    show_job_json(&write, plan);
    laz_json_add_key(&write, "confine");
    laz_plan_confine_json(plan, json);
    laz_json_add_key(&write, "isolation");
    laz_plan_isolation_json(plan, json);
    if (plan->any_program)
        laz_json_add_text(&write, "programs", "any");
    else
        laz_json_add_texts(&write, "programs", &plan->programs);
    laz_json_add_texts(&write, "protects", &plan->protects);
    laz_json_add_text(&write, "ends_by", show_ends[plan->ends_by]);
    laz_json_end_object(&write);
}

/* ---- text for people ------------------------------------------------------------------------ */

/* Appends a word, quoted as in a shell if it has special characters. */
static void show_word_text(struct laz_buf *text, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-./=:,@%+";

    if (word[0] && strspn(word, plain) == strlen(word)) {
        laz_buf_puts(text, word);
        return;
    }
    laz_buf_putc(text, '\'');
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            laz_buf_puts(text, "'\\''");
        else if (*c == '\n')
            laz_buf_puts(text, "\\n");
        else
            laz_buf_putc(text, *c);
    }
    laz_buf_putc(text, '\'');
}

/* Appends a list of words, each option with its values on a line. */
static void show_list_text(struct laz_buf *text, const struct laz_buf *content)
{
    for (size_t at = 0; at < content->len; at += strlen(content->data + at) + 1) {
        const char *word = content->data + at;
        bool option = strncmp(word, "--", 2) == 0;
        laz_buf_puts(text, option || at == 0 ? "\n    " : " ");
        show_word_text(text, word);
    }
    laz_buf_putc(text, '\n');
}

static void show_content_text(struct laz_buf *text, const struct laz_buf *content)
{
    if (show_is_list(content)) {
        show_list_text(text, content);
        return;
    }
    const char *p = laz_buf_text(content);
    laz_buf_putc(text, '\n');
    while (*p) {
        size_t line = strcspn(p, "\n");
        laz_buf_printf(text, "    %.*s\n", (int)line, p);
        p += line + (p[line] == '\n');
    }
}

static void show_isolation_text(const struct laz_plan *plan, struct laz_buf *text)
{
    for (uint32_t bit = 1; laz_enforce_name(bit); bit <<= 1) {
        const struct laz_plan_word *word = show_word(plan, bit);
        const char *how = !word ? "not limited" : word->weakly ? "weakly" : "enforced";
        laz_buf_printf(text, "  %-10s %s", laz_enforce_name(bit), how);
        if (word)
            laz_buf_printf(text, " (%s)", word->mechanism);
        laz_buf_putc(text, '\n');
    }
}

/* Appends the limits, by who enforces them, and those that nothing enforces. */
static void show_limits_text(const struct laz_plan *plan, struct laz_buf *text)
{
    if (plan->ends_by == LAZ_END_JOB)
        laz_buf_puts(text, "\nlimits that the host sets on the job, on all its processes\n");
    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
        if (plan->job.of[i] != LAZ_UNLIMITED)
            laz_buf_printf(text, "  %-14s %llu\n", laz_job_limit_name((enum laz_job_limit)i),
                           (unsigned long long)plan->job.of[i]);
    if (plan->agent.limits.n || plan->ends_by != LAZ_END_JOB)
        laz_buf_puts(text, "\nlimits that the agent sets on itself\n");
    for (size_t i = 0; i < plan->agent.limits.n; i++)
        laz_buf_printf(text, "  %-10s %lld\n", plan->agent.limits.items[i].name,
                       (long long)plan->agent.limits.items[i].value);
    if (plan->n_unmet)
        laz_buf_puts(text, "\nlimits of the settings that nothing enforces\n");
    for (size_t i = 0; i < plan->n_unmet; i++)
        laz_buf_printf(text, "  %-10s %s\n", plan->unmet[i].name, plan->unmet[i].why);
}

static void show_confinement_text(const struct laz_plan *plan, struct laz_buf *text)
{
    const struct laz_wire_rule *rules = plan->agent.landlock.rules.items;

    if (!plan->filter.asked && !plan->landlock.asked)
        return;
    laz_buf_puts(text, "\nfurther confinement that the agent applies to itself\n");
    for (size_t i = 0; i < plan->agent.landlock.rules.n; i++) {
        laz_buf_printf(text, "  landlock   %s ", rules[i].rights);
        show_word_text(text, rules[i].path);
        laz_buf_puts(text, rules[i].is_optional ? " (if it exists)\n" : "\n");
    }
    if (plan->agent.landlock.lets_network)
        laz_buf_puts(text,
                     "  landlock   does not restrict TCP: the box has a network of its own\n");
    if (plan->filter.asked)
        laz_buf_printf(text, "  filter     system calls: %s\n", plan->agent.filter);
}

/* Appends a command on one line, or, if it has many words, each option with its values on a line.
 */
static void show_argv_text(struct laz_buf *text, const struct laz_strv *argv)
{
    for (size_t i = 0; i < argv->n; i++) {
        bool begins = i == 0 || (argv->n > SHOW_WORDS && argv->items[i][0] == '-');
        laz_buf_puts(text, i == 0 ? "\n  " : begins ? "\n    " : " ");
        show_word_text(text, argv->items[i]);
    }
}

void laz_plan_text(const struct laz_plan *plan, struct laz_buf *text)
{
    laz_buf_printf(text, "backend %s\n\nprogram", plan->backend);
    show_argv_text(text, &plan->argv);
    laz_buf_puts(text, "\n\nenvironment of the program\n");
    for (size_t i = 0; i < plan->env.n; i++)
        laz_buf_printf(text, "  %s\n", plan->env.items[i]);
    if (!plan->env.n)
        laz_buf_puts(text, "  (empty)\n");
    laz_buf_puts(text, "\ndescriptors\n");
    for (size_t i = 0; i < plan->n_data; i++) {
        laz_buf_printf(text, "  %d: %s", plan->data[i].child_fd, plan->data[i].what);
        show_content_text(text, &plan->data[i].content);
    }
    if (plan->status_fd >= 0)
        laz_buf_printf(text, "  %d: status documents, written by the program\n", plan->status_fd);
    for (size_t i = 0; i < plan->n_files; i++) {
        laz_buf_printf(text, "\nfile %s", plan->files[i].path);
        show_content_text(text, &plan->files[i].content);
    }
    show_limits_text(plan, text);
    show_confinement_text(plan, text);
    laz_buf_puts(text, "\nprograms that can be started inside\n");
    for (size_t i = 0; i < plan->programs.n; i++)
        laz_buf_printf(text, "  %s\n", plan->programs.items[i]);
    if (!plan->programs.n)
        laz_buf_printf(text, "  (%s)\n", plan->any_program ? "any that can be seen" : "none");
    laz_buf_puts(text, "\npaths that stay read-only in writable directories\n");
    for (size_t i = 0; i < plan->protects.n; i++)
        laz_buf_printf(text, "  %s\n", plan->protects.items[i]);
    if (!plan->protects.n)
        laz_buf_puts(text, "  (none)\n");
    laz_buf_puts(text, "\nwhat is enforced, and by what\n");
    show_isolation_text(plan, text);
}
