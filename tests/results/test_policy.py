import pytest

from unmask.errors import InputError, ParameterError
from unmask.results.policy import Policy, Severity, read_policy


def written(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    return path


def test_a_file_names_what_differs_from_the_usual(tmp_path):
    assert read_policy(written(tmp_path, "high = 0.05\n")) == Policy(high=0.05)
    assert read_policy(written(tmp_path, "")) == Policy()
    assert read_policy(written(tmp_path, "high = 1\nmedium = 0.5\nhigh_tpr = 0.2")) == Policy(1.0, 0.5, 0.2)


def test_a_policy_of_anything_that_means_one(tmp_path):
    path = written(tmp_path, "medium = 0.01")
    for value in (path, str(path), {"medium": 0.01}, Policy(medium=0.01)):
        assert Policy.of(value) == Policy(medium=0.01)
    assert Policy.of(None) == Policy()
    with pytest.raises(ParameterError, match=r"the policy is 0\.1; give a Policy, the path of a file"):
        Policy.of(0.1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hihg = 0.1", "unknown field hihg. Known: high, medium, high_tpr."),
        ("high = 0.02", "medium is 0.03 and high 0.02; medium begins at or below high."),
        ("high = 1.5", "high is 1.5; use a share above 0 and at most 1, such as 0.1."),
        ("medium = 0", "medium is 0; use a share"),
        ("high_tpr = '0.1'", "high_tpr is '0.1'; use a share"),
        ("high = true", "high is True; use a share"),
        ("high = nan", "high is nan; use a share"),
        ("high", "not valid TOML"),
    ],
)
def test_what_makes_no_policy_is_refused_by_name(tmp_path, text, says):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_policy(path)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_policy(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_policy(tmp_path)


@pytest.mark.parametrize(
    ("excess", "tpr", "severity"),
    [(0.0, 0.0, "none"), (0.001, 0.0, "low"), (0.03, 0.0, "medium"), (0.1, 0.0, "high"), (0.0, 0.1, "high")],
)
def test_severity_begins_at_its_threshold(excess, tpr, severity):
    assert Policy().severity(excess, tpr_at_1_percent=tpr) is Severity(severity)
