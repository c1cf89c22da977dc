#!/bin/sh
# SPDX-License-Identifier: MIT
# plugins.sh - lazaret plugins new, and the commands of writing-a-plugin.md for each kind of plugin,
# as an ordinary user who has what is installed and nothing of the sources.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/plugins-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
top=$(cd "${srcdir:-.}" && pwd)
stage_open "$PWD/staged"

for tool in pkg-config make "${staged_cc%% *}"; do
    command -v "$tool" >/dev/null 2>&1 && continue
    may_be_missing "$tool" 'not installed'
    finish
done

# A copy of the installation: the staged one lies in the sources, as a rule.
cp -R "$staged" "$work/stage"
stage_open "$work/stage"
document=$staged$staged_doc/writing-a-plugin.md
mkdir "$work/bin" "$work/home" "$work/tmp"
cat >"$work/bin/lazaret" <<END
#!/bin/sh
LAZARET_AGENT='$LAZARET_AGENT' LAZARET_TEST_TEMPLATES='$LAZARET_TEST_TEMPLATES' \\
LAZARET_PLUGIN_PATH="\${LAZARET_PLUGIN_PATH:+\$LAZARET_PLUGIN_PATH:}$LAZARET_PLUGIN_PATH" exec '$lazaret' "\$@"
END
cat >"$work/bin/pkg-config" <<END
#!/bin/sh
PKG_CONFIG_PATH='$staged$staged_pkgconfig' \\
    exec '$(command -v pkg-config)' --define-variable=prefix='$staged$staged_prefix' "\$@"
END
chmod 755 "$work/bin/lazaret" "$work/bin/pkg-config"
chmod -R go+rX "$work"
unset LAZARET_AGENT LAZARET_PLUGIN_PATH LAZARET_TEST_TEMPLATES MAKEFLAGS MFLAGS MAKELEVEL
unset PKG_CONFIG_PATH PKG_CONFIG
LAZARET=$work/bin/lazaret AGENT=$staged$staged_agent/lazaret-agent
HOME=$work/home TMPDIR=$work/tmp PATH=$work/bin:$PATH CC=$staged_cc
export LAZARET AGENT HOME TMPDIR PATH CC
cd "$work/tmp" || exit 1
be_patient

# as_user COMMAND... - for root: as another user, who has an empty directory in place of the sources
# where this process may mount one.
if [ "$(id -u)" -ne 0 ]; then
    as_user() { "$@"; }
elif unshare -m true 2>/dev/null; then
    chown -R 65533:65533 "$work/home" "$work/tmp"
    as_user() {
        unshare -m sh -c 'mount -t tmpfs none "$1" && shift &&
            exec setpriv --reuid=65533 --regid=65533 --clear-groups "$@"' sh "$top" "$@"
    }
else
    chown -R 65533:65533 "$work/home" "$work/tmp"
    as_user() { setpriv --reuid=65533 --regid=65533 --clear-groups "$@"; }
fi

# ---- the command --------------------------------------------------------------------------------

as_user lazaret plugins >kinds 2>&1 && grep -q '^carrier  *local ' kinds && grep -q '^tool  *command ' kinds ||
    wrong kinds 'lazaret plugins does not say of what kind they are'

new="as_user lazaret plugins new"
expect new_without_a_name 2 '' 'needs a name and --kind' $new
expect new_without_a_kind 2 '' 'needs a name and --kind' $new some
expect new_of_an_unknown_kind 2 '' 'expected tool, backend or runtime, found drum' $new some --kind drum
for name in a.b ../x 'a b' '' new x-lazaret; do
    expect "new_name_$name" 2 '' 'cannot be the name of a plugin' $new --kind tool "$name"
done
expect new_with_too_much 2 '' 'too many arguments: other' $new some other --kind tool
expect kind_without_new 2 '' '--kind is for lazaret plugins new' as_user lazaret plugins --kind tool
expect new_writes_each_file 0 'some/Makefile
some/check.sh
some/some.c

cd some
make
make check
make install    # or: make install PREFIX=DIR
lazaret plugins some    # then add to lazaret.toml: [[tools]] provider = "some"' '' \
    $new some --kind tool
expect new_spares_what_exists 2 '' 'some exists already' $new --kind tool some
expect nothing_is_called_skeleton 1 '' '' grep -r skeleton some

# ---- the document -------------------------------------------------------------------------------

# The commands of the nth block for a shell.
commands() {
    awk -v wanted="$1" '
        /^```sh$/ { inside = ++n == wanted; next }
        /^```/ { inside = 0 }
        inside' "$document"
}

