/* SPDX-License-Identifier: MIT */
/* seatbelt.c - a sandbox profile, which the kernel of macOS enforces on the session (sandbox-exec).
 * Side: host.  Input trusted: yes (a policy that the host checked).
 *
 * The profile refuses everything and then allows what is listed in one table below, each rule with
 * its reason. Descriptions differ on which of several matching rules decides: the last one, or one
 * that has a filter and names the operation rather than a wildcard. So the rules that deny again
 * stand at the end and have names and filters, which is right under both. A path never becomes part
 * of the text: it is a parameter (-D NAME=PATH), so no character of it can end a string or begin a
 * rule. Paths must be the real ones, without links, because the kernel compares rules with these.
 * The session stays in the file system and process table of the host, below the agent's reaper,
 * which runs outside of the sandbox. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEATBELT_PROGRAM "/usr/bin/sandbox-exec"
#define SEATBELT_FILE    "seatbelt.sb"
/* Of the environment: the only socket the session may connect to. */
#define SEATBELT_SOCKET "LAZARET_SOCKET="
/* Prefix of the tag by which refusals are found in the system log. */
#define SEATBELT_TAG "lazaret:"

#define SEATBELT_COLUMNS 100

#define SEATBELT_ENFORCES                                                                          \
    (LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK | LAZ_ENFORCE_SIGNALS |      \
     LAZ_ENFORCE_NPROC | LAZ_ENFORCE_FSIZE | LAZ_ENFORCE_NOFILE | LAZ_ENFORCE_TERMINALS)

/* Parameters are called READ_0, READ_1, ... */
enum seatbelt_kind {
    SEATBELT_READ,
    SEATBELT_WRITE,
    SEATBELT_EXEC,
    SEATBELT_LINK, /* a symbolic link in the path of one of the others */
    SEATBELT_SOCKET_AT,
    SEATBELT_PROTECT,
    SEATBELT_KINDS
};

static const char *const seatbelt_names[SEATBELT_KINDS] = {"READ", "WRITE",  "EXEC",
                                                           "LINK", "SOCKET", "PROTECT"};

#define OF_READ    (1u << SEATBELT_READ)
#define OF_WRITE   (1u << SEATBELT_WRITE)
#define OF_EXEC    (1u << SEATBELT_EXEC)
#define OF_LINK    (1u << SEATBELT_LINK)
#define OF_SOCKET  (1u << SEATBELT_SOCKET_AT)
#define OF_PROTECT (1u << SEATBELT_PROTECT)

struct seatbelt_state {
    const struct laz_plan_api *api;
    struct laz_plan *plan;
    struct backend_text text, word;
    unsigned n[SEATBELT_KINDS]; /* parameters so far */
    size_t column;              /* of the current line of filters; 0: no line was begun */
};

static const struct laz_option seatbelt_options[] = {{0}};

/* ---- the rules ------------------------------------------------------------------------------ */

enum seatbelt_when { SEATBELT_ALWAYS, SEATBELT_ANY_PROGRAM, SEATBELT_NAMED_PROGRAMS };

#define DEVICE(path) "(require-all (literal \"" path "\") (vnode-type CHARACTER-DEVICE))"

/* The filters of a rule are `as` applied to each of `words` and to each parameter of the kinds in
 * `of`, and those in `filters`. A rule without filters is left out, unless it is meant for
 * everything (`whole`). */
