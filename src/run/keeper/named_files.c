/* SPDX-License-Identifier: MIT */
/* run/keeper/named_files.c - files that the command line names, the host has and the box does not see. A
 * program with the argument `in.txt` looks for it in the box's home, or for /tmp/in.txt in a /tmp of the
 * box's own: both exist and answer by themselves, so no layer denies anything. Reported only if the run
 * failed: whether the file was looked up is not known, so it is in the result and not in the ledger. */
#include "base/str.h"
#include "run/keeper/internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MOST = 64, PARTS_MOST = 64, TOLD_MOST = 4 };

bool box_is_away(const struct box *b)
{
        const struct plan *p = b->c.plan;
        return p->order->cwd_outside && strcmp(p->order->cwd, p->order->cwd_outside) != 0;
}

/* Is it in the box, as a directory that leads to a door, or one of its own files? */
static bool is_in_box(const struct run *run, const char *path)
{
        static const char *const own[] = { "/proc", "/sys", "/dev" };
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
                if (path_under(path, own[i]))
                        return true;

        for (size_t i = 0; i < run->c->plan->rule_count; i++)
                if (path_under(run->c->plan->rules[i].path, path))
                        return true;

        for (size_t i = 0; i < run->c->plan->step_count; i++)
                if (path_under(run->c->plan->steps[i].path, path))
                        return true;

        return false;
}

/* Denied lookups were not watched: only the words of the command show them. */
static bool is_unheard(const struct run *run, char *path)
{
        struct effect f = { .kind = EFFECT_READ, .target = path };
        return run->r.out.blind && run->c->observe == BOX_OBSERVE_DENIALS && !is_in_box(run, path) &&
               policy_decide(run->c->policy, &f).answer != ANSWER_ALLOW;
}

/* The path that the caller meant, if the box has another directory there or none, and no layer reports it. */
static bool is_elsewhere(struct run *run, const char *word, char *ret, size_t cap)
{
        const struct plan *p = run->c->plan;
        if (word[0] == '\0' ||
            !path_join(p->order->cwd_outside ? p->order->cwd_outside : "/", word, ret, cap))
                return false;
        return (word[0] != '/' && box_is_away(run->box)) || keeper_is_private(ret) ||
               keeper_is_beside_copy(run->box, ret) || is_unheard(run, ret);
}

static bool path_meant(struct run *run, const char *word, char *ret, size_t cap)
{
        return is_elsewhere(run, word, ret, cap) && outside_has(run, ret);
}

static bool is_told(const struct box_result *r, const char *path)
{
        for (unsigned i = 0; i < r->denial_count; i++)
                if (strcmp(r->denials[i].effect.target, path) == 0)
                        return true;
        return false;
}

static bool report_read(struct run *run, char *path)
{
        struct effect f = { .kind = EFFECT_READ, .target = path };
        struct decision d = policy_decide(run->c->policy, &f);
        struct effect_row n = keeper_row(run, EFFECT_READ);
        if (d.door || is_told(&run->r, path))
                return false;

        n.on_host = 1;
        n.layer = !wall_has(run->r.wall, WALL_OWN_ROOT) ? "landlock" : "mount";
        n.program = keeper_command_name(run);
        AUTO_BUF(line);
        if (d.answer != ANSWER_ALLOW) /* else the box may read its own, but that is another */
                policy_smallest_line(&f, &d, &line);

        keeper_fill_read(run, &n, path, d.answer != ANSWER_ALLOW ? &line : NULL);
        keeper_add_denial(run, &n);
        return true;
}

/* ---- written files ----
 * `cp a b` fails at `a`, and would fail at `b` next: a user who types the first hint should not need a
 * second. */

enum writes { WRITES_NOTHING = 0, WRITES_LAST, WRITES_EACH };
static const struct {
        const char *program;
        enum writes how;
} writers[] = {
        { "cp", WRITES_LAST },      { "install", WRITES_LAST }, { "ln", WRITES_LAST },
        { "mv", WRITES_EACH },      { "rm", WRITES_EACH },      { "rmdir", WRITES_EACH },
        { "mkdir", WRITES_EACH },   { "touch", WRITES_EACH },   { "truncate", WRITES_EACH },
        { "tee", WRITES_EACH },     { "chmod", WRITES_EACH },   { "patch", WRITES_EACH },
        { "gzip", WRITES_EACH },    { "gunzip", WRITES_EACH },  { "bzip2", WRITES_EACH },
        { "bunzip2", WRITES_EACH }, { "xz", WRITES_EACH },      { "unxz", WRITES_EACH },
};

static enum writes how_it_writes(const char *const *argv)
{
        const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
        int i = str_row(writers, sizeof writers / sizeof *writers, name);
        return i < 0 ? WRITES_NOTHING : writers[i].how;
}

