/// Lists and near misses, as sentences need them.
package enum Words {
    /// `a, b or c`.
    package static func either(_ words: [String]) -> String {
        listed(words, " or ")
    }

    /// `a, b and c`.
    package static func all(_ words: [String]) -> String {
        listed(words, " and ")
    }

    private static func listed(_ words: [String], _ before: String) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + before + last
    }

    /// The candidate that `word` was most likely meant to be, or nil when none is near.
    ///
    /// Case and `_` against `-` do not count; a candidate that begins with the word, or a distance
    /// of a third of the word's length (at least 2, and 1 for words of up to four letters), is near.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let wanted = folded(word)
        let letters = wanted.count { $0 != "-" }
        let limit = letters > 4 ? max(2, wanted.count / 3) : 1
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            let name = folded(candidate)
            var distance = editDistance(wanted, name)
            if wanted.count >= 3, name.starts(with: wanted) { distance = min(distance, 1) }
            guard distance <= limit, distance < name.count else { continue }
            if let found = best, found.distance <= distance { continue }
            best = (distance, candidate)
        }
        return best?.candidate
    }

    private static func folded(_ word: String) -> [Character] {
        word.lowercased().map { $0 == "_" ? "-" : $0 }
    }

    /// Insertions, deletions, replacements and swaps of neighbours that turn `left` into `right`
    /// (optimal string alignment).
    package static func editDistance(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var previous = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var current = [i + 1]
            for (j, b) in right.enumerated() {
                var cost = min(previous[j] + (a == b ? 0 : 1), previous[j + 1] + 1, current[j] + 1)
                if i > 0, j > 0, a == right[j - 1], b == left[i - 1] {
                    cost = min(cost, before[j - 1] + 1)
                }
                current.append(cost)
            }
            before = previous
            previous = current
        }
        return previous[right.count]
    }
}
