"""The filters that ship, by what they judge. The setting URL_FILTERS names them."""
