/* SPDX-License-Identifier: MIT */
/* cluster_init.c - lazaret cluster init: configuration for a server of NATS and for those who use
 * it.
 *
 * Each tenant has an account of its own, with its workers and its callers: accounts of NATS have
 * subjects of their own, so that a tenant hears nothing of another one and reaches nothing of it.
 * With --shared there is one account, in which permissions alone keep callers apart; it is for
 * workers that serve several tenants.  docs/design-scale.md has the reasons, and what was tried. */
#include "cli/cli.h"

#include "base/random.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/users.h"
#include "token/token.h"

#include <stdlib.h>
#include <string.h>

#define INIT_URL     "tls://localhost:4222"
#define INIT_SECRET  32
#define INIT_TENANTS 1000
#define INIT_NAME    48 /* bytes of a tenant's name: "-caller" follows */

enum init_role { INIT_WORKER, INIT_CALLER, INIT_OPERATOR };

struct init_file {
    char *path;
    struct laz_buf text;
    unsigned mode;
};

struct init {
    const char *url;
    char *directory; /* absolute */
    bool is_tls, is_shared;
    char **tenants;
    size_t n_tenants;
    struct init_file *files;
    size_t n_files;
};

/* ---- what was asked for ---------------------------------------------------------------------- */

static bool init_is_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t len = strlen(name);

    return len >= 1 && len <= INIT_NAME && strspn(name, letters) == len &&
           strcmp(name, "operators") != 0 && strcmp(name, "shared") != 0;
}

/* tls://HOST:PORT, or nats://HOST:PORT: the port, 0 if it is none. */
static unsigned long init_port(const char *url)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_[]:";
    const size_t scheme = strncmp(url, "tls://", 6) == 0    ? 6
                          : strncmp(url, "nats://", 7) == 0 ? 7
                                                            : 0;
    const char *colon = strrchr(url, ':');
    uint64_t port;

    if (!scheme || strspn(url + scheme, letters) != strlen(url + scheme) ||
        colon < url + scheme + 1 || !cli_number(colon + 1, 65535, &port))
        return 0;
    return (unsigned long)port;
}

static int init_check(const struct cli *cli, struct init *init, struct laz_error *err)
{
    static char usual_name[] = "main", *usual[] = {usual_name};
    const struct laz_strv *tenants = &cli->tenants;

    init->url = cli->url ? cli->url : INIT_URL;
    init->is_tls = strncmp(init->url, "tls://", 6) == 0;
    init->is_shared = cli->shared;
    init->tenants = tenants->n ? tenants->items : usual;
    init->n_tenants = tenants->n ? tenants->n : 1;
    if (!init_port(init->url))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "--url: '%.100s' is neither tls://HOST:PORT nor nats://HOST:PORT",
                             init->url);
    if (init->n_tenants > INIT_TENANTS)
        return laz_error_set(err, LAZ_EINVAL, 0, "more than %d tenants", INIT_TENANTS);
    for (size_t i = 0; i < init->n_tenants; i++) {
        if (!init_is_name(init->tenants[i]))
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "--tenant: '%.100s' is not a name: 1 to %d letters, digits, '_' "
                                 "and '-', and neither \"operators\" nor \"shared\"",
                                 init->tenants[i], INIT_NAME);
        for (size_t j = 0; j < i; j++)
            if (strcmp(init->tenants[i], init->tenants[j]) == 0)
                return laz_error_set(err, LAZ_EINVAL, 0, "--tenant: '%s' twice", init->tenants[i]);
    }
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A further one, which is written when all are there. NULL: out of memory. */
static struct laz_buf *init_file(struct init *init, const char *name, const char *end,
                                 unsigned mode)
{
    struct init_file *files = realloc(init->files, (init->n_files + 1) * sizeof *files);

    if (!files)
        return NULL;
    init->files = files;
    files[init->n_files] = (struct init_file){
        .path = laz_strdupf("%s/%s%s", init->directory, name, end), .mode = mode};
    return files[init->n_files].path ? &init->files[init->n_files++].text : NULL;
}

static int init_write(struct init *init, struct laz_error *err)
{
    struct laz_look look;

    for (size_t i = 0; i < init->n_files; i++) {
        if (init->files[i].text.failed)
            return laz_error_nomem(err);
        if (laz_os_look(init->files[i].path, false, &look) == 0)
            return laz_error_set(err, LAZ_EREFUSED, 0, "%s: it is there already",
                                 init->files[i].path);
    }
    for (size_t i = 0; i < init->n_files; i++) {
        const struct laz_buf *text = &init->files[i].text;
        const int rc =
            laz_os_write_file(init->files[i].path, text->data, text->len, init->files[i].mode, err);
        if (rc)
            return rc;
    }
    return 0;
}

