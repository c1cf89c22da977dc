/* SPDX-License-Identifier: MIT */
/* session_credentials.h - the credentials of sessions. All functions are for the thread that holds
 * the loop. */
#ifndef LAZ_SESSION_SESSION_CREDENTIALS_H
#define LAZ_SESSION_SESSION_CREDENTIALS_H

#include "credential/credential.h"
#include "session/session.h"

/* Those of a new session, which has its network list: of its options, or (NULL) of the settings.
 * Errors: LAZ_EINVAL, LAZ_ENOMEM. */
int laz_session_take_credentials(struct laz_session *session,
                                 const struct laz_credential_list *given, struct laz_error *err);
void laz_session_forget_credentials(struct laz_session *session);
/* A box of it is made: the proxy runs from now on, and boxes can trust it. Errors: as
 * laz_credentials_begin. */
int laz_session_begin_credentials(struct laz_session *session, struct laz_error *err);
/* What the proxy has said until now is known. */
void laz_session_catch_up_credentials(struct laz_session *session);
/* How often each was used becomes a part of the result (NULL: no result will tell it), and is
 * recorded. */
void laz_session_tell_credentials(struct laz_session *session, struct laz_result *result);
/* The same of those that the worker of a session on another machine says it has used. */
void laz_session_tell_far_credentials(struct laz_session *session, const struct laz_box_said *said,
                                      struct laz_result *result);

#endif
