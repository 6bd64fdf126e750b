/* SPDX-License-Identifier: MIT */
/* wall/plan/seal.c - box plan and run order as blocks: the fields of each struct that travel, and their valid
 * ranges. A field that is not in a table does not travel. */
#include "base/block.h"
#include "base/limits.h"
#include "wall/plan/internal.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, KIND_BOX = 1, KIND_ORDER = 2 };

static const struct block_field step_fields[] = {
        BLOCK_UPTO(struct plan_step, kind, STEP_KIND__COUNT - 1),
        BLOCK_UPTO(struct plan_step, flags, (STEP_SOCK << 1) - 1),
        BLOCK_STRING(struct plan_step, path, false),
        BLOCK_STRING(struct plan_step, text, true),
        BLOCK_ANY(struct plan_step, dev),
        BLOCK_ANY(struct plan_step, ino),
        BLOCK_ANY(struct plan_step, layer),
};
static const struct block_type step_type = { .size = sizeof(struct plan_step), BLOCK_FIELDS(step_fields) };

static const struct block_field rule_fields[] = {
        BLOCK_STRING(struct plan_rule, path, false),
        BLOCK_UPTO(struct plan_rule, rights, (RIGHT_DEVICE << 1) - 1),
        BLOCK_BOOL(struct plan_rule, optional),
        BLOCK_UPTO(struct plan_rule, entries, (RIGHT_DEVICE << 1) - 1),
        BLOCK_BOOL(struct plan_rule, pinned),
        BLOCK_ANY(struct plan_rule, dev),
        BLOCK_ANY(struct plan_rule, ino),
        BLOCK_STRING(struct plan_rule, real, true),
        BLOCK_BOOL(struct plan_rule, covered),
};
static const struct block_type rule_type = { .size = sizeof(struct plan_rule), BLOCK_FIELDS(rule_fields) };

static const struct block_field held_fields[] = { BLOCK_STRING(struct plan_held, path, false) };
static const struct block_type held_type = { .size = sizeof(struct plan_held), BLOCK_FIELDS(held_fields) };

static const struct block_field port_fields[] = {
        { .form = BLOCK_NUMBER, .size = sizeof(uint16_t), .times = 1, .most = UINT16_MAX },
};
static const struct block_type port_type = { .size = sizeof(uint16_t), BLOCK_FIELDS(port_fields) };

static const struct block_field local_fields[] = {
        BLOCK_BOOL(struct plan_local, v6),
        BLOCK_MANY(struct plan_local, address, UINT8_MAX),
        BLOCK_ANY(struct plan_local, port),
};
static const struct block_type local_type = { .size = sizeof(struct plan_local), BLOCK_FIELDS(local_fields) };

static const struct block_field handle_fields[] = {
        BLOCK_STRING(struct plan_handle, name, false),
        BLOCK_BOOL(struct plan_handle, out),
        BLOCK_ANY(struct plan_handle, max),
        BLOCK_UPTO(struct plan_handle, type, HANDLE_TYPE__COUNT - 1),
        BLOCK_BOOL(struct plan_handle, calls),
};
static const struct block_type handle_type = { .size = sizeof(struct plan_handle),
                                               BLOCK_FIELDS(handle_fields) };

static const struct block_field order_fields[] = {
        BLOCK_STRINGS(struct plan_order, argv),
        BLOCK_STRINGS(struct plan_order, launch),
        BLOCK_STRINGS(struct plan_order, envp),
        BLOCK_STRINGS(struct plan_order, exec),
        BLOCK_BOOL(struct plan_order, exec_denied),
        BLOCK_STRING(struct plan_order, cwd, false),
        BLOCK_STRING(struct plan_order, cwd_outside, true),
        BLOCK_BOOL(struct plan_order, tty),
        BLOCK_MANY(struct plan_order, limits.value, UINT64_MAX),
        BLOCK_MANY(struct plan_order, limits.stated, 1),
        BLOCK_ARRAY(struct plan_order, files, file_count, step_type),
};
static const struct block_type order_type = {
        .size = sizeof(struct plan_order), BLOCK_FIELDS(order_fields), .kind = KIND_ORDER, .version = FORMAT
};

