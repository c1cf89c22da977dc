/* SPDX-License-Identifier: MIT */
/* agent.c (mock) - an agent that says what it is told, right or wrong.
 *
 * It stands in the place of lazaret-agent, in a real box, and loads no runtime.  The code of an
 * execution is a script in the language below; its start is a script too, in MOCK_START (lines
 * parted by '|'), or else the one a good agent follows.  Words that begin with '$' are replaced:
 * $id and $next (of the execution, and the one after it), $i (of `times`), $last (the line received
 * last), $token.  A connection that the host closed ends it. */
#include "storm.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define READY "{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"mock\",\"version\":\"0\"}"

struct mock {
    int fd;
    char *in; /* read, not taken yet */
    size_t in_len, in_cap;
    char *last; /* the line received last */
    long long id, i;
    bool is_kept; /* `last` is still to be served */
};

static void *must(void *pointer)
{
    if (!pointer)
        _exit(99);
    return pointer;
}

/* ---- the connection ------------------------------------------------------------------------- */

static void mock_write(struct mock *mock, const char *data, size_t len)
{
    while (len) {
        ssize_t n = send(mock->fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            _exit(3);
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
}

/* Until the host has read everything, as the kernel counts it. */
static void mock_until_read(struct mock *mock)
{
    int unread = 1;

    while (ioctl(mock->fd, SIOCOUTQ, &unread) == 0 && unread > 0)
        sched_yield();
}

static void mock_receive(struct mock *mock)
{
    char *end;

    while (!(end = mock->in_len ? memchr(mock->in, '\n', mock->in_len) : NULL)) {
        if (mock->in_cap - mock->in_len < 65536) {
            mock->in_cap = mock->in_cap * 2 + 131072;
            mock->in = must(realloc(mock->in, mock->in_cap));
        }
        ssize_t n = read(mock->fd, mock->in + mock->in_len, mock->in_cap - mock->in_len);
        if (n <= 0)
            _exit(0);
        mock->in_len += (size_t)n;
    }
    size_t len = (size_t)(end - mock->in);
    free(mock->last);
    mock->last = must(strndup(mock->in, len));
    mock->in_len -= len + 1;
    memmove(mock->in, end + 1, mock->in_len);
}

static void mock_connect(struct mock *mock)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("LAZARET_SOCKET");

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path ? path : "");
    mock->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (mock->fd < 0 || connect(mock->fd, (struct sockaddr *)&address, sizeof address))
        _exit(98);
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* What stands for the word at `text`, and the word's length; NULL: it is no word. */
static const char *mock_word(struct mock *mock, const char *text, size_t *len)
{
    static char number[32];
    const char *token = getenv("LAZARET_TOKEN");
    const struct {
        const char *word;
        long long number;
        const char *text;
    } words[] = {
        {"$id", mock->id, NULL}, {"$next", mock->id + 1, NULL}, {"$last", 0, mock->last},
        {"$i", mock->i, NULL},   {"$token", 0, token},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        *len = strlen(words[i].word);
        if (strncmp(text, words[i].word, *len) != 0)
            continue;
        if (words[i].text)
            return words[i].text;
        snprintf(number, sizeof number, "%lld", words[i].number);
        return number;
    }
    return NULL;
}

static char *mock_replace(struct mock *mock, const char *text)
{
    char *out;
    size_t size, len;
    FILE *stream = must(open_memstream(&out, &size));

    while (*text) {
        const char *with = *text == '$' ? mock_word(mock, text, &len) : NULL;
        if (with) {
            fputs(with, stream);
            text += len;
        } else {
            putc(*text++, stream);
        }
    }
    if (fclose(stream))
        _exit(99);
    return out;
}

/* \n \r \t \\ \xHH, in place; the length of what comes of it. */
static size_t mock_unescape(char *text)
{
    char *out = text, *at = text;

    while (*at) {
        char hex[3] = "";
        if (*at != '\\' || !at[1]) {
            *out++ = *at++;
            continue;
        }
        char c = at[1];
        at += 2;
        if (c == 'x' && at[0] && at[1]) {
            memcpy(hex, at, 2);
            c = (char)strtol(hex, NULL, 16);
            at += 2;
        } else if (c == 'n') {
            c = '\n';
        } else if (c == 'r') {
            c = '\r';
        } else if (c == 't') {
            c = '\t';
        }
        *out++ = c;
    }
    *out = '\0';
    return (size_t)(out - text);
}

/* The string after "code":, with the escapes that the host writes; a new string. */
static char *mock_code(const char *line)
{
    const char *at = strstr(line, "\"code\":\"");
    char *code = must(malloc(strlen(line) + 1)), *out = code;

    for (at = at ? at + 8 : ""; *at && *at != '"'; at++) {
        if (*at != '\\') {
            *out++ = *at;
        } else if (*++at == 'u') {
            unsigned value = 0;
            sscanf(at + 1, "%4x", &value);
            *out++ = (char)value;
            at += 4;
        } else {
            *out++ = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at == 'r' ? '\r' : *at;
        }
    }
    *out = '\0';
    return code;
}

/* ---- commands ------------------------------------------------------------------------------- */

static void do_connect(struct mock *mock, const char *text) /* once more: a second peer */
{
    (void)text;
    mock_connect(mock);
}

static void do_recv(struct mock *mock, const char *text) /* a line of the host */
{
    (void)text;
    mock_receive(mock);
}

static void do_send(struct mock *mock, const char *text) /* a line, as it stands */
{
    char *line = mock_replace(mock, text);
    size_t len = strlen(line);

    line[len] = '\n';
    mock_write(mock, line, len + 1);
    free(line);
}

static void do_raw(struct mock *mock, const char *text) /* bytes, with escapes, in one write */
{
    char *bytes = mock_replace(mock, text);

    mock_write(mock, bytes, mock_unescape(bytes));
    free(bytes);
}

static void do_ok(struct mock *mock, const char *value)
{
    char text[] = "{\"type\":\"result\",\"id\":$id,\"value\":";
    char *line, *head = mock_replace(mock, text), *tail = mock_replace(mock, value);

    int len = asprintf(&line, "%s%s}\n", head, tail);
    if (len < 0)
        _exit(99);
    mock_write(mock, line, (size_t)len);
    free(line);
    free(head);
    free(tail);
}

static void do_ready(struct mock *mock, const char *text)
{
    (void)text;
    do_send(mock, READY);
}

static void do_token(struct mock *mock, const char *text)
{
    (void)text;
    do_send(mock, "$token");
}

static void do_fill(struct mock *mock, const char *text) /* N bytes of no line */
{
    char block[65536];
    unsigned long long n = strtoull(text, NULL, 10);

    memset(block, 'x', sizeof block);
    while (n) {
        size_t part = n < sizeof block ? (size_t)n : sizeof block;
        mock_write(mock, block, part);
        n -= part;
    }
}

static void do_pad(struct mock *mock, const char *text) /* N TEXT: '#' makes it a line of N bytes */
{
    char *rest;
    size_t want = strtoull(text, &rest, 10);
    char *line = mock_replace(mock, rest + 1);
    char *mark = strchr(line, '#');
    size_t before = (size_t)(mark - line), after = strlen(mark + 1);
    char *padded = must(malloc(want + 1));

    memset(padded, 'x', want);
    memcpy(padded, line, before);
    memcpy(padded + want - after, mark + 1, after);
    padded[want] = '\n';
    mock_write(mock, padded, want + 1);
    free(padded);
    free(line);
}

static void do_times(struct mock *mock, const char *text) /* N TEXT: N lines, nothing read */
{
    char *rest;
    long long n = strtoll(text, &rest, 10);

    for (mock->i = 1; mock->i <= n; mock->i++)
        do_send(mock, rest + 1);
}

static void do_trade(struct mock *mock, const char *text) /* N TEXT: a line, and one received */
{
    char *rest;
    long long n = strtoll(text, &rest, 10);

    for (mock->i = 1; mock->i <= n; mock->i++) {
        do_pad(mock, rest + 1);
        mock_receive(mock);
    }
}

static void do_cut(struct mock *mock, const char *text) /* N TEXT: two writes, N bytes before */
{
    char *rest;
    size_t first = strtoull(text, &rest, 10);
    char *line = mock_replace(mock, rest + 1);
    size_t len = strlen(line);

    line[len++] = '\n';
    first = first < len ? first : len;
    mock_write(mock, line, first);
    mock_until_read(mock);
    mock_write(mock, line + first, len - first);
    free(line);
}

static void do_drip(struct mock *mock, const char *text) /* N TEXT: a line, a byte each N ms */
{
    char *rest;
    unsigned ms = (unsigned)strtoul(text, &rest, 10);
    char *line = mock_replace(mock, rest + 1);
    size_t len = strlen(line);

    line[len++] = '\n';
    for (size_t i = 0; i < len; i++) {
        usleep(ms * 1000); /* being slow is what it is for */
        mock_write(mock, line + i, 1);
    }
    free(line);
}

static void do_spill(struct mock *mock, const char *text) /* N bytes on both, by another process */
{
    char block[4096];
    unsigned long long n = strtoull(text, NULL, 10);

    (void)mock;
    if (fork())
        return;
    memset(block, '.', sizeof block);
    for (unsigned long long at = 0; at < n; at += sizeof block)
        if (write(1, block, sizeof block) < 0 || write(2, block, sizeof block) < 0)
            break;
    _exit(0);
}

/* SEED N: so many messages of a storm, a dot on standard error for each; then a call that has to be
 * answered, unless the host has ended it all. */
static void do_storm(struct mock *mock, const char *text)
{
    static const char probe[] = "{\"type\":\"tool_call\",\"id\":4242,\"tool\":\"nothing\"}";
    static char message[STORM_MAX];
    char *rest;
    uint64_t state = strtoull(text, &rest, 10) * 2 + 1;
    unsigned calm = 5u << state / 2 % 3 * 3; /* 5, 40, 320 */
    unsigned long n = strtoul(rest, NULL, 10);

    for (unsigned long i = 0; i < n; i++) {
        size_t len = storm_message(&state, mock->id, calm, message);
        if (write(2, ".", 1) < 0)
            _exit(3);
        mock_write(mock, message, len);
    }
    do_send(mock, probe);
    do {
        mock_receive(mock);
        mock->is_kept = strstr(mock->last, "\"code\":"); /* one of the storm was an outcome */
    } while (!mock->is_kept && !strstr(mock->last, "\"id\":4242,"));
}

static void do_sync(struct mock *mock, const char *text) /* until the host has read everything */
{
    (void)text;
    mock_until_read(mock);
}

static void do_print(struct mock *mock, const char *text)
{
    char *line = mock_replace(mock, text);

    puts(line);
    fflush(stdout);
    free(line);
}

static void do_complain(struct mock *mock, const char *text)
{
    (void)mock;
    fprintf(stderr, "%s\n", text);
}

static void do_shut(struct mock *mock, const char *text) /* the half of the connection */
{
    (void)text;
    shutdown(mock->fd, SHUT_WR);
}

static void do_hangup(struct mock *mock, const char *text)
{
    (void)text;
    close(mock->fd);
    mock->fd = -1;
}

static void do_closeout(struct mock *mock, const char *text)
{
    (void)mock, (void)text;
    close(1);
    close(2);
}

static void do_wait(struct mock *mock, const char *text) /* for ever */
{
    (void)mock, (void)text;
    for (;;)
        pause();
}

static void do_eof(struct mock *mock, const char *text) /* until the host hangs up */
{
    (void)text;
    for (;;)
        mock_receive(mock);
}

static void do_exit(struct mock *mock, const char *text)
{
    (void)mock;
    _exit(atoi(text));
}

static void do_die(struct mock *mock, const char *text)
{
    (void)mock;
    signal(atoi(text), SIG_DFL); /* a sanitizer has a handler of its own */
    raise(atoi(text));
}

static const struct {
    const char *name;
    void (*run)(struct mock *mock, const char *text);
} commands[] = {
    {"closeout", do_closeout},
    {"complain", do_complain},
    {"connect", do_connect},
    {"cut", do_cut},
    {"die", do_die},
    {"drip", do_drip},
    {"eof", do_eof},
    {"spill", do_spill},
    {"storm", do_storm},
    {"exit", do_exit},
    {"fill", do_fill},
    {"hangup", do_hangup},
    {"ok", do_ok},
    {"pad", do_pad},
    {"print", do_print},
    {"raw", do_raw},
    {"ready", do_ready},
    {"recv", do_recv},
    {"send", do_send},
    {"shut", do_shut},
    {"sync", do_sync},
    {"times", do_times},
    {"token", do_token},
    {"trade", do_trade},
    {"wait", do_wait},
};

static void mock_run(struct mock *mock, char *script, const char *separator)
{
    char *next;

    for (char *line = strtok_r(script, separator, &next); line;
         line = strtok_r(NULL, separator, &next)) {
        size_t word = strcspn(line, " "), i = 0;
        size_t n = sizeof commands / sizeof *commands;
        while (i < n &&
               (strlen(commands[i].name) != word || strncmp(commands[i].name, line, word) != 0))
            i++;
        if (i == n) {
            fprintf(stderr, "mock agent: what is '%s'?\n", line);
            _exit(97);
        }
        commands[i].run(mock, line + word + (line[word] == ' '));
        if (mock->is_kept)
            return;
    }
}

int main(int argc, char **argv)
{
    struct mock mock = {.fd = -1};

    if (argc > 1 && strcmp(argv[1], "--probe") == 0)
        return 0;
    const char *given = getenv("MOCK_START");
    char *start = must(strdup(given ? given : "connect|token|recv|ready"));
    mock_run(&mock, start, "|");
    free(start);
    for (;;) {
        if (!mock.is_kept)
            mock_receive(&mock);
        mock.is_kept = false;
        const char *id = strstr(mock.last, "\"id\":");
        if (strncmp(mock.last, "{\"type\":\"exit\"", 14) == 0)
            return 0;
        if (!id || !strstr(mock.last, "\"code\":"))
            continue; /* an answer that its script did not wait for */
        mock.id = strtoll(id + 5, NULL, 10);
        char *code = mock_code(mock.last);
        mock_run(&mock, code, "\n");
        free(code);
    }
}
