/* SPDX-License-Identifier: MIT */
/* face/serve/head_records.c - records the heads of the tenants' ledgers in the ledger of the host: of all at
 * the start, and of those that had runs every ten minutes, every thousand runs and at the end. In a process
 * of its own, for it waits for the sealer and the disk. */
#include "base/clock.h"
#include "base/err.h"
#include "face/serve/internal.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVERY_S = 600, EVERY_RUNS = 1000, TENANTS = 1024 };

struct list {
        cordon_head v[TENANTS];
        size_t n;
};

static void add(void *ctx, const char *name, const char *state)
{
        struct list *l = ctx;
        if (l->n < TENANTS)
                l->v[l->n] = (cordon_head){ .tenant = strdup(name), .state = strdup(state), .seal = 1 };
        if (l->n < TENANTS && l->v[l->n].tenant && l->v[l->n].state)
                l->n++;
}

/* Those that had runs since their last head. */
static void add_used(const struct server *s, struct list *l)
{
        struct tenant *t;
        for (size_t i = 0; (t = tenants_at(s->tenants, i)); i++) {
                char state[4200];
                tenant_path(t, "state", state, sizeof state);
                if (tenant_book(t)->ended != tenant_book(t)->headed)
                        add(l, tenant_label(t), state);
        }
}

static _Noreturn void write_heads(struct server *s, const char *when, bool all)
{
        static struct list l;
        cordon_error e = { 0 };
        sigset_t none;
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        aside_close_others(&s->config, 1);
        if (all)
                tenants_states(s->tenants, add, &l);
        else
                add_used(s, &l);
        if (cordon_heads_add(s->heads.host, l.v, l.n, when, &e) == 0)
                _exit(0);

        AUTO_BUF(said);
        buf_printf(&said, "the heads of the tenants' ledgers are not recorded: %s", e.what);
        serve_log(s, LOG_ERROR, buf_str(&said));
        _exit(1);
}

static void begin(struct server *s, const char *when, bool all)
{
        struct tenant *t;
        pid_t pid = fork();
        if (pid == 0)
                write_heads(s, when, all);

        s->heads.due_ns = clock_mono_ns() + EVERY_S * 1000000000ull;
        s->heads.pid = pid;
        if (pid < 0)
                return;

        s->heads.runs = 0;
        for (size_t i = 0; (t = tenants_at(s->tenants, i)); i++)
                tenant_book(t)->headed = tenant_book(t)->ended;
}

/* Not for ever: a disk may hang. False: they were not recorded. */
static bool wait_for(struct server *s)
{
        enum { STEPS = 500, STEP_MS = 20 };
        int status = s->heads.pid != 0 ? -1 : 0;
        for (int i = 0; i < STEPS && s->heads.pid > 0; i++) {
                if (waitpid(s->heads.pid, &status, WNOHANG) != 0)
                        s->heads.pid = 0;
                else
                        (void) poll(NULL, 0, STEP_MS);
        }
        if (s->heads.pid > 0) {
                (void) kill(s->heads.pid, SIGKILL);
                (void) waitpid(s->heads.pid, NULL, 0);
                s->heads.pid = 0;
        }
        return status == 0;
}

int heads_start(struct server *s, cordon_error *e)
{
        for (char *const *v = s->o->environment; *v; v++)
                if (strcmp(*v, "CORDON_LEDGER=off") == 0)
                        return 0;

        s->heads.host = cordon_context_new(s->o->environment);
        if (!s->heads.host)
                return err_set((struct err *) e, ERR_MEMORY, 0, "no memory for the host's ledger");

        begin(s, "start", true);
        if (wait_for(s))
                return 0;

        (void) err_set((struct err *) e, ERR_IO, 0,
                       "it does not start without a record of its tenants' ledgers");
        return err_hint((struct err *) e, "CORDON_LEDGER=off keeps none");
}

void heads_step(struct server *s)
{
        if (s->heads.pid > 0 && waitpid(s->heads.pid, NULL, WNOHANG) != 0)
                s->heads.pid = 0;
        if (s->heads.host && s->heads.pid <= 0 && s->heads.runs > 0 &&
            (s->heads.runs >= EVERY_RUNS || clock_mono_ns() >= s->heads.due_ns))
                begin(s, "interval", false);
}

void heads_end(struct server *s)
{
        (void) wait_for(s);
        if (s->heads.host && s->heads.runs > 0)
                begin(s, "end", false);
        (void) wait_for(s);
}
