import Testing

@testable import Tokenizers
