/* SPDX-License-Identifier: MIT */
/* sanitize.c - removes information about the host from error messages.
 * Side: host.  Input trusted: no (messages of tools and of the model's code, any bytes).
 *
 * A table says what is replaced by what.  One pass over the text tries its rules in order at each
 * position, and the first that matches replaces what begins there.  A rule also looks at the text
 * before the position, so that a version is not taken for an address, nor a relative path for an
 * absolute one.  The patterns are a small language of their own, because the backtracking of
 * regular expressions takes too long on hostile texts: here each item takes as much as it can and
 * gives nothing back.  A rule looks ahead only over text that no other match of it looks at, or
 * over a fixed number of bytes, so the time is linear.
 *
 * It removes what a message discloses by accident; code that wants to disclose something can encode
 * it. */
#include "advice/sanitize.h"

#include "os/sockets.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define SANITIZE_IPV6 46 /* bytes of an IPv6 address, with its NUL */
#define SANITIZE_BACK 12 /* how far a pattern looks back */
#define SANITIZE_LOOK 64 /* bytes that are read for each character that may stay */

/* ---- the rules ------------------------------------------------------------------------------ */

/* A pattern is a sequence of items:
 *
 *     x          this character; a small letter matches the capital, too (but see `exact`)
 *     %d         a character of a class (is_class); %4, %6: an address of IPv4, IPv6
 *     [x%d]      one of these characters; [^x%d]: any other one
 *     (a|b)      the first of these patterns that matches
 *     ? * +      after an item: at most once, any number of times, at least once
 *     & !        before an item: it follows, or does not follow, and is not taken
 *     < !<       before an item: it ends here, or does not */

/* A path in quotes goes up to the closing quote, with spaces, unless the line ends or the same
 * quotes open again before. */
#define P_QUOTED                                                                                   \
    "<'[^'\n]*&'|<\"[^\"\n]*&\"|<`[^`'\n]*&'|"                                                     \
    "<(\xe2\x80\x98)([^\xe2\n]|!(\xe2\x80[\x98\x99])\xe2)*&(\xe2\x80\x99)|"                        \
    "<(\xe2\x80\x9c)([^\xe2\n]|!(\xe2\x80[\x9c\x9d])\xe2)*&(\xe2\x80\x9d)"

/* Any other path goes up to a character that ends it, but three words may follow if the last one
 * contains a separator ("My Documents/x"), or one word with the suffix that the path lacks ("My
 * File.txt"). */
#define P_WORD   " ![/~]%p%n*!%p"
#define P_DEEP   " ![/~]%p%n*[/\\]%p*"
#define P_SUFFIX " ![/~]%p%m*.(%m*.)*%m%m?%m?%m?%m?!%p"
#define P_PLAIN                                                                                    \
    "(%a:)?(%n*(\\ |[/\\]))*(%m*!%p" P_SUFFIX "|%n*((" P_WORD ")?(" P_WORD ")?" P_DEEP ")?)"

#define P_PATH        "(" P_QUOTED "|" P_PLAIN ")"
#define P_BEFORE_PATH "(!<[%w.-]|<(\xe2\x80[\x98\x9c]))" /* those quotes count as words */

#define P_PORT "(:%d%d?%d?%d?%d?!%d)"
#define P_ZONE "(%%%h*)?"
#define P_VERSION                                                                                  \
    "(&[=<>~^bprvBPRV]([=<>~^]|!<%a(versions|version|ver|v|release|build|package|revision))"       \
    "[ :(\"']?[ :(\"']?[ :(\"']?[ :(\"']?)"

/* Each `before` begins with what fails at most positions. */
static const struct rule {
    const char *before, *what; /* two patterns: what `before` takes is kept */
    const char *by;
    bool exact; /* capitals differ from small letters */
} rules[] = {
    /* http://user:password@host:80/...; file:///... is a path */
    {"&:<%a://", "(%u+|:&(:|%u))+", "[host]", false},
    /* /home/..., below one of the usual directories */
    {"&/" P_BEFORE_PATH,
     "&(/%a)&(/"
     "(Applications|Library|System|Users|Volumes|bin|boot|dev|etc|home|lib64|lib|media|mnt|nix|"
     "opt|private|proc|root|run|sbin|snap|srv|sys|tmp|usr|var)/%p)" P_PATH,
     "[path]", true},
    /* ~/... and ~name/... */
    {"&~" P_BEFORE_PATH, "&(~[%w-]*/%p)" P_PATH, "[path]", false},
    /* C:\... and c:/... */
    {"&%a&(%a:[/\\]%p)" P_BEFORE_PATH, P_PATH, "[path]", false},
    /* \\server\share */
    {"&\\" P_BEFORE_PATH, "!<\\&(\\\\%w[%w.-]*\\%w)" P_PATH, "[path]", false},
    /* process '12', process 12, pid 12, PID: 12, pid=12 */
    {"&p!<%wpid", "[:= ] *'%d+'", " '[pid]'", false},
    {"&p!<%wpid", "[:= ] *%d+!%w", " [pid]", false},
    {"&p!<%wprocess", " +'%d+'", " '[pid]'", false},
    {"&p!<%wprocess", " +%d%d+!%w", " [pid]", false},
    /* "connect to db.example.com:5432": a name with a dot, whose last part has letters only */
    {"&[crhsCRHS]!<%w(connection|connect|resolve|hostname|host|server)[ :='\"]+(to [ '\"]*)?",
     "(%h+.&%h)+%a%a+!%h" P_PORT "?", "[host]", false},
    /* 10.0.0.1 and 10.0.0.1:80, but neither 1.2.3.4.5, v1.2.3.4, 1.2.3.4-beta nor a version */
    {"&(%d+.%d)!<[%w.](!<-|<(%d-))", "(!<" P_VERSION "%4(" P_PORT "|!%w!(-%a)!(.%w))|%4" P_PORT ")",
     "[host]", false},
    /* fe80::1%eth0, ::1, [2001:db8::1]:443 */
    {"&[:%x]!<[%w:.]", "%6" P_ZONE, "[host]", false},
    {"&[[]", "[[]%6" P_ZONE "]" P_PORT "?", "[host]", false},
};

