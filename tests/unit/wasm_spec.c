/* SPDX-License-Identifier: MIT */
/* tests/unit/wasm_spec.c - runs the core test suite of WebAssembly, as converted by wast2json:
 *     wasm_spec [--compiler] FILE.json...
 * Prints one line for each file that fails an assertion, and the totals. Assertions about the text format are
 * counted apart: the engine has no parser for it. */
#include "wall/wasm/run/runtime.h"
#include "wasm_json.h"

#include <inttypes.h>
#include <stdio.h>

/* The module "spectest" of the suite's harness. */
static const uint8_t spectest[] = {
        0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x1e, 0x07, 0x60, 0x00, 0x00, 0x60, 0x01, 0x7f,
        0x00, 0x60, 0x01, 0x7e, 0x00, 0x60, 0x01, 0x7d, 0x00, 0x60, 0x01, 0x7c, 0x00, 0x60, 0x02, 0x7f, 0x7d,
        0x00, 0x60, 0x02, 0x7c, 0x7c, 0x00, 0x03, 0x08, 0x07, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x04,
        0x05, 0x01, 0x70, 0x01, 0x0a, 0x14, 0x05, 0x04, 0x01, 0x01, 0x01, 0x02, 0x06, 0x21, 0x04, 0x7f, 0x00,
        0x41, 0x9a, 0x05, 0x0b, 0x7e, 0x00, 0x42, 0x9a, 0x05, 0x0b, 0x7d, 0x00, 0x43, 0x66, 0xa6, 0x26, 0x44,
        0x0b, 0x7c, 0x00, 0x44, 0xcd, 0xcc, 0xcc, 0xcc, 0xcc, 0xd4, 0x84, 0x40, 0x0b, 0x07, 0x9e, 0x01, 0x0d,
        0x05, 0x70, 0x72, 0x69, 0x6e, 0x74, 0x00, 0x00, 0x09, 0x70, 0x72, 0x69, 0x6e, 0x74, 0x5f, 0x69, 0x33,
        0x32, 0x00, 0x01, 0x09, 0x70, 0x72, 0x69, 0x6e, 0x74, 0x5f, 0x69, 0x36, 0x34, 0x00, 0x02, 0x09, 0x70,
        0x72, 0x69, 0x6e, 0x74, 0x5f, 0x66, 0x33, 0x32, 0x00, 0x03, 0x09, 0x70, 0x72, 0x69, 0x6e, 0x74, 0x5f,
        0x66, 0x36, 0x34, 0x00, 0x04, 0x0d, 0x70, 0x72, 0x69, 0x6e, 0x74, 0x5f, 0x69, 0x33, 0x32, 0x5f, 0x66,
        0x33, 0x32, 0x00, 0x05, 0x0d, 0x70, 0x72, 0x69, 0x6e, 0x74, 0x5f, 0x66, 0x36, 0x34, 0x5f, 0x66, 0x36,
        0x34, 0x00, 0x06, 0x05, 0x74, 0x61, 0x62, 0x6c, 0x65, 0x01, 0x00, 0x06, 0x6d, 0x65, 0x6d, 0x6f, 0x72,
        0x79, 0x02, 0x00, 0x0a, 0x67, 0x6c, 0x6f, 0x62, 0x61, 0x6c, 0x5f, 0x69, 0x33, 0x32, 0x03, 0x00, 0x0a,
        0x67, 0x6c, 0x6f, 0x62, 0x61, 0x6c, 0x5f, 0x69, 0x36, 0x34, 0x03, 0x01, 0x0a, 0x67, 0x6c, 0x6f, 0x62,
        0x61, 0x6c, 0x5f, 0x66, 0x33, 0x32, 0x03, 0x02, 0x0a, 0x67, 0x6c, 0x6f, 0x62, 0x61, 0x6c, 0x5f, 0x66,
        0x36, 0x34, 0x03, 0x03, 0x0a, 0x16, 0x07, 0x02, 0x00, 0x0b, 0x02, 0x00, 0x0b, 0x02, 0x00, 0x0b, 0x02,
        0x00, 0x0b, 0x02, 0x00, 0x0b, 0x02, 0x00, 0x0b, 0x02, 0x00, 0x0b
};

