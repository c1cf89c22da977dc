/* SPDX-License-Identifier: MIT */
/* python.c - the runtime `python`: CPython 3.9 or later, embedded.
 * Side: box.  Input trusted: no.
 *
 * The interpreter runs in isolated mode: neither the environment nor the user's directories affect
 * it, no code of the host's packages runs before the session's own, and it writes no bytecode. It
 * is the one lazaret was built with, whatever python3 comes first in PATH. Its start-up time is
 * part of every session's, so nothing is imported here that the interpreter does not import itself.
 */
#include "py_runtime.h"

#include <lazaret/options.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The place of no_site in sys.flags, in every CPython so far; bootstrap.py checks it. */
#define PYTHON_NO_SITE 6

/* struct python_state is in py_runtime.h, because all files of the plugin use it. */

static const struct laz_option python_options[] = {
    LAZ_OPTION("path", LAZ_OPT_PATHS, "[]", "directories of modules, searched before Python's own"),
    {0},
};

static const char *const python_suffixes[] = {".py", NULL};
static const char *const python_env[] = {NULL};
static const char *const python_reserved_words[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    NULL,
};

static const struct laz_option_field python_fields[] = {{"path", LAZ_OPT_PATHS, 0}, {NULL, 0, 0}};

/* ---- the interpreter ------------------------------------------------------------------------ */

static PyStatus python_configure(PyConfig *config)
{
    static const struct {
        size_t offset;
        const char *text;
    } texts[] = {
        {offsetof(PyConfig, home), PYTHON_PREFIX},
        {offsetof(PyConfig, executable), py_executable},
        {offsetof(PyConfig, stdio_encoding), "utf-8"},
        {offsetof(PyConfig, stdio_errors), "surrogateescape"},
    };
    PyStatus status = PyStatus_Ok();

    config->site_import = 0; /* bootstrap.py does it */
    config->user_site_directory = 0;
    config->write_bytecode = 0;
    config->install_signal_handlers = 0;
    config->buffered_stdio = 1;
    config->configure_c_stdio = 1; /* on Windows this keeps bytes unchanged */
    config->pathconfig_warnings = 0;
    for (size_t i = 0; !PyStatus_Exception(status) && i < sizeof texts / sizeof *texts; i++)
        status = PyConfig_SetBytesString(
            config, (wchar_t **)(void *)((char *)config + texts[i].offset), texts[i].text);
    return status;
}

static const char *python_why(const PyStatus *status)
{
    return status->err_msg ? status->err_msg : "unknown error";
}

/* While sys.flags says that there is no `site`, its import does nothing; bootstrap.py goes on with
 * it. From then on the flags say what is true: subprocesses of multiprocessing get those of their
 * parent, and would have no packages. No code has seen the flags yet. */
static int python_import_site(struct laz_error *err)
{
    PyObject *site = PyImport_ImportModule("site");
    PyObject *flags = PySys_GetObject("flags"); /* borrowed */
    PyObject *no = site && flags ? PyLong_FromLong(0) : NULL;
    int rc = no ? 0 : py_boot_error(err, LAZ_ESETUP, "its module `site` cannot be imported");

    if (no)
        PyStructSequence_SetItem(flags, PYTHON_NO_SITE, no); /* which takes it */
    Py_XDECREF(site);
    return rc;
}

static int python_initialize(struct laz_error *err)
{
    PyPreConfig before;
    PyConfig config;
    PyStatus status;

    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    status = Py_PreInitialize(&before);
    if (PyStatus_Exception(status))
        return laz_fail(err, LAZ_ESETUP, "python: the interpreter does not start: %s",
                        python_why(&status));
    PyConfig_InitIsolatedConfig(&config);
    status = python_configure(&config);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        return laz_fail(err, LAZ_ESETUP,
                        "python: the interpreter does not start (looked in " PYTHON_PREFIX "): %s",
                        python_why(&status));
    return python_import_site(err);
}

static void python_destroy(void *data);

/* ---- operations ----------------------------------------------------------------------------- */

