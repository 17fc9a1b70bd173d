"""How forecasts, previews, costs and templates look to programs."""

from typing import Any

from rest_framework import serializers

from portal.ledger.api import Epsilon
from portal.tasks.forecast import Forecast
from portal.tasks.preview import Preview
from portal.tasks.starting_points import StartingPoint


class MetricNoiseSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    half_width = serializers.FloatField(help_text="The noise stays within ± this, 95 times in 100.")
    mean = serializers.FloatField(help_text="The mean of the noise's size.")
    smallest = serializers.FloatField(
        allow_null=True, help_text="A cell below it is suppressed; null where it is not asked."
    )
    is_hidden = serializers.BooleanField()


class SliceNoiseSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    metrics = MetricNoiseSerializer(many=True)


class ForecastSerializer(serializers.Serializer[Forecast]):
    slices = SliceNoiseSerializer(many=True)
    more = serializers.IntegerField(help_text="Slices that are not listed.")
    max_relative_noise = serializers.FloatField()
    cells = serializers.IntegerField()


class TableSerializer(serializers.Serializer[Any]):
    columns = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.ListField())
    more = serializers.IntegerField(help_text="Rows that are not listed.")


class UpdateRowSerializer(serializers.Serializer[Any]):
    keys = serializers.ListField()
    values = serializers.ListField(child=serializers.FloatField())
    units = serializers.ListField(child=serializers.IntegerField())


class DeviceSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    events = serializers.DictField(child=TableSerializer())
    rows = UpdateRowSerializer(many=True, help_text="Its bounded update.")
    used = serializers.FloatField(help_text="Part of its bound, from 0 to 1.")
    is_clipped = serializers.BooleanField()


class PreviewSerializer(serializers.Serializer[Preview]):
    """Invented data: nobody's."""

    window = serializers.CharField(source="window.id")
    keys = serializers.ListField(child=serializers.CharField())
    metrics = serializers.ListField(child=serializers.CharField())
    devices = DeviceSerializer(many=True)
    crowd = serializers.IntegerField(help_text="How many invented phones there are.")
    clipped = serializers.IntegerField(help_text="How many of them reached their bound.")
    result = TableSerializer(allow_null=True, help_text="The largest cells, without noise.")
    cells = serializers.IntegerField()


class WeekCostSerializer(serializers.Serializer[Any]):
    stream = serializers.CharField()
    week = serializers.CharField(source="label")
    cap = Epsilon()
    taken = Epsilon(help_text="By other tasks, and by this one's windows that have begun.")
    wanted = Epsilon()
    fits = serializers.BooleanField()


class CostSerializer(serializers.Serializer[Any]):
    epsilon = serializers.CharField(help_text="Per window.")
    unit = serializers.CharField()
    fits = serializers.BooleanField()
    weeks = WeekCostSerializer(many=True)


class StartingPointSerializer(serializers.Serializer[StartingPoint]):
    slug = serializers.CharField()
    title = serializers.CharField()
    answers = serializers.CharField(help_text="The question it answers.")
    text = serializers.CharField(help_text="The document.")


class SqlSerializer(serializers.Serializer[Any]):
    sql = serializers.CharField(trim_whitespace=False, max_length=20_000)


class StatementsSerializer(serializers.Serializer[Any]):
    client_sql = serializers.CharField(required=False, trim_whitespace=False, max_length=20_000)
    server_sql = serializers.CharField(required=False, trim_whitespace=False, max_length=20_000)
    sql = serializers.CharField(required=False, trim_whitespace=False, max_length=20_000)
