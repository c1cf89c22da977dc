/* SPDX-License-Identifier: MIT */
/* r_start_posix.c - starts R through the function pointers of Rinterface.h. System: POSIX.
 * Side: agent.  Input trusted: yes (the host's environment).
 *
 * The agent decides about signals, so R's handlers stay off; a handler of this plugin records a
 * file that exceeds its limit. R reads R_HOME and similar variables from the environment, and its
 * encoding from the locale: if that is not UTF-8, a UTF-8 locale is set. */
#include "r.h"
#include "r_paths.h"

#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define R_INTERFACE_PTRS
#include <R_ext/GraphicsEngine.h>
#include <R_ext/GraphicsDevice.h>
#include <R_ext/eventloop.h>
#include <Rembedded.h>
#include <Rinterface.h>

const char *const r_env[] = {
    "R_HOME=" LAZ_R_HOME,
    "R_SHARE_DIR=" LAZ_R_SHARE_DIR,
    "R_INCLUDE_DIR=" LAZ_R_INCLUDE_DIR,
    "R_DOC_DIR=" LAZ_R_DOC_DIR,
    "R_LIBS_USER=", /* no packages of the user's */
    NULL,
};

static sigjmp_buf start_gave_up;

void r_start_give_up(void)
{
    siglongjmp(start_gave_up, 1);
}

static void start_variable(const char *name, const char *value)
{
    const char *present = getenv(name);

    if (!present || !*present)
        setenv(name, value, 1);
}

bool r_start_with_packages(const char *names)
{
    return setenv("R_DEFAULT_PACKAGES", names, 1) == 0;
}

static void start_environment(void)
{
    start_variable("R_HOME", LAZ_R_HOME);
    start_variable("R_SHARE_DIR", LAZ_R_SHARE_DIR);
    start_variable("R_INCLUDE_DIR", LAZ_R_INCLUDE_DIR);
    start_variable("R_DOC_DIR", LAZ_R_DOC_DIR);
    setlocale(LC_CTYPE, ""); /* as R does when it starts */
    if (strcmp(nl_langinfo(CODESET), "UTF-8") !=
        0) /* only UTF-8 can encode every text of the code */
        setenv("LC_ALL", "C.UTF-8", 1);
}

static void start_callbacks(void)
{
    R_Outputfile = NULL;
    R_Consolefile = NULL;
    ptr_R_WriteConsole = NULL;
    ptr_R_WriteConsoleEx = r_console_write;
    ptr_R_ReadConsole = r_console_read;
    ptr_R_FlushConsole = r_console_flush_hook;
    ptr_R_ResetConsole = r_console_nothing;
    ptr_R_ClearerrConsole = r_console_nothing;
    ptr_R_Busy = r_console_busy;
    ptr_R_ShowMessage = r_console_message;
    ptr_R_Suicide = r_console_suicide;
    ptr_R_CleanUp = r_console_clean_up;
}

/* R looks at this where it can jump, and calls handlers then (conditions: "interrupt"). */
void r_interrupt(void *state)
{
    (void)state;
    R_interrupts_pending = 1;
}

bool r_forget_interrupt(void)
{
    const bool was = R_interrupts_pending != 0;

    R_interrupts_pending = 0;
    return was;
}

static void start_before_fork(void)
{
    if (r_self && r_self->running)
        r_console_flush(r_self);
}

static void start_interrupted(int signal)
{
    (void)signal;
    r_interrupt(NULL);
}

static void start_hooks(void)
{
    struct sigaction action = {.sa_handler = r_console_file_too_large, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(SIGXFSZ, &action, NULL);
    action = (struct sigaction){.sa_handler = start_interrupted}; /* calls that wait return */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    R_PolledEvents = r_console_poll;
    pthread_atfork(start_before_fork, NULL, NULL);
}

bool r_start(struct r_state *state)
{
    char *argv[] = {(char *)"R", (char *)"--vanilla", (char *)"--no-echo", (char *)"--no-readline",
                    NULL};

    start_environment();
    if (sigsetjmp(start_gave_up, 1))
        return false;
    start_callbacks();
    R_SignalHandlers = 0;
    if (Rf_initialize_R(4, argv) != 0)
        return false;
    R_Interactive = FALSE;
    start_callbacks(); /* again, because reading the command line has set some of them */
    setup_Rmainloop();
    r_console_begin(state);
    start_hooks();
    return true;
}
