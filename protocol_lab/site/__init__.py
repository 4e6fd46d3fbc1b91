"""The site: notebooks as pages in which the stepper runs without a kernel.

build              the whole site, by Sphinx
pages              notebooks and documents as sources of pages
front_page         the first page: a film, a stepper, and the ways in
notebook_steppers  which steppers a notebook has
kept_predictions   which predictions it has, and their answers
sessions           what a page's stepper opens: its walk, and the challenge or scenario
recording          what the stepper shows of a model's states, as plain values
sizes              what a page and the site take to load
packing            these values as a script that a page can load from the disk
bundle             the site, the kit and its wheels, for a room without a network
scripts            the pages' own script and style sheet
"""
