/* SPDX-License-Identifier: MIT */
/* plan.c - shows the box that would be built, without building it.
 *
 * A plan is a pure function of the policy, so the plan for another system can be shown here too.
 * Placeholders stand for what only a session knows (token, socket, uid). Which backend it is that
 * `run` would take here has to be tried, unless the user names a backend or a system. */
#include "cli/source.h"

#include "base/json.h"
#include "box/box.h"
#include "credential/credential.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "engine/engine.h"
#include "network/network.h"
#include "os/cgroup.h"
#include "os/system.h"
#include "os/users.h"
#include "tool/command.h"

#include <stdlib.h>
#include <string.h>

#define PLAN_TOKEN "token-of-the-session"
#define PLAN_UID   65534u

/* Placeholders for paths of a session and of an installation on another system. */
static const struct plan_stand_in {
    const char *platform; /* NULL: any other */
    const char *directory, *socket_directory, *staged, *socket, *agent, *trust;
} plan_stand_ins[] = {
    {"windows", "C:/Temp/lazaret-session", "C:/Temp/lazaret-session/socket",
     "C:/Temp/lazaret-session/programs", "stdin", "C:/Program Files/lazaret/lazaret-agent.exe",
     NULL},
    {NULL, "/tmp/lazaret-session", "/tmp/lazaret-session/socket", "/tmp/lazaret-session/programs",
     NULL, NULL, "/tmp/lazaret-session/trust"},
};

struct plan_parts {
    struct cli *cli;
    struct laz_engine *engine;               /* has tried the backends; NULL: nothing has */
    const struct laz_backend_choice *choice; /* of the engine; NULL: none */
    const char *platform;
    bool is_here; /* the plan is for this system */
    bool own_uid; /* for another system the plan assumes that an ordinary user runs lazaret */
    const struct plan_stand_in *stand_in;
    struct laz_registry *registry;
    const struct laz_plugin *backend;
    const struct laz_backend_ops *ops;
    const struct laz_runtime_info *runtime;
    struct laz_buf options;
    char *agent;
    struct laz_programs *programs;
    struct laz_policy_box *box;
    struct laz_plan *plan;
    struct laz_network_rules *rules; /* the network list */
    struct laz_secrets secrets;
    struct laz_credentials *credentials;
    struct laz_strv placeholders;
};

/* Finds the first backend in the settings' list that supports the platform. */
static int plan_find_backend(struct plan_parts *parts, struct laz_error *err)
{
    struct laz_strv names = LAZ_STRV_INIT;
    struct laz_buf ignored = LAZ_BUF_INIT;
    int code = LAZ_ENOENT;

    if (parts->choice)
        laz_strv_add(&names, parts->choice->name);
    else
        laz_backend_candidates(parts->registry, &parts->cli->values->sandbox.backend,
                               parts->platform, &names);
    laz_registry_ignored(parts->registry, &ignored);
    laz_error_set(err, LAZ_ECONFIG, 0,
                  "sandbox.backend: no backend is known for the system \"%s\"%s", parts->platform,
                  laz_buf_text(&ignored));
    laz_buf_fini(&ignored);
    for (size_t i = 0; i < names.n && code != 0; i++) {
        code = laz_registry_find(parts->registry, LAZ_PLUGIN_BACKEND, names.items[i],
                                 &parts->backend, err);
        if (code != 0)
            continue;
        parts->ops = parts->backend->ops;
        if (!laz_backend_is_for(parts->ops, parts->platform))
            code = laz_error_set(err, LAZ_ECONFIG, 0,
                                 "sandbox.backend: %s is made for %s and not for %s",
                                 names.items[i], parts->ops->platforms, parts->platform);
    }
    laz_strv_fini(&names);
    return code;
}

/* ---- credentials ----------------------------------------------------------------------------- */

static int plan_check_program(void *user, const char *program, struct laz_error *err)
{
    (void)user;
    return laz_command_check(program, err);
}

/* Those of the settings. Nothing is read by a command for that. */
static int plan_credentials(struct plan_parts *parts, struct laz_policy_session *session,
                            struct laz_error *err)
{
    const struct laz_settings_values *values = parts->cli->values;
    const struct laz_secret_runner runner = {.check = plan_check_program};
    const struct laz_credentials_of of = {.values = values, .secrets = &parts->secrets};
    struct laz_credential_set *set = NULL;

