// SPDX-License-Identifier: MIT
// wasm_dump.js MODULE - what tests/unit/wasm_dump.c prints, from the engine of node.
const fs = require('fs')
const bytes = fs.readFileSync(process.argv[2])
const out = []
const scratch = new DataView(new ArrayBuffer(8))

// The types of the functions: the API of JavaScript does not have them, and 1 can be an i32, an f32 or an f64.
const types = { funcs: [], imports: {}, exports: {} }
let at = 8
const leb = () => { let v = 0, s = 1; for (;;) { const b = bytes[at++]; v += (b & 127) * s; s *= 128; if (b < 128) return v } }
const name = () => { const n = leb(); at += n; return bytes.toString('latin1', at - n, at) }
const limits = () => { const f = leb(); leb(); if (f & 1) leb() }
const many = f => Array.from({ length: leb() }, f)
const letter = () => ({ 127: 'i', 126: 'l', 125: 'f', 124: 'd', 123: 'v', 112: 'r', 111: 'e' })[bytes[at++]]
let list = []
while (at < bytes.length) {
        const id = bytes[at++], end = leb() + at
        if (id === 1) list = many(() => { at++; return [many(letter), many(letter)] })
        if (id === 2) many(() => {
                const module = name(), field = name(), kind = bytes[at++]
                if (kind === 0) { const t = list[leb()]; types.funcs.push(t); types.imports[module + '\0' + field] = t }
                if (kind === 1) { at++; limits() }
                if (kind === 2) limits()
                if (kind === 3) at += 2
        })
        if (id === 3) many(() => types.funcs.push(list[leb()]))
        if (id === 7) many(() => { const n = name(), kind = bytes[at++], i = leb(); if (kind === 0) types.exports[n] = types.funcs[i] })
        at = end
}

const show = (v, t) => {
        if (t === 'l') return BigInt.asUintN(64, v).toString(16)
        if (t === 'i') return (v >>> 0).toString(16)
        if (t === 'r' || t === 'e') return v === null ? 'null' : 'ref'
        if (Number.isNaN(v)) return 'nan'
        if (t === 'f') { scratch.setFloat32(0, v); return scratch.getUint32(0).toString(16) }
        scratch.setFloat64(0, v)
        return scratch.getBigUint64(0).toString(16)
}
const row = (values, t) => t.map((x, i) => ' ' + show(values[i], x)).join('')
const zero = t => t === 'l' ? 0n : t === 'r' || t === 'e' ? null : 0
const compiled = new WebAssembly.Module(bytes)
const imports = {}
for (const i of WebAssembly.Module.imports(compiled)) {
        imports[i.module] = imports[i.module] || {}
        const t = types.imports[i.module + '\0' + i.name]
        if (i.kind === 'function')
                imports[i.module][i.name] = (...args) => {
                        out.push('import ' + i.name + row(args, t[0]))
                        return t[1].length > 1 ? t[1].map(zero) : t[1].length ? zero(t[1][0]) : undefined
                }
}
try {
        const instance = new WebAssembly.Instance(compiled, imports)
        for (const x of WebAssembly.Module.exports(compiled)) {
                const t = types.exports[x.name]
                if (x.kind !== 'function' || t.flat().includes('v')) continue
                out.push('call ' + x.name)
                try {
                        const v = instance.exports[x.name](...t[0].map(zero))
                        out.push(row(t[1].length > 1 ? v : [v], t[1]))
                } catch (e) {
                        if (e instanceof RangeError) { out.push('stack'); break }
                        out.push('trap')
                }
        }
} catch (e) {
        out.push('no instance')
}
console.log(out.join('\n'))
