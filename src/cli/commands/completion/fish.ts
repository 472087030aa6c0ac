/** For fish, which quotes what it proposes. */
export const fishScript = `# fish completion for petstock
function __petstock_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command petstock __complete fish ":$current" $words[2..-1] 2>/dev/null)
    set -l head (string split \\t -- $lines[1])
    if test "$head[1]" = files
        set -l typed (string sub -s (math (string length -- "$head[2]") + 1) -- "$current")
        set -l found (complete -C "__fish_command_without_completions $typed")
        set -l wanted
        for ending in (string split ' ' -- "$head[3]")
            test -n "$ending"; and set -a wanted (string match -ie -- "*$ending" $found)
        end
        test -n "$wanted"; and set found $wanted (string match -- '*/' $found)
        for file in $found
            printf '%s%s\\n' "$head[2]" $file
        end
    end
    test (count $lines) -gt 1; and printf '%s\\n' $lines[2..-1]
end
complete -c petstock -k -f -a '(__petstock_complete)'
`;
