/* SPDX-License-Identifier: MIT */
/* run/keeper/registry_ask.c - those that ask running boxes of their user (registry.c): one, or all of them.
 */
#include "base/fd.h"
#include "base/host/host.h"
#include "base/shell.h"
#include "base/str.h"
#include "run/keeper/registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
        ASK_TIMEOUT_MS = 1000,
        ASK_TRIES = 8,
        ANSWER_MAX = 4 << 20,
        PATIENCE_MS = 1000,
        QUEUE_MS = 5,
        LOOKS = 3,
        END_MS = 60000
};

/* The commands and the keeper may be of different versions. */
static const struct wire_field ask_fields[] = { WIRE_NUMBER(struct ask, request),
                                                WIRE_NUMBER(struct ask, arg) };
const struct wire_form registry_ask_form = WIRE_FORM(WIRE_REGISTRY_ASK, 1, struct ask, ask_fields);

socklen_t registry_address(struct sockaddr_un *a, const char *kind, uid_t uid, const char *run)
{
        char text[96];
        (void) snprintf(text, sizeof text, "%s/%u/%s", kind, uid, run);
        *a = (struct sockaddr_un){ .sun_family = AF_UNIX };
        size_t n = strlen(text);
        memcpy(a->sun_path + 1, text, n);
        return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

int registry_listen(const char *kind, int type, uid_t uid, const char *run, int backlog)
{
        struct sockaddr_un a;
        socklen_t n = registry_address(&a, kind, uid, run);
        AUTO_FD(fd, socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        bool listens = fd >= 0 && bind(fd, (struct sockaddr *) &a, n) == 0 && listen(fd, backlog) == 0;
        return listens ? TAKE_FD(fd) : -1;
}

bool registry_peer_is(int fd, uid_t uid)
{
        struct ucred c;
        socklen_t n = sizeof c;
        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) == 0 && (c.uid == uid || c.uid == 0);
}

bool registry_is_of_session(const struct ask *q)
{
        return q->request == BOX_ASK_SESSION || q->request == BOX_ASK_JOIN || q->request == BOX_ASK_WORDS;
}

static int read_answer(int fd, struct buf *out)
{
        struct stat st;
        char chunk[65536];
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > ANSWER_MAX ||
            lseek(fd, 0, SEEK_SET) < 0)
                return -1;

        for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;)
                buf_add(out, chunk, (size_t) n);

        return 0;
}

/* SAFETY: any process can bind a name like ours and leave its queue full; its owner is known only after
 * connect(). So a full queue is waited for, as that of a busy keeper has to be, but one query to all of them
 * waits at most `patience` milliseconds. */
static int join_queue(int fd, const struct sockaddr_un *a, socklen_t n, int *patience)
{
        while (connect(fd, (const struct sockaddr *) a, n) < 0) {
                if (errno != EAGAIN || *patience <= 0)
                        return -1;
                (void) poll(NULL, 0, QUEUE_MS);
                *patience -= QUEUE_MS;
        }

        return 0;
}

/* How long an answer may take: a session is ended first. */
static int answer_ms(const struct ask *q) { return q->request == BOX_ASK_END ? END_MS : ASK_TIMEOUT_MS; }

/* 1: a keeper accepted and hung up; 2: and sent nothing; REFUSED: *out says why. With `ret_line` the answer
 * may be a line. */
static int ask_once(const struct sockaddr_un *a, socklen_t n, struct ask *q, int *patience, struct buf *out,
                    int *ret_line)
{
        AUTO_FD(fd, socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd < 0 || join_queue(fd, a, n, patience) < 0 || !registry_peer_is(fd, getuid()))
                return -1;

        if (registry_is_of_session(q) && host_peer_confined(fd, HOST_CONFINED_ACCESS))
                return -1; /* it would get the command, the variables and the input of the run */

        AUTO_FD(proof, host_peer_proof(fd));
        if (wire_put(fd, &registry_ask_form, q, proof) < 0)
                return 1;

        AUTO_FD(got, -1);
        if (!fd_await(fd, POLLIN, answer_ms(q)))
                return 2;

        struct ask ok;
        if (wire_take(fd, &registry_ask_form, &ok, &got) != 1 || got < 0)
                return 1;

        *q = ok;
        if (ok.request == ASK_REFUSED)
                return read_answer(got, out) < 0 ? 1 : REFUSED;

        if (ret_line && ok.request != JOIN_REFUSED) {
                *ret_line = TAKE_FD(got);
                return 0;
        }

        return read_answer(got, out);
}

