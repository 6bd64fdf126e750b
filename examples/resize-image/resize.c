/* SPDX-License-Identifier: MIT */
/* resize.c - halves a 24-bit BMP: each pixel of the result is the mean of four. The picture comes through the
 * handle CORDON_IN_SOURCE and the result goes through CORDON_OUT_RESULT. Arguments are paths that it tries to
 * open first, as a parser would that a hostile picture has taken over. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 54, SIDE_MAX = 8192 };

struct picture {
        uint32_t width, height;
        uint8_t *rows; /* as in the file: three bytes a pixel, rows padded to four */
};

static size_t stride(uint32_t width) { return (3u * (size_t) width + 3) & ~(size_t) 3; }

static uint32_t get32(const uint8_t *p)
{
        return p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

static void put32(uint8_t *p, uint32_t v)
{
        for (int i = 0; i < 4; i++)
                p[i] = (uint8_t) (v >> 8 * i);
}

static const char *load(FILE *f, struct picture *p)
{
        uint8_t h[HEAD];
        if (fread(h, 1, HEAD, f) != HEAD || h[0] != 'B' || h[1] != 'M')
                return "not a BMP";
        p->width = get32(h + 18);
        p->height = get32(h + 22);
        if (get32(h + 10) != HEAD || h[28] != 24 || h[29] != 0 || get32(h + 30) != 0)
                return "only uncompressed 24-bit pictures";
        if (p->width < 2 || p->height < 2 || p->width > SIDE_MAX || p->height > SIDE_MAX)
                return "too small or too large";
        size_t n = stride(p->width) * p->height;
        p->rows = malloc(n);
        if (!p->rows)
                return "no memory";
        return fread(p->rows, 1, n, f) == n ? NULL : "cut short";
}

static const char *halve(const struct picture *in, struct picture *out)
{
        out->width = in->width / 2;
        out->height = in->height / 2;
        size_t from = stride(in->width), to = stride(out->width);
        out->rows = calloc(out->height, to);
        if (!out->rows)
                return "no memory";
        for (size_t y = 0; y < out->height; y++)
                for (size_t x = 0; x < 3u * (size_t) out->width; x++) {
                        const uint8_t *p = in->rows + 2 * y * from + x / 3 * 6 + x % 3;
                        out->rows[y * to + x] = (uint8_t) ((p[0] + p[3] + p[from] + p[from + 3]) / 4);
                }
        return NULL;
}

static const char *save(FILE *f, const struct picture *p)
{
        uint8_t h[HEAD] = { 'B', 'M', [10] = HEAD, [14] = 40, [26] = 1, [28] = 24 };
        size_t n = stride(p->width) * p->height;
        put32(h + 2, (uint32_t) (HEAD + n));
        put32(h + 18, p->width);
        put32(h + 22, p->height);
        put32(h + 34, (uint32_t) n);
        return fwrite(h, 1, HEAD, f) == HEAD && fwrite(p->rows, 1, n, f) == n && fflush(f) == 0
                       ? NULL
                       : "the result cannot be written";
}

static FILE *handle(const char *variable, const char *mode)
{
        const char *path = getenv(variable);
        FILE *f = path ? fopen(path, mode) : NULL;
        if (!f) {
                (void) fprintf(stderr, "resize: no handle %s: run me as the README says\n", variable);
                exit(2);
        }
        return f;
}

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                FILE *f = fopen(argv[i], "r");
                (void) printf("open %s: %s\n", argv[i], f ? "it can" : strerror(errno));
        }
        struct picture in = { 0, 0, NULL }, out = { 0, 0, NULL };
        const char *wrong = load(handle("CORDON_IN_SOURCE", "rb"), &in);
        if (!wrong)
                wrong = halve(&in, &out);
        if (!wrong)
                wrong = save(handle("CORDON_OUT_RESULT", "wb"), &out);
        if (wrong) {
                (void) fprintf(stderr, "resize: %s\n", wrong);
                return 1;
        }
        (void) printf("%ux%u -> %ux%u\n", in.width, in.height, out.width, out.height);
        return 0;
}
