/* SPDX-License-Identifier: MIT */
/* run/api/api_doctor.c - `cordon doctor`: what was found of each layer, and in one line which wall boxes get
 * here. */
#include "base/host/host.h"
#include "files/work/work.h"
#include "run/api/internal.h"
#include "wall/wall.h"

#include <stdio.h>
#include <string.h>

enum { FINDINGS = 40 };

static void finding_text(const struct host_finding *f, struct buf *out)
{
        static const char *const marks[] = { [HOST_NO] = "missing", [HOST_WEAK] = "weak", [HOST_YES] = "ok" };
        buf_printf(out, "%-7s  %-22s %s\n", marks[f->state], f->layer, f->detail);
        if (f->mend[0])
                buf_printf(out, "%-31s fix: %s\n", "", f->mend);
}

static void finding_json(const struct host_finding *f, struct buf *out)
{
        static const char *const states[] = { [HOST_NO] = "no", [HOST_WEAK] = "weak", [HOST_YES] = "yes" };
        buf_puts(out, "{\"layer\":");
        buf_json(out, span_str(f->layer));
        buf_printf(out, ",\"state\":\"%s\",\"detail\":", states[f->state]);
        buf_json(out, span_str(f->detail));
        buf_member(out, "mend", f->mend);
        buf_putc(out, '}');
}

static const struct host_finding *find_layer(const struct host_finding *f, unsigned n, const char *layer)
{
        for (unsigned i = 0; i < n; i++)
                if (strcmp(f[i].layer, layer) == 0)
                        return &f[i];
        return NULL;
}

static bool is_here(const struct host_finding *f, unsigned n, const char *layer)
{
        const struct host_finding *found = find_layer(f, n, layer);
        return found && found->state != HOST_NO;
}

static const char *limits_by(const struct host_finding *f, unsigned n)
{
        const struct host_finding *memory = find_layer(f, n, "memory limit"),
                                  *procs = find_layer(f, n, "process limit");
        bool groups = memory && procs && memory->state == HOST_YES && procs->state == HOST_YES;
        return groups ? "control groups" : "rlimits and sampling";
}

/* The first layer that the namespace wall misses, or NULL. */
static const struct host_finding *first_missing(const struct host_finding *f, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                if (f[i].needed && f[i].state == HOST_NO)
                        return &f[i];
        return NULL;
}

/* Can the second choice of `wall auto` be raised? */
static int check_next_wall(const struct host_finding *f, unsigned n, struct err *e)
{
        static const char *const layers[] = { "landlock", "seccomp filter", "no_new_privs" };
        struct host_facts facts;
        for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
                if (!is_here(f, n, layers[i]))
                        return err_set(e, ERR_HOST, 0, "it misses %s", layers[i]);

        return host_facts_quick(&facts, e) < 0 ? -1 : wall_check_host(wall_choice(WALL_AUTO, 1), &facts, e);
}

static void judge_wall(const struct host_finding *f, unsigned n, struct host_finding *ret)
{
        struct err e = { 0 };
        const struct host_finding *missing = first_missing(f, n);
        *ret = (struct host_finding){ .layer = "boxes" };
        ret->state = !missing ? HOST_YES : check_next_wall(f, n, &e) == 0 ? HOST_WEAK : HOST_NO;
        if (ret->state == HOST_YES)
                (void) snprintf(ret->detail, sizeof ret->detail, "the namespace wall; limits by %s",
                                limits_by(f, n));
        else if (ret->state == HOST_WEAK)
                (void) snprintf(ret->detail, sizeof ret->detail,
                                "process wall only (no %s): files outside are visible to stat; no net doors, "
                                "private loopback, /tmp or /proc; limits by %s",
                                missing->layer, limits_by(f, n));
        else
                (void) snprintf(ret->detail, sizeof ret->detail, "boxes cannot start: %.160s", e.what);
}

/* The layer that people are. False: nobody was asked yet. */
static bool judge_approvals(const cordon_context *cx, struct host_finding *ret)
{
        *ret = (struct host_finding){ .layer = "approvals" };
        enum box_approving a = box_approving(cx, ret->detail, sizeof ret->detail);
        ret->state = a == BOX_APPROVING_WELL ? HOST_YES : HOST_WEAK;
        if (a == BOX_APPROVING_BADLY)
                (void) snprintf(ret->mend, sizeof ret->mend, "cordon approve stats");
        return a != BOX_APPROVING_NONE;
}

/* An overlay can be mounted: also over what the state directory lies on? */
static void judge_overlay(const cordon_context *cx, struct host_finding *f, unsigned n)
{
        struct host_finding *o = (struct host_finding *) (uintptr_t) find_layer(f, n, "overlay");
        char place[WORK_PLACE_MAX];
        enum work_holding holds = o && o->state == HOST_YES ? work_can_hold(cx, place) : WORK_HOLDS;
        if (holds == WORK_HOLDS)
                return;

        o->state = HOST_WEAK;
        if (holds == WORK_HOLDS_ELSEWHERE)
                (void) snprintf(o->detail, sizeof o->detail,
                                "the state directory cannot hold edit doors: their changes lie in %.120s",
                                place);
        else
                (void) snprintf(o->detail, sizeof o->detail, "the state directory cannot hold edit doors");
        if (holds == WORK_HOLDS_NOT)
                (void) snprintf(o->mend, sizeof o->mend, "CORDON_STATE=/dev/shm/cordon cordon run ...");
}

char *cordon_doctor(const cordon_context *cx, int json, int *ret_ok)
{
        struct host_finding f[FINDINGS];
        unsigned n = 1 + host_probe(cx, f + 1, FINDINGS - 1);
        struct buf out = { 0 };
        judge_overlay(cx, f + 1, n - 1);
        judge_wall(f + 1, n - 1, &f[0]);
        n += n < FINDINGS && judge_approvals(cx, &f[n]);
        n += n < FINDINGS && look_gpu_finding(&f[n]);
        *ret_ok = f[0].state == HOST_YES;

        if (json)
                buf_putc(&out, '[');

        for (unsigned i = 0; i < n; i++) {
                if (json && i)
                        buf_putc(&out, ',');
                (json ? finding_json : finding_text)(&f[i], &out);
        }

        if (json)
                buf_puts(&out, "]\n");

        return api_give(&out, NULL);
}
