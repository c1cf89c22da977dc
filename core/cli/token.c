/* SPDX-License-Identifier: MIT */
/* token.c - tokens, by which an operator lets others use a server of lazaret for a time.
 *
 * The private key never leaves the file that it is in; a token is printed, and kept nowhere. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/random.h"
#include "os/files.h"
#include "os/trust.h"
#include "token/token.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_EXPIRES_MS ((uint64_t)24 * 3600 * 1000)
#define TOKEN_MOST_MS    ((uint64_t)10 * 366 * 24 * 3600 * 1000)
#define TOKEN_FILE       ((size_t)64 << 10)
#define TOKEN_NEW_KEY    "new-key"

/* ---- keys ------------------------------------------------------------------------------------ */

static int token_write_key(const char *file, const struct laz_key *key, bool is_private,
                           struct laz_error *err)
{
    struct laz_buf pem = LAZ_BUF_INIT;

    laz_key_write(key, is_private, &pem);
    int rc = pem.failed ? laz_error_nomem(err)
                        : laz_os_write_file(file, pem.data, pem.len, is_private ? 0600 : 0644, err);
    if (pem.data)
        laz_wipe(pem.data, pem.len);
    laz_buf_fini(&pem);
    return rc;
}

static int token_new_key(struct cli *cli, const char *file)
{
    struct laz_key key = {{0}}, public_key;
    struct laz_error err = {0};
    char *public_file = laz_strdupf("%s.pub", file);
    int rc = public_file ? laz_key_new(&key, &err) : laz_error_nomem(&err);

    if (!rc)
        rc = laz_key_public(&key, &public_key, &err);
    if (!rc)
        rc = token_write_key(file, &key, true, &err);
    if (!rc)
        rc = token_write_key(public_file, &public_key, false, &err);
    laz_wipe(&key, sizeof key);
    if (!rc && !cli->quiet)
        cli_say(cli, "%s signs tokens, and stays with you; %s is for servers (serve.token_keys)",
                file, public_file);
    free(public_file);
    return rc ? cli_fail(cli, &err) : CLI_OK;
}

static int token_read_key(const char *file, struct laz_key *key, struct laz_error *err)
{
    struct laz_buf pem = LAZ_BUF_INIT;
    int rc = laz_trust_secret(file, TOKEN_FILE, &pem, err);

    if (!rc && (rc = laz_key_read(laz_buf_text(&pem), key, err)))
        laz_error_prefix(err, "%s: ", file);
    if (pem.data)
        laz_wipe(pem.data, pem.len);
    laz_buf_fini(&pem);
    return rc;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int token_number(const char *option, const char *text, uint64_t *number,
                        struct laz_error *err)
{
    if (!text || (cli_number(text, UINT32_MAX, number) && *number))
        return 0;
    return laz_error_set(err, LAZ_EINVAL, 0, "%s: '%.100s' is not a number from 1 on", option,
                         text);
}

static int token_claims(const struct cli *cli, struct laz_claims *claims, struct laz_error *err)
{
    const char *name = cli->operands[0];
    uint64_t expires_ms = TOKEN_EXPIRES_MS;

    if (!laz_identity_is_valid(name) || (cli->audience && !laz_identity_is_valid(cli->audience)))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "'%.100s' is not a name: 1 to %d letters, digits, '.', '_', '-' and "
                             "'@'",
                             laz_identity_is_valid(name) ? cli->audience : name, LAZ_IDENTITY_MAX);
    if (cli->expires && (!laz_settings_time(cli->expires, &expires_ms) || expires_ms < 1000 ||
                         expires_ms > TOKEN_MOST_MS))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "--expires: '%.100s' is not a time, such as 900, \"15m\" or \"30d\", "
                             "of 10 years at most",
                             cli->expires);
    if (cli->bytes &&
        (!laz_settings_size(cli->bytes, &claims->quota.bytes) || !claims->quota.bytes))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "--bytes: '%.100s' is not a size, such as 1024 or \"64MiB\"",
                             cli->bytes);
    int rc = token_number("--sessions", cli->sessions, &claims->quota.sessions, err);
    if (!rc)
        rc = token_number("--cpu-time", cli->cpu, &claims->quota.cpu_s, err);
    if (!rc)
        rc = token_number("--requests", cli->requests, &claims->quota.requests, err);
    memcpy(claims->subject, name, strlen(name) + 1);
    if (cli->audience)
        memcpy(claims->audience, cli->audience, strlen(cli->audience) + 1);
    claims->expires_s = laz_clock_unix_s() + (int64_t)(expires_ms / 1000);
    return rc ? rc : laz_random_name(claims->id, 16, err);
}

static int token_issue(struct cli *cli)
{
    struct laz_claims claims = {.expires_s = 0};
    struct laz_key key = {{0}};
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};
    int rc = token_claims(cli, &claims, &err);

    if (!rc && !cli->sign_with)
        rc = laz_error_set(&err, LAZ_EINVAL, 0,
                           "--sign-with FILE is needed: the private key, which lazaret token "
                           "new-key FILE makes");
    if (!rc)
        rc = token_read_key(cli->sign_with, &key, &err);
    if (!rc)
        rc = laz_token_make(&claims, &key, &text, &err);
    laz_wipe(&key, sizeof key);
    if (rc) {
        laz_buf_fini(&text);
        return cli_fail(cli, &err);
    }
    if (cli->json)
        return cli_answer_text(cli, "token", &text);
    laz_buf_putc(&text, '\n');
    cli_print(cli, &text);
    return CLI_OK;
}

int cli_token(struct cli *cli)
{
    if (cli->n_operands == 2 && strcmp(cli->operands[0], TOKEN_NEW_KEY) == 0)
        return token_new_key(cli, cli->operands[1]);
    if (cli->n_operands != 1 || strcmp(cli->operands[0], TOKEN_NEW_KEY) == 0)
        return cli_problem(cli, "usage: lazaret token NAME --sign-with FILE, or lazaret token "
                                "new-key FILE");
    return token_issue(cli);
}
