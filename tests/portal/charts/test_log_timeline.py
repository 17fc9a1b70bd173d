"""A timeline with a log axis: equal ratios are equal ways."""

from portal.charts import Line, Mark, timeline
from tests.portal.charts.drawn import of_class


def test_equal_ratios_are_equal_ways():
    line = Line("errors", (Mark(0.1), Mark(1.0), Mark(10.0)))
    drawn = timeline(["1", "2", "3"], [line], title="T", unit="%", log=True)
    heights = [float(dot.get("cy")) for dot in of_class(drawn, "dot")]
    assert heights[0] > heights[1] > heights[2]
    assert abs((heights[0] - heights[1]) - (heights[1] - heights[2])) < 0.2
