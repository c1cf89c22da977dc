/* SPDX-License-Identifier: MIT */
/* fuzz_hello.c - a ClientHello of any bytes. The answer is the same when more follows, a name is a
 * normal one, and a part of the bytes never has another name than all of them. */
#include "network/network_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[NETWORK_NAME], again[NETWORK_NAME];
    const char *why;
    size_t used, used_before;
    enum network_hello said = network_hello(data, size, name, &used, &why);

    if ((said == NETWORK_HELLO_NAME) != (*name != '\0'))
        abort();
    if (*name && (!network_name_normal(name, strlen(name), again) || strcmp(name, again) != 0))
        abort();
    if (!*why != (said == NETWORK_HELLO_MORE || said == NETWORK_HELLO_NAME))
        abort();
    if (said == NETWORK_HELLO_NAME && used > size)
        abort();
    (void)network_answer(data, size);
    if (network_hello_again(data, size, again, &why) == NETWORK_HELLO_NAME && !*again)
        abort();
    for (size_t n = 0; n < size && n < 600; n++) {
        enum network_hello earlier = network_hello(data, n, again, &used_before, &why);
        if (earlier != NETWORK_HELLO_MORE && earlier != said)
            abort();
        if (earlier == NETWORK_HELLO_NAME && strcmp(name, again) != 0)
            abort();
    }
    return 0;
}
