/* SPDX-License-Identifier: MIT */
/* face/cli/run_end.c - the report at the end of a run: its status, denials, and changes that an edit door
 * held back. */
#include "face/cli/run_end.h"
#include "base/shell.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As it is typed: the rest after the word is one argument. The box chose its content. */
static void say_permit(const struct cli_end *o, const cordon_denial *d)
{
        AUTO_BUF(word);
        int n = (int) strcspn(d->permit, " ");
        if (d->argument[0])
                buf_shell(&word, d->argument);
        if ((d->argument[0] || !d->permit[n]) && !word.failed)
                (void) fprintf(stderr, "hint: %s--%.*s%s%s\n", o->in_session ? "a session with " : "", n,
                               d->permit, word.n ? " " : "", buf_str(&word));
}

/* SAFETY: the box chose the name of the denied object and of the program. Each is one word, quoted if it
 * would be more, so that no part of it is taken for our words that follow. */
static void put_word(struct buf *out, const char *before, const char *word)
{
        AUTO_BUF(quoted);
        buf_shell(&quoted, word);
        buf_printf(out, "%s%s", before, buf_str(&quoted));
        out->failed |= quoted.failed;
}

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static const char *verb_of(const cordon_denial *d)
{
        bool to = is(d->code, "sock") || is(d->code, "net") || is(d->code, "credential");
        if (is(d->reason, "socket"))
                return "network";

        return !d->path[0]            ? d->what
               : !to                  ? d->code
               : d->method[0]         ? d->method
               : strchr(d->path, ':') ? "connect to"
                                      : "look up";
}

static void say_denial(const cordon_denial *d, const char *more)
{
        AUTO_BUF(line);
        buf_puts(&line, verb_of(d));
        if (d->path[0])
                put_word(&line, " ", d->path);

        if (d->program[0])
                put_word(&line, " by ", d->program);

        buf_printf(&line, " (%s)", d->why);
        if (d->count > 1)
                buf_printf(&line, ", %u times", d->count);

        cli_note("blocked: %s%s", buf_str(&line), more);
}

/* `sg` starts a command with another of the account's groups as its primary one. */
static void hint_group(const char *path)
{
        char above[PATH_MAX];
        struct stat st = { 0 };
        (void) snprintf(above, sizeof above, "%s", path);
        char *slash = strrchr(above, '/');
        if (stat(above, &st) < 0 && slash) {
                *slash = '\0';
                (void) stat(above, &st);
        }

        (void) fprintf(
                stderr,
                "hint: run it with group %u as primary: sg GROUP -c 'cordon run ...'; or use a write door\n",
                (unsigned) st.st_gid);
}

/* A URL door to an address, and a command that calls it by a name. */
static void hint_of_name(const cordon_denial *d)
{
        static const char own[] = "http://127.0.0.1:";
        if (is(d->reason, "host-header") && strncmp(d->path, own, sizeof own - 1) == 0)
                (void) fprintf(stderr, "hint: use 127.0.0.1 in the command, or --net %.*s\n",
                               (int) strcspn(d->path + 7, "/"), d->path + 7);
}

enum hint_place { HINT_FIRST, HINT_INSTEAD, HINT_BESIDE }; /* of the option that would permit it */
static const struct {
        const char *reason;
        enum hint_place place;
        const char *text;
} hints[] = {
#define ASK   "run `cordon approve` in another terminal while the box is running"
#define LABEL "add `accepts private:NAME` to the door, or `declassify private:NAME` to ask a person each time"
#define RUNS  "--run PATH, or --run DIR/ for all programs below it"
        { "gate-expired", HINT_FIRST, ASK },
        { "gate-withdrawn", HINT_FIRST, ASK },
        { "label-secrecy", HINT_FIRST, LABEL },
        { "label-trifecta", HINT_FIRST, LABEL },
        { "socket", HINT_INSTEAD,
          "--net HOST:PORT; to find the hosts: cordon learn --network ask -- COMMAND" },
        { "own-program", HINT_INSTEAD, RUNS },
        { "writable", HINT_INSTEAD, RUNS },
        { "too-large", HINT_INSTEAD, "`mv` falls back to copying; or rename it outside the box" },
        { "namespace", HINT_INSTEAD,
          "turn off the program's own sandbox (chromium --no-sandbox); the box replaces it" },
        { "name", HINT_BESIDE, "port 443 is a guess: the box only looked up the name" },
};

