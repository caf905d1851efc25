import SkeinBasics

/// What can stand at the beginning of a match, and behind its first character: more than can, where
/// the tree does not say it at once, and never less.
struct ExpressionStart {
    /// What can stand at a place.
    struct Place {
        var characters = ScalarSet.none
        /// Whether the text can end there.
        var canEnd = false
        /// Whether it can be anything that what follows accepts.
        var isOpen = false

        func union(_ other: Place) -> Place {
            Place(
                characters: characters.union(other.characters), canEnd: canEnd || other.canEnd,
                isOpen: isOpen || other.isOpen)
        }

        /// With what follows.
        func followed(by next: Place) -> Place {
            guard isOpen else { return self }
            var place = union(next)
            place.isOpen = next.isOpen
            return place
        }
    }

    var begin: Place
    /// Whether it can take no character. `$` can, and yet only certain characters stand there.
    var canBeEmpty: Bool
    /// What can stand behind the character asked for, if that can be taken as the first.
    var behind: Place?

    private static let empty = ExpressionStart(
        begin: Place(isOpen: true), canBeEmpty: true, behind: nil)

    private init(begin: Place, canBeEmpty: Bool, behind: Place?) {
        self.begin = begin
        self.canBeEmpty = canBeEmpty
        self.behind = behind
    }

    /// - Parameters:
    ///   - node: an expression.
    ///   - scalar: the first character of the match.
    init(of node: ExpressionNode, taking scalar: UInt32) {
        switch node {
        case .set(let set):
            self.init(
                begin: Place(characters: set), canBeEmpty: false,
                behind: set.contains(scalar) ? Place(isOpen: true) : nil)
        case .sequence(let parts):
            self = parts.reversed().reduce(Self.empty) { rest, part in
                Self(of: part, taking: scalar).followed(by: rest)
            }
        case .alternatives(let parts):
            let none = Self(begin: Place(), canBeEmpty: false, behind: nil)
            self = parts.reduce(none) { $0.or(Self(of: $1, taking: scalar)) }
        case .repeated(_, _, 0, _): self = Self.empty
        case .repeated(let body, let least, let most, _):
            self = Self(of: body, taking: scalar).repeated(least, most)
        case .atomic(let body): self.init(of: body, taking: scalar)
        case .anchor(.textEnd):
            self.init(begin: Place(canEnd: true), canBeEmpty: true, behind: nil)
        case .anchor(.lineEnd), .anchor(.lastLineEnd):
            let lineFeed = ScalarSet(UInt32(UInt8(ascii: "\n")))
            self.init(
                begin: Place(characters: lineFeed, canEnd: true), canBeEmpty: true, behind: nil)
        case .anchor, .lookAhead, .lookBehind: self = Self.empty
        }
    }

    private func followed(by rest: ExpressionStart) -> ExpressionStart {
        let own = behind?.followed(by: rest.begin)
        return ExpressionStart(
            begin: begin.followed(by: rest.begin), canBeEmpty: canBeEmpty && rest.canBeEmpty,
            behind: canBeEmpty ? Self.either(own, rest.behind) : own)
    }

    private func or(_ other: ExpressionStart) -> ExpressionStart {
        ExpressionStart(
            begin: begin.union(other.begin), canBeEmpty: canBeEmpty || other.canBeEmpty,
            behind: Self.either(behind, other.behind))
    }

    private static func either(_ a: Place?, _ b: Place?) -> Place? {
        guard let a, let b else { return a ?? b }
        return a.union(b)
    }

    private func repeated(_ least: Int, _ most: Int?) -> ExpressionStart {
        var start = self
        start.canBeEmpty = canBeEmpty || least == 0
        start.begin.isOpen = begin.isOpen || least == 0
        if let behind, behind.isOpen {
            let again = most == 1 ? Place() : begin
            start.behind = behind.union(again)
            start.behind?.isOpen = least <= 1 || canBeEmpty
        }
        return start
    }
}

/// Which two characters a match can begin with, by ASCII.
struct ExpressionPairs: Sendable {
    /// Bit c of `next[b]` says that c can follow b; bit b of `last`, that b can be the text's last.
    private var next = [SIMD2<UInt64>](repeating: SIMD2(.max, .max), count: 128)
    private var last = SIMD2<UInt64>(.max, .max)

    /// Any two.
    init() {}

    /// - Parameters:
    ///   - node: an expression that cannot match nothing.
    ///   - kinds: for each ASCII character its class: those of one class are in the same sets.
    init(of node: ExpressionNode, kinds: [UInt8]) {
        var behind: [UInt8: (next: SIMD2<UInt64>, canEnd: Bool)] = [:]
        for (byte, kind) in kinds.enumerated() {
            if behind[kind] == nil {
                let place = ExpressionStart(of: node, taking: UInt32(byte)).behind
                var bits = SIMD2<UInt64>.zero
                if let place {
                    for other in 0..<128
                    where place.isOpen || place.characters.contains(UInt32(other)) {
                        bits[other >> 6] |= 1 << UInt64(other & 63)
                    }
                }
                behind[kind] = (bits, place.map { $0.isOpen || $0.canEnd } ?? false)
            }
            guard let place = behind[kind] else { continue }
            next[byte] = place.next
            if !place.canEnd { last[byte >> 6] &= ~(1 << UInt64(byte & 63)) }
        }
    }

    /// Whether a match can begin with `byte`, an ASCII character, where `following` is the byte behind
    /// it. That counts as allowed beyond ASCII; nil: the text ends there.
    @inline(__always)
    func allow(_ byte: UInt8, _ following: UInt8?) -> Bool {
        guard let following else { return Self.isSet(last, byte) }
        return following >= 0x80 || Self.isSet(next[Int(byte)], following)
    }

    @inline(__always)
    private static func isSet(_ bits: SIMD2<UInt64>, _ byte: UInt8) -> Bool {
        (byte < 64 ? bits.x : bits.y) & (1 << UInt64(byte & 63)) != 0
    }
}
