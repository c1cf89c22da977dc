/* SPDX-License-Identifier: MIT */
/* js_fetch.c - transfers of HTTP for parts/fetch.js, by libcurl, on the box's own sockets.
 * Side: box.  Input trusted: no.
 *
 * libcurl is opened at the first transfer of a session: a template has one thread and no sockets.
 * Its callbacks note only what came. The handlers of transfers are called when libcurl has
 * returned, because they may begin and end others. */
#include "js.h"

#include <curl/curl.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FETCH_MAX_HEAD        (1u << 20) /* of the header of an answer */
#define FETCH_MAX_UNREAD      (1u << 20) /* of a body; more is left with its server */
#define FETCH_MAX_CONNECTIONS 64L        /* network.max_connections; further ones wait here */

/* What is used of libcurl. */
#define FETCH_FUNCTIONS(each)                                                                      \
    each(global_init) each(easy_init) each(easy_cleanup) each(easy_setopt) each(easy_getinfo)      \
        each(easy_pause) each(slist_append) each(slist_free_all) each(multi_init)                  \
            each(multi_setopt) each(multi_add_handle) each(multi_remove_handle) each(multi_poll)   \
                each(multi_perform) each(multi_info_read)
#define FETCH_POINTER(name) __typeof__(curl_##name) *name;
#define FETCH_NAME(name)    "curl_" #name,

struct fetch_curl {
    FETCH_FUNCTIONS(FETCH_POINTER)
};

static const char *const fetch_names[] = {FETCH_FUNCTIONS(FETCH_NAME)};

struct fetch {
    struct fetch *next;
    struct js_fetches *all;
    double id;
    CURL *easy;
    struct curl_slist *headers;
    char *body;          /* what is sent */
    JSObjectRef handler; /* protected */
    char *head, *data;   /* what came */
    size_t head_len, len, size;
    bool has_head, is_too_large;
    bool head_told, data_told; /* to the handler */
    bool is_paused;            /* until data is taken */
    bool is_done;              /* with `result` */
    bool is_over;              /* it is freed after this turn */
    CURLcode result;
    char problem[CURL_ERROR_SIZE];
};

struct js_fetches {
    struct js_state *js;
    struct fetch_curl curl;
    CURLM *multi;
    struct fetch *first;
    double ids;
    bool in_turn; /* handlers are called */
};

/* ---- libcurl --------------------------------------------------------------------------------- */

