/// Bounds on what a tokenizer definition may hold, each with the arithmetic behind it.
enum TokenizerLimits {
    /// Ids have 21 bits in a slot of the merge table and the all-ones id marks an empty slot:
    /// 2^21 - 1 tokens. The largest published vocabularies have 262,144.
    static let tokens = (1 << 21) - 1

    /// Ranks have 22 bits in a slot of the merge table (21 + 21 + 22 = 64) and the all-ones rank
    /// says "no merge": 2^22 - 1 merges.
    static let merges = (1 << 22) - 1

    /// Bytes of all pieces together: their offsets are 32-bit. 2^21 tokens of 128 bytes on average.
    static let pieceBytes = 1 << 28

    /// Bytes of one added token. It bounds the steps of the search for one at each byte of a text,
    /// and so the time of a hostile file. Real ones have up to 50 bytes.
    static let addedTokenBytes = 512

    /// Bytes of one piece with a score: it is looked up in every two parts, which takes the square of
    /// its length. SentencePiece's own limit is 16 characters if not told otherwise.
    static let scoredPieceBytes = 256

    /// Bytes of all pieces of a Unigram model, whose trie takes 33 times as much while it is made.
    /// Published ones have 3 MB.
    static let scoredBytes = 1 << 25

    /// Bytes that a map of characters may put for one key. SentencePiece's own maps put up to 33
    /// (for U+FDFA).
    static let replacementBytes = 256

    /// Bytes of a key of a map of characters. SentencePiece's own maps have keys of up to a few
    /// characters.
    static let characterKeyBytes = 256

    /// Normalizers of one file. Published ones have up to 5.
    static let normalizers = 64

    /// How many times longer its normalizers may make a text, at worst: a map of characters 33
    /// times, NFKC 11 times, U+2581 for spaces 3 times.
    static let normalizerGrowth = 4096

    /// Bytes of one token of a tekken.json: it is looked up in every two parts, as above. Real ones
    /// have up to 130.
    static let rankedTokenBytes = 256

    /// Bytes of a tokenizer.json: the largest published ones have 35 MB.
    static let fileBytes = 1 << 28

    /// Stages of a pre-tokenizer: each is a level of recursion. Real ones have up to six.
    static let preTokenSteps = 32

    /// Bytes of one pre-token: its positions are 32-bit, its linked list takes 32 bytes a byte. A
    /// longer one is cut here, which no text of less than a gibibyte can notice.
    static let preTokenBytes = 1 << 30
}

/// What a regular expression of a pre-tokenizer may use. It comes with a model file and may be
/// hostile.
enum ExpressionLimits {
    /// Characters of an expression. The longest published one has about 700.
    static let scalars = 8192

    /// Nested groups and classes. Reading, compiling and freeing them recurse this deep.
    static let nesting = 32

    /// Quantifiers behind each other.
    static let quantifiers = 8

    /// The highest number in an interval; real ones have up to 512. Anything but a set is written
    /// out as often, within `instructions`.
    static let count = 1000

    /// Characters that a look-behind looks back at.
    static let lookBehind = 1000

    /// Instructions of 16 bytes. Real expressions take under 200.
    static let instructions = 1 << 14

    /// Nodes of the tree, counted as often as they are written out.
    static let nodes = 1 << 16

    /// Nodes of an expression that is asked which two characters it can begin with, once for each
    /// class of ASCII characters. Steps of a chain have up to ten.
    static let pairedNodes = 64

    /// Parts of a sequence that are asked whether a run can give anything back to them.
    static let lookAhead = 16

    /// Nodes looked at for that, each some microseconds for a large set. Real expressions: under 1000.
    static let firstVisits = 1 << 15

    /// Sets of characters, and classes that no set tells apart: one bit and one byte each.
    static let sets = 256
    static let classes = 256

    /// Steps for each byte of a text and each expression, an instruction each, before the matcher
    /// begins to remember what has failed where, and steps for a text besides.
    static let stepsForByte = 64
    static let stepsForText = 1 << 16

    /// Likewise, once it remembers: about two seconds for a text, and as many steps again for each half
    /// megabyte. 64 for each byte are enough for all texts of SlowExpressionTests. What takes more is
    /// an error.
    static let laterStepsForByte = 1 << 10
    static let laterStepsForText = 1 << 29

    /// Bits to remember what has failed where, two for each choice and place: 128 MiB, of which those
    /// that are written take memory. 40 choices have a window of 13 MB of text.
    static let rememberedBits = 1 << 30

    /// Choices of 32 bytes that a match may have open: 128 MiB. A run of a million characters that
    /// are taken one by one has two or three for each.
    static let frames = 1 << 22

    /// The length of the runs that an expression is tried on when it is compiled, and how many steps
    /// it may take for one before it remembers what has failed and after: eight times the square.
    static let probe = 256
    static let probeSteps = 8 * probe * probe

    /// Likewise, for all runs that it is tried on: a tenth of a second. Real ones take up to 200,000.
    static let allProbeSteps = 1 << 24

    /// The expressions of an adapter's configuration together: PEFT's users write one or two for a
    /// model.
    static let moduleExpressions = 64
    /// Steps of all of them with the names of all modules: about a second.
    static let moduleSteps = 1 << 26
}

/// What a chat template may use. It comes with a model file and may be hostile: each of these
/// limits ends it with a `TemplateError.limit` before it can exhaust memory, time or the stack.
package enum TemplateLimits {
    /// Bytes that the renderings of the beginnings of a conversation may write together, parts that they
    /// have in common counted once, before they are done one by one.
    static let sharedBytes = 64 << 20
    /// Their steps together, likewise.
    static let sharedSteps = 4 * steps
    /// Bytes of a template's source. The longest one known to us has 20 KB.
    static let sourceBytes = 1 << 20

    /// Nested blocks and sub-expressions. Real templates stay below 20. Lexer, parser
    /// and interpreter need under 4 KiB of stack for one level: 64 * 4 KiB = 256 KiB, half of the
    /// smallest thread stack (512 KiB, a secondary thread on macOS).
    static let nesting = 64

    /// Inline ifs after each other, `a if b if c`: each is one level of the expression.
    static let inlineIfs = 8

    /// Nested statements and expressions around the call of a macro or a recursive loop. What is
    /// inside of the call is bounded by `nesting` again: 96 levels of 2 KiB, and 256 KiB.
    static let callDepth = 96

    /// Units of work of one rendering. An expression node costs 1, a copied or compared text 1 for
    /// every `bytesPerStep` bytes, a list item 2. A thousand messages in Qwen 3's template cost
    /// about 100,000. 4 million take about a second.
    static let steps = 4_000_000

    /// Bytes of text that cost one step: 4 million * 64 = 256 MB of text at most in one rendering.
    static let bytesPerStep = 64

    /// Bytes of the output, and of any text on the way to it: 64 MiB.
    static let textBytes = 1 << 26

    /// Items of a list or mapping, with those of all its inner lists. One text item takes under 200
    /// bytes: 262,144 * 200 = 52 MB.
    static let items = 1 << 18

    /// Nested lists: comparing, writing and freeing them recurse this deep.
    package static let valueDepth = 32

    /// Code points of an unknown name or of a raised message that an error shows.
    static let quotedCharacters = 400
}
