#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor.sh - lazaret doctor, through the installed command: its findings when all is well, that it
# detects each hole made in a box, what it reports when no box starts, and that it leaves nothing
# behind.
#
# A program in place of bwrap makes the holes: it starts the real one with one more argument. So
# each row that is "in force" is shown to change when its layer is missing.
set -u
. "${srcdir:-.}/tests/session/lib.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/doctor-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
top=$(cd "${srcdir:-.}" && pwd)
mkdir "$work/home"
chmod 777 "$work/home" # sessions started by root have other uids
HOME=$work/home
export HOME
cd "$work" || exit 1
canary=$work
doctor="$lazaret doctor $patient"
memory=512MiB
case $staged_cc in # the sanitizers' own memory is many times any limit
    *-fsanitize*)
        doctor="$doctor --set limits.memory=unlimited" memory=unlimited
        # Leak detection does not work in what is traced, and doctor tries ptrace(2).
        ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
        export ASAN_OPTIONS
        ;;
esac
by="--set sandbox.bwrap.program"
# for cases that are not about CPU time and memory: skip the acts that use them up
idle="--set limits.cpu=unlimited --set limits.memory=unlimited"
# What is repeated does without the act that uses up CPU time (2.4 s).
all=
! is_repeated || all="--set limits.cpu=unlimited"

# state NAME BACKEND BIT STATE - the JSON of the last command has this state for the backend's bit.
state() {
    cases=$((cases + 1))
    found=$(tr -d '\n' <out | sed "s/.*{\"name\":\"$2\",\"works\"//; s/\"runtimes\":\[.*//" |
        sed -n "s/.*\"$3\":{\"state\":\"\([a-z ]*\)\".*/\1/p")
    [ "$found" = "$4" ] || wrong "$1" "$3 of $2 is \"$found\" and not \"$4\""
}

# says_not NAME PATTERN - no line of the last command's output matches.
says_not() {
    cases=$((cases + 1))
    ! grep -q -e "$2" out || wrong "$1" "said: $2"
}

# The path distinguishes this agent from those of other tests, which run at the same time.
mkdir "$work/agent"
installed_proxy=${LAZARET_AGENT%/*}/lazaret-proxy
cp "$LAZARET_AGENT" "$work/agent/lazaret-agent"
chmod 755 "$work/agent" "$work/agent/lazaret-agent"
LAZARET_AGENT=$work/agent/lazaret-agent

# traces - lists what a run could leave: files of the home, processes.
traces() {
    find "$work" -mindepth 1 ! -name out ! -name err ! -name calls ! -name pipe ! -name 'traces.*' \
        ! -name '*bwrap'
    # the agent's path is an argument of its own, which grep -z sees as a line
    grep -lzxF -e "$LAZARET_AGENT" /proc/[0-9]*/cmdline 2>/dev/null
}

# leaves_nothing NAME COMMAND... - runs it; the traces afterwards are those before. A killed process
# may take some time to end.
leaves_nothing() {
    name=$1
    shift
    traces >traces.before
    : >calls
    "$@"
    cases=$((cases + 1))
    look=0
    until traces | grep -vxFf traces.before >traces.new; [ ! -s traces.new ]; do
        look=$((look + 1))
        [ $look -lt 6000 ] || break
        sleep 0.05
    done
    # directories of engines: those of other tests are in the same place, so strace records which
    # ones are made here
    for directory in $(grep -oE '/tmp/lazaret-[A-Za-z0-9]+"' calls | tr -d '"' | sort -u); do
        [ ! -e "$directory" ] || echo "$directory" >>traces.new
    done
    [ ! -s traces.new ] || wrong "$name leaves" "$(cat traces.new)"
}

# watched COMMAND... - runs it; the file `calls` records the directories that it makes.
watched() {
    if strace -qq -o calls -e trace=mkdir,mkdirat true 2>/dev/null; then
        strace -qq -o calls -e trace=mkdir,mkdirat "$@"
    else
        "$@"
    fi
}

# made_directories - if strace is installed, it has seen directories of engines.
made_directories() {
    strace -qq -o /dev/null true 2>/dev/null || return 0
    cases=$((cases + 1))
    grep -q '"/tmp/lazaret-' calls || wrong "$1" 'no directory of an engine was seen'
}

