/* SPDX-License-Identifier: MIT */
/* files/image/unpack/accounts.c - the ids of an image's user, by its own /etc/passwd and /etc/group. */
#include "base/fd.h"
#include "files/image/unpack/image_unpack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 65536 };

/* 0 ... 2^31: never the id that means "none", and no sign, blank or other base. */
static bool id_of(const char *text, uint32_t *ret)
{
        uint64_t v = 0;
        size_t n = strspn(text, "0123456789");
        if (n == 0 || n > 10 || text[n])
                return false;

        for (size_t i = 0; i < n; i++)
                v = v * 10 + (uint64_t) (text[i] - '0');

        *ret = (uint32_t) v;
        return v < UINT32_C(1) << 31;
}

/* name:x:ID:ID2:... The line of a name, or of an id. */
static bool find_line(char *text, const char *name, uint32_t *ret_id, uint32_t *ret_second)
{
        for (char *line = text, *next; line && *line; line = next) {
                char *field[4] = { line, NULL, NULL, NULL };
                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                for (int i = 1; i < 4 && field[i - 1]; i++) {
                        field[i] = strchr(field[i - 1], ':');
                        if (field[i])
                                *field[i]++ = '\0';
                }
                if (!field[2] || (strcmp(field[0], name) != 0 && strcmp(field[2], name) != 0))
                        continue;
                if (field[3])
                        field[3][strcspn(field[3], ":")] = '\0';
                if (!id_of(field[2], ret_id))
                        return false;
                return !ret_second || (field[3] && id_of(field[3], ret_second));
        }

        return false;
}

static bool look_up(int root, const char *file, const char *name, uint32_t *ret_id, uint32_t *ret_second)
{
        static char text[FILE_MAX + 1];
        struct tree t;
        struct err none;
        tree_begin(&t, root);
        int dir = tree_open(&t, "etc", false, &none);
        AUTO_FD(fd, dir < 0 ? -1 : openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        tree_forget(&t);
        ssize_t n = fd < 0 ? -1 : fd_read_all(fd, text, FILE_MAX);
        if (n < 0)
                return false;

        text[n] = '\0';
        return find_line(text, name, ret_id, ret_second);
}

int accounts_find(int root, const char *user, uint32_t *ret_uid, uint32_t *ret_gid)
{
        char name[128];
        const char *colon = strchr(user, ':');
        if ((size_t) snprintf(name, sizeof name, "%.*s",
                              (int) (colon ? colon - user : (ptrdiff_t) strlen(user)), user) >= sizeof name ||
            !name[0])
                return -1;

        if (!look_up(root, "passwd", name, ret_uid, ret_gid)) {
                if (!id_of(name, ret_uid))
                        return -1;
                *ret_gid = *ret_uid;
        }

        if (!colon || id_of(colon + 1, ret_gid) || look_up(root, "group", colon + 1, ret_gid, NULL))
                return 0;

        return -1;
}
