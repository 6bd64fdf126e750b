/* SPDX-License-Identifier: MIT */
/* policy/lint/lint.h - shared by the lint files. Codes are stable: a retired one is never used again. */
#pragma once
#include "policy/internal.h"

struct lint_row {
        char level; /* 'E' stops the load, 'W' warns */
        const char *code;
        unsigned kinds;                                          /* own doors of these kinds are looked at */
        bool (*fits)(struct lint_view *v, const struct door *d); /* is a note due? May set v->what */
        const char *text; /* of the note; lint_doors() has its {words} */
        void (*look)(struct lint_view *v, const struct lint_row *row); /* instead of all that */
};

/* Looks at the doors of a row. In its text {path}, {name}, {host}, {dest} and {credential} are the door's, {}
 * is v->what. */
void lint_doors(struct lint_view *v, const struct lint_row *row);
/* for (each own live door of a kind): stock doors are judged when stock.c changes, not in every policy. */
const struct door *lint_next(const struct lint_view *v, enum door_kind kind, const struct door *after);
/* If memory for a note runs out, the check fails: no note may be missing or cut. */
void lint_whole(struct lint_view *v, const struct buf *b);
bool lint_full(const struct lint_view *v); /* no more warnings are taken */
bool lint_ends_with(const char *s, const char *tail);

typedef void lint_look(struct lint_view *v, const struct lint_row *row);
typedef bool lint_fits(struct lint_view *v, const struct door *d);
/* lint_net.c */
lint_look lint_localhost, lint_blind_credential, lint_two_credentials;
lint_fits lint_wildcard, lint_metadata, lint_local_address, lint_no_destination, lint_clear_credential,
        lint_uncapped, lint_unasked, lint_vague_gate, lint_unbounded, lint_wild_credential, lint_plain_http,
        lint_foreign_host;
/* lint_flow.c */
lint_look lint_unattended, lint_asks_private, lint_never_open;
/* lint_files.c */
lint_look lint_write_and_run;
lint_fits lint_runs_later, lint_write_root, lint_own_device, lint_kernel_files, lint_secret_store,
        lint_write_option, lint_too_much, lint_hides_private, lint_hides_etc, lint_leads_out,
        lint_others_files, lint_own_rules, lint_edit_and_write, lint_foreign_path, lint_socket,
        lint_sockets_in;
bool lint_is_private(const struct lint_view *v, const struct door *d);
