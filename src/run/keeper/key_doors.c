/* SPDX-License-Identifier: MIT */
/* run/keeper/key_doors.c - `sign` and `decrypt` doors: connects to the agents of the caller, starts
 * cordon-signer between them and the box, and answers each use of a key: by the policy, the door's count and
 * limit `effects`, a person if the door has `ask`, and the ledger, which has the intent before the agent has
 * the request. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/host/host.h"
#include "base/str.h"
#include "broker/signer/signer.h"
#include "effect/gate/gate.h"
#include "run/keeper/internal.h"
#include "run/keeper/run_record.h"
#include "wall/plan/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { READY_MS = 10000, PENDING_MAX = 64 };

struct key_use {         /* asked for, and not over */
        uint32_t number; /* 0: free */
        const struct door *door;
        bool left; /* the agent has it */
        char id[LEDGER_ID_MAX];
        struct signer_message m;
};
struct keys {
        struct child process;
        int control;
        bool ready, odd;
        struct err error;
        uint64_t used;   /* in all */
        uint32_t *count; /* of each door, parallel to the policy's */
        struct key_use uses[PENDING_MAX];
};

static const struct {
        const char *mark, *program;
} agents[] = { [SIGNER_SSH] = { "ssh:", "ssh-agent" }, [SIGNER_GPG] = { "gpg:", "gpg-agent" } };

static bool is_key_door(const struct door *d) { return d->kind == DOOR_SIGN || d->kind == DOOR_DECRYPT; }

static enum signer_agent agent_of(const struct door *d)
{
        return strncmp(d->name, agents[SIGNER_GPG].mark, strlen(agents[SIGNER_GPG].mark)) == 0 ? SIGNER_GPG
                                                                                               : SIGNER_SSH;
}

/* ---- the agents outside ---- */

static int connect_to(const char *path)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        if (strlen(path) >= sizeof at.sun_path) {
                errno = ENAMETOOLONG;
                return -1;
        }

        memcpy(at.sun_path, path, strlen(path) + 1);
        AUTO_FD(fd, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return fd < 0 || connect(fd, (const struct sockaddr *) &at, sizeof at) < 0 ? -1 : TAKE_FD(fd);
}

static int open_ssh(const struct box *b, struct err *e)
{
        const char *path = context_path(b->c.cx, "SSH_AUTH_SOCK");
        if (!path) {
                (void) err_set(e, ERR_DOOR, 0,
                               "a `sign ssh:` door needs an ssh-agent, and SSH_AUTH_SOCK is not set");
                return err_hint(e, "start one with `eval $(ssh-agent)`, then `ssh-add`");
        }

        int fd = connect_to(path);
        if (fd >= 0)
                return fd;
        int sys = errno;
        (void) err_set(e, ERR_DOOR, sys, "the ssh-agent at %s does not answer: %s", path, strerror(sys));
        return err_hint(e, "start one with `eval $(ssh-agent)`, then `ssh-add`");
}

/* As gpgconf --list-dirs agent-socket finds it, but for a home of gpg's that is not the default one and has
 * its socket below /run/user. */
static int open_gpg(const struct box *b, struct err *e)
{
        static const char name[] = "S.gpg-agent";
        char path[3][PATH_MAX] = { "" };
        const char *own = context_path(b->c.cx, "GNUPGHOME"), *home = context_path(b->c.cx, "HOME"),
                   *run = context_path(b->c.cx, "XDG_RUNTIME_DIR");
        if (own)
                (void) snprintf(path[0], sizeof path[0], "%s/%s", own, name);
        else if (home)
                (void) snprintf(path[0], sizeof path[0], "%s/.gnupg/%s", home, name);
        if (!own && run)
                (void) snprintf(path[1], sizeof path[1], "%s/gnupg/%s", run, name);
        if (!own)
                (void) snprintf(path[2], sizeof path[2], "/run/user/%u/gnupg/%s", b->c.uid, name);

        for (unsigned i = 0; i < sizeof path / sizeof *path; i++) {
                int fd = path[i][0] ? connect_to(path[i]) : -1;
                if (fd >= 0)
                        return fd;
        }

        (void) err_set(e, ERR_DOOR, 0, "no gpg-agent answers at %s", path[0]);
        return err_hint(e, "start it with `gpgconf --launch gpg-agent`");
}

