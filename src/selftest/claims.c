/* SPDX-License-Identifier: MIT */
/* selftest/claims.c - `cordon selftest claims`: the attacks that a box withstands here, those that it
 * reports, and the remaining gaps. Every number is of attempts made now; the list of gaps is never empty. A
 * claim names its layers, and a layer that is off is named as off. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "selftest/probe/probe.h"
#include "selftest/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { CLASSES = 32, RESIDUALS = 96, VALID_S = 24 * 3600 };

static const struct {
        const char *name, *claim;
} classes[] = {
        { "files", "reading, writing or seeing files that no door names" },
        { "execution", "running what was written" },
        { "mounts", "changing what is mounted where" },
        { "processes", "seeing, signalling or reading processes outside" },
        { "namespaces", "making or joining namespaces" },
        { "kernel", "reaching rarely looked-at parts of the kernel" },
        { "foreign-abi", "going around the filter by another call table" },
        { "sockets", "reaching a network or the host's sockets" },
        { "terminal", "typing into the caller's terminal" },
        { "privilege", "gaining ids, capabilities or setuid bits" },
        { "secrets", "finding keys, tokens and histories" },
        { "dumps", "leaving memory behind in core files" },
        { "machine", "changing or reading facts of the machine" },
        { "devices", "using devices" },
        { "channels", "talking to another box" },
        { "limits", "lifting limits, or leaning on others" },
        { "races", "changing what was judged before it is used" },
        { "outside", "effects that only the host can see" },
};

/* The newest knock-out matrix: see docs/knockout.md. */
#define KNOCKOUT(cls, total, two, one, none, which) { cls, total, two, one, none, which },
static const struct knockout {
        const char *cls;
        unsigned total, two, one, none;
        const char *which;
} knockouts[] = {
#include "selftest/knockout.inc"
};

static const char *const layers[] = { "user",         "mount",       "pid",     "net",      "ipc",
                                      "uts",          "cgroup-ns",   "seccomp", "landlock", "capabilities",
                                      "no-new-privs", "nested-user", "rlimit",  "cgroup",   "memfd-noexec" };
enum { LAYERS = sizeof layers / sizeof *layers };

struct tally {
        const char *name, *claim;
        unsigned total, held, granted, escaped, open, untold;
        uint32_t expected, answered; /* bits of layers[] */
};

struct claims {
        cordon_policy *policy;
        struct tally rows[CLASSES];
        size_t count, told;
        unsigned contained, failed, untold;
        uint32_t on;
        bool process_wall, groups, json;
        const char *sign, *diff, *key;
        char began[32], until[32], *result, *doctor;
        double seconds;
        struct buf open; /* attempts that went through because no wall promises to stop them, "; " between */
        char *told_of[64];
        struct buf residual[RESIDUALS];
        size_t residuals;
};

const struct cli_option claims_options[] = {
        { "json", 0, NULL, "one object, for programs", CLI_FLAG(struct claims, json) },
        { "sign", 0, "FILE", "write the object there, and FILE.proof, signed by the ledger",
          CLI_TEXT(struct claims, sign) },
        { "diff", 0, "OLD", "compare two such files: --diff OLD NEW", CLI_TEXT(struct claims, diff) },
        { "key", 0, "FILE", "with --diff: the public keys of the signers", CLI_TEXT(struct claims, key) },
        { 0 },
};

/* ---- the layers and reports of a box of this policy ---- */

/* The same attempts once more, without any target: seccomp's denials are in the result. */
static int look_at_box(struct claims *c, const char *self, cordon_error *e)
{
        const char *argv[] = { self, "__probe", NULL };
        cordon_box *box = cli_box_new(c->policy);
        int bad = box ? cordon_box_command(box, argv) : -1;
        if (!bad) {
                cordon_box_on_output(box, cli_ignore_output, NULL);
                bad = cordon_box_start(box, e);
        }

        while (!bad && cordon_box_wait(box, -1) == 0)
                ;

        const cordon_result *r = bad ? NULL : cordon_box_result(box);
        if (r && r->error) {
                *e = *r->error;
                bad = -1;
        }

        for (size_t i = 0; !bad && i < r->denial_count && c->told < sizeof c->told_of / sizeof *c->told_of;
             i++)
                if ((c->told_of[c->told] = strdup(r->denials[i].what)))
                        c->told++;

        if (!bad && strcmp(r->wall, "wasm") == 0) {
                (void) snprintf(e->what, sizeof e->what,
                                "the attempts are programs, and behind the wasm wall none starts");
                (void) snprintf(e->hint, sizeof e->hint,
                                "`cordon selftest walls` has its row; with --wall namespace the box around "
                                "its engine "
                                "is attacked");
                bad = -1;
        }

        if (!bad) {
                c->process_wall = strcmp(r->wall, "process") == 0;
                c->groups = r->groups != 0;
                c->result = cordon_box_result_json(box);
        }

        cordon_box_free(box);
        return bad;
}

