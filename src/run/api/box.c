/* SPDX-License-Identifier: MIT */
/* run/api/box.c - cordon_box_*: the handle around one run. */
#include "base/fd.h"
#include "base/store/store.h"
#include "base/str.h"
#include "run/api/checks_ready.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

cordon_box *cordon_box_new(cordon_policy *p)
{
        cordon_box *b = calloc(1, sizeof *b);
        if (!b)
                return NULL;

        b->policy = p;
        b->grants = b->words = b->passphrase = b->epoll = -1;
        b->giving = VAULT_NOT_GIVING;
        b->c = (struct box_config){ .cx = p->cx,
                                    .stage = POLICY_STAGE_LIVE,
                                    .home = p->home,
                                    .io = { .in = -1, .out = { -1, -1 } },
                                    .recording = { .fd = -1, .dir = -1 },
                                    .handles = b->handles,
                                    .canaries = b->canary_words,
                                    .cold_why = b->cold_why };
        return b;
}

/* A box that is freed before its end was killed: its overlay, if any, counts as waiting for review. */
static void end_doors(cordon_box *b)
{
        const struct box_result *r = b->box ? box_result(b->box) : NULL;
        api_unmake_doors(b, r && (!b->over || (r->has_work && r->work.kept)));
}

void cordon_box_free(cordon_box *b)
{
        if (!b)
                return;

        end_doors(b);
        box_free(b->box);
        api_checks_free(b->own_checks.ready);
        api_parked_free(&b->parked);
        arena_done(&b->texts);
        plan_free(b->plan);
        api_touch_done(b);
        if (b->has_image)
                image_done(&b->image);

        if (!b->session)
                api_grants_done(b);

        api_recording_done(b);
        fd_close(&b->epoll);
        policy_places_free(b->places);
        free((void *) (uintptr_t) b->c.places.p);
        free((void *) (uintptr_t) b->c.answers.p);
        free(b->cwd);
        free(b->c.places_file);
        free(b->c.answers_file);
        free(b->record_file);
        free(b->argv);
        free(b->entry);
        free(b->functions);
        buf_done(&b->recipe);
        cordon_policy_free(b->own_policy);
        free(b);
}

int cordon_box_command(cordon_box *b, const char *const *argv)
{
        size_t n = 0, bytes = 0;
        for (; argv[n]; n++)
                bytes += strlen(argv[n]) + 1;

        /* One block: the pointers, then the text they point at. */
        char **v = calloc(1, (n + 1) * sizeof *v + bytes);
        if (!v)
                return -1;

        char *at = (char *) (v + n + 1);
        for (size_t i = 0; argv[i]; i++) {
                v[i] = at;
                at = stpcpy(at, argv[i]) + 1;
        }

        free(b->argv);
        b->argv = v;
        return 0;
}

static int set_text(char *to, size_t cap, const char *value)
{
        int n = snprintf(to, cap, "%s", value);
        return n >= 0 && (size_t) n < cap ? 0 : -1;
}

/* A path; "" takes it away. */
static int set_copy(char **to, const char *value)
{
        char *copy = value[0] ? strdup(value) : NULL;
        if (value[0] && (!copy || strlen(value) >= PATH_MAX)) {
                free(copy);
                return -1;
        }

        free(*to);
        *to = copy;
        return 0;
}

/* "calls,secrets" */
static int set_trip(cordon_box *b, const char *value)
{
        for (const char *at = value; *at; at += *at == ',') {
                size_t n = strcspn(at, ",");
                if (box_trip_find(span_of(at, n), &b->c.trip) < 0)
                        return -1;
                at += n;
        }
        return b->c.trip ? 0 : -1;
}

static int set_observe(cordon_box *b, const char *value)
{
        static const char *const names[] = { [BOX_OBSERVE_DENIALS] = "denials",
                                             [BOX_OBSERVE_CALLS] = "calls",
                                             [BOX_OBSERVE_OFF] = "off",
                                             [BOX_OBSERVE_ALL] = "all" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strcmp(names[i], value) == 0) {
                        b->c.observe = (enum box_observe) i;
                        return 0;
                }

        return -1;
}

/* "auto:8" */
static int set_most(cordon_box *b, const char *value)
{
        uint64_t n;
        if (str_to_u64(span_str(value), &n) < 0 || n < 1 || n > 1000)
                return -1;

        b->pool = API_POOL_AUTO;
        b->parked_most = (unsigned) n;
        return 0;
}

