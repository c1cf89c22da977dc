/* SPDX-License-Identifier: MIT */
/* streams.c - opens the standard streams, and makes them pass bytes unchanged.  System: Windows. */
#include "os/streams.h"

#include "os/windows/text.h"

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>

void laz_os_raw_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        (void)_setmode(fd, _O_BINARY); /* else "\n" is written as "\r\n", and byte 26 ends a file */
}

static UINT streams_console; /* the code page of the console before */

static void streams_restore_console(void)
{
    (void)SetConsoleOutputCP(streams_console);
}

/* Output is UTF-8; other programs use the console too, so its code page is restored at the end. */
static void streams_console_utf8(void)
{
    streams_console = GetConsoleOutputCP();
    if (streams_console && streams_console != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
        (void)atexit(streams_restore_console);
}

bool laz_os_set_input(int fd, int *former)
{
    if (former && (*former = _dup(0)) < 0)
        return false;
    if (_dup2(fd, 0) == 0)
        return true;
    if (former) {
        (void)_close(*former);
        *former = -1;
    }
    return false;
}

bool laz_os_secure_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (_get_osfhandle(fd) == -1 && _open("NUL", fd ? _O_WRONLY : _O_RDONLY) != fd)
            return false;
    streams_console_utf8();
    laz_os_raw_streams();
    return true;
}
