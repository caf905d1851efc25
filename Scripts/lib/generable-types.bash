# shellcheck shell=bash
# Sourced by scripts that need many generable types.

# FOLDER COUNT PROPERTIES: writes files of ten types each, whose properties are nested, optional, arrays, enums and guided.
generable_types() {
    local folder=$1 count=$2 properties=$3 type place file
    for ((type = 0; type < count; type++)); do
        file=$folder/Types$((type / 10)).swift
        ((type % 10)) || {
            printf 'import SkeinSessions\n@Generable enum Mood%d { case calm, wild, shy }\n' $((type / 10))
            printf '@Generable enum Union%d { case none, text(String), pair(first: Int, second: [Double]?) }\n' $((type / 10))
            printf '@Generable struct Leaf%d { var a: String; var b: Int; var c: Double? }\n' $((type / 10))
        } >"$file"
        {
            printf '@Generable(description: "Type %d") struct Type%d {\n' "$type" "$type"
            for ((place = 0; place < properties; place++)); do
                case $(((type + place) % 11)) in
                0) printf '    @Guide(description: "The name") var name%d: String\n' "$place" ;;
                1) printf '    @Guide(description: "A count", .range(1...20)) var count%d: Int\n' "$place" ;;
                2) printf '    var note%d: String?\n' "$place" ;;
                3) printf '    @Guide(.minimumCount(1), .maximumCount(4)) var list%d: [String]\n' "$place" ;;
                4) printf '    var mood%d: Mood%d\n' "$place" $((type / 10)) ;;
                5) printf '    var leaf%d: Leaf%d\n' "$place" $((type / 10)) ;;
                6) printf '    @Guide(.minimum(0)) var share%d: Double\n' "$place" ;;
                7) printf '    var leaves%d: [Leaf%d]?\n' "$place" $((type / 10)) ;;
                8) printf '    @Guide(.anyOf(["a", "b"])) var choice%d: String\n' "$place" ;;
                9) printf '    var union%d: Union%d?\n' "$place" $((type / 10)) ;;
                *) printf '    @Guide(description: "Stars", .minimum(1), .maximum(5)) var stars%d: Int?\n' "$place" ;;
                esac
            done
            printf '}\n'
        } >>"$file"
    done
}