/* A keeper does not wait long for the request: a client that was delayed on a busy machine asks again.
 * Returns -1 if no keeper exists; 1: it exists, and sends nothing. */
static int ask_for_line(const char *run, struct ask *q, int *patience, struct buf *out, int *ret_line)
{
        struct sockaddr_un a;
        socklen_t n = registry_address(&a, "cordon", getuid(), run);
        int r = 1;
        for (int tries = 0; tries < ASK_TRIES && r == 1; tries++)
                r = ask_once(&a, n, q, patience, out, ret_line);

        return r > 0 ? 1 : r;
}

static int ask_run(const char *run, struct ask *q, int *patience, struct buf *out)
{
        return ask_for_line(run, q, patience, out, NULL);
}

/* Num RefCount Protocol Flags Type St Inode Path: the text after so many of them. */
static const char *behind_fields(const char *line, int fields)
{
        for (int i = 0; i < fields; i++) {
                line += strspn(line, " ");
                line += strcspn(line, " ");
        }
        return line + strspn(line, " ");
}

static bool is_listening(const char *line) { return strtoul(behind_fields(line, 3), NULL, 16) & 0x10000; }

/* What stands behind the prefix in all of them, each with a NUL behind it. */
static int look_for_names(const char *prefix, struct buf *names, size_t *count, struct err *e)
{
        char line[512];
        size_t n = strlen(prefix);
        FILE *f = fopen("/proc/net/unix", "re");
        if (!f)
                return err_set(e, ERR_IO, errno, "reading /proc/net/unix: %s", strerror(errno));

        while (fgets(line, sizeof line, f)) {
                const char *path = behind_fields(line, 7);
                if (path[0] != '@' || strncmp(path + 1, prefix, n) != 0 || !is_listening(line))
                        continue;
                buf_add(names, path + 1 + n, strcspn(path + 1 + n, "\n"));
                buf_putc(names, '\0');
                ++*count;
        }

        (void) fclose(f);
        return 0;
}

