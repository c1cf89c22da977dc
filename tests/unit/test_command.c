/* SPDX-License-Identifier: MIT */
/* test_command.c - commands of the host: what they inherit, how they end, what they leave
 * behind. */
#include "unit.h"

#include "tool/command.h"
#include "os/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHELL(script) ((const char *const[]){"/bin/sh", "-c", script, NULL})

static struct laz_spawner *spawner;

struct run {
    const char *input;
    size_t input_len, max_output;
    int cancel_fd;
    struct laz_command_result result;
    struct laz_buf out, errs;
    struct laz_error err;
};

#define RUN_INIT                                                                                   \
    {                                                                                              \
        .cancel_fd = -1, .out = LAZ_BUF_INIT, .errs = LAZ_BUF_INIT                                 \
    }

static int run(struct run *run, const char *const *argv)
{
    struct laz_strv env = LAZ_STRV_INIT;
    const struct laz_command command = {
        .size = sizeof command,
        .argv = argv,
        .input = run->input,
        .input_len = run->input_len,
        .max_output = run->max_output,
    };

    CU_ASSERT_EQUAL(laz_command_environment(&env, NULL), 0);
    int ret = laz_command_run(spawner, &command, (const char *const *)env.items, run->cancel_fd,
                              LAZ_OS_FOREVER, &run->result, &run->out, &run->errs, &run->err);
    laz_strv_fini(&env);
    return ret;
}

static void run_fini(struct run *run)
{
    laz_buf_fini(&run->out);
    laz_buf_fini(&run->errs);
}

/* Has the process ended, or is it ending? */
static bool is_gone(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return errno == ESRCH;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int n = poll(&wait, 1, UNIT_HANG_MS);
    close(fd);
    return n == 1;
}

static void output_errors_and_status_arrive(void)
{
    struct run r = RUN_INIT;

    CU_ASSERT_EQUAL(run(&r, SHELL("printf 'a\\000b'; printf err >&2; exit 3")), 0);
    CU_ASSERT_EQUAL(r.result.exit_status, 3);
    CU_ASSERT_EQUAL(r.result.signal, 0);
    CU_ASSERT_EQUAL(r.result.output_len, 3);
    CU_ASSERT_EQUAL(memcmp(r.result.output, "a\0b", 3), 0);
    UNIT_TEXT(r.result.errors, "err");
    CU_ASSERT_EQUAL(run(&r, SHELL("kill -9 $$")), 0);
    CU_ASSERT_EQUAL(r.result.exit_status, -1);
    CU_ASSERT_EQUAL(r.result.signal, SIGKILL);
    CU_ASSERT_EQUAL(r.result.output_len, 0);
    run_fini(&r);
}

static void input_arrives_whole_or_is_not_read_at_all(void)
{
    enum { SIZE = 1 << 20 };
    struct run r = RUN_INIT;
    char *input = malloc(SIZE);

    for (int i = 0; i < SIZE; i++)
        input[i] = (char)(i * 7);
    r.input = input;
    r.input_len = SIZE;
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/bin/cat", NULL}), 0);
    CU_ASSERT_EQUAL(r.result.output_len, SIZE);
    CU_ASSERT_EQUAL(memcmp(r.result.output, input, SIZE), 0);
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/bin/cat", "/dev/stdin", NULL}), 0);
    CU_ASSERT_EQUAL(r.result.output_len, SIZE);
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/bin/true", NULL}), 0);
    CU_ASSERT_EQUAL(r.result.exit_status, 0);
    r.input_len = 0;
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/bin/cat", NULL}), 0);
    CU_ASSERT_EQUAL(r.result.output_len, 0);
    free(input);
    run_fini(&r);
}

static void sixteen_megabytes_of_output_arrive(void)
{
    struct run r = RUN_INIT;

    CU_ASSERT_EQUAL(
        run(&r, (const char *const[]){"/usr/bin/head", "-c", "16777216", "/dev/zero", NULL}), 0);
    CU_ASSERT_EQUAL(r.result.output_len, 16777216);
    run_fini(&r);
}

static void too_much_output_ends_the_whole_group(void)
{
    struct run r = RUN_INIT;

    r.max_output = 100000;
    CU_ASSERT_EQUAL(run(&r, SHELL("sleep 1000 & echo $! >&2; yes")), LAZ_ETOOBIG);
    UNIT_TEXT(r.err.text, "/bin/sh wrote more than 100000 bytes to its standard output");
    CU_ASSERT_TRUE(is_gone((pid_t)atoi(laz_buf_text(&r.errs))));
    CU_ASSERT_EQUAL(run(&r, SHELL("yes >&2")), LAZ_ETOOBIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, "to its standard error"));
    CU_ASSERT_EQUAL(run(&r, SHELL("head -c 100000 /dev/zero")), 0);
    CU_ASSERT_EQUAL(run(&r, SHELL("head -c 100001 /dev/zero")), LAZ_ETOOBIG);
    run_fini(&r);
}

