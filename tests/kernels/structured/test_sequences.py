import sys

import numpy as np
import pytest

from kernelweave.exceptions import MissingExtraError
from kernelweave.kernels import Alignment, EditDistance

RNG = np.random.default_rng(0)
DNA = ["".join(RNG.choice(list("acgt"), size=RNG.integers(5, 30))) for _ in range(12)]
PROTEINS = ["".join(RNG.choice(list("ARNDCQEGHILKMFPSTWYV"), size=RNG.integers(5, 30))) for _ in range(8)]


@pytest.mark.parametrize("mode", ["local", "global"])
@pytest.mark.parametrize("gaps", [(3.0, 1.0), (2.5, 0.25), (1.0, 1.0)])
def test_scores_are_those_of_biopython(mode, gaps):
    align = pytest.importorskip("Bio.Align")
    theirs = align.PairwiseAligner(
        mode=mode, match_score=2, mismatch_score=-1, open_gap_score=-gaps[0], extend_gap_score=-gaps[1]
    )
    expected = [[theirs.score(a, b) for b in DNA] for a in DNA]
    np.testing.assert_allclose(Alignment(mode, gap_open=gaps[0], gap_extend=gaps[1])(DNA), expected, atol=1e-9)


def test_a_named_matrix():
    align = pytest.importorskip("Bio.Align")
    matrix = pytest.importorskip("Bio.Align.substitution_matrices").load("BLOSUM62")
    theirs = align.PairwiseAligner(mode="local", substitution_matrix=matrix, open_gap_score=-11, extend_gap_score=-1)
    kernel = Alignment(matrix="BLOSUM62", gap_open=11.0)
    np.testing.assert_allclose(kernel(PROTEINS), [[theirs.score(a, b) for b in PROTEINS] for a in PROTEINS])
    assert kernel.symmetric
    with pytest.raises(ValueError, match="there is no substitution matrix 'BLOSUM1'"):
        Alignment(matrix="BLOSUM1")(PROTEINS)
    with pytest.raises(ValueError, match="symbol 'j' of sequence 1 is not in the table"):
        kernel(["ARN", "Aj"])


def test_a_table_need_not_be_symmetric():
    kernel = Alignment(matrix=[[2.0, 1.0], [-1.0, 2.0]], alphabet="xz")
    assert not kernel.symmetric
    np.testing.assert_array_equal(kernel(["xx", "zz"]), [[4.0, 2.0], [0.0, 4.0]])


def test_alignments_of_tokens():
    np.testing.assert_array_equal(Alignment()([["the", "cat"], ["a", "cat"]]), [[4.0, 2.0], [2.0, 4.0]])


def test_alignment_scores_are_really_indefinite():
    K = Alignment()(["ab", "ba", "a", "b", "aab", "abb", "bb", "aa", "abab", "baba"])
    roots = np.sqrt(np.diagonal(K))
    assert np.linalg.eigvalsh(K / roots / roots[:, None])[0] < -0.1


def test_empty_sequences():
    np.testing.assert_array_equal(Alignment()(["", "a"]), [[0.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(Alignment("global")(["", "aab"]), [[0.0, -5.0], [-5.0, 6.0]])


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (Alignment("middle"), ["a"], "mode must be one of"),
        (Alignment(matrix=[[1.0]], alphabet="ab"), ["a"], "a row and a column for each symbol"),
        (Alignment(matrix=[[1.0]]), ["a"], "a row and a column for each symbol"),
        (Alignment(), np.array([["a", "b"]]), "takes one column of them"),
        (EditDistance(1.0, weights=(1, 1)), ["a"], "weights must be three"),
        (EditDistance(1.0, weights=(1, 1, 0.5)), ["a"], "weights must be three"),
    ],
)
def test_bad_input(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def edit_twin(x, z, insertion, deletion, substitution):
    table = np.zeros((len(x) + 1, len(z) + 1))
    table[:, 0], table[0] = deletion * np.arange(len(x) + 1), insertion * np.arange(len(z) + 1)
    for i, a in enumerate(x, 1):
        for j, b in enumerate(z, 1):
            changed = table[i - 1, j - 1] + (0 if a == b else substitution)
            table[i, j] = min(changed, table[i - 1, j] + deletion, table[i, j - 1] + insertion)
    return table[-1, -1]


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 1, 2), (2, 1, 1), (1, 3, 2)])
def test_edit_distances_by_their_recursion(weights):
    pytest.importorskip("rapidfuzz")
    kernel = EditDistance(weights=weights)
    expected = [[edit_twin(a, b, *weights) for b in DNA] for a in DNA]
    np.testing.assert_array_equal(kernel.distances(DNA), expected)
    assert kernel.symmetric == np.array_equal(expected, np.transpose(expected))


def test_normalised_edit_distances():
    pytest.importorskip("rapidfuzz")
    np.testing.assert_allclose(EditDistance(normalized=True).distances(["ab", "abcd", "xy"])[0], [0.0, 0.5, 1.0])


def test_edit_distances_are_really_indefinite():
    pytest.importorskip("rapidfuzz")
    words = ["".join(letters) for letters in np.array(np.meshgrid(*[list("ab")] * 5)).reshape(5, -1).T]
    assert np.linalg.eigvalsh(EditDistance(gamma=0.2)(words))[0] < -1e-3


@pytest.mark.parametrize(
    ("module", "kernel"),
    [("rapidfuzz.process", EditDistance(1.0)), ("Bio.Align.substitution_matrices", Alignment(matrix="BLOSUM62"))],
)
def test_a_missing_package_names_the_extra(monkeypatch, module, kernel):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, module.split(".")[0], None)
    with pytest.raises(MissingExtraError, match=r"kernelweave\[sequences\]"):
        kernel(["a", "b"])
