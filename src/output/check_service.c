/* SPDX-License-Identifier: MIT */
/* output/check_service.c - a process for each check, made from one that has read nothing hostile: a crash,
 * hang or bomb denies what it checks, and no other. The forms are compiled once; each process has its copy.
 */
#include "output/check_service.h"
#include "base/fd.h"
#include "output/output_jail.h"
#include "output/stream_check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHECKS_MAX = 64 }; /* at once; the next one waits */

struct service {
        struct pipeline **forms;
        char (*keys)[OUTPUT_KEY];
        size_t count;
        unsigned checks;
};

static void service_done(struct service *s)
{
        for (size_t i = 0; s->forms && i < s->count; i++)
                pipeline_free(s->forms[i]);
        free(s->forms);
        free(s->keys);
}

static int service_init(struct service *s, const struct output_order *o, struct err *e)
{
        s->count = output_order_count(o);
        s->forms = calloc(s->count, sizeof(void *));
        s->keys = calloc(s->count, OUTPUT_KEY);
        if (!s->forms || !s->keys)
                return err_set(e, ERR_MEMORY, 0, "out of memory");

        for (size_t i = 0; i < s->count; i++) {
                const struct pipeline_config *c = output_order_config(o, i);
                output_form_key(c->form, c->max, c->schema_name, s->keys[i]);
                if (!(s->forms[i] = pipeline_new(c, e)))
                        return -1;
        }
        return 0;
}

static struct pipeline *find_form(const struct service *s, const char *key)
{
        for (size_t i = 0; i < s->count; i++)
                if (strcmp(s->keys[i], key) == 0)
                        return s->forms[i];
        return NULL;
}

static void reap_checks(struct service *s)
{
        while (s->checks && waitpid(-1, NULL, s->checks >= CHECKS_MAX ? 0 : WNOHANG) > 0)
                s->checks--;
}

_Noreturn static void check_one(struct pipeline *p, int line)
{
        struct err e = { 0 };
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        struct stream_check c = { .in = line, .out = line, .report = line, .packets = true };
        if (output_jail_check(&e) == 0)
                c.p = p;
        _exit(stream_check(&c, &e) < 0);
}

/* The socket of a check that has begun; -1: none. */
static int begin_check(struct service *s, struct pipeline *p, int own)
{
        int ends[2];
        if (!p || wire_pair(ends) < 0)
                return -1;

        AUTO_FD(its, ends[0]);
        AUTO_FD(line, ends[1]);
        pid_t pid = fork();
        if (pid == 0) {
                (void) close(own);
                fd_close(&its);
                check_one(p, line);
        }

        s->checks += pid > 0;
        return pid > 0 ? TAKE_FD(its) : -1;
}

int check_service(const struct output_order *o, int line, struct err *e)
{
        struct service s = { 0 };
        struct output_ask a;
        int r = output_jail_service(output_order_more(o)->become, e) < 0 || service_init(&s, o, e) < 0 ? -1
                                                                                                       : 0;
        while (r == 0 && wire_take(line, &output_ask_form, &a, NULL) == 1) {
                struct output_line answer = { .number = a.number };
                reap_checks(&s);
                AUTO_FD(its, begin_check(&s, find_form(&s, a.key), line));
                if (wire_put(line, &output_line_form, &answer, its) < 0)
                        break;
        }

        service_done(&s);
        return r;
}
