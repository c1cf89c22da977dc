/* SPDX-License-Identifier: MIT */
/* test_os_files.c - sockets, directories, files, limits and uids. */
#include "unit.h"

#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/peer.h"
#include "os/programs.h"
#include "os/runtime_directory.h"
#include "os/shared_directory.h"
#include "os/sockets.h"
#include "os/system.h"
#include "os/uids.h"
#include "os/users.h"

#include <lazaret/backend.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char base[] = "/tmp/laz-test-os-XXXXXX"; /* removed by main */

static const char *in_base(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 ? (unsigned)st.st_mode & 07777 : 0xffff;
}

static bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static int in_child(int (*run)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(run());
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void data_fd_is_read_from_the_start_and_sealed(void)
{
    char text[16] = "";
    int fd;

    CU_ASSERT_FATAL(laz_os_data_fd("words", "hello", 5, &fd, NULL) == 0);
    CU_ASSERT_EQUAL(read(fd, text, sizeof text), 5);
    UNIT_TEXT(text, "hello");
    CU_ASSERT(write(fd, "x", 1) < 0 && errno == EPERM);
    CU_ASSERT(ftruncate(fd, 0) < 0 && errno == EPERM);
    CU_ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    laz_os_close(&fd);
    CU_ASSERT_EQUAL(fd, -1);
    laz_os_close(&fd);
    CU_ASSERT_FATAL(laz_os_data_fd("nothing", NULL, 0, &fd, NULL) == 0);
    CU_ASSERT_EQUAL(read(fd, text, sizeof text), 0);
    laz_os_close(&fd);
}

static int close_all_but_nine(void)
{
    for (int fd = 3; fd < 40; fd++)
        if (dup2(1, fd) < 0)
            return 1;
    laz_os_close_from(3, 9);
    for (int fd = 0; fd < 40; fd++)
        if ((fcntl(fd, F_GETFD) >= 0) != (fd < 3 || fd == 9))
            return 2;
    laz_os_close_from(3, -1);
    return fcntl(9, F_GETFD) < 0 && fcntl(2, F_GETFD) >= 0 ? 0 : 3;
}

static void close_from_keeps_one(void)
{
    CU_ASSERT_EQUAL(in_child(close_all_but_nine), 0);
}

static void listen_makes_a_private_socket_and_knows_its_peer(void)
{
    struct laz_peer peer;
    struct stat ns;
    const char *path = in_base("ipc.sock");
    int listener, client, served;
    mode_t before = umask(0777);

    CU_ASSERT_FATAL(laz_os_listen(path, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &listener, NULL) == 0);
    umask(before);
    CU_ASSERT_EQUAL(mode_of(path), 0600);
    CU_ASSERT_FATAL(laz_os_connect(path, &client, NULL) == 0);
    CU_ASSERT(fcntl(listener, F_GETFL) & O_NONBLOCK);
    served = accept(listener, NULL, NULL);
    CU_ASSERT_FATAL(served >= 0);
    memset(&peer, 0xff, sizeof peer); /* all members are set */
    CU_ASSERT_EQUAL(laz_os_peer(served, &peer, NULL), 0);
    CU_ASSERT_FALSE(peer.inherited);
    CU_ASSERT_EQUAL(peer.uid, geteuid());
    CU_ASSERT_EQUAL(peer.pid, getpid());
    CU_ASSERT_FATAL(stat("/proc/self/ns/pid", &ns) == 0);
    CU_ASSERT_EQUAL(peer.pid_namespace, (uint64_t)ns.st_ino);
    close(served);
    close(client);
    close(listener);
    CU_ASSERT_EQUAL(laz_os_connect(path, &client, NULL), LAZ_EOS);
    CU_ASSERT_EQUAL(laz_os_listen(path, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &listener, NULL), LAZ_EOS);
    unlink(path);
    if (laz_os_is_root()) {
        struct stat st;
        CU_ASSERT_FATAL(laz_os_listen(path, 12345, 54321, &listener, NULL) == 0);
        CU_ASSERT(lstat(path, &st) == 0 && st.st_uid == 12345 && st.st_gid == 54321);
        close(listener);
        unlink(path);
    }
}

static void a_path_too_long_for_a_socket_is_refused(void)
{
    char path[200];
    struct laz_error err = {0};
    int fd;

    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    CU_ASSERT_EQUAL(laz_os_listen(path, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &fd, &err), LAZ_ETOOBIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "107"));
    CU_ASSERT_EQUAL(laz_os_connect(path, &fd, &err), LAZ_ETOOBIG);
    CU_ASSERT_EQUAL(laz_os_peer(-1, &(struct laz_peer){0}, &err), LAZ_EOS);
}

