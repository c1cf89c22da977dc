/* SPDX-License-Identifier: MIT */
/* command.h - lazaret-tool, the program by which tools are commands: what its files share.
 * Side: box.  Input trusted: no (the code decides what it is started with).
 *
 * It is started under the names of tools, by links (call.c), and once in each session to carry
 * their calls (carry.c).  Both halves have no rights that the code has not, and the host trusts
 * neither: what is checked here serves the messages. */
#ifndef LAZ_COMMAND_COMMAND_H
#define LAZ_COMMAND_COMMAND_H

#include "base/buf.h"
#include "base/error.h"
#include "wire/message.h"

/* Exit statuses, as shells have them. */
#define COMMAND_FAILED  1   /* the tool failed */
#define COMMAND_USAGE   2   /* the command line is wrong */
#define COMMAND_REFUSED 126 /* the call was refused, not approved, or cannot be made */
#define COMMAND_UNKNOWN 127 /* there is no such tool */

/* In the directory of the session's commands. */
#define COMMAND_LINKS "bin"   /* a directory: one link for each tool */
#define COMMAND_TOOLS "tools" /* their declarations: a line for each, its name, a tab, JSON */
#define COMMAND_CALLS                                                                              \
    "calls" /* a pipe with a name: "PID REQUEST ANSWER" in decimal, a line for                     \
               each call, the numbers of the caller's descriptors */

/* ---- arguments.c ---------------------------------------------------------------------------- */

/* What a command line asks for. */
struct command_line {
    bool wants_help, is_pretty;
    bool reads;          /* the arguments are a JSON object on standard input */
    struct laz_buf args; /* else they are this */
};

/* Reads the words behind the name of the command. LAZ_EINVAL: they are wrong; LAZ_ENOMEM. The
 * caller frees line->args in any case. */
int command_read(const struct laz_wire_tool *tool, char *const *words, size_t n,
                 struct command_line *line, struct laz_error *err);
/* Checks that a text is one JSON object, and appends it on one line. */
int command_read_object(const char *text, size_t len, struct laz_buf *args, struct laz_error *err);
/* Appends "usage: NAME DATE [--full] ..." as a line, and all that is declared. */
void command_usage(const struct laz_wire_tool *tool, const char *name, struct laz_buf *text);
void command_help(const struct laz_wire_tool *tool, const char *name, struct laz_buf *text);
/* Appends a value for people to read: on several lines. */
void command_show(const char *json, size_t len, struct laz_buf *text);

/* ---- call.c, carry.c ------------------------------------------------------------------------ */

/* Calls the tool that the command has the name of: the exit status. */
int command_call(int argc, char **argv);
/* The words say how many bytes a call and a value may have. Standard input is the pipe of the
 * calls, standard output a socket on which the channel to the host comes. Returns only where that
 * cannot be.
 */
int command_carry(int argc, char **argv);

#endif
