/* SPDX-License-Identifier: MIT */
/* files/work/flags/flags.c - files that the host later executes or trusts: shown first, and applied only by
 * name. A list of names is never complete: it is a second check, not the wall. Pure. */
#include "files/work/internal.h"

#include <ctype.h>
#include <string.h>

static const struct {
        char kind[12]; /* for --flagged */
        char words[60];
} flags[] = {
        [FLAG_GIT_HOOK] = { "git-hook", "git executes it" },
        [FLAG_GIT_CONFIG] = { "git-config", "git reads its settings from it" },
        [FLAG_GIT_INSIDE] = { "git-inside", "inside a git directory" },
        [FLAG_VCS] = { "vcs", "a version control program is configured by it" },
        [FLAG_SHELL_START] = { "startup", "a shell or login runs it at startup" },
        [FLAG_CI] = { "ci", "a build server runs it" },
        [FLAG_EDITOR] = { "editor", "an editor acts on it" },
        [FLAG_BUILD] = { "build", "a build tool runs its commands" },
        [FLAG_PACKAGE] = { "package", "a package manager runs its commands" },
        [FLAG_AGENT] = { "agent", "a coding agent follows its instructions" },
        [FLAG_POLICY] = { "policy", "a box gets its doors from it" },
        [FLAG_ENVIRONMENT] = { "environment", "sets variables of programs started here" },
        [FLAG_SEARCH_PATH] = { "search-path", "can shadow a program or library of the same name" },
        [FLAG_LINK_OUT] = { "link", "a link that leaves the tree" },
        [FLAG_SETID] = { "setid", "runs as its owner or group" },
        [FLAG_EXECUTABLE] = { "executable", "new executable" },
        [FLAG_ACCESS] = { "access", "sets access to files made in it later" },
        [FLAG_LOOSER] = { "mode", "open to more users than before" },
        [FLAG_SPECIAL] = { "special", "a socket, fifo or device: never applied" },
};
_Static_assert(sizeof flags / sizeof *flags == FLAG__COUNT, "words for each flag");

const unsigned FLAG_NEVER = 1u << FLAG_SPECIAL;
const unsigned FLAG_LEAVES = 1u << FLAG_LINK_OUT;
unsigned flags_count(void) { return FLAG__COUNT; }
const char *flags_kind(unsigned i) { return i < FLAG__COUNT ? flags[i].kind : NULL; }

const struct trusted trusted_names[] = {
#include "files/work/flags/trusted.inc"
};
const size_t trusted_count = sizeof trusted_names / sizeof *trusted_names;

static bool glob_match(const char *p, const char *pe, const char *s, const char *se)
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
        if (!memchr(p, '*', (size_t) (pe - p))) /* the last one: the rest is the end of the name */
                return se - s >= pe - p && glob_match(p, pe, se - (pe - p), se);

        for (;; s++) {
                if (glob_match(p, pe, s, se))
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

/* Does the pattern match from this component of the path on? */
static bool matches_here(const char *pattern, const char *end, const char *path)
{
        for (;;) {
                const char *slash = memchr(pattern, '/', (size_t) (end - pattern)), *pe = slash ? slash : end,
                           *se = part_end(path);
                if (!glob_match(pattern, pe, path, se))
                        return false;
                if (pe == end)
                        return *se == '\0';
                if (pe + 1 == end)
                        return true; /* "dir/": itself and everything below */
                if (*se == '\0')
                        return false;
                pattern = pe + 1;
                path = se + 1;
        }
}

/* Most patterns are decided by their first and last byte, which equal the path's unless they are
 * wildcards. */
static bool may_match(const char *pattern, const char *end, char first, char last)
{
        return (pattern[0] == first || pattern[0] == '*') &&
               (end[-1] == last || end[-1] == '/' || end[-1] == '*');
}

bool flags_match(const char *patterns, const char *path)
{
        size_t n = strlen(path);
        char last = n > 0 ? (char) tolower((unsigned char) path[n - 1]) : '\0';
        for (const char *at = path;; at++) {
                char first = (char) tolower((unsigned char) *at);
                for (const char *p = patterns; *p;) {
                        const char *end = strchrnul(p, ' ');
                        if (may_match(p, end, first, last) && matches_here(p, end, at))
                                return true;
                        p = *end ? end + 1 : end;
                }
                at = part_end(at);
                if (*at == '\0')
                        return false;
        }
}

unsigned flags_by_name(const char *path)
{
        unsigned f = 0;
        char plain[2 * WORK_PATH_MAX];
        spelling_plain(path, plain, sizeof plain);
        for (size_t i = 0; i < trusted_count; i++)
                if (flags_match(trusted_names[i].patterns, path) ||
                    (strcmp(path, plain) != 0 && flags_match(trusted_names[i].patterns, plain)))
                        f |= 1u << trusted_names[i].flag;

        return f;
}

const char *flags_reason(const char *path)
{
        for (size_t i = 0; i < trusted_count; i++)
                if (flags_match(trusted_names[i].patterns, path))
                        return trusted_names[i].reason;
        return NULL;
}

unsigned flags_of_kind(const char *kind)
{
        for (unsigned i = 0; i < FLAG__COUNT; i++)
                if (strcmp(flags[i].kind, kind) == 0)
                        return 1u << i;
        return 0;
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
        /* Files that run without being called: by an install, by a commit, or instead of the package
         * manager. */
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

/* Does the target of a symlink climb above the top, counted by components from the symlink's directory?
 * Absolute targets always leave. A named component may be another symlink to a less deep directory, and
 * ".." after it starts there. */
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

const char *flags_words(unsigned bits, unsigned *ret_bit)
{
        for (unsigned i = 0; i < FLAG__COUNT; i++)
                if (bits & (1u << i)) {
                        *ret_bit = 1u << i;
                        return flags[i].words;
                }

        *ret_bit = 0;
        return "";
}

void flags_put(struct buf *out, unsigned bits)
{
        const char *between = "";
        for (unsigned i = 0; i < FLAG__COUNT; i++)
                if (bits & (1u << i)) {
                        buf_printf(out, "%s%s [%s]", between, flags[i].words, flags[i].kind);
                        between = "; ";
                }
}
