"""The version of debrief that this package belongs to; tests hold it to the one of the build."""
__version__ = "0.1.0"
