/* SPDX-License-Identifier: MIT */
/* cgroup_sites.c - where this process may make control groups.  System: Linux.
 * Side: host.  Input trusted: yes (files of the kernel).
 *
 * A new group goes below the process's own, so that every limit on lazaret applies to its sessions
 * too.  Version 2 allows controllers only in groups without processes (cgroups(7), "no internal
 * processes"): there an ancestor is used if it was delegated to lazaret, by its owner for an
 * ordinary user, by the mark that systemd puts on it (xattr trusted.delegate) for root.  The names
 * of groups say which host made them: number, start and namespace of its process.  A number of
 * another pid namespace, which may have ended with the host, means nothing here: so each host holds
 * a lock in every site, on the byte with the number of its namespace, and where that byte is not
 * locked the groups of that namespace are removed if they are empty, as they are when a namespace
 * has ended. A host that lives, or may live, is never treated as a dead one.
 *
 * Processors are shared level by level: groups beside the host would each get as much as the host
 * itself, and the more there are the longer it would wait.  So where groups have a share of the
 * processors those of one engine, or of the engines of a group, are in one group, the nest, and
 * together get what the host, or any process beside it, gets alone. */
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/linux/cgroup.h"
#include "os/linux/proc.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PLACES_TEXT    ((size_t)1 << 20)
#define PLACES_BUSY_MS 1000 /* for a group to become empty while its processes end */
#define PLACES_STEP_MS 5

static const struct {
    const char *v1, *v2;
} sites_controllers[LAZ_CGROUP_WHATS] = {
    [LAZ_CGROUP_MEMORY] = {"memory", "memory"},
    [LAZ_CGROUP_PIDS] = {"pids", "pids"},
    [LAZ_CGROUP_CPU] = {"cpuacct", ""}, /* version 2 counts it in every group */
    [LAZ_CGROUP_SHARE] = {"cpu", "cpu"},
};

/* ---- version 2 ------------------------------------------------------------------------------ */

/* Does a file of the group list the controller? */
static bool sites_lists(const char *directory, const char *file, const char *controller)
{
    char text[4096];

    return cgroup_read(directory, file, text, sizeof text) &&
           laz_cgroup_lists(text, strlen(text), " \n", controller);
}

static bool sites_may_write(const char *directory, const char *file)
{
    char path[CGROUP_DIRECTORY_MAX + 64];

    snprintf(path, sizeof path, "%s%s%s", directory, *file ? "/" : "", file);
    return access(path, *file ? W_OK : W_OK | X_OK) == 0;
}

static bool sites_is_delegated(const char *directory)
{
    char mark[8];

    if (!laz_os_is_root())
        return true; /* only own files can be written, which is checked anyway */
    return getxattr(directory, "trusted.delegate", mark, sizeof mark) == 1 && mark[0] == '1';
}

/* Can groups in this one have the controller? It is enabled where writing its name suffices;
 * `look`: where that would suffice. */
static bool sites_controller(const char *directory, const char *controller, bool look)
{
    char text[4096], word[16];

    if (sites_lists(directory, "cgroup.subtree_control", controller))
        return true;
    if (!sites_lists(directory, "cgroup.controllers", controller))
        return false;
    if (look) /* the root, which has no type, may have processes of its own */
        return sites_may_write(directory, "cgroup.subtree_control") &&
               (!cgroup_read(directory, "cgroup.type", text, sizeof text) ||
                (cgroup_read(directory, "cgroup.procs", text, sizeof text) && !*text));
    snprintf(word, sizeof word, "+%s", controller);
    return cgroup_write(directory, "cgroup.subtree_control", word) == 0;
}

/* Finds the site: the directory itself or one above it, the one with the most controllers; 0: none
 * can be used. */
