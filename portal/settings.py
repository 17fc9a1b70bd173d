"""All settings, read top to bottom. Every MAYFLY_* knob is described at /docs/settings.

Two profiles: `demo` needs nothing but pip (SQLite, an embedded Valkey, demo people); `production`
takes its parts by address and its secrets from the environment, and refuses to start without.
"""

import hashlib
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from aggregation.errors import Problem
from portal import environment as env
from portal.schedule import schedule

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

# Profile, data folder, keys

PROFILE = env.choice("MAYFLY_PROFILE", "demo", ("demo", "production"))
DEMO = PROFILE == "demo"
DEBUG = False
DATA = env.folder("MAYFLY_DATA", str(BASE_DIR / ".mayfly"), shown=".mayfly")
KEYS_DIR = env.folder("MAYFLY_KEYS_DIR", str(DATA / "keys"), shown="keys in the data folder")
RELEASES_DIR = env.folder_if_named("MAYFLY_RELEASES_DIR", shown="releases in the data folder")


def _secret_key() -> str:
    """The one that is set; in the demo, one made on the first start and kept with the keys."""
    given = env.text("MAYFLY_SECRET_KEY")
    if given or not DEMO:
        env.required_in_production("MAYFLY_SECRET_KEY", given, "50 or more random characters")
        if len(given) < 50:
            raise Problem("MAYFLY_SECRET_KEY is too short.", hint="Give 50 or more characters.")
        return given
    path = KEYS_DIR / "secret-key"
    if not path.exists():
        fresh = path.with_name(f"secret-key.{os.getpid()}.new")
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
        try:
            os.link(fresh, path)  # the first of several processes wins
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text()


SECRET_KEY = _secret_key()

# Addresses

PORT = env.whole("MAYFLY_PORT", 8000, 1, 65_535)
BIND = env.text("MAYFLY_BIND", "127.0.0.1")
PUBLIC_URL = env.origin(
    "MAYFLY_PUBLIC_URL",
    f"http://127.0.0.1:{PORT}" if DEMO else "",
    shown="http://127.0.0.1:8000 in the demo",
)
ALLOWED_HOSTS = env.hosts("MAYFLY_HOSTS", "127.0.0.1,localhost,[::1]" if DEMO else "")
if not DEMO:
    env.required_in_production("MAYFLY_HOSTS", ",".join(ALLOWED_HOSTS), "the names people type")
    env.required_in_production("MAYFLY_PUBLIC_URL", PUBLIC_URL, "where people reach the portal")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
ROOT_URLCONF = "portal.urls"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

# Apps

INSTALLED_APPS = [
    "portal",
    "portal.pages",
    "portal.lab",
    "portal.releases",
    "portal.collection",
    "portal.tasks",
    "portal.ledger",
    "portal.streams",
    "portal.notifications",
    "portal.accounts",
    "portal.audit",
    "devices_sim",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "rest_framework",
    "drf_spectacular",
]
MIDDLEWARE = [
    "portal.observing.observed",
    # Around all that answers: browsers are told the same with files and refusals.
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "portal.parsing.only_text",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "portal.accounts.middleware.KeptPrivate",
    "portal.accounts.middleware.OwnPasswordFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "portal.pages.errors.WhenAKeyIsGone",
    "portal.pages.errors.WhenAMethodIsNotTaken",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "portal.pages.context.frame",
            ],
            "builtins": ["django.templatetags.static", "portal.pages.templatetags.mayfly"],
        },
    }
]

# Database

