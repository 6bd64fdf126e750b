/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/fuse_serve.c - the observer: answers FUSE requests from the table, and reports names
 * that are not in it.
 *
 * It is a copy of init without its descriptors. Names in requests are the payload's bytes; they are only
 * compared, and copied into a message. Every opcode that is not in the table of answers below is denied, and
 * so are the opcodes of later kernels. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "wall/internal.h"
#include "wall/linux/observe/fuse_root.h"
#include "wall/linux/observe/watched_calls.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/fuse.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

enum { BUFFER = 2 * FRONT_LIST_BYTES, FOREVER = 1 << 30, INIT_PID = 1 };

struct request {
        const struct fuse_in_header *head;
        const char *body; /* followed by `len` bytes and a NUL */
        size_t len;
};

struct observer {
        const struct front *f;
        struct watched_told told;
        struct wall_untold untold;
        uint32_t runs;    /* that had begun at the last report */
        uint32_t payload; /* its number: until exec it has our own name */
        bool awake;       /* attestation is over: lookups from now on are the payload's */
};

/* ---- answers ---- */

static void reply_to(const struct front *f, const struct request *r, int error, const void *p, size_t n)
{
        char out[BUFFER];
        struct fuse_out_header head = { .error = error, .unique = r->head->unique };
        if (error || !p || n > sizeof out - sizeof head)
                n = 0;

        head.len = (uint32_t) (sizeof head + n);
        memcpy(out, &head, sizeof head);
        if (n)
                memcpy(out + sizeof head, p, n);

        ssize_t k;
        do
                k = write(f->fuse, out, head.len);

        while (k < 0 && errno == EINTR);

        /* ENOENT: the requesting task was killed in between. A task that waits for any other lost answer
         * could not even be ended by SIGKILL: when the observer ends, the mount ends, and the wait with it.
         */
        if (k < 0 && errno != ENOENT)
                _exit(1);
}

static struct fuse_attr attr_of(const struct front *f, uint32_t i)
{
        const struct fuse_node *n = &f->tree.node[i];
        uint64_t born = (uint64_t) f->born;
        return (struct fuse_attr){ .ino = i,
                                   .size = n->text ? strlen(n->text) : 0,
                                   .atime = born,
                                   .mtime = born,
                                   .ctime = born,
                                   .mode = n->mode,
                                   .nlink = S_ISDIR(n->mode) ? 2 : 1,
                                   .blksize = 4096 };
}

/* A node number comes from the kernel, which got it from us; checked all the same. */
static uint32_t node_of(const struct front *f, const struct request *r)
{
        return r->head->nodeid > 0 && r->head->nodeid < f->tree.count ? (uint32_t) r->head->nodeid : 0;
}

static void say_init(struct observer *o, const struct request *r)
{
        struct fuse_init_in in = { 0 };
        memcpy(&in, r->body, r->len < sizeof in ? r->len : sizeof in);
        struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
                                     .minor = FUSE_KERNEL_MINOR_VERSION,
                                     .max_readahead = in.max_readahead,
                                     .max_background = 16,
                                     .congestion_threshold = 12,
                                     .max_write = 4096,
                                     .time_gran = 1,
                                     /* /lib, /bin: each start; a list brings its entries along */
                                     .flags = in.flags & (FUSE_CACHE_SYMLINKS | FUSE_DO_READDIRPLUS) };
        reply_to(o->f, r, in.major < 7 ? -EPROTO : 0, &out, sizeof out);
}

/* Names that the C library looks up in every program. They are files wherever they exist, so no path
 * continues behind them, and init sees a write to them: one report is enough. */
static const char *const always_looked_for[] = {
        FRONT_LOADER_ASKS,    "/etc/locale.alias", "/etc/localtime",
        "/etc/nsswitch.conf", "/etc/gai.conf",     "/etc/host.conf"
};

/* How long, in seconds, the kernel may cache the negative entry. */
static uint64_t settled_for(const char *missing)
{
        for (size_t i = 0; i < sizeof always_looked_for / sizeof *always_looked_for; i++)
                if (strcmp(always_looked_for[i], missing) == 0)
                        return FOREVER;
        return 0;
}

static void send_report(struct observer *o, struct wall_message *m, const struct request *r)
{
        uint32_t runs = atomic_load(&o->f->told->runs);
        if (runs != o->runs) { /* each run has its own reports */
                watched_forget(&o->told);
                o->untold = (struct wall_untold){ 0 };
                o->runs = runs;
        }

        m->run = watched_session(r->head->pid);
        wall_offer_denial(o->f->control, m, watched_news(&o->told, m), &o->untold);
}

/* The search for the command, by the payload's process before exec: it shares init's memory until then, which
 * is closed to us. A test of the name alone would let a program hide its lookups. */
static bool is_own_search(const struct observer *o, const struct request *r, const struct wall_denial *d)
{
        char name[32], to[8];
        (void) snprintf(name, sizeof name, "%u/exe", r->head->pid);
        return r->head->pid == o->payload && strcmp(d->program, OWN_NAME) == 0 &&
               readlinkat(o->f->proc, name, to, sizeof to) < 0;
}