static int set_pool(cordon_box *b, const char *value)
{
        static const char limited[] = "auto:";
        if (strncmp(value, limited, sizeof limited - 1) == 0)
                return set_most(b, value + sizeof limited - 1);

        static const char *const names[] = {
                [API_POOL_OFF] = "off", [API_POOL_AUTO] = "auto", [API_POOL_REQUIRE] = "require"
        };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strcmp(names[i], value) == 0) {
                        b->pool = (enum api_pool) i;
                        return 0;
                }

        return -1;
}

static int set_passphrase(cordon_box *b, const char *value)
{
        uint64_t fd;
        if (str_to_u64(span_str(value), &fd) < 0 || fd > 65535)
                return -1;
        b->passphrase = (int) fd;
        return 0;
}

size_t cordon_box_effect(cordon_box *b, size_t index, cordon_effect *ret)
{
        const struct box_result *r = b->box ? box_result(b->box) : NULL;
        if (!r || index >= r->effect_count)
                return 0;
        const struct effect_row *e = &r->effects[index];
        *ret = (cordon_effect){ effect_kind_name(e->effect.kind), e->effect.target, e->program };
        return 1;
}

size_t cordon_box_unreached(cordon_box *b, size_t index, cordon_unreached *ret)
{
        const struct box_result *r = b->box ? box_result(b->box) : NULL;
        for (unsigned i = 0; r && i < r->net_count; i++) {
                const struct egress_row *n = &r->net[i];
                if (!n->allowed || !n->reason || index-- > 0)
                        continue;
                AUTO_BUF(why);
                egress_row_why(n, &why);
                const char *kept = arena_str(&b->texts, buf_str(&why));
                *ret = (cordon_unreached){ n->to, kept ? kept : "", n->connections };
                return 1;
        }

        return 0;
}

static int set_fuel(cordon_box *b, const char *value)
{
        char *end;
        errno = 0;
        unsigned long long n = strtoull(value, &end, 10);
        if (errno || end == value || *end || value[0] == '-')
                return -1;

        b->fuel = n;
        return 0;
}

int cordon_box_set(cordon_box *b, cordon_option option, const char *value)
{
        bool on = strcmp(value, "1") == 0;
        switch (option) {
        case CORDON_NAME:
                return set_text(b->c.name, sizeof b->c.name, value);
        case CORDON_CWD:
                return value[0] == '/' ? set_copy(&b->cwd, value) : -1;
        case CORDON_CWD_MADE:
                b->cwd_made = on;
                return 0;
        case CORDON_TERM:
                return set_text(b->term, sizeof b->term, value);
        case CORDON_TTY:
                b->tty = on;
                return 0;
        case CORDON_ROOT_INSIDE:
                b->root_inside = on;
                return 0;
        case CORDON_REQUIRE_GROUPS:
                b->c.require_groups = on;
                return 0;
        case CORDON_OBSERVE:
                return set_observe(b, value);
        case CORDON_TRIP:
                return set_trip(b, value);
        case CORDON_STAGE:
                return policy_stage_find(value, &b->c.stage);
        case CORDON_PLACES:
                return set_copy(&b->c.places_file, value);
        case CORDON_ANSWERS:
                return set_copy(&b->c.answers_file, value);
        case CORDON_RECORD:
                return set_copy(&b->record_file, value);
        case CORDON_KEEP_OUTPUT:
                b->c.keep_output = on;
                return 0;
        case CORDON_PASSPHRASE_FD:
                return set_passphrase(b, value);
        case CORDON_SESSION_TIME:
                return str_to_ms(span_str(value), &b->c.session_ms);
        case CORDON_SESSION_IDLE:
                return str_to_ms(span_str(value), &b->c.idle_ms);
        case CORDON_FUEL:
                return set_fuel(b, value);
        case CORDON_ENTRY:
                return set_copy(&b->entry, value);
        case CORDON_WASI:
                b->no_wasi = strcmp(value, "0") == 0;
                return 0;
        case CORDON_CHECKS:
                b->checks = on;
                return 0;
        case CORDON_INTERPRET:
                b->interpret = on;
                return 0;
        case CORDON_SINGLE_THREAD:
                b->c.single_thread = on;
                return 0;
        case CORDON_LEDGER:
                return api_set_ledger(b, value);
        case CORDON_IN_FROM:
                return api_set_run_before(b, value);
        case CORDON_WORK_KEEP:
                b->c.work_keep = on;
                return 0;
        case CORDON_POOL:
                return set_pool(b, value);
        case CORDON_WORK_COPY:
                b->c.work_copy = on ? WORK_COPY_ENDED : WORK_COPY_NONE;
                return 0;
        case CORDON_WORK_ON:
                return set_text(b->c.work_on, sizeof b->c.work_on, value);
        }
        return -1;
}

