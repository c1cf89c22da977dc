/* SPDX-License-Identifier: MIT */
/* test_picture.c - what is left to the process that decodes pictures: each attempt is made twice in
 * a child of its own, without its confinement, where it succeeds, and with it. */
#include "unit.h"

#include "picture/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the child reports: 0 or an errno, and how it ended. */
struct outcome {
    int err, signal, status;
};

static int *shared;
static int pipe_of[2], spare;

/* ---- attempts; 0: it worked ------------------------------------------------------------------ */

static int result_of(long result)
{
    return result < 0 ? errno : 0;
}

static int opens_a_file(void)
{
    return result_of(open("/etc/passwd", O_RDONLY));
}

static int looks_at_a_file(void)
{
    return result_of(access("/etc/passwd", R_OK));
}

static int lists_a_directory(void)
{
    return result_of(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY));
}

static int makes_a_file(void)
{
    char path[] = "/tmp/lazaret-picture-XXXXXX";
    const int fd = mkstemp(path), err = errno;

    if (fd >= 0)
        unlink(path);
    return fd >= 0 ? 0 : err;
}

static int makes_a_socket(void)
{
    return result_of(socket(AF_INET, SOCK_STREAM, 0));
}

static int makes_a_unix_socket(void)
{
    return result_of(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int makes_a_process(void)
{
    const pid_t pid = fork(); /* glibc's: clone(2) */

    if (pid == 0)
        _exit(0);
    return result_of(pid);
}

static int runs_a_program(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return errno;
}

static int signals_its_parent(void)
{
    return result_of(kill(getppid(), SIGCONT)); /* which has no effect on one that runs */
}

static int reads_another_descriptor(void)
{
    char c;

    return result_of(pread(spare, &c, 1, 0));
}

static int reads_its_third_descriptor(void)
{
    char c;

    return result_of(read(spare, &c, 1));
}

static int writes_its_third_descriptor(void)
{
    return result_of(write(spare, "x", 1));
}

static int maps_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
               ? errno
               : 0;
}

static int makes_memory_executable(void)
{
    return result_of(mprotect(shared, 4096, PROT_READ | PROT_WRITE | PROT_EXEC));
}

static int raises_a_limit(void)
{
    const struct rlimit limit = {60, 60};

    return result_of(setrlimit(RLIMIT_CPU, &limit));
}

static int sleeps(void)
{
    return result_of(
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &(const struct timespec){0, 1}, NULL));
}

#ifndef LAZ_SANITIZE /* whose tables are many times any limit */
static int takes_much_memory(void)
{
    return mmap(NULL, PICTURE_MEMORY + 1, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED
               ? errno
               : 0;
}
#endif

/* What a decoder does. */
static int works(void)
{
    char *block = malloc((size_t)64 << 20), c;

    if (!block)
        return ENOMEM;
    memset(block, 1, (size_t)64 << 20);
    block = realloc(block, (size_t)96 << 20);
    if (!block || block[1 << 20] != 1)
        return ENOMEM;
    free(block);
    return read(STDIN_FILENO, &c, 1) == 1 && write(STDOUT_FILENO, &c, 1) == 1 ? 0 : errno;
}

/* ---- in a child ------------------------------------------------------------------------------ */

/* Starts the attempt in a child, whose standard input and output are both ends of the same pipe. */
static pid_t begin(int (*attempt)(void), bool is_confined)
{
    struct laz_error err = {0};

    *shared = -1;
    fflush(stdout);
    CU_ASSERT_EQUAL_FATAL(pipe(pipe_of), 0);
    CU_ASSERT_EQUAL(write(pipe_of[1], "x", 1), 1);
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_of[0], STDIN_FILENO);
        dup2(pipe_of[1], STDOUT_FILENO);
        if (is_confined && picture_confine(&err)) {
            fprintf(stderr, "%s\n", err.text);
            _exit(99);
        }
        *shared = attempt();
        syscall(SYS_exit_group, 0); /* _exit of a sanitizer would look for leaks first */
    }
    close(pipe_of[1]);
    return child;
}

static struct outcome end(pid_t child)
{
    int how = 0;

    close(pipe_of[0]);
    CU_ASSERT_EQUAL(waitpid(child, &how, 0), child);
    return (struct outcome){*shared, WIFSIGNALED(how) ? WTERMSIG(how) : 0,
                            WIFEXITED(how) ? WEXITSTATUS(how) : -1};
}

