/* SPDX-License-Identifier: MIT */
/* lazaret/carrier.h - carriers: what takes messages between callers and workers on many machines.
 *
 * A carrier delivers a message to who has subscribed to its subject, at most once.  It keeps
 * nothing: a message may be lost, and the host notices that by numbers of its own.  A carrier knows
 * nothing of sessions; what it is asked for is what a broker with subjects and queue groups has.
 *
 * A subject is tokens of [A-Za-z0-9_-] with dots between them, of 255 bytes at most.  In a
 * subscription the last token may be ">", which stands for one token or more.
 *
 * Since ABI 1.2. */
#ifndef LAZARET_CARRIER_H
#define LAZARET_CARRIER_H

#include <lazaret/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAZ_CARRIER_SUBJECT 255u /* bytes of a subject */
/* Bytes that each carrier has to take in one message: `open` fails where its broker does not. */
#define LAZ_CARRIER_MESSAGE ((size_t)528 << 10)

/* What was refused. */
#define LAZ_CARRIER_SEND      1u
#define LAZ_CARRIER_SUBSCRIBE 2u

struct laz_carrier_subscription; /* of the plugin */

/* What the host does for a carrier, and hears of it. All of these may be called on any thread of
 * the carrier, also at the same time, from before `open` has returned until `close` returns. None of
 * them waits. Texts are borrowed for the call. */
struct laz_carrier_services {
    size_t size;
    const struct laz_json_api *json;
    void *host; /* first argument of the functions below */
    void (*log)(void *host, uint32_t level, const char *text);

    /* It is connected, for the first time or again. What was subscribed to is subscribed to again
     * before that; what was sent or on its way meanwhile may be lost. */
    void (*connected)(void *host);
    /* The connection is lost; the carrier tries to connect again, however long it takes. */
    void (*disconnected)(void *host, const char *why);
    /* The subject may not be sent to, or subscribed to: `what` is LAZ_CARRIER_SEND or
     * LAZ_CARRIER_SUBSCRIBE. It comes some time after the call, which has returned 0. */
    void (*refused)(void *host, uint32_t what, const char *subject, const char *why);
    /* Nobody was subscribed to the subject of a message that had this reply subject. A broker may
     * say so only where this connection is subscribed to the reply subject. */
    void (*nobody)(void *host, const char *reply);
};

/* A message. Of one subscription they come one after the other, those of one sender in the order in
 * which they were sent; of several subscriptions possibly at the same time. On a thread of the
 * carrier: it must not wait for another message, and may call any operation but `close`. Everything
 * is borrowed for the call. `reply` is NULL where the message has none. */
typedef void (*laz_carrier_received)(void *user, const char *subject, const char *reply,
                                     const char *data, size_t len);

struct laz_carrier_ops {
    size_t size;
    uint32_t flags; /* 0 */
    uint32_t reserved;
    /* A connection with the options of its table, checked, defaults filled in, as a JSON object.
     * `services` lives until `close` has returned. It may wait to connect, for as long as an option
     * says. Errors: LAZ_ECONFIG (what is configured cannot be used: a wrong password, a broker whose
     * messages are too small), LAZ_EREFUSED (the broker does not let it in), LAZ_ETIMEOUT (nobody
     * answers), LAZ_EOS, LAZ_ENOMEM. Any thread. */
    int (*open)(const struct laz_carrier_services *services, const char *options,
                size_t options_len, void **state, struct laz_error *err);
    /* Has `received` called with each message to the subject. Of the subscriptions with the same
     * `queue`, in all processes, one that is the carrier's choice gets the message; NULL: this one
     * gets each. The strings are copied. *subscription is of the carrier, until `unsubscribe` has
     * called back or `close` has returned; it is set before the first message comes. A message that
     * is sent after this has returned, by this connection, reaches it. Any thread. Errors:
     * LAZ_EINVAL (no subject), LAZ_ENOMEM, LAZ_EOS. */
    int (*subscribe)(void *state, const char *subject, const char *queue,
                     laz_carrier_received received, void *user,
                     struct laz_carrier_subscription **subscription, struct laz_error *err);
    /* Ends a subscription: the broker gives it nothing more, what has come already is still
     * received, and then `drained` is called once, on any thread of the carrier or in here; after
     * that `received` is not called any more, and the subscription is gone. Any thread, once for
     * each subscription. `drained` may be NULL. */
    void (*unsubscribe)(void *state, struct laz_carrier_subscription *subscription,
                        void (*drained)(void *user), void *user);
    /* Sends a message, soon and without waiting. `reply` (NULL: none) is what the receiver is told,
     * and what services->nobody names. Everything is copied. 0: it may arrive. Errors, and nothing
     * was sent: LAZ_ETOOBIG (larger than the broker takes; up to LAZ_CARRIER_MESSAGE it must take),
     * LAZ_ECLOSED (not connected, and too much waits already), LAZ_EINVAL (no subject),
     * LAZ_ENOMEM. Any thread; what one thread sends keeps its order. */
    int (*send)(void *state, const char *subject, const char *reply, const char *data, size_t len,
                struct laz_error *err);
    /* Sends what was taken and not sent yet, as far as that takes no longer than a second, ends all
     * subscriptions without calling `drained`, and frees the connection. When it returns, no
     * callback runs, and none is called any more. Not in a callback; once; no other operation at the
     * same time or afterwards. */
    void (*close)(void *state);
};

#ifdef __cplusplus
}
#endif
#endif
