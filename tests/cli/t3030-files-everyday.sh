#!/bin/sh
# Files as people mean them: what programs need of /etc is in base/system, row by row with its reason, and no secret of
# the host is; git knows who commits.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
export CORDON_LEDGER=off
cd "$T" || exit 1
root() { "$@"; }
box() { $who "$CORDON" run -q "$@" </dev/null 2>&1; }

"$CORDON" policy stock base/system >stock
is "each row of /etc has a reason" "$(grep '^read /etc/' stock | grep -v ld.so.cache | grep -vc '# [A-Za-z]')" 0
rows=$(sed -n 's/#.*//; s/^read //p' stock | tr ' ?' '\n\n' | grep '^/etc/')

for who in root as_user; do
        missing=
        for row in $rows; do
                [ ! -e "$row" ] || box -- test -e "$row" || missing="$missing $row"
        done
        is "$who: what the host has of the rows is in a box" "$missing" ""
        for hidden in /etc/ssl/private /etc/shadow /etc/gshadow /etc/gitconfig /etc/ssh /etc/machine-id /etc/npmrc /etc/pip.conf \
                /etc/wgetrc /etc/environment /etc/maven/settings.xml /etc/hostname /etc/fstab; do
                is "$who: $hidden does not exist" "$(box -- sh -c "test -e $hidden || echo hidden")" hidden
        done
        is "$who: no file of /etc holds a private key" \
                "$(box -- sh -c 'echo BEGAN; grep -rlE "^-+BEGIN ([A-Z]+ )?PRIVATE KEY" /etc' 2>/dev/null)" BEGAN
        is "$who: nothing of it can be written" "$(box -- sh -c 'for f in /etc/*; do test -w $f && echo $f; done; echo END')" END
        has "$who: localhost has its addresses" "$(box -- cat /etc/hosts)" "127.0.0.1 localhost"
        hasnt "$who: the hosts file is not the host's" "$(box -- cat /etc/hosts)" "$(uname -n)"

        # --- git: name and mail come along, nothing else does ---
        H="$T/$who.home" && mkdir -p "$H/repo" "$H/plain" && chmod 755 "$H"
        printf '[user]\n\tname = Ann "the" Author\n\temail = ann@example.org\n\tsigningkey = SECRETKEY\n[credential]\n\thelper = store\n[http]\n\textraheader = TOKEN\n' >"$H/.gitconfig"
        [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -R 65533:65533 "$H"
        of() { $who env HOME="$H" XDG_CONFIG_HOME= "$CORDON" run -q "$@" </dev/null 2>&1; }
        (cd "$H/repo" && $who env HOME="$H" git init -q -b main . && echo x | $who tee f >/dev/null)
        is "$who: a commit in a box has the caller's name" \
                "$(cd "$H/repo" && of --write . -- sh -c 'git add f && git commit -qm one && git log -1 --format="%an %ae"')" 'Ann the Author ann@example.org'
        hasnt "$who: and the box sees no other setting" "$(cd "$H/repo" && of --read . -- sh -c 'cat ~/.gitconfig; git config --list')" TOKEN
        hasnt "$who: no key either" "$(cd "$H/repo" && of --read . -- git config --list)" SECRETKEY
        is "$who: what the repository says counts" \
                "$(cd "$H/repo" && $who env HOME="$H" git config user.email other@example.org && of --read . -- git config user.email)" other@example.org
        is "$who: a box can set its own, which is gone with it" \
                "$(cd "$H/repo" && of --read . -- sh -c 'git config --global user.name Else && git config user.name')" Else
        is "$who: a box that sees no repository has no name" "$(cd "$H/plain" && of --read . -- sh -c 'test -e ~/.gitconfig || echo none')" none
        rm "$H/.gitconfig" && ln -s /dev/zero "$H/.gitconfig"
        is "$who: a settings file that is no file is not read" "$(cd "$H/repo" && of --read . -- git config user.name)" ""
        rm "$H/.gitconfig" && $who mkfifo "$H/.gitconfig"
        is "$who: nor is a FIFO waited for" "$(cd "$H/repo" && of --read . -- git config user.name)" ""
        rm "$H/.gitconfig"
        if [ "$(id -u)" -eq 0 ]; then
                chown -R 65532:65532 "$H/repo" && chmod -R a+rX "$H/repo"
                is "$who: a repository of another owner is read" "$(cd "$H/repo" && of --read . -- git log -1 --format=%s)" one
        fi

        # --- targets that do not exist yet ---
        W="$T/$who.new" && mkdir "$W" && chmod 777 "$W" && cd "$W" || exit 1
        for wall in namespace process; do
                # Behind the process wall a box of root has an id that owns nothing, and what root makes is not its own.
                [ "$who $wall" != "root process" ] || [ "$(id -u)" -ne 0 ] || continue
                is "$who $wall: --write NAME makes the file" "$(box --wall $wall --write new -- sh -c 'echo x >new'; cat new)" x
                is "$who $wall: it is the caller's" "$(stat -c %u new)" "$($who id -u)"
                is "$who $wall: --write NAME/ makes a directory" "$(box --wall $wall --write out/ -- sh -c 'echo y >out/f'; cat out/f)" y
                rm -rf new out
                is "$who $wall: what the box leaves as it was made goes away" "$(box --wall $wall --write new --write out/ -- sh -c 'ls -d new out'; ls -A)" "new
out"
                is "$who $wall: also when the command fails" "$(box --wall $wall --write new -- false; ls -A)" ""
                is "$who $wall: also when the box does not start" "$(box --wall $wall --write new --read "$W/nothing" -- true >/dev/null; ls -A)" ""
                is "$who $wall: also when the command does not exist" "$(box --wall $wall --write new -- no-such-command >/dev/null; ls -A)" ""
                is "$who $wall: an empty file that the box touched stays" "$(box --wall $wall --write new -- sh -c ': >new'; ls -A)" new
                rm -f new
        done
        is "$who: with the directory open to read" "$(box --read . --write new -- sh -c 'echo z >new'; cat new)" z
        rm -f new
        printf 'use base/system\nwrite %s/a %s/b/\n' "$W" "$W" >"$T/new.policy"
        is "$who: by lines of a file" "$(box -p "$T/new.policy" -- sh -c "echo a >$W/a; echo b >$W/b/c"; cat a b/c)" "a
b"
        rm -rf a b
        is "$who: a plan makes nothing" "$(box --plan --write new -- true >/dev/null; ls -A)" ""
        hasnt "$who: check agrees" "$($who "$CORDON" check -p "$T/new.policy" 2>&1)" "does not start"
        is "$who: check makes nothing" "$($who "$CORDON" check --write new >/dev/null 2>&1; ls -A)" ""
        is "$who: nothing is made for ?" "$(box --write 'new?' -- true; ls -A)" ""
        ln -s "$T/elsewhere" dangling
        is "$who: nor where a link leads nowhere" "$(box --write dangling -- true >/dev/null; echo $?)" 125
        is "$who: nor behind it" "$(ls "$T/elsewhere" 2>/dev/null)" ""
        rm dangling
        has "$who: a parent that does not exist is told" "$(box --write no/new -- true)" "its directory does not exist"
        is "$who: an edit door of a new file" "$(HOME=$T/$who.home; box --edit new -- sh -c 'echo e >new; cat new')" e
        is "$who: reaches the host when it is applied" "$($who "$CORDON" apply >/dev/null 2>&1 || $who "$CORDON" apply; cat new)" e
        rm -f new
        is "$who: an edit door of a new directory that was not used goes away" "$(box --edit d/ -- true; ls -A)" ""
        cd "$T" || exit 1

        # --- a command that only the caller's PATH has ---
        P="$T/$who.path" && mkdir -p "$P/.local/bin" "$P/.local/lib" "$P/.local/share/keyrings" "$P/.nvm/v/1/bin" "$P/.nvm/v/1/lib" "$P/.ssh/bin" \
                "$P/venv/bin" "$P/proj/bin" "$P/proj/lib" "$P/bin" "$T/opt/$who/bin" "$T/opt/$who/lib" "$T/opt/$who/conf"
        : >"$P/venv/pyvenv.cfg" && echo SECRET >"$P/proj/.env" && echo SECRET >"$P/secret" && echo SECRET >"$P/.local/share/keyrings/k"
        for at in .local/bin/t-local .nvm/v/1/bin/t-nvm .ssh/bin/t-ssh venv/bin/t-venv proj/bin/t-proj bin/t-home "../opt/$who/bin/t-opt"; do
                printf '#!/bin/sh\necho BEGAN\nfind %s %s/opt 2>/dev/null\ncat %s/secret %s/proj/.env\necho "$PATH"\n' "$P" "$T" "$P" "$P" >"$P/$at" && chmod 755 "$P/$at"
        done
        ln -s ../../.nvm/v/1/bin/t-nvm "$P/.local/bin/t-link" && ln -s ../../.ssh/bin/t-ssh "$P/.local/bin/t-to-ssh"
        chmod -R a+rX "$P" "$T/opt"
        on_path() { $who env HOME="$P" PATH="$P/.local/bin:$P/.nvm/v/1/bin:$P/.ssh/bin:$P/venv/bin:$P/proj/bin:$P/bin:$T/opt/$who/bin:.:$PATH" "$CORDON" run "$@" </dev/null 2>&1; }
        for wall in namespace process; do
                for tool in local nvm venv proj home opt link; do
                        out=$(on_path --wall $wall -- "t-$tool")
                        never "$who $wall: t-$tool runs, and sees nothing of the home" "$out" SECRET
                        has "$who $wall: what is shown for t-$tool is told" "$out" "because your PATH finds the command there"
                done
                is "$who $wall: nothing is found where keys lie" "$(on_path --wall $wall -q -- t-ssh >/dev/null; echo $?)" 127
                is "$who $wall: nor by a link to there" "$(on_path --wall $wall -q -- t-to-ssh >/dev/null; echo $?)" 127
        done
        hasnt "$who: beside ~/.local/bin only its libraries are seen" "$(on_path -- t-local)" keyrings
        has "$who: an installation is seen whole" "$(on_path -- t-opt)" "$T/opt/$who/conf"
        has "$who: an environment of Python too" "$(on_path -- t-venv)" "$P/venv/pyvenv.cfg"
        has "$who: its directory comes first in the box's PATH" "$(on_path -- t-nvm)" "
$P/.nvm/v/1/bin:/usr/local/sbin:"
        is "$who: a PATH that was set stays" "$(on_path -q --env PATH=/bin -- t-nvm | tail -n 1)" /bin
        is "$who: what a box runs widens nothing" "$(on_path -q -- sh -c 'eval "$0" || echo none' t-local | tail -n 1)" none
        has "$who: a command in the text of a shell is found" "$(on_path -q -- sh -c 'true && A=1 t-local')" BEGAN
        has "$who: and one in another directory" "$(on_path -q -- bash -c 'if t-local; then t-nvm; fi | grep -c BEGAN')" 2
        has "$who: and what env or timeout starts" "$(on_path -q -- timeout 20 t-local)" BEGAN
        is "$who: no word that stands elsewhere in it is" "$(on_path -- sh -c 'echo t-local "; t-nvm"')" "t-local ; t-nvm"
        mkdir -p "$P/rust/bin" "$P/.rustup/toolchains/x" "$P/elsewhere/bin" && echo KEPT >"$P/.rustup/settings.toml" && echo SECRET >"$P/.rustup/other"
        printf '#!/bin/sh\necho "$RUSTUP_HOME"; cat "$RUSTUP_HOME/settings.toml" "$RUSTUP_HOME/other"\n' >"$P/rust/bin/rustup" && ln -s rustup "$P/rust/bin/t-rustc"
        cp "$P/rust/bin/rustup" "$P/elsewhere/bin/t-off" && chmod -R a+rX "$P" && chmod 755 "$P/rust/bin/rustup" "$P/elsewhere/bin/t-off"
        out=$($who env HOME="$P" PATH="$P/rust/bin:$PATH" "$CORDON" run -q -- t-rustc 2>/dev/null </dev/null)
        is "$who: what rustup starts is found by its variable" "$(printf '%s\n' "$out" | head -n 2)" "$P/.rustup
KEPT"
        hasnt "$who: and nothing else of it is seen" "$out" SECRET
        mkdir -p "$P/proj/v/bin" && ln -s "$P/.nvm/v/1/bin/t-nvm" "$P/proj/v/bin/nvm" && ln -s "$P/elsewhere/bin/t-off" "$P/proj/v/bin/off" && chmod -R a+rX "$P/proj"
        has "$who: a link to what the PATH has runs" "$(cd "$P/proj/v" && on_path --read . -- bin/nvm)" BEGAN
        hasnt "$who: a link to something else opens nothing beside it" "$(cd "$P/proj/v" && on_path --read . -- bin/off)" "shown read-only"
        printf 'use base/system\n' >"$T/system.policy"
        is "$who: nor does a command where a policy file has the doors" "$(on_path -q -p "$T/system.policy" -- t-local >/dev/null; echo $?)" 127
        has "$who: a command of the system is the system's" "$(cp "$P/bin/t-home" "$P/bin/true"; on_path -- sh -c 'command -v true')" true
done
done_testing
