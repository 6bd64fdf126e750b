/* SPDX-License-Identifier: MIT */
/* base/clock.h - the two clocks. Deciders take the time as a parameter; only doers read it. */
#pragma once
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_mono_ns(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* Milliseconds until then, for poll(): at least the time that is left. */
static inline int clock_left_ms(uint64_t then_ns)
{
        uint64_t now = clock_mono_ns();
        return then_ns <= now ? 0 : (int) ((then_ns - now) / 1000000 + 1);
}

static inline int64_t clock_wall_s(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_REALTIME, &t);
        return t.tv_sec;
}