/* The requesting task waits for our answer, so the arguments of its call stand still, as far as they ever do.
 * Returns how long the answer holds: 0: the next lookup is reported as well. */
static uint64_t tell_of(struct observer *o, const struct request *r, uint32_t dir, const char *missing)
{
        struct wall_message m = { .word = WALL_SAYS_DENIED };
        watched_missing(o->f->proc, r->head->pid, missing, o->f->tree.node[dir].ours, &m.denial);
        if (is_own_search(o, r, &m.denial))
                return 0;
        send_report(o, &m, r);
        return settled_for(missing);
}

/* How long a negative entry holds. Before the payload exists, init looks up names ahead that the host does
 * not have either; later it only looks where the payload is writing, and caches nothing. */
static uint64_t missed_name(struct observer *o, const struct request *r, uint32_t dir)
{
        char missing[sizeof((struct wall_denial *) 0)->path];
        bool by_init =
                r->head->pid == INIT_PID || r->head->pid == (uint32_t) atomic_load(&o->f->told->connector);
        if (!dir || !fuse_tree_path(&o->f->tree, dir, r->body, missing, sizeof missing))
                return 0;

        bool probed = !by_init && strcmp(missing, ATTEST_MISSING) == 0;
        if (o->awake && !probed) /* the probe of a session's next spare is not a lookup of this run */
                return by_init ? 0 : tell_of(o, r, dir, missing);

        o->awake |= probed;
        o->payload = r->head->pid;
        return by_init ? settled_for(missing) : 0;
}

/* An entry of the table holds as long as the box; init's own places are looked up anew each time. */
static struct fuse_entry_out entry_of(const struct front *f, uint32_t i)
{
        uint64_t valid = f->tree.node[i].ours ? 0 : FOREVER;
        return (struct fuse_entry_out){
                .nodeid = i, .entry_valid = valid, .attr_valid = FOREVER, .attr = attr_of(f, i)
        };
}

static void say_lookup(struct observer *o, const struct request *r)
{
        const struct front *f = o->f;
        uint32_t dir = node_of(f, r);
        bool by_init = r->head->pid == INIT_PID;
        uint32_t i = fuse_tree_find(&f->tree, dir, r->body, strlen(r->body), by_init);
        if (i == 0) {
                struct fuse_entry_out none = { .entry_valid = missed_name(o, r, dir) };
                /* Node 0 without an error is ENOENT too, but it holds. */
                reply_to(f, r, none.entry_valid ? 0 : -ENOENT, &none, sizeof none);
                return;
        }

        struct fuse_entry_out out = entry_of(f, i);
        reply_to(f, r, 0, &out, sizeof out);
}

static void say_attr(struct observer *o, const struct request *r)
{
        uint32_t i = node_of(o->f, r);
        struct fuse_attr_out out = { .attr_valid = FOREVER, .attr = attr_of(o->f, i ? i : 1) };
        reply_to(o->f, r, i ? 0 : -ESTALE, &out, sizeof out);
}

static void say_link(struct observer *o, const struct request *r)
{
        uint32_t i = node_of(o->f, r);
        const char *text = i && S_ISLNK(o->f->tree.node[i].mode) ? o->f->tree.node[i].text : NULL;
        reply_to(o->f, r, text ? 0 : -EINVAL, text, text ? strlen(text) : 0);
}

/* A directory of the box's own shows only entries that lead to doors: a listing lacks the rest. The top
 * directories are in every box, and are listed by every program. */
static void tell_of_list(struct observer *o, const struct request *r)
{
        const struct fuse_tree *t = &o->f->tree;
        struct wall_message m = { .word = WALL_SAYS_DENIED };
        uint32_t dir = node_of(o->f, r), up = dir ? t->node[dir].parent : 0;
        char name[256];
        if (!o->awake || up <= 1 || r->head->pid == INIT_PID || t->node[dir].name_len >= sizeof name)
                return;

        memcpy(name, t->node[dir].name, t->node[dir].name_len);
        name[t->node[dir].name_len] = '\0';
        m.denial.kind = EFFECT_READ;
        if (!fuse_tree_path(t, up, name, m.denial.path, sizeof m.denial.path))
                return;

        watched_program(o->f->proc, r->head->pid, m.denial.program, sizeof m.denial.program);
        send_report(o, &m, r);
}

static void say_open(struct observer *o, const struct request *r)
{
        struct fuse_open_out out = { .open_flags = FOPEN_KEEP_CACHE | FOPEN_CACHE_DIR };
        reply_to(o->f, r, 0, &out, sizeof out);
}

static void say_open_dir(struct observer *o, const struct request *r)
{
        tell_of_list(o, r);
        say_open(o, r);
}

static struct fuse_read_in range_of(const struct request *r)
{
        struct fuse_read_in in = { 0 };
        memcpy(&in, r->body, r->len < sizeof in ? r->len : sizeof in);
        if (in.size > BUFFER / 2)
                in.size = BUFFER / 2;
        return in;
}

