/* SPDX-License-Identifier: MIT */
/* policy/read/door_lines.c - the handlers of the word table except `net`. Each takes its tokens and adds
 * to r->p. Never expands a path: {work} is known only when the policy is checked. */
#include "policy/internal.h"

enum { DOC_MAX = 1000, EXPECTS_MAX = 1024 };

static int read_singleton(struct reader *r, const struct text_line *line, const char *word)
{
        return line->text ? fail_at(r->e, &r->at, "duplicate `%s`; first on line %u", word, line->at.line)
                          : 0;
}

int line_box(struct reader *r)
{
        const struct token *t = reader_need(r, "the box's name");
        if (!t || read_singleton(r, &r->p->box, "box") < 0)
                return -1;

        if (!name_ok(t->text, "._-")) {
                (void) fail_at(r->e, &t->at, "invalid box name \"%s\"", show_text(t->text).text);
                return err_hint(r->e, "use up to %d letters, digits and . _ -", NAME_MAX_BYTES - 1);
        }

        r->p->box = (struct text_line){ .text = t->text, .at = t->at };
        return 0;
}

int line_root(struct reader *r)
{
        const struct token *t = reader_need(r, "the image");
        if (!t || read_singleton(r, &r->p->root, "root") < 0)
                return -1;

        if (t->optional || !t->text[0])
                return fail_at(r->e, &t->at, "a root cannot be optional or empty");

        r->p->root = (struct text_line){ .text = t->text, .at = t->at };
        return 0;
}

int line_doc(struct reader *r)
{
        const struct token *t = reader_need(r, "the sentence");
        if (!t || read_singleton(r, &r->p->doc, "doc") < 0)
                return -1;

        if (r->i < r->n) {
                (void) fail_at(r->e, &r->tok[r->i].at, "stray \"%s\"", show_text(r->tok[r->i].text).text);
                return err_hint(r->e, "put the sentence in double quotes");
        }

        if (strlen(t->text) > DOC_MAX)
                return fail_at(r->e, &t->at, "`doc` is limited to %d bytes", DOC_MAX);

        r->p->doc = (struct text_line){ .text = t->text, .at = t->at };
        return 0;
}

static bool use_name_ok(const char *s)
{
        return name_ok(s, "._-/") && s[0] != '/' && s[strlen(s) - 1] != '/' && !strstr(s, "..") &&
               !strstr(s, "//");
}

static const char pin_mark[] = "sha256:";

/* `use NAME sha256:HEX`: the digest of the text of NAME when it was reviewed. */
static int read_pin(struct reader *r, const struct token *t, struct use_line *u)
{
        const char *hex = t->text + strlen(pin_mark);

        if (!u || u->pin || strlen(hex) != 64 || hex[strspn(hex, "0123456789abcdef")]) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not the digest of a policy", show_text(t->text).text);
                return err_hint(r->e,
                                "use `use NAME sha256:` and 64 hex digits; `cordon check` prints the line");
        }

        u->pin = hex;
        return 0;
}

int line_use(struct reader *r)
{
        struct policy *p = r->p;
        const struct token *t = reader_need(r, "the policy's name");
        const size_t before = p->n_uses;

        for (; t; t = reader_next(r)) {
                if (strncmp(t->text, pin_mark, strlen(pin_mark)) == 0) {
                        if (read_pin(r, t, p->n_uses > before ? &p->uses[p->n_uses - 1] : NULL) < 0)
                                return -1;
                        continue;
                }
                if (!use_name_ok(t->text))
                        return fail_at(r->e, &t->at, "invalid policy name \"%s\"", show_text(t->text).text);
                if (vec_room((void **) &p->uses, p->n_uses, &p->cap_uses, sizeof *p->uses) < 0)
                        return fail_memory(r->e);
                p->uses[p->n_uses++] = (struct use_line){ .name = t->text, .at = t->at };
        }

        return r->n > 1 ? 0 : -1;
}

/* ---- files ---- */

