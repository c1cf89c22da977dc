/* SPDX-License-Identifier: MIT */
/* credential.c - a credential of the doctor's own, and a server that demands it.
 * Side: host.  Input trusted: no (what code in the box prints; its size is bounded).
 *
 * Code of an installed runtime asks the server by HTTPS: its language declares how.  The server is
 * another process of lazaret-proxy, with an authority of its own, which says whether the secret has
 * come.  Each finding has its control in the same session: what is added for one name is not for
 * another, what is refused below one path works below another, and the secret that code is not to
 * have is the one that the server has seen. */
#include "doctor/doctor_private.h"

#include "base/json.h"
#include "base/json_write.h"
#include "base/random.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/fd_passing.h"
#include "os/files.h"
#include "os/io.h"
#include "os/signals.h"
#include "os/sockets.h"
#include "os/spawner.h"
#include "os/trust.h"
#include "proxy/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREDENTIAL_START_MS 10000
#define CREDENTIAL_END_MS   1000
#define CREDENTIAL_HOST     "credential.doctor.test"
#define CREDENTIAL_OTHER    "other.doctor.test" /* has a placeholder, and so goes the same way */
#define CREDENTIAL_VARIABLE "DOCTOR_CREDENTIAL"
#define CREDENTIAL_URL      "{url}" /* in the code of a language */

struct credential_server {
    struct laz_process process;
    char *directory, *program, *file, *ca;
    char secret[41];
    int channel, listener;
    uint16_t port;
};

/* ---- the server ------------------------------------------------------------------------------ */

static int server_paths(struct credential_server *server, const struct laz_engine *engine,
                        struct laz_error *err)
{
    const char *slash = strrchr(engine->agent, '/');
    int rc = laz_random_name(server->secret, sizeof server->secret - 1, err);

    server->directory = laz_strdupf("%s/credential", engine->directory);
    server->program = laz_strdupf("%.*s/" LAZ_PROXY_PROGRAM,
                                  (int)(slash ? slash - engine->agent : 0), engine->agent);
    server->file = laz_strdupf("%s/credential/secret", engine->directory);
    server->ca = laz_strdupf("%s/credential/" PROXY_ANSWER_CA, engine->directory);
    return rc ? rc
           : server->directory && server->program && server->file && server->ca
               ? 0
               : laz_error_nomem(err);
}

static int server_spawn(struct credential_server *server, struct laz_engine *engine,
                        struct laz_error *err)
{
    static const char *const env[] = {NULL};
    const char *const argv[] = {server->program, PROXY_ANSWER, server->directory, NULL};
    int ends[2] = {-1, -1};

    if (laz_os_message_pair(ends) != 0)
        return laz_error_os(err, errno, "cannot create a pair of sockets");
    const struct laz_spawn_fd fds[] = {{ends[1], 0}, {2, 2}, {server->listener, 3}};
    const struct laz_spawn spawn = {LAZ_SPAWN_OWN(argv, env, fds), .death_signal = SIGKILL};
    int rc = laz_trust_file(server->program, err);
    if (!rc)
        rc = laz_spawner_spawn(engine->spawner, &spawn, &server->process, err);
    server->channel = ends[0];
    laz_os_close(&ends[1]);
    return rc;
}

/* Waits until it answers, and tells it what is to come. */
static int server_await(const struct credential_server *server, struct laz_error *err)
{
    char line[4096];
    enum proxy_note_type type = PROXY_NOTE_TYPES;
    struct proxy_note note;
    struct laz_buf text = LAZ_BUF_INIT;
    ssize_t n = laz_os_await(server->channel, CREDENTIAL_START_MS)
                    ? laz_os_read(server->channel, line, sizeof line)
                    : -1;

    if (n <= 0)
        return laz_error_set(err, LAZ_ESETUP, 0, LAZ_PROXY_PROGRAM " does not start");
    int rc = proxy_note_parse(line, (size_t)n, false, &type, &note, err);
    if (!rc && type != PROXY_READY)
        rc = laz_error_set(err, LAZ_ESETUP, 0, LAZ_PROXY_PROGRAM ": %s",
                           type == PROXY_FAILED ? note.text : "another note came first");
    proxy_note_fini(type, &note);
    if (rc)
        return rc;
    char *value = laz_strdupf("Bearer %s", server->secret);
    const struct proxy_note secret = {.text = value, .text_len = value ? strlen(value) : 0};
    if (value)
        proxy_note_make(PROXY_SECRET, &secret, &text);
    if (!value || text.failed)
        rc = laz_error_nomem(err);
    else if (laz_os_send(server->channel, text.data, text.len) != (ssize_t)text.len)
        rc = laz_error_set(err, LAZ_ESETUP, 0, LAZ_PROXY_PROGRAM " has ended");
    free(value);
    laz_buf_fini(&text);
    return rc;
}

