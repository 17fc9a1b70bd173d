"""`manage.py up`: all processes of an embedded Mayfly under one small supervisor."""
