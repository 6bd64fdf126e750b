/* SPDX-License-Identifier: MIT */
/* bench/ledger.c - what the ledger costs: records a second in group commit, a durable record, and a million
 * of them in `cordon ledger verify`; and the ledgers of many hosts whose jobs cause each other. Usage: ledger
 * DIR append N | durable N | host K/HOSTS/N/FROM: as host K of so many, N records from number FROM on */
#include "ledger/ledger.h"
#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return (x > y) - (x < y);
}

/* A record as a broker would write it. */
static struct ledger_record sample(char *target, size_t cap, long i)
{
        struct ledger_record r = ledger_record_of(LEDGER_REQUEST, LEDGER_CLAIM);
        (void) snprintf(target, cap, "https://api.example.com/v1/items/%ld", i);
        r.box = "agent";
        r.door = "net GET https://api.example.com/v1/**";
        r.policy = "482fa462b8a848bce85af9ddd67a453580642dddc133fbdca2ce1736ff171d9d";
        r.target = target;
        r.result = "200";
        r.bytes = 1234;
        r.parents[0] = "8979-14e3a2-effffffc49b24969.start";
        r.parent_count = 1;
        return r;
}

static int append(struct ledger *l, long n, struct err *e)
{
        char target[80];
        uint64_t began = clock_mono_ns();
        for (long i = 0; i < n; i++) {
                struct ledger_record r = sample(target, sizeof target, i);
                if (ledger_append(l, &r, false, NULL, e) < 0)
                        return -1;
                ledger_tick(l);
        }
        if (ledger_flush(l, 1000, e) < 0)
                return -1;
        double s = (double) (clock_mono_ns() - began) / 1e9;
        return printf("%ld records in %.2f s: %.0f a second\n", n, s, (double) n / s) < 0;
}

static int durable(struct ledger *l, long n, struct err *e)
{
        char target[80];
        uint64_t *ns = calloc((size_t) n, sizeof *ns);
        for (long i = 0; ns && i < n; i++) {
                struct ledger_record r = sample(target, sizeof target, i);
                uint64_t began = clock_mono_ns();
                if (ledger_append(l, &r, true, NULL, e) < 0)
                        return -1;
                ns[i] = clock_mono_ns() - began;
        }
        if (!ns)
                return -1;
        qsort(ns, (size_t) n, sizeof *ns, by_size);
        int bad = printf("a durable record: median %.3f ms, 99 of 100 within %.3f ms\n",
                         (double) ns[n / 2] / 1e6, (double) ns[n * 99 / 100] / 1e6) < 0;
        free(ns);
        return bad;
}

/* Jobs of ten records each. Job i of a host is caused by job i of the host before it, and that of the first
 * host by job i - 1 of the last. */
static int host(int dir, unsigned k, unsigned hosts, long from, long end, struct err *e)
{
        enum { JOB = 10 };
        char run[24], target[80], name[24], own[48], other[48];
        (void) snprintf(run, sizeof run, "h%u", k);
        struct ledger *l = ledger_open_at(dir, run, "", e);
        for (long i = from; l && i < end; i++) {
                struct ledger_record r = sample(target, sizeof target, i);
                long job = i / JOB, before = k > 0 ? job : job - 1;
                (void) snprintf(own, sizeof own, "%s.%ld-0", run, job);
                (void) snprintf(other, sizeof other, "h%u.%ld-%d", (k + hosts - 1) % hosts, before, JOB - 1);
                (void) snprintf(name, sizeof name, "%ld-%ld", job, i % JOB);
                r.name = name;
                r.parents[0] = i % JOB ? own : other;
                r.parent_count = i % JOB || before >= 0;
                if (ledger_append(l, &r, false, NULL, e) < 0)
                        return -1;
                ledger_tick(l);
        }
        if (!l || ledger_flush(l, 1000, e) < 0)
                return -1;
        ledger_close(l);
        return 0;
}

int main(int argc, char **argv)
{
        struct err e = { 0 };
        unsigned k, hosts;
        long records, from;
        if (argc != 4)
                return 2;
        if (strcmp(argv[2], "host") == 0 &&
            sscanf(argv[3], "%u/%u/%ld/%ld", &k, &hosts, &records, &from) == 4) {
                int place = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (place >= 0 && hosts > 0 && host(place, k, hosts, from, from + records, &e) == 0)
                        return 0;
                (void) fprintf(stderr, "ledger: %s\n", e.what);
                return 1;
        }
        int dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct ledger *l = dir < 0 ? NULL : ledger_open_at(dir, "bench", "", &e);
        long n = strtol(argv[3], NULL, 10);
        if (!l || n <= 0 || (strcmp(argv[2], "append") == 0 ? append(l, n, &e) : durable(l, n, &e)) < 0) {
                (void) fprintf(stderr, "ledger: %s\n", e.what);
                return 1;
        }
        ledger_close(l);
        return 0;
}
