"""The page in a browser: typed into, clicked, read, photographed.

Needs a Chromium (Debian's package ``chromium``) and the package playwright. Where one is missing
the tests are skipped, unless INGRAM_BROWSER=required says that they must run.
"""

import os
import shutil

import pytest

from ingram.serve.guard import SECURITY
from tests.serve.services import EVIL, HERE, listening, shelf_of

REQUIRED = os.environ.get("INGRAM_BROWSER") == "required"
WORLD = "#answers > li"


def browser_path():
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing = "the page is not tested: the package playwright is not installed"
    else:
        missing = (
            None
            if browser_path()
            else "the page is not tested: no Chromium here (apt-get install chromium)"
        )
    if missing:
        (pytest.fail if REQUIRED else pytest.skip)(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(run):
    with listening(shelf_of(run)) as port:
        yield f"{HERE}:{port}/"


@pytest.fixture
def opened(browser, address):
    """Open the page in a fresh window; at the end, nothing may have been said on the console.

    But for refusals: of those the browser speaks by itself.
    """
    contexts, said = [], []

    def heard(text):
        if not text.startswith("Failed to load resource: the server responded with a status of 4"):
            said.append(text)

    def open_page(path="", ready="#about:not(:empty)", **options):
        context = browser.new_context(**{"viewport": {"width": 1000, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: heard(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: request.url.startswith(HERE) or said.append(request.url))
        page.goto(address + path)
        page.wait_for_selector(ready)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


COMPLETED = """([items, typed]) => {
    const found = [...document.querySelectorAll(items)];
    const fits = (item) => item.textContent.toLowerCase().includes(typed.toLowerCase());
    return found.length > 0 && found.every(fits);
}"""
"""The list is that of the whole text, not of its first letters."""


def ask_by_keys(page, entity, relation):
    """The whole question without a mouse."""
    page.focus("#entity")
    page.keyboard.type(entity)
    page.wait_for_function(COMPLETED, arg=["#entity-list li", entity])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "relation"
    page.keyboard.type(relation)
    page.wait_for_function(COMPLETED, arg=["#relation-list li", relation])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_selector(WORLD)


def test_a_question_is_typed_answered_and_explained(opened, tmp_path):
    page = opened()
    ask_by_keys(page, "kEn", "in_c")
    assert page.input_value("#entity") == "Kenya"
    assert page.inner_text("#asked") == "Kenya — in_country → ?"
    page.check("input[value=head]")
    page.click("#question button[type=submit]")
    page.wait_for_selector("#asked:has-text('? — in_country → Kenya')")
    assert page.locator(WORLD).count() == 10
    known = page.locator(f"{WORLD}.known .answer").all_inner_texts()
    assert known
    assert {text.strip() for text in known} <= {"Mombasa", "Nairobi", "東京", EVIL}
    fills = page.locator(f"{WORLD} > .bar .fill")
    widths = [fills.nth(i).bounding_box()["width"] for i in range(10)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 2 * widths[-1]
    first = page.locator(f"{WORLD}:first-child .answer")
    first.click()
    page.wait_for_selector(f"{WORLD}:first-child .why > *:not(.quiet)")
    assert first.get_attribute("aria-expanded") == "true"
    page.screenshot(path=tmp_path / "ask.png", full_page=True)
    assert (tmp_path / "ask.png").stat().st_size > 10_000
    first.click()
    assert page.is_hidden(f"{WORLD}:first-child .why")


def test_an_explanation_is_drawn_as_chains_of_facts(opened):
    page = opened("#entity=Kenya&relation=borders&side=tail&k=25", ready=WORLD)
    page.click(f"{WORLD} .answer:text-is('Uganda')")
    page.wait_for_selector(".chain")
    assert page.locator(".chain").first.locator(".node").count() >= 2
    text = page.locator(".chain").first.text_content()
    assert "Kenya" in text
    assert "Uganda" in text


def test_a_relation_between_two_is_asked_for(opened):
    page = opened()
    page.fill("#entity", "Kenya")
    page.check("input[value=relation]")
    assert page.is_hidden("#relation")
    page.fill("#other", "Uganda")
    page.keyboard.press("Enter")
    page.wait_for_selector("#asked:has-text('Kenya — ? → Uganda')")
    answers = [text.strip() for text in page.locator(f"{WORLD} .answer").all_inner_texts()]
    assert sorted(answers) == sorted(["borders", "capital_of", "in_country", EVIL])
    assert page.locator(f"{WORLD}.known .answer").all_inner_texts() == ["borders"]


def test_the_address_keeps_the_question(opened):
    page = opened()
    ask_by_keys(page, "kenya", "bord")
    wanted = page.locator(f"{WORLD} .answer").all_inner_texts()
    again = opened(page.url.split("/")[-1], ready=WORLD)
    assert again.locator(f"{WORLD} .answer").all_inner_texts() == wanted


def test_a_label_that_is_a_script_is_shown_as_text(opened):
    page = opened()
    ask_by_keys(page, "<img", "in_c")
    assert page.input_value("#entity") == EVIL
    for tab in ("relations", "statistics", "map"):
        page.click(f"#tab-{tab}")
        page.wait_for_selector(f"#view-{tab} :is(svg, table)")
    page.click("#tab-relations")
    page.fill("#relation-search", "img")
    page.click("#relation-detail button")
    assert page.inner_text("#relation-detail h2") == EVIL
    assert page.title() == "ingram"
    assert page.locator("main img, main script").count() == 0


def test_the_browser_itself_would_refuse_a_script(browser, address):
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#about:not(:empty)")
    refused = page.evaluate(
        "() => { try { document.body.innerHTML = '<b>x</b>' } catch (e) { return e.name } }"
    )
    assert refused == "TypeError"
    assert "trusted-types 'none'" in SECURITY["content-security-policy"]
    context.close()


def test_the_relation_graph_is_searched_and_zoomed(opened, tmp_path):
    page = opened()
    page.focus("#tab-ask")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#relation-picture .dot")
    assert page.locator("#relation-picture .dot").count() == 4
    page.fill("#relation-search", "bord")
    assert page.locator("#relation-picture .dot.hit").count() == 1
    before = page.get_attribute("#relation-picture svg", "viewBox")
    page.focus("#relation-picture svg")
    page.keyboard.press("+")
    closer = page.get_attribute("#relation-picture svg", "viewBox")
    assert float(closer.split()[2]) < float(before.split()[2])
    box = page.locator("#relation-picture svg").bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.wheel(0, 300)
    page.wait_for_function(
        "was => document.querySelector('#relation-picture svg').getAttribute('viewBox') !== was",
        arg=closer,
    )
    page.click("#relation-detail button")
    assert "borders" in page.inner_text("#relation-detail")
    page.screenshot(path=tmp_path / "relations.png")
    page.click("text=Ask a question with it")
    assert page.input_value("#relation") == "borders"


def test_statistics_and_map_show_the_graph(opened):
    page = opened()
    page.click("#tab-statistics")
    page.wait_for_selector("#view-statistics table")
    assert "in_country" in page.inner_text("#view-statistics")
    page.click("#tab-map")
    page.wait_for_selector("#map-picture .dot")
    assert "this model gives no vectors" in page.inner_text("#map-how")
    page.fill("#map-search", "nair")
    page.click("#map-detail button")
    page.click("text=Ask about it")
    assert page.input_value("#entity") == "Nairobi"


def test_another_graph_is_another_page(opened):
    page = opened()
    page.select_option("#graph", "letters")
    page.wait_for_selector("#about:has-text('8 entities')")
    page.focus("#entity")
    page.wait_for_selector("#entity-list li:has-text('b')")
    assert "Kenya" not in page.inner_text("#entity-list")


def test_trouble_is_said_on_the_page(opened):
    page = opened()
    page.fill("#entity", "Nairob")
    page.fill("#relation", "borders")
    page.click("#question button[type=submit]")
    page.wait_for_selector("#trouble:visible")
    assert "did you mean 'Nairobi'" in page.inner_text("#trouble")


def test_it_fits_a_phone_in_the_dark(opened, tmp_path):
    phone = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark", "has_touch": True}
    page = opened("#entity=Kenya&relation=in_country&side=head", ready=WORLD, **phone)
    page.tap(f"{WORLD}:first-child .answer")
    page.wait_for_selector(f"{WORLD}:first-child .why > *:not(.quiet)")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(20, 23, 26)"
    for tab in ("ask", "relations", "statistics", "map"):
        page.tap(f"#tab-{tab}")
        page.wait_for_selector(f"#view-{tab} :is(svg, table, form)")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, tab
        page.screenshot(path=tmp_path / f"phone-{tab}.png")
        if tab == "relations":
            assert page.evaluate(CUT_OFF, "#relation-picture svg") == []


CUT_OFF = """place => {
    const picture = document.querySelector(place), box = picture.getBoundingClientRect();
    const beyond = (b) => b.width > 0 && (b.left < box.left || b.right > box.right);
    const texts = [...picture.querySelectorAll("text:not(.off)")];
    return texts.filter((t) => beyond(t.getBoundingClientRect())).map((t) => t.textContent);
}"""


def test_the_page_asks_for_the_token(browser, run):
    with listening(shelf_of(run), token="sesame") as port:
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{HERE}:{port}/")
        page.wait_for_selector("#token-dialog[open]")
        for word in ("wrong", "sesame"):
            page.fill("#token", word)
            page.keyboard.press("Enter")
            page.wait_for_timeout(300)
        page.wait_for_selector("#about:not(:empty)")
        assert page.is_hidden("#token-dialog")
        context.close()


def test_the_reference_is_drawn_from_the_openapi_document(opened):
    page = opened("docs", ready=".route")
    text = page.inner_text("#routes")
    for route in ("POST /predict", "GET /explain", "PUT /graphs/{name}", "GET /metrics"):
        assert route in text