static bool fetch_open_library(struct fetch_curl *curl)
{
    static const char *const libraries[] = {"libcurl-gnutls.so.4", "libcurl.so.4"};
    void *library = NULL, *functions[sizeof fetch_names / sizeof *fetch_names];

    _Static_assert(sizeof functions == sizeof *curl, "a pointer for each name");
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !library; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    for (size_t i = 0; i < sizeof fetch_names / sizeof *fetch_names; i++)
        if (!(functions[i] = dlsym(library, fetch_names[i])))
            return false;
    memcpy(curl, functions, sizeof functions);
    return curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* NULL: libcurl is not there. */
static struct js_fetches *fetch_all(struct js_state *js)
{
    struct js_fetches *all = js->fetches;

    if (all || !(all = calloc(1, sizeof *all)))
        return all;
    all->js = js;
    if (fetch_open_library(&all->curl))
        all->multi = all->curl.multi_init();
    if (!all->multi) {
        free(all);
        return NULL;
    }
    all->curl.multi_setopt(all->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, FETCH_MAX_CONNECTIONS);
    return js->fetches = all;
}

/* ---- callbacks of libcurl -------------------------------------------------------------------- */

static size_t fetch_came(char *data, size_t size, size_t n, void *user)
{
    struct fetch *fetch = user;

    n *= size;
    if (fetch->len >= FETCH_MAX_UNREAD) {
        fetch->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (fetch->size - fetch->len < n) {
        const size_t larger = 2 * fetch->size + n;
        char *longer = realloc(fetch->data, larger);
        if (!longer)
            return 0;
        fetch->data = longer;
        fetch->size = larger;
    }
    memcpy(fetch->data + fetch->len, data, n);
    fetch->len += n;
    return n;
}

/* One line of a header. There may be several headers ("100 Continue"), and lines behind the body.
 */
static size_t fetch_head_came(char *data, size_t size, size_t n, void *user)
{
    struct fetch *fetch = user;
    long status = 0;

    n *= size;
    if (fetch->has_head)
        return n;
    if (n >= 5 && memcmp(data, "HTTP/", 5) == 0)
        fetch->head_len = 0;
    char *longer =
        fetch->head_len + n <= FETCH_MAX_HEAD ? realloc(fetch->head, fetch->head_len + n) : NULL;
    if (!longer) {
        fetch->is_too_large = true;
        return 0;
    }
    fetch->head = longer;
    memcpy(fetch->head + fetch->head_len, data, n);
    fetch->head_len += n;
    if (*data == '\r' || *data == '\n') {
        fetch->all->curl.easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
        fetch->has_head = status >= 200 || status == 101;
    }
    return n;
}

/* Programs that the code starts do not get the socket. */
static int fetch_socket_made(void *user, curl_socket_t fd, curlsocktype purpose)
{
    (void)user;
    (void)purpose;
    return fcntl(fd, F_SETFD, FD_CLOEXEC) ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

/* ---- one transfer ---------------------------------------------------------------------------- */

static void fetch_free(struct fetch *fetch)
{
    struct js_fetches *all = fetch->all;

    if (fetch->easy) {
        all->curl.multi_remove_handle(all->multi, fetch->easy);
        all->curl.easy_cleanup(fetch->easy);
    }
    all->curl.slist_free_all(fetch->headers);
    if (fetch->handler)
        JSValueUnprotect(all->js->context, fetch->handler);
    free(fetch->body);
    free(fetch->head);
    free(fetch->data);
    free(fetch);
}

/* Frees those that are over; all of them, if `every`. */
static void fetch_sweep(struct js_fetches *all, bool every)
{
    struct fetch **at = &all->first, *fetch;

    while ((fetch = *at)) {
        if (every || fetch->is_over) {
            *at = fetch->next;
            fetch_free(fetch);
        } else {
            at = &fetch->next;
        }
    }
}

static struct fetch *fetch_find(const struct js_state *js, double id)
{
    struct fetch *fetch = js->fetches ? js->fetches->first : NULL;

    while (fetch && (fetch->id != id || fetch->is_over))
        fetch = fetch->next;
    return fetch;
}

/* The characters of a string as bytes, each of which they fit in. NULL: no memory. */
static char *fetch_bytes_of(JSContextRef context, JSValueRef value, JSValueRef *exception)
{
    JSStringRef string = JSValueToStringCopy(context, value, exception);
    const size_t len = string ? JSStringGetLength(string) : 0;
    char *text = string ? malloc(len + 1) : NULL;

    for (size_t i = 0; text && i < len; i++)
        text[i] = (char)JSStringGetCharactersPtr(string)[i];
    if (text)
        text[len] = '\0';
    if (string)
        JSStringRelease(string);
    return text;
}

/* Adds the lines of `text`. */
static bool fetch_add_headers(struct fetch *fetch, char *text)
{
    char *rest = text;

    for (char *line; text && (line = strsep(&rest, "\n"));) {
        struct curl_slist *longer = fetch->all->curl.slist_append(fetch->headers, line);
        if (!longer)
            return false;
        fetch->headers = longer;
    }
    return text != NULL;
}

static bool fetch_set_body(struct fetch *fetch, JSContextRef context, JSValueRef value)
{
    const struct fetch_curl *curl = &fetch->all->curl;
    void *data;
    size_t len;

    if (!js_bytes(context, value, &data, &len))
        return true;
    if (!(fetch->body = malloc(len + 1)))
        return false;
    if (len)
        memcpy(fetch->body, data, len);
    return !curl->easy_setopt(fetch->easy, CURLOPT_POST, 1L) &&
           !curl->easy_setopt(fetch->easy, CURLOPT_POSTFIELDS, fetch->body) &&
           !curl->easy_setopt(fetch->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
}

static bool fetch_set_up(struct fetch *fetch, const char *url, const char *method)
{
    const struct fetch_curl *curl = &fetch->all->curl;
    const char *authorities = getenv("SSL_CERT_FILE");
    CURL *easy = fetch->easy;

#if LIBCURL_VERSION_NUM >= 0x075700
    curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* nothing waits for a lookup */
#endif
    if (authorities && *authorities && curl->easy_setopt(easy, CURLOPT_CAINFO, authorities))
        return false;
    if (strcmp(method, "HEAD") == 0 && curl->easy_setopt(easy, CURLOPT_NOBODY, 1L))
        return false;
    /* No signals, no proxies, nothing is followed, and certificates are checked. */
    return !curl->easy_setopt(easy, CURLOPT_URL, url) &&
           !curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method) &&
           !curl->easy_setopt(easy, CURLOPT_HTTPHEADER, fetch->headers) &&
           !curl->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L) &&
           !curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) &&
           !curl->easy_setopt(easy, CURLOPT_PROXY, "") &&
           !curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
           !curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) &&
           !curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) &&
           !curl->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) &&
           !curl->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) &&
           !curl->easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "") &&
           !curl->easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, fetch_socket_made) &&
           !curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, fetch_came) &&
           !curl->easy_setopt(easy, CURLOPT_WRITEDATA, fetch) &&
           !curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, fetch_head_came) &&
           !curl->easy_setopt(easy, CURLOPT_HEADERDATA, fetch) &&
           !curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->problem) &&
           !curl->easy_setopt(easy, CURLOPT_PRIVATE, fetch);
}

