/* SPDX-License-Identifier: MIT */
/* test_template_tools.c - the tools of a template, and those that one of its sessions adds. */
#include "template.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

#define NOBODY                                                                                     \
    {                                                                                              \
        .peer = {.pid = -1, .fd = -1, .out = -1}, .err = -1, .status = -1, .pidfd = -1             \
    }

static const char *const languages[] = {"lua", "python", "r"};
#define LANGUAGES (sizeof languages / sizeof *languages)

static void template_has_tools_for_its_sessions(void)
{
    static const char add[] = "{\"name\":\"add\",\"parameters\":[{\"name\":\"a\",\"type\":"
                              "\"number\"},{\"name\":\"b\",\"type\":\"number\"}]}";

    for (size_t i = 0; i < LANGUAGES; i++) {
        struct template_box box;
        struct template_session session = NOBODY, other = NOBODY;
        template_tools = add;
        if (template_open(&box, languages[i], "") && template_ask(&box, &session) > 0 &&
            template_met(&session)) {
            const char *line = template_init(&session, template_confined, add);
            CU_ASSERT(line && strstr(line, "\"ready\"") != NULL);
            peer_send(&session.peer, "{\"type\":\"execute\",\"id\":1,\"code\":\"add(2, 3)\"}");
            line = peer_line(&session.peer);
            CU_ASSERT(line && strstr(line, "\"tool_call\"") && strstr(line, "\"add\""));
            peer_send(&session.peer, "{\"id\":1,\"value\":5}");
            line = peer_line(&session.peer);
            CU_ASSERT(line && strstr(line, "\"value\":5") != NULL);
            if (strcmp(languages[i], "r") == 0) /* help() looks for tools there */
                UNIT_TEXT(template_run(&session,
                                       "exists('add', as.environment('lazaret:tools'), inherits = "
                                       "FALSE) && sum(search() == 'lazaret:tools') == 1"),
                          "true");
            CU_ASSERT_FATAL(template_ask(&box, &other) > 0 && template_met(&other));
            line = template_init(&other, template_confined, "");
            CU_ASSERT(line && strstr(line, "the tools are not those of the template"));
            template_session_close(&other);
        }
        template_tools = "";
        template_session_close(&session);
        template_close(&box);
    }
}

static bool has(const char *line, const char *text)
{
    return line && strstr(line, text);
}

/* A session adds tools to those of its template, and is ready when it has them. */
static void a_session_adds_tools(void)
{
    static const char add[] = "{\"name\":\"add\",\"parameters\":[{\"name\":\"a\",\"type\":"
                              "\"number\"}]}";
    static const char init[] = "{\"type\":\"init\",\"protocol\":1,\"same\":true,\"tools\":[%s]}";

    template_tools = add;
    template_confine = template_confined;
    for (size_t i = 0; i < LANGUAGES; i++) {
        struct template_box box;
        struct template_session session = NOBODY, other = NOBODY;
        template_spawn_adds = true;
        if (template_open(&box, languages[i], "") && template_ask(&box, &session) > 0 &&
            template_met(&session)) {
            peer_send(&session.peer, init, "{\"name\":\"own\"},{\"name\":\"help\"}");
            const char *line = peer_line(&session.peer);
            CU_ASSERT(has(line, "\"ready\""));
            for (int id = 1; id <= 3; id++) {
                static const char *const calls[] = {"", "add(1)", "own()", "help()"};
                static const char *const tools[] = {"", "\"add\"", "\"own\"", "\"help\""};
                peer_send(&session.peer, "{\"type\":\"execute\",\"id\":%d,\"code\":\"%s\"}", id,
                          calls[id]);
                line = peer_line(&session.peer);
                CU_ASSERT(line && strstr(line, "\"tool_call\"") && strstr(line, tools[id]));
                peer_send(&session.peer, "{\"id\":%d,\"value\":5}", id);
                line = peer_line(&session.peer);
                CU_ASSERT(line && strstr(line, "\"value\":5") != NULL);
            }
            template_spawn_adds = false; /* the next one has those of the template */
            CU_ASSERT_FATAL(template_ask(&box, &other) > 0 && template_met(&other));
            line = template_init(&other, template_confined, "");
            CU_ASSERT(line && strstr(line, "\"ready\"") != NULL);
            peer_send(&other.peer, "{\"type\":\"execute\",\"id\":1,\"code\":\"own()\"}");
            line = peer_line(&other.peer);
            CU_ASSERT(line && strstr(line, "\"error\"") && strstr(line, "own"));
        }
        template_session_close(&session);
        template_session_close(&other);
        template_close(&box);
    }
    template_tools = "";
    template_confine = NULL;
    template_spawn_adds = false;
}

/* What a spawn and the `init` of its session say has to fit, and the tools have to be possible. */
static void tools_that_were_not_announced_are_refused(void)
{
    static const struct {
        bool adds;
        const char *more, *says;
    } rows[] = {
        {false, ",\"tools\":[{\"name\":\"own\"}]", "tools were not announced"},
        {true, "", "its tools are missing"},
        {true, ",\"tools\":[{\"name\":\"print\"}]", "cannot be called 'print'"},
    };

    template_confine = template_confined;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct template_session session = NOBODY;
        struct template_box box;
        template_spawn_adds = rows[i].adds;
        if (template_open(&box, "lua", "") && template_ask(&box, &session) > 0 &&
            template_met(&session)) {
            if (!rows[i].adds)
                CU_ASSERT(has(peer_line(&session.peer), "\"ready\""));
            peer_send(&session.peer, "{\"type\":\"init\",\"protocol\":1,\"same\":true%s}",
                      rows[i].more);
            CU_ASSERT(has(peer_line(&session.peer), rows[i].says));
            UNIT_TEXT(template_ended(&session), "{\"exit-code\":125}");
        }
        template_session_close(&session);
        template_close(&box);
    }
    template_confine = NULL;
    template_spawn_adds = false;
}

static const struct unit_test tests[] = {
    UNIT(template_has_tools_for_its_sessions),
    UNIT(a_session_adds_tools),
    UNIT(tools_that_were_not_announced_are_refused),
    {0},
};

int main(void)
{
    return unit_run("template tools", tests);
}
