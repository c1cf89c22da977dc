/* SPDX-License-Identifier: MIT */
/* test_agent.c - lazaret-agent as a process, with a host made of plain system calls.
 *
 * The runtime is tests/mock/script.c, which follows a script, so that the tests show the agent's
 * behaviour. */
#include "peer.h"

#include "base/json.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LAZ_SANITIZE
#define UNDER_SANITIZERS true
#else
#define UNDER_SANITIZERS false
#endif

#define TOOL_ECHO                                                                                  \
    "{\"name\":\"echo\",\"description\":\"d\",\"parameters\":[{\"name\":\"x\",\"type\":"           \
    "\"string\",\"required\":true}]}"

static bool member_is(const char *line, const char *name, const char *expected)
{
    const char *raw;
    size_t len;

    if (!line || !laz_json_member(line, strlen(line), name, &raw, &len)) {
        printf("\n    no member %s in: %.200s\n", name, line ? line : "(no line)");
        return false;
    }
    if (strlen(expected) == len && memcmp(raw, expected, len) == 0)
        return true;
    printf("\n    member %s is %.*s\n", name, (int)(len < 300 ? len : 300), raw);
    return false;
}

static size_t member_length(const char *line, const char *name)
{
    const char *raw;
    size_t len;

    return line && laz_json_member(line, strlen(line), name, &raw, &len) ? len : 0;
}

static void execute(struct peer *peer, int id, const char *code)
{
    CU_ASSERT(peer_send(peer, "{\"type\":\"execute\",\"id\":%d,\"code\":\"%s\",\"print\":true}", id,
                        code));
}

/* ---- the start ------------------------------------------------------------------------------ */

static bool directory_is_empty_but(const char *path, const char *names)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool ok = directory != NULL;

    while (directory && (entry = readdir(directory)))
        if (entry->d_name[0] != '.' && !strstr(names, entry->d_name)) {
            printf("\n    %s has %s\n", path, entry->d_name);
            ok = false;
        }
    if (directory)
        closedir(directory);
    return ok;
}

static void agent_wipes_token_before_init(void)
{
    struct peer peer;
    char path[64];

    if (!peer_open(&peer))
        return;
    UNIT_TEXT(peer_line(&peer), PEER_TOKEN);
    char *environment = peer_proc(&peer, "environ");
    CU_ASSERT(strstr(environment, "BEFORE=stays") != NULL); /* the environment block of execve */
    CU_ASSERT(strstr(environment, PEER_TOKEN) == NULL);
    CU_ASSERT(strstr(environment, "LAZARET_") == NULL);
    CU_ASSERT(strstr(environment, "ipc.sock") == NULL);
    free(environment);
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)peer.pid);
    CU_ASSERT(directory_is_empty_but(path, "0 1 2 3")); /* PEER_CANARY is closed */
    peer_close(&peer);
}

static void agent_keeps_no_token_in_memory(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", "")) {
        CU_ASSERT(peer_memory_has(peer.pid, "BEFORE=stays")); /* control: it is found */
#ifndef LAZ_SANITIZE /* it keeps a copy of the initial environment */
        CU_ASSERT(!peer_memory_has(peer.pid, PEER_TOKEN));
#endif
    }
    peer_close(&peer);
}

static void agent_confines_itself_before_ready(void)
{
    static const struct {
        const char *name;
        long most;
        bool asked; /* the others are always set, to less where the host has less */
    } rows[] = {
        {"Max open files", 64, true},           {"Max file size", 4096, true},
        {"Max core file size", 1, false}, /* neither a file nor the host's handler; core(5) */
        {"Max locked memory", 64 << 10, false}, {"Max pending signals", 256, false},
        {"Max msgqueue size", 0, false}};
    struct peer peer;

    if (peer_start(&peer, "", "\"limits\":{\"nofile\":64,\"fsize\":4096}", TOOL_ECHO)) {
        char *limits = peer_proc(&peer, "limits"), *status = peer_proc(&peer, "status");
        CU_ASSERT(strstr(status, "NoNewPrivs:\t1") != NULL);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const char *line = strstr(limits, rows[i].name);
            long soft = -1, hard = -1;
            CU_ASSERT(line && sscanf(line + strlen(rows[i].name), "%ld %ld", &soft, &hard) == 2);
            CU_ASSERT(soft >= 0 && soft <= rows[i].most && hard >= 0 && hard <= rows[i].most);
            CU_ASSERT(!rows[i].asked || (soft == rows[i].most && hard == rows[i].most));
        }
        free(limits);
        free(status);
    }
    peer_close(&peer);
}

