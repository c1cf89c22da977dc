/* SPDX-License-Identifier: MIT */
/* job_options.c - what the public structs of options consist of.
 * Side: host.  Input trusted: yes (the application); what remote callers set: no. */
#include "job/job.h"

#include "base/path.h"
#include "base/trace.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* Each row says what a remote caller may set: a row without that does not compile. */
#define ROW(name, of_kind, may) M(name), .kind = LAZ_MEMBER_##of_kind, .remote = LAZ_REMOTE_##may
#define VALUE(name, may)        ROW(name, VALUE, may)
#define TEXT(name, may)         ROW(name, TEXT, may)
#define LIMIT(name)                                                                                \
    ROW(name, LIMIT, NARROWS), .setting_at = offsetof(struct laz_settings_values, session.name)

/* ---- of an execution ------------------------------------------------------------------------- */

#define M(name) LAZ_MEMBER(laz_trace, name)
static const struct laz_member trace_rows[] = {{TEXT(parent, FREE)}, {TEXT(state, FREE)}};
#undef M

static int options_check_trace(const void *trace, struct laz_error *err)
{
    return laz_trace_check(trace, err);
}

static const struct laz_members trace_members = {
    "laz_trace", sizeof(struct laz_trace), options_check_trace, trace_rows, COUNT(trace_rows)};

#define M(name) LAZ_MEMBER(laz_file, name)
static const struct laz_member file_rows[] = {
    {TEXT(name, FREE)},
    {ROW(data, BYTES, FREE), .n_at = offsetof(struct laz_file, data_len),
     .what = "the content of the file"},
    {VALUE(data_len, FREE)},
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
    {VALUE(no_print, FREE)},
    {VALUE(no_validate, FREE)},
    {VALUE(line, REFUSED)},
    {VALUE(output, REFUSED)},
    {VALUE(user, REFUSED)},
    {ROW(argv, TEXTS, FREE), N(n_argv), .what = "the command line of the code",
     .one = "an argument of the code"},
    {VALUE(n_argv, FREE)},
    {TEXT(cwd, REFUSED), .what = "the working directory"},
    {TEXT(directory, REFUSED), .what = "the directory of modules"},
    {VALUE(progress, REFUSED)},
    {VALUE(progress_ms, FREE)},
    {ROW(trace, STRUCT, FREE), .of = &trace_members},
    {ROW(files, STRUCTS, FREE), N(n_files), .what = "the files for the code",
     .one = "a file for the code", .of = &file_members},
    {VALUE(n_files, FREE)},
    {VALUE(collect_cwd, REFUSED)},
    {VALUE(invisible, FREE)},
    {LIMIT(max_code_length)},
    {VALUE(native, FREE)},
    {TEXT(input, FREE), .what = "the name of the standard input"},
};
#undef M
#undef N

const struct laz_members laz_execute_members = {"laz_execute_options",
                                                sizeof(struct laz_execute_options), NULL,
                                                execute_rows, COUNT(execute_rows)};

/* ---- of a session ---------------------------------------------------------------------------- */

#define M(name) LAZ_MEMBER(laz_tool, name)
static const struct laz_member tool_rows[] = {
    {TEXT(name, FREE)},
    {TEXT(description, FREE)},
    {TEXT(parameters, FREE)},
    {VALUE(timeout_ms, FREE)},
    {VALUE(max_concurrent, FREE)},
    {VALUE(approve, FREE)},
    {VALUE(nonblocking, REFUSED)},
    {TEXT(returns, FREE)},
    {VALUE(native, FREE)},
};
#undef M
static const struct laz_members tool_members = {"laz_tool", sizeof(struct laz_tool), NULL,
                                                tool_rows, COUNT(tool_rows)};

#define M(name) LAZ_MEMBER(laz_session_tool, name)
static const struct laz_member session_tool_rows[] = {
    {ROW(tool, STRUCT, FREE), .of = &tool_members},
    {VALUE(call, REFUSED)},
    {VALUE(user, REFUSED)},
};
#undef M
static const struct laz_members session_tool_members = {
    "laz_session_tool", sizeof(struct laz_session_tool), NULL, session_tool_rows,
    COUNT(session_tool_rows)};

#define M(name) LAZ_MEMBER(laz_network_list, name)
static const struct laz_member network_rows[] = {
    {ROW(allow, TEXTS, NARROWS), .n_at = offsetof(struct laz_network_list, n),
     .what = "the network list", .one = "a rule of the network list"},
    {VALUE(n, NARROWS)},
};
#undef M
static const struct laz_members network_members = {
    "laz_network_list", sizeof(struct laz_network_list), NULL, network_rows, COUNT(network_rows)};

#define NETWORK                                                                                    \
    {                                                                                              \
        ROW(network, STRUCT, NARROWS), .of = &network_members                                      \
    }

#define M(name) LAZ_MEMBER(laz_credential_list, name)
static const struct laz_member credential_rows[] = {
    {ROW(items, TEXTS, NARROWS), .n_at = offsetof(struct laz_credential_list, n),
     .what = "the credentials", .one = "a credential", .is_secret = true},
    {VALUE(n, NARROWS)},
};
#undef M
static const struct laz_members credential_members = {"laz_credential_list",
                                                      sizeof(struct laz_credential_list), NULL,
                                                      credential_rows, COUNT(credential_rows)};

#define CREDENTIALS                                                                                \
    {                                                                                              \
        ROW(credentials, STRUCT, NARROWS), .of = &credential_members                               \
    }

#define M(name) LAZ_MEMBER(laz_session_options, name)
static const struct laz_member session_rows[] = {
    {TEXT(runtime, FREE)},
    {VALUE(pre_execute, REFUSED)},
    {VALUE(pre_execute_user, REFUSED)},
    {VALUE(no_wait, REFUSED)},
    {VALUE(warm, FREE)},
    {ROW(input, INT, REFUSED)},
    {VALUE(user, REFUSED)},
    {ROW(tools, STRUCTS, FREE), .n_at = offsetof(struct laz_session_options, n_tools),
     .what = "the tools of the session", .one = "a tool of the session",
     .of = &session_tool_members},
    {VALUE(n_tools, FREE)},
    {ROW(output, INT, REFUSED)},
    {ROW(errors, INT, REFUSED)},
    NETWORK,
    {TEXT(identity, REFUSED), .what = "the identity of the session"},
    CREDENTIALS,
};
#undef M

const struct laz_members laz_session_members = {"laz_session_options",
                                                sizeof(struct laz_session_options), NULL,
                                                session_rows, COUNT(session_rows)};

#define M(name) LAZ_MEMBER(laz_pool_options, name)
static const struct laz_member pool_rows[] = {
    {TEXT(runtime, FREE)},
    {VALUE(members, NARROWS)},
    {VALUE(pre_execute, REFUSED)},
    {VALUE(pre_execute_user, REFUSED)},
    {VALUE(no_wait, REFUSED)},
    {ROW(tools, STRUCTS, FREE), .n_at = offsetof(struct laz_pool_options, n_tools),
     .what = "the tools of the pool", .one = "a tool of the pool", .of = &session_tool_members},
    {VALUE(n_tools, FREE)},
    NETWORK,
    {TEXT(identity, REFUSED), .what = "the identity of the pool"},
    CREDENTIALS,
};
#undef M
#undef NETWORK

const struct laz_members laz_pool_members = {"laz_pool_options", sizeof(struct laz_pool_options),
                                             NULL, pool_rows, COUNT(pool_rows)};
