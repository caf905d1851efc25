/// One sample: a name, and a function that shows something and fails if it is not so.
public struct Sample: Sendable {
    /// What to call it by on the command line.
    public let name: String
    /// Whether it asks a model.
    public let needsModel: Bool
    let body: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - name: what to call it by on the command line.
    ///   - needsModel: whether it asks a model.
    ///   - body: what it does.
    public init(
        _ name: String, needsModel: Bool = true, body: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.needsModel = needsModel
        self.body = body
    }
}

/// Something that a sample promises did not happen.
public struct Unexpected: Error, CustomStringConvertible {
    /// What it is.
    public let description: String

    /// - Parameter description: what it is.
    public init(_ description: String) {
        self.description = description
    }
}

/// Checks a promise.
///
/// - Parameters:
///   - isSo: whether it is kept.
///   - what: the promise.
/// - Throws: `Unexpected` with the promise.
public func expect(_ isSo: Bool, _ what: String) throws {
    if !isSo { throw Unexpected("not so: \(what)") }
}