struct canceller {
    const char *fifo;
    int cancel_fd;
    pid_t grandchild;
};

/* Waits until the command has started its child, then cancels. */
static void *cancel_when_started(void *data)
{
    struct canceller *canceller = data;
    FILE *file = fopen(canceller->fifo, "r");
    int pid = 0;

    if (!file || fscanf(file, "%d", &pid) != 1)
        pid = 0;
    canceller->grandchild = pid;
    if (file)
        fclose(file);
    if (write(canceller->cancel_fd, "x", 1) != 1)
        abort();
    return NULL;
}

static void cancelling_kills_the_whole_group(void)
{
    char directory[] = "/tmp/lazaret-test-XXXXXX";
    struct canceller canceller = {0};
    struct run r = RUN_INIT;
    pthread_t thread;
    int ends[2];

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    char *fifo = laz_strdupf("%s/fifo", directory);
    char *script = laz_strdupf("sleep 1000 & echo $! > %s; wait", fifo);
    CU_ASSERT_EQUAL(mkfifo(fifo, 0600), 0);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    canceller.fifo = fifo;
    canceller.cancel_fd = ends[1];
    r.cancel_fd = ends[0];
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cancel_when_started, &canceller), 0);
    CU_ASSERT_EQUAL(run(&r, SHELL(script)), LAZ_ETIMEOUT);
    pthread_join(thread, NULL);
    UNIT_TEXT(r.err.text, "/bin/sh was cancelled");
    CU_ASSERT_TRUE(canceller.grandchild > 0);
    CU_ASSERT_TRUE(is_gone(canceller.grandchild));
    /* the descriptor is still readable, so the next command is cancelled at once */
    CU_ASSERT_EQUAL(run(&r, SHELL("sleep 1000")), LAZ_ETIMEOUT);
    close(ends[0]);
    close(ends[1]);
    unlink(fifo);
    rmdir(directory);
    free(fifo);
    free(script);
    run_fini(&r);
}

/* Waiting for them would take for ever. */
static void background_children_are_not_waited_for(void)
{
    struct run r = RUN_INIT;

    CU_ASSERT_EQUAL(run(&r, SHELL("sleep 1000 & echo $!")), 0);
    pid_t child = (pid_t)atoi(r.result.output);
    CU_ASSERT_TRUE_FATAL(child > 0);
    CU_ASSERT_EQUAL(kill(child, SIGKILL), 0); /* it was not killed */
    CU_ASSERT_EQUAL(run(&r, SHELL("echo begin; yes & exit 0")), 0);
    CU_ASSERT_EQUAL(strncmp(r.result.output, "begin\n", 6), 0);
    run_fini(&r);
}

static void environment_and_descriptors_are_clean(void)
{
    struct run r = RUN_INIT;
    static const char *const expected[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n", "HOME=/somewhere\n",
        "TZ=UTC\n", "LC_TIME=C\n"};
    static const char *const unwanted[] = {"LAZARET_TOKEN", "LD_LIBRARY_PATH", "SECRET_KEY",
                                           "BASH_ENV", "IFS"};

    setenv("HOME", "/somewhere", 1);
    setenv("TZ", "UTC", 1);
    setenv("LC_TIME", "C", 1);
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        setenv(unwanted[i], "canary", 1);
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/usr/bin/env", NULL}), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(r.result.output, expected[i]));
    CU_ASSERT_PTR_NULL(strstr(r.result.output, "canary"));
    unsetenv("HOME");
    unsetenv("LANG");
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/usr/bin/env", NULL}), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.result.output, "HOME=/\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(r.result.output, "LANG=C.UTF-8\n"));

    int canary = open("/etc/passwd", O_RDONLY); /* without O_CLOEXEC, on purpose */
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/bin/ls", "/proc/self/fd", NULL}), 0);
    UNIT_TEXT(r.result.output, "0\n1\n2\n3\n"); /* 3: the directory that ls reads */
    close(canary);
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/bin/pwd", NULL}), 0);
    UNIT_TEXT(r.result.output, "/\n");
    run_fini(&r);
}

