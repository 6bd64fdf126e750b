/* SPDX-License-Identifier: MIT */
/* face/cli/help.c - help, from the same tables that parse; the nearest verb to an unknown one; the words of a
 * verb. */
#include "base/shell.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Doors and options of `run` that few people type: its page only names them, `cordon help -v run` has them
 * all. */
static const char *const rare[] = {
        "box",       "doc",           "sock",           "sign",
        "decrypt",   "dev",           "tool",           "in",
        "out",       "stdout",        "stderr",         "limit",
        "local",     "rule",          "warm",           "expect",
        "trace",     "handle",        "arg-dirs",       "stage",
        "places",    "answers",       "record",         "ledger",
        "rm",        "in-from",       "require-ledger", "require-limit",
        "status-fd", "passphrase-fd", "observe",        "trip",
        "pool",      "canary",        "canary-share",   "canary-bound",
        "fuel",      "entry",         "interpret",      "interactive",
};

static bool is_rare(const struct cli_verb *v, const char *name)
{
        for (size_t i = 0; strcmp(v->name, "run") == 0 && i < sizeof rare / sizeof *rare; i++)
                if (strcmp(rare[i], name) == 0)
                        return true;

        return false;
}

enum { WIDTH = 100, LEFT = 33 };

/* Two columns; the second goes on in lines of its own. */
static void print_row(const char *left, const char *text)
{
        size_t room = WIDTH - LEFT, long_left = strlen(left) + 3 > LEFT;
        (void) printf("  %-30s%s", left, long_left ? "" : " ");
        if (long_left && strlen(left) + 3 + strlen(text) > WIDTH)
                (void) printf("\n%*s", LEFT, "");
        else if (long_left)
                (void) putchar(' ');

        for (size_t n = strlen(text); n > room; n = strlen(text)) {
                const char *cut = memrchr(text, ' ', room + 1);
                if (!cut)
                        break;
                (void) printf("%.*s\n%*s", (int) (cut - text), text, LEFT, "");
                text = cut + 1;
        }

        (void) puts(text);
}

static void print_rare(bool doors)
{
        const char *word, *synopsis, *help;
        size_t column = (size_t) printf("  More:");
        for (size_t i = 0; i < sizeof rare / sizeof *rare; i++) {
                bool door = strcmp(rare[i], "trace") == 0;
                for (size_t k = 0; !door && cordon_word_help(k, &word, &synopsis, &help); k++)
                        door = strcmp(word, rare[i]) == 0;

                if (door != doors)
                        continue;
                if (column + strlen(rare[i]) + 3 > WIDTH)
                        column = (size_t) printf("\n       ") - 1;
                column += (size_t) printf(" --%s", rare[i]);
        }

        (void) putchar('\n');
}

static void print_options(const struct cli_verb *v, bool all)
{
        for (const struct cli_option *o = cli_option_next(v, NULL); o; o = cli_option_next(v, o)) {
                char left[64];
                if (!all && is_rare(v, o->name))
                        continue;
                char letter[8] = "    ";
                if (o->letter)
                        (void) snprintf(letter, sizeof letter, "-%c, ", o->letter);
                (void) snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->arg ? " " : "",
                                o->arg ? o->arg : "");
                print_row(left, o->help);
        }

        if (!all && strcmp(v->name, "run") == 0)
                print_rare(false);
}

/* A line of a policy names several paths, and more; an option opens one door. */
static size_t first_words(const char *synopsis)
{
        const char *more = strstr(synopsis, "..."), *optional = strstr(synopsis, " [");
        const char *end = !more || (optional && optional < more) ? optional : more;

        return end ? (size_t) (end - synopsis) : strlen(synopsis);
}

static void print_limits(void)
{
        const char *name;
        char usual[32];

        (void) printf("\nLimits (`none` lifts one):");
        for (size_t i = 0; cordon_limit_help(i, &name, usual); i++)
                (void) printf("%s --%s %s", i % 6 ? "" : "\n ", name, usual);

        (void) printf("\n");
}

static void print_words(const struct cli_verb *v, bool all)
{
        const char *word, *synopsis, *help;

        (void) printf(
                "\nDoors (what no door opens is closed; cordon.policy(5) has each as a line of a file):\n");
        for (size_t i = 0; cordon_word_help(i, &word, &synopsis, &help); i++) {
                char left[64];
                if (!all && is_rare(v, word))
                        continue;
                int n = (int) first_words(synopsis);
                const char *quote = memchr(synopsis, ' ', (size_t) n) ? "\"" : "";
                (void) snprintf(left, sizeof left, "--%s %s%.*s%s", word, quote, n, synopsis, quote);
                print_row(left, help);
        }

        if (all)
                print_row("--trace", "short for --local trace");
        print_row("-p, --policy FILE", "add the doors of a policy file, or of a stock policy");
        if (!all)
                print_rare(true);
        print_limits();
}

