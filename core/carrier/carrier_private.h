/* SPDX-License-Identifier: MIT */
/* carrier_private.h - what the files of core/carrier share. Private to this directory. */
#ifndef LAZ_CARRIER_CARRIER_PRIVATE_H
#define LAZ_CARRIER_CARRIER_PRIVATE_H

#include "carrier/carrier.h"

/* A build for tests can take one safeguard away, to show that the simulation notices
 * (tests/carrier/mutants.sh). Everywhere else all are in force. */
#define CARRIER_ALL_IN_FORCE 0
#define CARRIER_DEDUP        1 /* a frame that comes twice counts once */
#define CARRIER_GAPS         2 /* a missing number ends the link */
#define CARRIER_LEASE        3 /* a caller that is not heard of loses its link */
#define CARRIER_IDEMPOTENT   4 /* an opening that comes twice gets the same link */
#define CARRIER_CREDIT       5 /* nothing is sent without credit */
#ifndef CARRIER_WITHOUT
#define CARRIER_WITHOUT CARRIER_ALL_IN_FORCE
#endif
#define CARRIER_HAS(safeguard) (CARRIER_WITHOUT != (safeguard))

/* link.c: has the link end; the peer is told unless `is_silent`. */
void laz_link_stop(struct laz_link *link, enum laz_link_reason reason, bool is_silent);
/* link_receive.c: a frame of this link has come while it had not ended. */
void laz_link_take(struct laz_link *link, uint64_t now_ms, const struct laz_carrier_frame *frame);
/* link_receive.c: what the peer may have sent in all, by what was read so far. */
uint64_t laz_link_credit(const struct laz_link *link);

#endif
