@testable import SkeinSessions

/// A question whose answer is known.
struct WordingQuestion: Sendable {
    let schema: GenerationSchema
    let prompt: String
    /// What is right, by the path of a property; of several texts with a bar between them each is.
    let right: [(path: String, text: String)]

    init(_ schema: GenerationSchema, _ prompt: String, _ right: KeyValuePairs<String, String>) {
        self.schema = schema
        self.prompt = prompt
        self.right = right.map { ($0.key, $0.value) }
    }

    /// How many properties are right. Capitals, full stops and a leading article do not matter.
    func rightProperties(_ content: GeneratedContent) -> Int {
        right.count { path, text in
            let found = Self.text(content, path.split(separator: "."))
            return text.split(separator: "|").contains { Self.plain(String($0)) == found }
        }
    }

    private static func text(_ content: GeneratedContent, _ path: [Substring]) -> String {
        switch content.kind {
        case .structure(let properties, _):
            guard let first = path.first, let next = properties[String(first)] else { return "" }
            return text(next, Array(path.dropFirst()))
        case .array(let elements):
            return elements.map { text($0, path) }.sorted().joined(separator: ",")
        case .string(let text): return plain(text)
        case .number(let number):
            return number == number.rounded() ? "\(Int(number))" : "\(number)"
        case .bool(let value): return "\(value)"
        case .null: return ""
        }
    }

    private static func plain(_ text: String) -> String {
        var words = text.lowercased().split { " .!\"'".contains($0) }
        if let first = words.first, ["a", "an", "the"].contains(first) { words.removeFirst() }
        return words.joined(separator: " ")
    }
}

