/* SPDX-License-Identifier: MIT */
/* js_digest.c - hash functions by Nettle, and what the system says of itself, for the modules
 * crypto and os. Side: box.  Input trusted: no.
 *
 * A digest is made of all its bytes at once: no state of Nettle's, which code could spoil, is kept
 * between two calls. */
#include "js.h"

#include <nettle/nettle-meta.h>
#include <nettle/version.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

static const struct nettle_hash *digest_find(const char *name)
{
    for (size_t i = 0; nettle_hashes[i]; i++) {
        if (strcmp(nettle_hashes[i]->name, name) == 0)
            return nettle_hashes[i];
    }
    return NULL;
}

/* digest(name, bytes...): the digest of the bytes one after another; undefined: no such function.
 */
JS_NATIVE(digest_digest)
{
    JS_UNUSED;
    char *name = n ? js_text(context, arguments[0], NULL, exception) : NULL;
    const struct nettle_hash *hash = name ? digest_find(name) : NULL;
    void *state = hash ? malloc(hash->context_size) : NULL;
    uint8_t *digest = hash ? malloc(hash->digest_size) : NULL;
    JSValueRef value = JSValueMakeUndefined(context);

    free(name);
    if (!hash)
        return value;
    if (!state || !digest) {
        js_throw(context, exception, "out of memory");
        goto out;
    }
    hash->init(state);
    for (size_t i = 1; i < n; i++) {
        void *data;
        size_t len;

        if (!js_bytes(context, arguments[i], &data, &len)) {
            js_throw(context, exception, "bytes are expected");
            goto out;
        }
        if (len)
            hash->update(state, len, data);
    }
#if NETTLE_VERSION_MAJOR >= 4 /* version 4 has no parameter for the length */
    hash->digest(state, digest);
#else
    hash->digest(state, hash->digest_size, digest);
#endif
    value = js_new_bytes(context, digest, hash->digest_size, exception);
    digest = NULL;
out:
    free(digest);
    free(state);
    return value;
}

static void system_text(JSContextRef context, JSObjectRef object, const char *name,
                        const char *text)
{
    if (text)
        js_set(context, object, name, js_string(context, text, strlen(text)));
}

/* system(): an object; what the system does not tell is absent. */
JS_NATIVE(digest_system)
{
    JS_UNUSED;
    JSObjectRef object = JSObjectMake(context, NULL, NULL);
    struct utsname names;
    struct sysinfo info;
    const struct passwd *user = getpwuid(getuid());

    if (uname(&names) == 0) {
        system_text(context, object, "type", names.sysname);
        system_text(context, object, "hostname", names.nodename);
        system_text(context, object, "release", names.release);
        system_text(context, object, "version", names.version);
        system_text(context, object, "machine", names.machine);
    }
    if (sysinfo(&info) == 0) {
        const double unit = info.mem_unit;

        js_set(context, object, "total", js_number(context, (double)info.totalram * unit));
        js_set(context, object, "free", js_number(context, (double)info.freeram * unit));
        js_set(context, object, "uptime", js_number(context, (double)info.uptime));
        for (int i = 0; i < 3; i++) {
            const char *const load[] = {"load1", "load5", "load15"};

            js_set(context, object, load[i], js_number(context, (double)info.loads[i] / 65536));
        }
    }
    js_set(context, object, "processors",
           js_number(context, (double)sysconf(_SC_NPROCESSORS_ONLN)));
    js_set(context, object, "uid", js_number(context, getuid()));
    js_set(context, object, "gid", js_number(context, getgid()));
    if (user) {
        system_text(context, object, "user", user->pw_name);
        system_text(context, object, "home", user->pw_dir);
        system_text(context, object, "shell", user->pw_shell);
    }
    return object;
}

/* Exported, but in no public header; NULL where the library has it not. */
extern JSObjectRef JSObjectGetProxyTarget(JSObjectRef) __attribute__((weak));

/* isProxy(value) */
JS_NATIVE(digest_is_proxy)
{
    JS_UNUSED;
    return JSValueMakeBoolean(context, n && JSObjectGetProxyTarget &&
                                           JSValueIsObject(context, arguments[0]) &&
                                           JSObjectGetProxyTarget((JSObjectRef)arguments[0]));
}

const struct js_native js_natives_digest[] = {
    {"digest", digest_digest},
    {"system", digest_system},
    {"isProxy", digest_is_proxy},
    {NULL, NULL},
};