/* An older agent must not ignore confinement on which a newer host relies. */
static void agent_refuses_confinement_it_does_not_know(void)
{
    struct peer peer;

    if (peer_open(&peer)) {
        peer_line(&peer);
        peer_send(&peer,
                  "{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"%s\"},"
                  "\"confine\":{\"limits\":{},\"shrink\":{\"required\":false}},\"tools\":[]}",
                  peer_plugin("tests/mock/.libs/mock_script.so"));
        const char *line = peer_line(&peer);
        CU_ASSERT(line && strstr(line, "\"setup\"") && strstr(line, "shrink"));
    }
    peer_close(&peer);
}

static void agent_gives_runtime_its_options_and_tools(void)
{
    struct peer peer;

    if (peer_start(&peer, "\"options\":{\"a\":[1]}", "",
                   TOOL_ECHO ",{\"name\":\"two\",\"parameters\":[{\"name\":\"p\",\"type\":\"number"
                             "\",\"type_name\":\"numeric\",\"default\":{\"k\": 1}},{\"name\":\"q\","
                             "\"required\":false,\"enum\":[1,2]}]},{\"name\":\"none\"}")) {
        execute(&peer, 1, "option");
        CU_ASSERT(member_is(peer_line(&peer), "value", "{\"a\":[1]}"));
        execute(&peer, 2, "tools");
        CU_ASSERT(member_is(peer_line(&peer), "value",
                            "\"echo(x:string/string!)two(p:number/numeric={\\\"k\\\": 1},q:/ in "
                            "[1,2])none()\""));
    }
    peer_close(&peer);
}

