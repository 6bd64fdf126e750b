/* SPDX-License-Identifier: MIT */
/* face/cli/agent_held.c - what a run left in an agent's state against what a person accepted. Before and
 * after each run the parts that start code are set to their accepted values; what the run made of them waits
 * in the state directory, which no box sees, for `cordon agent accept`. */
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/agent_look.h"
#include "face/cli/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char removed[] = "null"; /* the value of a removed part that waits */

struct held {
        const struct cli_agent *a;
        const char *home;
        int dir;
        struct cli_items accepted, waiting, now;
};

static void held_done(struct held *h)
{
        cli_items_done(&h->accepted);
        cli_items_done(&h->waiting);
        cli_items_done(&h->now);
        fd_close(&h->dir);
}
#define AUTO_HELD(name, agent, of)                                                                           \
        __attribute__((cleanup(held_done))) struct held name = { .a = (agent), .home = (of), .dir = -1 }

/* ---- what is kept between runs ---- */

static const char *list_name(const struct held *h, bool waiting, char ret[static 96])
{
        (void) snprintf(ret, 96, "%s/%s", waiting ? "held" : "agents", h->a->name);
        return ret;
}

static int load(const struct held *h, bool waiting, struct cli_items *ret, bool *ret_none)
{
        char name[96];
        cordon_error e = { 0 };
        char *text = cordon_pins_read(cli_context(), list_name(h, waiting, name), &e);
        if (!text)
                return cli_error(&e), -1;

        *ret_none = !text[0];
        int status = *ret_none ? 0 : cli_items_read(ret, text);
        cordon_free(text);
        if (status < 0)
                (void) cli_problem("what is kept of %s cannot be read", h->a->name);
        return status;
}

static int save(const struct held *h, bool waiting, const struct cli_items *list)
{
        char name[96];
        cordon_error e = { 0 };
        AUTO_BUF(text);
        cli_items_put(list, &text);
        if (text.failed)
                return cli_problem("no memory"), -1;
        if (cordon_pins_write(cli_context(), list_name(h, waiting, name),
                              waiting && list->n == 0 ? NULL : text.p, &e) < 0)
                return cli_error(&e), -1;
        return 0;
}

/* Of a new state the file that cordon writes into it is accepted. */
static int open_held(struct held *h)
{
        bool none = false, ignored, itself;
        h->dir = open(h->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (h->dir < 0 || flock(h->dir, LOCK_EX) < 0)
                return cli_problem("the agent's home %s: %s", h->home, strerror(errno)), -1;

        if (load(h, false, &h->accepted, &none) < 0 || load(h, true, &h->waiting, &ignored) < 0)
                return -1;

        const struct cli_part *p =
                none && h->a->first_file ? cli_part_of(h->a->parts, h->a->first_file, &itself) : NULL;
        if (p)
                (void) cli_members_add(p, h->a->first_file, span_str(h->a->first_text), &h->accepted);
        return 0;
}

/* ---- comparing ---- */

/* Calls `each` for every key of the two lists, in order. */
static void each_key(const struct cli_items *a, const struct cli_items *b,
                     void (*each)(void *ctx, const char *key, const char *in_a, const char *in_b), void *ctx)
{
        for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
                int order = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->v[i].key, b->v[k].key);
                const char *key = order <= 0 ? a->v[i].key : b->v[k].key;
                each(ctx, key, order <= 0 ? a->v[i].value : NULL, order >= 0 ? b->v[k].value : NULL);
                i += order <= 0;
                k += order >= 0;
        }
}

static bool differs(const struct held *h, const char *key, const char *a, const char *b)
{
        bool itself = false;
        const struct cli_part *p = cli_part_of(h->a->parts, key, &itself);
        return cli_part_differs(itself ? p : NULL, a, b);
}

struct changes {
        struct held *h;
        struct cli_items paths;   /* to be set to what was accepted */
        struct cli_items learned; /* settings of which nothing is held */
        struct buf names;
        size_t count;
};

