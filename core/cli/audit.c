/* SPDX-License-Identifier: MIT */
/* audit.c - verifies an audit log and shows its records.
 *
 * Side: host.  Input trusted: no (somebody may have changed the file, and it holds text that
 * untrusted code wrote). Text of the file reaches a terminal only through laz_audit_show and
 * cli_say; --json prints nothing but records, whose form cannot contain control characters. Records
 * are printed as they come, because a log has any length. */
#include "cli/cli.h"

#include "audit/audit.h"
#include "audit/audit_chain.h"
#include "os/append.h"
#include "os/descriptors.h"
#include "os/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AUDIT_BLOCK ((size_t)64 << 10)
#define AUDIT_SHOWN 50 /* findings that are printed one by one */

/* ---- reading -------------------------------------------------------------------------------- */

struct audit_source {
    const char *name;
    int fd;
    uint64_t left; /* bytes to read: the size at the start, because the file may be growing */
};

static int audit_open(struct cli *cli, struct audit_source *source, const char *name)
{
    struct laz_error err = {0};
    struct laz_look look;

    *source = (struct audit_source){.name = name, .fd = STDIN_FILENO, .left = UINT64_MAX};
    if (strcmp(name, "-") == 0) {
        source->name = "standard input";
        return 0;
    }
    source->fd = laz_os_open_file(name, false, &look);
    if (source->fd < 0)
        return cli_problem(cli, "%s: cannot be opened: %s", name, strerror(errno));
    if (look.kind != LAZ_LOOK_FILE) {
        cli_problem(cli, "%s: is not a regular file", name);
    } else if (laz_append_size(source->fd, &source->left, &err) != 0) {
        cli_problem(cli, "%s: %s", name, err.text);
    } else {
        return 0;
    }
    laz_os_close(&source->fd);
    return CLI_USAGE;
}

/* Reads the next bytes. Returns their number, 0 at the end, -1 after an error (printed). */
static ssize_t audit_read(struct cli *cli, struct audit_source *source, char *data, size_t size)
{
    size_t want = source->left < size ? (size_t)source->left : size;
    ssize_t n;

    do
        n = want ? read(source->fd, data, want) : 0;
    while (n < 0 && errno == EINTR);
    if (n < 0)
        cli_problem(cli, "%s: cannot be read: %s", source->name, strerror(errno));
    else if (source->left != UINT64_MAX)
        source->left -= (uint64_t)n;
    return n;
}

/* ---- verify --------------------------------------------------------------------------------- */

struct audit_report {
    struct cli *cli;
    const char *name;
    struct laz_buf json; /* the items of the list of findings */
    struct laz_json_write write;
    uint64_t reported;
};

static void audit_report(void *user, enum laz_audit_finding finding, uint64_t line,
                         const char *text)
{
    struct audit_report *report = user;
    bool note = laz_audit_findings[finding].is_note;

    if (report->cli->json) {
        laz_json_begin_object(&report->write, NULL);
        laz_json_add_uint(&report->write, "line", line);
        laz_json_add_text(&report->write, "finding", laz_audit_findings[finding].name);
        laz_json_add_bool(&report->write, "note", note);
        laz_json_add_text(&report->write, "message", text);
        laz_json_end_object(&report->write);
    } else if (note && report->cli->quiet) {
        return;
    } else if (report->reported++ < AUDIT_SHOWN) {
        cli_say(report->cli, "%s:%" PRIu64 ": %s%s", report->name, line, note ? "note: " : "",
                text);
    }
}

static bool audit_is_hash(const char *text)
{
    return strlen(text) == LAZ_SHA256_HEX && strspn(text, "0123456789abcdef") == LAZ_SHA256_HEX;
}

/* True when the last record has the hash that --expect names. */
static bool audit_is_expected(struct cli *cli, const struct laz_audit_verify *verify,
                              const char *name)
{
    if (!cli->expect || strcmp(cli->expect, verify->last.hash) == 0)
        return true;
    laz_strv_addf(&cli->problems,
                  "%s: the last record has the hash %s, not %s as expected: records were removed "
                  "from the end or added",
                  name, verify->last.hash, cli->expect);
    if (!cli->json && cli->problems.n)
        cli_say(cli, "%s", cli->problems.items[cli->problems.n - 1]);
    return false;
}

