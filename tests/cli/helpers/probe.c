/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/probe.c - tries what a box must refuse and prints one line per try: NAME OK, or NAME and
 * the errno. Static, so that it runs in a box with no other door. `probe listen` is the canary outside: it
 * listens on loopback and on an abstract socket, prints the ports, and exits with its parent. `probe connect
 * ARGS` is the positive control. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *name, long r)
{
        const char *why = r < 0 ? strerrorname_np(errno) : "OK";
        printf("%s %s\n", name, why ? why : "ERRNO?");
        fflush(stdout);
}

/* In a child: what it does to its process must not touch the next try. */
#define TRY(name, expr)                                                                                      \
        do {                                                                                                 \
                pid_t p_ = fork();                                                                           \
                if (p_ == 0) {                                                                               \
                        errno = 0;                                                                           \
                        say(name, (long) (expr));                                                            \
                        _exit(0);                                                                            \
                }                                                                                            \
                int s_ = 0;                                                                                  \
                if (p_ < 0)                                                                                  \
                        say(name, -1);                                                                       \
                else if (waitpid(p_, &s_, 0) == p_ && WIFSIGNALED(s_))                                       \
                        printf("%s SIG%s\n", name, sigabbrev_np(WTERMSIG(s_)));                              \
                fflush(stdout);                                                                              \
        } while (0)

static long try_open(const char *path, int flags, mode_t mode)
{
        int fd = open(path, flags | O_CLOEXEC, mode);
        if (fd >= 0)
                close(fd);
        return fd;
}

static long try_setns(const char *path)
{
        int fd = open(path, O_RDONLY);
        return fd < 0 ? -1 : setns(fd, 0);
}

static long try_memfd_exec(unsigned flags)
{
        int fd = (int) syscall(SYS_memfd_create, "x", flags);
        int self = open("/proc/self/exe", O_RDONLY);
        static char buf[65536];
        if (fd < 0)
                return -1;
        if (self < 0)
                return 0;
        for (ssize_t n; (n = read(self, buf, sizeof buf)) > 0;)
                if (write(fd, buf, (size_t) n) != n)
                        return -1;
        char *argv[] = { (char *) "x", (char *) "hello", NULL }, *envp[] = { NULL };
        return syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
}

static long try_exec_copy(const char *to)
{
        int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755), self = open("/proc/self/exe", O_RDONLY);
        static char buf[65536];
        if (fd < 0 || self < 0)
                return 0; /* not the refusal that is meant */
        for (ssize_t n; (n = read(self, buf, sizeof buf)) > 0;)
                if (write(fd, buf, (size_t) n) != n)
                        return 0;
        close(fd);
        char *argv[] = { (char *) to, (char *) "hello", NULL };
        return execv(to, argv);
}

static long try_map_exec(void)
{
        int fd = open("/tmp/map", O_RDWR | O_CREAT, 0755);
        if (fd < 0 || ftruncate(fd, 4096) < 0)
                return 0;
        return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1 : 0;
}

