/* SPDX-License-Identifier: MIT */
/* wall/plan/view.c - the box's file tree: doors become binds, links and masks, and Landlock rules over the
 * same paths.
 *
 * Two rules of this file matter most:
 *   - Without `run any`, a path that the box can write is never executable, unless a `run` line covers
 *   that very path.
 *   - Without `run any`, only the libraries of stock policies and listed programs are on mounts that allow
 *   execution. A program that is merely readable cannot be mapped for execution, so passing it to ld.so
 *   also fails. */
#include "base/limits.h"
#include "base/str.h"
#include "base/trust.h"
#include "wall/plan/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An edit door inside another's overlay is a part of that overlay; beside a write door for the same path
 * it adds nothing. Inside a wider write door it stays: changes that are to be held back are held back. */
static bool edited_at(const struct builder *b, const struct door *d, enum door_kind kind, struct span place)
{
        size_t lo, hi;
        bool same = place.n == strlen(d->path);
        for (bool any = policy_doors_at(b->c, kind, place, &lo, &hi); any && lo < hi; lo++) {
                const struct door *o = &b->doors[lo];
                if (o != d && b->r->seen[lo].kind != SEEN_NOTHING &&
                    (kind == DOOR_WRITE || (!door_excepts(o, d->path) && (!same || o < d))))
                        return true;
        }

        return false;
}

static bool edited_otherwise(const struct builder *b, const struct door *d)
{
        size_t n = strlen(d->path);
        if (edited_at(b, d, DOOR_WRITE, span_of(d->path, n)))
                return true;

        for (; n > 0; n = str_parent(d->path, n))
                if (edited_at(b, d, DOOR_EDIT, span_of(d->path, n)))
                        return true;
        return false;
}

/* A read door inside another that shows the same entry in the same way needs no own mount. */
static bool is_redundant(const struct builder *b, const struct door *d)
{
        if (d->kind == DOOR_EDIT)
                return edited_otherwise(b, d);

        if (d->kind != DOOR_READ)
                return false;

        if (door_writes(b, d->path))
                return true;

        size_t lo, hi;
        if (policy_doors_at(b->c, DOOR_READ, span_str(d->path), &lo, &hi) && &b->doors[lo] < d)
                return true; /* one path, two lines: one mount */

        if (d->except)
                return false;

        const struct door *up = door_covering(b, d->path, d);
        unsigned care = STEP_WRITE | STEP_EXEC | STEP_IDMAP;
        return up && up->kind == DOOR_READ && !up->except &&
               (door_flags(b, up) & care) == (door_flags(b, d) & care);
}

/* A path as a line writes it: quoted if a space or a quote would split it. */
static const char *as_token(struct builder *b, const char *path)
{
        AUTO_BUF(out);
        policy_put_token(&out, path);
        const char *kept = out.failed ? NULL : arena_copy(b->a, buf_span(&out));
        return kept ? kept : path;
}

/* The suggestion for a path that does not exist. */
static int hint_missing(struct builder *b, const struct door *d, struct err *e)
{
        const char *dashes = d->at.line ? "" : "--", *word = policy_door_word(d->kind);
        const char *path = as_token(b, d->path), *colon = strrchr(d->path, ':');
        if (strstr(d->path, "/$"))
                return err_hint(e,
                                "no variable is expanded here: {work} and {home} stand for those two paths");

        if (d->at.line && strstr(d->path, "/'"))
                return err_hint(e, "only double quotes hold a name with blanks together");

        if (colon && (colon[1] == '/' || strcmp(colon, ":ro") == 0 || strcmp(colon, ":rw") == 0))
                return err_hint(e, "a door is one path, the same inside as outside: `read` shows it, `write` "
                                   "lets it be changed");

        if (!d->at.line && strstr(d->path, " except "))
                return err_hint(e, "an option is one path, blanks and all; a line with `except` stands in a "
                                   "file for -p");

        if (d->kind == DOOR_WRITE || d->kind == DOOR_EDIT)
                return err_hint(e,
                                "its directory does not exist either: create it first, or use `%s%s %s?` if "
                                "it may be missing",
                                dashes, word, path);

        return err_hint(e, "use `%s%s %s?` if it may be missing", dashes, word, path);
}

