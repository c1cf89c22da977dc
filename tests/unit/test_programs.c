/* SPDX-License-Identifier: MIT */
/* test_programs.c - sandbox.programs: how a list is resolved, and the directories made for
 * boxes. */
#include "unit.h"

#include "plan/programs.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/programs.h"
#include "os/shared_directory.h"
#include "os/spawner.h"
#include "os/system.h"

#include <lazaret/backend.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOREIGN_UID 2080000012u

static char base[] = "/tmp/laz-test-programs-XXXXXX"; /* removed by main */

static const char *in_base(const char *name)
{
    static char paths[4][160];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

/* Resolves a list that ends with NULL; the error in `err`. */
static int resolve(const char *const *names, const char *const *runtime, uint32_t uid,
                   struct laz_programs **programs, struct laz_error *err)
{
    struct laz_strv wanted = LAZ_STRV_INIT;
    struct laz_runtime_info declared = {.name = "test"};

    for (; *names; names++)
        laz_strv_add(&wanted, *names);
    for (; runtime && *runtime; runtime++)
        laz_strv_add(&declared.programs, *runtime);
    const struct laz_settings_values values = {.sandbox.programs = wanted};
    int rc = laz_programs_new(&values, &declared, laz_os_platform(), uid, false, programs, err);
    laz_strv_fini(&wanted);
    laz_strv_fini(&declared.programs);
    if (!rc)
        (*programs)->runtime = NULL; /* it is gone */
    return rc;
}

static struct laz_programs *resolved(const char *const *names, const char *const *runtime)
{
    struct laz_programs *programs = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(resolve(names, runtime, LAZ_SPAWN_SAME_ID, &programs, &err), 0);
    UNIT_TEXT(err.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(programs);
    return programs;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NOTHING   ((const char *const[]){NULL})

static bool allows(const struct laz_programs *programs, const char *name)
{
    char *found = NULL, *real = NULL;
    bool is = laz_os_find_program(name, &found, NULL) == 0 && (real = realpath(found, NULL)) &&
              laz_strv_has(&programs->allowed, real);

    free(found);
    free(real);
    return is;
}

static void a_list_is_these_and_nothing_else(void)
{
    struct laz_programs *programs = resolved(LIST("sh", "cat"), LIST("sed"));

    CU_ASSERT_FALSE(programs->any);
    CU_ASSERT_TRUE(allows(programs, "sh"));
    CU_ASSERT_TRUE(allows(programs, "cat"));
    CU_ASSERT_FALSE(allows(programs, "sed")); /* a program of the runtime, but not requested */
    CU_ASSERT_FALSE(allows(programs, "ls"));
    CU_ASSERT_EQUAL(programs->allowed.n, 3); /* including the loader, once */
    laz_programs_free(programs);

    programs = resolved(NOTHING, NULL);
    CU_ASSERT_FALSE(programs->any);
    CU_ASSERT_EQUAL(programs->allowed.n, 0);
    laz_programs_free(programs);

    programs = resolved(LIST("any"), NULL);
    CU_ASSERT_TRUE(programs->any);
    CU_ASSERT_EQUAL(programs->n_parts, 0);
    laz_programs_free(programs);
}

static void a_runtime_can_declare_that_any_is_the_default(void)
{
    struct laz_programs *programs = resolved(LIST("default"), LIST("any"));

    CU_ASSERT_TRUE(programs->any);
    laz_programs_free(programs);
    programs = resolved(LIST("default", "cat"), LIST("any")); /* a list is a list */
    CU_ASSERT_FALSE(programs->any);
    CU_ASSERT_TRUE(allows(programs, "cat"));
    laz_programs_free(programs);
    programs = resolved(LIST("cat"), LIST("any"));
    CU_ASSERT_FALSE(programs->any);
    laz_programs_free(programs);
}

static void the_default_is_the_tools_and_what_the_runtime_declares(void)
{
    struct laz_programs *programs =
        resolved(LIST("default"), LIST("head", "setsid", "no-such-program", "/no/such/one"));

    CU_ASSERT_TRUE(allows(programs, "sh"));
    CU_ASSERT_TRUE(allows(programs, "sed"));
    CU_ASSERT_TRUE(allows(programs, "setsid"));
    CU_ASSERT_FALSE(allows(programs, "mount"));
    laz_programs_free(programs);

    programs = resolved(LIST("default", "mount"), NULL);
    CU_ASSERT_TRUE(allows(programs, "sh"));
    CU_ASSERT_TRUE(allows(programs, "mount"));
    CU_ASSERT_FALSE(allows(programs, "setsid"));
    laz_programs_free(programs);
}

/* Every default has a documented reason, and none is an interpreter. */
static void the_defaults_are_named_in_the_documents(void)
{
    struct laz_buf page = LAZ_BUF_INIT;
    const char *name, *why;
    size_t n = 0;

    CU_ASSERT_EQUAL_FATAL(laz_os_read_file(DOCS_DIRECTORY "/sandbox.md", 1 << 20, &page, NULL), 0);
    for (; laz_programs_default(n, true, &name, &why); n++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", name);
        if (!strstr(laz_buf_text(&page), quoted))
            printf("\n    docs/sandbox.md does not name %s", quoted);
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&page), quoted));
        CU_ASSERT_NOT_EQUAL(why[0], '\0');
    }
    CU_ASSERT(n > 20);
    laz_buf_fini(&page);
}

