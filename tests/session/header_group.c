/* SPDX-License-Identifier: MIT */
/* header_group.c - what header.c does, for groups and for executions that have a session of their
 * own and do not wait. C and C++. */
#include "header.h"

#include <string.h>

static void ignored(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)user, (void)result, (void)err;
}

static void no_group_is_an_error(void)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;
    struct laz_group_pool *pool = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_execute_async(NULL, NULL, "", 0, NULL, ignored, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_new(NULL, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_engines(NULL) == 0 && laz_group_load(NULL, 0) == 0);
    CHECK(laz_group_add_tool(NULL, NULL, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_set_approver(NULL, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_run(NULL, 0, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_execute(NULL, NULL, "", 0, NULL, &result, &err) == LAZ_EINVAL);
    CHECK(laz_group_execute_async(NULL, NULL, "", 0, NULL, ignored, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_pool_new(NULL, NULL, &pool, &err) == LAZ_EINVAL);
    CHECK(laz_group_pool_execute(NULL, 0, "", 0, NULL, &result, &err) == LAZ_EINVAL);
    CHECK(laz_group_pool_execute_async(NULL, 0, "", 0, NULL, ignored, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_pool_status(NULL, &status, &err) == LAZ_EINVAL);
    laz_group_pool_free(NULL);
    laz_group_cancel(NULL);
    laz_group_free(NULL);
}

static void one_execution(void *user, struct laz_engine *engine)
{
    struct laz_error err = {0, 0, ""};

    CHECK(laz_execute_async(engine, NULL, NULL, 0, NULL, ignored, NULL, &err) == LAZ_EINVAL);
    *(struct laz_engine **)user = engine;
}

static void a_group_has_several_engines(struct laz_group *group)
{
    struct laz_pool_options places = LAZ_POOL_OPTIONS_INIT;
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;
    struct laz_group_pool *pool = NULL;
    struct laz_engine *engine = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_group_engines(group) == 2 && laz_group_load(group, 1) == 0);
    CHECK(laz_group_run(group, 1, one_execution, &engine, &err) == 1 && engine);
    CHECK(laz_group_run(group, 0, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_execute(group, NULL, "", 0, NULL, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_execute(group, NULL, "return 6", SIZE_MAX, NULL, &result, &err) == 0);
    CHECK(result && strcmp(laz_result_value(result), "6") == 0);
    laz_result_free(result);
    places.members = 2;
    CHECK(laz_group_pool_new(group, &places, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_group_pool_new(group, &places, &pool, &err) == 0);
    CHECK(laz_group_pool_execute(pool, LAZ_NO_LIMIT, "return 7", SIZE_MAX, NULL, &result, &err) ==
          0);
    CHECK(result && strcmp(laz_result_value(result), "7") == 0);
    laz_result_free(result);
    CHECK(laz_group_pool_status(pool, &status, &err) == 0 && status.total == 2);
    CHECK(laz_group_pool_status(pool, NULL, &err) == LAZ_EINVAL);
}

void header_groups(void)
{
    struct laz_group_options options = LAZ_GROUP_OPTIONS_INIT;
    struct laz_settings *settings = NULL;
    struct laz_group *group = NULL;
    struct laz_error err = {0, 0, ""};

    no_group_is_an_error();
    options.engines = 2;
    CHECK(laz_settings_new(&settings, &err) == 0);
    CHECK(laz_settings_set(settings, "sandbox.backend", "none", &err) == 0);
    CHECK(laz_settings_set(settings, "sandbox.require", "[]", &err) == 0);
    CHECK(laz_settings_set(settings, "session.runtime", "lua", &err) == 0);
    CHECK(laz_settings_set(settings, "session.start_timeout", "600", &err) == 0);
    CHECK(laz_group_new(settings, &options, &group, &err) == 0);
    if (group)
        a_group_has_several_engines(group);
    laz_group_free(group); /* and the pool */
    laz_settings_free(settings);
}
