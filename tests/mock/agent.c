/* SPDX-License-Identifier: MIT */
/* agent.c (mock) - an agent that sends what a script says, right or wrong.
 *
 * It takes the place of lazaret-agent in a real box and loads no runtime. The code of an execution
 * is a script in the language below. Its start is a script too: MOCK_START (lines separated by
 * '|'), or else the one of a correct agent. Words that begin with '$' are replaced: $id and $next
 * (of the execution, and the one after it), $i (of `times`), $last (the line received last),
 * $token. It exits when the host closes the connection.
 *
 * With --template it acts as a template (its sessions enter the groups of the last `prepare`): it
 * starts with MOCK_TEMPLATE and runs MOCK_SPAWN for each spawn, but MOCK_TRIAL for the first one,
 * which is the host's trial; each session runs MOCK_SESSION as the first process of its
 * namespace. */
#include "pests.h"
#include "storm.h"
#include "worst.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY "{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"mock\",\"version\":\"0\"}"

#define FDS 16 /* with one message, at most */

struct mock {
    int fd;
    int fds[FDS]; /* received with the last message; for a spawn: channel, stdout, stderr, status */
    size_t n_fds;
    int commands;    /* received with `init` */
    int groups[FDS]; /* of the next session, received with `prepare` */
    size_t n_groups;
    char token[33]; /* of the session, replaces that of the environment */
    unsigned spawns;
    char *in; /* read, but not yet processed */
    size_t in_len, in_cap;
    char *last; /* the line received last */
    long long id, i;
    bool is_kept; /* `last` is yet to be processed */
    bool is_last; /* the execution was said to be the last */
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

/* Waits until the host has read everything, by the kernel's count. */
static void mock_until_read(struct mock *mock)
{
    int unread = 1;

    while (ioctl(mock->fd, SIOCOUTQ, &unread) == 0 && unread > 0)
        sched_yield();
}

/* Like read(2), and receives descriptors, which replace earlier ones. */
static ssize_t mock_read(struct mock *mock, void *data, size_t len)
{
    char control[CMSG_SPACE(FDS * sizeof(int))];
    struct iovec part = {data, len};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t n = recvmsg(mock->fd, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        memmem(data, (size_t)n, "\"init\"", 6)) {
        memcpy(&mock->commands, CMSG_DATA(c), sizeof mock->commands);
    } else if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        while (mock->n_fds)
            close(mock->fds[--mock->n_fds]);
        mock->n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(mock->fds, CMSG_DATA(c), mock->n_fds * sizeof(int));
    }
    return n;
}

