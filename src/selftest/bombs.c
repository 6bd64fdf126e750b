/* SPDX-License-Identifier: MIT */
/* selftest/bombs.c - `cordon selftest bombs`: each bomb in a box of its own with small limits, while a
 * neighbour's sleep and the host's free memory are watched. Output of a box is hostile text: a bomb's report
 * counts only if the limit cannot be observed from outside. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "selftest/bomb/bomb.h"
#include "selftest/selftest.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 64, WORD_MAX = 200, TICK_MS = 10, QUIET_MS = 400, SAMPLES = 1 << 16, TOO_LONG_MS = 5000 };

/* The result of one watch: the neighbour's lateness and the host's free memory. */
struct watched {
        uint64_t lowest_kib; /* MemAvailable */
        uint32_t late_us[SAMPLES];
        size_t count;
};

struct row {
        const struct bomb *bomb;
        char limits[80]; /* that named themselves */
        char inside[80]; /* the bomb's report */
        uint64_t ms, late_p99_us, late_max_us, memory_dip_kib, memory_peak;
        bool groups, ok;
        const char *how; /* it is known */
};

struct bombs {
        struct row rows[ROWS];
        size_t count;
        struct watched watched;
        struct buf word; /* of the bomb that runs */
        cordon_policy *neighbour_policy;
        cordon_box *neighbour;
        char self[4096], tag[16];
        uint64_t before_kib, after_kib, quiet_p99_us, quiet_max_us;
        bool json;
        const char *wall; /* NULL: as it comes */
};

static volatile sig_atomic_t interrupted;
static void note_signal(int sig) { interrupted = sig; }

const struct cli_option bombs_options[] = {
        { "json", 0, NULL, "one object with a row per bomb", CLI_FLAG(struct bombs, json) },
        { "wall", 0, "WALL", "in boxes with this wall, as in a policy", CLI_TEXT(struct bombs, wall) },
        { 0 },
};

/* ---- watched values ---- */

static uint64_t available_kib(void)
{
        char text[4096];
        const char *at = fd_get(AT_FDCWD, "/proc/meminfo", text, sizeof text) > 0
                                 ? strstr(text, "MemAvailable:")
                                 : NULL;
        return at ? strtoull(at + strlen("MemAvailable:"), NULL, 10) : 0;
}

static int by_value(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
        return x < y ? -1 : x > y;
}

static void watch_begin(struct watched *w)
{
        w->lowest_kib = available_kib();
        w->count = 0;
}

static void watch_end(struct watched *w, uint64_t *ret_p99, uint64_t *ret_max)
{
        qsort(w->late_us, w->count, sizeof *w->late_us, by_value);
        *ret_p99 = w->count ? w->late_us[w->count * 99 / 100] : 0;
        *ret_max = w->count ? w->late_us[w->count - 1] : 0;
}

/* Lines of digits; a line that is cut between two calls is two small numbers, and does not matter. */
static void hear_neighbour(void *ctx, int stream, const void *data, size_t len)
{
        struct bombs *b = ctx;
        uint32_t value = 0;
        const char *p = data;

        for (size_t i = 0; stream == 1 && i < len; i++) {
                if (p[i] >= '0' && p[i] <= '9' && value < 100000000) {
                        value = value * 10 + (uint32_t) (p[i] - '0');
                } else if (p[i] == '\n') {
                        if (b->watched.count < SAMPLES)
                                b->watched.late_us[b->watched.count++] = value;
                        value = 0;
                }
        }
}

static void watch_tick(struct bombs *b)
{
        uint64_t now = available_kib();
        if (now < b->watched.lowest_kib)
                b->watched.lowest_kib = now;
        (void) cordon_box_wait(b->neighbour, 0);
}

/* ---- one bomb ---- */

static void hear_bomb(void *ctx, int stream, const void *data, size_t len)
{
        struct bombs *b = ctx;
        if (stream == 1 && b->word.n + len <= WORD_MAX)
                buf_add(&b->word, data, len);
}

