/* SPDX-License-Identifier: MIT */
/* test_files.c - files for the code, what the code makes, and values beyond a line, in real boxes.
 */
#include "live.h"

#include "base/buf.h"
#include "os/directories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The one artifact of this name, or a failed assertion. */
static struct laz_artifact artifact_of(const struct laz_result *result, const char *name)
{
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;

    for (size_t i = 0; i < laz_result_artifacts(result); i++)
        if (laz_result_artifact(result, i, &artifact) == 0 && strcmp(artifact.name, name) == 0)
            return artifact;
    fprintf(stderr, "no artifact %s: %s\n", name, laz_result_json((struct laz_result *)result));
    CU_FAIL("no such artifact");
    return (struct laz_artifact){.name = name, .type = "", .sha256 = "", .data = ""};
}

/* Executes and compares the names of the artifacts, with spaces between them. */
static struct laz_result *run_for(struct laz_session *session, const char *code, const char *names)
{
    struct laz_result *result = test_run(session, code, NULL);
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_buf found = LAZ_BUF_INIT;

    if (!result)
        return NULL;
    for (size_t i = 0; i < laz_result_artifacts(result); i++)
        if (laz_result_artifact(result, i, &artifact) == 0)
            laz_buf_printf(&found, "%s%s", i ? " " : "", artifact.name);
    UNIT_TEXT(laz_buf_text(&found), names);
    laz_buf_fini(&found);
    return result;
}

/* ---- files for the code -----------------------------------------------------------------------
 */

static void a_file_is_there_and_cannot_be_written(struct laz_session *session,
                                                  const struct words *w)
{
    static const struct phrase read = {
        .python = "open('in.csv').read()",
        .r = "readChar('in.csv', 100)",
        .lua = "io.open('in.csv'):read('a')",
    };
    static const struct phrase write = {
        .python = "import os; os.stat('in.csv').st_mode & 0o777",
        .r = "as.integer(file.info('in.csv')$mode)",
        .lua = "io.open('in.csv', 'w') and 1 or 256",
    };
    static const struct phrase again = {
        .python = "import os; os.remove('in.csv'); os.path.exists('in.csv')",
        .r = "file.remove('in.csv'); file.exists('in.csv')",
        .lua = "os.remove('in.csv'); return io.open('in.csv') ~= nil",
    };
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_session_put_file(session, "in.csv", "a,b\n", 4, &err), 0);
    test_expect(session, test_phrase(w, &read), LAZ_VERDICT_OK, "\"a,b\\n\"");
    test_expect(session, test_phrase(w, &write), LAZ_VERDICT_OK, "256");       /* 0400 */
    CU_ASSERT_EQUAL(laz_session_put_file(session, "in.csv", "c", 1, &err), 0); /* in its place */
    test_expect(session, test_phrase(w, &read), LAZ_VERDICT_OK, "\"c\"");
    test_expect(session, test_phrase(w, &again), LAZ_VERDICT_OK, "false");
    CU_ASSERT_EQUAL(laz_session_put_file(session, "in.csv", "", 0, &err), 0);
    CU_ASSERT_EQUAL(laz_session_put_file(session, "../x", "c", 1, &err), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_session_put_file(session, NULL, "c", 1, &err), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_session_put_file(session, "x", NULL, 1, &err), LAZ_EINVAL);
}

static void a_file_of_many_parts_arrives_whole(struct laz_session *session, const struct words *w)
{
    const size_t len = 3000001;
    char *data = malloc(len), code[256];
    uint32_t sum = 0;

    (void)w;
    for (size_t i = 0; data && i < len; i++) {
        data[i] = (char)(i * 2654435761u >> 13);
        sum = (sum * 31 + (unsigned char)data[i]) % 1000003;
    }
    CU_ASSERT_EQUAL(laz_session_put_file(session, "big", data, len, NULL), 0);
    snprintf(code, sizeof code,
             "local s, h = io.open('big', 'rb'):read('a'), 0; for i = 1, #s do h = (h * 31 + "
             "s:byte(i)) %% 1000003 end; return #s == %zu and h == %u",
             len, sum);
    test_expect(session, code, LAZ_VERDICT_OK, "true");
    free(data);
}