static int door_is_wrong(struct builder *b, const struct door *d, const struct plan_seen *seen, struct err *e)
{
        char at[256];
        (void) policy_place(&d->at, at, sizeof at);
        if (seen->kind == SEEN_NOTHING) {
                (void) door_error(d, ERR_DOOR, e, "%s does not exist on this host", d->path);
                return hint_missing(b, d, e);
        }

        (void) err_set(e, ERR_DOOR, 0,
                       d->kind == DOOR_SOCK ? "%s: %s is not a Unix socket"
                                            : "%s: %s is neither a file nor a directory",
                       at, d->path);
        if (seen->kind == SEEN_OTHER)
                return err_hint(e, "no door opens a device or a pipe of the host; boxes have their own null, "
                                   "zero, full, random and urandom");

        if (d->kind == DOOR_SOCK)
                return err_hint(e, "a file or directory is opened with `read %s`", as_token(b, d->path));

        return err_hint(e, "a Unix socket is opened with `sock %s`", as_token(b, d->path));
}

static int judge_own_place(const struct builder *b, const struct door *d, const char *path, struct err *e)
{
        if (!wall_has(b->p->wall, WALL_OWN_ROOT) || !policy_is_own_place(path))
                return 0;

        if (path_under(path, "/proc")) {
                (void) door_error(d, ERR_DOOR, e, "%s: boxes have a private /proc, with their own processes",
                                  path);
                return err_hint(e, "give it a copy in a file; behind `--wall process` it sees the host's");
        }

        if (strcmp(path, "/dev") == 0) {
                (void) door_error(d, ERR_DOOR, e, "boxes have a private /dev");
                return err_hint(e, "it has null, zero, full, random and urandom, and terminals with --tty; "
                                   "of the host's open what you need, such as /dev/shm");
        }

        (void) door_error(d, ERR_DOOR, e, "all of %s: the box's own home lies in it, " BOX_HOME, path);
        return err_hint(e, "name what is needed of it, as %s/NAME", path);
}

static void add_bind(struct builder *b, const struct door *d, const struct plan_seen *seen, const char *path)
{
        unsigned f = door_flags(b, d) | (seen->kind == SEEN_DIR ? STEP_IS_DIR : 0) |
                     (d->kind == DOOR_SOCK ? STEP_SOCK : 0);
        bool edit = d->kind == DOOR_EDIT;
        struct plan_step *s = build_step(b, edit ? STEP_EDIT : STEP_BIND, path, arena_str(b->a, d->path), f);

        s->dev = seen->dev;
        s->ino = seen->ino;
        unsigned rights = RIGHT_LIST | RIGHT_READ;
        if (f & STEP_WRITE)
                rights |= RIGHT_WRITE;

        if ((f & STEP_EXEC) && (b->run_any || door_runs(b, d->path)))
                rights |= RIGHT_EXEC;

        struct plan_rule *r = build_rule(b, path, rights, d->optional);
        r->real = seen->real ? arena_str(b->a, seen->real) : NULL;
        build_pin(b, r, seen->dev, seen->ino);
        b->p->writes_host |= (f & STEP_WRITE) != 0;
}

static int add_door(struct builder *b, size_t i, struct err *e)
{
        const struct door *d = &b->doors[i];
        const struct plan_seen *seen = &b->r->seen[i];
        if (seen->kind == SEEN_NOTHING && d->optional)
                return 0;

        if (seen->kind == SEEN_NOTHING || seen->kind == SEEN_OTHER ||
            (seen->kind == SEEN_SOCKET) != (d->kind == DOOR_SOCK))
                return door_is_wrong(b, d, seen, e);

        bool kernels = d->kind == DOOR_READ && seen->real && path_under(seen->real, "/proc"); /* /etc/mtab */
        if (judge_own_place(b, d, kernels ? seen->real : d->path, e) < 0)
                return -1;

        const char *path = door_through_links(b, d->path);
        if (!path)
                return 0; /* out of memory: reported at the end */

        if (strcmp(path, d->path) != 0 && d->kind == DOOR_READ && door_covering(b, path, d))
                return 0; /* seen through the symlink, and visible there */

        if (seen->link && d->kind == DOOR_READ && !d->except && door_covering(b, d->path, d))
                return 0; /* a symlink that another door shows as it is */

        if (door_shown_as_link(b, i)) {
                (void) build_step(b, STEP_LINK, path, arena_str(b->a, seen->link), 0);
                return 0;
        }

        if (is_redundant(b, d))
                return 0;

        if (seen->real && link_judge(b, i, e) < 0)
                return -1;

        if (!build_copy(b, i))
                add_bind(b, d, seen, path);

        return 0;
}