static void agent_opens_libraries_with_global_symbols(void)
{
    static const struct {
        const char *libraries, *found;
    } rows[] = {{"", "false"}, {"\"libraries\":[\"libcrypt.so.1\"]", "true"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct peer peer;
        if (peer_start(&peer, rows[i].libraries, "", "")) {
            execute(&peer, 1, "symbol crypt_gensalt_rn");
            CU_ASSERT(member_is(peer_line(&peer), "value", rows[i].found));
        }
        peer_close(&peer);
    }
}

static void agent_start_failure_is_told_twice(void)
{
    static const struct {
        const char *init, *says;
    } rows[] = {
        {"{\"type\":\"hello\",\"protocol\":1}", "init"},
        {"{\"type\":\"init\",\"protocol\":2,\"options\":{}}", "protocol"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{}}", "runtime_file"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"/nowhere/x.so\"}}",
         "/nowhere/x.so"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"SCRIPT\",\"options\":"
         "{\"fail\":1}}}",
         "told to fail"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"SCRIPT\"},\"confine\":"
         "{\"limits\":{\"nofile\":\"many\"}}}",
         "nofile"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"SCRIPT\"},\"confine\":"
         "{\"landlock\":{\"abi\":9999,\"rules\":[]},\"required\":[\"landlock\"]}}",
         "Landlock: version 9999 was asked for"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"SCRIPT\"},\"confine\":"
         "{\"landlock\":{\"rules\":[{\"path\":\"/"
         "usr\",\"rights\":\"rz\"}]},\"required\":[\"landlock\"]}}",
         "'rz' are not rights of Landlock"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"SCRIPT\"},\"confine\":"
         "{\"landlock\":{\"rules\":[{\"path\":\"/"
         "nowhere\",\"rights\":\"r\"}]},\"required\":[\"landlock\"]}}",
         "/nowhere cannot be allowed"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"runtime_file\":\"SCRIPT\"},\"tools\":"
         "[{\"name\":7}]}",
         "name"},
        {"{\"type\":\"init\"", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct peer peer;
        const char *script = peer_plugin("tests/mock/.libs/mock_script.so");
        const char *at = strstr(rows[i].init, "SCRIPT");
        if (!peer_open(&peer))
            continue;
        peer_line(&peer);
        if (at)
            peer_send(&peer, "%.*s%s%s", (int)(at - rows[i].init), rows[i].init, script, at + 6);
        else
            peer_send(&peer, "%s", rows[i].init);
        const char *line = peer_line(&peer);
        bool has_failed = member_is(line, "type", "\"error\"");
        CU_ASSERT(has_failed);
        if (!has_failed) { /* it has started, and waits for a request */
            peer_close(&peer);
            continue;
        }
        CU_ASSERT(member_is(line, "id", "0"));
        CU_ASSERT(member_is(line, "kind", "\"setup\""));
        CU_ASSERT(line && strstr(line, rows[i].says) != NULL);
        CU_ASSERT(peer_line(&peer) == NULL);
        CU_ASSERT(peer_wait(&peer) == 125);
        char *output = peer_output(&peer, true);
        CU_ASSERT(strncmp(output, "lazaret-agent: ", 15) == 0);
        CU_ASSERT(strstr(output, rows[i].says) != NULL);
        const char *end = strchr(output, '\n'); /* one line, whatever the runtime writes */
        CU_ASSERT(end && (strcmp(end, "\n") == 0 || strcmp(end, "\ndestroyed") == 0));
        free(output);
        peer_close(&peer);
    }
}

static void agent_needs_its_environment(void)
{
    const char *argv[] = {peer_agent(), NULL};
    int out;
    pid_t pid = peer_run(argv, &out);
    char *output = peer_read_all(out);

    CU_ASSERT(peer_wait_pid(pid) == 125);
    CU_ASSERT(strstr(output, "LAZARET_SOCKET") != NULL);
    free(output);
    close(out);
}

/* ---- requests ------------------------------------------------------------------------------- */

static void agent_answers_with_the_id_of_the_request(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", "")) {
        execute(&peer, 41, "value 3");
        UNIT_TEXT(peer_line(&peer), "{\"type\":\"result\",\"id\":41,\"value\":\"vvv\","
                                    "\"visible\":true}");
        peer_send(&peer, "{\"type\":\"execute\",\"code\":\"text 2\"}");
        UNIT_TEXT(peer_line(&peer),
                  "{\"type\":\"result\",\"value\":null,\"text\":\"tt\",\"visible\":false}");
    }
    peer_close(&peer);
}

