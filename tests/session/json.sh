#!/bin/sh
# SPDX-License-Identifier: MIT
# json.sh - with --json each subcommand of the installed command prints one JSON document, which is
# what the installed schema says, whatever happens: in success, for mistakes in the configuration,
# on the command line, in files that are missing.
#
# A case is one call; its document is kept, and all are checked by one process at the end.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/json-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
schema=$staged$staged_doc/command.schema.json
HOME=$work
export HOME
be_patient
mkdir "$work/documents" "$work/project" "$work/there"
cd "$work/project" || exit 1
: >"$work/out"
: >"$work/err"
seen=$work/documents/seen

# prints SCHEMA STATUS ERROR ARGUMENTS... - the command prints one document, and ends with this
# status. ERROR: its first mistake, FILE|LINE|COLUMN|KEY|part of the message; "": it has none.
prints() {
    prints_schema=$1 prints_status=$2 prints_error=$3
    shift 3
    cases=$((cases + 1)) status=0
    "$lazaret" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq "$prints_status" ] || wrong "$*" "status $status, expected $prints_status"
    messages_only || wrong "$*" 'a message without its prefix'
    cp "$work/out" "$work/documents/$cases"
    printf '%s\t%s\t%s\t%s\t%s\n' "$cases" "$prints_schema" "$status" "$prints_error" "$*" >>"$seen"
}

printf 'session.timeuot = 3\n[session]\nverbose = "yes"\n' >wrong.toml
printf '[sandbox.landlock]\npath = "/x"\nother = 1\n' >options.toml
printf '[session\n' >syntax.toml
printf '%s\n' '[env]' 'set = { NAME = "value" }' '[limits]' 'cpu = 2.5' '[[tools]]' 'provider = "command"' \
    '[[tools.tool]]' 'name = "today"' 'description = "the date"' 'command = ["/bin/date"]' >right.toml
printf 'x = = 1\n' >syntax.lua

# ---- each subcommand: wrong usage and a configuration that cannot be used ------------------------
subcommands=$("$lazaret" --help | sed -n '/^subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$subcommands" ] || wrong help 'it lists no subcommand'
for name in $subcommands; do
    case $name in
        run | check) of=run failure=run ;;
        *) of=failure failure=failure ;;
    esac
    prints "$of" 2 '|||| --bogus' "$name" --bogus --json
    prints help 0 '' "$name" --help --json
    prints version 0 '' "$name" --json --version
    case $name in
        help | version | token | connect | cluster) continue ;;
        audit) set -- verify none.log ;;
        mcp) set -- --install claude client.json ;;
        run | check) set -- -e 1 ;;
        *) set -- ;;
    esac
    prints "$failure" 2 'nowhere.toml||||No such file' "$name" --json --config nowhere.toml "$@"
    prints "$failure" 2 'wrong.toml|1|9|session.timeuot|did you mean' "$name" --json --config wrong.toml "$@"
    prints "$failure" 2 'syntax.toml|1|9||expected' "$name" --json --config syntax.toml "$@"
    prints "$failure" 2 '|||session.timeout|expected a time' "$name" --timeout soon --json "$@"
done
prints failure 2 '||||serve' serve --json
prints failure 2 '||||mcp' mcp --json
prints failure 2 '||||did you mean run' rum --json
prints failure 2 '||||did you mean run' --json rum
prints failure 2 '||||unknown option' --bogus config --json
prints failure 2 '||||a subcommand is needed' --json
prints failure 2 '||||too many arguments' config --json more
prints failure 2 '||||needs an argument' config --json --config

# ---- what each does ------------------------------------------------------------------------------
prints config 0 '' config --json --config right.toml
prints config_check 0 '' config --check --json --set session.runtime=lua --backend none --set 'sandbox.require=[]'
prints config_check 2 '|||session.runtime|cobol' config --check --json --runtime cobol
prints config_check 2 'options.toml|2|1|sandbox.landlock.path|unknown key' config --check --json --config options.toml
prints plugins 0 '' plugins --json
prints plugins 0 '' plugins command --json
prints plugins 2 '||||no plugin named nix' plugins nix --json
prints plugins_new 0 '' plugins new weather --kind tool --json
prints plugins_new 2 '||||exists already' plugins new weather --kind tool --json
prints tools 0 '' tools --json --config right.toml --backend none --set 'sandbox.require=[]'
prints tools 0 '' tools --json --config right.toml --format lua
prints tools 2 '||||unknown format' tools --json --format cobol
prints plan 0 '' plan --json --backend none --set 'sandbox.require=[]' --runtime lua
prints plan 0 '' plan --json --backend bwrap --allow a.example --runtime lua
prints plan 0 '' plan --json --backend bwrap --allow a.example --runtime lua --set \
    'network.credential=[{ host = "a.example", header = "A: {secret}", secret = { env = "NO_SUCH" }, placeholder = { env = "B" } }]'