static int server_start(struct credential_server *server, struct laz_engine *engine,
                        struct laz_error *err)
{
    int rc = laz_os_make_directory(server->directory, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);

    if (!rc)
        rc = laz_os_write_file(server->file, server->secret, strlen(server->secret), 0600, err);
    if (!rc)
        rc = laz_os_listen_loopback("127.0.0.1", &server->port, &server->listener, err);
    if (!rc)
        rc = laz_os_let_wait(server->listener, 16, err);
    if (!rc)
        rc = server_spawn(server, engine, err);
    return rc ? rc : server_await(server, err);
}

static void server_end(struct credential_server *server)
{
    laz_os_close(&server->channel); /* which ends it */
    laz_os_close(&server->listener);
    if (server->process.pid > 0 && !laz_process_wait(&server->process, CREDENTIAL_END_MS, NULL)) {
        laz_process_signal(&server->process, SIGKILL);
        (void)laz_process_wait(&server->process, LAZ_OS_FOREVER, NULL);
    }
    laz_process_close(&server->process);
    if (server->directory)
        laz_os_remove_tree(server->directory);
    free(server->directory);
    free(server->program);
    free(server->file);
    free(server->ca);
}

/* ---- the settings ---------------------------------------------------------------------------- */

static void settings_text(struct laz_buf *text, const char *before, const char *value)
{
    laz_buf_puts(text, before);
    laz_json_quote(text, value, strlen(value));
}

static void settings_host(struct laz_buf *text, const struct credential_server *server,
                          const char *name, const char *rest)
{
    laz_buf_printf(text, "{host = \"%s:%u\", ", name, server->port);
    settings_text(text, "secret = {file = ", server->file);
    settings_text(text, "}, ca = ", server->ca);
    laz_buf_printf(text, ", %s}", rest);
}

/* The value of network.credential: a secret that is added below one path, and one that code would
 * have to send by its placeholder. */
static void settings_credentials(const struct credential_server *server, struct laz_buf *text)
{
    laz_buf_puts(text, "[");
    settings_host(text, server, CREDENTIAL_HOST,
                  "header = \"Authorization: Bearer {secret}\", paths = [\"/allowed/*\"]");
    laz_buf_puts(text, ", ");
    settings_host(text, server, CREDENTIAL_OTHER,
                  "placeholder = {env = \"" CREDENTIAL_VARIABLE "\"}");
    laz_buf_puts(text, "]");
}

static int settings_open(struct laz_doctor *doctor, const struct doctor_backend *backend,
                         const struct credential_server *server, struct doctor_session *session,
                         struct laz_error *err)
{
    struct laz_buf allow = LAZ_BUF_INIT, hosts = LAZ_BUF_INIT, credentials = LAZ_BUF_INIT;

    laz_buf_printf(&allow,
                   "[\"https://" CREDENTIAL_HOST ":%u\", \"https://" CREDENTIAL_OTHER ":%u\"]",
                   server->port, server->port);
    laz_buf_puts(&hosts, "{\"" CREDENTIAL_HOST "\" = \"127.0.0.1\", \"" CREDENTIAL_OTHER
                         "\" = \"127.0.0.1\"}");
    settings_credentials(server, &credentials);
    const char *const pairs[] = {"sandbox.backend",
                                 backend->name,
                                 "network.allow",
                                 laz_buf_text(&allow),
                                 "network.hosts",
                                 laz_buf_text(&hosts),
                                 "network.credential",
                                 laz_buf_text(&credentials),
                                 NULL};
    const int rc = doctor_session_open(doctor, pairs, NULL, session, err);
    laz_buf_fini(&allow);
    laz_buf_fini(&hosts);
    laz_buf_fini(&credentials);
    return rc;
}

/* ---- trying ---------------------------------------------------------------------------------- */

/* What came of one request. */
struct credential_try {
    bool came, came_not, is_refused; /* by the host, which the result says */
    bool has_secret, has_variable;   /* in what code has printed */
    char why[160];
};

