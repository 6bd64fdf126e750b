/* SPDX-License-Identifier: MIT */
/* policy/show/doors_report.c - every door in words, grouped, then the worst that a hostile payload could
 * do with them. */
#include "policy/internal.h"

static size_t count_of(const struct checked_policy *c, enum door_kind first, enum door_kind last)
{
        return c->live.start[last + 1] - c->live.start[first];
}

/* ---- doors in words ---- */

static const struct {
        enum door_kind first, last;
        const char *title, *none;
} groups[] = {
        { DOOR_READ, DOOR_WRITE, "Files", "no file of the host" },
        { DOOR_RUN, DOOR_RUN, "Programs", "none may be started by name" },
        { DOOR_ENV, DOOR_ENV, "Variables",
          "only PATH HOME LANG TERM USER, and git's own where a repository is seen or edited" },
        { DOOR_NET, DOOR_NET, "Network", "nothing is reachable" },
        { DOOR_SOCK, DOOR_SOCK, "Sockets", "none" },
        { DOOR_SIGN, DOOR_DECRYPT, "Keys", "none" },
        { DOOR_DEV, DOOR_DEV, "Devices", "null, zero, full, random, urandom" },
        { DOOR_LISTEN, DOOR_LISTEN, "Inbound", "nothing outside can connect to it" },
        { DOOR_TOOL, DOOR_TOOL, "Tools", NULL },
        { DOOR_IN, DOOR_OUT, "Handles", "none" },
};

static const char *const kind_words[] = {
        [DOOR_NONE] = "",
        [DOOR_READ] = "read-only",
        [DOOR_EDIT] = "writable in a private overlay; a person applies it",
        [DOOR_WRITE] = "writable on the host, at once",
        [DOOR_RUN] = "may start",
        [DOOR_ENV] = "",
        [DOOR_NET] = "may connect",
        [DOOR_SOCK] = "may talk to the program behind it",
        [DOOR_SIGN] = "may sign with it; it never gets the key",
        [DOOR_DECRYPT] = "may decrypt with it; it never gets the key",
        [DOOR_DEV] = "may use the device",
        [DOOR_LISTEN] = "programs on this host may connect to it",
        [DOOR_TOOL] = "may be called by a client",
        [DOOR_IN] = "may be read through its descriptor",
        [DOOR_OUT] = "may be written through its descriptor",
};
_Static_assert(COUNT(kind_words) == DOOR_KIND__COUNT, "words for each door");

/* Some frameworks take the method from a posted body, which is not checked. */
static bool has_post(const struct door *d)
{
        for (char **m = d->net.methods; m && *m; m++)
                if (strcmp(*m, "POST") == 0)
                        return true;
        return false;
}

/* One mount shows both, and it is written at once. */
static bool is_written(const struct checked_policy *c, const struct door *d)
{
        size_t lo, hi;
        door_set_find(&c->live, DOOR_WRITE, span_str(d->path), &lo, &hi);
        return lo < hi;
}

/* The effect of labels on the door, once the run has read all that it may; NULL: none. */
static const char *held_words(const struct checked_policy *c, const struct door *d)
{
        struct label most = policy_label_most(c), first = policy_label_handed(c);
        struct policy_flow f = flow_answer(c, d, &most);
        if (!f.reason)
                return NULL;
        if (flow_closed(c, d, &first))
                return "closed: it does not accept what the run holds from its start";
        if (f.answer == ANSWER_DENY && policy_rule(c, POLICY_RULE_TOUCH))
                return "open until the run touches what it does not accept";
        return f.answer == ANSWER_DENY ? "closes once the run holds what it does not accept"
               : d->ask.on && !d->ask.labelled
                       ? "waits for an approval: `cordon approve`"
                       : "asks once the run holds what it does not accept: `cordon approve`";
}

