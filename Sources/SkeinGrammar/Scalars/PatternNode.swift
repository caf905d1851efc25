import SkeinBasics

/// A regular expression as a tree.
///
/// Groups are only brackets here: what they capture has no meaning for which texts match. Lazy and
/// greedy repetitions match the same texts, too.
indirect enum PatternNode: Hashable, Sendable {
    /// One character of a set.
    case set(ScalarSet)
    /// One after the other; none: the empty text.
    case sequence([PatternNode])
    /// One of them; none: no text at all.
    case choice([PatternNode])
    /// Between `least` and `most` times; nil: any number from `least` on.
    case repetition(PatternNode, least: Int, most: Int?)
    /// `^`: no character stands before.
    case beginning
    /// `$`: no character follows, not even a line feed.
    case end
}
