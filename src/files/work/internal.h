/* SPDX-License-Identifier: MIT */
/* files/work/internal.h - shared by the files of this folder. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "files/work/work.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* ---- tree_look.c: entries of untrusted trees ---- */

enum node_kind { NODE_NONE = 0, NODE_FILE, NODE_DIR, NODE_LINK, NODE_OTHER };

struct node {
        enum node_kind kind;
        bool whiteout; /* OTHER: a whiteout, overlayfs's mark for a removed name */
        mode_t mode;   /* 07777 */
        uid_t uid;
        gid_t gid;
        uint64_t size, dev, ino, blocks;
        uint64_t links;
        struct timespec mtime, ctime;
};

/* Opens a directory beneath another: follows no symlink, crosses no mount. `path` may have several
 * components; "" is `dir`. */
int tree_dir(int dir, const char *path);
/* The id of the filesystem, stable across boots; its device number if it has no id. */
uint64_t tree_fsid(int fd);
/* The filesystem's UUID in 64 bits; 0: unknown. On some filesystems (XFS) the id above is made of the
 * device number, which changes. Needs a file or directory that can be read; else 0. */
uint64_t tree_uuid(int fd);
/* Is it on the filesystem that had this id, or this UUID? */
bool tree_is_on(int fd, uint64_t fsid, uint64_t uuid);
/* As tree_dir(), if nothing needs to be listed: search permission is enough. */
int tree_place(int dir, const char *path);
/* Opens the parent directory of `path`; *ret_last: its last component. */
int tree_parent(int dir, const char *path, const char **ret_last);
/* Stats an entry; NODE_NONE: it does not exist. Returns -1 with errno set on error. */
int tree_look(int dir, const char *name, struct node *ret);
/* Does this errno mean that the entry does not exist? Any other error (no permission, EMFILE, ENOMEM,
 * which a box can cause by depth alone) does not mean that, and must not be taken for it. */
bool tree_is_missing(int sys);
/* Opens a regular file for reading; any other type is never opened. *ret_node (or NULL) describes the
 * opened file. With `own`, a file of our own without read permission is opened anyway. */
int tree_file(int dir, const char *name, bool own, struct node *ret_node);
int tree_file_at(int place, bool own, struct node *ret_node); /* of a file held by an O_PATH descriptor */
/* Sets the mode of `name`. A symlink, even one that just replaced it, is refused and not followed. */
int tree_set_mode(int dir, const char *name, mode_t mode);
/* As tree_dir() for a directory of an overlay. *ret_mode: the mode to restore with tree_dir_end(), or 0. */
int tree_own_dir(int dir, const char *name, mode_t *ret_mode);
void tree_dir_end(int fd, mode_t mode);
/* Reopens a directory of our own for reading that was opened with O_PATH and has this mode. */
int tree_open_place(int place, mode_t mode);
/* Reads the target of a symlink. Returns its length, or -1. `buf` is NUL-terminated. */
ssize_t tree_link(int dir, const char *name, char *buf, size_t cap);
/* Hex SHA-256 of content or target. For a file with large holes: TREE_SPARSE and as many digits as fit. ""
 * for an entry without content; "-" if it cannot be read; "!" if the name leads to another file than `n`. */
int tree_digest(int dir, const char *name, const struct node *n, bool own, char ret_hex[65]);
#define TREE_SPARSE "sparse:"
bool tree_same_content(int a, int b);

struct names {
        char **v;
        size_t n;
        struct arena mem;
};
/* The names in an open directory, sorted by bytes. */
int tree_names(int dir, struct names *ret);
void names_done(struct names *n);
bool names_have(const struct names *n, const char *name);
#define AUTO_NAMES(name) __attribute__((cleanup(names_done))) struct names name = { 0 }

