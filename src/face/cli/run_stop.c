/* SPDX-License-Identifier: MIT */
/* face/cli/run_stop.c - ends a box whose payload ignores SIGTERM, and one whose batch job is over.
 *
 * A batch engine sends SIGTERM to all processes of a job and later SIGKILL to those that it still finds. A
 * shell that dies of the first leaves cordon without a parent, and engines that follow parents do not find
 * it any more. So cordon kills the box itself: GRACE_MS after SIGTERM if the process that started it, or
 * that leads its job, is gone; and at a second SIGTERM. As long as the parent lives it decides: programs
 * that need minutes to write a checkpoint have them.
 */
#include "face/cli/run_stop.h"
#include "base/clock.h"
#include "base/fd.h"
#include "face/cli/cli.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
        GRACE_MS = 5000,
        AGAIN_MS = 1000, /* timeout(1) sends one SIGTERM twice: to its child and to its group */
        LOOK_MS = 500,
        ANCESTORS_MAX = 64
};

/* One per process, as signal handlers are. */
static struct {
        pid_t parent;
        int job;
        volatile uint64_t asked_ns; /* when the first SIGTERM came; 0: none did */
        volatile sig_atomic_t again;
        const char *reason;
} stop = { .job = -1 };

/* ---- the job ---- */

static pid_t parent_of(pid_t pid)
{
        char path[32], text[512];
        (void) snprintf(path, sizeof path, "/proc/%d/stat", (int) pid);
        if (fd_get(AT_FDCWD, path, text, sizeof text) < 0)
                return 0;

        const char *after = strrchr(text, ')'); /* of the name, which may contain anything */
        return after && strlen(after) > 4 ? (pid_t) strtol(after + 4, NULL, 10) : 0;
}

/* Variables outlive jobs, in a terminal that was opened in one, and pids are used again. */
static bool is_ancestor(pid_t pid)
{
        pid_t at = getpid();
        for (unsigned i = 0; i < ANCESTORS_MAX && at > 1; i++)
                if ((at = parent_of(at)) == pid)
                        return pid > 1;
        return false;
}

void cli_job_find(struct cli_job *ret)
{
        *ret = (struct cli_job){ .fd = -1 };
        ret->in = cordon_batch_job(cli_context(), &ret->is) == 1;
        if (!ret->in)
                return;

        /* Most engines start a job's script as the leader of a session. */
        pid_t leader = ret->is.leader > 0 ? ret->is.leader : getsid(0);
        ret->self = leader == getpid();
        if (is_ancestor(leader))
                ret->fd = (int) syscall(SYS_pidfd_open, leader, 0);
}

static bool job_is_over(void)
{
        struct pollfd p = { .fd = stop.job, .events = POLLIN };
        return stop.job >= 0 && poll(&p, 1, 0) == 1;
}

/* ---- the end ---- */

void cli_stop_begin(pid_t parent, int job_fd)
{
        stop.parent = parent;
        stop.job = job_fd;
}

void cli_stop_asked(void)
{
        uint64_t now = clock_mono_ns();
        if (!stop.asked_ns)
                stop.asked_ns = now;
        else if (now - stop.asked_ns >= AGAIN_MS * 1000000ull)
                stop.again = 1;
}

int cli_stop_wait_ms(void) { return !stop.reason && (stop.asked_ns || stop.job >= 0) ? LOOK_MS : -1; }

static const char *why_kill(bool alone)
{
        if (stop.again)
                return "SIGTERM came twice";
        if (alone && clock_mono_ns() - stop.asked_ns >= GRACE_MS * 1000000ull)
                return "still running after SIGTERM, and the parent of cordon has exited";
        return NULL;
}

void cli_stop_look(cordon_box *b)
{
        bool over = job_is_over();
        if (over && !stop.asked_ns) {
                stop.asked_ns = clock_mono_ns();
                cordon_box_signal(b, SIGTERM);
        }

        if (!stop.asked_ns || stop.reason)
                return;

        stop.reason = why_kill(over || (stop.parent && getppid() != stop.parent));
        if (stop.reason)
                cordon_box_kill(b);
}

const char *cli_stop_reason(void) { return stop.reason; }

int cli_job_check(const struct cli_job *job, bool quiet)
{
        if (job->in && job->self) {
                (void) cli_problem(
                        "--detach: %s job %s ends when this command returns, and would end the box",
                        job->is.engine, job->is.id);
                return cli_hint("remove -d, or start the box from the job script");
        }

        if (job->in && !quiet && job->fd >= 0)
                cli_note("note: this is %s job %s: the box ends with it", job->is.engine, job->is.id);
        else if (job->in && !quiet)
                cli_note("note: %s job %s: its leader process was not found; the box may outlive the job",
                         job->is.engine, job->is.id);
        return 0;
}
