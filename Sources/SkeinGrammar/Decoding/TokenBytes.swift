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
        // So that a word can be read wherever a byte of a token is.
        flat += [UInt8](repeating: 0, count: Tokens.wordBytes)
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

        /// Bytes of a token.
        @inline(__always)
        func count(of id: Int32) -> Int { Int(starts[Int(id) + 1] - starts[Int(id)]) }

        /// Bytes that are read together.
        static let wordBytes = 8

        /// Eight bytes of a token from a place in it, the first one highest; zeros behind its end.
        @inline(__always)
        func word(of id: Int32, at place: Int) -> UInt64 {
            let rest = count(of: id) - place
            if rest <= 0 { return 0 }
            let bytes = UnsafeRawBufferPointer(flat).loadUnaligned(
                fromByteOffset: Int(starts[Int(id)]) + place, as: UInt64.self)
            let word = UInt64(bigEndian: bytes)
            return rest < Self.wordBytes ? word & ~(.max >> UInt64(8 * rest)) : word
        }
    }
}

extension TokenBytes.Tokens {
    /// A token, and how much of it the one before it begins with, too.
    struct Sorted {
        let id: Int32
        /// Bytes.
        var shared: Int32
    }

    /// The tokens that are not empty, by their bytes, of equal ones the lowest id first.
    func sorted() -> [Sorted] {
        var keys: [Key] = []
        keys.reserveCapacity(count)
        for id in 0..<Int32(count) where count(of: id) > 0 {
            keys.append(Key(start: word(of: id, at: 0), id: id))
        }
        // The first eight bytes decide mostly.
        Self.sort(&keys)
        return keys.withUnsafeMutableBufferPointer { keys in
            var first = 0
            while first < keys.count {
                var end = first + 1
                while end < keys.count, keys[end].start == keys[first].start { end += 1 }
                if end - first > 1 { keys[first..<end].sort { precedes($0.id, $1.id) } }
                first = end
            }
            return [Sorted](unsafeUninitializedCapacity: keys.count) { sorted, initialized in
                for place in keys.indices {
                    let shared = place == 0 ? 0 : shared(keys[place - 1], keys[place])
                    sorted.initializeElement(
                        at: place, to: Sorted(id: keys[place].id, shared: Int32(shared)))
                }
                initialized = keys.count
            }
        }
    }

    private struct Key {
        /// The first eight bytes as `word` gives them.
        var start: UInt64
        var id: Int32
    }

    /// The order of two tokens with equal first words.
    private func precedes(_ a: Int32, _ b: Int32) -> Bool {
        let (x, y) = (count(of: a), count(of: b))
        var place = Self.wordBytes
        while place < x, place < y {
            let (mine, other) = (word(of: a, at: place), word(of: b, at: place))
            if mine != other { return mine < other }
            place += Self.wordBytes
        }
        return x == y ? a < b : x < y
    }

    /// Bytes that two tokens begin with.
    private func shared(_ a: Key, _ b: Key) -> Int {
        let least = min(count(of: a.id), count(of: b.id))
        var place = 0
        var difference = a.start ^ b.start
        while difference == 0 {
            place += Self.wordBytes
            if place >= least { return least }
            difference = word(of: a.id, at: place) ^ word(of: b.id, at: place)
        }
        return min(least, place + difference.leadingZeroBitCount / 8)
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
