/* SPDX-License-Identifier: MIT */
/* source.h - the code that run and check are given, and what belongs to it: its language, its
 * command line, and the files beside it. */
#ifndef LAZ_CLI_SOURCE_H
#define LAZ_CLI_SOURCE_H

#include "cli/cli.h"

struct source {
    struct laz_buf code;
    const char *name;    /* for messages: the file, "-e", "standard input", a program */
    const char *runtime; /* NULL: as the settings say; else borrowed from the registry */
    struct laz_registry *registry;
    bool is_input;         /* it was standard input, all of it */
    bool is_silent;        /* the value of its last expression is not shown */
    struct laz_strv argv;  /* the command line that the code finds; empty: none */
    char *directory;       /* of its file, without links; NULL: it is not known */
    const char *hides;     /* why it is not shown all modules in `directory`; NULL: it is */
    struct laz_strv shown; /* paths that it is shown: its file, and modules beside it */
    /* Of modules of its language; borrowed from the registry, NULL: none. */
    const struct laz_strv *suffixes, *more_suffixes;
};

/* Reads the code that the command line names. 0 or an exit status (printed). */
int source_read(struct cli *cli, struct source *source);
/* Is the value of its code an exit status, that of the command? */
bool source_has_status(struct cli *cli, struct source *source);
/* A file beside the code for which an error with this message has looked in vain, and what shows
 * it: a new string, or NULL. */
char *source_missing(const struct cli *cli, const struct source *source, const char *message);
/* Beside the code of a file: adds to source->shown the modules of this owner. */
void source_show_modules(struct cli *cli, struct source *source, const char *runtime,
                         uint32_t owner);
bool source_is_reachable(const char *path); /* by a session */
void source_fini(struct source *source);

#endif
