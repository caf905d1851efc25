/// One thing that a guide asks of a value.
indirect enum GuideRule: Sendable {
    /// One of these texts.
    case choices([String])
    /// A text that matches as a whole.
    case pattern(String)
    /// A pattern whose text is not known.
    case unknownPattern
    case minimum(Bound)
    case maximum(Bound)
    case minimumCount(Int)
    case maximumCount(Int)
    /// What is asked of each element.
    case element([GuideRule])

    /// A bound of numbers.
    enum Bound: Sendable {
        case number(NumberText)
        /// Below all numbers.
        case negativeInfinity
        /// Above all numbers.
        case infinity
        case notANumber

        init(_ value: Double) {
            self =
                NumberText(value).map(Bound.number)
                ?? (value.isNaN ? .notANumber : value > 0 ? .infinity : .negativeInfinity)
        }

        init(_ value: Float) {
            self = NumberText(value).map(Bound.number) ?? Bound(Double(value))
        }
    }
}
