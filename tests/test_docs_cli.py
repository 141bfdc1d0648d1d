"""docs/cli.md says what the commands say of themselves."""

from scripts.cli_reference import PAGE, reference


def test_the_reference_of_the_command_line_is_current():
    assert PAGE.read_text(encoding="utf-8") == reference(), "run `make docs`"
