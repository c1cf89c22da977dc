/* SPDX-License-Identifier: MIT */
/* wine_process.c - processes of Windows: their environment, handles, and the job that ends them.
 *
 * Wine implements the lifetime rules of jobs, but not their limits, and does not claim to; so tests
 * of limits need Windows, and the tests in Wine show that lazaret detects that. */
#include "child.h"

#include "base/clock.h"
#include "os/directories.h"
#include "os/job_values.h"
#include "os/library.h"
#include "os/process.h"
#include "os/spawner.h"
#include "os/windows/descriptors.h"
#include "os/windows/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define SLEEP_MS 60000
#define MIB      ((uint64_t)1 << 20)

extern char **environ;

/* ---- what children do ----------------------------------------------------------------------- */

static int play_environment(char **args)
{
    (void)args;
    for (char **entry = environ; *entry; entry++)
        puts(*entry);
    return 0;
}

static int play_sleep(char **args)
{
    (void)args;
    printf("%lu\n", GetCurrentProcessId());
    fflush(stdout);
    Sleep(SLEEP_MS);
    return 0;
}

static int play_exit(char **args)
{
    return atoi(args[0]);
}

static int play_crash(char **args)
{
    volatile int *nowhere = NULL;

    (void)args;
    SetErrorMode(SEM_NOGPFAULTERRORBOX);
    return *nowhere;
}

/* Starts this program to sleep, with these flags of CreateProcessW; 0: success. */
static DWORD start_sleeper(DWORD flags)
{
    wchar_t path[MAX_PATH], command[MAX_PATH + 16];
    STARTUPINFOW start = {.cb = sizeof start};
    PROCESS_INFORMATION made;

    GetModuleFileNameW(NULL, path, MAX_PATH);
    _snwprintf(command, sizeof command / sizeof *command, L"\"%s\" sleep", path);
    if (!CreateProcessW(path, command, NULL, NULL, FALSE, flags, NULL, NULL, &start, &made))
        return GetLastError();
    printf("%lu\n", made.dwProcessId);
    fflush(stdout);
    return 0;
}

static int play_break_away(char **args)
{
    (void)args;
    printf("%lu\n", start_sleeper(CREATE_BREAKAWAY_FROM_JOB));
    return 0;
}

/* Makes a grandchild that would outlive its parent without the job. */
static int play_leave(char **args)
{
    (void)args;
    return (int)start_sleeper(DETACHED_PROCESS);
}

/* A host that starts a child as lazaret does, prints its id, and waits to be killed. */
static int play_host(char **args)
{
    struct child child = {.limits = laz_job_limits_none()};
    const char *const words[] = {"sleep", NULL};

    (void)args;
    if (!child_start(&child, words, NULL))
        return 1;
    printf("%s\n", child_line(&child));
    fflush(stdout);
    Sleep(SLEEP_MS);
    return 0;
}

static int play_handles(char **args)
{
    /* Handles of a process are multiples of 4; looks at inherited ones and those opened by its
     * start. */
    HANDLE standard[3] = {GetStdHandle(STD_INPUT_HANDLE), GetStdHandle(STD_OUTPUT_HANDLE),
                          GetStdHandle(STD_ERROR_HANDLE)};
    HANDLE secret = (HANDLE)(uintptr_t)strtoull(args[0], NULL, 10);
    DWORD flags;

    for (size_t i = 0; i < 3; i++)
        if (secret == standard[i])
            return 0; /* the number refers to something else here */
    puts(GetHandleInformation(secret, &flags) && GetFileType(secret) == FILE_TYPE_PIPE ? "open"
                                                                                       : "closed");
    return 0;
}

static int play_memory(char **args)
{
    size_t bytes = (size_t)strtoull(args[0], NULL, 10) * MIB;
    char *room = malloc(bytes);

    if (!room)
        return 3;
    memset(room, 1, bytes);
    return room[bytes / 2] == 1 ? 0 : 4;
}

static int play_burn(char **args)
{
    uint64_t until = laz_clock_ms() + strtoull(args[0], NULL, 10);

    while (laz_clock_ms() < until)
        ;
    return 0;
}

static int play_crowd(char **args)
{
    int n = 0;

    for (int i = 0; i < atoi(args[0]); i++)
        n += start_sleeper(0) == 0;
    return n;
}

static int play_libraries(char **args);