static const struct {
    const char *why; /* comment in the profile, for this rule and the following ones without a
                        comment */
    const char *rule;
    const char *as, *words, *filters; /* separated by spaces; by newlines */
    unsigned of;
    int whole;
    enum seatbelt_when when;
    const char *known; /* an operation that some versions of macOS lack: they skip the rule */
} seatbelt_rules[] = {
    {.why = "A process of macOS is aborted before main() when it cannot read the root directory, "
            "and\nsh(1) looks where its shell is.",
     .rule = "allow file-read*",
     .as = "literal",
     .words = "/ /private/var/select/sh"},
    {.why = "Metadata of the directories above and targets of links in the path, to pass them; "
            "not\ntheir content.",
     .rule = "allow file-read-metadata",
     .as = "literal",
     .words = "/etc /tmp /var /dev /dev/stdin /dev/stdout /dev/stderr",
     .of = OF_LINK},
    {.rule = "allow file-read-metadata",
     .as = "path-ancestors",
     .of = OF_READ | OF_WRITE | OF_EXEC | OF_LINK | OF_SOCKET},
    {.why = "Whether something exists, where that is a question of its own: access(2).",
     .rule = "allow file-test-existence",
     .as = "path-ancestors",
     .of = OF_READ | OF_WRITE | OF_EXEC | OF_LINK | OF_SOCKET,
     .known = "file-test-existence"},
    {.rule = "allow file-test-existence",
     .as = "subpath",
     .words = "/dev/fd",
     .of = OF_READ | OF_WRITE | OF_EXEC,
     .known = "file-test-existence"},
    {.rule = "allow file-test-existence",
     .as = "literal",
     .words = "/ /private/var/select/sh /etc /tmp /var /dev /dev/stdin /dev/stdout /dev/stderr"
              " /dev/null /dev/zero /dev/dtracehelper /dev/random /dev/urandom",
     .of = OF_LINK,
     .known = "file-test-existence"},
    {.why = "System, interpreter, agent, sandbox.read: to be read, and loaded as code.",
     .rule = "allow file-read* file-map-executable",
     .as = "subpath",
     .of = OF_READ | OF_EXEC},
    {.why =
         "The session's home and sandbox.write. Nothing from there is loaded as code, unless any\n"
         "program may be started.",
     .rule = "allow file-read* file-write*",
     .as = "subpath",
     .of = OF_WRITE},
    {.why = "Devices that reveal nothing and store nothing, and the process's own descriptors.",
     .rule = "allow file-read* file-write-data file-ioctl",
     .filters = DEVICE("/dev/null") "\n" DEVICE("/dev/zero") "\n" DEVICE("/dev/dtracehelper")},
    {.rule = "allow file-read*", .filters = DEVICE("/dev/random") "\n" DEVICE("/dev/urandom")},
    {.rule = "allow file-read* file-write-data", .as = "subpath", .words = "/dev/fd"},
    {.why = "Processes: any number as far as the limits go, of the programs that are listed.",
     .rule = "allow process-fork",
     .whole = 1},
    {.rule = "allow process-exec*",
     .as = "subpath",
     .of = OF_EXEC,
     .when = SEATBELT_NAMED_PROGRAMS},
    {.rule = "allow process-exec* file-map-executable",
     .as = "subpath",
     .of = OF_READ | OF_WRITE | OF_EXEC,
     .when = SEATBELT_ANY_PROGRAM},
    {.why = "Its own processes, and no other ones.",
     .rule = "allow signal process-info*",
     .filters = "(target same-sandbox)"},
    {.why = "What interpreters ask about the machine: processors, memory, versions, limits, and\n"
            "the host name, without which uname(3) fails. No list of processes, no addresses.",
     .rule = "allow sysctl-read",
     .as = "sysctl-name",
     .words = "hw.activecpu hw.byteorder hw.cachelinesize hw.cpufamily hw.cpusubfamily"
              " hw.cpusubtype hw.cputype hw.cpu64bit_capable hw.l1dcachesize hw.l1icachesize"
              " hw.l2cachesize hw.l3cachesize hw.logicalcpu hw.logicalcpu_max hw.machine"
              " hw.memsize hw.model hw.ncpu hw.nperflevels hw.packages hw.pagesize"
              " hw.pagesize_compat hw.physicalcpu hw.physicalcpu_max hw.tbfrequency"
              " hw.vectorunit kern.argmax kern.hostname kern.maxfilesperproc kern.maxprocperuid"
              " kern.ngroups kern.osproductversion kern.osrelease kern.ostype"
              " kern.osvariant_status kern.osversion kern.secure_kernel kern.usrstack64"
              " kern.version sysctl.proc_cputype vm.loadavg"},
    {.rule = "allow sysctl-read",
     .as = "sysctl-name-prefix",
     .words = "hw.optional. hw.perflevel machdep.cpu."},
    {.why = "Names of users and groups: getpwuid(3) asks this service, and no file.",
     .rule = "allow mach-lookup",
     .as = "global-name",
     .words = "com.apple.system.opendirectoryd.libinfo"},
    {.why = "Semaphores of Python's multiprocessing.",
     .rule = "allow ipc-posix-sem",
     .as = "ipc-posix-name-prefix",
     .words = "/mp-"},
    {.why = "The mark that OpenMP leaves of its copies in a process; without it they abort.",
     .rule = "allow ipc-posix-shm-read* ipc-posix-shm-write-create ipc-posix-shm-write-data"
             " ipc-posix-shm-write-unlink",
     .as = "ipc-posix-name-prefix",
     .words = "/__KMP_REGISTERED_LIB_"},
    {.why = "The one way out: the host's socket, of this one path.",
     .rule = "allow network-outbound",
     .as = "literal",
     .of = OF_SOCKET},
    {.rule = "allow system-socket", .filters = "(socket-domain AF_UNIX)"},
    {.why = "Taken back: to put something else in the place of a writable directory; files\n"
            "that run with the rights of their owner; and access lists, which could keep the host\n"
            "from removing them.",
     .rule = "deny file-write-create file-write-unlink",
     .as = "literal",
     .of = OF_WRITE},
    {.rule = "deny file-write-setugid file-write-acl", .as = "subpath", .of = OF_WRITE},
    {.why = "sandbox.protect, and the directories above, which would be moved away with it.",
     .rule = "deny file-write-create file-write-unlink file-write-data file-write-mode"
             " file-write-owner file-write-flags file-write-times file-write-xattr"
             " file-write-setugid file-write-acl",
     .as = "subpath",
     .of = OF_PROTECT},
    {.rule = "deny file-write-unlink", .as = "path-ancestors", .of = OF_PROTECT},
};

