/* SPDX-License-Identifier: MIT */
/* sanitize.c - removes information about the host from error messages.
 * Side: host.  Input trusted: no (messages of tools and of the model's code, any bytes).
 *
 * One pass over the text: at each position the rules of a table are tried in order, and the first
 * that matches replaces what begins there.  A rule also checks the text before the position, so
 * that a version is not taken for an address, nor a relative path for an absolute one.  Regular
 * expressions are not used, because their backtracking takes too long on hostile texts.  A rule
 * reads no further than it replaces, or a fixed number of bytes, so the time is linear.
 *
 * It removes what a message discloses by accident; code that wants to disclose something can encode
 * it. */
#include "advice/sanitize.h"

#include "os/sockets.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SANITIZE_IPV6 46   /* bytes of an IPv6 address, with its NUL */
#define SANITIZE_LOOK 1024 /* bytes that a rule may read beyond what it replaces */

struct sanitizer {
    const char *text;
    size_t len;
    size_t at;
    struct laz_buf *out;
};

/* ---- characters ----------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Characters of words: letters, digits, '_' and all that are not ASCII. */
static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static char char_at(const struct sanitizer *s, size_t place)
{
    return place < s->len ? s->text[place] : '\0';
}

/* The character before the current position; a space at the beginning. */
static char char_before(const struct sanitizer *s)
{
    return s->at ? s->text[s->at - 1] : ' ';
}

/* True if `word` (lower case) is at `place`, in any case. */
static bool has_word(const struct sanitizer *s, size_t place, const char *word)
{
    for (; *word; word++, place++)
        if (place >= s->len || lower(s->text[place]) != *word)
            return false;
    return true;
}

/* ---- paths ---------------------------------------------------------------------------------- */

static const char *const path_roots[] = {
    "Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev",     "etc",
    "home",         "lib",     "lib64",  "media", "mnt",     "nix", "opt",  "private", "proc",
    "root",         "run",     "sbin",   "snap",  "srv",     "sys", "tmp",  "usr",     "var",
};

/* True if the character at `place` cannot be part of a path. */
static bool ends_path(const struct sanitizer *s, size_t place)
{
    char c = char_at(s, place);

    if ((unsigned char)c == 0xe2) /* possibly a typographic quote */
        return (unsigned char)char_at(s, place + 1) == 0x80;
    return !c || strchr(" \t\r\n'\",:;)]}>|`", c) != NULL;
}

struct quotes {
    const char *open, *close;
};

/* The quotes that open right before the current position; NULL: none. */
static const struct quotes *quotes_before(const struct sanitizer *s)
{
    static const struct quotes all[] = {{"'", "'"},
                                        {"\"", "\""},
                                        {"`", "'"},
                                        {"\xe2\x80\x98", "\xe2\x80\x99"},
                                        {"\xe2\x80\x9c", "\xe2\x80\x9d"}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        size_t len = strlen(all[i].open);
        if (s->at >= len && memcmp(s->text + s->at - len, all[i].open, len) == 0)
            return &all[i];
    }
    return NULL;
}

/* Number of bytes after `end` that still belong to an unquoted path with spaces: up to three words
 * if the last contains a separator ("My Documents/x"), or one word if it has the suffix that the
 * path lacks ("My File.txt"). */
static size_t path_continues(const struct sanitizer *s, size_t end)
{
    size_t place = end, last = end;

    while (last > s->at && !strchr("/\\", s->text[last - 1]))
        last--;
    bool has_suffix = memchr(s->text + last, '.', end - last) != NULL;
    for (int word = 0; word < 3 && char_at(s, place) == ' '; word++) {
        size_t start = ++place, dot = 0;
        bool separator = false;
        while (!ends_path(s, place) && place - end < SANITIZE_LOOK) {
            char c = char_at(s, place);
            separator |= place > start && (c == '/' || c == '\\');
            if (c == '.')
                dot = place;
            place++;
        }
        bool suffix = dot > start && place - dot > 1 && place - dot < 7;
        if (place == start || strchr("/~", s->text[start]))
            return 0;
        if (separator || (word == 0 && suffix && !has_suffix))
            return place - end;
    }
    return 0;
}

