/* SPDX-License-Identifier: MIT */
/* bus_topics.c - who is subscribed to what: a table of subjects, each with its queue groups.
 *
 * A subject that ends in ">" is a row like any other: a message is looked up by its subject and by
 * each shorter beginning with ">" behind it, which are a handful. */
#include "bus.h"

#include <stdlib.h>
#include <string.h>

struct bus_group {
    struct bus_group *next;
    struct bus_topic *topic;
    char *queue; /* NULL: each of them gets each message */
    struct bus_sub **subs;
    size_t n, cap;
};

struct bus_topic {
    struct bus_topic *next;
    uint64_t hash;
    struct bus_group *groups;
    size_t len;
    char subject[];
};

struct bus_topics {
    struct bus_topic **buckets;
    size_t n_buckets, n;
};

struct bus_topics *bus_topics_new(void)
{
    struct bus_topics *topics = calloc(1, sizeof *topics);

    if (!topics)
        return NULL;
    topics->n_buckets = 64;
    topics->buckets = calloc(topics->n_buckets, sizeof(struct bus_topic *));
    if (!topics->buckets) {
        free(topics);
        return NULL;
    }
    return topics;
}

static void group_free(struct bus_group *group)
{
    free(group->queue);
    free(group->subs);
    free(group);
}

void bus_topics_free(struct bus_topics *topics)
{
    if (!topics)
        return;
    for (size_t i = 0; i < topics->n_buckets; i++) {
        for (struct bus_topic *topic = topics->buckets[i], *next; topic; topic = next) {
            next = topic->next;
            for (struct bus_group *group = topic->groups, *after; group; group = after) {
                after = group->next;
                group_free(group);
            }
            free(topic);
        }
    }
    free(topics->buckets);
    free(topics);
}

