/* SPDX-License-Identifier: MIT */
/* test_network_address.c - addresses: their notation, blocks, and which of them are public. */
#include "unit.h"

#include "network/network_private.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static void one_notation_is_read(void)
{
    static const struct {
        const char *text, *formatted; /* NULL: it is refused */
    } rows[] = {
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"10.0.0.5", "10.0.0.5"},
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"2001:DB8::0:1", "2001:db8::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"},
        {"::ffff:10.0.0.1", "::ffff:a00:1"},
        {"64:ff9b::192.0.2.1", "64:ff9b::c000:201"},
        {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
        {"", NULL},
        {"1.2.3", NULL},
        {"1.2.3.4.5", NULL},
        {"1.2.3.4.", NULL},
        {"1.2.3.256", NULL},
        {"01.2.3.4", NULL},
        {"1.2.3.00", NULL},
        {"0177.0.0.1", NULL},
        {"0x7f.0.0.1", NULL},
        {"0x7f000001", NULL},
        {"2130706433", NULL},
        {"127.1", NULL},
        {"1.2.3.+4", NULL},
        {" 1.2.3.4", NULL},
        {"1.2.3.4 ", NULL},
        {":", NULL},
        {":::", NULL},
        {"1:2:3:4:5:6:7", NULL},
        {"1:2:3:4:5:6:7:8:9", NULL},
        {"1:2:3:4:5:6:7::8", NULL},
        {"1::2::3", NULL},
        {":1:2:3:4:5:6:7", NULL},
        {"12345::", NULL},
        {"g::", NULL},
        {"fe80::1%eth0", NULL},
        {"[::1]", NULL},
        {"::1.2.3", NULL},
        {"1.2.3.4::", NULL},
        {"::1.2.3.4:5", NULL},
        {"1:2:3:4:5:6:7:1.2.3.4", NULL},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct network_address address, again;
        char text[NETWORK_ADDRESS_TEXT];
        bool taken = network_address_parse(rows[i].text, strlen(rows[i].text), &address);
        if (taken != !!rows[i].formatted)
            fprintf(stderr, "%s\n", rows[i].text);
        CU_ASSERT_EQUAL(taken, !!rows[i].formatted);
        if (!taken || !rows[i].formatted)
            continue;
        network_address_format(&address, text);
        UNIT_TEXT(text, rows[i].formatted);
        CU_ASSERT(network_address_parse(text, strlen(text), &again));
        CU_ASSERT(network_address_equal(&address, &again));
    }
}

static void a_nul_is_part_of_no_address(void)
{
    struct network_address address;

    CU_ASSERT_FALSE(network_address_parse("1.2.3.4\0", 8, &address));
    CU_ASSERT_FALSE(network_address_parse("1.2\0.3.4", 8, &address));
    CU_ASSERT_FALSE(network_address_parse("::\0001", 4, &address));
}

