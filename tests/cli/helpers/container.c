/* SPDX-License-Identifier: MIT */
/* container COMMAND [ARGUMENT...]: runs it behind a filter like the one that docker and podman put around a
 * container without privileges: no namespace, no mount, no keyring, and clone3 as if the kernel had none. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
        int number, error;
} refused[] = {
        { SYS_clone3, ENOSYS },     { SYS_unshare, EPERM },         { SYS_setns, EPERM },
        { SYS_mount, EPERM },       { SYS_umount2, EPERM },         { SYS_pivot_root, EPERM },
        { SYS_open_tree, EPERM },   { SYS_move_mount, EPERM },      { SYS_fsopen, EPERM },
        { SYS_fsconfig, EPERM },    { SYS_fsmount, EPERM },         { SYS_mount_setattr, EPERM },
        { SYS_keyctl, EPERM },      { SYS_add_key, EPERM },         { SYS_request_key, EPERM },
        { SYS_bpf, EPERM },         { SYS_perf_event_open, EPERM }, { SYS_userfaultfd, EPERM },
        { SYS_sethostname, EPERM }, { SYS_setdomainname, EPERM },   { SYS_open_by_handle_at, EPERM },
};

static unsigned put(struct sock_filter *f, unsigned n, struct sock_filter op)
{
        f[n] = op;
        return n + 1;
}

int main(int argc, char **argv)
{
        const unsigned namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                    CLONE_NEWUTS | CLONE_NEWCGROUP;
        struct sock_filter f[64];
        unsigned n = put(f, 0, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0));
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
                n = put(f, n,
                        (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i].number, 0, 1));
                n = put(f, n,
                        (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | refused[i].error));
        }
        n = put(f, n, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3));
        n = put(f, n,
                (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                              offsetof(struct seccomp_data, args[0])));
        n = put(f, n, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, namespaces, 0, 1));
        n = put(f, n, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
        n = put(f, n, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
        struct sock_fprog p = { (unsigned short) n, f };
        if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) < 0)
                return perror("container"), 125;
        execvp(argv[1], argv + 1);
        return perror(argv[1]), 127;
}
