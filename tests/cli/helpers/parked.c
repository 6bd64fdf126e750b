/* SPDX-License-Identifier: MIT */
/* parked [OPTION VALUE]... -- COMMAND: parks a box with these door lines, then runs the command in it; prints
 * the result on standard error. The options:
 *   door "WORD ARGUMENT"   a line of the policy; before parking
 *   wait MS                between parking and the run
 *   touch PATH             replaces that file by a new one, between parking and the run
 *   tty 1, cwd PATH, handle NAME=FILE, times N, cold 1 */
#define _GNU_SOURCE
#include <cordon.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int fail(const cordon_error *e)
{
        fprintf(stderr, "parked: %s\n", e->what);
        return 125;
}

static int drive_until_parked(cordon_box *b)
{
        int fd = cordon_box_fd(b);
        while (!cordon_box_is_parked(b)) {
                struct pollfd p = { .fd = fd, .events = POLLIN };
                (void) poll(&p, 1, cordon_box_next_ms(b));
                if (cordon_box_step(b) != 0)
                        return -1;
        }
        return 0;
}

static void replace(const char *path)
{
        char new[4096];
        (void) snprintf(new, sizeof new, "%s.new", path);
        int fd = open(new, O_WRONLY | O_CREAT, 0644);
        (void) close(fd);
        (void) rename(new, path);
}

static void set_handle(cordon_box *b, char *text)
{
        char *file = strchr(text, '=');
        *file++ = '\0';
        int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        (void) cordon_box_handle(b, text, fd < 0 ? open(file, O_RDONLY | O_CLOEXEC) : fd);
}

static int run_once(cordon_context *cx, char **v)
{
        cordon_error e;
        cordon_policy *p = cordon_policy_new(cx);
        char **at = v;
        int cold = 0;
        for (; strcmp(*at, "--") != 0; at += 2) {
                char line[4096], *rest;
                (void) snprintf(line, sizeof line, "%s", at[1]);
                cold |= strcmp(at[0], "cold") == 0;
                if (strcmp(at[0], "door") != 0)
                        continue;
                if (!(rest = strchr(line, ' ')))
                        rest = line + strlen(line);
                else
                        *rest++ = '\0';
                if (cordon_policy_add(p, line, rest, &e) < 0)
                        return fail(&e);
        }

        const char *const *command = (const char *const *) at + 1;
        cordon_box *b = cordon_box_new(p);
        (void) cordon_box_command(b, command);
        (void) cordon_box_set(b, CORDON_SINGLE_THREAD, "1");
        if (!cold && cordon_box_park(b, &e) < 0)
                return fail(&e);
        if (!cold && drive_until_parked(b) < 0)
                return fail(cordon_box_result(b)->error);

        for (at = v; strcmp(*at, "--") != 0; at += 2) {
                if (strcmp(at[0], "wait") == 0)
                        (void) usleep(1000u * (unsigned) atoi(at[1]));
                if (strcmp(at[0], "touch") == 0)
                        replace(at[1]);
                if (strcmp(at[0], "tty") == 0)
                        (void) cordon_box_set(b, CORDON_TTY, "1");
                if (strcmp(at[0], "cwd") == 0)
                        (void) cordon_box_set(b, CORDON_CWD, at[1]);
                if (strcmp(at[0], "handle") == 0)
                        set_handle(b, strdup(at[1]));
        }

        (void) cordon_box_command(b, command);
        for (int i = 0; i < 3; i++)
                cordon_box_stdio(b, i, i);
        int status = 125;
        if (cordon_box_start(b, &e) < 0) {
                status = fail(&e);
        } else {
                while (cordon_box_wait(b, -1) == 0)
                        ;
                const cordon_result *r = cordon_box_result(b);
                status = cordon_result_status(r);
                fprintf(stderr, "start %s%s%s\n", r->start, r->start_why[0] ? ": " : "", r->start_why);
                if (r->error)
                        fprintf(stderr, "parked: %s\n", r->error->what);
                if (r->limit[0])
                        fprintf(stderr, "limit %s\n", r->limit);
                for (size_t i = 0; i < r->denial_count; i++)
                        fprintf(stderr, "denied %s %s\n", r->denials[i].code, r->denials[i].path);
                if (getenv("PARKED_JSON"))
                        fprintf(stderr, "%s\n", cordon_box_result_json(b));
        }
        cordon_box_free(b);
        cordon_policy_free(p);
        return status;
}

int main(int argc, char **argv)
{
        cordon_context *cx = cordon_context_new(environ);
        int times = argc > 2 && strcmp(argv[1], "times") == 0 ? atoi(argv[2]) : 1, status = 0;
        for (int i = 0; i < times; i++)
                status = run_once(cx, argv + 1);
        cordon_context_free(cx);
        return status;
}
