/* SPDX-License-Identifier: MIT */
/* doctor.h - what this room offers: it tries every backend and runtime of this machine from inside
 * of real sessions, and tells what is in force. It prints nothing. */
#ifndef LAZ_DOCTOR_DOCTOR_H
#define LAZ_DOCTOR_DOCTOR_H

#include "base/json_write.h"
#include "base/log.h"
#include "settings/settings.h"

struct laz_doctor;

/* All is borrowed until laz_doctor_free. */
struct laz_doctor_options {
    const struct laz_settings *settings;
    const struct laz_log *log;
    /* What is tried next, and in which backend. The texts are borrowed for the call. */
    void (*progress)(void *user, const char *backend, const char *what);
    void *user;
};

/* Tries everything. Signals that would end the process are held back from here to laz_doctor_free:
 * one of them ends this with LAZ_ECANCELLED. The caller frees *doctor, after an error too. Errors:
 * of laz_registry_new; LAZ_ENOENT: there is nothing to compare with; LAZ_EOS, LAZ_ENOMEM. All else
 * is a finding. */
int laz_doctor_examine(const struct laz_doctor_options *options, struct laz_doctor **doctor,
                       struct laz_error *err);
/* Why what the settings ask for is not in force; empty: it is. */
const struct laz_strv *laz_doctor_problems(const struct laz_doctor *doctor);
/* Appends the findings: for people, or as members of an object. */
void laz_doctor_tell(const struct laz_doctor *doctor, struct laz_buf *text);
void laz_doctor_tell_json(const struct laz_doctor *doctor, struct laz_json_write *write);
void laz_doctor_free(struct laz_doctor *doctor); /* NULL is allowed */

#endif
