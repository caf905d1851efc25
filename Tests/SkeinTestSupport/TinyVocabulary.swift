/// A byte-level BPE vocabulary of 320 tokens: three special tokens as in SmolLM2 (0 end of text,
/// 1 start of turn, 2 end of turn), the 256 bytes, and 61 merges of common English letter pairs.
package enum TinyVocabulary {
    package static let endOfText = "<|endoftext|>"
    package static let startOfTurn = "<|im_start|>"
    package static let endOfTurn = "<|im_end|>"
    package static let specials = [endOfText, startOfTurn, endOfTurn]

    /// GPT-2's letter for each byte: printable bytes are their own, the others count up from 256.
    package static let byteLetters: [String] = {
        var letters: [String] = []
        var next: UInt32 = 256
        for byte in UInt32(0)...255 {
            let printable =
                (33...126).contains(byte) || (161...172).contains(byte)
                || (174...255).contains(byte)
            let scalar = Unicode.Scalar(printable ? byte : next)
            if !printable { next += 1 }
            letters.append(scalar.map { String(Character($0)) } ?? "")
        }
        return letters
    }()

    /// Highest priority first; `Ġ` is the letter of the space.
    package static let merges: [String] = [
        "Ġ t", "h e", "Ġt he", "i n", "Ġ a", "e r", "o n", "r e", "Ġ s", "a t", "e n", "o r",
        "Ġ w", "Ġ c", "i s", "n d", "i t", "Ġ o", "e s", "in g", "Ġ i", "Ġo f", "Ġa nd", "a n",
        "Ġ p", "Ġ b", "o u", "Ġ f", "a r", "l e", "Ġt o", "Ġi n", "Ġ m", "Ġ d", "e d", "Ġ h",
        "a l", "i c", "Ġ is", "a s", "o m", "Ġw h", "u s", "l l", "r o", "Ġ l", "s t", "Ġ n",
        "Ġ g", "e l", "i on", "Ġ e", "Ġ re", "c t", "o t", "u r", "Ġ y", "Ġy ou", "t h", "Ġf or",
        "Ġ th",
    ]

    /// Token texts by id.
    package static let tokens: [String] =
        specials + byteLetters + merges.map { $0.split(separator: " ").joined() }

    /// The ChatML template, without a default system turn.
    package static let chatTemplate =
        "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
        + "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
        + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
}