extension WordingQuestion {
    /// Thirty by which the wording was chosen.
    static let chosen: [WordingQuestion] = [
        .init(
            AskedContact.generationSchema,
            "Who is this? Mara Lindt is 34 years old and lives in Graz.",
            ["name": "Mara Lindt", "age": "34", "town": "Graz"]),
        .init(
            AskedContact.generationSchema,
            "Extract the contact: Tom Berger (51) moved from Bern to Basel, where he lives now.",
            ["name": "Tom Berger", "age": "51", "town": "Basel"]),
        .init(
            AskedContact.generationSchema, "I am Ana Silva, I am 28, and my home is in Porto.",
            ["name": "Ana Silva", "age": "28", "town": "Porto"]),
        .init(
            AskedVerdict.generationSchema, "The kettle broke after two days. I want my money back!",
            ["product": "kettle", "feeling": "negative"]),
        .init(
            AskedVerdict.generationSchema,
            "Classify this review: I love this lamp, it is so bright and pretty.",
            ["product": "lamp", "feeling": "positive"]),
        .init(
            AskedVerdict.generationSchema, "Review: these shoes hurt and look cheap.",
            ["product": "shoes", "feeling": "negative"]),
        .init(
            AskedPurchase.generationSchema, "She bought 3 lamps at 12.50 euros each.",
            ["item": "lamps|lamp", "count": "3", "price": "12.5"]),
        .init(
            AskedPurchase.generationSchema, "Read the receipt: 10 pencils, 2 euros per pencil.",
            ["item": "pencils|pencil", "count": "10", "price": "2"]),
        .init(
            AskedPurchase.generationSchema, "We ordered two chairs. A chair costs 45 euros.",
            ["item": "chairs|chair", "count": "2", "price": "45"]),
        .init(AskedTags.generationSchema, "The dog slept in the kitchen.", ["animals": "dog"]),
        .init(
            AskedTags.generationSchema,
            "Tag this text: A fox ran across the snow while two owls watched.",
            ["animals": "fox,owls|fox,owl|fox,two owls"]),
        .init(AskedTags.generationSchema, "Our cat likes music.", ["animals": "cat"]),
        .init(
            AskedMeeting.generationSchema, "Let us meet on Friday at 15 o'clock in the library.",
            ["day": "friday", "hour": "15", "place": "library|in the library"]),
        .init(
            AskedMeeting.generationSchema,
            "When is the meeting? The team meets in Room 4 every Monday at 9.",
            ["day": "monday", "hour": "9", "place": "Room 4"]),
        .init(
            AskedMeeting.generationSchema, "Dinner is at 19:00 on Sunday, at Luigi's.",
            ["day": "sunday", "hour": "19", "place": "Luigi's"]),
        .init(
            AskedCountry.generationSchema, "Tell me about France.",
            ["capital": "Paris", "continent": "Europe"]),
        .init(
            AskedCountry.generationSchema, "What do you know of Japan?",
            ["capital": "Tokyo", "continent": "Asia"]),
        .init(
            AskedCountry.generationSchema, "Kenya", ["capital": "Nairobi", "continent": "Africa"]),
        .init(
            AskedBook.generationSchema,
            "Pride and Prejudice was written by Jane Austen and came out in 1813.",
            ["title": "Pride and Prejudice", "author": "Jane Austen", "year": "1813"]),
        .init(
            AskedBook.generationSchema,
            "Which book is meant? George Orwell published Animal Farm in 1945.",
            ["title": "Animal Farm", "author": "George Orwell", "year": "1945"]),
        .init(
            AskedBook.generationSchema, "I am reading Emma by Jane Austen.",
            ["title": "Emma", "author": "Jane Austen", "year": ""]),
        .init(
            AskedJourney.generationSchema, "The train goes from Paris in France to Rome in Italy.",
            [
                "from.city": "Paris", "from.country": "France", "to.city": "Rome",
                "to.country": "Italy",
            ]),
        .init(
            AskedJourney.generationSchema, "We flew from Lima, Peru to Madrid, Spain.",
            [
                "from.city": "Lima", "from.country": "Peru", "to.city": "Madrid",
                "to.country": "Spain",
            ]),
        .init(
            AskedJourney.generationSchema,
            "Extract the journey: starting in Oslo (Norway), ending in Berlin (Germany).",
            [
                "from.city": "Oslo", "from.country": "Norway", "to.city": "Berlin",
                "to.country": "Germany",
            ]),
        .init(
            AskedTicket.generationSchema,
            "My order B-2231 never came. Please give me my money back.",
            ["order": "B-2231", "wantsRefund": "true"]),
        .init(
            AskedTicket.generationSchema, "Order K-0907 came today, thank you, everything is fine.",
            ["order": "K-0907", "wantsRefund": "false"]),
        .init(
            AskedTicket.generationSchema, "Please refund order C-1180.",
            ["order": "C-1180", "wantsRefund": "true"]),
        .init(
            AskedLanguage.generationSchema,
            "Which language is this? Guten Morgen, wie geht es Ihnen?", ["language": "German"]),
        .init(
            AskedLanguage.generationSchema, "Je voudrais un café, s'il vous plaît.",
            ["language": "French"]),
        .init(
            AskedLanguage.generationSchema, "Name the language: ¿Dónde está la biblioteca?",
            ["language": "Spanish"]),
    ]

