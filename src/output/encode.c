/* SPDX-License-Identifier: MIT */
/* output/encode.c - one function per context. What it writes is data there whatever the text is, if it stands
 * where the context has a word, a string literal, a text or a cell. Pure. */
#include "output/encode.h"
#include "base/str.h"
#include "output/neutral.h"
#include "output/unicode.h"

/* One word, in single quotes: nothing is special there but the quote itself. */
static int to_sh(struct span s, struct buf *out, struct err *e)
{
        if (s.n && memchr(s.p, 0, s.n))
                return err_set(e, ERR_USAGE, 0, "a word of a shell has no NUL");

        buf_putc(out, '\'');
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] == '\'')
                        buf_puts(out, "'\\''");
                else
                        buf_putc(out, (char) s.p[i]);
        buf_putc(out, '\'');
        return 0;
}

/* A string of standard SQL: PostgreSQL, SQLite. Not for MySQL, where a backslash escapes. */
static int to_sql(struct span s, struct buf *out, struct err *e)
{
        if (!str_is_utf8(s))
                return err_set(e, ERR_USAGE, 0, "a string of SQL is UTF-8 without NUL");

        buf_putc(out, '\'');
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] == '\'')
                        buf_putc(out, '\'');
                buf_putc(out, (char) s.p[i]);
        }
        buf_putc(out, '\'');
        return 0;
}

/* Characters that a browser must not see as such: controls, halves, and what reorders or hides text. */
static bool is_odd(uint32_t c) { return c != '\n' && c != '\t' && unicode_class(c) > UNICODE__PASSES; }

/* Text between tags, or a value between quotes. */
static int to_html(struct span s, struct buf *out, struct err *e)
{
        (void) e;
        for (size_t i = 0; i < s.n;) {
                uint32_t c = 0;
                int n = utf8_decode(span_of(s.p + i, s.n - i), &c);
                bool joins = c == 0x200c || c == 0x200d || c == 0xfe0f;
                if (n <= 0 || (is_odd(c) && !joins))
                        buf_puts(out, "\xef\xbf\xbd");
                else if (c < 0x80 && strchr("&<>\"'`=/", (int) c))
                        buf_printf(out, "&#%u;", c);
                else
                        buf_add(out, s.p + i, (size_t) n);
                i += n > 0 ? (size_t) n : 1;
        }
        return 0;
}

/* A string that may also stand in a <script>. */
static int to_json(struct span s, struct buf *out, struct err *e)
{
        AUTO_BUF(plain);
        (void) e;
        buf_json(&plain, s);
        out->failed |= plain.failed;
        for (size_t i = 0; i < plain.n; i++) {
                uint8_t c = (uint8_t) plain.p[i];
                if (c == '<' || c == '>' || c == '&')
                        buf_printf(out, "\\u%04x", c);
                else
                        buf_putc(out, (char) c);
        }
        return 0;
}

static int to_csv(struct span s, struct buf *out, struct err *e)
{
        (void) e;
        buf_putc(out, '"');
        if (s.n && s.p[0] && strchr("=+-@\t\r", s.p[0]))
                buf_putc(out, '\'');
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] == '"')
                        buf_putc(out, '"');
                if (s.p[i])
                        buf_putc(out, (char) s.p[i]);
        }
        buf_putc(out, '"');
        return 0;
}

/* A paragraph of plain text: every sign of the language is escaped, and lines cannot begin a block. */
static int to_md(struct span s, struct buf *out, struct err *e)
{
        bool start = true;
        AUTO_BUF(inert);
        struct neutral n;
        (void) e;
        neutral_init(&n, NEUTRAL_TEXT);
        neutral_feed(&n, s, &inert);
        neutral_end(&n, &inert);
        out->failed |= inert.failed;
        for (size_t i = 0; i < inert.n; i++) {
                char c = inert.p[i];
                if (start && (c == ' ' || c == '\t'))
                        continue;
                if (c == '\n') {
                        buf_puts(out, start ? "" : "  \n");
                        start = true;
                        continue;
                }
                start = false;
                if (c == '<' || c == '>' || c == '&')
                        buf_printf(out, "&#%d;", c);
                else if (c > 0 && strchr("\\`*_{}[]()#+-.!|~^\"'$%,/:;=?@", c))
                        buf_printf(out, "\\%c", c);
                else
                        buf_putc(out, c);
        }
        return 0;
}

static int to_url(struct span s, struct buf *out, struct err *e)
{
        (void) e;
        for (size_t i = 0; i < s.n; i++) {
                uint8_t c = s.p[i], low = c | 0x20;
                if ((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c)))
                        buf_putc(out, (char) c);
                else
                        buf_printf(out, "%%%02X", c);
        }
        return 0;
}

static int to_term(struct span s, struct buf *out, struct err *e)
{
        struct neutral n;
        (void) e;
        neutral_init(&n, NEUTRAL_TEXT);
        neutral_feed(&n, s, out);
        neutral_end(&n, out);
        return 0;
}

static const struct {
        const char *name;
        int (*encode)(struct span s, struct buf *out, struct err *e);
} contexts[] = { { "sh", to_sh },   { "sql", to_sql }, { "html", to_html }, { "json", to_json },
                 { "csv", to_csv }, { "md", to_md },   { "url", to_url },   { "term", to_term } };

int encode_find(const char *name) { return str_row(contexts, sizeof contexts / sizeof *contexts, name); }

const char *encode_names(void) { return "sh, sql, html, json, csv, md, url or term"; }

int encode_text(int to, struct span text, struct buf *out, struct err *e)
{
        return contexts[to].encode(text, out, e) < 0 ? -1
               : out->failed                         ? err_set(e, ERR_MEMORY, 0, "out of memory")
                                                     : 0;
}