static void say_read(struct observer *o, const struct request *r)
{
        struct fuse_read_in in = range_of(r);
        uint32_t i = node_of(o->f, r);
        const char *text = i && S_ISREG(o->f->tree.node[i].mode) ? o->f->tree.node[i].text : NULL;
        size_t len = text ? strlen(text) : 0;
        size_t from = in.offset < len ? (size_t) in.offset : len;
        size_t n = len - from < in.size ? len - from : in.size;

        reply_to(o->f, r, 0, text ? text + from : NULL, n);
}

struct listed {
        char *out;
        size_t n, room;
};

/* Adds one entry with all that a look-up of it would bring; false: it does not fit. */
static bool put_entry(struct listed *l, const struct fuse_entry_out *e, uint64_t off, const char *name,
                      uint32_t len)
{
        size_t whole = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + len);
        struct fuse_dirent d = {
                .ino = e->attr.ino, .off = off, .namelen = len, .type = IFTODT(e->attr.mode)
        };

        if (whole > l->room - l->n)
                return false;

        char *at = l->out + l->n;
        memset(at, 0, whole);
        memcpy(at, e, sizeof *e);
        memcpy(at + offsetof(struct fuse_direntplus, dirent), &d, FUSE_NAME_OFFSET);
        memcpy(at + FUSE_NAME_OFFSET_DIRENTPLUS, name, len);
        l->n += whole;
        return true;
}

static void say_list(struct observer *o, const struct request *r)
{
        char out[BUFFER / 2];
        struct fuse_read_in in = range_of(r);
        struct listed l = { .out = out, .room = in.size };
        const struct fuse_tree *t = &o->f->tree;
        uint32_t dir = node_of(o->f, r);
        uint64_t off = 0;
        struct fuse_entry_out dots = { .attr = { .ino = dir,
                                                 .mode = S_IFDIR } }; /* no node: never looked up */

        for (; off < 2; off++)
                if (off >= in.offset)
                        (void) put_entry(&l, &dots, off + 1, "..", off ? 2 : 1);

        for (uint32_t i = dir ? t->node[dir].child : 0; i; i = t->node[i].next) {
                if (t->node[i].ours || off++ < in.offset)
                        continue;
                struct fuse_entry_out e = entry_of(o->f, i);
                if (!put_entry(&l, &e, off, t->node[i].name, t->node[i].name_len))
                        break;
        }

        reply_to(o->f, r, 0, out, l.n);
}

static void say_statfs(struct observer *o, const struct request *r)
{
        struct fuse_statfs_out out = { .st = { .bsize = 4096, .namelen = 255, .frsize = 4096 } };
        reply_to(o->f, r, 0, &out, sizeof out);
}

static void say_done(struct observer *o, const struct request *r) { reply_to(o->f, r, 0, NULL, 0); }
static void say_nothing(struct observer *o, const struct request *r)
{
        (void) o;
        (void) r;
}

static const struct {
        uint32_t opcode;
        void (*say)(struct observer *, const struct request *);
} answers[] = {
        { FUSE_INIT, say_init },         { FUSE_LOOKUP, say_lookup },
        { FUSE_GETATTR, say_attr },      { FUSE_READLINK, say_link },
        { FUSE_OPEN, say_open },         { FUSE_OPENDIR, say_open_dir },
        { FUSE_READ, say_read },         { FUSE_READDIRPLUS, say_list },
        { FUSE_STATFS, say_statfs },     { FUSE_RELEASE, say_done },
        { FUSE_RELEASEDIR, say_done },   { FUSE_DESTROY, say_done },
        { FUSE_FORGET, say_nothing },    { FUSE_BATCH_FORGET, say_nothing },
        { FUSE_INTERRUPT, say_nothing },
};

static void answer_request(struct observer *o, const struct request *r)
{
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
                if (answers[i].opcode == r->head->opcode) {
                        answers[i].say(o, r);
                        return;
                }
        reply_to(o->f, r, -ENOSYS, NULL, 0);
}

/* ---- life ---- */

_Noreturn void fuse_serve(struct front *f)
{
        static struct observer o;
        static char in[BUFFER + 1] __attribute__((aligned(8))); /* its head is read in place */
        (void) prctl(PR_SET_NAME, "cordon-observer", 0, 0, 0);
        o.f = f;
        if (wall_powers_keep(1u << CAP_SYS_PTRACE) < 0) /* to read the arguments of calls */
                _exit(1);

        for (;;) {
                ssize_t n = read(f->fuse, in, BUFFER);
                if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
                        continue;
                if (n < (ssize_t) sizeof(struct fuse_in_header))
                        _exit(0); /* unmounted */
                in[n] = '\0';
                struct request r = { .head = (const void *) in,
                                     .body = in + sizeof *r.head,
                                     .len = (size_t) n - sizeof *r.head };
                answer_request(&o, &r);
        }
}
