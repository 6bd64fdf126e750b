/* SPDX-License-Identifier: MIT */
/* session_labels.c DIR: a run in a session of the same process touches the labelled DIR/w/hr when labels of
 * files can no longer be written. Prints `ok NAME` and `not ok NAME` lines for t4037-label-sessions.sh. */
#include "library.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static cordon_box *session_of(cordon_policy *p)
{
        cordon_error e = { 0 };
        cordon_box *s = cordon_box_new(p);
        int r = cordon_session_start(s, &e);
        while (r == 0 && !cordon_box_is_up(s) && cordon_box_wait(s, -1) == 0)
                ;
        expect(r == 0 && cordon_box_is_up(s), "a session comes up (%s)", e.what);
        return s;
}

struct place {
        char policy[300], out[300], script[900], index[300], go[300];
        int damages;
};

/* The run waits for the file `go`. */
static void damage(void *ctx, int stream, const void *data, size_t len)
{
        struct place *at = ctx;
        int fd = open(at->index, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        at->damages += fd >= 0 && write(fd, "damaged\n", 8) == 8;
        (void) close(fd);
        (void) close(open(at->go, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        (void) stream, (void) data, (void) len;
}

/* Returns its status, or -1. */
static int run_in(cordon_box *s, const char *script, struct place *at)
{
        cordon_error e = { 0 };
        const char *argv[] = { "sh", "-c", script, NULL };
        int fd = open(at->out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status = -1;
        cordon_box *b = cordon_session_run(s);
        (void) cordon_box_command(b, argv);
        (void) cordon_box_handle(b, "res", fd);
        cordon_box_on_output(b, damage, at);
        int r = cordon_box_start(b, &e);
        while (r == 0 && cordon_box_wait(b, -1) == 0)
                ;
        if (r == 0)
                status = cordon_result_status(cordon_box_result(b));
        cordon_box_free(b);
        (void) close(fd);
        return status;
}

int main(int argc, char **argv)
{
        cordon_error e = { 0 };
        struct place at = { .damages = 0 };
        if (argc != 2 || !getenv("CORDON_STATE"))
                return 2;
        (void) snprintf(at.policy, sizeof at.policy, "%.200s/own.policy", argv[1]);
        (void) snprintf(at.out, sizeof at.out, "%.200s/made/%ld", argv[1], (long) getpid());
        (void) snprintf(at.go, sizeof at.go, "%.200s/made/go.%ld", argv[1], (long) getpid());
        (void) snprintf(at.index, sizeof at.index, "%.200s/labels/index", getenv("CORDON_STATE"));
        (void) snprintf(
                at.script, sizeof at.script,
                "echo on; until [ -e %s ]; do sleep 0.1; done; cat %.200s/w/hr/a >\"$CORDON_OUT_RES\"", at.go,
                argv[1]);

        cordon_policy *p = policy_of("time 60s");
        expect(cordon_policy_add_file(p, at.policy, &e) == 0, "its policy (%s)", e.what);
        cordon_box *s = session_of(p);
        expect(run_in(s, "echo x >\"$CORDON_OUT_RES\"", &at) == 0, "a run in it");

        int status = run_in(s, at.script, &at);
        struct stat st = { 0 };
        expect(at.damages == 1, "the index of labels is damaged when it runs");
        expect(status > 0 && stat(at.out, &st) == 0 && st.st_size == 0,
               "a run whose file gets no label is killed (status %d, %ld bytes)", status, (long) st.st_size);
        cordon_session_end(s);
        while (cordon_box_wait(s, -1) == 0)
                ;
        cordon_box_free(s);
        cordon_policy_free(p);
        (void) unlink(at.index);
        return 0;
}
