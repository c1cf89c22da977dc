/* SPDX-License-Identifier: MIT */
/* spawner.c - starting a child in a job of its own.
 * System: Windows.  Side: host.  Input trusted: yes.
 *
 * Every child is made inside a job object (PROC_THREAD_ATTRIBUTE_JOB_LIST: it never runs outside of
 * it), from which nothing can break away, and which ends with its last handle: this process has the
 * only one, so the end of the host, however it comes, is the end of all that it has started.  The
 * child inherits the handles of its three standard streams and no others
 * (PROC_THREAD_ATTRIBUTE_HANDLE_LIST), and its environment is the block that it is given. Batch
 * files are not started: cmd.exe would parse their arguments. libuv's way of starting processes
 * adds variables of the host, supports no list of jobs, and is not used.  Limits are set, read back
 * and compared before the child exists. */
#include "os/spawner.h"

#include "os/command_line.h"
#include "os/job_values.h"
#include "os/paths.h"
#include "os/windows/descriptors.h"
#include "os/windows/text.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(LAZ_JOB_FLAG_TIME == JOB_OBJECT_LIMIT_JOB_TIME &&
                   LAZ_JOB_FLAG_ACTIVE_PROCESS == JOB_OBJECT_LIMIT_ACTIVE_PROCESS &&
                   LAZ_JOB_FLAG_PROCESS_MEMORY == JOB_OBJECT_LIMIT_PROCESS_MEMORY &&
                   LAZ_JOB_FLAG_MEMORY == JOB_OBJECT_LIMIT_JOB_MEMORY &&
                   LAZ_JOB_FLAG_DIE_ON_EXCEPTION == JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION &&
                   LAZ_JOB_FLAG_BREAKAWAY == JOB_OBJECT_LIMIT_BREAKAWAY_OK &&
                   LAZ_JOB_FLAG_SILENT_BREAKAWAY == JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK &&
                   LAZ_JOB_FLAG_KILL_ON_CLOSE == JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
               "as winnt.h has them");

_Static_assert(LAZ_JOB_UI_HANDLES == JOB_OBJECT_UILIMIT_HANDLES &&
                   LAZ_JOB_UI_READ_CLIPBOARD == JOB_OBJECT_UILIMIT_READCLIPBOARD &&
                   LAZ_JOB_UI_WRITE_CLIPBOARD == JOB_OBJECT_UILIMIT_WRITECLIPBOARD &&
                   LAZ_JOB_UI_SYSTEM_PARAMETERS == JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS &&
                   LAZ_JOB_UI_DISPLAY_SETTINGS == JOB_OBJECT_UILIMIT_DISPLAYSETTINGS &&
                   LAZ_JOB_UI_GLOBAL_ATOMS == JOB_OBJECT_UILIMIT_GLOBALATOMS &&
                   LAZ_JOB_UI_DESKTOP == JOB_OBJECT_UILIMIT_DESKTOP &&
                   LAZ_JOB_UI_EXIT_WINDOWS == JOB_OBJECT_UILIMIT_EXITWINDOWS,
               "as winnt.h has them");

struct laz_spawner { /* nothing here depends on the thread that starts a process */
    int unused;
};

int laz_spawner_new(struct laz_spawner **spawner, struct laz_error *err)
{
    *spawner = calloc(1, sizeof **spawner);
    return *spawner ? 0 : laz_error_nomem(err);
}

void laz_spawner_free(struct laz_spawner *spawner)
{
    free(spawner);
}

/* ---- the job -------------------------------------------------------------------------------- */

/* Reads the present limits of the job, in the terms in which they were requested. */
static void job_read_back(HANDLE job, struct laz_job_values *found)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;

    memset(found, 0, sizeof *found);
    if (!QueryInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits,
                                   NULL))
        return;
    found->flags = limits.BasicLimitInformation.LimitFlags;
    found->of[LAZ_JOB_NPROC] = limits.BasicLimitInformation.ActiveProcessLimit;
    found->of[LAZ_JOB_CPU] = (uint64_t)limits.BasicLimitInformation.PerJobUserTimeLimit.QuadPart;
    found->of[LAZ_JOB_PROCESS_MEMORY] = limits.ProcessMemoryLimit;
    found->of[LAZ_JOB_MEMORY] = limits.JobMemoryLimit;
}

/* Windows nests jobs only where none of them restricts the user interface, and the program that
 * starts this process (a terminal, a service, a runner of tests) often has put it into one. */
static bool job_would_be_nested(void)
{
    BOOL inside = TRUE;

    return !IsProcessInJob(GetCurrentProcess(), NULL, &inside) || inside;
}

