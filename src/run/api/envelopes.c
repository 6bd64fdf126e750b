/* SPDX-License-Identifier: MIT */
/* run/api/envelopes.c - envelopes are made from what the ledger has about an output, and verified against it.
 */
#include "base/hash.h"
#include "base/json.h"
#include "output/output.h"
#include "run/api/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The newest record of an output with this digest. */
struct sought {
        char digest[72];
        const char *id; /* or NULL: any */
        char found_id[96], run[64], box[64], door[64];
        char as[256], cut[256], findings[256], labels[LABEL_TEXT_MAX];
        int64_t time_us;
        bool truncated;
};

static void copy_text(const struct json *root, const char *key, char *ret, size_t cap)
{
        (void) snprintf(ret, cap, "%s", json_text(root, key));
}

/* The door may have had a form, and the run labels. */
static void copy_checked(const struct json *root, struct sought *s)
{
        const struct json *more = json_get(root, "more");
        s->time_us = json_int(root, "time");
        s->truncated = json_get(root, "result") != NULL; /* an output has one if it was cut at its limit */
        s->as[0] = s->cut[0] = s->findings[0] = s->labels[0] = '\0';
        if (more)
                copy_text(more, "labels", s->labels, sizeof s->labels);
        struct label l = label_of(s->labels);
        l.untrusted = true; /* whatever a box wrote */
        (void) label_text(&l, s->labels);
        if (!more)
                return;
        copy_text(more, "as", s->as, sizeof s->as);
        copy_text(more, "cut", s->cut, sizeof s->cut);
        copy_text(more, "findings", s->findings, sizeof s->findings);
}

/* An output, or a handle that the box wrote. */
static bool is_outgoing(const struct json *root)
{
        bool handle = strcmp(json_text(root, "kind"), "handle") == 0;
        return !handle || strncmp(json_text(root, "door"), "out ", 4) == 0;
}

static void look_at_record(void *ctx, const char *json, const char *line)
{
        struct sought *s = ctx;
        struct err ignored;
        (void) line;
        if (!strstr(json, s->digest))
                return;

        struct json_doc *d = json_parse("record", span_str(json), &ignored);
        const struct json *root = d ? json_root(d) : NULL, *digest = root ? json_get(root, "digest") : NULL,
                          *id = root ? json_get(root, "id") : NULL;
        bool same = digest && digest->type == JSON_STRING && strcmp(digest->str, s->digest) == 0 && id &&
                    id->type == JSON_STRING && (!s->id || strcmp(id->str, s->id) == 0) && is_outgoing(root);
        if (same) {
                copy_text(root, "id", s->found_id, sizeof s->found_id);
                copy_text(root, "run", s->run, sizeof s->run);
                copy_text(root, "box", s->box, sizeof s->box);
                copy_text(root, "door", s->door, sizeof s->door);
                copy_checked(root, s);
        }
        json_free(d);
}

static int find_run(const cordon_context *cx, const char *run, struct sought *s, cordon_error *e)
{
        static const char *const kinds[] = { "output", "handle" };
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                cordon_log_filter f = { .run = run, .kind = kinds[i] };
                uint64_t cursor = 0;
                if (cordon_log_each(cx, &f, &cursor, look_at_record, s, e) < 0)
                        return -1;
                if (s->found_id[0])
                        return 0;
        }

        (void) err_set((struct err *) e, ERR_GONE, 0, "the ledger has no output with this content%s%s",
                       run ? " of run " : "", run ? run : "");
        return err_hint((struct err *) e,
                        "keep the bytes as they were printed: cordon run --stdout 'as text' ... >FILE");
}

static struct envelope envelope_of(const struct sought *s)
{
        return (struct envelope){ .box = s->box,
                                  .run = s->run,
                                  .effect = s->found_id,
                                  .door = s->door,
                                  .time_us = s->time_us,
                                  .labels = s->labels,
                                  .as = s->as[0] ? s->as : NULL,
                                  .cut = s->cut,
                                  .findings = s->findings,
                                  .truncated = s->truncated };
}

static void make_random(char ret[33])
{
        uint8_t bytes[16];
        if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
                memset(bytes, 0x5a, sizeof bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
                (void) snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

char *cordon_envelope(const cordon_context *cx, const char *run, const char *mark, const void *p, size_t n,
                      cordon_error *e)
{
        struct sought s = { .digest = "sha256:" };
        char *passed = NULL, random[33];
        size_t len = 0;
        int kind = envelope_mark_find(mark);
        if (kind < 0) {
                (void) err_set((struct err *) e, ERR_USAGE, 0, "%s is not a mark", mark);
                (void) err_hint((struct err *) e, "it is delimiter, datamark or base64");
                return NULL;
        }

        sha256_hex(span_of(p, n), s.digest + 7);
        if (find_run(cx, run, &s, e) < 0)
                return NULL;

        const cordon_check text = { .as = "text", .links = s.as[0] != '\0' }; /* its door judged them */
        if (cordon_check_bytes(cx, &text, p, n, &passed, &len, NULL, e) < 0)
                return NULL;

        AUTO_BUF(out);
        bool inert = len == n && (n == 0 || memcmp(passed, p, n) == 0);
        make_random(random);
        struct envelope v = envelope_of(&s);
        v.mark = (enum envelope_mark) kind;
        v.random = random;
        v.content = span_of(p, n);
        int r = inert || kind == ENVELOPE_BASE64
                        ? envelope_put(&v, &out, (struct err *) e)
                        : err_set((struct err *) e, ERR_DOOR, 0, "the output is not inert");
        if (!inert && r < 0)
                (void) err_hint((struct err *) e, "run it with --stdout 'as text', or use --mark base64");
        free(passed);
        char *made = r < 0 ? NULL : out.p;
        if (made)
                out.p = NULL;
        return made;
}

int cordon_envelope_verify(const cordon_context *cx, const void *p, size_t n, char **ret_record,
                           cordon_error *e)
{
        struct envelope_read v;
        struct sought s = { .digest = "sha256:" };
        int r = envelope_read(span_of(p, n), &v, (struct err *) e);
        if (r == 0) {
                (void) snprintf(s.digest + 7, sizeof s.digest - 7, "%s", v.sha256);
                s.id = v.effect;
                r = find_run(cx, v.run, &s, e);
        }
        if (r == 0) {
                struct envelope own = envelope_of(&s);
                own.mark = v.mark;
                own.random = v.with;
                own.content = buf_span(&v.content);
                r = envelope_compare(span_of(p, n), &own, (struct err *) e);
        }
        buf_done(&v.content);
        if (r == 0)
                *ret_record = strdup(s.found_id);
        return r;
}
