/* SPDX-License-Identifier: MIT */
/* wall/wall_forms.c - the messages between the keeper and init as bytes. Each word has a form: the type of
 * the message is the word. */
#include "base/wire/wire.h"
#include "wall/internal.h"

#define FIELD(m)       WIRE_NUMBER(struct wall_message, m)
#define TEXT(m)        WIRE_STRING(struct wall_message, m)
#define FORM(word_, f) [word_ - 1] = WIRE_FORM(WIRE_WALL_MESSAGE + (word_), 1, struct wall_message, f)

#define BARE(word_)                                                                                          \
        [word_ - 1] = { .type = WIRE_WALL_MESSAGE + (word_),                                                 \
                        .version = 1,                                                                        \
                        .size = sizeof(struct wall_message) }

static const struct wire_field up[] = { FIELD(layers) };
static const struct wire_field error[] = { FIELD(error.code), FIELD(error.step), FIELD(error.sys),
                                           TEXT(error.what), TEXT(error.hint) };
static const struct wire_field denial[] = {
        FIELD(denial.call.nr),      FIELD(denial.call.arch),    FIELD(denial.call.instruction_pointer),
        FIELD(denial.call.args[0]), FIELD(denial.call.args[1]), FIELD(denial.call.args[2]),
        FIELD(denial.call.args[3]), FIELD(denial.call.args[4]), FIELD(denial.call.args[5]),
        FIELD(denial.kind),         FIELD(denial.reason),       FIELD(denial.inside),
        TEXT(denial.program),       TEXT(denial.path),          FIELD(run),
};
static const struct wire_field end[] = {
        FIELD(end.status),        FIELD(end.cpu_ns),       FIELD(end.max_rss),    FIELD(end.disk_full),
        FIELD(end.memory_passed), FIELD(end.procs_full),   FIELD(end.files_full), FIELD(end.one_program),
        FIELD(end.cpu_over),      FIELD(end.memory_over),  FIELD(end.disk_over),  FIELD(end.left),
        TEXT(end.left_name),      FIELD(end.blind),        FIELD(end.time_over),  FIELD(end.session_over),
        FIELD(end.empty),         FIELD(end.edit_watched), FIELD(end.replaced),
};
static const struct wire_field ran[] = {
        FIELD(run),           FIELD(end.status),   FIELD(end.cpu_ns), FIELD(end.max_rss),
        FIELD(end.time_over), FIELD(end.cpu_over), FIELD(end.blind),
};
static const struct wire_field ready[] = { FIELD(run) };
static const struct wire_field listener[] = { FIELD(listener.kind), FIELD(listener.port) };
static const struct wire_field copy[] = { FIELD(copy.ino), FIELD(copy.which) };
static const struct wire_field connected[] = { FIELD(connected.id) };
static const struct wire_field lost[] = { FIELD(lost.kind), FIELD(lost.count), FIELD(run) };
static const struct wire_field touched[] = { FIELD(touched.which) };

static const struct wire_field label[] = { TEXT(label) };
static const struct wire_field held[] = { FIELD(told.within_s), TEXT(told.id), TEXT(told.what) };
static const struct wire_field blocked[] = { FIELD(told.kind),  FIELD(told.reason), FIELD(told.count),
                                             TEXT(told.method), TEXT(told.target),  TEXT(told.what),
                                             TEXT(told.why),    TEXT(told.permit) };

static const struct wire_form forms[] = {
        FORM(WALL_SAYS_ERROR, error),
        BARE(WALL_SAYS_TTY),
        FORM(WALL_SAYS_UP, up),
        FORM(WALL_SAYS_DENIED, denial),
        FORM(WALL_SAYS_SAW, denial),
        [WALL_SAYS_END - 1] = WIRE_FORM(WIRE_WALL_MESSAGE + WALL_SAYS_END, 3, struct wall_message, end),
        FORM(WALL_SAYS_LISTENER, listener),
        FORM(WALL_SAYS_COPY, copy),
        FORM(WALL_SAYS_CONNECTED, connected),
        [WALL_SAYS_LOST - 1] = WIRE_FORM(WIRE_WALL_MESSAGE + WALL_SAYS_LOST, 2, struct wall_message, lost),
        FORM(WALL_SAYS_READY, ready),
        FORM(WALL_SAYS_TOUCHED, touched),
        FORM(WALL_SAYS_LABEL, label),
        FORM(WALL_SAYS_HELD, held),
        FORM(WALL_SAYS_BLOCKED, blocked),
        FORM(WALL_SAYS_RAN, ran),
        FORM(WALL_SAYS_RISES, label),
};
_Static_assert(sizeof forms / sizeof *forms == (size_t) WALL_SAYS_RISES, "a form for each word");

static const struct wire_field order[] = {
        WIRE_NUMBER(struct wall_order, command), WIRE_NUMBER(struct wall_order, arg),
        WIRE_NUMBER(struct wall_order, id),      WIRE_NUMBER(struct wall_order, time_ms),
        WIRE_NUMBER(struct wall_order, cpu_ms),  WIRE_STRING(struct wall_order, label),
        WIRE_STRING(struct wall_order, causes)
};
const struct wire_form wall_order_form = WIRE_FORM(WIRE_WALL_ORDER, 4, struct wall_order, order);

int wall_put(int control, const struct wall_message *m, int pass)
{
        return wire_put(control, &forms[m->word - 1], m, pass);
}

int wall_put_now(int control, const struct wall_message *m)
{
        return wire_put_now(control, &forms[m->word - 1], m);
}

int wall_take(int control, struct wall_message *ret, int *ret_pass)
{
        struct wall_message m = { 0 };
        size_t which;
        int pass = -1, r = wire_take_any(control, forms, WALL_SAYS_RISES, &m, &which, &pass);
        if (r != 1)
                return r;

        m.word = (uint32_t) which + 1;
        *ret = m;
        *ret_pass = pass;
        return 1;
}
