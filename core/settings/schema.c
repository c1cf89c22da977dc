/* SPDX-License-Identifier: MIT */
/* schema.c - the table of all keys of the configuration.
 *
 * One row a key: its type, default, range and meaning; those of [limits] come from base/limits.h.
 * Reading, checking, `lazaret config` and docs/configuration.md are made from it.  A new key is a
 * row here and a field in settings.h. */
#include "settings/schema.h"

#include "base/enforce.h"
#include "base/limits.h"
#include "base/nearest.h"

#include <stddef.h>
#include <string.h>

#define FIELD(member) offsetof(struct laz_settings_values, member)
#define KIB           ((uint64_t)1 << 10)
#define GIB           ((uint64_t)1 << 30)
#define TIB           ((uint64_t)1 << 40)
#define SECONDS       ((uint64_t)1000)
#define DAYS          (86400 * SECONDS)
#define ANY_COUNT     .max = (uint64_t)1 << 53

const struct schema_section laz_schema_sections[] = {
    {"session", "What a session runs and how much of it. In counts, sizes and times, 0 means no "
                "limit unless the range says otherwise."},
    {"sandbox", "The box around a session. A table below it, `[sandbox.NAME]`, holds the options "
                "of the backend NAME; `lazaret plugins NAME` lists them."},
    {"limits", "What a sandboxed session may use up. `\"unlimited\"` removes a limit."},
    {"env", "The environment variables that code in the box sees. Beyond these it gets a fixed, "
            "small set without secrets: the language, the time zone, a search path and a home "
            "directory of its own."},
    {"network", "What code can reach by the network: what is listed, and nothing else. See "
                "`network.md`."},
    {"secrets",
     "Where the host reads secrets that code never sees, by a name of letters, digits, `_` and "
     "`-`: "
     "`github = { file = \"/etc/lazaret/github\" }`, `{ env = \"GITHUB_TOKEN\" }` (a variable of "
     "the host, which `env.allow` may not pass on), or `{ command = [\"/usr/bin/pass\", \"show\", "
     "\"github\"] }`, whose output it is. A credential of the network names one "
     "(`secret = \"github\"`), and the providers `command` and `mcp` have `{secret.github}` in "
     "`env` and `headers`. No value is ever shown; see `credentials.md`."},
    {"audit", "A log of what was executed and which tools were called. Changes to it can be "
              "detected: see `audit.md`."},
    {"pool", "Sessions that are kept ready."},
    {"runtime", "Options of a runtime, in a table of its own: `[runtime.r]`. `lazaret plugins r` "
                "lists them."},
    {"artifacts", "What code leaves in `artifacts/`, and large results; see `files.md`."},
    {"mcp", "The MCP server, `lazaret mcp`; see `mcp.md`."},
    {"serve", "Clients of other machines, `lazaret serve --listen tls://ADDRESS:PORT`; see "
              "`remote.md`. Limits hold for each identity; a token can narrow them."},
    {"cluster",
     "Sessions on many machines: `lazaret worker` gives places, `lazaret connect cluster` "
     "uses one; see `scale.md`. A table below it, `[cluster.NAME]`, holds the options of "
     "the carrier NAME; `lazaret plugins NAME` lists them."},
    {"telemetry", "What is shown to those who watch lazaret: counters, health and traces; see "
                  "`telemetry.md`."},
    {"workers", "Threads for tools and hooks."},
    {"plugins", "Where lazaret looks for plugins."},
    {"tools", "Tools that code may call. See [Declaring tools](#declaring-tools)."},
    {"approve", "Calls of tools that wait for a yes of the host. See [Approvals](#approvals)."},
    {NULL, NULL},
};

#define SCHEMA_WORD(bit, word) "`" word "`"

/* A row: key, kind, field, default in TOML notation, and members of struct schema_key. */
#define KEY(name, of_kind, field, text, ...)                                                       \
    {                                                                                              \
        .key = name, .kind = SCHEMA_##of_kind, .offset = FIELD(field), .default_value = text,      \
        __VA_ARGS__                                                                                \
    }

#define SCHEMA_LIMIT(ID, name, field, kind_of, text, number, min_of, max_of, bit, verdict, by,     \
                     what)                                                                         \
    KEY("limits." name, LIMIT_##kind_of, limits.field, text, .min = min_of, .max = max_of,         \
        .help = what),

