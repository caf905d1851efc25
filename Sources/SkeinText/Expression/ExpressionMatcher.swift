/// Runs a program over one text: leftmost, and of the alternatives the first that matches.
///
/// A match is found by going back to the last choice whenever something fails. The choices are on a
/// stack of its own, so no text and no expression can exhaust the thread's. Bytes that are not UTF-8
/// count as U+FFFD, one by one.
///
/// Nearly every text takes a few steps for each of its bytes. For one that takes many, as blanks before
/// `\s+$` take the square of their number, the matcher begins to remember what has failed where
/// (`RememberedStates`), which takes as many steps as the text has bytes, times those of the program.
struct ExpressionMatcher: ~Copyable {
    private typealias Operation = ExpressionProgram.Operation

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
    private let states: UnsafeBufferPointer<ExpressionProgram.State>
    private let stateCount: Int
    /// Not nil once it remembers.
    private var memory: RememberedStates?
    /// How much work is left: until the matcher remembers, for this text, and then for a run.
    private var steps: Int
    private let firstSteps: Int
    private let effort: ExpressionEffort
    /// Whether the work was too much, and what was found is not all.
    private(set) var gaveUp = false

    /// Calls `body` with a matcher, which is valid in there. Most texts are short, so it allocates
    /// nothing for them.
    static func with<Result>(
        _ text: UnsafeBufferPointer<UInt8>, _ program: ExpressionProgram,
        _ effort: ExpressionEffort, _ body: (inout ExpressionMatcher) -> Result
    ) -> Result {
        let steps = effort.steps(forPieceOf: text.count)
        return ScalarReader.with(program.classes, text) { reader in
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
                                    program.states.withUnsafeBufferPointer { states in
                                        var matcher = ExpressionMatcher(
                                            text: text, reader: reader, code: code,
                                            entries: entries,
                                            first: first, firstOfASCII: firstOfASCII,
                                            firstAtEnd: program.firstAtEnd,
                                            wordSet: program.wordSet,
                                            slots: slots, stack: stack, states: states,
                                            stateCount: program.stateCount,
                                            steps: steps, firstSteps: steps, effort: effort)
                                        let result = body(&matcher)
                                        matcher.charge()
                                        return result
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Takes off the effort what this matcher has taken before it remembered, its slots included.
    private func charge() {
        effort.charge(steps: slots.count + (memory == nil ? firstSteps - steps : firstSteps))
    }

    deinit {
        if ownsStack { stack.deallocate() }
    }

    /// The first match that begins at `start` or later; nil: there is none, or the work is too much.
    mutating func firstMatch(from start: Int) -> Range<Int>? {
        var position = start
        while position <= text.count {
            memory?.moveWindow(to: position)
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
                if gaveUp { return nil }
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
    @inline(never)
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
        if memory == nil {
            let end = forgetfulRun(from: entry, at: start)
            guard end == nil, steps <= 0 else { return end }
            memory = RememberedStates(
                states, stateCount: stateCount, bytes: text.count, limit: effort.rememberedBits)
            memory?.moveWindow(to: start)
            // What is set up for each piece, of which a text may have as many as bytes.
            effort.charge(laterSteps: states.count + slots.count)
        }
        // Taken here and given back, for other matchers work on the pieces between two runs.
        let laterSteps = effort.laterSteps
        steps = laterSteps
        let end = laterSteps > 0 ? rememberingRun(from: entry, at: start) : nil
        effort.charge(laterSteps: laterSteps - steps)
        gaveUp = end == nil && steps <= 0
        return end
    }

    @inline(never)
    private mutating func forgetfulRun(from entry: Int32, at start: Int) -> Int? {
        run(from: entry, at: start, remembers: false)
    }

    @inline(never)
    private mutating func rememberingRun(from entry: Int32, at start: Int) -> Int? {
        run(from: entry, at: start, remembers: true)
    }

    /// Compiled twice, for each value of `remembers`.
    @inline(__always)
    private mutating func run(from entry: Int32, at start: Int, remembers: Bool) -> Int? {
        depth = 0
        var counter = Int(entry)
        var position = start
        while true {
            // Not only where something fails: an expression can go on for ever without.
            steps -= 1
            guard steps > 0 else { return nil }
            let instruction = code[counter]
            let place = counter
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
                if remembers {
                    let state = instruction.y == .max ? low : position
                    if memory?.fails(place, at: state) == true {
                        fails = true
                        break
                    }
                    if let end = memory?.metLookAround(place, at: state) {
                        counter = end
                        break
                    }
                    position = end(ofRunFrom: low, instruction, at: place)
                    if instruction.operation == .greedy, position > low {
                        push(
                            .failed, Int32(place), at: state,
                            limit: instruction.y == .max ? position : state)
                    }
                } else {
                    position = reader.end(
                        ofRunFrom: low, in: instruction.set, atMost: Int(instruction.y) - x)
                    steps -= (position - low) >> 2
                }
                if instruction.operation == .greedy, position > low {
                    push(.giveBack, Int32(counter), at: position, limit: low)
                }
            case .lazy:
                let start = position
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
                if remembers {
                    let state = instruction.y == .max ? position : start
                    if memory?.fails(place, at: state) == true {
                        fails = true
                        break
                    }
                    if let end = memory?.metLookAround(place, at: state) {
                        counter = end
                        break
                    }
                    push(.failed, Int32(place), at: state, limit: state)
                }
                push(.takeMore, Int32(counter), at: position, limit: Int(instruction.y) - x)
            case .split:
                if remembers, states[place].number >= 0 {
                    if memory?.fails(place, at: position) == true {
                        fails = true
                        break
                    }
                    if let end = memory?.metLookAround(place, at: position) {
                        counter = end
                        break
                    }
                    push(.branch, instruction.y, at: position, limit: place)
                } else {
                    push(.branch, instruction.y, at: position, limit: -1)
                }
                counter = x
            case .jump: counter = x
            case .open: slots[x] = Slot(depth: depth, position: position)
            case .openNegative:
                slots[x] = Slot(depth: depth, position: position)
                push(.branch, instruction.y, at: position, limit: -1)
            case .commit: depth = slots[x].depth
            case .commitBack:
                if remembers { rememberLookAround(endingAt: place, from: slots[x].depth) }
                depth = slots[x].depth
                position = slots[x].position
            case .commitFail:
                if remembers { rememberLookAround(endingAt: place, from: slots[x].depth) }
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
            case .anchor: fails = !reader.holds(instruction.x, at: position, wordSet: wordSet)
            case .mark:
                push(.restore, instruction.x, at: slots[x].position)
                slots[x].position = position
            case .leaveIfEmpty:
                if slots[x].position == position { counter = Int(instruction.y) }
            case .match: return position
            }
            guard fails else { continue }
            guard let next = goBack(remembers: remembers) else { return nil }
            (counter, position) = next
        }
    }

    /// Takes the last choice that is left.
    @inline(__always)
    private mutating func goBack(remembers: Bool) -> (counter: Int, position: Int)? {
        while depth > 0 {
            depth -= 1
            let frame = stack[depth]
            let target = Int(frame.target)
            switch frame.kind {
            case .branch:
                if remembers, frame.limit >= 0 {
                    let choice = Int32(frame.limit)
                    push(.failed, choice, at: frame.position, limit: frame.position)
                }
                return (target, frame.position)
            case .failed:
                if remembers { memory?.remember(target, failsAt: frame.position...frame.limit) }
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
                    let position = reader.end(ofCharacterAt: frame.position, in: set),
                    !remembers || !isLong(target - 1)
                        || memory?.fails(target - 1, at: position) != true
                else {
                    // Its own frame of what has failed is the one below.
                    if remembers, isLong(target - 1) { stack[depth - 1].limit = frame.position }
                    continue
                }
                stack[depth].position = position
                stack[depth].limit -= 1
                depth += 1
                return (target, position)
            }
        }
        return nil
    }

    /// Whether an instruction takes any number of characters, so that each place on the way is a state
    /// of its own.
    private func isLong(_ place: Int) -> Bool { code[place].y == .max }

    /// The end of a run, without the places that are known to fail.
    private mutating func end(
        ofRunFrom low: Int, _ instruction: ExpressionProgram.Instruction, at place: Int
    ) -> Int {
        guard instruction.y == .max else {
            let end = reader.end(
                ofRunFrom: low, in: instruction.set,
                atMost: Int(instruction.y) - Int(instruction.x))
            steps -= (end - low) >> 2
            return end
        }
        if let end = memory?.end(ofRunOf: place, around: low) { return end }
        var end = low
        while let next = reader.end(ofCharacterAt: end, in: instruction.set) {
            // From `next` on nothing matches, so the place before is the last to try.
            if memory?.fails(place, at: next) == true { return end }
            end = next
        }
        steps -= (end - low) >> 2
        memory?.remember(place, run: low..<end)
        return end
    }

    /// The choices since `depth` have met a look-around, whose end is at `place`.
    private mutating func rememberLookAround(endingAt place: Int, from first: Int) {
        for index in first..<depth {
            let frame = stack[index]
            let target = Int(frame.target)
            switch frame.kind {
            case .branch where frame.limit >= 0:
                memory?.remember(frame.limit, meets: place, from: frame.position...frame.position)
            case .failed:
                memory?.remember(target, meets: place, from: frame.position...frame.position)
            case .giveBack where isLong(target - 1):
                memory?.remember(target - 1, meets: place, from: frame.limit...frame.position)
            case .takeMore where isLong(target - 1):
                let low = stack[index - 1].position
                memory?.remember(target - 1, meets: place, from: low...frame.position)
            default: break
            }
        }
        steps -= (depth - first) >> 2
    }
}