static cordon_box *make_box(struct bombs *b, cordon_policy *p, const char *name, const char *limits,
                            cordon_error *e)
{
        const char *argv[] = { b->self, "__bomb", name, b->tag, NULL };
        bool good = cordon_policy_add(p, "box", "bombs", e) == 0 &&
                    cordon_policy_add(p, "limit", limits, e) == 0 &&
                    (!b->wall || cordon_policy_add(p, "wall", b->wall, e) == 0);
        cordon_box *box = good ? cli_box_new(p) : NULL;
        if (box &&
            (cordon_box_command(box, argv) < 0 || cordon_box_set(box, CORDON_SINGLE_THREAD, "1") < 0)) {
                cordon_box_free(box);
                return NULL;
        }

        return box;
}

/* Any process whose name is our mark was left behind by a box. It may be about to be reaped. */
static bool left_behind(const char *tag)
{
        char path[300], name[64];
        bool found = false;
        DIR *d = opendir("/proc");
        for (struct dirent *e; d && !found && (e = readdir(d));) {
                if (e->d_name[0] < '1' || e->d_name[0] > '9')
                        continue;
                (void) snprintf(path, sizeof path, "/proc/%s/comm", e->d_name);
                found = fd_get(AT_FDCWD, path, name, sizeof name) > 0 && strncmp(name, tag, strlen(tag)) == 0;
        }

        if (d)
                (void) closedir(d);

        return found;
}

