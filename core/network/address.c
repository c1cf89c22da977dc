/* SPDX-License-Identifier: MIT */
/* address.c - addresses of the internet protocols, and which of them are public.
 * Side: host.  Input trusted: no.
 *
 * The table of classes decides what a name may resolve to.  What it does not know is not public. */
#include "network/network_private.h"

#include <stdio.h>
#include <string.h>

/* ---- notation -------------------------------------------------------------------------------- */

/* A decimal from 0 to `most` without leading zeros. Returns its digits, 0: there is none. */
static size_t address_decimal(const char *text, size_t len, unsigned most, unsigned *value)
{
    size_t n = 0;

    for (*value = 0; n < len && text[n] >= '0' && text[n] <= '9'; n++) {
        *value = *value * 10 + (unsigned)(text[n] - '0');
        if (*value > most || (n && text[0] == '0'))
            return 0;
    }
    return n;
}

static bool address_parse_4(const char *text, size_t len, uint8_t bytes[4])
{
    for (size_t i = 0; i < 4; i++) {
        unsigned value;
        if (i && (!len || *text != '.'))
            return false;
        text += i > 0;
        len -= i > 0;
        size_t n = address_decimal(text, len, 255, &value);
        if (!n)
            return false;
        bytes[i] = (uint8_t)value;
        text += n;
        len -= n;
    }
    return !len;
}

/* A group of 1 to 4 hexadecimal digits. Returns its digits, 0: there is none. */
static size_t address_group(const char *text, size_t len, unsigned *value)
{
    size_t n = 0;

    for (*value = 0; n < len; n++) {
        int digit = text[n] >= '0' && text[n] <= '9'   ? text[n] - '0'
                    : text[n] >= 'a' && text[n] <= 'f' ? text[n] - 'a' + 10
                    : text[n] >= 'A' && text[n] <= 'F' ? text[n] - 'A' + 10
                                                       : -1;
        if (digit < 0)
            break;
        if (n == 4)
            return 0;
        *value = *value << 4 | (unsigned)digit;
    }
    return n;
}

/* Groups with ':' between them; the last may be an IPv4 address. Returns the bytes that they are,
 * -1: they are malformed. */
static int address_groups(const char *text, size_t len, uint8_t bytes[16], bool may_end_in_4)
{
    size_t at = 0;

    if (!len)
        return 0;
    for (;;) {
        unsigned value;
        size_t n = address_group(text, len, &value);
        if (n < len && text[n] == '.') {
            if (!may_end_in_4 || at + 4 > 16 || !address_parse_4(text, len, bytes + at))
                return -1;
            return (int)at + 4;
        }
        if (!n || at + 2 > 16)
            return -1;
        bytes[at++] = (uint8_t)(value >> 8);
        bytes[at++] = (uint8_t)value;
        if (n == len)
            return (int)at;
        if (text[n] != ':')
            return -1;
        text += n + 1;
        len -= n + 1;
    }
}

static bool address_parse_6(const char *text, size_t len, uint8_t bytes[16])
{
    uint8_t tail[16];
    size_t gap = 0;

    while (gap + 1 < len && !(text[gap] == ':' && text[gap + 1] == ':'))
        gap++;
    if (gap + 1 >= len)
        return address_groups(text, len, bytes, true) == 16;
    int before = address_groups(text, gap, bytes, false);
    int behind = address_groups(text + gap + 2, len - gap - 2, tail, true);
    if (before < 0 || behind < 0 || before + behind > 14)
        return false;
    memset(bytes + before, 0, 16 - (size_t)before);
    memcpy(bytes + 16 - behind, tail, (size_t)behind);
    return true;
}

bool network_address_parse(const char *text, size_t len, struct network_address *address)
{
    *address = (struct network_address){.family = 4};
    if (len > 45) /* of the longest notation, six groups and an IPv4 address */
        return false;
    if (address_parse_4(text, len, address->bytes))
        return true;
    *address = (struct network_address){.family = 6};
    return address_parse_6(text, len, address->bytes);
}

/* The longest run of groups that are 0, from two on. */
static void address_gap(const uint8_t bytes[16], size_t *from, size_t *n)
{
    *from = *n = 0;
    for (size_t i = 0; i < 8; i++) {
        size_t run = 0;
        while (i + run < 8 && !bytes[2 * (i + run)] && !bytes[2 * (i + run) + 1])
            run++;
        if (run > 1 && run > *n) {
            *from = i;
            *n = run;
        }
    }
}

