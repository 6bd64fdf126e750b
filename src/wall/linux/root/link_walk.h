/* SPDX-License-Identifier: MIT */
/* wall/linux/root/link_walk.h - resolves a path that the payload named, in the box. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leads {
        LEADS_THERE = 0, /* through no further link */
        LEADS_NOWHERE,   /* round in a circle, or to something that has no path, as a pipe */
        LEADS_TOO_FAR    /* longer than there is room or time for */
};
/* `path` is absolute, `follow`: also the link that it ends in. */
enum leads leads_to(uint32_t task, const char *path, bool follow, char *ret, size_t cap);
/* Does the path lead where its text does: through no symlink, and never up? */
bool leads_straight(const char *path, bool follow);
bool leads_up(const char *path); /* has it a `..`: as text it may lead elsewhere */
bool leads_by_kernel(
        const char *path); /* through a magic link that differs for each task, as /proc/self/fd/1 */
