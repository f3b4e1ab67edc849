"""Addresses that users give: what is refused, and that no secret is shown."""

import pytest

from plait.errors import UserError
from plait.models.addresses import check_address


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "api_key",
        "apikey",
        "API-Key",
        "x-api-key",
        "access_token",
        "subscription-key",
        "sig",
        "password",
    ],
)
def test_an_address_with_a_key_is_refused_without_showing_it(name: str) -> None:
    with pytest.raises(UserError, match=rf"'https://host/v1' was given with a key \({name}=") as caught:
        check_address(f"https://host/v1?api-version=2&{name}=sesame")
    assert "sesame" not in caught.value.message


@pytest.mark.parametrize(
    "address", ["host/v1?key=sesame", "ftp://me:sesame@host/v1", "http://me:sesame@:x/?"]
)
def test_what_is_no_address_is_shown_without_its_secrets(address: str) -> None:
    with pytest.raises(UserError, match="is no HTTP address") as caught:
        check_address(address)
    assert "sesame" not in caught.value.message


@pytest.mark.parametrize(
    "query",
    ["", "?api-version=2", "?monkey=1&keyboard=us", "?tokens=5&design=a&max_tokens=3", "?key_count=2"],
)
def test_other_parameters_are_kept(query: str) -> None:
    check_address(f"https://host/v1{query}")