/* Bytes of private memory of a process, where /proc has them. */
static long data_of(pid_t pid)
{
    char path[64];
    long pages = 0;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*s %*s %*s %*s %*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Waits for a word that the runtime writes; nothing else is written. */
static void await_word(const struct peer *peer, const char *word)
{
    struct pollfd wait = {peer->out, POLLIN, 0};
    char text[16] = "";
    size_t len = 0;

    while (len < strlen(word) && poll(&wait, 1, PEER_WAIT_MS) == 1) {
        ssize_t n = read(peer->out, text + len, strlen(word) - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    UNIT_TEXT(text, word);
}

/* It stays for the next one until no request has come for a while; then the runtime is told, and
 * the next request is answered after it has gone back. */
static void agent_keeps_no_memory_of_a_large_result(void)
{
    struct peer peer;

    if (peer_start(&peer, "\"max_message\":20000000,\"options\":{\"rest\":true}", "", "")) {
        execute(&peer, 1, "value 3");
        CU_ASSERT(member_is(peer_line(&peer), "id", "1"));
        const long before = data_of(peer.pid);
        execute(&peer, 2, "text 3000000");
        CU_ASSERT(member_is(peer_line(&peer), "id", "2"));
        await_word(&peer, "rest");
        execute(&peer, 3, "value 3");
        CU_ASSERT(member_is(peer_line(&peer), "id", "3"));
        if (UNDER_SANITIZERS)
            printf("\n    SKIP memory: sanitizers need memory of their own\n");
        else
            CU_ASSERT(data_of(peer.pid) - before < 1000000);
    }
    peer_close(&peer);
}

static void agent_check_runs_nothing(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", "")) {
        peer_send(&peer, "{\"type\":\"check\",\"id\":1,\"code\":\"leave 3\"}");
        UNIT_TEXT(peer_line(&peer),
                  "{\"type\":\"result\",\"id\":1,\"value\":true,\"visible\":false}");
        peer_send(&peer, "{\"type\":\"check\",\"id\":2,\"code\":\"bad\"}");
        UNIT_TEXT(peer_line(&peer), "{\"type\":\"error\",\"id\":2,\"kind\":\"syntax\",\"message\":"
                                    "\"does not parse\",\"line\":2,\"column\":3}");
    }
    peer_close(&peer);
}

static void agent_names_every_kind_of_error(void)
{
    static const char *const kinds[] = {NULL, "\"runtime\"", "\"syntax\"", "\"memory\"",
                                        NULL, NULL,          "\"fsize\"",  "\"runtime\""};
    struct peer peer;

    if (peer_start(&peer, "", "", "")) {
        for (int i = 1; i < (int)(sizeof kinds / sizeof *kinds); i++) {
            char code[32];
            if (!kinds[i])
                continue;
            snprintf(code, sizeof code, "kind %d 3", i);
            execute(&peer, i, code);
            CU_ASSERT(member_is(peer_line(&peer), "kind", kinds[i]));
        }
        execute(&peer, 1, "kind 1 3");
        UNIT_TEXT(peer_line(&peer), "{\"type\":\"error\",\"id\":1,\"kind\":\"runtime\",\"message\":"
                                    "\"mmm\",\"line\":7,\"traceback\":[\"outer\",\"inner\"]}");
    }
    peer_close(&peer);
}

/* First the value goes, then the end of its text. */
static void agent_omits_a_value_that_is_too_large(void)
{
    static const struct {
        const char *code, *says;
    } rows[] = {
        {"value 1000", "\"omitted\":\"the value exceeds session.max_message_size (1000 bytes)\""},
        {"value 2000", "max_message_size (1000 bytes)"},
        {"text 1000", "\"left_out\":[\"the end of the text"},
        {"text 900000", "\"left_out\":[\"the end of the text"},
        {"kind 5 3", "\"omitted\":\"mmm\""},
    };
    struct peer peer;

    if (peer_start(&peer, "\"max_message\":1000", "", "")) {
        for (int i = 0; i < 5; i++) {
            execute(&peer, i, rows[i].code);
            const char *line = peer_line(&peer);
            CU_ASSERT(line && strlen(line) <= 1000);
            CU_ASSERT(member_is(line, "type", "\"result\""));
            CU_ASSERT(member_is(line, "value", "null"));
            CU_ASSERT(line && strstr(line, rows[i].says));
        }
        /* exactly the largest line allowed */
        execute(&peer, 5, "value 943");
        const char *line = peer_line(&peer);
        CU_ASSERT(line && strlen(line) <= 1000 && strlen(line) > 990);
        CU_ASSERT(member_is(line, "type", "\"result\""));
    }
    peer_close(&peer);
}

static void agent_cuts_a_long_message(void)
{
    struct peer peer;

    if (peer_start(&peer, "\"max_message\":1000", "", "")) {
        execute(&peer, 1, "kind 1 100000");
        const char *line = peer_line(&peer);
        CU_ASSERT(line && strlen(line) <= 1000);
        CU_ASSERT(member_length(line, "message") > 100);
        CU_ASSERT(line && laz_json_scan(line, strlen(line), NULL) == 0);
    }
    peer_close(&peer);
}

/* ---- tools ---------------------------------------------------------------------------------- */

/* Answers the next tool call with a text of `n` characters; returns the length of its argument's
 * JSON. */
static size_t answer_call(struct peer *peer, size_t n)
{
    char id[32] = "";
    const char *raw, *line = peer_line(peer);
    size_t len, args_len = member_length(line, "args");
    struct laz_buf reply = LAZ_BUF_INIT;

    CU_ASSERT(member_is(line, "type", "\"tool_call\""));
    if (!line || !laz_json_member(line, strlen(line), "id", &raw, &len) || len >= sizeof id)
        return 0;
    memcpy(id, raw, len);
    laz_buf_printf(&reply, "{\"id\":%s,\"value\":\"", id);
    if (laz_buf_reserve(&reply, n + 4)) {
        memset(reply.data + reply.len, 'r', n);
        reply.len += n;
    }
    laz_buf_puts(&reply, "\"}\n");
    CU_ASSERT(peer_send_bytes(peer, reply.data, reply.len));
    laz_buf_fini(&reply);
    return args_len;
}

static const size_t sizes[] = {1, 65535, 65536, 65537, 1048576, 16777216};

static void agent_takes_values_of_any_size(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char expected[32];
            snprintf(expected, sizeof expected, "%zu", sizes[i] + 2); /* with its quotes */
            execute(&peer, (int)i, "length echo {}");
            answer_call(&peer, sizes[i]);
            CU_ASSERT(member_is(peer_line(&peer), "value", expected));
        }
    }
    peer_close(&peer);
}

