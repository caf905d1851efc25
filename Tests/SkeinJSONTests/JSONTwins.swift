import Foundation
import SkeinJSON
import Testing

/// Compares the readers that stood before with what replaces them. It goes when they do.
enum JSONTwins {
    static func check(_ bytes: [UInt8]) {
        folders(bytes)
        vocabularies(bytes)
    }

    private static func numbers(of value: JSONValue) -> [String] {
        switch value {
        case .number(let text): [text]
        case .list(let items): items.flatMap(numbers)
        case .object(let fields): fields.flatMap { numbers(of: $0.value) }
        default: []
        }
    }

    /// Readers that trusted what another one had accepted.
    private static func folders(_ bytes: [UInt8]) {
        let rules = JSONRules(depth: 64, names: .all, takesNonFinite: true)
        guard let value = try? JSONReader.read(bytes, rules) else { return }
        let old = BeforeFolder.JSONMembers(String(decoding: bytes, as: UTF8.self))?.members
        let new = bytes.withUnsafeBytes { bytes in
            (try? JSONReader.members(of: bytes, rules))?.map {
                (
                    String(decoding: bytes[$0.name], as: UTF8.self),
                    String(decoding: bytes[$0.value], as: UTF8.self)
                )
            }
        }
        let isAlike =
            old?.count == new?.count
            && zip(old ?? [], new ?? []).allSatisfy {
                $0.key.isSame(as: $1.0) && $0.value.isSame(as: $1.1)
            }
        #expect(isAlike, "\(bytes)")
        // The old one looked for words behind a colon, a bracket or a comma.
        guard value.fields != nil || value.list != nil else { return }
        let isPython = numbers(of: value).contains {
            ["NaN", "Infinity", "-Infinity"].contains($0)
        }
        #expect((BeforePython.PythonJSON(Data(bytes)) != nil) == isPython, "\(bytes)")
    }

    private static func vocabularies(_ bytes: [UInt8]) {
        let rules = JSONRules(depth: 64, names: .all)
        guard let tree = try? JSONReader.read(bytes, rules) else { return }
        let old = BeforeVocabulary.VocabularyScanner.entries(of: Data(bytes))
        let vocabulary = tree["model"]?["vocab"]?.fields
        let entries = vocabulary?.compactMap { field in
            field.value.integer.map { (field.name, $0) }
        }
        let new = entries?.count == vocabulary?.count ? entries : nil
        let isAlike =
            old?.count == new?.count
            && zip(old ?? [], new ?? []).allSatisfy { $0.piece.isSame(as: $1.0) && $0.id == $1.1 }
        #expect(isAlike, "\(bytes)")
    }
}
