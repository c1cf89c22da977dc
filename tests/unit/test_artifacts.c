/* SPDX-License-Identifier: MIT */
/* test_artifacts.c - what comes out of a box in parts: whole, within its limits, or refused. And
 * where it is saved: in its directory, over nothing, and through no link. */
#include "unit.h"

#include "base/base64.h"
#include "base/path.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/walk.h"
#include "session/result.h"
#include "work_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 3
#define MAX_SIZE  20

static const char *why;

/* Takes a part with these bytes. */
static int part(struct laz_artifacts *artifacts, const char *of, const char *name,
                const char *bytes, bool more)
{
    struct laz_buf data = LAZ_BUF_INIT;

    laz_base64_encode(&data, bytes, strlen(bytes));
    const struct laz_message message = {.type = LAZ_MESSAGE_PART,
                                        .of = of,
                                        .name = name,
                                        .data = laz_buf_text(&data),
                                        .data_len = data.len,
                                        .more = more};
    why = "";
    int rc = laz_artifacts_take(artifacts, &message, MAX_FILES, MAX_SIZE, &why);
    laz_buf_fini(&data);
    return rc;
}

static void parts_become_files_with_their_digests(void)
{
    struct laz_artifacts artifacts = {0};

    CU_ASSERT_EQUAL(part(&artifacts, "file", "a.txt", "ab", true), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", NULL, "c", false), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", "sub/empty.bin", "", false), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "value", NULL, "[1,", true), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "value", NULL, "2]", false), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "text", NULL, "one", false), 0);
    CU_ASSERT_EQUAL(laz_artifacts_finish(&artifacts, &why), 0);
    CU_ASSERT_EQUAL(laz_artifacts_check(&artifacts.value, &artifacts.text, &why), 0);
    CU_ASSERT_EQUAL_FATAL(artifacts.n, 2);
    UNIT_TEXT(artifacts.items[0].name, "a.txt");
    UNIT_TEXT(laz_buf_text(&artifacts.items[0].data), "abc");
    UNIT_TEXT(artifacts.items[0].type, "text/plain");
    /* FIPS 180-4, examples: "abc" and the empty message */
    UNIT_TEXT(artifacts.items[0].sha256,
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    UNIT_TEXT(artifacts.items[1].sha256,
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    UNIT_TEXT(laz_buf_text(&artifacts.value), "[1,2]");
    UNIT_TEXT(laz_buf_text(&artifacts.text), "one");
    laz_artifacts_fini(&artifacts);
}

/* Each row begins anew with a file "a" that is not whole (`open`) or nothing. */
static void parts_that_no_honest_agent_sends_are_refused(void)
{
    static const struct {
        bool open;
        const char *of, *name, *bytes, *why;
    } rows[] = {
        {false, "file", "../x", "", "no name"},
        {false, "file", "/etc/passwd", "", "no name"},
        {false, "file", "a//b", "", "no name"},
        {false, "file", "a/../b", "", "no name"},
        {false, "file", "a/", "", "no name"},
        {false, "file", "", "", "no name"},
        {false, "file", ".bashrc", "", "no name"},
        {false, "file", "a/.x", "", "no name"},
        {false, "file", "a\nb", "", "no name"},
        {false, "file", "a\033[2Jb", "", "no name"},
        {false, "file", "a\tb", "", "no name"},
        {false, "file", "a\\b", "", "no name"},
        {false, "file",
         "a\xe2\x80\xae"
         "b",
         "", "no name"}, /* a mark that turns text around */
        {false, "file",
         "a\xff"
         "b",
         "", "no name"},
        {false, "file", NULL, "", "no name"},
        {false, "file", "a", "123456789012345678901", "max_size"},
        {false, "value", NULL, "123456789012345678901", "max_size"},
        {false, "thing", NULL, "", "nothing that is known"},
        {true, "file", "b", "", "before another one had ended"},
        {true, "value", NULL, "", "before another thing had ended"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_artifacts artifacts = {0};
        if (rows[i].open)
            CU_ASSERT_EQUAL(part(&artifacts, "file", "a", "x", true), 0);
        CU_ASSERT_EQUAL(part(&artifacts, rows[i].of, rows[i].name, rows[i].bytes, false),
                        LAZ_EPROTO);
        ASSERT_HAS(why, rows[i].why);
        laz_artifacts_fini(&artifacts);
    }
}

static void limits_hold_for_all_files_together(void)
{
    struct laz_artifacts artifacts = {0};

    CU_ASSERT_EQUAL(part(&artifacts, "file", "a", "1234567890", false), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", "a", "", false), LAZ_EPROTO);
    ASSERT_HAS(why, "sent twice");
    CU_ASSERT_EQUAL(part(&artifacts, "file", "b", "1234567890", false), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", "c", "", true), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", NULL, "1", false), LAZ_EPROTO);
    ASSERT_HAS(why, "max_size");
    laz_artifacts_fini(&artifacts);
    for (int i = 0; i < MAX_FILES; i++)
        CU_ASSERT_EQUAL(part(&artifacts, "file", i ? i > 1 ? "c" : "b" : "a", "", false), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", "d", "", false), LAZ_EPROTO);
    ASSERT_HAS(why, "max_files");
    laz_artifacts_fini(&artifacts);
}

static int give(struct laz_artifacts *artifacts, const char *tool, const char *suffix,
                const char *bytes, const char **name)
{
    return laz_artifacts_give(artifacts, tool, suffix, bytes, strlen(bytes), MAX_FILES, MAX_SIZE,
                              name, NULL);
}

static void files_of_tools_join_those_of_the_code(void)
{
    struct laz_artifacts artifacts = {0};
    const char *name = NULL;

    CU_ASSERT_EQUAL(give(&artifacts, "m_plot", ".txt", "one", &name), 0);
    UNIT_TEXT(name, "m_plot-1.txt");
    CU_ASSERT_EQUAL(give(&artifacts, "m_plot", "/../x", "two", &name), LAZ_EINVAL);
    CU_ASSERT_EQUAL(give(&artifacts, "m_plot", ".txt", "more than eighteen", &name), LAZ_ETOOBIG);
    CU_ASSERT_EQUAL(give(&artifacts, "m_plot", ".txt", "two", &name), 0);
    UNIT_TEXT(name, "m_plot-2.txt");
    CU_ASSERT_EQUAL(give(&artifacts, "n", "", "", &name), 0);
    CU_ASSERT_EQUAL(give(&artifacts, "n", "", "", &name), LAZ_ETOOBIG); /* MAX_FILES */
    /* The agent's files have limits of their own, and may have any names. */
    CU_ASSERT_EQUAL(part(&artifacts, "file", "m_plot-2.txt", "agent", false), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", "tool-m_plot-2.txt", "agent", false), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", "c", "", false), 0);
    CU_ASSERT_EQUAL(laz_artifacts_finish(&artifacts, &why), 0);
    CU_ASSERT(laz_artifacts_settle(&artifacts, "ok"));
    CU_ASSERT_EQUAL(artifacts.n_lost, 0);
    CU_ASSERT_EQUAL_FATAL(artifacts.n, 6);
    UNIT_TEXT(laz_buf_text(&artifacts.items[0].data), "agent");
    UNIT_TEXT(artifacts.items[3].name, "m_plot-1.txt");
    UNIT_TEXT(artifacts.items[3].type, "text/plain");
    UNIT_TEXT(laz_buf_text(&artifacts.items[3].data), "one");
    UNIT_TEXT(artifacts.items[4].name, "tool-tool-m_plot-2.txt");
    UNIT_TEXT(artifacts.items[5].name, "n-3");
    laz_artifacts_fini(&artifacts);
    CU_ASSERT_EQUAL(give(&artifacts, "m", "", "x", &name), 0); /* which never come together */
    laz_artifacts_fini(&artifacts);
}

/* The file of a tool whose name, and all that it could have instead, the code has taken. */
static void a_file_of_a_tool_without_a_name_is_lost(void)
{
    struct laz_artifacts artifacts = {0};
    char tool[LAZ_NAME_MAX - 3], taken[LAZ_NAME_MAX + 1];
    const char *name = NULL;

    memset(tool, 't', sizeof tool);
    tool[sizeof tool - 1] = '\0';
    snprintf(taken, sizeof taken, "%s-1", tool);
    CU_ASSERT_EQUAL(give(&artifacts, tool, "", "one", &name), 0);
    CU_ASSERT_EQUAL(give(&artifacts, "m", "", "two", &name), 0);
    CU_ASSERT_EQUAL(part(&artifacts, "file", taken, "agent", false), 0);
    CU_ASSERT(laz_artifacts_settle(&artifacts, "ok"));
    CU_ASSERT_EQUAL_FATAL(artifacts.n, 2);
    UNIT_TEXT(artifacts.items[1].name, "m-2");
    CU_ASSERT_EQUAL_FATAL(artifacts.n_lost, 1);
    UNIT_TEXT(artifacts.lost[0].name, taken);
    CU_ASSERT_EQUAL(artifacts.lost[0].bytes, 3);
    ASSERT_HAS(artifacts.lost[0].why, "taken all names");
    laz_artifacts_fini(&artifacts);
}

/* However the execution has ended: the last file is lost, and nothing else. */
static void what_was_not_sent_to_its_end_is_lost(void)
{
    struct laz_lost_artifact lost = LAZ_LOST_ARTIFACT_INIT;
    struct laz_result *result = calloc(1, sizeof *result);
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    const char *name = NULL;

    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    struct laz_artifacts *artifacts = &result->artifacts;
    CU_ASSERT_EQUAL(part(artifacts, "file", "a.txt", "whole", false), 0);
    CU_ASSERT_EQUAL(give(artifacts, "m", ".txt", "of a tool", &name), 0);
    CU_ASSERT_EQUAL(part(artifacts, "file", "b.png", "\x89PNG\r\n\x1a\n", true), 0);
    CU_ASSERT_EQUAL(part(artifacts, "file", "c", "", false), LAZ_EPROTO);
    CU_ASSERT(laz_artifacts_settle(artifacts, "timeout"));
    CU_ASSERT_EQUAL(laz_result_artifacts(result), 2);
    CU_ASSERT_EQUAL(laz_result_artifact(result, 0, &artifact), 0);
    UNIT_TEXT(artifact.name, "a.txt");
    CU_ASSERT_EQUAL(laz_result_artifact(result, 1, &artifact), 0);
    UNIT_TEXT(artifact.name, "m-1.txt");
    UNIT_TEXT(artifact.type, "text/plain");
    CU_ASSERT_EQUAL(laz_result_lost_artifacts(result), 1);
    CU_ASSERT_EQUAL(laz_result_lost_artifact(result, 0, &lost), 0);
    UNIT_TEXT(lost.name, "b.png");
    CU_ASSERT_EQUAL(lost.bytes, 8);
    UNIT_TEXT(lost.why, "the execution ended before all of it had come: timeout");
    CU_ASSERT_EQUAL(laz_result_lost_artifact(result, 1, &lost), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_result_lost_artifact(result, 0, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_result_lost_artifacts(NULL), 0);
    ASSERT_HAS(laz_result_json(result), "\"artifacts_lost\":[{\"name\":\"b.png\",\"bytes\":8,"
                                        "\"why\":\"the execution ended before");
    laz_result_free(result);
}

static void what_is_not_whole_or_not_of_its_form_is_refused(void)
{
    static const struct {
        const char *of, *bytes;
        bool more;
        const char *why;
    } rows[] = {
        {"file", "x", true, "to its end"},
        {"value", "[1", false, "not JSON"},
        {"text", "\xff", false, "not UTF-8"},
    };
    const struct laz_message no_base64 = {
        .type = LAZ_MESSAGE_PART, .of = "value", .data = "====", .data_len = 4};
    struct laz_artifacts artifacts = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_EQUAL(part(&artifacts, rows[i].of, "a", rows[i].bytes, rows[i].more), 0);
        CU_ASSERT_EQUAL(rows[i].more ? laz_artifacts_finish(&artifacts, &why)
                                     : laz_artifacts_check(&artifacts.value, &artifacts.text, &why),
                        LAZ_EPROTO);
        ASSERT_HAS(why, rows[i].why);
        laz_artifacts_fini(&artifacts);
    }
    CU_ASSERT_EQUAL(laz_artifacts_take(&artifacts, &no_base64, MAX_FILES, MAX_SIZE, &why),
                    LAZ_EPROTO);
    ASSERT_HAS(why, "not base64");
    laz_artifacts_fini(&artifacts);
}

static void a_picture_is_one_if_it_begins_as_one(void)
{
    UNIT_TEXT(laz_media_type("a.PNG", "\x89PNG\r\n\x1a\n....", 12), "image/png");
    UNIT_TEXT(laz_media_type("a.png", "<html>", 6), "application/octet-stream");
    UNIT_TEXT(laz_media_type("a.png", "", 0), "application/octet-stream");
    UNIT_TEXT(laz_media_type("a/b.csv", "x", 1), "text/csv");
    UNIT_TEXT(laz_media_type("png", "\x89PNG\r\n\x1a\n", 8), "application/octet-stream");
    UNIT_TEXT(laz_media_type(".png", "\x89PNG\r\n\x1a\n", 8), "application/octet-stream");
}

static void names_of_files_for_a_session_are_single_ones(void)
{
    CU_ASSERT(laz_name_is_plain("in.csv"));
    CU_ASSERT(laz_name_is_plain(".Rprofile"));
    CU_ASSERT(laz_name_is_plain("\xc3\xa4 b"));
    CU_ASSERT_FALSE(laz_name_is_plain("a/b"));
    CU_ASSERT_FALSE(laz_name_is_plain(".."));
    CU_ASSERT_FALSE(laz_name_is_plain("."));
    CU_ASSERT_FALSE(laz_name_is_plain(""));
    CU_ASSERT_FALSE(laz_name_is_plain("a\rb"));
}

/* ---- saving ---------------------------------------------------------------------------------- */

static struct laz_result *result_with(const char *first, const char *second)
{
    struct laz_result *result = calloc(1, sizeof *result);

    if (result) {
        CU_ASSERT_EQUAL(part(&result->artifacts, "file", first, "one", false), 0);
        CU_ASSERT_EQUAL(part(&result->artifacts, "file", second, "two", false), 0);
    }
    return result;
}

static void expect_file(const char *name, const char *content)
{
    struct laz_buf read = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL(laz_os_read_file(in_work(name), 100, &read, NULL), 0);
    UNIT_TEXT(laz_buf_text(&read), content);
    laz_buf_fini(&read);
}

static void artifacts_are_saved_over_nothing_and_through_no_link(void)
{
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_error err = {0};

    work_begin();
    struct laz_result *result = result_with("a.txt", "sub/b.txt");
    CU_ASSERT_EQUAL(laz_result_save_artifacts(result, in_work("out"), &err), 0);
    expect_file("out/a.txt", "one");
    expect_file("out/sub/b.txt", "two");
    CU_ASSERT_EQUAL(laz_result_artifact(result, 1, &artifact), 0);
    UNIT_TEXT(artifact.path, in_work("out/sub/b.txt"));
    ASSERT_HAS(laz_result_json(result), "out/sub/b.txt");
    CU_ASSERT_EQUAL(laz_result_artifact(result, 2, &artifact), LAZ_EINVAL);

    write_file(in_work("out/a.txt"), "mine", 4, 0600); /* a second time: nothing is overwritten */
    CU_ASSERT_EQUAL(laz_result_save_artifacts(result, in_work("out"), &err), 0);
    expect_file("out/a.txt", "mine");
    expect_file("out/a-2.txt", "one");
    expect_file("out/sub/b-2.txt", "two");
    laz_result_free(result);

    make_directory("elsewhere", 0700); /* links that somebody has put there */
    CU_ASSERT_EQUAL(symlink(in_work("elsewhere"), in_work("out/link")), 0);
    CU_ASSERT_EQUAL(symlink(in_work("elsewhere/new"), in_work("out/c.txt")), 0);
    result = result_with("c.txt", "link/b.txt");
    CU_ASSERT_EQUAL(laz_result_save_artifacts(result, in_work("out"), &err), LAZ_EOS);
    ASSERT_HAS(err.text, "link/b.txt");
    expect_file("out/c-2.txt", "one");
    CU_ASSERT_EQUAL(laz_result_artifact(result, 0, &artifact), 0);
    CU_ASSERT_PTR_NULL(artifact.problem);
    CU_ASSERT_EQUAL(laz_result_artifact(result, 1, &artifact), 0);
    ASSERT_HAS(artifact.problem, "the artifact link/b.txt cannot be saved in");
    CU_ASSERT_PTR_NULL(artifact.path);
    CU_ASSERT_EQUAL(access(in_work("elsewhere/new"), F_OK), -1);
    CU_ASSERT_EQUAL(access(in_work("elsewhere/b.txt"), F_OK), -1);
    laz_result_free(result);
    work_end();
}

/* Each that cannot be saved has its problem, and the others are saved: whichever comes first. */
static void one_that_cannot_be_saved_does_not_stop_the_others(void)
{
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_error err = {0};

    work_begin();
    struct laz_result *result = result_with("a/b.txt", "c.txt");
    CU_ASSERT_EQUAL(part(&result->artifacts, "file", "a", "three", false), 0);
    write_file(in_work("a"), "mine", 4, 0600);
    CU_ASSERT_EQUAL(laz_result_save_artifacts(result, in_work("."), &err), LAZ_EOS);
    ASSERT_HAS(err.text, "the artifact a/b.txt cannot be saved in");
    expect_file("a", "mine");
    expect_file("c.txt", "two");
    expect_file("a-2", "three");
    CU_ASSERT_EQUAL(laz_result_artifact(result, 0, &artifact), 0);
    UNIT_TEXT(artifact.problem, err.text);
    ASSERT_HAS(laz_result_json(result), "\"path\":null,\"problem\":\"the artifact a/b.txt cannot");
    CU_ASSERT_EQUAL(laz_result_artifact(result, 1, &artifact), 0);
    CU_ASSERT_PTR_NULL(artifact.problem);

    CU_ASSERT_EQUAL(laz_result_save_artifacts(result, in_work("none/deep"), &err), LAZ_EOS);
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(laz_result_artifact(result, i, &artifact), 0);
        UNIT_TEXT(artifact.problem, err.text); /* that of the directory */
    }
    CU_ASSERT_EQUAL(laz_result_save_artifacts(result, in_work("new"), &err), 0);
    CU_ASSERT_EQUAL(laz_result_artifact(result, 0, &artifact), 0);
    CU_ASSERT_PTR_NULL(artifact.problem);
    laz_result_free(result);
    work_end();
}

/* ---- walking ----------------------------------------------------------------------------------
 */

struct seen {
    struct laz_buf names;
    size_t n;
};

static bool see(void *user, const char *name, const struct laz_look *look)
{
    struct seen *seen = user;
    struct laz_look now;

    int fd = laz_os_walk_open(in_work("top"), name, &now);
    laz_buf_printf(&seen->names, "%s%s%s", seen->names.len ? " " : "", name,
                   look->kind != LAZ_LOOK_FILE ? fd < 0 ? "!" : "?" : "");
    if (fd >= 0)
        close(fd);
    return ++seen->n < 100;
}

static void a_walk_follows_no_link_and_opens_files_only(void)
{
    struct seen seen = {.names = LAZ_BUF_INIT};
    struct laz_look look;
    char deep[200];

    work_begin();
    make_directory("top", 0700);
    make_directory("top/sub", 0700);
    write_file(in_work("top/b"), "x", 1, 0600);
    write_file(in_work("top/sub/a"), "x", 1, 0600);
    CU_ASSERT_EQUAL(symlink("/etc", in_work("top/etc")), 0);
    CU_ASSERT_EQUAL(symlink("/etc/passwd", in_work("top/link")), 0);
    CU_ASSERT_EQUAL(mkfifo(in_work("top/pipe"), 0600), 0);
    CU_ASSERT_EQUAL(laz_os_walk(in_work("top"), false, see, &seen), 0);
    UNIT_TEXT(laz_buf_text(&seen.names), "b etc! link! pipe! sub/a");
    laz_buf_clear(&seen.names);
    CU_ASSERT_EQUAL(laz_os_walk(in_work("top"), true, see, &seen), 0);
    UNIT_TEXT(laz_buf_text(&seen.names), "b etc! link! pipe!");
    CU_ASSERT_TRUE(laz_os_walk_open(in_work("top"), "etc/passwd", &look) < 0);
    CU_ASSERT_EQUAL(errno, ENOTDIR);
    CU_ASSERT_EQUAL(symlink(in_work("top"), in_work("other")), 0);
    CU_ASSERT_EQUAL(laz_os_walk(in_work("other"), false, see, &seen), ENOTDIR);
    CU_ASSERT_EQUAL(laz_os_walk(in_work("none"), false, see, &seen), ENOENT);
    strcpy(deep, "top");
    for (int i = 0; i < LAZ_WALK_DEPTH; i++) {
        strcat(deep, "/d");
        make_directory(deep, 0700);
    }
    CU_ASSERT_EQUAL(laz_os_walk(in_work("top"), false, see, &seen), EOVERFLOW);
    laz_buf_fini(&seen.names);
    work_end();
}

/* Those that can write, and of regular files only. */
static void files_that_are_written_are_listed(void)
{
    struct laz_written_file files[64];
    struct laz_look look;
    size_t n, found = 0;

    work_begin();
    write_file(in_work("a"), "x", 1, 0600);
    write_file(in_work("b"), "x", 1, 0600);
    const int a = open(in_work("a"), O_WRONLY), b = open(in_work("b"), O_RDONLY);
    CU_ASSERT_EQUAL(laz_os_look(in_work("a"), false, &look), 0);
    n = laz_os_written_files(files, 64);
    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_NOT_EQUAL(files[i].fd, b);
        found += files[i].fd == a && files[i].inode == look.inode && files[i].device == look.device;
    }
    CU_ASSERT_EQUAL(found, 1);
    CU_ASSERT_EQUAL(laz_os_written_files(files, 0), 0);
    close(a);
    close(b);
    work_end();
}

