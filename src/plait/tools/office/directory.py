"""The company directory: from a name to e-mail addresses.

Knows nothing of the other tables. Its tool is named `company_directory.find_email_address`.
"""

from plait.tools.office.declaration import Declaration, OfficeAnswer, text
from plait.tools.office.tables import Office, addresses


def find_email_address(office: Office, name: str | None = None) -> OfficeAnswer:
    """Return all addresses that contain a name."""
    if not name:
        return "Name not provided."
    return [address for address in addresses() if name.lower() in address] or "No email address found."


TOOLS = (
    Declaration(
        name="company_directory.find_email_address",
        description="Find the e-mail address of a colleague.",
        function=find_email_address,
        most_rows=0,
        parameters={"name": text("first or last name")},
        required=("name",),
    ),
)
