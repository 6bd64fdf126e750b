/* SPDX-License-Identifier: MIT */
/* output/pipeline.c - the stages in their order. Pure. */
#include "output/pipeline.h"
#include "base/json.h"
#include "base/str.h"
#include "output/json_inert.h"
#include "output/lines.h"
#include "output/magic.h"
#include "output/schema.h"

#include <stdlib.h>

enum { LINE_MAX_BYTES = 1 << 16, TOKEN_MAX = 1024, HARDEST_STEPS = SCHEMA_STEPS };

struct pipeline {
        struct pipeline_config c;
        struct pipeline_report r;
        struct schema *schema;
        struct neutral neutral;
        struct known *known;
        struct known *watch; /* canaries, in a form that is judged at its end; or NULL */
        struct patterns *patterns;
        struct injection *injection;
        struct buf raw;   /* what came in: binary forms, JSON, and if it is to leave unchanged */
        struct buf inert; /* of the neutralizer, once per call */
        struct buf text;  /* of the finder of known secrets, up to the last line end */
        struct buf line;  /* of the patterns, once per line */
        struct buf form;  /* all that passed, for a form that is judged at the end */
        bool rejected;
};

static bool is_text(enum handle_type t)
{
        return t == HANDLE_TEXT || t == HANDLE_JSON || t == HANDLE_JSONL || t == HANDLE_CSV;
}

static bool is_json(enum handle_type t) { return t == HANDLE_JSON || t == HANDLE_JSONL; }

static int no_memory(struct pipeline *p, struct err *e)
{
        p->rejected = true;
        return err_set(e, ERR_MEMORY, 0, "out of memory");
}

static int reject_output(struct pipeline *p, struct err *e, const char *why)
{
        p->rejected = true;
        return err_set(e, ERR_DOOR, 0, "%s", why);
}

static bool streams(const struct pipeline *p) { return p->c.form == HANDLE_TEXT && !p->c.verbatim; }

/* A canary is an alarm when it comes, not when the box has said all. -1: no memory. */
static int watch_canaries(struct pipeline *p)
{
        struct known_word words[KNOWN_MAX];
        size_t n = 0;
        for (size_t i = 0; i < p->c.n_words && i < KNOWN_MAX; i++)
                if (p->c.words[i].canary)
                        words[n++] = p->c.words[i];
        if (n == 0 || streams(p))
                return 0;

        p->watch = known_new(words, n);
        return p->watch ? 0 : -1;
}

static void see_canaries(struct pipeline *p, struct span in)
{
        int i = p->watch ? known_see(p->watch, in) : -1;
        for (size_t k = 0; i >= 0 && k < p->c.n_words; k++)
                if (p->c.words[k].canary && i-- == 0)
                        findings_add(&p->r.findings, FINDING_CANARY, span_str(p->c.words[k].name),
                                     p->r.lines + 1);
}

struct pipeline *pipeline_new(const struct pipeline_config *c, struct err *e)
{
        struct pipeline *p = calloc(1, sizeof *p);
        if (!p) {
                (void) err_set(e, ERR_MEMORY, 0, "out of memory");
                return NULL;
        }

        p->c = *c;
        neutral_init(&p->neutral, NEUTRAL_TEXT);
        p->known = known_new(c->words, c->n_words);
        p->patterns = patterns_new();
        p->injection = injection_new();
        bool good = p->known && p->patterns && p->injection && watch_canaries(p) == 0;
        if (!good)
                (void) err_set(e, ERR_MEMORY, 0, "out of memory");
        else if (c->schema.n)
                good = (p->schema = schema_new(c->schema_name, c->schema, NULL, 0, SCHEMA_FORMATS, e)) !=
                       NULL;

        if (good)
                return p;
        pipeline_free(p);
        return NULL;
}

void pipeline_free(struct pipeline *p)
{
        if (!p)
                return;
        schema_free(p->schema);
        known_free(p->known);
        known_free(p->watch);
        patterns_free(p->patterns);
        injection_free(p->injection);
        buf_done(&p->raw);
        buf_done(&p->inert);
        buf_done(&p->text);
        buf_done(&p->line);
        buf_done(&p->form);
        free(p);
}

/* ---- known secrets ---- */

static void note_known(void *ctx, size_t word)
{
        struct pipeline *p = ctx;
        const struct known_word *w = &p->c.words[word];
        findings_add(&p->r.findings, w->canary ? FINDING_CANARY : FINDING_SECRET, span_str(w->name),
                     p->r.lines + 1);
}

/* ---- whole lines ---- */

static void pass_line(struct pipeline *p, struct span line, struct buf *out)
{
        uint64_t number = ++p->r.lines;
        p->line.n = 0;
        patterns_line(p->patterns, line, number, &p->line, &p->r.findings);
        injection_line(p->injection, line, number, &p->r.findings);
        out->failed |= p->line.failed;
        if (p->c.form == HANDLE_TEXT && !p->c.keep_links) {
                links_line(p->c.hosts, p->c.n_hosts, buf_span(&p->line), number, out, &p->r.findings);
                return;
        }

        /* Data for programs: a link is noted, and stays what it is. */
        AUTO_BUF(ignored);
        links_line(p->c.hosts, p->c.n_hosts, buf_span(&p->line), number, &ignored, &p->r.findings);
        buf_add(out, p->line.p, p->line.n);
}

