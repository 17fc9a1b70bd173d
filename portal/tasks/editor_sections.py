"""The form: every field of a spec that a person chooses, with a sentence of what the choice is."""

from aggregation.compiler import bounds
from portal.tasks.editor_fields import Choice, Field, Section


def _choices(*pairs: tuple[str, str]) -> tuple[Choice, ...]:
    return tuple(Choice(value, label) for value, label in pairs)


ABOUT = Section(
    "about",
    "About",
    "What the task is for, and which data on phones it reads.",
    (
        Field("description", "Description", "text", "For people: what the numbers will say."),
        Field("streams", "Streams", "choices", "Each stream it names is charged in the ledger."),
        Field(
            "population",
            "Population",
            "names",
            "all, or names of populations with commas between them.",
            default="all",
        ),
    ),
)
WINDOW = Section(
    "window",
    "Window",
    "The privacy time unit: a phone contributes to each window once, as a whole.",
    (
        Field(
            "window.unit",
            "Unit",
            "choice",
            "Longer windows gather more per phone; shorter ones spend ε more often.",
            _choices(("hour", "Hour"), ("day", "Day"), ("week", "Week"), ("month", "Month")),
        ),
        Field(
            "window.grace_hours",
            "Grace",
            "whole",
            "How long after a window's end late phones still count.",
            default=168,
            least=1,
            most=bounds.MAX_GRACE_HOURS,
            step="1",
            suffix="hours",
        ),
    ),
)
ELIGIBILITY = Section(
    "eligibility",
    "Who takes part",
    "Each phone decides for itself, and tells nobody why.",
    (
        Field(
            "eligibility.min_separation_windows",
            "At most one window in",
            "whole",
            "1 lets a phone contribute to every window, once.",
            default=1,
            least=1,
            most=bounds.MAX_SEPARATION_WINDOWS,
            step="1",
            suffix="windows",
        ),
        Field(
            "eligibility.require_events",
            "Only phones with events in the window",
            "flag",
            "Phones without any would send zeros, which add nothing.",
            default=True,
        ),
        Field(
            "eligibility.sql",
            "Condition",
            "lines",
            "A query over device_facts that gives one number; 0 means no. Usually empty.",
        ),
    ),
)
SCHEDULE = Section(
    "schedule",
    "When a phone runs it",
    "A network and 30 % of battery are always required.",
    (
        Field(
            "schedule.conditions",
            "Also required",
            "choices",
            "Each condition spares the phone and delays its answer.",
            _choices(
                ("idle", "Idle"), ("unmetered", "Unmetered network"), ("charging", "Charging")
            ),
            default=["idle"],
        ),
        Field(
            "schedule.max_runs_per_day",
            "Runs a day, at most",
            "whole",
            "Once is enough unless phones are often offline.",
            default=1,
            least=1,
            most=bounds.MAX_RUNS_PER_DAY,
            step="1",
        ),
    ),
)
AGGREGATION = Section(
    "aggregation",
    "How phones are added up",
    "Sums grow in memory, in sessions; no single update is ever stored.",
    (
        Field(
            "aggregation.min_contributions",
            "Phones before a sum may be stored",
            "whole",
            "Decides where a sum waits, never whether it counts.",
            default=1000,
            least=bounds.MIN_CONTRIBUTIONS,
            most=bounds.MAX_CONTRIBUTIONS,
            step="1",
        ),
        Field(
            "aggregation.max_contributions",
            "Phones in a session, at most",
            "whole",
            "Then the session ends and the next one takes over.",
            default=10_000,
            least=bounds.MIN_CONTRIBUTIONS,
            most=bounds.MAX_CONTRIBUTIONS,
            step="1",
        ),
        Field(
            "aggregation.max_session_minutes",
            "Length of a session, at most",
            "whole",
            "A session with enough phones ends after so long.",
            default=60,
            least=1,
            most=bounds.MAX_SESSION_MINUTES,
            step="1",
            suffix="minutes",
        ),
        Field(
            "aggregation.max_rows",
            "Rows of a phone, at most",
            "whole",
            "The largest rows are kept; every update is padded to this many.",
            default=64,
            least=1,
            most=bounds.MAX_ROWS,
            step="1",
        ),
    ),
)
ANONYMIZATION = Section(
    "anonymization",
    "How phones are protected",
    "Each phone's contribution is bounded, and noise sized by that bound goes on every cell.",
    (
        Field(
            "anonymization.epsilon",
            "ε per window",
            "number",
            "The privacy loss of a phone in one window: smaller is safer and noisier.",
            least=float(bounds.EPSILON_STEP),
            most=float(bounds.MAX_EPSILON),
            step="0.01",
        ),
        Field(
            "anonymization.mechanism.kind",
            "Mechanism",
            "choice",
            "How contributions are scaled and bounded. It moves accuracy, never privacy.",
            _choices(
                ("joint_clipping", "Joint clipping: one bound over everything"),
                ("group_scaling", "Group scaling: each slice by its size, then one bound"),
                ("budget_split", "Budget split: each slice its own bound and share of ε"),
                ("rotated", "Rotated: metrics mixed by a public matrix, then one bound"),
            ),
        ),
        Field(
            "anonymization.mechanism.clip",
            "Clip",
            "number",
            "The bound on a phone's whole contribution, after scaling.",
            least=0,
        ),
        Field(
            "anonymization.clip_uncertainty.count",
            "Events are counted by",
            "text",
            "For intervals that also cover what the bound took away: the metric counting events.",
        ),
        Field(
            "anonymization.clip_uncertainty.source",
            "Where the clip uncertainty comes from",
            "text",
            "One line for the guarantee card: which proxy or public data.",
        ),
        Field(
            "anonymization.suppression.max_relative_noise",
            "Noise against value, at most",
            "number",
            "A released cell whose noise is larger than this share of its value is hidden.",
            default=0.05,
            least=0,
            most=bounds.MAX_RELATIVE_NOISE,
            step="0.01",
        ),
        Field(
            "anonymization.suppression.metrics",
            "Metrics that have to pass",
            "names",
            "all, or names of metrics with commas between them.",
            default="all",
        ),
    ),
)
PUBLISH = Section(
    "publish",
    "What is published",
    "Once per window, and for good.",
    (
        Field(
            "publish.audience",
            "Audience",
            "choice",
            "Public releases can be seen without signing in.",
            _choices(("internal", "Internal"), ("public", "Public")),
            default="internal",
        ),
        Field(
            "publish.columns",
            "Columns",
            "names",
            "Names with commas between them; empty shows all.",
        ),
        Field(
            "post_processing",
            "Afterwards",
            "choice",
            "A named step that reads noised values only.",
            _choices(("", "Nothing"), ("emissions", "Emissions, from distances by activity")),
            default="",
        ),
    ),
)
SECTIONS = (ANONYMIZATION, WINDOW, ABOUT, ELIGIBILITY, SCHEDULE, AGGREGATION, PUBLISH)
FIELDS = {field.path: field for section in SECTIONS for field in section.fields}
