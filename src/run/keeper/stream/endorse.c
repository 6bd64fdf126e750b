/* SPDX-License-Identifier: MIT */
/* run/keeper/stream/endorse.c - `endorse`: an output whose schema bounds what it can say loses `untrusted`.
 * It is written anew in one form, because spaces, the order of members and spellings of numbers say something
 * as well; and the bits of a session are summed, so that many small outputs carry no more than one. */
#include "base/fd.h"
#include "base/json.h"
#include "effect/stamp/stamp.h"
#include "run/keeper/internal.h"
#include "run/keeper/run_record.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES_MAX = 65536 };

static bool put_json(const struct json *v, struct buf *out);

/* The next member after `last`, in byte order. */
static const struct json *member_after(const struct json *o, const char *last)
{
        const struct json *best = NULL;
        for (const struct json *m = o->child; m; m = m->next)
                if ((!last || strcmp(m->key, last) > 0) && (!best || strcmp(m->key, best->key) < 0))
                        best = m;
        return best;
}

static bool put_object(const struct json *o, struct buf *out)
{
        bool good = true;
        const char *last = NULL;
        for (const struct json *m; good && (m = member_after(o, last)); last = m->key) {
                buf_putc(out, last ? ',' : '{');
                buf_json(out, span_str(m->key));
                buf_putc(out, ':');
                good = put_json(m, out);
        }
        buf_puts(out, last ? "}" : "{}");
        return good;
}

static bool put_array(const struct json *a, struct buf *out)
{
        bool good = true;
        buf_putc(out, '[');
        for (const struct json *v = a->child; good && v; v = v->next) {
                good = put_json(v, out);
                buf_puts(out, v->next ? "," : "");
        }
        buf_putc(out, ']');
        return good;
}

static bool put_json(const struct json *v, struct buf *out)
{
        static const char *const words[] = {
                [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"
        };
        switch (v->type) {
        case JSON_NULL:
        case JSON_FALSE:
        case JSON_TRUE:
                buf_puts(out, words[v->type]);
                return true;
        case JSON_INT:
                buf_printf(out, "%lld", (long long) v->integer);
                return true;
        case JSON_STRING:
                buf_json(out, span_of(v->str, v->len));
                return true;
        case JSON_ARRAY:
                return put_array(v, out);
        case JSON_OBJECT:
                return put_object(v, out);
        case JSON_NUMBER:
                break; /* 1.0 and 1e0 are one number with many spellings */
        }
        return false;
}

static int bits_of(struct span schema)
{
        struct err ignored;
        struct json_doc *d = schema.n ? json_parse("schema", schema, &ignored) : NULL;
        int bits = d ? label_capacity(json_root(d)) : -1;
        json_free(d);
        return bits;
}

/* The checked output in its one form; false: it has none. */
static bool write_anew(int fd, struct buf *out)
{
        struct stat st;
        struct err ignored;
        char *text = malloc(BYTES_MAX);
        ssize_t n =
                text && fstat(fd, &st) == 0 && st.st_size <= BYTES_MAX ? pread(fd, text, BYTES_MAX, 0) : -1;
        struct json_doc *d = n > 0 ? json_parse("output", span_of(text, (size_t) n), &ignored) : NULL;
        bool good = d && put_json(json_root(d), out);
        buf_putc(out, '\n');
        json_free(d);
        free(text);
        return good && !out->failed;
}

static void record_endorsed(struct run *run, const char *name, int bits)
{
        if (!run->record || !run->record->ledger)
                return;
        struct ledger_record r = record_of(run, LEDGER_HANDLE, LEDGER_OUTCOME);
        r.target = name;
        r.result = "endorsed";
        ledger_more_number(&r, "bits", bits);
        record_causes(run, &r);
        record_add(run, &r, NULL);
}

int handles_endorse(struct run *run, const char *name, int outside, struct err *e)
{
        const struct door *d = filter_door(run, DOOR_OUT, name);
        struct box *owner = run->box->session ? run->box->session : run->box;
        struct label l = run->r.label;
        AUTO_BUF(text);
        if (!d || !d->flow.endorse || label_is_empty(&l))
                return 0;

        int bits = l.untrusted ? bits_of(filter_schema(run, d)) : -1;
        bool counted = !owner->remote; /* runs of several keepers would each have all of the bits */
        bool fits = counted && bits >= 0 && owner->endorsed + (unsigned) bits <= d->flow.endorse;
        if (fits && write_anew(run->staged, &text)) {
                if (ftruncate(run->staged, 0) < 0 || lseek(run->staged, 0, SEEK_SET) < 0 ||
                    fd_write_all(run->staged, text.p, text.n) < 0)
                        return err_set(e, ERR_IO, 0, "the handle %s could not be written anew", name);
                owner->endorsed += (unsigned) bits;
                l.untrusted = false;
                record_endorsed(run, name, bits);
        }

        return label_is_empty(&l) ? 0 : stamp_add_file(run->c->cx, outside, &l, keeper_run(run), e);
}