static int send_agents(struct box *b, struct err *e)
{
        size_t n;
        bool opened[SIGNER_AGENT__COUNT] = { false };
        const struct door *d = policy_doors(b->c.policy, &n);
        for (size_t i = 0; i < n; i++) {
                if (!is_key_door(&d[i]))
                        continue;
                struct signer_order o = { .command = SIGNER_AGENT, .agent = agent_of(&d[i]) };
                AUTO_FD(fd, opened[o.agent] ? -1 : o.agent == SIGNER_SSH ? open_ssh(b, e) : open_gpg(b, e));
                if (fd < 0 && !opened[o.agent])
                        return -1;
                if (fd >= 0 && wire_put(b->keys->control, &signer_order_form, &o, fd) < 0)
                        return err_set(e, ERR_IO, errno, "speaking to cordon-signer: %s", strerror(errno));
                opened[o.agent] = true;
                o.command = SIGNER_KEY;
                o.decrypt = d[i].kind == DOOR_DECRYPT;
                (void) snprintf(o.key, sizeof o.key, "%s", d[i].name + strlen(agents[o.agent].mark));
                if (wire_put(b->keys->control, &signer_order_form, &o, -1) < 0)
                        return err_set(e, ERR_IO, errno, "speaking to cordon-signer: %s", strerror(errno));
        }

        const struct signer_order start = { .command = SIGNER_START,
                                            .become = b->c.root ? wall_host_id() : 0 };
        return wire_put(b->keys->control, &signer_order_form, &start, -1) < 0
                       ? err_set(e, ERR_IO, errno, "speaking to cordon-signer: %s", strerror(errno))
                       : 0;
}

/* ---- start ---- */

static int spawn_signer(struct box *b, struct err *e)
{
        char path[PATH_MAX];
        int ends[2];
        if (host_program(b->c.cx, SIGNER_PROGRAM, path, sizeof path, e) < 0)
                return -1;

        if (wire_pair(ends) < 0)
                return err_set(e, ERR_IO, errno, "making the line to cordon-signer: %s", strerror(errno));

        AUTO_FD(its, ends[1]);
        char *const argv[] = { (char[]){ SIGNER_PROGRAM }, NULL }, *const envp[] = { (char[]){ "LANG=C" },
                                                                                     NULL };
        const int fds[SIGNER_CONTROL + 1] = { -1, -1, -1, its };
        b->keys->control = ends[0];
        b->keys->process = host_spawn(&(struct host_spawn){ .path = path,
                                                            .argv = argv,
                                                            .envp = envp,
                                                            .fds = fds,
                                                            .fd_count = SIGNER_CONTROL + 1,
                                                            .flags = HOST_SPAWN_APART });
        return b->keys->process.pid < 0 ? err_set(e, ERR_HOST, errno,
                                                  "cordon-signer could not be started: %s", strerror(errno))
                                        : 0;
}

int keys_start(struct box *b, struct err *e)
{
        size_t n;
        if (!b->c.plan->keys)
                return 0;

        (void) policy_doors(b->c.policy, &n);
        struct keys *k = b->keys = calloc(1, sizeof *k);
        if (k) {
                k->process = CHILD_NONE;
                k->control = -1;
                k->count = calloc(n + 1, sizeof *k->count);
        }
        if (!k || !k->count)
                return err_set(e, ERR_MEMORY, 0, "out of memory");

        return spawn_signer(b, e) < 0 ? -1 : send_agents(b, e);
}

int keys_ready(struct box *b, struct err *e)
{
        struct keys *k = b->keys;
        if (!k || k->ready)
                return 1;

        if (k->error.code != ERR_NONE) {
                *e = k->error;
                return -1;
        }

        if (k->control >= 0 && !keeper_waits_too_long(b, READY_MS))
                return 0;
        return err_set(e, ERR_HOST, 0, "cordon-signer did not start");
}

