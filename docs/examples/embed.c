/* SPDX-License-Identifier: MIT */
/* embed.c - lazaret inside an application: a tool written in C, called by code in the sandbox.
 *
 *     cc embed.c $(pkg-config --cflags --libs lazaret) -o embed && ./embed
 *
 * Prints what the code wrote, its value and the verdict; exit status 0 when it ended well. */
#include <lazaret/lazaret.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tool: `args` was checked against the declaration, so "city" is there and is a string. */
static void temperature(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user;
    (void)len;
    if (strstr(args, "\"Turku\""))
        laz_reply_value(reply, "{\"celsius\":-3.5}", 16);
    else
        laz_reply_error(reply, "no such city");
}

/* Output comes line by line, while the code still runs. */
static void print_line(void *user, int stream, const char *text, size_t len)
{
    (void)user;
    printf("%s: %.*s\n", stream == LAZ_STDERR ? "err" : "out", (int)len, text);
}

static const struct laz_tool tool = {
    .size = sizeof tool,
    .name = "temperature",
    .description = "The temperature of a city",
    .parameters = "[{\"name\":\"city\",\"type\":\"string\"}]",
    .timeout_ms = 5000,
};

static const char code[] = "for city in ['Turku', 'Atlantis']:\n"
                           "    try:\n"
                           "        print(city, temperature(city)['celsius'])\n"
                           "    except Exception as error:\n"
                           "        print(city, 'failed:', error)\n"
                           "6 * 7\n";

int main(void)
{
    struct laz_engine *engine = NULL;
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    struct laz_session_options python = {.size = sizeof python, .runtime = "python"};
    struct laz_execute_options options = {.size = sizeof options, .line = print_line};
    int status = 1;

    if (laz_engine_new(NULL, NULL, &engine, &err) ||
        laz_engine_add_tool(engine, &tool, temperature, NULL, &err) ||
        laz_session_open(engine, &python, &session, &err) ||
        laz_session_execute(session, code, SIZE_MAX, &options, &result, &err)) {
        fprintf(stderr, "embed: %s\n", err.text);
        goto out;
    }
    printf("value: %s\n", laz_result_value(result));
    printf("verdict: %s\n", laz_verdict_name(laz_result_verdict(result)));
    status = laz_result_verdict(result) == LAZ_VERDICT_OK ? 0 : 1;
out:
    laz_result_free(result);
    laz_session_free(session);
    laz_engine_free(engine);
    return status;
}
