/* SPDX-License-Identifier: MIT */
/* context/batch.c - the batch job that the caller's environment names. Pure. */
#include "context/context.h"

#include <stddef.h>
#include <string.h>

/* In this order: an engine that runs inside another's job (flux in Slurm) is the nearer one. */
static const struct {
        const char *name, *id;
        const char *leader; /* the variable with the pid that the job's script or task has; or NULL */
} engines[] = {
        { "Flux", "FLUX_JOB_ID", NULL }, { "Slurm", "SLURM_JOB_ID", "SLURM_TASK_PID" },
        { "PBS", "PBS_JOBID", NULL },    { "LSF", "LSB_JOBID", "LS_JOBPID" },
        { "OAR", "OAR_JOB_ID", NULL },
};

/* An id that is printed and recorded: any other value is not one. */
static bool is_id(const char *text)
{
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-[]";
        size_t n = text ? strspn(text, allowed) : 0;
        return n > 0 && n <= CONTEXT_BATCH_ID_MAX && text[n] == '\0';
}

static int pid_of(const char *text)
{
        enum { PID_MOST = 1 << 22 };
        int pid = 0;
        for (; text && *text >= '0' && *text <= '9' && pid <= PID_MOST; text++)
                pid = pid * 10 + (*text - '0');

        return text && *text == '\0' && pid <= PID_MOST ? pid : 0;
}

bool context_batch(const struct cordon_context *cx, struct context_batch *ret)
{
        for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
                const char *id = context_get(cx, engines[i].id);
                if (!is_id(id))
                        continue;
                const char *leader = engines[i].leader ? context_get(cx, engines[i].leader) : NULL;
                *ret = (struct context_batch){ engines[i].name, id, pid_of(leader) };
                return true;
        }

        return false;
}
