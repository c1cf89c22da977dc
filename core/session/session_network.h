/* SPDX-License-Identifier: MIT */
/* session_network.h - the network lists of sessions, and the way out of their boxes. All functions
 * are for the thread that holds the loop. */
#ifndef LAZ_SESSION_SESSION_NETWORK_H
#define LAZ_SESSION_SESSION_NETWORK_H

#include "session/shared.h"

/* Makes the list of the settings: `rules`. Errors: LAZ_ECONFIG with the place of a rule that is
 * wrong; LAZ_ENOMEM. */
int laz_sessions_take_network(struct laz_session_shared *shared, struct laz_error *err);

#endif
