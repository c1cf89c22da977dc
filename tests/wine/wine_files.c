/* SPDX-License-Identifier: MIT */
/* wine_files.c - files and directories on Windows: making, reading, locking and removing them, with
 * long and non-ASCII names. */
#include "child.h"

#include "base/buf.h"
#include "base/clock.h"
#include "os/append.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/job_values.h"
#include "os/paths.h"
#include "os/process.h"
#include "os/programs.h"
#include "os/runtime_directory.h"
#include "os/users.h"
#include "os/windows/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winioctl.h>

#define FILES_DEEP 200 /* nested directories */

static char base[MAX_PATH * 3]; /* removed by main */

static const char *in_base(const char *name)
{
    static char paths[16][1024]; /* paths in use by a test */
    static unsigned next;
    char *path = paths[next++ % 16];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static void make_directory(const char *path)
{
    CU_ASSERT_EQUAL(laz_os_make_directory(path, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL), 0);
}

static void write_file(const char *path, const char *text)
{
    CU_ASSERT_EQUAL(laz_os_write_file(path, text, strlen(text), 0600, NULL), 0);
}

static bool exists(const char *path)
{
    struct laz_look look;

    return laz_os_look(path, false, &look) == 0;
}

static void holds(const char *path, const char *text)
{
    struct laz_buf buf = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL(laz_os_read_file(path, 1000, &buf, NULL), 0);
    UNIT_TEXT(laz_buf_text(&buf), text);
    laz_buf_fini(&buf);
}

/* ---- what children do ----------------------------------------------------------------------- */

/* Makes the directory of an engine, prints its path, and waits. */
static int play_engine(void)
{
    char *path = NULL;
    int lock = -1;

    if (laz_os_runtime_directory(&path, &lock, NULL))
        return 1;
    puts(path);
    fflush(stdout);
    Sleep(60000);
    return 0;
}

/* Tries to get the lock of a log that another process holds. */
static int play_lock(const char *path)
{
    struct laz_append log = LAZ_APPEND_INIT(path);
    uint64_t size;
    bool reopened;
    int rc = laz_append_lock(&log, 50, &reopened, &size, NULL);

    puts(rc == LAZ_ETIMEOUT ? "locked" : rc ? "error" : "free");
    return 0;
}

int child_main(int argc, char **argv)
{
    if (strcmp(argv[0], "engine") == 0)
        return play_engine();
    if (argc == 2 && strcmp(argv[0], "lock") == 0)
        return play_lock(argv[1]);
    return 99;
}

/* ---- files ---------------------------------------------------------------------------------- */

static void a_file_is_made_read_and_copied(void)
{
    const char *path = in_base("a \xc3\xa4 file"), *copy = in_base("copy");
    struct laz_buf buf = LAZ_BUF_INIT;
    struct laz_error err = {0};

    write_file(path, "one\ntwo\n");
    holds(path, "one\ntwo\n"); /* byte for byte */
    CU_ASSERT_EQUAL(laz_os_write_file(path, "x", 1, 0600, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, EEXIST);
    CU_ASSERT_EQUAL(laz_os_copy_file(path, copy, 0600, NULL), 0);
    holds(copy, "one\ntwo\n");
    CU_ASSERT_EQUAL(laz_os_copy_file(path, copy, 0600, NULL), LAZ_EOS); /* it exists */
    CU_ASSERT_EQUAL(laz_os_read_file(path, 7, &buf, NULL), LAZ_ETOOBIG);
    CU_ASSERT_EQUAL(laz_os_read_file(path, 8, &buf, NULL), 0);
    CU_ASSERT_EQUAL(laz_os_read_file(base, 8, &buf, NULL), LAZ_EINVAL); /* a directory */
    CU_ASSERT_EQUAL(laz_os_read_file("NUL", 8, &buf, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_os_read_file(in_base("none"), 8, &buf, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "none"));
    laz_buf_fini(&buf);
}

static void a_name_that_is_no_utf8_is_refused(void)
{
    struct laz_look look;

    CU_ASSERT_EQUAL(laz_os_write_file(in_base("\xff"), "x", 1, 0600, NULL), LAZ_EOS);
    CU_ASSERT(laz_os_look(in_base("\xc3"), false, &look) != 0);
    CU_ASSERT(!laz_os_is_reachable(in_base("\xff"), 0, false));
}

static void what_is_there_is_told(void)
{
    struct laz_look file, directory, again;
    struct laz_strv names = LAZ_STRV_INIT;

    make_directory(in_base("look"));
    write_file(in_base("look/b"), "123");
    write_file(in_base("look/\xc3\xa4"), "");
    write_file(in_base("look/a"), "");
    CU_ASSERT_EQUAL(laz_os_look(in_base("look/b"), true, &file), 0);
    CU_ASSERT(file.kind == LAZ_LOOK_FILE && file.size == 3 && file.written_ns > 0);
    CU_ASSERT_EQUAL(laz_os_look(in_base("look"), true, &directory), 0);
    CU_ASSERT_EQUAL(directory.kind, LAZ_LOOK_DIRECTORY);
    CU_ASSERT(directory.inode != file.inode);
    CU_ASSERT_EQUAL(laz_os_look(in_base("look/../look/b"), true, &again), 0);
    CU_ASSERT(again.device == file.device && again.inode == file.inode);
    CU_ASSERT_EQUAL(laz_os_look(in_base("look/c"), true, &again), ENOENT);
    CU_ASSERT_EQUAL(laz_os_list_directory(in_base("look"), &names, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(names.n, 3);
    UNIT_TEXT(names.items[0], "a");
    UNIT_TEXT(names.items[1], "b");
    UNIT_TEXT(names.items[2], "\xc3\xa4");
    CU_ASSERT(laz_os_list_directory(in_base("look/c"), &names, NULL) != 0);
    CU_ASSERT(laz_os_list_directory(in_base("look/b"), &names, NULL) != 0);
    laz_strv_fini(&names);
}

static void the_real_path_is_one_of_a_drive(void)
{
    char *real;

    make_directory(in_base("real"));
    real = laz_os_real_path(in_base("look/../real"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(real);
    CU_ASSERT(laz_os_is_absolute(real));
    CU_ASSERT_PTR_NULL(strstr(real, ".."));
    CU_ASSERT_EQUAL(strlen(real) > 5 ? strcmp(real + strlen(real) - 5, "/real") : 1, 0);
    free(real);
    errno = 0;
    CU_ASSERT_PTR_NULL(laz_os_real_path(in_base("none")));
    CU_ASSERT_EQUAL(errno, ENOENT);
}

/* ---- long paths ----------------------------------------------------------------------------- */

static void a_path_may_be_longer_than_max_path(void)
{
    char name[101], path[1024];
    struct laz_look look;

    memset(name, 'x', 100);
    name[100] = '\0';
    snprintf(path, sizeof path, "%s", in_base("long"));
    make_directory(path);
    for (int i = 0; i < 3; i++) {
        strcat(strcat(path, "/"), name);
        make_directory(path);
    }
    strcat(path, "/../");
    strcat(strcat(path, name), "/file");
    CU_ASSERT(strlen(path) > MAX_PATH);
    write_file(path, "far");
    holds(path, "far");
    CU_ASSERT_EQUAL(laz_os_look(path, false, &look), 0);
    laz_os_remove_tree(in_base("long"));
    CU_ASSERT(!exists(in_base("long")));
}

/* ---- removing ------------------------------------------------------------------------------- */

static void a_tree_is_removed_with_what_is_read_only(void)
{
    make_directory(in_base("tree"));
    make_directory(in_base("tree/in"));
    write_file(in_base("tree/in/fixed"), "x");
    wchar_t *fixed = laz_windows_path(in_base("tree/in/fixed"));
    wchar_t *directory = laz_windows_path(in_base("tree/in"));
    CU_ASSERT(SetFileAttributesW(fixed, FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN));
    CU_ASSERT(SetFileAttributesW(directory, FILE_ATTRIBUTE_READONLY));
    free(fixed);
    free(directory);
    laz_os_remove_tree(in_base("tree"));
    CU_ASSERT(!exists(in_base("tree")));
    laz_os_remove_tree(in_base("tree")); /* it does not exist: no effect */
    write_file(in_base("single"), "x");
    laz_os_remove_tree(in_base("single"));
    CU_ASSERT(!exists(in_base("single")));
}

static void a_tree_may_be_deep(void)
{
    char name[32];
    wchar_t *path = laz_windows_long_path(in_base("deep"));
    size_t len = wcslen(path);

    path = realloc(path, (len + FILES_DEEP * 12 + 1) * sizeof *path);
    CU_ASSERT_FATAL(path && CreateDirectoryW(path, NULL));
    for (int i = 0; i < FILES_DEEP; i++) {
        len += (size_t)_snwprintf(path + len, 13, L"\\level-%04d", i);
        CU_ASSERT_FATAL(CreateDirectoryW(path, NULL));
    }
    free(path);
    snprintf(name, sizeof name, "deep/level-%04d", 0);
    CU_ASSERT(exists(in_base(name)));
    laz_os_remove_tree(in_base("deep"));
    CU_ASSERT(!exists(in_base("deep")));
}

/* Makes a junction, which any user can make. False: this system cannot. */
static bool make_junction(const char *path, const char *target)
{
    struct {
        DWORD tag;
        WORD length, reserved, name_at, name_len, print_at, print_len;
        wchar_t text[600];
    } point = {.tag = IO_REPARSE_TAG_MOUNT_POINT};
    wchar_t *wide = laz_windows_path(path), *to = laz_windows_path(target);
    DWORD n = 0;

    point.name_len = (WORD)(_snwprintf(point.text, 599, L"\\??\\%ls", to) * 2);
    point.print_at = (WORD)(point.name_len + 2);
    point.length = (WORD)(point.name_len + 12);
    bool made = CreateDirectoryW(wide, NULL);
    HANDLE handle = CreateFileW(wide, GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                                FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, NULL);
    made = made && handle != INVALID_HANDLE_VALUE &&
           DeviceIoControl(handle, FSCTL_SET_REPARSE_POINT, &point, point.length + 8u, NULL, 0, &n,
                           NULL);
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    free(wide);
    free(to);
    return made;
}

static void a_junction_is_removed_and_not_followed(void)
{
    struct laz_look look;

    make_directory(in_base("kept"));
    write_file(in_base("kept/file"), "kept");
    make_directory(in_base("mine"));
    if (!make_junction(in_base("mine/way"), in_base("kept"))) {
        child_skip_in_wine("a_junction_is_removed_and_not_followed: Wine makes no junctions");
        return;
    }
    CU_ASSERT_EQUAL(laz_os_look(in_base("mine/way"), false, &look), 0);
    CU_ASSERT_EQUAL(look.kind, LAZ_LOOK_LINK);
    CU_ASSERT_EQUAL(laz_os_look(in_base("mine/way"), true, &look), 0);
    CU_ASSERT_EQUAL(look.kind, LAZ_LOOK_DIRECTORY);
    laz_os_remove_tree(in_base("mine"));
    CU_ASSERT(!exists(in_base("mine")));
    holds(in_base("kept/file"), "kept");
}

/* ---- the directory of an engine ----------------------------------------------------------------
 */

static void a_directory_in_use_is_left_and_a_stale_one_removed(void)
{
    char root[80], temp[sizeof base + 8], other[1024];
    const char *const env[] = {root, temp, NULL};
    const char *const words[] = {"engine", NULL};
    struct child child = {.limits = laz_job_limits_none()};
    char *path = NULL;
    int lock = -1;

    snprintf(root, sizeof root, "SystemRoot=%s", getenv("SystemRoot"));
    snprintf(temp, sizeof temp, "TMP=%s", base);
    CU_ASSERT_FATAL(child_start(&child, words, env));
    snprintf(other, sizeof other, "%s", child_line(&child));
    CU_ASSERT(exists(other));
    make_directory(in_base("lazaret-AbCd0123"));
    write_file(in_base("lazaret-AbCd0123/left"), "x");
    make_directory(in_base("lazaret-of-somebody"));
    CU_ASSERT_EQUAL_FATAL(laz_os_runtime_directory(&path, &lock, NULL), 0);
    CU_ASSERT(exists(path) && exists(other));
    CU_ASSERT(!exists(in_base("lazaret-AbCd0123")));
    CU_ASSERT(exists(in_base("lazaret-of-somebody")));
    laz_os_close(&lock);
    laz_os_remove_tree(path);
    free(path);
    /* its process is killed, so its directory is stale */
    laz_process_signal_group(&child.process, SIGKILL);
    CU_ASSERT(laz_process_wait(&child.process, 10000, NULL));
    child_close(&child);
    CU_ASSERT(exists(other));
    CU_ASSERT_EQUAL_FATAL(laz_os_runtime_directory(&path, &lock, NULL), 0);
    CU_ASSERT(!exists(other));
    laz_os_close(&lock);
    laz_os_remove_tree(path);
    CU_ASSERT(!exists(path));
    free(path);
}

/* ---- appending ------------------------------------------------------------------------------ */

static void append(struct laz_append *log, const char *text, bool fresh)
{
    uint64_t size = 0;
    bool reopened = false;

    CU_ASSERT_EQUAL_FATAL(laz_append_lock(log, 1000, &reopened, &size, NULL), 0);
    CU_ASSERT_EQUAL(reopened, fresh);
    CU_ASSERT_EQUAL(laz_append_write(log, size, text, strlen(text), true, NULL), 0);
    laz_append_unlock(log);
}

static void a_log_grows_and_is_followed_when_it_is_renamed(void)
{
    const char *path = in_base("directory/made/log");
    struct laz_append log = LAZ_APPEND_INIT(path);
    char text[8] = "";
    uint64_t size = 0;

    append(&log, "one\n", true);
    append(&log, "two\n", false);
    CU_ASSERT_EQUAL(laz_append_read(&log, 4, text, sizeof text, NULL), 4);
    UNIT_TEXT(text, "two\n");
    CU_ASSERT_EQUAL(laz_append_size(log.fd, &size, NULL), 0);
    CU_ASSERT_EQUAL(size, 8);
    wchar_t *from = laz_windows_path(path), *to = laz_windows_path(in_base("directory/old"));
    CU_ASSERT(MoveFileW(from, to)); /* while it is open, as a rotation does */
    free(from);
    free(to);
    append(&log, "three\n", true);
    laz_append_close(&log);
    holds(path, "three\n");
    holds(in_base("directory/old"), "one\ntwo\n");
}

static void one_process_has_the_lock_of_a_log(void)
{
    const char *path = in_base("locked");
    const char *const words[] = {"lock", path, NULL};
    struct laz_append log = LAZ_APPEND_INIT(path);
    struct child child = {.limits = laz_job_limits_none()};
    struct laz_exit how;
    uint64_t size;
    bool reopened;

    CU_ASSERT_EQUAL_FATAL(laz_append_lock(&log, 1000, &reopened, &size, NULL), 0);
    if (child_start(&child, words, NULL))
        CU_ASSERT_EQUAL(strncmp(child_ended(&child, &how), "locked", 6), 0);
    child_close(&child);
    laz_append_unlock(&log);
    child = (struct child){.limits = laz_job_limits_none()};
    if (child_start(&child, words, NULL))
        CU_ASSERT_EQUAL(strncmp(child_ended(&child, &how), "free", 4), 0);
    child_close(&child);
    laz_append_close(&log);
}

static void a_log_is_a_file_with_one_name(void)
{
    struct laz_error err = {0};
    struct laz_append relative = LAZ_APPEND_INIT("log"), directory = LAZ_APPEND_INIT(base);

    write_file(in_base("first"), "");
    struct laz_append log = LAZ_APPEND_INIT(in_base("first"));
    wchar_t *first = laz_windows_path(log.path), *second = laz_windows_path(in_base("second"));
    CU_ASSERT_FATAL(CreateHardLinkW(second, first, NULL));
    CU_ASSERT_EQUAL(laz_append_open(&log, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "hard links"));
    CU_ASSERT(DeleteFileW(second));
    CU_ASSERT_EQUAL(laz_append_open(&log, NULL), 0);
    laz_append_close(&log);
    free(first);
    free(second);
    CU_ASSERT_EQUAL(laz_append_open(&relative, NULL), LAZ_ECONFIG);
    CU_ASSERT(laz_append_open(&directory, NULL) != 0);
}

/* ---- where things are ----------------------------------------------------------------------- */

static void settings_lie_in_the_user_s_directory(void)
{
    char *path = NULL;

    _putenv("APPDATA=D:\\me\\Roaming");
    CU_ASSERT(laz_os_config_place(0, &path));
    UNIT_TEXT(path, "D:/me/Roaming/lazaret/lazaret.toml");
    free(path);
    _putenv("APPDATA=Roaming"); /* relative: it would be below the working directory */
    CU_ASSERT(laz_os_config_place(0, &path));
    CU_ASSERT_PTR_NULL(path);
    CU_ASSERT(!laz_os_config_place(2, &path));
}

static void what_is_installed_lies_beside_the_program(void)
{
    const struct laz_layout layout = {.prefix = "/usr/local"};
    char *path = laz_os_installed(&layout, "/usr/local/lib/lazaret/x");
    char *stranger = laz_os_installed(&layout, "C:/x");

    CU_ASSERT(laz_os_is_absolute(path));
    CU_ASSERT_PTR_NOT_NULL(strstr(path, "/lib/lazaret/x"));
    CU_ASSERT_PTR_NULL(strchr(path, '\\'));
    UNIT_TEXT(stranger, "C:/x");
    free(path);
    free(stranger);
}

static void programs_are_not_looked_for_in_path(void)
{
    char *path = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_os_find_program("cmd", &path, NULL), 0);
    CU_ASSERT(laz_os_is_absolute(path));
    CU_ASSERT_PTR_NOT_NULL(strstr(path, "cmd.exe"));
    free(path);
    CU_ASSERT_EQUAL(laz_os_find_program("wine_files", &path, &err), LAZ_ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "absolute path"));
    CU_ASSERT_EQUAL(laz_os_find_program("./cmd", &path, NULL), LAZ_ENOENT);
    CU_ASSERT_EQUAL(laz_os_find_program(in_base("none"), &path, NULL), LAZ_ENOENT);
}

static const struct unit_test tests[] = {
    UNIT(a_file_is_made_read_and_copied),
    UNIT(a_name_that_is_no_utf8_is_refused),
    UNIT(what_is_there_is_told),
    UNIT(the_real_path_is_one_of_a_drive),
    UNIT(a_path_may_be_longer_than_max_path),
    UNIT(a_tree_is_removed_with_what_is_read_only),
    UNIT(a_tree_may_be_deep),
    UNIT(a_junction_is_removed_and_not_followed),
    UNIT(a_directory_in_use_is_left_and_a_stale_one_removed),
    UNIT(a_log_grows_and_is_followed_when_it_is_renamed),
    UNIT(one_process_has_the_lock_of_a_log),
    UNIT(a_log_is_a_file_with_one_name),
    UNIT(settings_lie_in_the_user_s_directory),
    UNIT(what_is_installed_lies_beside_the_program),
    UNIT(programs_are_not_looked_for_in_path),
    {0},
};

int main(int argc, char **argv)
{
    wchar_t temp[MAX_PATH + 1];

    CHILD_MAIN(argc, argv);
    if (!GetTempPathW(MAX_PATH, temp))
        return 99;
    char *narrow = laz_windows_slashes(laz_windows_narrow(temp));
    snprintf(base, sizeof base, "%slaz-test-files-%lu", narrow, GetCurrentProcessId());
    free(narrow);
    if (laz_os_make_directory(base, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL))
        return 99;
    SetEnvironmentVariableA("TMP", base); /* where engines make their directories */
    int status = unit_run("wine_files", tests);
    laz_os_remove_tree(base);
    return status;
}