static bool names_limit(const char *list, const char *word)
{
        size_t n = strlen(word);
        for (const char *at = list; (at = strstr(at, word)); at += n)
                if ((at == list || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
                        return true;
        return false;
}

static bool watched_error(const struct row *w)
{
        char want[32];
        (void) snprintf(want, sizeof want, "stopped %s ", w->bomb->error ? w->bomb->error : "-");
        return strncmp(w->inside, want, strlen(want)) == 0;
}

/* The process wall has no private files and segments to fill: the bomb got none, or its first. */
static bool got_nothing(const struct row *w, const cordon_result *r)
{
        size_t n = strlen(w->inside);
        return strcmp(r->wall, "process") == 0 && strncmp(w->inside, "stopped ", 8) == 0 && n > 2 &&
               w->inside[n - 2] == ' ' && (w->inside[n - 1] == '0' || w->inside[n - 1] == '1');
}

/* Without groups memory is sampled: on a busy machine a sample may come before the rlimit does. */
static const char *expected_limit(const struct row *w)
{
        bool other = !w->groups && w->bomb->rlimit && !names_limit(w->limits, w->bomb->limit);
        return other ? w->bomb->rlimit : w->bomb->limit;
}

/* The limit's own report first; the bomb's only if it has none, or if rlimits enforce it. */
static void judge_bomb(struct bombs *b, struct row *w, const cordon_result *r)
{
        uint64_t memory = 64u << 20;
        w->how = "NOT STOPPED";
        if (names_limit(w->limits, expected_limit(w)))
                w->ok = true, w->how = "named";
        else if ((w->bomb->shows_inside || !w->groups) && w->bomb->error && watched_error(w))
                w->ok = true, w->how = "seen inside";
        else if (got_nothing(w, r))
                w->ok = true, w->how = "got nothing";
        else if (strcmp(w->bomb->name, "daemon") == 0 && r->end == CORDON_EXITED && !left_behind(b->tag))
                w->ok = true, w->how = "gone";

        if (strcmp(w->bomb->name, "memory-pagecache") == 0 && w->memory_peak > memory)
                w->ok = false, w->how = "memory passed its limit";

        if (w->ms > TOO_LONG_MS)
                w->ok = false, w->how = "too late";
}

static void fill_row(struct bombs *b, struct row *w, cordon_box *box)
{
        const cordon_result *r = cordon_box_result(box);
        w->groups = r->groups != 0;
        w->memory_peak = r->memory_peak;
        (void) snprintf(w->limits, sizeof w->limits, "%s", r->limits_hit);
        struct span first = span_of(buf_str(&b->word), strcspn(buf_str(&b->word), "\n"));
        if (first.n < 60 && (strncmp(buf_str(&b->word), "stopped ", 8) == 0 ||
                             strncmp(buf_str(&b->word), "through ", 8) == 0))
                (void) str_inert(first, w->inside, sizeof w->inside);

        judge_bomb(b, w, r);
}

static int run_bomb(struct bombs *b, const struct bomb *bomb, cordon_error *e)
{
        struct row *w = &b->rows[b->count++];
        *w = (struct row){ .bomb = bomb, .how = "it did not start" };
        buf_done(&b->word);
        b->word = (struct buf){ 0 };
        cordon_policy *p = cli_policy_new();
        cordon_box *box = p ? make_box(b, p, bomb->name, bomb->limits, e) : NULL;
        if (box)
                cordon_box_on_output(box, hear_bomb, b);

        watch_begin(&b->watched);
        uint64_t free_kib = b->watched.lowest_kib, t = clock_mono_ns();
        int status = box ? cordon_box_start(box, e) : -1;
        while (status == 0 && !interrupted && cordon_box_wait(box, TICK_MS) == 0)
                watch_tick(b);

        w->ms = (clock_mono_ns() - t) / 1000000;
        watch_tick(b);
        watch_end(&b->watched, &w->late_p99_us, &w->late_max_us);
        w->memory_dip_kib = free_kib - b->watched.lowest_kib;
        if (status == 0 && !interrupted)
                fill_row(b, w, box);

        cordon_box_free(box);
        cordon_policy_free(p);
        return status;
}

/* ---- the table ---- */

static void put_row(const struct row *w, struct buf *o)
{
        buf_printf(o, "%-4s %-17s %-16s %6llu %8.1f %8.1f %9.1f   ", w->ok ? "ok" : "NOT", w->bomb->name,
                   expected_limit(w), (unsigned long long) w->ms, (double) w->late_p99_us / 1e3,
                   (double) w->late_max_us / 1e3, (double) w->memory_dip_kib / 1024);
        buf_puts(o, w->how);
        if (w->inside[0])
                buf_printf(o, " (%s)", w->inside);

        if (w->limits[0] && !names_limit(w->limits, expected_limit(w)))
                buf_printf(o, "; hit: %s", w->limits);

        if (w->bomb->beside && (!w->groups || !w->bomb->rlimit))
                buf_printf(o, "; %s", w->bomb->beside);

        buf_putc(o, '\n');
}

static size_t count_failures(const struct bombs *b)
{
        size_t n = 0;
        for (size_t i = 0; i < b->count; i++)
                n += !b->rows[i].ok;
        return n;
}

static void put_table(const struct bombs *b, struct buf *o)
{
        buf_printf(o, "%-4s %-17s %-16s %6s %8s %8s %9s\n", "", "", "", "", "late p99", "late max",
                   "host MiB");
        buf_printf(o, "%-4s %-17s %-16s %6s %8s %8s %9s   %s\n", "", "bomb", "limit", "ms", "ms", "ms",
                   "taken", "how it is known");
        for (size_t i = 0; i < b->count; i++)
                put_row(&b->rows[i], o);

        buf_printf(o, "\n%zu bombs, %zu stopped by their limit, %zu not. Limits kept by %s.\n", b->count,
                   b->count - count_failures(b), count_failures(b),
                   b->count && b->rows[0].groups ? "control groups" : "rlimits and sampling (weaker)");
        buf_printf(
                o,
                "A neighbour box that sleeps 2 ms at a time woke late by %.1f ms (p99), %.1f ms (max) before "
                "any bomb; beside each bomb, as above.\n",
                (double) b->quiet_p99_us / 1e3, (double) b->quiet_max_us / 1e3);
        buf_printf(o, "Memory available on the host: %llu MiB before, %llu MiB after.\n",
                   (unsigned long long) b->before_kib >> 10, (unsigned long long) b->after_kib >> 10);
}

static void put_json(const struct bombs *b, struct buf *o)
{
        buf_printf(o,
                   "{\"groups\":%s,\"neighbour\":{\"late_p99_us\":%llu,\"late_max_us\":%llu},"
                   "\"host\":{\"available_kib_before\":%llu,\"available_kib_after\":%llu},\"bombs\":[",
                   b->count && b->rows[0].groups ? "true" : "false", (unsigned long long) b->quiet_p99_us,
                   (unsigned long long) b->quiet_max_us, (unsigned long long) b->before_kib,
                   (unsigned long long) b->after_kib);
        for (size_t i = 0; i < b->count; i++) {
                const struct row *w = &b->rows[i];
                buf_printf(o, "%s{\"bomb\":\"%s\",\"does\":\"%s\",\"limit\":\"%s\",\"ok\":%s,\"how\":\"%s\"",
                           i ? ",\n " : "\n ", w->bomb->name, w->bomb->what, expected_limit(w),
                           w->ok ? "true" : "false", w->how);
                buf_member(o, "limits_hit", w->limits);
                buf_member(o, "inside", w->inside);
                buf_printf(o,
                           ",\"ms\":%llu,\"memory_peak\":%llu,\"neighbour_late_p99_us\":%llu,"
                           "\"neighbour_late_max_us\":%llu,\"host_taken_kib\":%llu}",
                           (unsigned long long) w->ms, (unsigned long long) w->memory_peak,
                           (unsigned long long) w->late_p99_us, (unsigned long long) w->late_max_us,
                           (unsigned long long) w->memory_dip_kib);
        }

        buf_puts(o, "]}\n");
}

static int report_bombs(const struct bombs *b)
{
        AUTO_BUF(o);
        if (b->json)
                put_json(b, &o);
        else
                put_table(b, &o);

        int bad = cli_put(&o);
        return bad ? bad : count_failures(b) ? 1 : 0;
}

/* ---- the run ---- */

static int start_neighbour(struct bombs *b, cordon_error *e)
{
        b->neighbour_policy = cli_policy_new();
        b->neighbour =
                b->neighbour_policy ? make_box(b, b->neighbour_policy, "neighbour", "time 5m", e) : NULL;
        if (!b->neighbour)
                return -1;

        cordon_box_on_output(b->neighbour, hear_neighbour, b);
        if (cordon_box_start(b->neighbour, e) < 0)
                return -1;

        watch_begin(&b->watched);
        b->before_kib = b->watched.lowest_kib;
        for (uint64_t end = clock_mono_ns() + QUIET_MS * 1000000ull; clock_mono_ns() < end && !interrupted;)
                (void) cordon_box_wait(b->neighbour, TICK_MS);

        watch_end(&b->watched, &b->quiet_p99_us, &b->quiet_max_us);
        return 0;
}

static int run_all(struct bombs *b, char **names_given, int count)
{
        cordon_error e = { 0 };
        size_t n;
        const struct bomb *all = bomb_table(&n);
        int bad = start_neighbour(b, &e);
        if (count > 0)
                for (int i = 0; i < count && !bad && !interrupted; i++)
                        bad = run_bomb(b, bomb_find(names_given[i]), &e);
        else
                for (size_t i = 0; i < n && !bad && !interrupted; i++)
                        bad = run_bomb(b, &all[i], &e);

        b->after_kib = available_kib();
        if (bad)
                return cli_error(&e);

        return interrupted ? 128 + interrupted : report_bombs(b);
}

static int check_names(char **given, int count)
{
        if (count > ROWS)
                return cli_usage("at most %d bombs at once", ROWS);

        for (int i = 0; i < count; i++) {
                if (bomb_find(given[i]))
                        continue;
                size_t n;
                const struct bomb *all = bomb_table(&n);
                AUTO_BUF(list);
                for (size_t k = 0; k < n; k++)
                        buf_printf(&list, " %s", all[k].name);
                return cli_usage("there is no bomb `%.40s`; there are:%s", given[i], buf_str(&list));
        }

        return 0;
}

int verb_bombs(int argc, char **argv)
{
        static struct bombs b;
        static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
        cli_options_first(argc, argv, cli_verb_find("selftest bombs"));
        int at = cli_options(argc, argv, cli_verb_find("selftest bombs"), &b, NULL);
        if (at < 0 || check_names(argv + at, argc - at) != 0)
                return EXIT_CORDON;

        if (!cli_self(b.self, sizeof b.self))
                return cli_usage("our own program cannot be found: /proc is not mounted");

        (void) snprintf(b.tag, sizeof b.tag, "bomb-%x", (unsigned) getpid());
        for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
                (void) signal(caught[i], note_signal);

        int status = run_all(&b, argv + at, argc - at);
        cordon_box_free(b.neighbour);
        cordon_policy_free(b.neighbour_policy);
        buf_done(&b.word);
        return status;
}