static const char *door_words(const struct checked_policy *c, const struct door *d)
{
        if (d->kind == DOOR_EDIT && is_written(c, d))
                return "no effect: the `write` door of this path holds";

        if (d->kind == DOOR_OUT && policy_is_stream(d->name))
                return "leaves in this form only, checked and made inert";

        const char *held = d->kind == DOOR_NET ? held_words(c, d) : NULL;
        if (held)
                return held;

        if (d->kind == DOOR_READ && d->flow.label && !policy_door_begins(c, d))
                return "read-only; labels the run when it is touched";

        if (d->ask.on && d->kind == DOOR_EDIT)
                return "writable in a private overlay; `cordon apply` waits for `cordon approve`";

        if (d->ask.on)
                return "waits for an approval: `cordon approve`";

        if (d->kind == DOOR_ENV)
                return d->value ? "set to this" : "the caller's value";

        if (d->kind == DOOR_NET && has_post(d))
                return "may connect; the body of a POST is not checked";

        return kind_words[d->kind];
}

static void door_text(const struct checked_policy *c, const struct door *d, struct buf *out)
{
        AUTO_BUF(line);
        char inert[POLICY_MAX_LINE];

        show_door(d, &line);
        out->failed = out->failed || line.failed;
        buf_printf(out, "  %-44s  %s\n", str_inert(buf_span(&line), inert, sizeof inert), door_words(c, d));
}

/* All doors of one kind from one stock policy, in few lines: they are many and not written by the user. */
static void stock_text(const struct checked_policy *c, enum door_kind k, const char *file, bool all,
                       struct buf *out)
{
        size_t column = 0, folded = 0;
        for (size_t i = c->live.start[k]; i < c->live.start[k + 1]; i++) {
                const struct door *d = &c->live.v[i];
                if (!d->from_stock || strcmp(d->at.file, file) != 0)
                        continue;
                if (!all && k == DOOR_READ && path_under(d->path, "/etc")) {
                        folded++;
                        continue;
                }
                if (column == 0 || column > 90) {
                        if (column)
                                buf_puts(out, "\n     ");
                        else
                                buf_printf(out, "  %s, %s:", file, kind_words[k]);
                        column = 6;
                }
                const char *name = strcmp(door_key(d), "*") == 0 ? "any program" : door_key(d);
                buf_printf(out, " %s%s", name, d->optional ? "?" : "");
                column += strlen(name) + 2;
        }

        if (column)
                buf_putc(out, '\n');

        if (folded)
                buf_printf(out,
                           "  %s, read-only: what this host has of %zu files and directories in /etc that "
                           "programs need (-v: which)\n",
                           file, folded);
}

static void kind_text(const struct checked_policy *c, enum door_kind k, bool all, struct buf *out)
{
        size_t count;
        const char *const *names = policy_stock_names(&count);
        for (size_t i = c->live.start[k]; i < c->live.start[k + 1]; i++)
                if (!c->live.v[i].from_stock)
                        door_text(c, &c->live.v[i], out);

        for (size_t i = 0; i < count; i++)
                stock_text(c, k, names[i], all, out);
}

static void group_text(const struct checked_policy *c, size_t g, bool all, struct buf *out)
{
        if (count_of(c, groups[g].first, groups[g].last) == 0) {
                if (groups[g].none)
                        buf_printf(out, "%s: %s\n", groups[g].title, groups[g].none);
                return;
        }

        buf_printf(out, "%s:\n", groups[g].title);
        for (enum door_kind k = groups[g].first; k <= groups[g].last; k++)
                kind_text(c, k, all, out);
}

static void local_text(const struct checked_policy *c, struct buf *out)
{
        size_t count;
        const struct policy_local_row *rows = policy_local_rows(&count);
        if (!c->local) {
                buf_puts(out, "Among its own processes: pipes and files, no sockets or terminals\n");
                return;
        }

        buf_puts(out, "Among its own processes:\n");
        for (size_t i = 0; i < count; i++)
                if (c->local & rows[i].bit)
                        buf_printf(out, "  local %-38s  %s\n", rows[i].name, rows[i].words);
}

