/* SPDX-License-Identifier: MIT */
/* current_process.c - what concerns this process itself: streams, variables, threads, limits.
 * System: Windows. */
#include "base/buf.h"
#include "base/clock.h"
#include "os/os.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/thread.h"
#include "os/windows/windows.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- descriptors ---------------------------------------------------------------------------- */

int laz_os_dup_onto(int fd, int number)
{
    (void)fd;
    (void)number;
    errno = ENOSYS; /* a child gets handles, by CreateProcessW */
    return -1;
}

int laz_os_place(int *fd, int to, struct laz_error *err)
{
    (void)fd;
    (void)to;
    (void)err;
    return 0;
}

void laz_os_raw_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        (void)_setmode(fd, _O_BINARY); /* else "\n" is written as "\r\n", and byte 26 ends a file */
}

static UINT self_console; /* how the console took bytes before */

static void self_restore_console(void)
{
    (void)SetConsoleOutputCP(self_console);
}

/* What is written is UTF-8; a console belongs to others, too, and is given back as it was. */
static void self_console_utf8(void)
{
    self_console = GetConsoleOutputCP();
    if (self_console && self_console != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
        (void)atexit(self_restore_console);
}

bool laz_os_secure_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (_get_osfhandle(fd) == -1 && _open("NUL", fd ? _O_WRONLY : _O_RDONLY) != fd)
            return false;
    self_console_utf8();
    laz_os_raw_streams();
    return true;
}

/* ---- variables ------------------------------------------------------------------------------ */

const char *laz_os_getenv(const char *name)
{
    return getenv(name); /* there are no programs with more rights than who starts them */
}

/* The C library has a copy of its own beside the system's; both lose the variable, and its copy is
 * overwritten. Who may read this process's memory is its user, from whom nothing can be kept. */
char *laz_os_take_variable(const char *name, bool wipe)
{
    char *value = getenv(name);
    char *copy = laz_strdup(value);
    char *none = value ? laz_strdupf("%s=", name) : NULL;

    if (value && wipe)
        laz_wipe(value, strlen(value));
    if (none)
        (void)_putenv(none);
    free(none);
    return copy;
}

/* ---- threads and processes ------------------------------------------------------------------ */

int laz_os_thread(pthread_t *thread, size_t stack, void *(*run)(void *user), void *user)
{
    pthread_attr_t attributes;
    int failed = pthread_attr_init(&attributes);

    if (failed)
        return failed;
    if (stack)
        failed = pthread_attr_setstacksize(&attributes, stack);
    if (!failed)
        failed = pthread_create(thread, &attributes, run, user);
    pthread_attr_destroy(&attributes);
    return failed;
}

void laz_os_condition_init(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

/* Conditions are waited for by the time of day here: how long is left is asked just before. */
bool laz_os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
    uint64_t now = laz_clock_us();
    uint64_t left = until_us > now ? until_us - now : 0;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(left / 1000000);
    until.tv_nsec += (long)(left % 1000000) * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}

const char *laz_os_signal_words(int signal)
{
    switch (signal) {
    case SIGKILL:
        return "Killed";
    case SIGXCPU:
        return "CPU time limit exceeded";
    case SIGSEGV:
        return "Access violation";
    case SIGFPE:
        return "Arithmetic exception";
    case SIGILL:
        return "Illegal instruction";
    case SIGABRT:
        return "Aborted";
    case SIGINT:
        return "Interrupted";
    default:
        return "Ended by the system";
    }
}

int laz_os_no_new_privs(struct laz_error *err)
{
    (void)err;
    return 0; /* there are no programs with more rights than who starts them */
}

bool laz_os_inherit_orphans(void)
{
    return true; /* they stay in the job */
}

bool laz_os_die_with_parent(int64_t parent, int signal)
{
    (void)parent;
    (void)signal;
    return true; /* by the job, whose last handle the parent has */
}

/* ---- limits, ids ---------------------------------------------------------------------------- */

int laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err)
{
    if (strcmp(name, "core") == 0 && value <= 1) {
        SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
        return 0; /* no report of a crash, and no window about it */
    }
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "limit \"%s\": on Windows a process cannot limit itself; its job does",
                         name);
}

/* An administrator gives sessions no users of their own. */
bool laz_os_is_root(void)
{
    return false;
}

uint32_t laz_os_uid(void)
{
    return 0;
}

bool laz_os_is_private_group(uint32_t gid, uint32_t uid)
{
    (void)gid;
    (void)uid;
    return false;
}

unsigned laz_os_processors(void)
{
    SYSTEM_INFO info;

    GetSystemInfo(&info);
    return info.dwNumberOfProcessors > 0 ? (unsigned)info.dwNumberOfProcessors : 1;
}

static int self_no_uids(struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0, "Windows has no uids");
}

int laz_uids_new(const char *range, struct laz_uids **uids, struct laz_error *err)
{
    (void)range;
    *uids = NULL;
    return self_no_uids(err);
}

void laz_uids_free(struct laz_uids *uids)
{
    (void)uids;
}

int laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err)
{
    (void)uids;
    (void)uid;
    return self_no_uids(err);
}

void laz_uids_give_back(struct laz_uids *uids, uint32_t uid)
{
    (void)uids;
    (void)uid;
}

/* ---- what it is ----------------------------------------------------------------------------- */

const char *laz_os_platform(void)
{
    return "windows";
}

/* Wine is no Windows: what it takes and does not keep is told apart by this. */
void laz_os_facts(const char *root, struct laz_buf *facts)
{
    const char *(*wine)(void) = (const char *(*)(void))(void *)GetProcAddress(
        GetModuleHandleW(L"ntdll.dll"), "wine_get_version");

    (void)root;
    if (wine)
        laz_buf_printf(facts, "wine=%s\n", wine());
}

/* What must not be reached is tried where a backend promises that it is not. */
int laz_os_bait_port(int *fd, uint16_t *port, struct laz_error *err)
{
    (void)fd;
    (void)port;
    return laz_error_set(err, LAZ_EREFUSED, 0, "no backend of Windows keeps the network away");
}

int laz_os_bait_socket(const char *path, int *fd, struct laz_error *err)
{
    (void)fd;
    return laz_error_set(err, LAZ_EREFUSED, 0, "%s: there are no sockets with a path", path);
}