static long try_map_then_protect(void)
{
        int fd = open("/tmp/map", O_RDWR | O_CREAT, 0755);
        if (fd < 0 || ftruncate(fd, 4096) < 0)
                return 0;
        void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
        return p == MAP_FAILED ? 0 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static const char text_of_program[] = "untouched";
static long try_self_mem(void)
{
        int fd = open("/proc/self/mem", O_RDWR);
        if (fd < 0)
                return -1;
        return pwrite(fd, "X", 1, (off_t) (uintptr_t) text_of_program);
}

static long try_mode(mode_t mode)
{
        (void) unlink("/tmp/mode");
        umask(0);
        int fd = open("/tmp/mode", O_WRONLY | O_CREAT | O_EXCL, mode);
        struct stat st;
        if (fd < 0)
                return -1;
        if (fstat(fd, &st) < 0)
                return 0;
        if (st.st_mode & 07000 & ~(mode_t) S_ISVTX)
                return 0;
        errno = EPERM; /* made, but without the bit */
        return -1;
}

static long try_chmod(mode_t mode)
{
        return try_open("/tmp/mode2", O_WRONLY | O_CREAT, 0755) < 0 ? 0 : chmod("/tmp/mode2", mode);
}

static long try_fchmod(mode_t mode)
{
        int fd = open("/tmp/mode3", O_RDWR | O_CREAT, 0755);
        return fd < 0 ? 0 : fchmod(fd, mode);
}

static long try_ptrace_child(void)
{
        pid_t p = fork();
        if (p == 0) {
                pause();
                _exit(0);
        }
        long r = ptrace(PTRACE_ATTACH, p, NULL, NULL);
        int e = errno;
        kill(p, SIGKILL);
        errno = e;
        return r;
}

static long try_vm_read(void)
{
        char a, b = 0;
        struct iovec l = { &a, 1 }, r = { &b, 1 };
        return process_vm_readv(getppid(), &l, 1, &r, 1, 0);
}

static long try_socket(int family, int type, int protocol) { return socket(family, type, protocol); }

static long try_connect4(const char *address, int port, int type)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
        (void) inet_pton(AF_INET, address, &a.sin_addr);
        int fd = socket(AF_INET, type, 0);
        if (fd < 0)
                return -1;
        if (type == SOCK_DGRAM)
                return sendto(fd, "x", 1, 0, (struct sockaddr *) &a, sizeof a);
        alarm(3);
        return connect(fd, (struct sockaddr *) &a, sizeof a);
}

