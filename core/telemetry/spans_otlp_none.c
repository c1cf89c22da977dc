/* SPDX-License-Identifier: MIT */
/* spans_otlp_none.c - this lazaret was built without libcurl: no exporter can be made. */
#include "telemetry/spans_private.h"

int otlp_new(const char *url, const struct laz_strv *headers, struct otlp **otlp,
             struct laz_error *err)
{
    (void)headers;
    *otlp = NULL;
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "%.200s: this lazaret was built without libcurl, and sends no traces",
                         url);
}

void otlp_post(struct otlp *otlp, const struct laz_buf *body, const _Atomic uint64_t *until_us,
               struct otlp_answer *answer)
{
    (void)otlp, (void)body, (void)until_us;
    *answer = (struct otlp_answer){.body = LAZ_BUF_INIT};
}

void otlp_wake(struct otlp *otlp)
{
    (void)otlp;
}

void otlp_free(struct otlp *otlp)
{
    (void)otlp;
}