static void make_directory_gives_exact_mode_and_owner(void)
{
    const char *path = in_base("directory");
    mode_t before = umask(0777);
    int rc = laz_os_make_directory(path, 0711, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL);

    umask(before);
    if (laz_os_is_root()) { /* other users cannot open files made under a umask of 0777 */
        CU_ASSERT_EQUAL(rc, 0);
        CU_ASSERT_EQUAL(mode_of(path), 0711);
    }
    laz_os_remove_tree(path);
    CU_ASSERT_FALSE(exists(path));
    CU_ASSERT_EQUAL(laz_os_make_directory(path, 0711, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL), 0);
    CU_ASSERT_EQUAL(mode_of(path), 0711);
    CU_ASSERT_EQUAL(laz_os_make_directory(path, 0711, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL),
                    LAZ_EOS);
    laz_os_remove_tree(path);
    if (laz_os_is_root()) {
        struct stat st;
        CU_ASSERT_EQUAL(laz_os_make_directory(path, 0700, 12345, 54321, NULL), 0);
        CU_ASSERT(lstat(path, &st) == 0 && st.st_uid == 12345 && st.st_gid == 54321);
        laz_os_remove_tree(path);
    }
}

static void files_are_written_read_and_copied_whole(void)
{
    struct laz_buf buf = LAZ_BUF_INIT;
    struct laz_error err = {0};
    const char *path = in_base("file"), *copy = in_base("copy");

    CU_ASSERT_EQUAL(laz_os_write_file(path, "12345", 5, 0640, NULL), 0);
    CU_ASSERT_EQUAL(mode_of(path), 0640);
    CU_ASSERT_EQUAL(laz_os_write_file(path, "x", 1, 0600, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, EEXIST);
    laz_buf_puts(&buf, "<");
    CU_ASSERT_EQUAL(laz_os_read_file(path, 5, &buf, NULL), 0);
    UNIT_TEXT(laz_buf_text(&buf), "<12345");
    CU_ASSERT_EQUAL(laz_os_read_file(path, 4, &buf, &err), LAZ_ETOOBIG);
    UNIT_TEXT(laz_buf_text(&buf), "<12345");
    CU_ASSERT_EQUAL(laz_os_copy_file(path, copy, 0755, NULL), 0);
    CU_ASSERT_EQUAL(mode_of(copy), 0755);
    laz_buf_clear(&buf);
    CU_ASSERT_EQUAL(laz_os_read_file(copy, 100, &buf, NULL), 0);
    UNIT_TEXT(laz_buf_text(&buf), "12345");
    CU_ASSERT_EQUAL(laz_os_copy_file(path, copy, 0755, NULL), LAZ_EOS);
    CU_ASSERT_EQUAL(laz_os_read_file(base, 100, &buf, &err), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_os_read_file(in_base("missing"), 100, &buf, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ENOENT);
    CU_ASSERT_FATAL(mkfifo(in_base("fifo"), 0600) == 0);
    CU_ASSERT_EQUAL(laz_os_read_file(in_base("fifo"), 100, &buf, &err), LAZ_EINVAL);
    laz_buf_fini(&buf);
    unlink(in_base("fifo"));
    unlink(in_base("file"));
    unlink(in_base("copy"));
}

/* Makes a tree 200 directories deep, with inaccessible directories and links to outside. */
static int make_hostile_tree(const char *top)
{
    char name[16];
    int fd;

    if (mkdir(top, 0700) != 0 || (fd = open(top, O_RDONLY | O_DIRECTORY)) < 0)
        return -1;
    for (int i = 0; i < 200; i++) {
        int next;
        snprintf(name, sizeof name, "d%d", i % 3);
        if (mkdirat(fd, name, 0700) != 0 || (next = openat(fd, name, O_RDONLY | O_DIRECTORY)) < 0)
            return -1;
        if (symlinkat("/etc", fd, "link") != 0 || symlinkat(base, fd, "up") != 0)
            return -1;
        close(openat(fd, "file", O_CREAT | O_WRONLY, 0));
        fchmod(fd, i % 5 == 0 ? 0 : 0500);
        close(fd);
        fd = next;
    }
    close(fd);
    return 0;
}

static void remove_tree_takes_any_tree_and_follows_no_link(void)
{
    const char *top = in_base("tree"), *witness = in_base("witness");

    CU_ASSERT_FATAL(laz_os_write_file(witness, "x", 1, 0600, NULL) == 0);
    CU_ASSERT_FATAL(make_hostile_tree(top) == 0);
    laz_os_remove_tree(top);
    CU_ASSERT_FALSE(exists(top));
    CU_ASSERT_TRUE(exists(witness));
    CU_ASSERT_TRUE(exists("/etc/passwd"));
    CU_ASSERT_FATAL(symlink("/etc", top) == 0);
    laz_os_remove_tree(top); /* the link itself */
    CU_ASSERT_FALSE(exists(top));
    CU_ASSERT_TRUE(exists("/etc/passwd"));
    laz_os_remove_tree(in_base("missing"));
    unlink(witness);
}

static char left_behind[64];

/* Starts a process that makes a runtime directory, reports its name and is killed without removing
 * it; until then the directory exists, even if others clean up. */
static bool leave_directory(void)
{
    int ends[2];
    pid_t pid;

    if (pipe(ends) != 0)
        return false;
    pid = fork();
    if (pid == 0) {
        char *path, inner[128];
        int lock;
        if (laz_os_runtime_directory(&path, &lock, NULL) == 0) {
            snprintf(inner, sizeof inner, "%s/tree", path);
            if (make_hostile_tree(inner) == 0)
                (void)!write(ends[1], path, strlen(path) + 1);
        }
        for (;;)
            pause();
    }
    close(ends[1]);
    ssize_t n = read(ends[0], left_behind, sizeof left_behind);
    close(ends[0]);
    bool held = n > 10 && exists(left_behind);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return held;
}

static void runtime_directory_removes_what_the_dead_left(void)
{
    char *mine = NULL, *next = NULL;
    int lock = -1, next_lock = -1;

    CU_ASSERT_FATAL(laz_os_runtime_directory(&mine, &lock, NULL) == 0);
    CU_ASSERT_EQUAL(strncmp(mine, "/tmp/lazaret-", 13), 0);
    CU_ASSERT_EQUAL(strlen(mine), 21);
    CU_ASSERT_EQUAL(mode_of(mine), laz_os_is_root() ? 0711 : 0700);
    CU_ASSERT_FATAL(leave_directory());
    CU_ASSERT_FATAL(laz_os_runtime_directory(&next, &next_lock, NULL) == 0);
    while (exists(left_behind)) /* its holder is dead; another host may be removing it right now */
        usleep(1000);
    CU_ASSERT_TRUE(exists(mine)); /* this one is in use */
    CU_ASSERT_STRING_NOT_EQUAL(mine, next);
    laz_os_remove_tree(mine);
    laz_os_remove_tree(next);
    laz_os_close(&lock);
    laz_os_close(&next_lock);
    free(mine);
    free(next);
}

static void shared_directories_are_used_by_whoever_owns_them(void)
{
    const char *directory = in_base("kept"), *link = in_base("kept-link");

    CU_ASSERT_EQUAL(laz_os_shared_use(directory), -1);
    CU_ASSERT_FATAL(laz_os_make_directory(directory, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) ==
                    0);
    int first = laz_os_shared_use(directory), second = laz_os_shared_use(directory);
    CU_ASSERT(first >= 0 && second >= 0); /* any number of users at the same time */
    laz_os_close(&first);
    laz_os_close(&second);
    CU_ASSERT_FATAL(chmod(directory, 0775) == 0); /* its group may have written to it */
    CU_ASSERT_EQUAL(laz_os_shared_use(directory), -1);
    CU_ASSERT_FATAL(chmod(directory, 0755) == 0 && symlink("kept", link) == 0);
    CU_ASSERT_EQUAL(laz_os_shared_use(link), -1);
    if (laz_os_is_root()) {
        CU_ASSERT_FATAL(chown(directory, 65534, 65534) == 0);
        CU_ASSERT_EQUAL(laz_os_shared_use(directory), -1);
    }
    CU_ASSERT(rmdir(directory) == 0 && unlink(link) == 0);
}

static void old_shared_directories_are_removed_when_nobody_uses_them(void)
{
    static const char *const names[] = {"cache/old", "cache/held", "cache/young", "cache/.draft"};
    const struct timespec times[2] = {{.tv_sec = time(NULL) - 90000},
                                      {.tv_sec = time(NULL) - 90000}};
    char file[256];
    int held = -1;

    CU_ASSERT_FATAL(
        laz_os_make_directory(in_base("cache"), 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) == 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CU_ASSERT_FATAL(laz_os_make_directory(in_base(names[i]), 0755, LAZ_OS_SAME_ID,
                                              LAZ_OS_SAME_ID, NULL) == 0);
        snprintf(file, sizeof file, "%s/file", in_base(names[i]));
        CU_ASSERT_FATAL(laz_os_write_file(file, "x", 1, 0444, NULL) == 0);
        if (i == 1)
            held = laz_os_shared_use(in_base(names[i]));
        if (i != 2)
            CU_ASSERT_FATAL(utimensat(AT_FDCWD, in_base(names[i]), times, 0) == 0);
    }
    laz_os_shared_clean(in_base("cache"));
    CU_ASSERT_FALSE(exists(in_base("cache/old")));
    CU_ASSERT_FALSE(exists(in_base("cache/.draft"))); /* its maker has ended */
    CU_ASSERT_TRUE(exists(in_base("cache/held")));
    CU_ASSERT_TRUE(exists(in_base("cache/young")));
    laz_os_close(&held);
    held = laz_os_shared_use(in_base("cache/held")); /* which resets its age */
    laz_os_close(&held);
    laz_os_shared_clean(in_base("cache"));
    CU_ASSERT_TRUE(exists(in_base("cache/held")));
    /* if there are many, they are removed after ten minutes */
    const struct timespec minutes[2] = {{.tv_sec = time(NULL) - 700}, {.tv_sec = time(NULL) - 700}};
    CU_ASSERT_FATAL(utimensat(AT_FDCWD, in_base("cache/young"), minutes, 0) == 0);
    laz_os_shared_clean(in_base("cache"));
    CU_ASSERT_TRUE(exists(in_base("cache/young")));
    for (int i = 0; i < 7; i++) {
        snprintf(file, sizeof file, "%s/%d", in_base("cache"), i);
        CU_ASSERT_FATAL(laz_os_make_directory(file, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) ==
                        0);
    }
    laz_os_shared_clean(in_base("cache"));
    CU_ASSERT_FALSE(exists(in_base("cache/young")));
    CU_ASSERT_TRUE(exists(in_base("cache/held")));
    laz_os_remove_tree(in_base("cache"));
}

static void reachable_looks_at_every_directory(void)
{
    const char *directory = in_base("closed");
    char file[256], link[256];
    uint32_t other = 2080000009u;

    snprintf(file, sizeof file, "%s/file", directory);
    snprintf(link, sizeof link, "%s/link", base);
    CU_ASSERT_FATAL(mkdir(directory, 0755) == 0 && chmod(base, 0711) == 0);
    CU_ASSERT_FATAL(laz_os_write_file(file, "x", 1, 0644, NULL) == 0);
    CU_ASSERT_TRUE(laz_os_is_reachable(file, other, false));
    CU_ASSERT_FALSE(laz_os_is_reachable(file, other, true));
    CU_ASSERT_FATAL(symlink(file, link) == 0);
    CU_ASSERT_TRUE(laz_os_is_reachable(link, other, false));
    chmod(file, 0600);
    CU_ASSERT_FALSE(laz_os_is_reachable(file, other, false));
    CU_ASSERT_TRUE(laz_os_is_reachable(file, (uint32_t)geteuid(), false));
    chmod(file, 0755);
    CU_ASSERT_TRUE(laz_os_is_reachable(file, other, true));
    chmod(directory, 0700);
    CU_ASSERT_FALSE(laz_os_is_reachable(file, other, true));
    CU_ASSERT_FALSE(laz_os_is_reachable(link, other, false));
    chmod(directory, 0755);
    chmod(base, 0700);
    CU_ASSERT_FALSE(laz_os_is_reachable(file, other, true));
    CU_ASSERT_FALSE(laz_os_is_reachable("relative", other, false));
    CU_ASSERT_FALSE(laz_os_is_reachable(in_base("missing"), other, false));
    CU_ASSERT_TRUE(laz_os_is_reachable("/usr", other, false));
    CU_ASSERT_FALSE(laz_os_is_writable("/usr", other));
    CU_ASSERT_TRUE(laz_os_is_writable("/tmp", other));
    unlink(link);
    laz_os_remove_tree(in_base("closed"));
}

static void programs_are_found_in_fixed_directories_only(void)
{
    struct laz_error err = {0};
    char *path = NULL;

    CU_ASSERT_EQUAL(laz_os_find_program("sh", &path, NULL), 0);
    CU_ASSERT(path && path[0] == '/' && access(path, X_OK) == 0);
    free(path);
    CU_ASSERT_EQUAL(laz_os_find_program("/bin/sh", &path, NULL), 0);
    UNIT_TEXT(path, "/bin/sh");
    free(path);
    CU_ASSERT_EQUAL(laz_os_find_program("no-such-program-here", &path, &err), LAZ_ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no-such-program-here"));
    CU_ASSERT_EQUAL(laz_os_find_program("./sh", &path, &err), LAZ_ENOENT);
    CU_ASSERT_EQUAL(laz_os_find_program("", &path, &err), LAZ_ENOENT);
    CU_ASSERT_EQUAL(laz_os_find_program("/etc/passwd", &path, &err), LAZ_ENOENT);
    CU_ASSERT_EQUAL(laz_os_find_program("/usr", &path, &err), LAZ_ENOENT);
}

struct seen {
    int places;
    struct laz_strv parts; /* "path -> text", or a path alone */
};

static void note_path(void *user, uint32_t kind, const char *host, const char *box)
{
    struct seen *seen = user;

    seen->places |= strcmp(box, "/usr") == 0 || strcmp(box, "/usr/bin") == 0 ? 1 : 0;
    seen->places |= strcmp(box, "/usr/lib") == 0 ? 2 : 0;
    seen->places |= strcmp(box, "/lib") == 0 ? 4 : 0;
    seen->places |= strcmp(box, "/etc") == 0 || strncmp(box, "/etc/ssl/private", 16) == 0 ? 8 : 0;
    if (kind == LAZ_PATH_SYMLINK)
        laz_strv_addf(&seen->parts, "%s -> %s", box, host);
    else
        laz_strv_add(&seen->parts, box);
}

static bool note_part(void *user, uint32_t kind, const char *host, const char *box)
{
    note_path(user, kind, host, box);
    return true;
}

static void system_paths_have_programs_when_asked_and_no_secrets(void)
{
    struct seen seen = {0};

    laz_os_system_paths(true, false, note_path, &seen);
    CU_ASSERT_EQUAL(seen.places, 5);
    laz_strv_fini(&seen.parts);
    seen.places = 0;
    laz_os_system_paths(false, false, note_path, &seen);
    CU_ASSERT_EQUAL(seen.places & ~1, 6);
    CU_ASSERT_FALSE(laz_strv_has(&seen.parts, "/usr/bin"));
    CU_ASSERT_FALSE(laz_strv_has(&seen.parts, "/usr"));
    laz_strv_fini(&seen.parts);
}

/* A name is resolved through links of the file and of directories; the file's interpreter and
 * loader are parts too. */
static void parts_of_a_program_are_links_file_interpreter_and_loader(void)
{
    struct seen seen = {0};
    struct laz_error err = {0};
    char line[400];

    CU_ASSERT_FATAL(
        laz_os_make_directory(in_base("tools"), 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) == 0);
    CU_ASSERT_FATAL(symlink("tools", in_base("other")) == 0);
    CU_ASSERT_FATAL(symlink("script", in_base("tools/name")) == 0);
    CU_ASSERT_FATAL(laz_os_write_file(in_base("tools/script"), "#! /bin/sh -e\n", 14, 0755, NULL) ==
                    0);
    CU_ASSERT_EQUAL(laz_os_program_parts(in_base("other/name"), note_part, &seen, NULL, &err), 0);
    UNIT_TEXT(err.text, "");
    snprintf(line, sizeof line, "%s -> %s", in_base("other/name"), in_base("tools/name"));
    CU_ASSERT_TRUE(laz_strv_has(&seen.parts, line));
    snprintf(line, sizeof line, "%s -> script", in_base("tools/name"));
    CU_ASSERT_TRUE(laz_strv_has(&seen.parts, line));
    CU_ASSERT_TRUE(laz_strv_has(&seen.parts, in_base("tools/script")));
    char *sh = realpath("/bin/sh", NULL);
    CU_ASSERT_TRUE(laz_strv_has(&seen.parts, sh));
    free(sh);
    bool loader = false; /* of sh */
    for (size_t i = 0; i < seen.parts.n; i++)
        loader |= strstr(seen.parts.items[i], "/ld-") && !strstr(seen.parts.items[i], "->");
    CU_ASSERT_TRUE(loader);
    laz_strv_fini(&seen.parts);
    laz_os_remove_tree(in_base("tools"));
    unlink(in_base("other"));
}

static void parts_of_what_is_no_program_are_an_error(void)
{
    static const char *const rows[] = {"relative", "/etc/passwd", "/no/such/program", "/dev/null"};
    struct seen seen = {0};

    CU_ASSERT_FATAL(symlink("loop", in_base("loop")) == 0);
    CU_ASSERT_FATAL(
        laz_os_write_file(in_base("script"), "#!/no/such/interpreter\n", 23, 0755, NULL) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_os_program_parts(rows[i], note_part, &seen, NULL, &err), LAZ_ENOENT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i]));
    }
    CU_ASSERT_EQUAL(laz_os_program_parts(in_base("loop"), note_part, &seen, NULL, NULL),
                    LAZ_ENOENT);
    struct laz_error err = {0};
    CU_ASSERT_EQUAL(laz_os_program_parts(in_base("script"), note_part, &seen, NULL, &err),
                    LAZ_ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/no/such/interpreter"));
    laz_strv_fini(&seen.parts);
    unlink(in_base("loop"));
    unlink(in_base("script"));
}

static int limits_set(void)
{
    struct rlimit limit;

    if (laz_os_set_limit("cpu", 5, NULL) || getrlimit(RLIMIT_CPU, &limit) || limit.rlim_cur != 5 ||
        limit.rlim_max != 6)
        return 1;
    if (laz_os_set_limit("nofile", 60, NULL) || laz_os_set_limit("nofile", 100, NULL) ||
        getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur != 60 || limit.rlim_max != 60)
        return 2;
    if (laz_os_set_limit("memory", 64 << 20, NULL) || getrlimit(RLIMIT_DATA, &limit) ||
        limit.rlim_cur != 64 << 20)
        return 3;
    if (laz_os_set_limit("core", 0, NULL) || laz_os_set_limit("fsize", 1000, NULL) ||
        laz_os_set_limit("stack", 1 << 20, NULL) || laz_os_set_limit("nproc", 500, NULL))
        return 4;
    if (laz_os_set_limit("fsize", UINT64_MAX, NULL) || getrlimit(RLIMIT_FSIZE, &limit) ||
        limit.rlim_cur != 1000)
        return 5;
    return laz_os_set_limit("nonsense", 1, NULL) == LAZ_EINVAL ? 0 : 6;
}

#define BESIDE_MANY 400
#define BESIDE_UIDS 1990000000u /* a pid later is an unused uid, also when this test runs twice */

/* Counts, as an ordinary user, how many children can be created, at most BESIDE_MANY. */
static int children_beside(bool bounded)
{
    const uid_t uid = BESIDE_UIDS + (uid_t)getpid();
    int ends[2], n = 0, rc = 0;
    char byte;

    if (setreuid(uid, uid) != 0 || pipe(ends) != 0)
        return -1;
    if (bounded)
        rc = laz_os_set_limit("nproc_beside", 10, NULL);
    for (; !rc && n < BESIDE_MANY; n++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) { /* waits until the parent has counted */
            close(ends[1]);
            _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
        }
    }
    close(ends[1]);
    while (wait(NULL) > 0)
        ;
    return rc ? -1 : n;
}

