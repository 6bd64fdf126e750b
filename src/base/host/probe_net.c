/* SPDX-License-Identifier: MIT */
/* base/host/probe_net.c - checks the requirements of `net` doors and credentials besides namespaces: a veth
 * link, two programs that load, and roots to verify servers against. Each is tried in a short-lived child. */
#include "base/fd.h"
#include "base/host/internal.h"
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- the link ---- */

struct link_request {
        struct nlmsghdr head;
        struct ifinfomsg info;
        struct rtattr name;
        char name_text[8];
        struct rtattr link;
        struct rtattr kind;
        char kind_text[4];
};

struct link_answer {
        struct nlmsghdr head;
        struct nlmsgerr error;
};

static int make_veth(int nl)
{
        struct link_request r = {
                .head = { .nlmsg_len = sizeof r,
                          .nlmsg_type = RTM_NEWLINK,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK },
                .info = { .ifi_family = AF_UNSPEC },
                .name = { sizeof r.name + sizeof r.name_text, IFLA_IFNAME },
                .name_text = "probe0",
                .link = { sizeof r.link + sizeof r.kind + sizeof r.kind_text, IFLA_LINKINFO },
                .kind = { sizeof r.kind + sizeof r.kind_text, IFLA_INFO_KIND },
                .kind_text = { 'v', 'e', 't', 'h' },
        };

        union {
                struct link_answer a;
                char room[512];
        } in = { .room = "" };

        if (send(nl, &r, sizeof r, 0) != (ssize_t) sizeof r ||
            recv(nl, &in, sizeof in, 0) < (ssize_t) sizeof in.a || in.a.head.nlmsg_type != NLMSG_ERROR)
                return errno ? errno : EIO;

        return -in.a.error.error;
}

