/* SPDX-License-Identifier: MIT */
/* probe_table.c - prints the probes as a table for docs/threat-model.md. */
#include "probes.h"

#include <stdio.h>
#include <string.h>

/* Prints `name` with spaces for underscores. */
static void put_words(const char *name)
{
    for (; *name; name++)
        putchar(*name == '_' ? ' ' : *name);
}

/* Prints "EPERM|ENOENT" as "EPERM, ENOENT". */
static void put_outcome(const char *outcome)
{
    if (!outcome) {
        fputs("*through*", stdout);
        return;
    }
    for (; *outcome; outcome++) {
        if (*outcome == '|')
            fputs(", ", stdout);
        else
            putchar(*outcome);
    }
}

int main(void)
{
    puts("| Attempt | Kept away by | bwrap | landlock |\n|---|---|---|---|");
    for (const struct probe *probe = probes; probe->name; probe++) {
        fputs("| ", stdout);
        put_words(probe->name);
        if (probe->language != PROBE_ATTACK)
            printf(" (%s)", probe_runtimes[probe->language]);
        printf(" | %s | ", probe->layers);
        put_outcome(probe->bwrap);
        fputs(" | ", stdout);
        put_outcome(probe->landlock);
        puts(" |");
    }
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
