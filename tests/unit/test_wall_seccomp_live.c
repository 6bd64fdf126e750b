/* SPDX-License-Identifier: MIT */
/* The filter in the kernel: calls answer as the table says, foreign ABIs die, a told call reaches the
 * supervisor, and ordinary programs run, under the narrowest filter as under the widest. Needs no rights:
 * no_new_privs suffices. */
#include "harness.h"
#include "wall/linux/seccomp/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/memfd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* The narrowest is the process wall's; `plain` is a box of namespaces without doors. */
static const struct seccomp_ask narrowest,
        plain = { .own_view = true },
        widest = { .net = true, .unix_sockets = true, .own_ipc = true, .memfd = true, .own_view = true };

/* Returns the listener if the ask says `tell`, else 0; -1 on failure. */
static int raise_filter(struct seccomp_ask ask)
{
        static struct sock_filter insns[SECCOMP_INSNS_MAX];
        ask.arch = seccomp_native();
        struct sock_fprog prog = { .len = (unsigned short) seccomp_compile(&ask, insns, SECCOMP_INSNS_MAX),
                                   .filter = insns };
        if (prog.len == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -1;
        return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                             ask.tell ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &prog);
}

/* Runs `body` in a child behind the filter; returns its wait status, or -1. */
static int run_behind(struct seccomp_ask ask, int (*body)(void))
{
        (void) fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
                _exit(raise_filter(ask) < 0 ? 99 : body());
        int status = -1;
        return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

#define CHECK_EXITS_0(status)                                                                                \
        do {                                                                                                 \
                int status_ = (status);                                                                      \
                CHECK(WIFEXITED(status_));                                                                   \
                CHECK_INT(WEXITSTATUS(status_), 0);                                                          \
        } while (0)

/* ---- Single calls. Each body returns the number of its first wrong answer, or 0. Calls that must be refused
 * are made such that they would also fail, otherwise, without the filter: the test must not harm its host.
 * ---- */

static int errno_of(long ret) { return ret < 0 ? errno : 0; }

static int first_wrong(const int (*pairs)[2], size_t count)
{
        for (size_t i = 0; i < count; i++) {
                if (pairs[i][0] != pairs[i][1])
                        return (int) i + 1;
        }
        return 0;
}
#define FIRST_WRONG(pairs) first_wrong(pairs, sizeof(pairs) / sizeof *(pairs))

static int body_denied(void)
{
        const int got[][2] = {
                { errno_of(getpid()), 0 },
                { errno_of(mount("none", "/cordon-never", "tmpfs", 0, NULL)), EPERM },
                { errno_of(syscall(SYS_clone3, NULL, 0)), ENOSYS },
                { errno_of(syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0)), ENOSYS },
                { errno_of(socket(AF_INET, SOCK_STREAM, 0)), EAFNOSUPPORT },
                { errno_of(socket(AF_UNIX, SOCK_STREAM, 0)), EAFNOSUPPORT },
                { errno_of(unshare(CLONE_NEWUSER)), EPERM },
                { errno_of(ptrace(PTRACE_TRACEME, 0, NULL, NULL)), EPERM },
                { errno_of(syscall(SYS_ioctl, -1, TIOCSTI | 1ul << 32, "x")), EPERM },
                { errno_of(syscall(SYS_ioctl, -1, TIOCGWINSZ, NULL)), EBADF },
                { errno_of(syscall(SYS_io_uring_setup, 1, NULL)), ENOSYS },
                { errno_of(syscall(SYS_memfd_create, "x", 0)), ENOSYS },
                { errno_of(syscall(SYS_shmget, 0x636f7264, 4096, 0)), ENOSYS },
                { errno_of(fchmod(-1, 04755)), EPERM },
                { errno_of(fchmod(-1, 0755)), EPERM },
                { errno_of(fchown(-1, (uid_t) -1, (gid_t) -1)), EPERM },
                { errno_of(syscall(SYS_utimensat, -1, NULL, NULL, 0)), EPERM },
                { errno_of(syscall(SYS_fsetxattr, -1, "user.x", "", 0, 0)), EPERM },
                { errno_of(syscall(SYS_inotify_add_watch, -1, "/", 1)), EPERM },
                { errno_of(syscall(SYS_sched_setaffinity, -1, 0, NULL)), EPERM },
                { errno_of(syscall(SYS_sched_setaffinity, 0, 8, NULL)), EFAULT },
                { errno_of(setpriority(PRIO_PGRP, 0x7fffffff, 0)), EPERM },
                { errno_of(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0))), 0 },
                { errno_of(syscall(SYS_ioprio_set, 1, 0x7fffffff, 0)), EPERM },
                { errno_of(syscall(SYS_ioprio_set, 1, 0, 0)), 0 },
                { errno_of(syscall(SYS_renameat2, -1, "x", -1, "y", RENAME_WHITEOUT)), EINVAL },
                { errno_of(syscall(SYS_renameat2, -1, "x", -1, "y", RENAME_NOREPLACE)), EBADF },
                { errno_of(syscall(SYS_memfd_create, "x", MFD_HUGETLB | 8)), EACCES },
                { errno_of(openat(AT_FDCWD, "/cordon-never/x", O_CREAT | O_WRONLY, 04755)), EPERM },
                { errno_of(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)), EPERM },
                { errno_of(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 8, NULL)), EPERM },
                { errno_of(syscall(5000)), ENOSYS },
                { errno_of(syscall(-1)), ENOSYS },
        };
        return FIRST_WRONG(got);
}