static uint32_t layer_bit(const char *name, size_t n)
{
        for (unsigned i = 0; i < LAYERS; i++)
                if (strlen(layers[i]) == n && strncmp(layers[i], name, n) == 0)
                        return 1u << i;
        return 0;
}

static uint32_t layer_bits(const char *list)
{
        uint32_t bits = 0;
        for (const char *at = list; *at;) {
                size_t n = strcspn(at, ",");
                bits |= layer_bit(at, n);
                at += n + (at[n] == ',');
        }

        return bits;
}

static int read_layers(struct claims *c)
{
        struct err e;
        struct json_doc *d = c->result ? json_parse("result", span_str(c->result), &e) : NULL;
        const struct json *list = d ? json_get(json_root(d), "layers") : NULL;

        for (const struct json *l = list ? list->child : NULL; l; l = l->next)
                if (l->type == JSON_STRING)
                        c->on |= layer_bit(l->str, l->len);

        json_free(d);
        return list ? 0 : -1;
}

/* ---- adding up ---- */

static struct tally *tally_of(struct claims *c, const char *cls)
{
        for (size_t i = 0; i < c->count; i++)
                if (strcmp(c->rows[i].name, cls) == 0)
                        return &c->rows[i];

        for (size_t i = 0; i < sizeof classes / sizeof *classes && c->count < CLASSES; i++)
                if (strcmp(classes[i].name, cls) == 0) {
                        c->rows[c->count] =
                                (struct tally){ .name = classes[i].name, .claim = classes[i].claim };
                        return &c->rows[c->count++];
                }

        return NULL;
}

static void add_attempt(struct claims *c, const struct json *o)
{
        struct tally *t = tally_of(c, json_text(o, "class"));
        const char *outcome = json_text(o, "outcome");
        if (!t)
                return;

        t->total++;
        t->expected |= layer_bits(json_text(o, "layers"));
        t->answered |= layer_bits(json_text(o, "layer"));
        if (strcmp(outcome, "held") == 0)
                t->held++, c->contained++;
        else if (strcmp(outcome, "granted") == 0)
                t->granted++;
        else if (strcmp(outcome, "ESCAPED") == 0)
                t->escaped++, c->failed++;
        else if (strcmp(outcome, "not-promised") == 0)
                t->open++, buf_printf(&c->open, "%s%s", c->open.n ? "; " : "", json_text(o, "probe"));
        else
                t->untold++, c->untold++;
}

static int add_attempts(struct claims *c, const struct buf *out)
{
        struct err e;
        struct json_doc *d = json_parse("breakout", buf_span(out), &e);
        if (!d)
                return -1;

        for (const struct json *o = json_root(d)->child; o; o = o->next)
                add_attempt(c, o);

        json_free(d);
        return 0;
}

/* ---- gaps ---- */

static struct buf *next_residual(struct claims *c)
{
        static struct buf spill;
        return c->residuals < RESIDUALS ? &c->residual[c->residuals++] : &spill;
}

static void add_list(struct claims *c, const char *const *list)
{
        for (; *list; list++)
                buf_puts(next_residual(c), *list);
}

static void add_layers_off(struct claims *c)
{
        for (unsigned i = 0; i < LAYERS; i++)
                if (!(c->on & 1u << i))
                        buf_printf(next_residual(c), "the layer %s is off in this box", layers[i]);
}

/* Attempts that tools/knockout has not tried against each layer: they were added since. */
static size_t newer_attempts(void)
{
        size_t n, tried = 0;
        (void) probe_table(&n);
        for (size_t i = 0; i < sizeof knockouts / sizeof *knockouts; i++)
                if (strcmp(knockouts[i].cls, "outside") != 0)
                        tried += knockouts[i].total;
        return n > tried ? n - tried : 0;
}

