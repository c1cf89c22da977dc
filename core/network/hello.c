/* SPDX-License-Identifier: MIT */
/* hello.c - the server name of a TLS ClientHello.
 * Side: host.  Input trusted: no.
 *
 * RFC 8446 (records: 5.1, the message: 4.1.2), RFC 6066 (server names: 3), RFC 9849 (ECH).  A
 * client may cut the message into records, and records into segments, as it likes; so all that has
 * come is read anew each time.  What a server might read in another way is refused.
 *
 * A hello with the extension encrypted_client_hello is refused: whether there is a second server
 * name inside, or random bytes that only look so (GREASE), can be known by nobody but a server that
 * has the key. */
#include "network/network_private.h"

#include <string.h>

#define HELLO_MESSAGE 16384 /* most bytes of the message */

enum {
    HELLO_RECORD_CIPHER = 20, /* change_cipher_spec */
    HELLO_RECORD_HANDSHAKE = 22,
    HELLO_RECORD_DATA = 23, /* application_data */
    HELLO_CLIENT_HELLO = 1,
    HELLO_SERVER_HELLO = 2,
    HELLO_SERVER_NAME = 0, /* extensions */
    HELLO_ECH = 0xfe0d,
    HELLO_ECH_OLD = 0xffce, /* encrypted_server_name, its first form */
    HELLO_HOST_NAME = 0,
};

/* Bytes that are read one after the other; `failed`: there were too few. */
struct hello_bytes {
    const uint8_t *at;
    size_t left;
    bool failed;
};

