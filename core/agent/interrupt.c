/* SPDX-License-Identifier: MIT */
/* interrupt.c - an execution is interrupted: by a signal of the host that carries its number.
 * Side: box.  Input trusted: yes (the host; code that sends itself the signal interrupts itself).
 *
 * An interpreter that is busy reads no channel.  The signal finds the execution that runs, or the
 * next one if its number is that, or none: one that comes late hits nothing else.  Code gets what
 * Ctrl-C gives it at home: SIGINT, with all processes of its group, and what its language makes of
 * it (laz_runtime_ops.interrupt), also where a function of the C library ignores SIGINT for a while
 * (system(3)).  The host sends it once more, for a process that was only being started at the first
 * time and for which the code waits; the code itself, whose handlers may run, is not bothered.  In
 * here only flags are set, so nothing that the agent writes is cut. */
#include "agent/agent.h"

#include "os/signals.h"

/* A signal handler has no argument of ours. */
static struct agent *interrupt_agent;
static atomic_uint interrupt_running, interrupt_asked; /* numbers; 0: none */

static void interrupt_came(uint32_t number)
{
    const struct agent *agent = interrupt_agent;

    const bool is_again = atomic_exchange(&interrupt_asked, number) == number;

    if (!number || atomic_load(&interrupt_running) != number || agent_is_forked(agent))
        return;
    if (is_again) {
        laz_os_interrupt_others();
        return;
    }
    if (LAZ_HAS(agent->ops, interrupt))
        agent->ops->interrupt(agent->state);
    laz_os_interrupt_group(); /* last: a handler of R's leaves by a jump (R_SelectEx) */
}

/* Ctrl-C at the terminal of the session, of which all processes in the foreground have been told.
 */
static void interrupt_typed(void)
{
    const struct agent *agent = interrupt_agent;

    if (atomic_load(&interrupt_running) && !agent_is_forked(agent) &&
        LAZ_HAS(agent->ops, interrupt))
        agent->ops->interrupt(agent->state);
}

static int interrupt_is(void *data)
{
    const unsigned running = atomic_load(&interrupt_running);

    (void)data;
    return running && atomic_load(&interrupt_asked) == running;
}

void agent_interrupt_offer(struct agent *agent)
{
    interrupt_agent = agent;
    agent->services.is_interrupted = interrupt_is;
    laz_os_bear_interrupts(interrupt_typed);
    laz_os_on_interrupt(interrupt_came);
}

bool agent_interrupt_begin(int64_t id)
{
    atomic_store(&interrupt_running, (unsigned)id);
    return !interrupt_is(NULL);
}

void agent_interrupt_end(void)
{
    atomic_store(&interrupt_running, 0);
}
