/* SPDX-License-Identifier: MIT */
/* metrics.c - what this process has counted, and its text for Prometheus.
 * Side: host.  Input trusted: yes (numbers; the names of runtimes are those of installed plugins).
 *
 * These counters are the one state of core that belongs to no object: an exporter shows a process,
 * and a process may have many engines, which come and go.  Nothing is decided by them.  To count is
 * one relaxed addition; a reader may see one counter before another, as Prometheus expects. */
#include "telemetry/metrics.h"

#include "base/clock.h"
#include "os/usage.h"

#include <lazaret/lazaret.h>

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#define METRIC_BUCKETS   14
#define METRIC_HISTORIES 3 /* words of the label of a histogram, at most: enum laz_metric_kind */

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };
enum metric_label {
    METRIC_NONE,
    METRIC_STATE,
    METRIC_KIND,
    METRIC_VERDICT,
    METRIC_OUTCOME,
    METRIC_DECISION,
    METRIC_LAYER,
    METRIC_WHAT,
    METRIC_SPAN,
    METRIC_LABELS
};

/* Those of verdicts are laz_verdict_name; a test compares those of "what" with laz_denied_word. */
static const struct {
    const char *name;
    const char *words[LAZ_METRIC_WORDS];
} labels[METRIC_LABELS] = {
    [METRIC_STATE] = {"state", {"starting", "idle", "executing"}},
    [METRIC_KIND] = {"kind", {"cold", "template", "worker"}},
    [METRIC_VERDICT] = {"verdict", {NULL}},
    [METRIC_OUTCOME] = {"outcome", {"ok", "error", "refused", "timeout", "cancelled"}},
    [METRIC_DECISION] = {"decision", {"yes", "no"}},
    [METRIC_LAYER] = {"layer", {"code", "tool", "network"}},
    [METRIC_WHAT] = {"what",
                     {"name", "port", "address", "server_name", "host", "private", "protocol",
                      "limit", "unreachable", "credential"}},
    [METRIC_SPAN] = {"outcome", {"sent", "dropped", "failed"}},
};

