/* SPDX-License-Identifier: MIT */
/* policy/read/words.c - the word table, and how a line, a flag or a JSON door reaches the handler of its
 * word. */
#include "policy/internal.h"

#include <stdio.h>
#include <stdlib.h>

/* As a flag the argument is one token | takes `until` | and `ask`. */
enum { ONE_TOKEN = 1, DOOR = 2, ASKS = 4 };

/* One row: word, synopsis, help, handler, flags. */
#define WORDS(X)                                                                                             \
        X("box", "NAME", "name of the box in ps, logs and the ledger", line_box, 0)                          \
        X("root", "IMAGE", "use the files of an image as the root: directory, archive, OCI layout or name",  \
          line_root, ONE_TOKEN)                                                                              \
        X("doc", "\"TEXT\"", "description, one sentence", line_doc, 0)                                       \
        X("use", "NAME...[sha256:HEX]",                                                                      \
          "add the doors of another policy; `use none` drops the default doors", line_use, 0)                \
        X("read", "PATH...[except SUB...]", "show a file or directory, read-only", line_read,                \
          ONE_TOKEN | DOOR)                                                                                  \
        X("edit", "PATH...[except SUB...]",                                                                  \
          "let it be changed in an overlay, applied later by a person; a single file cannot be replaced by " \
          "rename",                                                                                          \
          line_edit, ONE_TOKEN | DOOR | ASKS)                                                                \
        X("write", "PATH...",                                                                                \
          "let it be changed on the host at once; a missing PATH is created as a file, DIR/ as a directory", \
          line_write, ONE_TOKEN | DOOR)                                                                      \
        X("run", "PROGRAM...|any", "allow a program to start; DIR/ for all programs below it", line_run,     \
          ONE_TOKEN | DOOR | ASKS)                                                                           \
        X("env", "NAME[=VALUE]...", "pass a variable, or set one", line_env, ONE_TOKEN | DOOR)               \
        X("net",                                                                                             \
          "DEST [METHOD...] [with NAME] [cap N] [reach WHOM] [touches WHAT...] [where BOUND...] [as TYPE] "  \
          "[ask ...]",                                                                                       \
          "host:port, *.host:port, https://host/path/**, wss://host/path, @place/path", line_net,            \
          DOOR | ASKS)                                                                                       \
        X("sock", "PATH...",                                                                                 \
          "connect to a Unix socket of the host; wayland, x11, pulse, pipewire: those of your desktop "      \
          "session",                                                                                         \
          line_sock, ONE_TOKEN | DOOR | ASKS)                                                                \
        X("sign", "AGENT:KEY [max N] [ask ...]",                                                             \
          "sign with one key of your ssh-agent or gpg-agent: ssh:COMMENT, ssh:SHA256:..., gpg:KEYGRIP",      \
          line_sign, DOOR | ASKS)                                                                            \
        X("decrypt", "gpg:KEYGRIP [max N] [ask ...]", "decrypt with one key of your gpg-agent",              \
          line_decrypt, DOOR | ASKS)                                                                         \
        X("dev", "PATH...", "one device: /dev/kvm, /dev/fuse, /dev/dri/..., /dev/nvidia...", line_dev,       \
          ONE_TOKEN | DOOR)                                                                                  \
        X("gpu", "[all|NUMBER|UUID]...", "GPUs to compute on: all of yours, or these", line_gpu, DOOR)       \
        X("listen", "PORT[:PORT]...", "forward a port of the host's loopback to a server in the box",        \
          line_listen, ONE_TOKEN | DOOR | ASKS)                                                              \
        X("tool", "NAME...|any [where BOUND...] [ask ...]",                                                  \
          "allow tools of a wrapped MCP server to be called", line_tool, DOOR | ASKS)                        \
        X("in", "NAME [max SIZE] [as TYPE]", "input file, opened by the host", line_in, DOOR)                \
        X("out", "NAME [max SIZE] [as TYPE]", "output file, opened by the host", line_out, DOOR)             \
        X("stdout", "as TYPE [max SIZE]",                                                                    \
          "type of standard output: text, json, json(SCHEMA) ...; checked and made inert", line_stdout,      \
          DOOR)                                                                                              \
        X("stderr", "as TYPE [max SIZE]", "the same for standard error", line_stderr, DOOR)                  \
        X("limit", "KEY VALUE...",                                                                           \
          "time cpu memory procs files disk output egress ingress effects rate renew", line_limit, 0)        \
        X("wall", "NAME [without LAYER...]",                                                                 \
          "or \"namespace without landlock\", one layer less: auto process namespace wasm vm", line_wall, 0) \
        X("local", "WHAT...", "facilities inside the box: loopback unix pty proc trace", line_local, 0)      \
        X("rule", "two|touch",                                                                               \
          "two: of private data, untrusted text and network access at most two, unless a person approves; "  \
          "touch: files label a run when first opened",                                                      \
          line_rule, 0)                                                                                      \
        X("warm", "python3 [import MODULE...]|node [require MODULE...]",                                     \
          "start this interpreter and import these modules in parked boxes", line_warm, 0)                   \
        X("expect", "allow|deny|ask EFFECT", "test of the policy, checked whenever it is loaded",            \
          line_expect, 0)

