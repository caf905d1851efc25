import SkeinBasics

/// Turns the tree of an expression into instructions.
struct ExpressionCompiler {
    private typealias Instruction = ExpressionProgram.Instruction

    private var program = ExpressionProgram()
    private var sets: [ScalarSet] = []
    /// Nodes written out so far: an empty one that is repeated takes time, but no instruction.
    private var nodeCount = 0
    /// Nodes looked at for what can follow a run.
    private var visits = 0
    /// The look-around that is being written, or -1, and its instructions that choose.
    private var lookAround = -1
    private var lookAroundCount = 0
    private var statesByLookAround: [Int: [Int]] = [:]
    /// Loops around what is being written whose body can be empty. Where such a body leads to depends
    /// on where it began.
    private var emptyLoopDepth = 0

    static func compile(_ node: ExpressionNode) throws(ExpressionFlaw) -> ExpressionProgram {
        var compiler = ExpressionCompiler()
        var alternatives = [node]
        if case .alternatives(let parts) = node, parts.count <= UInt64.bitWidth {
            alternatives = parts
        }
        for alternative in alternatives {
            compiler.program.entries.append(compiler.here)
            try compiler.emit(alternative)
            try compiler.add(Instruction(operation: .match))
        }
        var starts: [(set: Int, canBeEmpty: Bool)] = []
        for alternative in alternatives {
            let first = try FirstCharacters(of: alternative, visits: &compiler.visits)
            starts.append((Int(try compiler.number(of: first.set)), first.canBeEmpty))
        }
        try compiler.finish(starts)
        if compiler.program.firstAtEnd == 0, compiler.nodeCount <= ExpressionLimits.pairedNodes {
            compiler.program.pairs = ExpressionPairs(
                of: node, kinds: compiler.program.classes.asciiKinds)
        }
        return compiler.program
    }

    private mutating func finish(
        _ starts: [(set: Int, canBeEmpty: Bool)]
    ) throws(ExpressionFlaw) {
        let classes = try ScalarClasses(sets)
        program.classes = classes
        func alternatives(_ members: [UInt8], _ width: Int, _ index: Int) -> UInt64 {
            var bits: UInt64 = 0
            for (number, start) in starts.enumerated()
            where start.canBeEmpty || members[start.set * width + index] != 0 {
                bits |= 1 << UInt64(number)
            }
            return bits
        }
        program.first = (0..<256).map { alternatives(classes.members, 256, $0) }
        program.firstOfASCII = (0..<128).map { alternatives(classes.asciiMembers, 128, $0) }
        for (number, start) in starts.enumerated() where start.canBeEmpty {
            program.firstAtEnd |= 1 << UInt64(number)
        }
    }

    private var here: Int32 { Int32(program.code.count) }

    private mutating func add(_ instruction: Instruction) throws(ExpressionFlaw) {
        guard program.code.count < ExpressionLimits.instructions else { throw .tooLarge }
        program.code.append(instruction)
        var state = ExpressionProgram.State()
        switch instruction.operation {
        case .greedy, .lazy, .split:
            guard emptyLoopDepth == 0 else { break }
            state.number = Int32(program.stateCount)
            program.stateCount += 1
            if lookAround >= 0 {
                statesByLookAround[lookAround, default: []].append(program.states.count)
            }
        default: break
        }
        program.states.append(state)
    }

    /// Writes a body whose choices belong to a new look-around, or to none.
    private mutating func group(
        isLookAround: Bool,
        _ body: (inout ExpressionCompiler) throws(ExpressionFlaw) -> Void
    ) throws(ExpressionFlaw) {
        let saved = lookAround
        if isLookAround { lookAroundCount += 1 }
        let group = isLookAround ? lookAroundCount : -1
        lookAround = group
        try body(&self)
        lookAround = saved
        for state in statesByLookAround.removeValue(forKey: group) ?? [] {
            program.states[state].lookAroundEnd = here
        }
    }

    /// Adds an instruction whose target is not known yet.
    private mutating func hole(
        _ operation: ExpressionProgram.Operation, x: Int32 = 0
    ) throws(ExpressionFlaw) -> Int {
        try add(Instruction(operation: operation, x: x))
        return program.code.count - 1
    }

    private mutating func newSlot() -> Int32 {
        program.slotCount += 1
        return Int32(program.slotCount - 1)
    }

    private mutating func number(of set: ScalarSet) throws(ExpressionFlaw) -> Int32 {
        if let number = sets.firstIndex(of: set) { return Int32(number) }
        guard sets.count < ExpressionLimits.sets else { throw .tooLarge }
        sets.append(set)
        return Int32(sets.count - 1)
    }