/* At once, and also when it is empty again. */
static void a_watched_directory_shows_what_was_made_in_it(void)
{
    struct laz_look look;
    int64_t written_ns;

    work_begin();
    make_directory("w", 0700);
    CU_ASSERT_TRUE_FATAL(laz_os_watch_directory(in_work("w"), &written_ns));
    CU_ASSERT_EQUAL(laz_os_look(in_work("w"), false, &look), 0);
    CU_ASSERT_EQUAL(look.written_ns, written_ns);
    write_file(in_work("w/a"), "x", 1, 0600);
    CU_ASSERT_EQUAL(unlink(in_work("w/a")), 0);
    CU_ASSERT_EQUAL(laz_os_look(in_work("w"), false, &look), 0);
    CU_ASSERT_NOT_EQUAL(look.written_ns, written_ns);
    CU_ASSERT_FALSE(laz_os_watch_directory(in_work("none"), &written_ns));
    work_end();
}

static const struct unit_test tests[] = {
    UNIT(parts_become_files_with_their_digests),
    UNIT(parts_that_no_honest_agent_sends_are_refused),
    UNIT(limits_hold_for_all_files_together),
    UNIT(files_of_tools_join_those_of_the_code),
    UNIT(a_file_of_a_tool_without_a_name_is_lost),
    UNIT(what_was_not_sent_to_its_end_is_lost),
    UNIT(what_is_not_whole_or_not_of_its_form_is_refused),
    UNIT(a_picture_is_one_if_it_begins_as_one),
    UNIT(names_of_files_for_a_session_are_single_ones),
    UNIT(artifacts_are_saved_over_nothing_and_through_no_link),
    UNIT(one_that_cannot_be_saved_does_not_stop_the_others),
    UNIT(a_walk_follows_no_link_and_opens_files_only),
    UNIT(files_that_are_written_are_listed),
    UNIT(a_watched_directory_shows_what_was_made_in_it),
    {0},
};

int main(void)
{
    return unit_run("artifacts", tests);
}
