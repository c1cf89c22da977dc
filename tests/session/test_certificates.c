/* SPDX-License-Identifier: MIT */
/* test_certificates.c - programs in a box accept the authority of its engine, as they are: by their
 * variables, and without those by what they find at the usual paths.
 *
 * The server is a thread of the test, on the host's loopback, which code knows as api.example.test,
 * with a certificate of the authority.  In a box without the trust directory each program refuses
 * it. */
#include "live.h"

#include "engine/engine.h"
#include "os/directories.h"
#include "os/files.h"
#include "proxy/authority.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define SECRET   "secret-of-the-test"
#define HEADER   "\r\nAuthorization: Bearer " SECRET "\r\n"

static char base[] = "/tmp/laz-test-certificates-XXXXXX"; /* removed by main */
static char ca[sizeof base + 16];
static struct proxy_authority *authority;
static struct proxy_leaf *leaf;
static int server = -1;
static unsigned port;

/* ---- the server ------------------------------------------------------------------------------ */

/* Enough of a repository for `git ls-remote`; "hello" for all other paths. */
static void answer(gnutls_session_t tls, const char *request)
{
    const bool is_refs = strstr(request, "/info/refs") != NULL;
    const bool has_secret = strstr(request, HEADER) != NULL;
    const char *body = !has_secret ? "no secret\n"
                       : is_refs   ? "0123456789012345678901234567890123456789\trefs/heads/main\n"
                       : strstr(request, "/HEAD HTTP") ? "ref: refs/heads/main\n"
                                                       : "hello\n";
    char text[512];
    const int len =
        snprintf(text, sizeof text,
                 "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                 "Connection: close\r\n\r\n%s",
                 strlen(body), body);

    (void)gnutls_record_send(tls, text, (size_t)len);
}

static void *serve_one(void *user)
{
    const int fd = (int)(intptr_t)user;
    char request[8192] = "";
    size_t len = 0;
    ssize_t n = 1;
    gnutls_session_t tls;
    int failed;

    gnutls_init(&tls, GNUTLS_SERVER | GNUTLS_NO_SIGNAL);
    gnutls_set_default_priority(tls);
    gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE, leaf->x509);
    gnutls_transport_set_int(tls, fd);
    do
        failed = gnutls_handshake(tls);
    while (failed < 0 && !gnutls_error_is_fatal(failed));
    while (!failed && n > 0 && !strstr(request, "\r\n\r\n") && len < sizeof request - 1) {
        n = gnutls_record_recv(tls, request + len, sizeof request - 1 - len);
        len += n > 0 ? (size_t)n : 0;
        request[len] = '\0';
    }
    if (!failed && n > 0)
        answer(tls, request);
    if (!failed)
        (void)gnutls_bye(tls, GNUTLS_SHUT_WR);
    gnutls_deinit(tls);
    close(fd);
    return NULL;
}

static void *serve(void *user)
{
    pthread_t thread;

    (void)user;
    for (int fd; (fd = accept(server, NULL, NULL)) >= 0;)
        if (pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd) == 0)
            pthread_detach(thread);
        else
            close(fd);
    return NULL;
}

static bool server_begin(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    pthread_t thread;

    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || bind(server, (struct sockaddr *)&address, len) || listen(server, 16) ||
        getsockname(server, (struct sockaddr *)&address, &len) ||
        pthread_create(&thread, NULL, serve, NULL))
        return false;
    port = ntohs(address.sin_port);
    return pthread_detach(thread) == 0;
}

static bool world_begin(void)
{
    struct laz_error err = {0};

    if (!mkdtemp(base) || setenv("LAZ_TEST_SECRET", SECRET, 1))
        return false;
    snprintf(ca, sizeof ca, "%s/ca.pem", base);
    if (proxy_authority_new(&authority, &err) ||
        proxy_authority_leaf(authority, "api.example.test", &leaf, &err) ||
        laz_os_write_file(ca, proxy_authority_pem(authority),
                          strlen(proxy_authority_pem(authority)), 0644, &err)) {
        printf("%s\n", err.text);
        return false;
    }
    return server_begin();
}

/* ---- programs -------------------------------------------------------------------------------- */

#define PYTHON "/usr/bin/python3 -c '"
#define READ   "print(r.read().decode(), end=\"\")"
#define REF    "0123456789012345678901234567890123456789"
#define BARE_R "Sys.unsetenv(c(\"SSL_CERT_FILE\", \"CURL_CA_BUNDLE\"))\n"