/* The code of a language, for one address. */
static void try_code(const char *form, const struct credential_server *server, const char *name,
                     const char *path, struct laz_buf *code)
{
    for (const char *at; (at = strstr(form, CREDENTIAL_URL));
         form = at + sizeof CREDENTIAL_URL - 1) {
        laz_buf_append(code, form, (size_t)(at - form));
        laz_buf_printf(code, "https://%s:%u%s", name, server->port, path);
    }
    laz_buf_puts(code, form);
}

static void try_judge(const struct credential_server *server, struct laz_result *result,
                      struct credential_try *tried)
{
    const char *error = laz_result_error(result), *piece;
    struct laz_buf text = LAZ_BUF_INIT;
    size_t len;
    int stream;

    for (size_t i = 0; (piece = laz_result_output(result, i, &stream, &len)); i++)
        laz_buf_append(&text, piece, len);
    const char *printed = laz_buf_text(&text);
    tried->came = strstr(printed, PROXY_CAME) != NULL;
    tried->came_not = strstr(printed, PROXY_CAME_NOT) != NULL;
    tried->has_secret = strstr(printed, server->secret) != NULL;
    tried->has_variable = strstr(printed, CREDENTIAL_VARIABLE) != NULL;
    for (size_t i = 0; i < laz_result_denials(result); i++) {
        const char *denial = laz_result_denial(result, i);
        struct laz_json *json = laz_json_parse(denial, strlen(denial), NULL);
        const char *what = laz_json_string(laz_json_get(json, "what"));
        tried->is_refused |= what && strcmp(what, "credential") == 0;
        laz_json_free(json);
    }
    snprintf(tried->why, sizeof tried->why, "%.150s",
             error && *error ? error
             : text.len      ? printed
                             : laz_verdict_name(laz_result_verdict(result)));
    laz_buf_fini(&text);
}

static int try_one(struct laz_session *session, const char *form,
                   const struct credential_server *server, const char *name, const char *path,
                   struct credential_try *tried, struct laz_error *err)
{
    const struct laz_execute_options options = {.size = sizeof options, .no_validate = 1};
    struct laz_result *result = NULL;
    struct laz_buf code = LAZ_BUF_INIT;

    try_code(form, server, name, path, &code);
    int rc = code.failed ? laz_error_nomem(err)
                         : laz_session_execute(session, laz_buf_text(&code), code.len, &options,
                                               &result, err);
    if (!rc && laz_result_verdict(result) == LAZ_VERDICT_CANCELLED)
        rc = laz_error_set(err, LAZ_ECANCELLED, 0, "cancelled");
    if (!rc)
        try_judge(server, result, tried);
    laz_result_free(result);
    laz_buf_fini(&code);
    return rc;
}

enum { TRY_ADDED, TRY_OTHER, TRY_REFUSED, TRIES };

const char *doctor_credential_wrong(bool came, bool other_came, bool is_refused, bool has_secret)
{
    return !came         ? "the secret is not added to a request"
           : other_came  ? "the secret goes to another host as well"
           : !is_refused ? "a request outside of `paths` is not refused"
           : has_secret  ? "code has the secret"
                         : NULL;
}

/* NULL: the credential works; else what does not, as a static text or one of `tries`. *answers: the
 * server was reached, so that another language has nothing to add. */
static const char *try_all(struct laz_session *session, const char *form,
                           const struct credential_server *server,
                           struct credential_try tries[TRIES], bool *answers, struct laz_error *err)
{
    static const struct {
        const char *name, *path;
    } rows[TRIES] = {
        [TRY_ADDED] = {CREDENTIAL_HOST, "/allowed/one"},
        [TRY_OTHER] = {CREDENTIAL_OTHER, "/allowed/one"},
        [TRY_REFUSED] = {CREDENTIAL_HOST, "/other"},
    };
    bool has_secret = false;

    *answers = false;
    for (size_t i = 0; i < TRIES; i++) {
        tries[i] = (struct credential_try){.why = ""};
        if (try_one(session, form, server, rows[i].name, rows[i].path, &tries[i], err))
            return err->text;
        has_secret |= tries[i].has_secret;
        if (!i && !tries[i].came && !tries[i].came_not)
            return tries[i].why;
        *answers = true;
    }
    /* what code sees of itself was printed, or its environment proves nothing */
    if (!tries[TRY_ADDED].has_variable)
        return "the variable of a placeholder is missing";
    if (!tries[TRY_OTHER].came_not && !tries[TRY_OTHER].came)
        return tries[TRY_OTHER].why;
    return doctor_credential_wrong(tries[TRY_ADDED].came, tries[TRY_OTHER].came,
                                   tries[TRY_REFUSED].is_refused && !tries[TRY_REFUSED].came &&
                                       !tries[TRY_REFUSED].came_not,
                                   has_secret);
}

