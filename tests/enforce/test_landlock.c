/* SPDX-License-Identifier: MIT */
/* test_landlock.c - what Landlock refuses, as the kernel answers.
 *
 * Each attempt is made by a child of its own: without rules, where it has to work; under each
 * version of the interface up to the kernel's, as on an older kernel; and with a rule that allows
 * it again. A denial counts only with its exact error. */
#include "unit.h"

#include "os/directories.h"
#include "os/files.h"
#include "os/landlock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[] = "/tmp/laz-test-landlock-XXXXXX";
static int kernel; /* its version of the interface */
static uint16_t port;
static pid_t victim;

static const char *in_base(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

/* ---- attempts: 0, or the error -------------------------------------------------------------- */

static int opened(int fd)
{
    int failed = fd < 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    return failed;
}

static int made(int rc)
{
    return rc < 0 ? errno : 0;
}

static int try_read(void)
{
    return opened(open(in_base("file"), O_RDONLY));
}

static int try_list(void)
{
    return opened(open(base, O_RDONLY | O_DIRECTORY));
}

static int try_write(void)
{
    return opened(open(in_base("file"), O_WRONLY));
}

static int try_truncate(void)
{
    return made(truncate(in_base("file"), 0));
}

static int try_create(void)
{
    return opened(open(in_base("new"), O_WRONLY | O_CREAT, 0600));
}

static int try_remove(void)
{
    return made(unlink(in_base("file")));
}

static int try_mkdir(void)
{
    return made(mkdir(in_base("new"), 0700));
}

static int try_symlink(void)
{
    return made(symlink("file", in_base("new")));
}

static int try_rename(void)
{
    return made(rename(in_base("file"), in_base("new")));
}

static int try_rename_into_another_directory(void)
{
    return made(rename(in_base("file"), in_base("directory/file")));
}

static int try_hard_link(void)
{
    return made(link(in_base("file"), in_base("directory/link")));
}

static int try_device(void)
{
    return opened(open("/dev/null", O_RDWR));
}

static int try_device_ioctl(void)
{
    int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY), number;
    int failed = fd < 0 ? errno : made(ioctl(fd, TIOCGPTN, &number));

    if (fd >= 0)
        close(fd);
    return failed;
}

static int try_execute(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        execl(in_base("true"), "true", (char *)NULL);
        _exit(errno);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int try_tcp(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int failed = made(connect(fd, (struct sockaddr *)&address, sizeof address));

    close(fd);
    return failed;
}

static int try_tcp_listener(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_port = 0;
    int failed = made(bind(fd, (struct sockaddr *)&address, sizeof address));
    close(fd);
    return failed;
}

static int try_abstract_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t len = strlen(base);

    memcpy(address.sun_path + 1, base, len);
    int failed = made(connect(fd, (struct sockaddr *)&address,
                              (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)));
    close(fd);
    return failed;
}

static int try_signal(void)
{
    return made(kill(victim, SIGCONT));
}

static int try_memory_of_another(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/mem", (int)victim);
    return opened(open(path, O_RDONLY));
}

static int try_trace(void)
{
    return made((int)ptrace(PTRACE_SEIZE, victim, 0, 0));
}

/* ---- the child ------------------------------------------------------------------------------ */

/* Makes the directory as every attempt expects it. */
static void lay_out(void)
{
    unlink(in_base("new"));
    unlink(in_base("link"));
    rmdir(in_base("new"));
    unlink(in_base("directory/file"));
    unlink(in_base("directory/link"));
    mkdir(in_base("directory"), 0700);
    int fd = open(in_base("file"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CU_ASSERT_FATAL(fd >= 0 && write(fd, "text\n", 5) == 5);
    close(fd);
}

static bool fixed(const char *path, void *user)
{
    return !user || strcmp(path, user) != 0;
}

static bool keeps;        /* the rules are made of files that were opened before */
static bool lets_network; /* TCP is not restricted */

static int confine(int abi, const struct laz_landlock_rule *rules, size_t n, struct laz_error *err)
{
    struct laz_landlock_kept kept = {0};
    int ruleset = -1, rc = keeps ? laz_os_landlock_keep(rules, n, fixed, NULL, &kept, err) : 0;

    if (keeps && kept.n_open != (int)n)
        rc = LAZ_ESETUP;
    if (!rc)
        rc = laz_os_landlock_make(abi, lets_network, rules, n, &kept, &ruleset, err);
    laz_os_landlock_close_kept(&kept);
    if (!rc)
        rc = laz_os_landlock_enter(ruleset, err);
    if (ruleset >= 0)
        close(ruleset);
    return rc;
}

/* The errno of the attempt under version `abi` (0: without Landlock). -1: unknown. */
static int attempt(int abi, const struct laz_landlock_rule *rules, size_t n, int (*try)(void))
{
    struct laz_error err = {0};
    int status;

    lay_out();
    pid_t pid = fork();
    if (pid == 0) {
        if (abi && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || confine(abi, rules, n, &err))) {
            fprintf(stderr, "%s\n", err.text);
            _exit(255);
        }
        _exit(try());
    }
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == 255)
        return -1;
    return WEXITSTATUS(status);
}

