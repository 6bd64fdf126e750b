/* SPDX-License-Identifier: MIT */
/* deny NUMBER[=ARGUMENT:MASK]:ERRNO... -- COMMAND [ARGUMENT...]: runs it where these system calls fail, as on
 * a kernel that lacks them or in a container that denies them. With =ARGUMENT:MASK only if that argument has
 * one of these bits. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ROOM = 128 };

static unsigned add(struct sock_filter *f, unsigned n, const char *word)
{
        char *end;
        unsigned call = (unsigned) strtoul(word, &end, 10), argument = 0, mask = 0;
        if (*end == '=') {
                argument = (unsigned) strtoul(end + 1, &end, 10);
                mask = (unsigned) strtoul(end + 1, &end, 0);
        }
        unsigned error = (unsigned) strtoul(end + 1, NULL, 10);
        f[n++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
        f[n++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, (mask ? 3 : 1));
        if (mask) {
                f[n++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                       (unsigned) offsetof(struct seccomp_data, args) +
                                                               8 * argument);
                f[n++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1);
        }
        f[n++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
        return n;
}

int main(int argc, char **argv)
{
        struct sock_filter f[ROOM];
        unsigned n = 0;
        int i = 1;
        for (; i < argc && strcmp(argv[i], "--") != 0 && n < ROOM - 6; i++)
                n = add(f, n, argv[i]);
        f[n++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        struct sock_fprog p = { (unsigned short) n, f };
        if (i + 1 >= argc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) < 0)
                return perror("deny"), 125;
        execvp(argv[i + 1], argv + i + 1);
        return perror(argv[i + 1]), 127;
}
