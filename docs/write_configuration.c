/* SPDX-License-Identifier: MIT */
/* write_configuration.c - prints docs/configuration.md.
 *
 * A program for the build, which is not installed.  The tables of the page come from the schema, so
 * the page cannot disagree with how the configuration is read.  A test compares the page in the
 * source tree with the output of this program; `make docs` writes the page. */
#include "settings/schema.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
    "<!-- Made by `make docs` from schema.c, limits.h and write_configuration.c: change those. "
    "-->\n"
    "# Configuration\n"
    "\n"
    "lazaret is configured by one file in [TOML 1.0](https://toml.io/en/v1.0.0). Without a file "
    "it\n"
    "uses the defaults, which are strict: no network, no files of the host except those that the\n"
    "interpreter needs, and limits on everything. The `lazaret.toml` that is installed "
    "with it\n"
    "is a file with all keys, and the directory `examples` beside it has complete examples.\n"
    "\n"
    "```toml\n"
    "[session]\n"
    "runtime = \"python\"\n"
    "timeout = \"20s\"\n"
    "\n"
    "[sandbox]\n"
    "read = [\"/srv/data\"]\n"
    "\n"
    "[limits]\n"
    "memory = \"1GiB\"\n"
    "\n"
    "[[tools]]\n"
    "provider = \"command\"\n"
    "\n"
    "[[tools.tool]]\n"
    "name = \"lookup\"\n"
    "description = \"Record of a customer\"\n"
    "command = [\"/usr/local/bin/lookup\", \"--id\", \"{id}\"]\n"
    "parameters = { id = { type = \"integer\", description = \"customer number\" } }\n"
    "```\n"
    "\n"
    "## Where the file is looked for\n"
    "\n"
    "The first of these files is used; they are not combined:\n"
    "\n"
    "1. the file named by `--config FILE`, or by the caller of the library;\n"
    "2. the file named by the environment variable `LAZARET_CONFIG`;\n"
    "3. `$XDG_CONFIG_HOME/lazaret/lazaret.toml`, or `~/.config/lazaret/lazaret.toml` when that\n"
    "   variable is not set;\n"
    "4. `/etc/lazaret/lazaret.toml`.\n"
    "\n"
    "A file that is named (1, 2) must exist. The current directory is never searched: a\n"
    "configuration names commands of the host and plugins, and a directory may have come from "
    "someone\n"
    "else. A set-user-id program ignores the environment. No other user may be able to write the\n"
    "file or a directory above it: see [the files lazaret relies on]"
    "(deployment.md#the-files-lazaret-relies-on).\n"
    "\n"
    "## Mistakes\n"
    "\n"
    "Whatever lazaret does not understand is an error, and nothing is started: if a misspelt "
    "limit\n"
    "were ignored, the limit would be missing. All mistakes in a file are reported at once, each "
    "with\n"
    "its position, and the command ends with status 2:\n"
    "\n"
    "```\n"
    "lazaret.toml:4:1: session.timout: unknown key; did you mean session.timeout?\n"
    "lazaret.toml:9:10: limits.memory: expected \"unlimited\" or a size (\"8MiB\", or bytes as an "
    "integer) from 1MiB to 1024TiB, found boolean true\n"
    "```\n"
    "\n"
    "A file has at most 1 MiB, and tables and lists are nested at most 64 deep.\n"
    "\n"
    "`lazaret config` prints the settings in force, each with the line that it comes from. The "
    "output\n"
    "can be used as a file. `lazaret config --check` prints instead all that `lazaret run` would\n"
    "refuse, each mistake with the place where it was written. It does what `run` does, up to the "
    "start\n"
    "of the code: it opens the audit log, plans the box and tries the backend.\n"
    "\n"
    "## One key from the command line\n"
    "\n"
    "`--set KEY=VALUE` sets any key of the file for one run, and may be given several times. It\n"
    "overrides the file; `--backend`, `--runtime` and `--timeout` override it. A string may be "
    "without\n"
    "quotes, anything else is written as in the file:\n"
    "\n"
    "```sh\n"
    "lazaret run --set session.timeout=5m --set limits.memory=1GiB \\\n"
    "            --set 'sandbox.read=[\"/srv/data\"]' --set env.set.MODE=test script.py\n"
    "```\n"
    "\n"
    "A value replaces the value in the file. Only `env.set` and the tables of plugins are merged, "
    "so\n"
    "that one variable or option can be changed alone.\n"
    "\n"
    "## Units\n"
    "\n"
    "| kind | written as |\n"
    "|---|---|\n"
    "| time | seconds as a number (`30`, `0.5`), or a string with a unit: `\"250ms\"`, `\"30s\"`, "
    "`\"5m\"`, `\"2h\"`, `\"1d\"` |\n"
    "| size | bytes as an integer, or a string with a unit: `\"64KiB\"`, `\"512MiB\"`, `\"2GiB\"`, "
    "`\"1TiB\"` in powers of 1024; `\"64kB\"`, `\"512MB\"`, `\"2GB\"`, `\"1TB\"` in powers of 1000 "
    "|\n"
    "| path | an absolute path of the host |\n"
    "| name | letters, digits, `_` and `-` |\n"
    "\n"
    "## Keys\n";

