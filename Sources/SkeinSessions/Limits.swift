/// What contents and schemas may take. Both come from models, files and other programs.
enum SessionLimits {
    /// Bytes of JSON text that a content is read from.
    static let contentBytes = 16 << 20
    /// How deep arrays and objects may be nested in a content. Values are walked by calls that call
    /// themselves, some 500 bytes of stack each, and a thread may have 512 KiB.
    static let contentDepth = 256
    /// Types, and named dynamic schemas, that one schema may lead to.
    static let definitions = 4096
    /// Bytes of a type's name, with the types that it is generic over.
    static let nameBytes = 1000
    /// How deep the parts of one definition may be nested: arrays of arrays, unions in unions.
    static let formDepth = 64
    /// Texts of one model that wait for their tokens to be counted.
    static let waitingCounts = 1 << 16
    /// Bytes of a text whose tokens are counted.
    static let countedBytes = 64 << 20
    /// Rounds of tool calls of one request.
    static let toolRounds = 16
    /// Seconds for which a request waits for the end of the cancelled one before it. The model stops
    /// before its next token, so that only a tool or a check of the program can go on; after ten seconds
    /// people take a program for stuck.
    static let cancelledSeconds = 10.0
    /// Seconds after which a refused request may be tried again.
    static let retryAfterSeconds = 1.0
    /// Seconds between two looks at what tells no changes: files, free memory, the environment. A look
    /// takes a tenth of a millisecond.
    static let lookSeconds = 1.0
    /// Bytes of a file that names a model: a path has at most 4,096.
    static let modelNameBytes = 8192
}
