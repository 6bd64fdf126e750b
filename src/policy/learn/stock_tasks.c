/* SPDX-License-Identifier: MIT */
/* policy/learn/stock_tasks.c - stock tasks and the least doors for each. Results go to standard output if
 * possible: then the box writes nothing at all. tests/cli/t1006-advise.sh runs every one whose tool is
 * installed. */
#include "policy/learn/internal.h"

#include <strings.h>

#define SECRETS  "expect deny  read {home}/.ssh/id_ed25519\nexpect deny  read {home}/.aws/credentials\n"
#define NO_NET   "expect deny  net GET https://example.com/\n"
#define NO_WRITE "expect deny  write {work}/anything\n"
#define SMALL    "limit  time 30s  cpu 30s  memory 512M  procs 16  output 64M\n"
#define USUAL    "the network, your home and its keys, your environment, every other file and program"

static const struct learn_task tasks[] = {
#include "policy/learn/tasks.inc"
};

const struct learn_task *learn_tasks(size_t *ret_count)
{
        *ret_count = COUNT(tasks);
        return tasks;
}

/* How many letters `word` and the next word of `list` share; a plural or an ending is the same word. */
static bool same_word(const char *word, size_t n, const char *other, size_t k)
{
        size_t least = n < k ? n : k, most = n < k ? k : n;
        return least >= 2 && strncasecmp(word, other, least) == 0 &&
               (most == least || (least >= 4 && most - least <= 2));
}

static unsigned word_score(const char *word, size_t n, const char *list)
{
        unsigned best = 0;
        for (const char *p = list; *p;) {
                size_t k = strcspn(p, " -");
                if (same_word(word, n, p, k))
                        best = k == n ? 3 : best ? best : 2;
                p += k + (p[k] != '\0');
        }

        return best;
}

static bool is_filler(const char *word, size_t n)
{
        static const char *const fillers[] = { "a",   "an",   "the",  "of",    "in",  "is",
                                               "to",  "with", "file", "files", "my",  "what",
                                               "two", "some", "it",   "and",   "from" };
        for (size_t i = 0; i < COUNT(fillers); i++)
                if (strlen(fillers[i]) == n && strncasecmp(word, fillers[i], n) == 0)
                        return true;

        return false;
}

static unsigned task_score(const struct learn_task *t, const char *words)
{
        unsigned sum = strcasecmp(t->name, words) == 0 ? 1000 : strcasecmp(t->title, words) == 0 ? 500 : 0;
        for (const char *p = words; *p;) {
                size_t n = strcspn(p, " -");
                if (n > 0 && !is_filler(p, n))
                        sum += 3 * word_score(p, n, t->name) + 3 * word_score(p, n, t->title) +
                               word_score(p, n, t->words);
                p += n + (p[n] != '\0');
        }

        return sum;
}

const struct learn_task *learn_task_find(const char *words)
{
        const struct learn_task *best = NULL;
        unsigned most = 0;
        for (size_t i = 0; i < COUNT(tasks); i++) {
                unsigned score = task_score(&tasks[i], words);
                if (score > most) {
                        most = score;
                        best = &tasks[i];
                }
        }

        return best;
}
