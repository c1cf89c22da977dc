/* SPDX-License-Identifier: MIT */
/* test_quotas.c - what one session uses up of a quota that the kernel counts by user, another
 * session, with a uid of its own, still has.  With the same uid it has less, and is refused
 * nothing. (What is refused to all of them tests/enforce/probes.c tries, and watches of epoll
 * test_watches.c.) */
#include "live.h"

#include "os/users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct situation {
    const char *settings;
    bool warm;
} own_boxes = {"sandbox.backend=bwrap", false}, no_boxes = {"sandbox.backend=landlock", false},
  siblings = {"sandbox.backend=bwrap;pool.warm=template", true};

static struct laz_session *open_python(struct laz_engine *engine, const struct situation *where)
{
    return where->warm ? test_warm_session(engine, "python") : test_session(engine, "python");
}

/* ---- pages of pipes ------------------------------------------------------------------------- */

/* 1190 pipes, more than have 16 pages each (fs.pipe-user-pages-soft, 16384, pipe(7)); kept in
 * processes that wait. Then, as in the other session, the size of a new pipe (F_GETPIPE_SZ), of
 * which all can be used. */
#define PIPE_SOFT "/proc/sys/fs/pipe-user-pages-soft"
static const char take_pipes[] = "import os, signal\n"
                                 "done = os.pipe()\n"
                                 "for i in range(14):\n"
                                 "    if os.fork() == 0:\n"
                                 "        p = [os.pipe() for j in range(85)]\n"
                                 "        n = os.write(done[1], b'x')\n"
                                 "        while True: signal.pause()\n"
                                 "n = 0\n"
                                 "while n < 14: n += len(os.read(done[0], 14))\n"
                                 "n";
static const char size_of_pipe[] = "import fcntl, os\n"
                                   "r, w = os.pipe()\n"
                                   "n = fcntl.fcntl(w, 1032)\n"
                                   "n if os.write(w, bytes(n)) == n else 'not all'";

static bool pipes_have_the_usual_limit(void)
{
    FILE *file = fopen(PIPE_SOFT, "re");
    unsigned long pages = 0;

    bool known = file && fscanf(file, "%lu", &pages) == 1 && pages == 16384;
    if (file)
        (void)fclose(file);
    if (!known)
        printf("\n    SKIP pipes: %s is not the kernel's own value\n", PIPE_SOFT);
    return known;
}

/* All of a new pipe can be used. Its size, where nobody else has the uid: other tests of an
 * ordinary user make and close pipes meanwhile. */
static void has_pipe(struct laz_session *session, bool is_whole)
{
    struct laz_result *result = test_run(session, size_of_pipe, NULL);

    if (!result)
        return;
    const char *size = laz_result_value(result);
    if (laz_os_is_root())
        UNIT_TEXT(size, is_whole ? "65536" : "8192");
    else
        CU_ASSERT(strcmp(size, "65536") == 0 || strcmp(size, "8192") == 0);
    laz_result_free(result);
}

static void pipes_are(const struct situation *where, bool apart)
{
    struct laz_engine *engine = test_engine(where->settings);
    struct laz_session *greedy = open_python(engine, where), *other = open_python(engine, where);

    if (greedy && other) {
        has_pipe(other, true);
        test_expect(greedy, take_pipes, LAZ_VERDICT_OK, "14");
        has_pipe(greedy, false);
        has_pipe(other, apart);
    }
    laz_engine_free(engine);
}

static void pipes_of_boxes_are_apart_as_root(void)
{
    if (pipes_have_the_usual_limit())
        pipes_are(&own_boxes, true);
}

static void pipes_without_a_box_are_apart_as_root(void)
{
    if (pipes_have_the_usual_limit())
        pipes_are(&no_boxes, true);
}

static void siblings_share_their_pipes_and_none_is_refused(void)
{
    if (pipes_have_the_usual_limit())
        pipes_are(&siblings, false);
}

/* ---- disk quotas ---------------------------------------------------------------------------- */

/* All file systems that are mounted for writing, but for those without files of their own. */
static const char places[] = "rw = set()\n"
                             "for line in open('/proc/self/mountinfo'):\n"
                             "    here, there = line.split(' - ')\n"
                             "    if 'rw' in here.split()[5].split(','): rw.add(there.split()[0])\n"
                             "' '.join(sorted(rw - {'proc', 'devpts', 'mqueue'}))";
static const char write_file[] = "f = open('file', 'w')\n"
                                 "n = f.write('x')\n"
                                 "f.close()\n"
                                 "import os\n"
                                 "os.path.abspath('file')";

/* The device nodes are bound one by one, and hold nothing. */
static void writes_only_to_memory(const struct situation *where)
{
    struct laz_engine *engine = test_engine(where->settings);
    struct laz_session *session = open_python(engine, where);
    struct laz_result *result = session ? test_run(session, places, NULL) : NULL;

    if (result) {
        const char *value = laz_result_value(result);
        bool right = strcmp(value, "\"tmpfs\"") == 0 || strcmp(value, "\"devtmpfs tmpfs\"") == 0;
        if (!right)
            printf("\n    %s", value);
        CU_ASSERT_TRUE(right);
    }
    laz_result_free(result);
    laz_engine_free(engine);
}

static void a_box_writes_to_no_disk(void)
{
    writes_only_to_memory(&own_boxes);
    writes_only_to_memory(&siblings);
}

/* Without a box a file lies in a directory of the host, and belongs to the uid of the session. */
static void a_file_without_a_box_belongs_to_the_session(void)
{
    struct laz_engine *engine = test_engine(no_boxes.settings);
    struct laz_session *session = open_python(engine, &no_boxes);
    struct laz_result *result = session ? test_run(session, write_file, NULL) : NULL;
    char path[512] = "";
    struct stat st;

    if (result) {
        (void)sscanf(laz_result_value(result), "\"%511[^\"]\"", path);
        CU_ASSERT_EQUAL_FATAL(stat(path, &st), 0);
        CU_ASSERT((st.st_uid == getuid()) == !laz_os_is_root());
    }
    laz_result_free(result);
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(pipes_of_boxes_are_apart_as_root),
    UNIT(pipes_without_a_box_are_apart_as_root),
    UNIT(siblings_share_their_pipes_and_none_is_refused),
    UNIT(a_box_writes_to_no_disk),
    UNIT(a_file_without_a_box_belongs_to_the_session),
    {0},
};

int main(void)
{
    return unit_run("quotas", tests);
}
