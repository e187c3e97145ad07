"""Programs behind the figures of docs/, run from the checkout: README.md beside this file says which answers what."""
