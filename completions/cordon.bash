# SPDX-License-Identifier: MIT
# cordon.bash - completion for cordon(1), which is asked what could follow (src/face/cli/complete.c).

_cordon() {
        local cur=${COMP_WORDS[COMP_CWORD]} i line word help before
        local -a words=() at=() lines
        # Bash parts words at = and :, the program does not.
        for ((i = 0; i <= COMP_CWORD; i++)); do
                if [[ $i -gt 1 && (${COMP_WORDS[i]} == [=:]* || ${COMP_WORDS[i - 1]} == *[=:]) ]]; then
                        words[${#words[@]} - 1]+=${COMP_WORDS[i]}
                else
                        words+=("${COMP_WORDS[i]}") at+=("$i")
                fi
        done
        [[ $cur != [=:] ]] || cur=
        word=${words[${#words[@]} - 1]} before=${word%"$cur"}

        COMPREPLY=()
        mapfile -t lines < <(cordon __complete "${words[@]:1}")
        for line in "${lines[@]}"; do
                help=${line#*$'\t'} line=${line%%$'\t'*}
                case $line in
                @files | @dirs)
                        compopt -o filenames
                        i=-f && [[ $line == @files ]] || i=-d
                        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$i" -P "${help#"$before"}" -- "${word#"$help"}")
                        ;;
                @command)
                        if declare -F _command_offset >/dev/null; then
                                _command_offset "${at[help]}"
                        elif ((${#words[@]} == help + 1)); then
                                mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u) # one in two directories is one
                        else
                                compopt -o filenames
                                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                        fi
                        ;;
                *) COMPREPLY+=("${line#"$before"}") ;;
                esac
        done
} 2>/dev/null
complete -F _cordon cordon