static void arguments_arrive_byte_for_byte(void)
{
    struct run r = RUN_INIT;
    char value[256];

    for (int i = 1; i < 256; i++)
        value[i - 1] = (char)i;
    value[255] = '\0';
    CU_ASSERT_EQUAL(
        run(&r, (const char *const[]){"/usr/bin/printf", "%s|", value, "$(id) `id` *", "", NULL}),
        0);
    CU_ASSERT_EQUAL(r.result.output_len, 255 + 1 + 12 + 1 + 1);
    CU_ASSERT_EQUAL(memcmp(r.result.output, value, 255), 0);
    UNIT_TEXT(r.result.output + 255, "|$(id) `id` *||");
    run_fini(&r);
}

static void what_cannot_be_started_is_named(void)
{
    struct run r = RUN_INIT;

    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"ls", NULL}), LAZ_EINVAL);
    UNIT_TEXT(r.err.text, "'ls' is not the absolute path of a program");
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){NULL}), LAZ_EINVAL);
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/nowhere/program", NULL}), LAZ_EOS);
    CU_ASSERT_EQUAL(r.err.os_errno, ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, "/nowhere/program"));
    CU_ASSERT_EQUAL(run(&r, (const char *const[]){"/etc/passwd", NULL}), LAZ_EINVAL);
    UNIT_TEXT(r.err.text, "/etc/passwd is not a program that can be executed");
    run_fini(&r);
}

static void no_descriptor_is_left_open(void)
{
    struct run r = RUN_INIT;
    int before = dup(0), after;

    close(before);
    for (int i = 0; i < 20; i++) {
        r.max_output = i % 2 ? 10 : 0;
        run(&r, SHELL("echo 1234567890123"));
        run(&r, (const char *const[]){"/nowhere/program", NULL});
    }
    after = dup(0);
    close(after);
    CU_ASSERT_EQUAL(before, after);
    run_fini(&r);
}

static const char *const hook_env[] = {"PATH=/usr/bin:/bin", NULL};

static int hook(const char *script, char *reason, size_t size, struct laz_error *err)
{
    return laz_hook_run(spawner, SHELL(script), hook_env, "x <- 1", 6, reason, size, err);
}

static void hooks_allow_with_status_zero_only(void)
{
    struct laz_error err = {0};
    char reason[40] = "before";

    CU_ASSERT_EQUAL(hook("test \"$(cat)\" = 'x <- 1'", reason, sizeof reason, &err), 0);
    UNIT_TEXT(reason, "");
    CU_ASSERT_EQUAL(hook("exit 1", reason, sizeof reason, &err), LAZ_EREFUSED);
    UNIT_TEXT(reason, "");
    UNIT_TEXT(err.text, "the hook refused the code");
    CU_ASSERT_EQUAL(hook("kill -9 $$", reason, sizeof reason, &err), LAZ_EREFUSED);
    CU_ASSERT_EQUAL(hook("printf 'no \\033[31mred\\a\\377 caf\\303\\251\\nsecond\\n' >&2; exit 7",
                         reason, sizeof reason, &err),
                    LAZ_EREFUSED);
    UNIT_TEXT(reason, "no [31mred caf\xc3\xa9");
    CU_ASSERT_EQUAL(hook("printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\303\\251b' >&2; exit 7",
                         reason, sizeof reason, &err),
                    LAZ_EREFUSED);
    UNIT_TEXT(reason, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"); /* cut between characters */
    CU_ASSERT_EQUAL(laz_hook_run(spawner, (const char *const[]){"/nowhere/hook", NULL}, hook_env,
                                 "1", 1, reason, sizeof reason, &err),
                    LAZ_EOS);
    UNIT_TEXT(reason, "");
}

static const struct unit_test tests[] = {
    UNIT(output_errors_and_status_arrive),       UNIT(input_arrives_whole_or_is_not_read_at_all),
    UNIT(sixteen_megabytes_of_output_arrive),    UNIT(too_much_output_ends_the_whole_group),
    UNIT(cancelling_kills_the_whole_group),      UNIT(background_children_are_not_waited_for),
    UNIT(environment_and_descriptors_are_clean), UNIT(arguments_arrive_byte_for_byte),
    UNIT(what_cannot_be_started_is_named),       UNIT(no_descriptor_is_left_open),
    UNIT(hooks_allow_with_status_zero_only),     {0},
};

int main(void)
{
    struct laz_error err = {0};

    if (laz_spawner_new(&spawner, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    int status = unit_run("command", tests);
    laz_spawner_free(spawner);
    return status;
}
