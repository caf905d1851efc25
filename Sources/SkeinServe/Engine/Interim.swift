import SkeinModels

extension BatchDecoder {
    func admit(
        prompt: [Int32], maximumTokens: Int, adapter: GenerationProjections, tellsPrompt: Bool
    ) -> Admission {
        admit(prompt: prompt, maximumTokens: maximumTokens, adapter: adapter)
    }
}
extension BatchDecoder.Logits {
    var promptPosition: Int? { nil }
}
