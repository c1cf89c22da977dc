/* SPDX-License-Identifier: MIT */
/* nats_server.c - a server of NATS for a test: on loopback, at a port that was free. */
#include "nats_server.h"

#include "unit.h"

#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char server_work[64];

static void server_wait(struct server *server)
{
    char path[160], text[512];
    const char *at;

    snprintf(path, sizeof path, "%s/nats-server_%d.ports", server_work, (int)server->pid);
    for (int i = 0; i < UNIT_HANG_MS / 10; i++) {
        FILE *file = fopen(path, "r");
        const size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
        if (file)
            fclose(file);
        text[len] = '\0';
        if (strchr(text, '}') && (at = strrchr(text, ':'))) {
            server->port = atoi(at + 1);
            return;
        }
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
            break;
        usleep(10000);
    }
    printf("nats-server has not started: see %s\n", server->conf);
    exit(1);
}

/* Starts it with what its configuration has now. */
void server_start(struct server *server)
{
    char port[16], log[160];

    snprintf(port, sizeof port, "%d", server->port ? server->port : -1);
    snprintf(log, sizeof log, "%s.log", server->conf);
    server->pid = fork();
    if (server->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("nats-server", "nats-server", "-c", server->conf, "-a", "127.0.0.1", "-p", port,
               "--ports_file_dir", server_work, "-l", log, (char *)NULL);
        _exit(127);
    }
    server_wait(server);
}

void server_kill(struct server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
}

void server_configure(struct server *server, const char *name, const char *text)
{
    snprintf(server->conf, sizeof server->conf, "%s/%s.conf", server_work, name);
    FILE *file = fopen(server->conf, "w");
    if (!file || fputs(text, file) == EOF || fclose(file) != 0)
        abort();
}

void server_begin(struct server *server, const char *name, const char *text)
{
    *server = (struct server){.port = 0};
    server_configure(server, name, text);
    server_start(server);
}

bool server_directory(void)
{
    const char *directory = getenv("TMPDIR");

    snprintf(server_work, sizeof server_work, "%.30s/lazaret-nats-XXXXXX",
             directory ? directory : "/tmp");
    return mkdtemp(server_work) != NULL;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

void server_directory_remove(void)
{
    nftw(server_work, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