static void mock_receive(struct mock *mock)
{
    char *end;

    while (!(end = mock->in_len ? memchr(mock->in, '\n', mock->in_len) : NULL)) {
        if (mock->in_cap - mock->in_len < 65536) {
            mock->in_cap = mock->in_cap * 2 + 131072;
            mock->in = must(realloc(mock->in, mock->in_cap));
        }
        ssize_t n = mock_read(mock, mock->in + mock->in_len, mock->in_cap - mock->in_len);
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

/* The replacement of the word at `text`, and the word's length; NULL: not a special word. */
static const char *mock_word(struct mock *mock, const char *text, size_t *len)
{
    static char number[32];
    const char *token = mock->token[0] ? mock->token : getenv("LAZARET_TOKEN");
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

/* Replaces \n \r \t \\ \xHH in place; returns the new length. */
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

/* Decodes the string after "code":, with the escapes that the host writes; a new string. */
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

static void do_connect(struct mock *mock, const char *text) /* connects again, as a second peer */
{
    (void)text;
    mock_connect(mock);
}

static void do_swap(struct mock *mock, const char *text) /* goes on on the other channel */
{
    const int fd = mock->fd;

    (void)text;
    mock->fd = mock->commands;
    mock->commands = fd;
}

static void do_recv(struct mock *mock, const char *text) /* receives a line of the host */
{
    (void)text;
    mock_receive(mock);
}

static void do_send(struct mock *mock, const char *text) /* sends a line unchanged */
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
    /* everything that the policy may require of a session from a template */
    static const char confined[] = "{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"mock\","
                                   "\"version\":\"0\",\"confined\":[\"landlock\",\"filter\"]}";

    (void)text;
    do_send(mock, mock->token[0] ? confined : READY);
}

static void do_token(struct mock *mock, const char *text)
{
    (void)text;
    do_send(mock, "$token");
}

static void do_fill(struct mock *mock, const char *text) /* N bytes without a newline */
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

static void do_pad(struct mock *mock, const char *text) /* N TEXT: a line padded to N at '#' */
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

static void do_times(struct mock *mock, const char *text) /* N TEXT: N lines, without reading */
{
    char *rest;
    long long n = strtoll(text, &rest, 10);

    for (mock->i = 1; mock->i <= n; mock->i++)
        do_send(mock, rest + 1);
}

static void do_trade(struct mock *mock, const char *text) /* N TEXT: sends and receives lines */
{
    char *rest;
    long long n = strtoll(text, &rest, 10);

    for (mock->i = 1; mock->i <= n; mock->i++) {
        do_pad(mock, rest + 1);
        mock_receive(mock);
    }
}

static void do_cut(struct mock *mock, const char *text) /* N TEXT: two writes, N bytes first */
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

static void do_spill(struct mock *mock, const char *text) /* N bytes on both, in a child */
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

/* SEED N: sends N random messages, with a dot on standard error for each; then a call that has to
 * be answered, unless the host has closed the connection. */
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
        mock->is_kept = strstr(mock->last, "\"code\":"); /* the storm had an outcome */
    } while (!mock->is_kept && !strstr(mock->last, "\"id\":4242,"));
}

static void do_worst(struct mock *mock, const char *text) /* N NAME: that message, of N bytes */
{
    char *rest;
    size_t len = strtoull(text, &rest, 10);
    char *line = must(malloc(len + 1));
    const struct worst_text *worst = worst_find(rest + 1);

    if (!worst || !worst_make(worst, mock->id, line, len)) {
        fprintf(stderr, "mock agent: no message '%s'\n", rest + 1);
        _exit(97);
    }
    line[len] = '\n';
    mock_write(mock, line, len + 1);
    free(line);
}

static void do_sync(struct mock *mock,
                    const char *text) /* waits until the host has read everything */
{
    (void)text;
    mock_until_read(mock);
}

/* Waits until the test sends SIGUSR1, which is blocked from the start so that none is missed. */
static void do_await(struct mock *mock, const char *text)
{
    sigset_t set;
    int number;

    (void)mock, (void)text;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (sigwait(&set, &number))
        _exit(92);
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

static void do_shut(struct mock *mock, const char *text) /* shuts down one direction */
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

static void do_wait(struct mock *mock, const char *text) /* waits for ever */
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

/* ---- a template ----------------------------------------------------------------------------- */

static void mock_run(struct mock *mock, char *script, const char *separator);

/* Takes the session's descriptors and closes the template's. */
static void mock_join(struct mock *mock)
{
    close(mock->fd);
    mock->fd = mock->fds[0];
    if (mock->n_fds != 4 || dup2(mock->fds[1], 1) < 0 || dup2(mock->fds[2], 2) < 0)
        _exit(96);
    for (size_t i = 0; i < mock->n_groups; i++)
        if (write(mock->groups[i], "0", 1) != 1) {
            fprintf(stderr, "mock agent: group: %s\n", strerror(errno));
            _exit(95);
        }
    while (mock->n_groups)
        close(mock->groups[--mock->n_groups]);
    mock->in_len = 0;
}

static void mock_serve(struct mock *mock);

static void mock_session(struct mock *mock)
{
    const char *given = getenv("MOCK_SESSION");

    mock_join(mock);
    char *start = must(strdup(given ? given : "token|split|recv|ready"));
    mock_run(mock, start, "|");
    free(start);
    mock_serve(mock);
}

static pid_t mock_clone(unsigned long long flags)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};

    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* After a message of the host another process continues, and this one waits for it. */