static void agent_sends_arguments_of_any_size(void)
{
    struct peer peer;

    if (peer_start(&peer, "\"max_message\":33554432", "", TOOL_ECHO)) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char code[64];
            snprintf(code, sizeof code, "send echo %zu", sizes[i]);
            execute(&peer, (int)i, code);
            CU_ASSERT(answer_call(&peer, 1) == sizes[i] + strlen("{\"x\":\"\"}"));
            CU_ASSERT(member_is(peer_line(&peer), "value", "3"));
        }
    }
    peer_close(&peer);
}

static void agent_refuses_large_arguments_without_sending(void)
{
    struct peer peer;

    if (peer_start(&peer, "\"max_message\":1000", "", TOOL_ECHO)) {
        execute(&peer, 1, "send echo 1000");
        const char *line = peer_line(&peer);
        CU_ASSERT(member_is(line, "kind", "\"runtime\"")); /* not a tool_call */
        CU_ASSERT(line && strstr(line, "exceed max_message_size (1000 bytes)") != NULL);
        execute(&peer, 2, "send echo 10");
        CU_ASSERT(answer_call(&peer, 1) > 0);
        CU_ASSERT(member_is(peer_line(&peer), "value", "3"));
    }
    peer_close(&peer);
}

static void agent_ignores_answers_to_other_calls(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        peer_send(&peer, "{\"id\":1,\"value\":\"before the call\"}");
        execute(&peer, 1, "call echo {}");
        CU_ASSERT(member_is(peer_line(&peer), "id", "1"));
        peer_send(&peer, "{\"id\":999,\"value\":\"wrong\"}");
        peer_send(&peer, "{\"id\":0,\"error\":\"wrong\"}");
        peer_send(&peer, "{\"id\":1,\"value\":\"right\"}");
        CU_ASSERT(member_is(peer_line(&peer), "value", "\"right\""));
        execute(&peer, 2, "call echo {}");
        CU_ASSERT(member_is(peer_line(&peer), "id", "2"));
        peer_send(&peer, "{\"value\":\"without an id\"}");
        CU_ASSERT(member_is(peer_line(&peer), "value", "\"without an id\""));
    }
    peer_close(&peer);
}

