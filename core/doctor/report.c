/* SPDX-License-Identifier: MIT */
/* report.c - the findings, as text or as JSON. */
#include "doctor/doctor_private.h"

#include "base/clock.h"
#include "base/enforce.h"
#include "base/limits.h"
#include "base/visible.h"
#include "os/paths.h"
#include "os/system.h"
#include "os/users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const report_came[] = {
    [DOCTOR_UNTRIED] = "not tried",     [DOCTOR_WORKED] = "worked",
    [DOCTOR_DENIED] = "denied",         [DOCTOR_FAILED] = "could not be tried",
    [DOCTOR_LATE] = DOCTOR_OUT_OF_TIME, [DOCTOR_TIMED_OUT] = "timed out",
};

/* ---- for people ----------------------------------------------------------------------------- */

/* Adds a line with text that may come from a box; control characters are made visible. */
static void report_words(struct laz_buf *text, const char *before, const char *words)
{
    laz_buf_puts(text, before);
    laz_visible_line(text, words, strlen(words));
    laz_buf_putc(text, '\n');
}

/* How an act came out; that of the control where only that one came to no end. */
static const struct doctor_try *report_try(const struct laz_doctor *doctor,
                                           const struct doctor_backend *backend, size_t act)
{
    const struct doctor_try *inside = &backend->inside[act], *outside = &doctor->outside[act];

    return inside->came == DOCTOR_DENIED && outside->came >= DOCTOR_FAILED ? outside : inside;
}

/* Adds a line with the names of the acts of this bit that had this outcome. */
static void report_acts(const struct laz_doctor *doctor, const struct doctor_backend *backend,
                        uint32_t bit, enum doctor_came came, struct laz_buf *text)
{
    struct laz_buf list = LAZ_BUF_INIT;

    for (size_t i = 0; i < DOCTOR_ACTS; i++) {
        const struct doctor_try *tried = report_try(doctor, backend, i);
        if (doctor_acts[i].bit != bit || tried->came != came ||
            (came == DOCTOR_WORKED && doctor_acts[i].list == DOCTOR_REACHES))
            continue;
        laz_buf_printf(&list, "%s%s", list.len ? ", " : "", doctor_acts[i].name);
        if (came == DOCTOR_FAILED)
            laz_buf_printf(&list, " (%s)", tried->note);
    }
    if (list.len) {
        laz_buf_printf(text,
                       "             %s: ", came == DOCTOR_WORKED ? "possible" : report_came[came]);
        report_words(text, "", laz_buf_text(&list));
    }
    laz_buf_fini(&list);
}

/* Adds what became of a network list, and which ways around it were tried. */
static void report_list(const struct doctor_backend *backend, struct laz_buf *text)
{
    const char *before = "a listed name is reached; refused: ";

    if (!backend->list_tried)
        return;
    laz_buf_puts(text, "             list: ");
    if (backend->list_problem) {
        report_words(text, "", backend->list_problem);
        return;
    }
    for (size_t i = 0; i < DOCTOR_ACTS; i++)
        if (doctor_acts[i].list != DOCTOR_NO_LIST && doctor_acts[i].list != DOCTOR_REACHES &&
            backend->inside[i].came == DOCTOR_DENIED) {
            laz_buf_printf(text, "%s%s", before, doctor_acts[i].name);
            before = ", ";
        }
    laz_buf_putc(text, '\n');
}

/* Adds what goes below the line of a bit. */
static void report_details(const struct laz_doctor *doctor, const struct doctor_backend *backend,
                           uint32_t bit, struct laz_buf *text)
{
    static const enum doctor_came shown[] = {DOCTOR_WORKED, DOCTOR_FAILED, DOCTOR_LATE,
                                             DOCTOR_TIMED_OUT};
    const char *remedy = doctor_bit(backend, bit)->remedy;

    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        report_acts(doctor, backend, bit, shown[i], text);
    if (bit == LAZ_ENFORCE_NETWORK)
        report_list(backend, text);
    if (remedy && doctor->acts_are_tried)
        laz_buf_printf(text, "             remedy: %s\n", remedy);
}

