/* SPDX-License-Identifier: MIT */
/* run/pool/resident.c - the resident's loop: clients, parked boxes, and processes of boxes that were given
 * away. One thread; nothing here waits. A box is parked again when all clients have their answers. */
#include "run/pool/resident.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/store/store.h"
#include "base/str.h"
#include "base/vec.h"
#include "ledger/ledger.h"
#include "run/pool/demand.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { EVENTS = 64, SECOND = 1000000000, PEER_S = 5, SEEN_S = 600, REFILL_NS = 5000000, COUNT_S = 60 };
enum source { SOURCE_LISTENER = 1, SOURCE_PEER, SOURCE_SLOT, SOURCE_CHILD };

/* ---- what wakes it ---- */

static int watch_fd(const struct pool *p, int fd, enum source source, unsigned index)
{
        struct epoll_event ev = { .events = EPOLLIN, .data.u64 = (uint64_t) source << 32 | index };
        return epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &ev);
}

/* ---- boxes ---- */

static void drop_slot(struct slot *s)
{
        box_free(s->box);
        fd_close(&s->epoll);
        s->box = NULL;
}

/* It is over before it had a run: the next one has more time. */
static void slot_failed(struct pool *p, struct slot *s)
{
        struct shelf *h = &p->shelves[s->shelf];
        const struct err *e = &box_result(s->box)->error;
        unsigned wait = h->failures < 6 ? 1u << h->failures : 64;
        (void) snprintf(h->error, sizeof h->error, "%.190s", e->what[0] ? e->what : "it was killed");
        h->failures++;
        h->next_try_ns = clock_mono_ns() + (uint64_t) wait * SECOND;
        drop_slot(s);
}

static void step_slot(struct pool *p, struct slot *s)
{
        if (!s->box)
                return;

        if (box_wait(s->box, 0) == 1) {
                slot_failed(p, s);
                return;
        }

        if (s->ready || !box_is_parked(s->box))
                return;

        struct shelf *h = &p->shelves[s->shelf];
        s->ready = true;
        h->failures = 0;
        h->error[0] = '\0';
        h->parked++;
        h->parked_ns += clock_mono_ns() - s->began_ns;
        h->was_full |= pool_boxes(p, s->shelf, true) >= h->want;
}

static struct slot *free_slot(const struct pool *p)
{
        for (unsigned i = 0; i < p->s.boxes; i++)
                if (!p->slots[i].box)
                        return &p->slots[i];
        return NULL;
}

static void park_one(struct pool *p, unsigned shelf, struct slot *s)
{
        struct shelf *h = &p->shelves[shelf];
        *s = (struct slot){ .box = shelf_park(h, p->cx),
                            .epoll = epoll_create1(EPOLL_CLOEXEC),
                            .shelf = shelf,
                            .began_ns = clock_mono_ns() };
        if (s->box && s->epoll >= 0) {
                box_watch(s->box, s->epoll);
                if (watch_fd(p, s->epoll, SOURCE_SLOT, (unsigned) (s - p->slots)) == 0) {
                        step_slot(p, s);
                        return;
                }
        }

        h->failures++;
        h->next_try_ns = clock_mono_ns() + SECOND;
        drop_slot(s);
}

/* ---- shelves ---- */

static void clear_shelf(struct pool *p, struct shelf *h)
{
        for (unsigned i = 0; i < p->s.boxes; i++)
                if (p->slots[i].box && &p->shelves[p->slots[i].shelf] == h)
                        box_kill(p->slots[i].box);

        for (unsigned i = 0; i < p->s.boxes; i++)
                if (p->slots[i].box && &p->shelves[p->slots[i].shelf] == h)
                        drop_slot(&p->slots[i]);

        shelf_clear(h);
}

static bool is_of(const struct shelf *h, const char *tenant)
{
        return h->is && h->automatic && (!tenant || strcmp(h->recipe.tenant, tenant) == 0);
}

/* The automatic one, of this tenant or of any (NULL), that was not used for longest; never `keep`. */
static struct shelf *oldest_shelf(struct pool *p, const char *tenant, const struct shelf *keep)
{
        struct shelf *found = NULL;
        for (unsigned i = 0; i < SHELVES_MAX; i++) {
                struct shelf *h = &p->shelves[i];
                if (h != keep && is_of(h, tenant) && (!found || h->used_ns < found->used_ns))
                        found = h;
        }

