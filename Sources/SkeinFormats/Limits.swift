/// What a file may ask for. A file beyond a limit is refused before memory is taken for it.
///
/// Lengths and counts are also checked against the bytes left in the file; these limits are for
/// what such a check cannot catch, and keep later products far below 2^63.
enum Limits {
    /// ggml's own limit for one string: 1 GiB.
    static let stringBytes: UInt64 = 1 << 30
    /// ggml's own limit for one array: 2^30 elements.
    static let arrayElements: UInt64 = 1 << 30
    /// A key or a tensor's entry takes about 100 bytes of memory: 2^16 of them are 6.5 MB. The
    /// largest models have about 2,000 tensors.
    static let metadataKeys: UInt64 = 1 << 16
    static let tensors: UInt64 = 1 << 16
    /// ggml keeps a name in 64 bytes with its zero, and four dimensions.
    static let tensorNameBytes = 63
    static let dimensions = 4
    /// At most 1 MiB of padding before a tensor; files in the wild use 32.
    static let alignment: UInt64 = 1 << 20

    /// The safetensors format's own limit for its JSON header.
    static let safetensorsHeaderBytes: UInt64 = 100_000_000
    /// Shards of one model: the largest published models have fewer than 200.
    static let shards = 4096
    /// config.json and adapter_config.json have about 50 lines.
    static let configurationBytes = 1 << 20
    /// An index line has about 100 bytes: 2^16 tensors are 6.5 MB. tokenizer_config.json lists
    /// added tokens, below 1 MB in published models.
    static let indexBytes = 64 << 20
    static let templateBytes = 1 << 20
    /// Files of additional_chat_templates. Published models have one or two.
    static let namedTemplates = 64
    /// Rows or columns of a quantized matrix, so that their product stays below 2^63.
    static let matrixSide = 1 << 30
    /// The state of a weight of bitsandbytes has about 200 bytes.
    static let quantStateBytes = 1 << 12

    /// Layers of an adapted model.
    static let adapterLayers = 1 << 12
    /// Rows or columns of an adapted weight.
    static let adapterDimension = 1 << 20
    /// Rank of an adapter: above the width of any model it would adapt.
    static let adapterRank = 1 << 14
    /// Names or patterns in one list of adapter_config.json: every module of 140 layers.
    static let adapterPatterns = 1 << 10
}
