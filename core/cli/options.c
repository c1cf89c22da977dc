/* SPDX-License-Identifier: MIT */
/* options.c - the table of options, and everything that is made from it: the parser's tables, the
 * help texts, the nearest known option.
 *
 * Common options may stand before or after the subcommand, the others after it. Each row names the
 * field of struct cli that takes its value, so no switch has to follow the table. */
#include "cli/cli.h"

#include "base/nearest.h"
#include "os/paths.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(member) offsetof(struct cli, member)

static const struct cli_option options[] = {
    {'e', NULL, "CODE", FIELD(code), CLI_FOR_RUN | CLI_FOR_CHECK,
     "the code itself, in place of a file; several are its lines"},
    {0, "read", "PATH", FIELD(read), CLI_FOR_BOX | CLI_FOR_SERVE | CLI_FOR_WORKER | CLI_FOR_MCP,
     "show the code this path, too (sandbox.read)"},
    {0, "write", "PATH", FIELD(write), CLI_FOR_BOX | CLI_FOR_SERVE | CLI_FOR_WORKER | CLI_FOR_MCP,
     "let the code write to it (sandbox.write)"},
    {0, "allow", "HOST[:PORT]", FIELD(allow),
     CLI_FOR_BOX | CLI_FOR_SERVE | CLI_FOR_WORKER | CLI_FOR_MCP,
     "let the code reach it by the network (network.allow)"},
    {0, "cwd", "DIR", FIELD(cwd), CLI_FOR_BOX | CLI_FOR_SERVE | CLI_FOR_WORKER | CLI_FOR_MCP,
     "start in this directory, which is shown"},
    {0, "env", "NAME[=VALUE]", FIELD(env),
     CLI_FOR_BOX | CLI_FOR_SERVE | CLI_FOR_WORKER | CLI_FOR_MCP,
     "set a variable, or pass on one of this environment"},
    {0, "file", "NAME=PATH", FIELD(file), CLI_FOR_RUN,
     "give the code a copy of this file, as NAME where it starts"},
    {0, "artifacts", "DIR", FIELD(artifacts), CLI_FOR_RUN,
     "save what the code leaves in artifacts/, and its figures"},
    {'t', NULL, NULL, FIELD(terminal_on), CLI_FOR_RUN,
     "give the code a terminal of its own; a program (--) gets one where there is one"},
    {'T', NULL, NULL, FIELD(terminal_off), CLI_FOR_RUN, "give a program none, but pipes"},
    {0, "format", "FORMAT", FIELD(format), CLI_FOR_TOOLS,
     "text, json, r, python, javascript, lua or shell"},
    {0, "search", "WORDS", FIELD(search), CLI_FOR_TOOLS, "those that fit, the best ones first"},
    {0, "limit", "N", FIELD(limit), CLI_FOR_TOOLS, "with --search: at most N tools (10)"},
    {0, "check", NULL, FIELD(check), CLI_FOR_CONFIG, "print mistakes only"},
    {0, "platform", "NAME", FIELD(platform), CLI_FOR_PLAN, "the plan for linux, darwin or windows"},
    {0, "kind", "KIND", FIELD(kind), CLI_FOR_PLUGINS, "of a new plugin: tool, backend or runtime"},
    {0, "listen", "PLACE", FIELD(listen), CLI_FOR_SERVE | CLI_FOR_MCP,
     "serve clients at this Unix socket (serve: or tls://ADDRESS:PORT; mcp: or HOST:PORT)"},
    {0, "engines", "N", FIELD(engines), CLI_FOR_SERVE | CLI_FOR_WORKER,
     "with --listen: N engines for the clients (1), 0: one for each processor"},
    {0, "metrics", "HOST:PORT", FIELD(metrics), CLI_FOR_SERVE | CLI_FOR_WORKER | CLI_FOR_MCP,
     "answer GET /metrics and /healthz there (telemetry.listen)"},
    {0, "token-file", "FILE", FIELD(token_file), CLI_FOR_MCP | CLI_FOR_CONNECT,
     "the token that clients at a port need (mcp: made if it is missing)"},
    {0, "ca", "FILE", FIELD(authorities), CLI_FOR_CONNECT,
     "authorities that the server's certificate may be of"},
    {0, "cert", "FILE", FIELD(certificate), CLI_FOR_CONNECT, "the certificate of this client"},
    {0, "key", "FILE", FIELD(key), CLI_FOR_CONNECT, "its private key"},
    {0, "server-name", "NAME", FIELD(server_name), CLI_FOR_CONNECT,
     "the name in the server's certificate, if it is not HOST"},
    {0, "sign-with", "FILE", FIELD(sign_with), CLI_FOR_TOKEN, "the private key"},
    {0, "expires", "TIME", FIELD(expires), CLI_FOR_TOKEN, "from now on: 900, 15m, 30d (24h)"},
    {0, "audience", "NAME", FIELD(audience), CLI_FOR_TOKEN,
     "only for servers that are called so (serve.audience)"},
    {0, "sessions", "N", FIELD(sessions), CLI_FOR_TOKEN, "at most N sessions at a time"},
    {0, "cpu-time", "S", FIELD(cpu), CLI_FOR_TOKEN, "seconds of CPU time in a minute"},
    {0, "bytes", "SIZE", FIELD(bytes), CLI_FOR_TOKEN, "bytes in a minute"},
    {0, "requests", "N", FIELD(requests), CLI_FOR_TOKEN, "requests in a minute"},
    {0, "tenant", "NAME", FIELD(tenants), CLI_FOR_CLUSTER, "who has sessions (main); repeatable"},
    {0, "url", "URL", FIELD(url), CLI_FOR_CLUSTER,
     "of the server: tls://HOST:PORT (tls://localhost:4222), or nats://HOST:PORT to try it"},
    {0, "shared", NULL, FIELD(shared), CLI_FOR_CLUSTER,
     "one account, for workers that several tenants share"},
    {0, "install", "CLIENT", FIELD(install), CLI_FOR_MCP,
     "write the configuration of claude, claude-desktop, codex, cursor or vscode"},
    {0, "dry-run", NULL, FIELD(dry_run), CLI_FOR_MCP, "with --install: show it, and write nothing"},
    {0, "expect", "HASH", FIELD(expect), CLI_FOR_AUDIT, "the hash that the last record must have"},
    {0, "config", "FILE", FIELD(config), CLI_FOR_ALL,
     "the configuration file, instead of the default ones"},
    {0, "backend", "NAME", FIELD(backend), CLI_FOR_ALL,
     "the backend of the sandbox (sandbox.backend)"},
    {0, "runtime", "NAME", FIELD(runtime), CLI_FOR_ALL,
     "the language of the code (session.runtime)"},
    {0, "timeout", "S", FIELD(timeout), CLI_FOR_ALL,
     "seconds the code may run, 0 for no limit (session.timeout)"},
    {0, "set", "KEY=VALUE", FIELD(set), CLI_FOR_ALL, "set any key of the configuration"},
    {0, "json", NULL, FIELD(json), CLI_FOR_ALL, "print one JSON document"},
    {'q', "quiet", NULL, FIELD(quiet), CLI_FOR_ALL, "print no warnings"},
    {'v', "verbose", NULL, FIELD(verbose), CLI_FOR_ALL, "log what is done (session.verbose)"},
    {0, "version", NULL, FIELD(version), CLI_FOR_ALL, "print the version"},
    {'h', "help", NULL, FIELD(help), CLI_FOR_ALL, "print this help"},
};

