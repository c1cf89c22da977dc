/* SPDX-License-Identifier: MIT */
/* test_network_hello.c - the server name of a ClientHello, however it is cut. */
#include "unit.h"

#include "network/network_private.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

struct bytes {
    uint8_t data[40000];
    size_t n;
};

static void put(struct bytes *to, const void *data, size_t len)
{
    CU_ASSERT_FATAL(to->n + len <= sizeof to->data);
    memcpy(to->data + to->n, data, len);
    to->n += len;
}

static void put_number(struct bytes *to, size_t value, size_t size)
{
    while (size--) {
        uint8_t byte = (uint8_t)(value >> 8 * size);
        put(to, &byte, 1);
    }
}

static void put_vector(struct bytes *to, const struct bytes *inner, size_t size)
{
    put_number(to, inner->n, size);
    put(to, inner->data, inner->n);
}

/* ---- hellos ---------------------------------------------------------------------------------- */

static void extension(struct bytes *to, unsigned type, const void *data, size_t len)
{
    put_number(to, type, 2);
    put_number(to, len, 2);
    put(to, data, len);
}

/* The extension with a name of this type. */
static void server_name(struct bytes *to, unsigned type, const void *name, size_t len)
{
    struct bytes list = {.n = 0}, all = {.n = 0};

    put_number(&list, type, 1);
    put_number(&list, len, 2);
    put(&list, name, len);
    put_vector(&all, &list, 2);
    extension(to, 0, all.data, all.n);
}

/* The message, around these extensions. */
static void message(struct bytes *to, const struct bytes *extensions)
{
    static const uint8_t random[32] = {7}, suites[] = {0, 2, 0x13, 1}, compressions[] = {1, 0};
    struct bytes body = {.n = 0};

    put_number(&body, 0x303, 2);
    put(&body, random, sizeof random);
    put_number(&body, 32, 1);
    put(&body, random, 32);
    put(&body, suites, sizeof suites);
    put(&body, compressions, sizeof compressions);
    put_vector(&body, extensions, 2);
    to->n = 0;
    put_number(to, 1, 1);
    put_vector(to, &body, 3);
}

/* The message in records of so many bytes. */
static void records(struct bytes *to, const struct bytes *from, size_t size)
{
    to->n = 0;
    for (size_t at = 0; at < from->n; at += size) {
        size_t len = from->n - at < size ? from->n - at : size;
        put_number(to, 22, 1);
        put_number(to, 0x301, 2);
        put_number(to, len, 2);
        put(to, from->data + at, len);
    }
}

static const struct bytes *hello(const struct bytes *extensions)
{
    static struct bytes inner, outer;

    message(&inner, extensions);
    records(&outer, &inner, 16384);
    return &outer;
}

static enum network_hello ask(const struct bytes *bytes, size_t len, char name[NETWORK_NAME])
{
    uint8_t copy[sizeof bytes->data];
    const char *why = NULL;
    size_t used;

    memcpy(copy, bytes->data, len);
    enum network_hello said = network_hello(copy, len, name, &used, &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(why);
    CU_ASSERT_EQUAL(*why == '\0', said == NETWORK_HELLO_MORE || said == NETWORK_HELLO_NAME);
    CU_ASSERT_EQUAL(*name != '\0', said == NETWORK_HELLO_NAME);
    CU_ASSERT(said != NETWORK_HELLO_NAME || (used > 0 && used <= len));
    return said;
}

static struct bytes usual(const char *name)
{
    struct bytes extensions = {.n = 0};

