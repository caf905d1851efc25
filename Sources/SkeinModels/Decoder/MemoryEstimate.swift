import SkeinTensors

/// What a training run will hold in memory, in bytes, computed before any of it is allocated.
///
/// Workspaces are measured by laying them out without memory, so the estimate and the allocation
/// cannot drift apart. Checked against the kernel's own figure (VmHWM) in `docs/BENCHMARKS.md`.
package struct MemoryEstimate: Sendable, Equatable {
    /// Everything that the estimate depends on.
    package struct Plan: Sendable, Equatable {
        package var model: ModelConfiguration
        package var adapter: AdapterShape
        package var residence: WeightResidence
        package var compute: ComputeType
        package var gradientCheckpointing: Bool
        package var dropout: Bool
        package var threads: Int
        /// Tokens of the largest micro-batch.
        package var tokens: Int
        /// Tokens of the longest sequence.
        package var longest: Int
        /// Most loss tokens in one micro-batch.
        package var lossTokens: Int
        /// Bytes of the model's file, which is mapped.
        package var fileBytes: Int
        /// What is judged without gradient (validation); nil when nothing is.
        package var judged: Judged?
        /// Numbers of the adapter as it is written for others, if that is another form.
        package var exportCount: Int
        /// Whether features are kept on disk: a batch's are read or made before the pass.
        package var readsFeatures: Bool

        package init(
            model: ModelConfiguration, adapter: AdapterShape, residence: WeightResidence,
            compute: ComputeType = .fp32, gradientCheckpointing: Bool, dropout: Bool, threads: Int,
            tokens: Int, longest: Int,
            lossTokens: Int, fileBytes: Int, judged: Judged? = nil, exportCount: Int = 0,
            readsFeatures: Bool = false
        ) {
            self.readsFeatures = readsFeatures
            self.model = model
            self.adapter = adapter
            self.residence = residence
            self.compute = compute
            self.gradientCheckpointing = gradientCheckpointing
            self.dropout = dropout
            self.threads = threads
            self.tokens = tokens
            self.longest = longest
            self.lossTokens = lossTokens
            self.fileBytes = fileBytes
            self.judged = judged
            self.exportCount = exportCount
        }
    }

    /// The largest batches of a validation, as many as are computed at once.
    package struct Judged: Sendable, Equatable {
        package var threads: Int
        package var tokens: Int
        package var lossTokens: Int

        package init(threads: Int, tokens: Int, lossTokens: Int) {
            self.threads = threads
            self.tokens = tokens
            self.lossTokens = lossTokens
        }
    }

    /// The base model: in fp32 or packed bf16 or int8 when resident; its mapped file when streamed.
    package let weights: Int
    /// Activations and scratch of one training thread.
    package let workspace: Int
    /// What judging takes beyond that, on all threads together: it may use more threads and larger
    /// batches.
    package let judging: Int
    /// The adapter, its gradient sums, the optimizer's moments, and a checkpoint being written.
    package let adapter: Int
    package let threads: Int

    package var total: Int { weights + threads * workspace + judging + adapter }

    package init(_ plan: Plan) {
        workspace = Self.workspaceBytes(
            plan, tokens: plan.tokens, lossTokens: plan.lossTokens, training: true)
        if let judged = plan.judged {
            // Training workspaces judge first, growing if they must; the others are extra.
            let bytes = Self.workspaceBytes(
                plan, tokens: judged.tokens, lossTokens: judged.lossTokens, training: false)
            let shared = min(plan.threads, judged.threads)
            judging = shared * max(0, bytes - workspace) + (judged.threads - shared) * bytes
        } else {
            judging = 0
        }
        weights =
            plan.residence == .resident
            ? plan.model.residentBytes(plan.compute) : plan.fileBytes
        // Parameters, two moments, a checkpoint's copies of the three, the step's sum, and per thread
        // one gradient being written and one waiting for its sibling.
        // Another form is written when no checkpoint is, as a vector and as tensors.
        let count = plan.adapter.layout.count
        adapter =
            4 * (count * (4 + 2 * plan.threads) + max(3 * count, 2 * plan.exportCount))
        threads = plan.threads
    }

    /// Runs that share weights and workspaces, and compute in turns; each has an adapter of its own.
    ///
    /// - Parameter runs: at least one.
    package init(inTurns runs: [MemoryEstimate]) {
        weights = runs.map(\.weights).max() ?? 0
        threads = runs.map(\.threads).max() ?? 0
        workspace = runs.map(\.workspace).max() ?? 0
        judging = runs.map(\.judging).max() ?? 0
        adapter = runs.reduce(0) { $0 + $1.adapter }
    }

    private static func workspaceBytes(
        _ plan: Plan, tokens: Int, lossTokens: Int, training: Bool
    ) -> Int {
        let size = BatchSize(
            tokens: tokens, longest: plan.longest, lossRows: lossTokens, model: plan.model,
            adapter: plan.adapter, training: training, compute: plan.compute,
            checkpointing: plan.gradientCheckpointing,
            dropout: training && plan.dropout,
            streamedFloats: plan.residence == .resident
                ? 0 : plan.model.largestStreamedFloats(plan.compute))
        var arena = Arena()
        _ = BatchMemory(size, &arena)
        // The batch's features, as many that were just made, and a row as the file has it.
        let features = plan.readsFeatures ? 3 * tokens * plan.model.width : 0
        return 4 * (arena.used + features)
    }
}