/* The limits of the chosen backend have lines with their values. */
static void report_bits(const struct laz_doctor *doctor, const struct doctor_backend *backend,
                        struct laz_buf *text)
{
    const char *name;

    for (unsigned i = 0; (name = laz_enforce_name(1u << i)); i++) {
        const struct doctor_bit *bit = &backend->bits[i];
        if (backend == doctor->chosen && laz_limit_of_bit(1u << i))
            continue;
        laz_buf_printf(text, "  %-10s %-15s %s\n", name, doctor_state_name(bit->state),
                       bit->mechanism[0] ? bit->mechanism : "-");
        report_details(doctor, backend, 1u << i, text);
    }
}

/* A limit of the settings, and what counts it in the chosen backend. */
struct report_limit {
    struct laz_buf value, json, counts; /* as in the configuration; for people, empty: nothing */
    const char *state;
    const struct doctor_bit *bit; /* NULL: it has none, and nothing is tried */
};

/* The limit of the same kind that has a bit: it is counted by the same means. */
static const struct laz_limit *report_kin(const struct laz_limit *limit)
{
    for (size_t i = 0; i < LAZ_N_LIMITS; i++)
        if (laz_limit_table[i].bit && laz_limit_table[i].verdict == limit->verdict &&
            limit->verdict != LAZ_VERDICT_OK)
            return &laz_limit_table[i];
    return NULL;
}

/* The words of mechanisms that the host, or any backend, uses. */
static void report_counts(struct laz_buf *text, const char *mechanism)
{
    static const struct {
        const char *word, *says;
    } words[] = {
        {"cgroup-v1", "control group (cgroup-v1): all processes together"},
        {"cgroup-v2", "control group (cgroup-v2): all processes together"},
        {"watchdog", "watchdog: all processes together, from time to time"}, /* and what not */
        {"rlimit", "rlimit: each process for itself"},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t len = strlen(words[i].word);
        if (strncmp(words[i].word, mechanism, len) == 0 && strchr(",", mechanism[len])) {
            laz_buf_puts(text, words[i].says);
            mechanism += len;
            break;
        }
    }
    laz_buf_puts(text, mechanism);
}

static void report_limit_init(struct report_limit *line, const struct laz_doctor *doctor,
                              const struct laz_limit *limit)
{
    const uint64_t value = laz_limit_value(&doctor->values->limits, limit);
    const struct laz_limit *kin = report_kin(limit);

    *line =
        (struct report_limit){.value = LAZ_BUF_INIT, .json = LAZ_BUF_INIT, .counts = LAZ_BUF_INIT};
    doctor_setting(doctor, limit->key, &line->value, &line->json);
    line->bit = doctor_bit(doctor->chosen, limit->bit);
    line->state = line->bit                ? doctor_state_name(line->bit->state)
                  : value == LAZ_UNLIMITED ? doctor_state_name(DOCTOR_UNSET)
                                           : "not tried";
    if (value == LAZ_UNLIMITED)
        return;
    if (line->bit)
        report_counts(&line->counts, line->bit->mechanism);
    else if (kin)
        report_counts(&line->counts, doctor_bit(doctor->chosen, kin->bit)->mechanism);
    if (!line->bit)
        laz_buf_printf(&line->counts, "%srlimit: each process for itself",
                       line->counts.len ? "; " : "");
}

static void report_limit_fini(struct report_limit *line)
{
    laz_buf_fini(&line->value);
    laz_buf_fini(&line->json);
    laz_buf_fini(&line->counts);
}

static void report_limits(const struct laz_doctor *doctor, struct laz_buf *text)
{
    for (size_t i = 0; i < LAZ_N_LIMITS; i++) {
        const struct laz_limit *limit = &laz_limit_table[i];
        struct report_limit line;
        report_limit_init(&line, doctor, limit);
        laz_buf_printf(text, "  %-18s %-11s  %-15s %s\n", limit->key, laz_buf_text(&line.value),
                       line.state, line.counts.len ? laz_buf_text(&line.counts) : "-");
        if (line.bit)
            report_details(doctor, doctor->chosen, limit->bit, text);
        report_limit_fini(&line);
    }
}

