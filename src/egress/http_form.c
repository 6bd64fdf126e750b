/* SPDX-License-Identifier: MIT */
/* egress/http_form.c - a form or a JSON object that is posted can ask for another method than the request's
 * own: many frameworks take `_method=DELETE` out of it. Such a member is found, wherever the body is cut, and
 * its value handed to who judges methods. Forms as browsers send them (escaped, in parts) and the members of
 * a JSON object. What is not in parts is read as both of the others, whatever it is said to be, as some
 * servers do; a form that is compressed cannot be looked into and is refused. Pure. */
#include "egress/http_form.h"
#include "base/str.h"

#include <stdlib.h>
#include <strings.h>

enum { VALUE_MAX = 24, BOUNDARY_MAX = 200, LINE_MAX_BYTES = 1024 };
enum form_kind { FORM_NONE = 0, FORM_ESCAPED, FORM_JSON, FORM_PARTS };
enum { LOW_ASCII = 0x80 };

struct http_form {
        enum form_kind kind;
        struct http_form *shadow; /* the same bytes as what some server takes them for, whatever is said */
        bool is_shadow;
        bool is_any;      /* said to be neither: only what is a method and nothing else counts */
        bool looks, idle; /* JSON that nobody announced: where it does not begin so, it is none */
        struct form_name name;
        bool is_method; /* what comes now is its value */
        char value[VALUE_MAX];
        unsigned value_n;
        bool too_long;
        bool in_value, name_over; /* escaped */
        int escape, high;         /* escaped: characters of a %xx that are still to come */
        unsigned mark;            /* escaped: bytes of a byte order mark, which some take off */
        unsigned depth;           /* JSON */
        bool object, expects_key, in_key, in_string, escaped;
        bool list;      /* JSON: the value is one of several */
        uint8_t remark; /* JSON: in a comment, which Ruby reads over: the byte before, or what ends it */
        unsigned unicode_left, unicode;
        bool in_head, disposition; /* parts */
        bool no_object; /* parts: what must not begin as JSON, which it is to who looks at no type */
        bool headed;    /* parts: this one has a head */
        unsigned value_lines;
        char boundary[BOUNDARY_MAX];
        size_t boundary_n;
        uint8_t back[BOUNDARY_MAX + 2]; /* of "--boundary": how much is still right where the next is wrong */
        size_t matched, column;
        char line[LINE_MAX_BYTES];
        size_t line_n;
        bool line_cut, bare_return; /* parts: the last byte was a CR */
};

/* ---- names and values ---- */

/* Where the text says `word` for the first time from `at` on; type.n: nowhere. */
static size_t find_word(struct span type, size_t at, const char *word)
{
        size_t k = strlen(word);
        for (; at + k <= type.n; at++)
                if (strncasecmp((const char *) type.p + at, word, k) == 0)
                        return at;
        return type.n;
}

static bool says(struct span type, const char *word) { return find_word(type, 0, word) < type.n; }

static void value_add(struct http_form *f, uint8_t c)
{
        if (f->value_n == 0 && (c == ' ' || c == '\t'))
                return;
        if (f->value_n + 1 < sizeof f->value)
                f->value[f->value_n++] = (char) (c >= 'a' && c <= 'z' ? c & ~0x20 : c);
        else
                f->too_long = true;
}

static void begin_pair(struct http_form *f)
{
        f->name = (struct form_name){ 0 };
        f->is_method = f->too_long = f->in_value = f->name_over = false;
        f->value_n = f->value_lines = 0;
        f->escape = 0;
}

/* No value asks for nothing. */
static bool judge_value(struct http_form *f, const struct form_judge *j)
{
        while (f->value_n && strchr(" \t\r\n", f->value[f->value_n - 1]))
                f->value_n--;
        f->value[f->value_n] = '\0';
        if (!f->is_method || (f->value_n == 0 && !f->too_long))
                return true;
        if (f->is_any && (f->too_long || !policy_method_known(f->value)))
                return true; /* `_method = ...` in the text of a program */
        return !f->too_long && j->may(j->ctx, f->value);
}

