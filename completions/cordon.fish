# SPDX-License-Identifier: MIT
# cordon.fish - completion for cordon(1). tests/checks/docs.sh holds it against `cordon help`.

function __cordon_boxes
    cordon ps --json 2>/dev/null | tr '{' '\n' | sed -n 's/.*"run":"\([^"]*\)","name":"\([^"]*\)".*/\1\n\2/p'
end

function __cordon_verb # is one of these the verb?
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __cordon_no_verb
    test (count (commandline -opc)) -lt 2
end

complete -c cordon -f
complete -c cordon -n __cordon_no_verb -s h -l help -d 'The verbs'
complete -c cordon -n __cordon_no_verb -s V -l version -d 'The version'
complete -c cordon -n __cordon_no_verb -a run -d 'Run a command in a box'
complete -c cordon -n __cordon_no_verb -a run-script -d 'Run one script'
complete -c cordon -n __cordon_no_verb -a doors -d 'Every door in words, and the worst case'
complete -c cordon -n __cordon_no_verb -a check -d 'Load policies, show lints'
complete -c cordon -n __cordon_no_verb -a why -d 'Is this effect allowed?'
complete -c cordon -n __cordon_no_verb -a learn -d 'Propose the least doors of a command'
complete -c cordon -n __cordon_no_verb -a tighten -d 'Close the doors that a command does not need'
complete -c cordon -n __cordon_no_verb -a advise -d 'The least doors for a stock task'
complete -c cordon -n __cordon_no_verb -a new -d 'Write a policy without a door'
complete -c cordon -n __cordon_no_verb -a policy -d 'Compare, convert and print policies'
complete -c cordon -n __cordon_no_verb -a ps -d 'Boxes that are running'
complete -c cordon -n __cordon_no_verb -a stop -d 'End boxes'
complete -c cordon -n __cordon_no_verb -a inspect -d 'One running box as JSON'
complete -c cordon -n __cordon_no_verb -a logs -d 'Output of a detached box'
complete -c cordon -n __cordon_no_verb -a doctor -d 'What this host can enforce'
complete -c cordon -n __cordon_no_verb -a bench -d 'What a start costs'
complete -c cordon -n __cordon_no_verb -a breakout -d 'Attack a box of yours from inside'
complete -c cordon -n __cordon_no_verb -a bombs -d 'Use up each thing in a box of its own'
complete -c cordon -n __cordon_no_verb -a claims -d 'What holds here, and what is left'
complete -c cordon -n __cordon_no_verb -a cost -d 'What each layer costs, and what it alone stops'
complete -c cordon -n __cordon_no_verb -a help -d 'The verbs, or the options of one'
complete -c cordon -n __cordon_no_verb -a version -d 'Print the version'

set -l run '__cordon_verb run run-script'
complete -c cordon -n $run -s t -l tty -d 'A terminal of its own'
complete -c cordon -n $run -s n -l no-stdin -d 'Empty input'
complete -c cordon -n $run -s d -l detach -d 'Run in the background'
complete -c cordon -n $run -l name -x -d 'A name for ps, stop and logs'
complete -c cordon -n $run -l handle -r -d 'NAME=FILE behind a handle'
complete -c cordon -n $run -l cwd -x -a '(__fish_complete_directories)' -d 'Start there, as the box sees it'
complete -c cordon -n $run -l work -x -a '(__fish_complete_directories)' -d 'What {work} means'
complete -c cordon -n $run -l root -d 'Uid 0 inside'
complete -c cordon -n $run -l observe -x -a 'off calls denials all' -d 'What is told of refusals'
complete -c cordon -n $run -l require-limit -d 'Only where control groups keep the limits'
complete -c cordon -n $run -l json -d 'The result as JSON on standard error'
complete -c cordon -n $run -l status-fd -x -d 'The result as JSON to a descriptor'
complete -c cordon -n $run -s q -l quiet -d 'Say nothing at the end'
complete -c cordon -n $run -l plan -d 'Print what would be done'
complete -c cordon -n '__cordon_verb run' -a '(__fish_complete_subcommand)'
complete -c cordon -n '__cordon_verb run-script check' -F

