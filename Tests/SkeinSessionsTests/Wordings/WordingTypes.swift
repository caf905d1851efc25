@testable import SkeinSessions

// What the questions of SchemaWordings ask for: types as programs write them, with and without
// descriptions, guides, enums, lists, optional properties and types in each other.

@Generable
struct AskedContact {
    @Guide(description: "The person's full name")
    var name: String
    @Guide(description: "Age in years", .range(0...120))
    var age: Int
    @Guide(description: "The town where the person lives")
    var town: String
}

@Generable
enum AskedFeeling {
    case positive
    case negative
}

@Generable(description: "What a customer thinks of a product")
struct AskedVerdict {
    @Guide(description: "The product")
    var product: String
    @Guide(description: "Whether the customer likes it")
    var feeling: AskedFeeling
}

@Generable
struct AskedPurchase {
    var item: String
    var count: Int
    @Guide(description: "Price of one piece, in euros", .minimum(0))
    var price: Double
}

@Generable
struct AskedTags {
    @Guide(description: "The main topics of the text", .count(1...3))
    var topics: [String]
    @Guide(description: "Animals that the text names, none if there are none", .maximumCount(3))
    var animals: [String]
}

@Generable
enum AskedDay: String {
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday
}

@Generable
struct AskedMeeting {
    var day: AskedDay
    @Guide(description: "The hour, from 0 to 23", .range(0...23))
    var hour: Int
    var place: String
}

@Generable
struct AskedCountry {
    @Guide(description: "The capital city")
    var capital: String
    @Guide(.anyOf(["Africa", "America", "Asia", "Europe", "Oceania"]))
    var continent: String
}

@Generable
struct AskedBook {
    var title: String
    var author: String
    var year: Int?
}

@Generable
struct AskedPlace {
    var city: String
    var country: String
}

@Generable(description: "A journey from one place to another")
struct AskedJourney {
    @Guide(description: "Where it begins")
    var from: AskedPlace
    @Guide(description: "Where it ends")
    var to: AskedPlace
}

@Generable
struct AskedTicket {
    @Guide(description: "The order's number, such as A-1234", .pattern(/[A-Z]-[0-9]{4}/))
    var order: String
    @Guide(description: "Whether the customer wants the money back")
    var wantsRefund: Bool
}

@Generable(description: "The language of a text")
struct AskedLanguage {
    @Guide(.anyOf(["English", "French", "German", "Italian", "Spanish"]))
    var language: String
}
