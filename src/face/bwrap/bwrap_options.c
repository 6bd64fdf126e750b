/* SPDX-License-Identifier: MIT */
/* face/bwrap/bwrap_options.c - bubblewrap's options by one table: arguments to an order. Pure.
 *
 * Never: opens a file, changes the environment, prints. Bytes of an --args descriptor may be hostile. */
#include "base/span.h"
#include "base/str.h"
#include "face/bwrap/bwrap.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

enum { PERMS_MAX = 07777, PERMS_NONE = -1 };

struct reader {
        struct bwrap_order *o;
        const struct bwrap_files *files;
        size_t total; /* arguments so far */
        bool in_file; /* they come from a descriptor */
        int perms;    /* of --perms, for the next operation; or PERMS_NONE */
        uint64_t size;
        bool sized;
        unsigned layers; /* --overlay-src since the last overlay */
};

struct option {
        const char *name;
        unsigned count; /* of its arguments */
        int (*take)(struct reader *, const struct option *, const char *const *, struct err *);
        unsigned value; /* kind and flags of an operation: KIND() */
        size_t at;      /* of the member that it sets */
        const char *arguments, *help;
};

#define AT(member)          offsetof(struct bwrap_order, member)
#define KIND(kind, flags)   ((unsigned) (kind) << 8 | (unsigned) (flags))
#define MEMBER(o, at, type) ((type *) (void *) ((char *) (o) + (at)))

static int refuse_option(struct err *e, const char *what, const char *value)
{
        return err_set(e, ERR_USAGE, 0, "%s%.256s", what, value);
}

static int read_number(const char *text, uint64_t max, const char *what, uint64_t *ret, struct err *e)
{
        if (str_to_u64(span_str(text), ret) == 0 && *ret <= max)
                return 0;
        return refuse_option(e, what, text);
}

static int read_fd(const char *text, int *ret, struct err *e)
{
        uint64_t n = 0;
        if (read_number(text, INT_MAX, "Invalid fd: ", &n, e) < 0)
                return -1;
        *ret = (int) n;
        return 0;
}

static int read_octal(const char *text, const char *option, int *ret, struct err *e)
{
        int mode = 0;
        const char *p = text;
        for (; *p >= '0' && *p <= '7' && mode <= PERMS_MAX; p++)
                mode = mode * 8 + (*p - '0');

        if (p == text || *p || mode > PERMS_MAX)
                return refuse_option(e, option, " takes an octal argument <= 07777");

        *ret = mode;
        return 0;
}

static int take_flag(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        (void) a;
        (void) e;
        *MEMBER(r->o, o->at, bool) = true;
        return 0;
}

/* Only the last of them counts, which is worth a warning. */
static void note_repeated(struct reader *r, const struct option *o)
{
        r->o->repeated[r->o->repeated_count++] = o->name;
}

static int take_text(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        (void) e;
        const char **text = MEMBER(r->o, o->at, const char *);
        if (*text)
                note_repeated(r, o);
        *text = a[0];
        return 0;
}

static int take_argv0(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        if (r->o->argv0)
                return refuse_option(e, o->name, " used multiple times");
        r->o->argv0 = a[0];
        return 0;
}

static int take_fd(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        int *fd = MEMBER(r->o, o->at, int);
        if (*fd >= 0)
                note_repeated(r, o);
        return read_fd(a[0], fd, e);
}

static int take_id(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        int64_t *id = MEMBER(r->o, o->at, int64_t);
        uint64_t n = 0;
        if (*id >= 0)
                note_repeated(r, o);
        if (read_number(a[0], INT_MAX, o->at == AT(uid) ? "Invalid uid: " : "Invalid gid: ", &n, e) < 0)
                return -1;

        *id = (int64_t) n;
        return 0;
}

static int take_all(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        (void) o;
        (void) a;
        (void) e;
        r->o->user_try = r->o->ipc = r->o->pid = r->o->net = r->o->uts = r->o->cgroup_try = true;
        return 0;
}

