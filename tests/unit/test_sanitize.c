/* SPDX-License-Identifier: MIT */
/* test_sanitize.c - what is removed from error messages, and what is kept. */
#include "unit.h"

#include "advice/sanitize.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct row {
    const char *text, *expected;
};

static void check_rows(const struct row *rows)
{
    for (; rows->text; rows++) {
        struct laz_buf out = LAZ_BUF_INIT;
        laz_sanitize(rows->text, 0, &out);
        UNIT_TEXT(laz_buf_text(&out), rows->expected);
        laz_buf_fini(&out);
    }
}

/* Behaviours 31 and 92. */
static void sanitize_takes_paths_out(void)
{
    static const struct row rows[] = {
        {"cannot open /Users/Alice/x.R", "cannot open [path]"},
        {"cannot open file '/home/alice/secret.csv': No such file",
         "cannot open file '[path]': No such file"},
        {"in /tmp/RtmpX/file1 and /var/log/syslog", "in [path] and [path]"},
        {"(/etc/passwd)", "([path])"},
        {"/opt/app/lib.so: undefined symbol", "[path]: undefined symbol"},
        {"C:\\Users\\bob\\x.txt is missing", "[path] is missing"},
        {"c:\\users\\bob\\x.txt is missing", "[path] is missing"},
        {"D:/data/x.txt is missing", "[path] is missing"},
        {"on \\\\server\\share\\x", "on [path]"},
        {"/root/.ssh/id_rsa, /srv/0/a, /mnt/0/b", "[path], [path], [path]"},
        {"/proc/self/environ /usr/lib/R/bin", "[path] [path]"},
        {"~/.aws/credentials and ~bob/x", "[path] and [path]"},
        {"open '/home/alice/My Documents/secret.txt' failed", "open '[path]' failed"},
        {"open \"C:\\My Documents\\a.txt\" failed", "open \"[path]\" failed"},
        {"open \xe2\x80\x98/home/alice/My Documents/x\xe2\x80\x99 failed",
         "open \xe2\x80\x98[path]\xe2\x80\x99 failed"},
        {"open /home/alice/My\\ Documents/x failed", "open [path] failed"},
        {"open /home/alice/My Documents/secret.txt failed", "open [path] failed"},
        {"open C:\\Users\\a\\My Very Own Files\\x.txt: no", "open [path]: no"},
        {"open /home/alice/My File.txt failed", "open [path] failed"},
        {"open /home/alice/a.txt b.txt", "open [path] b.txt"},
        {"open /home/alice and see c.txt", "open [path] and see c.txt"},
        {"open /home/alice at http://x", "open [path] at http://[host]"},
        {"/home/alice/b. So what", "[path] So what"},
        {"open '/home/a b", "open '[path] b"},
        {"see file:///home/alice/b", "see file://[path]"},
        {NULL, NULL},
    };

    check_rows(rows);
}

static void sanitize_takes_processes_out(void)
{
    static const struct row rows[] = {
        {"process '12345' ended", "process '[pid]' ended"},
        {"process 12345 ended", "process [pid] ended"},
        {"Process 12345 ended", "Process [pid] ended"},
        {"PID 67890 gone", "PID [pid] gone"},
        {"PID: 67890", "PID [pid]"},
        {"pid=1", "pid [pid]"},
        {"process 1 of 3", "process 1 of 3"},
        {"rapid 12", "rapid 12"},
        {"subprocess 1234", "subprocess 1234"},
        {"process 12ab", "process 12ab"},
        {NULL, NULL},
    };

    check_rows(rows);
}

static void sanitize_takes_hosts_out(void)
{
    static const struct row rows[] = {
        {"connect to 192.168.1.10:8080 failed", "connect to [host] failed"},
        {"from 10.0.0.1.", "from [host]."},
        {"10.0.0.1-10.0.0.9", "[host]-[host]"},
        {"cannot connect to db.example.com:5432", "cannot connect to [host]"},
        {"could not resolve host example.org", "could not resolve host [host]"},
        {"server: mail.example.org said no", "server: [host] said no"},
        {"http://user:secret@example.org:80/a/b", "http://[host]/a/b"},
        {"at [::1]:443, at fe80::1%eth0, at 2001:db8::7.", "at [host], at [host], at [host]."},
        {"peer 2001:db8:0:0:0:0:0:1: refused", "peer [host]: refused"},
        {NULL, NULL},
    };

    check_rows(rows);
}

static void sanitize_leaves_the_rest(void)
{
    static const struct row rows[] = {
        {"object 'x' not found", "object 'x' not found"},
        {"version 1.2.3.4 is too old", "version 1.2.3.4 is too old"},
        {"v1.2.3.4", "v1.2.3.4"},
        {"needs >= 1.2.3.4", "needs >= 1.2.3.4"},
        {"foo-1.2.3.4", "foo-1.2.3.4"},
        {"1.2.3.4-beta and 1.2.3.4rc1", "1.2.3.4-beta and 1.2.3.4rc1"},
        {"1.2.3.4.5 and 1.2.3 and 300.1.1.1", "1.2.3.4.5 and 1.2.3 and 300.1.1.1"},
        {"base::system and std::vector and a::b", "base::system and std::vector and a::b"},
        {"at 12:34:56", "at 12:34:56"},
        {"src/home/x and ./tmp/x and a/b", "src/home/x and ./tmp/x and a/b"},
        {"/tmp and /home", "/tmp and /home"},
        {"x ~ y / z", "x ~ y / z"},
        {"a: b", "a: b"},
        {"connection refused", "connection refused"},
        {"gr\xc3\xbc\xc3\x9f dich", "gr\xc3\xbc\xc3\x9f dich"},
        {NULL, NULL},
    };

    check_rows(rows);
}

