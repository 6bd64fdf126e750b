/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/toucher.h - places that are shut until the box first touches them.
 *
 * Each is covered when the box starts. What leads behind a cover waits while the keeper raises the label of
 * the run, and goes on when the keeper says so: then the cover is taken off.
 *
 * A cover is a file system of its own (FUSE): a lookup in it waits for an answer, which is ESTALE once the
 * cover is gone, and then the kernel itself walks the path once more. Nothing else of the box asks, and no
 * path is read from its memory. Only an open with O_PATH asks no file system: it is shown to init.
 *
 * Without /dev/fuse a cover is an empty file or directory, and every call that looks up a path stops at init.
 * What init reads of the call only decides when to ask. A task that exchanges the path meanwhile finds the
 * cover.
 *
 * init cannot unmount. A process of its own can, cordon-touch, which answers for the covers as well. */
#pragma once
#include "wall/internal.h"

/* The stage that opens a device for each cover, if there is one. */
int touch_devices(struct wall_init *w, struct err *e);
/* The stage after Landlock, whose rules are about the files below the covers. */
int touch_cover(struct wall_init *w, struct err *e);
/* Starts the process that takes covers off, while init has the power. Returns 0, or -1. */
int toucher_begin(struct wall_init *w);
/* Takes a call over that leads to a shut place; it is answered later. False: it does not. */
bool touch_take(struct wall_init *w, const struct seccomp_notif *n);
/* Was it shown for this alone, and is not for reports? */
bool touch_only(const struct wall_init *w, const struct seccomp_notif *n);
/* A word of that process has come. */
void touch_hear(struct wall_init *w);
/* The keeper's word: the cover is to be taken off; then the calls that wait for it go on. */
void touch_open(struct wall_init *w, unsigned which);

/* ---- between init and cordon-touch, both ways ---- */
enum touch_what {
        TOUCH_ASK = 1, /* to init: something waits behind this cover */
        TOUCH_NOT_NOW, /* from it: the keeper does not listen; EAGAIN */
        TOUCH_OPEN,    /* from it: take it off; to it: it is off */
        TOUCH_FAILED   /* to it: it cannot be taken off */
};
struct touch_word {
        uint8_t what, which;
};

/* touch_serve.c: that process. */
_Noreturn void touch_serve(struct wall_init *w, int line);