/* A mount of its own at this path that the box cannot write through: held by an `except`, or a `read` door.
 */
static struct plan_step *held_at(const struct builder *b, const char *path)
{
        size_t at;
        if (!names_find(&b->binds, path, &at))
                return NULL;
        struct plan_step *s = &b->p->steps[at];
        return s->kind == STEP_PIN || (s->kind == STEP_BIND && !(s->flags & STEP_WRITE)) ? s : NULL;
}

/* Entries of a directory of programs are found through that, whether it is bound or a symlink. */
static bool is_in_program_directory(const struct builder *b, const char *path)
{
        for (size_t i = 0; i < b->door_count; i++) {
                const struct plan_program *g = &b->r->found[i];
                if (b->doors[i].kind == DOOR_RUN && b->r->seen[i].kind == SEEN_DIR && g->path &&
                    strcmp(g->path, path) != 0 && path_under(path, g->path))
                        return true;
        }

        return false;
}

/* With `run any`, a program behind a door that runs needs no rule of its own: two commands have one plan, and
 * a box that is parked for one fits the other. */
static bool runs_by_rules(const struct builder *b, const char *real)
{
        char dir[PATH_MAX];
        size_t at;
        if (!b->run_any || !wall_has(b->p->wall, WALL_OWN_ROOT) || strlen(real) >= sizeof dir)
                return false;

        for (size_t n = str_parent(real, strlen(real)); n > 0; n = str_parent(real, n)) {
                (void) snprintf(dir, sizeof dir, "%.*s", (int) n, real);
                if (names_find(&b->rules, dir, &at) && b->p->rules[at].rights & RIGHT_EXEC &&
                    b->p->rules[at].rights & RIGHT_READ)
                        return true;
        }

        return false;
}

/* A listed program: its own mount that allows execution, and the name it is called by. If the box may
 * write its directory, the mount stays writable only if a `run` line names that very path; else the file
 * is pinned as it is now. */
static void add_program(struct builder *b, const struct plan_program *g, bool is_dir, bool stock)
{
        if (!g->path)
                return;

        const char *real = arena_str(b->a, g->real);
        const struct door *up = door_mounted_over(b, g->real);
        struct plan_step *held = real ? held_at(b, real) : NULL;
        if (held)
                held->flags |= STEP_EXEC;

        /* An edit door in another's overlay has no mount, and gives no right to run. */
        bool runs = up && door_flags(b, up) & STEP_EXEC && !(up->kind == DOOR_EDIT && is_redundant(b, up));
        if (real && !build_has_bind(b, real) && !runs) {
                unsigned f =
                        STEP_EXEC | (is_dir ? STEP_IS_DIR : 0) | (b->r->as_root && !stock ? STEP_IDMAP : 0);
                if (door_writes(b, g->real) && (b->run_any || door_runs(b, g->real)))
                        f |= STEP_WRITE;
                /* In an edit door it is the overlay's file, never the host's own. */
                bool edit = up && up->kind == DOOR_EDIT;
                struct plan_step *s = build_step(b, edit ? STEP_PIN : STEP_BIND, real, real,
                                                 edit ? f & ~(unsigned) STEP_IDMAP : f);
                s->dev = g->dev;
                s->ino = g->ino;
        }

        if (real && !(runs && runs_by_rules(b, real)))
                build_pin(b, build_rule(b, real, RIGHT_EXEC | RIGHT_READ | (is_dir ? RIGHT_LIST : 0), false),
                          g->dev, g->ino);

        if (strcmp(g->path, g->real) != 0 && !door_covering(b, g->path, NULL) &&
            !is_in_program_directory(b, g->path))
                (void) build_step(b, STEP_LINK, arena_str(b->a, g->path), real, 0);
}