static void a_listed_program_that_is_missing_is_an_error_that_names_it(void)
{
    static const char *const rows[] = {"no-such-program", "/no/such/program", "/etc/passwd"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_programs *programs = NULL;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(resolve(LIST("sh", rows[i]), NULL, LAZ_SPAWN_SAME_ID, &programs, &err),
                        LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "sandbox.programs: "));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i]));
    }
}

static void a_program_the_session_may_not_execute_is_an_error(void)
{
    const char *closed = in_base("closed"), *open = in_base("open");
    struct laz_programs *programs = NULL;
    struct laz_error err = {0};

    CU_ASSERT_FATAL(laz_os_copy_file("/bin/true", closed, 0750, NULL) == 0);
    CU_ASSERT_FATAL(laz_os_copy_file("/bin/true", open, 0755, NULL) == 0);
    CU_ASSERT_EQUAL(resolve(LIST(open), NULL, FOREIGN_UID, &programs, &err), 0);
    UNIT_TEXT(err.text, "");
    laz_programs_free(programs);
    CU_ASSERT_EQUAL(resolve(LIST(closed), NULL, FOREIGN_UID, &programs, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, closed));
    laz_programs_free(resolved(LIST(closed), NULL)); /* a session of its owner can read it */
    unlink(closed);
    unlink(open);
}

static void another_systems_programs_are_not_looked_for(void)
{
    struct laz_strv wanted = LAZ_STRV_INIT;
    struct laz_programs *programs = NULL;

    laz_strv_add(&wanted, "no-such-program");
    laz_strv_add(&wanted, "/opt/no/such");
    laz_strv_add(&wanted, "sh");
    laz_strv_add(&wanted, "sed");
    const struct laz_settings_values values = {.sandbox.programs = wanted};
    CU_ASSERT_EQUAL(
        laz_programs_new(&values, NULL, "darwin", LAZ_SPAWN_SAME_ID, false, &programs, NULL), 0);
    static const char *const expected[] = {"/usr/bin/no-such-program", "/opt/no/such", "/bin/sh",
                                           "/bin/bash", "/usr/bin/sed"};
    CU_ASSERT_EQUAL_FATAL(programs->allowed.n, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < programs->allowed.n; i++)
        UNIT_TEXT(programs->allowed.items[i], expected[i]);
    laz_programs_free(programs);
    CU_ASSERT_EQUAL(
        laz_programs_new(&values, NULL, "windows", LAZ_SPAWN_SAME_ID, false, &programs, NULL), 0);
    CU_ASSERT_TRUE(laz_strv_has(&programs->allowed, "/usr/bin/sh"));
    CU_ASSERT_FALSE(laz_strv_has(&programs->allowed, "/bin/bash"));
    laz_programs_free(programs);
    laz_strv_fini(&wanted);
}

/* ---- directories for boxes ----------------------------------------------------------------------
 */

