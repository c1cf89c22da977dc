/* SPDX-License-Identifier: MIT */
/* plan.c - makes a plan: the functions with which a backend fills it, and the checks afterwards.
 * Side: host.  Input trusted: the policy yes; the backend is a plugin and is checked.
 *
 * An allocation failure is recorded in the plan and checked once, at the end.  A plan that declares
 * more than its backend can enforce is a fault of the plugin; one that enforces less than required
 * is refused, naming each missing bit.  Nothing is started here. */
#include "plan/plan.h"

#include "base/enforce.h"
#include "os/landlock.h"
#include "plugin/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_MAX_NUMBER ((uint64_t)1 << 53) /* beyond it JSON numbers are not exact */
/* What a process may reserve beyond limits.memory where a group counts the memory that is used:
 * stacks, arenas of malloc(3), the heap of a garbage collector. */
#define PLAN_RESERVE ((int64_t)1 << 30)

/* laz_grow; NULL: out of memory, recorded in plan->failed. */
static void *plan_grow(struct laz_plan *plan, void *array, size_t *n, size_t size)
{
    void *item = plan->failed ? NULL : laz_grow(array, n, size);

    plan->failed |= !item;
    return item;
}

/* A copy; NULL: out of memory, recorded in plan->failed. */
static char *plan_copy(struct laz_plan *plan, const char *text)
{
    char *copy = laz_strdup(text);

    plan->failed |= !copy;
    return copy;
}

/* A copy of a name that a backend gives; NULL: as plan_copy, or over 15 bytes. */
static char *plan_name(struct laz_plan *plan, const char *name)
{
    plan->failed |= strlen(name) >= 16;
    return plan->failed ? NULL : plan_copy(plan, name);
}

static void plan_arg(struct laz_plan *plan, const char *arg)
{
    laz_strv_add(&plan->argv, arg);
}

static void plan_env(struct laz_plan *plan, const char *name_value)
{
    laz_strv_add(&plan->env, name_value);
}

static int plan_data(struct laz_plan *plan, const char *what, const void *data, size_t len)
{
    struct laz_plan_data *item = plan_grow(plan, &plan->data, &plan->n_data, sizeof *item);

    if (!item)
        return -1;
    item->what = plan_copy(plan, what);
    laz_buf_append(&item->content, data, len);
    item->child_fd = plan->next_fd++;
    plan->failed |= item->content.failed;
    return plan->failed ? -1 : item->child_fd;
}

static int plan_status(struct laz_plan *plan)
{
    if (plan->status_fd < 0)
        plan->status_fd = plan->next_fd++;
    return plan->status_fd;
}

static const char *plan_file(struct laz_plan *plan, const char *name, const void *data, size_t len)
{
    plan->failed |= !name[0] || name[0] == '.' || strchr(name, '/');
    struct laz_plan_file *item = plan_grow(plan, &plan->files, &plan->n_files, sizeof *item);

    if (!item)
        return NULL;
    item->path =
        laz_strdupf("%s/%s", plan->directory ? plan->directory : "/tmp/lazaret-session", name);
    laz_buf_append(&item->content, data, len);
    plan->failed |= !item->path || item->content.failed;
    return plan->failed ? NULL : item->path;
}

static void plan_agent_limit(struct laz_plan *plan, const char *name, uint64_t value)
{
    struct laz_field_numbers *limits = &plan->agent.limits;
    struct laz_field_number *item;

    if (value > PLAN_MAX_NUMBER) /* LAZ_UNLIMITED, or too large to matter */
        return;
    item = plan_grow(plan, &limits->items, &limits->n, sizeof *item);
    if (item)
        *item = (struct laz_field_number){plan_name(plan, name), (int64_t)value};
}

