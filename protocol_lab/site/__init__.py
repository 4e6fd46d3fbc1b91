"""The site: notebooks as pages in which the stepper runs without an installation.

build              the whole site, by Sphinx; old addresses, what a page loads last, offline visits
pages              notebooks and documents as sources of pages; which exercises they check
front_page         the first page: a film, a stepper, and the ways in
notebook_steppers  which steppers a notebook has
sessions           what the pages' steppers load: the frames of their paths, and searches
deck               a lesson as one file, to present or to print
bundle             the site, the kit and its wheels, for a room without a network
scripts            the pages' own script and style sheet

The pages' scripts are in `js/`: `page.js` puts the steppers, shows their frames until Python is
there, and has a walk in the address; `film.js` plays the first page's film, `reading.js` has
questions, progress and explained terms, and `offline.js` is the service worker.
"""