void network_address_format(const struct network_address *address, char text[NETWORK_ADDRESS_TEXT])
{
    const uint8_t *b = address->bytes;
    size_t from, n, len = 0;

    if (address->family != 6) {
        snprintf(text, NETWORK_ADDRESS_TEXT, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
        return;
    }
    address_gap(b, &from, &n);
    for (size_t i = 0; i < 8; i++) {
        if (n && i == from) {
            len += (size_t)snprintf(text + len, NETWORK_ADDRESS_TEXT - len, "::");
            i += n - 1;
            continue;
        }
        len += (size_t)snprintf(text + len, NETWORK_ADDRESS_TEXT - len,
                                i && i != from + n ? ":%x" : "%x",
                                (unsigned)b[2 * i] << 8 | b[2 * i + 1]);
    }
}

bool network_address_equal(const struct network_address *a, const struct network_address *b)
{
    return a->family == b->family && !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool block_same(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned rest = bits % 8;

    return !memcmp(a, b, bits / 8) && (!rest || !((a[bits / 8] ^ b[bits / 8]) >> (8 - rest)));
}

bool network_block_has(const struct network_block *block, const struct network_address *address)
{
    return block->address.family == address->family &&
           block_same(block->address.bytes, address->bytes, block->bits);
}

bool network_block_parse(const char *text, size_t len, struct network_block *block)
{
    const char *slash = memchr(text, '/', len);
    size_t n = slash ? (size_t)(slash - text) : len;
    unsigned most, bits;

    if (!network_address_parse(text, n, &block->address))
        return false;
    bits = most = block->address.family == 4 ? 32 : 128;
    if (slash &&
        (n + 1 == len || address_decimal(slash + 1, len - n - 1, most, &bits) != len - n - 1))
        return false;
    block->bits = (uint8_t)bits;
    for (unsigned i = bits; i < most; i++)
        if (block->address.bytes[i / 8] & 0x80u >> i % 8)
            return false;
    return true;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* What permits an address of the class. */
enum class_reach {
    CLASS_PLAIN, /* a rule that names it, or deny_private = false */
    CLASS_NAMED, /* a rule that names it */
    CLASS_NEVER, /* nothing */
};

struct class_row {
    struct network_block block;
    const char *word; /* NULL: public */
    enum class_reach reach;
    uint8_t carries; /* where an IPv4 address begins that is judged as well; 0: nowhere */
};

#define CLASS_4(bits, ...)                                                                         \
    {                                                                                              \
        {4, {__VA_ARGS__}}, bits                                                                   \
    }
#define CLASS_6(bits, ...)                                                                         \
    {                                                                                              \
        {6, {__VA_ARGS__}}, bits                                                                   \
    }

/* The first row that has the address. */
static const struct class_row classes[] = {
    /* clang-format off */
    {CLASS_4(8, 0), "unspecified", CLASS_NEVER, 0},                          /* RFC 1122, 3.2.1.3 */
    {CLASS_4(8, 10), "private", CLASS_PLAIN, 0},                            /* RFC 1918 */
    {CLASS_4(32, 100, 100, 100, 200), "metadata", CLASS_NAMED, 0},           /* of a cloud, in RFC 6598 */
    {CLASS_4(10, 100, 64), "carrier-grade NAT", CLASS_PLAIN, 0},            /* RFC 6598 */
    {CLASS_4(8, 127), "loopback", CLASS_NAMED, 0},                           /* RFC 1122, 3.2.1.3 */
    {CLASS_4(32, 168, 63, 129, 16), "metadata", CLASS_NAMED, 0},             /* of a cloud, a public one */
    {CLASS_4(32, 169, 254, 169, 254), "metadata", CLASS_NAMED, 0},           /* of most clouds */
    {CLASS_4(16, 169, 254), "link-local", CLASS_NAMED, 0},                   /* RFC 3927 */
    {CLASS_4(12, 172, 16), "private", CLASS_PLAIN, 0},                      /* RFC 1918 */
    {CLASS_4(32, 192, 0, 0, 192), "metadata", CLASS_NAMED, 0},               /* of a cloud, in RFC 6890 */
    {CLASS_4(24, 192, 0, 0), "reserved", CLASS_PLAIN, 0},                   /* RFC 6890 */
    {CLASS_4(24, 192, 0, 2), "documentation", CLASS_PLAIN, 0},              /* RFC 5737 */
    {CLASS_4(24, 192, 88, 99), "6to4 relay", CLASS_PLAIN, 0},               /* RFC 7526 */
    {CLASS_4(16, 192, 168), "private", CLASS_PLAIN, 0},                     /* RFC 1918 */
    {CLASS_4(15, 198, 18), "benchmark", CLASS_PLAIN, 0},                    /* RFC 2544 */
    {CLASS_4(24, 198, 51, 100), "documentation", CLASS_PLAIN, 0},           /* RFC 5737 */
    {CLASS_4(24, 203, 0, 113), "documentation", CLASS_PLAIN, 0},            /* RFC 5737 */
    {CLASS_4(4, 224), "multicast", CLASS_NEVER, 0},                          /* RFC 5771 */
    {CLASS_4(32, 255, 255, 255, 255), "broadcast", CLASS_NEVER, 0},          /* RFC 919 */
    {CLASS_4(4, 240), "reserved", CLASS_PLAIN, 0},                          /* RFC 1112, 4 */
    {CLASS_4(0, 0), NULL, CLASS_PLAIN, 0},

    {CLASS_6(128, 0), "unspecified", CLASS_NEVER, 0},                        /* RFC 4291, 2.5.2 */
    {CLASS_6(128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
     "loopback", CLASS_NAMED, 0},                                            /* RFC 4291, 2.5.3 */
    {CLASS_6(96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff),
     "IPv4-mapped", CLASS_NEVER, 0},                                        /* RFC 4291, 2.5.5.2 */
    {CLASS_6(96, 0), "IPv4-compatible", CLASS_NEVER, 0},                    /* RFC 4291, 2.5.5.1 */
    {CLASS_6(96, 0, 0x64, 0xff, 0x9b), NULL, CLASS_PLAIN, 12},              /* RFC 6052: NAT64 */
    {CLASS_6(48, 0, 0x64, 0xff, 0x9b, 0, 1), "local NAT64", CLASS_NEVER, 0}, /* RFC 8215 */
    {CLASS_6(64, 1), "discard", CLASS_NEVER, 0},                             /* RFC 6666 */
    {CLASS_6(32, 0x20, 1, 0, 0), "Teredo", CLASS_NEVER, 0},                  /* RFC 4380 */
    {CLASS_6(48, 0x20, 1, 0, 2), "benchmark", CLASS_PLAIN, 0},              /* RFC 5180 */
    {CLASS_6(23, 0x20, 1, 0, 0), "reserved", CLASS_PLAIN, 0},               /* RFC 2928 */
    {CLASS_6(32, 0x20, 1, 0x0d, 0xb8), "documentation", CLASS_PLAIN, 0},    /* RFC 3849 */
    {CLASS_6(16, 0x20, 2), NULL, CLASS_PLAIN, 2},                           /* RFC 3056: 6to4 */
    {CLASS_6(20, 0x3f, 0xff), "documentation", CLASS_PLAIN, 0},             /* RFC 9637 */
    {CLASS_6(3, 0x20), NULL, CLASS_PLAIN, 0},                               /* RFC 4291, 2.4 */
    {CLASS_6(32, 0xfd, 0, 0x0e, 0xc2), "metadata", CLASS_NAMED, 0},          /* of a cloud, in RFC 4193 */
    {CLASS_6(128, 0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54),
     "metadata", CLASS_NAMED, 0},                                            /* of a cloud, in RFC 4193 */
    {CLASS_6(7, 0xfc), "private", CLASS_PLAIN, 0},                          /* RFC 4193 */
    {CLASS_6(10, 0xfe, 0x80), "link-local", CLASS_NAMED, 0},                 /* RFC 4291, 2.5.6 */
    {CLASS_6(10, 0xfe, 0xc0), "private", CLASS_PLAIN, 0},                   /* RFC 3879 */
    {CLASS_6(8, 0xff), "multicast", CLASS_NEVER, 0},                         /* RFC 4291, 2.7 */
    {CLASS_6(0, 0), "reserved", CLASS_PLAIN, 0},                            /* RFC 4291, 2.4 */
    /* clang-format on */
};

static const struct class_row class_none = {.word = "no address", .reach = CLASS_NEVER};

static const struct class_row *class_own(const struct network_address *address)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (network_block_has(&classes[i].block, address))
            return &classes[i];
    return &class_none;
}

/* An interface identifier of ISATAP: 0000:5efe or 0200:5efe, and an IPv4 address (RFC 5214). */
static bool class_is_isatap(const struct network_address *address)
{
    const uint8_t *b = address->bytes;

    return address->family == 6 && !(b[8] & 0xfd) && !b[9] && b[10] == 0x5e && b[11] == 0xfe;
}

static const struct class_row *class_of(const struct network_address *address)
{
    const struct class_row *own = class_own(address);
    size_t at = own->carries ? own->carries : class_is_isatap(address) ? 12 : 0;

    if (!at || own->reach != CLASS_PLAIN)
        return own;
    struct network_address inner = {.family = 4};
    memcpy(inner.bytes, address->bytes + at, 4);
    const struct class_row *carried = class_own(&inner);
    return carried->word && (!own->word || carried->reach != CLASS_PLAIN) ? carried : own;
}

const char *network_class(const struct network_address *address)
{
    return class_of(address)->word;
}

bool network_class_is_final(const struct network_address *address)
{
    const struct class_row *row = class_of(address);

    /* A service of the host or its cloud can be named, but not in disguise. */
    return row->reach == CLASS_NEVER ||
           (row->reach == CLASS_NAMED && row->block.address.family != address->family);
}

bool network_class_is_named(const struct network_address *address)
{
    return class_of(address)->reach != CLASS_PLAIN;
}

bool network_block_is_one_class(const struct network_block *block)
{
    const struct class_row *row = class_of(&block->address);

    return row->word && row->block.address.family == block->address.family &&
           row->block.bits <= block->bits;
}