static int body_granted(void)
{
        int fds[2];
        const int got[][2] = {
                { errno_of(socket(AF_INET, SOCK_STREAM, 0)), 0 },
                { errno_of(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 17)), 0 },
                { errno_of(socket(AF_INET, SOCK_RAW, 1)), EAFNOSUPPORT },
                { errno_of(socket(AF_NETLINK, SOCK_RAW, 0)), EOPNOTSUPP },
                { errno_of(socket(AF_UNIX, SOCK_STREAM, 0)), 0 },
                { errno_of(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds)), 0 },
                { errno_of(syscall(SYS_shmget, 0x636f7264, 4096, 0)), ENOENT },
                { errno_of(unshare(CLONE_NEWNET)), EPERM },
                { errno_of(fchmod(-1, 04755)), EPERM },
                { errno_of(fchmod(-1, 0755)), EBADF },
                { errno_of(fchown(-1, (uid_t) -1, (gid_t) -1)), EBADF },
                { errno_of(syscall(SYS_utimensat, -1, NULL, NULL, 0)), EBADF },
                { errno_of(syscall(SYS_fsetxattr, -1, "user.x", "", 0, 0)), EBADF },
                { errno_of(syscall(SYS_inotify_add_watch, -1, "/", 1)), ENOSYS }, /* there is no listener */
                { errno_of(syscall(SYS_sched_setaffinity, 0x7fffffff, 0, NULL)), ESRCH },
                { errno_of(setpriority(PRIO_PROCESS, 0x7fffffff, 0)), ESRCH },
                { errno_of(syscall(SYS_ioprio_set, 1, 0x7fffffff, 0)), ESRCH },
                { errno_of(syscall(SYS_renameat2, -1, "x", -1, "y", RENAME_WHITEOUT)), EINVAL },
                { errno_of(syscall(SYS_memfd_create, "x", MFD_HUGETLB)), EACCES },
        };
        return FIRST_WRONG(got);
}

static void test_live__calls_without_doors_are_refused(void)
{
        CHECK_EXITS_0(run_behind(narrowest, body_denied));
}

static void test_live__calls_with_doors_work(void) { CHECK_EXITS_0(run_behind(widest, body_granted)); }

static int body_second_filter(void) { return raise_filter(narrowest) < 0 ? 1 : body_denied(); }

static void test_live__a_box_may_narrow_itself_further(void)
{
        CHECK_EXITS_0(run_behind(widest, body_second_filter));
}

/* ---- Foreign ABIs. ---- */

#ifdef __x86_64__
static int body_int80(void)
{
        long ret = 20; /* getpid of i386 */
        __asm__ volatile("int $0x80" : "+a"(ret) : : "memory");
        return 1;
}

static int body_x32(void)
{
        (void) syscall(0x40000000 | SYS_getpid);
        return 1;
}

static bool host_has_i386(void)
{
        (void) fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
                _exit(body_int80() == 1 ? 0 : 1);
        int status = -1;
        return waitpid(pid, &status, 0) == pid && WIFEXITED(status);
}

