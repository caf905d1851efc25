import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinGrammar

/// Reads words by a network as it is built: the plainest interpreter of its three kinds of ways.
struct NetworkReader {
    let builder: NetworkBuilder

    /// Whether some bytes lead from one node to another.
    func reads(_ bytes: [UInt8], from: NetworkBuilder.Node, to: NetworkBuilder.Node) -> Bool {
        ends(from: from, to: to, at: 0, bytes).contains(bytes.count)
    }

    /// Where in the bytes a node can be reached from another.
    private func ends(
        from: NetworkBuilder.Node, to: NetworkBuilder.Node, at place: Int, _ bytes: [UInt8]
    ) -> Set<Int> {
        var seen: Set<[Int]> = [[Int(from), place]]
        var waiting = [[Int(from), place]]
        func visit(_ node: NetworkBuilder.Node, _ place: Int) {
            if seen.insert([Int(node), place]).inserted { waiting.append([Int(node), place]) }
        }
        while let here = waiting.popLast() {
            let (node, place) = (here[0], here[1])
            for other in builder.skips[node] { visit(other, place) }
            for call in builder.calls[node] {
                for end in ends(from: call.callee.start, to: call.callee.end, at: place, bytes) {
                    visit(call.to, end)
                }
            }
            if place < bytes.count {
                for edge in builder.edges[node] where edge.bytes.contains(bytes[place]) {
                    visit(edge.to, place + 1)
                }
            }
        }
        return Set(seen.filter { $0[0] == Int(to) }.map { $0[1] })
    }

    /// All words from a node to another by edges and calls, of a network without loops.
    func words(from: NetworkBuilder.Node, to: NetworkBuilder.Node) -> [[UInt8]] {
        if from == to { return [[]] }
        var words: [[UInt8]] = []
        for edge in builder.edges[Int(from)] {
            let rests = self.words(from: edge.to, to: to)
            for byte in edge.bytes { words += rests.map { [byte] + $0 } }
        }
        for call in builder.calls[Int(from)] {
            let rests = self.words(from: call.to, to: to)
            for head in self.words(from: call.callee.start, to: call.callee.end) {
                words += rests.map { head + $0 }
            }
        }
        return words
    }

    /// How many words there are, without writing them out.
    func count(from: NetworkBuilder.Node, to: NetworkBuilder.Node) -> Int {
        var known: [NetworkBuilder.Node: Int] = [to: 1]
        func count(_ node: NetworkBuilder.Node) -> Int {
            if let sum = known[node] { return sum }
            var sum = builder.edges[Int(node)].reduce(0) { $0 + $1.bytes.count * count($1.to) }
            for call in builder.calls[Int(node)] {
                let inside = self.count(from: call.callee.start, to: call.callee.end)
                sum += inside * count(call.to)
            }
            known[node] = sum
            return sum
        }
        return count(from)
    }
}

@Suite("Machines as networks of bytes")
struct ScalarMachineNetworkTests {
    private static func hexadecimal(_ unit: UInt16) -> [[UInt8]] {
        var words: [[UInt8]] = [Array("\\u".utf8)]
        for shift in [12, 8, 4, 0] as [UInt16] {
            let digit = UInt8(unit >> shift & 0xF)
            let forms: [UInt8] = digit < 10 ? [0x30 + digit] : [0x37 + digit, 0x57 + digit]
            words = words.flatMap { word in forms.map { word + [$0] } }
        }
        return words
    }

