/* SPDX-License-Identifier: MIT */
/* descriptor.c - plugins with one fault each, made from this file by defining one MOCK_*:
 *
 *     MOCK_NAME         the name in the descriptor; by default the name of the file
 *     MOCK_MAGIC, MOCK_MAJOR, MOCK_MINOR, MOCK_SIZE, MOCK_KIND, MOCK_OPS
 *                       a field of the descriptor
 *     MOCK_OPS_SIZE     what the table of operations says of itself
 *     MOCK_NO_PLAN      the required operation `plan` is NULL
 *     MOCK_BAD_OPTION   an option has a type that does not exist
 *     MOCK_OLD          built with the headers of ABI 1.0, whose options were shorter
 *     MOCK_SECRET       the option is secret, and an argument of what would be started
 *     MOCK_UNDEFINED    an operation calls an undefined function */
#include <lazaret/backend.h>

#ifndef MOCK_MAGIC
#define MOCK_MAGIC LAZ_PLUGIN_MAGIC
#endif
#ifndef MOCK_MAJOR
#define MOCK_MAJOR LAZ_ABI_MAJOR
#endif
#ifdef MOCK_OLD
#define MOCK_MINOR 0
#endif
#ifndef MOCK_MINOR
#define MOCK_MINOR LAZ_ABI_MINOR
#endif
#ifndef MOCK_SIZE
#define MOCK_SIZE sizeof(struct laz_plugin)
#endif
#ifndef MOCK_KIND
#define MOCK_KIND LAZ_PLUGIN_BACKEND
#endif
#ifndef MOCK_OPS
#define MOCK_OPS &ops
#endif
#ifndef MOCK_OPS_SIZE
#define MOCK_OPS_SIZE sizeof ops
#endif
#ifdef MOCK_BAD_OPTION
#define MOCK_OPTION_TYPE 99u
#else
#define MOCK_OPTION_TYPE LAZ_OPT_STRING
#endif

#ifdef MOCK_OLD
static const struct old_option {
    const char *key;
    uint32_t type;
    const char *default_value;
    const char *help;
} old_options[] = {
    {"program", LAZ_OPT_STRING, "\"mock\"", "what would be started"},
    {"count", LAZ_OPT_INTEGER, "1", "how often"},
    {NULL, 0, NULL, NULL},
};
#define MOCK_OPTIONS (const struct laz_option *)(const void *)old_options
#else
#ifdef MOCK_SECRET
#define MOCK_FLAGS LAZ_OPT_SECRET
#else
#define MOCK_FLAGS 0
#endif
static const struct laz_option options[] = {
    LAZ_OPTION("program", MOCK_OPTION_TYPE, "\"mock\"", "what would be started",
               .flags = MOCK_FLAGS),
    LAZ_OPTIONS_END,
};
#define MOCK_OPTIONS options
#endif

#ifdef MOCK_UNDEFINED
int mock_nobody_defines_this(void);
#endif

__attribute__((unused)) static int mock_plan(const struct laz_plan_api *api,
                                             const struct laz_policy *policy, struct laz_plan *plan,
                                             struct laz_error *err)
{
    (void)policy;
    (void)err;
#ifdef MOCK_UNDEFINED
    if (mock_nobody_defines_this())
        return LAZ_EINVAL;
#endif
    api->arg(plan, "/bin/true");
#ifdef MOCK_SECRET
    api->arg(plan, policy->options);
#endif
    return 0;
}

static int mock_explain(const struct laz_backend_failure *failure, char *text, size_t text_size)
{
    (void)failure;
    (void)text;
    (void)text_size;
    return LAZ_ENOENT;
}

__attribute__((unused)) static const struct laz_backend_ops ops = {
    .size = MOCK_OPS_SIZE,
    .can_enforce = LAZ_ENFORCE_NETWORK,
    .platforms = "linux",
#ifndef MOCK_NO_PLAN
    .plan = mock_plan,
#endif
    .explain = mock_explain,
};

LAZ_PLUGIN(mock) = {
    .magic = MOCK_MAGIC,
    .abi_major = MOCK_MAJOR,
    .abi_minor = MOCK_MINOR,
    .size = MOCK_SIZE,
    .kind = MOCK_KIND,
    .name = MOCK_NAME,
    .version = "1.0",
    .summary = "a plugin for tests",
    .options = MOCK_OPTIONS,
    .ops = MOCK_OPS,
};