void cordon_box_stdio(cordon_box *b, int stream, int fd)
{
        if (stream == 0)
                b->c.io.in = fd;
        else if (stream == 1 || stream == 2)
                b->c.io.out[stream - 1] = fd;
}

void cordon_box_on_output(cordon_box *b, void (*fn)(void *ctx, int stream, const void *data, size_t len),
                          void *ctx)
{
        b->c.io.sink = fn;
        b->c.io.sink_ctx = ctx;
}

void cordon_box_on_held(cordon_box *b, cordon_held_fn fn, void *ctx)
{
        b->c.on_held = (struct box_on_held){ fn, ctx };
}

void cordon_box_on_ending(cordon_box *b, cordon_ending_fn fn, void *ctx)
{
        b->c.on_ending = (struct box_on_ending){ fn, ctx };
}

void cordon_box_usage(const cordon_box *b, cordon_usage *ret)
{
        *ret = b->box ? box_usage_now(b->box) : (cordon_usage){ 0 };
}

int cordon_box_handle(cordon_box *b, const char *name, int fd)
{
        unsigned i = b->c.handle_count;
        if (i == HANDLES_MAX || set_text(b->handle_names[i], sizeof b->handle_names[i], name) < 0)
                return -1;
        b->handles[i] = (struct box_handle){ b->handle_names[i], fd };
        b->c.handle_count++;
        return 0;
}

static void open_vault(cordon_box *b, int timeout_ms)
{
        struct pollfd p = { .fd = b->giving.child.pidfd, .events = POLLIN };
        (void) poll(&p, 1, timeout_ms);
        api_box_begin(b);
}

/* Waits for a run and its session, and drives the session. */
static void wait_in_session(cordon_box *b, int timeout_ms)
{
        cordon_box *boxes[] = { b, b->session };
        struct pollfd p[2];
        for (unsigned i = 0; i < 2; i++) {
                int ms = cordon_box_next_ms(boxes[i]);
                p[i] = (struct pollfd){ .fd = boxes[i]->epoll, .events = POLLIN };
                if (p[i].fd < 0)
                        p[i].fd = cordon_box_fd(boxes[i]);

                if (ms >= 0 && (timeout_ms < 0 || ms < timeout_ms))
                        timeout_ms = ms;
        }

        (void) poll(p, 2, timeout_ms);
        (void) cordon_box_step(b->session);
}

static void take_turn(cordon_box *b, int timeout_ms)
{
        if (b->session && b->session->box && b->box && timeout_ms != 0) {
                wait_in_session(b, timeout_ms);
                timeout_ms = 0;
        }

        if (b->opens_vault)
                open_vault(b, timeout_ms);
        else if (box_wait(b->box, timeout_ms) == 1)
                api_box_over(b);

        if (b->over)
                end_doors(b);
}

int cordon_box_start(cordon_box *b, cordon_error *pe)
{
        if (cordon_box_start_async(b, pe) < 0)
                return -1;

        while (!b->over && !cordon_box_is_up(b))
                take_turn(b, -1);

        if (!b->start_failed)
                return 0;

        *pe = b->start_error;
        b->over = false; /* another start may follow */
        return -1;
}

/* The interpreter that the policy keeps warm, else any program. */
int api_any_command(struct cordon_box *b, cordon_error *pe)
{
        const char *any[] = { "sh", NULL };
        if (cordon_policy_check(b->policy, pe) < 0)
                return -1;

        if (!wall_has(wall_choice(policy_wall(b->policy->checked), 0), WALL_PROGRAMS)) {
                (void) err_set(to_err(pe), ERR_USAGE, 0,
                               "behind the wasm wall a box is parked with its module");
                return err_hint(to_err(pe), "name it: cordon serve pool add ... -- x.wasm, or -- x.js");
        }

        for (int i = WARM__COUNT - 1; i >= 0; i--)
                if (policy_warm(b->policy->checked, (enum policy_warm) i))
                        any[0] = policy_warm_row((enum policy_warm) i)->name;

        return cordon_box_command(b, any) < 0 ? err_set(to_err(pe), ERR_MEMORY, 0, "no memory for a box") : 0;
}

int cordon_box_park(cordon_box *b, cordon_error *pe)
{
        b->c.park = b->plans_pool = true;
        b->any_command = !b->argv;
        if (!b->argv && api_any_command(b, pe) < 0)
                return -1;

        if (cordon_box_start_async(b, pe) == 0)
                return 0;

        b->c.park = false;
        return -1;
}

