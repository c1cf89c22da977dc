/* SPDX-License-Identifier: MIT */
/* engine.h - what the parts of an engine share. */
#ifndef LAZ_ENGINE_ENGINE_H
#define LAZ_ENGINE_ENGINE_H

#include "base/log.h"
#include "box/box.h"
#include "tool/calls.h"
#include "loop/loop.h"
#include "plan/programs.h"
#include "tool/providers.h"
#include "tool/tools.h"
#include "loop/workers.h"
#include "os/cgroup.h"
#include "os/os.h"
#include "os/process.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>
#include <stdatomic.h>

/* The backend that was chosen, once an engine has started its first box. */
struct laz_backend_choice {
    char *name;
    const struct laz_backend_ops *ops;
    struct laz_buf options; /* JSON */
    uint32_t require;
    size_t next; /* number of the candidate after it */
    bool proven; /* a box of it came up */
};

/* The programs of sandbox.programs for one runtime, found and put together on first use. */
struct laz_engine_programs {
    struct laz_engine_programs *next;
    const struct laz_runtime_info *runtime;
    struct laz_programs *list;
    char *staged; /* NULL: not needed yet */
    int lock;     /* on it, when it is shared with other engines; -1 */
};

/* Something that has to be looked at between two turns of the loop: part of a session, a pool. */
struct laz_stir {
    struct laz_stir *next;
    bool is_listed;
    void (*advance)(struct laz_stir *stir); /* may free what it is part of */
};

struct laz_engine {
    struct laz_settings *settings;
    const struct laz_settings_values *values;
    struct laz_log log;
    struct laz_loop *loop;
    struct laz_spawner *spawner;
    struct laz_workers *workers;
    struct laz_lend *lend; /* the loop, to a worker */
    struct laz_registry *registry;
    struct laz_providers *providers;
    struct laz_tool_set tools;
    struct laz_tool_queue *queues; /* one a tool, in the order of the set; see calls.h */
    size_t n_queues;
    struct laz_call *calls;         /* not settled */
    struct laz_app_tool *app_tools; /* owners of the application's tools */
    struct laz_strv reserved;       /* words no tool may have as its name */
    char *folder;                   /* /tmp/lazaret-..., with everything of this engine in it */
    int folder_lock;
    struct laz_uids *uids;      /* as root */
    struct laz_cgroups *groups; /* what this host gives of them */
    char *agent;                /* path of lazaret-agent */
    struct laz_backend_choice choice;
    struct laz_strv unmet;   /* limits that nothing keeps, told of */
    struct laz_audit *audit; /* NULL: none */
    struct laz_session *sessions;
    struct laz_pool *pools;
    struct laz_stir *stirred; /* to be looked at between two turns of the loop */
    bool is_ending;           /* no callback may use it any more */
    bool touched;             /* something began since the last step */
    unsigned running;         /* executions in boxes */
    uint64_t driven_ms;       /* when the loop was last driven */
    unsigned depth;           /* calls from inside of callbacks that may call */
    struct laz_box *leaving;  /* released, and not ended yet */
    unsigned boxes;           /* names their folders */
    uint64_t death_ms;        /* from the kill of a box to its end */
    struct laz_engine_programs *programs;
    struct laz_templates *templates; /* NULL: nobody asked for one */
    unsigned processors;             /* 0: not counted yet */
    atomic_bool in_use;              /* one thread at a time */
    atomic_uint busy;                /* starts and executions under way */
    atomic_bool cancel;              /* something is to be cancelled: ... */
    atomic_bool cancel_all;          /* everything, or the sessions that say so */
};

/* Guards every public function that uses the loop: LAZ_EBUSY when a thread, or a callback's caller,
 * is inside already. */
int laz_engine_enter(struct laz_engine *engine, struct laz_error *err);
void laz_engine_leave(struct laz_engine *engine);
/* Waits for events, serves them, and then lets the sessions that they concern go on: callbacks of
 * executions that have ended are called here, and may use the engine. `wait_ms`: at most so long;
 * LAZ_LOOP_FOREVER. */
void laz_engine_turn(struct laz_engine *engine, uint64_t wait_ms);
/* Whoever holds the loop: it is to be looked at. And not any more. */
void laz_engine_stir(struct laz_engine *engine, struct laz_stir *stir);
void laz_engine_unstir(struct laz_engine *engine, struct laz_stir *stir);
/* Around a callback of the application that may use the engine. */
void laz_engine_begin_callback(struct laz_engine *engine);
void laz_engine_end_callback(struct laz_engine *engine);
/* What sandbox.programs comes to for a runtime; `staged`: for boxes with files of their own, too,
 * which also show `read`. `uid`: of the session. Borrowed. Errors: LAZ_ECONFIG naming the program.
 */
int laz_engine_find_programs(struct laz_engine *engine, const struct laz_runtime_info *runtime,
                             uint32_t uid, bool staged, const struct laz_strv *read,
                             const struct laz_engine_programs **programs, struct laz_error *err);
void laz_engine_free_programs(struct laz_engine *engine);
/* The backend of this engine, found on first use. Errors: LAZ_ENOENT, LAZ_ECONFIG, LAZ_EREFUSED,
 * LAZ_ESETUP: each names the setting. */
int laz_engine_backend(struct laz_engine *engine, const struct laz_backend_choice **choice,
                       struct laz_error *err);
/* A session did not start. True: it was the backend that does not work, and another one of the
 * settings' list, which does, was taken. False: `err` stays as it is, or says what is wrong with
 * all of them. */
bool laz_engine_next_backend(struct laz_engine *engine, struct laz_error *err);

#endif
