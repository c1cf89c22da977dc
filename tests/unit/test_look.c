/* SPDX-License-Identifier: MIT */
/* test_look.c - paths and directories, environment variables, numbers of descriptors, threads. */
#include "unit.h"

#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/sockets.h"
#include "os/streams.h"
#include "os/thread.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[] = "/tmp/laz-test-look-XXXXXX"; /* removed by main */

static const char *in_base(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static void put(const char *name, const char *text)
{
    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(in_base(name), text, strlen(text), 0640, NULL), 0);
}

static void looking_tells_kind_mode_owner_and_size(void)
{
    struct laz_look look;
    struct stat st;

    put("file", "12345");
    CU_ASSERT_EQUAL(laz_os_look(in_base("file"), true, &look), 0);
    CU_ASSERT_EQUAL(stat(in_base("file"), &st), 0);
    CU_ASSERT_EQUAL(look.kind, LAZ_LOOK_FILE);
    CU_ASSERT_EQUAL(look.mode, 0640);
    CU_ASSERT_EQUAL(look.size, 5);
    CU_ASSERT_EQUAL(look.uid, laz_os_uid());
    CU_ASSERT_TRUE(look.device == st.st_dev && look.inode == st.st_ino);
    CU_ASSERT_EQUAL(look.written_ns / 1000000000, st.st_mtime);
    CU_ASSERT_EQUAL(look.changed_ns / 1000000000, st.st_ctime);
    CU_ASSERT_EQUAL(laz_os_look(base, true, &look), 0);
    CU_ASSERT_EQUAL(look.kind, LAZ_LOOK_DIRECTORY);
    CU_ASSERT_EQUAL(laz_os_look("/dev/null", true, &look), 0);
    CU_ASSERT_EQUAL(look.kind, LAZ_LOOK_OTHER);
    CU_ASSERT_EQUAL(laz_os_look(in_base("missing"), true, &look), ENOENT);
    CU_ASSERT_EQUAL(laz_os_look(in_base("file/below"), true, &look), ENOTDIR);
}

/* Two writes to a file within a second are distinguished. */
static void times_are_exact_to_the_nanosecond(void)
{
    static const struct timespec when[] = {{1000, 123456789}, {2000, 987654321}};
    struct laz_look look;

    put("times", "");
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, in_base("times"), when, 0), 0);
    CU_ASSERT_EQUAL(laz_os_look(in_base("times"), true, &look), 0);
    CU_ASSERT_EQUAL(look.written_ns, INT64_C(2000987654321));
}

