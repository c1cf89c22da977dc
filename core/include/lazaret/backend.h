/* SPDX-License-Identifier: MIT */
/* lazaret/backend.h - backends: how the box around a session is built.
 *
 * A backend turns a *policy* (what the child may see, write and use) and a *command* into a *plan*:
 * the argv and environment of the outermost process, the descriptors it inherits, what the agent
 * has to impose on itself, and the list of what all of this enforces.  A plan is data: `plan` looks
 * at nothing but its arguments, has no side effect and contains no code for one system only, so
 * every plan can be made, shown and tested on every system.  The host spawns it.
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
#define LAZ_ENFORCE_NETWORK   (1u << 2) /* "network": no network, host's sockets included */
#define LAZ_ENFORCE_PROCESSES (1u << 3) /* "processes": other processes are neither seen nor hurt */
#define LAZ_ENFORCE_SYSCALLS  (1u << 4) /* "syscalls": a filter refuses what code does not need */
#define LAZ_ENFORCE_CPU       (1u << 5) /* "cpu": CPU time of the session as a whole */
#define LAZ_ENFORCE_MEMORY    (1u << 6) /* "memory": memory of the session as a whole */
#define LAZ_ENFORCE_FSIZE     (1u << 7) /* "fsize": size of a file */
#define LAZ_ENFORCE_NPROC     (1u << 8) /* "nproc": processes of the session as a whole */
#define LAZ_ENFORCE_NOFILE    (1u << 9) /* "nofile": open files of a process */
#define LAZ_ENFORCE_SIGNALS   (1u << 10) /* "signals": processes outside cannot be signalled */

#define LAZ_UNLIMITED UINT64_MAX

/* Limits of a session. LAZ_UNLIMITED: none. */
struct laz_limits {
    uint64_t cpu_s;        /* CPU seconds */
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
    const char *home;       /* working and home folder inside, also its folder for temporary files;
                               a backend that makes a file system gives it one of its own there */
    uint64_t tmp_size;      /* bytes that may be stored in it */
    struct laz_limits limits;
    uint32_t own_uid;  /* not 0: the host gives the session a uid that nobody else has */
    uint32_t box_uid;  /* uid and gid shown inside, where the backend can choose them */
    const char *const *command; /* what runs inside; paths of the box; ends with NULL. It comes last in
                                   the argv of the outermost process: a trial box adds to it */
    const char *host_command;   /* command[0] as a path of the host, for backends that hide nothing:
                                   the other paths of `paths` are then the host's as well */
    const char *options;        /* JSON object: the backend's options, checked, defaults filled in */
    size_t options_len;
    const char *const *programs; /* files, and folders with all in them, that may be executed: paths
                                    of the box without links, loaders and interpreters included;
                                    ends with NULL; NULL: any program that can be seen */
    uint32_t landlock_abi; /* version of Landlock that the system's kernel has; 0: none */
    uint32_t nests; /* not 0: the command is a template, which makes sessions in namespaces of their
                       own inside, and every session confines itself as this plan says. A backend
                       that cannot keep apart what would be made there refuses with LAZ_EREFUSED */
};

struct laz_plan; /* filled through the functions of struct laz_plan_api */

