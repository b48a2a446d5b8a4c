"""Plans and sites as they were submitted, kept up to date."""