static void plan_word(struct laz_plan *plan, uint32_t bits, const char *mechanism, bool weakly)
{
    struct laz_plan_word *item = plan_grow(plan, &plan->words, &plan->n_words, sizeof *item);

    if (!item)
        return;
    *item = (struct laz_plan_word){bits, plan_copy(plan, mechanism), weakly};
    if (!weakly)
        plan->enforces |= bits;
}

static void plan_enforces(struct laz_plan *plan, uint32_t bits, const char *mechanism)
{
    plan_word(plan, bits, mechanism, false);
}

static void plan_weakly(struct laz_plan *plan, uint32_t bits, const char *mechanism)
{
    plan_word(plan, bits, mechanism, true);
}

static void plan_ends_by(struct laz_plan *plan, uint32_t how)
{
    plan->ends_by = how;
}

static void plan_agent_filter(struct laz_plan *plan, const char *name, uint32_t bits)
{
    plan->filter = (struct laz_plan_step){true, bits};
    plan->failed |= !name[0];
    free((char *)plan->agent.filter);
    plan->agent.filter = plan_name(plan, name);
}

static void plan_agent_landlock(struct laz_plan *plan, uint32_t abi, uint32_t bits)
{
    plan->landlock = (struct laz_plan_step){true, bits};
    plan->agent.has_landlock = true;
    plan->agent.landlock.abi = abi;
}

static void plan_agent_path(struct laz_plan *plan, const char *path, uint32_t rights,
                            uint32_t optional)
{
    struct laz_field_list *rules = &plan->agent.landlock.rules;
    struct laz_wire_rule *rule = plan_grow(plan, &rules->items, &rules->n, sizeof *rule);
    char letters[7]; /* so many laz_landlock_letters needs */

    if (!rule)
        return;
    laz_landlock_letters(rights, letters);
    *rule = (struct laz_wire_rule){plan_copy(plan, letters), plan_copy(plan, path), optional != 0};
}

static void plan_job_limit(struct laz_plan *plan, const char *name, uint64_t value, uint32_t bits)
{
    enum laz_job_limit limit = laz_job_limit_find(name);

    if (limit == LAZ_JOB_LIMITS) {
        free(plan->unknown);
        plan->unknown = plan_copy(plan, name);
    } else if (value <= PLAN_MAX_NUMBER) {
        plan->job.of[limit] = value;
        plan->job_bits[limit] = bits;
    }
}

static void plan_not_limited(struct laz_plan *plan, const char *name, const char *why)
{
    struct laz_plan_unmet *item = plan_grow(plan, &plan->unmet, &plan->n_unmet, sizeof *item);

    if (item)
        *item = (struct laz_plan_unmet){plan_name(plan, name), plan_copy(plan, why)};
}

/* RLIMIT_DATA counts what is reserved as well (setrlimit(2)). */
static void plan_let_reserve(struct laz_plan *plan)
{
    const char *memory = laz_limit_table[LAZ_LIMIT_MEMORY].name;

    for (size_t i = 0; i < plan->agent.limits.n; i++) {
        struct laz_field_number *item = &plan->agent.limits.items[i];
        if (item->name && strcmp(item->name, memory) == 0)
            item->value += PLAN_RESERVE;
    }
}

/* Either limit on CPU time asks for the property. */
static bool plan_is_limited(const struct laz_limit_values *limits, size_t i)
{
    return laz_limit_value(limits, &laz_limit_table[i]) != LAZ_UNLIMITED ||
           (i == LAZ_LIMIT_CPU && limits->session_cpu_s != LAZ_UNLIMITED);
}

static void plan_watched(struct laz_plan *plan, uint32_t bit, const char *missed)
{
    char word[128];

    snprintf(word, sizeof word, "watchdog%s%s", missed ? ", not " : "", missed ? missed : "");
    plan_word(plan, bit, word, true);
}

/* Adds what the host enforces itself. A control group counts as weak if the session could write to
 * it, because it has the host's uid and may write files. */
