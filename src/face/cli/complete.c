/* SPDX-License-Identifier: MIT */
/* face/cli/complete.c - completes a command line, from the tables that parse it; the scripts in completions/
 * call it. Never prints an error: a keypress in the middle of a line did not ask for one.
 *
 * One candidate per line: the word, a tab, its help. Or a request to the shell: "@files" or "@dirs", a
 * tab, and the part of the word before the path; "@command", a tab, and the number of the word (`cordon`
 * is 0) that starts a command line of its own. */
#include "base/buf.h"
#include "base/str.h"
#include "face/cli/boxes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const cli_ledger_kinds[] = { "file",    "exec",   "net",     "request", "credential", "handle",
                                         "output",  "limit",  "start",   "end",     "view",       "reply",
                                         "key",     "prune",  "gap",     "gate",    "tool",       "audit",
                                         "head",    "intent", "outcome", "denied",  "human",      "claim",
                                         "unknown", NULL };

struct here { /* the word that is completed */
        struct buf out;
        const char *word, *typed; /* typed: its end that is completed, after "--read=" */
        int number;               /* of the word */
        int place;                /* among the words that are not options */
        const struct cli_verb *verb;
};

/* Some shells insert a candidate unquoted: one that would be more than a word is dropped. */
static bool is_word(const char *s)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
        return s[0] && s[strspn(s, plain)] == '\0';
}

static void add_candidate(struct here *h, const char *word, const char *help)
{
        char shown[200]; /* a directory's name may be untrusted */

        if (is_word(word) && strncmp(word, h->typed, strlen(h->typed)) == 0)
                buf_printf(&h->out, "%.*s%s\t%s\n", (int) (h->typed - h->word), h->word, word,
                           str_inert(span_str(help), shown, sizeof shown));
}

static void put_each(struct here *h, const char *list)
{
        char word[32];

        for (size_t n; *(list += strspn(list, " ")); list += n) {
                n = strcspn(list, " ");
                (void) snprintf(word, sizeof word, "%.*s", (int) n, list);
                add_candidate(h, word, "");
        }
}

static void put_files(struct here *h)
{
        buf_printf(&h->out, "@files\t%.*s\n", (int) (h->typed - h->word), h->word);
}

static void put_directories(struct here *h)
{
        buf_printf(&h->out, "@dirs\t%.*s\n", (int) (h->typed - h->word), h->word);
}

static void put_handle(struct here *h)
{
        const char *equals = strchr(h->typed, '=');

        if (!equals)
                return;
        h->typed = equals + 1;
        put_files(h);
}

static void put_program(struct here *h)
{
        if (h->typed == h->word)
                buf_printf(&h->out, "@command\t%d\n", h->number);
        else
                put_files(h);
}

static void put_stock(struct here *h)
{
        const char *name;

        for (size_t i = 0; (name = cordon_stock_name(i)); i++)
                add_candidate(h, name, "stock policy");
}

static void put_uses(struct here *h)
{
        put_stock(h);
        add_candidate(h, "none", "not even the loader");
}

static void put_policies(struct here *h)
{
        put_stock(h);
        put_files(h);
}

static void put_box(void *ctx, const struct json *o, const char *text)
{
        bool answered = !json_get(o, "refused");
        const char *run = answered ? json_text(o, "run") : "", *name = answered ? json_text(o, "name") : "";
        (void) text;
        if (run[0])
                add_candidate(ctx, run, name[0] ? name : "running box");

        if (name[0])
                add_candidate(ctx, name, run);
}

static void put_boxes(struct here *h)
{
        cordon_error ignored = { 0 };
        (void) cli_boxes_each(put_box, h, &ignored);
}

static void put_session(void *ctx, const struct json *o, const char *text)
{
        if (json_get(o, "session"))
                put_box(ctx, o, text);
}

static void put_sessions(struct here *h)
{
        cordon_error ignored = { 0 };
        (void) cli_boxes_each(put_session, h, &ignored);
}

/* Two members of each object of a list: the word and its help. */
static void put_members(struct here *h, struct span list, const char *word, const char *help)
{
        struct err ignored;
        struct json_doc *d = json_parse("list", list, &ignored);

        for (const struct json *o = d ? json_root(d)->child : NULL; o; o = o->next)
                add_candidate(h, json_text(o, word), json_text(o, help));
        json_free(d);
}

static void sink(void *ctx, const void *data, size_t len) { buf_add(ctx, data, len); }

