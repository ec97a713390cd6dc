"""What pages are made of, beyond what the pages themselves show: charts, time lines, figures."""

from playwright.sync_api import expect

from tests.support.console import PHONE, faults_of_access, overflow

NO_VALUE = "\u2013"
_SHOW = """async () => {
  const base = new URL(".", document.querySelector("script[type=module]").src);
  const from = (name) => import(new URL(name, base));
  const [{ html, render }, { Bars }, { LineChart }, { TimeLine }, { Stats, Stat }] =
    await Promise.all(["preact.js", "components/bars.js", "components/line-chart.js",
      "components/timeline.js", "components/page.js"].map(from));
  const starts = [0, 1, 2, 3].map((hour) => new Date(Date.UTC(2026, 0, 5, hour)).toISOString());
  const rising = { name: "scored" };
  const falling = { name: "failed", values: [0, 1, null, 2], tone: "trouble" };
  const bins = [["0.0", 3], ["0.5", 9], ["1.0", 0]].map(([label, value]) => ({ label, value }));
  const entries = [
    { at: starts[0], title: "submitted" },
    { at: starts[1], title: "asked", detail: "timed_out ".repeat(40), tone: "warning" },
    { at: null, title: "verdict" },
  ];
  const rate = (value) => `${Math.round(value)} a minute`;
  window.show = (values) => render(html`
    <h1>Parts</h1>
    <${Stats}>
      <${Stat} label="Scored" value="1,204" hint="of 1,300" />
      <${Stat} label="Failed" value=${null} />
    <//>
    <${LineChart} label="Completions" starts=${starts} show=${rate}
      series=${[{ ...rising, values }, falling]} />
    <${Bars} label="Scores" bins=${bins} />
    <${TimeLine} label="One completion" entries=${entries} />`, document.querySelector("main"));
  window.show([5, 8, 13, 21]);
}"""


def test_charts_say_in_words_what_they_draw(console):
    page = console.open("#/keys", viewport=PHONE)
    page.evaluate(_SHOW)
    lines, bars = page.get_by_role("img").all()
    expect(lines).to_have_attribute(
        "aria-label", "Completions: scored 21 a minute at the end, failed 2 a minute at the end"
    )
    expect(bars).to_have_attribute("aria-label", "Scores: 12 in all, most at 0.5 (75%)")
    heights = bars.locator("> span > span").evaluate_all(
        "them => them.map((it) => it.style.height)"
    )
    assert [round(float(height.rstrip("%"))) for height in heights] == [33, 100, 0]
    for summary in page.locator("summary").all():
        summary.click()
    tables = page.locator(".figures table")
    expect(tables.first.locator("tbody tr").nth(2)).to_contain_text(f"13 a minute{NO_VALUE}")
    expect(tables.last.locator("tbody tr").nth(1)).to_have_text("0.59")
    expect(page.locator(".timeline li").last).to_contain_text("to come")
    expect(page.locator(".stat dd.loading")).to_have_count(1)
    assert overflow(page) == 0
    assert faults_of_access(page) == []


def test_a_chart_follows_its_data_the_pointer_and_the_readers_colours(console):
    page = console.open("#/keys")
    page.evaluate(_SHOW)
    canvas = page.locator(".lines canvas")
    expect(canvas).to_have_count(1)

    def drawn():
        return canvas.evaluate("it => it.toDataURL()")

    def until_other(before):
        page.wait_for_function(
            "before => document.querySelector('.lines canvas').toDataURL() !== before", arg=before
        )

    first = drawn()
    readout = page.locator(".readout")
    expect(readout).to_contain_text("scored 21 a minute")
    page.evaluate("window.show([5, 8, 13, 34])")
    expect(readout).to_contain_text("scored 34 a minute")
    until_other(first)
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 70, box["y"] + 60)
    expect(readout).to_contain_text("scored 5 a minute")
    light = drawn()
    page.emulate_media(color_scheme="dark")
    until_other(light)
    page.set_viewport_size(PHONE)
    page.wait_for_function("() => document.querySelector('.lines canvas').clientWidth < 380")
    assert overflow(page) == 0
