"""One huge tour: its pieces are searched side by side, and moves between them join what their borders cut."""