static void do_split(struct mock *mock, const char *text)
{
    struct pollfd spoken = {mock->fd, POLLIN, 0};
    char line[48];
    int how;

    (void)text;
    poll(&spoken, 1, -1);
    signal(SIGCHLD, SIG_DFL);
    pid_t pid = fork();
    if (pid == 0) {
        close(mock->fds[3]);
        return;
    }
    close(mock->fd);
    close(1);
    close(2);
    while (waitpid(-1, &how, 0) != pid && errno != ECHILD)
        ;
    int len = WIFSIGNALED(how)
                  ? snprintf(line, sizeof line, "{\"signal\":%d}\n", WTERMSIG(how))
                  : snprintf(line, sizeof line, "{\"exit-code\":%d}\n", WEXITSTATUS(how));
    _exit(write(mock->fds[3], line, (size_t)len) != len);
}

/* Without these mappings no further user namespace can be created inside. */
static void mock_map(const struct mock *mock, uid_t uid, gid_t gid)
{
    const struct {
        const char *file;
        unsigned id;
    } maps[] = {{"/proc/self/uid_map", uid}, {"/proc/self/gid_map", gid}};
    int groups = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
    bool done = write(groups, "deny", 4) == 4;

    close(groups);
    for (size_t i = 0; i < 2 && done; i++) {
        FILE *map = fopen(maps[i].file, "we");
        done = map && fprintf(map, "%u %u 1\n", maps[i].id, maps[i].id) > 0 && fclose(map) == 0;
    }
    if (!done) {
        dprintf(mock->fds[2], "mock agent: ids: %s\n", strerror(errno));
        _exit(93);
    }
}

/* N: a session in N nested namespaces; 0: in none of its own. */
static void do_clone(struct mock *mock, const char *text)
{
    const unsigned long long apart = CLONE_NEWUSER | CLONE_NEWPID;
    int deep = *text ? atoi(text) : 1;
    uid_t uid = getuid();
    gid_t gid = getgid();

    pid_t pid = mock_clone(deep ? apart : 0);
    for (int i = 1; pid == 0 && i < deep; i++) {
        mock_map(mock, uid, gid);
        pid = mock_clone(apart);
        if (pid > 0) {
            close(mock->fds[0]);
            waitpid(pid, NULL, 0);
            _exit(0);
        }
    }
    if (pid < 0) {
        dprintf(mock->fds[2], "mock agent: clone: %s\n", strerror(errno));
        _exit(94);
    }
    if (pid == 0)
        mock_session(mock);
}

/* A session that is not the first process of its namespace. */
static void do_second(struct mock *mock, const char *text)
{
    (void)text;
    pid_t pid = mock_clone(CLONE_NEWUSER | CLONE_NEWPID);
    if (pid == 0 && fork() == 0)
        mock_session(mock);
    if (pid == 0) {
        close(mock->fds[0]);
        wait(NULL);
        _exit(0);
    }
}

static void do_answer(struct mock *mock, const char *text)
{
    (void)text;
    do_send(mock, "{\"id\":$id,\"value\":{\"pid\":2}}");
}

static void do_drop(struct mock *mock, const char *text) /* closes the descriptors of the spawn */
{
    (void)text;
    while (mock->n_fds)
        close(mock->fds[--mock->n_fds]);
}

/* The template itself sends what the session would send. */
static void do_speak(struct mock *mock, const char *text)
{
    int own = mock->fd;

    mock->fd = mock->fds[0];
    do_send(mock, text);
    mock->fd = own;
}

/* True: the message had the groups of the next session. */
static bool mock_prepare(struct mock *mock)
{
    if (!strstr(mock->last, "\"type\":\"prepare\""))
        return false;
    while (mock->n_groups)
        close(mock->groups[--mock->n_groups]);
    memcpy(mock->groups, mock->fds, sizeof mock->fds);
    mock->n_groups = mock->n_fds;
    mock->n_fds = 0;
    return true;
}

