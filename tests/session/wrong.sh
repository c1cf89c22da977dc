#!/bin/sh
# SPDX-License-Identifier: MIT
# wrong.sh - wrong input and unsuitable machines, through the installed command: the exit status,
# the message and its stream, and that no code ran.
#
# `fails` runs a case twice, without and with --json, and looks for the canary that the code would
# leave. A run without a sandbox shows first that the code does leave it. Namespaces of the test's
# own serve as unsuitable machines.
#
# As a variant of an ordinary user (tests/as.sh) it runs what differs by uid; with
# LAZARET_TEST_FULL=yes all of it, and a full /tmp at each size.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/wrong-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
examples=$(cd "${srcdir:-.}/config" && pwd) || exit 1
HOME=$work
export HOME
be_patient
# The programs that cases start: each of the usual ones would be put into each box, for an ordinary
# user as a copy.
echo 'sandbox.programs = ["sh", "sleep", "true"]' >>"$HOME/.config/lazaret/lazaret.toml"
cd "$work" || exit 1
: >out
: >err
seed=${LAZARET_TEST_SEED:-$(date +%s)}
echo "    LAZARET_TEST_SEED=$seed"

# unless_repeated FUNCTION... - runs what is the same for each user, unless root has run it.
unless_repeated() {
    is_repeated && return
    for cases_of; do
        "$cases_of"
    done
}

# In the directory of the cases: what their code would leave.
make_canary() {
    canary=$work/canary
    mkdir "$canary"
    chmod 1777 "$canary"
    code=$(canary_code)
}

# The command that runs the canary: `fails NAME ... $run OPTIONS -e "$code"`.
run="$lazaret run --runtime lua"
only_bwrap="--set sandbox.backend=bwrap --set sandbox.bwrap.program"

# ---- files and keys ------------------------------------------------------------------------------

wrong_configurations() {
    cat >many.toml <<'END'
[session]
timeuot = 3
verbose = "yes"
[sandbox]
tmp_size = "many"
[sesion]
END
    fails config_every_mistake 2 setup_failed 'many.toml:2:1: session.timeuot: unknown key; did you mean session.timeout?' \
        $run --config many.toml -e "$code"
    says config_wrong_type 'many.toml:3:11: session.verbose: expected'
    says config_wrong_size 'many.toml:5:12: sandbox.tmp_size: expected'
    says config_wrong_section 'many.toml:6:2: sesion: unknown table; did you mean session?'
    printf '[session\n' >torn.toml
    fails config_torn 2 setup_failed 'torn.toml:1:' $run --config torn.toml -e "$code"
    fails config_missing 2 setup_failed 'missing.toml' $run --config missing.toml -e "$code"
    fails config_named_by_environment 2 setup_failed 'LAZARET_CONFIG: ' \
        env LAZARET_CONFIG=missing.toml $run -e "$code"
    fails config_directory 2 setup_failed 'not a regular file' $run --config "$work" -e "$code"
    fails set_unknown 2 setup_failed 'did you mean session.timeout?' \
        $run --set session.timeuot=3 -e "$code"
    fails set_wrong_type 2 setup_failed 'session.timeout: expected' \
        $run --set session.timeout=soon -e "$code"
    fails usage_every_mistake 2 setup_failed 'did you mean --timeout?' \
        $run --timeuot=3 --quite -e "$code"
    says usage_second_mistake 'did you mean --quiet?'

    cat >tables.toml <<'END'
[sandbox.bwarp]
program = "x"
[runtime.pyhton]
[sandbox.bwrap]
progam = "x"
END
    fails table_of_no_plugin 2 setup_failed \
        'tables.toml:1:10: sandbox.bwarp: no backend is called "bwarp" (did you mean "bwrap"?)' \
        $run --config tables.toml -e "$code"
    expect config_check_tables 2 '' 'sandbox.bwarp: no backend is called "bwarp"' \
        "$lazaret" config --check --config tables.toml
    says config_check_second 'tables.toml:3:10: runtime.pyhton: no runtime is called "pyhton"'
    says config_check_third 'tables.toml:5:1: sandbox.bwrap.progam: unknown key; did you mean'
    expect plan_refuses_tables 2 '' 'sandbox.bwarp' "$lazaret" plan --config tables.toml
    fails table_by_set 2 setup_failed '--set: sandbox.bwarp' \
        $run --set sandbox.bwarp.program=x -e "$code"
}

