/* SPDX-License-Identifier: MIT */
/* host.h - a host in the same process as the runtime: its tools and services, for tests. */
#ifndef LAZ_TESTS_CONTRACT_HOST_H
#define LAZ_TESTS_CONTRACT_HOST_H

#include "base/buf.h"

#include <lazaret/runtime.h>

#include <pthread.h>

struct contract_host {
    struct laz_agent_services services;
    void (*left)(struct contract_host *host, int status); /* the code ended its process */
    struct laz_buf answer;                                /* of the last tool call */
    void *user;
    /* Calls that were begun: answered when the runtime looks, the last one first. One thread may
     * begin them while another looks. */
    pthread_mutex_t lock;
    struct contract_open {
        struct contract_open *next;
        void *user;
        int rc;
        struct laz_buf answer;
    } * open, *taken;    /* taken: the answer that was handed out last */
    size_t n_open, room; /* how many are open, and may be */
    int bell[2];         /* a pipe: readable while calls are open */
};

void contract_host_init(struct contract_host *host, size_t max_message);
void contract_host_fini(struct contract_host *host);
/* The tools that cases.h describes. */
const struct laz_tool_signature *contract_host_tools(size_t *n);

#endif
