/// The bytes of all tokens, one after another in one buffer: what a vocabulary has hundreds of thousands
/// of should not be an array each, which are slow to come by and to let go.
struct TokenBytes: Sendable {
    private var flat: [UInt8] = []
    /// `starts[id]..<starts[id + 1]`: the bytes of a token.
    private var starts: [Int32] = [0]
    /// Bytes of the longest token.
    private(set) var longest = 0

    /// - Parameters:
    ///   - tokens: by id; nil or empty for what stands for no text.
    ///   - limit: a token of more bytes is empty.
    init(_ tokens: [[UInt8]?], limit: Int) {
        starts.reserveCapacity(tokens.count + 1)
        flat.reserveCapacity(8 * tokens.count)
        for bytes in tokens {
            if let bytes, bytes.count <= limit {
                flat += bytes
                longest = max(longest, bytes.count)
            }
            starts.append(Int32(flat.count))
        }
    }

    /// Tokens, the empty ones included.
    var count: Int { starts.count - 1 }

    /// The bytes of a token; empty: never part of a value.
    subscript(_ id: Int32) -> ArraySlice<UInt8> {
        flat[Int(starts[Int(id)])..<Int(starts[Int(id) + 1])]
    }

    /// Calls `body` with all tokens, which are valid in there.
    func withTokens<Result>(_ body: (Tokens) -> Result) -> Result {
        flat.withUnsafeBufferPointer { flat in
            starts.withUnsafeBufferPointer { starts in body(Tokens(flat, starts)) }
        }
    }

    /// The tokens while their buffer is open.
    struct Tokens {
        private let flat: UnsafeBufferPointer<UInt8>
        private let starts: UnsafeBufferPointer<Int32>

        fileprivate init(
            _ flat: UnsafeBufferPointer<UInt8>, _ starts: UnsafeBufferPointer<Int32>
        ) {
            self.flat = flat
            self.starts = starts
        }

        var count: Int { starts.count - 1 }

        @inline(__always)
        subscript(_ id: Int32) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(
                rebasing: flat[Int(starts[Int(id)])..<Int(starts[Int(id) + 1])])
        }
    }
}

extension TokenBytes.Tokens {
    /// The ids of tokens that are not empty, by their bytes, of equal ones the lowest id first.
    func sorted() -> [Int32] {
        // The first eight bytes decide nearly always.
        var keys: [Key] = []
        keys.reserveCapacity(count)
        for id in 0..<Int32(count) where !self[id].isEmpty {
            keys.append(Key(start: start(of: id), id: id))
        }
        Self.sort(&keys)
        return keys.withUnsafeMutableBufferPointer { keys in
            var first = 0
            while first < keys.count {
                var end = first + 1
                while end < keys.count, keys[end].start == keys[first].start { end += 1 }
                if end - first > 1 {
                    keys[first..<end].sort { a, b in
                        precedes(a.id, b.id)
                    }
                }
                first = end
            }
            return keys.map(\.id)
        }
    }

    private struct Key {
        /// The first eight bytes, the first one highest; zeros where there are fewer.
        var start: UInt64
        var id: Int32
    }

    private func start(of id: Int32) -> UInt64 {
        let bytes = self[id]
        var start: UInt64 = 0
        for place in 0..<min(8, bytes.count) {
            start |= UInt64(bytes[place]) << UInt64(56 - 8 * place)
        }
        return start
    }

    private func precedes(_ a: Int32, _ b: Int32) -> Bool {
        let (x, y) = (self[a], self[b])
        // The first eight bytes are known to be equal, as far as there are so many.
        var place = min(8, x.count, y.count)
        while place < x.count, place < y.count {
            if x[place] != y[place] { return x[place] < y[place] }
            place += 1
        }
        return x.count == y.count ? a < b : x.count < y.count
    }

    /// Sorts by `start`, byte by byte from the lowest; keys of equal ones stay in order.
    private static func sort(_ keys: inout [Key]) {
        var counts = [Int](repeating: 0, count: 8 * 256)
        for key in keys {
            for digit in 0..<8 { counts[256 * digit + Int(key.start >> (8 * digit) & 255)] += 1 }
        }
        var other = keys
        for digit in 0..<8 {
            var places = Array(counts[256 * digit..<256 * digit + 256])
            // All have the same byte here.
            if places.contains(keys.count) { continue }
            var sum = 0
            for byte in places.indices {
                let count = places[byte]
                places[byte] = sum
                sum += count
            }
            keys.withUnsafeBufferPointer { keys in
                other.withUnsafeMutableBufferPointer { other in
                    places.withUnsafeMutableBufferPointer { places in
                        for key in keys {
                            let byte = Int(key.start >> (8 * digit) & 255)
                            other[places[byte]] = key
                            places[byte] += 1
                        }
                    }
                }
            }
            swap(&keys, &other)
        }
    }
}
