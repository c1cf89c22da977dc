#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh - what `make install` puts where, and that `make uninstall` takes all of it away: with
# DESTDIR, into a second prefix that other packages use as well, as an ordinary user; that a prefix
# can be moved; the unit of systemd, and the program that divides a service's control group. The
# build is one out of tree (VPATH), and nothing is compiled again.
. "${srcdir:-.}/tests/session/lib.sh"

build=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/install-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"; [ -z "${group-}" ] || rmdir "$group/host" "$group" 2>/dev/null' EXIT
chmod 755 "$work"
. "$build/staged/paths" || exit 1
HOME=$work
export HOME
be_patient
: >"$work/out"
: >"$work/err"
unset MAKEFLAGS MFLAGS MAKELEVEL

# list DIRECTORY - prints every file and directory below it.
list() {
    (cd "$1" && find . | sort)
}

# same NAME WANT GOT - two lists are equal.
same() {
    cases=$((cases + 1))
    diff "$2" "$3" >"$work/err" 2>&1 || wrong "$1" 'the lists differ'
}

# made NAME ARGUMENTS... - make succeeds; $as: as whom.
made() {
    name=$1
    shift
    cases=$((cases + 1))
    # shellcheck disable=SC2086
    ${as-} "${MAKE-make}" -C "$build" "$@" >"$work/out" 2>"$work/err" </dev/null ||
        wrong "$name" 'make failed'
}

# ---- DESTDIR ------------------------------------------------------------------------------------

# The build has staged it so for all tests, which stands for a second time here.
dest=$work/dest
list "$build/staged" | sed '/\/lazaret-nowhere$/d; /^\.\/paths$/d; /^\.\/install\.log$/d' \
    >"$work/staged.list"
if [ -n "${LAZARET_TEST_FULL-}" ]; then
    made destdir install DESTDIR="$dest"
    list "$dest" >"$work/dest.list"
    same destdir_has_what_was_staged "$work/staged.list" "$work/dest.list"
else
    cp -a "$build/staged" "$dest"
    rm "$dest/paths" "$dest/install.log" "$dest$staged_bin/lazaret-nowhere"
    list "$dest" >"$work/dest.list"
fi
cases=$((cases + 1))
! grep '\.la$' "$work/dest.list" >"$work/err" ||
    wrong no_libtool_files 'files of libtool are installed'
for completion in bash-completion/completions/lazaret zsh/site-functions/_lazaret \
    fish/vendor_completions.d/lazaret.fish; do
    cases=$((cases + 1))
    grep -q "/share/$completion\$" "$work/dest.list" || wrong completions "$completion is not installed"
done
cp -a "$dest$staged_prefix" "$work/moved"
list "$work/moved" >"$work/prefix.list"

# ---- systemd ------------------------------------------------------------------------------------

# The installed unit, with what it starts and the targets that each unit needs, on a machine of its
# own.
unit=$(sed -n 's,^\.\(/.*/lazaret-doctor\.service\)$,\1,p' "$work/dest.list")
[ -n "$unit" ] || wrong unit 'no unit of systemd is installed'
if ! command -v systemd-analyze >/dev/null 2>&1; then
    may_be_missing systemd-analyze 'not installed'
elif [ -n "$unit" ]; then
    units=$work/machine/usr/lib/systemd/system
    mkdir -p "$units"
    cp -a "$dest/." "$work/machine"
    cp "$dest$unit" "$units"
    for target in sysinit basic shutdown multi-user; do
        printf '[Unit]\nDescription=%s\nDefaultDependencies=no\n' $target \
            >"$units/$target.target"
    done
    cases=$((cases + 1))
    systemd-analyze --man=no --root="$work/machine" verify "$units/lazaret-doctor.service" \
        >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ] ||
        wrong unit_is_verified 'systemd-analyze complains'
    cases=$((cases + 1))
    sed 's,^ExecStart=,&/nonexistent,' "$dest$unit" >"$units/lazaret-wrong.service"
    ! systemd-analyze --man=no --root="$work/machine" verify "$units/lazaret-wrong.service" \
        >"$work/out" 2>"$work/err" || wrong unit_can_be_wrong 'systemd-analyze says nothing'
    rm -rf "$work/machine"
fi

# ---- the group of a service ---------------------------------------------------------------------

