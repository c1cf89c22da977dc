/* SPDX-License-Identifier: MIT */
/* mappings.c - gives back all memory but what a waiting process needs.  System: Linux.
 * Side: box.  Input trusted: yes (the kernel's list of mappings, proc(5)).
 *
 * The list is read once, in the process that is copied. A copy unmaps what lies between the ranges
 * to keep, whatever that is by then: mapped later, or moved. */
#include "os/mappings.h"

#include "os/posix/descriptors.h"
#include "os/unsupported.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAPPINGS_STACK ((uintptr_t)8 << 20) /* it may have grown by that since */

#if !defined LAZ_SANITIZE
struct mapping {
    uintptr_t from, to;
    unsigned long inode;
    char device[16], name[64];
};

/* The files that are kept as a whole, then addresses whose mappings are. */
enum { MAPPINGS_PROGRAM, MAPPINGS_LIBRARY, MAPPINGS_LOADER, MAPPINGS_FILES };
struct wanted {
    uintptr_t addresses[MAPPINGS_FILES];
    struct mapping files[MAPPINGS_FILES];
    uintptr_t thread, thread_locals, stack;
};

static bool mapping_has(const struct mapping *mapping, uintptr_t address)
{
    return address >= mapping->from && address < mapping->to;
}

static bool mapping_read(FILE *maps, struct mapping *mapping)
{
    char line[512];
    unsigned long from, to;

    if (!fgets(line, sizeof line, maps))
        return false;
    memset(mapping, 0, sizeof *mapping);
    if (sscanf(line, "%lx-%lx %*s %*s %15s %lu %63s", &from, &to, mapping->device, &mapping->inode,
               mapping->name) < 4)
        return false;
    while (!strchr(line, '\n') && fgets(line, sizeof line, maps)) /* a long name */
        ;
    mapping->from = (uintptr_t)from;
    mapping->to = (uintptr_t)to;
    return true;
}

static void mapping_note_file(struct wanted *wanted, const struct mapping *mapping)
{
    for (int i = 0; i < MAPPINGS_FILES; i++)
        if (mapping->inode && mapping_has(mapping, wanted->addresses[i]))
            wanted->files[i] = *mapping;
}

/* `before`: the mapping kept before this one. What follows the data of a file without a gap and has
 * no name is the rest of that data. */
static bool mapping_is_wanted(const struct wanted *wanted, const struct mapping *mapping,
                              const struct mapping *before)
{
    for (int i = 0; i < MAPPINGS_FILES; i++)
        if (mapping->inode && mapping->inode == wanted->files[i].inode &&
            strcmp(mapping->device, wanted->files[i].device) == 0)
            return true;
    if (!mapping->inode && !*mapping->name && before->inode && before->to == mapping->from)
        return true;
    return strcmp(mapping->name, "[vdso]") == 0 || strncmp(mapping->name, "[vvar", 5) == 0 ||
           mapping_has(mapping, wanted->thread) || mapping_has(mapping, wanted->thread_locals) ||
           mapping_has(mapping, wanted->stack);
}

static void core_add(struct laz_os_core *core, uintptr_t from, uintptr_t to)
{
    struct laz_os_range *last = core->n ? &core->ranges[core->n - 1] : NULL;

    if (last && last->to >= from)
        last->to = to;
    else if (core->n < LAZ_OS_RANGES)
        core->ranges[core->n++] = (struct laz_os_range){from, to};
}

static bool core_has(const struct laz_os_core *core, uintptr_t address)
{
    for (size_t i = 0; i < core->n; i++)
        if (address >= core->ranges[i].from && address < core->ranges[i].to)
            return true;
    return false;
}

/* A stack of return addresses is where only the kernel knows. */
static bool core_has_shadow_stack(void)
{
#if defined __x86_64__ && defined SYS_arch_prctl
    unsigned long features = 0;
    return syscall(SYS_arch_prctl, 0x5005 /* ARCH_SHSTK_STATUS, Linux 6.6 */, &features) == 0 &&
           features != 0;
#else
    unsigned long mode = 0;
    return prctl(74 /* PR_GET_SHADOW_STACK_STATUS, Linux 6.13 */, &mode, 0, 0, 0) == 0 && mode != 0;
#endif
}

void laz_os_core_find(struct laz_os_core *core)
{
    struct mapping mapping, kept = {0};
    struct wanted wanted = {
        .addresses = {(uintptr_t)&laz_os_core_find, (uintptr_t)&waitpid,
                      (uintptr_t)getauxval(AT_BASE)},
        .thread = (uintptr_t)pthread_self(),
        .thread_locals = (uintptr_t)&errno,
        .stack = (uintptr_t)&mapping,
    };
    const uintptr_t needed[] = {wanted.addresses[MAPPINGS_PROGRAM],
                                wanted.addresses[MAPPINGS_LIBRARY], wanted.thread,
                                wanted.thread_locals, wanted.stack};
    FILE *maps;

    core->n = 0;
    if (core_has_shadow_stack() || !(maps = laz_posix_fopen("/proc/self/maps")))
        return;
    while (mapping_read(maps, &mapping))
        mapping_note_file(&wanted, &mapping);
    rewind(maps);
    while (mapping_read(maps, &mapping)) {
        if (!mapping_is_wanted(&wanted, &mapping, &kept))
            continue;
        kept = mapping;
        if (mapping_has(&mapping, wanted.stack) && mapping.from > MAPPINGS_STACK)
            mapping.from -= MAPPINGS_STACK;
        core_add(core, mapping.from, mapping.to);
    }
    fclose(maps);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!core_has(core, needed[i])) {
            core->n = 0; /* the list is another than proc(5) says */
            return;
        }
}

void laz_os_core_keep(const struct laz_os_core *core)
{
    uintptr_t at = 0;

    for (size_t i = 0; i < core->n; i++) {
        if (core->ranges[i].from > at)
            (void)munmap((void *)at, core->ranges[i].from - at); // NOLINT
        at = core->ranges[i].to;
    }
}
#else /* the sanitizers have memory beside that of the program */
/* clang-format off */
IGNORES(laz_os_core_find, struct laz_os_core *core)
IGNORES(laz_os_core_keep, const struct laz_os_core *core)
/* clang-format on */
#endif
