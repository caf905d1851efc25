import SkeinJSON

/// Contents of JSON texts and of their beginnings.
enum ContentReader {
    // The last of properties with the same name counts, and names are the same if Swift's texts
    // are.
    private static let rules = JSONRules(
        depth: SessionLimits.contentDepth, bytes: SessionLimits.contentBytes, names: .all,
        leavesCount: false, takesMark: true)

    /// - Throws: `GeneratedContentError` if no JSON text begins so.
    static func read(
        _ bytes: [UInt8], id: GenerationID?, isWhole: Bool
    ) throws(GeneratedContentError) -> GeneratedContent {
        let partial: JSONPartial
        do {
            partial = try JSONReader.partial(bytes, isWhole: isWhole, rules)
        } catch {
            switch error.kind {
            case .malformed, .repeatedName: throw .malformedJSON(offset: error.offset)
            case .notUTF8, .halfOfPair: throw .malformedText(offset: error.offset)
            case .tooDeep(let limit): throw .tooDeep(limit: limit)
            case .tooLarge(let limit): throw .tooLong(limit: limit)
            }
        }
        return content(partial.value, id, partial.isComplete ? nil : partial.spine[...])
    }

    /// - Parameters:
    ///   - value: no deeper than `SessionLimits.contentDepth`.
    ///   - id: of the content.
    ///   - spine: where the text ended in the value; nil if it is complete.
    /// - Returns: the value with ids for its parts.
    private static func content(
        _ value: JSONValue, _ id: GenerationID?, _ spine: ArraySlice<Int>?
    ) -> GeneratedContent {
        /// What of the spine lies in the part at a place; nil: that part is complete.
        func below(_ place: Int) -> ArraySlice<Int>? {
            spine?.first == place ? spine?.dropFirst() : nil
        }
        let storage: GeneratedContent.Storage
        switch value {
        case .null: storage = .null
        case .bool(let flag): storage = .bool(flag)
        case .number(let text): storage = .number(NumberText(checked: text))
        case .text(let text): storage = .string(text)
        case .list(let items):
            storage = .array(
                items.indices.map { content(items[$0], id?.child($0), below($0)) })
        case .object(let fields):
            var properties: [String: GeneratedContent] = [:]
            var orderedKeys: [String] = []
            for (place, field) in fields.enumerated() {
                let part = content(field.value, id?.child(field.name), below(place))
                if properties.updateValue(part, forKey: field.name) == nil {
                    orderedKeys.append(field.name)
                }
            }
            storage = .structure(properties: properties, orderedKeys: orderedKeys)
        }
        return GeneratedContent(storage, id: id, isComplete: spine == nil)
    }
}
