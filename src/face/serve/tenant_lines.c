/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_lines.c - which door lines a request may contain at all. The ceiling decides how wide
 * they are; this decides that they name no file of the host, not even to be told that it is missing. Pure. */
#include "face/serve/tenant.h"

#include "base/str.h"

#include <string.h>

enum { LINE_WORDS_MAX = 64 };

struct words {
        struct span v[LINE_WORDS_MAX];
        size_t n;
};

static bool only_work(const struct words *w) { return w->n == 2 && span_is(w->v[1], "{work}"); }

static bool any_words(const struct words *w)
{
        for (size_t i = 1; i < w->n; i++)
                if (memchr(w->v[i].p, '{', w->v[i].n))
                        return false;
        return true;
}

/* By its digest: a path or a name would be looked up on the host. */
static bool only_stored(const struct words *w)
{
        static const char mark[] = "sha256:";
        size_t n = sizeof mark - 1;
        if (w->n != 2 || w->v[1].n < n + 12 || memcmp(w->v[1].p, mark, n) != 0)
                return false;
        for (size_t i = n; i < w->v[1].n; i++)
                if (!strchr("0123456789abcdef", w->v[1].p[i]) || !w->v[1].p[i])
                        return false;
        return true;
}

static bool only_stock(const struct words *w)
{
        for (size_t i = 1; i < w->n; i++) {
                char name[64];
                if (w->v[i].n >= sizeof name)
                        return false;
                memcpy(name, w->v[i].p, w->v[i].n);
                name[w->v[i].n] = '\0';
                if (strcmp(name, "none") != 0 && !cordon_stock_text(name))
                        return false;
        }

        return w->n > 1;
}

/* A schema is a file; a place is in one. */
static bool no_files(const struct words *w)
{
        for (size_t i = 1; i < w->n; i++)
                if (memchr(w->v[i].p, '(', w->v[i].n) || w->v[i].p[0] == '@')
                        return false;
        return any_words(w);
}

static const struct {
        const char *word;
        bool (*allowed)(const struct words *w);
        const char *why;
} rules[] = {
        { "use", only_stock, "`use` of a request names stock policies only" },
        { "read", only_work, "file doors of a request are for {work}, and for nothing below or beside it" },
        { "edit", only_work, "file doors of a request are for {work}, and for nothing below or beside it" },
        { "write", only_work, "file doors of a request are for {work}, and for nothing below or beside it" },
        { "root", only_stored, "`root` of a request names an image of the tenant: sha256:ID" },
        { "run", any_words, "`run` of a request names programs" },
        { "env", any_words, "`env` of a request names variables" },
        { "net", no_files, "`net` of a request names hosts: no places and no schemas" },
        { "gpu", any_words, "`gpu` of a request has numbers" },
        { "limit", any_words, "`limit` of a request has numbers" },
        { "doc", any_words, "`doc` has text" },
        { "local", any_words, "`local` has words" },
        { "expect", any_words, "`expect` has words" },
};

static bool split(struct span line, struct words *ret)
{
        ret->n = 0;
        for (size_t i = 0; i < line.n;) {
                size_t end = i;
                while (end < line.n && line.p[end] != ' ' && line.p[end] != '\t')
                        end++;
                if (end > i && ret->n == LINE_WORDS_MAX)
                        return false;
                if (end > i)
                        ret->v[ret->n++] = span_of(line.p + i, end - i);
                i = end + 1;
        }

        return true;
}

static const char *nearest_word(struct span word)
{
        char text[32];
        const char *nearest = NULL;
        if (word.n >= sizeof text)
                return NULL;

        memcpy(text, word.p, word.n);
        text[word.n] = '\0';
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
                str_nearer(text, rules[i].word, &nearest);
        return nearest;
}

static bool line_allowed(struct span line, struct lines_refusal *ret)
{
        struct words w;
        ret->column = 1;
        ret->why = "a line of the request has too many words, or a character that lines do not need";
        for (size_t i = 0; i < line.n; i++)
                if ((line.p[i] < 0x20 && line.p[i] != '\t') || line.p[i] == 0x7f || line.p[i] == '\\')
                        return false;

        if (!split(line, &w))
                return false;

        if (w.n == 0 || w.v[0].p[0] == '#')
                return true;

        ret->column = (unsigned) (w.v[0].p - line.p) + 1;
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
                if (span_is(w.v[0], rules[i].word)) {
                        ret->why = rules[i].why;
                        return rules[i].allowed(&w);
                }

        ret->nearest = nearest_word(w.v[0]);
        ret->why = "a request may have the lines use, read, edit, write, root, run, env, net, gpu, limit, "
                   "local, "
                   "doc and expect";
        return false;
}

bool tenant_lines_allowed(const char *text, size_t len, struct lines_refusal *ret)
{
        *ret = (struct lines_refusal){ 0 };
        for (size_t at = 0; at < len;) {
                const char *end = memchr(text + at, '\n', len - at);
                size_t n = end ? (size_t) (end - text) - at : len - at;
                ret->line++;
                if (!line_allowed(span_of(text + at, n), ret))
                        return false;
                at += n + 1;
        }

        return true;
}
