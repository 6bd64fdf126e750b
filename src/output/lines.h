/* SPDX-License-Identifier: MIT */
/* output/lines.h - stages that work on whole lines of inert text. Each replaces what must not pass and notes
 * it. Pure. */
#pragma once
#include "output/findings.h"

/* patterns.c: things of the form of a secret. */
struct patterns;
struct patterns *patterns_new(void); /* NULL: out of memory */
void patterns_free(struct patterns *p);
/* Appends the line to `out`, secrets replaced by <secret:NAME>. A private key spans lines: the state is kept.
 */
void patterns_line(struct patterns *p, struct span line, uint64_t number, struct buf *out,
                   struct findings *f);

/* injection.c: text that addresses a model instead of a reader. Advisory: changes nothing. */
struct injection;
struct injection *injection_new(void);
void injection_free(struct injection *i);
void injection_line(const struct injection *i, struct span line, uint64_t number, struct findings *f);

/* links.c: a link whose host no door names becomes text: https[:]//host/. `hosts`: names, "*.name" for all
 * below it. */
void links_line(const char *const *hosts, size_t n_hosts, struct span line, uint64_t number, struct buf *out,
                struct findings *f);

/* formulas.c: a cell of CSV that begins a formula gets a ' in front. -1: the line ends inside quotes, or has
 * another number of cells than *columns (0: not known yet). */
int formulas_record(struct span record, unsigned *columns, uint64_t number, struct buf *out,
                    struct findings *f);
/* The length of the first record with its line end; 0: it is not complete. */
size_t formulas_length(struct span text, bool end);
