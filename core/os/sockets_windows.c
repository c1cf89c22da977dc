/* SPDX-License-Identifier: MIT */
/* sockets_windows.c - the one connection between host and agent: a named pipe.  System: Windows.
 * Side: both.  Input trusted: yes (paths of the host); what is read from the pipe is not.
 *
 * Names of pipes are for everybody to see and to take.  So the host makes the first instance, or
 * fails (FILE_FLAG_FIRST_PIPE_INSTANCE: nobody was there before), and the only one: who connects
 * second finds it busy.  Its access list has the host's own user and nobody else, who comes from
 * another machine is refused, and the agent lets the host see who it is, not act as it
 * (SECURITY_IDENTIFICATION).  The process that connected is told by the system
 * (GetNamedPipeClientProcessId). */
#include "base/buf.h"
#include "os/io.h"
#include "os/os.h"
#include "os/windows.h"

#include <errno.h>
#include <sddl.h>
#include <stdlib.h>
#include <string.h>

#define SOCKETS_ROOM ((DWORD)64 << 10) /* that the system keeps, each way */

/* Its folder, and that of its engine, whose name is random. */
char *laz_os_socket_name(const char *folder)
{
    const char *session = strrchr(folder, '/');
    const char *engine = session;

    while (engine && engine > folder && engine[-1] != '/')
        engine--;
    return session ? laz_strdupf("//./pipe/%.*s-%s", (int)(session - engine), engine, session + 1)
                   : NULL;
}

/* The access list: all for this user, nothing for others. The caller frees it with LocalFree. */
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

/* Wine passes over FILE_FLAG_FIRST_PIPE_INSTANCE: whether there is another instance is asked, too.
 */
static bool sockets_is_alone(HANDLE handle)
{
    DWORD instances = 0, most = 0;

    return GetNamedPipeHandleStateW(handle, NULL, &instances, NULL, NULL, NULL, 0) &&
           instances == 1 && GetNamedPipeInfo(handle, NULL, NULL, NULL, &most) && most == 1;
}

/* Somebody may have connected between the making of the pipe and this call. */
static bool sockets_await_client(struct fds_entry *entry)
{
    if (ConnectNamedPipe(entry->handle, &entry->reading)) {
        SetEvent(entry->readable);
        return true;
    }
    switch (GetLastError()) {
    case ERROR_IO_PENDING:
        entry->read_pending = true;
        return true;
    case ERROR_PIPE_CONNECTED:
        return SetEvent(entry->readable);
    default:
        return false;
    }
}

int laz_os_listen(const char *path, uint32_t uid, uint32_t gid, int *fd, struct laz_error *err)
{
    (void)uid;
    (void)gid;
    PSECURITY_DESCRIPTOR own = sockets_own_user();
    SECURITY_ATTRIBUTES access = {sizeof access, own, FALSE};
    int rc;

    if (!own)
        return laz_windows_fail(err, "no access list for %s could be made", path);
    wchar_t *name = laz_windows_path(path);
    if (!name) {
        rc = laz_error_nomem(err);
        goto out;
    }
    HANDLE handle = CreateNamedPipeW(
        name, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
        PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1,
        SOCKETS_ROOM, SOCKETS_ROOM, 0, &access);
    if (handle == INVALID_HANDLE_VALUE) {
        rc = laz_windows_fail(err, "cannot listen at %s", path);
        goto out;
    }
    if (!sockets_is_alone(handle)) {
        rc = laz_error_set(err, LAZ_EOS, 0, "cannot listen at %s: somebody else does", path);
        CloseHandle(handle);
        goto out;
    }
    *fd = laz_windows_new_fd(FDS_LISTENER, handle);
    rc = *fd < 0 ? laz_error_nomem(err) : 0;
    if (!rc && !sockets_await_client(laz_windows_entry(*fd))) {
        rc = laz_windows_fail(err, "cannot listen at %s", path);
        laz_os_close(fd);
    }
out:
    LocalFree(own);
    free(name);
    return rc;
}

/* The pipe itself becomes the connection: there is no second one. */
int laz_os_accept(int listener)
{
    struct fds_entry *entry = laz_windows_entry(listener);
    DWORD n;

    if (!entry || entry->kind != FDS_LISTENER || !entry->handle ||
        WaitForSingleObject(entry->readable, 0) != WAIT_OBJECT_0)
        return -1;
    if (entry->read_pending && !GetOverlappedResult(entry->handle, &entry->reading, &n, FALSE)) {
        if (GetLastError() != ERROR_IO_INCOMPLETE) { /* ended with the thread that began it */
            entry->read_pending = false;
            ResetEvent(entry->readable);
            (void)sockets_await_client(entry);
        }
        return -1;
    }
    HANDLE handle = entry->handle;
    entry->read_pending = false;
    entry->handle = NULL;
    ResetEvent(entry->readable);
    return laz_windows_new_fd(FDS_PIPE, handle);
}

int laz_os_connect(const char *path, int *fd, struct laz_error *err)
{
    wchar_t *name = laz_windows_path(path);
    int rc = 0;

    if (!name)
        return laz_error_nomem(err);
    HANDLE handle =
        CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                    FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        rc = laz_windows_fail(err, "cannot connect to %s", path);
    } else {
        *fd = laz_windows_new_fd(FDS_PIPE, handle);
        rc = *fd < 0 ? laz_error_nomem(err) : 0;
    }
    free(name);
    return rc;
}

int laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err)
{
    struct fds_entry *entry = laz_windows_entry(fd);
    ULONG pid = 0;

    memset(peer, 0, sizeof *peer);
    if (!entry || !GetNamedPipeClientProcessId(entry->handle, &pid))
        return laz_windows_fail(err, "the system does not tell who connected");
    peer->pid = pid;
    return 0;
}
