/* SPDX-License-Identifier: MIT */
/* command.h - running a host command for a tool or a hook, and waiting for it.
 *
 * For worker threads: it blocks.  Never a shell, never a search in PATH, no descriptor but 0, 1 and
 * 2, and an environment in which nothing is left of what could change the meaning of the command.
 * Standard input is a file in memory, so a command that does not read it harms nobody. */
#ifndef LAZ_TOOL_COMMAND_H
#define LAZ_TOOL_COMMAND_H

#include "base/buf.h"
#include "base/error.h"
#include "os/spawner.h"

#include <lazaret/tool.h>

#define LAZ_COMMAND_MAX_OUTPUT ((size_t)64 << 20) /* of each stream, when the command says 0 */
#define LAZ_HOOK_TIMEOUT_MS    30000

/* The environment commands get: a fixed PATH; HOME, USER, LOGNAME, SHELL, TMPDIR, LANG, LC_* and TZ
 * as they are here (HOME and LANG have a value in any case), on Windows what tells where the system
 * and the user's folders are; nothing else. It reads the environment
 * of the process: ask once, on the thread that makes the engine. */
int laz_command_environment(struct laz_strv *env, struct laz_error *err);

/* Is it the absolute path of a program that nobody else can change (os/trust.h)? 0, or LAZ_EINVAL
 * or LAZ_EOS with the remedy. */
int laz_command_check(const char *program, struct laz_error *err);

/* Runs `command` with exactly `env` and waits until it has ended. Its output is in `out` and `errs`
 * (cleared first), to which *result points. 0 means that it ran and ended, whatever its status.
 * The end of the main process is the end of the command: what its background children have not
 * written by then is not waited for, and they are left alone.
 * `cancel_fd` (-1: none) is borrowed; when it becomes readable the process group is killed.
 * Errors: those of laz_command_check, LAZ_EOS (cannot be started), LAZ_ETIMEOUT (cancelled),
 * LAZ_ETOOBIG (a stream exceeds max_output; the group was killed), LAZ_ENOMEM. */
int laz_command_run(struct laz_spawner *spawner, const struct laz_command *command,
                    const char *const *env, int cancel_fd, struct laz_command_result *result,
                    struct laz_buf *out, struct laz_buf *errs, struct laz_error *err);

/* Asks a hook about code, given to it on standard input, with exactly `env`; it blocks.
 * 0: it exited with 0, the code may run.
 * LAZ_EREFUSED: it exited with anything else; `reason` is the first line of its standard error
 * without control bytes, or "" when it said nothing. Other errors: it could not be asked (or took
 * longer than LAZ_HOOK_TIMEOUT_MS, LAZ_ETIMEOUT): the code must not run either. */
int laz_hook_run(struct laz_spawner *spawner, const char *const *argv, const char *const *env,
                 const char *code, size_t len, char *reason, size_t reason_size,
                 struct laz_error *err);

#endif
