/* SPDX-License-Identifier: MIT */
/* policy/show/flow_plan.c - what would flow in a workflow of boxes, before it runs: the label that each
 * begins with, what it may become, and what each way out does with it; and how one box that holds private
 * data, foreign text and a way out is split into three. */
#include "effect/label/label.h"
#include "policy/internal.h"

#include <stdio.h>

enum { METHODS_KEPT = 32, METHOD_MAX = 16 };

struct box_flow {
        struct label begins, most;
        bool held; /* a way out is closed or asks because of labels */
};

static bool is_file(const struct door *d) { return d->kind >= DOOR_READ && d->kind <= DOOR_WRITE; }

/* Does what a run leaves behind door `a` come in through door `b`? By name, or by path. */
static bool hands_over(const struct door *a, const struct door *b)
{
        if (a->kind == DOOR_OUT && b->kind == DOOR_IN)
                return strcmp(a->name, b->name) == 0;
        bool leaves = a->kind == DOOR_EDIT || a->kind == DOOR_WRITE;
        return leaves && is_file(b) && (path_inside(a->path, b->path) || path_inside(b->path, a->path));
}

static void take_over(const struct checked_policy *from, const struct label *l,
                      const struct checked_policy *to, struct box_flow *b)
{
        for (size_t i = 0; i < from->live.n; i++)
                for (size_t k = 0; k < to->live.n; k++) {
                        struct label by = *l;
                        if (from->live.v[i].from_stock || to->live.v[k].from_stock ||
                            !hands_over(&from->live.v[i], &to->live.v[k]))
                                continue;
                        by.untrusted = by.untrusted && !from->live.v[i].flow.endorse;
                        label_join(policy_door_begins(to, &to->live.v[k]) ? &b->begins : &b->most, &by);
                }
}

static bool only_asks(const char *method)
{
        return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0;
}

