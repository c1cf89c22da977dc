/* SPDX-License-Identifier: MIT */
/* rows.c - the rows of lazaret-bench, in the order in which they are measured and printed.
 * docs/performance.md explains each. */
#include "bench.h"

#define KIB 1024
#define MIB (1024 * 1024)

#define ONCE    false
#define RUNTIME true

#define ALONE false /* nothing else runs */
#define BUSY  true  /* all processors but one are kept busy */

#define NONE  BENCH_NO_COSTS
#define COSTS BENCH_COSTS
#define EACH  BENCH_COSTS_OF_EACH

/* name, unit, one for each runtime, samples, with --quick, parameter, with --quick, load, function,
 * and whether it has costs */
const struct bench_row bench_rows[] = {
    {"floor.pingpong", "us", ONCE, 2000, 20, 0, 0, BUSY, bench_floor_pingpong, NONE},
    {"floor.forkexec", "us", ONCE, 200, 3, 0, 0, ALONE, bench_floor_forkexec, COSTS},
    {"floor.bwrap", "us", ONCE, 40, 1, 0, 0, ALONE, bench_floor_bwrap, COSTS},
    {"floor.namespaces", "us", ONCE, 200, 3, 0, 0, ALONE, bench_floor_namespaces, COSTS},
    {"floor.interpreter", "us", RUNTIME, 30, 1, 0, 0, ALONE, bench_floor_interpreter, COSTS},
    {"session.cold", "us", RUNTIME, 30, 1, 0, 0, ALONE, bench_session_cold, COSTS},
    {"run", "us", RUNTIME, 30, 1, 0, 0, ALONE, bench_run, COSTS},
    {"start.box", "us", RUNTIME, 60, 1, BENCH_LAYER_BOX, BENCH_LAYER_BOX, ALONE, bench_layer,
     COSTS},
    {"start.agent", "us", RUNTIME, 60, 1, BENCH_LAYER_AGENT, BENCH_LAYER_AGENT, ALONE, bench_layer,
     COSTS},
    {"start.confined", "us", RUNTIME, 60, 1, BENCH_LAYER_CONFINED, BENCH_LAYER_CONFINED, ALONE,
     bench_layer, COSTS},
    {"session.template", "us", RUNTIME, 300, 1, 0, 0, ALONE, bench_session_template, COSTS},
    {"session.tools", "us", RUNTIME, 200, 1, 0, 0, ALONE, bench_session_tools, NONE},
    {"session.free", "us", RUNTIME, 300, 1, 0, 0, ALONE, bench_session_free, NONE},
    {"sessions_per_second", "1/s", RUNTIME, 10, 1, 200, 4, ALONE, bench_sessions_per_second, EACH},
    {"execute", "us", RUNTIME, 2000, 20, 0, 0, BUSY, bench_executes, NONE},
    {"tool_call", "us", RUNTIME, 2000, 20, 0, 0, BUSY, bench_tool_calls, NONE},
    {"tool_call16", "us", RUNTIME, 3200, 32, 16, 16, ALONE, bench_tool_calls_at_once, NONE},
    {"value_in_64k", "us", RUNTIME, 400, 3, 64 * KIB, 64 * KIB, ALONE, bench_value_in, NONE},
    {"value_out_64k", "us", RUNTIME, 400, 3, 64 * KIB, 64 * KIB, ALONE, bench_value_out, NONE},
    {"value_in_1m", "us", RUNTIME, 60, 2, MIB, MIB, ALONE, bench_value_in, NONE},
    {"value_out_1m", "us", RUNTIME, 60, 2, MIB, MIB, ALONE, bench_value_out, NONE},
    {"frame_in_10k", "us", RUNTIME, 60, 2, 10000, 1000, ALONE, bench_frame_in, NONE},
    {"frame_out_10k", "us", RUNTIME, 60, 2, 10000, 1000, ALONE, bench_frame_out, NONE},
    {"frame_in_1m", "us", RUNTIME, 6, 1, 1000000, 1000, ALONE, bench_frame_in, NONE},
    {"frame_out_1m", "us", RUNTIME, 6, 1, 1000000, 1000, ALONE, bench_frame_out, NONE},
    {"lines_per_second", "1/s", RUNTIME, 20, 1, 5000, 5000, ALONE, bench_lines, NONE},
    {"timeout_overshoot", "us", ONCE, 100, 1, 0, 0, ALONE, bench_timeout, NONE},
    {"cpu_overshoot", "us", ONCE, 10, 1, 0, 0, ALONE, bench_cpu_limit, NONE},
    {"cancel", "us", ONCE, 100, 1, 0, 0, ALONE, bench_cancel, NONE},
    {"neighbour64", "us", ONCE, 30000, 200, 64, 3, ALONE, bench_neighbours, NONE},
    {"neighbour64.resting", "us", ONCE, 12000, 200, 64, 3, ALONE, bench_neighbours_at_rest, NONE},
    {"neighbour.locks", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.epolls", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.forks", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.exits", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.threads", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.renames", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.mmaps", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.mappings", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.names", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.flight", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.inodes", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"neighbour.membarrier", "us", ONCE, 5, 1, 8, 2, ALONE, bench_attack, NONE},
    {"pool_acquire", "us", ONCE, 300, 2, 0, 0, ALONE, bench_pool_acquire, NONE},
    {"group1.execute", "1/s", ONCE, 30, 1, 1, 1, ALONE, bench_group_executes, NONE},
    {"group1.tool_call", "1/s", ONCE, 30, 1, 1, 1, ALONE, bench_group_calls, NONE},
    {"group1.thread", "us", ONCE, 30, 1, 1, 1, ALONE, bench_group_thread, NONE},
    {"group2.execute", "1/s", ONCE, 30, 1, 2, 2, ALONE, bench_group_executes, NONE},
    {"group2.tool_call", "1/s", ONCE, 30, 1, 2, 2, ALONE, bench_group_calls, NONE},
    {"group2.thread", "us", ONCE, 30, 1, 2, 2, ALONE, bench_group_thread, NONE},
    {"group4.execute", "1/s", ONCE, 30, 1, 4, 4, ALONE, bench_group_executes, NONE},
    {"group4.tool_call", "1/s", ONCE, 30, 1, 4, 4, ALONE, bench_group_calls, NONE},
    {"group4.thread", "us", ONCE, 30, 1, 4, 4, ALONE, bench_group_thread, NONE},
    {"alive100.pss", "B", ONCE, 100, 3, 100, 3, ALONE, bench_alive_pss, NONE},
    {"alive100.engine", "B", ONCE, 1, 1, 100, 3, ALONE, bench_alive_engine, NONE},
    {"alive100.latency", "us", ONCE, 1000, 10, 100, 3, ALONE, bench_alive_latency, NONE},
    {"alive500.pss", "B", ONCE, 500, 4, 500, 4, ALONE, bench_alive_pss, NONE},
    {"alive500.engine", "B", ONCE, 1, 1, 500, 4, ALONE, bench_alive_engine, NONE},
    {"alive500.latency", "us", ONCE, 1000, 10, 500, 4, ALONE, bench_alive_latency, NONE},
    {"alive2000.pss", "B", ONCE, 2000, 5, 2000, 5, ALONE, bench_alive_pss, NONE},
    {"alive2000.engine", "B", ONCE, 1, 1, 2000, 5, ALONE, bench_alive_engine, NONE},
    {"alive2000.machine", "B", ONCE, 1, 1, 2000, 5, ALONE, bench_alive_machine, NONE},
    {"alive2000.latency", "us", ONCE, 1000, 10, 2000, 5, ALONE, bench_alive_latency, NONE},
    {"alive2000.turns", "us", ONCE, 2000, 10, 2000, 5, ALONE, bench_alive_turns, NONE},
    {"peer.srt.start", "us", ONCE, 10, 1, 0, 0, ALONE, bench_peer, NONE},
    {"peer.firejail.start", "us", ONCE, 20, 1, 0, 0, ALONE, bench_peer, NONE},
    {"peer.deno.start", "us", ONCE, 20, 1, 0, 0, ALONE, bench_peer, NONE},
    {"peer.isolated_vm.session", "us", ONCE, 100, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.isolated_vm.execute", "us", ONCE, 1000, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.isolated_vm.tool_call", "us", ONCE, 1000, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.quickjs.session", "us", ONCE, 100, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.quickjs.execute", "us", ONCE, 1000, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.quickjs.tool_call", "us", ONCE, 1000, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.node_worker.session", "us", ONCE, 30, 1, 0, 0, ALONE, bench_peer, NONE},
    {"peer.node_worker.execute", "us", ONCE, 1000, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.node_worker.tool_call", "us", ONCE, 1000, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.node_fork.session", "us", ONCE, 30, 1, 0, 0, ALONE, bench_peer, NONE},
    {"peer.node_fork.execute", "us", ONCE, 1000, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.node_fork.tool_call", "us", ONCE, 1000, 3, 0, 0, ALONE, bench_peer, NONE},
    {"peer.securer.session", "us", ONCE, 10, 1, 0, 0, ALONE, bench_peer, NONE},
    {"peer.securer.execute", "us", ONCE, 20, 1, 0, 0, ALONE, bench_peer, NONE},
    {"peer.securer.tool_call", "us", ONCE, 100, 1, 0, 0, ALONE, bench_peer, NONE},
};

const size_t n_bench_rows = sizeof bench_rows / sizeof *bench_rows;
