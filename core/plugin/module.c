/* SPDX-License-Identifier: MIT */
/* module.c - loads one plugin: checks who can change the file, opens it, checks what it exports.
 * Side: host and agent.  Input trusted: no (the file, until it has been checked).
 *
 * The exact file is opened with local symbols through libltdl. Before that the system's loader
 * opens it and binds all symbols, because libltdl reports "file not found" whatever the cause, and
 * binds lazily: a missing symbol would be noticed only when it is called.
 *
 * libltdl keeps its list of modules and its last error in global variables without a lock, and
 * engines of different threads are independent, so a lock of the process guards every use of
 * libltdl. Each open module holds one reference of lt_dlinit, so closing the last one frees
 * libltdl's memory.
 *
 * A runtime is opened inside the box, where owners of files are uids of another user namespace and
 * prove nothing. The host has checked the file before making it visible there. */
#include "plugin/plugin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <ltdl.h>

#include "os/library.h"
#include "os/paths.h"
#include "os/trust.h"

struct laz_module {
    lt_dlhandle handle;
    const struct laz_plugin *exported; /* as the object has it */
    struct laz_plugin plugin;          /* in the form of this version, with `options` */
    struct laz_option *options;
    void **globals; /* handles of libraries with global symbols; ends with NULL */
    size_t n_globals;
};

static pthread_mutex_t module_ltdl_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *module_cause(const char *words)
{
    return words ? words : "libltdl gives no cause";
}

static int module_open_globals(struct laz_module *module, const char *const *globals,
                               const char *path, struct laz_error *err)
{
    size_t n = 0;

    while (globals && globals[n])
        n++;
    if (!n)
        return 0;
    module->globals = calloc(n, sizeof *module->globals);
    if (!module->globals)
        return laz_error_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const char *words;
        void *library = laz_library_open(globals[i], true, &words);
        if (!library)
            return laz_error_set(err, LAZ_EPLUGIN, 0, "%s: it needs %s: %s", path, globals[i],
                                 words);
        module->globals[module->n_globals++] = library;
    }
    return 0;
}

/* Opens `path` with libltdl and finds the descriptor. The lock is held. */
static int module_open_locked(struct laz_module *module, const char *path, struct laz_error *err)
{
    lt_dladvise advise = NULL;
    int rc = 0;

    if (lt_dlinit() != 0)
        return laz_error_set(err, LAZ_EPLUGIN, 0, "%s: libltdl cannot be started: %s", path,
                             module_cause(lt_dlerror()));
    if (lt_dladvise_init(&advise) != 0 || lt_dladvise_local(&advise) != 0)
        rc = laz_error_nomem(err);
    else if (!(module->handle = lt_dlopenadvise(path, advise)))
        rc = laz_error_set(err, LAZ_EPLUGIN, 0, "%s: %s", path, module_cause(lt_dlerror()));
    else if (!(module->exported = lt_dlsym(module->handle, "lazaret_plugin")))
        rc = laz_error_set(err, LAZ_EPLUGIN, 0,
                           "%s: not a plugin of lazaret: it exports no lazaret_plugin", path);
    lt_dladvise_destroy(&advise);
    if (!module->handle)
        lt_dlexit();
    return rc;
}

/* Uses the system's loader first: it binds every symbol, and its messages name the cause. */
static int module_open_object(struct laz_module *module, const char *path, struct laz_error *err)
{
    const char *words;
    void *first = laz_library_open(path, false, &words);

    if (!first) {
        bool named = strstr(words, path) != NULL;
        return laz_error_set(err, LAZ_EPLUGIN, 0, "%s%s%s (this lazaret has plugin ABI %u.%u)",
                             named ? "" : path, named ? "" : ": ", words, (unsigned)LAZ_ABI_MAJOR,
                             (unsigned)LAZ_ABI_MINOR);
    }
    pthread_mutex_lock(&module_ltdl_lock);
    int rc = module_open_locked(module, path, err);
    pthread_mutex_unlock(&module_ltdl_lock);
    laz_library_close(first);
    return rc;
}

int laz_module_open(const char *path, uint32_t kind, const char *const *globals,
                    struct laz_module **module, struct laz_error *err)
{
    *module = NULL;
    if (!laz_os_is_absolute(path))
        return laz_error_set(err, LAZ_EPLUGIN, 0, "%s: not an absolute path", path);
    if (kind != LAZ_PLUGIN_RUNTIME && laz_trust_file(path, err))
        return laz_error_as(err, LAZ_EPLUGIN);
    struct laz_module *made = calloc(1, sizeof *made);
    if (!made)
        return laz_error_nomem(err);
    int rc = module_open_globals(made, globals, path, err);
    if (!rc)
        rc = module_open_object(made, path, err);
    if (!rc)
        rc = laz_descriptor_check(made->exported, path, kind, err);
    if (!rc)
        rc = laz_descriptor_copy(made->exported, &made->plugin, &made->options, err);
    if (rc) {
        laz_module_close(made);
        return rc;
    }
    /* An interpreter cannot be unloaded: its threads, handlers and thread-local variables remain.
     */
    if (made->plugin.kind == LAZ_PLUGIN_RUNTIME)
        laz_library_keep(path);
    *module = made;
    return 0;
}

void laz_module_close(struct laz_module *module)
{
    if (!module)
        return;
    if (module->handle) {
        pthread_mutex_lock(&module_ltdl_lock);
        lt_dlclose(module->handle);
        lt_dlexit();
        pthread_mutex_unlock(&module_ltdl_lock);
    }
    for (size_t i = 0; i < module->n_globals; i++)
        laz_library_close(module->globals[i]);
    free(module->globals);
    free(module->options);
    free(module);
}

const struct laz_plugin *laz_module_plugin(const struct laz_module *module)
{
    return &module->plugin;
}
