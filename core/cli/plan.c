/* SPDX-License-Identifier: MIT */
/* plan.c - shows the box that would be built, without building it.
 *
 * A plan is a pure function of the policy, so the plan for another system can be shown here too.
 * Placeholders stand for what only a session knows (token, socket, uid). */
#include "cli/cli.h"

#include "base/enforce.h"
#include "box/box.h"
#include "box/choice.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "engine/tables.h"
#include "os/cgroup.h"
#include "os/system.h"
#include "os/users.h"
#include "settings/settings.h"

#include <stdlib.h>
#include <string.h>

#define PLAN_TOKEN "token-of-the-session"
#define PLAN_UID   65534u

/* Placeholders for paths of a session and of an installation on another system. */
static const struct plan_stand_in {
    const char *platform; /* NULL: any other */
    const char *folder, *socket_folder, *staged, *socket, *agent;
} plan_stand_ins[] = {
    {"windows", "C:/Temp/lazaret-session", "C:/Temp/lazaret-session/socket",
     "C:/Temp/lazaret-session/programs", "stdin", "C:/Program Files/lazaret/lazaret-agent.exe"},
    {NULL, "/tmp/lazaret-session", "/tmp/lazaret-session/socket", "/tmp/lazaret-session/programs",
     NULL, NULL},
};

static const struct plan_stand_in *plan_stand_in(const char *platform)
{
    const struct plan_stand_in *stand_in = plan_stand_ins;

    while (stand_in->platform && strcmp(stand_in->platform, platform) != 0)
        stand_in++;
    return stand_in;
}

struct plan_parts {
    struct laz_registry *registry;
    const struct laz_plugin *backend;
    const struct laz_backend_ops *ops;
    const struct laz_runtime_info *runtime;
    struct laz_buf options;
    char *agent;
    struct laz_programs *programs;
    struct laz_policy_box *box;
    struct laz_plan *plan;
};

/* Finds the first backend in the settings' list that supports the platform. */
static int plan_find_backend(struct cli *cli, struct plan_parts *parts, const char *platform,
                             struct laz_error *err)
{
    struct laz_strv names = LAZ_STRV_INIT;
    int code = LAZ_ENOENT;

    laz_backend_candidates(parts->registry, &laz_settings_values(cli->settings)->sandbox.backend,
                           platform, &names);
    laz_error_set(err, LAZ_ECONFIG, 0, "sandbox.backend: no backend is known for the system \"%s\"",
                  platform);
    for (size_t i = 0; i < names.n && code != 0; i++) {
        code = laz_registry_find(parts->registry, LAZ_PLUGIN_BACKEND, names.items[i],
                                 &parts->backend, err);
        if (code != 0)
            continue;
        parts->ops = parts->backend->ops;
        if (!laz_backend_is_for(parts->ops, platform))
            code = laz_error_set(err, LAZ_ECONFIG, 0,
                                 "sandbox.backend: %s is made for %s and not for %s",
                                 names.items[i], parts->ops->platforms, platform);
    }
    laz_strv_fini(&names);
    return code;
}

static bool plan_is_here(const char *platform)
{
    return strcmp(platform, laz_os_platform()) == 0;
}

/* For another system the plan assumes that an ordinary user runs lazaret. */
static bool plan_has_own_uid(const char *platform)
{
    return plan_is_here(platform) && laz_os_is_root();
}

static int plan_make_policy(struct cli *cli, struct plan_parts *parts, const char *platform,
                            struct laz_error *err)
{
    const struct laz_settings_values *values = laz_settings_values(cli->settings);
    const char *runtime = laz_settings_runtime(values);
    const char *name = parts->backend->name;
    const struct plan_stand_in *stand_in = plan_stand_in(platform);
    struct laz_policy_session session = {
        .socket_folder = stand_in->socket_folder,
        .socket = stand_in->socket,
        .token = PLAN_TOKEN,
        .uid = plan_has_own_uid(platform) ? PLAN_UID : LAZ_OS_SAME_ID,
        .staged = stand_in->staged,
    };
    char *where = laz_strdupf("sandbox.%s", name);
    int code = where ? 0 : laz_error_nomem(err);