/* Extended attributes in `user.`, without overlayfs's own, and ACLs. Descriptors opened for reading. */
bool xattr_same(int a, int b);
/* Has a directory a default ACL that differs from that of `than`? */
bool xattr_gives_access(int dir, int than);
int xattr_copy(int from, int to);
/* Marks in the lower tree that make overlayfs hide an existing entry: a whiteout, or an empty file with an
 * attribute. Any box with a `write` door can leave the attribute, and the next box with an `edit` door
 * does not find the file. With a mark on the top of the tree, the kernel also leaves them out of directory
 * listings. */
bool tree_is_masked(int dir, const char *name, const struct node *n);
bool xattr_hides_below(int place);
/* Overlayfs's opaque mark on a directory of an overlay: nothing of the tree below shows through. */
bool xattr_is_opaque(int dir);
int xattr_set_opaque(int dir, bool opaque);
/* Its mark for a removed name. */
int tree_whiteout(int dir, const char *name);
/* Removes overlayfs's attributes from a file. */
int xattr_drop_overlay(int fd);
/* Also removes attributes that `to` has and `from` does not. */
int xattr_mirror(int from, int to);

/* ---- quick_sum.c ---- */

/* A checksum of the content of an open file. Reads at most *budget bytes and lowers it. Returns false if
 * the file is longer, or not readable. */
bool sum_file(int fd, uint64_t *budget, uint64_t *ret);

/* ---- tally.c ---- */

struct disk_tally {
        uint64_t bytes, entries, max_bytes, max_entries;
        unsigned depth;
        bool blind; /* a directory could not be read */
};

bool tally_is_full(const struct disk_tally *t);
/* A directory to count; -1 with errno. */
int tally_open(int dir, const char *name);
/* Adds what lies in `fd`, which it closes. */
void tally_dir(struct disk_tally *t, int fd);

/* ---- tree_copy.c ---- */

/* Without the set-id bits of a file. A directory's setgid bit only chooses the group of its entries. */
mode_t landing_mode(const struct node *n, bool setid);
/* Creates `name` in `to` as a copy of `from_name` in `from`: file (sparse stays sparse, blocks are shared
 * if the filesystem can), symlink or empty directory. Modes without set-id bits unless `setid`. */
int copy_node(int from, const char *from_name, int to, const char *name, bool setid);
/* The same for a file held by an O_PATH descriptor, even if it was renamed; without set-id bits. */
int copy_place(int place, int to, const char *name);
/* Copies a whole tree, with `marks` also the overlay's marks. */
int copy_tree(int from, const char *from_name, int to, const char *name, bool marks);
/* Removes a tree of any depth and any modes. Succeeds if it does not exist. */
int remove_tree(int dir, const char *name);

/* ---- overlay.c ---- */

enum layer_state { LAYER_OPEN = 0, LAYER_SEALED, LAYER_APPLIED };
/* The version of everything in an overlay's directory. One more field in `meta`, or one more number at the
 * end of a line of `commit` or of a record's NOW-SIZE, needs no new version: readers keep unknown ones as
 * they are. */
enum { LAYER_VERSION = 3 }; /* 1: without `ask`, 2: without `by`, which an earlier cordon would not heed */

struct work_door {
        char *host;
        uint64_t dev, ino; /* dev: tree_fsid() of the tree */
        uint64_t uuid;     /* tree_uuid() of it */
        bool is_dir;
        uint64_t in_dev, in_ino, in_uuid; /* of a single file: its parent directory; in_ino 0: unknown */
        char *name;                       /* and its name there, with symlinks resolved */
        mode_t top;                       /* S_IFDIR and the mode that the box found at its top; 0: unknown */
        char **guards, **stubs;           /* relative paths, NULL-terminated, never NULL */
        size_t guard_count, stub_count;
        char **others; /* fields unknown to this version, unchanged */
        size_t other_count;
};

struct closed { /* a directory of the overlay, and the mode that the box gave it */
        unsigned door;
        mode_t mode;
        const char *path;
};

