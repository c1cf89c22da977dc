/* SPDX-License-Identifier: MIT */
/* work_directory.c - a directory of its own for a test of plugins, with copies of those of
 * tests/mock.
 */
#include "work_directory.h"
#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "settings/settings.h"

void assert_has(const char *text, const char *part, unsigned line)
{
    bool has = strstr(text, part) != NULL;

    if (!has)
        printf("\n    line %u: \"%s\" is not in: %s\n", line, part, text);
    CU_assertImplementation(has, line, "the text has the part", __FILE__, "", CU_FALSE);
}

char work[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void work_end(void)
{
    nftw(work, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void work_begin(void)
{
    strcpy(work, "/tmp/lazaret-test-XXXXXX");
    if (!mkdtemp(work)) {
        perror(work);
        exit(1);
    }
}

const char *mock(const char *name)
{
    static _Thread_local char paths[32][4096];
    static _Thread_local unsigned next;
    char *path = paths[next++ % 32], *directory = unit_built("tests/mock/.libs");

    snprintf(path, sizeof paths[0], "%s/%s.so", directory ? directory : "", name);
    free(directory);
    return path;
}

const char *in_work(const char *name)
{
    static char paths[16][160];
    static unsigned next;
    char *path = paths[next++ % 16];

    snprintf(path, sizeof paths[0], "%s/%s", work, name);
    return path;
}

void write_file(const char *path, const void *data, size_t len, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_FATAL(write(fd, data, len) == (ssize_t)len);
    CU_ASSERT_FATAL(fchmod(fd, mode) == 0);
    close(fd);
}

const char *copy_mock(const char *from, const char *to, mode_t mode)
{
    static char data[4 << 20];
    const char *path = in_work(to);
    char source[256];

    snprintf(source, sizeof source, "tests/mock/.libs/%s", from);
    FILE *file = fopen(source, "rb");
    CU_ASSERT_FATAL(file != NULL);
    size_t len = fread(data, 1, sizeof data, file);
    CU_ASSERT_FATAL(len > 0 && len < sizeof data);
    fclose(file);
    write_file(path, data, len, mode);
    return path;
}

const char *make_directory(const char *name, mode_t mode)
{
    const char *path = in_work(name);

    CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
    CU_ASSERT_FATAL(chmod(path, mode) == 0);
    return path;
}

struct laz_registry *open_registry(const char *directory, const char *second)
{
    struct laz_settings_values values = {0};
    struct laz_strv *directories = &values.plugins.path;
    struct laz_registry *registry = NULL;
    struct laz_error err = {0};

    laz_strv_add(directories, directory);
    if (second)
        laz_strv_add(directories, second);
    CU_ASSERT_FATAL(laz_registry_new(&values, NULL, &registry, &err) == 0);
    laz_strv_fini(directories);
    return registry;
}
