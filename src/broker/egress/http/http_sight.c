/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_sight.c - in which ways a message hides its bytes from a search: the coding of the
 * whole body, and codings inside of it: of each message of gRPC and Connect, of each part of a multipart
 * body. What cannot be read is refused wherever a search was promised. Pure. */
#include "broker/egress/http/http_internal.h"

#include <strings.h>

/* ---- the head ---- */

static const struct {
        const char *type; /* how a Content-Type begins */
        enum sight_form form;
} forms[] = {
        { "application/grpc-web-text", SIGHT_NEVER }, /* messages in base64, each of them perhaps packed */
        { "application/grpc", SIGHT_MESSAGES },
        { "application/connect+", SIGHT_MESSAGES },
        { "multipart/", SIGHT_PARTS },
        { "message/", SIGHT_HEAD },
        { "application/http", SIGHT_HEAD },
};

/* Fields that announce packed messages, or (RFC 3229) a packed difference. */
static const char *const announcers[] = { "grpc-encoding", "connect-content-encoding", "im" };

/* Fields that ask a server for packed bytes. */
static const struct http_word askers[] = {
        HTTP_WORD("accept-encoding"),         HTTP_WORD("grpc-accept-encoding"), HTTP_WORD("a-im"),
        HTTP_WORD("connect-accept-encoding"), HTTP_WORD("available-dictionary"),
};

bool http_asks_packed(struct span name) { return http_name_in(name, askers, COUNT(askers)); }

static bool begins_as(struct span s, const char *word)
{
        size_t n = strlen(word);
        return s.n >= n && strncasecmp((const char *) s.p, word, n) == 0;
}

static bool is_identity(struct span value) { return http_name_is(http_trim(value), "identity"); }

static enum sight_form form_of(struct span type)
{
        for (size_t i = 0; i < COUNT(forms); i++)
                if (begins_as(type, forms[i].type))
                        return forms[i].form;
        return SIGHT_BYTES;
}

static bool announces_body(const struct http_head *h)
{
        for (size_t i = 0; i < COUNT(announcers); i++)
                for (const struct http_field *c = NULL; (c = http_field_find(h, announcers[i], c));)
                        if (!is_identity(c->value))
                                return true;
        return false;
}

bool http_sight_begin(struct http_sight *s, const struct http_head *h)
{
        const struct http_field *t = http_field_find(h, "content-type", NULL);
        *s = (struct http_sight){ .form = t ? form_of(t->value) : SIGHT_BYTES };
        if (t && (t = http_field_find(h, "content-type", t)) && form_of(t->value) != s->form)
                return false;

        s->in_head = s->form == SIGHT_HEAD;
        return s->form != SIGHT_NEVER && (s->form == SIGHT_MESSAGES || !announces_body(h));
}

/* ---- the messages of gRPC, gRPC-Web and Connect: a byte of flags, four of the length ---- */

static bool pass_messages(struct http_sight *s, struct span in)
{
        enum { PACKED = 1 };
        for (size_t at = 0; at < in.n;) {
                if (s->left == 0) {
                        if (s->have == 0 && in.p[at] & PACKED)
                                return false;
                        s->length = s->length << 8 | in.p[at++];
                        if (++s->have < 5)
                                continue;
                        s->left = (uint32_t) s->length;
                        s->have = 0;
                        s->length = 0;
                }

                size_t n = in.n - at < s->left ? in.n - at : s->left;
                s->left -= (uint32_t) n;
                at += n;
        }

        return true;
}

/* ---- parts: any line that begins with two hyphens may begin a head ---- */

/* The text behind the name and its colon; p NULL: this line is another field. */
static struct span value_of(struct span line, const char *name)
{
        size_t n = strlen(name);
        while (begins_as(line, name) && n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
                n++;
        bool is = begins_as(line, name) && n < line.n && line.p[n] == ':';
        return is ? http_trim(span_of(line.p + n + 1, line.n - n - 1)) : (struct span){ 0 };
}

static bool is_one_of(struct span value, const char *const *words, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (begins_as(value, words[i]) && value.n == strlen(words[i]))
                        return true;
        return false;
}

static bool may_stand(struct http_sight *s, struct span line)
{
        static const char *const plain[] = { "identity" }, *const framed[] = { "chunked", "identity" };
        static const char *const mail[] = { "7bit", "8bit", "binary", "base64", "quoted-printable" };
        static const struct {
                const char *name;
                const char *const *words;
                size_t count;
        } rows[] = { { "content-encoding", plain, COUNT(plain) },
                     { "grpc-encoding", plain, COUNT(plain) },
                     { "connect-content-encoding", plain, COUNT(plain) },
                     { "transfer-encoding", framed, COUNT(framed) },
                     { "content-transfer-encoding", mail, COUNT(mail) } };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct span v = value_of(line, rows[i].name);
                if (v.p && !is_one_of(v, rows[i].words, rows[i].count))
                        return false;
        }

        struct span type = value_of(line, "content-type");
        enum sight_form form = type.p ? form_of(type) : SIGHT_BYTES;
        s->head_follows = s->head_follows || form == SIGHT_HEAD;
        return form != SIGHT_NEVER && form != SIGHT_MESSAGES;
}

static bool line_ends(struct http_sight *s)
{
        struct span line = span_of(s->line, s->have);
        bool boundary = line.n >= 2 && line.p[0] == '-' && line.p[1] == '-', good = true;
        if (line.n && line.p[line.n - 1] == '\r')
                line.n--;

        if (boundary) {
                s->in_head = true;
                s->head_follows = false;
        } else if (s->in_head && line.n == 0) {
                s->in_head = s->head_follows;
                s->head_follows = false;
        } else if (s->in_head) {
                good = may_stand(s, line);
        }

        s->have = 0;
        return good;
}

/* The beginning of a line is enough: a value that is longer than the room is none of those that may stand. */
static bool pass_lines(struct http_sight *s, struct span in)
{
        for (size_t i = 0; i < in.n; i++) {
                if (in.p[i] == '\n' && !line_ends(s))
                        return false;
                if (in.p[i] != '\n' && s->have < sizeof s->line)
                        s->line[s->have++] = in.p[i];
        }

        return true;
}

bool http_sight_pass(struct http_sight *s, struct span in)
{
        switch (s->form) {
        case SIGHT_BYTES:
                return true;
        case SIGHT_MESSAGES:
                return pass_messages(s, in);
        case SIGHT_PARTS:
        case SIGHT_HEAD:
                return pass_lines(s, in);
        case SIGHT_NEVER:
                break;
        }
        return false;
}

/* ---- the query: Connect's GET has its message there ---- */

static bool is_param(struct span param, const char *name, struct span *ret_value)
{
        size_t at = 0, n = strlen(name), k = 0;
        for (int c; (c = http_param_byte(param, &at)) >= 0; k++)
                if (k >= n || c != (uint8_t) name[k])
                        return false;

        *ret_value = span_of(param.p + (at < param.n ? at : param.n), at < param.n ? param.n - at : 0);
        return k == n;
}

bool http_sight_query(struct span q)
{
        static const char *const names[] = { "message", "encoding", "compression" };
        struct span value[COUNT(names)] = { { 0 } };
        while (q.n > 0) {
                struct span param = span_cut(&q, '&'), v;
                for (size_t i = 0; i < COUNT(names); i++)
                        if (is_param(param, names[i], &v) && v.n && !is_identity(v))
                                value[i] = v;
        }

        return !(value[0].n && value[1].n && value[2].n);
}