/* ---- the worst ---- */

typedef bool which_fn(const struct checked_policy *c, const struct door *d);

static bool is_own(const struct checked_policy *c, const struct door *d)
{
        (void) c;
        return !d->from_stock;
}

static bool is_any(const struct checked_policy *c, const struct door *d)
{
        (void) c;
        (void) d;
        return true;
}

/* Whatever it does: labels keep all in. */
static bool is_closed(const struct checked_policy *c, const struct door *d)
{
        struct label first = policy_label_handed(c);
        return flow_closed(c, d, &first);
}

static bool closes_later(const struct checked_policy *c, const struct door *d)
{
        struct label most = policy_label_most(c);
        return !is_closed(c, d) && flow_closed(c, d, &most);
}

static bool stays_open(const struct checked_policy *c, const struct door *d)
{
        return !is_closed(c, d) && !closes_later(c, d);
}

static bool stays_unasked(const struct checked_policy *c, const struct door *d)
{
        return stays_open(c, d) && !d->ask.on;
}

static bool stays_asked(const struct checked_policy *c, const struct door *d)
{
        return stays_open(c, d) && d->ask.on && !d->ask.first;
}

static bool stays_asked_first(const struct checked_policy *c, const struct door *d)
{
        return stays_open(c, d) && d->ask.on && d->ask.first;
}

static void name_doors(const struct checked_policy *c, enum door_kind k, which_fn *which, struct buf *out)
{
        size_t shown = 0;
        for (size_t i = c->live.start[k]; i < c->live.start[k + 1]; i++) {
                const struct door *d = &c->live.v[i];
                char inert[256];
                if (!which(c, d))
                        continue;
                if (++shown > 8) {
                        buf_puts(out, ", ...");
                        return;
                }
                AUTO_BUF(name);
                if (k == DOOR_NET)
                        net_print(&d->net, &name);
                else
                        buf_puts(&name, door_key(d));
                out->failed = out->failed || name.failed;
                buf_printf(out, "%s%s", shown > 1 ? ", " : "",
                           str_inert(buf_span(&name), inert, sizeof inert));
        }
}

static size_t count_own(const struct checked_policy *c, enum door_kind k)
{
        size_t n = 0;
        for (size_t i = c->live.start[k]; i < c->live.start[k + 1]; i++)
                n += !c->live.v[i].from_stock;
        return n;
}

static void put_sentence(const struct checked_policy *c, enum door_kind k, const char *text, struct buf *out)
{
        if (count_own(c, k) == 0)
                return;
        buf_printf(out, "- %s ", text);
        name_doors(c, k, is_own, out);
        buf_puts(out, ".\n");
}

/* A process that may start a program can read it, and with DIR/ everything beside it. */
static void worst_readable_programs(const struct checked_policy *c, struct buf *out)
{
        size_t shown = 0;
        for (size_t i = c->live.start[DOOR_RUN]; i < c->live.start[DOOR_RUN + 1] && shown < 9; i++) {
                const struct door *d = &c->live.v[i];
                char inert[256];
                if (d->from_stock || d->path[0] != '/')
                        continue;
                if (++shown > 8)
                        buf_puts(out, ", ...");
                else
                        buf_printf(out, "%s%s",
                                   shown > 1 ? ", " : "- It can read, to start it, everything in ",
                                   str_inert(span_str(d->path), inert, sizeof inert));
        }

        if (shown)
                buf_puts(out, ".\n");
}

