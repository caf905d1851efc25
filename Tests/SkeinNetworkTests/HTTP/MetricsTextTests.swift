import Testing

@testable import SkeinNetwork

@Suite("metrics as text")
struct MetricsTextTests {
    @Test("numbers, labels and bounds are spelled as they always were")
    func spelling() {
        var page = MetricsText()
        page.single("a", "gauge", "Help.", 3)
        page.single("b", "gauge", "Help.", 2.5)
        page.single("c", "gauge", "Help.", Double?.none)
        page.family("d", "gauge", "Help.")
        for value in [1.0, .nan, -.nan, .infinity, -.infinity, 1e-7] {
            page.sample("d", ["k": "a\\b\"c\nd"], value)
        }
        page.family("e", "counter", "Help.")
        page.sample("e", ["x": "1", "y": "2"], Int.max)
        #expect(
            page.text == #"""
                # HELP a Help.
                # TYPE a gauge
                a 3
                # HELP b Help.
                # TYPE b gauge
                b 2.5
                # HELP d Help.
                # TYPE d gauge
                d{k="a\\b\"c\nd"} 1
                d{k="a\\b\"c\nd"} NaN
                d{k="a\\b\"c\nd"} NaN
                d{k="a\\b\"c\nd"} +Inf
                d{k="a\\b\"c\nd"} -Inf
                d{k="a\\b\"c\nd"} 1e-07
                # HELP e Help.
                # TYPE e counter
                e{x="1",y="2"} 9223372036854775807

                """#)
    }

    @Test("a histogram counts what is up to each bound, which keeps its decimal point")
    func histogram() {
        var histogram = MetricsText.Histogram([0.5, 1, 10])
        var page = MetricsText()
        page.histogram("h", "Help.", histogram)
        #expect(page.text.contains("h_bucket{le=\"1.0\"} 0\n"))
        #expect(page.text.hasSuffix("h_sum 0.0\nh_count 0\n"))
        for value in [0.25, 1, 0.75, 20] { histogram.add(value) }
        page = MetricsText()
        page.histogram("h", "Help.", histogram)
        #expect(
            page.text == """
                # HELP h Help.
                # TYPE h histogram
                h_bucket{le="0.5"} 1
                h_bucket{le="1.0"} 3
                h_bucket{le="10.0"} 3
                h_bucket{le="+Inf"} 4
                h_sum 22.0
                h_count 4

                """)
    }
}
