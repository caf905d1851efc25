/// Why features are not kept, or could not be used. The run is the same without them.
package enum FeatureWarning: Sendable, Equatable {
    /// Rows whose bytes were wrong; they are computed again.
    case damaged(path: String)
    /// The file has grown to its limit.
    case full(path: String, bytes: Int)
    /// The system refused to write.
    case notWritten(path: String, detail: String)

    /// The same for all warnings of a case.
    var kind: Int {
        switch self {
        case .damaged: 0
        case .full: 1
        case .notWritten: 2
        }
    }

    package var text: String {
        switch self {
        case .damaged(let path):
            "features that were kept are damaged, so they are computed again (\(path))"
        case .full(let path, let bytes):
            "the features have reached \(bytes >> 20) MiB, so the other rows' are not kept; "
                + "give a larger --feature-disk (\(path))"
        case .notWritten(let path, let detail):
            "the features are not kept any more: \(detail) (\(path))"
        }
    }
}