/* ---- matching ------------------------------------------------------------------------------- */

#define NOWHERE SIZE_MAX

struct sanitizer {
    const char *text;
    size_t len;
    size_t at;
    bool exact;
    struct laz_buf *out;
};

static char char_at(const struct sanitizer *s, size_t place)
{
    return place < s->len ? s->text[place] : '\0';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_class(const struct sanitizer *s, size_t place, char class)
{
    char c = char_at(s, place), small = lower(c);
    bool digit = c >= '0' && c <= '9', letter = small >= 'a' && small <= 'z';

    switch (class) {
    case 'd': /* digits */
        return digit;
    case 'x': /* hexadecimal digits */
        return digit || (small >= 'a' && small <= 'f');
    case 'a': /* letters */
        return letter;
    case 'h': /* in names of hosts */
        return digit || letter || c == '-';
    case 'i': /* words in ASCII */
        return digit || letter || c == '_';
    case 'w': /* words; all that is not ASCII */
        return digit || letter || c == '_' || (unsigned char)c >= 0x80;
    case 'm': /* in names of files, before a suffix */
        return c != '.' && is_class(s, place, 'n');
    case 'n': /* in names of files */
        return c != '/' && c != '\\' && is_class(s, place, 'p');
    case 'p': /* in paths; 0xe2 0x80 is possibly a typographic quote */
        return (unsigned char)c == 0xe2 ? (unsigned char)char_at(s, place + 1) != 0x80
                                        : c && !strchr(" \t\r\n'\",:;)]}>|`", c);
    case 'u': /* in the authority of a URL, besides ':' */
        return c == ']' || (c && !strchr("/?#", c) && is_class(s, place, 'p'));
    default: /* %% */
        return c == class;
    }
}

static bool is_one_of(const struct sanitizer *s, size_t place, const char *item)
{
    char c = s->text[place];

    if (*item == '%')
        return is_class(s, place, item[1]);
    if (*item != '[')
        return c == *item || (!s->exact && lower(c) == *item);
    bool none = item[1] == '^';
    for (item += none ? 2 : 1; *item != ']'; item += *item == '%' ? 2 : 1)
        if (*item == '%' ? is_class(s, place, item[1]) : c == *item)
            return !none;
    return none;
}

/* The end of the IPv6 address at `place`. Without a digit it is more likely a name like a::b, as
 * several languages have them. */
static size_t ipv6_end(const struct sanitizer *s, size_t place)
{
    char text[SANITIZE_IPV6 + 1];
    size_t len = 0, colons = 0, digits = 0;
    const char *start = s->text + place;

    while (len <= SANITIZE_IPV6 &&
           (is_class(s, place + len, 'x') || char_at(s, place + len) == ':' ||
            char_at(s, place + len) == '.'))
        len++;
    /* A dot or colon at the end belongs to the sentence. */
    while (len > 2 && (start[len - 1] == '.' || (start[len - 1] == ':' && start[len - 2] != ':')))
        len--;
    if (len < 3 || len >= sizeof text || is_class(s, place + len, 'w'))
        return NOWHERE;
    memcpy(text, start, len);
    text[len] = '\0';
    for (size_t i = 0; i < len; i++) {
        colons += text[i] == ':';
        digits += is_class(s, place + i, 'd');
    }
    return (digits || colons > 2) && laz_os_is_ipv6(text) ? place + len : NOWHERE;
}

static size_t ipv4_end(const struct sanitizer *s, size_t place)
{
    for (int part = 0; part < 4; part++) {
        size_t start = place;
        int value = 0;
        for (; place - start < 3 && is_class(s, place, 'd'); place++)
            value = value * 10 + (s->text[place] - '0');
        if (place == start || value > 255 || (part < 3 && char_at(s, place++) != '.'))
            return NOWHERE;
    }
    return place;
}

static const char *item_end(const char *item)
{
    if (*item == '%')
        return item + 2;
    if (*item == '[')
        return strchr(item, ']') + 1;
    if (*item == '(')
        for (item++; *item != ')';)
            item = item_end(item);
    return item + 1;
}

static size_t match(const struct sanitizer *s, size_t place, const char *pattern);

/* The end of an item at `place`; NOWHERE: it is not there. */
static size_t match_item(const struct sanitizer *s, size_t place, const char *item)
{
    if (item[0] == '%' && (item[1] == '4' || item[1] == '6'))
        return item[1] == '4' ? ipv4_end(s, place) : ipv6_end(s, place);
    if (*item != '(')
        return place < s->len && is_one_of(s, place, item) ? place + 1 : NOWHERE;
    while (*item != ')') {
        size_t end = match(s, place, item + 1);
        if (end != NOWHERE)
            return end;
        for (item++; *item != '|' && *item != ')';)
            item = item_end(item);
    }
    return NOWHERE;
}

/* `place`, if an item ends there; else NOWHERE. */
static size_t match_back(const struct sanitizer *s, size_t place, const char *item)
{
    size_t most = *item == '(' ? SANITIZE_BACK : 1;

    for (size_t n = 1; n <= most && n <= place; n++)
        if (match_item(s, place - n, item) == place)
            return place;
    return NOWHERE;
}

/* The end of what a pattern matches at `place`, or NOWHERE. */
static size_t match(const struct sanitizer *s, size_t place, const char *pattern)
{
    while (*pattern && *pattern != '|' && *pattern != ')') {
        bool no = *pattern == '!';
        pattern += no;
        char look = *pattern == '<' || *pattern == '&' ? *pattern++ : no ? '&' : '\0';
        const char *item = pattern;
        size_t end = look == '<' ? match_back(s, place, item) : match_item(s, place, item);
        if (look && (end == NOWHERE) != no)
            return NOWHERE;
        pattern = item_end(item);
        if (look)
            continue;
        if (end == NOWHERE && *pattern != '?' && *pattern != '*')
            return NOWHERE;
        bool repeats = *pattern == '*' || *pattern == '+';
        for (; end != NOWHERE; end = repeats ? match_item(s, place, item) : NOWHERE)
            place = end;
        pattern += repeats || *pattern == '?';
    }
    return place;
}

/* ---- the whole text ------------------------------------------------------------------------- */

/* Replaces what begins at the current position; false: no rule matches. */
static bool sanitize_replace(struct sanitizer *s)
{
    /* Nothing begins inside a word. */
    if (s->at && is_class(s, s->at, 'w') && is_class(s, s->at - 1, 'i'))
        return false;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        s->exact = rules[i].exact;
        size_t from = match(s, s->at, rules[i].before);
        size_t to = from == NOWHERE ? NOWHERE : match(s, from, rules[i].what);
        if (to == NOWHERE)
            continue;
        laz_buf_append(s->out, s->text + s->at, from - s->at);
        laz_buf_puts(s->out, rules[i].by);
        s->at = to;
        return true;
    }
    return false;
}

