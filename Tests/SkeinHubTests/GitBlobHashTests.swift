import SkeinHub
import Testing

@Suite("git's name of a file")
struct GitBlobHashTests {
    /// Made by `git hash-object`.
    @Test(
        "equals what git says",
        arguments: [
            (0, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
            (1, "2e65efe2a145dda7ee51d1741299f848e5bf752e"),
            (47, "5e3bf7e629b4908cce461530c17a64365cb47303"),
            (48, "12d42395b020f44bb7710113b31f688d0ebeda7c"),
            (55, "d1985ddc2983785702b9a90effd5aff2f7cfdca4"),
            (56, "1f973e890f52da1f22fa7e5620a628bc4ee74cb3"),
            (57, "d28c6cde5a5ab0b138bd53a288c23e8c011c4171"),
            (63, "487e57f9763ebddbed2027c4452510c0ae0f95ff"),
            (64, "71b7a71962774fa5c721e1163f935cb61a0e09e6"),
            (119, "1325c3d76ea6a66e75dce490a0b8cb8b12233ee0"),
            (1000, "a50be72b20f0e3f078d252e8e56b11b4bec67509"),
            (100000, "94bc76618de566c4e568aaf031cce7cef592d868"),
        ])
    func git(_ count: Int, _ expected: String) {
        var hash = GitBlobHash(size: count)
        let bytes = [UInt8](repeating: 97, count: count)
        hash.update(bytes[..<(count / 3)])
        hash.update(bytes[(count / 3)...])
        #expect(hash.finish() == expected)
    }
}
