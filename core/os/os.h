/* SPDX-License-Identifier: MIT */
/* os.h - the rest of what lazaret asks of the system: sockets, descriptors, folders, limits, ids.
 */
#ifndef LAZ_OS_OS_H
#define LAZ_OS_OS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- descriptors -------------------------------------------------------------------------------
 */

int laz_os_cloexec_pipe(int *read_end, int *write_end, struct laz_error *err);
/* Whether reading and writing wait. Errors: LAZ_EOS. */
int laz_os_nonblock(int fd, bool on, struct laz_error *err);
void laz_os_close(int *fd); /* closes unless -1, sets -1 */
/* Makes `number` another name of a descriptor, closed by exec: `number`, or -1 with errno. */
int laz_os_dup_onto(int fd, int number);
/* The descriptor gets the number `to`, closed by exec, and loses its own, also when that fails. On
 * Windows, where a child is given handles and no numbers, it stays as it is. */
int laz_os_place(int *fd, int to, struct laz_error *err);
/* Sees that 0, 1 and 2 are open before anything else is, and that bytes pass through them as they
 * are. One that was closed cannot be read or written. Writing to a pipe that nobody reads is an
 * error from then on, and no signal. False: that cannot be had. */
bool laz_os_secure_streams(void);
void laz_os_raw_streams(void); /* only the second of these */
/* From here to the other call no descriptor can be made that is 0, 1 or 2, for what would take
 * these and cannot be moved (a loop of libuv). Other threads that ask wait. On Windows, which has
 * handles and no such numbers, it does nothing. */
struct laz_held_streams {
    int fds[3], n;
};
int laz_os_hold_streams(struct laz_held_streams *held, struct laz_error *err);
void laz_os_give_streams_back(struct laz_held_streams *held);
/* The same from now on in each fork(2) of the application, for the handlers of pthread_atfork(3)
 * that were there before: libuv makes pipes there, in the child. */
void laz_os_hold_streams_in_forks(void);
/* A descriptor from which `data` can be read from the start, in memory and not on a disk
 * (memfd_create(2)); sealed against change. */
int laz_os_data_fd(const char *name, const void *data, size_t len, int *fd, struct laz_error *err);
/* Closes every descriptor from `first` on, but `keep` (-1: none): for the agent. */
void laz_os_close_from(int first, int keep);

/* ---- sockets -----------------------------------------------------------------------------------
 */

/* What the agent of the session that has this folder is told to connect to: a socket in its folder
 * "socket"; on Windows its standard input, which is an end of a pipe. A new string. */
char *laz_os_socket_name(const char *folder);
/* A listening Unix socket at `path` (mode 0600, owner uid and gid unless LAZ_OS_SAME_ID),
 * non-blocking, backlog of 1. The path must fit sun_path. */
int laz_os_listen(const char *path, uint32_t uid, uint32_t gid, int *fd, struct laz_error *err);
/* The end of the connection that a child has to inherit as its standard input (Windows), for the
 * caller to close when it was started; -1: children connect by the path. */
int laz_os_take_end(int listener);
int laz_os_connect(const char *path, int *fd, struct laz_error *err); /* blocking: for the agent */
#define LAZ_OS_SAME_ID UINT32_MAX
/* Listeners that are never served, for what must not reach them: on a port of the loopback address,
 * at a path (mode 0666) or, with '@' before its name, in the abstract name space (LAZ_ENOENT: this
 * system has none). */
int laz_os_bait_port(int *fd, uint16_t *port, struct laz_error *err);
int laz_os_bait_socket(const char *path, int *fd, struct laz_error *err);
/* Who is at the other end of a connected socket (SO_PEERCRED, SO_PEERPIDFD where it exists). */
struct laz_peer {
    uint32_t uid;
    int64_t pid;
    uint64_t pid_namespace; /* inode of its pid namespace; 0: cannot be told */
    bool inherited;         /* nobody connected: it is the child that was given its end */
};
int laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err);
bool laz_os_is_ipv6(const char *text); /* an address, as inet_pton(3) reads it */

/* ---- folders and files -------------------------------------------------------------------------
 */