/* A program that goes on to unlink or replace the named file needs the directory, in an overlay to be
 * reviewed. */
static void fill_written(struct run *run, struct effect_row *n, const char *path, bool whole)
{
        AUTO_BUF(line);
        size_t k = str_parent(path, strlen(path));
        const char *needed = whole ? keeper_text(run, "%.*s", k ? (int) k : 1, path) : path;
        struct effect f = { .kind = EFFECT_WRITE, .target = needed };
        enum effect_reason never = policy_never_hinted(&f, run->c->home);

        n->effect.target = path;
        n->effect.reason = never ? never : REASON_NO_DOOR;
        buf_puts(&line, whole ? "edit " : "write ");
        policy_put_token(&line, needed);
        if (!never && keeper_is_inert(run, path))
                n->permit = keeper_text(run, "%s", buf_str(&line));
}

static unsigned tell_written(struct run *run, const char *word, bool whole)
{
        char path[PATH_MAX], up[PATH_MAX];
        struct effect_row n = keeper_row(run, EFFECT_WRITE);
        if (!is_elsewhere(run, word, path, sizeof path) || is_told(&run->r, path))
                return 0;

        (void) snprintf(up, sizeof up, "%.*s", (int) str_parent(path, strlen(path)), path);
        n.on_host = outside_has(run, path);
        if (!n.on_host && keeper_is_private(path) && !keeper_is_private(up))
                return 0; /* a new file in the box's own /tmp: it failed for another reason */

        struct effect f = { .kind = EFFECT_WRITE, .target = path };
        if (policy_decide(run->c->policy, &f).door ||
            !(n.on_host || (up[0] && outside_is_directory(run, up))))
                return 0;

        n.layer = !wall_has(run->r.wall, WALL_OWN_ROOT) ? "landlock" : "mount";
        n.program = keeper_command_name(run);
        fill_written(run, &n, path, whole);
        keeper_add_denial(run, &n);
        return 1;
}

/* The last part of its name: of /usr/bin/x86_64-linux-gnu-gcc-12, gcc. */
static bool is_named(const char *program, const char *name)
{
        const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;
        size_t k = strlen(base), n = strlen(name);
        while (k > 0 && strchr("-.0123456789", base[k - 1]))
                k--;
        return k >= n && strncmp(base + k - n, name, n) == 0 && (k == n || base[k - n - 1] == '-');
}

/* To these, -o names a file whatever its name looks like. To others it may be an option (ssh), a pattern
 * (grep) or a form (kubectl). */
