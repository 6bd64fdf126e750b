/* SPDX-License-Identifier: MIT */
/* run/api/api_from.c - a policy from the configuration of another tool. */
#include "base/buf.h"
#include "run/api/internal.h"

#include <stdlib.h>

char *cordon_policy_from(const char *path, cordon_error *e)
{
        AUTO_BUF(out);
        size_t len = 0;
        char *text = api_slurp(path, &len, to_err(e));
        int r = text ? policy_from(path, span_of(text, len), &out, to_err(e)) : -1;
        free(text);
        return r < 0 ? NULL : api_give(&out, to_err(e));
}
