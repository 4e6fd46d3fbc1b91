"""The site: notebooks as pages in which the stepper runs without a kernel.

build              the whole site, by Sphinx
pages              notebooks and documents as sources of pages
front_page         the first page: a film, a stepper, and the ways in
notebook_steppers  which steppers a notebook has
state_diagrams     state diagrams of documents, drawn
kept_predictions   which predictions it has, and their answers
sessions           the session of a page's stepper: its walk, and the challenge or scenario
recording          records all that the stepper shows of a model's states
loading_order      what a page loads after its first picture
sizes              the bytes that a page loads, and those of the whole site
packing            packs a recording into a script that a page can load from the disk
bundle             the site, the kit and its wheels, for a room without a network
scripts            the pages' own script and style sheet
"""
