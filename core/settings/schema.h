/* SPDX-License-Identifier: MIT */
/* schema.h - the table of all keys of the configuration. Private to core/settings. */
#ifndef LAZ_SETTINGS_SCHEMA_H
#define LAZ_SETTINGS_SCHEMA_H

#include "settings/settings.h"
#include "settings/toml/toml.h"

enum schema_kind {
    SCHEMA_NAME,        /* char *: the name of a plugin */
    SCHEMA_BOOLEAN,     /* bool */
    SCHEMA_COUNT,       /* uint64_t */
    SCHEMA_SIZE,        /* uint64_t, bytes */
    SCHEMA_TIME,        /* uint64_t, milliseconds */
    SCHEMA_LIMIT_COUNT, /* as COUNT, or "unlimited" */
    SCHEMA_LIMIT_SIZE,  /* as SIZE, or "unlimited" */
    SCHEMA_LIMIT_TIME,  /* as TIME, in seconds rounded up, or "unlimited" */
    SCHEMA_NAMES,       /* struct laz_strv: one name or a list of them */
    SCHEMA_STRINGS,     /* struct laz_strv */
    SCHEMA_PATHS,       /* struct laz_strv: absolute paths */
    SCHEMA_VARIABLES,   /* struct laz_strv: names of environment variables */
    SCHEMA_ENVIRONMENT, /* struct laz_strv: NAME=VALUE, from a table of strings */
    SCHEMA_ENFORCE,     /* uint32_t: bits, from a list of words */
    SCHEMA_PROGRAMS,    /* struct laz_strv: "default", "any", or a list of names and paths */
    SCHEMA_UIDS,        /* char *: "auto" or "FIRST-LAST" */
    SCHEMA_FILE,        /* char *: an absolute path, or "" */
    SCHEMA_REFUSE,      /* bool: "refuse" is true, "warn" false */
    SCHEMA_WARM,        /* enum laz_warm */
    SCHEMA_KINDS
};

struct schema_key {
    const char *key; /* "session.timeout" */
    enum schema_kind kind;
    const char *default_value; /* in TOML notation */
    size_t offset;             /* in struct laz_settings_values */
    uint64_t min, max;         /* of numbers, sizes and times */
    const char *help;
    bool is_secret; /* its texts are not shown; of a table its keys are */
};

struct schema_section {
    const char *name;
    const char *help; /* a paragraph for the documents */
};

extern const struct schema_key laz_schema[];              /* ends with key NULL */
extern const struct schema_section laz_schema_sections[]; /* ends with name NULL */

size_t laz_schema_count(void);
/* The row of a key, or NULL. */
const struct schema_key *laz_schema_find(const char *section, const char *key, size_t len);
const struct schema_section *laz_schema_section(const char *name, size_t len);
/* The name of a key's type in the documents, such as "time". */
const char *laz_schema_type(const struct schema_key *key);
/* Appends a bound of the key in its unit: "8MiB", "366d", "100". */
void laz_schema_bound(struct laz_buf *buf, const struct schema_key *key, uint64_t bound);
/* Appends what a value of the key has to be, with its range, for messages. */
void laz_schema_expected(struct laz_buf *buf, const struct schema_key *key);
/* For an unknown key: appends a hint at the nearest known key, if there is one. */
void laz_schema_suggest(struct laz_buf *buf, const char *section, const char *key);

/* Converts the value of a node and stores it in its field of `values`, which is still empty.
 * Returns 0, LAZ_ENOMEM, or LAZ_ECONFIG: then *wrong is the node that is not right, and `why` says
 * what was expected. */
int laz_schema_convert(const struct schema_key *key, const struct laz_toml_node *node,
                       struct laz_settings_values *values, const struct laz_toml_node **wrong,
                       struct laz_buf *why);
void laz_values_fini(struct laz_settings_values *values);

#endif
