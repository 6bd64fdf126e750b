/* SPDX-License-Identifier: MIT */
/* face/mcp/mcp_http_token.c - the bearer token of `cordon mcp --http`, in a file that only this user can
 * read. */
#include "base/err.h"
#include "base/fd.h"
#include "face/mcp/mcp_http.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { TOKEN_LEAST = 32, TOKEN_BYTES = 32 };

static int cannot_use(const char *path, const char *why, cordon_error *e)
{
        return err_set((struct err *) e, ERR_IO, errno, "the token file %s: %s", path, why);
}

static int make_token(const char *path, int fd, char ret[MCP_TOKEN_MAX], cordon_error *e)
{
        if (random_hex(ret, TOKEN_BYTES) < 0)
                return cannot_use(path, "the kernel has no random bits", e);

        if (fd_write_all(fd, ret, strlen(ret)) < 0 || fd_write_all(fd, "\n", 1) < 0)
                return cannot_use(path, strerror(errno), e);
        return 0;
}

static int read_token(const char *path, int fd, char ret[MCP_TOKEN_MAX], cordon_error *e)
{
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~+/=-";
        struct stat st;
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077)) {
                (void) cannot_use(path, "others may read it, or it is not a file of this user", e);
                return err_hint((struct err *) e, "chmod 600 %s", path);
        }

        ssize_t n = read(fd, ret, MCP_TOKEN_MAX);
        if (n > 0 && ret[n - 1] == '\n')
                n--;
        if (n < TOKEN_LEAST || n >= MCP_TOKEN_MAX)
                return cannot_use(path, "a token has 32 to 127 characters", e);

        ret[n] = '\0';
        return strspn(ret, allowed) == (size_t) n ? 0 : cannot_use(path, "it has characters of no token", e);
}

int mcp_token_load(const char *path, char ret[MCP_TOKEN_MAX], cordon_error *e)
{
        enum { FLAGS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
        (void) fd_make_parents(AT_FDCWD, path);
        AUTO_FD(made, open(path, O_WRONLY | O_CREAT | O_EXCL | FLAGS, 0600));
        if (made >= 0)
                return make_token(path, made, ret, e);

        AUTO_FD(fd, open(path, O_RDONLY | FLAGS));
        return fd < 0 ? cannot_use(path, strerror(errno), e) : read_token(path, fd, ret, e);
}