/* ---- what handlers are told ------------------------------------------------------------------ */

static void fetch_tell(struct fetch *fetch, const char *what, JSValueRef first, JSValueRef second)
{
    JSContextRef context = fetch->all->js->context;
    const JSValueRef arguments[] = {js_string(context, what, strlen(what)), first, second};
    const size_t n = !first ? 1 : !second ? 2 : 3;

    JSObjectCallAsFunction(context, fetch->handler, NULL, n, arguments, NULL);
}

/* What came is Latin-1 where it is no ASCII. */
static void fetch_tell_head(struct fetch *fetch)
{
    JSContextRef context = fetch->all->js->context;
    JSChar *units = malloc(fetch->head_len * sizeof *units);

    fetch->head_told = true;
    for (size_t i = 0; units && i < fetch->head_len; i++)
        units[i] = (unsigned char)fetch->head[i];
    JSStringRef text = JSStringCreateWithCharacters(units, units ? fetch->head_len : 0);
    free(units);
    JSValueRef head = JSValueMakeString(context, text);
    JSStringRelease(text);
    fetch_tell(fetch, "head", head, NULL);
}

/* What is unread as an array, which takes it over. */
static JSValueRef fetch_take(struct fetch *fetch, JSValueRef *exception)
{
    char *data = fetch->data;
    const size_t len = fetch->len;

    fetch->data = NULL;
    fetch->len = fetch->size = 0;
    fetch->data_told = false;
    return js_new_bytes(fetch->all->js->context, data, len, exception);
}

/* Does the host answer for names, those of a list (core/plan/policy_content.c)? */
static bool fetch_is_listed(void)
{
    static const char wanted[] = "nameserver 127.0.0.1\n";
    char text[sizeof wanted] = "";
    const int fd = open("/etc/resolv.conf", O_RDONLY | O_CLOEXEC);
    const ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text);

    if (fd >= 0)
        close(fd);
    return len == sizeof wanted - 1 && memcmp(text, wanted, sizeof wanted - 1) == 0;
}

static void fetch_tell_end(struct fetch *fetch)
{
    JSContextRef context = fetch->all->js->context;
    long number = 0;

    fetch->is_over = true;
    if (fetch->result == CURLE_OK) {
        fetch_tell(fetch, "end", fetch_take(fetch, NULL), NULL);
        return;
    }
    fetch->all->curl.easy_getinfo(fetch->easy, CURLINFO_OS_ERRNO, &number);
    const char *text = fetch->is_too_large ? "the header is too large" : fetch->problem;
    JSObjectRef error = JSObjectMake(context, NULL, NULL);
    js_set(context, error, "result", js_number(context, fetch->result));
    js_set(context, error, "errno", js_number(context, (double)number));
    js_set(context, error, "text", js_string(context, text, strlen(text)));
    js_set(context, error, "isListed", JSValueMakeBoolean(context, fetch_is_listed()));
    js_set(context, error, "rest", fetch_take(fetch, NULL));
    fetch_tell(fetch, "error", error, NULL);
}

/* Tells handlers what is new. */
static void fetch_deliver(struct js_fetches *all)
{
    all->in_turn = true;
    for (struct fetch *fetch = all->first; fetch && !js_is_over(all->js); fetch = fetch->next) {
        if (fetch->has_head && !fetch->head_told && !fetch->is_over)
            fetch_tell_head(fetch);
        if (fetch->is_over)
            continue;
        if (fetch->is_done) {
            fetch_tell_end(fetch);
        } else if (fetch->len && !fetch->data_told) {
            fetch->data_told = true;
            fetch_tell(fetch, "data", NULL, NULL);
        }
    }
    all->in_turn = false;
    fetch_sweep(all, false);
}

