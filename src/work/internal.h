/* SPDX-License-Identifier: MIT */
/* work/internal.h - what the files of this folder share. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "work/work.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* ---- tree_look.c: entries of trees that nobody trusts ---- */

enum node_kind { NODE_NONE = 0, NODE_FILE, NODE_DIR, NODE_LINK, NODE_OTHER };

struct node {
        enum node_kind kind;
        bool whiteout; /* OTHER: the kernel's mark for "not here any more" */
        mode_t mode;   /* 07777 */
        uid_t uid;
        gid_t gid;
        uint64_t size, dev, ino, blocks;
        uint64_t links;
        struct timespec mtime, ctime;
};

/* Opens a directory beneath another: no link, no other mount. `path` may have several parts; "" is `dir`. */
int tree_dir(int dir, const char *path);
/* Which filesystem, so that it means the same after the next boot; its device number where it has no id. */
uint64_t tree_fsid(int fd);
/* Its UUID, in 64 bits; 0: none is known. The id above is made of the device number on some filesystems
 * (XFS), which changes. A file or directory that can be read; else 0. */
uint64_t tree_uuid(int fd);
/* Is it on the filesystem that had this id, or this UUID? */
bool tree_is_on(int fd, uint64_t fsid, uint64_t uuid);
/* The same where nothing needs to be listed: search permission is enough. */
int tree_place(int dir, const char *path);
/* The directory that `path` lies in, to name things in it; *ret_last: its last part. */
int tree_parent(int dir, const char *path, const char **ret_last);
/* What is there; NODE_NONE: nothing. -1 with errno. */
int tree_look(int dir, const char *name, struct node *ret);
/* By errno: there is no such thing. Whatever else keeps us from it (closed to us; no descriptor or memory
 * left, which a box can bring about by depth alone) says nothing of it, and must not be taken for that. */
bool tree_is_missing(int sys);
/* Opens a regular file for reading, and nothing else: what is no regular file is never opened. *ret_node (or
 * NULL) is what was opened. With `own`, a file of our own that has no read permission is opened all the same.
 */
int tree_file(int dir, const char *name, bool own, struct node *ret_node);
int tree_file_at(int place, bool own, struct node *ret_node); /* of one that is held (O_PATH) */
/* A mode for what has the name; a link, also one that took its place just now, is refused and not followed.
 */
int tree_set_mode(int dir, const char *name, mode_t mode);
/* The same for a directory of a layer. *ret_mode: the mode to put back with tree_dir_end(), or 0. */
int tree_own_dir(int dir, const char *name, mode_t *ret_mode);
void tree_dir_end(int fd, mode_t mode);
/* Opens a directory of our own for good that was opened as a place (O_PATH) and has this mode. */
int tree_open_place(int place, mode_t mode);
/* Where a link points; length or -1. `buf` is NUL-terminated. */
ssize_t tree_link(int dir, const char *name, char *buf, size_t cap);
/* Hex SHA-256 of content or target; of a file with large holes TREE_SPARSE and as much as has room; "" for
 * what has none; "-" for what cannot be read; "!" when the name leads to another file than `n`. */
int tree_digest(int dir, const char *name, const struct node *n, bool own, char ret_hex[65]);
#define TREE_SPARSE "sparse:"
bool tree_same_content(int a, int b);

struct names {
        char **v;
        size_t n;
        struct arena mem;
};
/* The names in an open directory, sorted by byte. */
int tree_names(int dir, struct names *ret);
void names_done(struct names *n);
bool names_have(const struct names *n, const char *name);
#define AUTO_NAMES(name) __attribute__((cleanup(names_done))) struct names name = { 0 }

/* Extended attributes in `user.`, without overlayfs's own, and access lists. Descriptors opened for reading.
 */
bool xattr_same(int a, int b);
/* Has a directory an access list for what is made in it, and `than` not the same? */
bool xattr_gives_access(int dir, int than);
int xattr_copy(int from, int to);
/* Marks in the tree below by which overlayfs takes what is there for gone: a whiteout, or an empty file with
 * an attribute. Any box with a `write` door can leave the attribute, and the next one with an `edit` door
 * does not find the file. With a mark on the top of the tree the kernel leaves them out of lists, too. */
