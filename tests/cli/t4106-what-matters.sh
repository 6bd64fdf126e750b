#!/bin/sh
# The end of a run: what was worst comes first, whether the run failed or not; a start file, a hook or a shell's profile is never
# proposed; an agent that looks for its settings above the project raises no alarm.
. "$(dirname "$0")/lib.sh"
if [ ! -w /dev/fuse ]; then
        skip "reports of denied paths" "/dev/fuse cannot be opened"
        done_testing
fi
watched
elsewhere cordon-matters
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
H=$D/h
mkdir -p "$H/p" "$H/.ssh" "$H/.claude" "$H/.git/hooks" "$H/.config/autostart" "$H/.config/systemd/user" "$H/.config/fish" "$H/.husky"
echo KEY >"$H/.ssh/id_rsa"
echo '{}' >"$H/.claude/settings.json"
echo KEY >"$H/.claude/.credentials.json"
echo plain >"$H/plain"
cd "$H/p" || exit 1
echo inside >file
run() { HOME=$H "$CORDON" run "$@" 2>&1 </dev/null; }

# --- no hint for what the host runs by itself: each place x write and read x each way a hint leaves ---
cat >"$T/places" <<'END'
.bashrc
.bash_profile
.bash_login
.bash_logout
.bash_aliases
.profile
.zshrc
.zshenv
.zprofile
.kshrc
.cshrc
.xprofile
.xsession
.pam_environment
.git/hooks/pre-commit
.config/autostart/x.desktop
.config/systemd/user/x.service
.config/fish/config.fish
.husky/pre-push
END
bad=''
while read -r place <&3; do
        echo there >"$H/$place"
        said=$(run -- sh -c "echo BEGAN; echo x >>'$H/$place'; cat '$H/$place'; exit 1")
        case $said in *BEGAN*) ;; *) bad="$bad [did not begin: $place]" ;; esac
        case $said in *hint:*) bad="$bad [hint: $place]" ;; esac
        case $said in *"$place"*) ;; *) bad="$bad [not reported: $place]" ;; esac
        said=$(HOME=$H "$CORDON" run --status-fd 3 -- sh -c "echo x >>'$H/$place'" 3>&1 >/dev/null 2>&1 </dev/null | jq -r '.denials[] | select(.code == "write") | .reason + (.permit // "")')
        [ "$said" = start-file ] || bad="$bad [$said: $place]"
        HOME=$H "$CORDON" learn -- sh -c "echo x >>'$H/$place' || true" 2>&1 </dev/null | grep -E "^(write|edit) .*$place" && bad="$bad [learned: $place]"
        rm -f "$H/$place"
done 3<"$T/places"
is "no start file, hook or profile is proposed" "$bad" ""
is "another file is" "$(run -- sh -c "echo x >>'$H/plain'; exit 1" | grep -c "^hint: --edit $H/plain")" 1
is "settings that name programs are not proposed for writing" "$(echo >"$H/.gitconfig"; run -- sh -c "echo x >>'$H/.gitconfig'; exit 1" | grep -c ^hint:)" 0
is "but for reading" "$(run -- sh -c "cat '$H/.gitconfig'; exit 1" | grep -c "^hint: --read $H/.gitconfig")" 1

# --- the order: keys, hosts, start files, the rest ---
echo x >"$H/.profile"
all="cat '$H/plain'; echo x >>'$H/plain'; echo x >>'$H/.profile'; curl -s --max-time 5 http://h.example/; cat '$H/.ssh/id_rsa'"
first() { grep '^cordon: blocked' | sed 's/^cordon: blocked: //; s/ by .*//' | head -n "$1" | sed "s,$H/,,; s/:[0-9]*$//" | tr '\n' ';'; }
is "of a run that went well one line, of the worst" "$(run -- sh -c "$all; true" | first 9)" "read .ssh/id_rsa;"
if command -v curl >/dev/null; then
        is "the next are named, the rest counted" "$(run -- sh -c "$all; true" | sed -n 's/.*; also \(.*\); more:.*/\1/p' | sed "s,$H/,,g; s/:[0-9]*,/,/")" "connect to h.example, write .profile"
        is "of one that failed the same order" "$(run -- sh -c "$all; false" | first 3)" "read .ssh/id_rsa;connect to h.example;write .profile;"
fi
is "one that only wrote a profile says it" "$(run -- sh -c "echo x >>'$H/.profile'; true" | first 9)" "write .profile;"
is "what is harmless is not said when all went well" "$(run -- sh -c "cat '$H/plain'; true" | first 9)" ""

# --- an honest agent looks for its settings in each directory above ---
is "settings above the project are no alarm" "$(run --edit . -- sh -c "ls -d '$H/.claude' '$H/.claude/settings.json' '$H/.claude/CLAUDE.md'; true" | first 9)" ""
is "the login there is one" "$(run --edit . -- sh -c "cat '$H/.claude/.credentials.json'; true" | first 9)" "read .claude/.credentials.json;"
is "all of it is in the result" "$(HOME=$H "$CORDON" run --edit . --status-fd 3 -- sh -c "ls '$H/.claude'; true" 3>&1 >/dev/null 2>&1 </dev/null | jq -r '.denials[].path' | grep -c '/\.claude$')" 1

# --- notes before a run ---
mkdir "$T/bin" && printf '#!/bin/sh\necho agent\n' >"$T/bin/claude" && chmod 755 "$T/bin/claude"
has "an agent in a plain run: its own verb is named" "$(PATH="$T/bin:$PATH" run -- claude)" "cordon agent claude"
hasnt "not if it has a net door" "$(PATH="$T/bin:$PATH" run --net api.test:443 -- claude)" "cordon agent claude"
hasnt "nor for another program" "$(run -- true)" "cordon agent"
is "variables that look like keys: the vault is named once" "$(A_KEY=1 B_TOKEN=2 run --env A_KEY --env B_TOKEN -- true | grep -c 'cordon vault add')" 1
hasnt "not for another variable" "$(COLOUR=1 run --env COLOUR -- true)" vault
done_testing
