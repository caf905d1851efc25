# Completions of skein for bash, made by: skein completions bash
_skein() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev= word i
    local options=() words=() positional=() files= positional_files=
    COMPREPLY=()
    ((COMP_CWORD > 1)) && prev=${COMP_WORDS[COMP_CWORD - 1]}
    # Bash splits --name=value at the sign.
    if [[ $cur == '=' ]]; then
        cur=
    elif [[ $prev == '=' ]] && ((COMP_CWORD > 2)); then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        words=('odd' 'plain' '--help' '--version')
    else
        case ${COMP_WORDS[1]} in
        'help') ((COMP_CWORD == 2)) && words=('odd' 'plain') ;;
        'odd')
            options=('--model' '--rank' '--shuffle' '--config' '--print-config' '--help')
            positional=('one' 'two')
            case $prev in
            '--shuffle') words=('on' 'off') ;;
            '--model' | '--config') files=any ;;
            '--rank') files=none ;;
            esac
            ;;
        'plain')
            options=('--config' '--print-config' '--help')
            case $prev in
            '--config') files=any ;;
            esac
            ;;
        *) return 0 ;;
        esac
        # After a lone -- there are no options.
        for ((i = 2; i < COMP_CWORD; i++)); do
            if [[ ${COMP_WORDS[i]} == '--' ]]; then
                options=() words=() files= cur=${COMP_WORDS[COMP_CWORD]} prev=
            fi
        done
        if [[ $files == none ]]; then
            return 0
        elif [[ -z $files ]] && ((${#words[@]} == 0)); then
            if [[ $cur == -* ]]; then
                words=("${options[@]}")
            else
                words=("${positional[@]}") files=$positional_files
            fi
        fi
    fi
    if [[ $files == any ]]; then
        compopt -o default 2>/dev/null || :
        return 0
    fi
    for word in "${words[@]}"; do
        if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
    done
}
complete -F _skein skein