# When bwrap does not work, the next backend is chosen and the reason reported. This case also looks
# at the text as a whole: what it begins with, and what it says of the limits.
second_choice() {
    [ -e "$LAZARET_PLUGIN_PATH/landlock.so" ] || return 0
    printf '#!/bin/sh\nexit 3\n' >broken-bwrap
    chmod 755 broken-bwrap
    printf 'limits.nofile = 100\nlimits.session_cpu = 3600\n' >here.toml
    expect second_choice 0 '*' '' $doctor $idle $by="$work/broken-bwrap" --config "$work/here.toml"
    says second_choice 'all is well: landlock enforces what sandbox.require asks for'
    says second_choice_templates 'templates: not in force: no session can come from a template here'
    says second_choice_groups 'control groups: '
    says second_choice_quotas 'shared quotas: sessions '
    says second_choice_why 'does not work as bubblewrap, it built no box and ended with status 3'
    says header "lazaret        $("$lazaret" --version | sed 's/^lazaret //')"
    says header_system "system         $(uname -srm)"
    says header_user "(uid $(id -u))"
    says header_configuration "configuration  $work/here.toml"
    says limit_kept '  limits.nofile      100          in force        rlimit: each process for itself'
    says limit_of_the_file '  limits.fsize       "50MiB"      in force        rlimit: '
    says limit_not_set '  limits.cpu         "unlimited"  not set         -'
    says limit_not_tried '  limits.session_cpu 3600         not tried       '
    for bit in 'fs_read    in force        Landlock' 'fs_write   in force        Landlock' \
        'network    in force ' 'syscalls   in force ' 'terminals  in force '; do
        says landlock "  $bit"
    done
    says landlock_list 'list: network.allow: the backend landlock cannot keep a network list'
    says_not limit_told_twice '^  nofile '
    says none_has_one_line \
        'backend none: does not isolate; for debugging and comparing; it starts'
    cases=$((cases + 1))
    [ -z "$(sed '1,/^backend none/d' out | sed 1q)" ] || wrong none_has_one_line 'more than one'
}

# plugins DIRECTORY NAME... - the following cases have only these plugins, because each backend and
# each runtime takes time.
plugins() {
    LAZARET_PLUGIN_PATH=$work/$1
    mkdir "$1"
    shift
    for plugin; do
        [ ! -e "$installed/$plugin.so" ] || cp "$installed/$plugin".* "$LAZARET_PLUGIN_PATH"
    done
}

all_is_well() {
    leaves_nothing well expect well 0 '*' '' watched $doctor $all --json
    made_directories well
    sed -n 's/.*"elapsed_ms":\([0-9]*\).*/    all is well: \1 ms/p' out
    if command -v python3 >/dev/null 2>&1; then
        cases=$((cases + 1))
        python3 -I -c 'import json, sys; json.load(sys.stdin)' <out || wrong well 'not valid JSON'
    fi
    says well '{"ok":true,"version":"'
    says well_system ",\"system\":{\"name\":\"$(uname -s)\",\"release\":\"$(uname -r)\""
    says well_user ",\"uid\":$(id -u),"
    says well_configuration '"configuration":null,"runtime":"'
    says well_chosen ',"chosen":"bwrap"'
    says well_templates '"templates":{"works":true,"problem":null}'
    says well_groups '"control_groups":{"works":'
    says well_limit "{\"limit\":\"limits.memory\",\"value\":\"$memory\",\"state\":\""
    says well_nofile '"value":192,"state":"in force","counted_by":"rlimit: each process for itself"'
    says well_none '{"name":"none","works":true,"problem":null,"isolates":false'
    for bit in fs_read fs_write network processes signals syscalls fsize nproc nofile terminals; do
        state well bwrap $bit 'in force'
    done
    state well none fs_read 'not in force'
    state well none fsize 'not proven'
    # acts refused inside have worked outside
    outside='"outside":{"came":"worked","note":""},"inside":{"came":"denied"'
    for act in 'read a file in the home' 'read a file that everybody may read' \
        'write into the home' 'write where everybody may write' 'connect to a port of the host' \
        'connect to an abstract socket' 'connect to a socket by its path' \
        'see a process of the host' 'signal a process of the host' 'open a pseudo-terminal' \
        'inotify_init1' 'add_key' 'fcntl F_SETPIPE_SZ' 'setsockopt SO_SNDBUF' \
        'write 2 MiB, limit 1' \
        'open 80 files, limit 48' 'run 40 processes, limit 16'; do
        says "well: $act" "\"act\":\"$act\",$outside"
    done
    says well_list '"network_list":{"works":true,"problem":null}'
    # what exists in a list only is compared with the listed name
    apart='"outside":{"came":"not tried","note":""},"inside":{"came":'
    says 'well: reach a listed name' "\"act\":\"reach a listed name\",$apart\"worked\""
    for act in 'reach the address of a listed name' 'reach an abstract socket' \
        'reach a socket by its path' 'make another network namespace'; do
        says "well: $act, outside" "\"act\":\"$act\",$outside"
    done
    for act in 'reach a name that is not listed' 'reach a listed name on another port' \
        'reach another address on a listed port' 'reach an address of IPv6' \
        'send UDP to a listed name' 'ask another server of DNS' 'ask by HTTP for another host' \
        'speak HTTP where TLS is listed'; do
        says "well: $act" "\"act\":\"$act\",$apart\"denied\""
    done
    says well_lua '{"name":"lua","works":true'
}