static size_t entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    for (struct dirent *entry; dir && (entry = readdir(dir));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return n;
}

static size_t parts_in(const struct laz_programs *programs, const char *directory)
{
    size_t n = 0;

    for (size_t i = 0; i < programs->n_parts; i++)
        n += programs->parts[i].directory &&
             strcmp(programs->parts[i].directory->path, directory) == 0;
    return n;
}

/* Finds the host's directory that a box shows as `box`, in static memory; "" when none. */
struct sought {
    const char *box;
    char host[300];
    size_t n;
};

static void seek(void *user, uint32_t kind, const char *host, const char *box)
{
    struct sought *sought = user;

    (void)kind;
    sought->n++;
    if (strcmp(box, sought->box) == 0)
        snprintf(sought->host, sizeof sought->host, "%s", host);
}

/* The first existing one of some set-user-ID programs, and its directory. */
static const char *a_setuid_program(void)
{
    static const char *const names[] = {"/usr/bin/mount", "/usr/bin/su", "/usr/bin/passwd"};
    struct stat st;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (stat(names[i], &st) == 0 && (st.st_mode & S_ISUID))
            return names[i];
    return NULL;
}

static void staged_directories_hold_what_is_listed_and_nothing_else(void)
{
    const char *setuid = a_setuid_program();
    struct laz_programs *programs =
        resolved(LIST("/usr/bin/cat", "/usr/bin/env", setuid ? setuid : "/usr/bin/cat"), NULL);
    char staged[160], path[300];
    struct stat st, copy;
    struct sought sought = {.box = "/usr/bin"};

    snprintf(staged, sizeof staged, "%s", in_base("staged"));
    CU_ASSERT_EQUAL(laz_programs_stage(programs, NULL, staged, NULL), 0);
    laz_programs_paths(programs, staged, seek, &sought);
    snprintf(path, sizeof path, "%s/usr/bin", staged);
    UNIT_TEXT(sought.host, path);
    CU_ASSERT_EQUAL(entries(path), parts_in(programs, "/usr/bin"));
    snprintf(path, sizeof path, "%s/usr/bin/cat", staged);
    CU_ASSERT(stat(path, &copy) == 0 && stat("/usr/bin/cat", &st) == 0);
    CU_ASSERT_EQUAL(copy.st_size, st.st_size);
    CU_ASSERT_EQUAL(copy.st_mode & 07777, 0755);
    if (setuid) {
        snprintf(path, sizeof path, "%s%s", staged, setuid);
        CU_ASSERT(stat(path, &copy) == 0 && (copy.st_mode & 07777) == 0755);
    }
    laz_programs_free(programs);
    laz_os_remove_tree(staged);
}

/* Large files are mounted and not copied, and paths of the settings have mount points. */
static void staged_directories_have_places_for_mounts(void)
{
    const char *large = "/usr/bin/bash", *shown = "/usr/bin/env";
    struct laz_strv list = LAZ_STRV_INIT;
    char staged[160], path[300];
    struct stat st;
    struct sought sought = {.box = large};

    if (stat(large, &st) != 0 || st.st_size <= (1 << 20)) {
        unit_skip("bash", "there is no large /usr/bin/bash");
        return;
    }
    laz_strv_add(&list, shown);
    struct laz_programs *programs = resolved(LIST(large, "/usr/bin/cat"), NULL);
    snprintf(staged, sizeof staged, "%s", in_base("staged"));
    CU_ASSERT_EQUAL(laz_programs_stage(programs, &list, staged, NULL), 0);
    laz_programs_paths(programs, staged, seek, &sought);
    UNIT_TEXT(sought.host, large);
    snprintf(path, sizeof path, "%s%s", staged, large);
    CU_ASSERT(stat(path, &st) == 0 && st.st_size == 0);
    snprintf(path, sizeof path, "%s%s", staged, shown);
    CU_ASSERT(stat(path, &st) == 0 && st.st_size == 0);
    laz_programs_free(programs);
    laz_strv_fini(&list);
    laz_os_remove_tree(staged);
}

/* Small files of the system, and files with given content, are copied with the programs; mounts
 * have mount points there. */
