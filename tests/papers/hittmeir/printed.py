"""Tables II to X as printed, where our copy of the paper can be read; R2 whose sign it lost are left out."""

# The paper's methods in its order, and ours in their place.
METHODS = {
    "Real": "real",
    "DS 0": "bayesnet",
    "DS 0.1": "privbayes:epsilon=0.1",
    "DV": "copula",
    "SP": "cart",
}
# MAE, MAPE, R2 of linear regression, then of SVR, then of MLP
_LINES = """
Boston    | Real   | 3.5±0.4 18±2 .71±.08 2.3±0.3 12±2 .86±.05 2.7±0.4 15±2 .81±.07
Boston    | DS 0   | - - - - - .68±.08 - - -
Boston    | DS 0.1 | 9.3±0.8 57±7 - 11.0±2.3 66±15 -1.26±.78 29.3±4.1 163±24 -22.63±9.95
Boston    | DV     | - - - - - .50±.08 - - -
Boston    | SP     | 3.8±0.5 19±4 .64±.10 3.4±0.3 17±2 .71±.09 5.0±0.7 25±4 .43±.18
Bike      | Real   | 196±134 6±4 .98±.02 453±73 20±4 .88±.02 196±133 6±4 .98±.02
Bike      | DS 0   | 364±96 11±3 .94±.03 594±67 24±5 .81±.03 610±89 21±4 .76±.11
Bike      | DS 0.1 | 1460±100 49±7 .14±.11 1484±48 51±6 .13±.05 2870±174 111±14 -3.72±1.36
Bike      | DV     | 255±114 8±4 .97±.02 616±71 27±6 .80±.03 257±112 8±4 .97±.02
Bike      | SP     | 205±134 6±4 .98±.02 517±80 22±5 .85±.03 320±99 11±3 .95±.02
Social    | Real   | 25481±1852 - - - - - - - -
Social    | DS 0   | 25645±1950 - - - - - - - -
Social    | DS 0.1 | 25703±1516 60±4 .08±.09 27119±2039 62±5 .02±.01 31688±5044 69±7 -
Social    | DV     | 26082±1975 58±3 .09±.03 27273±2222 60±4 .01±.02 32437±8610 87±62 -
Social    | SP     | 25578±1876 59±4 .11±.06 27206±2027 60±5 .01±.02 27917±3649 61±5 -
Insurance | Real   | 4135±189 44±4 .76±.03 5280±239 40±4 .31±.03 3191±394 38±6 .82±.04
Insurance | DS 0   | - - - - - - - 60±10 .75±.06
Insurance | DS 0.1 | 5662±325 90±11 .62±.04 6936±244 96±10 .24±.02 6730±532 101±13 .38±.11
Insurance | DV     | - - - - - - 12586±2765 132±29 -1.08±1.12
Insurance | SP     | 4168±199 44±6 .75±.03 5441±211 46±6 .31±.03 3833±721 44±9 .78±.10
"""
CELLS = [(learner, measure) for learner in ("linear", "svr", "mlp") for measure in ("MAE", "MAPE", "R2")]


def _read() -> dict[tuple[str, str, str, str], str]:
    found = {}
    for line in _LINES.strip().splitlines():
        name, method, cells = (part.strip() for part in line.split("|"))
        for (learner, measure), cell in zip(CELLS, cells.split(), strict=True):
            if cell != "-":
                found[name, METHODS[method], learner, measure] = cell
    return found


REGRESSION = _read()  # by table, our generator, learner and measure
DISTANCES = {  # table VI: mean minimal distance
    "bayesnet": {"Boston": "1.22±.14", "Bike": "1.28±.02", "Social": ".14±.02", "Insurance": ".47±.01"},
    "privbayes:epsilon=0.1": {"Boston": "3.13±.03", "Bike": "2.64±.02", "Social": ".21±.01", "Insurance": ".62±.01"},
    "copula": {"Boston": "2.27±.01", "Bike": "1.96±.02", "Social": ".39±.03", "Insurance": ".89±.01"},
    "cart": {"Boston": "1.04±.04", "Bike": "1.18±.02", "Social": ".16±.02", "Insurance": ".45±.02"},
}
# Tables VII to X: MAE, MAPE and R2 of the attack, then MAE and MAPE of the mean
SECRETS = {
    "Insurance": {
        "original": "4.23±.5 14.59±1.73 .21±.14 4.9 16.99",
        "bayesnet": "4.79±.06 16.6±.18 .05±.03 4.9 16.99",
        "privbayes:epsilon=0.1": "4.83±.07 16.98±.24 .04±.03 4.93 17.35",
        "copula": "4.88±.01 16.92±.04 .01±.0 4.9 17.0",
        "cart": "4.77±.07 16.45±.21 .05±.03 4.89 16.87",
    },
    "Social": {
        "original": "7.08±.9 21.56±2.69 .27±.17 8.45 25.63",
        "bayesnet": "6.98±.91 21.4±2.73 .29±.17 8.47 25.9",
        "privbayes:epsilon=0.1": "7.88±.37 24.54±.99 .12±.07 8.51 26.42",
        "copula": "7.91±.4 23.74±1.25 .11±.09 8.42 25.24",
        "cart": "7.21±.99 21.77±2.95 .25±.19 8.44 –",
    },
}
