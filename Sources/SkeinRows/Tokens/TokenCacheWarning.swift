import SkeinBasics

/// Why a file of the token cache is not used, or not written.
enum TokenCacheFlaw: Error, Equatable {
    case wrongSize(expected: Int, found: Int)
    case notOurs
    case otherVersion(found: Int)
    case otherKey
    /// A number that cannot be right.
    case badNumber(field: String)
    case damaged
    /// Row `index` of the file is not one that an encoder makes.
    case badRow(index: Int)
    case tooLarge(bytes: Int, limit: Int)

    var text: String {
        switch self {
        case .wrongSize(let expected, let found): "it has \(found) bytes, not \(expected)"
        case .notOurs: "it is not a token file"
        case .otherVersion(let found): "it has version \(found)"
        case .otherKey: "it belongs to other data or settings"
        case .badNumber(let field): "its \(field) cannot be right"
        case .damaged: "its checksum is wrong"
        case .badRow(let index): "its row \(index) cannot be right"
        case .tooLarge(let bytes, let limit):
            "\(bytes) bytes are more than the cache's limit of \(limit)"
        }
    }
}

/// Why the token cache was not used; the run is the same without it.
package enum TokenCacheWarning: Sendable, Equatable {
    /// A file exists but cannot be used; it is written again.
    case unusable(path: String, detail: String)
    /// The tokens could not be kept: the next start encodes again.
    case notKept(path: String, detail: String)

    static func damaged(path: String, flaw: TokenCacheFlaw) -> TokenCacheWarning {
        .unusable(path: path, detail: flaw.text)
    }

    static func unreadable(path: String, error: any Error) -> TokenCacheWarning {
        .unusable(path: path, detail: what(error))
    }

    static func unwritable(path: String, error: any Error) -> TokenCacheWarning {
        .notKept(path: path, detail: what(error))
    }

    private static func what(_ error: any Error) -> String {
        (error as? any Explained)?.explanation.what ?? "\(error)"
    }

    /// The warning as one sentence.
    package var text: String {
        switch self {
        case .unusable(let path, let detail):
            "a token cache file is not used and is written again: \(detail) (\(path))"
        case .notKept(let path, let detail):
            "the tokens are not kept for the next start: \(detail) (\(path)); --no-token-cache "
                + "turns the cache off"
        }
    }
}