# follows KIND FILES... - the commands for this kind, which are the nth, work and install FILES.
n=0
follows() {
    kind=$1 n=$((n + 1))
    shift
    commands $n >commands.sh
    cases=$((cases + 1)) status=0
    grep -q "^lazaret plugins new .* --kind $kind$" commands.sh || wrong "$kind" 'no such commands'
    as_user sh -eu commands.sh >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 0 ] || wrong "document_$kind" "status $status of: $(cat commands.sh)"
    grep -q ' works$' "$work/out" || wrong "document_$kind" 'make check does not say that it works'
    for file; do
        [ -s "$HOME/.local/lib/lazaret/plugins-1/$file" ] || wrong "document_$kind" "no $file"
    done
}

: >"$work/out"
: >"$work/err"
ln -s "$work/out" out
ln -s "$work/err" err
if ! as_user lazaret run --runtime lua -e 1 >"$work/out" 2>"$work/err"; then
    cat "$work/err"
    may_be_missing bwrap 'a session cannot be started'
    finish
fi
follows tool greet.so
grep -qF 'greeting (string, default "Hello")' "$work/out" || wrong document_tool 'no option'
follows backend vault.so vault.backend.json
grep -qF seccomp "$work/out" || wrong document_backend 'no plan'
follows runtime tally.so tally.json tally.language.json
[ "$(tail -n 1 "$work/out")" = 42 ] || wrong document_runtime 'its value is not 42'

LAZARET_PLUGIN_PATH=$HOME/.local/lib/lazaret/plugins-1
export LAZARET_PLUGIN_PATH
doctor=$(sed -n 's/^    \(lazaret doctor .*\)/\1/p' "$document")
as_user $doctor --backend none --set session.start_timeout=600 --set session.timeout=600 \
    --set session.deadline=600 --set limits.cpu=unlimited --set limits.memory=unlimited \
    >"$work/out" 2>"$work/err"
cases=$((cases + 1))
grep -qE '^ +runtime tally +works$' "$work/out" || wrong document_doctor 'tally does not work'

# What is installed names nothing that only the sources have.
expect document_names_no_sources 1 '' '' grep -nE '\b(core|plugins|tests|config|scripts)/' "$document"
expect new_files_name_no_sources 1 '' '' grep -rnF "$top" some greet vault tally

# ---- libraries of a plugin ------------------------------------------------------------------------

# links NAME VARIABLE - a plugin that needs a library works, however the library is given. The linker
# keeps a library only for what stands before it.
links() {
    cases=$((cases + 1)) status=0
    as_user sh -eu -c '
        lazaret plugins new "$1" --kind tool
        cd "$1"
        { echo "#include <math.h>"
          sed "/^static int greet(/,/^{/s/^{/{ if (cos((double)strlen(who)) > 2) return LAZ_EINVAL;/" \
              "$1.c"
        } >changed
        mv changed "$1.c"
        make CFLAGS="-O0 -fno-builtin" "$2=-Wl,--as-needed -lm"
        make check' sh "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 0 ] || wrong "links_$2" "status $status"
}
links linked LDFLAGS
links libbed LDLIBS

# ---- operations that fail without saying why ------------------------------------------------------

# silent KIND NAME FUNCTION - a plugin, where this function begins with such a failure.
silent() {
    as_user sh -eu -c '
        lazaret plugins new "$2" --kind "$1"
        cd "$2"
        sed "/^static int $3(/,/^{/s/^{/{ if (1) return LAZ_EINVAL;/" "$2.c" >changed
        ! cmp -s changed "$2.c"
        mv changed "$2.c"
        make install PREFIX="$HOME/.local"' sh "$@" >"$work/out" 2>"$work/err" || wrong "silent_$2" 'no build'
    printf '[[tools]]\nprovider = "%s"\n' "$2" >silent.toml
}

silent tool mute create
expect silent_create 2 '' 'the provider mute failed in create without saying why' \
    as_user lazaret tools --config silent.toml
silent tool dumb list
expect silent_list 2 '' 'the provider dumb failed in list without saying why' \
    as_user lazaret tools --config silent.toml
silent runtime still create
expect silent_runtime 125 '' 'the runtime still failed in create without saying why' \
    as_user lazaret run --runtime still -e 42
silent runtime hushed define_tools
expect silent_define_tools 125 '' 'the runtime hushed failed in define_tools without saying why' \
    as_user lazaret run --runtime hushed -e 42
silent backend quiet plan
expect silent_plan 2 '' 'the backend quiet failed in plan without saying why' \
    as_user lazaret plan --backend quiet
finish
