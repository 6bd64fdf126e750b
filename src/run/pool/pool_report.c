/* SPDX-License-Identifier: MIT */
/* run/pool/pool_report.c - what the resident answers to `cordon serve pool ls` and `stats`. Changes nothing.
 */
#include "base/clock.h"
#include "base/str.h"
#include "run/pool/resident.h"

enum { SECOND = 1000000000 };

/* A person needs its beginning, a program all of it. */
enum { KEY_SHOWN = 6 };
static void put_key(const struct shelf *h, unsigned bytes, struct buf *out)
{
        for (unsigned i = 0; i < bytes; i++)
                buf_printf(out, "%02x", h->key[i]);
}

static void list_shelf(const struct pool *p, unsigned i, bool json, bool first, struct buf *out)
{
        const struct shelf *h = &p->shelves[i];
        unsigned ready = pool_boxes(p, i, true);
        uint64_t now = clock_mono_ns();
        char name[256];
        uint64_t us = h->parked ? h->parked_ns / h->parked / 1000 : 0;
        if (json) {
                buf_puts(out, first ? "{\"key\":\"" : ",{\"key\":\"");
                put_key(h, POOL_KEY, out);
                buf_printf(out, "\",\"policy\":");
                buf_json(out, span_str(h->recipe.name));
                buf_printf(out,
                           ",\"size\":%u,\"ready\":%u,\"automatic\":%s,\"hits\":%llu,\"misses\":%llu,"
                           "\"park_us\":%llu,\"age_s\":%llu,\"unused_s\":%llu,\"error\":",
                           h->want, ready, h->automatic ? "true" : "false", (unsigned long long) h->hits,
                           (unsigned long long) h->misses, (unsigned long long) us,
                           (unsigned long long) ((now - h->made_ns) / SECOND),
                           (unsigned long long) ((now - h->used_ns) / SECOND));
                buf_json(out, span_str(h->error));
                buf_putc(out, '}');
                return;
        }

        put_key(h, KEY_SHOWN, out);
        buf_printf(out, "  %u/%-3u  %6llu %6llu  %8llu  %s%s%s%s\n", ready, h->want,
                   (unsigned long long) h->hits, (unsigned long long) h->misses, (unsigned long long) us,
                   str_inert(span_str(h->recipe.name), name, sizeof name), h->automatic ? " (automatic)" : "",
                   h->error[0] ? ": " : "", h->error);
}

void pool_report_list(const struct pool *p, bool json, struct buf *out)
{
        bool first = true;
        buf_puts(out, json ? "[" : "KEY           READY    HITS MISSES   PARK_US  POLICY\n");
        for (unsigned i = 0; i < SHELVES_MAX; i++)
                if (p->shelves[i].is) {
                        list_shelf(p, i, json, first, out);
                        first = false;
                }

        if (json)
                buf_puts(out, "]\n");
}

void pool_report_stats(const struct pool *p, bool json, struct buf *out)
{
        buf_printf(out,
                   json ? "{\"parked\":%u,\"starting\":%u,\"most\":%u,\"hits\":%llu,\"misses\":%llu,"
                          "\"running\":%u}\n"
                        : "parked    %u\nstarting  %u\nmost      %u\nhits      %llu\nmisses    "
                          "%llu\nprocesses of runs  "
                          "%u\n",
                   pool_boxes(p, SHELVES_MAX, true),
                   pool_boxes(p, SHELVES_MAX, false) - pool_boxes(p, SHELVES_MAX, true), p->s.boxes,
                   (unsigned long long) p->given, (unsigned long long) p->missed, p->child_count);
}

int pool_report_state(struct pool *p, const uint8_t key[POOL_KEY], struct buf *out, struct err *e)
{
        const struct shelf *h = pool_shelf(p, key, POOL_KEY);
        unsigned ready = h ? pool_boxes(p, (unsigned) (h - p->shelves), true) : 0;
        if (!h)
                return err_set(e, ERR_USAGE, 0, "no boxes are parked for this plan any more");

        if (ready == 0 && h->failures)
                return err_set(e, ERR_USAGE, 0, "%s", h->error[0] ? h->error : "it could not be started");

        buf_printf(out, "%u of %u parked under ", ready, h->want);
        put_key(h, KEY_SHOWN, out);
        buf_putc(out, '\n');
        return 0;
}
