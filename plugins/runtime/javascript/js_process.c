/* SPDX-License-Identifier: MIT */
/* js_process.c - the process and its environment, for the part `process`; names of errors and
 * signals. Side: box.  Input trusted: no (the code).
 *
 * What fails gives its error number, negative; the part makes the error of it. */
#include "js.h"

#include <jsc/jsc.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static JSValueRef process_text(JSContextRef context, const char *text)
{
    return js_string(context, text, strlen(text));
}

/* ---- errors and signals ---------------------------------------------------------------------- */

/* As Node.js says it, where that is not what strerror(3) says in small letters. */
static const struct {
    int number;
    const char *text;
} process_errors[] = {
#define ERROR(name, text)                                                                          \
    {                                                                                              \
        name, #name ": " text                                                                      \
    }
    ERROR(E2BIG, "argument list too long"),
    ERROR(EACCES, "permission denied"),
    ERROR(EADDRINUSE, "address already in use"),
    ERROR(EADDRNOTAVAIL, "address not available"),
    ERROR(EAGAIN, "resource temporarily unavailable"),
    ERROR(EBADF, "bad file descriptor"),
    ERROR(EBUSY, "resource busy or locked"),
    ERROR(ECANCELED, "operation canceled"),
    ERROR(ECHILD, "no child processes"),
    ERROR(ECONNABORTED, "software caused connection abort"),
    ERROR(ECONNREFUSED, "connection refused"),
    ERROR(ECONNRESET, "connection reset by peer"),
    ERROR(EDQUOT, "disk quota exceeded"),
    ERROR(EEXIST, "file already exists"),
    ERROR(EFAULT, "bad address in system call argument"),
    ERROR(EFBIG, "file too large"),
    ERROR(EHOSTUNREACH, "host is unreachable"),
    ERROR(EINTR, "interrupted system call"),
    ERROR(EINVAL, "invalid argument"),
    ERROR(EIO, "i/o error"),
    ERROR(EISDIR, "illegal operation on a directory"),
    ERROR(ELOOP, "too many symbolic links encountered"),
    ERROR(EMFILE, "too many open files"),
    ERROR(EMLINK, "too many links"),
    ERROR(ENAMETOOLONG, "name too long"),
    ERROR(ENETUNREACH, "network is unreachable"),
    ERROR(ENFILE, "file table overflow"),
    ERROR(ENOBUFS, "no buffer space available"),
    ERROR(ENODEV, "no such device"),
    ERROR(ENOENT, "no such file or directory"),
    ERROR(ENOEXEC, "exec format error"),
    ERROR(ENOMEM, "not enough memory"),
    ERROR(ENOSPC, "no space left on device"),
    ERROR(ENOSYS, "function not implemented"),
    ERROR(ENOTDIR, "not a directory"),
    ERROR(ENOTEMPTY, "directory not empty"),
    ERROR(ENOTSUP, "operation not supported on socket"),
    ERROR(ENOTTY, "inappropriate ioctl for device"),
    ERROR(ENXIO, "no such device or address"),
    ERROR(EOVERFLOW, "value too large for defined data type"),
    ERROR(EPERM, "operation not permitted"),
    ERROR(EPIPE, "broken pipe"),
    ERROR(ERANGE, "result too large"),
    ERROR(EROFS, "read-only file system"),
    ERROR(ESPIPE, "invalid seek"),
    ERROR(ESRCH, "no such process"),
    ERROR(ETIMEDOUT, "connection timed out"),
    ERROR(ETXTBSY, "text file is busy"),
    ERROR(EXDEV, "cross-device link not permitted"),
#undef ERROR
};

/* errorText(number): "ENOENT: no such file or directory"; undefined: it has no name */
JS_NATIVE(process_error_text)
{
    JS_UNUSED;
    const int number = (int)js_argument(context, n, arguments, 0, 0);

    for (size_t i = 0; i < sizeof process_errors / sizeof *process_errors; i++)
        if (process_errors[i].number == number)
            return process_text(context, process_errors[i].text);
    return JSValueMakeUndefined(context);
}

