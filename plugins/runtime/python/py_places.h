/* SPDX-License-Identifier: MIT */
/* py_places.h - paths that an interpreter needs. System: Linux, macOS.
 *
 * They depend only on PYTHON_PREFIX, PYTHON_VERSION and PYTHON_SONAME, so that a test can check
 * those of another system. In a framework of macOS (python.org, Xcode, MacPorts) the library is
 * beside lib, and the programs in bin only start another one in the bundle Python.app, which looks
 * for its Info.plist there. */
#ifndef PY_PLACES_H
#define PY_PLACES_H

#if defined PYTHON_FRAMEWORK
#define PY_PLACES_LIBRARY                                                                          \
    PYTHON_SONAME, PYTHON_PREFIX "/" PYTHON_FRAMEWORK, PYTHON_PREFIX "/Resources",
#define PY_PLACES_PROGRAM PYTHON_PREFIX "/Resources/Python.app/Contents/MacOS/Python",
#elif defined __APPLE__
#define PY_PLACES_LIBRARY PYTHON_SONAME,
#define PY_PLACES_PROGRAM
#else /* the library is in the loader's directories, which are always readable */
#define PY_PLACES_LIBRARY
#define PY_PLACES_PROGRAM
#endif

#define PY_PLACES_READ                                                                             \
    PYTHON_PREFIX "/lib/python" PYTHON_VERSION, PY_PLACES_LIBRARY "/etc/python3",                  \
        "/etc/python" PYTHON_VERSION, /* Debian's sitecustomize, for children */                   \
        "/etc/alternatives",          /* for the BLAS that numpy needs */                          \
        "/etc/ssl/openssl.cnf", "/etc/mime.types", "/etc/localtime", "/etc/fonts"

/* sys.executable for multiprocessing and subprocess, os.system(), platform.processor(), and
 * ctypes.util.find_library(). */
#define PY_PLACES_PROGRAMS                                                                         \
    PYTHON_PREFIX "/bin/python" PYTHON_VERSION, PYTHON_PREFIX "/bin/python3",                      \
        PY_PLACES_PROGRAM "sh", "uname", "/sbin/ldconfig"

#endif