static bool lies_behind_write(const struct builder *b, const char *path)
{
        for (size_t n = strlen(path); n > 0; n = str_parent(path, n))
                if (door_at(b, DOOR_WRITE, span_of(path, n)))
                        return true;
        return false;
}

/* Behind a `write` door a program is pinned as it is, unless a `run` line names that very path. The
 * process wall has nothing to pin it with. And a pin holds one name: by another hard link, which an
 * earlier box may have made, the file can be written. Behind an `edit` door that concerns the overlay, and
 * is reported when it is opened. */
static int judge_written(struct builder *b, const struct plan_program *g, const char *what, bool is_dir,
                         struct err *e)
{
        if (b->run_any || !g->path || !lies_behind_write(b, g->real) || door_runs(b, g->real))
                return 0;

        const char *tree = is_dir ? arena_printf(b->scratch, "%s/", g->real) : NULL;
        const char *run = as_token(b, tree ? tree : g->real);
        if (!wall_has(b->p->wall, WALL_OWN_ROOT)) {
                (void) err_set(
                        e, ERR_DOOR, 0,
                        "the %s %s lies behind a `write` door: the box could change it and run it again",
                        what, g->path);
                return err_hint(e, "the process wall cannot pin it; add `run %s` if that is meant", run);
        }

        if (is_dir) { /* reached through a symlink: the door that names it is checked above */
                (void) err_set(e, ERR_DOOR, 0,
                               "the directory of programs %s leads behind a `write` door: the box could "
                               "change what is in it by a second name and run it",
                               g->path);
                return err_hint(e, "add `run %s` if that is meant", run);
        }

        if (g->links <= 1)
                return 0;

        (void) err_set(e, ERR_DOOR, 0,
                       "the %s %s lies behind a `write` door and is a file with several names: the box could "
                       "change it by another and run it again",
                       what, g->path);
        return err_hint(e, "add `run %s` if that is meant; or run a copy of it", run);
}

static int program_is_wrong(struct builder *b, size_t i, struct err *e)
{
        const struct door *d = &b->doors[i];
        const char *dashes = d->at.line ? "" : "--";

        if (b->r->seen[i].kind == SEEN_OTHER) {
                const char *tree = arena_printf(b->scratch, "%s/", d->path);
                (void) door_error(d, ERR_DOOR, e, "%s is a directory", d->path);
                return err_hint(e, "use `%srun %s` for all programs in it", dashes,
                                as_token(b, tree ? tree : d->path));
        }

        size_t n = strlen(d->path);
        bool dir = d->path[n - 1] == '/';
        (void) door_error(d, ERR_DOOR, e, "%s %s does not exist on this host", dir ? "directory" : "program",
                          d->path);

        /* Behind a write door, the box is to create it: an optional line opens nothing. */
        const char *in = arena_printf(b->scratch, "%.*s", (int) str_parent(d->path, n - dir), d->path);
        const char *named = in ? arena_printf(b->scratch, "%s/", in) : NULL;
        bool made = d->path[0] == '/' && named && door_writes(b, in);
        if (made && dir)
                return err_hint(e, "make it first: what a box makes runs from a directory that is there when "
                                   "the box starts");

        if (made)
                return err_hint(e, "what a box makes runs from a directory that is named: `%srun %s`", dashes,
                                as_token(b, named));

        return err_hint(e, "use `%srun %s?` if it may be missing", dashes, as_token(b, d->path));
}

/* A line names it, or has another name of the program: awk may be mawk. */
static bool entry_is_named(const struct builder *b)
{
        const struct plan_program *g = &b->r->entry;
        const char *const names[] = { g->path, g->real };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                struct effect f = { .kind = EFFECT_RUN, .target = names[i] };
                if (policy_decide(b->c, &f).answer == ANSWER_ALLOW)
                        return true;
        }

        for (size_t i = 0; i < b->door_count; i++) {
                const struct plan_program *o = &b->r->found[i];
                if (b->doors[i].kind == DOOR_RUN && o->path && o->dev == g->dev && o->ino == g->ino)
                        return true;
        }

        return false;
}