/* The length of the first `len` bytes without spaces at their end. */
static size_t sanitize_trimmed(const struct sanitizer *s, size_t len)
{
    while (len && is_space(s->text[len - 1]))
        len--;
    return len;
}

/* Where the headline of a stack trace begins, with nothing after it on its line. */
static size_t sanitize_find_trace(const struct sanitizer *s)
{
    static const char *const headlines[] = {"traceback (most recent call last)", "stack traceback",
                                            "stack trace", "call stack", "traceback"};
    const char *newline = memchr(s->text, '\n', s->len);

    for (; newline; newline = memchr(newline + 1, '\n', s->len - (size_t)(newline + 1 - s->text))) {
        size_t end = (size_t)(newline - s->text);
        while (end && s->text[end - 1] != '\n' && is_space(s->text[end - 1]))
            end--;
        end -= end && s->text[end - 1] == ':';
        for (size_t i = 0; i < sizeof headlines / sizeof headlines[0]; i++) {
            size_t len = strlen(headlines[i]);
            if (len <= end && strncasecmp(s->text + end - len, headlines[i], len) == 0)
                return end - len;
        }
    }
    return NOWHERE;
}

/* Removes a stack trace. If there is no text before it, as in Python, its last line is kept. */
static void sanitize_cut_trace(struct sanitizer *s)
{
    size_t place = sanitize_find_trace(s), end = sanitize_trimmed(s, s->len);

    s->len = place == NOWHERE ? end : sanitize_trimmed(s, place);
    if (place == NOWHERE || s->len)
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
    struct sanitizer s = {.text = text ? text : "", .len = text ? strlen(text) : 0, .out = out};

    sanitize_cut_trace(&s);
    bool more = max && max < SIZE_MAX / SANITIZE_LOOK && s.len > max * SANITIZE_LOOK;
    if (more) /* it might be a megabyte that becomes "[host]" */
        s.len = max * SANITIZE_LOOK;
    while (s.at < s.len && (!max || out->len - start <= 4 * max)) /* 4: bytes per character */
        if (!sanitize_replace(&s))
            laz_buf_putc(out, s.text[s.at++]);
    if (out->len == start)
        laz_buf_puts(out, "Unknown error");
    sanitize_cut(out, start, max, more || s.at < s.len);
}
