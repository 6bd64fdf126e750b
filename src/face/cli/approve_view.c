/* SPDX-License-Identifier: MIT */
/* face/cli/approve_view.c - shows one effect, or a table of like ones, on the user's terminal and takes one
 * key. The answer is read from /dev/tty, never from standard input: no pipe can say yes. */
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/approve.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LINE_BYTES = 256, BATCH_MAX = 20, COLUMNS = 80, ROW_BYTES = 400 };

struct view {
        FILE *tty;
        int fd;
        const struct approve_words *w;
};

/* ---- the terminal ---- */

/* One key, without Enter; 0: the terminal is gone. What was typed before the question is dropped: nobody has
 * read the question by then. */
static int take_key(const struct view *v)
{
        struct termios old, raw;
        char c = 0;
        if (tcgetattr(v->fd, &old) < 0)
                return 0;

        raw = old;
        raw.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
        (void) fflush(v->tty);
        (void) tcsetattr(v->fd, TCSAFLUSH, &raw);
        ssize_t n = read(v->fd, &c, 1);
        (void) tcsetattr(v->fd, TCSANOW, &old);
        (void) fprintf(v->tty, "%c\n", c >= ' ' && c < 0x7f ? c : ' ');
        return n == 1 ? c : 0;
}

static bool take_words(const struct view *v, const char *question, char ret[LINE_BYTES])
{
        (void) fprintf(v->tty, "%s", question);
        (void) fflush(v->tty);
        ssize_t n = read(v->fd, ret, LINE_BYTES - 1);
        if (n <= 0)
                return false;

        ret[n] = '\0';
        ret[strcspn(ret, "\r\n")] = '\0';
        return true;
}

/* Words that are needed: the Enter that some type after a key is none. */
static bool take_some_words(const struct view *v, const char *question, char ret[LINE_BYTES])
{
        for (unsigned tries = 0; tries < 3; tries++) {
                if (!take_words(v, question, ret))
                        return false;
                if (ret[0])
                        return true;
        }
        return false;
}

static unsigned page_rows(const struct view *v)
{
        struct winsize w;
        return ioctl(v->fd, TIOCGWINSZ, &w) == 0 && w.ws_row > 8 && w.ws_col >= COLUMNS ? w.ws_row - 4 : 20;
}

/* Page by page: a key turns it, so nothing leaves the screen before it was on it. Returns false: stop. */
static bool print_inert(const struct view *v, const char *text)
{
        char line[8192];
        unsigned row = 0, page = page_rows(v);
        while (*text) {
                size_t n = strcspn(text, "\n");
                const char *inert = str_inert(span_of(text, n), line, sizeof line);
                row += (unsigned) (strlen(inert) + 2) / COLUMNS + 1;
                if (row > page) {
                        (void) fprintf(v->tty, "-- [q]uit, any other key: more --");
                        int c = take_key(v);
                        if (c == 0 || c == 'q' || c == 3 || c == 4)
                                return false;
                        row = (unsigned) (strlen(inert) + 2) / COLUMNS + 1;
                }

                (void) fprintf(v->tty, "  %s\n", inert);
                text += n + (text[n] == '\n');
        }

        return true;
}

/* ---- answers ---- */

struct answer {
        bool yes;
        const char *ids; /* `"id":"..."` or `"ids":[...]` */
        char challenge[LINE_BYTES], reason[LINE_BYTES];
        unsigned uses, seconds;
};

static void answer_json(const struct answer *a, struct buf *out)
{
        buf_printf(out, "{\"op\":\"answer\",%s,\"yes\":%s", a->ids, a->yes ? "true" : "false");
        if (a->challenge[0])
                buf_member(out, "challenge", a->challenge);
        if (a->reason[0])
                buf_member(out, "reason", a->reason);
        if (a->uses)
                buf_printf(out, ",\"uses\":%u", a->uses);
        if (a->seconds)
                buf_printf(out, ",\"for_s\":%u", a->seconds);
        buf_putc(out, '}');
}