int child_main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*play)(char **args);
    } plays[] = {
        {"environment", play_environment},
        {"sleep", play_sleep},
        {"exit", play_exit},
        {"crash", play_crash},
        {"away", play_break_away},
        {"leave", play_leave},
        {"host", play_host},
        {"handles", play_handles},
        {"memory", play_memory},
        {"burn", play_burn},
        {"crowd", play_crowd},
        {"libraries", play_libraries},
    };

    for (size_t i = 0; argc > 0 && i < sizeof plays / sizeof *plays; i++)
        if (strcmp(argv[0], plays[i].name) == 0)
            return plays[i].play(argv + 1);
    return 99;
}

/* ---- the tests ------------------------------------------------------------------------------ */

#define CHILD(name) struct child name = {.limits = laz_job_limits_none()}

static void an_environment_is_what_it_is_given(void)
{
    static const char *const given[] = {"SystemRoot=C:\\windows", "HOME=C:/h\xc3\xa4user x",
                                        "LAZARET_X=1", NULL};
    const char *const words[] = {"environment", NULL};
    bool seen[3] = {false};
    struct laz_exit how;
    CHILD(child);

    SetEnvironmentVariableA("AWS_SECRET_ACCESS_KEY", "hunter2");
    if (!child_start(&child, words, given))
        return;
    char *text = strdup(child_ended(&child, &how));
    for (char *line = strtok(text, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        bool known = false;
        for (size_t i = 0; i < 3; i++) {
            /* the value with a non-ASCII letter arrives in the system's code page */
            size_t len = i == 1 ? strlen("HOME=C:/h") : strlen(given[i]);
            if (strncmp(line, given[i], len) == 0)
                known = seen[i] = true;
        }
        if (!known && child_in_wine())
            known = strncmp(line, "WINE", 4) == 0 || strncmp(line, "SystemDrive=", 12) == 0;
        if (!known)
            printf("\n    not given: %s\n", line);
        CU_ASSERT(known);
    }
    CU_ASSERT(seen[0] && seen[1] && seen[2]);
    SetEnvironmentVariableA("AWS_SECRET_ACCESS_KEY", NULL);
    free(text);
    child_close(&child);
}

static void only_listed_handles_are_inherited(void)
{
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE read_end, write_end;
    char number[32];
    struct laz_exit how;
    CHILD(child);

    CU_ASSERT_FATAL(CreatePipe(&read_end, &write_end, &inherited, 0));
    snprintf(number, sizeof number, "%llu", (unsigned long long)(uintptr_t)read_end);
    const char *const words[] = {"handles", number, NULL};
    if (child_start(&child, words, NULL))
        CU_ASSERT_PTR_NULL(strstr(child_ended(&child, &how), "open"));
    child_close(&child);
    CloseHandle(read_end);
    CloseHandle(write_end);
}

static void how_a_process_ended_is_told(void)
{
    static const struct {
        const char *words[3];
        int status, signal;
    } ends[] = {{{"exit", "0"}, 0, 0},
                {{"exit", "7"}, 7, 0},
                {{"exit", "255"}, 255, 0},
                {{"exit", "256"}, 255, 0}, /* the largest status */
                {{"exit", "-1"}, 255, 0},
                {{"exit", "-1073741510"}, -1, SIGINT}, /* 0xC000013A */
                {{"exit", "-532462766"}, -1, SIGABRT}, /* 0xE0434352: not caught in .NET */
                {{"crash"}, -1, SIGSEGV}};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct laz_exit how = {0};
        CHILD(child);
        if (!child_start(&child, ends[i].words, NULL))
            return;
        child_ended(&child, &how);
        CU_ASSERT(how.known);
        CU_ASSERT_EQUAL(how.status, ends[i].status);
        CU_ASSERT_EQUAL(how.signal, ends[i].signal);
        child_close(&child);
    }
}

/* The handle value of a closed descriptor also denotes this process, which a child must not get. */
static void a_descriptor_that_is_not_open_is_no_stream(void)
{
    const char *const argv[] = {"C:\\windows\\system32\\cmd.exe", NULL};
    const struct laz_spawn_fd fds[] = {{FDS_FIRST + 5000, 0}};
    const struct laz_spawn spawn = {.argv = argv,
                                    .env = argv + 1,
                                    .fds = fds,
                                    .n_fds = 1,
                                    .uid = LAZ_SPAWN_SAME_ID,
                                    .gid = LAZ_SPAWN_SAME_ID};
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_spawner *spawner = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&spawner, NULL), 0);
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "stream 0"));
    laz_process_close(&process);
    laz_spawner_free(spawner);
}