/* The language of a session that names none: said here and nowhere else. */
#define SCHEMA_RUNTIME "python"

const char *laz_settings_runtime(const struct laz_settings_values *values)
{
    return values->session.runtime ? values->session.runtime : SCHEMA_RUNTIME;
}

/* What git, shells, editors and agents run or obey without a question when somebody works in a
 * directory. A file commondir makes git take hooks and configuration from anywhere. */
#define SCHEMA_PROTECT                                                                             \
    "[\".git/hooks\", \".git/config\", \".git/config.worktree\", \".git/commondir\", "             \
    "\".gitmodules\", \".envrc\", \".vscode\", \".idea\", \".mcp.json\", \".claude\", "            \
    "\".bashrc\", "                                                                                \
    "\".bash_profile\", \".bash_login\", \".bash_logout\", \".profile\", \".zshrc\", "             \
    "\".zshenv\", \".zprofile\", \".zlogin\", \".zlogout\"]"

const struct schema_key laz_schema[] = {
    KEY("session.runtime", NAME, session.runtime, "\"" SCHEMA_RUNTIME "\"",
        .help = "The language: `python`, `r`, `javascript`, `lua`, or any other runtime that is "
                "installed. "
                "If it is not set, `lazaret run FILE` chooses by the suffix of the file; and code "
                "that names none is of the default if that works here, else of the first other "
                "language that does, by name, which a warning says."),
    KEY("session.dialect", NAME, session.dialect, "\"\"",
        .help =
            "The names and forms that code finds besides those of its language, as models write "
            "them for another host. JavaScript has `codemode` (the tools are functions of "
            "`codemode`, and a program that is one function is called) and `ai-sdk`; in both, "
            "a tool takes one object of named arguments. `\"\"`: those of lazaret. A session of "
            "a runtime without that dialect is refused; where several languages are in use, "
            "`dialect` in the table of a runtime is for that one alone."),
    KEY("session.where", WHERE, session.where, "\"here\"",
        .help =
            "`\"here\"`: sessions are boxes of this machine. `\"cluster\"`: each is a place of a "
            "worker of `[cluster]` (`scale.md`), with the same calls: tools, their approvals, "
            "clocks and the audit log stay on this machine; the sandbox, limits of resources "
            "and what code may read are those of the worker's configuration. `\"worker\"`: here, "
            "for callers elsewhere; `lazaret worker` sets it."),
    KEY("session.directory", FILE, session.directory, "\"\"",
        .help =
            "Where code begins: a directory that `sandbox.read` or `sandbox.write` shows. `\"\"`: "
            "a directory of the session's own."),
    KEY("session.timeout", TIME, session.timeout_ms, "30", .max = 366 * DAYS,
        .help = "Wall clock time of the code in one execution. The clock stops while a tool call "
                "or a decision of the host is awaited."),
    KEY("session.deadline", TIME, session.deadline_ms, "300", .max = 366 * DAYS,
        .help = "Wall clock time of one execution as a whole, tools included; only the wait for an "
                "approval is not."),
    KEY("session.approval_timeout", TIME, session.approval_timeout_ms, "3600", .max = 30 * DAYS,
        .help =
            "Time that a tool call waits for an approval; then it is refused. Meanwhile neither "
            "`timeout` nor `deadline` runs. See [Approvals](#approvals)."),
    KEY("session.start_timeout", TIME, session.start_timeout_ms, "20", .min = 100, .max = 1 * DAYS,
        .help = "Time from the start of the child process until its interpreter is ready."),
    KEY("session.interrupt_grace", TIME, session.interrupt_grace_ms, "1", .max = 60000,
        .help =
            "Time that code gets to end when `timeout`, `deadline` or a cancellation interrupts "
            "it: its handlers run, and the session is kept with all its variables. After it, "
            "and at once in sessions of one execution, the session is killed. 0: always."),
    KEY("session.max_executions", COUNT, session.max_executions, "0", ANY_COUNT,
        .help = "Number of executions of a session; further ones are blocked."),
    KEY("session.max_tool_calls", COUNT, session.max_tool_calls, "0", ANY_COUNT,
        .help = "Number of tool calls in one execution; one more ends the execution."),
    KEY("session.max_code_length", COUNT, session.max_code_length, "100000", ANY_COUNT,
        .help = "Length in characters of the code of one execution; longer code is blocked."),
    KEY("session.max_output_lines", COUNT, session.max_output_lines, "0", ANY_COUNT,
        .help = "Lines of output of one execution that are kept; the rest is discarded, and the "
                "result says so."),
    KEY("session.max_output_size", SIZE, session.max_output_size, "\"8MiB\"", .max = TIB,
        .help = "Size of the output of one execution that is kept; the rest is discarded, and the "
                "result says so. Code that writes 64 times as much is ended."),
    KEY("session.max_message_size", SIZE, session.max_message_size, "\"1MiB\"", .min = 4 * KIB,
        .max = 1 * GIB,
        .help = "Size of a message from the sandbox: the arguments of a tool call, or a result. A "
                "larger result comes in several, up to `artifacts.max_size`. It is checked at "
                "once: each MiB "
                "can hold up the other sessions of its engine for 20 ms."),
    KEY("session.max_value_size", SIZE, session.max_value_size, "\"64MiB\"", .min = 4 * KIB,
        .max = 1 * GIB,
        .help = "Size of a message into the sandbox: code, or the value that a tool returns."),
    KEY("session.validate", BOOLEAN, session.validate, "true",
        .help =
            "Check the code before it runs: its syntax, and patterns that are worth a warning."),
    KEY("session.sanitize_errors", BOOLEAN, session.sanitize_errors, "false",
        .help = "Remove paths, host names and process ids from the messages of failing tools "
                "before the code sees them, and from the error and the traceback of a result."),
    KEY("session.verbose", BOOLEAN, session.verbose, "false",
        .help = "Log what happens as it happens."),
    KEY("session.pre_execute_hook", STRINGS, session.pre_execute_hook, "[]",
        .help = "A command of the host that is run before each execution: it gets the code on "
                "standard input. Exit status 0 allows the execution; any other status blocks it, "
                "with the first line of its standard error as the reason. Empty: no command. No "
                "other user may be able to write the program."),
    KEY("sandbox.backend", NAMES, sandbox.backend, "\"auto\"",
        .help =
            "The backend that makes the box: a name, or a list of names, of which the first that "
            "works is used. `\"auto\"` is the list for this system, on Linux `bwrap`, then "
            "`landlock`; on macOS `seatbelt`; on Windows `windows-job`, which limits and does "
            "not isolate. The list has installed backends only; one in a directory of "
            "`plugins.path` must be named. `\"none\"` is not a sandbox at all and, as "
            "`windows-job`, "
            "needs "
            "`require = []`. See [Without namespaces](sandbox.md#without-namespaces) and "
            "`platforms.md` in the sources."),
    KEY("sandbox.strict", BOOLEAN, sandbox.strict, "true",
        .help = "With `false`, a session for which no backend works starts without a sandbox, "
                "after a warning. Do not change it unless the code is your own."),
    KEY("sandbox.require", ENFORCE, sandbox.require, "[\"fs_read\", \"fs_write\", \"network\"]",
        .help = "What the backend must enforce, or the session is refused: " LAZ_ENFORCE_WORDS(
            SCHEMA_WORD, ", ") "."),
    KEY("sandbox.uids", UIDS, sandbox.uids, "\"auto\"",
        .help = "When lazaret is started by root: the range, `\"FIRST-LAST\"`, from which each "
                "session gets a user id of its own. Nothing else may use these ids: remaining "
                "processes of a session are killed by its user id."),
    KEY("sandbox.ask_systemd", BOOLEAN, sandbox.ask_systemd, "true",
        .help = "When an ordinary user has no control groups otherwise: ask the user's systemd for "
                "some, once, with `systemd-run --user --scope`, so that the limits of a session "
                "hold for all of its processes together. With `false`, or where nothing comes of "
                "it, they are watched. See "
                "[Limits of a whole session](deployment.md#limits-of-a-whole-session)."),
    KEY("sandbox.programs", PROGRAMS, sandbox.programs, "\"default\"",
        .help = "Programs that may be executed inside: `\"default\"` (helpers of the runtime and a "
                "few POSIX tools), a list of names and absolute paths, in which `\"default\"` "
                "stands for those, or `\"any\"` program of the host. A directory stands for all "
                "programs in it. See "
                "[Programs](sandbox.md#programs)."),
    KEY("sandbox.read", PATHS, sandbox.read, "[]",
        .help = "Files and directories of the host that code can read."),
    KEY("sandbox.write", PATHS, sandbox.write, "[]",
        .help = "Files and directories of the host that code can read and write. A template cannot "
                "see them: see [sessions from a template]"
                "(sandbox.md#sessions-from-a-template)."),
    KEY("sandbox.protect", BELOW, sandbox.protect, SCHEMA_PROTECT,
        .help = "Paths below each directory of `sandbox.write` that code cannot change, and cannot "
                "make where they are missing: what programs of the host would run, or obey, later. "
                "`[]`: none. See [What stays read-only](sandbox.md#what-stays-read-only)."),
    KEY("sandbox.tmp_size", SIZE, sandbox.tmp_size, "\"64MiB\"", .min = 64 * KIB, .max = TIB,
        .help = "Space for temporary files, if the backend gives the session a file system of its "
                "own."),
    KEY("sandbox.tty", BOOLEAN, sandbox.tty, "false",
        .help = "Give sessions pseudo-terminals (Python's `pty`, `script`). The machine has a "
                "fixed number of them (`kernel.pty.max`): a session from a template gets 16, and "
                "nothing bounds those of a cold one. The backend `landlock` refuses it for an "
                "ordinary user, whose own terminals the code could open; `seatbelt` gives none."),
    LAZ_LIMITS(SCHEMA_LIMIT)
        KEY("env.allow", VARIABLES, env.allow, "[]",
            .help = "Names of variables that are passed on with their values on the host."),
    KEY("env.set", ENVIRONMENT, env.set, "{}", .is_secret = true,
        .help = "Variables with a fixed value: `set = { MODE = \"test\" }`. The values are secret: "
                "nothing that lazaret shows has them."),
    KEY("network.allow", RULES, network.allow, "[]",
        .help = "Names and addresses that code can connect to: `\"https://api.example.com\"`, "
                "`\"db.example.com:5432\"` (no port: 443), `\"*.data.example.org:443\"`, "
                "`\"10.0.0.5:5432\"`, `\"*:443\"`, or a table: `{ host = \"db.internal:5432\", "
                "to = [\"10.0.0.0/8\"] }`, `{ name = \"db.lazaret:5432\", unix = "
                "\"/run/postgresql/.s.PGSQL.5432\" }`."),
    KEY("network.ports", PORTS, network.ports, "[]",
        .help = "Further ports that a list may name which a session gets later: nothing can be "
                "reached on another port than these and those of the list that it begins with."),
    KEY("network.hosts", HOSTS, network.hosts, "{}",
        .help = "Addresses of names, before any lookup: `hosts = { \"db.internal\" = "
                "\"10.0.0.5\" }`."),
    KEY("network.resolver", ADDRESS, network.resolver, "\"\"",
        .help = "The DNS server that is asked for listed names, by the host: `\"10.0.0.53\"`, "
                "`\"10.0.0.53:5353\"`. `\"\"`: those of the system."),
    KEY("network.deny_private", BOOLEAN, network.deny_private, "true",
        .help = "Listed names that have a private address cannot be reached there, unless the rule "
                "names it (`to`). Loopback, link-local and metadata addresses have to be named in "
                "any case."),
    KEY("network.max_connections", COUNT, network.max_connections, "64", .min = 1, .max = 4096,
        .help = "Connections of a session at a time; further ones wait until one is closed."),
    KEY("network.max_bytes", SIZE, network.max_bytes, "\"1GiB\"", .max = TIB,
        .help = "Bytes each way, in the life of a session's box; 0: no limit."),
    KEY("network.host.ports", PORTS, network.host_ports, "[]",
        .help = "Services of the host's loopback that code can reach as `host.lazaret:PORT`, which "
                "a list of a session has to name as well."),
    KEY("network.credential", CREDENTIALS, network.credentials, "[]",
        .help = "Tables `[[network.credential]]`: as whom the host speaks for the code. `host` (of "
                "https), what is sent (`header`, `basic` or `query`), `secret` (a name of "
                "`[secrets]`, or where it is read), `methods`, `paths`, `only`, `placeholder`, "
                "`ca`, `echo`, `name`. It does not allow the host: `allow` does. See "
                "`credentials.md`."),
    KEY("artifacts.max_files", COUNT, artifacts.max_files, "32", .max = 10000,
        .help = "Number of files of one execution that are taken from `artifacts/`; 0: none, and "
                "code finds no such directory. See `files.md`."),
    KEY("artifacts.max_size", SIZE, artifacts.max_size, "\"32MiB\"", .max = 1 * GIB,
        .help = "Size of these files together. A value that is larger than "
                "`session.max_message_size` arrives up to this size, too."),
    KEY("artifacts.collect", COLLECT, artifacts.collect, "\"auto\"",
        .help =
            "`\"artifacts\"`: what is saved below `artifacts/` comes out. `\"cwd\"`: so do files "
            "at the top of the working directory that the sandbox gives the code, but not "
            "hidden ones, and not those that the host has put there. `\"auto\"`: as `\"cwd\"` for "
            "`lazaret run --artifacts` and for `lazaret mcp`, otherwise as `\"artifacts\"`."),
    KEY("audit.file", FILE, audit.file, "\"\"",
        .help = "The file to which the log is appended, one JSON object a line; see `audit.md`. It "
                "and its directories are made if they are missing, and no other user may be able "
                "to write them. Empty: no log."),
    KEY("audit.on_error", REFUSE, audit.refuse, "\"refuse\"",
        .help = "What happens when the log cannot be written (a full disk). `\"refuse\"`: no "
                "session is opened, no code executed and no tool called without a record. "
                "`\"warn\"`: there is a warning, and the log says how many records are missing as "
                "soon as it can be written again."),
    KEY("audit.sync", BOOLEAN, audit.sync, "false",
        .help = "Wait for the disk after each record, so that no record is lost in a power "
                "failure; each record then takes milliseconds. Even without it, no record is lost "
                "when the process ends."),
    KEY("pool.size", COUNT, pool.size, "4", .min = 1, .max = 100,
        .help = "Number of sessions of a pool."),
    KEY("pool.warm", WARM, pool.warm, "\"auto\"",
        .help = "How the sessions start. `\"template\"`: in milliseconds, from a process inside "
                "the box that has loaded the language and runs no code itself; if that does not "
                "work, it is an error. `\"cold\"`: each in a box of its own. `\"auto\"`: from a "
                "template if that works, otherwise cold."),
    KEY("pool.reset", BOOLEAN, pool.reset, "true",
        .help = "A fresh session for each use: no caller finds what another one left behind."),
    KEY("pool.preload", STRINGS, pool.preload, "[]",
        .help = "Packages that a template loads in advance, by their names in the language; not "
                "from a directory of `sandbox.write`, which is empty for a template. One that "
                "cannot be loaded is an error, also with `warm = \"auto\"`. "
                "`\"python:numpy\"` is for that language alone, where an engine has several."),
    KEY("pool.max_sessions", COUNT, pool.max_sessions, "100", ANY_COUNT,
        .help =
            "Number of sessions of all pools of an engine, or of a group of engines, together."),
    KEY("pool.max_waiting", COUNT, pool.max_waiting, "1000", ANY_COUNT,
        .help = "Number of callers that may wait for a session of a pool; one more is refused at "
                "once."),
    KEY("pool.renew_after", COUNT, pool.renew_after, "1000", ANY_COUNT,
        .help = "Number of sessions after which a template is replaced. Sessions of one template "
                "share what only a new process changes, such as the memory layout and Python's "
                "hash secret. 0: never."),
    KEY("mcp.session_timeout", TIME, mcp.session_timeout_ms, "1800", .max = 365 * DAYS,
        .help = "Time after which a session that a client has opened, and does not use, is "
                "closed; 0: never."),
    KEY("mcp.structured", BOOLEAN, mcp.structured, "false",
        .help = "Results as objects as well (`structuredContent`), with schemas, for programs. "
                "Clients of models leave out text and pictures where they find an object."),
    KEY("mcp.description_size", COUNT, mcp.description_size, "2000", .max = 100000,
        .help =
            "Bytes of the description of `execute`, which has the signatures of the functions of "
            "the host, as many as fit; `search_tools` finds the others. Some clients cut off "
            "what is longer than two kilobytes."),
    KEY("serve.certificate", FILE, serve.certificate, "\"\"",
        .help = "The certificate of the server in PEM, with those between it and its authority."),
    KEY("serve.key", FILE, serve.key, "\"\"",
        .help = "Its private key in PEM. Nobody but its owner may be able to read the file."),
    KEY("serve.clients", FILE, serve.clients, "\"\"",
        .help = "Certificates of the authorities whose clients may connect: the common name of a "
                "client's certificate is its identity. Empty: no certificates are asked for."),
    KEY("serve.revoked", FILE, serve.revoked, "\"\"",
        .help = "A list of certificates of these authorities that are not valid any more, in PEM."),
    KEY("serve.token_keys", FILE, serve.token_keys, "\"\"",
        .help = "Public keys in PEM, at most 8: who has a token that one of them has signed "
                "(`lazaret token`) may connect until it expires. Empty: no tokens are taken."),
    KEY("serve.audience", NAME, serve.audience, "\"lazaret\"",
        .help = "What this server is called in tokens that are for certain servers only."),
    KEY("serve.max_clients", COUNT, serve.max_clients, "1024", .min = 1, .max = 65536,
        .help = "Number of connections of all identities together."),
    KEY("serve.max_connections", COUNT, serve.max_connections, "64", ANY_COUNT,
        .help = "Number of connections of an identity; 0: as many as there are."),
    KEY("serve.max_sessions", COUNT, serve.max_sessions, "100", ANY_COUNT,
        .help = "Number of sessions of an identity, in all of its connections; 0: no limit but "
                "`pool.max_sessions`, which is for each connection."),
    KEY("serve.cpu", COUNT, serve.cpu_s, "0", ANY_COUNT,
        .help = "Seconds of CPU time that the executions of an identity may use in a minute, on "
                "the average: 60 is one processor. Further ones are refused until it is paid "
                "off; 0: no limit."),
    KEY("serve.bytes", SIZE, serve.bytes, "0", .max = TIB,
        .help = "Bytes that an identity may send and get in a minute, on the average; then its "
                "connections wait. 0: no limit."),
    KEY("serve.requests", COUNT, serve.requests, "0", ANY_COUNT,
        .help = "Requests of an identity in a minute, on the average; further ones are refused. "
                "0: no limit."),
    KEY("serve.handshake_timeout", TIME, serve.handshake_timeout_ms, "10", .min = 100,
        .max = 600 * SECONDS, .help = "Time in which a connection has to show who it is."),
    KEY("serve.approvals", BOOLEAN, serve.approvals, "false",
        .help = "May clients of other machines decide on calls of this server's tools that need an "
                "approval? On those of their own tools they always do."),
    KEY("cluster.carrier", NAME, cluster.carrier, "\"nats\"",
        .help = "What takes messages between callers and workers: the name of a carrier."),
    KEY("cluster.pool", NAME, cluster.pool, "\"default\"",
        .help = "Of which pool a worker gives places, and a caller takes one."),
    KEY("cluster.places", COUNT, cluster.places, "100", .min = 1, .max = 100000,
        .help = "Callers that a worker has at a time; a full one is asked for nothing. What each "
                "of them may use is said by `[serve]`, and by its token."),
    KEY("cluster.caller", NAME, cluster.caller, "\"\"",
        .help = "The name of a caller on the bus, below which it gets its messages: what its "
                "account lets it listen to. `\"\"`: a random one."),
    KEY("cluster.token", FILE, cluster.token, "\"\"",
        .help = "The file with the token of a caller, which a worker asks for if its "
                "`serve.token_keys` names keys."),
    KEY("cluster.tenant", NAME, cluster.tenant, "\"\"",
        .help = "Whose callers a worker takes, by the names in their tokens before the first "
                "point: `acme` for `acme.alice`. `\"\"`: anybody's, which needs a backend with "
                "namespaces (`bwrap`): no other one is taken then."),
    KEY("cluster.open_timeout", TIME, cluster.open_timeout_ms, "30", .min = 100, .max = 1 * DAYS,
        .help = "Time in which a caller has to find a place."),
    KEY("cluster.drain_timeout", TIME, cluster.drain_timeout_ms, "0", .max = 7 * DAYS,
        .help =
            "For how long a worker that is told to end (SIGTERM) waits for its callers to leave, "
            "and gives no place any more. 0: it ends at once."),
    KEY("telemetry.listen", LISTEN, telemetry.listen, "\"\"",
        .help =
            "Where `lazaret serve` and `lazaret mcp` answer `GET /metrics` and `/healthz`: a "
            "port of this machine (`\"9464\"`: of 127.0.0.1), or an address and a port. Whoever "
            "reaches an address reads it. `\"\"`: nowhere."),
    KEY("telemetry.endpoint", URL, telemetry.endpoint, "\"\"",
        .help =
            "Where traces are sent by OTLP over HTTP: `\"http://127.0.0.1:4318\"`; `/v1/traces` "
            "is put behind it. `\"\"`: they are not."),
    KEY("telemetry.headers", HEADERS, telemetry.headers, "{}", .is_secret = true,
        .help = "Headers of each request to `endpoint`, with their values, such as a token. Values "
                "are secret."),
    KEY("telemetry.service", TEXT, telemetry.service, "\"lazaret\"",
        .help = "The name of this service in traces (`service.name`)."),
    KEY("workers.max", COUNT, workers.max, "64", .min = 1, .max = 1024,
        .help = "Threads of an engine, or of a group of engines, for tools that may block "
                "(`command`, those of the "
                "application) and for hooks: so many run at the same time, further calls wait. A "
                "thread is started when it is needed. A tool of the application that answers "
                "later (`laz_reply_keep`) occupies none meanwhile."),
    KEY("plugins.path", PATHS, plugins.path, "[]",
        .help = "Directories that are searched before the installed one. No other user may be able "
                "to write them, the plugins in them, or a directory above."),
    {.key = NULL},
};

