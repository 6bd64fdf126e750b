/* SPDX-License-Identifier: MIT */
/* output/stream_check.h - one check of cordon-output, from the first byte to the report. */
#pragma once
#include "base/err.h"
#include "output/pipeline.h"

struct stream_check {
        struct pipeline *p; /* NULL: it could not be made, and only the report is written */
        int in, out, report;
        bool packets; /* `out` and `report` are one socket: each packet has its kind first */
};

/* Reads `in` to its end and hands on what passes. Returns 0, or -1 with *e set; then nothing more may leave.
 * The report is written in any case; `failed` is an error from before. */
int stream_check(struct stream_check *c, const struct err *failed);
