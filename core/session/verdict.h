/* SPDX-License-Identifier: MIT */
/* verdict.h - decides how an execution ended, from all that is known about it. */
#ifndef LAZ_SESSION_VERDICT_H
#define LAZ_SESSION_VERDICT_H

#include "base/buf.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/outcome.h"
#include "os/process.h"
#include "wire/message.h"

#include <lazaret/backend.h>
#include <lazaret/lazaret.h>

/* Everything that is known when an execution is over. */
struct laz_evidence {
    enum laz_stop stop;
    uint64_t stop_number;              /* ms (timeout, deadline, cpu), bytes (memory), a count */
    const char *stop_text;             /* of protocol, host; of cpu, memory: who counted */
    bool has_answered;                 /* the code ended by itself when that interrupted it */
    const struct laz_message *message; /* the outcome the agent reported; NULL: none came */
    const struct laz_exit *exit;       /* of the outermost process */
    uint64_t cpu_us;                   /* of the process that ended, in its life; 0: not known */
    bool counts_all;                   /* cpu_us is that of the whole session */
    bool estimated;                    /* stop_number, of cpu, has parts that are estimated */
    uint64_t ran_out;                  /* out-of-memory events of the control group */
    const char *memory_by;             /* the mechanism of the group */
    uint64_t box_us;                   /* age of the box */
    /* How the agent ended, as the kernel reported it (if agent_ended): signal 0 and a status, or a
     * signal. */
    bool agent_ended;
    int agent_signal, agent_status;
    int64_t exit_code; /* as the program of the backend reported it (128 + signal); -1: no report */
    const struct laz_limit_values *limits;
    const char *value; /* of the result, or NULL */
    bool statuses;     /* the value is an exit status, and one that is not 0 is no error */
};

struct laz_judgement {
    enum laz_verdict verdict;
    char detail[512];
    struct laz_buf evidence;   /* members of a JSON object, without the braces */
    struct laz_json_write add; /* writes them */
    bool replace;              /* the session needs a new box */
    bool overrules;            /* the outcome that the agent reported is discarded */
    int status;                /* with which the code ended its process, if it did; else 0 */
    bool has_status;           /* the value is `status` */
};

/* Fills *judgement; the caller frees judgement->evidence. Any thread. */
void laz_judge(const struct laz_evidence *evidence, struct laz_judgement *judgement);

#endif