/* errorNumber(name): undefined: there is none */
JS_NATIVE(process_error_number)
{
    JS_UNUSED;
    char *name = n ? js_text(context, arguments[0], NULL, exception) : NULL;
    const size_t len = name ? strlen(name) : 0;
    JSValueRef value = JSValueMakeUndefined(context);

    for (size_t i = 0; len && i < sizeof process_errors / sizeof *process_errors; i++)
        if (strncmp(process_errors[i].text, name, len) == 0 && process_errors[i].text[len] == ':')
            value = js_number(context, process_errors[i].number);
    free(name);
    return value;
}

static const struct {
    const char *name;
    int number;
} process_signals[] = {
#define SIGNAL(name)                                                                               \
    {                                                                                              \
#name, name                                                                                \
    }
    SIGNAL(SIGHUP),    SIGNAL(SIGINT),   SIGNAL(SIGQUIT), SIGNAL(SIGILL),  SIGNAL(SIGTRAP),
    SIGNAL(SIGABRT),   SIGNAL(SIGBUS),   SIGNAL(SIGFPE),  SIGNAL(SIGKILL), SIGNAL(SIGUSR1),
    SIGNAL(SIGSEGV),   SIGNAL(SIGUSR2),  SIGNAL(SIGPIPE), SIGNAL(SIGALRM), SIGNAL(SIGTERM),
    SIGNAL(SIGCHLD),   SIGNAL(SIGCONT),  SIGNAL(SIGSTOP), SIGNAL(SIGTSTP), SIGNAL(SIGTTIN),
    SIGNAL(SIGTTOU),   SIGNAL(SIGURG),   SIGNAL(SIGXCPU), SIGNAL(SIGXFSZ), SIGNAL(SIGPROF),
    SIGNAL(SIGVTALRM), SIGNAL(SIGWINCH), SIGNAL(SIGIO),   SIGNAL(SIGSYS),
#undef SIGNAL
};

/* signals(): an object of names and numbers */
JS_NATIVE(process_signal_table)
{
    JS_UNUSED;
    JSObjectRef table = JSObjectMake(context, NULL, NULL);

    for (size_t i = 0; i < sizeof process_signals / sizeof *process_signals; i++)
        js_set(context, table, process_signals[i].name,
               js_number(context, process_signals[i].number));
    return table;
}

/* ---- the environment ------------------------------------------------------------------------- */

/* envGet(name): undefined: it is not set */
JS_NATIVE(process_env_get)
{
    JS_UNUSED;
    char *name = n ? js_text(context, arguments[0], NULL, exception) : NULL;
    const char *value = name ? getenv(name) : NULL;

    free(name);
    return value ? process_text(context, value) : JSValueMakeUndefined(context);
}

/* envSet(name, value): a value that is undefined takes the variable away */
JS_NATIVE(process_env_set)
{
    JS_UNUSED;
    char *name = n ? js_text(context, arguments[0], NULL, exception) : NULL;
    char *value = name && n > 1 && JSValueIsString(context, arguments[1])
                      ? js_text(context, arguments[1], NULL, exception)
                      : NULL;
    const int rc = !name ? 0 : value ? setenv(name, value, 1) : unsetenv(name);
    const int number = rc < 0 ? errno : 0;

    free(value);
    free(name);
    return js_number(context, -number);
}

/* envKeys() */
JS_NATIVE(process_env_keys)
{
    JS_UNUSED;
    JSObjectRef keys = JSObjectMakeArray(context, 0, NULL, NULL);
    unsigned count = 0;

    for (char **entry = environ; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals && equals != *entry)
            JSObjectSetPropertyAtIndex(context, keys, count++,
                                       js_string(context, *entry, (size_t)(equals - *entry)), NULL);
    }
    return keys;
}

/* ---- the process ----------------------------------------------------------------------------- */