    if (!values->network.credentials.n)
        return 0;
    int rc = laz_secrets_init(&parts->secrets, values, &runner, err);
    if (!rc)
        rc = laz_credentials_new(&of, &parts->credentials, err);
    if (!rc && session->has_network)
        rc = laz_credential_set_new(parts->credentials, NULL, 0, &set, err);
    if (rc || !set)
        return rc;
    laz_credential_set_env(set, &parts->placeholders);
    laz_credential_set_free(set);
    session->trust = parts->stand_in->trust;
    session->extra_env = &parts->placeholders;
    return parts->placeholders.failed ? laz_error_nomem(err) : 0;
}

static void plan_credentials_text(const struct plan_parts *parts, struct laz_buf *text)
{
    struct laz_strv lines = LAZ_STRV_INIT;

    if (!parts->credentials)
        return;
    laz_credentials_text(parts->credentials, &lines);
    laz_buf_puts(text, "\nwhat the host adds to requests, and code does not see\n");
    for (size_t i = 0; i < lines.n; i++)
        laz_buf_printf(text, "  %s\n", lines.items[i]);
    text->failed |= lines.failed;
    laz_strv_fini(&lines);
}

static void plan_credentials_json(const struct plan_parts *parts, struct laz_json_write *write)
{
    struct laz_buf json = LAZ_BUF_INIT;

    if (parts->credentials) {
        laz_credentials_json(parts->credentials, &json);
        laz_json_add_raw(write, "credentials", laz_buf_text(&json), json.len);
    } else {
        laz_json_begin_list(write, "credentials");
        laz_json_end_list(write);
    }
    write->to->failed |= json.failed;
    laz_buf_fini(&json);
}

static int plan_make_policy(struct plan_parts *parts, struct laz_error *err)
{
    const struct laz_settings_values *values = parts->cli->values;
    const struct plan_stand_in *stand_in = parts->stand_in;
    struct laz_policy_session session = {
        .socket_directory = stand_in->socket_directory,
        .socket = stand_in->socket,
        .token = PLAN_TOKEN,
        .uid = parts->own_uid ? PLAN_UID : LAZ_OS_SAME_ID,
        .staged = stand_in->staged,
        .hides_env = true,
    };
    struct laz_strv libraries = LAZ_STRV_INIT;
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    int code = cli_backend_options(parts->cli, parts->backend, &parts->options, err);

    if (code == 0)
        code = laz_session_rules_of(values, &parts->rules, err);
    session.has_network = parts->rules && laz_network_rules_ports(parts->rules, ports) > 0;

    if (code == 0)
        code = plan_credentials(parts, &session, err);
    if (code == 0)
        code = laz_registry_usual(parts->registry, values, &parts->runtime, err);
    if (code == 0 && laz_backend_hides_files(parts->ops))
        code = laz_programs_new(values, parts->runtime, parts->platform, session.uid,
                                session.has_network, &parts->programs, err);
    if (code != 0)
        return code;
    session.programs = parts->programs;
    parts->agent = stand_in->agent ? laz_strdup(stand_in->agent) : laz_installed_agent();
    if (!parts->agent)
        return laz_error_nomem(err);
    session.agent = parts->agent;
    session.runtime_file = parts->runtime->file;
    session.libraries = &libraries;
    code = laz_runtime_libraries(parts->runtime, &libraries, err);
    if (!code)
        code = laz_policy_new(values, parts->runtime, &session,
                              laz_backend_has_own_files(parts->ops), parts->platform,
                              laz_buf_text(&parts->options), parts->options.len, &parts->box, err);
    for (size_t i = 0; !code && !parts->engine && i < parts->box->notes.n; i++)
        laz_log(&parts->cli->log, LAZ_LOG_WARNING, "%s", parts->box->notes.items[i]);
    laz_strv_fini(&libraries);
    return code;
}

/* What the host adds to any box. Of another system only this is known: a watchdog watches
 * sessions. */
static struct laz_plan_host plan_host(const struct plan_parts *parts)
{
    const struct laz_limit_values *limits = &parts->cli->values->limits;
    struct laz_plan_host host = {.is_watched = true, .limits = limits};
    struct laz_cgroups *groups = NULL;