/* The length of the path to the closing quote; 0 if the line ends, or the same quotes open again,
 * before they close.  So no byte is read for more than one path of each kind of quotes. */
static size_t quoted_length(const struct sanitizer *s, const struct quotes *quotes)
{
    size_t opens = strlen(quotes->open), closes = strlen(quotes->close);

    for (size_t len = 0; len < SANITIZE_LOOK && s->at + len + closes <= s->len; len++) {
        const char *p = s->text + s->at + len;
        if (*p == *quotes->close && memcmp(p, quotes->close, closes) == 0)
            return len;
        if (*p == '\n' || (*p == *quotes->open && s->at + len + opens <= s->len &&
                           memcmp(p, quotes->open, opens) == 0))
            break;
    }
    return 0;
}

/* The length of the path at the current position: if it is quoted, up to the closing quote, with
 * spaces; else up to the first character that cannot be part of a path. */
static size_t path_length(const struct sanitizer *s)
{
    const struct quotes *quotes = quotes_before(s);
    size_t len = quotes ? quoted_length(s, quotes) : 0;

    if (len)
        return len;
    while (!ends_path(s, s->at + len))
        len += char_at(s, s->at + len) == '\\' && char_at(s, s->at + len + 1) == ' ' ? 2 : 1;
    return len ? len + path_continues(s, s->at + len) : 0;
}

/* True if a path can begin here. Quotes are checked first, since those of several bytes count as
 * characters of words. */
static bool begins_path(const struct sanitizer *s)
{
    char before = char_before(s);

    return quotes_before(s) || !(is_word(before) || before == '.' || before == '-');
}

static size_t put_path(const struct sanitizer *s)
{
    size_t len = path_length(s);

    if (len)
        laz_buf_puts(s->out, "[path]");
    return len;
}

/* /home/..., below one of the usual directories */
static size_t rule_path(const struct sanitizer *s)
{
    if (s->text[s->at] != '/' || !begins_path(s))
        return 0;
    for (size_t i = 0; i < sizeof path_roots / sizeof path_roots[0]; i++) {
        if (path_roots[i][0] != char_at(s, s->at + 1))
            continue;
        size_t len = strlen(path_roots[i]);
        if (s->len - s->at > len + 1 && memcmp(s->text + s->at + 1, path_roots[i], len) == 0 &&
            s->text[s->at + 1 + len] == '/' && !ends_path(s, s->at + len + 2))
            return put_path(s);
    }
    return 0;
}

/* ~/... and ~name/... */
static size_t rule_home(const struct sanitizer *s)
{
    size_t place = s->at + 1;

    if (s->text[s->at] != '~' || !begins_path(s))
        return 0;
    while (place - s->at < 33 && (is_word(char_at(s, place)) || char_at(s, place) == '-'))
        place++;
    if (char_at(s, place) != '/' || ends_path(s, place + 1))
        return 0;
    return put_path(s);
}

/* C:\... and c:/..., and \\server\share */
static size_t rule_windows(const struct sanitizer *s)
{
    char first = s->text[s->at], second = char_at(s, s->at + 1), third = char_at(s, s->at + 2);

    if (!begins_path(s))
        return 0;
    if (is_letter(first) && second == ':' && (third == '\\' || third == '/') &&
        !ends_path(s, s->at + 3)) {
        /* Skips the colon, which would end the path. */
        struct sanitizer rest = *s;
        size_t quoted = path_length(s);
        rest.at += 2;
        laz_buf_puts(s->out, "[path]");
        return quoted > 2 ? quoted : 2 + path_length(&rest);
    }
    if (first != '\\' || second != '\\' || !is_word(third) || char_before(s) == '\\')
        return 0;
    size_t place = s->at + 2;
    while (place - s->at < 66 &&
           (is_word(char_at(s, place)) || char_at(s, place) == '-' || char_at(s, place) == '.'))
        place++;
    return char_at(s, place) == '\\' && is_word(char_at(s, place + 1)) ? put_path(s) : 0;
}

