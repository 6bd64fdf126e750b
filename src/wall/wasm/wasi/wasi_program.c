/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_program.c - arguments, variables, clocks, random bytes, and the end of the program. */
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <sched.h>
#include <sys/random.h>
#include <time.h>

/* ---- lists of strings ---- */

struct sizes {
        uint32_t count, bytes;
};

static struct sizes measure_list(const char *const *list)
{
        struct sizes s = { 0 };
        for (; list[s.count]; s.count++)
                s.bytes += (uint32_t) strlen(list[s.count]) + 1;
        return s;
}

static enum wasi_errno put_sizes(const struct wasi_call *c, const char *const *list)
{
        struct sizes s = measure_list(list);
        enum wasi_errno r = wasi_store(c, wasi_u32(c, 0), 4, s.count);
        return r ? r : wasi_store(c, wasi_u32(c, 1), 4, s.bytes);
}

static enum wasi_errno put_list(const struct wasi_call *c, const char *const *list)
{
        struct sizes s = measure_list(list);
        uint32_t at = wasi_u32(c, 1);
        uint8_t *pointers = wasi_at(c, wasi_u32(c, 0), (uint64_t) s.count * 4);
        char *text = wasi_at(c, at, s.bytes);
        if (!pointers || !text)
                return WASI_FAULT;

        for (uint32_t i = 0; i < s.count; i++, pointers += 4) {
                size_t n = strlen(list[i]) + 1;
                wasi_put(pointers, 4, at);
                (void) memcpy(text, list[i], n);
                text += n;
                at += (uint32_t) n;
        }

        return WASI_SUCCESS;
}

WASI_CALL(args_get) { return put_list(c, c->w->c.argv); }
WASI_CALL(args_sizes_get) { return put_sizes(c, c->w->c.argv); }
WASI_CALL(environ_get) { return put_list(c, c->w->c.envp); }
WASI_CALL(environ_sizes_get) { return put_sizes(c, c->w->c.envp); }

/* ---- clocks ---- */

static bool clock_of(uint32_t id, clockid_t *ret)
{
        static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
                                            CLOCK_THREAD_CPUTIME_ID };
        if (id >= sizeof clocks / sizeof *clocks)
                return false;

        *ret = clocks[id];
        return true;
}

static enum wasi_errno put_time(const struct wasi_call *c, unsigned arg, const struct timespec *t)
{
        return wasi_store(c, wasi_u32(c, arg), 8, (uint64_t) t->tv_sec * 1000000000 + (uint64_t) t->tv_nsec);
}

WASI_CALL(clock_res_get)
{
        clockid_t id;
        struct timespec t;
        if (!clock_of(wasi_u32(c, 0), &id))
                return WASI_INVAL;

        return clock_getres(id, &t) < 0 ? wasi_errno(errno) : put_time(c, 1, &t);
}

WASI_CALL(clock_time_get)
{
        clockid_t id;
        struct timespec t;
        if (!clock_of(wasi_u32(c, 0), &id))
                return WASI_INVAL;

        return clock_gettime(id, &t) < 0 ? wasi_errno(errno) : put_time(c, 2, &t);
}

/* ---- the rest ---- */

WASI_CALL(random_get)
{
        uint64_t left = wasi_u32(c, 1);
        uint8_t *p = wasi_at(c, wasi_u32(c, 0), left);
        if (!p && left)
                return WASI_FAULT;

        while (left > 0) {
                ssize_t n = getrandom(p, left, 0);
                if (n < 0 && errno != EINTR)
                        return wasi_errno(errno);
                if (n > 0) {
                        p += n;
                        left -= (uint64_t) n;
                }
        }

        return WASI_SUCCESS;
}

static enum wasi_errno end_program(struct wasi_call *c, uint32_t code)
{
        c->w->exit_code = code;
        c->ends = true;
        return WASI_SUCCESS;
}

WASI_CALL(proc_exit) { return end_program(c, wasi_u32(c, 0)); }

/* No signal has a handler: it ends the program, as by a shell's status, or is ignored by default. */
WASI_CALL(proc_raise)
{
        enum { NONE = 0, CHLD = 16, CONT = 17, URG = 22, WINCH = 27, LAST = 30, BY_SIGNAL = 128 };
        uint32_t sig = wasi_u32(c, 0);
        if (sig > LAST)
                return WASI_INVAL;

        bool ignored = sig == NONE || sig == CHLD || sig == CONT || sig == URG || sig == WINCH;
        return ignored ? WASI_SUCCESS : end_program(c, BY_SIGNAL + sig);
}

WASI_CALL(sched_yield)
{
        (void) c;
        return wasi_result(sched_yield());
}
