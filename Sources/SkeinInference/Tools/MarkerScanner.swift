/// Finds a marker in bytes that arrive in pieces cut anywhere (Knuth, Morris and Pratt).
struct MarkerScanner: Sendable {
    let marker: [UInt8]
    /// How many bytes at the end of all so far are the beginning of the marker.
    private(set) var matched = 0
    /// By number of bytes that match: as how many one may count the end of these.
    private let shorter: [Int]

    /// - Parameter marker: ASCII, not empty.
    init(_ marker: String) {
        self.marker = Array(marker.utf8)
        var shorter = [Int](repeating: 0, count: self.marker.count + 1)
        for end in self.marker.indices.dropFirst() {
            var length = shorter[end]
            while length > 0, self.marker[length] != self.marker[end] { length = shorter[length] }
            shorter[end + 1] = self.marker[length] == self.marker[end] ? length + 1 : 0
        }
        self.shorter = shorter
    }

    /// Takes bytes up to the end of the first marker: how many that were; nil if none ends in them.
    mutating func end(in bytes: [UInt8]) -> Int? {
        for (place, byte) in bytes.enumerated() {
            while matched > 0, marker[matched] != byte { matched = shorter[matched] }
            if marker[matched] == byte { matched += 1 }
            if matched == marker.count {
                matched = 0
                return place + 1
            }
        }
        return nil
    }
}
