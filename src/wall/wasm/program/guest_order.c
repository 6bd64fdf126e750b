/* SPDX-License-Identifier: MIT */
/* wall/wasm/program/guest_order.c - the arguments of a run that cordon-wasm was started for ahead of time, in
 * a parked box: the length of the rest (32 bits), then words that end with NUL. The first is 1 if standard
 * error is standard output; then comes the command. */
#include "wall/wasm/program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { PACKET = 128 << 10, ORDER_MAX = 8 << 20 };

/* A packet; the end of the line ends the process. */
static ssize_t take_packet(int line, char *to, size_t room)
{
        ssize_t n;
        do
                n = read(line, to, room);
        while (n < 0 && errno == EINTR);

        if (n == 0)
                _exit(0);
        return n;
}

/* Returns the words, `*ret_n` bytes that end with NUL; or NULL. */
static char *take_words(int line, size_t *ret_n)
{
        static char first[PACKET];
        uint32_t length;
        ssize_t n = take_packet(line, first, sizeof first);
        if (n < (ssize_t) sizeof length)
                return NULL;

        memcpy(&length, first, sizeof length);
        size_t have = (size_t) n - sizeof length;
        char *words = length && length <= ORDER_MAX && have <= length ? malloc(length) : NULL;
        if (!words)
                return NULL;

        memcpy(words, first + sizeof length, have);
        for (; have < length; have += (size_t) n)
                if ((n = take_packet(line, words + have, length - have)) < 0)
                        break;

        *ret_n = length;
        if (have == length && words[length - 1] == '\0')
                return words;

        free(words);
        return NULL;
}

/* NULL without one. */
static const char **split_words(char *words, size_t n)
{
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
                count += words[i] == '\0';

        if (count == 0)
                return NULL;

        const char **v = calloc(count + 1, sizeof *v);
        if (!v)
                return NULL;

        for (size_t i = 0; i < count; i++, words += strlen(words) + 1)
                v[i] = words;
        return v;
}

/* With the calls that the filter leaves. */
static int join_streams(void)
{
        (void) close(STDERR_FILENO);
        return fcntl(STDOUT_FILENO, F_DUPFD, STDERR_FILENO) == STDERR_FILENO ? 0 : -1;
}

int guest_order_await(struct engine_options *o, struct err *e)
{
        static char *words; /* and what points to them: as long as the process */
        enum { FLAG = 2 };  /* "0" or "1" */
        size_t n = 0;
        words = write(o->line, "R", 1) == 1 ? take_words(o->line, &n) : NULL;
        const char **v = words && n > FLAG ? split_words(words + FLAG, n - FLAG) : NULL;
        if (v)
                o->argv = v;

        if (!v || (words[0] == '1' && join_streams() < 0))
                return err_set(e, ERR_EXEC, errno, "the order of a run cannot be read");

        (void) close(o->line);
        o->line = 0;
        o->name = o->argv[0];
        return 0;
}

void guest_order_refuse(const struct engine_options *o, const struct err *e)
{
        char text[200] = "E";
        size_t n = strnlen(e->what, sizeof text - 1);
        memcpy(text + 1, e->what, n);
        (void) !write(o->line, text, n + 1);
}
