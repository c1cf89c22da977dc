/* SPDX-License-Identifier: MIT */
/* clients.c - the clients that an entry can be written for, and where their files are. */
#include "edit/edit.h"

#include "os/current_process.h"
#include "os/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS_TIMEOUT_S 1800 /* code may run long; the client's own limit is a minute */

const struct laz_edit_client laz_edit_clients[] = {
    {"claude", "Claude Code", LAZ_EDIT_JSON, "mcpServers", NULL, 0, true},
    {"claude-desktop", "Claude Desktop", LAZ_EDIT_JSON, "mcpServers", NULL, 0, false},
    {"codex", "Codex", LAZ_EDIT_TOML, "mcp_servers", NULL, CLIENTS_TIMEOUT_S, false},
    {"cursor", "Cursor", LAZ_EDIT_JSON, "mcpServers", NULL, 0, false},
    {"vscode", "Visual Studio Code", LAZ_EDIT_JSON, "servers", "stdio", 0, true},
    {.name = NULL},
};

/* Of the rows of a client the first one counts whose platform fits and whose variable is an
 * absolute path. */
static const struct {
    const char *client, *platform; /* platform: NULL for any */
    const char *variable;          /* a directory; NULL: the working directory */
    const char *below;
} clients_places[] = {
    {"claude", NULL, NULL, ".mcp.json"},
    {"claude-desktop", "linux", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"},
    {"claude-desktop", "linux", "HOME", ".config/Claude/claude_desktop_config.json"},
    {"claude-desktop", "darwin", "HOME",
     "Library/Application Support/Claude/claude_desktop_config.json"},
    {"claude-desktop", "windows", "APPDATA", "Claude/claude_desktop_config.json"},
    {"codex", NULL, "CODEX_HOME", "config.toml"},
    {"codex", "windows", "USERPROFILE", ".codex/config.toml"},
    {"codex", NULL, "HOME", ".codex/config.toml"},
    {"cursor", "windows", "USERPROFILE", ".cursor/mcp.json"},
    {"cursor", NULL, "HOME", ".cursor/mcp.json"},
    {"vscode", NULL, NULL, ".vscode/mcp.json"},
};

#define N_PLACES (sizeof clients_places / sizeof *clients_places)

const struct laz_edit_client *laz_edit_client(const char *name)
{
    for (const struct laz_edit_client *client = laz_edit_clients; client->name; client++)
        if (strcmp(client->name, name) == 0)
            return client;
    return NULL;
}

int laz_edit_place(const struct laz_edit_client *client, const char *platform, char **path,
                   struct laz_error *err)
{
    const char *missing = "HOME";

    *path = NULL;
    for (size_t i = 0; i < N_PLACES; i++) {
        const char *variable = clients_places[i].variable;
        const char *on = clients_places[i].platform;
        if (strcmp(clients_places[i].client, client->name) != 0 ||
            (on && strcmp(on, platform) != 0))
            continue;
        char *here = variable ? NULL : laz_os_real_path(".");
        const char *directory = variable ? laz_os_getenv(variable) : here;
        if (!variable && !here)
            return laz_error_os(err, errno, "the working directory cannot be used");
        if (laz_os_is_absolute(directory))
            *path = laz_strdupf("%s/%s", strcmp(directory, "/") == 0 ? "" : directory,
                                clients_places[i].below);
        else
            missing = variable;
        const bool is_found = laz_os_is_absolute(directory);
        free(here);
        if (is_found)
            return *path ? 0 : laz_error_nomem(err);
    }
    return laz_error_set(
        err, LAZ_ENOENT, 0,
        "where %s keeps its configuration is not known: the variable %s is not set "
        "to an absolute path; name the file",
        client->title, missing);
}
