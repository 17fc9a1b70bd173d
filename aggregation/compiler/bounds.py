"""Every bound of a spec in one place, each with its reason. Code, not configuration: raising one
is a reviewed change of the program."""

from decimal import Decimal
from typing import Final

from aggregation.protocol.anonymization import GRID
from aggregation.protocol.windows import Unit

# ε beyond 8 is no protection worth the name: one device shifts the odds of an outcome 2,981-fold.
MAX_EPSILON: Final = Decimal(8)
# ε is money in the ledger: it is counted in hundredths and never rounded.
EPSILON_STEP: Final = Decimal("0.01")

# Late devices are waited for at most this long; partials live as long, so it stays short.
MAX_GRACE_HOURS: Final = 35 * 24
# At least one wake-up after the window's end fits in.
MIN_GRACE_HOURS: Final = {Unit.HOUR: 1, Unit.DAY: 6, Unit.WEEK: 24, Unit.MONTH: 24}

# Below this many devices a sum waits only in memory. Fewer would put near-raw sums at rest.
MIN_CONTRIBUTIONS: Final = 100
# A session holds its devices' sums in one process; more gain nothing and risk more.
MAX_CONTRIBUTIONS: Final = 1_000_000
MAX_SESSION_MINUTES: Final = 24 * 60

# Rows of one device and window. All updates are padded to it: 1,024 rows of 3 metrics are 28 kB.
MAX_ROWS: Final = 1024

# Sums are int64: the most devices one release can add without a chance to wrap. A quarter of the
# range stays free for noise and merging.
MAX_SUMMED: Final = 2**62
MAX_DEVICES: Final = MAX_SUMMED // GRID

# Every declared cell is summed and noised at each release, whether anyone is in it or not.
MAX_CELLS: Final = 20_000_000
# Cells × metrics: 8 bytes each in the closing job's memory, twice.
MAX_STATISTICS: Final = 60_000_000
MAX_KEYS: Final = 8
MAX_METRICS: Final = 16
# Values of a key made by CASE; they travel inside the client task.
MAX_CHOICES: Final = 1000

MAX_STREAMS: Final = 4
MAX_POPULATIONS: Final = 64
MAX_RUNS_PER_DAY: Final = 4
MAX_SEPARATION_WINDOWS: Final = 366
# Devices installed within fewer days than this are few; eligibility does not tell them apart.
MIN_AGE_SPAN_DAYS: Final = 14
CONDITIONS: Final = ("idle", "unmetered", "charging")
AUDIENCES: Final = ("internal", "public")
POST_PROCESSING: Final = ("emissions",)
MAX_RELATIVE_NOISE: Final = 1.0
# Beyond this the interval of a cell of 10,000 events is wider than its value: no fit gives it.
MAX_RANDOM_CLIP: Final = Decimal(100)
# A sentence on the guarantee card.
MAX_SOURCE: Final = 300

MAX_DESCRIPTION: Final = 2000

# Text that the parser sees at all; SQLite on the device has the same limit.
MAX_SQL_CHARACTERS: Final = 20_000
MAX_TOKENS: Final = 2_000
# Brackets and CASE inside each other. SQLite's own limit on a device is 32 for expressions.
MAX_BRACKETS: Final = 16
MAX_CASE_DEPTH: Final = 8
MAX_PREFIXES: Final = 6
MAX_SELECTS: Final = 32
# Sources of one SELECT; a lookup goes through all of them.
MAX_SOURCES: Final = 8
# Columns of one SELECT, below SQLite's limit on a device.
MAX_COLUMNS: Final = 100
# Nodes of a query once every step is written out where it is read. SQLite does that, so steps
# that read each other twice would double its work with each step.
MAX_EXPANDED: Final = 10_000
# Findings of one rule in one part; more say nothing new.
MAX_FINDINGS: Final = 20
MAX_TREE_DEPTH: Final = 150
MAX_EXPRESSION_DEPTH: Final = 24
# A literal that is compared with or becomes a key's value.
MAX_LITERAL: Final = 64

# Fewer devices than this in a cell drown in the noise at 5 % (see mechanisms: 500–1,250).
DEVICES_PER_CELL: Final = 500
# The largest population known to have run such a task (the paper's, 500 million devices).
LARGEST_POPULATION: Final = 700_000_000
# A filter that keeps less than this share of a column's domain is shown to the reviewer.
RARE_SHARE: Final = 0.02