/* All paths of one line share the list of exceptions, as written. */
static int read_except(struct reader *r, char ***ret_except)
{
        size_t n = 0;
        char **v = arena_alloc(&r->p->mem, (r->n - r->i + 1) * sizeof *v);
        const struct token *t = reader_need(r, "what to except");

        if (!v)
                return fail_memory(r->e);

        for (; t; t = reader_next(r)) {
                bool optional;
                if (path_token(t, &r->p->mem, &v[n++], &optional, r->e) < 0)
                        return -1;
                if (optional)
                        return fail_at(r->e, &t->at, "`except` does not need ?; remove it");
        }

        *ret_except = v;
        return n > 0 ? 0 : -1;
}

static int read_paths(struct reader *r, enum door_kind kind, bool may_except)
{
        size_t first = r->p->n_doors;
        const struct token *t;
        while ((t = reader_next(r)) && !token_is(t, "except")) {
                struct door *d = reader_door(r, kind, t);
                if (!d || path_token(t, &r->p->mem, &d->path, &d->optional, r->e) < 0)
                        return -1;
        }

        if (r->p->n_doors == first)
                return fail_missing(r, "the path");

        if (!t)
                return 0;

        char **except = NULL;
        if (!may_except) {
                (void) fail_at(r->e, &t->at, "`%s` takes no `except`", policy_door_word(kind));
                return kind == DOOR_WRITE
                               ? err_hint(r->e, "use `edit`, or name the parts that may be written")
                               : -1;
        }

        if (read_except(r, &except) < 0)
                return -1;

        for (size_t i = first; i < r->p->n_doors; i++)
                r->p->doors[i].except = except;

        return 0;
}

int line_read(struct reader *r) { return read_paths(r, DOOR_READ, true); }
int line_edit(struct reader *r) { return read_paths(r, DOOR_EDIT, true); }
int line_write(struct reader *r) { return read_paths(r, DOOR_WRITE, false); }
int line_sock(struct reader *r) { return read_paths(r, DOOR_SOCK, false); }

int line_run(struct reader *r)
{
        const struct token *t = reader_need(r, "the program");
        for (; t; t = reader_next(r)) {
                struct door *d = reader_door(r, DOOR_RUN, t);
                if (!d)
                        return -1;
                if (token_is(t, "any")) {
                        d->path = arena_str(&r->p->mem, "*");
                        if (!d->path)
                                return fail_memory(r->e);
                        continue;
                }
                if (path_token(t, &r->p->mem, &d->path, &d->optional, r->e) < 0)
                        return -1;
                if (strcmp(d->path, "any") == 0 || strcmp(d->path, "*") == 0) {
                        (void) fail_at(r->e, &t->at,
                                       "a program of this name must be given by its whole path");
                        return err_hint(r->e, "`run any` without quotes means every program");
                }
        }

        return r->n > 1 ? 0 : -1;
}

/* ---- ports ---- */

/* A port without sign, space or leading zeros: two spellings of one port would be two doors. */
static char *read_port(struct reader *r, const struct token *t, struct span text)
{
        uint64_t port;
        bool plain = text.n > 0 && text.p[0] != '0';

        if (plain && str_to_u64(text, &port) == 0 && port <= UINT16_MAX)
                return arena_copy(&r->p->mem, text);

        (void) fail_at(r->e, &t->at, "invalid port \"%s\"", show_text(t->text).text);
        (void) err_hint(r->e, "use PORT or HOST_PORT:BOX_PORT, each 1 to 65535");
        return NULL;
}