    private mutating func emit(_ node: ExpressionNode) throws(ExpressionFlaw) {
        nodeCount += 1
        guard nodeCount <= ExpressionLimits.nodes else { throw .tooLarge }
        switch node {
        case .set(let set):
            try add(Instruction(operation: .character, set: try number(of: set)))
        case .sequence(let parts): try emit(parts)
        case .alternatives(let parts):
            var ends: [Int] = []
            for part in parts.dropLast() {
                let split = try hole(.split)
                program.code[split].x = here
                try emit(part)
                ends.append(try hole(.jump))
                program.code[split].y = here
            }
            if let last = parts.last { try emit(last) }
            for end in ends { program.code[end].x = here }
        case .repeated(let body, let least, let most, let quantifier):
            try emit(repeating: body, least, most, quantifier)
        case .atomic(let body):
            let slot = newSlot()
            try add(Instruction(operation: .open, x: slot))
            try group(isLookAround: false) { (compiler) throws(ExpressionFlaw) in
                try compiler.emit(body)
            }
            try add(Instruction(operation: .commit, x: slot))
        case .lookAhead(let body, let isNegative):
            try emit(lookAround: isNegative) { (compiler) throws(ExpressionFlaw) in
                try compiler.emit(body)
            }
        case .lookBehind(let body, let isNegative):
            try emit(lookBehind: body, isNegative: isNegative)
        case .anchor(let anchor):
            if anchor == .wordBoundary || anchor == .noWordBoundary {
                program.wordSet = try number(of: .bareWord)
            }
            try add(Instruction(operation: .anchor, x: anchor.rawValue))
        }
    }

    /// A run that can give nothing back to what follows it needs no place on the stack.
    private mutating func emit(_ parts: [ExpressionNode]) throws(ExpressionFlaw) {
        for (index, part) in parts.enumerated() {
            if case .repeated(.set(let set), let least, let most, .greedy) = part {
                let next = try FirstCharacters(
                    of: parts[(index + 1)...].prefix(ExpressionLimits.lookAhead), visits: &visits)
                if !next.canBeEmpty, next.set.intersection(set).isEmpty {
                    try emit(repeating: .set(set), least, most, .possessive)
                    continue
                }
            }
            try emit(part)
        }
    }

    private mutating func emit(
        lookAround isNegative: Bool,
        _ body: (inout ExpressionCompiler) throws(ExpressionFlaw) -> Void
    ) throws(ExpressionFlaw) {
        let slot = newSlot()
        let open = try hole(isNegative ? .openNegative : .open, x: slot)
        try group(isLookAround: true, body)
        try add(Instruction(operation: isNegative ? .commitFail : .commitBack, x: slot))
        program.code[open].y = here
    }

    /// Each alternative of a look-behind goes back by its own length.
    private mutating func emit(
        lookBehind body: ExpressionNode, isNegative: Bool
    ) throws(ExpressionFlaw) {
        var parts = [body]
        if case .alternatives(let alternatives) = body { parts = alternatives }
        var stepped: [(Int, ExpressionNode)] = []
        for part in parts {
            guard let length = part.length else { throw .construct("(?<", at: 0) }
            stepped.append((length, part))
        }
        try emit(lookAround: isNegative) { (compiler) throws(ExpressionFlaw) in
            var ends: [Int] = []
            for (index, (length, part)) in stepped.enumerated() {
                let isLast = index == stepped.count - 1
                let split = isLast ? nil : try compiler.hole(.split)
                if let split { compiler.program.code[split].x = compiler.here }
                try compiler.add(Instruction(operation: .back, x: Int32(length)))
                try compiler.emit(part)
                if let split {
                    ends.append(try compiler.hole(.jump))
                    compiler.program.code[split].y = compiler.here
                }
            }
            for end in ends { compiler.program.code[end].x = compiler.here }
        }
    }

    private mutating func emit(
        repeating body: ExpressionNode, _ least: Int, _ most: Int?,
        _ quantifier: ExpressionNode.Quantifier
    ) throws(ExpressionFlaw) {
        if case .set(let set) = body {
            let operation: ExpressionProgram.Operation =
                switch quantifier {
                case .greedy: .greedy
                case .lazy: .lazy
                case .possessive: .possessive
                }
            try add(
                Instruction(
                    operation: operation, set: try number(of: set), x: Int32(least),
                    y: most.map { Int32($0) } ?? .max))
            return
        }
        if quantifier == .possessive {
            try emit(.atomic(.repeated(body, least: least, most: most, .greedy)))
            return
        }
        for _ in 0..<least { try emit(body) }
        if let most {
            var exits: [Int] = []
            for _ in least..<most {
                exits.append(try split(isLazy: quantifier == .lazy))
                try emit(body)
            }
            for exit in exits { close(exit, isLazy: quantifier == .lazy) }
            return
        }
        let start = here
        let exit = try split(isLazy: quantifier == .lazy)
        var check: Int?
        if body.canBeEmpty {
            let slot = newSlot()
            try add(Instruction(operation: .mark, x: slot))
            emptyLoopDepth += 1
            try emit(body)
            emptyLoopDepth -= 1
            check = try hole(.leaveIfEmpty, x: slot)
        } else {
            try emit(body)
        }
        try add(Instruction(operation: .jump, x: start))
        close(exit, isLazy: quantifier == .lazy)
        if let check { program.code[check].y = here }
    }

    /// A split into the body, which follows, and an exit, which `close` sets.
    private mutating func split(isLazy: Bool) throws(ExpressionFlaw) -> Int {
        let split = try hole(.split)
        if isLazy { program.code[split].y = here } else { program.code[split].x = here }
        return split
    }

    private mutating func close(_ split: Int, isLazy: Bool) {
        if isLazy { program.code[split].x = here } else { program.code[split].y = here }
    }
}