static const struct policy_word_help helps[] = {
#define X(word, synopsis, help, parse, flags) { word, synopsis, help },
        WORDS(X)
#undef X
};
static const struct {
        int (*parse)(struct reader *r);
        unsigned flags;
} handlers[] = {
#define X(word, synopsis, help, parse, flags) { parse, flags },
        WORDS(X)
#undef X
};

/* Later tranches. They must stop the load: an ignored ceiling or gate is a hole. */
static const char *const later[] = { "under", "reach" };

const struct policy_word_help *policy_words(size_t *ret_count)
{
        *ret_count = COUNT(helps);
        return helps;
}

static int word_find(const char *word) { return str_row(helps, COUNT(helps), word); }

static bool is_later(const char *word) { return str_row(later, COUNT(later), word) >= 0; }

/* The word behind --FLAG: `root` is --image there, because --root has the meaning of uid 0 inside. */
static const char *flag_word(const char *flag)
{
        return strcmp(flag, "image") == 0 ? "root" : strcmp(flag, "root") == 0 ? "image" : flag;
}

const char *policy_word_flag(const char *word) { return strcmp(word, "root") == 0 ? "image" : word; }

bool policy_is_word(const char *flag) { return word_find(flag_word(flag)) >= 0 || is_later(flag); }

static int unknown_word(const char *word, const struct source_place *at, struct err *e)
{
        if (is_later(word))
                return fail_at(e, at, "`%s` is not implemented", word);

        if (strcmp(word, "ask") == 0) {
                (void) fail_at(e, at, "`ask` goes at the end of a door line");
                return err_hint(e, "use `net https://host/path POST ask`");
        }

        if (strcmp(word, "label") == 0 || strcmp(word, "accepts") == 0 || strcmp(word, "declassify") == 0) {
                (void) fail_at(e, at, "`%s` must follow a door", word);
                return err_hint(e, "use `read PATH label private:NAME`, or `net DEST accepts private:NAME`");
        }

        (void) fail_at(e, at, "unknown word \"%s\"", show_text(word).text);
        if (at->line && word[0] && strchr("/~{.\\", word[0]))
                return err_hint(e,
                                "lines cannot be continued; start the next line with a word such as `read`");

        hint_nearest(e, word, helps, COUNT(helps));
        if (!e->hint[0])
                (void) err_hint(e, "a line starts with a word such as read, edit, write, run, env, net, "
                                   "sock, in or out; see man cordon.policy");

        return -1;
}

/* Takes `until DATE` off the end of a door line. */
static int read_until(struct reader *r)
{
        for (size_t i = r->i; i < r->n; i++) {
                if (!token_is(&r->tok[i], "until"))
                        continue;
                if (i + 2 != r->n)
                        return fail_at(r->e, &r->tok[i].at, "`until DATE` must end the line");
                if (date_parse(r->tok[i + 1].text, &r->until) < 0) {
                        (void) fail_at(r->e, &r->tok[i + 1].at, "\"%s\" is not a date",
                                       show_text(r->tok[i + 1].text).text);
                        return err_hint(r->e, "use 2026-12-31 or 2026-12-31T12:00Z");
                }
                r->n = i;
        }

        return 0;
}

static const char *why_no_ask(const char *word)
{
        static const struct {
                const char *word, *why;
        } reasons[] = {
                { "read", "opens of these files cannot be held; use `ask` on a `run` door" },
                { "write", "its files change at once; use `edit`, which asks before changes are applied" },
                { "env", "it is passed at the start; use `ask` on a `run` door" },
                { "dev", "it is passed at the start; use `ask` on a `run` door" },
                { "gpu", "it is passed at the start; use `ask` on a `run` door" },
                { "in", "it is passed at the start; use `ask` on a `run` door" },
                { "out", "it is your file until you pass it on" },
        };
        int i = str_row(reasons, COUNT(reasons), word);
        return i < 0 ? "it is not a door" : reasons[i].why;
}

