/* SPDX-License-Identifier: MIT */
/* test_races.c - while sessions open, another user of the machine keeps looking in /tmp for the
 * directories of engines, and tries to enter them, to connect to the sockets in them, to replace
 * them, and to make entries that would mislead an engine.
 *
 * It never succeeds, and no session fails to open. The same attempts on a directory that is open to
 * all users succeed. The other user is a process with an otherwise unused uid. */
#include "session/live.h"
#include "unit.h"
#include "world.h"

#include "engine/engine.h"
#include "os/directories.h"
#include "os/users.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define RACES_UID      2079999123u /* below those of sessions */
#define RACES_SESSIONS 20
#define RACES_BOXES    (RACES_SESSIONS + 2)

enum races_hit {
    RACES_LISTED = 1,
    RACES_CONNECTED = 2,
    RACES_HEARD = 4, /* received a byte from the socket */
    RACES_MADE = 8,
    RACES_LINKED = 16,
    RACES_UNLINKED = 32,
    RACES_MOVED = 64,
    RACES_ALL = 127,
};

static struct races_board {
    atomic_bool ends;
    atomic_int hits; /* successful attempts on the test's engine */
    char ours[64];   /* the directory of the test's engine; other tests have theirs */
    atomic_ulong rounds, directories; /* directories of engines that were attacked */
} * board;

/* ---- the other user -------------------------------------------------------------------------- */

static int races_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char c;
    int hits = 0, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%.107s", path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        hits = RACES_CONNECTED | (read(fd, &c, 1) == 1 ? RACES_HEARD : 0);
    close(fd);
    return hits;
}

/* Tries everything on the paths of one box. */
static int races_on_box(const char *directory, unsigned number)
{
    char path[200], other[220];
    int hits = 0;

    snprintf(path, sizeof path, "%s/b%u/socket/ipc.sock", directory, number);
    hits |= races_connect(path);
    snprintf(other, sizeof other, "%s.new", path);
    if (symlink("/tmp", other) == 0)
        hits |= RACES_LINKED;
    if (link("/etc/passwd", other) == 0)
        hits |= RACES_LINKED;
    if (rename(other, path) == 0)
        hits |= RACES_MOVED;
    if (unlink(path) == 0)
        hits |= RACES_UNLINKED;
    snprintf(path, sizeof path, "%s/b%u", directory, number + 1); /* that of the next box */
    if (mkdir(path, 0777) == 0)
        hits |= RACES_MADE;
    snprintf(path, sizeof path, "%s/b%u/socket", directory, number);
    snprintf(other, sizeof other, "%s/b%u/mine", directory, number);
    if (rename(path, other) == 0)
        hits |= RACES_MOVED;
    return hits;
}

static int races_on_directory(const char *directory, unsigned boxes)
{
    int hits = 0, fd = open(directory, O_RDONLY | O_DIRECTORY);

    if (fd >= 0) {
        hits |= RACES_LISTED;
        close(fd);
    }
    for (unsigned i = 0; i < boxes; i++)
        hits |= races_on_box(directory, i);
    return hits;
}

/* Makes entries with names such as engines choose: links to files of others, or open
 * directories. */
static void races_lay_out(unsigned long round, bool away)
{
    char path[64];

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/tmp/lazaret-Lz%02lu%s", round % 100, i ? "race" : "Race");
        if (away)
            (void)(i ? rmdir(path) : unlink(path));
        else
            (void)(i ? mkdir(path, 0777) : symlink(world_get("open"), path));
    }
}

/* Attacks until the test is over. Only directories of root certainly belong to another user. */
static void races_be_other(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setgroups(0, NULL) != 0 || setresgid(RACES_UID, RACES_UID, RACES_UID) != 0 ||
        setresuid(RACES_UID, RACES_UID, RACES_UID) != 0)
        _exit(1);
    for (unsigned long round = 0; !atomic_load(&board->ends); round++) {
        DIR *tmp = opendir("/tmp");
        races_lay_out(round, false);
        for (struct dirent *entry; tmp && (entry = readdir(tmp));) {
            char path[300];
            struct stat st;
            snprintf(path, sizeof path, "/tmp/%s", entry->d_name);
            if (strncmp(entry->d_name, "lazaret-", 8) != 0 || strlen(entry->d_name) != 16 ||
                lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != 0)
                continue;
            int hits = races_on_directory(path, RACES_BOXES);
            if (strcmp(path, board->ours) != 0)
                continue;
            atomic_fetch_or(&board->hits, hits);
            atomic_fetch_add(&board->directories, 1);
        }
        if (tmp)
            closedir(tmp);
        races_lay_out(round, true);
        atomic_fetch_add(&board->rounds, 1);
    }
    _exit(0);
}