DATABASE_URL = env.url(
    "MAYFLY_DATABASE_URL", "", ("postgresql",), shown="SQLite in the data folder"
)
if not DEMO:
    env.required_in_production("MAYFLY_DATABASE_URL", DATABASE_URL, "a postgresql:// address")
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.database(DATABASE_URL)
    if DATABASE_URL
    else {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA / "mayfly.sqlite3",
        "OPTIONS": {
            "timeout": 20,
            # A transaction that reads first and writes later would fail when another one wrote.
            "transaction_mode": "IMMEDIATE",
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA recursive_triggers=ON;"
            ),
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

# Broker and queues: an embedded Valkey on a unix socket, or servers by address


def _run_dir() -> Path:
    """A short path for sockets: unix allows about 100 bytes, and data folders may be deep."""
    name = f"mayfly-{os.getuid()}-{hashlib.sha256(str(DATA).encode()).hexdigest()[:8]}"
    return Path("/tmp") / name  # noqa: S108 - the supervisor checks owner and mode


RUN_DIR = _run_dir()
VALKEY_SOCKET = RUN_DIR / "valkey.sock"
_embedded = f"unix://{VALKEY_SOCKET}"
BROKER_URL = env.store("MAYFLY_BROKER_URL", _embedded if DEMO else "")
QUEUE_URL = env.store("MAYFLY_QUEUE_URL", _embedded if DEMO else "")
EMBEDDED_VALKEY = _embedded in (BROKER_URL, QUEUE_URL)
if not DEMO:
    env.required_in_production("MAYFLY_BROKER_URL", BROKER_URL, "a redis:// address")
    env.required_in_production("MAYFLY_QUEUE_URL", QUEUE_URL, "a second, memory-only redis://")

CELERY_BROKER_URL = BROKER_URL.replace("unix://", "redis+socket://")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# A Valkey that is started again is there within seconds: messages wait for it.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 10, "interval_step": 0.2, "interval_max": 1}
# Longer than the longest session: a job that runs past it would be delivered a second time.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7 * 86_400, "socket_keepalive": True}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "jobs"
CELERY_TASK_ROUTES = {"collection.run_session": {"queue": "sessions"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_DISABLE_PREFETCH = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
SESSION_SLOTS = env.whole("MAYFLY_SESSION_SLOTS", 16, 1, 512)
# Children that open updates for a worker's sessions, where one core is not enough.
OPENERS = env.whole("MAYFLY_OPENERS", 0, 0, 64)
# A session that gave no sign of life for so long is dead, and another takes its place.
SESSION_LAPSE_SECONDS = env.seconds("MAYFLY_SESSION_LAPSE_SECONDS", 15, 1)
# A worker that stops waits so long for others to take its sessions over.
DRAIN_SECONDS = env.seconds(
    "MAYFLY_DRAIN_SECONDS", 2 if DEMO else 30, 0.1, shown="2 in the demo, else 30"
)
HEARTBEAT_SECONDS = env.seconds("MAYFLY_HEARTBEAT_SECONDS", 2, 0.1)
CELERY_BEAT_SCHEDULE = schedule(beat=HEARTBEAT_SECONDS)

# The device API: how often open tasks are read, and how much it takes in before it says "later"

SNAPSHOT_SECONDS = env.seconds("MAYFLY_SNAPSHOT_SECONDS", 1, 0.05)
QUEUE_LENGTH = env.whole("MAYFLY_QUEUE_LENGTH", 20_000, 1, 10_000_000)
UPLOAD_ROOM_MB = env.whole("MAYFLY_UPLOAD_ROOM_MB", 128, 1, 65_536)

CACHES = {
    "default": {
        "BACKEND": "portal.throttles.ForgivingCache",
        "LOCATION": QUEUE_URL,
        "KEY_PREFIX": "mayfly:cache",
    }
}

# The phones of a made-up world, which only a demo has; "none" leaves the demo without any

SCENARIO = env.text(
    "MAYFLY_SCENARIO", "demo" if DEMO else "none", shown="demo in the demo, else none"
)
if not DEMO and SCENARIO != "none":
    raise Problem(
        f"MAYFLY_SCENARIO is {SCENARIO!r}, and made-up phones are for the demo alone.",
        hint="Leave it out of the production profile.",
    )

# Civil time: the machine's, or a simulated one kept in the data folder

CLOCK = env.choice(
    "MAYFLY_CLOCK",
    "system" if SCENARIO == "none" else "simulated",
    ("system", "simulated"),
    shown="simulated with a scenario, else system",
)
CLOCK_FILE = DATA / "clock.json"

# What all tasks of a stream may cost a device in a civil week: ε in hundredths

WEEKLY_EPSILON = env.hundredths("MAYFLY_WEEKLY_EPSILON", "4", 16)

# Exports on their way at once, in one front end

EXPORTS_AT_ONCE = env.whole("MAYFLY_EXPORTS_AT_ONCE", 16, 1, 1000)

# Whether releases whose tasks say so are there for everyone, without signing in

PUBLIC_RELEASES = (
    env.choice(
        "MAYFLY_PUBLIC_RELEASES",
        "on" if DEMO else "off",
        ("on", "off"),
        shown="on in the demo, else off",
    )
    == "on"
)

# People

AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = ["portal.accounts.backends.ThrottledBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTH_PASSWORD_VALIDATORS[0]["OPTIONS"] = {  # type: ignore[assignment]
    "user_attributes": ("username", "full_name", "email")
}
AUTH_PASSWORD_VALIDATORS[1]["OPTIONS"] = {"min_length": 12}  # type: ignore[assignment]
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "portal.pages.errors.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Transport and content security

SECURE_SSL_REDIRECT = not DEMO
SESSION_COOKIE_SECURE = not DEMO
CSRF_COOKIE_SECURE = not DEMO
# With this before their names, browsers take them from this host alone, and over HTTPS.
_PREFIX = "" if DEMO else "__Host-"
SESSION_COOKIE_NAME = f"{_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{_PREFIX}csrftoken"
SECURE_HSTS_SECONDS = 0 if DEMO else 365 * 86_400
SECURE_HSTS_INCLUDE_SUBDOMAINS = not DEMO
SECURE_HSTS_PRELOAD = not DEMO
SECURE_REDIRECT_EXEMPT = [r"^health$", r"^ready$"]
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
PROXIES = env.networks("MAYFLY_PROXIES")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000

# Static files come from static/ and, file by file, out of installed packages

STATIC_URL = "static/"
STATIC_ROOT = DATA / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "portal.pages.finders.PackageFinder",
]
PACKAGE_STATIC = {"vendor/htmx.min.js": ("django_htmx", "static/django_htmx/htmx-2.min.js")}
_ace = "static/django_ace/ace"
for _name in ("ace", "ext-language_tools", "ext-searchbox", "mode-sql", "mode-yaml"):
    PACKAGE_STATIC[f"vendor/ace/{_name}.js"] = ("django_ace", f"{_ace}/{_name}.js")
# Its styles as a file, with the pictures they name: they would be injected otherwise.
PACKAGE_STATIC["vendor/ace/ace.css"] = ("django_ace", f"{_ace}/css/ace.css")
for _number in range(1, 27):
    _name = f"main-{_number}.{'svg' if _number in (*range(5, 13), 25) else 'png'}"
    PACKAGE_STATIC[f"vendor/ace/{_name}"] = ("django_ace", f"{_ace}/css/{_name}")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# The analysts' API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "portal.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["portal.access.SignedIn"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["portal.parsing.JsonParser"],
    "DEFAULT_PAGINATION_CLASS": "portal.api.Pages",
    "DEFAULT_THROTTLE_CLASSES": ["portal.throttles.PersonThrottle"],
    "DEFAULT_THROTTLE_RATES": {"person": "600/min", "anonymous": "60/min"},
    "DEFAULT_SCHEMA_CLASS": "portal.openapi.Schema",
    "EXCEPTION_HANDLER": "portal.api.error_response",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Mayfly",
    "DESCRIPTION": "Everything a person can do in the portal, for programs. Approving is not here.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "TaskState": "portal.tasks.models.Task.State",
        "RevisionState": "portal.tasks.models.Revision.State",
        "WindowState": "portal.tasks.models.TaskWindow.State",
        "TokenState": "portal.accounts.models.ApiToken.State",
        "StudyState": "portal.lab.models.Study.State",
    },
}

