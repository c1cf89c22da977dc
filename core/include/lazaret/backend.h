/* SPDX-License-Identifier: MIT */
/* lazaret/backend.h - backends: how the box around a session is built.
 *
 * A backend turns a *policy* (what the child may see, write and use) and a *command* into a *plan*:
 * the argv and environment of the outermost process, the descriptors it inherits, what the agent
 * has to impose on itself, and the list of what all of this enforces. A plan is data: `plan`
 * depends on nothing but its arguments, has no side effect and contains no system-specific code, so
 * every plan can be made, shown and tested on every system. The host spawns it.
 *
 * Threads: `plan` may be called from any thread, several at once. */
#ifndef LAZARET_BACKEND_H
#define LAZARET_BACKEND_H

#include <lazaret/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a plan can enforce and a policy can require. */
#define LAZ_ENFORCE_FS_READ   (1u << 0) /* "fs_read": content of files not listed stays unread */
#define LAZ_ENFORCE_FS_WRITE  (1u << 1) /* "fs_write": nothing of the host can be written */
#define LAZ_ENFORCE_NETWORK   (1u << 2) /* "network": no network, nor any socket of the host */
#define LAZ_ENFORCE_PROCESSES (1u << 3) /* "processes": other processes can be neither seen nor
                                           harmed */
#define LAZ_ENFORCE_SYSCALLS  (1u << 4) /* "syscalls": a filter refuses what code does not need */
#define LAZ_ENFORCE_CPU       (1u << 5) /* "cpu": CPU time of the session as a whole */
#define LAZ_ENFORCE_MEMORY    (1u << 6) /* "memory": memory of the session as a whole */
#define LAZ_ENFORCE_FSIZE     (1u << 7) /* "fsize": size of a file */
#define LAZ_ENFORCE_NPROC     (1u << 8) /* "nproc": processes of the session as a whole */
#define LAZ_ENFORCE_NOFILE    (1u << 9) /* "nofile": open files of a process */
#define LAZ_ENFORCE_SIGNALS   (1u << 10) /* "signals": processes outside cannot be signalled */
#define LAZ_ENFORCE_TERMINALS (1u << 11) /* "terminals": no pseudo-terminals, of which the machine
                                            has a fixed number, or a bounded number of them */

#define LAZ_UNLIMITED UINT64_MAX

/* Limits of a session. LAZ_UNLIMITED: none. */
struct laz_limits {
    uint64_t cpu_s;        /* CPU seconds in its whole life (limits.session_cpu): what one execution
                              may use is counted by the host */
    uint64_t memory_bytes; /* writable memory */
    uint64_t fsize_bytes;
    uint64_t nproc;
    uint64_t nofile;
    uint64_t stack_bytes;
};

#define LAZ_PATH_READ     0u /* `host` appears at `box`, read-only */
#define LAZ_PATH_WRITE    1u /* the same, writable */
#define LAZ_PATH_SYMLINK  2u /* `box` is a symbolic link to the text `host` */
#define LAZ_PATH_CONTENT  3u /* `box` is a read-only file whose content is the text `host` */
/* `host` appears at `box` below a path of LAZ_PATH_WRITE, can be neither changed nor replaced, and
 * not made where it is missing: a backend with its own file system finds something there. Only for
 * one with LAZ_BACKEND_PROTECTS. */
#define LAZ_PATH_PROTECTED 4u

/* In the box of a template: a file that each session has in place of /proc/stat. */
#define LAZ_STAT_OF_SESSIONS "/run/lazaret/stat"

struct laz_path {
    uint32_t kind;     /* LAZ_PATH_* */
    uint32_t optional; /* not 0: no error when it does not exist on the host */
    const char *host;
    const char *box; /* absolute */
};

