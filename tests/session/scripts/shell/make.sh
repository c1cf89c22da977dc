# SPDX-License-Identifier: MIT
exec 2>&1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
printf 'all: hello\n\t./hello $(NAME)\nhello: hello.c\n\t$(CC) -o $@ $<\nfails:\n\t@exit 3\n' >Makefile
cat >hello.c <<'END'
#include <stdio.h>
int main(int argc, char **argv) { return printf("hello %s\n", argc > 1 ? argv[1] : "") < 0; }
END
make -s CC=gcc NAME=world && make -s fails; echo "make: $?"
python3 - <<'END'
import subprocess
print(subprocess.run(["./hello", "python"], capture_output=True, text=True).stdout, end="")
END
rm -f hello
