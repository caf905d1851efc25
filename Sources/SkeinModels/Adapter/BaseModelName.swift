import SkeinBasics

/// What people call a base model, from its path: a repository of the Hub with its commit, if the path
/// lies in a cache of the Hub, else the name of the file or folder.
package struct BaseModelName: Sendable, Equatable {
    package var name: String
    package var revision: String?
    /// The GGUF file in the repository, if the path is one of a cache.
    package var file: String?

    /// What `--model` takes: `ORG/NAME@COMMIT:FILE` of a model in a cache, else the name.
    package var reference: String {
        name + (revision.map { "@" + $0 } ?? "") + (file.map { ":" + $0 } ?? "")
    }

    /// `path`: of a file or folder; in a cache, `.../models--ORG--NAME/snapshots/COMMIT` or below it.
    package init(path: String) {
        let parts = path.split(separator: "/").map(String.init)
        if let index = parts.lastIndex(of: "snapshots"), index > 0, index + 1 < parts.count,
            parts[index - 1].hasPrefix("models--"), parts[index + 1].count == 40,
            parts[index + 1].allSatisfy(\.isHexDigit)
        {
            name = String(parts[index - 1].dropFirst("models--".count)).replacing("--", with: "/")
            revision = parts[index + 1]
            let inside = parts[(index + 2)...].joined(separator: "/")
            file = inside.hasSuffix(".gguf") ? inside : nil
        } else {
            name = FilePath.name(of: path)
            (revision, file) = (nil, nil)
        }
    }
}
