/* SPDX-License-Identifier: MIT */
/* test_network_denials.c - what was refused, as a sentence, as JSON, and counted. */
#include "unit.h"

#include "base/json.h"
#include "network/network_private.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static void each_kind_has_a_word_and_a_sentence(void)
{
    static const struct {
        struct laz_denial denial;
        const char *text;
    } rows[] = {
        {{LAZ_DENIED_NAME, .name = "api.example.com", .port = 443, .count = 1,
          .allow = "allow = [\"https://api.example.com\"]"},
         "api.example.com:443 is not in the network list (allow = [\"https://api.example.com\"] "
         "below [network])"},
        {{LAZ_DENIED_NAME, .name = "b.example", .count = 3},
         "b.example is not in the network list; "
         "3 times"},
        {{LAZ_DENIED_PORT, .name = "b.example", .port = 22, .rule = "b.example",
          .allow = "allow = [\"b.example:22\"]"},
         "b.example:22: the network list has this name, but not this port (allow = "
         "[\"b.example:22\"] below [network])"},
        {{LAZ_DENIED_ADDRESS, .address = "8.8.8.8", .port = 53},
         "8.8.8.8:53 is not in the network list"},
        {{LAZ_DENIED_ADDRESS, .address = "2001:db8::1", .port = 80},
         "[2001:db8::1]:80 is not in the network list"},
        {{LAZ_DENIED_SERVER_NAME, .name = "b.example", .address = "198.18.0.1", .port = 443,
          .rule = "b.example", .detail = "the server name was \"other.example\""},
         "b.example:443: TLS has to name this server: the server name was \"other.example\" "
         "(rule: b.example)"},
        {{LAZ_DENIED_HOST, .name = "b.example", .port = 80, .detail = "two Host fields"},
         "b.example:80: this HTTP request is not for this host, or cannot be judged: two Host "
         "fields"},
        {{LAZ_DENIED_PRIVATE, .name = "b.example", .port = 443, .detail = "10.0.0.1 (private)"},
         "b.example:443 has only addresses that the network list does not permit: 10.0.0.1 "
         "(private)"},
        {{LAZ_DENIED_PROTOCOL, .address = "8.8.8.8", .port = 443, .detail = "UDP"},
         "8.8.8.8:443: this protocol is not passed on: UDP"},
        {{LAZ_DENIED_LIMIT, .name = "b.example", .port = 443, .detail = "64 connections"},
         "b.example:443: a limit of the network list is reached: 64 connections"},
        {{LAZ_DENIED_UNREACHABLE, .name = "b.example", .port = 443, .detail = "refused"},
         "b.example:443 is permitted, but cannot be reached: refused"},
        {{LAZ_DENIED_PROTOCOL, .port = 0}, "a connection: this protocol is not passed on"},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        laz_denial_text(&rows[i].denial, &text);
        UNIT_TEXT(laz_buf_text(&text), rows[i].text);
        laz_buf_fini(&text);
    }
    for (int what = 0; what < LAZ_N_DENIED; what++)
        CU_ASSERT_PTR_NOT_NULL(laz_denied_word((enum laz_denied)what));
}

static void programs_get_what_is_known(void)
{
    static const struct laz_denial all = {LAZ_DENIED_SERVER_NAME,
                                          .name = "b.example",
                                          .address = "198.18.0.1",
                                          .port = 443,
                                          .count = 2,
                                          .rule = "*.example",
                                          .allow = "allow = [\"x\"]",
                                          .detail = "d",
                                          .is_permanent = true};
    static const struct laz_denial little = {LAZ_DENIED_UNREACHABLE, .count = 1};
    struct laz_buf json = LAZ_BUF_INIT;

    laz_denial_json(&all, &json);
    UNIT_TEXT(laz_buf_text(&json),
              "{\"what\":\"server_name\",\"name\":\"b.example\",\"address\":\"198.18.0.1\","
              "\"port\":443,\"count\":2,\"rule\":\"*.example\",\"allow\":\"allow = [\\\"x\\\"] "
              "below [network]\","
              "\"detail\":\"d\",\"retry\":\"useless\",\"source\":\"network\"}");
    laz_buf_clear(&json);
    laz_denial_json(&little, &json);
    UNIT_TEXT(laz_buf_text(&json), "{\"what\":\"unreachable\",\"count\":1,\"retry\":\"later\","
                                   "\"source\":\"network\"}");
    laz_buf_fini(&json);
}

