import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows

@Suite struct DataFilesTests {
    private func touch(_ directory: String, _ names: [String]) throws {
        for name in names {
            try AtomicFile.makeDirectory(FilePath.parent(of: FilePath.join(directory, name)))
            try AtomicFile.write("x", to: FilePath.join(directory, name))
        }
    }

    private func inFolder(_ names: [String], _ body: (String) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try touch(directory, names)
            try body(directory)
        }
    }

    @Test("a folder gives train, valid and test files; flags win")
    func folder() throws {
        try inFolder(["train.jsonl", "train.csv", "valid.jsonl"]) { directory in
            let files = try DataFiles(path: directory)
            #expect(files.train == [WeightedFile(path: directory + "/train.jsonl")])
            #expect(files.validation == [WeightedFile(path: directory + "/valid.jsonl")])
            #expect(files.test == nil)
            let given = try DataFiles(path: directory, validation: "v,w").validation
            #expect(given == [WeightedFile(path: "v"), WeightedFile(path: "w")])
        }
        #expect(try DataFiles(path: "x.jsonl").train == [WeightedFile(path: "x.jsonl")])
    }

    @Test("a folder without training rows is refused, and one in which two files could be meant")
    func unclearFolder() throws {
        try inFolder(["data/rows.parquet"]) { directory in
            #expect(throws: RowError.noTrainingFile(directory: directory)) {
                try DataFiles(path: directory)
            }
        }
        try inFolder(["train.csv", "train.json"]) { directory in
            #expect(
                throws: RowError.severalDataFiles(
                    directory: directory, names: ["train.json", "train.csv"])
            ) {
                try DataFiles(path: directory)
            }
        }
    }

    @Test("a folder as the Hub has it: parts in order, here or in data/")
    func shards() throws {
        let names = [
            "data/train-00001-of-00002-0a1b.parquet", "data/train-00000-of-00002-0a1b.parquet",
            "data/validation-00000-of-00001.parquet",
        ]
        try inFolder(names) { directory in
            let files = try DataFiles(path: directory)
            #expect(
                files.train
                    == [names[1], names[0]].map { WeightedFile(path: directory + "/" + $0) })
            #expect(files.validation == [WeightedFile(path: directory + "/" + names[2])])
        }
        try inFolder(["train-00000-of-00002.parquet"]) { directory in
            #expect(
                throws: RowError.badShards(
                    directory: directory, names: ["train-00000-of-00002.parquet"])
            ) {
                try DataFiles(path: directory)
            }
        }
    }

    @Test("rows for validation have the names that people and the Hub give them")
    func validationNames() throws {
        for name in ["valid", "validation", "val", "dev"] {
            for (train, held) in [
                ("train.jsonl", ".jsonl"), ("train.csv", ".tsv"), ("train.jsonl", ".parquet"),
            ] {
                try inFolder([train, name + held, "other" + held]) { directory in
                    let files = try DataFiles(path: directory)
                    #expect(
                        files.validation == [WeightedFile(path: directory + "/" + name + held)])
                }
            }
        }
        try inFolder(["train.jsonl", "valid.jsonl", "dev.jsonl"]) { directory in
            #expect(
                throws: RowError.severalDataFiles(
                    directory: directory, names: ["valid.jsonl", "dev.jsonl"])
            ) { try DataFiles(path: directory) }
        }
    }

    @Test("files for which nothing looks are named, and not read")
    func lookAlikes() throws {
        let cases: [(files: [String], options: (String?, String?), unread: [String])] = [
            (["train.jsonl", "eval.jsonl"], (nil, nil), ["eval.jsonl"]),
            (["train.jsonl", "valid.jsonl", "evaluation.csv"], (nil, nil), ["evaluation.csv"]),
            (["data/train.jsonl", "validation.jsonl"], (nil, nil), ["validation.jsonl"]),
            (
                ["default/train/0.parquet", "test.jsonl", "data/dev.csv"], (nil, nil),
                ["test.jsonl", "data/dev.csv"]
            ),
            (["train/a.jsonl", "validation/a.json"], (nil, nil), ["validation/"]),
            // It is read, there is one already, it holds something else, or nothing is called so.
            (["train.jsonl", "eval.jsonl"], ("eval.jsonl", nil), []),
            (["train.jsonl", "eval.jsonl", "x.jsonl"], (nil, "x.jsonl"), []),
            (["train.jsonl", "test.jsonl", "eval.jsonl"], (nil, nil), []),
            (["train.jsonl", "valid.jsonl", "valid.csv", "training.jsonl"], (nil, nil), []),
            (["data/train.jsonl", "test/fixture.json", "eval.py", "a.jsonl"], (nil, nil), []),
            (["train/a.jsonl", "validation/README.md"], (nil, nil), []),
        ]
        for (names, options, unread) in cases {
            try inFolder(names) { directory in
                func path(_ name: String?) -> String? { name.map { directory + "/" + $0 } }
                let files = try DataFiles(
                    path: directory, validation: path(options.0), test: path(options.1))
                #expect(files.unread == unread.map { directory + "/" + $0 }, "\(names)")
            }
        }
    }

    @Test(
        "what datasets and the Hub write is found: folders of parts, configurations, parts of lines"
    )
    func hubFolders() throws {
        let cases: [(files: [String], train: [String], validation: [String]?)] = [
            (
                [
                    "default/train/0001.parquet", "default/train/0000.parquet",
                    "default/test/0000.parquet",
                ],
                ["default/train/0000.parquet", "default/train/0001.parquet"], nil
            ),
            (
                [
                    "main/train-00000-of-00001.parquet", "main/validation-00000-of-00001.parquet",
                    "README.md",
                ],
                ["main/train-00000-of-00001.parquet"], ["main/validation-00000-of-00001.parquet"]
            ),
            (["data/train.jsonl", "data/dev.jsonl"], ["data/train.jsonl"], ["data/dev.jsonl"]),
            (
                ["train-00000-of-00002.jsonl", "train-00001-of-00002.jsonl"],
                ["train-00000-of-00002.jsonl", "train-00001-of-00002.jsonl"], nil
            ),
            (["train/a.parquet", "val/b.parquet"], ["train/a.parquet"], ["val/b.parquet"]),
            // What is here wins over what is in folders.
            (["train.jsonl", "old/train.jsonl"], ["train.jsonl"], nil),
        ]
        for (names, train, validation) in cases {
            try inFolder(names) { directory in
                let files = try DataFiles(path: directory)
                func paths(_ names: [String]) -> [WeightedFile] {
                    names.map { WeightedFile(path: directory + "/" + $0) }
                }
                #expect(files.train == paths(train), "\(names)")
                #expect(files.validation == validation.map(paths), "\(names)")
            }
        }
        let parts = ["train-00000-of-00003.parquet", "train-00002-of-00003.parquet"]
        try inFolder(parts.map { "train/" + $0 }) { directory in
            #expect(
                throws: RowError.badShards(directory: directory + "/train", names: parts)
            ) { try DataFiles(path: directory) }
        }
        try inFolder(["en/train.jsonl", "fr/train.jsonl"]) { directory in
            #expect(
                throws: RowError.severalDataFiles(
                    directory: directory, names: ["en/", "fr/"])
            ) { try DataFiles(path: directory) }
        }
        for saved in [
            ["dataset_dict.json", "train/state.json"], ["state.json", "dataset_info.json"],
        ] {
            try inFolder(saved) { directory in
                let error = RowError.savedDataset(directory: directory)
                #expect(throws: error) { try DataFiles(path: directory) }
                #expect(error.explanation.remedy.contains("load_from_disk"))
            }
        }
    }

    @Test("a list of files with weights; an existing path is never taken apart")
    func list() throws {
        #expect(
            try DataFiles(path: "a.jsonl:2,b.csv:0.5,c").train
                == [
                    WeightedFile(path: "a.jsonl", weight: 2),
                    WeightedFile(path: "b.csv", weight: 0.5), WeightedFile(path: "c"),
                ])
        // The rest is no file, so it is not known that a weight was meant.
        #expect(try DataFiles(path: "a:b").train == [WeightedFile(path: "a:b")])
        try inFolder(["a,b:3", "c:2", "d"]) { directory in
            let alone = try DataFiles(path: directory + "/a,b:3").train
            #expect(alone == [WeightedFile(path: directory + "/a,b:3")])
            let both = try DataFiles(path: "\(directory)/c:2,\(directory)/d:4").train
            #expect(
                both == [
                    WeightedFile(path: directory + "/c:2"),
                    WeightedFile(path: directory + "/d", weight: 4),
                ])
        }
    }

    @Test("several texts are one list; a folder is none of several")
    func texts() throws {
        try inFolder(["a", "f/train.jsonl"]) { directory in
            let files = try DataFiles(paths: [directory + "/a", "b:2,c"]).train
            #expect(
                files == [
                    WeightedFile(path: directory + "/a"), WeightedFile(path: "b", weight: 2),
                    WeightedFile(path: "c"),
                ])
            let folder = try DataFiles(paths: [directory + "/f"]).train
            #expect(folder == [WeightedFile(path: directory + "/f/train.jsonl")])
            let f = directory + "/f"
            #expect(throws: RowError.badDataList(option: "data", problem: .folder(path: f))) {
                try DataFiles(paths: [directory + "/a", f])
            }
        }
    }

    @Test("weights and lists that cannot be meant are usage errors")
    func badLists() throws {
        try inFolder(["a", "f/train.jsonl"]) { directory in
            let a = directory + "/a"
            let cases: [(String, DataListProblem)] = [
                (a + ",", .empty), ("," + a, .empty), (":2," + a, .empty),
                (a + ":0," + a, .weight(text: "0", path: a)),
                (a + ":-1", .weight(text: "-1", path: a)),
                (a + ":nan", .weight(text: "nan", path: a)),
                (a + ":inf", .weight(text: "inf", path: a)),
                (a + ":101", .weight(text: "101", path: a)),
                (a + ":two", .weight(text: "two", path: a)),
                ("\(a),\(directory)/f", .folder(path: directory + "/f")),
                ("\(a), \(a):2", .repeated(path: a)),
                (
                    Array(repeating: a, count: 1025).joined(separator: ","),
                    .tooMany(found: 1025, limit: 1024)
                ),
            ]
            for (text, problem) in cases {
                let error = RowError.badDataList(option: "data", problem: problem)
                #expect(throws: error, "\(text.prefix(100))") { try DataFiles(path: text) }
                #expect(error.explanation.status == .usage)
            }
            // Two files, though the letters of their names look the same.
            let twins = ["caf\u{E9}", "cafe\u{301}"]
            let both = twins.map { "\(directory)/\($0).jsonl" }.joined(separator: ",")
            let found = try DataFiles(path: both)
            #expect(found.train.count == 2)
            #expect(
                RowFields("prompt=\(twins[0]),completion=\(twins[1])") != nil
                    && RowFields("prompt=\(twins[0]),completion=\(twins[0])") == nil)
            #expect(
                throws: RowError.badDataList(option: "valid-data", problem: .weightOfHeldOut)
            ) {
                try DataFiles(path: a, validation: a + ":2")
            }
        }
    }

    @Test("the digest of one whole file is the file's; of others it depends on order and weight")
    func digests() {
        let (one, two) = (SHA256.digest(of: "1"), SHA256.digest(of: "2"))
        func digest(_ weights: [Double], _ digests: [SHA256.Digest]) -> SHA256.Digest {
            weights.map { WeightedFile(path: "p", weight: $0) }.digest(of: digests)
        }
        #expect(digest([1], [one]) == one)
        let others = [
            one, digest([2], [one]), digest([0.5], [one]), digest([1, 1], [one, two]),
            digest([1, 1], [two, one]), digest([1, 2], [one, two]), digest([2, 1], [one, two]),
            digest([1, 1, 1], [one, two, two]),
        ]
        #expect(Set(others).count == others.count)
    }

    @Test("a model card names files without their folders")
    func names() {
        #expect(DataFiles.withoutFolders("/a/b.jsonl") == "b.jsonl")
        #expect(DataFiles.withoutFolders("/a/b.jsonl:2,c/d.csv") == "b.jsonl:2,d.csv")
        #expect(
            DataFiles.withoutFolders("/x/aa/train.jsonl:0.5,bb/train.jsonl:2")
                == "aa/train.jsonl:0.5,bb/train.jsonl:2")
        #expect(DataFiles.withoutFolders("/a/t.jsonl:2,t.jsonl:3") == "a/t.jsonl:2,t.jsonl:3")
    }

    @Test(
        "a file's kind is told by its name and its first bytes",
        arguments: [
            ("a.jsonl", "[", DataFileKind.lines), ("a", "x", .lines), ("a.JSON", " \n[1", .list),
            ("a.json", "{", .lines), ("a.csv", "a", .csv), ("a.TSV", "a", .tsv),
            ("a.txt", "hello", .text), ("a.txt", "\u{FEFF}{ \"text\"", .lines),
            ("a.txt", "[\n{\"", .list), ("a.txt", "{% if", .text), ("a.txt", "[1]", .text),
            ("a.parquet", "x", .parquet), ("a.jsonl", "PAR1", .parquet), ("a.csv", "", .csv),
        ])
    func kinds(name: String, start: String, kind: DataFileKind) throws {
        let found = try Array(start.utf8).withUnsafeBytes {
            try DataFileKind(path: "/x.csv/" + name, bytes: $0)
        }
        #expect(found == kind)
    }

    @Test("a folder where rows are evaluated names its held-out files")
    func folderToEvaluate() throws {
        try inFolder(["train.jsonl", "valid.jsonl"]) { folder in
            let error = try #require(throws: RowError.self) {
                try DataFiles.evaluated(folder, option: "test-data")
            }
            #expect(
                error.explanation.remedy
                    == "give its held-out rows: --test-data \(folder)/valid.jsonl")
        }
        try inFolder(["a.md"]) { folder in
            let error = try #require(throws: RowError.self) {
                try DataFiles.evaluated(folder)
            }
            #expect(error.explanation.remedy == "give --data a file in it")
        }
    }
}
