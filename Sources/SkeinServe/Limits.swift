/// Bounds on what a server takes from its clients, each with its arithmetic.
enum Limits {
    /// Bytes of a request's body at most, whatever the context.
    static let bodyBytes = 8 << 20

    /// Bytes of a request's body for each token of the context, and the least limit: text is some four
    /// bytes a token, escaped in JSON at most six times that. Reading a body of a mebibyte takes up to
    /// a second (600,000 distinct names).
    static let bodyBytesPerToken = 64
    static let leastBodyBytes = 1 << 20

    /// Bytes of bodies that are being received, and of those that wait to be read.
    static let bodiesBytes = 64 << 20

    /// Which part of the places, and of the bodies' bytes, one of several keys may take: the rest, 33
    /// places of 264, is for the others.
    static let ownerShare = 0.875

    /// Bytes of what the engine told of answers and slow clients were not, roughly: beyond them, the
    /// client that holds most is dropped. 64 streams of a thousand tokens with 20 log-probabilities each
    /// take 13 MB, and a client that reads holds next to nothing.
    static let heldBytes = 64 << 20

    /// Bytes of the header names that a browser asks for another site's page; openai-js sends 300.
    static let preflightBytes = 4 << 10

    /// Bytes of what a client calls its request (`x-request-id`): a UUID has 36.
    static let requestNameBytes = 128

    /// Models by which requests are counted in /metrics; those beyond count as `other`.
    static let countedModels = 256

    /// Sentences about adapters that are remembered, so as not to be said again.
    static let remarks = 256

    /// Answers to one prompt.
    static let choices = 64

    /// Prompts of one request to /v1/completions. lm-evaluation-harness sends one to some hundred.
    static let prompts = 256

    /// Answers of one request: prompts times choices.
    static let answers = 1024

    /// Bytes of JSON of a whole answer, roughly, that the thread which serves all clients writes itself:
    /// some milliseconds. More are written by a thread of their own.
    static let writtenBytes = 64 << 10
    /// The same of a prompt that one answer of a stream echoes; the answers of a request have at most
    /// `echoBytes` / `writtenEchoBytes` longer ones.
    static let writtenEchoBytes = 8 << 10

    /// Bytes of echoed prompts in all answers of a request.
    static let echoBytes = 4 << 20

    /// Texts that end an answer, and the bytes of one. Each is looked for at every token.
    static let stops = 16
    static let stopBytes = 1024

    /// Tokens that end an answer.
    static let stopTokens = 1024

    /// Entries of `logit_bias`: OpenAI allows 300 tokens, a vocabulary has some 100,000.
    static let biases = 4096

    /// Tokens that a request may ask for; its context bounds them further.
    static let tokens = 1 << 24

    /// Likeliest tokens with their log-probabilities at each place (OpenAI: 20 and 5).
    static let topLogprobs = 20

    /// Tokens with log-probabilities in all answers of a request, the likeliest ones beside them
    /// included: some 2 KB each while the answer is written.
    static let logprobEntries = 1 << 17

    /// The same for the prompt that a stream echoes: all of them come at once, and what waits for a
    /// client that streams is bounded.
    static let streamedLogprobEntries = 1 << 12

    /// The JSON of one answer with `logprobEntries` of them, before it is bytes. One is written at a time. An entry
    /// of a chat's answer takes some 300 bytes for its fields and 40 for each byte of the token, of which
    /// there are seldom more than 40.
    static let writingBytes = logprobEntries * 2 << 10

    /// Messages of a conversation.
    static let messages = 4096

    /// Bytes of an adapter's name.
    static let nameBytes = 128

    /// Files in an adapter's folder: each is looked at before one is read. A checkpoint has five.
    static let adapterFiles = 256

    /// Bytes of a header that names keywords of a schema that answers are not held to.
    static let droppedBytes = 1 << 10

    /// Lines of requests in the log: the rest of a second is counted.
    static let logLines = 20
}
