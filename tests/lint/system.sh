#!/bin/sh
# SPDX-License-Identifier: MIT
# system.sh - what systems have in different ways is asked for in core/os alone: elsewhere core/ has
# the headers of C and the few that every system of lazaret has (mingw-w64 among them), asks no macro
# which system it is on, and calls nothing that one of them has not, or has otherwise. core/base,
# which is below core/os, may call what configure has found.
. "${srcdir:-.}/tests/lint/lib.sh"

c='assert ctype errno float inttypes limits locale math setjmp signal stdarg stdatomic stdbool stddef
    stdint stdio stdlib string time'
every='getopt pthread strings sys/types unistd'
wrapped='ares cJSON curl/curl gnutls/abstract gnutls/crypto gnutls/gnutls gnutls/x509 idn2 ltdl microhttpd nettle/eddsa nettle/sha2 nettle/version uv' # by whom: layers.sh

calls='accept4?|bind|chmod|chown|connect|dlopen|dlsym|dup[23]?|epoll_[a-z0-9]+|execv[pe]*'
calls="$calls|explicit_bzero|fchmod|fchown|fcntl|fork|fstat|geteuid|getuid|gmtime_r|inet_pton|ioctl|kill"
calls="$calls|lchown|link|listen|localtime_r|lstat|memrchr|mkdir|mkfifo|mmap|nanosleep|open|opendir"
calls="$calls|openat|pause|pipe2?|poll|posix_[a-z_]+|prctl|pthread_kill|pthread_sigmask|readdir"
calls="$calls|readlink|realpath|recv|recvmsg|rmdir|scandir|secure_getenv|select|send|sendmsg|setenv"
calls="$calls|setuid|sigaction|sigwait|socket|socketpair|stat|strndup|strsignal|symlink|sysconf|umask"
calls="$calls|uname|unsetenv|vfork|wait|waitid|waitpid"

found=$(lint_files -path './core/*.[ch]' | grep -vE '^core/(os|include)/' |
    awk -v top="$srcdir" -v headers="$(echo $c $every $wrapped)" -v calls="$calls" '
    BEGIN {
        # file: headers that it may include besides; of systems with fork, the first two
        besides["core/agent/reap.c"] = "fcntl sys/wait"
        besides["core/agent/template.c"] = "fcntl sys/wait"
        besides["core/command/call.c"] = "fcntl poll sys/auxv" # a program of Linux alone, as the next
        besides["core/command/carry.c"] = "fcntl poll sys/resource sys/stat"
        besides["core/base/json_number.c"] = "xlocale"
        besides["core/base/random.c"] = "sys/random"
        include = "^[ \t]*#[ \t]*include[ \t]*<"
        systems = "_WIN32|_WIN64|__MINGW32__|__linux__|__APPLE__|__unix__"
        asks = "^[ \t]*#.*[^A-Za-z0-9_](" systems ")([^A-Za-z0-9_]|$)"
        call = "(^|[^A-Za-z0-9_.>])(" calls ")[(]"
    }
    function judge_line(file, line, number) {
        if (line ~ include) {
            header = line
            sub(include, "", header)
            sub(/[.]h>.*/, "", header)
            if (header !~ /^lazaret\// &&
                !index(" " headers " " besides[file] " ", " " header " "))
                printf "%s: includes <%s.h>; only core/os may, ask it for what is needed\n", file,
                    header
        }
        # plugin.h: how the files of modules end
        if (line ~ asks && file != "core/plugin/plugin.h")
            printf "%s: asks which system it is on: %d:%s\n", file, number, line
        if (may_call || line ~ /^[ \t]*\/?[*]/) return
        # Without comments and texts; a member (x.send, ops->open) is not a call of the system.
        sub(/\/[*].*[*]\//, "", line)
        gsub(/"[^"]*"/, "", line)
        if (match(line, call))
            printf "%s: calls what only core/os may: %d: %s)\n", file, number,
                substr(line, RSTART, RLENGTH)
    }
    {
        may_call = /^core\/(agent\/(reap|template)[.]c$|command\/(call|carry)[.]c$|base\/)/
        number = 0
        while ((getline line <(top "/" $0)) > 0) judge_line($0, line, ++number)
        close(top "/" $0)
    }
    END { if (NR < 50) print "only " NR " files were found" }') ||
    wrong "the files could not be looked at"
[ -z "$found" ] || wrong "$found"

# A descriptor that is made is given a number above those of the standard streams, in the same
# expression: see laz_posix_above in core/os/posix/descriptors.h.
makers='accept4?|dup|epoll_create1?|eventfd|fopen|freopen|inotify_init1?|kqueue|memfd_create|mkostemp'
makers="$makers|mkstemp|open|openat|opendir|pipe2?|signalfd|socket|socketpair|timerfd_create|tmpfile"
found=$(lint_files -path './core/os/*.c' -o -path './core/agent/*.c' |
    grep -vE '/windows/|^core/os/linux/filter_make[.]c$' | # a program of the build
    awk -v top="$srcdir" -v makers="$makers" '
    BEGIN {
        exempt["core/os/posix/descriptors.c"] = "is where they are given"
        exempt["core/os/posix/streams.c"] = "opens the standard streams themselves"
        exempt["core/os/linux/descriptors.c open"] = exempt["core/os/linux/child.c open"] = "in a child"
        exempt["core/os/linux/child.c openat"] = "in a child"
        exempt["core/os/linux/child.c syscall(SYS_pidfd_open"] = "spawner_lift, spawner.c"
        exempt["core/agent/template.c open"] = "is to be standard input"
        call = "(^|[^A-Za-z0-9_.>])((" makers ")|syscall[(]SYS_(pidfd_open|landlock_create_ruleset))[(,]"
    }
    {
        text = ""
        while ((getline line <(top "/" $0)) > 0) {
            if (line ~ /^[ \t]*(\/[*]|[*]([ \/]|$))/) continue
            gsub(/\/[*].*([*]\/|$)/, "", line)
            gsub(/"[^"]*"/, "", line)
            text = text " " line
        }
        close(top "/" $0)
        gsub(/[ \t]+/, " ", text)
        while (match(text, call)) {
            before = substr(text, 1, RSTART)
            what = substr(text, RSTART + 1, RLENGTH - 2)
            text = substr(text, RSTART + RLENGTH)
            if (before !~ /laz_posix_above(_both)?[(]([(]int[)])? ?$/ &&
                !($0 in exempt) && !($0 " " what in exempt) && text !~ /^ ?NULL, [(]size_t[)]0/)
                printf "%s: %s makes a descriptor that may be 0, 1 or 2: laz_posix_above(%s(...))\n",
                    $0, what, what
            made++
        }
    }
    END { if (made < 20) print "only " made " calls that make descriptors were found" }') ||
    wrong "the files could not be looked at"
[ -z "$found" ] || wrong "$found"
lint_end