    if (code == 0)
        code =
            laz_settings_check_options(laz_settings_plugin_table(cli->settings, "sandbox", name),
                                       parts->backend->options, where, NULL, &parts->options, err);
    free(where);
    if (code == 0)
        code = laz_registry_runtime(parts->registry, runtime, &parts->runtime, err);
    if (code == 0 && laz_backend_hides_files(parts->ops))
        code = laz_programs_new(&values->sandbox.programs, &parts->runtime->programs, platform,
                                session.uid, &parts->programs, err);
    if (code != 0)
        return code;
    session.programs = parts->programs;
    parts->agent = stand_in->agent ? laz_strdup(stand_in->agent) : laz_installed_agent();
    if (!parts->agent)
        return laz_error_nomem(err);
    session.agent = parts->agent;
    session.runtime_file = parts->runtime->file;
    return laz_policy_new(values, parts->runtime, &session, laz_backend_has_own_files(parts->ops),
                          platform, laz_buf_text(&parts->options), parts->options.len, &parts->box,
                          err);
}

/* What the host adds to any box. Of another system only this is known: on macOS there are no
 * control groups, and a watchdog watches sessions. */
static struct laz_plan_host plan_host(const char *platform)
{
    struct laz_plan_host host = {.is_watched = strcmp(platform, "darwin") == 0};
    struct laz_cgroups *groups = NULL;
    const bool own_uid = plan_has_own_uid(platform);

    if (plan_is_here(platform) && laz_cgroups_new(true, &groups, NULL) == 0)
        host = laz_box_host(groups, own_uid, false);
    laz_cgroups_free(groups);
    return host;
}

/* Makes the plan even if it does not enforce enough; *refusal then says what is missing. */
static int plan_make(struct cli *cli, struct plan_parts *parts, const char *platform,
                     struct laz_error *refusal, struct laz_error *err)
{
    const struct laz_plan_host host = plan_host(platform);
    uint32_t require = laz_settings_values(cli->settings)->sandbox.require;
    const char *name = parts->backend->name;

    if (laz_plan_make(parts->ops, name, &parts->box->policy, &host, require,
                      plan_stand_in(platform)->folder, &parts->plan, refusal) == 0)
        return 0;
    if (refusal->code != LAZ_EREFUSED) {
        *err = *refusal;
        return err->code;
    }
    return laz_plan_make(parts->ops, name, &parts->box->policy, &host, 0,
                         plan_stand_in(platform)->folder, &parts->plan, err);
}

static void plan_show(struct cli *cli, const struct plan_parts *parts)
{
    struct laz_buf text = LAZ_BUF_INIT;

    if (cli->json)
        laz_plan_json(parts->plan, &text);
    else
        laz_plan_text(parts->plan, &text);
    cli_puts(cli, laz_buf_text(&text));
    cli_write(cli, "\n", text.len && text.data[text.len - 1] != '\n' ? 1 : 0);
    laz_buf_fini(&text);
}

int cli_plan(struct cli *cli)
{
    const char *platform = cli->platform ? cli->platform : laz_os_platform();
    struct plan_parts parts = {.options = LAZ_BUF_INIT};
    struct laz_error err = {0}, refusal = {0};
    int status = cli_registry(cli, false, &parts.registry);

    if (status)
        return status;
    if (laz_tables_check(parts.registry, cli->settings, NULL, &err) != 0 ||
        plan_find_backend(cli, &parts, platform, &err) != 0 ||
        plan_make_policy(cli, &parts, platform, &err) != 0 ||
        plan_make(cli, &parts, platform, &refusal, &err) != 0) {
        status = cli_fail(cli, &err);
    } else {
        plan_show(cli, &parts);
        if (refusal.code)
            status = cli_fail(cli, &refusal);
    }
    laz_plan_free(parts.plan);
    laz_policy_free(parts.box);
    laz_programs_free(parts.programs);
    free(parts.agent);
    laz_buf_fini(&parts.options);
    laz_registry_free(parts.registry);
    return status;
}
