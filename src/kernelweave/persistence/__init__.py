"""Fitted models as files that hold data, never code."""

from kernelweave.persistence.files import write_atomically
from kernelweave.persistence.models import load_model, read_metadata, save_model

__all__ = ["load_model", "read_metadata", "save_model", "write_atomically"]