/* A directory in the way, that is not empty: an error, and the session goes on. */
static void a_file_that_cannot_be_made_is_an_error(struct laz_session *session,
                                                   const struct words *w)
{
    static const struct phrase block = {
        .python = "import os; os.makedirs('in/the/way')",
        .r = "dir.create('in/the/way', recursive = TRUE)",
    };
    struct laz_error err = {0};

    if (!test_phrase(w, &block))
        return;
    laz_result_free(test_run(session, test_phrase(w, &block), NULL));
    CU_ASSERT_EQUAL(laz_session_put_file(session, "in", "x", 1, &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot create the file in"));
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, NULL);
}

/* The error names the limit, and the session goes on. */
static void a_file_that_is_too_large_names_the_limit(struct laz_session *session,
                                                     const struct words *w)
{
    static char data[200 << 10];
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_session_put_file(session, "big", data, sizeof data, &err), LAZ_EOS);
    UNIT_TEXT(err.text, "cannot create the file big: it is larger than limits.fsize allows");
    CU_ASSERT_EQUAL(laz_session_put_file(session, "small", data, 1000, &err), 0);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
}

static void told(void *user, const struct laz_error *err)
{
    *(int *)user = err ? err->code : 0;
}

static void a_file_can_be_put_without_waiting(struct laz_session *session, const struct words *w)
{
    struct laz_engine *engine = test_engine_of(session);
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    int done = 1;

    (void)w;
    CU_ASSERT_EQUAL(laz_session_put_file_async(session, "f", "x", 1, told, &done, NULL), 0);
    CU_ASSERT_EQUAL(laz_session_put_file(session, "g", "x", 1, &err), LAZ_EBUSY);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a file is being put"));
    CU_ASSERT_EQUAL(laz_session_execute(session, "1", 1, NULL, &result, &err), LAZ_EBUSY);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a file is being put"));
    CU_ASSERT_EQUAL(laz_session_restart(session, &err), LAZ_EBUSY);
    UNIT_TEXT(err.text, "Cannot restart while a file is being put");
    while (done == 1)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    CU_ASSERT_EQUAL(done, 0);
    test_expect(session, "io.open('f'):read('a')", LAZ_VERDICT_OK, "\"x\"");
    CU_ASSERT_EQUAL(laz_session_put_file_async(session, "f", "x", 1, NULL, NULL, NULL), LAZ_EINVAL);
}

static void files(void)
{
    test_in_lua("", a_file_of_many_parts_arrives_whole);
    test_in_lua("", a_file_can_be_put_without_waiting);
    test_each("limits.fsize=100KiB", a_file_that_is_too_large_names_the_limit);
}

/* ---- artifacts --------------------------------------------------------------------------------
 */

