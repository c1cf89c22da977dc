/* SPDX-License-Identifier: MIT */
/* facts.c - what this system says of itself where namespaces are refused.  System: Linux.
 *
 * The words of a program that was refused seldom tell who refused it: the kernel's own settings,
 * the filter of a container, another sandbox.  The kernel and a few well-known files do.  They are
 * read only after something failed, and only to choose a sentence: nothing is decided by them.
 *
 * user_namespaces(7), namespaces(7); kernel.unprivileged_userns_clone is a patch of Debian's, the
 * AppArmor setting is Ubuntu's (23.10); /run/systemd/container is systemd's container interface. */
#include "os/os.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FACTS_TEXT ((size_t)64 << 10)

/* Content of a small file below `root`, its last newline cut off; false when there is none. */
static bool facts_read(const char *root, const char *path, struct laz_buf *content)
{
    char full[512];

    snprintf(full, sizeof full, "%s%s", root, path);
    laz_buf_clear(content);
    if (laz_os_read_file(full, FACTS_TEXT, content, NULL))
        return false;
    while (content->len && content->data[content->len - 1] == '\n')
        content->data[--content->len] = '\0';
    return true;
}

static void facts_line(struct laz_buf *facts, const char *name, const char *value)
{
    laz_buf_printf(facts, "%s=%.*s\n", name, (int)strcspn(value, "\n"), value);
}

static bool facts_exists(const char *root, const char *path)
{
    char full[512];
    struct stat st;

    snprintf(full, sizeof full, "%s%s", root, path);
    return stat(full, &st) == 0;
}

static void facts_container(const char *root, struct laz_buf *content, struct laz_buf *facts)
{
    if (facts_exists(root, "/run/.containerenv"))
        facts_line(facts, "container", "podman");
    else if (facts_exists(root, "/.dockerenv"))
        facts_line(facts, "container", "docker");
    else if (facts_read(root, "/run/systemd/container", content) && content->len)
        facts_line(facts, "container", laz_buf_text(content));
}

void laz_os_facts(const char *root, struct laz_buf *facts)
{
    static const struct {
        const char *name, *path;
    } sysctls[] = {
        {"user.max_user_namespaces", "/proc/sys/user/max_user_namespaces"},
        {"kernel.unprivileged_userns_clone", "/proc/sys/kernel/unprivileged_userns_clone"},
        {"kernel.apparmor_restrict_unprivileged_userns",
         "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"},
    };
    struct laz_buf content = LAZ_BUF_INIT;
    unsigned inside, outside, count;

    for (size_t i = 0; i < sizeof sysctls / sizeof *sysctls; i++)
        if (facts_read(root, sysctls[i].path, &content))
            facts_line(facts, sysctls[i].name, laz_buf_text(&content));
    facts_container(root, &content, facts);
    if (facts_read(root, "/proc/self/status", &content)) {
        const char *filter = strstr(laz_buf_text(&content), "\nSeccomp:\t");
        if (filter)
            facts_line(facts, "seccomp", filter + strlen("\nSeccomp:\t"));
    }
    /* The first user namespace maps every uid to itself. */
    if (facts_read(root, "/proc/self/uid_map", &content) &&
        (sscanf(laz_buf_text(&content), "%u %u %u", &inside, &outside, &count) != 3 || inside ||
         outside || count != UINT32_MAX))
        facts_line(facts, "userns", "nested");
    laz_buf_fini(&content);
}
