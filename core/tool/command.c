/* SPDX-License-Identifier: MIT */
/* command.c - runs a host command for a tool or a hook, and waits for it.
 *
 * One poll waits for its two pipes, its pidfd and the descriptor that cancels it; there is no
 * thread, no signal handler and no polling interval.  Standard input is a file in memory, complete
 * before the command starts, so a command that reads late or never cannot block us or raise
 * SIGPIPE. Any failure after the start kills the process group and reaps the command. Side: host.
 * Input trusted: no (what a command prints; its arguments were checked before). */
#include "tool/command.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/paths.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/spawner.h"
#include "os/system.h"
#include "os/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_PIECE     ((size_t)64 << 10) /* bytes per read */
#define COMMAND_KILLED_MS 5000               /* how long to wait for the end of the process */

/* One stream of the command: the host's end of its pipe, and what was read from it. */
struct command_stream {
    int fd; /* -1: end of file */
    struct laz_buf *text;
    const char *name;
};

struct command_run {
    const struct laz_command *command;
    size_t max_output;
    struct laz_process process;
    struct command_stream streams[2];
    int cancel_fd;
    uint64_t deadline; /* of laz_clock_ms; LAZ_OS_FOREVER: none */
};

/* ---- environment ---------------------------------------------------------------------------- */

struct command_variable {
    const char *name, *without; /* without: the value if it is not set; NULL: omitted */
};

static const struct command_variable command_posix[] = {
    {"HOME", "/"},        {"LANG", "C.UTF-8"},  {"USER", NULL},        {"LOGNAME", NULL},
    {"SHELL", NULL},      {"TMPDIR", NULL},     {"TZ", NULL},          {"LC_ALL", NULL},
    {"LC_CTYPE", NULL},   {"LC_COLLATE", NULL}, {"LC_MESSAGES", NULL}, {"LC_MONETARY", NULL},
    {"LC_NUMERIC", NULL}, {"LC_TIME", NULL},    {NULL, NULL},
};

/* Most programs of Windows do not start without the first of them. */
static const struct command_variable command_windows[] = {
    {"SystemRoot", "C:\\Windows"},
    {"SystemDrive", "C:"},
    {"windir", "C:\\Windows"},
    {"ComSpec", "C:\\Windows\\System32\\cmd.exe"},
    {"PATHEXT", ".COM;.EXE;.BAT;.CMD"},
    {"USERNAME", NULL},
    {"USERPROFILE", NULL},
    {"HOMEDRIVE", NULL},
    {"HOMEPATH", NULL},
    {"APPDATA", NULL},
    {"LOCALAPPDATA", NULL},
    {"ProgramData", NULL},
    {"ProgramFiles", NULL},
    {"TMP", NULL},
    {"TEMP", NULL},
    {"TZ", NULL},
    {NULL, NULL},
};