/* Prints what was found. Returns an exit status. */
static int audit_conclude(struct cli *cli, struct audit_report *report,
                          const struct laz_audit_verify *verify, bool intact, bool expected)
{
    const bool good = intact && expected;
    const int status = good ? CLI_OK : CLI_FAILED;
    struct cli_answer answer;

    if (!cli->json) {
        if (report->reported > AUDIT_SHOWN)
            cli_say(cli, "%s: and %" PRIu64 " more", report->name, report->reported - AUDIT_SHOWN);
        cli_printf(cli, "%s: %" PRIu64 " records, last %" PRIu64 " %s\n",
                   good ? "intact" : "NOT INTACT", verify->records, verify->last.seq,
                   verify->last.hash);
        return status;
    }
    if (!intact)
        laz_strv_addf(&cli->problems, "%s: is not intact", report->name);
    cli_answer_begin(&answer, good);
    if (!good)
        cli_answer_errors(cli, &answer.write, &cli->problems);
    laz_json_add_uint(&answer.write, "lines", verify->lines);
    laz_json_add_uint(&answer.write, "records", verify->records);
    laz_json_add_uint(&answer.write, "lost", verify->lost);
    laz_json_add_uint(&answer.write, "last_seq", verify->last.seq);
    laz_json_add_text(&answer.write, "last_hash", verify->last.hash);
    if (cli->expect)
        laz_json_add_bool(&answer.write, "expected", expected);
    else
        laz_json_add_null(&answer.write, "expected");
    laz_json_begin_list(&answer.write, "findings");
    laz_buf_append(&answer.json, laz_buf_text(&report->json), report->json.len);
    laz_json_end_list(&answer.write);
    answer.json.failed |= report->json.failed;
    return cli_answer_end(cli, &answer, status);
}

static int audit_verify(struct cli *cli, struct audit_source *source)
{
    struct audit_report report = {.cli = cli, .name = source->name, .write.to = &report.json};
    struct laz_audit_verify verify;
    char *data = malloc(AUDIT_BLOCK);
    int status = CLI_USAGE;
    ssize_t n;

    if (!data) {
        cli_problem(cli, "out of memory");
        return CLI_SETUP;
    }
    laz_audit_verify_init(&verify, audit_report, &report);
    while ((n = audit_read(cli, source, data, AUDIT_BLOCK)) > 0)
        laz_audit_verify_feed(&verify, data, (size_t)n);
    if (n == 0) {
        bool intact = laz_audit_verify_end(&verify);
        bool expected = audit_is_expected(cli, &verify, source->name);
        status = audit_conclude(cli, &report, &verify, intact, expected);
    }
    laz_audit_verify_fini(&verify);
    laz_buf_fini(&report.json);
    free(data);
    return status;
}

/* ---- show ----------------------------------------------------------------------------------- */

struct audit_shown {
    struct cli *cli;
    const char *name;
    uint64_t line, odd;
    struct laz_buf text;
    struct cli_answer answer; /* with --json; what was printed of it is removed */
};

/* Prints a record. */
static void audit_show_record(struct audit_shown *shown)
{
    struct cli *cli = shown->cli;

    if (cli->json) {
        laz_json_new_line(&shown->answer.write);
        laz_json_add_raw(&shown->answer.write, NULL, laz_buf_text(&shown->text), shown->text.len);
        cli_write(cli, laz_buf_text(&shown->answer.json), shown->answer.json.len);
        laz_buf_clear(&shown->answer.json);
    } else {
        laz_buf_putc(&shown->text, '\n');
        cli_puts(cli, laz_buf_text(&shown->text));
    }
}

/* Reports a line that is not a record. */
static void audit_show_odd(struct audit_shown *shown)
{
    /* in the document, too, up to some number */
    if (++shown->odd <= AUDIT_SHOWN)
        cli_problem(shown->cli, "%s:%" PRIu64 ": %s", shown->name, shown->line,
                    laz_buf_text(&shown->text));
    else
        cli_say(shown->cli, "%s:%" PRIu64 ": %s", shown->name, shown->line,
                laz_buf_text(&shown->text));
}

