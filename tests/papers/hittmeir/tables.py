"""The tables of hittmeir2020, and their ten splits."""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from unmask.tables.table import Table
from unmask.utility.features import Encoding, FeatureMap, FeatureScaling
from unmask.utility.learners import OF_NUMBERS, Learner
from unmask.utility.prediction import answers, predicted

NAMES = ("Boston", "Bike", "Social", "Insurance")
AS_PRINTED = FeatureMap(Encoding.LABEL, FeatureScaling.EACH)
BOSTON = ["CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT", "MEDV"]


def hittmeir(data, name):
    """The table and the number to predict."""
    if name == "Boston":
        frame, label = pd.read_csv(data / "boston" / "boston_housing.csv", header=None, names=BOSTON), "MEDV"
    elif name == "Bike":
        frame, label = pd.read_csv(data / "bike_sharing" / "day.csv").drop(columns=["instant", "dteday"]), "cnt"
    elif name == "Social":
        frame = pd.read_csv(data / "social_network_ads" / "Social_Network_Ads.csv").drop(columns="User ID")
        frame, label = frame.fillna({"Age": 26}), "EstimatedSalary"  # row 2 of this copy lacks its age
    else:
        frame, label = pd.read_csv(data / "insurance" / "insurance.csv"), "charges"
    return Table.from_pandas(frame), label


def splits(table):
    """Training and test rows, ten times."""
    for state in range(10):
        train, test = train_test_split(np.arange(len(table)), test_size=0.2, random_state=state)
        yield table.take(train), table.take(test)


def scores(learner: Learner, train: Table, test: Table, label: str, seed: int) -> tuple[float, ...]:
    """MAE, MAPE and R2 on the test rows."""
    told = predicted(learner, train, test, label, features=AS_PRINTED, seed=seed)
    return OF_NUMBERS.score(answers(test, label), told)
