/* SPDX-License-Identifier: MIT */
/* test_options_table.c - the tables that describe the public structs of options, and what is done
 * by them: copies, limits, what a remote caller may set. */
#include "unit.h"

#include "base/buf.h"
#include "base/options.h"
#include "fault.h"
#include "job/job.h"
#include "settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_MOST 16

/* Those of the callers, and those of the structs that they lead to. */
static struct {
    const struct laz_members *items[TABLES_MOST];
    size_t n;
} tables;

static void tables_add(const struct laz_members *members)
{
    for (size_t i = 0; i < tables.n; i++)
        if (tables.items[i] == members)
            return;
    CU_ASSERT_FATAL(tables.n < TABLES_MOST);
    tables.items[tables.n++] = members;
    for (size_t i = 0; i < members->n; i++)
        if (members->rows[i].of)
            tables_add(members->rows[i].of);
}

static void tables_find(void)
{
    tables.n = 0;
    tables_add(&laz_execute_members);
    tables_add(&laz_session_members);
    tables_add(&laz_pool_members);
}

/* ---- rows and structs ------------------------------------------------------------------------ */

/* What no row has is the size, or so little that it fills up the place before the next one. */
static void each_byte_of_a_struct_belongs_to_one_row(void)
{
    tables_find();
    for (size_t t = 0; t < tables.n; t++) {
        const struct laz_members *members = tables.items[t];
        char *rows = calloc(1, members->size);
        size_t end = sizeof(size_t);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rows);
        memset(rows, 1, sizeof(size_t));
        for (size_t i = 0; i < members->n; i++) {
            const struct laz_member *row = &members->rows[i];
            CU_ASSERT_FATAL(row->at + row->size <= members->size);
            CU_ASSERT(row->at >= end && row->at - end < row->size);
            end = row->at + row->size;
            for (size_t at = row->at; at < end; at++)
                CU_ASSERT_EQUAL(rows[at]++, 0);
        }
        CU_ASSERT(members->size - end < sizeof(void *));
        free(rows);
    }
}

/* The text of the headers that have the structs, without comments. */
static char *headers_text(void)
{
    static const char *const paths[] = {"core/include/lazaret/lazaret.h",
                                        "core/include/lazaret/tool.h"};
    struct laz_buf text = LAZ_BUF_INIT;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *path = unit_source(paths[i]), block[4096];
        FILE *file = path ? fopen(path, "r") : NULL;
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
            laz_buf_append(&text, block, n);
        fclose(file);
        free(path);
    }
    char *whole = laz_buf_steal(&text), *end;
    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    for (char *at = whole; (at = strstr(at, "/*")) && (end = strstr(at, "*/"));)
        memset(at, ' ', (size_t)(end + 2 - at));
    return whole;
}

/* The name that a declaration declares: of a function's pointer, or the last word. */
static void declared_name(const char *declaration, size_t len, char *name, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *pointer = memchr(declaration, '(', len);

    static const char later[] = " LAZ_LATER"; /* it needs no initializer in C++ */
    const size_t later_len = sizeof later - 1;

    if (len > later_len && memcmp(declaration + len - later_len, later, later_len) == 0)
        len -= later_len;
    while (!pointer && len && !strchr(letters, declaration[len - 1]))
        len--;
    const char *begin = pointer ? pointer + 2 : declaration + len;
    while (!pointer && begin > declaration && strchr(letters, begin[-1]))
        begin--;
    snprintf(name, size, "%.*s", (int)strspn(begin, letters), begin);
}

/* A function, or what only the caller knows, has no meaning for one who is elsewhere. */
static bool declares_a_value(const char *declaration, size_t len)
{
    const char *word = declaration + strspn(declaration, " \n");

    return !memchr(declaration, '(', len) && strncmp(word, "void *", 6) != 0;
}