static long try_connect6(int port)
{
        struct sockaddr_in6 a = { .sin6_family = AF_INET6,
                                  .sin6_port = htons((uint16_t) port),
                                  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
        int fd = socket(AF_INET6, SOCK_STREAM, 0);
        if (fd < 0)
                return -1;
        return connect(fd, (struct sockaddr *) &a, sizeof a);
}

static socklen_t abstract(struct sockaddr_un *a, const char *name)
{
        *a = (struct sockaddr_un){ .sun_family = AF_UNIX };
        strncpy(a->sun_path + 1, name, sizeof a->sun_path - 2);
        return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static long try_abstract(const char *name)
{
        struct sockaddr_un a;
        socklen_t n = abstract(&a, name);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        return fd < 0 ? -1 : connect(fd, (struct sockaddr *) &a, n);
}

/* How many interfaces are up: refused when none is. */
static long try_interfaces(void)
{
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        struct ifreq all[64];
        struct ifconf c = { .ifc_len = sizeof all, .ifc_req = all };
        if (fd < 0)
                fd = socket(AF_UNIX, SOCK_DGRAM, 0);
        if (fd < 0)
                return -1;
        struct ifreq lo = { .ifr_name = "lo" };
        if (ioctl(fd, SIOCGIFFLAGS, &lo) == 0 && (lo.ifr_flags & IFF_UP))
                return 0;
        if (ioctl(fd, SIOCGIFCONF, &c) == 0 && c.ifc_len > 0)
                return 0;
        errno = ENODEV;
        return -1;
}

/* A limit of 0 or 1: at exactly 1 the kernel does not start a helper named in core_pattern either. */
static long try_core(void)
{
        struct rlimit r;
        if (getrlimit(RLIMIT_CORE, &r) < 0 || r.rlim_cur > 1 || r.rlim_max > 1)
                return 0;
        pid_t p = fork();
        if (p == 0)
                abort();
        int s = 0;
        waitpid(p, &s, 0);
        errno = ENOENT;
        return WIFSIGNALED(s) && !WCOREDUMP(s) ? -1 : 0;
}

static long try_raise_rlimit(int what)
{
        struct rlimit r;
        if (getrlimit(what, &r) < 0 || r.rlim_max == RLIM_INFINITY)
                return 0;
        r.rlim_max++;
        return setrlimit(what, &r);
}

static long try_handle(void)
{
        struct {
                struct file_handle h;
                char room[128];
        } f;
        int id;
        f.h.handle_bytes = 128;
        if (name_to_handle_at(AT_FDCWD, "/tmp", &f.h, &id, 0) < 0 && errno != EPERM && errno != ENOSYS)
                return 0;
        int dir = open("/tmp", O_RDONLY | O_DIRECTORY);
        return open_by_handle_at(dir, &f.h, O_RDONLY);
}

static long raw_clone(unsigned long flags)
{
        long r = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
        if (r == 0)
                _exit(0);
        return r;
}

static long try_clone3(void)
{
        struct clone_args a = { .exit_signal = SIGCHLD };
        long r = syscall(SYS_clone3, &a, sizeof a);
        if (r == 0)
                _exit(0);
        return r;
}

static long try_tiocsti(unsigned long request)
{
        char c = 'x';
        return syscall(SYS_ioctl, 0, request, &c);
}

static void walls(void)
{
        static const struct {
                const char *name;
                unsigned long flag;
        } spaces[] = { { "user", CLONE_NEWUSER },     { "mount", CLONE_NEWNS }, { "pid", CLONE_NEWPID },
                       { "net", CLONE_NEWNET },       { "ipc", CLONE_NEWIPC },  { "uts", CLONE_NEWUTS },
                       { "cgroup", CLONE_NEWCGROUP }, { "time", CLONE_NEWTIME } };
        char name[64];
        for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
                snprintf(name, sizeof name, "unshare-%s", spaces[i].name);
                TRY(name, syscall(SYS_unshare, spaces[i].flag));
                if (spaces[i].flag == CLONE_NEWTIME)
                        continue;
                snprintf(name, sizeof name, "clone-%s", spaces[i].name);
                TRY(name, raw_clone(spaces[i].flag));
        }
        TRY("clone3", try_clone3());
        TRY("clone3-user",
            syscall(SYS_clone3, &(struct clone_args){ .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD },
                    sizeof(struct clone_args)));
        TRY("setns-own-user", try_setns("/proc/self/ns/user"));
        TRY("setns-own-mnt", try_setns("/proc/self/ns/mnt"));
        TRY("mount-tmpfs", mount("none", "/tmp", "tmpfs", 0, NULL));
        TRY("mount-proc", mount("none", "/tmp", "proc", 0, NULL));
        TRY("mount-bind", mount("/usr", "/tmp", NULL, MS_BIND, NULL));
        TRY("mount-remount", mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL));
        TRY("umount-proc", umount2("/proc", MNT_DETACH));
        TRY("umount-tmp", umount2("/tmp", MNT_DETACH));
        TRY("fsopen", fsopen("tmpfs", 0));
        TRY("open-tree", open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE));
        TRY("mount-setattr",
            mount_setattr(AT_FDCWD, "/usr", 0, &(struct mount_attr){ .attr_clr = MOUNT_ATTR_RDONLY },
                          sizeof(struct mount_attr)));
        TRY("pivot-root", syscall(SYS_pivot_root, "/tmp", "/tmp"));
        TRY("chroot", chroot("/tmp"));
        TRY("sethostname", sethostname("pwned", 5));
        TRY("setdomainname", setdomainname("pwned", 5));
        TRY("mknod-char", mknod("/tmp/null", S_IFCHR | 0666, makedev(1, 3)));
        TRY("mknod-block", mknod("/tmp/sda", S_IFBLK | 0666, makedev(8, 0)));
        TRY("ptrace-child", try_ptrace_child());
        TRY("ptrace-traceme", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
        TRY("process-vm-readv", try_vm_read());
        TRY("pidfd-getfd", syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, getppid(), 0), 0, 0));
        TRY("open-by-handle", try_handle());
        TRY("io-uring", syscall(SYS_io_uring_setup, 4, (char[256]){ 0 }));
        TRY("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1));
        TRY("add-key", syscall(SYS_add_key, "user", "x", "y", 1, KEY_SPEC_PROCESS_KEYRING));
        TRY("bpf", syscall(SYS_bpf, 0, (char[128]){ 0 }, 128));
        TRY("perf", syscall(SYS_perf_event_open, (char[128]){ 1, 0, 0, 0, 128 }, 0, -1, -1, 0));
        TRY("userfaultfd", syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */));
        TRY("swapon", swapon("/tmp/x", 0));
        TRY("personality-rie", personality(READ_IMPLIES_EXEC));
        TRY("seccomp-listener", syscall(SYS_seccomp, 1, 8, NULL));
        TRY("setuid-0", getuid() == 0 ? (errno = EPERM, -1) : setresuid(0, 0, 0));
        TRY("setuid-other", setresuid(12345, 12345, 12345));
        TRY("setgid-other", setresgid(12345, 12345, 12345));
        TRY("setgroups", syscall(SYS_setgroups, 1, &(gid_t){ 4 }));
        TRY("chown-other",
            try_open("/tmp/own", O_CREAT | O_WRONLY, 0644) < 0 ? 0 : chown("/tmp/own", 12345, 12345));
        TRY("rlimit-files-up", try_raise_rlimit(RLIMIT_NOFILE));
        TRY("rlimit-procs-up", try_raise_rlimit(RLIMIT_NPROC));
        TRY("sched-fifo", sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }));
        TRY("tiocsti", try_tiocsti(TIOCSTI));
        TRY("tiocsti-high", try_tiocsti(TIOCSTI | 1ul << 32));
        TRY("core", try_core());
        /* files */
        static const char *const places[] = { "/x",     "/usr/x",  "/usr/bin/x", "/etc/x", "/bin/x",
                                              "/dev/x", "/proc/x", "/var/x",     "/home/x" };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                snprintf(name, sizeof name, "create-%s", places[i]);
                TRY(name, try_open(places[i], O_WRONLY | O_CREAT, 0644));
        }
        TRY("write-passwd", try_open("/etc/passwd", O_WRONLY, 0));
        TRY("write-sh", try_open("/bin/sh", O_WRONLY, 0));
        TRY("write-own-exe", try_open("/proc/self/exe", O_RDWR, 0));
        TRY("chmod-passwd", chmod("/etc/passwd", 0666));
        TRY("unlink-passwd", unlink("/etc/passwd"));
        TRY("rename-etc", rename("/etc", "/etc2"));
        TRY("self-mem", try_self_mem());
        TRY("oom-score", try_open("/proc/self/oom_score_adj", O_WRONLY, 0));
        TRY("chmod-4755", try_chmod(04755));
        TRY("chmod-2755", try_chmod(02755));
        TRY("fchmod-4755", try_fchmod(04755));
        TRY("fchmodat2-4755", try_open("/tmp/mode4", O_CREAT | O_WRONLY, 0755) < 0
                                      ? 0
                                      : syscall(452, AT_FDCWD, "/tmp/mode4", 04755, 0));
        TRY("open-mode-4755", try_mode(04755));
        TRY("mkdir-2755", (umask(0), mkdir("/tmp/sgid", 02755) < 0) ? -1 : ({
                    struct stat st;
                    stat("/tmp/sgid", &st);
                    errno = EPERM;
                    st.st_mode & 02000 ? 0 : -1;
            }));
        /* execution of what was written */
        TRY("exec-tmp", try_exec_copy("/tmp/copy"));
        snprintf(name, sizeof name, "%s/copy", getenv("HOME") ? getenv("HOME") : "/");
        TRY("exec-home", try_exec_copy(name));
        TRY("exec-shm", try_exec_copy("/dev/shm/copy"));
        TRY("exec-memfd", try_memfd_exec(0));
        TRY("exec-memfd-exec", try_memfd_exec(0x10 /* MFD_EXEC */));
        TRY("map-exec-tmp", try_map_exec());
        TRY("map-protect-tmp", try_map_then_protect());
        /* sockets */
        TRY("af-netlink", try_socket(AF_NETLINK, SOCK_RAW, 4));
        TRY("af-packet", try_socket(AF_PACKET, SOCK_RAW, 0));
        TRY("af-vsock", try_socket(AF_VSOCK, SOCK_STREAM, 0));
        TRY("af-alg", try_socket(AF_ALG, SOCK_SEQPACKET, 0));
        TRY("af-bluetooth", try_socket(31, SOCK_RAW, 0));
        TRY("af-xdp", try_socket(44, SOCK_RAW, 0));
        TRY("af-inet-raw", try_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
        TRY("interfaces", try_interfaces());
        TRY("connect-outside", try_connect4("192.0.2.1", 80, SOCK_STREAM));
        TRY("udp-outside", try_connect4("192.0.2.1", 53, SOCK_DGRAM));
        TRY("connect-metadata", try_connect4("169.254.169.254", 80, SOCK_STREAM));
#if defined(__x86_64__)
        TRY("int80", ({
                    long r;
                    __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
                    if (r < 0)
                            errno = (int) -r, r = -1;
                    r;
            }));
        TRY("x32", syscall(0x40000000 | SYS_getpid));
#endif
        /* what must go on working: a probe that cannot say OK proves nothing */
        TRY("fork", raw_clone(0));
        TRY("write-tmp", try_open("/tmp/ok", O_WRONLY | O_CREAT, 0644));
        snprintf(name, sizeof name, "%s/ok", getenv("HOME") ? getenv("HOME") : "/");
        TRY("write-home", try_open(name, O_WRONLY | O_CREAT, 0644));
        TRY("write-null", try_open("/dev/null", O_WRONLY, 0));
        TRY("mkfifo", mkfifo("/tmp/fifo", 0600));
        TRY("memfd", syscall(SYS_memfd_create, "x", 0x8 /* MFD_NOEXEC_SEAL */));
        TRY("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){ 0 }));
        TRY("map-rwx-anonymous", mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
                                         ? -1
                                         : 0);
        TRY("chmod-755", try_chmod(0700));
        TRY("kill-self", kill(getpid(), 0));
}

static int canary(const char *name)
{
        struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
        struct sockaddr_un u;
        socklen_t n4 = sizeof a4, n6 = sizeof a6, nu = abstract(&u, name);
        int s4 = socket(AF_INET, SOCK_STREAM, 0), s6 = socket(AF_INET6, SOCK_STREAM, 0),
            su = socket(AF_UNIX, SOCK_STREAM, 0);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        alarm(120);
        if (bind(s4, (struct sockaddr *) &a4, n4) < 0 || listen(s4, 64) < 0 ||
            getsockname(s4, (struct sockaddr *) &a4, &n4) < 0)
                return 1;
        if (bind(s6, (struct sockaddr *) &a6, n6) < 0 || listen(s6, 64) < 0 ||
            getsockname(s6, (struct sockaddr *) &a6, &n6) < 0)
                a6.sin6_port = 0;
        if (bind(su, (struct sockaddr *) &u, nu) < 0 || listen(su, 64) < 0)
                return 1;
        printf("%d %d\n", ntohs(a4.sin_port), ntohs(a6.sin6_port));
        fflush(stdout);
        (void) !freopen("/dev/null", "w", stdout);
        for (;;)
                pause();
}

static void connects(char **v)
{
        TRY("connect-loopback", try_connect4("127.0.0.1", atoi(v[0]), SOCK_STREAM));
        if (atoi(v[1]))
                TRY("connect-loopback6", try_connect6(atoi(v[1])));
        TRY("connect-abstract", try_abstract(v[2]));
}

int main(int argc, char **argv)
{
        if (argc > 2 && strcmp(argv[1], "listen") == 0)
                return canary(argv[2]);
        if (argc > 4 && strcmp(argv[1], "connect") == 0)
                return connects(argv + 2), 0;
        if (argc > 1 && strcmp(argv[1], "hello") == 0)
                return puts("ran OK"), 0;
        walls();
        return 0;
}