static int add_entry(struct builder *b, struct err *e)
{
        const struct plan_program *g = &b->r->entry;
        if (!wall_has(b->p->wall, WALL_PROGRAMS))
                return build_module(b, e);

        b->o->exec_denied = policy_narrowed(b->c) && g->path && !entry_is_named(b);
        if (b->o->exec_denied)
                return 0;

        /* The caller named the command, so exactly that file may start, even if no line covers it. */
        if (judge_written(b, g, "command", false, e) < 0)
                return -1;

        if (!(b->run_any && b->r->entry_searched && g->path))
                add_program(b, g, false, false);

        return 0;
}

static int add_programs(struct builder *b, struct err *e)
{
        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                if (d->kind != DOOR_RUN || strcmp(d->path, "*") == 0)
                        continue;
                const struct plan_program *g = &b->r->found[i];
                if (!g->path && !d->optional && !d->from_stock)
                        return program_is_wrong(b, i, e);
                bool is_dir = b->r->seen[i].kind == SEEN_DIR;
                if ((g->path && judge_own_place(b, d, g->path, e) < 0) || link_judge_program(b, i, e) < 0 ||
                    judge_written(b, g, "program", is_dir, e) < 0)
                        return -1;
                add_program(b, g, is_dir, d->from_stock);
        }

        return add_entry(b, e);
}

/* Files that a dynamic program needs executed beside itself. Rights only: visibility comes from
 * base/loader. */
static void add_loader_rights(struct builder *b)
{
        static const char *const loaders[] = {
                "/lib64/ld-linux-x86-64.so.2",
                "/lib/ld-linux-aarch64.so.1",
                "/lib/ld-musl-x86_64.so.1",
                "/lib/ld-musl-aarch64.so.1",
        };

        for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
                (void) build_rule(b, loaders[i], RIGHT_READ | RIGHT_EXEC, true);
}

static const char nsswitch[] = "passwd: files\ngroup: files\nhosts: files dns\n";

/* How names are resolved. A name server exists only behind a `net` door. */
static const struct {
        const char *path, *text;
        bool net;
} name_files[] = {
        { "/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n127.0.0.1 box\n", false },
        { "/etc/nsswitch.conf", nsswitch, false },
        { "/etc/resolv.conf",
          "nameserver " BOX_GATEWAY4 "\nnameserver " BOX_GATEWAY6 "\noptions timeout:2 attempts:2\n", true },
};

/* An image has accounts of its own: the box's is added to them. */
static void add_accounts(struct builder *b)
{
        static const char nobody[] = "root:x:0:0:nobody outside:/nonexistent:/usr/sbin/nologin\n";
        const char *own =
                arena_printf(b->a, BOX_USER ":x:%u:%u:the box:" BOX_HOME ":/bin/sh\n", b->p->uid, b->p->gid);
        if (b->r->image && b->r->image->passwd) {
                (void) build_step(b, STEP_FILE, "/etc/passwd", build_passwd(b, own), 0);
                return;
        }

        (void) build_step(b, STEP_FILE, "/etc/passwd",
                          arena_printf(b->a, "%s%s", b->p->uid == 0 ? "" : nobody, own ? own : ""), 0);
        (void) build_step(b, STEP_FILE, "/etc/group", arena_printf(b->a, BOX_USER ":x:%u:\n", b->p->gid), 0);
}

static void add_etc(struct builder *b)
{
        add_accounts(b);
        for (size_t i = 0; i < sizeof name_files / sizeof *name_files; i++)
                if (b->r->image && name_files[i].text == nsswitch)
                        continue; /* an image knows how its libraries find names */
                else if (b->p->net || !name_files[i].net)
                        (void) build_step(b, STEP_FILE, name_files[i].path, name_files[i].text, 0);
                else if (b->p->local &
                         LOCAL_LOOPBACK) /* no server to ask: programs still look for the file */
                        (void) build_step(b, STEP_FILE, name_files[i].path, "", 0);

        if (b->p->net)
                (void) build_step(b, STEP_TRUST, BOX_TRUST, NULL, 0);

        (void) build_rule(b, "/etc", RIGHT_READ | (b->run_any ? RIGHT_EXEC : 0), false);
}

