/* SPDX-License-Identifier: MIT */
/* policy_content.c - files of a box whose content is fixed. */
#include "plan/policy.h"

#include <stddef.h>

#define CONTENT_PASSWD                                                                             \
    "sandbox:x:1000:1000:sandbox:/tmp:/bin/sh\n"                                                   \
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
#define CONTENT_GROUP "sandbox:x:1000:\nnogroup:x:65534:\n"
#define CONTENT_HOSTS "127.0.0.1 localhost lazaret\n::1 localhost\n"

/* Files that programs expect; those of the host would disclose information about it. With a network
 * list the host answers DNS at 127.0.0.1 (network/network.h). */
static const struct {
    const char *box, *text, *network; /* NULL: there is no such file; with a list */
} content_files[] = {
    {"/etc/passwd", CONTENT_PASSWD, CONTENT_PASSWD},
    {"/etc/group", CONTENT_GROUP, CONTENT_GROUP},
    {"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n",
     "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"},
    {"/etc/hosts", CONTENT_HOSTS, CONTENT_HOSTS},
    {"/etc/resolv.conf", NULL, "nameserver 127.0.0.1\n"},
};

bool laz_policy_content(size_t n, bool network, const char **box, const char **text)
{
    if (n >= sizeof content_files / sizeof content_files[0])
        return false;
    *box = content_files[n].box;
    *text = network ? content_files[n].network : content_files[n].text;
    return *text != NULL; /* those without come last */
}