static int take_share_net(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        (void) o;
        (void) a;
        (void) e;
        r->o->net = false;
        return 0;
}

static int take_filter(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        bool add = o->value;
        if (add ? r->o->seccomp_fd >= 0 : r->o->filter_count > 0)
                return refuse_option(e, o->name,
                                     add ? " cannot be combined with --seccomp"
                                         : " cannot be combined with --add-seccomp-fd");
        if (!add)
                return take_fd(r, o, a, e);

        if (r->o->filter_count == BWRAP_FILTERS_MAX)
                return refuse_option(e, o->name, " is given too often");

        return read_fd(a[0], &r->o->filters[r->o->filter_count++], e);
}

static int take_label(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        (void) r;
        (void) a;
        (void) refuse_option(e, o->name, " is not supported");
        return err_hint(e, "labels of SELinux are not set: leave the option out");
}

static int take_variable(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        const char *name = o->count > 0 ? a[0] : NULL;
        if (name && (!*name || strchr(name, '=')))
                return refuse_option(e, o->name, ": a name is not empty and has no =");

        r->o->variables[r->o->variable_count++] = (struct bwrap_variable){ name, o->count > 1 ? a[1] : NULL };
        return 0;
}

static int take_cap(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        uint64_t bits = ~0ull;
        if (strcasecmp(a[0], "ALL") != 0) {
                int cap = bwrap_cap(a[0]);
                if (cap < 0)
                        return refuse_option(e, "unknown cap: ", a[0]);
                bits = 1ull << cap;
        }

        r->o->caps_named = true;
        r->o->caps = o->value ? r->o->caps | bits : r->o->caps & ~bits;
        r->o->caps_added = o->value ? r->o->caps_added | bits : r->o->caps_added & ~bits;
        return 0;
}

static int take_perms(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        if (r->perms != PERMS_NONE)
                return refuse_option(e, o->name, " given twice for the same action");
        return read_octal(a[0], o->name, &r->perms, e);
}

static int take_size(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        if (r->sized)
                return refuse_option(e, o->name, " given twice for the same action");
        if (read_number(a[0], SIZE_MAX / 2, "--size takes a number of bytes: ", &r->size, e) < 0)
                return -1;
        if (r->size == 0)
                return refuse_option(e, o->name, " takes a non-zero number of bytes");

        r->sized = true;
        return 0;
}

static int take_lock(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        (void) o;
        (void) e;
        r->o->locks[r->o->lock_count++] = a[0];
        return 0;
}

static int take_layer(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        if (!*a[0])
                return refuse_option(e, o->name, ": the path is empty");
        r->o->layers[r->o->layer_count++] = a[0];
        r->layers++;
        return 0;
}

static struct bwrap_op *add_op(struct reader *r, const struct option *o, const char *dest, struct err *e)
{
        if (!*dest) {
                (void) refuse_option(e, o->name, ": the destination is empty");
                return NULL;
        }

        struct bwrap_op *op = &r->o->ops[r->o->op_count++];
        *op = (struct bwrap_op){ .kind = (uint8_t) (o->value >> 8),
                                 .flags = (uint8_t) o->value,
                                 .perms = PERMS_NONE,
                                 .fd = -1,
                                 .dest = dest };
        return op;
}

/* The mode of --perms if it was given. */
static void use_perms(struct reader *r, struct bwrap_op *op, int otherwise)
{
        op->perms = r->perms != PERMS_NONE ? r->perms : otherwise;
        r->perms = PERMS_NONE;
}

/* SRC DEST */
static int take_pair(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        struct bwrap_op *op = *a[0] ? add_op(r, o, a[1], e) : NULL;
        if (!*a[0])
                return refuse_option(e, o->name, ": the source is empty");
        if (!op)
                return -1;

        op->source = a[0];
        return 0;
}

/* FD DEST */
static int take_fd_pair(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        struct bwrap_op *op = add_op(r, o, a[1], e);
        if (!op || read_fd(a[0], &op->fd, e) < 0)
                return -1;
        if (op->kind != BWRAP_BIND)
                use_perms(r, op, op->kind == BWRAP_FILE ? 0666 : 0600);
        return 0;
}