static JSValueRef process_list(JSContextRef context, const double numbers[], size_t count)
{
    JSValueRef values[16];

    for (size_t i = 0; i < count; i++)
        values[i] = js_number(context, numbers[i]);
    return JSObjectMakeArray(context, count, values, NULL);
}

/* ids(): process, parent, user, effective user, group, effective group */
JS_NATIVE(process_ids)
{
    JS_UNUSED;
    return process_list(
        context, (const double[]){getpid(), getppid(), getuid(), geteuid(), getgid(), getegid()},
        6);
}

/* directory(): that of the process */
JS_NATIVE(process_directory)
{
    JS_UNUSED;
    char *path = getcwd(NULL, 0);
    JSValueRef value = path ? process_text(context, path) : js_number(context, -errno);

    free(path);
    return value;
}

/* enter(path): changes it */
JS_NATIVE(process_enter)
{
    JS_UNUSED;
    char *path = n ? js_text(context, arguments[0], NULL, exception) : NULL;
    const int number = !path ? ENOMEM : chdir(path) < 0 ? errno : 0;

    free(path);
    return js_number(context, -number);
}

/* mask(mode): sets the mask of files that are made, unless it is below 0; gives the one before */
JS_NATIVE(process_mask)
{
    JS_UNUSED;
    const double mode = js_argument(context, n, arguments, 0, -1);
    const mode_t before = umask(mode >= 0 ? (mode_t)mode : 0);

    if (mode < 0)
        umask(before);
    return js_number(context, before);
}

/* signal(pid, number) */
JS_NATIVE(process_signal)
{
    JS_UNUSED;
    const double pid = js_argument(context, n, arguments, 0, 0);
    const double number = js_argument(context, n, arguments, 1, 0);

    if (!(pid >= INT_MIN && pid <= INT_MAX))
        return js_number(context, -ESRCH);
    if (!(number >= 0 && number <= 64))
        return js_number(context, -EINVAL);
    js_flush(js_here);
    return js_number(context, kill((pid_t)pid, (int)number) < 0 ? -errno : 0);
}

/* usage(): microseconds of the user and of the system, KiB at most, faults (minor, major), blocks
 * (in, out), changes of context (wanted, unwanted) */
JS_NATIVE(process_usage)
{
    JS_UNUSED;
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) < 0)
        return js_number(context, -errno);
    return process_list(
        context,
        (const double[]){(double)usage.ru_utime.tv_sec * 1e6 + (double)usage.ru_utime.tv_usec,
                         (double)usage.ru_stime.tv_sec * 1e6 + (double)usage.ru_stime.tv_usec,
                         (double)usage.ru_maxrss, (double)usage.ru_minflt, (double)usage.ru_majflt,
                         (double)usage.ru_inblock, (double)usage.ru_oublock, (double)usage.ru_nvcsw,
                         (double)usage.ru_nivcsw},
        9);
}

/* pageSize(): bytes */
JS_NATIVE(process_page_size)
{
    JS_UNUSED;
    return js_number(context, (double)sysconf(_SC_PAGESIZE));
}

/* engineVersion() */
JS_NATIVE(process_engine_version)
{
    JS_UNUSED;
    char text[32];

    snprintf(text, sizeof text, "%u.%u.%u", jsc_get_major_version(), jsc_get_minor_version(),
             jsc_get_micro_version());
    return process_text(context, text);
}

/* abort() */
JS_NATIVE(process_abort)
{
    JS_UNUSED;
    js_flush(js_here);
    abort();
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct js_native js_natives_process[] = {
    {"errorText", process_error_text},
    {"errorNumber", process_error_number},
    {"signals", process_signal_table},
    {"envGet", process_env_get},
    {"envSet", process_env_set},
    {"envKeys", process_env_keys},
    {"ids", process_ids},
    {"directory", process_directory},
    {"enter", process_enter},
    {"mask", process_mask},
    {"signal", process_signal},
    {"usage", process_usage},
    {"pageSize", process_page_size},
    {"engineVersion", process_engine_version},
    {"abort", process_abort},
    {NULL, NULL},
};
