/* SPDX-License-Identifier: MIT */
/* test_audit_file.c - the file of the audit log: where it may be, who may write it, and that every
 * change of it is noticed. */
#include "unit.h"

#include "base/buf.h"
#include "base/clock.h"
#include "audit/audit.h"
#include "audit/audit_chain.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[] = "/tmp/laz-test-audit-XXXXXX"; /* removed by main */
static const struct laz_log silent;

static const char *in_base(const char *name)
{
    static char paths[16][256]; /* paths in use by a test */
    static unsigned next;
    char *path = paths[next++ % 16];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

/* A busy disk can delay the holder of the lock for any time. */
static uint64_t lock_ms = 600000;

static struct laz_audit *open_log(const char *path, bool refuse)
{
    const struct laz_audit_options options = {
        .file = path, .refuse = refuse, .lock_ms = lock_ms, .log = &silent};
    struct laz_audit *audit = NULL;
    struct laz_error err = {0};

    if (laz_audit_new(&options, &audit, &err))
        printf("\n    %s", err.text);
    return audit;
}

/* A log at this path is refused for this reason, whatever on_error says. */
static void is_refused(const char *path, const char *part)
{
    for (int refuse = 0; refuse < 2; refuse++) {
        const struct laz_audit_options options = {.file = path, .refuse = refuse, .log = &silent};
        struct laz_audit *audit = NULL;
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(laz_audit_new(&options, &audit, &err), LAZ_ECONFIG);
        CU_ASSERT_PTR_NULL(audit);
        if (!strstr(err.text, part))
            printf("\n    \"%s\" is not in: %s", part, err.text);
        CU_ASSERT(strstr(err.text, part) != NULL);
        laz_audit_free(audit);
    }
}

static int write_one(struct laz_audit *audit, const char *event, struct laz_error *err)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    laz_audit_string(&line, "text", "a\nb");
    return laz_audit_write(audit, event, "0123456789abcdef", &line, err);
}