static void test_live__i386_calls_kill(void)
{
        if (!host_has_i386())
                SKIP("this kernel has no i386 calls");
        int status = run_behind(widest, body_int80);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void test_live__x32_calls_kill(void)
{
        int status = run_behind(widest, body_x32);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void test_live__aarch32_calls_kill(void) { SKIP("not an aarch64 machine"); }
#else
static void test_live__i386_calls_kill(void) { SKIP("not an x86_64 machine"); }
static void test_live__x32_calls_kill(void) { SKIP("not an x86_64 machine"); }

enum { AARCH32_FD = 99 };
/* getpid(), then exit(1), in a file that has no name any more: such calls cannot be made from 64-bit code. */
static int aarch32_program(void)
{
        static const uint32_t program[] = { 0x464c457f, 0x00010101, 0,          0,          0x00280002,
                                            1,          0x00010054, 52,         0,          0x05000200,
                                            0x00200034, 1,          0,          1,          0,
                                            0x00010000, 0x00010000, 108,        108,        5,
                                            0x1000,     0xe3a07014, 0xef000000, 0xe3a00001, 0xe3a07001,
                                            0xef000000, 0 };
        int fd = (int) syscall(SYS_memfd_create, "aarch32", 0x10 /* MFD_EXEC */);
        return fd >= 0 && write(fd, program, sizeof program) == (ssize_t) sizeof program ? fd : -1;
}

static int body_aarch32(void)
{
        char name[] = "aarch32", *const words[] = { name, NULL };
        (void) syscall(SYS_execveat, AARCH32_FD, "", words, words + 1, AT_EMPTY_PATH);
        return 2;
}

static void test_live__aarch32_calls_kill(void)
{
        int fd = aarch32_program();
        CHECK(fd >= 0 && dup2(fd, AARCH32_FD) == AARCH32_FD);
        (void) fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
                _exit(body_aarch32());
        int status = -1;
        if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 1)
                SKIP("this kernel runs no AArch32 programs");
        status = run_behind(widest, body_aarch32);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
        (void) close(fd);
        (void) close(AARCH32_FD);
}
#endif

/* ---- Told calls. ---- */

static int told_child(int out)
{
        int listener = raise_filter((struct seccomp_ask){ .tell = true });
        if (listener < 0 || write(out, &listener, sizeof listener) != sizeof listener)
                return 99;
        const int got[][2] = { { errno_of(mount("none", "/cordon-never", "tmpfs", 0, NULL)), EPERM },
                               { errno_of(socket(AF_INET, SOCK_DGRAM, 0)), EAFNOSUPPORT } };
        return FIRST_WRONG(got);
}

static void answer_one(int listener, const char *want)
{
        struct seccomp_notif told = { 0 };
        char text[96];
        CHECK_INT(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &told), 0);
        CHECK_STR(seccomp_describe(&told.data, text, sizeof text), want);
        struct seccomp_notif_resp resp = { .id = told.id, .error = -seccomp_errno(&told.data) };
        CHECK_INT(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp), 0);
}

static void supervise(pid_t pid, int in)
{
        int number = -1, status = -1, pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
        CHECK_INT(read(in, &number, sizeof number), sizeof number);
        int listener = (int) syscall(SYS_pidfd_getfd, pidfd, number, 0);
        if (listener < 0)
                (void) kill(pid, SIGKILL);
        else {
                answer_one(listener, "mount()");
                answer_one(listener, "socket(AF_INET, SOCK_DGRAM)");
        }
        CHECK_INT(waitpid(pid, &status, 0), pid);
        if (listener < 0)
                SKIP("this process may not take the listener from its child");
        CHECK_EXITS_0(status);
        (void) close(listener);
        (void) close(pidfd);
}

static void test_live__a_told_call_reaches_the_supervisor(void)
{
        int p[2];
        CHECK_INT(pipe2(p, O_CLOEXEC), 0);
        (void) fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
                _exit(told_child(p[1]));
        (void) close(p[1]);
        supervise(pid, p[0]);
        (void) close(p[0]);
}

/* ---- Ordinary programs: a shell script each, which must print "ok" as its last line and exit with 0. ----
 */

static const char *script;

static int body_script(void)
{
        (void) execl("/bin/sh", "sh", "-ec", script, (char *) NULL);
        return 127;
}

static bool has_tool(const char *name)
{
        char text[128];
        (void) snprintf(
                text, sizeof text,
                "for v in --version version -version; do %s $v >/dev/null 2>&1 && exit 0; done; exit 1",
                name);
        pid_t pid = fork();
        if (pid == 0) {
                (void) execl("/bin/sh", "sh", "-c", text, (char *) NULL);
                _exit(127);
        }
        int status = -1;
        return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void check_runs(struct seccomp_ask ask, const char *which)
{
        int p[2];
        CHECK_INT(pipe2(p, O_CLOEXEC), 0);
        (void) fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
                (void) dup2(p[1], 1);
                (void) dup2(p[1], 2);
                _exit(raise_filter(ask) < 0 ? 99 : body_script());
        }
        (void) close(p[1]);
        char out[4096];
        size_t n = 0;
        for (ssize_t r; n < sizeof out - 1 && (r = read(p[0], out + n, sizeof out - 1 - n)) > 0;
             n += (size_t) r)
                ;
        out[n] = '\0';
        (void) close(p[0]);
        int status = -1;
        CHECK_INT(waitpid(pid, &status, 0), pid);
        bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && n >= 3 && strcmp(out + n - 3, "ok\n") == 0;
        CHECK(ok);
        if (!ok)
                printf("# %s filter, status %x, it said: %.*s\n", which, (unsigned) status,
                       (int) strcspn(out, "\n"), out);
}