/* The methods of a URL that names none, as far as labels make a difference. */
static const char *const any_method[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", NULL };

/* NULL: no request is seen. */
static const char *const *methods_of(const struct door *d)
{
        if (d->net.methods)
                return (const char *const *) d->net.methods;
        return d->net.form == NET_HOST_PORT ? NULL : any_method;
}

/* The method that does most. */
static const char *worst_method(const struct door *d)
{
        const char *const *all = methods_of(d);
        for (const char *const *m = all; m && *m; m++)
                if (!only_asks(*m))
                        return *m;
        return all ? "GET" : NULL;
}

struct policy_flow flow_answer(const struct checked_policy *c, const struct door *d, const struct label *l)
{
        const struct effect f = { .kind = EFFECT_NET, .subject = { .label = l }, .method = worst_method(d) };
        struct policy_flow a = policy_flow(c, d, &f);
        if (a.answer == ANSWER_ALLOW && d->ask.on && !d->ask.labelled)
                a.answer = ANSWER_ASK; /* whatever the label is */
        return a;
}

bool flow_closed(const struct checked_policy *c, const struct door *d, const struct label *l)
{
        struct effect f = { .kind = EFFECT_NET, .subject = { .label = l } };
        const char *const *m = methods_of(d);
        if (!m || !*m)
                return flow_answer(c, d, l).answer == ANSWER_DENY;

        for (; *m; m++) {
                f.method = *m;
                if (policy_flow(c, d, &f).answer != ANSWER_DENY)
                        return false;
        }
        return true;
}

static const char *const answers[] = {
        [ANSWER_DENY] = "deny", [ANSWER_ASK] = "ask", [ANSWER_ALLOW] = "allow"
};

/* The words behind the door that would change the answer, with the tags that it lacks. */
static void permit_text(const struct door *d, enum effect_reason why, const struct label *most,
                        struct buf *out)
{
        char text[LABEL_TEXT_MAX];
        struct label accepts = label_of(d->flow.accepts), rest = *most;
        if (why == REASON_LABEL_ACTION) {
                buf_puts(out, "\n      permit: accepts untrusted; then it acts on foreign text and nobody is "
                              "asked");
                return;
        }

        label_drop(&rest, &accepts);
        rest.untrusted = false;
        if (why == REASON_LABEL_DECLASSIFY || rest.all || label_is_empty(&rest))
                return;

        (void) label_text(&rest, text);
        if (why == REASON_LABEL_SECRECY)
                buf_printf(out, "\n      permit: accepts %s; or declassify %s, and a person approves each",
                           text, text);
        else
                buf_printf(out, "\n      permit: declassify %s, and a person approves each", text);
}

static void net_text(const struct checked_policy *c, const struct door *d, struct box_flow *b,
                     struct buf *out)
{
        struct policy_flow f = flow_answer(c, d, &b->most), first = flow_answer(c, d, &b->begins);
        bool later = f.answer == ANSWER_DENY && first.answer != ANSWER_DENY;
        const char *const *all = methods_of(d);
        const char *method = all && all[0] && all[1] ? worst_method(d) : NULL;
        buf_printf(out, "\n      %s%s%s%s%s%s", method ? method : "", method ? ": " : "",
                   !later                         ? ""
                   : first.answer == ANSWER_ALLOW ? "open at first, then "
                                                  : "a person is asked at first, then ",
                   f.answer == ANSWER_ALLOW ? "open whatever the run has read"
                   : f.answer == ANSWER_ASK ? "a person is asked"
                                            : "closed",
                   f.reason ? ": " : "", f.reason ? effect_reason_text(f.reason) : "");
        if (f.reason)
                permit_text(d, f.reason, &b->most, out);
        b->held = b->held || f.reason;
}

static void door_text(const struct checked_policy *c, const struct door *d, struct box_flow *b,
                      struct buf *out)
{
        buf_puts(out, "  ");
        show_door(d, out);
        if (d->kind == DOOR_NET)
                net_text(c, d, b, out);
        else if (d->flow.label && policy_door_hands(d) && !policy_door_begins(c, d))
                buf_puts(out, "\n      labels the run on touching it");
        buf_putc(out, '\n');
}

static void door_json(const struct checked_policy *c, const struct door *d, struct box_flow *b,
                      struct buf *out)
{
        AUTO_BUF(line);
        show_door(d, &line);
        buf_puts(out, "{\"door\":");
        buf_json(out, buf_span(&line));
        if (d->net.reach)
                buf_member(out, "reach", net_reach_word(d->net.reach));
        if (d->kind == DOOR_NET) {
                struct policy_flow f = flow_answer(c, d, &b->most);
                buf_member(out, "method", worst_method(d) ? worst_method(d) : "");
                buf_member(out, "answer", answers[f.answer]);
                buf_member(out, "reason", f.reason ? effect_reason_name(f.reason) : "");
                b->held = b->held || f.reason;
        }
        buf_putc(out, '}');
        out->failed = out->failed || line.failed;
}

static void box_plan(const struct checked_policy *c, struct box_flow *b, bool json, struct buf *out)
{
        char begins[LABEL_TEXT_MAX], most[LABEL_TEXT_MAX];
        bool first = true;
        (void) label_text(&b->begins, begins);
        (void) label_text(&b->most, most);
        if (json) {
                buf_puts(out, "{\"box\":");
                buf_json(out, span_str(c->box.text));
                buf_member(out, "begins", begins);
                buf_member(out, "may_become", most);
                buf_puts(out, ",\"doors\":[");
        } else {
                buf_printf(out, "box %s begins with %s and may become %s\n", c->box.text,
                           begins[0] ? begins : "no label", most[0] ? most : "nothing more");
        }

        for (size_t i = 0; i < c->live.n; i++) {
                const struct door *d = &c->live.v[i];
                if (d->from_stock)
                        continue;
                if (json)
                        buf_puts(out, first ? "" : ",");
                (json ? door_json : door_text)(c, d, b, out);
                first = false;
        }

        if (json)
                buf_puts(out, "]}");
}

/* ---- the split ---- */

/* A way out of the sender: private data leaves if a person approves it. */
static void put_door(const struct door *d, char *declassify, struct buf *out)
{
        struct door x = *d;
        if (declassify && !x.flow.declassify)
                x.flow.declassify = declassify;
        if (declassify && !x.ask.on)
                x.ask = (struct door_ask){ .on = true, .labelled = true, .within_s = ASK_WITHIN_S };
        show_door(&x, out);
        buf_putc(out, '\n');
}

/* Each part starts the same programs. */
static void put_uses(const struct checked_policy *c, struct buf *out)
{
        for (size_t i = 0; i < c->live.n; i++) {
                const char *file = c->live.v[i].at.file;
                bool before = !c->live.v[i].from_stock || strcmp(file, "base/loader") == 0; /* all have it */
                for (size_t k = 0; k < i && !before; k++)
                        before = c->live.v[k].from_stock && strcmp(c->live.v[k].at.file, file) == 0;
                if (!before)
                        buf_printf(out, "use %s\n", file);
        }
}

static bool has_untrusted(const struct door *d) { return label_of(d->flow.label).untrusted; }

static bool has_tags(const struct door *d)
{
        struct label l = label_of(d->flow.label);
        return label_has_secrecy(&l);
}

/* The doors of one part: foreign sources, private sources, ways out. */
enum part { READER, PRIVATE, SENDER };

/* A labelled door that is both read and sent to is two doors: a source, and a way out of the sender. */
static bool has_both(const struct door *d)
{
        bool reads = false, acts = false;
        for (const char *const *m = d->flow.label ? methods_of(d) : NULL; m && *m; m++) {
                reads = reads || only_asks(*m);
                acts = acts || !only_asks(*m);
        }
        return reads && acts;
}

static bool door_is_part(const struct door *d, enum part p)
{
        if (d->from_stock || d->kind == DOOR_IN || d->kind == DOOR_OUT)
                return false;
        if (d->kind == DOOR_RUN || (d->kind == DOOR_ENV && !d->flow.label))
                return true;
        if (p == READER)
                return has_untrusted(d);
        if (p == PRIVATE)
                return !has_untrusted(d) && (has_tags(d) || d->kind != DOOR_NET);
        return d->kind == DOOR_NET && (!d->flow.label || has_both(d));
}

static void put_net(const struct door *d, enum part p, char *declassify, struct buf *out)
{
        struct door x = *d;
        char text[METHODS_KEPT][METHOD_MAX], *kept[METHODS_KEPT + 1] = { NULL };
        size_t n = 0;
        for (const char *const *m = methods_of(d); has_both(d) && *m && n < METHODS_KEPT; m++)
                if (only_asks(*m) == (p != SENDER)) {
                        (void) snprintf(text[n], METHOD_MAX, "%s", *m);
                        kept[n] = text[n];
                        n++;
                }

        if (n > 0)
                x.net.methods = kept;
        put_door(&x, declassify, out);
}

/* Returns the number of its net doors. */
static size_t put_part(const struct checked_policy *c, enum part p, char *declassify, struct buf *out)
{
        size_t n = 0;
        put_uses(c, out);
        for (size_t i = 0; i < c->live.n; i++) {
                const struct door *d = &c->live.v[i];
                if (!door_is_part(d, p))
                        continue;
                if (d->kind == DOOR_NET)
                        put_net(d, p, declassify, out);
                else
                        put_door(d, NULL, out);
                n += d->kind == DOOR_NET;
        }
        return n;
}

static void put_split(const struct checked_policy *c, const struct box_flow *b, struct buf *out)
{
        char tags[LABEL_TEXT_MAX];
        struct label secret = b->most;
        secret.untrusted = false;
        (void) label_text(&secret, tags);
        buf_printf(out, "\n# %s would hold private data, foreign text and a way out. Three boxes do not:\n",
                   c->box.text);
        buf_printf(
                out,
                "# reader.cordon: reads what strangers wrote, and says what fits a schema\nbox %s-reader\n",
                c->box.text);
        (void) put_part(c, READER, NULL, out);
        buf_puts(out, "out facts max 64K as \"json(facts.schema.json)\" endorse 8\n"
                      "# facts.schema.json, which you write: what the reader may say, as in "
                      "{\"type\":\"boolean\"}\n");
        buf_printf(out,
                   "# private.cordon: has the private data, reads no foreign text, reaches nobody\nbox "
                   "%s-private\nin facts max 64K\n",
                   c->box.text);
        (void) put_part(c, PRIVATE, NULL, out);
        buf_puts(out, "out message max 64K as text\n");
        buf_printf(out,
                   "# sender.cordon: sends the message if a person approves it\nbox %s-sender\n"
                   "in message max 64K%s%s\n",
                   c->box.text, tags[0] ? " label " : "", tags);
        if (put_part(c, SENDER, tags[0] ? tags : NULL, out) == 0)
                buf_printf(out,
                           "# %s has no door that only sends: state where the message goes, as in\n"
                           "#net https://HOST/PATH POST declassify %s ask labelled\n",
                           c->box.text, tags);
        buf_printf(out,
                   "# flow: reader -(facts, at most 8 bits)-> private -(message, %s)-> sender -(a person)-> "
                   "out\n",
                   tags[0] ? tags : "no label");
}

void policy_plan(const struct checked_policy *const *c, size_t n, bool json, struct buf *out)
{
        struct label most[POLICY_PLAN_MAX];
        for (size_t i = 0; i < n && i < POLICY_PLAN_MAX; i++) {
                struct box_flow b = { .begins = policy_label_handed(c[i]), .most = policy_label_most(c[i]) };
                for (size_t k = 0; k < i; k++)
                        take_over(c[k], &most[k], c[i], &b);

                label_join(&b.most, &b.begins);
                most[i] = b.most;
                buf_puts(out, json ? i ? "," : "[" : i ? "\n" : "");
                box_plan(c[i], &b, json, out);
                if (!json && b.held && b.most.untrusted && label_has_secrecy(&b.most))
                        put_split(c[i], &b, out);
        }
        if (json)
                buf_puts(out, "]\n");
}
