/* SPDX-License-Identifier: MIT */
/* run/api/forms.h - files of the box's home that hold placeholders. */
#pragma once
#include "run/api/internal.h"

/* NULL with e: no memory. The count may be 0. */
struct plan_file *api_forms(const struct cordon_box *b, size_t *ret_count, struct err *e);
void api_forms_free(struct plan_file *v, size_t count);
