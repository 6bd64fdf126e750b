/* SPDX-License-Identifier: MIT */
/* face/serve/problem.c - answers in JSON, and errors in the form of RFC 9457 with our hints. */
#include "base/err.h"
#include "face/serve/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void reply_problem(struct reply *r, unsigned status, const char *code, const char *detail, const char *hint)
{
        buf_done(&r->body);
        r->status = status;
        r->type = "application/problem+json";
        buf_puts(&r->body, "{\"type\":");
        AUTO_BUF(type);
        buf_printf(&type, "urn:cordon:error:%s", code);
        buf_json(&r->body, buf_span(&type));
        buf_member(&r->body, "title", http_status_text(status));
        buf_printf(&r->body, ",\"status\":%u", status);
        buf_member(&r->body, "detail", detail);
        if (hint && hint[0])
                buf_member(&r->body, "hint", hint);
        buf_puts(&r->body, "}\n");
}

/* The library's hint for a command line is a door line here. */
void put_hint(const char *hint, struct buf *out)
{
        bool option = strncmp(hint, "--", 2) == 0 && strchr(hint, ' ');
        buf_printf(out, "%s%s", option ? "a line of the policy, or of `lines`: " : "",
                   option ? hint + 2 : hint);
}

void reply_error(struct reply *r, unsigned status, const cordon_error *e)
{
        AUTO_BUF(hint);
        put_hint(e->hint, &hint);
        reply_problem(r, status, cordon_error_name(e->code), e->what, buf_str(&hint));
}

unsigned status_of(const cordon_error *e)
{
        if (e->sys == EPERM || e->sys == EACCES)
                return 403;
        if (e->code == ERR_IO && (e->sys == ENOSPC || e->sys == EDQUOT))
                return 507;

        switch ((enum err_code) e->code) {
        case ERR_GONE:
                return 404;
        case ERR_USAGE:
        case ERR_POLICY:
        case ERR_DOOR:
        case ERR_EXEC:
                return 422;
        case ERR_LIMIT:
                return 429;
        case ERR_NONE:
        case ERR_HOST:
        case ERR_WALL:
        case ERR_ATTEST:
        case ERR_MEMORY:
        case ERR_IO:
        case ERR_INTERNAL:
        case ERR_CODE__COUNT:
                break;
        }
        return 500;
}

void reply_failed(const struct serve_call *c, struct reply *r, const cordon_error *e)
{
        AUTO_BUF(line);
        unsigned status = status_of(e);
        buf_printf(&line, "tenant %s: %s", tenant_label(c->tenant), e->what);
        if (status >= 500)
                serve_log(c->s, LOG_ERROR, buf_str(&line));
        reply_error(r, status, e);
}

void reply_json(struct reply *r, unsigned status)
{
        r->status = status;
        r->type = "application/json";
        buf_putc(&r->body, '\n');
}

void reply_later(struct reply *r, unsigned status, unsigned seconds, const char *detail)
{
        reply_problem(r, status, status == 503 ? "unavailable" : "limit", detail,
                      "try again when Retry-After has passed");
        (void) snprintf(r->extra, sizeof r->extra, "Retry-After: %u\r\n", seconds ? seconds : 1);
}

void reply_done(struct reply *r, unsigned status, int failed, const cordon_error *e)
{
        if (failed < 0)
                reply_error(r, status_of(e), e);
        else
                reply_json(r, status);
}