static int by_text(const void *a, const void *b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* SAFETY: that file lists the sockets of all users, with names that any process can choose, including line
 * ends; and it is read in pieces, between which others come and go. So an entry may appear twice, whichever
 * process wrote it, and an existing one may be skipped: the search is repeated. */
int registry_each(const char *prefix, bool (*each)(void *ctx, const char *rest), void *ctx, struct err *e)
{
        AUTO_BUF(runs);
        size_t count = 0;
        for (int i = 0; i < LOOKS; i++)
                if (look_for_names(prefix, &runs, &count, e) < 0)
                        return -1;

        const char **all = calloc(count + 1, sizeof *all);
        if (!all || runs.failed) {
                free(all);
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the list of boxes");
        }

        for (size_t i = 0, at = 0; i < count; i++, at += strlen(runs.p + at) + 1)
                all[i] = runs.p + at;

        qsort(all, count, sizeof *all, by_text);
        for (size_t i = 0; i < count; i++)
                if ((i == 0 || strcmp(all[i], all[i - 1]) != 0) && !each(ctx, all[i]))
                        break;

        free(all);
        return 0;
}

/* All runs of this user. */
static int each_run(bool (*each)(void *ctx, const char *run), void *ctx, struct err *e)
{
        char prefix[32];
        (void) snprintf(prefix, sizeof prefix, "cordon/%u/", getuid());
        return registry_each(prefix, each, ctx, e);
}

/* ---- to all of this state: labels of files have changed ---- */

static int tell_run(const char *run)
{
        struct sockaddr_un a;
        int patience = PATIENCE_MS;
        const struct ask q = { .request = BOX_ASK_LABELS };
        socklen_t n = registry_address(&a, "cordon", getuid(), run);
        AUTO_FD(fd, socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        bool sent = fd >= 0 && join_queue(fd, &a, n, &patience) == 0 && registry_peer_is(fd, getuid()) &&
                    wire_put(fd, &registry_ask_form, &q, -1) == 0;
        return sent ? TAKE_FD(fd) : -1;
}

static bool tell_one(void *ctx, const char *run)
{
        struct told *t = ctx;
        if (!names_has_run(t->names, run) || strlen(run) >= sizeof t->v->run)
                return true;

        struct told_box *more = realloc(t->v, (t->n + 1) * sizeof *more);
        if (!more)
                return false;

        t->v = more;
        t->v[t->n].fd = tell_run(run);
        (void) snprintf(t->v[t->n].run, sizeof t->v->run, "%s", run);
        t->n += t->v[t->n].fd >= 0;
        return true;
}

void registry_tell(const struct cordon_context *cx, struct told *t)
{
        struct err none;
        AUTO_FD(names, names_open(cx));
        t->names = names;
        if (names >= 0)
                (void) each_run(tell_one, t, &none);
}

int registry_told_next(struct told *t)
{
        struct ask ok;
        while (t->n > 0 && fd_await(t->v[t->n - 1].fd, POLLIN, 0)) {
                struct told_box *x = &t->v[t->n - 1];
                AUTO_FD(text, -1); /* an empty one */
                bool answered = wire_take(x->fd, &registry_ask_form, &ok, &text) == 1;
                fd_close(&x->fd);
                if (!answered) /* it took us for one that says nothing, or is over */
                        x->fd = tell_run(x->run);
                t->n -= x->fd < 0;
        }
        return t->n > 0 ? t->v[t->n - 1].fd : -1;
}

void registry_told_done(struct told *t)
{
        for (; t->n > 0; t->n--)
                fd_close(&t->v[t->n - 1].fd);
        free(t->v);
        *t = (struct told){ 0 };
}

struct listing {
        void (*each)(void *ctx, const char *json);
        void *ctx;
        int count, patience;
};

static bool list_one(void *ctx, const char *run)
{
        struct listing *l = ctx;
        AUTO_BUF(out);
        struct ask q = { .request = BOX_ASK_STATE };
        int r = ask_run(run, &q, &l->patience, &out);
        AUTO_BUF(entry);
        if (r == REFUSED) {
                buf_puts(&entry, "{\"run\":");
                buf_json(&entry, span_str(run));
                buf_puts(&entry, ",\"refused\":");
                buf_json(&entry, buf_span(&out));
                buf_putc(&entry, '}');
        }

        if (r == 0 || r == REFUSED) {
                l->each(l->ctx, buf_str(r == 0 ? &out : &entry));
                l->count++;
        }

        return true;
}

int box_list(void (*each)(void *ctx, const char *json), void *ctx, struct err *e)
{
        struct listing l = { each, ctx, 0, PATIENCE_MS };
        return each_run(list_one, &l, e) < 0 ? -1 : l.count;
}

struct finding {
        const char *which;
        char run[64];
        unsigned matches;
        int patience;
};

/* Also if the id fits: another user may have bound it, and it is not one of our boxes. */
static bool find_one(void *ctx, const char *run)
{
        struct finding *f = ctx;
        char quoted[NAME_MAX_BYTES + 16];
        AUTO_BUF(out);

        (void) snprintf(quoted, sizeof quoted, "\"name\":\"%s\"", f->which);
        struct ask q = { .request = BOX_ASK_STATE };
        int r = ask_run(run, &q, &f->patience, &out);
        if (r != 0 && r != REFUSED)
                return true;

        bool is_named = r == 0 && strstr(buf_str(&out), quoted);
        if (is_named || strncmp(run, f->which, strlen(f->which)) == 0) {
                (void) snprintf(f->run, sizeof f->run, "%s", run);
                f->matches++;
        }

        return true;
}

int registry_find(const char *which, char ret_run[64], struct err *e)
{
        struct finding f = { .which = which, .patience = PATIENCE_MS };
        if (which[0] == '\0' || strlen(which) >= NAME_MAX_BYTES || strchr(which, '"'))
                return err_set(e, ERR_USAGE, 0, "not a name or id of a box");

        if (str_is_run(which)) {
                f.matches = 1;
                (void) snprintf(f.run, sizeof f.run, "%s", which);
        } else if (each_run(find_one, &f, e) < 0) {
                return -1;
        }

        memcpy(ret_run, f.run, sizeof f.run);
        if (f.matches > 1)
                return err_set(e, ERR_USAGE, 0, "%u boxes answer to %s: give more of the id", f.matches,
                               which);

        return f.matches == 1 ? 0 : 1;
}

int registry_logs(const char *run, int32_t *position, struct buf *out)
{
        int patience = PATIENCE_MS;
        struct ask q = { .request = BOX_ASK_LOGS, .arg = *position };
        int r = ask_run(run, &q, &patience, out);
        if (r == REFUSED)
                return REGISTRY_REFUSED;
        if (r != 0)
                return r < 0 ? REGISTRY_GONE : REGISTRY_SILENT;

        *position = q.arg & LOG_POSITION;
        return q.request == LOGS_ON ? 0 : REGISTRY_NOT_KEPT;
}

static int ask_descriptor(const char *run, enum box_request request, struct err *e)
{
        AUTO_BUF(out);
        int line = -1, patience = PATIENCE_MS;
        struct ask q = { .request = request };
        if (ask_for_line(run, &q, &patience, &out, &line) == 0 && line >= 0)
                return line;

        return err_set(e, ERR_GONE, 0, "%s", out.n ? buf_str(&out) : "the session is over");
}

int registry_join(const char *run, struct err *e) { return ask_descriptor(run, BOX_ASK_JOIN, e); }
int box_words(const char *run, struct err *e) { return ask_descriptor(run, BOX_ASK_WORDS, e); }

/* *q is the answer afterwards. */
static int ask_which(const char *which, struct ask *q, struct buf *out, struct err *e)
{
        char run[64];
        int patience = PATIENCE_MS; /* for the one that is ours */
        int found = registry_find(which, run, e);
        if (found < 0)
                return -1;

        int r = found == 0 ? ask_run(run, q, &patience, out) : -1;
        if (r == 0)
                return 0;

        if (r == REFUSED)
                return err_set(e, ERR_USAGE, EPERM, "the box %s: %s", run, buf_str(out));

        if (found == 0 && !str_is_run(which))
                return err_set(e, ERR_GONE, 0, "the box %s did not answer", run);

        AUTO_BUF(word);
        buf_shell(&word, which);
        (void) err_set(e, ERR_GONE, 0, "no box named %s", which);
        return err_hint(e, "`cordon ps` lists running boxes; for one that has ended, `cordon ledger --%s %s`",
                        str_is_run(which) ? "run" : "box", buf_str(&word));
}

int box_ask(const char *which, enum box_request request, int arg, struct buf *out, struct err *e)
{
        struct ask q = { .request = request, .arg = arg };
        return ask_which(which, &q, out, e);
}

bool box_runs(const char *run)
{
        AUTO_BUF(out);
        int patience = PATIENCE_MS;
        struct ask q = { .request = BOX_ASK_STATE };
        return ask_run(run, &q, &patience, &out) != -1;
}

int box_renew_of(const char *which, struct buf *out, struct err *e)
{
        struct ask q = { .request = BOX_ASK_RENEW };
        if (ask_which(which, &q, out, e) < 0)
                return -1;

        if (q.request == RENEW_DONE)
                return 0;

        (void) err_set(e, ERR_LIMIT, 0, "%.60s: %.300s", which, buf_str(out));
        return err_hint(e, "--renew 3, or `limit time 10m renew 3` in a policy, allows three renewals");
}