/* ---- batch files ---------------------------------------------------------------------------- */

static bool file_make(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* They are not started by any name or path, because cmd.exe would parse the arguments. */
static void batch_files_are_not_started(void)
{
    static const char *const names[] = {"x.bat",    "X.BAT",         "x.bat.",       "x.bat. .",
                                        "./x.bat",  "y.cMd",         "x.bat::$DATA", "z.exe:x.bat",
                                        "link.exe", "sub/../x.bat ", "nowhere.cmd"};
    char directory[MAX_PATH], path[MAX_PATH + 32], batch[MAX_PATH + 32], marker[MAX_PATH + 32];
    struct laz_spawner *spawner = NULL;
    wchar_t *to, *link;

    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&spawner, NULL), 0);
    CU_ASSERT_FATAL(GetTempPathA(MAX_PATH - 40, directory) > 0);
    snprintf(directory + strlen(directory), 40, "lazaret-batch-%lu", GetCurrentProcessId());
    CU_ASSERT_FATAL(CreateDirectoryA(directory, NULL));
    snprintf(marker, sizeof marker, "%s\\ran", directory);
    snprintf(path, sizeof path, "%s\\y.cmd", directory);
    CU_ASSERT(file_make(path, "@echo ran>ran\r\n"));
    snprintf(batch, sizeof batch, "%s\\x.bat", directory);
    CU_ASSERT(file_make(batch, "@echo ran>ran\r\n"));
    snprintf(path, sizeof path, "%s\\link.exe", directory);
    to = laz_windows_path(batch);
    link = laz_windows_path(path);
    bool linked = to && link && CreateSymbolicLinkW(link, to, 0) &&
                  GetFileAttributesW(link) != INVALID_FILE_ATTRIBUTES;
    if (!linked)
        (void)child_skip_in_wine("links that need a privilege");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const argv[] = {path, "x\"&calc&rem \"", NULL};
        const struct laz_spawn spawn = {.argv = argv,
                                        .env = argv + 2,
                                        .directory = directory,
                                        .uid = LAZ_SPAWN_SAME_ID,
                                        .gid = LAZ_SPAWN_SAME_ID};
        struct laz_process process = LAZ_PROCESS_INIT;
        struct laz_error err = {0};
        if (strcmp(names[i], "link.exe") == 0 && !linked)
            continue;
        snprintf(path, sizeof path, "%s\\%s", directory, names[i]);
        if (laz_spawner_spawn(spawner, &spawn, &process, &err) != LAZ_EREFUSED)
            UNIT_TEXT(names[i], err.text);
        laz_process_close(&process);
    }
    CU_ASSERT_EQUAL(GetFileAttributesA(marker), INVALID_FILE_ATTRIBUTES);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s\\%s", directory, names[i]);
        (void)DeleteFileA(path);
    }
    laz_os_remove_tree(directory);
    laz_spawner_free(spawner);
    free(to);
    free(link);
}

/* ---- libraries ------------------------------------------------------------------------------ */

static const char *found(const char *name)
{
    HMODULE library = LoadLibraryA(name);

    if (library)
        FreeLibrary(library);
    return library ? "found" : "not found";
}

/* Runs in a working directory that has planted.dll and is in %PATH%. */
static int play_libraries(char **args)
{
    char path[MAX_PATH * 2];
    const char *words;

    if (!SetCurrentDirectoryA(args[0]) || !SetEnvironmentVariableA("PATH", args[0]))
        return 1;
    printf("%s\n", found("planted.dll"));
    laz_library_secure();
    printf("%s\n", found("planted.dll"));
    printf("%s\n", found("version.dll"));
    snprintf(path, sizeof path, "%s\\planted.dll", args[0]);
    printf("%s\n", found(path));
    snprintf(path, sizeof path, "%s\\first.dll", args[0]);
    printf("%s\n", laz_library_open(path, true, &words) ? "found" : words);
    printf("%s\n", found("planted.dll"));
    fflush(stdout);
    return 0;
}

