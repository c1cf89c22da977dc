#!/bin/sh
# SPDX-License-Identifier: MIT
# provider_secrets.sh - {secret.NAME} of providers: the program or server gets the value, from a file,
# a variable or a command; nobody else does, whatever is asked, logged, refused or answered.
#
# Each value has the same word in it, which nothing that lazaret prints or records may have. A
# program that prints a secret leaves a mark, so that it shows which commands run it.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/provider-secrets-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
source=$(cd "${srcdir:-.}" && pwd)
stage_open "$PWD/staged"
HOME=$work FROM_HOST=mellon-variable-value
export HOME FROM_HOST
be_patient
cd "$work" || exit 1
: >out
: >err

printf 'mellon-file-value\n' >file
printf 'mellon-open-value\n' >open
printf 'mellon\nlines\n' >lines
chmod 600 file lines
chmod 644 open
cat >pass <<END
#!/bin/sh
: >"$work/pass-ran"
case \$1 in
    fails) echo mellon-output; echo mellon-error >&2; exit 3 ;;
    much) while :; do echo mellon-mellon-mellon; done ;;
    *) echo mellon-command-value ;;
esac
END
cat >tool <<END
#!/bin/sh
case \$1 in
    check)
        [ "\$A" = 'Bearer mellon-file-value!' ] && [ "\$B" = mellon-variable-value/mellon-command-value ] &&
            [ "\$C" = '{secret} plain' ] && [ -n "\$HOME" ] && [ -z "\${FROM_HOST-}" ] && echo '"all there"' ;;
    answers) printf '"%s"' "\$A" ;;
    fails) echo "no: \$A" >&2; exit 1 ;;
esac
END
cat >server <<END
#!/bin/sh
echo "server: KEY is \$KEY" >&2
[ "\$KEY" != mellon-command-value ] || : >"$work/server-has-it"
exec python3 -I "$source/tests/mock/mcp_server.py" modern
END
chmod 755 pass tool server

table() {
    cat <<END
[[tools.tool]]
name = "$1"
command = ["$work/tool", "$1"]
env = { A = "Bearer {secret.from_file}!", B = "{secret.from_env}/{secret.from-command}", C = "{secret} plain" }
END
}
{
    cat <<END
[session]
runtime = "lua"
start_timeout = 600
[audit]
file = "$work/log"
[secrets]
from_file = { file = "$work/file" }
from_env = { env = "FROM_HOST" }
from-command = { command = ["$work/pass", "x"] }
unused = { command = ["$work/pass", "fails"] }
[[tools]]
provider = "command"
END
    table check
    table answers
    table fails
} >tools.toml
cp tools.toml both.toml
cat >>both.toml <<END
[[tools]]
provider = "mcp"
name = "m"
command = ["$work/server"]
env = { KEY = "{secret.from-command}" }
END

# hides NAME STATUS SHOWN COMMAND... - it prints SHOWN, and no secret.
hides() {
    name=$1 want=$2 shown=$3 status=0 cases=$((cases + 1))
    shift 3
    "$@" >out 2>err </dev/null || status=$?
    if [ "$status" -ne "$want" ]; then
        wrong "$name" "status $status, expected $want"
    elif ! contains out "$shown" && ! contains err "$shown"; then
        wrong "$name" "not printed: $shown"
    elif grep -q mellon out err; then
        wrong "$name" 'a secret was printed'
    fi
}

# pass_ran NAME yes|no
pass_ran() {
    cases=$((cases + 1)) ran=no
    [ ! -e pass-ran ] || ran=yes
    [ "$ran" = "$2" ] || wrong "$1" "was the command run? $ran, expected $2"
    rm -f pass-ran
}

# over_http - a server that answers only who sends the header with the right value.
over_http() {
    mkfifo input port
    secret='Bearer mellon-file-value' python3 -I "$source/tests/mock/mcp_http.py" modern '' json <input >port &
    exec 3>input
    read -r number <port
    for which in from_file from_env; do
        {
            sed '/^\[\[tools/,$d' tools.toml
            printf '[[tools]]\nprovider = "mcp"\nname = "h"\nurl = "http://127.0.0.1:%s/mcp"\n' "$number"
            printf 'headers = { X-Secret = "Bearer {secret.%s}" }\n' $which
        } >http_$which.toml
    done
    if "$lazaret" config --check --config "$work/http_from_file.toml" $box 2>&1 | grep -q libcurl; then
        may_be_missing http 'built without libcurl'
    else
        hides a_server_over_http_has_one 0 '5' "$lazaret" run --config "$work/http_from_file.toml" $box \
            --verbose -e 'return h_add(2, 3)'
        hides another_secret_is_not_that_one 125 'the server h' "$lazaret" run \
            --config "$work/http_from_env.toml" $box --verbose -e 'return h_add(2, 3)'
    fi
    exec 3>&-
    wait
}

# ---- what only looks --------------------------------------------------------------------------------

