"""The values printed in [L04], Tables 1 to 4."""

from __future__ import annotations

from kernelweave.experiments.experiment import Key

__all__ = ["COLUMNS", "WIDTHS", "criterion_values", "weight_values", "width_values"]

# The three kernels alone, weights of any sign, nonnegative weights, the best Gaussian kernel.
COLUMNS = ("K1", "K2", "K3", "psd", "nonnegative", "c/v RBF")

# The widths sigma of Table 4.
WIDTHS = (0.01, 0.1, 1.0, 10.0, 100.0)

_CRITERIA = """
heart HM gamma       0.0369 0.1221 -      0.1531 0.1528 -
heart HM TSA %       72.9   59.5   -      84.8   84.6   77.7
heart SM1 omega      58.169 33.536 74.302 21.361 21.446 -
heart SM1 TSA %      79.3   59.5   84.3   84.8   84.6   83.9
heart SM2 omega      32.726 25.386 45.891 15.988 16.034 -
heart SM2 TSA %      78.1   59.0   84.3   84.8   84.6   83.2
heart SM2,C omega    19.643 25.153 16.004 -      15.985 -
heart SM2,C TSA %    81.3   59.6   84.7   -      84.6   83.2
sonar HM gamma       0.0246 0.1460 0.0021 0.1517 0.1459 -
sonar HM TSA %       80.9   85.8   74.2   84.6   85.8   84.2
sonar SM1 omega      87.657 23.288 102.68 21.637 23.289 -
sonar SM1 TSA %      78.1   85.6   73.3   84.6   85.6   84.2
sonar SM2 omega      45.048 15.893 53.292 15.219 15.893 -
sonar SM2 TSA %      79.1   85.2   76.7   84.5   85.2   84.2
sonar SM2,C omega    20.520 15.640 20.620 -      15.640 -
sonar SM2,C TSA %    60.9   84.6   51.0   -      84.6   84.2
breast HM gamma      0.0036 0.1055 -      0.1369 0.1219 -
breast HM TSA %      92.9   89.0   -      95.5   94.4   96.1
breast SM1 omega     77.012 44.913 170.26 26.694 33.689 -
breast SM1 TSA %     96.4   89.0   87.7   95.5   94.4   96.7
breast SM2 omega     43.138 35.245 102.51 20.696 21.811 -
breast SM2 TSA %     96.4   88.5   87.4   95.4   94.3   96.8
breast SM2,C omega   27.682 33.685 41.023 -      25.267 -
breast SM2,C TSA %   94.5   89.0   87.3   -      94.4   96.8
ionosphere HM gamma     0.0613 0.1452 -      0.1623 0.1616 -
ionosphere HM TSA %     91.2   92.0   -      94.4   94.4   93.9
ionosphere SM1 omega    30.786 23.233 52.312 18.117 18.303 -
ionosphere SM1 TSA %    94.5   92.1   83.1   94.8   94.5   94.0
ionosphere SM2 omega    18.533 17.907 31.662 13.382 13.542 -
ionosphere SM2 TSA %    94.7   92.0   91.6   94.5   94.4   94.2
ionosphere SM2,C omega  14.558 17.623 18.975 -      13.5015 -
ionosphere SM2,C TSA %  93.5   92.1   90.0   -      94.6   94.2
twonorm HM gamma     0.1436 0.1072 0.0509 0.2170 0.2169 -
twonorm HM TSA %     94.6   55.4   94.3   96.6   96.6   96.3
twonorm SM1 omega    23.835 43.509 22.262 10.636 10.641 -
twonorm SM1 TSA %    95.0   55.4   95.7   96.6   96.6   97.5
twonorm SM2 omega    16.134 32.631 11.991 7.9780 7.9808 -
twonorm SM2 TSA %    95.9   55.4   95.6   96.6   96.6   97.2
twonorm SM2,C omega  16.057 32.633 7.9880 -      7.9808 -
twonorm SM2,C TSA %  96.2   55.4   96.6   -      96.6   97.2
"""