static void what_is_saved_comes_once(struct laz_session *session, const struct words *w)
{
    static const struct phrase save = {
        .python = "with open('artifacts/a.txt', 'w') as f: f.write('one')",
        .r = "cat('one', file = 'artifacts/a.txt')",
        .lua = "local f = io.open('artifacts/a.txt', 'w'); f:write('one'); f:close()",
    };
    static const struct phrase change = {
        .python = "with open('artifacts/a.txt', 'w') as f: f.write('two')",
        .r = "cat('two', file = 'artifacts/a.txt')",
        .lua = "local f = io.open('artifacts/a.txt', 'w'); f:write('two'); f:close()",
    };
    static const struct phrase fail = {
        .python = "open('artifacts/b.txt', 'w').write('x'); 1 / 0",
        .r = "cat('x', file = 'artifacts/b.txt'); stop('no')",
        .lua = "local f = io.open('artifacts/b.txt', 'w'); f:write('x'); f:close(); error('no')",
    };
    static const struct phrase leave = {
        .python = "open('artifacts/c.txt', 'w').write('x'); exit(3)",
        .r = "cat('x', file = 'artifacts/c.txt'); quit(status = 3)",
        .lua = "local f = io.open('artifacts/c.txt', 'w'); f:write('x'); f:close(); os.exit(3)",
    };
    struct laz_result *result = run_for(session, test_phrase(w, &save), "a.txt");

    if (!result)
        return;
    const struct laz_artifact artifact = artifact_of(result, "a.txt");
    CU_ASSERT_EQUAL(artifact.data_len, 3);
    CU_ASSERT_EQUAL(memcmp(artifact.data, "one", 3), 0);
    UNIT_TEXT(artifact.type, "text/plain");
    UNIT_TEXT(artifact.sha256, "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
    CU_ASSERT(test_result_has(result, "\"artifacts\":[{\"name\":\"a.txt\",\"type\":\"text/plain\","
                                      "\"size\":3,\"sha256\":\"7692c3ad"));
    laz_result_free(result);
    laz_result_free(run_for(session, w->add_2_3, "")); /* it has not changed */
    laz_result_free(run_for(session, test_phrase(w, &change), "a.txt"));
    laz_result_free(run_for(session, test_phrase(w, &fail), "b.txt"));
    laz_result_free(run_for(session, test_phrase(w, &leave), "c.txt"));
}

/* What is in a buffer when the code has ended, of a file that nobody has closed. */
static void an_open_file_is_written_out(struct laz_session *session, const struct words *w)
{
    static const struct phrase begin = {
        .python = "import csv; csv.writer(f := open('artifacts/open.csv', 'w')).writerow([1, 2])",
        .r = "con <- file('artifacts/open.csv', 'w'); cat('1,2\\r\\n', file = con)",
        .lua = "f = io.open('artifacts/open.csv', 'wb'); f:write('1,2\\r\\n')",
    };
    static const struct phrase end = {
        .python = "f.write('3'); f.close()",
        .r = "cat('3', file = con); close(con)",
        .lua = "f:write('3'); f:close()",
    };
    struct laz_result *result = run_for(session, test_phrase(w, &begin), "open.csv");

    CU_ASSERT_EQUAL(artifact_of(result, "open.csv").data_len, 5);
    CU_ASSERT(test_result_has(result, "left out: what is not written yet of artifacts/open.csv"));
    laz_result_free(result);
    result = run_for(session, w->add_2_3, ""); /* it is told where it was sent, and not again */
    CU_ASSERT_FALSE(test_result_has(result, "artifacts/open.csv"));
    laz_result_free(result);
    result = run_for(session, test_phrase(w, &end), "open.csv");
    CU_ASSERT_EQUAL(artifact_of(result, "open.csv").data_len, 6);
    CU_ASSERT(test_result_has(result, "\"warnings\":[]"));
    laz_result_free(result);
}

/* Whatever the code does in its files, the host is answered. */
static void hostile_files_hold_nobody_up(struct laz_session *session, const struct words *w)
{
    static const struct phrase make = {
        .python = "import io\n"
                  "class Kind(type):\n"
                  "    def __eq__(self, other): raise ValueError\n"
                  "    __hash__ = None\n"
                  "class Bad(io.RawIOBase, metaclass=type('K', (type(io.RawIOBase), Kind), {})):\n"
                  "    def fileno(self): raise KeyError\n"
                  "    @property\n"
                  "    def __class__(self): raise ValueError\n"
                  "bad = Bad()\n"
                  "class Worse(io.FileIO):\n"
                  "    def flush(self): raise OSError\n"
                  "worse = Worse('artifacts/worse', 'w')\n"
                  "f = open('artifacts/good', 'w')\n"
                  "n = f.write('x')",
    };

    if (!test_phrase(w, &make))
        return;
    struct laz_result *result = run_for(session, test_phrase(w, &make), "worse good");
    CU_ASSERT_EQUAL(artifact_of(result, "good").data_len, 1);
    laz_result_free(result);
    laz_result_free(test_run(session, "f.close(); worse.close(); del bad", NULL));
}

static void a_device_on_an_artifact_is_closed(struct laz_session *session, const struct words *w)
{
    static const struct phrase draw = {
        .r = "pdf('elsewhere.pdf'); png('artifacts/p%d.png'); plot(1); plot(2)\n"
             "png(file.path(Sys.getenv('LAZARET_ARTIFACTS'), 'q.png')); plot(3)",
    };

    if (!test_phrase(w, &draw))
        return;
    laz_result_free(run_for(session, test_phrase(w, &draw), "p1.png p2.png q.png"));
    test_expect(session, "as.integer(dev.list())", LAZ_VERDICT_OK, "2");
    laz_result_free(run_for(session, "dev.off()", ""));
}

/* What could lead out of the directory, or block who opens it. */
static void links_and_devices_are_left_out(struct laz_session *session, const struct words *w)
{
    static const struct phrase make = {
        .python = "import os\n"
                  "os.symlink('/etc/passwd', 'artifacts/link')\n"
                  "os.symlink('/etc', 'artifacts/etc')\n"
                  "os.mkfifo('artifacts/pipe')\n"
                  "open('artifacts/.hidden', 'w')\n"
                  "open('artifacts/new\\nline', 'w')\n"
                  "open('artifacts/esc\\x1b[2J', 'w')\n"
                  "os.makedirs('artifacts/sub')\n"
                  "open('artifacts/sub/real', 'w').write('x')",
        .r = "file.symlink('/etc/passwd', 'artifacts/link')\n"
             "file.symlink('/etc', 'artifacts/etc')\n"
             "dir.create('artifacts/sub')\n"
             "cat('x', file = 'artifacts/sub/real')",
    };

    if (!test_phrase(w, &make))
        return;
    struct laz_result *result = run_for(session, test_phrase(w, &make), "sub/real");
    CU_ASSERT(test_result_has(result, "in artifacts/: links, devices, or other special files"));
    if (strcmp(w->runtime, "python") == 0)
        CU_ASSERT(test_result_has(result, "3 in artifacts/: hidden, or with control characters"));
    laz_result_free(result);
}

/* The directory itself is a link: nothing of what it leads to is read. */
static void a_link_in_place_of_the_directory_is_not_followed(struct laz_session *session,
                                                             const struct words *w)
{
    static const struct phrase turn = {
        .python = "import os, shutil; shutil.rmtree('artifacts'); os.symlink('/etc', 'artifacts')",
        .r = "unlink('artifacts', recursive = TRUE); file.symlink('/etc', 'artifacts')",
    };

    if (!test_phrase(w, &turn))
        return;
    struct laz_result *result = run_for(session, test_phrase(w, &turn), "");
    CU_ASSERT(test_result_has(result, "artifacts/, which cannot be read"));
    laz_result_free(result);
}

/* A child of the code exchanges a file for a link, again and again, while it is read: each time the
 * content is the file's, or nothing. */
static void a_race_for_a_link_is_lost(void)
{
    static const char begin[] = "import os\n"
                                "open('secret', 'w').write('outside')\n"
                                "open('inside', 'w').write('inside')\n"
                                "pid = os.fork()\n"
                                "while pid == 0:\n"
                                "    try:\n"
                                "        os.link('inside', 'x'); os.rename('x', 'artifacts/f')\n"
                                "        os.symlink('../secret', 'x')\n"
                                "        os.rename('x', 'artifacts/f')\n"
                                "    except OSError: pass\n";
    const unsigned rounds = 300;
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = test_session(engine, "python");

    laz_result_free(test_run(session, begin, NULL));
    for (unsigned i = 0; session && i < rounds; i++) {
        struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
        struct laz_result *result = test_run(session, "1", NULL);
        for (size_t at = 0; result && at < laz_result_artifacts(result); at++) {
            CU_ASSERT_EQUAL(laz_result_artifact(result, at, &artifact), 0);
            UNIT_TEXT(artifact.data, "inside");
        }
        laz_result_free(result);
    }
    test_expect(session,
                "import signal; os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)[0] == pid",
                LAZ_VERDICT_OK, "true");
    laz_engine_free(engine);
}

/* One session for what a language itself does with files. */
static void each_uses_files(struct laz_session *session, const struct words *w)
{
    a_file_is_there_and_cannot_be_written(session, w);
    a_file_that_cannot_be_made_is_an_error(session, w);
    an_open_file_is_written_out(session, w);
    hostile_files_hold_nobody_up(session, w);
    a_device_on_an_artifact_is_closed(session, w);
    what_is_saved_comes_once(session, w); /* and ends its process */
    links_and_devices_are_left_out(session, w);
    a_link_in_place_of_the_directory_is_not_followed(session, w);
}

/* Nothing but its end makes it whole: in R it is compressed, and then the last four bytes are the
 * length of what is in it; in Python they are that, too, and all of it is in a buffer. */
static void expect_whole(struct laz_engine *engine, const struct words *w, const char *code,
                         int status)
{
    const struct laz_session_options session = {.size = sizeof session, .runtime = w->runtime};
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_execute(engine, &session, code, SIZE_MAX, NULL, &result, NULL), 0);
    const struct laz_artifact artifact = artifact_of(result, "a.gz");
    const unsigned char *end = artifact.data_len > 18
                                   ? (const unsigned char *)artifact.data + artifact.data_len - 4
                                   : NULL;
    CU_ASSERT(end && end[0] == 200 && !end[1] && !end[2] && !end[3]);
    CU_ASSERT_EQUAL(artifact_of(result, "late").data_len, 1);
    CU_ASSERT_EQUAL(laz_result_exit_status(result), status);
    CU_ASSERT(test_result_has(result, "\"warnings\":[]"));
    laz_result_free(result);
}

