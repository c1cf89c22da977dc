/* SPDX-License-Identifier: MIT */
/* template.c - the host's side of a template in plain system calls. Every wait has a timeout.
 *
 * The box is made by bwrap as the backend does, without the options that forbid nested namespaces.
 * Started by root, the box belongs to another user, as for sessions, so agent and plugins are
 * copied. */
#include "template.h"

#include "base/json.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/programs.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEMPLATE_UID  2080000031u /* uid of the box when root runs the tests */
#define TEMPLATE_SEEN "/run/lazaret/agent"

const char template_bare[] = "{}";
const char template_confined[] =
    "{\"limits\":{\"nofile\":256,\"nproc\":64},\"landlock\":{\"abi\":0,\"rules\":["
    "{\"path\":\"/proc\",\"rights\":\"r\"},{\"path\":\"/dev\",\"rights\":\"rd\"},"
    "{\"path\":\"/dev/pts\",\"rights\":\"rt\"},{\"path\":\"/dev/shm\",\"rights\":\"rw\"},"
    "{\"path\":\"/tmp\",\"rights\":\"rwx\"},{\"path\":\"/usr\",\"rights\":\"rx\"},"
    "{\"path\":\"/run\",\"rights\":\"r\"},{\"path\":\"/etc\",\"rights\":\"r\"}]}" TEMPLATE_FILTER
    "}";

static uid_t template_uid(void)
{
    return geteuid() == 0 ? TEMPLATE_UID : geteuid();
}

/* ---- the stage ------------------------------------------------------------------------------ */

static struct laz_json *template_describe(const char *runtime)
{
    char path[128];
    struct laz_buf text = LAZ_BUF_INIT;

    snprintf(path, sizeof path, "plugins/runtime/%s/%s.json", runtime, runtime);
    struct laz_json *json = laz_os_read_file(path, 1 << 20, &text, NULL)
                                ? NULL
                                : laz_json_parse(text.data, text.len, NULL);
    laz_buf_fini(&text);
    return json;
}

static void template_copy(const struct template_box *box, const char *from, const char *name)
{
    char to[192];

    snprintf(to, sizeof to, "%s/%s", box->stage, name);
    CU_ASSERT(laz_os_copy_file(from, to, 0755, NULL) == 0);
    CU_ASSERT(chmod(to, 0755) == 0);
}

void template_file(const struct template_box *box, const char *name, const char *text)
{
    char path[192];

    snprintf(path, sizeof path, "%s/%s", box->stage, name);
    CU_ASSERT(laz_os_write_file(path, text, strlen(text), 0644, NULL) == 0);
    CU_ASSERT(chmod(path, 0644) == 0);
}

void template_directory(const struct template_box *box, const char *name)
{
    char path[192];

    snprintf(path, sizeof path, "%s/%s", box->stage, name);
    CU_ASSERT(mkdir(path, 0777) == 0 && chmod(path, 0777) == 0);
}

bool template_stage(struct template_box *box, const char *runtime)
{
    char file[128];

    *box = (struct template_box){.home = TEMPLATE_HOME, .peer = {.pid = -1, .fd = -1, .out = -1}};
    snprintf(box->runtime, sizeof box->runtime, "%s", runtime);
    snprintf(file, sizeof file, "plugins/runtime/%s/.libs/%s.so", runtime, runtime);
    if (access(file, R_OK))
        return unit_skip(runtime, "this runtime was not built") && false;
    char *bwrap = NULL;
    int found = laz_os_find_program("bwrap", &bwrap, NULL);
    free(bwrap);
    if (found)
        return unit_skip("bwrap", "there is no bubblewrap") && false;
    snprintf(box->stage, sizeof box->stage, "/tmp/lazaret-stage-XXXXXX");
    if (!mkdtemp(box->stage) || chmod(box->stage, 0755)) {
        CU_FAIL("no stage");
        return false;
    }
    template_copy(box, peer_agent(), "lazaret-agent");
    template_copy(box, file, strrchr(file, '/') + 1);
    return true;
}

