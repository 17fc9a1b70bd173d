"""Whether a calibration still fits what is released."""