static void check_header(const char *text, const struct laz_members *members)
{
    char begin[80], name[80];

    snprintf(begin, sizeof begin, "struct %s {", members->type);
    const char *at = strstr(text, begin), *end = at ? strstr(at, "\n};") : NULL, *semicolon;
    size_t n = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    for (at += strlen(begin); (semicolon = strchr(at, ';')) < end; at = semicolon + 1) {
        const size_t len = (size_t)(semicolon - at);
        declared_name(at, len, name, sizeof name);
        if (!n++) {
            UNIT_TEXT(name, "size");
            continue;
        }
        const struct laz_member *row = n - 2 < members->n ? &members->rows[n - 2] : NULL;
        UNIT_TEXT(row ? row->name : NULL, name);
        if (row && row->remote != LAZ_REMOTE_REFUSED)
            CU_ASSERT(declares_a_value(at, len));
    }
    CU_ASSERT_EQUAL(n, members->n + 1);
}

static void each_member_of_a_header_has_a_row(void)
{
    char *text = headers_text();

    tables_find();
    CU_ASSERT_EQUAL(tables.n, 9);
    for (size_t i = 0; i < tables.n; i++)
        check_header(text, tables.items[i]);
    free(text);
}

/* Several things have their number beside them, which is a row of its own. */
static void a_number_of_several_is_a_row(void)
{
    tables_find();
    for (size_t t = 0; t < tables.n; t++) {
        const struct laz_members *members = tables.items[t];
        for (size_t i = 0; i < members->n; i++) {
            const struct laz_member *row = &members->rows[i];
            const bool is_several = row->kind == LAZ_MEMBER_TEXTS ||
                                    row->kind == LAZ_MEMBER_BYTES ||
                                    row->kind == LAZ_MEMBER_STRUCTS;
            bool found = false;
            for (size_t k = 0; k < members->n; k++)
                found |= members->rows[k].at == row->n_at &&
                         members->rows[k].size == sizeof(size_t) &&
                         members->rows[k].kind == LAZ_MEMBER_VALUE &&
                         members->rows[k].remote == row->remote;
            CU_ASSERT_EQUAL(found, is_several);
            CU_ASSERT_EQUAL(row->n_at != 0, is_several);
            CU_ASSERT(!is_several || row->what);
        }
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Each limit of the settings has its own value, from 1000 on. */
static struct laz_settings_values some_settings(void)
{
    struct laz_settings_values values = {0};

    for (size_t i = 0, n = 0; i < laz_execute_members.n; i++) {
        const struct laz_member *row = &laz_execute_members.rows[i];
        if (row->kind == LAZ_MEMBER_LIMIT)
            *(uint64_t *)(void *)((char *)&values + row->setting_at) = 1000 + n++;
    }
    return values;
}

static void a_limit_is_that_of_the_setting_of_its_name(void)
{
    const struct laz_settings_values values = {.session = {.timeout_ms = 1,
                                                           .deadline_ms = 2,
                                                           .max_tool_calls = 3,
                                                           .max_output_lines = 4,
                                                           .max_code_length = 5}};
    struct laz_execute_options options = LAZ_EXECUTE_OPTIONS_INIT;

    laz_options_complete(&laz_execute_members, &options, &values);
    CU_ASSERT_EQUAL(options.timeout_ms, 1);
    CU_ASSERT_EQUAL(options.deadline_ms, 2);
    CU_ASSERT_EQUAL(options.max_tool_calls, 3);
    CU_ASSERT_EQUAL(options.max_output_lines, 4);
    CU_ASSERT_EQUAL(options.max_code_length, 5);
}

static uint64_t *limit_of(struct laz_execute_options *options, const struct laz_member *row)
{
    return (uint64_t *)(void *)((char *)options + row->at);
}

/* One that is given holds, also above the setting; nothing else is changed. */
static void limits_are_completed(void)
{
    static const struct {
        uint64_t given, setting, holds; /* setting 7: that of the settings */
    } rows[] = {
        {0, 7, 7}, {0, 0, 0}, {LAZ_NO_LIMIT, 7, 0}, {LAZ_NO_LIMIT, 0, 0}, {1, 7, 1},
        {9, 7, 9}, {9, 0, 9},
    };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < laz_execute_members.n; i++) {
            const struct laz_member *row = &laz_execute_members.rows[i];
            struct laz_settings_values values = {0};
            struct laz_execute_options options, before;
            memset(&options, 0x5a, sizeof options);
            if (row->kind != LAZ_MEMBER_LIMIT)
                continue;
            *(uint64_t *)(void *)((char *)&values + row->setting_at) = rows[r].setting;
            *limit_of(&options, row) = rows[r].given;
            before = options;
            laz_options_complete(&laz_execute_members, &options, &values);
            CU_ASSERT_EQUAL(*limit_of(&options, row), rows[r].holds);
            *limit_of(&options, row) = rows[r].given;
            CU_ASSERT_EQUAL(memcmp(&options, &before, sizeof options), 0);
        }
}

/* Above the setting nothing is granted, nor what is not a limit at all. */
static void limits_of_a_remote_caller_are_narrowed(void)
{
    static const struct {
        uint64_t given, setting, left;
    } rows[] = {
        {0, 7, 0},
        {6, 7, 6},
        {7, 7, 7},
        {8, 7, 0},
        {LAZ_NO_LIMIT, 7, 0},
        {0, 0, 0},
        {8, 0, 8},
        {LAZ_NO_LIMIT, 0, LAZ_NO_LIMIT},
    };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < laz_execute_members.n; i++) {
            const struct laz_member *row = &laz_execute_members.rows[i];
            struct laz_settings_values values = some_settings();
            struct laz_execute_options options = LAZ_EXECUTE_OPTIONS_INIT;
            if (row->kind != LAZ_MEMBER_LIMIT)
                continue;
            *(uint64_t *)(void *)((char *)&values + row->setting_at) = rows[r].setting;
            *limit_of(&options, row) = rows[r].given;
            laz_options_narrow(&laz_execute_members, &options, &values);
            CU_ASSERT_EQUAL(*limit_of(&options, row), rows[r].left);
        }
}