static void add_single_layers(struct claims *c)
{
        for (size_t i = 0; i < sizeof knockouts / sizeof *knockouts; i++) {
                const struct knockout *k = &knockouts[i];
                if (k->one)
                        buf_printf(next_residual(c),
                                   "single-layer: %s: %u of %u attempts are stopped by one layer alone (%s)",
                                   k->cls, k->one, k->total, k->which);
        }

        buf_printf(next_residual(c),
                   "single-layer counts are of the namespace wall of an ordinary user, %s, Linux %s "
                   "(" KNOCKOUT_DOC "); %zu attempts are newer",
                   KNOCKOUT_DATE, KNOCKOUT_KERNEL, newer_attempts());
}

static void add_host(struct claims *c)
{
        struct err e;
        struct json_doc *d = c->doctor ? json_parse("doctor", span_str(c->doctor), &e) : NULL;
        for (const struct json *o = d ? json_root(d)->child : NULL; o; o = o->next)
                if (strcmp(json_text(o, "state"), "yes") != 0)
                        buf_printf(next_residual(c), "this host: %s: %s", json_text(o, "layer"),
                                   json_text(o, "detail"));

        json_free(d);
}

/* Access that the policy opens without a door of its own kind. */
static void add_opened(struct claims *c)
{
        cordon_error e;
        char *lines = cordon_policy_view(c->policy, CORDON_VIEW_LINES, &e);
        const char *local = lines ? strstr(lines, "\nlocal ") : NULL;
        if (lines && strstr(lines, "\nrun any"))
                buf_puts(next_residual(c), "`run any`: what the box writes may run, memory files too; `run "
                                           "PROGRAM...` or `use base/strict` stops that");

        if (local)
                buf_printf(next_residual(c),
                           "`%.*s`: its processes talk by these among themselves; nothing of the host is "
                           "reached by them",
                           (int) strcspn(local + 1, "\n"), local + 1);

        cordon_free(lines);
}

/* Lint W148 has the cost of each. */
static void add_devices(struct claims *c)
{
        cordon_error e;
        cordon_note n;
        for (size_t i = 0; cordon_policy_note(c->policy, i, &n, &e) == 1; i++)
                if (strcmp(n.code, "W148") == 0)
                        buf_printf(next_residual(c),
                                   "`dev` door: %s; no device rule of a control group stands "
                                   "behind it",
                                   n.text);
}

static void fill_residual(struct claims *c)
{
        add_list(c, gaps_always);
        add_opened(c);
        add_devices(c);
        add_layers_off(c);
        if (c->process_wall)
                add_list(c, gaps_process_wall);

        if (!c->groups)
                add_list(c, gaps_no_group);

        if (c->open.n)
                buf_printf(next_residual(c), "went through, and no wall in use promises to stop it: %s",
                           buf_str(&c->open));

        if (c->untold)
                buf_printf(next_residual(c), "%u attempts could not be judged here", c->untold);

        add_single_layers(c);
        add_host(c);
}

/* ---- the text ---- */

static const struct knockout *knockout_of(const char *cls)
{
        int i = str_row(knockouts, sizeof knockouts / sizeof *knockouts, cls);
        return i < 0 ? NULL : &knockouts[i];
}

static void put_layers(struct buf *o, uint32_t bits, const char *between, const char *quote)
{
        const char *sep = "";
        for (unsigned i = 0; i < LAYERS; i++)
                if (bits & 1u << i) {
                        buf_printf(o, "%s%s%s%s", sep, quote, layers[i], quote);
                        sep = between;
                }
}

/* Three words, and no others. */
static const char *status_of(const struct claims *c, const struct tally *t)
{
        if (t->expected && !(t->expected & c->on))
                return "not available here";
        return t->total == t->untold ? "configured, not tested" : "enforced and tested here";
}

static void put_row(const struct claims *c, const struct tally *t, struct buf *o)
{
        uint32_t by = (t->expected | t->answered) & c->on, off = t->expected & ~c->on;
        const struct knockout *k = c->process_wall ? NULL : knockout_of(t->name);
        buf_printf(o, "  %-12s %-52s %u/%u held", t->name, t->claim, t->held, t->total);
        if (t->escaped)
                buf_printf(o, ", %u ESCAPED", t->escaped);

        if (t->granted)
                buf_printf(o, ", %u granted by a door", t->granted);

        if (t->open)
                buf_printf(o, ", %u not promised", t->open);

        if (t->untold)
                buf_printf(o, ", %u cannot tell", t->untold);

        buf_puts(o, "\n               by ");
        put_layers(o, by, ", ", "");
        if (!by)
                buf_puts(o, "what the host sees afterwards");

        if (off) {
                buf_puts(o, "; OFF: ");
                put_layers(o, off, ", ", "");
        }

        if (k && k->one)
                buf_printf(o, "; %u of them by one alone", k->one);

        buf_printf(o, "; %s\n", status_of(c, t));
}

