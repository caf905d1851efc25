/// Sizes that a file or a peer has named: what does not fit is `Int.max` and never a trap.
extension Int {
    /// The sum of two numbers that are not negative.
    package func saturatingPlus(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    /// The product of two numbers that are not negative.
    package func saturatingTimes(_ other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }
}
