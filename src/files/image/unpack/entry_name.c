/* SPDX-License-Identifier: MIT */
/* files/image/unpack/entry_name.c - decides about the name of an archive's entry: where it goes, or why it is
 * refused. Pure. */
#include "files/image/unpack/image_unpack.h"

#include <string.h>

static enum entry_verdict refuse_name(struct entry_name *ret, const char *why)
{
        ret->why = why;
        return ENTRY_REFUSED;
}

/* Components, cleaned: "./a//b/" is "a/b". NULL: fine, else the reason. */
static const char *clean_name(const char *raw, char to[UNPACK_PATH])
{
        size_t out = 0, depth = 0;
        for (const char *p = raw; *p;) {
                size_t n = strcspn(p, "/");
                if (n == 2 && p[0] == '.' && p[1] == '.')
                        return "a name has a `..` in it";
                if (n > 255)
                        return "a part of a name is longer than 255 bytes";
                if (n > 0 && !(n == 1 && p[0] == '.')) {
                        if (++depth > UNPACK_DEPTH)
                                return "a name is too deep";
                        if (out + n + 2 > UNPACK_PATH)
                                return "a name is too long";
                        if (out)
                                to[out++] = '/';
                        memcpy(to + out, p, n);
                        out += n;
                }
                p += n + (p[n] == '/');
        }

        to[out] = '\0';
        return NULL;
}

/* Every box has its own of these; what an image has there is not unpacked. */
static bool is_left_out(const char *path)
{
        static const char *const own[] = { "dev/", "proc/", "sys/" };
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
                if (strncmp(path, own[i], strlen(own[i])) == 0)
                        return true;
        return false;
}

static bool has_mark(const char *path) /* in a directory's name */
{
        return strncmp(path, ".wh.", 4) == 0 || strstr(path, "/.wh.");
}

static enum entry_verdict judge_mark(struct entry_name *ret)
{
        static const char opaque[] = ".wh..wh..opq", note[] = ".wh..wh.";
        if (strcmp(ret->last, opaque) == 0)
                return ENTRY_OPAQUE;

        if (strncmp(ret->last, note, sizeof note - 1) == 0)
                return ENTRY_LEFT_OUT;

        memmove(ret->last, ret->last + 4, strlen(ret->last + 4) + 1);
        if (!ret->last[0] || strcmp(ret->last, ".") == 0 || strcmp(ret->last, "..") == 0)
                return refuse_name(ret, "a whiteout names nothing");

        return ENTRY_WHITEOUT;
}

enum entry_verdict entry_name_judge(const char *raw, struct entry_name *ret)
{
        *ret = (struct entry_name){ 0 };
        if (raw[0] == '/')
                return refuse_name(ret, "a name is absolute");

        const char *why = raw[0] ? clean_name(raw, ret->parent) : "a name is empty";
        if (why)
                return refuse_name(ret, why);

        if (!ret->parent[0])
                return ENTRY_ROOT;

        if (is_left_out(ret->parent))
                return ENTRY_LEFT_OUT;

        char *slash = strrchr(ret->parent, '/');
        char *last = slash ? slash + 1 : ret->parent;
        memcpy(ret->last, last, strlen(last) + 1);
        *(slash ? slash : ret->parent) = '\0';
        if (has_mark(ret->parent))
                return refuse_name(ret, "a directory has the name of a whiteout");

        return strncmp(ret->last, ".wh.", 4) == 0 ? judge_mark(ret) : ENTRY_KEPT;
}