static void agent_hands_the_error_of_a_tool_on(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, 1, "call echo {}");
        peer_line(&peer);
        peer_send(&peer, "{\"id\":1,\"error\":\"Unknown tool: \\u00e4\\n\"}");
        CU_ASSERT(member_is(peer_line(&peer), "message", "\"Unknown tool: \xc3\xa4\\n\""));
    }
    peer_close(&peer);
}

static void agent_survives_a_value_it_cannot_hold(void)
{
    struct peer peer;

    if (UNDER_SANITIZERS) {
        printf("\n    SKIP memory: sanitizers need memory of their own\n");
        return;
    }
    if (peer_start(&peer, "", "\"limits\":{\"memory\":33554432}", TOOL_ECHO)) {
        execute(&peer, 1, "length echo {}");
        answer_call(&peer, 60000000);
        const char *line = peer_line(&peer);
        CU_ASSERT(member_is(line, "kind", "\"runtime\""));
        CU_ASSERT(line && strstr(line, "not enough memory") != NULL);
        execute(&peer, 2, "length echo {}");
        answer_call(&peer, 1000);
        CU_ASSERT(member_is(peer_line(&peer), "value", "1002"));
    }
    peer_close(&peer);
}

static void agent_ends_at_a_line_over_max_value(void)
{
    struct peer peer;

    if (peer_start(&peer, "\"max_value\":1000", "", TOOL_ECHO)) {
        execute(&peer, 1, "length echo {}");
        answer_call(&peer, 1000000); /* below the limit by the size of a message around a value */
        CU_ASSERT(member_is(peer_line(&peer), "value", "1000002"));
        execute(&peer, 2, "length echo {}");
        peer_line(&peer);
        char *text = malloc(2000000);
        memset(text, 'x', 2000000);
        peer_send_bytes(&peer, text, 2000000);
        free(text);
        CU_ASSERT(peer_wait(&peer) == 125);
    }
    peer_close(&peer);
}

static void agent_calls_no_tool_on_its_way_out(void)
{
    struct peer peer;

    if (peer_start(&peer, "\"options\":{\"last\":\"call\"}", "", TOOL_ECHO)) {
        peer_send(&peer, "{\"type\":\"exit\"}");
        CU_ASSERT(peer_line(&peer) == NULL);
        CU_ASSERT(peer_wait(&peer) == 0);
        char *output = peer_output(&peer, true);
        UNIT_TEXT(output, "tools can be called during an execution onlydestroyed");
        free(output);
    }
    peer_close(&peer);
}

static void agent_forked_child_cannot_call_tools(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, 1, "fork echo");
        CU_ASSERT(member_is(peer_line(&peer), "type", "\"result\"")); /* not a tool_call */
        char *output = peer_output(&peer, false);
        UNIT_TEXT(output, "tools cannot be called from a forked process");
        free(output);
        execute(&peer, 2, "return");
        CU_ASSERT(member_is(peer_line(&peer), "id", "2"));
        execute(&peer, 3, "forkleave 6");
        const char *line = peer_line(&peer);
        CU_ASSERT(member_is(line, "id", "3")); /* the children sent nothing */
        CU_ASSERT(member_is(line, "value", "6"));
    }
    peer_close(&peer);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void agent_ends_as_it_is_told(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        peer_send(&peer, "{\"type\":\"exit\"}");
        CU_ASSERT(peer_wait(&peer) == 0);
        char *output = peer_output(&peer, true);
        UNIT_TEXT(output, "destroyed");
        free(output);
    }
    peer_close(&peer);
}

static void agent_ends_with_the_host(void)
{
    static const char *const codes[] = {NULL, "call echo {}"};

    for (int i = 0; i < 2; i++) {
        struct peer peer;
        if (peer_start(&peer, "", "", TOOL_ECHO)) {
            if (codes[i]) {
                execute(&peer, 1, codes[i]);
                CU_ASSERT(peer_line(&peer) != NULL); /* the agent waits for the answer */
            }
            peer_hang_up(&peer);
            CU_ASSERT(peer_wait(&peer) == 0);
            char *output = peer_output(&peer, true);
            UNIT_TEXT(output, ""); /* it exits at once, without destroy */
            free(output);
        }
        peer_close(&peer);
    }
}

