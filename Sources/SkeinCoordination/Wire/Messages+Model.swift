extension Offer: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        proof = try reader.fixed("proof", 32)
        term = try reader.integer("term")
        start = try reader.fixed("start", 16)
        modelDigest = try reader.fixed("model digest", 32)
        dataDigest = try reader.fixed("data digest", 32)
        configurationDigest = try reader.fixed("configuration digest", 32)
        recipeDigest = try reader.fixed("recipe digest", 32)
        answerDigest = try reader.fixed("answer digest", 32)
        fingerprint = try reader.text("fingerprint", limit: Limits.fingerprintBytes)
        let size = try reader.count("configuration", limit: Limits.configurationBytes, size: 1)
        configuration = try reader.fixed("configuration", size)
        longestRow = try reader.integer("longest row")
        let count = try reader.count(
            "model files", limit: Limits.modelFiles, size: ModelFile.leastByteCount)
        modelFiles = []
        modelFiles.reserveCapacity(count)
        var names: Set<String> = []
        var total: UInt64 = 0
        for _ in 0..<count {
            let file = try ModelFile(from: &reader)
            // A receiver creates files of these names and counts their bytes in an `Int`.
            guard names.insert(file.name).inserted, !file.name.isEmpty || count == 1 else {
                throw .badFileName(reader.type, name: file.name)
            }
            total += file.byteCount
            guard total <= UInt64(Int64.max) else {
                throw .badValue(reader.type, field: "file size", found: total)
            }
            modelFiles.append(file)
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.fixed(proof, 32)
        writer.integer(term)
        writer.fixed(start, 16)
        writer.fixed(modelDigest, 32)
        writer.fixed(dataDigest, 32)
        writer.fixed(configurationDigest, 32)
        writer.fixed(recipeDigest, 32)
        writer.fixed(answerDigest, 32)
        writer.text(fingerprint, limit: Limits.fingerprintBytes)
        writer.count(configuration.count)
        writer.raw(configuration)
        writer.integer(longestRow)
        writer.count(modelFiles.count)
        for file in modelFiles { file.write(to: &writer) }
    }
}

extension Offer.ModelFile: WireCodable {
    /// With an empty name.
    static let leastByteCount = 2 + 8 + 32

    init(from reader: inout ByteReader) throws(WireError) {
        name = try reader.text("file name", limit: Limits.fileNameBytes)
        // NUL is a control character, which no text may contain.
        guard !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != ".." else {
            throw .badFileName(reader.type, name: name)
        }
        byteCount = try reader.offset("file size")
        digest = try reader.fixed("file digest", 32)
    }

    func write(to writer: inout ByteWriter) {
        writer.text(name, limit: Limits.fileNameBytes)
        writer.integer(byteCount)
        writer.fixed(digest, 32)
    }
}

extension ModelRequest: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        file = try reader.integer("file")
        offset = try reader.offset("offset")
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(file)
        writer.integer(offset)
    }
}

extension ModelChunk: WireCodable {
    /// Bytes before those of the file.
    package static let headByteCount = 4 + 8

    init(from reader: inout ByteReader) throws(WireError) {
        file = try reader.integer("file")
        offset = try reader.offset("offset")
        guard reader.left <= Limits.modelChunkBytes else {
            throw .overLimit(
                reader.type, field: "bytes", limit: Limits.modelChunkBytes, found: reader.left)
        }
        bytes = reader.rest()
    }

    func write(to writer: inout ByteWriter) {
        writer.reserve(Self.headByteCount)
        writer.integer(file)
        writer.integer(offset)
        writer.rest(bytes)
    }
}
