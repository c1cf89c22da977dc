/* SPDX-License-Identifier: MIT */
/* doctor_private.h - what the files of core/doctor share. Private to this directory, and tests.
 *
 * An *act* is one attempt to do what a box has to refuse. It counts only where the same act
 * succeeds outside of any box, under a uid of the same kind: a session without isolation, the
 * *control*, tries that. All acts that concern one bit of LAZ_ENFORCE_*, and what the plan of the
 * backend says of that bit, make its *state*. */
#ifndef LAZ_DOCTOR_DOCTOR_PRIVATE_H
#define LAZ_DOCTOR_DOCTOR_PRIVATE_H

#include "doctor/doctor.h"
#include "engine/engine.h"
#include "loop/loop.h"
#include "os/interrupt.h"
#include "os/process.h"

#include <pthread.h>
#include <stdatomic.h>

#define DOCTOR_BITS    32       /* at most */
#define DOCTOR_ACTS    64       /* at most */
#define DOCTOR_RUNTIME "doctor" /* whose code is an act */

/* ---- time.c: the time it takes --------------------------------------------------------------- */

#define DOCTOR_TIME_MS 10000 /* at most, unless --set session.deadline gives another time */

#define DOCTOR_OUT_OF_TIME "not tried (out of time)" /* the problem of what was not */
#define DOCTOR_MORE_TIME                                                                           \
    "timed out: try again with more time (--set session.deadline=120 --set session.timeout=30 "    \
    "--set session.start_timeout=20)"

/* At its end nothing more is begun, and what is being tried is cancelled. */
struct doctor_time {
    uint64_t started_us, end_us; /* by laz_clock_us; UINT64_MAX: without end */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_running, is_over;
};

/* The time begins. LAZ_EOS: there is no thread to watch it. */
int doctor_time_start(struct laz_doctor *doctor, struct laz_error *err);
void doctor_time_stop(struct laz_doctor *doctor); /* also when it was not started */
bool doctor_is_late(const struct laz_doctor *doctor);
/* Is `rc` LAZ_ECANCELLED because the time is up, and not because the user asked? Then *err, and
 * the result, is LAZ_ETIMEOUT; any other `rc` is the result. */
int doctor_ended(const struct laz_doctor *doctor, int rc, struct laz_error *err);
/* Why something does not work, as a new string, with the remedy where it is only too slow. NULL:
 * out of memory. */
char *doctor_problem(const struct laz_error *err);
/* LAZ_ETIMEOUT when the time is up; else 0. */
int doctor_may_begin(const struct laz_doctor *doctor, struct laz_error *err);

/* ---- bait.c: what is laid out on the host ---------------------------------------------------- */

struct doctor_bait {
    char secret[33]; /* content of the canaries, and the mark in the victims' command lines */
    char *home;      /* a canary in the caller's home directory; NULL: none could be put there */
    char *home_new;  /* a file beside it that does not exist */
    char *directory; /* any uid can enter and write it; has the canary and the socket */
    char *canary, *fresh, *socket, *abstract;
    uint16_t port, other;
    unsigned answered; /* connections to these two, since doctor_bait_answer was called first */
    int listeners[4];
};

/* `below`: an existing directory that any uid can search. The home gets no canary where the
 * settings make it visible to code. doctor_bait_fini removes everything. */
int doctor_bait_init(struct doctor_bait *bait, const char *below,
                     const struct laz_settings_values *values, struct laz_error *err);
void doctor_bait_fini(struct doctor_bait *bait);
/* Answers what waits at the two ports with the secret, which ends the connection. */
void doctor_bait_answer(struct doctor_bait *bait);
/* Watches both ports on the loop, and answers; doctor_bait_unwatch is called after a failure too.
 * LAZ_EOS: they cannot be watched. */
struct doctor_watch {
    struct laz_io *of[2];
};
int doctor_bait_watch(struct doctor_bait *bait, struct laz_loop *loop, struct doctor_watch *watch,
                      struct laz_error *err);
void doctor_bait_unwatch(struct doctor_watch *watch);
/* Removes the file; true when it existed. */
bool doctor_bait_take(const char *path);

/* ---- session.c: a session in which acts are tried -------------------------------------------- */

struct doctor_session {
    struct doctor_session *next; /* of those that are open */
    struct laz_doctor *doctor;
    struct laz_engine *engine;
    struct laz_session *session; /* NULL: none was asked for */
    struct laz_process victim;   /* a process outside of the session */
    uint32_t lent_uid;           /* of the victim, to be given back; LAZ_SPAWN_SAME_ID: none */
};
#define DOCTOR_SESSION_INIT                                                                        \
    {                                                                                              \
        .victim = LAZ_PROCESS_INIT, .lent_uid = LAZ_SPAWN_SAME_ID                                  \
    }