prints plan 126 '|||sandbox.require|does not enforce' plan --json --backend none --runtime lua
prints plan 2 '||||nix' plan --json --backend nix
prints version 0 '' version --json
prints help 0 '' help plan --json
prints mcp_install 0 '' mcp --install claude there/client.json --json --dry-run
prints mcp_install 2 '||||no client' mcp --install clyde --json
printf '{ "mcpServers": ]\n' >broken.json
prints mcp_install 2 '*|1|17||' mcp --install claude broken.json --json
prints audit_verify 2 'none.log||||cannot be opened' audit none.log --json
prints audit_verify 2 '||||are needed' audit --json
prints audit_verify 2 '||||is needed' audit verify --json
prints run 2 'none.lua||||cannot be opened' run --json none.lua
prints run 2 '||||is needed' run --json
prints run 2 '||||No such' run --json -e 1 --read nowhere
prints run 126 '|||sandbox.require|does not enforce' run --json --runtime lua --backend none -e 1

# ---- sessions ------------------------------------------------------------------------------------
look_for lua
if is_installed lua; then
    open="--runtime lua --backend none --set sandbox.require=[]"
    chmod 700 .
    prints run 0 '' run --json $open --set "audit.file=$PWD/log" -e 'print(1) return {a = 1}'
    prints run 1 '' run --json $open -e 'error("no")'
    prints run 1 '' run --json $open syntax.lua
    prints check 0 '' check --json $open -e 'return 1'
    prints check 1 '' check --json $open syntax.lua
    mkdir "$work/artifacts" && : >"$work/artifacts/file"
    prints run 74 '||||--artifacts' run --json $open --artifacts "$work/artifacts/file" \
        -e 'os.execute() local f = io.open("artifacts/a", "w") f:write("x") f:close()'
    prints audit_verify 0 '' audit log --json
    prints audit_show 0 '' audit show log --json
    sed 2d log >changed
    prints audit_verify 1 'changed||||is not intact' audit verify changed --json
    echo 'no record' >>changed
    prints audit_show 1 'changed|*|||not a record' audit show changed --json
    prints doctor 1 '' doctor --json --backend none $patient --set session.deadline=0.001
    prints doctor 1 '' doctor --json --backend nix $patient --set session.deadline=0.001
fi

# ---- the documents -------------------------------------------------------------------------------
cat >"$work/look.py" <<'END'
import json, sys
schema = json.load(open(sys.argv[1]))
try:
    import jsonschema
except ImportError:
    jsonschema = None

def closed(node):  # a member that the schema does not know is a mistake of one of the two
    if isinstance(node, dict):
        if "properties" in node:
            node.setdefault("additionalProperties", False)
        for child in node.values():
            closed(child)
    elif isinstance(node, list):
        for child in node:
            closed(child)
closed(schema)
strict = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else sys.exit("a key twice")
used = set()
for line in sys.stdin:
    number, name, status, error, words = line.rstrip("\n").split("\t")
    def wrong(what):
        print("FAILED lazaret", words + ":", what)
    used.add(name)
    text = open(sys.argv[2] + "/" + number, encoding="utf-8").read()
    try:
        document = json.loads(text, object_pairs_hook=strict)
    except ValueError as problem:
        wrong("not one JSON document: %s" % problem)
        continue
    if jsonschema:
        of = {"$defs": schema["$defs"], "$ref": "#/$defs/" + name}
        for problem in jsonschema.Draft202012Validator(of).iter_errors(document):
            deep = jsonschema.exceptions.best_match([problem])
            wrong("%s: %s" % ("/".join(map(str, deep.absolute_path)), deep.message[:200]))
    if document["ok"] != (status == "0"):
        wrong("ok is %s, and the exit status %s" % (document["ok"], status))
    if error:
        found = document.get("errors", [None])[0] or {}
        want = error.split("|")
        for key, text in zip(("file", "line", "column", "key"), want):
            if text != "*" and str(found.get(key) or "") != text:
                wrong("%s is %s, not %s" % (key, found.get(key), text))
        if want[4].strip() not in found.get("message", ""):
            wrong("the message is " + str(found.get("message")))
for name in schema["$defs"]:
    if name not in used and name not in ("error", "errors", "done") and sys.argv[3] == "all":
        print("FAILED no document is a", name)
if not jsonschema:
    print("    SKIP python3-jsonschema: no schema was looked at")
END
all=some
! is_installed lua || all=all
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import jsonschema' 2>/dev/null || may_be_missing jsonschema 'no schema is looked at'
    python3 -W ignore "$work/look.py" "$schema" "$work/documents" "$all" <"$seen" >"$work/found" 2>&1 ||
        echo 'FAILED the documents could not be looked at' >>"$work/found"
    cat "$work/found"
    failures=$((failures + $(grep -c '^FAILED' "$work/found")))
    # The look has to be able to fail.
    echo '{"ok":true,"version":1}' >"$work/documents/1"
    printf '1\tversion\t0\t\tversion\n' | python3 -W ignore "$work/look.py" "$schema" "$work/documents" some |
        grep -q '^FAILED' || ! python3 -c 'import jsonschema' 2>/dev/null ||
        wrong look 'a document that is not what the schema says was not found'
else
    may_be_missing python3 'no document was looked at'
fi
finish