/* Programs that only read the system's path of roots (wget, and all users of GnuTLS) find the box's there. */
static void cover_roots(struct builder *b)
{
        for (size_t i = 0; b->p->net && i < sizeof trust_files / sizeof *trust_files; i++)
                (void) build_step(b, STEP_TRUST, trust_files[i], NULL, i == 0 ? 0 : STEP_OPTIONAL);
}

/* random and urandom have been one since Linux 5.6: a link saves a mount. */
static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/urandom" };

static const char own_terminal[] = "/dev/tty"; /* with a terminal only */
static const char *const dev_links[][2] = {
        { "/dev/fd", "/proc/self/fd" },       { "/dev/random", "urandom" },
        { "/dev/stdin", "/proc/self/fd/0" },  { "/dev/stdout", "/proc/self/fd/1" },
        { "/dev/stderr", "/proc/self/fd/2" },
};

/* /dev/tty is the terminal of the calling session, and a box is a session of its own: it is never the
 * caller's. */
static void add_terminal(struct builder *b)
{
        (void) build_step(b, STEP_DEVPTS, "/dev/pts", NULL, STEP_WRITE);
        (void) build_step(b, STEP_LINK, "/dev/ptmx", "pts/ptmx", 0);
        (void) build_rule(b, "/dev/pts", RIGHT_READ | RIGHT_LIST | RIGHT_DEVICE, false);
        (void) build_step(b, STEP_DEVICE, own_terminal, NULL, 0);
        (void) build_rule(b, own_terminal, RIGHT_READ | RIGHT_DEVICE, false);
}

/* git in a box commits in the caller's name. A file rather than a variable, which would override the
 * repository's own settings. */
static void add_git_config(struct builder *b)
{
        static const char path[] = BOX_HOME "/.gitconfig";
        for (size_t i = 0; i < b->r->file_count; i++)
                if (strcmp(b->r->files[i].path, path) == 0)
                        return;

        const char *whole = b->r->home ? arena_printf(b->a, "%s/.gitconfig", b->r->home) : NULL;
        if (whole && door_covering(b, whole, NULL))
                return; /* add_home_links() */

        if (b->r->git_config && build_sees_repository(b))
                (void) build_step(b, STEP_FILE, path, arena_str(b->a, b->r->git_config), STEP_PRIVATE);
}

/* A part of the private files, writable; `limit disk` applies to all parts together. */
static void add_scratch(struct builder *b, const char *path, const char *part)
{
        (void) build_step(b, STEP_SCRATCH, path, part, STEP_WRITE | (b->run_any ? STEP_EXEC : 0));
        (void) build_rule(b, path, RIGHT_LIST | RIGHT_READ | RIGHT_WRITE | (b->run_any ? RIGHT_EXEC : 0),
                          false);
}

/* gpg finds its agent by a file in its home that names the socket, and its public keys beside it. */
static void add_gpg_home(struct builder *b)
{
        static const char ring[] = "/pubring.kbx";
        (void) build_step(b, STEP_DIR, BOX_HOME "/.gnupg", NULL, STEP_PRIVATE);
        (void) build_step(b, STEP_FILE, BOX_HOME "/.gnupg/S.gpg-agent",
                          "%Assuan%\nsocket=" BOX_GPG_AGENT "\n", STEP_PRIVATE);
        for (size_t i = 0; i < b->door_count; i++) {
                const char *path = b->doors[i].path;
                size_t n = path ? strlen(path) : 0;
                if (b->doors[i].kind != DOOR_READ || n < strlen(ring) ||
                    strcmp(path + n - strlen(ring), ring) != 0)
                        continue;
                (void) build_step(b, STEP_LINK, BOX_HOME "/.gnupg/pubring.kbx", arena_str(b->a, path), 0);
                return;
        }
}

