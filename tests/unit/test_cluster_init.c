/* SPDX-License-Identifier: MIT */
/* test_cluster_init.c - what lazaret cluster init writes: a server of NATS takes it, and lets
 * nobody hear or send what is not his. */
#include "carrier_contract.h"
#include "nats_server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *lazaret; /* the command */

/* The exit status of a command; what it says is in `said`. */
static char said[4096];
static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *format, ...)
{
    char command[2048], whole[2300];
    va_list args;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "cd '%s' && { %s; } 2>&1 </dev/null", server_work, command);
    FILE *pipe = popen(whole, "r");
    if (!pipe)
        return -1;
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The file that was written for a user has his password. */
static void password_of(const char *directory, const char *user, char password[64])
{
    char path[200], line[300];

    snprintf(path, sizeof path, "%s/%s/%s.toml", server_work, directory, user);
    FILE *file = fopen(path, "r");
    password[0] = '\0';
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "password = \"%63[^\"]", password) == 1)
            break;
    if (file)
        fclose(file);
    if (strlen(password) != 32)
        printf("%s: no password\n", path);
    CU_ASSERT(strlen(password) == 32);
}

static struct server server;

static void connect_as(struct connection *connection, const char *directory, const char *user)
{
    char options[300], password[64];
    struct laz_error err = {0};

    password_of(directory, user, password);
    snprintf(options, sizeof options,
             "{\"url\":\"nats://127.0.0.1:%d\",\"user\":\"%s\",\"password\":\"%s\","
             "\"connect_timeout\":60000}",
             server.port, user, password);
    const int rc = connection_open(connection, options, &err);
    if (rc)
        printf("%s: %s\n", user, err.text);
    CU_ASSERT_FATAL(rc == 0);
    ear_wait(&connection->ear, 1);
}

static void start_with(const char *directory, const char *options)
{
    CU_ASSERT_FATAL(run("'%s' cluster init %s --url nats://127.0.0.1:4222 %s", lazaret, directory,
                        options) == 0);
    /* no clock of a busy machine ends a connection */
    CU_ASSERT_FATAL(run("echo 'authorization { timeout: 600 }' >>%s/nats-server.conf", directory) ==
                    0);
    server = (struct server){.port = 0};
    snprintf(server.conf, sizeof server.conf, "%s/%s/nats-server.conf", server_work, directory);
    server_start(&server);
}

static void may_not_send(struct connection *connection, const char *subject)
{
    char said_so[300];

    CU_ASSERT(give(connection, subject, NULL, "forged") == 0);
    snprintf(said_so, sizeof said_so, "refused to send %s", subject);
    ear_wait_for(&connection->ear, said_so);
}

