/* SPDX-License-Identifier: MIT */
/* main.c - lazaret-agent, the process inside the box.
 * Side: box.  Input trusted: yes (the host's environment, command line and messages).
 *
 * Without arguments it serves a session: see docs/protocol.md for the order of its start. The
 * options are for the host and the build. Its interpreter runs on the main thread. */
#include "agent/agent.h"

#include "base/json.h"
#include "os/launcher.h"
#include "os/library.h"
#include "os/streams.h"
#include "os/warden.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef LAZ_SANITIZE
/* Read by the address sanitizer: the host is to see a crash of the code by its signal. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "handle_segv=0";
}
#endif

static int main_run(enum agent_role role)
{
    struct agent agent = {
        .role = role,
        .channel = {.fd = -1},
        .commands = {.channel = -1, .door = -1},
        .max_message = AGENT_MAX_MESSAGE,
    };
    struct laz_error err = {0};

    laz_frame_init(&agent.channel.in, AGENT_MAX_LINE + AGENT_LINE_SLACK);
    agent.channel.in.wipes = role == AGENT_TEMPLATE;
    if (role == AGENT_COLD) /* a template does so when it is as its copies are to be */
        laz_heap_keep(AGENT_KEPT);
    /* Interpreters take the encoding of their text from here; the box has LANG=C.UTF-8. No other
     * category is set: a decimal comma must not get into a number. */
    setlocale(LC_CTYPE, "");
    int status = AGENT_EXIT_SETUP;
    int rc = agent_start(&agent, &err);
    if (!rc && role == AGENT_TEMPLATE && agent_template_serve(&agent, &status))
        rc = agent_start(&agent, &err); /* a copy, for one session */
    /* A host that has given the session up knows why, and this would get into somebody's output. */
    const bool is_unwanted = err.os_errno == ECONNREFUSED || err.os_errno == ECONNRESET;
    if (rc && !is_unwanted)
        fprintf(stderr, "lazaret-agent: %s\n", err.text);
    else if (!rc && agent.role != AGENT_TEMPLATE)
        status = agent_serve(&agent);
    agent_end_runtime(&agent);
    if (!rc && agent.role != AGENT_TEMPLATE)
        agent_follow(&agent);
    /* Handlers of interpreters and of libraries that code loaded are not run, nor is anything
     * unloaded, closed or freed below their threads: the process ends here. */
    _exit(status);
}

static int main_template(char **argv)
{
    (void)argv;
    return main_run(AGENT_TEMPLATE);
}

/* Prints the descriptor of a runtime. The arguments after it are libraries that the system's loader
 * does not find by itself: they are opened first. */
static int main_describe(char **argv)
{
    struct laz_module *module;
    struct laz_error err = {0};
    struct laz_buf json = LAZ_BUF_INIT;

    if (laz_module_open(argv[0], LAZ_PLUGIN_RUNTIME, (const char *const *)argv + 1, &module,
                        &err)) {
        fprintf(stderr, "lazaret-agent: %s\n", err.text);
        return 1;
    }
    laz_runtime_describe(laz_module_plugin(module), &json);
    int status = json.failed || puts(laz_buf_text(&json)) < 0 || fflush(stdout) ? 1 : 0;
    laz_buf_fini(&json);
    laz_module_close(module);
    return status;
}

/* Applies a confinement, as in `init`: does all of it work here? */
static int main_probe(char **argv)
{
    struct agent agent = {0};
    struct laz_error err = {0};
    size_t len = argv[0] ? strlen(argv[0]) : 0;
    int rc = argv[0] ? laz_json_scan(argv[0], len, &err) : 0;

    if (!rc && argv[0])
        rc = agent_confine(&agent, argv[0], len, &err);
    if (rc)
        fprintf(stderr, "lazaret-agent: %s\n", err.text);
    /* _exit: the filter refuses what a sanitizer does at an orderly end. */
    _exit(rc ? AGENT_EXIT_SETUP : puts("lazaret-agent: ok") < 0 || fflush(stdout) ? 1 : 0);
}

/* Does nothing until it is killed: a process of the host that a box must not reach. */
static int main_wait(char **argv)
{
    (void)argv;
    for (;;)
        sleep(60);
    return 0;
}

/* Runs outside of every box, as the host's user. */
static int main_warden(char **argv)
{
    (void)argv;
    _exit(laz_os_warden()); /* a host that frees its engine waits for this, not for a sanitizer */
}

/* Runs outside of every box, as the host's user, in another part of the control groups. */
static int main_launcher(char **argv)
{
    struct laz_error err = {0};
    int rc = laz_os_launcher(argv[0], &err);

    if (rc)
        fprintf(stderr, "lazaret-agent: %s\n", err.text);
    fflush(stderr);
    _exit(rc ? 1 : 0);
}

static int main_version(char **argv)
{
    (void)argv;
    return puts("lazaret-agent " PACKAGE_VERSION) < 0 || fflush(stdout) ? 1 : 0;
}

#define MAIN_MOST (1 << 20)

static const struct {
    const char *option;
    int min, max; /* words after it */
    int (*run)(char **argv);
} main_modes[] = {
    {"--describe", 1, MAIN_MOST, main_describe},
    {"--launcher", 0, 1, main_launcher},
    {"--probe", 0, 1, main_probe},
    {"--reap", 1, MAIN_MOST, agent_reap},
    {"--version", 0, 0, main_version},
    {"--wait", 1, 1, main_wait},
    {"--warden", 0, 0, main_warden},
    {"--template", 0, 0, main_template},
};

int main(int argc, char **argv)
{
    laz_library_secure();
    laz_os_raw_streams();
    if (argc <= 1)
        return main_run(AGENT_COLD);
    for (size_t i = 0; i < sizeof main_modes / sizeof *main_modes; i++)
        if (strcmp(argv[1], main_modes[i].option) == 0 && argc - 2 >= main_modes[i].min &&
            argc - 2 <= main_modes[i].max)
            return main_modes[i].run(argv + 2);
    fputs("usage: lazaret-agent [--describe FILE.so [LIBRARY...] | --probe [JSON] | --reap PROGRAM "
          "ARG... | "
          "--template | --version | --wait MARK | --warden | --launcher [GROUP]]\nIt is started by "
          "lazaret; there is no "
          "use in running it by hand.\n",
          stderr);
    return 2;
}