static void append_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");

    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT(fputs(text, file) >= 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static char *read_text(const char *path, size_t *len)
{
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL(laz_os_read_file(path, (size_t)64 << 20, &text, NULL), 0);
    *len = text.len;
    return laz_buf_steal(&text);
}

struct verdict {
    bool good;
    uint64_t records, lost;
    unsigned findings[LAZ_AUDIT_ROTATED + 1];
    struct laz_audit_link last;
};

static void count_finding(void *user, enum laz_audit_finding finding, uint64_t line,
                          const char *text)
{
    (void)line;
    (void)text;
    ((struct verdict *)user)->findings[finding]++;
}

static struct verdict verify(const char *path)
{
    struct verdict verdict = {0};
    struct laz_audit_verify v;
    size_t len;
    char *text = read_text(path, &len);

    laz_audit_verify_init(&v, count_finding, &verdict);
    laz_audit_verify_feed(&v, text, len);
    verdict.good = laz_audit_verify_end(&v);
    verdict.records = v.records;
    verdict.lost = v.lost;
    verdict.last = v.last;
    laz_audit_verify_fini(&v);
    free(text);
    return verdict;
}

/* ---- places --------------------------------------------------------------------------------- */

static void the_file_is_private_and_made_with_its_directories(void)
{
    const char *path = in_base("new/directories/log");
    mode_t before = umask(0);
    struct stat st;

    struct laz_audit *audit = open_log(path, true);
    CU_ASSERT_FATAL(audit != NULL);
    CU_ASSERT_EQUAL(write_one(audit, "session_start", NULL), 0);
    laz_audit_free(audit);
    umask(before);
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
    CU_ASSERT(stat(in_base("new/directories"), &st) == 0 && (st.st_mode & 07777) == 0700);
    CU_ASSERT(verify(path).good && verify(path).records == 1);
    /* a file that others can read is refused */
    CU_ASSERT_EQUAL(chmod(path, 0644), 0);
    audit = open_log(path, true);
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
    laz_audit_free(audit);
}

static void links_and_devices_are_refused(void)
{
    const char *target = in_base("target");
    struct stat st;

    CU_ASSERT_EQUAL(symlink(target, in_base("dangling")), 0);
    is_refused(in_base("dangling"), "is a symbolic link");
    CU_ASSERT_EQUAL(lstat(target, &st), -1); /* and the link's target was not made */
    append_text(target, "");
    is_refused(in_base("dangling"), "is a symbolic link");
    CU_ASSERT_EQUAL(link(target, in_base("second")), 0);
    is_refused(target, "has 2 names");
    CU_ASSERT_EQUAL(unlink(in_base("second")), 0);
    struct laz_audit *audit = open_log(target, true); /* the file itself is accepted */
    CU_ASSERT_PTR_NOT_NULL(audit);
    laz_audit_free(audit);
    CU_ASSERT_EQUAL(mkfifo(in_base("fifo"), 0600), 0);
    is_refused(in_base("fifo"), "is a pipe");
    CU_ASSERT_EQUAL(mkdir(in_base("directory"), 0700), 0);
    is_refused(in_base("directory"), "is a directory");
    is_refused("/dev/null", "is a device");
    is_refused("/dev/stderr", "/dev/stderr is a");
    is_refused("relative", "is not an absolute path");
}

/* The same file in the same directory is accepted until others can write there. */
static void directories_that_others_write_are_refused(void)
{
    const char *directory = in_base("shared"), *below = in_base("shared/own"),
               *path = in_base("shared/own/log");

    CU_ASSERT_EQUAL(mkdir(directory, 0755), 0);
    CU_ASSERT_EQUAL(mkdir(below, 0755), 0);
    struct laz_audit *audit = open_log(path, true);
    CU_ASSERT_PTR_NOT_NULL(audit);
    laz_audit_free(audit);
    CU_ASSERT_EQUAL(chmod(below, 0777), 0);
    is_refused(path, "every user can write this directory");
    CU_ASSERT_EQUAL(chmod(below, 01777), 0); /* others could make the next directory first */
    is_refused(path, "every user can write this directory");
    CU_ASSERT_EQUAL(chmod(below, 0755), 0);
    CU_ASSERT_EQUAL(chmod(directory, 0777), 0); /* others could replace the directory */
    is_refused(path, "every user can write this directory");
    CU_ASSERT_EQUAL(chmod(directory, 0755), 0);
    /* through a link */
    CU_ASSERT_EQUAL(mkdir(in_base("open"), 0777), 0);
    CU_ASSERT_EQUAL(chmod(in_base("open"), 0777), 0);
    CU_ASSERT_EQUAL(symlink(in_base("open"), in_base("way")), 0);
    is_refused(in_base("way/log"), "every user can write this directory");
    is_refused("/tmp/laz-audit.jsonl", "/tmp: every user can write this directory");
    if (geteuid() != 0) {
        unit_skip("root", "a file of somebody else is made by root");
        return;
    }
    CU_ASSERT_EQUAL(chown(below, 0, 12345), 0);
    CU_ASSERT_EQUAL(chmod(below, 0775), 0);
    is_refused(path, "the group 12345 can write this directory");
    CU_ASSERT_EQUAL(chown(below, 12345, 0), 0);
    CU_ASSERT_EQUAL(chmod(below, 0755), 0);
    is_refused(path, "uid 12345, not root or uid 0, owns this directory");
    CU_ASSERT_EQUAL(chown(below, 0, 0), 0);
    CU_ASSERT_EQUAL(chown(path, 12345, 0), 0);
    is_refused(path, "belongs to uid 12345");
}

static void a_file_of_something_else_is_left_alone(void)
{
    const char *path = in_base("notes");
    size_t len;

    append_text(path, "my notes\n");
    is_refused(path, "does not end with a record of an audit log");
    char *text = read_text(path, &len);
    UNIT_TEXT(text, "my notes\n");
    free(text);
}

/* ---- several writers ------------------------------------------------------------------------ */

static void in_children(unsigned n, void (*run)(const char *path), const char *path)
{
    pid_t children[8];

    for (unsigned i = 0; i < n; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            run(path);
            _exit(99);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        int status = 0;
        CU_ASSERT_EQUAL(waitpid(children[i], &status, 0), children[i]);
        CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void write_thousand(const char *path)
{
    struct laz_audit *audit = open_log(path, true);
    unsigned failed = !audit;

    for (int i = 0; audit && i < 1000; i++)
        failed += write_one(audit, "tool_call", NULL) != 0;
    laz_audit_free(audit);
    _exit(failed ? 1 : 0);
}

static void processes_append_to_one_chain(void)
{
    const char *path = in_base("many");

    in_children(3, write_thousand, path);
    struct verdict verdict = verify(path);
    CU_ASSERT_TRUE(verdict.good);
    CU_ASSERT_EQUAL(verdict.records, 3000);
    CU_ASSERT_EQUAL(verdict.last.seq, 3000);
}

/* Writers that are killed at any moment leave a log that can be continued and verifies. */
static void killed_writers_leave_a_chain(void)
{
    const char *path = in_base("killed");
    struct laz_audit *audit = open_log(path, true);
    uint64_t records = 0;

    for (int round = 0; round < 20; round++) {
        int ready[2];
        char byte;
        CU_ASSERT_FATAL(pipe(ready) == 0);
        pid_t child = fork();
        if (child == 0) {
            struct laz_audit *own = open_log(path, true);
            for (int i = 0;; i++) {
                write_one(own, "tool_call", NULL);
                if (i == round)
                    (void)!write(ready[1], "x", 1);
            }
        }
        CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
        CU_ASSERT_EQUAL(kill(child, SIGKILL), 0);
        CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
        close(ready[0]);
        close(ready[1]);
        CU_ASSERT_EQUAL(write_one(audit, "session_start", NULL), 0);
        struct verdict verdict = verify(path);
        CU_ASSERT_TRUE(verdict.good);
        CU_ASSERT(verdict.records > records + (uint64_t)round);
        records = verdict.records;
    }
    laz_audit_free(audit);
}

static void a_torn_line_is_sealed_and_told(void)
{
    const char *path = in_base("torn");
    struct laz_audit *audit = open_log(path, true);

    CU_ASSERT_EQUAL(write_one(audit, "session_start", NULL), 0);
    append_text(path, "{\"seq\":2,\"timestamp\":\"20");
    CU_ASSERT_FALSE(verify(path).good);
    CU_ASSERT_EQUAL(verify(path).findings[LAZ_AUDIT_UNFINISHED], 1);
    CU_ASSERT_EQUAL(write_one(audit, "session_close", NULL), 0);
    struct verdict verdict = verify(path);
    CU_ASSERT_TRUE(verdict.good);
    CU_ASSERT_EQUAL(verdict.findings[LAZ_AUDIT_TORN], 1);
    CU_ASSERT_EQUAL(verdict.records, 3); /* including the one that reports it */
    laz_audit_free(audit);
    /* a log that has only the beginning of its first record; and a torn record in the middle */
    path = in_base("torn-first");
    append_text(path, "{\"seq\":1,\"ti\n{\"se");
    audit = open_log(path, true);
    CU_ASSERT_FATAL(audit != NULL);
    CU_ASSERT_EQUAL(write_one(audit, "session_start", NULL), 0);
    laz_audit_free(audit);
    verdict = verify(path);
    CU_ASSERT_TRUE(verdict.good);
    CU_ASSERT_EQUAL(verdict.findings[LAZ_AUDIT_TORN], 1);
}

static void what_a_stranger_writes_is_told(void)
{
    const char *path = in_base("stranger");
    struct laz_audit *audit = open_log(path, true);

    CU_ASSERT_EQUAL(write_one(audit, "session_start", NULL), 0);
    append_text(path, "{\"seq\":2,\"event\":\"all is well\"}\n");
    CU_ASSERT_EQUAL(write_one(audit, "session_close", NULL), 0);
    laz_audit_free(audit);
    struct verdict verdict = verify(path);
    CU_ASSERT_FALSE(verdict.good);
    CU_ASSERT_EQUAL(verdict.findings[LAZ_AUDIT_FOREIGN], 1);
    CU_ASSERT_EQUAL(verdict.findings[LAZ_AUDIT_NO_RECORD], 0);
    CU_ASSERT_EQUAL(verdict.last.seq, 3);
}

static void a_log_that_was_cut_is_told(void)
{
    const char *path = in_base("cut");
    struct laz_audit *audit = open_log(path, true);
    size_t len;

    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), 0);
    char *text = read_text(path, &len);
    char *third = strchr(strchr(text, '\n') + 1, '\n') + 1;
    CU_ASSERT_EQUAL(truncate(path, third - text), 0);
    CU_ASSERT_TRUE(verify(path).good); /* by itself the new file is intact */
    CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), 0);
    struct verdict verdict = verify(path);
    CU_ASSERT_FALSE(verdict.good);
    CU_ASSERT_EQUAL(verdict.findings[LAZ_AUDIT_CUT], 1);
    laz_audit_free(audit);
    free(text);
}

