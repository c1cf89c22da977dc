/* SPDX-License-Identifier: MIT */
/* uids.c - a uid of its own for each session, when lazaret runs as root.  System: Linux.
 *
 * With one shared uid sessions could signal and trace each other where no namespace separates them,
 * and one session could use up the processes of all.  A uid is taken by a lock on the byte with its
 * number, of one file that all engines share: so an engine needs one descriptor, however many uids
 * it has taken.  The lock belongs to the open file (fcntl(2), F_OFD_SETLK), and the kernel releases
 * it when its holder dies, so no uid is lost and none is assigned twice, by however many processes
 * of the machine.  An empty file with the number marks a uid as long as it is not known to be
 * free: it is made and removed under the lock.  Hosts that do not see each other's locks, in
 * containers for example, are kept apart by the size of the range; and a uid under which any
 * process runs is skipped, because what is left under a uid is killed in the end.
 *
 * The range "auto" is where nothing else usually is: below 2^31 (uid maps are written as signed
 * numbers by some tools), above subordinate uids (100000 to 600100000), containers of systemd
 * (524288 to 1879048191) and the ids that directory services assign (200000 to 2000200000).  In a
 * container whose map does not reach that far, it is a gap that neither people nor services use. */
#include "os/uids.h"

#include "base/buf.h"
#include "base/random.h"
#include "os/descriptors.h"
#include "os/posix/descriptors.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define UIDS_FIRST       2080000000u
#define UIDS_LAST        2147352575u /* above: files of foreign images (systemd), and 2^31 */
#define UIDS_SMALL_FIRST 60578u      /* between users of containers and dynamic users of systemd */
#define UIDS_SMALL_LAST  61183u
#define UIDS_MAX         4294967293u
#define UIDS_ROUNDS      10 /* with a pause between them, where the range is narrow */
#define UIDS_NARROW      16
#define UIDS_TRIES       65536u /* of a wide range, to find one that is not in use */
#define UIDS_LOOKED_AT   256    /* marks, searched for those of dead hosts */
#define UIDS_PATIENCE    1000   /* milliseconds, for a host that tidies up */
#define UIDS_LOCKS       "locks"

struct laz_uids {
    uint32_t first, last;
    char directory[32];
    int locks;       /* the file with a byte for each uid */
    uint32_t *taken; /* by this engine: its own locks do not keep it out */
    size_t n_taken;
};

/* Is the whole range mapped in the user namespace of this process? */
static bool uids_are_mapped(uint32_t first, uint32_t last)
{
    unsigned long long inside, outside, count;
    bool mapped = false;
    FILE *map = laz_posix_fopen("/proc/self/uid_map");

    if (!map)
        return errno == ENOENT; /* no user namespaces in this kernel */
    while (!mapped && fscanf(map, "%llu %llu %llu", &inside, &outside, &count) == 3)
        mapped = first >= inside && last < inside + count;
    (void)fclose(map);
    return mapped;
}

static bool uids_number(const char *text, size_t len, uint32_t *number)
{
    if (len == 0 || len > 10 || strspn(text, "0123456789") < len)
        return false;
    unsigned long long value = strtoull(text, NULL, 10);
    *number = (uint32_t)value;
    return value <= UINT32_MAX;
}

static int uids_range(struct laz_uids *uids, const char *range, struct laz_error *err)
{
    const char *dash;

    if (!range || strcmp(range, "auto") == 0) {
        uids->first = UIDS_FIRST;
        uids->last = UIDS_LAST;
        if (!uids_are_mapped(uids->first, uids->last)) {
            uids->first = UIDS_SMALL_FIRST;
            uids->last = UIDS_SMALL_LAST;
        }
    } else {
        dash = strchr(range, '-');
        if (!dash || !uids_number(range, (size_t)(dash - range), &uids->first) ||
            !uids_number(dash + 1, strlen(dash + 1), &uids->last) || uids->first == 0 ||
            uids->first > uids->last || uids->last > UIDS_MAX)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "sandbox.uids: expected \"auto\" or \"FIRST-LAST\" with numbers "
                                 "from 1 to %u, found \"%s\"",
                                 UIDS_MAX, range);
    }
    if (!uids_are_mapped(uids->first, uids->last))
        return laz_error_set(err, LAZ_ESETUP, 0,
                             "sandbox.uids: %u to %u are not all mapped in this container; set a "
                             "range that /proc/self/uid_map holds, or run lazaret as an ordinary "
                             "user",
                             uids->first, uids->last);
    return 0;
}