static void equal_denials_are_counted_and_the_first_are_kept(void)
{
    struct laz_denials denials = {0};
    struct laz_denial denial = {LAZ_DENIED_NAME, .port = 443, .count = 1};

    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < LAZ_DENIALS + 2; i++) {
            snprintf(denial.name, sizeof denial.name, "%u.example", i);
            CU_ASSERT_EQUAL(laz_denials_add(&denials, &denial), !round && i < LAZ_DENIALS);
        }
    CU_ASSERT_EQUAL(denials.n, LAZ_DENIALS);
    CU_ASSERT_EQUAL(denials.others, 6);
    CU_ASSERT_EQUAL(denials.items[0].count, 3);
    UNIT_TEXT(denials.items[9].name, "9.example");
    laz_denials_fini(&denials);
    CU_ASSERT_EQUAL(denials.n, 0);
    denial.count = 0;
    CU_ASSERT(laz_denials_add(&denials, &denial));
    CU_ASSERT_EQUAL(denials.items[0].count, 1);
    /* What differs in one member is another denial. */
    denial.port = 80;
    CU_ASSERT(laz_denials_add(&denials, &denial));
    denial.what = LAZ_DENIED_PORT;
    CU_ASSERT(laz_denials_add(&denials, &denial));
    snprintf(denial.detail, sizeof denial.detail, "x");
    CU_ASSERT(laz_denials_add(&denials, &denial));
    snprintf(denial.address, sizeof denial.address, "1.2.3.4");
    CU_ASSERT(laz_denials_add(&denials, &denial));
    laz_denials_fini(&denials);
}

static void the_line_that_would_permit_it_is_one_that_is_taken(void)
{
    static const struct {
        const char *name, *address;
        uint16_t port;
        const char *line;
    } rows[] = {
        {"api.example.com", NULL, 443, "allow = [\"https://api.example.com\"]"},
        {"api.example.com", NULL, 0, "allow = [\"https://api.example.com\"]"},
        {"api.example.com", NULL, 80, "allow = [\"http://api.example.com\"]"},
        {"github.com", NULL, 22, "allow = [\"github.com:22\"]"},
        {"host.lazaret", NULL, 5432, ""},
        {"db.lazaret", NULL, 5432, ""},
        {"localhost", NULL, 443, ""},
        {"api.example.com", NULL, 53, ""},
        {"", NULL, 443, ""},
        {NULL, "8.8.8.8", 443, "allow = [\"8.8.8.8:443\"]"},
        {NULL, "10.0.0.5", 5432, "allow = [\"10.0.0.5:5432\"]"},
        {NULL, "2001:db8::1", 443, ""},
        {NULL, "8.8.8.8", 53, ""},
        {NULL, "127.0.0.1", 443, ""},
        {NULL, "169.254.169.254", 80, ""},
        {NULL, "198.18.0.1", 80, ""},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct network_address address = {0};
        char line[340];
        if (rows[i].address)
            CU_ASSERT(network_address_parse(rows[i].address, strlen(rows[i].address), &address));
        network_allow_line(line, rows[i].name, &address, rows[i].port);
        UNIT_TEXT(line, rows[i].line);
    }
}

static const struct unit_test tests[] = {
    UNIT(each_kind_has_a_word_and_a_sentence),
    UNIT(programs_get_what_is_known),
    UNIT(equal_denials_are_counted_and_the_first_are_kept),
    UNIT(the_line_that_would_permit_it_is_one_that_is_taken),
    {0},
};

int main(void)
{
    return unit_run("network_denials", tests);
}