static const char exit_statuses[] =
        "Exit status of run: the command's own; 128+N signal N;\n123 output rejected; 124 limit reached; "
        "125 cordon failed; 126 cannot execute; 127 not found.\n";

/* Examples. */
static const struct {
        const char *verb, *text;
} examples[] = {
        { "run",
          "Without doors it sees the host's programs read-only, a private home and /tmp, and no network.\n\n"
          "  cordon run --read . -- pytest                   read this directory\n"
          "  cordon run --edit . -- npm install              change an overlay; then cordon diff, cordon "
          "apply\n"
          "  cordon run --read . --write build -- make       write to build/ on the host\n"
          "  cordon run --net example.org:443 -- curl https://example.org/\n"
          "  cordon run --net 'https://api.example.com/v1/** GET' -- ./tool\n"
          "  cordon run --script install.sh                  an untrusted script: no files, no network, 60 "
          "s\n" },
        { "policy wrap",
          "  cordon policy wrap --time 30s --memory 512M -o ~/bin/pdftotext pdftotext\n"
          "  pdftotext report.pdf -                      the box sees report.pdf, and nothing else of yours\n"
          "  cordon policy wrap --time 30s -o ~/bin/convert convert\n"
          "  convert photo.png -resize 50% png:- >small.png\n"
          "  mkdir unpacked && cordon policy wrap --write ./unpacked -o ~/bin/untar tar\n"
          "  untar -C ./unpacked -xf downloaded.tar      it can write there, and nowhere else\n" },
};

static void print_examples(const char *verb)
{
        for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
                if (strcmp(examples[i].verb, verb) == 0)
                        (void) printf("\n%s", examples[i].text);
}

static void print_group(const char *group)
{
        size_t n;
        bool any = false;
        const struct cli_verb *v = cli_verbs(&n);

        for (size_t i = 0; i < n; i++) {
                const char *rest = cli_verb_rest(&v[i], group);
                if (rest && !any)
                        (void) printf("\nCommands:\n");
                if (rest)
                        (void) printf("  %-11s %s\n", rest, v[i].help);
                any = any || rest;
        }
}

void cli_help_verb(const struct cli_verb *v, bool all)
{
        (void) printf("usage: cordon %s%s%s\n\n%c%s.\n", v->name, v->synopsis[0] ? " " : "", v->synopsis,
                      toupper((unsigned char) v->help[0]), v->help + 1);
        print_examples(v->name);
        if (v->takes_doors && strcmp(v->name, "run") == 0)
                print_words(v, all);
        else if (v->takes_doors)
                (void) printf("\nDoors and limits: as for run (cordon help run)\n");

        if (cli_option_next(v, NULL))
                (void) printf("\nOptions:\n");

        print_options(v, all);
        print_group(v->name);
        char page[64], *last;
        (void) snprintf(page, sizeof page, "%s", v->name);
        if (v->group_page && (last = strrchr(page, ' ')))
                *last = '\0';

        for (char *c = page; (c = strchr(c, ' '));)
                *c = '-';

        if (strcmp(v->name, "run") == 0)
                (void) printf("\n%s", exit_statuses);

        (void) printf("\nMore: %sman cordon-%s\n",
                      all || strcmp(v->name, "run") != 0 ? "" : "cordon help -v run, ", page);
}

static const char *const groups[] = {
        [GROUP_RUN] = "Run",       [GROUP_REVIEW] = "Review", [GROUP_UNDERSTAND] = "Understand",
        [GROUP_RECORD] = "Record", [GROUP_SET_UP] = "Set up", [GROUP_OPERATE] = "Operate",
};
_Static_assert(sizeof groups / sizeof *groups == GROUP__COUNT, "a title for each group");

static void print_all(void)
{
        size_t n;
        const struct cli_verb *v = cli_verbs(&n);

        (void) printf("Run untrusted code in a box with no doors except the ones you open.\n\n"
                      "  cordon run -- python3 -c 'print(6*7)'    no files of yours, no network\n"
                      "  cordon run --edit . -- npm install       work on an overlay; then diff and apply\n"
                      "  cordon agent claude                      a coding agent, its API key outside\n");
        for (size_t g = 0; g < GROUP__COUNT; g++) {
                (void) printf("\n%s\n", groups[g]);
                for (size_t i = 0; i < n; i++)
                        if (v[i].group == g && !strchr(v[i].name, ' '))
                                (void) printf("  %-10s %s\n", v[i].name, v[i].help);
        }

        (void) printf("\n`cordon help COMMAND` describes a command. %s", exit_statuses);
}