static bool is_token(uint8_t c) { return c > ' ' && c != ',' && c != '"'; }

/* The end of the next line, or of as much of a long one as can be judged alone; 0: more must come. */
static size_t next_line(struct span s, bool end)
{
        const uint8_t *newline = memchr(s.p, '\n', s.n);
        if (newline)
                return (size_t) (newline - s.p) + 1;

        if (end || s.n < LINE_MAX_BYTES)
                return end ? s.n : 0;

        size_t n = s.n;
        while (n > 0 && s.n - n < TOKEN_MAX && is_token(s.p[n - 1]))
                n--;
        return n == 0 || s.n - n == TOKEN_MAX ? s.n : n;
}

static void pass_lines(struct pipeline *p, bool end, struct buf *out)
{
        size_t from = 0;
        struct span all = buf_span(&p->text);
        while (from < all.n) {
                size_t n = next_line(span_of(all.p + from, all.n - from), end);
                if (n == 0)
                        break;
                pass_line(p, span_of(all.p + from, n), out);
                from += n;
        }

        if (from > 0) {
                memmove(p->text.p, p->text.p + from, p->text.n - from);
                p->text.n -= from;
        }
        out->failed |= p->text.failed;
}

/* From bytes to inert text without secrets. */
static int pass_text(struct pipeline *p, struct span in, bool end, struct buf *out, struct err *e)
{
        p->inert.n = 0;
        neutral_feed(&p->neutral, in, &p->inert);
        if (end)
                neutral_end(&p->neutral, &p->inert);

        known_pass(p->known, buf_span(&p->inert), end, &p->text, note_known, p);
        pass_lines(p, end, out);
        return p->inert.failed || out->failed ? no_memory(p, e) : 0;
}

/* ---- forms ---- */

static int check_json(struct pipeline *p, struct span text, struct err *e)
{
        if (!p->schema)
                return json_check(p->c.schema_name ? p->c.schema_name : "output", text, e);

        struct json_doc *d = json_parse_data("output", text, e);
        int r = d ? schema_check(p->schema, d, HARDEST_STEPS, e) : -1;
        json_free(d);
        return r;
}

static int check_grammar(struct pipeline *p, struct span text, struct err *e)
{
        (void) p;
        return json_check("output", text, e);
}

static int check_json_lines(struct pipeline *p, struct span text,
                            int (*check)(struct pipeline *, struct span, struct err *), struct err *e)
{
        uint64_t number = 1;
        for (size_t from = 0; from < text.n; number++) {
                const uint8_t *newline = memchr(text.p + from, '\n', text.n - from);
                size_t n = newline ? (size_t) (newline - text.p) - from : text.n - from;
                if (n > 0 && check(p, span_of(text.p + from, n), e) < 0)
                        return err_in(e, "line %llu", (unsigned long long) number);
                from += n + 1;
        }
        return 0;
}

static int check_csv(struct pipeline *p, struct buf *out, struct err *e)
{
        struct span text = buf_span(&p->form);
        unsigned columns = 0;
        uint64_t number = 0;
        for (size_t from = 0; from < text.n; number++) {
                size_t n = formulas_length(span_of(text.p + from, text.n - from), true);
                if (formulas_record(span_of(text.p + from, n), &columns, number + 1, out, &p->r.findings) < 0)
                        return err_set(e, ERR_DOOR, 0, "record %llu is not CSV of %u cells",
                                       (unsigned long long) number + 1, columns);
                from += n;
        }
        return 0;
}

/* Before anything is changed: strict UTF-8, and for JSON its grammar. */
static int check_raw(struct pipeline *p, struct err *e)
{
        struct span raw = buf_span(&p->raw);
        if (!str_is_utf8(raw))
                return err_set(e, ERR_DOOR, 0, "it is not UTF-8 text");
        return p->c.form == HANDLE_JSON    ? check_grammar(p, raw, e)
               : p->c.form == HANDLE_JSONL ? check_json_lines(p, raw, check_grammar, e)
                                           : 0;
}