static void worst_files(const struct checked_policy *c, struct buf *out)
{
        size_t own = count_own(c, DOOR_READ) + count_own(c, DOOR_EDIT) + count_own(c, DOOR_WRITE);
        if (count_of(c, DOOR_READ, DOOR_WRITE) == 0)
                buf_printf(out, "- It can read no file of this host%s.\n",
                           count_of(c, DOOR_RUN, DOOR_RUN) && !c->root.text
                                   ? " but the programs that it may start"
                                   : "");
        else if (count_of(c, DOOR_READ, DOOR_WRITE) > own)
                buf_printf(out, "- It can read program files of this host (the stock doors above)%s.\n",
                           own ? "" : ", and no file of yours");

        put_sentence(c, DOOR_READ, "It can read everything in", out);
        worst_readable_programs(c, out);
        put_sentence(c, DOOR_EDIT,
                     "It can read, and change in a private overlay that you review before applying it,", out);
        put_sentence(c, DOOR_WRITE, "It can read, overwrite and delete, at once and for good, everything in",
                     out);
        if (count_of(c, DOOR_WRITE, DOOR_WRITE) == 0)
                buf_puts(out, "- It can change nothing on this host by itself.\n");
}

static void worst_root(const struct checked_policy *c, struct buf *out)
{
        if (c->root.text)
                buf_printf(out, "- It can read every file of the image %s, and start its programs.\n",
                           show_text(c->root.text).text);
}

static void worst_programs(const struct checked_policy *c, struct buf *out)
{
        if (policy_runs_any(c)) {
                buf_puts(out, "- It can start any program it can see, including programs it wrote.\n");
                return;
        }

        if (count_of(c, DOOR_RUN, DOOR_RUN) > 0) {
                buf_puts(out, "- It can start, with any arguments, ");
                name_doors(c, DOOR_RUN, is_any, out);
                buf_puts(out, ".\n");
        } else {
                buf_puts(out, "- It can start no further program.\n");
        }

        buf_puts(out, "- It can run nothing that it wrote, unless a `run` line covers it.\n");
}

/* "reaches the public", "touches money, a person". */
static void worst_effects(const struct net_dest *n, struct buf *out)
{
        static const char *const whom[] = { [NET_REACH_TENANT] = "others of your network or account",
                                            [NET_REACH_NAMED] = "somebody else",
                                            [NET_REACH_PUBLIC] = "the public" };
        static const char *const what[] = { [NET_TOUCH_QUOTA] = "a quota",
                                            [NET_TOUCH_MONEY] = "money",
                                            [NET_TOUCH_TICKET] = "a ticket",
                                            [NET_TOUCH_PERSON] = "a person" };
        _Static_assert(COUNT(what) == NET_TOUCH__COUNT, "a thing for each");
        bool far = n->reach > NET_REACH_SELF, first = true;
        if (!far && !n->touches)
                return;

        buf_puts(out, "- What it does at ");
        net_print(n, out);
        if (far)
                buf_printf(out, " reaches %s%s", whom[n->reach], n->touches ? " and" : "");

        for (unsigned i = 0; i < NET_TOUCH__COUNT; i++) {
                if (!(n->touches & 1u << i))
                        continue;
                buf_printf(out, "%s%s", first ? " touches " : ", ", what[i]);
                first = false;
        }

        buf_puts(out, ".\n");
}

static void worst_bounds(const struct net_dest *n, struct buf *out)
{
        if (!n->bounds)
                return;

        buf_puts(out, "- What it asks for at ");
        net_print(n, out);
        buf_puts(out, " is bound: ");
        for (size_t i = 0; i < n->bound_count; i++) {
                bool absent = n->bounds[i].type == BOUND_ABSENT;
                buf_printf(out, "%s%s is ", i ? "; " : "", n->bounds[i].name);
                if (absent)
                        buf_puts(out, "not there");
                else
                        bound_in_words(&n->bounds[i], out);
                if (n->bounds[i].optional && !absent)
                        buf_puts(out, ", or not there");
        }

        buf_puts(out, n->only ? "; no other parameter passes.\n" : "; other parameters pass unseen.\n");
}

