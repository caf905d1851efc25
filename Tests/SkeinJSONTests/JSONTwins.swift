import Foundation
import SkeinJSON
import Testing

/// Compares the readers that stood before with what replaces them. It goes when they do.
///
/// Allowed, and nothing else: the places of what is malformed, where the reader of rows and the macros'
/// had others (D1), and half of a pair is told as soon as it is certain (D8); numbers that RFC 8259 does not have, which the macros' reader took, and long ones,
/// which it refused (D2); a text that ends where it is as deep as it may be, which was too deep (D7).
enum JSONTwins {
    static func check(_ bytes: [UInt8]) {
        rows(bytes)
        macros(bytes)
        tables(bytes)
        sessions(bytes)
        folders(bytes)
        vocabularies(bytes)
    }

    private static func result<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) -> Result<Value, Failure> {
        do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }

    private static func rows(_ bytes: [UInt8]) {
        for takesLast in [false, true] {
            let old = result { () throws(BeforeRows.JSONFlaw) in
                try BeforeRows.JSONReader.read(
                    bytes,
                    BeforeRows.JSONRules(
                        depth: 9, takesLast: takesLast, takesMark: true, takesNonFinite: takesLast))
            }
            let new = result { () throws(JSONFlaw) in
                try JSONReader.read(
                    bytes,
                    JSONRules(
                        depth: 9, names: takesLast ? .last : .refused, takesMark: true,
                        takesNonFinite: takesLast))
            }
            let isAlike =
                switch (old, new) {
                case (.success(let old), .success(let new)):
                    old == new && old.written == new.written
                case (.failure(let old), .failure(let new)):
                    switch (old, new.kind) {
                    case (.malformed, .malformed), (.malformed, .halfOfPair): true
                    case (.notUTF8(let offset), .notUTF8): offset == new.offset
                    case (.repeatedName(let offset), .repeatedName): offset == new.offset
                    case (.tooDeep(let old), .tooDeep(let limit)): old == limit
                    case (.tooDeep, .malformed): new.offset == bytes.count
                    default: false
                    }
                default: false
                }
            #expect(isAlike, "\(old), \(new): \(bytes)")
        }
    }

    private static func macros(_ bytes: [UInt8]) {
        let old = result { () throws(BeforeMacros.JSONReader.Flaw) in
            try BeforeMacros.JSONReader.read(bytes)
        }
        let new = result { () throws(JSONFlaw) in
            try JSONReader.read(bytes, JSONRules(depth: 64, names: .all))
        }
        switch (old, new) {
        case (.failure, .failure): break
        case (.success(let old), .success(let new)):
            #expect(isAlike(old, new), "\(bytes)")
        case (.success, .failure(let flaw)):
            let isNumber =
                switch flaw.kind {
                case .malformed(.value), .malformed(.digit), .malformed(.commaOr),
                    .malformed(.nothing):
                    true
                default: false
                }
            #expect(isNumber, "\(flaw): \(bytes)")
        case (.failure, .success(let value)):
            #expect(
                numbers(of: value).contains { Double($0)?.isFinite != true || $0.utf8.count > 400 })
        }
    }

    private static func isAlike(_ old: BeforeMacros.JSONValue, _ new: JSONValue) -> Bool {
        switch (old, new) {
        case (.null, .null): true
        case (.bool(let old), .bool(let new)): old == new
        case (.number(let old), .number(let new)): old == Double(new)
        case (.text(let old), .text(let new)): old.isSame(as: new)
        case (.list(let old), .list(let new)):
            old.count == new.count && zip(old, new).allSatisfy(isAlike)
        case (.object(let old), .object(let new)):
            old.count == new.count
                && zip(old, new).allSatisfy {
                    $0.name.isSame(as: $1.name) && isAlike($0.value, $1.value)
                }
        default: false
        }
    }

    private static func numbers(of value: JSONValue) -> [String] {
        switch value {
        case .number(let text): [text]
        case .list(let items): items.flatMap(numbers)
        case .object(let fields): fields.flatMap { numbers(of: $0.value) }
        default: []
        }
    }

    private static func tables(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { bytes in
            let old = result { () throws(BeforeTables.JSONScanner.Problem) in
                var scanner = BeforeTables.JSONScanner(bytes, at: 0)
                return try scanner.value()
            }
            let rules = JSONRules(
                depth: 512, leavesCount: false, takesNonFinite: true, takesHalves: true)
            let new = result { () throws(JSONFlaw) in try JSONReader.skip(bytes, from: 0, rules) }
            let isAlike =
                switch (old, new) {
                case (.success(let old), .success(let new)): old == new
                case (.failure(let old), .failure(let new)):
                    switch new.kind {
                    case .malformed(let expected):
                        old.offset == new.offset && old.expected == expected.words
                    case .tooDeep: old.offset == new.offset && old.expected.contains("512")
                    default: false
                    }
                default: false
                }
            #expect(isAlike, "\(old), \(new): \(Array(bytes))")
        }
    }

    private static func sessions(_ bytes: [UInt8]) {
        for isWhole in [false, true] {
            let old = result { () throws(BeforeSessions.Flaw) in
                try BeforeSessions.ContentReader.read(bytes, id: nil, isWhole: isWhole)
            }
            let rules = JSONRules(
                depth: 256, bytes: 16 << 20, names: .last, leavesCount: false, takesMark: true)
            let new = result { () throws(JSONFlaw) in
                try JSONReader.partial(bytes, isWhole: isWhole, rules)
            }
            let isAlike =
                switch (old, new) {
                case (.success(let old), .success(let new)):
                    self.isAlike(old, new.value, new.isComplete ? nil : new.spine[...])
                case (.success(let old), .failure(let new)):
                    new.kind == .halfOfPair && !old.isComplete
                case (.failure(.malformedJSON(let offset)), .failure(let new))
                where new.kind == .halfOfPair:
                    new.offset < offset
                case (.failure(.malformedJSON(let offset)), .failure(let new)):
                    if case .malformed = new.kind { offset == new.offset } else { false }
                case (.failure(.malformedText(let offset)), .failure(let new)):
                    (new.kind == .notUTF8 || new.kind == .halfOfPair) && offset == new.offset
                case (.failure(.tooDeep(let limit)), .failure(let new)):
                    new.kind == .tooDeep(limit: limit)
                case (.failure(.tooLong(let limit)), .failure(let new)):
                    new.kind == .tooLarge(limit: limit)
                default: false
                }
            #expect(isAlike, "\(old), \(new): \(bytes)")
        }
    }

    /// `spine` is nil for what is complete.
    private static func isAlike(
        _ old: BeforeSessions.Content, _ new: JSONValue, _ spine: ArraySlice<Int>?
    ) -> Bool {
        func below(_ place: Int) -> ArraySlice<Int>? {
            spine?.first == place ? spine?.dropFirst() : nil
        }
        guard old.isComplete == (spine == nil) else { return false }
        switch (old.storage, new) {
        case (.null, .null): return true
        case (.bool(let old), .bool(let new)): return old == new
        case (.number(let old), .number(let new)): return old == new
        case (.string(let old), .text(let new)): return old.isSame(as: new)
        case (.array(let old), .list(let new)):
            return old.count == new.count
                && new.indices.allSatisfy { isAlike(old[$0], new[$0], below($0)) }
        case (.structure(let properties, let keys), .object(let fields)):
            return keys == fields.map(\.name)
                && fields.indices.allSatisfy { place in
                    properties[fields[place].name].map {
                        isAlike($0, fields[place].value, below(place))
                    } ?? false
                }
        default: return false
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