/* The end of the interpreter makes them whole, and its handlers make others. */
static void files_of_code_that_runs_once_are_whole(struct laz_session *unused,
                                                   const struct words *w)
{
    static const struct phrase leave = {
        .python = "import atexit, threading\n"
                  "def work():\n"
                  "    threading.main_thread().join()\n"
                  "    f.write(b'b' * 100 + bytes([200, 0, 0, 0]))\n"
                  "threading.Thread(target=work).start()\n"
                  "f = open('artifacts/a.gz', 'wb')\n"
                  "f.write(b'a' * 100)\n"
                  "h = atexit.register(lambda: open('artifacts/late', 'w').write('x'))\n",
        .r = "con <- gzfile('artifacts/a.gz', 'w')\n"
             "cat(strrep('a', 100), file = con)\n"
             ".Last <- function() { cat(strrep('b', 100), file = con)\n"
             "                      cat('x', file = 'artifacts/late') }\n",
    };
    struct laz_engine *engine = test_engine_of(unused);
    char code[1000];

    if (!test_phrase(w, &leave))
        return;
    expect_whole(engine, w, test_phrase(w, &leave), 0);
    snprintf(code, sizeof code, "%s%s", test_phrase(w, &leave),
             strcmp(w->runtime, "r") == 0 ? "quit(status = 3)" : "exit(3)");
    expect_whole(engine, w, code, 3);
}