set -l doors '__cordon_verb run run-script doors check why breakout claims cost'
complete -c cordon -n $doors -l box -x -d 'Name of the box'
complete -c cordon -n $doors -l doc -x -d 'One sentence for people'
complete -c cordon -n $doors -l use -x -a '(cordon policy stock 2>/dev/null) none' -d 'All doors of a policy'
complete -c cordon -n $doors -l read -r -F -d 'Visible, read-only'
complete -c cordon -n $doors -l edit -r -F -d 'Writable in a private layer (not built yet)'
complete -c cordon -n $doors -l write -r -F -d 'Writable for real, at once'
complete -c cordon -n $doors -l run -x -a '(__fish_complete_command) any' -d 'Programs that may start'
complete -c cordon -n $doors -l env -x -a '(set -xn)' -d 'Pass or set a variable'
complete -c cordon -n $doors -l net -x -d 'A destination (not built yet)'
complete -c cordon -n $doors -l sock -r -F -d 'One Unix socket of the host'
complete -c cordon -n $doors -l in -x -d 'A handle to read'
complete -c cordon -n $doors -l out -x -d 'A handle to write'
complete -c cordon -n $doors -l limit -x -a 'time cpu memory procs files disk output egress effects' -d 'A budget'
complete -c cordon -n $doors -l wall -x -a 'auto process namespace wasm vm' -d 'The least wall'
complete -c cordon -n $doors -l expect -x -a 'allow deny' -d 'A test of the policy'
complete -c cordon -n $doors -l time -x -d 'Wall clock'
complete -c cordon -n $doors -l cpu -x -d 'Processor time'
complete -c cordon -n $doors -l memory -x -d 'Memory'
complete -c cordon -n $doors -l procs -x -d 'Processes and threads'
complete -c cordon -n $doors -l files -x -d 'Open descriptors'
complete -c cordon -n $doors -l disk -x -d 'Private files'
complete -c cordon -n $doors -l output -x -d 'Output'
complete -c cordon -n $doors -l egress -x -d 'Bytes sent (not built yet)'
complete -c cordon -n $doors -l effects -x -d 'Effects (not built yet)'
complete -c cordon -n $doors -s p -l policy -r -F -a '(cordon policy stock 2>/dev/null)' -d 'Door lines from a file, or a stock policy'

complete -c cordon -n '__cordon_verb doors check why ps doctor bench breakout bombs claims cost' -l json -d 'For programs'
complete -c cordon -n '__cordon_verb learn tighten advise' -l json -d 'For programs'
complete -c cordon -n '__cordon_verb learn tighten' -s n -l runs -x -d 'How often'
complete -c cordon -n '__cordon_verb learn tighten new' -s o -l output -r -F -d 'Write the policy there'
complete -c cordon -n '__cordon_verb learn tighten' -s i -l input -r -F -d 'Its standard input'
complete -c cordon -n '__cordon_verb learn tighten' -l status -x -d 'What counts as passed'
complete -c cordon -n '__cordon_verb learn tighten' -s t -l seconds -x -d 'Each run at most'
complete -c cordon -n '__cordon_verb learn tighten' -l boxes -x -d 'Runs in all at most'
complete -c cordon -n '__cordon_verb tighten' -s p -l policy -r -F -d 'The policy'
complete -c cordon -n '__cordon_verb learn tighten' -a '(__fish_complete_subcommand)'
complete -c cordon -n '__cordon_verb advise' -a '(cordon advise 2>/dev/null)'
complete -c cordon -n '__cordon_verb why' -a 'read write run net env sock' -F
complete -c cordon -n '__cordon_verb policy' -a 'diff json show digest stock' -F
complete -c cordon -n '__cordon_verb policy' -a '(cordon policy stock 2>/dev/null)'
complete -c cordon -n '__cordon_verb stop inspect logs' -a '(__cordon_boxes)'
complete -c cordon -n '__cordon_verb stop' -s k -l kill -d 'At once'
complete -c cordon -n '__cordon_verb stop' -s t -l time -x -d 'How long to wait'
complete -c cordon -n '__cordon_verb bench' -s n -l runs -x -d 'Runs of each'
complete -c cordon -n '__cordon_verb cost' -s n -l rounds -x -d 'How often each layer is raised'
complete -c cordon -n '__cordon_verb cost' -l probes -d 'Name what each layer alone stops'
complete -c cordon -n '__cordon_verb breakout' -l list -d 'The attempts; runs nothing'
complete -c cordon -n '__cordon_verb breakout' -l root -d 'Attack as uid 0 inside'
complete -c cordon -n '__cordon_verb breakout' -l only -x -d 'One attempt'
complete -c cordon -n '__cordon_verb bombs' -a 'cpu memory-heap memory-tmpfs memory-pagecache memory-memfd memory-segments pipes sockets fork threads descriptors inodes disk sparse-file output timers signals stopped-self daemon deep-directory huge-argv zip'
complete -c cordon -n '__cordon_verb help' -a 'run run-script doors check why learn tighten advise new policy ps stop inspect logs doctor bench breakout bombs claims cost help version'
complete -c cordon -n 'not __cordon_no_verb' -s h -l help -d 'Tell more'
