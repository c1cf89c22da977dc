/* SPDX-License-Identifier: MIT */
/* replay.c - runs a fuzz target over files, without a fuzzer.
 *
 * A fuzz target is a file with LLVMFuzzerTestOneInput. Linked with a fuzzing engine it searches;
 * linked with this file it replays each file given (or each file of a directory given; without
 * arguments, the directory FUZZ_SEEDS that the build sets), every prefix of it up to a length, and
 * a number of changed copies. A generator seeded with the file's bytes makes the changes, so that
 * runs are repeatable; FUZZ_CHANGES=N makes N copies of each file. The exit status is 0 when the
 * target returned each time; the target, the sanitizers and the system detect mistakes. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef FUZZ_SEEDS
#define FUZZ_SEEDS "."
#endif

#define REPLAY_MAX_SIZE  ((size_t)4 << 20)
#define REPLAY_BEGINNING 512
#define REPLAY_CHANGES   300

/* Runs a copy of exactly this size, so that a sanitizer detects a read beyond its end. */
static void replay_bytes(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static uint64_t replay_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* One to four changes: a byte set, flipped, a piece cut out, a piece repeated. */
static size_t replay_change(uint8_t *data, size_t size, size_t cap, uint64_t *state)
{
    static const char special[] = "\"'\\[]{}=.,#\n\r\t -+_:0e\x00\x7f\xc3\xff";

    for (uint64_t n = 1 + replay_random(state) % 4; n && size; n--) {
        size_t at = replay_random(state) % size;
        size_t piece = 1 + replay_random(state) % 16;
        if (piece > size - at)
            piece = size - at;
        switch (replay_random(state) % 4) {
        case 0:
            data[at] = (uint8_t)special[replay_random(state) % (sizeof special - 1)];
            break;
        case 1:
            data[at] ^= (uint8_t)(1u << replay_random(state) % 8);
            break;
        case 2:
            memmove(data + at, data + at + piece, size - at - piece);
            size -= piece;
            break;
        default:
            if (size + piece > cap)
                break;
            memmove(data + at + piece, data + at, size - at);
            size += piece;
        }
    }
    return size;
}

static void replay_changes(const uint8_t *data, size_t size, unsigned long changes)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    size_t cap = size + 64;
    uint8_t *copy = malloc(cap);

    if (!copy)
        abort();
    for (size_t i = 0; i < size; i++)
        state = (state ^ data[i]) * UINT64_C(0x100000001b3) + 1;
    for (unsigned long i = 0; i < changes; i++) {
        memcpy(copy, data, size);
        replay_bytes(copy, replay_change(copy, size, cap, &state));
    }
    free(copy);
}

static int replay_file(const char *path)
{
    const char *asked = getenv("FUZZ_CHANGES");
    unsigned long changes = asked ? strtoul(asked, NULL, 10) : REPLAY_CHANGES;
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(REPLAY_MAX_SIZE);

    if (!file || !data) {
        fprintf(stderr, "%s: cannot be read\n", path);
        if (file)
            fclose(file);
        free(data);
        return 1;
    }
    size_t size = fread(data, 1, REPLAY_MAX_SIZE, file);
    fclose(file);
    replay_bytes(data, size);
    for (size_t n = 0; n < size && n < REPLAY_BEGINNING; n++)
        replay_bytes(data, n);
    replay_changes(data, size, changes);
    free(data);
    return 0;
}

static int replay_path(const char *path, unsigned *files)
{
    struct stat info;
    char file[4096];
    int failed = 0;

    if (stat(path, &info) != 0) {
        fprintf(stderr, "%s: not there\n", path);
        return 1;
    }
    if (!S_ISDIR(info.st_mode)) {
        ++*files;
        return replay_file(path);
    }
    DIR *directory = opendir(path);
    if (!directory) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        ++*files;
        failed |= replay_file(file);
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    int failed = 0;

    if (argc < 2)
        failed = replay_path(FUZZ_SEEDS, &files);
    for (int i = 1; i < argc; i++)
        failed |= replay_path(argv[i], &files);
    printf("replayed %u files\n", files);
    return failed || !files ? 1 : 0;
}