/* A use waits until the start of the run is recorded. */
int keys_fd(const struct box *b) { return b->keys && (!b->keys->ready || b->run.up) ? b->keys->control : -1; }

void keys_give(struct box *b, uint32_t kind, int fd)
{
        const struct signer_order o = { .command = SIGNER_LISTENER,
                                        .agent = kind == LISTENER_GPG ? SIGNER_GPG : SIGNER_SSH };
        if (b->keys && b->keys->control >= 0 && fd >= 0)
                (void) wire_put(b->keys->control, &signer_order_form, &o,
                                fd); /* gone: keys_hear() reports it */
}

/* ---- one use ---- */

static enum effect_kind kind_of(const struct signer_message *m)
{
        return m->decrypt ? EFFECT_DECRYPT : EFFECT_SIGN;
}

/* "ssh:SHA256:..." */
static void target_of(const struct signer_message *m, const char *key, char *ret, size_t cap)
{
        (void) snprintf(ret, cap, "%s%s", agents[m->agent].mark, key);
}

/* One row for each key: a box that tries thousands of signatures gets no more. */
static void note_denied(struct box *b, const struct signer_message *m, enum effect_reason why)
{
        char target[SIGNER_KEY_TEXT + 8];
        struct effect_row d = keeper_row(&b->run, kind_of(m));
        bool uses = m->key[0] != '\0' && why != REASON_AGENT_REQUEST;
        target_of(m, m->key, target, sizeof target);
        d.layer = "signer";
        d.count = 1;
        d.effect.target = uses ? target : "";
        d.effect.reason = why;
        d.what = uses ? keeper_text(&b->run, "%s %s", effect_kind_name(kind_of(m)), target)
                      : keeper_text(&b->run, "%s: %s", agents[m->agent].program, m->what);
        d.why = effect_reason_text(why);
        d.permit = why == REASON_NO_DOOR && uses
                           ? keeper_text(&b->run, "%s %s",
                                         policy_door_word(m->decrypt ? DOOR_DECRYPT : DOOR_SIGN), target)
                           : "";
        if (b->run.one_program)
                d.program = keeper_command_name(&b->run);
        if (b->c.session)
                session_tell_blocked(b, &d, 0);
        keeper_add_denial(&b->run, &d);
}

static void answer_use(struct box *b, struct key_use *u, bool yes)
{
        const struct signer_order o = { .command = SIGNER_ANSWER, .number = u->number, .yes = yes };
        if (!yes)
                u->number = 0;
        else
                u->left = true;
        if (b->keys->control >= 0)
                (void) wire_put(b->keys->control, &signer_order_form, &o, -1);
}

static void refuse_use(struct box *b, struct key_use *u, enum effect_reason why)
{
        note_denied(b, &u->m, why);
        answer_use(b, u, false);
}

static struct ledger_record record_use(struct box *b, const struct key_use *u, enum ledger_phase phase,
                                       struct buf *target, struct buf *door)
{
        struct ledger_record r = record_of(&b->run, LEDGER_CREDENTIAL, phase);
        buf_printf(target, "%s%s: %s", agents[u->m.agent].mark, u->m.key, u->m.what);
        policy_door_line(u->door, door);
        r.target = buf_str(target);
        r.door = buf_str(door);
        r.digest = u->m.digest;
        r.bytes = (int64_t) u->m.bytes;
        r.writes = !u->m.decrypt;
        ledger_more_text(&r, "use", u->m.decrypt ? "decrypt" : "sign");
        if (u->m.comment[0])
                ledger_more_text(&r, "comment", u->m.comment);
        return r;
}

/* Durable before the agent has it. */
static bool record_intent(struct box *b, struct key_use *u)
{
        AUTO_BUF(target);
        AUTO_BUF(door);
        struct err e;
        if (!b->run.record || !b->run.record->ledger)
                return b->c.ledger == BOX_LEDGER_OFF;

        struct ledger_record r = record_use(b, u, LEDGER_INTENT, &target, &door);
        record_causes(&b->run, &r);
        if (ledger_append(b->run.record->ledger, &r, true, u->id, &e) == 0)
                return true;
        record_off(&b->run, &e);
        return false;
}

