/* SPDX-License-Identifier: MIT */
/* broker/vault/life.c - the maximum lifetime of credentials, and the audit of a vault: lifetimes that are too
 * long or grew, and secrets that any policy may send anywhere. Pure. */
#include "base/str.h"
#include "broker/vault/vault.h"

enum { DAY_S = 86400, LIVE_DAYS = 90, TEST_DAYS = 365 };

/* The maximum lifetime of a class. A leaked live credential compromises a live account, so it must be
 * replaced sooner. */
static const int64_t most[] = { [0] = TEST_DAYS * DAY_S, [1] = LIVE_DAYS * DAY_S };

int64_t vault_life_most(bool live) { return most[live]; }

static int64_t lifetime(const struct vault_meta *m) { return m->expires ? m->expires - m->created : 0; }

/* 0 means unlimited. */
static bool is_longer(int64_t a, int64_t b) { return b != 0 && (a == 0 || a > b); }

static const char *in_words(int64_t s, char buf[32])
{
        if (s == 0)
                return "for ever";
        return str_from_ms((uint64_t) s * 1000, buf);
}

int vault_life_judge(const struct vault_meta *m, struct err *e)
{
        char is[32], may[32];
        if (!is_longer(lifetime(m), most[m->live != 0]))
                return 0;

        (void) err_set(e, ERR_USAGE, 0, "class %s allows a life of at most %s (got %s)",
                       m->live ? "live" : "test", in_words(most[m->live != 0], may),
                       in_words(lifetime(m), is));
        return err_hint(e, "--ttl %s or less, and `cordon vault rotate %s` before it ends", may, m->name);
}

void vault_life_renew(struct vault_meta *m, int64_t ttl, int64_t now)
{
        int64_t was = lifetime(m), next = ttl ? ttl : was ? was : most[m->live != 0];
        if (m->ttl_count == VAULT_TTLS)
                for (unsigned i = 1; i < VAULT_TTLS; i++)
                        m->ttl_was[i - 1] = m->ttl_was[i];
        else
                m->ttl_count++;

        m->ttl_was[m->ttl_count - 1] = was;
        m->created = now;
        m->expires = now + next;
}

static bool grew_old(const struct vault_meta *m)
{
        if (m->ttl_count < VAULT_TTLS)
                return false;
        for (unsigned i = 0; i < VAULT_TTLS; i++)
                if (!is_longer(i + 1 < VAULT_TTLS ? m->ttl_was[i + 1] : lifetime(m), m->ttl_was[i]))
                        return false;
        return true;
}

bool vault_owes(const struct vault_meta *m, enum vault_debt d, int64_t now)
{
        switch (d) {
        case VAULT_DEBT_LIFETIME:
                return is_longer(lifetime(m), most[m->live != 0]);
        case VAULT_DEBT_GROWTH:
                return grew_old(m);
        case VAULT_DEBT_EXPIRED:
                return m->expires && m->expires <= now;
        case VAULT_DEBT_UNBOUND:
                return m->scope[0] == '\0';
        case VAULT_DEBT__COUNT:
                break;
        }
        return false;
}

const char *vault_debt_name(enum vault_debt d)
{
        static const char *const names[] = { [VAULT_DEBT_LIFETIME] = "lifetime",
                                             [VAULT_DEBT_GROWTH] = "growth",
                                             [VAULT_DEBT_EXPIRED] = "expired",
                                             [VAULT_DEBT_UNBOUND] = "unbound" };
        return (unsigned) d < VAULT_DEBT__COUNT ? names[d] : "?";
}

static void print_growth(const struct vault_meta *m, struct buf *out)
{
        char text[32];
        buf_puts(out, "its lifetime grew at each of its last three rotations: ");
        for (unsigned i = 0; i < m->ttl_count; i++)
                buf_printf(out, "%s, ", in_words(m->ttl_was[i], text));
        buf_puts(out, in_words(lifetime(m), text));
}

void vault_debt_print(const struct vault_meta *m, enum vault_debt d, struct buf *out)
{
        char is[32], may[32];
        if (d == VAULT_DEBT_LIFETIME)
                buf_printf(out, "it lives %s, and class %s may live %s", in_words(lifetime(m), is),
                           m->live ? "live" : "test", in_words(most[m->live != 0], may));
        else if (d == VAULT_DEBT_GROWTH)
                print_growth(m, out);
        else
                buf_puts(out, d == VAULT_DEBT_EXPIRED
                                      ? "it has expired"
                                      : "not bound to a destination: any policy can send it anywhere");
}

void vault_debt_next(const struct vault_meta *m, enum vault_debt d, struct buf *out)
{
        char ttl[32];
        int64_t first = d == VAULT_DEBT_GROWTH && m->ttl_was[0] ? m->ttl_was[0] : most[m->live != 0];
        if (d == VAULT_DEBT_UNBOUND)
                buf_printf(out, "cordon vault rotate %s --for 'https://<HOST>/<PATH>/** GET'", m->name);
        else if (d == VAULT_DEBT_EXPIRED)
                buf_printf(out, "cordon vault rotate %s", m->name);
        else
                buf_printf(out, "cordon vault rotate %s --ttl %s", m->name, in_words(first, ttl));
}