/* ---- processes ------------------------------------------------------------------------------ */

static size_t digits_at(const struct sanitizer *s, size_t place)
{
    size_t n = 0;

    while (is_digit(char_at(s, place + n)))
        n++;
    return n;
}

/* process '12', process 12, pid 12, PID: 12, pid=12 */
static size_t rule_process(const struct sanitizer *s)
{
    bool pid = has_word(s, s->at, "pid");

    if ((!pid && !has_word(s, s->at, "process")) || is_word(char_before(s)))
        return 0;
    size_t word = pid ? 3 : 7, place = s->at + word;
    if (pid && (char_at(s, place) == ':' || char_at(s, place) == '='))
        place++;
    size_t spaces = place;
    while (place - spaces < 8 && char_at(s, place) == ' ')
        place++;
    if (place == s->at + word)
        return 0;
    bool quoted = char_at(s, place) == '\'';
    size_t digits = digits_at(s, place + quoted);
    if (digits < (pid || quoted ? 1u : 2u) || is_word(char_at(s, place + quoted + digits)) ||
        (quoted && char_at(s, place + 1 + digits) != '\''))
        return 0;
    laz_buf_append(s->out, s->text + s->at, word);
    laz_buf_puts(s->out, quoted ? " '[pid]'" : " [pid]");
    return place - s->at + digits + (quoted ? 2 : 0);
}

/* ---- hosts ---------------------------------------------------------------------------------- */

static bool is_host_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '-';
}

/* The length of ":80" at `place`, or 0. */
static size_t port_at(const struct sanitizer *s, size_t place)
{
    size_t digits = char_at(s, place) == ':' ? digits_at(s, place + 1) : 0;

    return digits && digits <= 5 ? 1 + digits : 0;
}

/* True if the text before the position announces a version: "version 1.2.3.4", ">= 1.2.3.4". */
static bool version_follows(const struct sanitizer *s)
{
    static const char *const words[] = {"version", "versions", "ver",     "v",
                                        "release", "build",    "package", "revision"};
    size_t end = s->at, start;

    while (end && s->at - end < 4 && strchr(" :(\"'", s->text[end - 1]))
        end--;
    if (end && strchr("=<>~^", s->text[end - 1]))
        return true;
    start = end;
    while (start && end - start < 16 && is_letter(s->text[start - 1]))
        start--;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (end - start == strlen(words[i]) && has_word(s, start, words[i]))
            return true;
    return false;
}

/* 10.0.0.1 and 10.0.0.1:80, but neither 1.2.3.4.5 nor v1.2.3.4 nor 1.2.3.4-beta */
static size_t rule_ipv4(const struct sanitizer *s)
{
    size_t place = s->at;
    char before = char_before(s);

    if (!is_digit(s->text[place]) || is_word(before) || before == '.' ||
        (before == '-' && !(place > 1 && is_digit(s->text[place - 2]))))
        return 0;
    for (int group = 0; group < 4; group++) {
        size_t digits = digits_at(s, place);
        unsigned value = 0;
        for (size_t i = 0; i < digits && i < 4; i++)
            value = value * 10 + (unsigned)(s->text[place + i] - '0');
        if (digits < 1 || digits > 3 || value > 255)
            return 0;
        place += digits;
        if (group < 3 && char_at(s, place++) != '.')
            return 0;
    }
    size_t port = port_at(s, place);
    char after = char_at(s, place);
    if (!port && (is_word(after) || (after == '-' && is_letter(char_at(s, place + 1))) ||
                  (after == '.' && is_word(char_at(s, place + 1))) || version_follows(s)))
        return 0;
    laz_buf_puts(s->out, "[host]");
    return place + port - s->at;
}

/* True if the `len` bytes from `start` are an IPv6 address. Without a digit they are more likely a
 * name like a::b, as several languages have them. */