static const char tail[] =
    "\n"
    "## Tables of plugins\n"
    "\n"
    "A backend has its options in `[sandbox.NAME]`, a runtime in `[runtime.NAME]`, a tool "
    "provider\n"
    "in its `[[tools]]` table. A plugin declares them, with their types, defaults and a line of\n"
    "help, and lazaret checks the table before the plugin gets it: unknown keys, wrong types and\n"
    "missing options are errors with their position, as for lazaret's own keys. `lazaret plugins "
    "NAME`\n"
    "lists the options of a plugin, with the range of their values.\n"
    "\n"
    "## Secrets\n"
    "\n"
    "The values of `env.set`, and of the options that a plugin has marked as secret (`env` and\n"
    "`headers` of the provider `mcp`), are shown by nothing: `lazaret config` has\n"
    "`{ secret = \"set\" }` in their place, which no key takes, so that what it prints is no\n"
    "configuration until the secrets are written again; `lazaret plan` has `(set)`, also for the\n"
    "variables of `env.allow`; messages name the key and the type of the value. What is not set is\n"
    "not there. Where a plugin cannot be loaded, all that its table sets counts as secret, and so\n"
    "does a key that the plugin does not have. A secret in an address or in the arguments of a\n"
    "command is shown, and code in the box can read each variable that it gets.\n"
    "\n"
    "```toml\n"
    "[sandbox.bwrap]\n"
    "program = \"/opt/bubblewrap/bin/bwrap\"\n"
    "\n"
    "[runtime.r]\n"
    "packages = [\"stats\"]\n"
    "```\n"
    "\n"
    "## Declaring tools\n"
    "\n"
    "Each `[[tools]]` table is an instance of a tool provider. `provider` names the plugin; the\n"
    "other keys are the provider's options. The same provider may be used several times. `lazaret "
    "tools` "
    "shows\n"
    "the tools that result, without running any code.\n"
    "\n"
    "The provider `command` makes a tool of any program. Each `[[tools.tool]]` below it declares\n"
    "one:\n"
    "\n"
    "```toml\n"
    "[[tools]]\n"
    "provider = \"command\"\n"
    "\n"
    "[[tools.tool]]\n"
    "name = \"lookup\"\n"
    "description = \"Record of a customer\"\n"
    "command = [\"/usr/local/bin/lookup\", \"--id\", \"{id}\"]\n"
    "timeout = 10\n"
    "output = \"json\"\n"
    "\n"
    "[tools.tool.parameters]\n"
    "id = { type = \"integer\", description = \"customer number\" }\n"
    "full = { type = \"boolean\", default = false }\n"
    "```\n"
    "\n"
    "No shell is involved. `{id}` is one whole argument, whatever the value contains. A command\n"
    "without a `{...}` for each parameter gets all of them as one JSON object on standard input.\n"
    "\n"
    "The provider `mcp` makes tools of those of an MCP server ([tool-mcp.md](tool-mcp.md)), which "
    "runs\n"
    "outside of the sandbox:\n"
    "\n"
    "```toml\n"
    "[[tools]]\n"
    "provider = \"mcp\"\n"
    "name = \"search\"\n"
    "command = [\"/usr/local/bin/search-server\", \"--stdio\"]\n"
    "```\n"
    "\n"
    "### Parameters\n"
    "\n"
    "Parameters are a table; their order in the file is the order of positional arguments. A\n"
    "parameter is a table of these keys, or just its type (`id = \"integer\"`):\n"
    "\n"
    "| key | meaning |\n"
    "|---|---|\n"
    "| `type` | `string`, `number`, `integer`, `boolean`, `array` or `object`; also R's words "
    "`numeric`, `character`, `logical`, `list` and `data.frame`. If it is missing: any value |\n"
    "| `description` | a line for the model |\n"
    "| `required` | `true` unless there is a default |\n"
    "| `default` | the value if the argument is missing |\n"
    "| `enum` | a list of the allowed values |\n"
    "\n"
    "The host checks every call against its parameters before the tool is started.\n"
    "\n"
    "## Approvals\n"
    "\n"
    "A call can wait for a yes of the host. The declaration of a tool says so for all of its "
    "calls\n"
    "(`approve = true`), or a rule does, for tools of any provider and of applications:\n"
    "\n"
    "```toml\n"
    "[[approve]]\n"
    "tool = \"delete_*\"\n"
    "\n"
    "[[approve]]\n"
    "tool = \"write_file\"\n"
    "when = { path = \"/etc/*\" }\n"
    "```\n"
    "\n"
    "`tool` is a pattern of names, and `when` has a pattern for each of some parameters. In a "
    "pattern\n"
    "`*` stands for any characters, `/` included, and `?` for one. A rule holds for a call when "
    "all of\n"
    "its patterns match: of a list one item is enough, and an object, which can hide its text, "
    "always\n"
    "matches. A rule without `when` holds for each call; what `when` says of a parameter that the "
    "tool\n"
    "does not have is ignored, so that a name that is misspelt lets no call pass.\n"
    "\n"
    "`lazaret run` asks at its terminal, an application decides in a function\n"
    "(`laz_engine_set_approver`), a client of `lazaret serve` by a message. Where nobody decides, "
    "the\n"
    "call is refused, as it is after `session.approval_timeout`.\n"
    "\n"
    "What is shown of a tool (`lazaret tools`, its declaration in a language, `help` in a "
    "session) says\n"
    "whether its calls wait: each one, or some, as their arguments are. The patterns are not "
    "shown,\n"
    "because code could keep clear of them. In JSON these are the members `approve` and "
    "`may_approve`.\n";

