/* SPDX-License-Identifier: MIT */
/* filter.c - installs a filter of system calls that was made with the build.  System: Linux.
 *
 * Nothing is computed here: the program is constant data.  SECCOMP_FILTER_FLAG_TSYNC (Linux 3.17)
 * installs it in all threads or, when one of them has another filter, in none. */
#include "os/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef LAZ_FILTER
#include "os/linux/filter_made.h"
#define FILTER_PROGRAM(program) program, sizeof program / sizeof program[0]
#else
#define FILTER_PROGRAM(program) NULL, 0
#endif

struct filter_program {
    const struct sock_filter *steps;
    size_t len;
};

enum filter_part { FILTER_WHOLE, FILTER_AHEAD, FILTER_REST, FILTER_PARTS };

static const struct {
    const char *name;
    struct filter_program parts[FILTER_PARTS]; /* the last two together are the first */
} filters[] = {
    {LAZ_FILTER_SESSION,
     {{FILTER_PROGRAM(filter_session)},
      {FILTER_PROGRAM(filter_template)},
      {FILTER_PROGRAM(filter_rest)}}},
    {LAZ_FILTER_NETWORK,
     {{FILTER_PROGRAM(filter_network)},
      {FILTER_PROGRAM(filter_network_template)},
      {FILTER_PROGRAM(filter_rest)}}},
    {LAZ_FILTER_SAME_USER, {{FILTER_PROGRAM(filter_same_user)}}},
    {LAZ_FILTER_GATE, {{FILTER_PROGRAM(filter_gate)}}},
};

static int filter_install(const char *name, enum filter_part part, struct laz_error *err)
{
    size_t i = 0;

    while (i < sizeof filters / sizeof *filters && strcmp(filters[i].name, name) != 0)
        i++;
    if (i == sizeof filters / sizeof *filters)
        return laz_error_set(err, LAZ_EINVAL, 0, "there is no filter of system calls \"%s\"", name);
    const struct filter_program *made = &filters[i].parts[part];
    if (!made->len)
        return laz_error_set(err, LAZ_ESETUP, 0,
                             "this lazaret was built without filters of system calls");
    struct sock_fprog program = {
        .len = (unsigned short)made->len,
        .filter = (struct sock_filter *)(uintptr_t)made->steps,
    };
    long rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (rc > 0)
        return laz_error_set(
            err, LAZ_EOS, 0,
            "the filter of system calls does not fit thread %ld, which has another", rc);
    return rc < 0 ? laz_error_os(err, errno, "the filter of system calls cannot be installed") : 0;
}

int laz_os_filter(const char *name, struct laz_error *err)
{
    return filter_install(name, FILTER_WHOLE, err);
}

int laz_os_filter_ahead(const char *name, struct laz_error *err)
{
    return filter_install(name, FILTER_AHEAD, err);
}

int laz_os_filter_rest(const char *name, struct laz_error *err)
{
    return filter_install(name, FILTER_REST, err);
}
