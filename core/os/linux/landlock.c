/* SPDX-License-Identifier: MIT */
/* landlock.c - confinement by Landlock, at the version that the kernel has.  System: Linux.
 * Side: box.  Input trusted: yes (the host's rules).
 *
 * A version of the interface is a set of rights that can be refused: what it does not know stays
 * allowed, except that renaming between directories is refused until it can be allowed (version 2).
 * So the caller may not ask for more than the kernel has.  The numbers are those of the kernel's
 * own header; the system's header may be older than the running kernel.
 *
 * A rule belongs to an inode, not to a path or a mount (landlock(7)).  So one that is made of a
 * descriptor of another mount namespace is the same as one that is made of the path, as long as the
 * path leads to the same inode in both.  What a kept descriptor belongs to is compared with the
 * path of the rule: no list can be mistaken for another. */
#include "os/landlock.h"

#include "base/buf.h"
#include "os/descriptors.h"
#include "os/paths.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef LANDLOCK_ACCESS_FS_REFER /* version 2, Linux 5.19 */
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE /* version 3, Linux 6.2 */
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV /* version 5, Linux 6.10 */
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif
#ifndef LANDLOCK_ACCESS_NET_BIND_TCP /* version 4, Linux 6.7 */
#define LANDLOCK_ACCESS_NET_BIND_TCP    (1ULL << 0)
#define LANDLOCK_ACCESS_NET_CONNECT_TCP (1ULL << 1)
#endif
#ifndef LANDLOCK_SCOPE_SIGNAL /* version 6, Linux 6.12 */
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL               (1ULL << 1)
#endif

/* The kernel's struct landlock_ruleset_attr of version 6. An older kernel accepts it as well: what
 * it does not know has to be zero. */
struct landlock_attr {
    uint64_t files, network, scope;
};

#define LANDLOCK_FILES_1  (LANDLOCK_ACCESS_FS_REFER - 1) /* the thirteen rights of version 1 */
#define LANDLOCK_OF_FILES /* rights that can be allowed for what is not a directory */             \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |   \
     LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV)

/* The rights that each version added. */
static const struct {
    int abi;
    struct landlock_attr adds;
} landlock_versions[] = {
    {1, {.files = LANDLOCK_FILES_1}},
    {2, {.files = LANDLOCK_ACCESS_FS_REFER}},
    {3, {.files = LANDLOCK_ACCESS_FS_TRUNCATE}},
    {4, {.network = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP}},
    {5, {.files = LANDLOCK_ACCESS_FS_IOCTL_DEV}},
    {6, {.scope = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL}},
};

/* The kernel's rights for each of ours. Device nodes are never made. */
static const struct {
    uint32_t right;
    uint64_t files;
} landlock_rights[] = {
    {LAZ_LANDLOCK_READ, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR},
    {LAZ_LANDLOCK_WRITE, LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |
                             LANDLOCK_ACCESS_FS_REFER | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                             LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                             LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                             LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM},
    {LAZ_LANDLOCK_EXEC, LANDLOCK_ACCESS_FS_EXECUTE},
    {LAZ_LANDLOCK_DEV, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE},
    {LAZ_LANDLOCK_LIST, LANDLOCK_ACCESS_FS_READ_DIR},
    {LAZ_LANDLOCK_TERMINAL,
     LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_IOCTL_DEV},
};

#define LANDLOCK_COUNT(table) (sizeof(table) / sizeof(table)[0])

int laz_os_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0,
                       (unsigned)LANDLOCK_CREATE_RULESET_VERSION);

    return abi > 0 ? (int)abi : 0;
}

/* All rights that version `abi` can refuse. */
static struct landlock_attr landlock_known(int abi)
{
    struct landlock_attr attr = {0};

    for (size_t i = 0; i < LANDLOCK_COUNT(landlock_versions); i++) {
        if (landlock_versions[i].abi > abi)
            break;
        attr.files |= landlock_versions[i].adds.files;
        attr.network |= landlock_versions[i].adds.network;
        attr.scope |= landlock_versions[i].adds.scope;
    }
    return attr;
}

/* ---- what is opened in advance -------------------------------------------------------------- */

struct laz_landlock_opened {
    char *path; /* of its rule; NULL: it is not open, or is another file by now */
    int fd;
    mode_t mode;
    dev_t device;
    ino_t inode;
};

/* False: there is no further number. */
static bool landlock_open_at(struct laz_landlock_opened *opened, const char *path, int number)
{
    struct stat st;
    int fd = laz_posix_above(open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));

    if (fd < 0)
        return true;
    opened->fd = fcntl(fd, F_DUPFD_CLOEXEC, number);
    (void)close(fd);
    const bool is_there = opened->fd == number; /* or the number is in use, or too high */
    if (is_there && fstat(number, &st) == 0) {
        opened->mode = st.st_mode;
        opened->device = st.st_dev;
        opened->inode = st.st_ino;
        opened->path = laz_strdup(path);
    }
    if (!opened->path)
        laz_os_close(&opened->fd);
    return is_there;
}

int laz_os_landlock_keep(const struct laz_landlock_rule *rules, size_t n,
                         bool (*fixed)(const char *path, void *user), void *user,
                         struct laz_landlock_kept *kept, struct laz_error *err)
{
    bool has_numbers = true;