static void init_fini(struct init *init)
{
    for (size_t i = 0; i < init->n_files; i++) {
        if (init->files[i].text.data)
            laz_wipe(init->files[i].text.data, init->files[i].text.len);
        laz_buf_fini(&init->files[i].text);
        free(init->files[i].path);
    }
    free(init->files);
    free(init->directory);
}

/* The directory, made if it is missing. Its path stands between quotes in the files. */
static int init_directory(struct init *init, const char *directory, struct laz_error *err)
{
    struct laz_look look;
    int rc = 0;

    if (laz_os_look(directory, true, &look) != 0)
        rc = laz_os_make_directory(directory, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);
    if (rc)
        return rc;
    init->directory = laz_os_real_path(directory);
    if (!init->directory)
        return laz_error_nomem(err);
    for (const char *at = init->directory; *at; at++)
        if ((unsigned char)*at < ' ' || strchr("\"'\\$", *at))
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "%s: a path with quotes, backslashes or dollars cannot stand in a "
                                 "configuration",
                                 init->directory);
    return 0;
}

/* ---- users ----------------------------------------------------------------------------------- */

/* What lazaret is told to be this user of the server. */
static void init_fragment(const struct init *init, struct laz_buf *text, enum init_role role,
                          const char *tenant, const char *user, const char *password)
{
    static const char *const heads[] = {"lazaret worker",
                                        "callers: lazaret run, serve, mcp, connect cluster",
                                        "operators: lazaret cluster"};

    laz_buf_printf(text, "# Of lazaret cluster init, for %s. It has a password.\n", heads[role]);
    if (role == INIT_WORKER)
        laz_buf_printf(text, "[serve]\ntoken_keys = \"%s/token.key.pub\"\n\n", init->directory);
    if (role == INIT_CALLER)
        laz_buf_puts(text, "[session]\nwhere = \"cluster\"\n\n");
    laz_buf_puts(text, "[cluster]\ncarrier = \"nats\"\n");
    if (role == INIT_WORKER && tenant)
        laz_buf_printf(text, "tenant = \"%s\"\n", tenant);
    if (role == INIT_CALLER)
        laz_buf_printf(text, "caller = \"%s\"\ntoken = \"%s/%s.token\"\n", user, init->directory,
                       user);
    laz_buf_printf(text, "\n[cluster.nats]\nurl = \"%s\"\nuser = \"%s\"\npassword = \"%s\"\n",
                   init->url, user, password);
    if (init->is_tls)
        laz_buf_printf(text, "ca = \"%s/ca.pem\"\n", init->directory);
}

static void init_permissions(struct laz_buf *conf, enum init_role role, const char *user)
{
    switch (role) {
    case INIT_WORKER:
        laz_buf_puts(conf, "        publish: { allow: ['lz.1.c.>', 'lz.1.w.*.hb'] }\n"
                           "        subscribe: { allow: ['lz.1.open.*', 'lz.1.s.*.in', "
                           "'lz.1.w.*.ctl'] }\n");
        return;
    case INIT_CALLER:
        laz_buf_printf(conf,
                       "        publish: { allow: ['lz.1.open.*', 'lz.1.s.*.in'] }\n"
                       "        subscribe: { allow: ['lz.1.c.%s.>', 'lz.1.w.*.hb'], deny: "
                       "['_INBOX.>'] }\n",
                       user);
        return;
    case INIT_OPERATOR:
        laz_buf_puts(conf, "        publish: { allow: ['lz.1.w.*.ctl'] }\n"
                           "        subscribe: { allow: ['lz.1.w.>'] }\n");
        return;
    }
}

/* A user of the server, and the file for it. `tenant` NULL: of all of them. */
static int init_user(struct init *init, size_t conf_at, enum init_role role, const char *tenant,
                     struct laz_error *err)
{
    static const char *const roles[] = {"worker", "caller", "operator"};
    char password[INIT_SECRET + 1], user[INIT_NAME + 16] = "";
    int rc = laz_random_name(password, INIT_SECRET, err);

    if (tenant)
        snprintf(user, sizeof user, "%s-", tenant);
    strcat(user, roles[role]);
    struct laz_buf *text = rc ? NULL : init_file(init, user, ".toml", 0600);
    if (!rc && !text)
        rc = laz_error_nomem(err);
    if (rc)
        return rc;
    init_fragment(init, text, role, tenant, user, password);
    struct laz_buf *conf = &init->files[conf_at].text;
    laz_buf_printf(conf, "      { user: '%s', password: '%s', permissions: {\n", user, password);
    init_permissions(conf, role, user);
    laz_buf_puts(conf, "      } }\n");
    laz_wipe(password, sizeof password);
    return 0;
}

/* ---- the server ------------------------------------------------------------------------------ */

