/* SPDX-License-Identifier: MIT */
/* test_filter_machines.c - the filters of system calls of each machine, whichever this one is,
 * compared with the rules that they are made of.
 *
 * The programs are interpreted for every number, and for every value of an argument that a rule
 * tells apart.  What is expected is read from the tables of filter_rules.c, with the kernel's
 * numbers: libseccomp, which made the programs, has no part in it.  So a filter that lets
 * everything through, or is about the calls of another machine, is seen without a kernel of that
 * machine. */
#include "sim.h"
#include "unit.h"

#include "os/linux/filter_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#ifdef LAZ_FILTER

struct machine_call {
    const char *name;
    int number;
};

struct machine_number {
    const char *name;
    uint64_t here, rule;
};

#include "tests/enforce/filter_machines.h"

#define HIGH    UINT64_C(0x100000000) /* above the bits of an int that the kernel reads */
#define X32     0x40000000            /* numbers of x32, on x86_64 */
#define NUMBERS 1024
#define MOST    256 /* rules of a call, values of an argument */

enum { SESSION, SAME_USER, NETWORK, TEMPLATE, NETWORK_TEMPLATE, REST, PROGRAMS };

/* What each program is made of; REST is what a session adds to the program of its template. */
static const struct {
    const char *name;
    unsigned filters;
} programs[PROGRAMS] = {
    {"session", FILTER_SESSION},
    {"same user", FILTER_SAME_USER},
    {"network", FILTER_NETWORK},
    {"template", FILTER_SESSION | FILTER_TEMPLATE},
    {"network template", FILTER_NETWORK | FILTER_TEMPLATE},
    {"rest", 0},
};

#define STEPS(name)                                                                                \
    {                                                                                              \
        name, sizeof name / sizeof name[0]                                                         \
    }