struct layer {
        const struct cordon_context *cx; /* of the command; NULL: read-only access */
        char run[WORK_RUN_MAX];
        int store, dir, lock; /* STATE/work; the overlay in it; its lock, held */
        enum layer_state state;
        bool keep;
        bool session; /* its box was one */
        bool durable; /* records must survive a power cut: false until there is something to lose */
        struct timespec start;
        char *box, *policy;
        char **asks; /* lines of `edit` doors with `ask`, of all runs on it: see question.c */
        size_t ask_count;
        char **people; /* of a face, who asked for what is in it: they do not approve its apply */
        size_t people_count;
        char **others; /* fields unknown to this version, unchanged */
        size_t other_count;
        struct work_door *doors; /* WORK_DOORS_MAX */
        size_t door_count;
        struct closed *closed;
        size_t closed_count, closed_cap, closed_sorted; /* this many are sorted: those read from the file */
        uint64_t closed_bytes;                          /* bytes of its file that are complete */
        work_progress *progress;                        /* of the command that works on it; or NULL */
        void *progress_ctx;
        struct arena mem;
};

int layer_store(const struct cordon_context *cx, struct err *e); /* work_place.c: STATE/work */
static inline void layer_progress(const struct layer *l, const char *doing, size_t done, size_t total)
{
        if (l->progress)
                l->progress(l->progress_ctx, doing, done, total);
}
struct layer *layer_new(const struct cordon_context *cx, const char *run, struct err *e);
/* "DOING OF: strerror", with a hint. */
int layer_cannot(struct err *e, const char *doing, const char *of);
/* Opens without settling anything: for listing, and for a run that continues. */
struct layer *layer_take(int store, const char *run, struct err *e);
/* The same without its lock, which its running box holds: only to copy it. */
struct layer *layer_look(int store, const char *run, struct err *e);
void layer_free(struct layer *l);
int layer_write(struct layer *l, struct err *e);
/* Removes an empty overlay. Returns false if it is not empty or could not be read: then layer_remove(). */
bool layer_remove_if_empty(struct layer *l);
/* Removes it from disk. */
int layer_remove(struct layer *l, struct err *e);
/* Removes the remains of a killed start or removal. Returns true if nothing is left. */
bool layer_swept(int store, const char *name);
/* The directory of one door's overlay. */
int layer_door_dir(const struct layer *l, size_t door);
char **layer_append(struct layer *l, char **list, size_t *count, const char *text);

/* ---- overlay_find.c ---- */

/* Without a name: the newest overlay with pending changes, or the one with the latest apply. In either
 * case only an overlay with a door at, above or below the working directory. */
enum layer_wanted {
        LAYER_WAITING = 0,
        LAYER_LANDED,
        LAYER_ONE /* as LAYER_WAITING, but a name of several that wait, one of a session, is refused */
};
/* The run that `which` names. Without a name it fails with EBUSY if the nearest is that of a running box,
 * whose id *ret_run is then. */
int layer_find(int store, const char *which, enum layer_wanted want, char ret_run[WORK_RUN_MAX],
               struct err *e);
/* Opens and locks it. Finishes or rolls back an interrupted apply, and seals an overlay whose keeper was
 * killed. */
struct layer *layer_open(const struct cordon_context *cx, const char *which, enum layer_wanted want,
                         struct err *e);

/* ---- scan.c, sides.c ---- */

enum { /* the kind of change of an entry */
       WHAT_ADDED = 1 << 0,
       WHAT_DELETED = 1 << 1,
       WHAT_CONTENT = 1 << 2,
       WHAT_MODE = 1 << 3,
       WHAT_OWNER = 1 << 4,
       WHAT_TYPE = 1 << 5,
       WHAT_XATTR = 1 << 6,
       WHAT_RENAMED = 1 << 7, /* added: `other` is the path it came from; deleted: the path it went to */
       WHAT_UNSEEN = 1 << 8,  /* the host's side is in a directory without permission for us: see `shut` */
};

