"""The site: notebooks as pages in which the stepper runs without an installation.

build              the whole site, by Sphinx
pages              notebooks and documents as sources of pages
front_page         the first page: a film, a stepper, and the ways in
notebook_steppers  which steppers a notebook has
exercise_cells     which exercises can be checked in a page, and what they need
sessions           what the pages' steppers load
frames             what a stepper shows on its own path, until the page's Python is there
deck               a lesson as one file, to present or to print
moved_pages        old addresses that lead to where their content went
loading_order      what a page loads after its first picture
offline            the service worker that keeps the site for visits without a network
bundle             the site, the kit and its wheels, for a room without a network
scripts            the pages' own script and style sheet

The pages' scripts are in `js/`: `page.js` puts the steppers, `frames.js` shows them until Python is
there, `film.js` plays the first page's film, `reading.js` has questions, progress and explained
terms, `links.js` a walk in the address, and `offline.js` is the service worker.
"""