static void let_go(struct box *b, struct key_use *u)
{
        if (record_intent(b, u))
                answer_use(b, u, true);
        else
                refuse_use(b, u, REASON_LEDGER);
}

/* What a person is shown, and approves: of these bytes, with this key. */
static void ask_person(struct box *b, struct key_use *u)
{
        AUTO_BUF(shown);
        char length[24], place[SIGNER_KEY_TEXT + 8];
        target_of(&u->m, u->m.key, place, sizeof place);
        (void) snprintf(length, sizeof length, "%llu", (unsigned long long) u->m.bytes);
        buf_printf(&shown, "%s with %s%s%s%s\n  for: %s\n  bytes: %s, %s", u->m.decrypt ? "decrypt" : "sign",
                   place, u->m.comment[0] ? " (" : "", u->m.comment, u->m.comment[0] ? ")" : "", u->m.what,
                   length, u->m.digest);
        const struct desk_asked a = { DESK_KEY, u->number, u->door };
        const struct gate_envelope e = { .field = { [GATE_BODY] = u->m.digest,
                                                    [GATE_KIND] = effect_kind_name(kind_of(&u->m)),
                                                    [GATE_LENGTH] = length,
                                                    [GATE_PLACE] = place,
                                                    [GATE_REACH] = "self" } };
        if (desk_hold(b, &a, &e, &shown) < 0)
                refuse_use(b, u, REASON_GATE_FULL);
}

static struct key_use *use_of(struct keys *k, uint32_t number)
{
        for (unsigned i = 0; k && number && i < PENDING_MAX; i++)
                if (k->uses[i].number == number)
                        return &k->uses[i];
        return NULL;
}

void keys_answered(struct box *b, uint32_t number, bool yes, enum effect_reason why)
{
        struct key_use *u = use_of(b->keys, number);
        if (!u || u->left)
                return;
        if (yes)
                let_go(b, u);
        else
                refuse_use(b, u, why);
}

/* The door that names the key, by its fingerprint or its comment. */
static struct decision decide_use(const struct box *b, const struct signer_message *m)
{
        char target[SIGNER_KEY_TEXT + 8];
        struct effect f = { .kind = kind_of(m), .target = target };
        target_of(m, m->key, target, sizeof target);
        struct decision d = policy_decide(b->c.policy, &f);
        if (d.answer == ANSWER_ALLOW || !m->comment[0])
                return d;
        target_of(m, m->comment, target, sizeof target);
        return policy_decide(b->c.policy, &f);
}

static enum effect_reason count_use(struct box *b, const struct door *d)
{
        struct keys *k = b->keys;
        size_t n;
        uint32_t *count = &k->count[d - policy_doors(b->c.policy, &n)];
        if (d->until && clock_wall_s() >= d->until)
                return REASON_EXPIRED;
        if (d->max && *count >= d->max)
                return REASON_CAP;
        if (k->used >= policy_limits(b->c.policy)->value[LIMIT_EFFECTS]) {
                b->run.r.limits_hit |= 1u << LIMIT_EFFECTS;
                return REASON_LIMIT_EFFECTS;
        }
        k->used++;
        ++*count;
        return REASON_NONE;
}

static void use_asked(struct box *b, const struct signer_message *m)
{
        struct keys *k = b->keys;
        struct key_use *u = k->uses;
        while (u < k->uses + PENDING_MAX && u->number)
                u++;
        if (u == k->uses + PENDING_MAX || use_of(k, m->number))
                return; /* more than the signer has clients: it is not answered */

        struct decision d = decide_use(b, m);
        *u = (struct key_use){ .number = m->number, .door = d.door, .m = *m };
        enum effect_reason why = d.answer != ANSWER_ALLOW ? d.reason : count_use(b, d.door);
        if (why)
                refuse_use(b, u, why);
        else if (policy_asks(&d))
                ask_person(b, u);
        else
                let_go(b, u);
}

