/* SPDX-License-Identifier: MIT */
/* test_network_dns.c - answers to DNS queries, and the false addresses in them. */
#include "unit.h"

#include "network/network_private.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* What all tests ask about. */
static struct laz_network_rules *rules;
static struct network_names *names;

static void begin(void)
{
    struct laz_strv allow = LAZ_STRV_INIT, host_ports = LAZ_STRV_INIT;
    const struct laz_network_wish wish = {.allow = &allow, .host_ports = &host_ports};

    laz_strv_add(&allow, "api.example.com");
    laz_strv_add(&allow, "*.data.example.org:8443");
    laz_strv_add(&allow, "10.0.0.5:443");
    laz_strv_add(&allow, "host.lazaret:5432");
    laz_strv_add(&host_ports, "5432");
    CU_ASSERT_FATAL(!laz_network_rules_new(&wish, &rules, NULL, NULL));
    CU_ASSERT_FATAL(!network_names_new(&names, NULL));
    laz_strv_fini(&allow);
    laz_strv_fini(&host_ports);
}

static void end(void)
{
    laz_network_rules_drop(rules);
    network_names_free(names);
}

/* ---- false addresses ------------------------------------------------------------------------- */

static struct network_address give(const char *name)
{
    struct network_address address = {0};

    CU_ASSERT(network_names_give(names, name, &address));
    CU_ASSERT(network_is_false(&address));
    return address;
}

static void a_name_keeps_its_address(void)
{
    begin();
    struct network_address a = give("a.example"), b = give("b.example"), again = give("a.example");
    char text[NETWORK_ADDRESS_TEXT];

    network_address_format(&a, text);
    UNIT_TEXT(text, "198.18.0.1");
    CU_ASSERT(network_address_equal(&a, &again));
    CU_ASSERT_FALSE(network_address_equal(&a, &b));
    UNIT_TEXT(network_names_find(names, &b), "b.example");
    b.bytes[3]++;
    CU_ASSERT_PTR_NULL(network_names_find(names, &b));
    b = (struct network_address){4, {10, 18, 0, 1}};
    CU_ASSERT_PTR_NULL(network_names_find(names, &b));
    b = (struct network_address){6, {198, 18, 0, 1}};
    CU_ASSERT_PTR_NULL(network_names_find(names, &b));
    end();
}

static void the_name_that_was_used_longest_ago_is_forgotten(void)
{
    begin();
    struct network_address found = give("found.example"), given = give("given.example");
    struct network_address lost = give("lost.example"), kept;
    char name[40];

    for (unsigned i = 3; i < NETWORK_FALSE_NAMES; i++) {
        snprintf(name, sizeof name, "%u.example.com", i);
        give(name);
    }
    UNIT_TEXT(network_names_find(names, &found), "found.example");
    give("given.example");
    give("new.example");
    CU_ASSERT_PTR_NULL(network_names_find(names, &lost));
    UNIT_TEXT(network_names_find(names, &found), "found.example");
    kept = give("given.example");
    CU_ASSERT(network_address_equal(&kept, &given));
    /* It gets another one, and its old one stands for nothing. */
    kept = give("lost.example");
    CU_ASSERT_FALSE(network_address_equal(&kept, &lost));
    CU_ASSERT_PTR_NULL(network_names_find(names, &lost));
    end();
}

static void a_forgotten_address_comes_again_after_all_others(void)
{
    begin();
    struct network_address first = give("first.example"), last, kept = give("kept.example");
    char name[40];

    for (unsigned i = 2; i < 131070; i++) {
        snprintf(name, sizeof name, "%u.example.com", i);
        last = give(name);
        CU_ASSERT_FALSE_FATAL(network_address_equal(&last, &first));
        UNIT_TEXT(network_names_find(names, &kept), "kept.example");
    }
    CU_ASSERT_EQUAL(last.bytes[1], 19);
    CU_ASSERT_EQUAL(last.bytes[3], 254);
    last = give("again.example");
    CU_ASSERT(network_address_equal(&last, &first));
    /* That of a name that is still known is left out. */
    last = give("next.example");
    CU_ASSERT_EQUAL(last.bytes[3], 3);
    end();
}

/* ---- queries --------------------------------------------------------------------------------- */

