/* SPDX-License-Identifier: MIT */
/* test_filter_program.c - the programs of the filters of system calls, interpreted with made-up
 * calls: with any number and any arguments, of any architecture. test_filter.c makes real ones, and
 * test_filter_machines.c compares the programs of each machine with the rules. */
#include "sim.h"
#include "unit.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined LAZ_FILTER && defined __x86_64__
#include "os/linux/filter_made.h"

#define HIGH UINT64_C(0x100000000) /* above the bits of an int that the kernel reads */
#define BAD  1ul

/* What the programs compare, of one call; NULL: nobody wants to know. */
static struct sim_touched *touched;

#define SIM_DATA(program, data) sim_run(program, sizeof program / sizeof program[0], data, touched)
#define SIM(program, ...)       SIM_DATA(program, (&(const struct seccomp_data){__VA_ARGS__}))

static void sim_filter_kills_every_call_of_another_architecture(void)
{
    static const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM, 0};

    for (int number = -1; number < 1024; number++) {
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            CU_ASSERT_EQUAL(SIM(filter_session, .nr = number, .arch = others[i]),
                            SECCOMP_RET_KILL_PROCESS);
        if (number >= 0)
            CU_ASSERT_EQUAL(
                SIM(filter_session, .nr = 0x40000000 | number, .arch = AUDIT_ARCH_X86_64),
                SECCOMP_RET_KILL_PROCESS);
    }
}

static void sim_filter_knows_no_call_newer_than_its_list(void)
{
    for (int number = 451; number < 2000; number++) {
        CU_ASSERT_EQUAL(SIM(filter_session, .nr = number, .arch = AUDIT_ARCH_X86_64),
                        SECCOMP_RET_ERRNO | ENOSYS);
        CU_ASSERT_EQUAL(SIM(filter_same_user, .nr = number, .arch = AUDIT_ARCH_X86_64),
                        SECCOMP_RET_ERRNO | ENOSYS);
        CU_ASSERT_EQUAL(SIM(filter_network, .nr = number, .arch = AUDIT_ARCH_X86_64),
                        SECCOMP_RET_ERRNO | ENOSYS);
    }
}

/* The stricter of two answers, as the kernel takes it: by their actions, of which all that occur
 * are stricter the less they are as a signed number (seccomp(2)); of two alike the one of the
 * program that was added last. */
static uint32_t sim_both(uint32_t first, uint32_t last)
{
    const int32_t a = (int32_t)(first & SECCOMP_RET_ACTION_FULL),
                  b = (int32_t)(last & SECCOMP_RET_ACTION_FULL);

    return b <= a ? last : first;
}

static bool sim_parts_are_the_whole(const struct seccomp_data *data, bool network)
{
    const uint32_t whole =
        network ? SIM_DATA(filter_network, data) : SIM_DATA(filter_session, data);
    const uint32_t parts = sim_both(network ? SIM_DATA(filter_network_template, data)
                                            : SIM_DATA(filter_template, data),
                                    SIM_DATA(filter_rest, data));

    if (whole != parts)
        printf("\n    call %d with %#llx, %#llx, %#llx: %#x, in parts %#x", data->nr,
               (unsigned long long)data->args[0], (unsigned long long)data->args[1],
               (unsigned long long)data->args[2], whole, parts);
    return whole == parts;
}

/* All values of argument `argument` that a program can tell apart, and so on for those after it.
 * How many calls that were; 0: one of them has another answer in parts. */
static unsigned long sim_each_value(struct seccomp_data *data, unsigned argument,
                                    const struct sim_touched *known)
{
    unsigned long sum = 0;

    if (argument == 6)
        return sim_parts_are_the_whole(data, false) && sim_parts_are_the_whole(data, true);
    if (!(known->arguments >> argument & 1))
        return sim_each_value(data, argument + 1, known);
    for (size_t i = 0; i < 4 * known->n; i++) {
        const uint64_t number = known->numbers[i / 4];
        const uint64_t values[] = {number, number + 1, number << 32 | number, ~number};
        data->args[argument] = values[i % 4];
        const unsigned long below = sim_each_value(data, argument + 1, known);
        if (!below)
            return 0;
        sum += below;
    }
    data->args[argument] = 0;
    return sum;
}