bool tree_is_masked(int dir, const char *name, const struct node *n);
bool xattr_hides_below(int place);
/* Overlayfs's mark on a directory of a layer by which nothing of the tree below shows through. */
bool xattr_is_opaque(int dir);
int xattr_set_opaque(int dir, bool opaque);
/* Its mark for a removed name. */
int tree_whiteout(int dir, const char *name);
/* Takes away what overlayfs wrote on a file. */
int xattr_drop_overlay(int fd);
/* Also removes what `to` has and `from` has not. */
int xattr_mirror(int from, int to);

/* ---- quick_sum.c ---- */

/* A sum of the content of an open file; reads no more than *budget bytes, which it lowers. False: more than
 * that, or not readable. */
bool sum_file(int fd, uint64_t *budget, uint64_t *ret);

/* ---- tree_copy.c ---- */

/* Without the set-id bits of a file; a directory's setgid bit only says which group its entries get. */
mode_t landing_mode(const struct node *n, bool setid);
/* Makes `name` in `to` as `from_name` in `from`: file (sparse stays sparse, shared blocks where the
 * filesystem can), link or empty directory. Modes without set-id bits unless `setid`. */
int copy_node(int from, const char *from_name, int to, const char *name, bool setid);
/* The same of a file that is held (O_PATH), whatever name it has by now; without set-id bits. */
int copy_place(int place, int to, const char *name);
/* A whole tree, also with the kernel's marks of a layer (`marks`). */
int copy_tree(int from, const char *from_name, int to, const char *name, bool marks);
/* A tree of any depth, with whatever modes it has. Nothing there: no error. */
int remove_tree(int dir, const char *name);

/* ---- overlay.c ---- */

enum layer_state { LAYER_OPEN = 0, LAYER_SEALED, LAYER_APPLIED };
/* Of everything that a layer's directory holds. A field more in `meta`, a number more at the end of a line of
 * `commit` or of a record's NOW-SIZE need no new version: who does not know them leaves them alone. */
enum { LAYER_VERSION = 1 };

struct work_door {
        char *host;
        uint64_t dev, ino; /* dev: tree_fsid() of the tree */
        uint64_t uuid;     /* tree_uuid() of it */
        bool is_dir;
        uint64_t in_dev, in_ino,
                in_uuid;        /* of a single file: the directory that it lies in; in_ino 0: not known */
        char *name;             /* and how it is called there, where links do not count */
        mode_t top;             /* S_IFDIR and the mode that the box found its own top with; 0: not known */
        char **guards, **stubs; /* relative paths, NULL-terminated, never NULL */
        size_t guard_count, stub_count;
        char **others; /* fields that this version does not know, as they were */
        size_t other_count;
};

struct closed { /* a directory of the layer, and the mode that the box gave it */
        unsigned door;
        mode_t mode;
        const char *path;
};

struct layer {
        const struct cordon_context *cx; /* of the command; NULL: it only looks */
        char run[WORK_RUN_MAX];
        int store, dir, lock; /* STATE/work; the layer in it; its lock, held */
        enum layer_state state;
        bool keep;
        bool durable; /* what is written about it must outlive a power cut: not before there is something to
                         lose */
        struct timespec start;
        char *box, *policy;
        char **others; /* fields that this version does not know, as they were */
        size_t other_count;
        struct work_door *doors; /* WORK_DOORS_MAX */
        size_t door_count;
        struct closed *closed;
        size_t closed_count, closed_cap,
                closed_sorted;   /* the first so many are sorted: those that were known */
        uint64_t closed_bytes;   /* of its file, that are whole */
        work_progress *progress; /* of whoever works on it; or NULL */
        void *progress_ctx;
        struct arena mem;
};

