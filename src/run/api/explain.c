/* SPDX-License-Identifier: MIT */
/* run/api/explain.c - why a command that the host has could not start in its box: the kernel returns only
 * ENOENT or EACCES. Inspects, and decides nothing: the box has ended by then. */
#include "base/fd.h"
#include "base/shell.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first bytes of a regular file, as text; 0: cannot be read. */
static size_t head_of(const char *path, char *head, size_t cap)
{
        struct stat st;
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;

        ssize_t n = read(fd, head, cap - 1);
        head[n > 0 ? n : 0] = '\0';
        return n > 0 ? (size_t) n : 0;
}

/* "#!/usr/bin/python3 -u" -> "/usr/bin/python3" */
static bool interpreter_of(char *head, const char **ret_name)
{
        if (strncmp(head, "#!", 2) != 0)
                return false;
        char *name = head + 2 + strspn(head + 2, " \t");
        name[strcspn(name, " \t\r\n")] = '\0';
        *ret_name = name;
        return name[0] != '\0';
}

bool api_interpreter(const char *script, char *ret, size_t cap)
{
        char head[256];
        const char *name;
        if (head_of(script, head, sizeof head) == 0 || !interpreter_of(head, &name) || name[0] != '/')
                return false;
        return (size_t) snprintf(ret, cap, "%s", name) < cap;
}

