/* SPDX-License-Identifier: MIT */
/* spans_otlp.c - requests to a collector, by libcurl.
 * Side: host.  Input trusted: no (what a collector answers).
 *
 * libcurl is loaded when an exporter is made: few need it, and it brings a dozen libraries.  A
 * multi handle is used for its one request, because that can be woken from outside. */
#include "telemetry/spans_private.h"

#include "base/clock.h"
#include "os/library.h"

#include <curl/curl.h>
#include <lazaret/lazaret.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTLP_CONNECT_MS 5000L
#define OTLP_TIMEOUT_MS 10000L
#define OTLP_TURN_MS    1000
#define OTLP_BODY       ((size_t)64 << 10) /* bytes of an answer; more is not read */

#define OTLP_FUNCTIONS(F)                                                                          \
    F(easy_cleanup)                                                                                \
    F(easy_init)                                                                                   \
    F(easy_strerror)                                                                               \
    F(global_init)                                                                                 \
    F(multi_add_handle)                                                                            \
    F(multi_cleanup)                                                                               \
    F(multi_info_read)                                                                             \
    F(multi_init)                                                                                  \
    F(multi_perform)                                                                               \
    F(multi_poll)                                                                                  \
    F(multi_remove_handle)                                                                         \
    F(multi_wakeup)                                                                                \
    F(slist_append)                                                                                \
    F(slist_free_all)

struct otlp_library {
#define OTLP_MEMBER(name) __typeof__(curl_##name) *name;
    OTLP_FUNCTIONS(OTLP_MEMBER)
#undef OTLP_MEMBER
    /* These are macros as well, which check the types of arguments. */
    CURLcode (*setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*getinfo)(CURL *easy, CURLINFO info, ...);
};

struct otlp {
    struct otlp_library curl;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    struct laz_buf *body; /* of the answer, while one is awaited */
};

