/* SPDX-License-Identifier: MIT */
/* answer.c - may this answer go into the box, and as what?
 * Side: proxy.  Input trusted: no (what a server sends).
 *
 * A field that carries the secret is left out.  A body that nobody could search (encoded, or a part
 * of it) is refused.  What follows a head is known exactly, or the answer is refused: a client that
 * reads it in another way would take one answer for another one (RFC 9112, 6.3). */
#include "proxy/proxy_private.h"

#include <string.h>

struct answer_work {
    const struct proxy_searches *searches;
    struct proxy_answer *answer;
    bool is_old;      /* HTTP/1.0 */
    bool is_searched; /* a secret must not be in it */
    unsigned lengths, codings;
};

static bool answer_carries(const struct proxy_searches *searches, struct laz_http_text text)
{
    for (size_t i = 0; i < searches->n; i++)
        if (searches->items[i] && proxy_echo_in(searches->items[i], text.text, text.len))
            return true;
    return false;
}

static const char *answer_line(struct answer_work *work, struct laz_http_text line,
                               struct laz_buf *out)
{
    const bool has_form = line.len >= 12 && memcmp(line.text, "HTTP/1.", 7) == 0 &&
                          (line.text[7] == '0' || line.text[7] == '1') && line.text[8] == ' ' &&
                          (line.len == 12 || line.text[12] == ' ');

    for (size_t i = 9; i < 12 && has_form; i++) {
        if (line.text[i] < '0' || line.text[i] > '9')
            return "its status is not a number";
        work->answer->status = work->answer->status * 10 + (line.text[i] - '0');
    }
    if (!has_form || work->answer->status < 100 || work->answer->status > 599 ||
        !laz_http_is_visible(line, true))
        return "it does not begin with a status line of HTTP/1.1";
    work->is_old = line.text[7] == '0';
    work->answer->closes = work->is_old;
    if (work->answer->status == 101)
        return "the server changes to another protocol";
    if (work->answer->status == 206 && work->is_searched)
        return "it is a part of something, in which a secret could not be found";
    laz_buf_append(out, line.text, answer_carries(work->searches, line) ? 12 : line.len);
    laz_buf_puts(out, "\r\n");
    return NULL;
}

static const char *answer_coding(struct answer_work *work, struct laz_http_text value)
{
    work->answer->is_chunked = laz_http_is(value, "chunked");
    return work->answer->is_chunked ? NULL : "its Transfer-Encoding is not \"chunked\" alone";
}

static void answer_connection(struct answer_work *work, struct laz_http_text value)
{
    while (value.len)
        if (laz_http_is(laz_http_trim(laz_http_cut(&value, ',')), "close"))
            work->answer->closes = true;
}

/* *goes: the field goes on. */
static const char *answer_take(struct answer_work *work, struct laz_http_text name,
                               struct laz_http_text value, bool *goes)
{
    struct proxy_answer *answer = work->answer;

    *goes = true;
    if (laz_http_is(name, "content-length")) {
        answer->has_length = true;
        return work->lengths++ ? "it has two Content-Length fields"
                               : laz_http_length(value, &answer->length);
    }
    if (laz_http_is(name, "transfer-encoding"))
        return work->codings++ ? "it has two Transfer-Encoding fields" : answer_coding(work, value);
    if (laz_http_is(name, "connection"))
        answer_connection(work, value);
    if (work->is_searched && laz_http_is(name, "content-encoding") &&
        !laz_http_is(value, "identity"))
        return "it is encoded (Content-Encoding), though that was not asked for: a secret could "
               "not "
               "be found in it";
    if (work->is_searched && laz_http_is(name, "content-range"))
        return "it is a part of something, in which a secret could not be found";
    /* another protocol, or port, is not what was permitted */
    *goes = !laz_http_is(name, "alt-svc") && !laz_http_is(name, "upgrade");
    return NULL;
}

static const char *answer_fields(struct answer_work *work, struct laz_http_text rest,
                                 struct laz_buf *out)
{
    struct laz_http_text line, name, value;
    const char *why = NULL;
    size_t n = 0;

    while (!why && (line = laz_http_line(&rest)).len) {
        bool goes = true;
        why = laz_http_field(line, &name, &value);
        if (!why && ++n > PROXY_FIELDS)
            why = "it has too many fields";
        if (!why)
            why = answer_take(work, name, value, &goes);
        if (why || !goes || answer_carries(work->searches, line))
            continue;
        laz_buf_append(out, line.text, line.len);
        laz_buf_puts(out, "\r\n");
    }
    laz_buf_puts(out, "\r\n");
    return why;
}

static const char *answer_conclude(const struct answer_work *work, bool is_head)
{
    struct proxy_answer *answer = work->answer;

    if (work->codings && work->lengths)
        return "it has both Transfer-Encoding and Content-Length";
    if (work->codings && work->is_old)
        return "an answer of HTTP/1.0 has a Transfer-Encoding";
    answer->is_interim = work->answer->status < 200;
    answer->has_body = !is_head && !answer->is_interim && work->answer->status != 204 &&
                       work->answer->status != 304;
    if ((answer->is_interim || answer->status == 204) && (work->codings || answer->length))
        return "it has a body, which an answer of its status cannot have";
    answer->closes |= answer->has_body && !answer->is_chunked && !answer->has_length;
    return NULL;
}

void proxy_answer_judge(const struct proxy_searches *searches, bool is_head, const char *head,
                        size_t len, struct laz_buf *out, struct proxy_answer *answer)
{
    struct laz_http_text rest = {head, len};
    struct answer_work work = {.searches = searches, .answer = answer};

    *answer = (struct proxy_answer){.why = NULL};
    for (size_t i = 0; i < searches->n; i++)
        work.is_searched |= searches->items[i] != NULL;
    answer->why = answer_line(&work, laz_http_line(&rest), out);
    if (!answer->why)
        answer->why = answer_fields(&work, rest, out);
    if (!answer->why)
        answer->why = answer_conclude(&work, is_head);
}

bool proxy_answer_trailer(const struct proxy_searches *searches, const char *line, size_t len)
{
    const struct laz_http_text text = {line, len};

    return !laz_http_trailer(text) && !answer_carries(searches, text);
}
