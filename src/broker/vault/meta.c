/* SPDX-License-Identifier: MIT */
/* broker/vault/meta.c - the metadata of a credential, without its secret: where it goes, for how long, how
 * often. */
#include "base/json.h"
#include "base/str.h"
#include "broker/vault/vault.h"

#include <stdio.h>
#include <string.h>

static const char *const where_names[] = {
        [GRANT_NOWHERE] = "nowhere", [GRANT_HEADER] = "header", [GRANT_QUERY] = "query",
        [GRANT_BASIC] = "basic",     [GRANT_BODY] = "body",     [GRANT_SIGV4] = "sigv4"
};
_Static_assert(sizeof where_names / sizeof *where_names == GRANT_WHERE__COUNT, "a name for each");

static const char *const protect_names[] = { [VAULT_PROTECT_DEFAULT] = "default",
                                             [VAULT_BY_FILE] = "file",
                                             [VAULT_BY_PASSPHRASE] = "passphrase",
                                             [VAULT_BY_KEYRING] = "keyring" };
_Static_assert(sizeof protect_names / sizeof *protect_names == VAULT_PROTECT__COUNT, "a name for each");

const char *vault_where_name(enum grant_where w) { return where_names[w]; }
const char *vault_protect_name(enum vault_protect p) { return protect_names[p]; }

static bool made_of(const char *s, const char *extra)
{
        for (; *s; s++) {
                bool plain = (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
                if (!plain && !strchr(extra, *s))
                        return false;
        }
        return true;
}

bool vault_name_ok(const char *name)
{
        size_t n = strlen(name);
        return n > 0 && n < GRANT_NAME && name[0] != '.' && made_of(name, "._-");
}

/* A key of AWS has a variable for each of its parts, with colons between them. */
static bool env_ok(const struct vault_meta *m)
{
        const char *s = m->env;
        return made_of(s, m->where == GRANT_SIGV4 ? "_:" : "_") && !(s[0] >= '0' && s[0] <= '9');
}

static bool visible_text(const char *s)
{
        for (; *s; s++)
                if (*s < 0x20 || *s > 0x7e)
                        return false;
        return true;
}

/* The broker controls framing and routing: these headers cannot carry a credential. */
static bool field_ok(const struct vault_meta *m)
{
        static const char *const taken[] = { "host", "content-length", "transfer-encoding", "connection",
                                             "upgrade" };
        if (m->where == GRANT_BODY || m->where == GRANT_SIGV4)
                return m->field[0] == '\0';

        for (size_t i = 0; m->where == GRANT_HEADER && i < sizeof taken / sizeof *taken; i++)
                if (strcasecmp(m->field, taken[i]) == 0)
                        return false;

        const char *extra = m->where == GRANT_HEADER ? "-_" : "-_.@+";
        return m->field[0] && made_of(m->field, extra) && visible_text(m->before) && visible_text(m->after);
}

static int copy_text(char *to, size_t cap, const char *from, size_t n)
{
        if (n >= cap)
                return -1;
        memcpy(to, from, n);
        to[n] = '\0';
        return 0;
}

int vault_header_read(const char *text, struct vault_meta *m, struct err *e)
{
        const char *colon = strchr(text, ':'), *hole = colon ? strstr(colon, "{}") : NULL;
        const char *value = colon ? colon + 1 + strspn(colon + 1, " ") : NULL;
        m->where = GRANT_HEADER;
        if (!hole || hole < value || strstr(hole + 2, "{}") ||
            copy_text(m->field, sizeof m->field, text, (size_t) (colon - text)) < 0 ||
            copy_text(m->before, sizeof m->before, value, (size_t) (hole - value)) < 0 ||
            copy_text(m->after, sizeof m->after, hole + 2, strlen(hole + 2)) < 0 || !field_ok(m)) {
                (void) err_set(e, ERR_USAGE, 0, "this is not a header with one {} for the secret");
                return err_hint(e, "use --header 'Authorization: Bearer {}'");
        }

        return 0;
}

static void print_scope(const char *scope, struct buf *out)
{
        buf_puts(out, ",\"for\":[");
        for (const char *p = scope; *p;) {
                size_t n = strcspn(p, "\n");
                buf_puts(out, p > scope ? "," : "");
                buf_json(out, span_of(p, n));
                p += n + (p[n] == '\n');
        }

        buf_putc(out, ']');
}

void vault_meta_print(const struct vault_meta *m, struct buf *out)
{
        const struct {
                const char *key, *text;
        } texts[] = { { "name", m->name },
                      { "env", m->env },
                      { "file", m->file },
                      { "form", m->form },
                      { "where", where_names[m->where] },
                      { "field", m->field },
                      { "before", m->before },
                      { "after", m->after },
                      { "class", m->live ? "live" : "test" } };

        buf_putc(out, '{');
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                buf_printf(out, "%s\"%s\":", i ? "," : "", texts[i].key);
                buf_json(out, span_str(texts[i].text));
        }

        buf_printf(out, ",\"created\":%lld,\"expires\":%lld,\"max_uses\":%llu", (long long) m->created,
                   (long long) m->expires, (unsigned long long) m->max_uses);
        print_scope(m->scope, out);
        buf_puts(out, ",\"ttl_was\":[");
        for (unsigned i = 0; i < m->ttl_count; i++)
                buf_printf(out, "%s%lld", i ? "," : "", (long long) m->ttl_was[i]);

        buf_puts(out, "]}");
}