/* ---- rotation ------------------------------------------------------------------------------- */

static void a_rotated_log_is_reopened_and_linked(void)
{
    const char *path = in_base("log"), *old = in_base("log.1");
    struct laz_audit *audit = open_log(path, true);
    char *text;
    size_t len;

    CU_ASSERT_EQUAL(write_one(audit, "session_start", NULL), 0);
    CU_ASSERT_EQUAL(rename(path, old), 0);
    CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), 0);
    struct verdict before = verify(old), after = verify(path);
    CU_ASSERT(before.good && before.records == 1);
    CU_ASSERT(after.good && after.records == 2 && after.last.seq == 2);
    CU_ASSERT_EQUAL(after.findings[LAZ_AUDIT_ROTATED], 1);
    text = read_text(path, &len);
    CU_ASSERT(strstr(text, before.last.hash) != NULL); /* the old file's hash */
    free(text);
    /* the file is removed; then truncated */
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), 0);
    after = verify(path);
    CU_ASSERT(after.good && after.records == 2 && after.findings[LAZ_AUDIT_ROTATED] == 1);
    CU_ASSERT_EQUAL(truncate(path, 0), 0);
    CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), 0);
    after = verify(path);
    CU_ASSERT(after.good && after.records == 2 && after.findings[LAZ_AUDIT_ROTATED] == 1);
    /* a replacement is checked like the first file */
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(symlink(old, path), 0);
    CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), LAZ_EREFUSED);
    CU_ASSERT_EQUAL(verify(old).records, 1);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), 0);
    after = verify(path);
    CU_ASSERT(after.good && after.records == 3 && after.lost == 1 &&
              after.findings[LAZ_AUDIT_ROTATED] == 1);
    laz_audit_free(audit);
}