static bool skipped(void)
{
    return !kernel && unit_skip("landlock", "the kernel has no Landlock");
}

/* ---- rules ---------------------------------------------------------------------------------- */

#define RULES 2 /* of a row, at most; entries without a path are unused */
#define RULE(path, rights)                                                                         \
    {                                                                                              \
        path, rights, false                                                                        \
    }
#define NO_RULE                                                                                    \
    {                                                                                              \
        NULL, 0, false                                                                             \
    }

static const struct row {
    const char *what;
    int (*try)(void);
    int abi; /* the first version that refuses it */
    int refusal;
    struct laz_landlock_rule allow[RULES]; /* with these it works; none: nothing allows it */
    struct laz_landlock_rule lack[RULES];  /* with these it does not */
} rows[] = {
    {"read",
     try_read,
     1,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_READ)},
     {RULE(base, LAZ_LANDLOCK_WRITE)}},
    {"list", try_list, 1, EACCES, {RULE(base, LAZ_LANDLOCK_READ)}, {RULE(base, LAZ_LANDLOCK_DEV)}},
    {"write",
     try_write,
     1,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_WRITE)},
     {RULE(base, LAZ_LANDLOCK_READ)}},
    {"truncate",
     try_truncate,
     3,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_WRITE)},
     {RULE(base, LAZ_LANDLOCK_DEV)}},
    {"create",
     try_create,
     1,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_WRITE)},
     {RULE(base, LAZ_LANDLOCK_DEV)}},
    {"remove",
     try_remove,
     1,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_WRITE)},
     {RULE(base, LAZ_LANDLOCK_READ)}},
    {"mkdir",
     try_mkdir,
     1,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_WRITE)},
     {RULE(base, LAZ_LANDLOCK_READ)}},
    {"symlink",
     try_symlink,
     1,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_WRITE)},
     {RULE(base, LAZ_LANDLOCK_READ)}},
    {"rename",
     try_rename,
     1,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_WRITE)},
     {RULE(base, LAZ_LANDLOCK_READ)}},
    {"device",
     try_device,
     1,
     EACCES,
     {RULE("/dev/null", LAZ_LANDLOCK_DEV)},
     {RULE(base, LAZ_LANDLOCK_DEV)}},
    {"ioctl of a device",
     try_device_ioctl,
     5,
     EACCES,
     {RULE("/dev/ptmx", LAZ_LANDLOCK_READ | LAZ_LANDLOCK_WRITE)},
     {RULE("/dev/ptmx", LAZ_LANDLOCK_DEV)}},
    {"ioctl of a terminal",
     try_device_ioctl,
     5,
     EACCES,
     {RULE("/dev", LAZ_LANDLOCK_TERMINAL)},
     {RULE("/dev", LAZ_LANDLOCK_DEV)}},
    {"execute",
     try_execute,
     1,
     EACCES,
     {RULE(base, LAZ_LANDLOCK_EXEC), RULE("/", LAZ_LANDLOCK_READ | LAZ_LANDLOCK_EXEC)},
     {RULE("/", LAZ_LANDLOCK_READ | LAZ_LANDLOCK_WRITE)}},
    {"tcp", try_tcp, 4, EACCES, {NO_RULE}, {RULE("/", LAZ_LANDLOCK_READ | LAZ_LANDLOCK_WRITE)}},
    {"tcp listener", try_tcp_listener, 4, EACCES, {NO_RULE}, {NO_RULE}},
    {"abstract socket", try_abstract_socket, 6, EPERM, {NO_RULE}, {NO_RULE}},
    {"signal", try_signal, 6, EPERM, {NO_RULE}, {NO_RULE}},
    {"trace", try_trace, 1, EPERM, {NO_RULE}, {NO_RULE}},
    {"memory of another",
     try_memory_of_another,
     1,
     EACCES,
     {NO_RULE},
     {RULE("/", LAZ_LANDLOCK_READ | LAZ_LANDLOCK_WRITE)}},
};

