/* SPDX-License-Identifier: MIT */
/* effect/label/label.c - the lattice: tags and one bit, as text and as a set. A label that cannot be
 * represented is the worst one: a lost tag never cleans data. */
#include "effect/label/label.h"
#include "base/str.h"

#include <stdio.h>

static const char secret_prefix[] = "private:";
static const char foreign_word[] = "untrusted";

/* ---- sets ---- */

static bool find_tag(const struct label *l, const char *name, unsigned *ret_at)
{
        unsigned i = 0;
        while (i < l->count && strcmp(l->tag[i], name) < 0)
                i++;

        *ret_at = i;
        return i < l->count && strcmp(l->tag[i], name) == 0;
}

static void add_tag(struct label *l, const char *name)
{
        unsigned at;
        if (l->all || find_tag(l, name, &at))
                return;

        if (l->count == LABEL_TAGS_MAX) {
                *l = (struct label){ .untrusted = l->untrusted, .all = true };
                return;
        }

        memmove(l->tag[at + 1], l->tag[at], (l->count - at) * sizeof *l->tag);
        memset(l->tag[at], 0, sizeof *l->tag);
        memcpy(l->tag[at], name, strlen(name));
        l->count++;
}

void label_join(struct label *l, const struct label *with)
{
        l->untrusted = l->untrusted || with->untrusted;
        if (with->all)
                *l = (struct label){ .untrusted = l->untrusted, .all = true };

        for (unsigned i = 0; i < with->count; i++)
                add_tag(l, with->tag[i]);
}

void label_drop(struct label *l, const struct label *what)
{
        unsigned at;
        l->untrusted = l->untrusted && !what->untrusted;
        if (what->all)
                *l = (struct label){ .untrusted = l->untrusted };

        for (unsigned i = 0; i < what->count; i++) {
                if (!find_tag(l, what->tag[i], &at))
                        continue;
                memmove(l->tag[at], l->tag[at + 1], (l->count - at - 1u) * sizeof *l->tag);
                l->count--;
                memset(l->tag[l->count], 0, sizeof *l->tag);
        }
}

bool label_is_empty(const struct label *l) { return !l->untrusted && !label_has_secrecy(l); }
bool label_has_secrecy(const struct label *l) { return l->all || l->count > 0; }

bool label_secrecy_within(const struct label *l, const struct label *in)
{
        unsigned at;
        if (l->all)
                return false;

        for (unsigned i = 0; i < l->count; i++)
                if (!in->all && !find_tag(in, l->tag[i], &at))
                        return false;

        return true;
}

bool label_within(const struct label *l, const struct label *in)
{
        return (!l->untrusted || in->untrusted) && (in->all || label_secrecy_within(l, in));
}

bool label_equal(const struct label *a, const struct label *b)
{
        return label_within(a, b) && label_within(b, a) && a->all == b->all;
}

/* ---- text ---- */

static bool is_name(struct span s)
{
        if (s.n == 0 || s.n >= LABEL_NAME_MAX)
                return false;

        for (size_t i = 0; i < s.n; i++) {
                bool word = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
                            (s.p[i] >= '0' && s.p[i] <= '9');
                if (!word && (!s.p[i] || !strchr("._-", s.p[i])))
                        return false;
        }

        return true;
}

bool label_add(struct label *l, struct span word)
{
        char name[LABEL_NAME_MAX] = "";
        if (span_is(word, foreign_word)) {
                l->untrusted = true;
                return true;
        }

        if (!span_starts(word, secret_prefix))
                return false;

        struct span tag = span_of(word.p + strlen(secret_prefix), word.n - strlen(secret_prefix));
        if (span_is(tag, "*")) {
                *l = (struct label){ .untrusted = l->untrusted, .all = true };
                return true;
        }

        if (!is_name(tag))
                return false;

        memcpy(name, tag.p, tag.n);
        add_tag(l, name);
        return true;
}

int label_parse(struct span text, struct label *ret)
{
        struct label l = { 0 };
        for (struct span word; (word = str_word(&text)).n > 0;)
                if (!label_add(&l, word))
                        return -1;

        *ret = l;
        return 0;
}

const char *label_text(const struct label *l, char buf[LABEL_TEXT_MAX])
{
        size_t n = 0;
        buf[0] = '\0';
        for (unsigned i = 0; i < l->count; i++)
                n += (size_t) snprintf(buf + n, LABEL_TEXT_MAX - n, "%s%s%s", n ? " " : "", secret_prefix,
                                       l->tag[i]);

        if (l->all)
                n += (size_t) snprintf(buf + n, LABEL_TEXT_MAX - n, "%s*", secret_prefix);

        if (l->untrusted)
                (void) snprintf(buf + n, LABEL_TEXT_MAX - n, "%s%s", n ? " " : "", foreign_word);

        return buf;
}
_Static_assert(LABEL_TAGS_MAX *(sizeof secret_prefix + LABEL_NAME_MAX) + sizeof foreign_word <=
                       LABEL_TEXT_MAX,
               "every label has a text");

struct label label_worst(void) { return (struct label){ .untrusted = true, .all = true }; }

struct label label_of(const char *text)
{
        if (!text || !text[0])
                return (struct label){ 0 };

        struct label l = label_worst();
        (void) label_parse(span_str(text), &l);
        return l;
}