/* $URL is the server's, $BARE a command without variables of certificates before the program. */
static const struct program {
    const char *name, *needs; /* a condition of the shell: is it installed? */
    const char *code, *prints;
    const char *language; /* NULL: the shell */
} programs[] = {
    {"curl", "command -v curl", "curl -sS $URL/", "hello\n", NULL},
    {"curl, without variables", "command -v curl", "$BARE curl -sS $URL/", "hello\n", NULL},
    {"wget", "command -v wget", "wget -qO- $URL/", "hello\n", NULL},
    {"wget, without variables", "command -v wget", "$BARE wget -qO- $URL/", "hello\n", NULL},
    {"git", "command -v git", "git ls-remote $URL/some.git",
     REF "\tHEAD\n" REF "\trefs/heads/main\n", NULL},
    {"git, without variables", "command -v git", "$BARE git ls-remote $URL/some.git",
     REF "\tHEAD\n" REF "\trefs/heads/main\n", NULL},
    {"openssl, strictly", "command -v openssl",
     "echo | openssl s_client -connect ${URL#https://} -servername api.example.test -x509_strict "
     "-verify_hostname api.example.test -verify_return_error >out 2>&1 && echo hello",
     "hello\n", NULL},
    {"openssl, by the directory", "command -v openssl",
     "echo | $BARE openssl s_client -connect ${URL#https://} -servername api.example.test "
     "-no-CAfile -CApath /etc/ssl/certs -verify_return_error >out 2>&1 && echo hello",
     "hello\n", NULL},
    {"gnutls-cli", "command -v gnutls-cli",
     "echo | gnutls-cli --port ${URL##*:} api.example.test >out 2>&1 && echo hello", "hello\n",
     NULL},
    {"Python", "/usr/bin/python3 -c 'import ssl'",
     "import os, urllib.request\nr = urllib.request.urlopen(os.environ[\"URL\"])\n" READ, "hello\n",
     "python"},
    {"urllib, strictly and without variables", "/usr/bin/python3 -c 'import ssl'",
     "$BARE " PYTHON "import os, ssl, urllib.request\nc = ssl.create_default_context()\n"
     "c.verify_flags |= ssl.VERIFY_X509_STRICT\n"
     "r = urllib.request.urlopen(os.environ[\"URL\"], context=c)\n" READ "'",
     "hello\n", NULL},
    {"requests", "/usr/bin/python3 -c 'import requests'",
     PYTHON "import os, requests\nprint(requests.get(os.environ[\"URL\"]).text, end=\"\")'",
     "hello\n", NULL},
    {"httpx", "/usr/bin/python3 -c 'import httpx'",
     PYTHON "import os, httpx\nprint(httpx.get(os.environ[\"URL\"]).text, end=\"\")'", "hello\n",
     NULL},
    {"aiohttp", "/usr/bin/python3 -c 'import aiohttp'",
     PYTHON "import os, aiohttp, asyncio\nasync def f():\n async with aiohttp.ClientSession() as "
            "s:\n  "
            "async with s.get(os.environ[\"URL\"]) as r: print(await r.text(), "
            "end=\"\")\nasyncio.run(f())'",
     "hello\n", NULL},
    {"pip", "/usr/bin/python3 -c 'import pip'",
     PYTHON "import os\nfrom pip._internal.network.session import PipSession\n"
            "print(PipSession().get(os.environ[\"URL\"]).text, end=\"\")'",
     "hello\n", NULL},
    {"fetch of Node.js", "command -v node",
     "node -e 'fetch(process.env.URL).then(r => r.text()).then(t => process.stdout.write(t))'",
     "hello\n", NULL},
    {"https of Node.js", "command -v node",
     "node -e 'require(\"https\").get(process.env.URL, r => r.pipe(process.stdout))'", "hello\n",
     NULL},
    {"fetch of the runtime javascript", "true",
     "(async () => { console.log((await (await fetch(process.env.URL)).text()).trim()); })();",
     "hello\n", "javascript"},
    {"R, url", "command -v Rscript", "cat(readLines(url(Sys.getenv(\"URL\"))), sep = \"\\n\")",
     "hello\n", "r"},
    {"R, download.file, without variables", "command -v Rscript",
     BARE_R "download.file(Sys.getenv(\"URL\"), \"file\", quiet = TRUE)\n"
            "cat(readLines(\"file\"), sep = \"\\n\")",
     "hello\n", "r"},
    {"R, curl, without variables", "Rscript -e 'loadNamespace(\"curl\")'",
     BARE_R "cat(rawToChar(curl::curl_fetch_memory(Sys.getenv(\"URL\"))$content))", "hello\n", "r"},
    {"R, httr2", "Rscript -e 'loadNamespace(\"httr2\")'",
     "cat(httr2::resp_body_string(httr2::req_perform(httr2::request(Sys.getenv(\"URL\")))))",
     "hello\n", "r"},
    {"Perl, HTTP::Tiny", "perl -MIO::Socket::SSL -e 1",
     "perl -MHTTP::Tiny -e 'print HTTP::Tiny->new(verify_SSL => 1)->get($ENV{URL})->{content}'",
     "hello\n", NULL},
    {"Ruby", "ruby -ropenssl -e 1", "ruby -rnet/http -e 'print Net::HTTP.get(URI(ENV[\"URL\"]))'",
     "hello\n", NULL},
    {"Java", "command -v java && command -v javac",
     "cat >A.java <<'E'\n"
     "public class A {\n"
     "    public static void main(String[] words) throws Exception {\n"
     "        System.out.write(new "
     "java.net.URL(System.getenv(\"URL\")).openStream().readAllBytes());\n"
     "        System.out.flush();\n"
     "    }\n"
     "}\n"
     "E\n"
     "$BARE java -XX:TieredStopAtLevel=1 A.java",
     "hello\n", NULL},
};

