#!/bin/sh
# SPDX-License-Identifier: MIT
# secrets.sh - no subcommand prints the value of a secret: those of [env] set and allow, and of
# options that a plugin has marked.
#
# Each secret has the same word in it, which no output of any command may have.  That the commands
# show what they are about is tested beside it: names, and what is not secret.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/secrets-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mocks=$PWD/tests/mock/.libs
stage_open "$PWD/staged"
LAZARET_PLUGIN_PATH=$LAZARET_PLUGIN_PATH:$mocks
HOME=$work INHERITED=mellon-inherited
export HOME INHERITED LAZARET_PLUGIN_PATH
be_patient
cd "$work" || exit 1
: >out
: >err
cat >server <<'END'
#!/bin/sh
exit 3
END
chmod 755 server
cat >secret.toml <<END
[session]
runtime = "lua"
start_timeout = 600
[env]
allow = ["INHERITED"]
set = { TOKEN = "mellon-set", NOTHING = "" }
[audit]
file = "$work/log"
[sandbox.mock_secret]
program = "mellon-backend"
[[tools]]
provider = "mcp"
name = "files"
command = ["$work/server"]
env = { KEY = "mellon-env" }
required = false
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

config="--config $work/secret.toml"
hides config 0 'env.set = { TOKEN = { secret = "set" }, NOTHING = { secret = "set" } }' \
    "$lazaret" config $config
says config_of_a_backend 'sandbox.mock_secret.program = { secret = "set" }'
says config_of_a_provider 'env = { KEY = { secret = "set" } }'
says config_shows_the_rest "command = [\"$work/server\"]"
hides config_as_json 0 'secret' "$lazaret" config --json $config
hides config_check 0 'the MCP server files runs outside' "$lazaret" config --check $config
hides config_that_was_set 0 'B = { secret' "$lazaret" config --set 'env.set.B="mellon"'
hides config_of_a_plugin_that_is_missing 0 'runtime.gone.key = { secret = "set" }' \
    "$lazaret" config --set 'runtime.gone.key="mellon"'
hides plugin 0 'program (string, secret, default "mock")' "$lazaret" plugins mock_secret
hides plugin_as_json 0 '"secret":true' "$lazaret" plugins --json mock_secret

for backend in bwrap none; do
    hides plan_$backend 0 'TOKEN' "$lazaret" plan $config --backend $backend \
        --set 'sandbox.require=[]'
    hides plan_${backend}_as_json 0 'INHERITED' "$lazaret" plan --json $config \
        --backend $backend --set 'sandbox.require=[]'
done
hides plan_of_a_secret_option 0 '{\"program\":\"(set)\"}' "$lazaret" plan --json $config \
    --backend mock_secret --set 'sandbox.require=[]'
for system in darwin windows; do
    hides plan_for_$system 0 'TOKEN=(set)' "$lazaret" plan $config --platform $system \
        --set 'sandbox.require=[]'
done

hides wrong_value 2 'env.set: expected a string' "$lazaret" config $config \
    --set 'env.set.A=["mellon"]'
hides wrong_table 2 'env.set: expected a table' "$lazaret" config --set 'env.set="A=mellon"'
hides wrong_name 2 'env.set: expected a name' "$lazaret" config --set 'env.set."a b"="mellon"'
hides no_pair 2 'expected KEY=VALUE, found env.set.TOKEN' "$lazaret" config --set env.set.TOKEN:mellon
hides no_name 2 'expected NAME' "$lazaret" run --env '=mellon' -e 1
printf '[env]\nset = { A = mellon }\n' >bare.toml
hides no_quotes 2 '2:13: expected a value, found a word' "$lazaret" config --config bare.toml
printf '[env]\nset = { A = 9mellon }\n' >bare.toml
hides no_number 2 '2:13: this is not a number' "$lazaret" config --config bare.toml
hides wrong_option 2 'sandbox.mock_secret.program: expected a string, found list' "$lazaret" plan \
    --backend mock_secret --set 'sandbox.mock_secret.program=["mellon"]'
hides refused_variable 2 'LD_PRELOAD cannot be set' "$lazaret" config --check --env LD_PRELOAD=mellon

if [ ! -e "${LAZARET_PLUGIN_PATH%:*}/lua.so" ]; then
    may_be_missing lua 'not installed'
else
    hides run_that_says_much 0 'true' "$lazaret" run $config --verbose --backend none \
        --set 'sandbox.require=[]' --set 'sandbox.strict=false' -e 'os.getenv("TOKEN") == "mel" .. "lon-set"'
    hides the_log 0 'execute_start' cat log
fi
finish
