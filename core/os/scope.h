/* SPDX-License-Identifier: MIT */
/* scope.h - a part of the tree of control groups that the user's systemd delegates on request.
 *
 * An ordinary user has no groups in a login session, which belongs to the system's manager.  The
 * user's own manager (`systemd --user`) makes a *transient scope* with delegation for a process of
 * that user: `systemd-run --scope` asks for it over D-Bus, waits for the answer, and then becomes
 * the program that it was given, here the launcher (launcher.h).  So this process speaks no D-Bus,
 * needs no library for it, and ends the question by killing its child.  Nothing here blocks.  The
 * host itself stays where it is. */
#ifndef LAZ_OS_SCOPE_H
#define LAZ_OS_SCOPE_H

#include "os/cgroup.h"
#include "os/spawner.h"

struct laz_scope;

/* Begins to ask; `agent`: the program of the launcher. LAZ_EREFUSED: nothing can be asked here, and
 * `err` says why in one line. */
int laz_scope_ask(struct laz_spawner *spawner, const char *agent, struct laz_scope **scope,
                  struct laz_error *err);
/* Readable when there is an answer, or there will be none. Borrowed until laz_scope_free. */
int laz_scope_fd(const struct laz_scope *scope);
/* From here on `groups`, of which none may have been made, makes its groups there. Errors leave it
 * as it was; LAZ_EREFUSED: the words of systemd-run, or what is missing in what it gave. */
int laz_scope_take(struct laz_scope *scope, struct laz_cgroups *groups, struct laz_error *err);
/* Ends a question that is open; the scope ends with its last process. */
void laz_scope_free(struct laz_scope *scope);

#endif