static void sites_find_v2(struct laz_cgroups *groups, const char *own, size_t top, bool look)
{
    int best = -1;

    char *directory = laz_strdup(own);
    groups->out_of_memory |= !directory;
    for (bool first = true; directory; first = false) {
        bool usable = (first || sites_is_delegated(directory)) && sites_may_write(directory, "") &&
                      sites_may_write(directory, "cgroup.procs");
        bool memory = usable && sites_controller(directory, "memory", look);
        bool pids = usable && sites_controller(directory, "pids", look);
        if (usable && memory + pids > best) {
            const bool given[] = {[LAZ_CGROUP_MEMORY] = memory,
                                  [LAZ_CGROUP_PIDS] = pids,
                                  [LAZ_CGROUP_CPU] = true,
                                  [LAZ_CGROUP_SHARE] = sites_controller(directory, "cpu", look)};
            best = memory + pids;
            for (int what = 0; what < LAZ_CGROUP_WHATS; what++) {
                struct cgroup_site *site = &groups->sites[what];
                free(site->directory);
                site->directory = given[what] ? laz_strdup(directory) : NULL;
                site->version = site->directory ? 2 : 0;
                groups->out_of_memory |= given[what] && !site->directory;
            }
        }
        char *slash = strrchr(directory, '/');
        if (best == 2 || !slash || (size_t)(slash - directory) < top)
            break;
        *slash = '\0';
    }
    free(directory);
}

/* ---- both ----------------------------------------------------------------------------------- */

/* As laz_cgroup_directory, which gives NULL for a missing group and for a failed allocation. */
static char *sites_directory(struct laz_cgroups *groups, const char *mountinfo, const char *self,
                             const char *controller, size_t *top)
{
    errno = 0;
    char *directory = laz_cgroup_directory(mountinfo, self, controller, top);
    groups->out_of_memory |= !directory && errno == ENOMEM;
    return directory;
}

static void sites_find_v1(struct laz_cgroups *groups, const char *mountinfo, const char *self,
                          int what, struct cgroup_site *site)
{
    size_t top;
    char *own = sites_directory(groups, mountinfo, self, sites_controllers[what].v1, &top);

    if (own && strlen(own) < CGROUP_DIRECTORY_MAX && sites_may_write(own, "")) {
        *site = (struct cgroup_site){1, own};
        own = NULL;
    }
    free(own);
}

static void sites_find(struct laz_cgroups *groups, const char *mountinfo, const char *self,
                       bool look)
{
    size_t top;
    char *own = sites_directory(groups, mountinfo, self, "", &top);

    if (own && strlen(own) < CGROUP_DIRECTORY_MAX)
        sites_find_v2(groups, own, top, look);
    free(own);
    for (int what = 0; what < LAZ_CGROUP_WHATS; what++)
        if (!groups->sites[what].version)
            sites_find_v1(groups, mountinfo, self, what, &groups->sites[what]);
    if (groups->sites[LAZ_CGROUP_CPU].version == 2 &&
        groups->sites[LAZ_CGROUP_MEMORY].version != 2 &&
        groups->sites[LAZ_CGROUP_PIDS].version != 2)
        sites_find_v1(groups, mountinfo, self, LAZ_CGROUP_CPU, &groups->sites[CGROUP_CPU_TO_ENTER]);
}

/* Is the process in the time namespace of this one? In another one (Linux 5.6) /proc shows a
 * different start of the same process. */
static bool sites_same_time(int64_t pid)
{
    uint64_t own = proc_namespace(getpid(), "time");

    return own ? proc_namespace(pid, "time") == own : errno == ENOENT;
}

/* Has the host that made the name certainly ended? Where this cannot be checked, because there are
 * no descriptors left or /proc hides processes, the answer is no: otherwise the sessions of a
 * living host would be killed. */
static bool sites_host_is_gone(const struct laz_cgroup_name *name)
{
    const pid_t pid = (pid_t)name->pid;
    struct proc_stat stat;

    if (name->pid < 1 || name->pid > INT32_MAX)
        return false;
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return true;
    if (!proc_stat(pid, &stat) || !stat.start)
        return false;
    return stat.start == name->start ? stat.ended : sites_same_time(pid);
}

/* The lock is in a file that only this user, or root, can write: others can lock it for reading at
 * most, which only keeps groups from being removed. It belongs to the open file (fcntl(2),
 * F_OFD_SETLK), and ends with the process. */
static struct flock sites_lock(short type, uint64_t pid_namespace)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)pid_namespace, .l_len = 1};
}

/* Without a lock, when no descriptor is left for example, another host may remove an empty group of
 * this one, and a session may fail to start. */
static void sites_use(struct laz_cgroups *groups, const struct cgroup_site *site)
{
    struct flock lock = sites_lock(F_RDLCK, groups->next.pid_namespace);
    int fd = cgroup_file(site->directory, "cgroup.procs", O_RDONLY);

    if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0)
        groups->in_use[groups->n_in_use++] = fd;
    else
        laz_os_close(&fd);
}