/* The net doors by what labels make of them. */
static void worst_ways_out(const struct checked_policy *c, struct buf *out)
{
        static const struct {
                which_fn *which;
                const char *text;
                bool sends, labelled, first;
        } ways[] = {
                { stays_unasked, "It can send all it can read to ", true, false, false },
                { stays_asked, "If a person approves each, it can send all it can read to ", true, false,
                  false },
                { stays_asked_first, "Once a person has approved the first, it can send all it can read to ",
                  true, false, false },
                { closes_later, "It can send to these until it reads what is labelled ", true, true, false },
                { is_closed, "It can send nothing to these, for it holds from its start ", false, true,
                  true },
        };
        char size[32], text[LABEL_TEXT_MAX];
        for (size_t i = 0; i < COUNT(ways); i++) {
                struct label l = ways[i].first ? policy_label_handed(c) : policy_label_most(c);
                AUTO_BUF(names);
                name_doors(c, DOOR_NET, ways[i].which, &names);
                out->failed = out->failed || names.failed;
                if (names.n == 0)
                        continue;
                buf_printf(out, "- %s%s%s%s", ways[i].text, ways[i].labelled ? label_text(&l, text) : "",
                           ways[i].labelled ? ": " : "", buf_str(&names));
                if (ways[i].sends)
                        buf_printf(out, ", up to %s in all",
                                   str_from_size(c->limits.value[LIMIT_EGRESS], size));
                buf_puts(out, ".\n");
        }
}

static void worst_devices(const struct checked_policy *c, struct buf *out)
{
        for (size_t i = c->live.start[DOOR_DEV]; i < c->live.start[DOOR_DEV + 1]; i++)
                buf_printf(out, "- Of %s: %s.\n", c->live.v[i].path, policy_dev_cost(c->live.v[i].path));
        if (count_of(c, DOOR_DEV, DOOR_DEV) > 0)
                buf_puts(out, "- No other device can be made or opened: its mounts and capabilities see to "
                              "that, no "
                              "device rule of a control group.\n");
}

static void worst_sockets(const struct checked_policy *c, struct buf *out)
{
        for (size_t i = c->live.start[DOOR_SOCK]; i < c->live.start[DOOR_SOCK + 1]; i++)
                if (socket_danger(c->live.v[i].path))
                        buf_printf(out, "- %s is %s.\n", c->live.v[i].path, socket_danger(c->live.v[i].path));
}

static void worst_network(const struct checked_policy *c, struct buf *out)
{
        if (count_of(c, DOOR_NET, DOOR_NET) > 0) {
                worst_ways_out(c, out);
        } else if (count_of(c, DOOR_SOCK, DOOR_SOCK) == 0) {
                buf_puts(out, "- Without a net door nothing can be sent anywhere.\n");
        } else {
                buf_puts(out,
                         "- No net door is open, but the programs behind its sockets may send for it.\n");
        }

        put_sentence(c, DOOR_SOCK, "It can ask for anything that the program behind it does for you:", out);
        worst_sockets(c, out);
        put_sentence(c, DOOR_SIGN, "It can sign anything as you, commits and logins alike, with", out);
        put_sentence(c, DOOR_DECRYPT, "It can read whatever it has that was encrypted to", out);
        worst_devices(c, out);
        put_sentence(c, DOOR_LISTEN, "It can answer whatever connects to these ports of the loopback:", out);
        for (size_t i = c->live.start[DOOR_NET]; i < c->live.start[DOOR_NET + 1]; i++)
                if (c->live.v[i].net.credential)
                        buf_printf(out, "- It can act with the credential \"%s\", but not learn it.\n",
                                   c->live.v[i].net.credential);

        for (size_t i = c->live.start[DOOR_NET]; i < c->live.start[DOOR_NET + 1]; i++)
                worst_effects(&c->live.v[i].net, out);

        for (size_t i = c->live.start[DOOR_NET]; i < c->live.start[DOOR_NET + 1]; i++)
                worst_bounds(&c->live.v[i].net, out);
}

