/* SPDX-License-Identifier: MIT */
/* write_completions.c - prints the completions of the command line for the shell that its argument
 * names: bash, zsh or fish.
 *
 * A program for the build, which is not installed.  What it prints is made from the tables of
 * options and subcommands, so no option can be missing; tests/lint/completions.sh compares it with
 * docs/completions, and `make docs` writes that.  Names of plugins are asked of the command when
 * they are needed. */
#include "cli/cli.h"
#include "edit/edit.h"

#include <stdio.h>
#include <string.h>

/* What stands for an option's argument. */
enum completion_kind {
    COMPLETE_NOTHING,
    COMPLETE_FILE,
    COMPLETE_DIRECTORY,
    COMPLETE_WORDS,
    COMPLETE_PLUGINS
};

/* The options whose arguments are known; `words`: those, or the kind of plugin. */
static const struct completion {
    const char *option;
    enum completion_kind kind;
    const char *words;
} completions[] = {
    {"read", COMPLETE_FILE, NULL},
    {"write", COMPLETE_FILE, NULL},
    {"config", COMPLETE_FILE, NULL},
    {"file", COMPLETE_FILE, NULL},
    {"token-file", COMPLETE_FILE, NULL},
    {"listen", COMPLETE_FILE, NULL},
    {"cwd", COMPLETE_DIRECTORY, NULL},
    {"artifacts", COMPLETE_DIRECTORY, NULL},
    {"format", COMPLETE_WORDS, "text json r python javascript lua shell"},
    {"platform", COMPLETE_WORDS, "linux darwin windows"},
    {"kind", COMPLETE_WORDS, "tool backend runtime"},
    {"backend", COMPLETE_PLUGINS, "backend"},
    {"runtime", COMPLETE_PLUGINS, "runtime"},
};

/* The words that a subcommand takes as operands; files where there are none. */
static const struct completion operands[] = {
    {"audit", COMPLETE_WORDS, "verify show"},
    {"plugins", COMPLETE_WORDS, "new"},
};

static const struct completion *completion_of(const char *option)
{
    static const struct completion none = {NULL, COMPLETE_NOTHING, NULL};
    static char clients[256];
    static const struct completion install = {"install", COMPLETE_WORDS, clients};

    if (option && strcmp(option, "install") == 0 && !*clients)
        for (const struct laz_edit_client *client = laz_edit_clients; client->name; client++)
            snprintf(clients + strlen(clients), sizeof clients - strlen(clients), "%s%s",
                     *clients ? " " : "", client->name);
    if (option && strcmp(option, "install") == 0)
        return &install;
    for (size_t i = 0; option && i < sizeof completions / sizeof *completions; i++)
        if (strcmp(completions[i].option, option) == 0)
            return &completions[i];
    return &none;
}

static const char *completion_operands(const char *command)
{
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        if (strcmp(operands[i].option, command) == 0)
            return operands[i].words;
    return "";
}

static bool completion_is_common(const struct cli_option *option)
{
    return option->commands == CLI_FOR_ALL;
}

/* Prints a text in single quotes; `escaped`: bytes that get a backslash. */
static void put_quoted(const char *text, const char *escaped)
{
    for (; *text; text++)
        if (*text == '\'')
            printf("'\\''");
        else
            printf("%s%c", strchr(escaped, *text) ? "\\" : "", *text);
}