static void blocks_have_what_begins_alike(void)
{
    static const struct {
        const char *block, *inside, *outside; /* NULL: the block is refused */
    } rows[] = {
        {"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
        {"172.16.0.0/12", "172.31.0.1", "172.32.0.0"},
        {"0.0.0.0/0", "255.255.255.255", "::1"},
        {"192.0.2.5", "192.0.2.5", "192.0.2.4"},
        {"192.0.2.4/31", "192.0.2.5", "192.0.2.6"},
        {"2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"},
        {"fc00::/7", "fdff::1", "fe00::"},
        {"::/0", "::1", "0.0.0.0"},
        {"::1/128", "::1", "::"},
        {"10.0.0.1/8", NULL, NULL},
        {"10.0.0.0/33", NULL, NULL},
        {"10.0.0.0/08", NULL, NULL},
        {"10.0.0.0/", NULL, NULL},
        {"10.0.0.0/8/8", NULL, NULL},
        {"10.0.0.0/-1", NULL, NULL},
        {"10.0.0/8", NULL, NULL},
        {"::1/0", NULL, NULL},
        {"::/129", NULL, NULL},
        {"/8", NULL, NULL},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct network_block block;
        struct network_address inside, outside;
        bool taken = network_block_parse(rows[i].block, strlen(rows[i].block), &block);
        if (taken != !!rows[i].inside)
            fprintf(stderr, "%s\n", rows[i].block);
        CU_ASSERT_EQUAL(taken, !!rows[i].inside);
        if (!taken || !rows[i].inside)
            continue;
        CU_ASSERT(network_address_parse(rows[i].inside, strlen(rows[i].inside), &inside));
        CU_ASSERT(network_address_parse(rows[i].outside, strlen(rows[i].outside), &outside));
        CU_ASSERT(network_block_has(&block, &inside));
        CU_ASSERT_FALSE(network_block_has(&block, &outside));
    }
}

static const struct {
    const char *address, *word; /* NULL: public */
    bool is_final;
} classes[] = {
    {"0.0.0.0", "unspecified", true},
    {"0.1.2.3", "unspecified", true},
    {"1.0.0.0", NULL, false},
    {"8.8.8.8", NULL, false},
    {"9.255.255.255", NULL, false},
    {"10.0.0.0", "private", false},
    {"10.255.255.255", "private", false},
    {"11.0.0.0", NULL, false},
    {"100.63.255.255", NULL, false},
    {"100.64.0.0", "carrier-grade NAT", false},
    {"100.100.100.200", "metadata", false},
    {"100.127.255.255", "carrier-grade NAT", false},
    {"100.128.0.0", NULL, false},
    {"126.255.255.255", NULL, false},
    {"127.0.0.0", "loopback", false},
    {"127.0.0.1", "loopback", false},
    {"127.255.255.255", "loopback", false},
    {"128.0.0.0", NULL, false},
    {"168.63.129.15", NULL, false},
    {"168.63.129.16", "metadata", false},
    {"169.253.255.255", NULL, false},
    {"169.254.0.1", "link-local", false},
    {"169.254.169.254", "metadata", false},
    {"169.254.170.2", "link-local", false},
    {"169.255.0.0", NULL, false},
    {"172.15.255.255", NULL, false},
    {"172.16.0.0", "private", false},
    {"172.31.255.255", "private", false},
    {"172.32.0.0", NULL, false},
    {"192.0.0.1", "reserved", false},
    {"192.0.0.192", "metadata", false},
    {"192.0.2.1", "documentation", false},
    {"192.88.99.1", "6to4 relay", false},
    {"192.167.255.255", NULL, false},
    {"192.168.0.1", "private", false},
    {"192.169.0.0", NULL, false},
    {"198.17.255.255", NULL, false},
    {"198.18.0.0", "benchmark", false},
    {"198.19.255.255", "benchmark", false},
    {"198.20.0.0", NULL, false},
    {"198.51.100.7", "documentation", false},
    {"203.0.113.7", "documentation", false},
    {"223.255.255.255", NULL, false},
    {"224.0.0.1", "multicast", true},
    {"239.255.255.250", "multicast", true},
    {"240.0.0.1", "reserved", false},
    {"255.255.255.254", "reserved", false},
    {"255.255.255.255", "broadcast", true},
    {"::", "unspecified", true},
    {"::1", "loopback", false},
    {"::2", "IPv4-compatible", true},
    {"::127.0.0.1", "IPv4-compatible", true},
    {"::8.8.8.8", "IPv4-compatible", true},
    {"::ffff:127.0.0.1", "IPv4-mapped", true},
    {"::ffff:8.8.8.8", "IPv4-mapped", true},
    {"64:ff9b::8.8.8.8", NULL, false},
    {"64:ff9b::127.0.0.1", "loopback", true},
    {"64:ff9b::10.0.0.1", "private", false},
    {"64:ff9b::169.254.169.254", "metadata", true},
    {"64:ff9b:0:1::1", "reserved", false},
    {"64:ff9b:1::8.8.8.8", "local NAT64", true},
    {"100::1", "discard", true},
    {"2001::1", "Teredo", true},
    {"2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo", true},
    {"2001:2::1", "benchmark", false},
    {"2001:10::1", "reserved", false},
    {"2001:20::1", "reserved", false},
    {"2001:200::1", NULL, false},
    {"2001:db8::1", "documentation", false},
    {"2001:4860:4860::8888", NULL, false},
    {"2002:808:808::1", NULL, false},
    {"2002:7f00:1::1", "loopback", true},
    {"2002:a00:1::1", "private", false},
    {"2002:a9fe:a9fe::1", "metadata", true},
    {"2606:4700::1111", NULL, false},
    {"2606:4700::5efe:8.8.8.8", NULL, false},
    {"2606:4700::5efe:127.0.0.1", "loopback", true},
    {"2606:4700::200:5efe:10.0.0.1", "private", false},
    {"3fff::1", "documentation", false},
    {"3fff:1000::1", NULL, false},
    {"4000::1", "reserved", false},
    {"5f00::1", "reserved", false},
    {"fbff::1", "reserved", false},
    {"fc00::1", "private", false},
    {"fd00::1", "private", false},
    {"fd00:ec2::254", "metadata", false},
    {"fd20:ce::254", "metadata", false},
    {"fe80::1", "link-local", false},
    {"fe80::5efe:8.8.8.8", "link-local", false},
    {"febf::1", "link-local", false},
    {"fec0::1", "private", false},
    {"ff02::1", "multicast", true},
};

static void what_is_not_public_has_a_word(void)
{
    for (size_t i = 0; i < N(classes); i++) {
        struct network_address address;
        CU_ASSERT(network_address_parse(classes[i].address, strlen(classes[i].address), &address));
        const char *word = network_class(&address);
        if (strcmp(word ? word : "", classes[i].word ? classes[i].word : "") != 0 ||
            network_class_is_final(&address) != classes[i].is_final)
            fprintf(stderr, "%s: %s\n", classes[i].address, word ? word : "public");
        UNIT_TEXT(word ? word : "", classes[i].word ? classes[i].word : "");
        CU_ASSERT_EQUAL(network_class_is_final(&address), classes[i].is_final);
    }
    struct network_address none = {0};
    UNIT_TEXT(network_class(&none), "no address");
    CU_ASSERT(network_class_is_final(&none));
}

static void a_block_names_one_class_or_nothing(void)
{
    static const struct {
        const char *block;
        bool is_one;
    } rows[] = {
        {"10.0.0.0/8", true},     {"10.1.0.0/16", true}, {"8.0.0.0/7", false},
        {"10.0.0.0/7", false},    {"0.0.0.0/0", false},  {"8.8.8.8", false},
        {"192.168.0.0/16", true}, {"fc00::/7", true},    {"fc00::/6", false},
        {"::/0", false},          {"2002::/16", false},  {"127.0.0.1", true},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct network_block block;
        CU_ASSERT(network_block_parse(rows[i].block, strlen(rows[i].block), &block));
        CU_ASSERT_EQUAL(network_block_is_one_class(&block), rows[i].is_one);
    }
}

static const struct unit_test tests[] = {
    UNIT(one_notation_is_read),
    UNIT(a_nul_is_part_of_no_address),
    UNIT(blocks_have_what_begins_alike),
    UNIT(what_is_not_public_has_a_word),
    UNIT(a_block_names_one_class_or_nothing),
    {0},
};

int main(void)
{
    return unit_run("network_address", tests);
}
