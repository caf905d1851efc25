import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands

@Suite struct ConfigurationFileTests {
    static func options(_ json: String, _ words: String...) throws -> TrainCommand.Options {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/skein.json"
            try AtomicFile.write(json, to: path)
            let arguments = try ArgumentParser.parse(
                ["--config", path] + words, by: TrainCommand.table)
            return try TrainCommand(arguments).options
        }
    }

    @Test("options are named with dashes or in camelCase, and the command line overrides them")
    func reads() throws {
        let options = try Self.options(
            """
            {"model": "m", "data": "d", "output": "o", "batchSize": 8, "learning-rate": 2e-4,
             "targetModules": ["up_proj", "q_proj"], "shuffle": false, "resume": true,
             "iterations": null, "maxLength": 256, "beta1": 0.8, "layers": "2", "rank": 4}
            """, "--batch-size", "2", "--max-length=128")
        #expect(options.model == "m")
        #expect(options.configuration.batchSize == 2)
        #expect(options.configuration.maxLength == 128)
        #expect(options.configuration.learningRate == 2e-4)
        #expect(options.configuration.targetModules == [.query, .up])
        #expect(!options.configuration.shuffle)
        #expect(options.resume)
        #expect(options.configuration.iterations == nil)
        #expect(options.configuration.beta1 == 0.8)
        #expect(options.configuration.layers == .last(2))
        #expect(options.configuration.rank == 4)
    }

    @Test("--config reads the output of --print-config back as the same options")
    func roundTrip() throws {
        let process = CapturedProcess()
        let status = process.run(
            "train", "--print-config", "--model", "m", "--data", "d", "--output", "o", "--resume",
            "--epsilon", "1e-7", "--layers", "0-3", "--target-modules", "all-linear", "--threads",
            "2", "--shuffle", "off")
        #expect(status == 0)
        let options = try Self.options(process.output)
        #expect(options.configuration.epsilon == 1e-7)
        #expect(options.configuration.layers == .range(0...3))
        #expect(options.configuration.targetModules.count == 7)
        #expect(options.configuration.threads == 2)
        #expect(options.resume && !options.configuration.shuffle)
        #expect(options.configuration.earlyStopPatience == nil)
    }

    @Test("the output of --print-config without options sets only defaults")
    func nothingGiven() throws {
        for command in CommandLineTool.skein.commands {
            let process = CapturedProcess()
            #expect(process.run(command.table.command, "--print-config") == 0)
            let file = try ConfigurationFile(
                bytes: Array(process.output.utf8), path: "c.json", table: command.table)
            for (name, text) in file.texts {
                let option = try #require(command.table.option(named: name))
                let usual = option.rule == nil ? option.fallback : OptionDescription.automatic
                let standard = option.isFlag ? "false" : usual
                #expect(
                    option.json(text).map(\.written)
                        == standard.flatMap(option.json).map(\.written),
                    "\(command.table.command) --\(name): \(text)")
            }
        }
    }

    @Test("--print-config does not need the required options")
    func incomplete() {
        let process = CapturedProcess()
        #expect(process.run("evaluate", "--print-config") == 0)
        #expect(process.output.contains("\"model\": null"))
    }

    static let bad: [(String, UsageError)] = [
        ("", .configurationIsNoObject(path: "c", detail: "byte 0: a value was expected")),
        ("[1]", .configurationIsNoObject(path: "c", detail: "it is a list")),
        (
            "{\"rank\": 8",
            .configurationIsNoObject(path: "c", detail: "byte 10: a comma or } was expected")
        ),
        (
            "{\n\"rank\": 8,\n}",
            .configurationIsNoObject(path: "c", detail: "line 3, byte 13: a key was expected")
        ),
        ("{\"rnk\": 8}", .unknownKey("rnk", path: "c", suggestion: "rank")),
        (
            "{\"learning_rate\": 1}",
            .unknownKey("learning_rate", path: "c", suggestion: "learning-rate")
        ),
        ("{\"config\": \"x\"}", .unknownKey("config", path: "c", suggestion: nil)),
        ("{\"help\": true}", .unknownKey("help", path: "c", suggestion: nil)),
        ("{\"batchSize\": 1, \"batch-size\": 1}", .repeatedKey("batch-size", path: "c")),
        ("{\"rank\": 0}", value("rank", "\"0\"", "a whole number from 1 to 1024")),
        ("{\"rank\": true}", value("rank", "\"true\"", "a whole number from 1 to 1024")),
        ("{\"rank\": {}}", value("rank", object, "a whole number from 1 to 1024")),
        ("{\"rank\": [1, 2]}", value("rank", object, "a whole number from 1 to 1024")),
        ("{\"resume\": 1}", value("resume", "\"1\"", "true or false")),
        (
            "{\"seed\": 1e30}",
            value("seed", "\"1e+30\"", "a whole number from 0 to 9223372036854775807")
        ),
    ]
    private static let object = "an object or a mixed list"

    private static func value(_ key: String, _ value: String, _ accepted: String) -> UsageError {
        .badKeyValue(key, path: "c", value: value, accepted: accepted)
    }

    @Test("each wrong file has its own error", arguments: bad.indices)
    func errors(index: Int) {
        let (json, error) = Self.bad[index]
        #expect(throws: error) {
            try ConfigurationFile(bytes: Array(json.utf8), path: "c", table: TrainCommand.table)
        }
        #expect(error.explanation.place == "c")
    }

    @Test("an error names a file that is missing or too long")
    func unreadable() throws {
        let missing = FileError.failed(operation: "open", path: "/nowhere/c", code: 2)
        #expect(throws: missing) {
            try ConfigurationFile(path: "/nowhere/c", table: TrainCommand.table)
        }
        #expect(throws: CommandError.inputTooLong(name: "/dev/zero", limit: 1 << 20)) {
            try ConfigurationFile(path: "/dev/zero", table: TrainCommand.table)
        }
    }
}
