"""E-mail: look up, search, send, delete, forward and reply.

Knows nothing of a network: what is sent becomes a row of the outbox.
"""

from plait.tools.office.declaration import SEARCH_LIMIT, Declaration, OfficeAnswer, choice, text
from plait.tools.office.moments import bounds
from plait.tools.office.tables import COLUMNS, FIXED_TIME, Office, Row

_FIELDS = COLUMNS["emails"]


def get_email_information_by_id(
    office: Office, email_id: str | None = None, field: str | None = None
) -> OfficeAnswer:
    """Return one field of an e-mail."""
    if not email_id:
        return "Email ID not provided."
    if not field:
        return "Field not provided."
    email = office.emails.find(email_id)
    if email is None:
        return "Email not found."
    return {field: email[field]} if field in email else "Field not found."


def search_emails(
    office: Office, query: str | None = None, date_min: str | None = None, date_max: str | None = None
) -> OfficeAnswer:
    """Return the newest e-mails in which every word of the query occurs, newest first."""
    within = bounds(by_day=True, date_min=date_min, date_max=date_max)
    if isinstance(within, str):
        return within
    words = (query or "").lower().split()
    # Turned round, not sorted downwards: of e-mails with equal times the one added last is the newest.
    newest_first = sorted(office.emails.rows, key=lambda row: row["sent_datetime"])[::-1]
    found = [
        dict(email)
        for email in newest_first
        if _has_all(email, words) and within.admit(email["sent_datetime"])
    ]
    return found[:SEARCH_LIMIT] or "No emails found."


def _has_all(email: Row, words: list[str]) -> bool:
    searched = f"{email['subject']} {email['body']} {email['sender/recipient']}".lower()
    return all(word in searched for word in words)


def send_email(
    office: Office, recipient: str | None = None, subject: str | None = None, body: str | None = None
) -> OfficeAnswer:
    """Add an e-mail to the outbox."""
    if not recipient or not subject or not body:
        return "Recipient, subject or body not provided."
    if not _is_address(recipient):
        return "Invalid recipient email address."
    email_id = str(office.emails.next_id())
    office.emails.append((email_id, "outbox", recipient.lower(), subject, FIXED_TIME, body))
    return "Email sent successfully."


def _is_address(recipient: str) -> bool:
    return "@" in recipient and "." in recipient


def delete_email(office: Office, email_id: str | None = None) -> OfficeAnswer:
    """Take an e-mail out of the table."""
    if not email_id:
        return "Email ID not provided."
    if office.emails.find(email_id) is None:
        return "Email not found."
    office.emails.delete(email_id)
    return "Email deleted successfully."


def forward_email(office: Office, email_id: str | None = None, recipient: str | None = None) -> OfficeAnswer:
    """Send an e-mail's text on to somebody else."""
    if not email_id or not recipient:
        return "Email ID or recipient not provided."
    email = office.emails.find(email_id)
    if email is None:
        return "Email not found."
    if not _is_address(recipient):
        return "Invalid recipient email address."
    sent = send_email(office, recipient, f"FW: {email['subject']}", email["body"])
    return "Email forwarded successfully." if sent == "Email sent successfully." else sent


def reply_email(office: Office, email_id: str | None = None, body: str | None = None) -> OfficeAnswer:
    """Answer an e-mail under the same subject."""
    if not email_id or not body:
        return "Email ID or body not provided."
    email = office.emails.find(email_id)
    if email is None:
        return "Email not found."
    sent = send_email(office, email["sender/recipient"], email["subject"], body)
    return "Email replied successfully." if sent == "Email sent successfully." else sent


_ID = text("e-mail id from a search")
_RECIPIENT = text("full e-mail address of the recipient")

TOOLS = (
    Declaration(
        name="email.get_email_information_by_id",
        description="Read one field of an e-mail.",
        function=get_email_information_by_id,
        parameters={"email_id": _ID, "field": choice("field to read", _FIELDS)},
        required=("email_id", "field"),
    ),
    Declaration(
        name="email.search_emails",
        description="Find e-mails, newest first, at most 5.",
        function=search_emails,
        most_rows=SEARCH_LIMIT,
        parameters={
            "query": text("words that must all occur in subject, body or the other person's address"),
            "date_min": text('first day, "YYYY-MM-DD"'),
            "date_max": text('last day, "YYYY-MM-DD"'),
        },
    ),
    Declaration(
        name="email.send_email",
        description="Send a new e-mail.",
        function=send_email,
        parameters={"recipient": _RECIPIENT, "subject": text("subject"), "body": text("the text to send")},
        required=("recipient", "subject", "body"),
        effect="changes",
    ),
    Declaration(
        name="email.delete_email",
        description="Delete one e-mail.",
        function=delete_email,
        parameters={"email_id": _ID},
        required=("email_id",),
        effect="changes",
    ),
    Declaration(
        name="email.forward_email",
        description="Forward one e-mail to one recipient.",
        function=forward_email,
        parameters={"email_id": _ID, "recipient": _RECIPIENT},
        required=("email_id", "recipient"),
        effect="changes",
    ),
    Declaration(
        name="email.reply_email",
        description="Reply to the sender of one e-mail.",
        function=reply_email,
        parameters={"email_id": _ID, "body": text("the text of the reply")},
        required=("email_id", "body"),
        effect="changes",
    ),
)
