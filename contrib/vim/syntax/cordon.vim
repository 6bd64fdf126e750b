" SPDX-License-Identifier: MIT
" Door lines of cordon.policy(5). tests/cli/t1003-editors.sh holds the words against the program.
if exists("b:current_syntax")
  finish
endif
setlocal iskeyword+=-
setlocal commentstring=#\ %s

syntax match cordonComment "#.*$" contains=@Spell
syntax match cordonWord "^\s*\%(box\|root\|doc\|use\|read\|edit\|write\|run\|env\|net\|sock\|sign\|decrypt\|dev\|gpu\|listen\|tool\|in\|out\|stdout\|stderr\|limit\|wall\|local\|rule\|warm\|expect\)\>"
syntax match cordonAnswer "\%(^\s*expect\s\+\)\@<=\%(allow\|deny\)\>" nextgroup=cordonEffect skipwhite
syntax keyword cordonEffect read write run net env sock sign decrypt dev tool contained
syntax keyword cordonKeyword accepts any as ask cap declassify endorse except label max only reach touches until where with without
syntax match cordonLimit "\%(^\s*limit\s.*\)\@<=\<\%(time\|cpu\|memory\|procs\|files\|disk\|output\|egress\|ingress\|effects\|rate\|renew\)\>"
syntax match cordonWall "\%(^\s*wall\s\+\)\@<=\%(auto\|process\|namespace\|wasm\|vm\)\>"
syntax match cordonMethod "\<\%(COPY\|DELETE\|GET\|HEAD\|LOCK\|MKCOL\|MOVE\|OPTIONS\|PATCH\|POST\|PROPFIND\|PROPPATCH\|PUT\|REPORT\|SEARCH\|UNLOCK\|WEBSOCKET\)\>"
syntax match cordonRoot "{\%(work\|home\|tmp\)}"
syntax match cordonPlace "@[a-z0-9-]\+"
syntax match cordonNumber "\<[0-9]\+\%(ms\|[smhdKMGT]\|/h\)\?\>"
syntax region cordonString start=+"+ skip=+\\.+ end=+"+ oneline

highlight default link cordonComment Comment
highlight default link cordonWord Statement
highlight default link cordonAnswer Conditional
highlight default link cordonEffect Type
highlight default link cordonKeyword Keyword
highlight default link cordonLimit Identifier
highlight default link cordonWall Identifier
highlight default link cordonMethod Constant
highlight default link cordonRoot PreProc
highlight default link cordonPlace PreProc
highlight default link cordonNumber Number
highlight default link cordonString String
let b:current_syntax = "cordon"