static int bounded_beside_the_user(void)
{
    int n = children_beside(true);

    if (n < 10 || n >= BESIDE_MANY)
        printf("\n    %d children", n);
    return n < 10 ? 1 : n < BESIDE_MANY ? 0 : 2;
}

static int unbounded_beside_the_user(void)
{
    return children_beside(false) == BESIDE_MANY ? 0 : 1;
}

/* The user's existing processes do not count, however many; processes started afterwards do. So
 * what else the user starts or ends meanwhile would change the outcome. */
static void a_limit_beside_other_processes_bounds_a_bomb(void)
{
    if (!laz_os_is_root()) {
        unit_skip("root", "a user without other processes is made by root");
        return;
    }
    CU_ASSERT_EQUAL(in_child(unbounded_beside_the_user), 0);
    CU_ASSERT_EQUAL(in_child(bounded_beside_the_user), 0);
}

static void facts_are_read_below_a_root(void)
{
    static const struct {
        const char *path, *text;
    } files[] = {
        {"proc/sys/user/max_user_namespaces", "0\n"},
        {"proc/sys/kernel/unprivileged_userns_clone", "0\n"},
        {"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"},
        {"proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"},
        {"proc/self/uid_map", "         0       1000          1\n"},
        {"run/systemd/container", "lxc\n"},
    };
    static const char *const directories[] = {
        "proc", "proc/sys", "proc/sys/user", "proc/sys/kernel", "proc/self", "run", "run/systemd"};
    struct laz_buf facts = LAZ_BUF_INIT;
    char root[256], path[512];

    snprintf(root, sizeof root, "%s", in_base("root"));
    laz_os_facts(root, &facts);
    UNIT_TEXT(laz_buf_text(&facts), ""); /* no such place, no facts */
    CU_ASSERT_EQUAL_FATAL(mkdir(root, 0700), 0);
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(path, sizeof path, "%s/%s", root, directories[i]);
        CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i].path);
        CU_ASSERT_EQUAL_FATAL(
            laz_os_write_file(path, files[i].text, strlen(files[i].text), 0600, NULL), 0);
    }
    laz_os_facts(root, &facts);
    UNIT_TEXT(laz_buf_text(&facts),
              "user.max_user_namespaces=0\nkernel.unprivileged_userns_clone=0\n"
              "kernel.apparmor_restrict_unprivileged_userns=1\ncontainer=lxc\nseccomp=2\n"
              "userns=nested\n");
    laz_buf_clear(&facts);
    laz_os_facts("", &facts);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&facts), "user.max_user_namespaces="));
    laz_buf_fini(&facts);
}