static bool takes_output(const char *program)
{
        static const char *const names[] = { "cc",   "gcc",    "g++",  "c++",      "clang", "clang++",
                                             "ld",   "as",     "go",   "tcc",      "nasm",  "rustc",
                                             "ghc",  "swiftc", "nvcc", "gfortran", "zig",   "sort",
                                             "curl", "pandoc", "dot",  "bison",    "flex",  "gpg" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (is_named(program, names[i]))
                        return true;
        return false;
}

static bool looks_like_file(const char *word)
{
        const char *name = strrchr(word, '/'), *dot = strrchr(name ? name : word, '.');
        return !strpbrk(word, "=,:*?{}$^|") && (name || (dot && dot != word && dot[1]));
}

/* -o FILE, --output FILE, --output=FILE, of=FILE: conventions of many programs. */
static const char *output_of(const char *const *argv, unsigned i)
{
        static const char *const before[] = { "--output=", "of=" };
        const char *file =
                strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0 ? argv[i + 1] : NULL;
        for (size_t k = 0; k < sizeof before / sizeof *before; k++)
                if (strncmp(argv[i], before[k], strlen(before[k])) == 0)
                        file = argv[i] + strlen(before[k]);

        bool sure = strncmp(argv[i], "of=", 3) == 0 || takes_output(argv[0]);
        return file && (sure || looks_like_file(file)) ? file : NULL;
}

/* `cp -r a b` if b does not exist: it is not created for it, or a copy would go into it. */
static bool makes_directory(struct run *run, const char *from, const char *to)
{
        char path[PATH_MAX];
        return path_meant(run, from, path, sizeof path) && outside_is_directory(run, path) &&
               !path_meant(run, to, path, sizeof path);
}

/* True: the reported lines also show all files that are read. */
static bool tell_all_written(struct run *run, const char *const *argv)
{
        enum writes how = how_it_writes(argv);
        const char *last = NULL, *first = NULL;
        unsigned each = 0;

        for (unsigned i = 1; i < WORDS_MOST && argv[i]; i++) {
                const char *out = output_of(argv, i);
                if (out)
                        (void) tell_written(run, out, false);
                if (argv[i][0] == '-')
                        continue;
                if (how == WRITES_EACH && each == 0)
                        each += tell_written(run, argv[i], true);
                first = first ? first : argv[i];
                last = argv[i];
        }

        bool makes = how == WRITES_LAST && last != first && makes_directory(run, first, last);
        unsigned told = how == WRITES_LAST && last != first ? tell_written(run, last, makes) : 0;
        return each || (makes && told);
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

/* The socket that was denied before was for this destination: one of the two is enough for most readers. */
static void make_sockets_minor(struct run *run)
{
        for (unsigned i = 0; i < run->r.denial_count; i++)
                if (run->r.denials[i].effect.reason == REASON_SOCKET)
                        run->r.denials[i].weight = EFFECT_SETTING;
}

/* A destination that the command names and no door leads to. Without a net door a box has no resolver, so no
 * process sees which name was looked up. */
static void tell_host(struct run *run, const char *url)
{
        struct effect_row n = keeper_row(run, EFFECT_NET);
        struct policy_context none = { .work = "/", .home = "/" };
        struct effect f = { 0 };
        struct err e;

        if (policy_effect_parse(keeper_text(run, "net GET %s", url), &none, &f, &e) < 0)
                return;

        bool local =
                strcmp(f.net->host, "localhost") == 0; /* no door bears the name: the box itself has it */
        bool v6 = strchr(f.net->host, ':') != NULL;
        struct decision d = policy_decide(run->c->policy, &f);
        n.effect.target = keeper_text(run, "%s%s%s:%u", v6 ? "[" : "", local ? "127.0.0.1" : f.net->host,
                                      v6 ? "]" : "", (unsigned) f.net->port);
        policy_effect_done(&f);
        if (d.answer == ANSWER_ALLOW || d.reason == REASON_METHOD || d.reason == REASON_URL_PATH ||
            is_told(&run->r, n.effect.target))
                return;

        bool metadata = policy_names_metadata(url);
        n.layer = "net";
        n.program = keeper_command_name(run);
        n.what = keeper_text(run, "connect to %s", n.effect.target);
        n.effect.reason = metadata ? REASON_METADATA : REASON_NO_DOOR;
        if (!metadata)
                n.permit = keeper_text(run, "net %s", n.effect.target);

        make_sockets_minor(run);
        keeper_add_denial(run, &n);
}

/* `FILE`, `--from=FILE`, `if=FILE`, and `sh -c 'cat <FILE'`: in a private directory in place of the host's no
 * layer sees the lookups of a script. */
static unsigned tell_parts(struct run *run, const char *word)
{
        static const char between[] = " \t\n=;|&<>()'\"`";
        char part[PATH_MAX], path[PATH_MAX];
        unsigned told = 0;

        for (unsigned i = 0; *word && i < PARTS_MOST && told < TOLD_MOST; i++) {
                size_t n = strcspn(word, between);
                (void) snprintf(part, sizeof part, "%.*s", (int) (n < sizeof part ? n : 0), word);
                if (part[0] != '-' && path_meant(run, part, path, sizeof path))
                        told += report_read(run, path);
                word += n + strspn(word + n, between);
        }

        return told;
}

/* `https://HOST/...`. */
static void tell_url(struct run *run, const char *word)
{
        char url[PATH_MAX];
        bool found = url_in(word, "https://", url, sizeof url) || url_in(word, "http://", url, sizeof url);
        if (found && !run->c->plan->net) /* else the broker reports it */
                tell_host(run, url);
}

/* A run that ends well although the network was refused: the host that its words name. */
static void name_refused_host(struct run *run)
{
        bool refused = false;
        for (unsigned i = 0; run->c->observe == BOX_OBSERVE_DENIALS && i < run->r.denial_count; i++)
                refused |= run->r.denials[i].effect.reason == REASON_SOCKET;
        for (unsigned i = 1; refused && i < WORDS_MOST && run->c->plan->order->argv[i]; i++)
                tell_url(run, run->c->plan->order->argv[i]);
}

void keeper_note_named(struct run *run)
{
        char path[PATH_MAX];
        const struct plan *p = run->c->plan;
        bool seen = run->c->observe == BOX_OBSERVE_DENIALS || run->c->observe == BOX_OBSERVE_ALL;
        unsigned told = 0;

        if (run->r.out.end != CORDON_EXITED || !seen)
                return;

        if (run->r.out.code == 0) {
                name_refused_host(run);
                return;
        }

        if (run->r.limits_hit) /* that is the reason: a file that it created itself was not denied */
                return;

        if (tell_all_written(run, p->order->argv))
                return;

        for (unsigned i = 1; i < WORDS_MOST && told < TOLD_MOST && p->order->argv[i]; i++) {
                const char *word = p->order->argv[i];
                bool whole = word[0] != '-' && path_meant(run, word, path, sizeof path);
                told += whole                                    ? report_read(run, path)
                        : run->c->observe == BOX_OBSERVE_DENIALS ? tell_parts(run, word)
                                                                 : 0;
                tell_url(run, word);
        }
}