# Other users must not be able to change files that control the host, nor directories above them:
# they could run code as the user who runs lazaret.
of_others() {
    mkdir others others/in
    printf '#!/bin/sh\n: >%s/here\n' "$canary" >others/in/hook
    chmod 755 others others/in others/in/hook
    printf '[session]\npre_execute_hook = ["%s"]\n' "$work/others/in/hook" >others/in/lazaret.toml
    cp "$LAZARET_AGENT" others/in/agent
    cp "$(command -v bwrap)" others/in/bwrap
    tools_file seven "$work/others/in/hook" >seven.toml

    expect hook_of_ours 0 7 '' $run --config others/in/lazaret.toml $patient -e 'print(7)'
    [ -e "$canary/here" ] || wrong hook_of_ours 'it did not run'
    rm -f "$canary/here"
    expect agent_of_ours 0 7 '' env LAZARET_AGENT="$work/others/in/agent" $run -e 'print(7)'
    expect bwrap_of_ours 0 7 '' $run $only_bwrap="$work/others/in/bwrap" -e 'print(7)'
    expect path_of_ours 0 7 '' $run --set "runtime.lua.path=['$work/others/in']" -e 'print(7)'
    cp others/in/lazaret.toml ours.toml
    mkdir -p home/lazaret
    cp others/in/lazaret.toml home/lazaret

    chmod 666 others/in/lazaret.toml home/lazaret/lazaret.toml
    fails config_of_everybody 2 setup_failed 'every user can write this file (mode 0666)' \
        $run --config others/in/lazaret.toml -e "$code"
    says config_of_everybody_remedy "chmod go-w $work/others/in/lazaret.toml"
    fails config_found_of_everybody 2 setup_failed 'home/lazaret/lazaret.toml: every user can write' \
        env XDG_CONFIG_HOME="$work/home" $run -e "$code"
    chmod 644 others/in/lazaret.toml
    chmod 777 others
    words="$work/others: every user can write this directory (mode 0777), on the way to"
    fails config_below_everybody 2 setup_failed "$words" \
        $run --config others/in/lazaret.toml -e "$code"
    fails hook_below_everybody 2 setup_failed "$words" $run --config ours.toml -e "$code"
    fails tool_below_everybody 2 setup_failed "$words" $run --config seven.toml -e "$code"
    fails agent_below_everybody 125 setup_failed "$words" \
        env LAZARET_AGENT="$work/others/in/agent" $run -e "$code"
    fails bwrap_below_everybody 125 setup_failed "$words" \
        $run $only_bwrap="$work/others/in/bwrap" -e "$code"
    fails path_below_everybody 2 setup_failed "$words" \
        $run --set "runtime.lua.path=['$work/others/in']" -e "$code"
    chmod 755 others
}

unreadable() { # a file that cannot be read; root can read everything
    [ "$(id -u)" -ne 0 ] || return 0
    : >locked.toml
    echo "$code" >locked.lua
    chmod 0 locked.toml locked.lua
    fails config_unreadable 2 setup_failed 'locked.toml: Permission denied' \
        $run --config locked.toml -e "$code"
    fails code_unreadable 2 setup_failed 'locked.lua: cannot be opened: Permission denied' \
        $run locked.lua
}

wrong_code() {
    fails code_missing 2 setup_failed 'missing.lua: cannot be opened: No such file' \
        "$lazaret" run missing.lua
    fails code_directory 2 setup_failed 'is a directory' "$lazaret" run "$work"
    echo "$code" >code.cob
    fails code_unknown_suffix 2 setup_failed 'no installed runtime takes files that end in .cob' \
        "$lazaret" run code.cob
    echo 'print(7)' >seven.cob
    expect code_unknown_suffix_with_runtime 0 7 '' $run seven.cob
    expect code_empty 0 '' '' $run -e ''
    printf 'local x = 1\nx = = 2\n' >torn.lua
    fails code_syntax_error 1 syntax_error 'syntax error: torn.lua:2: ' "$lazaret" run torn.lua
    cat >raises.lua <<'END'
local function inner()
    error("broken here")
end
inner()
END
    expect code_error 1 '' 'error: raises.lua:2: ' "$lazaret" run raises.lua
    says code_error_message 'broken here'
    says code_error_traceback 'inner'
    status=0
    printf 'print(6 * 7)' | $run - >out 2>err || status=$?
    cases=$((cases + 1))
    [ "$status" -eq 0 ] && [ "$(cat out)" = 42 ] || wrong code_from_standard_input 'not 42'
    # a descriptor that is closed
    for form in '<&-' '>&-' '2>&-'; do
        cases=$((cases + 1)) status=0
        case $form in
            '<&-') $run - <&- >out 2>err || status=$? want=2 ;;
            '>&-') $run -e 'print(1)' >&- 2>err || status=$? want=74 ;;
            *) $run -e 'print(1) error("x")' >out 2>&- || status=$? want=1 ;;
        esac
        [ "$status" -eq "$want" ] || wrong "closed $form" "status $status, expected $want"
    done
    if [ -c /dev/full ]; then
        cases=$((cases + 1)) status=0
        $run -e 'print(1)' >/dev/full 2>err || status=$?
        [ "$status" -eq 74 ] && grep -q 'standard output cannot be written' err ||
            wrong output_full "status $status"
    fi
}

# ---- plugins, tools, the agent -------------------------------------------------------------------