/* Appends the value of a key, as in the configuration and as JSON; each may be NULL. True: it was
 * set on the command line (--set). */
bool doctor_setting(const struct laz_doctor *doctor, const char *key, struct laz_buf *value,
                    struct laz_buf *json);

/* Makes an engine with the settings, overridden by `pairs` ("key", "value", ...; ends with NULL),
 * and in it the session that `options` describe (NULL: none). doctor_session_close is called after
 * an error too. LAZ_ETIMEOUT: the time is up. */
int doctor_session_open(struct laz_doctor *doctor, const char *const *pairs,
                        const struct laz_session_options *options, struct doctor_session *session,
                        struct laz_error *err);
extern const struct laz_session_options doctor_acting; /* its runtime makes the acts */
void doctor_session_close(struct doctor_session *session);
/* Cancels what runs in those that are open. Any thread. */
void doctor_sessions_cancel(struct laz_doctor *doctor);
/* Starts a victim with `mark` in its command line: as a process of another session where sessions
 * have uids of their own, except `reachable`, under the uid of this one. */
int doctor_session_victim(struct doctor_session *session, bool reachable, const char *mark,
                          struct laz_error *err);

/* ---- acts.c ---------------------------------------------------------------------------------- */

/* When an act is tried: by what the plan says of its bit. */
enum doctor_part { DOCTOR_ALWAYS, DOCTOR_IF_FULL, DOCTOR_IF_NOT_FULL, DOCTOR_IF_NOT_WEAK };

/* Which session an act is for. */
enum doctor_list {
    DOCTOR_NO_LIST,
    DOCTOR_IN_LIST,      /* with the doctor's network list, which has to refuse the act */
    DOCTOR_IN_LIST_ONLY, /* the same, and no control tries it: its names exist in a list only, or it
                            would ask servers elsewhere. Compared with the next: */
    DOCTOR_REACHES,      /* with that list, in which it has to work */
};

struct doctor_act {
    uint32_t bit;
    const char *name; /* shown to users: what the code tried to do */
    const char *act;  /* word of the runtime that makes it */
    size_t path;      /* offset of a char * in struct doctor_bait; 0: none */
    size_t port;      /* offset of an uint16_t there, which is the number; 0: none */
    const char *text;
    const char *host; /* of the request by HTTP that it makes; NULL: it makes none */
    int64_t number, among;
    enum doctor_part part;
    enum doctor_list list;
    const char *told;  /* the word of the denial that the result has to have; NULL: none */
    const char *limit; /* which it exceeds, as in the configuration; NULL: it is about no limit */
};

/* Rows at the end are free: they have no bit. */
extern const struct doctor_act doctor_acts[DOCTOR_ACTS];
/* The value under which the acts of a limit are tried; NULL: nothing is tried for this bit. */
const char *doctor_small_limit(uint32_t bit);

enum doctor_came {
    DOCTOR_UNTRIED, /* nothing is to be tried */
    DOCTOR_WORKED,
    DOCTOR_DENIED,
    DOCTOR_FAILED,    /* from here on nothing is known */
    DOCTOR_LATE,      /* the time was up */
    DOCTOR_TIMED_OUT, /* it did not end in its own time */
};

struct doctor_try {
    enum doctor_came came;
    bool is_untold; /* it was denied, and the result does not have the denial */
    char note[160]; /* why it was denied, or why it could not be tried */
};

/* Tries one act; the session may be closed when the time is up. LAZ_ECANCELLED: the user wants to
 * stop. */
int doctor_act_try(struct laz_doctor *doctor, struct doctor_session *session,
                   const struct doctor_act *act, struct doctor_try *tried, struct laz_error *err);

/* ---- network.c: the doctor's network list ---------------------------------------------------- */

/* The server of the bait, by the list alone: whatever is spoken, for HTTP, for TLS. */
#define DOCTOR_LISTED "listed.doctor.test"
#define DOCTOR_WEB    "web.doctor.test"
#define DOCTOR_TLS    "tls.doctor.test"

struct doctor_backend;

/* Opens a session with the list in the backend, tries in it what is for a list, and notes what does
 * not work. LAZ_ECANCELLED: the user wants to stop. */
int doctor_network_try(struct laz_doctor *doctor, struct doctor_backend *backend,
                       struct laz_error *err);
/* Why the list does not work, by what was tried, as a new string; NULL: it does, or out of memory.
 */
char *doctor_network_problem(const struct doctor_backend *backend);
/* Was the server of the list reached in it? */
bool doctor_network_reaches(const struct doctor_backend *backend);

/* ---- credential.c: the doctor's credential --------------------------------------------------- */