static struct laz_engine *certificates_engine(bool has_credential, const char *more)
{
    char *credential = laz_strdupf(";network.credential=[{host=\"api.example.test:%u\",ca=\"%s\","
                                   "header=\"Authorization: Bearer {secret}\","
                                   "secret={env=\"LAZ_TEST_SECRET\"},"
                                   "placeholder={env=\"LAZ_TEST_TOKEN\"}}]",
                                   port, ca);
    char *text = laz_strdupf(
        "sandbox.backend=bwrap;network.hosts={\"api.example.test\"=\"127.0.0.1\"};network.allow=[{"
        "host=\"https://api.example.test:%u\",to=[\"127.0.0.1\"]}];limits.memory=\"3GiB\";"
        "limits.cpu=\"unlimited\";limits.nproc=500;"
        "env.set.URL=\"https://api.example.test:%u\"%s%s",
        port, port, has_credential ? credential : "", more);
    struct laz_engine *engine = text && credential ? test_engine(text) : NULL;

    free(credential);
    free(text);
    return engine;
}

#define BARE "BARE=\"env -i URL=$URL PATH=$PATH HOME=$HOME LANG=C.UTF-8\"\n"

static bool prints(struct laz_session *session, const struct program *program, bool is_expected)
{
    char *text = laz_strdupf("%s%s", program->language ? "" : BARE, program->code);
    struct laz_result *result = test_run(session, text, NULL);
    char *output = result ? test_output(result, LAZ_STDOUT) : NULL;
    char *errors = result ? test_output(result, LAZ_STDERR) : NULL;
    const bool is_so = output && strcmp(output, program->prints) == 0;

    if (is_so != is_expected)
        printf("\n    %s: %s%s", program->name, output ? output : "", errors ? errors : "");
    free(text);
    free(output);
    free(errors);
    laz_result_free(result);
    return is_so;
}

/* What scripts/check does not install is tried where it is found. */
static bool is_extra(const struct program *program)
{
    static const char *const names[] = {"gnutls-cli", "aiohttp", "Perl, HTTP::Tiny", "Ruby",
                                        "Java"};

    for (size_t i = 0; i < N(names); i++)
        if (strcmp(program->name, names[i]) == 0)
            return true;
    return false;
}

static bool is_installed(const struct program *program)
{
    char *command = laz_strdupf("{ %s; } >/dev/null 2>&1", program->needs);
    const int status = command ? system(command) : -1;
    char name[64];

    free(command);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(program->name, ",: "), program->name);
    if (status && is_extra(program))
        printf("\n    not tried: %s", program->name);
    return status == 0 || (!is_extra(program) && !unit_skip(name, program->name));
}

