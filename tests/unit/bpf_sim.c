/* SPDX-License-Identifier: MIT */
/* tests/unit/bpf_sim.c - see bpf_sim.h. After the kernel's seccomp_check_filter() and bpf_check_classic(). */
#include "bpf_sim.h"

#include <string.h>

struct machine {
        uint32_t a, x, mem[BPF_MEMWORDS];
};

static bool is_memory(uint16_t code)
{
        return code == (BPF_LD | BPF_MEM) || code == (BPF_LDX | BPF_MEM) || code == BPF_ST || code == BPF_STX;
}

static bool is_known_alu(uint16_t code)
{
        switch (BPF_OP(code)) {
        case BPF_ADD:
        case BPF_SUB:
        case BPF_MUL:
        case BPF_DIV:
        case BPF_AND:
        case BPF_OR:
        case BPF_XOR:
        case BPF_LSH:
        case BPF_RSH:
                return (code & ~(0xf0 | BPF_X)) == BPF_ALU;
        default:
                return code == (BPF_ALU | BPF_NEG);
        }
}

static bool is_known_jump(uint16_t code)
{
        if (code == (BPF_JMP | BPF_JA))
                return true;
        uint16_t op = BPF_OP(code);
        bool conditional = op == BPF_JEQ || op == BPF_JGE || op == BPF_JGT || op == BPF_JSET;
        return conditional && (code & ~(0xf0 | BPF_X)) == BPF_JMP;
}

static bool is_known(uint16_t code)
{
        switch (BPF_CLASS(code)) {
        case BPF_LD:
                return code == (BPF_LD | BPF_W | BPF_ABS) || code == (BPF_LD | BPF_W | BPF_LEN) ||
                       code == (BPF_LD | BPF_IMM) || code == (BPF_LD | BPF_MEM);
        case BPF_LDX:
                return code == (BPF_LDX | BPF_W | BPF_LEN) || code == (BPF_LDX | BPF_IMM) ||
                       code == (BPF_LDX | BPF_MEM);
        case BPF_ALU:
                return is_known_alu(code);
        case BPF_JMP:
                return is_known_jump(code);
        case BPF_RET:
                return code == (BPF_RET | BPF_K) || code == (BPF_RET | BPF_A);
        case BPF_MISC:
                return code == (BPF_MISC | BPF_TAX) || code == (BPF_MISC | BPF_TXA);
        default:
                return code == BPF_ST || code == BPF_STX;
        }
}

static const char *refusal_at(const struct sock_filter *f, size_t n, size_t pc)
{
        const struct sock_filter *i = &f[pc];
        if (!is_known(i->code))
                return "an instruction that seccomp does not know";
        if (i->code == (BPF_LD | BPF_W | BPF_ABS) && (i->k >= sizeof(struct seccomp_data) || i->k % 4 != 0))
                return "a load outside seccomp_data, or not aligned";
        if (is_memory(i->code) && i->k >= BPF_MEMWORDS)
                return "a memory word that does not exist";
        if (i->code == (BPF_ALU | BPF_DIV | BPF_K) && i->k == 0)
                return "a division by zero";
        if (i->code == (BPF_JMP | BPF_JA) && i->k >= n - pc - 1)
                return "a jump past the end";
        if (BPF_CLASS(i->code) == BPF_JMP && i->code != (BPF_JMP | BPF_JA) &&
            (pc + i->jt + 1 >= n || pc + i->jf + 1 >= n))
                return "a branch past the end";
        return NULL;
}

const char *bpf_sim_refusal(const struct sock_filter *f, size_t n)
{
        if (n == 0 || n > BPF_MAXINSNS)
                return "no instruction, or too many";
        for (size_t pc = 0; pc < n; pc++) {
                const char *why = refusal_at(f, n, pc);
                if (why)
                        return why;
        }
        return BPF_CLASS(f[n - 1].code) == BPF_RET ? NULL : "the last instruction is no return";
}

static void run_alu(struct machine *m, const struct sock_filter *i)
{
        uint32_t v = BPF_SRC(i->code) == BPF_X ? m->x : i->k;
        switch (BPF_OP(i->code)) {
        case BPF_ADD:
                m->a += v;
                break;
        case BPF_SUB:
                m->a -= v;
                break;
        case BPF_MUL:
                m->a *= v;
                break;
        case BPF_DIV:
                m->a = v ? m->a / v : 0;
                break;
        case BPF_AND:
                m->a &= v;
                break;
        case BPF_OR:
                m->a |= v;
                break;
        case BPF_XOR:
                m->a ^= v;
                break;
        case BPF_LSH:
                m->a <<= v & 31;
                break;
        case BPF_RSH:
                m->a >>= v & 31;
                break;
        default:
                m->a = -m->a;
        }
}

static bool is_taken(const struct machine *m, const struct sock_filter *i)
{
        uint32_t v = BPF_SRC(i->code) == BPF_X ? m->x : i->k;
        switch (BPF_OP(i->code)) {
        case BPF_JEQ:
                return m->a == v;
        case BPF_JGT:
                return m->a > v;
        case BPF_JGE:
                return m->a >= v;
        default:
                return (m->a & v) != 0;
        }
}

static uint32_t value_of(const struct machine *m, const struct sock_filter *i, const struct seccomp_data *d)
{
        uint32_t v = i->k;
        if (BPF_MODE(i->code) == BPF_ABS)
                memcpy(&v, (const char *) d + i->k, sizeof v);
        else if (BPF_MODE(i->code) == BPF_LEN)
                v = sizeof *d;
        else if (BPF_MODE(i->code) == BPF_MEM)
                v = m->mem[i->k];
        return v;
}

static void run_move(struct machine *m, const struct sock_filter *i, const struct seccomp_data *d)
{
        switch (BPF_CLASS(i->code)) {
        case BPF_LD:
                m->a = value_of(m, i, d);
                break;
        case BPF_LDX:
                m->x = value_of(m, i, d);
                break;
        case BPF_ST:
                m->mem[i->k] = m->a;
                break;
        case BPF_STX:
                m->mem[i->k] = m->x;
                break;
        default:
                if (BPF_MISCOP(i->code) == BPF_TAX)
                        m->x = m->a;
                else
                        m->a = m->x;
        }
}

struct bpf_end bpf_sim_run(const struct sock_filter *f, const struct seccomp_data *d)
{
        struct machine m = { 0 };
        struct bpf_end end = { 0 };
        for (;; f++) {
                end.steps++;
                if (f->code == (BPF_LD | BPF_W | BPF_ABS) &&
                    f->k >= offsetof(struct seccomp_data, instruction_pointer))
                        end.looked_past = true;
                if (BPF_CLASS(f->code) == BPF_RET) {
                        end.ret = BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
                        return end;
                }
                if (f->code == (BPF_JMP | BPF_JA))
                        f += f->k;
                else if (BPF_CLASS(f->code) == BPF_JMP)
                        f += is_taken(&m, f) ? f->jt : f->jf;
                else if (BPF_CLASS(f->code) == BPF_ALU)
                        run_alu(&m, f);
                else
                        run_move(&m, f, d);
        }
}