wrong_plugins() {
    fails backend_unknown 2 setup_failed 'no backend is called "bwarp" (did you mean "bwrap"?)' \
        $run --backend bwarp -e "$code"
    fails backend_unknown_whatever_strict_says 2 setup_failed 'no backend is called "brwap"' \
        $run --backend brwap --set sandbox.strict=false -e "$code"
    fails backend_unknown_in_a_list 2 setup_failed 'no backend is called "docker"' \
        $run --set 'sandbox.backend=["docker","bwrap"]' -e "$code"
    fails backend_unknown_at_the_end 2 setup_failed 'no backend is called "docker"' \
        $run --set 'sandbox.backend=["bwrap","docker"]' -e "$code"
    fails runtime_unknown 2 setup_failed 'no runtime is called "lau" (did you mean "lua"?)' \
        "$lazaret" run --runtime lau -e "$code"
    mkdir later
    echo '{"kind": "language", "abi": "1.0", "name": "ruby"}' >later/ruby.language.json
    fails runtime_of_later 2 setup_failed '"ruby" is not available in this version' \
        env LAZARET_PLUGIN_PATH="$work/later:$LAZARET_PLUGIN_PATH" "$lazaret" run --runtime ruby -e "$code"

    fails program_unknown 2 setup_failed 'sandbox.programs: the program no-such-one is not installed' \
        $run --set 'sandbox.programs=["sh", "no-such-one"]' -e "$code"
    fails program_no_file 2 setup_failed 'sandbox.programs: /nowhere/x does not exist' \
        $run --set 'sandbox.programs=["/nowhere/x"]' -e "$code"

    mkdir few
    cp "$LAZARET_PLUGIN_PATH"/bwrap.* "$LAZARET_PLUGIN_PATH"/none.* \
        "$LAZARET_PLUGIN_PATH"/lua.language.json few
    fails runtime_not_installed 2 setup_failed 'apt-get install liblua5.4-dev' \
        env LAZARET_PLUGIN_PATH="$work/few" $run -e "$code"
    cp "$LAZARET_PLUGIN_PATH"/lua.so few
    fails runtime_without_description 125 setup_failed 'lua.json is missing beside it' \
        env LAZARET_PLUGIN_PATH="$work/few" $run -e "$code"

    mkdir open
    cp "$LAZARET_PLUGIN_PATH"/*.so "$LAZARET_PLUGIN_PATH"/*.json open
    chmod 777 open
    fails plugin_directory_of_everybody 2 setup_failed 'every user can write this directory (mode 0777)' \
        env LAZARET_PLUGIN_PATH="$work/open" $run -e "$code"
    chmod 755 open
    echo 'not a plugin' >open/odd.so
    fails plugin_that_is_none 125 setup_failed 'open/odd.so: ' \
        env LAZARET_PLUGIN_PATH="$work/open" $run --backend odd -e "$code"
    expect plugin_that_is_none_is_listed 0 '*' '' \
        env LAZARET_PLUGIN_PATH="$work/open" "$lazaret" plugins
    grep -q 'odd  *cannot be used' out || wrong plugins 'odd is not listed as unusable'
    chmod 666 open/none.so
    fails plugin_of_everybody 125 setup_failed 'every user can write this file' \
        env LAZARET_PLUGIN_PATH="$work/open" $run --backend none --set 'sandbox.require=[]' -e "$code"
}

tools_file() { # NAME PROGRAM [PROVIDER] - appends a tool
    cat <<END
[[tools]]
provider = "${3-command}"
[[tools.tool]]
name = "$1"
description = "A tool"
command = ["$2"]
END
}

wrong_tools() {
    { tools_file twice /bin/true && tools_file twice /bin/true; } >twice.toml
    fails tool_declared_twice 2 setup_failed "twice.toml:9:1: " $run --config twice.toml -e "$code"
    says tool_declared_twice_name twice
    { tools_file if /bin/true && tools_file if_ /bin/true; } >if.toml
    expect tools_spelled_alike 0 '' 'the tool if_ is called if__2 in' \
        "$lazaret" config --check --config if.toml
    says tools_that_are_words 'the tool if is called if_ in'
    tools_file print /bin/true >print.toml
    expect tools_that_code_needs 0 '*' 'the tool print is called print_ in' \
        "$lazaret" tools --config print.toml
    tools_file gone /nowhere/gone >gone.toml
    fails tool_without_program 2 setup_failed '/nowhere/gone: No such file or directory' \
        $run --config gone.toml -e "$code"
    tools_file odd /bin/true comand >provider.toml
    fails tool_of_no_provider 2 setup_failed 'provider.toml:1:1: ' \
        $run --config provider.toml -e "$code"
    says tool_nearest_provider 'did you mean "command"?'
}

wrong_agents() {
    : >plain
    fails agent_nowhere 125 setup_failed '/nowhere/agent cannot be used: No such file' \
        env LAZARET_AGENT=/nowhere/agent $run -e "$code"
    fails agent_not_executable 125 setup_failed 'it is not a program that can be executed' \
        env LAZARET_AGENT="$work/plain" $run -e "$code"
    fails agent_directory 125 setup_failed 'it is not a program that can be executed' \
        env LAZARET_AGENT="$work" $run -e "$code"
    fails agent_relative 125 setup_failed 'not an absolute path' \
        env LAZARET_AGENT=lazaret-agent $run -e "$code"
    fails agent_of_others 125 setup_failed 'the agent of this lazaret?' \
        env LAZARET_AGENT=/bin/true $run -e "$code"
}

# ---- backends ------------------------------------------------------------------------------------

# bwrap_that WORDS - makes a bwrap that prints this message and fails.
bwrap_that() {
    printf '#!/bin/sh\ncat >&2 <<END\nbwrap: %s\nEND\nexit 1\n' "$1" >broken-bwrap
    chmod 755 broken-bwrap
}

# falls_back WORDS COMMAND... - with sandbox.backend "auto": the problem of bwrap is reported, and
# the next backend builds a box in which the code leaves no canary.
falls_back() {
    words=$1
    shift
    expect "falls_back $words" 0 CANARY "$words" "$@" -e "$code"
    [ ! -e "$canary/here" ] || wrong "falls_back $words" 'written outside'
    rm -f "$canary/here"
    expect "falls_back $words --json" 0 "*" "$words" "$@" --json -e 1
    grep -qF '"isolation":{"backend":"landlock"' out || wrong "falls_back $words" 'not landlock'
}

wrong_bwrap() {
    by=$only_bwrap
    fails bwrap_nowhere 2 setup_failed '/nowhere/bwrap does not exist' \
        $run $by=/nowhere/bwrap -e "$code"
    fails bwrap_not_installed 2 setup_failed 'bwarp is not installed' $run $by=bwarp -e "$code"
    # what is named is not passed over, whatever could be used instead
    fails bwrap_before_another 2 setup_failed '/nowhere/bwrap does not exist' \
        $run --set sandbox.bwrap.program=/nowhere/bwrap -e "$code"
    fails bwrap_without_strict 2 setup_failed '/nowhere/bwrap does not exist' \
        $run $by=/nowhere/bwrap --set sandbox.strict=false -e "$code"
    while IFS='|' read -r words hint; do
        bwrap_that "$words"
        fails "bwrap_says $words" 125 setup_failed "$hint" \
            $run $by="$work/broken-bwrap" -e "$code"
        says "bwrap_says_it $words" "$words"
    done <<'END'
Unknown option --disable-userns|install a newer one
setting up uid map: Permission denied|kernel.apparmor_restrict_unprivileged_userns=0
loopback: Failed RTM_NEWADDR: Operation not permitted|AppArmor profile for bwrap
No permissions to create new namespace, likely because the kernel does not allow|namespaces
Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)|user.max_user_namespaces
Creating new namespace failed: Operation not permitted|or use another backend
Creating new namespace failed: Resource temporarily unavailable|ulimit -u
Can't mount proc on /newroot/proc: Operation not permitted|systempaths=unconfined
something nobody has heard of|something nobody has heard of
END
    broken="$run $by=$work/broken-bwrap"
    printf '#!/bin/sh\nexit 3\n' >broken-bwrap
    fails bwrap_says_nothing 125 setup_failed 'ended with status 3 and said nothing' \
        $broken -e "$code"
    printf '#!/bin/sh\nexec sleep 3600\n' >broken-bwrap
    fails bwrap_hangs 125 setup_failed \
        'it built no box in time and said nothing: give it more on a busy machine (session.start_timeout), install' \
        $broken --set session.start_timeout=30 -e "$code"
    says bwrap_hangs_until 'no token was shown within 7.5 seconds'
    cat >broken-bwrap <<'END'
#!/bin/sh
echo '{"child-pid":[' >&3
printf '\033[2Jnon\377sense\nmore' >&2
END
    fails bwrap_says_nonsense 125 setup_failed \
        'broken-bwrap does not work as bubblewrap, it built no box and ended with status 0' \
        $broken -e "$code"
    # A bwrap that starts the agent without a box.
    cat >broken-bwrap <<'END'
#!/bin/sh
eval "all=\$(tr '\0' '\n' <&$2)"
before() { printf '%s\n' "$all" | grep -xB 1 "$1" | head -n 1; }
LAZARET_SOCKET=$(before /run/lazaret/socket)/ipc.sock
LAZARET_TOKEN=$(printf '%s\n' "$all" | grep -xA 1 LAZARET_TOKEN | tail -n 1)
export LAZARET_SOCKET LAZARET_TOKEN
exec "$(before /run/lazaret/bin/lazaret-agent)"
END
    fails bwrap_builds_no_box 125 setup_failed 'does not work as bubblewrap' $broken -e "$code"
    says bwrap_builds_no_box_is_seen 'a process that is not in the box connected'
    # The next backend of a list is tried; the failure of each is reported.
    fails bwrap_broken_in_a_list 125 setup_failed 'backend bwrap does not work: ' \
        $broken --set 'sandbox.backend=["bwrap","bwrap"]' -e "$code"
    printf '#!/bin/sh\nexit 3\n' >broken-bwrap
    falls_back 'ended with status 3 and said nothing' \
        "$lazaret" run --runtime lua --set sandbox.bwrap.program="$work/broken-bwrap"
    # A backend that does not enforce enough is not used, and one that would is tried first.
    fails auto_refuses_less_than_required 125 setup_failed '; --set: backend landlock does not enforce' \
        $run --set sandbox.bwrap.program="$work/broken-bwrap" \
        --set 'sandbox.require=["processes"]' -e "$code"
    expect list_passes_over_what_enforces_too_little 0 1 'landlock does not enforce' \
        $run --set 'sandbox.backend=["landlock","bwrap"]' --set 'sandbox.require=["processes"]' -e 1

    # Code runs without a box only when the settings allow it, and never without a warning.
    expect strict_false_runs_with_a_warning 0 CANARY 'WITHOUT ISOLATION' \
        $run $by=/bin/false --set sandbox.strict=false -e "$code"
    [ -e "$canary/here" ] || wrong canary 'it does not sing without a sandbox either'
    rm -f "$canary/here"
    expect in_a_box_no_canary_file 0 CANARY '' $run -e "$code"
    [ ! -e "$canary/here" ] || wrong in_a_box_no_canary_file 'written outside the box'
    rm -f "$canary/here"
    fails backend_none_is_refused 126 blocked fs_read $run --backend none -e "$code"
    expect a_call_that_nothing_refuses_gets_no_warning 0 '*' '' \
        $run --backend none --set 'sandbox.require=[]' -e 'os.execute("true")'
    expect nor_does_one_that_is_allowed 0 '*' '' $run -e 'os.execute("true")'
    expect a_call_that_is_refused_gets_one 0 '*' 'os.execute' $run --set 'sandbox.programs=[]' \
        -e 'os.execute("true")'
    fails backend_of_another_system 2 setup_failed 'windows-job is made for windows and not for' \
        $run --backend windows-job --set 'sandbox.require=[]' -e "$code"
}

# ---- machines ------------------------------------------------------------------------------------

# Runs in a user namespace as an ordinary user; `machine` runs with all capabilities there, the
# command without.
in_namespaces() { # UNSHARE-OPTIONS SETUP COMMAND...
    ns_options=$1 ns_setup=$2
    shift 2
    # shellcheck disable=SC2086
    unshare --user --map-user=1000 --map-group=1000 --keep-caps $ns_options sh -c "$ns_setup
        exec setpriv --inh-caps -all --ambient-caps -all --bounding-set -all \"\$@\"" sh "$@"
}

wrong_machines() {
    if ! in_namespaces '' '' true 2>/dev/null; then
        may_be_missing namespaces 'unshare cannot make user namespaces here'
        return
    fi
    fails user_namespaces_refused 125 setup_failed 'user.max_user_namespaces' \
        in_namespaces '' 'echo 0 >/proc/sys/user/max_user_namespaces' $run --backend bwrap -e "$code"
    falls_back user.max_user_namespaces \
        in_namespaces '' 'echo 0 >/proc/sys/user/max_user_namespaces' $run
    if bwrap --unshare-user --disable-userns --uid 1000 --dev-bind / / true 2>/dev/null; then
        fails nested_in_a_box_that_forbids_it 125 setup_failed 'user.max_user_namespaces' \
            bwrap --unshare-user --disable-userns --uid 1000 --gid 1000 --dev-bind / / \
            $run --backend bwrap -e "$code"
        falls_back user.max_user_namespaces \
            bwrap --unshare-user --disable-userns --uid 1000 --gid 1000 --dev-bind / / $run
    fi
    if in_namespaces --mount 'mount -t tmpfs none /mnt' true 2>/dev/null; then
        hidden='for f in /usr/local/bin /usr/bin /bin; do
            [ ! -e $f/bwrap ] || mount --bind /dev/null $f/bwrap; done'
        fails bwrap_hidden 125 setup_failed 'bwrap is not installed (Debian' \
            in_namespaces --mount "$hidden" $run --backend bwrap -e "$code"
        falls_back 'bwrap is not installed (Debian' in_namespaces --mount "$hidden" $run
        wrong_tmp
    else
        may_be_missing namespaces 'a mount namespace cannot be used here'
    fi
}

# The installation is below /mnt, so that another /tmp can be mounted.
wrong_tmp() {
    move="mount --bind '$staged' /mnt && cd /"
    there=/mnt${staged_bin}/lazaret
    mnt="env LAZARET_AGENT=/mnt$staged_agent/lazaret-agent LAZARET_PLUGIN_PATH=/mnt$staged_plugins"
    run_there="$mnt $there run $patient --runtime lua" # there are no user settings
    fails tmp_read_only 125 setup_failed 'Read-only file system; lazaret keeps the sockets' \
        in_namespaces --mount "$move && mount -t tmpfs -o ro none /tmp" $run_there -e "$code"
    fails tmp_not_writable 125 setup_failed 'Permission denied; lazaret keeps the sockets' \
        in_namespaces --mount "$move && mount -t tmpfs -o mode=0555 none /tmp" $run_there -e "$code"
    # Allows some more inodes each time, each number with LAZARET_TEST_FULL=yes: the start fails at
    # each of its steps, and finally succeeds. It uses few programs, because each is a file there.
    [ -n "${LAZARET_TEST_FULL-}" ] && more=1 || more=4
    inodes=$((seed % more + 1)) full=0
    while [ "$inodes" -lt 40 ]; do
        status=0 cases=$((cases + 1))
        in_namespaces --mount "$move && mount -t tmpfs -o nr_inodes=$inodes none /tmp" \
            sh -c '"$@" || status=$?; ls -A /tmp >&2; exit ${status-0}' sh \
            $run_there --set 'sandbox.programs=["sh", "cat"]' -e 'print(1)' >out 2>err || status=$?
        [ "$status" -ne 0 ] || break
        full=$((full + 1))
        [ "$status" -eq 125 ] && [ ! -s out ] && grep -q 'No space left on device' err &&
            ! grep -qv '^lazaret: ' err || wrong "tmp_full $inodes" "status $status"
        inodes=$((inodes + more))
    done
    [ "$full" -ge 3 ] && [ "$(cat out)" = 1 ] || wrong tmp_full "$full failures, then status $status"
    expect tmp_full_is_told 125 '' 'which has to be writable and not full' \
        in_namespaces --mount "$move && mount -t tmpfs -o nr_inodes=1 none /tmp" $run_there -e 1
}

# ---- signals and verdicts ------------------------------------------------------------------------

# Prints the process and all its descendants.
descendants() {
    ps -e -o pid= -o ppid= | awk -v root="$1" '
        { parent[$1] = $2 }
        END {
            for (pid in parent) {
                for (p = pid; p in parent && p != root; p = parent[p]);
                if (p == root) print pid
            }
        }'
}

# await_end PID... - waits until all of them have ended.
await_end() {
    for pid; do
        while [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do
            sleep 0.02
        done
    done
}

# What a shell starts in the background ignores SIGINT: this starts it as a terminal does.
as_usual='env --default-signal=HUP,INT'

# after_signal SIGNAL STATUS MESSAGE - sends the signal while code that never ends is running.
after_signal() {
    cases=$((cases + 1)) status=0
    rm -f pipe
    mkfifo pipe
    $as_usual $run --timeout 0 -e 'print("ready") io.stdout:flush() while true do end' >pipe 2>err &
    child=$!
    : >out
    exec 3<pipe
    read -r line <&3
    family=$(descendants "$child")
    directory=$(ls -l "/proc/$child/fd" | sed -n 's/.* -> \(\/tmp\/lazaret-[^/]*\)$/\1/p' | head -n 1)
    kill -s "$1" "$child"
    # shellcheck disable=SC2086
    await_end $family
    wait "$child" || status=$?
    exec 3<&-
    [ "$status" -eq "$2" ] || wrong "after_$1" "status $status, expected $2"
    [ -z "$3" ] || grep -qF "$3" err || wrong "after_$1" "not told: $3"
    # shellcheck disable=SC2086
    set -- $family
    [ $# -ge 3 ] || wrong after_signal "only $# processes were there"
    [ -n "$directory" ] || wrong after_signal 'its directory is not known'
}

signals() {
    after_signal INT 130 cancelled
    [ ! -e "$directory" ] || wrong after_INT "$directory stays"
    after_signal TERM 143 cancelled
    [ ! -e "$directory" ] || wrong after_TERM "$directory stays"
    after_signal KILL 137 ''
    # The next engine on the machine, perhaps of another test, removes what is left.
    expect start_after_a_kill 0 1 '' $run -e 1
    while [ -e "$directory" ]; do
        sleep 0.02
    done

    # Before the execution begins: bwrap hangs.
    cases=$((cases + 1)) status=0
    rm -f pipe
    mkfifo pipe
    printf '#!/bin/sh\necho here >%s\nexec sleep 3600\n' "$work/pipe" >hanging-bwrap
    chmod 755 hanging-bwrap
    chmod 666 pipe
    $as_usual $run --backend bwrap --set "sandbox.bwrap.program=$work/hanging-bwrap" -e "$code" --json >out 2>err &
    child=$!
    read -r line <pipe
    kill -s INT "$child"
    wait "$child" || status=$?
    [ "$status" -eq 130 ] || wrong interrupt_at_the_start "status $status"
    json_is_one_object interrupt_at_the_start cancelled
    canary_is_quiet interrupt_at_the_start
}

# ignored NAME COMMAND... - code has a tool of the host send both signals to the command, which the
# parent ignores, and goes on with more calls.
ignored() {
    name=$1
    shift
    expect "$name" 0 21 '' "$@" $run --config hangup.toml -e 'local n = 0
        for i = 1, 20 do hush() n = n + 1 end return n + 1'
}

# started FILE TEXT - waits until the text is in the file, or its process has ended.
started() {
    until grep -qF -e "$2" "$1" 2>/dev/null; do
        kill -0 "$server" 2>/dev/null || break
        sleep 0.02
    done
}

# still_serves NAME REQUEST ANSWER COMMAND... - a server that has been sent both signals answers, and
# ends with its standard input.
still_serves() {
    name=$1 request=$2 answer=$3
    shift 3
    cases=$((cases + 1)) status=0
    rm -f pipe out
    mkfifo pipe
    (trap '' HUP INT && exec "$@") <pipe >out 2>err &
    server=$!
    exec 3>pipe
    echo "$request" >&3
    started out "$answer"
    kill -s HUP "$server"
    kill -s INT "$server"
    : >out
    echo "$request" >&3
    started out "$answer"
    grep -qF -e "$answer" out || wrong "$name" "no answer after the signals"
    exec 3>&-
    wait "$server" || status=$?
    [ "$status" -eq 0 ] || wrong "$name" "status $status"
}

# A disposition that was inherited stays: nohup(1), a job in the background of a script.
ignored_signals() {
    printf '#!/bin/sh\nkill -s HUP $PPID\nkill -s INT $PPID\necho 0\n' >hangup
    chmod 755 hangup
    { cat "$HOME/.config/lazaret/lazaret.toml" && tools_file hush "$work/hangup"; } >hangup.toml
    ignored ignored_by_a_parent sh -c 'trap "" HUP INT; exec "$@"' sh
    cases=$((cases + 1)) status=0 # the first asks, the second ends it; in either order
    $as_usual $run --config hangup.toml -e 'while true do hush() end' >out 2>err </dev/null || status=$?
    [ "$status" -eq 129 ] || [ "$status" -eq 130 ] || wrong signals_reach_the_command "status $status"
    still_serves serve_ignores '{"type":"execute","id":1,"code":"6 * 7"}' '"value":42' \
        "$lazaret" serve --runtime lua
    still_serves mcp_ignores '{"jsonrpc":"2.0","id":1,"method":"ping"}' '"id":1,"result":{}' \
        "$lazaret" mcp --runtime lua
}

# verdict REASON STATUS OPTIONS... CODE - the code ends with this verdict, also in --json.
verdict() {
    reason=$1 want=$2
    shift 2
    status=0 cases=$((cases + 1))
    $run --json "$@" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$want" ] || wrong "verdict_$reason" "status $status, expected $want"
    json_is_one_object "verdict_$reason" "$reason"
}

verdicts() {
    { cat "$HOME/.config/lazaret/lazaret.toml" && tools_file hush /bin/true; } >hush.toml
    sed 's/"\/bin\/true"/"\/bin\/sleep", "3600"/; s/^name = .*/&\ntimeout = 3600/' hush.toml >slow.toml
    verdict ok 0 -e '1'
    verdict ok 0 -e 'os.exit(0)'
    verdict error 1 -e 'error("no")'
    verdict error 3 -e 'os.exit(3)'
    verdict error 123 -e 'os.exit(123)'
    verdict error 1 -e 'os.exit(124)'
    verdict error 1 -e 'os.exit(255)'
    verdict syntax_error 1 -e 'x = = 1'
    verdict timeout 124 --timeout 0.3 -e 'os.execute("sleep 3000")'
    verdict deadline 124 --config slow.toml --set session.deadline=0.5 -e 'hush()'
    verdict cpu_limit 137 --timeout 0 --set limits.cpu=1 -e 'while true do end'
    case $staged_cc in # in a build with sanitizers the agent sets no memory limit
        *sanitize*) echo '    SKIP sanitize: no memory limit with the sanitizers' ;;
        *) verdict memory_limit 137 --set limits.memory=64MiB -e 's = string.rep("x", 1 << 30)' ;;
    esac
    verdict fsize_limit 137 --set limits.fsize=64KiB \
        -e 'local f = io.open("/tmp/f", "w") for i = 1, 1000 do assert(f:write(string.rep("x", 1024))) assert(f:flush()) end'
    verdict tool_limit 137 --config hush.toml --set session.max_tool_calls=2 \
        -e 'for i = 1, 3 do pcall(hush) end'
    verdict output_limit 137 --set session.max_output_size=1KiB \
        -e 'while true do print(string.rep("x", 1000)) end'
    verdict blocked 126 --set session.max_code_length=3 -e '1 + 1'
    verdict setup_failed 125 --backend bwrap --set sandbox.bwrap.program=/bin/false -e 1
}