/* Does a host of that namespace live, or may it? */
static bool sites_are_used(const char *directory, uint64_t pid_namespace)
{
    struct flock lock = sites_lock(F_WRLCK, pid_namespace);
    int fd = cgroup_file(directory, "cgroup.procs", O_RDONLY);
    bool used = fd < 0 || fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;

    laz_os_close(&fd);
    return used;
}

/* Does /proc show the pid namespace of this process? That of another one has other processes under
 * the same numbers. */
static bool sites_proc_is_ours(void)
{
    char text[24];
    ssize_t n = readlink("/proc/self", text, sizeof text - 1);

    text[n > 0 ? n : 0] = '\0';
    return strtol(text, NULL, 10) == (long)getpid();
}

/* Removes a group of a dead host; `kills`: kills what is in it first. */
static void sites_remove(const char *path, int version, bool kills)
{
    if (rmdir(path) == 0 || errno != EBUSY || !kills)
        return;
    cgroup_kill_all(path, version, CGROUP_KILL_ROUNDS);
    for (int ms = 0; ms < PLACES_BUSY_MS && rmdir(path) != 0 && errno == EBUSY;
         ms += PLACES_STEP_MS)
        (void)poll(NULL, 0, PLACES_STEP_MS); /* if it is still busy, the next host removes it */
}

/* The same for the groups in a nest. */
static void sites_remove_nested(const char *nest, int version, bool kills)
{
    struct laz_strv entries = LAZ_STRV_INIT;
    struct laz_cgroup_name name;

    (void)laz_os_list_directory(nest, &entries, NULL);
    for (size_t i = 0; i < entries.n; i++) {
        char path[CGROUP_DIRECTORY_MAX + 16 + 1024];
        snprintf(path, sizeof path, "%s/%s", nest, entries.items[i]);
        if (laz_cgroup_name_parse(entries.items[i], &name))
            sites_remove(path, version, kills);
    }
    laz_strv_fini(&entries);
}

/* Removes the groups that hosts of this user left when they died. What is in them is killed if the
 * host was in this pid namespace; of another one not all processes may be visible. */
static void sites_sweep(const char *directory, int version, uint64_t pid_namespace)
{
    struct laz_strv entries = LAZ_STRV_INIT;

    (void)laz_os_list_directory(directory, &entries, NULL);
    for (size_t i = 0; i < entries.n; i++) {
        char path[CGROUP_DIRECTORY_MAX + 16 + 512];
        struct laz_cgroup_name name;
        struct stat st;
        if (!laz_cgroup_name_parse(entries.items[i], &name))
            continue;
        const bool is_here = name.pid_namespace == pid_namespace;
        if (is_here ? !sites_host_is_gone(&name) : sites_are_used(directory, name.pid_namespace))
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entries.items[i]);
        if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
            continue;
        sites_remove_nested(path, version, is_here);
        sites_remove(path, version, is_here);
    }
    laz_strv_fini(&entries);
}

/* A host that is started again may be in another group than the one that died, usually beside it.
 * The number of links shows which of those have groups below them. A group with a name of ours is
 * no site but the nest of a host above: there are no locks in it. */
static void sites_sweep_around(const struct cgroup_site *site, uint64_t pid_namespace)
{
    char above[CGROUP_DIRECTORY_MAX + 16], path[CGROUP_DIRECTORY_MAX + 16 + 256];
    struct laz_strv entries = LAZ_STRV_INIT;
    struct laz_cgroup_name name;
    struct stat st;

    sites_sweep(site->directory, site->version, pid_namespace);
    snprintf(above, sizeof above, "%.*s/cgroup.procs",
             (int)(strrchr(site->directory, '/') - site->directory), site->directory);
    if (access(above, F_OK) != 0)
        return; /* the mount ends here */
    *strrchr(above, '/') = '\0';
    (void)laz_os_list_directory(above, &entries, NULL);
    for (size_t i = 0; i < entries.n; i++) {
        snprintf(path, sizeof path, "%s/%s", above, entries.items[i]);
        if (entries.items[i][0] != '.' && !laz_cgroup_name_parse(entries.items[i], &name) &&
            strcmp(path, site->directory) != 0 && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
            st.st_nlink > 2)
            sites_sweep(path, site->version, pid_namespace);
    }
    laz_strv_fini(&entries);
}