/* What is at a path. */
enum laz_look_kind { LAZ_LOOK_FILE, LAZ_LOOK_FOLDER, LAZ_LOOK_LINK, LAZ_LOOK_OTHER };
struct laz_look {
    enum laz_look_kind kind;
    unsigned mode; /* 07777: who may do what, as chmod(1) counts */
    uint32_t uid, gid;
    uint64_t device, inode; /* the same file, under whatever name */
    uint64_t size;
    int64_t written_ns, changed_ns; /* content; anything of it (mtime and ctime, inode(7)) */
};
/* 0, or an errno: ENOENT when there is nothing. `follow`: links are, also the last. */
int laz_os_look(const char *path, bool follow, struct laz_look *look);
/* A descriptor to read a file as it is, and what it is of; -1: errno tells. `wait`: for somebody to
 * write to a pipe of that name. */
int laz_os_open_file(const char *path, bool wait, struct laz_look *look);
/* The absolute path without links; NULL: errno tells. The caller frees it. */
char *laz_os_real_path(const char *path);
/* Each symbolic link that the way to `path` goes through, in the order in which they are met: its
 * own path, without links above it, and its text. As far as the way can be seen. */
void laz_os_links(const char *path, void (*visit)(void *user, const char *link, const char *text),
                  void *user);
bool laz_os_can_execute(const char *path); /* a regular file that this process may execute */
/* A symbolic link with this text. 0 or an errno. */
int laz_os_make_link(const char *path, const char *text);
/* Appends the names of what is in a folder, sorted, without "." and "..". */
int laz_os_list_folder(const char *path, struct laz_strv *names, struct laz_error *err);
/* Makes /tmp/lazaret-XXXXXXXX (mode 0700; 0711 when root, so that sessions with a uid of their own
 * can pass), takes a lock in it, and removes folders of the kind whose owner is this uid and whose
 * lock nobody holds. *lock_fd stays open while the folder is in use. The caller frees *path. */
int laz_os_runtime_folder(char **path, int *lock_fd, struct laz_error *err);
/* A new folder below it with exactly this mode and owner. */
int laz_os_make_folder(const char *path, unsigned mode, uint32_t uid, uint32_t gid,
                       struct laz_error *err);
void laz_os_remove_tree(const char *path); /* follows no link; errors are ignored */
/* A folder for what engines of this user share, where programs can be executed; sessions of root
 * can pass it. NULL: there is no place for one. The caller frees it. */
char *laz_os_shared_folder(void);
/* A descriptor that keeps a folder in it from being removed; -1: it is not there, or somebody else
 * could have changed it. */
int laz_os_shared_use(const char *path);
/* A name in it for what is being made and gets its name by rename(2). NULL: none. */
char *laz_os_shared_draft(const char *parent);
void laz_os_shared_clean(const char *parent); /* what nobody uses, or has used for a day */
int laz_os_write_file(const char *path, const void *data, size_t len, unsigned mode,
                      struct laz_error *err); /* creates; fails when it exists */
/* Whole content of a regular file, at most `max` bytes. */
int laz_os_read_file(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err);
int laz_os_copy_file(const char *from, const char *to, unsigned mode, struct laz_error *err);
/* Can a process with this uid, and no group of ours, open the path for reading (execute)? Each
 * folder above and the file are looked at, by mode and owner. */
bool laz_os_is_reachable(const char *path, uint32_t uid, bool execute);
bool laz_os_is_writable(const char *path, uint32_t uid); /* the same for writing */
bool laz_os_can_execute_below(const char *folder);       /* its file system is not mounted noexec */
bool laz_os_is_absolute(const char *path);               /* NULL is not */
/* Where a configuration file may lie when none was named, the user's own first, then that of the
 * machine: the nth, a new string or NULL (a variable is not set, or is no path). False past the
 * last. */
bool laz_os_config_place(int place, char **path);
extern const char laz_os_list_separator[]; /* what stands between the paths of a list: ":", ";" */
/* Where something of this build is, that was installed at `path`, below `prefix`. On Windows people
 * unpack a program wherever they like: it is at the same place beside this one, which is in a
 * folder "bin". A new string. */
char *laz_os_installed(const char *prefix, const char *path);
/* Absolute path of a program: `name` itself when absolute, else looked for in /usr/local/bin,
 * /usr/bin, /bin, /usr/sbin, /sbin and the like; never in PATH, never in the current folder.
 * Gives a new string; LAZ_ENOENT. */