static void put_runs(struct here *h)
{
        cordon_error ignored = { 0 };
        AUTO_BUF(list);

        if (cordon_work_list(cli_context(), 1, sink, &list, &ignored) == 0)
                put_members(h, buf_span(&list), "run", "host");

        if (h->verb->group != GROUP_REVIEW)
                put_boxes(h);
}

static void put_credentials(struct here *h)
{
        cordon_error ignored = { 0 };
        char *list = cordon_vault_list(cli_context(), 1, &ignored);

        if (list)
                put_members(h, span_str(list), "name", "class");
        cordon_free(list);
}

static void put_tasks(struct here *h)
{
        const char *name;

        for (size_t i = 0; (name = cordon_advise_name(i)); i++)
                add_candidate(h, name, "stock task");
}

static void put_group(struct here *h, const char *group)
{
        size_t n;
        const struct cli_verb *v = cli_verbs(&n);

        for (size_t i = 0; i < n; i++)
                if (cli_verb_rest(&v[i], group))
                        add_candidate(h, cli_verb_rest(&v[i], group), v[i].help);
}

/* Candidates from the verb itself. */
static void put_names(struct here *h)
{
        const char *help, *name;

        for (size_t i = 0; h->verb->name_at && (name = h->verb->name_at(i, &help)); i++)
                add_candidate(h, name, help);
}

/* "--time" with "--" before it, "time" without. */
static void put_limits_after(struct here *h, const char *dashes)
{
        const char *name;
        char usual[32], word[64], help[64];

        for (size_t i = 0; cordon_limit_help(i, &name, usual); i++) {
                (void) snprintf(word, sizeof word, "%s%s", dashes, name);
                (void) snprintf(help, sizeof help, "limit (default: %s)", usual);
                add_candidate(h, word, help);
        }
}

static void put_limits(struct here *h) { put_limits_after(h, ""); }

static void put_variables(struct here *h)
{
        char name[64];

        for (char **v = environ; *v; v++) {
                size_t n = strcspn(*v, "=");
                (void) snprintf(name, sizeof name, "%.*s", (int) n, *v);
                if (n < sizeof name)
                        add_candidate(h, name, "");
        }
}

static void put_effects(struct here *h)
{
        if (h->place == 0)
                put_each(h, "read write run net env sock");
        else
                put_files(h);
}

static void put_kinds(struct here *h)
{
        for (size_t i = 0; cli_ledger_kinds[i]; i++)
                add_candidate(h, cli_ledger_kinds[i], "");
}

static void put_flags(struct here *h)
{
        put_each(
                h,
                "git-hook git-config git-inside vcs startup ci editor build package agent policy environment "
                "search-path link setid executable access mode");
}

/* A word of the policy language, or false. */
static bool find_word(const char *name, const char **ret_synopsis, const char **ret_help)
{
        const char *word;

        for (size_t i = 0; cordon_word_help(i, &word, ret_synopsis, ret_help); i++)
                if (strcmp(word, name) == 0)
                        return true;
        return false;
}

/* Words of the policy whose help lists their values. */
static void put_help_of(struct here *h, const char *word)
{
        const char *synopsis, *help, *colon;

        if (!find_word(word, &synopsis, &help))
                return;
        colon = strchr(help, ':');
        put_each(h, colon ? colon + 1 : help);
}

static void put_walls(struct here *h) { put_help_of(h, "wall"); }
static void put_locals(struct here *h) { put_help_of(h, "local"); }

/* The type of an argument, by its name in the help; the first row that matches. `of`: the option, verb or
 * query. */
static const struct {
        const char *arg, *of; /* of: NULL: any */
        void (*put)(struct here *h);
} kinds[] = {
        { "FILE", "policy", put_policies },
        { "FILE", NULL, put_files },
        { "PATH", NULL, put_files },
        { "DIR", NULL, put_directories },
        { "NAME=FILE", NULL, put_handle },
        { "POLICY", NULL, put_policies },
        { "OLD", "policy diff", put_policies },
        { "NEW", "policy diff", put_policies },
        { "PROGRAM", NULL, put_program },
        { "RUN", NULL, put_runs },
        { "BOX", NULL, put_boxes },
        { "SESSION", NULL, put_sessions },
        { "TASK", NULL, put_tasks },
        { "EFFECT", NULL, put_effects },
        { "VARIABLE", NULL, put_variables },
        { "KEY", "limit", put_limits },
        { "KIND", "kind", put_kinds },
        { "KIND", "flagged", put_flags },
        { "WALL", NULL, put_walls },
        { "WHAT", "local", put_locals },
        { "NAME", "wall", put_walls },
        { "NAME", "use", put_uses },
        { "NAME", "env", put_variables },
        { "NAME", "box", put_boxes },
        { "NAME", "with", put_credentials },
        { "NAME", "policy stock", put_stock },
        { "NAME", "vault rm", put_credentials },
        { "NAME", "vault rotate", put_credentials },
        { "NAME", "selftest bombs", put_names },
};