int line_listen(struct reader *r)
{
        const struct token *t = reader_need(r, "the port");
        for (; t; t = reader_next(r)) {
                struct door *d = reader_door(r, DOOR_LISTEN, t);
                if (!d)
                        return -1;
                const char *colon = strchr(t->text, ':');
                struct span outer = span_of(t->text, colon ? (size_t) (colon - t->text) : strlen(t->text));
                d->name = read_port(r, t, outer);
                if (!d->name || (colon && !(d->value = read_port(r, t, span_str(colon + 1)))))
                        return -1;
                if (d->value && strcmp(d->name, d->value) == 0)
                        d->value = NULL;
                if (!r->p->local)
                        r->p->local_at = t->at;
                r->p->local |= LOCAL_LOOPBACK; /* the port it listens on */
        }

        return r->n > 1 ? 0 : -1;
}

/* ---- variables and handles ---- */

static bool var_name_ok(struct span s)
{
        if (s.n == 0 || s.n > 255 || (s.p[0] >= '0' && s.p[0] <= '9'))
                return false;

        for (size_t i = 0; i < s.n; i++) {
                uint8_t c = s.p[i];
                if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
                        return false;
        }

        return true;
}

int line_env(struct reader *r)
{
        const struct token *t = reader_need(r, "the variable");
        for (; t; t = reader_next(r)) {
                const char *eq = strchr(t->text, '=');
                struct span name = span_of(t->text, eq ? (size_t) (eq - t->text) : strlen(t->text));
                if (!var_name_ok(name) || t->optional) {
                        (void) fail_at(r->e, &t->at, "\"%s\" is not NAME or NAME=VALUE",
                                       show_text(t->text).text);
                        return err_hint(r->e, "a name has letters, digits and _, and begins with no digit");
                }
                struct door *d = reader_door(r, DOOR_ENV, t);
                if (!d)
                        return -1;
                d->name = arena_copy(&r->p->mem, name);
                d->value = eq ? arena_str(&r->p->mem, eq + 1) : NULL;
                if (!d->name || (eq && !d->value))
                        return fail_memory(r->e);
        }

        return r->n > 1 ? 0 : -1;
}

int door_read_max(struct reader *r, struct door *d)
{
        const struct token *t = reader_need(r, "the size after `max`");
        if (!t)
                return -1;

        if (d->max_stated)
                return fail_at(r->e, &t->at, "duplicate `max`");

        if (str_to_size(span_str(t->text), &d->max) < 0 || d->max == 0 ||
            d->max > limit_row(LIMIT_DISK)->most) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not a size", show_text(t->text).text);
                return err_hint(r->e, "use 64K, 40M or 2G");
        }

        d->max_stated = true;
        return 0;
}

/* TYPE, or json(FILE) with the path of a schema. */
static int read_schema(struct reader *r, struct door *d, const struct token *t, const char *open)
{
        size_t n = strlen(open + 1);
        bool optional = false;
        if (n < 2 || open[n] != ')') {
                (void) fail_at(r->e, &t->at, "a schema is written json(FILE)");
                return err_hint(r->e, "without blanks; quote the whole of it if the path has some");
        }

        struct token path = *t;
        char *text = arena_copy(&r->p->mem, span_of(open + 1, n - 1));
        if (!text)
                return fail_memory(r->e);

        path.text = text;
        if (path_token(&path, &r->p->mem, &d->value, &optional, r->e) < 0)
                return -1;

        return optional ? fail_at(r->e, &t->at, "schema file does not exist") : 0;
}

int door_read_type(struct reader *r, struct door *d)
{
        const struct token *t = reader_need(r, "the type after `as`");
        if (!t)
                return -1;

        const char *open = strchr(t->text, '('), *names[HANDLE_TYPE__COUNT];
        size_t n = open ? (size_t) (open - t->text) : strlen(t->text);
        char *name = arena_copy(&r->p->mem, span_of(t->text, n));
        if (!name)
                return fail_memory(r->e);

        if (handle_type_find(name, &d->type) < 0) {
                for (int i = 0; i < HANDLE_TYPE__COUNT; i++)
                        names[i] = policy_handle_type((enum handle_type) i);
                (void) fail_at(r->e, &t->at, "\"%s\" is not a handle type", show_text(name).text);
                (void) err_hint(r->e,
                                "it is binary, text, json, jsonl, csv, image, png, jpeg, gif, webp, pdf, zip "
                                "or gzip");
                hint_nearest(r->e, name, names, COUNT(names));
                return -1;
        }

        bool json = d->type == HANDLE_JSON || d->type == HANDLE_JSONL;
        if (open && !json)
                return fail_at(r->e, &t->at, "only json and jsonl have a schema");

        if (json && d->kind != DOOR_NET && r->i < r->n && !token_is(&r->tok[r->i], "max") &&
            !token_is(&r->tok[r->i], "as")) {
                (void) fail_at(r->e, &r->tok[r->i].at, "stray \"%s\"", show_text(r->tok[r->i].text).text);
                return err_hint(r->e, "use %s(FILE) with a schema file", name);
        }

        return open ? read_schema(r, d, t, open) : 0;
}