/* One of the sites, or NULL: there is none, or an earlier one is the same. */
static const struct cgroup_site *sites_of(const struct laz_cgroups *groups, int what)
{
    const struct cgroup_site *site = &groups->sites[what];

    for (int i = 0; i < what && site->version; i++)
        if (groups->sites[i].version && strcmp(groups->sites[i].directory, site->directory) == 0)
            return NULL;
    return site->version ? site : NULL;
}

/* Makes the nest in the site of the share; its path, or NULL. */
static char *sites_make_nest(struct laz_cgroups *groups)
{
    const struct cgroup_site *share = &groups->sites[LAZ_CGROUP_SHARE];
    int os_errno = EEXIST;

    for (int i = 0; i < CGROUP_NAME_TRIES && os_errno == EEXIST; i++) {
        char name[CGROUP_NAME_SIZE];
        cgroup_next_name(groups, name, sizeof name);
        char *nest = laz_strdupf("%s/%s", share->directory, name);
        groups->out_of_memory |= !nest;
        if (!nest)
            break;
        if (mkdir(nest, 0755) == 0)
            return nest;
        os_errno = errno;
        free(nest);
    }
    return NULL;
}

static struct cgroup_nest *sites_new_nest(struct laz_cgroups *groups)
{
    struct cgroup_nest *nest = calloc(1, sizeof *nest);

    groups->out_of_memory |= !nest;
    if (!nest)
        return NULL;
    nest->directory = sites_make_nest(groups);
    if (!nest->directory) {
        free(nest);
        return NULL;
    }
    atomic_init(&nest->holders, 1);
    return nest;
}

/* Is the nest of another engine in the site of the share? */
static bool sites_have_nest(const struct cgroup_site *share, const struct cgroup_nest *nest)
{
    const char *slash = nest ? strrchr(nest->directory, '/') : NULL;
    const size_t len = slash ? (size_t)(slash - nest->directory) : 0;

    return slash && strlen(share->directory) == len &&
           strncmp(share->directory, nest->directory, len) == 0;
}

/* Has a nest, that of another engine or one of its own, for all groups that have a share of the
 * processors, and for their parts of the same hierarchy. Where that fails they have no share. */
static void sites_nest(struct laz_cgroups *groups, struct cgroup_nest *other)
{
    struct cgroup_site *share = &groups->sites[LAZ_CGROUP_SHARE];
    char *outer = share->directory;

    if (!share->version)
        return;
    if (sites_have_nest(share, other)) {
        atomic_fetch_add(&other->holders, 1);
        groups->nest = other;
        groups->next.number = ((uint64_t)atomic_fetch_add(&other->engines, 1) + 1) << 32;
    } else {
        groups->nest = sites_new_nest(groups);
    }
    bool good = groups->nest;
    for (int what = 0; what < LAZ_CGROUP_WHATS && good; what++) {
        const struct cgroup_site *site = &groups->sites[what];
        const char *controller = sites_controllers[what].v2;
        if (site->version == 2 && *controller && strcmp(site->directory, outer) == 0)
            good = sites_controller(groups->nest->directory, controller, false);
    }
    share->directory = NULL;
    for (int what = 0; what < CGROUP_PLACES && good; what++) {
        struct cgroup_site *site = &groups->sites[what];
        if (site != share && (!site->version || strcmp(site->directory, outer) != 0))
            continue;
        free(site->directory);
        site->directory = laz_strdup(groups->nest->directory);
        groups->out_of_memory |= !site->directory;
    }
    if (!good)
        share->version = 0; /* laz_cgroups_free removes what was made */
    free(outer);
}

/* The spare descriptors, and more for the search: without those it would find nothing, and limits
 * would be weaker. 0, or an errno. */
static int sites_need_descriptors(struct laz_cgroups *groups)
{
    struct laz_cgroups more;

    for (int i = 0; i < CGROUP_SPARES; i++)
        groups->spare[i] = more.spare[i] = -1;
    int failed = cgroup_renew_spare(groups);
    if (!failed)
        failed = cgroup_renew_spare(&more);
    cgroup_lend_spare(&more);
    return failed;
}

