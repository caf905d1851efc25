import SkeinGrammar
import SkeinJSON
import SkeinText
import Testing

@testable import SkeinInference

/// One answer of a model that picks any allowed token.
struct RandomRun {
    let vocabulary: TestTokenizer
    let format: ToolFormat
    let tools: [Tool]
    let choice: ToolChoice
    let parallel: Bool
    let limit: Int
    /// For messages: what replays the run.
    let place: String

    init(
        _ vocabulary: TestTokenizer, _ format: ToolFormat, _ tools: [Tool], _ choice: ToolChoice,
        parallel: Bool, limit: Int, place: String
    ) {
        self.vocabulary = vocabulary
        self.format = format
        self.tools = tools
        self.choice = choice
        self.parallel = parallel
        self.limit = limit
        self.place = place
    }

    /// nil if a call is required and none fits.
    private func guide() throws -> ToolGuide? {
        do {
            return try ToolGuide(
                format, tools: tools, choice: choice, parallel: parallel,
                grammars: vocabulary.grammars, tokenizer: vocabulary.tokenizer, limit: limit,
                idSeed: place)
        } catch {
            guard let problem = error as? ToolProblem,
                case .doesNotFit(let needed, limit) = problem.flaw
            else { throw error }
            #expect(choice != .auto && needed.map { $0 > limit } ?? true, "\(place)")
            return nil
        }
    }

    /// Writes an answer.
    func events(_ corpus: String, using random: inout TestRandom) throws -> [ToolEvent] {
        guard var guide = try guide() else { return [] }
        return try write(&guide, corpus, using: &random).events
    }

    /// Writes an answer and checks it.
    ///
    /// - Returns: how many calls it has.
    func check(_ corpus: String, using random: inout TestRandom) throws -> Int {
        guard var guide = try guide() else { return 0 }
        let (fed, events, endedItself) = try write(&guide, corpus, using: &random)
        #expect(fed.count <= limit && guide.used == fed.count, "\(place)")
        var text = ""
        var names: [String] = []
        var ids: [String] = []
        var arguments: [String] = []
        for event in events {
            switch event {
            case .text(let piece):
                #expect(names.isEmpty && !piece.isEmpty, "text comes first: \(place)")
                text += piece
            case .callBegan(let index, let id, let name):
                #expect(index == names.count, "\(place)")
                names.append(name)
                ids.append(id)
                arguments.append("")
            case .arguments(let index, let piece):
                try #require(index == arguments.count - 1, "\(place)")
                arguments[index] += piece
            }
        }
        #expect(Set(ids).count == ids.count, "\(place)")
        for (index, id) in ids.enumerated() {
            #expect(id == CallID.make(request: place, index: index, style: format.idStyle))
        }
        for (name, written) in zip(names, arguments) {
            let value = try GrammarJSON.read(Array(written.utf8))
            #expect(TestTools.accepts(name, value), "\(place): \(name) \(written)")
        }
        let written = vocabulary.text(fed)
        let isWhole = isWhole(text, names, arguments, written)
        #expect(isWhole, "\(place): \(text) \(names) \(arguments) of \(written)")
        try checkCount(names)
        let finish: ToolFinish = names.isEmpty ? endedItself ? .stop : .length : .toolCalls
        #expect(guide.finish == finish, "\(place)")
        return names.count
    }