/* Each call once, without its arguments. */
static void put_told(const struct claims *c, struct buf *o)
{
        size_t column = 0;
        for (size_t i = 0; i < c->told; i++) {
                size_t n = strcspn(c->told_of[i], "("), k = 0;
                while (k < i && (strncmp(c->told_of[k], c->told_of[i], n) != 0 || c->told_of[k][n] != '('))
                        k++;
                if (k < i)
                        continue;
                if (column == 0 || column + n > 100) {
                        buf_puts(o, i ? "\n   " : "  denied calls, reported at the end of a run:\n   ");
                        column = 3;
                }
                buf_printf(o, " %.*s", (int) n, c->told_of[i]);
                column += n + 1;
        }

        buf_puts(o, c->told ? "\n" : "");
}

static const char *const audited_for[] = {
        "debt in ten groups, with ages and a trend: cordon selftest audit",
        "the failing layer of eight: cordon ledger health",
        "records that were changed, removed or added: cordon ledger verify",
        NULL,
};

static void put_text(const struct claims *c, struct buf *o)
{
        buf_printf(o, "The %s wall of this box, attacked from inside at %s, %.1f s; valid until %s.\n\n",
                   c->process_wall ? "process" : "namespace", c->began, c->seconds, c->until);
        buf_puts(o, "HARDENED AGAINST\n");
        for (size_t i = 0; i < c->count; i++)
                put_row(c, &c->rows[i], o);

        buf_puts(o, "\nMONITORED FOR\n");
        put_told(c, o);
        if (c->told == 0)
                buf_puts(o, "  nothing: this box reported no denied call\n");

        buf_puts(o, "  a limit that was hit, by its name\n\nAUDITED FOR\n");
        for (const char *const *a = audited_for; *a; a++)
                buf_printf(o, "  %s\n", *a);

        buf_puts(o, "\nRESIDUAL\n");
        for (size_t i = 0; i < c->residuals; i++)
                buf_printf(o, "  %s\n", buf_str(&c->residual[i]));

        buf_printf(o, "\nCOUNTS\n  contained failures  %u   attempts that failed inside the box\n",
                   c->contained);
        buf_printf(o, "  sandbox failures    %u   attempts that got out\n", c->failed);
}

static void put_json_text(struct buf *o, const char *before, const char *text)
{
        buf_puts(o, before);
        buf_json(o, span_str(text));
}

static void put_json_row(const struct claims *c, const struct tally *t, struct buf *o)
{
        const struct knockout *k = c->process_wall ? NULL : knockout_of(t->name);
        put_json_text(o, "{\"class\":", t->name);
        put_json_text(o, ",\"claim\":", t->claim);
        buf_printf(o,
                   ",\"held\":%u,\"total\":%u,\"escaped\":%u,\"granted\":%u,\"not_promised\":%u,\"cannot_"
                   "tell\":%u",
                   t->held, t->total, t->escaped, t->granted, t->open, t->untold);
        buf_puts(o, ",\"layers\":[");
        put_layers(o, (t->expected | t->answered) & c->on, ",", "\"");
        buf_puts(o, "],\"layers_off\":[");
        put_layers(o, t->expected & ~c->on, ",", "\"");
        buf_printf(o, "],\"single_layer\":%u,\"status\":\"%s\"}", k ? k->one : 0, status_of(c, t));
}

static void put_json_head(const struct claims *c, struct buf *o)
{
        struct utsname u = { 0 };
        (void) uname(&u);
        buf_printf(o, "{\"wall\":\"%s\",\"time\":\"%s\",\"valid_until\":\"%s\",\"seconds\":%.1f",
                   c->process_wall ? "process" : "namespace", c->began, c->until, c->seconds);
        buf_member(o, "host", u.nodename);
        buf_member(o, "kernel", u.release);
        buf_member(o, "version", cordon_version());
        buf_puts(o, ",\"audited_for\":[");
        for (const char *const *a = audited_for; *a; a++)
                put_json_text(o, a == audited_for ? "" : ",", *a);
}