bool api_starter(const char *path, char ret[static PATH_MAX])
{
        Elf64_Ehdr head;
        Elf64_Phdr part;

        if (api_interpreter(path, ret, PATH_MAX))
                return true;

        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
        if (fd < 0 || pread(fd, &head, sizeof head, 0) != sizeof head ||
            memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
                return false;

        for (unsigned i = 0; i < head.e_phnum; i++) {
                off_t at = (off_t) (head.e_phoff + i * sizeof part);
                if (pread(fd, &part, sizeof part, at) != sizeof part)
                        return false;
                if (part.p_type != PT_INTERP || part.p_filesz == 0 || part.p_filesz > PATH_MAX)
                        continue;
                bool whole = pread(fd, ret, part.p_filesz, (off_t) part.p_offset) == (ssize_t) part.p_filesz;
                ret[part.p_filesz - 1] = '\0';
                return whole && ret[0] == '/';
        }

        return false;
}

static const struct door *shown_by(const struct cordon_box *b, char *path)
{
        struct effect f = { .kind = EFFECT_READ, .target = path };
        return policy_decide(b->policy->checked, &f).door;
}

/* The first symlink in `path` below `door`, which is shown as a symlink: its target takes its place. Returns
 * false if none exists. */
static bool follow_link(char path[PATH_MAX], const struct door *door)
{
        struct stat st;
        for (size_t n = strlen(door->path) + 1; n <= strlen(path); n++) {
                char link[PATH_MAX], target[PATH_MAX], joined[2 * PATH_MAX];
                if (path[n] != '/' && path[n] != '\0')
                        continue;
                (void) snprintf(link, sizeof link, "%.*s", (int) n, path);
                if (lstat(link, &st) < 0 || !S_ISLNK(st.st_mode))
                        continue;
                ssize_t k = readlink(link, target, sizeof target - 1);
                target[k > 0 ? k : 0] = '\0';
                link[str_parent(link, n)] = '\0';
                (void) snprintf(joined, sizeof joined, "%s%s", target, path + n);
                return path_join(link, joined, path, PATH_MAX);
        }

        return false;
}

/* A program named by a symlink is shown at its target's path; but if the symlink itself lies behind a door,
 * the box follows it, and a directory between the two may be hidden. Then its name is used. */
static bool hidden_between(const struct cordon_box *b, const char *program, char ret[PATH_MAX])
{
        enum { LINKS_MAX = 40 };
        char here[PATH_MAX], real[PATH_MAX];
        const struct door *d;

        if (!getcwd(here, sizeof here) || !realpath(program, real) ||
            !path_join(here, program, ret, PATH_MAX))
                return false;

        for (int links = 0; links < LINKS_MAX && strcmp(ret, real) != 0; links++)
                if (!(d = shown_by(b, ret)))
                        return links > 0;
                else if (!follow_link(ret, d))
                        return false;

        return false;
}

static bool explain_links(const struct cordon_box *b, const char *what, const char *program, struct buf *out)
{
        char hidden[PATH_MAX], real[PATH_MAX], shown[100];
        if (!hidden_between(b, program, hidden) || !realpath(program, real) ||
            strcmp(str_inert(span_str(hidden), shown, sizeof shown), hidden) != 0)
                return false;

        enum { HINT_ROOM = 130 }; /* of a hint, for both */
        bool fits = strcmp(str_inert(span_str(real), shown, sizeof shown), real) == 0 &&
                    strlen(real) + strlen(hidden) < HINT_ROOM;
        buf_printf(out,
                   "%s is a link%s%s, and no door shows where it leads through: add `read %s`, or a "
                   "directory above that",
                   what, fits ? " to " : "", fits ? real : "", hidden);
        return true;
}

static void explain_missing(const struct cordon_box *b, const char *path, struct buf *out)
{
        char head[256], shown[128];
        const char *name;
        struct stat st;
        bool same_place = path[0] == '/' || !b->cwd; /* from our view, and from the box's */
        if (same_place && stat(path, &st) < 0 && errno == ENOENT) {
                buf_puts(out, lstat(path, &st) == 0 ? "it is a link to what is not on this host"
                                                    : "the file does not exist on this host either");
                return;
        }

        if (explain_links(b, "it", path, out))
                return;

        size_t n = head_of(path, head, sizeof head);
        if (n > 4 && memcmp(head, "\177ELF", 4) == 0) {
                buf_puts(out, "the program is visible, its loader or libraries are not: add `use "
                              "base/system`, or `use base/loader` and read doors");
                return;
        }

        if (n == 0 || !interpreter_of(head, &name))
                return;

        if (explain_links(b, "its interpreter", name, out))
                return;

        bool there = access(name, F_OK) == 0;
        (void) str_inert(span_str(name), shown, sizeof shown);
        buf_printf(out,
                   there ? "its interpreter %s is not visible in the box: add `run %s`"
                         : "its interpreter %s is not on this host: mend its first line",
                   shown, shown);
}

/* By its first line, or by its name. */
static bool is_script(const char *path)
{
        static const char *const suffixes[] = { ".sh", ".bash", ".py", ".js", ".mjs", ".pl", ".rb" };
        char head[8] = "";
        const char *dot = strrchr(path, '.');

        for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
                if (strcmp(dot, suffixes[i]) == 0)
                        return true;

        return head_of(path, head, sizeof head) > 2 && strncmp(head, "#!", 2) == 0;
}

/* A user who has not read a script should not make it executable. */
static void propose_script(const char *path, const char *otherwise, struct buf *out)
{
        char shown[100];
        AUTO_BUF(word);
        if (strcmp(str_inert(span_str(path), shown, sizeof shown), path) != 0)
                return;

        buf_shell(&word, path);
        if (api_is_javascript(path))
                buf_printf(out, "add --wall wasm to the options: it runs JavaScript; or put node before %s",
                           buf_str(&word));
        else
                buf_printf(out, "`cordon run --script %s` runs an untrusted script; %s", buf_str(&word),
                           otherwise);
        out->failed |= word.failed;
}

static void explain_refused(const struct cordon_box *b, const char *path, struct buf *out)
{
        struct stat st;
        char interpreter[PATH_MAX], real[PATH_MAX], shown[128];
        struct effect f = { .kind = EFFECT_RUN, .target = real };
        if (stat(path, &st) < 0)
                return;

        if (S_ISDIR(st.st_mode))
                buf_puts(out, "it is a directory; use a program in it");
        else if (S_ISREG(st.st_mode) && !(st.st_mode & 0111) && is_script(path))
                propose_script(path, "it is not executable by itself", out);
        else if (S_ISREG(st.st_mode) && !(st.st_mode & 0111))
                buf_puts(out, "it is not executable, and not a script either");
        else if (api_interpreter(path, interpreter, sizeof interpreter) && realpath(interpreter, real) &&
                 policy_decide(b->policy->checked, &f).answer != ANSWER_ALLOW &&
                 strcmp(str_inert(span_str(interpreter), shown, sizeof shown), interpreter) == 0)
                buf_printf(out, "a script starts its interpreter, and no `run` door covers %s: --run %s",
                           interpreter, interpreter);
}

/* Of a shell people know it, and forget it here. */
static bool explain_here(const char *name, struct buf *out)
{
        struct stat st;
        char shown[100];
        if (stat(name, &st) < 0 || strcmp(str_inert(span_str(name), shown, sizeof shown), name) != 0)
                return false;

        AUTO_BUF(word);
        buf_shell(&word, name);
        AUTO_BUF(here);
        buf_printf(&here, "or use ./%s", buf_str(&word));
        if (S_ISDIR(st.st_mode))
                buf_puts(out,
                         "this is a directory; the first argument that is not an option must be a command");
        else if (is_script(name))
                propose_script(name, buf_str(&here), out);
        else if (!(st.st_mode & 0111))
                buf_puts(out,
                         "this is a file; an option takes one value (`--read A --read B`), and the first "
                         "argument after them must be a command");
        else
                buf_printf(out, "the box searches its PATH for names without /; use ./%s", buf_str(&word));

        out->failed |= word.failed || here.failed;
        return true;
}

/* "echo hi" in quotes is one word, and no program is called that. */
static bool explain_quoted(const struct cordon_box *b, struct buf *out)
{
        char shown[100];
        struct stat st;
        const char *name = b->argv[0];
        if (!strchr(name, ' ') || b->argv[1] || stat(name, &st) == 0 ||
            strcmp(str_inert(span_str(name), shown, sizeof shown), name) != 0)
                return false;

        AUTO_BUF(word);
        buf_shell(&word, name);
        if (b->session)
                buf_printf(out,
                           "the whole command is quoted as one word; remove the quotes, or: cordon session "
                           "run %s -- sh -c %s",
                           b->session->c.name[0] ? b->session->c.name : b->session->remote, buf_str(&word));
        else
                buf_printf(
                        out,
                        "the whole command is quoted as one word; remove the quotes, or: cordon run sh -c %s",
                        buf_str(&word));
        out->failed |= word.failed;
        return true;
}

/* --net HOST:443 ask: the shell made two words of one door, and the second became the command. */
static bool explain_unquoted(const char *name, struct buf *out)
{
        static const char *const words[] = { "ask",  "max",   "with", "until", "except", "accepts", "label",
                                             "only", "where", "GET",  "POST",  "PUT",    "DELETE" };
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                if (strcmp(name, words[i]) == 0) {
                        buf_printf(out,
                                   "`%s` belongs to a door: quote the whole door, as --net 'HOST:443 ask'",
                                   name);
                        return true;
                }
        return false;
}

/* What a shell does itself: there is no program of that name, on most hosts. */
static bool explain_builtin(const char *name, struct buf *out)
{
        static const char *const words[] = { "cd",     ".",     "source", "export", "alias",  "set", "unset",
                                             "ulimit", "umask", "exec",   "eval",   "type",   "if",  "for",
                                             "while",  "let",   "local",  "trap",   "history" };
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                if (strcmp(name, words[i]) == 0) {
                        buf_printf(out, "`%s` is a word of the shell: sh -c '%s ...'%s", name, name,
                                   i == 0 ? ", or --cwd DIR" : "");
                        return true;
                }
        return false;
}

static void explain_elsewhere(const struct cordon_context *cx, const char *name, struct buf *out)
{
        char path[4096], shown[160];
        AUTO_BUF(word);
        if (!api_find_on_path(cx, name, path, sizeof path)) {
                if (!explain_unquoted(name, out) && !explain_here(name, out) && !explain_builtin(name, out))
                        buf_puts(out, "no such program in the box or on this host");
                return;
        }

        if (strcmp(str_inert(span_str(path), shown, sizeof shown), path) != 0)
                return; /* a text that cannot be shown whole cannot be typed */

        buf_shell(&word, path);
        buf_printf(out, "the box does not search that part of your PATH; use the full path: %s",
                   buf_str(&word));
        out->failed |= word.failed;
}

/* A bare name that the host has in the box's PATH: no door shows it, or not all that it needs. */
static void explain_unseen(const struct cordon_box *b, const char *name, struct buf *out)
{
        char path[4096];
        if (!api_find_program(name, path, sizeof path)) {
                explain_elsewhere(b->policy->cx, name, out);
                return;
        }

        struct effect f = { .kind = EFFECT_RUN, .target = path };
        char interpreter[PATH_MAX];
        bool script = api_interpreter(path, interpreter, sizeof interpreter); /* the file itself may start */
        if (script || policy_decide(b->policy->checked, &f).answer == ANSWER_ALLOW)
                explain_missing(b, path, out);
        else
                buf_printf(out,
                           "no door shows %s: add `use base/system` for all programs, or `use base/loader` "
                           "and `run %s` for this one",
                           path, name);
}

static const struct door *written_by(const struct cordon_box *b, const char *path)
{
        char real[PATH_MAX];
        if (!realpath(path, real))
                return NULL;
        struct effect f = { .kind = EFFECT_WRITE, .target = real };
        return policy_decide(b->policy->checked, &f).door;
}

/* A program behind a door to write does not run, nor does one whose libraries lie there: `edit /usr`. */
static void explain_written(const struct cordon_box *b, const char *name, struct buf *out)
{
        enum { SHOWN_MAX = 60 };
        char found[PATH_MAX], shown[SHOWN_MAX];
        bool bare = !strchr(name, '/');
        const char *path = !bare ? name : api_find_program(name, found, sizeof found) ? found : NULL;
        const struct door *d = path ? written_by(b, path) : NULL;
        if (!d)
                d = written_by(b, "/lib");

        struct stat st;
        if (!d || strcmp(str_inert(span_str(d->path), shown, sizeof shown), d->path) != 0 ||
            stat(d->path, &st) < 0)
                return;

        bool dir = S_ISDIR(st.st_mode);
        buf_printf(out,
                   "the box can write it%s, through `%s %s`, so it cannot be executed: %sadd `run %s%s` to "
                   "allow it",
                   dir ? " or what it loads" : "", policy_door_word(d->kind), shown,
                   dir ? "use a narrower door, or " : "", shown, dir ? "/" : "");
}

void api_explain_exec(const struct cordon_box *b)
{
        const struct err *e = &box_result(b->box)->error;
        const char *path = b->argv[0];
        AUTO_BUF(hint);
        if (b->has_image) { /* a file of the host does not explain one of the image */
                box_explain(b->box, e->sys == ENOENT
                                            ? "the image does not have it, or not the interpreter or "
                                              "loader that it names"
                                            : "");
                return;
        }

        bool quoted = e->sys == ENOENT && explain_quoted(b, &hint);
        if (quoted)
                ; /* nothing more is known */
        else if (!strchr(path, '/')) {
                if (e->sys == ENOENT)
                        explain_unseen(b, path, &hint);
        } else if (e->sys == ENOENT)
                explain_missing(b, path, &hint);
        else if (e->sys == EACCES)
                explain_refused(b, path, &hint);
        else if (e->sys == ENOEXEC)
                buf_puts(&hint, "not an executable for this machine, and not a script with #!");

        if (e->sys == EACCES && hint.n == 0)
                explain_written(b, path, &hint);

        if (hint.n > 0 && !hint.failed)
                box_explain(b->box, buf_str(&hint));
}
