/* SPDX-License-Identifier: MIT */
/* shared.h - what the boxes of an engine share. */
#ifndef LAZ_BOX_SHARED_H
#define LAZ_BOX_SHARED_H

#include "box/box.h"
#include "loop/driver.h"
#include "os/cgroup.h"
#include "os/spawner.h"
#include "os/uids.h"
#include "plan/policy.h"
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
struct laz_backend_asker; /* trial.h */

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

/* The backend, where it is known, without asking. */
int laz_box_chosen(const struct laz_box_shared *shared, const struct laz_backend_choice **choice,
                   struct laz_error *err);
/* All boxes and templates have ended. */
void laz_box_shared_fini(struct laz_box_shared *shared);

#endif
