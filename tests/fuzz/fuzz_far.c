/* SPDX-License-Identifier: MIT */
/* fuzz_far.c - what a worker says, on any lines: what a session is told of it are messages that an
 * agent may send, with the id of what was asked; output and what is said of an execution are
 * bounded by what came; nothing is told of an execution that was not asked for.
 *
 * The bytes are lines. An execution is asked for whenever none is. */
#include "box/box_private.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

struct session {
    struct laz_box box;
    bool is_asked;
    int64_t id;
    size_t came, printed;
};

static bool session_line(void *user, char *line, size_t len)
{
    struct session *session = user;
    struct laz_message message = {.type = LAZ_MESSAGE_TYPES};
    const uint32_t state = session->is_asked ? LAZ_WIRE_RUNNING : LAZ_WIRE_STARTING;
    const int rc = laz_message_parse(line, len, state, &message, NULL);

    must(rc == 0);
    if (message.type == LAZ_MESSAGE_RESULT || message.type == LAZ_MESSAGE_ERROR) {
        must(session->is_asked && message.has_id && message.id == session->id);
        session->is_asked = false;
    } else {
        must(message.type == LAZ_MESSAGE_READY || session->is_asked);
    }
    laz_message_fini(&message);
    return true;
}

static bool session_output(void *user, int stream, const char *data, size_t len)
{
    struct session *session = user;

    (void)data;
    must(session->is_asked && (stream == LAZ_STDOUT || stream == LAZ_STDERR));
    session->printed += len;
    must(session->printed <= 2 * session->came);
    return true;
}

/* As if it was sent. */
static void session_ask(struct session *session)
{
    struct laz_box_far *far = session->box.far;

    if (session->is_asked || !far->is_ready || laz_box_is_ended(&session->box))
        return;
    laz_box_far_forget(far);
    session->is_asked = true;
    far->id = ++session->id;
    far->request = ++far->last;
    far->told[0] = far->told[1] = 0;
    far->is_behind = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_settings_values values = {.session.max_value_size = 1 << 20};
    struct laz_driver driver = {0};
    struct laz_box_shared shared = {.driver = &driver, .values = &values};
    struct laz_box_far far = {.last = 1, .is_ready = size && *data != '{'};
    struct session session = {.box = {.shared = &shared, .far = &far, .kind = &laz_box_far}};
    struct laz_box *box = &session.box;
    const char *at = (const char *)data, *end = at + size;

    far.box = box;
    box->owner =
        (struct laz_box_owner){.user = &session, .line = session_line, .output = session_output};
    box->channel = box->listener = box->status = box->output[1] = box->output[2] = -1;
    box->commands.fd = -1;
    box->process = LAZ_PROCESS_INIT;
    box->life.state = far.is_ready ? LAZ_BOX_UP : LAZ_BOX_WAITING;
    box->life.had = far.is_ready ? 1u << LAZ_BOX_EVENT_SETTLE : 0;
    while (at < end && !laz_box_is_ended(box)) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        session_ask(&session);
        session.came += (size_t)(stop - at);
        if (!laz_box_far_take(&far, at, (size_t)(stop - at)))
            break;
        must(far.said.warnings.n <= 100 && far.said.denials.n <= 100);
        must(!far.said.isolation || strlen(far.said.isolation) <= 17 << 10);
        must(!far.said.evidence || strlen(far.said.evidence) <= 16 << 10);
        at = stop + 1;
    }
    laz_box_far_forget(&far);
    laz_buf_fini(&far.open);
    free(far.said.isolation);
    return 0;
}
