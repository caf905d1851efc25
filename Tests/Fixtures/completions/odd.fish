# Completions of skein for fish, made by: skein completions fish
# Whether the command is to be written next.
function __skein_begins
    test (count (commandline -opc)) -eq 1
end
# Whether the command is the given one; its name may also be the value of an option.
function __skein_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end
complete -c skein -f
complete -c skein -n __skein_begins -l help -d 'list the commands'
complete -c skein -n __skein_begins -l version -d 'print the version'
complete -c skein -n __skein_begins -a 'odd' -d 'isn\'t `this` $(nice): "quotes", [brackets] and a \\ backslash'
complete -c skein -n '__skein_is help' -a 'odd' -d 'isn\'t `this` $(nice): "quotes", [brackets] and a \\ backslash'
complete -c skein -n '__skein_is odd' -a '\'one\' \'two\''
complete -c skein -n '__skein_is odd' -l 'model' -r -F -d 'a file\'s [path]; *?~ $HOME `id`'
complete -c skein -n '__skein_is odd' -l 'rank' -x -d 'a number: 1 \\ 4'
complete -c skein -n '__skein_is odd' -l 'shuffle' -x -a '\'on\' \'off\'' -d 'on, or $(off)'
complete -c skein -n '__skein_is odd' -l 'config' -r -F -d 'JSON object with any of these options, or a run\'s run.json; the command line overrides it'
complete -c skein -n '__skein_is odd' -l 'print-config' -d 'print the options that would be used, as JSON, and exit'
complete -c skein -n '__skein_is odd' -l 'help' -d 'print this text; --help all: with every option'
complete -c skein -n __skein_begins -a 'plain' -d 'is plain'
complete -c skein -n '__skein_is help' -a 'plain' -d 'is plain'
complete -c skein -n '__skein_is plain' -l 'config' -r -F -d 'JSON object with any of these options, or a run\'s run.json; the command line overrides it'
complete -c skein -n '__skein_is plain' -l 'print-config' -d 'print the options that would be used, as JSON, and exit'
complete -c skein -n '__skein_is plain' -l 'help' -d 'print this text; --help all: with every option'
