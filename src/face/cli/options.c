/* SPDX-License-Identifier: MIT */
/* face/cli/options.c - options by table, policy words as flags, errors with the nearest right word. */
#include "base/buf.h"
#include "base/shell.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_option no_options[] = { { 0 } };

static const cordon_error no_memory = { 0 };

static void say_settled(void *ctx, const char *run, int landed, size_t entries)
{
        (void) ctx;
        if (landed)
                cli_note(
                        "an apply of %s was interrupted; it is complete now: %zu %s; cordon undo %s takes it "
                        "back",
                        run, entries, entries == 1 ? "entry" : "entries", run);
        else
                cli_note("an apply or undo of %s was interrupted; it is taken back now: %zu %s", run, entries,
                         entries == 1 ? "entry" : "entries");
}

const cordon_context *cli_context(void)
{
        static cordon_context *own;
        if (!own && (own = cordon_context_new(environ)))
                cordon_context_settled(own, say_settled, NULL);

        return own;
}

cordon_policy *cli_policy_new(void)
{
        cordon_policy *p = cordon_policy_new(cli_context());
        if (!p)
                (void) cli_error(&no_memory);
        return p;
}

cordon_box *cli_box_new(cordon_policy *policy)
{
        cordon_box *b = cordon_box_new(policy);
        if (!b)
                (void) cli_error(&no_memory);
        return b;
}

int cli_give(char *text, const cordon_error *e)
{
        if (!text)
                return cli_error(e);
        int bad = fputs(text, stdout) == EOF || fflush(stdout) == EOF;
        cordon_free(text);
        return bad ? EXIT_CORDON : 0;
}

int cli_put(const struct buf *text)
{
        if (text->failed)
                return cli_error(&no_memory);
        return fputs(buf_str(text), stdout) == EOF || fflush(stdout) == EOF ? EXIT_CORDON : 0;
}

