/* SPDX-License-Identifier: MIT */
/* output/pipeline.h - all stages over one stream or file: byte cap; UTF-8, or a binary type by its magic;
 * terminal sequences and hidden characters; known secrets and canaries; patterns of secrets, injection and
 * links; form. A stage may reject, replace or note, and none permits anything: what one lets pass, the next
 * one still judges. Pure; cordon-output runs it in a sandbox. */
#pragma once
#include "base/err.h"
#include "output/findings.h"
#include "output/known.h"
#include "output/neutral.h"
#include "policy/policy.h"

struct pipeline_config {
        enum handle_type form;
        uint64_t max;       /* bytes that may come in */
        bool verbatim;      /* what passes leaves unchanged: for data on its way into a box */
        bool keep_links;    /* links are noted, and stay as they are */
        struct span schema; /* JSON Schema for json, and for each line of jsonl; empty: none */
        const char *schema_name;
        const struct known_word *words;
        size_t n_words;
        const char *const *hosts; /* that doors lead to: links there stay */
        size_t n_hosts;
};

struct pipeline_report {
        uint64_t bytes_in, bytes_out, lines;
        uint64_t cut[CUT__COUNT];
        bool truncated; /* more came than `max` */
        struct findings findings;
};

struct pipeline;
struct pipeline *pipeline_new(const struct pipeline_config *c, struct err *e);
void pipeline_free(struct pipeline *p);
/* Passes the next bytes; appends what may leave to `out`. Text leaves by whole lines, other forms at the end.
 * -1: rejected, nothing more may leave. */
int pipeline_feed(struct pipeline *p, struct span in, struct buf *out, struct err *e);
int pipeline_end(struct pipeline *p, struct buf *out, struct err *e);
const struct pipeline_report *pipeline_report(const struct pipeline *p);
/* As members of a JSON object, without braces. */
void pipeline_report_json(const struct pipeline_report *r, struct buf *out);
