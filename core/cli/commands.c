/* SPDX-License-Identifier: MIT */
/* commands.c - the table of subcommands.
 *
 * It also has the subcommands reserved for later versions, so that they are reported as not
 * available yet and not as unknown. */
#include "cli/cli.h"

#include <limits.h>

const struct cli_command cli_commands[] = {
    {
        .name = "run",
        .bit = CLI_FOR_RUN,
        .operands = "[FILE | - | -- CMD] [ARGS...]",
        .max_operands = INT_MAX,
        .summary = "run code, or a program, in a fresh sandboxed session",
        .text =
            "Runs a file, standard input (-) or the argument of -e, once. The suffix of a file "
            "decides\nthe runtime, else --runtime or the configuration. From the file on all "
            "arguments are the code's;\noptions stand before it. Standard input reaches the "
            "code, and output comes as the code writes it.\nA file finds the modules beside it; "
            "--read shows it anything else. It shows what its interpreter\n"
            "shows for one; of - and -e the value of the last expression\nis printed as the "
            "prompt of the language would print it.\nBehind -- stand a program and its arguments: "
            "it has "
            "the streams of this command, and with\na terminal one of its own; its exit status is "
            "passed on, and 125 is a failure of lazaret's.",
        .run = cli_execute,
    },
    {
        .name = "check",
        .bit = CLI_FOR_CHECK,
        .operands = "[FILE | -]",
        .max_operands = 1,
        .summary = "look for syntax errors and suspicious calls; nothing is run",
        .text = "Reports a syntax error (exit status 1) and calls that the sandbox refuses.",
        .run = cli_execute,
    },
    {
        .name = "plugins",
        .bit = CLI_FOR_PLUGINS,
        .operands = "[NAME | new NAME]",
        .max_operands = 2,
        .summary = "list the installed plugins, describe one in full, or begin one",
        .text = "Backends, tool providers, runtimes and carriers: versions, options, and what a "
                "backend can enforce.\nWhat was found but cannot be used is listed with the "
                "reason. new "
                "writes a plugin that builds,\nof the kind that --kind says, into the directory "
                "NAME.",
        .run = cli_plugins,
    },
    {
        .name = "tools",
        .bit = CLI_FOR_TOOLS,
        .operands = "",
        .summary = "list the tools of the configuration, or the stubs a model is shown",
        .text = "Servers that have tools (the provider mcp) are started, asked, and ended.",
        .run = cli_tools,
    },
    {
        .name = "config",
        .bit = CLI_FOR_CONFIG,
        .operands = "",
        .summary = "show the settings in force and where each comes from",
        .text =
            "With --check all mistakes are printed that run would refuse, and nothing else: it "
            "does what run does\nwith these settings, up to the start of the code's process, "
            "and tries the backend;\na language is started to ask whether it can load the packages "
            "that are named.",
        .run = cli_config,
    },
    {
        .name = "plan",
        .bit = CLI_FOR_PLAN,
        .operands = "[FILE]",
        .max_operands = 1,
        .summary = "show the box that would be built around a session",
        .text = "Arguments, environment, files, limits, and what enforces what; of FILE, also the "
                "modules beside it that\nrun would show it. Backends are tried as by run, in boxes "
                "without code; with --backend or --platform\nnothing is started. Exit status 126 "
                "when the settings require what the backend cannot enforce.",
        .run = cli_plan,
    },
    {
        .name = "doctor",
        .bit = CLI_FOR_DOCTOR,
        .operands = "",
        .summary = "try every backend, limit and runtime; say what is in force",
        .text = "Starts real boxes and tries from inside what they have to refuse: to read, write, "
                "connect,\nsignal and exceed limits. An attempt counts only if it succeeds outside "
                "the box. What is\nnot in force is listed with a remedy. Exit status 1 when the "
                "backend that the settings choose\ndoes not keep what sandbox.require asks for. "
                "It takes 10 seconds at most.",
        .run = cli_doctor,
    },
    {.name = "repl", .operands = "", .summary = "a session to type into"},
    {
        .name = "serve",
        .bit = CLI_FOR_SERVE,
        .operands = "",
        .summary = "the engine for a host in any language",
        .text = "Speaks the host protocol, one JSON object a line, on standard input and output, "
                "until standard\ninput ends; with --listen for many clients of the same user at a "
                "Unix socket, or of other\nmachines at tls://ADDRESS:PORT (section [serve]), until "
                "it is "
                "signalled, and --engines for several threads that serve "
                "them. Clients open sessions,\nexecute code and answer the calls of their own "
                "tools.",
        .run = cli_serve,
    },
    {
        .name = "worker",
        .bit = CLI_FOR_WORKER,
        .operands = "",
        .summary = "give callers on a bus places of this machine",
        .text = "Serves as lazaret serve does, for callers that come by the carrier of section "
                "[cluster], until it is\nsignalled, or was told to drain and the last of them has "
                "left. With cluster.drain_timeout\nSIGTERM tells it to drain.",
        .run = cli_worker,
    },
    {
        .name = "connect",
        .bit = CLI_FOR_CONNECT,
        .operands = "tls://HOST[:PORT] | cluster",
        .max_operands = 1,
        .summary = "a server of another machine, as standard input and output",
        .text =
            "For clients that start lazaret serve: started with connect in its place, they "
            "have the server of\nanother machine. --token-file has a token of its operator, or "
            "--cert and --key a certificate; --ca\nnames the authorities that the server's "
            "certificate may be of, which otherwise are those of this\nsystem. cluster is a worker "
            "that has a place, by the carrier of section [cluster].",
        .run = cli_connect,
    },
    {
        .name = "token",
        .bit = CLI_FOR_TOKEN,
        .operands = "NAME | new-key FILE",
        .max_operands = 2,
        .summary = "let somebody use a server for a time: print a token",
        .text = "Prints a token by which its bearer is NAME to a server that knows the public key "
                "(serve.token_keys),\nuntil it expires; its limits narrow those of the server. "
                "new-key FILE makes the keys: FILE, with which\ntokens are signed, and FILE.pub "
                "for servers.",
        .run = cli_token,
    },
    {
        .name = "cluster",
        .bit = CLI_FOR_CLUSTER,
        .operands = "init DIR | status | drain WORKER | top",
        .max_operands = 2,
        .summary = "set up sessions on many machines, and see to them",
        .text = "init writes into DIR the configuration of a server of NATS (nats-server.conf), of "
                "workers, callers\nand operators who use it, with fresh passwords, and the keys of "
                "tokens. Each tenant has an\naccount of its own. Nothing is overwritten.\nstatus "
                "lists the workers that are there by the "
                "carrier of section [cluster], top goes on doing so.\ndrain has a worker give no "
                "place any more, and end when its last caller has left.",
        .run = cli_cluster,
    },
    {
        .name = "mcp",
        .bit = CLI_FOR_MCP,
        .operands = "[FILE]",
        .max_operands = 1,
        .summary = "an MCP server on standard input and output",
        .text =
            "Lets a model run code, through a client of the Model Context Protocol, which "
            "starts it: tools to\nexecute code, to open and close sessions, and to find the "
            "functions that the code can call.\nIt ends when standard input ends. With --install "
            "it "
            "becomes a server of a client: of the project in the\nworking directory (claude, "
            "vscode) or of this user (claude-desktop, codex, cursor), with the options\nof this "
            "command line. FILE is the client's configuration, if it is in another place.",
        .run = cli_mcp,
    },
    {
        .name = "audit",
        .bit = CLI_FOR_AUDIT,
        .operands = "[verify | show] FILE",
        .max_operands = 2,
        .summary = "verify an audit log, or show it",
        .text =
            "verify finds records that were removed, changed, moved or inserted, and prints the "
            "number and\nthe hash of the last one; with that hash --expect proves later that "
            "none is missing at the\nend. show prints a line for each record. FILE - is "
            "standard input. Exit status 1: not intact.",
        .run = cli_audit,
    },
    {
        .name = "version",
        .bit = CLI_FOR_VERSION,
        .operands = "",
        .summary = "print the version",
        .text = "",
        .run = cli_version,
    },
    {
        .name = "help",
        .bit = CLI_FOR_HELP,
        .operands = "[SUBCOMMAND]",
        .max_operands = 1,
        .summary = "print this help, or that of a subcommand",
        .text = "",
        .run = cli_help_about,
    },
    {.name = NULL},
};