static int take_chmod(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        struct bwrap_op *op = add_op(r, o, a[1], e);
        return op ? read_octal(a[0], o->name, &op->perms, e) : -1;
}

/* DEST */
static int take_dest(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        struct bwrap_op *op = add_op(r, o, a[0], e);
        if (!op)
                return -1;

        if (op->kind == BWRAP_DIR || op->kind == BWRAP_TMPFS)
                use_perms(r, op, 0755);
        if (op->kind == BWRAP_TMPFS) {
                op->size = r->size;
                r->size = 0;
                r->sized = false;
        }

        r->o->dev |= op->kind == BWRAP_DEV;
        return 0;
}

static int take_overlay(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        unsigned least = (uint8_t) o->value & BWRAP_RO ? 2 : 1;
        if (r->layers < least)
                return refuse_option(e, o->name,
                                     least == 2 ? " requires at least two --overlay-src"
                                                : " requires at least one --overlay-src");

        struct bwrap_op *op = add_op(r, o, a[o->count - 1], e);
        if (!op)
                return -1;

        if (o->count == 3) {
                op->source = a[0];
                op->work = a[1];
        }

        op->layers = r->layers;
        op->layer = (unsigned) r->o->layer_count - r->layers;
        r->layers = 0;
        return 0;
}

static int take_args(struct reader *r, const struct option *o, const char *const *a, struct err *e);

#define FLAG(name, member, help)                                                                             \
        {                                                                                                    \
                name, 0, take_flag, 0, AT(member), "", help                                                  \
        }
#define FD(name, member, help)                                                                               \
        {                                                                                                    \
                name, 1, take_fd, 0, AT(member), "FD", help                                                  \
        }
#define TEXT(name, member, arguments, help)                                                                  \
        {                                                                                                    \
                name, 1, take_text, 0, AT(member), arguments, help                                           \
        }
#define BIND(name, flags, help)                                                                              \
        { name, 2, take_pair, KIND(BWRAP_BIND, flags), 0, "SRC DEST", help },                                \
        {                                                                                                    \
                name "-try", 2, take_pair, KIND(BWRAP_BIND, (flags) | BWRAP_TRY), 0, "SRC DEST",             \
                        "the same, unless SRC does not exist"                                                \
        }
#define DEST(name, kind, help)                                                                               \
        {                                                                                                    \
                name, 1, take_dest, KIND(kind, 0), 0, "DEST", help                                           \
        }
#define DATA(name, kind, flags, help)                                                                        \
        {                                                                                                    \
                name, 2, take_fd_pair, KIND(kind, flags), 0, "FD DEST", help                                 \
        }