/* Calls `each` for the options of a subcommand, or for the common ones (NULL). */
static void completion_visit(const struct cli_command *command,
                             void (*each)(const struct cli_command *command,
                                          const struct cli_option *option))
{
    const struct cli_option *option;

    for (size_t i = 0; (option = cli_option_at(i)); i++)
        if (command ? !completion_is_common(option) && (option->commands & command->bit)
                    : completion_is_common(option))
            each(command, option);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_word(const struct cli_command *command, const struct cli_option *option)
{
    (void)command;
    if (option->letter)
        printf(" -%c", option->letter);
    if (option->name)
        printf(" --%s", option->name);
}

static void bash_names(const struct cli_option *option)
{
    if (option->letter)
        printf("-%c%s", option->letter, option->name ? " | " : "");
    if (option->name)
        printf("--%s", option->name);
}

static void bash_argument(const struct cli_option *option)
{
    const struct completion *completion = completion_of(option->name);

    if (!option->argument)
        return;
    printf("        ");
    bash_names(option);
    printf(") ");
    if (completion->kind == COMPLETE_WORDS)
        printf("_lazaret_words '%s'", completion->words);
    else if (completion->kind == COMPLETE_PLUGINS)
        printf("_lazaret_words \"$(_lazaret_plugins %s)\"", completion->words);
    else if (completion->kind != COMPLETE_NOTHING)
        printf("_lazaret_files %s", completion->kind == COMPLETE_FILE ? "-f" : "-d");
    printf("%sreturn ;;\n", completion->kind ? "; " : "");
}

static void bash_write(void)
{
    const struct cli_option *option;
    bool any = false;

    printf("# Completions of lazaret for bash. Made by `make docs`.\n\n"
           "_lazaret_words() {\n    COMPREPLY=($(compgen -W \"$1\" -- \"$current\"))\n}\n\n"
           "_lazaret_files() {\n    compopt -o filenames 2>/dev/null\n    local IFS=$'\\n'\n"
           "    COMPREPLY=($(compgen \"$1\" -- \"$current\"))\n}\n\n"
           "_lazaret_plugins() {\n    lazaret plugins -q 2>/dev/null | "
           "while read -r kind name rest; do\n"
           "        [ \"$kind\" != \"$1\" ] || echo \"$name\"\n    done\n}\n\n"
           "_lazaret() {\n    local current=${COMP_WORDS[COMP_CWORD]} "
           "before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local command= operands=0 options i\n    COMPREPLY=()\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n        case ${COMP_WORDS[i]} in\n         "
           "   ");
    for (size_t i = 0; (option = cli_option_at(i)); i++) {
        if (!option->argument)
            continue;
        printf("%s", any ? " | " : "");
        bash_names(option);
        any = true;
    }
    printf(") ((i++)) ;;\n            -?*) ;;\n"
           "            *) [ -z \"$command\" ] && command=${COMP_WORDS[i]} || ((operands++)) ;;\n"
           "        esac\n    done\n"
           "    case $command:$operands in # what follows the file is for the code\n"
           "        run:[1-9]*) _lazaret_files -f; return ;;\n    esac\n    case $before in\n");
    for (size_t i = 0; (option = cli_option_at(i)); i++)
        bash_argument(option);
    printf("    esac\n    case $command in\n        '') options= ;;\n");
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        if (!command->run)
            continue;
        printf("        %s) options='", command->name);
        completion_visit(command, bash_word);
        printf("' ;;\n");
    }
    printf("        *) return ;;\n    esac\n    options=\"$options");
    completion_visit(NULL, bash_word);
    printf("\"\n    case $command:$current in\n        *:-*) _lazaret_words \"$options\" ;;\n      "
           "  : | :*) "
           "_lazaret_words '");
    for (const struct cli_command *command = cli_commands; command->name; command++)
        if (command->run)
            printf("%s%s", command == cli_commands ? "" : " ", command->name);
    printf("' ;;\n");
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        printf("        %s:*) _lazaret_files -f; [ $operands -gt 0 ] || COMPREPLY+=($(compgen -W "
               "'%s' -- "
               "\"$current\")) ;;\n",
               operands[i].option, operands[i].words);
    printf(
        "        run:* | check:* | mcp:*) _lazaret_files -f ;;\n        help:*) _lazaret_words '");
    for (const struct cli_command *command = cli_commands; command->name; command++)
        if (command->run)
            printf("%s%s", command == cli_commands ? "" : " ", command->name);
    printf("' ;;\n    esac\n}\n\ncomplete -F _lazaret lazaret\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_action(const struct cli_option *option)
{
    const struct completion *completion = completion_of(option->name);

    printf(":%s:", option->argument);
    if (completion->kind == COMPLETE_WORDS)
        printf("(%s)", completion->words);
    else if (completion->kind == COMPLETE_PLUGINS)
        printf("{_lazaret_plugins %s}", completion->words);
    else if (completion->kind != COMPLETE_NOTHING)
        printf("_files%s", completion->kind == COMPLETE_FILE ? "" : " -/");
}

static void zsh_spec(const struct cli_option *option, const char *dashes, const char *name)
{
    printf("            '*%s%s[", dashes, name);
    put_quoted(option->help, "[]:");
    printf("]");
    if (option->argument)
        zsh_action(option);
    printf("'\n");
}

static void zsh_option(const struct cli_command *command, const struct cli_option *option)
{
    const char letter[] = {option->letter, '\0'};

    (void)command;
    if (option->letter)
        zsh_spec(option, "-", letter);
    if (option->name)
        zsh_spec(option, "--", option->name);
}

static void zsh_write(void)
{
    printf("#compdef lazaret\n# Completions of lazaret for zsh. Made by `make docs`.\n\n"
           "_lazaret_plugins() {\n    local -a names\n"
           "    names=(${(f)\"$(lazaret plugins -q 2>/dev/null | "
           "awk -v kind=\"$1\" '$1 == kind { print $2 }')\"})\n"
           "    compadd -a names\n}\n\n"
           "_lazaret() {\n    local curcontext=\"$curcontext\" state line\n"
           "    local -a common options commands\n    common=(\n");
    completion_visit(NULL, zsh_option);
    printf("    )\n    commands=(\n");
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        if (!command->run)
            continue;
        printf("        '%s:", command->name);
        put_quoted(command->summary, ":");
        printf("'\n");
    }
    printf("    )\n    _arguments -C $common '1: :->command' '*:: :->rest'\n    case $state in\n"
           "        command) _describe subcommand commands ;;\n        rest) case $words[1] in\n");
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        if (!command->run)
            continue;
        printf("            %s) options=(\n", command->name);
        completion_visit(command, zsh_option);
        if (*completion_operands(command->name))
            printf("            '1: :{_alternative \"words:word:(%s)\" \"files:file:_files\"}'\n",
                   completion_operands(command->name));
        if (command->bit == CLI_FOR_HELP)
            printf("            '1: :{_describe subcommand commands}'\n");
        else if (command->max_operands)
            printf("            '*: :_files'\n");
        printf("            ) ;;\n");
    }
    printf("            *) return ;;\n        esac\n        _arguments $common $options ;;\n"
           "    esac\n}\n\n_lazaret \"$@\"\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_option(const struct cli_command *command, const struct cli_option *option)
{
    const struct completion *completion = completion_of(option->name);

    printf("complete -c lazaret");
    if (command)
        printf(" -n '__fish_seen_subcommand_from %s'", command->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (option->name)
        printf(" -l %s", option->name);
    if (option->argument)
        printf(completion->kind == COMPLETE_FILE ? " -r -F" : " -x");
    if (completion->kind == COMPLETE_WORDS)
        printf(" -a '%s'", completion->words);
    else if (completion->kind == COMPLETE_PLUGINS)
        printf(" -a '(__lazaret_plugins %s)'", completion->words);
    else if (completion->kind == COMPLETE_DIRECTORY)
        printf(" -a '(__fish_complete_directories)'");
    printf(" -d '");
    put_quoted(option->help, "");
    printf("'\n");
}

static void fish_write(void)
{
    printf("# Completions of lazaret for fish. Made by `make docs`.\n\n"
           "function __lazaret_plugins\n"
           "    lazaret plugins -q 2>/dev/null | string match -r \"^$argv[1] +\\\\S+\" | "
           "string replace -r '^\\S+ +' ''\nend\n\n");
    completion_visit(NULL, fish_option);
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        if (!command->run)
            continue;
        printf("complete -c lazaret -n __fish_use_subcommand -f -a %s -d '", command->name);
        put_quoted(command->summary, "");
        printf("'\n");
        completion_visit(command, fish_option);
        if (*completion_operands(command->name))
            printf("complete -c lazaret -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                   command->name, completion_operands(command->name));
        if (!command->max_operands)
            printf("complete -c lazaret -n '__fish_seen_subcommand_from %s' -f\n", command->name);
    }
    printf("complete -c lazaret -n '__fish_seen_subcommand_from help' -f -a '");
    for (const struct cli_command *command = cli_commands; command->name; command++)
        if (command->run)
            printf("%s%s", command == cli_commands ? "" : " ", command->name);
    printf("'\n");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *shell;
        void (*write)(void);
    } shells[] = {{"bash", bash_write}, {"zsh", zsh_write}, {"fish", fish_write}};

    for (size_t i = 0; argc == 2 && i < sizeof shells / sizeof *shells; i++)
        if (strcmp(argv[1], shells[i].shell) == 0) {
            shells[i].write();
            return fflush(stdout) == 0 ? 0 : 1;
        }
    fprintf(stderr, "usage: write-completions bash | zsh | fish\n");
    return 2;
}
