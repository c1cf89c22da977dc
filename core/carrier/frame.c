/* SPDX-License-Identifier: MIT */
/* frame.c - frames: a header of JSON on one line, and behind it bytes of a line of the host
 * protocol. Side: host.  Input trusted: no (anybody who may send to a subject chooses the bytes).
 *
 * A header is short and its numbers are bounded, so that a frame costs its receiver no more than
 * its own size, whatever it says.  What the numbers mean is for the link (link_receive.c). Members
 * that are not known are ignored: a later version may add some, where the machines of a cluster are
 * renewed one by one. */
#include "carrier/carrier.h"

#include "base/json_fields.h"
#include "base/json_scan.h"
#include "base/random.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FIELD(name)  offsetof(struct laz_carrier_frame, name)
#define NEEDED       .flags = LAZ_FIELD_REQUIRED
#define TEXT(name, least, most)                                                                    \
    {                                                                                              \
#name, LAZ_FIELD_PLAIN, NEEDED, .min = (least), .max = (most), .at = FIELD(name),          \
                                        .len_at = FIELD(name##_len)                                \
    }
#define MAY(name, least, most)                                                                     \
    {                                                                                              \
#name, LAZ_FIELD_PLAIN, .min = (least), .max = (most), .at = FIELD(name),                  \
                                .len_at = FIELD(name##_len)                                        \
    }
#define ID(name)   TEXT(name, LAZ_CARRIER_ID, LAZ_CARRIER_ID)
#define NAME(name) TEXT(name, 1, LAZ_CARRIER_NAME)
#define NUMBER(word, name, least)                                                                  \
    {                                                                                              \
        word, LAZ_FIELD_INTEGER, NEEDED, .min = (least), .max = LAZ_CARRIER_INT, .at = FIELD(name) \
    }
#define HEAD                                                                                       \
    {"v", LAZ_FIELD_INTEGER, NEEDED, .min = 1, .max = 1, .at = FIELD(version)},                    \
    {                                                                                              \
        "kind", LAZ_FIELD_PLAIN, NEEDED, .min = 1, .max = 16, .at = FIELD(word),                   \
                                         .len_at = FIELD(word_len)                                 \
    }

static const struct laz_field open_members[] = {
    HEAD,
    ID(open),
    NAME(caller),
    MAY(tenant, 1, LAZ_CARRIER_NAME),
    MAY(digest, 1, 64), /* of the settings that the caller expects */
    NUMBER("deadline", deadline_ms, 0),
};
static const struct laz_field opened_members[] = {
    HEAD, ID(open), ID(link), NAME(worker), ID(boot), NUMBER("lease", lease_ms, 1),
};
static const struct laz_field refused_members[] = {HEAD, ID(open), NAME(worker), TEXT(code, 1, 32)};
static const struct laz_field line_members[] = {
    HEAD,
    ID(link),
    NUMBER("n", number, 0),
    NUMBER("part", part, 0),
    NUMBER("of", parts, 1),
    NUMBER("credit", credit, 0),
};
static const struct laz_field keep_members[] = {
    HEAD, ID(link), NUMBER("n", number, 0), NUMBER("beat", beat, 1), NUMBER("credit", credit, 0),
};
static const struct laz_field end_members[] = {HEAD, ID(link), NUMBER("n", number, 0),
                                               TEXT(reason, 1, 32)};

/* A kind: its word, its members, and how many bytes may stand behind the header. */
#define KIND(kind, its_word, rows, its_least, its_most)                                            \
    [kind] = {                                                                                     \
        its_word,                                                                                  \
        {.name = "a frame " its_word,                                                              \
         .size = sizeof(struct laz_carrier_frame),                                                 \
         .items = (rows),                                                                          \
         .n = COUNT(rows)},                                                                        \
        its_least,                                                                                 \
        its_most,                                                                                  \
    }
static const struct frame_kind {
    const char *word;
    struct laz_fields fields;
    size_t least, most;
} frame_kinds[LAZ_CARRIER_KINDS] = {
    KIND(LAZ_CARRIER_OPEN, "open", open_members, 0, LAZ_CARRIER_TOKEN),
    KIND(LAZ_CARRIER_OPENED, "opened", opened_members, 0, 0),
    KIND(LAZ_CARRIER_REFUSED, "refused", refused_members, 0, LAZ_ERROR_TEXT_SIZE),
    KIND(LAZ_CARRIER_LINE, "line", line_members, 1, LAZ_CARRIER_PART),
    KIND(LAZ_CARRIER_KEEP, "keep", keep_members, 0, 0),
    KIND(LAZ_CARRIER_END, "end", end_members, 0, 0),
};

void laz_carrier_make(const struct laz_carrier_frame *frame, struct laz_buf *bytes)
{
    const struct frame_kind *kind = &frame_kinds[frame->kind];
    struct laz_carrier_frame whole = *frame;
    struct laz_json_write write = {.to = bytes};

    whole.version = 1;
    whole.word = kind->word;
    whole.word_len = strlen(kind->word);
    laz_json_begin_object(&write, NULL);
    laz_fields_add_members(&write, &kind->fields, &whole, NULL);
    laz_json_end_object(&write);
    laz_buf_putc(bytes, '\n');
    laz_buf_append(bytes, frame->data ? frame->data : "", frame->len);
}

bool laz_carrier_is_same(const char *id, const char *text, size_t len)
{
    return len == LAZ_CARRIER_ID && laz_equal_constant_time(id, text, LAZ_CARRIER_ID);
}

/* ---- parsing --------------------------------------------------------------------------------- */

static int frame_wrong(struct laz_error *err, const char *what)
{
    return laz_error_set(err, LAZ_EPROTO, 0, "not a frame: %s", what);
}

static const struct frame_kind *frame_kind(const struct laz_json_found *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!laz_json_found_is(&found[i], "kind"))
            continue;
        for (size_t kind = 0; kind < LAZ_CARRIER_KINDS; kind++) {
            const size_t len = strlen(frame_kinds[kind].word);
            if (found[i].len == len + 2 &&
                memcmp(found[i].raw + 1, frame_kinds[kind].word, len) == 0)
                return &frame_kinds[kind];
        }
    }
    return NULL;
}

