#!/bin/sh
# SPDX-License-Identifier: MIT
# wrong_configurations.sh - what `lazaret run` refuses, `lazaret config --check` says before.
#
# A row of the table is a configuration, with \n between its lines, and the beginning of the first
# message; one that begins with LINE:COLUMN stands behind the name of the file. For each row both
# commands fail with the same status, and all that run says is what config --check says first.
# No interpreter is started: nothing runs by what is refused.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/config-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
# A language without a runtime.
mkdir languages
echo '{"kind": "language", "abi": "1.0", "name": "ruby"}' >languages/ruby.language.json
plugins=$LAZARET_PLUGIN_PATH
LAZARET_PLUGIN_PATH=$plugins:$work/languages
: >out
: >err

# What is wrong with the messages, one process for all of it: those of run are the first of config
# --check, of which the first begins with $want; none has the same prefix twice or lacks its cause.
messages=$work/messages.awk
cat >"$messages" <<'END'
function wrong(what) { if (!n++) print what }
FILENAME == "said" {
    sub(/^lazaret: setup_failed: (the session did not start: )?/, "lazaret: ")
    said[FNR] = $0
    lines = FNR
    next
}
FNR == 1 && index($0, "lazaret: " ENVIRON["want"]) != 1 {
    wrong("it does not begin with: " ENVIRON["want"])
}
FNR <= lines && $0 != said[FNR] { wrong("run says: " said[FNR]) }
/:( :|$)/ { wrong("no cause: " $0) }
{
    count = split($0, part, ": ")
    for (i = 1; i + 1 < count; i++)
        if (part[i] != "" && part[i] == part[i + 1] && part[i] !~ /:/)
            wrong("a doubled prefix: " $0)
    told = FNR
}
END { if (!lines || told < lines) wrong("run says more, or nothing") }
END

# same WANT OPTIONS... - run and config --check fail alike, with a first message that begins so.
same() {
    want=$1 run_status=0 check_status=0 cases=$((cases + 1))
    shift
    "$lazaret" run $patient "$@" -e 1 >out 2>said </dev/null || run_status=$?
    "$lazaret" config --check $patient "$@" >>out 2>err </dev/null || check_status=$?
    if [ "$run_status" -eq 0 ] || [ "$check_status" -ne "$run_status" ]; then
        wrong "$*: $(cat wrong.toml)" "status $check_status of config --check, $run_status of run"
    elif [ -s out ]; then
        wrong "$*: $(cat wrong.toml)" 'something on standard output'
    else
        odd=$(want=$want awk -f "$messages" said err)
        [ -z "$odd" ] || wrong "$*: $(cat wrong.toml)" "$odd"
    fi
}

# configuration TEXT WANT - a row of the table.
configuration() {
    printf '%b\n' "$1" >wrong.toml
    want=$2
    case $want in
        [0-9]*) want=wrong.toml:$want ;;
    esac
    case $1 in
        *session.runtime*) same "$want" --config wrong.toml ;;
        *) same "$want" --config wrong.toml --runtime lua ;;
    esac
}

