import Foundation
import SkeinSessions
import SkeinTestSupport
import Testing

@Suite("Deny lists")
struct DenyListTests {
    static let table: [(term: String, found: [String], passed: [String])] = [
        (
            "grass",
            [
                "grass", "Grass!", "the GRASS is green", "(grass)", "grass_hopper", "x.grass",
                "grass\n", "„grass“", "grass's", "gra\u{AD}ss", "gra\u{200D}ss", "g\u{200B}rass",
                "gr\u{2060}ass", "\u{202E}grass", "gras\u{FE0F}s", "ｇｒａｓｓ", "ＧＲＡＳＳ", "𝐠𝐫𝐚𝐬𝐬",
                "ⓖⓡⓐⓢⓢ", "g\u{336}r\u{336}a\u{336}s\u{336}s\u{336}", "graſs", "graß", "🌱grass🌱",
                "\u{301}grass", "\u{901}grass", "草grass草",
            ],
            [
                "", "grasshopper", "grasses", "agrass", "gras", "gra ss", "grass2", "grassé",
                "gràss", "grаss",  // a of the Cyrillic script
            ]
        ),
        (
            "Straße", ["strasse", "STRASSE", "straße", "STRAẞE", "ｓｔｒａｓｓｅ", "Stra\u{AD}ße"],
            ["strase", "strassen"]
        ),
        (
            "İzmir", ["izmir", "IZMIR", "İzmir", "i\u{307}zmir", "ızmır", "IZMİR"],
            ["zmir", "izmirli"]
        ),
        ("ΟΔΟΣ", ["οδος", "οδοσ", "Οδος", "ΟΔΟΣ"], ["οδοςα"]),
        (
            "café", ["café", "cafe\u{301}", "CAFÉ", "ＣＡＦＥ\u{301}", "CAFE\u{301}s".dropped],
            ["cafe", "cafés", "caf"]
        ),
        ("ﬁne", ["fine", "FINE", "ﬁne", "ﬁｎｅ"], ["ﬁner"]),
        (
            "hand grenade",
            [
                "hand grenade", "Hand-Grenade", "hand  ,\n grenade", "a hand_grenade!",
                "hand hand grenade", "hand\u{A0}grenade", "hand\u{3000}grenade",
            ],
            ["handgrenade", "hand a grenade", "grenade hand", "hand", "hand 💥 grenade"]
        ),
        ("don't", ["don't", "DON’T", "don t"], ["dont", "don"]),
        ("爆弾", ["これは爆弾です", "爆弾", "爆 弾", "爆・弾"], ["爆", "弾爆", "爆x弾"]),
        ("ガス", ["ガス", "ｶﾞｽ", "カ\u{3099}ス", "毒ガスだ"], ["カス", "がす"]),
        ("パン", ["ﾊﾟﾝ", "ハ\u{309A}ン"], ["バン", "ハン"]),
        ("ระเบิด", ["มีระเบิดที่นี่"], ["ระเบด"]),
        ("폭탄", ["폭탄", "\u{1111}\u{1169}\u{11A8}\u{1110}\u{1161}\u{11AB}"], ["폭탄이", "폭"]),
        ("бомба", ["Бомба", "БОМБА"], ["бомбар"]),
        ("क्षमा", ["क्षमा है"], ["कषमा", "क्ष"]),
        ("🔫", ["🔫", "x🔫y", "a 🔫\u{FE0F}"], ["💥"]),
        ("👍", ["👍🏽"], ["👎"]),
        ("42", ["42", "４２", "(42)", "3.42"], ["421", "4 2", "a42"]),
        ("C++ bomb", ["c bomb", "C++ Bomb"], ["c++bombs"]),
    ]

    @Test("Whole words in any case, width and spelling", arguments: table.indices)
    func words(index: Int) throws {
        let row = Self.table[index]
        let list = try DenyList([row.term])
        for text in row.found {
            #expect(list.term(in: text) == row.term, "\(row.term) in \(text.debugDescription)")
        }
        for text in row.passed {
            #expect(list.term(in: text) == nil, "\(row.term) in \(text.debugDescription)")
        }
    }

    @Test("The term that ends first is told, and phrases may overlap")
    func overlaps() throws {
        let list = try DenyList(["a b c d", "b c", "c d", "x"])
        #expect(list.term(in: "a b c d") == "b c")
        #expect(list.term(in: "a b d c d") == "c d")
        #expect(list.term(in: "a a b a b") == nil)
        #expect(list.term(in: "c x") == "x")
        #expect(try DenyList(["A", "a"]).term(in: "a") == "A")
        #expect(try DenyList([]).term(in: "anything") == nil)
    }

