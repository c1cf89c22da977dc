/* SPDX-License-Identifier: MIT */
/* shared.h - what the boxes of an engine share. */
#ifndef LAZ_BOX_SHARED_H
#define LAZ_BOX_SHARED_H

#include "box/box.h"
#include "loop/driver.h"
#include "os/cgroup.h"
#include "os/spawner.h"
#include "os/uids.h"
#include "plan/programs.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

/* The backend that was chosen, once the first box has been started. */
struct laz_backend_choice {
    char *name;
    const struct laz_backend_ops *ops;
    struct laz_buf options; /* JSON */
    uint32_t require;
    size_t next; /* number of the candidate after it */
    bool proven; /* a box of it came up */
};

struct laz_backend_trial; /* trial.c */

/* A request for the backend. Owned by the caller, who withdraws it before it is freed. */
struct laz_backend_asker {
    struct laz_backend_asker *next; /* of those that wait */
    bool wants_next;                /* asked by laz_box_next_backend */
    void *user;
    /* rc: as from the function that asked; why->code 0: that left `err` as it is. */
    void (*answer)(void *user, int rc, const struct laz_error *why);
};

#define LAZ_BACKEND_TRIED 1 /* no error: the answer comes later */

struct laz_box_shared {
    struct laz_driver *driver;
    const struct laz_settings *settings;
    const struct laz_settings_values *values;
    struct laz_registry *registry;
    struct laz_spawner *spawner;
    const char *folder; /* /tmp/lazaret-..., with everything of the engine in it */
    const char *agent;  /* path of lazaret-agent */
    struct laz_programs_store programs;
    struct laz_uids *uids;      /* as root */
    struct laz_cgroups *groups; /* what this host gives of them */
    struct laz_backend_choice choice;
    struct laz_backend_trial *trial;    /* under way; NULL: none */
    struct laz_backend_asker *askers;   /* wait for its end */
    struct laz_backend_asker *answered; /* are being answered */
    struct laz_strv unmet;              /* limits that nothing keeps, and that were reported */
    struct laz_templates *templates;    /* NULL: none was asked for */
    struct laz_box *leaving;            /* released, and not ended yet */
    unsigned boxes;                     /* names their directories */
    unsigned made;                      /* names them in the log */
    uint64_t death_ms;                  /* from the kill of a box to its end */
};

/* Asks for the backend of this engine, which is found on first use. 0: it is shared->choice.
 * LAZ_BACKEND_TRIED: one is being tried on the loop; the asker is answered between two turns of it,
 * unless it withdraws. Errors (LAZ_ENOENT, LAZ_ECONFIG, LAZ_EREFUSED, LAZ_ESETUP) name the setting.
 */
int laz_box_backend(struct laz_box_shared *shared, struct laz_backend_asker *asker,
                    struct laz_error *err);
/* A session did not start: was it the backend that does not work? 0: yes, and another one of the
 * settings' list, which does, was taken. LAZ_BACKEND_TRIED: as above. Errors: no other was taken;
 * `err` stays as it is, or says what is wrong with all of them. */
int laz_box_next_backend(struct laz_box_shared *shared, struct laz_backend_asker *asker,
                         struct laz_error *err);
/* The asker waits no more. A trial that has no askers left is ended. */
void laz_box_withdraw(struct laz_box_shared *shared, struct laz_backend_asker *asker);
/* Ends a trial that is under way; its askers are answered with LAZ_ECANCELLED. */
void laz_box_cancel_trial(struct laz_box_shared *shared);
/* The backend, where it is known, without asking. */
int laz_box_chosen(const struct laz_box_shared *shared, const struct laz_backend_choice **choice,
                   struct laz_error *err);
/* All boxes and templates have ended. */
void laz_box_shared_fini(struct laz_box_shared *shared);

#endif