/* Tries it in one language; *problem NULL: it works. */
static int try_runtime(struct laz_doctor *doctor, struct doctor_session *session,
                       const struct credential_server *server, const char *name, const char *form,
                       char **problem, bool *answers, struct laz_error *err)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = name};
    struct credential_try tries[TRIES];
    const char *wrong = NULL;
    int rc = laz_session_open(session->engine, &options, &session->session, err);

    *answers = false;
    if (rc)
        wrong = err->text;
    else
        wrong = try_all(session->session, form, server, tries, answers, err);
    rc = doctor_ended(doctor, err->code, err);
    if (rc != LAZ_ECANCELLED)
        rc = 0;
    if (!rc && wrong && !(*problem = laz_strdupf("%s: %s", name, wrong)))
        rc = laz_error_nomem(err);
    laz_session_free(session->session);
    session->session = NULL;
    return rc;
}

static const char *credential_form(const struct laz_doctor *doctor, const char *runtime)
{
    const struct laz_language *language = NULL;

    laz_registry_language(doctor->registry, runtime, &language, NULL);
    return language ? language->probe.web : NULL;
}

/* The language that is used where none is named comes first, then each that is installed, until one
 * reaches the server. */
static int credential_languages(struct laz_doctor *doctor, struct doctor_session *session,
                                const struct credential_server *server, struct laz_error *err)
{
    const char *usual = laz_registry_usual_name(doctor->registry, doctor->values);
    struct doctor_credential *found = &doctor->credential;
    bool answers = false;
    int rc = 0;

    for (size_t i = 0; i <= doctor->runtimes.n && !rc && !answers; i++) {
        const char *name = i ? doctor->runtimes.items[i - 1] : usual;
        const char *form =
            laz_strv_has(&doctor->runtimes, name) ? credential_form(doctor, name) : NULL;
        struct laz_error why = {0};
        char *problem = NULL;

        if (!form || (i && strcmp(name, usual) == 0))
            continue;
        if (doctor_may_begin(doctor, &why))
            problem = laz_strdup(why.text);
        else
            rc = try_runtime(doctor, session, server, name, form, &problem, &answers, &why);
        if (rc)
            *err = why;
        found->is_tried = true;
        if (!found->problem || answers) { /* that of the first, unless another one answers */
            free(found->problem);
            found->problem = problem;
        } else {
            free(problem);
        }
        found->runtime = name;
        answers |= !found->problem;
    }
    if (!rc && !found->is_tried)
        found->problem = laz_strdup("no installed runtime says how it asks a server by HTTPS");
    return rc;
}

/* Why there is nothing to try, as a new string; NULL: there is. */
static char *credential_missing(const struct laz_doctor *doctor,
                                const struct credential_server *server)
{
    struct laz_look look;

    if (laz_os_look(server->program, true, &look) != 0)
        return laz_strdup("this lazaret has no " LAZ_PROXY_PROGRAM
                          " (it was built without GnuTLS)");
    if (doctor->chosen->list_problem)
        return laz_strdup("it needs a network list, which does not work here");
    return NULL;
}

int doctor_credential_try(struct laz_doctor *doctor, struct laz_error *err)
{
    struct credential_server server = {.process = LAZ_PROCESS_INIT, .channel = -1, .listener = -1};
    struct doctor_credential *found = &doctor->credential;
    struct doctor_session session = DOCTOR_SESSION_INIT;
    struct laz_error why = {0};

    if (!doctor->chosen || !doctor->acts_are_tried)
        return 0;
    doctor->options.progress(doctor->options.user, doctor->chosen->name, "a credential");
    session.doctor = doctor;
    int rc = server_paths(&server, doctor->control.engine, err);
    found->is_known = !rc;
    if (!rc && !(found->problem = credential_missing(doctor, &server))) {
        rc = server_start(&server, doctor->control.engine, &why);
        if (!rc)
            rc = settings_open(doctor, doctor->chosen, &server, &session, &why);
        if (!rc)
            rc = credential_languages(doctor, &session, &server, &why);
        if (rc == LAZ_ECANCELLED || rc == LAZ_ENOMEM) {
            *err = why;
        } else if (rc) {
            found->is_tried = rc != LAZ_ETIMEOUT;
            found->problem = doctor_problem(&why);
            rc = found->problem ? 0 : laz_error_nomem(err);
        }
    }
    doctor_session_close(&session);
    server_end(&server);
    return rc;
}