/* ---- the working directory --------------------------------------------------------------------
 */

/* The names of the artifacts of code that runs once, as run_for. */
static struct laz_result *run_once_for(struct laz_engine *engine, const struct words *w,
                                       const char *code, uint32_t collect_cwd, const char *names)
{
    const struct laz_session_options session = {.size = sizeof session, .runtime = w->runtime};
    const struct laz_file file = {
        .size = sizeof file, .name = "in.csv", .data = "a", .data_len = 1};
    const struct laz_file *const files[] = {&file};
    const struct laz_execute_options options = {
        .size = sizeof options, .collect_cwd = collect_cwd, .files = files, .n_files = 1};
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_buf found = LAZ_BUF_INIT;
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_execute(engine, &session, code, SIZE_MAX, &options, &result, NULL),
                          0);
    for (size_t i = 0; laz_result_artifact(result, i, &artifact) == 0; i++)
        laz_buf_printf(&found, "%s ", artifact.name);
    UNIT_TEXT(laz_buf_text(&found), names);
    laz_buf_fini(&found);
    return result;
}

/* Files where the code begins: neither hidden ones, nor those of the host, nor what a language has
 * for itself. */
static void what_is_left_in_the_working_directory(struct laz_session *unused, const struct words *w)
{
    static const struct phrase leave = {
        .python = "import os, tempfile\n"
                  "t = tempfile.NamedTemporaryFile(delete=False); os.mkdir('d')\n"
                  "os.remove('in.csv')\n"
                  "for name in ('a.csv', 'in.csv', '.hidden', 'b.csv', 'd/x',\n"
                  "             os.environ['HOME'] + '/y', 'artifacts/b.csv'):\n"
                  "    with open(name, 'w') as f: n = f.write(name)\n"
                  "os.symlink('a.csv', 'link')",
        .r = "cat('x', file = tempfile()); dir.create('d'); unlink('in.csv')\n"
             "for (name in c('a.csv', 'in.csv', '.hidden', 'b.csv', 'd/x',\n"
             "               file.path(Sys.getenv('HOME'), 'y'), 'artifacts/b.csv'))\n"
             "    cat(name, file = name)\n"
             "x <- file.symlink('a.csv', 'link')",
        .lua = "os.remove('in.csv')\n"
               "for _, name in ipairs({'a.csv', 'in.csv', '.hidden', 'b.csv', os.getenv('TMPDIR') "
               ".. '/z',\n"
               "                       os.getenv('HOME') .. '/y', 'artifacts/b.csv'}) do\n"
               "  local f = io.open(name, 'w'); f:write(name); f:close()\n"
               "end",
    };
    struct laz_engine *engine = test_engine_of(unused);
    const char *code = test_phrase(w, &leave);

    struct laz_result *result = run_once_for(engine, w, code, 0, "b.csv ");
    CU_ASSERT(test_result_has(result, "\"warnings\":[\"left out: a.csv, b.csv: in the working "
                                      "directory; what is saved in artifacts/ is kept\"]"));
    laz_result_free(result);
    result = run_once_for(engine, w, code, 1, "a.csv b.csv ");
    CU_ASSERT(test_result_has(result, "\"warnings\":[\"left out: b.csv: artifacts/ has a file of "
                                      "that name\"]"));
    laz_result_free(result);
    laz_result_free(run_once_for(engine, w, w->add_2_3, 0, ""));
}