/* The fields of options that may be repeated. */
static const size_t option_lists[] = {FIELD(code), FIELD(read), FIELD(write),   FIELD(allow),
                                      FIELD(env),  FIELD(set),  FIELD(tenants), FIELD(file)};

/* The fields whose paths are those of a working directory. */
static const size_t option_paths[] = {FIELD(config), FIELD(read), FIELD(write)};

/* The fields of options that are about one run, and are not repeated by cli_repeat. */
static const size_t option_once[] = {FIELD(install), FIELD(dry_run), FIELD(json), FIELD(quiet),
                                     FIELD(verbose), FIELD(version), FIELD(help)};

#define N_OPTIONS  (sizeof options / sizeof *options)
#define LONG_FIRST 256 /* what getopt_long returns for row 0 */

const struct cli_option *cli_option_at(size_t index)
{
    return index < N_OPTIONS ? &options[index] : NULL;
}

static bool option_is_for(const struct cli_option *option, uint32_t commands)
{
    return (option->commands & commands) == commands;
}

/* Makes the two tables of getopt_long for the options of `commands`. */
static void options_tables(uint32_t commands, const char *prefix, char *letters, size_t size,
                           struct option *longs)
{
    struct option *next = longs;
    size_t n = (size_t)snprintf(letters, size, "%s:", prefix);

    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct cli_option *o = &options[i];

