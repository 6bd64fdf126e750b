/* SPDX-License-Identifier: MIT */
/* base/context/context.c - looks up variables in the environment passed by a face. */
#include "base/context/context.h"

#include <stddef.h>
#include <string.h>

const char *context_get(const struct cordon_context *cx, const char *name)
{
        size_t n = strlen(name);
        for (char *const *v = cx ? cx->environment : NULL; v && *v; v++)
                if (**v == *name && strncmp(*v, name, n) == 0 && (*v)[n] == '=')
                        return *v + n + 1;

        return NULL;
}

const char *context_path(const struct cordon_context *cx, const char *name)
{
        const char *v = context_get(cx, name);
        return v && v[0] == '/' ? v : NULL;
}