static size_t rules_of(const struct laz_landlock_rule *rules)
{
    size_t n = 0;

    while (n < RULES && rules[n].path)
        n++;
    return n;
}

static void expect(const struct row *row, const char *how, int abi, int got, int wanted)
{
    if (got != wanted)
        printf("\n    %s, %s, version %d: error %d, not %d", row->what, how, abi, got, wanted);
    CU_ASSERT_EQUAL(got, wanted);
}

static void live_landlock_refuses_what_no_rule_allows(void)
{
    if (skipped())
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        expect(row, "unconfined", 0, attempt(0, NULL, 0, row->try), 0);
        if (kernel < row->abi) {
            printf("    (%s: not with version %d)\n", row->what, kernel);
            continue;
        }
        expect(row, "no rule", kernel, attempt(kernel, NULL, 0, row->try), row->refusal);
        expect(row, "other rules", kernel,
               attempt(kernel, row->lack, rules_of(row->lack), row->try), row->refusal);
    }
}

static void live_landlock_allows_what_a_rule_says(void)
{
    if (skipped())
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rules_of(rows[i].allow))
            expect(&rows[i], "allowed", kernel,
                   attempt(kernel, rows[i].allow, rules_of(rows[i].allow), rows[i].try), 0);
}

static void live_landlock_is_the_same_with_files_that_were_kept(void)
{
    if (skipped())
        return;
    keeps = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        if (rules_of(row->allow))
            expect(row, "allowed by a kept file", kernel,
                   attempt(kernel, row->allow, rules_of(row->allow), row->try), 0);
        if (kernel >= row->abi)
            expect(row, "other kept files", kernel,
                   attempt(kernel, row->lack, rules_of(row->lack), row->try), row->refusal);
    }
    keeps = false;
}

#define OWN_FDS 80 /* numbers to look at */

/* Bits of the numbers, from LAZ_LANDLOCK_KEPT_FIRST on, that are open. */
static unsigned kept_numbers(void)
{
    unsigned open = 0;

    for (int i = 0; i < OWN_FDS - LAZ_LANDLOCK_KEPT_FIRST; i++)
        if (fcntl(LAZ_LANDLOCK_KEPT_FIRST + i, F_GETFD) >= 0)
            open |= 1u << i;
    return open;
}

/* Links, other forms of a path, what does not exist, and what changes, are left to be opened later;
 * a number that is in use ends the list. */
static int keep_some(void)
{
    const struct laz_landlock_rule rules[] = {{in_base("file"), LAZ_LANDLOCK_READ, false},
                                              {in_base("link"), LAZ_LANDLOCK_READ, false},
                                              {in_base("./file"), LAZ_LANDLOCK_READ, false},
                                              {in_base("nowhere"), LAZ_LANDLOCK_READ, true},
                                              {"/usr/../dev", LAZ_LANDLOCK_READ, false},
                                              {"/dev/null", LAZ_LANDLOCK_DEV, false},
                                              {"/dev", LAZ_LANDLOCK_READ, false},
                                              {"/", LAZ_LANDLOCK_READ, false}};
    const size_t n = sizeof rules / sizeof *rules;
    struct laz_landlock_kept kept;

    if (symlink("file", in_base("link")) != 0 ||
        dup2(STDOUT_FILENO, LAZ_LANDLOCK_KEPT_FIRST + 2) < 0 ||
        laz_os_landlock_keep(rules, n, fixed, (void *)(uintptr_t) "/dev/null", &kept, NULL) != 0)
        return 1;
    if (kept.n_open != 2 || kept.n_rules != n || kept_numbers() != 7)
        return 2;
    laz_os_landlock_close_others(&kept, STDERR_FILENO + 1);
    if (kept_numbers() != 3)
        return 3;
    for (int fd = STDERR_FILENO + 1; fd < LAZ_LANDLOCK_KEPT_FIRST; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return 4;
    if (!laz_os_landlock_close_kept(&kept))
        return 6;
    return kept_numbers() || kept.n_open ? 5 : 0;
}

/* With the files of other rules each is made by its path: it is not allowed what another is. */
static int read_with_files_of_another_list(void)
{
    const struct laz_landlock_rule before[] = {{base, LAZ_LANDLOCK_READ, false}};
    const struct laz_landlock_rule rules[] = {{"/dev", LAZ_LANDLOCK_READ, false}};
    struct laz_landlock_kept kept;
    int ruleset;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        laz_os_landlock_keep(before, 1, fixed, NULL, &kept, NULL) != 0 || kept.n_open != 1 ||
        laz_os_landlock_make(kernel, false, rules, 1, &kept, &ruleset, NULL) != 0 ||
        laz_os_landlock_enter(ruleset, NULL) != 0)
        return 254;
    return try_read();
}

