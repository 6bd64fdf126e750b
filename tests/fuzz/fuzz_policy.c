/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_policy.c - any bytes as a policy. What loads must show itself as lines and as JSON that
 * load to the same digest, and on every effect that its own doors suggest the two evaluators must agree.
 * clang -fsanitize=fuzzer,address,undefined; with -DFUZZ_REPLAY a main that runs every file named in argv. */
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>

static const struct policy_context context = { .work = "/w/proj", .home = "/home/u", .now = 1790000000 };

static struct checked_policy *load(struct span text)
{
        struct err e = { 0 };
        struct checked_policy *c = NULL;
        struct policy *p = policy_new();
        if (!p)
                abort();
        if (policy_add_text(p, "fuzz", text, &e) == 0)
                c = policy_check(p, &context, &e);
        /* Refused: with a reason, one line, and never because cordon contradicts itself. */
        if (!c && (e.code == ERR_NONE || e.code == ERR_INTERNAL || !e.what[0] || strpbrk(e.what, "\n\r\x1b")))
                abort();
        policy_free(p);
        return c;
}

static void must_be(const struct checked_policy *c, const struct buf *form)
{
        struct checked_policy *again = load(buf_span(form));
        if (!again || strcmp(policy_digest(c), policy_digest(again)) != 0) {
                (void) fprintf(stderr, "not the same again:\n%s\n", buf_str(form));
                abort();
        }
        policy_checked_free(again);
}

static void check_effect(const struct checked_policy *c, const struct effect *f)
{
        struct decision a = policy_decide(c, f), b = policy_decide_ref(c, f);
        if (a.answer != b.answer || a.reason != b.reason || a.door != b.door || a.nearest != b.nearest ||
            a.built_in != b.built_in)
                abort();
}

/* The door's own path, one below it, its parent, and the same with one letter more. */
static void check_paths(const struct checked_policy *c, const char *path)
{
        static const enum effect_kind kinds[] = { EFFECT_READ, EFFECT_WRITE, EFFECT_RUN, EFFECT_SOCK };
        static const char *const tails[] = { "", "/x", "x", "/x/y" };
        size_t n = strlen(path);
        while (n > 1 && path[n - 1] == '/')
                n--;
        for (size_t t = 0; t <= sizeof tails / sizeof *tails; t++) {
                AUTO_BUF(p);
                buf_add(&p, path, n);
                if (t == sizeof tails / sizeof *tails) {
                        char *slash = strrchr(p.p, '/');
                        if (!slash || slash == p.p)
                                continue;
                        *slash = '\0';
                } else if (path[0] == '/' || tails[t][0] != '/') {
                        buf_puts(&p, tails[t]);
                }
                for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                        struct effect f = { .kind = kinds[k], .target = p.p };
                        if (p.p[0] == '/' || kinds[k] == EFFECT_RUN)
                                check_effect(c, &f);
                }
        }
}

static void check_net(const struct checked_policy *c, const struct door *d)
{
        static char get[] = "GET", put[] = "PUT", sub[] = "/a/b";
        AUTO_BUF(host);
        buf_printf(&host, "%s%s", d->net.wildcard ? "a.b." : "", d->net.host);
        AUTO_BUF(path);
        buf_printf(&path, "%s%s", d->net.path ? d->net.path : "/", d->net.path_tail ? "x" : "");
        for (unsigned i = 0; i < 16; i++) {
                struct net_dest to = d->net;
                struct effect f = { .kind = EFFECT_NET, .method = i & 1 ? get : put, .net = &to };
                to.host = i & 2 ? host.p : d->net.host;
                to.path = i & 4 ? path.p : sub;
                to.wildcard = false;
                if (i & 8 && to.form == NET_URL)
                        to.tls = !to.tls;
                if (to.form == NET_HOST_PORT)
                        f.method = to.path = NULL;
                check_effect(c, &f);
        }
}

static void check_decisions(const struct checked_policy *c)
{
        size_t n;
        const struct door *d = policy_doors(c, &n);
        for (size_t i = 0; i < n && i < 64; i++) {
                if (d[i].kind == DOOR_NET)
                        check_net(c, &d[i]);
                else if (d[i].path)
                        check_paths(c, d[i].path);
                for (char **x = d[i].except; x && *x; x++)
                        check_paths(c, *x);
        }
}

/* Notes and places are read after the policy as written is gone. */
static void check_notes(const struct checked_policy *c)
{
        size_t n;
        const struct policy_note *notes = policy_notes(c, &n);
        for (size_t i = 0; i < n; i++)
                if (!notes[i].text[0] || !notes[i].at.file[0] || notes[i].level != 'W')
                        abort();
        const struct door *d = policy_doors(c, &n);
        for (size_t i = 0; i < n; i++)
                if (!d[i].at.file[0])
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct checked_policy *c = load(span_of(data, size));
        if (!c)
                return 0;
        AUTO_BUF(show);
        AUTO_BUF(json);
        AUTO_BUF(text);
        policy_show(c, &show);
        policy_json(c, &json);
        must_be(c, &show);
        must_be(c, &json);
        policy_doors_text(c, NULL, true, &text);
        policy_doors_json(c, NULL, &text);
        if (policy_diff(c, c, &text) != POLICY_EQUAL)
                abort();
        check_decisions(c);
        check_notes(c);
        policy_checked_free(c);
        return 0;
}
