import Foundation
import Testing

/// Which room may know which. The build refuses an import that is not declared; a declared arrow that
/// no file uses costs time in every build, and nothing else finds it.
@Suite("arrows")
struct ArrowTests {
    /// For each room, those that it knows, without the prefix Skein. A new arrow is a decision:
    /// docs/ARCHITECTURE.md draws them.
    private static let allowed: [String: Set<String>] = [
        "Basics": ["CHashes", "JSON"],
        "Tensors": ["Basics", "COpenBLAS", "CKernels"],
        "JSON": [],
        "Formats": ["Basics", "JSON"],
        "Text": ["Basics", "Formats", "JSON"],
        "Rows": ["Basics", "CZstd", "Text", "JSON"],
        "Grammar": ["Basics", "JSON"],
        "Models": ["Basics", "Tensors", "Formats", "JSON"],
        "Training": ["Basics", "Tensors", "Formats", "Models", "Text", "Rows", "JSON", "CZstd"],
        "Network": ["Basics", "CSystem"],
        "Coordination": ["Basics", "JSON"],
        "Launch": ["Basics", "JSON", "CSystem"],
        "Hub": ["Basics", "JSON", "Launch"],
        "Watch": [
            "Basics", "Training", "Launch", "Hub", "Cluster", "Coordination", "Network",
            "Formats", "Tensors", "Rows", "JSON",
        ],
        "Cluster": [
            "Basics", "Tensors", "Formats", "Models", "Training", "Coordination", "Network",
            "Rows", "JSON",
        ],
        // Nothing that ships knows it.
        "Simulation": [
            "Basics", "Tensors", "Formats", "Models", "Training", "Coordination", "Network",
            "Rows", "JSON", "Cluster", "Launch", "TestSupport",
        ],
        // Neither these three know how training goes, nor does it know them.
        "Inference": ["Basics", "Tensors", "Models", "Text", "Grammar", "JSON", "Formats"],
        "Sessions": [
            "Basics", "Formats", "Models", "Text", "Grammar", "Inference", "Macros", "JSON",
        ],
        "Serve": [
            "Basics", "Formats", "Models", "Text", "Grammar", "Network", "Inference",
            "JSON",
        ],
        "Skein": [
            "Basics", "Tensors", "Formats", "Models", "Text", "Training", "Coordination",
            "Network", "Cluster", "Sessions", "JSON", "Rows", "Inference",
        ],
        "FoundationModels": ["Skein"],
        "Lab": [
            "Basics", "Tensors", "Formats", "Models", "Text", "Training", "Coordination",
            "Network", "Cluster", "Launch", "Grammar", "JSON", "Watch", "Rows", "Inference",
            "Commands", "Simulation",
        ],
        "Commands": [
            "Skein", "Basics", "Tensors", "Formats", "Models", "Text", "Training",
            "Coordination", "Network", "Cluster", "Launch", "Hub", "Watch", "Grammar",
            "Serve", "JSON", "Rows", "Inference",
        ],
        "MacroKit": ["JSON"], "Macros": ["MacroKit"], "Tool": ["Commands"], "LabTool": ["Lab"],
        "Fetch": ["Basics", "Hub", "JSON"],
    ]

    /// Programs are run, not imported.
    private static let programs: Set = ["Macros", "Tool", "LabTool", "Fetch"]

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test("the arrows between rooms are those of the list, and every one is used")
    func rooms() throws {
        let declared = try Self.declared()
        let rooms = declared.filter { !$0.key.hasSuffix("Tests") && !$0.key.hasSuffix("Support") }
        #expect(Set(rooms.keys) == Set(Self.allowed.keys))
        for (room, known) in rooms.sorted(by: { $0.key < $1.key }) {
            #expect(known == Self.allowed[room], "Package.swift and the list differ on \(room)")
        }
    }

    @Test("every target imports each one that it declares, and no other")
    func imports() throws {
        let declared = try Self.declared()
        #expect(declared.count > 40)
        for (target, known) in declared.sorted(by: { $0.key < $1.key }) {
            let files = try Self.files(of: target)
            #expect(!files.isEmpty, "\(target)")
            // Whatever tests a room has the support of tests at hand, and programs are not imported.
            let needed = known.subtracting(Self.programs).subtracting(["TestSupport"])
            let found = try files.reduce(into: Set<String>()) { $0.formUnion(try Self.imports($1)) }
            #expect(needed.subtracting(found) == [], "\(target) has arrows that it does not use")
            #expect(found.subtracting(known) == [], "\(target) imports what it does not declare")
        }
    }

    /// `Grammar` for SkeinGrammar, `CZstd` for CSkeinZstd; nil for a module of another project.
    private static func short(_ module: Substring) -> String? {
        if ["Skein", "FoundationModels", "EndToEndTests", "HouseTests"].contains(module) {
            return String(module)
        }
        if module.hasPrefix("CSkein") { return "C" + module.dropFirst(6) }
        return module.hasPrefix("Skein") ? String(module.dropFirst(5)) : nil
    }

    /// The arrows that Package.swift declares: of `room`, `tests(of:)`, `testTarget` and `.target`.
    private static func declared() throws -> [String: Set<String>] {
        let text = try String(
            contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        var arrows: [String: Set<String>] = [:]
        let helper = /(room|tests|testTarget)\(\s*(?:of: )?"(\w*)",\s*\[([^\]]*)\]/
        for match in text.matches(of: helper) {
            var names = match.3.matches(of: /"(\w+)"/).map(\.1)
            let (kind, name) = (match.1, match.2)
            var target = kind == "testTarget" ? name : "Skein" + name
            if kind == "tests" {
                names += [target, "SkeinTestSupport"]
                target += "Tests"
            }
            arrows[try #require(short(target))] = Set(names.compactMap(short))
        }
        let plain =
            /\.(?:target|executableTarget|macro)\(\s*name: "(\w+)",\s*dependencies: \[([^\]]*)\]/
        for match in text.matches(of: plain) {
            arrows[try #require(short(match.1))] = Set(
                match.2.matches(of: /"(\w+)"/).compactMap { short($0.1) })
        }
        return arrows
    }

    private static func files(of target: String) throws -> [URL] {
        let isTest = target.hasSuffix("Tests") || target.hasSuffix("TestSupport")
        let name =
            ["Skein", "FoundationModels", "EndToEndTests", "HouseTests"].contains(target)
            ? target : "Skein" + target
        let folder = root.appendingPathComponent(isTest ? "Tests" : "Sources")
            .appendingPathComponent(name)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }.map { folder.appendingPathComponent($0) }
    }

    private static func imports(_ file: URL) throws -> Set<String> {
        let text = try String(contentsOf: file, encoding: .utf8)
        let line = /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+ )?import (?:\w+ )?(\w+)/
        let modules = text.split(separator: "\n").compactMap { $0.firstMatch(of: line)?.1 }
        // A room may name itself in an example.
        let own = file.path
        return Set(modules.compactMap(short)).filter { !own.contains("/Skein\($0)/") }
    }
}