int layer_store(const struct cordon_context *cx, struct err *e); /* STATE/work */
static inline void layer_progress(const struct layer *l, const char *doing, size_t done, size_t total)
{
        if (l->progress)
                l->progress(l->progress_ctx, doing, done, total);
}
struct layer *layer_new(const struct cordon_context *cx, const char *run, struct err *e);
/* "DOING OF: the system's words", with what to do about it. */
int layer_cannot(struct err *e, const char *doing, const char *of);
/* Without settling anything: for listing and for a run that goes on. */
struct layer *layer_take(int store, const char *run, struct err *e);
void layer_free(struct layer *l);
int layer_write(struct layer *l, struct err *e);
/* Removes one in which nothing is; false: there is something, or it was not to be had: layer_remove(). */
bool layer_remove_if_empty(struct layer *l);
/* Removes it from the disk. */
int layer_remove(struct layer *l, struct err *e);
/* Sweeps what a killed start or a killed removal left; true: nothing is there any more. */
bool layer_swept(int store, const char *name);
/* The directory of one door's layer. */
int layer_door_dir(const struct layer *l, size_t door);
char **layer_append(struct layer *l, char **list, size_t *count, const char *text);

/* ---- overlay_find.c ---- */

/* Without a name: the newest layer that waits for somebody, or the one whose apply was the last; in either
 * case only one that has a door at, above or below the working directory. */
enum layer_wanted { LAYER_WAITING = 0, LAYER_LANDED };
/* The run that `which` means. */
int layer_find(int store, const char *which, enum layer_wanted want, char ret_run[WORK_RUN_MAX],
               struct err *e);
/* Opens and locks it; what an interrupted apply left is finished or rolled back, and a layer whose keeper
 * was killed is sealed. */
struct layer *layer_open(const struct cordon_context *cx, const char *which, enum layer_wanted want,
                         struct err *e);

/* ---- scan.c, sides.c ---- */

enum { /* what happened to an entry */
       WHAT_ADDED = 1 << 0,
       WHAT_DELETED = 1 << 1,
       WHAT_CONTENT = 1 << 2,
       WHAT_MODE = 1 << 3,
       WHAT_OWNER = 1 << 4,
       WHAT_TYPE = 1 << 5,
       WHAT_XATTR = 1 << 6,
       WHAT_RENAMED = 1 << 7, /* added: `other` is where it came from; deleted: where it went */
       WHAT_UNSEEN = 1 << 8,  /* the host's side is in a directory that is closed to us: see `shut` */
};

struct entry {
        unsigned door;
        unsigned what;
        unsigned flags; /* bit per row of flags.c */
        const char *path;
        const char *other;
        const char *link; /* a file of the host's that this is a second name of; or NULL */
        uint64_t apart;   /* names that the host's file has, if it does not have them all any more; or 0 */
        struct node old, now;
        const char *conflict; /* what the host did since; or NULL */
        const char *base;     /* digest of what lay below when the layer was sealed; or NULL */
        char base_kind;       /* and what it was: - f d l o, or ? (nobody could look) */
        const char *shut;     /* the host's directory that keeps us from it; or NULL */
        const char *held;     /* apply: why it takes no part; or NULL */
        unsigned inside;      /* apply, of a new directory: the flags that hold back it and all in it */
        bool chosen;          /* apply: takes part */
        bool masked;          /* the host's side: see tree_is_masked() */
        bool torn;            /* the layer holds something else than when it was sealed */
};

#define TORN_WORDS "the overlay does not hold what the box left (did the machine go down?)"

/* A file that the box left as it is, and gave another name. */
struct twin {
        unsigned door;
        uint64_t ino; /* in the layer */
        const char *path;
};

struct entries {
        struct entry *v;
        size_t n, cap;
        struct twin *twins;
        size_t twin_count, twin_cap;
        size_t flagged, conflicts;
        struct arena mem;
};