static void run_script(const char *tool, const char *text, const char *narrow)
{
        if (tool && !has_tool(tool))
                SKIP("not installed");
        script = text;
        check_runs(plain, "plain");
        check_runs(widest, "widest");
        script = narrow;
        check_runs(narrowest, "narrowest");
}

#define PROGRAM(name, tool, text)                                                                            \
        static void test_live__##name(void) { run_script(tool, text, text); }
/* With another text for the narrowest filter, where nobody changes permissions or times. */
#define PROGRAM_NARROW(name, tool, text, narrow)                                                             \
        static void test_live__##name(void) { run_script(tool, text, narrow); }
#define IN_DIR "d=$(mktemp -d); trap 'rm -rf \"$d\"' EXIT; cd \"$d\"; "

PROGRAM(a_shell_and_its_pipes_run, NULL,
        IN_DIR "echo b > x; echo a >> x; test \"$(sort x | tr a-z A-Z | head -1)\" = A; (sleep 0.01 & wait); "
               "x=$(cat <<E\nhere\nE\n); test $x = here; ulimit -n >/dev/null; mkfifo f; rm f; echo ok")
PROGRAM_NARROW(
        core_utilities_run, NULL,
        IN_DIR
        "ls -la / >/dev/null; mkdir -p a/b; cp -a /bin/true a/b/t; mv a/b/t a/t; chmod 755 a/t; a/t; ln -s a "
        "l; "
        "touch -d yesterday f; tar cf x.tar a; tar tf x.tar >/dev/null; find . -name t | xargs stat "
        ">/dev/null; "
        "df . >/dev/null; id >/dev/null; date >/dev/null; dd if=/dev/zero of=z bs=1k count=4 2>/dev/null; "
        "sha256sum z >/dev/null; timeout 5 true; nice true; nproc >/dev/null; rm -r a l; sync z; echo ok",
        IN_DIR
        "ls -la / >/dev/null; mkdir -p a/b; cp /bin/true a/b/t; mv a/b/t a/t; a/t; ln -s a l; : > f; "
        "if chmod 600 f 2>/dev/null || touch -d yesterday f 2>/dev/null || cp -p f g 2>/dev/null; then exit "
        "1; "
        "fi; tar cf x.tar a; tar tf x.tar >/dev/null; find . -name t | xargs stat >/dev/null; df . "
        ">/dev/null; "
        "id >/dev/null; date >/dev/null; dd if=/dev/zero of=z bs=1k count=4 2>/dev/null; sha256sum z "
        ">/dev/null; timeout 5 true; nice true; nproc >/dev/null; rm -r a l; sync z; echo ok")
PROGRAM(python3_runs, "python3",
        IN_DIR
        "python3 -c 'import json,threading,subprocess,tempfile,asyncio,socket,os,time,select\n"
        "t=threading.Thread(target=lambda: None); t.start(); t.join()\n"
        "assert subprocess.run([\"echo\",\"hi\"],capture_output=True).stdout==b\"hi\\n\"\n"
        "asyncio.run(asyncio.sleep(0))\n"
        "a,b=socket.socketpair(); a.send(b\"x\"); assert b.recv(1)==b\"x\"\n"
        "tempfile.TemporaryFile().write(b\"x\"); os.getrandom(4); json.loads(\"[1]\")\n"
        "import multiprocessing.pool; p=multiprocessing.pool.ThreadPool(3); assert p.map(abs,[-1])==[1]\n"
        "pid=os.fork()\nif pid==0: os._exit(7)\nassert os.waitpid(pid,0)[1]==7<<8'; echo ok")
PROGRAM(node_runs, "node",
        "node -e 'require(\"child_process\").execFileSync(\"true\"); require(\"fs\").readdirSync(\"/\"); "
        "const {Worker}=require(\"worker_threads\"); const w=new Worker(\"1\",{eval:true}); "
        "w.on(\"exit\",c=>{require(\"crypto\").pbkdf2(\"a\",\"b\",9,8,\"sha256\",()=>process.exit(c))})'; "
        "echo ok")