static const struct {
    const char *name, *help;
    enum metric_type type;
    enum metric_label label;
} metrics[LAZ_N_METRICS] = {
#define METRIC_ROW(id, type_of, label_of, text, about)                                             \
    {.name = (text), .help = (about), .type = METRIC_##type_of, .label = METRIC_##label_of},
    LAZ_METRICS(METRIC_ROW)
#undef METRIC_ROW
};

/* Upper bounds of the buckets, in microseconds and as they are written. */
static const struct {
    uint64_t us;
    const char *seconds;
} buckets[METRIC_BUCKETS] = {
    {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},  {10000, "0.01"},    {25000, "0.025"},
    {50000, "0.05"},  {100000, "0.1"},  {250000, "0.25"}, {500000, "0.5"},    {1000000, "1"},
    {2500000, "2.5"}, {10000000, "10"}, {60000000, "60"}, {300000000, "300"},
};

static _Atomic uint64_t counts[LAZ_N_METRICS][LAZ_METRIC_WORDS];
static struct {
    _Atomic uint64_t buckets[METRIC_BUCKETS], sum_us;
} histories[LAZ_N_METRICS][METRIC_HISTORIES];

_Static_assert(LAZ_METRIC_WORKER < METRIC_HISTORIES, "each kind of a start has a histogram");

static pthread_mutex_t lives_lock = PTHREAD_MUTEX_INITIALIZER;
static struct laz_metrics_life *lives;

/* ---- counting -------------------------------------------------------------------------------- */

void laz_metrics_add(enum laz_metric metric, unsigned label, int64_t n)
{
    atomic_fetch_add_explicit(&counts[metric][label], (uint64_t)n, memory_order_relaxed);
}

void laz_metrics_observe(enum laz_metric metric, unsigned label, uint64_t us)
{
    size_t i = 0;

    while (i < METRIC_BUCKETS && us > buckets[i].us)
        i++;
    if (i < METRIC_BUCKETS)
        atomic_fetch_add_explicit(&histories[metric][label].buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histories[metric][label].sum_us, us, memory_order_relaxed);
    laz_metrics_add(metric, label, 1);
}

int64_t laz_metrics_value(enum laz_metric metric, unsigned label)
{
    return (int64_t)atomic_load_explicit(&counts[metric][label], memory_order_relaxed);
}

const char *laz_metrics_word(enum laz_metric metric, unsigned label)
{
    if (label >= LAZ_METRIC_WORDS)
        return NULL;
    if (metrics[metric].label == METRIC_VERDICT)
        return label == LAZ_METRIC_NO_VERDICT ? "no_result"
                                              : laz_verdict_name((enum laz_verdict)label);
    return labels[metrics[metric].label].words[label];
}

void laz_metrics_begin_life(struct laz_metrics_life *life, const char *name)
{
    if (life->is_on)
        return;
    life->name = name;
    life->since_us = laz_clock_us();
    life->is_on = true;
    pthread_mutex_lock(&lives_lock);
    life->next = lives;
    lives = life;
    pthread_mutex_unlock(&lives_lock);
}

void laz_metrics_end_life(struct laz_metrics_life *life)
{
    struct laz_metrics_life **at = &lives;

    if (!life->is_on)
        return;
    life->is_on = false;
    pthread_mutex_lock(&lives_lock);
    while (*at && *at != life)
        at = &(*at)->next;
    if (*at)
        *at = life->next;
    pthread_mutex_unlock(&lives_lock);
}

/* ---- the text -------------------------------------------------------------------------------- */

static void text_head(struct laz_buf *text, const char *name, const char *help, const char *type)
{
    laz_buf_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A value of a label: in quotes, with the three escapes of the format. */
static void text_quote(struct laz_buf *text, const char *value)
{
    laz_buf_putc(text, '"');
    for (const char *c = value; *c; c++) {
        if (*c == '\\' || *c == '"')
            laz_buf_putc(text, '\\');
        if (*c == '\n')
            laz_buf_puts(text, "\\n");
        else
            laz_buf_putc(text, *c);
    }
    laz_buf_putc(text, '"');
}

static void text_seconds(struct laz_buf *text, uint64_t us)
{
    laz_buf_printf(text, "%" PRIu64 ".%06u\n", us / 1000000, (unsigned)(us % 1000000));
}

/* NAME or NAME{label="word"}, and in braces as well what `le` adds. */
static void text_name(struct laz_buf *text, enum laz_metric metric, unsigned label,
                      const char *suffix, const char *le)
{
    const char *name = labels[metrics[metric].label].name;

    laz_buf_printf(text, "%s%s", metrics[metric].name, suffix);
    if (!name && !le)
        return;
    laz_buf_putc(text, '{');
    if (name) {
        laz_buf_printf(text, "%s=", name);
        text_quote(text, laz_metrics_word(metric, label));
    }
    if (le)
        laz_buf_printf(text, "%sle=\"%s\"", name ? "," : "", le);
    laz_buf_putc(text, '}');
}

/* The count is what the buckets add up to, so that the text agrees with itself while others count.
 */
static void text_histogram(struct laz_buf *text, enum laz_metric metric, unsigned label)
{
    const uint64_t all = (uint64_t)laz_metrics_value(metric, label);
    uint64_t n = 0;

    for (size_t i = 0; i < METRIC_BUCKETS; i++) {
        n += atomic_load_explicit(&histories[metric][label].buckets[i], memory_order_relaxed);
        text_name(text, metric, label, "_bucket", buckets[i].seconds);
        laz_buf_printf(text, " %" PRIu64 "\n", n);
    }
    if (n < all)
        n = all; /* what was longer than all of them */
    text_name(text, metric, label, "_bucket", "+Inf");
    laz_buf_printf(text, " %" PRIu64 "\n", n);
    text_name(text, metric, label, "_sum", NULL);
    laz_buf_putc(text, ' ');
    text_seconds(text,
                 atomic_load_explicit(&histories[metric][label].sum_us, memory_order_relaxed));
    text_name(text, metric, label, "_count", NULL);
    laz_buf_printf(text, " %" PRIu64 "\n", n);
}

static void text_metric(struct laz_buf *text, enum laz_metric metric)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    const bool has_label = metrics[metric].label != METRIC_NONE;

    text_head(text, metrics[metric].name, metrics[metric].help, types[metrics[metric].type]);
    for (unsigned i = 0; i == 0 || (has_label && laz_metrics_word(metric, i)); i++) {
        if (metrics[metric].type == METRIC_HISTOGRAM) {
            text_histogram(text, metric, i);
            continue;
        }
        text_name(text, metric, i, "", NULL);
        laz_buf_printf(text, " %" PRId64 "\n", laz_metrics_value(metric, i));
    }
}

/* Is it the first of its name, and since when is the oldest one there? */
static bool lives_first(const struct laz_metrics_life *life, unsigned *n, uint64_t *since_us)
{
    for (const struct laz_metrics_life *one = lives; one != life; one = one->next)
        if (strcmp(one->name, life->name) == 0)
            return false;
    *n = 0;
    *since_us = life->since_us;
    for (const struct laz_metrics_life *one = life; one; one = one->next) {
        if (strcmp(one->name, life->name) != 0)
            continue;
        ++*n;
        *since_us = one->since_us < *since_us ? one->since_us : *since_us;
    }
    return true;
}

static void text_templates(struct laz_buf *text)
{
    const uint64_t now_us = laz_clock_us();
    struct laz_buf ages = LAZ_BUF_INIT;
    uint64_t since_us;
    unsigned n;

    text_head(text, "lazaret_templates", "Templates from which sessions can come, by runtime.",
              "gauge");
    text_head(&ages, "lazaret_template_age_seconds", "The age of the oldest of them.", "gauge");
    pthread_mutex_lock(&lives_lock);
    for (const struct laz_metrics_life *life = lives; life; life = life->next) {
        if (!lives_first(life, &n, &since_us))
            continue;
        laz_buf_puts(text, "lazaret_templates{runtime=");
        text_quote(text, life->name);
        laz_buf_printf(text, "} %u\n", n);
        laz_buf_puts(&ages, "lazaret_template_age_seconds{runtime=");
        text_quote(&ages, life->name);
        laz_buf_puts(&ages, "} ");
        text_seconds(&ages, now_us > since_us ? now_us - since_us : 0);
    }
    pthread_mutex_unlock(&lives_lock);
    laz_buf_take(text, &ages);
    laz_buf_fini(&ages);
}

/* Under the names that every exporter uses. */
static void text_process(struct laz_buf *text)
{
    struct laz_own_usage usage;

    if (!laz_os_own_usage(&usage))
        return;
    text_head(text, "process_cpu_seconds_total", "CPU time of this process, without sandboxes.",
              "counter");
    laz_buf_puts(text, "process_cpu_seconds_total ");
    text_seconds(text, usage.cpu_us);
    text_head(text, "process_resident_memory_bytes", "Memory of this process, without sandboxes.",
              "gauge");
    laz_buf_printf(text, "process_resident_memory_bytes %" PRIu64 "\n", usage.rss_bytes);
    text_head(text, "process_start_time_seconds", "When it was started, since the epoch.", "gauge");
    laz_buf_printf(text, "process_start_time_seconds %" PRIu64 "\n", usage.started_s);
    text_head(text, "process_open_fds", "Descriptors that it has open.", "gauge");
    laz_buf_printf(text, "process_open_fds %" PRIu64 "\n", usage.descriptors);
}

void laz_metrics_write(struct laz_buf *text)
{
    text_head(text, "lazaret_build_info", "The version of lazaret; the value is always 1.",
              "gauge");
    laz_buf_puts(text, "lazaret_build_info{version=");
    text_quote(text, LAZ_VERSION);
    laz_buf_puts(text, "} 1\n");
    for (unsigned i = 0; i < LAZ_N_METRICS; i++)
        text_metric(text, (enum laz_metric)i);
    text_templates(text);
    text_process(text);
}
