import Foundation
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels
@testable import SkeinModelsTestSupport

@Suite struct PassProgressTests {
    private let batch = TinyDecoder.batch([20, 7, 33])

    private func gradient(
        _ decoder: Decoder, _ progress: PassProgress?
    ) -> (loss: BatchLoss?, gradient: [Float]) {
        let shape = decoder.adapter
        var gradient = [Float](repeating: 0, count: shape?.layout.count ?? 0)
        let loss = decoder.gradient(
            of: batch, parameters: shape.map(TinyDecoder.parameters) ?? [], dropout: nil,
            workspace: DecoderWorkspace(), into: &gradient, progress: progress)
        return (loss, gradient)
    }

    private func decoder(_ layers: Range<Int>, count: Int = 3) throws -> Decoder {
        var tiny = TinyModel()
        tiny.layerCount = count
        let weights = try TinyDecoder.weights(tiny)
        let lora = LoRAConfiguration(
            rank: 2, scale: 1, dropout: 0, targets: [.query, .value], layers: layers)
        return Decoder(
            weights: weights, adapter: AdapterShape(lora, model: weights.configuration))
    }

    @Test("a pass that reports progress counts every layer, and has the same bits")
    func follows() throws {
        for (layers, expected) in [(0..<3, 6), (2..<3, 4)] {
            let decoder = try decoder(layers)
            let progress = PassProgress()
            #expect(progress.thousandths == 0)
            let followed = gradient(decoder, progress)
            let alone = gradient(decoder, nil)
            #expect(followed.loss != nil && followed.loss == alone.loss)
            #expect(followed.gradient == alone.gradient)
            #expect(progress.layerCount == expected && progress.layersDone == expected)
            #expect(progress.thousandths == 1000)
            let parameters = decoder.adapter.map(TinyDecoder.parameters) ?? []
            let loss = decoder.loss(
                of: batch, parameters: parameters, workspace: DecoderWorkspace(),
                progress: progress)
            #expect(loss == alone.loss)
            #expect(progress.layerCount == 3 && progress.layersDone == 3)
        }
    }

    @Test("an abandoned pass gives nothing and computes no further layer")
    func abandoned() throws {
        let decoder = try decoder(0..<3)
        let progress = PassProgress()
        progress.abandon()
        #expect(progress.isAbandoned)
        #expect(gradient(decoder, progress).loss == nil)
        #expect(progress.layersDone == 0)
        let loss = decoder.loss(
            of: batch, parameters: nil, workspace: DecoderWorkspace(), progress: progress)
        #expect(loss == nil)
    }

    @Test("another thread ends a pass between its layers")
    func fromOutside() throws {
        // The other thread waits until the pass has begun. On a busy machine it may wake when the
        // pass is over; then the next pass is tried.
        let decoder = try decoder(0..<60, count: 60)
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            let progress = PassProgress()
            let thread = Thread {
                while progress.layersDone == 0 { sched_yield() }
                progress.abandon()
            }
            thread.start()
            let loss = gradient(decoder, progress).loss
            while !progress.isAbandoned { sched_yield() }
            #expect((loss == nil) == (progress.layersDone < 120))
            if loss == nil { return }
        }
        Issue.record("for five minutes passes were over before another thread could abandon them")
    }
}