/* A directory that only root can enter, made when it does not exist. */
static bool uids_directory(struct laz_uids *uids, const char *path)
{
    struct stat st;

    errno = 0;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return false;
    if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != 0 || (st.st_mode & 077))
        return false;
    if (access(path, W_OK | X_OK) != 0)
        return false;
    snprintf(uids->directory, sizeof uids->directory, "%s", path);
    return true;
}

/* Opens the file of the locks. A time in the present keeps it from those that tidy up /tmp. 0, or
 * an errno. */
static int uids_open_locks(struct laz_uids *uids)
{
    char path[64];

    snprintf(path, sizeof path, "%s/" UIDS_LOCKS, uids->directory);
    uids->locks = laz_posix_above(open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    return uids->locks < 0 ? errno : futimens(uids->locks, NULL) ? errno : 0;
}

static void uids_path(const struct laz_uids *uids, uint32_t uid, char path[64])
{
    snprintf(path, 64, "%s/%u", uids->directory, uid);
}

static bool uids_has(const struct laz_uids *uids, uint32_t uid)
{
    for (size_t i = 0; i < uids->n_taken; i++)
        if (uids->taken[i] == uid)
            return true;
    return false;
}

static struct flock uids_byte(uint32_t uid, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)uid, .l_len = 1};
}

/* Sets the lock of a uid, or removes it. False when it is taken (*failed 0) or cannot be set. Who
 * takes a uid has F_WRLCK, who tidies up F_RDLCK. */
static bool uids_lock(const struct laz_uids *uids, uint32_t uid, short type, int *failed)
{
    struct flock lock = uids_byte(uid, type);

    *failed = 0;
    if (type != F_UNLCK && uids_has(uids, uid))
        return false;
    if (fcntl(uids->locks, F_OFD_SETLK, &lock) == 0)
        return true;
    *failed = errno == EAGAIN || errno == EACCES || errno == EINTR ? 0 : errno;
    return false;
}

/* Takes a uid. One that somebody tidies up is free in a moment, and not in use. */
static bool uids_lock_to_take(const struct laz_uids *uids, uint32_t uid, int *failed)
{
    static const struct timespec moment = {0, 1000000};

    for (int i = 0; i < UIDS_PATIENCE; i++) {
        struct flock lock = uids_byte(uid, F_WRLCK);
        if (uids_lock(uids, uid, F_WRLCK, failed))
            return true;
        if (*failed || uids_has(uids, uid) || fcntl(uids->locks, F_OFD_GETLK, &lock) != 0 ||
            lock.l_type == F_WRLCK)
            return false;
        nanosleep(&moment, NULL);
    }
    return false;
}

static void uids_unlock(const struct laz_uids *uids, uint32_t uid)
{
    int failed;

    (void)uids_lock(uids, uid, F_UNLCK, &failed);
}

/* Makes the mark of a uid that is locked. *made: there was none; else somebody died who held it, or
 * processes were left under it. 0, or an errno. */
