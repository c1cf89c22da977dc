/* SPDX-License-Identifier: MIT */
/* py_windows.c - where the interpreter is, and how its process is set up. System: Windows.
 * Side: box.  Input trusted: yes.
 *
 * Two layouts are known: that of python.org (PREFIX/python311.dll, PREFIX/Lib, PREFIX/DLLs) and
 * that of MSYS2 (PREFIX/bin/libpython3.11.dll, PREFIX/lib/python3.11). PYTHON_DLL is the library's
 * path, and PYTHON_DIRECTORY the directory of it and the program. The library uses a C library of
 * its own (the UCRT) with its own table of descriptors, so no objects of the C library may pass
 * between it and this plugin. */
#include "py_runtime.h"

const char py_executable[] = PYTHON_DIRECTORY "/python.exe";
const char *const py_libraries[] = {PYTHON_DLL, NULL};
const char *const py_read_paths[] = {
    PYTHON_DIRECTORY,
    PYTHON_PREFIX "/Lib",
    PYTHON_PREFIX "/DLLs",
    PYTHON_PREFIX "/lib/python" PYTHON_VERSION,
    NULL,
};
const char *const py_programs[] = {PYTHON_DIRECTORY "/python.exe", NULL};
const char *const py_needs[] = {NULL}; /* its library is in one of two places */

/* Nothing to do: windows-job gives the session NUL as standard input, and there are no signals. */
void py_prepare_process(void)
{
}