/* The verb whose second word this is, or the one with the nearest spelling. */
static const char *nearest_verb(const char *given)
{
        size_t n;
        const struct cli_verb *v = cli_verbs(&n);
        const char *best = NULL;

        for (size_t i = 0; i < n; i++) {
                const char *space = strchr(v[i].name, ' ');
                if (space && strcmp(space + 1, given) == 0)
                        return v[i].name;
                if (!space)
                        str_nearer(given, v[i].name, &best);
        }

        return best;
}

static int unknown_second(const char *group, const char *given)
{
        size_t n;
        const struct cli_verb *v = cli_verbs(&n);
        const char *best = NULL;
        char both[128];
        (void) snprintf(both, sizeof both, "%s %s", group, given);
        for (size_t i = 0; i < n; i++)
                if (cli_verb_rest(&v[i], group))
                        str_nearer(given, cli_verb_rest(&v[i], group), &best);

        if (best && strcmp(best, given) == 0)
                return cli_problem("options follow the command"), cli_hint("cordon %s ...", both);

        (void) cli_problem("unknown command `%s %.60s`", group, given);
        if (cli_verb_habit(both))
                return cli_hint("%s", cli_verb_habit(both));

        return best ? cli_hint("did you mean `%s %s`?", group, best)
                    : cli_hint("`cordon help %s` lists them", group);
}

int cli_unknown_verb(char **argv)
{
        const char *given = argv[0];
        const char *best = nearest_verb(given);
        const char *instead = cli_verb_habit(given);
        AUTO_BUF(word);
        buf_shell(&word, given);
        (void) cli_problem("unknown command `%.60s`", given);
        if (instead)
                return cli_hint("%s", instead);

        if (best)
                return cli_hint("did you mean `%s`?", best);

        if (given[0] == '-')
                return cli_hint("options follow the command; `cordon help` lists commands");

        return cli_hint("`cordon help` lists commands; to run a program: cordon run -- %s", buf_str(&word));
}

int cli_take_doors(int argc, char **argv, void *ctx, cordon_policy *policy)
{
        const struct cli_verb *v = cli_verb_now();
        bool commands = v->most == 0 && cli_is_group(v->name);
        if (commands && argc > 1 && argv[1][0] != '-') /* its options may not be ours */
                return unknown_second(v->name, argv[1]), -1;

        if (v->words == CLI_NAMES || v->words == CLI_PATHS)
                cli_options_first(argc, argv, v);

        int at = cli_options(argc, argv, v, ctx, policy);
        if (at >= 0 && at < argc && commands)
                return unknown_second(v->name, argv[at]), -1;

        if (at < 0 || (argc - at >= v->least && argc - at <= v->most))
                return at;

        return v->which ? cli_usage("%s", v->which)
                        : cli_usage("usage: cordon %s%s%s", v->name, v->synopsis[0] ? " " : "", v->synopsis),
               -1;
}

int cli_take(int argc, char **argv, void *ctx) { return cli_take_doors(argc, argv, ctx, NULL); }

int cli_each(char **words, int (*act)(const cordon_context *cx, const char *word, cordon_error *e))
{
        int status = 0;
        for (; *words; words++) {
                cordon_error e = { 0 };
                if (act(cli_context(), *words, &e) < 0)
                        status = cli_error(&e);
        }

        return status;
}

int cli_view(int argc, char **argv, char *(*view)(const cordon_context *cx, int json, cordon_error *e))
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        return cli_take(argc, argv, &o) < 0 ? EXIT_CORDON : cli_give(view(cli_context(), o.json, &e), &e);
}

int verb_group(int argc, char **argv)
{
        if (cli_take(argc, argv, NULL) < 0)
                return EXIT_CORDON;

        return cli_help_verb(cli_verb_now(), true), 0;
}

int verb_help(int argc, char **argv)
{
        if (argc < 2)
                return print_all(), 0;

        struct cli_shared o = { 0 };
        int at = cli_take(argc, argv, &o), words = 0;
        if (at < 0)
                return EXIT_CORDON;

        const struct cli_verb *v =
                at < argc ? cli_verb_named(argc - at, argv + at, &words) : cli_verb_find("help");
        if (!v)
                return cli_unknown_verb(argv + at);

        if (argc - at > words)
                return cli_usage("only one command can be given");

        return cli_help_verb(v, o.verbose), 0;
}

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#endif

int verb_version(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        if (cli_take(argc, argv, &o) < 0)
                return EXIT_CORDON;

#ifdef __GLIBC__
        const char *libc = "glibc";
#else
        const char *libc = "musl";
#endif
        const char *v = cordon_version();
        int n = o.json ? printf("{\"abi\":%d,\"compiler\":\"%s\",\"libc\":\"%s\",\"machine\":\"%s\","
                                "\"version\":\"%s\"}\n",
                                CORDON_ABI, __VERSION__, libc, MACHINE, v)
                       : printf("cordon %s\n", v);
        return n < 0 ? EXIT_CORDON : 0;
}