static unsigned hello_number(struct hello_bytes *bytes, size_t size)
{
    unsigned value = 0;

    if (bytes->left < size) {
        bytes->failed = true;
        bytes->left = 0;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes->at[i];
    bytes->at += size;
    bytes->left -= size;
    return value;
}

/* As many bytes as the number of `size` bytes in front of them says. */
static struct hello_bytes hello_vector(struct hello_bytes *bytes, size_t size)
{
    size_t len = hello_number(bytes, size);
    struct hello_bytes inner = {bytes->at, len, false};

    if (bytes->failed || bytes->left < len) {
        bytes->failed = true;
        bytes->left = 0;
        return (struct hello_bytes){.failed = true};
    }
    bytes->at += len;
    bytes->left -= len;
    return inner;
}

static enum network_hello hello_wrong(const char **why, const char *text)
{
    *why = text;
    return NETWORK_HELLO_NOT_TLS;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Puts the message together, out of records. MORE: it is not complete; NAME: it is. */
static enum network_hello hello_join(struct hello_bytes in, uint8_t *message, size_t *n,
                                     size_t *used, const char **why)
{
    const uint8_t *from = in.at;
    size_t wanted = 4;

    for (*n = 0; *n < wanted;) {
        if (in.left && in.at[0] != HELLO_RECORD_HANDSHAKE)
            return hello_wrong(why, "what the client sent is not TLS");
        if (in.left > 1 && in.at[1] != 3)
            return hello_wrong(why, "the client's first record has an unknown version");
        if (in.left < 5)
            return NETWORK_HELLO_MORE;
        size_t len = (size_t)in.at[3] << 8 | in.at[4];
        if (!len || len > HELLO_MESSAGE)
            return hello_wrong(why, "the client's first record is empty or too long");
        size_t there = in.left - 5 < len ? in.left - 5 : len;
        size_t room = HELLO_MESSAGE - *n;
        memcpy(message + *n, in.at + 5, there < room ? there : room);
        *n += there < room ? there : room;
        if (*n >= 1 && message[0] != HELLO_CLIENT_HELLO)
            return hello_wrong(why, "the client's first message is no ClientHello");
        if (*n >= 4)
            wanted = 4 + ((size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3]);
        if (wanted > HELLO_MESSAGE) {
            *why = "the ClientHello is longer than 16 KiB";
            return NETWORK_HELLO_TOO_LONG;
        }
        if (*n > wanted || there > room || (*n == wanted && there < len))
            return hello_wrong(why, "something follows the ClientHello in its record");
        if (there < len)
            return NETWORK_HELLO_MORE;
        in.at += 5 + len;
        in.left -= 5 + len;
    }
    *used = (size_t)(in.at - from);
    return NETWORK_HELLO_NAME;
}

/* ---- the message ----------------------------------------------------------------------------- */

static enum network_hello hello_server_name(struct hello_bytes extension, char name[NETWORK_NAME],
                                            const char **why)
{
    struct hello_bytes list = hello_vector(&extension, 2);
    unsigned type = hello_number(&list, 1);
    struct hello_bytes host = hello_vector(&list, 2);

    if (extension.failed || extension.left || list.failed || list.left || !host.left)
        return hello_wrong(why, "the server name of the ClientHello is malformed, or not one");
    if (type != HELLO_HOST_NAME)
        return hello_wrong(why, "the server name of the ClientHello has an unknown type");
    if (!network_name_normal((const char *)host.at, host.left, name)) {
        *why = "the server name of the ClientHello is no name (an address is none)";
        return NETWORK_HELLO_NONE;
    }
    return NETWORK_HELLO_NAME;
}

/* The types that a hello has; each may be there once. */
struct hello_seen {
    uint8_t bits[65536 / 8];
};

static enum network_hello hello_extensions(struct hello_bytes all, char name[NETWORK_NAME],
                                           const char **why)
{
    struct hello_seen seen = {{0}};
    enum network_hello said = NETWORK_HELLO_NONE;
    bool is_hidden = false;

    *why = "the ClientHello has no server name";
    while (all.left) {
        unsigned type = hello_number(&all, 2);
        struct hello_bytes extension = hello_vector(&all, 2);
        if (all.failed)
            return hello_wrong(why, "the extensions of the ClientHello are malformed");
        if (seen.bits[type / 8] >> type % 8 & 1)
            return hello_wrong(why, "an extension of the ClientHello is there twice");
        seen.bits[type / 8] |= (uint8_t)(1u << type % 8);
        is_hidden |= type == HELLO_ECH || type == HELLO_ECH_OLD;
        if (type == HELLO_SERVER_NAME) {
            said = hello_server_name(extension, name, why);
            if (said == NETWORK_HELLO_NOT_TLS)
                return said;
        }
    }
    if (!is_hidden)
        return said;
    *why = "the ClientHello has the extension encrypted_client_hello (ECH), in which another "
           "server name may be: turn it off in the client";
    return NETWORK_HELLO_HIDDEN;
}

static enum network_hello hello_message(struct hello_bytes message, char name[NETWORK_NAME],
                                        const char **why)
{
    hello_number(&message, 4);
    unsigned version = hello_number(&message, 2);
    for (size_t i = 0; i < 8; i++)
        hello_number(&message, 4); /* random */
    struct hello_bytes session = hello_vector(&message, 1);
    struct hello_bytes suites = hello_vector(&message, 2);
    struct hello_bytes compressions = hello_vector(&message, 1);

    if (message.failed || version >> 8 != 3 || session.left > 32 || !suites.left ||
        suites.left % 2 || !compressions.left)
        return hello_wrong(why, "the ClientHello is malformed");
    if (!message.left) {
        *why = "the ClientHello has no server name";
        return NETWORK_HELLO_NONE;
    }
    struct hello_bytes extensions = hello_vector(&message, 2);
    if (message.failed || message.left)
        return hello_wrong(why, "the extensions of the ClientHello are malformed");
    return hello_extensions(extensions, name, why);
}

enum network_hello network_hello(const void *data, size_t len, char name[NETWORK_NAME],
                                 size_t *used, const char **why)
{
    uint8_t message[HELLO_MESSAGE];
    size_t n;
    struct hello_bytes in = {data, len < NETWORK_HELLO_BYTES ? len : NETWORK_HELLO_BYTES, false};

    *name = '\0';
    *why = "";
    *used = 0;
    enum network_hello said = hello_join(in, message, &n, used, why);
    if (said == NETWORK_HELLO_MORE && len >= NETWORK_HELLO_BYTES) {
        *why = "the ClientHello is cut into too many records";
        return NETWORK_HELLO_TOO_LONG;
    }
    if (said == NETWORK_HELLO_NAME)
        said = hello_message((struct hello_bytes){message, n, false}, name, why);
    if (said == NETWORK_HELLO_NAME)
        *why = "";
    else
        *name = '\0';
    return said;
}

/* ---- a second one ---------------------------------------------------------------------------- */

/* RFC 8446, 4.1.3: the random of a ServerHello that asks for another ClientHello. */
static const uint8_t hello_retry[32] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

enum network_answer network_answer(const uint8_t *data, size_t len)
{
    const size_t whole = len < NETWORK_ANSWER_BYTES ? len : NETWORK_ANSWER_BYTES;

    if (len && data[0] != HELLO_RECORD_HANDSHAKE)
        return NETWORK_ANSWER_FINAL;
    /* A record of it that ends before the random does: that cannot be seen from here. */
    if (len >= 5 && ((size_t)data[3] << 8 | data[4]) < NETWORK_ANSWER_BYTES - 5)
        return NETWORK_ANSWER_RETRY;
    if (whole < NETWORK_ANSWER_BYTES)
        return NETWORK_ANSWER_MORE;
    return data[5] == HELLO_SERVER_HELLO &&
                   memcmp(data + NETWORK_ANSWER_BYTES - 32, hello_retry, 32) == 0
               ? NETWORK_ANSWER_RETRY
               : NETWORK_ANSWER_FINAL;
}

enum network_hello network_hello_again(const void *data, size_t len, char name[NETWORK_NAME],
                                       const char **why)
{
    struct hello_bytes in = {data, len, false};
    size_t used;

    *name = '\0';
    *why = "";
    if (len > NETWORK_HELLO_BYTES) {
        *why = "the second ClientHello does not come";
        return NETWORK_HELLO_TOO_LONG;
    }
    /* What a client sends before it has read the request: RFC 8446, 4.2.10 and D.4. */
    while (in.left && (in.at[0] == HELLO_RECORD_CIPHER || in.at[0] == HELLO_RECORD_DATA)) {
        const size_t record = in.left < 5 ? SIZE_MAX : 5 + ((size_t)in.at[3] << 8 | in.at[4]);
        if (in.left < record)
            return NETWORK_HELLO_MORE;
        in.at += record;
        in.left -= record;
    }
    return in.left ? network_hello(in.at, in.left, name, &used, why) : NETWORK_HELLO_MORE;
}
