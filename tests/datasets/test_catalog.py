from __future__ import annotations

import re

from kernelweave import datasets
from kernelweave.datasets import available, catalog


def test_lists_what_the_loaders_know(own_folder):
    listings = available()
    assert len({listing.name for listing in listings}) == len(listings)
    assert not any(listing.cached for listing in listings)
    assert not own_folder.exists()
    by_name = {listing.name: listing for listing in listings}
    assert by_name["mfeat"].features == (76, 216, 64, 240, 47, 6)
    assert by_name["reuters"].samples == 12902
    assert all(listing.source for listing in listings)


def test_every_loader_is_listed_and_every_listing_loads():
    offered = {name for name in datasets.__all__ if name.startswith("load_")}
    listed = {re.fullmatch(r"(\w+)\((\"\w+\")?\)", listing.loader)[1] for listing in available()}
    assert listed == offered


def test_cached_follows_the_folder(own_folder, tmp_path):
    own_folder.mkdir()
    (own_folder / "uci_sonar.csv.gz").touch()
    assert [listing.name for listing in available() if listing.cached] == ["sonar"]
    assert not any(listing.cached for listing in available(tmp_path))
    (own_folder / "ida_five_sets_10splits.npz").touch()
    assert sum(listing.cached for listing in available(own_folder)) == 6


def test_facts_are_consistent():
    for entry in catalog.ENTRIES:
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.terms
        if entry.classes:
            assert sum(entry.classes.values()) == entry.samples


def test_checksums_are_those_of_the_files(real_data):
    lines = (real_data / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    known = {name: digest for digest, name in (line.split() for line in lines)}
    assert {entry.file: entry.sha256 for entry in catalog.ENTRIES}.items() <= known.items()
    assert all(listing.cached for listing in available(real_data))
