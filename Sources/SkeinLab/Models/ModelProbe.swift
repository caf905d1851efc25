import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining

/// What the engine makes of rows and prompts, in numbers that another program can check: logits,
/// loss, gradients and greedy tokens. It needs no tokenizer.
package struct ModelProbe {
    /// Rows and prompts as ids, and what is computed of them.
    package struct Plan: Codable, Sendable {
        package struct Row: Codable, Sendable {
            package var ids: [Int32]
            /// Places in `ids` that carry loss; 0 never does.
            package var targets: [Int]
        }

        package struct Job: Codable, Sendable {
            package var adapter: String?
            /// Where to write the adapter as other tools take it.
            package var exported: String?
            /// The `id` of an `AdapterFormat`; nil: PEFT's.
            package var format: String?
            package var compute: String?
            package var threads: Int?
            package var streamed: Bool?
            package var checkpointing: Bool?
            /// A `DesignField` that is switched off.
            package var disable: String?
            package var output: String
        }

        package var rows: [Row]
        package var prompts: [[Int32]]
        /// Greedy tokens after each prompt.
        package var tokens: Int
        package var jobs: [Job]
    }

    /// Computes all jobs of a plan and writes their files.
    ///
    /// - Parameters:
    ///   - model: opened.
    ///   - path: of the plan, a JSON file.
    /// - Returns: the output of each job; those that disable a field that the model does not have
    ///   are left out.
    /// - Throws: `BenchError.badPlan`, `FormatError`; errors of model, adapter and files.
    package static func run(_ model: ModelDirectory, plan path: String) throws -> [String] {
        let plan = try JSONFile.decode(Plan.self, path: path, limit: Limits.planBytes)
        try check(plan, model.configuration, path)
        var written: [String] = []
        for job in plan.jobs {
            var model = model
            if let name = job.disable {
                guard let field = DesignField(rawValue: name) else {
                    throw BenchError.badPlan(what: "no field \(name)", place: path)
                }
                var design = model.configuration.design
                field.disable(&design, headDimension: model.configuration.headDimension)
                if design == model.configuration.design { continue }
                model.configuration.design = design
            }
            try ModelProbe(model: model, plan: plan, job: job, path: path).run()
            written.append(job.output)
        }
        return written
    }

    private let model: ModelDirectory
    private let plan: Plan
    private let job: Plan.Job
    private let path: String

    private static func check(
        _ plan: Plan, _ model: ModelConfiguration, _ path: String
    ) throws(BenchError) {
        let ids = 0..<Int32(clamping: model.vocabularySize)
        let areRows = plan.rows.allSatisfy { row in
            row.ids.count > 1 && row.ids.allSatisfy(ids.contains)
                && row.targets.allSatisfy { (1..<row.ids.count).contains($0) }
        }
        let arePrompts = plan.prompts.allSatisfy { !$0.isEmpty && $0.allSatisfy(ids.contains) }
        guard areRows, arePrompts, (0...Limits.planTokens).contains(plan.tokens) else {
            throw .badPlan(what: "a row or prompt does not fit the model", place: path)
        }
    }

    private func run() throws {
        guard let compute = ComputeType(rawValue: job.compute ?? "fp32") else {
            throw BenchError.badPlan(what: "no compute type \(job.compute ?? "")", place: path)
        }
        let threads = max(1, min(job.threads ?? 1, Limits.planThreads))
        let loaded = try job.adapter.map {
            try LoadedAdapter.read($0, for: model, matching: ModulePatterns.matching)
        }
        let adapter = loaded?.parameters
        if let loaded, let path = job.exported {
            let format =
                AdapterFormats.standard.all.first { $0.id == job.format } ?? PEFTAdapter()
            try AdapterExport(loaded.parameters, source: loaded.configuration, model: model)
                .write(format, to: path)
        }
        let longest = plan.rows.reduce(1) { max($0, $1.ids.count) }
        let weights = try DecoderWeights(
            model: model, residence: job.streamed == true ? .streamed : .resident,
            compute: compute, positions: longest, threads: threads)
        let decoder = Decoder(
            weights: weights, adapter: adapter?.shape,
            gradientCheckpointing: job.checkpointing ?? false,
            baseNorms: try BaseNorms.needed(adapter?.shape, of: model))
        var tensors = train(decoder, adapter)
        try generate(adapter, compute, threads: threads, into: &tensors)
        try SafetensorsWriter.write(tensors, metadata: ["format": "pt"], to: job.output)
    }

    /// "logits.R", [n - 1, V], of each row; "loss", [2], sum and count over all rows; and the sum
    /// gradient of each matrix by its name.
    private func train(
        _ decoder: Decoder, _ adapter: AdapterParameters?
    ) -> [SafetensorsWriter.Tensor] {
        let workspace = DecoderWorkspace()
        let vocabulary = model.configuration.vocabularySize
        var tensors: [SafetensorsWriter.Tensor] = []
        let values = adapter?.values ?? []
        for (index, row) in plan.rows.enumerated() {
            let batch = PackedBatch([
                .init(
                    tokens: row.ids, isTarget: row.ids.indices.map { $0 > 0 },
                    number: UInt32(truncatingIfNeeded: index))
            ])
            let logits = values.withUnsafeBufferPointer {
                decoder.logits(
                    of: batch, parameters: adapter == nil ? nil : $0.baseAddress,
                    workspace: workspace)
            }
            tensors.append(
                .init(
                    name: "logits.\(index)", shape: [row.ids.count - 1, vocabulary],
                    floats: logits))
        }
        let batch = PackedBatch(
            plan.rows.enumerated().map { index, row in
                let targets = Set(row.targets)
                return .init(
                    tokens: row.ids, isTarget: row.ids.indices.map(targets.contains),
                    number: UInt32(truncatingIfNeeded: index))
            })
        let loss: BatchLoss
        if let adapter {
            var gradient = [Float](repeating: 0, count: values.count)
            loss = decoder.gradient(
                of: batch, parameters: values, dropout: nil, workspace: workspace, into: &gradient)
            tensors += adapter.shape.layout.tensors(gradient)
        } else {
            loss = decoder.loss(of: batch, parameters: nil, workspace: workspace)
        }
        tensors.append(
            .init(
                name: "loss", shape: [2], floats: [Float(loss.lossSum), Float(loss.lossTokens)]))
        return tensors
    }

    /// "tokens.P", [N], the greedy tokens after each prompt, and "steps.P", [N, V], the logits that
    /// each was picked from.
    private func generate(
        _ adapter: AdapterParameters?, _ compute: ComputeType, threads: Int,
        into tensors: inout [SafetensorsWriter.Tensor]
    ) throws {
        guard plan.tokens > 0, !plan.prompts.isEmpty else { return }
        let team = ComputeTeam(threadCount: threads)
        let weights = try GenerationWeights(model: model, compute: compute, team: team)
        for (index, prompt) in plan.prompts.enumerated() {
            func session() -> DecoderSession {
                DecoderSession(
                    weights: weights, adapter: adapter, capacity: prompt.count + plan.tokens,
                    team: team, compute: compute)
            }
            var tokens: [Int32] = []
            try Generator(session: session(), sampler: Sampler(), stopTokens: []).run(
                prompt: prompt, maximumTokens: plan.tokens, check: DecoderSession.uninterrupted
            ) {
                tokens.append($0)
                return true
            }
            let again = session()
            var steps = again.logits(after: prompt)
            for token in tokens.dropLast() { steps += again.logits(after: [token], as: .answer) }
            tensors.append(
                .init(
                    name: "tokens.\(index)", shape: [tokens.count], floats: tokens.map(Float.init)))
            tensors.append(
                .init(
                    name: "steps.\(index)",
                    shape: [tokens.count, model.configuration.vocabularySize], floats: steps))
        }
    }
}
