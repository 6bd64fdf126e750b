# Firejail profile
include disable-common.inc
include globals.local
noblacklist ${HOME}/.config/x
whitelist ${HOME}/Pictures
whitelist ${DOWNLOADS}
blacklist ${HOME}/Pictures/private
caps.drop all
private-bin eog,sh
rlimit-as 512M
timeout 00:10:00
env A=b c
