;; wants to open a file
(module
  (import "wasi_snapshot_preview1" "path_open" (func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (func (export "calculate") (param i64 i64) (result i64) (i64.const 0)))