/* A directory that goes, or gives way to something else. */
static inline bool takes_directory(const struct entry *x)
{
        return x->what & (WHAT_DELETED | WHAT_TYPE) && x->old.kind == NODE_DIR;
}
/* Walks the layers and what lies below them; opens directories of the layer that are closed. */
int scan_layer(struct layer *l, struct entries *ret, struct err *e);
bool door_is_guarded(const struct work_door *d, const char *path);
bool door_is_stub(const struct work_door *d, const char *path);
void entries_done(struct entries *v);
#define AUTO_ENTRIES(name) __attribute__((cleanup(entries_done))) struct entries name = { 0 }
/* The tree below a door, if it still is what it was. */
int open_host(const struct work_door *d, struct err *e);
/* Is this the directory, and the name in it, of a single file's door, as the box saw it? Else an error. */
int file_stays(const struct work_door *d, int dir, const char *name, struct err *e);
/* Entries of a layer by descriptor: `upper` of a door (or the directory of a single file), and the tree
 * below. The path of a single file's entry is its name in each. */
struct sides {
        int upper, lower;
        mode_t back;                   /* of `upper`, if it was opened against its mode */
        const char *upper_name;        /* single file; else NULL */
        char lower_name[NAME_MAX + 1]; /* the same; else "" */
};
int sides_open(const struct layer *l, size_t door, struct sides *ret, struct err *e);
void sides_close(struct sides *s);
/* Parent directory and name of one entry on each side. */
int side_upper(const struct sides *s, const char *path, const char **ret_name);
int side_lower(const struct sides *s, const char *path, const char **ret_name);

/* Sides are opened once per door: entries come sorted. */
struct cursor {
        const struct layer *l;
        long door;
        struct sides s;
};
int cursor_at(struct cursor *c, unsigned door, struct err *e);
void cursor_done(struct cursor *c);
#define AUTO_CURSOR(name, layer)                                                                             \
        __attribute__((cleanup(cursor_done))) struct cursor name = { .l = (layer), .door = -1 }
/* tree_digest() of one side of an entry; "" for what has no content. */
int digest_of(struct cursor *c, const struct entry *x, bool now, char ret_hex[65], struct err *e);

/* What differs between two entries of one kind, beside the content of a directory: WHAT_... */
unsigned node_differs(int upper, int lower, const char *un, const char *ln, const struct node *now,
                      const struct node *old);
/* Sorts a directory right before what lies in it. */
int path_order(const char *a, const char *b);
/* Is `path` `root` itself or below it? */
bool path_below(const char *path, const char *root);

/* ---- hard_links.c ---- */
struct op;

/* A file of the layer that is as the host's is; then, when all are known, whose second names there are. */
int links_note(struct entries *v, unsigned door, const char *path, const struct node *n, struct err *e);
int links_find(struct entries *v, struct err *e);
/* A second name of the host's file in the slot; false: none is there, and the file is to be copied. */
bool links_take(const struct sides *sides, const struct op *o, int slots, const char *slot);

/* ---- merged_view.c ---- */

/* The two sides of one directory; -1: not there, or hidden. */
struct view {
        int upper, lower;
};
struct view view_copy(const struct view *v);
void view_end(struct view *v);
#define AUTO_VIEW(name, of) __attribute__((cleanup(view_end))) struct view name = view_copy(of)
/* What the box sees as `name` here; *ret_hidden: the layer says that what lies below is gone. */
struct node view_look(const struct view *v, const char *name, bool *ret_hidden);
void view_down(struct view *v, const char *name, bool hidden);
/* Does a link at `path` to `target` lead out of the tree, through whatever stands in its way? What cannot be
 * told counts as yes. */
bool view_leads_out(const struct view *top, const char *path, const char *target);

/* ---- base_record.c: the file `base`, which holds a record of each changed entry ---- */
struct journal;

struct record {
        unsigned door;
        char kind;
        mode_t mode;
        uid_t uid;
        gid_t gid;
        uint64_t size;
        const char *digest;
        char now_kind; /* of the layer's side */
        uint64_t now_size, now_sum;
        bool summed;
        const char *more; /* what a later version added there */
        const char *path;
};