# ---- limits of the process -----------------------------------------------------------------------

# limited OPTION COMMAND... - runs it with a limit of prlimit(1): $status, and what it says in `err`.
limited() {
    limit=$1
    shift
    cases=$((cases + 1)) status=0
    { prlimit "$limit" "$@" 2>&1 </dev/null; echo "status $?"; } | cat >err
    status=$(sed -n 's/^status //p' err)
    sed -i '/^status /d' err
}

# told NAME STATUS TEXT - so ended what was limited.
told() {
    : >out
    [ "$status" -eq "$2" ] && contains err "$3" && messages_only || wrong "$1" "status $status, not said: $3"
}

# An error that names the limit, and never its signal.
limits_of_the_process() {
    if ! prlimit --fsize true 2>/dev/null; then
        may_be_missing prlimit 'no prlimit'
        return
    fi
    limited --fsize=0 $run --backend bwrap -e "$code"
    told no_files 125 '(RLIMIT_FSIZE, ulimit -f)'
    limited --fsize=0 "$lazaret" config --check
    told no_files_check 125 'RLIMIT_FSIZE, ulimit -f'
    for words in 'plan --runtime lua' config plugins; do
        # shellcheck disable=SC2086
        limited --fsize=0 sh -c '"$@" >file' sh "$lazaret" $words
        told "no_files_$words" 74 'standard output cannot be written: File too large'
        # shellcheck disable=SC2086
        limited --fsize=0 sh -c '"$@" 2>file' sh "$lazaret" "--unknown" $words
        [ "$status" -eq 2 ] || wrong "no_files_error_$words" "status $status"
    done
    limited --nofile=6 $run -e "$code" 3>&- 4>&- 5>&-
    told no_descriptors 125 'RLIMIT_NOFILE'
    if [ "$(id -u)" -ne 0 ]; then # for root this limit does not count
        limited --nproc=0 "$lazaret" config --check
        told no_processes_check 125 'RLIMIT_NPROC'
        limited --nproc=0 "$lazaret" run --runtime lua -e "$code"
        told no_processes 125 'RLIMIT_NPROC'
    fi
    canary_is_quiet limits_of_the_process
}

