/* SPDX-License-Identifier: MIT */
/* execution_hints.c - settings that an error of the code follows from: warnings that name them.
 * Side: host.  Input trusted: no (texts of the code, which decides about its own hints alone).
 *
 * Languages and shells say in their own words that a program is not there, or may not be started;
 * so the texts are looked at, the error and the end of the output. */
#include "session/execution.h"

#include "os/programs.h"
#include "session/result.h"

#include <stdlib.h>
#include <string.h>

#define HINT_TEXT ((size_t)4096) /* bytes at the end of the output that are looked at */
#define HINT_NAME 64             /* bytes of the name of a program */

static const char hint_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "._+-";

/* The name that stands before `end` of a text, behind ": " or at its beginning: "sh: 1: git". */
static bool hint_before(const char *text, const char *end, char name[HINT_NAME])
{
    const char *at = end;

    while (at > text && strchr(hint_letters, at[-1]))
        at--;
    const size_t len = (size_t)(end - at);
    if (!len || len >= HINT_NAME || (at > text && at[-1] != ' ' && at[-1] != '\n'))
        return false;
    memcpy(name, at, len);
    name[len] = '\0';
    return true;
}

/* The name in quotes behind this place: "No such file or directory: 'git'". */
static bool hint_behind(const char *at, char name[HINT_NAME])
{
    const size_t len = *at == '\'' ? strspn(at + 1, hint_letters) : 0;

    if (!len || len >= HINT_NAME || at[1 + len] != '\'')
        return false;
    memcpy(name, at + 1, len);
    name[len] = '\0';
    return true;
}

/* The program that a text says is missing, or may not be started. */
static bool hint_find(const char *text, char name[HINT_NAME])
{
    static const char *const before[] = {": command not found", ": not found",
                                         ": Permission denied"};
    static const char *const behind[] = {"No such file or directory: ", "Permission denied: "};

    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        for (const char *at = strstr(text, before[i]); at; at = strstr(at + 1, before[i]))
            if (hint_before(text, at, name))
                return true;
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        for (const char *at = strstr(text, behind[i]); at; at = strstr(at + 1, behind[i]))
            if (hint_behind(at + strlen(behind[i]), name))
                return true;
    return false;
}

/* A program that the machine has, and the list of the box has not. */
static void hint_program(struct laz_execution *execution, const char *text)
{
    const struct laz_strv *listed = &execution->session->shared->values->sandbox.programs;
    struct laz_error ignored = {0};
    struct laz_buf list = LAZ_BUF_INIT;
    char name[HINT_NAME], *path = NULL;

    if (!text || !hint_find(text, name) || laz_strv_has(listed, name) ||
        laz_os_find_program(name, &path, &ignored))
        return;
    for (size_t i = 0; i < listed->n; i++)
        laz_buf_printf(&list, "\"%s\", ", listed->items[i]);
    laz_strv_addf(&execution->result->warnings,
                  "%s is not among sandbox.programs: programs = [%s\"%s\"] below [sandbox]", name,
                  laz_buf_text(&list), name);
    free(path);
    laz_buf_fini(&list);
}

static void hint_protection(struct laz_execution *execution, const char *text)
{
    const struct laz_box *box = execution->session->box;
    struct laz_strv *warnings = &execution->result->warnings;
    const char *path = text ? laz_box_protects(box, text) : NULL;

    if (path)
        laz_strv_addf(warnings, "protected by sandbox.protect: %s", path);
    path = laz_box_unprotected(box);
    if (path)
        laz_strv_addf(warnings,
                      "not protected to the end (sandbox.protect), because the host has replaced "
                      "it: %s",
                      path);
}

void laz_execution_hint(struct laz_execution *execution)
{
    struct laz_result *result = execution->result;
    const char *error = result->has_error ? result->error_message : NULL;
    const struct laz_buf *kept = &result->output.kept;
    const char *output = laz_buf_text(kept) + (kept->len > HINT_TEXT ? kept->len - HINT_TEXT : 0);
    const struct laz_plan *plan = execution->session->box->plan;
    const size_t n = result->warnings.n;

    hint_protection(execution, error);
    if (result->warnings.n == n) /* of a shell it is what it prints */
        hint_protection(execution, output);
    if (plan && !plan->any_program && execution->request.asked == LAZ_ASKED_EXECUTE) {
        const size_t before = result->warnings.n;
        hint_program(execution, error);
        if (result->warnings.n == before)
            hint_program(execution, output);
    }
    execution->out_of_memory |= result->warnings.failed;
}