static void changes_done(struct changes *c)
{
        cli_items_done(&c->paths);
        cli_items_done(&c->learned);
        buf_done(&c->names);
}

static void put_name(const char *key, struct buf *out)
{
        bool first = true;
        for (const char *c = key; *c; c++) {
                if (*c != CLI_ITEM_MEMBER)
                        buf_putc(out, *c);
                else
                        buf_puts(out, first ? ": " : ".");
                first &= *c != CLI_ITEM_MEMBER;
        }
}

static const char *path_of(const char *key, char ret[static PATH_MAX])
{
        (void) snprintf(ret, PATH_MAX, "%.*s", (int) strcspn(key, (char[]){ CLI_ITEM_MEMBER, '\0' }), key);
        return ret;
}

static void note_change(void *ctx, const char *key, const char *was, const char *now)
{
        enum { NAMED = 4 };
        struct changes *c = ctx;
        char path[PATH_MAX];
        if (!differs(c->h, key, was, now)) {
                if (now && (!was || strcmp(was, now) != 0))
                        cli_items_set(&c->learned, key, now);
                return;
        }

        cli_items_set(&c->paths, path_of(key, path), removed);
        cli_items_set(&c->h->waiting, key, now ? now : removed);
        if (c->count++ < NAMED) {
                buf_puts(&c->names, c->count > 1 ? ", " : "");
                put_name(key, &c->names);
        }
}

/* ---- setting ---- */

static bool has_members(const struct cli_items *l, const char *path)
{
        size_t n = strlen(path);
        for (size_t i = 0; i < l->n; i++)
                if (strncmp(l->v[i].key, path, n) == 0 && l->v[i].key[n] == CLI_ITEM_MEMBER)
                        return true;
        return false;
}

/* Sets what is at a path to its accepted value. */
static int restore(const struct held *h, const char *path)
{
        const char *whole = cli_items_get(&h->accepted, path);
        bool members = has_members(&h->accepted, path) || has_members(&h->now, path);
        if ((whole || !members || cli_items_get(&h->now, path)) && cli_put_back(h->dir, path, whole) < 0)
                return -1;
        return whole || !members ? 0 : cli_put_members(h->dir, path, &h->now, &h->accepted);
}

static int restore_all(const struct held *h, const struct cli_items *paths)
{
        for (size_t i = 0; i < paths->n; i++)
                if (restore(h, paths->v[i].key) < 0)
                        return cli_problem("%s in %s cannot be set to what was accepted: %s", paths->v[i].key,
                                           h->home, strerror(errno)),
                               -1;
        return 0;
}

/* More than can be compared: the agent begins anew, and nothing is lost. */
static int set_aside(struct held *h)
{
        char name[64];
        (void) snprintf(name, sizeof name, "aside.%lld.%d", (long long) time(NULL), (int) getpid());
        if (mkdirat(h->dir, name, 0700) < 0)
                return cli_problem("%s: %s", h->home, strerror(errno)), -1;

        for (const char *const *s = h->a->state; *s; s++) {
                char to[PATH_MAX];
                (void) snprintf(to, sizeof to, "%s/%zu", name, (size_t) (s - h->a->state));
                if (renameat(h->dir, *s, h->dir, to) < 0 && errno != ENOENT)
                        return cli_problem("%s/%s: %s", h->home, *s, strerror(errno)), -1;
        }

        cli_note("the agent's state has more than can be compared (%d files, %d MiB of configuration), or "
                 "what "
                 "cannot be read: it is in %s/%s now, and the agent begins anew",
                 CLI_ITEMS_MAX, CLI_ITEMS_BYTES >> 20, h->home, name);
        cli_items_done(&h->now);
        return cli_agent_state(h->a, h->home);
}

static void look(struct held *h)
{
        cli_items_done(&h->now);
        cli_look(h->a->parts, h->a->state, h->dir, &h->now);
}

static int restore_accepted(const struct held *h)
{
        AUTO_ITEMS(paths);
        char path[PATH_MAX];
        for (size_t i = 0; i < h->accepted.n; i++)
                cli_items_set(&paths, path_of(h->accepted.v[i].key, path), removed);
        return restore_all(h, &paths);
}