# Messages to people

EMAIL_URL = env.url(
    "MAYFLY_EMAIL_URL", "", ("smtp", "smtps"), shown="a page in the demo, off in production"
)
if EMAIL_URL:
    _email = urlsplit(EMAIL_URL)
    EMAIL_HOST_USER = unquote(_email.username or "")
    EMAIL_HOST_PASSWORD = unquote(_email.password or "")
    EMAIL_USE_SSL = _email.scheme == "smtps"
    # A password never travels in clear: STARTTLS, or no sending.
    EMAIL_USE_TLS = _email.scheme == "smtp" and bool(EMAIL_HOST_USER)
    EMAIL_HOST = _email.hostname or "localhost"
    EMAIL_PORT = _email.port or (465 if EMAIL_USE_SSL else 587 if EMAIL_USE_TLS else 25)
    EMAIL_TIMEOUT = 10
else:
    EMAIL_BACKEND = (
        "portal.notifications.outbox.OutboxBackend"
        if DEMO
        else "django.core.mail.backends.dummy.EmailBackend"
    )
DEFAULT_FROM_EMAIL = env.text("MAYFLY_EMAIL_FROM", "mayfly@localhost")
WEBHOOK_URL = env.url("MAYFLY_WEBHOOK_URL", "", ("http", "https"), shown="off")
WEBHOOK_SECRET = env.text("MAYFLY_WEBHOOK_SECRET")
if WEBHOOK_URL and len(WEBHOOK_SECRET) < 32:
    raise Problem(
        "MAYFLY_WEBHOOK_URL is set, but MAYFLY_WEBHOOK_SECRET has fewer than 32 characters.",
        hint="The receiver checks each call's signature with it.",
    )

# Logs carry ids and counts, never bodies

LOG_FORMAT = env.choice("MAYFLY_LOG_FORMAT", "text", ("text", "json"))
LOG_LEVEL = env.choice("MAYFLY_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {
            "()": "portal.logs.LineFormatter",
            "format": "%(levelname)s %(name)s: %(message)s",
        },
        "json": {"()": "portal.logs.JsonFormatter"},
    },
    "filters": {
        "mistakes": {"()": "portal.log_refusals.OnlyOurMistakes"},
        "refusals": {"()": "portal.log_refusals.WithoutHeaders"},
    },
    "handlers": {"line": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["line"], "level": LOG_LEVEL},
    "loggers": {
        "django.request": {"filters": ["mistakes"]},
        "django.security.csrf": {"filters": ["refusals"]},
        "django.security.DisallowedHost": {"filters": ["refusals"]},
        # It has put a handler of its own in place by now.
        "uvicorn": {"handlers": [], "propagate": True, "level": "WARNING"},
        "uvicorn.access": {"handlers": [], "propagate": False},
        "celery": {"level": "WARNING"},
        # The heartbeat says "received" and "succeeded" many times a minute.
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}

env.refuse_unknown()
