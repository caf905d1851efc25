import SkeinBasics
import SkeinGrammar
import SkeinModels
import SkeinTensors
import SkeinText
import Synchronization

/// What runs on the engine's thread: admits answers in their order, steps, and picks their tokens.
final class EngineLoop {
    private let batch: BatchDecoder
    private let tokenizer: Tokenizer
    private let inbox: EngineInbox
    private let figures: FiguresBox
    private let deliver: @Sendable ([AnswerEvent]) -> Void
    private let guesses: Bool
    private let owners: Int

    /// An answer and what was fed ahead for it.
    private struct Member {
        let answer: RunningAnswer
        /// Tokens that were computed before its answer.
        var promptTokens: Int
        /// Made when a guess is first allowed: it takes some 60 bytes a token.
        var lookup: PromptLookup?
        /// Guessed tokens that were fed behind the last one that was picked.
        var guess: [Int32] = []
        /// How many of them are known to be right.
        var right = 0
        /// Tokens that had been read before what was fed last.
        var base = 0
        /// Whether it only waits for its prompt to be read.
        var endsWithPrompt: FinishReason?
    }

    /// The first must fit before the next one is looked at.
    private var waiting: WaitingAnswers
    /// Those that begin anew, before any that waits.
    private var again: [RunningAnswer] = []
    private var running: [BatchDecoder.SequenceID: Member] = [:]
    private var events: [AnswerEvent] = []
    private var known = AnswerEngine.Figures()

    init(
        _ setup: AnswerEngine.Setup, weights: GenerationWeights, team: ComputeTeam,
        inbox: EngineInbox,
        figures: FiguresBox, deliver: @escaping @Sendable ([AnswerEvent]) -> Void
    ) {
        batch = BatchDecoder(
            weights: weights, plan: setup.plan, team: team, prefixes: setup.prefixes)
        let tokenizer = setup.tokenizer
        self.tokenizer = tokenizer
        waiting = WaitingAnswers { RunningAnswer($0, tokenizer) }
        (guesses, owners) = (setup.guesses, setup.owners)
        self.inbox = inbox
        self.figures = figures
        self.deliver = deliver
    }

    func run() {
        while true {
            let mail = inbox.take(waits: running.isEmpty && again.isEmpty && waiting.isEmpty)
            if mail.stops { return }
            for jobs in mail.jobs { waiting.append(jobs) }
            drop(mail.cancellations, mail.tells)
            admit()
            step()
            flush()
        }
    }

    private func flush() {
        known.running = running.count
        known.waiting = again.count + waiting.count
        known.cacheBytes = batch.cacheBytesInUse
        known.computedTokens = batch.tokensComputed
        figures.value.withLock { $0 = known }
        if events.isEmpty { return }
        deliver(events)
        events = []
    }

    private func drop(_ requests: [RequestID], _ tells: [EngineInbox.Tell] = []) {
        guard !requests.isEmpty else { return }
        let cut = end(Set(requests))
        for (request, tell) in tells { tell(cut[request] ?? []) }
    }

    /// Ends all answers of these requests.
    ///
    /// - Returns: what those took that had begun.
    private func end(_ gone: Set<RequestID>) -> [RequestID: [CutAnswer]] {
        waiting.remove(gone)
        var cut: [RequestID: [CutAnswer]] = [:]
        for answer in again where gone.contains(answer.job.request) {
            cut[answer.job.request, default: []].append(
                CutAnswer(
                    choice: answer.job.choice, promptTokens: answer.job.prompt.count,
                    cachedTokens: min(answer.job.prompt.count, answer.firstCachedTokens ?? 0),
                    answerTokens: 0))
        }
        again.removeAll { gone.contains($0.job.request) }
        for (id, member) in running where gone.contains(member.answer.job.request) {
            let job = member.answer.job
            cut[job.request, default: []].append(
                CutAnswer(
                    choice: job.choice,
                    promptTokens: min(
                        job.prompt.count, member.promptTokens - batch.unreadPromptTokens(of: id)),
                    cachedTokens: min(
                        job.prompt.count,
                        member.answer.firstCachedTokens ?? batch.cachedTokens(of: id)),
                    answerTokens: member.answer.tokens.count))
            leave(id)
        }
        return cut
    }