static void libraries_are_not_taken_from_the_working_directory(void)
{
    static const char *const told[] = {"found", "not found", "found", "found", "found", "found"};
    char directory[MAX_PATH], from[MAX_PATH], to[MAX_PATH + 32];
    CHILD(child);

    CU_ASSERT_FATAL(GetTempPathA(MAX_PATH - 40, directory) > 0);
    snprintf(directory + strlen(directory), 40, "lazaret-dll-%lu", GetCurrentProcessId());
    CU_ASSERT_FATAL(CreateDirectoryA(directory, NULL));
    GetSystemDirectoryA(from, MAX_PATH - 20);
    strcat(from, "\\version.dll");
    snprintf(to, sizeof to, "%s\\planted.dll", directory);
    CU_ASSERT_FATAL(CopyFileA(from, to, TRUE));
    snprintf(to, sizeof to, "%s\\first.dll", directory);
    CU_ASSERT_FATAL(CopyFileA(from, to, TRUE));
    const char *const words[] = {"libraries", directory, NULL};
    if (child_start(&child, words, NULL))
        for (size_t i = 0; i < sizeof told / sizeof *told; i++)
            UNIT_TEXT(child_line(&child), told[i]);
    laz_process_wait(&child.process, 30000, NULL);
    child_close(&child);
    laz_os_remove_tree(directory);
}

/* Opens the process with this id, for waiting; NULL: it has ended. */
static HANDLE sleeper(const char *id)
{
    return OpenProcess(SYNCHRONIZE | PROCESS_TERMINATE, FALSE, (DWORD)strtoul(id, NULL, 10));
}

static bool gone(HANDLE process)
{
    bool gone = !process || WaitForSingleObject(process, 5000) == WAIT_OBJECT_0;

    if (process && !gone)
        TerminateProcess(process, 1);
    if (process)
        CloseHandle(process);
    return gone;
}

static void a_killed_process_is_told_apart(void)
{
    const char *const words[] = {"sleep", NULL};
    struct laz_exit how = {0};
    CHILD(child);

    if (!child_start(&child, words, NULL))
        return;
    child_line(&child);
    laz_process_signal_group(&child.process, SIGKILL);
    CU_ASSERT(laz_process_wait(&child.process, 5000, &how));
    CU_ASSERT_EQUAL(how.signal, SIGKILL);
    CU_ASSERT_EQUAL(how.status, -1);
    child_close(&child);
}

static void closing_a_process_ends_it(void)
{
    const char *const words[] = {"sleep", NULL};
    CHILD(child);

    if (!child_start(&child, words, NULL))
        return;
    HANDLE process = sleeper(child_line(&child));
    CU_ASSERT_PTR_NOT_NULL(process);
    child_close(&child);
    CU_ASSERT(gone(process));
}

static void a_grandchild_ends_with_the_job(void)
{
    const char *const words[] = {"leave", NULL};
    CHILD(child);

    if (!child_start(&child, words, NULL))
        return;
    HANDLE process = sleeper(child_line(&child));
    CU_ASSERT_PTR_NOT_NULL(process);
    CU_ASSERT_EQUAL(WaitForSingleObject(process, 300), WAIT_TIMEOUT); /* it survives its parent */
    child_close(&child);
    CU_ASSERT(gone(process));
}

/* The control: without lazaret's job a process outlives its parent. */
static void without_a_job_a_grandchild_lives_on(void)
{
    wchar_t path[MAX_PATH], command[MAX_PATH + 16];
    STARTUPINFOW start = {.cb = sizeof start};
    PROCESS_INFORMATION made;

    GetModuleFileNameW(NULL, path, MAX_PATH);
    _snwprintf(command, sizeof command / sizeof *command, L"\"%s\" sleep", path);
    CU_ASSERT_FATAL(CreateProcessW(path, command, NULL, NULL, FALSE, 0, NULL, NULL, &start, &made));
    CloseHandle(made.hThread);
    CU_ASSERT_EQUAL(WaitForSingleObject(made.hProcess, 500), WAIT_TIMEOUT);
    TerminateProcess(made.hProcess, 0);
    CloseHandle(made.hProcess);
}

static void the_end_of_the_host_ends_what_it_started(void)
{
    const char *const words[] = {"host", NULL};
    CHILD(host);

    if (!child_start(&host, words, NULL))
        return;
    HANDLE process = sleeper(child_line(&host));
    CU_ASSERT_PTR_NOT_NULL(process);
    laz_process_signal(&host.process, SIGKILL); /* only the host, not the test's job */
    CU_ASSERT(gone(process));
    child_close(&host);
}

static void nothing_breaks_away_from_a_job(void)
{
    const char *const words[] = {"away", NULL};
    struct laz_exit how;
    CHILD(child);

    if (!child_start(&child, words, NULL))
        return;
    CU_ASSERT_EQUAL(strtoul(child_ended(&child, &how), NULL, 10), ERROR_ACCESS_DENIED);
    child_close(&child);
}

