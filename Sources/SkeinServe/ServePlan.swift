import SkeinBasics
import SkeinInference
import SkeinTensors

extension OpenAIServer.Options {
    /// Room for a followed run's adapter and for a checkpoint that a request names beside those that may
    /// be loaded, and for four grammars that are used in all their states.
    var use: HostUse {
        let hasAdapters = !adapters.isEmpty || adapterRoot != nil || follow != nil
        var use = HostUse(
            prefixBytes: 1 << 30, grammarBytes: 512 << 20,
            adapters: hasAdapters ? max(host.maximumAdapters, adapters.count) + 2 : 0,
            mustFitAll: true)
        use.ownBytes = Limits.writingBytes
        use.answerTokens = defaultTokens
        return use
    }
}

extension HostPlan {
    func log(_ log: Log) {
        log.info(
            "memory: weights \(Figures.bytes(weightBytes)), activations and answers' JSON "
                + "\(Figures.bytes(otherBytes)), keys and values up to "
                + "\(Figures.bytes(batch.cacheBytes)) (\(batch.sequences) answers, \(batch.context) "
                + "tokens each, \(batch.cacheType.rawValue)), prefix cache up to "
                + "\(Figures.bytes(prefixBytes)), schemas up to \(Figures.bytes(grammarBytes)), "
                + "adapters up to \(Figures.bytes(adapterBytes))")
    }
}
