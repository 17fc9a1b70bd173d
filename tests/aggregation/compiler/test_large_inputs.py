"""Inputs made to be slow get an answer like any other. How quick it is, `make bench` says."""

from aggregation.compiler.report import compile_text
from tests.aggregation.compiler.corpus import catalog
from tests.bench.bench_compiler import hostile_documents


def test_a_large_input_is_refused_with_a_reason() -> None:
    streams = catalog()
    for text in hostile_documents():
        code, report = compile_text(text, streams)
        assert code != 0, text[:300]
        assert report["diagnostics"][0]["rule"] != "internal", text[:300]
