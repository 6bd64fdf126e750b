# SPDX-License-Identifier: MIT
# cordon-bwrap.bash - completion for cordon-bwrap(1): its options, and files.

_cordon_bwrap() {
        local cur=${COMP_WORDS[COMP_CWORD]}
        if [[ $cur == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$("$1" --help | sed -n 's/^    \(--[^ ]*\).*/\1/p')" -- "$cur")
        else
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
}
complete -F _cordon_bwrap cordon-bwrap
