import Foundation
import SkeinBasics
import SkeinJSON

/// run.json: what a run was started with. Written once, before the first step, and again only to
/// say that other engines are admitted from now on, or what an older version has not said.
package struct RunFile: Sendable, Equatable {
    /// The version of Skein.
    package var version: String
    /// The engine's: what the bits of a gradient depend on besides model, data and options.
    package var fingerprint: String
    /// Paths as they were given; for people, not compared.
    package var model: String
    package var data: String
    package var modelDigest: String
    package var dataDigest: String
    /// The digest of the validation file, if there is one.
    package var validationDigest: String?
    /// SHA-256 of the file of test rows, if there is one.
    package var testDigest: String?
    /// `ResolvedRecipe`; nil in a file that an older version wrote. Such a file does not say whether
    /// there were test rows, either.
    package var recipeDigest: String?
    /// The digest of the adapter that the run started from, if there is one.
    package var initAdapterDigest: String?
    /// What this machine makes of a fixed piece of work (`KnownAnswer.text`); nil, and not written, in a
    /// file that an older version wrote.
    package var knownAnswer: String?
    /// `RowEncoder.version`, which made the rows; nil in a file that an older version wrote.
    package var encoderVersion: Int?
    /// Whether each epoch draws anew which rows of a file with a broken weight it has. Older versions drew
    /// once, and do not write it; nor is it written without such a file.
    package var drawsEachEpoch = false
    /// SHA-256 of the chat template that was chosen (`--chat-template`); nil, and not written, for the
    /// model's own and in a file that an older version wrote.
    package var templateDigest: String?
    /// The digest of the encoded rows (`DataDigests`); nil in a file that an older version wrote.
    package var rowsDigest: String?
    package var planDigest: String?
    /// SHA-256 of what the loss reads of the base model (`References`). nil, and not written, for
    /// another loss and by older versions.
    package var referencesDigest: String?
    package var configuration: TrainingConfiguration
    /// The first step for which workers with other engines were admitted (`--admit-other-engines`):
    /// from there on the bits depend on who computed what. nil: never; the file then lacks the field.
    /// It stays whatever follows, and is neither compared nor in the configuration's digest.
    package var otherEnginesFrom: Int?

    package init(
        version: String, fingerprint: String, model: String, data: String, modelDigest: String,
        dataDigest: String, validationDigest: String? = nil, testDigest: String? = nil,
        recipeDigest: String? = nil, initAdapterDigest: String? = nil,
        rowsDigest: String? = nil, planDigest: String? = nil, configuration: TrainingConfiguration
    ) {
        self.version = version
        self.fingerprint = fingerprint
        self.model = model
        self.data = data
        self.modelDigest = modelDigest
        self.dataDigest = dataDigest
        self.validationDigest = validationDigest
        self.testDigest = testDigest
        self.recipeDigest = recipeDigest
        self.initAdapterDigest = initAdapterDigest
        self.rowsDigest = rowsDigest
        self.planDigest = planDigest
        self.configuration = configuration
    }

    /// The text of run.json.
    package var text: String {
        func optional(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }
        var fields: [(String, JSONValue)] =
            otherEnginesFrom.map { [(Self.otherEnginesField, .integer($0))] } ?? []
        fields += [
            ("version", .text(version)), ("fingerprint", .text(fingerprint)),
            ("model", .text(model)), ("model_sha256", .text(modelDigest)),
            ("data", .text(data)), ("data_sha256", .text(dataDigest)),
            ("validation_sha256", optional(validationDigest)),
            ("test_sha256", optional(testDigest)),
            ("init_adapter_sha256", optional(initAdapterDigest)),
        ]
        if let encoderVersion { fields.append((Self.encoderKey, .integer(encoderVersion))) }
        if let templateDigest { fields.append((Self.templateKey, .text(templateDigest))) }
        if drawsEachEpoch { fields.append((Self.drawKey, .bool(true))) }
        fields += [
            ("rows_sha256", optional(rowsDigest)), ("plan_sha256", optional(planDigest)),
        ]
        if let referencesDigest {
            fields.append((Self.referencesKey, .text(referencesDigest)))
        }
        if let knownAnswer { fields.append((Self.answerKey, .text(knownAnswer))) }
        fields += [
            ("recipe_sha256", optional(recipeDigest)),
            ("configuration_sha256", .text(configuration.digest.description)),
            ("configuration", .fields(configuration.fields)),
        ]
        return JSONValue.fields(fields).lines(levels: .max) + "\n"
    }

    private static let referencesKey = "references_sha256"
    private static let encoderKey = "encoder_version"
    private static let templateKey = "chat_template_sha256"
    private static let drawKey = "draws_each_epoch"
    private static let answerKey = "known_answer"
    package static let otherEnginesField = "other_engines_from_step"

    /// Notes in a run.json that other engines are admitted from a step on; all else stays as it is,
    /// byte for byte, whichever version wrote it.
    static func mark(
        otherEnginesFrom step: Int, at path: String, in store: any Store
    ) throws {
        try mark(otherEnginesField, "\(step)", at: path, in: store) { $0.otherEnginesFrom = step }
    }

    /// Likewise, that the references of a run which an older version began are these.
    static func mark(referencesDigest digest: String, at path: String, in store: any Store) throws {
        try mark(referencesKey, "\"\(digest)\"", at: path, in: store) {
            $0.referencesDigest = digest
        }
    }

    private static func mark(
        _ field: String, _ value: String, at path: String, in store: any Store,
        _ change: (inout RunFile) -> Void
    ) throws {
        let text = String(decoding: try RecordFile.bytes(of: path, in: store), as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        lines.removeAll { $0.hasPrefix("  \"\(field)\":") }
        guard lines.first == "{" else {
            // Another program has formatted it.
            var run = try RunFile(path: path, in: store)
            change(&run)
            return try run.write(to: path, in: store)
        }
        lines.insert("  \"\(field)\": \(value),", at: 1)
        try store.write(lines.joined(separator: "\n"), to: path)
    }

    /// What people are told of a run that has given up the one hash.
    package static func otherEngines(from step: Int) -> String {
        "workers with other engines were admitted from step \(step) on: the result depends on who "
            + "computed what, and another run need not have the same hash"
    }

    /// Writes run.json, whole or not at all.
    package func write(to path: String, in store: any Store = DiskStore()) throws {
        try store.write(text, to: path)
    }

    /// Reads run.json.
    ///
    /// - Throws: `FileError`; `TrainingError.damagedRecord` that names the field.
    package init(path: String, in store: any Store = DiskStore()) throws {
        let object = try RecordFile.object(
            from: RecordFile.bytes(of: path, in: store), path: path)
        func damaged(_ detail: String) -> TrainingError {
            .damagedRecord(path: path, line: nil, detail: detail)
        }
        func string(_ field: String) throws -> String {
            guard let text = object[field]?.string else {
                throw damaged("\"\(field)\" is missing or not a string")
            }
            return text
        }
        guard let fields = object["configuration"]?.fields else {
            throw damaged("\"configuration\" is missing or not an object")
        }
        let configuration = try TrainingConfiguration(recorded: fields, path: path)
        self.init(
            version: try string("version"), fingerprint: try string("fingerprint"),
            model: try string("model"), data: try string("data"),
            modelDigest: try string("model_sha256"), dataDigest: try string("data_sha256"),
            validationDigest: object["validation_sha256"]?.string,
            testDigest: object["test_sha256"]?.string,
            recipeDigest: object["recipe_sha256"]?.string,
            initAdapterDigest: object["init_adapter_sha256"]?.string,
            rowsDigest: object["rows_sha256"]?.string,
            planDigest: object["plan_sha256"]?.string,
            configuration: configuration)
        referencesDigest = object[Self.referencesKey]?.string
        encoderVersion = object[Self.encoderKey]?.integer
        templateDigest = object[Self.templateKey]?.string
        drawsEachEpoch = object[Self.drawKey] == .bool(true)
        knownAnswer = object[Self.answerKey]?.string
        if let value = object[Self.otherEnginesField] {
            guard let step = value.integer, step > 0 else {
                throw damaged("\"\(Self.otherEnginesField)\" is not a step")
            }
            otherEnginesFrom = step
        }
    }

    static let fingerprintField = "fingerprint"
    static let encoderField = "encoder of rows (version)"
    static let drawField = "rows of a file with a broken weight"
    static let madeFields = ["encoded rows (SHA-256)", "plan of micro-batches (SHA-256)"]
    static let answerField = "answer to a fixed piece of work (SHA-256)"
    static let referencesField = "log-probabilities under the reference model (SHA-256)"

    /// Whether the file has the digests of rows and plan, for a resumed run to compare.
    var namesRows: Bool { rowsDigest != nil && planDigest != nil }

    /// Makes sure that the run described by `recorded` can be continued as `self` asks for.
    ///
    /// The version of Skein is not compared: what the bits depend on is in the fingerprint and in
    /// the digests of rows and plan. Those follow from model, data and options, and are compared
    /// when these are equal; a file of an older version has none.
    ///
    /// - Parameters:
    ///   - recorded: as read from run.json.
    ///   - path: of run.json, for the error.
    /// - Throws: `TrainingError.resumeDiffers` with both values of every field that differs.
    package func checkResume(of recorded: RunFile, path: String) throws {
        var differences: [Difference] = []
        func compare(_ field: String, _ then: String?, _ now: String?) {
            guard then != now else { return }
            differences.append(
                Difference(
                    field: field, recorded: then ?? "not given", requested: now ?? "not given"))
        }
        compare("model (SHA-256)", recorded.modelDigest, modelDigest)
        compare("data (SHA-256)", recorded.dataDigest, dataDigest)
        compare("validation data (SHA-256)", recorded.validationDigest, validationDigest)
        if recorded.recipeDigest != nil {
            compare("test data (SHA-256)", recorded.testDigest, testDigest)
        }
        compare("init-adapter (SHA-256)", recorded.initAdapterDigest, initAdapterDigest)
        differences += configuration.differences(from: recorded.configuration)
        // A file that was edited since.
        if differences.isEmpty, recorded.templateDigest != nil {
            compare("chat template (SHA-256)", recorded.templateDigest, templateDigest)
        }
        if differences.isEmpty, recorded.recipeDigest != nil {
            compare("values of all options (SHA-256)", recorded.recipeDigest, recipeDigest)
        }
        if differences.isEmpty, recorded.namesRows {
            compare(Self.madeFields[0], recorded.rowsDigest, rowsDigest)
            compare(Self.madeFields[1], recorded.planDigest, planDigest)
            // Why they differ. Rows that both make alike go on.
            if !differences.isEmpty, recorded.drawsEachEpoch != drawsEachEpoch {
                let draws = [recorded, self].map {
                    $0.drawsEachEpoch ? "drawn for each epoch" : "drawn once (an older version)"
                }
                compare(Self.drawField, draws[0], draws[1])
            } else if !differences.isEmpty, let encoderVersion {
                compare(
                    Self.encoderField, recorded.encoderVersion.map(String.init) ?? "4 or older",
                    "\(encoderVersion)")
            }
        }
        // They are computed after the first comparison.
        if differences.isEmpty, recorded.referencesDigest != nil, referencesDigest != nil {
            compare(Self.referencesField, recorded.referencesDigest, referencesDigest)
        }
        compare(Self.fingerprintField, recorded.fingerprint, fingerprint)
        // It depends on the options and the model, too.
        if differences.isEmpty, let then = recorded.knownAnswer.flatMap(KnownAnswer.digest),
            let now = knownAnswer.flatMap(KnownAnswer.digest)
        {
            compare(Self.answerField, then.description, now.description)
        }
        guard differences.isEmpty else {
            throw TrainingError.resumeDiffers(path: path, differences: differences)
        }
    }
}
