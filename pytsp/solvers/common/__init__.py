"""What more than one solver uses: the loop, the incumbent, the check of what is reported."""
