"""What leads the audit of a release: the learnt auditor and linkage weights, whom they name, and what they would have seen."""
