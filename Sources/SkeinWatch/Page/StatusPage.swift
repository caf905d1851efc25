import SkeinNetwork

/// The page of a run. It holds no facts of the run; its script fetches them, so the page itself needs no
/// token.
enum StatusPage {
    static let page = Page(
        title: "Skein",
        styles: [PageStyle.base, PageStyle.live, PageStyle.document, StatusStyle.text],
        body: PageMarkup.body,
        scripts: [PageTools.text, PageCharts.text, PageScript.text], policy: .sent([]))
}