        if (!option_is_for(o, commands))
            continue;
        if (o->letter && n + 2 < size) {
            letters[n++] = o->letter;
            if (o->argument)
                letters[n++] = ':';
        }
        if (o->name)
            *next++ = (struct option){.name = o->name,
                                      .has_arg = o->argument ? required_argument : no_argument,
                                      .val = LONG_FIRST + (int)i};
    }
    letters[n] = '\0';
    *next = (struct option){0};
}

static const struct cli_option *option_of(int value)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (value == LONG_FIRST + (int)i || (value && value == options[i].letter))
            return &options[i];
    return NULL;
}

static bool option_is_in(const struct cli_option *option, const size_t *fields, size_t n)
{
    size_t i = 0;

    while (i < n && fields[i] != option->field)
        i++;
    return i < n;
}
#define OPTION_IS_IN(option, fields)                                                               \
    option_is_in((option), (fields), sizeof(fields) / sizeof *(fields))

static bool option_is_list(const struct cli_option *option)
{
    return OPTION_IS_IN(option, option_lists);
}

static void option_store(struct cli *cli, const struct cli_option *option, const char *value)
{
    char *field = (char *)cli + option->field;

    if (!option->argument)
        *(bool *)(void *)field = true;
    else if (option_is_list(option))
        laz_strv_add((struct laz_strv *)(void *)field, value);
    else
        *(const char **)(void *)field = value;
}

static void option_unknown(struct cli *cli, const char *word, uint32_t commands)
{
    struct laz_nearest nearest;
    char name[80];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *bare = strncmp(name, "--", 2) == 0 ? name + 2 : name;
    laz_nearest_init(&nearest, bare);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const bool is_letter = options[i].letter && name[1] == options[i].letter && !name[2];
        if (!options[i].name && !is_letter)
            continue;
        if (is_letter || (bare != name && strcmp(bare, options[i].name) == 0)) {
            cli_problem(cli, "option %s belongs to another subcommand; see lazaret --help", name);
            return;
        }
        if (option_is_for(&options[i], commands))
            laz_nearest_try(&nearest, options[i].name);
    }
    const char *best = laz_nearest_best(&nearest);
    if (best)
        cli_problem(cli, "unknown option %s; did you mean --%s?", name, best);
    else
        cli_problem(cli, "unknown option %s; see lazaret --help", name);
}

/* Reports an option that getopt_long rejected. */
static void option_complain(struct cli *cli, int found, char **argv, uint32_t commands)
{
    const struct cli_option *option = option_of(optopt);
    char letter[] = {'-', (char)optopt, '\0'};
    const char *word = optopt && optopt < LONG_FIRST ? letter : argv[optind - 1];

    if (found == ':')
        cli_problem(cli, "option %.*s needs an argument: %s", (int)strcspn(word, "="), word,
                    option ? option->argument : "");
    else if (option && optopt >= LONG_FIRST)
        cli_problem(cli, "option --%s takes no argument", option->name);
    else
        option_unknown(cli, word, commands);
}