static int uids_mark(const struct laz_uids *uids, uint32_t uid, bool *made)
{
    char path[64];

    uids_path(uids, uid, path);
    int fd = laz_posix_above(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    int failed = fd < 0 && errno != EEXIST ? errno : 0;
    *made = fd >= 0;
    laz_os_close(&fd);
    return failed;
}

static void uids_unmark(const struct laz_uids *uids, uint32_t uid)
{
    char path[64];

    uids_path(uids, uid, path);
    (void)unlink(path);
}

/* Does no process run under the uid, as far as this pid namespace shows? Without a process the
 * kernel does not even know the uid (getpriority(2), ESRCH). */
static bool uids_is_free(uint32_t uid)
{
    errno = 0;
    return getpriority(PRIO_USER, uid) == -1 && errno == ESRCH;
}

/* Removes marks whose uids are not locked, because their holders were killed. One whose uid still
 * has processes stays. */
static void uids_tidy(const struct laz_uids *uids)
{
    DIR *dir = laz_posix_opendir(uids->directory);
    struct dirent *entry;
    uint32_t uid;
    int failed;

    for (int i = 0; dir && i < UIDS_LOOKED_AT && (entry = readdir(dir)); i++) {
        if (!uids_number(entry->d_name, strlen(entry->d_name), &uid) ||
            !uids_lock(uids, uid, F_RDLCK, &failed))
            continue;
        if (uids_is_free(uid))
            uids_unmark(uids, uid);
        uids_unlock(uids, uid);
    }
    if (dir)
        (void)closedir(dir);
}

int laz_uids_new(const char *range, struct laz_uids **uids, struct laz_error *err)
{
    struct laz_uids *made;
    int rc;

    if (!laz_os_is_root())
        return laz_error_set(err, LAZ_EREFUSED, 0, "only root can give sessions uids of their own");
    made = calloc(1, sizeof *made);
    if (!made)
        return laz_error_nomem(err);
    made->locks = -1;
    rc = uids_range(made, range, err);
    /* All engines of the machine have to choose alike: a shortage does not lead elsewhere. */
    if (!rc && !uids_directory(made, "/run/lazaret-uids") &&
        (laz_errno_is_shortage(errno) || !uids_directory(made, "/tmp/lazaret-uids")))
        rc = laz_error_set(
            err, LAZ_ESETUP, errno,
            "uids of sessions are locked in /run/lazaret-uids or "
            "/tmp/lazaret-uids, and neither is, or can be created, a directory of root "
            "with mode 0700");
    int failed = rc ? 0 : uids_open_locks(made);
    if (failed)
        rc = laz_error_os(err, failed, "uids of sessions cannot be locked in %s", made->directory);
    if (rc) {
        laz_uids_free(made);
        return rc;
    }
    uids_tidy(made);
    *uids = made;
    return 0;
}

static bool uids_take_one(const struct laz_uids *uids, uint32_t start, uint32_t *uid, int *failed)
{
    const uint32_t count = uids->last - uids->first + 1;
    const uint64_t tries = count < UIDS_TRIES ? count : UIDS_TRIES;

    /* The best is one under which nothing runs. Where there is none left, one that its last session
     * returned is acceptable: its processes were killed, and may not be quite gone. */
    for (uint64_t i = 0; i < 2 * tries && !*failed; i++) {
        uint32_t candidate = uids->first + (uint32_t)((start + i % tries) % count);
        bool made = false;
        if (!uids_lock_to_take(uids, candidate, failed))
            continue;
        *failed = uids_mark(uids, candidate, &made);
        if (!*failed && (uids_is_free(candidate) || (made && i >= tries))) {
            *uid = candidate;
            return true;
        }
        if (made)
            uids_unmark(uids, candidate);
        uids_unlock(uids, candidate);
    }
    return false;
}

/* Others that look for a uid take a lock for a moment: in a narrow range, that looks as if all were
 * in use. */
int laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err)
{
    static const struct timespec moment = {0, 2000000};
    const int rounds = uids->last - uids->first < UIDS_NARROW ? UIDS_ROUNDS : 1;
    uint32_t start;
    int failed = 0;
    int rc = laz_random_bytes(&start, sizeof start, err);

    if (rc)
        return rc;
    uint32_t *taken = laz_grow(&uids->taken, &uids->n_taken, sizeof *taken);
    if (!taken)
        return laz_error_nomem(err);
    for (int i = 0; i < rounds && !failed; i++) {
        if (i)
            nanosleep(&moment, NULL);
        if (uids_take_one(uids, start, uid, &failed)) {
            *taken = *uid;
            return 0;
        }
    }
    uids->n_taken--;
    if (failed)
        return laz_error_os(err, failed, "a uid for a session cannot be locked in %s",
                            uids->directory);
    return laz_error_set(err, LAZ_EBUSY, 0,
                         "all uids from %u to %u are in use: widen sandbox.uids or close sessions",
                         uids->first, uids->last);
}

void laz_uids_give_back(struct laz_uids *uids, uint32_t uid)
{
    for (size_t i = 0; uids && i < uids->n_taken; i++) {
        if (uids->taken[i] != uid)
            continue;
        uids_unmark(uids, uid);
        uids_unlock(uids, uid);
        uids->taken[i] = uids->taken[--uids->n_taken];
        return;
    }
}

void laz_uids_free(struct laz_uids *uids)
{
    if (!uids)
        return;
    for (size_t i = 0; i < uids->n_taken; i++)
        /* Not returned: processes may be left under it. Then its mark stays, as that of a host that
         * was killed does. */
        if (uids_is_free(uids->taken[i]))
            uids_unmark(uids, uids->taken[i]);
    laz_os_close(&uids->locks); /* which releases all locks */
    free(uids->taken);
    free(uids);
}
