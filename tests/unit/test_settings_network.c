/* SPDX-License-Identifier: MIT */
/* test_settings_network.c - the network list of a configuration: texts, tables, ports, hosts; and
 * which keys there are. */
#include "unit.h"

#include "settings/schema.h"
#include "settings/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int network_load(struct laz_settings *settings, const char *text, struct laz_error *err)
{
    char path[] = "/tmp/lazaret-network-XXXXXX";
    const int fd = mkstemp(path);

    CU_ASSERT_FATAL(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    int rc = laz_settings_load(settings, path, err);
    unlink(path);
    return rc;
}

static void network_lists_keep_texts_tables_and_their_places(void)
{
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    const struct laz_settings_values *values = laz_settings_values(settings);

    CU_ASSERT(values->network.deny_private && values->network.max_connections == 64);
    CU_ASSERT_EQUAL(values->network.max_bytes, (uint64_t)1 << 30);
    CU_ASSERT_EQUAL_FATAL(
        network_load(settings,
                     "[network]\n"
                     "allow = [\"a.com\",\n"
                     "         { host = \"db.internal:5432\", to = [\"10.0.0.0/8\"] }]\n"
                     "ports = [8443, \"8080\"]\n"
                     "hosts = { \"db.internal\" = \"10.0.0.5\" }\n"
                     "[network.host]\n"
                     "ports = [5432]\n",
                     &err),
        0);
    values = laz_settings_values(settings);
    CU_ASSERT_EQUAL_FATAL(values->network.allow.n, 2);
    UNIT_TEXT(values->network.allow.items[1],
              "{\"host\":\"db.internal:5432\",\"to\":[\"10.0.0.0/8\"]}");
    UNIT_TEXT(values->network.ports.items[0], "8443");
    UNIT_TEXT(values->network.ports.items[1], "8080");
    UNIT_TEXT(values->network.hosts.items[0], "db.internal=10.0.0.5");
    UNIT_TEXT(values->network.host_ports.items[0], "5432");

    laz_error_set(&err, LAZ_ECONFIG, 0, "no");
    laz_settings_blame(values, "network.allow", values->network.allow.items[1], &err);
    CU_ASSERT(strstr(err.text, ":3:10: network.allow: no") != NULL);
    laz_error_set(&err, LAZ_ECONFIG, 0, "no");
    laz_settings_blame(values, "network.ports", "8443", &err);
    CU_ASSERT(strstr(err.text, ":4:10: network.ports: no") != NULL);

    CU_ASSERT_EQUAL(laz_settings_set(settings, "network.hosts.other", "10.0.0.6", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->network.hosts.n, 2);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "network.resolver", "10.0.0.53", &err), 0);
    UNIT_TEXT(laz_settings_values(settings)->network.resolver, "10.0.0.53");
    CU_ASSERT_EQUAL(laz_settings_set(settings, "network.allow", "[\"b.com\"]", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_values(settings)->network.allow.n, 1);
    laz_settings_free(settings);
}

static void network_values_of_another_form_are_refused_at_their_place(void)
{
    static const char *const cases[][2] = {
        {"network.allow = [1]\n",
         "1:18: network.allow: expected a string, or a table ({ host = ..., "
         "to = [...] }), found integer 1"},
        {"network.ports = [0]\n",
         "1:18: network.ports: expected a port from 1 to 65535, found integer 0"},
        {"network.ports = [\"http\"]\n",
         "1:18: network.ports: expected a port from 1 to 65535, found string \"http\""},
        {"network.hosts = { a = 1 }\n",
         "1:23: network.hosts: expected an address in quotes (\"10.0.0.5\"), found integer 1"},
        {"network.host.port = [1]\n",
         "1:14: network.host.port: unknown key; did you mean network.host.ports?"},
        {"network.host = 1\n", "1:16: network.host: expected a table, found integer 1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct laz_settings *settings = NULL;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
        CU_ASSERT_EQUAL(network_load(settings, cases[i][0], &err), LAZ_ECONFIG);
        const char *behind = strstr(err.text, ":1:");
        UNIT_TEXT(behind ? behind + 1 : err.text, cases[i][1]);
        laz_settings_free(settings);
    }
}

static void settings_schema_has_every_key(void)
{
    struct laz_buf keys = LAZ_BUF_INIT;

    for (const struct schema_key *row = laz_schema; row->key; row++) {
        CU_ASSERT(laz_schema_type(row) && row->default_value && row->help && *row->help);
        laz_buf_printf(&keys, "%s ", row->key);
    }
    UNIT_TEXT(laz_buf_text(&keys),
              "session.runtime session.dialect session.where session.directory session.timeout "
              "session.deadline "
              "session.approval_timeout session.start_timeout session.interrupt_grace "
              "session.max_executions session.max_tool_calls session.max_code_length "
              "session.max_output_lines session.max_output_size session.max_message_size "
              "session.max_value_size session.validate session.sanitize_errors session.verbose "
              "session.pre_execute_hook sandbox.backend sandbox.strict sandbox.require "
              "sandbox.uids sandbox.ask_systemd sandbox.programs sandbox.read sandbox.write "
              "sandbox.protect sandbox.tmp_size sandbox.tty limits.cpu limits.memory limits.fsize "
              "limits.nproc limits.nofile limits.session_cpu limits.stack env.allow env.set "
              "network.allow network.ports network.hosts network.resolver network.deny_private "
              "network.max_connections network.max_bytes network.host.ports network.credential artifacts.max_files "
              "artifacts.max_size artifacts.collect audit.file audit.on_error audit.sync pool.size "
              "pool.warm pool.reset pool.preload pool.max_sessions pool.max_waiting "
              "pool.renew_after mcp.session_timeout mcp.structured mcp.description_size "
              "serve.certificate serve.key serve.clients serve.revoked serve.token_keys "
              "serve.audience serve.max_clients serve.max_connections serve.max_sessions serve.cpu "
              "serve.bytes serve.requests serve.handshake_timeout serve.approvals cluster.carrier "
              "cluster.pool cluster.places cluster.caller cluster.token cluster.tenant "
              "cluster.open_timeout cluster.drain_timeout telemetry.listen telemetry.endpoint telemetry.headers "
              "telemetry.service workers.max plugins.path ");
    laz_buf_fini(&keys);
}

static const struct unit_test tests[] = {
    UNIT(network_lists_keep_texts_tables_and_their_places),
    UNIT(settings_schema_has_every_key),
    UNIT(network_values_of_another_form_are_refused_at_their_place),
    {0},
};

int main(void)
{
    return unit_run("settings_network", tests);
}