static int take_text(const struct json *o, const char *key, char *to, size_t cap)
{
        const struct json *v = json_get(o, key);
        return v && v->type == JSON_STRING ? copy_text(to, cap, v->str, v->len) : -1;
}

/* Older entries have none. */
static int take_if_there(const struct json *o, const char *key, char *to, size_t cap)
{
        return json_get(o, key) ? take_text(o, key, to, cap) : 0;
}

static int take_number(const struct json *o, const char *key, int64_t *ret)
{
        const struct json *v = json_get(o, key);
        if (!v || v->type != JSON_INT || v->integer < 0)
                return -1;
        *ret = v->integer;
        return 0;
}

static int take_scope(const struct json *o, struct vault_meta *m)
{
        const struct json *v = json_get(o, "for");
        size_t at = 0;
        if (v && v->type != JSON_ARRAY)
                return -1;

        for (const struct json *x = v ? v->child : NULL; x; x = x->next) {
                if (x->type != JSON_STRING || x->len == 0 || x->len + 2 > sizeof m->scope - at ||
                    memchr(x->str, '\n', x->len) || memchr(x->str, '\0', x->len))
                        return -1;
                memcpy(m->scope + at, x->str, x->len);
                at += x->len;
                m->scope[at++] = '\n';
        }

        m->scope[at] = '\0';
        return 0;
}

static int take_ttls(const struct json *o, struct vault_meta *m)
{
        const struct json *v = json_get(o, "ttl_was");
        if (v && v->type != JSON_ARRAY)
                return -1;

        for (const struct json *x = v ? v->child : NULL; x; x = x->next) {
                if (x->type != JSON_INT || x->integer < 0 || m->ttl_count == VAULT_TTLS)
                        return -1;
                m->ttl_was[m->ttl_count++] = x->integer;
        }

        return 0;
}

static int read_object(const struct json *o, struct vault_meta *m)
{
        char where[16], class[16];
        int64_t uses;
        if (o->type != JSON_OBJECT || take_text(o, "name", m->name, sizeof m->name) < 0 ||
            take_text(o, "env", m->env, sizeof m->env) < 0 ||
            take_if_there(o, "file", m->file, sizeof m->file) < 0 ||
            take_if_there(o, "form", m->form, sizeof m->form) < 0 ||
            take_text(o, "where", where, sizeof where) < 0 ||
            take_text(o, "field", m->field, sizeof m->field) < 0 ||
            take_text(o, "before", m->before, sizeof m->before) < 0 ||
            take_text(o, "after", m->after, sizeof m->after) < 0 ||
            take_text(o, "class", class, sizeof class) < 0 || take_number(o, "created", &m->created) < 0 ||
            take_number(o, "expires", &m->expires) < 0 || take_number(o, "max_uses", &uses) < 0 ||
            take_scope(o, m) < 0 || take_ttls(o, m) < 0)
                return -1;

        m->max_uses = (uint64_t) uses;
        m->live = strcmp(class, "test") != 0; /* everything but test is live: the one with more to lose */
        for (m->where = GRANT_HEADER; m->where < GRANT_WHERE__COUNT; m->where++)
                if (strcmp(where_names[m->where], where) == 0)
                        break;

        return m->where < GRANT_WHERE__COUNT && vault_name_ok(m->name) && env_ok(m) &&
                               vault_form_ok(m->file, m->form) && field_ok(m)
                       ? 0
                       : -1;
}

int vault_meta_parse(struct span line, struct vault_meta *ret_meta, struct err *e)
{
        struct vault_meta m = { 0 };
        struct json_doc *d = json_parse("vault entry", line, e);
        if (!d)
                return -1;

        int bad = read_object(json_root(d), &m);
        json_free(d);
        if (bad)
                return err_set(e, ERR_IO, 0, "not a binding of a credential");

        *ret_meta = m;
        return 0;
}
