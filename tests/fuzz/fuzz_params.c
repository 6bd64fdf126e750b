/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_params.c - any bytes as a query, a form or a JSON object under bounds. The first byte tells
 * which, up to the first newline is the query, the rest the body. Both evaluators agree; what passes has the
 * bounded parameter once, under no second spelling, and its value is within; the sentence for what does not
 * pass names a parameter, in one line that a terminal shows; the line that would permit it does. */
#include "base/arena.h"
#include "base/str.h"
#include "policy/policy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char doors[] =
        "use none\n"
        "net https://h.test/a POST where amount=int:1..5000 c.d?=one:x|y memo?=text:8 ok?=bool "
        "to?=list:3:one:a|b bcc=none sum?=num:0.01..2500 body?=lines:16\n";
static const char tight[] =
        "use none\nnet https://h.test/a POST where amount=int:-5..5 name?=text:4 in body only\n";

static struct checked_policy *load(const char *text)
{
        static const struct policy_context nowhere = { .work = "/", .home = "/" };
        struct err e;
        struct policy *p = policy_new();
        struct checked_policy *c = NULL;
        if (p && policy_add_text(p, "t", span_str(text), &e) == 0)
                c = policy_check(p, &nowhere, &e);
        policy_free(p);
        return c;
}

/* Letters and digits alone, in small letters: as loose as any server is. */
static bool looks_like(const char *name, const char *want)
{
        for (; *name; name++) {
                char c = *name >= 'A' && *name <= 'Z' ? (char) (*name | 0x20) : *name;
                if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (uint8_t) c >= 0x80))
                        continue;
                if (c != *want++)
                        return false;
        }
        return *want == '\0';
}

static void check_allowed(const struct params *p, long least, long most)
{
        unsigned times = 0;
        for (const struct param *x = p->first; x; x = x->next) {
                char *end;
                if (!looks_like(x->name, "amount"))
                        continue;
                long v = strtol(x->value, &end, 10);
                if (times++ || strcmp(x->name, "amount") != 0 || *end || v < least || v > most)
                        abort();
        }
        if (times != 1 || p->unread)
                abort();
}

/* Of the wide door alone: nothing like `bcc`, and in all no more than three of `to`, each of its list. */
static void check_lists(const struct params *p)
{
        unsigned n = 0;
        for (const struct param *x = p->first; x; x = x->next) {
                if (looks_like(x->name, "bcc"))
                        abort();
                if (!looks_like(x->name, "to"))
                        continue;
                for (const struct param *i = x->kind == PARAM_ARRAY ? x->items : x; i; i = i->next) {
                        bool listed = strcmp(i->value, "a") == 0 || strcmp(i->value, "b") == 0;
                        if (++n > 3 || !listed || i->kind == PARAM_ARRAY || i->kind == PARAM_OBJECT)
                                abort();
                        if (x->kind != PARAM_ARRAY)
                                break;
                }
        }
}

static void check_denied(const struct effect *f, const struct decision *d)
{
        AUTO_BUF(why);
        AUTO_BUF(line);
        AUTO_BUF(text);
        char inert[4096];
        policy_bound_fault(d->nearest, f, &why);
        if (strncmp(buf_str(&why), "parameter ", 10) != 0 ||
            !span_is(buf_span(&why), str_inert(buf_span(&why), inert, sizeof inert)))
                abort();
        policy_smallest_line(f, d, &line);
        if (line.n == 0)
                return;
        buf_printf(&text, "use none\n%s\n", buf_str(&line));
        struct checked_policy *c = load(buf_str(&text));
        if (!c || policy_decide(c, f).answer != ANSWER_ALLOW)
                abort();
        policy_checked_free(c);
}

static void judge(const struct checked_policy *c, const struct params *p, long least, long most)
{
        static char method[] = "POST", host[] = "h.test", path[] = "/a";
        struct net_dest to = { .form = NET_URL, .tls = true, .port = 443, .host = host, .path = path };
        struct effect f = { .kind = EFFECT_NET, .method = method, .net = &to, .params = p };
        struct decision d = policy_decide(c, &f), r = policy_decide_ref(c, &f);
        if (d.answer != r.answer || d.reason != r.reason || d.door != r.door || d.nearest != r.nearest)
                abort();
        if (d.answer == ANSWER_ALLOW)
                check_allowed(p, least, most);
        else
                check_denied(&f, &d);
        if (d.answer == ANSWER_ALLOW && !d.door->net.only)
                check_lists(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct checked_policy *wide, *narrow;
        struct arena mem = { 0 };
        struct params p = { 0 };
        if (!wide)
                wide = load(doors);
        if (!narrow)
                narrow = load(tight);
        if (size == 0 || !wide || !narrow)
                return 0;
        const uint8_t *end = memchr(data + 1, '\n', size - 1);
        size_t n = end ? (size_t) (end - data - 1) : size - 1;
        policy_params_form(&p, &mem, span_of(data + 1, n), false);
        if (end && !p.unread && data[0] % 2)
                policy_params_json(&p, &mem, span_of(end + 1, size - n - 2));
        else if (end && !p.unread)
                policy_params_form(&p, &mem, span_of(end + 1, size - n - 2), true);
        judge(wide, &p, 1, 5000);
        judge(narrow, &p, -5, 5);
        arena_done(&mem);
        return 0;
}
