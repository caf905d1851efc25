/// What a model's description may ask for: beyond a limit it is refused before memory is taken. The
/// largest matrix has 2^22 x 2^16 = 2^38 elements.
enum Limits {
    static let vocabularySize = 1 << 22
    static let width = 1 << 16
    static let feedForwardWidth = 1 << 20
    static let layers = 1 << 12
    static let heads = 1 << 10
    static let headDimension = 1 << 10
    static let contextLength = 1 << 26

    /// Entries of a folder that are looked into for the adapter that may be meant: 1,024 are 5,120
    /// calls of `stat`, some milliseconds.
    static let searchedFolders = 1 << 10
}