    extension(&extensions, 43, "\x02\x03\x04", 3);
    server_name(&extensions, 0, name, strlen(name));
    extension(&extensions, 16, "\0\x03\x02h2", 5);
    return extensions;
}

/* ---- the rules ------------------------------------------------------------------------------- */

static void the_name_is_the_same_however_it_is_cut(void)
{
    struct bytes extensions = usual("API.Example.com"), whole, cut;

    message(&whole, &extensions);
    for (size_t size = 1; size <= whole.n; size++) {
        char name[NETWORK_NAME];
        records(&cut, &whole, size);
        /* Segments end after each byte. */
        for (size_t len = 0; len < cut.n; len++)
            if (ask(&cut, len, name) != NETWORK_HELLO_MORE) {
                fprintf(stderr, "records of %zu, %zu bytes\n", size, len);
                CU_FAIL("it is not asked for more");
                return;
            }
        CU_ASSERT_EQUAL(ask(&cut, cut.n, name), NETWORK_HELLO_NAME);
        UNIT_TEXT(name, "api.example.com");
        /* Early data follows in records of its own. */
        put(&cut, "\x17\x03\x03\0\x01x", 6);
        CU_ASSERT_EQUAL(ask(&cut, cut.n, name), NETWORK_HELLO_NAME);
    }
}

static void a_server_name_is_one_name(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        unsigned type;
        enum network_hello said;
    } rows[] = {
        {"a.example", 9, 0, NETWORK_HELLO_NAME},
        {"a.example.", 10, 0, NETWORK_HELLO_NAME},
        {"a.example", 9, 1, NETWORK_HELLO_NOT_TLS},
        {"", 0, 0, NETWORK_HELLO_NOT_TLS},
        {"a.example\0.evil", 15, 0, NETWORK_HELLO_NONE},
        {"127.0.0.1", 9, 0, NETWORK_HELLO_NONE},
        {"::1", 3, 0, NETWORK_HELLO_NONE},
        {"[::1]", 5, 0, NETWORK_HELLO_NONE},
        {"2130706433", 10, 0, NETWORK_HELLO_NONE},
        {"*.example", 9, 0, NETWORK_HELLO_NONE},
        {"a..example", 10, 0, NETWORK_HELLO_NONE},
        {"b\xc3\xbc"
         "cher.example",
         15, 0, NETWORK_HELLO_NONE},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct bytes extensions = {.n = 0};
        char name[NETWORK_NAME];
        server_name(&extensions, rows[i].type, rows[i].bytes, rows[i].len);
        const struct bytes *whole = hello(&extensions);
        CU_ASSERT_EQUAL(ask(whole, whole->n, name), rows[i].said);
    }
}

static void no_name_is_told_from_a_hidden_one(void)
{
    struct bytes extensions = {.n = 0};
    char name[NETWORK_NAME];
    const struct bytes *whole = hello(&extensions);

    CU_ASSERT_EQUAL(ask(whole, whole->n, name), NETWORK_HELLO_NONE);
    extensions = usual("a.example");
    extension(&extensions, 0xfe0d, "\0\0\x01\0\x01\0\0", 7);
    whole = hello(&extensions);
    CU_ASSERT_EQUAL(ask(whole, whole->n, name), NETWORK_HELLO_HIDDEN);
    extensions.n = 0;
    extension(&extensions, 0xffce, "", 0);
    whole = hello(&extensions);
    CU_ASSERT_EQUAL(ask(whole, whole->n, name), NETWORK_HELLO_HIDDEN);
}

static void what_two_readers_might_read_differently_is_refused(void)
{
    struct bytes extensions = usual("a.example"), all = {.n = 0}, outer;
    char name[NETWORK_NAME];
    const struct bytes *whole;

    /* The extension twice. */
    server_name(&extensions, 0, "b.example", 9);
    whole = hello(&extensions);
    CU_ASSERT_EQUAL(ask(whole, whole->n, name), NETWORK_HELLO_NOT_TLS);
    /* Another one twice. */
    extensions = usual("a.example");
    extension(&extensions, 16, "", 0);
    whole = hello(&extensions);
    CU_ASSERT_EQUAL(ask(whole, whole->n, name), NETWORK_HELLO_NOT_TLS);
    /* Two names in one. */
    extensions.n = 0;
    put(&all,
        "\0\x18\0\0\x09"
        "a.example\0\0\x09"
        "b.example",
        26);
    extension(&extensions, 0, all.data, all.n);
    whole = hello(&extensions);
    CU_ASSERT_EQUAL(ask(whole, whole->n, name), NETWORK_HELLO_NOT_TLS);
    /* Bytes behind the name, behind the extensions, behind the message in its record. */
    extensions.n = 0;
    extension(&extensions, 0,
              "\0\x0c\0\0\x09"
              "a.example!",
              15);
    whole = hello(&extensions);
    CU_ASSERT_EQUAL(ask(whole, whole->n, name), NETWORK_HELLO_NOT_TLS);
    extensions = usual("a.example");
    put(&extensions, "x", 1);
    whole = hello(&extensions);
    CU_ASSERT_EQUAL(ask(whole, whole->n, name), NETWORK_HELLO_NOT_TLS);
    extensions = usual("a.example");
    message(&all, &extensions);
    put(&all, "x", 1);
    records(&outer, &all, 16384);
    CU_ASSERT_EQUAL(ask(&outer, outer.n, name), NETWORK_HELLO_NOT_TLS);
    CU_ASSERT_EQUAL(ask(&outer, outer.n - 1, name), NETWORK_HELLO_NOT_TLS);
}