/* ---- a=b&c=d ---- */

/* In a text that is no form, "; method=x" is common; blanks before a name are nothing to PHP. */
static bool is_prose(const struct http_form *f, uint8_t c)
{
        return f->is_shadow && !f->in_value && !f->name.begun && c == ' ';
}

static void escaped_add(struct http_form *f, uint8_t c)
{
        if (is_prose(f, c))
                return;
        if (f->in_value)
                value_add(f, c);
        else if (c == 0) /* to some the name ends here */
                f->name_over = true;
        else if (!f->name_over)
                form_name_add(&f->name, c);
}

/* Two digits that are none: then it is no method's name, and no method, and what stands there is itself. */
static bool is_escape_step(struct http_form *f, uint8_t c)
{
        int v = str_hex(c);
        if (v < 0) {
                f->name.other = f->name.other || !(f->in_value || f->name_over);
                f->too_long = f->too_long || f->in_value;
                f->escape = 0;
        } else if (f->escape-- == 2) {
                f->high = v;
        } else {
                escaped_add(f, (uint8_t) (f->high << 4 | v));
        }
        return v >= 0;
}

static bool escaped_end(struct http_form *f, const struct form_judge *j)
{
        f->is_method = form_name_is_method(&f->name);
        bool good = judge_value(f, j);
        begin_pair(f);
        return good;
}

static bool is_mark(struct http_form *f, uint8_t c)
{
        static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
        bool is = f->mark < sizeof mark && c == mark[f->mark];
        f->mark = is ? f->mark + 1 : sizeof mark;
        return is;
}

static bool escaped_byte(struct http_form *f, uint8_t c, const struct form_judge *j)
{
        if (is_mark(f, c))
                return true;
        if (c == '&' || c == ';')
                return escaped_end(f, j);
        if (f->escape && is_escape_step(f, c))
                return true;
        if (c == '%')
                f->escape = 2;
        else if (c == '=' && !f->in_value)
                f->in_value = true;
        else
                escaped_add(f, c == '+' ? ' ' : c);
        return true;
}

/* ---- {"a": "b"} ---- */

static void string_add(struct http_form *f, unsigned c)
{
        if (f->in_key)
                form_name_add(&f->name, c < LOW_ASCII ? (uint8_t) c : LOW_ASCII);
        else if (f->is_method)
                value_add(f, c < LOW_ASCII ? (uint8_t) c : LOW_ASCII);
}

static bool string_byte(struct http_form *f, uint8_t c, const struct form_judge *j)
{
        if (f->unicode_left) {
                int v = str_hex(c);
                f->unicode = f->unicode << 4 | (unsigned) (v < 0 ? 0xfff : v);
                if (--f->unicode_left == 0)
                        string_add(f, f->unicode);
        } else if (f->escaped) {
                f->escaped = false;
                f->unicode = 0;
                f->unicode_left = c == 'u' ? 4 : 0;
                if (c != 'u')
                        string_add(f, strchr("nrtbf", c) && c ? ' ' : c);
        } else if (c == '\\') {
                f->escaped = true;
        } else if (c != '"') {
                string_add(f, c);
        } else {
                f->in_string = false;
                bool good = f->in_key || judge_value(f, j);
                if (!f->in_key)
                        begin_pair(f);
                return good;
        }
        return true;
}

/* Between values. True: it belongs to a comment. */
static bool is_remark(struct http_form *f, uint8_t c)
{
        uint8_t was = f->remark;
        if (was == '/') /* one alone is a fault to everybody */
                f->remark = c == '*' ? c : c == '/' ? '\n' : 0;
        else if (was == '*' || was == '+') /* '+': behind a '*' */
                f->remark = was == '+' && c == '/' ? 0 : c == '*' ? '+' : '*';
        else if (was == '\n')
                f->remark = c == '\n' ? 0 : was;
        else
                f->remark = c == '/' ? c : 0;
        return was == '*' || was == '+' || was == '\n' || f->remark;
}

