"""The course as data: chapters, sections, exercises, predictions, pages.

The only code that reads the notebooks. Tools, the site, experiments,
benchmarks and tests import it; it imports none of them.
"""