/* ---- a log that cannot be written ----------------------------------------------------------- */

/* A full disk, as an ordinary user can make one: no file of this process may grow beyond `size`. */
static void fill_disk(uint64_t size)
{
    struct rlimit limit;

    CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void empty_disk(void)
{
    struct rlimit limit;

    CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_refuses_or_is_told_later(void)
{
    for (int refuse = 0; refuse < 2; refuse++) {
        const char *path = in_base(refuse ? "full" : "full-warn");
        struct laz_audit *audit = open_log(path, refuse);
        struct laz_error err = {0};
        struct stat before, after;
        CU_ASSERT_EQUAL(write_one(audit, "session_start", NULL), 0);
        CU_ASSERT_PTR_NULL(laz_audit_trouble(audit));
        CU_ASSERT_EQUAL(stat(path, &before), 0);
        for (int room = 0; room < 150; room += 50) { /* a part of the record fits, or nothing */
            fill_disk((uint64_t)before.st_size + (uint64_t)room);
            int rc = write_one(audit, "tool_call", &err);
            empty_disk();
            CU_ASSERT_EQUAL(rc, refuse ? LAZ_EREFUSED : 0);
            CU_ASSERT_EQUAL(stat(path, &after), 0);
            CU_ASSERT_EQUAL(after.st_size, before.st_size); /* no torn line */
        }
        if (refuse)
            CU_ASSERT(strstr(err.text, "File too large") && strstr(err.text, "audit.on_error"));
        char *trouble = laz_audit_trouble(audit);
        CU_ASSERT(trouble && strstr(trouble, "3 records are missing"));
        free(trouble);
        CU_ASSERT_TRUE(verify(path).good);
        CU_ASSERT_EQUAL(write_one(audit, "session_close", &err), 0);
        struct verdict verdict = verify(path);
        CU_ASSERT(verdict.good && verdict.lost == 3 && verdict.records == 3);
        CU_ASSERT_PTR_NULL(laz_audit_trouble(audit));
        /* records lost at the end are reported at the end, if possible */
        fill_disk((uint64_t)before.st_size);
        (void)write_one(audit, "tool_call", NULL);
        empty_disk();
        laz_audit_free(audit);
        CU_ASSERT_EQUAL(verify(path).lost, 4);
    }
}

/* Runs as a user who can be denied access to a directory. Returns the number of the failed step. */
static int begin_without_a_log(void)
{
    const char *directory = in_base("locked-away"), *path = in_base("locked-away/log");
    const struct laz_audit_options strict = {.file = path, .refuse = true, .log = &silent};
    struct laz_audit *audit = NULL;
    struct laz_error err = {0};

    if (geteuid() == 0 && (setregid(65534, 65534) || setreuid(65534, 65534)))
        return 1;
    if (laz_audit_new(&strict, &audit, &err) != LAZ_EOS || !strstr(err.text, "Permission denied"))
        return 2;
    audit = open_log(path, false);
    if (!audit || write_one(audit, "session_start", NULL))
        return 3;
    if (chmod(directory, 0700) || write_one(audit, "tool_call", NULL))
        return 4;
    laz_audit_free(audit);
    return verify(path).good && verify(path).lost == 1 ? 0 : 5;
}

static void a_log_that_cannot_be_opened_refuses_or_comes_later(void)
{
    const char *directory = in_base("locked-away");
    int status = 0;

    CU_ASSERT_EQUAL(mkdir(directory, 0700), 0);
    if (geteuid() == 0)
        CU_ASSERT_EQUAL(chmod(base, 0711) | chown(directory, 65534, 65534), 0);
    CU_ASSERT_EQUAL(chmod(directory, 0500), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(begin_without_a_log());
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

/* How often this process has gone to sleep. */
static long sleeps(void)
{
    struct rusage used = {0};

    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
}

/* A process that stops in the middle of an append causes a single delay of half a second and does
 * not fail the session. */
static void a_lock_that_is_kept_is_not_waited_for_long(void)
{
    const char *path = in_base("kept");
    uint64_t patient = lock_ms;
    struct laz_error err = {0};

    lock_ms = 0; /* the default */
    struct laz_audit *audit = open_log(path, true);
    lock_ms = patient;

    CU_ASSERT_EQUAL(write_one(audit, "session_start", NULL), 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CU_ASSERT_FATAL(fd >= 0 && flock(fd, LOCK_EX) == 0);
    uint64_t begin = laz_clock_ms();
    CU_ASSERT_EQUAL(write_one(audit, "tool_call", &err), LAZ_EREFUSED);
    CU_ASSERT(laz_clock_ms() - begin >= 450);
    CU_ASSERT(strstr(err.text, "keeps the lock") != NULL);
    long slept = sleeps();
    for (int i = 0; i < 20; i++)
        CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), LAZ_EREFUSED);
    CU_ASSERT(sleeps() - slept < 100); /* not half a second each */
    close(fd);
    CU_ASSERT_EQUAL(write_one(audit, "tool_call", NULL), 0);
    laz_audit_free(audit);
    CU_ASSERT(verify(path).good && verify(path).lost == 21);
}

/* ---- engines of one process ------------------------------------------------------------------ */

#define SHARERS 4
#define SHARED  200 /* records of each */

struct sharer {
    struct laz_audit *audit;
    char session[17];
    unsigned n;
};

static void *share(void *user)
{
    struct sharer *sharer = user;

    for (unsigned i = 0; i < sharer->n; i++) {
        struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
        laz_audit_number(&line, "n", i);
        (void)laz_audit_write(sharer->audit, "tool_call", sharer->session, &line, NULL);
        free(laz_audit_trouble(sharer->audit));
    }
    return NULL;
}

/* `n` records of each of them, at the same time. */
static void sharers_write(struct laz_audit *audit, unsigned n)
{
    struct sharer sharers[SHARERS];
    pthread_t threads[SHARERS];

    for (unsigned i = 0; i < SHARERS; i++) {
        sharers[i] = (struct sharer){.audit = audit, .n = n};
        snprintf(sharers[i].session, sizeof sharers[i].session, "%016u", i);
        CU_ASSERT_EQUAL_FATAL(laz_os_thread(&threads[i], 0, share, &sharers[i]), 0);
    }
    for (unsigned i = 0; i < SHARERS; i++)
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
}

static void threads_append_to_one_chain(void)
{
    const char *path = in_base("shared-log");
    struct laz_audit *audit = open_log(path, false), *other = laz_audit_share(audit);
    unsigned next[SHARERS] = {0};
    size_t len;

    sharers_write(audit, SHARED);
    struct verdict verdict = verify(path);
    CU_ASSERT(verdict.good && verdict.records == SHARERS * SHARED);
    char *text = read_text(path, &len);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *session = strstr(line, "\"session_id\":\""), *n = strstr(line, "\"n\":");
        CU_ASSERT_FATAL(session && n);
        unsigned of = (unsigned)strtoul(session + strlen("\"session_id\":\""), NULL, 10);
        CU_ASSERT_FATAL(of < SHARERS);
        CU_ASSERT_EQUAL(strtoul(n + strlen("\"n\":"), NULL, 10), next[of]); /* in their order */
        next[of]++;
    }
    free(text);
    /* what is lost is one number, and is told before anybody's next record */
    fill_disk(len);
    sharers_write(audit, 10);
    char *trouble = laz_audit_trouble(other);
    CU_ASSERT(trouble && strstr(trouble, "40 records are missing"));
    free(trouble);
    empty_disk();
    sharers_write(other, 1);
    laz_audit_free(audit);
    CU_ASSERT_EQUAL(write_one(other, "session_close", NULL), 0); /* its last holder ends it */
    laz_audit_free(other);
    verdict = verify(path);
    CU_ASSERT(verdict.good && verdict.findings[LAZ_AUDIT_LOST] == 1 && verdict.lost == 40);
    CU_ASSERT_EQUAL(verdict.records, SHARERS * SHARED + 1 + SHARERS + 1);
}

static void no_log_is_no_mistake(void)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    laz_audit_string(&line, "text", "x");
    CU_ASSERT_EQUAL(laz_audit_write(NULL, "tool_call", NULL, &line, NULL), 0);
    CU_ASSERT_PTR_NULL(laz_audit_trouble(NULL));
    CU_ASSERT_PTR_NULL(laz_audit_share(NULL));
    laz_audit_free(NULL);
}

static const struct unit_test tests[] = {
    UNIT(the_file_is_private_and_made_with_its_directories),
    UNIT(links_and_devices_are_refused),
    UNIT(directories_that_others_write_are_refused),
    UNIT(a_file_of_something_else_is_left_alone),
    UNIT(processes_append_to_one_chain),
    UNIT(killed_writers_leave_a_chain),
    UNIT(a_torn_line_is_sealed_and_told),
    UNIT(what_a_stranger_writes_is_told),
    UNIT(a_log_that_was_cut_is_told),
    UNIT(a_rotated_log_is_reopened_and_linked),
    UNIT(a_full_disk_refuses_or_is_told_later),
    UNIT(a_log_that_cannot_be_opened_refuses_or_comes_later),
    UNIT(a_lock_that_is_kept_is_not_waited_for_long),
    UNIT(threads_append_to_one_chain),
    UNIT(no_log_is_no_mistake),
    {0},
};

int main(void)
{
    if (!mkdtemp(base))
        return 1;
    int rc = unit_run("audit file", tests);
    laz_os_remove_tree(base);
    return rc;
}