/* What a remote caller may set, by name: a new member is one that it may not, or is added here. */
static const char *const remote[][2] = {
    {"laz_execute_options", " timeout_ms deadline_ms max_tool_calls max_output_lines no_print "
                            "no_validate argv n_argv progress_ms trace files "
                            "n_files invisible max_code_length native input "},
    {"laz_trace", " parent state "},
    {"laz_file", " name data data_len "},
    {"laz_session_options", " runtime warm tools n_tools network credentials "},
    {"laz_network_list", " allow n "},
    {"laz_credential_list", " items n "},
    {"laz_session_tool", " tool "},
    {"laz_tool", " name description parameters timeout_ms max_concurrent approve returns native "},
    {"laz_pool_options", " runtime members tools n_tools network credentials "},
};

static const char *remote_names(const char *type)
{
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if (strcmp(remote[i][0], type) == 0)
            return remote[i][1];
    return "";
}

static bool is_zero(const char *data, size_t size, char filled)
{
    for (size_t i = 0; i < size; i++) {
        CU_ASSERT(data[i] == 0 || data[i] == filled);
        if (data[i] != data[0])
            return false;
    }
    return !data[0];
}

static void a_remote_caller_sets_what_it_may(void)
{
    const struct laz_settings_values values = {0};

    tables_find();
    for (size_t t = 0; t < tables.n; t++) {
        const struct laz_members *members = tables.items[t];
        char *options = malloc(members->size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(options);
        memset(options, 0x5a, members->size);
        laz_options_narrow(members, options, &values);
        for (size_t i = 0; i < members->n; i++) {
            const struct laz_member *row = &members->rows[i];
            char word[80];
            snprintf(word, sizeof word, " %s ", row->name);
            const bool may = strstr(remote_names(members->type), word);
            CU_ASSERT(row->remote >= LAZ_REMOTE_REFUSED && row->remote <= LAZ_REMOTE_FREE);
            CU_ASSERT_EQUAL(row->remote != LAZ_REMOTE_REFUSED, may);
            CU_ASSERT_EQUAL(is_zero(options + row->at, row->size, 0x5a), !may);
        }
        free(options);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

static const char parent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/* One of everything that points to something. */
static struct {
    struct laz_execute_options options;
    struct laz_trace trace;
    struct laz_file file, empty;
    const struct laz_file *files[2];
    char name[8], bytes[3], cwd[8], directory[8], argument[8];
    const char *argv[2];
} from;

static void from_fill(void)
{
    from.trace = (struct laz_trace){.size = sizeof from.trace, .parent = parent};
    from.file = (struct laz_file){
        .size = sizeof from.file, .name = from.name, .data = from.bytes, .data_len = 3};
    from.empty = (struct laz_file){.size = sizeof from.empty, .name = from.argument};
    from.files[0] = &from.file;
    from.files[1] = &from.empty;
    from.argv[0] = from.name;
    from.argv[1] = from.argument;
    memcpy(from.bytes, "a\0b", 3);
    snprintf(from.name, sizeof from.name, "name");
    snprintf(from.cwd, sizeof from.cwd, "/cwd");
    snprintf(from.directory, sizeof from.directory, "/dir");
    snprintf(from.argument, sizeof from.argument, "one");
    from.options = (struct laz_execute_options){.size = sizeof from.options,
                                                .timeout_ms = 5,
                                                .argv = from.argv,
                                                .n_argv = 2,
                                                .cwd = from.cwd,
                                                .directory = from.directory,
                                                .trace = &from.trace,
                                                .files = from.files,
                                                .n_files = 2};
}

static void expect_copy(const struct laz_execute_options *options)
{
    CU_ASSERT_EQUAL(options->size, sizeof *options);
    CU_ASSERT_EQUAL(options->timeout_ms, 5);
    CU_ASSERT_EQUAL(options->n_argv, 2);
    UNIT_TEXT(options->argv[0], "name");
    UNIT_TEXT(options->argv[1], "one");
    UNIT_TEXT(options->cwd, "/cwd");
    UNIT_TEXT(options->directory, "/dir");
    UNIT_TEXT(options->trace->parent, parent);
    CU_ASSERT_PTR_NULL(options->trace->state);
    CU_ASSERT_EQUAL_FATAL(options->n_files, 2);
    UNIT_TEXT(options->files[0]->name, "name");
    CU_ASSERT_EQUAL(options->files[0]->data_len, 3);
    CU_ASSERT_EQUAL(memcmp(options->files[0]->data, "a\0b", 3), 0);
    UNIT_TEXT(options->files[1]->name, "one");
    CU_ASSERT_EQUAL(options->files[1]->data_len, 0);
}

static void a_copy_has_what_it_points_to(void)
{
    struct laz_execute_options options;
    struct laz_kept *kept = NULL;

    from_fill();
    CU_ASSERT_EQUAL_FATAL(
        laz_options_copy(&laz_execute_members, &options, &from.options, false, &kept, NULL), 0);
    memset(&from, 0xa5, sizeof from);
    expect_copy(&options);
    laz_options_forget(&kept);
    CU_ASSERT_PTR_NULL(kept);
}

/* The lists and structs are copies all the same, since they are completed. */
static void a_copy_that_borrows_leaves_texts_and_bytes(void)
{
    struct laz_execute_options options;
    struct laz_kept *kept = NULL;

    from_fill();
    CU_ASSERT_EQUAL_FATAL(
        laz_options_copy(&laz_execute_members, &options, &from.options, true, &kept, NULL), 0);
    expect_copy(&options);
    CU_ASSERT_PTR_EQUAL(options.cwd, from.cwd);
    CU_ASSERT_PTR_EQUAL(options.files[0]->data, from.bytes);
    CU_ASSERT_PTR_NOT_EQUAL(options.argv, from.argv);
    CU_ASSERT_PTR_NOT_EQUAL(options.files[0], &from.file);
    laz_options_forget(&kept);
}

static void a_copy_of_nothing_is_empty(void)
{
    struct laz_execute_options options;
    struct laz_kept *kept = NULL;

    CU_ASSERT_EQUAL(laz_options_copy(&laz_execute_members, &options, NULL, false, &kept, NULL), 0);
    CU_ASSERT_PTR_NULL(kept);
    const struct laz_execute_options empty = LAZ_EXECUTE_OPTIONS_INIT;
    CU_ASSERT_EQUAL(memcmp(&options, &empty, sizeof options), 0);
    from_fill();
    from.options.n_argv = from.options.n_files = 0; /* so many of them are there */
    CU_ASSERT_EQUAL(
        laz_options_copy(&laz_execute_members, &options, &from.options, false, &kept, NULL), 0);
    CU_ASSERT(!options.argv && !options.files);
    laz_options_forget(&kept);
}

/* More than there can be is not read. */
static void numbers_that_cannot_be_are_no_memory(void)
{
    static const size_t most[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / sizeof(void *),
                                  SIZE_MAX / 2 / sizeof(void *)};
    struct laz_execute_options options;
    struct laz_kept *kept = NULL;

    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        from_fill();
        from.options.n_argv = most[i];
        CU_ASSERT_EQUAL(
            laz_options_copy(&laz_execute_members, &options, &from.options, true, &kept, NULL),
            LAZ_ENOMEM);
        laz_options_forget(&kept);
    }
    from_fill();
    from.file.data_len = SIZE_MAX;
    CU_ASSERT_EQUAL(
        laz_options_copy(&laz_execute_members, &options, &from.options, false, &kept, NULL),
        LAZ_ENOMEM);
    laz_options_forget(&kept);
}

/* A name that cannot be checked is refused as one that is wrong. */
static void a_copy_for_which_memory_is_short_leaves_nothing(void)
{
    for (int borrows = 0; borrows <= 1; borrows++) {
        int rc = LAZ_ENOMEM;
        for (unsigned long n = 1; rc && n < 100; n++) {
            struct laz_execute_options options;
            struct laz_kept *kept = NULL;
            from_fill();
            fault_begin(n, false);
            rc = laz_options_copy(&laz_execute_members, &options, &from.options, borrows, &kept,
                                  NULL);
            const bool is_short = fault_end() >= n;
            CU_ASSERT_EQUAL(rc != 0, is_short);
            CU_ASSERT(!rc || rc == LAZ_ENOMEM || rc == LAZ_EINVAL);
            laz_options_forget(&kept);
        }
        CU_ASSERT_EQUAL(rc, 0);
    }
}

static const struct unit_test tests[] = {
    UNIT(each_byte_of_a_struct_belongs_to_one_row),
    UNIT(each_member_of_a_header_has_a_row),
    UNIT(a_number_of_several_is_a_row),
    UNIT(a_limit_is_that_of_the_setting_of_its_name),
    UNIT(limits_are_completed),
    UNIT(limits_of_a_remote_caller_are_narrowed),
    UNIT(a_remote_caller_sets_what_it_may),
    UNIT(a_copy_has_what_it_points_to),
    UNIT(a_copy_that_borrows_leaves_texts_and_bytes),
    UNIT(a_copy_of_nothing_is_empty),
    UNIT(numbers_that_cannot_be_are_no_memory),
    UNIT(a_copy_for_which_memory_is_short_leaves_nothing),
    {0},
};

int main(void)
{
    return unit_run("options_table", tests);
}
