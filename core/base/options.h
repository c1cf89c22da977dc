/* SPDX-License-Identifier: MIT */
/* options.h - options of a caller: structs that begin with their size and may have been compiled
 * against older or newer headers than the library. */
#ifndef LAZ_BASE_OPTIONS_H
#define LAZ_BASE_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Copies the options of a caller to `options` (`size` bytes, with its size first). What is not
 * given is 0; `given` NULL: nothing is. Errors, so that no option is dropped silently, and *options
 * is empty then: LAZ_EINVAL, its size is 0, or too small or large to be one; LAZ_EREFUSED, it is
 * larger than ours, and something is set there. `type`: the name of the struct, for the message. */
int laz_options_take(void *options, size_t size, const void *given, const char *type,
                     struct laz_error *err);
#define LAZ_OPTIONS_TAKE(options, given, type, err)                                                \
    laz_options_take((options), sizeof(struct type), (given), #type, (err))

/* Copies a filled struct to one of the caller, which begins with its size: as much of it as fits.
 * Its size stays as it is. LAZ_EINVAL as above. */
int laz_options_give(void *given, const void *filled, size_t size, const char *type,
                     struct laz_error *err);
#define LAZ_OPTIONS_GIVE(given, filled, type, err)                                                 \
    laz_options_give((given), (filled), sizeof(struct type), #type, (err))

/* ---- options as data ------------------------------------------------------------------------- */

enum laz_member_kind {
    LAZ_MEMBER_VALUE,   /* a number, or a pointer that is the caller's business */
    LAZ_MEMBER_LIMIT,   /* a uint64_t; 0: as the settings say; LAZ_NO_LIMIT: none */
    LAZ_MEMBER_TEXT,    /* NULL is allowed, here and below */
    LAZ_MEMBER_TEXTS,   /* so many of them, none of which is NULL */
    LAZ_MEMBER_BYTES,   /* so many of them */
    LAZ_MEMBER_INT,     /* points to one */
    LAZ_MEMBER_STRUCT,  /* points to options */
    LAZ_MEMBER_STRUCTS, /* so many pointers to options, none of which is NULL */
};

/* What a caller on the other side of a protocol may set; 0 is no answer. */
enum laz_remote {
    LAZ_REMOTE_REFUSED = 1, /* nothing: it is a matter of the host */
    LAZ_REMOTE_NARROWS,     /* less than the settings allow, never more */
    LAZ_REMOTE_FREE,        /* anything: it concerns the caller alone */
};

/* A member of a struct of options. */
struct laz_member {
    const char *name;
    enum laz_member_kind kind;
    size_t at, size;              /* in the struct */
    size_t n_at;                  /* of several: where their number is, a size_t */
    const char *what, *one;       /* that are NULL, for errors: the member; one of several. A text
                                     with `what`, and texts, have to be UTF-8 */
    const struct laz_members *of; /* of structs */
    size_t setting_at;            /* of a limit: where the settings have it, a uint64_t */
    enum laz_remote remote;
    bool is_secret; /* of texts: their copies are overwritten before they are freed */
};

struct laz_members {
    const char *type;
    size_t size;
    int (*check)(const void *given, struct laz_error *err); /* what is given; NULL: nothing */
    const struct laz_member *rows;                          /* all but the size */
    size_t n;
};
#define LAZ_MEMBER(type, member)                                                                   \
    .name = #member, .at = offsetof(struct type, member), .size = sizeof((struct type *)0)->member

/* What a copy points to. */
struct laz_kept;

/* As laz_options_take, and copies what the members point to into *kept (NULL: nothing is there
 * yet), which laz_options_forget frees, after an error too. `borrows`: texts and bytes stay the
 * caller's. Errors also: LAZ_EINVAL, with what is NULL or not UTF-8; of `check`; LAZ_ENOMEM. */
int laz_options_copy(const struct laz_members *members, void *options, const void *given,
                     bool borrows, struct laz_kept **kept, struct laz_error *err);
void laz_options_forget(struct laz_kept **kept);
/* Limits become those that hold, 0: none. `settings`: the struct that `setting_at` is in. */
void laz_options_complete(const struct laz_members *members, void *options, const void *settings);
/* What a remote caller has asked for becomes what it may: members that it may not set are 0, as are
 * limits above those of the settings. */
void laz_options_narrow(const struct laz_members *members, void *options, const void *settings);

#endif
