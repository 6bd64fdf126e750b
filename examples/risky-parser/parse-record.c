/* SPDX-License-Identifier: MIT */
/* parse-record.c - the parser nobody trusts: reads `LENGTH:TEXT` records from its input and prints each. It
 * believes the length, as so many have: a record that claims more than it has writes through a wild pointer.
 * It also tries what a parser that was taken over would try: `open:PATH` and `connect`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void parse(char *line)
{
        char *text = strchr(line, ':');
        if (strncmp(line, "open:", 5) == 0) {
                FILE *f = fopen(line + 5, "r");
                (void) printf("open %s: %s\n", line + 5, f ? "it can" : strerror(errno));
                return;
        }
        if (strcmp(line, "connect") == 0) {
                int fd = socket(AF_INET, SOCK_STREAM, 0);
                (void) printf("connect: %s\n", fd < 0 ? strerror(errno) : "it can");
                return;
        }
        unsigned long length = strtoul(line, NULL, 10);
        if (!text++)
                text = line;
        if (length > strlen(text)) { /* the bug, made the same on every machine */
                char *volatile wild = (char *) 16;
                *wild = text[0];
        }
        (void) printf("record: %.*s\n", (int) length, text);
}

int main(void)
{
        char line[256];
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                parse(line);
                (void) fflush(stdout);
        }
        return 0;
}