    if (parts->engine)
        return laz_box_host(parts->engine->boxes.groups, limits, parts->own_uid, false);
    if (parts->is_here && laz_cgroups_new(true, &groups, NULL) == 0)
        host = laz_box_host(groups, limits, parts->own_uid, false);
    laz_cgroups_free(groups);
    return host;
}

/* Makes the plan even if it does not enforce enough; *refusal then says what is missing. */
static int plan_make(struct plan_parts *parts, struct laz_error *refusal, struct laz_error *err)
{
    const struct laz_plan_host host = plan_host(parts);
    const struct laz_policy *policy = &parts->box->policy;
    const char *name = parts->backend->name;
    const uint32_t require =
        parts->choice ? parts->choice->require : parts->cli->values->sandbox.require;

    if (laz_plan_make(parts->ops, name, policy, &host, require, parts->stand_in->directory,
                      &parts->plan, refusal) == 0)
        return 0;
    if (refusal->code != LAZ_EREFUSED) {
        *err = *refusal;
        return err->code;
    }
    return laz_plan_make(parts->ops, name, policy, &host, 0, parts->stand_in->directory,
                         &parts->plan, err);
}

/* ---- the network list ------------------------------------------------------------------------ */

static void plan_network_text(const struct plan_parts *parts, struct laz_buf *text)
{
    const char *resolver = parts->cli->values->network.resolver;
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    const size_t n = laz_network_rules_ports(parts->rules, ports);
    struct laz_buf json = LAZ_BUF_INIT;

    laz_buf_puts(text, "\nwhat can be reached by the network\n");
    if (!n) {
        laz_buf_puts(text, "  (nothing)\n");
        return;
    }
    laz_network_rules_json(parts->rules, &json);
    struct laz_json *rules = laz_json_parse(laz_buf_text(&json), json.len, NULL);
    for (const struct laz_json *rule = laz_json_first(rules); rule; rule = laz_json_next(rule))
        laz_buf_printf(text, "  %s\n", laz_json_string(rule));
    laz_buf_puts(text, "  ports that are listened to:");
    for (size_t i = 0; i < n; i++)
        laz_buf_printf(text, " %u", (unsigned)ports[i]);
    laz_buf_printf(text,
                   "\n  addresses inside: " LAZ_NETWORK_FALSE_RANGE "\n  names are looked up "
                   "by: %s\n",
                   *resolver ? resolver : "the servers of the system");
    text->failed |= json.failed || !rules;
    laz_json_free(rules);
    laz_buf_fini(&json);
}

static void plan_network_json(const struct plan_parts *parts, struct laz_json_write *write)
{
    const struct laz_settings_values *values = parts->cli->values;
    struct laz_strv warnings = LAZ_STRV_INIT;
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    const size_t n = laz_network_rules_ports(parts->rules, ports);
    struct laz_buf rules = LAZ_BUF_INIT;

    if (!n) {
        laz_json_add_null(write, "network");
        return;
    }
    laz_network_rules_json(parts->rules, &rules);
    laz_network_rules_warn(parts->rules, &warnings);
    if (parts->credentials)
        laz_credentials_warn(parts->credentials, parts->rules, &warnings);
    laz_json_begin_object(write, "network");
    laz_json_add_raw(write, "allow", laz_buf_text(&rules), rules.len);
    laz_json_begin_list(write, "ports");
    for (size_t i = 0; i < n; i++)
        laz_json_add_uint(write, NULL, ports[i]);
    laz_json_end_list(write);
    laz_json_add_text(write, "addresses", LAZ_NETWORK_FALSE_RANGE);
    laz_json_add_text(write, "resolver", values->network.resolver);
    laz_json_add_bool(write, "deny_private", values->network.deny_private);
    laz_json_add_texts(write, "warnings", &warnings);
    laz_json_end_object(write);
    write->to->failed |= rules.failed || warnings.failed;
    laz_strv_fini(&warnings);
    laz_buf_fini(&rules);
}