int cordon_box_is_parked(const cordon_box *b)
{
        return (b->c.park && b->box && box_is_parked(b->box)) || b->parked.box;
}

int cordon_box_use(cordon_box *b, cordon_box *parked, cordon_error *pe)
{
        if (b->box || b->opens_vault)
                return err_set(to_err(pe), ERR_USAGE, 0, "this box was started before");

        if (parked->c.park && api_parked_keep(parked, to_err(pe)) < 0)
                return -1;

        api_parked_free(&b->parked);
        b->parked = parked->parked;
        parked->parked = (struct api_parked){ 0 };
        return 0;
}

int cordon_box_wait(cordon_box *b, int timeout_ms)
{
        if (!b->over && !b->box && !b->opens_vault)
                return -1;

        if (!b->over)
                take_turn(b, timeout_ms);

        return b->over;
}

int cordon_box_step(cordon_box *b) { return cordon_box_wait(b, 0); }

int cordon_box_next_ms(cordon_box *b) { return b->box && !b->over ? box_next_ms(b->box) : -1; }

int cordon_box_is_up(const cordon_box *b) { return b->box && box_is_up(b->box); }

int cordon_box_fd(cordon_box *b)
{
        if (b->epoll < 0)
                b->epoll = epoll_create1(EPOLL_CLOEXEC);

        struct epoll_event once = { .events = EPOLLIN | EPOLLONESHOT, .data.u32 = UINT32_MAX };
        if (b->epoll >= 0 && b->opens_vault)
                (void) epoll_ctl(b->epoll, EPOLL_CTL_ADD, b->giving.child.pidfd, &once);
        else if (b->epoll >= 0 && b->box)
                box_watch(b->box, b->epoll);

        return b->epoll;
}

void cordon_box_signal(cordon_box *b, int sig)
{
        if (!b->box || !box_is_up(b->box)) /* a start that comes to nothing may be followed by another */
                b->early_signals |= box_signal_bit(sig);
        if (b->box)
                box_signal(b->box, sig);
}

void cordon_box_resize(cordon_box *b, unsigned rows, unsigned columns)
{
        b->c.rows = (unsigned short) rows;
        b->c.columns = (unsigned short) columns;
        if (b->box)
                box_resize(b->box, rows, columns);
}

void cordon_box_kill(cordon_box *b)
{
        child_kill(&b->giving.child);
        if (b->box)
                box_kill(b->box);
}

const char *cordon_box_run_id(const cordon_box *b) { return b->box ? box_run_id(b->box) : ""; }

int cordon_denial_is_near(const char *code, const char *reason)
{
        return effect_is_near(effect_kind_find(span_str(code)), effect_reason_find(span_str(reason)));
}

/* 2: this user has not been told so yet on this host. */
static int blind_news(struct cordon_box *b)
{
        struct err none;
        if (b->blind)
                return b->blind;

        AUTO_FD(state, store_open(b->policy->cx, &none));
        AUTO_FD(first,
                state < 0 ? -1 : openat(state, "told-blind", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        return b->blind = first >= 0 ? 2 : 1;
}

const cordon_result *cordon_box_result(cordon_box *b)
{
        b->result = b->box ? *box_result_out(b->box) : box_no_result;
        if (!b->box && b->start_failed) {
                b->result.end = CORDON_FAILED;
                b->result.error = &b->start_error;
        }

        b->result.blind = b->result.blind ? blind_news(b) : 0;
        return &b->result;
}

char *cordon_box_result_json(cordon_box *b)
{
        struct buf out = { 0 };
        if (b->box)
                box_result_json(b->box, &out);
        else if (b->start_failed)
                box_failure_json(to_err(&b->start_error), &out);
        else
                return NULL;

        return api_give(&out, NULL);
}

char *cordon_box_plan(cordon_box *b, cordon_error *e)
{
        struct buf out = { 0 };
        b->dry = true;
        int made = api_begin(b, API_BEGIN_VIEW, to_err(e));
        b->dry = false;
        if (made < 0)
                return NULL;

        plan_print(b->plan, &out);
        return api_give(&out, to_err(e));
}

int cordon_result_status(const cordon_result *r)
{
        switch (r->end) {
        case CORDON_EXITED:
                return r->code;
        case CORDON_SIGNALED:
                return 128 + r->code;
        case CORDON_LIMIT:
                return 124;
        case CORDON_NOT_STARTED:
                return r->error && r->error->sys == ENOENT ? 127 : 126;
        case CORDON_FAILED:
                return r->error && r->error->code == ERR_DOOR && r->error->sys == EBADMSG ? 123 : 125;
        case CORDON_RUNNING:
                break;
        }
        return 125;
}
