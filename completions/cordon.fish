# SPDX-License-Identifier: MIT
# cordon.fish - completion for cordon(1), which is asked what could follow (src/face/cli/complete.c).

function __cordon_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    for line in (cordon __complete $before[2..-1] "$word" 2>/dev/null)
        set -l parts (string split -m 1 \t -- $line)
        set -l found $line
        switch $parts[1]
            case @files @dirs
                set -l path (string sub -s (math 1 + (string length -- "$parts[2]")) -- "$word")
                set found $parts[2](__fish_complete_path "$path")
                test $parts[1] = @files; or set found (string match -r '^[^\t]*/(?:\t.*)?$' -- $found)
            case @command
                set -l rest (string escape -- $before[(math 1 + $parts[2])..-1]) "$word"
                set found (complete -C "$rest")
        end
        test (count $found) -eq 0; or printf '%s\n' $found
    end
end

complete -c cordon -f -a '(__cordon_complete)'
