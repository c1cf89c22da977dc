/* SPDX-License-Identifier: MIT */
/* py_windows.c - where an interpreter is, and what its process needs.  System: Windows.
 * Side: box.  Input trusted: yes.
 *
 * Two layouts are known: that of python.org (PREFIX/python311.dll, PREFIX/Lib, PREFIX/DLLs) and
 * that of MSYS2 (PREFIX/bin/libpython3.11.dll, PREFIX/lib/python3.11). PYTHON_DLL is the library's
 * path, and PYTHON_FOLDER where it and the program are.  The library has a C library of its own
 * (the UCRT), with its own table of descriptors: nothing of the C library goes between it and this
 * plugin. */
#include "py_runtime.h"

const char py_executable[] = PYTHON_FOLDER "/python.exe";
const char *const py_libraries[] = {PYTHON_DLL, NULL};
const char *const py_read_paths[] = {
    PYTHON_FOLDER,
    PYTHON_PREFIX "/Lib",
    PYTHON_PREFIX "/DLLs",
    PYTHON_PREFIX "/lib/python" PYTHON_VERSION,
    NULL,
};
const char *const py_programs[] = {PYTHON_FOLDER "/python.exe", NULL};

/* A session's standard input is at its end (windows-job gives it NUL), and there are no signals. */
void py_prepare_process(void)
{
}
