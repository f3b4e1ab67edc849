"""The company directory."""

from plait.tools.office import Office, directory


def test_all_addresses_that_contain_the_name(office: Office) -> None:
    assert directory.find_email_address(office, "Patel") == ["anaya.patel@atlas.com", "raj.patel@atlas.com"]
    assert directory.find_email_address(office, "carlos") == ["carlos.rodriguez@atlas.com"]


def test_nobody_and_nothing_are_said_in_words(office: Office) -> None:
    assert directory.find_email_address(office, "nobody") == "No email address found."
    assert directory.find_email_address(office) == "Name not provided."
    assert directory.find_email_address(office, "") == "Name not provided."