# The list of the settings is nothing that the other sessions have; a backend has to keep one.
lists() {
    listed='--set network.allow=["https://api.example.com"]'
    expect list_of_the_settings 0 '*' '' $doctor $idle $listed --set network.max_bytes=1
    says list_is_kept 'list: a listed name is reached; refused: reach a name that is not listed, '
    says list_is_tried ', ask another server of DNS, ask by HTTP for another host, speak HTTP where'
    says list_has_sockets ', make a netlink socket, make another network namespace'
    expect list_cannot_be_kept 1 '*' '' $doctor $idle $listed --backend none
    says list_cannot_be_kept \
        'problem: the settings have a network list: network.allow: the backend none cannot keep'
}

# proxy [WORDS] - lies beside the agent from now on, as a script that has these words first.
proxy() {
    rm -f "$work/agent/lazaret-proxy"
    [ -z "$*" ] || printf '#!/bin/sh\n%s\nexec %s "$@"\n' "$*" "$installed_proxy" \
        >"$work/agent/lazaret-proxy"
    [ -z "$*" ] || chmod 755 "$work/agent/lazaret-proxy"
}

# A credential of the doctor's, by code of a runtime that can ask a server.
credentials() {
    good='credential: in force, asked by python: a secret is added to a request'
    proxy
    expect no_proxy 0 '*' '' $doctor $idle
    says no_proxy 'credential: not tried: this lazaret has no lazaret-proxy'
    set -- $doctor $idle --set 'network.credential=[{host="api.example.com",header="Authorization: Bearer {secret}",secret={env="DOCTOR_TEST"}}]'
    expect no_proxy_for_the_settings 1 '*' '' "$@"
    says no_proxy_for_the_settings 'problem: the settings have credentials: they were not tried: this lazaret has no'
    given='network.credential=[{host="api.example.com",header="A: {secret}",secret={env="DOCTOR_TEST"}}]'
    for way in 'config --check' plan; do
        # shellcheck disable=SC2086
        expect "no_proxy: $way" 125 '*' 'needs lazaret-proxy, which builds with GnuTLS have' \
            "$lazaret" $way $patient --set 'network.allow=["https://api.example.com"]' --set "$given"
        # without a list no session has a credential
        # shellcheck disable=SC2086
        "$lazaret" $way $patient --set "$given" >out 2>err </dev/null || wrong "no_list: $way" "status $?"
        cases=$((cases + 1))
    done
    if [ ! -x "$installed_proxy" ]; then
        may_be_missing proxy 'built without GnuTLS'
        return
    fi
    proxy :
    expect no_client 0 '*' '' $doctor $idle
    says no_client 'credential: not tried: no installed runtime says how it asks a server by HTTPS'
    if [ ! -e "$installed/python.so" ]; then
        may_be_missing python 'not installed'
        return
    fi
    cp "$installed"/python.* "$LAZARET_PLUGIN_PATH"
    leaves_nothing credential expect credential 0 '*' '' watched "$@" --runtime python
    says credential "$good"
    expect credential_json 0 '*' '' $doctor $idle --json
    says credential_json '"credential":{"works":true,"problem":null,"tried":true,"runtime":"python"}'
    # the server answers, and what adds secrets does not start
    proxy '[ "$1" = --answer ] || exit 3'
    expect broken_proxy 1 '*' '' "$@" --runtime python
    says broken_proxy 'credential: does not work: python: lazaret-proxy has ended at its start'
    says broken_proxy_is_a_problem \
        'problem: the settings have credentials: they do not work: python: lazaret-proxy has ended'
    # what adds secrets starts, and the server does not
    proxy '[ "$1" != --answer ] || exit 3'
    expect no_server 0 '*' '' $doctor $idle
    says no_server 'credential: does not work: lazaret-proxy does not start'
    proxy :
    expect backend_without_lists 0 '*' '' $doctor $idle --backend none --set 'sandbox.require=[]'
    says backend_without_lists 'credential: not tried: it needs a network list, which does not work here'
}