static const struct option options[] = {
        FLAG("--help", help, "print this help and exit"),
        FLAG("--version", version, "print the version and exit"),
        { "--args", 1, take_args, 0, 0, "FD", "read NUL-separated options from FD" },
        { "--argv0", 1, take_argv0, 0, 0, "VALUE", "set argv[0] of the command" },
        FLAG("--level-prefix", level_prefix, "begin each message with its level, such as <3>"),
        { "--unshare-all", 0, take_all, 0, 0, "", "all namespaces that can be created" },
        { "--share-net", 0, take_share_net, 0, 0, "", "keep the network, after --unshare-all" },
        FLAG("--unshare-user", user, "new user namespace (always, unless the caller is root)"),
        FLAG("--unshare-user-try", user_try, "new user namespace if possible"),
        FLAG("--unshare-ipc", ipc, "new ipc namespace"),
        FLAG("--unshare-pid", pid, "new pid namespace"),
        FLAG("--unshare-net", net, "new network namespace: loopback alone"),
        FLAG("--unshare-uts", uts, "new uts namespace"),
        FLAG("--unshare-cgroup", cgroup, "new cgroup namespace"),
        FLAG("--unshare-cgroup-try", cgroup_try, "new cgroup namespace if possible"),
        FD("--userns", userns_fd, "use this user namespace"),
        FD("--userns2", userns2_fd, "after setup, switch to this user namespace"),
        FLAG("--disable-userns", disable_userns, "no further user namespaces inside"),
        FLAG("--assert-userns-disabled", assert_userns_disabled, "fail if more can be created inside"),
        FD("--pidns", pidns_fd, "use this pid namespace"),
        { "--uid", 1, take_id, 0, AT(uid), "UID", "uid inside (--unshare-user or --userns)" },
        { "--gid", 1, take_id, 0, AT(gid), "GID", "gid inside (--unshare-user or --userns)" },
        TEXT("--hostname", hostname, "NAME", "host name inside (--unshare-uts)"),
        TEXT("--chdir", chdir, "DIR", "working directory of the command"),
        { "--clearenv", 0, take_variable, 0, 0, "", "remove all variables" },
        { "--setenv", 2, take_variable, 0, 0, "VAR VALUE", "set a variable" },
        { "--unsetenv", 1, take_variable, 0, 0, "VAR", "remove a variable" },
        { "--lock-file", 1, take_lock, 0, 0, "DEST", "hold a lock on DEST while the box runs" },
        FD("--sync-fd", sync_fd, "keep FD open while the box runs"),
        BIND("--bind", 0, "mount SRC on DEST"),
        BIND("--dev-bind", BWRAP_DEVICES, "mount SRC on DEST, with its devices"),
        BIND("--ro-bind", BWRAP_RO, "mount SRC on DEST, read-only"),
        DATA("--bind-fd", BWRAP_BIND, BWRAP_BY_FD, "mount the directory or path open as FD"),
        DATA("--ro-bind-fd", BWRAP_BIND, BWRAP_BY_FD | BWRAP_RO, "the same, read-only"),
        DEST("--remount-ro", BWRAP_REMOUNT, "make the mount DEST read-only, without those below"),
        { "--overlay-src", 1, take_layer, 0, 0, "SRC", "the next layer of the following overlay" },
        { "--overlay", 3, take_overlay, KIND(BWRAP_OVERLAY, 0), 0, "RWSRC WORKDIR DEST",
          "mount the layers; changes go to RWSRC" },
        { "--tmp-overlay", 1, take_overlay, KIND(BWRAP_OVERLAY, BWRAP_TMP), 0, "DEST",
          "mount the layers; changes are lost at the end" },
        { "--ro-overlay", 1, take_overlay, KIND(BWRAP_OVERLAY, BWRAP_RO), 0, "DEST",
          "mount the layers read-only" },
        { "--exec-label", 1, take_label, 0, 0, "LABEL", "not supported" },
        { "--file-label", 1, take_label, 0, 0, "LABEL", "not supported" },
        DEST("--proc", BWRAP_PROC, "mount procfs"),
        DEST("--dev", BWRAP_DEV, "a new /dev: null, zero, full, random, urandom, tty, terminals"),
        DEST("--tmpfs", BWRAP_TMPFS, "mount an empty tmpfs"),
        DEST("--mqueue", BWRAP_MQUEUE, "mount the message queues"),
        DEST("--dir", BWRAP_DIR, "create a directory"),
        DATA("--file", BWRAP_FILE, 0, "copy the bytes of FD to DEST"),
        DATA("--bind-data", BWRAP_DATA, 0, "mount a copy of the bytes of FD on DEST"),
        DATA("--ro-bind-data", BWRAP_DATA, BWRAP_RO, "the same, read-only"),
        { "--symlink", 2, take_pair, KIND(BWRAP_SYMLINK, 0), 0, "SRC DEST", "a symlink at DEST to SRC" },
        { "--perms", 1, take_perms, 0, 0, "OCTAL", "mode of the next --dir, --tmpfs, --file, --bind-data" },
        { "--size", 1, take_size, 0, 0, "BYTES", "size of the next --tmpfs" },
        { "--chmod", 2, take_chmod, KIND(BWRAP_CHMOD, 0), 0, "OCTAL PATH", "change the mode of PATH" },
        { "--seccomp", 1, take_filter, 0, AT(seccomp_fd), "FD", "load a system-call filter from FD" },
        { "--add-seccomp-fd", 1, take_filter, 1, 0, "FD", "the same, can be repeated" },
        FD("--block-fd", block_fd, "wait until FD has data"),
        FD("--userns-block-fd", userns_block_fd, "wait until FD has data; others map the ids meanwhile"),
        FD("--info-fd", info_fd, "write a JSON object about the box to FD"),
        FD("--json-status-fd", status_fd, "write its state to FD as JSON lines"),
        FLAG("--new-session", new_session, "a terminal session of its own"),
        FLAG("--die-with-parent", die_with_parent, "SIGKILL when the caller ends"),
        FLAG("--as-pid-1", as_pid_1, "the command is process 1, without a reaper"),
        FLAG("--not-a-security-boundary", lenient, "accepted; every step must succeed all the same"),
        { "--cap-add", 1, take_cap, 1, 0, "CAP", "keep a capability, or ALL" },
        { "--cap-drop", 1, take_cap, 0, 0, "CAP", "drop a capability, or ALL" },
};