static bool is_ipv6(const char *start, size_t len)
{
    char text[SANITIZE_IPV6 + 1];
    size_t colons = 0, digits = 0;

    if (len < 3 || len >= sizeof text)
        return false;
    memcpy(text, start, len);
    text[len] = '\0';
    for (size_t i = 0; i < len; i++) {
        colons += text[i] == ':';
        digits += is_digit(text[i]);
    }
    return (digits || colons > 2) && laz_os_is_ipv6(text);
}

/* fe80::1%eth0, ::1, [2001:db8::1]:443 */
static size_t rule_ipv6(const struct sanitizer *s)
{
    char before = char_before(s);
    bool bracket = s->text[s->at] == '[';
    size_t start = s->at + bracket, place = start, port = 0;
    char c = char_at(s, start);

    if ((!is_digit(c) && c != ':' && !(lower(c) >= 'a' && lower(c) <= 'f')) ||
        (!bracket && (is_word(before) || before == ':' || before == '.')))
        return 0;
    while (place - start < SANITIZE_IPV6 + 1 &&
           (is_digit(char_at(s, place)) || char_at(s, place) == ':' || char_at(s, place) == '.' ||
            (lower(char_at(s, place)) >= 'a' && lower(char_at(s, place)) <= 'f')))
        place++;
    /* A dot or colon at the end belongs to the sentence. */
    while (!bracket && place - start > 2 &&
           (s->text[place - 1] == '.' || (s->text[place - 1] == ':' && s->text[place - 2] != ':')))
        place--;
    if (is_word(char_at(s, place)) || !is_ipv6(s->text + start, place - start))
        return 0;
    if (char_at(s, place) == '%')
        for (size_t n = 0; n < 17 && (n == 0 || is_host_char(char_at(s, place))); n++)
            place++;
    if (bracket) {
        if (char_at(s, place) != ']')
            return 0;
        port = port_at(s, ++place);
    }
    laz_buf_puts(s->out, "[host]");
    return place + port - s->at;
}

/* The length of a host name with at least one dot and a last part of letters; 0: none. */
static size_t host_name_at(const struct sanitizer *s, size_t place)
{
    size_t len = 0, last = 0;

    if (!is_host_char(char_at(s, place)))
        return 0;
    while (len < 254 &&
           (is_host_char(char_at(s, place + len)) ||
            (char_at(s, place + len) == '.' && is_host_char(char_at(s, place + len + 1))))) {
        if (s->text[place + len] == '.')
            last = len;
        len++;
    }
    if (!last || len - last < 3)
        return 0;
    for (size_t i = last + 1; i < len; i++)
        if (!is_letter(s->text[place + i]))
            return 0;
    return len;
}

/* "connect to db.example.com:5432": replaces the name, not the words before it. */
static size_t rule_host_word(const struct sanitizer *s)
{
    static const char *const words[] = {"connection", "connect", "resolve",
                                        "hostname",   "host",    "server"};
    size_t place = s->at;

    if (is_word(char_before(s)))
        return 0;
    for (size_t i = 0; place == s->at && i < sizeof words / sizeof words[0]; i++)
        if (has_word(s, place, words[i]))
            place += strlen(words[i]);
    if (place == s->at || is_word(char_at(s, place)))
        return 0;
    size_t from = place;
    while (place - from < 8 && char_at(s, place) && strchr(" :='\"", char_at(s, place)))
        place++;
    if (place == from)
        return 0;
    if (has_word(s, place, "to ")) {
        place += 3;
        while (place - from < 16 && char_at(s, place) && strchr(" '\"", char_at(s, place)))
            place++;
    }
    size_t name = host_name_at(s, place);
    if (!name)
        return 0;
    laz_buf_append(s->out, s->text + s->at, place - s->at);
    laz_buf_puts(s->out, "[host]");
    return place - s->at + name + port_at(s, place + name);
}

