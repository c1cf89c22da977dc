/* SPDX-License-Identifier: MIT */
/* manager.c (tests) - a manager of the tests' own on a private bus. */
#include "manager.h"

#include "base/buf.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANAGER_MESSAGE 65536
#define MANAGER_CALL    1 /* types of messages */
#define MANAGER_REPLY   2
#define MANAGER_ERROR   3
#define MANAGER_SIGNAL  4
#define MANAGER_JOB     "/org/freedesktop/systemd1/job/1"

/* ---- making messages, in the byte order of this machine ---------------------------------------
 */

static void put_align(struct laz_buf *to, size_t to_what)
{
    while (to->len % to_what)
        laz_buf_putc(to, '\0');
}

static void put_number(struct laz_buf *to, uint32_t number)
{
    put_align(to, 4);
    laz_buf_append(to, &number, sizeof number);
}

static void put_text(struct laz_buf *to, const char *text)
{
    put_number(to, (uint32_t)strlen(text));
    laz_buf_append(to, text, strlen(text) + 1);
}

static void put_signature(struct laz_buf *to, const char *signature)
{
    laz_buf_putc(to, (char)strlen(signature));
    laz_buf_append(to, signature, strlen(signature) + 1);
}

/* A field of a header: a text of this type (o, s, g), or a number (u) where it is NULL. */
static void put_field(struct laz_buf *to, char code, const char *type, const char *text,
                      uint32_t number)
{
    put_align(to, 8);
    laz_buf_putc(to, code);
    put_signature(to, type);
    if (*type == 'g')
        put_signature(to, text);
    else if (text)
        put_text(to, text);
    else
        put_number(to, number);
}

/* Sends a message with the fields, which begin at a multiple of 8, and the body. */
static void send_message(int fd, char type, const struct laz_buf *fields,
                         const struct laz_buf *body)
{
    static uint32_t serial;
    const uint16_t one = 1;
    struct laz_buf message = LAZ_BUF_INIT;

    laz_buf_putc(&message, *(const char *)&one ? 'l' : 'B');
    laz_buf_putc(&message, type);
    laz_buf_putc(&message, 1); /* no reply is expected */
    laz_buf_putc(&message, 1); /* version */
    put_number(&message, (uint32_t)body->len);
    put_number(&message, ++serial);
    put_number(&message, (uint32_t)fields->len);
    laz_buf_append(&message, fields->data, fields->len);
    put_align(&message, 8);
    laz_buf_append(&message, body->data, body->len);
    (void)!send(fd, message.data, message.len, MSG_NOSIGNAL);
    laz_buf_fini(&message);
}

static void send_reply(int fd, uint32_t to)
{
    struct laz_buf fields = LAZ_BUF_INIT, body = LAZ_BUF_INIT;

    put_field(&fields, 5, "u", NULL, to);
    put_field(&fields, 8, "g", "o", 0);
    put_text(&body, MANAGER_JOB);
    send_message(fd, MANAGER_REPLY, &fields, &body);
    laz_buf_fini(&fields);
    laz_buf_fini(&body);
}

/* The answer to Get: a property that is an array of 16 bytes, as InvocationID. */
static void send_id(int fd, uint32_t to)
{
    struct laz_buf fields = LAZ_BUF_INIT, body = LAZ_BUF_INIT;

    put_field(&fields, 5, "u", NULL, to);
    put_field(&fields, 8, "g", "v", 0);
    put_signature(&body, "ay");
    put_number(&body, 16);
    laz_buf_append(&body, "0123456789abcdef", 16);
    send_message(fd, MANAGER_REPLY, &fields, &body);
    laz_buf_fini(&fields);
    laz_buf_fini(&body);
}

static void send_error(int fd, uint32_t to, const char *name, const char *text)
{
    struct laz_buf fields = LAZ_BUF_INIT, body = LAZ_BUF_INIT;

    put_field(&fields, 4, "s", name, 0);
    put_field(&fields, 5, "u", NULL, to);
    put_field(&fields, 8, "g", "s", 0);
    put_text(&body, text);
    send_message(fd, MANAGER_ERROR, &fields, &body);
    laz_buf_fini(&fields);
    laz_buf_fini(&body);
}

