/* SPDX-License-Identifier: MIT */
/* face/serve/run_store.c - reads what run_files.c has, so that a restart or kill -9 loses no run or session
 * that was acknowledged. */
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "face/serve/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool store_recall(struct job *j)
{
        AUTO_BUF(text);
        struct span part[3];
        if (j->state != JOB_ENDED || j->events.n || j->result.n)
                return true;
        if (!j->on_disk || !store_read(j->tenant, j->id, &text, part))
                return false;

        buf_add(&j->result, part[1].p, part[1].n);
        buf_add(&j->events, part[2].p, part[2].n);
        struct err ignored;
        struct json_doc *d = j->argv ? NULL : json_parse_data("runs", part[0], &ignored);
        if (d)
                (void) job_take_argv(j, json_root(d), (cordon_error *) &ignored);
        json_free(d);
        j->recalled = true;
        return !j->result.failed && !j->events.failed;
}

static void copy(char *ret, size_t cap, const struct json *o, const char *key)
{
        (void) snprintf(ret, cap, "%s", json_text(o, key));
}

static bool take_run(struct job *j, const struct json *o, cordon_error *e)
{
        copy(j->id, sizeof j->id, o, "id");
        copy(j->key, sizeof j->key, o, "key");
        copy(j->digest, sizeof j->digest, o, "digest");
        copy(j->person, sizeof j->person, o, "person");
        copy(j->policy_name, sizeof j->policy_name, o, "policy");
        copy(j->run, sizeof j->run, o, "run");
        copy(j->session_id, sizeof j->session_id, o, "session");
        j->seq = (uint64_t) json_int(o, "seq");
        j->created_s = json_int(o, "created");
        j->started_s = json_int(o, "started");
        j->ended_s = json_int(o, "ended");
        j->status = (int) json_int(o, "status");
        j->blocked = (size_t) json_int(o, "denials");
        j->fault = (unsigned) json_int(o, "fault");
        j->out_bytes[0] = (uint64_t) json_int(o, "stdout_bytes");
        j->out_bytes[1] = (uint64_t) json_int(o, "stderr_bytes");
        for (size_t i = 0; serve_ends[i]; i++)
                if (strcmp(serve_ends[i], json_text(o, "end")) == 0)
                        j->end = serve_ends[i];
        j->state = strcmp(json_text(o, "state"), "queued") == 0 ? JOB_QUEUED
                   : j->end                                     ? JOB_ENDED
                                                                : JOB_RUNNING;
        return job_take_argv(j, o, e) == 0 && job_take_labels(j, o, e) == 0 && j->id[0];
}

/* What was accepted and had not started starts now; what ran when the server was killed ended with it. */
static void resume(struct job *j, struct span order)
{
        cordon_error e = { .code = ERR_GONE, .what = "the server ended while the run was under way" };
        struct err ignored;
        struct json_doc *d = NULL, *asked = NULL;
        bool waits = j->state == JOB_QUEUED;
        if (waits) {
                AUTO_BUF(list);
                buf_printf(&list, "[%.*s]", (int) order.n, (const char *) order.p);
                d = json_parse_data("order", buf_span(&list), &ignored);
                const struct json *text = d ? json_root(d)->child : NULL;
                asked = text ? json_parse("order", span_of(text->str, text->len), &ignored) : NULL;
                waits = asked && job_take_order(j, json_root(asked), &e) == 0;
        }
        json_free(asked);
        json_free(d);
        if (waits) {
                for (struct budget *b = tenant_budget(j->tenant); b; b = b->above)
                        b->used[BUDGET_QUEUE]++;
                job_enqueue(j);
                return;
        }

        j->interrupted = j->state == JOB_RUNNING;
        job_finish(j, &e);
        (void) store_put_run(j, (struct span){ 0 });
}

