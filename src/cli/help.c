/* SPDX-License-Identifier: MIT */
/* cli/help.c - help, from the same tables that parse. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static void print_options(const struct cli_option *o)
{
        for (; o->name; o++) {
                char left[64];
                char letter[8] = "    ";
                if (o->letter)
                        (void) snprintf(letter, sizeof letter, "-%c, ", o->letter);
                (void) snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->arg ? " " : "",
                                o->arg ? o->arg : "");
                (void) printf("  %-30s %s\n", left, o->help);
        }
}

static void print_words(void)
{
        const char *word, *synopsis, *help;
        (void) printf("\nDoors (as lines of a policy file, without the dashes; as an option, one path, "
                      "program, socket or\n"
                      "variable each, and no `except`):\n");
        for (size_t i = 0; cordon_word_help(i, &word, &synopsis, &help); i++) {
                char left[112];
                (void) snprintf(left, sizeof left, "--%s %s", word, synopsis);
                (void) printf("  %-46s %s\n", left, help);
        }
        (void) printf("  %-46s %s\n", "--time, --cpu, --memory, --procs ... V", "short for --limit 'KEY V'");
        (void) printf("  %-46s %s\n", "--trace", "short for --local trace");
        const char *name;
        char usual[32];
        (void) printf("  %-46s", "  limits by default (`none` lifts one)");
        for (size_t i = 0; cordon_limit_help(i, &name, usual); i++)
                (void) printf(" %s %s", name, usual);
        (void) printf("\n");
        (void) printf("  %-46s %s\n", "-p, --policy FILE",
                      "door lines or JSON from FILE, or a stock policy by name");
}

/* What is easier shown than told. */
static const struct {
        const char *verb, *text;
} examples[] = {
        { "wrap",
          "  cordon wrap --time 30s --memory 512M -o ~/bin/pdftotext pdftotext\n"
          "  pdftotext report.pdf -                      the box sees report.pdf, and nothing else of yours\n"
          "  cordon wrap --time 30s -o ~/bin/convert convert\n"
          "  convert photo.png -resize 50% png:- >small.png\n"
          "  mkdir unpacked && cordon wrap --write ./unpacked -o ~/bin/untar tar\n"
          "  untar -C ./unpacked -xf downloaded.tar      it can write there, and nowhere else\n" },
};

static void print_examples(const char *verb)
{
        for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
                if (strcmp(examples[i].verb, verb) == 0)
                        (void) printf("\nExamples:\n%s", examples[i].text);
}

void cli_help_verb(const struct cli_verb *v)
{
        (void) printf("usage: cordon %s%s%s\n\n%s.\n", v->name, v->synopsis[0] ? " " : "", v->synopsis,
                      v->help);
        print_examples(v->name);
        if (v->options->name)
                (void) printf("\nOptions:\n");
        print_options(v->options);
        if (v->takes_doors)
                print_words();
        (void) printf("\nMore: man cordon-%s\n", v->name);
}

static void print_all(void)
{
        size_t n;
        const struct cli_verb *v = cli_verbs(&n);
        (void) printf(
                "cordon runs code that nobody trusts in a box with no doors but the ones you name.\n\n"
                "  cordon run -- python3 -c 'print(6*7)'       nothing of yours is visible, no network\n"
                "  cordon run --read . -- ls -l                one door: this directory, read-only\n"
                "  cordon why read ~/.ssh/id_ed25519           what a box would answer, and why\n\nVerbs:\n");
        for (size_t i = 0; i < n; i++)
                (void) printf("  %-11s %s\n", v[i].name, v[i].help);
        (void) printf("\n`cordon help VERB` tells more. Exit status of run: the command's own; 128+n for "
                      "signal n;\n"
                      "124 a limit ended it; 125 cordon itself failed; 126 and 127 as in shells.\n");
}

int verb_help(int argc, char **argv)
{
        if (argc < 2)
                return print_all(), 0;
        int at = cli_words_only(argc, argv, "help");
        if (at < 0)
                return EXIT_CORDON;
        if (argc - at > 1)
                return cli_usage("one verb at a time");
        const struct cli_verb *v = at < argc ? cli_verb_find(argv[at]) : cli_verb_find("help");
        if (!v)
                return cli_unknown_verb(argv[at]);
        return cli_help_verb(v), 0;
}

int verb_version(int argc, char **argv)
{
        int at = cli_words_only(argc, argv, "version");
        if (at < 0 || cli_no_words(argc, at, "version"))
                return EXIT_CORDON;
        return printf("cordon %s\n", cordon_version()) < 0 ? EXIT_CORDON : 0;
}
