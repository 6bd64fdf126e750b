/* SPDX-License-Identifier: MIT */
/* policy/lint/lint.h - shared by the lint files. Codes are stable: a retired one is never used again. */
#pragma once
#include "policy/internal.h"

struct lint_row {
        char level; /* 'E' stops the load, 'W' warns */
        const char *code;
        const char *title; /* its subject, for readers of this table */
        void (*look)(struct lint_view *v, const struct lint_row *row);
};

/* for (each own live door of a kind): stock doors are judged when stock.c changes, not in every policy. */
const struct door *lint_next(const struct lint_view *v, enum door_kind kind, const struct door *after);
/* If memory for a note runs out, the check fails: no note may be missing or cut. */
void lint_whole(struct lint_view *v, const struct buf *b);
bool lint_full(const struct lint_view *v); /* no more warnings are taken */
bool lint_listed(const char *const *list, size_t count, const char *s);

/* lint_net.c */
void lint_wildcard(struct lint_view *v, const struct lint_row *row);
void lint_metadata(struct lint_view *v, const struct lint_row *row);
void lint_local_address(struct lint_view *v, const struct lint_row *row);
void lint_localhost(struct lint_view *v, const struct lint_row *row);
void lint_no_destination(struct lint_view *v, const struct lint_row *row);
void lint_blind_credential(struct lint_view *v, const struct lint_row *row);
void lint_clear_credential(struct lint_view *v, const struct lint_row *row);
void lint_uncapped(struct lint_view *v, const struct lint_row *row);
void lint_unasked(struct lint_view *v, const struct lint_row *row);
void lint_vague_gate(struct lint_view *v, const struct lint_row *row);
void lint_unbounded(struct lint_view *v, const struct lint_row *row);
void lint_wild_credential(struct lint_view *v, const struct lint_row *row);
void lint_two_credentials(struct lint_view *v, const struct lint_row *row);
void lint_plain_http(struct lint_view *v, const struct lint_row *row);
void lint_foreign_host(struct lint_view *v, const struct lint_row *row);

/* lint_flow.c */
void lint_unattended(struct lint_view *v, const struct lint_row *row);
void lint_asks_private(struct lint_view *v, const struct lint_row *row);
void lint_never_open(struct lint_view *v, const struct lint_row *row);

/* lint_files.c */
void lint_runs_later(struct lint_view *v, const struct lint_row *row);
void lint_write_root(struct lint_view *v, const struct lint_row *row);
void lint_write_and_run(struct lint_view *v, const struct lint_row *row);
void lint_kernel_files(struct lint_view *v, const struct lint_row *row);
void lint_secret_store(struct lint_view *v, const struct lint_row *row);
void lint_write_option(struct lint_view *v, const struct lint_row *row);
void lint_too_much(struct lint_view *v, const struct lint_row *row);
void lint_hides_private(struct lint_view *v, const struct lint_row *row);
void lint_hides_etc(struct lint_view *v, const struct lint_row *row);
void lint_leads_out(struct lint_view *v, const struct lint_row *row);
void lint_others_files(struct lint_view *v, const struct lint_row *row);
void lint_own_rules(struct lint_view *v, const struct lint_row *row);
void lint_edit_and_write(struct lint_view *v, const struct lint_row *row);
void lint_foreign_path(struct lint_view *v, const struct lint_row *row);
void lint_socket(struct lint_view *v, const struct lint_row *row);
bool lint_is_private(const struct lint_view *v, const struct door *d);