const struct schema_key laz_schema_secrets =
    KEY("secrets", SECRETS, secrets, "{}", .help = "Where secrets are read, by name.");

size_t laz_schema_count(void)
{
    return sizeof laz_schema / sizeof laz_schema[0] - 1;
}

const struct schema_key *laz_schema_find(const char *section, const char *key, size_t len)
{
    size_t prefix = strlen(section);

    for (const struct schema_key *row = laz_schema; row->key; row++)
        if (strncmp(row->key, section, prefix) == 0 && row->key[prefix] == '.' &&
            strlen(row->key + prefix + 1) == len && !memchr(key, '.', len) &&
            memcmp(row->key + prefix + 1, key, len) == 0)
            return row;
    return NULL;
}

bool laz_schema_has_table(const char *section, const char *key)
{
    const size_t prefix = strlen(section), len = strlen(key);

    for (const struct schema_key *row = laz_schema; row->key; row++)
        if (strncmp(row->key, section, prefix) == 0 && row->key[prefix] == '.' &&
            strncmp(row->key + prefix + 1, key, len) == 0 && row->key[prefix + 1 + len] == '.')
            return true;
    return false;
}

const struct schema_section *laz_schema_section(const char *name, size_t len)
{
    for (const struct schema_section *row = laz_schema_sections; row->name; row++)
        if (strlen(row->name) == len && memcmp(row->name, name, len) == 0)
            return row;
    return NULL;
}