/* Each once with the trust directory, and once without, where none may accept the server. */
static void programs_accept_the_authority_where_it_is_shown(void)
{
    static const char *const languages_of[] = {"shell", "python", "r", "javascript"};
    struct laz_engine *engine = certificates_engine(true, ";sandbox.programs=\"any\"");
    struct laz_engine *without = certificates_engine(false, ";sandbox.programs=\"any\"");

    for (size_t l = 0; engine && without && l < N(languages_of); l++) {
        struct laz_session *session = test_session(engine, languages_of[l]);
        struct laz_session *other = session ? test_session(without, languages_of[l]) : NULL;
        for (size_t i = 0; session && other && i < N(programs); i++) {
            const char *language = programs[i].language ? programs[i].language : "shell";
            if (strcmp(language, languages_of[l]) != 0 || !is_installed(&programs[i]))
                continue;
            CU_ASSERT_TRUE(prints(session, &programs[i], true));
            CU_ASSERT_FALSE(prints(other, &programs[i], false));
        }
        laz_session_free(session);
        laz_session_free(other);
    }
    laz_engine_free(engine);
    laz_engine_free(without);
}

/* The /etc of a box with listed programs is made by lazaret. */
static void a_box_with_listed_programs_shows_it(void)
{
    struct laz_engine *engine = certificates_engine(true, "");
    struct laz_session *session = test_session(engine, "shell");
    const struct program *const curl = &programs[1];
    const struct program file = {.name = "file",
                                 .code = "cmp /etc/ssl/certs/ca-certificates.crt $SSL_CERT_FILE && "
                                         "echo $SSL_CERT_FILE",
                                 .prints = "/run/lazaret/certificates.pem\n"};

    if (session && is_installed(curl)) {
        CU_ASSERT_TRUE(prints(session, curl, true));
        CU_ASSERT_TRUE(prints(session, &file, true));
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

/* What a box shows of it cannot be written, and its own code has no key. */
static void the_lists_cannot_be_changed(void)
{
    struct laz_engine *engine = certificates_engine(true, "");
    struct laz_session *session = test_session(engine, "shell");
    const struct program change = {
        .name = "change",
        .code = "for f in $SSL_CERT_FILE /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/x; do\n"
                "    { echo x >>$f; } 2>/dev/null || echo refused\n"
                "done",
        .prints = "refused\nrefused\nrefused\n"};

    if (session)
        CU_ASSERT_TRUE(prints(session, &change, true));
    laz_session_free(session);
    laz_engine_free(engine);
}

/* A session without credentials gets none of a template with them, and the other way. */
static void templates_are_of_sessions_with_the_same(void)
{
    const struct laz_credential_list none = {.size = sizeof none};
    struct laz_engine *engine = certificates_engine(true, ";pool.warm=\"template\"");
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua", .warm = 1};
    const char *const code = "os.getenv('SSL_CERT_FILE') or 'none'";

    for (int i = 0; engine && i < 4; i++) {
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        options.credentials = i % 2 ? NULL : &none;
        if (laz_session_open(engine, &options, &session, &err)) {
            CU_ASSERT_TRUE(unit_skip("lua", err.text));
            break;
        }
        test_expect(session, code, LAZ_VERDICT_OK,
                    i % 2 ? "\"/run/lazaret/certificates.pem\"" : "\"none\"");
        laz_session_free(session);
    }
    laz_engine_free(engine);
}

/* As after the program that had the authority was started anew. */
static void templates_are_of_the_present_authority(void)
{
    struct laz_engine *engine = certificates_engine(true, ";pool.warm=\"template\"");
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .warm = 1};
    struct laz_strv placeholders = LAZ_STRV_INIT;
    const struct laz_strv *own = NULL;

    for (int i = 0; engine && i < 3; i++) {
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        if (i == 1) { /* those of the settings are there */
            own = engine->boxes.placeholders;
            laz_strv_add(&placeholders, "LAZ_TEST_TOKEN=another");
            engine->boxes.placeholders = &placeholders;
        }
        if (laz_session_open(engine, &options, &session, &err)) {
            CU_ASSERT_TRUE(unit_skip("lua", err.text));
            break;
        }
        test_expect(session, "os.getenv('LAZ_TEST_TOKEN') == 'another'", LAZ_VERDICT_OK,
                    i ? "true" : "false");
        laz_session_free(session);
    }
    if (engine)
        engine->boxes.placeholders = own;
    laz_engine_free(engine);
    laz_strv_fini(&placeholders);
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(programs_accept_the_authority_where_it_is_shown),
        UNIT(a_box_with_listed_programs_shows_it),
        UNIT(the_lists_cannot_be_changed),
        UNIT(templates_are_of_sessions_with_the_same),
        UNIT(templates_are_of_the_present_authority),
        {0},
    };

    signal(SIGPIPE, SIG_IGN);
    const int failed = world_begin() ? unit_run("certificates", tests) : 1;
    proxy_leaf_drop(leaf);
    proxy_authority_free(authority);
    laz_os_remove_tree(base);
    return failed;
}
