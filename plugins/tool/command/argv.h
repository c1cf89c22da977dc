/* SPDX-License-Identifier: MIT */
/* argv.h - the argument list of a command with placeholders. Private to the plugin `command`. */
#ifndef LAZ_COMMAND_ARGV_H
#define LAZ_COMMAND_ARGV_H

#include <lazaret/tool.h>

#include <stdbool.h>

struct command_item {
    char *text;
    char *parameter;   /* its name, if the text is a placeholder; or NULL */
    bool after_dashes; /* follows "--", so the value may begin with "-" */
};

struct command_argv {
    struct command_item *items;
    size_t n;
    bool all_placed; /* each parameter has a placeholder, so standard input stays empty */
};

/* Takes the strings of a list that ends with NULL, which has none afterwards. False: out of memory.
 */
bool command_argv_take(struct command_argv *argv, char **list);
void command_argv_fini(struct command_argv *argv);
/* Finds the placeholders and refuses those that cannot work: as the program, with an unknown name,
 * inside a longer argument, run as a script, or for a parameter that may be missing in a call.
 * `parameters`: the JSON list. */
int command_argv_bind(struct command_argv *argv, const struct laz_json_api *json, const char *tool,
                      const char *parameters, struct laz_error *err);
/* Makes the argument list for a call, to be freed by command_argv_free. Errors are for the code
 * that called. */
int command_argv_make(const struct command_argv *argv, const struct laz_json_api *json,
                      const char *tool, const char *args, size_t len, char ***made,
                      struct laz_error *err);
void command_argv_free(char **made);

#endif