/* The sites of the process `of`, for groups of this one; `nest`: of another engine, or NULL. */
static int sites_new(const char *of, bool look, struct cgroup_nest *nest,
                     struct laz_cgroups **groups, struct laz_error *err)
{
    struct laz_buf mountinfo = LAZ_BUF_INIT, self = LAZ_BUF_INIT;
    struct laz_cgroups *made = calloc(1, sizeof *made);
    struct laz_error why = {0};
    struct proc_stat stat;
    char path[64];

    if (!made)
        return laz_error_nomem(err);
    made->launcher = LAZ_PROCESS_INIT;
    made->launcher_fd = -1;
    snprintf(path, sizeof path, "/proc/%s/cgroup", of);
    int failed = sites_need_descriptors(made);
    if (failed) {
        laz_cgroups_free(made);
        return laz_error_os(err, failed, "control groups cannot be looked for");
    }
    int rc = laz_os_read_file("/proc/self/mountinfo", PLACES_TEXT, &mountinfo, &why);
    if (!rc)
        rc = laz_os_read_file(path, PLACES_TEXT, &self, &why);
    if (rc) {
        made->out_of_memory = laz_error_is_shortage(&why);
    } else if (sites_proc_is_ours() && proc_stat(getpid(), &stat) && stat.start) {
        made->next = (struct laz_cgroup_name){.pid_namespace = proc_namespace(getpid(), "pid"),
                                              .pid = (uint64_t)getpid(),
                                              .start = stat.start};
        if (made->next.pid_namespace)
            sites_find(made, laz_buf_text(&mountinfo), laz_buf_text(&self), look);
    }
    laz_buf_fini(&mountinfo);
    laz_buf_fini(&self);
    for (int what = 0; what < CGROUP_PLACES && !look; what++) {
        const struct cgroup_site *site = sites_of(made, what);
        if (!site)
            continue;
        sites_use(made, site);
        sites_sweep_around(site, made->next.pid_namespace);
    }
    if (!look)
        sites_nest(made, nest);
    if (made->out_of_memory) { /* an incomplete search must not lead to weaker limits */
        laz_cgroups_free(made);
        return laz_error_nomem(err);
    }
    *groups = made;
    return 0;
}

int laz_cgroups_new(bool look, struct laz_cgroups **groups, struct laz_error *err)
{
    return sites_new("self", look, NULL, groups, err);
}

int laz_cgroups_new_beside(const struct laz_cgroups *first, struct laz_cgroups **groups,
                           struct laz_error *err)
{
    return sites_new("self", false, first ? first->nest : NULL, groups, err);
}

/* ---- another part of the tree --------------------------------------------------------------- */

const char *laz_cgroups_place(const struct laz_cgroups *groups)
{
    static const int order[] = {LAZ_CGROUP_MEMORY, LAZ_CGROUP_PIDS, LAZ_CGROUP_CPU};

    for (size_t i = 0; groups && i < sizeof order / sizeof *order; i++)
        if (groups->sites[order[i]].version)
            return groups->sites[order[i]].directory;
    return NULL;
}

char *cgroup_own_v2(size_t *top)
{
    struct laz_buf mountinfo = LAZ_BUF_INIT, self = LAZ_BUF_INIT;
    char *own = NULL;

    if (laz_os_read_file("/proc/self/mountinfo", PLACES_TEXT, &mountinfo, NULL) == 0 &&
        laz_os_read_file("/proc/self/cgroup", PLACES_TEXT, &self, NULL) == 0)
        own = laz_cgroup_directory(laz_buf_text(&mountinfo), laz_buf_text(&self), "", top);
    laz_buf_fini(&mountinfo);
    laz_buf_fini(&self);
    return own;
}

bool cgroup_v2_can_limit(void)
{
    size_t top;
    char *own = cgroup_own_v2(&top);

    if (own)
        own[top] = '\0';
    bool can = own && sites_lists(own, "cgroup.controllers", "memory") &&
               sites_lists(own, "cgroup.controllers", "pids");
    free(own);
    return can;
}

/* Does a file of the group limit what is in it? */
static const char *sites_limit(const char *directory)
{
    static const char *const files[] = {"memory.max", "memory.high", "cpu.max"};
    char text[64];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (cgroup_read(directory, files[i], text, sizeof text) && *text &&
            strncmp(text, "max", 3) != 0)
            return files[i];
    return NULL;
}

