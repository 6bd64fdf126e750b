/* SPDX-License-Identifier: MIT */
/* selftest/probe/probe_run.c - the prober: each probe in a process and a session of its own, with a timeout
 * of its own; one JSON line each. It trusts no probe: a probe that dies, hangs or prints nothing is
 * `cannot-tell`. */
#include "base/buf.h"
#include "selftest/probe/probe_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_MS = 2000, TICK_NS = 500000 };

_Noreturn static void run_child(const struct probe *p, struct probe_result *r)
{
        (void) setpgid(0, 0);
        (void) p->run(r);
        _exit(0);
}

/* Polls, because every cheaper way to wait with a timeout needs a call that some box may refuse. */
static bool wait_for(pid_t pid, unsigned timeout_ms, int *ret_status)
{
        const struct timespec tick = { 0, TICK_NS };
        for (unsigned i = 0; i < timeout_ms * 2; i++) {
                if (waitpid(pid, ret_status, WNOHANG) == pid)
                        return true;
                (void) nanosleep(&tick, NULL);
        }

        (void) kill(-pid, SIGKILL);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, ret_status, 0);
        return false;
}

static void explain_end(bool in_time, int status, struct probe_result *r)
{
        if (!in_time)
                (void) cannot_tell(r, "it hung and was ended");
        else if (WIFSIGNALED(status) && r->outcome == PROBE_CANNOT_TELL)
                (void) cannot_tell(r, "its process was killed by signal %d", WTERMSIG(status));
        else if (r->outcome == PROBE_CANNOT_TELL && r->why[0] == '\0')
                (void) cannot_tell(r, "it ended without an answer");
}

void probe_run_one(const struct probe *p, const struct probe_world *w, unsigned timeout_ms,
                   struct probe_result *ret)
{
        *ret = (struct probe_result){ .probe = p, .world = w };
        struct probe_result *shared =
                mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED) {
                (void) cannot_tell(ret, "no memory");
                return;
        }

        *shared = *ret;
        int status = 0;
        pid_t pid = fork();
        if (pid == 0)
                run_child(p, shared);

        if (pid < 0)
                (void) cannot_tell(shared, "no process for it");

        bool in_time = pid < 0 || wait_for(pid, timeout_ms, &status);
        if (pid > 0)
                explain_end(in_time, status, shared);

        if (pid > 0)
                (void) kill(-pid, SIGKILL); /* processes that it left running in its group */

        *ret = *shared;
        (void) munmap(shared, sizeof *shared);
        while (waitpid(-1, NULL, WNOHANG) > 0) /* processes that it left behind */
                ;
}

static void put_line(struct buf *b, const struct probe *p, const struct probe_result *r)
{
        const char *layer = r->layer[0] ? r->layer : probe_layer_of(p, r->sys);
        buf_puts(b, "{\"probe\":");
        buf_json(b, span_str(p->name));
        buf_member(b, "class", probe_class_name(p->cls));
        buf_member(b, "outcome", probe_outcome_name((enum probe_outcome) r->outcome));
        buf_member(b, "layer", r->outcome == PROBE_HELD ? layer : "");
        buf_member(b, "why", r->why);
        buf_member(b, "layers", p->layers);
        buf_member(b, "effect", r->effect);
        buf_puts(b, "}\n");
}

int probe_main(int argc, char **argv)
{
        static struct probe_world w;
        const char *only = NULL;
        for (int i = 0; i < argc; i++)
                if (strncmp(argv[i], "only=", 5) == 0)
                        only = argv[i] + 5;
                else
                        (void) probe_world_take(&w, argv[i]);

        (void) signal(SIGPIPE, SIG_IGN);
        size_t n;
        const struct probe *const *all = probe_table(&n);
        for (size_t i = 0; i < n; i++) {
                struct probe_result r;
                AUTO_BUF(line);
                if (only && strcmp(all[i]->name, only) != 0)
                        continue;
                probe_run_one(all[i], &w, TIMEOUT_MS, &r);
                put_line(&line, all[i], &r);
                if (line.failed || fd_write_all(1, line.p, line.n) < 0)
                        return 1;
        }

        return 0;
}
