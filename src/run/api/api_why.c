/* SPDX-License-Identifier: MIT */
/* run/api/api_why.c - cordon_policy_why(): one decision in words and in JSON. Field names are stable; new
 * ones are only added. */
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct asked { /* one question, and all that is known about its answer */
        const struct checked_policy *c;
        const char *text;
        struct effect f;
        struct decision d;
        enum answer answer; /* with what labels and `ask` make of the decision */
        const struct door *near;
        struct refusal refusal;
        struct buf line, cost, difference;
        const struct policy_staged *staged; /* NULL: places were not queried */
        enum policy_leads leads;
        struct buf url; /* the destination */
        struct api_inside in;
        struct dry_box dry;     /* what a start would make; zero: the answer does not depend on it */
        struct label begins;    /* what the run holds from its start, with `after` */
        const char *asked_path; /* as it was typed; NULL: of no path */
        bool told_little;       /* its reader is to learn no more of the host than the box shows */
};

static bool leads_nowhere(const struct asked *q) { return q->staged && q->leads == POLICY_LEADS_NOWHERE; }
static bool is_allowed(const struct asked *q) { return q->answer != ANSWER_DENY && !leads_nowhere(q); }
/* A door covers it, and what the run has read keeps it in. */
static bool is_kept_in(const struct asked *q)
{
        return q->d.answer == ANSWER_ALLOW && q->answer == ANSWER_DENY;
}

static enum refusal_look kind_of_path(const char *path)
{
        struct stat st;
        if (stat(path, &st) < 0)
                return REFUSAL_NOTHING;
        return S_ISDIR(st.st_mode) ? REFUSAL_DIRECTORY : REFUSAL_FILE;
}

/* A module has no call for the others, and its wall refuses their doors. */
static bool can_hold(const struct asked *q)
{
        if (q->f.kind == EFFECT_RUN && policy_root(q->c))
                return false; /* of an image all programs run, or none: `run` lines choose none */

        return wall_has(policy_wall(q->c), WALL_PROGRAMS) || q->f.kind == EFFECT_READ ||
               q->f.kind == EFFECT_WRITE || q->f.kind == EFFECT_ENV;
}

/* Places of the box's own are not the host's. */
static bool is_own(const struct asked *q)
{
        return q->f.target && wall_has(policy_wall(q->c), WALL_OWN_ROOT) && policy_is_own_place(q->f.target);
}

/* What the box has at the path, before anything is done with it. */
static struct decision as_shown(const struct asked *q)
{
        const struct effect f = { .kind = EFFECT_READ, .target = q->in.path[0] ? q->in.path : q->f.target };
        return policy_decide(q->c, &f);
}

/* A door shows the path, or comes near it: what the host has there is no news to the box. */
static bool may_be_told(const struct asked *q)
{
        if (!q->told_little)
                return true;
        if (q->d.answer != ANSWER_ALLOW)
                return effect_is_near(q->f.kind, q->d.reason);

        bool any = q->f.kind == EFFECT_RUN && q->d.door && strcmp(q->d.door->path, "*") == 0;
        return !any || as_shown(q).door;
}

static void find_reasons(struct asked *q)
{
        struct refusal_facts facts = { .wall = policy_wall(q->c),
                                       .look = may_be_told(q) ? kind_of_path : NULL };
        q->near = policy_nearest(q->c, &q->f, &q->d);
        q->refusal = policy_refusal(q->c, &q->f, &q->d, &facts);
        if (can_hold(q) && !is_own(q))
                policy_smallest_line(&q->f, &q->d, &q->line);

        policy_line_cost(&q->f, &q->cost);
        policy_difference(q->c, &q->f, &q->d, &q->difference);
}

