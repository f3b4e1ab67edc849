"""The customer relations tools at their edges."""

import pytest

from plait.tools.office import Office, customers


def ids(answer: object) -> list[str]:
    assert isinstance(answer, list)
    return [row["customer_id"] for row in answer]


def test_search_matches_all_parts_and_returns_the_first_five(office: Office) -> None:
    expected = [
        row["customer_id"]
        for row in office.customers.rows
        if row["status"] == "Won" and row["assigned_to_email"].startswith("raj")
    ]
    assert len(expected) > 5
    assert ids(customers.search_customers(office, status="won", assigned_to_email="RAJ")) == expected[:5]
    assert ids(customers.search_customers(office, customer_name="taylor jackson")) == ["00000189"]
    assert ids(customers.search_customers(office, customer_email="nanolabs", product_interest="consult")) == [
        "00000189"
    ]


def test_date_bounds_are_inclusive(office: Office) -> None:
    name = "Taylor Jackson"
    day = {"last_contact_date_min": "2023-11-30", "last_contact_date_max": "2023-11-30"}
    due = {"follow_up_by_min": "2023-12-22", "follow_up_by_max": "2023-12-22"}
    assert ids(customers.search_customers(office, customer_name=name, **day, **due)) == ["00000189"]
    for bound in (
        {"last_contact_date_max": "2023-11-29"},
        {"last_contact_date_min": "2023-12-01"},
        {"follow_up_by_max": "2023-12-21"},
        {"follow_up_by_min": "2023-12-23"},
    ):
        assert customers.search_customers(office, customer_name=name, **bound) == "No customers found."


def test_a_customer_without_a_date_lies_outside_its_bounds(office: Office) -> None:
    customers.add_customer(office, "Zoe Zorn", "raj.patel@atlas.com", "Lead")
    assert ids(customers.search_customers(office, customer_name="zorn")) == ["00000200"]
    bounded = customers.search_customers(office, customer_name="zorn", follow_up_by_max="2030-01-01")
    assert bounded == "No customers found."


def test_search_needs_a_parameter_and_readable_dates(office: Office) -> None:
    assert customers.search_customers(office) == "No search parameters provided. Give at least one."
    assert customers.search_customers(office, follow_up_by_min="soon") == (
        "follow_up_by_min must be written as YYYY-MM-DD, not 'soon'."
    )
    assert customers.search_customers(office, last_contact_date_max="x") == (
        "last_contact_date_max must be written as YYYY-MM-DD, not 'x'."
    )


def test_add_fills_what_is_not_given_with_nothing(office: Office) -> None:
    answer = customers.add_customer(
        office,
        "Zoe Zorn",
        "Raj.Patel@Atlas.com",
        "Lead",
        customer_email="Zoe@Zorn.Org",
        follow_up_by="2023-12-09",
    )
    assert answer == "00000200"
    assert dict(office.customers.rows[-1]) == {
        "customer_id": "00000200",
        "assigned_to_email": "raj.patel@atlas.com",
        "customer_name": "Zoe Zorn",
        "customer_email": "zoe@zorn.org",
        "customer_phone": "",
        "last_contact_date": "",
        "product_interest": "",
        "status": "Lead",
        "follow_up_by": "2023-12-09",
        "notes": "",
    }


@pytest.mark.parametrize("given", [("", "a@b.c", "Lead"), ("Zoe", "", "Lead"), ("Zoe", "a@b.c")])
def test_add_needs_the_first_three(office: Office, given: tuple[str, ...]) -> None:
    before = office.customers.rows
    answer = customers.add_customer(office, *given)
    assert answer == "Customer name, assigned-to email or status not provided."
    assert office.customers.rows is before


def test_update_sets_one_cell_and_lowers_addresses(office: Office) -> None:
    done = "Customer updated successfully."
    assert customers.update_customer(office, "00000189", "status", "Won") == done
    assert customers.update_customer(office, "00000189", "product_interest", "Training") == done
    assert customers.update_customer(office, "00000189", "assigned_to_email", "RAJ.patel@atlas.com") == done
    assert customers.update_customer(office, "00000189", "notes", "Call AGAIN") == done
    row = office.customers.find("00000189")
    assert row is not None
    assert (row["status"], row["product_interest"]) == ("Won", "Training")
    assert (row["assigned_to_email"], row["notes"]) == ("raj.patel@atlas.com", "Call AGAIN")
    assert row["customer_name"] == "Taylor Jackson"


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (
            ("00000189", "status", "won"),
            "Status not valid. It must be Qualified, Won, Lost, Lead or Proposal.",
        ),
        (("00000189", "product_interest", "Cars"), "Product interest not valid. It must be Software,"),
        (("00000189", "colour", "red"), "Field not found."),
        (("189", "status", "Won"), "Customer not found."),
        (("00000189", "notes", ""), "Customer ID, field or new value not provided."),
        ((None, "notes", "x"), "Customer ID, field or new value not provided."),
    ],
)
def test_update_refuses_in_words(office: Office, arguments: tuple[str | None, ...], start: str) -> None:
    before = office.customers.rows
    answer = customers.update_customer(office, *arguments)
    assert isinstance(answer, str)
    assert answer.startswith(start)
    assert office.customers.rows is before


def test_delete_takes_one_customer(office: Office) -> None:
    assert customers.delete_customer(office, "00000189") == "Customer deleted successfully."
    assert len(office.customers.rows) == 199
    assert customers.delete_customer(office, "00000189") == "Customer not found."
    assert customers.delete_customer(office) == "Customer ID not provided."
