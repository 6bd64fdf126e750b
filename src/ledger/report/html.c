/* SPDX-License-Identifier: MIT */
/* ledger/report/html.c - `cordon ledger report --html`: one run as one page, with its graph of causes and
 * effects as inline SVG. No script, no network (the page's own policy forbids both), and every text from a
 * box is escaped. Pure. */
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

/* A graph of more nodes is not readable; the table has every record. */
enum { NODES_MAX = 120, BOX_W = 230, BOX_H = 44, GAP_X = 60, GAP_Y = 16, MARGIN = 20, LIST_MAX = 40 };

struct node {
        uint64_t index;
        unsigned layer, row;
};

struct page {
        const struct ledger_log *log;
        const struct ledger_edge *edges;
        size_t edge_count;
        uint16_t *slot; /* by index: its node, plus one; 0: none */
        struct node nodes[NODES_MAX];
        size_t count;
        char run[LEDGER_ID_MAX];
        struct log_run of;
        bool cut;
        struct buf *out;
};

/* A fixed name, or "": an attribute never contains text of a record. */
static const char *class_of(const struct ledger_view *v)
{
        for (unsigned i = 1; i < LEDGER_PHASE__COUNT; i++)
                if (span_is(v->phase, ledger_phase_name(i)))
                        return ledger_phase_name(i);
        return "";
}

static struct node *node_of(struct page *p, uint64_t index)
{
        return p->slot[index] ? &p->nodes[p->slot[index] - 1] : NULL;
}

static bool add_node(struct page *p, uint64_t index)
{
        if (node_of(p, index))
                return false;

        if (p->count == NODES_MAX) {
                p->cut = true;
                return false;
        }

        p->nodes[p->count++] = (struct node){ .index = index };
        p->slot[index] = (uint16_t) p->count;
        return true;
}

/* The run itself, then its causes and its effects. */
static void gather_records(struct page *p)
{
        struct ledger_view v;
        for (struct ledger_walk w = p->of.first; ledger_next(&w, &v);)
                (void) add_node(p, w.at - 1);

        size_t own = p->count;
        for (int way = 0; way < 2; way++) { /* back, then forward: never along another branch */
                size_t before = p->count;
                for (bool more = true; more;) {
                        more = false;
                        for (size_t k = 0; k < p->edge_count; k++) {
                                const struct ledger_edge *x = &p->edges[k];
                                struct node *n = node_of(p, way ? x->cause : x->effect);
                                if (n && ((size_t) (n - p->nodes) < own || (size_t) (n - p->nodes) >= before))
                                        more |= add_node(p, way ? x->effect : x->cause);
                        }
                }
        }
}

static void place_nodes(struct page *p)
{
        for (size_t pass = 0; pass < p->count; pass++) {
                bool moved = false;
                for (size_t k = 0; k < p->edge_count; k++) {
                        struct node *a = node_of(p, p->edges[k].cause), *b = node_of(p, p->edges[k].effect);
                        if (a && b && b->layer < a->layer + 1 && a->layer + 1 < p->count) {
                                b->layer = a->layer + 1;
                                moved = true;
                        }
                }
                if (!moved)
                        break;
        }

        for (size_t i = 0; i < p->count; i++)
                for (size_t k = 0; k < i; k++)
                        p->nodes[i].row += p->nodes[k].layer == p->nodes[i].layer;
}

static int left(const struct node *n) { return MARGIN + (int) n->layer * (BOX_W + GAP_X); }
static int top(const struct node *n) { return MARGIN + (int) n->row * (BOX_H + GAP_Y); }

/* A start causes every record of its run: if an input explains a record already, that edge would only hide
 * others. */
static bool is_redundant(struct page *p, const struct ledger_edge *x)
{
        struct ledger_view cause, other;
        if (ledger_log_view(p->log, x->cause, &cause) < 0 || !span_is(cause.kind, "start"))
                return false;

        for (size_t k = 0; k < p->edge_count; k++)
                if (p->edges[k].effect == x->effect && p->edges[k].cause != x->cause &&
                    node_of(p, p->edges[k].cause) &&
                    ledger_log_view(p->log, p->edges[k].cause, &other) == 0 && span_eq(other.run, cause.run))
                        return true;

        return false;
}

