/* SPDX-License-Identifier: MIT */
/* schema.h - the table of all keys of the configuration, and what a struct laz_settings is made of.
 * Private to core/settings.
 *
 * Settings are the nodes in force, one for each key of the schema, and the values made from them.
 * Reading a document makes a new set of nodes beside the old one, which replaces it only when every
 * node could be converted. */
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
    SCHEMA_BELOW,       /* struct laz_strv: relative paths */
    SCHEMA_VARIABLES,   /* struct laz_strv: names of environment variables */
    SCHEMA_ENVIRONMENT, /* struct laz_strv: NAME=VALUE, from a table of strings */
    SCHEMA_RULES,       /* struct laz_strv: texts; a table is its JSON object */
    SCHEMA_CREDENTIALS, /* struct laz_strv: JSON objects, from a list of tables */
    SCHEMA_SECRETS,     /* struct laz_strv: NAME=JSON, from a table of tables */
    SCHEMA_PORTS,       /* struct laz_strv: decimal numbers from 1 to 65535 */
    SCHEMA_HOSTS,       /* struct laz_strv: NAME=ADDRESS, from a table of strings */
    SCHEMA_ADDRESS,     /* char *: any text */
    SCHEMA_LISTEN,      /* char *: PORT or HOST:PORT, or "" */
    SCHEMA_URL,         /* char *: http or https, or "" */
    SCHEMA_HEADERS,     /* struct laz_strv: NAME=VALUE of HTTP, from a table of strings */
    SCHEMA_TEXT,        /* char *: any text but "" */
    SCHEMA_ENFORCE,     /* uint32_t: bits, from a list of words */
    SCHEMA_PROGRAMS,    /* struct laz_strv: "default", "any", or a list of names and paths */
    SCHEMA_UIDS,        /* char *: "auto" or "FIRST-LAST" */
    SCHEMA_FILE,        /* char *: an absolute path, or "" */
    SCHEMA_REFUSE,      /* bool: "refuse" is true, "warn" false */
    SCHEMA_WARM,        /* enum laz_warm */
    SCHEMA_WHERE,       /* enum laz_where */
    SCHEMA_COLLECT,     /* enum laz_collect */
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
extern const struct schema_key laz_schema_secrets;        /* [secrets], whose keys are free names */
extern const struct schema_section laz_schema_sections[]; /* ends with name NULL */

size_t laz_schema_count(void);
/* The row of a key, or NULL. A section may be a table in one: "network.host". */
const struct schema_key *laz_schema_find(const char *section, const char *key, size_t len);
/* Is there such a table in a section, with keys of the schema? */
bool laz_schema_has_table(const char *section, const char *key);
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

/* values_secrets.c: the node that is not right in where a secret is read ({ file = "/x" }), or in a
 * table of [[network.credential]], and `why`, what was expected there; NULL: all of it is right. */
const struct laz_toml_node *laz_secret_form(const struct laz_toml_node *node, struct laz_buf *why);
const struct laz_toml_node *laz_credential_form(const struct laz_toml_node *node,
                                                struct laz_buf *why);

/* ---- values: convert.c ----------------------------------------------------------------------- */

#define LAZ_SIZE_EXPECTED "a size (\"8MiB\", or bytes as an integer)"
#define LAZ_TIME_EXPECTED "a time (\"30s\", \"5m\", \"250ms\", or seconds as a number)"

/* 1024, "512MiB": bytes. False for anything else, and when the value does not fit. */
bool laz_convert_size(const struct laz_toml_node *node, uint64_t *bytes);
/* 30, 0.5, "30s", "250ms": milliseconds, rounded up, so that only 0 becomes 0. */
bool laz_convert_time(const struct laz_toml_node *node, uint64_t *ms);
/* Appends what somebody may have meant who wrote a size that is none, as docker and other programs
 * have it ("512M", "1gb"); else nothing. */
void laz_suggest_size(struct laz_buf *buf, const struct laz_toml_node *node);
/* Appends how the value of a table of strings is written that is a number, say, and may be secret;
 * else nothing. On a command line the shell takes quotes away. `table`: the name of the table
 * there. */
void laz_suggest_quotes(struct laz_buf *buf, const struct laz_toml_node *node, const char *table);
/* The reverse, for messages: "8MiB", "366d". */
void laz_format_size(struct laz_buf *buf, uint64_t bytes);
void laz_format_time(struct laz_buf *buf, uint64_t ms);

/* ---- what settings are made of: settings.c --------------------------------------------------- */

struct settings_table {
    const char *section;              /* "sandbox", "runtime"; static */
    const struct laz_toml_node *node; /* its key is the plugin's name */
};

/* What is in force. Nodes are borrowed from the documents of the settings. */
struct settings_nodes {
    const struct laz_toml_node **keys; /* as many as the schema has rows; NULL: not set */
    struct settings_table *tables;
    size_t n_tables;
    const struct laz_toml_node *tools, *approve; /* the lists, or NULL */
    const struct laz_toml_node *secrets;         /* the table, or NULL */
};

struct laz_settings {
    struct laz_settings_values values;
    struct settings_nodes nodes;
    struct laz_toml **documents; /* the defaults, then each document that was read */
    size_t n_documents;
    struct laz_strv problems; /* problems of the last load or set */
};

/* Is the node one of the defaults? */
bool laz_settings_is_default(const struct laz_toml_node *node);

/* settings_secrets.c: marks the value, or each value of a table. */
void laz_settings_mark_secret(struct laz_toml_node *node);
/* check.c: puts the nodes of a document into `nodes`, which has the nodes in force so far; adds a
 * problem to it for each unknown key and each table of the wrong form. Tables of a plugin,
 * env.set and [secrets] are merged with those that they replace, so `toml` must not be shared yet.
 */
void laz_settings_check(struct laz_toml *toml, struct settings_nodes *nodes);

#endif
