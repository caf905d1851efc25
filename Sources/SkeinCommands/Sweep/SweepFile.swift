import SkeinBasics
import SkeinJSON
import SkeinTraining

/// The recipes of `--sweep`: what each has other than the command line.
///
/// The file is a list of JSON objects, one for each recipe, or the same objects on lines of their own;
/// or one object with lists, whose values are combined with each other. Keys are options by name, as in
/// the file of `--config`; `name` names the recipe's directory.
struct SweepFile {
    struct Recipe: Equatable {
        let name: String
        /// Accepted texts by option name.
        let texts: [String: String]
    }

    let recipes: [Recipe]

    /// Recipes of a sweep: each has a thread, and an adapter with its moments in memory.
    static let mostRecipes = 64
    /// 64 recipes of 40 short lines each.
    static let mostBytes = 1 << 20

    private static let nameKey = "name"

    /// - Parameters:
    ///   - path: of the file.
    ///   - table: of the command.
    /// - Throws: `SweepError`, `UsageError` for bad content, `ForeignFileError`, `FileError`.
    init(path: String, table: ArgumentTable) throws {
        try self.init(
            bytes: try BoundedInput.text(path: path, limit: Self.mostBytes), path: path,
            table: table)
    }

    init(bytes: [UInt8], path: String, table: ArgumentTable) throws {
        let objects = try Self.objects(bytes, path: path)
        guard (1...Self.mostRecipes).contains(objects.count) else {
            throw SweepError.count(objects.count, limit: Self.mostRecipes, place: path)
        }
        var recipes: [Recipe] = []
        for (index, object) in objects.enumerated() {
            let number = String(index + 1)
            // As wide for any number of recipes, so that appended ones change no other's name.
            let usual = String(repeating: "0", count: max(0, 2 - number.count)) + number
            let recipe = try Self.recipe(object.fields, usual, place: object.place, table)
            if recipes.contains(where: { $0.name == recipe.name }) {
                throw SweepError.sameName(recipe.name, place: object.place)
            }
            recipes.append(recipe)
        }
        self.recipes = recipes
    }

    private static func recipe(
        _ fields: [JSONField], _ usual: String, place: String, _ table: ArgumentTable
    ) throws -> Recipe {
        var name = usual
        if let given = fields[nameKey] {
            switch given {
            case .text, .number: name = given.optionText ?? ""
            case .null, .bool: throw SweepError.badName(given.written, place: place)
            case .list, .object:
                throw SweepError.badName(given.optionText ?? given.kind, place: place)
            }
            guard isName(name) else { throw SweepError.badName(name, place: place) }
        }
        let fields = fields.filter { $0.name != nameKey }
        let texts = try ConfigurationFile(fields: fields, path: place, table: table).texts
        let own =
            (RecipeOptions.options + InputOptions.options).map(\.description.name)
            + [TrainingFlags.data.description.name]
        for option in texts.keys.sorted() where !own.contains(option) {
            throw SweepError.shared(recipe: name, option: option, place: place)
        }
        return Recipe(name: name, texts: texts)
    }

    /// Whether a text can be a directory's name, on any system, and is not one that a sweep uses.
    private static func isName(_ text: String) -> Bool {
        let letters = text.utf8
        guard (1...64).contains(letters.count), let first = text.first, text != "features",
            text != SweepTable.fileName
        else { return false }
        return (first.isASCII && (first.isLetter || first.isNumber))
            && text.allSatisfy {
                $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0))
            }
    }

    // MARK: JSON

    private struct Object {
        let fields: [JSONField]
        /// The file, and which of its recipes.
        let place: String
    }

    private static func objects(_ bytes: [UInt8], path: String) throws(SweepError) -> [Object] {
        if bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") {
            return try (value(bytes, place: path).list ?? []).enumerated().map {
                (index, item) throws(SweepError) in
                try object(item, place: "\(path), recipe \(index + 1)")
            }
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated().filter { line in
                line.element.contains { !" \t\r".utf8.contains($0) }
            }
        // An object on each line, or one over all lines.
        if lines.count > 1,
            lines.allSatisfy({ line in
                line.element.first { !" \t".utf8.contains($0) } == UInt8(ascii: "{")
            })
        {
            return try lines.map { (index, line) throws(SweepError) in
                let place = "\(path):\(index + 1)"
                return try object(value(Array(line), place: place), place: place)
            }
        }
        let choices = try object(value(bytes, place: path), place: path).fields
        return try combined(choices, path: path).map { Object(fields: $0, place: path) }
    }

    private static func value(_ bytes: [UInt8], place: String) throws(SweepError) -> JSONValue {
        do throws(JSONFlaw) {
            return try JSONReader.read(bytes, .foundation)
        } catch {
            throw .notRecipes(place: place, detail: "not JSON: " + error.sentence(in: bytes))
        }
    }

    private static func object(_ value: JSONValue, place: String) throws(SweepError) -> Object {
        guard let fields = value.fields else {
            throw .notRecipes(place: place, detail: "\(value.kind), not an object")
        }
        return Object(fields: fields, place: place)
    }

    /// Every combination of the choices; the last key's, in their order, changes fastest.
    private static func combined(
        _ fields: [JSONField], path: String
    ) throws(SweepError) -> [[JSONField]] {
        var all: [[JSONField]] = [[]]
        for field in fields.sorted(by: { $0.name < $1.name }) {
            if case .object = field.value {
                throw .notRecipes(
                    place: path, detail: "\"\(field.name)\" is an object, not one value or a list")
            }
            let choices = field.value.list ?? [field.value]
            // Before they are made: a short file can ask for very many.
            guard all.count * choices.count <= mostRecipes else {
                throw .count(
                    all.count * choices.count, limit: mostRecipes, place: path)
            }
            all = all.flatMap { object in
                choices.map { object + [JSONField(name: field.name, value: $0)] }
            }
        }
        return all
    }
}
