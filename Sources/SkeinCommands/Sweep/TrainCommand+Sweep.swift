import Foundation
import Skein
import SkeinBasics
import SkeinHub
import SkeinModels
import SkeinTraining
import SkeinWatch

extension TrainCommand {
    /// The recipes of `--sweep`, resolved.
    struct Sweep: Sendable, Equatable {
        var recipes: [(name: String, texts: [String: String], options: Options)]

        static func == (left: Sweep, right: Sweep) -> Bool {
            left.recipes.elementsEqual(right.recipes) { $0 == $1 }
        }

        /// - Parameters:
        ///   - path: of the file.
        ///   - arguments: of the command line, which hold for all recipes.
        /// - Throws: `SweepError`, `UsageError`, `FileError`.
        init(path: String, _ arguments: ParsedArguments) throws {
            let output = arguments[TrainingFlags.output]
            recipes = try SweepFile(path: path, table: arguments.table).recipes.map { recipe in
                var own = arguments.removing(option: TrainingFlags.sweep.description.name)
                for (option, text) in recipe.texts {
                    own = own.replacing(option: option, by: text)
                }
                own = own.replacing(
                    option: TrainingFlags.output.description.name,
                    by: FilePath.join(output, recipe.name))
                return (recipe.name, recipe.texts, try TrainCommand(own).options)
            }
        }
    }

    /// A recipe that had not begun when its sweep was stopped begins with the defaults of those that had: another
    /// version may have others, and the sweep would compare two things.
    private func takeDefaults(of sweep: Sweep, into members: inout [SweepRun.Member]) throws {
        /// What the automatic defaults follow from.
        let causes = [
            TrainingFlags.data.description, RecipeOptions.table.loss.description,
            RecipeOptions.table.batchSize.description,
            RecipeOptions.table.logicalWorkers.description,
            RecipeOptions.table.iterations.description,
            RecipeOptions.table.warmupRatio.description,
        ].map(\.name)
        let records = try members.map { member in
            let path = FilePath.join(member.request.output, "run.json")
            return DiskStore().exists(path) ? try RunFile(path: path).configuration : nil
        }
        for index in members.indices where records[index] == nil {
            for (other, record) in records.enumerated() {
                guard let record else { continue }
                let isAlike = causes.allSatisfy {
                    sweep.recipes[index].texts[$0] == sweep.recipes[other].texts[$0]
                }
                var request = members[index].request
                var shared = request.unnamed.intersection(members[other].request.unnamed)
                if !isAlike { shared.subtract(MeasuredOption.automatic) }
                request.configuration.take(shared, of: record)
                request.unnamed.subtract(shared)
                members[index] = SweepRun.Member(name: members[index].name, request: request)
            }
        }
    }

    /// Runs all recipes, and prints a table.
    ///
    /// - Parameters:
    ///   - sweep: the recipes.
    ///   - io: where to write.
    /// - Throws: `SweepError.failed` or `.interrupted` at the end, if a run was not completed.
    func run(_ sweep: Sweep, _ io: CommandIO) throws {
        var members = try sweep.recipes.map {
            var own = $0.options
            // A recipe may name its own.
            own.configuration.inputs.initAdapter = try own.configuration.inputs.initAdapter.map {
                try RepositoryNames.path($0, as: .adapter, io)
            }
            return SweepRun.Member(name: $0.name, request: try own.request())
        }
        if options.resume { try takeDefaults(of: sweep, into: &members) }
        let run = try SweepRun(
            members, output: options.output, resuming: options.resume, samples: .generating)
        let reporter = SweepReporter(io, run, exports: options.exports)
        reporter.showData()
        if !options.resume {
            let modes = Set(sweep.recipes.map(\.options.configuration.compute))
            for mode in modes.sorted(by: { $0.rawValue < $1.rawValue }) {
                ComputeAdvice.tell(mode, io.log)
            }
        }
        let endings = try run.run(
            report: { try reporter.show($0) }, shouldStop: { io.interrupt.isSet })
        let table = try SweepTable(run, texts: sweep.recipes.map(\.texts), endings: endings)
        let path = FilePath.join(options.output, SweepTable.fileName)
        try AtomicFile.write(table.json, to: path)
        try io.print(table.text + "all of it: \(path)")
        if let best = table.best {
            let place = FilePath.join(options.output, best.name)
            try io.print("best: \(place) (sha256 \(best.digest ?? ""))")
        }
        if !table.isComparable {
            io.log.info(
                "the recipes do not all validate the same rows by the same loss, so none is named the "
                    + "best")
        }
        let failed = table.rows.filter { $0.problem != nil }.map(\.name)
        let stopped = table.rows.filter { $0.problem == nil && !$0.isComplete }.map(\.name)
        if !stopped.isEmpty { throw SweepError.interrupted(names: stopped, output: options.output) }
        if !failed.isEmpty {
            throw SweepError.failed(
                names: failed, of: table.rows.count, output: options.output)
        }
        // Where none is the best one, each must be an improvement.
        for row in table.best.map({ [$0] }) ?? table.rows {
            try CommandError.check(
                row.improvement, place: FilePath.join(options.output, row.name),
                isRequired: options.configuration.requireImprovement == true, io.log)
        }
    }
}