# A box with holes: its promises are not believed.
holes() {
    cat >holed-bwrap <<END
#!/bin/sh
fd=\$2
shift 3
exec $bwrap --args "\$fd" --share-net --bind "$HOME" "$HOME" --bind /proc /proc -- "\$@"
END
    chmod 755 holed-bwrap
    expect holes 1 '*' '' $doctor $idle --json $by="$work/holed-bwrap"
    for bit in fs_read fs_write processes; do
        state "hole in $bit" bwrap "$bit" 'broken promise'
        says "hole in $bit" "bwrap promises $bit and does not keep it"
    done
    # its list is not kept, and no session with one starts
    says 'hole in the list' '"network_list":{"works":false,"problem":"'
    says_not 'hole in the list' '"act":"reach '
    # the filter of the agent refuses sockets, with or without a network
    says 'hole in network' '"act":"connect to a port of the host"'
    state 'no hole in fsize' bwrap fsize 'in force'
}

settings() {
    expect none_is_not_enough 1 '*' '' $doctor $idle --backend none --set limits.fsize=unlimited
    says none_is_not_enough \
        'sandbox.require asks for fs_read, which is not in force with the backend none'
    says none_is_not_enough_bwrap '  network    in force        network namespace'
    says limit_not_set '  limits.fsize       "unlimited"  not set         -'
    expect none_is_asked_for 0 '*' '' $doctor $idle --backend none --set 'sandbox.require=[]'
    says none_is_chosen 'backend none (chosen by the settings): does not isolate; '
    says none_runs_lua 'runtime lua        works'
    expect backend_unknown 1 '*' '' $doctor $idle --backend bwarp
    says backend_unknown 'no backend is called "bwarp"'
}

# What there was no time for is told, and never taken for a success.
out_of_time() {
    expect out_of_time 1 '*' '' $doctor --set session.deadline=0.001
    says out_of_time 'timed out: try again with more time (--set session.deadline=120'
    says out_of_time_bwrap 'not tried (out of time)'
    says_not out_of_time_state 'in force'
    says_not out_of_time_well 'all is well'
    # code that computes for 1.4 s of CPU time is ended after half a second, in and out of the box
    cases=$((cases + 1))
    $doctor --set session.timeout=0.5 --set limits.memory=unlimited >out 2>err </dev/null
    grep -A1 '^ *timed out: compute 1.4 s' out | grep -q 'remedy: timed out: try again with more time' ||
        wrong timed_out 'the remedy is another one'
    says_not timed_out 'run lazaret doctor on a system that allows it'
}

# refused NAME TEXT COMMAND... - doctor reports why no box of bwrap starts.
refused() {
    refused_name=$1 refused_text=$2
    shift 2
    expect "$refused_name" 1 '*' '' "$@"
    says "$refused_name" "$refused_text"
}