static void put_json(const struct claims *c, struct buf *o)
{
        put_json_head(c, o);
        buf_puts(o, "],\"layers\":[");
        put_layers(o, c->on, ",", "\"");
        buf_puts(o, "],\n\"hardened_against\":[");
        for (size_t i = 0; i < c->count; i++) {
                buf_puts(o, i ? ",\n " : "\n ");
                put_json_row(c, &c->rows[i], o);
        }

        buf_puts(o, "],\n\"monitored_for\":[");
        for (size_t i = 0; i < c->told; i++)
                put_json_text(o, i ? ",\n " : "\n ", c->told_of[i]);

        buf_puts(o, "],\n\"residual\":[");
        for (size_t i = 0; i < c->residuals; i++)
                put_json_text(o, i ? ",\n " : "\n ", buf_str(&c->residual[i]));

        buf_printf(o, "],\n\"contained_failures\":%u,\"sandbox_failures\":%u}\n", c->contained, c->failed);
}

/* ---- the verb ---- */

/* It reported the reason, to us as to programs. */
static int not_tried(const struct claims *c, const struct buf *why)
{
        if (why->n == 0)
                return cli_problem("the attempts could not be started");
        if (c->json)
                (void) cli_put(why);
        cli_failure_told();
        return EXIT_CORDON;
}

static int make_claims(struct claims *c, int argc, char **argv)
{
        static char self[4096];
        cordon_error e = { 0 };
        AUTO_BUF(out);
        if (!cli_self(self, sizeof self))
                return cli_usage("our own program cannot be found: /proc is not mounted");

        int64_t now = clock_wall_s();
        claims_time(now, c->began);
        claims_time(now + VALID_S, c->until);
        uint64_t t = clock_mono_ns();
        int status = selftest_breakout(argc, argv, self, &out);
        if (status != 0 && status != 1)
                return not_tried(c, &out);

        if (look_at_box(c, self, &e) < 0)
                return cli_error(&e);

        if (read_layers(c) < 0 || add_attempts(c, &out) < 0)
                return cli_usage("the attempts left no table that can be read");

        int ok = 0;
        c->seconds = (double) (clock_mono_ns() - t) / 1e9;
        c->doctor = cordon_doctor(cli_context(), 1, &ok);
        fill_residual(c);
        AUTO_BUF(o);
        if (c->json || c->sign)
                put_json(c, &o);
        else
                put_text(c, &o);

        int bad = c->sign ? claims_sign(c->sign, &o) : cli_put(&o);
        return bad ? bad : c->failed ? 1 : 0;
}

/* Options may also follow the second file of --diff. Returns the place of what is left, or -1. */
static int read_options(struct claims *c, int argc, char **argv, const char **ret_new)
{
        const struct cli_verb *v = cli_verb_find("selftest claims");
        c->policy = cli_policy_new();
        int at = c->policy ? cli_options(argc, argv, v, c, c->policy) : -1;
        if (at < 0 || at == argc || !c->diff)
                return at;

        *ret_new = argv[at];
        int more = cli_options(argc - at, argv + at, v, c, c->policy);
        return more < 0 ? -1 : at + more;
}

int verb_claims(int argc, char **argv)
{
        static struct claims c;
        const char *new = NULL;
        int at = read_options(&c, argc, argv, &new);
        int status = EXIT_CORDON;
        if (at >= 0 && c.diff && (!new || at != argc || c.sign))
                status = cli_usage("which two? For example: cordon selftest claims --diff OLD NEW");
        else if (at >= 0 && c.diff)
                status = claims_diff(c.diff, new, c.key);
        else if (at >= 0 && c.key)
                status = cli_usage("--key goes with --diff");
        else if (at >= 0 && at < argc)
                status = cli_usage("unexpected argument `%s`: the attempts are the command", argv[at]);
        else if (at >= 0)
                status = make_claims(&c, argc, argv);

        for (size_t i = 0; i < c.told; i++)
                free(c.told_of[i]);

        for (size_t i = 0; i < c.residuals; i++)
                buf_done(&c.residual[i]);

        buf_done(&c.open);
        cordon_free(c.result);
        cordon_free(c.doctor);
        cordon_policy_free(c.policy);
        return status;
}