static void put_edges(struct page *p)
{
        for (size_t k = 0; k < p->edge_count; k++) {
                const struct node *a = node_of(p, p->edges[k].cause), *b = node_of(p, p->edges[k].effect);
                if (!a || !b || is_redundant(p, &p->edges[k]))
                        continue;
                int x1 = left(a) + BOX_W, y1 = top(a) + BOX_H / 2, x2 = left(b), y2 = top(b) + BOX_H / 2;
                int bend = b->layer > a->layer + 1 ? BOX_H + 8 : 0; /* below the node in between */
                buf_printf(p->out,
                           "<path class=\"edge %s\" d=\"M%d %dC%d %d %d %d %d %d\" "
                           "marker-end=\"url(#tip)\"><title>%s</title></path>\n",
                           ledger_link_name(p->edges[k].link), x1, y1, x1 + GAP_X / 2, y1 + bend,
                           x2 - GAP_X / 2, y2 + bend, x2, y2, ledger_link_name(p->edges[k].link));
        }
}

static void put_ledger(struct page *p, const struct ledger_view *v)
{
        if (v->ledger.n == 0)
                return;
        buf_puts(p->out, " in ");
        html_text(p->out, v->ledger, LEDGER_NAME_MAX);
        buf_puts(p->out, v->lost_cause ? "; its cause is not in these ledgers" : "");
        buf_puts(p->out, v->in_circle ? "; in a circle of causes" : "");
}

static void put_node(struct page *p, const struct node *n)
{
        struct ledger_view v;
        if (ledger_log_view(p->log, n->index, &v) < 0)
                return;

        buf_printf(p->out, "<g class=\"node %s%s\" transform=\"translate(%d %d)\"><title>",
                   span_is(v.run, p->run) ? "own " : "", class_of(&v), left(n), top(n));
        html_text(p->out, v.id, LEDGER_ID_MAX);
        put_ledger(p, &v);
        buf_printf(
                p->out,
                "</title><rect width=\"%d\" height=\"%d\" rx=\"6\"/><text x=\"10\" y=\"18\" class=\"kind\">",
                BOX_W, BOX_H);
        html_text(p->out, v.box, 18);
        buf_puts(p->out, v.box.n ? ": " : "");
        html_text(p->out, v.kind, 24);
        if (!span_eq(v.kind, v.phase))
                buf_putc(p->out, ' ');

        html_text(p->out, span_eq(v.kind, v.phase) ? span_of(NULL, 0) : v.phase, 24);
        buf_puts(p->out, "</text><text x=\"10\" y=\"35\">");
        html_text(p->out, v.target.n ? v.target : v.door.n ? v.door : v.result, 34);
        buf_puts(p->out, "</text></g>\n");
}

static void put_graph(struct page *p)
{
        int width = 0, height = 0;
        for (size_t i = 0; i < p->count; i++) {
                int x = left(&p->nodes[i]) + BOX_W + MARGIN, y = top(&p->nodes[i]) + BOX_H + MARGIN;
                width = x > width ? x : width;
                height = y > height ? y : height;
        }

        buf_printf(p->out,
                   "<div class=\"graph\"><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
                   "aria-label=\"causes and effects\" "
                   "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<defs><marker id=\"tip\" viewBox=\"0 "
                   "0 8 8\" refX=\"7\" refY=\"4\" "
                   "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 "
                   "8z\"/></marker></defs>\n",
                   width, height, width, height);
        put_edges(p);
        for (size_t i = 0; i < p->count; i++)
                put_node(p, &p->nodes[i]);

        buf_puts(p->out, "</svg></div>\n");
        if (p->cut)
                buf_printf(p->out, "<p>Only the first %d records are drawn. The table has all of them.</p>\n",
                           NODES_MAX);
}

/* ---- the head: the command, how it ended, its doors ---- */

static void put_fact(struct page *p, const char *name, struct span value)
{
        if (value.n == 0)
                return;
        buf_printf(p->out, "<dt>%s</dt><dd>", name);
        html_text(p->out, value, 400);
        buf_puts(p->out, "</dd>\n");
}

/* Doors that were open or used, and limits that were reached: one line for each such record. */
static void put_list(struct page *p, const char *name, bool (*belongs)(const struct ledger_view *v))
{
        struct ledger_view v;
        unsigned n = 0;
        for (struct ledger_walk w = p->of.first; ledger_next(&w, &v);) {
                if (!belongs(&v))
                        continue;
                if (n++ == 0)
                        buf_printf(p->out, "<dt>%s</dt>", name);
                if (n > LIST_MAX)
                        continue;
                struct span line = ledger_member(v.more, "line");
                buf_puts(p->out, "<dd>");
                html_text(p->out, line.n ? line : v.door, 200);
                buf_puts(p->out, line.n || !v.door.n ? "" : " ");
                html_text(p->out, line.n ? span_of(NULL, 0) : v.target, 200);
                buf_puts(p->out, v.result.n ? ": " : "");
                html_text(p->out, v.result, 100);
                buf_puts(p->out, "</dd>\n");
        }

        if (n > LIST_MAX)
                buf_printf(p->out, "<dd>and %u more</dd>\n", n - LIST_MAX);
}