/* [max SIZE] [as TYPE], in any order. */
static int read_shape(struct reader *r, struct door *d)
{
        const struct token *t;
        bool typed = false;
        d->max = 64 << 20;
        while ((t = reader_next(r))) {
                if (token_is(t, "max")) {
                        if (door_read_max(r, d) < 0)
                                return -1;
                } else if (token_is(t, "as") && !typed) {
                        typed = true;
                        if (door_read_type(r, d) < 0)
                                return -1;
                } else {
                        (void) fail_at(r->e, &t->at, "stray \"%s\"", show_text(t->text).text);
                        return err_hint(r->e,
                                        "after the name come `max SIZE` and `as TYPE`, each at most once");
                }
        }

        return 0;
}

static int read_handle(struct reader *r, enum door_kind kind)
{
        const struct token *t = reader_need(r, "the handle's name");
        struct door *d = t ? reader_door(r, kind, t) : NULL;
        if (!d)
                return -1;

        bool stream = kind == DOOR_IN && (policy_is_stream(t->text) || strcmp(t->text, "stdin") == 0);
        if (!name_ok(t->text, "_-") || stream)
                return fail_at(r->e, &t->at, "invalid handle name \"%s\"", show_text(t->text).text);

        d->name = t->text;
        return read_shape(r, d);
}

int line_in(struct reader *r) { return read_handle(r, DOOR_IN); }
int line_out(struct reader *r) { return read_handle(r, DOOR_OUT); }

/* `stdout as text`: an `out` door with the stream's name. */
static int read_stream(struct reader *r, const char *name)
{
        struct door *d = reader_door(r, DOOR_OUT, &r->tok[0]);
        if (!d)
                return -1;

        d->name = arena_str(&r->p->mem, name);
        if (!d->name)
                return fail_memory(r->e);

        return r->i == r->n ? fail_missing(r, "`as TYPE` or `max SIZE`") : read_shape(r, d);
}

int line_stdout(struct reader *r) { return read_stream(r, "stdout"); }
int line_stderr(struct reader *r) { return read_stream(r, "stderr"); }

/* ---- limits, wall, expectations ---- */

enum { MEMORY_LEAST = 64 << 10 };

/* 100m, 1kb, and 5 without a unit: suggests the valid spelling. */
static int hint_value(struct err *e, int unit, const char *text)
{
        static const char *const forms[] = { [UNIT_MS] = "use 500ms, 5s, 10m, 2h or 1d",
                                             [UNIT_BYTES] = "use 64K, 256M or 2G",
                                             [UNIT_COUNT] = "use a whole number",
                                             [UNIT_PER_HOUR] = "use 2000/h" };
        int n = (int) strspn(text, "0123456789");
        char letter = text[n] >= 'a' && text[n] <= 'z' ? (char) (text[n] - 'a' + 'A') : text[n];
        bool size = unit == UNIT_BYTES && n > 0 && n < 10;

        if (unit == UNIT_MS && n > 0 && n < 10 && !text[n])
                return err_hint(e, "use %ss for seconds", text);

        if (size && !letter)
                return err_hint(e, "use %sM for megabytes", text);

        if (size && strchr("KMGT", letter))
                return err_hint(e, "use %.*s%c", n, text, letter);

        return err_hint(e, "%s", forms[unit]);
}

