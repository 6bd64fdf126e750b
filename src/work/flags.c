/* SPDX-License-Identifier: MIT */
/* work/flags.c - what the host later executes or trusts: shown first, and applied only when asked for by
 * name. A list of names can never be complete: it is the second look, not the wall. Pure. */
#include "work/internal.h"

#include <ctype.h>
#include <string.h>

static const char *const words[] = {
        [FLAG_GIT_HOOK] = "git runs it",
        [FLAG_GIT_CONFIG] = "git takes orders from it",
        [FLAG_GIT_INSIDE] = "inside a git directory",
        [FLAG_VCS] = "a version control program takes orders from it",
        [FLAG_SHELL_START] = "a shell or login reads it at its start",
        [FLAG_CI] = "a build server runs it",
        [FLAG_EDITOR] = "an editor acts on it",
        [FLAG_BUILD] = "a build tool runs it",
        [FLAG_PACKAGE] = "a package manager runs what it says",
        [FLAG_AGENT] = "a coding agent obeys it",
        [FLAG_POLICY] = "a box gets its doors from it",
        [FLAG_ENVIRONMENT] = "sets variables of programs started here",
        [FLAG_SEARCH_PATH] = "found before the real program or library of that name",
        [FLAG_LINK_OUT] = "a link that leaves the tree",
        [FLAG_SETID] = "runs as its owner or group",
        [FLAG_EXECUTABLE] = "newly executable",
        [FLAG_ACCESS] = "says who may open what is made in it later, whatever the umask",
        [FLAG_LOOSER] = "open to more users than before",
        [FLAG_SPECIAL] = "a socket, fifo or device: never applied",
};
_Static_assert(sizeof words / sizeof *words == FLAG__COUNT, "words for each flag");

const unsigned FLAG_NEVER = 1u << FLAG_SPECIAL;
const unsigned FLAG_LEAVES = 1u << FLAG_LINK_OUT;
unsigned flags_count(void) { return FLAG__COUNT; }
const char *flags_row(unsigned i) { return i < FLAG__COUNT ? words[i] : NULL; }

static bool glob(const char *p, const char *pe, const char *s, const char *se)
{
        while (p < pe && *p != '*') {
                if (s == se || *p != tolower((unsigned char) *s))
                        return false;
                p++;
                s++;
        }
        if (p == pe)
                return s == se;
        p++;
        if (!memchr(p, '*', (size_t) (pe - p))) /* the last one: what is behind it is the end of the name */
                return se - s >= pe - p && glob(p, pe, se - (pe - p), se);
        for (;; s++) {
                if (glob(p, pe, s, se))
                        return true;
                if (s == se)
                        return false;
        }
}

static const char *part_end(const char *s)
{
        const char *slash = strchr(s, '/');
        return slash ? slash : s + strlen(s);
}

/* Does the pattern match from this part of the path on? */
static bool matches_here(const char *pattern, const char *path)
{
        for (;;) {
                const char *pe = part_end(pattern), *se = part_end(path);
                if (!glob(pattern, pe, path, se))
                        return false;
                if (*pe == '\0')
                        return *se == '\0';
                if (pe[1] == '\0')
                        return true; /* "dir/": itself and all below */
                if (*se == '\0')
                        return false;
                pattern = pe + 1;
                path = se + 1;
        }
}

/* Most rows are told by their last byte: it is the path's, where it is no wildcard. */
static bool ends_alike(const char *pattern, char last)
{
        char end = pattern[strlen(pattern) - 1];
        return end == last || end == '/' || end == '*';
}

static unsigned flags_of(const char *path)
{
        unsigned f = 0;
        size_t n = strlen(path);
        char last = n > 0 ? (char) tolower((unsigned char) path[n - 1]) : '\0';
        for (const char *at = path;; at++) {
                char first = (char) tolower((unsigned char) *at);
                for (size_t i = 0; i < trusted_count; i++) {
                        const char *p = trusted_names[i].pattern;
                        if ((p[0] == first || p[0] == '*') && ends_alike(p, last) && matches_here(p, at))
                                f |= 1u << trusted_names[i].flag;
                }
                at = part_end(at);
                if (*at == '\0')
                        return f;
        }
}

unsigned flags_by_name(const char *path)
{
        char plain[2 * WORK_PATH_MAX];
        unsigned f = flags_of(path);
        spelling_plain(path, plain, sizeof plain);
        return strcmp(path, plain) == 0 ? f : f | flags_of(plain);
}

bool flags_wants_content(const char *path)
{
        char plain[2 * WORK_PATH_MAX];
        spelling_plain(path, plain, sizeof plain);
        const char *slash = strrchr(plain, '/');
        return strcasecmp(slash ? slash + 1 : plain, "package.json") == 0;
}

unsigned flags_by_content(struct span text)
{
        /* What runs without being called: by an install, by a commit, or instead of the package manager. */
        static const char *const scripts[] = {
                "install\"",
                "prepare\"",
                "prepublish",
                "prepack",
                "postpack",
                "\\u",
                "packageManager\"",
                "\"husky\"",
                "\"lint-staged\"",
                "git-hooks\"",
                "\"pre-commit\"",
                "\"gypfile\"",
                "BuiltDependencies\"",
                "trustedDependencies\"",
        };
        for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
                if (text.n > 0 && memmem(text.p, text.n, scripts[i], strlen(scripts[i])))
                        return 1u << FLAG_PACKAGE;
        return text.n >= 1 << 20 ? 1u << FLAG_PACKAGE : 0; /* more than we look at */
}

unsigned flags_by_node(const struct node *old, const struct node *now)
{
        unsigned f = 0;
        if (now->kind == NODE_OTHER)
                f |= 1u << FLAG_SPECIAL;
        if (now->kind == NODE_FILE && now->mode & 06000)
                f |= 1u << FLAG_SETID;
        if (now->kind == NODE_FILE && now->mode & 0111 && !(old->kind == NODE_FILE && old->mode & 0111))
                f |= 1u << FLAG_EXECUTABLE;
        if (now->kind == old->kind && now->kind != NODE_LINK &&
            now->mode & ~old->mode & (now->kind == NODE_DIR ? 0077 : 0066))
                f |= 1u << FLAG_LOOSER;
        return f;
}

/* From where the link stands, in directories that are none: does its target climb above the top? Absolute
 * ones always leave. What is called by name may be another link, to a place less deep, and what climbs behind
 * it climbs from there. */
unsigned flags_by_link(const char *path, const char *target)
{
        int depth = 0;
        bool named = false;
        if (target[0] == '/')
                return 1u << FLAG_LINK_OUT;
        for (const char *p = path; *p; p++)
                depth += *p == '/';
        for (const char *at = target; *at; at += strspn(at, "/")) {
                size_t n = strcspn(at, "/");
                if (n == 2 && at[0] == '.' && at[1] == '.')
                        depth--;
                else if (!(n == 1 && at[0] == '.'))
                        named = true;
                if (depth < 0 || (named && n == 2 && at[0] == '.' && at[1] == '.'))
                        return 1u << FLAG_LINK_OUT;
                at += n;
        }
        return 0;
}

const char *flags_words(unsigned flags, unsigned *ret_bit)
{
        for (unsigned i = 0; i < FLAG__COUNT; i++)
                if (flags & (1u << i)) {
                        *ret_bit = 1u << i;
                        return words[i];
                }
        *ret_bit = 0;
        return "";
}
