/* SPDX-License-Identifier: MIT */
/* base/context/batch.c - the batch job that the caller's environment names. Pure. */
#include "base/context/context.h"
#include "base/str.h"

#include <stddef.h>
#include <string.h>

/* In this order: an engine that runs inside another's job (flux in Slurm) is the nearer one. */
static const struct {
        const char *name, *id;
        const char *leader;       /* the variable with the pid that the job's script or task has; or NULL */
        const char *array, *task; /* those of a task of an array whose id does not name it; or NULL */
} engines[] = {
        { "Flux", "FLUX_JOB_ID", NULL, NULL, NULL },
        { "Slurm", "SLURM_JOB_ID", "SLURM_TASK_PID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID" },
        { "PBS", "PBS_JOBID", NULL, NULL, NULL },
        { "LSF", "LSB_JOBID", "LS_JOBPID", NULL, NULL },
        { "OAR", "OAR_JOB_ID", NULL, NULL, NULL },
};

/* An id that is printed and recorded: any other value is not one. */
static bool is_id(const char *text)
{
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-[]";
        size_t n = text ? strspn(text, allowed) : 0;
        return n > 0 && n <= CONTEXT_BATCH_ID_MAX && text[n] == '\0';
}

static const char *id_in(const struct cordon_context *cx, const char *name)
{
        const char *id = name ? context_get(cx, name) : NULL;
        return is_id(id) ? id : NULL;
}

static int pid_of(const char *text)
{
        enum { PID_MOST = 1 << 22 };
        uint64_t pid = 0;
        return text && str_to_u64(span_str(text), &pid) == 0 && pid <= PID_MOST ? (int) pid : 0;
}

bool context_batch(const struct cordon_context *cx, struct context_batch *ret)
{
        for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
                const char *id = id_in(cx, engines[i].id);
                if (!id)
                        continue;
                const char *leader = engines[i].leader ? context_get(cx, engines[i].leader) : NULL;
                *ret = (struct context_batch){ .engine = engines[i].name,
                                               .id = id,
                                               .leader = pid_of(leader) };
                ret->array = id_in(cx, engines[i].array);
                ret->task = ret->array ? id_in(cx, engines[i].task) : NULL;
                return true;
        }

        return false;
}