    /// Every way to write a character, by the definition of JSON.
    private static func forms(_ value: UInt32, escaping: Bool) -> [[UInt8]] {
        guard let scalar = Unicode.Scalar(value) else { return [] }
        let plain = Array(String(scalar).utf8)
        if !escaping { return [plain] }
        var forms: [[UInt8]] = []
        if value >= 0x20 && value != 0x22 && value != 0x5C { forms.append(plain) }
        let letters: [UInt32: Character] = [
            0x22: "\"", 0x5C: "\\", 0x2F: "/", 0x08: "b", 0x0C: "f", 0x0A: "n", 0x0D: "r",
            0x09: "t",
        ]
        if let letter = letters[value] { forms.append(Array("\\\(letter)".utf8)) }
        var escapes: [[UInt8]] = [[]]
        for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
            escapes = escapes.flatMap { head in hexadecimal(unit).map { head + $0 } }
        }
        return forms + escapes
    }

    @Test("A set's words are those of its characters, each once", arguments: [true, false])
    func exactly(escaping: Bool) {
        let seed: UInt64 = 5
        var random = TestRandom(state: seed)
        for round in 0..<60 {
            var set = ScalarSet(
                (0...round % 7).map { _ in
                    let first = random.scalar()
                    return first...first + UInt32.random(in: 0...3, using: &random)
                })
            if round == 0 { set = ScalarSet((0...60).map { 2 * $0...2 * $0 }) }
            var builder = NetworkBuilder()
            var sets = ScalarSubnetworks()
            let (from, to) = (builder.node(), builder.node())
            builder.character(of: set, from: from, to: to, escaping: escaping, sets: &sets)
            let words = NetworkReader(builder: builder).words(from: from, to: to)
            let expected = set.ranges.flatMap { range in
                range.flatMap { Self.forms($0, escaping: escaping) }
            }
            #expect(words.count == expected.count, "seed \(seed), round \(round)")
            #expect(Set(words) == Set(expected), "seed \(seed), round \(round)")
        }
    }

    @Test("All characters are written in as many ways as there are", arguments: [true, false])
    func everything(escaping: Bool) {
        var builder = NetworkBuilder()
        var sets = ScalarSubnetworks()
        let (from, to) = (builder.node(), builder.node())
        builder.character(of: .all, from: from, to: to, escaping: escaping, sets: &sets)
        let reader = NetworkReader(builder: builder)
        let ways = reader.count(from: from, to: to)
        if escaping {
            // A hexadecimal digit has 10 + 6 * 2 forms, D has two; 8 and 9 are one each, A and B two; C to F are two each.
            let highs = 2 * (1 + 1 + 2 + 2) * 22 * 22
            let lows = 2 * (2 + 2 + 2 + 2) * 22 * 22
            let plain = 0x11_0000 - 0x800 - 0x20 - 2
            #expect(ways == plain + 8 + (22 * 22 * 22 * 22 - highs - lows) + highs * lows)
        } else {
            #expect(ways == 0x11_0000 - 0x800)
        }
    }

    static let refused: [(bytes: [UInt8], escaping: Bool)] = [
        ([0xC0, 0x80], false), ([0xC1, 0xBF], false), ([0xE0, 0x9F, 0xBF], false),
        ([0xED, 0xA0, 0x80], false), ([0xED, 0xBF, 0xBF], false),
        ([0xF0, 0x8F, 0xBF, 0xBF], false), ([0xF4, 0x90, 0x80, 0x80], false),
        ([0x80], false), ([0xFF], false), ([0xC3], false), ([0xC3, 0x41], false),
        (Array("\"".utf8), true), (Array("\\".utf8), true), ([0x0A], true), ([0x1F], true),
        (Array("\\a".utf8), true), (Array("\\'".utf8), true), (Array("\\u12".utf8), true),
        (Array("\\U0041".utf8), true), (Array("\\uD800".utf8), true),
        (Array("\\uDFFF".utf8), true), (Array("\\uD800\\u0041".utf8), true),
        (Array("\\uDC00\\uD800".utf8), true), (Array("\\uD800\\uD800".utf8), true),
        ([0xED, 0xA0, 0x80], true),
    ]

    @Test("What is no character is not read", arguments: refused)
    func malformed(bytes: [UInt8], escaping: Bool) {
        var builder = NetworkBuilder()
        var sets = ScalarSubnetworks()
        let (from, to) = (builder.node(), builder.node())
        builder.machine(.any, from: from, to: to, escaping: escaping, sets: &sets)
        let reader = NetworkReader(builder: builder)
        #expect(!reader.reads(bytes, from: from, to: to))
        #expect(reader.reads([], from: from, to: to))
    }

    @Test("A machine's network reads the texts of its language, however they are written")
    func texts() throws {
        let seed: UInt64 = 6
        var random = TestRandom(state: seed)
        let patterns = [
            "^(?:\\d{2}|[a-f]+)$", "^[^\"\\\\]*\"$", "\\n|\\/", "^\\p{L}{1,3}$", "^.?$",
            "^[\\u{7F}\\u{80}\\u{7FF}\\u{800}\\uD7FF\\uE000\\uFFFF\\u{10000}\\u{10FFFF}]+$", "",
        ]
        for pattern in patterns {
            let machine = try ScalarMachineTests.machine(pattern)
            for escaping in [true, false] {
                var builder = NetworkBuilder()
                var sets = ScalarSubnetworks()
                let (from, to) = (builder.node(), builder.node())
                builder.machine(machine, from: from, to: to, escaping: escaping, sets: &sets)
                let reader = NetworkReader(builder: builder)
                for _ in 0..<150 {
                    var text = String.UnicodeScalarView()
                    for _ in 0..<Int.random(in: 0...4, using: &random) {
                        let near = Bool.random(using: &random)
                        let value =
                            near ? random.scalar() : .random(in: 0x2F...0x66, using: &random)
                        if let scalar = Unicode.Scalar(value) { text.append(scalar) }
                    }
                    let bytes = text.flatMap { scalar in
                        Self.forms(scalar.value, escaping: escaping)
                            .randomElement(using: &random) ?? []
                    }
                    let expected = machine.contains(String(text))
                    #expect(
                        reader.reads(bytes, from: from, to: to) == expected,
                        "seed \(seed), \(pattern) on \(bytes)")
                }
            }
        }
    }

    @Test("A set is built once, and calls go to characters only")
    func sharing() throws {
        var builder = NetworkBuilder()
        var sets = ScalarSubnetworks()
        let (from, to) = (builder.node(), builder.node())
        let machine = try ScalarMachineTests.machine("^\\w{1,50}[\\u{100}-\\u{200}]{1,50}$")
        builder.machine(machine, from: from, to: to, escaping: true, sets: &sets)
        let calls = builder.calls.joined()
        #expect(Set(calls.map(\.callee)).count == 2)
        #expect(calls.allSatisfy { $0.callee.rank == .character })
        let before = builder.edges.count
        builder.machine(machine, from: from, to: to, escaping: true, sets: &sets)
        #expect(builder.edges.count == before + machine.states.count)
    }

    @Test("The network of a wide set is small, and one that is too large says so")
    func size() {
        var builder = NetworkBuilder()
        var sets = ScalarSubnetworks()
        let (from, to) = (builder.node(), builder.node())
        let letters = ScalarSet.categories("L")
        builder.character(of: letters, from: from, to: to, escaping: true, sets: &sets)
        #expect(builder.edges.count < 2000)
        for first in UInt32(0)..<2000 {
            let set = letters.subtracting(ScalarSet(0x61 + first * 9))
            builder.character(of: set, from: from, to: to, escaping: true, sets: &sets)
        }
        #expect(builder.isTooLarge)
    }
}
