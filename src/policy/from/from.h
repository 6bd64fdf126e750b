/* SPDX-License-Identifier: MIT */
/* policy/from/from.h - settings of other tools -> door lines, with notes on what the lines do not say. Pure.
 *
 * Writes become `edit` doors: changes wait for `cordon apply`. Nothing that a file says opens more than it
 * did in its own tool; what was wider there than its wording suggests is noted. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/span.h"

enum { FROM_DOORS_MAX = 512 };

struct from_door {
        const char *word;
        char *path; /* as a line has it: {home}/x, {work}, /x */
        bool optional;
        struct buf except; /* " SUB SUB" */
};

/* One conversion. */
struct from {
        struct from_door doors[FROM_DOORS_MAX]; /* read and edit: those may get exceptions */
        size_t door_count;
        struct buf lines; /* of other words */
        struct buf notes; /* comments */
};

/* ---- what the readers say (from.c) ---- */

/* Opens a read or edit door for a path as the other tool writes it. */
void from_path(struct from *f, const char *word, struct span path, bool optional);
/* Denies a path: an exception of the doors above it. */
void from_deny(struct from *f, struct span path);
/* `word argument`, once. */
void from_line(struct from *f, const char *word, struct span argument);
/* Opens the destinations of a name, HTTPS alone. */
void from_host(struct from *f, struct span name);
/* A setting that the lines do not have. */
void from_lost(struct from *f, struct span what, const char *why);
/* A setting that permitted more than it seems to. */
void from_wide(struct from *f, struct span what, const char *why);

/* ---- one reader each; 0, or -1 with *e set ---- */

void from_srt(struct from *f, const struct json *root);
void from_claude(struct from *f, const struct json *root);
void from_devcontainer(struct from *f, const struct json *root);
int from_codex(struct from *f, const char *file, struct span text, struct err *e);
int from_firejail(struct from *f, struct span text);
int from_bwrap(struct from *f, const char *file, struct span text, struct err *e);

/* ---- for the readers ---- */

/* Takes the next line, without its end and surrounding blanks. */
bool from_next_line(struct span *text, struct span *ret_line);
struct span from_trim(struct span s);
/* Takes the next word, at a blank or another separator. */
struct span from_word(struct span *line, const char *separators);
