/* SPDX-License-Identifier: MIT */
/* api/api_config.c - what the keeper has to know of a box that has a plan. */
#include "api/internal.h"

/* The vault's secrets that the output of this run is searched for. */
static const int *words_of(const struct cordon_box *b)
{
        const struct cordon_box *owner = b->session ? b->session : b;
        return owner->words >= 0 ? &owner->words : NULL;
}

struct box_config api_box_config(const struct cordon_box *b)
{
        const struct host_facts *f = &b->facts;
        return (struct box_config){ .cx = b->policy->cx,
                                    .plan = b->plan,
                                    .policy = b->policy->checked,
                                    .io = b->io,
                                    .on_held = b->on_held,
                                    .askers = b->askers,
                                    .on_tool = b->on_tool,
                                    .on_ending = b->on_ending,
                                    .calls = { api_call_function, b->functions },
                                    .stage = b->stage,
                                    .label = b->label,
                                    .shut = b->shut,
                                    .shut_count = b->shut_count,
                                    .places = span_of(b->places_text.p, b->places_text.n),
                                    .answers = span_of(b->answers_text.p, b->answers_text.n),
                                    .recording = api_recording_of(b),
                                    .grants = b->grants >= 0 ? &b->grants : NULL,
                                    .words = words_of(b),
                                    .handles = b->handles,
                                    .handle_count = b->handle_count,
                                    .schemas = b->policy->schemas,
                                    .schema_count = b->policy->schema_count,
                                    .name = b->name[0] ? b->name : NULL,
                                    .require_groups = b->require_groups,
                                    .single_thread = b->single_thread,
                                    .rows = b->rows,
                                    .columns = b->columns,
                                    .observe = api_observe(b),
                                    .trip = b->trip,
                                    .canaries = b->canary_words,
                                    .canary_count = b->canary_count,
                                    .signals_stay_in = api_signals_stay_in(b, b->plan),
                                    .ledger = b->ledger,
                                    .trace_in = b->trace_in[0] ? b->trace_in : NULL,
                                    .trace_out = b->trace_out[0] ? b->trace_out : NULL,
                                    .cause = b->cause[0] ? b->cause : NULL,
                                    .cause_clock = b->cause_clock,
                                    .trial = b->trial,
                                    .home = b->policy->home,
                                    .uid = f->uid,
                                    .gid = f->gid,
                                    .root = b->as_root,
                                    .tenant = b->policy->cx->tenant,
                                    .work_keep = b->work_keep,
                                    .keep_output = b->keep_output,
                                    .work_on = b->work_on[0] ? b->work_on : NULL,
                                    .work_copy = b->work_copy,
                                    .park = b->parking,
                                    .session = b->is_session,
                                    .recipe = buf_span(&b->recipe),
                                    .session_run =
                                            b->session && b->session->remote[0] ? b->session->remote : NULL,
                                    .session_ms = b->session_ms,
                                    .idle_ms = b->idle_ms,
                                    .cold_why = b->cold_why,
                                    .module_code = b->module_code };
}