        return found;
}

static struct shelf *room_for_shelf(struct pool *p)
{
        for (unsigned i = 0; i < SHELVES_MAX; i++)
                if (!p->shelves[i].is)
                        return &p->shelves[i];

        struct shelf *old = oldest_shelf(p, NULL, NULL);
        if (old)
                clear_shelf(p, old);
        return old;
}

static unsigned wanted_in_all(const struct pool *p)
{
        unsigned n = 0;
        for (unsigned i = 0; i < SHELVES_MAX; i++)
                n += p->shelves[i].is ? p->shelves[i].want : 0;
        return n;
}

/* The budget: `memory` by the limit of each box would allow almost none, so it is what they use. A parked box
 * without an interpreter uses about a megabyte. */
static unsigned box_budget(const struct pool *p)
{
        enum { BOX_BYTES = 2 << 20 };
        uint64_t by_memory = p->s.memory / BOX_BYTES;
        return p->s.memory && by_memory < p->s.boxes ? (unsigned) by_memory : p->s.boxes;
}

/* Of the automatic shelf that has grown most. */
static bool take_one_back(struct pool *p)
{
        struct shelf *found = NULL;
        for (unsigned i = 0; i < SHELVES_MAX; i++) {
                struct shelf *h = &p->shelves[i];
                if (is_of(h, NULL) && h->want > (found ? found->want : p->s.per_plan))
                        found = h;
        }

        if (found)
                found->want--;
        return found != NULL;
}

static bool fits_budget(struct pool *p, unsigned more)
{
        while (wanted_in_all(p) + more > box_budget(p)) {
                if (take_one_back(p))
                        continue;
                struct shelf *old = oldest_shelf(p, NULL, NULL);
                if (!old)
                        return false;
                clear_shelf(p, old);
        }

        return true;
}

/* ---- demand ---- */

static unsigned wanted_by(const struct pool *p, const char *tenant)
{
        unsigned n = 0;
        for (unsigned i = 0; i < SHELVES_MAX; i++)
                n += is_of(&p->shelves[i], tenant) ? p->shelves[i].want : 0;
        return n;
}

/* `most` automatic boxes for the shelf's tenant: its older shelves go first. */
static void keep_within(struct pool *p, struct shelf *h, unsigned most)
{
        while (most && h->automatic && wanted_by(p, h->recipe.tenant) > most) {
                struct shelf *old = oldest_shelf(p, h->recipe.tenant, h);
                if (old)
                        clear_shelf(p, old);
                else
                        h->want = most;
        }
}

/* A run found none although there were as many as wanted before. Takes nothing from other shelves. */
static void grow_shelf(struct pool *p, struct shelf *h, unsigned most)
{
        unsigned all = wanted_in_all(p), own = wanted_by(p, h->recipe.tenant);
        unsigned room = all < box_budget(p) ? box_budget(p) - all : 0, left = most > own ? most - own : 0;
        if (!h->automatic || !h->was_full)
                return;

        h->want = demand_more(h->want, most && left < room ? left : room);
        h->was_full = false;
        h->spare = h->want;
        h->counted_ns = clock_mono_ns();
}

static bool has_grown(const struct pool *p, const struct shelf *h)
{
        return is_of(h, NULL) && h->want > p->s.per_plan;
}

static void shrink_shelf(const struct pool *p, struct shelf *h, uint64_t now)
{
        if (!has_grown(p, h) || now - h->counted_ns < COUNT_S * UINT64_C(1000000000))
                return;

        h->want = demand_less(h->want, h->spare, p->s.per_plan);
        h->spare = h->want;
        h->counted_ns = now;
}

/* Asked for again: what failed is tried at once. */
static void ask_again(struct shelf *h, unsigned want)
{
        h->want = want;
        h->automatic = false;
        h->failures = 0;
        h->error[0] = '\0';
        h->next_try_ns = 0;
}

