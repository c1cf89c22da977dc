/* SPDX-License-Identifier: MIT */
/* metrics_endpoint_none.c - this lazaret was built without libmicrohttpd. */
#include "telemetry/metrics.h"

#include <stddef.h>

int laz_endpoint_new(const char *listen, struct laz_endpoint **endpoint, struct laz_error *err)
{
    *endpoint = NULL;
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "'%.100s': this lazaret was built without libmicrohttpd, and serves "
                         "nothing by HTTP",
                         listen);
}

const char *laz_endpoint_address(const struct laz_endpoint *endpoint)
{
    (void)endpoint;
    return NULL;
}

void laz_endpoint_free(struct laz_endpoint *endpoint)
{
    (void)endpoint;
}