# No directory of the user is needed.
homes() {
    expect home_missing 0 7 '' env HOME="$work/nowhere" $run $patient -e 7
    expect home_unset 0 7 '' env -u HOME $run $patient -e 7
    expect home_is_a_file 0 7 '' env HOME="$work/out" $run $patient -e 7
    [ "$(id -u)" -ne 0 ] || return 0
    mkdir closed
    chmod 0 closed
    fails home_unreadable 2 setup_failed 'let this user read it, or name another file' \
        env HOME="$work/closed" $run -e "$code"
}

# ---- words ---------------------------------------------------------------------------------------

words() {
    expect quiet_is_quiet 0 CANARY '' $run -q --backend bwrap --set sandbox.bwrap.program=/bin/false \
        --set sandbox.strict=false -e "$code"
    rm -f "$canary/here"
    expect verbose_tells 0 1 'Session started' $run -v -e 1
    expect quiet_still_tells_errors 1 '' 'error: -e:1: ' $run -q -e 'error("no")'
    expect no_color 1 '' 'error: -e:1: ' env NO_COLOR=1 TERM=xterm-256color $run -e 'error("no")'
    ! grep -q "$(printf '\033')" err || wrong no_color 'an escape sequence'
}

# The other subcommands with the shipped configurations.
looking() {
    for file in "$examples/lazaret.toml" "$examples/examples/demo.toml"; do
        with="--config $file $patient"
        expect "check $file" 0 '' '' "$lazaret" check $with --runtime lua -e 'return 1'
        expect "plugins $file" 0 '*' '' "$lazaret" plugins $with
        for plugin in bwrap landlock seatbelt none windows-job command lua; do
            expect "plugins $plugin" 0 '*' '' "$lazaret" plugins $plugin $with
            grep -q "$plugin" out || wrong "plugins $plugin" 'its name is not there'
        done
        for format in text json r python javascript lua; do
            expect "tools $format $file" 0 '*' '' "$lazaret" tools --format $format $with
        done
        expect "config $file" 0 '*' '' "$lazaret" config $with
        expect "config --check $file" 0 '' '' "$lazaret" config --check $with
        expect "plan $file" 0 '*' '' "$lazaret" plan --runtime lua $with
        grep -q '^backend bwrap' out || wrong "plan $file" 'no plan for bwrap'
        expect "plan linux $file" 0 '*' '' "$lazaret" plan --runtime lua --platform linux $with
        expect "plan darwin $file" 0 '*' '' "$lazaret" plan --runtime lua --platform darwin $with
        grep -q '^backend seatbelt' out || wrong "plan darwin $file" 'no plan for seatbelt'
        expect "plan windows $file" 126 '*' 'to go without: fs_read, fs_write, network' \
            "$lazaret" plan --runtime lua --platform windows $with
        grep -q '^backend windows-job' out || wrong "plan windows $file" 'no plan for windows-job'
        expect "plan windows $file, nothing required" 0 '*' '' \
            "$lazaret" plan --runtime lua --platform windows $with --set 'sandbox.require=[]'
    done
    expect tools_of_the_demonstration 0 '*' '' \
        "$lazaret" tools --config "$examples/examples/demo.toml"
    grep -q measurements out || wrong tools 'measurements is not there'
}