static int add_shelf(struct pool *p, const struct pool_message *m, const char *blocks, struct err *e)
{
        bool automatic = m->arg & POOL_AUTOMATIC;
        unsigned want = automatic ? p->s.per_plan : m->arg;
        struct shelf *h = pool_shelf(p, m->key, POOL_KEY);
        if (automatic && (!p->s.automatic || h))
                return 0; /* was not asked for, or is there */

        if (h && h->want <= want) {
                if (!fits_budget(p, want - h->want))
                        return err_set(e, ERR_USAGE, 0, "cordon serve parks %u boxes at most", p->s.boxes);
                ask_again(h, want);
                return 0;
        }

        if (h) {
                ask_again(h, want);
                return 0;
        }

        if (!fits_budget(p, want) || !(h = room_for_shelf(p)))
                return err_set(e, ERR_USAGE, 0, "cordon serve parks %u boxes at most", p->s.boxes);

        if (shelf_fill(h, m->key, blocks, m->bytes, e) < 0)
                return -1;

        h->want = want;
        h->automatic = automatic;
        h->made_ns = h->used_ns = clock_mono_ns();
        keep_within(p, h, automatic ? m->arg & ~(unsigned) POOL_AUTOMATIC : 0);
        return 0;
}

/* ---- giving ---- */

static void keep_child(struct pool *p, struct child c)
{
        if (c.pid <= 0)
                return;

        if (vec_room((void **) &p->children, p->child_count, &p->child_room, sizeof *p->children) <
            0) { /* it is reaped at our end */
                fd_close(&c.pidfd);
                return;
        }

        p->children[p->child_count++] = c;
        if (c.pidfd >= 0)
                (void) watch_fd(p, c.pidfd, SOURCE_CHILD, 0);
}

static void reap_children(struct pool *p)
{
        for (unsigned i = 0; i < p->child_count;)
                if (child_reap(&p->children[i], NULL))
                        p->children[i] = p->children[--p->child_count];
                else
                        i++;
}

/* Twice within ten minutes. */
static bool is_seen_again(struct pool *p, const uint8_t key[POOL_KEY])
{
        uint64_t now = clock_mono_ns();
        for (unsigned i = 0; i < SEEN_MAX; i++)
                if (p->seen[i].at_ns && memcmp(p->seen[i].key, key, POOL_KEY) == 0) {
                        bool again = now - p->seen[i].at_ns < SEEN_S * UINT64_C(1000000000);
                        p->seen[i].at_ns = now;
                        return again;
                }

        memcpy(p->seen[p->seen_at].key, key, POOL_KEY);
        p->seen[p->seen_at].at_ns = now;
        p->seen_at = (p->seen_at + 1) % SEEN_MAX;
        return false;
}

static struct slot *ready_slot(const struct pool *p, const struct shelf *h)
{
        for (unsigned i = 0; h && i < p->s.boxes; i++)
                if (p->slots[i].box && p->slots[i].ready && &p->shelves[p->slots[i].shelf] == h &&
                    box_is_parked(p->slots[i].box))
                        return &p->slots[i];
        return NULL;
}

/* The run's ledger is ours: its sealer can be started here. */
static bool is_own_ledger(const struct pool *p, const char *path, size_t n)
{
        char own[STORE_PATH_MAX];
        struct err e;
        return n > 0 && store_path(p->cx, own, &e) == 0 && strlen(own) == n && memcmp(own, path, n) == 0;
}

static void wake_sealer(const struct pool *p)
{
        struct err e;
        struct ledger *l = ledger_open(p->cx, "resident", "", &e);
        if (!l)
                return;

        ledger_wake_sealer(l);
        ledger_close(l);
}

static void give_box(struct pool *p, int fd, const struct pool_message *m, const char *ledger)
{
        struct child children[BOX_GIVEN_CHILDREN];
        struct shelf *h = pool_shelf(p, m->key, POOL_KEY);
        struct slot *s = ready_slot(p, h);
        struct pool_message answer = { .magic = POOL_MAGIC,
                                       .word = POOL_GIVEN,
                                       .arg = is_own_ledger(p, ledger, m->bytes) };
        if (s && box_give(s->box, fd, &answer, sizeof answer, children) == 0) {
                s->box = NULL;
                fd_close(&s->epoll);
                for (unsigned i = 0; i < BOX_GIVEN_CHILDREN; i++)
                        keep_child(p, children[i]);
                unsigned left = pool_boxes(p, (unsigned) (h - p->shelves), true);
                h->hits++;
                p->given++;
                h->used_ns = clock_mono_ns();
                h->spare = left < h->spare ? left : h->spare;
                keep_within(p, h, m->arg);
                h->next_try_ns = ready_slot(p, h) ? h->used_ns + REFILL_NS : 0; /* off the run's path */
                return;
        }

        p->missed++;
        if (h) {
                h->misses++;
                keep_within(p, h, m->arg);
                grow_shelf(p, h, m->arg);
        }

        answer.word = !h && p->s.automatic && is_seen_again(p, m->key) ? POOL_WANTED : POOL_NONE;
        answer.arg = !h ? 0 : h->failures ? 2 : 1;
        (void) pool_send(fd, &answer, NULL);
}