subgroup=$work/moved${staged_agent#"$staged_prefix"}/lazaret-subgroup
point=$(awk '/ - cgroup2 / && $4 == "/" { print $5; exit }' /proc/self/mountinfo)
other='' # runs a command as an ordinary user
[ "$(id -u)" -ne 0 ] || other='setpriv --reuid=65534 --regid=65534 --clear-groups'

# A group that was not delegated: the program runs, and the message says that it could do no better.
cases=$((cases + 1))
# shellcheck disable=SC2086
$other "$subgroup" echo 'it runs' >"$work/out" 2>"$work/err"
[ "$(cat "$work/out")" = 'it runs' ] && grep -q 'running where it is$' "$work/err" ||
    wrong subgroup_without_delegation 'not run, or without its message'
cases=$((cases + 1)) status=0
"$subgroup" >"$work/out" 2>"$work/err" || status=$?
[ $status -eq 2 ] || wrong subgroup_without_a_program "status $status"

# delegated COMMAND... - runs it as the ordinary user in a group that is delegated as systemd does.
delegated() {
    mkdir "$group" &&
        (cd "$group" && chown 65534 . cgroup.procs cgroup.subtree_control cgroup.threads) &&
        sh -c 'echo 0 >"$0/cgroup.procs" && echo $$ && exec "$@"' "$group" $other "$@" \
            >"$work/out" 2>"$work/err"
    status=$?
    rmdir "$group/host" 2>/dev/null
    rmdir "$group"
}

if [ -z "$other" ] || [ -z "$point" ] || ! mkdir "$point/lazaret-install-$$" 2>/dev/null; then
    echo '    SKIP a delegated group: needs root and control groups of version 2'
else
    rmdir "$point/lazaret-install-$$"
    group=$point/lazaret-install-$$
    # The process, its group, what is left in the delegated one, and whether that passes all
    # controllers on.
    look='echo $$; sed -n s/^0:://p /proc/self/cgroup; echo "left: $(cat "$0/cgroup.procs")"
        for one in $(cat "$0/cgroup.controllers"); do
            echo "+$one" >"$0/cgroup.subtree_control"
        done'
    delegated sh -c "$look" "$group"
    cases=$((cases + 1))
    grep -q '^left: [0-9]' "$work/out" || wrong service_is_in_the_delegated_group 'it is not'
    delegated "$subgroup" sh -c "$look" "$group"
    cases=$((cases + 1))
    { [ $status -eq 0 ] && [ ! -s "$work/err" ] &&
        [ "$(sed -n 1p "$work/out")" = "$(sed -n 2p "$work/out")" ] &&
        [ "$(sed '1,2d' "$work/out")" = "/${group##*/}/host
left: " ]; } || wrong subgroup_leaves_the_delegated_group 'not so'
fi

# ---- a moved prefix -----------------------------------------------------------------------------

moved=$work/moved
agent=$moved${staged_agent#"$staged_prefix"}/lazaret-agent
lazaret=$moved${staged_bin#"$staged_prefix"}/lazaret
libraries=$moved${staged_lib#"$staged_prefix"}
cat >"$work/program.c" <<'END'
#include <lazaret/lazaret.h>
#include <stdio.h>

int main(void)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    int rc = laz_settings_new(&settings, &err);
    if (!rc)
        rc = laz_settings_set(settings, "session.start_timeout", "600", &err);
    if (!rc)
        rc = laz_engine_new(settings, NULL, &engine, &err);
    if (!rc)
        rc = laz_session_open(engine, &options, &session, &err);
    puts(rc ? err.text : "a session");
    laz_session_free(session);
    laz_engine_free(engine);
    laz_settings_free(settings);
    return rc != 0;
}
END

if [ ! -e "$moved${staged_plugins#"$staged_prefix"}/lua.so" ]; then
    may_be_missing lua 'not installed'
elif ! LAZARET_AGENT=$agent "$lazaret" run --runtime lua -e 1 >"$work/out" 2>"$work/err"; then
    cat "$work/err"
    may_be_missing bwrap 'a session cannot be started'
else
    expect moved_runs 0 'here' '' "$lazaret" run --runtime lua -e 'print("here")'
    expect new_replaces_no_plugin 2 '' 'a plugin lua is installed already' \
        "$lazaret" plugins new lua --kind runtime
    # by another name, and found in PATH
    ln -s "$lazaret" "$work/lz"
    expect moved_runs_by_a_link 0 'here' '' env PATH="$work:$PATH" lz run --runtime lua \
        -e 'print("here")'
    # A library of the interpreter that lies beside the plugin is taken from there.
    plugins=$moved${staged_plugins#"$staged_prefix"}
    library=$(sed -n 's/.*"libraries":\["\([^"]*\)"\].*/\1/p' "$plugins/lua.json")
    path=$(ldd "$plugins/lua.so" | sed -n "s,.*$library => \(/[^ ]*\).*,\1,p")
    : >"$plugins/$library"
    expect library_beside_the_plugin 125 '' "$library: file too short" \
        "$lazaret" run --runtime lua -e 1
    cp "$path" "$plugins/$library"
    expect library_beside_the_plugin_is_loaded 0 "/lazaret/bin/$library" '' \
        "$lazaret" run --runtime lua -e 'for line in io.lines("/proc/self/maps") do
            local path = line:match("/lazaret/bin/liblua%S*")
            if path then print(path) break end
        end'
    chmod o+w "$plugins/$library"
    expect library_beside_the_plugin_is_not_trusted 125 '' "$library: every user can write this file" \
        "$lazaret" run --runtime lua -e 1
    rm "$plugins/$library"
    if command -v pkg-config >/dev/null 2>&1; then
        flags=$(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --define-prefix --cflags --libs \
            lazaret)
        case $flags in
            *"-I$moved/include"*"-L$libraries"*) ;;
            *) [ "$libraries" != "$moved/lib" ] || wrong moved_flags "they are $flags" ;;
        esac
        # shellcheck disable=SC2086
        expect moved_builds 0 '' '' $staged_cc "$work/program.c" -I"$moved/include" \
            -L"$libraries" $flags -o "$work/program"
        expect moved_library_runs 0 'a session' '' \
            env LD_LIBRARY_PATH="$libraries" "$work/program"
    else
        may_be_missing pkg-config 'not installed'
    fi
    # Libraries beside the program are loaded before anything can be checked: doctor tells.
    mkdir "$libraries/lazaret/libraries"
    # what is asked is not about CPU time and memory, which doctor would use up
    idle='--set limits.cpu=unlimited --set limits.memory=unlimited'
    # shellcheck disable=SC2086
    expect libraries_are_trusted 0 '*' '' "$lazaret" doctor $idle --set sandbox.backend='"none"' --set sandbox.require='[]'
    chmod o+w "$libraries/lazaret/libraries"
    # shellcheck disable=SC2086
    expect libraries_are_not_trusted 1 '*' '' "$lazaret" doctor $idle --set sandbox.backend='"none"' --set sandbox.require='[]'
    cases=$((cases + 1))
    grep -q 'lazaret itself can be changed: .*/libraries' "$work/out" || wrong libraries_are_named 'not told'
    rmdir "$libraries/lazaret/libraries"
    # What was found is used by the rule for all files, and no other is taken instead.
    chmod o+w "$agent"
    cases=$((cases + 1))
    ! "$lazaret" run --runtime lua -e 1 >"$work/out" 2>"$work/err" &&
        grep -qF "$agent" "$work/err" ||
        wrong moved_agent_is_not_trusted 'not refused, or not named'
    [ ! -x "$work/program" ] ||
        expect moved_agent_is_not_trusted_by_the_library 1 '*' '' \
            env LD_LIBRARY_PATH="$libraries" "$work/program"
    [ ! -x "$work/program" ] || says the_library_names_the_agent "$agent"
    chmod o-w "$agent"
fi

# ---- uninstall ----------------------------------------------------------------------------------

made uninstall uninstall DESTDIR="$dest"
list "$dest$staged_prefix" >"$work/left.list"
cases=$((cases + 1))
find "$dest" ! -type d >"$work/err"
grep -E '/(lazaret|plugins-[0-9]+)(/|$)' "$work/left.list" >>"$work/err"
[ ! -s "$work/err" ] || wrong nothing_is_left 'left'

# A second prefix, which is an ordinary user's if one can read the build, with files of others.
second=$work/second
while read -r directory; do
    mkdir -p "$second/$directory"
done <"$work/left.list"
for file in "$staged_plugins/other.so" "$staged_agent/other" "$staged_lib/liblazaret-other.so" \
    "$staged_include/lazaret/other.h"; do
    file=$second${file#"$staged_prefix"}
    mkdir -p "${file%/*}"
    echo other >"$file"
done
as=
# shellcheck disable=SC2086
if [ -n "$other" ] && $other test -r "$build/Makefile" -a -r "$srcdir/Makefile.am"; then
    as=$other
    chown -R 65534 "$second"
fi
list "$second" >"$work/before.list"
made second_prefix install DESTDIR="$second" prefix=
list "$second" >"$work/second.list"
cases=$((cases + 1))
grep -vxFf "$work/second.list" "$work/prefix.list" >"$work/err"
[ ! -s "$work/err" ] || wrong second_prefix_has_the_same 'not installed'
made second_uninstall uninstall DESTDIR="$second" prefix=
list "$second" >"$work/after.list"
same second_prefix_is_as_before "$work/before.list" "$work/after.list"
finish
