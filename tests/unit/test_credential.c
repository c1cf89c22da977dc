/* SPDX-License-Identifier: MIT */
/* test_credential.c - the credentials of an engine and of sessions, and when a secret is read. The
 * test stands for lazaret-proxy. */
#include "unit.h"

#include "credential/credential_private.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define VALUE    "mellon-0123456789"

/* ---- an engine's side, and the test as the proxy --------------------------------------------- */

struct world {
    struct laz_driver driver;
    struct laz_settings_values values;
    struct laz_secrets secrets;
    struct laz_credentials *credentials;
    int proxy;
    unsigned runs, denials, stale;
    bool fails;
    char denial[100];
};

static int command_run(void *user, const struct laz_strv *command, struct laz_buf *out,
                       struct laz_error *err)
{
    struct world *world = user;

    (void)command;
    world->runs++;
    if (world->fails)
        return laz_error_set(err, LAZ_EOS, 0, "the command failed");
    laz_buf_printf(out, VALUE "-%u\n", world->runs);
    return 0;
}

static int command_check(void *user, const char *program, struct laz_error *err)
{
    (void)user;
    (void)program;
    (void)err;
    return 0;
}

static void denied(void *user, const char *name, uint16_t port, const char *text)
{
    struct world *world = user;

    world->denials++;
    snprintf(world->denial, sizeof world->denial, "%s:%d %s", name, port, text);
}

static void stale(void *user)
{
    struct world *world = user;

    world->stale++;
}

static int world_try(struct world *world, const char *const *credentials, size_t n,
                     struct laz_error *err)
{
    const struct laz_secret_runner runner = {command_run, command_check, world};
    int ends[2];

    *world = (struct world){.proxy = -1};
    laz_strv_add(&world->values.secrets, "pass={\"command\":[\"/usr/bin/pass\",\"x\"]}");
    for (size_t i = 0; i < n; i++)
        laz_strv_add(&world->values.network.credentials, credentials[i]);
    CU_ASSERT_EQUAL_FATAL(laz_driver_init(&world->driver, 1, err), 0);
    laz_loop_hold_clock(world->driver.loop);
    CU_ASSERT_EQUAL_FATAL(laz_secrets_init(&world->secrets, &world->values, &runner, err), 0);
    const struct laz_credentials_of of = {.driver = &world->driver,
                                          .values = &world->values,
                                          .secrets = &world->secrets,
                                          .agent = "/nowhere/lazaret-agent",
                                          .directory = "/nowhere"};
    const int rc = laz_credentials_new(&of, &world->credentials, err);
    if (rc)
        return rc;
    CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(ends), 0);
    CU_ASSERT_EQUAL(laz_os_nonblock(ends[0], true, NULL), 0);
    CU_ASSERT_EQUAL(laz_os_nonblock(ends[1], true, NULL), 0);
    world->credentials->runs = true;
    world->credentials->number = 1;
    world->credentials->channel = ends[0];
    world->proxy = ends[1];
    return 0;
}

static void world_end(struct world *world)
{
    laz_credentials_free(world->credentials);
    laz_secrets_fini(&world->secrets);
    laz_os_close(&world->proxy);
    laz_strv_fini(&world->values.network.credentials);
    laz_strv_fini(&world->values.secrets);
    laz_driver_end_workers(&world->driver, UNIT_HANG_MS);
    laz_driver_fini(&world->driver);
}

/* The next note for the proxy, as its line; false: there is none now. */
static bool heard(struct world *world, enum proxy_note_type *type, struct proxy_note *note,
                  char line[65536])
{
    int fds[LAZ_OS_HANDOVER];
    size_t n_fds = 0;
    const ssize_t n = laz_os_receive(world->proxy, line, 65536, fds, &n_fds);

    for (size_t i = 0; i < n_fds && n_fds != LAZ_OS_CUT; i++)
        laz_os_close(&fds[i]);
    if (n <= 0)
        return false;
    CU_ASSERT_EQUAL_FATAL(proxy_note_parse(line, (size_t)n, true, type, note, NULL), 0);
    return true;
}

