/// Runs a program over one text: leftmost, and of the alternatives the first that matches.
///
/// A match is found by going back to the last choice whenever something fails. The choices are on a
/// stack of its own, so no text and no expression can exhaust the thread's. Bytes that are not UTF-8
/// count as U+FFFD, one by one.
struct ExpressionMatcher: ~Copyable {
    private typealias Operation = ExpressionProgram.Operation

    /// A choice: where to go on if what was tried fails.
    private struct Frame {
        enum Kind: UInt8 {
            case branch
            /// A run that can give back characters, down to `limit`.
            case giveBack
            /// A run that can take up to `limit` more characters.
            case takeMore
            /// Puts `position` back into slot `target`.
            case restore
        }

        var kind: Kind
        var target: Int32
        var position: Int
        var limit: Int
    }

    private struct Slot {
        var depth = 0
        var position = 0
    }

    private let text: UnsafeBufferPointer<UInt8>
    private let reader: ScalarReader
    private let code: UnsafeBufferPointer<ExpressionProgram.Instruction>
    private let entries: UnsafeBufferPointer<Int32>
    private let first: UnsafeBufferPointer<UInt64>
    private let firstOfASCII: UnsafeBufferPointer<UInt64>
    private let firstAtEnd: UInt64
    private let wordSet: Int32
    private let slots: UnsafeMutableBufferPointer<Slot>
    private var stack: UnsafeMutableBufferPointer<Frame>
    private var depth = 0
    private var ownsStack = false
    /// How much work is left for this text.
    private(set) var steps: Int