struct base {
        char *text;
        struct record *v;
        size_t n;
};

#define AUTO_BASE(name) __attribute__((cleanup(base_done))) struct base name = { 0 }
void base_done(struct base *b);
char kind_letter(enum node_kind k);
int base_read(const struct layer *l, struct base *ret, struct err *e);
const struct record *base_find(const struct base *b, unsigned door, const char *path);
/* The record of the nearest directory above that has one, if nobody could look into it when the layer was
 * sealed; else NULL. */
const struct record *base_unseen_above(const struct base *b, unsigned door, const char *path);
/* Adds a record to a text, and writes the text with its end. Records are sorted by door and path. */
void base_put(struct buf *out, const struct record *r);
int base_write(const struct layer *l, struct buf *out, struct err *e);
/* Forgets what was applied. */
int base_drop(const struct layer *l, const struct entries *v, struct err *e);
/* The paths that have a record: what the box changed and nobody has applied yet. NULL: error. */
struct base *base_open(const struct layer *l, struct err *e);
void base_free(struct base *b);
bool base_has(const struct base *b, unsigned door, const char *path);
/* It has one, or lies where nobody could look when the layer was sealed. */
bool base_waits(const struct base *b, unsigned door, const char *path);
bool base_has_below(const struct base *b, unsigned door, const char *path);
/* Digests of what lay below, from the `base` that was kept with a journal. */
void base_digests(struct journal *j);
/* Takes the records of the `base` that was kept with a journal back, for what the layer has no record of and
 * for what the journal's steps put back. */
int base_restore(const struct journal *j, struct err *e);

/* ---- overlay_seal.c ---- */

int seal(struct layer *l, struct entries *ret, struct err *e);
int seal_scanned(struct layer *l, struct entries *ret, struct err *e);
/* Scans, and holds the entries against what was sealed; the layer's own side only by kind and size. */
int scan_sealed(struct layer *l, struct entries *ret, struct err *e);
/* Reads what the layer itself holds: entries that are not what was sealed become torn. */
int scan_torn(const struct layer *l, struct entries *v, struct err *e);
/* The same without a scan, for a run that goes on: -1 when an entry is torn. */
int refuse_torn(const struct layer *l, struct err *e);

/* ---- renames.c, named_entries.c ---- */

/* Finds renames among added and deleted entries. */
int find_renames(const struct layer *l, struct entries *v, struct err *e);
/* Does each of the paths name an entry? */
int paths_all_found(const struct layer *l, const struct entries *v, const char *const *paths, struct err *e);
bool entry_named(const struct layer *l, const struct entry *x, const char *const *paths);
/* By its own path, or by that of a directory which is flagged by its name: naming a parent directory does not
 * approve the flagged files below it. */
bool entry_named_itself(const struct layer *l, const struct entry *x, const char *const *paths);
/* Is one of the paths this directory, or below it? */
bool names_reach_into(const struct layer *l, unsigned door, const char *dir, const char *const *paths);

/* ---- refresh.c ---- */

/* Before the next box on a layer: it shows the host wherever the layer has no record of a change. */
int refresh_layer(struct layer *l, struct err *e);

/* ---- closed_dirs.c: the host's directories; unreadable.c: the layer's ---- */

/* Which entries an apply has no way to, into `shut`. */
int shut_mark(const struct layer *l, struct entries *v, struct err *e);
/* Why one is held back that is shut. */
const char *shut_words(const struct layer *l, struct entries *v, const struct entry *x);

int closed_read(struct layer *l, struct err *e);
/* The mode that the box gave a directory which was opened since; false: as it is. */
bool closed_mode(const struct layer *l, unsigned door, const char *path, mode_t *ret);
/* One more, which is about to be opened; closed_mode() knows it after closed_settle(). */
int closed_keep(struct layer *l, unsigned door, const char *path, mode_t mode, struct err *e);
void closed_settle(struct layer *l);
/* Another mode for one that is known, to be set by closed_restore(). */
void closed_change(struct layer *l, unsigned door, const char *path, mode_t mode);
/* As the box left them. */
int closed_restore(struct layer *l, struct err *e);

