/* SPDX-License-Identifier: MIT */
/* squat.c - binds names of boxes of another user, `squat UID NAME...`, leaves their queues full, says so and
 * waits for the end of its input. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int squat(const char *uid, const char *name)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "cordon/%s/%s", uid, name);
        socklen_t len = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) n);
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *) &a, len) < 0 || listen(fd, 0) < 0)
                return -1;
        for (int i = 0; i < 8; i++) {
                int guest = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
                if (connect(guest, (struct sockaddr *) &a, len) < 0)
                        return errno == EAGAIN ? 0 : -1;
        }
        return -1;
}

int main(int argc, char **argv)
{
        char c;
        for (int i = 2; i < argc; i++)
                if (squat(argv[1], argv[i]) < 0) {
                        perror(argv[i]);
                        return 1;
                }
        (void) puts("squats");
        (void) fflush(stdout);
        while (read(0, &c, 1) > 0)
                ;
        return 0;
}