/* A query with this name, of labels with a length in front. */
static size_t query(uint8_t *out, const void *name, size_t len, unsigned type)
{
    static const uint8_t head[] = {0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    const uint8_t tail[] = {(uint8_t)(type >> 8), (uint8_t)type, 0, 1};

    memcpy(out, head, sizeof head);
    memcpy(out + 12, name, len);
    memcpy(out + 12 + len, tail, 4);
    return 16 + len;
}

/* The same of a text with dots. */
static size_t query_of(uint8_t *out, const char *text, unsigned type)
{
    uint8_t name[300];
    size_t n = 0;

    while (*text) {
        size_t label = strcspn(text, ".");
        name[n++] = (uint8_t)label;
        memcpy(name + n, text, label);
        n += label;
        text += label + (text[label] == '.');
    }
    name[n++] = 0;
    return query(out, name, n, type);
}

struct said {
    enum network_dns what;
    unsigned code;
    uint8_t data[NETWORK_DNS_ANSWER];
    size_t len;
    struct network_dns_asked asked;
};

static struct said ask(const uint8_t *data, size_t len)
{
    struct said said = {.code = 0};

    said.what = network_dns_answer(rules, names, data, len, said.data, &said.len, &said.asked);
    CU_ASSERT_EQUAL(said.what == NETWORK_DNS_IGNORED, said.len == 0);
    if (said.len) {
        CU_ASSERT_FATAL(said.len >= 12);
        CU_ASSERT_EQUAL(memcmp(said.data, data, 2), 0);
        CU_ASSERT(said.data[2] & 0x80);
        said.code = said.data[3] & 15;
    }
    return said;
}

static void names_are_answered_by_the_list(void)
{
    enum { A = 1, NS = 2, PTR = 12, TXT = 16, AAAA = 28, SVCB = 64, HTTPS = 65, ANY = 255 };
    static const struct {
        const char *name;
        unsigned type;
        enum network_dns what;
        unsigned code, answers;
    } rows[] = {
        {"api.example.com", A, NETWORK_DNS_ANSWERED, 0, 1},
        {"API.Example.COM", A, NETWORK_DNS_ANSWERED, 0, 1},
        {"api.example.com", AAAA, NETWORK_DNS_ANSWERED, 0, 0},
        {"api.example.com", HTTPS, NETWORK_DNS_ANSWERED, 0, 0},
        {"api.example.com", SVCB, NETWORK_DNS_ANSWERED, 0, 0},
        {"api.example.com", TXT, NETWORK_DNS_ANSWERED, 0, 0},
        {"api.example.com", NS, NETWORK_DNS_ANSWERED, 0, 0},
        {"api.example.com", ANY, NETWORK_DNS_ANSWERED, 0, 0},
        {"x.data.example.org", A, NETWORK_DNS_ANSWERED, 0, 1},
        {"data.example.org", A, NETWORK_DNS_REFUSED, 3, 0},
        {"example.com", A, NETWORK_DNS_REFUSED, 3, 0},
        {"secret.api.example.com", A, NETWORK_DNS_REFUSED, 3, 0},
        {"other.example", AAAA, NETWORK_DNS_REFUSED, 3, 0},
        {"other.example", TXT, NETWORK_DNS_REFUSED, 3, 0},
        {"", NS, NETWORK_DNS_REFUSED, 3, 0},
        {"a b.data.example.org", A, NETWORK_DNS_REFUSED, 3, 0},
        {"*.data.example.org", A, NETWORK_DNS_REFUSED, 3, 0},
        {"localhost", A, NETWORK_DNS_ANSWERED, 0, 1},
        {"x.localhost", AAAA, NETWORK_DNS_ANSWERED, 0, 1},
        {"localhost", TXT, NETWORK_DNS_ANSWERED, 0, 0},
        {"notlocalhost", A, NETWORK_DNS_REFUSED, 3, 0},
        {"host.lazaret", A, NETWORK_DNS_ANSWERED, 0, 1},
        {"db.lazaret", A, NETWORK_DNS_REFUSED, 3, 0},
        {"1.0.18.198.in-addr.arpa", PTR, NETWORK_DNS_ANSWERED, 3, 0},
        {"5.0.0.10.in-addr.arpa", PTR, NETWORK_DNS_ANSWERED, 3, 0},
        {"10.0.0.5", A, NETWORK_DNS_REFUSED, 3, 0},
    };

    begin();
    for (size_t i = 0; i < N(rows); i++) {
        uint8_t data[300];
        size_t len = query_of(data, rows[i].name, rows[i].type);
        struct said said = ask(data, len);
        if (said.what != rows[i].what || said.code != rows[i].code)
            fprintf(stderr, "%s %u\n", rows[i].name, rows[i].type);
        CU_ASSERT_EQUAL(said.what, rows[i].what);
        CU_ASSERT_EQUAL(said.code, rows[i].code);
        CU_ASSERT_EQUAL(said.data[7], rows[i].answers);
        CU_ASSERT_EQUAL(said.asked.type, rows[i].type);
        UNIT_TEXT(said.asked.name, rows[i].name);
        /* The question as it came, in its mixture of cases. */
        CU_ASSERT_EQUAL(said.data[5], 1);
        CU_ASSERT_EQUAL(memcmp(said.data + 12, data + 12, len - 12), 0);
    }
    end();
}

static void an_answer_is_a_false_address_for_a_minute(void)
{
    uint8_t data[300];
    static const uint8_t record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 1};

    begin();
    struct said said = ask(data, query_of(data, "api.example.com", 1));
    CU_ASSERT_EQUAL_FATAL(said.len, 12 + 17 + 4 + sizeof record);
    CU_ASSERT_EQUAL(memcmp(said.data + 12 + 17 + 4, record, sizeof record), 0);
    CU_ASSERT_EQUAL(said.data[2], 0x85);
    CU_ASSERT_EQUAL(said.data[3], 0x80);
    struct network_address address = {4, {198, 18, 0, 1}};
    UNIT_TEXT(network_names_find(names, &address), "api.example.com");
    end();
}

