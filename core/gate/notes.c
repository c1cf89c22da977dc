/* SPDX-License-Identifier: MIT */
/* notes.c - notes between the gate and a server, and the first line of a client, as data.
 * Side: both.  Input trusted: no (a client; the gate, which reads what clients send). */
#include "gate/gate.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AT(field)    .at = offsetof(struct gate_note, field)
#define NEEDED       .flags = LAZ_FIELD_REQUIRED
#define LIMIT(field)                                                                               \
    {                                                                                              \
#field, LAZ_FIELD_INTEGER, AT(field), .min = 0, .max = INT64_MAX                           \
    }

static const struct laz_field failed_members[] = {{"text", LAZ_FIELD_TEXT, NEEDED, AT(text)}};

static const struct laz_field client_members[] = {
    {"identity", LAZ_FIELD_TEXT, NEEDED, AT(identity)},
    {"address", LAZ_FIELD_TEXT, NEEDED, AT(address)},
    LIMIT(expires_s),
    LIMIT(sessions),
    LIMIT(cpu_s),
    LIMIT(bytes),
    LIMIT(requests),
};

static const struct laz_field refused_members[] = {
    {"address", LAZ_FIELD_TEXT, NEEDED, AT(address)},
    {"text", LAZ_FIELD_TEXT, NEEDED, AT(text)},
    LIMIT(count),
};

static const struct laz_field authenticate_members[] = {{"token", LAZ_FIELD_TEXT, AT(token)}};

#define ROW(word, to, rows)                                                                        \
    {                                                                                              \
        word, LAZ_WIRE_TO_##to, 1, "once",                                                         \
        {                                                                                          \
            .name = "a note", .title = "message '" word "'", .size = sizeof(struct gate_note),     \
            .items = rows, .n = COUNT(rows)                                                        \
        }                                                                                          \
    }
#define NONE(word, to)                                                                             \
    {                                                                                              \
        word, LAZ_WIRE_TO_##to, 1, "once",                                                         \
        {                                                                                          \
            .name = "a note", .title = "message '" word "'", .size = sizeof(struct gate_note)      \
        }                                                                                          \
    }

static const struct laz_wire_row gate_table[GATE_NOTE_TYPES] = {
    [GATE_READY] = NONE("ready", HOST),
    [GATE_FAILED] = ROW("failed", HOST, failed_members),
    [GATE_CLIENT] = ROW("client", HOST, client_members),
    [GATE_REFUSED] = ROW("refused", HOST, refused_members),
    [GATE_AUTHENTICATE] = ROW("authenticate", SERVER, authenticate_members),
};

const struct laz_wire_protocol gate_protocol = {gate_table, GATE_NOTE_TYPES};

char *gate_program(const char *agent)
{
    const char *slash = agent ? strrchr(agent, '/') : NULL;

    return slash ? laz_strdupf("%.*s/" LAZ_GATE_PROGRAM, (int)(slash - agent), agent) : NULL;
}

void gate_note_make(enum gate_note_type type, const struct gate_note *note, struct laz_buf *line)
{
    laz_wire_make(&gate_table[type], note, line, NULL);
}

int gate_note_parse(const char *line, size_t len, bool of_client, enum gate_note_type *type,
                    struct gate_note *note, struct laz_error *err)
{
    unsigned row;

    *note = (struct gate_note){.text = NULL};
    int rc = laz_wire_parse(&gate_protocol, of_client ? LAZ_WIRE_TO_SERVER : LAZ_WIRE_TO_HOST, 1,
                            false, line, len, note, &row, err);
    *type = (enum gate_note_type)row;
    return rc;
}

void gate_note_fini(enum gate_note_type type, struct gate_note *note)
{
    if (type < GATE_NOTE_TYPES)
        laz_fields_free(&gate_table[type].object, note);
}

struct laz_quota gate_note_quota(const struct gate_note *note)
{
    return (struct laz_quota){(uint64_t)note->sessions, (uint64_t)note->cpu_s,
                              (uint64_t)note->bytes, (uint64_t)note->requests};
}
