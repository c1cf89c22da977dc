/* SPDX-License-Identifier: MIT */
/* sockets.c - pipes of which both ends are made in this process.  System: Windows.
 * Side: both.  Input trusted: yes; what is read from a pipe is not.
 *
 * A pipe of Windows that can be read without waiting has a name, which any process can see and use.
 * So no process connects by name: this process makes both ends, and a child inherits one of them.
 * The name is random, its access list has only the host's own user, there is one instance and it
 * must be the first (FILE_FLAG_FIRST_PIPE_INSTANCE).  A process that connects before the host's own
 * second call, in the microseconds between, makes that call fail, and there is no pipe; one that
 * comes later finds the instance in use.  The connection between host and agent is such a pipe, and
 * the agent's standard input until it takes it from there.  So its peer is the process that was
 * started, and no check of the peer is needed. */
#include "os/sockets.h"

#include "base/buf.h"
#include "base/random.h"
#include "os/windows/descriptors.h"
#include "os/windows/text.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <sddl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ws2tcpip.h>

#define SOCKETS_ROOM      ((DWORD)64 << 10) /* the size of the system's buffer, each way */
#define SOCKETS_NAME      32
#define SOCKETS_INHERITED "stdin" /* says that the agent finds its end there */

/* The access list: all rights for this user, none for others. The caller frees it with LocalFree.
 */
static PSECURITY_DESCRIPTOR sockets_own_user(void)
{
    PSECURITY_DESCRIPTOR descriptor = NULL;
    union {
        TOKEN_USER user;
        char room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } owner;
    char *sid = NULL, *text = NULL;
    HANDLE token;
    DWORD len;

    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return NULL;
    if (GetTokenInformation(token, TokenUser, &owner, sizeof owner, &len) &&
        ConvertSidToStringSidA(owner.user.User.Sid, &sid))
        text = laz_strdupf("D:P(A;;GA;;;%s)", sid);
    if (text)
        ConvertStringSecurityDescriptorToSecurityDescriptorA(text, SDDL_REVISION_1, &descriptor,
                                                             NULL);
    DWORD code = GetLastError();
    CloseHandle(token);
    LocalFree(sid);
    free(text);
    SetLastError(code);
    return descriptor;
}

int laz_windows_pipe(bool both_ways, HANDLE *ours, HANDLE *theirs, struct laz_error *err)
{
    char random[SOCKETS_NAME + 1], name[SOCKETS_NAME + 32];
    int rc = laz_random_name(random, SOCKETS_NAME, err);

    if (rc)
        return rc;
    snprintf(name, sizeof name, "\\\\.\\pipe\\lazaret-%s", random);
    PSECURITY_DESCRIPTOR own = sockets_own_user();
    SECURITY_ATTRIBUTES access = {sizeof access, own, FALSE};
    if (!own)
        return laz_windows_fail(err, "cannot create an access list for a pipe");
    *theirs = INVALID_HANDLE_VALUE;
    *ours = CreateNamedPipeA(name,
                             (both_ways ? PIPE_ACCESS_DUPLEX : PIPE_ACCESS_INBOUND) |
                                 FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                             PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT |
                                 PIPE_REJECT_REMOTE_CLIENTS,
                             1, both_ways ? SOCKETS_ROOM : 0, SOCKETS_ROOM, 0, &access);
    if (*ours != INVALID_HANDLE_VALUE) /* a stream is written by plain calls of the C library */
        *theirs = CreateFileA(
            name, GENERIC_WRITE | (both_ways ? GENERIC_READ : FILE_READ_ATTRIBUTES), 0, NULL,
            OPEN_EXISTING,
            (both_ways ? FILE_FLAG_OVERLAPPED : 0) | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS,
            NULL);
    if (*theirs == INVALID_HANDLE_VALUE) {
        rc = laz_windows_fail(err, "cannot create a pipe");
        if (*ours != INVALID_HANDLE_VALUE)
            CloseHandle(*ours);
    }
    LocalFree(own);
    return rc;
}

char *laz_os_socket_name(const char *directory)
{
    (void)directory;
    return laz_strdup(SOCKETS_INHERITED);
}

int laz_os_listen(const char *path, uint32_t uid, uint32_t gid, int *fd, struct laz_error *err)
{
    HANDLE ours, theirs;

    (void)path;
    (void)uid;
    (void)gid;
    int rc = laz_windows_pipe(true, &ours, &theirs, err);
    if (rc)
        return rc;
    *fd = laz_windows_new_fd(FDS_LISTENER, ours);
    if (*fd < 0) {
        CloseHandle(theirs);
        return laz_error_nomem(err);
    }
    laz_windows_entry(*fd)->theirs = theirs;
    return 0;
}

int laz_os_take_end(int listener)
{
    struct fds_entry *entry = laz_windows_entry(listener);
    HANDLE theirs = entry ? entry->theirs : NULL;

    if (!theirs)
        return -1;
    entry->theirs = NULL;
    SetEvent(entry->readable); /* the child that gets it can now be accepted */
    return laz_windows_new_fd(FDS_FILE, theirs);
}

/* The pipe of the listener itself becomes the connection: there is no second one. */
int laz_os_accept(int listener)
{
    struct fds_entry *entry = laz_windows_entry(listener);

    if (!entry || entry->kind != FDS_LISTENER || !entry->handle || entry->theirs) {
        errno = EAGAIN;
        return -1;
    }
    HANDLE handle = entry->handle;
    entry->handle = NULL;
    ResetEvent(entry->readable);
    return laz_windows_new_fd(FDS_PIPE, handle);
}

/* Makes standard input empty, for this process and for those that it starts. */
static bool sockets_empty_input(void)
{
    int nothing = _open("NUL", _O_RDONLY | _O_BINARY);
    bool done = nothing >= 0 && _dup2(nothing, 0) == 0; /* closes the previous one */

    if (nothing > 0)
        (void)_close(nothing);
    return done && SetStdHandle(STD_INPUT_HANDLE, (HANDLE)_get_osfhandle(0));
}

int laz_os_connect(const char *path, int *fd, struct laz_error *err)
{
    HANDLE self = GetCurrentProcess(), given = GetStdHandle(STD_INPUT_HANDLE), own = NULL;

    if (strcmp(path, SOCKETS_INHERITED) != 0 || GetFileType(given) != FILE_TYPE_PIPE)
        return laz_error_set(err, LAZ_EOS, ENOENT,
                             "cannot connect to %s: this process was given no connection", path);
    if (!DuplicateHandle(self, given, self, &own, 0, FALSE, DUPLICATE_SAME_ACCESS) ||
        !sockets_empty_input()) {
        int rc = laz_windows_fail(err, "cannot connect to %s", path);
        if (own)
            CloseHandle(own);
        return rc;
    }
    *fd = laz_windows_new_fd(FDS_PIPE, own);
    return *fd < 0 ? laz_error_nomem(err) : 0;
}

bool laz_os_is_ipv6(const char *text)
{
    unsigned char address[16];

    return inet_pton(AF_INET6, text, address) == 1;
}
