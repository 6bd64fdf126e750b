;; a * a + b * b, by the program's own functions
(module
  (import "env" "add" (func $add (param i64 i64) (result i64)))
  (import "env" "mul" (func $mul (param i64 i64) (result i64)))
  (func (export "calculate") (param $a i64) (param $b i64) (result i64)
    (call $add (call $mul (local.get $a) (local.get $a)) (call $mul (local.get $b) (local.get $b)))))
