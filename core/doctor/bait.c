/* SPDX-License-Identifier: MIT */
/* bait.c - canaries and listeners, which code in a box must not reach, or by a network list only.
 *
 * Each is made by the doctor, has an unpredictable name and random content, and is removed at the
 * end. There are two canaries: one in the home directory, where the caller's secrets are, and one
 * in a directory that every uid can enter, because a session started by root has a uid of its own,
 * which the home's mode may keep out even without a box. */
#include "doctor/doctor_private.h"

#include "base/path.h"
#include "base/random.h"
#include "os/bait.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/io.h"
#include "os/sockets.h"
#include "os/users.h"

#include <stdlib.h>
#include <string.h>

static int bait_canary(const struct doctor_bait *bait, const char *path, struct laz_error *err)
{
    return laz_os_write_file(path, bait->secret, strlen(bait->secret), 0644, err);
}

/* Do the settings make the path visible to code? Then it cannot serve as a secret. */
static bool bait_is_shown(const struct laz_settings_values *values, const char *path)
{
    return laz_settings_shows(values, path) || laz_path_is_below(path, "/usr");
}

/* Without a writable home only the other canary is used. */
static void bait_home(struct doctor_bait *bait, const struct laz_settings_values *values)
{
    const char *home = getenv("HOME");

    if (!home || home[0] != '/' || bait_is_shown(values, home))
        return;
    bait->home = laz_strdupf("%s/.lazaret-doctor-%.16s", home, bait->secret);
    bait->home_new = laz_strdupf("%s/.lazaret-doctor-%.16s-new", home, bait->secret);
    if (bait->home && bait_canary(bait, bait->home, NULL)) {
        free(bait->home);
        bait->home = NULL;
    }
}

static int bait_port(int *fd, uint16_t *port, struct laz_error *err)
{
    int rc = laz_os_bait_port(fd, port, err);

    return rc ? rc : laz_os_nonblock(*fd, true, err);
}

int doctor_bait_init(struct doctor_bait *bait, const char *below,
                     const struct laz_settings_values *values, struct laz_error *err)
{
    *bait = (struct doctor_bait){.listeners = {-1, -1, -1, -1}};
    int rc = laz_random_name(bait->secret, sizeof bait->secret - 1, err);
    if (rc)
        return rc;
    bait->directory = laz_strdupf("%s/doctor", below);
    bait->canary = laz_strdupf("%s/doctor/canary", below);
    bait->fresh = laz_strdupf("%s/doctor/new", below);
    bait->socket = laz_strdupf("%s/doctor/socket", below);
    bait->abstract = laz_strdupf("@lazaret-doctor-%.16s", bait->secret);
    if (!bait->directory || !bait->canary || !bait->fresh || !bait->socket || !bait->abstract)
        return laz_error_nomem(err);
    if ((rc = laz_os_make_directory(bait->directory, 0777, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err)) ||
        (rc = bait_canary(bait, bait->canary, err)) ||
        (rc = bait_port(&bait->listeners[0], &bait->port, err)) ||
        (rc = bait_port(&bait->listeners[3], &bait->other, err)) ||
        (rc = laz_os_bait_socket(bait->socket, &bait->listeners[1], err)))
        return rc;
    rc = laz_os_bait_socket(bait->abstract, &bait->listeners[2], err);
    if (rc == LAZ_ENOENT) { /* this system has no abstract sockets: do not try them */
        free(bait->abstract);
        bait->abstract = NULL;
    } else if (rc) {
        return rc;
    }
    bait_home(bait, values);
    return 0;
}

void doctor_bait_fini(struct doctor_bait *bait)
{
    for (size_t i = 0; i < sizeof bait->listeners / sizeof *bait->listeners; i++)
        if (bait->directory)
            laz_os_close(&bait->listeners[i]);
    char *const made[] = {bait->home, bait->home_new, bait->directory};
    char *const others[] = {bait->canary, bait->fresh, bait->socket, bait->abstract};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (made[i])
            laz_os_remove_tree(made[i]);
        free(made[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        free(others[i]);
    *bait = (struct doctor_bait){0};
}

bool doctor_bait_take(const char *path)
{
    struct laz_look look;

    if (!path || laz_os_look(path, false, &look) != 0)
        return false;
    laz_os_remove_tree(path);
    return true;
}

void doctor_bait_answer(struct doctor_bait *bait)
{
    const int ports[] = {bait->listeners[0], bait->listeners[3]};
    int fd;

    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++)
        while ((fd = laz_os_accept(ports[i])) >= 0) {
            bait->answered++;
            (void)laz_os_send(fd, bait->secret, strlen(bait->secret));
            laz_os_close(&fd);
        }
}

static void bait_ready(void *user, uint32_t events)
{
    (void)events;
    doctor_bait_answer(user);
}

int doctor_bait_watch(struct doctor_bait *bait, struct laz_loop *loop, struct doctor_watch *watch,
                      struct laz_error *err)
{
    const int ports[] = {bait->listeners[0], bait->listeners[3]};

    *watch = (struct doctor_watch){{NULL}};
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
        watch->of[i] = laz_io_start(loop, ports[i], LAZ_IO_READ, bait_ready, bait);
        if (!watch->of[i])
            return laz_io_error(err, "the server of the doctor");
    }
    return 0;
}

void doctor_bait_unwatch(struct doctor_watch *watch)
{
    for (size_t i = 0; i < sizeof watch->of / sizeof *watch->of; i++)
        laz_io_stop(watch->of[i]);
}