/* ---- flags.c, trusted.inc, spelling.c ---- */

enum flag {
        FLAG_GIT_HOOK = 0,
        FLAG_GIT_CONFIG,
        FLAG_GIT_INSIDE,
        FLAG_VCS,
        FLAG_SHELL_START,
        FLAG_CI,
        FLAG_EDITOR,
        FLAG_BUILD,
        FLAG_PACKAGE,
        FLAG_AGENT,
        FLAG_POLICY,
        FLAG_ENVIRONMENT,
        FLAG_SEARCH_PATH,
        FLAG_LINK_OUT,
        FLAG_SETID,
        FLAG_EXECUTABLE,
        FLAG_ACCESS,
        FLAG_LOOSER,
        FLAG_SPECIAL,
        FLAG__COUNT
};

/* No pointers: the loader would have to write each of them anew, in memory of every process. */
struct trusted {
        uint8_t flag; /* enum flag */
        char reason[63];
        char patterns[448];
};
extern const struct trusted trusted_names[];
extern const size_t trusted_count;

/* `path` as a filesystem may take it that does not tell names apart as this one does. */
void spelling_plain(const char *path, char *ret, size_t cap);

/* Does the path match one of the patterns, which are separated by spaces? See trusted.inc. */
bool flags_match(const char *patterns, const char *path);
unsigned flags_by_name(const char *path);
/* Of the first row that names it; NULL: none does. */
const char *flags_reason(const char *path);
/* What to look into when its name alone does not tell. */
bool flags_wants_content(const char *path);
unsigned flags_by_content(struct span text);
unsigned flags_by_node(const struct node *old, const struct node *now);
unsigned flags_by_link(const char *path, const char *target);
extern const unsigned FLAG_LEAVES; /* a link that leaves the tree */
/* The words for the lowest bit of `flags`, and the bit. */
const char *flags_words(unsigned flags, unsigned *ret_bit);
extern const unsigned FLAG_NEVER; /* never applied: sockets, fifos, devices */
unsigned flags_count(void);
/* The words by which kinds are named to --flagged; 0: there is no such kind. */
const char *flags_kind(unsigned i);
unsigned flags_of_kind(const char *kind);
/* All of them, each with its kind: "git runs it [git-hook]; ..." */
void flags_put(struct buf *out, unsigned flags);

/* ---- fold_dirs.c: directories that are told in one line ---- */

struct fold {
        size_t n; /* entries, from the first on */
        size_t files, flagged, renamed;
        uint64_t bytes;
        unsigned flags;
};
/* How many bytes of `path` lead to a directory of packages, build products or a cache; 0: it lies in none. */
size_t fold_length(const char *path, bool is_dir);
/* The same of an entry; a repository that is new as a whole, with more than a few flags, counts as well. */
size_t fold_of(const struct entries *v, size_t i);
/* The entries from `first` on that lie at or below the first `len` bytes of its path. */
struct fold fold_measure(const struct entries *v, size_t first, size_t len);
/* A directory that is new or gone, with all that lies in it. */
bool fold_is_whole(const struct entry *x);
/* Is it told in one line? */
bool fold_is_long(const struct entry *x, const struct fold *f);
/* "12,252 files, 88 MB" */
void fold_put(struct buf *out, const struct fold *f);

/* ---- work_show.c, patch.c, line_diff.c, paths.c ---- */
/* PREFIX and PATH as git writes names: in quotes, with octal escapes, where one line could not hold them. */
void put_git_path(struct buf *out, const char *prefix, const char *path);

