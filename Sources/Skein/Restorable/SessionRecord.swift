import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTraining

/// What a session was made with: from its own record and, once the run has begun, from run.json.
struct SessionRecord {
    var date: Date
    /// Where the program ran; relative paths begin there.
    var workingDirectory: String?
    var model: String
    var data: String
    var keepsTokens: Bool
    var configuration: TrainingConfiguration
    /// Options that have no value yet: the record does not name them.
    var automatic: Set<MeasuredOption> = []

    private static let version = 1
    /// Far more than a record has.
    private static let mostBytes = 1 << 20

    func write(to path: String) throws {
        let line = JSONValue.fields([
            ("version", .integer(Self.version)), ("date", .decimal(date.timeIntervalSince1970)),
            ("working_directory", workingDirectory.map { .text($0) } ?? .null),
            ("model", .text(model)), ("data", .text(data)),
            ("keeps_tokens", .bool(keepsTokens)),
            (
                "configuration",
                .fields(
                    configuration.fields.filter { field in
                        !automatic.contains { $0.rawValue == field.0 }
                    })
            ),
        ])
        try Unfinished.removeAbandoned(beside: path)
        try AtomicFile.write(line.written + "\n", to: path)
    }

    /// Reads what a directory tells of its session; a run of `skein train` is one, too.
    ///
    /// - Throws: `SkeinError` if there is none; `TrainingError.damagedRecord`; `FileError`.
    init(of directory: SessionDirectory) throws {
        let store = DiskStore()
        let hasRun = store.exists(directory.run)
        guard hasRun || store.exists(directory.record) else {
            throw SkeinError(
                code: .usage, what: "there is no session or checkpoint to restore",
                place: directory.path,
                remedy: "begin one with makeTrainingSession, or name the directory of one")
        }
        if store.exists(directory.record) {
            try self.init(path: directory.record)
        } else {
            let made = try FileManager.default.attributesOfItem(atPath: directory.run)
            self.init(
                date: made[.modificationDate] as? Date ?? Date(), workingDirectory: nil, model: "",
                data: "", keepsTokens: true, configuration: TrainingConfiguration())
        }
        guard hasRun else { return }
        let file = try RunFile(path: directory.run)
        (model, data, configuration) = (file.model, file.data, file.configuration)
        automatic = []
    }

    init(
        date: Date, workingDirectory: String?, model: String, data: String, keepsTokens: Bool,
        configuration: TrainingConfiguration
    ) {
        self.date = date
        self.workingDirectory = workingDirectory
        self.model = model
        self.data = data
        self.keepsTokens = keepsTokens
        self.configuration = configuration
    }

    private init(path: String) throws {
        func damaged(_ detail: String) -> TrainingError {
            .damagedRecord(path: path, line: nil, detail: detail)
        }
        let file = try MappedFile(copying: path) { file in
            guard file.count <= Self.mostBytes else {
                throw damaged("\(file.count) bytes, more than \(Self.mostBytes)")
            }
        }
        let object = try RecordFile.object(from: file.withBytes { Array($0) }, path: path)
        guard object["version"]?.integer == Self.version else {
            throw damaged("\"version\" is not \(Self.version)")
        }
        guard let date = object["date"]?.double, let model = object["model"]?.string,
            let data = object["data"]?.string, case .bool(let keepsTokens) = object["keeps_tokens"],
            let fields = object["configuration"]?.fields
        else { throw damaged("a field is missing or has the wrong type") }
        self.init(
            date: Date(timeIntervalSince1970: date),
            workingDirectory: object["working_directory"]?.string, model: model, data: data,
            keepsTokens: keepsTokens,
            configuration: try TrainingConfiguration(recorded: fields, path: path))
        automatic = Set(
            MeasuredOption.automatic.filter { fields[$0.rawValue] == nil })
    }

    /// A recorded path as this process finds it: as it is, else from where the session was made.
    func found(_ path: String) -> String {
        guard let workingDirectory, !path.hasPrefix("/"), !DiskStore().exists(path) else {
            return path
        }
        return FilePath.join(workingDirectory, path)
    }
}