int laz_os_find_program(const char *name, char **path, struct laz_error *err);
/* What starting the program at an absolute path takes: LAZ_PATH_SYMLINK (`box`
 * is a link to the text `host`) for every link on the way, LAZ_PATH_READ for the file itself, the
 * interpreter of a script, the loader of a binary, and for a folder the folder. Paths have no link
 * but in their last part. `visit` says whether that was new: what is known is not followed again.
 * Errors: LAZ_ENOENT naming what is missing or not executable. */
int laz_os_program_parts(const char *path,
                         bool (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user, struct laz_error *err);
/* Folders that hold programs, there or not; `among_libraries`: one that is there, in a folder of
 * libraries (/usr/lib/git-core). */
void laz_os_program_folders(void (*visit)(void *user, const char *path, bool among_libraries),
                            void *user);
/* What the loader and interpreters need of this system: pairs for a policy, in order. `visit` gets
 * kind (LAZ_PATH_*), host text and box path. Linux: /usr with all `programs`, or the libraries and
 * data in it; /bin /sbin /lib /lib64 as links or folders, as on the host; /etc/ld.so.cache,
 * /etc/alternatives, /etc/localtime, certificates. */
void laz_os_system_paths(bool programs,
                         void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user);
/* The same for a system of that name, without looking at any. */
void laz_os_usual_paths(const char *platform, bool programs,
                        void (*visit)(void *user, uint32_t kind, const char *host, const char *box),
                        void *user);

/* ---- limits, ids -------------------------------------------------------------------------------
 */

/* A variable of this process's environment; NULL also in a program that is set-user-id. */
const char *laz_os_getenv(const char *name);
/* Takes a variable out of the environment: a copy of its value, NULL when it is not set. `wipe`:
 * its place, which others can look at (/proc/PID/environ), is overwritten. */
char *laz_os_take_variable(const char *name, bool wipe);
/* For the calling process, before it runs a stranger's code: set-id programs and file capabilities
 * give nothing from here on, in no descendant (prctl(2), PR_SET_NO_NEW_PRIVS). LAZ_ENOENT: this
 * system has no such thing; there it is for the plan to refuse such programs. */
int laz_os_no_new_privs(struct laz_error *err);
/* What is orphaned below this process becomes its child (PR_SET_CHILD_SUBREAPER). On macOS orphans
 * are out of reach; false: they could be had, and cannot. */
bool laz_os_inherit_orphans(void);
/* This process gets the signal when its parent, or the thread of it that forked, ends. False: that
 * has happened, or cannot be had. Call it last before, or instead of, an exec. */
bool laz_os_die_with_parent(int64_t parent, int signal);

/* Applies one limit to the calling process, soft and hard: "cpu" (seconds; soft N, hard N+1, so
 * that SIGXCPU tells it from other kills), "memory" (RLIMIT_DATA: RLIMIT_AS stops threads),
 * "fsize", "nproc", "nofile", "stack", "core". A value over the present hard limit is lowered to
 * it. "nproc_beside": so many processes more than the user has now, and some room. */
int laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err);
bool laz_os_is_root(void);
uint32_t laz_os_uid(void); /* whose files this process makes */
/* Has the group the name of the user `uid`, and nobody else in it? */
bool laz_os_is_private_group(uint32_t gid, uint32_t uid);
unsigned laz_os_processors(void); /* that are there; at least 1 */

/* Uids of which each session gets one of its own. `range` is "auto" or "FIRST-LAST". Several
 * processes on a machine share a range: a uid in use is marked by a lock file that dies with its
 * process. */
struct laz_uids;
int laz_uids_new(const char *range, struct laz_uids **uids, struct laz_error *err);
void laz_uids_free(struct laz_uids *uids);
int laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err);
void laz_uids_give_back(struct laz_uids *uids, uint32_t uid);

/* Appends what the system says of itself where boxes are refused, a line NAME=VALUE each: see
 * struct laz_backend_failure. `root` is put before every path: "" but in tests. */
void laz_os_facts(const char *root, struct laz_buf *facts);
/* The name of this system as plans and backends use it: "linux", "darwin", "windows". */
const char *laz_os_platform(void);

#endif