/* In a session as the settings say, and each time that they have changed. */
static void a_session_can_collect_them(struct laz_session *session, const struct words *w)
{
    (void)w;
    CU_ASSERT_EQUAL(laz_session_put_file(session, "in.csv", "a", 1, NULL), 0);
    laz_result_free(run_for(session, "f = io.open('a', 'w'); f:write('x'); f:flush()", "a"));
    laz_result_free(run_for(session, "f:close()", ""));
    laz_result_free(run_for(session, "f = io.open('a', 'w'); f:write('y'); f:close()", "a"));
    laz_result_free(
        run_for(session, "for i = 1, 3 do io.open('b' .. i, 'w'):close() end", "b1 b2"));
    laz_result_free(run_for(session, "1", "b3"));
}

static void settings_decide_for_all(struct laz_session *session, const struct words *w)
{
    struct laz_result *result =
        run_once_for(test_engine_of(session), w, "io.open('a', 'w'):close()", 1, "");

    CU_ASSERT(test_result_has(result, "left out: a: in the working directory"));
    laz_result_free(result);
}

/* A directory of the host that lies where the session's would be is not the code's alone. */
static void a_directory_of_the_host_is_not_collected(struct laz_session *session,
                                                     const struct words *w)
{
    struct laz_result *result = run_once_for(test_engine_of(session), w,
                                             "io.open(os.getenv('HOME') .. '/' .. 'work/made', "
                                             "'w'):close(); io.open('here', 'w'):close()\n"
                                             "io.open('artifacts/a', 'w'):close()",
                                             1, "a ");

    CU_ASSERT(test_result_has(result, "\"warnings\":[]"));
    laz_result_free(result);
}