/* Reads options up to the first operand (prefix "+") or in all of argv (""). Returns the index of
 * the first operand, or -1 after a mistake. It reads on after one, so that each is reported and a
 * later --json takes effect. With "+" it notes whether "--" stands before that operand. */
static int options_read(struct cli *cli, int argc, char **argv, uint32_t commands,
                        const char *prefix)
{
    struct option longs[N_OPTIONS + 1];
    char letters[2 * N_OPTIONS + 8];
    bool wrong = false;
    int found, next = 1;

    options_tables(commands, prefix, letters, sizeof letters, longs);
    opterr = 0;
    optind = 0; /* restart getopt_long */
    while ((found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        const struct cli_option *option = option_of(found);

        if (found == '?' || found == ':' || !option) {
            option_complain(cli, found, argv, commands);
            wrong = true;
        } else {
            option_store(cli, option, optarg);
        }
        next = optind;
    }
    cli->is_ended = *prefix && optind > next;
    return wrong ? -1 : optind;
}

/* A path that means the same in any directory, without links above its last part. */
static void repeat_path(const char *value, const char *here, struct laz_strv *words)
{
    char *path = laz_os_is_absolute(value)
                     ? laz_strdup(value)
                     : laz_strdupf("%s/%s", strcmp(here, "/") == 0 ? "" : here, value);
    const char *name = path ? strrchr(path, '/') : NULL;
    char *above = name ? laz_strndup(path, name > path ? (size_t)(name - path) : 1) : NULL;
    const bool is_name = name && name[1] && strcmp(name, "/.") != 0 && strcmp(name, "/..") != 0;
    char *real = above && is_name ? laz_os_real_path(above) : NULL;

    if (real)
        laz_strv_addf(words, "%s%s", strcmp(real, "/") == 0 ? "" : real, name);
    else if (path)
        laz_strv_add(words, path);
    else
        words->failed = true;
    free(path);
    free(above);
    free(real);
}

static void repeat_value(const struct cli_option *option, const char *value, const char *here,
                         struct laz_strv *words)
{
    if (option->name)
        laz_strv_addf(words, "--%s", option->name);
    else
        laz_strv_addf(words, "-%c", option->letter);
    if (!option->argument)
        return;
    if (OPTION_IS_IN(option, option_paths))
        repeat_path(value, here, words);
    else
        laz_strv_add(words, value);
}

bool cli_repeat(struct cli *cli, struct laz_strv *words)
{
    char *here = laz_os_real_path(".");

    for (size_t i = 0; i < N_OPTIONS && here; i++) {
        const struct cli_option *o = &options[i];
        const void *field = (const char *)cli + o->field;

        if (!option_is_for(o, cli->command->bit) || OPTION_IS_IN(o, option_once))
            continue;
        if (option_is_list(o)) {
            const struct laz_strv *values = field;
            for (size_t j = 0; j < values->n; j++)
                repeat_value(o, values->items[j], here, words);
        } else if (!o->argument) {
            if (*(const bool *)field)
                repeat_value(o, NULL, here, words);
        } else if (*(const char *const *)field) {
            repeat_value(o, *(const char *const *)field, here, words);
        }
    }
    free(here);
    return here && !words->failed;
}

bool cli_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end = NULL;

    errno = 0;
    const unsigned long long found = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || found > most)
        return false;
    *number = found;
    return true;
}

static int parse_command(struct cli *cli, const char *name)
{
    struct laz_nearest nearest;

    laz_nearest_init(&nearest, name);
    for (const struct cli_command *command = cli->commands; command->name; command++) {
        laz_nearest_try(&nearest, command->name);
        if (strcmp(command->name, name) == 0)
            cli->command = command;
    }
    if (cli->command && cli->command->run)
        return 0;
    if (cli->command)
        cli_problem(cli, "%s is not available in this version", name);
    else if (laz_nearest_best(&nearest))
        cli_problem(cli, "unknown subcommand %s; did you mean %s?", name,
                    laz_nearest_best(&nearest));
    else
        cli_problem(cli, "unknown subcommand %s; see lazaret --help", name);
    return CLI_USAGE;
}