/* Adds a line: that something works, or its problem after the words for a failure. */
static void report_state(struct laz_buf *text, const char *works, const char *fails,
                         const char *problem)
{
    if (problem && strcmp(problem, DOCTOR_OUT_OF_TIME) == 0)
        fails = "";
    report_words(text, problem ? fails : works, problem ? problem : "");
}

static void report_runtimes(const struct laz_doctor *doctor, const struct doctor_backend *backend,
                            struct laz_buf *text)
{
    for (size_t i = 0; i < backend->n_runtimes; i++) {
        laz_buf_printf(text, "  runtime %-10s ", doctor->runtimes.items[i]);
        report_state(text, "works", "does not work: ", backend->runtimes[i]);
    }
    if (!backend->n_runtimes)
        laz_buf_puts(text, "  no runtime is installed (lazaret plugins lists what was found)\n");
}

static void report_templates(const struct laz_doctor *doctor, struct laz_buf *text)
{
    if (!doctor->templates_tried)
        return;
    laz_buf_puts(text, "templates: ");
    report_state(text, "in force", "not in force: ", doctor->templates_problem);
    laz_buf_puts(text, "\n");
}

static void report_credential(const struct laz_doctor *doctor, struct laz_buf *text)
{
    const struct doctor_credential *found = &doctor->credential;
    const char *fails = found->is_tried ? "does not work: " : "not tried: ";

    if (!found->is_known)
        return;
    laz_buf_puts(text, "credential: ");
    if (!found->problem)
        laz_buf_printf(text,
                       "in force, asked by %s: a secret is added to a request that does not "
                       "have it, for its host alone; a path that is not listed is refused; ",
                       found->runtime);
    report_state(text, "code does not have the secret", fails, found->problem);
    laz_buf_puts(text, "\n");
}

static void report_header(const struct laz_doctor *doctor, struct laz_buf *text)
{
    const char *file = laz_settings_file(doctor->options.settings);
    struct laz_os_kernel kernel;
    struct laz_os_user user;

    laz_os_kernel(&kernel);
    laz_os_user(&user);
    char *program = laz_os_own_program();
    laz_buf_printf(text, "lazaret        %s", laz_version());
    report_words(text, program ? ", " : "", program ? program : "");
    free(program);
    laz_buf_printf(text, "system         %s %s %s\n", kernel.name, kernel.release, kernel.machine);
    laz_buf_puts(text, "user           ");
    laz_visible_line(text, user.name, strlen(user.name));
    laz_buf_puts(text, user.name[0] ? "" : "without a name");
    if (user.has_uid)
        laz_buf_printf(text, " (uid %u)", laz_os_uid());
    report_words(text, "\nconfiguration  ", file ? file : "none: built-in defaults");
    const char *usual = laz_registry_usual_name(doctor->registry, doctor->values);
    if (laz_registry_usual_why(doctor->registry)) {
        laz_buf_printf(text, "runtime        %s, where none is named: ", usual);
        report_words(text, "", laz_registry_usual_why(doctor->registry));
    }
    laz_buf_puts(text, "\n");
}

static void report_backend(const struct laz_doctor *doctor, const struct doctor_backend *backend,
                           struct laz_buf *text)
{
    laz_buf_printf(text, "backend %s%s", backend->name,
                   backend == doctor->chosen ? " (chosen by the settings)" : "");
    if (!backend->isolates) {
        laz_buf_puts(text, ": does not isolate; for debugging and comparing; ");
        report_state(text, "it starts", "does not work: ", backend->problem);
    } else if (backend->problem) {
        laz_buf_puts(text, "\n  ");
        report_state(text, "", "does not work: ", backend->problem);
    } else {
        laz_buf_puts(text, "\n");
        report_bits(doctor, backend, text);
    }
    if (backend == doctor->chosen)
        report_limits(doctor, text);
    if (!backend->problem && (backend->isolates || backend->n_runtimes))
        report_runtimes(doctor, backend, text);
    laz_buf_puts(text, "\n");
}