static void limits_are_set_lowered_and_never_raised(void)
{
    CU_ASSERT_EQUAL(in_child(limits_set), 0);
}

static volatile sig_atomic_t limits_told;

static void tell_limit(int number)
{
    limits_told = number;
}

/* Runs in a child, because an ordinary user cannot raise the limit again. */
static int write_over_the_limit(void)
{
    static char data[65536];
    struct sigaction act = {.sa_handler = tell_limit};
    struct rlimit limit = {1000, 1000};
    struct laz_error err = {0};
    char path[300], copy[300];
    int fd = -1, wrong = 0;

    snprintf(path, sizeof path, "%s/limited", base);
    snprintf(copy, sizeof copy, "%s/copied", base);
    wrong |= laz_os_write_file(path, data, sizeof data, 0600, NULL) != 0; /* without the limit */
    sigaction(SIGXFSZ, &act, NULL);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 99;
    wrong |= 2 * (laz_os_data_fd("data", data, sizeof data, &fd, &err) != LAZ_EOS || fd != -1 ||
                  err.os_errno != EFBIG || !strstr(err.text, "ulimit -f"));
    wrong |= 4 * (laz_os_data_fd("data", data, 1000, &fd, NULL) != 0); /* this size is allowed */
    wrong |= 8 * (laz_os_copy_file(path, copy, 0600, NULL) != LAZ_EOS || access(copy, F_OK) == 0);
    unlink(path);
    wrong |= 16 * (laz_os_write_file(path, data, sizeof data, 0600, NULL) != LAZ_EOS ||
                   access(path, F_OK) == 0);
    wrong |= 32 * (limits_told != 0);
    raise(SIGXFSZ); /* the application's own handler still works */
    wrong |= 64 * (limits_told != SIGXFSZ);
    return wrong;
}