/* Makes the same attempts where nothing prevents them: as the other user, in a directory that all
 * users may write, with a socket that sends something. */
static int races_unhindered(void)
{
    static const char *const directories[] = {"", "/b0", "/b0/socket"};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char base[] = "/tmp/races-lazaret-XXXXXX", path[100];
    int how = 0, fd = socket(AF_UNIX, SOCK_STREAM, 0);

    CU_ASSERT_FATAL(mkdtemp(base) != NULL && fd >= 0);
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(path, sizeof path, "%s%s", base, directories[i]);
        (void)mkdir(path, 0777);
        CU_ASSERT(chmod(path, 0777) == 0);
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s/b0/socket/ipc.sock", base);
    CU_ASSERT(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CU_ASSERT(chmod(address.sun_path, 0777) == 0 && listen(fd, 1) == 0);
    int spoken[2] = {fd, -1};
    pid_t speaker = fork();
    if (speaker == 0) {
        spoken[1] = accept(spoken[0], NULL, NULL);
        _exit(write(spoken[1], "x", 1) != 1);
    }
    pid_t other = fork();
    if (other == 0) {
        if (setgroups(0, NULL) != 0 || setresuid(RACES_UID, RACES_UID, RACES_UID) != 0)
            _exit(0);
        _exit(races_on_directory(base, 1) & ~RACES_HEARD); /* the timing of this one is random */
    }
    waitpid(other, &how, 0);
    kill(speaker, SIGKILL);
    waitpid(speaker, NULL, 0);
    close(fd);
    laz_os_remove_tree(base);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 0;
}

/* ---- the test -------------------------------------------------------------------------------- */

static void another_user_gets_nothing_and_stops_nothing(void)
{
    int opened = 0;

    if (!laz_os_is_root()) {
        (void)unit_skip("root", "another user, who tries to get into what this one makes");
        return;
    }
    CU_ASSERT_EQUAL(races_unhindered(), RACES_ALL & ~RACES_HEARD);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(board != MAP_FAILED);
    pid_t other = fork();
    if (other == 0)
        races_be_other();
    while (!atomic_load(&board->rounds))
        usleep(100);
    for (int i = 0; i < RACES_SESSIONS; i++) {
        struct laz_engine *engine = test_engine(""); /* new names every second time */
        unsigned long before = atomic_load(&board->directories);
        if (engine)
            snprintf(board->ours, sizeof board->ours, "%s", engine->directory);
        for (int k = 0; k < 2 && engine; k++) {
            struct laz_session *session = test_session(engine, "lua");
            if (!session)
                continue;
            opened++;
            test_expect(session, "return 6 * 7", LAZ_VERDICT_OK, "42");
            laz_session_free(session);
        }
        while (engine && atomic_load(&board->directories) == before)
            usleep(100); /* give the other user time on a busy machine */
        laz_engine_free(engine);
    }
    atomic_store(&board->ends, true);
    waitpid(other, NULL, 0);
    printf("%d sessions, %lu rounds, %lu directories ", opened, atomic_load(&board->rounds),
           atomic_load(&board->directories));
    CU_ASSERT_EQUAL(opened, 2 * RACES_SESSIONS);
    CU_ASSERT_EQUAL(atomic_load(&board->hits), 0);
    CU_ASSERT(atomic_load(&board->directories) >= RACES_SESSIONS);
    CU_ASSERT_EQUAL(access(world_get("removable"), F_OK),
                    0); /* the targets of the links are unharmed */
    munmap(board, sizeof *board);
}

static const struct unit_test tests[] = {
    UNIT(another_user_gets_nothing_and_stops_nothing),
    {0},
};

int main(void)
{
    if (!world_make()) {
        printf("what is to be attacked cannot be created\n");
        return 1;
    }
    int rc = unit_run("races", tests);
    world_end();
    return rc;
}