/* Is the limit of a group above this process no limit in `site`? The number of processes, which
 * systemd limits for every unit without being asked, does not count. LAZ_EREFUSED names it. */
static int sites_check_limits(const char *site, struct laz_error *err)
{
    size_t top = 0, len;
    char *own = cgroup_own_v2(&top);
    int rc = 0;

    while (own && !rc && (len = strlen(own)) > top &&
           (strncmp(site, own, len) != 0 || (site[len] && site[len] != '/'))) {
        const char *file = sites_limit(own);
        if (file)
            rc = laz_error_set(err, LAZ_EREFUSED, 0,
                               "in a scope sessions would not be under the limit of lazaret, %s/%s",
                               own, file);
        *strrchr(own, '/') = '\0';
    }
    free(own);
    return rc;
}

/* May the groups of this process be in those sites? */
static int sites_check(const struct laz_cgroups *made, struct laz_error *err)
{
    const char *memory = laz_cgroups_mechanism(made, LAZ_CGROUP_MEMORY, false);
    const char *pids = laz_cgroups_mechanism(made, LAZ_CGROUP_PIDS, false);

    if (!memory || !pids)
        return laz_error_set(err, LAZ_EREFUSED, 0,
                             "the scope has no controllers of memory and processes");
    return sites_check_limits(laz_cgroups_place(made), err);
}

int cgroup_move_places(struct laz_cgroups *groups, struct laz_process *launcher, int *fd,
                       struct laz_error *err)
{
    struct laz_cgroups *made, former = *groups;
    char of[24];

    snprintf(of, sizeof of, "%lld", (long long)launcher->pid);
    int rc = sites_new(of, false, NULL, &made, err);
    if (rc)
        return rc;
    rc = sites_check(made, err);
    if (!rc) {
        *groups = *made;
        *made = former;
        groups->launcher = *launcher;
        groups->launcher_fd = *fd;
        *launcher = LAZ_PROCESS_INIT;
        *fd = -1;
    }
    laz_cgroups_free(made);
    return rc;
}

/* ---- the end -------------------------------------------------------------------------------- */

void cgroup_remove(struct laz_cgroups *groups, const char *directory)
{
    /* an ended process can stay in its group for a moment */
    if (rmdir(directory) != 0 && errno == EBUSY)
        laz_strv_add(&groups->busy, directory);
}

void cgroup_remove_busy(struct laz_cgroups *groups)
{
    struct laz_strv busy = groups->busy;

    groups->busy = (struct laz_strv)LAZ_STRV_INIT;
    for (size_t i = 0; i < busy.n; i++)
        cgroup_remove(groups, busy.items[i]);
    laz_strv_fini(&busy);
}

/* The scope, which has no process any more, is removed by its manager with all that is left in it.
 */
static void sites_end_launcher(struct laz_cgroups *groups)
{
    laz_os_close(&groups->launcher_fd);
    if (groups->launcher.pidfd < 0)
        return;
    laz_process_signal(&groups->launcher, SIGKILL);
    (void)laz_process_wait(&groups->launcher, PLACES_BUSY_MS, NULL);
    laz_process_close(&groups->launcher);
}

static void sites_leave_nest(struct laz_cgroups *groups)
{
    struct cgroup_nest *nest = groups->nest;

    groups->nest = NULL;
    if (!nest || atomic_fetch_sub(&nest->holders, 1) > 1)
        return;
    cgroup_remove(groups, nest->directory);
    free(nest->directory);
    free(nest);
}

void laz_cgroups_free(struct laz_cgroups *groups)
{
    if (!groups)
        return;
    cgroup_drop_kept(groups);
    cgroup_remove_busy(groups);
    sites_leave_nest(groups);
    for (int ms = 0; groups->busy.n && ms < PLACES_BUSY_MS; ms += PLACES_STEP_MS) {
        (void)poll(NULL, 0, PLACES_STEP_MS); /* version 1 has no event for it */
        cgroup_remove_busy(groups);
    }
    laz_strv_fini(&groups->busy);
    cgroup_lend_spare(groups);
    sites_end_launcher(groups);
    while (groups->n_in_use > 0)
        laz_os_close(&groups->in_use[--groups->n_in_use]);
    for (int what = 0; what < CGROUP_PLACES; what++)
        free(groups->sites[what].directory);
    free(groups);
}
