# SPDX-License-Identifier: MIT
# cordon.bash - completion for cordon(1). tests/checks/docs.sh holds it against `cordon help`.

_cordon_boxes() { # names and run ids of this user's running boxes
        cordon ps --json 2>/dev/null | tr '{' '\n' | sed -n 's/.*"run":"\([^"]*\)","name":"\([^"]*\)".*/\1\n\2/p' | sort -u
}

_cordon_layers() { cordon diff --list --json 2>/dev/null | tr '{' '\n' | sed -n 's/^"run":"\([^"]*\)".*/\1/p'; }

_cordon_stock() { cordon policy stock 2>/dev/null; }

_cordon_complete_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2"); }
_cordon_complete_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$1"); }
_cordon_complete_dirs() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$1"); }

# The argument of option $1; fails when it takes none.
_cordon_argument() {
        case $1 in
        --read | --edit | --write | --sock | --places | --answers | --record | --canary) _cordon_complete_files "$2" ;;
        --stage) _cordon_complete_words "live test mock" "$2" ;;
        --cwd | --work | --to) _cordon_complete_dirs "$2" ;;
        -p | --policy)
                _cordon_complete_files "$2"
                local stock
                mapfile -t stock < <(compgen -W "$(_cordon_stock)" -- "$2")
                COMPREPLY+=("${stock[@]}")
                ;;
        --use) _cordon_complete_words "$(_cordon_stock) none" "$2" ;;
        --run) mapfile -t COMPREPLY < <(compgen -c -W any -- "$2" | sort -u) ;;
        --env) mapfile -t COMPREPLY < <(compgen -v -- "$2") ;;
        --wall) _cordon_complete_words "auto process namespace wasm vm" "$2" ;;
        --limit) _cordon_complete_words "time cpu memory procs files disk output egress ingress effects rate" "$2" ;;
        --on) _cordon_complete_words "$(_cordon_layers)" "$2" ;;
        --color) _cordon_complete_words "auto always never" "$2" ;;
        --as-patch | --all-but | --theirs) _cordon_complete_files "$2" ;;
        --flagged) _cordon_complete_words "git-hook git-config git-inside vcs startup ci editor build package agent policy environment search-path link setid executable access mode" "$2" ;;
        --expect) _cordon_complete_words "allow deny" "$2" ;;
        --ledger) _cordon_complete_words "on off" "$2" ;;
        --observe) _cordon_complete_words "off calls denials all" "$2" ;;
        --handle)
                case $2 in
                *=*) _cordon_complete_files "${2#*=}" ;;
                *) COMPREPLY=() ;;
                esac
                ;;
        --box | --doc | --net | --in-from | --in | --out | --name | --status-fd | --passphrase-fd | --canary-share | --canary-bound | --runs | --time | --cpu | --memory | --procs | --files | --disk | --output | --egress | --ingress | --effects | --rate)
                COMPREPLY=()
                ;;
        *) return 1 ;;
        esac
}

