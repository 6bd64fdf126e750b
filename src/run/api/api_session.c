/* SPDX-License-Identifier: MIT */
/* run/api/api_session.c - sessions: a box that stays, and the runs in it. */
#include "run/api/internal.h"

#include <stdio.h>
#include <string.h>

enum { SESSION_MS = 24 * 3600 * 1000, IDLE_MS = 3600 * 1000 };

int cordon_session_start(cordon_box *b, cordon_error *pe)
{
        static const char *const none[] = { "session", NULL };
        b->c.session = true;
        b->c.session_ms = b->c.session_ms ? b->c.session_ms : SESSION_MS;
        b->c.idle_ms = b->c.idle_ms ? b->c.idle_ms : IDLE_MS;
        if (!b->argv && cordon_box_command(b, none) < 0)
                return err_set(to_err(pe), ERR_MEMORY, 0, "no memory for a session");

        return cordon_box_start_async(b, pe);
}

/* The session's start is a cause of all that its runs do. */
static void name_parent(cordon_box *run, const cordon_box *session)
{
        char id[sizeof session->remote + 8];
        int n = snprintf(id, sizeof id, "%s.start", cordon_session_id(session));
        if (session->c.ledger != BOX_LEDGER_OFF && n < (int) sizeof id)
                (void) api_set_cause(run, id);
}

cordon_box *cordon_session_run(cordon_box *session)
{
        cordon_box *b = cordon_box_new(session->policy);
        if (!b)
                return NULL;

        b->session = session;
        b->told = session->told; /* the placeholders that the session's broker knows */
        b->told_count = session->told_count;
        b->c.trip = session->c.trip;
        memcpy(b->canaries, session->canaries, sizeof b->canaries);
        memcpy(b->canary_words, session->canary_words, sizeof b->canary_words);
        b->c.canary_count = session->c.canary_count;
        b->c.words = session->c.words; /* which output is searched for */
        b->c.session_run = session->remote[0] ? session->remote : NULL;
        b->root_inside = session->root_inside;
        b->c.observe = session->c.observe;
        b->c.ledger = session->c.ledger;
        b->c.stage = session->c.stage;
        name_parent(b, session);
        return b;
}

cordon_policy *cordon_session_policy(cordon_box *session) { return session->policy; }

void cordon_session_end(cordon_box *session)
{
        if (session->box)
                box_finish(session->box);
}

/* ---- sessions of other processes ---- */

static int no_session(const char *which, struct err *e)
{
        if (e->code == ERR_GONE) {
                (void) err_set(e, ERR_GONE, 0, "no session named %.60s", which);
                return err_hint(e, "cordon session ls; if it ended: cordon ledger show %.60s", which);
        }

        return -1;
}

/* Its run id, and the rest of the answer. */
static struct span ask_recipe(const char *which, struct buf *answer, char ret_run[64], struct err *e)
{
        if (box_ask(which, BOX_ASK_SESSION, 0, answer, e) < 0) {
                (void) no_session(which, e);
                return (struct span){ 0 };
        }

        const char *text = buf_str(answer), *line = strchr(text, '\n');
        if (!line || line - text >= 64) {
                (void) err_set(e, ERR_USAGE, 0, "%.60s is a run, not a session", which);
                (void) err_hint(e, "`cordon session ls` lists sessions");
                return (struct span){ 0 };
        }

        (void) snprintf(ret_run, 64, "%.*s", (int) (line - text), text);
        return span_str(line + 1);
}

/* A handle with the policy and options of a session of another process. */
static cordon_box *like_session(const cordon_context *cx, const char *which, char run[64], struct err *e)
{
        AUTO_BUF(answer);
        struct span recipe = ask_recipe(which, &answer, run, e);
        if (recipe.n == 0)
                return NULL;

        cordon_policy *p = cordon_policy_new(cx);
        cordon_box *b = p ? cordon_box_new(p) : NULL;
        if (!b) {
                cordon_policy_free(p);
                (void) err_set(e, ERR_MEMORY, 0, "no memory for a session");
                return NULL;
        }

        b->own_policy = p;
        if (api_recipe_read(b, recipe, e) < 0) {
                cordon_box_free(b);
                return NULL;
        }

        return b;
}