/* Each call, of each architecture and table, with each value of its arguments that any of the
 * programs compares. What they compare is found by running them, until nothing new is found. */
static void sim_filter_in_two_parts_is_the_whole(void)
{
    static const uint32_t architectures[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64,
                                             0};
    static const int tables[] = {0, 0x40000000, -0x40000000, -1024};
    unsigned long made = 0;

    for (size_t a = 0; a < sizeof architectures / sizeof architectures[0]; a++)
        for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
            for (int number = 0; number < 1024; number++) {
                struct seccomp_data data = {.nr = tables[t] + number, .arch = architectures[a]};
                struct sim_touched now = {.n = 0}, known;
                unsigned long each;
                touched = &now;
                do {
                    known = now;
                    memset(data.args, 0, sizeof data.args);
                    each = sim_each_value(&data, 0, &known);
                } while (each && (now.n != known.n || now.arguments != known.arguments));
                touched = NULL;
                CU_ASSERT_TRUE(each > 0);
                CU_ASSERT(now.n < sizeof now.numbers / sizeof now.numbers[0]);
                made += each;
            }
    printf("(%lu calls) ", made);
    CU_ASSERT(made > 20000);
}

/* What only setting up needs is allowed by the first part, and by nothing else. */
static void sim_filter_of_templates_allows_what_sets_up(void)
{
    static const struct {
        int number;
        uint64_t argument;
    } setup[] = {
        {SYS_clone3, BAD},
        {SYS_mount, BAD},
        {SYS_unshare, CLONE_NEWCGROUP},
        {SYS_capset, BAD},
        {SYS_prctl, PR_SET_DUMPABLE},
        {SYS_prctl, PR_CAPBSET_DROP},
        {SYS_landlock_create_ruleset, BAD},
        {SYS_landlock_add_rule, BAD},
        {SYS_landlock_restrict_self, BAD},
        {SYS_seccomp, SECCOMP_SET_MODE_FILTER},
    };
    unsigned more = 0;

    for (size_t i = 0; i < sizeof setup / sizeof setup[0]; i++) {
        const struct seccomp_data data = {
            .nr = setup[i].number, .arch = AUDIT_ARCH_X86_64, .args = {setup[i].argument}};
        CU_ASSERT_EQUAL(SIM_DATA(filter_template, &data), SECCOMP_RET_ALLOW);
        CU_ASSERT_EQUAL(SIM_DATA(filter_network_template, &data), SECCOMP_RET_ALLOW);
        CU_ASSERT_EQUAL(SIM_DATA(filter_rest, &data),
                        SECCOMP_RET_ERRNO | (setup[i].number == SYS_clone3 ? ENOSYS : EPERM));
    }
    for (int number = 0; number < 1024; number++) {
        const struct seccomp_data data = {.nr = number, .arch = AUDIT_ARCH_X86_64};
        more += SIM_DATA(filter_template, &data) != SIM_DATA(filter_session, &data);
        CU_ASSERT_EQUAL(SIM_DATA(filter_template, &data) != SIM_DATA(filter_session, &data),
                        SIM_DATA(filter_network_template, &data) !=
                            SIM_DATA(filter_network, &data));
    }
    CU_ASSERT_EQUAL(more, 7); /* all but unshare and prctl, which need the argument */
}

static bool sim_is_of_sockets(int number)
{
    static const int sockets[] = {SYS_socket, SYS_connect,    SYS_bind,
                                  SYS_listen, SYS_accept,     SYS_accept4,
                                  SYS_sendto, SYS_setsockopt, SYS_getsockopt};

    for (size_t i = 0; i < sizeof sockets / sizeof sockets[0]; i++)
        if (sockets[i] == number)
            return true;
    return false;
}

