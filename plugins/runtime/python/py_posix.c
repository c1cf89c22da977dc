/* SPDX-License-Identifier: MIT */
/* py_posix.c - where an interpreter is, and what its process needs.  System: Linux, macOS.
 * Side: box.  Input trusted: yes. */
#include "py_runtime.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* The name of the library, as CPython's own build makes it. */
#if defined Py_GIL_DISABLED
#define PYTHON_THREADED "t"
#else
#define PYTHON_THREADED ""
#endif
#if defined Py_DEBUG
#define PYTHON_DEBUGGED "d"
#else
#define PYTHON_DEBUGGED ""
#endif
#define PYTHON_LIBRARY "libpython" PYTHON_VERSION PYTHON_THREADED PYTHON_DEBUGGED
#if defined __APPLE__
#define PYTHON_SONAME PYTHON_FOLDER "/" PYTHON_LIBRARY ".dylib"
#else
#define PYTHON_SONAME PYTHON_LIBRARY ".so.1.0"
#endif

const char py_executable[] = PYTHON_PREFIX "/bin/python" PYTHON_VERSION;
const char *const py_libraries[] = {PYTHON_SONAME, NULL};
const char *const py_read_paths[] = {
    PYTHON_PREFIX "/lib/python" PYTHON_VERSION,
    "/etc/python3",
    "/etc/python" PYTHON_VERSION, /* Debian's sitecustomize */
    "/etc/alternatives",          /* the BLAS that numpy needs */
    "/etc/ssl/openssl.cnf",
    "/etc/mime.types",
    "/etc/localtime",
    NULL,
};
/* sys.executable for multiprocessing and subprocess, os.system(), platform.processor(), and
 * ctypes.util.find_library(). */
const char *const py_programs[] = {
    PYTHON_PREFIX "/bin/python" PYTHON_VERSION,
    PYTHON_PREFIX "/bin/python3",
    "sh",
    "uname",
    "/sbin/ldconfig",
    NULL,
};

/* Standard input is at its end; a closed pipe and a file over its limit are errors that Python
 * raises, not signals. */
void py_prepare_process(void)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (null >= 0 && null != STDIN_FILENO) {
        dup2(null, STDIN_FILENO);
        close(null);
    } else if (null == STDIN_FILENO) {
        fcntl(null, F_SETFD, 0);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}
