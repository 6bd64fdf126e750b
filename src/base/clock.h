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

static inline int64_t clock_wall_s(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_REALTIME, &t);
        return t.tv_sec;
}