    private func leave(_ id: BatchDecoder.SequenceID) {
        batch.leave(id)
        running[id] = nil
    }

    // MARK: Beginning

    private func admit() {
        while let answer = again.first {
            switch begin(answer) {
            case .full: return
            case .begun: again.removeFirst()
            case .failed(let error): fail(answer, error)
            }
        }
        // An owner whose answers are being decoded may be passed by one that has none, and leaves it room.
        // One that has none waits for room as long as it takes.
        var passed: Set<RequestOwner> = []
        while let owner = waiting.owners.first(where: { !passed.contains($0) }),
            let answer = waiting.first(of: owner)
        {
            let decoding = decodingOwners
            let hasSome = decoding.contains(owner)
            switch begin(answer, keepsRoom: hasSome && decoding.count < owners) {
            case .full:
                guard hasSome else { return }
                passed.insert(owner)
            case .begun: waiting.removeFirst(of: owner)
            // Nothing of its request waits any longer.
            case .failed(let error): fail(answer, error)
            }
        }
    }

    private var decodingOwners: Set<RequestOwner> {
        Set(running.values.map(\.answer.job.owner) + again.map(\.job.owner))
    }

    private enum Beginning {
        /// Or it has ended already.
        case begun
        /// There is no room now.
        case full
        case failed(any Error)
    }

    private func begin(_ answer: RunningAnswer, keepsRoom: Bool = false) -> Beginning {
        let job = answer.job
        do {
            // Tokens that must come first are read with the prompt.
            let first = try answer.first()
            var (prompt, ends) = (job.prompt, FinishReason?.none)
            switch first {
            // It is asked again at every step while there is no room: nothing is copied for nothing.
            case .feed(let tokens) where tokens.isEmpty: break
            case .feed(let tokens): prompt += tokens
            case .restart: throw GrammarError.tooComplex
            case .ended(let reason):
                ends = reason
                // The request does not ask about the prompt.
                guard job.tellsPrompt else {
                    finish(
                        answer, reason, promptTokens: job.prompt.count,
                        cached: answer.firstCachedTokens ?? 0)
                    return .begun
                }
            }
            let left = job.maximumTokens - (prompt.count - job.prompt.count)
            switch batch.admit(
                prompt: prompt, maximumTokens: left, adapter: job.adapter,
                tellsPrompt: job.tellsPrompt, keepsRoom: keepsRoom)
            {
            case .admitted(let id):
                running[id] = Member(
                    answer: answer, promptTokens: prompt.count,
                    endsWithPrompt: ends)
                return .begun
            case .full: return .full
            case let refusal: return .failed(AnswerError.refused(refusal))
            }
        } catch {
            return .failed(error)
        }
    }

    // MARK: Stepping

    private struct Cancelled: Error {}

    private func step() {
        guard !running.isEmpty, !batch.isIdle else { return }
        // When all clients are gone, the step ends: its results would not be read. As long as one
        // is there, it goes on: it would have to be done again.
        func check() throws {
            if inbox.areCancelled(running.values.lazy.map(\.answer.job.request)) {
                throw Cancelled()
            }
        }
        do {
            try batch.step(check: check) { take($0) }
        } catch {
            // Only `check` throws: what was not read is read by the next step, unless the answer is
            // gone then.
        }
        // What must come first is known before the prompt is read; it is told with what the model says.
        for (id, member) in running where batch.unreadPromptTokens(of: id) == 0 {
            tell(id, member.answer)
        }
    }

    private func take(_ logits: BatchDecoder.Logits) {
        guard let member = running[logits.id] else { return }
        let answer = member.answer
        do {
            if let position = logits.promptPosition, answer.job.tellsPrompt {
                answer.recordPrompt(position, logits.values)
                if position + 1 < member.promptTokens { return }
                if let reason = member.endsWithPrompt { return end(logits.id, answer, reason) }
            }
            try go(on: logits, member)
            // A client that waits for the first token need not wait for the others' next ones.
            if logits.index == nil, running[logits.id] != nil {
                tell(logits.id, answer)
                deliver(events)
                events = []
            }
        } catch {
            fail(answer, error)
        }
    }