/* What no limit bounds, although the kernel counts it for a user: docs/threat-model.md has all of
 * these quotas. NULL: not known. */
static const char *report_shared(void)
{
    if (strcmp(laz_os_platform(), "linux") != 0)
        return NULL;
    return laz_os_is_root() ? "sessions from one template share pages of pipes and watches of "
                              "epoll"
                            : "sessions share pages of pipes and watches of epoll with all that "
                              "this user runs";
}

void laz_doctor_tell(const struct laz_doctor *doctor, struct laz_buf *text)
{
    report_header(doctor, text);
    for (size_t i = 0; i < doctor->names.n; i++)
        report_backend(doctor, &doctor->backends[i], text);
    if (doctor->groups.len)
        report_words(text, "control groups: ", laz_buf_text(&doctor->groups));
    if (report_shared())
        report_words(text, "shared quotas: ", report_shared());
    report_templates(doctor, text);
    report_credential(doctor, text);
    for (size_t i = 0; i < doctor->problems.n; i++)
        report_words(text, "problem: ", doctor->problems.items[i]);
    if (!doctor->acts_are_tried)
        laz_buf_puts(text,
                     "note: on this system no backend isolates, so nothing was tried from inside a "
                     "session; the list shows what its box reports\n"
                     "remedy: run lazaret in a container, in a virtual machine or in WSL\n");
    if (!doctor->problems.n && !doctor->acts_are_tried)
        laz_buf_puts(text, "sandbox.require asks for nothing that is missing\n");
    else if (!doctor->problems.n)
        laz_buf_printf(text, "all is well: %s enforces what sandbox.require asks for\n",
                       doctor->chosen->name);
}

/* ---- for machines --------------------------------------------------------------------------- */

static void json_try(struct laz_json_write *write, const char *key, const struct doctor_try *tried)
{
    laz_json_begin_object(write, key);
    laz_json_add_text(write, "came", report_came[tried->came]);
    laz_json_add_text(write, "note", tried->note);
    laz_json_end_object(write);
}

static void json_acts(struct laz_json_write *write, const struct laz_doctor *doctor,
                      const struct doctor_backend *backend, uint32_t bit)
{
    laz_json_begin_list(write, "acts");
    for (size_t i = 0; i < DOCTOR_ACTS; i++) {
        if (doctor_acts[i].bit != bit || backend->inside[i].came == DOCTOR_UNTRIED)
            continue;
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "act", doctor_acts[i].name);
        json_try(write, "outside", &doctor->outside[i]);
        json_try(write, "inside", &backend->inside[i]);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

static void json_problem(struct laz_json_write *write, bool works, const char *problem)
{
    laz_json_add_bool(write, "works", works);
    laz_json_add_text(write, "problem", problem);
}

static void json_backend(struct laz_json_write *write, const struct laz_doctor *doctor,
                         const struct doctor_backend *backend)
{
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "name", backend->name);
    json_problem(write, !backend->problem, backend->problem);
    laz_json_add_bool(write, "isolates", backend->isolates);
    laz_json_begin_object(write, "bits");
    const char *name;
    for (unsigned i = 0; !backend->problem && (name = laz_enforce_name(1u << i)); i++) {
        const struct doctor_bit *bit = &backend->bits[i];
        laz_json_begin_object(write, name);
        laz_json_add_text(write, "state", doctor_state_name(bit->state));
        laz_json_add_text(write, "mechanism", bit->mechanism[0] ? bit->mechanism : NULL);
        laz_json_add_text(write, "remedy", bit->remedy);
        json_acts(write, doctor, backend, 1u << i);
        laz_json_end_object(write);
    }
    laz_json_end_object(write);
    laz_json_begin_object(write, "network_list");
    json_problem(write, backend->list_tried && !backend->list_problem, backend->list_problem);
    laz_json_end_object(write);
    laz_json_begin_list(write, "runtimes");
    for (size_t i = 0; i < backend->n_runtimes; i++) {
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "name", doctor->runtimes.items[i]);
        json_problem(write, !backend->runtimes[i], backend->runtimes[i]);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
    laz_json_end_object(write);
}

