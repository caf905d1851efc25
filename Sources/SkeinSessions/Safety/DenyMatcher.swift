/// The terms of a deny list as a tree of words; never changed, so that any number of texts may be
/// looked at with it at the same time.
final class DenyTable: Sendable {
    /// The most terms: some 200 bytes each.
    static let termCount = 1 << 17
    /// The most characters of a term. Phrases are followed word by word from each place, so the
    /// work for a word of a text is at most that of as many words as a phrase has.
    static let termLength = 256

    private struct Step: Hashable {
        var node: Int
        var word: Int
    }

    private let words: [String: Int]
    private let steps: [Step: Int]
    private let ends: [Int: String]

    /// No terms.
    init() {
        words = [:]
        steps = [:]
        ends = [:]
    }

    /// - Throws: `DenyListError`.
    init(_ terms: some Sequence<String>) throws(DenyListError) {
        var words: [String: Int] = [:]
        var steps: [Step: Int] = [:]
        var ends: [Int: String] = [:]
        var nodes = 1
        var count = 0
        for term in terms {
            count += 1
            guard count <= Self.termCount else { throw .tooMany(limit: Self.termCount) }
            var node = 0
            for word in try Self.words(of: term) {
                let step = Step(node: node, word: words.index(of: word))
                if let next = steps[step] {
                    node = next
                } else {
                    steps[step] = nodes
                    node = nodes
                    nodes += 1
                }
            }
            if ends[node] == nil { ends[node] = term }
        }
        self.words = words
        self.steps = steps
        self.ends = ends
    }

    private static func words(of term: String) throws(DenyListError) -> [String] {
        let length = term.unicodeScalars.count
        guard length <= termLength else {
            throw .longTerm(term: term, characters: length, limit: termLength)
        }
        var splitter = WordSplitter()
        var words: [String] = []
        // What folds to nothing stands for nothing.
        let collect: (String?) -> Void = { if let word = $0, !word.isEmpty { words.append(word) } }
        splitter.add(term, collect)
        splitter.end(collect)
        guard !words.isEmpty else { throw .noWord(term: term) }
        return words
    }

    var isEmpty: Bool { steps.isEmpty }

    /// Follows all terms that have begun by one more word.
    ///
    /// - Parameters:
    ///   - word: nil: one that no term has.
    ///   - places: the nodes of the terms that have begun.
    /// - Returns: a term that ends with the word.
    func follow(_ word: String?, from places: inout [Int]) -> String? {
        guard let word, let index = words[word] else {
            places.removeAll(keepingCapacity: true)
            return nil
        }
        var found: String?
        var next: [Int] = []
        for place in places + [0] {
            guard let node = steps[Step(node: place, word: index)] else { continue }
            next.append(node)
            found = found ?? ends[node]
        }
        places = next
        return found
    }
}

extension [String: Int] {
    /// The number of a word, given in the order in which words come.
    fileprivate mutating func index(of word: String) -> Int {
        if let index = self[word] { return index }
        let index = count
        self[word] = index
        return index
    }
}

/// Looks for the terms of a deny list in one text.
struct DenyMatcher: GrowingTextCheck {
    private let table: DenyTable
    private var splitter = WordSplitter()
    private var places: [Int] = []
    /// Bytes of the text so far.
    private var length = 0
    /// Where the word that may still go on begins, and the phrase that may.
    private var wordStart = 0
    private var phraseStart: Int?

    /// The term that ended first, once there is one.
    private(set) var found: String?

    init(_ table: DenyTable) { self.table = table }

    @discardableResult
    mutating func add(_ piece: String) -> GuardrailVerdict {
        guard found == nil, !table.isEmpty else { return Self.verdict(found) }
        for scalar in piece.unicodeScalars {
            let wasEmpty = splitter.isEmpty
            var ended: [String?] = []
            splitter.add(String(scalar)) { ended.append($0) }
            for word in ended { follow(word) }
            if !splitter.isEmpty, wasEmpty || !ended.isEmpty { wordStart = length }
            length += UTF8.width(scalar)
            if found != nil { break }
        }
        return Self.verdict(found)
    }

    @discardableResult
    mutating func end() -> GuardrailVerdict {
        guard found == nil, !table.isEmpty else { return Self.verdict(found) }
        var ended: [String?] = []
        splitter.end { ended.append($0) }
        for word in ended { follow(word) }
        return Self.verdict(found)
    }

    var pendingBytes: Int {
        if table.isEmpty { return 0 }
        return length - min(phraseStart ?? length, splitter.isEmpty ? length : wordStart)
    }

    private mutating func follow(_ word: String?) {
        // What folds to nothing stands for nothing.
        guard found == nil, word?.isEmpty != true else { return }
        let wasEmpty = places.isEmpty
        found = table.follow(word, from: &places)
        if places.isEmpty {
            phraseStart = nil
        } else if wasEmpty {
            phraseStart = wordStart
        }
    }

    static func verdict(_ term: String?) -> GuardrailVerdict {
        guard let term else { return .pass }
        return .violation(reason: "the deny list has \(inQuotes(term))")
    }
}
