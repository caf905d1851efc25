import SkeinBasics
import SkeinFormats

/// An adapter that does not fit the model or the configuration.
package enum AdapterError: Error, Equatable {
    case missingMatrix(name: String)
    case unexpectedMatrix(name: String)
    case shape(name: String, expected: [Int], found: [Int])
    /// The adapter was made with another alpha / rank.
    case scale(expected: Float, found: Float)
    /// A number of the matrix is infinite or NaN.
    case notFinite(name: String)
    /// The model has no module of this name to adapt.
    case unknownModule(name: String, known: [String])
    /// The family has no GGUF files, so an adapter has no names there.
    case noGGUFNames(architecture: String)
    /// Ranks or scales differ from module to module, or not every layer has the same ones.
    case uneven
    /// It was made for another base model.
    case otherBase(adapter: String, expected: String, found: String)
    /// Its files are of a base model with other modules or shapes.
    ///
    /// - Parameters:
    ///   - base: the name of its base model; nil: not known, or that of the model at hand.
    ///   - detail: what shows it.
    case otherModel(adapter: String, base: String?, detail: String)
    /// Ranks differ, or not every layer has the same modules.
    case irregular
    /// An adapter of fused modules that is more than adapters of their slices.
    case notBlockDiagonal
    /// Ranks or alphas of their own, or magnitudes, for slices of a fused module.
    case patternsOfSlices
    /// The run trains magnitudes and the adapter has none, or the other way round.
    case magnitudes(run: Bool)
    /// Adapters of a format have no magnitudes.
    case noMagnitudes(format: String)
    /// The model's head is its embedding, and other tools' adapters of one of them change both.
    ///
    /// - Parameters:
    ///   - module: "embed_tokens" or "lm_head".
    ///   - format: of the adapter's files.
    case tiedEdge(module: String, format: String)
    /// The adapter's files hold another embedding or head than the base model has; `row` is the first
    /// that differs.
    case otherCopy(name: String, row: Int)
    /// The adapter's files hold an embedding or a head of another number of tokens.
    case resizedCopy(name: String, expected: Int, found: Int)

    package init(_ problem: LayoutProblem) {
        switch problem {
        case .missing(let name): self = .missingMatrix(name: name)
        case .wrongShape(let name, let expected, let found):
            self = .shape(name: name, expected: expected, found: found)
        case .unexpected(let name): self = .unexpectedMatrix(name: name)
        }
    }
}

extension AdapterError: Explained {
    package var explanation: Explanation {
        switch self {
        case .missingMatrix(let name):
            Explanation(
                what: "the adapter has no matrix for a projection that the run adapts",
                place: name,
                remedy: "give the --target-modules, --layers and --rank that it was made with",
                status: .badData)
        case .unexpectedMatrix(let name):
            Explanation(
                what: "the adapter has a matrix for a projection that the run does not adapt",
                place: name,
                remedy: "give the --target-modules and --layers that it was made with",
                status: .badData)
        case .shape(let name, let expected, let found):
            Explanation(
                what: "an adapter matrix is \(found), expected \(expected)", place: name,
                remedy: "use an adapter that was made for this base model and rank",
                status: .badData)
        case .scale(let expected, let found):
            Explanation(
                what:
                    "the adapter's scale (alpha / rank, or its root with --rslora on) is \(found), the run's is \(expected)",
                remedy: "give the --alpha and --rank that the adapter was made with",
                status: .badData)
        case .notFinite(let name):
            Explanation(
                what: "an adapter matrix has a number that is infinite or NaN", place: name,
                remedy: "train again with a smaller --learning-rate, or fetch the adapter again",
                status: .badData)
        case .unknownModule(let name, let known):
            Explanation(
                what: "the model has no module of this name to adapt", place: name,
                remedy: "use an adapter of " + known.joined(separator: ", "), status: .badData)
        case .noGGUFNames(let architecture):
            Explanation(
                what: "there are no GGUF files of \(architecture), so no names for its adapters",
                remedy: "export it with --format peft or mlx", status: .badData)
        case .uneven:
            Explanation(
                what: "the adapter's ranks or scales differ from module to module, or its layers "
                    + "have different modules; a run without patterns has one rank and one alpha, "
                    + "and every run has the same modules in each of its layers",
                remedy: "give the --rank-pattern and --alpha-pattern that it was made with",
                status: .badData)
        case .otherBase(let adapter, let expected, let found):
            Explanation(
                what: "the adapter was made for the base model with SHA-256 \(expected), and this "
                    + "one has \(found)", place: adapter,
                remedy: "give the --model that it was made for, or --any-base if it is the same "
                    + "model in other files", status: .badData)
        case .otherModel(let adapter, let base, let detail):
            Explanation(
                what: "this adapter was made for "
                    + (base.map { "\(ForeignText.shown($0)), not for this model" }
                        ?? "another base model") + ": \(detail)",
                place: adapter, remedy: "give --model the base model that it was made for",
                status: .badData)
        case .irregular:
            Explanation(
                what: "the adapter's ranks differ, or its layers have different modules, and it "
                    + "adapts slices of fused modules",
                remedy: "export it with the base model whose modules it adapts", status: .badData)
        case .patternsOfSlices:
            Explanation(
                what: "the model stores several projections as one module; parts of it have "
                    + "neither ranks and alphas of their own nor magnitudes",
                place: "--target-modules",
                remedy: "adapt the module as a whole, qkv_proj or gate_up_proj, or leave "
                    + "--rank-pattern, --alpha-pattern and --dora out", status: .usage)
        case .magnitudes(let run):
            Explanation(
                what: run
                    ? "the run trains magnitudes (--dora on), and the adapter has none"
                    : "the adapter has magnitudes (DoRA), and the run does not train any",
                remedy: run
                    ? "leave --dora out, or start from an adapter that was trained with it"
                    : "give --dora on, or leave --dora out",
                status: .badData)
        case .noMagnitudes(let format):
            Explanation(
                what: "a \(format) adapter cannot hold the magnitudes of DoRA",
                remedy: "merge it into the model with `skein fuse`, or export it with --format "
                    + "peft or mlx", status: .usage)
        case .tiedEdge(let module, let format):
            Explanation(
                what: "the model's head is its embedding, and in \(format) an adapter of \(module) "
                    + "is one of both", place: module,
                remedy: "use --format peft, or a base model with a head of its own",
                status: .usage)
        case .otherCopy(let name, let row):
            Explanation(
                what: "the adapter's files hold another embedding or head than the base model has: "
                    + "row \(row) is the first that differs",
                place: name,
                remedy: "use the base model that it was trained on, in the files that it was "
                    + "trained with; or save the adapter with save_embedding_layers=False if the base "
                    + "model's own rows are meant", status: .badData)
        case .resizedCopy(let name, let expected, let found):
            Explanation(
                what: "the adapter's files hold an embedding or a head of \(found) tokens, and the "
                    + "base model has \(expected)",
                place: name,
                remedy:
                    "save the resized base model in Python (resize_token_embeddings(\(found)), the "
                    + "adapter's rows, save_pretrained) and give that; or save the adapter with "
                    + "save_embedding_layers=False if no text needs the tokens", status: .badData)
        case .notBlockDiagonal:
            Explanation(
                what: "the adapter's slices of a fused module depend on each other",
                remedy: "adapt the module as a whole: --target-modules with qkv_proj or "
                    + "gate_up_proj",
                status: .badData)
        }
    }
}