static void seatbelt_put(struct seatbelt_state *state, const char *text)
{
    backend_text_add(&state->text, text, strlen(text));
}

/* Writes as many filters on a line as fit. */
static void seatbelt_put_filter(struct seatbelt_state *state, const char *filter)
{
    size_t len = strlen(filter);
    int fits = state->column && state->column + 1 + len <= SEATBELT_COLUMNS;

    seatbelt_put(state, fits ? " " : "\n  ");
    seatbelt_put(state, filter);
    state->column = fits ? state->column + 1 + len : 2 + len;
}

/* Writes the filters of rule `i` and returns their number. */
static unsigned seatbelt_put_filters(struct seatbelt_state *state, size_t i)
{
    const char *as = seatbelt_rules[i].as, *next;
    char text[128];
    unsigned n = 0;

    state->column = 0;
    for (const char *word = seatbelt_rules[i].words; word && *word; word = next, n++) {
        int len = (int)strcspn(word, " ");
        next = word + len + (word[len] == ' ');
        snprintf(text, sizeof text, "(%s \"%.*s\")", as, len, word);
        seatbelt_put_filter(state, text);
    }
    for (const char *filter = seatbelt_rules[i].filters; filter && *filter; filter = next, n++) {
        int len = (int)strcspn(filter, "\n");
        next = filter + len + (filter[len] == '\n');
        snprintf(text, sizeof text, "%.*s", len, filter);
        seatbelt_put_filter(state, text);
    }
    for (unsigned kind = 0; kind < SEATBELT_KINDS; kind++)
        for (unsigned k = 0; seatbelt_rules[i].of & (1u << kind) && k < state->n[kind]; k++, n++) {
            snprintf(text, sizeof text, "(%s (param \"%s_%u\"))", as, seatbelt_names[kind], k);
            seatbelt_put_filter(state, text);
        }
    return n;
}