    private func checkCount(_ names: [String]) throws {
        switch choice {
        case .none: #expect(names.isEmpty, "\(place)")
        case .auto: break
        case .required: #expect(!names.isEmpty, "\(place)")
        case .named(let name): #expect(names == [name], "\(place)")
        case .allowed(let allowed, let isRequired):
            #expect(names.allSatisfy(allowed.contains), "\(place)")
            #expect(!isRequired || !names.isEmpty, "\(place)")
        }
        if !parallel || format.callNext == nil { #expect(names.count <= 1, "\(place)") }
    }

    // MARK: - The model

    private func write(
        _ guide: inout ToolGuide, _ corpus: String, using random: inout TestRandom
    ) throws -> (fed: [Int32], events: [ToolEvent], endedItself: Bool) {
        var fed: [Int32] = []
        var events: [ToolEvent] = []
        // What the model is about to say.
        var script: [Int32] = []
        while true {
            let token: Int32
            switch try guide.next() {
            case .end:
                return (fed, events + guide.rest(), false)
            case .forced(let tokens):
                #expect(!tokens.isEmpty, "\(place)")
                for token in tokens { #expect(try guide.accept(token) == [token], "\(place)") }
                fed += tokens
                events += guide.takeEvents()
                continue
            case .choice(let all, let fitting, let endAllowed):
                let tokens = fitting.tokens.tokens
                #expect(tokens.allSatisfy { all.tokens.contains($0) }, "\(place)")
                let pick = Int.random(
                    in: 0..<(tokens.count + (endAllowed ? 1 : 0)), using: &random)
                if pick == tokens.count {
                    try guide.acceptEnd()
                    return (fed, events + guide.rest(), true)
                }
                token = tokens[pick]
            case .free:
                if script.isEmpty {
                    if Int.random(in: 0..<30, using: &random) == 0 {
                        try guide.acceptEnd()
                        return (fed, events + guide.rest(), true)
                    }
                    script = phrase(corpus, using: &random)
                }
                token = script.removeFirst()
            }
            let tokens = try guide.accept(token)
            #expect(!tokens.isEmpty, "\(place)")
            fed += tokens
            events += guide.takeEvents()
        }
    }

    /// A few tokens: any one, the marker, or a part of the corpus, cut into random tokens.
    private func phrase(_ corpus: String, using random: inout TestRandom) -> [Int32] {
        let tokenizer = vocabulary.tokenizer
        let any = Int32.random(in: 0..<Int32(tokenizer.vocabularySize), using: &random)
        if Bool.random(using: &random) { return [any] }
        var bytes: [UInt8]
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let ids = try? tokenizer.ids(of: format.marker)
            return ids.flatMap { $0.isEmpty ? nil : $0 } ?? [any]
        case 1: bytes = Array((format.isBare ? #"{"name": "# : format.marker + "\n{\"name").utf8)
        default:
            bytes = Array(corpus.utf8).suffix(Int.random(in: 1...corpus.utf8.count, using: &random))
        }
        var tokens: [Int32] = []
        while !bytes.isEmpty {
            let lengths = (1...min(24, bytes.count)).filter {
                vocabulary.token(Array(bytes.prefix($0))) != nil
            }
            let length = lengths.randomElement(using: &random) ?? 1
            tokens.append(vocabulary.token(Array(bytes.prefix(length))) ?? any)
            bytes.removeFirst(length)
        }
        return tokens
    }

    // MARK: - The whole

    /// Whether text and calls, put together as the format says, are what was written.
    private func isWhole(
        _ text: String, _ names: [String], _ arguments: [String], _ written: String
    ) -> Bool {
        guard written.utf8.starts(with: text.utf8) else { return false }
        let rest = Array(written.utf8)[text.utf8.count...]
        if names.isEmpty { return rest.isEmpty }
        // White space before a call is dropped; how much belongs to the call cannot be told where the
        // marker is a special token, which is no text.
        let spaces = rest.prefix { $0 == 0x20 || 0x09...0x0D ~= $0 }.count
        return (0...spaces).contains { areCalls(names, arguments, rest.dropFirst($0)) }
    }

    private func areCalls(
        _ names: [String], _ arguments: [String], _ written: ArraySlice<UInt8>
    ) -> Bool {
        var rest = written
        func take(_ wanted: String) -> Bool {
            guard rest.starts(with: wanted.utf8) else { return false }
            rest = rest.dropFirst(wanted.utf8.count)
            return true
        }
        _ = take(format.marker)
        guard take(format.afterMarker) else { return false }
        for (index, name) in names.enumerated() {
            if index > 0, let next = format.callNext, !take(next) {
                let parts = next.split(separator: format.marker, maxSplits: 1)
                guard parts.allSatisfy({ take(String($0)) }) else { return false }
            }
            guard take(#"{"name":"#) else { return false }
            _ = take(" ")
            guard take("\"\(name)\",") else { return false }
            _ = take(" ")
            guard take("\"\(format.argumentsKey)\":") else { return false }
            _ = take(" ")
            guard take(arguments[index] + "}"), take(format.callEnd) else { return false }
        }
        return take(format.listEnd) && rest.isEmpty
    }
}