cordon_box *cordon_session_open(const cordon_context *cx, const char *which, cordon_error *pe)
{
        char run[64];
        cordon_box *b = like_session(cx, which, run, to_err(pe));
        if (!b)
                return NULL;

        memcpy(b->remote, run, sizeof run);
        if (!b->has_words || (b->words = box_words(run, to_err(pe))) >= 0) {
                b->c.words = b->has_words ? &b->words : NULL;
                return b;
        }

        cordon_box_free(b); /* without them its output would not be searched */
        return NULL;
}

/* ---- fork ---- */

/* Doors behind which both sessions would meet. */
static const struct {
        enum door_kind kind;
        const char *word, *why;
} unforkable[] = {
        { DOOR_WRITE, "write", "both sessions would change the same files at once" },
        { DOOR_LISTEN, "listen", "two boxes cannot have one port" },
};

static int refuse_unforkable(const cordon_box *b, struct err *e)
{
        bool edits = false;
        for (const struct door *d = NULL; (d = policy_door_next(b->policy->checked, d));) {
                edits |= d->kind == DOOR_EDIT;
                for (size_t k = 0; k < sizeof unforkable / sizeof *unforkable; k++)
                        if (d->kind == unforkable[k].kind && !d->from_stock) {
                                (void) err_set(e, ERR_USAGE, 0, "cannot fork a session with a `%s` door: %s",
                                               unforkable[k].word, unforkable[k].why);
                                return err_hint(e, "an `edit` door gives each session its own copy");
                        }
        }

        if (edits)
                return 0;

        (void) err_set(e, ERR_USAGE, 0, "nothing to copy: the session has no `edit` door");
        return err_hint(e, "`cordon session new` starts another one");
}

/* A run may be in the middle of a write. */
static int refuse_busy(const char *run, struct err *e)
{
        AUTO_BUF(state);
        if (box_ask(run, BOX_ASK_STATE, 0, &state, e) < 0)
                return -1;

        if (strstr(buf_str(&state), "\"runs\":0}"))
                return 0;

        (void) err_set(e, ERR_USAGE, 0, "a command is still running in the session");
        return err_hint(e, "fork it when the command has ended; `cordon session ls` shows that");
}

cordon_box *cordon_session_fork(const cordon_context *cx, const char *which, cordon_error *pe)
{
        char run[64];
        struct err *e = to_err(pe);
        cordon_box *b = like_session(cx, which, run, e);
        if (!b)
                return NULL;

        api_grants_done(b); /* the new one has credentials and canaries of its own */
        b->c.canary_count = 0;
        b->c.name[0] = '\0';
        b->c.work_copy = WORK_COPY_RUNNING; /* made when it starts, under its own id and name */
        (void) snprintf(b->c.work_on, sizeof b->c.work_on, "%s", run);
        if (cordon_policy_check(b->policy, pe) == 0 && refuse_unforkable(b, e) == 0 &&
            refuse_busy(run, e) == 0)
                return b;

        cordon_box_free(b);
        return NULL;
}

const char *cordon_session_id(const cordon_box *session)
{
        return session->remote[0] ? session->remote : cordon_box_run_id(session);
}

char *cordon_session_finish(const char *which, cordon_error *pe)
{
        AUTO_BUF(answer);
        AUTO_BUF(out);
        char run[64];
        struct err *e = to_err(pe);
        if (ask_recipe(which, &answer, run, e).n == 0 || box_ask(run, BOX_ASK_END, 0, &out, e) < 0)
                return NULL;

        return api_give(&out, e);
}
