/* SPDX-License-Identifier: MIT */
/* plugin.cc - a tool provider in C++20: what the headers promise to plugins holds there, too. Its
 * tool `twice` answers with its text, two times. */
#include <lazaret/options.h>
#include <lazaret/tool.h>

#include <string>

namespace {

struct state {
    const laz_tool_services *services;
    int64_t most;
};

const laz_option options[] = {
    LAZ_OPTION("most", LAZ_OPT_INTEGER, "10", "bytes of a text", .min = "1"),
    {"rest", LAZ_OPT_ANY, "", "as in C, in the order of the fields"},
    LAZ_OPTIONS_END,
};

const laz_option_field option_fields[] = {
    {"most", LAZ_OPT_INTEGER, offsetof(state, most)},
    {nullptr, 0, 0},
};

struct arguments {
    char *text;
};

const laz_option_field argument_fields[] = {
    {"text", LAZ_OPT_STRING, offsetof(arguments, text)},
    {nullptr, 0, 0},
};

const laz_tool tools[] = {{
    .size = sizeof(laz_tool),
    .name = "twice",
    .description = "a text, two times",
    .parameters = R"([{"name":"text","type":"string"}])",
    .timeout_ms = 0,
    .max_concurrent = 0,
    .approve = 0,
    .nonblocking = 0,
}};

int create(const laz_tool_services *services, const char *text, size_t len, void **data,
           laz_error *err)
{
    state made = {services, 10};

    if (!LAZ_HAS(services, answer_error))
        return laz_fail(err, LAZ_EPLUGIN, "this lazaret is too old");
    int rc = laz_options_read(services->json, text, len, option_fields, &made, err);
    if (!rc)
        *data = new state(made);
    return rc;
}

int list(void *, const laz_tool **list, size_t *n, laz_error *)
{
    *list = tools;
    *n = 1;
    return 0;
}

int call(void *data, size_t, laz_call *call, const char *args, size_t len, laz_error *err)
{
    const state *self = static_cast<state *>(data);
    const laz_json_api *json = self->services->json;
    arguments given = {};

    int rc = laz_options_read(json, args, len, argument_fields, &given, err);
    std::string text = rc ? "" : given.text;
    laz_options_free(argument_fields, &given);
    if (rc)
        return rc;
    if (text.size() > static_cast<size_t>(self->most))
        return laz_fail(err, LAZ_EINVAL, "text: expected at most %lld bytes",
                        static_cast<long long>(self->most));
    text += text;
    laz_json_writer *writer = json->writer_new(0);
    json->write_string(writer, text.data(), text.size());
    size_t size = 0;
    const char *answer = json->writer_text(writer, &size, nullptr);
    self->services->answer(self->services->host, call, answer, size);
    json->writer_free(writer);
    return 0;
}

void destroy(void *data)
{
    delete static_cast<state *>(data);
}

const laz_tool_ops ops = {
    .size = sizeof ops,
    .flags = 0,
    .reserved = 0,
    .create = create,
    .list = list,
    .call = call,
    .cancel = nullptr,
    .destroy = destroy,
    .prepare = nullptr,
    .notice = nullptr,
};

} // namespace

namespace mine {

LAZ_PLUGIN(cxx) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_TOOL),
    .name = "cxx",
    .version = "1.0",
    .summary = "a provider in C++",
    .options = options,
    .ops = &ops,
};

} // namespace mine