refusals() {
    only="--set sandbox.backend=bwrap $idle"
    refused no_isolation 'code would run WITHOUT ISOLATION' \
        $doctor $only $by=/bin/false --set sandbox.strict=false
    printf '#!/bin/sh\ncat >&2 <<END\nbwrap: setting up uid map: Permission denied\nEND\nexit 1\n' \
        >broken-bwrap
    chmod 755 broken-bwrap
    refused apparmor 'AppArmor profile for bwrap' $doctor $only $by="$work/broken-bwrap"
    section=$(sed -n 's/.*deployment\.md, "\([^"]*\)".*/\1/p' out | head -n 1)
    cases=$((cases + 1))
    grep -qx "### ${section:-none}" "$top/docs/deployment.md" ||
        wrong apparmor_section_is_there "docs/deployment.md has no section \"$section\""
    printf '#!/bin/sh\nexec sleep 3600\n' >broken-bwrap
    refused hangs 'built no box in time' "$lazaret" doctor $only $by="$work/broken-bwrap" --json \
        --set session.start_timeout=30 --set session.deadline=0
    says hangs_remedy 'install bubblewrap 0.8.0 or newer, or name a working one in sandbox.bwrap.program'
    says hangs_is_slow '; timed out: try again with more time (--set session.deadline='
    sed -n 's/.*"elapsed_ms":\([0-9]*\).*/    a bwrap that hangs: \1 ms/p' out
    # the time of the doctor ends what waits, whatever its own timeout is
    refused hangs_until_the_end 'not tried (out of time)' \
        $doctor $only $by="$work/broken-bwrap" --set session.deadline=0.4
    if unshare --user --map-user=1000 --map-group=1000 --keep-caps true 2>/dev/null; then
        refused user_namespaces_off 'user.max_user_namespaces is 0' unshare --user --map-user=1000 \
            --map-group=1000 --keep-caps sh -c 'echo 0 >/proc/sys/user/max_user_namespaces
            exec setpriv --inh-caps -all --ambient-caps -all --bounding-set -all "$@"' sh $doctor $only
        refused within_a_box 'inside another sandbox' "$bwrap" --unshare-user --disable-userns \
            --uid 1000 --gid 1000 --dev-bind / / $doctor $only
        # root of a namespace without other uids
        refused one_uid 'are not all mapped in this container' unshare --user --map-root-user $doctor $idle
        refused one_uid_json '"key":"sandbox.uids","message":"no session can be started: sandbox.uids: ' \
            unshare --user --map-root-user $doctor $idle --json
    else
        may_be_missing namespaces 'unshare cannot make user namespaces here'
    fi
}

# A bwrap that hangs reports when it was started: the canary has been made by then.
cancel() {
    mkfifo pipe
    chmod 666 pipe
    printf '#!/bin/sh\necho here >%s\nexec sleep 3600\n' "$work/pipe" >broken-bwrap
    $doctor $idle $by="$work/broken-bwrap" >out 2>err </dev/null &
    pid=$!
    read -r line <pipe
    cases=$((cases + 1))
    ls -A "$HOME" | grep -q lazaret-doctor || wrong cancelled 'there is no canary to be removed'
    readlink /proc/$pid/fd/* 2>/dev/null | sed -n 's|^/tmp/lazaret-[^/]*$|"&"|p' >calls
    [ -s calls ] || wrong cancelled 'the directory of its engine is not known'
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    rm pipe
    [ "$status" -eq 130 ] || wrong cancelled "status $status"
}

bwrap=$(command -v bwrap)
installed=$LAZARET_PLUGIN_PATH
if [ ! -e "$LAZARET_PLUGIN_PATH/lua.so" ]; then
    may_be_missing lua 'not installed'
elif ! "$lazaret" run $patient --runtime lua -e 1 >out 2>err; then
    cat err
    may_be_missing bwrap 'a session cannot be started'
else
    plugins all bwrap none doctor lua python r
    all_is_well
    plugins three bwrap landlock none doctor lua
    second_choice
    plugins two bwrap none doctor lua
    holes
    is_repeated || settings
    is_repeated || lists
    is_repeated || credentials
    out_of_time
    refusals
    leaves_nothing cancelled cancel
fi
finish