static int forget(const struct held *h)
{
        const struct cli_items none = { 0 };
        return save(h, true, &none);
}

/* First it is kept, then taken out of the state: a crash loses nothing. */
static int hold(struct held *h, const struct changes *c)
{
        if (c->count > 0 && !h->waiting.failed && save(h, true, &h->waiting) < 0)
                return -1;
        if (restore_all(h, &c->paths) < 0)
                return -1;

        for (size_t i = 0; i < c->learned.n; i++)
                cli_items_set(&h->accepted, c->learned.v[i].key, c->learned.v[i].value);
        return c->learned.n > 0 && !h->accepted.failed ? save(h, false, &h->accepted) : 0;
}

static void say(const struct held *h, const struct changes *c)
{
        char more[32] = "";
        if (c->count > 4)
                (void) snprintf(more, sizeof more, " and %zu more", c->count - 4);
        cli_note("the agent changed its own configuration: %s%s; held back until `cordon agent accept %s`%s",
                 buf_str(&c->names), more, h->a->name,
                 h->waiting.failed ? ", which cannot show it: it is too large, and is gone" : "");
}

int cli_agent_settle(const struct cli_agent *a, const char *home, bool quiet)
{
        enum { TRIES = 3 }; /* another run of the agent may be writing */
        AUTO_HELD(h, a, home);
        if (open_held(&h) < 0)
                return -1;

        for (unsigned i = 0; i < TRIES; i++) {
                __attribute__((cleanup(changes_done))) struct changes c = { .h = &h };
                look(&h);
                if (h.now.failed)
                        return set_aside(&h) < 0 ? -1 : restore_accepted(&h);

                each_key(&h.accepted, &h.now, note_change, &c);
                if (c.paths.failed || c.learned.failed || hold(&h, &c) < 0)
                        return -1;
                if (c.count == 0)
                        return 0;
                if (!quiet && i == 0)
                        say(&h, &c);
        }

        return cli_problem("the configuration in %s keeps changing: is another run writing it?", home), -1;
}

/* ---- accepting ---- */

struct shown {
        const struct held *h;
        struct buf *out;
        bool json;
        size_t count;
};

static void put_text(struct buf *out, const char *sign, const char *text)
{
        for (size_t n; *text; text += n + (text[n] == '\n')) {
                n = strcspn(text, "\n");
                char *line = malloc(10 * n + 16);
                buf_printf(out, "%s %s\n", sign,
                           line ? str_inert(span_of(text, n), line, 10 * n + 16) : "(no memory)");
                free(line);
        }
}

/* The value as a person reads it. */
static void put_value(struct buf *out, const char *sign, const char *key, const char *value)
{
        struct cli_file is = { 0 };
        AUTO_BUF(bytes);
        if (!value)
                return;
        if (!strchr(key, CLI_ITEM_MEMBER) && cli_link_read(value, &bytes)) {
                char to[PATH_MAX];
                buf_printf(out, "%s a link to %s, which its runs may then read\n", sign,
                           str_inert(buf_span(&bytes), to, sizeof to));
                return;
        }
        if (strchr(key, CLI_ITEM_MEMBER) || cli_file_read(value, &is, &bytes) < 0) {
                put_text(out, sign, value);
                return;
        }

        if (is.run)
                buf_printf(out, "%s (executable)\n", sign);
        if (strlen(buf_str(&bytes)) == bytes.n)
                put_text(out, sign, buf_str(&bytes));
        else
                buf_printf(out, "%s (%zu bytes that are not text)\n", sign, bytes.n);
}