table() {
    # ---- keys and values
    cat <<'END'
session.timeuot = 3|1:9: session.timeuot: unknown key; did you mean session.timeout?
session.timeout = "soon"|1:19: session.timeout: expected
session.verbose = "yes"|1:19: session.verbose: expected true or false
session.max_output_size = "many"|1:27: session.max_output_size: expected
session.timeout = 1\nsession.timeout = 2|2:9: 'timeout' is already set
session = 3|1:11: session: expected a table
[sesion]|1:2: sesion: unknown table; did you mean session?
[session|1:
limits.memory = "512M"|1:17: limits.memory: expected
limits.nproc = -1|1:16: limits.nproc: expected
sandbox.require = ["fs_raed"]|1:20: sandbox.require: expected
sandbox.read = ["relative"]|1:17: sandbox.read: expected an absolute path
sandbox.read = "/usr"|1:16: sandbox.read: expected a list
env.allow = ["A=B"]|1:14: env.allow: expected
env.set = { A = 1 }|1:17: env.set: expected a string without NUL characters (write A = "..."), found integer (its value is not shown)
env.FOO = "x"|1:5: env.FOO: unknown key; env.set sets a variable
network.allow = ["a.com", "b..com"]|1:27: network.allow: 
[network]\nallow = ["a.com",\n { host = "x.com", too = 3 }]|3:2: network.allow: 
network.hosts = { "a.com" = "here" }|1:19: network.hosts: 
network.resolver = "here"|1:9: network.resolver: 
network.ports = [80000]|1:18: network.ports: expected a port
network.host.ports = ["ssh"]|1:23: network.host.ports: expected a port
audit.file = "log"|1:14: audit.file: expected an absolute path
pool.warm = "hot"|1:13: pool.warm: expected
tools = 3|1:9: tools: expected a list of tables
[[approve]]|1:1: approve.tool: expected the name of a tool, or a pattern
[[approve]]\ntool = 7|2:8: approve.tool: expected the name of a tool, or a pattern ("delete_*"), found
[[approve]]\ntool = "x"\nwhen = "y"|3:8: approve.when: expected a table of patterns
[[approve]]\ntool = "x"\nwhen = { a = 1 }|3:14: approve.when.a: expected a string
[[approve]]\ntool = "x"\nwehn = {}|3:1: approve.wehn: unknown key; known are tool, when
approve = 1|1:11: approve: expected a list of tables, each begun by [[approve]]
[[tools]]\nname = "x"|1:1: tools.provider: expected the name of a tool provider
END
    # ---- tables of plugins
    cat <<'END'
[sandbox.bwarp]|1:10: sandbox.bwarp: no backend is called "bwarp" (did you mean "bwrap"?)
[sandbox.bwrap]\nprogam = "x"|2:1: sandbox.bwrap.progam: unknown key; did you mean
[runtime.pyhton]|1:10: runtime.pyhton: no runtime is called "pyhton"
[runtime.lua]\npath = "/usr"|2:8: runtime.lua.path: expected a list of absolute paths
[runtime.lua]\npath = ["here"]|2:9: runtime.lua.path: expected an absolute path
[runtime.lua]\npath = ["/nowhere"]|2:9: runtime.lua: /nowhere: no such file
[runtime.lua]\npath = ["@open"]|2:9: runtime.lua: @open: every user can write this directory
session.runtime = "lau"|1:9: session.runtime: no runtime is called "lau" (did you mean "lua"?)
session.runtime = "ruby"|1:9: session.runtime: the runtime "ruby" is not available
END
    # ---- tools: T stands for the beginning of a declaration, four lines
    sed 's|^T|[[tools]]\\nprovider = "command"\\n[[tools.tool]]\\nname = "t"\\n|' <<'END'
[[tools]]\nprovider = "comand"|1:1: no tool provider is called "comand" (did you mean "command"?)
[[tools]]\nprovider = "command"|1:1: tools.tool: expected a list of tables, found nothing
Tcommand = ["/bin/true"]\nparameters = { path = "string" }\n[[approve]]\ntool = "tt"|8:1: approve.tool: there is no tool 'tt'; did you mean 't'?
Tcommand = ["/bin/true"]\nparameters = { path = "string" }\n[[approve]]\ntool = "weekdy"|8:1: approve.tool: there is no tool 'weekdy'
Tcommand = ["/bin/true"]\nparameters = { path = "string" }\n[[approve]]\ntool = "t"\nwhen = { paht = "/etc/*" }|9:10: approve.when: the tool 't' has no parameter 'paht'; did you mean 'path'?
Tcommand = ["/bin/true"]\nparameters = { path = "string" }\n[[approve]]\ntool = "*"\nwhen = { colour = "red" }|9:10: approve.when: no tool like '*' has no parameter
Tcomand = ["/bin/true"]|5:1: tools.tool.comand: unknown key; did you mean tools.tool.command?
Tcommand = []|5:1: provider command: tool 't': command: expected a program
Tcommand = ["/nowhere/gone"]|5:1: provider command: tool 't': command: /nowhere/gone: No such
Tcommand = ["true"]|5:1: provider command: tool 't': command: 'true' must be the absolute path
Tcommand = ["/usr"]|5:1: provider command: tool 't': command: /usr is not an executable program
Tcommand = ["@plain"]|5:1: provider command: tool 't': command: @plain is not an executable
Tcommand = ["@open/program"]|5:1: provider command: tool 't': command: @open: every user can write
Tcommand = ["/bin/true"]\noutput = "xml"|6:1: provider command: tool 't': output: expected json
Tcommand = ["/bin/true"]\nmax_concurrent = -1|6:1: provider command: tool 't': max_concurrent
Tcommand = ["/bin/echo", "{x}"]|5:1: provider command: tool 't': command:
Tcommand = ["/bin/true"]\nparameters = { x = "intger" }|3:1: Tool 't': parameter 'x': unknown type
Tcommand = ["/bin/true"]\n[[tools.tool]]\nname = "t"\ncommand = ["/bin/true"]|6:1: Duplicate tool names
Tcommand = ["/bin/true"]\n[[tools]]\nprovider = "command"\ntool = 3|8:8: tools.tool: expected a list
END
    # ---- the hook, the log
    cat <<'END'
session.pre_execute_hook = ["/nowhere"]|1:9: session.pre_execute_hook: /nowhere: No such file
session.pre_execute_hook = ["true"]|1:9: session.pre_execute_hook: 'true' is not the absolute path
session.pre_execute_hook = ["@plain"]|1:9: session.pre_execute_hook: @plain is not a program
session.pre_execute_hook = ["@open/program"]|1:9: session.pre_execute_hook: @open: every user
audit.file = "@w"|1:7: audit.file: @w is a directory; the audit log has to be a regular file
audit.file = "@link"|1:7: audit.file: @link is a symbolic link
audit.file = "@plain"|1:7: audit.file: @plain does not end with a record of an audit log
audit.file = "@open/log"|1:7: audit.file: @open: every user can write this directory
audit.file = "/dev/null"|1:7: audit.file: /dev/null is a device
audit.file = "@own/log"\nsandbox.write = ["@own"]|1:7: audit.file: @own/log lies in @own, which sandbox.write
END
    # ---- what is shown, executed and set
    cat <<'END'
sandbox.programs = ["no-such-one"]|1:21: sandbox.programs: the program no-such-one is not installed
sandbox.programs = ["sh",\n"/nowhere/x"]|2:1: sandbox.programs: /nowhere/x does not exist
sandbox.read = ["/nowhere"]|1:17: sandbox.read: /nowhere: no such file or directory
sandbox.read = ["/proc"]|1:17: sandbox.read: /proc cannot be given, the box has a /proc of its own
sandbox.read = ["/"]|1:17: sandbox.read: / cannot be given as a whole
sandbox.read = ["/usr/../etc"]|1:17: sandbox.read: /usr/../etc has an empty part
sandbox.write = ["/nowhere"]|1:18: sandbox.write: /nowhere: no such file or directory
sandbox.write = ["@w"]\nsandbox.read = ["@w/away/in"]|2:17: sandbox.read: the path @w/away/in goes through
env.allow = ["TZ", "LD_PRELOAD"]|1:20: env.allow: LD_PRELOAD cannot be inherited, it changes
env.set = { A = "b", LD_PRELOAD = "x" }|1:22: env.set: LD_PRELOAD cannot be set, it changes
env.set.HOME = "/root"|1:9: env.set: HOME cannot be set, it is given by the box
END
    # ---- the backend
    cat <<'END'
sandbox.backend = "bwarp"|1:9: sandbox.backend: no backend is called "bwarp" (did you mean "bwrap"?)
sandbox.backend = ["bwrap",\n"docker"]|2:1: sandbox.backend: no backend is called "docker"
sandbox.backend = "windows-job"|1:9: sandbox.backend: windows-job is made for windows and not for
sandbox.backend = "none"|1:9: backend none does not enforce what sandbox.require asks for: fs_read
sandbox.backend = "landlock"\nsandbox.require = ["processes"]|2:9: backend landlock does not enforce
sandbox.backend = "bwrap"\nsandbox.bwrap.program = "/nowhere"|2:15: backend bwrap: /nowhere does not exist
sandbox.backend = "bwrap"\nsandbox.bwrap.program = "bwarp"|2:15: backend bwrap: the program bwarp is not installed
sandbox.bwrap.program = "/nowhere"|1:15: backend bwrap: /nowhere does not exist
sandbox.backend = ["landlock", "bwrap"]\nsandbox.bwrap.program = "bwarp"|2:15: backend bwrap: the program bwarp is not installed
plugins.path = ["/usr",\n"/nowhere"]|2:1: plugins.path: /nowhere: No such file
pool.preload = ["pyhton:json"]|1:17: pool.preload: no runtime is called "pyhton" (did you mean
sandbox.backend = "bwrap"\nsandbox.bwrap.program = "@open/program"|2:15: backend bwrap: @open: every user
sandbox.backend = "bwrap"\nsandbox.bwrap.program = "@broken"|@broken does not work as bubblewrap
sandbox.bwrap.program = "@broken"\nsandbox.require = ["processes"]|backend bwrap does not work:
END
}

prepare() {
    mkdir open own w w/there
    chmod 777 open w
    : >plain
    echo 'no record' >>plain
    printf '#!/bin/sh\n' >open/program
    printf '#!/bin/sh\nexit 3\n' >broken
    chmod 755 open/program broken
    ln -s plain link
    ln -s there w/away
    : >w/there/in
    : >wrong.toml
}

# What comes from options of the command line.
others() {
    : >wrong.toml
    set -- --runtime lua
    same '--set: sandbox.read: /nowhere: no such file' "$@" --set 'sandbox.read=["/nowhere"]'
    same '--set: session.timeout: expected' "$@" --set session.timeout=soon
    same '--timeout: session.timeout: expected' "$@" --timeout soon
    same '--backend: sandbox.backend: no backend is called "brwap"' "$@" --backend brwap
    same '--runtime: session.runtime: no runtime is called "lau"' --runtime lau
    same '--read: /nowhere: No such file' "$@" --read /nowhere
    same '--read: sandbox.read: /proc cannot be given' "$@" --read /proc
    same '--env: env.set: LD_PRELOAD cannot be set' "$@" --env LD_PRELOAD=x
    same '--env: env.allow: LD_PRELOAD cannot be inherited' "$@" --env LD_PRELOAD
    same '--cwd: nowhere: No such file' "$@" --cwd nowhere
    # what an option adds to a list leaves the others where they were written
    echo 'sandbox.read = ["/nowhere"]' >wrong.toml
    same 'wrong.toml:1:17: sandbox.read: /nowhere: no' "$@" --config wrong.toml --read "$work/w"
}

many() {
    cat >wrong.toml <<'END'
[session]
pre_execute_hook = ["/nowhere/hook"]
[sandbox]
read = ["/nowhere/a", "/usr",
        "/nowhere/b"]
write = ["/nowhere/c"]
programs = ["sh", "no-such-a", "no-such-b"]
[sandbox.bwarp]
[runtime.pyhton]
[env]
allow = ["LD_PRELOAD", "LD_AUDIT"]
set = { HOME = "/" }
[audit]
file = "/dev/null"
[[tools]]
provider = "command"
[[tools.tool]]
name = "a"
command = ["/nowhere/d"]
[[tools.tool]]
name = "b"
command = ["/nowhere/e"]
[[tools]]
provider = "comand"
END
    same 'wrong.toml:14:1: audit.file: ' --config wrong.toml --runtime lua
    for place in 2:1 4:9 5:9 6:10 7:19 7:32 8:10 9:10 11:10 11:24 12:9 14:1 19:1 22:1 23:1; do
        says "all_at_once $place" "lazaret: wrong.toml:$place: "
    done
    cases=$((cases + 1))
    [ "$(wc -l <err)" -eq 15 ] || wrong all_at_once 'not one line for each of 15 mistakes'
}

# The directory of plugins that is refused is named where it is missed.
refused_directories() {
    mkdir plugins
    cp "$plugins"/lua* plugins
    chmod 777 plugins
    echo 'return 1' >code.lua
    few="env LAZARET_PLUGIN_PATH=$work/plugins"
    expect no_runtime_for_the_suffix 2 '' 'no installed runtime takes files that end in .lua' \
        $few "$lazaret" run -q code.lua
    says its_directory_is_named "ignored: LAZARET_PLUGIN_PATH: $work/plugins: every user can write"
    printf 'plugins.path = ["%s"]\n' "$work/plugins" >wrong.toml
    expect of_the_settings 2 '' 'no installed runtime takes files' \
        env LAZARET_PLUGIN_PATH=/nowhere "$lazaret" run -q --config wrong.toml code.lua
    says its_place_is_named "ignored: wrong.toml:1:17: plugins.path: $work/plugins: every user can"
    expect no_backend 2 '' 'ignored: LAZARET_PLUGIN_PATH: ' $few "$lazaret" config --check
    says no_backend_or_runtime 'no language can be run here'
}

# plan and config --check take the backend that run would.
stepping_down() {
    by="--runtime lua --set sandbox.bwrap.program=$work/broken"
    line="lazaret: warning: backend bwrap does not work: $work/broken does not work as bubblewrap"
    expect check_steps_down 0 '' "$line" "$lazaret" config --check $by
    says it_says_to_what '; landlock is used instead'
    [ "$(wc -l <err)" -eq 1 ] || wrong check_steps_down 'not one line'
    expect plan_steps_down 0 '*' "$line" "$lazaret" plan $by
    grep -q '^backend landlock' out || wrong plan_steps_down 'not landlock'
    expect quietly 0 '' '' "$lazaret" config --check -q $by
    expect a_backend_that_is_named_is_not_tried 0 '*' '' "$lazaret" plan $by --backend bwrap
    grep -q '^backend bwrap' out || wrong a_backend_that_is_named_is_not_tried 'not bwrap'
}

# What only the language itself knows: a template of it is asked.
packages() {
    printf '[pool]\npreload = ["no_such_one"]\n' >wrong.toml
    expect a_language_loads_nothing 2 '' 'wrong.toml:2:1: pool.preload: the runtime lua can load nothing' \
        "$lazaret" config --check --config wrong.toml --runtime lua
    [ "$(wc -l <err)" -eq 1 ] || wrong a_language_loads_nothing 'not one line'
    expect it_is_not_asked 0 '' '' "$lazaret" config --check --runtime lua --set 'pool.preload=["python:x"]'
    # other languages than the usual one
    expect of_another_language 2 '' '--set: runtime.lua: /nowhere: no such file' \
        "$lazaret" config --check --runtime doctor --set 'runtime.lua.path=["/nowhere"]'
}

# rows REMAINDER - every other row of the table.
rows() {
    prepare
    table | awk -v remainder="$1" 'NR % 2 == remainder' |
        sed "s|@|$work/|g; s|AGENT|${LAZARET_AGENT%/*}|g" >rows
    while IFS='|' read -r text want; do
        configuration "$text" "$want"
    done <rows
}

odd_rows() {
    rows 1
}

even_rows() {
    rows 0
}

what_has_no_row() {
    prepare
    others
    many
    refused_directories
    stepping_down
    packages
}

if [ ! -e "$plugins/lua.so" ]; then
    may_be_missing lua 'not installed'
elif ! "$lazaret" plan --runtime lua 2>err | grep -q '^backend bwrap'; then
    cat err
    may_be_missing bwrap 'no box can be created'
else
    side_by_side odd_rows even_rows what_has_no_row
fi
finish