static void bracket(struct http_form *f, uint8_t c)
{
        bool opens = c == '{' || c == '[';
        f->list = opens && c == '[' && f->is_method && f->depth == 1;
        if (!opens) {
                f->depth -= f->depth > 0;
                return;
        }
        f->object = f->depth == 0 ? c == '{' : f->object;
        f->expects_key = f->depth++ == 0 && f->object;
        begin_pair(f); /* an object is no method */
}

static void quote(struct http_form *f, bool here)
{
        f->in_string = true;
        f->in_key = here && f->expects_key;
        if (f->in_key)
                begin_pair(f);
        f->is_method = (f->is_method && here) || (f->list && f->depth == 2);
}

/* What nobody calls JSON is it to some where it begins so, behind space of any kind and marks. */
static bool is_idle(struct http_form *f, uint8_t c)
{
        if (f->looks && c > ' ' && c < 0x7f) {
                f->idle = c != '{' && c != '/'; /* a comment */
                f->looks = false;
        }
        return f->looks || f->idle;
}

/* A zero byte is in no JSON of one byte to a character, and in all of two or four, which some detect. */
static bool json_byte(struct http_form *f, uint8_t c, const struct form_judge *j)
{
        if (c == 0)
                return f->is_any || f->is_shadow;
        if (is_idle(f, c))
                return true;
        if (f->in_string)
                return string_byte(f, c, j);
        if (!f->is_shadow && strchr("/#'`", c))
                return false; /* a comment or a string to some, and what ends it is not the same to all */
        if (is_remark(f, c))
                return true;
        bool here = f->depth == 1 && f->object;
        if (c == '"') {
                quote(f, here);
        } else if (c && strchr("{[}]", c)) {
                bracket(f, c);
        } else if (c == ',' && here) {
                f->expects_key = true;
                begin_pair(f);
        } else if (c == ':' && here) {
                f->expects_key = false;
                f->is_method = form_name_is_method(&f->name);
        }
        return true;
}

/* ---- parts ---- */

static bool starts_with_word(const char *line, size_t n, const char *word)
{
        size_t k = strlen(word);
        return n >= k && strncasecmp(line, word, k) == 0;
}

/* Characters that are of a name to everybody. */
static bool is_plain_name(uint8_t c)
{
        uint8_t l = c | 0x20;
        return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c >= 0x80 || (c && strchr("_.-%", c));
}

/* One value, plain or quoted (to PHP also by '), behind `at`. Tornado takes quotes off twice, and < >, too;
 * to formidable a name without quotes ends at any sign, and PHP knows several '='. */
static bool names_method(const char *line, size_t n, size_t at, bool extended)
{
        struct form_name name = { 0 };
        char quote = at < n && (line[at] == '"' || (line[at] == '\'' && !extended)) ? line[at] : '\0';
        bool quoted = quote != '\0';
        unsigned ticks = extended ? 0 : 2; /* UTF-8'en'name */
        while (!extended && at < n && strchr("=\"'<\\", line[at]) && line[at])
                at++;
        for (at += quoted && extended; at < n && !name.other; at++) { /* a line may be full of names */
                if (form_name_is_method(&name) && !is_plain_name((uint8_t) line[at]))
                        return true;
                if (quoted ? line[at] == quote : line[at] == ';' || line[at] == ' ' || line[at] == '\t')
                        break;
                if (quoted && line[at] == '\\' && at + 1 < n)
                        at++;
                uint8_t c = (uint8_t) line[at];
                if (ticks < 2) {
                        ticks += c == '\'';
                        continue;
                }
                int high = c == '%' && at + 2 < n ? str_hex((uint8_t) line[at + 1]) : -1;
                int low = high >= 0 ? str_hex((uint8_t) line[at + 2]) : -1;
                form_name_add(&name, low >= 0 ? (uint8_t) (high << 4 | low) : c);
                at += low >= 0 ? 2 : 0;
        }
        return form_name_is_method(&name);
}