static void odd_labels_are_no_names(void)
{
    static const struct {
        const char *name;
        size_t len;
        const char *shown;
    } rows[] = {
        {"\x0f"
         "api.example.com",
         17, "api.example.com"}, /* one label with dots in it */
        {"\x04"
         "api\0\x07"
         "example\x03"
         "com",
         18, "api\\x00.example.com"},
        {"\x04"
         "\x1b[2m\x07"
         "example\x03"
         "com",
         18, "\\x1b[2m.example.com"},
    };

    begin();
    for (size_t i = 0; i < N(rows); i++) {
        uint8_t data[300];
        struct said said = ask(data, query(data, rows[i].name, rows[i].len, 1));
        CU_ASSERT_EQUAL(said.what, NETWORK_DNS_REFUSED);
        UNIT_TEXT(said.asked.name, rows[i].shown);
    }
    end();
}

static void what_is_no_query_is_ignored_and_what_is_malformed_is_said(void)
{
    /* A byte of a good query with another value. */
    static const struct {
        size_t at;
        uint8_t value;
        enum network_dns what;
        unsigned code;
    } rows[] = {
        {2, 0x81, NETWORK_DNS_IGNORED, 0},   /* a response */
        {2, 0x11, NETWORK_DNS_ANSWERED, 4},  /* the opcode STATUS */
        {2, 0x29, NETWORK_DNS_ANSWERED, 4},  /* UPDATE */
        {2, 0x03, NETWORK_DNS_ANSWERED, 1},  /* it was cut */
        {5, 0, NETWORK_DNS_ANSWERED, 1},     /* no question */
        {5, 2, NETWORK_DNS_ANSWERED, 1},     /* two */
        {7, 1, NETWORK_DNS_ANSWERED, 1},     /* an answer */
        {9, 1, NETWORK_DNS_ANSWERED, 1},     /* an authority */
        {11, 1, NETWORK_DNS_ANSWERED, 1},    /* a record that is not there */
        {12, 0xc0, NETWORK_DNS_ANSWERED, 1}, /* a pointer */
        {12, 0x40, NETWORK_DNS_ANSWERED, 1}, /* a label of another kind */
        {12, 63, NETWORK_DNS_ANSWERED, 1},   /* a label beyond the end */
        {12, 0, NETWORK_DNS_ANSWERED, 1},    /* bytes behind the question */
        {32, 3, NETWORK_DNS_ANSWERED, 5},    /* the class CHAOS */
        {32, 255, NETWORK_DNS_ANSWERED, 5},
    };

    begin();
    for (size_t i = 0; i < N(rows); i++) {
        uint8_t data[300];
        size_t len = query_of(data, "api.example.com", 1);
        CU_ASSERT_EQUAL(len, 33);
        data[rows[i].at] = rows[i].value;
        struct said said = ask(data, len);
        if (said.what != rows[i].what || said.code != rows[i].code)
            fprintf(stderr, "byte %zu, %u\n", rows[i].at, rows[i].value);
        CU_ASSERT_EQUAL(said.what, rows[i].what);
        CU_ASSERT_EQUAL(said.code, rows[i].code);
        CU_ASSERT_EQUAL(said.data[7], 0);
    }
    uint8_t data[300];
    size_t len = query_of(data, "api.example.com", 1);
    for (size_t n = 0; n < len; n++) {
        struct said said = ask(data, n);
        CU_ASSERT_EQUAL(said.what, n < 12 ? NETWORK_DNS_IGNORED : NETWORK_DNS_ANSWERED);
        CU_ASSERT_EQUAL(said.code, n < 12 ? 0 : 1);
    }
    data[len] = 0;
    CU_ASSERT_EQUAL(ask(data, len + 1).code, 1);
    end();
}

