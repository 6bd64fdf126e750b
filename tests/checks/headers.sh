# Each header compiles alone; the public one also as C99 and as C++.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
for h in $(git ls-files "src/*.h"); do
        echo "#include \"${h#src/}\"" >"$T/alone.c"
        ok "$h compiles alone" cc -std=gnu17 -D_GNU_SOURCE -Wall -Werror -Isrc -Iinclude -fsyntax-only "$T/alone.c"
done
ok "cordon.h is C99" cc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c include/cordon.h
ok "cordon.h is C++" c++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ include/cordon.h
done_testing
