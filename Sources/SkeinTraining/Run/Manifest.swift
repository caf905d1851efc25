import Foundation
import SkeinBasics
import SkeinJSON

/// manifest.json: size and SHA-256 of every other file of a checkpoint, written last.
struct Manifest: Equatable {
    struct File: Equatable, Decodable {
        var bytes: Int
        var sha256: String
    }

    static let fileName = "manifest.json"

    var files: [String: File]

    /// Measures the named files of a directory.
    init(directory: String, files names: [String], in store: any Store = DiskStore()) throws {
        files = [:]
        for name in names {
            let (count, digest) = try store.digest(of: FilePath.join(directory, name))
            files[name] = File(bytes: count, sha256: digest.description)
        }
    }

    /// Reads the manifest of a checkpoint and checks that it names `required`.
    ///
    /// - Throws: `CheckpointProblem.noManifest`; a `FileError` that says nothing about the file.
    init(directory: String, requiring required: [String], in store: any Store) throws {
        let path = FilePath.join(directory, Self.fileName)
        let record: Record
        do {
            record = try RecordFile.decode(
                Record.self, from: RecordFile.bytes(of: path, in: store), path: path)
        } catch let error as FileError where error.isPassing {
            throw error
        } catch let error as any Explained {
            throw CheckpointProblem.noManifest(detail: error.explanation.what)
        } catch {
            throw CheckpointProblem.noManifest(detail: "\(error)")
        }
        files = record.files
        guard files.count <= Limits.checkpointFiles,
            files.keys.allSatisfy({ !$0.contains("/") && !$0.hasPrefix(".") })
        else { throw CheckpointProblem.noManifest(detail: "it names files that no checkpoint has") }
        for name in required where files[name] == nil {
            throw CheckpointProblem.noManifest(detail: "it does not name \(name)")
        }
    }

    private struct Record: Decodable { var files: [String: File] }

    /// The text of manifest.json, files in the order of their names.
    var text: String {
        let entries: [(String, JSONValue)] = files.sorted { $0.key < $1.key }.map { name, file in
            (
                name,
                .fields([("bytes", .integer(file.bytes)), ("sha256", .text(file.sha256))])
            )
        }
        return JSONValue.fields([("files", .fields(entries))]).lines(levels: .max) + "\n"
    }

    /// Compares every file with what the manifest says.
    ///
    /// - Throws: `CheckpointProblem.wrongSize`, `.wrongDigest`; `.unfit` for what is no file; a
    ///   `FileError` that says nothing about the file.
    func verify(directory: String, in store: any Store) throws {
        for (name, expected) in files.sorted(by: { $0.key < $1.key }) {
            let found: SHA256.Digest
            do {
                found = try store.digest(of: FilePath.join(directory, name)) { count in
                    guard count == expected.bytes else {
                        throw CheckpointProblem.wrongSize(
                            file: name, expected: expected.bytes, found: count)
                    }
                }.digest
            } catch let problem as CheckpointProblem {
                throw problem
            } catch FileError.failed(_, _, ENOENT) {
                throw CheckpointProblem.wrongSize(file: name, expected: expected.bytes, found: nil)
            } catch let error as FileError where error.isPassing {
                throw error
            } catch let error as any Explained {
                throw CheckpointProblem.unfit(file: name, detail: error.explanation.what)
            } catch {
                throw CheckpointProblem.unfit(file: name, detail: "\(error)")
            }
            guard found.description == expected.sha256 else {
                throw CheckpointProblem.wrongDigest(file: name)
            }
        }
    }
}