static void init_head(const struct init *init, struct laz_buf *conf)
{
    laz_buf_printf(conf,
                   "# Of lazaret cluster init, for nats-server 2.9 or later. It has passwords.\n"
                   "port: %lu\nmax_payload: 1MB\n",
                   init_port(init->url));
    if (init->is_tls)
        laz_buf_printf(conf,
                       "tls {\n  cert_file: '%s/server.pem'\n  key_file: '%s/server.key'\n"
                       "  timeout: 5\n}\n",
                       init->directory, init->directory);
    else
        laz_buf_puts(conf, "host: 127.0.0.1\n");
    laz_buf_puts(conf, "accounts {\n");
}

/* Operators hear of the workers of all accounts and are heard by them. It is by streams: accounts
 * of which several have the same subject cannot be asked by one service. */
static void init_streams(struct laz_buf *conf)
{
    laz_buf_puts(conf,
                 "    ]\n"
                 "    exports: [ { stream: 'lz.1.w.*.hb', accounts: ['operators'] } ]\n"
                 "    imports: [ { stream: { account: 'operators', subject: 'lz.1.w.*.ctl' } } "
                 "]\n  }\n");
}

static int init_accounts(struct init *init, struct laz_error *err)
{
    const size_t at = 0;
    int rc = 0;

    if (init->is_shared) {
        laz_buf_puts(&init->files[at].text, "  'shared': {\n    users: [\n");
        rc = init_user(init, at, INIT_WORKER, NULL, err);
    }
    for (size_t i = 0; !rc && i < init->n_tenants; i++) {
        if (!init->is_shared) {
            laz_buf_printf(&init->files[at].text, "  '%s': {\n    users: [\n", init->tenants[i]);
            rc = init_user(init, at, INIT_WORKER, init->tenants[i], err);
        }
        if (!rc)
            rc = init_user(init, at, INIT_CALLER, init->tenants[i], err);
        if (!init->is_shared)
            init_streams(&init->files[at].text);
    }
    if (init->is_shared)
        init_streams(&init->files[at].text);
    laz_buf_puts(&init->files[at].text, "  'operators': {\n    users: [\n");
    if (!rc)
        rc = init_user(init, at, INIT_OPERATOR, NULL, err);
    struct laz_buf *conf = &init->files[at].text;
    laz_buf_puts(conf, "    ]\n    exports: [ { stream: 'lz.1.w.*.ctl' } ]\n    imports: [\n");
    for (size_t i = 0; i < (init->is_shared ? 1 : init->n_tenants); i++)
        laz_buf_printf(conf, "      { stream: { account: '%s', subject: 'lz.1.w.*.hb' } }\n",
                       init->is_shared ? "shared" : init->tenants[i]);
    laz_buf_puts(conf, "    ]\n  }\n}\n");
    return rc;
}

/* Keys for tokens of callers, by which workers know them. */
static int init_keys(struct init *init, struct laz_error *err)
{
    struct laz_key key = {{0}}, public_key;
    int rc = laz_key_new(&key, err);

    if (!rc)
        rc = laz_key_public(&key, &public_key, err);
    struct laz_buf *file = rc ? NULL : init_file(init, "token.key", "", 0600);
    if (file)
        laz_key_write(&key, true, file);
    if (file && (file = init_file(init, "token.key", ".pub", 0644)))
        laz_key_write(&public_key, false, file);
    laz_wipe(&key, sizeof key);
    return rc ? rc : file ? 0 : laz_error_nomem(err);
}

static void init_say(struct cli *cli, const struct init *init)
{
    if (cli->quiet)
        return;
    cli_say(cli,
            "%s has nats-server.conf, a file of lazaret's configuration for each role, and "
            "token.key, which signs tokens",
            init->directory);
    cli_say(cli, "the server of the bus: nats-server -c %s/nats-server.conf", init->directory);
    if (init->is_tls)
        cli_say(cli, "put server.pem, server.key and ca.pem there before the server is started");
    for (size_t i = 0; i < init->n_tenants; i++)
        cli_say(cli,
                "a token of a caller: umask 077; lazaret token %s.caller --sign-with "
                "%s/token.key >%s/%s-caller.token",
                init->tenants[i], init->directory, init->directory, init->tenants[i]);
}

int cli_cluster_init(struct cli *cli)
{
    struct init init = {.url = NULL};
    struct laz_error err = {0};
    int rc = init_check(cli, &init, &err);

    if (cli->json)
        return cli_refuse_json(cli);
    if (!rc)
        rc = init_directory(&init, cli->operands[1], &err);
    if (!rc && !init_file(&init, "nats-server", ".conf", 0600))
        rc = laz_error_nomem(&err);
    if (!rc) {
        init_head(&init, &init.files[0].text);
        rc = init_accounts(&init, &err);
    }
    if (!rc)
        rc = init_keys(&init, &err);
    if (!rc)
        rc = init_write(&init, &err);
    if (!rc)
        init_say(cli, &init);
    init_fini(&init);
    return rc ? cli_fail(cli, &err) : CLI_OK;
}
