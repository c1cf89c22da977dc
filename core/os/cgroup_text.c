/* SPDX-License-Identifier: MIT */
/* cgroup_text.c - parses the kernel's texts about control groups.
 * Side: host.  Input trusted: yes (files of the kernel); parsed with care all the same, because a
 * container may provide any of them.
 *
 * proc(5) describes mountinfo, cgroups(7) describes /proc/PID/cgroup. */
#include "os/cgroup_text.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

bool laz_cgroup_lists(const char *list, size_t len, const char *separators, const char *word)
{
    size_t n = strlen(word);

    for (size_t at = 0; at <= len;) {
        size_t part = 0;
        while (at + part < len && !strchr(separators, list[at + part]))
            part++;
        if (part == n && memcmp(list + at, word, n) == 0)
            return true;
        at += part + 1;
    }
    return false;
}

/* The path of the process in the hierarchy; a new string. */
static char *text_own_path(const char *self, const char *controller)
{
    for (const char *line = self; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        const char *names = memchr(line, ':', len);
        if (!names)
            continue;
        names++;
        const char *path = memchr(names, ':', len - (size_t)(names - line));
        if (!path)
            continue;
        bool fits = *controller ? laz_cgroup_lists(names, (size_t)(path - names), ",", controller)
                                : path == names && strncmp(line, "0:", 2) == 0;
        path++;
        if (fits && *path == '/')
            return laz_strndup(path, len - (size_t)(path - line));
    }
    return NULL;
}

/* Field `n` (from 0) of a line; its length. Blanks in a field are written as \040. */
static const char *text_field(const char *line, size_t line_len, unsigned n, size_t *len)
{
    const char *end = line + line_len;

    for (; n && line < end; n--) {
        const char *blank = memchr(line, ' ', (size_t)(end - line));
        line = blank ? blank + 1 : end;
    }
    const char *blank = line < end ? memchr(line, ' ', (size_t)(end - line)) : NULL;
    *len = (size_t)((blank ? blank : end) - line);
    return line;
}

char *laz_mount_unescape(const char *text, size_t len)
{
    char *out = laz_strndup(text, len), *to = out;

    for (const char *p = out; p && *p;) {
        bool octal = p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
                     p[3] >= '0' && p[3] <= '7';
        *to++ = octal ? (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0')) : *p;
        p += octal ? 4 : 1;
    }
    if (to)
        *to = '\0';
    return out;
}

static bool text_is_mount(const char *line, size_t len, const char *controller)
{
    size_t n, separator = 6; /* after the optional fields comes "-" */
    const char *field;

    do {
        field = text_field(line, len, (unsigned)separator++, &n);
        if (n == 0)
            return false;
    } while (n != 1 || *field != '-');
    field = text_field(line, len, (unsigned)separator, &n);
    if (!*controller)
        return n == 7 && memcmp(field, "cgroup2", 7) == 0;
    if (n != 6 || memcmp(field, "cgroup", 6) != 0)
        return false;
    field = text_field(line, len, (unsigned)separator + 2, &n);
    return laz_cgroup_lists(field, n, ",", controller);
}

/* The directory for `path`, when the mount includes it; a new string. */
static char *text_directory(const char *line, size_t len, const char *path, size_t *top)
{
    size_t root_len, point_len;
    const char *raw_root = text_field(line, len, 3, &root_len);
    const char *raw_point = text_field(line, len, 4, &point_len);
    char *root = laz_mount_unescape(raw_root, root_len);
    char *point = laz_mount_unescape(raw_point, point_len);
    char *directory = NULL;

    if (root && point) {
        const char *rest = path;
        size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
        if (strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0')) {
            rest += n;
            *top = strlen(point);
            directory = laz_strdupf("%s%s", point, strcmp(rest, "/") == 0 ? "" : rest);
        }
    }
    free(root);
    free(point);
    return directory;
}

char *laz_cgroup_directory(const char *mountinfo, const char *self, const char *controller,
                           size_t *top)
{
    char *path = text_own_path(self, controller), *directory = NULL;

    /* "/.." begins the path of a group outside of the namespace */
    if (path && !strstr(path, "/../") && strcmp(path, "/..") != 0)
        for (const char *line = mountinfo; *line && !directory;) {
            size_t len = strcspn(line, "\n");
            if (text_is_mount(line, len, controller))
                directory = text_directory(line, len, path, top);
            line += len + (line[len] == '\n');
        }
    free(path);
    return directory;
}

bool laz_cgroup_counter(const char *text, const char *key, uint64_t *value)
{
    size_t n = strlen(key);

    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char *end;
        if (strncmp(line, key, n) != 0 || line[n] != ' ' || line[n + 1] < '0' || line[n + 1] > '9')
            continue;
        *value = strtoull(line + n + 1, &end, 10);
        return *end == '\n' || *end == '\0';
    }
    return false;
}

bool laz_cgroup_name_parse(const char *text, struct laz_cgroup_name *name)
{
    uint64_t *const numbers[] = {&name->pid_namespace, &name->pid, &name->start, &name->number};

    if (strncmp(text, "lazaret", 7) != 0)
        return false;
    text += 7;
    for (size_t i = 0; i < 4; i++) {
        char *end;
        if (text[0] != '-' || text[1] < '0' || text[1] > '9')
            return false;
        *numbers[i] = strtoull(text + 1, &end, 10);
        text = end;
    }
    return *text == '\0';
}

/* Does a text such as /proc/PID/cgroup (cgroups(7)) name the group, or one below it? One name may
 * be a prefix of another. */
bool laz_cgroup_is_named(const char *self, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = self; (at = strstr(at, name)); at += len)
        if (at > self && at[-1] == '/' && (!at[len] || at[len] == '/' || at[len] == '\n'))
            return true;
    return false;
}
