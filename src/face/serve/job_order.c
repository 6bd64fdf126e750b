/* SPDX-License-Identifier: MIT */
/* face/serve/job_order.c - what a client asks of a run, from JSON: command, input, policy, variables,
 * directory. */
#include "base/base64.h"
#include "base/err.h"
#include "base/str.h"
#include "face/serve/resources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(cordon_error *e, const char *what)
{
        return err_set((struct err *) e, ERR_USAGE, 0, "%s", what);
}

int job_take_argv(struct job *j, const struct json *o, cordon_error *e)
{
        const struct json *list = json_of(o, "argv", JSON_ARRAY);
        size_t n = 0;
        for (const struct json *w = list ? list->child : NULL; w; w = w->next)
                n++;
        if (n == 0 || n > ARGUMENTS_MAX || list->child->len == 0)
                return refuse(e, "`argv` is the command: a list of 1 to 1024 strings");

        for (char **w = j->argv; w && *w; w++) /* those of its record */
                free(*w);
        free(j->argv);
        j->argv = calloc(n + 1, sizeof *j->argv);
        n = 0;
        for (const struct json *w = list->child; j->argv && w; w = w->next) {
                AUTO_BUF(word);
                buf_add(&word, w->str, w->len + 1);
                if (word.failed)
                        return refuse(e, "no memory for the command");
                j->argv[n++] = word.p;
                word.p = NULL;
        }
        return j->argv ? 0 : refuse(e, "no memory for the command");
}

static int take_input(struct job *j, const struct json *o, cordon_error *e)
{
        const struct json *text = json_get(o, "stdin"), *raw = json_get(o, "stdin_base64");
        if (text && raw)
                return refuse(e, "a run has one of `stdin` and `stdin_base64`");

        if (text)
                buf_add(&j->input, text->str, text->len);
        if (!raw || raw->len == 0)
                return 0;

        char *room = buf_room(&j->input, raw->len);
        ssize_t n = room ? base64_read(span_of(raw->str, raw->len), (uint8_t *) room, raw->len) : -1;
        j->input.n = n < 0 ? 0 : (size_t) n;
        return n < 0 ? refuse(e, "`stdin_base64` is not base64") : 0;
}

static int take_policy(struct job *j, const struct json *o, cordon_error *e)
{
        const struct json *lines = json_get(o, "lines"), *named = json_get(o, "policy");
        const struct json *session = json_get(o, "session");
        const char *name = named ? named->str : "default";
        if ((lines != NULL) + (named != NULL) + (session != NULL) > 1)
                return refuse(e, "a run has one of `policy`, `lines` and `session`");

        if (session) {
                j->session = session_find(j->tenant, session->str);
                if (!j->session)
                        return err_set((struct err *) e, ERR_GONE, 0, "session not found");
                j->session->jobs++;
                (void) snprintf(j->session_id, sizeof j->session_id, "%s", j->session->id);
                (void) snprintf(j->policy_name, sizeof j->policy_name, "%s", j->session->policy_name);
                return 0;
        }

        (void) snprintf(j->policy_name, sizeof j->policy_name, "%.64s", lines ? "request" : name);
        bool own = j->env.n > 0; /* its policy is no other's */
        j->registered = !lines && !own;
        j->policy = lines ? tenant_lines(j->tenant, lines->str, lines->len, e)
                    : own ? tenant_policy_own(j->tenant, name, e)
                          : tenant_policy(j->tenant, name, e);
        if (j->policy && held_policy_gpu(j->policy) && tenant_budget(j->tenant)->limit[BUDGET_GPUS] == 0)
                return err_set((struct err *) e, ERR_POLICY, EPERM,
                               "this tenant starts no box with a GPU: its gpu_boxes is 0");
        return j->policy ? 0 : -1;
}

static int take_output(struct job *j, const struct json *o, cordon_error *e)
{
        const char *form = json_str(o, "output");
        j->raw = form && strcmp(form, "base64") == 0;
        return !form || j->raw || strcmp(form, "text") == 0 ? 0 : refuse(e, "`output` is text or base64");
}