static void agent_exit_within_a_tool_call_ends_it(void)
{
    struct peer peer;

    if (peer_start(&peer, "", "", TOOL_ECHO)) {
        execute(&peer, 1, "call echo {}");
        CU_ASSERT(peer_line(&peer) != NULL);
        peer_send(&peer, "{\"type\":\"exit\"}");
        CU_ASSERT(peer_wait(&peer) == 0);
    }
    peer_close(&peer);
}

static void agent_reports_that_the_code_leaves(void)
{
    static const struct {
        const char *code, *status;
        int exits;
    } rows[] = {{"leave 3", "3", 3}, {"leave 0", "0", 0}, {"kind 4 5", "9", 9}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct peer peer;
        if (peer_start(&peer, "", "", "")) {
            execute(&peer, 8, rows[i].code);
            const char *line = peer_line(&peer);
            CU_ASSERT(member_is(line, "id", "8"));
            CU_ASSERT(member_is(line, "kind", "\"exit\""));
            CU_ASSERT(member_is(line, "status", rows[i].status));
            CU_ASSERT(peer_line(&peer) == NULL);
            CU_ASSERT(peer_wait(&peer) == rows[i].exits);
        }
        peer_close(&peer);
    }
}

static void agent_ends_when_it_cannot_go_on(void)
{
    static const char *const lines[] = {
        "{\"type\":\"execute\",\"id\":1,\"code\":\"broken\"}",
        "{\"type\":\"dance\"}",
        "{\"type\":\"execute\",\"id\":1}",
        "not JSON",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct peer peer;
        if (peer_start(&peer, "", "", "")) {
            peer_send(&peer, "%s", lines[i]);
            CU_ASSERT(peer_line(&peer) == NULL);
            CU_ASSERT(peer_wait(&peer) == 125);
            char *output = peer_output(&peer, true);
            CU_ASSERT(strncmp(output, "lazaret-agent: ", 15) == 0);
            free(output);
        }
        peer_close(&peer);
    }
}

static const struct unit_test tests[] = {
    UNIT(agent_wipes_token_before_init),
    UNIT(agent_keeps_no_token_in_memory),
    UNIT(agent_confines_itself_before_ready),
    UNIT(agent_refuses_confinement_it_does_not_know),
    UNIT(agent_gives_runtime_its_options_and_tools),
    UNIT(agent_opens_libraries_with_global_symbols),
    UNIT(agent_start_failure_is_told_twice),
    UNIT(agent_needs_its_environment),
    UNIT(agent_answers_with_the_id_of_the_request),
    UNIT(agent_keeps_no_memory_of_a_large_result),
    UNIT(agent_check_runs_nothing),
    UNIT(agent_names_every_kind_of_error),
    UNIT(agent_omits_a_value_that_is_too_large),
    UNIT(agent_cuts_a_long_message),
    UNIT(agent_takes_values_of_any_size),
    UNIT(agent_sends_arguments_of_any_size),
    UNIT(agent_refuses_large_arguments_without_sending),
    UNIT(agent_ignores_answers_to_other_calls),
    UNIT(agent_hands_the_error_of_a_tool_on),
    UNIT(agent_survives_a_value_it_cannot_hold),
    UNIT(agent_ends_at_a_line_over_max_value),
    UNIT(agent_calls_no_tool_on_its_way_out),
    UNIT(agent_forked_child_cannot_call_tools),
    UNIT(agent_ends_as_it_is_told),
    UNIT(agent_ends_with_the_host),
    UNIT(agent_exit_within_a_tool_call_ends_it),
    UNIT(agent_reports_that_the_code_leaves),
    UNIT(agent_ends_when_it_cannot_go_on),
    {0},
};

int main(void)
{
    return unit_run("agent", tests);
}
