/* SPDX-License-Identifier: MIT */
/* notes.c - notes between the proxy and an engine, as data.
 * Side: both.  Input trusted: no (the proxy, which reads what code and servers send). */
#include "proxy/proxy.h"

#include "wire/message.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AT(member)   .at = offsetof(struct proxy_note, member)
#define NEEDED       .flags = LAZ_FIELD_REQUIRED
#define NUMBER(member)                                                                             \
    {                                                                                              \
#member, LAZ_FIELD_INTEGER, NEEDED, AT(member), .min = 0, .max = INT64_MAX                 \
    }
#define TEXT(member)                                                                               \
    {                                                                                              \
#member, LAZ_FIELD_TEXT, AT(member)                                                        \
    }
#define TEXTS(member)                                                                              \
    {                                                                                              \
#member, LAZ_FIELD_TEXTS, .flags = LAZ_FIELD_ALL, AT(member)                               \
    }
#define FLAG(member)                                                                               \
    {                                                                                              \
#member, LAZ_FIELD_BOOLEAN, AT(member)                                                     \
    }

static const struct laz_field failed_members[] = {{"text", LAZ_FIELD_TEXT, NEEDED, AT(text)}};

static const struct laz_field wants_members[] = {NUMBER(credential), FLAG(refused)};

static const struct laz_field used_members[] = {
    NUMBER(connection),
    NUMBER(credential),
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name)},
};

static const struct laz_field denied_members[] = {
    NUMBER(connection),
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name)},
    NUMBER(port),
    {"text", LAZ_FIELD_TEXT, NEEDED, AT(text)},
};

static const struct laz_field credential_members[] = {
    NUMBER(credential), TEXT(title),       TEXT(field),    TEXT(before), TEXT(after), TEXT(user),
    TEXT(query),        TEXT(placeholder), TEXTS(methods), TEXTS(paths), FLAG(only),  FLAG(echo),
};

static const struct laz_field secret_members[] = {
    NUMBER(credential),
    {"text", LAZ_FIELD_TEXT, AT(text), .len_at = offsetof(struct proxy_note, text_len)},
    TEXT(why),
};

static const struct laz_field forget_members[] = {NUMBER(credential)};

static const struct laz_field connection_members[] = {
    NUMBER(connection),
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name)},
    NUMBER(port),
    TEXTS(credentials),
};

#define ROW(word, to, rows)                                                                        \
    {                                                                                              \
        word, LAZ_WIRE_TO_##to, 1, "always",                                                       \
        {                                                                                          \
            .name = "a note", .title = "message '" word "'", .size = sizeof(struct proxy_note),    \
            .items = rows, .n = COUNT(rows)                                                        \
        }                                                                                          \
    }
#define NONE(word, to)                                                                             \
    {                                                                                              \
        word, LAZ_WIRE_TO_##to, 1, "once",                                                         \
        {                                                                                          \
            .name = "a note", .title = "message '" word "'", .size = sizeof(struct proxy_note)     \
        }                                                                                          \
    }

static const struct laz_wire_row proxy_table[PROXY_NOTE_TYPES] = {
    [PROXY_READY] = NONE("ready", HOST),
    [PROXY_FAILED] = ROW("failed", HOST, failed_members),
    [PROXY_WANTS] = ROW("wants", HOST, wants_members),
    [PROXY_USED] = ROW("used", HOST, used_members),
    [PROXY_DENIED] = ROW("denied", HOST, denied_members),
    [PROXY_CREDENTIAL] = ROW("credential", SERVER, credential_members),
    [PROXY_SECRET] = ROW("secret", SERVER, secret_members),
    [PROXY_FORGET] = ROW("forget", SERVER, forget_members),
    [PROXY_CONNECTION] = ROW("connection", SERVER, connection_members),
};

static const struct laz_wire_protocol proxy_protocol = {proxy_table, PROXY_NOTE_TYPES};

void proxy_note_make(enum proxy_note_type type, const struct proxy_note *note, struct laz_buf *line)
{
    laz_wire_make(&proxy_table[type], note, line, NULL);
}

int proxy_note_parse(const char *line, size_t len, bool to_proxy, enum proxy_note_type *type,
                     struct proxy_note *note, struct laz_error *err)
{
    unsigned row;

    *note = (struct proxy_note){.text = NULL};
    int rc = laz_wire_parse(&proxy_protocol, to_proxy ? LAZ_WIRE_TO_SERVER : LAZ_WIRE_TO_HOST, 1,
                            false, line, len, note, &row, err);
    *type = (enum proxy_note_type)row;
    return rc;
}

void proxy_note_fini(enum proxy_note_type type, struct proxy_note *note)
{
    if (type < PROXY_NOTE_TYPES)
        laz_fields_free(&proxy_table[type].object, note);
}
