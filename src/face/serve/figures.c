/* SPDX-License-Identifier: MIT */
/* face/serve/figures.c - what is counted while runs go: times by size, and words for how a run began and
 * ended. */
#include "base/buf.h"
#include "face/serve/internal.h"

const char *const serve_ends[] = { "exited",      "signaled",  "limit",       "failed",
                                   "not-started", "cancelled", "interrupted", NULL };
const char *const serve_starts[] = { "cold", "parked", "warm", "session", NULL };

static const struct {
        uint64_t ns;
        const char *le;
} bounds[HISTOGRAM_BUCKETS - 1] = {
        { 1000000, "0.001" },     { 5000000, "0.005" },  { 10000000, "0.01" },    { 25000000, "0.025" },
        { 50000000, "0.05" },     { 100000000, "0.1" },  { 250000000, "0.25" },   { 1000000000, "1" },
        { 5000000000, "5" },      { 30000000000, "30" }, { 120000000000, "120" }, { 600000000000, "600" },
        { 3600000000000, "3600" }
};

void histogram_add(struct histogram *h, uint64_t ns)
{
        size_t i = 0;
        while (i < HISTOGRAM_BUCKETS - 1 && ns > bounds[i].ns)
                i++;
        h->n[i]++;
        h->sum_ns += ns;
}

void histogram_put(struct buf *out, const char *name, const char *labels, const struct histogram *h)
{
        uint64_t n = 0;
        const char *comma = labels[0] ? "," : "";
        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
                n += h->n[i];
                buf_printf(out, "%s_bucket{%s%sle=\"%s\"} %llu\n", name, labels, comma,
                           i < HISTOGRAM_BUCKETS - 1 ? bounds[i].le : "+Inf", (unsigned long long) n);
        }
        buf_printf(out, "%s_sum{%s} ", name, labels);
        buf_fixed(out, h->sum_ns / 1000, 6);
        buf_printf(out, "\n%s_count{%s} %llu\n", name, labels, (unsigned long long) n);
}
