/* SPDX-License-Identifier: MIT */
/* carrier_contract.h - what tests of carriers share: connections that write down what they hear,
 * and the cases that hold for each carrier (lazaret/carrier.h).
 *
 * The program says which plugin it is, and the options of a connection for those cases. */
#ifndef LAZ_TESTS_CARRIER_CONTRACT_H
#define LAZ_TESTS_CARRIER_CONTRACT_H

#include "unit.h"

#include <lazaret/carrier.h>

#include <pthread.h>

/* Who hears of a carrier; a list of what, in their order. */
struct ear {
    pthread_mutex_t lock;
    pthread_cond_t heard;
    char text[4096];
    unsigned n;
};

struct connection {
    struct ear ear;
    struct laz_carrier_services services;
    void *state;
};

extern const struct laz_carrier_ops *carrier_ops;
extern const char *carrier_options; /* of a connection in the cases below */

/* Runs the tests with the plugin that was built as .libs/NAME.so. An exit status. */
int carrier_run(const char *name, const char *suite, const struct unit_test *tests);

int connection_open(struct connection *connection, const char *options, struct laz_error *err);
void connection_close(struct connection *connection);
/* All before it was done by the broker. */
void connection_settle(struct connection *connection);
struct laz_carrier_subscription *subscribe(struct connection *connection, const char *subject,
                                           const char *queue);
int give(struct connection *connection, const char *subject, const char *reply, const char *text);

void ear_add(struct ear *ear, const char *what, const char *text, size_t len);
/* Until it has heard n things; until the text of what it has heard has this part. */
void ear_wait(struct ear *ear, unsigned n);
void ear_wait_for(struct ear *ear, const char *part);
void ear_received(void *user, const char *subject, const char *reply, const char *data, size_t len);
void ear_drained(void *user);

void contract_order_of_one_sender(void);
void contract_one_of_a_queue_group(void);
void contract_nobody_is_told(void);
void contract_what_has_come_is_received_before_drained(void);
void contract_no_subject_is_refused(void);
void contract_largest_messages(void);
void contract_threads_keep_their_order(void);
void contract_operations_in_a_callback(void);
void contract_close_in_the_middle(void);

#define CONTRACT_TESTS                                                                             \
    UNIT(contract_order_of_one_sender), UNIT(contract_one_of_a_queue_group),                       \
        UNIT(contract_nobody_is_told), UNIT(contract_what_has_come_is_received_before_drained),    \
        UNIT(contract_no_subject_is_refused), UNIT(contract_largest_messages),                     \
        UNIT(contract_threads_keep_their_order), UNIT(contract_operations_in_a_callback),          \
        UNIT(contract_close_in_the_middle)

#endif