    /// Calls `body` with a matcher, which is valid in there. Most texts are short, so it allocates
    /// nothing for them.
    static func with<Result>(
        _ text: UnsafeBufferPointer<UInt8>, _ program: ExpressionProgram,
        steps: Int = ExpressionLimits.steps, _ body: (inout ExpressionMatcher) -> Result
    ) -> Result {
        ScalarReader.with(program.classes, text) { reader in
            program.code.withUnsafeBufferPointer { code in
                program.entries.withUnsafeBufferPointer { entries in
                    program.first.withUnsafeBufferPointer { first in
                        program.firstOfASCII.withUnsafeBufferPointer { firstOfASCII in
                            withUnsafeTemporaryAllocation(
                                of: Slot.self, capacity: program.slotCount
                            ) { slots in
                                slots.initialize(repeating: Slot())
                                return withUnsafeTemporaryAllocation(
                                    of: Frame.self, capacity: 32
                                ) { stack in
                                    var matcher = ExpressionMatcher(
                                        text: text, reader: reader, code: code, entries: entries,
                                        first: first, firstOfASCII: firstOfASCII,
                                        firstAtEnd: program.firstAtEnd, wordSet: program.wordSet,
                                        slots: slots, stack: stack, steps: steps)
                                    return body(&matcher)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private init(
        text: UnsafeBufferPointer<UInt8>, reader: ScalarReader,
        code: UnsafeBufferPointer<ExpressionProgram.Instruction>,
        entries: UnsafeBufferPointer<Int32>, first: UnsafeBufferPointer<UInt64>,
        firstOfASCII: UnsafeBufferPointer<UInt64>, firstAtEnd: UInt64, wordSet: Int32,
        slots: UnsafeMutableBufferPointer<Slot>, stack: UnsafeMutableBufferPointer<Frame>,
        steps: Int
    ) {
        self.text = text
        self.reader = reader
        self.code = code
        self.entries = entries
        self.first = first
        self.firstOfASCII = firstOfASCII
        self.firstAtEnd = firstAtEnd
        self.wordSet = wordSet
        self.slots = slots
        self.stack = stack
        self.steps = steps
    }

    deinit {
        if ownsStack { stack.deallocate() }
    }

    /// The first match that begins at `start` or later; nil: there is none, or the work is too much.
    mutating func firstMatch(from start: Int) -> Range<Int>? {
        var position = start
        while position <= text.count {
            var length = 1
            var alternatives = firstAtEnd
            if position < text.count {
                let byte = text[position]
                if byte < 0x80 {
                    alternatives = firstOfASCII[Int(byte)]
                } else {
                    let character = reader.wideCharacter(at: position)
                    alternatives = first[character.kind]
                    length = character.length
                }
            }
            while alternatives != 0 {
                let entry = entries[alternatives.trailingZeroBitCount]
                alternatives &= alternatives - 1
                if let end = run(from: entry, at: position) { return position..<end }
                if steps <= 0 { return nil }
            }
            position += length
        }
        return nil
    }

    @inline(__always)
    private mutating func push(
        _ kind: Frame.Kind, _ target: Int32, at position: Int, limit: Int = 0
    ) {
        if depth == stack.count { grow() }
        guard depth < stack.count else { return }
        stack[depth] = Frame(kind: kind, target: target, position: position, limit: limit)
        depth += 1
    }

    /// Doubles the stack. At its limit the work is too much.
    private mutating func grow() {
        guard stack.count < ExpressionLimits.frames else {
            steps = 0
            return
        }
        let larger = UnsafeMutableBufferPointer<Frame>.allocate(capacity: stack.count * 2)
        _ = larger.initialize(from: stack)
        if ownsStack { stack.deallocate() }
        stack = larger
        ownsStack = true
    }

    /// The end of a match of the alternative that begins at `entry`.
    private mutating func run(from entry: Int32, at start: Int) -> Int? {
        depth = 0
        var counter = Int(entry)
        var position = start
        while true {
            steps -= 1
            let instruction = code[counter]
            counter += 1
            let x = Int(instruction.x)
            var fails = false
            switch instruction.operation {
            case .character:
                if let next = reader.end(ofCharacterAt: position, in: instruction.set) {
                    position = next
                } else {
                    fails = true
                }
            case .possessive, .greedy:
                var low = position
                var count = 0
                while count < x, let next = reader.end(ofCharacterAt: low, in: instruction.set) {
                    low = next
                    count += 1
                }
                steps -= count >> 2
                guard count == x else {
                    fails = true
                    break
                }
                position = reader.end(
                    ofRunFrom: low, in: instruction.set, atMost: Int(instruction.y) - x)
                steps -= (position - low) >> 2
                if instruction.operation == .greedy, position > low {
                    push(.giveBack, Int32(counter), at: position, limit: low)
                }
            case .lazy:
                var count = 0
                while count < x,
                    let next = reader.end(ofCharacterAt: position, in: instruction.set)
                {
                    position = next
                    count += 1
                }
                steps -= count >> 2
                guard count == x else {
                    fails = true
                    break
                }
                push(.takeMore, Int32(counter), at: position, limit: Int(instruction.y) - x)
            case .split:
                push(.branch, instruction.y, at: position)
                counter = x
            case .jump: counter = x
            case .open: slots[x] = Slot(depth: depth, position: position)
            case .openNegative:
                slots[x] = Slot(depth: depth, position: position)
                push(.branch, instruction.y, at: position)
            case .commit: depth = slots[x].depth
            case .commitBack:
                depth = slots[x].depth
                position = slots[x].position
            case .commitFail:
                depth = slots[x].depth
                fails = true
            case .back:
                steps -= x >> 2
                for _ in 0..<x {
                    guard position > 0 else {
                        fails = true
                        break
                    }
                    position = reader.start(ofCharacterBefore: position)
                }
            case .anchor: fails = !holds(instruction.x, at: position)
            case .mark:
                push(.restore, instruction.x, at: slots[x].position)
                slots[x].position = position
            case .leaveIfEmpty:
                if slots[x].position == position { counter = Int(instruction.y) }
            case .match: return position
            }
            guard fails else { continue }
            guard steps > 0, let next = goBack() else { return nil }
            (counter, position) = next
        }
    }

    /// Takes the last choice that is left.
    @inline(__always)
    private mutating func goBack() -> (counter: Int, position: Int)? {
        while depth > 0 {
            depth -= 1
            let frame = stack[depth]
            let target = Int(frame.target)
            switch frame.kind {
            case .branch: return (target, frame.position)
            case .restore: slots[target].position = frame.position
            case .giveBack:
                let position = reader.start(ofCharacterBefore: frame.position)
                if position > frame.limit {
                    stack[depth].position = position
                    depth += 1
                }
                return (target, position)
            case .takeMore:
                let set = code[target - 1].set
                guard frame.limit > 0,
                    let position = reader.end(ofCharacterAt: frame.position, in: set)
                else { continue }
                stack[depth].position = position
                stack[depth].limit -= 1
                depth += 1
                return (target, position)
            }
        }
        return nil
    }

    private func holds(_ anchor: Int32, at position: Int) -> Bool {
        let lineFeed = UInt8(ascii: "\n")
        switch ExpressionNode.Anchor(rawValue: anchor) {
        case .lineStart:
            return position == 0 || (text[position - 1] == lineFeed && position < text.count)
        case .lineEnd: return position == text.count || text[position] == lineFeed
        case .textStart: return position == 0
        case .textEnd: return position == text.count
        case .lastLineEnd:
            return position == text.count
                || (position == text.count - 1 && text[position] == lineFeed)
        case .wordBoundary: return isWordBoundary(position)
        case .noWordBoundary: return !isWordBoundary(position)
        case nil: return false
        }
    }

    private func isWordBoundary(_ position: Int) -> Bool {
        let isAfter = reader.end(ofCharacterAt: position, in: wordSet) != nil
        guard position > 0 else { return isAfter }
        let before = reader.start(ofCharacterBefore: position)
        return isAfter != (reader.end(ofCharacterAt: before, in: wordSet) != nil)
    }
}