static void say_hints(const cordon_denial *d, enum hint_place place)
{
        for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
                if (hints[i].place == place && is(d->reason, hints[i].reason))
                        (void) fprintf(stderr, "hint: %s\n", hints[i].text);
}

static void say_hint(const struct cli_end *o, const cordon_denial *d)
{
        bool permits = d->permit[0] && !is(d->reason, "socket");
        hint_of_name(d);
        say_hints(d, HINT_FIRST);
        if (permits)
                say_permit(o, d);
        else
                say_hints(d, HINT_INSTEAD);

        if (!permits && is(d->reason, "group"))
                hint_group(d->path);
        if (d->permit[0])
                say_hints(d, HINT_BESIDE);
}

/* ---- which of them ---- */

/* Does the command name it? Then it is reported first. */
static bool is_named(const struct cli_end *o, const char *path)
{
        for (char *const *w = o->command; w && *w; w++) {
                size_t n = strlen(*w), k = strlen(path);
                if (n > 0 && k >= n && strcmp(path + k - n, *w) == 0 && (k == n || path[k - n - 1] == '/'))
                        return true;
        }
        return false;
}

/* Was a key, a token or something else private reached for? */
static bool is_secret(const cordon_denial *d)
{
        static const char *const secrets[] = {
                "keys", "tokens", "passwords", "history", "agent", "metadata"
        };
        for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
                if (is(d->reason, secrets[i]))
                        return true;
        return false;
}

/* First what is worst: keys, data sent, hooks and start files. Then the most likely causes of a failure. */
static unsigned rank_of(const struct cli_end *o, const cordon_denial *d)
{
        static const char *const order[] = { "credential", "net",  "start", "run", "write",
                                             "rename",     "sock", "read",  "call" };
        bool start = is(d->reason, "start-file") && is(d->code, "write");
        const char *code = start ? "start" : d->code;
        unsigned n = 2;
        while (n < 2 + sizeof order / sizeof *order && !is(order[n - 2], code))
                n++;

        n = is_secret(d) ? 0 : d->path[0] && is_named(o, d->path) ? 1 : n;
        return n + 16 * (unsigned) d->minor;
}

/* The host's loopback by its other address: a name leads to both. */
static bool is_loopback_again(const cordon_denial *d, const cordon_denial *o)
{
        const char *port = strrchr(d->path, ':'), *other = strrchr(o->path, ':');
        return is(d->reason, "loopback") && is(o->reason, "loopback") && d->path[0] == '[' &&
               o->path[0] != '[' && port && other && is(port, other);
}

/* Of the denied sockets only the first is reported, and none if a destination is known, which is named
 * once. */
static bool is_said_better(const cordon_result *r, const cordon_denial *d)
{
        for (size_t i = 0; i < r->denial_count && is(d->code, "net"); i++) {
                const cordon_denial *o = &r->denials[i];
                bool same = o < d && is(o->permit, d->permit);
                if (is(o->code, "net") && (same || (is(d->reason, "socket") && !is(o->reason, "socket")) ||
                                           is_loopback_again(d, o)))
                        return true;
        }

        return false;
}

static bool is_same_socket(const cordon_denial *a, const cordon_denial *b)
{
        return is(a->reason, "socket") && is(b->reason, "socket") && is(a->program, b->program);
}

/* Sockets of different families read alike: they are reported as one, with a count. */
static bool is_counted_before(const cordon_result *r, const cordon_denial *d)
{
        for (const cordon_denial *o = r->denials; o < d; o++)
                if (is_same_socket(o, d))
                        return true;
        return false;
}

static cordon_denial with_all_counted(const cordon_result *r, const cordon_denial *d)
{
        cordon_denial sum = *d;
        for (const cordon_denial *o = d + 1; o < r->denials + r->denial_count; o++)
                sum.count += is_same_socket(o, d) ? o->count : 0;
        return sum;
}

