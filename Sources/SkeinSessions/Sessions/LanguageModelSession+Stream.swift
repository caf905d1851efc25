extension LanguageModelSession {
    /// Begins a request whose reply is looked at while it is written. Its errors come to the code
    /// that iterates or collects.
    private func stream<Content>(_ ask: Ask) -> ResponseStream<Content> {
        let feed = StreamFeed()
        let request = SessionRequest()
        do {
            try take(request)
        } catch {
            feed.finish(.failure(error))
            return ResponseStream(handle: StreamHandle(feed, nil, request))
        }
        let task = Task { [self] in
            do {
                try await turnCame(for: request)
                feed.finish(.success(try await turn(ask) { feed.put($0) }))
            } catch {
                feed.finish(.failure(error))
            }
        }
        return ResponseStream(handle: StreamHandle(feed, task, request))
    }

    // MARK: Text

    /// Answers a prompt with text, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply so far, again and again. Making the stream never fails: its errors come when
    ///   it is iterated over or collected, and are those of `respond`.
    public func streamResponse(
        to prompt: Prompt, options: GenerationOptions = GenerationOptions()
    ) -> ResponseStream<String> {
        stream(Ask(prompt: prompt, form: .text, options: options))
    }

    /// Answers a prompt with text, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply so far, again and again.
    @_disfavoredOverload
    public func streamResponse(
        to prompt: String, options: GenerationOptions = GenerationOptions()
    ) -> ResponseStream<String> {
        streamResponse(to: Prompt(prompt), options: options)
    }

    /// Answers a prompt with text, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - options: how tokens are picked, and how many there may be.
    ///   - prompt: lists what is asked.
    /// - Returns: the reply so far, again and again.
    /// - Throws: what `prompt` throws.
    public func streamResponse(
        options: GenerationOptions = GenerationOptions(),
        @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> ResponseStream<String> {
        streamResponse(to: try prompt(), options: options)
    }

    // MARK: A schema made at run time

    /// Answers a prompt with a value of a schema, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - schema: the form of the reply.
    ///   - includeSchemaInPrompt: whether the model is told the schema.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply so far, again and again.
    public func streamResponse(
        to prompt: Prompt, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) -> ResponseStream<GeneratedContent> {
        stream(
            Ask(
                prompt: prompt, form: .structure(schema, name: schema.name),
                includesSchema: includeSchemaInPrompt, options: options))
    }

    /// Answers a prompt with a value of a schema, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - schema: the form of the reply.
    ///   - includeSchemaInPrompt: whether the model is told the schema.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: the reply so far, again and again.
    @_disfavoredOverload
    public func streamResponse(
        to prompt: String, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) -> ResponseStream<GeneratedContent> {
        streamResponse(
            to: Prompt(prompt), schema: schema, includeSchemaInPrompt: includeSchemaInPrompt,
            options: options)
    }

    /// Answers a prompt with a value of a schema, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - schema: the form of the reply.
    ///   - includeSchemaInPrompt: whether the model is told the schema.
    ///   - options: how tokens are picked, and how many there may be.
    ///   - prompt: lists what is asked.
    /// - Returns: the reply so far, again and again.
    /// - Throws: what `prompt` throws.
    public func streamResponse(
        schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions(),
        @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> ResponseStream<GeneratedContent> {
        streamResponse(
            to: try prompt(), schema: schema, includeSchemaInPrompt: includeSchemaInPrompt,
            options: options)
    }

    // MARK: A type

    /// Answers a prompt with a value of a type, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - type: of the value.
    ///   - includeSchemaInPrompt: whether the model is told the type's schema.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: what there is of the value so far, again and again.
    public func streamResponse<Content: Generable>(
        to prompt: Prompt, generating type: Content.Type = Content.self,
        includeSchemaInPrompt: Bool = true, options: GenerationOptions = GenerationOptions()
    ) -> ResponseStream<Content> {
        stream(
            Ask(
                prompt: prompt,
                form: .structure(Content.generationSchema, name: TypeName.of(Content.self)),
                includesSchema: includeSchemaInPrompt, options: options,
                accepts: { _ = try SessionFailure.converting($0, to: Content.self) }))
    }

    /// Answers a prompt with a value of a type, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - prompt: what is asked.
    ///   - type: of the value.
    ///   - includeSchemaInPrompt: whether the model is told the type's schema.
    ///   - options: how tokens are picked, and how many there may be.
    /// - Returns: what there is of the value so far, again and again.
    @_disfavoredOverload
    public func streamResponse<Content: Generable>(
        to prompt: String, generating type: Content.Type = Content.self,
        includeSchemaInPrompt: Bool = true, options: GenerationOptions = GenerationOptions()
    ) -> ResponseStream<Content> {
        streamResponse(
            to: Prompt(prompt), generating: type, includeSchemaInPrompt: includeSchemaInPrompt,
            options: options)
    }

    /// Answers a prompt with a value of a type, which can be looked at while it is written.
    ///
    /// - Parameters:
    ///   - type: of the value.
    ///   - includeSchemaInPrompt: whether the model is told the type's schema.
    ///   - options: how tokens are picked, and how many there may be.
    ///   - prompt: lists what is asked.
    /// - Returns: what there is of the value so far, again and again.
    /// - Throws: what `prompt` throws.
    public func streamResponse<Content: Generable>(
        generating type: Content.Type = Content.self, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions(),
        @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> ResponseStream<Content> {
        streamResponse(
            to: try prompt(), generating: type, includeSchemaInPrompt: includeSchemaInPrompt,
            options: options)
    }
}
