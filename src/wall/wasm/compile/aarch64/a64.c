/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/aarch64/a64.c - the encoding of aarch64 instructions with constants. */
#include "wall/wasm/compile/aarch64/a64.h"

enum { MOVN = 0x12800000, MOVZ = 0x52800000, MOVK = 0x72800000 };

static void move_wide(struct code *k, uint32_t op, unsigned to, unsigned part, uint64_t value)
{
        put32(k, op | A64_WIDE | part << 21 | (uint32_t) (value >> (16 * part) & 0xffff) << 5 | to);
}

/* 16 bits at a time, from all zeros or from all ones. */
void a64_const(struct code *k, unsigned to, uint64_t value)
{
        unsigned zeros = 0, ones = 0;

        for (unsigned i = 0; i < 4; i++) {
                unsigned part = (unsigned) (value >> (16 * i)) & 0xffff;
                zeros += part == 0;
                ones += part == 0xffff;
        }
        uint64_t inverse = ones > zeros ? UINT64_MAX : 0;
        bool is_first = true;
        for (unsigned i = 0; i < 4; i++) {
                if (((value ^ inverse) >> (16 * i) & 0xffff) == 0)
                        continue;
                if (is_first)
                        move_wide(k, inverse ? MOVN : MOVZ, to, i, value ^ inverse);
                else
                        move_wide(k, MOVK, to, i, value);
                is_first = false;
        }
        if (is_first)
                move_wide(k, inverse ? MOVN : MOVZ, to, 0, 0);
}

static uint64_t low_bits(unsigned n) { return n == 64 ? UINT64_MAX : (1ULL << n) - 1; }

/* A run of ones in an element of 2 to 64 bits, turned, and repeated. */
bool a64_bitmask(uint64_t value, bool wide, uint32_t *ret)
{
        unsigned size = 64;

        if (!wide)
                value = (value & UINT32_MAX) | value << 32;
        if (value == 0 || value == UINT64_MAX)
                return false;
        while (size > 2 && ((value ^ value >> (size / 2)) & low_bits(size / 2)) == 0)
                size /= 2;

        uint64_t element = value & low_bits(size), gap = ~element & low_bits(size);
        unsigned ones = (unsigned) __builtin_popcountll(element), turn;
        if (element & 1) {
                unsigned low = (unsigned) __builtin_ctzll(gap);
                if (gap >> low != low_bits(size - ones))
                        return false;
                turn = ones - low;
        } else {
                unsigned start = (unsigned) __builtin_ctzll(element);
                if (element >> start != low_bits(ones))
                        return false;
                turn = size - start;
        }
        *ret = (size == 64 ? 1u << 22 : 0) | (turn & (size - 1)) << 16 |
               (((0u - (size << 1)) & 0x3f) | (ones - 1)) << 10;
        return true;
}

bool a64_imm12(uint64_t value, uint32_t *ret)
{
        if (value < 1 << 12) {
                *ret = (uint32_t) value << 10;
                return true;
        }
        *ret = 1u << 22 | (uint32_t) (value >> 12 & 0xfff) << 10;
        return (value & 0xfff) == 0 && value < 1 << 24;
}

void a64_add_const(struct code *k, unsigned to, unsigned a, uint64_t value)
{
        uint32_t imm;
        bool is_negative = value >> 63;

        if (a64_imm12(is_negative ? 0 - value : value, &imm)) {
                put32(k, (is_negative ? A64_SUB_IMM : A64_ADD_IMM) | A64_WIDE | imm | a << 5 | to);
                return;
        }
        a64_const(k, X16, value);
        a64_op(k, A64_ADD | A64_WIDE, to, a, X16);
}

void a64_mem_indexed(struct code *k, uint32_t mem, unsigned reg, unsigned base, unsigned index, bool scaled)
{
        put32(k, 0x38206800 | mem | index << 16 | (scaled ? 1u << 12 : 0) | base << 5 | (reg & 31));
}

void a64_mem(struct code *k, uint32_t mem, unsigned reg, unsigned base, uint64_t offset)
{
        unsigned size = mem >> 30;

        if (offset >> size < 1 << 12 && (offset & low_bits(size)) == 0) {
                put32(k, 0x39000000 | mem | (uint32_t) (offset >> size) << 10 | base << 5 | (reg & 31));
                return;
        }
        a64_const(k, X17, offset);
        a64_mem_indexed(k, mem, reg, base, X17, false);
}
