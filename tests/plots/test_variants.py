"""Pictures of a release, on dark pages and in print: figures and contrast, not pixels."""

import colorsys

import polars as pl
import pytest

import hushtable as ht
from hushtable.plots import charts, to_dark, to_greys

PEOPLE = ht.datasets.people(200).select("sex", "postcode", "education")


def released() -> ht.Release:
    return ht.anonymize(PEOPLE, quasi_identifiers=PEOPLE.columns, models=[ht.KAnonymity(5)])


def test_a_release_shows_its_classes_before_and_after():
    release = released()
    axes = release.plot()
    before = PEOPLE.group_by(PEOPLE.columns).len()
    alone = before.filter(pl.col("len") == 1).height / 200
    assert f"{100 * alone:.0f} % of records were alone" in axes.get_title(loc="left").replace("\n", " ")
    assert f"holds {release.partition.sizes.min()}" in axes.get_title(loc="left").replace("\n", " ")
    heights = [bar.get_height() for container in axes.containers for bar in container]
    assert sum(heights) == pytest.approx(2)
    assert heights[0] == pytest.approx(alone)
    assert axes.get_ylabel() == "share of records"
    assert axes.yaxis.get_major_formatter()(0.5, 0) in ("50 %", "50%")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["before", "after"]


def luminance(colour) -> float:
    return colorsys.rgb_to_hls(*colour[:3])[1]


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: released().plot(),
        lambda: charts.risk_by_k([1, 2, 5], {"a": [0.1, 0.2, 0.9], "b": [0, 0.1, 0.3]}),
        lambda: ht.find_quasi_identifiers(PEOPLE).plot(),
    ],
)
def test_on_a_dark_page_what_is_written_is_light(drawn):
    axes = to_dark(drawn())
    ground = luminance(axes.figure.get_facecolor())
    assert ground < 0.2
    assert luminance(axes.get_facecolor()[:3]) < 0.2 or axes.get_facecolor()[3] == 0
    axes.figure.canvas.draw()
    from matplotlib.colors import to_rgb
    from matplotlib.text import Text

    texts = [text for text in axes.figure.findobj(Text) if text.get_text()]
    assert texts
    assert all(luminance(to_rgb(text.get_color())) - ground > 0.3 for text in texts if text.get_visible())


def test_in_print_nothing_has_a_colour_and_series_differ():
    axes = to_greys(released().plot())
    bars = [container[0] for container in axes.containers]
    for bar in bars:
        red, green, blue, _ = bar.get_facecolor()
        assert red == green == blue
    assert len({(bar.get_facecolor(), bar.get_hatch()) for bar in bars}) == len(bars)
