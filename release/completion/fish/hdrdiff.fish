# Completion of hdrdiff for fish.
function __complete_hdrdiff
    set -l words (commandline -opc)
    set -l candidates ($words[1] --complete fish $words[2..-1] "$(commandline -ct)" 2>/dev/null)
    if set -q candidates[1]
        printf '%s\n' $candidates
    else
        __fish_complete_path "$(commandline -ct)"
    end
end
complete -c hdrdiff -f -a '(__complete_hdrdiff)'