/* The sockets on which cordon speaks for the agents of the caller. */
static void add_keys(struct builder *b)
{
        bool ssh = build_uses_agent(b, "ssh:"), gpg = build_uses_agent(b, "gpg:");
        b->p->keys = ssh || gpg;
        if (ssh)
                build_step(b, STEP_LISTEN, BOX_SSH_AGENT, NULL, 0)->layer = LISTENER_SSH;
        if (gpg) {
                build_step(b, STEP_LISTEN, BOX_GPG_AGENT, NULL, 0)->layer = LISTENER_GPG;
                add_gpg_home(b);
        }
}

/* A path below ~ is where the door shows it: a door below the caller's home has a link at
 * the same place in the box's. */
static void add_home_links(struct builder *b)
{
        for (size_t i = 0; b->r->home && i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                const char *home = b->r->home;
                if (!door_is_of_files(d) || d->from_stock || b->r->seen[i].kind == SEEN_NOTHING || !home[1] ||
                    !path_under(d->path, home) || strlen(d->path) == strlen(home) ||
                    path_under(d->path, BOX_HOME) || door_covering(b, d->path, d))
                        continue;

                const char *link = arena_printf(b->a, BOX_HOME "%s", d->path + strlen(home));
                (void) build_step(b, STEP_LINK, link, arena_str(b->a, d->path), 0);
        }
}

/* The box's own files; nothing here shows a byte of the host's files. */
static void add_built_ins(struct builder *b)
{
        add_etc(b);
        add_scratch(b, BOX_HOME, "home");
        add_git_config(b);
        if (b->p->authority)
                (void) build_step(b, STEP_TRUST, BOX_NSS, NULL, STEP_OPTIONAL | STEP_PRIVATE);

        add_scratch(b, "/tmp", "tmp");
        if (b->r->image)
                add_scratch(b, "/var/tmp", "tmp");
        else if (!door_any_under(b, "/var/tmp")) /* already private and sticky */
                (void) build_step(b, STEP_LINK, "/var/tmp", "/tmp", 0);

        if (!door_any_under(b, "/dev/shm"))
                add_scratch(b, "/dev/shm", "shm");

        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
                (void) build_step(b, STEP_DEVICE, devices[i], NULL, 0);
                (void) build_rule(b, devices[i], RIGHT_READ | RIGHT_DEVICE, false);
        }

        for (size_t i = 0; i < sizeof dev_links / sizeof *dev_links; i++)
                (void) build_step(b, STEP_LINK, dev_links[i][0], dev_links[i][1], 0);

        if (b->o->tty || b->p->local & LOCAL_PTY)
                add_terminal(b);

        add_keys(b);
        add_home_links(b); /* what is there by now goes first */
        build_machine(b);
        (void) build_step(b, STEP_PROC, "/proc", NULL, 0);
        (void) build_rule(b, "/proc", RIGHT_READ, false);
        (void) build_rule(b, "/", RIGHT_LIST, false);
}

/* The process wall has no view of its own: devices by their host paths, and no private files. */
static void add_process_built_ins(struct builder *b)
{
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
                (void) build_rule(b, devices[i], RIGHT_READ | RIGHT_DEVICE, true);
        if (b->o->tty)
                (void) build_rule(b, own_terminal, RIGHT_READ | RIGHT_DEVICE, true);
}

static int by_path(const void *x, const void *y)
{
        const struct plan_step *a = x, *b = y;
        return strcmp(a->path, b->path);
}

static int needs_own_root(const struct builder *b, const struct door *d, struct err *e)
{
        if (wall_has(b->p->wall, WALL_OWN_ROOT))
                return 0;
        (void) door_error(d, ERR_HOST, e, "the process wall does not support a `%s` door",
                          policy_door_word(d->kind));
        return err_hint(e, "it needs the namespace wall: see `cordon doctor`");
}

