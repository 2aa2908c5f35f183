"""Kernels of sequences of symbols: texts, proteins, lists of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.exceptions import import_extra
from kernelweave.kernels.arrays import read_only
from kernelweave.kernels.base import FloatArray, Kernel
from kernelweave.kernels.structured import sequence_loops
from kernelweave.kernels.structured.substitution import DistanceSubstitution

__all__ = ["Alignment", "EditDistance"]

IntArray = npt.NDArray[np.int64]

_MODES = ("local", "global")


class EditDistance(DistanceSubstitution):
    """Similarity of sequences by the number of changes that turn one into the other (Levenshtein).

    Indefinite in general. Not symmetric where insertions and deletions have different weights: the
    distance is that of turning x into z. Needs the package rapidfuzz (extra ``sequences``).

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median of ``D^power`` between distinct training samples (of at
        most 1000 of them, as for `RBF`), of two directions the mean.
    weights : tuple of three int, default=(1, 1, 1)
        What an insertion, a deletion and a substitution cost.
    normalized : bool, default=False
        Divide by the largest distance that sequences of these lengths can have, so that D lies in [0, 1].
    form : {"exponential", "negative"}, default="exponential"
        ``exp(-gamma D^power)`` or ``-gamma D^power``.
    power : float, default=1.0
        Power of the distance.

    References
    ----------
    .. [1] Cortes, Haffner, Mohri, "Rational kernels: theory and algorithms", JMLR 5, 2004 (edit distances that
       give no positive definite kernel).

    Examples
    --------
    >>> from kernelweave.kernels import EditDistance
    >>> EditDistance(form="negative", gamma=1.0)(["kernel", "kennel", "weave"])
    array([[-0., -1., -4.],
           [-1., -0., -4.],
           [-4., -4., -0.]])
    """

    vector_input = False

    def __init__(
        self,
        gamma: float | str = "median",
        *,
        weights: tuple[int, int, int] = (1, 1, 1),
        normalized: bool = False,
        form: str = "exponential",
        power: float = 1.0,
    ) -> None:
        self.gamma = gamma
        self.weights = weights
        self.normalized = normalized
        self.form = form
        self.power = power

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether insertions and deletions cost the same."""
        return bool(self.weights[0] == self.weights[1])

    @property
    def distance(self) -> str:  # type: ignore[override]
        """The distance with its settings."""
        return f"edit distance({tuple(self.weights)}, {bool(self.normalized)})"

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """Costs of turning each x into each z, shape (n_x, n_y)."""
        weights = tuple(self.weights)
        if len(weights) != 3 or not all(isinstance(w, int | np.integer) and w >= 0 for w in weights):
            raise ValueError(f"weights must be three whole numbers of at least 0, got {self.weights!r}")
        process = import_extra("rapidfuzz.process", "sequences", "The edit distance")
        levenshtein = import_extra("rapidfuzz.distance.Levenshtein", "sequences", "The edit distance")
        left = _sequences(X)
        right = left if Y is None or Y is X else _sequences(Y)
        return process.cdist(
            left,
            right,
            scorer=levenshtein.normalized_distance if self.normalized else levenshtein.distance,
            scorer_kwargs={"weights": tuple(int(w) for w in weights)},
            dtype=np.float64,
        )