static int job_new(const struct laz_spawn *spawn, HANDLE *out, struct laz_error *err)
{
    const struct laz_job_limits none = laz_job_limits_none();
    struct laz_job_values asked, found;
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    HANDLE job = CreateJobObjectW(NULL, NULL);

    if (!job)
        return laz_windows_fail(err, "cannot create a job object for %s", spawn->argv[0]);
    laz_job_values_make(spawn->job ? spawn->job : &none, &asked);
    limits.BasicLimitInformation.LimitFlags = asked.flags;
    limits.BasicLimitInformation.ActiveProcessLimit = (DWORD)asked.of[LAZ_JOB_NPROC];
    limits.BasicLimitInformation.PerJobUserTimeLimit.QuadPart = (LONGLONG)asked.of[LAZ_JOB_CPU];
    limits.ProcessMemoryLimit = (SIZE_T)asked.of[LAZ_JOB_PROCESS_MEMORY];
    limits.JobMemoryLimit = (SIZE_T)asked.of[LAZ_JOB_MEMORY];
    if (!SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits)) {
        int rc = laz_windows_fail(err, "the job object for %s cannot be limited", spawn->argv[0]);
        CloseHandle(job);
        return rc;
    }
    if (spawn->job && !job_would_be_nested()) { /* tools of the host may open windows */
        JOBOBJECT_BASIC_UI_RESTRICTIONS ui = {.UIRestrictionsClass = asked.ui};
        (void)SetInformationJobObject(job, JobObjectBasicUIRestrictions, &ui, sizeof ui);
    }
    job_read_back(job, &found);
    if (spawn->job && spawn->job_missing)
        *spawn->job_missing = laz_job_values_missing(&asked, &found);
    *out = job;
    return 0;
}

/* ---- starting ------------------------------------------------------------------------------- */

struct process_start {
    const struct laz_spawn *spawn;
    HANDLE job, streams[3]; /* streams: copies that can be inherited */
    wchar_t *program, *command, *directory, *environment;
    LPPROC_THREAD_ATTRIBUTE_LIST attributes;
    bool listed;
};

static void start_end(struct process_start *start)
{
    for (size_t i = 0; i < 3; i++)
        if (start->streams[i])
            CloseHandle(start->streams[i]);
    if (start->listed)
        DeleteProcThreadAttributeList(start->attributes);
    free(start->attributes);
    free(start->program);
    free(start->command);
    free(start->directory);
    free(start->environment);
}

/* A copy of the handle that a child may inherit; of "NUL" where there is none. */
static HANDLE start_stream(int fd)
{
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE copy = NULL;

    if (fd < 0) {
        copy = CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                           &inherited, OPEN_EXISTING, 0, NULL);
        return copy == INVALID_HANDLE_VALUE ? NULL : copy;
    }
    HANDLE self = GetCurrentProcess(), handle = laz_windows_handle(fd);
    if (handle == INVALID_HANDLE_VALUE) { /* the same value also names this process */
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    return DuplicateHandle(self, handle, self, &copy, 0, TRUE, DUPLICATE_SAME_ACCESS) ? copy : NULL;
}

static int start_streams(struct process_start *start, struct laz_error *err)
{
    const struct laz_spawn *spawn = start->spawn;
    int fds[3] = {-1, -1, -1};

    for (size_t i = 0; i < spawn->n_fds; i++) {
        int child = spawn->fds[i].child;
        if (child < 0 || child > 2)
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "descriptor %d of a child: on Windows a child gets 0, 1 and 2",
                                 child);
        fds[child] = spawn->fds[i].parent;
    }
    for (size_t i = 0; i < 3; i++) {
        start->streams[i] = start_stream(fds[i]);
        if (!start->streams[i])
            return laz_windows_fail(err, "%s cannot be given its stream %zu", spawn->argv[0], i);
    }
    return 0;
}

static int start_attributes(struct process_start *start, struct laz_error *err)
{
    SIZE_T size = 0;

    InitializeProcThreadAttributeList(NULL, 2, 0, &size);
    start->attributes = malloc(size);
    if (!start->attributes)
        return laz_error_nomem(err);
    start->listed = InitializeProcThreadAttributeList(start->attributes, 2, 0, &size);
    if (start->listed &&
        UpdateProcThreadAttribute(start->attributes, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
                                  start->streams, sizeof start->streams, NULL, NULL) &&
        UpdateProcThreadAttribute(start->attributes, 0, PROC_THREAD_ATTRIBUTE_JOB_LIST, &start->job,
                                  sizeof start->job, NULL, NULL))
        return 0;
    return laz_windows_fail(err, "%s cannot be started: its attributes", start->spawn->argv[0]);
}

/* The root of the drive of the system. */
static wchar_t *start_root(void)
{
    wchar_t *root = calloc(MAX_PATH + 1, sizeof *root);

    if (root && GetSystemWindowsDirectoryW(root, MAX_PATH) > 2)
        root[3] = 0;
    return root;
}