/* http://user:password@host:80/...: replaces the authority. rule_path handles file:///... */
static size_t rule_url(const struct sanitizer *s)
{
    size_t place = s->at + 3;

    if (s->text[s->at] != ':' || char_at(s, s->at + 1) != '/' || char_at(s, s->at + 2) != '/' ||
        !is_letter(char_before(s)))
        return 0;
    while (place < s->len && s->text[place] != '/' && s->text[place] != '?' &&
           s->text[place] != '#' &&
           (s->text[place] == ':' || s->text[place] == '[' || s->text[place] == ']' ||
            !ends_path(s, place)))
        place++;
    if (place > s->at + 3 && char_at(s, place - 1) == ':')
        place--;
    if (place == s->at + 3)
        return 0;
    laz_buf_puts(s->out, "://[host]");
    return place - s->at;
}

/* The rules in order. Each appends the replacement and returns the number of bytes that it
 * replaces; 0: it does not match. */
static size_t (*const sanitize_rules[])(const struct sanitizer *s) = {
    rule_url,     rule_path,      rule_home, rule_windows,
    rule_process, rule_host_word, rule_ipv4, rule_ipv6,
};

/* ---- the whole text ------------------------------------------------------------------------- */

/* True if the headline of a stack trace begins here, with nothing after it on its line. */
static bool is_trace(const struct sanitizer *s, size_t place)
{
    static const char *const headlines[] = {"traceback (most recent call last)", "stack traceback",
                                            "stack trace", "call stack", "traceback"};
    char first = lower(s->text[place]), second = lower(char_at(s, place + 1));

    if (first != 't' && first != 's' && first != 'c')
        return false;
    for (size_t i = 0; i < sizeof headlines / sizeof headlines[0]; i++) {
        if (first != headlines[i][0] || second != headlines[i][1] ||
            !has_word(s, place, headlines[i]))
            continue;
        size_t end = place + strlen(headlines[i]);
        end += char_at(s, end) == ':';
        while (end < s->len && s->text[end] != '\n' && is_space(s->text[end]))
            end++;
        if (char_at(s, end) == '\n')
            return true;
    }
    return false;
}

/* Removes a stack trace. If there is no text before it, as in Python, its last line is kept. */
static void sanitize_cut_trace(struct sanitizer *s)
{
    size_t place = 0, end = s->len;

    while (place < s->len && !is_trace(s, place))
        place++;
    while (end && is_space(s->text[end - 1]))
        end--;
    if (place >= s->len) {
        s->len = end;
        return;
    }
    size_t before = place;
    while (before && is_space(s->text[before - 1]))
        before--;
    s->len = before;
    if (before)
        return;
    size_t start = end;
    while (start && s->text[start - 1] != '\n')
        start--;
    if (start <= place || is_space(s->text[start]))
        return; /* nothing but the trace */
    s->text += start;
    s->len = end - start;
}

/* Cuts what was appended after `start` to `max` characters; `more`: the text has more that was not
 * appended. */
static void sanitize_cut(struct laz_buf *out, size_t start, size_t max, bool more)
{
    size_t keep = max > 3 ? max - 3 : max, count = 0, kept_end = out->len;

    if (!max || out->failed)
        return;
    for (size_t i = start; i < out->len && count <= max; i++) {
        if (((unsigned char)out->data[i] & 0xc0) == 0x80)
            continue; /* within a character */
        if (count == keep)
            kept_end = i;
        count++;
    }
    if (count <= max && !more)
        return;
    out->len = kept_end;
    out->data[out->len] = '\0';
    if (max > 3)
        laz_buf_puts(out, "...");
}

void laz_sanitize(const char *text, size_t max, struct laz_buf *out)
{
    size_t start = out->len;
    struct sanitizer s = {.text = text, .len = text ? strlen(text) : 0, .out = out};

    sanitize_cut_trace(&s);
    while (s.at < s.len && (!max || out->len - start <= 4 * max)) { /* 4: bytes per character */
        size_t taken = 0;
        for (size_t i = 0; !taken && i < sizeof sanitize_rules / sizeof sanitize_rules[0]; i++)
            taken = sanitize_rules[i](&s);
        if (!taken)
            laz_buf_putc(out, s.text[s.at++]);
        s.at += taken;
    }
    if (out->len == start)
        laz_buf_puts(out, "Unknown error");
    sanitize_cut(out, start, max, s.at < s.len);
}
