/* SPDX-License-Identifier: MIT */
/* run/api/checks_ready.h - a process of cordon-output that waits for the next check of a box. As without it,
 * each check has a process of its own, and one that dies denies what it checks. */
#pragma once
#include "base/buf.h"
#include "policy/policy.h"

struct api_check_what {
        enum handle_type form;
        uint64_t max;
        bool verbatim, links;
};

struct api_checks;
/* Takes the line to a service (output/process.h) that has this form alone. NULL: no memory. */
struct api_checks *api_checks_new(int line, const struct api_check_what *what);
void api_checks_free(struct api_checks *a);
bool api_checks_alive(const struct api_checks *a);
/* Asks for the process of the next check; never waits. */
void api_checks_ask(struct api_checks *a);
/* Hands `in` to the process that waits. False: none does, or it is for other checks, and nothing was handed
 * to it. An empty report: it ended before its verdict. */
bool api_checks_run(struct api_checks *a, const struct api_check_what *what, struct span in,
                    struct buf *passed, struct buf *report);