const char *bwrap_option(size_t i, const char **ret_arguments, const char **ret_help)
{
        if (i >= sizeof options / sizeof *options)
                return NULL;
        *ret_arguments = options[i].arguments;
        *ret_help = options[i].help;
        return options[i].name;
}

static const struct option *find_option(const char *name)
{
        int i = str_row(options, sizeof options / sizeof *options, name);
        return i < 0 ? NULL : &options[i];
}

/* --perms, --size and --overlay-src are about the operation that follows. */
static int check_pending(const struct reader *r, const struct option *o, struct err *e)
{
        bool modifier = o && (o->take == take_perms || o->take == take_size);
        if (o && !modifier && r->perms != PERMS_NONE)
                return refuse_option(e, "--perms", " must be followed by an option that creates a file");
        if (o && !modifier && r->sized)
                return refuse_option(e, "--size", " must be followed by --tmpfs");
        if ((!o || o->take != take_layer) && r->layers > 0)
                return refuse_option(e, "--overlay-src",
                                     " must be followed by another --overlay-src or one of "
                                     "--overlay, --tmp-overlay, or --ro-overlay");
        return 0;
}

static int too_few(const struct option *o, struct err *e)
{
        static const char *const counts[] = { "", " takes an argument", " takes two arguments",
                                              " takes three arguments" };
        return refuse_option(e, o->name, counts[o->count]);
}

/* Reads options up to the command; *ret_read: how many arguments that were. */
static int read_options(struct reader *r, const char *const *argv, size_t argc, size_t *ret_read,
                        struct err *e)
{
        size_t i = 0;
        while (i < argc && argv[i][0] == '-') {
                if (strcmp(argv[i], "--") == 0) {
                        i++;
                        break;
                }

                const struct option *o = find_option(argv[i]);
                if (!o)
                        return refuse_option(e, "Unknown option ", argv[i]);
                if (argc - i <= o->count)
                        return too_few(o, e);
                r->total += 1 + o->count;
                if (r->total > BWRAP_ARGS_MAX)
                        return refuse_option(e, "Exceeded maximum number of arguments", "");
                if (o->take(r, o, argv + i + 1, e) < 0 || check_pending(r, o, e) < 0)
                        return -1;
                if (r->o->help || r->o->version)
                        break;
                i += 1 + o->count;
        }

        *ret_read = i;
        return 0;
}

/* Splits at each NUL; the last argument may lack it. Returns how many there are, more than `cap` if too many.
 */
static size_t split_words(const char *data, size_t n, const char **ret, size_t cap)
{
        size_t count = 0;
        for (size_t at = 0; at < n; at += strlen(data + at) + 1) {
                if (count == cap)
                        return cap + 1;
                ret[count++] = data + at;
        }

        return count;
}