static struct outcome outcome_of(int (*attempt)(void), bool is_confined)
{
    return end(begin(attempt, is_confined));
}

#define ATTEMPT(name, refusal)                                                                     \
    {                                                                                              \
#name, name, refusal                                                                       \
    }

static void live_decoder_has_nothing_but_its_pipes(void)
{
    static const struct {
        const char *name;
        int (*attempt)(void);
        int refusal;
    } rows[] = {
        ATTEMPT(opens_a_file, EPERM),
        ATTEMPT(looks_at_a_file, EPERM),
        ATTEMPT(lists_a_directory, EPERM),
        ATTEMPT(makes_a_file, EPERM),
        ATTEMPT(makes_a_socket, EPERM),
        ATTEMPT(makes_a_unix_socket, EPERM),
        ATTEMPT(makes_a_process, EPERM),
        ATTEMPT(signals_its_parent, EPERM),
        ATTEMPT(reads_another_descriptor, EPERM),
        ATTEMPT(reads_its_third_descriptor, EPERM),
        ATTEMPT(writes_its_third_descriptor, EPERM),
        ATTEMPT(maps_code, EPERM),
        ATTEMPT(makes_memory_executable, EPERM),
        ATTEMPT(raises_a_limit, EPERM),
        ATTEMPT(sleeps, EPERM),
#ifndef LAZ_SANITIZE
        ATTEMPT(takes_much_memory, ENOMEM),
#endif
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct outcome without = outcome_of(rows[i].attempt, false);
        const struct outcome within = outcome_of(rows[i].attempt, true);
        if (without.err != 0 || within.err != rows[i].refusal || within.status != 0)
            printf("\n    %s: without %d, within %d, status %d, signal %d", rows[i].name,
                   without.err, within.err, within.status, within.signal);
        CU_ASSERT_EQUAL(without.err, 0);
        CU_ASSERT_EQUAL(within.err, rows[i].refusal);
        CU_ASSERT_EQUAL(within.status, 0);
    }
}

/* A program that runs leaves no report: it ends with its own status. */
static void live_decoder_runs_no_program(void)
{
    CU_ASSERT_EQUAL(outcome_of(runs_a_program, false).err, -1);
    CU_ASSERT_EQUAL(outcome_of(runs_a_program, true).err, EPERM);
}

static int never_ends(void)
{
    volatile bool goes_on = write(STDOUT_FILENO, "y", 1) == 1;

    while (goes_on)
        continue;
    return 0;
}

/* Its limit is lowered from outside, to one second of CPU time, because the test has no need of
 * more. */
static void live_decoder_that_does_not_end_is_ended(void)
{
    const pid_t child = begin(never_ends, true);
    struct rlimit limit = {0, 0};
    char said[3] = "";

    for (size_t n = 0; n < 2;) { /* "x" is what begin wrote */
        const ssize_t more = read(pipe_of[0], said + n, 2 - n);
        CU_ASSERT_FATAL(more > 0);
        n += (size_t)more;
    }
    CU_ASSERT_STRING_EQUAL(said, "xy");
    CU_ASSERT_EQUAL(prlimit(child, RLIMIT_CPU, NULL, &limit), 0);
    CU_ASSERT_EQUAL(limit.rlim_cur, PICTURE_CPU_S);
    limit.rlim_cur = 1;
    CU_ASSERT_EQUAL(prlimit(child, RLIMIT_CPU, &limit, NULL), 0);
    CU_ASSERT_EQUAL(end(child).signal, SIGXCPU);
}

static void live_decoder_can_work(void)
{
    CU_ASSERT_EQUAL(outcome_of(works, false).err, 0);
    CU_ASSERT_EQUAL(outcome_of(works, true).err, 0);
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(live_decoder_has_nothing_but_its_pipes),
        UNIT(live_decoder_runs_no_program),
        UNIT(live_decoder_that_does_not_end_is_ended),
        UNIT(live_decoder_can_work),
        {0},
    };
    char path[] = "/tmp/lazaret-picture-XXXXXX";

    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    spare = mkstemp(path);
    if (shared == MAP_FAILED || spare < 0 || unlink(path) || write(spare, "x", 1) != 1)
        return 1;
    return unit_run("picture", tests);
}