static int read_limit_value(struct reader *r, enum limit_key k, const struct token *t, uint64_t *ret_value)
{
        const struct limit_row *row = limit_row(k);
        struct span s = span_str(t->text);
        if (row->unit == UNIT_PER_HOUR && s.n > 2 && memcmp(s.p + s.n - 2, "/h", 2) == 0)
                s.n -= 2;

        if (strcmp(t->text, "none") == 0) {
                if (k == LIMIT_RENEW)
                        return fail_at(r->e, &t->at, "without `renew` a time is not renewed");
                *ret_value = row->most; /* far from any use, and finite */
                return 0;
        }

        int bad = row->unit == UNIT_MS      ? str_to_ms(s, ret_value)
                  : row->unit == UNIT_BYTES ? str_to_size(s, ret_value)
                                            : str_to_u64(s, ret_value);
        char most[32];
        if (bad < 0) {
                (void) fail_at(r->e, &t->at, "invalid value \"%s\" for `limit %s`", show_text(t->text).text,
                               row->name);
                return hint_value(r->e, row->unit, t->text);
        }

        if (*ret_value == 0)
                return fail_at(r->e, &t->at, "`limit %s` cannot be zero", row->name);

        if (k == LIMIT_MEMORY && *ret_value < MEMORY_LEAST) { /* mostly a forgotten unit */
                (void) fail_at(r->e, &t->at, "`limit memory %s` is too small to start anything",
                               show_text(t->text).text);
                return hint_value(r->e, row->unit, t->text);
        }

        if (*ret_value > row->most)
                return fail_at(r->e, &t->at, "`limit %s` can be at most %s", row->name,
                               limit_print(k, row->most, most));

        return 0;
}

static int unknown_limit(struct reader *r, const struct token *t)
{
        (void) fail_at(r->e, &t->at, "unknown limit \"%s\"", show_text(t->text).text);
        if (strcmp(t->text, "none") == 0)
                return err_hint(r->e, "say which limit: `limit time none`");

        if (token_is(t, "ask"))
                return err_hint(r->e, "`ask` follows the number of renewals: `limit time 10m renew 3 ask`");

        if (r->p->limits.renew_asks && (token_is(t, "within") || token_is(t, "by")))
                return err_hint(r->e,
                                "`ask` of a limit takes no `%s`: the user of the box is asked, while its "
                                "time lasts",
                                t->text);

        hint_nearest(r->e, t->text, limit_row(0), LIMIT_KEY__COUNT);
        return -1;
}

int line_limit(struct reader *r)
{
        const struct token *t = reader_need(r, "the limit");
        for (; t; t = reader_next(r)) {
                enum limit_key k;
                uint64_t v;
                if (limit_key_find(t->text, &k) < 0)
                        return unknown_limit(r, t);
                if (r->p->limits.stated[k])
                        return fail_at(r->e, &t->at, "duplicate `limit %s`", t->text);
                const struct token *value = reader_need(r, "the limit's value");
                if (!value || read_limit_value(r, k, value, &v) < 0)
                        return -1;
                r->p->limits.value[k] = v;
                r->p->limits.stated[k] = true;
                r->p->limit_at[k] = t->at;
                if (k == LIMIT_RENEW && r->i < r->n && token_is(&r->tok[r->i], "ask")) {
                        r->p->limits.renew_asks = true;
                        r->i++;
                }
        }

        return r->n > 1 ? 0 : -1;
}

