/* SPDX-License-Identifier: MIT */
/* box/named.c - files that the command line names, the host has and the box does not see. A program that is
 * given `in.txt` looks for it in the box's home, or for /tmp/in.txt in a /tmp of the box's own: both are
 * there and answer by themselves, so no layer refuses anything. Told only where the run failed: whether the
 * file was looked for is not known, so it is in the result and not in the ledger. */
#include "base/str.h"
#include "box/internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MOST = 64, TOLD_MOST = 4 };

/* Where the caller meant it, if the box looks for it elsewhere and nobody hears of that. */
static bool meant(struct box *b, const char *word, char *ret, size_t cap)
{
        const struct plan *p = b->c.plan;
        if (word[0] == '\0' || !path_join(p->cwd_outside ? p->cwd_outside : "/", word, ret, cap))
                return false;
        bool moved = word[0] != '/' && p->cwd_outside && strcmp(p->cwd, p->cwd_outside) != 0;
        return (moved || keeper_is_private(ret)) && outside_has(b, ret);
}

static bool is_told(const struct box_result *r, const char *path)
{
        for (unsigned i = 0; i < r->denial_count; i++)
                if (strcmp(r->denials[i].path, path) == 0)
                        return true;
        return false;
}

static bool tell(struct box *b, char *path)
{
        struct effect f = { .kind = EFFECT_READ, .path = path };
        struct decision d = policy_decide(b->c.policy, &f);
        struct box_denial n = { .code = "read", .count = 1, .on_host = 1 };
        if (d.door || strlen(path) >= sizeof n.path || is_told(&b->r, path))
                return false;
        (void) snprintf(n.layer, sizeof n.layer, b->r.wall == WALL_PROCESS ? "landlock" : "mount");
        keeper_command_name(b, n.program, sizeof n.program);
        AUTO_BUF(line);
        if (d.answer != ANSWER_ALLOW) /* else the box may read its own, but that is another */
                policy_smallest_line(&f, &d, &line);
        keeper_fill_read(&n, path, d.answer != ANSWER_ALLOW ? &line : NULL);
        keeper_add_denial(b, &n);
        return true;
}

/* `FILE`, `--from=FILE`, `if=FILE`. */
void keeper_note_named(struct box *b)
{
        char path[PATH_MAX];
        const struct plan *p = b->c.plan;
        bool seen = b->c.observe == BOX_OBSERVE_DENIALS || b->c.observe == BOX_OBSERVE_ALL;
        unsigned told = 0;
        if (b->r.end != BOX_EXITED || b->r.code == 0 || !seen)
                return;
        for (unsigned i = 1; i < WORDS_MOST && told < TOLD_MOST && p->argv[i]; i++) {
                const char *word = p->argv[i], *value = strchr(word, '=');
                if ((word[0] != '-' && meant(b, word, path, sizeof path)) ||
                    (value && meant(b, value + 1, path, sizeof path)))
                        told += tell(b, path);
        }
}