/* Hexadecimal text -> whether the key begins so. */
static bool key_begins(const struct shelf *h, const char *text, size_t n)
{
        char hex[2 * POOL_KEY + 1];
        for (unsigned i = 0; i < POOL_KEY; i++)
                (void) snprintf(hex + 2 * i, 3, "%02x", h->key[i]);
        return n < sizeof hex && memcmp(hex, text, n) == 0;
}

static int remove_shelves(struct pool *p, const char *text, size_t n, struct err *e)
{
        unsigned removed = 0;
        for (unsigned i = 0; i < SHELVES_MAX; i++)
                if (p->shelves[i].is && key_begins(&p->shelves[i], text, n)) {
                        clear_shelf(p, &p->shelves[i]);
                        removed++;
                }

        return removed || n == 0 ? 0
                                 : err_set(e, ERR_USAGE, 0, "no boxes are parked under %.*s", (int) n, text);
}

/* For a run that found none: the shelf with the fewest differences, of two the one of the same policy. */
static int nearest_shelf(struct pool *p, char *blocks, size_t n, struct buf *out, struct err *e)
{
        struct pool_recipe r;
        unsigned least = UINT_MAX;
        if (pool_recipe_open(blocks, n, &r, e) < 0)
                return -1;

        for (unsigned i = 0; i < SHELVES_MAX; i++) {
                const struct shelf *h = &p->shelves[i];
                AUTO_BUF(differs);
                bool own = h->is && strcmp(h->recipe.tenant, r.tenant) == 0; /* not what others park */
                unsigned far = own ? 2 * pool_recipe_diff(&h->recipe, &r, &differs) : UINT_MAX;
                if (own && strcmp(h->recipe.name, r.name) == 0)
                        far--;
                if (far >= least)
                        continue;

                least = far;
                out->n = 0;
                buf_printf(out, "%.60s differs in: %s", h->recipe.name, buf_str(&differs));
        }

        return 0;
}

/* ---- clients ---- */

static void answer_text(int fd, enum pool_word word, const char *text)
{
        struct pool_message a = { .word = word, .bytes = (uint32_t) strnlen(text, POOL_MESSAGE_MAX) };
        (void) pool_send(fd, &a, text);
}

static void obey_request(struct pool *p, int fd, const struct pool_message *m, char *payload)
{
        struct err e = { 0 };
        AUTO_BUF(out);
        int r = 0;
        switch (m->word) {
        case POOL_TAKE:
                give_box(p, fd, m, payload);
                return;
        case POOL_SEAL:
                wake_sealer(p);
                return;
        case POOL_ADD:
                r = add_shelf(p, m, payload, &e);
                if (m->arg & POOL_AUTOMATIC)
                        return; /* nobody waits */
                break;
        case POOL_LIST:
                pool_report_list(p, m->arg, &out);
                break;
        case POOL_STATS:
                pool_report_stats(p, m->arg, &out);
                break;
        case POOL_NEAR:
                r = nearest_shelf(p, payload, m->bytes, &out, &e);
                break;
        case POOL_STATE:
                r = pool_report_state(p, m->key, &out, &e);
                break;
        case POOL_REMOVE:
                r = remove_shelves(p, payload, m->bytes, &e);
                break;
        default:
                r = err_set(&e, ERR_USAGE, 0,
                            "cordon serve does not know this request: is it of this version?");
        }

        answer_text(fd, r < 0 ? POOL_REFUSED : POOL_TEXT, r < 0 ? e.what : buf_str(&out));
}

static void drop_peer(struct peer *x) { fd_close(&x->fd); }

static void refuse_client(int fd, const char *confined)
{
        AUTO_BUF(text);
        buf_printf(&text, "this process is confined otherwise than cordon serve: %s", confined);
        answer_text(fd, POOL_REFUSED, buf_str(&text));
}