extension ModelConfiguration {
    /// Numbers in the base model; a tied head counts once.
    package var parameterCount: Int {
        let blocks = design.blocks.reduce(0) { sum, block in
            block.projections.reduce(sum + vectorCount(block)) { $0 + $1.inputs * $1.outputs }
        }
        let embeddings = (tiedEmbeddings ? 1 : 2) * vocabularySize * width
        return blocks + embeddings + width
    }

    /// Numbers in the norms and biases of a block.
    private func vectorCount(_ block: BlockDesign) -> Int {
        let heads = block.headNorms.map { norms in
            norms.extent == .head ? 2 : headCount + keyValueHeadCount
        }
        return block.projections.reduce(block.norms.names.count * width) {
            $0 + ($1.hasBias ? $1.outputs : 0)
        } + (heads ?? 0) * headDimension
    }

    /// Bytes of all weights when resident.
    package func residentBytes(_ compute: ComputeType) -> Int {
        func bytes(_ outputs: Int, _ inputs: Int) -> Int {
            compute == .int8
                ? QuantizedWeight.bytes(outputs: outputs, inputs: inputs)
                : PackedWeight.bytes(rows: outputs, columns: inputs)
        }
        guard compute != .fp32 else { return 4 * parameterCount }
        let blocks = design.blocks.reduce(0) { sum, block in
            block.projections.reduce(sum + 4 * vectorCount(block)) {
                $0 + bytes($1.outputs, $1.inputs)
            }
        }
        return blocks + bytes(vocabularySize, width)
    }

    /// Floats of the largest piece that a streamed pass dequantizes at once.
    func largestStreamedFloats(_ compute: ComputeType) -> Int {
        let panel = (inputs: width, outputs: min(DecoderWorkspace.headPanel, vocabularySize))
        func floats(_ inputs: Int, _ outputs: Int) -> Int {
            switch compute {
            case .fp32: inputs * outputs
            case .bf16: StreamedProduct(outputs: outputs, inputs: inputs).scratchBytes / 4
            case .int8: StreamedQuantizedProduct(outputs: outputs, inputs: inputs).scratchBytes / 4
            }
        }
        return design.blocks.reduce(floats(panel.inputs, panel.outputs)) { most, block in
            block.projections.reduce(most) { max($0, floats($1.inputs, $1.outputs)) }
        }
    }
}
