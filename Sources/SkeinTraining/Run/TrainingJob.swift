import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinText

/// Everything that determines a run, read and checked: model, rows, plan, adapter shape.
///
/// Nothing of the run is computed or written yet, and no weights are loaded; every mistake in the input
/// is reported here.
package struct TrainingJob: Sendable {
    package private(set) var configuration: TrainingConfiguration
    package let model: ModelDirectory
    package internal(set) var training: [TokenizedRow]
    /// The sequences of each training row, which always stand in one micro-batch.
    package let trainingGroups: [Range<Int>]
    package internal(set) var validation: [TokenizedRow]
    package internal(set) var test: [TokenizedRow]
    package let plan: StepPlan
    /// Set in a run with local steps.
    package let local: LocalSettings?
    package let shape: AdapterShape
    /// How the adapter is written for others; nil: as it is.
    package let export: FusedExport?
    /// Where the adapter starts: random A and zero B, or an adapter from disk.
    package let initial: AdapterParameters
    package let report: DataReport
    /// What was left to the run, and what it has found.
    package let resolved: [ResolvedOption]
    /// Whether tokens were encoded or cached; nothing depends on it.
    package let tokenOrigin: TokenOrigin
    /// What may not fit between the adapter it starts from and this run.
    private let initialWarnings: [String]
    /// How rows become text, for the adapter's record: the format, and SHA-256 of the chat template if the
    /// format has one.
    private let trainedText: (format: PromptFormat, templateDigest: String?)
    /// What is answered after each validation.
    package let samplePrompts: [SamplePrompt]
    /// The text of ids, and the tokens that end an answer, for samples.
    package let decode: @Sendable ([Int32]) -> String
    package let endOfTurnIDs: Set<Int32>
    package internal(set) var runFile: RunFile
    /// The token that begins rows of text and pairs without a template; nil if the model's
    /// tokenizer wants none.
    package let beginToken: String?
    /// What workers know the run's data by: one digest of its bytes, encoded rows and plan.
    package let dataIdentity: SHA256.Digest
    /// Where log-probabilities under the reference model are looked up and kept in a run of one process; nil:
    /// nowhere.
    package var referenceCache: ReferenceCache?

    /// Reads everything that `configuration` names.
    ///
    /// - Parameters:
    ///   - configuration: of the run.
    ///   - open: opens the model; called once the configuration is known to be valid.
    ///   - dataPath: a data file, several with weights, or a directory (`DataFiles`).
    ///   - version: of Skein, for run.json.
    ///   - tokenCache: where encoded rows are looked up and kept; nil: every row is encoded.
    ///   - allowingUnusedArguments: whether template arguments may be unknown to the template.
    ///   - automatic: options whose values in `configuration` do not count, and follow from model and rows.
    /// - Throws: the errors of every room below; all of them explain themselves.
    package init(
        configuration: TrainingConfiguration, model open: () throws -> ModelDirectory,
        dataPath: String, version: String, tokenCache: TokenCache? = nil,
        allowingUnusedArguments: Bool = false,
        automatic: Set<MeasuredOption> = []
    ) throws {
        var configuration = configuration
        try configuration.validate()
        local = try LocalSettings(configuration)
        try configuration.checkRecipe(besides: automatic)
        try configuration.checkReference()
        let model = try open()
        var resolving = ResolvingOptions(automatic)
        try resolving.resolveRate(of: &configuration, width: model.configuration.width)
        // Hashing a gigabyte takes half a second; only `runFile`, at the end, waits for it.
        let modelDigest = Background("skein-hash") { model.contentDigest() }
        let lora = try configuration.lora(for: model.configuration)
        try model.configuration.design.check(lora.targets, layers: lora.layers)
        let shape = AdapterShape(lora, model: model.configuration)
        try configuration.checkFeatures(shape, layerCount: model.configuration.layerCount)
        export = FusedExport(shape, model: model.configuration)
        if export != nil, !lora.exceptions.isEmpty || lora.usesMagnitudes {
            throw AdapterError.patternsOfSlices
        }
        // Before anything is computed, and before rows are read, which takes minutes.
        try Engine.prepare(configuration.compute)
        let start = try Self.initialAdapter(
            configuration, model, shape: shape, export: export, modelDigest: modelDigest)

        let text = try TextEncoder(
            model: model, template: configuration.chat,
            allowingUnusedArguments: allowingUnusedArguments)
        beginToken = text.beginToken
        let encoder = try RowEncoder(
            encoder: text, format: configuration.promptFormat,
            trainedTurns: configuration.trainOn, maximumLength: configuration.maxLength,
            comparesAnswers: configuration.preferenceLoss != nil,
            chunkLength: configuration.chunkLength)
        samplePrompts = try encoder.samplePrompts(
            configuration.samplePrompt ?? [], contextLength: model.configuration.contextLength)
        (decode, endOfTurnIDs) = (text.decode, text.endOfTurnIDs)
        let files = try DataFiles(
            path: dataPath, validation: configuration.validData, test: configuration.testData)
        try configuration.checkValidation(hasFile: files.validation != nil)
        var source = TokenSource(
            encoder: encoder, fields: configuration.rowFields,
            skippingBadLines: configuration.skipBadLines,
            vocabularySize: model.configuration.vocabularySize, cache: tokenCache,
            version: version)
        let (file, shares) = try source.files(files.train)
        let encoded = file.encoded
        let held = try files.validation.map { try source.files($0, allowingNone: true).joined }
        let groups = encoded.groups
        let split =
            held == nil
            ? Split(
                rows: encoded.rowGroups, share: configuration.validationSplit,
                by: configuration.splitBy ?? .row, seed: configuration.addressedSplitSeed)
            : Split(allOf: groups.count)
        let (training, draw) = try DataShares(shares: shares).applied(
            to: split.training.flatMap { encoded.rows[groups[$0]] })
        let trainingGroups = TokenizedRow.groups(of: training)
        resolving.resolveEpochs(
            of: &configuration, rows: draw?.rowCount ?? trainingGroups.count)
        let plan = StepPlan(
            configuration,
            lengths: trainingGroups.map { training[$0].reduce(0) { $0 + $1.ids.count } },
            costs: trainingGroups.map { group in
                training[group].reduce(0) {
                    $0
                        + model.configuration.cost(
                            tokens: $1.ids.count, lossTokens: $1.lossTokenCount)
                }
            }, draw: draw)
        resolving.resolveWarmup(of: &configuration, steps: plan.scheduledSteps)
        resolved = resolving.found

        self.configuration = configuration
        self.model = model
        self.training = training
        self.trainingGroups = trainingGroups
        self.shape = shape
        self.plan = plan
        initial = start.parameters
        trainedText = (
            encoder.format, encoder.format == .chat ? text.templateDigest?.description : nil
        )
        initialWarnings =
            try start.loaded.map { loaded in
                try [loaded.otherBaseName(than: model)].compactMap(\.self)
                    + TrainedText.warnings(
                        adapter: loaded.path, loaded.configuration.origin, from: configuration.chat,
                        usesTemplate: encoder.format == .chat, model: model.raw)
            } ?? []
        validation = held?.encoded.rows ?? split.validation.flatMap { encoded.rows[groups[$0]] }
        if configuration.requireImprovement == true, validation.isEmpty {
            throw TrainingError.badCombination(
                flag: MachineOptions.table.requireImprovement.description.name,
                problem: .needs("rows that are held out for validation, and there are none"))
        }
        let digests = DataDigests(training: training, validation: validation, plan: plan)
        dataIdentity = digests.identity(file: file.digest)
        let tested = try files.test.map { try source.files($0, allowingNone: true).joined }
        test = tested?.encoded.rows ?? []
        tokenOrigin = source.origin
        report = DataReport(
            lines: file.lines, encoded: encoded, split: split,
            trainingRows: plan.rowsPerEpoch, validation: held?.encoded, test: tested?.encoded,
            unread: files.unread, steps: plan.stepCount, epochs: plan.epochCount,
            warnings: DataWarning.ofPlan(plan, configuration), encoder: encoder)
        var runFile = RunFile(
            version: version,
            fingerprint: Engine.fingerprint(configuration.compute, of: model.configuration),
            model: model.path, data: dataPath, modelDigest: modelDigest.wait().description,
            dataDigest: file.digest.description, validationDigest: held?.digest.description,
            testDigest: tested?.digest.description,
            recipeDigest: try ResolvedRecipe.digest(configuration, shape).description,
            initAdapterDigest: start.digest?.description, rowsDigest: digests.rows.description,
            planDigest: digests.plan.description, configuration: configuration)
        runFile.encoderVersion = RowEncoder.version
        runFile.drawsEachEpoch = draw != nil
        runFile.templateDigest =
            configuration.chatTemplate == nil ? nil : text.templateDigest?.description
        runFile.knownAnswer = KnownAnswer.text(try KnownAnswer.digest(configuration, model))
        self.runFile = runFile
    }

    /// Whether each row is a pair of answers.
    package var comparesAnswers: Bool { configuration.preferenceLoss != nil }

    /// Parameters of the adapter under which references are computed; nil: the base model alone.
    package var referenceParameters: [Float]? {
        configuration.reference == .initial ? initial.values : nil
    }

    /// Rows whose loss reads their log-probability under a reference; none unless the loss is DPO's.
    var rowsWithReference: [TokenizedRow] {
        configuration.preferenceLoss?.kind == .dpo ? training + validation + test : []
    }

    /// The same for the model at `modelPath`, a GGUF file or a Hugging Face folder.
    package init(
        configuration: TrainingConfiguration, modelPath: String, dataPath: String, version: String,
        tokenCache: TokenCache? = nil
    ) throws {
        try self.init(
            configuration: configuration, model: { try ModelDirectory.open(modelPath) },
            dataPath: dataPath, version: version, tokenCache: tokenCache)
    }

    private static func initialAdapter(
        _ configuration: TrainingConfiguration, _ model: ModelDirectory, shape: AdapterShape,
        export: FusedExport?, modelDigest: Background<SHA256.Digest>
    ) throws -> (
        parameters: AdapterParameters, digest: SHA256.Digest?, loaded: LoadedAdapter?
    ) {
        guard let path = configuration.initAdapter else {
            return (
                AdapterParameters(
                    shape: shape, seed: configuration.addressedSeed,
                    base: try BaseNorms.needed(shape, of: model)), nil, nil
            )
        }
        let loaded = try LoadedAdapter.read(path, for: model, matching: ModulePatterns.matching)
        let parameters = try loaded.parameters.fitted(to: shape, export)
        if !configuration.anyBase { try loaded.check(base: modelDigest.wait()) }
        return (
            parameters, try RegularFile.digest(of: loaded.format.weights(of: path)).digest,
            loaded
        )
    }

    /// The adapter in a folder, as such a run writes its result.
    static func exported(
        _ directory: String, shape: AdapterShape, export: FusedExport?,
        in store: any Store = DiskStore()
    ) throws -> AdapterParameters {
        let written = export?.shape ?? shape
        let files = try AdapterFiles.read(directory, in: store) { outline in
            do throws(LayoutProblem) {
                try written.layout.check(outline.shapes)
            } catch {
                throw AdapterError(error)
            }
        }
        let values: [Float]
        do throws(LayoutProblem) {
            values = try written.layout.flatten(files.tensors)
        } catch {
            throw AdapterError(error)
        }
        return AdapterParameters(shape: shape, values: try export?.restored(values) ?? values)
    }

    /// Goes on under the path of the chat template that a run was begun with, if the template is the same:
    /// it is its bytes, wherever the file lies now.
    ///
    /// - Parameter recorded: what the run was begun with.
    /// - Throws: as `ResolvedRecipe.digest`.
    mutating func keepTemplateName(of recorded: RunFile) throws(TrainingError) {
        guard let name = recorded.configuration.chatTemplate, configuration.chatTemplate != nil,
            let digest = runFile.templateDigest, digest == recorded.templateDigest
        else { return }
        configuration.chatTemplate = name
        runFile.configuration.chatTemplate = name
        runFile.recipeDigest = try ResolvedRecipe.digest(configuration, shape).description
    }

    /// Makes sure that the run in `directory`, if there is one to continue, is this job's.
    ///
    /// - Returns: what the run was started with; nil when there is none.
    /// - Throws: `TrainingError.resumeDiffers`, `.lengthFixed`, `.damagedRecord`; `FileError`.
    @discardableResult
    package func checkResume(in directory: RunDirectory) throws -> RunFile? {
        guard directory.isResumed else { return nil }
        let recorded = try RunFile(path: directory.runFile, in: directory.store)
        try checkResume(of: recorded, path: directory.runFile)
        return recorded
    }

    /// What adapter_config.json says in a checkpoint.
    package var adapterConfiguration: AdapterConfiguration { adapterConfiguration(shape) }

    /// What it says of the result.
    var exportedConfiguration: AdapterConfiguration { adapterConfiguration(export?.shape ?? shape) }

    private func adapterConfiguration(_ shape: AdapterShape) -> AdapterConfiguration {
        let lora = shape.configuration
        let isWhole = lora.layers == 0..<model.configuration.layerCount
        let base = BaseModelName(path: model.path)
        // A form of more rows has the same scale, and so another alpha.
        let growth =
            configuration.scaleDivisor(rank: lora.rank)
            / configuration.scaleDivisor(rank: configuration.rank)
        return AdapterConfiguration(
            rank: lora.rank,
            alpha: configuration.alpha * growth,
            dropout: configuration.dropout,
            targetModules: Array(shape.modules),
            layersToTransform: isWhole ? nil : Array(lora.layers),
            baseModelName: base.name, revision: base.revision,
            usesRankStabilizedScale: configuration.rslora ?? false,
            usesMagnitudes: configuration.dora ?? false,
            rankPattern: configuration.rankPattern ?? [:],
            alphaPattern: configuration.alphaPattern ?? [:],
            origin: AdapterOrigin(
                base: .init(
                    name: base.name, revision: base.revision, sha256: runFile.modelDigest),
                data: .init(sha256: runFile.dataDigest, rowsSHA256: runFile.rowsDigest),
                recipe: configuration.recipeTexts, promptFormat: trainedText.format.rawValue,
                chatTemplateSHA256: trainedText.templateDigest,
                initAdapterSHA256: runFile.initAdapterDigest))
    }

    /// What an adapter of the embedding or the head means for this model and recipe.
    package var adapterWarnings: [String] {
        var warnings = initialWarnings
        let edges = shape.configuration.targets.filter { TargetModule.edges.contains($0) }
        if !edges.isEmpty, model.configuration.tiedEmbeddings {
            warnings.append(
                "embedding and head are one tensor in this model: only PEFT's format can hold an "
                    + "adapter of \(edges.map(\.name).joined(separator: " or ")); fuse, and export to "
                    + "MLX and GGUF, refuse it")
        }
        if shape.hasEmbedding, configuration.loraPlusRatio != nil {
            warnings.append(
                "with --lora-plus-ratio the peak learning rate of embed_tokens is 1e-6, as in PEFT: it "
                    + "hardly moves")
        }
        return warnings
    }

    /// Whether validation losses of two runs are of the same rows, and of the same kind.
    package func hasSameValidation(as other: TrainingJob) -> Bool {
        configuration.preferenceLoss == other.configuration.preferenceLoss
            && validation.count == other.validation.count
            && zip(validation, other.validation).allSatisfy {
                $0.ids == $1.ids && $0.targets == $1.targets
            }
    }

    /// Says that a row is longer than the model was made for; nil if none is.
    package var contextWarning: String? {
        guard longestRow > model.configuration.contextLength else { return nil }
        return "the longest row has \(Figures.count(longestRow, "token")), more than the "
            + "\(model.configuration.contextLength) that the model was made for; "
            + "give a smaller --max-length"
    }

    /// Tokens of the longest row of any kind: positions that the model must have.
    package var longestRow: Int {
        [training, validation, test].joined().reduce(1) { max($0, $1.ids.count) }
    }
}