static void working_directory(void)
{
    test_each("", what_is_left_in_the_working_directory);
    test_in_lua("artifacts.collect=cwd;artifacts.max_files=2", a_session_can_collect_them);
    test_in_lua("artifacts.collect=artifacts", settings_decide_for_all);
    if (!getenv("TEST_BACKEND") && !getenv("TEST_WARM") && mkdir("/tmp/work", 0777) == 0) {
        (void)chmod("/tmp/work", 0777);
        test_in_lua("sandbox.write=[\"/tmp/work\"]", a_directory_of_the_host_is_not_collected);
        laz_os_remove_tree("/tmp/work");
    }
}

static void artifacts(void)
{
    const char *only = getenv("TEST_RUNTIME");

    test_each("", each_uses_files);
    test_each("", files_of_code_that_runs_once_are_whole);
    if (!only || strcmp(only, "python") == 0)
        a_race_for_a_link_is_lost();
}

static void more_than_may_be_is_left_out(struct laz_session *session, const struct words *w)
{
    static const char code[] = "for i = 1, 5 do\n"
                               "  local f = io.open('artifacts/f' .. i, 'w')\n"
                               "  f:write('x'); f:close()\n"
                               "end";
    static const char large[] = "local f = io.open('artifacts/large', 'w')\n"
                                "f:write(string.rep('x', 5000)); f:close()\n"
                                "f = io.open('artifacts/sparse', 'w')\n"
                                "f:seek('set', 1 << 24); f:write('x'); f:close()";

    (void)w;
    struct laz_result *result = run_for(session, code, "f1 f2 f3");
    CU_ASSERT(test_result_has(
        result, "left out: artifacts/f4, artifacts/f5: more than artifacts.max_files"));
    laz_result_free(result);
    laz_result_free(run_for(session, "1", "f4 f5")); /* the next ones */
    result = run_for(session, large, "");
    CU_ASSERT(test_result_has(result, "artifacts/large: there is no room for it"));
    CU_ASSERT(test_result_has(result, "artifacts/sparse: there is no room for it"));
    laz_result_free(result);
}

static void many_names_are_not_looked_at(struct laz_session *session, const struct words *w)
{
    (void)w;
    struct laz_result *result =
        test_run(session, "for i = 1, 65600 do io.open('artifacts/' .. i, 'w'):close() end", NULL);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_EQUAL(laz_result_artifacts(result), 32);
    CU_ASSERT(test_result_has(result, "left out: some of artifacts/, which has too many names"));
    laz_result_free(result);
}

static void nothing_is_taken_where_nothing_is_wanted(struct laz_session *session,
                                                     const struct words *w)
{
    (void)w;
    test_expect(session, "os.getenv('LAZARET_ARTIFACTS')", LAZ_VERDICT_OK, "null");
    test_expect(session, "io.open('artifacts/x', 'w') == nil", LAZ_VERDICT_OK, "true");
}

/* The host counts names alike in each box, for each user: variants do not repeat it, because on a
 * disk (landlock) so many files take seconds. */
static bool is_repeated(void)
{
    return (getenv("TEST_BACKEND") || getenv("TEST_WARM") || getenv("TEST_RUNTIME")) &&
           !getenv("LAZARET_TEST_FULL");
}

static void limits(void)
{
    test_in_lua("artifacts.max_files=3;artifacts.max_size=4KiB", more_than_may_be_is_left_out);
    if (!is_repeated())
        test_in_lua("sandbox.tmp_size=\"512MiB\"", many_names_are_not_looked_at);
    test_in_lua("artifacts.max_files=0", nothing_is_taken_where_nothing_is_wanted);
}

