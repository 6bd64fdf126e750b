/* SPDX-License-Identifier: MIT */
/* run/api/api_schemas.c - the JSON Schemas that doors name, read and compiled once: what is wrong with one is
 * reported before a box starts. */
#include "base/fd.h"
#include "output/output.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

static int cannot_read(const struct door *d, struct err *e)
{
        int why = e->sys;
        bool missing = why == ENOENT;
        (void) err_set(e, ERR_DOOR, why, "the schema of `%s`, %s, cannot be read: %s",
                       d->name ? d->name : d->net.host, d->value, strerror(why));
        return missing ? err_hint(e,
                                  "write there what it may say, as a JSON Schema: {\"type\":\"boolean\"} is "
                                  "one")
                       : -1;
}

int api_schema_read(const char *path, struct span *ret, struct err *e)
{
        AUTO_FD(fd, fd_open_named(AT_FDCWD, path, O_RDONLY));
        char *text = malloc(SCHEMA_MAX_BYTES + 1);
        ssize_t n = fd < 0 || !text ? -1 : fd_read_all(fd, text, SCHEMA_MAX_BYTES + 1);
        *ret = span_of(text, n < 0 ? 0 : (size_t) n);
        if (n < 0) {
                int r = err_set(e, ERR_USAGE, errno, "%s: %s", path, strerror(errno));
                free(text);
                return r;
        }

        struct schema *s = schema_new(path, *ret, NULL, 0, SCHEMA_FORMATS, e);
        schema_free(s);
        if (!s)
                free(text);
        return s ? 0 : -1;
}

void api_schemas_drop(cordon_policy *p)
{
        for (unsigned i = 0; i < p->schema_count; i++)
                free((void *) (uintptr_t) p->schemas[i].text.p);
        p->schema_count = 0;
}

int api_schemas(cordon_policy *p, struct err *e)
{
        api_schemas_drop(p);
        for (const struct door *d = NULL; (d = policy_door_next(p->checked, d));) {
                bool typed = d->kind == DOOR_IN || d->kind == DOOR_OUT || d->kind == DOOR_NET;
                if (!typed || !d->value)
                        continue;
                struct box_schema *x = &p->schemas[p->schema_count];
                x->path = d->value;
                if (api_schema_read(d->value, &x->text, e) < 0)
                        return e->code == ERR_USAGE && e->sys ? cannot_read(d, e) : -1;
                p->schema_count++;
        }
        return 0;
}
