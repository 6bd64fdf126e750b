/* SPDX-License-Identifier: MIT */
/* broker/vault/request_form.c - how a request to cordon-vault is encoded. A field that is added, moved or
 * changed makes a new version: one of another build is not understood rather than misread. */
#include "base/wire/wire.h"
#include "broker/vault/vault.h"

#define NUMBER(m) WIRE_NUMBER(struct vault_request, m)
#define TEXT(m)   WIRE_STRING(struct vault_request, m)

/* Not the lifetimes before: a credential has them, a request never. */
static const struct wire_field request[] = {
        NUMBER(op),           NUMBER(protect),      NUMBER(has_passphrase), TEXT(meta.name),
        TEXT(meta.env),       TEXT(meta.file),      TEXT(meta.form),        TEXT(meta.field),
        TEXT(meta.before),    TEXT(meta.after),     NUMBER(meta.where),     NUMBER(meta.live),
        NUMBER(meta.created), NUMBER(meta.expires), NUMBER(meta.max_uses),  TEXT(meta.scope),
        TEXT(from_env),       TEXT(key_file),       NUMBER(ttl_s),          NUMBER(stage_live),
        NUMBER(count),        TEXT(policy),
};
static const struct wire_form request_form = WIRE_FORM(WIRE_VAULT_REQUEST, 1, struct vault_request, request);

struct wanted {
        char name[GRANT_NAME], asked[GRANT_ASKED];
};
static const struct wire_field want[] = { WIRE_STRING(struct wanted, name),
                                          WIRE_STRING(struct wanted, asked) };
static const struct wire_form wanted_form = WIRE_FORM(WIRE_VAULT_WANTED, 1, struct wanted, want);

enum { LONGEST = sizeof(struct wanted) + WIRE_MAX };

static void put_message(const struct wire_form *f, const void *message, struct buf *out)
{
        uint8_t bytes[LONGEST];
        buf_add(out, bytes, wire_encode(f, message, bytes, sizeof bytes));
}

void vault_request_encode(const struct vault_request *q, struct buf *out)
{
        put_message(&request_form, q, out);
        for (uint32_t i = 0; i < q->count && i < GRANTS_MAX; i++) {
                struct wanted w;
                memcpy(w.name, q->names[i], sizeof w.name);
                memcpy(w.asked, q->asked[i], sizeof w.asked);
                put_message(&wanted_form, &w, out);
        }
}

int vault_request_decode(struct span in, struct vault_request *ret)
{
        if (wire_decode(&request_form, wire_cut(&in), ret) < 0 || ret->count > GRANTS_MAX)
                return -1;

        for (uint32_t i = 0; i < ret->count; i++) {
                struct wanted w;
                if (wire_decode(&wanted_form, wire_cut(&in), &w) < 0)
                        return -1;
                memcpy(ret->names[i], w.name, sizeof w.name);
                memcpy(ret->asked[i], w.asked, sizeof w.asked);
        }

        return in.n == 0 ? 0 : -1;
}
