/* SPDX-License-Identifier: MIT */
/* edit.h - lazaret as an entry in the configuration of another program, a client of MCP.
 *
 * Such a file belongs to its user: it has comments, an order, an indentation, and entries of other
 * servers.  So it is never written anew.  An edit replaces a few bytes of the text, and all others
 * stay as they are; what is not understood is refused.  The result is read again before it is
 * given back. */
#ifndef LAZ_EDIT_EDIT_H
#define LAZ_EDIT_EDIT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_EDIT_MAX_SIZE ((size_t)1 << 20) /* bytes of a file, as of a file of TOML */
#define LAZ_EDIT_NAME     "lazaret"         /* of the entry */

/* ---- clients.c: which clients there are, and where their files are --------------------------- */

enum laz_edit_form { LAZ_EDIT_JSON, LAZ_EDIT_TOML };

struct laz_edit_client {
    const char *name;  /* as --install wants it */
    const char *title; /* for people */
    enum laz_edit_form form;
    const char *table; /* the key of the table with all servers */
    const char *type;  /* the member "type" of an entry; NULL: it has none */
    int64_t timeout_s; /* the member "tool_timeout_sec", unless one is there; 0: none */
    bool is_project;   /* its file is one of the project, which others may read */
};

extern const struct laz_edit_client laz_edit_clients[]; /* ends with a row without a name */
const struct laz_edit_client *laz_edit_client(const char *name); /* NULL: there is none */

/* Where its configuration is on this platform (laz_os_platform): *path is a new string. LAZ_ENOENT:
 * a variable that says it is not set, and which. */
int laz_edit_place(const struct laz_edit_client *client, const char *platform, char **path,
                   struct laz_error *err);

/* ---- json.c, toml.c: the edit ---------------------------------------------------------------- */

/* How the client starts the server. */
struct laz_edit_program {
    const char *command; /* an absolute path */
    const struct laz_strv *args;
};

/* Appends `text` with the entry to `out`: as it is, if the client would start this program already.
 * An entry that starts another program gets this command and these arguments and keeps everything
 * else; one that starts none (it names a URL, say) is replaced. LAZ_EPARSE: "LINE:COLUMN: why" the
 * text is not understood, or has no place for the entry. */
int laz_edit_text(const struct laz_edit_client *client, const struct laz_edit_program *program,
                  const char *text, size_t len, struct laz_buf *out, struct laz_error *err);

/* ---- diff.c ---------------------------------------------------------------------------------- */

/* Appends the lines that differ, with two lines around them, as a person reads them: control
 * characters are made visible, and of long lines a part is shown. */
void laz_edit_diff(struct laz_buf *out, const char *path, const struct laz_buf *before,
                   const struct laz_buf *after);

/* ---- file.c ---------------------------------------------------------------------------------- */

struct laz_edit_file {
    char *path;  /* the file itself, without links */
    bool exists; /* what follows is of one that exists */
    unsigned mode;
    struct laz_buf text;
    uint64_t inode, size; /* to notice that another program has written it */
    int64_t written_ns;
};

/* Reads what is at `path`; that nothing is there is no error. The caller calls laz_edit_file_fini
 * in any case. */
int laz_edit_file_read(struct laz_edit_file *file, const char *path, struct laz_error *err);
/* Writes it: what was there is kept beside it first, *backup is the path (a new string; NULL: there
 * was nothing). A directory that is missing is made. Nothing has changed after an error. */
int laz_edit_file_write(const struct laz_edit_file *file, const struct laz_buf *text,
                        bool is_project, char **backup, struct laz_error *err);
void laz_edit_file_fini(struct laz_edit_file *file);

#endif