static void sanitize_cuts_traces(void)
{
    static const struct row rows[] = {
        {"it failed\nCall stack:\n 1: f()\n 2: g()", "it failed"},
        {"it failed\nTraceback:\n 1: f()", "it failed"},
        {"it failed Stack trace:  \n 1: f()", "it failed"},
        {"x.lua:1: boom\nstack traceback:\n\t[C]: in ?", "x.lua:1: boom"},
        {"Traceback (most recent call last):\n  File \"x\", line 1\nValueError: no\n",
         "ValueError: no"},
        {"Traceback:\n 1: f()", "Unknown error"},
        {"a traceback is a list", "a traceback is a list"},
        {"no newline after Call stack:", "no newline after Call stack:"},
        {"", "Unknown error"},
        {" \n", "Unknown error"},
        {NULL, NULL},
    };
    struct laz_buf out = LAZ_BUF_INIT;

    check_rows(rows);
    laz_sanitize(NULL, LAZ_SANITIZE_MAX, &out);
    UNIT_TEXT(laz_buf_text(&out), "Unknown error");
    laz_buf_fini(&out);
}

static void sanitize_cuts_to_length(void)
{
    static const struct {
        const char *text;
        size_t max;
        const char *expected;
    } rows[] = {
        {"0123456789", 10, "0123456789"},
        {"0123456789", 9, "012345..."},
        {"0123456789", 3, "012"},
        {"0123456789", 0, "0123456789"},
        {"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa9", 5, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa9"},
        {"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa9", 4, "\xc3\xa4..."},
        {"in /home/alice/a/very/long/path", 9, "in [path]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        laz_buf_puts(&out, "kept:");
        laz_sanitize(rows[i].text, rows[i].max, &out);
        CU_ASSERT(strncmp(laz_buf_text(&out), "kept:", 5) == 0);
        UNIT_TEXT(laz_buf_text(&out) + 5, rows[i].expected);
        laz_buf_fini(&out);
    }
}

/* Text that is cut off is not processed, which makes no difference to the result. */
static void sanitize_cuts_alike_however_long_the_text(void)
{
    struct laz_buf text = LAZ_BUF_INIT;
    char first[64] = "";

    for (int i = 0; i < 200; i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        laz_buf_puts(&text, "in \xe2\x80\x9c/usr/a/b\xe2\x80\x9d of 10.0.0.1\xc3\xa4, ");
        laz_sanitize(text.data, 40, &out);
        if (i == 2)
            snprintf(first, sizeof first, "%s", out.data);
        if (i > 2)
            UNIT_TEXT(out.data, first);
        laz_buf_fini(&out);
    }
    CU_ASSERT_STRING_EQUAL(first + strlen(first) - 3, "...");
    laz_buf_fini(&text);
}

static void sanitize_reads_no_more_than_may_matter(void)
{
    struct laz_buf text = LAZ_BUF_INIT, out = LAZ_BUF_INIT;

    laz_buf_puts(&text, "at http://");
    for (int i = 0; i < 40 * 64; i++)
        laz_buf_putc(&text, 'a');
    laz_buf_puts(&text, " and more");
    laz_sanitize(text.data, 40, &out);
    UNIT_TEXT(laz_buf_text(&out), "at http://[host]...");
    laz_buf_clear(&out);
    laz_sanitize(text.data, 41, &out);
    UNIT_TEXT(laz_buf_text(&out), "at http://[host] and more");
    laz_buf_fini(&text);
    laz_buf_fini(&out);
}

/* Texts for which a careless rule reads the same bytes repeatedly: twice the length may take twice
 * the time, not four times. The bound is generous. */
static void sanitize_takes_linear_time(void)
{
    static const char *const pieces[] = {
        "\xe2\x80\x98/tmp/a ", "'/home/a", "Traceback    ", "1.1.1.", "::1:", "http://a",  "~a",
        "connect to a.",       "pid 1",    "\\\\a",         "1",      "/",    "host host", "[::",
        "\"/usr/ \\ ",
    };
    enum { SIZE = 1 << 17 }; /* what takes the square of it, takes seconds */
    char *text = malloc(SIZE + 1);

    CU_ASSERT_FATAL(text != NULL);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        size_t len = strlen(pieces[i]);
        for (size_t k = 0; k < SIZE; k++)
            text[k] = pieces[i][k % len];
        text[SIZE] = '\0';
        clock_t start = clock(); /* CPU time, because others use the processor too */
        laz_sanitize(text, 0, &out);
        CU_ASSERT(clock() - start < CLOCKS_PER_SEC * 5 / 2);
        CU_ASSERT(out.len > 0 && !out.failed);
        laz_buf_fini(&out);
    }
    free(text);
}

static const struct unit_test tests[] = {
    UNIT(sanitize_takes_paths_out),
    UNIT(sanitize_takes_processes_out),
    UNIT(sanitize_takes_hosts_out),
    UNIT(sanitize_leaves_the_rest),
    UNIT(sanitize_cuts_traces),
    UNIT(sanitize_cuts_to_length),
    UNIT(sanitize_takes_linear_time),
    UNIT(sanitize_cuts_alike_however_long_the_text),
    UNIT(sanitize_reads_no_more_than_may_matter),
    {0},
};

int main(void)
{
    return unit_run("sanitize", tests);
}
