/* SPDX-License-Identifier: MIT */
/* files/work/apply/work_list.c - lists overlays, and finds the one that a word means. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void layer_end(struct layer **l) { layer_free(*l); }
#define AUTO_LAYER(name, init) __attribute__((cleanup(layer_end))) struct layer *name = (init)

struct row {
        char run[WORK_RUN_MAX];
        const char *state;
        time_t start;
        char host[512], box[128];
        size_t entries, flagged, doors;
};

static int newest_first(const void *a, const void *b)
{
        const struct row *x = a, *y = b;
        return x->start != y->start ? (x->start > y->start ? -1 : 1) : strcmp(y->run, x->run);
}

/* Returns false if it does not exist (any more). */
static bool fill_row(const struct cordon_context *cx, int store, const char *run, struct row *r)
{
        struct err why;
        AUTO_ENTRIES(v);
        *r = (struct row){ 0 };
        (void) snprintf(r->run, sizeof r->run, "%s", run);
        AUTO_LAYER(l, layer_take(store, run, &why));
        r->state = "stuck"; /* any other verb reports why */
        if (!l) {
                if (why.sys == EBUSY || why.sys == EPROTONOSUPPORT)
                        r->state = why.sys == EBUSY ? "running" : "later"; /* of a later cordon */
                return why.code != ERR_GONE;
        }

        l->durable = true;
        r->start = l->start.tv_sec;
        if (journal_recover(cx, l, &why) < 0)
                return true;

        static const char *const states[] = {
                [LAYER_OPEN] = "killed", [LAYER_SEALED] = "waiting", [LAYER_APPLIED] = "applied"
        };

        r->state = states[l->state];
        r->doors = l->door_count;
        (void) str_inert(span_str(l->door_count ? l->doors[0].host : ""), r->host, sizeof r->host);
        (void) str_inert(span_str(l->box ? l->box : ""), r->box, sizeof r->box);
        if (l->state != LAYER_APPLIED &&
            (l->state == LAYER_OPEN ? seal(l, &v, &why) : scan_sealed(l, &v, &why)) == 0) {
                r->entries = v.n;
                r->flagged = v.flagged;
        }

        return true;
}

static void put_row(const struct row *r, bool json, struct buf *out)
{
        if (!json) {
                char when[32] = "-";
                struct tm tm;
                if (r->start && localtime_r(&r->start, &tm))
                        (void) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
                buf_printf(out, "%-22.*s %-8s %-19s %7zu %7zu  %s%s\n", str_run_shown(r->run), r->run,
                           r->state, when, r->entries, r->flagged, r->host, r->doors > 1 ? " ..." : "");
                return;
        }

        buf_member_json(out, NULL, "{");
        buf_member(out, "run", r->run);
        buf_printf(out,
                   ",\"state\":\"%s\",\"start\":%lld,\"entries\":%zu,\"flagged\":%zu,\"doors\":%zu,\"box\":",
                   r->state, (long long) r->start, r->entries, r->flagged, r->doors);
        buf_json(out, span_str(r->box));
        buf_member(out, "host", r->host);
        buf_putc(out, '}');
}

int work_list(const struct cordon_context *cx, bool json, work_sink *sink, void *ctx, struct err *e)
{
        AUTO_BUF(out);
        AUTO_NAMES(names);
        AUTO_FD(store, layer_store(cx, e));
        if (store < 0)
                return -1;

        if (tree_names(store, &names) < 0)
                return err_set(e, ERR_IO, errno, "listing the overlays: %s", strerror(errno));

        struct row *rows = calloc(names.n + 1, sizeof *rows);
        size_t n = 0;
        for (size_t i = 0; rows && i < names.n; i++)
                n += names.v[i][0] != '.' && fill_row(cx, store, names.v[i], &rows[n]);

        if (rows && n > 1)
                qsort(rows, n, sizeof *rows, newest_first);

        if (json)
                buf_putc(&out, '[');
        else if (n > 0)
                buf_printf(&out, "%-22s %-8s %-19s %7s %7s  %s\n", "RUN", "STATE", "START", "ENTRIES",
                           "FLAGGED", "DOOR");

        for (size_t i = 0; i < n; i++) {
                put_row(&rows[i], json, &out);
        }

        if (json)
                buf_puts(&out, "]\n");

        bool bad = !rows || out.failed;
        free(rows);
        if (bad)
                return err_set(e, ERR_MEMORY, 0, "no memory for the list");

        if (out.n > 0 && sink)
                sink(ctx, out.p, out.n);

        return 0;
}

int work_find(const struct cordon_context *cx, const char *run, char *ret_run, struct err *e)
{
        AUTO_FD(store, layer_store(cx, e));
        return store < 0 ? -1 : layer_find(store, run, LAYER_WAITING, ret_run, e);
}