static void staged_directories_have_an_etc(void)
{
    struct laz_programs *programs = resolved(NOTHING, NULL);
    struct sought sought = {.box = "/etc"};
    struct laz_buf content = LAZ_BUF_INIT;
    char staged[160], path[300];
    struct stat st, copy;
    const char *box, *text;

    snprintf(staged, sizeof staged, "%s", in_base("staged"));
    CU_ASSERT_EQUAL_FATAL(laz_programs_stage(programs, NULL, staged, NULL), 0);
    laz_programs_paths(programs, staged, seek, &sought);
    snprintf(path, sizeof path, "%s/etc", staged);
    UNIT_TEXT(sought.host, path);
    for (size_t i = 0; laz_policy_content(i, false, &box, &text); i++) {
        snprintf(path, sizeof path, "%s%s", staged, box);
        CU_ASSERT_TRUE(laz_programs_has_etc(programs, box));
        CU_ASSERT_EQUAL(laz_os_read_file(path, 4096, &content, NULL), 0);
        UNIT_TEXT(laz_buf_text(&content), text);
        laz_buf_clear(&content);
    }
    CU_ASSERT(programs->etc.n > 0);
    for (size_t i = 0; i < programs->etc.n; i++) {
        snprintf(path, sizeof path, "%s%s", staged, programs->etc.items[i]);
        CU_ASSERT(stat(programs->etc.items[i], &st) == 0 && lstat(path, &copy) == 0);
        CU_ASSERT(S_ISREG(copy.st_mode) && copy.st_size == st.st_size);
    }
    snprintf(path, sizeof path, "%s/etc/ssl/certs", staged);
    if (stat("/etc/ssl/certs", &st) == 0)
        CU_ASSERT(stat(path, &copy) == 0 && S_ISDIR(copy.st_mode));
    CU_ASSERT_FALSE(laz_programs_has_etc(programs, "/etc/ssl/certs"));
    CU_ASSERT_FALSE(laz_programs_has_etc(programs, "/etc/shadow"));
    laz_buf_fini(&content);
    laz_programs_free(programs);
    laz_os_remove_tree(staged);

    programs = resolved(LIST("/etc"), NULL); /* then the host's /etc is used as a whole */
    CU_ASSERT_FALSE(laz_programs_has_etc(programs, "/etc/passwd"));
    laz_programs_free(programs);
}

/* Makes a shared directory for a list, in *staged; false: there is none. */
static bool share(const char *const *names, char **staged)
{
    struct laz_programs *programs = resolved(names, NULL);
    int lock = -1;

    *staged = NULL;
    for (size_t i = 0; i < programs->n_parts; i++) /* as if the tool were in one of them */
        if (strcmp(programs->parts[i].path, in_base("tool")) == 0)
            programs->parts[i].directory = &programs->directories[0];
    bool shared = laz_programs_share(programs, NULL, staged, &lock);
    CU_ASSERT_EQUAL(shared, lock >= 0);
    laz_os_close(&lock);
    laz_programs_free(programs);
    return shared;
}

