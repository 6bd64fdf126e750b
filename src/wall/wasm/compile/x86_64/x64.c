/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/x86_64/x64.c - the encoding of x86_64 instructions. */
#include "wall/wasm/compile/x86_64/x64.h"

enum { INSTRUCTION = 16 }; /* bytes of the longest */

static void ensure_room(struct code *k)
{
        if (k->at + INSTRUCTION > k->room) {
                k->full = true;
                k->at = k->restart;
        }
}

/* After ensure(). */
static void add8(struct code *k, unsigned v) { k->base[k->at++] = (uint8_t) v; }

/* The bytes after the opcode that name a place in memory. */
static void put_memory(struct code *k, unsigned reg, struct rm m)
{
        unsigned low = m.reg & 7, mod = m.disp == 0 && low != 5 ? 0 : m.disp == (int8_t) m.disp ? 1 : 2;
        bool has_sib = m.index != 0xff || low == 4;

        add8(k, mod << 6 | (reg & 7) << 3 | (has_sib ? 4 : low));
        if (has_sib)
                add8(k, (unsigned) m.shift << 6 | (m.index == 0xff ? 4u : m.index & 7u) << 3 | low);
        if (mod == 1)
                add8(k, (unsigned) m.disp & 0xff);
        if (mod == 2) {
                memcpy(k->base + k->at, &m.disp, sizeof m.disp);
                k->at += sizeof m.disp;
        }
}

void x64_op(struct code *k, uint32_t op, bool wide, unsigned reg, struct rm m)
{
        unsigned rex = (wide ? 8u : 0) | (reg >> 3 & 1) << 2 | (m.reg >> 3 & 1), map = op >> 8 & 3;

        ensure_room(k);
        if (m.is_mem && m.index != 0xff)
                rex |= (m.index >> 3 & 1u) << 1;
        if (op >> 16)
                add8(k, op >> 16);
        if (rex || op & OP_BYTE)
                add8(k, 0x40 | rex);
        if (map)
                add8(k, 0x0f);
        if (map > 1)
                add8(k, map == 2 ? 0x38 : 0x3a);
        add8(k, op & 0xff);

        if (m.is_mem)
                put_memory(k, reg, m);
        else
                add8(k, 0xc0 | (reg & 7) << 3 | (m.reg & 7u));
}

void x64_op_imm8(struct code *k, uint32_t op, bool wide, unsigned reg, struct rm m, unsigned imm)
{
        x64_op(k, op, wide, reg, m);
        put8(k, imm);
}

void x64_alu_imm(struct code *k, uint32_t op, bool wide, struct rm m, int32_t imm)
{
        unsigned digit = op >> 3 & 7;

        if (imm == (int8_t) imm) {
                x64_op_imm8(k, 0x83, wide, digit, m, (unsigned) imm & 0xff);
                return;
        }
        x64_op(k, 0x81, wide, digit, m);
        put32(k, (uint32_t) imm);
}

void x64_const(struct code *k, unsigned reg, uint64_t v)
{
        if (v == (uint64_t) (int32_t) v && v >> 32) { /* negative */
                x64_op(k, 0xc7, true, 0, rm_reg(reg));
                put32(k, (uint32_t) v);
                return;
        }

        unsigned rex = (v >> 32 ? 8u : 0) | (reg >> 3 & 1);
        if (rex)
                put8(k, 0x40 | rex);
        put8(k, 0xb8 | (reg & 7));
        if (v >> 32)
                put64(k, v);
        else
                put32(k, (uint32_t) v);
}

void x64_data(struct code *k, uint32_t op, unsigned reg, uint32_t index)
{
        ensure_room(k);
        add8(k, 0x48 | (reg >> 3 & 1) << 2);
        add8(k, op);
        add8(k, (reg & 7) << 3 | 5); /* rip + 32 bits */
        put32(k, (uint32_t) (data_at(k, index) - (k->at + 4)));
}

uint32_t x64_jcc(struct code *k, unsigned cc)
{
        put8(k, 0x0f);
        put8(k, 0x80 | cc);
        put32(k, 0);
        return k->at - 4;
}
