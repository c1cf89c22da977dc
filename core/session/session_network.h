/* SPDX-License-Identifier: MIT */
/* session_network.h - the network lists of sessions, and the way out of their boxes. All functions
 * are for the thread that holds the loop. */
#ifndef LAZ_SESSION_SESSION_NETWORK_H
#define LAZ_SESSION_SESSION_NETWORK_H

#include "session/session.h"

/* The list of a new session: of its options, or (NULL) of the settings. Errors: LAZ_EINVAL,
 * LAZ_ENOMEM. */
int laz_session_take_network(struct laz_session *session, const struct laz_network_list *given,
                             struct laz_error *err);
void laz_session_forget_network(struct laz_session *session);
/* Its box has shown its token: makes the sockets of the host in it, and serves it. Errors: as
 * laz_box_listen, LAZ_ENOMEM. */
int laz_session_start_network(struct laz_session *session, struct laz_error *err);
/* The box is dropped: closes its connections. */
void laz_session_stop_network(struct laz_session *session);
/* What was refused becomes a part of the result, with a line of its output each, and is recorded.
 */
void laz_session_tell_denials(struct laz_session *session, struct laz_result *result);
/* No result will tell them: they are recorded. */
void laz_session_drop_denials(struct laz_session *session);

#endif
