/* SPDX-License-Identifier: MIT */
/* filter_make.c - makes the filters of system calls, as C, while lazaret is built.
 *
 * libseccomp compiles the rules into a program for the kernel; that takes longer than all else at
 * the start of a session, so it happens here and once.  It runs on the machine that builds, for the
 * machine that will run lazaret: numbers of calls are looked up by architecture, and the output
 * does not compile for another one.  libseccomp has one result for everything that is not listed;
 * that newer calls get another, ENOSYS, is inserted before its program. */
#include "os/linux/filter_rules.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAKE_X32       0x40000000u /* __X32_SYSCALL_BIT; killed in libseccomp's part */
#define MAKE_PROGRAM   4096        /* instructions, BPF_MAXINSNS */
#define MAKE_ERRNO(no) (SECCOMP_RET_ERRNO | (no))

/* Architectures whose calls were reviewed: those that use the common numbers for newer calls. */
static const struct make_architecture {
    const char *cpu; /* as configure calls it */
    uint32_t token;
    uint32_t audit;
    const char *defined; /* by its compilers */
} make_architectures[] = {
    {"x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, "__x86_64__"},
    {"aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, "__aarch64__"},
    {"riscv64", SCMP_ARCH_RISCV64, AUDIT_ARCH_RISCV64, "__riscv"},
};

struct make {
    const struct make_architecture *architecture;
    scmp_filter_ctx filter;
    const char *wrong; /* what cannot be created */
};

static int make_fail(struct make *make, const char *call, const char *why)
{
    fprintf(stderr, "filter_make: %s: %s\n", call, why);
    make->wrong = why;
    return -1;
}

/* One call of the tables. A name that libseccomp does not know is a mistake in the table; one that
 * the architecture does not have is ignored. */
static int make_rule(struct make *make, uint32_t action, const char *call,
                     const struct scmp_arg_cmp *tests, unsigned n)
{
    int number = seccomp_syscall_resolve_name_arch(make->architecture->token, call);

    if (number == __NR_SCMP_ERROR)
        return make_fail(make, call, "libseccomp knows no such call");
    if (number < 0)
        return 0;
    if (number > FILTER_NEWEST)
        return make_fail(make, call, "newer than FILTER_NEWEST");
    int native = seccomp_syscall_resolve_name(call);
    int rc = seccomp_rule_add_array(make->filter, action, native, n, tests);
    return rc ? make_fail(make, call, strerror(-rc)) : 0;
}

/* Names separated by spaces. */
static int make_names(struct make *make, uint32_t action, const char *names)
{
    char name[64];
    int rc = 0;

    while (!rc && *names) {
        size_t len = strcspn(names, " ");
        if (len >= sizeof name)
            return make_fail(make, names, "too long a name");
        memcpy(name, names, len);
        name[len] = '\0';
        rc = make_rule(make, action, name, NULL, 0);
        names += len + strspn(names + len, " ");
    }
    return rc;
}

static int make_tested(struct make *make, uint32_t action, const char *call,
                       const struct filter_test tests[FILTER_TESTS])
{
    struct scmp_arg_cmp compare[FILTER_TESTS];
    unsigned n = 0;

    for (; n < FILTER_TESTS && tests[n].mask; n++)
        compare[n] =
            SCMP_CMP64(tests[n].argument, SCMP_CMP_MASKED_EQ, tests[n].mask, tests[n].value);
    return make_rule(make, action, call, compare, n);
}

/* `otherwise`: the action for all that is not listed. */
static int make_open(struct make *make, uint32_t otherwise)
{
    uint32_t native = seccomp_arch_native(), wanted = make->architecture->token;
    int rc;

    make->filter = seccomp_init(otherwise);
    if (!make->filter)
        return make_fail(make, "seccomp_init", "failed");
    rc = seccomp_attr_set(make->filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!rc && native != wanted) {
        rc = seccomp_arch_add(make->filter, wanted);
        if (!rc)
            rc = seccomp_arch_remove(make->filter, native);
    }
    if (!rc) /* a tree of numbers in place of a list */
        rc = seccomp_attr_set(make->filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    return rc ? make_fail(make, make->architecture->cpu, strerror(-rc)) : 0;
}

/* Inserted before libseccomp's program: numbers above the newest known one fail with ENOSYS, as
 * they would on an older kernel; callers then fall back. Jumps are relative, so it can be inserted
 * there. */
static size_t make_prologue(const struct make *make, struct sock_filter *out)
{
    const struct sock_filter prologue[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, make->architecture->audit, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, MAKE_X32, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, FILTER_NEWEST, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, MAKE_ERRNO(ENOSYS)),
    };

    memcpy(out, prologue, sizeof prologue);
    return sizeof prologue / sizeof prologue[0];
}

/* Appends what libseccomp writes to `n` instructions; their number, 0: failed. */
static size_t make_export(struct make *make, struct sock_filter *out, size_t n)
{
    FILE *file = tmpfile();

    if (!file || seccomp_export_bpf(make->filter, fileno(file)) ||
        lseek(fileno(file), 0, SEEK_SET) != 0) {
        make_fail(make, "export", "failed");
        n = 0;
    } else {
        n += fread(out + n, sizeof *out, MAKE_PROGRAM - n, file);
        if (n == MAKE_PROGRAM || ferror(file)) {
            make_fail(make, "export", "too long a program");
            n = 0;
        }
    }
    if (file)
        fclose(file);
    return n;
}

/* Prints a filter that is complete, after these first instructions. `rc`: it is not. */
static int make_print(struct make *make, const char *name, int rc, struct sock_filter *program,
                      size_t first)
{
    size_t n = rc ? 0 : make_export(make, program, first);

    seccomp_release(make->filter);
    if (!n)
        return -1;
    printf("static const struct sock_filter %s[] = {\n", name);
    for (size_t i = 0; i < n; i++)
        printf("    {0x%04x, %u, %u, 0x%08xu},\n", program[i].code, program[i].jt, program[i].jf,
               program[i].k);
    puts("};");
    return 0;
}

static int make_setup(struct make *make, uint32_t action, uint32_t unknown)
{
    int rc = make_names(make, unknown, filter_setup_unknown);

    for (const struct filter_rule *rule = filter_setup; rule->call && !rc; rule++)
        rc = make_tested(make, action, rule->call, rule->tests);
    return rc;
}

static int make_filter(struct make *make, const char *name, unsigned which)
{
    static struct sock_filter program[MAKE_PROGRAM];
    int rc = make_open(make, SCMP_ACT_ERRNO(EPERM));

    if (!rc && which & FILTER_TEMPLATE)
        rc = make_setup(make, SCMP_ACT_ALLOW, SCMP_ACT_ALLOW);
    else if (!rc)
        rc = make_names(make, SCMP_ACT_ERRNO(ENOSYS), filter_setup_unknown);
    if (!rc)
        rc = make_names(make, SCMP_ACT_ERRNO(ENOSYS), filter_unknown);
    for (const struct filter_group *group = filter_groups; group->name && !rc; group++)
        if (group->filters & which)
            rc = make_names(make, SCMP_ACT_ALLOW, group->calls);
    for (const struct filter_rule *rule = filter_rules; rule->call && !rc; rule++)
        if (rule->filters & which)
            rc = make_tested(make, SCMP_ACT_ALLOW, rule->call, rule->tests);
    for (const struct filter_answer *answer = filter_answers; answer->call && !rc; answer++)
        if (answer->filters & which)
            rc = make_tested(make, SCMP_ACT_ERRNO((uint16_t)answer->error), answer->call,
                             answer->tests);
    return make_print(make, name, rc, program, make_prologue(make, program));
}

/* What a session adds to the filter of its template. */
static int make_rest(struct make *make, const char *name)
{
    static struct sock_filter program[MAKE_PROGRAM];
    int rc = make_open(make, SCMP_ACT_ALLOW);

    if (!rc)
        rc = make_setup(make, SCMP_ACT_ERRNO(EPERM), SCMP_ACT_ERRNO(ENOSYS));
    return make_print(make, name, rc, program, 0);
}

int main(int argc, char **argv)
{
    struct make make = {0};

    for (size_t i = 0; argc == 2 && i < sizeof make_architectures / sizeof make_architectures[0];
         i++)
        if (strcmp(argv[1], make_architectures[i].cpu) == 0)
            make.architecture = &make_architectures[i];
    if (!make.architecture) {
        fprintf(stderr, "usage: filter_make CPU\nNo filter is known for %s.\n",
                argc == 2 ? argv[1] : "nothing");
        return 2;
    }
    printf("/* Made by filter_make for %s; not to be changed. */\n"
           "#if !defined %s || (defined __ILP32__)\n"
           "#error \"this filter of system calls is for another architecture\"\n#endif\n",
           make.architecture->cpu, make.architecture->defined);
    if (make_filter(&make, "filter_session", FILTER_SESSION) ||
        make_filter(&make, "filter_same_user", FILTER_SAME_USER) ||
        make_filter(&make, "filter_network", FILTER_NETWORK) ||
        make_filter(&make, "filter_gate", FILTER_GATE) ||
        make_filter(&make, "filter_template", FILTER_SESSION | FILTER_TEMPLATE) ||
        make_filter(&make, "filter_network_template", FILTER_NETWORK | FILTER_TEMPLATE) ||
        make_rest(&make, "filter_rest"))
        return 1;
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