static int end_text(struct pipeline *p, struct buf *out, struct err *e)
{
        if (check_raw(p, e) < 0)
                return -1;

        AUTO_BUF(plain);
        struct span raw = buf_span(&p->raw);
        if (is_json(p->c.form)) {
                p->r.cut[CUT_CONTROL] += json_inert(raw, &plain);
                raw = buf_span(&plain);
        }

        if (plain.failed || pass_text(p, raw, true, &p->form, e) < 0)
                return plain.failed ? no_memory(p, e) : -1;

        size_t from = out->n;
        struct span leaves = p->c.verbatim ? buf_span(&p->raw) : buf_span(&p->form);
        int r = p->c.form == HANDLE_CSV     ? check_csv(p, out, e)
                : p->c.form == HANDLE_JSON  ? check_json(p, leaves, e)
                : p->c.form == HANDLE_JSONL ? check_json_lines(p, leaves, check_json, e)
                                            : 0;
        if (r < 0 || p->c.verbatim)
                out->n = from;
        else if (p->c.form != HANDLE_CSV)
                buf_add(out, p->form.p, p->form.n);

        if (r == 0 && p->c.verbatim)
                buf_add(out, p->raw.p, p->raw.n);
        return r;
}

static const enum magic wanted[HANDLE_TYPE__COUNT] = {
        [HANDLE_PNG] = MAGIC_PNG,   [HANDLE_JPEG] = MAGIC_JPEG, [HANDLE_GIF] = MAGIC_GIF,
        [HANDLE_WEBP] = MAGIC_WEBP, [HANDLE_PDF] = MAGIC_PDF,   [HANDLE_ZIP] = MAGIC_ZIP,
        [HANDLE_GZIP] = MAGIC_GZIP,
};

/* Bytes cannot be starred without breaking the file: a known secret inside rejects it. */
static int check_binary(struct pipeline *p, struct err *e)
{
        struct span raw = buf_span(&p->raw);
        enum magic m = magic_of(raw), want = wanted[p->c.form];
        AUTO_BUF(ignored);
        known_pass(p->known, raw, true, &ignored, note_known, p);
        if (findings_count(&p->r.findings, FINDING_SECRET) + findings_count(&p->r.findings, FINDING_CANARY))
                return reject_output(p, e, "it contains a secret");

        if (p->c.form == HANDLE_BINARY)
                return 0;

        if (p->c.form == HANDLE_IMAGE ? !magic_is_image(m) : m != want)
                return err_set(e, ERR_DOOR, 0, "it is not %s", policy_handle_type(p->c.form));

        const char *why = magic_fault(m, raw, &p->r.findings);
        return why ? err_set(e, ERR_DOOR, 0, "it is not a good %s: %s", magic_name(m), why) : 0;
}

/* ---- the stream ---- */

/* The most bytes that may still come. */
static struct span cap_output(struct pipeline *p, struct span in)
{
        uint64_t room = p->c.max - p->r.bytes_in;
        if (in.n > room) {
                p->r.truncated = true;
                in.n = (size_t) room;
        }
        p->r.bytes_in += in.n;
        return in;
}

int pipeline_feed(struct pipeline *p, struct span in, struct buf *out, struct err *e)
{
        size_t from = out->n;
        if (p->rejected)
                return -1;

        in = cap_output(p, in);
        if (streams(p)) {
                if (pass_text(p, in, false, out, e) < 0)
                        return -1;
                p->r.bytes_out += out->n - from;
        } else {
                see_canaries(p, in);
                buf_add(&p->raw, in.p, in.n);
                if (p->raw.failed)
                        return no_memory(p, e);
        }

        return p->r.truncated ? reject_output(p, e, "it is larger than its limit") : 0;
}

int pipeline_end(struct pipeline *p, struct buf *out, struct err *e)
{
        size_t from = out->n;
        if (p->rejected)
                return -1;

        int r = streams(p)           ? pass_text(p, span_of("", 0), true, out, e)
                : is_text(p->c.form) ? end_text(p, out, e)
                                     : check_binary(p, e);
        if (r == 0 && !is_text(p->c.form))
                buf_add(out, p->raw.p, p->raw.n);

        for (int i = 0; i < CUT__COUNT; i++)
                p->r.cut[i] += p->neutral.cut[i];
        if (p->neutral.hidden_n)
                findings_add(&p->r.findings, FINDING_HIDDEN, span_of(p->neutral.hidden, p->neutral.hidden_n),
                             0);

        if (r == 0 && out->failed)
                r = no_memory(p, e);
        p->rejected |= r < 0;
        if (r < 0)
                out->n = from;
        p->r.bytes_out += out->n - from;
        return r;
}

const struct pipeline_report *pipeline_report(const struct pipeline *p) { return &p->r; }

void pipeline_report_json(const struct pipeline_report *r, struct buf *out)
{
        static const char *const names[] = { "escape",    "control", "bidi", "tag",
                                             "invisible", "private", "utf8" };
        _Static_assert(sizeof names / sizeof *names == CUT__COUNT, "each cut has its name");
        buf_printf(out, "\"bytes\":%llu,\"passed\":%llu,\"truncated\":%s,\"cut\":{",
                   (unsigned long long) r->bytes_in, (unsigned long long) r->bytes_out,
                   r->truncated ? "true" : "false");
        for (int i = 0; i < CUT__COUNT; i++)
                buf_printf(out, "%s\"%s\":%llu", i ? "," : "", names[i], (unsigned long long) r->cut[i]);
        buf_puts(out, "},\"findings\":");
        findings_json(&r->findings, out);
}
