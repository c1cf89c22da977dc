/* SPDX-License-Identifier: MIT */
/* templates.h - what template.c (one of them), templates.c (all of an engine) and
 * box_from_template.c (what comes from them) share. Side: host. */
#ifndef LAZ_BOX_TEMPLATES_H
#define LAZ_BOX_TEMPLATES_H

#include "box/template.h"
#include "telemetry/metrics.h"

#define TEMPLATE_OPEN 16u /* spawns that are not answered; more wait */

enum template_state {
    TEMPLATE_STARTING, /* up to its `ready` */
    TEMPLATE_TRIED,    /* whether it can make a session */
    TEMPLATE_READY,
    TEMPLATE_LOST, /* ended, or to be ended */
    TEMPLATE_STATES,
};

/* What becomes of the templates of one runtime, for sessions with a network or without, and with
 * credentials or without. */
struct template_kind {
    struct template_kind *next;
    const struct laz_runtime_info *runtime;
    bool has_network, has_credentials;
    char *options, *tools;
    char *credentials; /* what its templates show of them; NULL: nothing yet */
    struct laz_strv read;
    struct laz_template *current, *successor; /* NULL: none */
    unsigned failures;                        /* in a row */
    uint64_t again_ms;                        /* no new one before */
    struct laz_error last; /* the last failure; LAZ_ECONFIG: it cannot load what is named */
    bool is_said;          /* the template itself has reported it */
};

/* A spawn that was sent, until its answer. */
struct template_spawn {
    int64_t id;
    struct laz_box *box; /* NULL: it is gone */
};

struct laz_template {
    struct laz_template *next;
    struct laz_box_shared *shared;
    struct template_kind *kind;
    enum template_state state;
    bool fades; /* it is asked for no more sessions, and lost with the last of those it made */
    struct laz_box *box; /* its own; NULL: released */
    char *confine, *tools;
    struct laz_plan_host host; /* what holds each session */
    struct laz_cgroup *group;  /* of the next session, which it has received; NULL: none yet */
    uint64_t pid_namespace;    /* of its box; 0: not known */
    uint64_t made;             /* sessions it was asked for */
    unsigned boxes;            /* of sessions, not freed yet */
    struct template_spawn spawns[TEMPLATE_OPEN]; /* in order */
    unsigned n_spawns;
    struct laz_box *waiting;
    struct laz_box *trial; /* NULL: not now */
    bool is_trying;        /* the next box is the trial's */
    int64_t last_id;
    struct laz_metrics_life life; /* while sessions can come from it */
    struct laz_timer *timer;      /* to be ready; later: to answer the first of its spawns */
};

struct laz_templates {
    struct laz_template *all;
    struct template_kind *kinds;
    const struct laz_backend_ops *ops; /* that all below is true of */
    bool proven;                       /* a session came from a template */
    char *refused;                     /* why none does; NULL: not known to be so */
    bool ending;
    struct laz_timer *tidy;
};

/* ---- template.c ------------------------------------------------------------------------------ */

/* Errors leave nothing behind. */
int laz_template_start(struct laz_box_shared *shared, struct template_kind *kind,
                       struct laz_template **template, struct laz_error *err);
void laz_template_free(struct laz_template *template);
/* It is not good any more. With it go all sessions it has made: their namespaces are inside its. */
void laz_template_lose(struct laz_template *template, int code, const char *why);
/* The next sessions come from another one. */
void laz_template_fade(struct laz_template *template);
/* Notices its end where the loop stood still. */
void laz_template_look(struct laz_template *template);
/* Begins a session in `box`, which is new. It may have to wait. */
int laz_template_spawn(struct laz_template *template, struct laz_box *box, struct laz_error *err);
/* A box of it is freed, or turned cold. */
void laz_template_leave(struct laz_box *box);
/* A process of it did what it never does: it is ended, with all that came from it. */
void laz_template_distrust(struct laz_template *template, const char *why);
/* Does it take long until it is ready, so that sessions start without it meanwhile? */
bool laz_template_settles(const struct template_kind *kind);
bool laz_template_is_ready(const struct laz_template *template);
/* Has it come up, and loaded what it has to, or is it lost? */
bool laz_template_is_up(const struct laz_template *template);
/* Why it is lost; NULL: it is not. Borrowed until the next call. */
const char *laz_template_why(struct laz_template *template);
/* Does what its reports left to do. It may be freed by this. */
void laz_template_tidy(struct laz_template *template);

/* ---- templates.c ----------------------------------------------------------------------------- */

/* A failure puts the next start off, but not the first failure in a row. */
void laz_templates_failed(struct laz_box_shared *shared, struct template_kind *kind, int code,
                          const char *why);
/* No session can come from a template. */
void laz_templates_refuse(struct laz_box_shared *shared, const char *why);
/* Has laz_template_tidy called for all of them in the next turn of the loop. */
void laz_templates_stir(struct laz_box_shared *shared);

#endif
