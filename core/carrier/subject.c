/* SPDX-License-Identifier: MIT */
/* subject.c - ids, names, and the subjects that are made of them.
 * Side: host.  Input trusted: no (a subject that was received).
 *
 * An id is the right to send to its subject, so that it has 128 random bits. The version of the
 * frames stands in each subject: two versions on one bus do not hear each other. */
#include "carrier/carrier.h"

#include "base/json_text.h"

#include <stdio.h>
#include <string.h>

#define SUBJECT_PREFIX "lz.1."

void laz_carrier_id(char id[LAZ_CARRIER_ID + 1], const unsigned char random[16])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < LAZ_CARRIER_ID; i++)
        id[i] = digits[i % 2 ? random[i / 2] & 15 : random[i / 2] >> 4];
    id[LAZ_CARRIER_ID] = '\0';
}

bool laz_carrier_is_id(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (laz_hex_digit(text[i]) < 0 || (text[i] >= 'A' && text[i] <= 'F'))
            return false;
    return len == LAZ_CARRIER_ID;
}

bool laz_carrier_is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    return len >= 1 && len <= LAZ_CARRIER_NAME;
}

void laz_subject_open(char subject[LAZ_SUBJECT_SIZE], const char *pool)
{
    snprintf(subject, LAZ_SUBJECT_SIZE, SUBJECT_PREFIX "open.%s", pool);
}

void laz_subject_link(char subject[LAZ_SUBJECT_SIZE], const char *link)
{
    snprintf(subject, LAZ_SUBJECT_SIZE, SUBJECT_PREFIX "s.%s.in", link);
}

void laz_subject_caller(char subject[LAZ_SUBJECT_SIZE], const char *name)
{
    snprintf(subject, LAZ_SUBJECT_SIZE, SUBJECT_PREFIX "c.%s.>", name);
}

void laz_subject_inbox(char subject[LAZ_SUBJECT_SIZE], const char *caller, const char *open)
{
    snprintf(subject, LAZ_SUBJECT_SIZE, SUBJECT_PREFIX "c.%s.%s", caller, open);
}

void laz_subject_answer(char subject[LAZ_SUBJECT_SIZE], const char *caller, const char *open)
{
    snprintf(subject, LAZ_SUBJECT_SIZE, SUBJECT_PREFIX "c.%s.%s.open", caller, open);
}

void laz_subject_heartbeat(char subject[LAZ_SUBJECT_SIZE], const char *worker)
{
    snprintf(subject, LAZ_SUBJECT_SIZE, SUBJECT_PREFIX "w.%s.hb", worker);
}

void laz_subject_control(char subject[LAZ_SUBJECT_SIZE], const char *worker)
{
    snprintf(subject, LAZ_SUBJECT_SIZE, SUBJECT_PREFIX "w.%s.ctl", worker);
}

const char *laz_subject_opening(const char *subject, const char *caller, bool *is_answer)
{
    static const char prefix[] = SUBJECT_PREFIX "c.";
    const size_t before = sizeof prefix - 1, name = strlen(caller);

    if (strncmp(subject, prefix, before) != 0 || strncmp(subject + before, caller, name) != 0 ||
        subject[before + name] != '.')
        return NULL;
    const char *open = subject + before + name + 1;
    const size_t len = strcspn(open, ".");
    if (!laz_carrier_is_id(open, len))
        return NULL;
    *is_answer = strcmp(open + len, ".open") == 0;
    return *is_answer || !open[len] ? open : NULL;
}
