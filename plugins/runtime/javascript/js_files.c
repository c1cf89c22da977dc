/* SPDX-License-Identifier: MIT */
/* js_files.c - calls of the system for files, for the part `fs`.
 * Side: box.  Input trusted: no (the code).
 *
 * Each is one call of the system, or a loop around one. What fails gives its error number,
 * negative; the part makes the error of it. Arguments are strings (a path may also be an array of
 * bytes) and numbers: the part has checked that. */
#include "js.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a file that is read as a whole. */
#define FILES_READ_MAX ((size_t)512 << 20)

/* ---- arguments and results ------------------------------------------------------------------- */

static int files_int(JSContextRef context, size_t n, const JSValueRef arguments[], size_t i)
{
    const double number = js_argument(context, n, arguments, i, 0);

    return number >= INT_MIN && number <= INT_MAX ? (int)number : -1;
}

static bool files_flag(JSContextRef context, size_t n, const JSValueRef arguments[], size_t i)
{
    return i < n && JSValueToBoolean(context, arguments[i]);
}

/* The path at `i`, to be freed; NULL: out of memory. */
static char *files_path(JSContextRef context, size_t n, const JSValueRef arguments[], size_t i)
{
    void *bytes;
    size_t len;

    if (i >= n)
        return strdup("");
    if (!js_bytes(context, arguments[i], &bytes, &len))
        return js_text(context, arguments[i], NULL, NULL);
    char *path = malloc(len + 1);
    if (path) {
        if (len)
            memcpy(path, bytes, len);
        path[len] = '\0';
    }
    return path;
}

/* 0, or what a call has left in errno. */
static JSValueRef files_done(JSContextRef context, int rc)
{
    return JSValueMakeNumber(context, rc < 0 ? -errno : rc);
}

static JSValueRef files_error(JSContextRef context, int number)
{
    return JSValueMakeNumber(context, -number);
}

/* A name of the system: a string, or its bytes. */
static JSValueRef files_name(JSContextRef context, const char *name, bool as_bytes)
{
    char *bytes = as_bytes ? strdup(name) : NULL;

    return bytes ? js_new_bytes(context, bytes, strlen(name), NULL)
                 : js_string(context, name, strlen(name));
}

/* After a call that a signal has ended: once more, but where the execution is to end. */
static bool files_again(void)
{
    return errno == EINTR && !js_here->is_interrupted;
}

/* Calls `call` with the path at 0. */
static JSValueRef files_with(JSContextRef context, size_t n, const JSValueRef arguments[],
                             int (*call)(const char *))
{
    char *path = files_path(context, n, arguments, 0);
    JSValueRef done = path ? files_done(context, call(path)) : files_error(context, ENOMEM);

    free(path);
    return done;
}

