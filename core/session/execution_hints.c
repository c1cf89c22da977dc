/* SPDX-License-Identifier: MIT */
/* execution_hints.c - settings that an error of the code follows from: warnings that name them, and
 * denials with the source "error".
 * Side: host.  Input trusted: no (texts of the code, which decides about its own hints alone).
 *
 * Languages and shells say in their own words that a program is not there, or may not be started,
 * or that there is no network; so the texts are looked at, the error and the end of the output. */
#include "session/execution.h"

#include "base/json_write.h"
#include "os/programs.h"
#include "session/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HINT_TEXT ((size_t)4096) /* bytes at the end of the output that are looked at */
#define HINT_NAME 64             /* bytes of the name of a program */

static const char hint_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "._+-";

/* Texts that are "" are left out. */
static void hint_denial(struct laz_result *result, const char *what, const char *name,
                        const char *allow)
{
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &json};

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "what", what);
    if (*name)
        laz_json_add_text(&write, "name", name);
    laz_json_add_uint(&write, "count", 1);
    if (*allow)
        laz_json_add_text(&write, "allow", allow);
    laz_json_add_text(&write, "retry", "useless");
    laz_json_add_text(&write, "source", "error");
    laz_json_end_object(&write);
    laz_strv_add(&result->denials, laz_buf_text(&json));
    result->denials.failed |= json.failed;
    laz_buf_fini(&json);
}

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
    struct laz_result *result = execution->result;
    struct laz_error ignored = {0};
    struct laz_buf allow = LAZ_BUF_INIT;
    char name[HINT_NAME], *path = NULL;

    if (!text || !hint_find(text, name) || laz_strv_has(listed, name) ||
        laz_os_find_program(name, &path, &ignored))
        return;
    laz_buf_puts(&allow, "programs = [");
    for (size_t i = 0; i < listed->n; i++)
        laz_buf_printf(&allow, "\"%s\", ", listed->items[i]);
    laz_buf_printf(&allow, "\"%s\"] below [sandbox]", name);
    laz_strv_addf(&result->warnings, "%s is not among sandbox.programs: %s", name,
                  laz_buf_text(&allow));
    hint_denial(result, "program", name, laz_buf_text(&allow));
    free(path);
    laz_buf_fini(&allow);
}

static void hint_protection(struct laz_execution *execution, const char *text)
{
    const struct laz_box *box = execution->session->box;
    struct laz_strv *warnings = &execution->result->warnings;
    const char *path = text ? laz_box_protects(box, text) : NULL;

    if (path) {
        laz_strv_addf(warnings, "protected by sandbox.protect: %s", path);
        hint_denial(execution->result, "file", path, "");
    }
    path = laz_box_unprotected(box);
    if (path)
        laz_strv_addf(warnings,
                      "not protected to the end (sandbox.protect), because the host has replaced "
                      "it: %s",
                      path);
}

/* ---- no network ------------------------------------------------------------------------------ */

#define HINT_HOST 256

/* What languages and programs say where there is no network; the host stands behind the words, or
 * in a URL before them on the same line, or nowhere. */
static const struct {
    const char *words;
    bool has_host;         /* behind them */
    const char *traceback; /* a word that the traceback has; NULL: any */
} hint_networks[] = {
    {"Could not resolve host: ", true, NULL},              /* libcurl */
    {"Could not resolve hostname ", true, NULL},           /* ssh */
    {"unable to resolve host address ", true, NULL},       /* wget */
    {"getaddrinfo ENOTFOUND ", true, NULL},                /* node */
    {"getaddrinfo EAI_AGAIN ", true, NULL},                /* node */
    {"could not translate host name ", true, NULL},        /* libpq */
    {"its network list has to name ", true, NULL},         /* fetch */
    {"Failed to connect to ", true, NULL},                 /* libcurl */
    {"Couldn't resolve host name", false, NULL},           /* R */
    {"Name or service not known", false, NULL},            /* glibc */
    {"Temporary failure in name resolution", false, NULL}, /* glibc */
    {"nodename nor servname provided", false, NULL},       /* macOS */
    {"Operation not permitted", false, "socket"},          /* Python: EPERM */
    {"Permission denied", false, "socket"},                /* the same, with EACCES */
};

/* Copies the host that a text begins with, behind quotes, and its port. False: there is none. */
static bool hint_host(const char *text, char host[HINT_HOST])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    static const char *const quotes[] = {"\"", "'", "\xe2\x80\x98"};

    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++)
        if (strncmp(text, quotes[i], strlen(quotes[i])) == 0)
            text += strlen(quotes[i]);
    size_t len = strspn(text, letters);
    if (len && text[len] == ':')
        len += 1 + strspn(text + len + 1, "0123456789");
    while (len && strchr(":.", text[len - 1]))
        len--;
    if (!len || len >= HINT_HOST)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    return true;
}

/* The host of the last URL that ends before `end`, on its line. */
static bool hint_url(const char *text, const char *end, char host[HINT_HOST])
{
    for (const char *at = end; at - text >= 3 && at[-1] != '\n'; at--)
        if (strncmp(at - 3, "://", 3) == 0)
            return hint_host(at, host);
    return false;
}

static bool hint_has(const struct laz_strv *texts, const char *word)
{
    for (size_t i = 0; i < texts->n; i++)
        if (strstr(texts->items[i], word))
            return true;
    return false;
}

/* Does the text say that there is no network? `host` may be empty then. */
static bool hint_is_offline(const struct laz_result *result, const char *text, char host[HINT_HOST])
{
    for (size_t i = 0; i < sizeof hint_networks / sizeof *hint_networks; i++) {
        const char *words = hint_networks[i].words, *at = strstr(text, words);
        if (!at || (hint_networks[i].traceback &&
                    !hint_has(&result->traceback, hint_networks[i].traceback)))
            continue;
        if (!(hint_networks[i].has_host ? hint_host(at + strlen(words), host)
                                        : hint_url(text, at, host)))
            *host = '\0';
        return true;
    }
    return false;
}

static void hint_network(struct laz_execution *execution, const char *error, const char *output)
{
    struct laz_result *result = execution->result;
    char host[HINT_HOST], shown[HINT_HOST], allow[HINT_HOST + 40] = "";

    if (!(error && hint_is_offline(result, error, host)) && !hint_is_offline(result, output, host))
        return;
    if (!*host && hint_is_offline(result, output, shown)) /* it may say more */
        memcpy(host, shown, sizeof host);
    for (size_t i = 0; !*host && i < result->traceback.n; i++) { /* it may show the call */
        const char *url = strstr(result->traceback.items[i], "://");
        if (url && !hint_host(url + 3, host))
            *host = '\0';
    }
    if (*host)
        snprintf(allow, sizeof allow, "allow = [%c%s%c] below [network]", '"', host, '"');
    laz_strv_addf(&result->warnings, "the session has no network list%s%s", *allow ? ": " : "",
                  allow);
    hint_denial(result, "network", host, allow);
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
    if (!execution->session->has_network && plan && (plan->enforces & LAZ_ENFORCE_NETWORK) &&
        execution->request.asked == LAZ_ASKED_EXECUTE)
        hint_network(execution, error, output);
    execution->out_of_memory |= result->warnings.failed || result->denials.failed;
}