static int python_create(const struct laz_agent_services *services, const char *options,
                         size_t options_len, void **result, struct laz_error *err)
{
    char **paths = NULL;
    size_t n_paths = 0;
    struct python_state *state = calloc(1, sizeof *state);
    int rc;

    if (!LAZ_HAS(services, switch_output)) {
        rc = laz_fail(err, LAZ_EPLUGIN,
                      "python: its start: lazaret-agent is older than this runtime");
        goto out;
    }
    rc = state ? laz_options_read(services->json, options, options_len, python_fields, &paths, err)
               : laz_fail(err, LAZ_ENOMEM, "python: its start: out of memory");
    if (rc)
        goto out;
    while (paths && paths[n_paths])
        n_paths++;
    state->services = services;
    state->json = services->json;
    state->pid = getpid();
    py_prepare_process();
    rc = python_initialize(err);
    if (rc)
        goto out;
    snprintf(state->version, sizeof state->version, "%.*s", (int)strcspn(Py_GetVersion(), " "),
             Py_GetVersion());
    rc = py_calls_init(state) == 0 ? py_boot_start(state, (const char *const *)paths, n_paths, err)
                                   : laz_fail(err, LAZ_ENOMEM, "python: its start: out of memory");
    state->main_thread = PyEval_SaveThread();
    if (rc)
        python_destroy(state);
    else
        *result = state;
    state = NULL;
out:
    laz_options_free(python_fields, &paths);
    free(state);
    return rc;
}

static const char *python_version(void *data)
{
    return ((struct python_state *)data)->version;
}

/* Runs the exit functions that the code registered. The interpreter itself is not finalised,
 * because that would wait for threads. */
static void python_destroy(void *data)
{
    struct python_state *state = data;

    if (!state)
        return;
    if (state->main_thread)
        PyEval_RestoreThread(state->main_thread);
    const bool ends = state->boot && getpid() == state->pid;
    py_template_fini(state);
    PyErr_Clear();
    py_flush(state);
    py_eval_fini(state);
    if (!ends) {
        py_boot_fini(state);
        return;
    }
    /* Waits for the threads of the code, runs its exit functions, flushes and closes its files. All
     * of them may call tools, which are therefore not freed, nor is what their errors need. */
    Py_CLEAR(state->globals);
    PyObject *gc = PyImport_ImportModule("gc"); /* what a template has frozen could not go */
    PyObject *done = gc ? PyObject_CallMethod(gc, "unfreeze", NULL) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(gc);
    PyErr_Clear();
    (void)Py_FinalizeEx();
}

/* As a SIGINT that has come, also where the C library ignores it for a while (system(3)). */
static void python_interrupt(void *data)
{
    (void)data;
#if PY_VERSION_HEX >= 0x030a0000
    PyErr_SetInterruptEx(SIGINT);
#else
    PyErr_SetInterrupt();
#endif
}

static void python_rest(void *data)
{
    struct python_state *state = data;

    if (state->value)
        state->json->writer_reset(state->value);
}

static const struct laz_runtime_ops python_ops = {
    .size = sizeof python_ops,
    .suffixes = python_suffixes,
    .libraries = py_libraries,
    .read = py_read_paths,
    .env = python_env,
    .reserved_words = python_reserved_words,
    .create = python_create,
    .version = python_version,
    .define_tools = py_define_tools,
    .check = py_check,
    .eval = py_eval,
    .destroy = python_destroy,
    .programs = py_programs,
    .preload = py_preload,
#if defined HAVE_FORK
    .before_fork = py_before_fork,
    .renew = py_renew,
#endif
    .set_script = py_set_script,
    .rest = python_rest,
    .interrupt = python_interrupt,
    .write_out = py_write_out,
    .input_changed = py_input_changed,
    .needs = py_needs,
};

LAZ_PLUGIN(python) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME), .name = "python",          .version = "0.1.0",
    .summary = "Python " PYTHON_VERSION, .options = python_options, .ops = &python_ops,
};