/* Calls `call` with the paths at 0 and 1. */
static JSValueRef files_with_two(JSContextRef context, size_t n, const JSValueRef arguments[],
                                 int (*call)(const char *, const char *))
{
    char *from = files_path(context, n, arguments, 0);
    char *to = files_path(context, n, arguments, 1);
    JSValueRef done =
        from && to ? files_done(context, call(from, to)) : files_error(context, ENOMEM);

    free(from);
    free(to);
    return done;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* What was printed before comes before it. */
static void files_before_write(int fd)
{
    if (fd != STDOUT_FILENO && fd != STDERR_FILENO)
        return;
    js_flush(js_here);
    js_here->services->switch_output(js_here->services->agent, fd);
}

/* fsOpen(path, flags, mode): a descriptor */
JS_NATIVE(files_open)
{
    JS_UNUSED;
    char *path = files_path(context, n, arguments, 0);
    const int flags = files_int(context, n, arguments, 1),
              mode = files_int(context, n, arguments, 2);
    int fd = -1;

    if (!path)
        return files_error(context, ENOMEM);
    do
        fd = open(path, flags | O_CLOEXEC, (mode_t)mode);
    while (fd < 0 && files_again());
    JSValueRef done = files_done(context, fd);
    free(path);
    return done;
}

/* fsClose(fd) */
JS_NATIVE(files_close)
{
    JS_UNUSED;
    const int fd = files_int(context, n, arguments, 0);

    files_before_write(fd);
    return files_done(context, close(fd) < 0 && errno != EINTR ? -1 : 0);
}

/* The bytes [offset, offset + length) of the array at 1, as far as it has them. */
static unsigned char *files_part(JSContextRef context, size_t n, const JSValueRef arguments[],
                                 size_t *len)
{
    void *bytes;
    size_t has;
    const double offset = js_argument(context, n, arguments, 2, 0);
    const double wanted = js_argument(context, n, arguments, 3, 0);

    *len = 0;
    if (n < 2 || !js_bytes(context, arguments[1], &bytes, &has) || !(offset >= 0) ||
        !(wanted >= 0) || offset > (double)has)
        return NULL;
    *len = has - (size_t)offset;
    if (wanted < (double)*len)
        *len = (size_t)wanted;
    return (unsigned char *)bytes + (size_t)offset;
}

/* fsRead(fd, bytes, offset, length, position): how many; a position below 0 is that of the file */
JS_NATIVE(files_read)
{
    JS_UNUSED;
    const int fd = files_int(context, n, arguments, 0);
    const double position = js_argument(context, n, arguments, 4, -1);
    size_t len;
    unsigned char *to = files_part(context, n, arguments, &len);
    ssize_t got;

    if (!to)
        return files_error(context, EINVAL);
    do
        got = position >= 0 ? pread(fd, to, len, (off_t)position) : read(fd, to, len);
    while (got < 0 && files_again());
    return JSValueMakeNumber(context, got < 0 ? -errno : (double)got);
}

/* fsWrite(fd, bytes, offset, length, position): how many */
JS_NATIVE(files_write)
{
    JS_UNUSED;
    const int fd = files_int(context, n, arguments, 0);
    const double position = js_argument(context, n, arguments, 4, -1);
    size_t len;
    const unsigned char *from = files_part(context, n, arguments, &len);
    ssize_t put;

    if (!from)
        return files_error(context, EINVAL);
    files_before_write(fd);
    do
        put = position >= 0 ? pwrite(fd, from, len, (off_t)position) : write(fd, from, len);
    while (put < 0 && files_again());
    return JSValueMakeNumber(context, put < 0 ? -errno : (double)put);
}

/* Grows `*bytes` so that it has room behind `len`: 0, or an error number. */
static int files_grow(char **bytes, size_t *room, size_t len)
{
    if (len < *room)
        return 0;
    if (len > FILES_READ_MAX)
        return EFBIG;
    const size_t wanted = *room ? *room * 2 : 65536;
    char *larger = realloc(*bytes, wanted);
    if (!larger)
        return ENOMEM;
    *bytes = larger;
    *room = wanted;
    return 0;
}

/* fsReadAll(fd): the bytes that the file has from where it stands, at most 512 MiB, else EFBIG */
JS_NATIVE(files_read_all)
{
    JS_UNUSED;
    const int fd = files_int(context, n, arguments, 0);
    char *bytes = NULL;
    size_t len = 0, room = 0;
    ssize_t got = 1;
    struct stat st;
    int number = 0;

    if (fstat(fd, &st) < 0)
        return files_error(context, errno);
    if (S_ISREG(st.st_mode) && st.st_size > (off_t)FILES_READ_MAX)
        return files_error(context, EFBIG);
    if (S_ISREG(st.st_mode) && st.st_size > 0 && (bytes = malloc((size_t)st.st_size + 1)))
        room = (size_t)st.st_size + 1;
    while (got > 0 && !(number = files_grow(&bytes, &room, len))) {
        got = read(fd, bytes + len, room - len);
        if (got > 0)
            len += (size_t)got;
        else if (got < 0 && files_again())
            got = 1;
        else if (got < 0)
            number = errno;
    }
    if (!number)
        return js_new_bytes(context, bytes, len, exception);
    free(bytes);
    return files_error(context, number);
}

/* fsWriteAll(fd, text_or_bytes): writes all of it */
JS_NATIVE(files_write_all)
{
    JS_UNUSED;
    const int fd = files_int(context, n, arguments, 0);
    void *bytes = NULL;
    char *text = NULL;
    size_t len = 0;
    int number = 0;

    if (n > 1 && !js_bytes(context, arguments[1], &bytes, &len) &&
        !(bytes = text = js_text(context, arguments[1], &len, exception)))
        return files_error(context, ENOMEM);
    const char *from = bytes;
    files_before_write(fd);
    for (size_t at = 0; at < len && !number;) {
        const ssize_t put = write(fd, from + at, len - at);
        if (put >= 0)
            at += (size_t)put;
        else if (!files_again())
            number = errno;
    }
    free(text);
    return files_error(context, number);
}

/* fsSync(fd, is_data) */
JS_NATIVE(files_sync)
{
    JS_UNUSED;
    const int fd = files_int(context, n, arguments, 0);

    return files_done(context, files_flag(context, n, arguments, 1) ? fdatasync(fd) : fsync(fd));
}

/* fsIsTerminal(fd) */
JS_NATIVE(files_is_terminal)
{
    JS_UNUSED;
    return JSValueMakeBoolean(context, isatty(files_int(context, n, arguments, 0)) == 1);
}

/* ---- what a file is -------------------------------------------------------------------------- */

/* When the file was made; where the system does not say, when it was changed. */
static struct timespec files_birth(const char *path, int fd, bool follow, const struct stat *st)
{
#ifdef STATX_BTIME
    struct statx more;
    const int flags = path ? (follow ? 0 : AT_SYMLINK_NOFOLLOW) : AT_EMPTY_PATH;

    if (statx(path ? AT_FDCWD : fd, path ? path : "", flags, STATX_BTIME, &more) == 0 &&
        (more.stx_mask & STATX_BTIME))
        return (struct timespec){(time_t)more.stx_btime.tv_sec, (long)more.stx_btime.tv_nsec};
#else
    (void)path, (void)fd, (void)follow;
#endif
    return st->st_ctim;
}

static JSValueRef files_facts(JSContextRef context, const struct stat *st, struct timespec birth)
{
    const double facts[] = {
        (double)st->st_dev,          (double)st->st_mode,         (double)st->st_nlink,
        (double)st->st_uid,          (double)st->st_gid,          (double)st->st_rdev,
        (double)st->st_blksize,      (double)st->st_ino,          (double)st->st_size,
        (double)st->st_blocks,       (double)st->st_atim.tv_sec,  (double)st->st_atim.tv_nsec,
        (double)st->st_mtim.tv_sec,  (double)st->st_mtim.tv_nsec, (double)st->st_ctim.tv_sec,
        (double)st->st_ctim.tv_nsec, (double)birth.tv_sec,        (double)birth.tv_nsec,
    };
    JSValueRef values[sizeof facts / sizeof *facts];

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        values[i] = JSValueMakeNumber(context, facts[i]);
    return JSObjectMakeArray(context, sizeof facts / sizeof *facts, values, NULL);
}

/* fsStat(path_or_fd, follow): the numbers of files_facts */
JS_NATIVE(files_stat)
{
    JS_UNUSED;
    const bool is_fd = n > 0 && JSValueIsNumber(context, arguments[0]);
    const bool follow = files_flag(context, n, arguments, 1);
    const int fd = is_fd ? files_int(context, n, arguments, 0) : -1;
    char *path = is_fd ? NULL : files_path(context, n, arguments, 0);
    struct stat st;
    JSValueRef value;

    if (!is_fd && !path)
        return files_error(context, ENOMEM);
    const int rc = is_fd ? fstat(fd, &st) : follow ? stat(path, &st) : lstat(path, &st);
    if (rc < 0)
        value = files_error(context, errno);
    else
        value = files_facts(context, &st, files_birth(path, fd, follow, &st));
    free(path);
    return value;
}

/* fsAccess(path, mode) */
JS_NATIVE(files_access)
{
    JS_UNUSED;
    char *path = files_path(context, n, arguments, 0);
    JSValueRef done = path ? files_done(context, access(path, files_int(context, n, arguments, 1)))
                           : files_error(context, ENOMEM);

    free(path);
    return done;
}

/* fsReadLink(path, as_bytes) */
JS_NATIVE(files_read_link)
{
    JS_UNUSED;
    char *path = files_path(context, n, arguments, 0);
    char target[PATH_MAX + 1];
    const ssize_t len = path ? readlink(path, target, PATH_MAX) : -1;
    JSValueRef value;

    if (len < 0) {
        value = files_error(context, path ? errno : ENOMEM);
    } else {
        target[len] = '\0';
        value = files_name(context, target, files_flag(context, n, arguments, 1));
    }
    free(path);
    return value;
}

/* fsRealPath(path, as_bytes) */
JS_NATIVE(files_real_path)
{
    JS_UNUSED;
    char *path = files_path(context, n, arguments, 0);
    char *real = path ? realpath(path, NULL) : NULL;
    JSValueRef value = real ? files_name(context, real, files_flag(context, n, arguments, 1))
                            : files_error(context, path ? errno : ENOMEM);

    free(real);
    free(path);
    return value;
}

/* fsType: the type bits of an entry's mode, 0: unknown */
static int files_entry_type(const struct dirent *entry)
{
#ifdef DTTOIF
    return (int)DTTOIF(entry->d_type);
#else
    (void)entry;
    return 0;
#endif
}

/* Puts `value` at the end of `list`. */
static void files_push(JSContextRef context, JSObjectRef list, unsigned *count, JSValueRef value)
{
    JSObjectSetPropertyAtIndex(context, list, (*count)++, value, NULL);
}

/* fsList(path, as_bytes): name, type, name, type... */
JS_NATIVE(files_list)
{
    JS_UNUSED;
    const bool as_bytes = files_flag(context, n, arguments, 1);
    char *path = files_path(context, n, arguments, 0);
    DIR *directory = path ? opendir(path) : NULL;
    const int number = path ? errno : ENOMEM;
    struct dirent *entry;
    unsigned count = 0;

    free(path);
    if (!directory)
        return files_error(context, number);
    JSObjectRef list = JSObjectMakeArray(context, 0, NULL, NULL);
    errno = 0;
    while ((entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            files_push(context, list, &count, files_name(context, entry->d_name, as_bytes));
            files_push(context, list, &count, JSValueMakeNumber(context, files_entry_type(entry)));
        }
        errno = 0;
    }
    const int failed = errno;
    closedir(directory);
    return failed ? files_error(context, failed) : list;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* fsMakeDirectory(path, mode) */
JS_NATIVE(files_make_directory)
{
    JS_UNUSED;
    char *path = files_path(context, n, arguments, 0);
    JSValueRef done =
        path ? files_done(context, mkdir(path, (mode_t)files_int(context, n, arguments, 1)))
             : files_error(context, ENOMEM);

    free(path);
    return done;
}

/* fsMakeTemporary(prefix): a directory's name */
JS_NATIVE(files_make_temporary)
{
    JS_UNUSED;
    char *prefix = files_path(context, n, arguments, 0);
    const size_t size = prefix ? strlen(prefix) + sizeof "XXXXXX" : 0;
    char *path = prefix ? malloc(size) : NULL;
    JSValueRef value;

    if (path)
        snprintf(path, size, "%sXXXXXX", prefix);
    if (path && mkdtemp(path))
        value = files_name(context, path, false);
    else
        value = files_error(context, path ? errno : ENOMEM);
    free(path);
    free(prefix);
    return value;
}

JS_NATIVE(files_remove_directory)
{
    JS_UNUSED;
    return files_with(context, n, arguments, rmdir);
}

JS_NATIVE(files_unlink)
{
    JS_UNUSED;
    return files_with(context, n, arguments, unlink);
}

JS_NATIVE(files_rename)
{
    JS_UNUSED;
    return files_with_two(context, n, arguments, rename);
}

JS_NATIVE(files_link)
{
    JS_UNUSED;
    return files_with_two(context, n, arguments, link);
}

/* fsSymlink(target, path) */
JS_NATIVE(files_symlink)
{
    JS_UNUSED;
    return files_with_two(context, n, arguments, symlink);
}

/* fsMode(path_or_fd, mode) */
JS_NATIVE(files_mode)
{
    JS_UNUSED;
    const mode_t mode = (mode_t)files_int(context, n, arguments, 1);

    if (n > 0 && JSValueIsNumber(context, arguments[0]))
        return files_done(context, fchmod(files_int(context, n, arguments, 0), mode));
    char *path = files_path(context, n, arguments, 0);
    JSValueRef done = path ? files_done(context, chmod(path, mode)) : files_error(context, ENOMEM);
    free(path);
    return done;
}

/* fsOwner(path_or_fd, uid, gid, follow) */
JS_NATIVE(files_owner)
{
    JS_UNUSED;
    const uid_t uid = (uid_t)js_argument(context, n, arguments, 1, 0);
    const gid_t gid = (gid_t)js_argument(context, n, arguments, 2, 0);

    if (n > 0 && JSValueIsNumber(context, arguments[0]))
        return files_done(context, fchown(files_int(context, n, arguments, 0), uid, gid));
    char *path = files_path(context, n, arguments, 0);
    if (!path)
        return files_error(context, ENOMEM);
    const int rc =
        files_flag(context, n, arguments, 3) ? chown(path, uid, gid) : lchown(path, uid, gid);
    JSValueRef done = files_done(context, rc);
    free(path);
    return done;
}

static struct timespec files_time(double seconds)
{
    const double whole = floor(seconds);

    if (!(whole > -1e15 && whole < 1e15))
        return (struct timespec){0};
    return (struct timespec){(time_t)whole, (long)((seconds - whole) * 1e6) * 1000};
}

/* fsTimes(path_or_fd, accessed, modified, follow): seconds */
JS_NATIVE(files_times)
{
    JS_UNUSED;
    const struct timespec times[2] = {files_time(js_argument(context, n, arguments, 1, 0)),
                                      files_time(js_argument(context, n, arguments, 2, 0))};

    if (n > 0 && JSValueIsNumber(context, arguments[0]))
        return files_done(context, futimens(files_int(context, n, arguments, 0), times));
    char *path = files_path(context, n, arguments, 0);
    if (!path)
        return files_error(context, ENOMEM);
    const int flags = files_flag(context, n, arguments, 3) ? 0 : AT_SYMLINK_NOFOLLOW;
    JSValueRef done = files_done(context, utimensat(AT_FDCWD, path, times, flags));
    free(path);
    return done;
}

/* fsTruncate(fd, length) */
JS_NATIVE(files_truncate)
{
    JS_UNUSED;
    return files_done(context, ftruncate(files_int(context, n, arguments, 0),
                                         (off_t)js_argument(context, n, arguments, 1, 0)));
}

/* Everything of one descriptor to another: 0, or an error number. */
static int files_copy_bytes(int from, int to)
{
    char bytes[65536];

    for (;;) {
        const ssize_t got = read(from, bytes, sizeof bytes);
        if (got == 0)
            return 0;
        if (js_here->is_interrupted)
            return EINTR;
        if (got < 0 && !files_again())
            return errno;
        for (ssize_t at = 0; at < got;) {
            const ssize_t put = write(to, bytes + at, (size_t)(got - at));
            if (put >= 0)
                at += put;
            else if (!files_again())
                return errno;
        }
    }
}

/* As `from` to `to`, which a file that did not exist is taken away from again: an error number. */
static int files_copy_file(const char *from, const char *to, bool exclusive)
{
    struct stat source, target;
    int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, number = 0;

    if (in < 0)
        return errno;
    const bool is_there = stat(to, &target) == 0;
    if (fstat(in, &source) < 0)
        number = errno;
    else if (is_there && source.st_dev == target.st_dev && source.st_ino == target.st_ino)
        number = exclusive ? EEXIST : -1; /* -1: nothing to do */
    else if ((out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (exclusive ? O_EXCL : 0),
                         source.st_mode & 07777)) < 0)
        number = errno;
    if (!number && S_ISREG(source.st_mode))
        (void)fchmod(out, source.st_mode & 07777);
    if (!number)
        number = files_copy_bytes(in, out);
    if (out >= 0 && close(out) < 0 && !number)
        number = errno;
    if (number > 0 && out >= 0 && !is_there)
        (void)unlink(to);
    close(in);
    return number < 0 ? 0 : number;
}

/* fsCopy(from, to, exclusive) */
JS_NATIVE(files_copy)
{
    JS_UNUSED;
    char *from = files_path(context, n, arguments, 0);
    char *to = files_path(context, n, arguments, 1);
    const int number =
        from && to ? files_copy_file(from, to, files_flag(context, n, arguments, 2)) : ENOMEM;

    free(from);
    free(to);
    return files_error(context, number);
}

/* ---- numbers of the system ------------------------------------------------------------------- */

static const struct {
    const char *name;
    int number;
} files_constants[] = {
#define NUMBER(name)                                                                               \
    {                                                                                              \
#name, name                                                                                \
    }
    NUMBER(O_RDONLY),   NUMBER(O_WRONLY),    NUMBER(O_RDWR),     NUMBER(S_IFMT),   NUMBER(S_IFREG),
    NUMBER(S_IFDIR),    NUMBER(S_IFCHR),     NUMBER(S_IFBLK),    NUMBER(S_IFIFO),  NUMBER(S_IFLNK),
    NUMBER(S_IFSOCK),   NUMBER(O_CREAT),     NUMBER(O_EXCL),     NUMBER(O_NOCTTY), NUMBER(O_TRUNC),
    NUMBER(O_APPEND),   NUMBER(O_DIRECTORY), NUMBER(O_NOFOLLOW), NUMBER(O_SYNC),   NUMBER(O_DSYNC),
    NUMBER(O_NONBLOCK), NUMBER(S_IRWXU),     NUMBER(S_IRUSR),    NUMBER(S_IWUSR),  NUMBER(S_IXUSR),
    NUMBER(S_IRWXG),    NUMBER(S_IRGRP),     NUMBER(S_IWGRP),    NUMBER(S_IXGRP),  NUMBER(S_IRWXO),
    NUMBER(S_IROTH),    NUMBER(S_IWOTH),     NUMBER(S_IXOTH),    NUMBER(F_OK),     NUMBER(R_OK),
    NUMBER(W_OK),       NUMBER(X_OK),
#undef NUMBER
};

/* fsConstants(): an object of names and numbers */
JS_NATIVE(files_constant_table)
{
    JS_UNUSED;
    (void)n, (void)arguments;
    JSObjectRef table = JSObjectMake(context, NULL, NULL);

    for (size_t i = 0; i < sizeof files_constants / sizeof *files_constants; i++)
        js_set(context, table, files_constants[i].name,
               js_number(context, files_constants[i].number));
    return table;
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct js_native js_natives_files[] = {
    {"fsOpen", files_open},
    {"fsClose", files_close},
    {"fsRead", files_read},
    {"fsWrite", files_write},
    {"fsReadAll", files_read_all},
    {"fsWriteAll", files_write_all},
    {"fsSync", files_sync},
    {"fsIsTerminal", files_is_terminal},
    {"fsStat", files_stat},
    {"fsAccess", files_access},
    {"fsReadLink", files_read_link},
    {"fsRealPath", files_real_path},
    {"fsList", files_list},
    {"fsMakeDirectory", files_make_directory},
    {"fsMakeTemporary", files_make_temporary},
    {"fsRemoveDirectory", files_remove_directory},
    {"fsUnlink", files_unlink},
    {"fsRename", files_rename},
    {"fsLink", files_link},
    {"fsSymlink", files_symlink},
    {"fsMode", files_mode},
    {"fsOwner", files_owner},
    {"fsTimes", files_times},
    {"fsTruncate", files_truncate},
    {"fsCopy", files_copy},
    {"fsConstants", files_constant_table},
    {NULL, NULL},
};
