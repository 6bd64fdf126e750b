/* SPDX-License-Identifier: MIT */
/* base/grant.c - the parts of a credential. Pure. */
#include "base/grant.h"

enum {
        KEY_ID_MIN = 3,   /* servers with keys of their own have short ones */
        KEY_ID_SEEN = 16, /* a shorter one could be any word */
};

bool grant_key_split(struct span text, struct grant_key *ret)
{
        struct grant_key k = { .id = span_cut(&text, ':') };
        k.secret = span_cut(&text, ':');
        k.token = text;
        if (k.id.n < KEY_ID_MIN || k.secret.n < GRANT_SECRET_MIN ||
            (k.token.n && (k.token.n < GRANT_SECRET_MIN || memchr(k.token.p, ':', k.token.n))))
                return false;

        for (size_t i = 0; i < k.id.n; i++) /* it stands in a list in a header */
                if (k.id.p[i] == '/' || k.id.p[i] == ',' || k.id.p[i] == '=')
                        return false;

        *ret = k;
        return true;
}

size_t grant_words(enum grant_where where, struct span secret, struct span ret[GRANT_WORDS])
{
        struct grant_key k;
        size_t n = 0;
        if (where != GRANT_SIGV4 || !grant_key_split(secret, &k)) {
                ret[0] = secret;
                return 1;
        }

        ret[n++] = k.secret;
        if (k.token.n)
                ret[n++] = k.token;
        if (k.id.n >= KEY_ID_SEEN)
                ret[n++] = k.id;

        return n;
}
