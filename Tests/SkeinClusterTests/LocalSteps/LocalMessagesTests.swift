import SkeinBasics
import SkeinCoordination
import Testing

@testable import SkeinCluster
@testable import SkeinRows
@testable import SkeinTraining

/// What a coordinator and its workers send each other in a run with local steps.
@Suite("messages of local steps")
struct LocalMessagesTests {
    private static let count = 5
    private static let settings: LocalSettings? = {
        var configuration = TrainingConfiguration.fixed
        (configuration.localSteps, configuration.logicalWorkers) = (2, 2)
        configuration.deltaCodec = .topk
        configuration.topkDensity = 0.5
        return try? LocalSettings(configuration)
    }()

    private static let row = TokenizedRow(number: 3, ids: [1, 2, 3], targets: [1..<3])
    private static let work = LocalWork(
        round: 4, worker: 1, stepsDone: 6, scheduledSteps: 20, steps: [[[row], [row]], [[row]]])
    private static let outer = OuterState(
        parameters: [1, 2, 3, 4, 5], momentum: [0.5, 0, 0, 0, -1])
    private static let state = LocalState(
        steps: 6, averages: [1, 2, 3, 4, 5], squareAverages: [5, 4, 3, 2, 1],
        error: [0, 0, 0, 0, 0.25])

    @Test("a payload is read back, and one that is shorter than it says is not")
    func payload() {
        let payload = LocalPayload(
            name: [UInt8](0..<32), change: [1, 2, 3], state: [4, 5])
        #expect(LocalPayload(payload.bytes) == payload)
        #expect(LocalPayload(Array(payload.bytes.dropLast(3))) == nil)
        #expect(LocalPayload([1, 2]) == nil)
        var long = payload.bytes
        long[35] = 255
        #expect(LocalPayload(long) == nil)
    }

    @Test("what rebuilds a state arrives as it was, and damaged bytes are typed errors")
    func replay() throws {
        let work = Self.work
        var history = LocalHistory(
            round: 3, outer: Self.outer, states: [Self.state, Self.state],
            work: { round, worker in round == 4 && worker == 1 ? work : nil })
        history.averages = [[1, 2], [3]]
        let sent = StateReplay(WorkKey(round: 9, index: 1), history, scheduledSteps: 20)
        func received(_ replay: StateReplay) throws -> LocalReplay {
            try replay.replay(count: Self.count) { $0.map { TokenizedRow($0) } }
        }
        let known = try received(sent)
        #expect(known.state == Self.state && known.outer == Self.outer)
        #expect(known.rounds.map(\.average) == [[1, 2], [3]])
        #expect(known.rounds[0].work?.steps == work.steps && known.rounds[0].work?.round == 4)
        // It sat the second round out.
        #expect(known.rounds[1].work == nil)
        var damaged = sent
        damaged.state.removeLast()
        #expect(throws: CodecError.self) { try received(damaged) }
        damaged = sent
        damaged.outer[0] ^= 1
        #expect(throws: CodecError.self) { try received(damaged) }
    }