/* Parked boxes may take every other descriptor: to look at a client some are kept. */
static void hold_spare(struct pool *p)
{
        for (unsigned i = 0; i < SPARE_FDS; i++)
                if (p->spare[i] < 0)
                        p->spare[i] = fcntl(p->epoll, F_DUPFD_CLOEXEC, 3);
}

static void free_spare(struct pool *p)
{
        for (unsigned i = 0; i < SPARE_FDS; i++)
                fd_close(&p->spare[i]);
}

/* False if there is nothing more to read of it now. */
static bool serve_one(struct pool *p, struct peer *x)
{
        struct pool_message *m = (void *) p->packet;
        AUTO_FD(proof, -1);
        ssize_t n = x->fd < 0 ? 0 : pool_receive(x->fd, p->packet, sizeof *m + POOL_MESSAGE_MAX, &proof);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;

        if (n < 0 || !pool_is_whole(p->packet, (size_t) n)) {
                drop_peer(x);
                return false;
        }

        x->until_ns = clock_mono_ns() + PEER_S * UINT64_C(1000000000);
        if (m->word == POOL_HELLO)
                x->refused = pool_greet(x->fd, proof, p->listened);
        else if (x->refused)
                refuse_client(x->fd, x->refused);
        else
                obey_request(p, x->fd, m, p->packet + sizeof *m);

        return m->word == POOL_HELLO;
}

static void serve_peer(struct pool *p, struct peer *x)
{
        if (x->refused)
                free_spare(p);

        while (serve_one(p, x))
                ;
        hold_spare(p);
}

/* One that is full takes the place of the peer that has waited longest. */
static struct peer *room_for_peer(struct pool *p)
{
        struct peer *oldest_peer = &p->peers[0];
        for (unsigned i = 0; i < PEERS_MAX; i++) {
                if (p->peers[i].fd < 0)
                        return &p->peers[i];
                if (p->peers[i].until_ns < oldest_peer->until_ns)
                        oldest_peer = &p->peers[i];
        }

        drop_peer(oldest_peer);
        return oldest_peer;
}

static void accept_peers(struct pool *p)
{
        for (;;) {
                struct ucred who = { .uid = (uid_t) -1 };
                socklen_t n = sizeof who;
                AUTO_FD(fd, accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
                if (fd < 0)
                        return;
                if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 || who.uid != geteuid())
                        continue;
                struct peer *x = room_for_peer(p);
                x->fd = TAKE_FD(fd);
                x->refused = "it does not show that it can inspect cordon serve";
                x->until_ns = clock_mono_ns() + PEER_S * UINT64_C(1000000000);
                if (watch_fd(p, x->fd, SOURCE_PEER, (unsigned) (x - p->peers)) < 0)
                        drop_peer(x);
                else
                        serve_peer(p, x); /* its request is there already, most times */
        }
}

/* ---- time ---- */

static void clear_idle(struct pool *p, uint64_t now)
{
        for (unsigned i = 0; i < SHELVES_MAX; i++) {
                struct shelf *h = &p->shelves[i];
                if (h->is && h->automatic && p->s.idle_s &&
                    now - h->used_ns > p->s.idle_s * UINT64_C(1000000000))
                        clear_shelf(p, h);
                shrink_shelf(p, h, now);
        }

        for (unsigned i = 0; i < PEERS_MAX; i++)
                if (p->peers[i].fd >= 0 && now >= p->peers[i].until_ns)
                        drop_peer(&p->peers[i]);
}

/* One of each shelf that lacks one, and drops those that it has too many. */
static void refill_shelves(struct pool *p, uint64_t now)
{
        for (unsigned i = 0; i < SHELVES_MAX; i++) {
                struct shelf *h = &p->shelves[i];
                unsigned have = h->is ? pool_boxes(p, i, false) : 0;
                struct slot *s = h->is && have < h->want && now >= h->next_try_ns ? free_slot(p) : NULL;
                if (s)
                        park_one(p, i, s);
                for (; h->is && have > h->want; have--) {
                        s = ready_slot(p, h);
                        if (!s)
                                break;
                        drop_slot(s);
                }
        }
}

