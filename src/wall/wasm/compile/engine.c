/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/engine.c - the engine that compiles: what a store needs, calls, and faults that are
 * traps. */
#include "wall/wasm/compile/compile.h"
#include "wall/wasm/compile/machine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = COMPILE_PAGE, SIGNAL_STACK = 65536 };

/* A signal handler has nothing else to start from: the machine that runs now. */
static struct machine *running;
static struct sigaction usual_segv, usual_bus; /* what a fault of the engine's own does */

static bool is_in(const void *p, const uint8_t *from, size_t n)
{
        return (uintptr_t) p - (uintptr_t) from < n;
}

static const struct wasm_native *code_at(const struct wasm_store *s, const void *pc)
{
        for (const struct wasm_instance *i = s->instances; i; i = i->next) {
                const struct wasm_native *c = i->engine;
                if (c && is_in(pc, c->code, c->used))
                        return c;
        }
        return NULL;
}

/* The trap that a fault of code at this address is, or WASM_OK: a fault of the engine's own. */
static enum wasm_trap trap_of(const struct machine *m, const void *address)
{
        if (is_in(address, m->returns, PAGE))
                return WASM_TRAP_STACK;
        for (const struct wasm_memory *y = m->store->memories; y; y = y->next)
                if (y->guard && is_in(address, y->base, WASM_GUARD_BYTES))
                        return WASM_TRAP_MEMORY;

        return WASM_OK;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
        const struct wasm_native *c = running ? code_at(running->store, mc_fault_at(context)) : NULL;
        enum wasm_trap t = c ? trap_of(running, info->si_addr) : WASM_OK;

        if (t == WASM_OK) { /* it happens again, and usually ends the process */
                (void) sigaction(signal, signal == SIGSEGV ? &usual_segv : &usual_bus, NULL);
                return;
        }
        mc_fault_leave(context, c->code + c->stubs.leave, t);
}

static int catch_faults(struct err *e)
{
        static uint8_t *stack;
        struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

        if (stack)
                return 0;
        uint8_t *p = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
                return err_set(e, ERR_MEMORY, errno, "no memory for the stack of signals");
        stack_t s = { .ss_sp = p, .ss_size = SIGNAL_STACK };
        if (sigaltstack(&s, NULL) < 0 || sigaction(SIGSEGV, &act, &usual_segv) < 0 ||
            sigaction(SIGBUS, &act, &usual_bus) < 0)
                return err_set(e, ERR_WALL, errno, "faults cannot be caught: %s", strerror(errno));
        stack = p;
        return 0;
}

/* The stack of return addresses ends at its guard page after exactly as many calls as the limit says. */
static int make_machine(struct wasm_store *s, struct err *e)
{
        size_t room = (size_t) s->limits.call_depth * MC_RETURN_BYTES;
        size_t bytes = PAGE + ((room + PAGE - 1) & ~(size_t) (PAGE - 1));
        struct machine *m = arena_alloc(&s->arena, sizeof *m);
        if (!m)
                return err_set(e, ERR_MEMORY, 0, "out of memory");

        void *p =
                mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE) < 0) {
                (void) err_set(e, ERR_MEMORY, errno, "no memory for the stack");
                if (p != MAP_FAILED)
                        (void) munmap(p, bytes);
                return -1;
        }
        m->returns = p;
        m->returns_bytes = bytes;
        m->return_stack = (uintptr_t) p + PAGE + room;
        m->store = s;
        s->machine = m;
        return 0;
}

static void compiler_release(struct wasm_instance *inst)
{
        compile_free(inst->engine);
        inst->engine = NULL;
}

static int make_code(const struct wasm_module *m, struct wasm_native *ret, struct err *e)
{
        if (compile_module(m, ret, e) < 0)
                return -1;

        mc_flush(ret->code, ret->used);
        /* SAFETY: besides code_file.c the only place where memory becomes executable; it is no longer
         * writable then. */
        if (mprotect(ret->code, ret->used, PROT_READ | PROT_EXEC) < 0)
                return err_set(e, ERR_WALL, errno, "the code cannot be made executable: %s", strerror(errno));
        return 0;
}

/* The code that was given, or new code. */
static int compiler_prepare(struct wasm_instance *inst, struct err *e)
{
        struct wasm_store *s = inst->store;
        struct wasm_native *given = s->code, *c = given ? given : calloc(1, sizeof *c);

        inst->engine = c;
        s->code = NULL;
        if (!c)
                return err_set(e, ERR_MEMORY, 0, "out of memory");
        if (catch_faults(e) < 0 || (!s->machine && make_machine(s, e) < 0) ||
            (!given && make_code(inst->module, c, e) < 0)) {
                compiler_release(inst);
                return -1;
        }

        data_fill(inst, s->machine, (uint64_t *) (void *) c->base);
        for (uint32_t i = 0; i < inst->module->n_bodies; i++)
                inst->own_funcs[i].code = c->code + c->entries[i];
        return 0;
}

static void compiler_done(struct wasm_store *s)
{
        const struct machine *m = s->machine;

        if (m)
                (void) munmap(m->returns, m->returns_bytes);
}

static void take_results(const struct machine *m, const struct wasm_sig *sig, const uint64_t *frame,
                         uint64_t *slots)
{
        memcpy(slots, frame, sig->result_slots * sizeof *slots);
        const char *result = sig->text + wasm_sig_operands(sig->text) + 1;
        if (result[0] && !result[1] && result[0] != 'v') {
                slots[0] = *result == 'f' || *result == 'd' ? m->float_result : m->int_result;
                if (*result == 'f' || *result == 'i')
                        slots[0] = (uint32_t) slots[0];
        }
}

static enum wasm_trap compiler_call(struct wasm_func *f, uint64_t *slots)
{
        struct wasm_store *s = f->inst->store;
        struct machine *m = s->machine;
        const struct wasm_native *c = f->inst->engine;
        const struct wasm_sig *sig = f->sig;
        union {
                const void *at;
                enum wasm_trap (*enter)(const void *code, uint64_t *frame);
        } stub = { c->code + c->stubs.enter };

        if (s->stack_end - s->stack < sig->param_slots || s->stack_end - s->stack < sig->result_slots)
                return WASM_TRAP_STACK;
        memcpy(s->stack, slots, sig->param_slots * sizeof *slots);
        struct machine outer = *m, *before = running;
        if (s->running > 1) /* by a host function: behind the return addresses of what called it */
                m->return_stack = m->stack;
        running = m;
        enum wasm_trap t = stub.enter(f->code, s->stack);
        running = before;
        if (t == WASM_OK)
                take_results(m, sig, s->stack, slots);
        *m = outer;
        return t;
}

static const struct wasm_engine compiler = {
        .name = "compiler",
        .prepare = compiler_prepare,
        .call = compiler_call,
        .release = compiler_release,
        .done = compiler_done,
        .guard = true,
};

/* Limits of address space, and systems that allow no code but that of files. */
static bool has_memory(void)
{
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void *p = mmap(NULL, WASM_GUARD_BYTES, PROT_NONE, flags, -1, 0);
        if (p == MAP_FAILED)
                return false;

        bool ok = mprotect(p, PAGE, PROT_READ | PROT_WRITE) == 0 &&
                  mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0;
        (void) munmap(p, WASM_GUARD_BYTES);
        return ok;
}

const struct wasm_engine *wasm_compiler(void)
{
        return mc_has_processor() && has_memory() ? &compiler : NULL;
}
