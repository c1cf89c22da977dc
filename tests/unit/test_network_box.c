/* SPDX-License-Identifier: MIT */
/* test_network_box.c - what a box with a network list has: its confinement and its files, as data.
 */
#include "unit.h"

#include "backends.h"
#include "base/path.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/spawner.h"
#include "os/system.h"
#include "plan/plan.h"
#include "plan/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char base[] = "/tmp/laz-test-network-box-XXXXXX"; /* removed by main */

static int plan_by(const char *backend, bool nests, struct laz_plan **plan, struct laz_error *err)
{
    static const char *const command[] = {"/run/lazaret/bin/lazaret-agent", NULL};
    const struct laz_policy policy = {
        .size = sizeof policy,
        .home = "/tmp",
        .tmp_size = 65536,
        .own_uid = 1,
        .box_uid = 1000,
        .command = command,
        .host_command = "/opt/lazaret-agent",
        .options = "{}",
        .options_len = 2,
        .landlock_abi = 7,
        .nests = nests,
        .network = 1,
    };
    const struct laz_plugin *plugin = backends_load(backend);

    *plan = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    return laz_plan_make(plugin->ops, backend, &policy, NULL, 0, NULL, plan, err);
}

static struct laz_plan *plan_with_list(bool nests)
{
    struct laz_plan *plan;

    CU_ASSERT_EQUAL_FATAL(plan_by("bwrap", nests, &plan, NULL), 0);
    return plan;
}

static void shows(void (*append)(const struct laz_plan *, struct laz_buf *),
                  const struct laz_plan *plan, const char *part)
{
    struct laz_buf text = LAZ_BUF_INIT;

    append(plan, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), part));
    laz_buf_fini(&text);
}

/* The network is the box's own: what leads out of it is not the agent's to refuse. */
static void sim_bwrap_confines_a_box_with_a_network_list(void)
{
    for (int nests = 0; nests < 2; nests++) {
        struct laz_plan *plan = plan_with_list(nests);
        UNIT_TEXT(plan->agent.filter, "network");
        CU_ASSERT(plan->agent.landlock.lets_network);
        CU_ASSERT(plan->enforces & LAZ_ENFORCE_NETWORK);
        CU_ASSERT_EQUAL(plan->filter.bits, LAZ_ENFORCE_SYSCALLS); /* no network is shared */
        shows(laz_plan_text, plan, "--unshare-all");
        shows(laz_plan_isolation_json, plan, "\"only what is listed: network namespace\"");
        shows(laz_plan_confine_json, plan, "\"network\":true");
        shows(laz_plan_text, plan, "  filter     system calls: network\n");
        shows(laz_plan_text, plan, "  landlock   does not restrict TCP");
        laz_plan_free(plan);
    }
}

/* A list that is not kept would be no network, or all of it. */
static void a_backend_that_cannot_keep_a_list_refuses_it(void)
{
    static const char *const backends[] = {"landlock", "none", "seatbelt", "windows-job"};

    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        struct laz_error err = {0};
        struct laz_plan *plan;
        CU_ASSERT_EQUAL(plan_by(backends[i], false, &plan, &err), LAZ_ECONFIG);
        CU_ASSERT_PTR_NULL(plan);
        CU_ASSERT_PTR_EQUAL(strstr(err.text, "network.allow: the backend "), err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, backends[i]));
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

/* A box with the default programs, or with any. */
static struct laz_policy_box *box_with(bool network, bool any, struct laz_programs **programs)
{
    struct laz_settings_values values = {.sandbox.tmp_size = 4096};
    const struct laz_policy_session session = {
        .socket_directory = "/tmp/lazaret-test/b0/socket",
        .agent = "/opt/build/lazaret-agent",
        .staged = "/var/staged",
        .uid = LAZ_SPAWN_SAME_ID,
        .has_network = network,
    };
    struct laz_policy_session own = session;
    struct laz_policy_box *box = NULL;
    struct laz_error err = {0};

    laz_strv_add(&values.sandbox.programs, any ? "any" : "default");
    CU_ASSERT_EQUAL_FATAL(
        laz_programs_new(&values, NULL, laz_os_platform(), session.uid, network, programs, &err),
        0);
    laz_programs_prepare(*programs, NULL, true);
    own.programs = *programs;
    CU_ASSERT_EQUAL_FATAL(
        laz_policy_new(&values, NULL, &own, true, laz_os_platform(), "{}", 2, &box, &err), 0);
    laz_strv_fini(&values.sandbox.programs);
    return box;
}

static const struct laz_path *path_of(const struct laz_policy_box *box, const char *path)
{
    for (size_t i = 0; i < box->policy.n_paths; i++)
        if (strcmp(box->policy.paths[i].box, path) == 0)
            return &box->policy.paths[i];
    return NULL;
}

static void the_box_asks_the_host_for_names(void)
{
    struct laz_programs *programs;

    for (int network = 0; network < 2; network++) {
        struct laz_policy_box *box = box_with(network, true, &programs);
        const struct laz_path *names = path_of(box, "/etc/nsswitch.conf"),
                              *resolver = path_of(box, "/etc/resolv.conf");
        CU_ASSERT_EQUAL(box->policy.network, (uint32_t)network);
        CU_ASSERT_PTR_NOT_NULL_FATAL(names);
        CU_ASSERT_EQUAL(names->kind, LAZ_PATH_CONTENT);
        CU_ASSERT_PTR_NOT_NULL(strstr(names->host, "passwd: files\ngroup: files\n"));
        CU_ASSERT_PTR_NOT_NULL(
            strstr(names->host, network ? "hosts: files dns\n" : "hosts: files\n"));
        CU_ASSERT_EQUAL(resolver != NULL, network != 0);
        if (resolver)
            UNIT_TEXT(resolver->host, "nameserver 127.0.0.1\n");
        CU_ASSERT_PTR_NOT_NULL(path_of(box, "/etc/passwd"));
        CU_ASSERT_PTR_NOT_NULL(path_of(box, "/etc/hosts"));
        laz_policy_free(box);
        laz_programs_free(programs);
    }
}