static void put_kind(struct here *h, const char *arg, const char *of)
{
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                if (strcmp(kinds[i].arg, arg) == 0 && (!kinds[i].of || strcmp(kinds[i].of, of) == 0)) {
                        kinds[i].put(h);
                        return;
                }
}

/* The possible first words of "PROGRAM...|any" or "KEY VALUE...". */
static void put_argument(struct here *h, const char *arg, const char *of)
{
        char one[32];
        const char *end = arg + strcspn(arg, " [");

        for (size_t n; arg < end; arg += n + (arg[n] == '|')) {
                n = strcspn(arg, "| [");
                size_t name = n > 3 && strncmp(arg + n - 3, "...", 3) == 0 ? n - 3 : n;
                (void) snprintf(one, sizeof one, "%.*s", (int) name, arg);
                if (islower((unsigned char) one[0]))
                        add_candidate(h, one, "");
                else
                        put_kind(h, one, of);
        }
}

static void put_value(struct here *h, const struct cli_typed *t, const char *value)
{
        const char *arg = t->arg, *help;

        h->typed = value;
        if (arg || find_word(t->name, &arg, &help))
                put_argument(h, arg, t->name);
}

static void put_option(struct here *h, const char *name, char letter, const char *help)
{
        char dashed[68];

        if (letter) {
                (void) snprintf(dashed, sizeof dashed, "-%c", letter);
                add_candidate(h, dashed, help);
        }

        (void) snprintf(dashed, sizeof dashed, "--%s", name);
        add_candidate(h, dashed, help);
}

static void put_doors(struct here *h)
{
        const char *name, *synopsis, *help;

        put_option(h, "policy", 'p', "doors from this file, or a stock policy");
        for (size_t i = 0; cordon_word_help(i, &name, &synopsis, &help); i++)
                put_option(h, name, 0, help);

        put_limits_after(h, "--");
        put_option(h, "trace", 0, "short for --local trace");
}

static void put_options(struct here *h)
{
        for (const struct cli_option *o = cli_option_next(h->verb, NULL); o; o = cli_option_next(h->verb, o))
                put_option(h, o->name, o->letter, o->help);

        if (h->verb->takes_doors)
                put_doors(h);

        put_option(h, "help", 'h', "print help");
        if (h->verb->words == CLI_COMMAND)
                add_candidate(h, "--", "the command follows");
}

/* The next word of a synopsis that is not an option; the value of an option is also skipped. */
static const char *next_word(const struct cli_verb *v, const char *at, char ret[32])
{
        static const char between[] = " []|";
        struct cli_typed ignored;

        for (size_t n, skip = 0; *(at += strspn(at, between)); at += n) {
                n = strcspn(at, between);
                (void) snprintf(ret, 32, "%.*s", (int) n, at);
                if (skip || at[0] == '.' || strcmp(ret, "DOORS") == 0 || strcmp(ret, "OPTIONS") == 0)
                        skip = 0;
                else if (at[0] == '-')
                        skip = cli_option_words(v, ret, &ignored) == 2;
                else
                        return at + n;
        }

        return NULL;
}

/* The queries of a verb, as `show` of `log`: the lower-case words of its synopsis. */
static void put_questions(struct here *h)
{
        char word[32];

        put_group(h, h->verb->name);
        for (const char *at = h->verb->synopsis; (at = next_word(h->verb, at, word));)
                if (islower((unsigned char) word[0]) && !cli_is_group(h->verb->name))
                        add_candidate(h, word, "");
}

/* The word at h->place, as the synopsis names it after `question` (NULL: from its start). */
static void put_words(struct here *h, const char *question)
{
        char word[32], last[32] = "";
        const char *at = h->verb->synopsis;
        int place = question ? h->place - 1 : h->place;
        if (!question && place == 0)
                put_group(h, h->verb->name);

        while (question && (at = next_word(h->verb, at, word)) && strcmp(word, question) != 0)
                ;

        while (at && (at = next_word(h->verb, at, word)) && !islower((unsigned char) word[0])) {
                (void) snprintf(last, sizeof last, "%s", word);
                if (place-- == 0) {
                        put_argument(h, word, h->verb->name);
                        return;
                }
        }

        if (strstr(last, "..."))
                put_argument(h, last, h->verb->name);
}