/* The text of a profile is a program in Scheme: an operation that a system lacks is an unbound
 * name, which makes the whole profile fail. The profile itself tests this with defined?, as the
 * profiles of Firefox do, so lazaret need not try it first. */
static void seatbelt_put_rule(struct seatbelt_state *state, size_t i)
{
    const char *known = seatbelt_rules[i].known;
    size_t begin = state->text.len;

    if (known) {
        seatbelt_put(state, "(if (defined? '");
        seatbelt_put(state, known);
        seatbelt_put(state, ") ");
    }
    seatbelt_put(state, "(");
    seatbelt_put(state, seatbelt_rules[i].rule);
    if (!seatbelt_put_filters(state, i) && !seatbelt_rules[i].whole)
        state->text.len = begin; /* without a filter the rule would hold for everything */
    else
        seatbelt_put(state, known ? "))\n" : ")\n");
}

static void seatbelt_put_why(struct seatbelt_state *state, const char *why)
{
    seatbelt_put(state, "\n;; ");
    for (; *why; why++)
        backend_text_add(&state->text, *why == '\n' ? "\n;; " : why, *why == '\n' ? 4 : 1);
    seatbelt_put(state, "\n");
}

/* The two directories above the home identify the session; only plain letters of them are used. */
static void seatbelt_put_tag(struct seatbelt_state *state, const char *home)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *end = strrchr(home, '/'), *begin = end;

    for (int up = 0; up < 2 && begin && begin > home; up++)
        while (begin > home && *--begin != '/')
            ;
    seatbelt_put(state, SEATBELT_TAG);
    for (const char *c = begin ? begin + 1 : home; end && c < end; c++)
        backend_text_add(&state->text, strchr(plain, *c) ? c : ".", 1);
}

static void seatbelt_profile(struct seatbelt_state *state, const struct laz_policy *policy)
{
    const enum seatbelt_when other =
        policy->programs ? SEATBELT_ANY_PROGRAM : SEATBELT_NAMED_PROGRAMS;

    seatbelt_put(state, "(version 1)\n(deny default (with message \"");
    seatbelt_put_tag(state, policy->home);
    seatbelt_put(state, "\"))\n");
    for (size_t i = 0; i < sizeof seatbelt_rules / sizeof seatbelt_rules[0]; i++) {
        if (seatbelt_rules[i].when == other)
            continue;
        const size_t begin = state->text.len;
        if (seatbelt_rules[i].why)
            seatbelt_put_why(state, seatbelt_rules[i].why);
        const size_t rule = state->text.len;
        seatbelt_put_rule(state, i);
        if (state->text.len == rule) /* no rule, so no reason */
            state->text.len = begin;
    }
}

/* ---- the parameters ------------------------------------------------------------------------- */

/* Can this be the real path of a file, with which the kernel compares rules? Files of the data
 * volume, which is mounted over the root, have their paths there. */
