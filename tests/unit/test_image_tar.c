/* SPDX-License-Identifier: MIT */
/* Names of archives, and headers of tar. */
#include "files/image/unpack/image_unpack.h"
#include "harness.h"

#include <string.h>

static void test_names__stay_inside(void)
{
        static const struct {
                const char *raw;
                enum entry_verdict verdict;
                const char *parent, *last;
        } rows[] = {
                { "a", ENTRY_KEPT, "", "a" },
                { "./a/b", ENTRY_KEPT, "a", "b" },
                { "a//b/./c/", ENTRY_KEPT, "a/b", "c" },
                { "...", ENTRY_KEPT, "", "..." },
                { "a..b/..c", ENTRY_KEPT, "a..b", "..c" },
                { "dev", ENTRY_KEPT, "", "dev" },
                { "devices/x", ENTRY_KEPT, "devices", "x" },
                { "usr/dev/x", ENTRY_KEPT, "usr/dev", "x" },
                { ".", ENTRY_ROOT, "", "" },
                { "./", ENTRY_ROOT, "", "" },
                { "dev/null", ENTRY_LEFT_OUT, NULL, NULL },
                { "./proc/1/x", ENTRY_LEFT_OUT, NULL, NULL },
                { "sys/.wh.x", ENTRY_LEFT_OUT, NULL, NULL },
                { ".wh..wh.plnk", ENTRY_LEFT_OUT, NULL, NULL },
                { "a/.wh.b", ENTRY_WHITEOUT, "a", "b" },
                { ".wh.b", ENTRY_WHITEOUT, "", "b" },
                { "a/.wh..wh..opq", ENTRY_OPAQUE, "a", NULL },
                { "", ENTRY_REFUSED, NULL, NULL },
                { "/", ENTRY_REFUSED, NULL, NULL },
                { "/a", ENTRY_REFUSED, NULL, NULL },
                { "..", ENTRY_REFUSED, NULL, NULL },
                { "a/..", ENTRY_REFUSED, NULL, NULL },
                { "a/../b", ENTRY_REFUSED, NULL, NULL },
                { ".wh.", ENTRY_REFUSED, NULL, NULL },
                { ".wh...", ENTRY_REFUSED, NULL, NULL },
                { ".wh.a/b", ENTRY_REFUSED, NULL, NULL },
                { "a/.wh.b/c", ENTRY_REFUSED, NULL, NULL },
        };
        struct entry_name n;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                CHECK_INT(entry_name_judge(rows[i].raw, &n), rows[i].verdict);
                if (rows[i].parent)
                        CHECK_STR(n.parent, rows[i].parent);
                if (rows[i].last)
                        CHECK_STR(n.last, rows[i].last);
        }
}

static void test_names__have_caps(void)
{
        struct entry_name n;
        static char deep[3 * UNPACK_DEPTH + 8], part[300];
        for (size_t i = 0; i < UNPACK_DEPTH; i++)
                memcpy(deep + 2 * i, "d/", 3);
        CHECK_INT(entry_name_judge(deep, &n), ENTRY_KEPT);
        memcpy(deep + strlen(deep), "d", 2);
        CHECK_INT(entry_name_judge(deep, &n), ENTRY_REFUSED);
        memset(part, 'p', 255);
        CHECK_INT(entry_name_judge(part, &n), ENTRY_KEPT);
        part[255] = 'p';
        CHECK_INT(entry_name_judge(part, &n), ENTRY_REFUSED);
}

static void make_header(uint8_t block[TAR_BLOCK], const char *name, char type, const char *size)
{
        unsigned sum = 0;
        memset(block, 0, TAR_BLOCK);
        memcpy(block, name, strlen(name));
        memcpy(block + 100, "0004755", 8);
        memcpy(block + 108, "0000000", 8);
        memcpy(block + 116, "0000000", 8);
        memcpy(block + 124, size, 12);
        memcpy(block + 136, "00000001750", 12);
        block[156] = (uint8_t) type;
        memcpy(block + 257, "ustar\00000", 8);
        memset(block + 148, ' ', 8);
        for (size_t i = 0; i < TAR_BLOCK; i++)
                sum += block[i];
        (void) snprintf((char *) block + 148, 8, "%06o", sum);
}

static void test_headers__numbers_are_exact(void)
{
        static const struct {
                const char size[13];
                bool valid;
                uint64_t value;
        } rows[] = {
                { "00000001000", true, 512 },
                { "  1000      ", true, 512 },
                { "77777777777", true, 077777777777 },
                { "\x80\0\0\0\0\0\0\2\0\0\0\0", true, UINT64_C(2) << 32 },
                { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", false, 0 },
                { "\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", false, 0 },
                { "0000000100x", false, 0 },
                { "-0000000001", false, 0 },
                { "00000000089", false, 0 },
        };
        uint8_t block[TAR_BLOCK];
        struct tar_header h;
        const char *why = "";
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                make_header(block, "name", '0', rows[i].size);
                CHECK_INT(tar_header_parse(block, &h, &why), rows[i].valid ? 0 : -1);
                if (rows[i].valid)
                        CHECK(h.size == rows[i].value && h.type == TAR_FILE && h.mode == 04755);
        }
}

static void test_headers__types_and_sums(void)
{
        uint8_t block[TAR_BLOCK] = { 0 };
        struct tar_header h;
        const char *why = "";
        CHECK(tar_header_parse(block, &h, &why) == 0 && h.type == TAR_NONE);
        make_header(block, "dir/", '0', "00000000000");
        CHECK(tar_header_parse(block, &h, &why) == 0 && h.type == TAR_DIRECTORY);
        make_header(block, "x", 'Z', "00000000000");
        CHECK(tar_header_parse(block, &h, &why) == 0 && h.type == TAR_UNKNOWN);
        make_header(block, "x", '2', "00000000000");
        block[0] = 'y';
        CHECK_INT(tar_header_parse(block, &h, &why), -1);
}

static const struct test_case cases[] = {
        CASE(test_names__stay_inside),
        CASE(test_names__have_caps),
        CASE(test_headers__numbers_are_exact),
        CASE(test_headers__types_and_sums),
};
TEST_MAIN(cases)
