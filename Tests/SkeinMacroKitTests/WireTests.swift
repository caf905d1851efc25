import Foundation
import SkeinJSON
import Testing

@testable import SkeinMacroKit

@Suite struct WireTests {
    static let declaration = "@Generable struct A { var a = 3 }"

    @Test("the plugin tells its version")
    func capability() {
        let answer = PluginAnswer.to(Array(#"{"getCapability":{"capability":{}}}"#.utf8))
        #expect(
            String(decoding: answer, as: UTF8.self)
                == #"{"getCapabilityResult":{"capability":{"protocolVersion":7}}}"#)
    }

    @Test("a refusal stands at the user's place, once")
    func refusal() throws {
        var question = PluginQuestion(role: "member", declaration: Self.declaration)
        question.offset = 1000
        let told = try PluginReply(question.answer)
        #expect(told.source.isEmpty)
        #expect(told.refusals.map(\.offset) == [1026])
        #expect(told.refusals.map(\.file) == ["/x/Cat.swift"])
        question.role = "extension"
        question.conformance = "Generable"
        let quiet = try PluginReply(question.answer)
        #expect(quiet.source.isEmpty)
        #expect(quiet.refusals.isEmpty)
    }

    @Test("a guide adds nothing, wherever it stands", arguments: ["peer", "member", "extension"])
    func guide(role: String) throws {
        let question = PluginQuestion(
            macro: "GuideMacro", role: role, attribute: "@Guide(description: \"d\")",
            declaration: "var a: Int { 3 }")
        let reply = try PluginReply(question.answer)
        #expect(reply.source.isEmpty)
        #expect(reply.refusals.isEmpty)
    }

    @Test("other roles, macros and requests are answered")
    func others() throws {
        let peer = PluginQuestion(role: "peer", declaration: "struct A { var a: Int }")
        #expect(try PluginReply(peer.answer).source.isEmpty)
        let unknown = PluginQuestion(macro: "Other", role: "member", declaration: "struct A {}")
        let told = try PluginReply(unknown.answer).refusals
        #expect(told.map(\.message) == ["SkeinMacros has no macro 'Other'"])
        for message in [
            #"{"expandFreestandingMacro":{}}"#, "{}", "[]", "3", "", "{", #"{"a":1}"#,
            #"{"expandAttachedMacro":{}}"#, #"{"expandAttachedMacro":[{"macro":3}]}"#,
        ] {
            let reply = try PluginReply(PluginAnswer.to(Array(message.utf8)))
            #expect(reply.source.isEmpty)
            #expect(reply.refusals.count == 1)
        }
        let library = PluginAnswer.to(Array(#"{"loadPluginLibrary":{"libraryPath":"x"}}"#.utf8))
        let loaded = try JSONReader.read(library, JSONRules(depth: 4))["loadPluginLibraryResult"]
        #expect(loaded?["loaded"] == .bool(false))
    }

    @Test("a message is read if it is no deeper than 64 levels")
    func depth() throws {
        for (depth, isRead) in [(MacroLimits.jsonDepth, true), (MacroLimits.jsonDepth + 1, false)] {
            let open = String(repeating: "[", count: depth - 1)
            let message = "{\"a\":" + open + String(repeating: "]", count: depth - 1) + "}"
            let told = try PluginReply(PluginAnswer.to(Array(message.utf8))).refusals
            let what = isRead ? Refusal.Reason.unknownRequest("a") : .unreadMessage
            #expect(told.map(\.message) == [Refusal(what, at: 0).explained])
        }
    }

    @Test("lines end in any way")
    func lineEnds() throws {
        for end in ["\n", "\r\n", "\r"] {
            let lines = ["struct A {", "var a: Int // b", "let c = 3", "var d: Bool = true", "}"]
            let read = try DeclarationReader.read(lines.joined(separator: end))
            #expect(read.properties.map(\.name.plain) == ["a", "c", "d"], "\(end.utf8.map { $0 })")
        }
    }

    // MARK: Pipes

    /// What the loop of the program answers to bytes on its input.
    private func answers(to input: [UInt8]) throws -> [[UInt8]] {
        let (question, answer) = (Pipe(), Pipe())
        let wire = PluginWire(
            input: question.fileHandleForReading.fileDescriptor,
            output: answer.fileHandleForWriting.fileDescriptor)
        try question.fileHandleForWriting.write(contentsOf: input)
        try question.fileHandleForWriting.close()
        while let message = wire.receive(), let answer = PluginAnswer.reply(to: message) {
            #expect(wire.send(answer))
        }
        try answer.fileHandleForWriting.close()
        let back = PluginWire(input: answer.fileHandleForReading.fileDescriptor, output: -1)
        var answers: [[UInt8]] = []
        while case .whole(let message)? = back.receive() { answers.append(message) }
        return answers
    }

    private func frame(_ message: String) -> [UInt8] {
        withUnsafeBytes(of: UInt64(message.utf8.count).littleEndian) { Array($0) } + message.utf8
    }

    @Test("a message that is too long is passed over and answered with an error")
    func tooLong() throws {
        let path = FileManager.default.temporaryDirectory.path + "/skein-wire-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let length = UInt64(MacroLimits.messageBytes + 1)
        let header = withUnsafeBytes(of: length.littleEndian) { Data($0) }
        #expect(FileManager.default.createFile(atPath: path, contents: header))
        // A file with a hole takes the place of 64 MiB.
        let writer = try #require(FileHandle(forWritingAtPath: path))
        try writer.seek(toOffset: 8 + length)
        try writer.write(contentsOf: Data(frame("{}")))
        try writer.close()
        let reader = try #require(FileHandle(forReadingAtPath: path))
        let wire = PluginWire(input: reader.fileDescriptor, output: -1)
        let long = try #require(wire.receive())
        #expect(long == .tooLong)
        let told = try PluginReply(#require(PluginAnswer.reply(to: long))).refusals
        #expect(told.count == 1)
        #expect(told.first?.message.contains("67108864 bytes") == true)
        #expect(wire.receive() == .whole(Array("{}".utf8)))
        #expect(wire.receive() == nil)
        try reader.close()
    }

    @Test("a refusal of an argument stands at the argument")
    func attributePlace() throws {
        // The compiler hands over the space before an attribute as well, and tells where it begins.
        let attribute = "\n@Generable(representNilExplicitlyInGeneratedContent: yes)"
        var question = PluginQuestion(
            role: "member", attribute: attribute,
            declaration: "@MainActor\(attribute)\nstruct A { var a: Int }")
        question.offset = 100
        question.attributeOffset = 110
        let place = 110 + attribute.utf8.count - "yes)".utf8.count
        #expect(try PluginReply(question.answer).refusals.map(\.offset) == [place])
    }

    @Test("messages are framed, and an empty one or the end of the input ends the loop")
    func frames() throws {
        let ask = frame(#"{"getCapability":{}}"#)
        #expect(try answers(to: ask + ask).count == 2)
        #expect(try answers(to: ask + frame("") + ask).count == 1)
        #expect(try answers(to: []).isEmpty)
        #expect(try answers(to: ask + ask.dropLast()).count == 1)
        #expect(try answers(to: [1, 2, 3]).isEmpty)
        #expect(try answers(to: ask + [UInt8](repeating: 255, count: 64)).count == 1)
        #expect(!PluginWire(input: -1, output: -1).send([1]))
    }
}
