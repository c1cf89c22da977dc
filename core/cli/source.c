/* SPDX-License-Identifier: MIT */
/* source.c - the code to run or check: from a file, standard input or the command line.
 *
 * A file's suffix decides the runtime unless --runtime does. A first line that begins with "#!" is
 * meant for the system and not for the language: it is made empty but kept, so that lines keep
 * their numbers. The bound here only protects the command's memory; the session checks the length
 * of the code. */
#include "cli/cli.h"

#include "os/descriptors.h"
#include "os/files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_MAX ((size_t)64 << 20)

static int source_read_fd(struct cli *cli, struct cli_source *source, int fd)
{
    for (;;) {
        ssize_t n;

        if (!laz_buf_reserve(&source->code, 65536)) {
            cli_problem(cli, "%s: out of memory", source->name);
            return CLI_SETUP;
        }
        n = read(fd, source->code.data + source->code.len, 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            cli_problem(cli, "%s: cannot be read: %s", source->name, strerror(errno));
            return CLI_USAGE;
        }
        source->code.len += (size_t)n;
        source->code.data[source->code.len] = '\0';
        if (n == 0)
            return 0;
        if (source->code.len > SOURCE_MAX) {
            cli_problem(cli, "%s: longer than %zu MiB", source->name, SOURCE_MAX >> 20);
            return CLI_USAGE;
        }
    }
}

static int source_read_file(struct cli *cli, struct cli_source *source)
{
    struct laz_look look;
    int fd = laz_os_open_file(source->name, true, &look);
    int status;

    if (fd < 0) {
        cli_problem(cli, "%s: cannot be opened: %s", source->name, strerror(errno));
        return CLI_USAGE;
    }
    if (look.kind == LAZ_LOOK_DIRECTORY) {
        cli_problem(cli, "%s: is a directory", source->name);
        status = CLI_USAGE;
    } else {
        status = source_read_fd(cli, source, fd);
    }
    laz_os_close(&fd);
    return status;
}

/* Finds the runtime for the file's suffix. For a name without one the settings decide. */
static int source_find_runtime(struct cli *cli, struct cli_source *source)
{
    const char *slash = strrchr(source->name, '/');
    const char *dot = strrchr(slash ? slash + 1 : source->name, '.');
    const struct laz_runtime_info *info;
    int status;

    if (cli->runtime || !dot)
        return 0;
    status = cli_registry(cli, true, &source->registry);
    if (status)
        return status;
    info = laz_registry_runtime_for(source->registry, source->name);
    if (!info) {
        cli_problem(cli,
                    "%s: no installed runtime takes files that end in %s; name one with --runtime "
                    "(lazaret plugins lists them)",
                    source->name, dot);
        return CLI_USAGE;
    }
    source->runtime = info->name;
    return 0;
}

static void source_empty_first_line(struct cli_source *source)
{
    const char *text = laz_buf_text(&source->code);

    if (strncmp(text, "#!", 2) == 0)
        laz_buf_drop(&source->code, strcspn(text, "\n"));
}

int cli_source_read(struct cli *cli, struct cli_source *source)
{
    int status;

    if (cli->code && cli->n_operands) {
        cli_problem(cli, "%s: code comes from -e or from a file, not from both",
                    cli->command->name);
        return CLI_USAGE;
    }
    if (cli->code) {
        source->name = "-e";
        laz_buf_puts(&source->code, cli->code);
        return 0;
    }
    if (!cli->n_operands) {
        cli_problem(cli, "%s: a file, - for standard input, or -e CODE is needed",
                    cli->command->name);
        return CLI_USAGE;
    }
    if (strcmp(cli->operands[0], "-") == 0) {
        source->name = "standard input";
        status = source_read_fd(cli, source, STDIN_FILENO);
    } else {
        source->name = cli->operands[0];
        status = source_read_file(cli, source);
        if (!status)
            status = source_find_runtime(cli, source);
    }
    source_empty_first_line(source);
    return status;
}

void cli_source_fini(struct cli_source *source)
{
    laz_buf_fini(&source->code);
    laz_registry_free(source->registry);
}