static const struct wasm_engine *engine = &wasm_interpreter;

enum { MODULES_MAX = 4096, SLOTS_MAX = 2048 };

/* One JSON file: its store, and the instances by name. */
struct suite {
        const char *file;
        struct wasm_store *store;
        struct {
                const char *name;
                struct wasm_instance *inst;
                struct wasm_module *module;
                uint8_t *bytes;
        } all[MODULES_MAX];
        unsigned n;
        struct wasm_instance *current;
        unsigned passed, failed, skipped;
        bool is_verbose;
};

static void verdict(struct suite *s, const struct node *c, bool ok, const char *why)
{
        if (ok) {
                s->passed++;
                return;
        }
        s->failed++;
        if (s->is_verbose || s->failed <= 3)
                (void) printf("%s:%.*s: %s: %s\n", s->file, (int) get(c, "line")->len, text(c, "line"),
                              text(c, "type"), why);
}

static uint8_t *read_file(const char *path, size_t *ret_n)
{
        FILE *f = fopen(path, "rb");
        uint8_t *p = NULL;
        size_t n = 0, got = 1;

        while (f && got) {
                p = realloc(p, n + 65537);
                if (!p)
                        abort();
                got = fread(p + n, 1, 65536, f);
                n += got;
        }
        if (f)
                (void) fclose(f);
        if (p)
                p[n] = '\0';
        *ret_n = n;
        return p;
}

/* Loads the file of a command. Exact size, so that a sanitizer sees what is read past it. */
static struct wasm_module *load(struct suite *s, const struct node *c, struct err *e)
{
        char path[4096];
        size_t n;
        const char *slash = strrchr(s->file, '/');

        (void) snprintf(path, sizeof path, "%.*s/%s", slash ? (int) (slash - s->file) : 1,
                        slash ? s->file : ".", text(c, "filename"));
        uint8_t *read = read_file(path, &n), *bytes = malloc(n ? n : 1);
        if (!read || !bytes || s->n == MODULES_MAX)
                abort();
        memcpy(bytes, read, n);
        free(read);
        s->all[s->n].bytes = bytes;
        s->all[s->n].module = wasm_module_load(span_of(bytes, n), e);
        return s->all[s->n++].module;
}

static void run_module(struct suite *s, const struct node *c)
{
        struct err e = { 0 };
        enum wasm_trap trap;
        struct wasm_module *m = load(s, c, &e);

        s->current = NULL;
        bool ok = m && wasm_instantiate(s->store, m, &s->current, &trap, &e) == 0;
        s->all[s->n - 1].inst = s->current;
        s->all[s->n - 1].name = text(c, "name");
        verdict(s, c, ok, e.what);
}

static struct wasm_instance *find(struct suite *s, const char *name)
{
        for (unsigned i = s->n; i-- > 0 && *name;)
                if (s->all[i].name && strcmp(s->all[i].name, name) == 0)
                        return s->all[i].inst;

        return s->current;
}

/* Bytes of a lane or number. References of the host are stored plus one, because 0 is null. */
static unsigned lane_bytes(const char *type)
{
        return strstr(type, "8") ? 1 : strstr(type, "16") ? 2 : strstr(type, "32") ? 4 : 8;
}

static void read_value(const struct node *v, uint64_t *slots)
{
        const char *type = text(v, "type");
        const struct node *value = get(v, "value");

        slots[0] = slots[1] = 0;
        if (strcmp(type, "v128") == 0) {
                unsigned n = lane_bytes(text(v, "lane_type")), at = 0;
                for (const struct node *l = value->child; l; l = l->next, at += n) {
                        uint64_t lane = strtoull(l->str, NULL, 10);
                        memcpy((uint8_t *) slots + at, &lane, n);
                }
        } else if (strcmp(value->str, "null") != 0) {
                slots[0] = strtoull(value->str, NULL, 10);
                if (strcmp(type, "externref") == 0)
                        slots[0]++;
        }
}