static void plan_add_host(struct laz_plan *plan, const struct laz_plan_host *host)
{
    const bool weakly = !host->is_out_of_reach && !(plan->enforces & LAZ_ENFORCE_FS_WRITE);
    const char *const groups[LAZ_N_LIMITS] = {[LAZ_LIMIT_CPU] = host->cpu,
                                              [LAZ_LIMIT_MEMORY] = host->memory,
                                              [LAZ_LIMIT_NPROC] = host->nproc};
    const char *const missed[LAZ_N_LIMITS] = {
        [LAZ_LIMIT_CPU] = host->misses_cpu, [LAZ_LIMIT_MEMORY] = host->misses_memory};

    for (size_t i = 0; i < LAZ_N_LIMITS; i++) {
        const struct laz_limit *limit = &laz_limit_table[i];
        if (!limit->bit || (plan->enforces & limit->bit) || !plan_is_limited(host->limits, i))
            continue;
        if (groups[i])
            plan_word(plan, limit->bit, groups[i], weakly);
        else if (host->is_watched && (limit->kept_by & LAZ_LIMIT_BY_WATCHDOG))
            plan_watched(plan, limit->bit, missed[i]);
        else if (i == LAZ_LIMIT_CPU && host->limits->cpu_s != LAZ_UNLIMITED)
            plan_not_limited(plan, limit->name,
                             "this system has no control groups and does not report the children "
                             "of a process; only limits.session_cpu is enforced");
    }
    if (host->memory)
        plan_let_reserve(plan);
}

/* Appends the names of some bits: "fs_read, network". */
static void plan_bit_names(uint32_t bits, struct laz_buf *text)
{
    for (uint32_t bit = 1; laz_enforce_name(bit); bit <<= 1)
        if (bits & bit)
            laz_buf_printf(text, "%s%s", text->len ? ", " : "", laz_enforce_name(bit));
}

/* What a watchdog keeps weakly is enforced by a control group alone: a hint, where one of these
 * limits is missing. */
static void plan_group_hint(uint32_t missing, struct laz_buf *text)
{
    struct laz_buf names = LAZ_BUF_INIT;
    uint32_t bits = 0;

    for (size_t i = 0; i < LAZ_N_LIMITS; i++)
        if (laz_limit_table[i].bit && (laz_limit_table[i].kept_by & LAZ_LIMIT_BY_WATCHDOG)) {
            bits |= laz_limit_table[i].bit;
            laz_buf_printf(&names, "%s%s", names.len ? " and " : "", laz_limit_table[i].name);
        }
    if (missing & bits)
        laz_buf_printf(
            text,
            "; %s need a control group: run lazaret as root, or where a part of the tree is "
            "delegated to it (systemd-run --user --scope -p Delegate=yes)",
            laz_buf_text(&names));
    laz_buf_fini(&names);
}

/* Appends the remedy of the backend, and the settings that go without what is missing. */
static void plan_remedy(const struct laz_plan *plan, const char *remedy, uint32_t missing,
                        const char *names, struct laz_buf *text)
{
    laz_buf_printf(text, "%s, or write sandbox.require = [", remedy);
    for (uint32_t bit = 1, n = 0; laz_enforce_name(bit); bit <<= 1)
        if (plan->require & ~missing & bit)
            laz_buf_printf(text, "%s\"%s\"", n++ ? ", " : "", laz_enforce_name(bit));
    laz_buf_printf(text, "] to go without: %s", names);
}

static int plan_refuse(const struct laz_plan *plan, const struct laz_backend_ops *ops,
                       uint32_t missing, struct laz_error *err)
{
    struct laz_buf names = LAZ_BUF_INIT, remedy = LAZ_BUF_INIT;

    plan_bit_names(missing, &names);
    if (LAZ_HAS(ops, remedy)) {
        plan_remedy(plan, ops->remedy, missing, laz_buf_text(&names), &remedy);
    } else {
        laz_buf_puts(&remedy,
                     "Use another backend (sandbox.backend), set the limit it needs, or take it "
                     "out of sandbox.require");
        plan_group_hint(missing, &remedy);
    }
    int rc = laz_error_set(err, LAZ_EREFUSED, 0,
                           "backend %s does not enforce what sandbox.require asks for: %s. %s",
                           plan->backend, laz_buf_text(&names), laz_buf_text(&remedy));
    laz_buf_fini(&names);
    laz_buf_fini(&remedy);
    return rc;
}

