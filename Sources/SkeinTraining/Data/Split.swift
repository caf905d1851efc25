import SkeinBasics

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

    /// All rows are trained on: the validation rows have a file of their own.
    package init(allOf count: Int) {
        training = Array(0..<count)
        validation = []
    }
}
