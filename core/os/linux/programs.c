/* SPDX-License-Identifier: MIT */
/* programs.c - where programs are, and the loader that a binary names.  System: Linux. */
#include "os/posix/programs.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* elf(5), PT_INTERP. Linkers usually place it near the beginning, which was read already: the rest
 * of the file is read only where it is not. */
void laz_programs_loader(const char *path, int fd, const char *head, size_t n, char *text,
                         size_t size)
{
    Elf64_Ehdr elf;
    Elf64_Phdr part;

    (void)path;
    text[0] = '\0';
    if (n < sizeof elf || memcmp(head, ELFMAG, SELFMAG) != 0)
        return;
    memcpy(&elf, head, sizeof elf);
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof part)
        return;
    for (unsigned i = 0; i < elf.e_phnum; i++) {
        uint64_t at = elf.e_phoff + i * sizeof part;
        if (at <= n && n - at >= sizeof part)
            memcpy(&part, head + at, sizeof part);
        else if (pread(fd, &part, sizeof part, (off_t)at) != (ssize_t)sizeof part)
            return;
        if (part.p_type != PT_INTERP)
            continue;
        if (part.p_filesz == 0 || part.p_filesz >= size ||
            pread(fd, text, part.p_filesz, (off_t)part.p_offset) != (ssize_t)part.p_filesz)
            part.p_filesz = 0;
        text[part.p_filesz] = '\0';
        return;
    }
}

const char *const laz_programs_directories[] = {
    "/usr/bin",   "/usr/sbin",        "/usr/local/bin", "/usr/local/sbin",    "/bin", "/sbin",
    "/usr/games", "/usr/local/games", "/usr/libexec",   "/usr/local/libexec", NULL,
};

/* Directories among the libraries, where boxes see them unless they are hidden. */
const char *const laz_programs_among_libraries[] = {
    "/usr/lib/*/bin",
    "/usr/lib/jvm/*/bin",
    "/usr/lib/postgresql/*/bin",
    "/usr/lib/git-core",
    "/usr/local/lib/*/bin",
    "/usr/lib/openssh",
    NULL,
};