static bool has_questions(const struct cli_verb *v)
{
        char word[32];
        return next_word(v, v->synopsis, word) && islower((unsigned char) word[0]);
}

/* The word with this number starts a command line of its own. */
static void put_command(struct here *h, int number, bool is_script)
{
        if (is_script && number == h->number)
                put_files(h);
        else
                buf_printf(&h->out, "@command\t%d\n", number);
}

/* The last word, if it is not the value of an option before it. */
static void put_last(struct here *h, const char *question, bool plain)
{
        struct cli_typed t;

        if (!plain && h->word[0] == '-') {
                (void) cli_option_words(h->verb, h->word, &t);
                if (t.value)
                        put_value(h, &t, t.value);
                else
                        put_options(h);
        } else if (!has_questions(h->verb)) {
                put_words(h, NULL);
        } else if (question) {
                put_words(h, question);
        } else {
                put_questions(h);
        }
}

/* The words after a verb; the last one is completed. */
static void put_for_verb(struct here *h, int argc, char **argv)
{
        const char *question = NULL;
        bool plain = false, is_script = false; /* plain: after "--" */
        bool starts = h->verb->words == CLI_COMMAND;
        struct cli_typed t = { 0 };

        for (int i = 0, n; i < argc - 1; i += n ? n : 1) {
                bool ends = !plain && strcmp(argv[i], "--") == 0;
                n = plain ? 0 : cli_option_words(h->verb, argv[i], &t);
                if (n == 2 && i + 2 == argc) {
                        put_value(h, &t, h->word);
                        return;
                }
                if (n == 0 && starts) {
                        put_command(h, h->number - (argc - 1) + i + ends, is_script);
                        return;
                }
                if (n == 0 && !ends && h->place++ == 0)
                        question = argv[i];
                plain = plain || ends;
                is_script = is_script || (n && !t.arg && strcmp(t.name, "script") == 0);
        }

        if (starts && !plain && h->verb->name_at && h->word[0] != '-') { /* a known one, or a second word */
                put_names(h);
                put_group(h, h->verb->name);
        } else if (starts && h->word[0] != '-')
                put_command(h, h->number, is_script);
        else
                put_last(h, question, plain);
}

static void put_verbs(struct here *h)
{
        size_t n;
        const struct cli_verb *v = cli_verbs(&n);

        for (size_t i = 0; i < n; i++)
                if (!strchr(v[i].name, ' ') && v[i].group != GROUP__COUNT)
                        add_candidate(h, v[i].name, v[i].help);

        const struct cli_verb *stands_for;
        const char *typed;
        for (size_t i = 0; (typed = cli_synonym(i, &stands_for)); i++)
                if (strcmp(typed, h->word) == 0 && typed[0] != '-')
                        add_candidate(h, typed, stands_for ? stands_for->help : "");
}

/* The words of a verb. */
static void put_verb_words(struct here *h, int argc, char **argv)
{
        int words = 0;
        const struct cli_verb *group = argc > 1 ? cli_verb_named(argc - 1, argv, &words) : NULL;

        if (argc == 1)
                put_verbs(h);
        else if (group && words == argc - 1)
                put_group(h, group->name);
}

static void put_all(struct here *h, int argc, char **argv)
{
        int words = 0;

        h->verb = argc > 1 ? cli_verb_named(argc - 1, argv, &words) : NULL;
        if (h->verb && h->verb->run == verb_help && h->word[0] != '-')
                put_verb_words(h, argc - words, argv + words);
        else if (h->verb)
                put_for_verb(h, argc - words, argv + words);
        else
                put_verb_words(h, argc, argv);

        if (argc == 1 && h->word[0] == '-') {
                put_option(h, "help", 'h', "print help");
                put_option(h, "version", 'V', "print the version");
        }
}

int verb_complete(int argc, char **argv)
{
        struct here h = { .word = argc > 1 ? argv[argc - 1] : "", .number = argc - 1 };

        h.typed = h.word;
        if (argc > 1)
                put_all(&h, argc - 1, argv + 1);

        (void) fputs(buf_str(&h.out), stdout);
        buf_done(&h.out);
        return 0;
}