/* An option that would not be read would be a wall that is missing: so nothing may be left over. */
static int take_args(struct reader *r, const struct option *o, const char *const *a, struct err *e)
{
        static const char *words[BWRAP_ARGS_MAX];
        int fd = -1;
        char *data = NULL;
        size_t length = 0, used = 0;
        if (r->in_file)
                return refuse_option(e, o->name, " not supported in arguments file");
        if (read_fd(a[0], &fd, e) < 0)
                return -1;
        if (r->files->read(fd, &data, &length) < 0)
                return err_set(e, ERR_IO, errno, "Can't read --args data");

        size_t count = split_words(data, length, words, BWRAP_ARGS_MAX);
        if (count > BWRAP_ARGS_MAX)
                return refuse_option(e, "Exceeded maximum number of arguments", "");

        r->in_file = true;
        if (read_options(r, words, count, &used, e) < 0)
                return -1;

        r->in_file = false;
        return used < count && *words[used] ? refuse_option(e, "--args: not an option: ", words[used]) : 0;
}

int bwrap_read(struct bwrap_order *o, const char *const *argv, size_t argc, uint64_t caps,
               const struct bwrap_files *files, struct err *e)
{
        struct reader r = { .o = o, .files = files, .perms = PERMS_NONE };
        size_t used = 0;
        o->sync_fd = o->block_fd = o->userns_block_fd = o->info_fd = o->status_fd = o->seccomp_fd = -1;
        o->userns_fd = o->userns2_fd = o->pidns_fd = -1;
        o->uid = o->gid = -1;
        o->caps = caps;
        if (read_options(&r, argv, argc, &used, e) < 0)
                return -1;
        if (!o->help && !o->version && check_pending(&r, NULL, e) < 0)
                return -1;

        o->argv = argv + used;
        return 0;
}

/* The rules that bubblewrap documents, as rows. */
static int check_together(const struct bwrap_order *o, struct err *e)
{
        const struct {
                bool wrong;
                const char *what;
        } rules[] = {
                { o->userns_block_fd >= 0 && !o->user, "--userns-block-fd requires --unshare-user" },
                { o->userns_block_fd >= 0 && o->info_fd < 0, "--userns-block-fd requires --info-fd" },
                { o->userns_fd >= 0 && o->user, "--userns not compatible --unshare-user" },
                { o->userns_fd >= 0 && o->user_try, "--userns not compatible --unshare-user-try" },
                { o->disable_userns && !o->user, "--disable-userns requires --unshare-user" },
                { o->disable_userns && o->userns_block_fd >= 0,
                  "--disable-userns is not compatible with --userns-block-fd" },
                { o->hostname && !o->uts, "Specifying --hostname requires --unshare-uts" },
                { o->as_pid_1 && !o->pid, "Specifying --as-pid-1 requires --unshare-pid" },
                { o->as_pid_1 && o->lock_count > 0,
                  "Specifying --as-pid-1 and --lock-file is not permitted" },
        };
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
                if (rules[i].wrong)
                        return refuse_option(e, rules[i].what, "");
        return 0;
}

int bwrap_settle(struct bwrap_order *o, const struct bwrap_caller *c, struct err *e)
{
        if (check_together(o, e) < 0)
                return -1;

        if (c->uid != 0 && o->userns_fd < 0)
                o->user = true;
        if (o->user_try && c->user_namespaces)
                o->user = true;
        if (o->cgroup && !c->cgroup_namespaces)
                return refuse_option(e, "Cannot create new cgroup namespace",
                                     ": the kernel does not support it");
        if (o->cgroup_try && c->cgroup_namespaces)
                o->cgroup = true;

        bool own_ids = o->user || o->userns_fd >= 0;
        if (!own_ids && o->uid >= 0 && o->uid != c->uid)
                return refuse_option(e, "Specifying --uid requires --unshare-user or --userns", "");
        if (!own_ids && o->gid >= 0 && o->gid != c->gid)
                return refuse_option(e, "Specifying --gid requires --unshare-user or --userns", "");

        o->uid = o->uid < 0 ? c->uid : o->uid;
        o->gid = o->gid < 0 ? c->gid : o->gid;
        return 0;
}
