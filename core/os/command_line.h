/* SPDX-License-Identifier: MIT */
/* command_line.h - how a child of Windows is given its arguments and environment: as one text each.
 *
 * Compiled and tested on every system; the file that calls Windows makes UTF-16 of both. */
#ifndef LAZ_OS_COMMAND_LINE_H
#define LAZ_OS_COMMAND_LINE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the command line from which CommandLineToArgvW and the C runtime make `argv` (ends with
 * NULL, not empty) again. Errors: LAZ_EINVAL naming the argument (not UTF-8; a program with a
 * quotation mark, which its place cannot hold), LAZ_ETOOBIG (Windows takes 32767 characters),
 * LAZ_ENOMEM. */
int laz_command_line(const char *const *argv, struct laz_buf *line, struct laz_error *err);

/* Why Windows must not be asked to start this path: it is, or could be taken for, a batch file,
 * which is handed to cmd.exe with its arguments. A sentence's end; NULL: nothing is wrong with the
 * name. */
const char *laz_command_line_refuses(const char *path);

/* Appends the environment of `env` ("NAME=VALUE", ends with NULL; NULL: empty) as Windows takes it:
 * sorted by name whatever the case, each text ended by a NUL, and one more NUL. Errors: LAZ_EINVAL
 * for what is no NAME=VALUE, not UTF-8, or there twice (names that differ in case are one name),
 * LAZ_ETOOBIG, LAZ_ENOMEM. */
int laz_environment_block(const char *const *env, struct laz_buf *block, struct laz_error *err);

#endif