/* Without chmod git writes no configuration (so none is made here by `git init`), ... */
PROGRAM_NARROW(
        git_runs, "git",
        IN_DIR
        "export HOME=$d GIT_CONFIG_NOSYSTEM=1; git init -q r; cd r; echo x > f; git add f; "
        "git -c user.name=n -c user.email=e commit -qm m; git -c gc.auto=0 repack -adq; git clone -q . ../s; "
        "git log --oneline >/dev/null; echo ok",
        IN_DIR "export HOME=$d GIT_CONFIG_NOSYSTEM=1; mkdir -p r/.git/objects r/.git/refs/heads; cd r; "
               "echo ref: refs/heads/m > .git/HEAD; echo x > f; git add f; "
               "git -c user.name=n -c user.email=e commit -qm m; git -c gc.auto=0 repack -adq; "
               "git log --oneline >/dev/null; git status -s; echo ok")
/* ... the linker leaves its output without the x bit, so a copy into a file that has it must do, ... */
PROGRAM_NARROW(gcc_compiles, "gcc",
               IN_DIR
               "printf '#include <stdio.h>\\nint main(void){return puts(\"hello\")<0;}' > h.c; gcc -O2 -pipe "
               "-o h h.c; "
               "test \"$(./h)\" = hello; echo ok",
               IN_DIR
               "printf '#include <stdio.h>\\nint main(void){return puts(\"hello\")<0;}' > h.c; gcc -O2 -pipe "
               "-o h h.c; cp /bin/true r; cat h > r; test \"$(./r)\" = hello; echo ok")
/* ... and touch makes the file but says that it failed. */
PROGRAM_NARROW(make_runs_jobs, "make",
               IN_DIR
               "printf 'all: a b c\\na b c:\\n\\t@sleep 0.01; touch $@\\n' > Makefile; make -s -j3; test -e "
               "c; echo ok",
               IN_DIR
               "printf 'all: a b c\\na b c:\\n\\t@sleep 0.01; : > $@\\n' > Makefile; make -s -j3; test -e c; "
               "if touch t 2>/dev/null; then exit 1; fi; test -e t; echo ok")
PROGRAM(perl_runs, "perl",
        "perl -e 'my $x=`echo hi`; die unless $x eq \"hi\\n\"; if(!fork()){exit 0} wait; "
        "select(undef,undef,undef,0.01)'; echo ok")
PROGRAM(java_runs, "java", "java -Xshare:auto -version >/dev/null 2>&1; echo ok")
#define RUST                                                                                                 \
        IN_DIR "echo 'fn "                                                                                   \
               "main(){std::thread::spawn(||{}).join().unwrap();std::process::Command::new(\"true\")."       \
               "status()"                                                                                    \
               ".unwrap();}' > m.rs; rustc m.rs; "
PROGRAM_NARROW(rustc_runs, "rustc", RUST "./m; echo ok", RUST "test -s m; echo ok")
PROGRAM(go_runs, "go",
        IN_DIR
        "export HOME=$d GOFLAGS=-mod=mod; printf 'package main\\nfunc main(){}' > m.go; go run m.go; echo ok")
PROGRAM(sqlite_runs, "sqlite3",
        IN_DIR "sqlite3 t.db 'pragma journal_mode=wal; create table t(x); insert into t values(1); select * "
               "from t' >/dev/null; echo ok")
PROGRAM(curl_runs, "curl", "curl -s file:///etc/hostname >/dev/null || test $? = 37; echo ok")
PROGRAM(ffmpeg_runs, "ffmpeg", "ffmpeg -v error -f lavfi -i testsrc=d=0.1 -f null -; echo ok")

static const struct test_case cases[] = {
        CASE(test_live__calls_without_doors_are_refused),
        CASE(test_live__calls_with_doors_work),
        CASE(test_live__a_box_may_narrow_itself_further),
        CASE(test_live__i386_calls_kill),
        CASE(test_live__x32_calls_kill),
        CASE(test_live__aarch32_calls_kill),
        CASE(test_live__a_told_call_reaches_the_supervisor),
        CASE(test_live__a_shell_and_its_pipes_run),
        CASE(test_live__core_utilities_run),
        CASE(test_live__python3_runs),
        CASE(test_live__node_runs),
        CASE(test_live__git_runs),
        CASE(test_live__gcc_compiles),
        CASE(test_live__make_runs_jobs),
        CASE(test_live__perl_runs),
        CASE(test_live__java_runs),
        CASE(test_live__rustc_runs),
        CASE(test_live__go_runs),
        CASE(test_live__sqlite_runs),
        CASE(test_live__curl_runs),
        CASE(test_live__ffmpeg_runs),
};
TEST_MAIN(cases)