/* The file that a path leads to when the rules are made is allowed, and not the one that was kept.
 */
static int replace_what_was_kept(void)
{
    const struct laz_landlock_rule rules[] = {{in_base("file"), LAZ_LANDLOCK_READ, false}};
    struct laz_landlock_kept kept;
    int ruleset;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        laz_os_landlock_keep(rules, 1, fixed, NULL, &kept, NULL) != 0 || kept.n_open != 1 ||
        rename(in_base("file"), in_base("new")) != 0 ||
        opened(open(in_base("file"), O_WRONLY | O_CREAT, 0600)) != 0)
        return 254;
    laz_os_landlock_check_kept(&kept);
    if (laz_os_landlock_make(kernel, false, rules, 1, &kept, &ruleset, NULL) != 0 ||
        !laz_os_landlock_close_kept(&kept) || laz_os_landlock_enter(ruleset, NULL) != 0)
        return 253;
    if (opened(open(in_base("new"), O_RDONLY)) != EACCES)
        return 252;
    return try_read();
}

/* Then TCP is not refused by any version, and all else is as before. */
static void live_landlock_can_leave_out_the_network(void)
{
    if (skipped())
        return;
    lets_network = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool is_tcp = rows[i].try == try_tcp || rows[i].try == try_tcp_listener;
        const bool refuses = !is_tcp && rows[i].abi <= kernel;
        CU_ASSERT_EQUAL(attempt(kernel, NULL, 0, rows[i].try), refuses ? rows[i].refusal : 0);
    }
    lets_network = false;
}

static void live_landlock_keeps_what_stays_the_same(void)
{
    if (skipped())
        return;
    CU_ASSERT_EQUAL(attempt(0, NULL, 0, replace_what_was_kept), 0);
    CU_ASSERT_EQUAL(attempt(0, NULL, 0, keep_some), 0);
    CU_ASSERT_EQUAL(attempt(0, NULL, 0, read_with_files_of_another_list), EACCES);
}

/* An older kernel refuses what it supports, and allows what only a newer one can refuse. */
static void live_landlock_of_an_older_kernel_refuses_less(void)
{
    static const struct laz_landlock_rule reach[] = {{"/dev/ptmx", LAZ_LANDLOCK_DEV, false},
                                                     {"/tmp", LAZ_LANDLOCK_DEV, false}};

    if (skipped())
        return;
    for (int abi = 1; abi <= kernel; abi++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int got =
                attempt(abi, rows[i].abi > 1 ? reach : NULL, rows[i].abi > 1 ? 2 : 0, rows[i].try);
            expect(&rows[i], "of an older kernel", abi, got,
                   abi >= rows[i].abi ? rows[i].refusal : 0);
        }
}

static void live_landlock_joins_no_directories_of_different_rights(void)
{
    char directory[64];
    const struct laz_landlock_rule all[] = {{base, LAZ_LANDLOCK_READ | LAZ_LANDLOCK_WRITE, false}};
    const struct laz_landlock_rule one[] = {{directory, LAZ_LANDLOCK_WRITE, false}};

    if (skipped())
        return;
    CU_ASSERT_EQUAL(attempt(0, NULL, 0, try_rename_into_another_directory), 0);
    CU_ASSERT_EQUAL(attempt(0, NULL, 0, try_hard_link), 0);
    /* Before version 2 there is no right for it: it is always refused. */
    CU_ASSERT_EQUAL(attempt(1, all, 1, try_rename_into_another_directory), EXDEV);
    if (kernel >= 2) {
        CU_ASSERT_EQUAL(attempt(2, all, 1, try_rename_into_another_directory), 0);
        CU_ASSERT_EQUAL(attempt(2, all, 1, try_hard_link), 0);
    }
    snprintf(directory, sizeof directory, "%s/directory", base);
    CU_ASSERT_EQUAL(attempt(kernel, one, 1, try_hard_link), EXDEV);
}

