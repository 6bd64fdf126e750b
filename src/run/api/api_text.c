/* SPDX-License-Identifier: MIT */
/* run/api/api_text.c - texts that come in as files and go out to the caller. */
#include "base/fd.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A stock policy that is spelled much like it, or NULL. */
static const char *near_stock(const char *path)
{
        size_t n;
        const char *best = NULL, *const *names = policy_stock_names(&n);

        for (size_t i = 0; strchr(path, '/') && i < n; i++)
                str_nearer(path, names[i], &best);
        return best;
}

char *api_slurp(const char *path, size_t *ret_len, struct err *e)
{
        return api_slurp_up_to(path, POLICY_MAX_BYTES, ret_len, e);
}

char *api_slurp_up_to(const char *path, size_t most, size_t *ret_len, struct err *e)
{
        AUTO_FD(fd, fd_open_named(AT_FDCWD, path, O_RDONLY));
        struct stat st;
        if (fd < 0 && errno == FD_PIPE_REFUSED) {
                (void) err_set(e, ERR_POLICY, 0,
                               "%s: is a FIFO; refusing to read it (a box may have created it)", path);
                (void) err_hint(e, "if it is yours, give it as standard input, which is called /dev/stdin");
                return NULL;
        }

        if (fd < 0 || fstat(fd, &st) < 0) {
                (void) err_set(e, ERR_POLICY, errno, "%s: %s", path[0] ? path : "a file whose name is empty",
                               strerror(errno));
                char longer[PATH_MAX];
                (void) snprintf(longer, sizeof longer, "%s.cordon", path);
                if (e->sys == ENOENT && access(longer, F_OK) == 0)
                        (void) err_hint(e, "did you mean %.200s?", longer);
                else if (strcmp(path, "-") == 0)
                        (void) err_hint(e, "a policy from standard input is called /dev/stdin");
                else if (e->sys == ENOENT && near_stock(path))
                        (void) err_hint(e, "did you mean %.200s?", near_stock(path));
                else if (e->sys == ENOENT)
                        (void) err_hint(
                                e, "a policy is a file of door lines; `cordon policy stock` lists those that "
                                   "come with cordon");
                return NULL;
        }

        char *text = malloc(most + 1);
        if (!text) {
                (void) err_set(e, ERR_MEMORY, ENOMEM, "%s: no memory for a policy", path);
                return NULL;
        }

        ssize_t n = fd_read_all(fd, text, most + 1);
        bool nobody = n == 0 && S_ISFIFO(st.st_mode); /* <(...) of a shell */
        if (n < 0 || nobody || (size_t) n > most) {
                if (n < 0)
                        (void) err_set(e, ERR_POLICY, errno, "%s: %s", path, strerror(errno));
                else if (nobody)
                        (void) err_set(e, ERR_POLICY, 0, "%s: nothing was written to this pipe", path);
                else
                        (void) err_set(e, ERR_POLICY, EFBIG, "%s: such a file has at most %zuM", path,
                                       most >> 20);
                free(text);
                return NULL;
        }

        *ret_len = (size_t) n;
        return text;
}

char *api_give(struct buf *b, struct err *e)
{
        if (!b->failed && !b->p)
                buf_puts(b, "");

        char *text = b->failed ? NULL : b->p;
        if (text)
                *b = (struct buf){ 0 };
        else if (e)
                (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory for the answer");

        buf_done(b);
        return text;
}
