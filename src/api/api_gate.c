/* SPDX-License-Identifier: MIT */
/* api/api_gate.c - approvals: the sockets on which boxes wait for them, and figures about past ones. */
#include "api/internal.h"
#include "store/store.h"

int cordon_gates(void (*each)(void *ctx, const char *run, unsigned uid), void *ctx, cordon_error *e)
{
        return box_gates_each(each, ctx, to_err(e));
}

int cordon_gate_connect(const char *run, unsigned uid, cordon_error *e)
{
        return box_gate_connect(run, uid, to_err(e));
}

int cordon_state_check(const cordon_context *cx, cordon_error *e) { return store_variable(cx, to_err(e)); }

char *cordon_approvals(const cordon_context *cx, int json, cordon_error *e)
{
        AUTO_BUF(out);
        if (box_approvals(cx, json, &out) < 0)
                out.failed = true;
        return api_give(&out, to_err(e));
}

int cordon_incident(const cordon_context *cx, const char *id, const char *text, cordon_error *e)
{
        return box_incident(cx, id, text, to_err(e));
}

int cordon_decoys(const cordon_context *cx, int on, cordon_error *e) { return box_decoys(cx, on, to_err(e)); }

/* ---- persons of a face ---- */

char *api_gate_request(struct box *b, const cordon_person *who, const char *request, struct err *e)
{
        AUTO_BUF(out);
        const struct box_person person = { who->name, who->groups, who->own != 0 };
        if (b && box_gate_request(b, &person, span_str(request), &out) == 0)
                return api_give(&out, e);

        (void) err_set(e, ERR_GONE, 0, "nothing of this box asks for an approval");
        return NULL;
}

char *cordon_box_gate(cordon_box *b, const cordon_person *who, const char *request, cordon_error *e)
{
        return api_gate_request(b->box, who, request, to_err(e));
}

int cordon_box_asked_by(cordon_box *b, const char *person, cordon_error *e)
{
        box_people_add(&b->askers, person);
        return b->box ? box_asked_by(b->box, person, to_err(e)) : 0;
}