/* ---- values beyond a line ---------------------------------------------------------------------
 */

static void a_large_value_arrives(struct laz_session *session, const struct words *w)
{
    static const struct phrase make = {
        .python = "'ab' * 30000",
        .r = "strrep('ab', 30000)",
        .lua = "string.rep('ab', 30000)",
    };
    static const struct phrase larger = {
        .python = "'ab' * 60000",
        .r = "strrep('ab', 60000)",
        .lua = "string.rep('ab', 60000)",
    };
    struct laz_result *result = test_run(session, test_phrase(w, &make), NULL);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_EQUAL(strlen(laz_result_value(result)), 60002);
    CU_ASSERT_EQUAL(strncmp(laz_result_value(result), "\"ababab", 7), 0);
    if (strcmp(w->runtime, "r") != 0) { /* which keeps no such text */
        CU_ASSERT_PTR_NOT_NULL_FATAL(laz_result_text(result));
        CU_ASSERT(strlen(laz_result_text(result)) >= 60000);
    }
    laz_result_free(result);
    result = test_run(session, test_phrase(w, &larger), NULL);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT(test_result_has(result, "\"value_omitted\":true"));
    laz_result_free(result);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, NULL);
}

/* ---- figures ----------------------------------------------------------------------------------
 */

static void what_is_drawn_becomes_pictures(struct laz_session *session, const struct words *w)
{
    static const struct phrase draw = {
        .python = "import matplotlib.pyplot as plt\n"
                  "plt.plot([1, 2]); plt.show()\n"
                  "plt.figure(); plt.plot([2, 1])",
        .r = "plot(1:10); hist(c(1, 2, 2))",
    };
    /* One that was saved and is still open comes once. */
    static const struct phrase save = {
        .python = "plt.plot([1, 2]); plt.savefig('artifacts/saved.png')",
        .r = "png('artifacts/saved.png'); plot(1)",
    };
    const bool is_r = strcmp(w->runtime, "r") == 0;

    if (!test_phrase(w, &draw))
        return;
    if (!is_r) {
        struct laz_result *tried = test_run(session, "import matplotlib", NULL);
        const bool is_there = laz_result_verdict(tried) == LAZ_VERDICT_OK;
        laz_result_free(tried);
        if (!is_there && unit_skip("matplotlib", "the Python of the sandbox has none"))
            return;
    }
    struct laz_result *result =
        run_for(session, test_phrase(w, &draw),
                is_r ? "figure-1-1.png figure-1-2.png" : "figure-1.png figure-2.png");
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT(test_result_has(result, "\"type\":\"image/png\""));
    laz_result_free(result);
    laz_result_free(run_for(session, w->add_2_3, ""));
    laz_result_free(run_for(session, test_phrase(w, &save), "saved.png"));
    if (is_r)
        return;
    laz_result_free(run_for(
        session, "plt.plot([1]); plt.savefig('artifacts/again.png'); plt.show()", "again.png"));
    laz_result_free(run_for(session,
                            "plt.plot([1]); plt.savefig('artifacts/b.png'); plt.title('t')",
                            "b.png figure-3.png")); /* it was drawn on since */
    laz_result_free(run_for(session, "plt.plot([1]); plt.savefig('/tmp/c.png')", "figure-4.png"));
}

/* Pictures, too, are larger than a message here. */
static void values_and_figures_arrive(struct laz_session *session, const struct words *w)
{
    a_large_value_arrives(session, w);
    what_is_drawn_becomes_pictures(session, w);
}

static void values_and_figures(void)
{
    test_each("session.max_message_size=8KiB;artifacts.max_size=100KiB;limits.memory=unlimited",
              values_and_figures_arrive);
}

static const struct unit_test tests[] = {
    UNIT(files),  UNIT(artifacts),          UNIT(working_directory),
    UNIT(limits), UNIT(values_and_figures), {0},
};

int main(void)
{
    return unit_run("files", tests);
}
