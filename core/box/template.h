/* SPDX-License-Identifier: MIT */
/* template.h - templates: agents that have loaded a runtime, and from which sessions are cloned.
 * Side: host.  Input trusted: no.
 *
 * A template lives in a box of its own, runs no code, and makes each session as a process in new
 * namespaces (docs/design-templates.md).  An engine has one for each runtime that is asked for, and
 * for a while two: one that takes no more sessions ends when its last one has. */
#ifndef LAZ_BOX_TEMPLATE_H
#define LAZ_BOX_TEMPLATE_H

#include "box/box.h"

/* What sessions of a runtime have in common. Copied. */
struct laz_template_source {
    const struct laz_runtime_info *runtime;
    const char *options;         /* of the runtime, JSON */
    const struct laz_strv *read; /* paths that they name */
    const char *tools;           /* JSON, as in `init` */
    bool has_network;            /* as of struct laz_box_purpose, and the next */
    bool has_credentials;
};

/* Where a new session comes from, as pool.warm says: sets that in *purpose, or leaves it to be
 * started cold. A template is started for it where none is there; it need not be ready. Errors:
 * pool.warm is "template" and there can be none (LAZ_EREFUSED, LAZ_ESETUP), or memory or
 * descriptors are exhausted. */
int laz_template_for(struct laz_box_shared *shared, const struct laz_template_source *source,
                     struct laz_box_purpose *purpose, struct laz_error *err);
/* Starts a template, and waits until it has loaded its language and what pool.preload names.
 * Errors: what it reports, LAZ_ECONFIG: a package cannot be loaded; LAZ_ENOMEM, LAZ_EOS. 0 also
 * where sessions do not come from templates. */
int laz_template_check(struct laz_box_shared *shared, const struct laz_template_source *source,
                       struct laz_error *err);
/* Was the template of this box told the same tools (JSON, as in `init`), and its confinement? Then
 * its session needs to be told neither. False also where the box has no template. */
bool laz_template_knows(const struct laz_box *box, const char *tools);
/* Why sessions of this engine do not come from templates, one sentence; NULL: they do, or it was
 * not tried. Borrowed. */
const char *laz_templates_refused(const struct laz_box_shared *shared);
/* Ends them all; their boxes leave by themselves. Once those are gone: frees. */
void laz_templates_end(struct laz_box_shared *shared);
void laz_templates_free(struct laz_box_shared *shared);

#endif