/* Checks a plan for faults of its backend. `excess`: bits that it declares but cannot enforce. */
static int plan_check(const struct laz_plan *plan, uint32_t excess, struct laz_error *err)
{
    struct laz_buf names = LAZ_BUF_INIT, fault = LAZ_BUF_INIT;
    bool has_job = false;
    int rc = 0;

    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++)
        has_job |= plan->job.of[i] != LAZ_UNLIMITED;
    plan_bit_names(excess, &names);
    if (plan->argv.n == 0)
        laz_buf_puts(&fault, "has no program");
    else if (plan->ends_by > LAZ_END_JOB)
        laz_buf_printf(&fault, "has an unknown way to end (%u)", plan->ends_by);
    else if (plan->unknown)
        laz_buf_printf(&fault, "sets an unknown limit of a job (%s)", plan->unknown);
    else if (has_job && plan->ends_by != LAZ_END_JOB)
        laz_buf_puts(&fault, "sets limits of a job but does not end by the job");
    else if (excess)
        laz_buf_printf(&fault, "declares %s, which it does not claim to be able to enforce",
                       laz_buf_text(&names));
    if (plan->failed || plan->argv.failed || plan->env.failed || plan->programs.failed ||
        plan->protects.failed || names.failed || fault.failed)
        rc = laz_error_nomem(err);
    else if (fault.len)
        rc = laz_error_set(err, LAZ_EPLUGIN, 0, "backend %s: its plan %s", plan->backend,
                           laz_buf_text(&fault));
    laz_buf_fini(&names);
    laz_buf_fini(&fault);
    return rc;
}

/* What the backend has to keep read-only below writable directories. One that cannot is refused; of
 * one that lets code write anywhere nobody expects it. */
static int plan_protects(struct laz_plan *plan, const struct laz_backend_ops *ops,
                         const struct laz_policy *policy, struct laz_error *err)
{
    for (size_t i = 0; i < policy->n_paths; i++) {
        const char *path = policy->paths[i].host;
        if (policy->paths[i].kind != LAZ_PATH_PROTECTED)
            continue;
        if (ops->flags & LAZ_BACKEND_PROTECTS)
            laz_strv_add(&plan->protects, path);
        else if (ops->can_enforce & LAZ_ENFORCE_FS_WRITE)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "sandbox.protect: the backend %s cannot keep %s from being "
                                 "written below a directory of sandbox.write: use another backend, "
                                 "or set sandbox.protect = [] and run nothing that code has left "
                                 "there",
                                 plan->backend, path);
    }
    return 0;
}

/* A list that is not kept would be no network, or all of it. */
static int plan_network(const struct laz_plan *plan, const struct laz_backend_ops *ops,
                        const struct laz_policy *policy, struct laz_error *err)
{
    if (!policy->network || (ops->flags & LAZ_BACKEND_NETWORK))
        return 0;
    return laz_error_set(
        err, LAZ_ECONFIG, 0,
        "network.allow: the backend %s cannot keep a network list, for which a box "
        "needs a network namespace of its own: use a backend that makes one "
        "(sandbox.backend; `lazaret doctor` shows which), or set network.allow = []",
        plan->backend);
}