/* Sends it; asks once more if the gate wants the digits or a reason. */
static bool send_answer(const struct view *v, const struct approve_item *it, struct answer *a)
{
        for (unsigned tries = 0; tries < 3; tries++) {
                AUTO_BUF(q);
                answer_json(a, &q);
                struct json_doc *d = approve_ask(it, &q);
                const char *code = d ? json_text(json_root(d), "code") : "";
                bool done = strcmp(code, "decided") == 0 || strcmp(code, "counted") == 0;
                const struct json *decoy = d ? json_get(json_root(d), "decoy") : NULL;
                if (done && decoy && decoy->type == JSON_TRUE)
                        (void) fprintf(
                                v->tty,
                                a->yes ? "that was a decoy and should have been denied; nothing was sent\n"
                                       : "that was a decoy, and it is denied\n");
                else if (done)
                        (void) fprintf(v->tty, "%s%s\n", json_text(json_root(d), "state"),
                                       strcmp(code, "counted") == 0 ? ": others must approve as well" : "");

                bool digits = strcmp(code, "challenge") == 0, typed = digits || strcmp(code, "reason") == 0;
                char *words = digits ? a->challenge : a->reason;
                if (!done && (!typed || words[0])) /* else they are asked for, for the first time */
                        (void) fprintf(v->tty, "not taken: %s\n",
                                       d ? json_text(json_root(d), "error") : "the box has ended");

                bool again = typed &&
                             take_some_words(v, digits ? "the last 4 digits of the id: " : "reason: ", words);
                json_free(d);
                if (!again)
                        return done;
        }
        return false;
}

static void set_scope(struct answer *a, const struct approve_words *w)
{
        uint64_t n = 0;
        if (w->uses && str_to_u64(span_str(w->uses), &n) == 0)
                a->uses = (unsigned) n;
        if (w->time && str_to_ms(span_str(w->time), &n) == 0)
                a->seconds = (unsigned) (n / 1000);
        if (w->reason)
                (void) snprintf(a->reason, sizeof a->reason, "%s", w->reason);
}

int approve_deny(const struct approve_item *it, const char *reason)
{
        char ids[96];
        (void) snprintf(ids, sizeof ids, "\"id\":\"%s\"", it->id);
        struct answer a = { .ids = ids };
        (void) snprintf(a.reason, sizeof a.reason, "%s", reason ? reason : "");
        AUTO_BUF(q);
        answer_json(&a, &q);
        struct json_doc *d = approve_ask(it, &q);
        bool done = d && strcmp(json_text(json_root(d), "code"), "decided") == 0;
        int status = done ? 0
                          : cli_problem("not denied: %s",
                                        d ? json_text(json_root(d), "error") : "the box has ended");
        if (done)
                (void) printf("denied %.12s\n", it->id);
        json_free(d);
        return status;
}

/* It asks because of what the run has read: a door that accepts it does not. */
static void always_labelled(const char *door)
{
        const char *accepts = strstr(door, " accepts "), *ask = strstr(door, " ask");
        size_t n = accepts ? (size_t) (accepts - door) : ask ? (size_t) (ask - door) : strlen(door);
        (void) printf(
                "Approvals cannot be permanent. This door asks because the run has read untrusted text; this "
                "policy change would allow it without asking:\n- %s\n+ %.*s accepts untrusted%s\n",
                door, (int) n, door, accepts ? accepts + strlen(" accepts") : door + n);
}

/* "net https://a/ POST ask within 1m until 2026-12-31" without its question. */
void approve_always(const struct approve_item *it)
{
        const char *ask = strstr(it->door, " ask"), *until = strstr(it->door, " until ");
        if (!ask || strncmp(ask, " ask labelled", 13) == 0) {
                always_labelled(it->door);
                return;
        }

        (void) printf("Approvals cannot be permanent. This policy change would allow it without asking; "
                      "review it, then run `cordon check`:\n- %s\n+ %.*s%s\n",
                      it->door, (int) (ask - it->door), it->door, until && until > ask ? until : "");
}

/* ---- one effect ---- */

static struct json_doc *show(const struct approve_item *it)
{
        AUTO_BUF(q);
        buf_puts(&q, "{\"op\":\"show\"");
        buf_member(&q, "id", it->id);
        buf_putc(&q, '}');
        return approve_ask(it, &q);
}