# Every installed runtime answers 2, with the usual programs: R does not start without some of them.
runtimes() {
    sed '/^sandbox\.programs/d' "$HOME/.config/lazaret/lazaret.toml" >usual.toml
    for runtime in r python lua javascript; do
        if [ ! -e "$LAZARET_PLUGIN_PATH/$runtime.so" ]; then
            may_be_missing "$runtime" 'not installed'
            continue
        fi
        expect "run $runtime" 0 '*' '' "$lazaret" run --json -e '1+1' --runtime "$runtime" \
            --config usual.toml
        json_is_one_object "run $runtime" ok
        grep -qF '"value":2,' out && grep -qF '"isolation":{"backend":"bwrap"' out ||
            wrong "run $runtime" 'not 2, or not in bwrap'
    done
}

# ---- what runs beside what -----------------------------------------------------------------------

files() {
    make_canary
    of_others
    unreadable
    homes
    unless_repeated wrong_configurations wrong_code
}

plugins_and_agents() {
    make_canary
    wrong_plugins
    wrong_agents
    unless_repeated wrong_tools verdicts
}

backends() {
    make_canary
    limits_of_the_process
    wrong_bwrap
}

# In a namespace directories of root have the owner of all others. So the installation there is one of
# which this user owns every directory, whatever is above the build.
machines() {
    make_canary
    cp -R "$staged" installation
    stage_open "$work/installation"
    run="$lazaret run --runtime lua"
    wrong_machines
}

commands() {
    make_canary
    signals
    ignored_signals
    runtimes
    unless_repeated words looking
}

if [ ! -e "$LAZARET_PLUGIN_PATH/lua.so" ]; then
    may_be_missing lua 'not installed'
elif ! $run -e 1 >out 2>err; then
    cat err
    may_be_missing bwrap 'a session cannot be started'
else
    side_by_side files plugins_and_agents backends machines commands
fi
finish