static bool is_door(const struct ledger_view *v)
{
        return span_is(v->phase, "claim") || ledger_member(v->more, "line").n > 0;
}
static bool is_limit(const struct ledger_view *v) { return span_is(v->kind, "limit"); }

static void put_head(struct page *p)
{
        struct ledger_view v;
        const struct ledger_view *start = &p->of.start, *end = &p->of.end;
        unsigned records = 0, denied = 0;
        for (struct ledger_walk w = p->of.first; ledger_next(&w, &v); records++)
                denied += span_is(v.phase, "denied");

        buf_puts(p->out, "<dl>\n");
        put_fact(p, "Command", start->target);
        put_fact(p, "Result", end->json.n ? end->result : span_str(text_no_end(p->of.runs)));
        put_fact(p, "Box", start->box);
        put_fact(p, "Wall", ledger_member(start->more, "wall"));
        put_fact(p, "Policy", start->policy);
        buf_printf(p->out, "<dt>Records</dt><dd>%u, %u of them denied</dd>\n", records, denied);
        if (end->json.n)
                buf_printf(p->out, "<dt>Time</dt><dd>%.3f s</dd>\n",
                           (double) (end->time_us - start->time_us) / 1e6);

        put_list(p, "Limits", is_limit);
        put_list(p, "Doors", is_door);
        buf_puts(p->out, "</dl>\n");
}

/* ---- the table, with a filter for each phase: check boxes and style sheets, no script ---- */

static const char *const filters[] = { "denied", "intent", "outcome", "claim", "credential", "human" };

static void put_filters(struct page *p)
{
        buf_puts(p->out, "<fieldset><legend>Show</legend>\n");
        for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
                buf_printf(p->out, "<label><input type=\"checkbox\" class=\"f-%s\" checked> %s</label>\n",
                           filters[i], filters[i]);

        buf_puts(p->out, "</fieldset>\n<style>");
        for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
                buf_printf(p->out, "body:has(.f-%s:not(:checked)) tr.%s{display:none}", filters[i],
                           filters[i]);

        buf_puts(p->out, "</style>\n");
}

static void put_row(struct page *p, const struct ledger_view *v, uint64_t at, int64_t since_us)
{
        struct span cells[] = { v->id, v->kind, v->phase, v->door, v->target };
        buf_printf(p->out, "<tr class=\"%s\" id=\"r%llu\"><td>%.3f</td>", class_of(v),
                   (unsigned long long) at, (double) (v->time_us - since_us) / 1e3);
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
                buf_puts(p->out, "<td>");
                html_text(p->out, cells[c], 300);
                if (c == 0)
                        put_ledger(p, v);
                buf_puts(p->out, "</td>");
        }

        buf_printf(p->out, v->bytes >= 0 ? "<td>%lld</td><td>" : "<td></td><td>", (long long) v->bytes);
        html_text(p->out, v->reach, 16);
        buf_puts(p->out, "</td><td>");
        html_text(p->out, v->unknown ? span_str("outcome unknown") : v->result, 200);
        buf_puts(p->out, "</td></tr>\n");
}

static void put_table(struct page *p)
{
        struct ledger_view v;
        put_filters(p);
        buf_puts(p->out, "<table><thead><tr><th>ms</th><th>id</th><th>kind</th><th>phase</th><th>door</"
                         "th><th>target</th>"
                         "<th>bytes</th><th>reach</th><th>result</th></tr></thead><tbody>\n");
        for (struct ledger_walk w = p->of.first; ledger_next(&w, &v);)
                put_row(p, &v, w.at - 1, p->of.begin_us);

        buf_puts(p->out, "</tbody></table>\n");
}

