/* SPDX-License-Identifier: MIT */
/* r_start_windows.c - starts R through structRstart of RStartup.h. System: Windows, R 4.2 or later.
 * Side: agent.  Input trusted: yes (the settings of the build).
 *
 * R may use another C library than this plugin (UCRT, msvcrt), so only numbers and read-only texts
 * pass between the two: no files, no memory to be freed, no environment variables, of which each
 * has its own copy. So R is given its home directory explicitly. PATH is set for the system's
 * loader, which by it finds R's own libraries (Rlapack.dll) when those of packages need them.
 *
 * Text in R is UTF-8: the agent's manifest sets that for the process, and LC_CTYPE for R's
 * locale. */
#include "r.h"
#include "r_paths.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <windows.h>
#undef ReadConsole /* members of structRstart */
#undef WriteConsole

#include <Rembedded.h>

#if !defined RSTART_VERSION
#error "On Windows R has to be 4.2 or later."
#endif

#define START_PATH_MAX 32767 /* characters of a variable */

extern __declspec(dllimport) int R_SignalHandlers; /* declared in no header of R on Windows */

const char *const r_env[] = {
    "R_HOME=" LAZ_R_HOME, /* R derives its other paths from it */
    "R_LIBS_USER=",       /* no packages of the user's */
    "LC_CTYPE=.UTF-8",    /* like C.UTF-8 elsewhere: not the user's language */
    "LC_COLLATE=C",       "LC_TIME=C", "LC_MONETARY=C", NULL,
};

/* Not setjmp(3), whose longjmp would unwind the frames in between: those are R's, and are
 * abandoned. */
static void *start_gave_up[5];

void r_start_give_up(void)
{
    __builtin_longjmp(start_gave_up, 1);
}

/* Puts the directory of R.dll at the beginning of PATH. */
static bool start_path(void)
{
    const char *end = strrchr(LAZ_R_LIBRARY, '/');
    wchar_t *path = calloc(START_PATH_MAX, sizeof *path);
    int len = path ? MultiByteToWideChar(CP_UTF8, 0, LAZ_R_LIBRARY, (int)(end - LAZ_R_LIBRARY),
                                         path, START_PATH_MAX - 1)
                   : 0;
    bool done = len > 0;

    for (int i = 0; i < len; i++)
        if (path[i] == L'/')
            path[i] = L'\\';
    if (done) {
        path[len++] = L';';
        DWORD rest = GetEnvironmentVariableW(L"PATH", path + len, START_PATH_MAX - (DWORD)len);
        done = rest < START_PATH_MAX - (DWORD)len && SetEnvironmentVariableW(L"PATH", path);
    }
    free(path);
    return done;
}

static int start_say_no(const char *question)
{
    (void)question;
    return -1;
}

static void start_parameters(Rstart r)
{
    static char home[] = LAZ_R_HOME;

    r->R_Quiet = TRUE;
    r->R_NoEcho = TRUE;
    r->R_Interactive = FALSE;
    r->LoadSiteFile = FALSE;
    r->LoadInitFile = FALSE;
    r->NoRenviron = TRUE;
    r->RestoreAction = SA_NORESTORE;
    r->SaveAction = SA_NOSAVE;
    r->rhome = home;
    r->home = getRUser();
    r->CharacterMode = LinkDLL;
    r->EmitEmbeddedUTF8 = FALSE;
    r->ReadConsole = r_console_read;
    r->WriteConsole = NULL;
    r->WriteConsoleEx = r_console_write;
    r->CallBack = r_console_flush_idle; /* called at every write, too */
    r->ShowMessage = r_console_message;
    r->YesNoCancel = start_say_no;
    r->Busy = r_console_busy;
    r->CleanUp = r_console_clean_up;
    r->ClearerrConsole = r_console_nothing;
    r->FlushConsole = r_console_flush_hook;
    r->ResetConsole = r_console_nothing;
    r->Suicide = r_console_suicide;
}

/* R has read its own copy of the environment already. */
bool r_start_with_packages(const char *names)
{
    (void)names;
    return false;
}

/* The agent is not interrupted on this system. */
void r_interrupt(void *state)
{
    (void)state;
}

bool r_forget_interrupt(void)
{
    return false;
}

bool r_start(struct r_state *state)
{
    static const char old[] = "this R is older than 4.2";
    static const char path[] = "PATH cannot be set";
    static structRstart parameters;
    char *argv[] = {(char *)"R", (char *)"--vanilla", (char *)"--no-echo", NULL};

    if (!start_path()) {
        r_text_append(&state->startup, path, sizeof path - 1);
        return false;
    }
    if (__builtin_setjmp(start_gave_up))
        return false;
    R_setStartTime();
    if (R_DefParamsEx(&parameters, RSTART_VERSION) != 0) {
        r_text_append(&state->startup, old, sizeof old - 1);
        return false;
    }
    start_parameters(&parameters);
    R_SetParams(&parameters);
    R_set_command_line_arguments(3, argv);
    R_SignalHandlers = 0;
    GA_initapp(0, NULL);
    setup_Rmainloop();
    r_console_begin(state);
    return true;
}