/* Limits are reported above; lookups that every program makes are left out. */
static bool is_listed(const struct cli_end *o, const cordon_result *r, const cordon_denial *d)
{
        return !is(d->code, "limit") && !is_counted_before(r, d) &&
               (o->asked.verbose || (d->minor < 2 && !is_said_better(r, d)));
}

enum { SHOWN_MOST = 5, RANKS = 48 };

static void say_where(const struct cli_end *o, const cordon_result *r, size_t more)
{
        if (more && is(r->ledger, "on"))
                cli_note("%zu more blocked: cordon ledger show %.*s", more, str_run_shown(o->run), o->run);
        else if (more)
                cli_note("%zu more blocked: use -v to list them", more);
}

/* The possible causes first, each once. */
void cli_end_blocked(const struct cli_end *o, const cordon_result *r)
{
        size_t shown = 0, all = 0;
        for (size_t i = 0; i < r->denial_count; i++)
                all += is_listed(o, r, &r->denials[i]);

        for (unsigned rank = 0; rank < RANKS; rank++)
                for (size_t i = 0; i < r->denial_count; i++) {
                        const cordon_denial *d = &r->denials[i];
                        if (!is_listed(o, r, d) || rank_of(o, d) != rank ||
                            (shown == SHOWN_MOST && !o->asked.verbose))
                                continue;
                        cordon_denial all_of_it = with_all_counted(r, d);
                        say_denial(&all_of_it, "");
                        if (shown == 0 && is(d->code, "read") && is_named(o, d->path))
                                cli_here_script(o);
                        say_hint(o, d);
                        shown++;
                }

        say_where(o, r, all - shown);
}

/* Was something denied that the user should know about although the run succeeded? */
static bool matters(const cordon_denial *d)
{
        if (d->minor)
                return false;

        return is_secret(d) || is(d->code, "credential") || is(d->code, "run") ||
               (is(d->reason, "start-file") && is(d->code, "write")) ||
               (is(d->code, "net") && !is(d->reason, "loopback"));
}

/* The worst of them first: the `nth` one in the order of the causes, or NULL. */
static const cordon_denial *nth_that_matters(const struct cli_end *o, const cordon_result *r, size_t nth)
{
        for (unsigned rank = 0; rank < RANKS; rank++)
                for (size_t i = 0; i < r->denial_count; i++) {
                        const cordon_denial *d = &r->denials[i];
                        if (matters(d) && !is_said_better(r, d) && rank_of(o, d) == rank && nth-- == 0)
                                return d;
                }
        return NULL;
}

/* The next two by name, the rest by number. */
static void put_others(const struct cli_end *o, const cordon_result *r, struct buf *out)
{
        enum { NAMED = 2 };
        size_t n = 1;
        for (const cordon_denial *d; (d = nth_that_matters(o, r, n)); n++)
                if (n <= NAMED) {
                        buf_printf(out, "%s%s", n == 1 ? "; also " : ", ", verb_of(d));
                        put_word(out, d->path[0] ? " " : "", d->path);
                }

        if (n > NAMED + 1)
                buf_printf(out, " and %zu more", n - NAMED - 1);
}

static void say_what_matters(const struct cli_end *o, const cordon_result *r)
{
        AUTO_BUF(more);
        const cordon_denial *first = nth_that_matters(o, r, 0);
        if (!first)
                return;

        put_others(o, r, &more);
        if (is(r->ledger, "on"))
                buf_printf(&more, "; more: cordon ledger show %.*s", str_run_shown(o->run), o->run);
        else
                buf_puts(&more, "; more with -v");

        say_denial(first, buf_str(&more));
        if (is(first->reason, "method")) /* the door is there, and lacks a word */
                say_permit(o, first);
        hint_of_name(first);
        say_hints(first, HINT_FIRST);
}

static void say_absent(const cordon_result *r)
{
        AUTO_BUF(words);
        for (int i = 0; i < 2 && r->absent[i]; i++) {
                buf_puts(&words, i ? ", " : "");
                buf_shell(&words, r->absent[i]);
        }
        cli_note("does not exist on the host either: %s", buf_str(&words));
}

