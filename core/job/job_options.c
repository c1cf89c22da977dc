/* SPDX-License-Identifier: MIT */
/* job_options.c - what the public structs of options consist of.
 * Side: host.  Input trusted: yes (the application); what remote callers set: no. */
#include "job/job.h"

#include "base/path.h"
#include "base/trace.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define REMOTE      .is_remote = true
#define VALUE(name) M(name), .kind = LAZ_MEMBER_VALUE
#define TEXT(name)  M(name), .kind = LAZ_MEMBER_TEXT
#define LIMIT(name)                                                                                \
    M(name), .kind = LAZ_MEMBER_LIMIT,                                                             \
             .setting_at = offsetof(struct laz_settings_values, session.name), REMOTE

/* ---- of an execution ------------------------------------------------------------------------- */

#define M(name) LAZ_MEMBER(laz_trace, name)
static const struct laz_member trace_rows[] = {{TEXT(parent), REMOTE}, {TEXT(state), REMOTE}};
#undef M

static int options_check_trace(const void *trace, struct laz_error *err)
{
    return laz_trace_check(trace, err);
}

static const struct laz_members trace_members = {
    "laz_trace", sizeof(struct laz_trace), options_check_trace, trace_rows, COUNT(trace_rows)};

#define M(name) LAZ_MEMBER(laz_file, name)
static const struct laz_member file_rows[] = {
    {TEXT(name), REMOTE},
    {M(data), .kind = LAZ_MEMBER_BYTES, .n_at = offsetof(struct laz_file, data_len),
     .what = "the content of the file", REMOTE},
    {VALUE(data_len), REMOTE},
};
#undef M

static int options_check_file(const void *given, struct laz_error *err)
{
    const struct laz_file *file = given;

    if (!file->name)
        return laz_error_null(err, "the name of the file");
    return laz_name_is_plain(file->name) ? 0 : laz_error_set(err, LAZ_EINVAL, 0, LAZ_NAME_RULE);
}

static const struct laz_members file_members = {"laz_file", sizeof(struct laz_file),
                                                options_check_file, file_rows, COUNT(file_rows)};

#define M(name) LAZ_MEMBER(laz_execute_options, name)
#define N(name) .n_at = offsetof(struct laz_execute_options, name)
static const struct laz_member execute_rows[] = {
    {LIMIT(timeout_ms)},
    {LIMIT(deadline_ms)},
    {LIMIT(max_tool_calls)},
    {LIMIT(max_output_lines)},
    {VALUE(no_print), REMOTE},
    {VALUE(no_validate), REMOTE},
    {VALUE(line)},
    {VALUE(output)},
    {VALUE(user)},
    {M(argv), .kind = LAZ_MEMBER_TEXTS, N(n_argv), .what = "the command line of the code",
     .one = "an argument of the code", REMOTE},
    {VALUE(n_argv), REMOTE},
    {TEXT(cwd), .what = "the working directory", REMOTE},
    {TEXT(directory), .what = "the directory of modules", REMOTE},
    {VALUE(progress)},
    {VALUE(progress_ms), REMOTE},
    {M(trace), .kind = LAZ_MEMBER_STRUCT, .of = &trace_members, REMOTE},
    {M(files), .kind = LAZ_MEMBER_STRUCTS, N(n_files), .what = "the files for the code",
     .one = "a file for the code", .of = &file_members, REMOTE},
    {VALUE(n_files), REMOTE},
    {VALUE(collect_cwd)},
    {VALUE(invisible), REMOTE},
    {LIMIT(max_code_length)},
    {VALUE(native), REMOTE},
    {TEXT(input), .what = "the name of the standard input", REMOTE},
};
#undef M
#undef N

const struct laz_members laz_execute_members = {"laz_execute_options",
                                                sizeof(struct laz_execute_options), NULL,
                                                execute_rows, COUNT(execute_rows)};

/* ---- of a session ---------------------------------------------------------------------------- */

#define M(name) LAZ_MEMBER(laz_tool, name)
static const struct laz_member tool_rows[] = {
    {TEXT(name), REMOTE},        {TEXT(description), REMOTE},     {TEXT(parameters), REMOTE},
    {VALUE(timeout_ms), REMOTE}, {VALUE(max_concurrent), REMOTE}, {VALUE(approve), REMOTE},
    {VALUE(nonblocking)},        {TEXT(returns), REMOTE},         {VALUE(native), REMOTE},
};
#undef M
static const struct laz_members tool_members = {"laz_tool", sizeof(struct laz_tool), NULL,
                                                tool_rows, COUNT(tool_rows)};

#define M(name) LAZ_MEMBER(laz_session_tool, name)
static const struct laz_member session_tool_rows[] = {
    {M(tool), .kind = LAZ_MEMBER_STRUCT, .of = &tool_members, REMOTE},
    {VALUE(call)},
    {VALUE(user)},
};
#undef M
static const struct laz_members session_tool_members = {
    "laz_session_tool", sizeof(struct laz_session_tool), NULL, session_tool_rows,
    COUNT(session_tool_rows)};

#define M(name) LAZ_MEMBER(laz_network_list, name)
static const struct laz_member network_rows[] = {
    {M(allow), .kind = LAZ_MEMBER_TEXTS, .n_at = offsetof(struct laz_network_list, n),
     .what = "the network list", .one = "a rule of the network list", REMOTE},
    {VALUE(n), REMOTE},
};
#undef M
static const struct laz_members network_members = {
    "laz_network_list", sizeof(struct laz_network_list), NULL, network_rows, COUNT(network_rows)};

#define NETWORK                                                                                    \
    {                                                                                              \
        M(network), .kind = LAZ_MEMBER_STRUCT, .of = &network_members, REMOTE                      \
    }

#define M(name) LAZ_MEMBER(laz_session_options, name)
static const struct laz_member session_rows[] = {
    {TEXT(runtime), REMOTE},
    {VALUE(pre_execute)},
    {VALUE(pre_execute_user)},
    {VALUE(no_wait)},
    {VALUE(warm), REMOTE},
    {M(input), .kind = LAZ_MEMBER_INT},
    {VALUE(user)},
    {M(tools), .kind = LAZ_MEMBER_STRUCTS, .n_at = offsetof(struct laz_session_options, n_tools),
     .what = "the tools of the session", .one = "a tool of the session",
     .of = &session_tool_members, REMOTE},
    {VALUE(n_tools), REMOTE},
    {M(output), .kind = LAZ_MEMBER_INT},
    {M(errors), .kind = LAZ_MEMBER_INT},
    NETWORK,
};
#undef M

const struct laz_members laz_session_members = {"laz_session_options",
                                                sizeof(struct laz_session_options), NULL,
                                                session_rows, COUNT(session_rows)};

#define M(name) LAZ_MEMBER(laz_pool_options, name)
static const struct laz_member pool_rows[] = {
    {TEXT(runtime), REMOTE},
    {VALUE(members), REMOTE},
    {VALUE(pre_execute)},
    {VALUE(pre_execute_user)},
    {VALUE(no_wait)},
    {M(tools), .kind = LAZ_MEMBER_STRUCTS, .n_at = offsetof(struct laz_pool_options, n_tools),
     .what = "the tools of the pool", .one = "a tool of the pool", .of = &session_tool_members,
     REMOTE},
    {VALUE(n_tools), REMOTE},
    NETWORK,
};
#undef M
#undef NETWORK

const struct laz_members laz_pool_members = {"laz_pool_options", sizeof(struct laz_pool_options),
                                             NULL, pool_rows, COUNT(pool_rows)};