struct shower {
        const struct layer *l;
        const struct entries *v;
        const struct work_look *look;
        struct buf out;
        bool many;          /* several doors: names are absolute */
        const char *binary; /* the last path that a patch left out because it is binary; or NULL */
};
/* Members of an object: `"KEY":...`, and with a comma before them. */
void json_path(struct buf *out, const char *key, const char *path);
void json_changes(struct buf *out, unsigned what);
void json_flags(struct buf *out, unsigned flags);
void json_apart(struct buf *out, uint64_t names); /* nothing where there is nothing to tell */
int show_diffs(struct shower *s, struct err *e);
int show_theirs(struct shower *s, struct err *e);
int show_stat(struct shower *s, struct err *e);
int show_names(struct shower *s, struct err *e);
int show_json(struct shower *s, struct err *e);
/* The chosen entries, to a->patch. */
int show_patch(const struct work_apply *a, const struct layer *l, const struct entries *v, struct err *e);
void show_flush(struct shower *s);
/* The last of it, unless it went wrong by then (`r`); what there is to free is. */
int show_end(struct shower *s, int r, struct err *e);
/* Both sides of an entry as bytes; a side that is not there is empty. */
struct content {
        char *p;
        size_t n;
        bool unread; /* the host's: not ours to read */
};
int show_contents(struct shower *s, const struct entry *x, struct content *old, struct content *now,
                  struct err *e);
/* A unified diff of two texts; returns false when it took the short way (whole middle replaced). */
bool lines_diff(struct span a, struct span b, struct buf *out);
/* Added and removed lines. */
void lines_count(struct span a, struct span b, size_t *ret_added, size_t *ret_removed);
bool is_binary(struct span s);

/* ---- journal.c, journal_marks.c, journal_steps.c, staging.c, work_apply.c: see journal.c for the format
 * ---- */

enum op_kind { OP_PUT = 'P', OP_SWAP = 'S', OP_TAKE = 'T', OP_META = 'M' };

struct op {
        char kind;
        bool moved;  /* the new file was taken out of the layer, not copied */
        mode_t left; /* moved: S_IFREG and the mode that the box left it with; 0: not known */
        unsigned door;
        const char *path;   /* in the target */
        const char *source; /* in the layer */
        size_t slot;        /* its number */
        uint64_t ino;       /* of the new entry, once staged */
        long mode;          /* META: the directory's new mode; -1 in an old journal: that of its slot */
        long old_mode;      /* META: and the one it had; -1 likewise */
        const char *digest; /* of the new entry, once staged */
        const char *before; /* of what lay there, from the base; or NULL */
        bool linked;        /* what was staged is a file of the host's own */
        struct node old;    /* what was looked at: kind, ino, size, mtime, links; kind 0 in an old journal */
        /* only while it is made */
        const struct entry *entry;
        bool setid, keep_owner, new_dir;
        bool elsewhere;       /* not into the door */
        const char *conflict; /* undo: what keeps it from being taken back; or NULL */
        bool rejoined;        /* undo: it is a name of the host's own file again */
};

struct target {
        const char *path;
        const char *file;  /* a single file's name in it, found together with it; else NULL */
        uint64_t dev, ino; /* dev: tree_fsid() */
        uint64_t uuid;     /* tree_uuid() */
        bool inside;       /* slots lie in the target itself: its filesystem is not the state directory's */
        bool used;
        int fd, slots;
};

struct journal {
        struct layer *l;
        char name[32]; /* apply-K */
        int dir;
        struct target targets[WORK_DOORS_MAX];
        struct op *ops;
        size_t n;
        struct arena mem;
        bool to;          /* into another directory: the layer stays as it is */
        const char *mark; /* of whoever asked for it; or NULL */
        int unsure;       /* errno of a look for a mark that had no answer; or 0 */
};

void journal_free(struct journal *j);
int journal_failed(struct err *e, const char *doing, const char *path); /* with errno; -1 */
/* A look that has no answer says no, and is remembered: whoever does what cannot be taken back asks
 * journal_sure() first. */