static void send_job(int fd, const char *unit, const char *result)
{
    struct laz_buf fields = LAZ_BUF_INIT, body = LAZ_BUF_INIT;

    put_field(&fields, 1, "o", "/org/freedesktop/systemd1", 0);
    put_field(&fields, 2, "s", "org.freedesktop.systemd1.Manager", 0);
    put_field(&fields, 3, "s", "JobRemoved", 0);
    put_field(&fields, 8, "g", "uoss", 0);
    put_number(&body, 1);
    put_text(&body, MANAGER_JOB);
    put_text(&body, unit);
    put_text(&body, result);
    send_message(fd, MANAGER_SIGNAL, &fields, &body);
    laz_buf_fini(&fields);
    laz_buf_fini(&body);
}

/* ---- reading messages -------------------------------------------------------------------------
 */

struct heard {
    char type;
    uint32_t serial;
    char *bytes; /* header, fields and body */
    size_t len, body;
};

static bool read_all(int fd, void *to, size_t len)
{
    return recv(fd, to, len, MSG_WAITALL) == (ssize_t)len;
}

static bool read_message(int fd, struct heard *heard)
{
    unsigned char head[16];
    uint32_t body, fields;

    if (!read_all(fd, head, sizeof head))
        return false;
    memcpy(&body, head + 4, 4);
    memcpy(&heard->serial, head + 8, 4);
    memcpy(&fields, head + 12, 4);
    heard->type = (char)head[1];
    heard->body = (sizeof head + fields + 7) / 8 * 8;
    heard->len = heard->body + body;
    if (body > MANAGER_MESSAGE || fields > MANAGER_MESSAGE)
        return false;
    heard->bytes = calloc(1, heard->len + 1);
    memcpy(heard->bytes, head, sizeof head);
    return read_all(fd, heard->bytes + sizeof head, heard->len - sizeof head);
}

/* The place behind a text of the message that is just this, with its length before it; 0: none. */
static size_t find_text(const struct heard *heard, const char *text)
{
    const size_t len = strlen(text);
    uint32_t before;

    for (size_t at = 4; at + len < heard->len; at++) {
        memcpy(&before, heard->bytes + at - 4, sizeof before);
        if (before == len && memcmp(heard->bytes + at, text, len + 1) == 0)
            return at + len + 1;
    }
    return 0;
}

/* The number in the variant of this signature that follows a property's name, or the first of its
 * array; `skip`: numbers before it. */
static bool property_is(const struct heard *heard, const char *name, const char *signature,
                        size_t skip, uint32_t wanted)
{
    size_t at = find_text(heard, name), len = strlen(signature);
    uint32_t number;

    if (!at || at + len + 2 + 16 > heard->len || heard->bytes[at] != (char)len ||
        memcmp(heard->bytes + at + 1, signature, len + 1) != 0)
        return false;
    at = (at + len + 2 + 3) / 4 * 4 + 4 * skip;
    memcpy(&number, heard->bytes + at, sizeof number);
    return number == wanted;
}

/* The first text of the body: the name of the unit. */
static const char *unit_of(const struct heard *heard)
{
    return heard->len > heard->body + 4 ? heard->bytes + heard->body + 4 : "";
}

/* ---- serving ------------------------------------------------------------------------------------
 */

static pid_t peer_of(int fd)
{
    struct ucred who = {0};
    socklen_t len = sizeof who;

    (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
    return who.pid;
}

/* The authentication EXTERNAL, line by line. */
static bool authenticate(int fd)
{
    char line[512], byte;
    size_t n = 0;

    if (!read_all(fd, &byte, 1) || byte)
        return false;
    while (n < sizeof line && read_all(fd, &line[n], 1)) {
        const char *answer = "ERROR\r\n";
        if (line[n++] != '\n')
            continue;
        line[n - 1] = '\0';
        if (strncmp(line, "BEGIN", 5) == 0)
            return true;
        if (strcmp(line, "AUTH EXTERNAL\r") == 0)
            answer = "DATA\r\n";
        else if (strncmp(line, "AUTH EXTERNAL ", 14) == 0 || strncmp(line, "DATA", 4) == 0)
            answer = "OK 00112233445566778899aabbccddeeff\r\n";
        else if (strncmp(line, "NEGOTIATE_UNIX_FD", 17) == 0)
            answer = "AGREE_UNIX_FD\r\n";
        (void)!send(fd, answer, strlen(answer), MSG_NOSIGNAL);
        n = 0;
    }
    return false;
}

static void move_to(const char *group, pid_t pid)
{
    char path[4096], number[24];
    int n = snprintf(number, sizeof number, "%ld", (long)pid);

    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, number, (size_t)n) != n)
        perror(path);
    close(fd);
}