/* Of all sockets those of TCP and UDP; other families are answered as if there were none. */
static void sim_filter_network_makes_sockets_of_tcp_and_udp(void)
{
    static const uint64_t flags[] = {0, 04000, 02000000, 02004000, HIGH, 020, 0x40000000};
    static const uint64_t protocols[] = {0,  1,   2,   6,   17,  33,  41,        47,
                                         58, 132, 136, 255, 256, 262, HIGH | 17, HIGH | 6};

    for (uint64_t family = 0; family < 80; family++)
        for (uint64_t type = 0; type < 16; type++)
            for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++)
                for (size_t p = 0; p < sizeof protocols / sizeof protocols[0]; p++) {
                    const uint32_t protocol = (uint32_t)protocols[p];
                    const bool inet = family == AF_INET || family == AF_INET6;
                    const bool is_right = (type == 1 && (protocol == 0 || protocol == 6)) ||
                                          (type == 2 && (protocol == 0 || protocol == 17));
                    const uint32_t expected =
                        inet && is_right && f < 5 ? SECCOMP_RET_ALLOW
                        : inet && protocol == 262 ? SECCOMP_RET_ERRNO | EPROTONOSUPPORT
                        : inet || family >= 64    ? SECCOMP_RET_ERRNO | EPERM
                                                  : SECCOMP_RET_ERRNO | EAFNOSUPPORT;
                    const uint32_t action =
                        SIM(filter_network, .nr = SYS_socket, .arch = AUDIT_ARCH_X86_64,
                            .args = {family | (f ? HIGH : 0), type | flags[f], protocols[p]});
                    if (action != expected)
                        printf("\n    socket %d %#x %u: %#x", (int)family,
                               (unsigned)(type | flags[f]), protocol, action);
                    CU_ASSERT_EQUAL(action, expected);
                }
}

/* What "network" lets through besides what "session" does, by number; with any arguments. */
static void sim_filter_network_adds_calls_of_sockets_only(void)
{
    for (int number = 0; number < 1024; number++)
        for (uint64_t a = 0; a < 512; a++) {
            const struct seccomp_data data = {
                .nr = number, .arch = AUDIT_ARCH_X86_64, .args = {a % 3, a, 16, 0, 1, 16}};
            const bool same = SIM_DATA(filter_session, &data) == SIM_DATA(filter_network, &data);
            CU_ASSERT(same || sim_is_of_sockets(number));
        }
}

/* The kernel reads only the low half of an int argument, and the filter must too, in both
 * directions. */
static void sim_filter_looks_at_what_the_kernel_looks_at(void)
{
    static const uint64_t high[] = {0, HIGH, HIGH * 0x5412, UINT64_C(0xffffffff00000000)};

    for (size_t i = 0; i < sizeof high / sizeof high[0]; i++) {
        CU_ASSERT_EQUAL(SIM(filter_session, .nr = SYS_ioctl, .arch = AUDIT_ARCH_X86_64,
                            .args = {0, high[i] | 0x5412}),
                        SECCOMP_RET_ERRNO | EPERM);
        CU_ASSERT_EQUAL(SIM(filter_session, .nr = SYS_ioctl, .arch = AUDIT_ARCH_X86_64,
                            .args = {0, high[i] | 0x5401}),
                        SECCOMP_RET_ALLOW);
        CU_ASSERT_EQUAL(SIM(filter_session, .nr = SYS_prlimit64, .arch = AUDIT_ARCH_X86_64,
                            .args = {high[i], high[i] | RLIMIT_CORE, 1}),
                        SECCOMP_RET_ERRNO | EPERM);
        CU_ASSERT_EQUAL(SIM(filter_session, .nr = SYS_prlimit64, .arch = AUDIT_ARCH_X86_64,
                            .args = {high[i], high[i] | RLIMIT_NOFILE, 1}),
                        SECCOMP_RET_ALLOW);
    }
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(sim_filter_kills_every_call_of_another_architecture),
        UNIT(sim_filter_knows_no_call_newer_than_its_list),
        UNIT(sim_filter_in_two_parts_is_the_whole),
        UNIT(sim_filter_of_templates_allows_what_sets_up),
        UNIT(sim_filter_network_makes_sockets_of_tcp_and_udp),
        UNIT(sim_filter_network_adds_calls_of_sockets_only),
        UNIT(sim_filter_looks_at_what_the_kernel_looks_at),
        {0},
    };

    return unit_run("filter_program", tests);
}

#else /* no filter in this build, or an architecture whose calls are not listed above */

static void filter_program_is_for_another_machine(void)
{
    if (unit_skip("filter", "built without a filter, or not for x86_64"))
        return;
}

int main(void)
{
    static const struct unit_test tests[] = {UNIT(filter_program_is_for_another_machine), {0}};

    return unit_run("filter_program", tests);
}
#endif