static void use_ended(struct box *b, const struct signer_message *m)
{
        AUTO_BUF(target);
        AUTO_BUF(door);
        struct key_use *u = use_of(b->keys, m->number);
        if (!u || !u->left)
                return;
        if (b->run.record && b->run.record->ledger) {
                struct ledger_record r = record_use(b, u, LEDGER_OUTCOME, &target, &door);
                r.result = m->done ? "done" : "the agent did not do it";
                if (u->id[0])
                        r.parents[r.parent_count++] = u->id;
                record_add(&b->run, &r, NULL);
        }
        u->number = 0;
}

/* ---- the signer's words ---- */

static void note_missing(struct box *b, const struct signer_message *m)
{
        struct keys *k = b->keys;
        (void) err_set(&k->error, ERR_DOOR, 0, "%s has no key %s", agents[m->agent].program, m->key);
        (void) err_hint(&k->error, "%s",
                        m->agent == SIGNER_SSH
                                ? "`ssh-add -l` lists its keys: name one by its comment or its SHA256:..."
                                : "`gpg -K --with-keygrip` lists them");
}

static void note_several(struct box *b, const struct signer_message *m)
{
        struct err *e = &b->keys->error;
        (void) err_set(e, ERR_DOOR, 0, "more than one key of %s has the comment %.100s: %s",
                       agents[m->agent].program, m->key, m->what);
        (void) err_hint(e, "name one of them: `sign ssh:%.*s`", (int) strcspn(m->what, " "), m->what);
}

/* Its messages contain bytes of the box: text is ended and made inert. */
static void make_inert(struct signer_message *m)
{
        struct signer_message from = *m;
        m->agent = m->agent < SIGNER_AGENT__COUNT ? m->agent : SIGNER_SSH;
        (void) str_inert(span_of(from.key, strnlen(from.key, sizeof from.key)), m->key, sizeof m->key);
        (void) str_inert(span_of(from.comment, strnlen(from.comment, sizeof from.comment)), m->comment,
                         sizeof m->comment);
        (void) str_inert(span_of(from.what, strnlen(from.what, sizeof from.what)), m->what, sizeof m->what);
        m->digest[sizeof m->digest - 1] = '\0';
}

void keys_hear(struct box *b)
{
        struct keys *k = b->keys;
        struct signer_message m;
        int r = wire_take(k->control, &signer_message_form, &m, NULL);
        if (r < 0 && errno == EINTR)
                return;
        if (r != 1) {
                fd_close(&k->control);
                return;
        }

        make_inert(&m);
        if (m.word == SIGNER_SAYS_READY)
                k->ready = true;
        else if (m.word == SIGNER_SAYS_MISSING)
                note_missing(b, &m);
        else if (m.word == SIGNER_SAYS_SEVERAL)
                note_several(b, &m);
        else if (m.word == SIGNER_SAYS_ASK)
                use_asked(b, &m);
        else if (m.word == SIGNER_SAYS_RESULT)
                use_ended(b, &m);
        else if (m.word == SIGNER_SAYS_DENIED)
                note_denied(b, &m, m.key[0] ? REASON_NO_DOOR : REASON_AGENT_REQUEST);
}

void keys_catch_up(struct box *b)
{
        enum { CATCH_UP = 1024 }; /* bounded: it is no faster than we are, unless it is no longer ours */
        for (int i = 0; i < CATCH_UP && keys_fd(b) >= 0 && fd_await(keys_fd(b), POLLIN, 0); i++)
                keys_hear(b);
}

/* ---- end ---- */

/* An intent whose outcome did not come stays unknown in the ledger. False: not yet. */
bool keys_finish(struct box *b)
{
        struct keys *k = b->keys;
        if (!k)
                return true;

        for (struct pollfd p = { .fd = k->control, .events = POLLIN };
             k->control >= 0 && k->ready && poll(&p, 1, 0) == 1; p.fd = k->control)
                keys_hear(b); /* what it said before the box ended */

        fd_close(&k->control);
        child_kill(&k->process);
        if (!child_reap(&k->process, NULL)) {
                keeper_wait_child(b, &k->process);
                return false;
        }

        free(k->count);
        free(k);
        b->keys = NULL;
        return true;
}