static int add_sock(struct builder *b, size_t i, struct err *e)
{
        const struct door *d = &b->doors[i];
        if (needs_own_root(b, d, e) < 0)
                return -1;
        if (d->kind != DOOR_DEV)
                return add_door(b, i, e);
        if (b->r->seen[i].kind != SEEN_NOTHING || policy_gpu(d->path))
                return build_device(b, i, e);
        return d->optional ? 0 : door_is_wrong(b, d, &b->r->seen[i], e);
}

/* A read-only mount does not stop connect(): a directory of the host shows sockets that are not the box's.
 * Single files are not sockets, and program directories have none if the host keeps none below /usr. */
static void judge_sockets(struct builder *b)
{
        bool directory = b->r->image && b->r->image->may_have_sockets;
        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                directory |= (door_is_of_files(d) || d->kind == DOOR_RUN) &&
                             (!d->from_stock || b->r->stock_sockets) && b->r->seen[i].kind == SEEN_DIR;
        }

        if (wall_has(b->p->wall, WALL_OWN_ROOT) && policy_makes_sockets(b->c))
                b->p->sockets = directory ? PLAN_SOCKETS_SERVED : PLAN_SOCKETS_FREE;
}

/* The process wall mounts nothing: its doors are Landlock rules, and masks mark the paths that those leave
 * out. */
static void keep_masks(struct plan *p)
{
        size_t n = 0;
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_MASK)
                        p->steps[n++] = p->steps[i];
        p->step_count = n;
}

/* Landlock adds up the rights of all directories above a file. A mounted path has no symlink on its way,
 * so the directories above it are those in its path. */
static bool is_covered(const struct builder *b, const struct plan_rule *r)
{
        unsigned above = 0;
        size_t at;
        if (r->entries || !build_has_bind(b, r->path))
                return false;

        for (size_t n = strlen(r->path); n > 1;) {
                n = str_parent(r->path, n);
                const char *dir = arena_copy(b->scratch, span_of(r->path, n ? n : 1));
                if (dir && names_find(&b->rules, dir, &at))
                        above |= b->p->rules[at].rights;
        }

        return (r->rights & ~above) == 0;
}

int build_view(struct builder *b, struct err *e)
{
        judge_sockets(b);
        build_image(b);
        if (wall_has(b->p->wall, WALL_OWN_ROOT))
                add_built_ins(b);
        else
                add_process_built_ins(b);

        size_t first = b->own_steps = b->p->step_count;
        for (size_t i = 0; i < b->door_count; i++) {
                enum door_kind k = b->doors[i].kind;
                if ((door_is_of_files(&b->doors[i]) && add_door(b, i, e) < 0) ||
                    ((k == DOOR_SOCK || k == DOOR_DEV) && add_sock(b, i, e) < 0) ||
                    ((k == DOOR_SIGN || k == DOOR_DECRYPT) && needs_own_root(b, &b->doors[i], e) < 0))
                        return -1;
        }

        build_guards(b); /* first: a program in an `except` is pinned by the except */
        if (add_programs(b, e) < 0)
                return -1;

        if (!b->run_any)
                add_loader_rights(b);

        /* Parents before children, so that a door inside a door is mounted on top of it. */
        qsort(b->p->steps + first, b->p->step_count - first, sizeof *b->p->steps, by_path);
        for (size_t i = first; i < b->p->step_count; i++)
                if (b->p->steps[i].kind == STEP_EDIT)
                        b->p->steps[i].layer = b->p->edits++;

        build_image_parts(b); /* their rights reach down to what is hidden */
        for (size_t i = 0; i < b->door_count; i++)
                if (build_masks(b, &b->doors[i], e) < 0)
                        return -1;

        build_written(b);
        cover_roots(b);
        if (build_state_masks(b, e) < 0)
                return -1;

        if (!wall_has(b->p->wall, WALL_OWN_ROOT))
                keep_masks(b->p);

        for (size_t i = 0; wall_has(b->p->wall, WALL_OWN_ROOT) && i < b->r->shut_count; i++)
                build_shut(b, b->r->shut[i], (unsigned) i);

        for (size_t i = 0; wall_has(b->p->wall, WALL_OWN_ROOT) && i < b->p->rule_count; i++)
                b->p->rules[i].covered = is_covered(b, &b->p->rules[i]);

        return 0;
}