# Mean weights of K1, K2, K3; whole numbers are printed without decimals.
_WEIGHTS = """
heart HM psd -0.09 2.68 0.41            heart HM nonnegative 0.01 2.60 0.39
heart SM1 psd -0.09 2.68 0.41           heart SM1 nonnegative 0.01 2.60 0.39
heart SM2 psd -0.08 2.54 0.54           heart SM2 nonnegative 0.01 2.47 0.53
sonar HM psd -2.23 3.52 1.71            sonar HM nonnegative 0.00 3.00 0.00
sonar SM1 psd -2.20 3.52 1.69           sonar SM1 nonnegative 0.00 3.00 0.00
sonar SM2 psd -1.78 3.46 1.32           sonar SM2 nonnegative 0.00 3.00 0.00
breast HM psd 1.90 2.35 -1.25           breast HM nonnegative 0.65 2.35 0.00
breast SM1 psd 1.90 2.35 -1.25          breast SM1 nonnegative 0.65 2.35 0.00
breast SM2 psd 2.32 2.13 -1.46          breast SM2 nonnegative 0.89 2.11 0.00
ionosphere HM psd 1.08 2.18 -0.26       ionosphere HM nonnegative 0.79 2.21 0.00
ionosphere SM1 psd 1.23 2.07 -0.30      ionosphere SM1 nonnegative 0.90 2.10 0.00
ionosphere SM2 psd 1.68 1.73 -0.41      ionosphere SM2 nonnegative 1.23 1.78 0.00
twonorm HM psd 0.03 1.91 1.06           twonorm HM nonnegative 0.06 1.88 1.06
twonorm SM1 psd 0.03 1.91 1.06          twonorm SM1 nonnegative 0.06 1.88 1.06
twonorm SM2 psd 0.05 1.54 1.41          twonorm SM2 nonnegative 0.08 1.51 1.41
heart SM2,C nonnegative 0.01 0.80 0.53  sonar SM2,C nonnegative 0.00 2.34 0.00
breast SM2,C nonnegative 0.87 3.13 0.00    ionosphere SM2,C nonnegative 1.24 1.61 0.00
twonorm SM2,C nonnegative 0.08 1.25 1.41
"""

# SM2,C: the weight of each kernel alone, and C for these and for nonnegative weights.
_ALONE = """
heart 1.04 3.99 0.53       sonar 0.14 2.36 0.02   breast 1.15 3.99 0.72
ionosphere 1.59 3.83 1.09  twonorm 2.78 2.00 1.42
"""
_PENALTIES = """
heart 0.3378 1.18e7 0.2880 0.4365        sonar 0.2591 0.6087 0.2510 0.6087
breast 0.3504 1.48e8 0.3051 6.77e7       ionosphere 0.4144 5.8285 0.3442 0.8839
twonorm 0.8213 0.5000 0.3869 0.8015
"""

# Table 4: five weights, C, TSA %.
_WIDTH_WEIGHTS = """
breast 0.00 0.00 3.24 0.94 0.82 3.6e8 97.1         ionosphere 0.85 0.85 2.63 0.68 0.00 4.0e6 94.5
heart 0.00 3.89 0.06 1.05 0.00 2.5e5 84.1          sonar 0.00 3.93 1.07 0.00 0.00 3.2e7 84.8
twonorm 0.49 0.49 0.00 3.51 0.00 2.0386 96.5
"""


def criterion_values(part: str, table: str) -> dict[Key, str]:
    """Printed margins, omegas and accuracies of one data set.

    Parameters
    ----------
    part : str
        The data set.
    table : str
        Table that the keys are to name.

    Returns
    -------
    dict
        Values by (table, row, column); a printed omega stands in two rows, beside (20) and beside half of it.
    """
    values: dict[Key, str] = {}
    for line in _CRITERIA.strip().splitlines():
        name, criterion, *words = line.split()
        row, numbers = " ".join([criterion, *words[:-6]]), words[-6:]
        rows = [f"{row} (20)", f"{row} (20) / 2"] if row.endswith("omega") else [row]
        for column, number in zip(COLUMNS, numbers, strict=True):
            if name == part and number != "-":
                values.update({(table, row, column): number for row in rows})
    return values


def weight_values(part: str, table: str) -> dict[Key, str]:
    """Printed mean weights and penalties of one data set.

    Parameters
    ----------
    part : str
        The data set.
    table : str
        Table that the keys are to name.

    Returns
    -------
    dict
        Values by (table, row, column).
    """
    values: dict[Key, str] = {}
    for name, criterion, column, *weights in _groups(_WEIGHTS, 6):
        if name == part:
            for i, weight in enumerate(weights, 1):
                values[table, f"{criterion} weight of K{i}", column] = weight
    for name, *weights in _groups(_ALONE, 4):
        if name == part:
            values.update({(table, f"SM2,C weight of K{i}", f"K{i}"): w for i, w in enumerate(weights, 1)})
    for name, *penalties in _groups(_PENALTIES, 5):
        if name == part:
            columns = (*COLUMNS[:3], "nonnegative")
            values.update({(table, "SM2,C C", c): p for c, p in zip(columns, penalties, strict=True)})
    return values


def width_values(part: str, table: str, column: str) -> dict[Key, str]:
    """Printed weights of five Gaussian kernels, C and accuracy of one data set (Table 4).

    Parameters
    ----------
    part : str
        The data set.
    table, column : str
        What the keys are to name.

    Returns
    -------
    dict
        Values by (table, row, column).
    """
    rows = [*(f"weight of sigma = {width:g}" for width in WIDTHS), "C", "TSA %"]
    return {
        (table, row, column): word
        for name, *words in _groups(_WIDTH_WEIGHTS, 8)
        if name == part
        for row, word in zip(rows, words, strict=True)
    }


def _groups(text: str, size: int) -> list[list[str]]:
    words = text.split()
    return [words[i : i + size] for i in range(0, len(words), size)]
