/* SPDX-License-Identifier: MIT */
/* face/serve/resource_page.c - the page for people. It is in the program, and contains nothing of a tenant.
 */
#include "face/serve/resources.h"

#include <stdio.h>
#include <string.h>

static const uint8_t page[] = {
#include "face/serve/serve_page.inc" /* page/, by tools/page and tools/embed */
};

static void give(struct reply *r, struct span bytes, const char *type)
{
        buf_add(&r->body, bytes.p, bytes.n);
        r->status = 200;
        r->type = type;
}

/* Each answer has a nonce of its own, in place of NONCE: script and style that do not have it do not count.
 */
void get_page(struct serve_call *c, struct reply *r)
{
        static const char mark[] = "NONCE";
        char nonce[RANDOM_NAME];
        (void) c;
        if (random_name("n", nonce) < 0) {
                reply_problem(r, 503, "random", "the kernel has no random bits", NULL);
                return;
        }

        struct span left = span_of(page, sizeof page);
        for (const uint8_t *at; (at = memmem(left.p, left.n, mark, sizeof mark - 1));) {
                buf_add(&r->body, left.p, (size_t) (at - left.p));
                buf_puts(&r->body, nonce);
                left.n -= (size_t) (at - left.p) + sizeof mark - 1;
                left.p = at + sizeof mark - 1;
        }

        give(r, left, "text/html; charset=utf-8");
        (void) snprintf(
                r->extra, sizeof r->extra,
                "Content-Security-Policy: default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; "
                "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
                "Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n",
                nonce, nonce);
}
