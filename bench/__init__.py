"""Measurements of Tenure beside floors and peers, taken in the same run: `python -m bench`."""