/* What the child may see, write and use. All strings are borrowed for the call. */
struct laz_policy {
    size_t size;
    const struct laz_path *paths; /* in this order: a later one may lie inside an earlier one */
    size_t n_paths;
    const char *const *env; /* "NAME=VALUE", the child's whole environment; ends with NULL */
    const char *home;       /* working and home directory inside, also the one for temporary files;
                               a backend that makes a file system mounts a separate one there */
    uint64_t tmp_size;      /* bytes that may be stored in it */
    struct laz_limits limits;
    uint32_t own_uid;  /* not 0: the host gives the session a uid of its own */
    uint32_t box_uid;  /* uid and gid shown inside, where the backend can choose them */
    const char *const *command; /* what runs inside; paths of the box; ends with NULL. It must come
                                   last in the argv of the outermost process, because a trial box
                                   appends arguments to it */
    const char *host_command;   /* command[0] as a path of the host, for backends that hide nothing:
                                   the other paths of `paths` are then the host's as well */
    const char *options;        /* JSON object: the backend's checked options with defaults */
    size_t options_len;
    const char *const *programs; /* files, and directories with everything below, that may be
                                    executed: paths of the box without links, loaders and
                                    interpreters included; ends with NULL; NULL: any visible
                                    program */
    uint32_t landlock_abi; /* version of Landlock in the running kernel; 0: none */
    uint32_t nests; /* not 0: the command is a template, which makes sessions in namespaces of their
                       own inside the box; each session confines itself as this plan says. A backend
                       that cannot isolate such sessions from each other refuses with
                       LAZ_EREFUSED */
    uint32_t tty;   /* not 0: the session may make pseudo-terminals, where the backend can give it
                       terminals of its own */
    uint32_t has_terminal; /* not 0: the standard input of the session is a terminal that was made
                              for it, and controls it: /dev/tty, which no other one is there */
    uint32_t network; /* not 0: the box has a network list. The backend gives it an empty network
                         namespace of its own, of which its user is the owner: the host enters it and
                         listens there, and nothing else can be reached from it. Sockets of TCP and
                         UDP are not kept from code. With `nests` each session makes such a namespace
                         for itself. Only for a backend with LAZ_BACKEND_NETWORK */
};

struct laz_plan; /* filled through the functions of struct laz_plan_api */

struct laz_plan_api {
    size_t size;
    const struct laz_json_api *json;
    /* Appends to the argv of the outermost process; argv[0] is an absolute path or a name that the
     * host looks up in its trusted directories. All functions of this table copy their strings. */
    void (*arg)(struct laz_plan *plan, const char *arg);
    /* Appends NAME=VALUE to the environment of the outermost process, which is otherwise empty. */
    void (*env)(struct laz_plan *plan, const char *name_value);
    /* A descriptor of the child from which it reads `data`; returns its number (3 or more), or -1
     * when out of memory. `what` names it when the plan is shown ("arguments"). */
    int (*data)(struct laz_plan *plan, const char *what, const void *data, size_t len);
    /* A descriptor of the child into which the backend's program writes status documents, one JSON
     * object a line: {"child-pid":N,...}, {"exit-code":N}. Returns its number. At most one in a
     * plan. */
    int (*status)(struct laz_plan *plan);
    /* Adds a file that the host writes before the start (mode 0600) and removes at the end; returns
     * its path as the child will find it, or NULL when out of memory. */
    const char *(*file)(struct laz_plan *plan, const char *name, const void *data, size_t len);
    /* The agent applies this limit to itself, inside the box: "cpu", "memory", "fsize", "nproc",
     * "nofile", "stack"; "nproc_beside": a limit on processes to which all other processes of the
     * user count. LAZ_UNLIMITED is ignored. */
    void (*agent_limit)(struct laz_plan *plan, const char *name, uint64_t value);
    /* Declares that the plan enforces these bits, each by `mechanism`, a word or two for users. */
    void (*enforces)(struct laz_plan *plan, uint32_t bits, const char *mechanism);
    /* Declares that these bits are enforced in a weaker way than they promise, or for each process
     * only. */
    void (*weakly)(struct laz_plan *plan, uint32_t bits, const char *mechanism);
    /* How the host ends the whole tree: LAZ_END_* below. */
    void (*ends_by)(struct laz_plan *plan, uint32_t how);
    /* The agent installs the named filter of system calls ("session") as the last step of its
     * confinement. `bits`: what the plan enforces by this step alone. If the step fails, a session
     * that requires one of them is refused; other sessions report that they are not in force. */
    void (*agent_filter)(struct laz_plan *plan, const char *name, uint32_t bits);
    /* The agent enters a Landlock domain (landlock(7)) of this version of the kernel's interface,
     * 0: the newest that the kernel has. Whatever no agent_path allows is refused. `bits` as for
     * agent_filter. */
    void (*agent_landlock)(struct laz_plan *plan, uint32_t abi, uint32_t bits);
    /* In that domain `path` and everything below it may be used with these LAZ_RIGHT_* rights.
     * `optional`, not 0: a missing path is not a failure. */
    void (*agent_path)(struct laz_plan *plan, const char *path, uint32_t rights, uint32_t optional);
    /* The host sets this limit on all processes of the box, before the first of them runs, by a job
     * object (Windows) that none of them can leave: "memory" (bytes of all together),
     * "process_memory" (bytes of each), "cpu" (seconds of user time of all together), "nproc"
     * (processes at the same time). LAZ_UNLIMITED is ignored. `bits`: what the plan enforces by
     * this limit alone. The host checks before any code runs that the system has accepted the
     * limit; if not, a session that requires one of the bits is refused, and other sessions report
     * that they are not in force. */
    void (*job_limit)(struct laz_plan *plan, const char *name, uint64_t value, uint32_t bits);
    /* Declares that the plan does not enforce this limit of the policy ("fsize"). `why`, a clause,
     * is logged once as a warning if the user has set the limit. Not for limits declared by
     * weakly. */
    void (*not_limited)(struct laz_plan *plan, const char *name, const char *why);
};

