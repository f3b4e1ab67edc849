"""The e-mail tools at their edges."""

import pytest

from plait.tools.office import Office, email


def found(answer: object) -> list[dict[str, str]]:
    assert isinstance(answer, list)
    return answer


def test_search_is_newest_first_and_at_most_five(office: Office) -> None:
    rows = found(email.search_emails(office))
    newest = sorted((row["sent_datetime"] for row in office.emails.rows), reverse=True)
    assert [row["sent_datetime"] for row in rows] == newest[:5]


def test_every_word_must_occur_somewhere_in_subject_body_or_address(office: Office) -> None:
    email.send_email(office, "zed@nowhere.org", "Quarterly Figures", "Please see the attachment")

    assert [row["email_id"] for row in found(email.search_emails(office, "ZED figures attachment"))] == [
        "500"
    ]
    assert [row["email_id"] for row in found(email.search_emails(office, "see zed quarterly"))] == ["500"]
    assert email.search_emails(office, "zed figures invoice") == "No emails found."
    assert email.search_emails(office, "outbox zed") == "No emails found."


def test_dates_are_days_and_inclusive(office: Office) -> None:
    day = found(email.search_emails(office, date_min="2023-10-01", date_max="2023-10-01"))
    assert {row["sent_datetime"][:10] for row in day} == {"2023-10-01"}
    with_times = email.search_emails(office, date_min="2023-10-01 23:00:00", date_max="2023-10-01 01:00:00")
    assert with_times == day
    assert email.search_emails(office, date_max="2023-09-30") == "No emails found."
    assert email.search_emails(office, date_min="yesterday") == (
        "date_min must be written as YYYY-MM-DD, not 'yesterday'."
    )


def test_of_equal_times_the_last_sent_is_the_newest(office: Office) -> None:
    for body in ("one", "two"):
        email.send_email(office, "a@b.c", "twice", body)
    assert [row["body"] for row in found(email.search_emails(office, "twice a@b.c"))] == ["two", "one"]


def test_send_appends_to_the_outbox_at_the_fixed_time(office: Office) -> None:
    assert (
        email.send_email(office, "Raj.Patel@Atlas.com", "Hello", "Line\nline") == "Email sent successfully."
    )

    assert len(office.emails.rows) == 501
    assert dict(office.emails.rows[-1]) == {
        "email_id": "500",
        "inbox/outbox": "outbox",
        "sender/recipient": "raj.patel@atlas.com",
        "subject": "Hello",
        "sent_datetime": "2023-11-30 00:00:00",
        "body": "Line\nline",
    }


def test_ids_count_on_as_numbers(office: Office) -> None:
    email.send_email(office, "a@b.c", "s", "b")
    office.emails.set("500", "email_id", "999")
    email.send_email(office, "a@b.c", "s", "b")
    email.send_email(office, "a@b.c", "s", "b")
    assert [row["email_id"] for row in office.emails.rows[-3:]] == ["999", "1000", "1001"]


@pytest.mark.parametrize("recipient", ["raj", "raj@atlas", "atlas.com"])
def test_send_and_forward_need_an_address(office: Office, recipient: str) -> None:
    before = office.emails.rows
    assert email.send_email(office, recipient, "s", "b") == "Invalid recipient email address."
    assert email.forward_email(office, "00000373", recipient) == "Invalid recipient email address."
    assert office.emails.rows is before


def test_forward_keeps_the_body_and_marks_the_subject(office: Office) -> None:
    original = office.emails.find("00000373")
    assert original is not None

    assert email.forward_email(office, "00000373", "NIA.Johnson@atlas.com") == "Email forwarded successfully."

    sent = office.emails.rows[-1]
    assert sent["sender/recipient"] == "nia.johnson@atlas.com"
    assert sent["subject"] == "FW: Task Update on Develop prototype for payment gateway"
    assert sent["body"] == original["body"]
    assert sent["inbox/outbox"] == "outbox"


def test_reply_goes_back_under_the_same_subject(office: Office) -> None:
    assert email.reply_email(office, "00000373", "Thanks") == "Email replied successfully."

    sent = office.emails.rows[-1]
    assert sent["sender/recipient"] == "santiago.martinez@atlas.com"
    assert sent["subject"] == "Task Update on Develop prototype for payment gateway"
    assert sent["body"] == "Thanks"


def test_delete_takes_one_email(office: Office) -> None:
    assert email.delete_email(office, "00000373") == "Email deleted successfully."
    assert len(office.emails.rows) == 499
    assert office.emails.find("00000373") is None
    assert email.delete_email(office, "00000373") == "Email not found."


def test_missing_arguments_are_answered_in_words(office: Office) -> None:
    before = office.emails.rows
    assert email.send_email(office, "a@b.c", "s") == "Recipient, subject or body not provided."
    assert email.send_email(office, subject="s", body="b") == "Recipient, subject or body not provided."
    assert email.delete_email(office) == "Email ID not provided."
    assert email.forward_email(office, "00000373") == "Email ID or recipient not provided."
    assert email.forward_email(office, "nope", "a@b.c") == "Email not found."
    assert email.reply_email(office, body="b") == "Email ID or body not provided."
    assert email.reply_email(office, "nope", "b") == "Email not found."
    assert office.emails.rows is before


def test_one_field_by_id(office: Office) -> None:
    assert email.get_email_information_by_id(office, "00000373", "inbox/outbox") == {"inbox/outbox": "inbox"}
    assert email.get_email_information_by_id(office, "00000373", "sender") == "Field not found."
    assert email.get_email_information_by_id(office, "373", "body") == "Email not found."
    assert email.get_email_information_by_id(office, field="body") == "Email ID not provided."
    assert email.get_email_information_by_id(office, "00000373") == "Field not provided."
