/* SPDX-License-Identifier: MIT */
/* test_trust.c - files on which lazaret relies: other users can change neither them nor the
 * directories above them. */
#include "unit.h"

#include "os/directories.h"
#include "os/files.h"
#include "os/shared_directory.h"
#include "os/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define STRANGER 54321u

static char base[] = "/tmp/laz-test-trust-XXXXXX"; /* removed by main */

static const char *in_base(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

/* Makes base/way/to/file and links to it anew. */
static void build(void)
{
    laz_os_remove_tree(in_base("way"));
    unlink(in_base("link"));
    unlink(in_base("round"));
    CU_ASSERT_EQUAL_FATAL(mkdir(in_base("way"), 0755), 0);
    CU_ASSERT_EQUAL_FATAL(mkdir(in_base("way/to"), 0755), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(in_base("way/to/file"), "text", 4, 0755, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(symlink("way/./to/../to/file", in_base("link")), 0);
    CU_ASSERT_EQUAL_FATAL(symlink(in_base("link"), in_base("round")), 0);
    CU_ASSERT_EQUAL_FATAL(symlink(in_base("way"), in_base("way/to/up")), 0);
}

/* Is the path trusted, for loading and for reading? If not, the message contains `part`. */
static void judge(const char *path, const char *part)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0}, why = {0};
    int rc = laz_trust_file(path, &err), read = laz_trust_read(path, 100, &text, &why);

    if (!part) {
        UNIT_TEXT(err.text, "");
        UNIT_TEXT(why.text, "");
        CU_ASSERT(rc == 0 && read == 0);
        UNIT_TEXT(laz_buf_text(&text), "text");
    } else {
        CU_ASSERT(rc == LAZ_EREFUSED && read == rc);
        UNIT_TEXT(why.text, err.text);
        if (!strstr(err.text, part))
            UNIT_TEXT(err.text, part);
    }
    laz_buf_fini(&text);
}

static void judge_all(const char *part)
{
    judge(in_base("way/to/file"), part);
    judge(in_base("link"), part);
    judge(in_base("round"), part);
    judge(in_base("way/to/up/to/file"), part);
}

static void what_nobody_else_can_write_is_relied_on(void)
{
    build();
    judge_all(NULL);
    CU_ASSERT_EQUAL(laz_trust_directory(in_base("way/to"), NULL), 0);
    CU_ASSERT_EQUAL(laz_trust_directory("/", NULL), 0);
    CU_ASSERT_EQUAL(laz_trust_file("/bin/sh", NULL), 0);
}

/* The modes of the file and of each directory above it count, by any path. */
static void modes_on_the_way_count(void)
{
    static const struct {
        const char *name;
        unsigned mode;
        const char *part; /* NULL: trusted */
    } rows[] = {
        {"way/to/file", 0666, "every user can write this file (mode 0666)"},
        {"way/to/file", 0757, "chmod o-w /tmp/laz-test-trust-"},
        {"way/to/file", 04755, NULL},
        {"way/to", 0777, "every user can write this directory (mode 0777), on the way to "},
        {"way", 0757, "every user can write this directory (mode 0757), on the way to "},
        {"way/to", 01777, NULL},
        {"way", 01777, NULL},
        {"way", 0711, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        build();
        CU_ASSERT_EQUAL(chmod(in_base(rows[i].name), rows[i].mode), 0);
        judge_all(rows[i].part);
    }
}

static void owners_and_groups_on_the_way_count(void)
{
    static const struct {
        const char *name;
        unsigned uid, gid, mode;
        const char *part;
    } rows[] = {
        {"way/to/file", STRANGER, 0, 0644, "uid 54321, not root or uid 0, owns this file"},
        {"way/to", STRANGER, 0, 0755, "uid 54321, not root or uid 0, owns this directory"},
        {"way", STRANGER, 0, 0755, "or run lazaret as the owner of /tmp/laz-test-trust-"},
        {"way", STRANGER, 0, 01777, "uid 54321"}, /* its owner can remove its entries */
        {"way/to/file", 0, STRANGER, 0644, NULL},
        {"way/to/file", 0, STRANGER, 0664, "the group 54321 can write this file (mode 0664)"},
        {"way/to", 0, STRANGER, 0775, "chmod g-w"},
        {"way", 0, STRANGER, 02775, "the group 54321 can write this directory (mode 2775), on the"},
        {"way", 0, STRANGER, 0777, "chmod go-w"},
        {"way", 0, STRANGER, 01775, NULL},
        {"way", 0, 0, 0775, NULL},
    };

    if (geteuid() != 0) {
        unit_skip("root", "only root can give a file away");
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        build();
        CU_ASSERT_EQUAL(chown(in_base(rows[i].name), rows[i].uid, rows[i].gid), 0);
        CU_ASSERT_EQUAL(chmod(in_base(rows[i].name), rows[i].mode), 0);
        judge_all(rows[i].part);
    }
}

/* In /tmp every user can make a link and replace it. */
static void a_link_of_somebody_else_is_no_way(void)
{
    if (geteuid() != 0) {
        unit_skip("root", "only root can give a link away");
        return;
    }
    build();
    CU_ASSERT_EQUAL(lchown(in_base("round"), STRANGER, STRANGER), 0);
    judge(in_base("round"), "owns this link");
    CU_ASSERT_EQUAL(lchown(in_base("link"), STRANGER, STRANGER), 0);
    judge(in_base("link"), "owns this link");
    CU_ASSERT_EQUAL(lchown(in_base("round"), 0, 0), 0);
    judge(in_base("round"), "owns this link");
}

static void a_directory_itself_is_nobodys_to_add_to(void)
{
    struct laz_error err = {0};

    build();
    CU_ASSERT_EQUAL(chmod(in_base("way/to"), 01777), 0);
    CU_ASSERT_EQUAL(laz_trust_directory(in_base("way/to"), &err), LAZ_EREFUSED);
    CU_ASSERT(strstr(err.text, "every user can write this directory (mode 1777)") != NULL);
    CU_ASSERT_EQUAL(laz_trust_directory(in_base("way/to/up/to"), NULL), LAZ_EREFUSED);
    CU_ASSERT_EQUAL(laz_trust_directory("/tmp", NULL), LAZ_EREFUSED);
    CU_ASSERT_EQUAL(laz_trust_directory("/tmp/.", NULL), LAZ_EREFUSED);
}

/* POSIX: rights that an access list gives to a user appear in the mode as rights of the group. */
static void an_access_list_opens_a_private_group(void)
{
    /* acl(5): version 2; user::rw-, user:54321:rw-, group::r--, mask::rw-, other::r-- */
    static const unsigned char list[] = {
        2,    0, 0, 0,                         /* version */
        1,    0, 6, 0, 0xff, 0xff, 0xff, 0xff, /* ACL_USER_OBJ */
        2,    0, 6, 0, 0x31, 0xd4, 0,    0,    /* ACL_USER */
        4,    0, 4, 0, 0xff, 0xff, 0xff, 0xff, /* ACL_GROUP_OBJ */
        0x10, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, /* ACL_MASK */
        0x20, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, /* ACL_OTHER */
    };

    if (geteuid() != 0) {
        unit_skip("root", "only root has a file of root's group");
        return;
    }
    build();
    CU_ASSERT_EQUAL(chmod(in_base("way/to/file"), 0664), 0);
    judge_all(NULL);
    if (setxattr(in_base("way/to/file"), "system.posix_acl_access", list, sizeof list, 0) != 0) {
        CU_ASSERT_EQUAL(errno, EOPNOTSUPP); /* this file system has no access lists */
        return;
    }
    judge_all("the group 0 can write this file (mode 0664)");
}

static void what_is_no_file_is_said(void)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};
    char name[300];

    build();
    judge(in_base("way"), "not a regular file");
    CU_ASSERT_EQUAL(mkfifo(in_base("way/pipe"), 0600), 0);
    judge(in_base("way/pipe"), "not a regular file");
    CU_ASSERT_EQUAL(laz_trust_directory(in_base("way/to/file"), &err), LAZ_EREFUSED);
    CU_ASSERT(strstr(err.text, "not a directory") != NULL);
    CU_ASSERT_EQUAL(laz_trust_file("relative", NULL), LAZ_EREFUSED);
    CU_ASSERT_EQUAL(laz_trust_directory("relative", NULL), LAZ_EREFUSED);
    CU_ASSERT_EQUAL(laz_trust_file(in_base("none"), &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ENOENT);
    CU_ASSERT_EQUAL(laz_trust_file(in_base("way/to/file/below"), &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ENOTDIR);
    CU_ASSERT_EQUAL(laz_trust_read(in_base("link"), 3, &text, NULL), LAZ_ETOOBIG);
    CU_ASSERT_EQUAL(text.len, 0);
    CU_ASSERT_EQUAL(symlink("loop", in_base("loop")), 0);
    CU_ASSERT_EQUAL(laz_trust_file(in_base("loop"), &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ELOOP);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(name, "/tmp/", 5);
    CU_ASSERT_EQUAL(laz_trust_file(name, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ENAMETOOLONG);
    laz_buf_fini(&text);
}

static void a_relative_path_is_read_from_the_working_directory(void)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};
    int back = open(".", O_RDONLY | O_DIRECTORY);

    build();
    CU_ASSERT_EQUAL(chdir(in_base("way/to")), 0);
    CU_ASSERT_EQUAL(laz_trust_read("../to/./file", 100, &text, NULL), 0);
    CU_ASSERT_EQUAL(chmod(in_base("way"), 0777), 0);
    CU_ASSERT_EQUAL(laz_trust_read("file", 100, &text, &err), LAZ_EREFUSED);
    CU_ASSERT(strstr(err.text, "way: every user can write this directory") != NULL);
    CU_ASSERT_EQUAL(fchdir(back), 0);
    close(back);
    laz_buf_fini(&text);
}

/* Runs in a user namespace without a mapping for root; 0: all checks passed. */
static int in_a_namespace(void)
{
    char map[64];

    if (geteuid() == 0 &&
        (setresuid(STRANGER, STRANGER, STRANGER) != 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0))
        return 1;
    snprintf(map, sizeof map, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
    if (unshare(CLONE_NEWUSER) != 0)
        return 77;
    int fd = open("/proc/self/uid_map", O_WRONLY);
    if (fd < 0 || write(fd, map, strlen(map)) < 0)
        return 2;
    struct stat st;
    if (stat("/", &st) != 0 || st.st_uid == 0)
        return 3;
    if (st.st_uid == geteuid()) /* "nobody": unmapped files look like its own */
        return 78;
    if (laz_trust_file("/bin/sh", NULL) != 0 || laz_trust_directory("/usr/lib", NULL) != 0)
        return 4;
    /* its maker cannot be distinguished from root then, which matters below /tmp */
    return laz_trust_file(in_base("way/to/file"), NULL) == LAZ_EREFUSED || geteuid() != STRANGER
               ? 0
               : 5;
}

static void the_owner_of_all_passes_where_root_has_no_name(void)
{
    int how = 0;

    build();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(in_a_namespace());
    CU_ASSERT_EQUAL_FATAL(waitpid(pid, &how, 0), pid);
    if (WIFEXITED(how) && WEXITSTATUS(how) == 77) {
        unit_skip("namespaces", "this user gets no user namespace");
        return;
    }
    if (WIFEXITED(how) && WEXITSTATUS(how) == 78) {
        unit_skip("root", "this user has the number of who has no name");
        return;
    }
    CU_ASSERT_EQUAL(how, 0);
}

/* Engines of a user share a directory in the user's XDG_RUNTIME_DIR, if that is trusted. Returns
 * the number of the failed row, or 0. */
static int shared_directories_of_a_user(void)
{
    static const struct {
        unsigned above, mode;
        bool there;
    } rows[] = {{0755, 0700, true},
                {0777, 0700, false},
                {01777, 0700, true},
                {0755, 0777, false},
                {0755, 01777, false}};

    if (geteuid() == 0 && setresuid(STRANGER, STRANGER, STRANGER) != 0)
        return 100;
    setenv("XDG_RUNTIME_DIR", in_base("way/to"), 1);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        if (chmod(in_base("way"), rows[i].above) != 0 || chmod(in_base("way/to"), rows[i].mode))
            return 101;
        char *path = laz_os_shared_directory();
        bool is_there = path != NULL;
        free(path);
        if (is_there != rows[i].there)
            return i + 1;
    }
    return 0;
}

static void what_engines_share_is_relied_on(void)
{
    int how = 0;

    build();
    if (geteuid() == 0)
        CU_ASSERT(chown(in_base("way"), STRANGER, 0) == 0 &&
                  chown(in_base("way/to"), STRANGER, 0) == 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(shared_directories_of_a_user());
    CU_ASSERT_EQUAL_FATAL(waitpid(pid, &how, 0), pid);
    CU_ASSERT_TRUE(WIFEXITED(how));
    CU_ASSERT_EQUAL(WEXITSTATUS(how), 0);
}

static const struct unit_test tests[] = {
    UNIT(what_nobody_else_can_write_is_relied_on),
    UNIT(modes_on_the_way_count),
    UNIT(owners_and_groups_on_the_way_count),
    UNIT(a_link_of_somebody_else_is_no_way),
    UNIT(a_directory_itself_is_nobodys_to_add_to),
    UNIT(an_access_list_opens_a_private_group),
    UNIT(what_is_no_file_is_said),
    UNIT(a_relative_path_is_read_from_the_working_directory),
    UNIT(the_owner_of_all_passes_where_root_has_no_name),
    UNIT(what_engines_share_is_relied_on),
    {0},
};

int main(void)
{
    umask(022);
    if (!mkdtemp(base) || chmod(base, 0755))
        return 1;
    int status = unit_run("trust", tests);
    laz_os_remove_tree(base);
    return status;
}