static void audit_show_line(struct audit_shown *shown, const char *line, size_t len)
{
    struct laz_audit_record record;
    bool well = true;

    shown->line++;
    if (shown->cli->json && laz_audit_record_parse(&record, line, len))
        laz_audit_harmless(&shown->text, line, len); /* no effect on records that lazaret wrote */
    else
        well = laz_audit_show(line, len, &shown->text) && !shown->cli->json;
    if (well)
        audit_show_record(shown);
    else
        audit_show_odd(shown);
    laz_buf_clear(&shown->text);
}

/* Shows the complete lines of `rest`; a line longer than any record is shown in pieces. */
static void audit_show_lines(struct audit_shown *shown, struct laz_buf *rest)
{
    size_t done = 0;
    const char *newline;

    while ((newline = memchr(rest->data + done, '\n', rest->len - done))) {
        size_t n = (size_t)(newline - rest->data) - done;
        audit_show_line(shown, rest->data + done, n);
        done += n + 1;
    }
    if (rest->len - done > LAZ_AUDIT_LINE_MAX) {
        audit_show_line(shown, rest->data + done, rest->len - done);
        shown->line--;
        done = rest->len;
    }
    laz_buf_drop(rest, done);
}

/* Ends the document, whose beginning was printed with the records. */
static int audit_show_end(struct audit_shown *shown, int status)
{
    struct cli *cli = shown->cli;

    if (!cli->json)
        return status;
    laz_json_end_list(&shown->answer.write);
    laz_json_add_bool(&shown->answer.write, "ok", !status);
    if (status)
        cli_answer_errors(cli, &shown->answer.write, &cli->problems);
    return cli_answer_end(cli, &shown->answer, status);
}

static int audit_show(struct cli *cli, struct audit_source *source)
{
    struct audit_shown shown = {.cli = cli, .name = source->name};
    struct laz_buf rest = LAZ_BUF_INIT;
    int status = CLI_OK;
    ssize_t n = 0;

    shown.answer.write.to = &shown.answer.json;
    laz_json_begin_object(&shown.answer.write, NULL);
    laz_json_begin_list(&shown.answer.write, "records");
    while (laz_buf_reserve(&rest, AUDIT_BLOCK) &&
           (n = audit_read(cli, source, rest.data + rest.len, AUDIT_BLOCK)) > 0) {
        rest.len += (size_t)n;
        audit_show_lines(&shown, &rest);
    }
    if (rest.len && !rest.failed)
        audit_show_line(&shown, rest.data, rest.len);
    if (rest.failed || shown.text.failed) {
        cli_problem(cli, "out of memory");
        status = CLI_SETUP;
    } else if (n < 0) {
        status = CLI_USAGE;
    } else if (shown.odd) {
        status = CLI_FAILED;
    }
    status = audit_show_end(&shown, status);
    laz_buf_fini(&shown.text);
    laz_buf_fini(&shown.answer.json);
    laz_buf_fini(&rest);
    return status;
}

/* ---- the subcommand ------------------------------------------------------------------------- */

int cli_audit(struct cli *cli)
{
    const char *word = cli->n_operands ? cli->operands[0] : "";
    const bool verifies = strcmp(word, "verify") == 0, shows = strcmp(word, "show") == 0;
    struct audit_source source;

    if (cli->n_operands == 0)
        return cli_problem(cli, "audit: verify or show, and the file of an audit log are needed");
    if (cli->n_operands == 1 && (verifies || shows))
        return cli_problem(cli, "audit %s: the file of an audit log is needed", word);
    if (cli->n_operands == 2 && !verifies && !shows)
        return cli_problem(cli, "audit: expected verify or show, found %s", word);
    if (cli->expect && (shows || !audit_is_hash(cli->expect)))
        return cli_problem(cli,
                           "audit: --expect takes the hash that verify printed (%d lower-case "
                           "hexadecimal digits), and belongs to verify",
                           LAZ_SHA256_HEX);
    int status = audit_open(cli, &source, cli->operands[cli->n_operands - 1]);
    if (status)
        return status;
    status = shows ? audit_show(cli, &source) : audit_verify(cli, &source);
    if (source.fd != STDIN_FILENO)
        laz_os_close(&source.fd);
    return status;
}