int laz_plan_make(const struct laz_backend_ops *ops, const char *backend,
                  const struct laz_policy *policy, const struct laz_plan_host *host,
                  uint32_t require, const char *directory, struct laz_plan **plan,
                  struct laz_error *err)
{
    const struct laz_plan_api api = {
        .size = sizeof api,
        .json = laz_json_api(),
        .arg = plan_arg,
        .env = plan_env,
        .data = plan_data,
        .status = plan_status,
        .file = plan_file,
        .agent_limit = plan_agent_limit,
        .enforces = plan_enforces,
        .weakly = plan_weakly,
        .ends_by = plan_ends_by,
        .agent_filter = plan_agent_filter,
        .agent_landlock = plan_agent_landlock,
        .agent_path = plan_agent_path,
        .job_limit = plan_job_limit,
        .not_limited = plan_not_limited,
    };
    struct laz_error why = {0};
    struct laz_plan *made = calloc(1, sizeof *made);

    if (!made)
        return laz_error_nomem(err);
    made->agent.has_limits = true;
    made->status_fd = -1;
    made->next_fd = 3;
    made->job = laz_job_limits_none();
    made->require = require;
    made->backend = laz_strdup(backend);
    made->directory = laz_strdup(directory);
    if (!made->backend || (directory && !made->directory))
        made->failed = true;
    made->any_program = !policy->programs;
    for (const char *const *program = policy->programs; program && *program; program++)
        laz_strv_add(&made->programs, *program);
    int rc = plan_protects(made, ops, policy, &why);
    if (!rc)
        rc = plan_network(made, ops, policy, &why);
    if (!rc) {
        rc = ops->plan(&api, policy, made, &why);
        rc = laz_plugin_said(rc, LAZ_PLUGIN_BACKEND, backend, "plan", &why);
        made->agent.landlock.lets_network = policy->network != 0;
    }
    if (rc) {
        laz_error_set(err, rc, why.os_errno, "%s", why.text);
    } else {
        uint32_t excess = made->enforces & ~ops->can_enforce;
        if (host && !excess)
            plan_add_host(made, host);
        rc = plan_check(made, excess, err);
        if (!rc && (require & ~made->enforces))
            rc = plan_refuse(made, ops, require & ~made->enforces, err);
    }
    if (rc) {
        laz_plan_free(made);
        return rc;
    }
    *plan = made;
    return 0;
}

int laz_plan_of_session(const struct laz_plan *plan, const char *confine, struct laz_plan **of,
                        struct laz_error *err)
{
    struct laz_plan *made = calloc(1, sizeof *made);

    if (!made)
        return laz_error_nomem(err);
    *made = (struct laz_plan){
        .backend = laz_strdup(plan->backend),
        .status_fd = -1,
        .confine = confine,
        .filter = plan->filter,
        .landlock = plan->landlock,
        .require = plan->require,
        .ends_by = plan->ends_by,
        .job = plan->job,
        .any_program = plan->any_program,
    };
    memcpy(made->job_bits, plan->job_bits, sizeof made->job_bits);
    for (size_t i = 0; i < plan->n_words; i++)
        plan_word(made, plan->words[i].bits, plan->words[i].mechanism, plan->words[i].weakly);
    made->enforces = plan->enforces;
    if (made->failed || !made->backend) {
        laz_plan_free(made);
        return laz_error_nomem(err);
    }
    *of = made;
    return 0;
}

/* Removes bits that turned out not to be enforced. */
static void plan_lose(struct laz_plan *plan, uint32_t lost)
{
    plan->enforces &= ~lost;
    for (size_t i = 0; i < plan->n_words; i++)
        if (!plan->words[i].weakly)
            plan->words[i].bits &= ~lost;
}

int laz_plan_confined(struct laz_plan *plan, const struct laz_strv *steps, uint32_t *lost,
                      struct laz_error *err)
{
    const struct {
        const char *name;
        const struct laz_plan_step *step;
    } arranged[] = {{"filter", &plan->filter}, {"landlock", &plan->landlock}};
    struct laz_buf names = LAZ_BUF_INIT;
    int rc = 0;