struct entry {
        unsigned door;
        unsigned what;
        unsigned flags; /* bit per row of flags.c */
        const char *path;
        const char *other;
        const char *link; /* a file of the host that this is a hard link to; or NULL */
        uint64_t apart;   /* hard link count of the host's file, if some of its names are gone; or 0 */
        struct node old, now;
        const char *conflict; /* the host's change since; or NULL */
        const char *base;     /* digest of the lower entry when the overlay was sealed; or NULL */
        char base_kind;       /* and its type: - f d l o, or ? (could not be read) */
        const char *shut;     /* the host's directory that denies us access; or NULL */
        const char *held;     /* apply: why it is excluded; or NULL */
        const char *shown;    /* apply: the digest of its content that a person approved; or NULL */
        unsigned inside; /* apply, of a new directory: the flags that hold back it and everything in it */
        bool chosen;     /* apply: included */
        bool masked;     /* the host's side: see tree_is_masked() */
        bool torn;       /* the overlay's entry differs from the sealed one */
};

#define TORN_WORDS "the overlay does not hold what the box left (did the machine go down?)"

/* A file that the box did not change but gave another name. */
struct twin {
        unsigned door;
        uint64_t ino; /* in the overlay */
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

/* A directory that is removed or replaced. */
static inline bool takes_directory(const struct entry *x)
{
        return x->what & (WHAT_DELETED | WHAT_TYPE) && x->old.kind == NODE_DIR;
}
/* Walks the overlays and the trees below them; opens directories of the overlay that lack permission. */
int scan_layer(struct layer *l, struct entries *ret, struct err *e);
bool door_is_guarded(const struct work_door *d, const char *path);
bool door_is_stub(const struct work_door *d, const char *path);
void entries_done(struct entries *v);
#define AUTO_ENTRIES(name) __attribute__((cleanup(entries_done))) struct entries name = { 0 }
/* The tree below a door, if it is still the same. */
int open_host(const struct work_door *d, struct err *e);
/* Is this the parent directory, and the name in it, of a single file's door, as the box saw it? Else an
 * error. */
int file_stays(const struct work_door *d, int dir, const char *name, struct err *e);
/* Entries of an overlay by descriptor: `upper` of a door (or the directory of a single file), and the tree
 * below. The path of a single file's entry is its name in each. */
struct sides {
        int upper, lower;
        mode_t back;                   /* of `upper`, if its mode was changed to open it */
        const char *upper_name;        /* single file; else NULL */
        char lower_name[NAME_MAX + 1]; /* the same; else "" */
};
int sides_open(const struct layer *l, size_t door, struct sides *ret, struct err *e);
void sides_close(struct sides *s);
/* Parent directory and name of one entry on each side. */
int side_upper(const struct sides *s, const char *path, const char **ret_name);
int side_lower(const struct sides *s, const char *path, const char **ret_name);

/* Sides are opened once per door: entries are sorted. */
struct cursor {
        const struct layer *l;
        long door;
        struct sides s;
};
int cursor_at(struct cursor *c, unsigned door, struct err *e);
void cursor_done(struct cursor *c);
#define AUTO_CURSOR(name, layer)                                                                             \
        __attribute__((cleanup(cursor_done))) struct cursor name = { .l = (layer), .door = -1 }
/* tree_digest() of one side of an entry; "" if it has no content. */
int digest_of(struct cursor *c, const struct entry *x, bool now, char ret_hex[65], struct err *e);

/* The differences between two entries of one type, except the content of a directory: WHAT_... */
unsigned node_differs(int upper, int lower, const char *un, const char *ln, const struct node *now,
                      const struct node *old);
/* Sorts a directory directly before its entries. */
int path_order(const char *a, const char *b);
/* Is `path` `root` itself or below it? */
bool path_below(const char *path, const char *root);

/* ---- hard_links.c ---- */
struct op;

/* Notes a file of the overlay that equals the host's; when all are known, finds their hard links. */
int links_note(struct entries *v, unsigned door, const char *path, const struct node *n, struct err *e);
int links_find(struct entries *v, struct err *e);
/* Makes a hard link to the host's file in the slot. Returns false if none exists and the file must be
 * copied. */
bool links_take(const struct sides *sides, const struct op *o, int slots, const char *slot);

/* ---- merged_view.c ---- */

/* The two sides of one directory; -1: does not exist, or hidden. */
struct view {
        int upper, lower;
};
struct view view_copy(const struct view *v);
void view_end(struct view *v);
#define AUTO_VIEW(name, of) __attribute__((cleanup(view_end))) struct view name = view_copy(of)
/* The entry that the box sees as `name` here; *ret_hidden: the overlay marks the lower entry as removed. */
struct node view_look(const struct view *v, const char *name, bool *ret_hidden);
void view_down(struct view *v, const char *name, bool hidden);
/* Does a symlink at `path` to `target` lead out of the tree, through any symlinks on its way? True if
 * unknown. */
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
        char now_kind; /* of the overlay's side */
        uint64_t now_size, now_sum;
        bool summed;
        const char *more; /* fields that a later version added */
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
/* The record of the nearest recorded directory above, if that could not be read when the overlay was
 * sealed; else NULL. */
const struct record *base_unseen_above(const struct base *b, unsigned door, const char *path);
/* Adds a record to a text; writes the text with its trailer. Records are sorted by door and path. */
void base_put(struct buf *out, const struct record *r);
int base_write(const struct layer *l, struct buf *out, struct err *e);
/* Removes the records of applied entries. */
int base_drop(const struct layer *l, const struct entries *v, struct err *e);
/* The paths that have a record: changes by the box that are not applied yet. Returns NULL on error. */
struct base *base_open(const struct layer *l, struct err *e);
void base_free(struct base *b);
bool base_has(const struct base *b, unsigned door, const char *path);
/* It has a record, or lies in a directory that could not be read when the overlay was sealed. */
bool base_waits(const struct base *b, unsigned door, const char *path);
bool base_has_below(const struct base *b, unsigned door, const char *path);
/* Digests of the lower entries, from the `base` that was kept with a journal. */
void base_digests(struct journal *j);
/* Restores the records of the `base` that was kept with a journal: those that the overlay lacks, and those
 * of the entries that the journal's steps put back. */
int base_restore(const struct journal *j, struct err *e);

/* ---- overlay_seal.c ---- */

int seal(struct layer *l, struct entries *ret, struct err *e);
int seal_scanned(struct layer *l, struct entries *ret, struct err *e);
/* Scans, and compares the entries with the sealed records; the overlay's own side only by type and size. */
int scan_sealed(struct layer *l, struct entries *ret, struct err *e);
/* Reads the overlay's own content: entries that differ from the sealed ones become torn. */
int scan_torn(const struct layer *l, struct entries *v, struct err *e);
/* The same without a scan, for a run that continues. Returns -1 if an entry is torn. */
int refuse_torn(const struct layer *l, struct err *e);

/* ---- renames.c, named_entries.c ---- */

/* Finds renames among added and deleted entries. */
int find_renames(const struct layer *l, struct entries *v, struct err *e);
/* Does each of the paths name an entry? */
int paths_all_found(const struct layer *l, const struct entries *v, const char *const *paths, struct err *e);
bool entry_named(const struct layer *l, const struct entry *x, const char *const *paths);
/* Is it named by its own path, or by a directory that is flagged by name? Naming a parent directory does not
 * approve the flagged files below it. */
bool entry_named_itself(const struct layer *l, const struct entry *x, const char *const *paths);
/* Is one of the paths this directory, or below it? */
bool names_reach_into(const struct layer *l, unsigned door, const char *dir, const char *const *paths);

/* ---- refresh.c ---- */

/* Before the next box on an overlay: makes it show the host for every path without a record of a change. */
int refresh_layer(struct layer *l, struct err *e);

/* ---- closed_dirs.c: the host's directories; unreadable.c: the overlay's ---- */

/* Sets `shut` for the entries that an apply cannot reach. */
int shut_mark(const struct layer *l, struct entries *v, struct err *e);
/* Why an entry that is shut is held back. */
const char *shut_words(const struct layer *l, struct entries *v, const struct entry *x);

int closed_read(struct layer *l, struct err *e);
/* The mode that the box gave a directory that we opened since. Returns false if it is unchanged. */
bool closed_mode(const struct layer *l, unsigned door, const char *path, mode_t *ret);
/* Notes a directory that is about to be opened; closed_mode() knows it after closed_settle(). */
int closed_keep(struct layer *l, unsigned door, const char *path, mode_t mode, struct err *e);
void closed_settle(struct layer *l);
/* Another mode for a known directory, to be set by closed_restore(). */
void closed_change(struct layer *l, unsigned door, const char *path, mode_t mode);
/* Restores the modes that the box left. */
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

/* No pointers: each would be a relocation, dirtying memory of every process. */
struct trusted {
        uint8_t flag; /* enum flag */
        char reason[63];
        char patterns[448];
};
extern const struct trusted trusted_names[];
extern const size_t trusted_count;

/* `path` as a filesystem with other rules for equal names (case, Unicode form) may read it. */
void spelling_plain(const char *path, char *ret, size_t cap);

/* Does the path match one of the patterns, which are separated by spaces? See trusted.inc. */
bool flags_match(const char *patterns, const char *path);
unsigned flags_by_name(const char *path);
/* The reason of the first row that matches; NULL: none. */
const char *flags_reason(const char *path);
/* The content to check when the name alone does not decide. */
bool flags_wants_content(const char *path);
unsigned flags_by_content(struct span text);
unsigned flags_by_node(const struct node *old, const struct node *now);
unsigned flags_by_link(const char *path, const char *target);
extern const unsigned FLAG_LEAVES; /* a symlink that leaves the tree */
/* The text for the lowest bit of `flags`, and the bit. */
const char *flags_words(unsigned flags, unsigned *ret_bit);
extern const unsigned FLAG_NEVER; /* never applied: sockets, FIFOs, devices */
unsigned flags_count(void);
/* The bits of a kind named for --flagged; 0: unknown kind. */
const char *flags_kind(unsigned i);
unsigned flags_of_kind(const char *kind);
/* All of them, each with its kind: "git runs it [git-hook]; ..." */
void flags_put(struct buf *out, unsigned flags);

/* ---- fold_dirs.c: directories that are shown in one line ---- */

struct fold {
        size_t n; /* entries, from the first on */
        size_t files, flagged, renamed;
        uint64_t bytes;
        unsigned flags;
};
/* The length of the prefix of `path` that is a directory of packages, build products or a cache; 0: none. */
size_t fold_length(const char *path, bool is_dir);
/* The same for an entry; also for a repository that is new as a whole, with more than a few flags. */
size_t fold_of(const struct entries *v, size_t i);
/* The entries from `first` on that lie at or below the first `len` bytes of its path. */
struct fold fold_measure(const struct entries *v, size_t first, size_t len);
/* A directory that is new or deleted, with everything in it. */
bool fold_is_whole(const struct entry *x);
/* Is it shown in one line? */
bool fold_is_long(const struct entry *x, const struct fold *f);
/* "12,252 files, 88 MB" */
void fold_put(struct buf *out, const struct fold *f);

/* ---- work_show.c, patch.c, line_diff.c, paths.c ---- */
/* PREFIX and PATH as git writes names: in quotes, with octal escapes, if they do not fit in one plain
 * line. */
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
void json_apart(struct buf *out, uint64_t names); /* empty if nothing is to report */
int show_diffs(struct shower *s, struct err *e);
int show_theirs(struct shower *s, struct err *e);
int show_stat(struct shower *s, struct err *e);
int show_names(struct shower *s, struct err *e);
int show_json(struct shower *s, struct err *e);
/* The chosen entries, to a->patch. */
int show_patch(const struct work_apply *a, const struct layer *l, const struct entries *v, struct err *e);
void show_flush(struct shower *s);
/* Writes the end, unless an error occurred before (`r`). Frees in any case. */
int show_end(struct shower *s, int r, struct err *e);
/* Both sides of an entry as bytes; a side that does not exist is empty. */
struct content {
        char *p;
        size_t n;
        bool unread; /* the host's: no permission to read */
};
int show_contents(struct shower *s, const struct entry *x, struct content *old, struct content *now,
                  struct err *e);
/* A unified diff of two texts. Returns false if it fell back to replacing the whole middle. */
bool lines_diff(struct span a, struct span b, struct buf *out);
/* Added and removed lines. */
void lines_count(struct span a, struct span b, size_t *ret_added, size_t *ret_removed);
bool is_binary(struct span s);

/* ---- journal.c, journal_marks.c, journal_steps.c, staging.c, work_apply.c: see journal.c for the format
 * ---- */

enum op_kind { OP_PUT = 'P', OP_SWAP = 'S', OP_TAKE = 'T', OP_META = 'M' };

struct op {
        char kind;
        bool moved;  /* the new file was moved out of the overlay, not copied */
        mode_t left; /* moved: S_IFREG and the mode that the box left; 0: unknown */
        unsigned door;
        const char *path;   /* in the target */
        const char *source; /* in the overlay */
        size_t slot;        /* its number */
        uint64_t ino;       /* of the new entry, once staged */
        long mode;          /* META: the directory's new mode; -1 in an old journal: that of its slot */
        long old_mode;      /* META: and the one it had; -1 likewise */
        const char *digest; /* of the new entry, once staged */
        const char *before; /* of the replaced entry, from the base; or NULL */
        bool linked;        /* the staged file is a hard link of the host's own */
        bool again;         /* META: of a directory that another step makes: journal_entries() */
        struct node old;    /* identity of the checked entry: kind, ino, size, mtime, links; kind 0 in an old
                               journal */
        /* only during creation */
        const struct entry *entry;
        bool setid, keep_owner, new_dir;
        bool elsewhere;       /* not into the door */
        const char *conflict; /* undo: the obstacle to reverting it; or NULL */
        bool rejoined;        /* undo: it is a hard link of the host's own file again */
};

struct target {
        const char *path;
        const char *file;  /* a single file's name in it, found together with it; else NULL */
        uint64_t dev, ino; /* dev: tree_fsid() */
        uint64_t uuid;     /* tree_uuid() */
        bool inside; /* slots are in the target itself: its filesystem differs from the state directory's */
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
        bool to;          /* into another directory: the overlay stays unchanged */
        const char *mark; /* of the command that asked for it; or NULL */
        int unsure;       /* errno of a failed check for a mark; or 0 */
};

void journal_free(struct journal *j);
int journal_failed(struct err *e, const char *doing, const char *path); /* -1 with errno set */
/* A check that fails returns false and is remembered: call journal_sure() before any irreversible step. */
bool journal_has(struct journal *j, const char *mark);
int journal_sure(const struct journal *j, struct err *e);
/* The newest journal whose state marker is `mark` ("done"); NULL: none. */
struct journal *journal_newest(struct layer *l, const char *mark, struct err *e);
/* Does a journal exist that undo could revert? *ret_when: time of the newest apply. */
bool journal_landed(const struct layer *l, struct timespec *ret_when);
/* Makes apply-K; nothing is written yet. */
struct journal *journal_new(struct layer *l, struct err *e);
int journal_write(struct journal *j, struct err *e);  /* before anything is staged */
int journal_commit(struct journal *j, struct err *e); /* from here on it is completed, whatever happens */
int journal_mark(struct journal *j, const char *mark, struct err *e);
int journal_open_targets(struct journal *j, bool make, struct err *e);
int journal_forward(struct journal *j, struct err *e);
int journal_back(struct journal *j, struct err *e);
/* Does all steps, and settles. Returns -1 on error; with *ret_back, the finished steps must be reverted. */
int journal_finish(struct journal *j, bool *ret_back, struct err *e);
int journal_remove(struct journal *j, struct err *e);
/* Undo: restores the tree and the overlay. Before that, slots kept at home go back to the target. */
int journal_send_out(struct journal *j, struct err *e);
/* rejoin.c: copies in the slots of a door become hard links of files in the tree again, if possible. */
int rejoin_names(struct journal *j, size_t door);
/* `again`: another process started it. */
int journal_take_back(struct journal *j, bool again, struct err *e);
struct work_effect journal_effect(const struct journal *j, const struct op *o);
/* apply_report.c: how many entries of the tree the steps are about; those that are another step of one are
 * marked. */
size_t journal_entries(struct journal *j);
/* apply_report.c: reports to the context's `settled`. Returns false if it was not taken and must be
 * reported again. */
bool journal_tell(struct journal *j, enum work_end_of how, bool later);
/* The caller knows the result: it is not reported again. */
void journal_told(struct journal *j);
/* Finishes or reverts every interrupted apply of the overlay. */
int journal_recover(const struct cordon_context *cx, struct layer *l, struct err *e);
/* plain_rename.c: the second name must not exist yet; the two are exchanged. A step that was interrupted is
 * brought to an end: an entry that lost its name to another is called `beside`. */
int plain_move(int a, const char *an, int b, const char *bn);
int plain_swap(int slots, const char *slot, int parent, const char *name);
int plain_settle(int slots, const char *slot, int parent, const char *name, const char *beside);
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

/* Serialises applies into one tree, from the first check on. The lock is a file of ours, because a box can
 * lock files that it sees. Each tree is locked once, and always in the same order, so no process deadlocks
 * with itself or others. */
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
/* Waits for any process that works on one of the trees. */
int take_turns(const struct cordon_context *cx, struct turns *t, struct err *e);

/* ---- choose.c ---- */

/* Does an entry belong to a new directory? */
static inline bool brings_directory(const struct entry *x)
{
        return x->what & (WHAT_ADDED | WHAT_TYPE) && x->now.kind == NODE_DIR;
}
/* The parent of every entry, computed once; -1: none. NULL: out of memory. */
long *find_parents(const struct entries *v);
/* Marks the entries that take part (`chosen`) and those held back (`held`), and reports the latter. */
int choose_entries(const struct work_apply *a, const struct layer *l, struct entries *v, const long *up,
                   struct work_outcome *ret, struct err *e);
/* Reports "MARK PATH: WHY" to the caller. */
void apply_say(const struct work_apply *a, const char *mark, const struct entry *x, const char *why);

/* question.c. Fills what a person is asked. */
int question_fill(const struct layer *l, struct entries *v, struct work_question *ret, struct err *e);
/* These entries are what was approved. */
int question_check(const struct work_apply *a, const struct layer *l, struct entries *v, struct err *e);
/* And so are the staged ones. */
int question_staged(const struct journal *j, struct err *e);

/* outcome.c: JSON to the caller. Returns -1 on error, also if memory runs out. */
int outcome_apply(const struct work_apply *a, const struct layer *l, const struct entries *v,
                  const struct work_outcome *got, int r, struct err *e);
int outcome_undo(const struct work_undo *u, const struct layer *l, const struct journal *j,
                 const struct work_outcome *got, int r, struct err *e);
int outcome_discard(const struct work_undo *u, const struct layer *l, int r, struct err *e);
