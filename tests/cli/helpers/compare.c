/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/compare.c - asks cordon_policy_why() about random effects, does the same effects in a
 * real box, and prints where the two differ. compare SEED EFFECTS TREE CORDON PORT PORT   policies and
 * effects over TREE, which this program makes compare do                                   in the box: one
 * effect a line on stdin, one outcome a line on stdout compare hello                                ends with
 * 0: a program that ran */
#define _GNU_SOURCE
#include "../../context.h"
#include "cordon.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
enum { PER_BOX = 100, TEXT = 512, POLICY = 4096 };

/* ---- in the box ---- */

static const char *do_read(const char *path)
{
        struct stat st;
        char c;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &st) < 0)
                return strerrorname_np(errno);
        if (S_ISDIR(st.st_mode)) {
                DIR *d = fdopendir(fd);
                bool host = d && faccessat(dirfd(d), "mark", F_OK, 0) == 0;
                errno = 0;
                bool lists = d && readdir(d);
                const char *why = lists ? host ? "OK" : "OWN" : strerrorname_np(errno);
                if (d)
                        closedir(d);
                return why;
        }
        ssize_t n = read(fd, &c, 1);
        const char *why = n < 0 ? strerrorname_np(errno) : n == 0 ? "OWN" : "OK";
        close(fd);
        return why;
}

static const char *do_write(const char *path)
{
        char in[TEXT + 8];
        struct stat st;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
                (void) snprintf(in, sizeof in, "%s/.new", path);
        else
                (void) snprintf(in, sizeof in, "%s", path);
        bool was = stat(in, &st) == 0;
        int fd = open(in, O_WRONLY | (was ? 0 : O_CREAT) | O_CLOEXEC | O_NONBLOCK, 0666);
        if (fd < 0)
                return strerrorname_np(errno);
        (void) close(fd);
        char *made = was ? NULL : realpath(in, NULL);
        if (made)
                (void) unlink(made);
        free(made);
        return "OK";
}

static const char *do_run(const char *path)
{
        char *argv[] = { (char *) (uintptr_t) path, (char *) "hello", NULL };
        int line[2], why = 0, null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (pipe2(line, O_CLOEXEC) < 0)
                return "pipe";
        pid_t pid = vfork();
        if (pid == 0) {
                for (int i = 0; i < 3; i++)
                        (void) dup2(null, i);
                execvp(path, argv);
                why = errno;
                _exit(write(line[1], &why, sizeof why) < 0);
        }
        (void) close(line[1]);
        bool failed = read(line[0], &why, sizeof why) == sizeof why;
        (void) close(line[0]);
        (void) close(null);
        (void) waitpid(pid, NULL, 0);
        return failed ? strerrorname_np(why) : "OK";
}

static const char *do_net(const char *where)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        char c;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        a.sin_port = htons((uint16_t) strtoul(strrchr(where, ':') + 1, NULL, 10));
        if (fd < 0 || connect(fd, (struct sockaddr *) &a, sizeof a) < 0) {
                const char *why = strerrorname_np(errno);
                if (fd >= 0)
                        (void) close(fd);
                return why;
        }
        ssize_t n = read(fd, &c, 1); /* the listener outside greets */
        (void) close(fd);
        return n == 1 ? "OK" : "closed";
}

static const char *do_env(const char *name) { return getenv(name) ? "OK" : "unset"; }

static const struct {
        const char *word;
        const char *(*does)(const char *what);
} kinds[] = {
        { "read", do_read }, { "write", do_write }, { "run", do_run }, { "net", do_net }, { "env", do_env }
};

/* All are read first: an effect may be to read from standard input. */
static int do_effects(void)
{
        static char all[PER_BOX * 2 * TEXT];
        if (fread(all, 1, sizeof all - 1, stdin) == 0)
                return 2;
        for (char *rest = all, *line; (line = strsep(&rest, "\n")) && *line;) {
                char *what = strchr(line, ' ');
                *what++ = '\0';
                for (size_t i = 0; i < COUNT(kinds); i++)
                        if (strcmp(kinds[i].word, line) == 0)
                                (void) puts(kinds[i].does(what));
        }
        return 0;
}

/* ---- the tree ---- */

static const char *tree, *cordon;
static unsigned ports[2];
static uint64_t state;