#define LAZ_RIGHT_READ     1u  /* read files, list directories */
#define LAZ_RIGHT_WRITE    2u  /* change, make, rename and remove */
#define LAZ_RIGHT_EXECUTE  4u  /* execve(2) */
#define LAZ_RIGHT_DEVICE   8u  /* read and write existing files, create none */
#define LAZ_RIGHT_TERMINAL 16u /* the same with ioctl(2): for the box's own terminals */
#define LAZ_RIGHT_LIST     32u /* list directories */

#define LAZ_END_KILL  0u /* killing the outermost process ends everything inside (the default) */
#define LAZ_END_REAP  1u /* the outermost process is the agent's reaper: the host asks it to end
                            everything, and kills it with its process group if it does not */
#define LAZ_END_JOB   2u /* the host makes a job object for the box; closing it, which the end of
                            the host also does, ends everything */

/* A box that did not start. All strings are borrowed for the call. */
struct laz_backend_failure {
    size_t size;
    const char *program; /* absolute path of the outermost process */
    const char *output;  /* what it wrote to standard error, at most some KiB; not NUL-terminated */
    size_t output_len;
    /* Facts about the system, as far as known: lines NAME=VALUE, among them
     * "user.max_user_namespaces" and other sysctls, "container" (docker, podman, ...), "seccomp"
     * (2: a filter is on the host's own process), "userns" (nested: not the first one). */
    const char *facts;
    int32_t exit_status; /* -1: it did not exit by itself */
    int32_t signal;      /* that ended it; 0: none */
    uint32_t timed_out;  /* not 0: the host ended it because nothing happened in time */
    uint32_t started;    /* not 0: its status documents reported a first process inside */
};

#define LAZ_BACKEND_HOST_FILES 1u /* the session stays in the file system of the host, even if it
                                     can read only parts of it: paths are the host's, and the host
                                     makes the home. Implied for a backend without
                                     LAZ_ENFORCE_FS_READ */

#define LAZ_BACKEND_PROTECTS 2u /* it enforces LAZ_PATH_PROTECTED; a policy with such a path is
                                   refused for one that does not, if it could enforce
                                   LAZ_ENFORCE_FS_WRITE */

#define LAZ_BACKEND_NETWORK 4u /* it can make boxes with a network list; a policy with one is refused
                                  for one that cannot */

struct laz_backend_ops {
    size_t size;
    uint32_t can_enforce; /* LAZ_ENFORCE_*: the most that a plan of it may declare */
    uint32_t flags;        /* LAZ_BACKEND_* */
    const char *platforms; /* "linux", "darwin", "windows", separated by spaces */
    /* Fills `plan` for `policy`. Errors: LAZ_ECONFIG for an option or a policy that it cannot
     * serve, LAZ_ENOMEM. */
    int (*plan)(const struct laz_plan_api *api, const struct laz_policy *policy,
                struct laz_plan *plan, struct laz_error *err);
    /* Explains why a box did not start, in one sentence with the remedy; returns 0 when it knows
     * the failure, LAZ_ENOENT when not. May be NULL. */
    int (*explain)(const struct laz_backend_failure *failure, char *text, size_t text_size);
    /* Added to the refusal of a session whose plan lacks what is required: how to get it on such a
     * system, "Run lazaret in ...". NULL: the refusal suggests another backend. */
    const char *remedy;
};

#ifdef __cplusplus
}
#endif
#endif