static void put_held(struct shown *s, const char *key, const char *was, const char *now)
{
        AUTO_BUF(name);
        char inert[PATH_MAX];
        put_name(key, &name);
        s->count++;
        if (s->json) {
                buf_puts(s->out, s->count > 1 ? "," : "");
                buf_puts(s->out, "{\"name\":");
                buf_json(s->out, buf_span(&name));
                buf_printf(s->out, ",\"was\":%s,\"now\":%s}", was ? was : "null", now ? now : "null");
                return;
        }

        buf_printf(s->out, "%s%s\n", str_inert(buf_span(&name), inert, sizeof inert),
                   now ? "" : " (removed)");
        put_value(s->out, "-", key, was);
        put_value(s->out, "+", key, now);
}

static const char *value_of(const struct cli_item *x)
{
        return strcmp(x->value, removed) == 0 ? NULL : x->value;
}

static size_t show(const struct held *h, bool json, struct buf *out)
{
        struct shown s = { h, out, json, 0 };
        buf_puts(out, json ? "[" : "");
        for (size_t i = 0; i < h->waiting.n; i++) {
                const struct cli_item *x = &h->waiting.v[i];
                const char *was = cli_items_get(&h->accepted, x->key), *now = value_of(x);
                if (differs(h, x->key, was, now))
                        put_held(&s, x->key, was, now);
        }

        buf_puts(out, json ? "]\n" : "");
        return s.count;
}

/* A file as a whole and members of it exclude each other. */
static void accept_one(struct held *h, const struct cli_item *x)
{
        char path[PATH_MAX];
        const char *value = value_of(x);
        if (value && strchr(x->key, CLI_ITEM_MEMBER))
                cli_items_set(&h->accepted, path_of(x->key, path), NULL);

        size_t n = strlen(x->key);
        for (size_t i = h->accepted.n; value && i-- > 0;)
                if (strncmp(h->accepted.v[i].key, x->key, n) == 0 &&
                    h->accepted.v[i].key[n] == CLI_ITEM_MEMBER)
                        cli_items_set(&h->accepted, h->accepted.v[i].key, NULL);
        cli_items_set(&h->accepted, x->key, value);
}

static int take(struct held *h)
{
        AUTO_ITEMS(paths);
        char path[PATH_MAX];
        for (size_t i = 0; i < h->waiting.n; i++) {
                accept_one(h, &h->waiting.v[i]);
                cli_items_set(&paths, path_of(h->waiting.v[i].key, path), removed);
        }

        if (h->accepted.failed || paths.failed)
                return cli_problem("this is more than a state can have: %d MiB", CLI_ITEMS_BYTES >> 20), -1;

        look(h);
        return save(h, false, &h->accepted) < 0 || restore_all(h, &paths) < 0 ? -1 : forget(h);
}

int cli_agent_held(const struct cli_agent *a, const char *home, bool json, struct buf *out)
{
        AUTO_HELD(h, a, home);
        return open_held(&h) < 0 ? -1 : (int) show(&h, json, out);
}

int cli_agent_links(const struct cli_agent *a, const char *home, void (*each)(void *ctx, const char *target),
                    void *ctx)
{
        AUTO_HELD(h, a, home);
        if (open_held(&h) < 0)
                return -1;

        for (size_t i = 0; i < h.accepted.n; i++) {
                const struct cli_item *x = &h.accepted.v[i];
                char from[PATH_MAX], to[PATH_MAX];
                AUTO_BUF(target);
                if (strchr(x->key, CLI_ITEM_MEMBER) || !x->value || !cli_link_read(x->value, &target))
                        continue;
                if (path_join(home, x->key, from, sizeof from) &&
                    (from[str_parent(from, strlen(from))] = '\0',
                     path_join(from, buf_str(&target), to, sizeof to)))
                        each(ctx, to);
        }

        return 0;
}

int cli_agent_take(const struct cli_agent *a, const char *home, const char *shown)
{
        AUTO_HELD(h, a, home);
        AUTO_BUF(again);
        if (open_held(&h) < 0)
                return -1;
        if (!shown)
                return forget(&h);

        (void) show(&h, false, &again);
        if (strcmp(buf_str(&again), shown) != 0)
                return cli_problem("a run of %s changed it meanwhile: look again", a->name), -1;
        return take(&h);
}