/* ---- the box -------------------------------------------------------------------------------- */

static void template_bind_all(struct laz_strv *argv, const struct laz_json *list)
{
    for (const struct laz_json *item = list ? laz_json_first(list) : NULL; item;
         item = laz_json_next(item)) {
        if (strncmp(laz_json_string(item), "/usr/", 5) == 0)
            continue;
        laz_strv_add(argv, "--ro-bind-try");
        laz_strv_add(argv, laz_json_string(item));
        laz_strv_add(argv, laz_json_string(item));
    }
}

static void template_argv(const struct template_box *box, const struct laz_json *json,
                          struct laz_strv *argv)
{
    static const char *const begin[] = {"--unshare-all",
                                        "--unshare-user",
                                        "--cap-drop",
                                        "ALL",
                                        "--die-with-parent",
                                        "--new-session",
                                        "--hostname",
                                        "lazaret",
                                        "--uid",
                                        "1000",
                                        "--gid",
                                        "1000",
                                        "--proc",
                                        "/proc",
                                        "--dev",
                                        "/dev",
                                        "--tmpfs",
                                        "/dev/shm",
                                        "--remount-ro",
                                        "/dev",
                                        "--perms",
                                        "0700",
                                        "--tmpfs",
                                        "/tmp",
                                        "--ro-bind",
                                        "/usr",
                                        "/usr",
                                        "--symlink",
                                        "usr/bin",
                                        "/bin",
                                        "--symlink",
                                        "usr/lib",
                                        "/lib",
                                        "--symlink",
                                        "usr/lib64",
                                        "/lib64",
                                        "--ro-bind",
                                        "/etc/ld.so.cache",
                                        "/etc/ld.so.cache",
                                        "--ro-bind-try",
                                        "/etc/alternatives",
                                        "/etc/alternatives"};
    char *bwrap = NULL;

    laz_os_find_program("bwrap", &bwrap, NULL);
    laz_strv_add(argv, bwrap);
    free(bwrap);
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++)
        laz_strv_add(argv, begin[i]);
    template_bind_all(argv, laz_json_get(json, "read"));
    laz_strv_add(argv, "--ro-bind");
    laz_strv_add(argv, box->stage);
    laz_strv_add(argv, TEMPLATE_SEEN);
    laz_strv_add(argv, "--bind-try");
    laz_strv_addf(argv, "%s/written", box->stage);
    laz_strv_add(argv, "/run/lazaret/written");
    laz_strv_add(argv, "--ro-bind");
    laz_strv_add(argv, box->peer.directory);
    laz_strv_add(argv, "/run/lazaret/socket");
    laz_strv_add(argv, "--remount-ro");
    laz_strv_add(argv, "/");
    laz_strv_add(argv, "--chdir");
    laz_strv_add(argv, TEMPLATE_HOME);
    laz_strv_add(argv, "--");
    laz_strv_add(argv, TEMPLATE_SEEN "/lazaret-agent");
    if (!box->is_cold)
        laz_strv_add(argv, "--template");
}

static void template_env(const struct laz_json *json, struct laz_strv *env)
{
    const struct laz_json *list = laz_json_get(json, "env");

    laz_strv_add(env, "LAZARET_SOCKET=/run/lazaret/socket/ipc.sock");
    laz_strv_add(env, "LAZARET_TOKEN=" PEER_TOKEN);
    laz_strv_add(env, "LANG=C.UTF-8");
    laz_strv_add(env, "PATH=/usr/bin");
    laz_strv_add(env, "HOME=" TEMPLATE_HOME);
    laz_strv_add(env, "TMPDIR=" TEMPLATE_HOME);
    laz_strv_add(env, "ASAN_OPTIONS=detect_leaks=0");
    for (const struct laz_json *item = list ? laz_json_first(list) : NULL; item;
         item = laz_json_next(item))
        laz_strv_add(env, laz_json_string(item));
}

