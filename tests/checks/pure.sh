# The deciders are pure: no object of policy or plan, nor of the parts of base they stand on, calls anything of libc that
# reaches the system. What they may call is listed; everything else has to be argued for here.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
objects=$(find "$BUILD/libcordon-core.a.p" ! -name 'src_policy_learn_*' ! -name 'src_effect_stamp_*' \( -name 'src_policy_*.o' -o -name 'src_effect_*.o' -o -name 'src_wall_plan_*.o' -o -name 'src_wall_kinds_*.o' -o -name 'src_base_arena.c.o' \
        -o -name 'src_base_block.c.o' -o -name 'src_base_buf.c.o' -o -name 'src_base_date.c.o' -o -name 'src_base_err.c.o' -o -name 'src_base_hash.c.o' -o -name 'src_base_hash_rounds.c.o' -o -name 'src_base_json.c.o' \
        -o -name 'src_base_str.c.o' -o -name 'src_base_variable.c.o' -o -name 'src_base_vec.c.o' \))
sources=$(git ls-files 'src/policy/*.c' 'src/wall/plan/*.c' ':!src/policy/learn' | wc -l)
# shellcheck disable=SC2086
is "every file of policy and plan has its object" "$(printf '%s\n' $objects | grep -c -e src_policy_ -e src_wall_plan_)" "$sources"
cat >"$T/may" <<'END'
__ctype_tolower_loc
__ctype_toupper_loc
__errno_location
__memcpy_chk
__memmove_chk
__memset_chk
__snprintf_chk
__stack_chk_fail
__stack_chk_guard
__stpcpy_chk
__strcpy_chk
__vsnprintf_chk
_GLOBAL_OFFSET_TABLE_
calloc
free
inet_ntop
inet_pton
malloc
memchr
memcmp
memcpy
memmem
memmove
memset
qsort
realloc
sha256_hardware
reallocarray
snprintf
stpcpy
strcasecmp
strchr
strcmp
strcpy
strcspn
strerror
strlen
strncmp
strnlen
strpbrk
strrchr
strspn
strstr
strtoll
toupper
vsnprintf
END
# shellcheck disable=SC2086
nm -g --defined-only $objects | awk 'NF == 3 { print $3 }' | sort -u >"$T/own"
# Sanitizers add calls of their own.
# shellcheck disable=SC2086
nm -u $objects | awk '$1 == "U" { print $2 }' | grep -v -e '^__asan_' -e '^__ubsan_' -e '^__sanitizer_' -e '^__interceptor_' |
        sort -u | grep -v -x -F -f "$T/own" >"$T/calls"
ok "they call something ($(wc -l <"$T/calls") functions)" test "$(wc -l <"$T/calls")" -gt 10
is "policy and plan call nothing that reaches the system" "$(grep -v -x -F -f "$T/may" "$T/calls" | tr '\n' ' ')" ""
# The check can fail: an object that does make system calls is told from these.
nm -u "$BUILD/libcordon-core.a.p/src_run_api_look.c.o" | awk '$1 == "U" { print $2 }' | grep -v -x -F -f "$T/own" >"$T/calls"
has "run/api/look.c, which looks at the host, would not pass" "$(grep -v -x -F -f "$T/may" "$T/calls" | tr '\n' ' ')" readlink
is "no assembly hides one" "$(grep -nE '\b(asm|__asm__|syscall)\b *\(' $(git ls-files "src/policy/*.c" "src/wall/plan/*.c") src/base/str.c src/base/json.c)" ""
done_testing
