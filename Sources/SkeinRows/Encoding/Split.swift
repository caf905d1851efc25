import SkeinBasics

/// What is held out as a whole (`--split-by`).
package enum SplitUnit: String, Sendable, CaseIterable {
    case row
    /// All rows that the model sees the same prompt of; a row without a prompt is by itself.
    case prompt
}

/// Which rows are trained on and which are held out for validation.
package struct Split: Sendable, Equatable {
    /// Indices into the encoded rows, ascending.
    package let training: [Int]
    /// Indices into the encoded rows, ascending; empty when nothing is held out.
    package let validation: [Int]

    /// Holds out the last `share` of a permutation that depends on `seed` and `count` alone.
    ///
    /// The number held out is `count * share` rounded to the nearest whole number, but at least one
    /// row is left to train on: with a share of 0.2, of 1, 2, 3 and 4 rows 0, 0, 1 and 1 are held
    /// out. Both lists are in file order, so that `--shuffle off` trains in file order.
    ///
    /// - Parameters:
    ///   - count: rows to divide.
    ///   - share: in 0 ..< 1.
    ///   - seed: of the run.
    package init(count: Int, share: Double, seed: UInt64) {
        let wanted = Int((Double(count) * share).rounded())
        let held = max(0, min(wanted, count - 1))
        guard held > 0 else {
            training = Array(0..<count)
            validation = []
            return
        }
        let order = AddressedRandom(seed: seed, purpose: .validationSplit).permutation(count: count)
        training = order[..<(count - held)].sorted()
        validation = order[(count - held)...].sorted()
    }

    /// The same where rows with equal prompts stay on one side.
    ///
    /// Prompts are taken from the end of their permutation as long as no more rows than wanted are
    /// held out; a prompt with too many rows is passed over. If each has too many, that with the fewest
    /// rows is held out, unless it is the only one.
    ///
    /// - Parameters:
    ///   - prompts: of the rows; nil: a row without one.
    ///   - share: of the rows, in 0 ..< 1.
    ///   - seed: of the run.
    package init(prompts: [ArraySlice<Int32>?], share: Double, seed: UInt64) {
        let count = prompts.count
        let wanted = max(0, min(Int((Double(count) * share).rounded()), count - 1))
        var places: [ArraySlice<Int32>: Int] = [:]
        // In the order of their first rows.
        var groups: [[Int]] = []
        for (row, prompt) in prompts.enumerated() {
            if let prompt, let place = places[prompt] {
                groups[place].append(row)
            } else {
                if let prompt { places[prompt] = groups.count }
                groups.append([row])
            }
        }
        guard wanted > 0, groups.count > 1 else {
            self.init(allOf: count)
            return
        }
        let order = AddressedRandom(seed: seed, purpose: .validationSplit)
            .permutation(count: groups.count)
        var held: [Int] = []
        for group in order.reversed() where held.count + groups[group].count <= wanted {
            held += groups[group]
        }
        if held.isEmpty {
            // The first of the smallest ones.
            held = groups.min { $0.count < $1.count } ?? []
        }
        let isHeld = Set(held)
        self.init(
            training: (0..<count).filter { !isHeld.contains($0) }, validation: held.sorted())
    }

    private init(training: [Int], validation: [Int]) {
        self.training = training
        self.validation = validation
    }

    /// The split that a run asks for.
    ///
    /// - Parameters:
    ///   - rows: with their sequences.
    ///   - share: of the rows, in 0 ..< 1.
    ///   - unit: what is held out as a whole.
    ///   - seed: of the run.
    package init(
        rows: [ArraySlice<TokenizedRow>], share: Double, by unit: SplitUnit, seed: UInt64
    ) {
        switch unit {
        case .row: self.init(count: rows.count, share: share, seed: seed)
        case .prompt: self.init(prompts: rows.map(\.prompt), share: share, seed: seed)
        }
    }

    /// All rows are trained on: the validation rows have a file of their own.
    package init(allOf count: Int) {
        training = Array(0..<count)
        validation = []
    }
}
