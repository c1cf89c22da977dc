/* SPDX-License-Identifier: MIT */
/* sim.c - interprets the programs of filters of system calls, with made-up calls. */
#include "sim.h"

#include "unit.h"

#include <linux/bpf_common.h>
#include <stdbool.h>
#include <string.h>

static void sim_touch(const struct sock_filter *step, unsigned loaded, struct sim_touched *touched)
{
    const size_t first = offsetof(struct seccomp_data, args);
    size_t i = 0;

    if (!touched || loaded < first)
        return;
    touched->arguments |= 1u << (loaded - first) / sizeof(uint64_t);
    while (i < touched->n && touched->numbers[i] != step->k)
        i++;
    if (i == touched->n && i < sizeof touched->numbers / sizeof touched->numbers[0])
        touched->numbers[touched->n++] = step->k;
}

uint32_t sim_run(const struct sock_filter *program, size_t n, const struct seccomp_data *data,
                 struct sim_touched *touched)
{
    uint32_t value = 0;
    unsigned loaded = 0;

    for (size_t at = 0; at < n; at++) {
        const struct sock_filter *step = &program[at];
        bool jump = false;
        if (BPF_CLASS(step->code) == BPF_ALU || BPF_CLASS(step->code) == BPF_JMP)
            sim_touch(step, loaded, touched);
        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&value, (const char *)data + step->k, sizeof value);
            loaded = step->k;
            continue;
        case BPF_ALU | BPF_AND | BPF_K:
            value &= step->k;
            continue;
        case BPF_RET | BPF_K:
            return step->k;
        case BPF_JMP | BPF_JA:
            at += step->k;
            continue;
        case BPF_JMP | BPF_JEQ | BPF_K:
            jump = value == step->k;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            jump = value > step->k;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            jump = value >= step->k;
            break;
        default:
            CU_FAIL("an instruction that is not known");
            return 0;
        }
        at += jump ? step->jt : step->jf;
    }
    return 0;
}