/* The next one is about a secret, and has this text or this reason. */
static void hears_secret(struct world *world, const char *text, const char *why)
{
    static char line[65536];
    enum proxy_note_type type;
    struct proxy_note note;

    CU_ASSERT_FATAL(heard(world, &type, &note, line));
    CU_ASSERT_EQUAL(type, PROXY_SECRET);
    UNIT_TEXT(note.text ? note.text : "", text ? text : "");
    /* What the reason is, the log of the host has: code sees what the proxy is told. */
    CU_ASSERT(!why == !note.why);
    if (why)
        UNIT_TEXT(note.why, "the log of the host says why");
    bool has_why = !why;
    for (const struct credential_item *item = world->credentials->items; item; item = item->next)
        has_why |= item->failure && why && strstr(item->failure, why);
    CU_ASSERT(has_why);
    proxy_note_fini(type, &note);
}

static void hears_nothing(struct world *world)
{
    static char line[65536];
    enum proxy_note_type type;
    struct proxy_note note;

    CU_ASSERT_FALSE(heard(world, &type, &note, line));
}

static void says(struct world *world, enum proxy_note_type type, const struct proxy_note *note)
{
    struct laz_buf line = LAZ_BUF_INIT;

    proxy_note_make(type, note, &line);
    CU_ASSERT_EQUAL(laz_os_send(world->proxy, line.data, line.len), (ssize_t)line.len);
    laz_buf_fini(&line);
    laz_credentials_catch_up(world->credentials);
}

static void wants(struct world *world, bool refused)
{
    const struct proxy_note note = {.credential = world->credentials->items->id,
                                    .refused = refused};
    const struct credential_item *item = world->credentials->items;

    says(world, PROXY_WANTS, &note);
    while (item->reading)
        laz_loop_step(world->driver.loop, LAZ_LOOP_FOREVER);
}

static const char *const usual[] = {
    "{\"host\":\"a.example\",\"header\":\"A: {secret}\",\"secret\":\"pass\",\"placeholder\":{"
    "\"env\":\"TOKEN\"}}",
};

static void settings_are_checked_together(void)
{
    static const struct {
        const char *rows[2], *why;
    } rows[] = {
        {{"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"pass\"}",
          "{\"host\":\"a.example\",\"query\":\"l\",\"secret\":\"pass\"}"},
         "has this name"},
        {{"{\"host\":\"a.example\",\"placeholder\":{\"env\":\"T\"},\"secret\":\"pass\"}",
          "{\"host\":\"b.example\",\"placeholder\":{\"env\":\"T\"},\"secret\":\"pass\"}"},
         "has this variable"},
        {{"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"mellon\"}", usual[0]}, "secret"},
        {{"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"pass\"}",
          "{\"host\":\"a.example\",\"name\":\"b\",\"query\":\"l\",\"secret\":\"pass\"}"},
         NULL},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct world world;
        struct laz_error err = {0};
        const int rc = world_try(&world, rows[i].rows, 2, &err);
        CU_ASSERT_EQUAL(rc, rows[i].why ? LAZ_ECONFIG : 0);
        CU_ASSERT(!rows[i].why || strstr(err.text, rows[i].why) != NULL);
        CU_ASSERT_PTR_NULL(strstr(err.text, "mellon"));
        CU_ASSERT_EQUAL(world.runs, 0);
        world_end(&world);
    }
}

/* Or code would say whose certificates are good. */
static void authorities_that_code_can_change_are_refused(void)
{
    struct world world;
    struct credential_item *item = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(world_try(&world, NULL, 0, NULL), 0);
    laz_strv_add(&world.values.sandbox.write, "/dev");
    CU_ASSERT_EQUAL(
        credential_item_new(world.credentials,
                            "{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"pass\","
                            "\"ca\":\"/dev/null\"}",
                            false, &item, &err),
        LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "ca: it is in sandbox.write"));
    laz_strv_fini(&world.values.sandbox.write);
    world_end(&world);
}

