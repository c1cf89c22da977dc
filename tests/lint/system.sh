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
wrapped='cJSON ltdl nettle/sha2 nettle/version uv' # by whom: layers.sh

# file: headers that it may include besides.
exceptions() {
    case $1 in
        core/agent/reap.c) echo "fcntl sys/wait" ;; # of systems with fork, as the next
        core/agent/template.c) echo "fcntl poll sys/wait" ;;
        core/base/json.c) echo "xlocale" ;;
        core/base/random.c) echo "sys/random" ;;
    esac
}

calls='accept4?|bind|chmod|chown|connect|dlopen|dlsym|dup[23]?|epoll_[a-z0-9]+|execv[pe]*'
calls="$calls|explicit_bzero|fchmod|fchown|fcntl|fork|fstat|geteuid|getuid|gmtime_r|inet_pton|ioctl|kill"
calls="$calls|lchown|link|listen|localtime_r|lstat|memrchr|mkdir|mkfifo|mmap|nanosleep|open|opendir"
calls="$calls|openat|pause|pipe2?|poll|posix_[a-z_]+|prctl|pthread_kill|pthread_sigmask|readdir"
calls="$calls|readlink|realpath|recv|recvmsg|rmdir|scandir|secure_getenv|select|send|sendmsg|setenv"
calls="$calls|setuid|sigaction|sigwait|socket|socketpair|stat|strndup|strsignal|symlink|sysconf|umask"
calls="$calls|uname|unsetenv|vfork|wait|waitid|waitpid"

for file in $(lint_files -path './core/*.[ch]'); do
    case $file in
        core/os/* | core/include/*) continue ;;
    esac
    allowed=" $(echo $c $every $wrapped $(exceptions "$file")) "
    for header in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*<\([^>]*\)\.h>.*/\1/p' \
        "$srcdir/$file"); do
        case $header in lazaret/*) continue ;; esac
        case $allowed in
            *" $header "*) ;;
            *) wrong "$file: includes <$header.h>; only core/os may, ask it for what is needed" ;;
        esac
    done
    found=$(grep -nE '^[[:space:]]*#.*\b(_WIN32|_WIN64|__MINGW32__|__linux__|__APPLE__|__unix__)\b' \
        "$srcdir/$file")
    case $file in
        core/plugin/descriptor.h) ;; # how the files of modules end
        *) [ -z "$found" ] || wrong "$file: asks which system it is on: $found" ;;
    esac
    case $file in
        core/agent/reap.c | core/agent/template.c | core/base/*) continue ;;
    esac
    # Without comments and texts; a member (x.send, ops->open) is no call of the system.
    found=$(sed -e 's|/\*.*\*/||' -e '/^[[:space:]]*\/\?\*/d' -e 's/"[^"]*"//g' "$srcdir/$file" |
        grep -oE "(^|[^A-Za-z0-9_.>])($calls)\(" | head -n 3 | tr -d '\n')
    [ -z "$found" ] || wrong "$file: calls what only core/os may: $found)"
done
lint_end
