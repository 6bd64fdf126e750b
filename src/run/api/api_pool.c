/* SPDX-License-Identifier: MIT */
/* run/api/api_pool.c - cordon_pool_*: the resident as a handle, and questions to it. */
#include "base/clock.h"
#include "base/fd.h"
#include "run/api/internal.h"
#include "run/pool/pool.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

int cordon_box_pool(cordon_box *b, unsigned size, cordon_error *pe)
{
        struct err *e = to_err(pe);
        uint8_t key[POOL_KEY];
        b->plans_pool = true;
        if (!b->argv && api_any_command(b, pe) < 0)
                return -1;

        if (size == 0 || size > 1000)
                return err_set(e, ERR_USAGE, 0, "the size of a pool is a number from 1 to 1000");

        AUTO_FD(fd, pool_connect(b->policy->cx, e));
        if (fd < 0 || api_begin(b, API_BEGIN_SHELF, e) < 0)
                return -1;

        if (api_park_key(b, b->plan, key) < 0)
                return err_set(e, ERR_MEMORY, 0, "no memory for the key of a parked box");

        return api_park_send(b, fd, b->plan, size, key, e);
}

/* "0 of 4 ...": none yet. */
static bool is_pending(const char *text) { return text[0] == '0'; }

char *cordon_box_pool_state(cordon_box *b, unsigned wait_ms, cordon_error *pe)
{
        enum { STEP_MS = 10 };
        struct err *e = to_err(pe);
        struct pool_message m = { .word = POOL_STATE };
        const uint64_t until = clock_mono_ns() + (uint64_t) wait_ms * 1000000u;
        AUTO_FD(fd, pool_connect(b->policy->cx, e));
        if (fd < 0)
                return NULL;

        if (!b->plan || api_park_key(b, b->plan, m.key) < 0) {
                (void) err_set(e, ERR_USAGE, 0, "no boxes were asked for: cordon_box_pool() comes first");
                return NULL;
        }

        char *text = pool_ask(fd, &m, NULL, e);
        while (text && is_pending(text) && clock_mono_ns() < until) {
                free(text);
                (void) poll(NULL, 0, STEP_MS);
                text = pool_ask(fd, &m, NULL, e);
        }

        if (!text && e->code == ERR_USAGE) {
                (void) err_in(e, "parking a box failed");
                (void) err_hint(
                        e,
                        "it is tried again; `cordon serve pool ls` lists it, `cordon serve pool rm` ends it");
        }

        return text;
}

char *cordon_pool_ask(const cordon_context *cx, cordon_pool_question question, const char *text, int json,
                      cordon_error *pe)
{
        static const enum pool_word words[] = { [CORDON_POOL_LIST] = POOL_LIST,
                                                [CORDON_POOL_STATS] = POOL_STATS,
                                                [CORDON_POOL_REMOVE] = POOL_REMOVE };
        AUTO_FD(fd, pool_connect(cx, to_err(pe)));
        struct pool_message m = { .word = words[question],
                                  .arg = json != 0,
                                  .bytes = (uint32_t) (text ? strnlen(text, 2 * POOL_KEY) : 0) };
        return fd < 0 ? NULL : pool_ask(fd, &m, text, to_err(pe));
}

/* ---- being one ---- */

struct cordon_pool {
        struct pool *pool;
        int lock;
};

cordon_pool *cordon_pool_new(const cordon_context *cx, const cordon_pool_options *o, cordon_error *pe)
{
        const struct pool_settings s = { .boxes = o->boxes ? o->boxes : 32,
                                         .memory = o->memory,
                                         .idle_s = o->idle_s,
                                         .automatic = o->automatic,
                                         .per_plan = 2 };
        cordon_pool *p = calloc(1, sizeof *p);
        pid_t listened = pool_maker(o->listener);
        int fd = p ? pool_listen(cx, o->listener, &p->lock, to_err(pe)) : -1;
        if (p && fd >= 0)
                p->pool = pool_new(cx, &s, fd, listened);

        if (p && p->pool)
                return p;

        if (!p || fd >= 0)
                (void) err_set(to_err(pe), ERR_MEMORY, 0, "no memory for the pool");

        free(p);
        return NULL;
}

int cordon_pool_fd(const cordon_pool *p) { return pool_fd(p->pool); }
int cordon_pool_next_ms(cordon_pool *p) { return pool_next_ms(p->pool); }
void cordon_pool_step(cordon_pool *p) { pool_step(p->pool); }
int cordon_pool_close(cordon_pool *p) { return pool_close(p->pool); }

void cordon_pool_free(cordon_pool *p)
{
        if (!p)
                return;

        pool_free(p->pool);
        fd_close(&p->lock);
        free(p);
}
