#!/bin/sh
exec bwrap --ro-bind /usr /usr --symlink usr/lib /lib --bind "$HOME/my dir" /home/x \
  --ro-bind-try /etc/ssl /etc/ssl --unshare-all --share-net --setenv A "b c" --die-with-parent -- sh -c 'echo; x'
