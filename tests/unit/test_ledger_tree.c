/* SPDX-License-Identifier: MIT */
/* The tree against the published vectors of Certificate Transparency (RFC 6962), and against the definition
 * itself for every size up to 300. */
#include "base/hash.h"
#include "harness.h"
#include "ledger/ledger.h"

#include <stdlib.h>

static const char *const leaves[8] = {
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"
};
static const char *const roots[8] = {
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};
#define H96 "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
#define H6E "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
#define HFA "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
#define H5F "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
#define HBC "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
#define H6B "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
#define HCA "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
#define HD3 "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"
#define H0E "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"

enum { MOST = 300 };
static uint8_t leaf[MOST][LEDGER_HASH];

static void hex_of(const uint8_t h[LEDGER_HASH], char ret[65])
{
        for (int i = 0; i < LEDGER_HASH; i++)
                (void) snprintf(ret + 2 * i, 3, "%02x", h[i]);
}

static size_t unhex(const char *s, uint8_t *ret)
{
        size_t n = strlen(s) / 2;
        for (size_t i = 0; i < n; i++) {
                char two[3] = { s[2 * i], s[2 * i + 1], 0 };
                ret[i] = (uint8_t) strtoul(two, NULL, 16);
        }
        return n;
}

static void reference_leaves(void)
{
        for (int i = 0; i < 8; i++) {
                uint8_t bytes[32];
                ledger_leaf_hash(span_of(bytes, unhex(leaves[i], bytes)), leaf[i]);
        }
}

/* The root as the RFC defines it: the second opinion. */
static void defined_root(uint64_t begin, uint64_t end, uint8_t ret[LEDGER_HASH])
{
        uint8_t a[LEDGER_HASH], b[LEDGER_HASH];
        uint64_t k = 1;
        if (end - begin == 1) {
                memcpy(ret, leaf[begin], LEDGER_HASH);
                return;
        }
        while (k * 2 < end - begin)
                k *= 2;
        defined_root(begin, begin + k, a);
        defined_root(begin + k, end, b);
        ledger_node_hash(a, b, ret);
}

static int read_defined(void *ctx, unsigned level, uint64_t index, uint8_t ret[LEDGER_HASH])
{
        (void) ctx;
        uint64_t n = UINT64_C(1) << (8 * level);
        if ((index + 1) * n > MOST)
                return -1;
        defined_root(index * n, (index + 1) * n, ret);
        return 0;
}

static void test_tree__published_roots(void)
{
        struct ledger_tree t = { 0 };
        uint8_t r[LEDGER_HASH];
        char hex[65];
        reference_leaves();
        ledger_tree_root(&t, r);
        hex_of(r, hex);
        CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        for (int i = 0; i < 8; i++) {
                ledger_tree_add(&t, leaf[i]);
                ledger_tree_root(&t, r);
                hex_of(r, hex);
                CHECK_STR(hex, roots[i]);
        }
}

static void check_proof(const struct ledger_proof *p, const char *const *want)
{
        unsigned n = 0;
        for (; want[n]; n++) {
                char hex[65] = "";
                if (n < p->count)
                        hex_of(p->hash[n], hex);
                CHECK_STR(hex, want[n]);
        }
        CHECK_INT(p->count, n);
}

static void test_tree__published_inclusion_proofs(void)
{
        static const struct {
                uint64_t index, size;
                const char *want[4];
        } rows[] = { { 0, 1, { NULL } },         { 0, 2, { H96 } },           { 1, 2, { H6E } },
                     { 2, 3, { HFA } },          { 1, 5, { H6E, H5F, HBC } }, { 0, 8, { H96, H5F, H6B } },
                     { 5, 8, { HBC, HCA, HD3 } } };
        reference_leaves();
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct ledger_proof p;
                uint8_t root[LEDGER_HASH];
                CHECK_INT(ledger_prove_inclusion(read_defined, NULL, rows[i].index, rows[i].size, &p), 0);
                check_proof(&p, rows[i].want);
                (void) unhex(roots[rows[i].size - 1], root);
                CHECK(ledger_check_inclusion(leaf[rows[i].index], rows[i].index, rows[i].size, &p, root));
        }
}

static void many_leaves(void)
{
        for (int i = 0; i < MOST; i++)
                ledger_leaf_hash(span_of(&i, sizeof i), leaf[i]);
}

static void test_tree__grown_folded_and_defined_roots_agree(void)
{
        struct ledger_tree t = { 0 };
        many_leaves();
        for (uint64_t n = 1; n <= MOST; n++) {
                uint8_t grown[LEDGER_HASH], folded[LEDGER_HASH], defined[LEDGER_HASH];
                ledger_tree_add(&t, leaf[n - 1]);
                ledger_tree_root(&t, grown);
                defined_root(0, n, defined);
                CHECK_INT(ledger_range_hash(read_defined, NULL, 0, n, folded), 0);
                CHECK(memcmp(grown, defined, LEDGER_HASH) == 0);
                CHECK(memcmp(folded, defined, LEDGER_HASH) == 0);
        }
}

static void test_tree__every_inclusion_proof_holds_and_no_altered_one(void)
{
        static const uint64_t sizes[] = { 1, 2, 3, 7, 8, 9, 64, 100, 255, 256, 257, 300 };
        many_leaves();
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                uint8_t root[LEDGER_HASH];
                uint64_t n = sizes[s];
                defined_root(0, n, root);
                for (uint64_t i = 0; i < n; i++) {
                        struct ledger_proof p;
                        CHECK_INT(ledger_prove_inclusion(read_defined, NULL, i, n, &p), 0);
                        CHECK(ledger_check_inclusion(leaf[i], i, n, &p, root));
                        CHECK(!ledger_check_inclusion(leaf[i], n, n, &p,
                                                      root)); /* there is none of that number */
                        CHECK(!ledger_check_inclusion(leaf[(i + 1) % MOST], i, n, &p, root));
                        CHECK(n == 1 || !ledger_check_inclusion(leaf[i], (i + 1) % n, n, &p, root));
                        for (unsigned k = 0; k < p.count; k++) {
                                p.hash[k][k % 32] ^= 1;
                                CHECK(!ledger_check_inclusion(leaf[i], i, n, &p, root));
                                p.hash[k][k % 32] ^= 1;
                        }
                        p.count += p.count < 60;
                        CHECK(!ledger_check_inclusion(leaf[i], i, n, &p, root));
                }
        }
        struct ledger_proof none;
        CHECK_INT(ledger_prove_inclusion(read_defined, NULL, 8, 8, &none), -1);
}

static const struct test_case cases[] = {
        CASE(test_tree__published_roots),
        CASE(test_tree__published_inclusion_proofs),
        CASE(test_tree__grown_folded_and_defined_roots_agree),
        CASE(test_tree__every_inclusion_proof_holds_and_no_altered_one),
};
TEST_MAIN(cases)
