extension ModelConfiguration {
    /// What training on a row costs, in multiplications of one pass: every token goes through all
    /// blocks, and those with loss through the head, too. Attention, which grows with the square of
    /// a row's length, is a few percent at 512 tokens and left out.
    package func cost(tokens: Int, lossTokens: Int) -> Int {
        let head = vocabularySize * width
        let blocks = parameterCount - (tiedEmbeddings ? 1 : 2) * head
        return tokens * blocks + lossTokens * head
    }
}