static void a_stranger_is_not_in_the_job(void)
{
    const char *const words[] = {"sleep", NULL};
    CHILD(one);
    CHILD(other);

    if (!child_start(&one, words, NULL) || !child_start(&other, words, NULL))
        return;
    int64_t of_one = strtol(child_line(&one), NULL, 10);
    int64_t of_other = strtol(child_line(&other), NULL, 10);
    CU_ASSERT(laz_process_has(&one.process, of_one));
    CU_ASSERT(!laz_process_has(&one.process, of_other));
    CU_ASSERT(!laz_process_has(&one.process, GetCurrentProcessId()));
    child_close(&one);
    child_close(&other);
}

/* ---- limits --------------------------------------------------------------------------------- */

static void limits_that_do_not_hold_are_found(void)
{
    const char *const words[] = {"exit", "0", NULL};
    struct laz_exit how;
    CHILD(child);

    child.limits.of[LAZ_JOB_MEMORY] = 128 * MIB;
    child.limits.of[LAZ_JOB_NPROC] = 3;
    if (!child_start(&child, words, NULL))
        return;
    const uint32_t asked = 1u << LAZ_JOB_MEMORY | 1u << LAZ_JOB_NPROC;
    CU_ASSERT_EQUAL(child.missing, child_in_wine() ? asked : 0);
    child_ended(&child, &how);
    child_close(&child);
}

/* Runs a child with one limit; its exit code is the outcome. */
static void limited(enum laz_job_limit limit, uint64_t value, const char *const *words,
                    struct laz_exit *how)
{
    CHILD(child);

    memset(how, 0, sizeof *how);
    child.limits.of[limit] = value;
    if (!child_start(&child, words, NULL))
        return;
    CU_ASSERT_EQUAL(child.missing, 0);
    child_ended(&child, how);
    child_close(&child);
}

static void memory_of_a_job_is_limited(void)
{
    const char *const words[] = {"memory", "256", NULL};
    struct laz_exit how;

    if (child_skip_in_wine("memory_of_a_job_is_limited: Wine sets no limits of jobs"))
        return;
    limited(LAZ_JOB_MEMORY, 128 * MIB, words, &how);
    CU_ASSERT_EQUAL(how.status, 3);
    limited(LAZ_JOB_MEMORY, 1024 * MIB, words, &how);
    CU_ASSERT_EQUAL(how.status, 0);
}

static void cpu_time_of_a_job_is_limited(void)
{
    const char *const words[] = {"burn", "20000", NULL};
    struct laz_exit how;

    if (child_skip_in_wine("cpu_time_of_a_job_is_limited: Wine sets no limits of jobs"))
        return;
    limited(LAZ_JOB_CPU, 1, words, &how);
    CU_ASSERT_EQUAL(how.signal, SIGXCPU);
}

static void processes_of_a_job_are_limited(void)
{
    const char *const words[] = {"crowd", "5", NULL};
    struct laz_exit how;

    if (child_skip_in_wine("processes_of_a_job_are_limited: Wine sets no limits of jobs"))
        return;
    limited(LAZ_JOB_NPROC, 3, words, &how);
    CU_ASSERT_EQUAL(how.status, 2);
}

static const struct unit_test tests[] = {
    UNIT(an_environment_is_what_it_is_given),
    UNIT(only_listed_handles_are_inherited),
    UNIT(how_a_process_ended_is_told),
    UNIT(batch_files_are_not_started),
    UNIT(libraries_are_not_taken_from_the_working_directory),
    UNIT(a_descriptor_that_is_not_open_is_no_stream),
    UNIT(a_killed_process_is_told_apart),
    UNIT(closing_a_process_ends_it),
    UNIT(a_grandchild_ends_with_the_job),
    UNIT(without_a_job_a_grandchild_lives_on),
    UNIT(the_end_of_the_host_ends_what_it_started),
    UNIT(nothing_breaks_away_from_a_job),
    UNIT(a_stranger_is_not_in_the_job),
    UNIT(limits_that_do_not_hold_are_found),
    UNIT(memory_of_a_job_is_limited),
    UNIT(cpu_time_of_a_job_is_limited),
    UNIT(processes_of_a_job_are_limited),
    {0},
};

int main(int argc, char **argv)
{
    CHILD_MAIN(argc, argv);
    return unit_run("wine_process", tests);
}