static bool went_well(const cordon_result *r) { return r->end == CORDON_EXITED && r->code == 0; }

/* A run failed without a known reason: if path lookups are not observed, a denied one may be the cause. */
static void say_blind(const struct cli_end *o, const cordon_result *r)
{
        bool wasm = strcmp(r->wall, "wasm") == 0;
        if (cli_here_say(o, r) || r->end != CORDON_EXITED || r->code == 0)
                return;

        if (wasm)
                cli_note("note: the wasm wall does not report blocked paths; paths without a door do not "
                         "exist there");
        else if (r->blind)
                cli_note("note: this host cannot report blocked paths; see `fuse` in `cordon doctor`");
}

static void say_edit_watched(const cordon_result *r)
{
        if (r->edit_watched)
                cli_note("note: files behind `edit` were watched, where changes made outside are not seen; "
                         "use `write DIR` or `read DIR` to see them");
}

static void say_denials(const struct cli_end *o, const cordon_result *r)
{
        size_t listed = 0;
        for (size_t i = 0; i < r->denial_count; i++)
                listed += is_listed(o, r, &r->denials[i]);

        if (went_well(r) && !o->asked.verbose) {
                say_what_matters(o, r);
                if (r->blind == 2 && !o->asked.json)
                        cli_note("note: this host cannot report a blocked read after which the command goes "
                                 "on; see `cordon doctor` (said once)");
                (void) cli_here_say(o, r);
                return;
        }

        if (!went_well(r)) {
                cli_here_options(o);
                cli_here_still_empty(o);
        }

        cli_end_blocked(o, r);
        if (r->denials_lost)
                cli_note("not listed, too many: %s, or more", r->lost);

        if (!listed && r->absent[0])
                say_absent(r);

        if (!listed && r->left == 0 && !r->limits_hit[0])
                say_blind(o, r);
}

/* Files created in the box's working directory, without a door, are deleted with the box. */
static void say_left(const cordon_result *r)
{
        AUTO_BUF(name);
        if (r->left == 0)
                return;

        buf_shell(&name, r->left_name);
        if (r->left == 1)
                cli_note("lost: %s was in the box's private home, deleted with the box", buf_str(&name));
        else
                cli_note("lost: %s and %zu more files were in the box's private home, deleted with the box",
                         buf_str(&name), r->left - 1);

        cli_here_hint("edit");
}

/* make checks with access() whether it may run a program, and does not try if it may not: no denial is
 * reported. Mostly the program is one that it built itself. */
static void say_unheard(const struct cli_end *o, const cordon_result *r)
{
        const char *slash = strrchr(o->program, '/'), *name = slash ? slash + 1 : o->program;
        bool make = strcmp(name, "make") == 0 || strcmp(name, "gmake") == 0;
        cordon_error e = { 0 };
        if (!make || r->end != CORDON_EXITED || r->code == 0)
                return;

        if ((cordon_policy_opens(o->policy, "write", &e) > 0 ||
             cordon_policy_opens(o->policy, "edit", &e) > 0) &&
            cordon_policy_opens(o->policy, "run", &e) == 0)
                cli_note("note: files the box can write cannot be executed (\"Permission denied\"); allow a "
                         "directory with --run DIR/");
}

/* The changes that an edit door held back, and the next command to type. */
/* What has no disk is gone with the machine's next start. */
static void say_place(const cordon_result *r)
{
        if (r->work_place && r->work_place[0] && strncmp(r->work_place, "/var/", 5) != 0)
                cli_note("note: the overlay is in %s until this machine or container stops, because its "
                         "state directory cannot hold overlays",
                         r->work_place);
}

static void say_work(const cordon_result *r)
{
        if (r->work[0])
                say_place(r);
        if (r->work_error)
                cli_note("cannot read overlay %.*s: %s", str_run_shown(r->work), r->work,
                         r->work_error->what);
        else if (r->work[0] && r->work_entries > 0)
                cli_note_changes((long long) r->work_entries, (long long) r->work_flagged, r->work);
        else if (r->work[0])
                cli_note("no changes; overlay kept: cordon run --on %.*s ...", str_run_shown(r->work),
                         r->work);
}

