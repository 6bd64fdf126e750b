/* SPDX-License-Identifier: MIT */
/* run/keeper/causes.c - what the requests of a box are caused by. The broker does not see what a run was
 * given, and is not believed about it: the keeper tells the ledger's writer, before the box gets the bytes.
 * In a session the broker cannot tell whose bytes it sends: each run under way is a cause, with all that it
 * was given. */
#include "base/fd.h"
#include "base/str.h"
#include "base/wire/wire.h"
#include "run/keeper/run_record.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int) WALL_CAUSES >= (int) LEDGER_CAUSES_TEXT + LEDGER_ID_MAX, "a start and all inputs fit");

static void put_ids(const struct inputs *in, char *text, size_t cap)
{
        size_t n = strlen(text);
        for (unsigned i = 0; i < in->count; i++)
                n += (size_t) snprintf(text + n, cap - n, "%s%s", n ? " " : "", in->id[i]);
}

/* Of a run of another process the session knows these words alone. */
static void tell_session(struct box *b)
{
        char text[WALL_CAUSES];
        (void) snprintf(text, sizeof text, "%s.start", keeper_run(&b->run));
        put_ids(&b->run.record->in, text, sizeof text);
        (void) wall_causes(&b->session->child, text);
}

static void add_words(struct run *run, struct inputs *in, const char *ids)
{
        char id[LEDGER_ID_MAX];
        struct span rest = span_str(ids), word;
        while (run->record && (word = str_word(&rest)).n > 0) {
                (void) snprintf(id, sizeof id, "%.*s", (int) word.n, word.p);
                record_list_input(run, in, id);
        }
}

static void add_run(struct run *session, struct inputs *in, struct box *b)
{
        char start[LEDGER_ID_MAX];
        if (b->remote) {
                add_words(session, in, b->told_causes);
                return;
        }

        struct record *own = b->run.record;
        if (!own || own->over)
                return;

        (void) snprintf(start, sizeof start, "%s.start", keeper_run(&b->run));
        record_list_input(session, in, start);
        for (unsigned i = 0; session->record && i < own->in.count; i++)
                record_list_input(session, in, own->in.id[i]);
}

static void tell_writer(struct box *b)
{
        struct ledger_causes c = { .ids = "" };
        struct inputs in = b->run.record->in;
        for (struct box *r = b->runs; r; r = r->sibling)
                if (!r->ran)
                        add_run(&b->run, &in, r);

        put_ids(&in, c.ids, sizeof c.ids);
        (void) wire_put_now(b->broker.causes, &ledger_causes_form, &c);
}

void causes_changed(struct box *b)
{
        struct box *s = b->session ? b->session : b;
        if (s->remote && b != s && b->run.record)
                tell_session(b);
        else if (!s->remote && s->run.record && s->broker.causes >= 0)
                tell_writer(s);
}

void record_input(struct run *run, const char *id)
{
        record_list_input(run, &run->record->in, id);
        if (run->record)
                causes_changed(run->box);
}

int causes_line(struct box *b, int *ret_its)
{
        int ends[2];
        if (wire_pair(ends) < 0)
                return -1;

        b->broker.causes = ends[0];
        *ret_its = ends[1];
        causes_changed(b);
        return 0;
}

void causes_of_peer(struct box *b, const char *ids)
{
        (void) snprintf(b->told_causes, sizeof b->told_causes, "%s", ids);
        causes_changed(b);
}
