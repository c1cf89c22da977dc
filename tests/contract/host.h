/* SPDX-License-Identifier: MIT */
/* host.h - a host in the same process as the runtime: its tools and services, for tests. */
#ifndef LAZ_TESTS_CONTRACT_HOST_H
#define LAZ_TESTS_CONTRACT_HOST_H

#include "base/buf.h"

#include <lazaret/runtime.h>

#include <pthread.h>

struct contract_host {
    struct laz_agent_services services;
    void (*left)(struct contract_host *host, int status); /* the code ends its process */
    struct laz_buf answer;                                /* to the last tool call */
    void *user;
    /* Open calls, which are answered when the runtime asks for answers, the last one first. One
     * thread may begin calls while another asks. */
    pthread_mutex_t lock;
    struct contract_open {
        struct contract_open *next;
        void *user;
        int rc;
        struct laz_buf answer;
    } * open, *taken;    /* taken: the call whose answer was returned last */
    size_t n_open, room; /* number of open calls, and its limit */
    int bell[2];         /* a pipe: readable while calls are open */
};

void contract_host_init(struct contract_host *host, size_t max_message);
void contract_host_fini(struct contract_host *host);
/* The tools that cases.h describes. */
const struct laz_tool_signature *contract_host_tools(const char *language, size_t *n);

#endif