static void worst_rest(const struct checked_policy *c, struct buf *out)
{
        char a[32], b[32], d[32], e[32];
        put_sentence(c, DOOR_ENV, "It can read the values of", out);
        put_sentence(c, DOOR_OUT, "It can pass hostile bytes to the readers of", out);
        buf_printf(
                out,
                "- It can use up to %s of time, %s of memory, %s of disk and %llu process%s, and print %s.\n",
                str_from_ms(c->limits.value[LIMIT_TIME] * (1 + c->limits.value[LIMIT_RENEW]), a),
                str_from_size(c->limits.value[LIMIT_MEMORY], b),
                str_from_size(c->limits.value[LIMIT_DISK], d),
                (unsigned long long) c->limits.value[LIMIT_PROCS],
                c->limits.value[LIMIT_PROCS] == 1 ? "" : "es",
                str_from_size(c->limits.value[LIMIT_OUTPUT], e));
        if (policy_limit_ask(&c->limits, LIMIT_RENEW)[0])
                buf_printf(out,
                           "- Of that time %s are its own; for each renewal `cordon session renew` waits for "
                           "`cordon "
                           "approve`.\n",
                           str_from_ms(c->limits.value[LIMIT_TIME], a));

        if (c->without & WITHOUT_LANDLOCK)
                buf_puts(out, "- The policy gives up Landlock: one mechanism fewer stands behind the file "
                              "doors.\n");

        if (c->without & WITHOUT_CGROUP)
                buf_puts(out, "- The policy gives up cgroups: limits hold for single processes and by "
                              "sampling only.\n");
}

static void put_worst(const struct checked_policy *c, struct buf *out)
{
        worst_root(c, out);
        worst_files(c, out);
        worst_programs(c, out);
        worst_network(c, out);
        worst_rest(c, out);
        if (!wall_has(c->wall, WALL_PROGRAMS))
                buf_puts(out, "- It makes no system call: it is a module, and a fault of the engine that "
                              "runs it leads "
                              "into a box with these doors.\n");
}

void policy_doors_text(const struct checked_policy *c, const struct policy_staged *s, bool all,
                       struct buf *out)
{
        char value[32];
        buf_printf(out, "box %s", c->box.text);
        if (c->doc.text[0])
                buf_printf(out, ": %s", c->doc.text);

        buf_putc(out, '\n');
        if (c->root.text)
                buf_printf(out, "Root: the image %s, %s\n", show_text(c->root.text).text,
                           policy_runs_any(c) ? "changed in a private overlay that is thrown away"
                                              : "read-only");

        for (size_t g = 0; g < COUNT(groups); g++)
                group_text(c, g, all, out);

        local_text(c, out);
        buf_puts(out, "Limits:");
        for (int k = 0; k < LIMIT_KEY__COUNT; k++)
                if (c->limits.value[k] > 0)
                        buf_printf(out, " %s %s%s", policy_limit_name((enum limit_key) k),
                                   limit_print((enum limit_key) k, c->limits.value[k], value),
                                   policy_limit_ask(&c->limits, (enum limit_key) k));

        buf_printf(out, "\nWall: %s%s\n", wall_name(c->wall),
                   c->without & WITHOUT_COMPILER ? " without compiler" : "");
        buf_puts(out, "\nThe worst a hostile guest could do:\n");
        put_worst(c, out);
        if (s)
                staged_text(c, s, out);
}

void policy_doors_json(const struct checked_policy *c, const struct policy_staged *s, struct buf *out)
{
        AUTO_BUF(w);
        put_worst(c, &w);
        out->failed = out->failed || w.failed || !policy_digest(c)[0];
        buf_printf(out, "{\"digest\":\"%s\",\"policy\":", policy_digest(c));
        policy_canonical_json(c, out);
        buf_puts(out, ",\"worst\":[");
        for (const char *p = buf_str(&w); *p;) {
                size_t n = strcspn(p, "\n");
                buf_key(out, NULL);
                buf_json(out, span_of(p + 2, n - 2)); /* without "- " */
                p += n + (p[n] == '\n');
        }

        buf_putc(out, ']');
        if (s)
                staged_json(c, s, out);

        buf_puts(out, "}\n");
}
