/* SPDX-License-Identifier: MIT */
/* command.h - runs a host command for a tool or a hook, and waits for it.
 *
 * For worker threads: it blocks.  The command is not run by a shell and not looked up in PATH; it
 * gets descriptors 0, 1 and 2 only, and an environment without variables that could change its
 * meaning.  Standard input is a file in memory, so a command need not read it. */
#ifndef LAZ_TOOL_COMMAND_H
#define LAZ_TOOL_COMMAND_H

#include "base/buf.h"
#include "base/error.h"
#include "os/io.h"
#include "os/spawner.h"

#include <lazaret/tool.h>

#define LAZ_COMMAND_MAX_OUTPUT ((size_t)64 << 20) /* bytes of each stream, if max_output is 0 */
#define LAZ_HOOK_TIMEOUT_MS    30000

/* Appends the environment of commands: a fixed PATH; HOME, USER, LOGNAME, SHELL, TMPDIR, LANG, LC_*
 * and TZ as they are in this process (HOME and LANG have a default), on Windows the variables that
 * name the directories of the system and the user; nothing else. It calls getenv: call it once, in
 * the thread that makes the engine. LAZ_ENOMEM. */
int laz_command_environment(struct laz_strv *env, struct laz_error *err);

/* Checks that `program` is an absolute path of a program that no other user can change
 * (os/trust.h). LAZ_EINVAL or LAZ_EOS, with the remedy. */
int laz_command_check(const char *program, struct laz_error *err);

/* Runs `command` with exactly `env` and waits until it has ended. Its output is stored in `out` and
 * `errs` (cleared first), to which *result points. Returns 0 if it ran and ended, with any status.
 * The command ends with its main process: background children are neither killed nor waited for,
 * and what they write later is lost.
 * `cancel_fd` (-1: none) is borrowed; the process group is killed when it becomes readable, and
 * after `timeout_ms` (LAZ_OS_FOREVER: never).
 * Errors: those of laz_command_check, LAZ_EOS (cannot be started), LAZ_ETIMEOUT (either of these),
 * LAZ_ETOOBIG (a stream exceeds max_output; the group was killed), LAZ_ENOMEM. */
int laz_command_run(struct laz_spawner *spawner, const struct laz_command *command,
                    const char *const *env, int cancel_fd, uint64_t timeout_ms,
                    struct laz_command_result *result, struct laz_buf *out, struct laz_buf *errs,
                    struct laz_error *err);

/* Runs a hook with `code` on standard input and exactly `env`, and waits until it has ended.
 * 0: it exited with status 0, the code may run.
 * LAZ_EREFUSED: it exited with another status; `reason` is the first line of its standard error
 * without control bytes, possibly "". Other errors: it could not be run, or took longer than
 * LAZ_HOOK_TIMEOUT_MS (LAZ_ETIMEOUT); the code must not run either. */
int laz_hook_run(struct laz_spawner *spawner, const char *const *argv, const char *const *env,
                 const char *code, size_t len, char *reason, size_t reason_size,
                 struct laz_error *err);

#endif