static unsigned roll(unsigned n)
{
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (unsigned) (state >> 33) % n;
}
static bool one_in(unsigned n) { return roll(n) == 0; }

static const char *const dirs[] = { "a", "a/b", "a/b/c", "d", "d/e", "a/.ssh" };
static const char *const names[] = { "canary", "f", "prog", "data" };
static const struct {
        const char *at, *to; /* "%": the tree */
} links[] = {
        { "a/in", "b/f" },
        { "a/up", "b/../f" },
        { "a/out", "../d/f" },
        { "a/abs", "%/d/e/f" },
        { "a/absin", "%/a/b/f" },
        { "a/dir", "../d" },
        { "a/loop", "loop" },
        { "a/none", "nothing" },
        { "a/env", "/usr/bin/env" },
        { "a/chain", "out" },
        { "a/pl", "b/prog" },
        { "a/po", "../d/prog" },
        { "d/back", "../a/b" },
        { "d/bin", "/usr/bin" },
        { "l", "a/b" },
        { "lf", "d/f" },
        { "a/b/self", "../../a/b/c" },
        { "a/tmp", "/tmp" },
        { "a/passwd", "/etc/passwd" },
};

static int make_tree(const char *self)
{
        char command[3 * PATH_MAX];
        for (size_t i = 0; i < COUNT(dirs); i++) {
                (void) snprintf(command, sizeof command,
                                "cd '%s' && mkdir -p %s && for f in mark canary f data; do echo x >%s/$f; "
                                "done && cp '%s' %s/prog",
                                tree, dirs[i], dirs[i], self, dirs[i]);
                if (system(command) != 0)
                        return -1;
        }
        for (size_t i = 0; i < COUNT(links); i++) {
                char at[PATH_MAX], to[PATH_MAX];
                (void) snprintf(at, sizeof at, "%s/%s", tree, links[i].at);
                (void) snprintf(to, sizeof to, "%s%s", links[i].to[0] == '%' ? tree : "",
                                links[i].to + (links[i].to[0] == '%'));
                if (symlink(to, at) < 0)
                        return -1;
        }
        (void) snprintf(command, sizeof command, "chmod -R a+rwX '%s'", tree);
        return system(command);
}

static const char *const host_paths[] = {
        "/",
        "/etc",
        "/etc/passwd",
        "/etc/group",
        "/etc/hostname",
        "/etc/hosts",
        "/etc/resolv.conf",
        "/etc/nsswitch.conf",
        "/usr",
        "/usr/bin",
        "/usr/bin/env",
        "/usr/bin/nosuch",
        "/usr/lib",
        "/bin/sh",
        "/bin",
        "/tmp",
        "/tmp/new",
        "/var/tmp/new",
        "/dev",
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/urandom",
        "/dev/random",
        "/dev/shm/new",
        "/dev/kmsg",
        "/dev/mem",
        "/proc",
        "/proc/self/status",
        "/proc/self/comm",
        "/proc/meminfo",
        "/proc/version",
        "/proc/sys/kernel/hostname",
        "/proc/1/status",
        "/sys",
        "/sys/kernel",
        "/home",
        "/home/box",
        "/home/box/new",
        "/var",
        "/var/log",
        "/run",
        "/root",
        "/root/.bashrc",
        "/nosuch/x",
        "/usr/new",
        "/etc/new",
        "/dev/pts",
        "/dev/fd",
        "/dev/stdin",
        "/dev/tty",
        "/dev/shm",
        "/var/tmp",
        "/etc/alternatives",
        "/usr/share",
        "/opt",
        "/srv",
};
static const char *const programs[] = { "env", "true", "sh", "nosuch-program", "ls" };

static void some_path(char ret[TEXT])
{
        static const char *const ways[] = { "a/dir",    "a/dir/e",  "d/back",  "l",     "l/c",
                                            "a/b/self", "d/back/c", "nothing", "d/e/no" };
        unsigned k = roll(100);
        if (k < 40)
                (void) snprintf(ret, TEXT, "%s/%s/%s", tree, dirs[roll(COUNT(dirs))],
                                one_in(8) ? "missing" : names[roll(COUNT(names))]);
        else if (k < 55)
                (void) snprintf(ret, TEXT, "%s/%s", tree, links[roll(COUNT(links))].at);
        else if (k < 70)
                (void) snprintf(ret, TEXT, "%s/%s/%s", tree, ways[roll(COUNT(ways))],
                                names[roll(COUNT(names))]);
        else if (k < 80)
                (void) snprintf(ret, TEXT, "%s/%s", tree, dirs[roll(COUNT(dirs))]);
        else if (k < 82)
                (void) snprintf(ret, TEXT, "%s", tree);
        else
                (void) snprintf(ret, TEXT, "%s", host_paths[roll(COUNT(host_paths))]);
}