static uint64_t sooner(uint64_t a, uint64_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

int pool_next_ms(struct pool *p)
{
        uint64_t now = clock_mono_ns(), next = 0;
        for (unsigned i = 0; i < SHELVES_MAX; i++) {
                const struct shelf *h = &p->shelves[i];
                if (h->is && pool_boxes(p, i, false) < h->want && free_slot(p))
                        next = sooner(next, h->next_try_ns > now ? h->next_try_ns : now);
                if (h->is && h->automatic && p->s.idle_s)
                        next = sooner(next, h->used_ns + p->s.idle_s * UINT64_C(1000000000));
                if (has_grown(p, h))
                        next = sooner(next, h->counted_ns + COUNT_S * UINT64_C(1000000000));
        }

        for (unsigned i = 0; i < PEERS_MAX; i++)
                next = p->peers[i].fd >= 0 ? sooner(next, p->peers[i].until_ns) : next;

        for (unsigned i = 0; i < p->s.boxes; i++) {
                int ms = p->slots[i].box ? box_next_ms(p->slots[i].box) : -1;
                next = ms >= 0 ? sooner(next, now + (uint64_t) ms * 1000000u + 1) : next;
        }

        if (next == 0)
                return -1;

        uint64_t ms = next > now ? (next - now) / 1000000u + 1 : 0;
        return ms > 3600000u ? 3600000 : (int) ms;
}

/* ---- the whole ---- */

void pool_step(struct pool *p)
{
        struct epoll_event ev[EVENTS];
        int n = epoll_wait(p->epoll, ev, EVENTS, 0);
        bool ended = false;
        for (int i = 0; i < n; i++) { /* clients first: they wait */
                unsigned index = (unsigned) ev[i].data.u64;
                if (ev[i].data.u64 >> 32 == SOURCE_LISTENER)
                        accept_peers(p);
                if (ev[i].data.u64 >> 32 == SOURCE_PEER)
                        serve_peer(p, &p->peers[index]);
        }

        for (int i = 0; i < n; i++) {
                if (ev[i].data.u64 >> 32 == SOURCE_SLOT)
                        step_slot(p, &p->slots[(unsigned) ev[i].data.u64]);
                ended |= ev[i].data.u64 >> 32 == SOURCE_CHILD;
        }

        for (unsigned i = 0; i < p->s.boxes; i++)
                if (p->slots[i].box && box_next_ms(p->slots[i].box) == 0)
                        step_slot(p, &p->slots[i]);

        if (ended)
                reap_children(p);

        clear_idle(p, clock_mono_ns());
        refill_shelves(p, clock_mono_ns());
}

int pool_fd(const struct pool *p) { return p->epoll; }

struct pool *pool_new(const struct cordon_context *cx, const struct pool_settings *s, int listener,
                      pid_t listened)
{
        struct pool *p = calloc(1, sizeof *p);
        if (!p)
                return NULL;

        *p = (struct pool){ .cx = cx,
                            .s = *s,
                            .listener = listener,
                            .listened = listened,
                            .epoll = epoll_create1(EPOLL_CLOEXEC) };
        for (unsigned i = 0; i < PEERS_MAX; i++)
                p->peers[i].fd = -1;
        for (unsigned i = 0; i < SPARE_FDS; i++)
                p->spare[i] = -1;

        p->slots = calloc(s->boxes, sizeof *p->slots);
        p->packet = malloc(sizeof(struct pool_message) + POOL_MESSAGE_MAX);
        for (unsigned i = 0; p->slots && i < s->boxes; i++)
                p->slots[i].epoll = -1;

        hold_spare(p);

        if (p->slots && p->packet && p->epoll >= 0 && watch_fd(p, listener, SOURCE_LISTENER, 0) == 0)
                return p;

        p->listener = -1;
        pool_free(p);
        return NULL;
}

bool pool_close(struct pool *p)
{
        for (unsigned i = 0; i < SHELVES_MAX; i++)
                if (p->shelves[i].is)
                        clear_shelf(p, &p->shelves[i]);

        for (unsigned i = 0; i < PEERS_MAX; i++)
                drop_peer(&p->peers[i]);

        fd_close(&p->listener);
        reap_children(p);
        return p->child_count == 0;
}

void pool_free(struct pool *p)
{
        if (!p)
                return;

        (void) pool_close(p);
        for (unsigned i = 0; i < p->child_count; i++)
                fd_close(&p->children[i].pidfd);

        free_spare(p);
        fd_close(&p->epoll);
        free(p->children);
        free(p->slots);
        free(p->packet);
        free(p);
}
