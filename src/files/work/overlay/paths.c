/* SPDX-License-Identifier: MIT */
/* files/work/overlay/paths.c - paths in a tree: their order, their form in git's output; and the overlay
 * directory of a door. */
#include "files/work/internal.h"

#include <fcntl.h>
#include <stdio.h>

/* A directory sorts directly before its entries. */
int path_order(const char *a, const char *b)
{
        while (*a && *a == *b) {
                a++;
                b++;
        }

        int x = *a == '/' ? 1 : (unsigned char) *a + (*a ? 1 : 0),
            y = *b == '/' ? 1 : (unsigned char) *b + (*b ? 1 : 0);
        return x - y;
}

void put_git_path(struct buf *out, const char *prefix, const char *path)
{
        bool plain = true;
        for (const char *p = path; *p; p++)
                plain &= (unsigned char) *p >= ' ' && (unsigned char) *p < 0x7f && *p != '"' && *p != '\\';

        if (plain) {
                buf_printf(out, "%s%s", prefix, path);
                return;
        }

        buf_printf(out, "\"%s", prefix);
        for (const char *p = path; *p; p++)
                if (*p == '"' || *p == '\\')
                        buf_printf(out, "\\%c", *p);
                else if ((unsigned char) *p < ' ' || (unsigned char) *p >= 0x7f)
                        buf_printf(out, "\\%03o", (unsigned char) *p);
                else
                        buf_putc(out, *p);

        buf_putc(out, '"');
}

int layer_door_dir(const struct layer *l, size_t door)
{
        char name[32];
        (void) snprintf(name, sizeof name, "door-%zu", door);
        return openat(l->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}
