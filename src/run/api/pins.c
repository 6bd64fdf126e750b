/* SPDX-License-Identifier: MIT */
/* run/api/pins.c - what the user has accepted: descriptions of tools in STATE/mcp/NAME, configuration of
 * agents in STATE/agents/NAME and what waits in STATE/held/NAME; replaced as a whole. */
#include "base/fd.h"
#include "base/store/store.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PINS_NAME_MAX = 60, PINS_MAX_BYTES = 16 << 20 };

void cordon_box_tool(cordon_box *b, const cordon_tool_effect *t, char ret_id[64])
{
        const struct box_tool x = { .tool = t->tool,
                                    .result = t->result,
                                    .reason = t->reason,
                                    .cause = t->cause,
                                    .bytes = span_of(t->bytes, t->len),
                                    .phase = t->phase == 0   ? BOX_TOOL_CALL
                                             : t->phase == 1 ? BOX_TOOL_RESULT
                                                             : BOX_TOOL_DENIED };
        ret_id[0] = '\0';
        if (b->box)
                box_record_tool(b->box, &x, ret_id);
}

int cordon_box_tool_judge(const cordon_box *b, const char *tool, const void *args, size_t len,
                          char ret_why[256])
{
        AUTO_BUF(why);
        ret_why[0] = '\0';
        if (!b->box)
                return CORDON_TOOL_DENIED;

        if (!args)
                return box_tool_is_named(b->box, tool) ? CORDON_TOOL_ALLOWED : CORDON_TOOL_DENIED;

        enum box_tool_answer a = box_tool_judge(b->box, tool, span_of(args, len), &why);
        (void) str_inert(buf_span(&why), ret_why, 256);
        return a == BOX_TOOL_YES   ? CORDON_TOOL_ALLOWED
               : a == BOX_TOOL_ASK ? CORDON_TOOL_ASKS
                                   : CORDON_TOOL_DENIED;
}

unsigned cordon_box_tool_ask(cordon_box *b, const char *tool, const void *args, size_t len)
{
        return b->box ? box_tool_ask(b->box, tool, span_of(args, len)) : 0;
}

void cordon_box_on_tool_answer(cordon_box *b, void (*fn)(void *ctx, unsigned number, int yes), void *ctx)
{
        b->c.on_tool = (struct box_on_tool){ fn, ctx };
}

static int cannot_read(struct err *e, const char *name)
{
        return err_set(e, ERR_IO, errno, "what was accepted of %s: %s", name, strerror(errno));
}

/* The directory that a name begins with, and the rest of the name. */
static const char *dir_of(const char **name)
{
        static const char *const dirs[] = { "agents", "held" };
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                size_t n = strlen(dirs[i]);
                if (strncmp(*name, dirs[i], n) == 0 && (*name)[n] == '/') {
                        *name += n + 1;
                        return dirs[i];
                }
        }

        return "mcp";
}

static int open_dir(const cordon_context *cx, const char **ret_name, struct err *e)
{
        const char *dir = dir_of(ret_name), *name = *ret_name;
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
        if (n == 0 || name[n] || n > PINS_NAME_MAX || name[0] == '.')
                return err_set(e, ERR_USAGE, 0, "a name has letters, digits, `_`, `.` and `-`, at most 60");

        AUTO_FD(state, store_open(cx, e));
        return state < 0 ? -1 : store_dir(state, dir, e);
}

char *cordon_pins_read(const cordon_context *cx, const char *name, cordon_error *pe)
{
        struct stat st;
        struct err *e = to_err(pe);
        AUTO_FD(dir, open_dir(cx, &name, e));
        if (dir < 0)
                return NULL;

        AUTO_FD(fd, openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
        if (fd < 0 && errno == ENOENT)
                return calloc(1, 1);

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > PINS_MAX_BYTES) {
                (void) cannot_read(e, name);
                return NULL;
        }

        char *text = calloc(1, (size_t) st.st_size + 1);
        if (!text || fd_read_all(fd, text, (size_t) st.st_size) < 0) {
                (void) cannot_read(e, name);
                free(text);
                return NULL;
        }
        return text;
}

int cordon_pins_write(const cordon_context *cx, const char *name, const char *text, cordon_error *pe)
{
        char temporary[PINS_NAME_MAX + 32];
        struct err *e = to_err(pe);
        AUTO_FD(dir, open_dir(cx, &name, e));
        if (dir < 0)
                return -1;

        if (!text)
                return unlinkat(dir, name, 0) < 0 && errno != ENOENT ? cannot_read(e, name) : 0;

        (void) snprintf(temporary, sizeof temporary, ".%s.%d", name, (int) getpid());
        (void) unlinkat(dir, temporary, 0);
        AUTO_FD(fd, openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0 || fsync(fd) < 0 ||
            renameat(dir, temporary, dir, name) < 0) {
                (void) cannot_read(e, name);
                (void) unlinkat(dir, temporary, 0);
                return -1;
        }
        return 0;
}
