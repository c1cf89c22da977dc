/* SPDX-License-Identifier: MIT */
/* gate_none.c - in place of gate.c in a build without TLS. */
#include "serve/serve_private.h"

int serve_gate_begin(struct laz_server *first, const char *address, struct laz_error *err)
{
    (void)first, (void)address;
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "--listen tls://: this lazaret was built without TLS");
}

const char *serve_gate_address(const struct laz_server *first)
{
    (void)first;
    return NULL;
}

void serve_gate_end(struct laz_server *first)
{
    (void)first;
}
