"""What lies beside the files of a pool, in plain words."""

FOR_THE_OWNER = """\
For the owner of the generator
==============================

This folder tests what your generator gives away about the people it learns from.

You get
  train/run-0000.csv, train/run-0001.csv, ...   tables to learn from: REAL RECORDS, each file another random half
  manifest.json                                 what to make of them, with the SHA-256 of every training file

Please
  1. For EACH training file: fit the generator from scratch, with the same settings every time.
     Nothing may be carried over from one file to the next: no model, no cache, no chosen hyperparameters.
     Let the generator draw new random numbers for each file.
  2. Let it publish exactly {rows} rows, with the same column names as the training file.
  3. Write them to synthetic/ under the SAME file name: train/run-0007.csv becomes synthetic/run-0007.csv.
  4. Send back the folder synthetic/.

In a shell, if the generator is a program that takes a training file, a number of rows and an output file:

    mkdir -p synthetic
    for train in train/run-*.csv; do
        name=$(basename "$train")
        ./my-generator "$train" {rows} "synthetic/$name" || echo "failed: $name"
    done

Good to know
  * Write values as they are written in the training files. Values that do not occur in the real data count as what they are:
    rows that match nobody.
  * Do everything that you would do before publishing (filters, rounding), and nothing else.
  * A file that failed may be left out. Do not fill the gap with another one.
  * Files under wrong names would make the test blind. They are looked for, and the test stops if it finds any.

The training files hold real people. Keep them as you would keep the real table, and delete them when you are done.
Nothing else is needed. If this copy holds a folder private/, it was sent by mistake: tell the sender and delete it.
"""

FOR_YOU = """\
DO NOT GIVE THIS FOLDER AWAY
============================

It holds the whole real table (real.npz, schema.json), the seed and all choices (plan.json), and who is in which run (coins.json).
`unmask pool attack` reads it; nobody else needs it. Whoever runs the generator gets train/, manifest.json and README.txt.

Keep it until the attack is done: without it the synthetic files cannot be judged. Each file is checked against the export before
the attack, so do not edit anything.
"""
