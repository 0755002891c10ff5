"""Tables 1 and 2, section 4.4 and the figures of the paper, and the page that shows them."""
