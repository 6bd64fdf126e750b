/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/tool_gate.c - calls of tools that a server in the box has: what the policy says of one,
 * and the question to a person. The face that passes calls on asks before it does. */
#include "base/hash.h"
#include "base/str.h"
#include "run/keeper/gates/gates.h"

#include <stdio.h>

static struct decision decide_call(const struct box *b, const char *tool, struct span args, struct arena *mem,
                                   struct effect *f)
{
        struct params p = { 0 };
        policy_params_json(&p, mem, args.n ? args : span_str("{}"));
        *f = (struct effect){ .kind = EFFECT_TOOL, .target = tool, .params = arena_alloc(mem, sizeof p) };
        if (f->params)
                *(struct params *) (uintptr_t) f->params = p;
        return policy_decide(b->c.policy, f);
}

enum box_tool_answer box_tool_judge(const struct box *b, const char *tool, struct span args, struct buf *why)
{
        struct arena mem = { 0 };
        struct effect f;
        struct decision d = decide_call(b, tool, args, &mem, &f);
        enum box_tool_answer a = d.answer != ANSWER_ALLOW ? BOX_TOOL_NO
                                 : policy_asks(&d)        ? BOX_TOOL_ASK
                                                          : BOX_TOOL_YES;
        if (a == BOX_TOOL_NO)
                policy_difference(b->c.policy, &f, &d, why);
        arena_done(&mem);
        return a;
}

bool box_tool_is_named(const struct box *b, const char *tool)
{
        struct effect f = { .kind = EFFECT_TOOL, .target = tool };
        struct decision d = policy_decide(b->c.policy, &f);
        return d.answer == ANSWER_ALLOW || d.reason == REASON_PARAMETER;
}

static int hold_call(struct box *b, const struct door *d, const char *tool, struct span args, uint32_t number)
{
        enum { SHOWN_MAX = 4000 };
        AUTO_BUF(shown);
        struct sha256 s;
        char body[80] = "sha256:", length[24];
        sha256_init(&s);
        sha256_add(&s, args.p, args.n);
        sha256_end_hex(&s, body + 7);
        (void) snprintf(length, sizeof length, "%zu", args.n);
        buf_printf(&shown, "the model calls the tool %s with these arguments%s: ", tool,
                   args.n > SHOWN_MAX ? " (their beginning)" : "");
        char inert[4 * SHOWN_MAX + 8];
        buf_puts(&shown,
                 str_inert(span_of(args.p, args.n < SHOWN_MAX ? args.n : SHOWN_MAX), inert, sizeof inert));
        const struct desk_asked a = { DESK_TOOL, number, d };
        const struct gate_envelope e = { .field = { [GATE_BODY] = body,
                                                    [GATE_KIND] = "tool",
                                                    [GATE_LENGTH] = length,
                                                    [GATE_METHOD] = "call",
                                                    [GATE_PLACE] = tool } };
        return desk_hold(b, &a, &e, &shown);
}

uint32_t box_tool_ask(struct box *b, const char *tool, struct span args)
{
        struct arena mem = { 0 };
        struct effect f;
        struct decision d = decide_call(b, tool, args, &mem, &f);
        uint32_t number = ++b->tool_asked;
        int r = policy_asks(&d) ? hold_call(b, d.door, tool, args, number) : -1;
        arena_done(&mem);
        return r < 0 ? 0 : number;
}
