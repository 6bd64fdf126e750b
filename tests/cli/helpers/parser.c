/* SPDX-License-Identifier: MIT */
/* parser.c FILE...: a decoder with every fault that decoders have. The first word of a file says which one it
 * meets; a file that says "look PATH" tries to read PATH, as whoever took the parser over would. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile int *nowhere;

static void deep(volatile char *above)
{
        volatile char frame[4096];
        frame[0] = above[0];
        deep(frame);
}

static void eat(void)
{
        for (;;) {
                size_t n = 16u << 20;
                char *p = malloc(n);
                if (!p)
                        abort();
                memset(p, 1, n);
        }
}

/* An address of RFC 5737: nobody has it. */
static int reaches_network(void)
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(80) };
        int s = socket(AF_INET, SOCK_DGRAM, 0);
        (void) inet_pton(AF_INET, "192.0.2.1", &at.sin_addr);
        return s >= 0 && connect(s, (struct sockaddr *) &at, sizeof at) == 0;
}

static int look(const char *path)
{
        FILE *f = fopen(path, "re");
        char text[64] = "";
        if (!f || !fgets(text, sizeof text, f)) {
                puts("not seen");
                return 3;
        }
        printf("seen: %s", text);
        return 0;
}

static int parse(char *text, size_t n)
{
        char *word = strtok(text, " \n"), *rest = strtok(NULL, "\n");
        if (n == 0 || !word)
                return fputs("empty\n", stderr), 1;
        if (strcmp(word, "segv") == 0)
                return *nowhere;
        if (strcmp(word, "abort") == 0)
                abort();
        if (strcmp(word, "divide") == 0)
                (void) raise(SIGFPE);
        if (strcmp(word, "trap") == 0)
                __builtin_trap();
        if (strcmp(word, "stack") == 0)
                deep(text);
        if (strcmp(word, "loop") == 0)
                for (;;)
                        __asm__ volatile("");
        if (strcmp(word, "memory") == 0)
                eat();
        if (strcmp(word, "fork") == 0)
                for (;;)
                        (void) fork();
        if (strcmp(word, "flood") == 0)
                for (;;)
                        puts("a line that nobody asked for");
        if (strcmp(word, "look") == 0)
                return look(rest);
        if (strcmp(word, "net") == 0)
                return reaches_network() ? 0 : (puts("no network"), 4);
        printf("%s\n", word);
        return 0;
}

int main(int argc, char **argv)
{
        int status = 0;
        for (int i = 1; i < argc; i++) {
                char text[4096] = "";
                FILE *f = fopen(argv[i], "re");
                if (!f)
                        return perror(argv[i]), 2;
                size_t n = fread(text, 1, sizeof text - 1, f);
                (void) fclose(f);
                int r = parse(text, n);
                status = r ? r : status;
        }
        return status;
}