/* Warns now if nothing is recorded, not when the record is wanted. */
static void say_ledger(const cordon_result *r)
{
        if (r->ledger_lost[0])
                cli_note("note: the ledger is incomplete for this run: %s", r->ledger_lost);
}

static void say_unlabelled(const cordon_result *r)
{
        cli_note("note: %s is labelled %s, which only a box that reads it learns", r->unlabelled, r->labels);
}

static void say_unstamped(const cordon_result *r)
{
        cli_note("note: %u of the files behind write doors could not be labelled, such as %s: moved "
                 "elsewhere they have no label",
                 r->unstamped, r->unstamped_file);
}

static void say_recorded(const char *file, const cordon_result *r)
{
        AUTO_BUF(word);
        buf_shell(&word, file);
        cli_note("recorded %zu exchange%s; replay: cordon run --stage mock --answers %s ...", r->recorded,
                 r->recorded == 1 ? "" : "s", buf_str(&word));
        if (r->unrecorded)
                cli_note("%zu not recorded: over 1M, incomplete, or not one request and one response",
                         r->unrecorded);
}

/* With a higher limit the run may succeed; a successful one needs none. */
static void say_limits(const cordon_result *r)
{
        cli_note("limits reached: %s", r->limits_hit);
        for (size_t i = 0; !went_well(r) && i < r->denial_count; i++)
                if (is(r->denials[i].code, "limit"))
                        (void) fprintf(stderr, "hint: --%s\n", r->denials[i].argument);
}

/* A limit of the run, or of the session around it. */
static void say_limit(const cordon_result *r)
{
        if (r->session_over && is(r->limit, "time"))
                cli_note("the session ended after its --life; start a longer one: cordon session new --life "
                         "TIME");
        else if (r->session_over)
                cli_note("the session ended: limit `%s` reached; raise it: cordon session new --%s VALUE",
                         r->limit, r->limit);
        else
                cli_note("limit `%s` reached%s; raise it with --%s VALUE", r->limit,
                         r->output_truncated ? ", output truncated" : "", r->limit);

        if (!r->groups)
                cli_note("note: no control groups for this account; memory, cpu and procs are limited by "
                         "rlimits and sampling");
}

/* The session has ended before its run: where its changes are. */
static void say_session(const cordon_result *r)
{
        char run[64];
        cordon_error ignored;
        if (r->end != CORDON_LIMIT)
                cli_note("the session ended and killed this command");

        if (cordon_work_find(cli_context(), r->session, run, &ignored) == 0)
                cli_note("its changes are in an overlay: cordon diff %.*s; then cordon apply %.*s",
                         str_run_shown(run), run, str_run_shown(run), run);
}

/* These wait for lookups, which this host does not show. */
static void say_trip(const struct cli_end *o, const cordon_result *r)
{
        static const char *const waits[] = { "secrets", "doors", "all" };
        for (size_t i = 0; r->blind && o->trip && i < sizeof waits / sizeof *waits; i++)
                if (strstr(o->trip, waits[i])) {
                        cli_note("note: --trip %s: this host cannot report blocked paths, so they stop "
                                 "nothing; see `cordon doctor`",
                                 waits[i]);
                        return;
                }
}

/* The shell makes several words of `--read *.py -- COMMAND`: the second is taken for the command. */
static void say_error(const struct cli_end *o, const cordon_error *e)
{
        cordon_error said = *e;
        struct stat st;
        char shown[100];
        bool marked = false;
        for (char *const *w = o->command; w && *w; w++)
                marked |= strcmp(*w, "--") == 0;

        if (marked && !strchr("./", o->program[0]) && (e->sys == ENOENT || e->sys == EACCES) &&
            stat(o->program, &st) == 0 && S_ISREG(st.st_mode))
                (void) snprintf(
                        said.hint, sizeof said.hint,
                        "an option takes one path, and %s is another: --read . shows all of this directory",
                        str_inert(span_str(o->program), shown, sizeof shown));

        (void) cli_error(&said);
}

