/* SPDX-License-Identifier: MIT */
/* risky-parser.c - a C program that must parse hostile input. It runs the parser in a box through libcordon,
 * gets its output and a structured result, and lives on whatever the parser does.
 *
 *     risky-parser PARSER FILE [TIMES]
 *
 * With TIMES it parses that often and then looks whether anything is left: descriptors, children, mounts. */
#include <cordon.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* No file, no network, no other program: the libraries that the parser is linked to, and its standard
 * streams. */
static const char policy_text[] = "box   risky-parser\n"
                                  "limit time 2s cpu 1s memory 64M procs 1 output 64K\n";

static void on_output(void *ctx, int stream, const void *data, size_t len)
{
        if (*(const int *) ctx)
                (void) fprintf(stream == 1 ? stdout : stderr, "%.*s", (int) len, (const char *) data);
}

static void tell(cordon_box *box)
{
        const cordon_result *r = cordon_box_result(box);
        static const char *const ends[] = {
                "is running", "failed", "did not start", "exited", "was killed by a signal", "hit a limit"
        };
        (void) printf("the parser %s (%d)%s%s; walls: %s, %s\n", ends[r->end], r->code,
                      r->limit[0] ? ", " : "", r->limit, r->wall,
                      r->attested ? "probed from inside" : "not probed");
        for (size_t i = 0; i < r->denial_count; i++)
                (void) printf("refused: %s by %s (%s)\n", r->denials[i].what, r->denials[i].layer,
                              r->denials[i].program);
        if (r->error)
                (void) printf("why: %s\n", r->error->what);
}

/* Parses one file; the return value is what a shell would see of the parser, or -1 when there was no box. */
static int parse(cordon_policy *policy, const char *parser, const char *file, int loud)
{
        cordon_error e;
        const char *argv[] = { parser, NULL };
        int status = -1;
        int input = open(file, O_RDONLY | O_CLOEXEC);
        cordon_box *box = input >= 0 ? cordon_box_new(policy) : NULL;
        if (!box || cordon_box_command(box, argv) < 0) {
                (void) fprintf(stderr, "%s: %s\n", file, strerror(errno));
        } else {
                cordon_box_stdio(box, 0,
                                 input); /* read by us and copied: the descriptor itself stays outside */
                cordon_box_on_output(box, on_output, &loud);
                if (cordon_box_start(box, &e) < 0)
                        (void) fprintf(stderr, "error: %s\nhint: %s\n", e.what, e.hint);
                else {
                        while (cordon_box_wait(box, -1) == 0)
                                ;
                        if (loud)
                                tell(box);
                        status = cordon_result_status(cordon_box_result(box));
                }
        }
        cordon_box_free(box);
        if (input >= 0)
                (void) close(input);
        return status;
}

static unsigned count_entries(const char *dir)
{
        unsigned n = 0;
        DIR *d = opendir(dir);
        while (d && readdir(d))
                n++;
        if (d)
                (void) closedir(d);
        return n;
}

static unsigned count_lines(const char *file)
{
        unsigned n = 0;
        FILE *f = fopen(file, "r");
        for (int c; f && (c = getc(f)) != EOF;)
                n += c == '\n';
        if (f)
                (void) fclose(f);
        return n;
}

static int parse_often(cordon_policy *policy, char **argv, unsigned times)
{
        unsigned fds = count_entries("/proc/self/fd"), mounts = count_lines("/proc/self/mountinfo"),
                 crashes = 0;
        for (unsigned i = 0; i < times; i++)
                crashes += parse(policy, argv[1], argv[2], 0) > 128;
        fds = count_entries("/proc/self/fd") - fds;
        mounts = count_lines("/proc/self/mountinfo") - mounts;
        int children = waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
        (void) printf("%u of %u crashed; left behind: %u descriptors, %s child, %u mounts\n", crashes, times,
                      fds, children ? "a" : "no", mounts);
        return crashes == times && fds == 0 && mounts == 0 && !children ? 0 : 1;
}

int main(int argc, char **argv)
{
        cordon_error e;
        if (argc < 3) {
                (void) fprintf(stderr, "usage: risky-parser PARSER FILE [TIMES]\n");
                return 2;
        }
        cordon_context *cx = cordon_context_new(environ);
        cordon_policy *policy = cx ? cordon_policy_new(cx) : NULL;
        if (!policy ||
            cordon_policy_add_text(policy, "risky-parser", policy_text, strlen(policy_text), &e) < 0) {
                (void) fprintf(stderr, "error: %s\n", policy ? e.what : "no memory");
                cordon_policy_free(policy);
                cordon_context_free(cx);
                return 1;
        }
        int status = argc > 3 ? parse_often(policy, argv, (unsigned) strtoul(argv[3], NULL, 10))
                              : parse(policy, argv[1], argv[2], 1);
        cordon_policy_free(policy);
        cordon_context_free(cx);
        if (argc == 3 && status >= 0)
                (void) printf("this program goes on\n");
        return argc > 3 ? status : status < 0;
}