static uint64_t topic_hash(uint64_t hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* The row of the first `len` bytes and what is behind them. */
static struct bus_topic *topics_find(const struct bus_topics *topics, uint64_t hash,
                                     const char *subject, size_t len, const char *behind)
{
    const size_t more = strlen(behind);
    struct bus_topic *topic = topics->buckets[(hash ^ hash >> 32) & (topics->n_buckets - 1)];

    while (topic && (topic->hash != hash || topic->len != len + more ||
                     memcmp(topic->subject, subject, len) != 0 ||
                     memcmp(topic->subject + len, behind, more) != 0))
        topic = topic->next;
    return topic;
}

static void topics_grow(struct bus_topics *topics)
{
    const size_t n = topics->n_buckets * 2;
    struct bus_topic **buckets = calloc(n, sizeof(struct bus_topic *));

    if (!buckets)
        return;
    for (size_t i = 0; i < topics->n_buckets; i++) {
        for (struct bus_topic *topic = topics->buckets[i], *next; topic; topic = next) {
            struct bus_topic **at = &buckets[(topic->hash ^ topic->hash >> 32) & (n - 1)];
            next = topic->next;
            topic->next = *at;
            *at = topic;
        }
    }
    free(topics->buckets);
    topics->buckets = buckets;
    topics->n_buckets = n;
}

static struct bus_topic *topics_row(struct bus_topics *topics, const char *subject)
{
    const size_t len = strlen(subject);
    const uint64_t hash = topic_hash(HASH_BEGIN, subject, len);
    struct bus_topic *topic = topics_find(topics, hash, subject, len, "");

    if (topic)
        return topic;
    topic = calloc(1, sizeof *topic + len + 1);
    if (!topic)
        return NULL;
    if (topics->n >= topics->n_buckets)
        topics_grow(topics);
    struct bus_topic **at = &topics->buckets[(hash ^ hash >> 32) & (topics->n_buckets - 1)];
    topic->hash = hash;
    topic->len = len;
    memcpy(topic->subject, subject, len + 1);
    topic->next = *at;
    *at = topic;
    topics->n++;
    return topic;
}

static void topics_drop(struct bus_topics *topics, struct bus_topic *topic)
{
    struct bus_topic **at =
        &topics->buckets[(topic->hash ^ topic->hash >> 32) & (topics->n_buckets - 1)];

    if (topic->groups)
        return;
    while (*at != topic)
        at = &(*at)->next;
    *at = topic->next;
    topics->n--;
    free(topic);
}

static struct bus_group *topic_group(struct bus_topic *topic, const char *queue)
{
    struct bus_group *group = topic->groups;

    while (group &&
           !(queue && group->queue ? strcmp(queue, group->queue) == 0 : !queue && !group->queue))
        group = group->next;
    if (group)
        return group;
    group = calloc(1, sizeof *group);
    if (!group)
        return NULL;
    if (queue) {
        group->queue = malloc(strlen(queue) + 1);
        if (!group->queue) {
            free(group);
            return NULL;
        }
        memcpy(group->queue, queue, strlen(queue) + 1);
    }
    group->topic = topic;
    group->next = topic->groups;
    topic->groups = group;
    return group;
}

static void topic_drop(struct bus_topic *topic, struct bus_group *group)
{
    struct bus_group **at = &topic->groups;

    if (group->n)
        return;
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    group_free(group);
}

bool bus_topics_add(struct bus_topics *topics, struct bus_sub *sub, const char *subject,
                    const char *queue)
{
    struct bus_topic *topic = topics_row(topics, subject);
    struct bus_group *group = topic ? topic_group(topic, queue) : NULL;

    if (group && group->n == group->cap) {
        const size_t cap = group->cap ? group->cap * 2 : 1;
        struct bus_sub **subs = realloc(group->subs, cap * sizeof *subs);
        if (subs) {
            group->subs = subs;
            group->cap = cap;
        }
    }
    if (group && group->n < group->cap) {
        sub->group = group;
        sub->at = group->n;
        group->subs[group->n++] = sub;
        return true;
    }
    if (group)
        topic_drop(topic, group);
    if (topic)
        topics_drop(topics, topic);
    return false;
}

void bus_topics_remove(struct bus_topics *topics, struct bus_sub *sub)
{
    struct bus_group *group = sub->group;

    if (!group)
        return;
    struct bus_topic *topic = group->topic;
    group->subs[sub->at] = group->subs[--group->n];
    group->subs[sub->at]->at = sub->at;
    sub->group = NULL;
    topic_drop(topic, group);
    topics_drop(topics, topic);
}

/* One of a queue group: the first one that is there, from a random one on. */
static size_t match_one(struct bus_group *group, struct bus *bus,
                        bool (*is_there)(const struct bus_sub *sub),
                        void (*each)(void *user, struct bus_sub *sub), void *user)
{
    const size_t from = group->n ? (size_t)(bus_random(bus) % group->n) : 0;

    for (size_t i = 0; i < group->n; i++) {
        struct bus_sub *sub = group->subs[(from + i) % group->n];
        if (!is_there(sub))
            continue;
        each(user, sub);
        return 1;
    }
    return 0;
}

static size_t match_topic(struct bus_topic *topic, struct bus *bus,
                          bool (*is_there)(const struct bus_sub *sub),
                          void (*each)(void *user, struct bus_sub *sub), void *user)
{
    size_t n = 0;

    for (struct bus_group *group = topic ? topic->groups : NULL; group; group = group->next) {
        if (group->queue) {
            n += match_one(group, bus, is_there, each, user);
            continue;
        }
        for (size_t i = 0; i < group->n; i++) {
            if (!is_there(group->subs[i]))
                continue;
            each(user, group->subs[i]);
            n++;
        }
    }
    return n;
}

size_t bus_topics_match(struct bus_topics *topics, struct bus *bus, const char *subject,
                        bool (*is_there)(const struct bus_sub *sub),
                        void (*each)(void *user, struct bus_sub *sub), void *user)
{
    uint64_t hash = HASH_BEGIN;
    size_t n = 0, i = 0;

    for (;; i++) {
        if (i == 0 || subject[i - 1] == '.') /* before a token */
            n += match_topic(topics_find(topics, topic_hash(hash, ">", 1), subject, i, ">"), bus,
                             is_there, each, user);
        if (!subject[i])
            break;
        hash = topic_hash(hash, subject + i, 1);
    }
    return n + match_topic(topics_find(topics, hash, subject, i, ""), bus, is_there, each, user);
}
