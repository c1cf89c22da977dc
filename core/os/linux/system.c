/* SPDX-License-Identifier: MIT */
/* system.c - the paths that the loader and interpreters need, and facts about this system.
 * System: Linux.
 *
 * The paths are only those that every user may read and that hold no secret: not /etc as a whole,
 * and of /etc/ssl the certificates, not the private keys.  Unless all programs of the host are
 * wanted, they are only libraries and data of /usr: the programs are added one by one.
 *
 * The error of a program that was refused seldom says what refused it: the kernel's own settings,
 * the filter of a container, another sandbox.  The kernel and a few well-known files do:
 * user_namespaces(7), namespaces(7); kernel.unprivileged_userns_clone is a patch of Debian's, the
 * AppArmor setting is Ubuntu's (23.10); /run/systemd/container is systemd's container interface.
 * They are read only after something failed, and only to choose a sentence: nothing depends on
 * them. */
#include "os/system.h"

#include "os/files.h"

#include <lazaret/backend.h>

#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FACTS_TEXT ((size_t)64 << 10)

enum system_use {
    SYSTEM_ALWAYS,
    SYSTEM_WHOLE,   /* with all programs */
    SYSTEM_PARTS,   /* when programs are chosen one by one */
    SYSTEM_LINK,    /* the same, but only where it is a link: else it is a directory of programs */
    SYSTEM_NETWORK, /* in a box with a network list */
};

/* 32-bit libraries are left out: the filter kills programs that need them anyway. */
static const struct {
    const char *path;
    enum system_use use;
} system_paths[] = {
    {"/usr", SYSTEM_WHOLE},
    {"/usr/lib", SYSTEM_PARTS},
    {"/usr/lib64", SYSTEM_PARTS},
    {"/usr/share", SYSTEM_PARTS},
    {"/usr/local/lib", SYSTEM_PARTS},
    {"/usr/local/lib64", SYSTEM_PARTS},
    {"/usr/local/share", SYSTEM_PARTS},
    {"/usr/bin", SYSTEM_LINK},
    {"/usr/sbin", SYSTEM_LINK},
    {"/bin", SYSTEM_WHOLE}, /* links into /usr where the trees are merged, directories elsewhere */
    {"/sbin", SYSTEM_WHOLE},
    {"/bin", SYSTEM_LINK},
    {"/sbin", SYSTEM_LINK},
    {"/lib", SYSTEM_ALWAYS},
    {"/lib64", SYSTEM_ALWAYS},
    {"/etc/ld.so.cache", SYSTEM_ALWAYS},
    {"/etc/alternatives", SYSTEM_ALWAYS}, /* R, BLAS and others are links through it on Debian */
    {"/etc/localtime", SYSTEM_ALWAYS},
    {"/etc/timezone", SYSTEM_ALWAYS},
    {"/etc/ssl/certs", SYSTEM_ALWAYS},
    {"/etc/ssl/openssl.cnf", SYSTEM_ALWAYS},
    {"/etc/ca-certificates", SYSTEM_ALWAYS},
    {"/etc/pki/tls/certs", SYSTEM_ALWAYS},
    {"/etc/pki/ca-trust", SYSTEM_ALWAYS},
    {"/nix/store", SYSTEM_ALWAYS}, /* it does not separate programs from libraries */
    {"/gnu/store", SYSTEM_ALWAYS},
    /* What names, TLS and SSH are configured by. Not what may hold passwords and that programs do
     * without (gitconfig, wgetrc, npmrc, pip.conf), nor keys (ssl/private, ssh_host_*). */
    {"/etc/gai.conf", SYSTEM_NETWORK},
    {"/etc/host.conf", SYSTEM_NETWORK},
    {"/etc/protocols", SYSTEM_NETWORK},
    {"/etc/services", SYSTEM_NETWORK},
    {"/etc/ssl/cert.pem", SYSTEM_NETWORK},        /* Alpine, Fedora */
    {"/etc/ssl/ca-bundle.pem", SYSTEM_NETWORK},   /* SUSE; and what leads there */
    {"/var/lib/ca-certificates", SYSTEM_NETWORK}, /* the same */
    {"/etc/pki/tls/cert.pem", SYSTEM_NETWORK},    /* Fedora */
    {"/etc/pki/tls/openssl.cnf", SYSTEM_NETWORK}, /* the same */
    {"/etc/pki/java", SYSTEM_NETWORK},            /* the same */
    {"/etc/crypto-policies", SYSTEM_NETWORK},     /* the same */
    {"/etc/gnutls/config", SYSTEM_NETWORK},       /* git of Debian has GnuTLS */
    {"/etc/java-*", SYSTEM_NETWORK},              /* Debian; without it Java does not start */
    {"/etc/ssh/ssh_config", SYSTEM_NETWORK},
    {"/etc/ssh/ssh_config.d", SYSTEM_NETWORK},
    {"/etc/ssh/ssh_known_hosts", SYSTEM_NETWORK},
    {"/etc/postgresql-common/user_clusters", SYSTEM_NETWORK}, /* psql of Debian is a script */
};

static bool system_is_used(enum system_use use, bool programs, bool network, bool link)
{
    switch (use) {
    case SYSTEM_NETWORK:
        return network;
    case SYSTEM_WHOLE:
        return programs;
    case SYSTEM_PARTS:
        return !programs;
    case SYSTEM_LINK:
        return !programs && link;
    default:
        return true;
    }
}

struct system_wish {
    bool programs, network;
    void (*visit)(void *user, uint32_t kind, const char *host, const char *box);
    void *user;
};

static void system_visit(const struct system_wish *wish, enum system_use use, const char *path)
{
    char target[PATH_MAX];
    struct stat st;

    if (lstat(path, &st) != 0 ||
        !system_is_used(use, wish->programs, wish->network, S_ISLNK(st.st_mode)))
        return;
    if (S_ISLNK(st.st_mode) &&
        strncmp(path, "/etc/", 5) != 0) { /* for example /bin, but not /etc/localtime */
        ssize_t len = readlink(path, target, sizeof target - 1);
        if (len <= 0)
            return;
        target[len] = '\0';
        wish->visit(wish->user, LAZ_PATH_SYMLINK, target, path);
    } else {
        wish->visit(wish->user, LAZ_PATH_READ, path, path);
    }
}

void laz_os_system_paths(bool programs, bool network,
                         void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user)
{
    const struct system_wish wish = {programs, network, visit, user};

    for (size_t i = 0; i < sizeof system_paths / sizeof system_paths[0]; i++) {
        const char *path = system_paths[i].path;
        glob_t found = {0};
        if (!strchr(path, '*'))
            system_visit(&wish, system_paths[i].use, path);
        else if (network && glob(path, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                system_visit(&wish, system_paths[i].use, found.gl_pathv[k]);
        globfree(&found);
    }
}

const char *laz_os_platform(void)
{
    return "linux";
}

/* Content of a small file below `root`, without its last newline; false when there is none. */
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

/* ---- processors ------------------------------------------------------------------------------ */

/* On a machine with more than a thousand the kernel refuses so small a set: then all of them. */
unsigned laz_os_usable_processors(void)
{
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;

    return n > 0 ? (unsigned)n : laz_os_processors();
}