struct doctor_credential {
    bool is_known; /* false: nothing is to be told of it */
    bool is_tried;
    const char *runtime; /* whose code has tried it last; borrowed */
    char *problem;       /* why it does not work, or was not tried; NULL: it works */
};
/* Starts a server of the doctor that demands a secret, asks it from a box of the chosen backend,
 * and notes what came of it in doctor->credential. LAZ_ECANCELLED: the user wants to stop. */
int doctor_credential_try(struct laz_doctor *doctor, struct laz_error *err);
/* What is wrong where requests came out like this: to the host and below the paths of the
 * credential, to another host, and outside of the paths; did code find the secret? NULL: nothing.
 */
const char *doctor_credential_wrong(bool came, bool other_came, bool is_refused, bool has_secret);

/* ---- backend.c: findings --------------------------------------------------------------------- */

enum doctor_state {
    DOCTOR_OPEN,       /* not promised, and an act succeeded */
    DOCTOR_IN_FORCE,   /* promised, and every act that works outside is denied */
    DOCTOR_WEAK,       /* promised in a weaker form, and that holds */
    DOCTOR_UNPROMISED, /* the acts are denied, but nothing promises that others are */
    DOCTOR_UNSET,      /* a limit that the settings do not set */
    DOCTOR_UNPROVEN,   /* no act works outside */
    DOCTOR_BROKEN,     /* promised, and an act succeeded */
};

struct doctor_bit {
    enum doctor_state state;
    bool full, weak;    /* what the plan says */
    char mechanism[80]; /* "": none */
    const char *remedy; /* NULL: none is needed */
};

struct doctor_backend {
    char *name;
    bool isolates; /* false: it declares that it is not a sandbox, and nothing is tried in it */
    char *problem; /* why its box does not start; NULL: it works */
    struct doctor_bit bits[DOCTOR_BITS];
    struct doctor_try inside[DOCTOR_ACTS];
    bool list_tried;
    char *list_problem; /* why a network list is not kept, or reaches nothing; NULL: it works */
    char **runtimes;    /* why each of the doctor's runtimes does not work; NULL: it works */
    size_t n_runtimes;  /* that were tried */
};

struct laz_doctor {
    struct laz_doctor_options options;
    const struct laz_settings_values *values; /* of its settings */
    struct laz_interrupt *interrupt;
    struct laz_registry *registry;
    pthread_mutex_t lock;
    struct doctor_session *open; /* under the lock */
    struct doctor_bait bait;
    struct doctor_session control;
    struct doctor_try outside[DOCTOR_ACTS]; /* what the control did, tried when first needed */
    struct laz_strv names, runtimes;        /* of backends, of runtimes */
    size_t n_wanted;                        /* backends that the settings name come first */
    struct doctor_backend *backends;        /* one for each name */
    struct doctor_backend *chosen;          /* NULL: none works */
    bool templates_tried;
    struct laz_buf groups; /* where there are control groups, or why nowhere; empty: not known */
    bool has_groups;       /* there are some */
    struct doctor_credential credential;
    char *templates_problem;  /* why no session can be made from a template; NULL: it can */
    struct laz_strv problems; /* why the settings are not in force */
    struct doctor_time time;
    atomic_bool interrupted; /* the user wants to stop */
    bool acts_are_tried;     /* false: the table of acts is not for this system */
};

const char *doctor_state_name(enum doctor_state state);
/* Tries the acts of a session with a network list (`list`), those on limits, or all others. */
int doctor_acts_try(struct laz_doctor *doctor, struct doctor_backend *backend,
                    struct doctor_session *session, bool limits, bool list, struct laz_error *err);
/* What is known of one bit of LAZ_ENFORCE_*; NULL for 0. */
const struct doctor_bit *doctor_bit(const struct doctor_backend *backend, uint32_t bit);
/* What was tried, and what the plan says, as the state of one bit of LAZ_ENFORCE_*. */
enum doctor_state doctor_state_of(const struct laz_doctor *doctor,
                                  const struct doctor_backend *backend, uint32_t bit);
/* What to do about it; NULL: nothing is needed. Static, or borrowed from the registry. */
const char *doctor_remedy_of(const struct laz_doctor *doctor, const struct doctor_backend *backend,
                             uint32_t bit, enum doctor_state state);
/* Tries everything with one backend. Errors: LAZ_ECANCELLED; any other failure is a finding. */
int doctor_backend_try(struct laz_doctor *doctor, struct doctor_backend *backend,
                       struct laz_error *err);

/* ---- doctor.c -------------------------------------------------------------------------------- */

/* Adds to doctor->problems why the chosen backend does not hold what the settings ask for.
 * LAZ_ENOMEM. */
int doctor_judge(struct laz_doctor *doctor, struct laz_error *err);

#endif