struct laz_plan_api {
    size_t size;
    const struct laz_json_api *json;
    /* Appends to the argv of the outermost process; argv[0] is an absolute path or a name that the
     * host looks up in its trusted folders. Strings are copied by all functions here. */
    void (*arg)(struct laz_plan *plan, const char *arg);
    /* Appends NAME=VALUE to the environment of the outermost process, which is otherwise empty. */
    void (*env)(struct laz_plan *plan, const char *name_value);
    /* A descriptor of the child from which it reads `data`; its number is returned (3 or more),
     * or -1 without memory. `what` names it when the plan is shown ("arguments"). */
    int (*data)(struct laz_plan *plan, const char *what, const void *data, size_t len);
    /* A descriptor of the child into which the backend's program writes status documents, one
     * JSON object a line: {"child-pid":N,...}, {"exit-code":N}. At most one. Its number. */
    int (*status)(struct laz_plan *plan);
    /* Text of a file that the host writes before the start (mode 0600) and removes at the end;
     * returns its path as the child will find it, or NULL without memory. */
    const char *(*file)(struct laz_plan *plan, const char *name, const void *data, size_t len);
    /* The agent applies this limit to itself, inside: "cpu", "memory", "fsize", "nproc", "nofile",
     * "stack"; "nproc_beside": processes, where all of the user's count. Limits that are LAZ_UNLIMITED are passed over. */
    void (*agent_limit)(struct laz_plan *plan, const char *name, uint64_t value);
    /* The plan enforces these bits, each by `mechanism`, a word or two for people. */
    void (*enforces)(struct laz_plan *plan, uint32_t bits, const char *mechanism);
    /* Something is limited in a weaker way than its bit promises, or for each process only. */
    void (*weakly)(struct laz_plan *plan, uint32_t bits, const char *mechanism);
    /* How the host ends the whole tree: LAZ_END_* below. */
    void (*ends_by)(struct laz_plan *plan, uint32_t how);
    /* The agent puts the filter of system calls with this name on itself ("session"), the last step
     * of its confinement. `bits`: what the plan keeps by this step alone; where the step fails, a
     * session that requires one of them is refused, and others are told that they do not hold. */
    void (*agent_filter)(struct laz_plan *plan, const char *name, uint32_t bits);
    /* The agent enters a Landlock domain (landlock(7)) of this version of the kernel's interface,
     * 0: the best that it has. What no agent_path allows is refused. `bits` as for agent_filter. */
    void (*agent_landlock)(struct laz_plan *plan, uint32_t abi, uint32_t bits);
    /* In that domain `path` and what is below it may be used: LAZ_RIGHT_* below. `optional`, not
     * 0: no failure when it is not there. */
    void (*agent_path)(struct laz_plan *plan, const char *path, uint32_t rights, uint32_t optional);
    /* The host puts this limit on all processes of the box, before the first of them runs, by a job
     * object (Windows), which none of them can leave: "memory" (bytes of all together),
     * "process_memory" (bytes of each), "cpu" (seconds of user time of all together), "nproc"
     * (processes at the same time). LAZ_UNLIMITED is passed over. `bits`: what the plan keeps by
     * this limit alone; where the system does not keep it, as the host finds out before any code
     * runs, a session that requires one of them is refused, and others are told. */
    void (*job_limit)(struct laz_plan *plan, const char *name, uint64_t value, uint32_t bits);
    /* Nothing keeps this limit of the policy ("fsize"), and `why`, a clause: said once to the user
     * who has set it. Not for what is limited weakly. */
    void (*not_limited)(struct laz_plan *plan, const char *name, const char *why);
};

#define LAZ_RIGHT_READ     1u  /* read files, list folders */
#define LAZ_RIGHT_WRITE    2u  /* change, make, rename and remove */
#define LAZ_RIGHT_EXECUTE  4u  /* execve(2) */
#define LAZ_RIGHT_DEVICE   8u  /* read and write what is there, make nothing */
#define LAZ_RIGHT_TERMINAL 16u /* the same with ioctl(2): terminals of the box's own */

#define LAZ_END_KILL  0u /* killing the outermost process ends everything inside (the default) */
#define LAZ_END_REAP  1u /* the outermost process is the agent's reaper: it is asked to end
                            everything, and killed with its group when it does not */
#define LAZ_END_JOB   2u /* the host makes a job object for the box: its end, which the end of the
                            host is as well, ends everything */

/* A box that did not come up. All strings are borrowed for the call. */
struct laz_backend_failure {
    size_t size;
    const char *program; /* absolute path of the outermost process */
    const char *output;  /* what it wrote to standard error, at most some KiB; not NUL-terminated */
    size_t output_len;
    /* What the system says of itself: lines NAME=VALUE, of those names that it has, among them
     * "user.max_user_namespaces" and other sysctls, "container" (docker, podman, ...), "seccomp"
     * (2: a filter is on the host's own process), "userns" (nested: not the first one). */
    const char *facts;
    int32_t exit_status; /* -1: it did not exit by itself */
    int32_t signal;      /* that ended it; 0: none */
    uint32_t timed_out;  /* not 0: it was ended because nothing happened */
    uint32_t started;    /* not 0: its status documents told of a first process inside */
};

#define LAZ_BACKEND_HOST_FILES 1u /* the session stays in the file system of the host, whatever can be
                                     read of it: paths are the host's, and the host makes the home.
                                     A backend without LAZ_ENFORCE_FS_READ is taken for one, too */

struct laz_backend_ops {
    size_t size;
    uint32_t can_enforce; /* LAZ_ENFORCE_*: the most that a plan of it may declare */
    uint32_t flags;        /* LAZ_BACKEND_* */
    const char *platforms; /* "linux", "darwin", "windows", separated by spaces */
    /* Fills `plan` for `policy`. Errors: LAZ_ECONFIG for an option or a policy that it cannot
     * serve, LAZ_ENOMEM. */
    int (*plan)(const struct laz_plan_api *api, const struct laz_policy *policy,
                struct laz_plan *plan, struct laz_error *err);
    /* Turns the failure of a box that did not come up into one sentence with the remedy; returns 0
     * when it knows the failure, LAZ_ENOENT when not. May be NULL. */
    int (*explain)(const struct laz_backend_failure *failure, char *text, size_t text_size);
    /* Where a session is refused because its plan lacks what is required: how to get it on such a
     * system, "Run lazaret in ...". NULL: another backend may have it. */
    const char *remedy;
};

#ifdef __cplusplus
}
#endif
#endif
