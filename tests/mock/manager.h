/* SPDX-License-Identifier: MIT */
/* manager.h (tests) - a manager of the tests' own on a private bus, in place of `systemd --user`.
 *
 * It listens where systemd-run looks first ($XDG_RUNTIME_DIR/systemd/private), speaks the server's
 * side of D-Bus (the D-Bus specification: authentication, message format), checks what
 * StartTransientUnit asks for, and answers as the test wants. */
#ifndef LAZ_TESTS_MANAGER_H
#define LAZ_TESTS_MANAGER_H

#include <stdbool.h>
#include <sys/types.h>

enum manager_way {
    MANAGER_GRANTS,   /* moves the process (if it has a group), answers, reports the job as done */
    MANAGER_REFUSES,  /* answers with an error */
    MANAGER_FAILS,    /* answers, and reports that the job failed */
    MANAGER_HANGS,    /* never answers the call */
    MANAGER_IS_MUTE,  /* not even the authentication */
    MANAGER_BABBLES,  /* answers with bytes that are not message */
    MANAGER_VANISHES, /* closes the connection in place of an answer */
};

/* What was asked for, in the order of manager_asked. */
struct manager_asked {
    pid_t pid;         /* of the process at the other end */
    bool is_scope;     /* StartTransientUnit of a unit "*.scope" */
    bool is_delegated; /* the property Delegate is true */
    bool has_pid;      /* the property PIDs is that process, and no other */
};

struct manager {
    pid_t pid;
    int told; /* struct manager_asked for each call */
};

/* Starts it as a child, with its socket below `directory` ("XDG_RUNTIME_DIR"), which any user can
 * then use. `group`: directory of the group into which it moves processes; NULL: none. */
bool manager_start(struct manager *manager, const char *directory, const char *group,
                   enum manager_way way);
/* The next call; false: there was none. Waits for it. */
bool manager_asked(const struct manager *manager, struct manager_asked *asked);
void manager_end(struct manager *manager);

#endif
