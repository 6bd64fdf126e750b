" SPDX-License-Identifier: MIT
autocmd BufNewFile,BufRead *.cordon,*.policy setfiletype cordon