    /// Thirty others, by which nothing was chosen.
    static let kept: [WordingQuestion] = [
        .init(
            AskedContact.generationSchema,
            "Find the person: Ivo Novak lives in Zagreb. He turned 62 last week.",
            ["name": "Ivo Novak", "age": "62", "town": "Zagreb"]),
        .init(
            AskedContact.generationSchema, "Lena Kraus, 19, student, Leipzig",
            ["name": "Lena Kraus", "age": "19", "town": "Leipzig"]),
        .init(
            AskedContact.generationSchema,
            "My neighbour here in Cork is called Sean Murphy. He is 70 years old.",
            ["name": "Sean Murphy", "age": "70", "town": "Cork"]),
        .init(
            AskedVerdict.generationSchema, "This tent is wonderful, we stayed dry all week.",
            ["product": "tent", "feeling": "positive"]),
        .init(
            AskedVerdict.generationSchema,
            "What does the customer think? The phone is slow and its battery is bad.",
            ["product": "phone", "feeling": "negative"]),
        .init(
            AskedVerdict.generationSchema, "Best coffee that I ever had. Thank you!",
            ["product": "coffee", "feeling": "positive"]),
        .init(
            AskedPurchase.generationSchema, "He took 5 apples for 0.40 euros each.",
            ["item": "apples|apple", "count": "5", "price": "0.4"]),
        .init(
            AskedPurchase.generationSchema, "Please note: 7 books, each of them 9.90 euros.",
            ["item": "books|book", "count": "7", "price": "9.9"]),
        .init(
            AskedPurchase.generationSchema, "One bicycle for 300 euros was sold today.",
            ["item": "bicycle", "count": "1", "price": "300"]),
        .init(
            AskedTags.generationSchema, "The horse pulled a cart full of hay.", ["animals": "horse"]
        ),
        .init(
            AskedTags.generationSchema,
            "Give tags: The bees came back when the garden was in flower.", ["animals": "bees|bee"]),
        .init(AskedTags.generationSchema, "The minister spoke about taxes.", ["animals": ""]),
        .init(
            AskedMeeting.generationSchema,
            "The choir sings on Wednesday at 20 o'clock in the church.",
            ["day": "wednesday", "hour": "20", "place": "church|in the church"]),
        .init(
            AskedMeeting.generationSchema, "Find the date: come to the station on Saturday at 7.",
            ["day": "saturday", "hour": "7", "place": "station|to the station"]),
        .init(
            AskedMeeting.generationSchema, "Tuesday, 11 o'clock, town hall",
            ["day": "tuesday", "hour": "11", "place": "town hall"]),
        .init(
            AskedCountry.generationSchema, "Tell me about Italy.",
            ["capital": "Rome", "continent": "Europe"]),
        .init(
            AskedCountry.generationSchema, "What do you know of Egypt?",
            ["capital": "Cairo", "continent": "Africa"]),
        .init(AskedCountry.generationSchema, "China", ["capital": "Beijing", "continent": "Asia"]),
        .init(
            AskedBook.generationSchema, "Herman Melville wrote Moby Dick. It was printed in 1851.",
            ["title": "Moby Dick", "author": "Herman Melville", "year": "1851"]),
        .init(
            AskedBook.generationSchema, "Catalogue this: Dracula, Bram Stoker, 1897.",
            ["title": "Dracula", "author": "Bram Stoker", "year": "1897"]),
        .init(
            AskedBook.generationSchema, "She gave me The Hobbit by J. R. R. Tolkien.",
            ["title": "The Hobbit", "author": "J. R. R. Tolkien", "year": ""]),
        .init(
            AskedJourney.generationSchema,
            "The ship left Lisbon in Portugal for Boston in America.",
            [
                "from.city": "Lisbon", "from.country": "Portugal", "to.city": "Boston",
                "to.country": "America|USA|United States",
            ]),
        .init(
            AskedJourney.generationSchema, "From Vienna, Austria to Prague, Czechia by bus.",
            [
                "from.city": "Vienna", "from.country": "Austria", "to.city": "Prague",
                "to.country": "Czechia",
            ]),
        .init(
            AskedJourney.generationSchema, "I walked from Delhi in India to Kabul in Afghanistan.",
            [
                "from.city": "Delhi", "from.country": "India", "to.city": "Kabul",
                "to.country": "Afghanistan",
            ]),
        .init(
            AskedTicket.generationSchema, "Where is order D-4402? I am looking forward to it.",
            ["order": "D-4402", "wantsRefund": "false"]),
        .init(
            AskedTicket.generationSchema, "X-7719 arrived broken and I want a refund.",
            ["order": "X-7719", "wantsRefund": "true"]),
        .init(
            AskedTicket.generationSchema,
            "Read this ticket: F-3050, please send the money back to me.",
            ["order": "F-3050", "wantsRefund": "true"]),
        .init(AskedLanguage.generationSchema, "Buongiorno, come stai?", ["language": "Italian"]),
        .init(
            AskedLanguage.generationSchema,
            "In which language is this written? The weather is lovely today.",
            ["language": "English"]),
        .init(AskedLanguage.generationSchema, "Ich habe keine Zeit.", ["language": "German"]),
    ]
}