static void links_are_followed_when_asked(void)
{
    struct laz_look look;

    put("target", "x");
    CU_ASSERT_EQUAL(laz_os_make_link(in_base("link"), "target"), 0);
    CU_ASSERT_EQUAL(laz_os_make_link(in_base("link"), "target"), EEXIST);
    CU_ASSERT_EQUAL(laz_os_make_link(in_base("dangling"), "nowhere"), 0);
    CU_ASSERT_EQUAL(laz_os_look(in_base("link"), true, &look), 0);
    CU_ASSERT_EQUAL(look.kind, LAZ_LOOK_FILE);
    CU_ASSERT_EQUAL(laz_os_look(in_base("link"), false, &look), 0);
    CU_ASSERT_EQUAL(look.kind, LAZ_LOOK_LINK);
    CU_ASSERT_EQUAL(laz_os_look(in_base("dangling"), false, &look), 0);
    CU_ASSERT_EQUAL(laz_os_look(in_base("dangling"), true, &look), ENOENT);
    char *real = laz_os_real_path(in_base("./link"));
    char *target = laz_os_real_path(in_base("target"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(real);
    CU_ASSERT_STRING_EQUAL(real, target);
    free(real);
    free(target);
    CU_ASSERT_PTR_NULL(laz_os_real_path(in_base("dangling")));
    CU_ASSERT_EQUAL(errno, ENOENT);
}

static void opening_tells_what_was_opened_and_waits_for_nobody(void)
{
    struct laz_look look;
    char text[8] = "";

    put("open", "abc");
    int fd = laz_os_open_file(in_base("open"), false, &look);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    CU_ASSERT_TRUE(look.kind == LAZ_LOOK_FILE && look.size == 3);
    CU_ASSERT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CU_ASSERT_EQUAL(read(fd, text, sizeof text), 3);
    CU_ASSERT_EQUAL(write(fd, "x", 1), -1);
    laz_os_close(&fd);
    CU_ASSERT_EQUAL(mkfifo(in_base("fifo"), 0600), 0);
    fd = laz_os_open_file(in_base("fifo"), false, &look); /* there is no writer */
    CU_ASSERT_TRUE(fd >= 0);
    CU_ASSERT_EQUAL(look.kind, LAZ_LOOK_OTHER);
    laz_os_close(&fd);
    fd = laz_os_open_file(in_base("open"), true, &look);
    CU_ASSERT_FALSE(fcntl(fd, F_GETFL) & O_NONBLOCK);
    laz_os_close(&fd);
    CU_ASSERT_EQUAL(laz_os_open_file(in_base("missing"), false, &look), -1);
    CU_ASSERT_EQUAL(errno, ENOENT);
}

static void names_of_a_directory_are_sorted_and_appended(void)
{
    static const char *const made[] = {"b", "B", "a.so", ".hidden", "zz"};
    static const char *const listed[] = {"first", ".hidden", "B", "a.so", "b", "zz"};
    struct laz_strv names = LAZ_STRV_INIT;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(mkdir(in_base("directory"), 0700), 0);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char name[64];
        snprintf(name, sizeof name, "directory/%s", made[i]);
        put(name, "");
    }
    laz_strv_add(&names, "first");
    CU_ASSERT_EQUAL(laz_os_list_directory(in_base("directory"), &names, &err), 0);
    CU_ASSERT_EQUAL_FATAL(names.n, sizeof listed / sizeof *listed);
    for (size_t i = 0; i < names.n; i++)
        CU_ASSERT_STRING_EQUAL(names.items[i], listed[i]);
    laz_strv_fini(&names);
    CU_ASSERT_EQUAL(
        laz_os_list_some(in_base("directory"), sizeof listed / sizeof *listed - 1, &names, &err),
        0);
    CU_ASSERT_EQUAL(names.n, sizeof listed / sizeof *listed - 1);
    laz_strv_fini(&names);
    CU_ASSERT_EQUAL(laz_os_list_some(in_base("directory"), 1, &names, &err), LAZ_ETOOBIG);
    CU_ASSERT_EQUAL(names.n, 1);
    laz_strv_fini(&names);
    CU_ASSERT_EQUAL(laz_os_list_directory(in_base("directory/b"), &names, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ENOTDIR);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/directory/b: "));
    CU_ASSERT_EQUAL(names.n, 0);
}

static void only_regular_files_with_the_right_can_be_executed(void)
{
    put("program", "#!/bin/sh\n");
    CU_ASSERT_FALSE(laz_os_can_execute(in_base("program")));
    CU_ASSERT_EQUAL(chmod(in_base("program"), 0755), 0);
    CU_ASSERT_TRUE(laz_os_can_execute(in_base("program")));
    CU_ASSERT_FALSE(laz_os_can_execute(base)); /* a directory can be searched, not executed */
    CU_ASSERT_FALSE(laz_os_can_execute(in_base("missing")));
}

/* Wipes the variable's place in the environment block made by the kernel. */
static void a_variable_is_taken_and_its_place_wiped(void)
{
    CU_ASSERT_EQUAL(setenv("LAZ_TEST_TAKEN", "a value", 1), 0);
    CU_ASSERT_STRING_EQUAL(laz_os_getenv("LAZ_TEST_TAKEN"), "a value");
    char *place = getenv("LAZ_TEST_TAKEN");
    char *value = laz_os_take_variable("LAZ_TEST_TAKEN", true);
    CU_ASSERT_STRING_EQUAL(value, "a value");
    CU_ASSERT_PTR_NULL(getenv("LAZ_TEST_TAKEN"));
    CU_ASSERT_PTR_NULL(laz_os_getenv("LAZ_TEST_TAKEN"));
    for (size_t i = 0; i < strlen("a value"); i++)
        CU_ASSERT_EQUAL(place[i], 0);
    free(value);
    CU_ASSERT_PTR_NULL(laz_os_take_variable("LAZ_TEST_TAKEN", true));
}

static void a_descriptor_gets_its_number_and_leaves_the_old(void)
{
    struct laz_error err = {0};
    int ends[2], low = dup(0), high;

    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&ends[0], &ends[1], &err), 0);
    high = ends[1] + 10;
    int moved = ends[0];
    CU_ASSERT_EQUAL(laz_os_place(&moved, high, &err), 0);
    CU_ASSERT_EQUAL(moved, high);
    CU_ASSERT_EQUAL(fcntl(ends[0], F_GETFD), -1);
    CU_ASSERT_TRUE(fcntl(high, F_GETFD) & FD_CLOEXEC);
    CU_ASSERT_EQUAL(laz_os_place(&moved, high, &err), 0);
    CU_ASSERT_TRUE(fcntl(high, F_GETFD) & FD_CLOEXEC);
    CU_ASSERT_EQUAL(write(ends[1], "x", 1), 1);
    CU_ASSERT_EQUAL(read(high, (char[1]){0}, 1), 1);
    laz_os_close(&ends[1]);
    laz_os_close(&high);
    int kept = low;
    CU_ASSERT_EQUAL(laz_os_place(&low, 1 << 30, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(low, -1);
    CU_ASSERT_EQUAL(fcntl(kept, F_GETFD), -1);
}

static int streams_that_were_closed(void)
{
    close(0);
    close(1);
    if (!laz_os_secure_streams())
        return 1;
    if (read(0, (char[1]){0}, 1) != -1 || write(1, "x", 1) != -1)
        return 2; /* the loss has to be detected */
    int ends[2];
    if (pipe(ends) || ends[0] < 3)
        return 3;
    close(ends[0]);
    return write(ends[1], "x", 1) == -1 && errno == EPIPE ? 0 : 4;
}

static void standard_streams_are_there_before_anything_else(void)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(streams_that_were_closed());
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_EQUAL(status, 0);
}

static void *thread_with_signals(void *user)
{
    sigset_t *mask = user;

    pthread_sigmask(SIG_SETMASK, NULL, mask);
    return mask;
}

static void threads_have_every_signal_blocked(void)
{
    sigset_t inside, outside;
    pthread_t thread;

    sigemptyset(&inside);
    CU_ASSERT_EQUAL_FATAL(laz_os_thread(&thread, 1 << 20, thread_with_signals, &inside), 0);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(sigismember(&inside, SIGINT), 1);
    CU_ASSERT_EQUAL(sigismember(&inside, SIGTERM), 1);
    pthread_sigmask(SIG_SETMASK, NULL, &outside);
    CU_ASSERT_EQUAL(sigismember(&outside, SIGINT), 0);
    CU_ASSERT_NOT_EQUAL(laz_os_thread(&thread, SIZE_MAX / 2, thread_with_signals, &inside), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &outside);
    CU_ASSERT_EQUAL(sigismember(&outside, SIGINT), 0);
}

static void ipv6_addresses_are_told_from_other_texts(void)
{
    CU_ASSERT_TRUE(laz_os_is_ipv6("::1"));
    CU_ASSERT_TRUE(laz_os_is_ipv6("2001:db8::ff00:42:8329"));
    CU_ASSERT_FALSE(laz_os_is_ipv6("10:20:30"));
    CU_ASSERT_FALSE(laz_os_is_ipv6("127.0.0.1"));
    CU_ASSERT_FALSE(laz_os_is_ipv6(""));
}

static const struct unit_test tests[] = {
    UNIT(looking_tells_kind_mode_owner_and_size),
    UNIT(times_are_exact_to_the_nanosecond),
    UNIT(links_are_followed_when_asked),
    UNIT(opening_tells_what_was_opened_and_waits_for_nobody),
    UNIT(names_of_a_directory_are_sorted_and_appended),
    UNIT(only_regular_files_with_the_right_can_be_executed),
    UNIT(a_variable_is_taken_and_its_place_wiped),
    UNIT(a_descriptor_gets_its_number_and_leaves_the_old),
    UNIT(standard_streams_are_there_before_anything_else),
    UNIT(threads_have_every_signal_blocked),
    UNIT(ipv6_addresses_are_told_from_other_texts),
    {0},
};

int main(void)
{
    if (!mkdtemp(base))
        return 1;
    int status = unit_run("look", tests);
    laz_os_remove_tree(base);
    return status;
}
