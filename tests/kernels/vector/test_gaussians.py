import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from kernelweave.kernels import GaussianJensenShannon, GaussianKullbackLeibler, gaussian_rows

RNG = np.random.default_rng(0)
BAGS = [RNG.normal(size=(8, 3)) @ RNG.normal(size=(3, 3)) + RNG.normal(size=3) for _ in range(9)]


def test_kullback_leibler_of_one_dimension_is_the_integral():
    (m, s), (u, t) = (0.3, 0.8), (-0.5, 1.7)
    expected = quad(lambda x: norm.pdf(x, m, s) * (norm.logpdf(x, m, s) - norm.logpdf(x, u, t)), -20, 20)[0]
    distances = GaussianKullbackLeibler().distances([[m, s**2]], [[u, t**2]])
    assert distances[0, 0] == pytest.approx(expected, rel=1e-8)


def test_jensen_shannon_bounds_the_integral_from_above():
    (m, s), (u, t) = (0.3, 0.8), (-0.5, 1.7)

    def entropy_of_mixture(x):
        density = 0.5 * (norm.pdf(x, m, s) + norm.pdf(x, u, t))
        return -density * np.log(density)

    true = quad(entropy_of_mixture, -15, 15)[0] - 0.5 * (norm(m, s).entropy() + norm(u, t).entropy())
    distances = GaussianJensenShannon().distances([[m, s**2]], [[u, t**2]])
    assert true < distances[0, 0] < 1.5 * true


def by_definition(name, p, q):
    (m, S), (u, T) = p, q
    logdet = [np.linalg.slogdet(matrix)[1] for matrix in (S, T)]
    if name == "kullback_leibler":
        inverse = np.linalg.inv(T)
        return 0.5 * (np.trace(inverse @ S) + (u - m) @ inverse @ (u - m) - len(m) + logdet[1] - logdet[0])
    joint = 0.5 * (S + T) + 0.25 * np.outer(m - u, m - u)
    return 0.5 * np.linalg.slogdet(joint)[1] - 0.25 * sum(logdet)


@pytest.mark.parametrize(
    ("name", "kind"), [("kullback_leibler", GaussianKullbackLeibler), ("jensen_shannon", GaussianJensenShannon)]
)
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_divergences_by_their_definition(name, kind, covariance):
    rows = gaussian_rows(BAGS, covariance=covariance)
    spread = [np.diag(row[3:]) if covariance == "diagonal" else row[3:].reshape(3, 3) for row in rows]
    gaussians = list(zip(rows[:, :3], spread, strict=True))
    expected = [[by_definition(name, p, q) for q in gaussians[5:]] for p in gaussians]
    distances = kind(covariance=covariance).distances(rows, rows[5:])
    np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-12)


def test_jensen_shannon_is_definite_for_some_widths_only():
    # In two dimensions gamma = 1 and above are definite, what lies between 0 and 1 is not.
    rng = np.random.default_rng(0)
    rows = np.array([[*3 * rng.normal(size=2), *np.exp(4 * rng.normal(size=2))] for _ in range(100)])
    smallest = {g: np.linalg.eigvalsh(GaussianJensenShannon(gamma=g)(rows))[0] for g in (0.1, 1.0, 1.3)}
    assert smallest[0.1] < -0.1
    assert smallest[1.0] > -1e-12
    assert smallest[1.3] > -1e-12


def test_gaussian_rows_fit_each_bag():
    rows = gaussian_rows(BAGS, covariance="full", shrinkage=0.0)
    np.testing.assert_allclose(rows[2, :3], BAGS[2].mean(axis=0))
    np.testing.assert_allclose(rows[2, 3:].reshape(3, 3), np.cov(BAGS[2].T, bias=True))
    shrunk = gaussian_rows([BAGS[0][:2]], covariance="full")[0, 3:].reshape(3, 3)
    assert np.linalg.eigvalsh(shrunk)[0] > 0
    assert np.trace(shrunk) == pytest.approx(np.trace(np.cov(BAGS[0][:2].T, bias=True)))


@pytest.mark.parametrize(
    ("rows", "covariance", "message"),
    [
        ([[0.0, 1.0, 2.0]], "diagonal", "d means and d variances, but it has 3"),
        ([[0.0, 1.0, 2.0]], "full", "d x d covariances, but it has 3"),
        ([[0.0, 1.0], [0.0, 0.0]], "diagonal", "variance 0 of sample 1 is 0"),
        ([[0.0, -1.0]], "full", "covariance of sample 0 is not positive definite"),
        ([[0.0, 0.0, 1.0, 0.5, 0.4, 1.0]], "full", "covariance of sample 0 is not symmetric"),
        ([[0.0, 1.0]], "round", "covariance must be one of"),
    ],
)
def test_bad_gaussians(rows, covariance, message):
    with pytest.raises(ValueError, match=message):
        GaussianKullbackLeibler(1.0, covariance=covariance)(rows)


@pytest.mark.parametrize(
    ("bags", "settings", "message"),
    [
        ([[[1.0, 2.0]]], {}, "bag 0 has no spread"),
        ([[[1.0, 2.0], [0.0, 1.0]], [[1.0]]], {}, r"bag 1 has shape \(1, 1\)"),
        ([[1.0, 2.0]], {}, r"bag 0 has shape \(2,\)"),
        ([], {"covariance": "round"}, "covariance must be one of"),
        ([], {"shrinkage": 2.0}, "shrinkage must lie between 0 and 1"),
    ],
)
def test_bad_bags(bags, settings, message):
    with pytest.raises(ValueError, match=message):
        gaussian_rows(bags, **settings)