static void document_bounds(const struct schema_key *row)
{
    struct laz_buf bound = LAZ_BUF_INIT;

    if (!row->min)
        return;
    laz_schema_bound(&bound, row, row->min);
    printf(" At least %s.", laz_buf_text(&bound));
    laz_buf_fini(&bound);
}

static void document_row(const struct schema_key *row, size_t prefix)
{
    printf("| `%s` | %s | `%s` | %s", row->key + prefix + 1, laz_schema_type(row),
           row->default_value, row->help);
    document_bounds(row);
    printf(" |\n");
}

static void document_section(const struct schema_section *section)
{
    size_t prefix = strlen(section->name);
    bool any = false;

    const bool is_list =
        strcmp(section->name, "tools") == 0 || strcmp(section->name, "approve") == 0;
    printf(is_list ? "\n### [[%s]]\n\n%s\n" : "\n### [%s]\n\n%s\n", section->name, section->help);
    for (const struct schema_key *row = laz_schema; row->key; row++) {
        if (strncmp(row->key, section->name, prefix) != 0 || row->key[prefix] != '.')
            continue;
        if (!any)
            printf("\n| key | type | default | meaning |\n|---|---|---|---|\n");
        any = true;
        document_row(row, prefix);
    }
}

int main(void)
{
    fputs(head, stdout);
    for (const struct schema_section *row = laz_schema_sections; row->name; row++)
        document_section(row);
    fputs(tail, stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
