/* SPDX-License-Identifier: MIT */
/* limits.h - the table of the limits of a session.
 *
 * One row a limit.  The keys of [limits] with their defaults, ranges and help, laz_default_limits,
 * the audit log, what `lazaret doctor` tries and what `lazaret plugins` lists are made from it.
 * The table is a macro, so that constants (the schema, texts) can be made from it as well. */
#ifndef LAZ_BASE_LIMITS_H
#define LAZ_BASE_LIMITS_H

#include <lazaret/backend.h>
#include <lazaret/lazaret.h>

#include <stddef.h>
#include <stdint.h>

/* The host's own means to keep a limit, whatever the backend. */
#define LAZ_LIMIT_BY_GROUP    1u /* a control group */
#define LAZ_LIMIT_BY_WATCHDOG 2u /* a watchdog that looks at the session's processes */

/* LIMIT(ID, name, field of struct laz_limit_values, kind of value, default as TOML, default as
 *       number, least, most, bit of LAZ_ENFORCE_*, verdict on code that it ended, LAZ_LIMIT_BY_*,
 *       help)
 * Least and most are bytes, milliseconds or a count.  LAZ_VERDICT_OK: the limit makes calls fail
 * and does not end the code.  This list has the limits with a default, with AND between them. */
/* clang-format off */
#define LAZ_LIMITS_WITH_DEFAULT(LIMIT, AND) \
    LIMIT(CPU, "cpu", cpu_s, TIME, "60", 60, 1000, UINT64_C(366) * 86400 * 1000, \
          LAZ_ENFORCE_CPU, LAZ_VERDICT_CPU_LIMIT, LAZ_LIMIT_BY_GROUP | LAZ_LIMIT_BY_WATCHDOG, \
          "CPU time of all processes of a session during one execution; whole seconds. What they " \
          "use between two executions counts for the next one, and an idle session that reaches " \
          "the limit is ended.") \
    AND \
    LIMIT(MEMORY, "memory", memory_bytes, SIZE, "\"512MiB\"", 536870912, \
          UINT64_C(1) << 20, UINT64_C(1) << 50, \
          LAZ_ENFORCE_MEMORY, LAZ_VERDICT_MEMORY_LIMIT, \
          LAZ_LIMIT_BY_GROUP | LAZ_LIMIT_BY_WATCHDOG, \
          "Memory that all processes of a session can write to, together. Files in the " \
          "session's directory for temporary files count as well, unless that is a directory of " \
          "the host and there is no control group. Where there is one, memory that is reserved " \
          "and never touched does not count: a process can reserve 1 GiB more than the limit.") \
    AND \
    LIMIT(FSIZE, "fsize", fsize_bytes, SIZE, "\"50MiB\"", 52428800, 0, UINT64_C(1) << 50, \
          LAZ_ENFORCE_FSIZE, LAZ_VERDICT_FSIZE_LIMIT, 0, \
          "Size of a file that is written; 0: no file can be written.") \
    AND \
    LIMIT(NPROC, "nproc", nproc, COUNT, "50", 50, 1, UINT32_MAX, \
          LAZ_ENFORCE_NPROC, LAZ_VERDICT_OK, LAZ_LIMIT_BY_GROUP, \
          "Number of processes and threads at the same time.") \
    AND \
    LIMIT(NOFILE, "nofile", nofile, COUNT, "192", 192, 16, UINT32_MAX, \
          LAZ_ENFORCE_NOFILE, LAZ_VERDICT_OK, 0, \
          "Number of open files of one process.")
/* All limits: those with a default, then those that are unlimited by default. */
#define LAZ_LIMITS(LIMIT) \
    LAZ_LIMITS_WITH_DEFAULT(LIMIT, ) \
    LIMIT(SESSION_CPU, "session_cpu", session_cpu_s, TIME, "\"unlimited\"", LAZ_UNLIMITED, \
          1000, UINT64_C(366) * 86400 * 1000, \
          0, LAZ_VERDICT_CPU_LIMIT, LAZ_LIMIT_BY_GROUP | LAZ_LIMIT_BY_WATCHDOG, \
          "CPU time of all processes of a session in the whole life of its box, the start of the " \
          "runtime included; whole seconds. It also is a limit of each process for itself.") \
    LIMIT(STACK, "stack", stack_bytes, SIZE, "\"unlimited\"", LAZ_UNLIMITED, \
          UINT64_C(64) << 10, UINT64_C(1) << 50, \
          0, LAZ_VERDICT_OK, 0, \
          "Stack of the main thread. `\"unlimited\"` leaves it as it is on the host.")
/* clang-format on */

enum laz_limit_id {
#define LAZ_LIMIT_ID(ID, ...) LAZ_LIMIT_##ID,
    LAZ_LIMITS(LAZ_LIMIT_ID)
#undef LAZ_LIMIT_ID
        LAZ_N_LIMITS
};

/* The values of all limits, LAZ_UNLIMITED: none. */
struct laz_limit_values {
#define LAZ_LIMIT_FIELD(ID, name, field, ...) uint64_t field;
    LAZ_LIMITS(LAZ_LIMIT_FIELD)
#undef LAZ_LIMIT_FIELD
};

struct laz_limit {
    const char *name; /* "cpu": in plans, in the agent's confinement, in the audit log */
    const char *key;  /* "limits.cpu": in the configuration and in messages */
    size_t offset;    /* of a uint64_t in struct laz_limit_values */
    uint32_t bit;     /* LAZ_ENFORCE_*; 0: it is not a property by itself */
    enum laz_verdict verdict;
    uint32_t kept_by; /* LAZ_LIMIT_BY_* */
};

extern const struct laz_limit laz_limit_table[LAZ_N_LIMITS]; /* by enum laz_limit_id */

/* The row of a bit of LAZ_ENFORCE_*, or NULL. */
const struct laz_limit *laz_limit_of_bit(uint32_t bit);
uint64_t laz_limit_value(const struct laz_limit_values *limits, const struct laz_limit *limit);
/* The limits that a plan serves. Its CPU time is that of the whole life: only the host can tell
 * executions apart. `reserves`: the runtime is one of LAZ_RUNTIME_RESERVES. */
struct laz_limits laz_limits_of_plan(const struct laz_limit_values *values, bool reserves);

#endif