static void files_over_the_limit_are_an_error_and_no_signal(void)
{
    CU_ASSERT_EQUAL(in_child(write_over_the_limit), 0);
}

static void uid_ranges_are_checked(void)
{
    static const char *const wrong[] = {"",   "5",  "0-9",          "9-5",          "a-b",
                                        "1-", "-5", "1-4294967295", "1-99999999999"};
    struct laz_uids *uids = NULL;
    struct laz_error err = {0};

    if (!laz_os_is_root()) {
        CU_ASSERT_EQUAL(laz_uids_new("auto", &uids, &err), LAZ_EREFUSED);
        return;
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CU_ASSERT_EQUAL(laz_uids_new(wrong[i], &uids, &err), LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "sandbox.uids"));
    }
    laz_uids_free(NULL);
}

/* Uids that no concurrent run of this test uses. */
static uint32_t first_uid;
static char one_uid[32], three_uids[32];

static int take_and_die(void)
{
    struct laz_uids *uids;
    uint32_t uid;

    if (laz_uids_new(one_uid, &uids, NULL) || laz_uids_take(uids, &uid, NULL))
        return 1;
    return uid == first_uid ? 0 : 2; /* neither returned nor freed */
}

static void each_session_has_a_uid_nobody_else_has(void)
{
    struct laz_uids *one = NULL, *two = NULL;
    uint32_t a, b, c, d;

    if (!laz_os_is_root()) {
        unit_skip("root", "only root gives uids");
        return;
    }
    first_uid = 2090000000u + (uint32_t)getpid() * 3;
    snprintf(one_uid, sizeof one_uid, "%u-%u", first_uid, first_uid);
    snprintf(three_uids, sizeof three_uids, "%u-%u", first_uid, first_uid + 2);
    CU_ASSERT_EQUAL(in_child(take_and_die), 0);
    CU_ASSERT_EQUAL(in_child(take_and_die), 0); /* the lock ended with its holder */
    CU_ASSERT_FATAL(laz_uids_new(three_uids, &one, NULL) == 0);
    CU_ASSERT_FATAL(laz_uids_new(three_uids, &two, NULL) == 0);
    CU_ASSERT_EQUAL(laz_uids_take(one, &a, NULL), 0);
    CU_ASSERT_EQUAL(laz_uids_take(two, &b, NULL), 0);
    CU_ASSERT_EQUAL(laz_uids_take(one, &c, NULL), 0);
    CU_ASSERT(a != b && b != c && a != c);
    CU_ASSERT_EQUAL(laz_uids_take(two, &d, NULL), LAZ_EBUSY);
    laz_uids_give_back(one, b); /* not its own uid: no effect */
    CU_ASSERT_EQUAL(laz_uids_take(two, &d, NULL), LAZ_EBUSY);
    laz_uids_give_back(one, a);
    CU_ASSERT_EQUAL(laz_uids_take(two, &d, NULL), 0);
    CU_ASSERT_EQUAL(d, a);
    laz_uids_free(one);
    CU_ASSERT_EQUAL(laz_uids_take(two, &d, NULL), 0);
    CU_ASSERT_EQUAL(d, c);
    laz_uids_free(two);
    CU_ASSERT_FATAL(laz_uids_new("auto", &one, NULL) == 0);
    CU_ASSERT_EQUAL(laz_uids_take(one, &a, NULL), 0);
    CU_ASSERT(a > 60000 && a != 65534 && a < 2147483648u);
    laz_uids_free(one);
}