/* True: the message was a spawn. */
static bool mock_spawn(struct mock *mock)
{
    const char *id = strstr(mock->last, "\"id\":"), *token = strstr(mock->last, "\"token\":\"");

    if (!strstr(mock->last, "\"type\":\"spawn\"") || !id || !token)
        return false;
    mock->id = strtoll(id + 5, NULL, 10);
    snprintf(mock->token, sizeof mock->token, "%.32s", token + 9);
    const char *given = getenv(mock->spawns++ ? "MOCK_SPAWN" : "MOCK_TRIAL");
    char *script = must(strdup(given ? given : "clone|answer"));
    mock_run(mock, script, "|");
    free(script);
    do_drop(mock, "");
    return true;
}

static const struct {
    const char *name;
    void (*run)(struct mock *mock, const char *text);
} commands[] = {
    {"answer", do_answer},   {"await", do_await},       {"clone", do_clone},
    {"drop", do_drop},       {"second", do_second},     {"speak", do_speak},
    {"split", do_split},     {"closeout", do_closeout}, {"complain", do_complain},
    {"connect", do_connect}, {"cut", do_cut},           {"die", do_die},
    {"eof", do_eof},         {"spill", do_spill},       {"storm", do_storm},
    {"exit", do_exit},       {"fill", do_fill},         {"hangup", do_hangup},
    {"ok", do_ok},           {"pad", do_pad},           {"print", do_print},
    {"raw", do_raw},         {"ready", do_ready},       {"recv", do_recv},
    {"send", do_send},       {"shut", do_shut},         {"sync", do_sync},
    {"times", do_times},     {"token", do_token},       {"trade", do_trade},
    {"wait", do_wait},       {"worst", do_worst},       {"watch", pest_watch},
    {"litter", pest_litter}, {"fork", pest_fork},       {"swap", do_swap},
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

static void mock_serve(struct mock *mock)
{
    for (;;) {
        if (!mock->is_kept)
            mock_receive(mock);
        mock->is_kept = false;
        const char *id = strstr(mock->last, "\"id\":");
        if (strncmp(mock->last, "{\"type\":\"exit\"", 14) == 0) {
            if (mock->is_last)
                do_ok(mock, "null");
            _exit(0);
        }
        if (mock_prepare(mock) || mock_spawn(mock) || !id || !strstr(mock->last, "\"code\":"))
            continue; /* otherwise an answer for which its script did not wait */
        mock->id = strtoll(id + 5, NULL, 10);
        mock->is_last = strstr(mock->last, "\"last\":true");
        char *code = mock_code(mock->last);
        mock_run(mock, code, "\n");
        free(code);
    }
}

static void mock_is_told_to_end(int number)
{
    (void)number;
    _exit(0);
}

/* As a warden (os/warden.h) it exits with its host and ends no process. */
static int mock_warden(void)
{
    int word[2] = {0};

    if (fork() != 0 || send(0, word, sizeof word, 0) != sizeof word)
        return 0;
    while (recv(0, word, sizeof word, 0) == sizeof word && word[0] != 0)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    struct mock mock = {.fd = -1};
    bool is_template = argc > 1 && strcmp(argv[1], "--template") == 0;

    if (argc > 1 && strcmp(argv[1], "--probe") == 0)
        return 0;
    if (argc > 1 && strcmp(argv[1], "--warden") == 0)
        return mock_warden();
    if (argc > 1 && strcmp(argv[1], "--reap") == 0) /* acts as the agent itself */
        signal(SIGTERM, mock_is_told_to_end);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (is_template)
        signal(SIGCHLD, SIG_IGN);
    const char *given = getenv(is_template ? "MOCK_TEMPLATE" : "MOCK_START");
    char *start = must(strdup(given ? given : "connect|token|recv|ready"));
    mock_run(&mock, start, "|");
    free(start);
    mock_serve(&mock);
}
