/* SPDX-License-Identifier: MIT */
/* choice.h - which backends the setting sandbox.backend stands for, and when one of them is taken.
 * Side: host. */
#ifndef LAZ_BOX_CHOICE_H
#define LAZ_BOX_CHOICE_H

#include "base/buf.h"
#include "box/shared.h"
#include "plugin/plugin.h"

/* Appends the names of `wanted` in order, "auto" replaced by the installed backends of that system
 * ("linux", "darwin", "windows"), best first (laz_registry_automatic). */
void laz_backend_candidates(struct laz_registry *registry, const struct laz_strv *wanted,
                            const char *platform, struct laz_strv *names);

/* The error that there is no candidate: LAZ_ECONFIG. */
int laz_choice_names_none(struct laz_registry *registry, struct laz_error *err);

/* Fills *choice with this backend, if it is installed, made for this system, and has valid options.
 */
int laz_choice_take(struct laz_box_shared *shared, const char *name,
                    struct laz_backend_choice *choice, struct laz_error *err);
/* No backend works, by `why`: that error, or, where sandbox.strict is false, no box at all. */
int laz_choice_none(struct laz_box_shared *shared, struct laz_backend_choice *choice,
                    const struct laz_error *why, struct laz_error *err);
/* The first candidate is taken without a trial, unless what comes after it is no box at all. */
bool laz_choice_needs_trial(const struct laz_box_shared *shared, size_t candidate);
/* Does the failure say that this system does not have the backend? A backend that is broken or has
 * wrong options does not say so, nor do a cancel, exhausted memory or descriptors, and uids that
 * are all in use (LAZ_EBUSY): none of them may lead to another backend, which may be weaker.
 * `taken`: by laz_choice_take. */
bool laz_choice_goes_on(bool taken, const struct laz_error *why);

#endif