static const char style[] =
        ":root{color-scheme:light "
        "dark;--ink:#1b1f24;--soft:#6b7280;--paper:#fff;--line:#d0d7de;--own:#eef6ff;--bad:#fde8e8;--badline:"
        "#c53030}"
        "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#8b949e;--paper:#0d1117;--line:#30363d;"
        "--own:#11263f;--bad:#3d1518;--badline:#f85149}}"
        "body{font:14px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:2rem "
        "auto;max-width:1200px;padding:0 1rem}"
        "h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}code,td{font-family:ui-monospace,monospace;"
        "font-size:12px}"
        ".graph{overflow:auto;border:1px solid var(--line);border-radius:8px}"
        "rect{fill:var(--paper);stroke:var(--line)}.own rect{fill:var(--own)}.denied "
        "rect{fill:var(--bad);stroke:var(--badline)}"
        "text{font:12px ui-monospace,monospace;fill:var(--ink)}.kind{font-weight:600}"
        ".edge{fill:none;stroke:var(--soft);stroke-width:1.3}.bytes,.pipe,.trace{stroke-dasharray:5 3}marker "
        "path{fill:var(--soft)}"
        "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:3px 8px;border-bottom:1px "
        "solid var(--line);vertical-align:top;overflow-wrap:anywhere}"
        "thead th{position:sticky;top:0;background:var(--paper)}tr.denied td{background:var(--bad)}"
        "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px "
        "16px}dt{color:var(--soft);grid-column:1}"
        "dd{margin:0;grid-column:2;font-family:ui-monospace,monospace;font-size:12px;overflow-wrap:anywhere}"
        ".story a{text-decoration:none}.story .hd{font:600 11px system-ui;fill:var(--soft)}.story "
        ".sub{font-size:11px;fill:var(--soft)}"
        ".way{fill:none;stroke:var(--line);stroke-width:1.25}.way.deny{stroke:var(--badline)}.way.ask,.nd."
        "ask "
        "rect,.hole.ask{stroke:#b7791f}"
        ".story .box{stroke:var(--ink);stroke-width:1.5}.nd:hover rect,a:focus-visible .nd "
        "rect{stroke:var(--ink);stroke-width:2}"
        ".nd.deny rect{fill:var(--bad);stroke:var(--badline)}.nd.deny "
        "text{fill:var(--badline)}.wall,.ev.deny{fill:var(--badline);stroke:none}"
        ".hole{fill:var(--paper);stroke:var(--ink);stroke-width:1.5}.ev{fill:var(--soft)}.ev.did{fill:#"
        "2f6fd0}"
        "tr:target td{outline:2px solid #2f6fd0}"
        "fieldset{border:1px solid var(--line);border-radius:8px}label{margin-right:1em}";

int ledger_html(const struct ledger_log *l, const char *which, bool runs, struct buf *out, struct err *e)
{
        struct page *p = calloc(1, sizeof *p);
        struct ledger_graph *g = p ? ledger_graph_new(l, e) : NULL;
        if (!p)
                return err_set(e, ERR_MEMORY, 0, "no memory for the page");

        if (!g || ledger_find_run(l, which, p->run, e) < 0) {
                ledger_graph_free(g);
                free(p);
                return -1;
        }

        p->log = l;
        p->out = out;
        log_run_gather(l, p->run, runs, &p->of);
        p->slot = calloc(ledger_log_count(l) + 1, sizeof *p->slot);
        if (!p->slot) {
                ledger_graph_free(g);
                free(p);
                return err_set(e, ERR_MEMORY, 0, "no memory for the page");
        }

        p->edges = ledger_graph_edges(g, &p->edge_count);
        gather_records(p);
        place_nodes(p);
        buf_puts(out,
                 "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                 "content=\"width=device-width\">"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                 "'unsafe-inline'\">"
                 "<title>cordon run ");
        html_text(out, span_str(p->run), LEDGER_ID_MAX);
        buf_printf(out, "</title><style>%s</style></head><body>\n<h1>Run <code>", style);
        html_text(out, span_str(p->run), LEDGER_ID_MAX);
        buf_puts(out, "</code></h1>\n");
        put_head(p);
        buf_puts(out, "<h2>What led to what</h2>\n");
        html_story(&p->of, out);
        buf_puts(out, "<h2>Records of the run</h2>\n");
        put_table(p);
        buf_puts(out, "<h2>Causes and effects</h2>\n<p>Records of this run are tinted, denials are red. "
                      "Dashed lines join runs that are connected by their bytes, a pipe or a trace context "
                      "only.</p>\n");
        put_graph(p);
        buf_puts(out, "</body></html>\n");
        ledger_graph_free(g);
        free(p->slot);
        free(p);
        return 0;
}