static int seatbelt_is_real(const char *path)
{
    static const char *const links[] = {"/etc", "/tmp", "/var", "/System/Volumes/Data"};
    size_t len = strlen(path);

    if (path[0] != '/' || (len > 1 && path[len - 1] == '/'))
        return 0;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        size_t n = strlen(links[i]);
        if (strncmp(path, links[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
            return 0;
    }
    return 1;
}

static int seatbelt_param(struct seatbelt_state *state, enum seatbelt_kind kind, const char *path,
                          struct laz_error *err)
{
    char name[32];

    if (!seatbelt_is_real(path)) {
        return laz_fail(
            err, LAZ_ECONFIG,
            "a rule for %.300s would never match: it needs the path that the file really "
            "has, absolute, without links (/private/tmp for /tmp), without "
            "/System/Volumes/Data before it and without a slash at its end",
            path);
    }
    int len = snprintf(name, sizeof name, "%s_%u=", seatbelt_names[kind], state->n[kind]);
    state->word.len = 0;
    backend_text_add(&state->word, name, (size_t)len);
    backend_text_add(&state->word, path, strlen(path) + 1);
    if (state->word.failed)
        return 0; /* out of memory is reported once, at the end */
    state->n[kind]++;
    state->api->arg(state->plan, "-D");
    state->api->arg(state->plan, state->word.data);
    return 0;
}

/* A path that can be executed can be read too. */
static int seatbelt_is_program(const struct laz_policy *policy, const char *path)
{
    int is = strcmp(path, policy->host_command) == 0;

    for (const char *const *program = policy->programs; program && *program && !is; program++)
        is = strcmp(path, *program) == 0;
    return is;
}

static int seatbelt_params(struct seatbelt_state *state, const struct laz_policy *policy,
                           struct laz_error *err)
{
    static const enum seatbelt_kind kinds[] = {[LAZ_PATH_READ] = SEATBELT_READ,
                                               [LAZ_PATH_WRITE] = SEATBELT_WRITE,
                                               [LAZ_PATH_SYMLINK] = SEATBELT_LINK,
                                               [LAZ_PATH_PROTECTED] = SEATBELT_PROTECT};
    int rc = 0;

    for (size_t i = 0; i < policy->n_paths && !rc; i++) {
        const struct laz_path *path = &policy->paths[i];
        if (path->kind == LAZ_PATH_READ && seatbelt_is_program(policy, path->host))
            continue;
        if (path->kind != LAZ_PATH_CONTENT)
            rc = seatbelt_param(state, kinds[path->kind],
                                path->kind == LAZ_PATH_SYMLINK ? path->box : path->host, err);
    }
    if (!rc)
        rc = seatbelt_param(state, SEATBELT_EXEC, policy->host_command, err);
    for (const char *const *program = policy->programs; program && *program && !rc; program++)
        rc = seatbelt_param(state, SEATBELT_EXEC, *program, err);
    for (const char *const *env = policy->env; env && *env && !rc; env++)
        if (strncmp(*env, SEATBELT_SOCKET, strlen(SEATBELT_SOCKET)) == 0)
            rc = seatbelt_param(state, SEATBELT_SOCKET_AT, *env + strlen(SEATBELT_SOCKET), err);
    return rc;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* macOS accepts a limit on memory but does not enforce it, so none is set: the host's watchdog
 * counts. Processes are counted for each user. */
static void seatbelt_promises(const struct laz_plan_api *api, const struct laz_policy *policy,
                              struct laz_plan *plan)
{
    struct laz_limits limits = policy->limits;

    limits.memory_bytes = LAZ_UNLIMITED;
    backend_limits(api, &limits, plan, policy->own_uid ? "rlimit of the session's uid" : NULL, 1);
    api->enforces(plan,
                  LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE | LAZ_ENFORCE_NETWORK |
                      LAZ_ENFORCE_SIGNALS | LAZ_ENFORCE_TERMINALS,
                  "Seatbelt profile");
    if (!policy->own_uid && limits.nproc != LAZ_UNLIMITED)
        api->weakly(plan, LAZ_ENFORCE_NPROC, "rlimit, beside all that the user runs");
    api->weakly(plan, LAZ_ENFORCE_PROCESSES, "neither read nor signalled, but found by number");
}

static int seatbelt_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                         struct laz_plan *plan, struct laz_error *err)
{
    struct seatbelt_state state = {.api = api, .plan = plan};
    const char *file = NULL;

    int rc = backend_reaper(api, policy, plan, "seatbelt", err);
    if (rc)
        return rc;
    api->arg(plan, SEATBELT_PROGRAM);
    rc = seatbelt_params(&state, policy, err);
    if (rc)
        goto out;
    seatbelt_profile(&state, policy);
    if (!state.text.failed && !state.word.failed)
        file = api->file(plan, SEATBELT_FILE, state.text.data, state.text.len);
    if (!file) {
        rc = laz_fail(err, LAZ_ENOMEM, "out of memory");
        goto out;
    }
    api->arg(plan, "-f");
    api->arg(plan, file);
    backend_agent(api, policy, plan);
    seatbelt_promises(api, policy, plan);
out:
    free(state.text.data);
    free(state.word.data);
    return rc;
}

/* ---- why no box came up --------------------------------------------------------------------- */

#define SEATBELT_ABORTED (128 + 6) /* SIGABRT, as the reaper passes it on */

/* Failures, recognised by messages or by the exit status; the first match counts. */
static const struct {
    const char *words;
    int32_t status;
    const char *sentence;
} seatbelt_signs[] = {
    {"sandbox_apply: Operation not permitted", 0,
     "lazaret runs inside a sandbox of macOS already (of an application, or of another tool), and "
     "sandboxes cannot be nested: start lazaret outside of that sandbox"},
    {SEATBELT_PROGRAM ": No such file", 0,
     "this macOS has no " SEATBELT_PROGRAM ", and so no sandbox that lazaret could use: run it in "
     "a virtual machine with Linux"},
    {"execvp() of", 0,
     "the profile does not let the agent be started: LAZARET_AGENT has to be the path of a program "
     "that the user can execute"},
    {"sandbox-exec: ", 0,
     "this macOS rejects the profile: its operations differ from those that the profile was made "
     "for (lazaret plan --backend seatbelt shows it); please report the version of macOS"},
    {NULL, SEATBELT_ABORTED,
     "the session was aborted before it began (SIGABRT): its profile does not allow what every "
     "process of this macOS needs; log show --last 5m --predicate 'eventMessage CONTAINS "
     "\"" SEATBELT_TAG "\"' shows what was refused; please report it with the version of macOS"},
};

static const char *seatbelt_find(const char *text, size_t len, const char *words)
{
    size_t n = strlen(words);

    for (size_t i = 0; n <= len && i <= len - n; i++)
        if (memcmp(text + i, words, n) == 0)
            return text + i;
    return NULL;
}

static int seatbelt_explain(const struct laz_backend_failure *failure, char *text, size_t text_size)
{
    const char *line = "";

    for (size_t i = 0; i < sizeof seatbelt_signs / sizeof seatbelt_signs[0]; i++) {
        const char *words = seatbelt_signs[i].words, *found = NULL;
        if (words)
            found = seatbelt_find(failure->output, failure->output_len, words);
        if (found) {
            int len = backend_line(failure, found, 200, &line);
            snprintf(text, text_size, "%s (%.*s)", seatbelt_signs[i].sentence, len, line);
            return 0;
        }
        if (!words && (failure->exit_status == seatbelt_signs[i].status ||
                       failure->signal == seatbelt_signs[i].status - 128)) {
            snprintf(text, text_size, "%s", seatbelt_signs[i].sentence);
            return 0;
        }
    }
    return LAZ_ENOENT;
}

static const struct laz_backend_ops seatbelt_ops = {
    .size = sizeof seatbelt_ops,
    .can_enforce = SEATBELT_ENFORCES,
    .flags = LAZ_BACKEND_HOST_FILES | LAZ_BACKEND_PROTECTS,
    .platforms = "darwin",
    .plan = seatbelt_plan,
    .explain = seatbelt_explain,
};

LAZ_PLUGIN(seatbelt) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_BACKEND),
    .name = "seatbelt",
    .version = "0.1.0",
    .summary = "macOS: a profile of rules for the kernel, by sandbox-exec, and a reaper",
    .options = seatbelt_options,
    .ops = &seatbelt_ops,
};