static int load_run(struct tenant *t, const char *id)
{
        AUTO_BUF(text);
        struct span part[3];
        cordon_error e = { 0 };
        struct json_doc *d =
                store_read(t, id, &text, part) ? json_parse_data("runs", part[0], (struct err *) &e) : NULL;
        struct job *j = d ? job_new(t) : NULL;
        if (!j || !take_run(j, json_root(d), &e) || strcmp(j->id, id) != 0) {
                if (j)
                        job_forget(j);
                json_free(d);
                return -1;
        }

        json_free(d);
        j->stays = true;
        for (unsigned i = 0; i < 2 && j->state == JOB_RUNNING; i++) { /* as far as it came */
                struct stat st;
                AUTO_FD(fd, store_open_output(j, i + 1, false));
                if (fd >= 0 && fstat(fd, &st) == 0)
                        j->out_bytes[i] = (uint64_t) st.st_size;
        }
        j->on_disk = text.n + j->out_bytes[0] + j->out_bytes[1];
        tenant_book(t)->kept_bytes += j->on_disk;
        if (j->state != JOB_ENDED)
                resume(j, part[1]);
        return 0;
}

static int load_session(struct tenant *t, const char *id)
{
        AUTO_BUF(text);
        struct span part[3];
        struct err ignored;
        struct json_doc *d = store_read(t, id, &text, part) ? json_parse("session", part[0], &ignored) : NULL;
        struct session *x = d ? calloc(1, sizeof *x) : NULL;
        if (!x) {
                json_free(d);
                return -1;
        }

        x->tenant = t;
        x->over = x->ended = true;
        copy(x->id, sizeof x->id, json_root(d), "id");
        copy(x->policy_name, sizeof x->policy_name, json_root(d), "policy");
        copy(x->run, sizeof x->run, json_root(d), "run");
        copy(x->work, sizeof x->work, json_root(d), "changes");
        x->created_s = json_int(json_root(d), "created");
        x->next = tenant_book(t)->sessions;
        tenant_book(t)->sessions = x;
        json_free(d);
        return 0;
}

/* Newest first, as lists show them; those that wait, oldest first. */
static void sort(struct tenant_book *b)
{
        struct job *sorted = NULL;
        for (struct job *j = b->jobs, *next; j; j = next) {
                struct job **at = &sorted;
                next = j->next;
                while (*at && (*at)->seq > j->seq)
                        at = &(*at)->next;
                j->next = *at;
                *at = j;
                b->seq = b->seq > j->seq ? b->seq : j->seq;
        }

        b->jobs = sorted;
        b->first = b->last = NULL;
        for (struct job *j = sorted; j; j = j->next)
                if (j->state == JOB_QUEUED) {
                        j->waiting = b->first;
                        b->first = j;
                        b->last = b->last ? b->last : j;
                }
}

/* Output of runs that nobody was told of, when the server was killed. */
static void drop_strays(DIR *d, int fd, struct tenant *t)
{
        char id[RANDOM_NAME];
        rewinddir(d);
        for (struct dirent *x; (x = readdir(d));) {
                size_t n = strcspn(x->d_name, ".");
                (void) snprintf(id, sizeof id, "%.*s", n < sizeof id ? (int) n : 0, x->d_name);
                if (x->d_name[n] && n && !job_find(t, id))
                        (void) unlinkat(fd, x->d_name, 0);
        }
}

int store_load(struct tenant *t, unsigned *ret_unread, struct err *e)
{
        if (mkdirat(tenant_dir(t), "runs", 0700) < 0 && errno != EEXIST)
                return err_set(e, ERR_IO, errno, "the directory of past runs: %s", strerror(errno));

        int fd = openat(tenant_dir(t), "runs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d)
                return err_set(e, ERR_IO, errno, "the directory of past runs: %s", strerror(errno));

        for (struct dirent *x; (x = readdir(d));) {
                size_t n = strlen(x->d_name);
                bool whole = n < RANDOM_NAME && !strchr(x->d_name, '.') && n > 2;
                if (n > 4 && strcmp(x->d_name + n - 4, ".new") == 0)
                        (void) unlinkat(fd, x->d_name, 0);
                else if (whole)
                        *ret_unread += (*x->d_name == 's' ? load_session : load_run)(t, x->d_name) < 0;
        }
        drop_strays(d, fd, t);
        (void) closedir(d);
        sort(tenant_book(t));
        return 0;
}
