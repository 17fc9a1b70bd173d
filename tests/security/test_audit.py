"""What `make audit` says of packages with known faults, and of those it cannot ask about."""

from packaging.version import Version
from pip_audit._service import ResolvedDependency, SkippedDependency, VulnerabilityResult

from tests.audit import told

SOUND = (ResolvedDependency("sound", Version("1.0")), [])
UNKNOWN = (SkippedDependency("unknown", "no page"), [])
FAULT = VulnerabilityResult("PYSEC-1", "It is wrong.", [Version("2.1")], set(), None)
FAULTY = (ResolvedDependency("faulty", Version("2.0")), [FAULT])


def test_all_is_well(capsys):
    assert told([SOUND]) == 0
    assert capsys.readouterr().out == "mayfly: 1 of 1 packages checked, no known fault.\n"


def test_silence_is_no_clean_sheet(capsys):
    assert told([SOUND, UNKNOWN]) == 2
    said = capsys.readouterr().out
    assert "1 of 2 packages checked, no known fault." in said
    assert "tells nothing of unknown. Run make audit where" in said
    assert told([UNKNOWN]) == 2
    assert "nothing was checked" in capsys.readouterr().err


def test_a_known_fault_is_told_with_the_version_that_mends_it(capsys):
    assert told([SOUND, FAULTY, UNKNOWN]) == 1
    assert "faulty 2.0: PYSEC-1, mended in 2.1.\n" in capsys.readouterr().out