static void command_path(struct laz_strv *env, bool windows)
{
    const char *root = windows ? laz_os_getenv("SystemRoot") : NULL;

    root = root ? root : command_windows[0].without;
    if (!windows)
        laz_strv_add(env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    else
        laz_strv_addf(env, "PATH=%s\\System32;%s;%s\\System32\\Wbem", root, root, root);
}

int laz_command_environment(struct laz_strv *env, struct laz_error *err)
{
    const bool windows = strcmp(laz_os_platform(), "windows") == 0;

    command_path(env, windows);
    for (const struct command_variable *kept = windows ? command_windows : command_posix;
         kept->name; kept++) {
        const char *value = getenv(kept->name);
        if (!value || !*value)
            value = kept->without;
        if (value)
            laz_strv_addf(env, "%s=%s", kept->name, value);
    }
    return env->failed ? laz_error_nomem(err) : 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Reads what is available, at most `most` bytes. */
static int stream_read(struct command_run *run, struct command_stream *stream, size_t most,
                       struct laz_error *err)
{
    struct laz_buf *text = stream->text;

    while (most) {
        size_t piece = most < COMMAND_PIECE ? most : COMMAND_PIECE;
        if (!laz_buf_reserve(text, piece))
            return laz_error_nomem(err);
        ssize_t n = laz_os_read(stream->fd, text->data + text->len, piece);
        if (n < 0)
            laz_os_close(&stream->fd);
        if (n <= 0)
            return 0;
        text->len += (size_t)n;
        text->data[text->len] = '\0';
        most -= (size_t)n;
        if (text->len > run->max_output)
            return laz_error_set(err, LAZ_ETOOBIG, 0, "%s wrote more than %zu bytes to its %s",
                                 run->command->argv[0], run->max_output, stream->name);
    }
    return 0;
}

/* Reads what the pipes hold at this moment and no more: a background child may write for ever. */
static int command_drain(struct command_run *run, struct laz_error *err)
{
    int ret = 0;

    for (int i = 0; i < 2 && !ret; i++)
        if (run->streams[i].fd >= 0)
            ret = stream_read(run, &run->streams[i], laz_os_pending(run->streams[i].fd), err);
    return ret;
}

/* Waits for the next event and handles it. *ended: the main process has ended. */
static int command_step(struct command_run *run, bool *ended, struct laz_error *err)
{
    struct laz_awaited fds[] = {
        {.fd = run->streams[0].fd},
        {.fd = run->streams[1].fd},
        {.fd = run->process.pidfd},
        {.fd = run->cancel_fd},
    };
    uint64_t wait = LAZ_OS_FOREVER;
    int ret = 0;

    if (run->deadline != LAZ_OS_FOREVER) {
        uint64_t now = laz_clock_ms();
        if (now >= run->deadline)
            return laz_error_set(err, LAZ_ETIMEOUT, 0, "%s took too long and was killed",
                                 run->command->argv[0]);
        wait = run->deadline - now;
    }
    int n = laz_os_await_any(fds, sizeof fds / sizeof *fds, wait);
    if (n < 0)
        return laz_error_os(err, errno, "waiting for %s", run->command->argv[0]);
    if (n == 0)
        return 0;
    if (fds[3].ready)
        return laz_error_set(err, LAZ_ETIMEOUT, 0, "%s was cancelled", run->command->argv[0]);
    if (fds[2].ready) {
        *ended = true;
        return command_drain(run, err);
    }
    for (int i = 0; i < 2 && !ret; i++)
        if (fds[i].ready)
            ret = stream_read(run, &run->streams[i], COMMAND_PIECE, err);
    return ret;
}

/* ---- starting and ending -------------------------------------------------------------------- */

static int command_start(struct command_run *run, struct laz_spawner *spawner,
                         const char *const *env, struct laz_error *err)
{
    const struct laz_command *command = run->command;
    int child_out = -1, child_errs = -1, input = -1;
    int ret = laz_os_cloexec_pipe(&run->streams[0].fd, &child_out, err);

    if (!ret)
        ret = laz_os_cloexec_pipe(&run->streams[1].fd, &child_errs, err);
    if (!ret && command->input_len)
        ret = laz_os_data_fd("input", command->input, command->input_len, &input, err);
    for (int i = 0; i < 2 && !ret; i++)
        ret = laz_os_nonblock(run->streams[i].fd, true, err);
    if (ret)
        goto out;
    const struct laz_spawn_fd fds[] = {{input, 0}, {child_out, 1}, {child_errs, 2}};
    const struct laz_spawn spawn = {
        LAZ_SPAWN_OWN(command->argv, env, fds),
        .death_signal = SIGKILL,
    };
    ret = laz_spawner_spawn(spawner, &spawn, &run->process, err);
out:
    laz_os_close(&child_out);
    laz_os_close(&child_errs);
    laz_os_close(&input);
    return ret;
}

static int command_end(struct command_run *run, int ret, struct laz_command_result *result,
                       struct laz_error *err)
{
    struct laz_exit how = {0};

    /* The leader is not reaped yet, so the number of its group cannot have been reused. */
    if (ret)
        laz_process_signal_group(&run->process, SIGKILL);
    bool gone = laz_process_wait(&run->process, COMMAND_KILLED_MS, &how);
    laz_process_close(&run->process);
    if (ret)
        return ret;
    if (!gone || !how.known)
        return laz_error_set(err, LAZ_EOS, 0,
                             "%s has ended, but its exit status is not known: other code in this "
                             "process takes the status of its children (or ignores SIGCHLD)",
                             run->command->argv[0]);
    *result = (struct laz_command_result){
        .size = sizeof *result,
        .exit_status = how.signal ? -1 : how.status,
        .signal = how.signal,
        .output = laz_buf_text(run->streams[0].text),
        .output_len = run->streams[0].text->len,
        .errors = laz_buf_text(run->streams[1].text),
        .errors_len = run->streams[1].text->len,
    };
    return 0;
}

int laz_command_check(const char *program, struct laz_error *err)
{
    if (!laz_os_is_absolute(program))
        return laz_error_set(err, LAZ_EINVAL, 0, "'%.100s' is not the absolute path of a program",
                             program ? program : "");
    int rc = laz_trust_file(program, err);
    if (!rc && !laz_os_can_execute(program))
        return laz_error_set(err, LAZ_EINVAL, 0, "%s is not a program that can be executed",
                             program);
    return rc == LAZ_EREFUSED ? laz_error_as(err, LAZ_EINVAL) : rc;
}

int laz_command_run(struct laz_spawner *spawner, const struct laz_command *command,
                    const char *const *env, int cancel_fd, uint64_t timeout_ms,
                    struct laz_command_result *result, struct laz_buf *out, struct laz_buf *errs,
                    struct laz_error *err)
{
    struct command_run run = {
        .command = command,
        .max_output = command->max_output ? command->max_output : LAZ_COMMAND_MAX_OUTPUT,
        .process = LAZ_PROCESS_INIT,
        .streams = {{-1, out, "standard output"}, {-1, errs, "standard error"}},
        .cancel_fd = cancel_fd,
        .deadline = timeout_ms == LAZ_OS_FOREVER ? timeout_ms : laz_clock_ms() + timeout_ms,
    };
    bool ended = false;

    laz_buf_clear(out);
    laz_buf_clear(errs);
    int ret = laz_command_check(command->argv ? command->argv[0] : NULL, err);
    if (!ret)
        ret = command_start(&run, spawner, env, err);
    if (ret)
        goto out;
    while (!ret && !ended)
        ret = command_step(&run, &ended, err);
    ret = command_end(&run, ret, result, err);
out:
    laz_os_close(&run.streams[0].fd);
    laz_os_close(&run.streams[1].fd);
    return ret;
}

/* ---- hooks ---------------------------------------------------------------------------------- */

/* Copies the first line of `text`, without control bytes and invalid UTF-8, and cuts it at a
 * character boundary. */
static void hook_reason(const char *text, size_t len, char *reason, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < len && text[i] != '\n';) {
        size_t n = laz_utf8_sequence(text + i, len - i);
        bool plain = n > 1 || (n == 1 && (unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
        if (plain && used + n >= size)
            break;
        if (plain) {
            memcpy(reason + used, text + i, n);
            used += n;
        }
        i += n ? n : 1;
    }
    if (size)
        reason[used] = '\0';
}

int laz_hook_run(struct laz_spawner *spawner, const char *const *argv, const char *const *env,
                 const char *code, size_t len, char *reason, size_t reason_size,
                 struct laz_error *err)
{
    struct laz_command command = {
        .size = sizeof command, .argv = argv, .input = code, .input_len = len};
    struct laz_command_result result;
    struct laz_buf out = LAZ_BUF_INIT, errs = LAZ_BUF_INIT;

    if (reason_size)
        reason[0] = '\0';
    int ret =
        laz_command_run(spawner, &command, env, -1, LAZ_HOOK_TIMEOUT_MS, &result, &out, &errs, err);
    if (!ret && result.exit_status != 0) {
        hook_reason(result.errors, result.errors_len, reason, reason_size);
        ret = laz_error_set(err, LAZ_EREFUSED, 0, "the hook refused the code");
    }
    laz_buf_fini(&out);
    laz_buf_fini(&errs);
    return ret;
}