tools="--config $work/tools.toml"
box='--backend none --set sandbox.require=[] --set sandbox.strict=false'
hides config 0 "from_file = { file = \"$work/file\" }" "$lazaret" config $tools
says config_hides_the_environment 'A = { secret = "set" }'
hides config_as_json 0 '"from_env":{"env":"FROM_HOST"}' "$lazaret" config --json $tools
hides config_check 0 '' "$lazaret" config --check $tools $box
hides plan 0 'runs outside' "$lazaret" plan --config "$work/both.toml" $box
hides plan_as_json 0 'backend' "$lazaret" plan --json --config "$work/both.toml" $box
hides tools 0 'check' "$lazaret" tools $tools
hides tools_as_json 0 'check' "$lazaret" tools --json $tools
pass_ran what_only_looks no

# ---- mistakes ---------------------------------------------------------------------------------------

# mistake NAME MESSAGE SECRETS ENV [MORE] - MESSAGE "": there is none.
mistake() {
    {
        printf '[secrets]\n%s\n' "$3"
        printf '[[tools]]\nprovider = "command"\n[[tools.tool]]\nname = "t"\n'
        printf 'command = ["%s/tool", "check"%s]\n' "$work" "${5-}"
        printf 'env = %s\n' "$4"
    } >wrong.toml
    [ -n "$2" ] && status_of=2 || status_of=0
    hides "$1" $status_of "$2" "$lazaret" config --check --config "$work/wrong.toml" $box
}

ok="a = { file = \"$work/file\" }"
use='{ X = "{secret.a}" }'
mistake no_mistake '' "$ok" "$use" ', "good"'
mistake unknown_name 'wrong.toml:8:9: provider command: X: this is no name of [secrets]; did you mean a1?' \
    'a1 = { env = "FROM_HOST" }' '{ X = "{secret.aa}" }'
mistake a_value_as_a_name 'X: this is no name of [secrets]' "$ok" '{ X = "{secret.ghp_mellon}" }'
mistake no_brace 'behind {secret. stands a name' "$ok" '{ X = "{secret.a" }'
mistake in_a_key 'in values of `env` and `headers` only' "$ok" '{ "{secret.a}" = "x" }'
mistake no_name_of_a_variable "env: 'A=B' is no name of a variable" "$ok" '{ "A=B" = "x" }'
mistake in_arguments 'wrong.toml:7' "$ok" '{}' ', "{secret.a}"'
says in_arguments_says_why 'everybody on this machine can read the arguments of a program'
mistake open_file 'others can read this secret' "a = { file = \"$work/open\" }" "$use"
says open_file_is_named "the secret a: the file $work/open"
mistake no_file 'the secret a: the file /nowhere/x' 'a = { file = "/nowhere/x" }' "$use"
mistake two_lines 'it has a control character' "a = { file = \"$work/lines\" }" "$use"
mistake no_variable 'the secret a: the variable NOWHERE_SET: it is not set' 'a = { env = "NOWHERE_SET" }' "$use"
mistake no_program 'the secret a: the program /nowhere/p' 'a = { command = ["/nowhere/p"] }' "$use"
mistake a_value_in_place_of_a_source '(its value is not shown)' 'a = "mellon-in-the-file"' "$use"
hides passed_to_boxes 2 'env.allow passes it to the code' "$lazaret" config --check $tools $box \
    --set 'env.allow=["FROM_HOST"]'
pass_ran mistakes no

# ---- what uses it -----------------------------------------------------------------------------------

if [ ! -e "${LAZARET_PLUGIN_PATH%:*}/lua.so" ]; then
    may_be_missing lua 'not installed'
else
    hides a_command_has_them 0 'all there' "$lazaret" run $tools $box --verbose -e 'return check()'
    pass_ran a_command_has_them yes
    hides an_answer_with_one 1 'has a secret of the host in it' "$lazaret" run $tools $box -e 'return answers()'
    hides an_error_with_one 1 'no: Bearer *****************!' "$lazaret" run $tools $box -e 'return fails()'
    hides an_error_with_one_as_json 1 'no: Bearer' "$lazaret" run --json $tools $box -e 'return fails()'
    sed 's/"x"\]/"fails"]/' tools.toml >fails.toml
    hides a_command_that_fails 2 'the secret from-command: the program' \
        "$lazaret" run --config "$work/fails.toml" $box -e 'return check()'
    says a_command_that_fails_has_a_status 'exit status 3'
    sed 's/"x"\]/"much"]/' tools.toml >much.toml
    hides a_command_that_writes_much 2 'wrote more than' \
        "$lazaret" run --config "$work/much.toml" $box -e 'return check()'
    if command -v python3 >/dev/null 2>&1; then
        rm -f pass-ran
        hides a_server_that_is_checked 0 'runs outside' "$lazaret" config --check --config "$work/both.toml" $box
        pass_ran a_server_that_is_checked no
        hides a_server_has_one 0 '5' "$lazaret" run --config "$work/both.toml" $box --verbose \
            -e 'return m_add(2, 3)'
        says its_own_message_is_logged 'server: KEY is ********************'
        cases=$((cases + 1))
        [ -e server-has-it ] || wrong a_server_has_one 'it did not get the value'
        pass_ran a_server_has_one yes
        over_http
    else
        may_be_missing python3 'not installed'
    fi
    hides the_log 0 'execute_start' cat log
fi
finish
