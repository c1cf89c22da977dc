/* SPDX-License-Identifier: MIT */
/* doctor_report.c - prints the findings, as text or as JSON. */
#include "cli/doctor.h"

#include "base/clock.h"
#include "base/enforce.h"

#include <stdio.h>
#include <string.h>

void doctor_progress(struct doctor *doctor, const char *backend, const char *what)
{
    if (!doctor->on_terminal)
        return;
    if (doctor->shown)
        fputs("\r\033[K", stderr);
    doctor->shown = backend != NULL;
    if (backend)
        fprintf(stderr, "lazaret: %.40s: %.60s", backend, what);
    fflush(stderr);
}

/* ---- for people ----------------------------------------------------------------------------- */

/* Prints a line with text that may come from a box; control characters are made visible. */
static void report_words(struct cli *cli, const char *before, const char *words)
{
    struct laz_buf line = LAZ_BUF_INIT;

    laz_visible_line(&line, words, strlen(words));
    cli_printf(cli, "%s%s\n", before, laz_buf_text(&line));
    laz_buf_fini(&line);
}

/* Prints the names of the acts of this bit that had this outcome. */
static void report_acts(struct cli *cli, const struct doctor_backend *backend, uint32_t bit,
                        const char *title, enum doctor_came came)
{
    struct laz_buf list = LAZ_BUF_INIT;

    for (size_t i = 0; i < DOCTOR_ACTS; i++) {
        if (doctor_acts[i].bit != bit || backend->inside[i].came != came)
            continue;
        laz_buf_printf(&list, "%s%s", list.len ? ", " : "", doctor_acts[i].name);
        if (came == DOCTOR_FAILED)
            laz_buf_printf(&list, " (%s)", backend->inside[i].note);
    }
    if (list.len)
        report_words(cli, title, laz_buf_text(&list));
    laz_buf_fini(&list);
}

/* True for a backend that enforces nothing at all: one sentence then replaces the remedies. */
static bool report_keeps_nothing(const struct doctor_backend *backend)
{
    for (unsigned i = 0; i < DOCTOR_BITS; i++)
        if (backend->bits[i].full)
            return false;
    return true;
}

static void report_bits(const struct doctor *doctor, const struct doctor_backend *backend)
{
    struct cli *cli = doctor->cli;
    bool nothing = report_keeps_nothing(backend);

    const char *name;

    for (unsigned i = 0; (name = laz_enforce_name(1u << i)); i++) {
        const struct doctor_bit *bit = &backend->bits[i];
        cli_printf(cli, "  %-10s %-15s %s\n", name, doctor_state_name(bit->state),
                   bit->mechanism[0] ? bit->mechanism : "-");
        if (bit->state == DOCTOR_IN_FORCE || bit->state == DOCTOR_WEAK || !nothing) {
            report_acts(cli, backend, 1u << i, "             possible: ", DOCTOR_WORKED);
            report_acts(cli, backend, 1u << i, "             could not be tried: ", DOCTOR_FAILED);
        }
        if (bit->remedy && !nothing && doctor->acts_are_tried)
            cli_printf(cli, "             remedy: %s\n", bit->remedy);
    }
    if (nothing && doctor->acts_are_tried)
        cli_puts(cli, "  remedy: this backend does not isolate; it is for debugging and comparing "
                      "(sandbox.backend = \"auto\" never takes it)\n");
}

/* Prints a line: that something works, or the words that say so of a failure and its problem. */
static void report_state(struct cli *cli, const char *works, const char *fails, const char *problem)
{
    report_words(cli, problem ? fails : works, problem ? problem : "");
}

static void report_runtimes(const struct doctor *doctor, const struct doctor_backend *backend)
{
    struct cli *cli = doctor->cli;

    for (size_t i = 0; i < backend->n_runtimes; i++) {
        cli_printf(cli, "  runtime %-10s ", doctor->runtimes.items[i]);
        report_state(cli, "works", "does not work: ", backend->runtimes[i]);
    }
    if (!backend->n_runtimes)
        cli_puts(cli, "  no runtime is installed (lazaret plugins lists what was found)\n");
}