/* Is it shown, by itself, in a directory, or as a copy? */
static bool is_shown(const struct laz_policy_box *box, const struct laz_programs *programs,
                     const char *path)
{
    bool is_below = false;

    for (size_t i = 0; i < box->policy.n_paths; i++)
        is_below |= laz_path_is_within(path, box->policy.paths[i].box) &&
                    strcmp(box->policy.paths[i].host, box->policy.paths[i].box) == 0;
    return is_below || laz_programs_has_etc(programs, path);
}

/* What TLS and SSH are configured by, where this system has it; and no keys or passwords. */
static void the_box_shows_certificates_and_no_keys(void)
{
    static const char *const shown[] = {
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/ssl/certs/java/cacerts",
        "/etc/ssl/openssl.cnf",
        "/etc/ssl/cert.pem",
        "/etc/ssl/ca-bundle.pem",
        "/var/lib/ca-certificates",
        "/etc/pki/tls/cert.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/java/cacerts",
        "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
        "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates",
        "/etc/java-17-openjdk/security",
        "/etc/ssh/ssh_config",
        "/etc/ssh/ssh_config.d",
        "/etc/services",
        "/etc/gai.conf",
    };
    static const char *const hidden[] = {
        "/etc/ssl/private/x",
        "/etc/pki/tls/private/x",
        "/etc/ssh/ssh_host_rsa_key",
        "/etc/gitconfig",
        "/etc/wgetrc",
        "/etc/npmrc",
        "/etc/pip.conf",
        "/etc/shadow",
        "/root/.ssh",
        "/root/.gitconfig",
        "/etc/ssh/sshd_config",
    };
    struct laz_programs *programs;

    for (int any = 0; any < 2; any++) {
        struct laz_policy_box *box = box_with(true, any, &programs);
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
            if (access(shown[i], R_OK) != 0)
                continue;
            if (!is_shown(box, programs, shown[i]))
                printf("\n    %s is not shown", shown[i]);
            CU_ASSERT_TRUE(is_shown(box, programs, shown[i]));
        }
        for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
            CU_ASSERT_FALSE(is_shown(box, programs, hidden[i]));
        laz_policy_free(box);
        laz_programs_free(programs);
    }
}

/* Without a list a box shows what it showed before. */
static void the_box_shows_less_without_a_list(void)
{
    static const char *const only[] = {"/etc/ssh/ssh_config", "/etc/services", "/etc/gai.conf",
                                       "/etc/java-17-openjdk", "/etc/ssl/cert.pem"};
    struct laz_programs *programs;
    struct laz_policy_box *box = box_with(false, false, &programs);

    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        CU_ASSERT_FALSE(is_shown(box, programs, only[i]));
    laz_policy_free(box);
    laz_programs_free(programs);
}

static void the_copies_of_etc_are_those_of_a_list(void)
{
    struct laz_buf content = LAZ_BUF_INIT;
    struct laz_programs *programs;
    char staged[100], path[200];

    for (int network = 0; network < 2; network++) {
        laz_policy_free(box_with(network, false, &programs));
        snprintf(staged, sizeof staged, "%s/%d", base, network);
        CU_ASSERT_EQUAL_FATAL(laz_programs_stage(programs, NULL, staged, NULL), 0);
        snprintf(path, sizeof path, "%s/etc/resolv.conf", staged);
        CU_ASSERT_EQUAL(access(path, R_OK) == 0, network != 0);
        snprintf(path, sizeof path, "%s/etc/nsswitch.conf", staged);
        CU_ASSERT_EQUAL(laz_os_read_file(path, 4096, &content, NULL), 0);
        CU_ASSERT_EQUAL(strstr(laz_buf_text(&content), "files dns") != NULL, network != 0);
        laz_buf_clear(&content);
        laz_programs_free(programs);
    }
    laz_buf_fini(&content);
}

static void the_usual_clients_are_among_the_defaults(void)
{
    static const char *const names[] = {"curl", "wget", "git", "ssh", "psql", "node", "npm"};
    struct laz_programs *programs;
    char path[64];

    for (int network = 0; network < 2; network++) {
        laz_policy_free(box_with(network, false, &programs));
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            bool is_there = false;
            snprintf(path, sizeof path, "/usr/bin/%s", names[i]);
            for (size_t k = 0; k < programs->n_parts; k++)
                is_there |= strcmp(programs->parts[k].path, path) == 0;
            CU_ASSERT_EQUAL(is_there, network && access(path, X_OK) == 0);
        }
        laz_programs_free(programs);
    }
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(sim_bwrap_confines_a_box_with_a_network_list),
        UNIT(a_backend_that_cannot_keep_a_list_refuses_it),
        UNIT(the_box_asks_the_host_for_names),
        UNIT(the_box_shows_certificates_and_no_keys),
        UNIT(the_box_shows_less_without_a_list),
        UNIT(the_copies_of_etc_are_those_of_a_list),
        UNIT(the_usual_clients_are_among_the_defaults),
        {0},
    };

    if (!mkdtemp(base))
        return 1;
    int failed = unit_run("network_box", tests);
    laz_os_remove_tree(base);
    return failed;
}