static const struct unit_test tests[] = {
    UNIT(data_fd_is_read_from_the_start_and_sealed),
    UNIT(close_from_keeps_one),
    UNIT(listen_makes_a_private_socket_and_knows_its_peer),
    UNIT(a_path_too_long_for_a_socket_is_refused),
    UNIT(make_directory_gives_exact_mode_and_owner),
    UNIT(files_are_written_read_and_copied_whole),
    UNIT(remove_tree_takes_any_tree_and_follows_no_link),
    UNIT(runtime_directory_removes_what_the_dead_left),
    UNIT(shared_directories_are_used_by_whoever_owns_them),
    UNIT(old_shared_directories_are_removed_when_nobody_uses_them),
    UNIT(reachable_looks_at_every_directory),
    UNIT(programs_are_found_in_fixed_directories_only),
    UNIT(facts_are_read_below_a_root),
    UNIT(system_paths_have_programs_when_asked_and_no_secrets),
    UNIT(parts_of_a_program_are_links_file_interpreter_and_loader),
    UNIT(parts_of_what_is_no_program_are_an_error),
    UNIT(limits_are_set_lowered_and_never_raised),
    UNIT(a_limit_beside_other_processes_bounds_a_bomb),
    UNIT(files_over_the_limit_are_an_error_and_no_signal),
    UNIT(uid_ranges_are_checked),
    UNIT(each_session_has_a_uid_nobody_else_has),
    {0},
};

int main(void)
{
    if (!mkdtemp(base))
        return 1;
    int rc = unit_run("os files", tests);
    laz_os_remove_tree(base);
    return rc;
}