static void landlock_says_what_it_cannot_do(void)
{
    const struct laz_landlock_rule missing[] = {{in_base("nowhere"), LAZ_LANDLOCK_READ, false}};
    struct laz_error err = {0};

    if (skipped())
        return;
    /* None of these confines this process. */
    CU_ASSERT_EQUAL(confine(kernel, missing, 1, &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nowhere cannot be allowed"));
    CU_ASSERT_EQUAL(err.os_errno, ENOENT);
    CU_ASSERT_EQUAL(confine(kernel + 1, NULL, 0, &err), LAZ_ESETUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "was asked for, the kernel has"));
    CU_ASSERT_EQUAL(confine(0, NULL, 0, &err), LAZ_ESETUP);
    lay_out();
    CU_ASSERT_EQUAL(try_read(), 0);
}

static int try_without_no_new_privs(void)
{
    struct laz_error err = {0};

    if (setresuid(65534, 65534, 65534) != 0 && geteuid() == 0)
        return -1;
    return confine(kernel, NULL, 0, &err) ? err.os_errno : 0;
}

static int try_optional(void)
{
    const struct laz_landlock_rule rules[] = {{in_base("nowhere"), LAZ_LANDLOCK_READ, true},
                                              {in_base("file/below"), LAZ_LANDLOCK_READ, true},
                                              {in_base("file"), LAZ_LANDLOCK_READ, true}};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return confine(kernel, rules, 3, NULL) ? 254 : try_read();
}

static void live_landlock_passes_over_what_may_be_missing(void)
{
    if (skipped())
        return;
    CU_ASSERT_EQUAL(attempt(0, NULL, 0, try_optional), 0);
    /* A process that could still gain privileges cannot confine itself. */
    CU_ASSERT_EQUAL(attempt(0, NULL, 0, try_without_no_new_privs), EPERM);
}

static void landlock_rights_have_letters(void)
{
    char text[8];

    for (uint32_t rights = 1; rights < 32; rights++) {
        laz_landlock_letters(rights, text);
        CU_ASSERT_EQUAL(laz_landlock_rights(text), rights);
    }
    laz_landlock_letters(LAZ_LANDLOCK_EXEC | LAZ_LANDLOCK_READ, text);
    UNIT_TEXT(text, "rx");
    CU_ASSERT_EQUAL(laz_landlock_rights("rq"), 0);
    CU_ASSERT_EQUAL(laz_landlock_rights(""), 0);
}

static const struct unit_test tests[] = {
    UNIT(live_landlock_refuses_what_no_rule_allows),
    UNIT(live_landlock_allows_what_a_rule_says),
    UNIT(live_landlock_is_the_same_with_files_that_were_kept),
    UNIT(live_landlock_keeps_what_stays_the_same),
    UNIT(live_landlock_can_leave_out_the_network),
    UNIT(live_landlock_of_an_older_kernel_refuses_less),
    UNIT(live_landlock_joins_no_directories_of_different_rights),
    UNIT(landlock_says_what_it_cannot_do),
    UNIT(live_landlock_passes_over_what_may_be_missing),
    UNIT(landlock_rights_have_letters),
    {0},
};

/* ---- what there is to reach ----------------------------------------------------------------- */

static int listen_at(struct sockaddr *address, socklen_t len)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd >= 0 && bind(fd, address, len) == 0 && listen(fd, 64) == 0 ? fd : -1;
}

static bool prepare(void)
{
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t len = sizeof tcp;

    if (!mkdtemp(base))
        return false;
    memcpy(name.sun_path + 1, base, strlen(base));
    int fd = listen_at((struct sockaddr *)&tcp, sizeof tcp);
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&tcp, &len) != 0 ||
        listen_at((struct sockaddr *)&name,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(base))) < 0)
        return false;
    port = ntohs(tcp.sin_port);
    victim = fork();
    if (victim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return victim > 0;
}

int main(void)
{
    int rc = 1;

    kernel = laz_os_landlock_abi();
    /* a program whose interpreter, the loader, is in another directory */
    if (prepare() && laz_os_copy_file("/bin/true", in_base("true"), 0755, NULL) == 0)
        rc = unit_run("landlock", tests);
    if (victim > 0)
        kill(victim, SIGKILL);
    laz_os_remove_tree(base);
    return rc;
}
