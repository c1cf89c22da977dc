/* SPDX-License-Identifier: MIT */
/* lazaret/result.h - what an execution gives: its verdict, value, output, error and artifacts.
 *
 * A result is the caller's until laz_result_free. It belongs to no engine and may be read by any
 * thread, one at a time. Part of lazaret/lazaret.h, which has the functions that make one. */
#ifndef LAZARET_RESULT_H
#define LAZARET_RESULT_H

#include <lazaret/error.h>
#include <lazaret/plugin.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- results -------------------------------------------------------------------------------- */

struct laz_result;

enum laz_verdict {
    LAZ_VERDICT_OK = 0,
    LAZ_VERDICT_ERROR,
    LAZ_VERDICT_SYNTAX_ERROR,
    LAZ_VERDICT_TIMEOUT,
    LAZ_VERDICT_DEADLINE,
    LAZ_VERDICT_CPU_LIMIT,
    LAZ_VERDICT_MEMORY_LIMIT,
    LAZ_VERDICT_FSIZE_LIMIT,
    LAZ_VERDICT_TOOL_LIMIT,
    LAZ_VERDICT_OUTPUT_LIMIT,
    LAZ_VERDICT_BLOCKED,
    LAZ_VERDICT_CANCELLED,
    LAZ_VERDICT_PROTOCOL_ERROR,
    LAZ_VERDICT_CRASHED,
    LAZ_VERDICT_SETUP_FAILED,
    LAZ_VERDICT_WORKER_LOST, /* its session was on another machine, which cannot be reached */
};

/* "ok", "error", ...: the names used in documents and in JSON. Static text. */
LAZ_EXPORT const char *laz_verdict_name(enum laz_verdict verdict);
/* The exit status the command gives for it. */
LAZ_EXPORT int laz_verdict_exit_status(enum laz_verdict verdict);

/* All texts are borrowed until laz_result_free. */
LAZ_EXPORT enum laz_verdict laz_result_verdict(const struct laz_result *result);
/* The exit status that the command gives for it: that of the verdict, or of code that ended its process
 * with one of its own, 1 to 123 (others become 1); of a runtime whose values are statuses (shell) that
 * value, 0 to 255. */
LAZ_EXPORT int laz_result_exit_status(const struct laz_result *result);
/* How it ended: a sentence, or "". */
LAZ_EXPORT const char *laz_result_detail(const struct laz_result *result);
/* JSON; "null" if there is none. */
LAZ_EXPORT const char *laz_result_value(const struct laz_result *result);
/* Is the value null because what there is could not be sent: it is larger than the settings allow,
 * or nested too deeply? A warning says why, and the text shows it. */
LAZ_EXPORT bool laz_result_is_value_omitted(const struct laz_result *result);
/* What the language's prompt would print for the value; NULL when it would print nothing. */
LAZ_EXPORT const char *laz_result_text(const struct laz_result *result);
/* Output, in pieces as it came (kept up to session.max_output_size): how many, and one of them. */
LAZ_EXPORT size_t laz_result_outputs(const struct laz_result *result);
LAZ_EXPORT const char *laz_result_output(const struct laz_result *result, size_t index, int *stream,
                                         size_t *len);
/* Was output discarded, because there was more than the settings keep? */
LAZ_EXPORT bool laz_result_is_truncated(const struct laz_result *result);
/* The name of the verdict that ended this session's interpreter before this execution, which ran in
 * a fresh one: variables of earlier executions are gone. NULL: it ran in the same one as the
 * execution before, or the first one, or one that laz_session_restart has made. Static text. */
LAZ_EXPORT const char *laz_result_replaced(const struct laz_result *result);
/* Does the session go on after this execution with all that its code has made: variables, modules,
 * files? False in a session of one execution, and where its interpreter was ended. */
LAZ_EXPORT bool laz_result_is_kept(const struct laz_result *result);
/* Message of the error, or NULL: an error of the code, or why nothing ran. */
LAZ_EXPORT const char *laz_result_error(const struct laz_result *result);
/* What kind of error it was: "runtime", "syntax", "memory", "exit", ...; NULL without one. */
LAZ_EXPORT const char *laz_result_error_kind(const struct laz_result *result);
/* Where in the code it was, both from 1; 0: unknown, or there was none. */
LAZ_EXPORT int64_t laz_result_error_line(const struct laz_result *result);
LAZ_EXPORT int64_t laz_result_error_column(const struct laz_result *result);
/* The calls that led to it (traceback), outermost first: how many, and one of them; NULL beyond the end. */
LAZ_EXPORT size_t laz_result_traceback_length(const struct laz_result *result);
LAZ_EXPORT const char *laz_result_traceback(const struct laz_result *result, size_t index);
/* Warnings, about patterns in the code and what was left out: how many, and one of them; NULL beyond the end. */
LAZ_EXPORT size_t laz_result_warnings(const struct laz_result *result);
LAZ_EXPORT const char *laz_result_warning(const struct laz_result *result, size_t index);

