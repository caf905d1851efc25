/// What a worker may be called.
package enum WorkerName {
    /// That of the run's own process, which no other worker may have: the ledger names who computed.
    package static let own = "local"

    /// The rest of the sentence "the name takes ...".
    package static let accepted = "1 to 64 letters, digits, dots, dashes and underscores"

    package static let mostBytes = 64

    package static func isValid(_ text: String) -> Bool {
        (1...mostBytes).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }
}