    @Test("Terms without a word, terms that are too long, and too many terms")
    func limits() throws {
        for term in ["", " ", "!?", "\u{200D}", "\u{301}", "_"] {
            #expect(throws: DenyListError.noWord(term: term)) { try DenyList([term]) }
        }
        let long = String(repeating: "x", count: 257)
        #expect(throws: DenyListError.longTerm(term: long, characters: 257, limit: 256)) {
            try DenyList(["fine", long])
        }
        let many = (0...(1 << 17)).lazy.map { "word\($0)" }
        #expect(throws: DenyListError.tooMany(limit: 1 << 17)) { try DenyList(many) }
    }

    @Test("Words without an end take no memory and match nothing")
    func endless() throws {
        let list = try DenyList(["x", "y"])
        #expect(list.term(in: String(repeating: "x", count: 100_000)) == nil)
        #expect(list.term(in: String(repeating: "x", count: 100_000) + " y") == "y")
        let strikes = String(repeating: "\u{336}", count: 10_000)
        #expect(list.term(in: "x" + strikes) == "x")
        #expect(list.term(in: "x" + strikes + "z") == nil)
        let long = String(repeating: "z", count: 256)
        let some = String(repeating: "\u{336}", count: 40)
        let struck = long.map { "\($0)" }.joined(separator: some)
        #expect(try DenyList([long]).term(in: struck) == long)
    }

    @Test("Terms are replaced at run time, and a text that has begun keeps its own")
    func replacing() async throws {
        let list = try DenyList(["old"])
        var begun = list.growing(on: .output)
        try list.replace(with: ["new"])
        #expect(list.term(in: "old") == nil)
        #expect(list.term(in: "new") == "new")
        #expect(try await begun.add("new old ") == .violation(reason: #"the deny list has "old""#))
        #expect(throws: DenyListError.noWord(term: "")) { try list.replace(with: [""]) }
        #expect(list.term(in: "new") == "new")
    }

    @Test("Lists are replaced and used by many at once")
    func concurrency() async throws {
        let list = try DenyList(["even"])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        try? list.replace(with: [number % 2 == 0 ? "even" : "odd"])
                        let term = list.term(in: "odd and even")
                        #expect(term == "odd" || term == "even")
                    }
                }
            }
        }
    }

    @Test("A list looks at the stages that it is made for")
    func stages() async throws {
        let list = try DenyList(["bad"], on: [.output])
        #expect(list.check("bad", on: .input) == .pass)
        #expect(list.check("bad", on: .output) == .violation(reason: #"the deny list has "bad""#))
        var input = list.growing(on: .input)
        #expect(try await input.add("bad ") == .pass)
        #expect(try await input.end() == .pass)
    }

    @Test("A word counts once it has ended")
    func growingWords() async throws {
        let list = try DenyList(["grass", "hand grenade"])
        var check = list.growing(on: .output)
        #expect(try await check.add("the gra") == .pass)
        #expect(try await check.add("ss") == .pass)
        #expect(try await check.add("hopper, ha") == .pass)
        #expect(try await check.add("nd") == .pass)
        #expect(try await check.add("\ngrenade") == .pass)
        #expect(try await check.end() == .violation(reason: #"the deny list has "hand grenade""#))
        // Once found, it stays found.
        #expect(
            try await check.add("x") == .violation(reason: #"the deny list has "hand grenade""#))
    }

    @Test("Wherever a text is cut into pieces, the finding is the same")
    func pieces() async throws {
        let words = [
            "grass", "ｇｒａｓｓ", "hand", "grenade", "İzmir", "cafe\u{301}", "爆", "弾", "🔫", " ", "-",
            "\u{200D}", "\u{301}", "ß", "ss", "ｶ", "ﾞ", "ｽ", "x", "\n", "\u{AD}",
        ]
        let list = try DenyList(["grass", "hand grenade", "izmir", "café", "爆弾", "ガス", "xss"])
        for number in 0..<Damage.count(300) {
            var random = Damage(number: number)
            let text = (0..<(1 + random.below(12))).map { _ in words[random.below(words.count)] }
                .joined()
            var scalars = Array(text.unicodeScalars)[...]
            var check = list.growing(on: .output)
            var found = GuardrailVerdict.pass
            while !scalars.isEmpty {
                let piece = scalars.prefix(1 + random.below(4))
                scalars = scalars.dropFirst(piece.count)
                found = try await check.add(String(String.UnicodeScalarView(piece)))
            }
            found = try await check.end()
            let note: Comment =
                "SKEIN_TEST_SEED=\(Damage.seed), number \(number): \(text.debugDescription)"
            #expect(found == list.check(text, on: .output), note)
        }
    }
}

extension String {
    /// Without its last character.
    fileprivate var dropped: String { String(dropLast()) }
}