static void start_unit(int fd, const struct heard *heard, const char *group, enum manager_way way,
                       pid_t pid)
{
    switch (way) {
    case MANAGER_GRANTS:
        if (group)
            move_to(group, pid);
        send_reply(fd, heard->serial);
        send_job(fd, unit_of(heard), "done");
        break;
    case MANAGER_REFUSES:
        send_error(fd, heard->serial, "org.freedesktop.systemd1.ShuttingDown",
                   "there are no scopes today");
        break;
    case MANAGER_FAILS:
        send_reply(fd, heard->serial);
        send_job(fd, unit_of(heard), "failed");
        break;
    case MANAGER_BABBLES:
        for (int i = 0; i < 100; i++)
            (void)!send(fd, "l\2\1\1\377\377\377\377babble", 14, MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
        break;
    case MANAGER_VANISHES:
        shutdown(fd, SHUT_RDWR);
        break;
    case MANAGER_HANGS:
    case MANAGER_IS_MUTE:
        break;
    }
}

static void serve(int fd, int to, const char *group, enum manager_way way)
{
    struct heard heard = {0};

    while (way != MANAGER_IS_MUTE && authenticate(fd))
        while (read_message(fd, &heard)) {
            struct manager_asked asked = {.pid = peer_of(fd)};
            const char *unit = unit_of(&heard), *end = strrchr(unit, '.');
            /* as a manager of before systemd 254, whom the process is then told by its number */
            if (heard.type == MANAGER_CALL && find_text(&heard, "PIDFDs")) {
                send_error(fd, heard.serial, "org.freedesktop.DBus.Error.PropertyReadOnly",
                           "unknown");
            } else if (heard.type == MANAGER_CALL && find_text(&heard, "StartTransientUnit")) {
                asked.is_scope = end && strcmp(end, ".scope") == 0;
                asked.is_delegated = property_is(&heard, "Delegate", "b", 0, 1);
                asked.has_pid = property_is(&heard, "PIDs", "au", 0, 4) &&
                                property_is(&heard, "PIDs", "au", 1, (uint32_t)asked.pid);
                (void)!write(to, &asked, sizeof asked);
                start_unit(fd, &heard, group, way, asked.pid);
            } else if (heard.type == MANAGER_CALL && find_text(&heard, "InvocationID")) {
                send_id(fd, heard.serial);
            } else if (heard.type == MANAGER_CALL) {
                send_error(fd, heard.serial, "org.freedesktop.DBus.Error.UnknownMethod", "unknown");
            }
            free(heard.bytes);
            heard.bytes = NULL;
        }
    free(heard.bytes);
    for (char byte; way == MANAGER_IS_MUTE && read_all(fd, &byte, 1);)
        ; /* until the other side is gone */
}

static int listen_at(const char *directory)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char below[4096];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(below, sizeof below, "%s/systemd", directory);
    (void)mkdir(below, 0755);
    (void)chmod(directory, 0755);
    (void)chmod(below, 0755);
    if ((size_t)snprintf(name.sun_path, sizeof name.sun_path, "%s/private", below) >=
        sizeof name.sun_path)
        return -1;
    (void)unlink(name.sun_path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) != 0 || listen(fd, 8) != 0)
        return -1;
    (void)chmod(name.sun_path, 0777);
    return fd;
}

bool manager_start(struct manager *manager, const char *directory, const char *group,
                   enum manager_way way)
{
    int ends[2], listener = listen_at(directory);

    *manager = (struct manager){-1, -1};
    if (listener < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    manager->pid = fork();
    if (manager->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        for (;;) {
            int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            serve(fd, ends[1], group, way);
            close(fd);
        }
    }
    close(listener);
    close(ends[1]);
    manager->told = ends[0];
    return manager->pid > 0;
}

bool manager_asked(const struct manager *manager, struct manager_asked *asked)
{
    return read(manager->told, asked, sizeof *asked) == sizeof *asked;
}

void manager_end(struct manager *manager)
{
    if (manager->pid > 0) {
        kill(manager->pid, SIGKILL);
        waitpid(manager->pid, NULL, 0);
    }
    if (manager->told >= 0)
        close(manager->told);
    *manager = (struct manager){-1, -1};
}
