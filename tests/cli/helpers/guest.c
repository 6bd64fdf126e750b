/* SPDX-License-Identifier: MIT */
/* guest.c - a WASI program for the tests of the wasm wall: guest WORD [ARGUMENT]... does what the word says.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int failed(const char *what)
{
        printf("%s: %s\n", what, strerror(errno));
        return 1;
}

static int copy(int from, int to)
{
        char b[512];
        ssize_t n;
        while ((n = read(from, b, sizeof b)) > 0)
                if (write(to, b, (size_t) n) != n)
                        return failed("write");
        return n < 0 ? failed("read") : 0;
}

static int cat(const char *path)
{
        int fd = open(path, O_RDONLY);
        return fd < 0 ? failed(path) : copy(fd, 1);
}

static int put(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t) strlen(text))
                return failed(path);
        return close(fd) < 0 ? failed(path) : 0;
}

static int list(const char *path)
{
        DIR *d = opendir(path);
        if (!d)
                return failed(path);
        for (struct dirent *x; (x = readdir(d));)
                if (x->d_name[0] != '.')
                        puts(x->d_name);
        return 0;
}

/* CORDON_IN_NAME=/dev/fd/N */
static int handle_of(const char *variable)
{
        const char *v = getenv(variable);
        return v && strncmp(v, "/dev/fd/", 8) == 0 ? atoi(v + 8) : -1;
}

static int grow(size_t megabytes)
{
        size_t n = 0;
        while (n < megabytes && __builtin_wasm_memory_grow(0, 16) != (size_t) -1)
                n++;
        printf("%zu\n", n);
        return 0;
}

static int recurse(volatile int *p)
{
        volatile int here[64] = { *p };
        return here[0] ? recurse(here) + 1 : 0;
}

int main(int argc, char **argv)
{
        const char *word = argc > 1 ? argv[1] : "", *one = argc > 2 ? argv[2] : "",
                   *two = argc > 3 ? argv[3] : "";
        if (strcmp(word, "args") == 0)
                for (int i = 0; i < argc; i++)
                        puts(argv[i]);
        if (strcmp(word, "env") == 0)
                for (char **v = environ; *v; v++)
                        puts(*v);
        if (strcmp(word, "cat") == 0)
                return cat(one);
        if (strcmp(word, "put") == 0)
                return put(one, two);
        if (strcmp(word, "ls") == 0)
                return list(one);
        if (strcmp(word, "rm") == 0)
                return unlink(one) < 0 ? failed(one) : 0;
        if (strcmp(word, "ln") == 0)
                return symlink(one, two) < 0 ? failed(two) : 0;
        if (strcmp(word, "mv") == 0)
                return rename(one, two) < 0 ? failed(two) : 0;
        if (strcmp(word, "mkdir") == 0)
                return mkdir(one, 0755) < 0 ? failed(one) : 0;
        if (strcmp(word, "copy") == 0)
                return copy(handle_of(one), handle_of(two));
        if (strcmp(word, "tty") == 0)
                puts(isatty(1) ? "terminal" : "none");
        if (strcmp(word, "exit") == 0)
                return atoi(one);
        if (strcmp(word, "trap") == 0)
                __builtin_trap();
        if (strcmp(word, "grow") == 0)
                return grow((size_t) atoi(one));
        if (strcmp(word, "recurse") == 0)
                return recurse(&argc);
        for (volatile unsigned long n = 0; strcmp(word, "spin") == 0; n++)
                ;
        return 0;
}
