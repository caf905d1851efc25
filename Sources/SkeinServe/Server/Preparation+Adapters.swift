import SkeinJSON
import SkeinNetwork

/// Adapters that clients load and unload.
extension Preparation {
    func loadAdapter(_ body: [UInt8]) throws(APIError) -> HTTPAnswerText {
        let fields = try FieldReader(body: body)
        guard let name = try fields.string("lora_name"), let path = try fields.string("lora_path")
        else {
            throw .invalid(nil, "lora_name and lora_path say which adapter, and from where")
        }
        guard let root = models.root else { throw .withoutRoot }
        guard ServedModels.isName(name) else {
            let error = ServeError.badName(name: APIError.printable(name), from: .request)
            throw APIError(error, param: "lora_name")
        }
        do {
            try models.load(name, path: try root.resolveAdapter(path))
        } catch {
            switch error as? ServeError {
            case .nameTaken?:
                var problem = APIError(error, param: "lora_name")
                problem.code = "name_taken"
                throw problem
            case .badName?: throw APIError(error, param: "lora_name")
            case .tooManyAdapters?:
                var problem = APIError(error)
                problem.code = "too_many_adapters"
                throw problem
            default: throw APIError(error, param: "lora_path").hiding(root.path)
            }
        }
        return HTTPAnswerText(text: "Success: LoRA adapter '\(name)' added successfully.")
    }

    func unloadAdapter(_ body: [UInt8]) throws(APIError) -> HTTPAnswerText {
        let fields = try FieldReader(body: body)
        guard let name = try fields.string("lora_name") else {
            throw fields.wrong("lora_name", "the name of an adapter")
        }
        guard models.root != nil else { throw .withoutRoot }
        guard models.unload(name) else {
            throw .unknownModel(name, known: models.list.dropFirst().map(\.id))
        }
        return HTTPAnswerText(text: "Success: LoRA adapter '\(name)' removed successfully.")
    }
}

/// A plain text for a client, in vLLM's words where its clients look for them.
struct HTTPAnswerText: Sendable {
    var text: String
}

extension APIError {
    static let withoutRoot = APIError(
        .forbidden,
        "adapters are not loaded at run time here: start skein serve with --adapter-root",
        code: "adapter_root_missing")
}