static void sets_have_names_and_objects(void)
{
    static const char *const given[] = {
        "a.example",
        "{\"host\":\"b.example\",\"header\":\"A: {secret}\",\"secret\":{\"value\":\"" VALUE
        "\"},\"placeholder\":{\"env\":\"OTHER\"}}",
    };
    static const struct {
        const char *given, *why;
    } rows[] = {
        {"mellon.example", "none of this name"},
        {"", "none of this name"},
        {"A.EXAMPLE", "none of this name"},
        {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"mellon\"}", "secret = { value"},
        {"{\"host\":\"a.example\"", "JSON object"},
    };
    const char *many[65];
    struct world world;
    struct laz_error err = {0};
    struct laz_credential_set *set = NULL;
    struct laz_strv env = {0};

    CU_ASSERT_EQUAL_FATAL(world_try(&world, usual, 1, &err), 0);
    CU_ASSERT_EQUAL(laz_credential_set_new(world.credentials, given, 2, &set, &err), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(set);
    CU_ASSERT(laz_credential_set_has(set, "a.example", 443));
    CU_ASSERT(laz_credential_set_has(set, "b.example", 443));
    CU_ASSERT_FALSE(laz_credential_set_has(set, "c.example", 443));
    CU_ASSERT_FALSE(laz_credential_set_has(NULL, "a.example", 443));
    CU_ASSERT_FALSE(laz_credential_set_is_usual(set));
    laz_credential_set_env(set, &env);
    CU_ASSERT_EQUAL_FATAL(env.n, 2);
    CU_ASSERT_EQUAL(strncmp(env.items[0], "TOKEN=", 6), 0);
    CU_ASSERT_EQUAL(strncmp(env.items[1], "OTHER=", 6), 0);
    CU_ASSERT_PTR_NULL(strstr(env.items[1], "0123456789"));
    UNIT_TEXT(laz_credential_set_finds(set, env.items[1], strlen(env.items[1])), "b.example");
    CU_ASSERT_PTR_NULL(laz_credential_set_finds(set, env.items[1], strlen(env.items[1]) - 1));
    laz_credential_set_free(set);
    laz_strv_fini(&env);
    /* Those of the settings; none; too many. */
    CU_ASSERT_EQUAL(laz_credential_set_new(world.credentials, NULL, 0, &set, &err), 0);
    CU_ASSERT(set && laz_credential_set_is_usual(set) && set->n == 1);
    laz_credential_set_free(set);
    CU_ASSERT_EQUAL(laz_credential_set_new(world.credentials, given, 0, &set, &err), 0);
    CU_ASSERT_PTR_NULL(set);
    for (size_t i = 0; i < N(many); i++)
        many[i] = "a.example";
    CU_ASSERT_EQUAL(laz_credential_set_new(world.credentials, many, 64, &set, &err), 0);
    laz_credential_set_free(set);
    CU_ASSERT_EQUAL(laz_credential_set_new(world.credentials, many, 65, &set, &err), LAZ_EINVAL);
    CU_ASSERT_PTR_NULL(set);
    for (size_t i = 0; i < N(rows); i++) {
        const char *const pair[] = {"a.example", rows[i].given};
        CU_ASSERT_EQUAL(laz_credential_set_new(world.credentials, pair, 2, &set, &err), LAZ_EINVAL);
        CU_ASSERT_PTR_NULL(set);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].why));
        CU_ASSERT_PTR_NULL(strstr(err.text, "mellon"));
        err = (struct laz_error){0};
    }
    CU_ASSERT_PTR_NULL(world.credentials->items->next); /* what was made for them is gone */
    world_end(&world);
}

static void connect_to(struct world *world, struct laz_credential_set *set)
{
    static char line[65536];
    enum proxy_note_type type;
    struct proxy_note note;
    const char *why = NULL;
    int pair[2];

    CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(pair), 0);
    int end = laz_credential_set_connect(set, "a.example", 443, pair[0], &why);
    CU_ASSERT(end >= 0);
    laz_os_close(&end);
    laz_os_close(&pair[1]);
    CU_ASSERT_FATAL(heard(world, &type, &note, line));
    CU_ASSERT_EQUAL(type, PROXY_CREDENTIAL);
    UNIT_TEXT(note.field, "A");
    proxy_note_fini(type, &note);
    CU_ASSERT_FATAL(heard(world, &type, &note, line));
    CU_ASSERT(type == PROXY_CONNECTION && note.connection == set->id && note.credentials.n == 1);
    proxy_note_fini(type, &note);
}