static void engines_that_need_the_same_share_it(void)
{
    char *parent = laz_os_shared_directory(), *first, *again, *changed, path[400], tool[160];
    struct stat st, now;

    if (!parent) {
        unit_skip("shared", "there is no place for what engines share");
        return;
    }
    snprintf(tool, sizeof tool, "%s", in_base("tool"));
    CU_ASSERT_FATAL(laz_os_copy_file("/bin/true", tool, 0755, NULL) == 0);
    CU_ASSERT_FATAL(share(LIST("cat", tool), &first));
    CU_ASSERT_EQUAL(strncmp(first, parent, strlen(parent)), 0);
    snprintf(path, sizeof path, "%s/usr/bin/cat", first);
    CU_ASSERT(stat(path, &st) == 0 && st.st_mode == (S_IFREG | 0755));
    CU_ASSERT_FATAL(share(LIST("cat", tool), &again));
    UNIT_TEXT(again, first);
    CU_ASSERT(stat(path, &now) == 0 && now.st_ino == st.st_ino); /* not made anew */
    CU_ASSERT_FATAL(unlink(tool) == 0 && laz_os_copy_file("/bin/true", tool, 0755, NULL) == 0);
    CU_ASSERT_FATAL(share(LIST("cat", tool), &changed)); /* a program was replaced */
    CU_ASSERT_STRING_NOT_EQUAL(changed, first);
    laz_os_remove_tree(changed);
    free(changed);
    free(again);
    /* programs in other directories make no difference, because the policy shows them */
    char elsewhere[160];
    snprintf(elsewhere, sizeof elsewhere, "%s", in_base("elsewhere"));
    CU_ASSERT_FATAL(laz_os_copy_file("/bin/true", elsewhere, 0755, NULL) == 0);
    CU_ASSERT_TRUE(share(LIST("cat"), &again) && share(LIST("cat", elsewhere), &changed));
    UNIT_TEXT(again, changed);
    laz_os_remove_tree(again);
    free(changed);
    free(again);
    unlink(elsewhere);
    /* a directory that others can write is neither used nor repaired */
    CU_ASSERT_FATAL(unlink(tool) == 0 && laz_os_copy_file("/bin/false", tool, 0755, NULL) == 0);
    CU_ASSERT_FATAL(share(LIST("cat", tool), &again));
    CU_ASSERT_FATAL(chmod(again, 0777) == 0);
    CU_ASSERT_FALSE(share(LIST("cat", tool), &changed));
    laz_os_remove_tree(again);
    CU_ASSERT_TRUE(share(LIST("cat", tool), &changed));
    laz_os_remove_tree(changed);
    laz_os_remove_tree(first);
    free(changed);
    free(again);
    free(first);
    free(parent);
    unlink(tool);
}

static void a_directory_stands_for_all_in_it(void)
{
    struct laz_programs *programs = resolved(LIST("/usr/bin"), NULL);
    char staged[160];
    struct sought sought = {.box = "/usr/bin"};

    snprintf(staged, sizeof staged, "%s", in_base("staged"));
    CU_ASSERT_TRUE(laz_strv_has(&programs->allowed, "/usr/bin"));
    CU_ASSERT_EQUAL(laz_programs_stage(programs, NULL, staged, NULL), 0);
    laz_programs_paths(programs, staged, seek, &sought);
    UNIT_TEXT(sought.host, "/usr/bin");
    laz_programs_free(programs);
    laz_os_remove_tree(staged);
}

