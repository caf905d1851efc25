import Foundation
import SkeinBasics
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
        _ fields: [String: Field], _ usual: String, place: String, _ table: ArgumentTable
    ) throws -> Recipe {
        var fields = fields
        var name = usual
        if let given = fields.removeValue(forKey: nameKey) {
            guard case .text(let text) = given, isName(text) else {
                throw SweepError.badName(given.shown, place: place)
            }
            name = text
        }
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
        let fields: [String: Field]
        /// The file, and which of its recipes.
        let place: String
    }

    private static func objects(_ bytes: [UInt8], path: String) throws -> [Object] {
        let decoder = JSONDecoder()
        let data = Data(bytes)
        let isList = bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "[")
        do {
            if isList {
                return try decoder.decode([[String: Field]].self, from: data).enumerated().map {
                    Object(fields: $1, place: "\(path), recipe \($0 + 1)")
                }
            }
        } catch {
            throw SweepError.notRecipes(place: path, detail: problem(error))
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
            return try lines.map { index, line in
                let place = "\(path):\(index + 1)"
                do {
                    return Object(
                        fields: try decoder.decode([String: Field].self, from: Data(line)),
                        place: place)
                } catch {
                    throw SweepError.notRecipes(place: place, detail: problem(error))
                }
            }
        }
        do {
            let values = try decoder.decode([String: Values].self, from: data)
            return try combined(values, path: path).map {
                Object(fields: $0, place: path)
            }
        } catch let error as DecodingError {
            throw SweepError.notRecipes(place: path, detail: problem(error))
        }
    }

    private static func problem(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        return switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context.debugDescription
        @unknown default: "it is not JSON"
        }
    }

    /// One value, or several to choose from.
    private enum Values: Decodable {
        case one(Field)
        case choice([Field])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let field = try container.decode(Field.self)
            switch field {
            case .list, .structure:
                self =
                    .choice(try container.decode([Field].self))
            case .absent, .flag, .text: self = .one(field)
            }
        }
    }

    /// Every combination of the choices; the last key's, in their order, changes fastest.
    private static func combined(
        _ values: [String: Values], path: String
    ) throws -> [[String: Field]] {
        var all: [[String: Field]] = [[:]]
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            let choices =
                switch value {
                case .one(let field): [field]
                case .choice(let fields): fields
                }
            // Before they are made: a short file can ask for very many.
            guard all.count * choices.count <= mostRecipes else {
                throw SweepError.count(
                    all.count * choices.count, limit: mostRecipes, place: path)
            }
            all = all.flatMap { object in
                choices.map { object.merging([key: $0]) { $1 } }
            }
        }
        return all
    }
}

extension Field {
    /// For an error.
    fileprivate var shown: String {
        switch self {
        case .absent: "null"
        case .flag(let flag): "\(flag)"
        case .text(let text): text
        case .list(let items): items.joined(separator: ",")
        case .structure: "an object"
        }
    }
}
