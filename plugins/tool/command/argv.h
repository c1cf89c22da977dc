/* SPDX-License-Identifier: MIT */
/* argv.h - the argument list of a command with placeholders. Private to the plugin `command`. */
#ifndef LAZ_COMMAND_ARGV_H
#define LAZ_COMMAND_ARGV_H

#include <lazaret/tool.h>

#include <stdbool.h>

struct command_item {
    char *text;
    char *parameter;   /* the text is a placeholder for it; or NULL */
    bool after_dashes; /* "--" stands before it: a value may begin with "-" */
};

struct command_argv {
    struct command_item *items;
    size_t n;
    bool all_placed; /* each parameter has a placeholder: nothing is left for standard input */
};

/* Fills *err (unless NULL) and returns `code`. */
int command_error(struct laz_error *err, int code, const char *format, ...) LAZ_PRINTF(3, 4);

/* Reads the list of strings at the reader. False: malformed, or without memory. */
bool command_argv_read(struct command_argv *argv, const struct laz_json_api *json,
                       struct laz_json_reader *reader);
void command_argv_fini(struct command_argv *argv);
/* Finds the placeholders and refuses what cannot work: one for the program, one that names no
 * parameter, one inside a longer argument, one that would be run as a script, and one whose
 * parameter may be missing in a call. `parameters`: the JSON list. */
int command_argv_bind(struct command_argv *argv, const struct laz_json_api *json, const char *tool,
                      const char *parameters, struct laz_error *err);
/* The argument list for a call; command_argv_free. Errors are for the code that called. */
int command_argv_make(const struct command_argv *argv, const struct laz_json_api *json,
                      const char *tool, const char *args, size_t len, char ***made,
                      struct laz_error *err);
void command_argv_free(char **made);

#endif