/* The names and ids that it has. */
static bool frame_is_named(const struct laz_carrier_frame *frame)
{
    const struct {
        const char *text;
        size_t len;
        bool is_id;
    } texts[] = {
        {frame->link, frame->link_len, true},      {frame->open, frame->open_len, true},
        {frame->boot, frame->boot_len, true},      {frame->caller, frame->caller_len, false},
        {frame->worker, frame->worker_len, false}, {frame->tenant, frame->tenant_len, false},
        {frame->code, frame->code_len, false},     {frame->reason, frame->reason_len, false},
        {frame->digest, frame->digest_len, false},
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i].text && !(texts[i].is_id ? laz_carrier_is_id(texts[i].text, texts[i].len)
                                              : laz_carrier_is_name(texts[i].text, texts[i].len)))
            return false;
    return true;
}

int laz_carrier_parse(const char *bytes, size_t len, struct laz_carrier_frame *frame,
                      struct laz_error *err)
{
    const char *newline =
        len ? memchr(bytes, '\n', len < LAZ_CARRIER_HEADER ? len : LAZ_CARRIER_HEADER) : NULL;
    struct laz_json_found found[LAZ_FIELDS_MOST];
    struct laz_fields_problem wrong;
    size_t n = 0;

    *frame = (struct laz_carrier_frame){.kind = LAZ_CARRIER_KINDS};
    if (!newline)
        return frame_wrong(err, "it has no header of a line");
    const size_t header = (size_t)(newline - bytes), behind = len - header - 1;
    int rc = laz_json_scan_members(bytes, header, found, LAZ_FIELDS_MOST, &n, NULL);
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    if (rc || n > LAZ_FIELDS_MOST)
        return frame_wrong(err, "its header is no object of JSON");
    const struct frame_kind *kind = frame_kind(found, n);
    if (!kind)
        return frame_wrong(err, "its kind is not known");
    rc = laz_fields_take(&kind->fields, found, n, frame, &wrong);
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    if (rc)
        return laz_error_set(err, LAZ_EPROTO, 0, "not a frame: %s of '%s' is missing or wrong",
                             wrong.field ? wrong.field->name : "a member", kind->word);
    if (!frame_is_named(frame))
        return frame_wrong(err, "a name or an id in it is none");
    if (behind < kind->least || behind > kind->most)
        return frame_wrong(err, "too little or too much stands behind its header");
    if (frame->part >= frame->parts && kind == &frame_kinds[LAZ_CARRIER_LINE])
        return frame_wrong(err, "its part is not one of them");
    frame->kind = (enum laz_carrier_kind)(kind - frame_kinds);
    frame->data = behind ? newline + 1 : NULL;
    frame->len = behind;
    return 0;
}
