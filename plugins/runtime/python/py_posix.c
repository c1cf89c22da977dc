/* SPDX-License-Identifier: MIT */
/* py_posix.c - where the interpreter is, and how its process is set up. System: Linux, macOS.
 * Side: box.  Input trusted: yes. */
#include "py_runtime.h"

#include <signal.h>

/* The name of the library, as CPython's own build forms it. */
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
#define PYTHON_SONAME PYTHON_DIRECTORY "/" PYTHON_LIBRARY ".dylib"
#if defined WITH_NEXT_FRAMEWORK /* pyconfig.h */
#define PYTHON_FRAMEWORK "Python"
#endif
#else
#define PYTHON_SONAME PYTHON_LIBRARY ".so.1.0"
#endif

#include "py_places.h" /* of these */

const char py_executable[] = PYTHON_PREFIX "/bin/python" PYTHON_VERSION;
const char *const py_libraries[] = {PYTHON_SONAME, NULL};
const char *const py_read_paths[] = {PY_PLACES_READ, NULL};
const char *const py_programs[] = {PY_PLACES_PROGRAMS, NULL};
/* The landmark of its library. */
const char *const py_needs[] = {PYTHON_PREFIX "/lib/python" PYTHON_VERSION "/os.py", NULL};

/* Ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a file over its limit raise errors in
 * Python. */
void py_prepare_process(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}