static bool has_parent(const char *path)
{
        char up[PATH_MAX];
        struct stat st;

        size_t n = str_parent(path, strlen(path));
        (void) snprintf(up, sizeof up, "%.*s", n ? (int) n : 1, path);
        return stat(up, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Nothing to read, execute, connect to or create, whatever the policy. */
static bool is_absent(const struct asked *q)
{
        struct stat st;
        char found[PATH_MAX];

        if (q->d.built_in || q->in.nowhere)
                return q->in.nowhere;

        switch (q->f.kind) {
        case EFFECT_READ:
        case EFFECT_SOCK:
        case EFFECT_DEV:
                return stat(q->f.target, &st) < 0 && (errno == ENOENT || errno == ELOOP);
        case EFFECT_WRITE:
                return (q->d.door && q->d.door->optional && stat(q->d.door->path, &st) < 0) ||
                       (lstat(q->f.target, &st) < 0 && errno == ENOENT && !has_parent(q->f.target));
        case EFFECT_RUN:
                return policy_root(q->c)          ? false
                       : strchr(q->f.target, '/') ? !api_is_program(q->f.target)
                                                  : !api_find_program(q->f.target, found, sizeof found);
        case EFFECT_NONE:
        case EFFECT_SIGN:
        case EFFECT_DECRYPT:
        case EFFECT_NET:
        case EFFECT_ENV:
        case EFFECT_TOOL:
        case EFFECT_CALL:
        case EFFECT_RENAME:
        case EFFECT_LIMIT:
        case EFFECT_CREDENTIAL:
        case EFFECT_KIND__COUNT:
                break;
        }
        return false;
}

/* Does the box have the image's file of that name, if any, and not the host's? */
static bool is_of_image(const struct asked *q)
{
        bool file = q->f.kind == EFFECT_READ || q->f.kind == EFFECT_WRITE || q->f.kind == EFFECT_RUN;
        return file && policy_root(q->c) && !q->d.door;
}

/* Can the host have the path or the program, and not only the box or its image? */
static bool is_of_host(const struct asked *q)
{
        bool path = q->f.kind == EFFECT_READ || q->f.kind == EFFECT_WRITE || q->f.kind == EFFECT_RUN ||
                    q->f.kind == EFFECT_SOCK || q->f.kind == EFFECT_DEV;
        return path && (!q->d.built_in || q->in.nowhere) && !is_of_image(q);
}

/* A file that a box would create in a directory of the host is neither. */
static void put_on_host(const struct asked *q, struct buf *out)
{
        struct stat st;
        bool absent = is_absent(q);
        if (absent || q->f.kind != EFFECT_WRITE || lstat(q->f.target, &st) == 0)
                buf_printf(out, ",\"on_host\":%s", absent ? "false" : "true");
}

/* A symlink, or a program that needs another one: the file that is judged in its place. */
static bool leads_elsewhere(const struct asked *q)
{
        return q->asked_path && strcmp(q->asked_path, q->f.target) != 0;
}

/* ---- for programs ---- */

static void door_json(const char *name, const struct door *d, struct buf *out)
{
        AUTO_BUF(line);
        policy_door_line(d, &line);
        out->failed = out->failed || line.failed;
        buf_printf(out, ",\"%s\":{\"word\":\"%s\",\"line_text\":", name, policy_door_word(d->kind));
        buf_json(out, buf_span(&line));
        buf_member(out, "file", d->at.file);
        buf_printf(out, ",\"line\":%u}", d->at.line);
}

static void refusal_json(const struct asked *q, struct buf *out)
{
        const struct refusal *r = &q->refusal;
        buf_printf(out, ",\"layer\":\"%s\",\"layers\":[", r->layers[0] ? r->layers[0] : "none");
        for (size_t i = 0; i < 3 && r->layers[i]; i++)
                buf_printf(out, "%s\"%s\"", i ? "," : "", r->layers[i]);

        buf_printf(out, "],\"errno\":\"%s\"", r->answer);
        if (r->instead) {
                buf_printf(out, ",\"or\":{\"errno\":\"%s\",\"when\":", r->instead);
                buf_json(out, span_str(r->instead_when));
                buf_putc(out, '}');
        }
}

static void deny_json(const struct asked *q, struct buf *out)
{
        bool file = q->f.kind == EFFECT_READ || q->f.kind == EFFECT_WRITE || q->f.kind == EFFECT_SOCK;
        enum effect_reason secret = file ? policy_secret_reason(q->f.target) : REASON_NONE;
        if (q->near)
                door_json("nearest", q->near, out);

        buf_puts(out, ",\"differs\":");
        buf_json(out, buf_span(&q->difference));
        refusal_json(q, out);
        if (secret)
                buf_printf(out, ",\"sensitive\":\"%s\"", effect_reason_name(secret));

        buf_puts(out, ",\"next_steps\":[");
        if (q->line.n > 0)
                buf_json(out, buf_span(&q->line));

        buf_puts(out, "],\"adds\":");
        buf_json(out, buf_span(&q->cost));
}

/* ---- what the run may hold by then ---- */

/* What would be answered if the run held this. */
static enum answer answer_after(const struct asked *q, const struct label *l, enum effect_reason *ret_reason)
{
        struct effect f = q->f;
        struct decision d = q->d;
        struct label held = q->begins;
        label_join(&held, l);
        f.subject.label = &held;
        enum answer a = policy_answer(q->c, &f, &d);
        *ret_reason = d.reason;
        return a;
}

/* Each label that the policy may give a run, alone, if it makes the answer worse. */
static void each_while(const struct asked *q, struct buf *out,
                       void (*put)(const struct label *, enum answer, enum effect_reason, struct buf *))
{
        if (q->f.kind != EFFECT_NET || q->f.after || q->d.answer != ANSWER_ALLOW)
                return;

        struct label most = api_label_most(q->dry.box);
        for (unsigned i = 0; i < most.count + (unsigned) most.untrusted; i++) {
                struct label one = { .untrusted = i == most.count, .count = i < most.count };
                enum effect_reason reason;
                if (i < most.count)
                        memcpy(one.tag[0], most.tag[i], sizeof one.tag[0]);
                enum answer a = answer_after(q, &one, &reason);
                if (a < q->answer)
                        put(&one, a, reason, out);
        }
}

static void put_while_json(const struct label *l, enum answer a, enum effect_reason reason, struct buf *out)
{
        char text[LABEL_TEXT_MAX];
        buf_printf(out, "%s{\"labels\":\"%s\",\"answer\":\"%s\",\"code\":\"%s\"}",
                   out->p[out->n - 1] == '[' ? "" : ",", label_text(l, text),
                   a == ANSWER_ASK ? "ask" : "deny", effect_reason_name(reason));
}

static void while_json(const struct asked *q, struct buf *out)
{
        buf_puts(out, ",\"while\":[");
        each_while(q, out, put_while_json);
        buf_putc(out, ']');
}

static void put_while_text(const struct label *l, enum answer a, enum effect_reason reason, struct buf *out)
{
        char text[LABEL_TEXT_MAX];
        buf_printf(out, "while  the run holds %s: %s (%s)\n", label_text(l, text),
                   a == ANSWER_ASK ? "would ask" : "refused", effect_reason_name(reason));
}

static void why_json(const struct asked *q, struct buf *out)
{
        char text[LABEL_TEXT_MAX];
        struct label held = policy_label_held(q->c, &q->f);
        bool ok = q->d.answer == ANSWER_ALLOW;
        buf_puts(out, "{\"effect\":");
        buf_json(out, span_str(q->text));
        buf_printf(out, ",\"answer\":\"%s\",\"code\":\"%s\"",
                   !is_allowed(q)            ? "deny"
                   : q->answer == ANSWER_ASK ? "ask"
                                             : "allow",
                   !ok || is_kept_in(q) ? effect_reason_name(q->d.reason)
                   : leads_nowhere(q)   ? "nowhere"
                                        : "covered");
        if (ok && q->url.n > 0) {
                buf_puts(out, ",\"leads\":");
                buf_json(out, buf_span(&q->url));
        }

        if (leads_elsewhere(q)) {
                buf_member(out, "opens", q->f.target);
        }

        if (is_of_host(q) && may_be_told(q))
                put_on_host(q, out);

        if (is_of_image(q))
                buf_member(out, "root", policy_root(q->c));

        if (!ok)
                deny_json(q, out);
        else if (q->d.door)
                door_json("door", q->d.door, out);
        else if (q->d.built_in) {
                buf_member(out, "built_in", q->d.built_in);
        }

        while_json(q, out);
        if (is_kept_in(q))
                buf_member(out, "holds", label_text(&held, text));
        buf_puts(out, "}\n");
}

/* ---- for people ---- */

static void door_text(const char *label, const struct door *d, struct buf *out)
{
        char at[256];
        buf_printf(out, "%s %s: ", label, policy_place(&d->at, at, sizeof at));
        policy_door_line(d, out);
        buf_putc(out, '\n');
}

static bool layer_answers(const struct refusal *r, const char *layer)
{
        for (size_t i = 0; i < 3 && r->layers[i]; i++)
                if (strcmp(r->layers[i], layer) == 0)
                        return true;
        return false;
}

static void refusal_text(const struct refusal *r, bool absent, struct buf *out)
{
        buf_printf(out, "layer  %s", r->layers[0] ? r->layers[0] : "none");
        for (size_t i = 1; i < 3 && r->layers[i]; i++)
                buf_printf(out, "%s%s", i == 1 ? ", then " : ", ", r->layers[i]);

        if (strcmp(r->answer, "empty") == 0 && absent)
                buf_printf(out, " (made outside while a box runs, it would %s)\n",
                           layer_answers(r, "landlock") ? "be seen and not be read" : "not be seen");
        else if (strcmp(r->answer, "empty") == 0)
                buf_puts(out,
                         " (a program inside sees a place of the box's own, without the host's files)\n");
        else if (r->instead)
                buf_printf(out, " (a program inside gets %s; or %s, where %s)\n", r->answer, r->instead,
                           r->instead_when);
        else
                buf_printf(out, " (a program inside gets %s)\n", r->answer);
}

/* A place leads somewhere by a line of the places file, and by no door. */
static void nowhere_text(const struct asked *q, struct buf *out)
{
        const char *stage = policy_stage_name(q->staged->stage);
        const struct policy_place_url *asked;
        const char *place =
                q->f.net->form == NET_PLACE ? q->f.net->host : policy_place_of(q->staged, q->f.net, &asked);

        if (!place) {
                buf_printf(out, "deny   %s\nwhy    nowhere: no place names it in the stage %s\n", q->text,
                           stage);
                door_text("door  ", q->d.door, out);
                buf_printf(out, "permit place NAME %s https://HOST/ in the places file\n", stage);
                return;
        }

        buf_printf(
                out,
                "deny   %s\nwhy    nowhere: no line of a places file says where @%s leads in the stage %s\n",
                q->text, place, stage);
        door_text("door  ", q->d.door, out);
        buf_printf(out, "permit place %s %s https://HOST/ in the places file\n", place,
                   q->staged->stage == POLICY_STAGE_MOCK ? "live" : stage);
}

static void leads_text(const struct asked *q, struct buf *out)
{
        if (q->staged && q->f.kind == EFFECT_NET && q->leads == POLICY_LEADS_MOCK)
                buf_puts(out,
                         "leads  nowhere: the stage mock reaches nothing, and recorded exchanges answer\n");
        else if (q->url.n > 0)
                buf_printf(out, "leads  %s, in the stage %s\n", buf_str(&q->url),
                           policy_stage_name(q->staged->stage));
}

static void opens_text(const struct asked *q, struct buf *out)
{
        if (leads_elsewhere(q))
                buf_printf(out, "opens  %s\n", q->f.target);
}

static void asks_text(const struct asked *q, struct buf *out)
{
        const struct door *d = q->d.door;
        if (!d || q->answer != ANSWER_ASK)
                return;

        buf_printf(out, "asks   %s%swith `cordon approve`, while the box waits",
                   q->d.reason ? effect_reason_name(q->d.reason) : "", q->d.reason ? ": " : "");
        if (d->ask.group)
                buf_printf(out, "; %u of %s must approve", d->ask.need, d->ask.group);
        buf_putc(out, '\n');
}

static void kept_in_text(const struct asked *q, struct buf *out)
{
        char text[LABEL_TEXT_MAX];
        struct label held = policy_label_held(q->c, &q->f);
        buf_printf(out, "deny   %s\nwhy    %s: %s\n", q->text, effect_reason_name(q->d.reason),
                   effect_reason_text(q->d.reason));
        door_text("door  ", q->d.door, out);
        if (!q->f.after)
                buf_printf(out, "while  the run holds %s: from its start\n", label_text(&held, text));
        buf_printf(out, "permit accepts %s, behind the door; or declassify, and a person approves each\n",
                   label_text(&held, text));
}

static void why_text(const struct asked *q, struct buf *out)
{
        if (q->d.answer == ANSWER_ALLOW && leads_nowhere(q)) {
                nowhere_text(q, out);
                return;
        }

        if (is_kept_in(q)) {
                kept_in_text(q, out);
                return;
        }

        if (q->d.answer == ANSWER_ALLOW) {
                buf_printf(out, "%s  %s\n", q->answer == ANSWER_ASK ? "ask  " : "allow", q->text);
                opens_text(q, out);
                if (is_absent(q))
                        buf_printf(out, "but    this host has no such %s\n",
                                   q->f.kind == EFFECT_RUN ? "program" : "path");
                if (q->d.door)
                        door_text("door  ", q->d.door, out);
                else if (q->d.built_in)
                        buf_printf(out, "door   none needed: %s\n", q->d.built_in);
                asks_text(q, out);
                each_while(q, out, put_while_text);
                leads_text(q, out);
                return;
        }

        buf_printf(out, "deny   %s\nwhy    %s: %s\n", q->text, effect_reason_name(q->d.reason),
                   buf_str(&q->difference));
        opens_text(q, out);
        if (is_absent(q))
                buf_printf(out, "and    this host has no such %s: no line makes it there\n",
                           q->f.kind == EFFECT_RUN ? "program" : "path");

        if (q->near)
                door_text("near  ", q->near, out);

        refusal_text(&q->refusal, is_absent(q), out);
        if (is_of_image(q))
                buf_printf(out, "root   %s: where no door leads, the box has the image's own files\n",
                           policy_root(q->c));

        if (q->line.n > 0)
                buf_printf(out, "permit %s\nadds   %s\n", buf_str(&q->line), buf_str(&q->cost));
        else
                buf_puts(out, q->d.reason == REASON_PARAMETER ? "permit no `where` can\n"
                                                              : "permit no line can\n");
}

/* What a start would make, where the answer depends on it: the labels of what the run is handed, the image,
 * the places of the box's own. If the box would not start, that is another question. */
static int look_at_start(struct asked *q, cordon_policy *p, struct err *e)
{
        struct err why = { 0 };
        bool file = api_inside_asks_plan(q->c, &q->f);
        if (!file && q->f.kind != EFFECT_NET)
                return 0;

        int made = api_dry_box(p, &q->dry, &why);
        if (!q->dry.box || !q->dry.box->c.policy || (made < 0 && file && policy_root(q->c))) {
                *e = why;
                return -1;
        }

        if (file)
                return policy_root(q->c) ? api_image_is_there(q->dry.box, e) : 0;

        struct box_config *c = &q->dry.box->c;
        if (box_label_in(c, &c->label, &c->label_index, e) < 0)
                return -1;

        q->begins = c->label;
        if (q->f.subject.label)
                label_join(&q->begins, q->f.subject.label);
        q->f.subject.label = &q->begins;
        return 0;
}

static int ask_policy(struct asked *q, cordon_policy *p, struct err *e)
{
        q->d = api_decide(p, &q->f);
        q->asked_path = q->f.target;
        if (look_at_start(q, p, e) < 0)
                return -1;

        api_inside(q->c, &q->dry, &q->f, &q->in, &q->d);
        q->leads = q->staged && q->f.kind == EFFECT_NET ? policy_leads(q->staged, q->f.net, &q->url)
                                                        : POLICY_LEADS_ITSELF;
        q->answer = policy_answer(q->c, &q->f, &q->d);
        if (q->d.answer != ANSWER_ALLOW)
                find_reasons(q);

        return 0;
}

char *cordon_policy_why(cordon_policy *p, const char *effect, int json, int *ret_allowed, cordon_error *e)
{
        if (cordon_policy_check(p, e) < 0)
                return NULL;

        struct policy_context c = api_context(p);
        struct asked q = { .c = p->checked,
                           .text = effect,
                           .staged = api_staged(p),
                           .told_little = json == CORDON_WHY_JSON_INSIDE };
        q.in.alone = q.told_little;
        if (policy_effect_parse(effect, &c, &q.f, to_err(e)) < 0)
                return NULL;

        AUTO_BUF(out);
        int r = ask_policy(&q, p, to_err(e));
        *ret_allowed = r == 0 && is_allowed(&q);
        if (r == 0)
                (json ? why_json : why_text)(&q, &out);

        out.failed = out.failed || q.line.failed || q.cost.failed || q.difference.failed || q.url.failed;
        policy_effect_done(&q.f);
        api_dry_done(&q.dry);
        buf_done(&q.line);
        buf_done(&q.cost);
        buf_done(&q.difference);
        buf_done(&q.url);
        return r < 0 ? NULL : api_give(&out, to_err(e));
}