/* After a mistake that ends reading: --json takes effect also where it stands behind that. */
static int parse_failed(struct cli *cli, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        cli->json |= strcmp(argv[i], "--json") == 0;
    return CLI_USAGE;
}

int cli_parse(struct cli *cli, int argc, char **argv)
{
    int first = options_read(cli, argc, argv, CLI_FOR_ALL, "+");

    if (first < 0)
        return parse_failed(cli, argc, argv);
    if (first == argc) {
        if (cli->help || cli->version)
            return 0;
        cli_problem(
            cli, "a subcommand is needed, such as lazaret run -e 'print(1)'; see lazaret --help");
        return CLI_USAGE;
    }
    if (parse_command(cli, argv[first]) != 0)
        return parse_failed(cli, argc, argv);
    argc -= first;
    argv += first;
    /* what follows the file that is run belongs to it */
    first = options_read(cli, argc, argv, cli->command->bit,
                         cli->command->bit == CLI_FOR_RUN ? "+" : "");
    cli->is_program = cli->command->bit == CLI_FOR_RUN && cli->is_ended;
    cli->passes_status = cli->is_program;
    if (first < 0)
        return CLI_USAGE;
    cli->operands = argv + first;
    cli->n_operands = argc - first;
    if (cli->n_operands > cli->command->max_operands) {
        cli_problem(cli, "%s: too many arguments: %s", cli->command->name,
                    cli->operands[cli->command->max_operands]);
        return CLI_USAGE;
    }
    return 0;
}

static void help_options(struct laz_buf *text, const char *title, uint32_t commands, bool common)
{
    bool any = false;

    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct cli_option *o = &options[i];
        char left[48];

        if (!option_is_for(o, commands) || (o->commands == CLI_FOR_ALL) != common)
            continue;
        if (!any)
            laz_buf_puts(text, title);
        any = true;
        snprintf(left, sizeof left, "%c%c%s%s%s%s%s", o->letter ? '-' : ' ',
                 o->letter ? o->letter : ' ',
                 o->letter && o->name ? ", "
                 : o->name            ? "  "
                                      : "",
                 o->name ? "--" : "", o->name ? o->name : "", o->argument ? " " : "",
                 o->argument ? o->argument : "");
        laz_buf_printf(text, "  %-22s %s\n", left, o->help);
    }
}

int cli_help(struct cli *cli)
{
    const struct cli_command *command = cli->command;
    struct laz_buf text = LAZ_BUF_INIT;

    if (command) {
        laz_buf_printf(&text, "usage: lazaret %s [options]%s%s\n\n%s\n", command->name,
                       *command->operands ? " " : "", command->operands,
                       *command->text ? command->text : command->summary);
        help_options(&text, "\noptions:\n", command->bit, false);
        help_options(&text, "\ncommon options:\n", command->bit, true);
        return cli_answer_text(cli, "help", &text);
    }
    laz_buf_puts(&text, "usage: lazaret [options] SUBCOMMAND [options] [arguments]\n\n"
                        "Runs code that a language model wrote in a sandbox of the operating "
                        "system,\nwith tools of the host as ordinary functions.\n\nsubcommands:\n");
    for (command = cli->commands; command->name; command++)
        if (command->run)
            laz_buf_printf(&text, "  %-10s %s\n", command->name, command->summary);
    help_options(&text, "\ncommon options:\n", CLI_FOR_ALL, true);
    laz_buf_puts(&text, "\nFor more see lazaret SUBCOMMAND --help and lazaret(1).\n");
    return cli_answer_text(cli, "help", &text);
}

int cli_help_about(struct cli *cli)
{
    cli->command = NULL;
    if (cli->n_operands && parse_command(cli, cli->operands[0]) != 0)
        return CLI_USAGE;
    return cli_help(cli);
}