void cli_put_quoted(struct buf *out, const char *text)
{
        buf_putc(out, '"');
        for (const char *c = text; *c; c++)
                buf_printf(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
        buf_putc(out, '"');
}

bool cli_self(char *ret, size_t cap)
{
        ssize_t n = readlink("/proc/self/exe", ret, cap - 1);
        bool whole = n > 0 && (size_t) n < cap - 1;
        ret[whole ? n : 0] = '\0';
        return whole;
}

void cli_ignore_output(void *ctx, int stream, const void *data, size_t len)
{
        (void) ctx;
        (void) stream;
        (void) data;
        (void) len;
}

/* Limits as flags of their own, as docker users expect. */
static const char *const limit_flags[] = { "time",   "cpu",    "memory",  "procs",   "files", "disk",
                                           "output", "egress", "ingress", "effects", "rate",  "renew" };

static bool is_limit_flag(const char *name)
{
        return str_row(limit_flags, sizeof limit_flags / sizeof *limit_flags, name) >= 0;
}

static bool policy_is_bad;

bool cli_policy_failed(void) { return policy_is_bad; }

/* An invalid door does not stop the parsing of the rest: all of them are reported. */
static int policy_failed(const cordon_error *e)
{
        policy_is_bad = true;
        (void) cli_error(e);
        return 0;
}

/* --time 5 is short for --limit 'time 5', and an error names what was typed. */
static void say_as_typed(cordon_error *e, const char *word)
{
        static const char long_form[] = "--limit: ";
        cordon_error as = *e;
        if (strncmp(e->what, long_form, sizeof long_form - 1) == 0)
                (void) snprintf(as.what, sizeof as.what, "--%s: %s", word, e->what + sizeof long_form - 1);
        *e = as;
}

/* --trace is short for --local trace. */
static bool is_local_flag(const char *name) { return strcmp(name, "trace") == 0; }
/* --gpu are all of them, --gpu=0 is one. */
static bool is_gpu_flag(const char *name) { return strcmp(name, "gpu") == 0; }

/* A name of an image that is a file or directory here is that one. */
static int take_image(cordon_policy *p, const char *value, cordon_error *e)
{
        char path[4096];
        bool here = !strchr("/.~{", value[0]) && access(value, F_OK) == 0 &&
                    (size_t) snprintf(path, sizeof path, "./%s", value) < sizeof path;
        return cordon_policy_add(p, "image", here ? path : value, e);
}

/* --limit renew 3: an option has one argument, so two words that are right together need quotes. */
static void say_quoted(cordon_error *e, const char *word, const char *value, const char *next)
{
        AUTO_BUF(both);
        AUTO_BUF(typed);
        cordon_error ignored;
        if (!value[0] || !next || next[0] == '-')
                return;

        buf_printf(&both, "%s %s", value, next);
        buf_shell_quoted(&typed, buf_str(&both));
        cordon_policy *trial = both.failed || typed.failed ? NULL : cordon_policy_new(cli_context());
        if (trial && cordon_policy_add(trial, word, buf_str(&both), &ignored) == 0)
                (void) snprintf(e->hint, sizeof e->hint, "use --%s %s", word, buf_str(&typed));
        cordon_policy_free(trial);
}

/* `next`: the word after the value, or NULL. */
static int take_word(cordon_policy *p, const char *word, const char *value, const char *next)
{
        cordon_error e;
        char limit[128];
        if (is_limit_flag(word)) {
                (void) snprintf(limit, sizeof limit, "%s %s", word, value);
                if (cordon_policy_add(p, "limit", limit, &e) == 0)
                        return 0;
                say_as_typed(&e, word);
        } else if (strcmp(word, "image") == 0) {
                if (take_image(p, value, &e) == 0)
                        return 0;
        } else if (cordon_policy_add(p, is_local_flag(word) ? "local" : word, value, &e) == 0) {
                return 0;
        } else {
                say_quoted(&e, word, value, next);
        }

        return policy_failed(&e);
}

int cli_work(cordon_policy *p, const char *work)
{
        cordon_error e = { 0 };
        char *real = work ? realpath(work, NULL) : NULL;
        if (work && !real)
                return cli_usage("--work %s: %s", work, strerror(errno)), -1;

        int r = real ? cordon_policy_roots(p, real, NULL, &e) : 0;
        free(real);
        return r < 0 ? (cli_error(&e), -1) : 0;
}

int cli_policy_load(cordon_policy *p, const char *path, cordon_error *e)
{
        const char *stock = cordon_stock_text(path); /* base/python3 */
        int r = stock ? cordon_policy_add_text(p, path, stock, strlen(stock), e)
                      : cordon_policy_add_file(p, path, e);
        if (r < 0)
                cli_failure_in(path);
        return r;
}

static int take_policy_file(cordon_policy *p, const char *path)
{
        cordon_error e;
        const char *published = cli_habit(NULL, "--publish");
        if (cli_policy_load(p, path, &e) == 0)
                return 0;

        if (strspn(path, "0123456789.:") == strlen(path) && published) /* -p 8080:80, as docker has it */
                (void) snprintf(e.hint, sizeof e.hint, "%s", published);

        return policy_failed(&e);
}

struct given { /* one option as on the command line */
        char name[64];
        const char *value; /* after '=' or glued to the letter; NULL: the next argument, if it takes one */
        char letter;
};

/* Of two equally near ones, the shorter: --rd is --read rather than --record. */
static void nearer(const char *given, const char *name, const char **best)
{
        bool shorter = *best && strlen(name) < strlen(*best);
        if (shorter && str_far(given, name) == str_far(given, *best))
                *best = name;
        else
                str_nearer(given, name, best);
}

static const struct cli_option *row_for(const struct cli_option *o, unsigned mask)
{
        while (o->name && o->of && !(o->of & mask))
                o++;
        return o->name ? o : NULL;
}

const struct cli_option *cli_option_next(const struct cli_verb *v, const struct cli_option *o)
{
        if (v->program) /* which has its options */
                return NULL;

        bool shared = o >= cli_shared_options && o < cli_shared_options + cli_shared_count;
        const struct cli_option *own = shared ? NULL : row_for(o ? o + 1 : v->options, v->part);
        return own ? own : row_for(shared ? o + 1 : cli_shared_options, v->shared);
}

static const char *nearest(const struct cli_verb *verb, const char *given, bool words)
{
        const char *best = NULL, *word, *synopsis, *help;
        for (const struct cli_option *o = cli_option_next(verb, NULL); o; o = cli_option_next(verb, o))
                nearer(given, o->name, &best);

        for (size_t i = 0; words && cordon_word_help(i, &word, &synopsis, &help); i++)
                nearer(given, word, &best);

        for (size_t i = 0; words && i < sizeof limit_flags / sizeof *limit_flags; i++)
                nearer(given, limit_flags[i], &best);

        return best;
}

static int unknown(const struct cli_verb *verb, const struct given *g, bool words)
{
        char typed[sizeof g->name + 2];
        (void) snprintf(typed, sizeof typed, "%s%s", g->letter ? "-" : "--", g->name);
        const char *instead = cli_habit(words ? NULL : verb->name, typed);
        const char *best = g->letter ? NULL : nearest(verb, g->name, words);
        (void) cli_problem("`cordon %s` has no option %s", verb->name, typed);
        if (instead)
                (void) cli_hint("%s", instead);
        else if (best)
                (void) cli_hint("did you mean --%s?", best);
        else
                (void) cli_hint("`cordon help %s` lists them", verb->name);

        return -1;
}

static const struct cli_option *find_option(const struct cli_verb *verb, const char *name, char letter)
{
        for (const struct cli_option *o = cli_option_next(verb, NULL); o; o = cli_option_next(verb, o))
                if (letter ? o->letter == letter : strcmp(o->name, name) == 0)
                        return o;
        return NULL;
}

static struct given letter_of(const char *letters)
{
        return (struct given){ .name = { letters[0] },
                               .letter = letters[0],
                               .value = letters[1] ? letters + 1 : NULL };
}

static bool split(const char *arg, struct given *g)
{
        *g = (struct given){ 0 };
        if (arg[1] != '-') {
                *g = letter_of(arg + 1);
                return true;
        }

        const char *eq = strchr(arg, '=');
        size_t n = eq ? (size_t) (eq - arg - 2) : strlen(arg + 2);
        if (n == 0 || n >= sizeof g->name)
                return false;

        memcpy(g->name, arg + 2, n);
        g->value = eq ? eq + 1 : NULL;
        return true;
}

/* The type of an option: one of the verb's own, a policy file, or a word of the policy language. */
struct meaning {
        const struct cli_option *own;
        bool file, word;
        bool wants; /* a value */
};

static struct meaning meaning_of(const struct cli_verb *verb, const struct given *g)
{
        struct meaning m = { .own = find_option(verb, g->name, g->letter) };
        bool doors = !m.own && verb->takes_doors;
        m.file = doors && (g->letter ? g->letter == 'p' : strcmp(g->name, "policy") == 0);
        bool local = is_local_flag(g->name);
        m.word = doors && !g->letter && (local || cordon_policy_is_word(g->name) || is_limit_flag(g->name));
        m.wants = m.own ? m.own->arg != NULL : m.file || (m.word && !local && !is_gpu_flag(g->name));
        return m;
}

/* Is it one of "live|test|mock"? */
static bool is_one_of(const char *list, const char *value)
{
        size_t n = strlen(value);
        for (const char *at = list; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
                if (strcspn(at, "|") == n && strncmp(at, value, n) == 0)
                        return true;
        return false;
}

/* "--stage takes live, test or mock". */
static int not_one_of(const struct cli_option *o, const char *value)
{
        AUTO_BUF(list);
        for (const char *at = o->arg, *end; at; at = *end ? end + 1 : NULL) {
                end = at + strcspn(at, "|");
                buf_printf(&list, "%s%.*s", at == o->arg ? "" : *end ? ", " : " or ", (int) (end - at), at);
        }

        return cli_usage("--%s takes %s, not `%s`", o->name, buf_str(&list), value), -1;
}

static int set_text(const struct cli_option *o, const char **field, const char *value)
{
        if (o->kind == CLI_KIND_ONCE && *field)
                return cli_usage("--%s is given twice", o->name), -1;

        bool named = o->arg && strchr(o->arg, '|') && !strchr(o->arg, ',');
        if (named && !is_one_of(o->arg, value))
                return not_one_of(o, value);

        *field = o->arg ? value : "1";
        return 0;
}

static int set_count(const struct cli_option *o, unsigned *field, const char *value)
{
        char name[68];
        long n = 0;
        (void) snprintf(name, sizeof name, "--%s", o->name);
        if (cli_number(name, value, o->least, o->most, &n) < 0)
                return -1;

        *field = (unsigned) n;
        return 0;
}

static int set_seconds(const struct cli_option *o, unsigned *field, const char *value)
{
        enum { DAY_MS = 86400000 };
        uint64_t ms = 0;
        if (str_to_ms(span_str(value), &ms) < 0 || ms < 1000 || ms > DAY_MS)
                return cli_usage("--%s takes a time from 1s to 1d, as 30s or 10m", o->name), -1;

        *field = (unsigned) (ms / 1000);
        return 0;
}

static int set_list(const struct cli_option *o, const char **field, const char *value)
{
        size_t n = cli_list_count(field);
        if (n == CLI_LIST_MAX)
                return cli_usage("--%s can be given %d times", o->name, CLI_LIST_MAX), -1;

        field[n] = value;
        return 0;
}

static int set_option(const struct cli_option *o, void *ctx, const char *value)
{
        void *field = (char *) ctx + o->field;
        switch (o->kind) {
        case CLI_KIND_CALL:
                return o->take(ctx, value);
        case CLI_KIND_FLAG:
                *(bool *) field = true;
                return 0;
        case CLI_KIND_TEXT:
        case CLI_KIND_ONCE:
                return set_text(o, field, value);
        case CLI_KIND_COUNT:
                return set_count(o, field, value);
        case CLI_KIND_SECONDS:
                return set_seconds(o, field, value);
        case CLI_KIND_TIME:
                return cli_time(value, field);
        case CLI_KIND_LIST:
                return set_list(o, field, value);
        }

        return -1;
}

/* The option at the end of the line that lacks its value: moved before the other words, it must not take
 * one of them. */
static const char *without_value;

/* An empty shell variable leaves nothing between `--read` and the next option: that is not its value. */
static bool is_option(const struct cli_verb *verb, const char *word)
{
        struct given g;
        if (strncmp(word, "--", 2) != 0 || strchr(word, '='))
                return false;

        if (!word[2])
                return true;

        struct meaning m = split(word, &g) ? meaning_of(verb, &g) : (struct meaning){ 0 };
        return m.own || m.file || m.word;
}

static int took_option(const struct given *g)
{
        const char *dashes = g->letter ? "-" : "--";
        (void) cli_problem("option %s%s requires an argument (got %s)", dashes, g->name, g->value);
        (void) cli_hint("if that is meant: %s%s%s%s", dashes, g->name, g->letter ? "" : "=", g->value);
        return -1;
}

/* Handles argv[*at]; moves *at over an argument it took. */
static int take_one(const struct cli_verb *verb, char **argv, int argc, int *at, struct given *g, void *ctx,
                    cordon_policy *policy)
{
        struct meaning m = meaning_of(verb, g);
        for (; m.own && !m.wants && g->letter && g->value; m = meaning_of(verb, g)) { /* -tq is -t -q */
                if (set_option(m.own, ctx, NULL) < 0)
                        return -1;
                *g = letter_of(g->value);
        }

        if (!m.own && !m.file && !m.word)
                return unknown(verb, g, policy != NULL);

        if (m.wants && !g->value) {
                if (*at + 1 >= argc || argv[*at] == without_value) {
                        (void) cli_usage("option %s%s requires an argument", g->letter ? "-" : "--", g->name);
                        return -1;
                }
                g->value = argv[++*at];
                if (is_option(verb, g->value))
                        return took_option(g);
        } else if (!m.wants && g->value && (m.own || !is_gpu_flag(g->name))) {
                (void) cli_usage("option --%s takes no argument", g->name);
                return -1;
        }

        if (m.own)
                return set_option(m.own, ctx, g->value);

        return m.file ? take_policy_file(policy, g->value)
                      : take_word(policy, g->name,
                                  m.wants || is_gpu_flag(g->name) ? g->value ? g->value : "" : g->name,
                                  *at + 1 < argc ? argv[*at + 1] : NULL);
}

/* The number of arguments of an option and its value: 1 or 2; 0: not an option. Of combined letters, *g is
 * the last. */
static int words_of(const struct cli_verb *verb, const char *arg, struct given *g)
{
        if (arg[0] != '-' || arg[1] == '\0' || !split(arg, g))
                return 0;
        while (g->letter && g->value && !meaning_of(verb, g).wants)
                *g = letter_of(g->value);
        return meaning_of(verb, g).wants && !g->value ? 2 : 1;
}

int cli_option_words(const struct cli_verb *verb, const char *word, struct cli_typed *ret)
{
        struct given g = { 0 };
        int n = words_of(verb, word, &g);
        struct meaning m = n ? meaning_of(verb, &g) : (struct meaning){ 0 };

        *ret = (struct cli_typed){ .arg = m.own    ? m.own->arg
                                          : m.file ? "POLICY"
                                                   : NULL,
                                   .value = m.wants ? g.value : NULL };

        (void) snprintf(ret->name, sizeof ret->name, "%s", m.own ? m.own->name : g.name);
        return n;
}

static void move_to(char **argv, int to, int from)
{
        char *moved = argv[from];
        memmove(&argv[to + 1], &argv[to], (size_t) (from - to) * sizeof *argv);
        argv[to] = moved;
}

void cli_options_first(int argc, char **argv, const struct cli_verb *verb)
{
        int front = 1, i = 1;
        struct given g;
        for (int n; i < argc && strcmp(argv[i], "--") != 0; i += n ? n : 1) {
                n = words_of(verb, argv[i], &g);
                if (n > argc - i)
                        without_value = argv[i];
                for (int k = 0; k < n && i + k < argc; k++)
                        move_to(argv, front++, i + k);
        }

        if (i < argc && verb->words == CLI_NAMES)
                move_to(argv, front, i);
}

bool cli_help_asked(int argc, char **argv, const struct cli_verb *verb)
{
        struct given g;
        for (int i = 1, n; i < argc && strcmp(argv[i], "--") != 0; i += n ? n : 1) {
                n = words_of(verb, argv[i], &g);
                if (n == 0 && verb->words == CLI_COMMAND)
                        return false;
                if (n && (strcmp(argv[i], "-help") == 0 || g.letter == 'h' || strcmp(g.name, "help") == 0))
                        return true;
        }

        return false;
}

const char *cli_asked(int argc, char **argv, const struct cli_verb *verb, const char *name)
{
        struct given g;
        const struct cli_option *own = find_option(verb, name, 0);
        for (int i = 1, n; own && i < argc && strcmp(argv[i], "--") != 0; i += n ? n : 1) {
                n = words_of(verb, argv[i], &g);
                if (n == 0 && verb->words == CLI_COMMAND)
                        return NULL;
                if (n == 2 && i + 1 < argc && is_option(verb, argv[i + 1]))
                        n = 1; /* an invalid option, but an option */
                if (n == 0 || g.letter || strcmp(g.name, name) != 0)
                        continue;
                return n == 1 ? g.value ? g.value : "" : i + 1 < argc ? argv[i + 1] : NULL;
        }

        return NULL;
}

int cli_options(int argc, char **argv, const struct cli_verb *verb, void *ctx, cordon_policy *policy)
{
        int i = 1;
        for (; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++) {
                struct given g;
                if (strcmp(argv[i], "--") == 0) {
                        i++;
                        break;
                }
                if (!split(argv[i], &g)) {
                        (void) cli_usage("unknown option %s", argv[i]);
                        return -1;
                }
                if (take_one(verb, argv, argc, &i, &g, ctx, policy) < 0)
                        return -1;
        }

        return policy_is_bad ? -1 : i;
}

void cli_doors_again(int argc, char **argv, const struct cli_verb *verb, cli_door_taker *take, void *ctx)
{
        struct given g;
        for (int i = 1, n; i < argc && (n = words_of(verb, argv[i], &g)) > 0; i += n) {
                struct meaning m = meaning_of(verb, &g);
                struct cli_door d = { .value = n == 2 && i + 1 < argc ? argv[i + 1] : g.value,
                                      .file = m.file };
                if (!m.file && !m.word)
                        continue;
                (void) snprintf(d.option, sizeof d.option, "%s%s", g.letter ? "-" : "--", g.name);
                take(ctx, &d);
        }
}

static void take_word_again(void *ctx, const struct cli_door *d)
{
        const char *word = d->option + 2;
        if (!d->file)
                (void) take_word(ctx, word, d->value ? d->value : is_gpu_flag(word) ? "" : word, NULL);
}

int cli_words_again(int argc, char **argv, const struct cli_verb *verb, cordon_policy *policy)
{
        cli_doors_again(argc, argv, verb, take_word_again, policy);
        return policy_is_bad ? -1 : 0;
}