    *kept = (struct laz_landlock_kept){.of = calloc(n + 1, sizeof *kept->of), .n_rules = n};
    if (!kept->of)
        return laz_error_nomem(err);
    for (size_t i = 0; i < n && has_numbers && kept->n_open < LAZ_LANDLOCK_KEPT_MOST; i++) {
        if (!fixed(rules[i].path, user))
            continue;
        char *real = laz_os_real_path(rules[i].path);
        if (real && strcmp(real, rules[i].path) == 0)
            has_numbers =
                landlock_open_at(&kept->of[i], real, LAZ_LANDLOCK_KEPT_FIRST + kept->n_open);
        kept->n_open += kept->of[i].path != NULL;
        free(real);
    }
    return 0;
}

void laz_os_landlock_check_kept(struct laz_landlock_kept *kept)
{
    for (size_t i = 0; kept->n_open && i < kept->n_rules; i++) {
        struct laz_landlock_opened *opened = &kept->of[i];
        struct stat st;
        if (!opened->path || (lstat(opened->path, &st) == 0 && st.st_dev == opened->device &&
                              st.st_ino == opened->inode))
            continue;
        free(opened->path);
        opened->path = NULL;
    }
}

void laz_os_landlock_close_others(const struct laz_landlock_kept *kept, int first)
{
    if (kept->n_open)
        (void)laz_os_close_range((unsigned)first, LAZ_LANDLOCK_KEPT_FIRST - 1);
    laz_os_close_from(kept->n_open ? LAZ_LANDLOCK_KEPT_FIRST + kept->n_open : first, -1);
}

/* Memory is not freed: that would write to it, and a copy gets a page of its own for that. */
bool laz_os_landlock_close_kept(struct laz_landlock_kept *kept)
{
    bool closed =
        !kept->n_open || laz_os_close_range(LAZ_LANDLOCK_KEPT_FIRST,
                                            (unsigned)(LAZ_LANDLOCK_KEPT_FIRST + kept->n_open - 1));

    kept->n_open = 0;
    return closed;
}

/* ---- rules ---------------------------------------------------------------------------------- */

static const struct laz_landlock_opened *landlock_kept_for(const struct laz_landlock_kept *kept,
                                                           size_t i, const char *path)
{
    const bool is_open = kept && kept->n_open && i < kept->n_rules && kept->of[i].path &&
                         strcmp(kept->of[i].path, path) == 0;

    return is_open ? &kept->of[i] : NULL;
}

static int landlock_add(int ruleset, uint64_t known, const struct laz_landlock_rule *rule, int fd,
                        mode_t mode, struct laz_error *err)
{
    struct landlock_path_beneath_attr beneath = {.parent_fd = fd};

    for (size_t i = 0; i < LANDLOCK_COUNT(landlock_rights); i++)
        if (rule->rights & landlock_rights[i].right)
            beneath.allowed_access |= landlock_rights[i].files;
    if ((rule->rights & LAZ_LANDLOCK_WRITE) && (S_ISCHR(mode) || S_ISBLK(mode)))
        beneath.allowed_access |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
    beneath.allowed_access &= S_ISDIR(mode) ? known : known & LANDLOCK_OF_FILES;
    if (beneath.allowed_access &&
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0u) != 0)
        return laz_error_os(err, errno, "Landlock: %s cannot be allowed", rule->path);
    return 0;
}

static int landlock_add_path(int ruleset, uint64_t known, const struct laz_landlock_rule *rule,
                             struct laz_error *err)
{
    struct stat st;
    int rc = 0;
    int fd = laz_posix_above(open(rule->path, O_PATH | O_CLOEXEC));

    if (fd >= 0 && fstat(fd, &st) == 0)
        rc = landlock_add(ruleset, known, rule, fd, st.st_mode, err);
    else if (!rule->optional || (errno != ENOENT && errno != EACCES && errno != ENOTDIR))
        rc = laz_error_os(err, errno, "Landlock: %s cannot be allowed", rule->path);
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

int laz_os_landlock_make(int abi, bool lets_network, const struct laz_landlock_rule *rules,
                         size_t n, const struct laz_landlock_kept *kept, int *ruleset,
                         struct laz_error *err)
{
    struct landlock_attr attr = landlock_known(abi);
    int kernel = laz_os_landlock_abi(), rc = 0;

    *ruleset = -1;
    if (lets_network)
        attr.network = 0;
    if (abi < 1 || kernel < abi)
        return laz_error_set(err, LAZ_ESETUP, 0,
                             "Landlock: version %d was asked for, the kernel has %d%s", abi, kernel,
                             kernel ? "" : " (none, or it is switched off or filtered)");
    int fd = laz_posix_above((int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0u));
    if (fd < 0)
        return laz_error_os(err, errno, "Landlock: cannot create a set of rules");
    for (size_t i = 0; i < n && !rc; i++) {
        const struct laz_landlock_opened *opened = landlock_kept_for(kept, i, rules[i].path);
        rc = opened ? landlock_add(fd, attr.files, &rules[i], opened->fd, opened->mode, err)
                    : landlock_add_path(fd, attr.files, &rules[i], err);
    }
    if (rc)
        (void)close(fd);
    else
        *ruleset = fd;
    return rc;
}

int laz_os_landlock_enter(int ruleset, struct laz_error *err)
{
    if (syscall(SYS_landlock_restrict_self, ruleset, 0u) != 0)
        return laz_error_os(err, errno, "Landlock: the rules cannot be put in force");
    return 0;
}