/* Behind a door that cannot ask, the word would be taken for a path or a name, and nobody would be asked. */
static int refuse_ask(const struct reader *r)
{
        for (size_t i = 2; i < r->n; i++) {
                if (!token_is(&r->tok[i], "ask"))
                        continue;
                (void) fail_at(r->e, &r->tok[i].at, "`%s` takes no `ask`", r->word->word);
                return err_hint(
                        r->e,
                        "%s; net, listen, run, sock, sign, decrypt, tool and edit ask; in quotes it is a "
                        "name",
                        why_no_ask(r->word->word));
        }

        return 0;
}

int words_read(struct policy *p, const struct token *tok, size_t n, struct err *e)
{
        int w = tok->quoted ? -1 : word_find(tok->text);
        if (w < 0)
                return unknown_word(tok->text, &tok->at, e);

        struct reader r = { .p = p, .word = &helps[w], .tok = tok, .n = n, .i = 1, .at = tok->at, .e = e };
        if ((handlers[w].flags & DOOR) && read_until(&r) < 0)
                return -1;

        bool asks = handlers[w].flags & ASKS, door = handlers[w].flags & DOOR;
        if (asks ? ask_read(&r) < 0 : door && refuse_ask(&r) < 0)
                return -1;

        if ((door && flow_read(&r) < 0) || handlers[w].parse(&r) < 0)
                return -1;

        return reader_end(&r);
}

/* ---- flags ---- */

/* The whole argument is one token. It is not part of a line, so nothing in it is a pattern or a keyword
 * except a last ? (not of a variable) and `any`. */
static int one_token(struct policy *p, int w, const char *arg, struct tokens *t, struct err *e)
{
        struct source_place at = t->v[0].at;
        struct lexer x = { .mem = &p->mem, .file = at.file, .out = t, .e = e };
        size_t n = strlen(arg);
        if (n > POLICY_MAX_LINE)
                return fail_at(e, &at, "longer than %d bytes", POLICY_MAX_LINE);

        if (lex_check(&x, span_of(arg, n), at) < 0)
                return -1;

        bool run = handlers[w].parse == line_run,
             optional = n > 1 && arg[n - 1] == '?' && handlers[w].parse != line_env;
        struct token k = { .at = at, .quoted = !run || strcmp(arg, "any") != 0, .optional = optional };
        k.text = arena_copy(&p->mem, span_of(arg, n - optional));
        return k.text && tokens_add(t, &k) == 0 ? 0 : fail_memory(e);
}

static int read_flag(struct policy *p, const char *word, const char *arg, struct tokens *t, struct err *e)
{
        char flag[sizeof(struct shown) + 2];
        (void) snprintf(flag, sizeof flag, "--%s", show_text(word).text);
        char *name = policy_file_name(p, flag);
        struct token k = { .text = arena_str(&p->mem, flag_word(word)), .at = { .file = name } };
        int w = word_find(flag_word(word));
        if (!name || !k.text || tokens_add(t, &k) < 0)
                return fail_memory(e);

        if (w < 0)
                return unknown_word(word, &k.at, e);

        struct lexer x = { .mem = &p->mem, .file = name, .out = t, .e = e };
        int r = (handlers[w].flags & ONE_TOKEN) ? one_token(p, w, arg, t, e)
                                                : lex_line(&x, span_str(arg), k.at);
        for (size_t i = 0; r == 0 && i < t->n; i++)
                t->v[i].at.column = 0;

        return r < 0 ? -1 : words_read(p, t->v, t->n, e);
}

int policy_add_flag(struct policy *p, const char *word, const char *arg, struct err *e)
{
        struct tokens t = { 0 };
        struct policy *own = policy_new();
        if (!own)
                return fail_memory(e);

        int r = read_flag(own, word, arg, &t, e);
        if (r == 0)
                r = policy_absorb(p, own, e);

        free(t.v);
        policy_free(own);
        return r;
}

/* A quoted path is one token without the quotes, and a name that ends in `?` has one more: on the command
 * line, `PATH?` is optional. */
void policy_put_argument(struct buf *out, const char *line)
{
        struct arena mem = { 0 };
        struct tokens t = { 0 };
        struct err ignored;
        struct lexer x = { .mem = &mem, .file = "", .out = &t, .e = &ignored };
        const char *rest = strchr(line, ' ');

        if (rest && lex_line(&x, span_str(rest + 1), (struct source_place){ 0 }) == 0) {
                bool quoted = t.n == 1 && t.v[0].quoted;
                const char *text = quoted ? t.v[0].text : rest + 1;
                buf_puts(out, text);
                if (quoted && text[0] && text[strlen(text) - 1] == '?')
                        buf_putc(out, '?');
        }

        free(t.v);
        arena_done(&mem);
}