class Alignment(Kernel):
    """Score of the best alignment of two sequences: Smith-Waterman (parts) or Needleman-Wunsch (whole).

    An alignment puts symbols under each other and leaves gaps; it scores what its pairs of symbols score, less
    what its gaps cost. The best score is symmetric, unless the table of scores is not, and indefinite. It grows with
    the lengths, so normalisation (the default of the estimators) matters.

    Parameters
    ----------
    mode : {"local", "global"}, default="local"
        Align the parts that fit best (no score is negative), or the whole sequences.
    match, mismatch : float, default=2.0, -1.0
        Scores of equal and of different symbols, where there is no ``matrix``.
    matrix : str or array-like of shape (n_symbols, n_symbols), optional
        Scores of pairs of symbols, rows for x: a table, or the name of a substitution matrix of Biopython
        such as "BLOSUM62" (extra ``sequences``).
    alphabet : sequence of n_symbols symbols, optional
        The symbols of a table, in order.
    gap_open, gap_extend : float, default=3.0, 1.0
        What the first and each further symbol of a gap costs.

    References
    ----------
    .. [1] Gotoh, "An improved algorithm for matching biological sequences", Journal of Molecular Biology 162, 1982.
    .. [2] Saigo, Vert, Ueda, Akutsu, "Protein homology detection using string alignment kernels", Bioinformatics
       20, 2004 (why the best score is no positive definite kernel).

    Examples
    --------
    >>> from kernelweave.kernels import Alignment
    >>> Alignment()(["gattaca", "attac", "gcc"])
    array([[14., 10.,  2.],
           [10., 10.,  2.],
           [ 2.,  2.,  6.]])
    """

    positive_semidefinite = False
    vector_input = False

    def __init__(
        self,
        mode: str = "local",
        *,
        match: float = 2.0,
        mismatch: float = -1.0,
        matrix: Any = None,
        alphabet: Sequence[Any] | None = None,
        gap_open: float = 3.0,
        gap_extend: float = 1.0,
    ) -> None:
        self.mode = mode
        self.match = match
        self.mismatch = mismatch
        self.matrix = matrix
        self.alphabet = alphabet
        self.gap_open = gap_open
        self.gap_extend = gap_extend

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether the table of scores is."""
        table = None if self.matrix is None or isinstance(self.matrix, str) else np.asarray(self.matrix)
        return table is None or (table.ndim == 2 and np.array_equal(table, table.T))

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Best scores of each x with each z."""
        table, numbers = self._scores()
        same = Y is None or Y is X
        left = _encoded(X, numbers, grow=not table.size)
        right = left if same else _encoded(Y, numbers, grow=not table.size)
        return self._aligned(left, right, table, same and self.symmetric)

    def diag(self, X: Any) -> FloatArray:
        """Best scores of each sequence with itself."""
        table, numbers = self._scores()
        codes, starts = _encoded(X, numbers, grow=not table.size)
        alone = ((codes, starts[i : i + 2]) for i in range(len(starts) - 1))
        return np.array([self._aligned(one, one, table, False)[0, 0] for one in alone], dtype=np.float64)

    def _aligned(
        self, left: tuple[IntArray, IntArray], right: tuple[IntArray, IntArray], table: FloatArray, symmetric: bool
    ) -> FloatArray:
        if self.mode not in _MODES:
            raise ValueError(f"mode must be one of {_MODES}, got {self.mode!r}")
        out = np.empty((len(left[1]) - 1, len(right[1]) - 1))
        scores = (float(self.match), float(self.mismatch), float(self.gap_open), float(self.gap_extend))
        sequence_loops.align(*left, *right, table, *scores, self.mode == "local", symmetric, out)
        return out

    def _scores(self) -> tuple[FloatArray, dict[Any, int]]:
        """The table (empty without one) and the numbers of its symbols."""
        if self.matrix is None:
            return read_only(np.zeros((0, 0))), {}
        if isinstance(self.matrix, str):
            matrices = import_extra("Bio.Align.substitution_matrices", "sequences", "A named substitution matrix")
            if self.matrix not in matrices.load():
                raise ValueError(f"there is no substitution matrix {self.matrix!r}; {', '.join(matrices.load())}")
            loaded = matrices.load(self.matrix)
            table, alphabet = np.array(loaded, dtype=np.float64), list(loaded.alphabet)
        else:
            table = np.array(self.matrix, dtype=np.float64)
            alphabet = list(self.alphabet) if self.alphabet is not None else []
        if table.shape != (len(alphabet), len(alphabet)) or len(set(alphabet)) != len(alphabet):
            raise ValueError(
                f"matrix must have a row and a column for each symbol of alphabet, but it has shape {table.shape} "
                f"for {len(set(alphabet))} distinct symbols"
            )
        return read_only(table), {symbol: i for i, symbol in enumerate(alphabet)}


def _sequences(X: Any) -> list[Any]:
    if isinstance(X, np.ndarray):
        if X.ndim != 1:
            raise ValueError(
                f"a kernel of sequences takes one column of them, got shape {X.shape}; "
                "name its column in the list of kernels"
            )
        return X.tolist()
    return list(X)


def _encoded(X: Any, numbers: dict[Any, int], *, grow: bool) -> tuple[IntArray, IntArray]:
    """Symbols as numbers, all sequences one after another, and where each begins."""
    sequences = _sequences(X)
    codes = []
    for i, sequence in enumerate(sequences):
        for symbol in sequence:
            if symbol not in numbers:
                if not grow:
                    raise ValueError(f"symbol {symbol!r} of sequence {i} is not in the table of scores")
                numbers[symbol] = len(numbers)
            codes.append(numbers[symbol])
    starts = np.concatenate([[0], np.cumsum([len(sequence) for sequence in sequences])])
    return read_only(np.array(codes, dtype=np.int64)), read_only(starts.astype(np.int64))
