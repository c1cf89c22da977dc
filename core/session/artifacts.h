/* SPDX-License-Identifier: MIT */
/* artifacts.h - what an execution has made, in bytes: files, and a value or text that did not fit
 * into a line. The agent sends them in parts before the result. */
#ifndef LAZ_SESSION_ARTIFACTS_H
#define LAZ_SESSION_ARTIFACTS_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/error.h"
#include "wire/message.h"

struct laz_artifact_item {
    char *name;
    const char *type; /* media type (RFC 6838), static */
    struct laz_buf data;
    struct laz_sha256 digest; /* of what has come */
    char sha256[LAZ_SHA256_HEX + 1];
    char *path;    /* where it was saved; NULL: nowhere */
    char *problem; /* why it could not be saved; NULL: it could, or was not to be */
    bool follows;  /* it came when the interpreter had ended */
};

/* One that did not come as a whole, or has no name: it is not an artifact. */
struct laz_lost_item {
    char *name, *why;
    uint64_t bytes; /* that have come */
};

struct laz_artifacts {
    struct laz_artifact_item *items;
    size_t n, cap;
    uint64_t bytes;              /* of all files so far */
    struct laz_buf value, text;  /* not empty: came in parts */
    const char *open;            /* static: what the last part goes on with; NULL: nothing */
    struct laz_artifacts *given; /* of tools, which the agent knows nothing of; NULL: none */
    struct laz_lost_item *lost;
    size_t n_lost;
    bool follows; /* what comes from now on may come in place of what has come */
};

/* Takes a part. LAZ_EPROTO: it is none that an agent with these limits sends, *why says why (static
 * text); LAZ_ENOMEM. */
int laz_artifacts_take(struct laz_artifacts *artifacts, const struct laz_message *part,
                       uint64_t max_files, uint64_t max_size, const char **why);
/* Adds a file that a tool has made. Its name, in *name (borrowed), is that of the tool, a number
 * and the suffix. The limits hold for these files apart from the agent's. LAZ_EINVAL: that is no
 * name of an artifact; LAZ_ETOOBIG; LAZ_ENOMEM. */
int laz_artifacts_give(struct laz_artifacts *artifacts, const char *tool, const char *suffix,
                       const void *data, size_t len, uint64_t max_files, uint64_t max_size,
                       const char **name, struct laz_error *err);
/* The result has come: is everything whole? As laz_artifacts_take. */
int laz_artifacts_finish(const struct laz_artifacts *artifacts, const char **why);
/* Are the value and the text what they have to be? As laz_artifacts_take. Takes long where they are
 * large; any thread. */
int laz_artifacts_check(const struct laz_buf *value, const struct laz_buf *text, const char **why);
/* The execution is over, in whatever way (`how`: its verdict). What was not sent to its end is lost
 * from now on. Files of tools join the others; one whose name the code has taken gets "tool-"
 * before it. False: out of memory. */
bool laz_artifacts_settle(struct laz_artifacts *artifacts, const char *how);
void laz_artifacts_fini(struct laz_artifacts *artifacts);

/* The media type of a file by its name; of a picture only if its first bytes say the same. Static
 * text. */
const char *laz_media_type(const char *name, const void *data, size_t len);

#endif
