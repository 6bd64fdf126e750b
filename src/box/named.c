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

enum { WORDS_MOST = 64, PARTS_MOST = 64, TOLD_MOST = 4 };

/* Where the caller meant it, if the box looks for it elsewhere and nobody hears of that. */
static bool meant(struct box *b, const char *word, char *ret, size_t cap)
{
        const struct plan *p = b->c.plan;
        if (word[0] == '\0' || !path_join(p->cwd_outside ? p->cwd_outside : "/", word, ret, cap))
                return false;
        bool moved = word[0] != '/' && p->cwd_outside && strcmp(p->cwd, p->cwd_outside) != 0;
        return (moved || keeper_is_private(ret) || keeper_is_beside_copy(b, ret)) && outside_has(b, ret);
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
        keeper_fill_read(&n, path, b->c.home, d.answer != ANSWER_ALLOW ? &line : NULL);
        keeper_add_denial(b, &n);
        return true;
}

/* ---- hosts ---- */

/* "https://host/..." anywhere in a word, as in the line of a shell: the URL alone. */
static bool url_in(const char *word, const char *scheme, char *ret, size_t cap)
{
        const char *at = strstr(word, scheme);
        size_t n = at ? strlen(scheme) + strcspn(at + strlen(scheme), "/ \t\n\"'`?#;|&<>()$\\{}@,") : 0;
        if (n <= (at ? strlen(scheme) : 0) || n + 2 > cap)
                return false;
        memcpy(ret, at, n);
        ret[n] = '/';
        ret[n + 1] = '\0';
        return true;
}

/* A destination that the command names and no door leads to. Without a net door a box has no resolver, so
 * that nobody hears which name was looked for. */
static void tell_host(struct box *b, const char *url)
{
        struct box_denial n = { .code = "net", .layer = "net", .count = 1, .on_host = -1 };
        struct policy_context none = { .work = "/", .home = "/" };
        struct effect f = { 0 };
        struct err e;
        AUTO_BUF(line);
        AUTO_BUF(text);
        buf_printf(&text, "net GET %s", url);
        if (text.failed || policy_effect_parse(buf_str(&text), &none, &f, &e) < 0)
                return;
        struct decision d = policy_decide(b->c.policy, &f);
        bool denied = d.answer != ANSWER_ALLOW && d.gap != GAP_METHOD && d.gap != GAP_URL_PATH;
        bool v6 = strchr(f.net.host, ':') != NULL;
        (void) snprintf(n.path, sizeof n.path, "%s%s%s:%u", v6 ? "[" : "", f.net.host, v6 ? "]" : "",
                        (unsigned) f.net.port);
        buf_printf(&line, "net %s", n.path);
        (void) snprintf(n.what, sizeof n.what, "connect to %s", n.path);
        bool metadata = policy_names_metadata(url);
        (void) snprintf(n.reason, sizeof n.reason, "%s",
                        metadata ? "metadata" : policy_gap_name(GAP_NO_DOOR));
        if (!metadata && !line.failed && line.n < sizeof n.permit)
                (void) snprintf(n.permit, sizeof n.permit, "%s", buf_str(&line));
        policy_effect_done(&f);
        if (denied && !is_told(&b->r, n.path)) {
                keeper_command_name(b, n.program, sizeof n.program);
                keeper_add_denial(b, &n);
        }
}

/* `FILE`, `--from=FILE`, `if=FILE`, and `sh -c 'cat <FILE'`: in a private directory that stands for the
 * host's no layer hears what a script looks for. */
static unsigned tell_parts(struct box *b, const char *word)
{
        static const char between[] = " \t\n=;|&<>()'\"`";
        char part[PATH_MAX], path[PATH_MAX];
        unsigned told = 0;
        for (unsigned i = 0; *word && i < PARTS_MOST && told < TOLD_MOST; i++) {
                size_t n = strcspn(word, between);
                (void) snprintf(part, sizeof part, "%.*s", (int) (n < sizeof part ? n : 0), word);
                if (part[0] != '-' && meant(b, part, path, sizeof path))
                        told += tell(b, path);
                word += n + strspn(word + n, between);
        }
        return told;
}

/* And `https://HOST/...`. */
void keeper_note_named(struct box *b)
{
        char path[PATH_MAX];
        const struct plan *p = b->c.plan;
        bool seen = b->c.observe == BOX_OBSERVE_DENIALS || b->c.observe == BOX_OBSERVE_ALL;
        unsigned told = 0;
        if (b->r.end != BOX_EXITED || b->r.code == 0 || !seen)
                return;
        for (unsigned i = 1; i < WORDS_MOST && told < TOLD_MOST && p->argv[i]; i++) {
                const char *word = p->argv[i];
                bool whole = word[0] != '-' && meant(b, word, path, sizeof path);
                told += whole ? tell(b, path) : b->c.observe == BOX_OBSERVE_DENIALS ? tell_parts(b, word) : 0;
                bool url = url_in(word, "https://", path, sizeof path) ||
                           url_in(word, "http://", path, sizeof path);
                if (url && !p->net) /* else the broker reports it */
                        tell_host(b, path);
        }
}