    private func go(on logits: BatchDecoder.Logits, _ member: Member) throws {
        var member = member
        let id = logits.id
        let before = member.answer.tokens.count
        let outcome = try member.answer.advance(logits.values)
        if outcome == .restart {
            // Its prompt is read again, but for what the prefix cache has: it is the same for all.
            member.answer.firstCachedTokens = batch.cachedTokens(of: id)
            leave(id)
            return again.append(member.answer)
        }
        for token in member.answer.tokens[before...] { member.lookup?.append(token) }
        let tokens: [Int32]
        switch outcome {
        case .ended(let reason): return end(id, member.answer, reason)
        case .restart: return
        case .feed(let picked): tokens = picked
        }
        if member.right < member.guess.count {
            if tokens == [member.guess[member.right]] {
                // It has been read already, and what follows it comes next.
                member.right += 1
                known.rightGuesses += 1
                running[id] = member
                return
            }
            _ = batch.truncate(id, to: member.base + 1 + member.right)
        }
        member.lookup?.note(right: member.right, of: member.guess.count)
        guess(id, tokens, &member)
        running[id] = member
        feed(id, tokens, member)
    }

    /// Guesses what follows what was picked, where rows are free.
    private func guess(
        _ id: BatchDecoder.SequenceID, _ tokens: [Int32], _ member: inout Member
    ) {
        member.right = 0
        member.guess = []
        member.base = batch.tokenCount(of: id)
        if tokens.count == 1, running.count <= Self.guessingAnswers {
            let job = member.answer.job
            if member.lookup == nil, guesses, member.answer.isFree {
                member.lookup = PromptLookup(prompt: job.prompt + member.answer.tokens)
            }
            let room = min(
                batch.guessRoom(of: id) - 1, batch.plan.rows / max(1, running.count) - 1,
                job.maximumTokens - member.answer.tokens.count)
            member.guess = member.lookup?.guess(atMost: room) ?? []
            known.guessedTokens += member.guess.count
        }
    }

    private func feed(_ id: BatchDecoder.SequenceID, _ tokens: [Int32], _ member: Member) {
        let feeding = batch.feed(id, tokens + member.guess, wantsEach: !member.guess.isEmpty)
        guard feeding != .fed else { return }
        // Its tokens were counted when it was admitted.
        fail(member.answer, AnswerError.notFed(feeding))
    }

    /// With more answers than this their rows are worth more than guesses.
    private static let guessingAnswers = 2

    private func tell(_ id: BatchDecoder.SequenceID, _ answer: RunningAnswer) {
        let piece = answer.takePiece()
        if piece.isEmpty { return }
        events.append(
            AnswerEvent(
                request: answer.job.request, choice: answer.job.choice, content: .piece(piece)))
    }

    // MARK: Ending

    private func end(
        _ id: BatchDecoder.SequenceID, _ answer: RunningAnswer, _ reason: FinishReason
    ) {
        let cached = answer.firstCachedTokens ?? batch.cachedTokens(of: id)
        leave(id)
        finish(answer, reason, promptTokens: answer.job.prompt.count, cached: cached)
    }

    private func finish(
        _ answer: RunningAnswer, _ reason: FinishReason, promptTokens: Int, cached: Int
    ) {
        let piece = answer.takePiece()
        let job = answer.job
        if !piece.isEmpty {
            events.append(
                AnswerEvent(request: job.request, choice: job.choice, content: .piece(piece)))
        }
        events.append(
            AnswerEvent(
                request: job.request, choice: job.choice,
                content: .finished(
                    AnswerEnd(
                        reason: reason, promptTokens: promptTokens,
                        cachedTokens: min(cached, promptTokens), answerTokens: answer.tokens.count))
            ))
    }

    /// All other answers of the request end with it.
    private func fail(_ answer: RunningAnswer, _ error: any Error) {
        let request = answer.job.request
        for cut in end([request])[request] ?? [] {
            events.append(AnswerEvent(request: request, choice: cut.choice, content: .cut(cut)))
        }
        events.append(
            AnswerEvent(request: request, choice: answer.job.choice, content: .failed(error)))
    }
}