bool journal_has(struct journal *j, const char *mark);
int journal_sure(const struct journal *j, struct err *e);
/* The newest one whose state marker is `mark` ("done"); NULL: none. */
struct journal *journal_newest(struct layer *l, const char *mark, struct err *e);
/* Is there one that an undo could take back? *ret_when: when the newest has landed. */
bool journal_landed(const struct layer *l, struct timespec *ret_when);
/* Makes apply-K; nothing is written yet. */
struct journal *journal_new(struct layer *l, struct err *e);
int journal_write(struct journal *j, struct err *e);  /* before anything is staged */
int journal_commit(struct journal *j, struct err *e); /* from here on it is finished, whatever happens */
int journal_mark(struct journal *j, const char *mark, struct err *e);
int journal_open_targets(struct journal *j, bool make, struct err *e);
int journal_forward(struct journal *j, struct err *e);
int journal_back(struct journal *j, struct err *e);
/* All steps, and settles. -1 with *ret_back: what was done is to be taken back. */
int journal_finish(struct journal *j, bool *ret_back, struct err *e);
int journal_remove(struct journal *j, struct err *e);
/* Undo: the tree and the layer as before. Before that, slots kept at home go to the target again. */
int journal_send_out(struct journal *j, struct err *e);
/* rejoin.c: copies in the slots of a door that can be names of files in the tree again become that. */
int rejoin_names(struct journal *j, size_t door);
/* `again`: somebody else began it. */
int journal_take_back(struct journal *j, bool again, struct err *e);
struct work_effect journal_effect(const struct journal *j, const struct op *o);
/* apply_report.c: to the context's `settled`. False: it could not be taken, and is to be told again. */
bool journal_tell(struct journal *j, enum work_end_of how);
/* The caller knows what became of it: nobody tells it again. */
void journal_told(struct journal *j);
/* Finishes or takes back every apply of the layer that was interrupted. */
int journal_recover(const struct cordon_context *cx, struct layer *l, struct err *e);
/* staging.c: the new entries, complete and on the target's filesystem. */
int stage_all(struct journal *j, struct err *e);
/* The slot's name in `buf`. */
const char *slot_name(size_t slot, const char *suffix, char buf[32]);
/* For tests: ends this process at a numbered step, in tests/hooked. */
#ifdef CORDON_HOOKS
void work_step(void);
#else
static inline void work_step(void) {}
#endif

/* ---- tree_lock.c ---- */

/* Two applies into one tree take turns, from the first look on. The lock is a file of ours: a box can lock
 * what it sees. Each tree once, and always in the same order, so that nobody waits for himself or in a
 * circle. */
struct place {
        uint64_t dev, ino;
};
struct turns {
        struct place place[WORK_DOORS_MAX];
        int lock[WORK_DOORS_MAX];
        size_t places, n;
};

void turns_end(struct turns *t);
#define AUTO_TURNS(name) __attribute__((cleanup(turns_end))) struct turns name = { 0 }
/* Waits for whoever works on one of the places. */
int take_turns(const struct cordon_context *cx, struct turns *t, struct err *e);

/* ---- choose.c ---- */

/* Does an entry bring a directory that is new? */
static inline bool brings_directory(const struct entry *x)
{
        return x->what & (WHAT_ADDED | WHAT_TYPE) && x->now.kind == NODE_DIR;
}
/* Parents of every entry, found once; -1: none. NULL: no memory. */
long *find_parents(const struct entries *v);
/* Which take part (`chosen`) and which are held back (`held`), and tells of these. */
int choose_entries(const struct work_apply *a, const struct layer *l, struct entries *v, const long *up,
                   struct work_outcome *ret, struct err *e);
/* "MARK PATH: WHY" to the asker. */
void apply_say(const struct work_apply *a, const char *mark, const struct entry *x, const char *why);

/* outcome.c: JSON to the asker; -1 also where there is no memory for it. */
int outcome_apply(const struct work_apply *a, const struct layer *l, const struct entries *v,
                  const struct work_outcome *got, int r, struct err *e);
int outcome_undo(const struct work_undo *u, const struct layer *l, const struct journal *j,
                 const struct work_outcome *got, int r, struct err *e);
int outcome_discard(const struct work_undo *u, const struct layer *l, int r, struct err *e);