_cordon() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
        local verb=${COMP_WORDS[1]} i
        local verbs="run run-script wrap doors check why learn tighten diagnose advise new policy vault ps stop inspect logs diff apply
                undo discard fork doctor bench breakout bombs claims cost walls log trace verify react report help version"
        local doors="--box --doc --use --read --edit --write --run --env --net --sock --listen --in --out --limit --wall --local --trace --expect
                --time --cpu --memory --procs --files --disk --output --egress --ingress --effects --rate -p --policy"
        local run="-t --tty -T --no-tty -i --interactive -v --verbose -n --no-stdin -d --detach --name --handle --arg-files --arg-dirs --cwd --work --keep --on --root --require-limit
                --require-ledger --ledger --in-from --observe --json --status-fd --stage --places --answers --record --passphrase-fd
                --canary --canary-share --canary-bound
                -q --quiet --plan"
        local bombs="cpu memory-heap memory-tmpfs memory-pagecache memory-memfd memory-segments
                pipes sockets fork threads descriptors inodes disk sparse-file
                output timers signals stopped-self daemon deep-directory huge-argv zip"
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
                _cordon_complete_words "$verbs --help --version" "$cur"
                return
        fi
        # Behind the command's own `--`, and behind its name, the command completes itself.
        case $verb in
        run)
                for ((i = 2; i < COMP_CWORD; i++)); do
                        if [ "${COMP_WORDS[i]}" = -- ]; then
                                if declare -F _command_offset >/dev/null; then
                                        _command_offset $((i + 1))
                                elif [ "$COMP_CWORD" -eq $((i + 1)) ]; then
                                        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
                                else
                                        _cordon_complete_files "$cur"
                                fi
                                return
                        fi
                done
                _cordon_argument "$prev" "$cur" && return
                case $cur in
                -*) _cordon_complete_words "$run $doors -- -h --help" "$cur" ;;
                *) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
                esac
                ;;
        wrap)
                case $prev in
                -o | --script) _cordon_complete_files "$cur"; return ;;
                esac
                _cordon_argument "$prev" "$cur" && return
                case $cur in
                -*) _cordon_complete_words "-o --script --dirs -q --quiet $doors -h --help" "$cur" ;;
                *) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
                esac
                ;;
        run-script)
                _cordon_argument "$prev" "$cur" && return
                case $cur in
                -*) _cordon_complete_words "$run $doors -h --help" "$cur" ;;
                *) _cordon_complete_files "$cur" ;;
                esac
                ;;
        breakout)
                case $prev in
                --only) return ;;
                esac
                _cordon_argument "$prev" "$cur" || _cordon_complete_words "--json --list --root --only $doors -h --help" "$cur"
                ;;
        cost)
                case $prev in
                -n | --rounds) return ;;
                esac
                _cordon_argument "$prev" "$cur" || _cordon_complete_words "-n --rounds --probes --json $doors -h --help" "$cur"
                ;;
        diff | apply | undo | discard | fork)
                _cordon_argument "$prev" "$cur" && return
                case $verb:$cur in
                diff:-*) _cordon_complete_words "--stat --name-only --json --theirs -v --verbose -l --list --color --no-pager -h --help" "$cur" ;;
                apply:-*) _cordon_complete_words "--include-flagged --flagged --all-but --to --ledger --json --as-patch -h --help" "$cur" ;;
                undo:-*) _cordon_complete_words "--json -h --help" "$cur" ;;
                discard:-*) _cordon_complete_words "--json -y --yes -h --help" "$cur" ;;
                *) _cordon_complete_words "$(_cordon_layers)" "$cur" ;;
                esac
                ;;
        bombs)
                [ "$prev" != --wall ] || { _cordon_argument --wall "$cur"; return; }
                case $cur in
                -*) _cordon_complete_words "--json --wall -h --help" "$cur" ;;
                *) _cordon_complete_words "$bombs" "$cur" ;;
                esac
                ;;
        doors | check | why | claims)
                _cordon_argument "$prev" "$cur" && return
                [ "$prev" != --against ] || return
                case $verb-$cur in
                check--*) _cordon_complete_words "--json --against --work --stage --places $doors -h --help" "$cur" ;;
                doors--*) _cordon_complete_words "-v --verbose --json --work --stage --places $doors -h --help" "$cur" ;;
                claims--*) _cordon_complete_words "--json $doors -h --help" "$cur" ;;
                *--*) _cordon_complete_words "--json --work --stage --places $doors -h --help" "$cur" ;;
                check-* | doors-*) _cordon_complete_files "$cur" ;;
                why-*) _cordon_complete_words "read write run net env sock" "$cur"; [ ${#COMPREPLY[@]} -gt 0 ] || _cordon_complete_files "$cur" ;;
                esac
                ;;
        vault)
                if [ "$COMP_CWORD" -eq 2 ]; then
                        _cordon_complete_words "add list rm rotate audit" "$cur"
                        return
                fi
                case $prev in
                --from-file | --key-file) _cordon_complete_files "$cur" ;;
                --from-env | --env) mapfile -t COMPREPLY < <(compgen -v -- "$cur") ;;
                --class) _cordon_complete_words "live test" "$cur" ;;
                --protect) _cordon_complete_words "file passphrase keyring" "$cur" ;;
                --box-file) _cordon_complete_words ".netrc .git-credentials .npmrc .config/gh/hosts.yml .cargo/credentials.toml .vault-token" "$cur" ;;
                --from-command | --form | --header | --query | --basic | --ttl | --max-uses | --for | --passphrase-fd) ;;
                *)
                        case $cur in
                        -*) _cordon_complete_words "--from-file --from-command --from-env --env --header --query --basic --body --class --ttl
                                --box-file --form --max-uses --for --protect --key-file --passphrase-fd --json -h --help" "$cur" ;;
                        *) _cordon_complete_words "$(cordon vault list 2>/dev/null | sed '1d; s/ .*//')" "$cur" ;;
                        esac
                        ;;
                esac
                ;;
        diagnose)
                case $prev in
                -p | --policy) _cordon_argument --policy "$cur"; return ;;
                --box | -n | --last | --since | --status) return ;;
                esac
                case $cur in
                -*) _cordon_complete_words "-p --policy --box -n --last --since --status --json -h --help" "$cur" ;;
                *) _cordon_argument --policy "$cur" ;;
                esac
                ;;
        learn | tighten)
                for ((i = 2; i < COMP_CWORD; i++)); do
                        if [ "${COMP_WORDS[i]}" = -- ]; then
                                if declare -F _command_offset >/dev/null; then
                                        _command_offset $((i + 1))
                                else
                                        _cordon_complete_files "$cur"
                                fi
                                return
                        fi
                done
                case $prev in
                -o | --output | -i | --input) _cordon_complete_files "$cur"; return ;;
                -p | --policy) _cordon_argument --policy "$cur"; return ;;
                -n | --runs | --status | -t | --seconds | --boxes | --net-to | --with) return ;;
                --net) _cordon_complete_words "deny mock ask" "$cur"; return ;;
                --stage) _cordon_complete_words "live test" "$cur"; return ;;
                --places | --answers) _cordon_complete_files "$cur"; return ;;
                esac
                _cordon_complete_words "-n --runs -o --output -i --input --status -t --seconds --boxes --net --net-to --stage
                        --places --answers --with --json -- -h --help $([ "$verb" = learn ] && echo --read || echo -p --policy --log)" "$cur"
                ;;
        advise) _cordon_complete_words "$(cordon advise 2>/dev/null) --json -h --help" "$cur" ;;
        new)
                case $prev in
                -o | --output) _cordon_complete_files "$cur"; return ;;
                esac
                _cordon_complete_words "-o --output -h --help" "$cur"
                ;;
        policy)
                if [ "${cur#-}" != "$cur" ]; then
                        _cordon_complete_words "--json -h --help" "$cur"
                elif [ "$COMP_CWORD" -eq 2 ]; then
                        _cordon_complete_words "diff json show digest stock" "$cur"
                elif [ "${COMP_WORDS[2]}" = stock ]; then
                        _cordon_complete_words "$(_cordon_stock)" "$cur"
                else
                        _cordon_argument --policy "$cur"
                fi
                ;;
        stop)
                case $prev in
                -t | --time) return ;;
                esac
                case $cur in
                -*) _cordon_complete_words "-k --kill -t --time -h --help" "$cur" ;;
                *) _cordon_complete_words "$(_cordon_boxes)" "$cur" ;;
                esac
                ;;
        inspect) _cordon_complete_words "$(_cordon_boxes) --json -h --help" "$cur" ;;
        logs)
                case $cur in
                -*) _cordon_complete_words "-f --follow -h --help" "$cur" ;;
                *) _cordon_complete_words "$(_cordon_boxes)" "$cur" ;;
                esac
                ;;
        ps | doctor) _cordon_complete_words "--json -h --help" "$cur" ;;
        bench | walls)
                case $prev in
                -n | --runs) return ;;
                esac
                _cordon_complete_words "-n --runs --json -h --help" "$cur"
                ;;
        log)
                case $prev in
                --kind) _cordon_complete_words "file exec net request credential handle output limit start end view reply key prune gap intent outcome denied human claim unknown" "$cur" ;;
                --format) _cordon_complete_words "jsonl otlp ocsf prometheus" "$cur" ;;
                --ledger) _cordon_complete_files "$cur" ;;
                --box | --run | --target | --since | --older | -n | --last | show | field | proof) ;;
                *)
                        case $cur in
                        -*) _cordon_complete_words "-f --follow --box --run --kind --target --since -n --last --json --ledger --format --older -h --help" "$cur" ;;
                        *) _cordon_complete_words "show field reached proof export prune checkpoint keys tiles rotate restart" "$cur" ;;
                        esac
                        ;;
                esac
                ;;
        trace)
                case $prev in
                --ledger) _cordon_complete_files "$cur" ;;
                *) _cordon_complete_words "-b --back -f --forward --json --ledger -h --help" "$cur" ;;
                esac
                ;;
        verify)
                case $prev in
                --proof | --key | --checkpoint) _cordon_complete_files "$cur" ;;
                *) _cordon_complete_words "--json --checkpoint --proof --key -h --help" "$cur" ;;
                esac
                ;;
        react) [ "$prev" = --from ] || _cordon_complete_words "--from -h --help" "$cur" ;;
        report)
                case $prev in
                --html | --postmortem | --ledger) _cordon_complete_files "$cur" ;;
                *) _cordon_complete_words "--html --postmortem --ledger -h --help" "$cur" ;;
                esac
                ;;
        help) _cordon_complete_words "$verbs" "$cur" ;;
        esac
}
complete -F _cordon cordon