static int try_veth(struct host_outcome *o, unsigned long arg)
{
        (void) o;
        (void) arg;
        if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
                return errno;
        AUTO_FD(nl, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
        return nl < 0 ? errno : make_veth(nl);
}

void host_look_veth(struct host_finding *f)
{
        struct host_outcome o = host_report(f, try_veth, 0, "works: net doors need no root", HOST_WEAK,
                                            "no veth device; net doors are unavailable");
        if (o.sys == EOPNOTSUPP)
                host_mend(f, "sudo modprobe veth");
}

/* ---- sockets out of a process ---- */

bool host_forbids_tracing(void) { return host_sysctl("/proc/sys/kernel/yama/ptrace_scope") == 3; }

static int try_take(struct host_outcome *o, unsigned long arg)
{
        (void) o;
        (void) arg;
        pid_t pid = fork();
        if (pid == 0) {
                (void) pause();
                _exit(0);
        }

        AUTO_FD(child, pid < 0 ? -1 : (int) syscall(SYS_pidfd_open, pid, 0));
        AUTO_FD(took,
                child < 0 ? -1
                          : (int) syscall(SYS_pidfd_getfd, child, child, 0)); /* it has none of that number */
        int sys = errno;
        if (pid > 0 && kill(pid, SIGKILL) == 0)
                (void) waitpid(pid, NULL, 0);
        return took >= 0 || sys == EBADF ? 0 : sys;
}

void host_look_take(struct host_finding *f)
{
        char why[96];
        struct host_outcome o = host_try(try_take, 0);
        if (o.sys == 0 && !host_forbids_tracing()) {
                host_say(f, HOST_YES, "sockets of a box can be connected for it");
                return;
        }

        host_say(f, HOST_WEAK, "no net door beside a door to a directory: %s",
                 o.sys ? host_why(&o, why) : "no process may trace another (ptrace_scope 3)");
        if (host_forbids_tracing())
                host_mend(f, HOST_LET_TRACE);
}

/* ---- the programs ---- */

/* "NAME: error while loading shared libraries: libfoo.so.1: cannot open ...", or musl's of the same form. */
static void take_library(const char *said, char ret[96])
{
        const char *so = strstr(said, ".so");
        const char *from = so;
        while (from && from > said && !strchr(" :/", from[-1]))
                from--;
        (void) snprintf(ret, 96, "%.*s", from ? (int) strcspn(from, ": \n") : 0, from ? from : "");
}

/* arg: the path of the program, cast to a number. */
static int try_program(struct host_outcome *o, unsigned long arg)
{
        const char *program = (const char *) (uintptr_t) arg;
        char *const argv[] = { (char[]){ "cordon-doctor" }, NULL }, *const envp[] = { NULL };
        int status = 0, ends[2];
        char said[512];
        if (pipe2(ends, O_CLOEXEC) < 0)
                return errno;

        AUTO_FD(reads, ends[0]);
        AUTO_FD(writes, ends[1]);
        pid_t pid = fork();
        if (pid == 0) {
                int null = open("/dev/null", O_RDWR);
                for (int i = 0; i < 3; i++)
                        if (null < 0 || dup2(i == 2 ? writes : null, i) < 0)
                                _exit(1);
                for (int i = 3; i < 64; i++)
                        (void) close(i); /* without its socket it reports that and exits */
                (void) execve(program, argv, envp);
                _exit(errno == ENOENT ? 127 : 126); /* it is there, and its loader is not */
        }

        fd_close(&writes);
        ssize_t n = pid < 0 ? -1 : fd_read_all(reads, said, sizeof said - 1);
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                return errno;

        said[n > 0 ? n : 0] = '\0';
        take_library(said, o->text);
        o->value = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return 0;
}

static void mend_library(struct host_finding *f, const char *file)
{
        static const char *const packages[][2] = {
                { "libssl.", "libssl3" },   { "libcrypto.", "libssl3" },        { "libz.", "zlib1g" },
                { "libzstd.", "libzstd1" }, { "libnghttp2.", "libnghttp2-14" }, { "libbrotli", "libbrotli1" }
        };
        for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
                if (strncmp(file, packages[i][0], strlen(packages[i][0])) == 0)
                        host_mend(f, "sudo apt-get install %s", packages[i][1]);
}

/* Started without its socket each program exits with 125; a loader that misses a library exits with 127. */
static void look_program(struct host_finding *f, const char *name, const char *without)
{
        char path[PATH_MAX], why[96];
        struct err e = { 0 };
        if (host_program(f->cx, name, path, sizeof path, &e) < 0) {
                bool there = e.sys != ENOENT;
                host_say(f, HOST_WEAK, "%s is %s, so %s", name,
                         there ? "neither root's nor yours here, or others can change it" : "not installed",
                         without);
                host_mend(f, there ? "CORDON_LIBEXEC=DIR, with a copy of yours in it"
                             : context_get(f->cx, "CORDON_LIBEXEC") ? "unset CORDON_LIBEXEC"
                                                                    : "sudo make install");
                return;
        }

        struct host_outcome o = host_try(try_program, (unsigned long) (uintptr_t) path);
        if (o.sys)
                host_say(f, HOST_WEAK, "%.60s cannot be tried: %s", path, host_why(&o, why));
        else if (o.value == 125)
                host_say(f, HOST_YES, "%.100s starts (OpenSSL found)", path);
        else if (o.value == 127)
                host_say(f, HOST_WEAK, "%.60s does not load without %.60s, so %s", path,
                         o.text[0] ? o.text : "the C library glibc, which this host lacks", without);
        else
                host_say(f, HOST_WEAK, "%.60s does not load, so %s", path, without);

        if (o.sys == 0 && o.value == 127)
                mend_library(f, o.text);
        else if (o.sys == 0 && o.value != 125)
                host_mend(f, "sudo make install");
}

void host_look_broker(struct host_finding *f) { look_program(f, "cordon-egress", "no net door opens"); }
void host_look_vault(struct host_finding *f)
{
        look_program(f, "cordon-vault", "no door can have a credential");
}

/* ---- the roots ---- */

void host_look_roots(struct host_finding *f)
{
        for (size_t i = 0; i < sizeof trust_files / sizeof *trust_files; i++) {
                struct stat st;
                if (stat(trust_files[i], &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
                    access(trust_files[i], R_OK) == 0) {
                        host_say(f, HOST_YES, "servers are verified against %s", trust_files[i]);
                        return;
                }
        }

        host_say(f, HOST_WEAK,
                 "no CA certificates on this host: doors with paths or credentials trust no server");
        host_mend(f, "sudo apt-get install ca-certificates");
}
