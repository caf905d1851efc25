import SkeinBasics

/// What a run reads besides the model and its rows. Paths are not part of the digest: the bytes are
/// compared by digests of their own in run.json.
package struct InputOptions: OptionTable {
    package let validData = Option.optional(
        "valid-data", .path("FILE"), in: .data,
        "validation rows, instead of a share of --data; several files with commas between them")
    package let testData = Option.optional(
        "test-data", .path("FILE"), in: .data,
        "test rows, evaluated once at the end of the run; several files likewise")
    package let skipBadLines = Option.flag(
        "skip-bad-lines", in: .data, "count invalid lines and go on")
    package let initAdapter = Option.optional(
        "init-adapter", .path(), in: .adapter,
        "start from this adapter: a run's folder, a PEFT or MLX folder, a GGUF file, or "
            + "ORG/NAME[@revision][:file.gguf] of the Hub; rank, alpha, target modules, layers and "
            + "--dora are its own unless they are given")
    package let anyBase = Option.flag(
        "any-base", in: .adapter,
        "take an --init-adapter that was made for another base model, if its shapes fit"
    ).namedOnlyWhenGiven()

    package static let table = InputOptions()
    package static let options = list(table)
}