    *lost = 0;
    for (size_t i = 0; i < sizeof arranged / sizeof arranged[0]; i++)
        if (arranged[i].step->asked && !laz_strv_has(steps, arranged[i].name))
            *lost |= arranged[i].step->bits & plan->enforces;
    plan_lose(plan, *lost);
    plan_bit_names(*lost & plan->require, &names);
    if (*lost & plan->require)
        rc = laz_error_set(err, LAZ_ESETUP, 0,
                           "the agent did not apply the confinement that sandbox.require asks for: "
                           "%s",
                           laz_buf_text(&names));
    laz_buf_fini(&names);
    return rc;
}

int laz_plan_job_lacks(struct laz_plan *plan, uint32_t missing, bool strict, uint32_t *lost,
                       struct laz_buf *names, struct laz_error *err)
{
    *lost = 0;
    for (size_t i = 0; i < LAZ_JOB_LIMITS; i++) {
        if (!(missing & 1u << i))
            continue;
        *lost |= plan->job_bits[i] & plan->enforces;
        laz_buf_printf(names, "%s%s", names->len ? ", " : "",
                       laz_job_limit_name((enum laz_job_limit)i));
    }
    plan_lose(plan, *lost);
    bool is_required = *lost & plan->require;
    if (!missing || (!strict && !is_required))
        return 0;
    return laz_error_set(err, LAZ_ESETUP, 0,
                         "backend %s: this system does not enforce limits of the job that were "
                         "set: %s%s. To go without, set them to \"unlimited\"%s, or sandbox.strict "
                         "to false for a warning instead",
                         plan->backend, laz_buf_text(names),
                         is_required ? ", and sandbox.require asks for it" : "",
                         is_required ? " and remove them from sandbox.require" : "");
}

bool laz_backend_is_for(const struct laz_backend_ops *ops, const char *platform)
{
    size_t len = strlen(platform);

    for (const char *p = ops->platforms ? ops->platforms : ""; *p;) {
        size_t n = strcspn(p, " ");

        if (n == len && strncmp(p, platform, n) == 0)
            return true;
        p += n + (p[n] == ' ');
    }
    return false;
}

bool laz_backend_hides_files(const struct laz_backend_ops *ops)
{
    return ops->can_enforce & LAZ_ENFORCE_FS_READ;
}

bool laz_backend_has_own_files(const struct laz_backend_ops *ops)
{
    return laz_backend_hides_files(ops) && !(ops->flags & LAZ_BACKEND_HOST_FILES);
}

void laz_plan_free(struct laz_plan *plan)
{
    if (!plan)
        return;
    struct laz_field_numbers *limits = &plan->agent.limits;
    struct laz_wire_rule *rules = plan->agent.landlock.rules.items;
    free(plan->backend);
    free(plan->directory);
    laz_strv_fini(&plan->argv);
    laz_strv_fini(&plan->env);
    laz_strv_fini(&plan->programs);
    laz_strv_fini(&plan->protects);
    for (size_t i = 0; i < plan->n_data; i++) {
        free(plan->data[i].what);
        laz_buf_fini(&plan->data[i].content);
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        free(plan->files[i].path);
        laz_buf_fini(&plan->files[i].content);
    }
    for (size_t i = 0; i < plan->n_words; i++)
        free(plan->words[i].mechanism);
    for (size_t i = 0; i < plan->n_unmet; i++) {
        free(plan->unmet[i].name);
        free(plan->unmet[i].why);
    }
    for (size_t i = 0; i < limits->n; i++)
        free((char *)limits->items[i].name);
    for (size_t i = 0; i < plan->agent.landlock.rules.n; i++) {
        free((char *)rules[i].rights);
        free((char *)rules[i].path);
    }
    free(limits->items);
    free(rules);
    free((char *)plan->agent.filter);
    free(plan->unmet);
    free(plan->unknown);
    free(plan->data);
    free(plan->files);
    free(plan->words);
    free(plan);
}
