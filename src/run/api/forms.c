/* SPDX-License-Identifier: MIT */
/* run/api/forms.c - placeholders in the files in which tools look for credentials: ~/.netrc and its like. The
 * text is made here, from the form that the vault keeps with the credential, and exists only in the box's own
 * memory. */
#include "run/api/forms.h"
#include "base/buf.h"
#include "broker/vault/vault.h"
#include "run/api/canaries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host { /* a host that a door leads to with this credential */
        const char *name;
        uint16_t port;
        bool tls;
};

/* The host that the box requests at a door with this credential. Returns false for a wildcard, which no file
 * can name. */
static bool host_of(const struct cordon_box *b, const struct door *d, const char *credential,
                    struct host *ret)
{
        if (d->kind != DOOR_NET || !d->net.credential || strcmp(d->net.credential, credential) != 0 ||
            d->net.wildcard)
                return false;

        if (d->net.form != NET_PLACE) {
                *ret = (struct host){ d->net.host, d->net.port, d->net.tls };
                return true;
        }

        const struct policy_place_url *u = policy_place_asked(b->places, d->net.host, b->c.stage);
        if (u)
                *ret = (struct host){ u->host, u->port, u->tls };

        return u != NULL;
}

static void put_hole(const struct vault_told *t, const struct host *h, struct span hole, struct buf *out)
{
        bool brackets = strchr(h->name, ':') != NULL;
        if (hole.n == 0)
                buf_puts(out, t->placeholder);
        else if (span_is(hole, "user"))
                buf_puts(out, t->user[0] ? t->user : BOX_USER);
        else
                buf_printf(out, "%s%s%s", brackets ? "[" : "", h->name, brackets ? "]" : "");

        if (span_is(hole, "host:port") && h->port != (h->tls ? 443 : 80))
                buf_printf(out, ":%u", h->port);
}

static void put_form(const struct vault_told *t, const struct host *h, struct buf *out)
{
        struct span hole;
        const char *at = t->form;
        for (size_t n; *at; at += n) {
                n = vault_form_hole(at, &hole);
                if (n > 0) {
                        put_hole(t, h, hole, out);
                        continue;
                }
                buf_putc(out, *at);
                n = 1;
        }

        if (out->n && out->p[out->n - 1] != '\n')
                buf_putc(out, '\n');
}

static bool is_new(const struct host *seen, size_t n, const struct host *h)
{
        for (size_t i = 0; i < n; i++)
                if (seen[i].port == h->port && strcmp(seen[i].name, h->name) == 0)
                        return false;
        return true;
}

/* Once for each host; once in all if the form names none. */
static void put_hosts(const struct cordon_box *b, const struct vault_told *t, struct buf *out)
{
        struct host seen[GRANTS_MAX], h;
        size_t count = 0, most = strstr(t->form, "{host") ? GRANTS_MAX : 1;
        for (const struct door *d = NULL; count < most && (d = policy_door_next(b->policy->checked, d));) {
                if (!host_of(b, d, t->name, &h) || !is_new(seen, count, &h))
                        continue;
                seen[count++] = h;
                put_form(t, &h, out);
        }
}

struct plan_file *api_forms(const struct cordon_box *b, size_t *ret_count, struct err *e)
{
        size_t n = 0;
        struct plan_file *v = calloc(b->told_count + API_CANARIES_OWN + 1, sizeof *v);
        bool whole = v != NULL;

        for (size_t i = 0; whole && i < b->told_count; i++) {
                const struct vault_told *t = &b->told[i];
                bool first = t->file[0] != '\0';
                for (size_t k = 0; k < i && first; k++)
                        first = strcmp(b->told[k].file, t->file) != 0;
                if (!first)
                        continue;
                AUTO_BUF(text); /* of every credential that goes into this file */
                for (size_t k = i; k < b->told_count; k++)
                        if (strcmp(b->told[k].file, t->file) == 0)
                                put_hosts(b, &b->told[k], &text);
                char *path = NULL;
                whole = asprintf(&path, BOX_HOME "/%s", t->file) >= 0 && !text.failed;
                v[n++] = (struct plan_file){ whole ? path : NULL, whole ? strdup(buf_str(&text)) : NULL };
                whole = whole && v[n - 1].text;
        }

        whole = whole && api_canary_files(b, v, &n) == 0;
        *ret_count = n;
        if (whole)
                return v;

        api_forms_free(v, n);
        (void) err_set(e, ERR_MEMORY, 0, "no memory for the files of credentials");
        return NULL;
}

void api_forms_free(struct plan_file *v, size_t count)
{
        for (size_t i = 0; v && i < count; i++) {
                free((char *) (uintptr_t) v[i].path);
                free((char *) (uintptr_t) v[i].text);
        }
        free(v);
}
