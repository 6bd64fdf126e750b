/* SPDX-License-Identifier: MIT */
/* output/magic.c - reads just enough of a file to know that it is what it says, ends where it says, and does
 * not unpack to more than a reader expects. Every read is bounded by the data. Pure. */
#include "output/magic.h"

#define PIXELS_MAX UINT64_C(200000000)
#define UNPACK_MAX (UINT64_C(1) << 32)
enum { RATIO_MAX = 1000, UNPACK_FREE = 64 << 20 };

const char *magic_name(enum magic m)
{
        static const char *const names[] = { "unknown", "png",  "jpeg", "gif", "webp",
                                             "bmp",     "tiff", "pdf",  "zip", "gzip" };
        _Static_assert(sizeof names / sizeof *names == MAGIC__COUNT, "each has its name");
        return names[m];
}

static bool starts_with(struct span s, const char *text, size_t n)
{
        return s.n >= n && memcmp(s.p, text, n) == 0;
}

enum magic magic_of(struct span s)
{
        static const struct {
                const char *text;
                size_t n;
                enum magic m;
        } rows[] = { { "\x89PNG\r\n\x1a\n", 8, MAGIC_PNG },
                     { "\xff\xd8\xff", 3, MAGIC_JPEG },
                     { "GIF87a", 6, MAGIC_GIF },
                     { "GIF89a", 6, MAGIC_GIF },
                     { "BM", 2, MAGIC_BMP },
                     { "II*\0", 4, MAGIC_TIFF },
                     { "MM\0*", 4, MAGIC_TIFF },
                     { "%PDF-", 5, MAGIC_PDF },
                     { "PK\3\4", 4, MAGIC_ZIP },
                     { "PK\5\6", 4, MAGIC_ZIP },
                     { "\x1f\x8b\x08", 3, MAGIC_GZIP } };

        if (starts_with(s, "RIFF", 4) && s.n >= 12 && memcmp(s.p + 8, "WEBP", 4) == 0)
                return MAGIC_WEBP;

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (starts_with(s, rows[i].text, rows[i].n))
                        return rows[i].m;
        return MAGIC_UNKNOWN;
}

bool magic_is_image(enum magic m) { return m >= MAGIC_PNG && m <= MAGIC_TIFF; }

static uint32_t big4(const uint8_t *p)
{
        return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}
static uint32_t big2(const uint8_t *p) { return (uint32_t) p[0] << 8 | p[1]; }
static uint32_t small4(const uint8_t *p)
{
        return (uint32_t) p[3] << 24 | (uint32_t) p[2] << 16 | (uint32_t) p[1] << 8 | p[0];
}
static uint32_t small2(const uint8_t *p) { return (uint32_t) p[1] << 8 | p[0]; }

static const char cut_off[] = "it is cut off";
static const char behind[] = "something stands behind its end";
static const char pixels[] = "it has too many pixels";

static const char *png_fault(struct span s)
{
        size_t at = 8;
        if (s.n < 33 || memcmp(s.p + 12, "IHDR", 4) != 0)
                return cut_off;

        if ((uint64_t) big4(s.p + 16) * big4(s.p + 20) > PIXELS_MAX)
                return pixels;

        while (s.n - at >= 12) {
                uint64_t n = big4(s.p + at);
                if (n > s.n - at - 12)
                        return cut_off;
                bool last = memcmp(s.p + at + 4, "IEND", 4) == 0;
                at += 12 + (size_t) n;
                if (last)
                        return at == s.n ? NULL : behind;
        }
        return cut_off;
}