static struct laz_credential_set *usual_set(struct world *world)
{
    struct laz_credential_set *set = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_credential_set_new(world->credentials, NULL, 0, &set, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(set);
    laz_credential_set_own(
        set, &(struct laz_credential_owner){.user = world, .denied = denied, .stale = stale});
    return set;
}

static void a_secret_is_read_once_a_minute_at_most(void)
{
    struct world world;

    CU_ASSERT_EQUAL_FATAL(world_try(&world, usual, 1, NULL), 0);
    struct laz_credential_set *set = usual_set(&world);
    connect_to(&world, set);
    hears_nothing(&world);
    CU_ASSERT_EQUAL(world.runs, 0);
    wants(&world, false);
    hears_secret(&world, VALUE "-1", NULL);
    /* Floods of 401 read nothing, and the proxy is not told anew. */
    for (int i = 0; i < 100; i++)
        wants(&world, true);
    hears_nothing(&world);
    laz_loop_advance_clock(world.driver.loop, 59999);
    wants(&world, true);
    CU_ASSERT_EQUAL(world.runs, 1);
    laz_loop_advance_clock(world.driver.loop, 1);
    wants(&world, true);
    hears_secret(&world, VALUE "-2", NULL);
    wants(&world, true);
    CU_ASSERT_EQUAL(world.runs, 2);
    /* One that cannot be had leaves the one that there is, is not tried again within the minute,
     * and whoever has none is answered. */
    world.fails = true;
    laz_loop_advance_clock(world.driver.loop, 60000);
    wants(&world, true);
    hears_nothing(&world);
    for (int i = 0; i < 10; i++) {
        wants(&world, false);
        hears_secret(&world, NULL, "the command failed");
    }
    CU_ASSERT_EQUAL(world.runs, 3);
    world.fails = false;
    laz_loop_advance_clock(world.driver.loop, 60000);
    wants(&world, false);
    hears_secret(&world, VALUE "-4", NULL);
    laz_credential_set_free(set);
    world_end(&world);
}

/* Code opens connections faster than the proxy reads of them: the secret that somebody else waits
 * for comes all the same, as does that a credential is gone. */
static void a_secret_is_told_when_there_is_room_again(void)
{
    static char line[65536];
    const char *const given[] = {"{\"host\":\"b.example\",\"name\":\"other\",\"query\":\"k\","
                                 "\"secret\":{\"value\":\"0123456789\"}}"};
    struct laz_credential_set *brief = NULL;
    enum proxy_note_type type;
    struct proxy_note note;
    struct world world;
    const char *why = NULL;
    unsigned secrets = 0, forgotten = 0, connections = 0;
    int end, pair[2];

    CU_ASSERT_EQUAL_FATAL(world_try(&world, usual, 1, NULL), 0);
    struct laz_credential_set *set = usual_set(&world);
    const int64_t id = world.credentials->items->id;
    CU_ASSERT_EQUAL_FATAL(laz_credential_set_new(world.credentials, given, 1, &brief, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(pair), 0);
    end = laz_credential_set_connect(brief, "b.example", 443, pair[0], &why);
    CU_ASSERT_FATAL(end >= 0);
    for (; end >= 0; connections++) {
        laz_os_close(&end);
        laz_os_close(&pair[1]);
        CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(pair), 0);
        end = laz_credential_set_connect(set, "a.example", 443, pair[0], &why);
        CU_ASSERT_FATAL(connections < 10000);
    }
    laz_os_close(&pair[1]);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "too much to do"));
    const struct proxy_note wanted = {.credential = id};
    says(&world, PROXY_WANTS, &wanted);
    for (struct credential_item *item = world.credentials->items; item; item = item->next)
        while (item->reading)
            laz_loop_step(world.driver.loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(world.runs, 1);
    laz_credential_set_free(brief);
    for (int again = 0; again < 2; again++) {
        while (heard(&world, &type, &note, line)) {
            secrets += type == PROXY_SECRET && note.credential == id && note.text_len != 0;
            forgotten += type == PROXY_FORGET && note.credential != id;
            proxy_note_fini(type, &note);
        }
        laz_credentials_catch_up(world.credentials);
    }
    CU_ASSERT_EQUAL(secrets, 1);
    CU_ASSERT_EQUAL(forgotten, 1);
    CU_ASSERT_EQUAL(world.runs, 1);
    laz_credential_set_free(set);
    world_end(&world);
}