static void report_templates(const struct doctor *doctor)
{
    if (!doctor->templates_tried)
        return;
    report_state(doctor->cli, "templates: in force",
                 "templates: not in force: ", doctor->templates_problem);
    cli_puts(doctor->cli, "\n");
}

void doctor_report(struct doctor *doctor)
{
    struct cli *cli = doctor->cli;

    for (size_t i = 0; i < doctor->names.n; i++) {
        const struct doctor_backend *backend = &doctor->backends[i];

        cli_printf(cli, "backend %s%s\n", backend->name,
                   backend == doctor->chosen ? " (chosen by the settings)" : "");
        if (backend->problem) {
            report_words(cli, "  does not work: ", backend->problem);
        } else {
            report_bits(doctor, backend);
            report_runtimes(doctor, backend);
        }
        cli_puts(cli, "\n");
    }
    if (doctor->groups.len)
        report_words(cli, "control groups: ", laz_buf_text(&doctor->groups));
    report_templates(doctor);
    for (size_t i = 0; i < doctor->problems.n; i++)
        report_words(cli, "problem: ", doctor->problems.items[i]);
    if (!doctor->acts_are_tried)
        cli_puts(cli,
                 "note: on this system no backend isolates, so nothing was tried from inside a "
                 "session; the list shows what its box reports\n"
                 "remedy: run lazaret in a container, in a virtual machine or in WSL\n");
    if (!doctor->problems.n && !doctor->acts_are_tried)
        cli_puts(cli, "sandbox.require asks for nothing that is missing\n");
    else if (!doctor->problems.n)
        cli_printf(cli, "all is well: %s enforces what sandbox.require asks for\n",
                   doctor->chosen->name);
}

/* ---- for machines --------------------------------------------------------------------------- */

static void json_try(struct laz_json_write *write, const char *key, const struct doctor_try *tried)
{
    static const char *const words[] = {
        [DOCTOR_UNTRIED] = "not tried",
        [DOCTOR_WORKED] = "worked",
        [DOCTOR_DENIED] = "denied",
        [DOCTOR_FAILED] = "could not be tried",
    };

    laz_json_begin_object(write, key);
    laz_json_add_text(write, "came", words[tried->came]);
    laz_json_add_text(write, "note", tried->note);
    laz_json_end_object(write);
}

static void json_acts(struct laz_json_write *write, const struct doctor *doctor,
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

static void json_backend(struct laz_json_write *write, const struct doctor *doctor,
                         const struct doctor_backend *backend)
{
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "name", backend->name);
    json_problem(write, !backend->problem, backend->problem);
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

void doctor_report_json(struct doctor *doctor)
{
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &json};

    laz_json_begin_object(&write, NULL);
    laz_json_add_bool(&write, "ok", !doctor->problems.n);
    laz_json_add_text(&write, "chosen", doctor->chosen ? doctor->chosen->name : NULL);
    laz_json_begin_object(&write, "templates");
    json_problem(&write, doctor->templates_tried && !doctor->templates_problem,
                 doctor->templates_problem);
    laz_json_end_object(&write);
    laz_json_begin_object(&write, "control_groups");
    laz_json_add_bool(&write, "works", doctor->has_groups);
    laz_json_add_text(&write, "where", doctor->groups.len ? laz_buf_text(&doctor->groups) : NULL);
    laz_json_end_object(&write);
    laz_json_add_bool(&write, "tried", doctor->acts_are_tried);
    cli_enforce_json(&write, "require", doctor->cli->values->sandbox.require);
    laz_json_add_texts(&write, "problems", &doctor->problems);
    laz_json_begin_list(&write, "backends");
    for (size_t i = 0; i < doctor->names.n; i++) {
        laz_json_new_line(&write);
        json_backend(&write, doctor, &doctor->backends[i]);
    }
    laz_json_end_list(&write);
    laz_json_add_uint(&write, "elapsed_ms", laz_clock_ms() - doctor->started_ms);
    laz_json_end_object(&write);
    cli_print(doctor->cli, &json);
}