void laz_schema_suggest(struct laz_buf *buf, const char *section, const char *key)
{
    size_t prefix = strlen(section);
    const char *elsewhere = NULL;
    struct laz_nearest nearest;

    laz_nearest_init(&nearest, key);
    for (const struct schema_key *row = laz_schema; row->key; row++) {
        const char *last = strrchr(row->key, '.') + 1;
        if (prefix && strncmp(row->key, section, prefix) == 0 && row->key[prefix] == '.')
            laz_nearest_try(&nearest, last);
        else if (strcmp(last, key) == 0)
            elsewhere = row->key;
    }
    for (const struct schema_section *row = laz_schema_sections; !prefix && row->name; row++)
        laz_nearest_try(&nearest, row->name);
    const char *best = laz_nearest_best(&nearest);
    if (best)
        laz_buf_printf(buf, "; did you mean %s%s%s?", section, prefix ? "." : "", best);
    else if (elsewhere)
        laz_buf_printf(buf, "; did you mean %s?", elsewhere);
    for (const struct schema_key *row = laz_schema; row->key && !best && !elsewhere; row++)
        if (prefix && row->kind == SCHEMA_ENVIRONMENT && strncmp(row->key, section, prefix) == 0)
            laz_buf_printf(buf, "; %s sets a variable", row->key);
}