static bool is_nan(const char *want, unsigned n, uint64_t got)
{
        uint64_t quiet = n == 4 ? 0x7fc00000 : 0x7ff8000000000000, sign = n == 4 ? 0x80000000 : 1ULL << 63;

        if (strcmp(want, "nan:canonical") == 0)
                return (got & ~sign) == quiet;
        return (got & quiet) == quiet;
}

static bool same_number(const char *want, unsigned n, const void *p)
{
        uint64_t got = 0, mask = n == 8 ? UINT64_MAX : (1ULL << 8 * n) - 1;

        memcpy(&got, p, n);
        if (strncmp(want, "nan:", 4) == 0)
                return is_nan(want, n, got);
        return got == (strtoull(want, NULL, 10) & mask);
}

static bool same_value(const struct node *want, const uint64_t *slots)
{
        const char *type = text(want, "type");
        const struct node *value = get(want, "value");

        if (strcmp(type, "v128") == 0) {
                unsigned n = lane_bytes(text(want, "lane_type")), at = 0;
                bool ok = true;
                for (const struct node *l = value->child; l; l = l->next, at += n)
                        ok = ok && same_number(l->str, n, (const uint8_t *) slots + at);
                return ok;
        }
        if (strcmp(type, "funcref") == 0 || strcmp(type, "externref") == 0) {
                uint64_t want_slots[2];
                if (!value || !value->str)
                        return slots[0] != 0;
                read_value(want, want_slots);
                return slots[0] == want_slots[0];
        }
        /* The upper half of a slot is zero: the engines rely on it. */
        return same_number(value->str, lane_bytes(type), slots) &&
               (lane_bytes(type) == 8 || slots[0] >> 32 == 0);
}

/* Performs an action. Returns false if there is nothing of that name. */
static bool act(struct suite *s, const struct node *action, uint64_t *slots, enum wasm_trap *ret)
{
        struct wasm_instance *inst = find(s, text(action, "module"));
        const struct node *field = get(action, "field");
        struct span name = span_of(field->str, field->len);
        uint64_t *at = slots;

        *ret = WASM_OK;
        if (strcmp(text(action, "type"), "get") == 0) {
                struct wasm_global *g = inst ? wasm_export_global(inst, name) : NULL;
                if (g)
                        memcpy(slots, g->v, 16);
                return g;
        }

        struct wasm_func *f = inst ? wasm_export_func(inst, name) : NULL;
        if (!f)
                return false;
        for (const struct node *a = get(action, "args")->child; a; a = a->next) {
                read_value(a, at);
                at += strcmp(text(a, "type"), "v128") == 0 ? 2 : 1;
        }
        *ret = wasm_call(inst, f, slots);
        return true;
}

static void run_return(struct suite *s, const struct node *c)
{
        uint64_t slots[SLOTS_MAX] = { 0 }, *at = slots;
        enum wasm_trap trap;
        bool ok = act(s, get(c, "action"), slots, &trap) && trap == WASM_OK;
        char why[128];

        (void) snprintf(why, sizeof why, "%s", ok ? "" : wasm_trap_text(trap));
        for (const struct node *w = get(c, "expected") ? get(c, "expected")->child : NULL; w && ok;
             w = w->next) {
                ok = strcmp(text(c, "type"), "action") == 0 || same_value(w, at);
                if (!ok)
                        (void) snprintf(why, sizeof why, "%s: got %016" PRIx64 " %016" PRIx64 ", want %s",
                                        text(get(c, "action"), "field"), at[0], at[1], text(w, "value"));
                at += strcmp(text(w, "type"), "v128") == 0 ? 2 : 1;
        }
        verdict(s, c, ok, why);
}