static int start_texts(struct process_start *start, struct laz_error *err)
{
    const struct laz_spawn *spawn = start->spawn;
    struct laz_buf command = LAZ_BUF_INIT, block = LAZ_BUF_INIT;
    int rc = laz_command_line(spawn->argv, &command, err);

    if (!rc)
        rc = laz_environment_block(spawn->env, &block, err);
    if (!rc) {
        start->program = laz_windows_path(spawn->argv[0]);
        start->command = laz_windows_wide(laz_buf_text(&command));
        start->directory = spawn->directory ? laz_windows_path(spawn->directory) : start_root();
        start->environment = laz_windows_wide_n(block.data, block.len);
        if (!start->program || !start->command || !start->directory || !start->environment)
            rc =
                laz_error_set(err, LAZ_EINVAL, 0,
                              "%s cannot be started: its path, arguments, directory or environment "
                              "are not UTF-8, or an allocation failed",
                              spawn->argv[0]);
    }
    laz_buf_fini(&command);
    laz_buf_fini(&block);
    return rc;
}

static int start_process(struct process_start *start, HANDLE *process, DWORD *pid,
                         struct laz_error *err)
{
    STARTUPINFOEXW info = {.StartupInfo = {.cb = sizeof info,
                                           .dwFlags = STARTF_USESTDHANDLES,
                                           .hStdInput = start->streams[0],
                                           .hStdOutput = start->streams[1],
                                           .hStdError = start->streams[2]},
                           .lpAttributeList = start->attributes};
    PROCESS_INFORMATION made;
    DWORD flags = CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW |
                  CREATE_SUSPENDED | (start->spawn->group ? CREATE_NEW_PROCESS_GROUP : 0);

    if (!CreateProcessW(start->program, start->command, NULL, NULL, TRUE, flags, start->environment,
                        start->directory, &info.StartupInfo, &made))
        return laz_windows_fail(err, "%s cannot be started", start->spawn->argv[0]);
    BOOL inside = FALSE; /* a system that ignores the attribute would report no error */
    int rc = 0;
    if (!IsProcessInJob(made.hProcess, start->job, &inside) || !inside)
        rc = laz_error_set(err, LAZ_ESETUP, 0,
                           "%s cannot be started: this system did not put it into its job",
                           start->spawn->argv[0]);
    else if (ResumeThread(made.hThread) == (DWORD)-1)
        rc = laz_windows_fail(err, "%s cannot be started: it does not run", start->spawn->argv[0]);
    CloseHandle(made.hThread);
    if (rc) {
        TerminateProcess(made.hProcess, PROCESS_KILLED);
        CloseHandle(made.hProcess);
        return rc;
    }
    *process = made.hProcess;
    *pid = made.dwProcessId;
    return 0;
}

/* Checks the name as it is given, and the name of the file where links, short names and the like
 * lead. */
static int start_check_name(const char *program, struct laz_error *err)
{
    const char *why = laz_command_line_refuses(program);
    char *real = why ? NULL : laz_os_real_path(program);

    if (real)
        why = laz_command_line_refuses(real);
    int rc = why ? laz_error_set(err, LAZ_EREFUSED, 0, "%s cannot be started: %s %s", program,
                                 real ? real : "it", why)
                 : 0;
    free(real);
    return rc;
}

int laz_spawner_spawn(struct laz_spawner *spawner, const struct laz_spawn *spawn,
                      struct laz_process *process, struct laz_error *err)
{
    struct process_start start = {.spawn = spawn};
    HANDLE handle = NULL;
    DWORD pid = 0;

    (void)spawner;
    *process = LAZ_PROCESS_INIT;
    if (!spawn->argv || !spawn->argv[0] || !laz_os_is_absolute(spawn->argv[0]))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "a program is started by its absolute path, not as \"%s\"",
                             spawn->argv && spawn->argv[0] ? spawn->argv[0] : "");
    if (spawn->uid != LAZ_SPAWN_SAME_ID)
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s: Windows has no uids", spawn->argv[0]);
    int rc = start_check_name(spawn->argv[0], err);
    if (!rc)
        rc = job_new(spawn, &start.job, err);
    if (!rc)
        rc = start_texts(&start, err);
    if (!rc)
        rc = start_streams(&start, err);
    if (!rc)
        rc = start_attributes(&start, err);
    if (!rc)
        rc = start_process(&start, &handle, &pid, err);
    start_end(&start);
    if (rc) {
        if (start.job)
            CloseHandle(start.job);
        return rc;
    }
    process->pid = (pid_t)pid;
    process->pidfd = laz_windows_new_fd(FDS_PROCESS, handle);
    if (process->pidfd < 0) {
        CloseHandle(start.job); /* which also ends the process */
        return laz_error_nomem(err);
    }
    laz_windows_entry(process->pidfd)->job = start.job;
    return 0;
}
