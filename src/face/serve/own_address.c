/* SPDX-License-Identifier: MIT */
/* face/serve/own_address.c - who may see the page of one person: the browser that has the address, once, if a
 * process of this user runs it. The address is on a command line, where other users can read it. */
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "face/serve/own.h"
#include "face/serve/resources.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SECRET = 32, VALID_S = 366 * 86400 };

/* A line of the file `tokens`, as an operator has one for each. */
static int set_token(struct server *s, const char *text, struct err *e)
{
        static const char *const scopes[] = { "run", "read", "apply", "approve", "approve-own", "vault" };
        AUTO_BUF(line);
        char digest[65];
        char person[24];
        sha256_hex(span_str(text), digest);
        buf_putc(&line, '{');
        buf_member(&line, "id", "page");
        buf_member(&line, "tenant", "own");
        buf_member(&line, "sha256", digest);
        buf_member_json(&line, "scopes", "[");
        for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
                buf_member(&line, NULL, scopes[i]);
        buf_putc(&line, ']');
        buf_member_int(&line, "created", clock_wall_s());
        buf_member_int(&line, "expires", clock_wall_s() + VALID_S);
        (void) snprintf(person, sizeof person, "uid-%u", geteuid());
        buf_member(&line, "person", person);
        buf_puts(&line, "}\n");
        tokens_done(&s->tokens);
        return line.failed ? err_set(e, ERR_MEMORY, 0, "no memory for a token")
                           : tokens_read(buf_span(&line), &s->tokens, e);
}

int own_address(struct server *s, cordon_error *ce)
{
        struct err *e = (struct err *) ce;
        if (random_hex(s->once, SECRET) < 0)
                return err_set(e, ERR_IO, 0, "the kernel has no random bits");
        return tenants_own(s->tenants, "own", e);
}

void own_ready(struct server *s)
{
        AUTO_BUF(url);
        buf_printf(&url, "http://127.0.0.1:%u/#once=%s", s->ports[0], s->once);
        s->o->ready(s->o->say_ctx, buf_str(&url));
}

void post_once(struct serve_call *c, struct reply *r)
{
        struct server *s = c->s;
        struct err e;
        char text[2 * SECRET + sizeof "cordon_page_"], secret[2 * SECRET + 1];
        if (!s->once[0] || !random_is(s->once, json_str(c->json, "once"))) {
                reply_problem(r, 401, "once", "this address was used, or is of another server",
                              "cordon serve page gives another");
                return;
        }

        (void) snprintf(text, sizeof text, "cordon_page_%s", random_hex(secret, SECRET) < 0 ? "" : secret);
        if (!text[sizeof "cordon_page_" - 1] || set_token(s, text, &e) < 0) {
                reply_problem(r, 503, "random", "no token can be made", NULL);
                return;
        }

        s->once[0] = '\0';
        buf_putc(&r->body, '{');
        buf_member(&r->body, "token", text);
        buf_putc(&r->body, '}');
        reply_json(r, 200);
}

/* ---- the other end ---- */

/* Its row: "  1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000 ...". */
static bool is_of_user(const char *row, uint16_t from, uint16_t to)
{
        char ends[48];
        (void) snprintf(ends, sizeof ends, ": 0100007F:%04X 0100007F:%04X ", from, to);
        const char *at = strstr(row, ends);
        if (!at)
                return false;

        at += strlen(ends);
        for (unsigned i = 0; i < 4; i++) { /* state, queues, timer, retransmits */
                at += strspn(at, " ");
                at += strcspn(at, " ");
        }
        char *end;
        unsigned long uid = strtoul(at, &end, 10);
        return end > at && uid == geteuid();
}

bool own_peer(int fd)
{
        struct sockaddr_in from = { 0 }, to = { 0 };
        socklen_t n = sizeof from, m = sizeof to;
        char row[256];
        bool found = false;
        FILE *f = getpeername(fd, (struct sockaddr *) &from, &n) == 0 &&
                                  getsockname(fd, (struct sockaddr *) &to, &m) == 0
                          ? fopen("/proc/self/net/tcp", "re")
                          : NULL;
        while (f && !found && fgets(row, sizeof row, f))
                found = is_of_user(row, ntohs(from.sin_port), ntohs(to.sin_port));
        if (f)
                (void) fclose(f);
        return found;
}