static void staging_that_fails_leaves_nothing(void)
{
    struct laz_programs *programs = resolved(LIST("/usr/bin/cat"), NULL);
    struct laz_error err = {0};
    struct stat st;

    CU_ASSERT_EQUAL(laz_programs_stage(programs, NULL, in_base("missing/staged"), &err), LAZ_EOS);
    free(programs->parts[0].text);
    free(programs->parts[0].path);
    programs->parts[0].text = laz_strdup("/usr/bin/no-such-program"); /* removed meanwhile */
    programs->parts[0].path = laz_strdup("/usr/bin/no-such-program");
    CU_ASSERT_EQUAL(laz_programs_stage(programs, NULL, in_base("staged"), &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no-such-program"));
    CU_ASSERT_NOT_EQUAL(lstat(in_base("staged"), &st), 0);
    laz_programs_free(programs);
}

/* ---- what is found out once ------------------------------------------------------------------ */

static bool count_part(void *user, uint32_t kind, const char *host, const char *box)
{
    unsigned *n = user;

    (void)host;
    n[0]++;
    n[1] += kind == LAZ_PATH_READ && strstr(box, "/ld-") != NULL;
    return true; /* as if nothing were known */
}

static void what_is_known_of_one_program_is_not_looked_up_for_the_next(void)
{
    struct laz_program_known known = {0};
    unsigned n[2] = {0, 0}, once[2];

    CU_ASSERT_EQUAL(laz_os_program_parts("/usr/bin/true", count_part, n, &known, NULL), 0);
    memcpy(once, n, sizeof once);
    CU_ASSERT_EQUAL(laz_os_program_parts("/usr/bin/false", count_part, n, &known, NULL), 0);
    CU_ASSERT(n[0] == once[0] + 1 && n[1] == once[1]); /* the program, and not its loader */
    CU_ASSERT_EQUAL(laz_os_program_parts("/no/such/program", count_part, n, &known, NULL),
                    LAZ_ENOENT);
    CU_ASSERT_EQUAL(n[0], once[0] + 1);
    laz_os_program_known_fini(&known);
    CU_ASSERT_EQUAL(laz_os_program_parts("/usr/bin/true", count_part, n, &known, NULL), 0);
    CU_ASSERT(n[0] == 2 * once[0] + 1 && n[1] == 2 * once[1]);
    laz_os_program_known_fini(&known);
}

static void a_file_that_has_not_changed_is_staged_once(void)
{
    const char *closed = in_base("again"), *file = in_base("again/plug.so");
    const char *directory = in_base("of-engine");
    struct laz_staged *list = NULL;
    const char *first = NULL, *other = NULL;
    struct laz_error err = {0};

    CU_ASSERT_FATAL(mkdir(closed, 0700) == 0 && mkdir(directory, 0711) == 0);
    CU_ASSERT_FATAL(laz_os_write_file(file, "one", 3, 0644, NULL) == 0);
    CU_ASSERT_EQUAL_FATAL(laz_staged_find(&list, directory, file, FOREIGN_UID, true, &first, NULL),
                          0);
    char *copy = laz_strdup(first);
    CU_ASSERT_FATAL(chmod(directory, 0) == 0); /* root can pass; it is asked for nothing in it */
    CU_ASSERT_EQUAL(laz_staged_find(&list, directory, file, FOREIGN_UID + 1, true, &other, NULL),
                    0);
    UNIT_TEXT(other, copy);
    CU_ASSERT_FATAL(chmod(directory, 0711) == 0);
    CU_ASSERT_EQUAL(laz_staged_find(&list, directory, file, LAZ_SPAWN_SAME_ID, true, &other, NULL),
                    0);
    UNIT_TEXT(other, file); /* another kind of session */
    unlink(file);
    CU_ASSERT_FATAL(laz_os_write_file(file, "other", 5, 0644, NULL) == 0);
    CU_ASSERT_EQUAL(laz_staged_find(&list, directory, file, FOREIGN_UID, true, &other, NULL), 0);
    CU_ASSERT_STRING_NOT_EQUAL(other, copy);
    unlink(file);
    CU_ASSERT_EQUAL(laz_staged_find(&list, directory, file, FOREIGN_UID, true, &other, &err),
                    LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, file));
    laz_staged_free(list);
    free(copy);
}

static const struct unit_test tests[] = {
    UNIT(a_list_is_these_and_nothing_else),
    UNIT(a_runtime_can_declare_that_any_is_the_default),
    UNIT(the_default_is_the_tools_and_what_the_runtime_declares),
    UNIT(the_defaults_are_named_in_the_documents),
    UNIT(a_listed_program_that_is_missing_is_an_error_that_names_it),
    UNIT(a_program_the_session_may_not_execute_is_an_error),
    UNIT(another_systems_programs_are_not_looked_for),
    UNIT(staged_directories_hold_what_is_listed_and_nothing_else),
    UNIT(staged_directories_have_places_for_mounts),
    UNIT(staged_directories_have_an_etc),
    UNIT(engines_that_need_the_same_share_it),
    UNIT(a_directory_stands_for_all_in_it),
    UNIT(staging_that_fails_leaves_nothing),
    UNIT(what_is_known_of_one_program_is_not_looked_up_for_the_next),
    UNIT(a_file_that_has_not_changed_is_staged_once),
    {0},
};

int main(void)
{
    char own[160];

    if (!mkdtemp(base) || chmod(base, 0755) != 0)
        return 1;
    /* for an ordinary user, engines share the directory that a login session provides */
    snprintf(own, sizeof own, "%s/runtime", base);
    if (!getenv("XDG_RUNTIME_DIR") || !*getenv("XDG_RUNTIME_DIR"))
        if (mkdir(own, 0700) != 0 || setenv("XDG_RUNTIME_DIR", own, 1) != 0)
            return 1;
    int rc = unit_run("programs", tests);
    laz_os_remove_tree(base);
    return rc;
}
