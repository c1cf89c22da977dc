/* SPDX-License-Identifier: MIT */
/* header_none.c - what each function of lazaret.h says when it is given no handle. C and C++. */
#include "header.h"

static void ignored(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)user, (void)result, (void)err;
}

static void nobody(void *user, struct laz_session *session, const struct laz_error *err)
{
    (void)user, (void)session, (void)err;
}

static void no_engine(struct laz_engine *engine)
{
    struct laz_tool tool = LAZ_TOOL_INIT;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_settings_new(NULL, &err) == LAZ_EINVAL);
    CHECK(laz_settings_load(NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_settings_set(NULL, "session.timeout", "1", &err) == LAZ_EINVAL);
    CHECK(laz_settings_problems(NULL) == 0 && !laz_settings_problem(NULL, 0));
    laz_settings_free(NULL);
    CHECK(laz_engine_new(NULL, NULL, NULL, &err) == LAZ_EINVAL && laz_engine_fd(NULL) == -1);
    CHECK(laz_engine_timeout(NULL) == -1 && laz_engine_step(NULL, 0, &err) == LAZ_EINVAL);
    CHECK(laz_engine_add_tool(NULL, &tool, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_engine_add_tool(engine, &tool, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_engine_add_tool(engine, NULL, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_engine_set_approver(NULL, NULL, NULL, &err) == LAZ_EINVAL);
    laz_engine_cancel(NULL);
    laz_engine_free(NULL);
}

static void no_reply(void)
{
    laz_reply_value(NULL, "1", 1);
    laz_reply_error(NULL, "no");
    laz_reply_free(NULL);
    CHECK(laz_reply_keep(NULL) == LAZ_EINVAL);
    CHECK(laz_reply_on_cancel(NULL, NULL, NULL) == LAZ_EINVAL && !laz_reply_is_cancelled(NULL));
    CHECK(!laz_reply_caller(NULL));
}

static void no_session(struct laz_engine *engine)
{
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_session_open(NULL, NULL, &session, &err) == LAZ_EINVAL);
    CHECK(laz_session_open(engine, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_session_execute(NULL, "", 0, NULL, &result, &err) == LAZ_EINVAL);
    CHECK(laz_session_execute_async(NULL, "", 0, NULL, ignored, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_session_check(NULL, "", 0, &result, &err) == LAZ_EINVAL);
    CHECK(laz_session_put_file(NULL, "a", "", 0, &err) == LAZ_EINVAL);
    CHECK(laz_session_put_file_async(NULL, "a", "", 0, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_session_restart(NULL, &err) == LAZ_EINVAL);
    CHECK(laz_session_set_network(NULL, NULL, 0, &err) == LAZ_EINVAL);
    laz_session_cancel(NULL);
    laz_session_close(NULL);
    laz_session_free(NULL);
    CHECK(!laz_session_is_alive(NULL) && laz_session_pid(NULL) == -1);
    CHECK(!laz_session_id(NULL) && !laz_session_tools(NULL));
    CHECK(!laz_session_describe(NULL) && !laz_session_isolation(NULL));
    CHECK(laz_execute(NULL, NULL, "", 0, NULL, &result, &err) == LAZ_EINVAL);
    CHECK(laz_execute(engine, NULL, "", 0, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_execute(engine, NULL, NULL, 0, NULL, &result, &err) == LAZ_EINVAL);
}

static void no_tools(struct laz_engine *engine)
{
    const char *found = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_session_search_tools(NULL, "", 0, &found, &err) == LAZ_EINVAL);
    CHECK(laz_engine_search_tools(NULL, "", 0, &found, &err) == LAZ_EINVAL);
    CHECK(laz_engine_search_tools(engine, NULL, 0, &found, &err) == LAZ_EINVAL);
    CHECK(laz_engine_search_tools(engine, "", 0, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_engine_search_tools_with(NULL, NULL, 0, "", 0, &found, &err) == LAZ_EINVAL);
    CHECK(laz_engine_search_tools_with(engine, NULL, 0, NULL, 0, &found, &err) == LAZ_EINVAL);
    CHECK(laz_engine_search_tools_with(engine, NULL, 0, "", 0, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_engine_search_tools_with(engine, NULL, 1, "", 0, &found, &err) == LAZ_EINVAL);
    CHECK(laz_engine_tool_stub(NULL, "a", NULL, &found, &err) == LAZ_EINVAL);
    CHECK(laz_engine_check_tools(NULL, NULL, 0, &err) == LAZ_EINVAL);
    CHECK(laz_engine_check_tools(engine, NULL, 1, &err) == LAZ_EINVAL);
    CHECK(laz_engine_check_tools(engine, NULL, 0, &err) == 0 && !laz_engine_tools(NULL));
}

static void no_pool(struct laz_engine *engine)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct laz_pool *pool = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_pool_new(NULL, NULL, &pool, &err) == LAZ_EINVAL);
    CHECK(laz_pool_new(engine, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_pool_acquire(NULL, 0, &session, &err) == LAZ_EINVAL);
    CHECK(laz_pool_acquire_async(NULL, 0, nobody, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_pool_release(NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_pool_execute(NULL, 0, "", 0, NULL, &result, &err) == LAZ_EINVAL);
    CHECK(laz_pool_execute_async(NULL, 0, "", 0, NULL, ignored, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_pool_status(NULL, &status, &err) == LAZ_EINVAL && !laz_pool_describe(NULL));
    CHECK(laz_pool_close(NULL, &err) == LAZ_EINVAL);
    laz_pool_free(NULL);
}

static void no_result(void)
{
    struct laz_execution_usage usage = LAZ_EXECUTION_USAGE_INIT;
    struct laz_lost_artifact lost = LAZ_LOST_ARTIFACT_INIT;
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_result_verdict(NULL) == LAZ_VERDICT_SETUP_FAILED);
    CHECK(laz_result_exit_status(NULL) == 125);
    CHECK(!laz_result_detail(NULL) && !laz_result_value(NULL) && !laz_result_text(NULL));
    CHECK(laz_result_outputs(NULL) == 0 && !laz_result_output(NULL, 0, NULL, NULL));
    CHECK(!laz_result_is_truncated(NULL) && !laz_result_replaced(NULL));
    CHECK(!laz_result_error(NULL) && !laz_result_error_kind(NULL));
    CHECK(laz_result_error_line(NULL) == 0 && laz_result_error_column(NULL) == 0);
    CHECK(laz_result_traceback_length(NULL) == 0 && !laz_result_traceback(NULL, 0));
    CHECK(laz_result_warnings(NULL) == 0 && !laz_result_warning(NULL, 0));
    CHECK(laz_result_denials(NULL) == 0 && !laz_result_denial(NULL, 0));
    CHECK(laz_result_credentials(NULL) == 0 && !laz_result_credential(NULL, 0));
    CHECK(laz_result_artifacts(NULL) == 0);
    CHECK(laz_result_artifact(NULL, 0, &artifact) == LAZ_EINVAL);
    CHECK(laz_result_lost_artifacts(NULL) == 0);
    CHECK(laz_result_lost_artifact(NULL, 0, &lost) == LAZ_EINVAL);
    CHECK(laz_result_save_artifacts(NULL, "a", &err) == LAZ_EINVAL);
    CHECK(laz_result_usage(NULL, &usage) == LAZ_EINVAL);
    CHECK(!laz_result_backend(NULL) && !laz_result_isolation(NULL));
    CHECK(!laz_result_enforces(NULL, "memory") && !laz_result_session(NULL));
    CHECK(!laz_result_json(NULL));
    laz_result_free(NULL);
}

void header_none(struct laz_engine *engine)
{
    no_engine(engine);
    no_reply();
    no_session(engine);
    no_tools(engine);
    no_pool(engine);
    no_result();
}