/* ---- policies ---- */

static void add(char *policy, const char *fmt, ...)
{
        size_t n = strlen(policy);
        va_list ap;
        va_start(ap, fmt);
        (void) vsnprintf(policy + n, POLICY - n, fmt, ap);
        va_end(ap);
}

static void file_door(char *policy)
{
        static const char *const words[] = { "read", "read", "edit", "write" };
        const char *word = words[roll(COUNT(words))], *dir = dirs[roll(COUNT(dirs))];
        if (one_in(5))
                add(policy, "%s %s/%s?\n", word, tree, links[roll(COUNT(links))].at);
        else if (one_in(3))
                add(policy, "%s %s/%s/%s\n", word, tree, dir, names[roll(COUNT(names))]);
        else if (strcmp(word, "write") != 0 && one_in(4))
                add(policy, "%s %s/%s except %s\n", word, tree, dir, names[roll(COUNT(names))]);
        else
                add(policy, "%s %s/%s\n", word, tree, dir);
}

static void run_door(char *policy)
{
        if (one_in(3))
                add(policy, "run %s\n", programs[roll(3)]);
        else if (one_in(2))
                add(policy, "run %s/%s/prog\n", tree, dirs[roll(COUNT(dirs))]);
        else if (one_in(2))
                add(policy, "run %s/%s\n", tree, one_in(2) ? "a/pl" : "a/po");
        else
                add(policy, "run %s/%s/\n", tree, dirs[roll(COUNT(dirs))]);
}

static void some_policy(char *policy, const char *self)
{
        bool named = one_in(3);
        policy[0] = '\0';
        add(policy, "%s", named ? one_in(2) ? "use base/loader\n" : "use none\n" : "use base/system\n");
        add(policy, named ? "run %s\n" : "read %s\n", self);
        add(policy, "env COMPARE_PASSED\nlimit time 10m\n");
        for (unsigned i = roll(5); i > 0; i--)
                file_door(policy);
        for (unsigned i = named ? roll(3) : 0; i > 0; i--)
                run_door(policy);
        if (one_in(4))
                add(policy, "net 127.0.0.1:%u\n", ports[0]);
}

static void some_effect(char ret[2 * TEXT])
{
        static const char *const vars[] = { "COMPARE_PASSED", "COMPARE_KEPT", "HOME", "PATH" };
        char path[TEXT];
        some_path(path);
        unsigned k = roll(100);
        if (k < 45)
                (void) snprintf(ret, 2 * TEXT, "read %s", path);
        else if (k < 75)
                (void) snprintf(ret, 2 * TEXT, "write %s", path);
        else if (k < 80)
                (void) snprintf(ret, 2 * TEXT, "run %s", programs[roll(COUNT(programs))]);
        else if (k < 95)
                (void) snprintf(ret, 2 * TEXT, "run %s", strcmp(path, "/") == 0 ? "/bin/sh" : path);
        else if (k < 97)
                (void) snprintf(ret, 2 * TEXT, "env %s", vars[roll(COUNT(vars))]);
        else
                (void) snprintf(ret, 2 * TEXT, "net 127.0.0.1:%u", ports[roll(2)]);
}

/* ---- both answers ---- */

static bool agree(const char *effect, const char *why, const char *saw)
{
        bool allow = strstr(why, "\"answer\":\"allow\"") != NULL, ok = strcmp(saw, "OK") == 0,
             own = strcmp(saw, "OWN") == 0;
        bool absent = strstr(why, "\"on_host\":false") != NULL,
             built_in = strstr(why, "\"built_in\"") != NULL;
        char mark[2 * TEXT];

        if (!allow)
                return !ok;
        if (own) { /* only directories of the tree have a mark */
                (void) snprintf(mark, sizeof mark, "%s/mark", strchr(effect, ' ') + 1);
                return built_in || access(mark, F_OK) < 0;
        }
        return ok || absent ||
               (built_in && strcmp(saw, "ENOENT") == 0); /* private places are empty at first */
}