static void lengths_have_to_fit(void)
{
    struct bytes extensions = usual("a.example");
    const struct bytes whole = *hello(&extensions);

    /* Each byte of a length, changed: it is never taken for the same hello with another name. */
    for (size_t at = 0; at < whole.n; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct bytes changed = whole;
            char name[NETWORK_NAME];
            changed.data[at] ^= (uint8_t)(1u << bit);
            enum network_hello said = ask(&changed, changed.n, name);
            if (said == NETWORK_HELLO_NAME)
                CU_ASSERT_EQUAL(strlen(name), 9);
        }
}

static void other_protocols_are_told_by_their_first_bytes(void)
{
    static const struct {
        const char *bytes;
        size_t len;
    } rows[] = {
        {"GET / HTTP/1.1\r\n", 16},
        {"G", 1},
        {"\x16\x02", 2},
        {"SSH-2.0-x\r\n", 11},
        {"\x80\x2e\x01\x03\x01", 5},               /* the hello of SSL 2 */
        {"\x15\x03\x01\0\x02\x01\0", 7},           /* an alert */
        {"\x17\x03\x03\0\x01x", 6},                /* data */
        {"\x16\x03\x01\0\0", 5},                   /* an empty record */
        {"\x16\x03\x01\x40\x01", 5},               /* a record that is too long */
        {"\x16\x03\x01\0\x04\x02\0\0\0", 9},       /* a ServerHello */
        {"\x16\x03\x01\0\x04\x01\0\0\0", 9},       /* an empty message */
        {"\x16\x03\x01\0\x01\x01\x17\x03\x01", 9}, /* data between the parts of a message */
    };

    for (size_t i = 0; i < N(rows); i++) {
        const char *why = "";
        char name[NETWORK_NAME];
        size_t used;
        CU_ASSERT_EQUAL(network_hello(rows[i].bytes, rows[i].len, name, &used, &why),
                        NETWORK_HELLO_NOT_TLS);
        CU_ASSERT(*why);
    }
}

static void what_stands_behind_a_hello_is_not_part_of_it(void)
{
    struct bytes extensions = usual("a.example");
    const struct bytes *one = hello(&extensions);
    uint8_t both[2 * sizeof one->data];
    char name[NETWORK_NAME];
    const char *why;
    size_t used;

    memcpy(both, one->data, one->n);
    memcpy(both + one->n, one->data, one->n);
    CU_ASSERT_EQUAL(network_hello(both, 2 * one->n, name, &used, &why), NETWORK_HELLO_NAME);
    CU_ASSERT_EQUAL(used, one->n);
}

/* RFC 8446, 4.1.3 */
static const uint8_t retry[] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
                                0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
                                0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

