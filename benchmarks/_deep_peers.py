"""One fit and one sample of a network of the ctgan package, timed: runs in the package's own environment.

    python _deep_peers.py job.json

The job names the peer (CTGAN or TVAE), the training file, the categorical columns, epochs, rows, seed, and the files to write to.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pandas as pd
import torch


def main(path: str) -> None:
    """Read the job, train, sample, write."""
    with open(path) as file:
        job = json.load(file)
    import ctgan

    torch.set_num_threads(1)
    torch.manual_seed(job["seed"])
    np.random.seed(job["seed"])  # noqa: NPY002
    frame = pd.read_csv(job["values"], keep_default_na=False)
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # loads torch's compiler: not counted
    start = time.process_time()
    model = getattr(ctgan, job["peer"])(epochs=job["epochs"], enable_gpu=False)
    model.fit(frame, job["categorical"])
    fitted = time.process_time() - start
    sampled = model.sample(job["rows"])
    seconds = time.process_time() - start
    sampled.to_csv(job["out"], index=False)
    with open(job["result"], "w") as file:
        json.dump({"fit": fitted, "seconds": seconds}, file)


if __name__ == "__main__":
    main(sys.argv[1])