/* What was refused, or is missing by the settings: how many of them, and one as a JSON object, NULL
 * beyond the end. {"what":..., "name":..., "port":..., "count":..., "allow":..., "retry":...,
 * "source":...}: `allow` is the line of a configuration that would permit it; `source` "network":
 * lazaret has refused it; "error": it was read from an error of the code. See docs/network.md. */
LAZ_EXPORT size_t laz_result_denials(const struct laz_result *result);
LAZ_EXPORT const char *laz_result_denial(const struct laz_result *result, size_t index);

/* Which credentials were used, for which host and how often, and never their secrets: how many, and one
 * as a JSON object, NULL beyond the end. {"name":..., "host":..., "count":...}. See docs/credentials.md. */
LAZ_EXPORT size_t laz_result_credentials(const struct laz_result *result);
LAZ_EXPORT const char *laz_result_credential(const struct laz_result *result, size_t index);

/* A file that the code has saved in the directory `artifacts` of its working directory (also in
 * the variable LAZARET_ARTIFACTS), or a figure that it has drawn: new, or changed since the
 * execution before. Up to [artifacts] max_files and max_size; warnings name what is left out. It has
 * come as a whole, and has this digest. */
struct laz_artifact {
    size_t size;        /* set by the caller: LAZ_ARTIFACT_INIT */
    const char *name;   /* below that directory, with '/' between directories; no control characters,
                           and no part of it begins with "." */
    const char *type;   /* media type: "image/png" */
    const char *sha256; /* 64 digits */
    const void *data;
    size_t data_len;
    const char *path; /* where laz_result_save_artifacts has saved it; NULL: nowhere */
    const char *problem; /* why that could not save it; NULL: it could, or was not called. */
};
#define LAZ_ARTIFACT_INIT LAZ_INIT(struct laz_artifact)

/* How many there are; and one of them, whose texts and bytes are borrowed until laz_result_free.
 * LAZ_EINVAL: a NULL, or no such index. */
LAZ_EXPORT size_t laz_result_artifacts(const struct laz_result *result);
LAZ_EXPORT int laz_result_artifact(const struct laz_result *result, size_t index,
                                   struct laz_artifact *artifact);
/* Saves them all in this directory, which is made if it is missing. A file that exists is not
 * changed: the artifact gets another name ("plot-2.png"). No link is followed below the directory.
 * One that cannot be saved has its `problem`, and does not stop the others.
 * Errors: LAZ_EINVAL, LAZ_ENOMEM, LAZ_EOS: that of the first one that could not be saved. */
LAZ_EXPORT int laz_result_save_artifacts(struct laz_result *result, const char *directory,
                                         struct laz_error *err);

/* A file that is not an artifact, because it did not come as a whole: the execution ended before (a
 * timeout, a cancel, a limit, a breach of the protocol). Its bytes are gone. */
struct laz_lost_artifact {
    size_t size;      /* set by the caller: LAZ_LOST_ARTIFACT_INIT */
    const char *name; /* as of an artifact */
    const char *why;  /* a sentence */
    uint64_t bytes;   /* that have come */
};
#define LAZ_LOST_ARTIFACT_INIT LAZ_INIT(struct laz_lost_artifact)

/* How many there are; and one of them, whose texts are borrowed until laz_result_free. LAZ_EINVAL: a
 * NULL, or no such index. */
LAZ_EXPORT size_t laz_result_lost_artifacts(const struct laz_result *result);
LAZ_EXPORT int laz_result_lost_artifact(const struct laz_result *result, size_t index,
                                        struct laz_lost_artifact *artifact);

struct laz_execution_usage {
    size_t size;            /* set by the caller: LAZ_EXECUTION_USAGE_INIT */
    uint64_t wall_us;       /* from the start of the code to its end, microseconds */
    uint64_t cpu_us;        /* CPU time, microseconds */
    uint64_t max_rss_bytes; /* most memory that a process of the session has used so far */
    uint64_t tool_calls;
};
#define LAZ_EXECUTION_USAGE_INIT LAZ_INIT(struct laz_execution_usage)

/* What the execution has used. LAZ_EINVAL: a NULL, or `size` is 0. */
LAZ_EXPORT int laz_result_usage(const struct laz_result *result, struct laz_execution_usage *usage);
/* Name of the backend whose box it ran in; NULL: nothing ran. */
LAZ_EXPORT const char *laz_result_backend(const struct laz_result *result);
/* Was this enforced while it ran? `what`: a word of sandbox.require, "fs_read" say. */
LAZ_EXPORT bool laz_result_enforces(const struct laz_result *result, const char *what);
/* The isolation as JSON, as laz_session_isolation gives it; "null": nothing ran. */
LAZ_EXPORT const char *laz_result_isolation(const struct laz_result *result);
/* Name of the session, laz_session_id; NULL: there was none. */
LAZ_EXPORT const char *laz_result_session(const struct laz_result *result);
/* The whole result as the one JSON object that `lazaret run --json` prints. Made with the first
 * call: one thread at a time. */
LAZ_EXPORT const char *laz_result_json(const struct laz_result *result);
LAZ_EXPORT void laz_result_free(struct laz_result *result); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