/* What the text begins with. */
static void json_header(struct laz_json_write *write, const struct laz_doctor *doctor)
{
    struct laz_os_kernel kernel;
    struct laz_os_user user;

    laz_os_kernel(&kernel);
    laz_os_user(&user);
    laz_json_add_text(write, "version", laz_version());
    char *program = laz_os_own_program();
    laz_json_add_text(write, "path", program);
    free(program);
    laz_json_begin_object(write, "system");
    laz_json_add_text(write, "name", kernel.name);
    laz_json_add_text(write, "release", kernel.release);
    laz_json_add_text(write, "machine", kernel.machine);
    laz_json_end_object(write);
    laz_json_begin_object(write, "user");
    laz_json_add_text(write, "name", user.name[0] ? user.name : NULL);
    if (user.has_uid)
        laz_json_add_uint(write, "uid", laz_os_uid());
    laz_json_add_bool(write, "root", laz_os_is_root());
    laz_json_end_object(write);
    laz_json_add_text(write, "configuration", laz_settings_file(doctor->options.settings));
    laz_json_add_text(write, "runtime", laz_registry_usual_name(doctor->registry, doctor->values));
    laz_json_add_text(write, "runtime_why", laz_registry_usual_why(doctor->registry));
}

static void json_limits(struct laz_json_write *write, const struct laz_doctor *doctor)
{
    laz_json_begin_list(write, "limits");
    for (size_t i = 0; doctor->chosen && i < LAZ_N_LIMITS; i++) {
        struct report_limit line;
        report_limit_init(&line, doctor, &laz_limit_table[i]);
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "limit", laz_limit_table[i].key);
        laz_json_add_raw(write, "value", laz_buf_text(&line.json), line.json.len);
        laz_json_add_text(write, "state", line.state);
        laz_json_add_text(write, "counted_by", line.counts.len ? laz_buf_text(&line.counts) : NULL);
        laz_json_end_object(write);
        report_limit_fini(&line);
    }
    laz_json_end_list(write);
}

void laz_doctor_tell_json(const struct laz_doctor *doctor, struct laz_json_write *write)
{
    json_header(write, doctor);
    laz_json_add_text(write, "chosen", doctor->chosen ? doctor->chosen->name : NULL);
    laz_json_begin_object(write, "templates");
    json_problem(write, doctor->templates_tried && !doctor->templates_problem,
                 doctor->templates_problem);
    laz_json_end_object(write);
    laz_json_begin_object(write, "credential");
    json_problem(write, doctor->credential.is_tried && !doctor->credential.problem,
                 doctor->credential.problem);
    laz_json_add_bool(write, "tried", doctor->credential.is_tried);
    laz_json_add_text(write, "runtime", doctor->credential.runtime);
    laz_json_end_object(write);
    laz_json_begin_object(write, "control_groups");
    laz_json_add_bool(write, "works", doctor->has_groups);
    laz_json_add_text(write, "where", doctor->groups.len ? laz_buf_text(&doctor->groups) : NULL);
    laz_json_end_object(write);
    json_limits(write, doctor);
    laz_json_add_text(write, "shared_quotas", report_shared());
    laz_json_add_bool(write, "tried", doctor->acts_are_tried);
    laz_enforce_json(write, "require", doctor->values->sandbox.require);
    laz_json_begin_list(write, "backends");
    for (size_t i = 0; i < doctor->names.n; i++) {
        laz_json_new_line(write);
        json_backend(write, doctor, &doctor->backends[i]);
    }
    laz_json_end_list(write);
    laz_json_add_uint(write, "elapsed_ms", (laz_clock_us() - doctor->time.started_us) / 1000);
}