static void may_not_hear(struct connection *connection, const char *subject)
{
    char said_so[300];

    subscribe(connection, subject, NULL);
    snprintf(said_so, sizeof said_so, "refused to hear %s", subject);
    ear_wait_for(&connection->ear, said_so);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void what_is_wrong_is_refused(void)
{
    CU_ASSERT(run("'%s' cluster", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster init", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster other x", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster init w --tenant a.b", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster init w --tenant operators", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster init w --tenant a --tenant a", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster init w --url http://x:1", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster init w --url tls://x", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster init w --url 'tls://x\":1'", lazaret) == 2);
    CU_ASSERT(run("test -e w") != 0);
    CU_ASSERT(run("'%s' cluster init 'a\"b'", lazaret) == 2);
    CU_ASSERT(run("'%s' cluster init nowhere/at/all", lazaret) != 0);
}

static void nothing_is_overwritten(void)
{
    CU_ASSERT(run("'%s' cluster init twice", lazaret) == 0);
    CU_ASSERT(run("cksum twice/* >before") == 0);
    CU_ASSERT(run("'%s' cluster init twice", lazaret) == 126);
    CU_ASSERT(strstr(said, "nats-server.conf: it is there already") != NULL);
    CU_ASSERT(run("rm twice/nats-server.conf && '%s' cluster init twice", lazaret) == 126);
    CU_ASSERT(run("test ! -e twice/nats-server.conf && cksum twice/* >after; "
                  "grep -v nats-server.conf before | cmp - after") == 0);
}

static void secrets_are_for_their_owner(void)
{
    CU_ASSERT(run("umask 0; '%s' cluster init modes --tenant a", lazaret) == 0);
    CU_ASSERT(run("find modes -type f -perm /077 ! -name token.key.pub | grep .") == 1);
    CU_ASSERT(run("ls modes | tr '\\n' ' '") == 0);
    UNIT_TEXT(said, "a-caller.toml a-worker.toml nats-server.conf operator.toml token.key "
                    "token.key.pub ");
    CU_ASSERT(run("grep -h '^password' modes/*.toml | sort -u | wc -l") == 0 && atoi(said) == 3);
    CU_ASSERT(run("'%s' token a.caller --sign-with modes/token.key", lazaret) == 0);
}

static void the_server_takes_it(void)
{
    CU_ASSERT(run("'%s' cluster init tls --tenant a --tenant b", lazaret) == 0);
    CU_ASSERT(run("cd tls && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                  "-days 30 -subj /CN=localhost -keyout server.key -out server.pem") == 0);
    CU_ASSERT(run("nats-server -t -c tls/nats-server.conf") == 0);
    CU_ASSERT(run("'%s' cluster init one --shared --tenant a --tenant b", lazaret) == 0);
    CU_ASSERT(run("cp tls/server.* one && nats-server -t -c one/nats-server.conf") == 0);
}

/* ---- access ---------------------------------------------------------------------------------- */

#define ID "00112233445566778899aabbccddeeff"

static void refusals_of_a_caller(struct connection *a)
{
    static const char *const not_sent[] = {"lz.1.c.b-caller." ID, "lz.1.c.a-caller." ID,
                                           "lz.1.w.one.ctl",      "lz.1.w.one.hb",
                                           "lz.1.s." ID ".out",   "other"};
    static const char *const not_heard[] = {">",
                                            "lz.>",
                                            "lz.1.>",
                                            "lz.1.open.default",
                                            "lz.1.s." ID ".in",
                                            "lz.1.s.>",
                                            "lz.1.c.>",
                                            "lz.1.c.b-caller.>",
                                            "lz.1.w.one.ctl",
                                            "lz.1.w.>"};

    for (size_t i = 0; i < sizeof not_sent / sizeof *not_sent; i++)
        may_not_send(a, not_sent[i]);
    for (size_t i = 0; i < sizeof not_heard / sizeof *not_heard; i++)
        may_not_hear(a, not_heard[i]);
}

/* A session of a tenant: opened, answered, lines both ways, as the host does it. */
static void session_of(struct connection *caller, struct connection *worker, const char *name)
{
    char subject[100], part[200];

    snprintf(subject, sizeof subject, "lz.1.c.%s.>", name);
    subscribe(caller, subject, NULL);
    subscribe(worker, "lz.1.open.default", "w");
    subscribe(worker, "lz.1.s." ID ".in", NULL);
    snprintf(subject, sizeof subject, "lz.1.c.%s." ID ".open", name);
    snprintf(part, sizeof part, "lz.1.open.default %s %s", subject, name);
    /* the worker may be slower: nobody is there then, as the caller is told */
    for (int i = 0; i < UNIT_HANG_MS / 20 && !strstr(worker->ear.text, part); i++) {
        CU_ASSERT(give(caller, "lz.1.open.default", subject, name) == 0);
        usleep(20000);
    }
    ear_wait_for(&worker->ear, part);
    CU_ASSERT(give(worker, subject, "lz.1.s." ID ".in", "opened") == 0);
    ear_wait_for(&caller->ear, "opened");
    snprintf(part, sizeof part, "line of %s", name);
    CU_ASSERT(give(caller, "lz.1.s." ID ".in", subject, part) == 0);
    ear_wait_for(&worker->ear, part);
}

static void tenants_do_not_hear_each_other(void)
{
    struct connection a, b, wa, wb, operator;

    start_with("apart", "--tenant a --tenant b");
    connect_as(&a, "apart", "a-caller");
    connect_as(&b, "apart", "b-caller");
    connect_as(&wa, "apart", "a-worker");
    connect_as(&wb, "apart", "b-worker");
    connect_as(&operator, "apart", "operator");
    refusals_of_a_caller(&a);
    may_not_hear(&wa, "lz.1.c.a-caller.>");
    may_not_send(&wa, "lz.1.open.default");
    may_not_send(&wa, "lz.1.w.one.ctl");
    /* the same ids and names in both accounts */
    session_of(&a, &wa, "a-caller");
    session_of(&b, &wb, "b-caller");
    CU_ASSERT(!strstr(wa.ear.text, "b-caller") && !strstr(wb.ear.text, "a-caller"));
    CU_ASSERT(give(&wa, "lz.1.c.b-caller." ID, NULL, "forged") == 0); /* in its own account */
    CU_ASSERT(give(&wb, "lz.1.c.b-caller." ID, NULL, "genuine") == 0);
    ear_wait_for(&b.ear, "genuine");
    CU_ASSERT(!strstr(b.ear.text, "forged"));
    /* somebody who is gone is noticed */
    CU_ASSERT(give(&a, "lz.1.s.gone.in", "lz.1.c.a-caller." ID, "m") == 0);
    ear_wait_for(&a.ear, "nobody lz.1.c.a-caller." ID);
    /* operators hear all workers, and are heard by them */
    subscribe(&operator, "lz.1.w.>", NULL);
    subscribe(&wa, "lz.1.w.one.ctl", NULL);
    subscribe(&wb, "lz.1.w.two.ctl", NULL);
    for (int i = 0;
         i < UNIT_HANG_MS / 20 &&
         !(strstr(operator.ear.text, "beat of a") && strstr(operator.ear.text, "beat of b") &&
           strstr(wa.ear.text, "drain") && strstr(wb.ear.text, "drain"));
         i++) {
        CU_ASSERT(give(&wa, "lz.1.w.one.hb", NULL, "beat of a") == 0);
        CU_ASSERT(give(&wb, "lz.1.w.two.hb", NULL, "beat of b") == 0);
        CU_ASSERT(give(&operator, "lz.1.w.one.ctl", NULL, "drain") == 0);
        CU_ASSERT(give(&operator, "lz.1.w.two.ctl", NULL, "drain") == 0);
        usleep(20000);
    }
    CU_ASSERT(strstr(operator.ear.text, "lz.1.w.one.hb - beat of a") &&
              strstr(operator.ear.text, "lz.1.w.two.hb - beat of b") &&
              strstr(wa.ear.text, "lz.1.w.one.ctl - drain") &&
              strstr(wb.ear.text, "lz.1.w.two.ctl - drain"));
    /* and measure how long a word takes there and back */
    CU_ASSERT(give(&operator, "lz.1.w.one.ctl", NULL, "ping word-1") == 0);
    ear_wait_for(&wa.ear, "lz.1.w.one.ctl - ping word-1");
    CU_ASSERT(give(&wa, "lz.1.w.one.hb", NULL, "echo word-1") == 0);
    ear_wait_for(&operator.ear, "lz.1.w.one.hb - echo word-1");
    may_not_send(&operator, "lz.1.w.one.hb"); /* the answer of a worker is a worker's */
    may_not_send(&operator, "lz.1.open.default");
    may_not_hear(&operator, "lz.1.c.>");
    connection_close(&a);
    connection_close(&b);
    connection_close(&wa);
    connection_close(&wb);
    connection_close(&operator);
    server_kill(&server);
}

static void callers_of_one_account_do_not_hear_each_other(void)
{
    struct connection a, b, w;

    start_with("together", "--shared --tenant a --tenant b");
    connect_as(&a, "together", "a-caller");
    connect_as(&b, "together", "b-caller");
    connect_as(&w, "together", "worker");
    refusals_of_a_caller(&a);
    session_of(&b, &w, "b-caller");
    session_of(&a, &w, "a-caller");
    CU_ASSERT(!strstr(a.ear.text, "b-caller." ID ".open") &&
              !strstr(b.ear.text, "a-caller." ID ".open"));
    connection_close(&a);
    connection_close(&b);
    connection_close(&w);
    server_kill(&server);
}

static const struct unit_test tests[] = {
    UNIT(what_is_wrong_is_refused),
    UNIT(nothing_is_overwritten),
    UNIT(secrets_are_for_their_owner),
    UNIT(the_server_takes_it),
    UNIT(tenants_do_not_hear_each_other),
    UNIT(callers_of_one_account_do_not_hear_each_other),
    {0},
};

int main(void)
{
    if (system("command -v nats-server >/dev/null 2>&1") != 0)
        return unit_skip("nats", "nats-server is not installed") ? 77 : 1;
    lazaret = unit_built("lazaret");
    if (!lazaret || !server_directory())
        return 1;
    const int status = carrier_run("nats", "cluster_init", tests);
    server_directory_remove();
    free(lazaret);
    return status;
}