/* The outcomes, one a line, or NULL: the box did not start, which is the policy's fault. */
static char *in_box(const char *policy_file, const char *effects_file, const char *self, const char *out_file)
{
        static char out[PER_BOX * 32];
        char command[4 * PATH_MAX];
        (void) snprintf(command, sizeof command,
                        "'%s' run -q --observe calls -p '%s' -- '%s' do <'%s' >'%s' 2>'%s.err'", cordon,
                        policy_file, self, effects_file, out_file, out_file);
        if (system(command) != 0)
                return NULL;
        int fd = open(out_file, O_RDONLY);
        ssize_t n = fd < 0 ? -1 : read(fd, out, sizeof out - 1);
        if (n < 0)
                return NULL;
        (void) close(fd);
        out[n] = '\0';
        return out;
}

static void put(const char *file, const char *text)
{
        int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                perror(file);
        (void) close(fd);
}

static unsigned compare_box(const char *self, unsigned *ret_wrong)
{
        static char policy[POLICY], effects[PER_BOX][2 * TEXT], all[PER_BOX * 2 * TEXT];
        char files[3][1024];
        static const char *const kept[] = { "policy", "effects", "out" };
        for (size_t i = 0; i < 3; i++)
                (void) snprintf(files[i], sizeof files[i], "%.900s.%s", tree, kept[i]);
        some_policy(policy, self);
        all[0] = '\0';
        char *end = all;
        for (unsigned i = 0; i < PER_BOX; i++) {
                some_effect(effects[i]);
                end += sprintf(end, "%s\n", effects[i]);
        }
        put(files[0], policy);
        put(files[1], all);
        char *out = in_box(files[0], files[1], self, files[2]);
        if (!out)
                return 0;
        cordon_error e = { 0 };
        cordon_policy *p = cordon_policy_new(test_context());
        if (!p || cordon_policy_add_file(p, files[0], &e) < 0)
                return 0;
        unsigned n = 0;
        for (char *saw = strtok(out, "\n"); saw && n < PER_BOX; saw = strtok(NULL, "\n"), n++) {
                int allowed = 0;
                char *why = cordon_policy_why(p, effects[n], 1, &allowed, &e);
                if (!why || !agree(effects[n], why, saw)) {
                        (void) printf("# %s: the box saw %s\n# why: %s# policy:\n%s", effects[n], saw,
                                      why ? why : e.what, policy);
                        ++*ret_wrong;
                }
                cordon_free(why);
        }
        cordon_policy_free(p);
        return n;
}

/* Greets each that connects, until its parent ends. Returns the port. */
static unsigned listener(void)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n = sizeof a;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *) &a, sizeof a) < 0 || listen(fd, 64) < 0 ||
            getsockname(fd, (struct sockaddr *) &a, &n) < 0)
                return 0;
        pid_t parent = getpid();
        if (fork() == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                while (getppid() == parent) {
                        int to = accept(fd, NULL, NULL);
                        if (to >= 0 && write(to, "x", 1) < 0)
                                perror("greeting");
                        (void) close(to);
                }
                _exit(0);
        }
        (void) close(fd);
        return ntohs(a.sin_port);
}

int main(int argc, char **argv)
{
        if (argc == 2 && strcmp(argv[1], "do") == 0)
                return do_effects();
        if (argc != 5)
                return 0; /* hello */
        state = strtoull(argv[1], NULL, 10);
        unsigned long want = strtoul(argv[2], NULL, 10), done = 0, boxes = 0, refused = 0;
        unsigned wrong = 0;
        tree = argv[3];
        cordon = argv[4];
        ports[0] = listener();
        ports[1] = listener();
        char self[PATH_MAX];
        if (!ports[0] || !ports[1] || !realpath("/proc/self/exe", self) || make_tree(self) < 0)
                return 2;
        for (; done < want && boxes < want; boxes++) {
                unsigned n = compare_box(self, &wrong);
                done += n;
                refused += n == 0;
        }
        (void) printf("%lu effects in %lu boxes, %lu more did not start: %u disagreements\n", done,
                      boxes - refused, refused, wrong);
        return wrong > 0;
}