static bool is_frame(uint8_t marker)
{
        return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/* Segments up to the first scan; from there an end mark can only be one. */
static const char *jpeg_fault(struct span s)
{
        for (size_t at = 2; s.n - at >= 4;) {
                if (s.p[at] != 0xff)
                        return "its segments are broken";
                uint8_t marker = s.p[at + 1];
                size_t n = big2(s.p + at + 2);
                if (n < 2 || n > s.n - at - 2)
                        return cut_off;
                if (is_frame(marker) && n >= 8 &&
                    (uint64_t) big2(s.p + at + 5) * big2(s.p + at + 7) > PIXELS_MAX)
                        return pixels;
                at += 2 + n;
                if (marker != 0xda)
                        continue;
                for (; s.n - at >= 2; at++)
                        if (s.p[at] == 0xff && s.p[at + 1] == 0xd9)
                                return at + 2 == s.n ? NULL : behind;
                return cut_off;
        }
        return cut_off;
}

static size_t gif_blocks(struct span s, size_t at)
{
        while (at < s.n && s.p[at] != 0)
                at += 1 + (size_t) s.p[at];
        return at + 1;
}

static const char *gif_fault(struct span s)
{
        if (s.n < 14)
                return cut_off;

        size_t at = 13 + (s.p[10] & 0x80 ? (size_t) 3 << ((s.p[10] & 7) + 1) : 0);
        while (at < s.n) {
                if (s.p[at] == 0x3b)
                        return at + 1 == s.n ? NULL : behind;
                if (s.p[at] == 0x21) {
                        at = gif_blocks(s, at + 2);
                } else if (s.p[at] == 0x2c && s.n - at > 10) {
                        size_t table = s.p[at + 9] & 0x80 ? (size_t) 3 << ((s.p[at + 9] & 7) + 1) : 0;
                        at = gif_blocks(s, at + 10 + table + 1);
                } else {
                        return "its blocks are broken";
                }
        }
        return cut_off;
}

static const char *webp_fault(struct span s)
{
        uint64_t n = (uint64_t) small4(s.p + 4) + 8;
        n += n & 1;
        return n > s.n ? cut_off : n < s.n ? behind : NULL;
}

static bool has(struct span s, const char *text) { return memmem(s.p, s.n, text, strlen(text)) != NULL; }

static const char *pdf_fault(struct span s, struct findings *f)
{
        static const char *const active[] = { "/JavaScript", "/JS",         "/Launch",
                                              "/OpenAction", "/AA",         "/EmbeddedFile",
                                              "/SubmitForm", "/ImportData", "/RichMedia" };
        size_t tail = s.n < 1024 ? s.n : 1024;
        for (size_t i = 0; i < sizeof active / sizeof *active; i++)
                if (has(s, active[i]))
                        findings_add(f, FINDING_ACTIVE, span_str(active[i]), 0);
        return has(span_of(s.p + s.n - tail, tail), "%%EOF") ? NULL : cut_off;
}

/* The directory at the end lists what is inside. */
static const char *zip_fault(struct span s)
{
        size_t at = s.n < 22 ? 0 : s.n - 22;
        if (s.n < 22)
                return cut_off;

        if (memcmp(s.p + at, "PK\5\6", 4) != 0)
                return "it does not end with its directory";

        uint64_t entries = small2(s.p + at + 10), total = 0;
        size_t entry = small4(s.p + at + 16);
        for (uint64_t i = 0; i < entries; i++) {
                if (entry > at || at - entry < 46 || memcmp(s.p + entry, "PK\1\2", 4) != 0)
                        return "its directory is broken";
                total += small4(s.p + entry + 24);
                entry += 46 + (size_t) small2(s.p + entry + 28) + small2(s.p + entry + 30) +
                         small2(s.p + entry + 32);
        }

        bool bomb = total > UNPACK_MAX || (total > UNPACK_FREE && total / RATIO_MAX > s.n);
        return bomb ? "it unpacks to too much" : NULL;
}

/* The size that its end states; a reader must count all the same. */
static const char *gzip_fault(struct span s)
{
        if (s.n < 18)
                return cut_off;
        uint64_t total = small4(s.p + s.n - 4);
        return total > UNPACK_FREE && total / RATIO_MAX > s.n ? "it unpacks to too much" : NULL;
}

const char *magic_fault(enum magic m, struct span data, struct findings *f)
{
        switch (m) {
        case MAGIC_PNG:
                return png_fault(data);
        case MAGIC_JPEG:
                return jpeg_fault(data);
        case MAGIC_GIF:
                return gif_fault(data);
        case MAGIC_WEBP:
                return webp_fault(data);
        case MAGIC_PDF:
                return pdf_fault(data, f);
        case MAGIC_ZIP:
                return zip_fault(data);
        case MAGIC_GZIP:
                return gzip_fault(data);
        case MAGIC_BMP:
        case MAGIC_TIFF:
                return NULL;
        case MAGIC_UNKNOWN:
        case MAGIC__COUNT:
                break;
        }
        return "its type is not known";
}
