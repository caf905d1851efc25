extension ExpressionMatcher {
    /// A choice: where to go on if what was tried fails.
    struct Frame {
        enum Kind: UInt8 {
            case branch
            /// A run that can give back characters, down to `limit`.
            case giveBack
            /// A run that can take up to `limit` more characters.
            case takeMore
            /// Puts `position` back into slot `target`.
            case restore
            /// All that choice `target` led to, from `position` to `limit`, has failed.
            case failed
        }

        var kind: Kind
        var target: Int32
        var position: Int
        /// For a branch, its instruction if that is remembered, or -1.
        var limit: Int
    }

    struct Slot {
        var depth = 0
        var position = 0
    }
}
