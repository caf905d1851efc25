#compdef skein
# Completions of skein for zsh, made by: skein completions zsh
_skein() {
    local curcontext="$curcontext" command=${words[2]}
    if (( CURRENT == 2 )) || [[ $command == help && $CURRENT == 3 ]]; then
        local -a commands
        commands=(
            'odd:isn'\''t `this` $(nice): "quotes", [brackets] and a \\ backslash'
            'plain:is plain'
        )
        _describe -t commands 'command' commands
        (( CURRENT == 2 )) && _arguments '--help[list the commands]' '--version[print the version]'
        return
    fi
    shift words
    (( CURRENT -= 1 ))
    case $command in
    'odd')
        _arguments \
            '--model=[a file'\''s \[path\]; *?~ $HOME `id`]:FILE:_files' \
            '--rank=[a number: 1 \\ 4]:N: ' \
            '--shuffle=[on, or $(off)]:on|off:(on off)' \
            '--config=[JSON object with any of these options, or a run'\''s run.json; the command line overrides it]:FILE:_files' \
            '--print-config[print the options that would be used, as JSON, and exit]' \
            '--help[print this text; --help all: with every option]' \
            '1:WHAT\: [A]:(one two)'
        ;;
    'plain')
        _arguments \
            '--config=[JSON object with any of these options, or a run'\''s run.json; the command line overrides it]:FILE:_files' \
            '--print-config[print the options that would be used, as JSON, and exit]' \
            '--help[print this text; --help all: with every option]'
        ;;
    esac
}
# Read by compinit, this file is the function's body; read by source or eval, it is not.
if [[ $funcstack[1] == _skein ]]; then
    _skein "$@"
else
    compdef _skein skein
fi