#define PROGRAM(cpu)                                                                               \
    {                                                                                              \
        STEPS(cpu##_session), STEPS(cpu##_same_user), STEPS(cpu##_network), STEPS(cpu##_template), \
            STEPS(cpu##_network_template), STEPS(cpu##_rest)                                       \
    }
#define CALLS(cpu) cpu##_calls, sizeof cpu##_calls / sizeof cpu##_calls[0]

static const struct machine {
    const char *name;
    uint32_t audit;
    struct {
        const struct sock_filter *steps;
        size_t n;
    } programs[PROGRAMS];
    const struct machine_call *calls; /* NULL: this machine has no headers for that one */
    size_t n_calls;
} machines[] = {
    {"aarch64", AUDIT_ARCH_AARCH64, PROGRAM(aarch64), CALLS(aarch64)},
#ifdef HAVE_X86_64_CALLS
    {"x86_64", AUDIT_ARCH_X86_64, PROGRAM(x86_64), CALLS(x86_64)},
#else
    {"x86_64", AUDIT_ARCH_X86_64, PROGRAM(x86_64), NULL, 0},
#endif
};

#define MACHINES (sizeof machines / sizeof machines[0])

static uint32_t run(const struct machine *machine, unsigned program,
                    const struct seccomp_data *data)
{
    return sim_run(machine->programs[program].steps, machine->programs[program].n, data, NULL);
}

static int number_of(const struct machine *machine, const char *name, size_t len)
{
    for (size_t i = 0; i < machine->n_calls; i++)
        if (strlen(machine->calls[i].name) == len &&
            strncmp(machine->calls[i].name, name, len) == 0)
            return machine->calls[i].number;
    return -1;
}

static const char *name_of(const struct machine *machine, int number)
{
    for (size_t i = 0; i < machine->n_calls; i++)
        if (machine->calls[i].number == number)
            return machine->calls[i].name;
    return NULL;
}

/* Is the name one of the list, which has spaces between them? */
static bool lists(const char *list, const char *name)
{
    size_t len = name ? strlen(name) : 0;
    bool is = false;

    for (const char *p = list; len && *p && !is; p += strcspn(p, " "), p += strspn(p, " "))
        is = strcspn(p, " ") == len && strncmp(p, name, len) == 0;
    return is;
}

/* What the tables say of one call in one program. */
struct rules {
    bool unknown, listed; /* it fails with ENOSYS; it is let through with any arguments */
    const struct filter_test *tests[MOST];
    uint32_t actions[MOST]; /* of each that fits; the others get `otherwise` */
    size_t n;
    uint32_t otherwise;
};

static void rules_add(struct rules *rules, const struct filter_test *tests, uint32_t action)
{
    CU_ASSERT_FATAL(rules->n < MOST);
    rules->tests[rules->n] = tests;
    rules->actions[rules->n++] = action;
}

static void rules_setup(struct rules *rules, const char *name, uint32_t action)
{
    for (const struct filter_rule *rule = filter_setup; rule->call; rule++)
        if (strcmp(rule->call, name) == 0)
            rules_add(rules, rule->tests, action);
}

/* `name`: NULL, there is no such call. */
static struct rules rules_of(unsigned program, const char *name)
{
    const unsigned filters = programs[program].filters;
    struct rules rules = {.otherwise = SECCOMP_RET_ERRNO | EPERM};

    if (program == REST)
        rules.otherwise = SECCOMP_RET_ALLOW;
    if (!name)
        return rules;
    rules.unknown = (program != REST && lists(filter_unknown, name)) ||
                    (!(filters & FILTER_TEMPLATE) && lists(filter_setup_unknown, name));
    if (program == REST)
        rules_setup(&rules, name, SECCOMP_RET_ERRNO | EPERM);
    if (filters & FILTER_TEMPLATE) {
        rules.listed = lists(filter_setup_unknown, name);
        rules_setup(&rules, name, SECCOMP_RET_ALLOW);
    }
    for (const struct filter_group *group = filter_groups; group->name; group++)
        rules.listed |= group->filters & filters && lists(group->calls, name);
    for (const struct filter_rule *rule = filter_rules; rule->call; rule++)
        if (rule->filters & filters && strcmp(rule->call, name) == 0)
            rules_add(&rules, rule->tests, SECCOMP_RET_ALLOW);
    for (const struct filter_answer *answer = filter_answers; answer->call; answer++)
        if (answer->filters & filters && strcmp(answer->call, name) == 0)
            rules_add(&rules, answer->tests, SECCOMP_RET_ERRNO | (uint32_t)answer->error);
    return rules;
}

static bool fits(const struct filter_test *tests, const struct seccomp_data *data)
{
    bool all = true;

    for (unsigned i = 0; i < FILTER_TESTS && tests[i].mask && all; i++)
        all = (data->args[tests[i].argument] & tests[i].mask) == tests[i].value;
    return all;
}

static uint32_t rules_say(const struct rules *rules, const struct machine *machine,
                          unsigned program, const struct seccomp_data *data)
{
    /* The number -1 is that of a call that a tracer has taken away. */
    if (data->arch != machine->audit ||
        (machine->audit == AUDIT_ARCH_X86_64 && (uint32_t)data->nr >= X32 && data->nr != -1))
        return SECCOMP_RET_KILL_PROCESS;
    if (data->nr > FILTER_NEWEST && data->nr < X32 && program != REST)
        return SECCOMP_RET_ERRNO | ENOSYS;
    if (rules->unknown)
        return SECCOMP_RET_ERRNO | ENOSYS;
    if (rules->listed)
        return SECCOMP_RET_ALLOW;
    for (size_t i = 0; i < rules->n; i++)
        if (fits(rules->tests[i], data))
            return rules->actions[i];
    return rules->otherwise;
}

/* Compares one answer; says which call it was when it is another. */
static bool agrees(const struct rules *rules, const struct machine *machine, unsigned program,
                   const struct seccomp_data *data)
{
    const uint32_t expected = rules_say(rules, machine, program, data),
                   action = run(machine, program, data);

    if (action != expected)
        printf("\n    %s, %s: call %d of %#x with %#llx, %#llx, %#llx: %#x, expected %#x",
               machine->name, programs[program].name, data->nr, data->arch,
               (unsigned long long)data->args[0], (unsigned long long)data->args[1],
               (unsigned long long)data->args[2], action, expected);
    return action == expected;
}

static void value_add(uint64_t values[MOST], size_t *n, uint64_t value)
{
    size_t i = 0;

    while (i < *n && values[i] != value)
        i++;
    if (i == *n && *n < MOST)
        values[(*n)++] = value;
}

/* The values of an argument that the rules tell apart, and some beside them; at least one. */
static size_t values_of(const struct rules *rules, unsigned argument, uint64_t values[MOST])
{
    size_t n = 0;

    value_add(values, &n, 0);
    for (size_t i = 0; i < rules->n; i++)
        for (unsigned k = 0; k < FILTER_TESTS && rules->tests[i][k].mask; k++) {
            const uint64_t mask = rules->tests[i][k].mask, value = rules->tests[i][k].value;
            if (rules->tests[i][k].argument != argument)
                continue;
            value_add(values, &n, value);
            value_add(values, &n, value ^ (mask & -mask));
            value_add(values, &n, value | HIGH);
            value_add(values, &n, ~value);
        }
    CU_ASSERT(n < MOST);
    return n;
}

/* All combinations of these values; how many there were, 0 when a program answers otherwise. */
static unsigned long each_value(const struct rules *rules, const struct machine *machine,
                                unsigned program, struct seccomp_data *data, unsigned argument)
{
    uint64_t values[MOST];
    unsigned long sum = 0;

    if (argument == 6)
        return agrees(rules, machine, program, data);
    const size_t n = values_of(rules, argument, values);
    for (size_t i = 0; i < n; i++) {
        data->args[argument] = values[i];
        const unsigned long below = each_value(rules, machine, program, data, argument + 1);
        if (!below)
            return 0;
        sum += below;
    }
    data->args[argument] = 0;
    return sum;
}

/* What fits a rule, and the same with each bit of each argument the other way round. */
static unsigned long each_bit(const struct rules *rules, const struct machine *machine,
                              unsigned program, struct seccomp_data *data)
{
    unsigned long sum = 0;

    for (size_t i = 0; i < rules->n; i++) {
        memset(data->args, 0, sizeof data->args);
        for (unsigned k = 0; k < FILTER_TESTS && rules->tests[i][k].mask; k++)
            data->args[rules->tests[i][k].argument] = rules->tests[i][k].value;
        for (unsigned bit = 0; bit < 6 * 64; bit++) {
            data->args[bit / 64] ^= UINT64_C(1) << bit % 64;
            if (!agrees(rules, machine, program, data))
                return 0;
            data->args[bit / 64] ^= UINT64_C(1) << bit % 64;
            sum++;
        }
    }
    memset(data->args, 0, sizeof data->args);
    return sum;
}

static void each_program_answers_as_the_rules_say(void)
{
    static const int tables[] = {0, X32, -X32, -NUMBERS};
    unsigned long sum = 0;

    for (size_t m = 0; m < MACHINES; m++) {
        if (!machines[m].calls && unit_skip("x86_64", "no headers of x86_64 are here"))
            continue;
        for (unsigned program = 0; program < PROGRAMS; program++)
            for (int i = 0; i < 4 * NUMBERS; i++) {
                struct seccomp_data data = {.nr = tables[i / NUMBERS] + i % NUMBERS,
                                            .arch = machines[m].audit};
                const struct rules rules = rules_of(program, name_of(&machines[m], data.nr));
                const unsigned long values = each_value(&rules, &machines[m], program, &data, 0);
                CU_ASSERT(values > 0);
                CU_ASSERT(each_bit(&rules, &machines[m], program, &data) > 0 || !rules.n);
                memset(data.args, 0xff, sizeof data.args);
                CU_ASSERT(agrees(&rules, &machines[m], program, &data));
                sum += values;
            }
    }
    printf("(%lu calls) ", sum);
    CU_ASSERT(sum > 30000);
}

static void each_program_kills_calls_of_other_machines(void)
{
    static const uint32_t others[] = {
        AUDIT_ARCH_X86_64,
        AUDIT_ARCH_AARCH64,
        AUDIT_ARCH_I386,
        AUDIT_ARCH_ARM,
        AUDIT_ARCH_RISCV64,
        AUDIT_ARCH_AARCH64 & ~__AUDIT_ARCH_LE,
        AUDIT_ARCH_AARCH64 & ~__AUDIT_ARCH_64BIT,
        0,
    };

    for (size_t m = 0; m < MACHINES; m++)
        for (unsigned program = 0; program < PROGRAMS; program++)
            for (int number = -1; number < NUMBERS; number++)
                for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
                    const struct seccomp_data data = {.nr = number, .arch = others[i]};
                    if (others[i] != machines[m].audit)
                        CU_ASSERT_EQUAL(run(&machines[m], program, &data),
                                        SECCOMP_RET_KILL_PROCESS);
                }
}

/* Names of the tables that a machine does not have. */
static const struct {
    const char *machine, *why, *calls;
} absent[] = {
    {"aarch64", "it begins with the calls that take a directory (openat)",
     "access chmod chown creat futimesat lchown link lstat mkdir mknod open readlink rename rmdir "
     "stat symlink unlink utime utimes"},
    {"aarch64", "it begins with the calls that take flags, a mask or a pointer (dup3, ppoll)",
     "dup2 epoll_create epoll_wait eventfd getdents pause pipe poll select signalfd"},
    {"aarch64", "clone, setitimer, clock_gettime and getpgid do the same",
     "alarm fork getpgrp time vfork"},
    {"aarch64", "is of x86", "arch_prctl"},
    {"aarch64", "is of RISC-V", "riscv_flush_icache"},
    {"x86_64", "is of RISC-V", "riscv_flush_icache"},
};

static bool is_absent(const struct machine *machine, const char *name)
{
    bool is = false;

    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        is = is || (strcmp(absent[i].machine, machine->name) == 0 && lists(absent[i].calls, name));
    return is;
}

/* Each name is known, or is in the list; how many names there were. */
static unsigned names_are_known(const char *names)
{
    unsigned n = 0;

    for (const char *p = names; *p; p += strcspn(p, " "), p += strspn(p, " "), n++) {
        char name[64] = "";
        snprintf(name, sizeof name, "%.*s", (int)strcspn(p, " "), p);
        for (size_t m = 0; m < MACHINES; m++) {
            const bool known = number_of(&machines[m], name, strlen(name)) >= 0;
            if (machines[m].calls && known == is_absent(&machines[m], name))
                printf("\n    %s of %s: %s", name, machines[m].name,
                       known ? "it is there" : "there is no such call");
            CU_ASSERT(!machines[m].calls || known != is_absent(&machines[m], name));
        }
    }
    return n;
}

static void each_name_is_a_call_of_each_machine_or_known_to_be_none(void)
{
    unsigned n = names_are_known(filter_unknown) + names_are_known(filter_setup_unknown);

    for (const struct filter_group *group = filter_groups; group->name; group++)
        n += names_are_known(group->calls);
    for (const struct filter_rule *rule = filter_rules; rule->call; rule++)
        n += names_are_known(rule->call);
    for (const struct filter_answer *answer = filter_answers; answer->call; answer++)
        n += names_are_known(answer->call);
    for (const struct filter_rule *rule = filter_setup; rule->call; rule++)
        n += names_are_known(rule->call);
    CU_ASSERT(n > 300);
}

/* The rules are written with numbers, and with the names of C beside them. */
static void numbers_of_rules_are_those_of_this_machine(void)
{
    const size_t n = sizeof machine_numbers / sizeof machine_numbers[0];

    for (size_t i = 0; i < n; i++) {
        if ((uint32_t)machine_numbers[i].here != machine_numbers[i].rule)
            printf("\n    %s is %#llx here", machine_numbers[i].name,
                   (unsigned long long)machine_numbers[i].here);
        CU_ASSERT_EQUAL((uint32_t)machine_numbers[i].here, machine_numbers[i].rule);
    }
    CU_ASSERT(n > 90);
    CU_ASSERT_EQUAL(O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 020000100);
    CU_ASSERT_EQUAL(S_ISUID | S_ISGID, 06000);
    CU_ASSERT_EQUAL(S_IFMT, 0170000);
    CU_ASSERT_EQUAL(S_IFIFO, 0010000);
    CU_ASSERT_EQUAL(S_IFREG, 0100000);
    CU_ASSERT_EQUAL(SOCK_CLOEXEC | SOCK_NONBLOCK, 02004000);
    CU_ASSERT_EQUAL(SOCK_STREAM, 1);
    CU_ASSERT_EQUAL(SOCK_DGRAM, 2);
    CU_ASSERT_EQUAL(SOCK_SEQPACKET, 5);
    CU_ASSERT_EQUAL(AT_EMPTY_PATH, 0x1000);
    CU_ASSERT_EQUAL(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                        CLONE_NEWPID | CLONE_NEWNET,
                    0x7e020000);
    CU_ASSERT_EQUAL(CLONE_THREAD, 0x10000);
    CU_ASSERT_EQUAL(CLONE_FILES, 0x400);
}

static const char of_sockets[] =
    "socket connect bind listen accept accept4 sendto setsockopt getsockopt";

/* Calls that no session needs, whatever the tables say. */
static const char never[] =
    "ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp mount umount2 pivot_root "
    "chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr setns unshare "
    "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl "
    "add_key request_key kexec_load kexec_file_load init_module finit_module delete_module "
    "clock_settime settimeofday adjtimex clock_adjtime socket connect bind listen accept "
    "accept4 shmget shmat msgget msgsnd semget semop mq_open memfd_create seccomp "
    "fanotify_init fanotify_mark name_to_handle_at open_by_handle_at quotactl acct swapon "
    "swapoff syslog vhangup reboot sethostname setdomainname iopl ioperm modify_ldt setuid "
    "setgid setreuid setregid setgroups capset sync syncfs lookup_dcookie uselib ustat sysfs "
    "nfsservctl _sysctl io_setup io_submit move_pages migrate_pages mbind process_madvise "
    "memfd_secret process_mrelease";

static void no_program_lets_through_what_no_session_needs(void)
{
    static const uint64_t arguments[] = {0, 1, 2, 0xffffffff, HIGH, UINT64_MAX};
    unsigned n = 0;

    for (size_t m = 0; m < MACHINES; m++)
        for (const char *p = never; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
            char name[64] = "";
            snprintf(name, sizeof name, "%.*s", (int)strcspn(p, " "), p);
            const int number = number_of(&machines[m], name, strlen(name));
            for (size_t k = 0; number >= 0 && k < sizeof arguments / sizeof arguments[0]; k++) {
                const uint64_t a = arguments[k];
                const struct seccomp_data data = {
                    .nr = number, .arch = machines[m].audit, .args = {a, a, a, a, a, a}};
                for (unsigned program = SESSION; program <= NETWORK; program++) {
                    if (program == NETWORK && lists(of_sockets, name))
                        continue;
                    const uint32_t action = run(&machines[m], program, &data);
                    if (action != (SECCOMP_RET_ERRNO | EPERM))
                        printf("\n    %s: %s with %#llx: %#x", machines[m].name, name,
                               (unsigned long long)a, action);
                    CU_ASSERT_EQUAL(action, SECCOMP_RET_ERRNO | EPERM);
                    n++;
                }
            }
        }
    CU_ASSERT(n > 1000);
}

/* What x86_64 does not have, a session on arm64 may not call: nobody has seen its like in the
 * lists above. */
static void no_program_lets_through_a_call_that_x86_64_lacks(void)
{
    const struct machine *arm64 = &machines[0], *x86_64 = &machines[1];

    if (!x86_64->calls && unit_skip("x86_64", "no headers of x86_64 are here"))
        return;
    for (size_t i = 0; i < arm64->n_calls; i++) {
        const char *name = arm64->calls[i].name;
        if (number_of(x86_64, name, strlen(name)) >= 0)
            continue;
        for (unsigned program = SESSION; program < REST; program++) {
            struct seccomp_data data = {.nr = arm64->calls[i].number, .arch = arm64->audit};
            CU_ASSERT_NOT_EQUAL(run(arm64, program, &data), SECCOMP_RET_ALLOW);
            memset(data.args, 0xff, sizeof data.args);
            CU_ASSERT_NOT_EQUAL(run(arm64, program, &data), SECCOMP_RET_ALLOW);
        }
    }
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(each_program_answers_as_the_rules_say),
        UNIT(each_program_kills_calls_of_other_machines),
        UNIT(each_name_is_a_call_of_each_machine_or_known_to_be_none),
        UNIT(numbers_of_rules_are_those_of_this_machine),
        UNIT(no_program_lets_through_what_no_session_needs),
        UNIT(no_program_lets_through_a_call_that_x86_64_lacks),
        {0},
    };

    return unit_run("filter_machines", tests);
}

#else

static void filters_are_left_out(void)
{
    if (unit_skip("filter", "built without a filter"))
        return;
}

int main(void)
{
    static const struct unit_test tests[] = {UNIT(filters_are_left_out), {0}};

    return unit_run("filter_machines", tests);
}
#endif
