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
        bool missing = errno == ENOENT;
        (void) err_set(e, ERR_DOOR, errno, "the schema of `%s`, %s, cannot be read: %s",
                       d->name ? d->name : d->net.host, d->value, strerror(errno));
        return missing ? err_hint(e,
                                  "write there what it may say, as a JSON Schema: {\"type\":\"boolean\"} is "
                                  "one")
                       : -1;
}

static int read_schema(const struct door *d, struct box_schema *ret, struct err *e)
{
        AUTO_FD(fd, fd_open_named(AT_FDCWD, d->value, O_RDONLY));
        char *text = malloc(SCHEMA_MAX_BYTES + 1);
        ssize_t n = fd < 0 || !text ? -1 : fd_read_all(fd, text, SCHEMA_MAX_BYTES + 1);
        if (n < 0) {
                free(text);
                return cannot_read(d, e);
        }

        struct schema *s = schema_new(d->value, span_of(text, (size_t) n), NULL, 0, SCHEMA_FORMATS, e);
        schema_free(s);
        if (!s) {
                free(text);
                return -1;
        }

        *ret = (struct box_schema){ d->value, span_of(text, (size_t) n) };
        return 0;
}

void api_schemas_drop(cordon_policy *p)
{
        for (unsigned i = 0; i < p->schema_count; i++)
                free((void *) (uintptr_t) p->schemas[i].text.p);
        p->schema_count = 0;
}

int api_schemas(cordon_policy *p, struct err *e)
{
        size_t n;
        const struct door *doors = policy_doors(p->checked, &n);
        api_schemas_drop(p);
        for (size_t i = 0; i < n; i++) {
                bool typed =
                        doors[i].kind == DOOR_IN || doors[i].kind == DOOR_OUT || doors[i].kind == DOOR_NET;
                if (!typed || !doors[i].value)
                        continue;
                if (read_schema(&doors[i], &p->schemas[p->schema_count], e) < 0)
                        return -1;
                p->schema_count++;
        }
        return 0;
}
