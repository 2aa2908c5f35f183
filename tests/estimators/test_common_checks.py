"""scikit-learn's common checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelweave import (
    KernelAligner,
    MixedNormClassifier,
    MixedNormClassifierCV,
    MixedNormRegressor,
    MKLClassifier,
    MonotoneClassifier,
    MonotoneRegressor,
    MonotoneTransformer,
)
from kernelweave.kernels import RBF, Linear

FIXED = [("rbf", RBF(gamma=0.5)), ("linear", Linear())]

# The default widths follow the distribution of the rows, which repeating rows changes; and a gap of
# 1e-3 does not fix decision values to the 1e-7 of the check. The fixed kernels at 1e-12 pass, and fixed ramps at
# 1e-10 (on them rounding alone is worth 1e-11).
_WIDTHS = "default widths depend on the distribution of rows, and tol=1e-3 does not fix decisions to 1e-7"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": _WIDTHS,
    "check_sample_weight_equivalence_on_sparse_data": _WIDTHS,
}
# The end of a search among transforms, accepted at a relative decrease of 1e-5, does not either.
_SEARCH = "a local search does not fix decisions to 1e-7"


def expected_failures(estimator):
    if getattr(estimator, "method", None) == "alternating":
        return dict.fromkeys(EXPECTED, _SEARCH)
    return EXPECTED if estimator.tol > 1e-8 else {}


# Without normalisation a quadratic kernel on the checks' unscaled features reaches 1e8 beside kernels of at
# most one, where double precision does not certify a gap of 1e-4; the warning then says to normalise.
@pytest.mark.filterwarnings("ignore:Mixed norm at alpha=1:sklearn.exceptions.ConvergenceWarning")
# The checks on sparse data have rows of zeros, which a cosine-normalised linear kernel warns about.
@pytest.mark.filterwarnings(r"ignore:Kernel '.*' has k\(x, x\) = 0:UserWarning")
@parametrize_with_checks(
    [
        MKLClassifier(),
        MKLClassifier(FIXED, tol=1e-12),
        MKLClassifier(FIXED, tol=1e-12, margin="l2"),
        MKLClassifier(FIXED, tol=1e-12, margin="l2", C="auto", multiclass="per_class"),
        MKLClassifier(weights="psd"),
        MKLClassifier(FIXED, tol=1e-9, margin="l2", weights="psd"),
        MixedNormClassifier(),
        MixedNormClassifierCV(FIXED, normalize="frobenius", alphas=[5.0, 1.0], cv=2),
        MixedNormRegressor(FIXED, tol=1e-9, penalty="l2"),
        KernelAligner(),
        KernelAligner(FIXED, weights="psd", centered=False),
        MonotoneClassifier(),
        MonotoneClassifier(tol=1e-10),
        MonotoneRegressor(tol=1e-12),
        MonotoneTransformer(share="feature"),
        MonotoneClassifier("alternating", n_knots=3, start="linear", tol=0.5),
    ],
    expected_failed_checks=expected_failures,
)
def test_common_check(estimator, check):
    check(estimator)
