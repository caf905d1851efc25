// Texts are disfavoured, so that `respond(to: "...")` is not ambiguous for types that are both.

extension LanguageModelSession {
    // MARK: Text

    /// Answers a prompt with text.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply; the text is its `content`.
    /// - Throws: `GenerationError`, `ToolCallError`, `OptionsError`, `SystemLanguageModel.Adapter.AssetError`;
    ///   `CancellationError` if the task is cancelled. While another request is under way,
    ///   `GenerationError.concurrentRequests`, unless that one was cancelled: its end is waited for, ten
    ///   seconds at most.
    @discardableResult
    nonisolated(nonsending)
        public func respond(
            to prompt: Prompt, options: GenerationOptions = GenerationOptions()
        ) async throws -> Response<String>
    {
        let turn = try await answer(Ask(prompt: prompt, form: .text, options: options))
        return Response(turn, Self.text(of: turn.content))
    }

    /// Answers a prompt with text.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply.
    /// - Throws: as `respond(to:options:)`.
    @_disfavoredOverload
    @discardableResult
    nonisolated(nonsending)
        public func respond(
            to prompt: String, options: GenerationOptions = GenerationOptions()
        ) async throws -> Response<String>
    {
        try await respond(to: Prompt(prompt), options: options)
    }

    /// Answers a prompt with text.
    ///
    /// - Parameters:
    ///   - options: how tokens are picked, and how many there may be.
    ///   - prompt: lists what is asked.
    /// - Returns: the reply.
    /// - Throws: as `respond(to:options:)`; what `prompt` throws.
    @discardableResult
    nonisolated(nonsending)
        public func respond(
            options: GenerationOptions = GenerationOptions(),
            @PromptBuilder prompt: () throws -> Prompt
        ) async throws -> Response<String>
    {
        try await respond(to: try prompt(), options: options)
    }

    // MARK: A schema made at run time

    /// Answers a prompt with a value of a schema.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - schema: the form of the reply, which is held to it in any case.
    ///   - includeSchemaInPrompt: whether the model is told the schema, which takes
    ///     `SystemLanguageModel.tokenCount(for:)` tokens.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply.
    /// - Throws: as `respond(to:options:)`; `GenerationSchema.SchemaError`.
    @discardableResult
    nonisolated(nonsending)
        public func respond(
            to prompt: Prompt, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
            options: GenerationOptions = GenerationOptions()
        ) async throws -> Response<GeneratedContent>
    {
        let turn = try await answer(
            Ask(
                prompt: prompt, form: .structure(schema, name: schema.name),
                includesSchema: includeSchemaInPrompt, options: options))
        return Response(turn, turn.content)
    }

    /// Answers a prompt with a value of a schema.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - schema: the form of the reply.
    ///   - includeSchemaInPrompt: whether the model is told the schema.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply.
    /// - Throws: as `respond(to:schema:)`.
    @_disfavoredOverload
    @discardableResult
    nonisolated(nonsending)
        public func respond(
            to prompt: String, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
            options: GenerationOptions = GenerationOptions()
        ) async throws -> Response<GeneratedContent>
    {
        try await respond(
            to: Prompt(prompt), schema: schema, includeSchemaInPrompt: includeSchemaInPrompt,
            options: options)
    }

    /// Answers a prompt with a value of a schema.
    ///
    /// - Parameters:
    ///   - schema: the form of the reply.
    ///   - includeSchemaInPrompt: whether the model is told the schema.
    ///   - options: how tokens are picked, and how many there may be.
    ///   - prompt: lists what is asked.
    /// - Returns: the reply.
    /// - Throws: as `respond(to:schema:)`; what `prompt` throws.
    @discardableResult
    nonisolated(nonsending)
        public func respond(
            schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
            options: GenerationOptions = GenerationOptions(),
            @PromptBuilder prompt: () throws -> Prompt
        ) async throws -> Response<GeneratedContent>
    {
        try await respond(
            to: try prompt(), schema: schema, includeSchemaInPrompt: includeSchemaInPrompt,
            options: options)
    }

    // MARK: A type

    /// Answers a prompt with a value of a type.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - type: of the value.
    ///   - includeSchemaInPrompt: whether the model is told the type's schema.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply; the value is its `content`.
    /// - Throws: as `respond(to:schema:)`; `GenerationError.decodingFailure` if the type's own
    ///   initialiser refuses what the schema allows.
    @discardableResult
    nonisolated(nonsending)
        public func respond<Content: Generable>(
            to prompt: Prompt, generating type: Content.Type = Content.self,
            includeSchemaInPrompt: Bool = true, options: GenerationOptions = GenerationOptions()
        ) async throws -> Response<Content>
    {
        let turn = try await answer(
            Ask(
                prompt: prompt,
                form: .structure(Content.generationSchema, name: TypeName.of(Content.self)),
                includesSchema: includeSchemaInPrompt, options: options,
                accepts: { _ = try SessionFailure.converting($0, to: Content.self) }))
        return Response(turn, try SessionFailure.converting(turn.content))
    }

    /// Answers a prompt with a value of a type.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - type: of the value.
    ///   - includeSchemaInPrompt: whether the model is told the type's schema.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply.
    /// - Throws: as `respond(to:generating:)`.
    @_disfavoredOverload
    @discardableResult
    nonisolated(nonsending)
        public func respond<Content: Generable>(
            to prompt: String, generating type: Content.Type = Content.self,
            includeSchemaInPrompt: Bool = true, options: GenerationOptions = GenerationOptions()
        ) async throws -> Response<Content>
    {
        try await respond(
            to: Prompt(prompt), generating: type, includeSchemaInPrompt: includeSchemaInPrompt,
            options: options)
    }

    /// Answers a prompt with a value of a type.
    ///
    /// - Parameters:
    ///   - type: of the value.
    ///   - includeSchemaInPrompt: whether the model is told the type's schema.
    ///   - options: how tokens are picked, and how many there may be.
    ///   - prompt: lists what is asked.
    /// - Returns: the reply.
    /// - Throws: as `respond(to:generating:)`; what `prompt` throws.
    @discardableResult
    nonisolated(nonsending)
        public func respond<Content: Generable>(
            generating type: Content.Type = Content.self, includeSchemaInPrompt: Bool = true,
            options: GenerationOptions = GenerationOptions(),
            @PromptBuilder prompt: () throws -> Prompt
        ) async throws -> Response<Content>
    {
        try await respond(
            to: try prompt(), generating: type, includeSchemaInPrompt: includeSchemaInPrompt,
            options: options)
    }

    static func text(of content: GeneratedContent) -> String {
        if case .string(let text) = content.kind { text } else { content.jsonString }
    }
}
