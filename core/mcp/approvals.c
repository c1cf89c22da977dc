/* SPDX-License-Identifier: MIT */
/* approvals.c - calls of tools that need a yes: the client is asked to ask somebody.
 * Side: host.  Input trusted: no (arguments come from the sandbox, answers from the client).
 *
 * In the era with a handshake the server sends a request, elicitation/create.  In the other one the
 * call of `execute` is answered by the question, with a handle; the execution waits, and goes on
 * when the client calls again with that handle and the answer.  A client that can ask nobody gets
 * no question: the call is refused.
 *
 * The library asks on a worker thread, which posts the question to the loop, as core/serve does. */
#include "mcp/mcp_private.h"

#include "base/json.h"
#include "base/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void question_free(struct mcp_question *question)
{
    laz_reply_free(question->reply);
    free(question->text);
    free(question);
}

static void question_remove(struct mcp_question *question)
{
    LAZ_LIST_REMOVE(question->mcp->questions, question);
    question_free(question);
}

/* The name of a question: as an id of JSON, or without its quotes as a key. */
static void question_name(const struct mcp_question *question, bool is_id, char name[MCP_HANDLE])
{
    snprintf(name, MCP_HANDLE, is_id ? "\"approval-%lld\"" : "approval-%lld",
             (long long)question->number);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The members of `params` of elicitation/create: a form with one box. */
static void question_form(const struct mcp_question *question, struct laz_json_write *write)
{
    laz_json_add_text(write, "message", question->text);
    laz_json_begin_object(write, "requestedSchema");
    laz_json_add_text(write, "type", "object");
    laz_json_begin_object(write, "properties");
    laz_json_begin_object(write, "approve");
    laz_json_add_text(write, "type", "boolean");
    laz_json_add_text(write, "title", "Allow this call");
    laz_json_add_bool(write, "default", false);
    laz_json_end_object(write);
    laz_json_end_object(write);
    laz_json_begin_list(write, "required");
    laz_json_add_text(write, NULL, "approve");
    laz_json_end_list(write);
    laz_json_end_object(write);
}

static void question_send(struct mcp_question *question)
{
    struct laz_json_write write;
    char name[MCP_HANDLE];

    question_name(question, true, name);
    if (!mcp_tell_begin(question->request->asked.out, name, "elicitation/create", &write))
        return;
    question->is_sent = true;
    question_form(question, &write);
    mcp_tell_end(question->request->asked.out, &write);
}

/* Answers the request by all of its questions; its client comes back with the answers. */
static void questions_answer(struct mcp_request *request)
{
    struct laz_mcp *mcp = request->mcp;
    struct laz_json_write write;
    char name[MCP_HANDLE], state[MCP_HANDLE];

    if (!mcp_answer_begin(&request->asked, "input_required", &write))
        return;
    laz_json_begin_object(&write, "inputRequests");
    for (struct mcp_question *one = mcp->questions; one; one = one->next) {
        if (one->request != request)
            continue;
        one->is_sent = true;
        question_name(one, false, name);
        laz_json_begin_object(&write, name);
        laz_json_add_text(&write, "method", "elicitation/create");
        laz_json_begin_object(&write, "params");
        question_form(one, &write);
        laz_json_end_object(&write);
        laz_json_end_object(&write);
    }
    laz_json_end_object(&write);
    mcp_handle_make(mcp, MCP_OF_STATE, mcp_request_wait(request), state);
    laz_json_add_text(&write, "requestState", state);
    mcp_answer_end(&request->asked, &write);
}

/* Called by the library on the thread of the loop: nobody waits for the answer any more. */
static void question_cancelled(void *user)
{
    struct mcp_question *question = user;
    struct laz_json_write write;
    char name[MCP_HANDLE];

    question_name(question, true, name);
    if (question->is_sent && question->is_request &&
        mcp_tell_begin(question->request->asked.out, NULL, "notifications/cancelled", &write)) {
        laz_json_add_raw(&write, "requestId", name, strlen(name));
        laz_json_add_text(&write, "reason", "the call waits no longer");
        mcp_tell_end(question->request->asked.out, &write);
    }
    question_remove(question);
}

/* The loop has the question. */
static void question_take(struct mcp_question *question)
{
    struct mcp_request *request = question->request;

    /* An execution that has ended has cancelled its calls: then the request is gone. */
    if (laz_reply_is_cancelled(question->reply)) {
        question_free(question);
        return;
    }
    if (!request->asked.can_ask) {
        laz_reply_error(question->reply, "the call needs an approval, and the MCP client can ask "
                                         "nobody: it has no capability 'elicitation'");
        question_free(question);
        return;
    }
    question->mcp = request->mcp;
    question->number = ++request->mcp->last_number;
    question->is_request = request->asked.era == MCP_LEGACY;
    question->next = request->mcp->questions;
    request->mcp->questions = question;
    if (question->is_request && request->asked.out)
        question_send(question);
    else if (!question->is_request && request->asked.id)
        questions_answer(request);
    /* else when a call waits for it again */
    (void)laz_reply_on_cancel(question->reply, question_cancelled, question);
}

static void question_arrived(struct laz_post *post)
{
    question_take(LAZ_CONTAINER(post, struct mcp_question, post));
}

/* On a worker thread: the request may end at any time, and is not looked at here. */
static void approval_asked(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const struct laz_caller *caller = laz_reply_caller(reply);
    struct mcp_question *question = calloc(1, sizeof *question);
    struct laz_mcp *mcp = user;
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_puts(&text, "The code that runs wants to call the tool ");
    laz_visible_line(&text, caller->tool, strlen(caller->tool));
    laz_buf_puts(&text, ", which needs your approval.\n");
    laz_visible_members(&text, args, len);
    if (!question || text.failed) {
        laz_reply_error(reply, "out of memory");
        laz_buf_fini(&text);
        free(question);
        return;
    }
    question->request = caller->execution_user;
    question->text = laz_buf_steal(&text);
    question->post.run = question_arrived;
    laz_reply_keep(reply);
    question->reply = reply;
    laz_loop_post(mcp->loop, &question->post);
}

int mcp_approvals_begin(struct laz_mcp *mcp, struct laz_error *err)
{
    return laz_engine_set_approver(mcp->engine, approval_asked, mcp, err);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Is this result of elicitation/create a yes? Everything that is not clearly one is a no. */
static bool answer_is_yes(const char *result, size_t len)
{
    const char *raw;
    size_t n;
    bool is_yes = false;
    char *action = NULL;

    if (!result || !laz_json_member(result, len, "action", &raw, &n) ||
        laz_json_take_string(raw, n, &action, NULL) != 0)
        return false;
    const bool is_accepted = action && strcmp(action, "accept") == 0;
    free(action);
    return is_accepted && laz_json_member(result, len, "content", &raw, &n) && *raw == '{' &&
           laz_json_member(raw, n, "approve", &raw, &n) && laz_json_to_bool(raw, n, &is_yes) &&
           is_yes;
}

static void question_answer(struct mcp_question *question, const char *result, size_t len)
{
    if (answer_is_yes(result, len))
        laz_reply_value(question->reply, "true", 4);
    else
        laz_reply_value(question->reply, "false", 5);
    question_remove(question);
}

void mcp_approval_answer(const struct mcp_peer *peer, const char *id,
                         const struct mcp_message *message)
{
    struct mcp_question *question = peer->mcp->questions;
    char name[MCP_HANDLE] = "";

    for (; question; question = question->next) {
        question_name(question, true, name);
        if (question->is_request && question->request->asked.peer == peer && strcmp(name, id) == 0)
            break;
    }
    if (question) /* else it was cancelled while the answer was on its way */
        question_answer(question, message ? message->result : NULL,
                        message ? message->result_len : 0);
}

void mcp_approvals_take(struct mcp_request *request, const char *responses, size_t len)
{
    bool is_open = false;

    for (struct mcp_question *one = request->mcp->questions, *next; one; one = next) {
        char name[MCP_HANDLE];
        const char *raw;
        size_t n;
        next = one->next;
        if (one->request != request)
            continue;
        question_name(one, false, name);
        if (one->is_sent && responses && laz_json_member(responses, len, name, &raw, &n))
            question_answer(one, *raw == '{' ? raw : NULL, n);
        else
            is_open = true;
    }
    if (is_open)
        questions_answer(request);
}

void mcp_approvals_go_on(struct mcp_request *request)
{
    bool is_open = false;

    for (struct mcp_question *one = request->mcp->questions; one; one = one->next) {
        if (one->request != request || one->is_sent)
            continue;
        if (one->is_request)
            question_send(one);
        else
            is_open = true;
    }
    if (is_open)
        questions_answer(request);
}

void mcp_approvals_end(struct laz_mcp *mcp)
{
    while (mcp->questions) {
        laz_reply_error(mcp->questions->reply, "the MCP client that was asked is gone");
        question_remove(mcp->questions);
    }
}
