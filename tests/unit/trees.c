/* SPDX-License-Identifier: MIT */
/* trees.c (tests) - trees of processes to look at; the first process of each writes a byte when it
 * has what is to be seen. */
#include "trees.h"

#include "unit.h"

#include "os/descriptors.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int signs[2] = {-1, -1}; /* a pipe, for the byte */

struct tree_report *report;

void sign(void)
{
    if (write(signs[1], "c", 1) != 1)
        _exit(1);
}

void stay(void)
{
    sign();
    for (;;)
        pause();
}

struct laz_tree tree_begin(void (*act)(void))
{
    char c;

    CU_ASSERT_EQUAL_FATAL(pipe2(signs, O_CLOEXEC), 0);
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(report != MAP_FAILED);
    fflush(stdout);
    pid_t root = fork();
    if (root == 0) {
        setpgid(0, 0);
        laz_os_close(&signs[0]);
        act();
        stay();
    }
    CU_ASSERT_FATAL(root > 0);
    laz_os_close(&signs[1]);
    CU_ASSERT_EQUAL(read(signs[0], &c, 1), 1);
    return (struct laz_tree){.root = root, .nofile = 64};
}

void tree_end(pid_t root)
{
    if (root > 1)
        kill(-root, SIGKILL);
    (void)waitpid(root, NULL, 0);
}

void tree_finish(struct laz_tree *tree)
{
    tree_end((pid_t)tree->root);
    laz_os_tree_forget(tree);
    laz_os_close(&signs[0]);
    (void)munmap(report, sizeof *report);
}

struct laz_tree_usage tree_usage(void (*act)(void), uint64_t enough)
{
    struct laz_tree_usage usage = {0};

    struct laz_tree tree = tree_begin(act);
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, enough, &usage));
    tree_finish(&tree);
    return usage;
}

void act_nothing(void)
{
}