static int template_listen(struct template_box *box)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(box->peer.directory, sizeof box->peer.directory, "/tmp/lazaret-peer-XXXXXX");
    if (fd < 0 || !mkdtemp(box->peer.directory))
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/ipc.sock", box->peer.directory);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 1) ||
        chown(address.sun_path, template_uid(), (gid_t)-1) ||
        chown(box->peer.directory, template_uid(), (gid_t)-1)) {
        close(fd);
        return -1;
    }
    return fd;
}

static pid_t template_exec(const struct laz_strv *argv, const struct laz_strv *env, int *out)
{
    int pipe_fds[2];

    if (pipe2(pipe_fds, O_CLOEXEC))
        return -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        uid_t uid = template_uid();
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(pipe_fds[1], 1);
        dup2(pipe_fds[1], 2);
        if (geteuid() == 0 &&
            (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
            _exit(126);
        execve(argv->items[0], argv->items, env->items);
        _exit(127);
    }
    close(pipe_fds[1]);
    *out = pipe_fds[0];
    return pid;
}

static void template_await_agent(struct template_box *box, int listener)
{
    struct pollfd ready = {listener, POLLIN, 0};
    struct timeval wait = {PEER_WAIT_MS / 1000, 0};

    if (poll(&ready, 1, PEER_WAIT_MS) == 1)
        box->peer.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    setsockopt(box->peer.fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(box->peer.fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
}

static void template_libraries(const struct laz_json *json, struct laz_buf *text)
{
    const struct laz_json *list = laz_json_get(json, "libraries");

    for (const struct laz_json *item = list ? laz_json_first(list) : NULL; item;
         item = laz_json_next(item)) {
        laz_buf_puts(text, text->len ? "," : "");
        laz_json_quote(text, laz_json_string(item), strlen(laz_json_string(item)));
    }
}

const char *template_start(struct template_box *box, const char *options)
{
    struct laz_json *json = template_describe(box->runtime);
    struct laz_strv argv = LAZ_STRV_INIT, env = LAZ_STRV_INIT;
    struct laz_buf libraries = LAZ_BUF_INIT;
    const char *answer = NULL;
    int listener = template_listen(box);

    CU_ASSERT_FATAL(json != NULL && listener >= 0);
    template_argv(box, json, &argv);
    template_env(json, &env);
    box->peer.pid = template_exec(&argv, &env, &box->peer.out);
    template_await_agent(box, listener);
    close(listener);
    if (box->peer.fd >= 0) {
        template_libraries(json, &libraries);
        UNIT_TEXT(peer_line(&box->peer), PEER_TOKEN);
        if (box->met)
            box->met(box);
        peer_send(&box->peer,
                  "{\"type\":\"init\",\"protocol\":1%s,\"options\":{"
                  "\"runtime_file\":\"" TEMPLATE_SEEN "/%s.so\",\"home\":\"%s"
                  "\",\"tmp_size\":%u,\"libraries\":[%s]%s%s},\"tools\":[%s]%s%s}",
                  box->is_cold ? "" : ",\"template\":true", box->runtime, box->home, TEMPLATE_SIZE,
                  laz_buf_text(&libraries), *options ? "," : "", options, template_tools,
                  template_confine ? ",\"confine\":" : "",
                  template_confine ? template_confine : "");
        answer = peer_line(&box->peer);
    }
    if (!answer) {
        char *said = peer_output(&box->peer, false);
        printf("\n    the template said nothing but: %s\n", said ? said : "");
        free(said);
    }
    laz_buf_fini(&libraries);
    laz_strv_fini(&argv);
    laz_strv_fini(&env);
    laz_json_free(json);
    return answer;
}

const char *template_tools = "";
const char *template_confine = NULL;
bool template_spawn_adds = false;

bool template_open(struct template_box *box, const char *runtime, const char *options)
{
    if (!template_stage(box, runtime))
        return false;
    const char *answer = template_start(box, options);
    bool ready = answer && strncmp(answer, "{\"type\":\"ready\"", 15) == 0;
    if (!ready)
        printf("\n    %s\n", answer ? answer : "(nothing)");
    CU_ASSERT(ready);
    return ready;
}

void template_close(struct template_box *box)
{
    char path[128];

    if (box->peer.directory[0]) {
        snprintf(path, sizeof path, "%s/ipc.sock", box->peer.directory);
        unlink(path);
        laz_os_remove_tree(box->peer.directory);
    }
    peer_close(&box->peer);
    if (box->stage[0])
        laz_os_remove_tree(box->stage);
    *box = (struct template_box){.peer = {.pid = -1, .fd = -1, .out = -1}};
}

static pid_t template_only_child(pid_t pid)
{
    char path[64], text[64] = "";

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    return n ? (pid_t)strtol(text, NULL, 10) : -1;
}

/* bwrap, its first process in the box, and the agent. */
pid_t template_pid(const struct template_box *box)
{
    return template_only_child(template_only_child(box->peer.pid));
}

pid_t template_vessel(const struct template_box *box)
{
    return template_only_child(template_pid(box));
}

pid_t template_waiting(const struct template_box *box)
{
    return template_only_child(template_vessel(box));
}

long template_status(pid_t pid, const char *key)
{
    char path[48], line[256];
    long value = -1;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return value;
}

/* The last step is the second part of the filter (Seccomp_filters: Linux 5.9). */
static bool template_is_confined(const struct template_box *box, pid_t pid)
{
#ifdef LAZ_TEST_FILTER
    const long filters = template_status(template_pid(box), "Seccomp_filters:");

    if (filters >= 0)
        return template_status(pid, "Seccomp_filters:") == filters + 1;
#endif
    (void)box;
    return template_status(pid, "CapEff:") == 0;
}

pid_t template_await_waiting(const struct template_box *box)
{
    const struct timespec moment = {0, 2000000};
    pid_t pid;

    while ((pid = template_waiting(box)) < 0 || !template_is_confined(box, pid))
        nanosleep(&moment, NULL);
    return pid;
}

/* ---- sessions ------------------------------------------------------------------------------- */

bool template_send(struct template_box *box, const char *line, const int *fds, size_t n)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec part = {(void *)(uintptr_t)line, strlen(line)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = CMSG_SPACE(n * sizeof(int))};

    memset(&control, 0, sizeof control);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(head), fds, n * sizeof(int));
    return sendmsg(box->peer.fd, &message, MSG_NOSIGNAL) == (ssize_t)part.iov_len;
}

static bool template_send_spawn(struct template_box *box, const char *token, const int fds[4],
                                const char *more)
{
    char line[256];

    snprintf(line, sizeof line, "{\"type\":\"spawn\",\"id\":%d,\"token\":\"%s\"%s}\n%s",
             ++box->last_id, token, template_spawn_adds ? ",\"adds\":true" : "", more);
    return template_send(box, line, fds, 4);
}

int template_ask(struct template_box *box, struct template_session *session)
{
    return template_ask_and_say(box, session, "");
}

int template_ask_and_say(struct template_box *box, struct template_session *session,
                         const char *more)
{
    int channel[2], out[2], errs[2], status[2], on = 1;
    struct timeval wait = {PEER_WAIT_MS / 1000, 0};

    *session = (struct template_session){
        .peer = {.pid = -1, .fd = -1, .out = -1}, .err = -1, .status = -1, .pidfd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) || pipe2(out, O_CLOEXEC) ||
        pipe2(errs, O_CLOEXEC) || pipe2(status, O_CLOEXEC) ||
        laz_random_name(session->token, LAZ_TOKEN_LEN, NULL))
        return -1;
    setsockopt(channel[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    setsockopt(channel[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(channel[0], SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    bool sent = template_send_spawn(box, session->token,
                                    (const int[]){channel[1], out[1], errs[1], status[1]}, more);
    close(channel[1]);
    close(out[1]);
    close(errs[1]);
    close(status[1]);
    session->peer.fd = channel[0];
    session->peer.out = out[0];
    session->err = errs[0];
    session->status = status[0];
    return sent ? box->last_id : -1;
}

bool template_met(struct template_session *session)
{
    char text[LAZ_TOKEN_LEN + 2] = "";
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {text, LAZ_TOKEN_LEN + 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct ucred who = {0};

    ssize_t got = recvmsg(session->peer.fd, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS)
        memcpy(&who, CMSG_DATA(head), sizeof who);
    session->peer.pid = -1;
    session->uid = who.uid;
    if (who.pid > 0)
        session->pidfd = (int)syscall(SYS_pidfd_open, who.pid, 0);
    bool right = got == LAZ_TOKEN_LEN + 1 && text[LAZ_TOKEN_LEN] == '\n' &&
                 memcmp(text, session->token, LAZ_TOKEN_LEN) == 0;
    CU_ASSERT(right);
    CU_ASSERT(who.uid == template_uid());
    CU_ASSERT(session->pidfd >= 0);
    if (session->pidfd >= 0)
        session->peer.pid = who.pid;
    return right && session->pidfd >= 0;
}

const char *template_init(struct template_session *session, const char *confine, const char *tools)
{
    if (template_confine && strcmp(confine, template_confine) == 0)
        peer_send(&session->peer, "{\"type\":\"init\",\"protocol\":1,\"same\":true}");
    else
        peer_send(&session->peer,
                  "{\"type\":\"init\",\"protocol\":1,\"options\":{},\"confine\":%s,\"tools\":[%s]}",
                  confine, tools);
    return peer_line(&session->peer);
}

bool template_session_open(struct template_box *box, struct template_session *session,
                           const char *confine)
{
    const char *line;

    if (template_ask(box, session) < 0 || !(line = peer_line(&box->peer)) ||
        !strstr(line, "\"value\":{\"pid\":")) {
        CU_FAIL("no session was made");
        return false;
    }
    if (!template_met(session))
        return false;
    line = template_init(session, confine, "");
    bool ready = line && strncmp(line, "{\"type\":\"ready\"", 15) == 0;
    if (!ready)
        printf("\n    %s\n", line ? line : "(nothing)");
    CU_ASSERT(ready);
    return ready;
}

void template_session_close(struct template_session *session)
{
    int *fds[] = {&session->err, &session->status};

    if (session->pidfd >= 0) {
        struct pollfd ended = {session->pidfd, POLLIN, 0};
        syscall(SYS_pidfd_send_signal, session->pidfd, SIGKILL, NULL, 0);
        CU_ASSERT(poll(&ended, 1, PEER_WAIT_MS) == 1);
        close(session->pidfd);
    }
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        laz_os_close(fds[i]);
    session->peer.pid = -1; /* it is the template's child */
    session->pidfd = -1;
    peer_close(&session->peer);
}

const char *template_run(struct template_session *session, const char *code)
{
    static char values[4][8192];
    static unsigned next;
    char *value = values[next++ % 4];
    struct laz_buf quoted = LAZ_BUF_INIT;
    const char *raw;
    size_t len;

    laz_json_quote(&quoted, code, strlen(code));
    peer_send(&session->peer, "{\"type\":\"execute\",\"id\":1,\"code\":%s,\"print\":false}",
              laz_buf_text(&quoted));
    laz_buf_fini(&quoted);
    const char *line = peer_line(&session->peer);
    if (line && strstr(line, "\"type\":\"result\"") &&
        laz_json_member(line, strlen(line), "value", &raw, &len))
        snprintf(value, sizeof values[0], "%.*s", (int)len, raw);
    else
        snprintf(value, sizeof values[0], "%s", line ? line : "(nothing)");
    return value;
}

const char *template_ended(struct template_session *session)
{
    static char line[64];
    struct pollfd ready = {session->status, POLLIN, 0}, ended = {session->pidfd, POLLIN, 0};

    line[0] = '\0';
    ssize_t n =
        poll(&ready, 1, PEER_WAIT_MS) == 1 ? read(session->status, line, sizeof line - 1) : 0;
    line[n > 0 ? n : 0] = '\0';
    CU_ASSERT(poll(&ended, 1, PEER_WAIT_MS) == 1);
    line[strcspn(line, "\n")] = '\0';
    return line;
}
