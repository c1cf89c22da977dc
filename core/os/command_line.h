/* SPDX-License-Identifier: MIT */
/* command_line.h - the arguments and the environment of a child on Windows: one text each.
 *
 * Compiled and tested on every system; the file that calls Windows converts both to UTF-16. */
#ifndef LAZ_OS_COMMAND_LINE_H
#define LAZ_OS_COMMAND_LINE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the command line that CommandLineToArgvW and the C runtime parse into `argv` (ends with
 * NULL, not empty). Errors: LAZ_EINVAL naming the argument (not UTF-8; a program with a quotation
 * mark, which cannot be quoted there), LAZ_ETOOBIG (Windows allows 32767 characters), LAZ_ENOMEM.
 */
int laz_command_line(const char *const *argv, struct laz_buf *line, struct laz_error *err);

/* Why Windows must not be asked to start this path: it is, or could be interpreted as, a batch
 * file, which is handed to cmd.exe with its arguments. The end of a sentence; NULL: the name is
 * allowed. */
const char *laz_command_line_refuses(const char *path);

/* Appends the environment `env` ("NAME=VALUE", ends with NULL; NULL: empty) in the form of Windows:
 * sorted by name regardless of case, each text ended by a NUL, and one more NUL. Errors: LAZ_EINVAL
 * for what is not NAME=VALUE, not UTF-8, or a duplicate (names that differ in case are one name),
 * LAZ_ETOOBIG, LAZ_ENOMEM. */
int laz_environment_block(const char *const *env, struct laz_buf *block, struct laz_error *err);

#endif