static int read_without(struct reader *r, unsigned *ret_bits)
{
        size_t count;
        const struct without_row *rows = without_rows(&count);
        const struct token *t = reader_need(r, "the layer to go without");

        for (; t; t = reader_next(r)) {
                int i = str_row(rows, count, t->text);
                if (i >= 0 && (*ret_bits & rows[i].bit))
                        return fail_at(r->e, &t->at, "duplicate \"%s\"", rows[i].name);
                if (i < 0) {
                        (void) fail_at(r->e, &t->at, "layer \"%s\" cannot be turned off",
                                       show_text(t->text).text);
                        (void) err_hint(
                                r->e, "landlock, cgroup and the compiler of the wasm wall can be turned off");
                        hint_nearest(r->e, t->text, rows, count);
                        return -1;
                }
                *ret_bits |= rows[i].bit;
        }

        return *ret_bits ? 0 : -1;
}

int line_wall(struct reader *r)
{
        const struct token *t = reader_need(r, "the wall's name");
        struct wall_line w = { .stated = true, .at = r->at };
        if (!t)
                return -1;

        if (r->p->wall.stated)
                return fail_at(r->e, &r->at, "duplicate `wall`; first on line %u", r->p->wall.at.line);

        if (wall_kind_find(t->text, &w.kind) < 0) {
                const char *names[WALL_KIND__COUNT];
                for (int k = 0; k < WALL_KIND__COUNT; k++)
                        names[k] = wall_name((enum wall_kind) k);
                (void) fail_at(r->e, &t->at, "unknown wall \"%s\"", show_text(t->text).text);
                (void) err_hint(r->e, "it is auto, namespace, process or wasm");
                hint_nearest(r->e, t->text, names, COUNT(names));
                return -1;
        }

        if (r->i < r->n && token_is(&r->tok[r->i], "without")) {
                r->i++;
                if (read_without(r, &w.without) < 0)
                        return -1;
                if (w.without & WITHOUT_COMPILER && wall_has(w.kind, WALL_PROGRAMS))
                        return fail_at(r->e, &t->at, "the %s wall has no compiler", t->text);
        }

        r->p->wall = w;
        return 0;
}

int line_local(struct reader *r)
{
        size_t count;
        const struct policy_local_row *rows = policy_local_rows(&count);
        const struct token *t = reader_need(r, "loopback, unix, pty, proc or trace");

        for (; t; t = reader_next(r)) {
                int i = str_row(rows, count, t->text);
                if (i < 0) {
                        (void) fail_at(r->e, &t->at, "unknown word \"%s\" after `local`",
                                       show_text(t->text).text);
                        (void) err_hint(r->e, "it is loopback, unix, pty, proc or trace");
                        hint_nearest(r->e, t->text, rows, count);
                        return -1;
                }
                if (!r->p->local)
                        r->p->local_at = t->at;
                r->p->local |= rows[i].bit;
        }

        return r->n > 1 ? 0 : -1;
}

int line_expect(struct reader *r)
{
        struct policy *p = r->p;
        const struct token *t = reader_need(r, "allow, deny or ask");
        if (!t)
                return -1;

        if (!token_is(t, "allow") && !token_is(t, "deny") && !token_is(t, "ask")) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not allow, deny or ask", show_text(t->text).text);
                return err_hint(r->e, "use `expect deny read /path` or `expect allow run prog`");
        }

        if (p->n_expects == EXPECTS_MAX)
                return fail_at(r->e, &r->at, "more than %d expectations", EXPECTS_MAX);

        struct expect_line x = { .at = r->at,
                                 .want = token_is(t, "allow") ? ANSWER_ALLOW
                                         : token_is(t, "ask") ? ANSWER_ASK
                                                              : ANSWER_DENY };
        x.n = r->n - r->i;
        if (x.n == 0)
                return fail_at(r->e, &t->at, "the effect is missing");

        x.tok = arena_alloc(&p->mem, x.n * sizeof *x.tok);
        if (!x.tok || vec_room((void **) &p->expects, p->n_expects, &p->cap_expects, sizeof *p->expects) < 0)
                return fail_memory(r->e);

        memcpy(x.tok, r->tok + r->i, x.n * sizeof *x.tok);
        p->expects[p->n_expects++] = x;
        r->i = r->n;
        return 0;
}