static void fetch_turn(struct js_fetches *all)
{
    const struct fetch_curl *curl = &all->curl;
    struct CURLMsg *message;
    struct fetch *fetch;
    int running, left;

    curl->multi_perform(all->multi, &running);
    while ((message = curl->multi_info_read(all->multi, &left)))
        if (message->msg == CURLMSG_DONE &&
            curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &fetch) == CURLE_OK) {
            fetch->is_done = true;
            fetch->result = message->data.result;
        }
    fetch_deliver(all);
}

/* ---- for the loop ---------------------------------------------------------------------------- */

bool js_fetch_open(const struct js_state *js)
{
    for (const struct fetch *fetch = js->fetches ? js->fetches->first : NULL; fetch;
         fetch = fetch->next)
        if (!fetch->is_paused)
            return true;
    return false;
}

void js_fetch_wait(struct js_state *js, int fd, int timeout_ms)
{
    struct js_fetches *all = js->fetches;
    struct curl_waitfd other = {.fd = fd, .events = CURL_WAIT_POLLIN};

    all->curl.multi_poll(all->multi, &other, fd >= 0, timeout_ms < 0 ? INT_MAX : timeout_ms, NULL);
    fetch_turn(all);
}

void js_fetch_abandon(struct js_state *js)
{
    if (js->fetches)
        fetch_sweep(js->fetches, true);
}

/* ---- natives --------------------------------------------------------------------------------- */

static bool fetch_begin(struct fetch *fetch, JSContextRef context, const JSValueRef arguments[],
                        JSValueRef *exception)
{
    const struct fetch_curl *curl = &fetch->all->curl;
    char *url = js_text(context, arguments[0], NULL, exception);
    char *method = js_text(context, arguments[1], NULL, exception);
    char *headers = fetch_bytes_of(context, arguments[2], exception);

    fetch->easy = curl->easy_init();
    const bool well = url && method && fetch->easy && fetch_add_headers(fetch, headers) &&
                      fetch_set_body(fetch, context, arguments[3]) &&
                      fetch_set_up(fetch, url, method) &&
                      curl->multi_add_handle(fetch->all->multi, fetch->easy) == CURLM_OK;
    free(url);
    free(method);
    free(headers);
    return well;
}

/* fetchStart(url, method, headers, body, handler): the transfer's number, or a negative errno.
 * `headers` is text with a line for each, `body` bytes or null. handler("head", text),
 * handler("data"): fetchTake has some, handler("end", bytes), handler("error", error). */
JS_NATIVE(fetch_start)
{
    JS_UNUSED;
    if (n < 5 || !JSValueIsObject(context, arguments[4]))
        return js_number(context, -EINVAL);
    /* Without a network the system refuses every socket. */
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return js_number(context, -errno);
    close(fd);
    struct js_fetches *all = js_here->is_template ? NULL : fetch_all(js_here);
    if (!all)
        return js_number(context, -ELIBACC);
    struct fetch *fetch = calloc(1, sizeof *fetch), **last = &all->first;
    if (!fetch)
        return js_number(context, -ENOMEM);
    fetch->all = all;
    fetch->id = ++all->ids;
    if (!fetch_begin(fetch, context, arguments, exception)) {
        fetch_free(fetch);
        return js_number(context, -ENOMEM);
    }
    fetch->handler = (JSObjectRef)(uintptr_t)arguments[4];
    JSValueProtect(context, fetch->handler);
    while (*last)
        last = &(*last)->next;
    *last = fetch;
    return js_number(context, fetch->id);
}

/* fetchTake(number): what came of the body and was not taken, maybe nothing; null: no such transfer
 * is under way. */
JS_NATIVE(fetch_take_call)
{
    JS_UNUSED;
    struct fetch *fetch = fetch_find(js_here, js_argument(context, n, arguments, 0, 0));

    if (!fetch)
        return JSValueMakeNull(context);
    JSValueRef bytes = fetch_take(fetch, exception);
    if (fetch->is_paused) {
        fetch->is_paused = false;
        fetch->all->curl.easy_pause(fetch->easy, CURLPAUSE_CONT);
    }
    return bytes;
}

/* fetchCancel(number): ends a transfer; its handler is not told. */
JS_NATIVE(fetch_cancel)
{
    JS_UNUSED;
    struct fetch *fetch = fetch_find(js_here, js_argument(context, n, arguments, 0, 0));

    if (fetch) {
        fetch->is_over = true;
        if (!fetch->all->in_turn)
            fetch_sweep(fetch->all, false);
    }
    return JSValueMakeUndefined(context);
}

const struct js_native js_natives_fetch[] = {
    {"fetchStart", fetch_start},
    {"fetchTake", fetch_take_call},
    {"fetchCancel", fetch_cancel},
    {NULL, NULL},
};
