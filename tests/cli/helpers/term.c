/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/term.c - a terminal for a program, driven by a script of lines on standard input:
 *   term ROWS COLUMNS PROGRAM ARGUMENT...
 *     expect TEXT       waits up to 5 s until the program has written it (from where the last one ended)
 *     send TEXT         types it; \n \t \NNN (octal) as in C
 *     resize R C        changes the size
 *     pause MS          lets it go on for so long
 *     wait              waits for the program's end
 * Prints everything the program wrote, then "STATUS n", then "RAW" or "COOKED" for the terminal's state, then
 * how many bytes wait to be read on it as "PENDING n". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

static char seen[1 << 20];
static size_t have, from;
static int master, slave;

static void pump(int ms)
{
        struct pollfd p = { .fd = master, .events = POLLIN };
        if (poll(&p, 1, ms) <= 0)
                return;
        ssize_t n = read(master, seen + have, sizeof seen - 1 - have);
        if (n > 0)
                have += (size_t) n;
        seen[have] = '\0';
}

static long now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void expect(const char *text)
{
        for (long end = now() + 20000; now() < end;) {
                char *at = memmem(seen + from, have - from, text, strlen(text));
                if (at) {
                        from = (size_t) (at - seen) + strlen(text);
                        return;
                }
                pump(50);
        }
        printf("MISSING %s\n", text);
}

static void type(const char *text)
{
        char out[4096];
        size_t n = 0;
        for (const char *c = text; *c && n < sizeof out; c++) {
                if (*c != '\\') {
                        out[n++] = *c;
                        continue;
                }
                c++;
                if (*c == 'n')
                        out[n++] = '\n';
                else if (*c == 't')
                        out[n++] = '\t';
                else {
                        char octal[4] = { c[0], c[1], c[2], 0 };
                        out[n++] = (char) strtol(octal, NULL, 8);
                        c += 2;
                }
        }
        (void) !write(master, out, n);
}

int main(int argc, char **argv)
{
        if (argc < 4)
                return 64;
        struct winsize w = { .ws_row = (unsigned short) atoi(argv[1]),
                             .ws_col = (unsigned short) atoi(argv[2]) };
        struct termios before, after;
        if (openpty(&master, &slave, NULL, NULL, &w) < 0 || tcgetattr(slave, &before) < 0)
                return 65;
        pid_t pid = fork();
        if (pid == 0) {
                (void) close(master);
                (void) login_tty(dup(slave));
                (void) close_range(3, ~0u, 0);
                execvp(argv[3], argv + 3);
                _exit(66);
        }
        char line[4096];
        int status = -1;
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                if (strncmp(line, "expect ", 7) == 0)
                        expect(line + 7);
                else if (strncmp(line, "send ", 5) == 0)
                        type(line + 5);
                else if (sscanf(line, "resize %hu %hu", &w.ws_row, &w.ws_col) == 2)
                        (void) ioctl(master, TIOCSWINSZ,
                                     &w); /* the kernel sends SIGWINCH to the foreground */
                else if (strncmp(line, "pause ", 6) == 0)
                        for (long end = now() + atol(line + 6); now() < end;)
                                pump(10);
                else if (strcmp(line, "wait") == 0) {
                        for (long end = now() + 15000; now() < end && waitpid(pid, &status, WNOHANG) == 0;)
                                pump(20);
                }
        }
        if (status == -1) {
                kill(pid, SIGKILL);
                waitpid(pid, &status, 0);
        }
        for (int i = 0; i < 5; i++)
                pump(20);
        fwrite(seen, 1, have, stdout);
        printf("\nSTATUS %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        int waiting = 0;
        (void) tcgetattr(slave, &after);
        (void) ioctl(slave, FIONREAD, &waiting);
        printf("%s\n", after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag &&
                                       after.c_oflag == before.c_oflag
                               ? "COOKED"
                               : "RAW");
        printf("PENDING %d\n", waiting);
        return 0;
}
