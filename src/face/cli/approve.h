/* SPDX-License-Identifier: MIT */
/* face/cli/approve.h - the terminal's approver: a client of the protocol in docs/approve-protocol.md. */
#pragma once
#include "base/buf.h"
#include "base/json.h"
#include "face/cli/cli.h"

enum { APPROVE_ITEMS_MAX = 256 };

struct approve_item { /* one effect that waits; texts are copies */
        char run[64];
        unsigned uid;
        char id[65], template[65];
        char *effect, *door, *group;
        bool high;
        long long expires_s;
};
struct approve_list {
        struct approve_item v[APPROVE_ITEMS_MAX];
        size_t n;
        struct buf json; /* the items, separated by commas */
        char step[24];   /* the ladder's, of this user */
        bool over_budget;
};
/* approve_line.c */
void approve_list_read(struct approve_list *ret, cordon_error *e);
void approve_list_done(struct approve_list *l);
/* Sends one request to one box; NULL: no answer. The caller frees it. */
struct json_doc *approve_ask(const struct approve_item *it, const struct buf *request);

/* approve_view.c: asks on the terminal about these; returns the exit status. */
struct approve_words {
        const char *reason, *uses, *time; /* of a yes; or NULL */
};
int approve_on_terminal(const struct approve_list *l, const struct approve_words *w);
/* Denies it, without a question. */
int approve_deny(const struct approve_item *it, const char *reason);
/* The lines of a policy that would make the question needless: to review, never applied. */
void approve_always(const struct approve_item *it);