/* What is wrong with the credentials of one session is its own affair. */
static void a_credential_that_cannot_be_told_harms_no_other_session(void)
{
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_credential_set *other = NULL;
    struct laz_error err = {0};
    struct world world;
    const char *given[1], *why = NULL;
    int pair[2];

    /* Too large for a note: it is refused at once. */
    laz_buf_puts(&json,
                 "{\"host\":\"b.example\",\"name\":\"other\",\"query\":\"k\",\"secret\":{"
                 "\"value\":\"0123456789\"},\"placeholder\":{\"env\":\"OTHER\"},\"paths\":[");
    for (int i = 0; i < 500; i++)
        laz_buf_printf(&json, "%s\"/%0500d\"", i ? "," : "", i);
    laz_buf_puts(&json, "]}");
    CU_ASSERT_EQUAL_FATAL(world_try(&world, usual, 1, NULL), 0);
    struct laz_credential_set *set = usual_set(&world);
    given[0] = laz_buf_text(&json);
    CU_ASSERT_EQUAL(laz_credential_set_new(world.credentials, given, 1, &other, &err), LAZ_EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "128"));
    /* And one whose file of authorities is gone since. */
    given[0] = "{\"host\":\"b.example\",\"name\":\"other\",\"query\":\"k\",\"secret\":{\"value\":"
               "\"0123456789\"},\"placeholder\":{\"env\":\"OTHER\"}}";
    CU_ASSERT_EQUAL_FATAL(laz_credential_set_new(world.credentials, given, 1, &other, NULL), 0);
    other->items[0]->words.authorities = laz_strdup("/nowhere/ca.pem");
    CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(pair), 0);
    CU_ASSERT_EQUAL(laz_credential_set_connect(other, "b.example", 443, pair[0], &why), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "authorities"));
    laz_os_close(&pair[1]);
    connect_to(&world, set);
    laz_credential_set_free(other);
    laz_credential_set_free(set);
    laz_buf_fini(&json);
    world_end(&world);
}

/* Which of two certificates is good would depend on the order of credentials. */
static void authorities_of_one_credential_do_not_vouch_for_another_one(void)
{
    static const char *const given[] = {
        "a.example", "{\"host\":\"*.example\",\"name\":\"wide\",\"query\":\"k\",\"secret\":{"
                     "\"value\":\"0123456789\"}}"};
    struct laz_credential_set *set = NULL;
    struct world world;
    const char *why = NULL;
    int pair[2];

    CU_ASSERT_EQUAL_FATAL(world_try(&world, usual, 1, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_credential_set_new(world.credentials, given, 2, &set, NULL), 0);
    set->items[1]->words.authorities = laz_strdup("/dev/null");
    CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(pair), 0);
    CU_ASSERT_EQUAL(laz_credential_set_connect(set, "a.example", 443, pair[0], &why), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "different authorities"));
    laz_os_close(&pair[1]);
    /* One alone, or two with the same, are no problem. */
    set->items[0]->words.authorities = laz_strdup("/dev/null");
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(pair), 0);
        int end =
            laz_credential_set_connect(set, i ? "a.example" : "b.example", 443, pair[0], &why);
        CU_ASSERT(end >= 0);
        laz_os_close(&end);
        laz_os_close(&pair[1]);
    }
    laz_credential_set_free(set);
    world_end(&world);
}