static void a_server_may_ask_for_another_hello(void)
{
    uint8_t answer[64] = {22, 3, 3, 0, 59, 2, 0, 0, 55, 3, 3};

    for (size_t n = 0; n < NETWORK_ANSWER_BYTES; n++)
        CU_ASSERT_EQUAL(network_answer(answer, n), NETWORK_ANSWER_MORE);
    CU_ASSERT_EQUAL(network_answer(answer, sizeof answer), NETWORK_ANSWER_FINAL);
    memcpy(answer + 11, retry, sizeof retry);
    for (size_t n = NETWORK_ANSWER_BYTES; n <= sizeof answer; n++)
        CU_ASSERT_EQUAL(network_answer(answer, n), NETWORK_ANSWER_RETRY);
    answer[42]++;
    CU_ASSERT_EQUAL(network_answer(answer, sizeof answer), NETWORK_ANSWER_FINAL);
    answer[4] = 30; /* a record in which the random does not end */
    CU_ASSERT_EQUAL(network_answer(answer, sizeof answer), NETWORK_ANSWER_RETRY);
    answer[0] = 21; /* an alert */
    CU_ASSERT_EQUAL(network_answer(answer, 1), NETWORK_ANSWER_FINAL);
}

static void another_hello_is_found_behind_what_goes_before(void)
{
    static const uint8_t before[] = {20, 3, 3, 0, 1, 1, 23, 3, 3, 0, 3, 7, 7, 7};
    struct bytes extensions = usual("b.example");
    const struct bytes *second = hello(&extensions);
    uint8_t all[sizeof before + sizeof second->data];
    const size_t len = sizeof before + second->n;
    char name[NETWORK_NAME];
    const char *why;

    memcpy(all, before, sizeof before);
    memcpy(all + sizeof before, second->data, second->n);
    for (size_t n = 0; n < len; n++)
        CU_ASSERT_EQUAL(network_hello_again(all, n, name, &why), NETWORK_HELLO_MORE);
    CU_ASSERT_EQUAL(network_hello_again(all, len, name, &why), NETWORK_HELLO_NAME);
    UNIT_TEXT(name, "b.example");
    all[0] = 24;
    CU_ASSERT_EQUAL(network_hello_again(all, len, name, &why), NETWORK_HELLO_NOT_TLS);
}

static void hellos_have_bounds(void)
{
    static const uint8_t padding[20000];
    struct bytes extensions = usual("a.example"), inner, outer;
    char name[NETWORK_NAME];

    extension(&extensions, 21, padding, 16384 - 4 - 2 - 32 - 33 - 4 - 2 - 2 - extensions.n - 4);
    message(&inner, &extensions);
    CU_ASSERT_EQUAL(inner.n, 16384);
    records(&outer, &inner, 16384);
    CU_ASSERT_EQUAL(ask(&outer, outer.n, name), NETWORK_HELLO_NAME);
    /* In records so small that too many bytes are needed for them. */
    records(&outer, &inner, 4);
    CU_ASSERT_EQUAL(ask(&outer, NETWORK_HELLO_BYTES - 1, name), NETWORK_HELLO_MORE);
    CU_ASSERT_EQUAL(ask(&outer, NETWORK_HELLO_BYTES, name), NETWORK_HELLO_TOO_LONG);
    /* One byte more, which its first bytes say. */
    extensions = usual("a.example");
    extension(&extensions, 21, padding, 16385 - 4 - 2 - 32 - 33 - 4 - 2 - 2 - extensions.n - 4);
    message(&inner, &extensions);
    records(&outer, &inner, 16384);
    CU_ASSERT_EQUAL(ask(&outer, 8, name), NETWORK_HELLO_MORE);
    CU_ASSERT_EQUAL(ask(&outer, 9, name), NETWORK_HELLO_TOO_LONG);
}

static const struct unit_test tests[] = {
    UNIT(the_name_is_the_same_however_it_is_cut),
    UNIT(a_server_name_is_one_name),
    UNIT(no_name_is_told_from_a_hidden_one),
    UNIT(what_two_readers_might_read_differently_is_refused),
    UNIT(lengths_have_to_fit),
    UNIT(other_protocols_are_told_by_their_first_bytes),
    UNIT(hellos_have_bounds),
    UNIT(what_stands_behind_a_hello_is_not_part_of_it),
    UNIT(a_server_may_ask_for_another_hello),
    UNIT(another_hello_is_found_behind_what_goes_before),
    {0},
};

int main(void)
{
    return unit_run("network_hello", tests);
}
