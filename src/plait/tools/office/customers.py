"""Customer relations: search, change, add and delete customers.

Knows nothing of the other tables. Its tools are named `customer_relationship_manager.*`.
"""

from plait.tools.office.declaration import (
    SEARCH_LIMIT,
    Declaration,
    OfficeAnswer,
    choice,
    contains,
    one_of,
    text,
)
from plait.tools.office.moments import bounds
from plait.tools.office.tables import COLUMNS, Office

_FIELDS = COLUMNS["customers"]
_STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
_PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")


def search_customers(
    office: Office,
    customer_name: str | None = None,
    customer_email: str | None = None,
    product_interest: str | None = None,
    status: str | None = None,
    assigned_to_email: str | None = None,
    last_contact_date_min: str | None = None,
    last_contact_date_max: str | None = None,
    follow_up_by_min: str | None = None,
    follow_up_by_max: str | None = None,
) -> OfficeAnswer:
    """Return the first customers that match every given part and lie within the bounds."""
    parts = {
        "customer_name": customer_name,
        "customer_email": customer_email,
        "product_interest": product_interest,
        "status": status,
        "assigned_to_email": assigned_to_email,
    }
    dates = (last_contact_date_min, last_contact_date_max, follow_up_by_min, follow_up_by_max)
    if not any(parts.values()) and not any(dates):
        return "No search parameters provided. Give at least one."
    contacted = bounds(
        by_day=True, last_contact_date_min=last_contact_date_min, last_contact_date_max=last_contact_date_max
    )
    if isinstance(contacted, str):
        return contacted
    due = bounds(by_day=True, follow_up_by_min=follow_up_by_min, follow_up_by_max=follow_up_by_max)
    if isinstance(due, str):
        return due
    found = [
        dict(customer)
        for customer in office.customers.rows
        if all(contains(customer[column], part) for column, part in parts.items())
        and contacted.admit(customer["last_contact_date"])
        and due.admit(customer["follow_up_by"])
    ]
    return found[:SEARCH_LIMIT] or "No customers found."


def update_customer(
    office: Office, customer_id: str | None = None, field: str | None = None, new_value: str | None = None
) -> OfficeAnswer:
    """Set one column of a customer."""
    if not customer_id or not field or not new_value:
        return "Customer ID, field or new value not provided."
    if office.customers.find(customer_id) is None:
        return "Customer not found."
    if field not in _FIELDS:
        return "Field not found."
    if field == "status" and new_value not in _STATUSES:
        return f"Status not valid. It must be {one_of(_STATUSES)}."
    if field == "product_interest" and new_value not in _PRODUCTS:
        return f"Product interest not valid. It must be {one_of(_PRODUCTS)}."
    value = new_value.lower() if field in ("assigned_to_email", "customer_email") else new_value
    office.customers.set(customer_id, field, value)
    return "Customer updated successfully."


def add_customer(
    office: Office,
    customer_name: str | None = None,
    assigned_to_email: str | None = None,
    status: str | None = None,
    customer_email: str | None = None,
    customer_phone: str | None = None,
    last_contact_date: str | None = None,
    product_interest: str | None = None,
    notes: str = "",
    follow_up_by: str | None = None,
) -> OfficeAnswer:
    """Add a customer and return the id."""
    if not customer_name or not assigned_to_email or not status:
        return "Customer name, assigned-to email or status not provided."
    customer_id = f"{office.customers.next_id():08}"
    office.customers.append(
        (
            customer_id,
            assigned_to_email.lower(),
            customer_name,
            (customer_email or "").lower(),
            customer_phone or "",
            last_contact_date or "",
            product_interest or "",
            status,
            follow_up_by or "",
            notes,
        )
    )
    return customer_id


def delete_customer(office: Office, customer_id: str | None = None) -> OfficeAnswer:
    """Take a customer out of the table."""
    if not customer_id:
        return "Customer ID not provided."
    if office.customers.find(customer_id) is None:
        return "Customer not found."
    office.customers.delete(customer_id)
    return "Customer deleted successfully."


_ID = text("8-digit customer id from a search")
_STATUS = choice("status", _STATUSES)
_PRODUCT = choice("product the customer is interested in", _PRODUCTS)

TOOLS = (
    Declaration(
        name="customer_relationship_manager.search_customers",
        description="Find customers, at most 5; give at least one parameter.",
        function=search_customers,
        most_rows=SEARCH_LIMIT,
        parameters={
            "customer_name": text("part of the name"),
            "customer_email": text("part of the customer's address"),
            "product_interest": _PRODUCT,
            "status": _STATUS,
            "assigned_to_email": text("part of the address of the colleague in charge"),
            "last_contact_date_min": text('last contact on or after, "YYYY-MM-DD"'),
            "last_contact_date_max": text('last contact on or before, "YYYY-MM-DD"'),
            "follow_up_by_min": text('follow-up due on or after, "YYYY-MM-DD"'),
            "follow_up_by_max": text('follow-up due on or before, "YYYY-MM-DD"'),
        },
    ),
    Declaration(
        name="customer_relationship_manager.update_customer",
        description="Change one field of a customer.",
        function=update_customer,
        parameters={
            "customer_id": _ID,
            "field": choice("field to change", _FIELDS[1:]),
            "new_value": text('new value; a status, a product, a full e-mail address, a date "YYYY-MM-DD"'),
        },
        required=("customer_id", "field", "new_value"),
        effect="changes",
    ),
    Declaration(
        name="customer_relationship_manager.add_customer",
        description="Add a customer; returns the id.",
        function=add_customer,
        parameters={
            "customer_name": text("full name"),
            "assigned_to_email": text("full e-mail address of the colleague in charge"),
            "status": _STATUS,
            "customer_email": text("the customer's e-mail address"),
            "customer_phone": text("phone number"),
            "last_contact_date": text('"YYYY-MM-DD"'),
            "product_interest": _PRODUCT,
            "notes": text("notes"),
            "follow_up_by": text('"YYYY-MM-DD"'),
        },
        required=("customer_name", "assigned_to_email", "status"),
        effect="changes",
    ),
    Declaration(
        name="customer_relationship_manager.delete_customer",
        description="Delete one customer.",
        function=delete_customer,
        parameters={"customer_id": _ID},
        required=("customer_id",),
        effect="changes",
    ),
)