static const struct block_field box_fields[] = {
        BLOCK_STRING(struct plan, box, false),
        BLOCK_UPTO(struct plan, wall, WALL_KIND__COUNT - 1),
        BLOCK_ANY(struct plan, without),
        BLOCK_ARRAY(struct plan, steps, step_count, step_type),
        BLOCK_ARRAY(struct plan, rules, rule_count, rule_type),
        BLOCK_ARRAY(struct plan, held, held_count, held_type),
        BLOCK_ANY(struct plan, uid),
        BLOCK_ANY(struct plan, gid),
        BLOCK_BOOL(struct plan, net),
        BLOCK_BOOL(struct plan, authority),
        BLOCK_ARRAY(struct plan, ports, port_count, port_type),
        BLOCK_ARRAY(struct plan, locals, local_count, local_type),
        BLOCK_ANY(struct plan, local),
        BLOCK_BOOL(struct plan, run_any),
        BLOCK_BOOL(struct plan, writes_host),
        BLOCK_ANY(struct plan, edits),
        BLOCK_ANY(struct plan, copies),
        BLOCK_UPTO(struct plan, sockets, PLAN_SOCKETS_SERVED),
        BLOCK_BOOL(struct plan, keys),
        BLOCK_MANY(struct plan, limits.value, UINT64_MAX),
        BLOCK_MANY(struct plan, limits.stated, 1),
        BLOCK_ARRAY(struct plan, handles, handle_count, handle_type),
        BLOCK_ARRAY(struct plan, warm, warm_count, order_type),
};
static const struct block_type box_type = {
        .size = sizeof(struct plan), BLOCK_FIELDS(box_fields), .kind = KIND_BOX, .version = FORMAT
};

void plan_seal_box(const struct plan *p, struct buf *out) { block_seal(&box_type, p, out); }
void plan_seal_order(const struct plan_order *o, struct buf *out) { block_seal(&order_type, o, out); }

/* Some users of a step read its text without a check, and index by its layer. */
static bool step_holds(const struct plan *p, const struct plan_step *s)
{
        bool texts = s->kind == STEP_ROOT || s->kind == STEP_FILE || s->kind == STEP_LINK ||
                     s->kind == STEP_BIND || s->kind == STEP_SCRATCH || s->kind == STEP_COVER ||
                     s->kind == STEP_EDIT || s->kind == STEP_COPY;
        if (s->kind == STEP_LISTEN && s->layer != LISTENER_SSH && s->layer != LISTENER_GPG)
                return false;

        return s->path[0] == '/' && (s->text || !texts) && (s->kind != STEP_EDIT || s->layer < p->edits) &&
               (s->kind != STEP_COPY || s->layer < p->copies);
}

static bool order_holds(const struct plan_order *o)
{
        for (size_t i = 0; i < o->file_count; i++)
                if (o->files[i].kind != STEP_FILE || !o->files[i].text ||
                    strncmp(o->files[i].path, BOX_HOME "/", sizeof BOX_HOME) != 0)
                        return false;

        return o->argv[0] && o->launch[0] && o->exec[0];
}

static bool box_holds(const struct plan *p)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (!step_holds(p, &p->steps[i]) || (i > 0 && p->steps[i].kind == STEP_ROOT))
                        return false;

        for (size_t i = 0; i < p->rule_count; i++)
                if (p->rules[i].path[0] != '/')
                        return false;

        if (p->warm_count > 1 || (p->warm_count && !order_holds(p->warm)))
                return false;

        return p->handle_count <= HANDLES_MAX && wall_traits(p->wall)->built && p->wall != WALL_AUTO;
}

int plan_open_box(void *p, size_t n, const struct plan **ret, size_t *ret_length, struct err *e)
{
        const void *root;
        if (block_open(&box_type, p, n, &root, ret_length, e) < 0)
                return err_in(e, "reading the box plan");

        *ret = root;
        return box_holds(*ret) ? 0 : err_set(e, ERR_INTERNAL, 0, "the box plan contradicts itself");
}

int plan_open_order(void *p, size_t n, const struct plan_order **ret, size_t *ret_length, struct err *e)
{
        const void *root;
        if (block_open(&order_type, p, n, &root, ret_length, e) < 0)
                return err_in(e, "reading the run order");

        *ret = root;
        return order_holds(*ret) ? 0 : err_set(e, ERR_INTERNAL, 0, "the run order contradicts itself");
}

/* A text that is another one each time is not part of what the box is. */
static bool step_moves(const struct plan_step *s)
{
        return s->kind == STEP_COVER && strcmp(s->path, PLAN_UPTIME) == 0;
}

int plan_digest(const struct plan *p, uint8_t ret_digest[32])
{
        AUTO_BUF(out);
        struct plan still = *p;
        still.steps = calloc(p->step_count + 1, sizeof *still.steps);
        if (!still.steps)
                return -1;

        for (size_t i = 0; i < p->step_count; i++) {
                still.steps[i] = p->steps[i];
                if (step_moves(&p->steps[i]))
                        still.steps[i].text = "";
        }

        plan_seal_box(&still, &out);
        free(still.steps);
        if (out.failed)
                return -1;

        block_digest(buf_span(&out), ret_digest);
        return 0;
}