static bool print_item(const struct view *v, const struct approve_item *it, const struct json *o)
{
        char door[1024], effect[400];
        (void) fprintf(v->tty, "\n%.12s...%s  run %s, %lld s left%s\n", it->id, it->id + 60, it->run,
                       it->expires_s, it->high ? ", HIGH RISK" : "");
        bool read = print_inert(v, json_text(o, "text"));
        (void) fprintf(v->tty, "%s\ndoor: %s\n", str_inert(span_str(it->effect), effect, sizeof effect),
                       str_inert(span_str(it->door), door, sizeof door));
        const struct json *new = json_get(o, "new");
        if (new &&new->type == JSON_TRUE)
                (void) fprintf(v->tty, "new: unlike the last 50 approvals\n");
        return read;
}

static void explain(const struct view *v)
{
        (void) fprintf(
                v->tty,
                "The box is waiting and nothing has been sent. If you approve, exactly these bytes are sent, "
                "once.\n  y  approve this effect, once       n  deny it\n  u  approve it and like ones, for "
                "a number of uses or a time; only what the door lets vary may differ\n  a  the change of the "
                "policy that makes the question needless\n  s  leave it for later              q  stop\n");
}

static bool ask_scope(const struct view *v, const struct approve_item *it, struct answer *a)
{
        char words[LINE_BYTES];
        uint64_t n;
        if (!strstr(it->door, " vary "))
                (void) fprintf(v->tty, "this door has no `vary`: only an identical effect is covered\n");
        if (!take_some_words(v, "how many (2 to 100), or how long (90s, 30m; at most 1h): ", words))
                return false;
        if (str_to_u64(span_str(words), &n) == 0)
                a->uses = (unsigned) n;
        else if (str_to_ms(span_str(words), &n) == 0)
                a->seconds = (unsigned) (n / 1000);
        else
                return false;
        return true;
}

/* Returns false: stop. */
static bool ask_about(const struct view *v, const struct approve_item *it)
{
        char ids[96];
        struct json_doc *d = show(it);
        const struct json *o = d ? json_root(d) : NULL;
        bool on = true, there = o && json_get(o, "text");
        if (there)
                there = on = print_item(v, it, o);
        else
                (void) fprintf(v->tty, "%.12s is no longer pending\n", it->id);

        for (bool again = there; again;) {
                (void) fprintf(
                        v->tty,
                        "approve? [y]es once  [n]o  [u]ses or time  [a]lways  [w]hy  [s]kip  [q]uit: ");
                int c = take_key(v);
                (void) snprintf(ids, sizeof ids, "\"id\":\"%s\"", it->id);
                struct answer a = { .yes = c == 'y' || c == 'u', .ids = ids };
                set_scope(&a, v->w);
                again = c == 'w' || c == 'a' || (c != 0 && !strchr("ynusq\x03\x04", c));
                on = c != 'q' && c != 0 && c != 3 && c != 4;
                if (c == 'w')
                        explain(v);
                else if (c == 'a')
                        approve_always(it);
                else if (c == 'y' || c == 'n' || (c == 'u' && ask_scope(v, it, &a)))
                        again = !send_answer(v, it, &a) && c == 'y';
        }

        json_free(d);
        return on;
}

/* ---- like effects ---- */

static bool is_like(const struct approve_item *a, const struct approve_item *b)
{
        return strcmp(a->run, b->run) == 0 && strcmp(a->template, b->template) == 0 && a->high == b->high;
}

static size_t like_ones(const struct approve_list *l, size_t from, const bool *done, size_t rows[BATCH_MAX])
{
        size_t n = 0;
        for (size_t i = from; i < l->n && n < BATCH_MAX; i++)
                if (!done[i] && is_like(&l->v[from], &l->v[i]))
                        rows[n++] = i;
        return n;
}

/* What differs: the parts of the text that a person has to compare. Returns false if one has more text than
 * its row holds: those are shown one by one. */
