"""Public data sets, and artificial ones whose right answer is known.

Loaders look for a file in the data folder and, where there is a public source they can read, fetch
it into that folder first; no data come with the package.
"""

from __future__ import annotations

from kernelweave.datasets.catalog import Listing, available
from kernelweave.datasets.counts import load_corel, load_faces, load_webkb
from kernelweave.datasets.generators import make_monotone, make_twonorm, make_weighted_views
from kernelweave.datasets.genes import load_colon, load_leukemia
from kernelweave.datasets.ida import load_ida, load_titanic
from kernelweave.datasets.reuters import load_reuters
from kernelweave.datasets.similarities import load_aural_sonar
from kernelweave.datasets.storage import data_folder
from kernelweave.datasets.structured import load_gunpoint, load_promoters, load_votes
from kernelweave.datasets.uci import load_breast_cancer_wisconsin, load_heart, load_ionosphere, load_sonar
from kernelweave.datasets.views import (
    load_mfeat,
    load_prokaryotic,
    load_protein_fold,
    load_tcga_breast,
    load_three_sources,
)

__all__ = [
    "Listing",
    "available",
    "data_folder",
    "load_aural_sonar",
    "load_breast_cancer_wisconsin",
    "load_colon",
    "load_corel",
    "load_faces",
    "load_gunpoint",
    "load_heart",
    "load_ida",
    "load_ionosphere",
    "load_leukemia",
    "load_mfeat",
    "load_prokaryotic",
    "load_promoters",
    "load_protein_fold",
    "load_reuters",
    "load_sonar",
    "load_tcga_breast",
    "load_three_sources",
    "load_titanic",
    "load_votes",
    "load_webkb",
    "make_monotone",
    "make_twonorm",
    "make_weighted_views",
]