static void what_cannot_be_searched_for_is_refused(void)
{
    static const struct {
        const char *value, *echo, *why;
    } rows[] = {
        {"12345678", "refuse", NULL},     {"1234567", "refuse", "fewer than 8"},
        {"1234567", "allow", NULL},       {"1234567 ", "refuse", "a space"},
        {" 1234567", "allow", "a space"}, {"12345678\xc3\xbc", "allow", "printable"},
    };

    for (size_t i = 0; i < N(rows); i++) {
        char json[300];
        const char *const given[] = {json};
        struct world world;
        struct laz_credential_set *set = NULL;
        snprintf(json, sizeof json,
                 "{\"host\":\"a.example\",\"header\":\"A: {secret}\",\"echo\":\"%s\","
                 "\"secret\":{\"value\":\"%s\"}}",
                 rows[i].echo, rows[i].value);
        CU_ASSERT_EQUAL_FATAL(world_try(&world, NULL, 0, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(laz_credential_set_new(world.credentials, given, 1, &set, NULL), 0);
        connect_to(&world, set);
        wants(&world, false);
        hears_secret(&world, rows[i].why ? NULL : rows[i].value, rows[i].why);
        laz_credential_set_free(set);
        world_end(&world);
    }
}

static void uses_are_counted_for_their_session(void)
{
    struct laz_credential_use uses[100];
    struct world world;

    CU_ASSERT_EQUAL_FATAL(world_try(&world, usual, 1, NULL), 0);
    struct laz_credential_set *set = usual_set(&world), *other = usual_set(&world);
    struct proxy_note note = {.connection = set->id, .credential = 1, .name = "a.example"};
    for (int i = 0; i < 3; i++)
        says(&world, PROXY_USED, &note);
    note.name = "b.a.example";
    says(&world, PROXY_USED, &note);
    note.credential = 77; /* there is none */
    says(&world, PROXY_USED, &note);
    note.connection = 77;
    says(&world, PROXY_USED, &note);
    CU_ASSERT_EQUAL(laz_credential_set_uses(other, uses, N(uses)), 0);
    CU_ASSERT_EQUAL(laz_credential_set_uses(NULL, uses, N(uses)), 0);
    CU_ASSERT_EQUAL(laz_credential_set_uses(set, uses, 1), 1);
    CU_ASSERT_EQUAL_FATAL(laz_credential_set_uses(set, uses, N(uses)), 2);
    UNIT_TEXT(uses[0].credential, "a.example");
    UNIT_TEXT(uses[0].host, "a.example");
    CU_ASSERT(uses[0].count == 3 && uses[1].count == 1);
    UNIT_TEXT(uses[1].host, "b.a.example");
    laz_credential_set_forget_uses(set);
    CU_ASSERT_EQUAL(laz_credential_set_uses(set, uses, N(uses)), 0);
    /* Names that code makes up have a bound; all are counted. */
    note = (struct proxy_note){.connection = set->id, .credential = 1};
    for (int i = 0; i < 1000; i++) {
        char name[40];
        snprintf(name, sizeof name, "n%d.a.example", i);
        note.name = name;
        says(&world, PROXY_USED, &note);
    }
    uint64_t sum = 0;
    const size_t n = laz_credential_set_uses(set, uses, N(uses));
    CU_ASSERT_EQUAL(n, CREDENTIAL_COUNTS);
    for (size_t i = 0; i < n; i++)
        sum += uses[i].count;
    CU_ASSERT_EQUAL(sum, 1000);
    laz_credential_set_free(other);
    laz_credential_set_free(set);
    world_end(&world);
}

static void denials_are_told_to_their_session_as_one_line(void)
{
    struct world world;

    CU_ASSERT_EQUAL_FATAL(world_try(&world, usual, 1, NULL), 0);
    struct laz_credential_set *set = usual_set(&world);
    struct proxy_note note = {
        .connection = set->id, .name = "a.example", .port = 443, .text = "no\n\x1b[2m"};
    says(&world, PROXY_DENIED, &note);
    CU_ASSERT_EQUAL(world.denials, 1);
    CU_ASSERT_PTR_EQUAL(strstr(world.denial, "a.example:443 no"), world.denial);
    CU_ASSERT(!strchr(world.denial, '\n') && !strchr(world.denial, '\x1b'));
    note.connection = 99;
    says(&world, PROXY_DENIED, &note);
    CU_ASSERT_EQUAL(world.denials, 1);
    laz_credential_set_free(set);
    world_end(&world);
}

static void a_proxy_that_is_gone_is_an_error(void)
{
    struct world world;
    const char *why = NULL;
    int pair[2];

    CU_ASSERT_EQUAL_FATAL(world_try(&world, usual, 1, NULL), 0);
    struct laz_credential_set *set = usual_set(&world), *other = usual_set(&world);
    set->number = 1; /* its box trusts this proxy; the other one has no box yet */
    CU_ASSERT_FALSE(laz_credential_set_is_stale(set));
    laz_os_close(&world.proxy);
    laz_credentials_catch_up(world.credentials);
    CU_ASSERT_EQUAL(world.stale, 1);
    CU_ASSERT(laz_credential_set_is_stale(set) && !laz_credential_set_is_stale(other));
    CU_ASSERT_FALSE(laz_credential_set_is_stale(NULL));
    CU_ASSERT_FALSE(world.credentials->runs);
    CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(pair), 0);
    CU_ASSERT_EQUAL(laz_credential_set_connect(set, "a.example", 443, pair[0], &why), -1);
    CU_ASSERT(why && strstr(why, "proxy") != NULL);
    laz_os_close(&pair[1]);
    laz_credential_set_free(other);
    laz_credential_set_free(set);
    world_end(&world);
}

static const struct unit_test tests[] = {
    UNIT(settings_are_checked_together),
    UNIT(authorities_that_code_can_change_are_refused),
    UNIT(sets_have_names_and_objects),
    UNIT(a_secret_is_read_once_a_minute_at_most),
    UNIT(a_secret_is_told_when_there_is_room_again),
    UNIT(a_credential_that_cannot_be_told_harms_no_other_session),
    UNIT(authorities_of_one_credential_do_not_vouch_for_another_one),
    UNIT(what_cannot_be_searched_for_is_refused),
    UNIT(uses_are_counted_for_their_session),
    UNIT(denials_are_told_to_their_session_as_one_line),
    UNIT(a_proxy_that_is_gone_is_an_error),
    {0},
};

int main(void)
{
    return unit_run("credential", tests);
}