static void plan_network_warn(const struct plan_parts *parts)
{
    struct laz_strv warnings = LAZ_STRV_INIT;

    laz_network_rules_warn(parts->rules, &warnings);
    if (parts->credentials)
        laz_credentials_warn(parts->credentials, parts->rules, &warnings);
    for (size_t i = 0; i < warnings.n; i++)
        laz_log(&parts->cli->log, LAZ_LOG_WARNING, "%s", warnings.items[i]);
    laz_strv_fini(&warnings);
}

/* A plan is shown although `run` refuses it; `status` says that. */
static int plan_answer(struct cli *cli, const struct plan_parts *parts, int status)
{
    struct cli_answer answer;
    struct laz_buf json = LAZ_BUF_INIT;

    cli_answer_begin(&answer, !status);
    if (status)
        cli_answer_errors(cli, &answer.write, &cli->problems);
    laz_plan_json(parts->plan, &json);
    laz_json_add_raw(&answer.write, "plan", laz_buf_text(&json), json.len);
    plan_network_json(parts, &answer.write);
    plan_credentials_json(parts, &answer.write);
    answer.json.failed |= json.failed;
    laz_buf_fini(&json);
    return cli_answer_end(cli, &answer, status);
}

static int plan_show(struct cli *cli)
{
    struct plan_parts parts = {
        .cli = cli,
        .platform = cli->platform ? cli->platform : laz_os_platform(),
        .stand_in = plan_stand_ins,
    };
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0}, refusal = {0};
    int tried = cli->backend || cli->platform ? 0 : cli_inspect(cli, &parts.engine);
    int status = tried == CLI_USAGE ? tried : cli_registry(cli, parts.engine, &parts.registry);

    if (status) {
        laz_engine_free(parts.engine);
        return status;
    }
    if (parts.engine && parts.engine->boxes.choice.ops)
        parts.choice = &parts.engine->boxes.choice;
    parts.is_here = strcmp(parts.platform, laz_os_platform()) == 0;
    parts.own_uid = parts.is_here && laz_os_is_root();
    while (parts.stand_in->platform && strcmp(parts.stand_in->platform, parts.platform) != 0)
        parts.stand_in++;
    if (laz_tables_check(parts.registry, cli->settings, &err) != 0 ||
        plan_find_backend(&parts, &err) != 0 || plan_make_policy(&parts, &err) != 0 ||
        plan_make(&parts, &refusal, &err) != 0) {
        status = cli_fail(cli, &err);
    } else {
        if (!cli->json) {
            laz_plan_text(parts.plan, &text);
            plan_network_text(&parts, &text);
            plan_credentials_text(&parts, &text);
            cli_print(cli, &text);
        }
        cli_notices(cli, parts.engine, parts.registry);
        if (!cli->json)
            plan_network_warn(&parts);
        if (laz_registry_usual_why(parts.registry))
            laz_log(&cli->log, LAZ_LOG_WARNING, "no runtime was named, and %s: the plan is of %s",
                    laz_registry_usual_why(parts.registry), parts.runtime->name);
        if (tried)
            status = tried; /* the reason was printed */
        else if (refusal.code)
            status = cli_fail(cli, &refusal);
        if (cli->json)
            status = plan_answer(cli, &parts, status);
    }
    laz_plan_free(parts.plan);
    laz_network_rules_drop(parts.rules);
    laz_credentials_free(parts.credentials);
    laz_secrets_fini(&parts.secrets);
    laz_strv_fini(&parts.placeholders);
    laz_policy_free(parts.box);
    laz_programs_free(parts.programs);
    free(parts.agent);
    laz_buf_fini(&parts.options);
    laz_registry_free(parts.registry);
    laz_engine_free(parts.engine);
    return status;
}

/* The box of a file has its runtime, and what it is shown. */
static int plan_take_file(struct cli *cli, struct source *source)
{
    int status = cli->n_operands ? source_read(cli, source) : 0;

    if (!status)
        status = cli_choose_runtime(cli, source->name, source->runtime);
    return status || !source->shown.n ? status : cli_show_paths(cli, source->name, &source->shown);
}

int cli_plan(struct cli *cli)
{
    struct source source = {.code = LAZ_BUF_INIT};
    int status = cli_needs_boxes(cli);

    if (!status)
        status = plan_take_file(cli, &source);

    if (!status)
        status = plan_show(cli);
    source_fini(&source);
    return status;
}