static bool print_rows(const struct view *v, const struct approve_list *l, const size_t *rows, size_t n)
{
        bool all = true;
        for (size_t i = 0; i < n; i++) {
                struct json_doc *d = show(&l->v[rows[i]]);
                const struct json *e = d ? json_get(json_root(d), "envelope") : NULL;
                char effect[400];
                (void) fprintf(v->tty, "%2zu  %s", i + 1,
                               str_inert(span_str(l->v[rows[i]].effect), effect, sizeof effect));
                if (e)
                        (void) fprintf(v->tty, "  %s bytes", json_text(e, "length"));
                (void) fputc('\n', v->tty);
                const char *body = d ? strstr(json_text(json_root(d), "text"), "\nbody,") : NULL;
                const char *line = body ? strchr(body + 1, '\n') : NULL;
                size_t len = line ? strcspn(line + 1, "\n") : 0;
                all = all && len < ROW_BYTES && (!line || !line[1 + len] || !line[2 + len]);
                if (line)
                        (void) fprintf(v->tty, "    %.*s\n", (int) (len < ROW_BYTES ? len : ROW_BYTES),
                                       line + 1);
                json_free(d);
        }

        return all;
}

static bool strike(const char *words, bool struck[BATCH_MAX], size_t n)
{
        bool any = false;
        while (*words) {
                char *end;
                unsigned long row = strtoul(words, &end, 10);
                if (end == words)
                        return any;
                if (row >= 1 && row <= n)
                        any = struck[row - 1] = true;
                words = end + strspn(end, " ,");
        }
        return any;
}

static void batch_ids(const struct approve_list *l, const size_t *rows, size_t n, const bool *struck,
                      struct buf *out)
{
        bool first = true;
        buf_puts(out, "\"ids\":[");
        for (size_t i = 0; i < n; i++) {
                if (struck[i])
                        continue;
                buf_printf(out, "%s\"%s\"", first ? "" : ",", l->v[rows[i]].id);
                first = false;
        }
        buf_putc(out, ']');
}

static bool ask_one_by_one(const struct view *v, const struct approve_list *l, const size_t *rows, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!ask_about(v, &l->v[rows[i]]))
                        return false;
        return true;
}

/* Struck rows are denied. */
static bool ask_batch(const struct view *v, const struct approve_list *l, const size_t *rows, size_t n)
{
        bool struck[BATCH_MAX] = { false };
        char words[LINE_BYTES], door[1024];
        const struct approve_item *first = &l->v[rows[0]];
        (void) fprintf(v->tty, "\n%zu like effects of run %s%s, door: %s\n", n, first->run,
                       first->high ? ", HIGH RISK" : "", str_inert(span_str(first->door), door, sizeof door));
        if (!print_rows(v, l, rows, n))
                return ask_one_by_one(v, l, rows, n);

        if (!take_words(v, "rows to exclude (for example 2 5), or Enter: ", words))
                return false;

        (void) strike(words, struck, n);
        (void) fprintf(v->tty,
                       "approve all that are not struck out? [y]es once each  [n]o  [o]ne by one  [q]uit: ");
        int c = take_key(v);
        if (c == 'o')
                return ask_one_by_one(v, l, rows, n);

        for (size_t i = 0; i < n; i++)
                if ((struck[i] && c == 'y') || c == 'n')
                        (void) approve_deny(&l->v[rows[i]], "struck out");

        if (c != 'y')
                return c == 'n';

        AUTO_BUF(ids);
        batch_ids(l, rows, n, struck, &ids);
        struct answer a = { .yes = true, .ids = buf_str(&ids) };
        set_scope(&a, v->w);
        (void) send_answer(v, first, &a);
        return true;
}

int approve_on_terminal(const struct approve_list *l, const struct approve_words *w)
{
        AUTO_FD(fd, open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
        FILE *tty = fd < 0 ? NULL : fdopen(dup(fd), "w");
        bool done[APPROVE_ITEMS_MAX] = { false };
        if (!tty) {
                (void) cli_problem("approvals require a terminal");
                return cli_hint("log in at a terminal of this host, then `cordon approve`; `cordon approve "
                                "list` needs none");
        }

        const struct view v = { tty, fd, w };
        if (l->over_budget)
                (void) fprintf(tty, "You have reached the hourly budget of answers; take a break.\n");

        for (size_t i = 0; i < l->n; i++) {
                size_t rows[BATCH_MAX], n = done[i] ? 0 : like_ones(l, i, done, rows);
                for (size_t k = 0; k < n; k++)
                        done[rows[k]] = true;
                if (n > 0 && !(n == 1 ? ask_about(&v, &l->v[i]) : ask_batch(&v, l, rows, n)))
                        break;
        }

        (void) fclose(tty);
        return 0;
}