static void names_have_the_bounds_of_dns(void)
{
    uint8_t name[300], data[400];
    size_t n = 0;

    begin();
    for (; n < 64 * 3; n += 64) {
        name[n] = 63;
        memset(name + n + 1, 'a', 63);
    }
    name[n] = 61;
    memset(name + n + 1, 'a', 61);
    name[n + 62] = 0;
    CU_ASSERT_EQUAL(ask(data, query(data, name, n + 63, 1)).what, NETWORK_DNS_REFUSED);
    name[n] = 62;
    name[n + 62] = 'a';
    name[n + 63] = 0;
    CU_ASSERT_EQUAL(ask(data, query(data, name, n + 64, 1)).code, 1);
    end();
}

static void edns_is_answered_with_a_bound(void)
{
    static const uint8_t good[] = {0, 0, 41, 0x10, 0, 0, 0, 0x80, 0, 0, 0};
    static const uint8_t mine[] = {0, 0, 41, 2, 0, 0, 0, 0, 0, 0, 0};
    static const struct {
        size_t at;
        uint8_t value;
        unsigned code, more; /* the upper bits of the code */
    } rows[] = {
        {3, 0x10, 0, 0}, {6, 1, 0, 1},  /* another version */
        {0, 1, 1, 0},    {2, 42, 1, 0}, /* another record */
        {10, 1, 1, 0},                  /* data beyond the end */
    };

    begin();
    for (size_t i = 0; i < N(rows); i++) {
        uint8_t data[300];
        size_t len = query_of(data, "api.example.com", 1);
        memcpy(data + len, good, sizeof good);
        data[11] = 1;
        data[len + rows[i].at] = rows[i].value;
        struct said said = ask(data, len + sizeof good);
        CU_ASSERT_EQUAL(said.code, rows[i].code);
        if (rows[i].code)
            continue;
        CU_ASSERT_EQUAL(said.data[11], 1);
        CU_ASSERT_EQUAL(said.data[said.len - 6], rows[i].more);
        said.data[said.len - 6] = 0;
        CU_ASSERT_EQUAL(memcmp(said.data + said.len - sizeof mine, mine, sizeof mine), 0);
        for (size_t n = len; n < len + sizeof good; n++)
            CU_ASSERT_EQUAL(ask(data, n).code, 1);
    }
    end();
}

static const struct unit_test tests[] = {
    UNIT(a_name_keeps_its_address),
    UNIT(the_name_that_was_used_longest_ago_is_forgotten),
    UNIT(a_forgotten_address_comes_again_after_all_others),
    UNIT(names_are_answered_by_the_list),
    UNIT(an_answer_is_a_false_address_for_a_minute),
    UNIT(odd_labels_are_no_names),
    UNIT(what_is_no_query_is_ignored_and_what_is_malformed_is_said),
    UNIT(names_have_the_bounds_of_dns),
    UNIT(edns_is_answered_with_a_bound),
    {0},
};

int main(void)
{
    return unit_run("network_dns", tests);
}
