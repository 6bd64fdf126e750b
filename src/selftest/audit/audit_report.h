/* SPDX-License-Identifier: MIT */
/* selftest/audit/audit_report.h - what an audit found, to be printed and recorded. */
#pragma once
#include "selftest/audit/audit.h"

struct audit_report {
        const struct audit_evidence *e;
        const struct audit_item *items;
        size_t n;
        const struct audit_score *s;
        const char *tools; /* the boxes that ran, as text or JSON; NULL: not known */
};
void audit_report_text(const struct audit_report *r, bool all, struct buf *o);
void audit_report_json(const struct audit_report *r, struct buf *o);
/* Returns 0 or -1. */
int audit_report_record(const struct audit_report *r, cordon_error *e);