/* KEY=VALUE: for whoever looks for the run later. */
int job_take_labels(struct job *j, const struct json *o, cordon_error *e)
{
        enum { LABELS_MAX = 32, VALUE_MAX = 256 };
        const struct json *list = json_of(o, "labels", JSON_OBJECT);
        unsigned n = 0;
        j->labels.n = 0;
        for (const struct json *v = list ? list->child : NULL; v; v = v->next) {
                bool plain = v->type == JSON_STRING && v->len <= VALUE_MAX && request_is_word(v->key, 64);
                for (size_t i = 0; plain && i < v->len; i++)
                        plain = (unsigned char) v->str[i] >= 0x20 && v->str[i] != 0x7f;
                if (!plain || ++n > LABELS_MAX)
                        return refuse(e, "`labels` has at most 32 members: keys of 64 letters, digits and "
                                         "._-, values of "
                                         "256 bytes in one line");
                buf_printf(&j->labels, "\n%s=%s", v->key, v->str);
        }
        if (n)
                buf_putc(&j->labels, '\n');
        return j->labels.failed ? refuse(e, "no memory for the labels") : 0;
}

/* Variables are no more than a command could set by itself: where the policy lets it run `env`. */
static int take_env(struct job *j, const struct json *o, cordon_error *e)
{
        enum { ENV_MAX = 64, VALUE_MAX = 32768 };
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
        const struct json *list = json_of(o, "env", JSON_OBJECT);
        unsigned n = 0;
        for (const struct json *v = list ? list->child : NULL; v; v = v->next) {
                if (v->type != JSON_STRING || strlen(v->str) != v->len || v->len > VALUE_MAX ||
                    ++n > ENV_MAX || v->key_len > 128 || strspn(v->key, letters) != v->key_len ||
                    !v->key_len || (v->key[0] >= '0' && v->key[0] <= '9') || strpbrk(v->str, "\n\r"))
                        return refuse(e, "`env` has at most 64 members: names of letters, digits and _, and "
                                         "strings of one "
                                         "line");
                buf_printf(&j->env, "%s=%s", v->key, v->str);
                buf_putc(&j->env, '\0');
        }
        return n && json_get(o, "session")
                       ? refuse(e, "`env` is not for runs of a session: argv can begin with env")
                       : 0;
}

static int apply_env(struct job *j, cordon_error *e)
{
        return j->env.n ? held_policy_env(j->tenant, j->policy, span_of(j->env.p, j->env.n), e) : 0;
}

/* Below {work}, as the box sees it. */
static int take_cwd(struct job *j, const struct json *o, cordon_error *e)
{
        const char *cwd = json_str(o, "cwd");
        if (!cwd)
                return 0;

        const struct held_policy *h = j->session ? j->session->policy : j->policy;
        const char *work = held_policy_directory(h);
        bool up = strcmp(cwd, "..") == 0 || strncmp(cwd, "../", 3) == 0 || strstr(cwd, "/../") ||
                  (strlen(cwd) > 3 && strcmp(cwd + strlen(cwd) - 3, "/..") == 0);
        if (cwd[0] == '/' || up || !work)
                return refuse(e, work ? "`cwd` is a directory below {work}, without .."
                                      : "`cwd` is for policies with a door to {work}");
        return asprintf(&j->cwd, "%s/%s", work, cwd) < 0 ? refuse(e, "no memory for `cwd`") : 0;
}

int job_take_order(struct job *j, const struct json *o, cordon_error *e)
{
        j->timeout_ns = (uint64_t) json_int_or(o, "timeout", 0) * 1000000000u;
        return job_take_argv(j, o, e) < 0 || take_input(j, o, e) < 0 || take_output(j, o, e) < 0 ||
                               job_take_labels(j, o, e) < 0 || take_env(j, o, e) < 0 ||
                               take_policy(j, o, e) < 0 || apply_env(j, e) < 0 || take_cwd(j, o, e) < 0
                       ? -1
                       : 0;
}
