/* SPDX-License-Identifier: MIT */
/* doctor.c - lazaret doctor: prints what core/doctor finds. */
#include "cli/cli.h"

#include "doctor/doctor.h"

#include <stdio.h>

/* Shows one line on a terminal, which the next one overwrites. */
static void doctor_progress(void *user, const char *backend, const char *what)
{
    struct cli *cli = user;
    char line[128];

    snprintf(line, sizeof line, "lazaret: %.40s: %.60s", backend, what);
    terminal_line(cli->terminal, line);
}

static int doctor_print(struct cli *cli, const struct laz_doctor *doctor)
{
    const struct laz_strv *problems = laz_doctor_problems(doctor);
    const int status = problems->n ? CLI_FAILED : CLI_OK;
    struct laz_buf text = LAZ_BUF_INIT;
    struct cli_answer answer;

    if (!cli->json) {
        laz_doctor_tell(doctor, &text);
        cli_print(cli, &text);
        return status;
    }
    cli_answer_begin(&answer, !status);
    if (status)
        cli_answer_errors(cli, &answer.write, problems);
    laz_doctor_tell_json(doctor, &answer.write);
    return cli_answer_end(cli, &answer, status);
}

int cli_doctor(struct cli *cli)
{
    const struct laz_doctor_options options = {
        .settings = cli->settings,
        .log = &cli->log,
        .progress = doctor_progress,
        .user = cli,
    };
    struct laz_doctor *doctor = NULL;
    struct laz_error err = {0};
    int status = cli_needs_boxes(cli);

    if (status)
        return status;
    int rc = laz_doctor_examine(&options, &doctor, &err);
    terminal_line(cli->terminal, NULL);
    status = rc ? cli_fail(cli, &err) : doctor_print(cli, doctor);
    laz_doctor_free(doctor);
    return status;
}