static bool is_word(char c)
{
        uint8_t l = (uint8_t) c | 0x20;
        return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* name*=UTF-8''x; another character set, or pieces (name*0=), are no name that could be judged. */
static bool is_odd_name(const char *line, size_t n, size_t at)
{
        while (at < n && strchr("= \t\"", line[at]))
                at++;
        return !starts_with_word(line + at, n - at, "utf-8'");
}

/* Any parameter that is a name, also one that stands in the quotes of another: which of two counts, and where
 * quotes end, servers do not agree on. */
static void read_names(struct http_form *f, const char *line, size_t n)
{
        for (size_t at = 0; at < n; at++) {
                if ((at > 0 && is_word(line[at - 1])) || !starts_with_word(line + at, n - at, "name"))
                        continue;
                size_t i = at + 4;
                bool extended = i < n && line[i] == '*';
                i += extended;
                size_t odd = i; /* name*0*= */
                while (extended && i < n && line[i] && strchr("0123456789*", line[i]))
                        i++;
                while (i < n && strchr(" \t\"'", line[i])) /* Werkzeug: "name"="x" */
                        i++;
                if (i == n || line[i] != '=')
                        continue;
                if (extended && is_odd_name(line, n, odd))
                        f->is_method = f->too_long = true;
                i++;
                while (i < n && (line[i] == ' ' || line[i] == '\t'))
                        i++;
                f->is_method = f->is_method || names_method(line, n, i, extended);
        }
}

/* Fastify's busboy leaves out blanks and quotes wherever they are: n ame=_met"hod". */
static void read_names_closely(struct http_form *f)
{
        char line[LINE_MAX_BYTES];
        size_t n = 0;
        for (size_t i = 0; i < f->line_n; i++)
                if (!strchr(" \t\"\\", f->line[i]))
                        line[n++] = f->line[i];
        read_names(f, f->line, f->line_n);
        read_names(f, line, n);
}

static bool is_delimiter(const struct http_form *f)
{
        return f->line_n >= f->boundary_n + 2 && f->line[0] == '-' && f->line[1] == '-' &&
               memcmp(f->line + 2, f->boundary, f->boundary_n) == 0;
}

/* What stands behind "--xYz" in its line. */
static struct span behind_delimiter(const struct http_form *f)
{
        return http_trim(span_of(f->line + f->boundary_n + 2, f->line_n - f->boundary_n - 2));
}

static bool is_clean(const struct http_form *f)
{
        for (size_t i = 0; i < f->line_n; i++)
                if (((uint8_t) f->line[i] < ' ' && f->line[i] != '\t') || f->line[i] == 0x7f)
                        return false;
        return true;
}

/* Rack calls a part without a name by its Content-ID. */
static void read_id(struct http_form *f, size_t at)
{
        while (at < f->line_n && f->line[at] != ':')
                at++;
        for (at++; at < f->line_n && (f->line[at] == ' ' || f->line[at] == '\t');)
                at++;
        f->is_method = f->is_method || names_method(f->line, f->line_n, at, false);
}

/* One line of a part's head. PHP takes one without a colon, or behind any kind of space, for more of the line
 * before, and ends it at a NUL; Rack looks for its words anywhere. */
static bool head_line(struct http_form *f, bool cut)
{
        struct span l = span_of(f->line, f->line_n);
        bool folded = f->line[0] == ' ' || f->line[0] == '\t';
        if (cut || !is_clean(f) || (!folded && !memchr(f->line, ':', f->line_n)))
                return false;
        size_t id = find_word(l, 0, "content-id");
        if (!folded)
                f->disposition = id < l.n || says(l, "content-disposition");
        if (folded && f->disposition)
                return false; /* `name=` on one line, its value on the next */
        read_names_closely(f);
        if (id < l.n)
                read_id(f, id);
        return true;
}

/* Where no part has a head: before the first delimiter and behind the last, where others read nothing, a
 * head is one to Django, and behind an empty head to Rack and Werkzeug. */
static bool is_stray_head(const struct http_form *f)
{
        struct span l = span_of(f->line, f->line_n);
        return !f->headed && (f->line_cut || says(l, "content-disposition") || says(l, "content-id") ||
                              says(l, "_method")); /* no parts at all to who does not look at the type */
}

/* What follows it in the line is a line of the head to busboy. "--xYz--": no part begins. */
static bool delimiter_line(struct http_form *f, bool cut, const struct form_judge *j)
{
        struct span rest = behind_delimiter(f);
        bool last = span_is(rest, "--");
        bool good = !f->in_head && !cut && (last || rest.n == 0); /* to PHP it is of the head that it is in */
        good = good && judge_value(f, j);
        begin_pair(f);
        f->in_head = !last;
        f->headed = f->disposition = false;
        return good;
}

static bool line_end(struct http_form *f, const struct form_judge *j)
{
        bool good = true, cut = f->line_cut;
        if (!cut && f->line_n && f->line[f->line_n - 1] == '\r')
                f->line_n--;
        if (is_delimiter(f)) {
                good = delimiter_line(f, cut, j);
        } else if (f->in_head && f->line_n == 0) {
                f->in_head = false;
        } else if (f->in_head) {
                good = head_line(f, cut);
                f->headed = true;
        } else if (is_stray_head(f)) {
                good = false;
        } else if (f->is_method) {
                for (size_t i = 0; i < f->line_n; i++)
                        value_add(f, (uint8_t) f->line[i]);
                f->too_long = f->too_long || (f->value_lines++ > 0 && f->line_n > 0);
        }
        f->line_n = f->column = 0;
        f->line_cut = f->bare_return = false;
        return good;
}

static uint8_t delimiter_byte(const struct http_form *f, size_t i)
{
        return i < 2 ? '-' : (uint8_t) f->boundary[i - 2];
}

static size_t match_step(const struct http_form *f, size_t matched, uint8_t c)
{
        while (matched && (matched == f->boundary_n + 2 || delimiter_byte(f, matched) != c))
                matched = f->back[matched - 1];
        return matched + (delimiter_byte(f, matched) == c);
}

static void prepare_match(struct http_form *f)
{
        for (size_t i = 1, k = 0; i < f->boundary_n + 2; i++) {
                k = match_step(f, k, delimiter_byte(f, i));
                f->back[i] = (uint8_t) k;
        }
}

/* A delimiter that no line begins with: one to Django, and to Werkzeug before the first part. */
static bool is_inside_line(struct http_form *f, uint8_t c)
{
        f->matched = match_step(f, f->matched, c);
        f->column++;
        return f->matched == f->boundary_n + 2 && f->column > f->matched;
}

/* A CR alone ends a line for Werkzeug: in the text of a part that may be, in its head or before it not. */
static bool parts_byte(struct http_form *f, uint8_t c, const struct form_judge *j)
{
        if (c == '\n')
                return line_end(f, j);
        if (f->bare_return && (f->in_head || !line_end(f, j) || f->in_head))
                return false;
        f->bare_return = c == '\r';
        if (is_inside_line(f, c))
                return false;
        if (f->line_n < sizeof f->line)
                f->line[f->line_n++] = (char) c;
        else
                f->line_cut = true;
        return true;
}

/* ---- the body ---- */

static bool begins_as_object(struct http_form *f, uint8_t c)
{
        if (!f->no_object || strchr(" \t\r\n", c))
                return false;
        f->no_object = false;
        return c == '{';
}

/* The rest of a pair whose name is another one's: of a long body that is nearly all. */
static size_t idle_bytes(const struct http_form *f, struct span data)
{
        size_t i = 0;
        while (f->kind == FORM_ESCAPED && f->name.other && i < data.n && data.p[i] != '&' && data.p[i] != ';')
                i++;
        return i;
}

bool form_pass(struct http_form *f, struct span data, bool end, const struct form_judge *j)
{
        static bool (*const byte[])(struct http_form *, uint8_t, const struct form_judge *) = {
                [FORM_ESCAPED] = escaped_byte, [FORM_JSON] = json_byte, [FORM_PARTS] = parts_byte
        };
        for (size_t i = f->idle ? data.n : 0; i < data.n; i++) {
                i += idle_bytes(f, span_of(data.p + i, data.n - i));
                if (i < data.n && (begins_as_object(f, data.p[i]) || !byte[f->kind](f, data.p[i], j)))
                        return false;
        }
        if (f->shadow && !form_pass(f->shadow, data, end, j))
                return false;
        if (!end || f->kind == FORM_JSON)
                return true;
        return f->kind == FORM_ESCAPED ? escaped_end(f, j) : line_end(f, j) && judge_value(f, j);
}

/* What it is without its parameters; PHP ends it at a comma or a space, too, and formidable looks for the
 * words anywhere. */
static enum form_kind kind_by_name(struct span type)
{
        type = http_trim(type);
        size_t n = 0;
        while (n < type.n && !strchr(";, \t", type.p[n]))
                n++;
        struct span t = span_of(type.p, n);
        if (t.n > 0 && find_word(t, 0, "multipart/") == 0)
                return FORM_PARTS;
        if (t.n == 0 || says(type, "urlencoded") || says(type, "url-encoded"))
                return FORM_ESCAPED; /* without a type some take it for a form */
        return says(type, "multipart") ? FORM_PARTS : FORM_NONE;
}

/* "/json" or "+json" anywhere is enough for some, and csp-report is JSON to Koa; then it is no form for
 * anybody, or it is refused. */
static bool says_json(struct span type)
{
        return says(type, "/json") || says(type, "+json") || says(type, "application/csp-report");
}

static int kind_of(struct span type, enum form_kind *ret)
{
        *ret = kind_by_name(type);
        if (*ret == FORM_ESCAPED && (says_json(type) || says(type, "multipart")))
                return -1;
        /* Streams of JSON have lengths between, and are JSON to nobody who does not know them. */
        bool streamed = says(type, "/connect+json") || says(type, "/grpc");
        *ret = says_json(type) && *ret == FORM_NONE && !streamed ? FORM_JSON : *ret;
        return 0;
}

/* Is each character of "_method" one byte of its own value in it? Elsewhere (UTF-16, EBCDIC) it looks like
 * anything. */
static bool is_plain_charset(struct span type)
{
        static const char *const plain[] = { "utf-8", "utf8", "us-ascii", "iso-8859-1", "windows-1252" };
        size_t at = find_word(type, 0, "charset");
        if (at == type.n)
                return true;
        if (find_word(type, at + 1, "charset") < type.n)
                return false;
        for (at += strlen("charset"); at < type.n && strchr("= \t\"", type.p[at]);)
                at++;
        size_t n = 0;
        while (at + n < type.n && !strchr("; \t\",", type.p[at + n]))
                n++;
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
                if (n == strlen(plain[i]) && strncasecmp((const char *) type.p + at, plain[i], n) == 0)
                        return true;
        return false;
}

bool form_is_plain_coding(const struct http_head *h)
{
        const struct http_field *f = NULL;
        while ((f = http_field_find(h, "content-encoding", f)))
                if (f->value.n != 0 && !http_name_is(f->value, "identity"))
                        return false;
        return true;
}

/* boundary=x or boundary="x", once: of two, servers take the one or the other. */
static bool read_boundary(struct http_form *f, struct span type)
{
        static const char word[] = "boundary=";
        size_t at = find_word(type, 0, word);
        if (at == type.n || at == 0 || !strchr("; \t", type.p[at - 1]) || memchr(type.p, '\\', type.n) ||
            find_word(type, 0, "boundary") != at)
                return false;
        at += sizeof word - 1;
        bool quoted = at < type.n && type.p[at] == '"';
        for (at += quoted; at < type.n && f->boundary_n < sizeof f->boundary; at++) {
                uint8_t c = type.p[at];
                if (c == ';' || (quoted ? c == '"' : c == ' ' || c == '\t' || c == ','))
                        break;
                f->boundary[f->boundary_n++] = (char) c;
        }
        /* Browsers' own hold the word: ----WebKitFormBoundary... */
        struct span own = span_of(f->boundary, f->boundary_n);
        bool once = find_word(type, at, "boundary") == type.n && find_word(own, 0, word) == own.n;
        bool ends = !quoted || (at < type.n && type.p[at] == '"');
        return once && ends && f->boundary_n > 0 && f->boundary_n < sizeof f->boundary;
}

/* Some do not look at what a body is said to be, so it is read as the other, too: Bottle takes all but parts
 * for escaped forms, formidable what says "json" anywhere for that, and many a script every body. */
static struct http_form *form_alloc(enum form_kind kind)
{
        struct http_form *f = calloc(1, sizeof *f);
        struct http_form *shadow = f && kind != FORM_PARTS ? calloc(1, sizeof *f) : NULL;
        if (!f || (kind != FORM_PARTS && !shadow)) {
                free(f);
                return NULL;
        }
        f->is_any = f->is_shadow = kind == FORM_NONE;
        f->kind = f->is_any ? FORM_ESCAPED : kind;
        f->shadow = shadow;
        if (!shadow)
                return f;
        shadow->kind = kind == FORM_JSON ? FORM_ESCAPED : FORM_JSON;
        shadow->looks = kind != FORM_JSON;
        shadow->is_any = f->is_any;
        shadow->is_shadow = true;
        return f;
}

static const char no_memory[] = "no memory for the body's form";

/* A body that is said to be something else: no reason to refuse what cannot be looked into. */
static int any_new(const struct http_head *h, struct http_form **ret, const char **ret_why)
{
        *ret_why = no_memory;
        *ret = form_is_plain_coding(h) ? form_alloc(FORM_NONE) : NULL;
        return *ret || !form_is_plain_coding(h) ? 0 : -1;
}

int form_new(const struct http_head *h, struct http_form **ret, const char **ret_why)
{
        const struct http_field *t = http_field_find(h, "content-type", NULL);
        struct span type = t ? t->value : (struct span){ 0 };
        enum form_kind kind;
        *ret_why = "the request says twice what its body is";
        if ((t && http_field_find(h, "content-type", t)) || kind_of(type, &kind) < 0)
                return -1;
        if (kind == FORM_NONE)
                return any_new(h, ret, ret_why);
        *ret_why = "the body is a form in a character set that is not looked into";
        if (!is_plain_charset(type))
                return -1;
        *ret_why = "the body is a compressed form, which could ask for another method; send it as it is, or "
                   "name no methods in the door";
        if (!form_is_plain_coding(h))
                return -1;
        struct http_form *f = form_alloc(kind);
        *ret_why = no_memory;
        if (!f)
                return -1;
        f->no_object = kind == FORM_PARTS;
        *ret_why = "the body is in parts, and does not say where they end";
        if (kind == FORM_PARTS && !read_boundary(f, type)) {
                free(f);
                return -1;
        }
        if (kind == FORM_PARTS)
                prepare_match(f);
        *ret = f;
        return 0;
}

void form_free(struct http_form *f)
{
        if (f)
                free(f->shadow);
        free(f);
}