void cli_end_say(const struct cli_end *o, const cordon_result *r)
{
        if (r->error)
                say_error(o, r->error);

        if (o->asked.quiet)
                return;

        if (strcmp(r->wall, "process") == 0)
                cli_note("note: process wall only (no namespaces): hidden files give EACCES and can be seen "
                         "by stat; only HOME and TMPDIR are private, the host's /tmp is closed; no private "
                         "loopback, Unix sockets or terminals; see `cordon doctor`");

        if (r->end == CORDON_LIMIT)
                say_limit(r);
        else if (r->limits_hit[0])
                say_limits(r);

        if (r->session_over)
                say_session(r);

        say_denials(o, r);
        say_trip(o, r);
        say_unheard(o, r);
        say_left(r);
        say_edit_watched(r);
        say_work(r);
        say_ledger(r);
        if (r->unlabelled[0])
                say_unlabelled(r);
        if (r->unstamped)
                say_unstamped(r);
        if (o->record && !r->error)
                say_recorded(o->record, r);
}

/* A program inside often sees no more of it than a reset connection. */
void cli_end_unreached(const struct cli_end *o, cordon_box *b)
{
        cordon_unreached u;
        for (size_t i = 0; !o->asked.quiet && (o->asked.verbose || !went_well(cordon_box_result(b))) &&
                           cordon_box_unreached(b, i, &u);
             i++) {
                if (i == 0)
                        cli_note("not reached:");
                (void) fprintf(stderr, "  %s (%s)", u.to, u.why);
                if (u.count > 1)
                        (void) fprintf(stderr, ", %u times", u.count);
                (void) fputc('\n', stderr);
        }
}

/* Written completely, also to a full non-blocking pipe: a program reads it. A failure is reported also
 * with -q. */
static int write_status(int fd, const char *json)
{
        for (size_t n = strlen(json); n > 0;) {
                ssize_t k = write(fd, json, n);
                struct pollfd room = { .fd = fd, .events = POLLOUT };
                if (k >= 0) {
                        json += k;
                        n -= (size_t) k;
                } else if (errno == EAGAIN)
                        (void) poll(&room, 1, -1);
                else if (errno != EINTR) {
                        (void) cli_problem("cannot write the result to descriptor %d: %s", fd,
                                           strerror(errno));
                        return -1;
                }
        }

        return 0;
}

int cli_end_status(const struct cli_end *o, cordon_box *b)
{
        int told = 0;
        if (!o->asked.json && o->status_fd < 0)
                return 0; /* not asked for: the policy's digest alone costs as much as a door */

        char *json = cordon_box_result_json(b);
        if (!json) {
                (void) cli_problem("out of memory for the result as JSON");
                return -1;
        }

        cli_failure_told();
        if (o->asked.json)
                cli_line_begin();

        if (o->asked.json && fprintf(stderr, "%s\n", json) < 0)
                told = -1;

        if (o->status_fd >= 0 &&
            (write_status(o->status_fd, json) < 0 || write_status(o->status_fd, "\n") < 0))
                told = -1;

        cordon_free(json);
        return told;
}

/* A failed start also has a result. */
void cli_end_failure(const struct cli_end *o, const char *run, const cordon_error *e)
{
        AUTO_BUF(out);
        buf_puts(&out, "{\"version\":1,");
        if (run)
                buf_printf(&out, "\"run\":\"%s\",", run);

        const char *code = cordon_error_name(e->code);

        /* By this the caller of a detached box learns that the program could not be started. */
        buf_printf(&out, "\"end\":\"%s\",\"error\":{\"code\":\"%s\",\"errno\":%d,\"step\":%u,\"what\":",
                   strcmp(code, "exec") == 0 ? "not-started" : "failed", code, e->sys, (unsigned) e->step);
        buf_json(&out, span_str(e->what));
        buf_member(&out, "hint", e->hint);
        buf_puts(&out, "}}\n");
        if (o->asked.json) {
                cli_line_begin();
                (void) fputs(buf_str(&out), stderr);
        }

        if (o->status_fd >= 0)
                (void) write_status(o->status_fd, buf_str(&out));

        cli_failure_told();
}

void cli_end_untold(const struct cli_end *o)
{
        const cordon_error *e = cli_failure_untold();
        if (e)
                cli_end_failure(o, NULL, e);
}