static void run_trap(struct suite *s, const struct node *c)
{
        uint64_t slots[SLOTS_MAX] = { 0 };
        enum wasm_trap trap;
        bool found = act(s, get(c, "action"), slots, &trap);
        const char *got = wasm_trap_text(trap), *want = text(c, "text");
        size_t n = strlen(got) < strlen(want) ? strlen(got) : strlen(want);

        verdict(s, c, found && trap != WASM_OK && strncmp(got, want, n) == 0, got);
}

static void run_invalid(struct suite *s, const struct node *c)
{
        struct err e;

        if (strcmp(text(c, "module_type"), "text") == 0)
                s->skipped++;
        else
                verdict(s, c, !load(s, c, &e), text(c, "text"));
}

static void run_unlinkable(struct suite *s, const struct node *c)
{
        struct err e = { 0 };
        struct wasm_instance *inst;
        enum wasm_trap trap = WASM_OK;
        struct wasm_module *m = load(s, c, &e);
        bool wants_trap = strcmp(text(c, "type"), "assert_uninstantiable") == 0;
        bool ok = m && wasm_instantiate(s->store, m, &inst, &trap, &e) < 0;

        verdict(s, c, ok && (trap != WASM_OK) == wants_trap, text(c, "text"));
}

static void run_register(struct suite *s, const struct node *c)
{
        struct err e;

        if (wasm_define_instance(s->store, span_str(text(c, "as")), find(s, text(c, "name")), &e) < 0)
                abort();
}

static const struct {
        const char *type;
        void (*run)(struct suite *, const struct node *);
} commands[] = {
        { "module", run_module },
        { "register", run_register },
        { "action", run_return },
        { "assert_return", run_return },
        { "assert_trap", run_trap },
        { "assert_exhaustion", run_trap },
        { "assert_invalid", run_invalid },
        { "assert_malformed", run_invalid },
        { "assert_unlinkable", run_unlinkable },
        { "assert_uninstantiable", run_unlinkable },
};

static void run_command(struct suite *s, const struct node *c)
{
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
                if (strcmp(text(c, "type"), commands[i].type) == 0) {
                        commands[i].run(s, c);
                        return;
                }
        verdict(s, c, false, "unknown command");
}

static void run_file(struct suite *s, const struct wasm_module *harness)
{
        size_t n;
        struct err e;
        enum wasm_trap trap;
        struct wasm_instance *inst;
        char *json = (char *) read_file(s->file, &n);
        struct wasm_limits limits = wasm_limits_default;

        s->store = wasm_store_new(engine, &limits, &e);
        if (!json || !s->store || wasm_instantiate(s->store, harness, &inst, &trap, &e) < 0 ||
            wasm_define_instance(s->store, span_str("spectest"), inst, &e) < 0) {
                (void) fprintf(stderr, "%s: %s\n", s->file, e.what);
                exit(2);
        }
        struct json_in in = { json };
        struct node *root = read_node(&in);
        for (const struct node *c = get(root, "commands")->child; c; c = c->next)
                run_command(s, c);

        wasm_store_free(s->store);
        for (unsigned i = 0; i < s->n; i++) {
                wasm_module_free(s->all[i].module);
                free(s->all[i].bytes);
        }
        free_node(root);
        free(json);
}

int main(int argc, char **argv)
{
        static struct suite s;
        struct err e;
        unsigned passed = 0, failed = 0, skipped = 0;
        struct wasm_module *harness = wasm_module_load(span_of(spectest, sizeof spectest), &e);

        int first = argc > 1 && strcmp(argv[1], "--compiler") == 0 ? 2 : 1;
        if (first == 2 && !(engine = wasm_compiler())) {
                (void) printf("there is no compiler for this machine\n");
                return 77;
        }
        for (int i = first; i < argc; i++) {
                s = (struct suite){ .file = argv[i] };
                run_file(&s, harness);
                passed += s.passed;
                failed += s.failed;
                skipped += s.skipped;
                if (s.failed)
                        (void) printf("%s: %u of %u failed\n", s.file, s.failed, s.failed + s.passed);
        }
        wasm_module_free(harness);
        (void) printf("%u passed, %u failed, %u of the text format\n", passed, failed, skipped);
        return failed != 0;
}