static int otlp_load(struct otlp_library *curl, struct laz_error *err)
{
    static const struct laz_library_row rows[] = {
#define OTLP_ROW(name) {"curl_" #name, offsetof(struct otlp_library, name)},
        OTLP_FUNCTIONS(OTLP_ROW)
#undef OTLP_ROW
            {"curl_easy_setopt", offsetof(struct otlp_library, setopt)},
        {"curl_easy_getinfo", offsetof(struct otlp_library, getinfo)},
    };
    int rc =
        laz_library_take(LAZ_CURL_LIBRARY, "libcurl", rows, sizeof rows / sizeof *rows, curl, err);

    if (!rc && curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        rc = laz_error_set(err, LAZ_EOS, 0, "libcurl does not start");
    return rc;
}

/* Adds one to the headers. */
static bool otlp_header(struct otlp *otlp, const char *line)
{
    struct curl_slist *longer = otlp->curl.slist_append(otlp->headers, line);

    if (longer)
        otlp->headers = longer;
    return longer != NULL;
}

/* NAME=VALUE. */
static bool otlp_secret(struct otlp *otlp, const char *item)
{
    const size_t name = strcspn(item, "=");
    char *line = laz_strdupf("%.*s: %s", (int)name, item, item + name + (item[name] == '='));
    const bool added = line && otlp_header(otlp, line);

    if (line)
        laz_wipe(line, strlen(line));
    free(line);
    return added;
}

static size_t otlp_take(char *data, size_t size, size_t n, void *user)
{
    struct otlp *otlp = user;
    const size_t len = size * n;

    if (otlp->body->len + len > OTLP_BODY)
        return 0;
    laz_buf_append(otlp->body, data, len);
    return len;
}

int otlp_new(const char *url, const struct laz_strv *headers, struct otlp **out,
             struct laz_error *err)
{
    struct otlp *otlp = calloc(1, sizeof *otlp);

    *out = NULL;
    if (!otlp)
        return laz_error_nomem(err);
    int rc = otlp_load(&otlp->curl, err);
    if (rc) {
        free(otlp);
        return rc;
    }
    const struct otlp_library *curl = &otlp->curl;
    otlp->multi = curl->multi_init();
    otlp->easy = curl->easy_init();
    bool well = otlp->multi && otlp->easy && otlp_header(otlp, "Content-Type: application/json") &&
                otlp_header(otlp, "Expect:");
    for (size_t i = 0; well && i < headers->n; i++)
        well = otlp_secret(otlp, headers->items[i]);
    if (!well) {
        otlp_free(otlp);
        return laz_error_nomem(err);
    }
    curl->setopt(otlp->easy, CURLOPT_URL, url);
    curl->setopt(otlp->easy, CURLOPT_HTTPHEADER, otlp->headers);
    curl->setopt(otlp->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->setopt(otlp->easy, CURLOPT_NOSIGNAL, 1L);
    curl->setopt(otlp->easy, CURLOPT_POST, 1L);
    curl->setopt(otlp->easy, CURLOPT_USERAGENT, "lazaret/" LAZ_VERSION);
    curl->setopt(otlp->easy, CURLOPT_CONNECTTIMEOUT_MS, OTLP_CONNECT_MS);
    curl->setopt(otlp->easy, CURLOPT_TIMEOUT_MS, OTLP_TIMEOUT_MS);
    curl->setopt(otlp->easy, CURLOPT_WRITEFUNCTION, otlp_take);
    curl->setopt(otlp->easy, CURLOPT_WRITEDATA, otlp);
#if LIBCURL_VERSION_NUM >= 0x075700
    curl->setopt(otlp->easy, CURLOPT_QUICK_EXIT, 1L); /* its end waits for no lookup of a name */
#endif
    *out = otlp;
    return 0;
}

/* What came of the request. */
static void otlp_outcome(struct otlp *otlp, CURLcode code, struct otlp_answer *answer)
{
    curl_off_t seconds = 0;

    (void)otlp->curl.getinfo(otlp->easy, CURLINFO_RESPONSE_CODE, &answer->status);
    (void)otlp->curl.getinfo(otlp->easy, CURLINFO_RETRY_AFTER, &seconds);
    if (seconds > 0)
        answer->retry_ms = seconds > 3600 ? 3600000u : (uint64_t)seconds * 1000;
    if (code != CURLE_OK) {
        answer->status = 0;
        snprintf(answer->why, sizeof answer->why, "%s", otlp->curl.easy_strerror(code));
    } else if (answer->status < 200 || answer->status >= 300) {
        snprintf(answer->why, sizeof answer->why, "the collector answers with HTTP status %ld",
                 answer->status);
    } else {
        snprintf(answer->why, sizeof answer->why, "the collector has rejected them");
    }
}

void otlp_post(struct otlp *otlp, const struct laz_buf *body, const _Atomic uint64_t *until_us,
               struct otlp_answer *answer)
{
    const struct otlp_library *curl = &otlp->curl;
    int running = 1, left;

    *answer = (struct otlp_answer){.body = LAZ_BUF_INIT};
    otlp->body = &answer->body;
    curl->setopt(otlp->easy, CURLOPT_POSTFIELDS, laz_buf_text(body));
    curl->setopt(otlp->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
    snprintf(answer->why, sizeof answer->why, "there was no time left");
    if (curl->multi_add_handle(otlp->multi, otlp->easy) != CURLM_OK)
        return;
    while (running) {
        const uint64_t now_us = laz_clock_us(), last_us = atomic_load(until_us);
        if ((last_us && now_us >= last_us) ||
            curl->multi_perform(otlp->multi, &running) != CURLM_OK)
            break;
        const uint64_t left_ms = last_us ? (last_us - now_us) / 1000 + 1 : OTLP_TURN_MS;
        if (running)
            (void)curl->multi_poll(otlp->multi, NULL, 0,
                                   left_ms < OTLP_TURN_MS ? (int)left_ms : OTLP_TURN_MS, NULL);
    }
    const CURLMsg *message = running ? NULL : curl->multi_info_read(otlp->multi, &left);
    if (message && message->msg == CURLMSG_DONE)
        otlp_outcome(otlp, message->data.result, answer);
    (void)curl->multi_remove_handle(otlp->multi, otlp->easy);
}

void otlp_wake(struct otlp *otlp)
{
    (void)otlp->curl.multi_wakeup(otlp->multi);
}

void otlp_free(struct otlp *otlp)
{
    if (!otlp)
        return;
    if (otlp->easy)
        otlp->curl.easy_cleanup(otlp->easy);
    if (otlp->multi)
        otlp->curl.multi_cleanup(otlp->multi);
    otlp->curl.slist_free_all(otlp->headers);
    free(otlp);
}