    @Test("a worker applies the outer step to a coded average; the hash tells a wrong one")
    func parameters() throws {
        let settings = try #require(Self.settings)
        let coding = ParameterCoding(settings, count: Self.count)
        var publisher = ParameterPublisher()
        let first = publisher.publish(Self.outer.values, by: nil)
        var average: [Float] = [0.5, -0.25, 0, 0, 0.125]
        let packed = settings.codec.pack(
            &average, DeltaCodec.Address(seed: 0, round: 1, sender: 2))
        var outer = Self.outer
        settings.outer.apply(average, to: &outer)
        let second = publisher.publish(outer.values, by: packed)
        #expect(second.version == 2 && second.forQueue.hasDifferences(from: 1))
        func job(_ publication: ParameterPublication) -> LeaseJob {
            LeaseJob(
                lease: LeaseGrant(
                    key: WorkKey(round: 1, index: 0), attempt: 1, work: .gradient(nil), step: 1,
                    parameterVersion: publication.version, parameterDigest: publication.digest,
                    rows: []), start: [1])
        }
        #expect(publisher.publish(outer.values, by: nil).version == 2)
        func updates(_ publication: ParameterPublication, from old: UInt64) throws
            -> [ParameterUpdate]
        {
            try #require(publication.messages(from: old)).map { message in
                let decoded = try Message.decode(.parameters, message.bytes)
                guard case .parameters(let update) = decoded else { throw CancellationError() }
                return update
            }
        }
        let store = ParameterStore(coding)
        var all = try updates(first, from: 0) + updates(second, from: 1)
        for update in all { #expect(store.receive(update, start: [1])) }
        guard
            case .parameters(let values) = store.parameters(
                of: job(second), isAbandoned: { false })
        else {
            Issue.record("no parameters")
            return
        }
        #expect(values == outer.values)
        // Another average, with the hash of this one.
        all[1].payload[all[1].payload.count - 1] ^= 0x40
        let other = ParameterStore(coding)
        for update in all { #expect(other.receive(update, start: [1])) }
        guard
            case .unusable(version: 2) = other.parameters(
                of: job(second), isAbandoned: { false })
        else {
            Issue.record("a wrong average was used")
            return
        }
        // Parameters that no average leads to are sent in full.
        let third = publisher.publish(Self.outer.values, by: nil)
        #expect(third.version == 3 && third.messages(from: 2) == nil)
    }

    @Test("a result is refused when change, state or name is not what the lease asked for")
    func results() throws {
        let settings = try #require(Self.settings)
        func check(wantsState: Bool, _ change: (inout LocalPayload) -> Void) -> ResultCheck.Verdict
        {
            let round = OuterRound(
                number: 4, work: [Self.work], outer: Self.outer, starts: [nil, nil],
                wantsState: [wantsState],
                history: LocalHistory(
                    round: 3, outer: Self.outer, states: [], work: { _, _ in nil }))
            var publisher = ParameterPublisher()
            let leased = RoundWork(
                number: 1, label: .step(4), work: .local(round), step: 4, rows: [Self.work.rows],
                publication: publisher.publish(Self.outer.values, by: nil))
            var values: [Float] = [1, -1, 0, 0.5, 0]
            let packed = settings.codec.pack(
                &values, DeltaCodec.Address(seed: 0, round: 4, sender: 1))
            let state = LocalState(
                steps: 8, averages: Self.state.averages,
                squareAverages: Self.state.squareAverages, error: Self.state.error)
            var payload = LocalPayload(
                name: state.digest.bytes, change: packed, state: wantsState ? state.packed : [])
            change(&payload)
            let recipe = WorkRecipe(model: [], TrainingConfiguration.fixed)
            let result = WorkResult(
                key: WorkKey(round: 1, index: 0), attempt: 1, kind: .local, tokens: 9,
                lossTokens: 6, correct: 0, lossSum: 2,
                digest: GradientCodec.digest(of: values).bytes,
                inputs: leased.inputs(0, recipe).digest.bytes, payload: payload.bytes)
            return ResultCheck(
                round: leased, recipe: recipe, codec: .fp32, parameterCount: Self.count,
                local: settings
            )(ReceivedResult(peer: PeerID(1), worker: "w", result: result))
        }
        func isAccepted(_ verdict: ResultCheck.Verdict) -> Bool {
            if case .accepted = verdict { true } else { false }
        }
        for wantsState in [false, true] {
            let good = check(wantsState: wantsState) { _ in }
            #expect(isAccepted(good))
            #expect((good.result?.state?.state != nil) == wantsState)
        }
        #expect(!isAccepted(check(wantsState: true) { $0.state = [] }))
        #expect(!isAccepted(check(wantsState: false) { $0.state = [1] }))
        #expect(!isAccepted(check(wantsState: true) { $0.name[0] ^= 1 }))
        #expect(!isAccepted(check(wantsState: true) { $0.state.removeLast() }))
        #expect(!isAccepted(check(wantsState: false) { $0.change.removeLast() }))
        #expect(!isAccepted(check(wantsState: false) { $0.change[$0.change.count - 1] ^= 1 }))
    }

    @Test("the longer states are not saved, the longer what rebuilds them may be")
    func bounds() throws {
        let settings = try #require(Self.settings)
        let bounds = [10, 20].map { every in
            var configuration = TrainingConfiguration.fixed
            configuration.saveStateEvery = every
            return LocalBounds(settings, configuration, count: Self.count)
        }
        let difference = bounds[1].replayBytes - bounds[0].replayBytes
        let change = settings.codec.mostPackedBytes(count: Self.count)
        #expect(difference == 10 * (StateReplay.roundBytes + change))
        #expect(bounds[0].resultBytes == bounds[1].resultBytes)
        #expect {
            var configuration = TrainingConfiguration.fixed
            configuration.saveStateEvery = 100
            try RunIdentity.checkSizes(
                parameterCount: 100_000_000, codec: .fp32,
                local: LocalBounds(settings, configuration, count: 100_000_000))
        } throws: { error in
            guard case NodeError.replayTooLarge = error else { return false }
            return true
        }
    }

    @Test("a thread that waits for a state gets it, or learns that it is no longer wanted")
    func rebuilt() {
        let held = HeldStates(workers: 2)
        let key = WorkKey(round: 2, index: 1)
        let replay = StateReplay(
            key: key, round: 0, stepsDone: 0, scheduledSteps: 1, state: [], outer: [], rounds: [])
        // It is not waited for yet.
        held.receive(replay)
        var asked: [WorkKey] = []
        let found = held.replay(
            for: key,
            asking: {
                asked.append($0)
                held.receive(replay)
            }, isAbandoned: { false })
        #expect(found == replay && asked == [key])
        #expect(held.replay(for: key, asking: { _ in }, isAbandoned: { true }) == nil)
        // One whose work is no longer wanted does not take what another one waits for.
        let other = held.replay(
            for: key,
            asking: { key in
                #expect(held.wants(key))
                #expect(held.replay(for: key, asking: { _ in }, isAbandoned: { true }) == nil)
                #expect(held.wants(key))
                held.receive(replay)
                #expect(!held.wants(key))
            }, isAbandoned: { false })
        #expect(other == replay)
        held.close()
        #expect(held.replay(for: key, asking: { _ in }, isAbandoned: { false }) == nil)
    }
}
